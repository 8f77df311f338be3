"""Ask for definitions by name: is the first result the definition, named as asked, and told with its line?

    python tests/bench/names.py TREES [--of 60] [--members | --qualified] [--spelled beginning|humps|typo]

TREES has a folder for each repository. Definitions are found by a pattern for each language, read from the files alone:
no parser of CQM takes part. Only names declared once in a repository, its tests too, are asked for, `--of` of each at
most. With `--members` they are fields, constants, variants and methods of interfaces, `--of` of each kind, with
`--qualified` members with their types, in the notations of the language (names_members.py). With `--spelled` only two
thirds of a name are written, or the beginnings of its humps, or one letter is left out, twice, swapped or another;
then the column `five` counts those among the first five results too.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from names_members import Declared, members, quoted_lines

_NAME = r"(?P<name>[A-Za-z_]\w{3,})"
PATTERNS = {
    "py": rf"^(?P<in>[ ]*)(?:async )?(?:def|class) {_NAME}\b",
    "go": rf"^(?:func (?:\(\w* ?\*?(?P<type>\w+)[^)]*\) )?|type ){_NAME}\b",
    "rs": rf"^[ ]*(?:pub(?:\([a-z]+\))? )?(?:async |unsafe |const )*(?:fn|struct|enum|trait|type) {_NAME}\b",
    "js": rf"^(?:export )?(?:default )?(?:async )?(?:function|class) {_NAME}\b",
    "ts": rf"^(?:export )?(?:default |declare |abstract )*(?:async )?(?:function|class|interface|type|const) {_NAME}\b",
    "java": r"^(?!.*\b(?:new|catch|instanceof)\b)[ ]*(?:public |protected |private |static |final |abstract )*"
    r"(?:class|interface|enum|(?!return|throws? |new|else)[\w<>\[\],.? ]+) "
    r"(?P<name>[A-Za-z_]\w{3,})(?:\(|[ <{])[^;=]*\{\s*$",
    "kt": rf"^[ ]*(?:(?:public|internal|private|override|suspend|inline|abstract|open|data|sealed) )*"
    rf"(?:fun (?:<[^>]*> )?(?:[\w<>?]+\.)*|class |interface |object ){_NAME}\b(?!\.)",
    "swift": rf"^[ ]*(?:(?:public|internal|private|fileprivate|open|final|static|class(?= func)|override) )*"
    rf"(?:func|class(?! func| var)|struct|enum|protocol) {_NAME}\b",
    "rb": rf"^[ ]*(?:def (?:self\.)?|class |module ){_NAME}[?!]?(?![\w:])",
    "php": rf"^[ ]*(?:(?:public|protected|private|static|final|abstract) )*"
    rf"(?:function|class|interface|trait) {_NAME}\b",
    "scala": rf"^[ ]*(?:(?:private|protected|final|implicit|override|sealed|abstract|case) )*"
    rf"(?:def|class|trait|object|type) {_NAME}\b",
    "cs": rf"^[ ]*(?:(?:public|internal|private|protected|static|sealed|abstract|partial|readonly) )+"
    rf"(?:class|struct|interface|enum) {_NAME}\b",
    "ex": rf"^[ ]*(?:def|defp|defmacro) {_NAME}(?![\w?!])",
    "c": r"^(?!return|else|static inline)(?:[\w*]+[ *]+)+\*?(?P<name>[A-Za-z_]\w{3,})\([^;]*$",
    "lua": r"^(?:local )?function (?:[\w.:]+[.:])?(?P<name>[A-Za-z_]\w{3,})\(",
}
"""A line defining a name, by the ending of the file's name."""
_HUMPS = re.compile(r"_?(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+)")
_LONG_ENOUGH = 6
_ASIDE = re.compile(r"(?i)test|spec|example|vendor|docs?/|node_modules|bench|\.min\.")


@dataclass(frozen=True, slots=True)
class Defined:
    """A definition: its file, line and name."""

    path: str
    line: int
    name: str


class Asked(NamedTuple):
    """A question, the row of the table that it counts in, and the definition that answers it."""

    text: str
    row: str
    it: Defined | Declared


def definitions(tree: Path, *, aside: bool = False) -> Iterator[Defined]:
    """Yield the definitions of a tree's files; those of tests, examples and other people only if `aside`."""
    for file in sorted(tree.rglob("*")):
        path = file.relative_to(tree).as_posix()
        pattern = PATTERNS.get(file.suffix.lstrip("."))
        if pattern is None or (_ASIDE.search(path) and not aside) or not file.is_file() or file.is_symlink():
            continue
        text = file.read_text("utf-8", "replace")
        quoted = quoted_lines(path, text)
        for number, line in enumerate(text.split("\n"), 1):
            if (found := re.match(pattern, line)) and number not in quoted:
                yield Defined(path, number, found["name"])


