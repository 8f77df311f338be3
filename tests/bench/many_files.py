"""Index a tree of many small files and tell time and memory.

Usage: python tests/bench/many_files.py [--files N] [--folder FOLDER] [--vectors]

The tree is written below FOLDER (a temporary one without it; it wants 4 kB a file on most disks) and indexed by a
process of its own with one worker, then updated unchanged, and after one edit. Runs on Linux, for the peak of memory.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_INDEXING = """
import json, resource, sys, time
from pathlib import Path
from cqm.index.engine import Index
from cqm.index.model.query import Query
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions

tree, home, provider = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
model = EmbeddingOptions(provider)
options = IndexOptions(home=home, embedding=model, cache=CacheOptions(enabled=False), workers=1)

def tell(what, action):
    began = time.monotonic()
    result = action()
    seconds = time.monotonic() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps([what, seconds, megabytes]), flush=True)
    return result

edited = next(tree.rglob("*.py"))
name = edited.relative_to(tree).as_posix()
with Index.open(tree, options) as index:
    added = tell("first update", index.update).added
    tell("search", lambda: index.search(Query("number 77")))
    tell("update of an unchanged tree", index.update)
    edited.write_text("EDITED = True\\n")
    assert tell("update of one named file", lambda: index.update([name])).modified == 1
    edited.write_text("EDITED = False\\n")
    assert tell("update after one edit", index.update).modified == 1
    tell("status", index.status)
index = tell("second opening", lambda: Index.open(tree, options))
tell("closing", index.close)
assert added == int(sys.argv[4]), added
"""


def write(tree: Path, files: int) -> None:
    """Write so many files, a hundred to a folder."""
    for number in range(files):
        if number % 100 == 0:
            folder = tree / f"{number // 10_000}" / f"{number // 100 % 100}"
            folder.mkdir(parents=True)
        text = f'def number_{number}(value):\n    """Adds {number}."""\n    return value + {number}\n'
        (folder / f"file_{number}.py").write_text(text)


def main() -> None:
    """Write the tree, index it, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--vectors", action="store_true", help="embed as well, with the embedded model")
    asked = parser.parse_args()
    with TemporaryDirectory(dir=asked.folder) as folder:
        tree, home = Path(folder, "tree"), Path(folder, "home")
        write(tree, asked.files)
        provider = "embedded" if asked.vectors else "none"
        command = [sys.executable, "-c", _INDEXING, str(tree), str(home), provider, str(asked.files)]
        print(f"{asked.files:,} files{'':18}{'seconds':>10}{'peak MB':>10}", flush=True)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as indexing:
            assert indexing.stdout is not None
            for line in indexing.stdout:
                what, seconds, megabytes = json.loads(line)
                print(f"{what:32}{seconds:10.2f}{megabytes:10.0f}", flush=True)
        print(f"index on disk {sum(path.lstat().st_blocks for path in home.rglob('*')) * 512 / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
