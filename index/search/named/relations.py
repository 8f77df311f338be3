"""Find the lines with the relation to a name asked for."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, PROSE_TYPES, source_type_of
from cqm.index.ranking.evidence import Candidate
from cqm.index.search.named.defining import NameLookup
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.names.parts import dotted, last_part
from cqm.index.text.relations.asked import AskedRelation, Relation
from cqm.index.text.relations.forms import BESIDE, OF_SYMBOLS, declared_below, tiers_of
from cqm.index.text.stored_definitions import read_definitions
from cqm.index.text.terms import query_terms

_MOST_CHUNKS = 400
_MOST_LINES, _MOST_USES = 20, 8
"""Chunks to come first; behind uses stands the definition, on the same page."""
_IMPORT = re.compile(
    r"^\s*(?:import|from|use|using|require|#\s*include|export\s*\{|package|@import)\b|^\s*(?://|#(?!\[)|\*|/\*)"
)
"""A line only importing a name, or a comment."""
_SHEETS = frozenset({"css", "scss", "less", "sass", "stylus", "vue", "svelte", "astro", "html"})
_ENGLISH = re.compile(r"(?:^|[/_.-])en(?:[_-]?(?:us|gb))?(?:[/_.-]|$)|/values/strings", re.IGNORECASE)
_BRITISH = re.compile(r"en[_-](?!us)[a-z]{2}", re.IGNORECASE)
_ASIDE = re.compile(r"(?:^|/)(?:\.[^/]|vendor/|third_party/|node_modules/)|\.(?:t|tmpl|stub|erb\.rb)$")
"""Hidden folders, others' programs, templates of programs."""
_OF_TEXTS = re.compile(r"lang|locale|i18n|l10n|intl|messages?|translations?|strings|values", re.IGNORECASE)
_OLD = re.compile(r"(?:^|[/_.-])(?:old|down|undo|rollback)(?:[/_.-]|$)", re.IGNORECASE)
_MANIFESTS = {
    "npm": ("package.json",),
    "composer": ("composer.json",),
    "make": ("makefile", "gnumakefile", ".mk"),
    "rake": ("rakefile", ".rake"),
    "just": ("justfile", ".just"),
}
_SCRIPTS = ("npm", "yarn", "pnpm", "bun")
_BASES_BEHIND = frozenset({
    "java", "kotlin", "scala", "groovy", "csharp", "swift", "c", "cpp", "objc", "php", "dart", "javascript", "jsx",
    "typescript", "tsx", "vue", "svelte", "astro",
})  # fmt: skip
"""Languages naming the bases of a type behind ":" or a word, before its body."""
_OF_MEMBERS = frozenset({Relation.USES, Relation.TESTS})
_ABSTRACT = re.compile(r"\babstract\b|\bUnimplemented|;\s*$")


class _At(NamedTuple):
    """A chunk, its first line with the relation, from 0, and the number of such lines."""

    chunk: Candidate
    line: int
    lines: int


def related_lines(lookup: NameLookup, asked: AskedRelation) -> dict[str, int]:
    """Return the lines with a relation to a name, by id of their chunk, best first; empty where none has it."""
    if asked.relation in {Relation.VALUE, Relation.OVERRIDES} and (defined := _of_definitions(lookup, asked)):
        return defined
    # A name alone may be a symbol's; a plain word of a sentence has to be one: "who calls unindent".
    is_alone = asked.is_bare and asked.relation is not Relation.STYLES
    is_plain = asked.relation in _OF_MEMBERS and not asked.is_name
    if (is_alone or is_plain) and _is_of_symbol(lookup, asked) is is_alone:
        return {}
    found = _with_relation(lookup, asked)
    if not found and asked.relation is Relation.IMPLEMENTS:
        return _of_definitions(lookup, asked._replace(relation=Relation.OVERRIDES))
    found.sort(key=lambda it: _rank(asked, it))
    most = _MOST_USES if asked.relation in {Relation.USES, Relation.ANNOTATES} else _MOST_LINES
    return {it.chunk.id: it.chunk.start_line + it.line for it in found[:most]}


def _is_of_symbol(lookup: NameLookup, asked: AskedRelation) -> bool:
    """Whether a symbol's own definition answers: a program's variable named as one of the environment."""
    return any(source_type_of(it.language) == CODE and _are_alike(it, asked.name) for it in lookup.defining(asked.name))


