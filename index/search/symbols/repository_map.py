"""Rank the symbols of a folder by the number of source files that use them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.batched import batched
from cqm.index.generations.generation import Generation
from cqm.index.model.symbols import Outline, OutlineEntry, OutlineFile, OutlineSymbol
from cqm.index.ranking.file_roles import role_of
from cqm.index.text.declarations import signature_of
from cqm.index.text.names.parts import last_part
from cqm.index.text.stored_definitions import StoredDefinition, read_definitions
from cqm.index.text.terms import ONLY_WORDS, WORD, stems

_MOST_CHUNKS = 10_000
"""Chunks in which uses are counted: about a second. Of more, those with the first ids, which are hashes."""
_PAYLOADS = 200
_USED = re.compile(r"(?<=[.:>])\w++|\b\w++(?=[(<{!])")
"""A name after a dot or before a bracket: a plain word such as "with" counts only there, since prose has it too."""
_NO_LANDMARKS = frozenset({"constant", "property", "variable", "variant", "module", "namespace", "constructor"})
"""Kinds telling little of a repository."""
# Chosen by looking at the maps of gin, aiohttp, tokio and zod.
_TELLING_FACTOR, _CAPITAL_FACTOR, _PRIVATE_FACTOR, _MEMBER_FACTOR = 2.5, 2.0, 0.3, 0.3
_ROLE_FACTORS: Mapping[str, float] = {
    "test": 0.01,
    "example": 0.02,
    "documentation": 0.1,
    "legacy": 0.1,
    "generated": 0.1,
}
_SHORTEST = 2


class _Row(NamedTuple):
    """A chunk of a program."""

    id: str
    path: str
    language: str
    start: int
    defines: Sequence[str]


class _Ranked(NamedTuple):
    """A definition by its chunk and name, with its standing."""

    score: float
    row: _Row
    name: str
    files: int


def map_of(generation: Generation, folder: str, start: int, limit: int) -> Outline:
    """Return the entries of a folder and a page of its most used symbols. Equal indexes give equal maps.

    Parameters:
        generation: the index.
        folder: relative to the root; empty for the root.
        start: rank of the first symbol, from 0.
        limit: symbols of the page.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    columns = ("id", "path", "language", "start_line", "defines")
    rows = [_Row(*it) for it in generation.manifest.columns_below("", columns)]
    programs = [row for row in rows if source_type_of(row.language) == CODE]
    uses, is_sampled = _files_using(generation, programs)
    below = f"{folder}/" if folder else ""
    here = [row for row in rows if row.path.startswith(below)]
    own = [row for row in programs if row.path.startswith(below)]
    ranked = _ranked(generation, own, programs, uses)
    page = list(islice(_landmarks(generation, ranked), start, start + limit + 1))
    counts = Counter({row.path: 0 for row in here})
    for row in own:
        counts[row.path] += len(row.defines)
    languages = Counter({row.path: row.language for row in here}.values())
    return Outline(
        folder,
        is_file=False,
        entries=tuple(_entries(counts, below)),
        files=tuple(_grouped(page[:limit], counts, start)),
        languages=dict(sorted(languages.items(), key=lambda it: (-it[1], it[0]))),
        total_files=len(counts),
        total_symbols=counts.total(),
        is_sampled=is_sampled,
        next_cursor=str(start + limit) if len(page) > limit else "",
    )


def _files_using(generation: Generation, programs: Sequence[_Row]) -> tuple[Mapping[str, set[str]], bool]:
    """Return the source files, tests aside, with each defined name; and whether only a part of them was read."""
    names = {last_part(name) for row in programs for name in row.defines}
    plain = {name for name in names if name.islower() and "_" not in name}
    generated = generation.candidates.generated()
    source = sorted((row.path in generated, row) for row in programs if not _is_test(row.path))
    using: defaultdict[str, set[str]] = defaultdict(set)
    for some in batched([row for _, row in source[:_MOST_CHUNKS]], _PAYLOADS):
        texts = generation.store.payloads([row.id for row in some], ["text"])
        for row in some:
            text = str(texts.get(row.id, {}).get("text", ""))
            words = names.intersection(text.translate(ONLY_WORDS).split() if text.isascii() else WORD.findall(text))
            called = set(_USED.findall(text)) if words & plain else set[str]()
            for word in words:
                if word not in plain or word in called:
                    using[word].add(row.path)
    return using, len(source) > _MOST_CHUNKS


