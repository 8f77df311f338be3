"""Tell how a program uses a name by the syntax around each occurrence: whether it is called, a type, imported ..."""

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from cqm.chunkers.code.program import program_of
from cqm.chunkers.facts.names import (
    CALL,
    COMMENT,
    DECLARATION,
    DECORATOR,
    DEFINITION,
    IMPORT,
    STRING,
    SUBCLASS,
    TYPE,
    VALUE,
    Occurrence,
    word,
)
from cqm.chunkers.facts.receivers import types_of
from cqm.chunkers.facts.roles import (
    DECLARED,
    above,
    field_of,
    is_annotation,
    is_assigned,
    is_block,
    is_call,
    is_callee,
    is_comment,
    is_declared,
    is_decorator,
    is_function,
    is_heritage,
    is_import,
    is_member,
    is_parameter_list,
    is_text,
)
from cqm.chunkers.languages.model import text_of
from cqm.chunkers.model import ChunkOptions, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from cqm.chunkers.code.program import Program
    from cqm.chunkers.languages.usage_nodes import UsageNodes

_MOST = 2_000
"""Most occurrences to tell of a file; real files have fewer."""
_MOST_RECEIVER = 80
_MOST_TEXT = 2_000
"""Bytes of a text to look into."""
_SEPARATING = re.compile(rb"[\s(,;{\[]")
_MEMBER_FIELDS = frozenset({"name", "method", "function_name"})
_MEANING = frozenset({CALL, TYPE, VALUE, DECORATOR, DECLARATION})
"""Kinds of occurrences meaning a variable of their name where there is one."""
_IMPORTING = frozenset({"require", "import", "load"})
"""Functions importing the file named in a text."""
_MEMBERS = {
    "method": re.compile(r"method|function|signature_item"),
    "property": re.compile("field|property"),
    "variant": re.compile("variant|enum"),
    "constant": re.compile("const_|constant|preproc"),
    "constructor": re.compile("constructor"),
    "variable": re.compile("variable"),
}


def occurrences(document: Document, name: str) -> tuple[Occurrence, ...] | None:
    """Return all occurrences of a name's last part in order; None if the document is no parseable program."""
    if not document.text:
        return None
    program = program_of(document.text, document.language, ChunkOptions())
    if program is None or isinstance(program, str) or not program.language.rules:
        return None
    found = list(islice(_occurrences(program, word(name)), _MOST))
    return tuple(_with_scopes(found, has_bare_calls=program.language.usage.has_bare_calls))


def _occurrences(program: "Program", name: re.Pattern[str]) -> "Iterator[tuple[Node | None, Occurrence]]":
    source = program.source
    for row, line in enumerate(source.lines):
        for found in name.finditer(line):
            start = source.offsets[row] + len(line[: found.start()].encode("utf-8", "surrogatepass"))
            written = found[0].encode("utf-8", "surrogatepass")
            leaf = program.root.descendant_for_byte_range(start, start + len(written))
            if leaf is None:
                yield None, Occurrence(row, found.start(), VALUE)
            elif source.data.startswith(written, start) and not _is_unread(leaf, len(written), program):
                yield leaf, _occurrence(leaf, row, found.start(), start, program)


def _is_unread(leaf: "Node", length: int, program: "Program") -> bool:
    """Whether the grammar does not know a name as one: it is within a text, or of several tokens."""
    if leaf.end_byte - leaf.start_byte <= length or is_text(leaf, program.language.usage) or is_comment(leaf):
        return False
    end = min(leaf.end_byte, leaf.start_byte + _MOST_TEXT)
    return _SEPARATING.search(program.source.data, leaf.start_byte, end) is not None


def _with_scopes(found: "Sequence[tuple[Node | None, Occurrence]]", *, has_bare_calls: bool) -> "Iterator[Occurrence]":
    """Mark the occurrences of a variable or parameter of a function around them.

    Parameters:
        found: with their nodes.
        has_bare_calls: whether a plain name in a function without a variable of this name is a call.
    """
    declared = [leaf for leaf, use in found if leaf and use.kind == DECLARATION]
    scopes = {scope.id for leaf in declared if (scope := _scope(leaf))}
    for leaf, use in found:
        is_bare = leaf is not None and not use.receiver and use.kind in _MEANING
        is_local = is_bare and leaf is not None and any(it.id in scopes for it in above(leaf))
        if is_local:
            yield replace(use, is_local=True)
        elif has_bare_calls and is_bare and leaf is not None and _is_bare_call(leaf, use):
            yield replace(use, kind=CALL)
        else:
            yield use


def _is_bare_call(leaf: "Node", use: Occurrence) -> bool:
    return use.kind == VALUE and leaf.type == "identifier" and any(is_function(it) for it in above(leaf))


def _scope(declared: "Node") -> "Node | None":
    """Return the innermost function around a declaration; its own name is declared outside of it."""
    around = declared.parent
    while around and "declarator" in around.type:
        around = around.parent
    return next((it for it in above(around) if is_function(it)), None) if around else None


