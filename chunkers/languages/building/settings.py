"""Define the rows of INI files, properties and KDL."""

from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.building.unread_lines import readable_ini
from cqm.chunkers.languages.model import (
    COMMENT,
    Found,
    Language,
    NodeTypes,
    by_child,
    child_of_type,
    role,
    symbols,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _section(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(child_of_type(node, "section_name"), "text"), source)
    return Found("section", name, (node,))


def _setting(node: "Node", source: bytes) -> Found | None:
    name = text_of(child_of_type(node, "setting_name"), source).strip()
    return Found("key", name) if name and name != "_" else None


INI = Language(
    name="ini",
    grammar=(BUNDLE, "ini"),
    suffixes=(".ini", ".cfg", ".conf", ".cnf", ".service", ".socket", ".timer", ".desktop"),
    filenames=(
        *(".editorconfig", ".gitconfig", ".gitmodules", ".npmrc", ".pylintrc", ".flake8", ".coveragerc"),
        *(".hgrc", ".pypirc", "pip.conf"),
    ),
    rules={
        "section": _section,
        "setting": _setting,
        **role(COMMENT, "comment"),
        **role("", "section_name"),
    },
    removed=(readable_ini,),
)

PROPERTIES = Language(
    name="properties",
    grammar=(BUNDLE, "properties"),
    suffixes=(".properties", ".env", ".env.example", ".env.sample", ".env.template", ".env.dist"),
    rules={
        **symbols("key", "property", name=by_child("key")),
        **role(COMMENT, "comment"),
    },
)


def _node(node: "Node", source: bytes) -> Found:
    children = node.child_by_field_name("children")
    name = text_of(child_of_type(node, "identifier", "string"), source).strip('"')
    value = child_of_type(child_of_type(child_of_type(node, "node_field"), "value"), "string")
    # 'package "a"' is one of many packages.
    title = f"{name} {text_of(value, source)}" if children and value else name
    return Found("section" if children else "key", title, (children,) if children else ())


KDL = Language(
    name="kdl",
    grammar=(BUNDLE, "kdl"),
    suffixes=(".kdl",),
    rules={"node": _node, **role(COMMENT, "single_line_comment", "multi_line_comment")},
    nodes=NodeTypes(bodies=frozenset({"node_children"})),
)

ROWS = (INI, PROPERTIES, KDL)
