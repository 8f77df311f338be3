"""Compare CQM's definitions with those of an independent source, language by language.

    python tests/bench/definitions.py TREE... [--language NAME] [--differences N] [--modules NODE_MODULES]

Two tables of recall and precision: of names (a file has a definition of this name) and of first lines (on this line).
Names are compared without their containers. The sources:

| language | source | needs |
|---|---|---|
| Python | `ast` | |
| JavaScript, TypeScript, TSX | the TypeScript compiler | npm `typescript@5` in --modules |
| Java | `javac` | a JDK |
| Go | `go/ast` | Go |
| Ruby, Elixir | their own parsers | Ruby 3, Elixir |
| PHP, Lua, Scala | npm `php-parser`, `luaparse`, `scalameta-parsers` | in --modules |
| C, C++, Rust, Bash | Universal Ctags, the kinds of `CTAGS` | `ctags` |
| Kotlin, Swift, C# | patterns and braces, `definitions_scanned.py` | |
| Objective-C (types, methods), Haskell, PowerShell | lines, `definitions_lines.py` | |

A source which can't read a file says nothing, and the file is left out. What a source does not know (see `UNKNOWN`)
is not counted as ours: ctags knows no constants of Rust, patterns no operators. With `--differences` some of the
names and lines that only one side has are printed, for people to judge.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from definitions_lines import scanned_haskell, scanned_objc, scanned_powershell
from definitions_scanned import scanned

from cqm.chunkers.chunking import chunk
from cqm.chunkers.detect import language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.languages.table import dialect_of
from cqm.chunkers.model import Definition, Document
from cqm.chunkers.text_of_file import read_text

Names = set[tuple[int, str]]
"""Lines and names of one file."""

HERE = Path(__file__).parent / "definitions_of"
SKIPPED = re.compile(r"(?i)(?:^|/)(?:node_modules|vendor|dist|build|third_party)/|\.min\.js$|\.pb\.go$")

CTAGS = {
    # Language and kinds of ctags, by ours.
    "c": ("C", "defgmpstuvx"),
    "cpp": ("C++", "cdefgmnpstuvxA"),
    "rust": ("Rust", "MPefgimnst"),
    "bash": ("Sh", "f"),
}
_RUST_CONSTANT = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?\w+\s*:")
UNKNOWN: dict[str, Callable[[Definition, str], bool]] = {
    # ctags knows no constants of Rust, no fields of its variants, no forward declarations of C, and see `_UNREAD`.
    "rust": lambda it, line: bool(_RUST_CONSTANT.match(line)) or (it.kind == "property" and it.name.count(".") > 1),
    "c": lambda it, line: _is_forward(it, line),  # noqa: PLW0108 - defined below
    "cpp": lambda it, line: _is_forward(it, line),  # noqa: PLW0108 - defined below
    "bash": lambda it, _line: it.kind != "function",
    "powershell": lambda it, _line: it.kind != "function",
    # Operators and local functions of C# need a parser; namespaces are no definitions of one file.
    "csharp": lambda it, _line: "operator" in it.name or it.kind in ("function", "namespace"),
    # Functions among the methods are none.
    "objc": lambda it, line: (
        (it.kind not in ("class", "interface", "method") and not it.name.startswith("@"))
        or (it.kind == "method" and not line.lstrip().startswith(("-", "+")))
    ),
    "elixir": lambda it, _line: it.kind in ("constant", "property"),
    "haskell": lambda it, line: line.startswith(("instance", "pattern", "foreign")) or " " in it.name,
    "javascript": lambda it, _line: "[" in it.name or "exports" in it.name,
    "typescript": lambda it, _line: "[" in it.name or it.name.endswith('"') or "exports" in it.name,
    "tsx": lambda it, _line: "[" in it.name,
}
"""Tells which of ours the source does not know, by the definition and its line."""
_MACRO = re.compile(r"\s*[A-Z][A-Z0-9_]+\(")
"""Lines that begin with the call of a macro: ctags takes its name for a function."""
_ALIAS = re.compile(r"\s*namespace\s+(?P<name>\w+)\s*=")
"""ctags names an alias by the namespace that it stands for."""
_EXPORTED = re.compile(r"\s*class\s+[A-Z_]+\s+\w+\s*;")
_INSTANTIATED = re.compile(r"\s*(?:extern\s+)?template\s+(?!<)")
"""Forward declarations with a macro, and instances of templates, which define nothing."""
_ATTRIBUTE = re.compile(r"(?:[A-Z]+_)*(?:GUARDED_BY|(?:UN)?LOCK_FUNCTION|UNUSED(?:_MEMBER)?|CONSTEXPR)")
"""Macros beside a name, which ctags takes instead of it."""
_UNREAD = re.compile(rf".*\b(?:alignas\(|{_ATTRIBUTE.pattern}\b)|(?:[^(]*[\s<])?::\w")
"""Declarations that ctags misses: alignment, such macros, types of the outermost namespace."""
_FORWARD = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:typedef\s+|friend\s+)?(?:struct|class|enum|union)\b[^{}()=]*;")
GUARD = re.compile(r"_H(?:PP|H|XX)?_*$|_INCLUDED_*$")
"""Macros that keep a header from being read twice, which CQM leaves out; ctags does not."""
TESTS_LEFT_OUT = re.compile(r"(?i)(?:^|/)(?:unit)?tests?(?:/|-|_)|[-_]test\.|_benchmark\.|gtest|gmock")
"""Files of C and C++ whose macros ctags takes for functions, and everything in them for global variables."""


def _is_forward(it: Definition, line: str) -> bool:
    is_forward = it.kind in ("struct", "class", "enum") and _FORWARD.match(line)
    return bool(is_forward or _MACRO.match(line) or _UNREAD.match(line))


def main() -> None:
    """Print both tables."""
    arguments = _arguments()
    files = _files(arguments.trees, arguments.each)
    print(f"{'language':12} {'files':>5} {'names':>7}  recall precis. |   lines  recall precis.")
    for language in sorted(files):
        if arguments.language and language not in arguments.language:
            continue
        truth = _truth(language, files[language], arguments.modules)
        if not truth:
            print(f"{language:12} no source")
            continue
        ours = {path: _ours(path, files[language][path], language, truth[path]) for path in truth}
        pairs = {path: _without_optional(truth[path], ours[path]) for path in truth}
        truth = {path: pair[0] for path, pair in pairs.items()}
        ours = {path: pair[1] for path, pair in pairs.items()}
        _print_row(language, truth, ours)
        _print_differences(truth, ours, arguments.differences)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--language", action="append")
    parser.add_argument("--differences", type=int, default=0, help="how many of each to print")
    parser.add_argument("--modules", type=Path, help="a folder node_modules")
    parser.add_argument("--each", type=int, default=400, help="most files of a language in a tree")
    return parser.parse_args()


def _files(trees: Sequence[Path], each: int) -> dict[str, dict[str, str]]:
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for tree in trees:
        of_tree: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for file in sorted(tree.rglob("*")):
            if not file.is_file() or file.is_symlink() or SKIPPED.search(file.relative_to(tree).as_posix()):
                continue
            language = language_of(file.name)
            if file.stat().st_size > 500_000 or (language in ("c", "cpp") and TESTS_LEFT_OUT.search(str(file))):
                continue
            try:
                text = read_text(file.name, file.read_bytes()).text if language in _SOURCED else None
            except UndecodableError:
                continue
            if text is not None and "\f" not in text:
                of_tree[dialect_of(language, text)].append((str(file), text))
        for language, those in of_tree.items():
            random.Random(1).shuffle(those)
            found[language].update(those[:each])
    return found


def _ours(path: str, text: str, language: str, truth: Names) -> Names:
    leaves_out = UNKNOWN.get(language)
    found = [it for part in chunk(Document(path, text)).chunks for it in part.definitions if it.kind != "test"]
    lines = text.split("\n")
    known = {(it.line, own_name(it.name)) for it in found if not (leaves_out and leaves_out(it, lines[it.line - 1]))}
    return known | ({(it.line, own_name(it.name)) for it in found} & truth)


def own_name(name: str) -> str:
    """Return the last part of a qualified name, in the spelling common to all sources."""
    last = re.split(r"\.(?=[^.])", name)[-1] if not name.startswith("operator") else name
    name = re.sub(r"\s+", "", last).strip("`@")
    # Conversions are spelled with and without "const" and "&".
    return re.sub(r"^operator(?!new|delete|co_await)[A-Za-z:_].*", "operator conversion", name)


def _without_optional(truth: Names, ours: Names) -> tuple[Names, Names]:
    """Leave out what may or may not count as a definition; its name begins with "?"."""
    optional = {(line, name[1:]) for line, name in truth if name.startswith("?")}
    required = {it for it in truth if not it[1].startswith("?")}
    return required, ours - (optional - required)


def _truth(language: str, files: dict[str, str], modules: Path | None) -> dict[str, Names]:
    if language == "python":
        return {path: names for path, text in files.items() if (names := _python(text)) is not None}
    if language in _SCANNED:
        read = {path: _SCANNED[language](text) for path, text in files.items()}
        return {
            path: {(line, own_name(name)) for line, name in names} for path, names in read.items() if names is not None
        }
    if language in CTAGS:
        return _ctags(language, files)
    command = _COMMANDS.get(language)
    if command is None or shutil.which(command[0]) is None:
        return {}
    variables = {**os.environ, **({"NODE_PATH": str(modules)} if modules else {})}
    run = subprocess.run(command, input="\n".join(files), text=True, capture_output=True, env=variables, check=False)
    if run.returncode:
        print(run.stderr[-2000:])
    found: defaultdict[str, Names] = defaultdict(set)
    for line in run.stdout.splitlines():
        path, number, name, *sign = line.split("\t")
        if number == "0":
            found[path] |= set()
        else:
            found[path].add((int(number), "?" * len(sign) + own_name(name)))
    return dict(found)


_NODE = ("javascript", "typescript", "tsx")
_COMMANDS = {
    **{language: ["node", str(HERE / "typescript.cjs")] for language in _NODE},
    "java": ["java", str(HERE / "Definitions.java")],
    "go": ["go", "run", str(HERE / "golang.go")],
    "ruby": ["ruby", str(HERE / "ruby.rb")],
    "elixir": ["elixir", str(HERE / "elixir.exs")],
    "php": ["node", str(HERE / "php.cjs")],
    "lua": ["node", str(HERE / "lua.cjs")],
    "scala": ["node", str(HERE / "scala.cjs")],
}
_SCANNED: dict[str, Callable[[str], list[tuple[int, str]] | None]] = {
    **{language: partial(scanned, language=language) for language in ("kotlin", "swift", "csharp")},
    "haskell": scanned_haskell,
    "powershell": scanned_powershell,
    "objc": scanned_objc,
}
_SOURCED = {*_COMMANDS, *CTAGS, *_SCANNED, "python"}


def _ctags(language: str, files: dict[str, str]) -> dict[str, Names]:
    name, kinds = CTAGS[language]
    found: dict[str, Names] = {path: set() for path in files}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(files))
        listed.flush()
        command = ["ctags", "--output-format=json", "-f-", "--fields=+nK", f"--language-force={name}"]
        command += [f"--kinds-{name}={kinds}", "-L", listed.name]
        run = subprocess.run(command, text=True, capture_output=True, check=True, errors="replace")
    tags = [json.loads(line) for line in run.stdout.splitlines()]
    # "typedef struct node {...} node" declares one name, at its beginning.
    tagged = {(it["path"], it["name"]) for it in tags if it.get("kind") in ("struct", "union", "enum")}
    tags = [it for it in tags if it.get("kind") != "typedef" or (it["path"], it["name"]) not in tagged]
    for it in tags:
        if it.get("_type") != "tag" or (it["name"].endswith(("=", "}}")) and not it["name"].startswith("operator")):
            continue
        if not it["name"].startswith("__anon") and not GUARD.search(it["name"]):
            found[it["path"]].add((it["line"], own_name(it["name"])))
    if language in ("c", "cpp"):
        found = {path: _of_c(those, files[path]) for path, those in found.items()}
    return found


def _of_c(names: Names, text: str) -> Names:
    lines = text.split("\n")
    kept: Names = set()
    for number, name in names:
        line = lines[number - 1]
        alias = _ALIAS.match(line)
        if not (_MACRO.match(line) or _EXPORTED.match(line) or _INSTANTIATED.match(line) or _ATTRIBUTE.fullmatch(name)):
            kept.add((number, alias["name"] if alias else name))
    return kept


def _python(text: str) -> Names | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found: Names = set()
    waiting: list[tuple[ast.AST, bool]] = [(tree, True)]
    while waiting:
        node, outside = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add((node.lineno, node.name))
            outside = isinstance(node, ast.ClassDef)
            if not outside and node.name == "__init__":
                found |= set(_of_self(node))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and outside:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
                found |= {(it.lineno, it.id) for it in names if isinstance(it, ast.Name)}
        elif isinstance(node, ast.Lambda):
            outside = False
        waiting += [(child, outside) for child in ast.iter_child_nodes(node)]
    return found


def _of_self(node: ast.AST) -> Iterator[tuple[int, str]]:
    for it in ast.walk(node):
        if isinstance(it, ast.Assign | ast.AnnAssign):
            for target in it.targets if isinstance(it, ast.Assign) else [it.target]:
                for inner in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if (
                        isinstance(inner, ast.Attribute)
                        and isinstance(inner.value, ast.Name)
                        and inner.value.id == "self"
                    ):
                        yield inner.lineno, inner.attr


def _print_row(language: str, truth: dict[str, Names], ours: dict[str, Names]) -> None:
    names = {(path, name) for path, those in truth.items() for _, name in those}
    our_names = {(path, name) for path, those in ours.items() for _, name in those}
    lines = {(path, *it) for path, those in truth.items() for it in those}
    our_lines = {(path, *it) for path, those in ours.items() for it in those}
    shared, shared_lines = len(names & our_names), len(lines & our_lines)
    print(
        f"{language:12} {len(truth):5} {len(names):7}  {_share(shared, names)}   {_share(shared, our_names)}   | "
        f"{len(lines):7} {_share(shared_lines, lines)}   {_share(shared_lines, our_lines)}"
    )


def _share(part: int, whole: set[tuple[str, str]] | set[tuple[str, int, str]]) -> str:
    return f"{part / len(whole):.3f}" if whole else "-    "


def _print_differences(truth: dict[str, Names], ours: dict[str, Names], most: int) -> None:
    if not most:
        return
    lines = {(path, *it) for path, those in truth.items() for it in those}
    our_lines = {(path, *it) for path, those in ours.items() for it in those}
    for sign, only in (("-", lines - our_lines), ("+", our_lines - lines)):
        for path, line, name in sorted(random.Random(2).sample(sorted(only), min(most, len(only)))):
            shown = Path(path).read_text("utf-8", "replace").split("\n")[line - 1].strip()[:110]
            print(f"  {sign} {'/'.join(path.split('/')[-3:])}:{line} {name!r}: {shown}")


if __name__ == "__main__":
    main()
