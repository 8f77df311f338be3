"""Define the rows of Go, Rust and Zig."""

import re
from functools import partial
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    Unread,
    blanked,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.parts import further_names, inside
from cqm.chunkers.languages.unread import GENERAL_LINES, GO_SIGNS, RUST_SIGNS, ZIG_SIGNS
from cqm.chunkers.languages.unread_rust import readable_rust
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def _go_method(node: "Node", source: bytes) -> Found:
    parameter = child_of_type(node.child_by_field_name("receiver"), "parameter_declaration")
    receiver = text_of(parameter.child_by_field_name("type") if parameter else None, source).lstrip("*").split("[")[0]
    name = text_of(node.child_by_field_name("name"), source)
    return Found("method", f"{receiver}.{name}" if receiver else name)


_GO_TYPES = {"struct_type": "struct", "interface_type": "interface"}


def _go_type(node: "Node", source: bytes) -> Found:
    definition = node.child_by_field_name("type")
    kind = _GO_TYPES.get(definition.type, "type") if definition else "type"
    return Found(kind, text_of(node.child_by_field_name("name"), source))


def _is_embedded(node: "Node", around: "Node") -> bool | None:
    """Whether a type takes another's members: by a field, or an element of an interface, with only a type."""
    if node.type != "type_identifier" or around.type not in ("field_declaration", "type_elem"):
        return None
    return around.named_child_count == 1


GO = Language(
    name="go",
    grammar=(BUNDLE, "go"),
    unsafe=nests_expressions,
    suffixes=(".go",),
    unread=Unread(GO_SIGNS, ends_at_rows=True),
    by_lines=GENERAL_LINES,
    rules={
        **symbols("function", "function_declaration"),
        "method_declaration": _go_method,
        "type_spec": _go_type,
        "type_alias": _go_type,
        **symbols("constant", "const_spec"),
        **symbols("variable", "var_spec"),
        # A block of constants is one symbol, named after the first one, unless it is large.
        **groups("const_declaration", "var_declaration", "var_spec_list", "type_declaration", "ERROR"),
        **role(COMMENT, "comment"),
        **role(IMPORTS, "import_declaration", "package_clause"),
    },
    nodes=NodeTypes(
        packages=frozenset({"package_clause"}),
        bodies=frozenset({"block"}),
        bodiless=frozenset({"field_declaration", "method_declaration"}),
        loose=frozenset({"field_declaration"}),
        clauses=frozenset({"function_declaration"}),
        parts={
            "type_spec": inside(
                {"field_declaration": "property", "method_elem": "method"},
                *("struct_type", "interface_type", "field_declaration_list", "field_declaration"),
            ),
            **dict.fromkeys(("const_spec", "var_spec"), further_names()),
        },
    ),
    usage=UsageNodes(assignments=frozenset({"range_clause", "short_var_declaration"}), is_inherited=_is_embedded),
)


def _rust_name(node: "Node", source: bytes) -> str:
    return text_of(node.child_by_field_name("name"), source).removeprefix("r#")


def _rust_impl(node: "Node", source: bytes) -> Found:
    body = node.child_by_field_name("body")
    name = _rust_type(node.child_by_field_name("type"), source) or _rust_type(node.child_by_field_name("trait"), source)
    return Found("class", name, (body,) if body else ())


def _rust_type(node: "Node | None", source: bytes) -> str:
    """Return the name of the main type in "&'a mut Box<T>" or "dyn Run + Send"; empty for one without."""
    for _ in range(_MAX_WRAPPED):
        if node is None or node.type in _RUST_NAMES or node.type in _RUST_NAMELESS:
            break
        node = (
            node.child_by_field_name("type") or node.child_by_field_name("trait") or child_of_type(node, *_RUST_TYPES)
        )
    return text_of(node, source).split("<")[0].replace("::", ".") if node and node.type in _RUST_NAMES else ""


_RUST_NAMES = frozenset({"type_identifier", "scoped_type_identifier", "primitive_type"})
_RUST_NAMELESS = frozenset({"function_type", "tuple_type", "array_type", "slice_type", "never_type", "unit_type"})
_RUST_TYPES = (*sorted(_RUST_NAMES), "generic_type", "dynamic_type", "bounded_type", "higher_ranked_trait_bound")
_MAX_WRAPPED = 16


_RUST_STATIC = re.compile(
    rb"(?:\w++::)*+(?:lazy_static|thread_local)!\s*[({]\s*(?:pub(?:\([^)\n]*\))?\s+)?static\s+(?:ref\s+)?(\w+)\s*:"
)


def _rust_static(node: "Node", source: bytes) -> Found | None:
    """Classify a macro's call on one row: `thread_local!(static DEPTH: Cell<u8> = Cell::new(0));`."""
    found = _RUST_STATIC.match(source, node.start_byte)
    return Found("constant", found[1].decode()) if found else None


