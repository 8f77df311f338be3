"""List the languages without rules of their own: their grammars and suffixes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import PACK
from cqm.chunkers.languages.ecmascript import USAGE as ECMASCRIPT
from cqm.chunkers.languages.further.lisp import USAGE as LISP
from cqm.chunkers.languages.guessed.lines import OWN_LINES, PACK_LINES, only, patterns_of
from cqm.chunkers.languages.guessed.rules import GuessedRules
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.line_patterns import LinePatterns
from cqm.chunkers.languages.model import (
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    blank,
    by_child,
    by_field,
    child_of_type,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

_EXTRA = "more-languages"
_SCHEMA = only(
    ("struct", r"\s*(?:struct|structure|union|message|exception|list|map|resource)\s+(?P<name>[\w.]+)(?=.*\{)"),
    ("enum", r"\s*(?:enum|intEnum)\s+(?P<name>[\w.]+)"),
    ("module", r"\s*service\s+(?P<name>[\w.]+)"),
    ("interface", r"\s*interface\s+(?P<name>[\w.]+)"),
    ("class", r"(?:model|view|datasource|generator)\s+(?P<name>\w+)\s*\{"),
    ("type", r"(?:typedef\s+[\w.<>, ]+?|type)\s+(?P<name>\w+)(?=\s|$)"),
    ("constant", r"const\s+(?:[\w.<>, ]+\s+)?(?P<name>\w+)\s*[=:]"),
    ("function", r"operation\s+(?P<name>\w+)"),
    ("method", r"\s+(?P<name>\w+)\s+@\d+\s*(?:\[[^\]]*\]\s*)?\("),
    ("function", r"\s+(?:oneway\s+)?[\w.<>, ]+\s+(?P<name>\w+)\s*\([^=]*$"),
    comment=r"\s*(?://|/\*|\*(?!\w)|#)",
    has_braces=True,
)
_LISPY = only(
    ("function", r"\((?:fn|lambda|λ|defn-?|defun|varfn)\s+(?P<name>[^\s()\[\]]+)"),
    ("macro", r"\((?:macro|defmacro-?)\s+(?P<name>[^\s()\[\]]+)"),
    ("variable", r"\((?:local|var|global|def-?|defonce)\s+(?P<name>[^\s()\[\]{}]+)"),
    comment=r"\s*[;#]",
)
_COMMON = patterns_of()
_NODES = NodeTypes()


def _of_pack(
    name: str,
    suffixes: Sequence[str],
    told: Mapping[str, Rule] | None = None,
    by_lines: LinePatterns = _COMMON,
    grammar: str = "",
    nodes: NodeTypes = _NODES,
    usage: UsageNodes | None = None,
) -> Language:
    """Make the row of a language with a grammar in the pack."""
    return Language(
        name=name,
        grammar=(PACK, grammar or name),
        rules=GuessedRules(told or {}),
        suffixes=(*suffixes,),
        unsafe=nests_expressions,
        extra=_EXTRA,
        by_lines=by_lines,
        nodes=nodes,
        usage=usage or UsageNodes(),
        is_guessed=True,
    )


def _by_lines(name: str, suffixes: Sequence[str], by_lines: LinePatterns) -> Language:
    """Make the row of a language without a grammar."""
    # A grammar in every installation makes an empty tree of the blank text.
    return Language(
        name, ("tree_sitter_c", "language"), {}, (*suffixes,), removed=(blank,), by_lines=by_lines, is_guessed=True
    )


def without_grammar(row: Language) -> Language:
    """Return a row for the same language by its lines, for installations without its grammar."""
    return _by_lines(row.name, row.suffixes, row.by_lines or _COMMON)


def _first_word(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(node, "binding", "symbol"), source)


def _labelled(node: "Node", source: bytes) -> Found | None:
    label = child_of_type(node, "label")
    return Found("block", text_of(child_of_type(label, "identifier"), source)) if label is not None else None


def _purescript_class(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(child_of_type(node, "class_head"), "class_name"), source)
    body = child_of_type(node, "class_body")
    return Found("interface", name, (body,) if body else ())


def _values_of_thrift(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the values of an enum; its own name is in a field."""
    own = node.child_by_field_name("type")
    for it in node.named_children:
        if it.type == "identifier" and it != own:
            yield Part("constant", text_of(it, source), it, it)


