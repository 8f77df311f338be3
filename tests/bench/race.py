"""Read a tree while somebody exchanges its folders for links, and count what came from outside.

    python tests/bench/race.py --tries 100000

A process exchanges `tree/folder` for `tree/link`, a link to a folder outside, as fast as it can (renameat2 with
RENAME_EXCHANGE), and the file `tree/file.py` for a link likewise. Meanwhile the tree is listed and its files are read,
as indexing and previewing do. A leak is a text of the outside folder, or a name that only it has. Linux only.
"""

import argparse
import ctypes
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cqm.index.files.listing import folders
from cqm.index.files.scan import read_file, scan
from cqm.index.model.errors import UnreadableFileError, VanishedFileError
from cqm.index.model.options import ScanOptions

SECRET = "outside"
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_LIST_EVERY = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that the tries came to.

    Attributes:
        tries: readings.
        read: those that gave the text of the tree.
        leaks: what was read or listed that is not of the tree.
        turned: readings that met a link, so that there was a race at all.
    """

    tries: int
    read: int
    leaks: tuple[str, ...]
    turned: int


def race(place: Path, tries: int) -> Outcome:
    """Read from a tree in an empty folder that many times, against a process that exchanges folders for links.

    Parameters:
        place: an empty folder; its real path.
        tries: readings of a file; the tree is listed a tenth as often.
    """
    root = _make(place)
    options = ScanOptions()
    counts: Counter[str] = Counter()
    leaks = []
    with _exchanging(root):
        for number in range(tries):
            path = ("folder/deep/file.py", "file.py", "folder/only-outside.py")[number % 3]
            try:
                read = read_file(root, path, options)
            except (VanishedFileError, UnreadableFileError):
                continue
            counts["turned" if read.skip else "read"] += 1
            if SECRET in read.text:
                leaks.append(f"read {path}")
            if number % _LIST_EVERY == 0:
                listed = [found.path for found in scan(root, options)]
                listed += [found.path for found in scan(root, options, ["folder/deep", "folder/only-outside.py"])]
                listed += [str(folder) for folder in folders(root, options, root)]
                leaks += [f"listed {path}" for path in listed if "only-outside" in path]
    return Outcome(tries, counts["read"], tuple(leaks), counts["turned"])


def _make(place: Path) -> Path:
    root, outside = place / "tree", place / "outside"
    for folder, text in ((root / "folder", "inside"), (outside, SECRET)):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "file.py").write_text(f"text = {text!r}\n")
    (outside / "only-outside.py").write_text(f"text = {SECRET!r}\n")
    (outside / "only-outside").mkdir()
    (root / "file.py").write_text("text = 'inside'\n")
    (root / "link").symlink_to(outside)
    (root / "other.py").symlink_to(outside / "deep" / "file.py")
    return root


@contextmanager
def _exchanging(root: Path) -> Iterator[None]:
    """Exchange the folder and the file for links in a process of its own, for as long as a block runs."""
    process = os.fork()
    if not process:
        _exchange_for_ever(root)
    try:
        yield
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)


def _exchange_for_ever(root: Path) -> None:
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    pairs = [
        (os.fsencode(root / one), os.fsencode(root / other))
        for one, other in (("folder", "link"), ("file.py", "other.py"))
    ]
    while os.getppid() != 1:
        for one, other in pairs:
            exchange(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE)


def main() -> int:
    """Run the race and print what it came to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        outcome = race(Path(place).resolve(), asked.tries)
    sys.stdout.write(
        f"{outcome.tries:,} tries: {outcome.read:,} read the tree, {outcome.turned:,} met a link, "
        f"{len(outcome.leaks):,} leaks\n"
    )
    return 1 if outcome.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
