"""Define the rows of Bash, PowerShell, batch files and Vim script."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.building.unread_lines import readable_batch
from cqm.chunkers.languages.building.unread_powershell import readable_powershell, with_plain_operators
from cqm.chunkers.languages.building.unread_shell import readable_shell
from cqm.chunkers.languages.building.unread_vim import readable_vim
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Unread,
    by_child,
    child_of_type,
    groups,
    inlined,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.parts import names_of_bash
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import BASH_CONTINUES, BASH_LINES, BASH_SIGNS, POWERSHELL_LINES, POWERSHELL_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION = later(rb"\bfu(?:n|nc|nct|ncti|nctio|nction)?!?[ \t]")


def _vim_function(node: "Node", source: bytes) -> Found:
    declaration = child_of_type(node, "function_declaration")
    name = text_of(declaration.child_by_field_name("name"), source) if declaration else ""
    body = child_of_type(node, "body")
    # Functions of a dictionary may be made in a function.
    has_functions = body is not None and _FUNCTION.search(source, body.start_byte, body.end_byte) is not None
    return Found("function", name, (body,) if body and has_functions else (), local=True)


def _vim_let(node: "Node", source: bytes) -> Found | None:
    first = node.named_children[0] if node.named_children else None
    if first is None or first.type not in ("scoped_identifier", "identifier"):
        return None
    name = text_of(first, source)
    return Found(variable_kind(name), name)


def _augroup(node: "Node", source: bytes) -> Found | None:
    name = text_of(child_of_type(node, "augroup_name"), source)
    return Found("autocommands", name) if name and name.upper() != "END" else None


VIM = Language(
    name="vim",
    grammar=(BUNDLE, "vim"),
    suffixes=(".vim",),
    filenames=(".vimrc", "vimrc", ".gvimrc", "_vimrc"),
    rules={
        "function_definition": _vim_function,
        "let_statement": _vim_let,
        "const_statement": _vim_let,
        **symbols("command", "command_statement"),
        "augroup_statement": _augroup,
        **role(COMMENT, "comment"),
        **role(IMPORTS, "source_statement", "runtime_statement"),
        **groups("if_statement", "else_statement", "elseif_statement", "try_statement", "catch_statement", "ERROR"),
        **groups("for_loop", "while_loop"),
        "body": lambda node, _source: Found("group", "", (node,)),
    },
    removed=(readable_vim,),
    line_comment='"',
    nodes=NodeTypes(bodies=frozenset({"body"}), opening=frozenset({"augroup_statement"})),
)


def _label(node: "Node", source: bytes) -> Found:
    name = text_of(node, source).strip().lstrip(":").split()
    return Found("function", name[0] if name else "")


BATCH = Language(
    name="batch",
    grammar=(BUNDLE, "batch"),
    suffixes=(".bat", ".cmd"),
    rules={
        "label": _label,
        **symbols("variable", "variable_assignment", name=by_child("variable_name")),
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
    removed=(readable_batch,),
    nodes=NodeTypes(opening=frozenset({"label"})),
    usage=UsageNodes(calls=frozenset({"cmd"})),
)


def _bash_assignment(node: "Node", source: bytes) -> Found | None:
    assignment = node if node.type == "variable_assignment" else child_of_type(node, "variable_assignment")
    name = text_of(assignment.child_by_field_name("name"), source) if assignment else ""
    if not name and source.startswith((b"declare", b"typeset"), node.start_byte):
        # "declare -A options"; "export NAME" is about a variable of elsewhere.
        name = text_of(child_of_type(node, "variable_name"), source)
    return Found(variable_kind(name), name) if name else None


_DEFAULT = later(rb":[ \t]+\"?\$\{(\w+):?=")


def _bash_command(node: "Node", source: bytes) -> Found | None:
    if source.startswith(b"alias ", node.start_byte):
        argument = text_of(node.child_by_field_name("argument"), source)
        name, sign, _ = argument.partition("=")
        return Found("function", name) if sign and not name.startswith("-") else None
    if found := _DEFAULT.match(source, node.start_byte):
        # ": ${NAME:=value}".
        name = found[1].decode()
        return Found(variable_kind(name), name)
    return None


# Bash's grammar looks such characters up in the C library's table of the first 256, reading far beyond its end.
_BEYOND_LATIN_1 = later(rb"[\xc4-\xff][\x80-\xbf]*")


def _in_latin_1(source: bytes) -> bytes:
    return _BEYOND_LATIN_1.sub(lambda found: b"_" * len(found[0]), source)


BASH = Language(
    name="bash",
    by_lines=BASH_LINES,
    grammar=(BUNDLE, "bash"),
    suffixes=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild", ".command"),
    filenames=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", "pkgbuild"),
    removed=(_in_latin_1,),
    rules={
        **symbols("function", "function_definition"),
        "command": _bash_command,
        "variable_assignment": _bash_assignment,
        "declaration_command": _bash_assignment,
        **role(COMMENT, "comment"),
        **groups("if_statement", "else_clause", "elif_clause", "case_statement", "case_item", "compound_statement"),
        **groups("list", "variable_assignments", "ERROR"),
    },
    nodes=NodeTypes(
        loose=frozenset({"command"}),
        parts={"declaration_command": names_of_bash},
        local=(rb"function[ \t]+[\w:-]", rb"\(\)\s*\{"),
    ),
    unread=Unread(BASH_SIGNS, ends_at_rows=True, continues=BASH_CONTINUES, mends=False, masks=(readable_shell,)),
)


_CONFIGURATION = later(rb"configuration[ \t]+(?P<name>[\w.-]+)\s*\{", re.IGNORECASE)


def _powershell_pipeline(node: "Node", source: bytes) -> Found | None:
    if found := _CONFIGURATION.match(source, node.start_byte):
        return Found("function", found["name"].decode())
    return _powershell_assignment(node, source)


def _powershell_assignment(node: "Node", source: bytes) -> Found | None:
    assignment = child_of_type(node, "assignment_expression")
    left = child_of_type(assignment, "left_assignment_expression")
    name = text_of(left, source).lstrip("$").strip() if left else ""
    # "[string]$Name" and "$this.Name" are not plain variables.
    return Found("variable", name) if name.replace("_", "").replace(":", "").isalnum() else None


POWERSHELL = Language(
    name="powershell",
    by_lines=POWERSHELL_LINES,
    grammar=(BUNDLE, "powershell"),
    suffixes=(".ps1", ".psm1", ".psd1"),
    removed=(readable_powershell,),
    unread=Unread(POWERSHELL_SIGNS, mends=False, masks=(with_plain_operators,)),
    rules={
        **symbols("function", "function_statement", name=by_child("function_name")),
        **inlined("class", "class_statement", name=by_child("simple_name")),
        **inlined("enum", "enum_statement", name=by_child("simple_name")),
        **symbols("method", "class_method_definition", name=by_child("simple_name")),
        **symbols(
            "property",
            "class_property_definition",
            name=lambda node, source: by_child("variable")(node, source).lstrip("$"),
        ),
        **symbols("constant", "enum_member", name=by_child("simple_name")),
        "pipeline": _powershell_pipeline,
        **role(COMMENT, "comment"),
        **groups("statement_list", "if_statement", "statement_block", "ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"script_block"}),
        local=words("function filter class enum", rb"[ \t]+\w"),
        local_in_small=True,
    ),
)

ROWS = (VIM, BATCH, BASH, POWERSHELL)
