"""One generation of an index: a manifest and a store built with the same chunker, terms and model.

Any change of the stored form makes another generation beside the first, in a folder with another name. The file
`current` names the serving one and is replaced atomically when the other is complete.
"""

import hashlib
import logging
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from cqm.index.disk.checksums import Prints, break_seal, seal
from cqm.index.disk.durable import replace_file, require_room, sync_folder
from cqm.index.disk.locations import CURRENT_FILE
from cqm.index.disk.private import require_plain_tree
from cqm.index.embedding.opening import spaces_known
from cqm.index.generations.candidate_cache import Candidates
from cqm.index.generations.folders import MANIFEST_FILE, OBSOLETE, current_name, is_generation, manifest_path
from cqm.index.generations.known_paths import KnownPaths
from cqm.index.generations.recipe import recipe_text, shape_text
from cqm.index.manifest.facts import DAMAGE_FACT, SHAPE_FACT, UNAVAILABLE_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.manifest.schema import refuse_newer_file
from cqm.index.model.errors import DamagedIndexError, ManifestError, StoreError, UnavailableError
from cqm.index.model.options import IndexOptions, StoreOptions
from cqm.index.model.spaces import parse_space
from cqm.index.ranking.file_roles import Role, role_of
from cqm.index.remote.variables import Variables
from cqm.index.store.base import Store, file_point_id
from cqm.index.store.open import drop_store, open_store, refuse_elsewhere

