"""Find the chunks at the places and paths a question names: they answer it first."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.exact import fitting
from cqm.index.ranking.question import Question, definitions_term
from cqm.index.search.contents.asked import contents_lines, is_of_column, is_printed
from cqm.index.search.contents.commits import committed
from cqm.index.search.contents.joined_names import Joined, joined_lines
from cqm.index.search.named.almost import names_almost
from cqm.index.search.named.cluster_objects import object_lines
from cqm.index.search.named.declared_keys import declared_lines
from cqm.index.search.named.defining import MOST_NAMESAKES, NameLookup, are_so, meant_name
from cqm.index.search.named.imports import import_in, imported_lines
from cqm.index.search.named.keyed_lines import body_lines, keyed_lines
from cqm.index.search.named.named_paths import NamedPaths, read_paths, without_names
from cqm.index.search.named.quoted_lines import with_quoted_line
from cqm.index.search.named.relations import related_lines
from cqm.index.search.named.routes import read_route
from cqm.index.search.named.tree_paths import Match, TreePaths, lacks_root_package, of_project, tree_of
from cqm.index.store.base import TERMS, Nearest, PointFilter
from cqm.index.text.names.joined import joined_in
from cqm.index.text.names.keys import key_in
from cqm.index.text.names.parts import is_operator, last_part, name_key
from cqm.index.text.places import NamedPlace
from cqm.index.text.relations.asked import relation_in
from cqm.index.text.reports.bodies import fields_in
from cqm.index.text.stored_definitions import read_definitions
from cqm.index.text.terms import label_term

_MOST_CHUNKS = 50
"""Most chunks to come first: half of the largest page."""
_FEW_NAMESAKES = 4
"""More functions of one name tell nothing."""
_WHOLE = 2  # Grade of a file under another path; see `Match`.
_WORD = re.compile(r"\w+")
_FOLDER = re.compile(r"[\w-]+")
_BUILT = re.compile(r"/node_modules/(?:[^/]+/){0,6}(?P<package>[^/@]+)/(?:dist|build|lib|out|esm|cjs|es)/")
_MOST_CHARACTERS = 20_000
"""Characters of a text to search for folders."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """Chunks that come first.

    Attributes:
        ids: in order.
        lines: first line asked for in each, by id; missing where the question names a file.
    """

    ids: tuple[str, ...]
    lines: Mapping[str, int]


NOTHING = Pinned((), {})


class _Found(NamedTuple):
    """The chunks at a place: of one file, in order; at the end of it none has the line."""

    place: NamedPlace
    rows: Sequence[ChunkRow]
    grade: int


class Names(NamedTuple):
    """The names in a question.

    Attributes:
        paths: of the files named.
        note: told if nothing has the name.
        is_file_missing: whether the missing name is a file's, or a route fitting only in part.
        routed: the lines declaring a route, an object of Kubernetes, an option or a table, or found by data; by id of
            their chunks, best first.
        is_route_missing: whether nothing declares the route, or nothing has the relation asked for.
    """

    question: Question
    paths: tuple[str, ...] = ()
    note: str = ""
    is_file_missing: bool = False
    routed: Mapping[str, int] = MappingProxyType({})
    is_route_missing: bool = False


def pinned_by(lookup: NameLookup, names: Names, keep: PointFilter | None, root: str = "") -> Pinned:
    """Find the chunks at the places a question names, innermost call first, or those of the files it consists of.

    A path is resolved by its end: "/app/src/run.py" in a trace and "run.py" are "src/run.py" in the index.
    """
    generation, question, paths = lookup.generation, names.question, names.paths
    if is_operator(question.symbol):
        return _of_operator(lookup, question.symbol, keep)
    is_naming = question.places or question.lines or question.calls or paths or names.routed
    if not is_naming or (keep and (keep.sources or keep.issues)):
        return NOTHING
    if names.routed:
        rows = generation.manifest.chunks(names.routed)
        kept = {name: line for name, line in names.routed.items() if name in rows and counts(rows[name], keep)}
        return Pinned(tuple(kept), kept)
    if paths and (pinned := _of_paths(generation, paths, keep)).ids:
        return pinned
    named = [NamedPlace(*question.lines)] if question.lines else []
    places = [*named, *(place for place in question.places if place[:3] not in [it[:3] for it in named])]
    tree = tree_of(generation, root) if places else None
    at_places = _at_places(lookup, tree, places, question.text, keep) if tree else NOTHING
    if at_places.ids:
        return at_places
    return _of_calls(generation, question, keep)


def read_names(lookup: NameLookup, question: Question, root: str = "") -> Names:
    """Read a path or a name, with the names meant by a part or a misspelling of one."""
    named = NamedPaths(question) if is_operator(question.symbol) else read_paths(lookup, question, root)
    commit = committed(lookup.generation, question, root)
    # Its files may stand below a commit of another clone.
    if commit and (commit.lines or not named.paths):
        plain = without_names(question) if commit.lines else question
        return Names(plain, note=commit.note, routed=commit.lines, is_route_missing=not commit.lines)
    # A file of this name comes first: "role/web".
    if not named.paths and (asked := _with_lines_asked(lookup, question)):
        return asked
    if question.route and (named.is_missing or not named.paths):
        if routed := read_route(lookup, question.route):
            plain = replace(without_names(question), copied=(question.route.path,), pasted=())
            return Names(plain, routed=routed.lines, is_file_missing=not routed.is_sure)
        copied = dict.fromkeys((*named.question.copied, question.route.path))
        plain = replace(named.question, copied=tuple(copied))
        return Names(plain, *named[1:3], is_file_missing=named.is_missing, is_route_missing=True)
    if named.paths or named.note or named.question is not question:
        return Names(*named[:3], is_file_missing=named.is_missing)
    meant, note = _with_meant_names(lookup, question)
    return Names(meant, note=note)


def _with_lines_asked(lookup: NameLookup, question: Question) -> Names | None:
    """Read a question for lines declaring a thing or related to a name; None for others."""
    text = question.text
    relation, imported = relation_in(text), import_in(text)
    lines = contents_lines(lookup.generation, question) or object_lines(lookup, text) or declared_lines(lookup, text)
    lines = lines or (related_lines(lookup, relation) if relation else {})
    if lines := lines or (imported_lines(lookup, imported) if imported else {}):
        return Names(without_names(question), routed=lines)
    if said := _said_lines(lookup, question):
        return Names(question, routed=said)  # The chunk's own key is named after the question.
    if joined := _joined_lines(lookup, question):
        return Names(without_names(question), routed=joined.lines, is_file_missing=not joined.is_sure)
    is_missing = imported or (relation and relation.is_name and not relation.is_bare) or is_of_column(text)
    is_missing = is_missing or (not question.places and is_printed(text))
    return Names(question, is_route_missing=True) if is_missing else None


def _said_lines(lookup: NameLookup, question: Question) -> dict[str, int]:
    """Return the lines with a key that is no symbol's, or declaring the fields of a body."""
    if question.places:
        return {}
    if key := key_in(question.text):
        return keyed_lines(lookup, key, [*filter(None, (question.symbol, *question.notations))])
    fields = [] if question.route or is_printed(question.text) else fields_in(question.text)
    return body_lines(lookup, fields) if fields else {}


