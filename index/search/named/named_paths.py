"""Read a path, the name of a file or a glob: the files meant, or a note that there are none."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError
from cqm.index.ranking.question import Question
from cqm.index.search.named.defining import NameLookup, is_defined
from cqm.index.search.named.tree_paths import PARTLY, Match, TreePaths, tree_of
from cqm.index.text.addresses import plain_path
from cqm.index.text.globs import has_wildcard
from cqm.index.text.names.parts import dotted, last_part
from cqm.index.text.places import path_in
from cqm.index.text.reports.listings import listed_paths
from cqm.index.text.terms import SparseTerms

_LONGEST = 400
_MOST_FILES = 10
"""Most files of one name to come first: a page of results."""
_MOST_OF_GLOB = 50
_SHORTEST_OUTER = 3
"""Characters of a variable's name telling its type: "resp" is a ClientResponse."""
_NO_TERMS = SparseTerms((), ())
_GLOB = re.compile(r"[\w./\\@+{}!,-]*[*?\[{]\S*")
_ENDING = re.compile(r"[^\n]*[\w)\]}]\.\w{1,10}")
_RELATIVE = re.compile(r"[`'\"<]?(?:\.{1,2}|~)/")
_QUOTED = re.compile(r"[`'\"<][^\n]+[`'\">]")
_OF_DIFF = re.compile(r"[ab]/[^/]+$")
_ABSOLUTE = re.compile(r"(?:[A-Za-z]:)?/")
_NUMBER = re.compile(r"\d+")
_MEMBERS = frozenset({"env", "text", "config", "properties", "http", "log", "make", "data", "as", "el"})
"""Endings of files, and names of members as well: `process.env`."""


class NamedPaths(NamedTuple):
    """The files named by a question.

    Attributes:
        question: without the name of a symbol, if it names files instead.
        paths: best first; several for a name of several files, or a glob.
        note: told to the user, if nothing has the path.
        is_missing: whether it names a file that is not there; `paths` then have almost its name.
    """

    question: Question
    paths: tuple[str, ...] = ()
    note: str = ""
    is_missing: bool = False


def read_paths(lookup: NameLookup, question: Question, root: str) -> NamedPaths:
    """Read a question as a path of the index, the end of one, or a glob."""
    generation, text = lookup.generation, question.text.strip()
    if not question.places and (listed := _of_listing(generation, question, root)):
        return NamedPaths(without_names(question), listed)
    if not text or "\n" in text or len(text) > _LONGEST:
        return NamedPaths(question)
    plain = plain_name(text)
    exact = next((path for path in dict.fromkeys((text, plain)) if generation.manifest.chunks_of(path)), "")
    if question.places and not exact:
        return _of_place(lookup, question, root)
    is_file = bool(path_in(text) or _ENDING.fullmatch(plain) or "/" in plain or _GLOB.fullmatch(plain))
    if not is_file and not exact:
        return _of_word(lookup, question, plain, root)
    # Most texts with blanks are sentences, which may end with a path.
    is_sentence = " " in plain and not exact and not _ABSOLUTE.match(plain)
    is_other = is_sentence and not tree_of(generation, root).has_part(f"/{plain}")
    if is_other or (not is_file and is_symbol(lookup, question, root)):
        return NamedPaths(question)
    return _of_file(lookup, question, plain, exact, root)


def _of_listing(generation: Generation, question: Question, root: str) -> tuple[str, ...]:
    """Return the files of a tool's listing, as far as the index has them."""
    listed = listed_paths(question.text)
    tree = tree_of(generation, root) if listed else None
    best = (next(iter(tree.of(plain_path(path))), None) for path in listed) if tree else ()
    paths = dict.fromkeys(it.path for it in best if it and it.grade > PARTLY)
    with_chunks = {*generation.manifest.paths(paths)}
    return tuple(path for path in paths if path in with_chunks)


def _of_file(lookup: NameLookup, question: Question, plain: str, exact: str, root: str) -> NamedPaths:
    """Read a text that looks like a path or a glob; `exact` is the file with this path."""
    if exact and "/" in plain:
        return NamedPaths(without_names(question), (exact,))
    generation = lookup.generation
    tree = tree_of(generation, root)
    asked = path_in(question.text) or plain
    without = without_names(question)
    first = [exact] if exact else _of_glob(generation, plain)
    named = _files_of(generation, tree, asked, plain) if exact or not first else []
    if found := tuple(dict.fromkeys([*first, *(it.path for it in named)])):
        if not any(map(generation.manifest.chunks_of, found)):
            return NamedPaths(without, (), f"{found[0]} is empty or left out of the index", is_missing=True)
        is_whole = first or named[0].grade > PARTLY or _ABSOLUTE.match(asked) or _OF_DIFF.match(asked)
        return NamedPaths(without, found) if is_whole else _missing(without, plain, found)
    if " " in plain:
        return NamedPaths(question)
    if tree.has_folder(plain.rstrip("/")):
        return NamedPaths(question) if is_symbol(lookup, question, root) else _as_words(question, plain)
    return _without_file(lookup, question, without, tree, root)


def plain_name(text: str) -> str:
    """Return a path as the index has it: without quotes, the "@" of a mention, and "./"."""
    plain = text.strip().replace("\\", "/")
    if _QUOTED.fullmatch(plain):
        plain = plain[1:-1]
    plain = plain[1:] if plain.startswith("@") and not plain.startswith("@/") else plain
    return plain.removeprefix("./").strip()


