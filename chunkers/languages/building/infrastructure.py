"""Define the rows of HCL (Terraform) and Dockerfiles."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    Found,
    Language,
    NodeTypes,
    Part,
    by_child,
    child_of_type,
    groups,
    role,
    symbols,
    text_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def _hcl_block(node: "Node", source: bytes) -> Found:
    kind, *labels = [
        text_of(it, source).strip('"') for it in node.named_children if it.type in ("identifier", "string_lit")
    ]
    body = child_of_type(node, "body")
    if kind == "locals" and not labels:
        return Found(GROUP, "", (body,) if body else ())
    if kind in ("data", "ephemeral"):
        labels = [kind, *labels]
    return Found(kind, ".".join(labels) or kind)


HCL = Language(
    name="hcl",
    grammar=(BUNDLE, "hcl"),
    suffixes=(".hcl", ".tf", ".tfvars", ".nomad", ".tofu"),
    rules={
        "block": _hcl_block,
        **symbols("variable", "attribute", name=by_child("identifier")),
        **role(COMMENT, "comment"),
        **groups("body", "ERROR"),
    },
    nodes=NodeTypes(bodies=frozenset({"body"}), loose=frozenset({"attribute"})),
)


_LABEL = re.compile(
    rb"^([ \t]*LABEL[ \t]+)([^\s=\"]+)([ \t]+)(?=[^\s=])([^=\r\n]*)(?=\r?$)", re.MULTILINE | re.IGNORECASE
)
_ARGUMENTS = re.compile(
    rb"^([ \t]*ARG[ \t]+[A-Za-z_]\w*(?:=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+))?)(?P<more>[ \t]+\S[^\r\n\\]*)(?=\r?$)",
    re.MULTILINE | re.IGNORECASE,
)
_OLD_ENV = re.compile(
    rb"^([ \t]*ENV[ \t]+[A-Za-z_]\w*[ \t]+)(?P<value>[^\s=\"'\\][^\r\n\\=]*)(?=\r?$)", re.MULTILINE | re.IGNORECASE
)
_PORT = re.compile(rb"^([ \t]*EXPOSE[ \t]+)(?P<ports>[^\r\n\\]+)(?=\r?$)", re.MULTILINE | re.IGNORECASE)
_HEREDOC = re.compile(rb"<<-?[\"']?(\w+)")


def _readable_dockerfile(source: bytes) -> bytes:
    """Blank parts unreadable to the grammar: further names of ARG, values of old forms of ENV and LABEL, ports."""
    if b"\r\n" in source:
        source = _with_line_feeds(source)
    source = _LABEL.sub(lambda it: it[1] + it[2] + b"=" + b"a" * (len(it[3]) - 1 + len(it[4])), source)
    source = _ARGUMENTS.sub(lambda it: it[1] + b" " * len(it["more"]), source)
    source = _OLD_ENV.sub(lambda it: it[1] + b"a" * len(it["value"]), source)
    return _PORT.sub(lambda it: it[1] + b"8" * len(it["ports"]), source)


def _with_line_feeds(source: bytes) -> bytes:
    """Replace carriage returns, which the grammar takes for text; a document in place becomes one long instruction."""
    result: list[bytes] = []
    marker = b""
    for line in source.split(b"\n"):
        text = line.rstrip(b"\r")
        ends = len(line) - len(text)
        begun = None if marker else _HEREDOC.search(text)
        if begun:
            marker = begun[1]
            text = text.replace(b"<<", b"aa")
        is_last = bool(marker) and not begun and text.strip() == marker
        if ends and marker and not is_last:
            text = (text if begun else b"a" * len(text))[:-1] + b" " * min(len(text), ends) + b"\\" * ends
        elif ends and text.endswith(b"\\"):
            text = text[:-1] + b" " * ends + b"\\"
        elif ends:
            # A blank at the end would be an argument; names stay where they are.
            word, space, rest = text.partition(b" ")
            is_named = word.upper() in {b"FROM", b"ARG", b"ENV"}
            text = text + b" " * ends if is_named else word + b" " * ends + space + rest
        marker = b"" if is_last else marker
        result.append(text)
    return b"\n".join(result)


def _stage(node: "Node", source: bytes) -> Found:
    alias = node.child_by_field_name("as")
    image = child_of_type(node, "image_spec")
    return Found("stage", text_of(alias or image, source))


def _environment(node: "Node", source: bytes) -> Found:
    return Found("variable", text_of(_first_name(node), source))


def _first_name(node: "Node") -> "Node | None":
    pair = child_of_type(node, "env_pair")
    return pair.child_by_field_name("name") if pair else None


def _further_variables(node: "Node", source: bytes) -> Iterator[Part]:
    for pair in node.named_children:
        name = pair.child_by_field_name("name") if pair.type == "env_pair" else None
        if name is not None and name != _first_name(node):
            yield Part("", text_of(name, source), pair, name, is_beside=True)


DOCKERFILE = Language(
    name="dockerfile",
    grammar=(BUNDLE, "dockerfile"),
    suffixes=(".dockerfile", ".containerfile"),
    filenames=("dockerfile", "containerfile"),
    rules={
        "from_instruction": _stage,
        **symbols("variable", "arg_instruction"),
        "env_instruction": _environment,
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
    removed=(_readable_dockerfile,),
    names_from_text=True,
    nodes=NodeTypes(opening=frozenset({"from_instruction"}), parts={"env_instruction": _further_variables}),
)

ROWS = (HCL, DOCKERFILE)
