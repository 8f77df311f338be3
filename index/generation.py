"""One generation of an index: a manifest and a store that were built with the same chunker, terms and model.

Whatever changes what is stored makes another generation beside the first, in a folder of another name. The file
`current` names the one that serves; it is replaced at once when the other is complete (promise 5).
"""

import hashlib
import logging
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from cqm.chunkers.version import CHUNKER_VERSION
from cqm.index.candidates import Candidates
from cqm.index.context import TERMS_VERSION
from cqm.index.contextual import writer_name
from cqm.index.durable import replace_file, sync_folder
from cqm.index.embedding.opening import recipe
from cqm.index.errors import DamagedIndexError, ManifestError, StoreError, UnavailableError
from cqm.index.home import CURRENT_FILE
from cqm.index.manifest import Manifest
from cqm.index.migration import FORMAT_VERSION, refuse_newer_file
from cqm.index.options import IndexOptions, StoreOptions
from cqm.index.private import read_private, require_plain_tree
from cqm.index.room import require_room
from cqm.index.seal import Prints, break_seal, seal
from cqm.index.secrets.model import REDACTION_VERSION
from cqm.index.shape import SHAPE_FACT, shape_text
from cqm.index.store import Store, file_point_id
from cqm.index.stores import drop_store, open_store, refuse_elsewhere, store_shape

_CURRENT, _MANIFEST = CURRENT_FILE, "manifest.db"
_STORE_READY = "store_ready"
_RECIPE = "recipe"
DAMAGE_FACT, UNAVAILABLE_FACT = "damage", "unavailable"
_NAME = re.compile("[0-9a-f]{12}(-[0-9a-f]{8})?")
_NAME_LENGTH = 12
"""Of the part that tells the options."""
_OBSOLETE = "obsolete-"
"""Begins the name of a folder that was a generation: nothing opens it, so that it may be deleted piece by piece."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Generation:
    """An opened generation.

    Attributes:
        name: of it, and of its folder.
        place: that folder.
        manifest, store: its parts.
        prints: of its files when it was opened.
        candidates: what ranking needs of its chunks and files.
    """

    name: str
    place: Path
    manifest: Manifest
    store: Store
    prints: Prints
    candidates: Candidates

    @property
    def recipe(self) -> str:
        """The name of a generation for the options that this one was begun with; see `generation_name`."""
        return recipe_of(self.manifest)

    def settle(self) -> None:
        """Have all of it on the disk."""
        self.store.flush()
        self.manifest.sync()
        sync_folder(self.place)

    def close(self) -> None:
        """Flush and close both parts."""
        self.store.close()
        self.manifest.close()
        sync_folder(self.place)
        seal(self.place, self.prints)

    def abandon(self) -> None:
        """Close both parts of a generation that is no longer there, or no longer ours."""
        for close in (self.store.close, self.manifest.close):
            with suppress(StoreError, ManifestError, DamagedIndexError):
                close()


def recipe_of(manifest: Manifest) -> str:
    """See `Generation.recipe`."""
    return manifest.fact(_RECIPE)


def generation_name(options: IndexOptions, spaces: Sequence[str] = ()) -> str:
    """The name of the generation for these options: a hash of all that shapes what is stored.

    Models are told by what is configured, not by what their services say, so that an index can begin while one is down.

    Parameters:
        options: of the index.
        spaces: of the preferred models, where they are no longer those that the options led to before.
    """
    context = (writer_name(options.context), options.context.place)
    shape = (FORMAT_VERSION, CHUNKER_VERSION, TERMS_VERSION, options.chunk, recipe(options), context, *spaces)
    shape += (REDACTION_VERSION, options.scan.secrets)
    shape += store_shape(options.store)
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:12]


def fresh_name(options: IndexOptions) -> str:
    """A name that no generation ever had, for another one with the same options."""
    return f"{generation_name(options)}-{secrets.token_hex(4)}"


def current_name(folder: Path) -> str:
    """The name of the generation that serves in an index folder; empty when there is none, or the file is damaged."""
    try:
        name = read_private(folder, _CURRENT).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{folder / _CURRENT} cannot be read: {error}.", remedy=f"Delete {folder}.") from error
    return name if _NAME.fullmatch(name) else ""


def names(folder: Path) -> list[str]:
    """The names of all generations in an index folder, the one that was written last first."""
    written: dict[str, int] = {}
    for path in folder.iterdir():
        if is_generation(path) and not path.name.startswith(_OBSOLETE):
            # Others come and go meanwhile.
            with suppress(FileNotFoundError):
                written[path.name] = manifest_path(folder, path.name).lstat().st_mtime_ns
    return sorted(written, key=written.__getitem__, reverse=True)


def serving_name(folder: Path, wanted: str = "") -> str:
    """The name of the generation to open: the current one, else the one that the options want, else any; else empty."""
    there = names(folder) if folder.is_dir() else []
    return current_name(folder) or (wanted if wanted in there else next(iter(there), ""))


def building_name(folder: Path, serving: str) -> str:
    """The name of the generation beside the one that serves that was written last; empty when there is none."""
    there = names(folder) if folder.is_dir() else []
    return next((name for name in there if name != serving and not name.startswith(_OBSOLETE)), "")


def is_generation(path: Path) -> bool:
    """Whether a path is a folder that has the name of a generation, or of what is left of one."""
    name = path.name.removeprefix(_OBSOLETE)
    return bool(_NAME.fullmatch(name)) and path.is_dir() and not path.is_symlink()


def manifest_path(folder: Path, name: str) -> Path:
    """Where a generation's manifest is."""
    return folder / name / _MANIFEST


