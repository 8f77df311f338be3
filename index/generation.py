"""One generation of an index: a manifest and a store that were built with the same chunker, terms and model.

Whatever changes what is stored makes another generation beside the first, in a folder of another name. The file
`current` names the one that serves; it is replaced at once when the other is complete (promise 5).
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cqm.chunkers.chunking import CHUNKER_VERSION
from cqm.index.context import TERMS_VERSION
from cqm.index.contextual import writer_name
from cqm.index.embedding.opening import recipe
from cqm.index.errors import StoreError
from cqm.index.manifest import Manifest
from cqm.index.options import IndexOptions
from cqm.index.store import EdgeStore

_FORMAT_VERSION = 2
_CURRENT = "current"
_STORE_READY = "store_ready"
_RECIPE = "recipe"


@dataclass(frozen=True, slots=True)
class Generation:
    """An opened generation.

    Attributes:
        name: of it, and of its folder.
        place: that folder.
        manifest, store: its parts.
    """

    name: str
    place: Path
    manifest: Manifest
    store: EdgeStore

    @property
    def recipe(self) -> str:
        """The name of a generation for the options that this one was begun with; see `generation_name`."""
        return self.manifest.fact(_RECIPE)

    def close(self) -> None:
        """Flush and close both parts."""
        self.store.close()
        self.manifest.close()


def generation_name(options: IndexOptions, spaces: Sequence[str] = ()) -> str:
    """The name of the generation for these options: a hash of all that shapes what is stored.

    Models are told by what is configured, not by what their services say, so that an index can begin while one is down.

    Parameters:
        options: of the index.
        spaces: of the preferred models, where they are no longer those that the options led to before.
    """
    context = (writer_name(options.context), options.context.place)
    shape = (_FORMAT_VERSION, CHUNKER_VERSION, TERMS_VERSION, options.chunk, recipe(options), context, *spaces)
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:12]


def current_name(folder: Path) -> str:
    """The name of the generation that serves in an index folder; empty when there is none."""
    try:
        return (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{folder / _CURRENT} cannot be read: {error}.") from error


def manifest_path(folder: Path, name: str) -> Path:
    """Where a generation's manifest is."""
    return folder / name / "manifest.db"


def open_generation(folder: Path, name: str, options: IndexOptions) -> Generation:
    """Open a generation, or begin it.

    Parameters:
        folder: of the index.
        name: of the generation.
        options: what it is begun with; one that exists keeps its own.

    Raises:
        StoreError, ManifestError: it cannot be opened.
    """
    place = folder / name
    try:
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{place} cannot be made: {error}.", remedy="Free space or mend its permissions.") from error
    manifest = Manifest.open(manifest_path(folder, name))
    store = EdgeStore(place / "shard", manifest.settling)
    try:
        if manifest.fact(_STORE_READY):
            store.load()
        else:
            # Also after a kill in the middle of creating it: nothing has been stored yet.
            store.create()
            manifest.set_facts({_STORE_READY: "1", _RECIPE: generation_name(options)})
    except BaseException:
        manifest.close()
        raise
    return Generation(name, place, manifest, store)


def switch_to(folder: Path, name: str) -> None:
    """Make a generation the one that serves, atomically."""
    temporary = folder / f"{_CURRENT}.new"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(name)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / _CURRENT)
    except OSError as error:
        raise StoreError(f"{folder / _CURRENT} cannot be written: {error}.", remedy="Free space.") from error


def remove_others(folder: Path) -> None:
    """Delete all generations but the one that serves; nothing when none does."""
    name = current_name(folder)
    for other in folder.iterdir() if name else ():
        if other.is_dir() and other.name != name:
            # What cannot be deleted now (a file that another program has open) goes the next time.
            shutil.rmtree(other, ignore_errors=True)
