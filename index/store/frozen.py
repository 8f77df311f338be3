"""The base of a frozen index: read-only shards in the generation's folder, and the note naming them.

Each shard is a part of the points. It is mapped from disk, or is a former, full layer not yet written in that form.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import REBUILD, DamagedIndexError
from cqm.index.store.base import WORDS, Indices, Nearest, Point
from cqm.index.store.edge import EdgeStore

FIRST_LAYER, WORK_FOLDER = "shard", "growing"
_FOLDER = re.compile(r"(base|shard)(-\d{1,9})?")
_OURS = re.compile(r"((base|shard)(-\d+)?|growing|frequencies-\d+\.jsonl)")
"""Names of files written by this module and `growing` beside a note; a killed process left those no note names."""

NO_SHARDS: Mapping[str, EdgeStore] = MappingProxyType({})
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class FrozenPart:
    """A shard of a base.

    Attributes:
        folder: its name.
        spaces: names of its possible vectors.
        points: of chunks and files.
    """

    folder: str
    spaces: tuple[str, ...]
    points: int

    @property
    def is_mapped(self) -> bool:
        """Whether it is in the form mapped from disk; a former layer still has a layer's name."""
        return not self.folder.startswith(FIRST_LAYER)


@dataclass(frozen=True, slots=True)
class FrozenNote:
    """The base under a generation's layer where both are in its folder.

    Attributes:
        parts: with the points of the base.
        layer: name of the folder of the layer.
        frequencies: name of the file with the frequencies of the base's words.
    """

    parts: tuple[FrozenPart, ...]
    layer: str
    frequencies: str

    in_folder = True

    def __str__(self) -> str:
        """Name the base."""
        return "the part of the index that is only read"

    @property
    def points(self) -> int:
        """Number of all points."""
        return sum(part.points for part in self.parts)

    @property
    def spaces(self) -> tuple[str, ...]:
        """Names of all possible vectors."""
        return tuple({name: None for part in self.parts for name in part.spaces})

    def missing(self, count: int) -> int:
        """Return the number of points missing from a base that has `count` now."""
        return max(0, self.points - count)

    def gone(self, missing: int = 0) -> CqmError:
        """Return the error of a damaged base."""
        told = f"{missing:,} points of {self} are gone." if missing else f"{self} is damaged.".capitalize()
        return DamagedIndexError(told, remedy=REBUILD)

    @property
    def number(self) -> int:
        """A number in no name of its folders."""
        names = (*(part.folder for part in self.parts), self.layer)
        return 1 + max(int(name.rpartition("-")[2]) if "-" in name else 0 for name in names)


def parse_frozen(found: Any) -> FrozenNote:  # noqa: ANN401 - any JSON
    """Return a note from its JSON.

    Raises:
        ValueError, KeyError, TypeError: it is none.
    """
    parts = (FrozenPart(str(it["folder"]), tuple(map(str, it["spaces"])), int(it["points"])) for it in found["parts"])
    note = FrozenNote(tuple(parts), str(found["layer"]), str(found["frequencies"]))
    # A folder may be a stranger's: nothing outside it is opened.
    if not all(_FOLDER.fullmatch(name) for name in (*(part.folder for part in note.parts), note.layer)):
        raise ValueError
    if Path(note.frequencies).name != note.frequencies:
        raise ValueError
    return note


def remove_leftovers(place: Path, note: FrozenNote | None) -> None:
    """Delete a killed process's leftovers in the folder of a generation: our files missing in its note."""
    kept = {part.folder for part in note.parts} | {note.layer, note.frequencies} if note else {FIRST_LAYER}
    with suppress(OSError):
        for path in place.iterdir():
            if path.name in kept or not _OURS.fullmatch(path.name):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


class Parts:
    """The shards of a base as one. No point is in two of them.

    Parameters:
        named: the shards, with the names of their possible vectors, by folder.
    """

    def __init__(self, named: Mapping[str, tuple[EdgeStore, Iterable[str]]]) -> None:
        self.by_folder = {folder: shard for folder, (shard, _) in named.items()}
        self._named = [(shard, {*WORDS, *spaces}) for shard, spaces in named.values()]

    def load(self) -> None:
        """See `Store.load`."""
        for shard in self.by_folder.values():
            shard.load()

    def count(self, what: str = "read") -> int:
        """See `EdgeStore.count`."""
        return sum(shard.count(what) for shard in self.by_folder.values())

    def ids_of_path(self, path: str) -> set[str]:
        """See `Store.ids_of_path`."""
        return {name for shard in self.by_folder.values() for name in shard.ids_of_path(path)}

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """See `Store.search`."""
        found: list[dict[str, float]] = [{} for _ in searches]
        for shard, known in self._named:
            asked = [place for place, search in enumerate(searches) if search.using in known]
            for place, scores in zip(asked, shard.search([searches[place] for place in asked]), strict=True):
                found[place] = best(found[place], scores, searches[place].limit)
        return found

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """See `Store.payloads`."""
        return self._gathered(ids, lambda shard, some: shard.payloads(some, fields))

    def points(self, ids: Sequence[str]) -> list[Point]:
        """See `Store.points`."""
        return [*self._gathered(ids, lambda shard, some: {it.id: it for it in shard.points(some)}).values()]

    def indices(self, ids: Sequence[str]) -> dict[str, Indices]:
        """See `EdgeStore.indices`."""
        return self._gathered(ids, EdgeStore.indices)

    def _gathered(
        self, ids: Sequence[str], ask: Callable[[EdgeStore, Sequence[str]], Mapping[str, Found]]
    ) -> dict[str, Found]:
        """Ask one shard after the other for the ids not found before."""
        found: dict[str, Found] = {}
        rest = ids
        for shard in self.by_folder.values():
            if not rest:
                break
            found |= ask(shard, rest)
            rest = [name for name in rest if name not in found]
        return found

    def count_vectors(self, space: str, but: Sequence[str] = ()) -> int:
        """See `EdgeStore.count_vectors`."""
        return sum(shard.count_vectors(space, but) for shard, known in self._named if space in known)

    def rest(self, seconds: float) -> bool:
        """See `Store.rest`."""
        return sum(shard.rest(seconds) for shard in self.by_folder.values()) > 0

    def close(self) -> None:
        """See `Store.close`."""
        with ExitStack() as closing:
            for shard in self.by_folder.values():
                closing.callback(shard.close)


def parts_of(place: Path, note: FrozenNote, known: Mapping[str, EdgeStore] = NO_SHARDS) -> Parts:
    """Return the base of a note.

    Parameters:
        place: the folder with its parts.
        note: names them.
        known: open shards, by their folders.
    """

    def shard(folder: str) -> EdgeStore:
        return known.get(folder) or EdgeStore(place / folder, is_settled=True, weighs=False)

    return Parts({part.folder: (shard(part.folder), part.spaces) for part in note.parts})


def best(some: Mapping[str, float], others: Mapping[str, float], limit: int) -> dict[str, float]:
    """Return the best of two results; of a point in both, the score in the second."""
    if not some and len(others) <= limit:
        return dict(others)
    found = {**some, **others}
    return {name: found[name] for name in sorted(found, key=found.__getitem__, reverse=True)[:limit]}