def _is_test(path: str) -> bool:
    role = role_of(path)
    return role is not None and role.name in {"test", "example"}


def _ranked(
    generation: Generation, own: Sequence[_Row], programs: Sequence[_Row], uses: Mapping[str, set[str]]
) -> list[_Ranked]:
    """Order the definitions of some chunks, best first. A use of a name counts for each of its definitions in part."""
    named = Counter(last_part(name) for row in programs if not _is_test(row.path) for name in row.defines)
    found = []
    for row in own:
        role = generation.role_of(row.path)
        factor = _ROLE_FACTORS.get(role.name, 1.0) if role else 1.0
        for name in row.defines:
            plain = last_part(name)
            if name.startswith(".") or len(plain) < _SHORTEST:
                continue
            files = len(uses.get(plain, set()) - {row.path})
            telling = _TELLING_FACTOR if len(stems(plain)) > 1 else 1.0
            capital = _CAPITAL_FACTOR if plain[0].isupper() else 1.0
            private = _PRIVATE_FACTOR if plain.startswith("_") else 1.0
            member = _MEMBER_FACTOR if plain != name else 1.0
            score = (files + 0.1) / max(1, named[plain]) * telling * capital * private * member * factor
            found.append(_Ranked(score, row, name, files))
    return sorted(found, key=lambda it: (-it.score, it.row.path, it.row.start, it.name))


def _landmarks(generation: Generation, ranked: Sequence[_Ranked]) -> Iterator[tuple[_Ranked, OutlineSymbol]]:
    """Yield definitions in their order, without those of kinds that tell little."""
    seen: set[tuple[str, str]] = set()
    for some in batched(ranked, _PAYLOADS):
        payloads = generation.store.payloads([*{it.row.id: None for it in some}], ["text", "definitions"])
        for it in some:
            payload = payloads.get(it.row.id, {})
            defined = read_definitions(payload.get("definitions", ""))
            own = next((each for each in defined if each.name == it.name), None)
            if own is None or own.kind in _NO_LANDMARKS or (it.row.path, it.name) in seen:
                continue
            seen.add((it.row.path, it.name))
            yield it, _symbol(it, own, str(payload.get("text", "")).split("\n"))


def _symbol(it: _Ranked, own: StoredDefinition, lines: Sequence[str]) -> OutlineSymbol:
    start = it.row.start
    at = (start + own.line, start + own.first, start + own.last)
    return OutlineSymbol(own.name, own.kind, *at, signature_of(lines[own.first :], own), files=it.files)


def _grouped(
    page: Sequence[tuple[_Ranked, OutlineSymbol]], counts: Mapping[str, int], start: int
) -> Iterator[OutlineFile]:
    """Yield the files of a page's symbols, that with the best symbol first."""
    groups: defaultdict[str, list[tuple[int, OutlineSymbol]]] = defaultdict(list)
    languages = {it.row.path: it.row.language for it, _ in page}
    for rank, (it, symbol) in enumerate(page, start):
        groups[it.row.path].append((rank, symbol))
    for path, group in groups.items():
        group.sort(key=lambda it: (it[1].line, it[0]))
        ranks, symbols = zip(*group, strict=True)
        yield OutlineFile(path, languages[path], symbols, counts[path], ranks)


def _entries(counts: Mapping[str, int], below: str) -> Iterator[OutlineEntry]:
    files, symbols = Counter[str](), Counter[str]()
    for path, count in counts.items():
        name, slash, _ = path.removeprefix(below).partition("/")
        files[below + name + slash] += 1
        symbols[below + name + slash] += count
    for path in sorted(files, key=lambda it: (not it.endswith("/"), _is_test(it), -symbols[it], -files[it], it)):
        yield OutlineEntry(path, files[path], symbols[path])