def _joined_lines(lookup: NameLookup, question: Question) -> Joined | None:
    """Return the lines of the literals that a program joins to the name asked for; None if it is a symbol's name."""
    name = None if question.places else joined_in(question.text)
    if not name or are_so(lookup.defining(name.name), last_part(name.name)):
        return None
    joined = joined_lines(lookup.generation, name)
    return joined if joined.lines else None


def _with_meant_names(lookup: NameLookup, question: Question) -> tuple[Question, str]:
    """Return a question with its existing name, or with the names meant by a part or misspelling and a note.

    Unchanged if it is no name, or if nothing has or mentions any name that it may be.
    """
    if question.places or not (question.symbol or question.notations or question.declared):
        return question, ""
    if symbol := meant_name(lookup, question):
        return replace(question, symbol=symbol, definitions=definitions_term(symbol)), ""
    if not question.symbol:
        return question, ""
    generation = lookup.generation
    (mentioning,) = generation.store.search([Nearest(TERMS, question.mentions, 1)])
    if mentioning:
        return question, ""
    meant = names_almost(generation.manifest.names, question.symbol)
    note = f"no symbol is called {question.symbol}: the nearest follow" if meant else ""
    return replace(question, calls=(*question.calls, *meant)), note


def _of_paths(generation: Generation, paths: Sequence[str], keep: PointFilter | None) -> Pinned:
    """Return the chunks of a file, or the first of each of several."""
    rows = [[row for row in generation.manifest.chunks_of(path) if counts(row, keep)] for path in paths]
    chosen = rows[0] if len(paths) == 1 else [it[0] for it in rows if it]
    return Pinned(tuple(row.id for row in chosen)[:_MOST_CHUNKS], {})