def asked_of(tree: Path, given: argparse.Namespace) -> list[Asked]:
    """Draw the questions about a tree: names that are declared once in it, with their types if qualified."""
    every = [*members(tree)]
    places: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    all_names: list[Defined | Declared] = [*every]
    if not given.qualified:
        all_names += definitions(tree, aside=True)
    for it in all_names:
        places[_key(it, given.qualified)].add((it.path, it.line))
    known: Iterable[Defined | Declared] = every if given.members or given.qualified else definitions(tree)
    once = [it for it in known if len(places[_key(it, given.qualified)]) == 1 and not _ASIDE.search(it.path)]
    if given.spelled:
        once = [it for it in once if len(it.name) >= _LONG_ENOUGH and len(_HUMPS.findall(it.name)) > 1]
    rows: defaultdict[str, list[Defined | Declared]] = defaultdict(list)
    for it in once:
        kind = it.kind if isinstance(it, Declared) else ""
        if not given.qualified and kind not in {"method", "attribute"}:
            rows[f"{it.path.rpartition('.')[2]} {kind}".strip()].append(it)
        elif given.qualified and kind != "attribute" and isinstance(it, Declared) and it.owners:
            rows[it.path.rpartition(".")[2]].append(it)
    asked = []
    for row, some in rows.items():
        drawn = Random(7).sample(some, min(given.of, len(some)))
        for turn, it in enumerate(drawn):
            text = SPELLINGS[given.spelled](it.name) if given.spelled else it.name
            asked.append(Asked(it.written(turn) if isinstance(it, Declared) and given.qualified else text, row, it))
    return asked


def _key(it: Defined | Declared, qualified: bool) -> str:
    owner = it.owners[-1] if qualified and isinstance(it, Declared) and it.owners else ""
    return f"{owner}.{it.name}".lower().replace("_", "")


def main() -> None:
    """Ask, and print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--of", type=int, default=60, help="most names of a repository")
    parser.add_argument("--members", action="store_true")
    parser.add_argument("--qualified", action="store_true")
    parser.add_argument("--spelled", choices=sorted(SPELLINGS))
    parser.add_argument("--show", type=int, default=0, help="misses to print")
    options = parser.parse_args()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tree in sorted(filter(Path.is_dir, options.trees.iterdir())):
        asked = asked_of(tree.resolve(), options)
        for (text, row, it), hits in zip(asked, answers(tree, [one.text for one in asked]), strict=True):
            first = hits[0] if hits else {}
            holds = _holds(first, it)
            named = holds and re.split(r"[.:#]", first["symbol"])[-1].rstrip("?!=").lstrip("$") == it.name
            told = holds and first.get("line") == it.line
            five = any(_holds(hit, it) for hit in hits[:5])
            counts[row].update(asked=1, first=holds, five=five, named=named, line=told)
            if options.show and not (named and told):
                options.show -= 1
                place = f"{first.get('path')}:{first.get('line')} {first.get('symbol')}"
                print(f"  {tree.name} {row} {it.path}:{it.line} {it.name} {text}: {place}", flush=True)
    for language, of in sorted(counts.items()):
        print(f"{language:20} {of['asked']:5} {of['first']:5} {of['five']:5} {of['named']:5} {of['line']:5}")
    total = sum(counts.values(), Counter[str]())
    shares = " ".join(
        f"{name} {total[name] / max(1, total['asked']):.3f}" for name in ("first", "five", "named", "line")
    )
    print(f"{total['asked']} names in {len(counts)} languages: {shares}")


def _holds(hit: Mapping[str, Any], it: Defined | Declared) -> bool:
    return hit.get("path") == it.path and hit["start_line"] <= it.line <= hit["end_line"]


def _beginning(name: str) -> str:
    return name[: len(name) * 2 // 3].rstrip("_")


def _humps(name: str) -> str:
    return "".join(hump[:3] for hump in _HUMPS.findall(name))


def _typo(name: str) -> str:
    drawn = Random(name)
    at = drawn.randrange(1, len(name) - 1)
    before, letter, following, after = name[:at], name[at], name[at + 1], name[at + 2 :]
    other = drawn.choice("abcdefghijklmnopqrstuvwxyz")
    return before + drawn.choice([following, letter * 2 + following, following + letter, other + following]) + after


SPELLINGS: dict[str, Callable[[str], str]] = {"beginning": _beginning, "humps": _humps, "typo": _typo}


def answers(tree: Path, questions: list[str]) -> list[list[dict[str, Any]]]:
    """Ask all questions in one run of `cqm search --batch`."""
    lines = "".join(json.dumps({"id": n, "query": text}) + "\n" for n, text in enumerate(questions))
    cqm = str(Path(sys.executable).with_name("cqm"))
    command = [cqm, "search", "--path", str(tree), "--batch", "-", "--json"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    found = {row["id"]: row["results"] for row in map(json.loads, done.stdout.splitlines())}
    return [found.get(n, []) for n in range(len(questions))]


if __name__ == "__main__":
    main()
