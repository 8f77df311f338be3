"""Make a set of questions that spans of lines answer, and the trees to ask them of, from packages of registries.

Usage: python tests/bench/question_set.py --work DIR [--language NAME ...] [--cap N]
Then:  cqm eval DIR/questions.jsonl DIR/trees [--only language=go] [--only split=held-out]
       cqm eval DIR/quick.jsonl DIR/trees, with every fifth question

The packages of question_packages.py are fetched into DIR once; the code of all packages of a language is one tree,
DIR/trees/LANGUAGE. Two kinds of questions:

- "doc": the first sentence of a function's doc comment; the function answers it.
- "comment": the first sentence of a comment inside a function; the lines that it describes answer it, up to the next
  blank line, comment or smaller indentation.

All doc comments of functions, and the comments that are asked about, are gone from the trees; a sentence that is found
elsewhere in the tree, or twice, is no question. A question is "apart" when no word of it (by its stem) stands in the
qualified name or the path of its target. "split" is "train" or "held-out", by a hash of the package's name: parameters
are fitted on the first and reported on the second.
"""

import argparse
import hashlib
import json
import re
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from question_packages import SOURCES, Taken, unpacked
from question_units import Comment, Function, Source
from spans_set import first_sentence, is_question, plain, stems

SUFFIXES = {
    "c": (".c", ".h"),
    "cpp": (".cpp", ".cc", ".cxx", ".h", ".hpp", ".hh"),
    "csharp": (".cs",),
    "go": (".go",),
    "java": (".java",),
    "javascript": (".js", ".mjs", ".cjs"),
    "kotlin": (".kt",),
    "php": (".php",),
    "python": (".py",),
    "ruby": (".rb",),
    "rust": (".rs",),
    "swift": (".swift",),
    "typescript": (".ts",),
}
LEAST_LINES = {"doc": 4, "comment": 2}
MOST_LINES = {"doc": 400, "comment": 40}
"""Of a target."""
CAPS = {"doc": 70, "comment": 25}
"""Questions of a kind and package at most."""
MOST_BYTES = 400_000
"""Of a file: larger ones are amalgamations and data."""
_TESTS = re.compile(
    r"(^|/)(tests?|testdata|testing|specs?|__tests__|examples?|benchmarks?|fuzz(ing)?)/|_(test|spec)\.\w+$|\.(test|spec)\."
    r"|(^|/)test_|Tests?\.\w+$",
    re.IGNORECASE,
)
"""Paths that nobody is asked of; they stay in the trees, where they compete."""
_DIRECTIVE = re.compile(
    r"(fixme|xxx|hack|note|eslint|pylint|pragma|noqa|type:|istanbul|prettier|ts-|copyright|licen[cs]e|swiftlint"
    r"|rubocop|phpcs|phpstan|@|nolint|clang-|example|usage|e\.g|i\.e|region|endregion|\$|safety)",
    re.IGNORECASE,
)
_LEAST_CONTENT = 3
"""Words of a comment that say something."""
_SALT = 277
"""Gives each half at least a third of every language's questions; chosen before anything was measured."""
_QUICK = 5
"""Of so many questions one is in the quick set."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the lines that answer it: 1-based, inclusive, of the file in the tree, whose path it has."""

    text: str
    kind: str
    package: str
    language: str
    path: str
    start: int
    end: int
    name: str

    @property
    def hash(self) -> str:
        """A stable order of questions."""
        return hashlib.sha256(f"{self.path} {self.name} {self.text}".encode()).hexdigest()

    def line(self) -> str:
        """A line of the set."""
        is_apart = not stems(self.text) & stems(f"{self.path} {self.name}")
        return json.dumps({
            "id": f"{self.language}-{self.hash[:10]}", "query": self.text, "tree": self.language,
            "language": self.language, "category": self.kind, "split": split_of(self.package), "apart": is_apart,
            "targets": [{"path": self.path, "start": self.start, "end": self.end}], "name": self.name,
        })  # fmt: skip


def split_of(package: str) -> str:
    """The part that all questions of a package belong to."""
    return ("train", "held-out")[hashlib.sha256(f"{_SALT} {package}".encode()).digest()[0] % 2]


def strip(taken: Taken, source: Path, tree: Path) -> Iterator[Asked]:
    """Copy a package's files without what is asked; give the questions."""
    suffixes = SUFFIXES[taken.language]
    for path in sorted(each for each in source.rglob("*") if each.suffix in suffixes and each.is_file()):
        relative = f"{taken.key}/{path.relative_to(source).as_posix()}"
        if path.stat().st_size > MOST_BYTES or ".min." in path.name:
            continue
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")
        lines, asked = stripped(text, taken, relative)
        target = tree / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines), encoding="utf-8")
        if not _TESTS.search(relative):
            yield from asked


def stripped(text: str, taken: Taken, relative: str) -> tuple[list[str], list[Asked]]:
    """The lines of a file without the comments that are asked about, and the questions."""
    source = Source(text, taken.language)
    functions = list(source.functions())
    inner = list(_inner_comments(source, functions))
    gone = {row for one in functions if one.doc for row in range(one.doc.first, one.doc.last + 1)}
    gone |= {row for comment, _, _, _ in inner for row in range(comment.first, comment.last + 1)}
    kept = [row not in gone for row in range(len(source.lines))]
    line_of = list(accumulate(kept))
    found = [("doc", *each) for each in _documented(functions)]
    found += [("comment", sentence, name, rows) for _, sentence, name, rows in inner]
    asked = [
        Asked(sentence, kind, taken.key, taken.language, relative, line_of[rows[0]], line_of[rows[1]], name)
        for kind, sentence, name, rows in found
    ]
    in_size = [each for each in asked if LEAST_LINES[each.kind] <= each.end - each.start + 1 <= MOST_LINES[each.kind]]
    return [line for line, keep in zip(source.lines, kept, strict=True) if keep], in_size


