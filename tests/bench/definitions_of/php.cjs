// Prints the definitions of PHP, found by php-parser: path, line, name. Paths are read from standard input, one a line.
const fs = require("fs");
const { Engine } = require("php-parser");

const parser = new Engine({ parser: { extractDoc: false, php7: true, version: "8.3" }, ast: { withPositions: true } });
const KINDS = new Set(["function", "method", "class", "interface", "trait", "enum", "enumcase", "property", "constant", "classconstant"]);

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let tree;
  try {
    tree = parser.parseCode(fs.readFileSync(path, "utf8"), path);
  } catch {
    continue;
  }
  const tell = (node) => {
    const name = typeof node.name === "string" ? node : node.name;
    if (name && name.name) console.log(`${path}\t${name.loc.start.line}\t${name.name}`);
  };
  const visit = (node) => {
    if (!node || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach(visit);
    if (node.kind === "classconstant" || node.kind === "constantstatement") node.constants.forEach(tell);
    else if (KINDS.has(node.kind) && !node.isAnonymous) tell(node);
    if (node.kind === "parameter" && node.flags) tell(node);
    if (node.kind === "call" && node.what.name === "define" && node.arguments[0].kind === "string")
      console.log(`${path}\t${node.loc.start.line}\t${node.arguments[0].value}`);
    for (const key of Object.keys(node)) if (key !== "loc" && key !== "constants") visit(node[key]);
  };
  visit(tree.children);
  console.log(`${path}\t0\t`);
}
