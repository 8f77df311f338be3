"""Find the possible definitions of a name, and the preferred ones."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.model.uses import Definition
from cqm.index.search.named.almost import names_almost
from cqm.index.search.named.defining import NameLookup
from cqm.index.search.usages.resolve import Name, chosen, is_namesake
from cqm.index.text.declarations import is_bare, signature_of
from cqm.index.text.names.parameters import fit, parameters_in
from cqm.index.text.names.parts import name_key
from cqm.index.text.stored_definitions import read_definitions

_MOST_NEAR = 3
_COLUMNS = ("id", "path", "language", "start_line")
_WITH_BARE = frozenset({"c", "cpp", "objc"})
"""Languages whose symbols are declared in one file and defined in another."""

_FIELDS = frozenset({"property", "variant"})


class Found(NamedTuple):
    """A definition of the index.

    Attributes:
        definition: with its signature.
        is_bare: whether it is a prototype of C, defined elsewhere.
        is_aside: whether its file is a test, an example, generated or has another role.
    """

    definition: Definition
    is_bare: bool
    is_aside: bool


def definitions_named(lookup: NameLookup, name: Name) -> list[Found]:
    """Return the definitions with the last part of a name, by path and line: as written, else in any spelling."""
    key = name_key(name.qualified)
    every = _definitions_in(lookup.generation, [it.id for it in lookup.of(name.qualified)])
    if name.word:
        found = [it for it in every if name_key(it.definition.symbol) == key]
    else:
        found = [it for it in every if is_namesake(it.definition.symbol, name)]
    found = list({(it.definition.path, it.definition.symbol, it.definition.line): it for it in found}.values())
    found.sort(key=lambda it: (it.definition.path, it.definition.start_line, -it.definition.end_line))
    exact = [it for it in found if is_namesake(it.definition.symbol, name)]
    return exact or found


def _definitions_in(generation: Generation, ids: Sequence[str]) -> Iterator[Found]:
    rows = generation.manifest.columns_of(ids, _COLUMNS)
    payloads = generation.store.payloads([row[0] for row in rows], ["text", "definitions"])
    for id_, path, language, start in rows:
        payload = payloads.get(id_, {})
        if source_type_of(language) != CODE:
            continue
        lines = str(payload.get("text", "")).split("\n")
        for it in read_definitions(payload.get("definitions", "")):
            signature = signature_of(lines[it.first :], it)
            bounds = start + it.first, start + it.last
            whole = Definition(path, *bounds, it.name, it.kind, signature, line=start + it.line)
            is_prototype = language in _WITH_BARE and is_bare(it, lines, language)
            yield Found(whole, is_prototype, generation.role_of(path) is not None)


def preferred(found: Sequence[Found], name: Name, base: str) -> list[Definition]:
    """Return the likeliest definitions of a name: one, or several equally likely.

    A whole name comes before a part of one; a definition before its prototype, its own members of the same name, and
    fields; source before tests, examples and generated code; of overloads, those with the parameters asked for.

    Parameters:
        found: with the last part of the name.
        base: a file or folder to look in first; empty for none.
    """
    parameters = parameters_in(name.asked)
    places = chosen([(it.definition.path, it.definition.symbol) for it in found], name)
    left = [it for n, it in enumerate(found) if n in places]
    left = [it for it in left if not any(_is_inside(it.definition, other.definition) for other in left)]
    for is_better in (
        lambda it: bool(base) and (it.definition.path == base or it.definition.path.startswith(f"{base}/")),
        lambda it: not it.is_bare,
        lambda it: it.definition.kind not in _FIELDS,
        lambda it: not it.is_aside,
        lambda it: it.definition.symbol == name.qualified,
    ):
        left = [it for it in left if is_better(it)] or left
    fits = [fit(parameters, it.definition.signature, it.definition.signature) for it in left]
    left = [it for it, grade in zip(left, fits, strict=True) if grade == max(fits)]
    return [it.definition for it in left]


def _is_inside(it: Definition, other: Definition) -> bool:
    if it.path != other.path or it is other:
        return False
    is_longer = (other.end_line - other.start_line) > (it.end_line - it.start_line)
    return is_longer and other.start_line <= it.start_line and it.end_line <= other.end_line


def near_names(generation: Generation, name: Name) -> list[str]:
    """Return a few qualified names of symbols with this beginning or almost this spelling."""
    return names_almost(generation.manifest.names, name.qualified)[:_MOST_NEAR]