def _documented(functions: Iterable[Function]) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Sentences of doc comments that may be asked, with the name and rows of their functions."""
    for function in functions:
        sentence = _sentence(function.doc, function.name) if function.doc and not function.is_inner else ""
        if sentence and is_question(sentence, function.name):
            yield sentence, function.name, (function.first, function.last)


def _inner_comments(
    source: Source, functions: Sequence[Function]
) -> Iterator[tuple[Comment, str, str, tuple[int, int]]]:
    """Comments inside functions whose sentence may be asked, with the function's name and the rows they describe."""
    docs = {function.doc for function in functions}
    lone = {row for comment in source.comments for row in range(comment.first, comment.last + 1)}
    for comment in source.comments:
        within = [one for one in functions if one.first < comment.first and comment.last < one.last]
        sentence = _sentence(comment, "") if within and comment not in docs else ""
        if sentence and is_question(sentence, within[-1].name) and len(stems(sentence)) >= _LEAST_CONTENT:
            last = described(source.lines, comment.last, lone)
            if last - comment.last >= LEAST_LINES["comment"]:
                yield comment, sentence, within[-1].name, (comment.last + 1, last)


def described(lines: Sequence[str], row: int, lone: set[int]) -> int:
    """The last row that the comment which ends on a row describes.

    Parameters:
        lone: rows on which other comments begin.
    """
    depth = _indentation(lines[row + 1])
    while row + 1 < len(lines) and lines[row + 1].strip() and _indentation(lines[row + 1]) >= depth:
        if row + 1 in lone:
            break
        row += 1
    return row


def _indentation(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _sentence(comment: Comment, name: str) -> str:
    """The first sentence of a comment without the function's own name, which nobody asks by; empty for directives."""
    text = re.sub(r"^[@\\]brief\s+", "", comment.text)
    own = re.escape(name.rpartition(".")[2])
    text = re.sub(rf"^{own}(\(\))?\s*[:-]*\s+", "", text) if name else text
    text = re.sub(r"<see\w* \w+=\"(?:\w:)?([^\"]*)\"\s*/>|\[`?([\w:.]+)`?\]", r"\1\2", text)
    text = re.sub(r"[\\@][cpae] (\w+)", r"\1", text)
    return "" if _DIRECTIVE.match(text) else first_sentence(text)


def chosen(asked: Sequence[Asked], tree: Path, cap: float) -> list[Asked]:
    """The questions that have one answer, at most so many of a package and kind: those whose hashes are the least."""
    texts = Counter(plain(each.text) for each in asked)
    left = "\n".join(plain(path.read_text("utf-8")) for path in sorted(tree.rglob("*")) if path.is_file())
    kept: dict[tuple[str, str], list[Asked]] = defaultdict(list)
    for each in sorted(asked, key=lambda each: each.hash):
        some, sentence = kept[each.package, each.kind], plain(each.text)
        if len(some) < cap * CAPS[each.kind] and texts[sentence] == 1 and sentence not in left:
            some.append(each)
    return sorted((each for some in kept.values() for each in some), key=lambda each: (each.path, each.start))


def set_of(language: str, work: Path, cap: float) -> list[Asked]:
    """The questions of a language, whose tree is made anew."""
    tree = work / "trees" / language
    shutil.rmtree(tree, ignore_errors=True)
    taken = [one for one in SOURCES if one.language == language]
    asked = [each for one in taken for each in strip(one, unpacked(one, work / "packages"), tree)]
    return chosen(asked, tree, cap)


def main() -> None:
    """Make the set and tell what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--language", nargs="+", choices=sorted(SUFFIXES), default=sorted(SUFFIXES))
    parser.add_argument("--cap", type=float, default=1.0, help="times as many questions of a package at most")
    given = parser.parse_args()
    everything: list[Asked] = []
    print(f"{'language':12} packages   doc comment apart train held-out")
    for language in given.language:
        asked = set_of(language, given.work.resolve(), given.cap)
        everything += asked
        _tell(language, asked)
    _tell("all", everything)
    quick = [each for each in everything if int(each.hash, 16) % _QUICK == 0]
    for name, some in (("questions.jsonl", everything), ("quick.jsonl", quick)):
        (given.work / name).write_text("".join(f"{each.line()}\n" for each in some), encoding="utf-8")


def _tell(name: str, asked: Sequence[Asked]) -> None:
    kinds = Counter(each.kind for each in asked)
    splits = Counter(split_of(each.package) for each in asked)
    apart = sum(json.loads(each.line())["apart"] for each in asked)
    packages = len({each.package for each in asked})
    counts = f"{kinds['doc']:5} {kinds['comment']:7} {apart:5} {splits['train']:5} {splits['held-out']:8}"
    print(f"{name:12} {packages:8} {counts}", flush=True)


if __name__ == "__main__":
    main()
