"""Functions and comments of a source file, by its syntax tree alone: what questions are made of and what answers them.

Nothing here asks our chunker. A doc comment is any comment that has its rows to itself and ends on the row above a
function, or above what is written over it (attributes, decorators); in Python it is the docstring. So one rule serves
languages that mark doc comments and those that do not.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from spans_set import _name as closure_name
from tree_sitter import Node, Parser

from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.table import BY_NAME

_BRACES = ("function_definition", "function_declaration", "method_declaration", "constructor_declaration")
_SCRIPTS = (
    *_BRACES, "generator_function_declaration", "method_definition", "lexical_declaration", "variable_declaration",
    "expression_statement", "public_field_definition",
)  # fmt: skip
FUNCTIONS: Mapping[str, frozenset[str]] = {
    "bash": frozenset({"function_definition"}),
    "c": frozenset({"function_definition"}),
    "cpp": frozenset({"function_definition"}),
    "csharp": frozenset({"method_declaration", "constructor_declaration"}),
    "go": frozenset({"function_declaration", "method_declaration"}),
    "java": frozenset({"method_declaration", "constructor_declaration"}),
    "javascript": frozenset(_SCRIPTS),
    "kotlin": frozenset({"function_declaration"}),
    "lua": frozenset({"function_declaration"}),
    "php": frozenset({"function_definition", "method_declaration"}),
    "python": frozenset({"function_definition"}),
    "ruby": frozenset({"method", "singleton_method"}),
    "rust": frozenset({"function_item"}),
    "scala": frozenset({"function_definition"}),
    "swift": frozenset({"function_declaration", "init_declaration"}),
    "typescript": frozenset(_SCRIPTS),
}
"""By language, the nodes of grammars that are functions."""
_TYPES = frozenset({
    "class_definition", "class_declaration", "abstract_class_declaration", "interface_declaration", "class", "module",
    "class_specifier", "struct_specifier", "namespace_definition", "struct_declaration", "trait_declaration",
    "object_declaration", "protocol_declaration", "impl_item", "trait_item", "mod_item", "object_definition",
    "trait_definition",
})  # fmt: skip
_OTHER_TYPES = frozenset({
    "struct_item", "enum_item", "union_item", "type_spec", "enum_declaration", "record_declaration", "enum_specifier",
    "enum_definition",
})  # fmt: skip
"""Types that hold no functions, or none that are named after them."""
_WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})
_OVER = frozenset({"attribute_item"})
"""What may stand between a doc comment and its function without being part of the latter's node."""
_MARKS = re.compile(r"^\s*(?:/\*[*!]?|\*+/|\*+(?!\*)|//[/!]?<?|#+)? ?|\s*\*+/\s*$")


@dataclass(frozen=True, slots=True)
class Comment:
    """Comments that follow each other, as plain text; rows from 0, both inclusive."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function as written: rows from 0, both inclusive, with decorators.

    Attributes:
        name: qualified.
        doc: None without one that has its rows to itself.
        is_inner: whether it lies in another function.
    """

    name: str
    first: int
    last: int
    doc: Comment | None
    is_inner: bool


