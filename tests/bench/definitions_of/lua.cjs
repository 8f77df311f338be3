// Prints the definitions of Lua, found by luaparse: path, line, name. Paths are read from standard input, one a line.
const fs = require("fs");
const luaparse = require("luaparse");

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let tree;
  try {
    tree = luaparse.parse(fs.readFileSync(path, "utf8"), { locations: true, luaVersion: "LuaJIT", comments: false });
  } catch {
    continue;
  }
  const last = (node) => (node.type === "MemberExpression" ? node.identifier : node);
  const tell = (node) => {
    const name = last(node);
    if (name.name) console.log(`${path}\t${name.loc.start.line}\t${name.name}`);
  };
  const optional = (name) => console.log(`${path}\t${name.loc.start.line}\t${name.name}\t?`);
  const table = (value) => {
    for (const field of value.fields) {
      if (field.type === "TableKeyString" && field.value.type === "FunctionDeclaration") tell(field.key);
      if (field.type === "TableKeyString" && field.value.type === "TableConstructorExpression") optional(field.key);
      if (field.value && field.value.type === "TableConstructorExpression") table(field.value);
    }
  };
  // Inside functions only functions count.
  const visit = (node, outside) => {
    if (!node || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach((it) => visit(it, outside));
    if (node.type === "FunctionDeclaration") {
      if (node.identifier) tell(node.identifier);
      return visit(node.body, false);
    }
    if (node.type === "TableKeyString" && node.value.type === "FunctionDeclaration") optional(node.key);
    if (node.type === "LocalStatement" || node.type === "AssignmentStatement") {
      node.variables.forEach((it, place) => {
        const value = node.init[place];
        const called = value && /^(String)?CallExpression$/.test(value.type) && value.base.name === "require";
        if (value && value.type === "FunctionDeclaration" && last(it).name) tell(it);
        else if (outside && !called && (it.type === "Identifier" || it.type === "MemberExpression")) tell(it);
        if (value && value.type === "TableConstructorExpression") table(value);
        if (!outside && it.name && value && value.type === "TableConstructorExpression") optional(it);
      });
      return visit(node.init, outside);
    }
    const inner = outside && !/^(For|While|Repeat)/.test(node.type);
    for (const key of Object.keys(node)) if (key !== "loc") visit(node[key], inner);
  };
  visit(tree.body, true);
  console.log(`${path}\t0\t`);
}