def has_usual_ending(path: str) -> bool:
    """Whether a path ends as files do: "app.py", "notes.txt", not "Client.get" or "process.env"."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    # The method of `c.JSON` is no ending; README.MD has one.
    is_spelled_so = ending == ending.lower() or name == name.upper() or len(ending) == 1
    is_ending = is_spelled_so and ("/" in path or ending not in _MEMBERS)
    return bool(stem and dot) and is_ending and bool(path_in(name))


def is_symbol(lookup: NameLookup, question: Question, root: str) -> bool:
    """Whether a path-like question names a symbol: its exact last part, within the thing named by its outer part.

    "response.json" may be a method of a class Response, and "gin/Context" a type in a folder gin.
    """
    if not question.symbol:
        return False
    outer, _, name = question.symbol.rpartition(".")
    outer = outer.rpartition(".")[2]
    for chunk in lookup.of(question.symbol):
        around = {*re.split(r"[/.]", chunk.path), root.rpartition("/")[2]} if outer else set[str]()
        for defined in chunk.defines:
            owners = dotted(defined).split(".")
            if last_part(defined) == name and (not outer or outer in around or _is_of(outer, owners[:-1])):
                return True
    return False


def _is_of(outer: str, owners: Sequence[str]) -> bool:
    is_telling = len(outer) >= _SHORTEST_OUTER
    return any(outer == it or (is_telling and outer.lower() in it.lower()) for it in owners)


def without_names(question: Question) -> Question:
    """Return a question without the name of a symbol."""
    return replace(question, symbol="", definitions=_NO_TERMS, notations=(), declared=())


def _of_glob(generation: Generation, plain: str) -> list[str]:
    if not has_wildcard(plain):
        return []
    try:
        return sorted(generation.paths.matching([plain], are_chunked=False))[:_MOST_OF_GLOB]
    except QueryError:
        return []


def _files_of(generation: Generation, tree: TreePaths, asked: str, plain: str) -> list[Match]:
    """Return the files a path may mean, nearest the root first, then by their roles."""
    matches = next(filter(None, map(tree.of, (asked, plain))), [])
    # The case of a name without a usual ending counts: it may be a symbol's.
    is_usual = has_usual_ending(asked) or "/" in asked
    matches = [it for it in matches if is_usual or f"/{it.path}".endswith(f"/{plain}")]
    ordered = sorted(matches, key=lambda it: (it.path.count("/"), generation.role_of(it.path) is not None, it.path))
    return ordered[:_MOST_FILES]


def _of_word(lookup: NameLookup, question: Question, plain: str, root: str) -> NamedPaths:
    """Read a word as the name of files without an ending, such as LICENSE, if no symbol has the name."""
    if not question.symbol or "." in question.symbol:
        return NamedPaths(question)
    of_name = tree_of(lookup.generation, root).by_name.get(plain.lower(), ())
    paths = [it for it in of_name if it.endswith(f"/{plain}")]
    if not paths or lookup.of(question.symbol):
        return NamedPaths(question)
    paths.sort(key=lambda path: (path.count("/"), path))
    return NamedPaths(without_names(question), tuple(paths[:_MOST_FILES]))


def _of_place(lookup: NameLookup, question: Question, root: str) -> NamedPaths:
    """Note if a question is a place in no file, or in a file without chunks."""
    lines = question.lines
    if len(question.places) > 1 or not has_usual_ending(question.places[0].path):
        return NamedPaths(question)
    tree = tree_of(lookup.generation, root)
    asked = dict.fromkeys([*([lines.path] if lines else []), question.places[0].path])
    if found := [it.path for path in asked for it in tree.of(path) or tree.alone(path)]:
        if any(map(lookup.generation.manifest.chunks_of, found)):
            return NamedPaths(question)
        # The other words of a message may still be found.
        is_alone = " " not in question.text.strip()
        return NamedPaths(question, (), f"{found[0]} is empty or left out of the index", is_missing=is_alone)
    if not lines:
        return NamedPaths(question)
    return _without_file(lookup, question, question, tree, root, plain_name(lines.path))


def _without_file(
    lookup: NameLookup, question: Question, without: Question, tree: TreePaths, root: str, plain: str = ""
) -> NamedPaths:
    """Read a path of no file: as the name of a symbol, if there is one."""
    plain = plain or plain_name(question.text)
    if "://" in plain:
        plain = path_in(plain) or plain
    if is_symbol(lookup, question, root):
        return NamedPaths(question)
    if has_usual_ending(plain):
        return _missing(without, plain, tree.near(plain))
    if _is_name(plain) or any(is_defined(lookup, it) for it in question.notations):
        return NamedPaths(question)
    if _is_anchored(tree, question.text.strip(), plain):
        return NamedPaths(without, is_missing=True)
    return _as_words(question, plain)


def _is_name(plain: str) -> bool:
    """Whether a text like a path is a name: "Client.get", "github.com/spf13/cobra.NoArgs", "Phoenix.Flash.get/2"."""
    outer, slash, last = plain.rpartition("/")
    own = last.rpartition(".")[2]
    return not slash or bool(_NUMBER.fullmatch(last)) or (own != last and ("." in outer or own != own.lower()))


def _is_anchored(tree: TreePaths, text: str, plain: str) -> bool:
    """Whether a text is plausibly the path of a file without an ending: from where one is, or in a known folder."""
    folder = plain.rpartition("/")[0]
    if "\\" in text or _RELATIVE.match(text):
        return True
    # A folder anywhere may have the name of a word, such as "text" of "text/html".
    return bool(folder) and tree.has_folder(folder, is_anywhere="/" in folder)


def _as_words(question: Question, plain: str) -> NamedPaths:
    """Take a text with a slash and no target as words: "application/json", "and/or", "/users/:id"."""
    return NamedPaths(replace(without_names(question), copied=(plain,)))


def _missing(without: Question, plain: str, near: Sequence[str]) -> NamedPaths:
    hint = ": the nearest follow" if near else ""
    return NamedPaths(without, tuple(near), f"no file of the index is called {plain}{hint}", is_missing=True)