class Source:
    """A file that is parsed.

    Parameters:
        text: with "\\n" as the only line end.
    """

    def __init__(self, text: str, language: str) -> None:
        self.language = language
        self.lines = text.split("\n")
        self._root = _parser(language).parse(text.encode()).root_node
        self._nodes = list(_walk(self._root))
        self.comments = _joined(list(self._lone_comments()), self.lines)
        self._by_last = {comment.last: comment for comment in self.comments}
        self._over = {row for node in self._nodes if node.type in _OVER for row in _rows(node)}

    def functions(self) -> Iterator[Function]:
        """All functions that have a name, outer ones first."""
        waiting: list[tuple[Node, tuple[str, ...], bool]] = [(self._root, (), False)]
        while waiting:
            node, scope, is_inner = waiting.pop()
            is_function = node.type in FUNCTIONS[self.language]
            name = self._name(node) if is_function or node.type in _TYPES else ""
            if name and is_function:
                yield self._function(node, ".".join((*scope, name)), is_inner=is_inner)
            within = (*scope, name) if name else scope
            inner = is_inner or bool(name and is_function)
            waiting.extend((child, within, inner) for child in reversed(node.named_children))

    def types(self) -> Iterator[Function]:
        """All types that have a name and a body, in order; their names are not qualified."""
        kinds = (_TYPES | _OTHER_TYPES) - FUNCTIONS[self.language]
        for node in self._nodes:
            if node.type in kinds:
                named = node.child_by_field_name("name") or node.child_by_field_name("type")
                if named is not None and node.start_point[0] < node.end_point[0]:
                    yield self._function(node, _text(named).partition("<")[0], is_inner=False)

    def _function(self, node: Node, name: str, *, is_inner: bool) -> Function:
        outer = node
        while outer.parent is not None and outer.parent.type in _WRAPPERS:
            outer = outer.parent
        first, last = outer.start_point[0], _rows(outer)[-1]
        while first - 1 in self._over:
            first -= 1
        doc = self._docstring(node) if self.language == "python" else self._by_last.get(first - 1)
        return Function(name, first, last, doc, is_inner)

    def _name(self, node: Node) -> str:
        if self.language in ("javascript", "typescript"):
            return closure_name(node)
        if node.type == "init_declaration":
            return "init"
        if self.language in ("c", "cpp") and node.type == "function_definition":
            return _declared(node)
        named = node.child_by_field_name("name") or node.child_by_field_name("type")
        return _text(named).partition("<")[0]

    def _docstring(self, node: Node) -> Comment | None:
        body = node.child_by_field_name("body")
        first = body.named_children[0] if body and len(body.named_children) > 1 else None
        if first is None or first.type != "expression_statement" or first.named_children[0].type != "string":
            return None
        try:
            value = ast.literal_eval(_text(first))
        except (SyntaxError, ValueError):
            return None
        if not isinstance(value, str):
            return None
        has_rows = self._has_its_rows(first)
        return Comment(_rows(first)[0], _rows(first)[-1], inspect.cleandoc(value)) if has_rows else None

    def _lone_comments(self) -> Iterator[Node]:
        return (node for node in self._nodes if "comment" in node.type and self._has_its_rows(node))

    def _has_its_rows(self, node: Node) -> bool:
        rows, text = _rows(node), _text(node).rstrip()
        return "".join(self.lines[rows[0] : rows[-1] + 1]).strip() == "".join(text.split("\n")).strip()


@cache
def _parser(language: str) -> Parser:
    return Parser(grammar(*BY_NAME[language].grammar))


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if "comment" not in node.type:
            waiting.extend(reversed(node.named_children))


def _rows(node: Node) -> range:
    """The rows of a node; some grammars end it behind the line end."""
    first = int(node.start_point[0])
    return range(first, first + (node.text or b"").rstrip().count(b"\n") + 1)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node else ""


def _declared(node: Node) -> str:
    """The name that a declarator of C or C++ declares."""
    below = node.child_by_field_name("declarator")
    while below is not None:
        node = below
        below = node.child_by_field_name("declarator") or (
            node.named_children[0] if node.type == "reference_declarator" and node.named_children else None
        )
    return re.sub(r"<.*?>", "", _text(node)).replace("::", ".") if "identifier" in node.type else ""


def _joined(nodes: Sequence[Node], lines: Sequence[str]) -> list[Comment]:
    """Comments with those that go on directly below at the same indentation; a block comment stands alone."""
    runs: list[list[Node]] = []
    for node in nodes:
        before = runs[-1][-1] if runs else None
        goes_on = (
            before is not None
            and _rows(before)[-1] + 1 == _rows(node)[0]
            and before.start_point[1] == node.start_point[1]
            and not _text(before).startswith("/*")
            and not _text(node).startswith("/*")
        )
        if goes_on:
            runs[-1].append(node)
        else:
            runs.append([node])
    return [_comment(_rows(run[0])[0], _rows(run[-1])[-1], lines) for run in runs]


def _comment(first: int, last: int, lines: Sequence[str]) -> Comment:
    text = "\n".join(_MARKS.sub("", line) for line in lines[first : last + 1])
    if "<summary>" in text:
        text = text.partition("<summary>")[2].partition("</summary>")[0]
    return Comment(first, last, inspect.cleandoc(text).strip())