def _are_alike(chunk: Candidate, name: str) -> bool:
    own = last_part(name)
    return any(last_part(dotted(it)).lstrip(".") == own for it in chunk.defines)


def _of_definitions(lookup: NameLookup, asked: AskedRelation) -> dict[str, int]:
    """Return the lines defining exactly a name: all for a value, those with a body for overriding methods."""
    chunks = [it for it in lookup.defining(asked.name) if source_type_of(it.language) == CODE]
    payloads = lookup.generation.store.payloads([it.id for it in chunks], ["definitions", "text"])
    own, found = last_part(asked.name), list[tuple[tuple[bool, bool, str, int], str]]()
    for chunk in chunks:
        payload = payloads.get(chunk.id, {})
        at = next(
            (it for it in read_definitions(payload.get("definitions", "")) if last_part(it.name).lstrip(".") == own),
            None,
        )
        if at is None:
            continue
        lines = str(payload.get("text", "")).split("\n")
        is_bare = asked.relation is Relation.OVERRIDES and _is_bare(chunk, lines[at.line : at.last + 1])
        found.append(((chunk.role is not None, is_bare, chunk.path, chunk.start_line + at.line), chunk.id))
    if asked.relation is Relation.OVERRIDES and all(is_bare for (_, is_bare, *_), _ in found):
        return {}
    return {name: line for (*_, line), name in sorted(found)[:_MOST_LINES]}


def _is_bare(chunk: Candidate, lines: Sequence[str]) -> bool:
    """Whether a method is only declared: in an interface, a schema, or as abstract."""
    text = "\n".join(lines)
    has_body = "{" in text or len([it for it in lines if it.strip()]) > 1 or "=>" in text or "=" in text
    return (
        chunk.language in {"proto", "protobuf", "graphql", "thrift"}
        or not has_body
        or bool(_ABSTRACT.search(text[:200]))
    )


def _with_relation(lookup: NameLookup, asked: AskedRelation) -> list[_At]:
    """Return the chunks with lines of the surest form found."""
    generation = lookup.generation
    words = query_terms(f"{asked.name} {asked.of} {BESIDE.get(asked.relation, '')}")
    (found,) = generation.store.search([Nearest(TERMS, words, _MOST_CHUNKS)])
    chunks = [it for it in generation.candidates.of(found) if _may_have(asked, it)]
    texts = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    read = [(chunk, text) for chunk, text in zip(chunks, texts, strict=True) if _has_names(asked, text)]
    defined = _defined_lines(lookup, asked, [chunk for chunk, _ in read])
    for tier in tiers_of(asked):
        at = [
            it
            for chunk, text in read
            if (it := _at(asked, chunk, text, tier.finditer, defined.get(chunk.id, frozenset())))
        ]
        if asked.relation is Relation.IMPLEMENTS:
            at += _below(asked, read, {it.chunk.id for it in at})
        if at:
            return at
    return []


def _has_names(asked: AskedRelation, text: str) -> bool:
    """Whether a text has a name; for a member, also its owner's: "Client.get" is not just any "get"."""
    if _own(asked) not in text:
        return False
    owner = last_part(dotted(asked.name).rpartition(".")[0]) if asked.relation in _OF_MEMBERS else ""
    return owner.lower() in text.lower()


def _own(asked: AskedRelation) -> str:
    """Return the part of a name required in a line."""
    if asked.relation is Relation.RUNS and "manage" in asked.of:
        return ""
    name = asked.name.rpartition(":")[2] if asked.relation is Relation.RUNS else asked.name
    if asked.relation is Relation.TRANSLATES:
        name = name.rpartition(".")[2]
    return last_part(name.replace("\\", "/")) if asked.relation in OF_SYMBOLS else name


