"""Filters written in a question, as in `lang:go path:src/** retries`, and other names of languages and kinds."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import PurePath

from cqm.chunkers.detect import TEXT, known_languages, language_of
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.source_types import CODE, CONFIG, DATA, DOCUMENTATION, ISSUE, JAVADOC, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.manifest.facts import COMPLETE_FACT
from cqm.index.model.errors import FilterError, QueryError
from cqm.index.model.query import Query
from cqm.index.search.asked_paths import fits, near_paths, read_globs
from cqm.index.search.candidates import point_filter
from cqm.index.search.filter_words import FILTER, is_filter, notes_on_words
from cqm.index.store.base import PointFilter
from cqm.index.text.globs import from_root
from cqm.index.text.pasted import plain_text
from cqm.index.text.stored_definitions import read_definitions

_LANGUAGES = {
    "golang": "go",
    "c++": "cpp",
    "c#": "csharp",
    "f#": "fsharp",
    "objective-c": "objc",
    "shell": "bash",
    "txt": TEXT,
}
_KINDS = {
    **dict.fromkeys(("func", "fn", "def"), "function"),
    "const": "constant",
    "field": "property",
    # Kinds of Swift and Java, then of Scala and Kotlin, if the index has no such kind.
    **dict.fromkeys(("protocol", "annotation"), "interface"),
    "object": "class",
}
_KNOWN_KINDS = frozenset(
    re.findall(
        r"\w+",
        "block class code command component constant constructor directive element enum event exception fragment"
        " function imports interface job key macro message method mixin module namespace operation property reference"
        " resource rule schema section statement step struct target template test text trait type variable variant",
    )
)
"""Kinds of chunks and of definitions in them; an index may have more."""
_SOURCES = frozenset({CODE, CONFIG, DATA, DOCUMENTATION, ISSUE, JAVADOC})
_ISSUE = re.compile(r"[#!]?(\d{1,7}|[\w./-]{1,200}#\d{1,7})")
_GLOB = re.compile(r"[*?\[]")
_MOST_GLOBS = 5_000
"""In one question: reading 100,000 took 7 s."""
_MOST_NAMED = 12
_MOST_LOOKED = 50_000
"""Chunks to look into before a filter is said to leave nothing."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """A query with the filters of its text as its own.

    Attributes:
        told: the reason for each filter taken as words; empty without any.
        written: filters of the text, as written there.
    """

    query: Query
    told: str = ""
    written: tuple[str, ...] = ()


def with_filters(generation: Generation, query: Query, root: str) -> Filtered:
    """Move the filters of a question's text into the query, and name languages, kinds and paths as the index does.

    `path:test` keeps paths with "test" in them, `path:src/**` those matching the glob, `-path:` leaves them out.
    `sym:Bind` asks for the name. A question of several lines is taken as it is.

    Parameters:
        query: as asked.
        root: of the index, absolute.

    Raises:
        QueryError: the text has only filters, or a filter fits nothing in the index.
    """
    root = PurePath(root).as_posix()
    query = _named(generation, query, root)
    is_line = ":" in query.text and "\n" not in plain_text(query.text).strip()
    found = [it for it in FILTER.finditer(query.text) if is_filter(it[2], it[3])] if is_line else []
    query, left, written, notes = _read_filters(generation, query, found, root)
    text = " ".join(left.split()) if found else query.text
    # A question for an issue alone is one for its number.
    text = text or " ".join(f"#{name.rpartition('#')[2]}" for name in query.issues)
    if written and not text:
        raise QueryError(
            f"`{' '.join(written)}` only narrows a search: expected a question beside it.",
            remedy="Add words or a name. `outline` lists the symbols of a path, and mode regex with `.` its lines.",
        )
    notes += notes_on_words(text) if is_line else []
    query = replace(query, text=text)
    check_filters(generation, query)
    return Filtered(query, "; ".join(notes), tuple(written))


def _read_filters(
    generation: Generation, query: Query, found: Iterable[re.Match[str]], root: str
) -> tuple[Query, str, list[str], list[str]]:
    """Return the query with the filters of its text, the remaining text, those filters, and notes on non-filters."""
    left, written, notes = query.text, list[str](), list[str]()
    for filtered in found:
        is_not, name, value = bool(filtered[1]), filtered[2], filtered[3].strip('"')
        narrowed = _narrowed(generation, query, name, value, root, is_not=is_not)
        is_name = name in {"sym", "symbol"} and not is_not
        if narrowed is None and not is_name:
            notes.append(f"`{filtered[0]}` is taken as words: {_reason(generation, name, value, is_not=is_not)}")
            continue
        query = narrowed or query
        written += [] if is_name else [filtered[0]]
        left = left.replace(filtered[0], value if is_name else "", 1)
    return query, left, written, notes


def with_leading_filters(generation: Generation, query: Query, root: str) -> Filtered:
    """Move the filters before a text to find into the query, and name languages, kinds and paths as the index does.

    Only filters in front count, each with a space behind it, and only if something follows: the text itself may look
    like one. `sym:` and `issue:` are text.

    Parameters, Raises: as in `with_filters`.
    """
    root = PurePath(root).as_posix()
    query, written = _named(generation, query, root), list[str]()
    while (found := FILTER.match(query.text)) and "\n" not in query.text and is_filter(found[2], found[3]):
        rest, is_not, value = query.text[found.end() + 1 :], bool(found[1]), found[3].strip('"')
        is_text = found[2] == "issue" or not rest.strip()
        narrowed = None if is_text else _narrowed(generation, query, found[2], value, root, is_not=is_not)
        if narrowed is None:
            break
        written.append(found[0])
        query = replace(narrowed, text=rest)
    check_filters(generation, query)
    return Filtered(query, written=tuple(written))


def _named(generation: Generation, query: Query, root: str) -> Query:
    """Leave out blank filters, for all who ask, and name languages, kinds and paths as the index does.

    Raises:
        QueryError: there are too many globs.
    """
    for name, globs in (("include", query.include), ("exclude", query.exclude)):
        if len(globs) > _MOST_GLOBS:
            message = f"{name} has {len(globs):,} globs: expected at most {_MOST_GLOBS:,}."
            raise QueryError(message, remedy="Name the folders that hold the files, such as `src/**`.")
    include = read_globs(generation, root, _given(query.include))
    kinds = [kind.lower() for kind in _given(query.kinds)]
    # Only excluding globs keep everything else.
    denied = [glob[1:] for glob in include if glob.startswith("!")]
    denied = denied if len(denied) == len(include) else []
    return replace(
        query,
        languages=tuple(map(language_name, _given(query.languages))),
        kinds=tuple(_kind(generation, kind) for kind in kinds),
        sources=_given(query.sources),
        issues=_given(query.issues),
        include=() if denied else include,
        exclude=(*read_globs(generation, root, _given(query.exclude)), *denied),
    )


def _kind(generation: Generation, name: str) -> str:
    """Name a kind as the index does."""
    return name if name not in _KINDS or name in generation.manifest.counts("kind") else _KINDS[name]


def _given(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, names)))


def _narrowed(generation: Generation, query: Query, name: str, value: str, root: str, *, is_not: bool) -> Query | None:
    """Return the query with a filter; None for an unknown one."""
    if name == "path":
        is_not, value = is_not or value.startswith("!"), value.removeprefix("!")
        globs = _globs(generation, value, root)
        if is_not:
            return replace(query, exclude=(*query.exclude, *globs))
        return replace(query, include=(*query.include, *globs))
    if name == "issue":
        named = _ISSUE.fullmatch(value)
        return replace(query, issues=(*query.issues, named[1])) if named and not is_not else None
    kept = None if is_not else _kept(generation, name, value.lower())
    return _with(query, *kept) if kept else None


def language_name(name: str) -> str:
    """Name a language as the index does: "go" for "golang", "python" for "py"; others stay."""
    lowered = name.lower()
    known = _LANGUAGES.get(lowered, lowered)
    by_suffix = language_of(f"a.{known}")
    return known if known in BY_NAME or by_suffix == TEXT else by_suffix


def check_filters(generation: Generation, query: Query) -> None:
    """Refuse a language, kind or source unknown to both CQM and the index.

    Raises:
        FilterError: it names the nearest one, and those of the index.
    """
    for column, asked in (("language", query.languages), ("kind", query.kinds)):
        unknown = [name for name in asked if not _is_known(column, name)]
        there = generation.manifest.counts(column) if unknown else {}
        if there and (unknown := [name for name in unknown if name not in there]):
            raise _refused(column, unknown, there)
    if unknown := [name for name in query.sources if name not in _SOURCES]:
        raise _refused("source", unknown, sorted(_SOURCES))


def check_nothing(generation: Generation, filtered: Filtered) -> str:
    """Refuse languages, kinds and globs with nothing in a complete index, for a query without results.

    Returns:
        A note if the filters of the text leave nothing together; empty if they leave something to search.

    Raises:
        FilterError: it names those of the index, or the nearest folders and files.
    """
    query, manifest = filtered.query, generation.manifest
    if not manifest.fact(COMPLETE_FACT) or not manifest.chunk_count():
        return ""
    languages = manifest.counts("language") if query.languages else {}
    if languages and not set(query.languages) & set(languages):
        raise _refused("language", query.languages, languages)
    if query.kinds and not set(query.kinds) & set(manifest.counts("kind")):
        kinds = _kinds_there(generation)
        if kinds and not set(query.kinds) & set(kinds):
            raise _refused("kind", query.kinds, kinds)
    if query.include and not fits(generation, *query.include):
        written = [it for it in filtered.written if it.startswith("path:")] or query.include
        near = ", ".join(near_paths(generation, query.include[0]))
        quoted = " Put it in quotes to find the text." if filtered.written else ""
        raise FilterError(f"No file of the index is at `{' '.join(written)}`.", remedy=f"Near are {near}.{quoted}")
    is_left = not filtered.written or _is_any_left(generation, query)
    return "" if is_left else f"nothing is left by {' '.join(filtered.written)}"


def _is_any_left(generation: Generation, query: Query) -> bool:
    """Whether a chunk passes all filters of a query, or too many pass some to look into all of them."""
    keep = point_filter(generation, query)
    if keep is None or keep.nothing:
        return keep is None
    rows = generation.manifest.columns_below("", ("id", "path", "language"))
    # A glob may match thousands.
    paths, denied = frozenset(keep.paths), frozenset(keep.not_paths)
    ids = [id_ for id_, path, language in rows if path not in denied and _passes(keep, paths, path, language)]
    if not (keep.kinds or keep.issues) or len(ids) > _MOST_LOOKED:
        return bool(ids)
    # Only the store has the kinds of all definitions in a chunk, and its issues.
    wanted = [(name, asked) for name, asked in (("kind", {*keep.kinds}), ("issues", {*keep.issues})) if asked]
    payloads = generation.store.payloads(ids, [name for name, _ in wanted])
    return any(all(not asked.isdisjoint(it.get(name, ())) for name, asked in wanted) for it in payloads.values())


def _passes(keep: PointFilter, paths: Collection[str], path: str, language: str) -> bool:
    is_there = path in paths or any(path.startswith(f"{folder}/") for folder in keep.folders)
    return (
        (is_there or not (paths or keep.folders))
        and language in (keep.languages or {language})
        and source_type_of(language) in (keep.sources or {source_type_of(language)})
    )


def _refused(column: str, asked: Sequence[str], there: Collection[str]) -> FilterError:
    given = ", ".join(asked)
    return FilterError(f"`{column} {given}`: expected one that the index has.", remedy=_remedy(asked[0], there))


def _kinds_there(generation: Generation) -> Sequence[str]:
    """Return the kinds of all chunks and of the definitions in them; empty for too many chunks to look into."""
    ids = [*generation.manifest.settled_chunks()]
    if len(ids) > _MOST_LOOKED:
        return ()
    kinds = Counter(generation.manifest.counts("kind"))
    for payload in generation.store.payloads(ids, ["definitions"]).values():
        kinds.update(it.kind for it in read_definitions(payload.get("definitions", "")))
    return [kind for kind, _ in kinds.most_common()]


def _is_known(column: str, name: str) -> bool:
    if column == "kind":
        return name in _KNOWN_KINDS
    return name in known_languages()


def _remedy(name: str, there: Collection[str]) -> str:
    names = ", ".join(islice(there, _MOST_NAMED))
    more = f" and {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
    near = get_close_matches(name, there, 1)
    return f"{f'Did you mean {near[0]}? ' if near else ''}There are {names}{more}."


def _kept(generation: Generation, name: str, value: str) -> tuple[str, str] | None:
    if name == "source":
        return ("sources", value) if value in _SOURCES else None
    field, column, asked = (
        ("kinds", "kind", _kind(generation, value))
        if name == "kind"
        else ("languages", "language", language_name(value))
    )
    is_known = _is_known(column, asked) or asked in generation.manifest.counts(column)
    return (field, asked) if is_known else None


def _with(query: Query, field: str, value: str) -> Query:
    match field:
        case "languages":
            return replace(query, languages=(*query.languages, value))
        case "kinds":
            return replace(query, kinds=(*query.kinds, value))
        case _:
            return replace(query, sources=(*query.sources, value))


def _reason(generation: Generation, name: str, value: str, *, is_not: bool) -> str:
    if is_not:
        return "only `-path:` leaves out"
    if name == "issue":
        return "expected a number, or owner/name#number"
    column = "language" if name == "lang" else name
    known = sorted(_SOURCES) if name == "source" else [*generation.manifest.counts(column)]
    return f"no {column} of that name is known. {_remedy(value.lower(), known)}"


def _globs(generation: Generation, value: str, root: str) -> tuple[str, ...]:
    """Make a part of a path globs; a folder's name stands for all in it."""
    written = value.replace("\\", "/")
    anchored = from_root(written, root)
    if _GLOB.search(anchored) or not anchored.strip("/."):
        return read_globs(generation, root, [anchored])
    inner = anchored.strip("/")
    if anchored.endswith("/"):
        whole = read_globs(generation, root, [f"{'/' if anchored.startswith('/') else '**/'}{inner}/**"])
        if fits(generation, *whole):
            return whole
    begins = "" if anchored.startswith("/") else "**/" if "/" in anchored else "**/*"
    globs = read_globs(generation, root, [f"{begins or '/'}{inner}*"])
    # A slash in front may mean the root, or only the beginning of a name.
    return globs if begins or fits(generation, *globs) else read_globs(generation, root, [f"**/{inner}*"])