def require_available(place: Path, options: StoreOptions) -> None:
    """See that a generation can be used as things are; nothing of it is touched.

    Raises:
        UnavailableError: it cannot, and is whole.
        DamagedIndexError, StoreError: that cannot be told.
    """
    refuse_newer_file(place / _MANIFEST)
    refuse_elsewhere(place, options)


def open_generation(folder: Path, name: str, options: IndexOptions) -> Generation:
    """Open a generation, or begin it.

    Parameters:
        folder: of the index.
        name: of the generation.
        options: what it is begun with; one that exists keeps its own.

    Raises:
        UnavailableError: it is on a server that is not configured, or was written by a newer release.
        DamagedIndexError: a part of it is missing, or is not what CQM wrote.
        StoreError, ManifestError: it cannot be opened.
    """
    place = folder / name
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        # SQLite and Edge open files by their paths.
        require_plain_tree(place)
    except OSError as error:
        raise StoreError(f"{place} cannot be made: {error}.", remedy="Free space or mend its permissions.") from error
    sync_folder(folder)
    if name == current_name(folder) and not manifest_path(folder, name).exists():
        raise DamagedIndexError(f"{manifest_path(folder, name)} is missing.")
    require_available(place, options.store)
    prints = break_seal(place)
    manifest = Manifest.open(manifest_path(folder, name))
    with ExitStack() as closing:
        closing.callback(manifest.close)
        is_begun = bool(manifest.fact(_STORE_READY))
        store = open_store(place, options.store, manifest.settling, is_begun=is_begun, is_settled=prints is not None)
        closing.callback(_close_anyway, store)
        opened = Generation(name, place, manifest, store, prints or {}, Candidates(manifest))
        _prepare_store(opened, options, is_begun=is_begun, is_sealed=prints is not None)
        closing.pop_all()
    return opened


def _close_anyway(store: Store) -> None:
    with suppress(DamagedIndexError, StoreError):
        store.close()


def _prepare_store(generation: Generation, options: IndexOptions, *, is_begun: bool, is_sealed: bool) -> None:
    manifest, store = generation.manifest, generation.store
    if not is_begun:
        # Also after a kill in the middle of creating it: nothing has been stored yet.
        require_room(generation.place)
        store.create()
        sync_folder(generation.place)
        manifest.set_facts({_STORE_READY: "1", _RECIPE: generation_name(options), SHAPE_FACT: shape_text(options)})
        return
    if not is_sealed:
        manifest.check()
        manifest.become_another()
    store.load()
    # The seal tells nothing of what is elsewhere.
    if not (is_sealed and store.in_folder) and (lost := _lost(manifest, store)):
        raise DamagedIndexError(f"{generation.place} has lost {lost}.")


def _lost(manifest: Manifest, store: Store) -> str:
    """What the store lacks of all that was flushed, whatever happened since."""
    if points := store.lost(_settled_points(manifest)):
        return f"{points:,} of its points"
    spaces = manifest.settled_vectors().items()
    vectors = sum(max(0, count - store.count_vectors(name)) for name, count in spaces)
    return f"{vectors:,} of its vectors" if vectors else ""


def _settled_points(manifest: Manifest) -> set[str]:
    """The ids of the points that are on disk, whatever happened since."""
    chunks = manifest.settled_chunks()
    return {*chunks, *map(file_point_id, set(chunks.values()))}


