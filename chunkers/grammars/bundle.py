"""Take grammars from a bundle of many: the package semble-grammars, one archive a platform.

Loading needs a file, so the first use of a grammar unpacks it into the user's cache, once for each version of the
bundle. Only data of the package are used: none of its code runs.
"""

import ctypes
import functools
import hashlib
import importlib.util
import json
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

BUNDLE = "semble_grammars"
PACK = "tree_sitter_language_pack"

_loaded: list[ctypes.CDLL] = []
"""Libraries of the bundle: none may be unloaded while a grammar uses it."""
_instead: list[Callable[[str], object]] = []


class _Bundle(NamedTuple):
    """The bundle of this platform.

    Attributes:
        archive: of compiled grammars.
        entries: file, symbol and sha256 of each grammar, by its name.
        folder: which grammars are unpacked into.
    """

    archive: Path
    entries: dict[str, dict[str, str]]
    folder: Path


def folder_of_bundle() -> Path | None:
    """Return the folder of the grammars unpacked from the bundle, which may not exist yet; None without the bundle."""
    found = _bundle()
    return found.folder if found else None


def unpack(name: str) -> None:
    """Unpack a grammar of the bundle, unless done before: .2 s of processor time, up to 5 MB.

    Raises:
        OSError: there is none, it cannot be written, or the archive is damaged.
    """
    bundle = _bundle()
    entry = bundle.entries.get(name) if bundle else None
    if bundle is None or entry is None:
        raise OSError(f"{BUNDLE} has no grammar {name}")
    if (bundle.folder / entry["file"]).is_file():
        return
    bundle.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with tarfile.open(bundle.archive) as archive:
            source = archive.extractfile(entry["file"])
            data = source.read() if source else b""
    except (EOFError, KeyError, tarfile.TarError, zlib.error) as error:
        raise OSError(f"{bundle.archive} is damaged: {error}") from error
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise OSError(f"{entry['file']} in {bundle.archive} is damaged")
    # Another process may load the file as soon as it has its name.
    with tempfile.TemporaryDirectory(dir=bundle.folder, prefix=".new-") as folder:
        file = Path(folder) / entry["file"]
        file.write_bytes(data)
        file.replace(bundle.folder / entry["file"])


def waiting_in_bundle() -> dict[str, bool]:
    """Tell whether each grammar not yet unpacked is whole in the archive, by its name; reads all of it, in .3 s.

    Raises:
        OSError: the archive cannot be read.
    """
    bundle = _bundle()
    if bundle is None:
        return {}
    packed = {name: it for name, it in bundle.entries.items() if not (bundle.folder / it["file"]).is_file()}
    sums: dict[str, str] = {}
    try:
        with tarfile.open(bundle.archive) as archive:
            for member in archive if packed else ():
                if source := archive.extractfile(member):
                    sums[member.name] = hashlib.sha256(source.read()).hexdigest()
    except (EOFError, tarfile.TarError, zlib.error) as error:
        raise OSError(f"{bundle.archive} is damaged: {error}") from error
    return {name: sums.get(entry["file"]) == entry["sha256"] for name, entry in packed.items()}


def call_instead_of_unpacking(step: Callable[[str], object]) -> None:
    """Have a function unpack a grammar by its name for this process, as it may not write files.

    If it returns without doing so, the grammar is missing.
    """
    _instead.append(step)


@functools.cache
def _bundle() -> _Bundle | None:
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


def load(name: str) -> object:
    """Return the argument for `tree_sitter.Language`; unpack the grammar first if need be.

    Raises:
        ImportError: there is no such grammar for this platform.
        OSError: it cannot be unpacked or loaded.
    """
    bundle = _bundle()
    if bundle is None or name not in bundle.entries:
        raise ImportError(f"{BUNDLE} is not installed for this platform, or lacks it")
    entry = bundle.entries[name]
    if not (bundle.folder / entry["file"]).is_file():
        for step in _instead or [unpack]:
            step(name)
    library = ctypes.CDLL(str(bundle.folder / entry["file"]))
    _loaded.append(library)
    function = getattr(library, entry["symbol"])
    function.restype = ctypes.c_void_p
    return capsule_of(function())


def load_from_pack(name: str) -> object:
    """Return the argument for `tree_sitter.Language`, of a grammar of the pack; none of the pack's Python code runs.

    Raises:
        ImportError: the pack is not installed, or lacks it.
    """
    spec = importlib.util.find_spec(PACK)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file in sorted((Path(folder) / "bindings").glob(f"{name}.*")):
            loader = ExtensionFileLoader(f"{PACK}.bindings.{name}", str(file))
            module = importlib.util.module_from_spec(ModuleSpec(loader.name, loader, origin=str(file)))
            loader.exec_module(module)
            return module.language()
    raise ImportError(f"{PACK} is not installed, or lacks it")


def capsule_of(pointer: int) -> object:
    """Return the argument for `tree_sitter.Language` at the address of a grammar; older wheels give the address."""
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    found: object = capsule(pointer, b"tree_sitter.Language", None)
    return found
