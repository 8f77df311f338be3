"""Define the row of Clojure."""

from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.further.lisp.forms import Forms, kind_of_head
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    child_of_type,
    groups,
    role,
    text_of,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_CLOJURE_TYPES = {
    "defprotocol": "interface",
    "definterface": "interface",
    "defrecord": "struct",
    "deftype": "class",
    "extend-type": "extension",
    "extend-protocol": "extension",
    "extend": "",
}
_CLOJURE_KINDS = {
    **dict.fromkeys(("def", "defonce", "defstate", "declare"), "variable"),
    **dict.fromkeys(("defn", "defn-", "defmulti", "fdef"), "function"),
    **dict.fromkeys(("defmethod",), "method"),
    **dict.fromkeys(("deftest", "defspec", "deftest-"), "test"),
    "ns": "module",
    "declare": "",
    "fdef": "",
    "default": "",
}
_CLOJURE_FORMS = Forms(kinds=_CLOJURE_KINDS)
_CLOJURE_GROUPS = frozenset({"do", "let", "when", "when-not", "if", "binding", "letfn"})


def _clojure_list(node: "Node", source: bytes) -> Found | None:
    parts = node.children_by_field_name("value")
    if not parts or parts[0].type != "sym_lit":
        return None
    head = _clojure_word(parts[0], source)
    if head in _CLOJURE_GROUPS:
        return Found(GROUP, "", (node,))
    second = parts[1] if len(parts) > 1 else None
    name = _clojure_word(second, source) if second is not None else ""
    if head in ("require", "import", "use", "in-ns", "refer"):
        return Found(IMPORTS)
    kind = _CLOJURE_TYPES.get(head) or kind_of_head(head, _CLOJURE_FORMS)
    if kind == "variable" and parts[-1].type == "anon_fn_lit":
        kind = "function"
    if kind and name:
        return Found(kind, name, (node,) if head in _CLOJURE_TYPES else (), within=_CLOJURE_METHODS)
    # A macro around definitions: (usetime (defn ...)). Those of a remark are none: (comment (defn ...)).
    is_around = head != "comment" and any(_defines(it, source) for it in parts[1:])
    return Found(GROUP, "", (node,)) if is_around else None


def _defines(node: "Node", source: bytes) -> bool:
    parts = node.children_by_field_name("value") if node.type == "list_lit" else []
    head = _clojure_word(parts[0], source) if parts else ""
    return head in _CLOJURE_TYPES or bool(head and kind_of_head(head, _CLOJURE_FORMS))


def _clojure_method(node: "Node", source: bytes) -> Found | None:
    parts = node.children_by_field_name("value")
    return Found("method", _clojure_word(parts[0], source)) if parts and parts[0].type == "sym_lit" else None


_CLOJURE_METHODS = {"list_lit": _clojure_method}


def _clojure_word(node: "Node", source: bytes) -> str:
    """Return a symbol without its metadata; a keyword as it is."""
    if node.type == "kwd_lit":
        return text_of(node, source)
    name = child_of_type(node, "sym_name")
    return text_of(name, source).rpartition("/")[2] or text_of(name, source) if node.type == "sym_lit" else ""


def _clojure_fields(symbol: "Node", source: bytes) -> "Iterator[Part]":
    parts = symbol.children_by_field_name("value")
    if len(parts) > 2 and _clojure_word(parts[0], source) in ("defrecord", "deftype"):  # noqa: PLR2004 - its fields
        for field in parts[2].children_by_field_name("value") if parts[2].type == "vec_lit" else ():
            if name := _clojure_word(field, source):
                yield Part("property", name, field, field)


CLOJURE = Language(
    name="clojure",
    grammar=(BUNDLE, "clojure"),
    unsafe=nests_expressions,
    suffixes=(".clj", ".cljs", ".cljc", ".edn", ".bb", ".cljd"),
    rules={
        "list_lit": _clojure_list,
        **role(COMMENT, "comment", "dis_expr"),
        **groups("read_cond_lit", "splicing_read_cond_lit", "ERROR"),
    },
    line_comment=";",
    nodes=NodeTypes(parts={"list_lit": _clojure_fields}),
    usage=UsageNodes(
        calls=frozenset({"anon_fn_lit", "list_lit"}),
        called_first=frozenset({"anon_fn_lit", "list_lit"}),
        members=frozenset({"sym_lit"}),
    ),
)

ROWS = (CLOJURE,)
