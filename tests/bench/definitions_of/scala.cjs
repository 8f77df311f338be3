// Prints the definitions of Scala, found by scalameta-parsers: path, line, name. Paths are read from standard input.
const fs = require("fs");
const { parseSource } = require("scalameta-parsers");

const NAMED = new Set(["Defn.Def", "Defn.Class", "Defn.Object", "Defn.Trait", "Defn.Type", "Defn.Enum", "Decl.Def", "Decl.Type", "Defn.EnumCase", "Pkg.Object", "Defn.GivenAlias", "Defn.Given", "Decl.Given"]);
const VALUES = new Set(["Defn.Val", "Defn.Var", "Decl.Val", "Decl.Var"]);
const TYPES = new Set(["Defn.Class", "Defn.EnumCase"]);

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = fs.readFileSync(path, "utf8");
  let tree = parseSource(text);
  if (tree.error) tree = parseSource(text, "Scala3");
  if (tree.error) continue;
  const tell = (name) => name.value && console.log(`${path}\t${text.slice(0, name.pos.start).split("\n").length}\t${name.value}`);
  const patterns = (pattern) => {
    if (pattern.type === "Pat.Var") tell(pattern.name);
    else if (pattern.type === "Pat.Tuple") pattern.args.forEach(patterns);
  };
  // Inside functions only functions and types count.
  const visit = (node, outside) => {
    if (!node || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach((it) => visit(it, outside));
    let inner = outside;
    if (NAMED.has(node.type)) tell(node.name);
    if (node.type === "Ctor.Secondary") console.log(`${path}\t${text.slice(0, node.name.pos.start).split("\n").length}\tthis`);
    if (node.type === "Defn.RepeatedEnumCase") node.cases.forEach(tell);
    if (VALUES.has(node.type) && outside) node.pats.forEach(patterns);
    if (TYPES.has(node.type)) {
      const clauses = node.ctor.paramClauses ? node.ctor.paramClauses.flatMap((it) => it.values) : node.ctor.paramss.flat();
      const isCase = node.type === "Defn.EnumCase" || node.mods.some((it) => it.type === "Mod.Case");
      for (const it of clauses)
        if (isCase || it.mods.some((mod) => mod.type === "Mod.ValParam" || mod.type === "Mod.VarParam")) tell(it.name);
    }
    if (/^(Defn\.(Def|Val|Var|GivenAlias)|Term\.(Function|PartialFunction|NewAnonymous|Block))$/.test(node.type)) inner = false;
    if (/^Defn\.(Class|Object|Trait|Given|Enum)$/.test(node.type)) inner = true;
    for (const key of Object.keys(node)) if (key !== "pos") visit(node[key], inner);
  };
  visit(tree, true);
  console.log(`${path}\t0\t`);
}
