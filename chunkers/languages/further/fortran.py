"""Define the row of Fortran."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GAP,
    GROUP,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    blanked,
    child_of_type,
    groups,
    role,
    text_of,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_KINDS = {
    "module": "module",
    "submodule": "module",
    "program": "program",
    "subroutine": "function",
    "function": "function",
    "module_procedure": "function",
    "block_data": "module",
    "interface": "interface",
    "derived_type_definition": "struct",
}
_WITH_MEMBERS = frozenset({"module", "block_data", "submodule", "program", "interface", "derived_type_definition"})
_WORD = re.compile(r"\s*((?i:operator|assignment)\s{0,9}\([^()\n]{1,40}\)|[A-Za-z]\w*)")


def _unit(node: "Node", source: bytes) -> Found | None:
    opening = node.named_children[0] if node.named_children else None
    if opening is None:
        return None
    if opening.type in ("comment", "preproc_comment"):
        opening = next((it for it in node.named_children if it.type.endswith("_statement")), opening)
    named = opening.child_by_field_name("name") or child_of_type(opening, "name", "type_name", "operator", "assignment")
    name = text_of(named, source)
    if node.type == "interface" and not name:
        # An interface without a name declares its contents; "operator(+)" may be no node of its own.
        words = text_of(opening, source).split("interface")[-1].strip()
        if not words or words.startswith(("!", "\n")) or opening.named_child_count == 0:
            return Found(GROUP, "", (node,))
        name = words if "(" in words else ""
        return Found("interface", name, (node,)) if name else Found(GROUP, "", (node,))
    if not name:
        return None
    if node.type in _WITH_MEMBERS:
        return Found(_KINDS[node.type], name, (node,), local=node.type == "program")
    inner = child_of_type(node, "internal_procedures")
    return Found(_KINDS[node.type], name, (inner,) if inner else (), local=True)


def _names(node: "Node", source: bytes) -> "Iterator[tuple[str, Node]]":
    for declarator in node.children_by_field_name("declarator"):
        found = _WORD.match(text_of(declarator, source))
        if found:
            yield found[1], declarator


def _variable(node: "Node", source: bytes) -> Found | None:
    name = next((name for name, _ in _names(node, source)), "")
    words = {text_of(it, source).lower() for it in node.children_by_field_name("attribute")}
    return Found("constant" if "parameter" in words else "variable", name) if name else None


def _binding(node: "Node", source: bytes) -> Found | None:
    # "procedure, public :: pay => pay_order, cancel" in a type; "module procedure add_lines" in an interface.
    name = next((name for name, _ in _names(node, source)), "")
    return Found("method", name) if name else None


_BINDINGS: dict[str, Rule] = dict.fromkeys(("procedure_statement", "generic_statement"), _binding)


def _bindings(node: "Node", _source: bytes) -> Found:
    return Found(GROUP, "", (node,), within=_BINDINGS)


def _further(node: "Node", source: bytes) -> "Iterator[Part]":
    for name, declarator in [*_names(node, source)][1:]:
        yield Part("", name, declarator, declarator, is_beside=True)


_SIGNED = re.compile(rb"^(?:[cC*]| {5}[^ 0-9A-Za-z!\r\n])", re.MULTILINE)
_CODE_AT_C = re.compile(
    rb"(?i)c(?:all|haracter|lose|ontains|ycle|ase|lass|ontinue|ommon|omplex|ritical)\b(?![ \t]+[a-z]+[ \t]+[a-z])"
)
_FREE_ROW = re.compile(rb"(?: {1,4}[A-Za-z&]|[ABE-Zabe-z&])|.{0,71}&[ \t]*+(?:!.*)?\r?$")
_CONTINUED = re.compile(rb" {5}[^ 0\r\n]|\t[1-9]")
_CODE = re.compile(rb"(?:[^!'\"]|'[^']*+'|\"[^\"]*+\")*+")
_SPARE = re.compile(rb" (?=[ ,()=+*/:\-])|(?<=[ ,()=+*/:\-]) ")


def _as_free_form(source: bytes) -> bytes:
    """Rewrite fixed form, byte for byte: comments get "!", and continued rows get "&" at both ends."""
    if not _SIGNED.search(source) or not _is_fixed(rows := source.split(b"\n")):
        return source
    above = -1
    for place, row in enumerate(rows):
        if row[:1] in b"cC*dD" and row:
            rows[place] = b"!" + row[1:]
        elif _CONTINUED.match(row) and above >= 0:
            at = 5 if row[:1] == b" " else 1
            rows[place] = row[:at] + b"&" + row[at + 1 :]
            rows[above], above = _going_on(rows[above]), place
        elif row.strip() and row.lstrip()[:1] not in b"!#":
            above = place
    return b"\n".join(rows)


def _is_fixed(rows: list[bytes]) -> bool:
    """Tell if more rows can only be fixed form, with nothing but labels left of the seventh column."""
    fixed = free = 0
    for row in rows:
        if row[:1] in b"!#dD":
            continue
        if _SIGNED.match(row) and not _CODE_AT_C.match(row):
            fixed += 1
        elif _FREE_ROW.match(row):
            free += 1
    return fixed > _MANY * free


_MANY = 10


def _going_on(row: bytes) -> bytes:
    """Put "&" behind a row's code, in place of a blank."""
    code = _CODE.match(row)
    end = code.end() if code and row[code.end() : code.end() + 1] == b"!" else len(row)
    shown = row[:end].rstrip()
    if len(shown) < end:
        return shown + b"&" + row[len(shown) + 1 :]
    spare = [it.start() for it in _SPARE.finditer(shown)] or [shown.find(b" ")]
    return shown[: spare[-1]] + shown[spare[-1] + 1 :] + b"&" + row[end:] if spare[-1] >= 0 else row


