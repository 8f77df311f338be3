"""Define the row of Erlang."""

from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GAP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    child_of_type,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.parts import inside
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.languages.model import Naming


def _clause_name(node: "Node", source: bytes) -> str:
    clause = child_of_type(node, "function_clause", "macro_call_expr")
    return text_of(clause.child_by_field_name("name") if clause else None, source).strip("'")


def _quoted(field: str) -> "Naming":
    return lambda node, source: text_of(node.child_by_field_name(field), source).strip("'")


def _arity(node: "Node") -> int:
    clause = child_of_type(node, "function_clause")
    arguments = clause.child_by_field_name("args") if clause is not None else None
    return len(arguments.children_by_field_name("args")) if arguments is not None else 0


def _inner_name(field: str) -> "Naming":
    """Name a symbol by the name in one of its node's fields: "-type order() :: ...", "-define(ADD(A, B), ...)"."""

    def naming(node: "Node", source: bytes) -> str:
        head = node.child_by_field_name(field)
        return text_of(head.child_by_field_name("name") if head else None, source).strip("'")

    return naming


def _attribute(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("name"), source).lstrip("-").strip()
    return Found(LEADING) if name in ("doc", "deprecated", "dialyzer") else None


ERLANG = Language(
    name="erlang",
    grammar=(BUNDLE, "erlang"),
    unsafe=nests_expressions,
    suffixes=(".erl", ".hrl", ".escript", ".app.src", ".xrl", ".yrl"),
    filenames=("rebar.config",),
    rules={
        **symbols("module", "module_attribute", name=_quoted("name")),
        **symbols("function", "fun_decl", name=_clause_name),
        **symbols("function", "callback", name=_quoted("fun")),
        **symbols("struct", "record_decl"),
        **symbols("type", "type_alias", "opaque", "nominal", name=_inner_name("name")),
        **symbols("macro", "pp_define", name=_inner_name("lhs")),
        "wild_attribute": _attribute,
        **role(COMMENT, "comment"),
        **role(LEADING, "spec"),
        **role(GAP, "pp_endif"),
        **role(IMPORTS, "behaviour_attribute", "export_attribute", "export_type_attribute", "import_attribute"),
        **role(IMPORTS, "pp_include", "pp_include_lib", "compile_options_attribute", "import_type_attribute"),
        **groups("ERROR"),
    },
    line_comment="%",
    nodes=NodeTypes(
        bodies=frozenset({"clause_body"}),
        clauses=frozenset({"fun_decl"}),
        equations=frozenset({"fun_decl"}),
        told_apart=_arity,
        loose=frozenset({"module_attribute", "pp_define", "type_alias", "opaque", "callback"}),
        bodiless=frozenset({"callback"}),
        parts={"record_decl": inside({"record_field": "property"})},
    ),
    usage=UsageNodes(callees=frozenset({"expr"})),
)

ROWS = (ERLANG,)
