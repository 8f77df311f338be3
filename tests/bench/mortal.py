"""An index that is worked on by a process which kills itself at a chosen step: a kill -9 that can be had again.

`python tests/bench/mortal.py ROOT HOME OPERATION APART STEP`: opens the index, does the operation, closes it, and
prints how many steps that took, unless it died at step STEP. A step is a call or a return of a function of `cqm.index`,
or of a function of C that one calls, in any thread: between two of them lies at most one call of the system.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.generations import growing
from cqm.index.model.options import IndexOptions


def _compacted(index: Index) -> None:
    if not index.update().cancelled:
        index.compact()


def _frozen(index: Index) -> None:
    if not index.update().cancelled:
        index._freeze(lambda: False)


def _grown(index: Index) -> None:
    # Layers of trees as small as these would never be full.
    growing.FULL_FROM = growing.WORTH_FROM = 4
    index.update(anew=True)


OPERATIONS: dict[str, Callable[[Index], object]] = {
    "update": lambda index: index.update(),
    "anew": lambda index: index.update(anew=True),
    "compact": _compacted,
    "freeze": _frozen,
    "grow": _grown,
    "improve": lambda index: index.improve(),
}


def options_of(home: Path, *, apart: bool) -> IndexOptions:
    """Options of an index in one process; where members of types are apart, another generation is wanted."""
    return IndexOptions(home=home, workers=1, chunk=ChunkOptions(max_tokens=64, min_tokens=0, apart=apart))


def die_at(step: int) -> "count[int]":
    """Kill this process at a step from now on; 0 for never. Gives what counts them."""
    steps = count(1)

    def look(frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_globals.get("__name__", "").startswith("cqm.index") and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(look)
    sys.setprofile(look)
    return steps


def main() -> None:
    root, home, operation, apart, step = sys.argv[1:]
    steps = die_at(int(step))
    with Index.open(Path(root), options_of(Path(home), apart=apart == "apart")) as index:
        OPERATIONS[operation](index)
    sys.setprofile(None)
    print(next(steps) - 1)


if __name__ == "__main__":
    main()
