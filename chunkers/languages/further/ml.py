"""Define the rows of OCaml and F#."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
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
    by_child,
    by_field,
    child_of_type,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import without_markup
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from cqm.chunkers.languages.model import Rule

_MOST_NODES = 5_000


def _several(binding: str, single: "Rule") -> "Rule":
    """Return a rule for "let ... and ...": a group of bindings, or the only one."""

    def rule(node: "Node", source: bytes) -> Found | None:
        bindings = [it for it in node.named_children if it.type == binding]
        if len(bindings) > 1:
            return Found(GROUP, "", (node,))
        return single(bindings[0], source) if bindings else None

    return rule


def _let(node: "Node", source: bytes) -> Found | None:
    pattern, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
    while pattern is not None and pattern.type in ("typed_pattern", "parenthesized_pattern", "tuple_pattern"):
        pattern = pattern.named_children[0] if pattern.named_children else None
    if pattern is not None and pattern.type == "string":
        # let%test "adds" = ...
        return Found("test", text_of(pattern, source).strip('"'))
    if pattern is None or pattern.type not in ("value_name", "value_pattern", "parenthesized_operator"):
        return None
    name = text_of(pattern, source).strip("() ")
    is_function = child_of_type(node, "parameter") is not None or (
        body is not None and body.type in ("fun_expression", "function_expression")
    )
    return Found("function" if is_function else "variable", name) if name != "_" else None


def _further_values(node: "Node", source: bytes) -> "Iterator[Part]":
    binding = child_of_type(node, "let_binding") if node.type == "value_definition" else node
    pattern = binding.child_by_field_name("pattern") if binding is not None else None
    while pattern is not None and pattern.type in ("parenthesized_pattern", "typed_pattern"):
        pattern = pattern.named_children[0] if pattern.named_children else None
    if pattern is not None and pattern.type == "tuple_pattern":
        for name in pattern.named_children[1:]:
            if name.type in ("value_name", "value_pattern"):
                yield Part("", text_of(name, source), name, name, is_beside=True)


def _ocaml_type(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name"), source)
    return Found("type", name.rpartition(".")[2])


def _ocaml_parts(node: "Node", source: bytes) -> "Iterator[Part]":
    waiting, left = [node], _MOST_NODES
    while waiting and left > 0:
        for child in waiting.pop().named_children:
            left -= 1
            if child.type == "constructor_declaration":
                name = child_of_type(child, "constructor_name")
                if name is not None:
                    yield Part("constant", text_of(name, source), child, name)
                    yield from _ocaml_fields(child, text_of(name, source), source)
            elif child.type == "field_declaration":
                name = child_of_type(child, "field_name")
                if name is not None:
                    yield Part("property", text_of(name, source), child, name)
            elif child.type in ("type_binding", "variant_declaration", "record_declaration"):
                waiting.append(child)


def _ocaml_fields(constructor: "Node", own: str, source: bytes) -> "Iterator[Part]":
    """Yield the fields of `A of { x : int }`."""
    record = child_of_type(constructor, "record_declaration")
    for field in record.named_children[:_MOST_NODES] if record is not None else ():
        name = child_of_type(field, "field_name")
        if name is not None:
            yield Part("property", f"{own}.{text_of(name, source)}", field, name)


def _ocaml_include(node: "Node", _source: bytes) -> Found:
    bodies = _ocaml_bodies(node.child_by_field_name("module"))
    return Found(GROUP, "", bodies) if bodies else Found(IMPORTS)


def _ocaml_module(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(node, "module_name"), source)
    bodies = [it for field in ("module_type", "body") for it in _ocaml_bodies(node.child_by_field_name(field))]
    return Found("module", name, tuple(bodies))


def _ocaml_bodies(expression: "Node | None") -> "tuple[Node, ...]":
    """Find a module's bodies, `sig ... end = struct ... end`, and those passed on, `Make (struct ... end)`."""
    found: list[Node] = []
    waiting, left = [expression] if expression is not None else [], _MOST_WRAPPERS
    while waiting and left > 0:
        node, left = waiting.pop(), left - 1
        if node.type in ("structure", "signature"):
            found.append(node)
        else:
            waiting += [it for it in node.named_children if it.type in _OCAML_MODULES][::-1]
    return tuple(found)