def open_or_begin_anew(folder: Path, name: str, wanted: str, options: IndexOptions) -> Generation:
    """Open a generation, or where it is damaged set it aside and begin the wanted one, with a note of why.

    One that is whole and cannot be used now stays, and the wanted one is begun beside it, with a note of why.

    Parameters:
        folder: of the index.
        name: of the generation.
        wanted: the name of the one for the options, which may be the same.
        options: what a new one is begun with.

    Raises:
        StoreError, ManifestError: it cannot be opened, or not be set aside.
    """
    notes: dict[str, str] = {}
    for candidate in (name, wanted, wanted):
        try:
            opened = open_generation(folder, candidate, options)
        except UnavailableError as error:
            # It stays as it is, at least until another one is complete: the settings or the release may come back.
            if candidate == wanted:
                raise
            notes.setdefault(UNAVAILABLE_FACT, str(error))
        except DamagedIndexError as error:
            set_aside(folder, candidate)
            notes.setdefault(DAMAGE_FACT, error.message)
        else:
            if notes:
                opened.manifest.set_facts(notes)
            return opened
    why = " ".join(notes.values())
    raise StoreError(f"No index can be made in {folder}: {why}", remedy="Check its disk, or choose index.home.")


def set_aside(folder: Path, name: str) -> None:
    """Keep a generation from being opened ever again; it is deleted with the next that is obsolete."""
    try:
        if current_name(folder) == name:
            (folder / _CURRENT).unlink()
        if is_generation(folder / name):
            (folder / name).rename(_aside(folder, name))
        else:
            # A link or a file that is in its place.
            (folder / name).unlink()
    except OSError as error:
        raise StoreError(f"{folder / name} cannot be set aside: {error}.", remedy=f"Delete {folder}.") from error


def _aside(folder: Path, name: str) -> Path:
    """A path that no generation has, not even one of the same name that is obsolete too."""
    return folder / f"{_OBSOLETE}{name.removeprefix(_OBSOLETE)[:_NAME_LENGTH]}-{secrets.token_hex(4)}"


def switch_to(folder: Path, generation: Generation) -> None:
    """Make a generation the one that serves, atomically, and for good when this returns.

    What others see is switched first: a kill, or a server that fails, then leaves the old generation serving here, and
    the next update switches both again. The old one is not deleted before both are.
    """
    generation.store.publish()
    try:
        replace_file(folder / _CURRENT, generation.name)
    except OSError as error:
        raise StoreError(f"{folder / _CURRENT} cannot be written: {error}.", remedy="Free space.") from error


def remove_others(folder: Path, options: IndexOptions) -> None:
    """Delete all generations but the one that serves; nothing when none does."""
    name = current_name(folder)
    if name:
        _delete(folder, (path.name for path in folder.iterdir() if path.name != name), options)


def remove(folder: Path, name: str, options: IndexOptions) -> None:
    """Delete a generation that does not serve; where it cannot be deleted, it goes with the next that is obsolete."""
    _delete(folder, iter([name]), options)


def remove_abandoned(folder: Path, options: IndexOptions) -> None:
    """Delete what a rebuild left behind that was killed: it begins anew, unlike one for other options."""
    name = current_name(folder)
    if name:
        _delete(folder, (path.name for path in folder.iterdir() if path.name != name and "-" in path.name), options)


def remove_all(folder: Path, options: IndexOptions) -> None:
    """Delete all generations: the index becomes one that was never made.

    Raises:
        StoreError: a server does not delete its part; here all stays then.
    """
    places = [path for path in folder.iterdir() if is_generation(path)]
    for place in places:
        drop_store(place, options.store)
    (folder / _CURRENT).unlink(missing_ok=True)
    for place in places:
        _delete_folder(folder, place.name)


def _delete(folder: Path, others: Iterator[str], options: IndexOptions) -> None:
    for name in [other for other in others if is_generation(folder / other)]:
        try:
            drop_store(folder / name, options.store)
        except (DamagedIndexError, StoreError) as error:
            _log.warning("What is obsolete of %s stays until it can be deleted: %s", folder, error)
            continue
        _delete_folder(folder, name)


def _delete_folder(folder: Path, name: str) -> None:
    place = folder / name
    if not name.startswith(_OBSOLETE):
        place = _aside(folder, name)
        # Where this fails (on Windows, while a file of it is open), it goes the next time.
        with suppress(OSError):
            (folder / name).rename(place)
    shutil.rmtree(place, ignore_errors=True)
