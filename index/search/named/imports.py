"""Find the targets of an import line: a definition, a header, the files of a package."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.search.named.defining import NameLookup
from cqm.index.text.names.parts import dotted, last_part
from cqm.index.text.stored_definitions import read_definitions

_LONGEST = 400
_QUOTED = r"[\"'`](?P<path>[\w@~./#$-]{1,200})[\"'`]"
_INCLUDE = re.compile(
    r"#[ \t]*(?:include|import)[ \t]*(?:\"(?P<quoted>[\w./+-]{1,200})\"|<(?P<angled>[\w./+-]{1,200})>)"
)
_SCRIPT = re.compile(
    r"(?:import|export)\s+(?:type\s+)?(?:(?P<default>[\w$]{1,80})\s*,?\s*)?"
    rf"(?:\{{(?P<names>[\w$,\s]{{1,300}})\}}\s*)?from\s+{_QUOTED};?"
)
_PACKAGE = re.compile(r"(?:import\s+)?(?:[\w.]{1,40}\s+)?\"(?P<path>[\w-]+(?:\.[\w-]+)+(?:/[\w.-]+){2,20})\"")
_AS = re.compile(r"\s+as\s+.*|^type\s+")
_MOST_FILES = 10
_RELATIVE = re.compile(r"^(?:\.{1,2}/|[@~#$](?:lib|app)?/)+")
_ENDING = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|json)$")


class Imported(NamedTuple):
    """The contents imported by a line: names of a module, or a whole file or folder."""

    module: str
    names: tuple[str, ...] = ()
    is_folder: bool = False


def imported_lines(lookup: NameLookup, imported: Imported) -> dict[str, int]:
    """Return the lines of an import's targets, by id of their chunk; empty if the index has none."""
    if imported.names and (found := _of_names(lookup, imported)):
        return found
    return _of_files(lookup.generation, imported)


def import_in(text: str) -> Imported | None:
    """Return the contents imported by a line; None for other texts.

    import { debounce } from '../lib/helper';
    #include "net/socket.h"
    "github.com/acme/shop/internal/cart"
    """
    text = text.strip().strip("`").strip()
    if len(text) > _LONGEST or not ('"' in text or "'" in text or text.startswith("#")):
        return None
    if include := _INCLUDE.fullmatch(text):
        return Imported(include["quoted"] or include["angled"])
    if script := _SCRIPT.fullmatch(text):
        names = [_AS.sub("", it.strip()) for it in (script["names"] or "").split(",")]
        names += [script["default"]] if script["default"] not in {None, "type"} else []
        module = _ENDING.sub("", _RELATIVE.sub("", script["path"]))
        return Imported(module, tuple(filter(None, names)))
    package = _PACKAGE.fullmatch(text)
    return Imported(package["path"], is_folder=True) if package else None


def _of_names(lookup: NameLookup, imported: Imported) -> dict[str, int]:
    """Return the lines defining imported names; those in the module's own file come first."""
    lines: dict[str, int] = {}
    for name in imported.names:
        chunks = [it for it in lookup.of(name) if any(last_part(dotted(own)) == name for own in it.defines)]
        of_module = [it for it in chunks if _is_module(it.path, imported.module)]
        payloads = lookup.generation.store.payloads([it.id for it in of_module], ["definitions"])
        for it in sorted(of_module, key=lambda chunk: (chunk.role is not None, chunk.path, chunk.position)):
            defined = read_definitions(payloads.get(it.id, {}).get("definitions", ""))
            at = next((own.line for own in defined if last_part(own.name) == name), 0)
            lines.setdefault(it.id, it.start_line + at)
    return lines


def _is_module(path: str, module: str) -> bool:
    """Whether a file is a module: "src/lib/helper.ts" and "src/lib/helper/index.ts" are "lib/helper"."""
    plain = path[: -len(PurePosixPath(path).suffix) or None]
    return any(f"/{it}".endswith(f"/{module}") for it in (plain, plain.removesuffix("/index"), path))


def _of_files(generation: Generation, imported: Imported) -> dict[str, int]:
    """Return the first chunk of each file of the module, or of its folder; plain source first."""
    paths = generation.paths.with_chunks()
    if imported.is_folder:
        found = _in_folder(paths, imported.module)
    else:
        # Most paths have not even its last word.
        word = imported.module.rpartition("/")[2]
        found = [path for path in paths if word in path and _is_module(path, imported.module)]
    found.sort(key=lambda path: (generation.role_of(path) is not None, path.count("/"), path))
    rows = (generation.manifest.chunks_of(path)[:1] for path in found[:_MOST_FILES])
    return {row.id: row.start_line for first in rows for row in first}


def _in_folder(paths: Sequence[str], module: str) -> list[str]:
    """Return the Go files with a folder at the end of a module's path; at least two parts of a longer one."""
    parts = module.split("/")[1:]
    folders: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith(".go"):
            folders.setdefault(path.rpartition("/")[0], []).append(path)
    for start in range(len(parts)):
        end = "/".join(parts[start:])
        if start and len(parts) - start < 2 and end not in folders:  # noqa: PLR2004 - one word may be any folder
            return []
        if found := [path for folder, own in folders.items() if f"/{folder}".endswith(f"/{end}") for path in own]:
            return found
    return []
