"""Ask for definitions by name: is the first result the definition, named as asked, and told with its line?

    python tests/bench/names.py TREES [--of 60] [--qualified] [--spelled beginning|humps|typo]

TREES has a folder for each repository. Definitions are found by a pattern for each language, read from the files alone:
no parser of CQM takes part. Only names defined once in a repository are asked for, `--of` of each at most. With
`--qualified` members are asked for together with their type, in the notation of the language. With `--spelled` only two
thirds of a name are written, or the beginnings of its humps, or one letter is left out, twice, swapped or another;
then the column `five` counts those among the first five results too.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = r"(?P<name>[A-Za-z_]\w{3,})"
PATTERNS = {
    "py": rf"^(?P<in>[ ]*)(?:async )?(?:def|class) {_NAME}\b",
    "go": rf"^(?:func (?:\(\w* ?\*?(?P<type>\w+)[^)]*\) )?|type ){_NAME}\b",
    "rs": rf"^[ ]*(?:pub(?:\([a-z]+\))? )?(?:async |unsafe |const )*(?:fn|struct|enum|trait) {_NAME}\b",
    "js": rf"^(?:export )?(?:default )?(?:async )?(?:function|class) {_NAME}\b",
    "ts": rf"^(?:export )?(?:default |declare |abstract )*(?:async )?(?:function|class|interface|type|const) {_NAME}\b",
    "java": r"^(?!.*\b(?:new|catch|instanceof)\b)[ ]*(?:public |protected |private |static |final |abstract )*"
    r"(?:class|interface|enum|(?!return|throw|new|else)[\w<>\[\],.? ]+) "
    r"(?P<name>[A-Za-z_]\w{3,})(?:\(|[ <{])[^;=]*\{\s*$",
    "kt": rf"^[ ]*(?:(?:public|internal|private|override|suspend|inline|abstract|open|data|sealed) )*"
    rf"(?:fun|class|interface|object) {_NAME}\b",
    "swift": rf"^[ ]*(?:(?:public|internal|private|open|final|static|override) )*"
    rf"(?:func|class|struct|enum|protocol) {_NAME}\b",
    "rb": rf"^[ ]*(?:def (?:self\.)?|class |module ){_NAME}[?!]?(?![\w:])",
    "php": rf"^[ ]*(?:(?:public|protected|private|static|final|abstract) )*"
    rf"(?:function|class|interface|trait) {_NAME}\b",
    "scala": rf"^[ ]*(?:(?:private|protected|final|implicit|override|sealed|abstract|case) )*"
    rf"(?:def|class|trait|object) {_NAME}\b",
    "cs": rf"^[ ]*(?:(?:public|internal|private|protected|static|sealed|abstract|partial|readonly) )+"
    rf"(?:class|struct|interface|enum) {_NAME}\b",
    "ex": rf"^[ ]*(?:def|defp|defmacro) {_NAME}\b",
    "c": r"^(?!return|else|static inline)(?:[\w*]+[ *]+)+\*?(?P<name>[A-Za-z_]\w{3,})\([^;]*$",
    "lua": r"^(?:local )?function (?:[\w.:]+[.:])?(?P<name>[A-Za-z_]\w{3,})\(",
}
"""A line defining a name, by the ending of the file's name."""
SIGNS = {"go": ".", "rs": "::", "php": "::", "rb": "#"}
"""Between a type and its member; "." elsewhere."""
_HUMPS = re.compile(r"_?(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+)")
_LONG_ENOUGH = 6
_TYPE = re.compile(r"^(?:class|impl(?:<[^>]*>)?(?: [\w<>:]+ for)?) (\w+)")


@dataclass(frozen=True, slots=True)
class Defined:
    """A definition: its file, line and name, and the name of its type, if that is known."""

    path: str
    line: int
    name: str
    owner: str


def definitions(tree: Path) -> Iterator[Defined]:
    """Yield the definitions of a tree's files, without those of tests, examples and other people."""
    for file in sorted(tree.rglob("*")):
        path = file.relative_to(tree).as_posix()
        pattern = PATTERNS.get(file.suffix.lstrip("."))
        if pattern is None or re.search(r"(?i)test|spec|example|vendor|docs?/|node_modules|bench|\.min\.", path):
            continue
        if not file.is_file() or file.is_symlink():
            continue
        owner = ""
        for number, line in enumerate(file.read_text("utf-8", "replace").split("\n"), 1):
            if found := _TYPE.match(line):
                owner = found[1]
            if found := re.match(pattern, line):
                groups = found.groupdict()
                is_member = "type" in groups or line[:1] in {" ", "\t"}
                yield Defined(path, number, groups["name"], groups.get("type") or (owner if is_member else ""))


def main() -> None:
    """Ask, and print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--of", type=int, default=60, help="most names of a repository")
    parser.add_argument("--qualified", action="store_true")
    parser.add_argument("--spelled", choices=sorted(SPELLINGS))
    parser.add_argument("--show", type=int, default=0, help="misses to print")
    options = parser.parse_args()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tree in sorted(filter(Path.is_dir, options.trees.iterdir())):
        found = list(definitions(tree))
        times = Counter(it.name.lower().replace("_", "") for it in found)
        asked = [it for it in found if times[it.name.lower().replace("_", "")] == 1]
        if options.qualified:
            asked = [it for it in asked if it.owner]
        if options.spelled:
            asked = [it for it in asked if len(it.name) >= _LONG_ENOUGH and len(_HUMPS.findall(it.name)) > 1]
        asked = random.Random(7).sample(asked, min(options.of, len(asked)))
        questions = [question(it, options.qualified, options.spelled) for it in asked]
        for it, text, hits in zip(asked, questions, answers(tree, questions), strict=True):
            language, first = it.path.rpartition(".")[2], hits[0] if hits else {}
            holds = _holds(first, it)
            named = holds and first["symbol"].split(".")[-1].rstrip("?!=") == it.name
            told = holds and first.get("line") == it.line
            five = any(_holds(hit, it) for hit in hits[:5])
            counts[language].update(asked=1, first=holds, five=five, named=named, line=told)
            if options.show and not (named and told):
                options.show -= 1
                place = f"{first.get('path')}:{first.get('line')} {first.get('symbol')}"
                print(f"  {tree.name} {it.path}:{it.line} {it.name} {text}: {place}")
    for language, of in sorted(counts.items()):
        print(f"{language:6} {of['asked']:5} {of['first']:5} {of['five']:5} {of['named']:5} {of['line']:5}")
    total = sum(counts.values(), Counter[str]())
    shares = " ".join(
        f"{name} {total[name] / max(1, total['asked']):.3f}" for name in ("first", "five", "named", "line")
    )
    print(f"{total['asked']} names in {len(counts)} languages: {shares}")


def _holds(hit: Mapping[str, Any], it: Defined) -> bool:
    return hit.get("path") == it.path and hit["start_line"] <= it.line <= hit["end_line"]


def question(it: Defined, qualified: bool, spelled: str | None) -> str:
    """Return the name to ask for."""
    sign = SIGNS.get(it.path.rpartition(".")[2], ".")
    name = SPELLINGS[spelled](it.name) if spelled else it.name
    return f"{it.owner}{sign}{name}" if qualified else name


def _beginning(name: str) -> str:
    return name[: len(name) * 2 // 3].rstrip("_")


def _humps(name: str) -> str:
    return "".join(hump[:3] for hump in _HUMPS.findall(name))


def _typo(name: str) -> str:
    drawn = random.Random(name)
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
