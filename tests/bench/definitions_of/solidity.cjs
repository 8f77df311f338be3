// Prints the definitions of Solidity, found by its ANTLR parser: path, line, name. Paths are read from standard input, one a line.
const fs = require("fs");
const parser = require("@solidity-parser/parser");

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let tree;
  try {
    tree = parser.parse(fs.readFileSync(path, "utf8"), { loc: true });
  } catch {
    continue;
  }
  const tell = (node, name) => name && console.log(`${path}\t${node.loc.start.line}\t${name}`);
  parser.visit(tree, {
    ContractDefinition: (it) => tell(it, it.name),
    FunctionDefinition: (it) => tell(it, it.name || (it.isConstructor ? "constructor" : it.isReceiveEther ? "receive" : "fallback")),
    ModifierDefinition: (it) => tell(it, it.name),
    EventDefinition: (it) => tell(it, it.name),
    CustomErrorDefinition: (it) => tell(it, it.name),
    StructDefinition: (it) => {
      tell(it, it.name);
      it.members.forEach((member) => tell(member, member.name));
    },
    EnumDefinition: (it) => {
      tell(it, it.name);
      it.members.forEach((member) => tell(member, member.name));
    },
    StateVariableDeclaration: (it) => it.variables.forEach((one) => tell(one, one.name)),
    FileLevelConstant: (it) => tell(it, it.name),
    TypeDefinition: (it) => tell(it, it.name),
  });
  console.log(`${path}\t0\t`);
}
