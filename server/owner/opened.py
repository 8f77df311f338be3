"""An index that an owner has open, with the runs that its clients share."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock
from typing import Any

from cqm.index.engine import Index
from cqm.server.owner.shared_runs import Line, Report, Wish


class Opened:
    """An open index and the runs that its clients share.

    Parameters:
        index: open.
        counted: counts a run of a method as long as what it gives lasts.
    """

    def __init__(self, index: Index, counted: Callable[[str], AbstractContextManager[None]]) -> None:
        self.index = index
        self._counted = counted
        self.is_ending = False
        self._lines: dict[object, Line[Any]] = {}
        self._lock = Lock()

    def line(self, method: str, arguments: Mapping[str, Any]) -> Line[Any]:
        """The runs that a call shares: those of the same method with the same arguments, whatever the paths are.

        A comparison of the whole tree may take long: a change of some paths is not held up by those that wait for it.

        Parameters:
            method: of the index.
            arguments: by name.
        """
        others = tuple(sorted((name, value) for name, value in arguments.items() if name != "paths"))
        takes_paths, is_whole = "paths" in arguments, arguments.get("paths") is None

        def work(wish: Wish, report: Report, cancelled: Callable[[], bool]) -> object:
            given = dict(others) | ({"paths": wish} if takes_paths else {})
            return getattr(self.index, method)(**given, report=report, cancelled=lambda: self.is_ending or cancelled())

        with self._lock:
            return self._lines.setdefault(
                (method, is_whole, others), Line(work, method, partial(self._counted, method))
            )

    def close(self) -> None:
        """Stop what runs at the next file, and close the index."""
        self.is_ending = True
        self.index.close()
