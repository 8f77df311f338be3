"""An index carried by a snapshot beside one that is made anew: CPU and wall time, size, and whether both answer alike.

  snapshots.py FOLDER [--changed 3]

FOLDER is copied twice, with times of now. The first copy is indexed and exported. In the second some files are changed;
it is indexed from the snapshot, and anew. CPU is that of this process and its workers, start-up left out.
"""

import argparse
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cqm.index import Index, IndexOptions, Query

QUESTIONS = ("how are sessions closed", "parse an address", "error when it takes too long", "test", "limit connections")


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(it.ru_utime + it.ru_stime for it in used)


@contextmanager
def measured(rows: list[str], what: str, root: Path, home: Path) -> Iterator[Index]:
    """Open an index, and note what the block and the end of its workers took."""
    begun, started = cpu(), time.monotonic()
    with Index.open(root, IndexOptions(home=home)) as index:
        yield index
    rows.append(f"{what:16}{cpu() - begun:8.1f}{time.monotonic() - started:8.1f}")


def answers(index: Index) -> object:
    # The last digits of a score depend on the order of a sum in the store: two fresh indexes may differ there, too.
    found = [index.search(Query(text)).hits for text in QUESTIONS]
    return [(hit.path, hit.start_line, hit.end_line, hit.symbol, round(hit.score, 4)) for hits in found for hit in hits]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--changed", type=int, default=3, help="files changed since the export")
    asked = parser.parse_args()
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for name in ("first", "second"):
            shutil.copytree(asked.folder, place / name, copy_function=shutil.copy, symlinks=True)
        with measured(rows, "index", place / "first", place / "a") as index:
            index.update()
        with measured(rows, "export", place / "first", place / "a") as index:
            exported = index.export(place / "index.cqm")
        texts = sorted(
            path for path in (place / "second").rglob("*") if path.suffix in {".py", ".ts", ".go", ".rs", ".c"}
        )
        for path in texts[: asked.changed]:
            path.write_bytes(path.read_bytes() + b"\nchanged_since = 1\n")
        with measured(rows, "import", place / "second", place / "b") as index:
            summary = index.restore(place / "index.cqm")
        with measured(rows, "index anew", place / "second", place / "c") as index:
            index.update()
        same = []
        for home in ("b", "c"):
            with Index.open(place / "second", IndexOptions(home=place / home)) as index:
                same.append(answers(index))
    print(f"{exported.files:,} files, {exported.chunks:,} chunks, snapshot of {exported.size_bytes / 1e6:.1f} MB")
    print(f"{'':16}{'CPU s':>8}{'wall s':>8}", *rows, sep="\n")
    print(f"embedded at the import: {summary.embedded}; answers {'alike' if same[0] == same[1] else 'DIFFER'}")


if __name__ == "__main__":
    main()