_OCAML_MODULES = frozenset({"structure", "signature", "functor", "module_type_constraint", "parenthesized_module"}) | {
    *("module_application", "parenthesized_module_expression", "typed_module_expression", "packed_module")
}
_MOST_WRAPPERS = 24


def _ocaml_class(node: "Node", source: bytes) -> Found:
    body = node.child_by_field_name("body")
    for _ in range(_MOST_WRAPPERS):
        if body is None or body.type in ("object_expression", "class_body_type"):
            break
        body = body.child_by_field_name("body") or child_of_type(body, "object_expression", "class_body_type")
    return Found("class", by_child("class_name", "class_type_name")(node, source), (body,) if body else ())


def _ocaml_interface(node: "Node", source: bytes) -> Found:
    body = node.child_by_field_name("body") or child_of_type(node, "signature")
    inner = body if body is None or body.type == "signature" else child_of_type(body, "signature")
    return Found("interface", text_of(child_of_type(node, "module_type_name"), source), (inner,) if inner else ())


def _ocaml_specification(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(node, "value_name", "parenthesized_operator"), source).strip("() ")
    kind = node.child_by_field_name("type") or (node.named_children[-1] if node.named_children else None)
    return Found("function" if kind is not None and "function" in kind.type else "variable", name)


def _ocaml_exception(node: "Node", source: bytes) -> Found:
    return Found(
        "exception", by_child("constructor_name")(child_of_type(node, "constructor_declaration") or node, source)
    )


_OCAML_NODES = NodeTypes(
    bodies=frozenset({"structure", "signature"}),
    bodiless=frozenset({"value_specification", "external"}),
    loose=frozenset({"value_specification", "exception_definition", "instance_variable_definition"}),
    parts={
        **dict.fromkeys(("type_definition", "type_binding"), _ocaml_parts),
        **dict.fromkeys(("value_definition", "let_binding"), _further_values),
    },
)


def _is_piped(_leaf: "Node", whole: "Node", source: bytes) -> bool:
    """Whether a value is piped into a name, or a name is applied to the next value: "3 |> total", "total @@ 3"."""
    if whole.parent is None or whole.parent.type != "infix_expression":
        return False
    before = text_of(whole.prev_named_sibling, source)
    return before == "|>" or text_of(whole.next_named_sibling, source) in {"@@", "<|"}


OCAML = Language(
    name="ocaml",
    grammar=(BUNDLE, "ocaml"),
    unsafe=nests_expressions,
    suffixes=(".ml", ".mli", ".mll", ".mly", ".eliom"),
    rules={
        "value_definition": _several("let_binding", _let),
        "let_binding": _let,
        "type_definition": _several("type_binding", _ocaml_type),
        "type_binding": _ocaml_type,
        "module_definition": _several("module_binding", _ocaml_module),
        "module_binding": _ocaml_module,
        "module_type_definition": _ocaml_interface,
        "class_definition": _several("class_binding", _ocaml_class),
        "class_binding": _ocaml_class,
        "class_type_definition": _several("class_type_binding", _ocaml_class),
        "class_type_binding": _ocaml_class,
        **symbols("method", "method_definition", "method_specification", name=by_child("method_name")),
        **symbols(
            "property",
            *("instance_variable_definition", "instance_variable_specification"),
            name=by_child("instance_variable_name"),
        ),
        "exception_definition": _ocaml_exception,
        **symbols("function", "external", name=by_child("value_name")),
        "value_specification": _ocaml_specification,
        **role(COMMENT, "comment", "line_number_directive"),
        "include_module": _ocaml_include,
        **role(IMPORTS, "open_module", "include_module_type"),
        **groups("ERROR"),
    },
    removed=(without_markup,),
    nodes=_OCAML_NODES,
    usage=UsageNodes(
        calls=frozenset({"application_expression"}), members=frozenset({"value_path"}), is_called=_is_piped
    ),
)


