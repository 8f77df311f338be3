// Prints the definitions of JavaScript and TypeScript, found by the TypeScript compiler: path, line, name.
// Paths are read from standard input, one a line; NODE_PATH names a folder with the package "typescript".
const fs = require("fs");
const ts = require("typescript");

const KINDS = ts.SyntaxKind;
const isFunction = (node) => node && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
const bare = (node) => {
  while (node && (ts.isAsExpression(node) || ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node))) node = node.expression;
  return node;
};

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : /\.[mc]?js$/.test(path) ? ts.ScriptKind.JSX : ts.ScriptKind.TS;
  const text = fs.readFileSync(path, "utf8");
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  if (file.parseDiagnostics.length) continue;
  const tell = (node, name, optional) => {
    const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
    console.log(`${path}\t${line}\t${name.replace(/\s+/g, " ")}${optional ? "\t?" : ""}`);
  };
  // Counted neither as missing nor as wrong: members of objects, variables with a value made by a call, default exports.
  const optional = (node) => {
    const value = bare(node.initializer ?? node.right ?? node.expression);
    if (ts.isObjectLiteralElement(node) && node.name) tell(node.name, node.name.text ?? "", true);
    else if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && value && !ts.isLiteralExpression(value)) tell(node.name, node.name.text, true);
    else if (ts.isFunctionExpression(node) && node.name) tell(node.name, node.name.text, true);
    else if (ts.isExportAssignment(node)) tell(node, "default", true);
    else if (ts.isBinaryExpression(node) && ts.isPropertyAccessExpression(node.left)) tell(node.left.name, node.left.name.text, true);
  };
  const named = (node) => {
    const name = node.name;
    if (!name || ts.isComputedPropertyName(name)) return;
    tell(name, name.text ?? name.getText(file));
  };
  const pattern = (name) => {
    if (ts.isIdentifier(name)) tell(name, name.text);
    else for (const it of name.elements) if (it.name) pattern(it.name);
  };
  const literal = (object) => {
    for (const it of object.properties) {
      if (ts.isMethodDeclaration(it) || ts.isAccessor(it)) named(it);
      else if (ts.isPropertyAssignment(it)) {
        const value = bare(it.initializer);
        if (isFunction(value) || ts.isClassExpression(value)) named(it);
      }
    }
  };
  // `outside`: at the top of a module or namespace, whose variables count; inside functions only functions do.
  const visit = (node, outside) => {
    let inner = outside && !ts.isIterationStatement(node, false);
    optional(node);
    if (ts.isFunctionDeclaration(node)) {
      if (node.name) named(node);
      else tell(node, "default");
      inner = false;
    } else if (ts.isClassDeclaration(node)) node.name ? named(node) : tell(node, "default");
    else if (ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
      named(node);
      const types = ts.isTypeAliasDeclaration(node) ? [node.type] : [node];
      while (types.length) {
        const type = types.pop();
        if (type.members) for (const it of type.members) if (it.name) named(it);
        if (ts.isIntersectionTypeNode(type)) types.push(...type.types);
      }
      return;
    } else if (ts.isModuleDeclaration(node)) named(node);
    else if (ts.isMethodDeclaration(node) || ts.isAccessor(node) || ts.isPropertyDeclaration(node)) {
      if (ts.isClassLike(node.parent)) named(node);
      if (!ts.isPropertyDeclaration(node)) inner = false;
    } else if (ts.isConstructorDeclaration(node)) {
      tell(node.getChildren(file).find((it) => it.kind === KINDS.ConstructorKeyword) ?? node, "constructor");
      for (const it of node.parameters) if (ts.isParameterPropertyDeclaration(it, node)) named(it);
      inner = false;
    } else if (isFunction(node)) inner = false;
    else if (ts.isVariableDeclaration(node)) {
      const value = bare(node.initializer);
      const loads = value && /^(await )?(require|import)\(/.test(value.getText(file).slice(0, 15));
      if (outside && !loads && !(ts.isCatchClause(node.parent)) && !/^For/.test(KINDS[node.parent.parent.kind])) pattern(node.name);
      else if (!outside && (isFunction(value) || (value && ts.isClassExpression(value)))) named(node);
      if (outside && value && ts.isObjectLiteralExpression(value)) literal(value);
    } else if (ts.isExpressionStatement(node)) {
      let assigned = node.expression;
      if (ts.isBinaryExpression(assigned) && assigned.operatorToken.kind === KINDS.EqualsToken) {
        const targets = [];
        while (ts.isBinaryExpression(assigned) && assigned.operatorToken.kind === KINDS.EqualsToken) {
          targets.push(assigned.left);
          assigned = assigned.right;
        }
        const value = bare(assigned);
        const target = targets[0].getText(file);
        const exported = /^(module\.)?exports\.\w+$/.test(target) && outside && value.getText(file) !== targets[0].name.text;
        const whole = /^(module\.)?exports$/.test(target) && outside;
        if (whole && ts.isObjectLiteralExpression(value)) literal(value);
        else if (whole && (isFunction(value) || ts.isClassExpression(value)) && value.name) named(value);
        else if (!whole && outside && ts.isPropertyAccessExpression(targets[0]) && (isFunction(value) || ts.isClassExpression(value) || exported))
          tell(targets[0].name, targets[0].name.text);
      }
    } else if (ts.isExportAssignment(node) && !node.isExportEquals) {
      const value = bare(node.expression);
      if (ts.isObjectLiteralExpression(value)) literal(value);
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(file, true);
  console.log(`${path}\t0\t`);
}
