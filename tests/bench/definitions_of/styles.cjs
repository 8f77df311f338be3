// Prints the definitions of SCSS and Less, found by PostCSS: path, line, name. Paths are read from standard input, one a line.
const fs = require("fs");
const parsers = { scss: require("postcss-scss"), less: require("postcss-less") };

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let tree;
  try {
    tree = parsers[path.endsWith(".less") ? "less" : "scss"].parse(fs.readFileSync(path, "utf8"));
  } catch {
    continue;
  }
  const tell = (node, name, sign = "") => console.log(`${path}\t${node.source.start.line}\t${sign}${name.replace(/\s+/g, " ")}`);
  // Names are those of all around and the own one, as people read them.
  const joined = (around, name) => (around ? `${around} ${name}`.replaceAll(" &", "") : name);
  const visit = (node, depth, around) => {
    let within = around;
    if (node.type === "decl" && node.prop.startsWith("$")) tell(node, node.prop, depth ? "?" : "");
    else if (node.type === "decl" && node.prop.startsWith("--")) tell(node, node.prop, "?");
    else if (node.type === "atrule" && node.variable) tell(node, `@${node.name}`, depth ? "?" : "");
    else if (node.type === "atrule" && node.mixin) return;
    else if (node.type === "atrule" && /^(mixin|function)$/.test(node.name)) tell(node, (within = node.params.match(/^[^\s({]+/)[0]));
    else if (node.type === "atrule" && node.nodes && !/^(if|else|each|for|while|include|at-root)$/.test(node.name)) tell(node, (within = joined(around, `@${node.name} ${node.params}`)), "?");
    else if (node.type === "rule" && !node.mixin) {
      const mixin = /^[.#][\w-]+\s*\(/.test(node.selector) && path.endsWith(".less");
      within = joined(around, mixin ? node.selector.match(/^[.#][\w-]+/)[0] : node.selector.replace(/\s+/g, " "));
      tell(node, within, depth ? "?" : "");
    }
    (node.nodes || []).forEach((it) => visit(it, depth + (it.type === "atrule" && node.type === "root" ? 0 : 1), within));
  };
  (tree.nodes || []).forEach((it) => visit(it, 0, ""));
  console.log(`${path}\t0\t`);
}
