"""Define the rows of Elixir and Haskell."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    blanked,
    by_field,
    child_of_type,
    containers,
    first_named,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.unread import ELIXIR_LINES
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_ELIXIR_MODULES = {"defmodule": "module", "defprotocol": "interface", "defimpl": "class"}
_ELIXIR_FUNCTIONS = {
    "def": "function",
    "defp": "function",
    "defn": "function",
    "defnp": "function",
    "defdelegate": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
}
_ELIXIR_TESTS = frozenset({"test", "describe", "property", "setup", "setup_all"})
_ELIXIR_LEADING = frozenset(
    {"doc", "spec", "impl", "deprecated", "since", "typedoc", "dialyzer", "tag", "describetag", "decorate", "compile"}
)
_ELIXIR_TYPES = {"type": "type", "typep": "type", "opaque": "type", "callback": "function", "macrocallback": "macro"}
_ELIXIR_SETTINGS = frozenset(
    {
        *(
            "moduledoc",
            "behaviour",
            "derive",
            "optional_callbacks",
            "enforce_keys",
            "on_load",
            "external_resource",
            "vsn",
        ),
        *(
            "after_compile",
            "before_compile",
            "on_definition",
            "shortdoc",
            "moduletag",
            "preferred_cli_env",
            "recursive",
        ),
        *("primary_key", "foreign_key_type", "schema_prefix", "timestamps_opts", "requirements", "fallback_to_any"),
    }
)
"""Attributes of a module with a meaning for the compiler or for Mix, ExUnit and Ecto: they declare no constant."""
_MAX_HEAD = 8


def _elixir_head(node: "Node | None", source: bytes) -> str:
    # "get(id) when is_integer(id)", "t(a) :: term", "left + right", "name".
    for _ in range(_MAX_HEAD):
        if node is None:
            return ""
        if node.type == "call":
            return text_of(node.child_by_field_name("target"), source)
        operator = text_of(node.child_by_field_name("operator"), source) if node.type == "binary_operator" else ""
        if operator and operator not in ("when", "::"):
            return operator
        if node.type != "binary_operator":
            return text_of(node, source)
        node = node.child_by_field_name("left")
    return ""


def _elixir_call(node: "Node", source: bytes) -> Found | None:
    target = text_of(node.child_by_field_name("target"), source)
    first = _elixir_argument(node)
    if target in _ELIXIR_FUNCTIONS:
        name = _elixir_head(first, source)
        # "def unquote(name)()" has a name only when it runs.
        return None if name.startswith("unquote(") else Found(_ELIXIR_FUNCTIONS[target], name)
    body = child_of_type(node, "do_block")
    if target in _ELIXIR_MODULES:
        return Found(_ELIXIR_MODULES[target], _elixir_module(node, first, source), (body,) if body else ())
    if target in _ELIXIR_TESTS and body is not None:
        return Found("test", text_of(first, source).strip('"') or target, (body,), local=True)
    if target in ("use", "import", "alias", "require"):
        return Found(IMPORTS)
    if target in ("if", "unless") and body is not None:
        return Found(GROUP, "", tuple(filter(None, (body, child_of_type(body, "else_block")))))
    return Found("struct", "") if target in ("defstruct", "defexception") else None


def _elixir_fields(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the fields in `defstruct [:name, age: 0]`."""
    target = text_of(node.child_by_field_name("target"), source)
    waiting = [child_of_type(node, "arguments")] if target in ("defstruct", "defexception") else []
    while waiting:
        it = waiting.pop()
        for child in it.named_children if it is not None else ():
            if child.type == "atom":
                yield Part("property", text_of(child, source).lstrip(":"), child, child)
            elif child.type == "pair":
                key = child.child_by_field_name("key") or child
                yield Part("property", text_of(key, source).strip().rstrip(":"), child, key)
            elif child.type in ("list", "keywords"):
                waiting.append(child)


def _elixir_argument(node: "Node") -> "Node | None":
    arguments = child_of_type(node, "arguments")
    return arguments.named_children[0] if arguments and arguments.named_children else None


def _elixir_module(node: "Node", first: "Node | None", source: bytes) -> str:
    name = text_of(first, source)
    keywords = child_of_type(child_of_type(node, "arguments"), "keywords")
    return f"{name}.{text_of(keywords, source).removeprefix('for:').strip()}" if keywords and name else name


def _elixir_attribute(node: "Node", source: bytes) -> Found | None:
    call = node.child_by_field_name("operand")
    target = text_of(call.child_by_field_name("target"), source) if call and call.type == "call" else ""
    if target in _ELIXIR_LEADING:
        return Found(LEADING)
    if call is not None and target in _ELIXIR_TYPES:
        return Found(_ELIXIR_TYPES[target], _elixir_head(_elixir_argument(call), source))
    if not target or target in _ELIXIR_SETTINGS:
        return None
    return Found("constant", target)


_TAG = re.compile(rb"<\.?(?:[A-Z][\w.]*\.)?\Z")
_LONGEST_TAG = 100


def _is_component(text: "Node", start: int, source: bytes) -> bool:
    """Whether a name in a template opens the tag of a component: "<.button" in a sigil."""
    if text.parent is None or text.parent.type != "sigil":
        return False
    return _TAG.search(source[max(0, start - _LONGEST_TAG) : start]) is not None


ELIXIR = Language(
    name="elixir",
    by_lines=ELIXIR_LINES,
    grammar=(BUNDLE, "elixir"),
    suffixes=(".ex", ".exs"),
    filenames=("mix.lock",),
    rules={
        "call": _elixir_call,
        "unary_operator": _elixir_attribute,
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"block", "do_block"}),
        clauses=frozenset({"call"}),
        parts={"call": _elixir_fields},
        # Also definitions of a macro for its place of use, in a "quote do".
        local=(rb"def(?<!\wdef)(?:module|protocol|impl|p|macrop?)?[ \t]",),
    ),
    usage=UsageNodes(
        callees=frozenset({"target"}), texts=frozenset({"quoted_content"}), is_called_in_text=_is_component
    ),
)


