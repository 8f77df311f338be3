"""Make the pairs of questions and texts for training the static vectors, from packages of registries.

Usage: python training/pairs.py --work DIR --out pairs.jsonl.gz [--without questions.jsonl TREES] [--language NAME ...]

The packages of packages.tsv are fetched into DIR once, by their registries' clients; those of "debian" are of Debian's
release 12 for amd64, and those of "debian-source" want "deb-src" of releases 12 and 13 among apt's sources. None is
asked about by tests/bench, nor of a project of the public benchmark (exclude.txt).

Each line has a "question", the answering "text", with its "path" in the package and its "symbol" (both for the header
of an embedded text), and its kind:

- "doc", "docfull": the first sentence, or up to three, of a function's or type's doc comment; its source without any.
- "comment": a comment inside a function; the lines described by it, up to the next blank line or comment.
- "name", "test": the words of a function's name; its source, in which "_" stands for the name.
- "section": a heading; the text below it. "lead": the first sentence of a section; what follows it.
- "example": the first sentence of a section; the code in it.
- "file": the comment at a file's beginning; the rows of the file's declarations.
"""

import argparse
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "bench"))

from code_pairs import code_pairs
from prose_pairs import FORMATS, prose_pairs
from question_packages import Taken, fetched, read
from sentences import Pair
from sources import texts
from spans_set import plain

CAPS = {
    "doc": 280, "docfull": 140, "comment": 220, "name": 80, "test": 30, "section": 90, "lead": 70, "example": 50,
    "file": 50,
}  # fmt: skip
"""Pairs of a kind and package at most."""
SHARES = {"elixir": 4, "lua": 2, "bash": 2}
"""Factor for languages with few packages."""
PACKAGES = Path(__file__).with_name("packages.tsv")
_DOWNLOADS = 8
"""At a time."""
_MOST_CHARACTERS = 1_600_000
"""Most characters to read of a package: later files say little new."""


def package_pairs(files: Iterable[tuple[str, str]], language: str, package: str) -> Iterator[Pair]:
    """The pairs of a package, at most so many of a kind.

    Parameters:
        files: paths and texts.
    """
    share = SHARES.get(language, 1)
    left = Counter({kind: cap * share for kind, cap in CAPS.items()})
    budget = _MOST_CHARACTERS * share
    for path, text in files:
        is_prose = path.lower().endswith(tuple(FORMATS))
        if budget < 0 or not (left["section"] if is_prose else left["doc"] + left["comment"] // 2):
            continue
        budget -= len(text)
        for pair in prose_pairs(text, package, path) if is_prose else code_pairs(text, language, package, path):
            if left[pair.kind] > 0:
                left[pair.kind] -= 1
                yield pair


def distinct(pairs: Iterable[Pair], known: Iterable[str] = ()) -> Iterator[Pair]:
    """Yield the pairs without those with a repeated or known question or text.

    Parameters:
        known: questions and texts of sets with reported figures.
    """
    questions = {plain(text) for text in known}
    bodies = set(questions)
    for pair in pairs:
        asked, body = plain(pair.question), plain(pair.text)
        key = f"{pair.kind} {body}"
        if asked not in questions and body not in bodies and key not in bodies and asked not in body:
            questions.add(asked)
            bodies.add(key)
            yield pair


def all_pairs(table: Iterable[Taken], place: Path) -> Iterator[Pair]:
    """Yield the pairs of all packages, those of one archive together, in an order mixing languages."""
    by_archive: dict[str, list[Taken]] = defaultdict(list)
    for taken in table:
        by_archive[taken.sha256].append(taken)
    mixed = [some for _, some in sorted(by_archive.items())]
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        archives = pool.map(lambda some: fetched(some[0], place / some[0].registry), mixed)
        for some, archive in zip(mixed, archives, strict=True):
            files = texts(archive, [(taken.language, taken.folder) for taken in some])
            for taken, each in zip(some, files, strict=True):
                yield from package_pairs(each, taken.language, "/".join(filter(None, (taken.key, taken.folder))))


def known_texts(questions: Path, trees: Path) -> Iterator[str]:
    """Yield the questions of a set with reported figures, and their answering lines.

    Parameters:
        questions: as `cqm eval` reads them.
        trees: the folder of their paths, with a subfolder for each question's tree.
    """
    for line in questions.read_text("utf-8").splitlines():
        asked = json.loads(line)
        yield asked["query"]
        for target in asked["targets"]:
            path = trees / asked["tree"] / target["path"]
            if "start" in target and path.is_file():
                lines = path.read_text("utf-8", "replace").split("\n")
                yield "\n".join(lines[target["start"] - 1 : target["end"]])


def main() -> None:
    """Make the pairs and print their counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", type=Path, nargs=2, action="append", default=[], metavar=("QUESTIONS", "TREES"))
    parser.add_argument("--language", nargs="+")
    given = parser.parse_args()
    table = [taken for taken in read(PACKAGES) if not given.language or taken.language in given.language]
    known = [text for questions, trees in given.without for text in known_texts(questions, trees)]
    counts: Counter[str] = Counter()
    unfinished = given.out.with_name(f"{given.out.name}.unfinished")
    with gzip.open(unfinished, "wt", encoding="utf-8", compresslevel=6) as file:
        for pair in distinct(all_pairs(table, given.work), known):
            file.write(f"{json.dumps(asdict(pair))}\n")
            counts.update((pair.kind, pair.language, "all"))
    unfinished.replace(given.out)
    sys.stdout.writelines(f"{name:12} {count:8}\n" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    main()
