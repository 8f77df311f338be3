"""Trees to index, and what tells of the process that owns an index of one."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pytest
from filelock import FileLock, Timeout

from cqm.index.disk.locations import index_folder, owner_folder
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.server.owner.client import RemoteIndex

PATIENCE_SECONDS = 240.0
SMALL, LARGE = 3, 2000
"""Files of the trees."""


@dataclass(frozen=True, slots=True)
class Place:
    """A tree and its index.

    Attributes:
        root: of the tree.
        options: of the index, which has no embedder.
    """

    root: Path
    options: IndexOptions

    @property
    def folder(self) -> Path:
        """Of the index."""
        return index_folder(self.root, self.options)

    @property
    def address(self) -> dict[str, Any]:
        """Where the owner listens."""
        return dict(json.loads((self.folder / "owner.address").read_text(encoding="utf-8")))

    @property
    def owner(self) -> int:
        """The number of the owner's process."""
        return int(self.address["pid"])

    @property
    def log(self) -> Path:
        """Of the process that owns all indexes beside this one."""
        return owner_folder(self.options) / "owner.log"

    def open(self, options: IndexOptions | None = None, **settings: Any) -> RemoteIndex:
        """A client of the index's owner."""
        return RemoteIndex.open(self.root, options or self.options, **settings)

    def kill(self) -> None:
        """Kill the owner, and wait until it is dead: then its lock is free, or clients have started the next one."""
        killed = self.owner
        os.kill(killed, signal.SIGKILL)
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            with suppress(Timeout), FileLock(self.folder / "owner.lock", timeout=0.02):
                return
            # It may be about to write its address.
            with suppress(OSError, ValueError):
                if self.owner != killed:
                    return
        raise TimeoutError

    def wait_for_end(self) -> None:
        """Wait until no owner is left."""
        with FileLock(self.folder / "owner.lock", timeout=PATIENCE_SECONDS):
            pass


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    for number in range(SMALL):
        (root / f"module_{number}.py").write_text(
            f'def compute_{number}(value):\n    """Compute."""\n    return {number}\n'
        )
    # An owner removes the sockets that killed ones left, also those of other tests. A socket's path has to be short.
    with TemporaryDirectory(dir="/tmp" if Path("/tmp").is_dir() else None) as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        yield Place(root, IndexOptions(tmp_path / "home", workers=1, embedding=EmbeddingOptions(provider="none")))


@pytest.fixture
def large(place: Place) -> Place:
    """A tree that takes a second or more to index: what is to happen meanwhile has the time."""
    return _with_modules(place, 12)


@pytest.fixture
def many(place: Place) -> Place:
    """As many files, each a sixth of the size: a service that embeds them takes the time."""
    return _with_modules(place, 2)


def _with_modules(place: Place, functions: int) -> Place:
    for number in range(LARGE - SMALL):
        text = "\n\n".join(
            f'def compute_{number}_{part}(value):\n    """Compute part {part}."""\n    return value * {part} + {number}'
            for part in range(functions)
        )
        (place.root / f"large_{number}.py").write_text(text)
    return place


class Background:
    """A call in a thread of its own, whose outcome is asked for later."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self) -> Any:
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        if self._error:
            raise self._error
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._call()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asks
            self._error = error


@pytest.fixture
def background() -> type[Background]:
    return Background