# The grammar reads the items in "cfg_net! {...}" and "pin_project! {...}" as mere tokens. A sign is found twenty times
# as fast as a word.
_MACRO_BEGIN = re.compile(rb"!(?<=\w!) ?\{[ \t]*\r?\n")
_RUST_ITEM = (
    rb"(?:[ \t]*+(?:(?://|#!?\[)[^\n]*+)?\n)*+[ \t]*+(?:pub(?:\([^)\n]*\))?[ \t]+)?"
    rb"(?:(?:async|unsafe|const|extern(?: \"[^\"\n]*\")?)[ \t]+)*+"
    rb"(?:(?:fn|trait|mod|type)[ \t]+\w|(?:struct|enum|union)[ \t]+\w++(?![ \t]*:)|impl[ \t<]|static[ \t]+\w++:)"
)
"""An item after its comments and attributes; bitflags! and lazy_static! have others, which are no Rust."""
_MACRO_BLOCK = re.compile(
    rb"^([ \t]{0,64})(?P<open>(?:cfg_\w+! ?\{[ \t]*\r?\n(?=\s*+(?:[#/]|(?:pub|fn|use|mod|struct|enum|impl|trait|type|"
    rb"const|static|async|unsafe|extern|cfg_\w+|macro_rules)\b))|"
    rb"(?!(?:\w++::)*+(?:parse_)?quote(?:_spanned)?!)(?:\w++::)*+\w++! ?\{[ \t]*\r?\n(?=" + _RUST_ITEM + rb")))"
    rb"(?:\1[ \t]+[^\n]*\n|[ \t]*\r?\n)*+\1(?P<close>\})",
    re.MULTILINE,
)


def _without_item_macros(source: bytes) -> bytes:
    """Blank the calls of macros around items: their names, and the braces."""
    parts: list[bytes] = []
    done = 0
    for begin in _MACRO_BEGIN.finditer(source):
        found = _MACRO_BLOCK.match(source, max(done, source.rfind(b"\n", 0, begin.start()) + 1))
        if found:
            parts += source[done : found.start()], blanked(found)
            done = found.end()
    return b"".join((*parts, source[done:])) if parts else source


def _is_implemented(node: "Node", around: "Node") -> bool | None:
    """Whether a type implements a trait: "impl Trait for Type"."""
    return True if around.type == "impl_item" and around.child_by_field_name("trait") == node else None


RUST = Language(
    name="rust",
    grammar=("tree_sitter_rust", "language"),
    unsafe=nests_expressions,
    suffixes=(".rs",),
    unread=Unread(RUST_SIGNS),
    by_lines=GENERAL_LINES,
    rules={
        **symbols("function", "function_item", "function_signature_item", name=_rust_name),
        **symbols("struct", "struct_item", "union_item", name=_rust_name),
        **symbols("enum", "enum_item", name=_rust_name),
        **symbols("type", "type_item", "associated_type", name=_rust_name),
        **symbols("constant", "const_item", "static_item", name=_rust_name),
        **symbols("macro", "macro_definition", name=_rust_name),
        **containers("trait", "trait_item", name=_rust_name),
        **containers("module", "mod_item", name=_rust_name),
        "impl_item": _rust_impl,
        **role(COMMENT, "line_comment", "block_comment"),
        **role(LEADING, "attribute_item"),
        **role(IMPORTS, "use_declaration", "extern_crate_declaration"),
        "macro_invocation": lambda node, source: _rust_static(node, source) or Found("macro"),
        "expression_statement": _rust_static,
        **groups("foreign_mod_item", "declaration_list", "ERROR"),
    },
    # Three times, since blocks may be nested: "cfg_rt! { cfg_trace! { pin_project! {...} } }".
    removed=(readable_rust, *(_without_item_macros,) * 3),
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        bodiless=frozenset({"field_declaration", "function_signature_item"}),
        loose=frozenset({"field_declaration", "function_signature_item"}),
        additions=frozenset({"impl_item"}),
        outer_docs=("//!", "/*!"),
        parts=dict.fromkeys(
            ("struct_item", "enum_item", "union_item"),
            inside(
                {"enum_variant": "constant", "field_declaration": "property"},
                *("enum_variant_list", "enum_variant", "field_declaration_list"),
            ),
        ),
        local=(
            *words("fn struct enum trait mod union impl macro_rules!", rb"[ <]"),
            rb"type[ ]+[A-Z]\w{0,100}(?:<[^<>;=]{0,200}>)?[ ]*=",
        ),
    ),
    usage=UsageNodes(
        callees=frozenset({"macro"}),
        imports=frozenset({"extern_crate_declaration"}),
        heritage=frozenset({"trait_bounds"}),
        is_inherited=_is_implemented,
    ),
)