def _haskell_name(node: "Node", source: bytes) -> str:
    name = node.child_by_field_name("name")
    if name is not None:
        return text_of(name, source).strip("()")
    infix = child_of_type(node, "infix")
    if infix is not None:
        return text_of(infix.child_by_field_name("operator"), source).strip("`")
    inner = child_of_type(node, "signature", "equation")
    synonym = (inner.child_by_field_name("synonym") or inner.child_by_field_name("name")) if inner else None
    names = child_of_type(node, "binding_list")
    return text_of(synonym or (names.named_children[0] if names and names.named_children else names), source)


def _haskell_names(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the names in `f, g :: Int` after the first one."""
    names = child_of_type(node, "binding_list")
    for name in names.named_children[1:] if names else ():
        yield Part("", text_of(name, source).strip("()"), node, name, is_beside=True)


def _haskell_constructors(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield constructors and fields of records, which stand beside their type."""
    waiting = [node]
    left = _MOST_NODES
    while waiting and left > 0:
        it = waiting.pop()
        left -= 1
        names = it.children_by_field_name("name") if it is not node else []
        listed = it.child_by_field_name("names") if it.type == "gadt_constructor" else None
        names = names or (listed.named_children if listed is not None else [])
        kind = "property" if it.type == "field" else "constructor"
        for name in names if it.type in _HASKELL_PARTS else ():
            yield Part(kind, text_of(name, source).strip("()"), it, name, is_beside=True)
        infix = it.child_by_field_name("operator") if it.type == "infix" else None
        if infix is not None:
            yield Part(kind, text_of(infix, source).strip("`"), it, infix, is_beside=True)
        if it is node or it.type in _HASKELL_HOLDERS:
            waiting += it.named_children[::-1]


_HASKELL_PARTS = frozenset({"prefix", "record", "newtype_constructor", "gadt_constructor", "field", "special"})
_HASKELL_HOLDERS = frozenset(
    {
        *("data_constructors", "data_constructor", "record", "fields", "newtype_constructor", "gadt_constructors"),
        *("gadt_constructor", "forall", "context"),
    }
)
_MOST_NODES = 5_000


# The grammar skips all from "#else" to "#endif". A branch of whole declarations reads well after the one above it; one
# continuing a declaration begins with a space, or follows an unfinished row.
_HASKELL_ELSE = re.compile(
    rb"\n(?P<directive>#[ \t]*(?:else|elif)\b[^\n]*)"
    rb"(?=(?:\n(?:[ \t]*|--[^\n]*|#[^\n]*|\{-(?:[^-]|-(?!\})){0,2000}+-\}[ \t]*)(?=\n)){0,60}+\n[A-Za-z_(])"
)


_ROW_BEFORE = 200
"""Bytes to look at above a directive, for the end of the row before."""


def _with_branches(source: bytes) -> bytes:
    return _HASKELL_ELSE.sub(_as_blank, source) if b"\n#" in source else source


def _as_blank(found: re.Match[bytes]) -> bytes:
    before = found.string[max(found.start() - _ROW_BEFORE, 0) : found.start()].rstrip()
    return found[0] if before.endswith((b"=", b",", b"(", b"|")) else blanked(found)


def _haskell_synonym(node: "Node", source: bytes) -> str:
    """Return the name in `pattern P x = ...`, `pattern P {x} = ...` and `pattern x :> y = ...`."""
    inner = first_named(node)
    head = inner.child_by_field_name("synonym") if inner is not None else None
    for field in ("function", "constructor", "operator"):
        for _ in range(_MOST_ARGUMENTS):
            head = (head.child_by_field_name(field) if head is not None else None) or head
    return text_of(head, source)


_MOST_ARGUMENTS = 8


def _haskell_instance(node: "Node", source: bytes) -> Found:
    patterns = text_of(node.child_by_field_name("patterns"), source)
    body = node.child_by_field_name("declarations")
    name = f"{text_of(node.child_by_field_name('name'), source)} {patterns}".strip()
    return Found("class", name, (body,) if body else ())


HASKELL = Language(
    name="haskell",
    grammar=(BUNDLE, "haskell"),
    removed=(_with_branches,),
    suffixes=(".hs", ".hsc", ".hs-boot"),
    rules={
        **symbols("function", "function", "signature", "bind", name=_haskell_name),
        **symbols("function", "pattern_synonym", name=_haskell_synonym),
        **symbols("function", "foreign_import", name=_haskell_name),
        **symbols("type", "data_type", "newtype", "type_synonym", "type_synomym", "type_family", "data_family"),
        **containers("class", "class", name=by_field("name"), bodies=("class_declarations",)),
        "instance": _haskell_instance,
        **role(COMMENT, "comment", "haddock"),
        **role(LEADING, "pragma", "fixity"),
        **role(IMPORTS, "import", "header"),
        **groups("imports", "declarations", "ERROR"),
    },
    line_comment="--",
    nodes=NodeTypes(
        clauses=frozenset({"bind", "function", "signature"}),
        equations=frozenset({"bind", "function"}),
        parts={
            "signature": _haskell_names,
            **dict.fromkeys(("data_type", "newtype", "data_instance"), _haskell_constructors),
        },
    ),
    usage=UsageNodes(calls=frozenset({"apply"})),
)

ROWS = (ELIXIR, HASKELL)
