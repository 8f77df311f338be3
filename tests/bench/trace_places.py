"""Places as people and tools write them: a format for each notation."""

PLACES = {
    "path:line": "{path}:{n}",
    "path:line:col": "{path}:{n}:7",
    "./path:line": "./{path}:{n}",
    "path:a-b": "{path}:{n}-{m}",
    "path#L": "{path}#L{n}",
    "path#La-Lb": "{path}#L{n}-L{m}",
    "path:La-Lb": "{path}:L{n}-L{m}",
    "path line n": "{path} line {n}",
    "path, lines a-b": "{path}, lines {n}-{m}",
    "line n of path": "line {n} of {path}",
    "path +n": "{path} +{n}",
    "+n path": "+{n} {path}",
    "`path:line`": "`{path}:{n}`",
    "in a question": "why does {path}:{n} fail?",
    "windows": "C:\\work\\{repo}\\{back}:{n}",
    "file://": "file:///home/a/{repo}/{path}:{n}:3",
    "vscode://": "vscode://file/home/a/{repo}/{path}:{n}:3",
    "File, line": 'File "/app/{path}", line {n}, in {name}',
    "github": "https://github.com/o/{repo}/blob/main/{path}#L{n}",
    "github a-b": "see https://github.com/o/{repo}/blob/0a1b2c3/{path}?plain=1#L{n}-L{m}",
    "github col": "https://github.com/o/{repo}/blob/v1.2/{path}#L{n}C5-L{m}C9",
    "github branch": "https://github.com/o/{repo}/blob/feature/x/{path}#L{n}",
    "gitlab": "https://gitlab.com/g/o/{repo}/-/blob/main/{path}?ref_type=heads#L{n}-{m}",
    "bitbucket": "https://bitbucket.org/o/{repo}/src/main/{path}#lines-{n}:{m}",
    "bitbucket -": "https://bitbucket.org/o/{repo}/src/0a1b2c3/{path}#{file}-{n}",
    "gitea": "https://codeberg.org/o/{repo}/src/branch/main/{path}#L{n}-L{m}",
    "azure": (
        "https://dev.azure.com/o/p/_git/{repo}?path=/{path}&version=GBmain&line={n}&lineEnd={m}&lineStartColumn=1"
    ),
    "sourcegraph": "https://sourcegraph.com/github.com/o/{repo}/-/blob/{path}?L{n}",
    "raw diff": "--- a/{path}\n+++ b/{path}\n@@ -{n},3 +{n},4 @@ {name}",
    "gcc": (
        "In file included from /app/other.h:12,\n                 from main.c:3:\n"
        "{path}:{n}:7: error: 'x' undeclared (first use in this function)\n  {n} |   {code}"
    ),
    "gcc note": ("{path}: In function '{name}':\n{path}:{n}:7: warning: unused variable 'x' [-Wunused-variable]"),
    "clang": "/app/{path}:{n}:7: error: use of undeclared identifier 'x'\n{code}\n      ^",
    "msvc": "C:\\b\\{repo}\\{back}({n}): error C2065: 'x': undeclared identifier",
    "msbuild": ("/app/{path}({n},7): error CS1061: 'Foo' does not contain a definition for 'x' [/app/App.csproj]"),
    "rustc": (
        "error[E0382]: borrow of moved value: `x`\n  --> {path}:{n}:7\n   |\n{n} | {code}\n"
        "   |       ^ value borrowed here after move"
    ),
    "tsc": ("{path}({n},7): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'."),
    "tsc pretty": (
        "\x1b[96m{path}\x1b[0m:\x1b[93m{n}\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2345: \x1b[0m"
        "Argument of type 'string'"
    ),
    "eslint": ("/app/{path}\n  {n}:7  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)"),
    "eslint unix": "/app/{path}:{n}:7: 'x' is not defined. [Error/no-undef]",
    "javac": "{path}:{n}: error: cannot find symbol\n{code}\n        ^\n  symbol:   variable x",
    "maven": "[ERROR] /app/{path}:[{n},7] cannot find symbol",
    "kotlinc": "e: file:///app/{path}:{n}:7 Unresolved reference: x",
    "kotlinc old": "e: /app/{path}: ({n}, 7): Unresolved reference: x",
    "go vet": "# example.com/{repo}\nvet: ./{path}:{n}:7: undeclared name: x",
    "mypy": ('{path}:{n}: error: Incompatible return value type (got "int", expected "str")  [return-value]'),
    "ruff": ("F841 Local variable `x` is assigned to but never used\n  --> {path}:{n}:7\n   |\n{n} | {code}"),
    "ruff concise": "{path}:{n}:7: F401 [*] `os` imported but unused",
    "pylint": (
        "************* Module x\n{path}:{n}:0: C0116: Missing function or method docstring (missing-function-docstring)"
    ),
    "rubocop": "{path}:{n}:7: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings",
    "phpstan": (
        " ------ -----------\n  Line   {path}\n ------ -----------\n"
        "  {n}     Method x() has no return type\n ------ -----------"
    ),
    "phpcs": "FILE: /app/{path}\n-----\nFOUND 1 ERROR\n-----\n {n} | ERROR | [x] Expected 1 space\n-----",
    "php -l": "PHP Parse error:  syntax error, unexpected '}}' in /app/{path} on line {n}",
    "ghc": "{path}:({n},7)-({m},9): error: Variable not in scope: x",
    "scalac": "[error] /app/{path}:{n}:7: not found: value x",
    "actions": "::error file={path},line={n},col=7::x is not defined",
    "sh": "./{path}: line {n}: syntax error near unexpected token",
    "vim": "{path}|{n} col 7 error| x is not defined",
    "grep": "{path}:{n}:{code}",
    "perl": "x is not defined at {path} line {n}.",
}
"""Fields: path, its name (file) and with backslashes (back), two lines, repository, function, text of the line."""