def _at_places(
    lookup: NameLookup, tree: TreePaths, places: Sequence[NamedPlace], text: str, keep: PointFilter | None
) -> Pinned:
    generation = lookup.generation
    matches = of_project([tree.of(place.path) for place in places])
    if not any(matches):
        if pinned := _of_built(lookup, places, keep):
            return pinned
        matches = [tree.alone(place.path) for place in places]
    paired = zip(places, matches, strict=True)
    found = [it for place, of_place in paired for it in _files(generation, place, of_place, text)]
    lines: dict[str, int] = {}
    called: dict[str, tuple[ChunkRow, NamedPlace]] = {}
    for named in _first_of_each_stack(found):
        it = named._replace(place=with_quoted_line(generation, named.place, named.rows))
        at = _moved(generation, it) or _rows_at(it)
        if not at and len(places) == 1:
            # The file was longer, or its lines don't matter.
            at = [*it.rows] if not it.place.first else [*it.rows[-1:]]
        for row in (row for row in at if counts(row, keep)):
            is_within = row.start_line <= it.place.first <= row.end_line
            lines.setdefault(row.id, it.place.first if is_within else row.start_line)
            if it.place.function:
                called.setdefault(row.id, (row, it.place))
        if len(lines) >= _MOST_CHUNKS:
            break
    lines |= _of_functions(generation, called)
    return Pinned(tuple(lines)[:_MOST_CHUNKS], lines)


def _of_functions(generation: Generation, called: Mapping[str, tuple[ChunkRow, NamedPlace]]) -> dict[str, int]:
    """Return the lines of functions, by id of their chunk, for places outside of their function."""
    lines: dict[str, int] = {}
    payloads = generation.store.payloads([*called], ["definitions"]) if called else {}
    for name, (row, place) in called.items():
        defined = read_definitions(payloads.get(name, {}).get("definitions", ""))
        own = [it for it in defined if last_part(it.name) == place.function]
        if len(own) == 1 and not own[0].first <= place.first - row.start_line <= own[0].last:
            lines[name] = row.start_line + (own[0].line or own[0].first)
    return lines


def _of_operator(lookup: NameLookup, symbol: str, keep: PointFilter | None) -> Pinned:
    """Return the chunks defining an operator; files with a role come last."""
    generation = lookup.generation
    rows = generation.manifest.chunks([it.id for it in lookup.defining(symbol)])
    kept = [row for row in rows.values() if counts(row, keep)]
    kept.sort(key=lambda row: (generation.role_of(row.path) is not None, row.path, row.start_line))
    return Pinned(tuple(row.id for row in kept)[:_MOST_CHUNKS], {})