ROWS = (
    _of_pack(
        "thrift",
        (".thrift",),
        symbols("property", "field", name=by_child("identifier")),
        by_lines=_SCHEMA,
        nodes=NodeTypes(parts={"enum_definition": _values_of_thrift}),
    ),
    _of_pack(
        "prisma",
        (".prisma",),
        symbols("class", "key_value_block", name=by_child("identifier")),
        by_lines=_SCHEMA,
    ),
    _of_pack(
        "smithy",
        (".smithy",),
        {
            **role(LEADING, "trait_statement"),
            **symbols("type", "simple_shape_statement", name=by_child("identifier")),
            **symbols("module", "service_statement", name=by_child("identifier")),
            **symbols("class", "resource_statement", name=by_child("identifier")),
            **role("statement", "apply_statement"),
        },
        by_lines=_SCHEMA,
    ),
    _of_pack(
        "capnp",
        (".capnp",),
        symbols("macro", "annotation", name=by_child("annotation_definition_identifier")),
        by_lines=_SCHEMA,
    ),
    _of_pack("fish", (".fish",), by_lines=patterns_of(comment=r"\s*#", has_braces=False)),
    _of_pack(
        "purescript",
        (".purs",),
        {
            **symbols("function", "signature", "function", "foreign_import"),
            **symbols("type", "data", "newtype", "type_alias"),
            "class_declaration": _purescript_class,
            **role("statement", "exports", "where", "class_instance", "derive_declaration"),
        },
        PACK_LINES["purescript"],
        nodes=NodeTypes(clauses=frozenset({"signature", "function"}), equations=frozenset({"signature", "function"})),
    ),
    _of_pack("rego", (".rego",), groups("module", "policy"), PACK_LINES["rego"]),
    _of_pack(
        "puppet",
        (),
        {
            **symbols("class", "defined_resource_type", name=by_child("class_identifier", "identifier")),
            **role("statement", "resource_declaration"),
        },
        patterns_of(comment=r"\s*#"),
    ),
    _of_pack(
        "bicep",
        (".bicep",),
        {
            **role("statement", "object", "object_property", "target_scope_assignment"),
            **symbols("resource", "resource_declaration", name=by_child("identifier")),
        },
    ),
    _of_pack(
        "vhdl",
        (".vhd", ".vhdl"),
        {
            **symbols("function", "procedure_body", "function_body", name=by_field("designator")),
            **inlined("module", "package_body", name=by_field("package")),
            **inlined("module", "architecture_body"),
            # "p_input : process (clk) is"; one without a label has no name.
            "process_statement": _labelled,
            **groups("design_unit", "concurrent_statement_part", "if_generate_statement", "if_generate"),
            **groups("for_generate_statement", "generate_statement_body", "block_statement"),
            **role(IMPORTS, "library_clause", "context_clause"),
        },
        usage=UsageNodes(calls=frozenset({"procedure_call_statement"})),
    ),
    _of_pack(
        "fennel",
        (".fnl",),
        symbols("variable", "local", "global", "var", name=_first_word),
        by_lines=_LISPY,
        usage=LISP,
    ),
    _of_pack("apex", (".trigger",), by_lines=PACK_LINES["apex"]),
    _of_pack(
        "qml",
        (".qml",),
        groups("ui_object_definition", "ui_object_initializer"),
        by_lines=PACK_LINES["qml"],
        grammar="qmljs",
        usage=ECMASCRIPT,
    ),
    _of_pack("v", (".vsh", ".vv"), by_lines=PACK_LINES["v"]),
    _of_pack("pony", (".pony",), by_lines=PACK_LINES["pony"]),
    _of_pack("hare", (".ha",)),
    _of_pack("luau", (".luau",)),
    _of_pack("cairo", (".cairo",)),
    _of_pack("hack", (".hack", ".hhi")),
    _of_pack("actionscript", ()),
    _by_lines("janet", (".janet",), _LISPY),
    *(_by_lines(name, suffixes, patterns) for name, (suffixes, patterns) in OWN_LINES.items()),
)