_BINDINGS_ROWS = re.compile(
    rb"^[ \t]*(?:generic|(?:module[ \t]+)?procedure)\b[^\n&!]*"
    rb"(?:&[ \t]*(?:![^\n]*)?\n(?:[ \t]*![^\n]*\n|#[^\n]*\n|[ \t]*\n)*[^\n&!]*)*",
    re.MULTILINE | re.IGNORECASE,
)
_WRAPPED = re.compile(
    rb"(?<![\w%])(?!(?i:procedure|pass|operator|assignment|read|write|bind|extends)\b)"
    rb"(?P<macro>[A-Za-z]\w*\()[ \t]*[A-Za-z]\w*[ \t]*(?P<end>\))|^(?P<directive>#[^\n]*)",
    re.MULTILINE,
)


def _without_wrappers(source: bytes) -> bytes:
    """Blank macros around procedures of a type, "generic :: get => WRAP(get_a), WRAP(get_b)", and directives there."""
    return _BINDINGS_ROWS.sub(lambda rows: _WRAPPED.sub(blanked, rows[0]), source)


_ENDS = (
    "block_data",
    "module",
    "submodule",
    "program",
    "type",
    "interface",
    "enum",
    "function",
    "subroutine",
    "module_procedure",
)

FORTRAN = Language(
    name="fortran",
    grammar=(BUNDLE, "fortran"),
    unsafe=nests_expressions,
    removed=(_as_free_form, _without_wrappers),
    suffixes=(".f", ".f77", ".f90", ".f95", ".f03", ".f08", ".for", ".ftn", ".fpp"),
    rules={
        **dict.fromkeys(_KINDS, _unit),
        "variable_declaration": _variable,
        "enumerator_statement": lambda node, source: (
            found._replace(kind="constant") if (found := _variable(node, source)) else None
        ),
        "derived_type_procedures": _bindings,
        **role(COMMENT, "comment"),
        **role(GAP, "contains_statement", *(f"end_{name}_statement" for name in _ENDS)),
        **role(IMPORTS, "use_statement", "include_statement", "preproc_include", "import_statement"),
        **groups("internal_procedures", "enum", "translation_unit", "ERROR"),
        **groups("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"),
    },
    line_comment="!",
    nodes=NodeTypes(
        loose=frozenset({"procedure_statement", "generic_statement"}),
        parts=dict.fromkeys(("variable_declaration", "enumerator_statement", "procedure_statement"), _further),
    ),
    usage=UsageNodes(callees=frozenset({"subroutine"})),
)

ROWS = (FORTRAN,)
