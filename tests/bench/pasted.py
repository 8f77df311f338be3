"""Say what each number of `index/search/literals.py` is worth, by pasted code and messages over Python's own library.

Code is four to seven rows of one file with one name renamed; a message is a text of the library with values in the
place of its holes. The same from the packages of the running environment asks for what the tree does not have. Without
a model: words alone decide. Run with the seed as argument, in the environment of the tests: `tests/bench/pasted.py 1`.
"""

import ast
import random
import re
import shutil
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cqm.index import Index, IndexOptions, Query
from cqm.index.model.options import CacheOptions, EmbeddingOptions
from cqm.index.model.query import Confidence
from cqm.index.search import literals

EACH = 40
NUMBERS = (
    *("_COPIED_DEPTH", "_PASTED_DEPTH", "_POSTINGS", "_MOST_WORDS", "_MOST_READ", "_LEAST_RUN", "_LEAST_CHARACTERS"),
    *("_LEAST_SHARE", "_MOST_IN_RUNS"),
)
FACTORS = (0.5, 2)
LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "__pycache__", "turtledemo"}
NAME = re.compile(r"\b[a-z_]{4,}\b")
HOLE = re.compile(r"%[sdr]|\{[^{}]*\}")


class Asked(NamedTuple):
    """A question, and the place that answers it; no path where nothing in the tree does."""

    kind: str
    text: str
    path: str
    lines: range


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the programs below a folder, in order."""
    for path in sorted(folder.rglob("*.py")):
        if not LEFT_OUT & {*path.relative_to(folder).parts}:
            yield path


def code_in(text: str, drawn: random.Random) -> tuple[str, range] | None:
    """Return some rows of a file with one name renamed, and their numbers."""
    rows = text.split("\n")
    first, count = drawn.randrange(max(1, len(rows) - 8)), drawn.randint(4, 7)
    part = rows[first : first + count]
    names = [*NAME.findall("\n".join(part))]
    if not names or sum(len(row.split()) > 1 for row in part) < count - 1:
        return None
    return re.sub(rf"\b{drawn.choice(names)}\b", "renamed_here", "\n".join(part)), range(first + 1, first + 1 + count)


def messages_in(text: str, drawn: random.Random) -> Iterator[tuple[str, range]]:
    """Yield the messages with holes in a file, filled with values, and their lines."""
    for node in ast.walk(ast.parse(text)):
        for raised in node.args if isinstance(node, ast.Call) else ():
            said = raised.left if isinstance(raised, ast.BinOp) else raised
            if isinstance(said, ast.JoinedStr):
                parts = [it.value if isinstance(it, ast.Constant) else "%s" for it in said.values]
                written = "".join(map(str, parts))
            else:
                written = str(said.value) if isinstance(said, ast.Constant) else ""
            if len(HOLE.sub(" ", written).split()) > 4 and HOLE.search(written) and "\n" not in written:
                yield HOLE.sub(lambda _: f"'value_{drawn.randrange(99)}'", written), range(said.lineno, said.lineno + 1)


def questions(folder: Path, drawn: random.Random, *, is_there: bool) -> list[Asked]:
    """Draw questions of both kinds from a folder."""
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8", "ignore") for path in files_of(folder)}
    messages = [
        Asked("message", said, path if is_there else "", lines)
        for path, text in texts.items()
        for said, lines in messages_in(text, drawn)
    ]
    counts = Counter(it.text for it in messages)
    found = drawn.sample(alone := [it for it in messages if counts[it.text] == 1], min(EACH, len(alone)))
    while len(found) < 2 * EACH:
        path = drawn.choice([*texts])
        if part := code_in(texts[path], drawn):
            found.append(Asked("code", part[0], path if is_there else "", part[1]))
    return found


def right(index: Index, asked: Sequence[Asked]) -> Mapping[str, int]:
    """Count the questions answered first, and the foreign ones answered as if for sure."""
    counts: Counter[str] = Counter()
    for it in asked:
        answer = index.search(Query(it.text, limit=1))
        hit = next(iter(answer.hits), None)
        if not it.path:
            counts[f"foreign {it.kind}"] += answer.confidence is Confidence.HIGH
        elif hit and hit.path == it.path:
            counts[it.kind] += not it.lines or (hit.start_line <= it.lines[-1] and hit.end_line >= it.lines[0])
    return counts


def main(seed: int) -> None:
    """Print the counts for each number as it is, and for half and twice as much."""
    stdlib, packages = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        for path in files_of(stdlib):
            (tree / path.relative_to(stdlib)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, tree / path.relative_to(stdlib))
        asked = [*questions(tree, drawn, is_there=True), *questions(packages / "pip", drawn, is_there=False)]
        options = IndexOptions(
            home=Path(folder) / "home", embedding=EmbeddingOptions(provider="none"), cache=CacheOptions(enabled=False)
        )
        with Index.open(tree, options) as index:
            print(index.update().chunks_written, "chunks;", Counter(f"{it.kind} {bool(it.path)}" for it in asked))
            print("as it is", dict(right(index, asked)), flush=True)
            for name in NUMBERS:
                usual = getattr(literals, name)
                for factor in FACTORS:
                    changed = min(1.0, usual * factor) if isinstance(usual, float) else max(1, int(usual * factor))
                    setattr(literals, name, changed)
                    print(f"{name} {changed:g}", dict(right(index, asked)), flush=True)
                setattr(literals, name, usual)


if __name__ == "__main__":
    main(int(sys.argv[1]))