def _occurrence(leaf: "Node", row: int, column: int, start: int, program: "Program") -> Occurrence:
    usage, data = program.language.usage, program.source.data
    if is_comment(leaf) or any(is_comment(it) for it in islice(above(leaf), 2)):
        return Occurrence(row, column, COMMENT)
    if is_text(leaf, usage):
        is_called = usage.is_called_in_text is not None and usage.is_called_in_text(leaf, start, data)
        return Occurrence(row, column, CALL if is_called else _kind_of_text(leaf, usage, data))
    if any(is_import(it, usage) for it in above(leaf)):
        return Occurrence(row, column, SUBCLASS if _is_inherited(leaf, usage) else IMPORT)
    whole, receiver = _whole(leaf, usage)
    is_mixed_in = bool(usage.mixing) and _callee_around(whole, usage, data) in usage.mixing
    kind, declares = (SUBCLASS, "") if is_mixed_in else _kind(leaf, whole, usage, data)
    if receiver is None and usage.receiver_of is not None:
        receiver = usage.receiver_of(leaf)
    if receiver is None:
        return Occurrence(row, column, kind, declares)
    told = text_of(receiver, data)[:_MOST_RECEIVER] if kind != DEFINITION else ""
    return Occurrence(row, column, kind, declares, " ".join(told.split()), types_of(told, leaf, data))


def _whole(leaf: "Node", usage: "UsageNodes") -> "tuple[Node, Node | None]":
    """Return the largest name ending with the leaf, such as "a.b.leaf", and the node before the leaf in it."""
    node, receiver = leaf, None
    for around in above(leaf):
        joins = is_member(around, usage)
        if receiver is None and (joins or (is_call(around, usage) and field_of(node) in _MEMBER_FIELDS)):
            receiver = node.prev_named_sibling
            if receiver and receiver.type == "optional_chain":
                receiver = receiver.prev_named_sibling
        later = node.next_named_sibling
        ends = later is None or "argument" in later.type or "type_param" in later.type
        if not joins or not ends or is_annotation(around):
            break
        node = around
    return node, receiver


def _kind(leaf: "Node", whole: "Node", usage: "UsageNodes", data: bytes) -> tuple[str, str]:
    """Return the kind of a name in code, and the kind of the symbol defined by it."""
    if whole.parent is None:
        return VALUE, ""
    if _is_inherited(leaf, usage):
        return SUBCLASS, ""
    field = field_of(whole)
    is_called = is_callee(whole, field, usage)
    if not is_called and is_declared(whole, field, usage):
        return _declared(whole)
    if is_called or (usage.is_called is not None and usage.is_called(leaf, whole, data)):
        return CALL, ""
    if whole is leaf and is_assigned(leaf, usage):
        return DECLARATION, ""
    return _plain_kind(leaf, whole, whole.parent, field, usage), ""


def _plain_kind(leaf: "Node", whole: "Node", around: "Node", field: str, usage: "UsageNodes") -> str:
    if is_decorator(around, usage):
        return DECORATOR
    if any("type" in said for said in (leaf.type, field, around.type, whole.type)):
        return TYPE
    return DECLARATION if is_parameter_list(around, usage) else VALUE


def _is_inherited(leaf: "Node", usage: "UsageNodes") -> bool:
    """Whether a name stands among those which a type inherits from, implements or embeds."""
    node = leaf
    for around in above(leaf):
        if is_heritage(around, usage):
            return True
        told = usage.is_inherited(node, around) if usage.is_inherited is not None else None
        if told is not None:
            return told
        if any(it in around.type for it in ("argument", "body", "parameter", "block")):
            return False
        node = around
    return False


def _declared(name: "Node") -> tuple[str, str]:
    """Tell a definition from a local declaration, by the nodes around it."""
    declaring, has_parameters = name.parent, False
    while declaring and declaring.parent and field_of(declaring) in DECLARED and "declarator" in declaring.type:
        has_parameters = has_parameters or "function" in declaring.type
        declaring = declaring.parent
    if declaring is None or "parameter" in declaring.type or any(is_block(it) for it in above(declaring)):
        return DECLARATION, ""
    if has_parameters:
        return DEFINITION, "function"
    kinds = (kind for kind, pattern in _MEMBERS.items() if pattern.search(declaring.type))
    return DEFINITION, next(kinds, "symbol")


def _kind_of_text(leaf: "Node", usage: "UsageNodes", data: bytes) -> str:
    node = leaf
    while node.parent and is_text(node.parent, usage):
        node = node.parent
    around = node.parent
    if any(is_import(it, usage) for it in islice(above(node), 3)):
        return IMPORT
    if usage.has_docstrings and around is not None and around.type == "expression_statement":
        return COMMENT if around.prev_named_sibling is None else STRING
    callee = _callee_around(node, usage, data)
    return IMPORT if callee in _IMPORTING or callee in usage.importing else STRING


def _callee_around(argument: "Node", usage: "UsageNodes", data: bytes) -> str:
    """Return the name of the function called with an argument; empty for no argument."""
    around = argument.parent
    call = around.parent if around and "argument" in around.type else None
    return text_of(call.named_children[0], data) if call and is_call(call, usage) else ""
