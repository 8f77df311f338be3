"""Define the row of Groovy: programs, Gradle's build files and pipelines of Jenkins."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.building.unread_groovy import readable_members
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
    child_of_type,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.unread import GROOVY_LINES
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node

_TRAIT = later(rb"\btrait(?=[ \t]+[A-Z]\w*)")
_ENUM = later(
    rb"\benum[ \t]+(?:[A-Z]\w+|[A-Z][ \t])(?=[^{};\n]{0,400}\{)"
    rb"(?:[^{};\n]{0,400}\{(?P<values>(?:[\w\s,]|\([^(){}\n]{0,200}\)"
    rb"|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+)(?=[;}]))?"
)
_RECORD = later(
    rb"\brecord(?P<space>[ \t]+)(?P<name>[A-Z]\w*)(?P<parts>[ \t]*\([^(){};]{0,400}\))(?=[^{}();\n]{0,200}\{)"
)
_DECLARED = later(rb"\b(class|interface|enum|trait|record)\s+(\w+)")
_ARGUMENTS = later(rb"(?P<all>\([^()]*\))")
_LONGEST_HEAD = 2_000
_IMPLEMENTS = later(
    rb"(?P<head>\bclass[ \t]+\w+[ \t]+extends[ \t]+[\w.]+[ \t]*)(?P<more>implements\b[^{}\n]{0,400})(?=\{)"
)
_THROWS = later(rb"(?<=\))(?P<throws>[ \t]*throws[ \t]+[\w., \t]+)(?=\{|$)", re.MULTILINE)
_GENERICS = later(rb"(?<=[\w>])(?P<types><[\w \t,.?&\[\]]*>)(?=[ \t]*[\w>(\[,.{)])")
_SPREAD = later(rb"(?<=[\w\]>])(?P<dots>\.\.\.)(?=[ \t]+\w)")
_QUALIFIED = later(rb"(?<![\w.])(?P<outer>(?:[A-Z]\w*\.)+)(?=[A-Z]\w*(?:\[\])?[ \t]+[a-z]\w*[ \t]*[=(),;\n])")
_TUPLE = later(rb"\bdef[ \t]*(?P<names>\([\w, \t]*\))(?=[ \t]*=)")
_TASK = later(rb"^(?P<task>[ \t]*task[ \t]+\w+)(?P<options>[ \t]*\([^(){}\n]*\))(?=[ \t]*(?:\{|$))", re.MULTILINE)
_CONSTRUCTOR = later(
    rb"^(?P<space>[ \t]{4,}|[ \t]*(?:public|protected|private)[ \t]+)"
    rb"(?P<name>[A-Z]\w*)(?P<rest>\([^(){}\n]*\)[ \t]*\{)",
    re.MULTILINE,
)
_LETTERS = later(rb"[A-Z]\w*\Z")
_NO_WORD = later(rb"\W")


# "dependencies {", and no "items.values().sum {".
_CALLEE = later(r"[\w.]+")


def _readable_groovy(source: bytes) -> bytes:
    """Return readable Groovy of the same length: without types' arguments, interfaces, exceptions."""
    source = _RECORD.sub(lambda it: b"class " + it["space"] + it["name"] + b" " * len(it["parts"]), source)
    source = _ENUM.sub(_as_class, _TRAIT.sub(b"class", source))
    for pattern in (_GENERICS, _GENERICS, _GENERICS, _SPREAD, _QUALIFIED, _THROWS, _TASK):
        source = pattern.sub(_blanked_last, source)
    source = _IMPLEMENTS.sub(_blanked_last, source)
    source = _TUPLE.sub(lambda it: it[0].replace(it["names"], _NO_WORD.sub(b"_", b" " + it["names"][1:])), source)
    source = _CONSTRUCTOR.sub(
        lambda it: b" " * (len(it["space"]) - 4) + b"def " + it["name"].lower() + it["rest"], source
    )
    return readable_members(source)


def _as_class(found: re.Match[bytes]) -> bytes:
    """Make a class of an enumeration, and statements of its values; the rule reads the name in the text."""
    head = len(found["values"]) if found["values"] is not None else 0
    end = len(found[0]) - head
    name = found[0][len(b"enum") : end].lstrip()
    space = end - len(b"enum") - len(name)
    values = _ARGUMENTS.sub(blanked, found[0][end:]).replace(b",", b";")
    return b"class" + b" " * space + (name[1:] if name[1:2].strip() else name[:1] + name[2:]) + values


def _blanked_last(found: re.Match[bytes]) -> bytes:
    """Blank the last group of a match."""
    first, end = (it - found.start() for it in found.span(found.re.groups))
    return found[0][:first] + b" " * (end - first) + found[0][end:]