def _of_calls(generation: Generation, question: Question, keep: PointFilter | None) -> Pinned:
    """Return the chunks defining a trace's functions with few namesakes, or the possible targets of a name."""
    searches = [Nearest(TERMS, label_term(name_key(call)), MOST_NAMESAKES, keep) for call in question.calls]
    few = _MOST_CHUNKS if question.symbol else _FEW_NAMESAKES
    chunks: list[Candidate] = []
    for call, found in zip(question.calls, generation.store.search(searches) if searches else (), strict=True):
        defining = [it for it in generation.candidates.of(found) if _is_defined(it, call)]
        if len(defining) <= few:
            chunks += sorted(defining, key=lambda it: (it.path, it.position))
    if question.symbol:
        chunks.sort(key=lambda it: it.role is not None)
    return Pinned(tuple(dict.fromkeys(it.id for it in chunks))[:_MOST_CHUNKS], {})


def _is_defined(chunk: Candidate, call: str) -> bool:
    """Whether a chunk defines a function within its type, module or file."""
    outer, _, name = call.rpartition(".")
    within = outer.rpartition(".")[2]
    parts = PurePosixPath(chunk.path).with_suffix("").parts
    defined = [chunk.defines[number] for number in fitting(chunk.defines, call, chunk.path)]
    return any(not within or within in it or within in parts for it in defined) or (
        parts[-1] == within and name in map(last_part, chunk.defines)
    )


def _files(generation: Generation, place: NamedPlace, matches: Sequence[Match], text: str) -> list[_Found]:
    """Return the chunks of the files a place may mean; of several those where its function is, or its package."""
    files = [_Found(place, generation.manifest.chunks_of(match.path), match.grade) for match in matches]
    files = [it for it in files if it.rows]
    # A function tells more than a folder, a folder more than words of a message.
    files = files if place.function else _in_named_folder(files, text)
    # A message of a compiler names files from the root.
    is_of_root = place.leads and any(match.grade > _WHOLE for match in matches)
    is_bare = "/" not in place.path and _WORD.search(place.near) and not is_of_root
    lacks_root = any(lacks_root_package(place.path, match.path) for match in matches)
    if len(files) < 2 and not (is_bare or lacks_root):  # noqa: PLR2004 - one file is the one
        return files
    fits = [max((_fit(row, place) for row in _rows_at(it)), default=-1) for it in files]
    if lacks_root:
        # A function may begin in the chunk before.
        fits = [2 * fit + any(_fit(row, place) > 1 for row in it.rows) for it, fit in zip(files, fits, strict=True)]
    best = [it for it, fit in zip(files, fits, strict=True) if fit == max(fits)]
    best = [it for it in best if it.grade == max(each.grade for each in best)]
    # A library may have a file of the same name, with other functions in it.
    is_doubtful = (is_bare or lacks_root) and max(fits, default=0) <= 0
    best = _in_named_folder(best, text) if place.function else best
    return [it._replace(grade=1) for it in best] if is_doubtful else best


def _in_named_folder(files: list[_Found], text: str) -> list[_Found]:
    """Return the files in the package named in a text; all if it names none.

    Tools of monorepos print paths from the package's folder: "@acme/cookie:build: src/index.ts(10,5)".
    """
    if len(files) < 2:  # noqa: PLR2004 - one file is the one
        return files
    words = {*_FOLDER.findall(text[:_MOST_CHARACTERS])}
    named = [sum(part in words for part in _outer_folders(it)) for it in files]
    return [it for it, count in zip(files, named, strict=True) if count == max(named)]


def _outer_folders(found: _Found) -> Sequence[str]:
    asked = [part for part in found.place.path.split("/") if part not in {"", ".", ".."}]
    return found.rows[0].path.split("/")[: -len(asked) or None]