_ZIG_TYPES = {
    "struct_declaration": "struct",
    "union_declaration": "struct",
    "opaque_declaration": "struct",
    "enum_declaration": "enum",
}


def _zig_variable(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(node, "identifier"), source)
    declaration = child_of_type(node, *_ZIG_TYPES)
    if declaration is not None:
        return Found(_ZIG_TYPES[declaration.type], name, (declaration,), within=_ZIG_WITHIN[declaration.type])
    if text_of(child_of_type(child_of_type(node, "builtin_function"), "builtin_identifier"), source) == "@import":
        return Found(IMPORTS)
    return Found("constant" if any(child.type == "const" for child in node.children) else "variable", name)


def _zig_returned(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the fields in `fn List(comptime T: type) type { return struct { items: []T }; }`."""
    body = node.child_by_field_name("body")
    if body is None or text_of(node.child_by_field_name("type"), source) != "type":
        return
    for statement in body.named_children:
        returned = child_of_type(statement, "return_expression") or statement
        yield from _zig_fields(child_of_type(returned, *_ZIG_TYPES), source)


def _zig_fields(holder: "Node | None", source: bytes, around: str = "") -> "Iterator[Part]":
    """Yield the fields of a struct or union and the values of an enum, with those of types declared in them."""
    for it in holder.named_children if holder is not None and around.count(".") < _MOST_TYPES else ():
        found = _zig_field(it, source, holder.type) if it.type == "container_field" and holder is not None else None
        if found is not None:
            yield Part(found.kind, around + found.name, it, it)
            yield from _zig_fields(_zig_own_type(it), source, f"{around}{found.name}.")
        elif it.type == "variable_declaration" and (found := _zig_variable(it, source)).name and not found.bodies:
            yield Part(found.kind, around + found.name, it, it)


_MOST_TYPES = 8
"""Types without a name inside another; real code does not nest deeper."""


def _zig_name(node: "Node", holder: str) -> "Node | None":
    # "struct { u8, Mode }" has no names.
    has_name = holder != "struct_declaration" or node.child_by_field_name("type") is not None
    return node.child_by_field_name("name") if has_name else None


def _zig_own_type(field: "Node") -> "Node | None":
    """Find the type declared in a field: `border: struct { width: u8 }`, `warp: ?struct { x: i32 }`."""
    own = field.child_by_field_name("type")
    return own if own is None or own.type in _ZIG_TYPES else child_of_type(own, *_ZIG_TYPES)


def _zig_field(node: "Node", source: bytes, holder: str = "struct_declaration") -> Found | None:
    """Classify a field; those outside of types are fields too, since a file is a struct."""
    named = _zig_name(node, holder)
    if named is None:
        return None
    own = _zig_own_type(node)
    kind = "constant" if holder == "enum_declaration" else "property"
    within = _ZIG_WITHIN[own.type] if own is not None else None
    # The grammar takes "async: bool" for a name.
    name = text_of(named, source).partition(":")[0].strip('@"')
    return Found(kind, name, (own,) if own is not None else (), within=within)


_ZIG_WITHIN: dict[str, dict[str, Rule]] = {it: {"container_field": partial(_zig_field, holder=it)} for it in _ZIG_TYPES}


def _zig_errors(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the members of an error set, `error{A, B} || Other` too."""
    waiting = [child_of_type(node, "error_set_declaration", "binary_expression")]
    while waiting:
        value = waiting.pop()
        for it in value.named_children if value is not None else ():
            if it.type == "identifier" and value is not None and value.type == "error_set_declaration":
                yield Part("constant", text_of(it, source), it, it)
        if value is not None and value.type == "binary_expression":
            waiting += [it for it in value.named_children if it.type in _ZIG_ERRORS][::-1]


_ZIG_ERRORS = ("error_set_declaration", "binary_expression")


def _zig_test(node: "Node", source: bytes) -> Found:
    return Found("test", text_of(child_of_type(node, "string", "identifier"), source).strip('"') or "test")


ZIG = Language(
    name="zig",
    grammar=(BUNDLE, "zig"),
    unsafe=nests_expressions,
    suffixes=(".zig", ".zon"),
    unread=Unread(ZIG_SIGNS),
    by_lines=GENERAL_LINES,
    rules={
        **symbols("function", "function_declaration"),
        "variable_declaration": _zig_variable,
        "test_declaration": _zig_test,
        "container_field": _zig_field,
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        bodiless=frozenset({"function_signature"}),
        clauses=frozenset({"function_declaration", "function_signature"}),
        overloads=frozenset({"function_signature"}),
        parts={
            "variable_declaration": _zig_errors,
            "function_declaration": _zig_returned,
        },
        loose=frozenset({"container_field"}),
        local=(rb"fn[ \t]+\w", rb"const[ \t]+\w+ = (?:packed |extern )?(?:struct|enum|union)\b"),
    ),
)

ROWS = (GO, RUST, ZIG)