_FSHARP_TYPES = {
    "record_type_defn": "struct",
    "union_type_defn": "enum",
    "enum_type_defn": "enum",
    "anon_type_defn": "class",
    "delegate_type_defn": "type",
    "type_abbrev_defn": "type",
    "interface_type_defn": "interface",
    "type_extension": "extension",
}


def _fsharp_let(node: "Node", source: bytes) -> Found | None:
    defined = (
        child_of_type(node, "function_or_value_defn", "value_definition") if node.type.startswith("decl") else node
    )
    head = child_of_type(defined, "function_declaration_left", "value_declaration_left")
    name = _fsharp_name(head, source)
    if head is None or not name or name == "_":
        return None
    body = defined.child_by_field_name("body") if defined is not None else None
    is_function = head.type == "function_declaration_left" or (body is not None and body.type == "fun_expression")
    return Found("function" if is_function else variable_kind(name), name)


def _fsharp_name(head: "Node | None", source: bytes) -> str:
    """Return the name in "inline (+!) a b", "total (lines: Line list)", "mutable count: int", "(|Even|Odd|) n"."""
    if head is None:
        return ""
    first = child_of_type(head, "identifier", "op_identifier", "active_pattern", "long_identifier")
    if first is not None:
        return text_of(first, source).strip("() ")
    text = text_of(head, source)
    for word in ("mutable", "inline", "private", "internal", "public", "rec"):
        text = text.strip().removeprefix(f"{word} ")
    found = text.strip("( ").split("\n")[0]
    return found.split(":")[0].split(",")[0].split(" ")[0].strip("() ")


def _fsharp_further(node: "Node", source: bytes) -> "Iterator[Part]":
    defined = child_of_type(node, "function_or_value_defn") if node.type.startswith("decl") else node
    heads = [it for it in defined.named_children if it.type in _FSHARP_HEADS] if defined is not None else []
    for head in heads[1:]:
        yield Part("function", _fsharp_name(head, source), head, head, is_beside=True)


_FSHARP_HEADS = ("function_declaration_left", "value_declaration_left")


def _fsharp_types(node: "Node", source: bytes) -> Found | None:
    types = [it for it in node.named_children if it.type in _FSHARP_TYPES]
    if len(types) > 1:
        return Found(GROUP, "", (node,))
    return _fsharp_type(types[0], source) if types else None


def _fsharp_type(node: "Node", source: bytes) -> Found:
    named = child_of_type(node, "type_name")
    name = text_of(named.child_by_field_name("type_name") if named else None, source)
    kind = _FSHARP_TYPES[node.type]
    elements = [it for it in node.named_children if it.type == "type_extension_elements"]
    cases = child_of_type(node, "union_type_cases")
    if cases is not None and b"|" not in source[cases.start_byte : cases.end_byte] and cases.named_child_count == 1:
        before = source[max(0, cases.start_byte - 3) : cases.start_byte]
        kind = kind if b"|" in before else "type"
    elif kind == "class" and elements and child_of_type(node, "primary_constr_args") is None:
        is_abstract = all(text_of(it, source).lstrip().startswith("abstract") for it in elements)
        kind = "interface" if is_abstract else kind
    return Found(kind, name.rpartition(".")[2], (node,) if elements else ())


