"""Find the chunks defining a symbol, and the name of a question known to the index."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.exact import defining
from cqm.index.ranking.question import Question, definitions_term
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.names.notations import is_hyphenated
from cqm.index.text.names.parts import dotted, is_operator, last_part, name_key, spellings_of, with_sign
from cqm.index.text.names.standard import container_of

MOST_NAMESAKES = 500
"""Chunks to look at, defining symbols with one name."""
_NAMESPACE = re.compile(r"^[ \t]*+(?:namespace|package|module)[ \t]++([\w.\\:]{1,200})", re.MULTILINE)
_NOT_OF_PATH = re.compile(r"[^\w/]|_")
_FIRST_CHUNKS = range(3)
"""First chunks of a file, for its namespace: a licence may stand above it."""
_MOST_FILES = 20
"""Files looked into for their namespaces."""


class NameLookup:
    """The chunks defining names of one question; each name is looked up once."""

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self._found: dict[str, list[Candidate]] = {}

    def of(self, symbol: str) -> list[Candidate]:
        """Return the chunks defining something with the last part of a symbol; operators too."""
        key = "" if is_operator(symbol) else name_key(symbol)
        asked = key or last_part(symbol)
        if asked not in self._found:
            ids = self._of_word(symbol) if key else self._of_sign(symbol)
            self._found[asked] = self.generation.candidates.of(ids)
        return self._found[asked]

    def defining(self, symbol: str) -> list[Candidate]:
        """Return the chunks defining "a.b.c"; it may lack outer parts, or begin with a package."""
        return defining(self.of(symbol), symbol)

    def _of_word(self, symbol: str) -> list[str]:
        (scores,) = self.generation.store.search([Nearest(TERMS, definitions_term(symbol), MOST_NAMESAKES)])
        return [*scores]

    def _of_sign(self, symbol: str) -> list[str]:
        """Return the ids of chunks defining an operator or "_": neither is a word, so no term has it."""
        rows = (row for name in spellings_of(symbol) for row in self.generation.manifest.defining(name))
        return [*dict.fromkeys(row.id for row in rows if source_type_of(row.language) == CODE)]


def meant_name(lookup: NameLookup, question: Question) -> str:
    """Return the first defined name of a question; empty if none is defined.

    The plain name comes first where it is defined exactly so and no notation tells more.
    """
    symbol = question.symbol
    plain = lookup.defining(symbol) if symbol else []
    is_longest = all(len(symbol) >= len(it) for it in question.notations)
    if is_longest and are_so(plain, symbol):
        return symbol
    if found := next((it for it in question.notations if is_defined(lookup, it)), ""):
        return found
    if plain:
        return symbol
    # A line of code has the exact spelling of its name.
    written = (it for it in question.declared if are_so(lookup.defining(it), it))
    return next(written, "") or _with_companion(lookup, symbol) or _in_its_namespace(lookup, symbol)


def is_defined(lookup: NameLookup, name: str) -> bool:
    """Whether something has a name; one with hyphens only in its spelling, as others may be words: "read-only"."""
    found = lookup.defining(name)
    return are_so(found, name) if is_hyphenated(name) else bool(found)


def are_so(chunks: Sequence[Candidate], symbol: str) -> bool:
    """Whether one of some chunks defines a symbol in its exact spelling."""
    asked = f".{with_sign(symbol)}"
    return any(f".{with_sign(dotted(name))}".endswith(asked) for it in chunks for name in it.defines)


def has_container(generation: Generation, chunk: Candidate, symbol: str, root: str) -> bool:
    """Whether a chunk has to do with what encloses a qualified name: its definitions, path, namespace or project.

    Parameters:
        generation: that has the chunk.
        chunk: to look at.
        symbol: with "." between its parts, two or more.
        root: folder of the project.
    """
    outer = f"/{_spelled(container_of(symbol))}/"
    around = (dotted(name).rpartition(".")[0].replace(".", "/") for name in chunk.defines)
    file = str(PurePosixPath(chunk.path).with_suffix(""))
    if any(outer in f"/{_spelled(it)}/" for it in (file, PurePosixPath(root).name, *around)):
        return True
    return any(outer in f"/{_spelled(it.replace('.', '/'))}/" for it in _namespaces(generation, chunk.path))


def _spelled(name: str) -> str:
    return _NOT_OF_PATH.sub("", name).lower()


def _with_companion(lookup: NameLookup, symbol: str) -> str:
    """Return the name of a member of a type's companion or nested type, called by the type alone; empty if none is."""
    parts = symbol.split(".")
    if len(parts) < 2 or not parts[-2][:1].isupper():  # noqa: PLR2004 - a type and its member
        return ""
    names = (dotted(name).split(".") for it in lookup.of(symbol) for name in it.defines)
    found = {".".join(it[-3:]) for it in names if it[-1] == parts[-1] and it[-3:-2] == [parts[-2]]}
    return found.pop() if len(found) == 1 else ""


def _in_its_namespace(lookup: NameLookup, symbol: str) -> str:
    """Return a name without the namespace stated in its file but in no folder; empty for none.

    `GuzzleHttp.Client` is `Client` in src/Client.php with `namespace GuzzleHttp;`.
    """
    defined = ((it.path, dotted(name)) for it in lookup.of(symbol) for name in it.defines)
    inner_names = dict.fromkeys((path, name) for path, name in defined if symbol.endswith(f".{name}"))
    for path, inner in islice(inner_names, _MOST_FILES):
        outer = symbol.removesuffix(f".{inner}")
        if any(f".{it}".endswith(f".{outer}") for it in _namespaces(lookup.generation, path)):
            return inner
    return ""


def _namespaces(generation: Generation, path: str) -> Iterator[str]:
    """Yield the namespaces stated at the beginning of a file, with "." between their parts."""
    ids = [id_ for (id_,) in generation.manifest.columns_near(path, _FIRST_CHUNKS, ("id",))]
    for payload in generation.store.payloads(ids, ["text"]).values():
        yield from (dotted(it) for it in _NAMESPACE.findall(str(payload.get("text", ""))))
