// Prints the definitions of GraphQL, found by graphql-js: path, line, name. Paths are read from standard input, one a line.
const fs = require("fs");
const { parse, visit } = require("graphql");

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let tree;
  try {
    tree = parse(fs.readFileSync(path, "utf8"));
  } catch {
    continue;
  }
  const tell = (node) => node.name && console.log(`${path}\t${node.name.loc.startToken.line}\t${node.name.value}`);
  for (const it of tree.definitions) {
    tell(it);
    for (const part of [...(it.fields || []), ...(it.values || [])]) tell(part);
  }
  console.log(`${path}\t0\t`);
}
