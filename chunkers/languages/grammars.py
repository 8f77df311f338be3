"""Load grammars on first use: from a wheel each, or from the bundle of many.

The bundle is the package semble-grammars: one archive of compiled grammars a platform, 7 MB. Loading needs them as
files, so the first use unpacks all of them into the user's cache, once for each version of the bundle.
"""

import ctypes
import functools
import hashlib
import importlib.util
import json
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from platformdirs import user_cache_path

from cqm.chunkers.errors import CqmError

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar

BUNDLE = "semble_grammars"
"""In place of a wheel's module: the grammar is in the bundle, and its function is its name there."""

_loaded: list[ctypes.CDLL] = []
"""Libraries of the bundle: none may be unloaded while a grammar uses it."""


class MissingGrammarError(CqmError):
    """The grammar of a language is not installed, or cannot be loaded."""


class _Bundle(NamedTuple):
    """The bundle of this platform.

    Attributes:
        archive: of compiled grammars.
        entries: file, symbol and sha256 of each grammar, by its name.
        folder: which the archive is unpacked into.
    """

    archive: Path
    entries: dict[str, dict[str, str]]
    folder: Path


@functools.cache
def grammar(module: str, function: str) -> "Grammar":
    """Return the tree-sitter language of a grammar.

    Parameters:
        module: of the grammar's wheel, such as "tree_sitter_python", or `BUNDLE`.
        function: the module's function for this language, or the grammar's name in the bundle.

    Raises:
        MissingGrammarError: it is not installed, or cannot be loaded.
    """
    from tree_sitter import Language

    try:
        pointer = _bundled(function) if module == BUNDLE else getattr(importlib.import_module(module), function)()
        # Older wheels give the pointer as a number, which tree-sitter warns about.
        return Language(_capsule(pointer) if isinstance(pointer, int) else pointer)
    except (ImportError, AttributeError, OSError, ValueError) as error:
        raise MissingGrammarError(
            f"The grammar {function if module == BUNDLE else module} cannot be loaded: {error}"
        ) from error


def folder_of_bundle() -> Path | None:
    """Return the folder with the unpacked grammars of the bundle; None without the bundle."""
    found = _bundle()
    return found.folder if found else None


def unpack_bundle() -> None:
    """Unpack the grammars of the bundle, unless that was done before: .4 s of processor time, 75 MB.

    A process that may not write files needs this done before; see `cqm.index.workers`.

    Raises:
        OSError: they cannot be written.
    """
    bundle = _bundle()
    if bundle is None or bundle.folder.is_dir():
        return
    bundle.folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    wanted = {entry["file"]: entry["sha256"] for entry in bundle.entries.values()}
    unpacked = Path(tempfile.mkdtemp(dir=bundle.folder.parent, prefix=".new-"))
    try:
        with tarfile.open(bundle.archive) as archive:
            for member in archive:
                source = archive.extractfile(member) if member.name in wanted else None
                if source is not None:
                    data = source.read()
                    if hashlib.sha256(data).hexdigest() != wanted[member.name]:
                        raise OSError(f"{member.name} in {bundle.archive} is damaged")
                    (unpacked / member.name).write_bytes(data)
        # Another process may have been faster: its folder stays, and cannot be replaced since it is not empty.
        try:
            unpacked.rename(bundle.folder)
        except OSError:
            if not bundle.folder.is_dir():
                raise
    except tarfile.TarError as error:
        raise OSError(f"{bundle.archive} is damaged: {error}") from error
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


@functools.cache
def _bundle() -> _Bundle | None:
    # Only data of the package are used: none of its code runs.
    spec = importlib.util.find_spec(BUNDLE)
    folders = spec.submodule_search_locations if spec else None
    for manifest in Path(folders[0]).glob("grammars/*/manifest.json") if folders else ():
        told: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
        archive = manifest.parent / told["archive"]
        # A new version has other checksums, and so a folder of its own.
        version = hashlib.sha256(manifest.read_bytes()).hexdigest()[:16]
        folder = user_cache_path("cqm", appauthor=False) / "grammars" / version
        return _Bundle(archive, told["languages"], folder)
    return None


def _bundled(name: str) -> object:
    """Return the capsule that `tree_sitter.Language` takes."""
    bundle = _bundle()
    if bundle is None or name not in bundle.entries:
        raise ImportError(f"{BUNDLE} is not installed for this platform, or lacks it")
    unpack_bundle()
    entry = bundle.entries[name]
    library = ctypes.CDLL(str(bundle.folder / entry["file"]))
    _loaded.append(library)
    function = getattr(library, entry["symbol"])
    function.restype = ctypes.c_void_p
    return _capsule(function())


def _capsule(pointer: int) -> object:
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    found: object = capsule(pointer, b"tree_sitter.Language", None)
    return found
