"""Rows: SQL, HTML, CSS, XML, JSON, YAML, TOML."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.hazards import nests_indentation
from cqm.chunkers.languages.model import (
    COMMENT,
    GAP,
    GROUP,
    IMPORTS,
    Found,
    Language,
    child_of_type,
    containers,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SQL_KINDS = {
    "create_table": "table",
    "create_view": "view",
    "create_materialized_view": "view",
    "create_function": "function",
    "create_procedure": "function",
    "create_trigger": "function",
    "create_type": "type",
    "create_schema": "namespace",
    "create_database": "namespace",
}


def _sql_statement(node: "Node", source: bytes) -> Found | None:
    inner = node.named_children[0] if node.named_children else None
    if inner is None or not inner.type.startswith("create_"):
        return None
    if inner.type == "create_index":
        name = inner.child_by_field_name("column")
    else:
        name = child_of_type(inner, "object_reference", "identifier")
    return Found(_SQL_KINDS.get(inner.type, "statement"), text_of(name, source).replace('"', "").replace("`", ""))


SQL = Language(
    name="sql",
    grammar=("tree_sitter_sql", "language"),
    suffixes=(".sql", ".ddl", ".dml", ".psql", ".pgsql", ".mysql"),
    rules={
        "statement": _sql_statement,
        **role(COMMENT, "comment", "marginalia"),
        **groups("transaction", "block", "ERROR"),
    },
)


def _html_element(node: "Node", source: bytes) -> Found:
    tag = child_of_type(node, "start_tag", "self_closing_tag")
    name = text_of(child_of_type(tag, "tag_name"), source)
    for attribute in tag.named_children if tag else ():
        if text_of(child_of_type(attribute, "attribute_name"), source) == "id":
            value = text_of(child_of_type(attribute, "quoted_attribute_value", "attribute_value"), source)
            name = f"{name}#" + value.strip("\"'")
    return Found("element", name, (node,))


HTML = Language(
    name="html",
    grammar=("tree_sitter_html", "language"),
    suffixes=(".html", ".htm", ".xhtml"),
    rules={
        "element": _html_element,
        "script_element": _html_element,
        "style_element": _html_element,
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
)


def _css_at_rule(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block", "keyframe_block_list")
    head = text_of(node, source)[: body.start_byte - node.start_byte] if body else text_of(node, source)
    return Found("rule", " ".join(head.split()), (body,) if body and body.type == "block" else ())


def _css_rule(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block")
    selectors = " ".join(text_of(child_of_type(node, "selectors"), source).split())
    return Found("rule", selectors, (body,) if body else ())


CSS = Language(
    name="css",
    grammar=("tree_sitter_css", "language"),
    suffixes=(".css",),
    rules={
        "rule_set": _css_rule,
        **dict.fromkeys(("media_statement", "supports_statement", "keyframes_statement", "at_rule"), _css_at_rule),
        **role(COMMENT, "comment", "js_comment"),
        **role(IMPORTS, "import_statement", "charset_statement"),
        **groups("ERROR"),
    },
)


def _xml_name(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(child_of_type(node, "STag", "EmptyElemTag"), "Name"), source)


def _xml_text(node: "Node", source: bytes) -> Found | None:
    return None if text_of(node, source).strip() else Found(GAP)


XML = Language(
    name="xml",
    grammar=("tree_sitter_xml", "language_xml"),
    suffixes=(
        *(".xml", ".xsd", ".xsl", ".xslt", ".svg", ".plist", ".csproj", ".fsproj", ".vbproj", ".props", ".targets"),
        *(".resx", ".xaml", ".storyboard", ".xib", ".nuspec", ".wsdl", ".rss", ".atom", ".xcworkspacedata", ".kml"),
    ),
    rules={
        **containers("element", "element", name=_xml_name, bodies=("content",)),
        **role(COMMENT, "Comment"),
        "CharData": _xml_text,
        **groups("prolog", "ERROR"),
    },
)


def _key_text(node: "Node | None", source: bytes) -> str:
    return text_of(node, source).strip("\"'")


def _json_pair(node: "Node", source: bytes) -> Found:
    value = node.child_by_field_name("value")
    nested = value is not None and value.type in ("object", "array")
    return Found("key", _key_text(node.child_by_field_name("key"), source), (value,) if value and nested else ())


JSON = Language(
    name="json",
    grammar=("tree_sitter_json", "language"),
    suffixes=(".json", ".jsonc", ".json5", ".geojson", ".webmanifest", ".jsonld", ".har", ".code-workspace"),
    filenames=(".babelrc", ".eslintrc", ".prettierrc", ".swcrc", "composer.lock", "flake.lock"),
    rules={
        "pair": _json_pair,
        **role(COMMENT, "comment"),
        **groups("object", "array", "ERROR"),
    },
)

_YAML_NODES = ("block_node", "block_mapping", "block_sequence", "flow_mapping", "flow_sequence")


def _yaml_flow(node: "Node", _source: bytes) -> Found:
    # A key or a scalar is nothing by itself.
    return Found(GROUP, "", (node,)) if child_of_type(node, "flow_mapping", "flow_sequence") else Found(GAP)


def _yaml_pair(node: "Node", source: bytes) -> Found:
    return Found("key", _key_text(node.child_by_field_name("key"), source), (node,))


YAML = Language(
    name="yaml",
    grammar=("tree_sitter_yaml", "language"),
    unsafe=nests_indentation,
    suffixes=(".yaml", ".yml"),
    filenames=(".clang-format", ".clang-tidy", ".clangd"),
    rules={
        "block_mapping_pair": _yaml_pair,
        "flow_pair": _yaml_pair,
        "flow_node": _yaml_flow,
        **role(COMMENT, "comment"),
        **groups("document", "block_sequence_item", "ERROR", *_YAML_NODES),
    },
    line_comment="#",
)


def _toml_key(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(node, "bare_key", "dotted_key", "quoted_key"), source)


TOML = Language(
    name="toml",
    grammar=("tree_sitter_toml", "language"),
    suffixes=(".toml",),
    filenames=("cargo.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile"),
    rules={
        **inlined("table", "table", "table_array_element", name=_toml_key),
        **symbols("key", "pair", name=_toml_key),
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
    line_comment="#",
)

ROWS = (SQL, HTML, CSS, XML, JSON, YAML, TOML)
