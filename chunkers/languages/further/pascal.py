"""Define the rows of Pascal and Ada."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GAP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Unread,
    blanked,
    by_child,
    child_of_type,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.parts import further_names
from cqm.chunkers.languages.unread import PASCAL_DIRECTIVES, PASCAL_LINES, PASCAL_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_PASCAL_TYPES = {"declClass": "class", "declIntf": "interface", "declHelper": "class"}


def _pascal_type(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("name"), source).split("<")[0]
    kind = node.child_by_field_name("type")
    if kind is None or not name:
        return Found("type", name) if name else None
    if kind.type in _PASCAL_TYPES:
        is_record = child_of_type(kind, "kRecord", "kObject") is not None
        has_members = kind.named_child_count > 1
        return Found("struct" if is_record else _PASCAL_TYPES[kind.type], name, (kind,) if has_members else ())
    return Found("enum" if child_of_type(kind, "declEnum") else "type", name)


def _pascal_enum_values(node: "Node", source: bytes) -> "Iterator[Part]":
    values = child_of_type(node.child_by_field_name("type"), "declEnum")
    for value in values.named_children if values else ():
        if value.type == "declEnumValue":
            name = value.child_by_field_name("name") or value
            yield Part("constant", text_of(name, source), value, name)


_PASCAL_LOCAL = role(GAP, "declProc")
"""The header of a procedure, beside the procedures in it."""


def _pascal_procedure(node: "Node", source: bytes) -> Found | None:
    header = node.child_by_field_name("header") or node
    name = "".join(text_of(header.child_by_field_name("name"), source).split()).split("<")[0]
    if not name:
        return None
    is_constructor = child_of_type(header, "kConstructor") is not None
    kind = "constructor" if is_constructor else "method" if "." in name else "function"
    local = [it for it in node.children_by_field_name("local") if it.type == "defProc"]
    return Found(kind, name, (node,) if local else (), local=True, within=_PASCAL_LOCAL)


_PASCAL_KEYWORDS = (
    *("Unit", "Interface", "Implementation", "End", "EndDot", "Type", "Const", "Var", "Private", "Public"),
    *("Protected", "Published", "Class", "Record", "Begin", "Initialization", "Finalization", "Program", "Strict"),
    *("Resourcestring", "Threadvar", "Library", "Packed", "Object", "Of", "Procedure", "Function", "Constructor"),
    *("Destructor", "Operator", "Helper", "For", "Label"),
)

# "package Core; requires rtl; contains one in 'one.pas'; end." reads as a library, and files of units not at all.
_PACKAGE = re.compile(rb"(?m:^)(?i:package)(?=\s+[\w.]+\s*;)")
_CLAUSE = re.compile(rb"(?m:^)[ \t]*(?P<word>(?i:requires|contains))\b")
_USED_IN = re.compile(rb"[ \t](?P<file>(?i:in)[ \t]*'[^'\n]*')(?=\s*+(?:\{[^}]{0,200}\}\s*+)?(?:[,;]|\{\$|(?i:end)\b))")
_HINT = re.compile(rb"(?i:end)[ \t]+(?P<hint>(?i:deprecated|platform|experimental)(?:[ \t]+'[^'\n]*')?)(?=\s*;)")
_ATTRIBUTE = re.compile(
    rb"(?i:[(;]|\bconst|\bvar|\bout)\s{0,20}(?P<attribute>\[\w+(?:\([^()\n]*\))?\])(?=\s{0,20}\w+\s{0,20}[:,])"
)
_LIKE_ATTRIBUTE = re.compile(rb"\[\w+(?:\([^()\n]*\))?\](?=\s{0,20}\w+\s{0,20}[:,])")
_LIKE_FILE = re.compile(rb"in[ \t]*'")
_HINTS = (b"deprecated", b"platform", b"experimental")
# The grammar takes three quotes within a row for the beginning of a text of several rows.
_TEXT = re.compile(rb"//[^\n]*+|\{[^}]*+\}?|\(\*(?:[^*]|\*(?!\)))*+(?:\*\))?|'(?P<inside>(?:[^'\n]|''(?!'\r?\n))*+)'?")


def _without_unknown(source: bytes) -> bytes:
    """Blank syntax unknown to the grammar of Pascal."""
    # Most programs have none of it, which plain words tell in a fraction of the time.
    lower = source.lower()
    package = _PACKAGE.search(source) if b"package" in lower else None
    if package is not None:
        source = source[: package.start()] + b"library" + source[package.end() :]
        source = _CLAUSE.sub(_as_uses, source)
    if _LIKE_FILE.search(lower) is not None:
        source = _USED_IN.sub(blanked, source)
    if any(word in lower for word in _HINTS):
        source = _HINT.sub(blanked, source)
    if _LIKE_ATTRIBUTE.search(source) is not None:
        source = _ATTRIBUTE.sub(blanked, source)
    return _TEXT.sub(_as_plain, source) if b"'''" in source else source


def _as_uses(found: re.Match[bytes]) -> bytes:
    return found[0][: found.start("word") - found.start()] + b"uses".ljust(len(found["word"]))


def _as_plain(found: re.Match[bytes]) -> bytes:
    return blanked(found) if b"''" in (found["inside"] or b"") else found[0]


def _is_called(_leaf: "Node", whole: "Node", _source: bytes) -> bool:
    """Whether a name is a statement of its own, which calls the procedure."""
    around = whole.parent
    return around is not None and around.type == "statement" and around.named_child_count == 1


PASCAL = Language(
    name="pascal",
    by_lines=PASCAL_LINES,
    unread=Unread(
        PASCAL_SIGNS,
        mends=False,
        masks=(_without_unknown,),
        has_conditionals=True,
        is_plain=True,
        directives=PASCAL_DIRECTIVES,
        defined={b"FPC": False, b"MSWINDOWS": True, b"WINDOWS": True, b"UNICODE": True},
    ),
    grammar=("tree_sitter_pascal", "language"),
    extra="languages",
    unsafe=nests_expressions,
    suffixes=(".pas", ".pp", ".dpr", ".lpr", ".dpk", ".rops"),
    rules={
        **inlined("module", "unit", "library", name=by_child("moduleName")),
        **inlined("program", "program", name=by_child("moduleName")),
        **symbols("constant", "declConst"),
        **symbols("variable", "declVar", "declField"),
        **symbols("property", "declProp"),
        "declType": _pascal_type,
        **dict.fromkeys(("declProc", "defProc"), _pascal_procedure),
        **role(COMMENT, "comment"),
        **role(GAP, *(f"k{word}" for word in _PASCAL_KEYWORDS)),
        **role(IMPORTS, "declUses"),
        **groups("interface", "implementation", "declConsts", "declTypes", "declVars", "declSection", "ERROR"),
    },
    line_comment="//",
    constructors=frozenset({"Create"}),
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        bodiless=frozenset({"declProc"}),
        loose=frozenset({"declProc", "declType"}),
        parts={
            "declType": _pascal_enum_values,
            **dict.fromkeys(("declVar", "declField"), further_names("name", "identifier")),
        },
    ),
    usage=UsageNodes(
        calls=frozenset({"exprCall"}),
        callees=frozenset({"entity"}),
        members=frozenset({"exprDot"}),
        is_called=_is_called,
    ),
)


def _ada_named(node: "Node | None") -> "Node | None":
    """Find the name in a declaration or its specification."""
    if node is None:
        return None
    inner = child_of_type(
        node,
        *("procedure_specification", "function_specification", "protected_type_declaration", "task_type_declaration"),
    )
    if inner is not None:
        return _ada_named(inner)
    named = node.child_by_field_name("name")
    return named or child_of_type(node, "identifier", "selected_component", "string_literal")


def _ada_name(node: "Node", source: bytes) -> str:
    return text_of(_ada_named(node), source)


_ADA_INNER = (
    *("subprogram_body", "subprogram_declaration", "expression_function_declaration"),
    *("package_declaration", "package_body"),
)


def _ada_subprogram(node: "Node", source: bytes) -> Found | None:
    name = _ada_name(node, source)
    part = child_of_type(node, "non_empty_declarative_part")
    inner = child_of_type(part, *_ADA_INNER)
    return (
        Found("function", name, (part,) if part is not None and inner is not None else (), local=True) if name else None
    )


_ADA_DEFINITIONS = ("protected_definition", "task_definition")


def _ada_type(node: "Node", source: bytes) -> Found | None:
    name = _ada_name(node, source)
    inner = child_of_type(node, "protected_type_declaration", "task_type_declaration")
    if inner is not None or node.type.startswith("single_"):
        body = child_of_type(inner or node, *_ADA_DEFINITIONS)
        return Found("class", name, (body,) if body else ())
    shape = node.named_children[-1] if node.named_children else None
    record = _ada_record(shape)
    kind = "struct" if record is not None else "type"
    if shape is not None and shape.type == "enumeration_type_definition":
        kind = "enum"
    return Found(kind, name) if name else None


def _ada_record(shape: "Node | None") -> "Node | None":
    if shape is None:
        return None
    inner = child_of_type(shape, "record_definition", "record_extension_part")
    if inner is not None and inner.type == "record_extension_part":
        return child_of_type(inner, "record_definition")
    return inner


def _ada_parts(node: "Node", source: bytes) -> "Iterator[Part]":
    for shape in node.named_children:
        if shape.type == "enumeration_type_definition":
            for value in (it for it in shape.named_children if it.type != "comment"):
                yield Part("constant", text_of(value, source), value, value)
        record = _ada_record(shape)
        fields = child_of_type(record, "component_list") or record
        for field in fields.named_children if fields else ():
            for name in (it for it in field.named_children if field.type == "component_declaration"):
                if name.type != "identifier":
                    break
                yield Part("property", text_of(name, source), field, name)


def _ada_body(node: "Node", source: bytes) -> Found:
    part = child_of_type(node, "non_empty_declarative_part")
    kind = "module" if node.type == "package_body" else "class"
    inside = part if node.type != "protected_body" else node
    return Found(kind, _ada_name(node, source), (inside,) if inside else ())


def _ada_object(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("name") or child_of_type(node, "identifier"), source)
    is_constant = node.type == "number_declaration" or any(it.type == "constant" for it in node.children)
    return Found("constant" if is_constant else "variable", name) if name else None


ADA = Language(
    name="ada",
    grammar=("tree_sitter_ada", "language"),
    extra="languages",
    unsafe=nests_expressions,
    suffixes=(".adb", ".ads", ".ada"),
    rules={
        **inlined("module", "package_declaration", name=_ada_name),
        **dict.fromkeys(("package_body", "protected_body", "task_body"), _ada_body),
        **symbols(
            "module",
            *("generic_instantiation", "package_renaming_declaration", "generic_renaming_declaration"),
            name=_ada_name,
        ),
        "subprogram_body": _ada_subprogram,
        **symbols(
            "function",
            *("subprogram_declaration", "expression_function_declaration", "null_procedure_declaration"),
            *("abstract_subprogram_declaration", "subprogram_renaming_declaration", "entry_body"),
            "generic_subprogram_declaration",
            name=_ada_name,
        ),
        **symbols("method", "entry_declaration", name=_ada_name),
        **dict.fromkeys(
            ("full_type_declaration", "single_protected_declaration", "single_task_declaration"), _ada_type
        ),
        **symbols(
            "type",
            *("private_type_declaration", "private_extension_declaration", "subtype_declaration"),
            *("incomplete_type_declaration",),
            name=_ada_name,
        ),
        **symbols("exception", "exception_declaration", name=_ada_name),
        **dict.fromkeys(("object_declaration", "number_declaration", "object_renaming_declaration"), _ada_object),
        **role(COMMENT, "comment"),
        **role(LEADING, "generic_formal_part"),
        **role(IMPORTS, "with_clause", "use_clause"),
        **groups("compilation_unit", "generic_package_declaration", "subunit", "ERROR"),
        **groups("non_empty_declarative_part", "protected_definition", "task_definition"),
    },
    line_comment="--",
    nodes=NodeTypes(
        bodies=frozenset({"handled_sequence_of_statements"}),
        bodiless=frozenset({"subprogram_declaration", "entry_declaration"}),
        loose=frozenset({"subprogram_declaration", "subtype_declaration", "exception_declaration"})
        | {*("private_type_declaration", "generic_instantiation", "entry_declaration")},
        parts={
            "full_type_declaration": _ada_parts,
            **dict.fromkeys(("object_declaration",), further_names("name", "identifier")),
        },
    ),
    usage=UsageNodes(calls=frozenset({"procedure_call_statement"})),
)

ROWS = (PASCAL, ADA)
