"""Guess the kinds of any grammar's nodes by the names of their types: rules for languages without a row."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING, Found, Rule, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: Mapping[str, str] = {
    word: kind
    for kind, words in {
        "function": "function func fn fun procedure proc subroutine sub def defun defn rule predicate operation",
        "method": "method",
        "constructor": "constructor",
        "class": "class object actor contract component model datasource generator resource entity",
        "interface": "interface protocol trait mixin primitive",
        "struct": "struct structure record union message exception",
        "enum": "enum enumeration",
        "module": "module mod namespace unit architecture service package program",
        "type": "type typedef alias newtype synonym data scalar typealias",
        "constant": "const constant",
        "variable": "variable var let lexical parameter param output local global",
        "property": "field property attribute member signal element",
        "macro": "macro",
        "test": "test",
    }.items()
    for word in words.split()
}
"""Kinds of symbols by a word in the type of their node, as some 170 grammars use them."""

_DEFINING = frozenset({"definition", "declaration", "decl", "def", "defn"})
_MAYBE_DEFINING = frozenset({"statement", "block", "item", "member", "form"})
_UNCLEAR = frozenset(
    {"type", "variable", "var", "parameter", "param", "attribute", "member", "object", "primitive"}
) | {*("entity", "resource", "alias", "output", "local", "global", "scalar", "union", "record", "package", "program")}
"""Words which alone, or as the last of a type's, more often tell of a use than of a declaration."""
_NOT_DEFINING = frozenset(
    {
        *("call", "expression", "reference", "pattern", "access", "argument", "arguments", "parameters", "use"),
        *("specifier", "modifier", "modifiers", "return", "forward", "instance", "instantiation", "header", "end"),
        *("head", "list", "name", "identifier", "literal", "operator", "scope", "value", "assignment", "foreign"),
    }
)
_HOLDERS = frozenset({"class", "interface", "struct", "enum", "module"})
_HEADERS = frozenset({"module", "namespace", "package", "unit"})
"""Words of nodes naming the whole file if they have no members."""
_LEADING = frozenset({"annotation", "annotations", "decorator", "decorators", "modifiers", "attributes", "visibility"})
_IMPORTS = frozenset({"import", "imports", "include", "using", "use", "require", "open"})
_NAMES = frozenset({"identifier", "name", "id", "symbol", "word", "var", "variable", "atom", "ident"})
_SKIPPED = _LEADING | {"comment", "modifier", "pub", "export", "doc", "trait"}
_FIELDS = ("name", "identifier", "declarator", "designator", "id")
_CLOSED = frozenset({"parameter", "parameters", "argument", "arguments", "expression", "call", "clause", "header"})
"""Words of nodes with children that declare nothing for the nodes around."""
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_LONGEST_NAME = 100
_PATH = re.compile(r"[\w$]+(?:[.:][\w$]+)+")
_NAME = re.compile(r"[^\s(){}\[\],;=\"]+")
_QUOTES = "'\"`"
_MOST_CHILDREN, _MOST_GRANDCHILDREN = 40, 8
_MAX_DEPTH = 4


def _words(type_: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(type_)]


def _kind_of(type_: str) -> str:
    """Return the kind told by a node's type; empty for none."""
    words = _words(type_)
    if "comment" in words:
        return COMMENT
    if not words or {*words} <= _LEADING or (words[0] in _LEADING | {"attribute"} and words[-1] == "item"):
        return LEADING if words else ""
    if words[-1] in _IMPORTS or words[0] in _IMPORTS:
        return IMPORTS
    kinds = [_KINDS[word] for word in words if word in _KINDS]
    if words[-1] in _DEFINING:
        return "" if _NOT_DEFINING & {*words} else (kinds or words)[-1 if kinds else 0]
    declares = words[-1] in _MAYBE_DEFINING or (words[-1] in _KINDS and words[-1] not in _UNCLEAR)
    return kinds[-1] if kinds and declares and not _NOT_DEFINING & {*words} else ""


