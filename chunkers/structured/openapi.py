"""Cut OpenAPI, Swagger and AsyncAPI descriptions: one piece per operation and per schema, with familiar names."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.structured.data import JSON, context_of, piece_of, subject_of, tree_of
from cqm.chunkers.structured.entries import Draft, Shape, drafts_of
from cqm.chunkers.structured.key_paths import Path, path_text, scalar_of, step
from cqm.chunkers.structured.spans_of_json import STRING, Node, member, string_of

# OpenAPI 3.1, 4.8.9 "Path Item Object"; OpenAPI 3.2 adds "query".
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"})

# AsyncAPI 2 lists the client's actions in a channel, AsyncAPI 3 the application's actions in an operation.
_CHANNEL_METHODS = frozenset({"publish", "subscribe"})
_METHODS_OF = {"paths": _METHODS, "webhooks": _METHODS, "channels": _CHANNEL_METHODS}

_SECTIONS = frozenset({*_METHODS_OF, "operations", "components", "definitions"})
_COMPONENTS = frozenset({("components",), ("definitions",)})

# Deeper values are not indented further: a text must not grow with the square of its depth.
_DEEPEST_INDENT = 24

# In characters: a schema of a line or two is packed with its neighbours.
_LEAST_COMPONENT = 200

_HEAD = 4_000
_FORMATS = r"(?:openapi|swagger|asyncapi)"
_YAML_VERSION = re.compile(rf"""^["']?{_FORMATS}["']?[ \t]*:[ \t]*["']?\d""", re.MULTILINE)
_JSON_VERSION = re.compile(rf'"{_FORMATS}"\s*:\s*"\d')
_SORTED = re.compile(r'\s*\{\s*"(?:channels|components|definitions|basePath|consumes|host|info|externalDocs)"\s*:')
"""The beginning of a text with sorted keys: its version stands behind large members."""
_BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')
_STEPS = {"{": 1, "}": -1}
_FEW = 3
"""Texts of the version to look at: an example may quote it."""


class _Operation(NamedTuple):
    name: str
    facts: dict[str, Fact]


def is_openapi(text: str) -> bool:
    """Tell if a member of the root of a JSON or YAML text declares it as the description of an interface.

    It mostly stands in the first lines. Key-sorting tools write it behind "components" and "info".
    """
    head = text[:_HEAD]
    if not head.lstrip().startswith("{"):
        return _YAML_VERSION.search(head if "\npaths:" not in text and "\nchannels:" not in text else text) is not None
    if found := _JSON_VERSION.search(head):
        # It must be a member of the root, not the version of a package of the same name.
        return head.count("{", 0, found.start()) - head.count("}", 0, found.start()) == 1
    begun = _SORTED.match(head)
    return begun is not None and any(_is_member(text, it.start()) for it in islice(_JSON_VERSION.finditer(text), _FEW))


def _is_member(text: str, at: int) -> bool:
    """Tell if a position of a JSON text stands in its root object."""
    depth = 0
    for found in _BRACES.finditer(text, 0, at):
        depth += _STEPS.get(found[0], 0)
    return depth == 1


def pieces_of_openapi(text: str, language: str, options: ChunkOptions) -> Cut:
    """Cut a description of an interface at its operations and components.

    Operations are pieces of their own, "GET /pets/{id}"; entries shared by all operations of a path go with one of
    them. Very small components such as "components.schemas.Pet" are packed. A piece's context shows the interface and
    the operation; the content of a JSON piece is in YAML.

    Parameters:
        language: "json" or "yaml".
    """
    root, warnings = tree_of(text, language)
    if root is None:
        return [], warnings
    operations = dict(_operations(text, root))
    title = " ".join(filter(None, (scalar_of(text, member(root, "info", key)) for key in ("title", "version"))))
    drafts = drafts_of(text, root, Shape(_opens, _is_apart), options)
    pieces = [_piece(text, draft, title, operations) for draft in drafts]
    if language == JSON:
        pieces = [piece._replace(content=_readable(text, draft)) for piece, draft in zip(pieces, drafts, strict=True)]
    return pieces, warnings


def _opens(parent: Path, node: Node) -> bool:
    if not parent:
        return node.key in _SECTIONS
    if len(parent) > 1:
        return False
    methods = _METHODS_OF.get(parent[0], frozenset())
    return parent == ("components",) or any(child.key in methods for child in node.children)


def _is_apart(parent: Path, node: Node) -> bool:
    if parent[:1] in _COMPONENTS and len(parent) == (2 if parent[0] == "components" else 1):
        return node.end - node.entry >= _LEAST_COMPONENT
    return _is_operation(parent, node)


def _is_operation(parent: Path, node: Node) -> bool:
    if len(parent) == 2:  # noqa: PLR2004 - a section, and a path in it
        return node.key in _METHODS_OF.get(parent[0], ())
    return parent == ("operations",)


def _operations(text: str, root: Node) -> Iterator[tuple[Path, _Operation]]:
    for section in root.children:
        for number, outer in enumerate(section.children if section.key in _SECTIONS else ()):
            path = (section.key, step(text, outer, number))
            if _is_operation(path[:1], outer):
                verb = scalar_of(text, member(outer, "action")).upper()
                yield path, _operation(text, outer, verb, outer.key)
            for inner in outer.children:
                if _is_operation(path, inner):
                    yield (*path, inner.key), _operation(text, inner, inner.key.upper(), outer.key)


def _operation(text: str, node: Node, method: str, path: str) -> _Operation:
    facts: dict[str, Fact] = {"http_method": method, "path": path}
    for fact, key in (("operation_id", "operationId"), ("summary", "summary")):
        if value := scalar_of(text, member(node, key)):
            facts[fact] = value
    if tags := tuple(_tags(text, member(node, "tags"))):
        facts["tags"] = tags
    return _Operation(f"{method} {path}".strip(), facts)


def _tags(text: str, node: Node | None) -> Iterator[str]:
    if node is None:
        return
    # AsyncAPI writes tags as objects with names; YAML may write the list in one line.
    listed = [scalar_of(text, tag) or scalar_of(text, member(tag, "name")) for tag in node.children]
    for tag in listed or scalar_of(text, node).strip("[]").split(","):
        if name := tag.strip(" \"'"):
            yield name


def _piece(text: str, draft: Draft, title: str, operations: dict[Path, _Operation]) -> Piece:
    piece = piece_of(text, draft)
    subject = subject_of(text, draft)
    path = next((path for path in (subject[:3], subject[:2]) if path in operations), ())
    if not path:
        above = title if draft.start else ""
        return piece._replace(context="\n".join(filter(None, (above, context_of(draft.outer)))))
    name, own = operations[path]
    begins = len(draft.outer) < len(path)
    context = "\n".join(filter(None, (title, name, "" if begins else str(own.get("summary", "")))))
    defines = tuple(filter(None, (name, str(own.get("operation_id", ""))))) if begins else ()
    facts = {**piece.facts, **own, **({"key_path": path_text(path)} if begins else {})}
    return piece._replace(kind="operation", symbol=name, context=context, defines=defines, facts=facts)


def _readable(text: str, draft: Draft) -> str:
    opened = draft.parent[len(draft.outer) :] if draft.entries else ()
    lines = [f"{'  ' * depth}{part}:" for depth, part in enumerate(opened)]
    return "\n".join([*lines, *("\n".join(_lines(text, entry.node, len(opened))) for entry in draft.entries)])


def _lines(text: str, node: Node, depth: int) -> Iterator[str]:
    waiting = [(node, depth, "")]
    while waiting:
        node, depth, dashes = waiting.pop()
        indent = "  " * min(depth, _DEEPEST_INDENT)
        lead = indent[: len(indent) - len(dashes)] + dashes
        if not node.key and not node.children:
            yield f"{lead}- {_value(text, node, indent)}"
            continue
        if node.key:
            yield f"{lead}{node.key}: {'' if node.children else _value(text, node, indent)}".rstrip()
            dashes = ""
        elif len(dashes) < 2 * _DEEPEST_INDENT:
            dashes += "- "
        inner = [(child, depth + 1, "") for child in node.children]
        waiting.extend(reversed([(inner[0][0], depth + 1, dashes), *inner[1:]] if inner else []))


def _value(text: str, node: Node, indent: str) -> str:
    if node.kind != STRING:
        return text[node.start : node.end]
    value = string_of(text, node) or text[node.start + 1 : node.end - 1]
    if "\n" not in value:
        return value
    return "|\n" + "\n".join(f"{indent}  {line}".rstrip() for line in value.split("\n"))