_STORE_READY = "store_ready"
_RECIPE = "recipe"
_NAME_LENGTH = 12
"""Characters of a name for the options, without a random suffix."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Generation:
    """An opened generation.

    Attributes:
        name: of the generation and its folder.
        store: its points. Another one takes its place as the index grows; see `Growing`.
        recipe: generation name of the options it was begun with; see `generation_name`.
        prints: checksums of its files at opening.
        candidates: fields of its chunks and files needed for ranking.
    """

    name: str
    place: Path
    manifest: Manifest
    store: Store
    recipe: str
    prints: Prints
    candidates: Candidates
    paths: KnownPaths

    def role_of(self, path: str) -> Role | None:
        """Return the role of a file by its path and by whether a tool wrote it; None for plain source.

        Raises:
            ManifestError: the index cannot be read.
        """
        return role_of(path, is_generated=path in self.candidates.generated())

    def dimensions(self) -> dict[str, int]:
        """Return the dimensions of its vectors, by the names of these in the store."""
        return {name: parse_space(space).dimensions for name, space in self.manifest.spaces().items()}

    def settle(self) -> None:
        """Flush all of it to disk."""
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
        """Close both parts of a generation already deleted or no longer ours."""
        for close in (self.store.close, self.manifest.close):
            with suppress(StoreError, ManifestError, DamagedIndexError):
                close()


def recipe_of(manifest: Manifest) -> str:
    """Return the name of the generation for the options with which this one was begun."""
    return manifest.fact(_RECIPE)


def generation_name(options: IndexOptions, spaces: Sequence[str] = ()) -> str:
    """Return the name of a generation begun with these options: a hash of its recipe.

    Models count by their configuration, not by their services' answers, so an index can begin while a service is down.

    Parameters:
        spaces: of the preferred models, if the same options now lead to other models.
    """
    return hashlib.sha256(recipe_text(options, spaces).encode()).hexdigest()[:_NAME_LENGTH]


def fresh_name(options: IndexOptions) -> str:
    """Return a new name for another generation with the same options."""
    return f"{generation_name(options)}-{secrets.token_hex(4)}"


def require_available(place: Path, options: StoreOptions) -> None:
    """Check that a generation can be used with these settings and this release; touches nothing.

    Raises:
        UnavailableError: it is undamaged and can't be used now.
        DamagedIndexError, StoreError: the check failed.
    """
    refuse_newer_file(place / MANIFEST_FILE)
    refuse_elsewhere(place, options)


def open_generation(folder: Path, name: str, options: IndexOptions, variables: Variables) -> Generation:
    """Open a generation or begin it.

    Parameters:
        options: for beginning it; an existing one keeps its own.

    Raises:
        UnavailableError: it is on an unconfigured server, or was written by a newer release.
        DamagedIndexError: a part of it is missing, or was changed from outside.
        StoreError, ManifestError: it cannot be opened.
    """
    place = folder / name
    make_place(place)
    if name == current_name(folder) and not manifest_path(folder, name).exists():
        raise DamagedIndexError(f"{manifest_path(folder, name)} is missing.")
    require_available(place, options.store)
    prints = break_seal(place)
    manifest = Manifest.open(manifest_path(folder, name))
    with ExitStack() as closing:
        closing.callback(manifest.close)
        is_begun = bool(manifest.fact(_STORE_READY))
        store = open_store(
            place, options.store, variables, manifest.settling, is_begun=is_begun, is_settled=prints is not None
        )
        closing.callback(_close_anyway, store)
        _prepare_store(place, manifest, store, options, is_begun=is_begun, is_sealed=prints is not None)
        candidates, paths = Candidates(manifest), KnownPaths(manifest)
        opened = Generation(name, place, manifest, store, recipe_of(manifest), prints or {}, candidates, paths)
        closing.pop_all()
    return opened


def make_place(place: Path) -> None:
    """Make the folder of a generation, if it is not there.

    Raises:
        StoreError: it cannot be made.
        DamagedIndexError: there is a link in it.
    """
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        # SQLite and Edge open files by their paths.
        require_plain_tree(place)
    except OSError as error:
        raise StoreError(f"{place} cannot be made: {error}.", remedy="Free space or mend its permissions.") from error
    sync_folder(place.parent)


def _close_anyway(store: Store) -> None:
    with suppress(DamagedIndexError, StoreError):
        store.close()


def _prepare_store(
    place: Path, manifest: Manifest, store: Store, options: IndexOptions, *, is_begun: bool, is_sealed: bool
) -> None:
    if not is_begun:
        # Also after a kill during creation: nothing is stored yet.
        require_room(place)
        store.create(spaces_known(options))
        sync_folder(place)
        manifest.set_facts({_STORE_READY: "1", _RECIPE: generation_name(options), SHAPE_FACT: shape_text(options)})
        return
    if not is_sealed:
        manifest.check()
        manifest.become_another()
    store.load()
    # The seal doesn't cover a store elsewhere.
    if not (is_sealed and store.in_folder) and (lost := _lost(manifest, store)):
        raise DamagedIndexError(f"{place} has lost {lost}.")


def _lost(manifest: Manifest, store: Store) -> str:
    """Say how many flushed points and vectors the store lacks; empty if nothing."""
    if points := store.lost(_settled_points(manifest)):
        return f"{points:,} of its points"
    spaces = manifest.settled_vectors().items()
    vectors = sum(max(0, count - store.count_vectors(name)) for name, count in spaces)
    return f"{vectors:,} of its vectors" if vectors else ""


def _settled_points(manifest: Manifest) -> set[str]:
    """Ids of the points known to be on disk."""
    chunks = manifest.settled_chunks()
    return {*chunks, *map(file_point_id, set(chunks.values()))}


def open_or_begin_anew(folder: Path, name: str, wanted: str, options: IndexOptions, variables: Variables) -> Generation:
    """Open a generation; if it is damaged, set it aside, begin the wanted one and record the reason.

    An undamaged generation unusable now stays. The wanted one is begun beside it, with the reason recorded.

    Parameters:
        wanted: name of the generation for the options; may be the same.

    Raises:
        StoreError, ManifestError: it cannot be opened or set aside.
    """
    notes: dict[str, str] = {}
    for candidate in (name, wanted, wanted):
        try:
            opened = open_generation(folder, candidate, options, variables)
        except UnavailableError as error:
            # It stays at least until another one is complete: the settings or the release may come back.
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
    """Rename a generation so it is never opened again; it is deleted with the next obsolete one."""
    try:
        if current_name(folder) == name:
            (folder / CURRENT_FILE).unlink()
        if is_generation(folder / name):
            (folder / name).rename(_aside(folder, name))
        else:
            # A link or a file in its place.
            (folder / name).unlink()
    except OSError as error:
        remedy = f"Mend the permissions of {folder}, or delete it: `cqm index` makes the index anew then."
        raise StoreError(f"{folder / name} cannot be set aside: {error}.", remedy=remedy) from error


def _aside(folder: Path, name: str) -> Path:
    """Return an unused path, even if another obsolete generation has the same name."""
    return folder / f"{OBSOLETE}{name.removeprefix(OBSOLETE)[:_NAME_LENGTH]}-{secrets.token_hex(4)}"


def switch_to(folder: Path, generation: Generation) -> None:
    """Make a generation the serving one, atomically, and durably when this returns.

    The store's public name is switched first. After a kill or a failing server the old generation still serves here,
    and the next update switches both again. The old one is deleted only after both.
    """
    generation.store.publish()
    try:
        replace_file(folder / CURRENT_FILE, generation.name)
    except OSError as error:
        raise StoreError(f"{folder / CURRENT_FILE} cannot be written: {error}.", remedy="Free space.") from error


def remove_others(folder: Path, options: IndexOptions, variables: Variables) -> None:
    """Delete all generations but the serving one; nothing if none serves."""
    name = current_name(folder)
    if name:
        _delete(folder, (path.name for path in folder.iterdir() if path.name != name), options, variables)


def remove(folder: Path, name: str, options: IndexOptions, variables: Variables) -> None:
    """Delete a generation not serving; after a failure, it goes with the next obsolete one."""
    _delete(folder, iter([name]), options, variables)


def remove_abandoned(folder: Path, options: IndexOptions, variables: Variables) -> None:
    """Delete the remains of a killed rebuild: it starts over, unlike a build for other options."""
    name = current_name(folder)
    if name:
        _delete(
            folder,
            (path.name for path in folder.iterdir() if path.name != name and "-" in path.name),
            options,
            variables,
        )


def remove_all(folder: Path, options: IndexOptions, variables: Variables) -> None:
    """Delete all generations, so the index is as if never made.

    Raises:
        StoreError: a server doesn't delete its part; then everything here stays.
    """
    places = [path for path in folder.iterdir() if is_generation(path)]
    for place in places:
        drop_store(place, options.store, variables)
    (folder / CURRENT_FILE).unlink(missing_ok=True)
    for place in places:
        _delete_folder(folder, place.name)


def _delete(folder: Path, others: Iterator[str], options: IndexOptions, variables: Variables) -> None:
    for name in [other for other in others if is_generation(folder / other)]:
        try:
            drop_store(folder / name, options.store, variables)
        except (DamagedIndexError, StoreError) as error:
            _log.warning("What is obsolete of %s stays until it can be deleted: %s", folder, error)
            continue
        _delete_folder(folder, name)


def _delete_folder(folder: Path, name: str) -> None:
    place = folder / name
    if not name.startswith(OBSOLETE):
        place = _aside(folder, name)
        # If this fails (on Windows, while one of its files is open), it goes the next time.
        with suppress(OSError):
            (folder / name).rename(place)
    shutil.rmtree(place, ignore_errors=True)
