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
        # An interface without a name declares what is in it; "operator(+)" may be no node of its own.
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


_FIXED = re.compile(rb"^[cC*dD](?=[ \t*=\-!\r\n]|[^\n=(]*$)", re.MULTILINE)
_FREE = re.compile(rb"&[ \t]*(?:!.*)?$", re.MULTILINE)


def _with_free_comments(source: bytes) -> bytes:
    # In fixed form, a comment has its sign in the first column. Free form tells itself by its continued lines.
    signs = len(re.findall(rb"^[cC*](?:[ \t*=\-]|$)", source, re.MULTILINE))
    return source if signs < 2 or _FREE.search(source) else _FIXED.sub(b"!", source)  # noqa: PLR2004 - more than one


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
    removed=(_with_free_comments, _without_wrappers),
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