def _of_built(lookup: NameLookup, places: Sequence[NamedPlace], keep: PointFilter | None) -> Pinned | None:
    """Return the chunks defining functions of built packages: "@acme/cookie/dist/index.js" has other lines."""
    lines: dict[str, int] = {}
    for place in places:
        if not (place.function and (built := _BUILT.search(place.path))):
            continue
        chunks = [it for it in lookup.defining(place.function) if built["package"] in it.path.split("/")[:-1]]
        # Only the program's, if there are any: tests and examples have a role.
        own = [it for it in chunks if it.role is None] or chunks
        rows = lookup.generation.manifest.chunks([it.id for it in own]) if len(own) == 1 else {}
        lines |= {row.id: row.start_line for row in rows.values() if row.id not in lines and counts(row, keep)}
    return Pinned(tuple(lines), lines) if lines else None


def _fit(row: ChunkRow, place: NamedPlace) -> int:
    """Grade 2 if the words beside a place name a definition of the chunk, 1 if the lines around do."""
    own, _, around = place.near.partition("\n")
    names = {word for name in (row.symbol, *row.defines) for word in _WORD.findall(last_part(name))}
    return 2 * (not names.isdisjoint(_WORD.findall(own))) or int(not names.isdisjoint(_WORD.findall(around)))


def _first_of_each_stack(found: Sequence[_Found]) -> Iterator[_Found]:
    """Yield the innermost of each trace, then all others; partly fitting files come last."""
    ordered = sorted(found, key=lambda it: it.grade < 2)  # noqa: PLR2004 - see Match
    first = {it.place.stack: it for it in reversed(ordered)}
    yield from (first[stack] for stack in sorted(first))
    yield from ordered


def counts(row: ChunkRow, keep: PointFilter | None) -> bool:
    """Whether a filter keeps a chunk; None keeps all."""
    if keep is None:
        return True
    is_there = row.path in keep.paths or any(row.path.startswith(f"{folder}/") for folder in keep.folders)
    is_asked = is_there or not (keep.paths or keep.folders)
    is_kind = row.language in (keep.languages or {row.language}) and row.kind in (keep.kinds or {row.kind})
    return is_asked and is_kind and row.path not in keep.not_paths and not keep.nothing


def _rows_at(found: _Found) -> list[ChunkRow]:
    """Return the chunks with one of the lines; else the next one, or past the end of the file its function's."""
    rows, place = found.rows, found.place
    if not place.first or place.first > rows[-1].end_line:
        # The test named, or another version of the file.
        said = {*_WORD.findall(place.near.partition("\n")[0])}
        named = [row for row in rows if place.function and any(it.endswith(place.function) for it in row.defines)]
        return (named or [row for row in rows if any(last_part(name) in said for name in row.defines)])[:1]
    at = _with_lines(rows, place)
    # Chunks of a tree contain each other: the smallest is the most exact.
    at.sort(key=lambda row: (row.end_line - row.start_line) if place.first == place.last else row.start_line)
    return at or [row for row in rows if row.start_line > place.first][:1]


def _with_lines(rows: Sequence[ChunkRow], place: NamedPlace) -> list[ChunkRow]:
    return [row for row in rows if row.start_line <= place.last and row.end_line >= place.first]


def _moved(generation: Generation, found: _Found) -> list[ChunkRow]:
    """Return the chunk of a place's function where its line is in another one now: a trace is of an older version."""
    rows, place = found.rows, found.place
    if not (place.first and place.function):
        return []
    defining = [row for row in rows if any(last_part(name) == place.function for name in row.defines)]
    at = _with_lines(rows, place)
    # Of several namesakes, such as overloads, none is surely meant.
    if len(defining) != 1 or not at or defining[0] in at:
        return []
    # A function without a name of its own may be there, such as one of an anonymous class.
    texts = generation.store.payloads([row.id for row in at], ["text"])
    said = "\n".join([*(row.symbol for row in at), *(str(it.get("text", "")) for it in texts.values())])
    return [] if place.function in _WORD.findall(said) else [*defining, *at]
