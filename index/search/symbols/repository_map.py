"""Rank the symbols of a folder by the number of source files using them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from cqm.index.text.terms import ONLY_WORDS, QUESTION_WORDS, WORD, stems

_MANY_CHUNKS, _SAMPLE = 10_000, 4_000
"""Chunks to count uses in: all, if not many, in a second; else a sample by the first ids, which are hashes."""
_PAYLOADS = 200
_USED = re.compile(r"(?<=[.:>])\w++|\b\w++(?=[(<{!])")
"""A name after a dot or before a bracket: a plain word such as "with" counts only there, since prose has it too."""
_NO_LANDMARKS = frozenset({"constant", "property", "variable", "variant", "module", "namespace", "constructor"})
"""Kinds telling little of a repository."""
# Chosen by looking at the maps of gin, aiohttp, tokio and zod.
_TELLING_FACTOR, _CAPITAL_FACTOR, _PRIVATE_FACTOR, _MEMBER_FACTOR, _SAID_FACTOR = 2.5, 2.0, 0.3, 0.3, 0.03
_ROLE_FACTORS: Mapping[str, float] = {
    "test": 0.01,
    "example": 0.02,
    "documentation": 0.1,
    "legacy": 0.1,
    "generated": 0.1,
}
_TESTS = frozenset({"test", "example"})
"""Roles of files where uses of a name tell little."""
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
        folder: relative to the root; empty for the root.
        start: rank of the first symbol, from 0.
    """
    columns = ("id", "path", "language", "start_line", "defines")
    rows = [_Row(*it) for it in generation.manifest.columns_below("", columns)]
    programs = [row for row in rows if source_type_of(row.language) == CODE]
    roles = {path: role.name if (role := generation.role_of(path)) else "" for path in {row.path for row in programs}}
    tests = {path for path, role in roles.items() if role in _TESTS}
    # Many names come again, and taking them apart is a large part of the time.
    plain = {name: last_part(name) for name in {name for row in programs for name in row.defines}}
    using, is_sampled = _files_using(generation, [row for row in programs if row.path not in tests], {*plain.values()})
    below = f"{folder}/" if folder else ""
    here = [row for row in rows if row.path.startswith(below)]
    own = [row for row in programs if row.path.startswith(below)]
    named = Counter(plain[name] for row in programs if row.path not in tests for name in row.defines)
    ranked = _ranked(own, roles, plain, named, using, is_sampled=is_sampled)
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


def _files_using(
    generation: Generation, source: Sequence[_Row], names: set[str]
) -> tuple[Mapping[str, set[str]], bool]:
    """Return the files with each of some names in their source, and whether only a sample was read."""
    plain = {name for name in names if name.islower() and "_" not in name}
    generated = generation.candidates.generated()
    source = sorted(source, key=lambda it: (it.path in generated, it.id))
    is_sampled = len(source) > _MANY_CHUNKS
    using: defaultdict[str, set[str]] = defaultdict(set)
    for some in batched(source[: _SAMPLE if is_sampled else None], _PAYLOADS):
        texts = generation.store.payloads([row.id for row in some], ["text"])
        for row in some:
            text = str(texts.get(row.id, {}).get("text", ""))
            words = names.intersection(text.translate(ONLY_WORDS).split() if text.isascii() else WORD.findall(text))
            called = set(_USED.findall(text)) if words & plain else set[str]()
            for word in words:
                if word not in plain or word in called:
                    using[word].add(row.path)
    return using, is_sampled


def _ranked(
    own: Sequence[_Row],
    roles: Mapping[str, str],
    plain: Mapping[str, str],
    named: Mapping[str, int],
    using: Mapping[str, set[str]],
    *,
    is_sampled: bool,
) -> Iterator[_Ranked]:
    """Yield the definitions of some chunks, best first. A use of a name counts for each of its definitions in part.

    If uses were counted in a sample, names without one stand behind all others: they are many.
    """
    unused = {name for name in plain if plain[name] not in using} if is_sampled else set[str]()
    for names in (plain.keys() - unused, unused):
        telling = {name: _telling(plain[name]) for name in names if len(plain[name]) >= _SHORTEST and name[0] != "."}
        scored = []
        for row in own:
            for name in telling.keys() & row.defines:
                files = len(using.get(plain[name], set()) - {row.path})
                member = _MEMBER_FACTOR if plain[name] != name else 1.0
                factor = telling[name] * member * _ROLE_FACTORS.get(roles[row.path], 1.0)
                scored.append(_Ranked((files + 0.1) / max(1, named[plain[name]]) * factor, row, name, files))
        yield from sorted(scored, key=lambda it: (-it.score, it.row.path, it.row.start, it.name))


def _telling(plain: str) -> float:
    """Return how much a name tells of a repository."""
    if plain.lower() in QUESTION_WORDS:
        # Sentences of comments begin with "Use" and "For": these are no uses.
        return _SAID_FACTOR
    words = _TELLING_FACTOR if len(stems(plain)) > 1 else 1.0
    capital = _CAPITAL_FACTOR if plain[0].isupper() else 1.0
    return words * capital * (_PRIVATE_FACTOR if plain.startswith("_") else 1.0)


def _landmarks(generation: Generation, ranked: Iterable[_Ranked]) -> Iterator[tuple[_Ranked, OutlineSymbol]]:
    """Yield definitions in their order, without those of uninteresting kinds."""
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
    """Yield the files of a page's symbols; the file with the best symbol comes first."""
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
    aside = {path for path in files if (role := role_of(path)) and role.name in _TESTS}
    for path in sorted(files, key=lambda it: (not it.endswith("/"), it in aside, -symbols[it], -files[it], it)):
        yield OutlineEntry(path, files[path], symbols[path])