def _may_have(asked: AskedRelation, chunk: Candidate) -> bool:
    """Whether a chunk's file may have such lines."""
    role, language = chunk.role.name if chunk.role else "", chunk.language
    is_code, is_sheet = source_type_of(language) == CODE, language in _SHEETS
    match asked.relation:
        case Relation.TESTS:
            may = role == "test"
        case Relation.STYLES:
            may = is_sheet
        case Relation.TRANSLATES:
            may = _OF_TEXTS.search(chunk.path) is not None
        case Relation.RUNS:
            may = _is_of_tool(asked, chunk.path.lower())
        case Relation.MIGRATES:
            # Liquibase's files are called changelog-1.2.xml.
            may = role != "test" and source_type_of(language) not in PROSE_TYPES
        case Relation.RENDERS | Relation.SHOWS:
            may = role not in {"documentation", "test"}
        case Relation.READS | Relation.NUMBERED | Relation.IMPLEMENTS:
            may = is_code and role != "documentation"
        case _:
            may = is_code or is_sheet
    return may


def _is_of_tool(asked: AskedRelation, path: str) -> bool:
    name = PurePosixPath(path).name
    if "manage" in asked.of:
        return path.endswith(f"management/commands/{asked.name.lower()}.py")
    if not asked.of or "artisan" in asked.of:
        return path.endswith((".php", ".rake", "rakefile"))
    tool = "npm" if asked.of.startswith(_SCRIPTS) else asked.of.split(" ")[0]
    return name.endswith(_MANIFESTS[tool])


def _defined_lines(lookup: NameLookup, asked: AskedRelation, chunks: Sequence[Candidate]) -> dict[str, frozenset[int]]:
    """Return each chunk's lines, from 0, defining the name: these don't use it."""
    if asked.relation not in {Relation.USES, Relation.ANNOTATES}:
        return {}
    own = last_part(asked.name)
    defining = [it.id for it in chunks if any(last_part(dotted(name)).lstrip(".") == own for name in it.defines)]
    payloads = lookup.generation.store.payloads(defining, ["definitions"]) if defining else {}
    return {
        name: frozenset(
            it.line for it in read_definitions(payload.get("definitions", "")) if last_part(it.name).lstrip(".") == own
        )
        for name, payload in payloads.items()
    }


def _at(
    asked: AskedRelation,
    chunk: Candidate,
    text: str,
    matches: Callable[[str], Iterable[re.Match[str]]],
    defined: frozenset[int],
) -> _At | None:
    """Return the first line of a chunk with the relation; None for none."""
    lines: list[str] | None = None
    first, count = -1, 0
    # For a form of several lines: the name's line, or that of the annotation above it.
    is_at_end = asked.relation in {Relation.MIGRATES, Relation.PROVIDES}
    for match in matches(text):
        at = match.end() if is_at_end else match.end() - len(match[0].lstrip())
        line = text.count("\n", 0, at)
        if asked.relation in {Relation.USES, Relation.TESTS, Relation.READS, Relation.NUMBERED, Relation.ANNOTATES}:
            lines = lines if lines is not None else text.split("\n")
            if line in defined or (asked.relation is not Relation.NUMBERED and _IMPORT.match(lines[line])):
                continue
        first, count = (line if first < 0 else first), count + 1
    return _At(chunk, first, count) if count else None


def _below(asked: AskedRelation, read: Sequence[tuple[Candidate, str]], known: set[str]) -> list[_At]:
    """Return the chunks declaring a subtype of the one asked for, behind ":" or a word such as "extends"."""
    name, found = _own(asked), list[_At]()
    for chunk, text in read:
        if chunk.language in _BASES_BEHIND and chunk.id not in known and (at := declared_below(name, text)) >= 0:
            found.append(_At(chunk, text.count("\n", 0, at), 1))
    return found


def _rank(asked: AskedRelation, it: _At) -> tuple[object, ...]:
    """Order lines: the program's own first; of tests, the ones naming it most; of texts, the English ones."""
    chunk, path = it.chunk, it.chunk.path
    is_aside = chunk.role is not None or _ASIDE.search(path) is not None
    match asked.relation:
        case Relation.TESTS:
            return (-it.lines, path, chunk.start_line)
        case Relation.TRANSLATES:
            is_other = _ENGLISH.search(path) is None
            return (is_other, _BRITISH.search(path) is not None, path.count("/"), path, chunk.start_line)
        case Relation.RUNS:
            return (path.count("/"), path, chunk.start_line)
        case Relation.MIGRATES:
            return (_OLD.search(path) is not None, "migrat" not in path.lower(), path, chunk.start_line)
        case Relation.STYLES:
            return (is_aside, chunk.language not in {"css", "scss", "less", "sass"}, path, chunk.start_line)
        case _:
            return (is_aside, path, chunk.start_line)