def _fsharp_parts(node: "Node", source: bytes) -> "Iterator[Part]":
    waiting, left = [node], _MOST_NODES
    while waiting and left > 0:
        for child in waiting.pop().named_children:
            left -= 1
            if child.type in ("record_field", "union_type_case", "enum_type_case"):
                name = child_of_type(child, "identifier")
                kind = "property" if child.type == "record_field" else "constant"
                if name is not None and (kind == "property" or text_of(name, source)[:1].isupper()):
                    yield Part(kind, text_of(name, source), child, name)
            elif child.type in ("record_fields", "union_type_cases", "enum_type_cases") or (
                child.type in _FSHARP_TYPES and node.type == "type_definition"
            ):
                waiting.append(child)


def _fsharp_member(node: "Node", source: bytes) -> Found | None:
    inner = child_of_type(
        node, "method_or_prop_defn", "member_signature", "additional_constr_defn", "property_or_ident"
    )
    if inner is None:
        return None
    if inner.type == "additional_constr_defn":
        return Found("constructor", "new")
    named = inner if inner.type == "property_or_ident" else child_of_type(inner, "property_or_ident", "identifier")
    named = named or inner.child_by_field_name("name")
    text = text_of(named, source) if named is not None else text_of(inner, source)
    own = _FSHARP_OWN.match(text)
    has_arguments = child_of_type(inner, "argument_patterns", "curried_spec") is not None or (
        inner.child_by_field_name("args") is not None
    )
    if inner.type == "member_signature":
        has_arguments = "->" in text_of(inner, source)
    return Found("method" if has_arguments else "property", (own["operator"] or own["name"]) if own else "")


_FSHARP_OWN = re.compile(
    r"\(\s*+(?P<operator>[^\s()]++)\s*+\)|(?:(?:``[^`\n]++``|[\w']++)\s*+\.\s*+)*+(?P<name>``[^`\n]++``|[\w']++)"
)
"""The name in "(+) (a: V)", "this.Total with get", "Largest: int"."""


_FSHARP_DIRECTIVE = re.compile(rb"^(?P<all>[ \t]*#(?:if|else|endif|nowarn|light)\b[^\n]*)", re.MULTILINE)


def _without_directives(source: bytes) -> bytes:
    # The grammar reads conditions only around whole declarations; both branches are read.
    return _FSHARP_DIRECTIVE.sub(blanked, source)


FSHARP = Language(
    name="fsharp",
    grammar=("tree_sitter_fsharp", "language"),
    extra="languages",
    removed=(_without_directives,),
    unsafe=nests_expressions,
    suffixes=(".fs", ".fsx", ".fsi", ".fsscript"),
    rules={
        **inlined("namespace", "namespace", name=by_field("name")),
        **inlined("module", "named_module", name=by_field("name")),
        **inlined("module", "module_defn", name=by_child("identifier", "long_identifier")),
        "declaration_expression": _fsharp_let,
        "function_or_value_defn": _fsharp_let,
        "type_definition": _fsharp_types,
        **dict.fromkeys(_FSHARP_TYPES, _fsharp_type),
        "member_defn": _fsharp_member,
        **symbols("exception", "exception_definition", name=by_field("exception_name")),
        **role(COMMENT, "xml_doc", "line_comment", "block_comment", "block_comment_content"),
        **role(LEADING, "attributes"),
        **role(IMPORTS, "import_decl", "compiler_directive_decl", "fsi_directive_decl"),
        **groups("type_extension_elements", "interface_implementation", "ERROR"),
    },
    line_comment="//",
    nodes=NodeTypes(
        above=frozenset({"attributes", "xml_doc", "line_comment", "block_comment"}),
        loose=frozenset({"exception_definition"}),
        parts={
            **dict.fromkeys(("type_definition", *_FSHARP_TYPES), _fsharp_parts),
            **dict.fromkeys(("declaration_expression", "function_or_value_defn"), _fsharp_further),
        },
    ),
    usage=UsageNodes(
        calls=frozenset({"application_expression"}),
        members=frozenset({"dot_expression", "long_identifier", "long_identifier_or_op"}),
        is_called=_is_piped,
    ),
)

ROWS = (OCAML, FSHARP)
