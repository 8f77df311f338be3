"""Measure the estimate of tokens against the exact tokenizers of OpenAI's encodings, on real files by language.

Usage: python tests/bench/tokens.py PATH [PATH ...]

A ratio of 1.10 means that the estimate says a tenth more tokens than the text has. Prose is told apart by its natural
language, and text that is neither ASCII alone nor prose counts as "mixed".
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, quantiles

from cqm.chunkers.decode import HEAD_BYTES, decode, is_binary
from cqm.chunkers.detect import is_generated, is_minified, language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.natural_language import natural_language
from cqm.chunkers.source_types import PROSE_TYPES, source_type_of
from cqm.chunkers.tokens import estimate, openai_tokenizer

ENCODINGS = ("o200k_base", "cl100k_base")
MOST_CHARACTERS = 20_000
LEAST_CHARACTERS = 400
MOST_FILES = 80
"""Of one group: the first in the order of their paths."""

Group = tuple[str, str]


def texts(paths: list[Path]) -> Iterator[tuple[Group, str]]:
    """The beginnings of all files below the paths, each with its content type and natural language."""
    for root in paths:
        for path in sorted([root] if root.is_file() else root.rglob("*")):
            if path.is_file() and ".git" not in path.parts and (text := text_of(path)):
                yield group_of(path, text), text


def text_of(path: Path) -> str:
    """The beginning of a file that people wrote, empty for any other."""
    data = path.read_bytes()
    if is_binary(data[:HEAD_BYTES]):
        return ""
    try:
        text = decode(data).text
    except UndecodableError:
        return ""
    is_of_a_tool = is_generated(path.name, text) or is_minified(path.name, text)
    return "" if len(text) < LEAST_CHARACTERS or is_of_a_tool else text[:MOST_CHARACTERS]


def group_of(path: Path, text: str) -> Group:
    """The content type and natural language of a file."""
    language = language_of(path.as_posix(), text)
    if source_type_of(language) in PROSE_TYPES:
        return language, natural_language(text) or "?"
    return language, "" if text.isascii() else "not ASCII alone"


def row(name: str, ratios: list[list[float]]) -> str:
    """A line of the table: mean, 5th and 95th percentile of the ratios, by encoding."""
    cells = [f"{name:34}{len(ratios):>6}"]
    for column in zip(*ratios, strict=True):
        cuts = quantiles(column, n=20) if len(column) > 1 else [column[0]] * 19
        cells.append(f"{mean(column):>8.2f}{cuts[0]:>7.2f}{cuts[-1]:>7.2f}")
    return "  ".join(cells)


def main() -> None:
    """Print a line for each group of at least three files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    tokenizers = [openai_tokenizer(name) for name in ENCODINGS]
    ratios: dict[Group, list[list[float]]] = defaultdict(list)
    for group, text in texts(parser.parse_args().paths):
        if len(ratios[group]) < MOST_FILES:
            ratios[group].append([estimate(text) / tokenizer.count(text) for tokenizer in tokenizers])
    columns = [f"{name:>8}{'p5':>7}{'p95':>7}" for name in ("o200k", "cl100k")]
    print("  ".join([f"{'content':34}{'files':>6}", *columns]))
    for group, found in sorted(ratios.items()):
        if len(found) > 2:
            print(row(" ".join(group), found))


if __name__ == "__main__":
    main()
