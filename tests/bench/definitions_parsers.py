"""Compare CQM's definitions with those of the parsers of 17 further languages.

    python tests/bench/definitions_parsers.py LANGUAGE TREE... [--differences N] [--modules NODE_MODULES] [--each N]

The table is that of `definitions.py`. The programs in `definitions_of/` print the definitions:

| language | source | needs |
|---|---|---|
| OCaml, R, Clojure, Erlang | their own parsers | `ocaml`, `Rscript`, `clojure`, `escript` |
| Perl | PPI | libppi-perl |
| Racket, Scheme | the reader of Racket | `racket` |
| Common Lisp, Emacs Lisp | Emacs | `emacs` |
| SCSS, Less | npm `postcss-scss`, `postcss-less` | in --modules |
| GraphQL, Solidity | npm `graphql`, `@solidity-parser/parser` | in --modules |
| Zig | `std.zig.Ast` of Zig 0.17, built by `python -m ziglang build-exe` | --zig PROGRAM |
| Protocol Buffers, HCL, Fortran | PyPI `grpcio-tools`, `python-hcl2`, `fparser` | in the Python of --python |

A name that begins with "?" may or may not count as a definition. Files that a source can't read are left out.
"""

import argparse
import os
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from definitions import HERE, Names, _print_differences, _print_row, _without_optional, own_name

from cqm.chunkers.chunking import chunk
from cqm.chunkers.detect import language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.languages.table import dialect_of
from cqm.chunkers.model import Document
from cqm.chunkers.text_of_file import read_text

COMMANDS = {
    "ocaml": ["ocaml", "-I", "+compiler-libs", "ocamlcommon.cma", "ocaml.ml"],
    "r": ["Rscript", "r.R"],
    "erlang": ["escript", "erlang.escript"],
    "clojure": ["clojure", "clojure.clj"],
    "perl": ["perl", "perl.pl"],
    **{key: ["racket", "racket.rkt"] for key in ("racket", "scheme")},
    **{key: ["emacs", "--batch", "-l", "lisps.el"] for key in ("commonlisp", "emacslisp")},
    **{key: ["node", "styles.cjs"] for key in ("scss", "less")},
    "graphql": ["node", "graphql.cjs"],
    "solidity": ["node", "solidity.cjs"],
    "protobuf": ["PYTHON", "protobuf.py"],
    "hcl": ["PYTHON", "hcl.py"],
    "fortran": ["PYTHON", "fortran.py"],
    "zig": ["xargs", "-d", "\n", "ZIG"],
}
WHOLE = {"clojure", "racket", "scheme", "commonlisp", "emacslisp", "r", "graphql"}
"""Languages whose names may have dots."""
LARGEST = 500_000


def main() -> None:
    """Print the table of one language."""
    arguments = _arguments()
    files = _files(arguments.language, arguments.trees, arguments.each)
    truth = _truth(arguments, files)
    pairs = {
        path: _without_optional(names, _ours(path, files[path], arguments.language, names))
        for path, names in truth.items()
    }
    truth = {path: pair[0] for path, pair in pairs.items()}
    ours = {path: pair[1] for path, pair in pairs.items()}
    print(f"{'language':12} {'files':>5} {'names':>7}  recall precis. |   lines  recall precis.")
    _print_row(arguments.language, truth, ours)
    _print_differences(truth, ours, arguments.differences)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("language", choices=sorted(COMMANDS))
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--differences", type=int, default=0, help="how many of each to print")
    parser.add_argument("--modules", type=Path, help="a folder node_modules")
    parser.add_argument("--python", default=sys.executable, help="one that has the packages")
    parser.add_argument("--zig", default="zig", help="definitions_of/zig.zig, built")
    parser.add_argument("--each", type=int, default=150, help="most files in a tree")
    return parser.parse_args()


def _files(language: str, trees: Sequence[Path], each: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for tree in trees:
        mine: list[tuple[str, str]] = []
        for file in sorted(tree.rglob("*")):
            if not file.is_file() or file.is_symlink() or file.stat().st_size > LARGEST:
                continue
            data = file.read_bytes()
            if language_of(file.name, data[:LARGEST].decode("utf-8", "replace")) != language:
                continue
            try:
                mine.append((str(file), read_text(file.name, data).text))
            except UndecodableError:
                continue
        random.Random(1).shuffle(mine)
        found.update(mine[:each])
    return found


def _truth(arguments: argparse.Namespace, files: dict[str, str]) -> dict[str, Names]:
    stands_for = {"PYTHON": arguments.python, "ZIG": arguments.zig}
    words = [stands_for.get(word, word) for word in COMMANDS[arguments.language]]
    command = [str(HERE / word) if (HERE / word).is_file() else word for word in words]
    variables = {**os.environ, **({"NODE_PATH": str(arguments.modules)} if arguments.modules else {})}
    given = "\n".join(files) + "\n"
    run = subprocess.run(command, input=given, text=True, capture_output=True, env=variables, check=False)
    found: defaultdict[str, Names] = defaultdict(set)
    # Zig prints to its stream of errors.
    for line in (run.stdout + run.stderr).splitlines():
        path, _, rest = line.partition("\t")
        number, _, name = rest.partition("\t")
        if path not in files or not number.isdigit():
            continue
        if number == "0":
            found[path] |= set()
        else:
            sign = "?" * name.startswith("?")
            found[path].add((int(number), sign + _own(arguments.language, name.removeprefix(sign))))
    if not found:
        print(run.stderr[-2000:])
    return dict(found)


def _own(language: str, name: str) -> str:
    name = re.sub(r"\s+", " ", name).strip()
    if language in ("scss", "less"):
        return re.sub(r"\s*([,>+~:(){}\[\]=])\s*", r"\1", name)
    name = name.lower() if language == "fortran" else name
    return name if language in WHOLE else own_name(name)


def _ours(path: str, text: str, language: str, truth: Names) -> Names:
    """Return our names as the source has them, if it has one of the ways to qualify them, or else the last part."""
    known = {name.removeprefix("?") for _, name in truth}
    names: Names = set()
    for part in chunk(Document(path, text, dialect_of(language, text))).chunks:
        for it in part.definitions:
            if it.kind != "test":
                shown = [_own(language, name) for name in _endings(it.name)]
                last = _own(language, it.name) if language in ("scss", "less") else own_name(it.name)
                names.add((it.line, next((name for name in shown if name in known), last)))
    return names


def _endings(name: str) -> Iterator[str]:
    yield name
    yield from (name[place + 1 :] for place, sign in enumerate(name[:-1]) if sign in "./")


if __name__ == "__main__":
    main()