def _name(node: "Node", source: bytes, depth: int = 0) -> str:
    """Return the name declared by a node: from its name field, or its first name-like child."""
    if (_is_name(node) and depth) or not node.named_child_count:
        text = text_of(node, source).strip(_QUOTES) if node.end_byte - node.start_byte <= _LONGEST_NAME else ""
        return text if _NAME.fullmatch(text) else ""
    if depth > _MAX_DEPTH:
        return ""
    text = text_of(node, source) if depth and node.end_byte - node.start_byte <= _LONGEST_NAME else ""
    if _PATH.fullmatch(text):
        return text
    fields = (node.child_by_field_name(field) for field in _FIELDS)
    named = next(filter(None, (_name(child, source, depth + 1) for child in fields if child is not None)), "")
    if named:
        return named
    children = [it for it in node.named_children[:_MOST_GRANDCHILDREN] if not _SKIPPED & {*_words(it.type)}]
    like_names = sorted(filter(_is_name, children), key=lambda it: "type" in it.type)
    inner = like_names[:1] or [it for it in children if it.named_child_count][:1]
    return _name(inner[0], source, depth + 1) if inner else ""


def _is_name(node: "Node") -> bool:
    words = _words(node.type)
    return bool(words) and words[-1] in _NAMES


class GuessedRules(Mapping[str, Rule]):
    """Rules for nodes of any type.

    Parameters:
        told: rules for types with misleading names.
    """

    def __init__(self, told: Mapping[str, Rule]) -> None:
        self._rules: dict[str, Rule] = dict(told)
        self._told = frozenset(told)
        self._kinds: dict[str, str] = {}

    def __getitem__(self, type_: str) -> Rule:
        rule = self._rules.get(type_)
        if rule is None:
            rule = self._rules[type_] = self._rule_of(type_)
        return rule

    def get(self, type_: str, _default: object = None) -> Rule:
        """Return the rule of a type: there is one for each."""
        return self[type_]

    def __contains__(self, type_: object) -> bool:
        """Tell if a type declares something, or is known."""
        return isinstance(type_, str) and bool(self.kind_of(type_))

    def __iter__(self) -> Iterator[str]:
        """Yield the types met so far."""
        return iter(self._rules)

    def __len__(self) -> int:
        """Return the number of types met so far."""
        return len(self._rules)

    def kind_of(self, type_: str) -> str:
        """Return the kind told by a type, without its node; empty for none."""
        kind = self._kinds.get(type_)
        if kind is None:
            kind = self._kinds[type_] = _kind_of(type_)
        return kind

    def _rule_of(self, type_: str) -> Rule:
        kind = self.kind_of(type_)
        if kind in (COMMENT, LEADING, IMPORTS):
            return lambda _node, _source: Found(kind)
        if not kind:
            return self._wrapper
        is_header = bool(_HEADERS & {*_words(type_)})

        def rule(node: "Node", source: bytes) -> Found | None:
            if is_header and b"\n" not in source[node.start_byte : node.end_byte].strip():
                return Found(IMPORTS)
            name = _name(node, source)
            if not name:
                return self._wrapper(node, source)
            has_members = kind in _HOLDERS or (kind == "type" and self._wrapper(node, source) is not None)
            return Found(kind, name.replace("::", "."), (node,) if has_members else ())

        return rule

    def _wrapper(self, node: "Node", _source: bytes) -> Found | None:
        """Group a node with a declaration among its children or grandchildren."""
        if node.is_error:
            return Found(GROUP, "", (node,))
        if _CLOSED & {*_words(node.type)}:
            return None
        children = node.named_children[:_MOST_CHILDREN]
        inner = [it for child in children[:_MOST_GRANDCHILDREN] for it in child.named_children[:_MOST_GRANDCHILDREN]]
        declares = any(self._declares(child.type) for child in (*children, *inner))
        return Found(GROUP, "", (node,)) if declares else None

    def _declares(self, type_: str) -> bool:
        return type_ in self._told or self.kind_of(type_) not in ("", COMMENT, LEADING, IMPORTS)
