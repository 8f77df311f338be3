// Prints the definitions of Zig, found by std.zig.Ast: path, line, name. Paths are arguments.
const std = @import("std");
const Ast = std.zig.Ast;

pub fn main(init: std.process.Init) !void {
    const gpa = init.arena.allocator();
    for ((try init.minimal.args.toSlice(gpa))[1..]) |path| {
        const text = try std.Io.Dir.cwd().readFileAllocOptions(init.io, path, gpa, .unlimited, .of(u8), 0);
        const tree = try Ast.parse(gpa, text, .{ .mode = .zig });
        if (tree.errors.len > 0) continue;
        std.debug.print("{s}\t0\t\n", .{path});
        try members(&tree, path, tree.rootDecls(), false);
        try functions(&tree, path);
    }
}

fn tell(tree: *const Ast, path: []const u8, token: Ast.TokenIndex) void {
    const at = tree.tokenLocation(0, token);
    // "const std = @import" are imports.
    const is_import = tree.tokenTag(token + 1) == .equal and std.mem.startsWith(u8, tree.tokenSlice(token + 2), "@import");
    const name = tree.tokenSlice(token);
    std.debug.print("{s}\t{d}\t{s}{s}\n", .{ path, at.line + 1, if (is_import or std.mem.eql(u8, name, "_")) "?" else "", if (name[0] == 64) name[2 .. name.len - 1] else name });
}

// Functions and containers anywhere, also inside functions.
fn functions(tree: *const Ast, path: []const u8) !void {
    for (0..tree.nodes.len) |place| {
        const node: Ast.Node.Index = @enumFromInt(place);
        var buffer: [2]Ast.Node.Index = undefined;
        var one: [1]Ast.Node.Index = undefined;
        if (tree.fullFnProto(&one, node)) |it| {
            if (it.name_token) |name| tell(tree, path, name);
        }
        if (tree.fullContainerDecl(&buffer, node)) |it| try members(tree, path, it.ast.members, tree.tokenTag(it.ast.main_token) == .keyword_enum or tree.tokenTag(it.ast.main_token) == .keyword_union);
        // "error{A}!T" in a signature only uses A.
        if (tree.nodeTag(node) == .error_set_decl) {
            const is_declared = tree.nodeMainToken(node) > 0 and (tree.tokenTag(tree.nodeMainToken(node) - 1) == .equal or tree.tokenTag(tree.nodeMainToken(node) - 1) == .pipe_pipe);
            if (!is_declared) continue;
            var token = tree.nodeMainToken(node) + 1;
            while (tree.tokenTag(token) != .r_brace) : (token += 1) {
                if (tree.tokenTag(token) == .identifier) tell(tree, path, token);
            }
        }
        if (tree.fullVarDecl(node)) |it| {
            if (it.ast.init_node.unwrap()) |value| {
                if (tree.fullContainerDecl(&buffer, value) != null or tree.nodeTag(value) == .error_set_decl)
                    tell(tree, path, it.ast.mut_token + 1);
            }
        }
    }
}

fn members(tree: *const Ast, path: []const u8, all: []const Ast.Node.Index, is_enum: bool) !void {
    for (all) |node| {
        if (tree.fullVarDecl(node)) |it| {
            tell(tree, path, it.ast.mut_token + 1);
        } else if (tree.fullContainerField(node)) |it| {
            // A type in a tuple and a value of an enumeration look alike.
            if (!it.ast.tuple_like or is_enum) tell(tree, path, it.ast.main_token);
        }
    }
}
