"""Measure the sizes of chunks of pages, notebooks and other files by what people read of them.

Usage: python tests/bench/sizes.py FOLDER... [--suffix .html] [--suffix .ipynb] [--every 10]

Prints a line a folder: files, chunks, the median of readable tokens, the shares of chunks under 32 readable tokens and
of unnamed chunks, the number over 1.5 times the limit, and the CPU seconds. Files of one chunk are counted apart: a
file has at least one, however little it says.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from cqm.chunkers.chunking import chunk
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.text_of_file import read_text
from cqm.chunkers.tokens import estimate

TINY = 32
SUFFIXES = (".html", ".htm", ".ipynb", ".xml")


def chunks_of_tree(folder: Path, suffixes: tuple[str, ...], every: int) -> Iterator[tuple[Chunk, ...]]:
    """Yield the chunks of each readable file, of every n-th by name."""
    paths = sorted(path for path in folder.rglob("*") if path.name.lower().endswith(suffixes) and path.is_file())
    for path in paths[::every]:
        try:
            text = read_text(path.name, path.read_bytes()).text
        except UndecodableError:
            continue
        yield chunk(Document(str(path.relative_to(folder)), text)).chunks


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--suffix", action="append", help="repeat for several")
    parser.add_argument("--every", type=int, default=1, help="take every n-th file only")
    asked = parser.parse_args()
    limit = ChunkOptions().max_tokens * 1.5
    print(f"{'tree':24}{'files':>7}{'single':>7}{'chunks':>8}{'median':>7}{'<32':>7}{'<32, not single':>16}", end="")
    print(f"{'unnamed':>9}{'over':>6}{'CPU s':>8}")
    for folder in asked.folders:
        began = time.process_time()
        files = list(chunks_of_tree(folder, tuple(asked.suffix or SUFFIXES), asked.every))
        spent = time.process_time() - began
        sizes = [estimate(it.content or it.text) for chunks in files for it in chunks] or [0]
        several = [estimate(it.content or it.text) for chunks in files if len(chunks) > 1 for it in chunks] or [0]
        unnamed = sum(not it.symbol for chunks in files for it in chunks)
        tiny, tiny_of_several = (sum(size < TINY for size in found) for found in (sizes, several))
        print(f"{folder.name[-23:]:24}{len(files):7}{sum(len(it) == 1 for it in files):7}{len(sizes):8}", end="")
        print(f"{median(sizes):7.0f}{tiny / len(sizes):7.1%}{tiny_of_several / len(several):16.1%}", end="")
        print(f"{unnamed / len(sizes):9.1%}{sum(size > limit for size in sizes):6}{spent:8.1f}")


if __name__ == "__main__":
    main()