def _function(node: "Node", source: bytes) -> Found:
    name = node.child_by_field_name("function")
    if name is not None and name.type == "quoted_identifier":
        return Found("test", text_of(name, source).strip("'\""))
    # The first letters of a constructor may have become a word before it.
    began = _LETTERS.search(source, max(0, name.start_byte - 4), name.start_byte) if name is not None else None
    found = f"{began[0].decode() if began else ''}{text_of(name, source)}"
    return Found("constructor" if found[:1].isupper() else "function", found)


def _type(node: "Node", source: bytes) -> Found | None:
    body = node.child_by_field_name("body")
    end = body.start_byte if body else node.end_byte
    declared = _DECLARED.search(source[node.start_byte : min(end, node.start_byte + _LONGEST_HEAD)])
    if declared is None:
        return None
    kind = declared[1].decode().replace("record", "class")
    return Found(kind, declared[2].decode(), (body,) if body else ())


def _values(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the values of an enumeration."""
    body = node.child_by_field_name("body")
    found = _type(node, source)
    for it in body.named_children if body and found and found.kind == "enum" else ():
        if it.type == "identifier":
            yield Part("constant", text_of(it, source), it, it)


_BEFORE_CLOSURE = {"task": "task"}
_CALLS = {
    **dict.fromkeys(("stage",), "stage"),
    **dict.fromkeys(("tasks.register", "tasks.create", "tasks.named", "task"), "task"),
}
_WRAPPERS = frozenset({"pipeline", "stages", "node", "allprojects", "subprojects", "parallel", "timestamps", "timeout"})
_WORD = later(r"\w+")
_DOTS = later(r"\s+")


def _call(node: "Node", source: bytes) -> Found | None:
    callee = _DOTS.sub("", text_of(node.child_by_field_name("function"), source))
    arguments = node.child_by_field_name("args")
    parts = arguments.named_children if arguments else []
    closure = parts[-1] if parts and parts[-1].type == "closure" else None
    if callee in _BEFORE_CLOSURE and len(parts) == 1 and parts[0].type == "identifier":
        following = node.next_named_sibling
        if following is not None and following.type == "closure":
            return Found(LEADING)
        return Found(_BEFORE_CLOSURE[callee], text_of(parts[0], source))
    if kind := _CALLS.get(callee):
        name = text_of(parts[0], source).strip("'\"") if parts and parts[0].type == "string" else ""
        return Found(kind, name, (closure,) if closure and kind == "stage" else ()) if name else None
    if closure is None:
        return None
    if callee in _WRAPPERS:
        return Found(GROUP, "", (closure,))
    # "dependencies { ... }" of a build file.
    is_block = len(parts) == 1 and node.type == "juxt_function_call" and _CALLEE.fullmatch(callee)
    return Found("block", callee) if is_block else None


def _closure(node: "Node", source: bytes) -> Found | None:
    """Read "task docs {": a call without brackets, or two names, stands before the closure."""
    named = node.prev_named_sibling
    if named is None:
        return None
    callee, name = named.child_by_field_name("function"), named.child_by_field_name("args")
    if named.type == "identifier":
        callee, name = named.prev_named_sibling, named
    kind = _BEFORE_CLOSURE.get(text_of(callee, source))
    word = _WORD.match(text_of(name, source)) if kind else None
    return Found(kind, word[0]) if kind and word else None


GROOVY = Language(
    name="groovy",
    by_lines=GROOVY_LINES,
    grammar=(BUNDLE, "groovy"),
    suffixes=(".groovy", ".gradle", ".gvy", ".gsh", ".jenkinsfile"),
    filenames=("jenkinsfile",),
    rules={
        "class_definition": _type,
        **dict.fromkeys(("function_definition", "function_declaration"), _function),
        **symbols("variable", "declaration"),
        **dict.fromkeys(("function_call", "juxt_function_call"), _call),
        "closure": _closure,
        "pipeline": lambda node, _source: Found(GROUP, "", tuple(it for it in (child_of_type(node, "closure"),) if it)),
        **role(COMMENT, "comment", "groovy_doc"),
        **role(LEADING, "annotation", "identifier"),
        **role(IMPORTS, "groovy_import", "groovy_package"),
        **groups("ERROR"),
    },
    removed=(_readable_groovy,),
    names_from_text=True,
    nodes=NodeTypes(
        packages=frozenset({"groovy_package"}),
        bodies=frozenset({"closure"}),
        bodiless=frozenset({"function_declaration"}),
        parts={"class_definition": _values},
    ),
)

ROWS = (GROOVY,)
