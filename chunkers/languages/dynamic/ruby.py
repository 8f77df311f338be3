"""Names declared by calls in Ruby: attributes, scopes, delegated methods, and fields of structures."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import Part, child_of_type, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_RUBY_ATTRIBUTES = (
    *("attr_accessor", "attr_reader", "attr_writer", "attr", "class_attribute", "thread_mattr_accessor"),
    *(f"{level}attr_{way}" for level in "cm" for way in ("accessor", "reader", "writer")),
)
_RUBY_MACROS = {
    **dict.fromkeys(_RUBY_ATTRIBUTES, "property"),
    **dict.fromkeys(
        ("scope", "alias_method", "alias_attribute", "delegate", "def_delegator", "def_delegators"), "method"
    ),
    **dict.fromkeys(("enum", "has_many", "has_one", "belongs_to", "attribute", "has_and_belongs_to_many"), "property"),
}
_ONE_NAME = frozenset(
    {
        *("scope", "alias_method", "alias_attribute", "has_many", "has_one", "belongs_to", "attribute"),
        *("has_and_belongs_to_many", "enum"),
    }
)


def declared_at_first(symbol: "Node", source: bytes) -> Iterator[Part]:
    """Yield the declarations in the first row of a Ruby class, which are no statement of its own for the outline."""
    body = symbol.child_by_field_name("body")
    parent = symbol.child_by_field_name("superclass")
    struct = child_of_type(parent, "call") if parent is not None else None
    if struct is not None:
        # "class Point < Struct.new(:x, :y)".
        yield from _fields(struct, source)
    if body is None:
        return
    for child in body.named_children:
        if child.start_point[0] > body.start_point[0]:
            return
        if child.type in ("call", "alias"):
            yield from declared_by_calls(child, source)


def declared_by_calls(call: "Node", source: bytes) -> Iterator[Part]:
    """Yield the attributes, scopes and aliases which a statement in a Ruby class declares."""
    if call.type == "alias":
        name = call.child_by_field_name("name")
        if name is not None:
            yield Part("method", text_of(name, source).lstrip(":"), call, name)
        return
    macro = text_of(call.child_by_field_name("method"), source)
    if macro in _RUBY_VISIBILITIES:
        # "private attr_reader :name".
        arguments = call.child_by_field_name("arguments")
        inner = child_of_type(arguments, "call") if arguments else None
        call, macro = inner or call, text_of(inner.child_by_field_name("method"), source) if inner else ""
    block = call.child_by_field_name("block")
    if block is not None and macro not in _RUBY_MACROS:
        yield from declared_at_first(block, source)
    arguments = call.child_by_field_name("arguments") if macro in _RUBY_MACROS else None
    names = [it for it in arguments.named_children if it.type in _RUBY_NAMES] if arguments else []
    if macro in _DELEGATORS:
        # "def_delegators :target, :one, :two" and "def_delegator :target, :method, :own".
        names = names[-1:] if macro == "def_delegator" else names[1:]
    if macro == "enum" and not names and arguments is not None:
        # "enum status: { open: 0 }".
        names = [key for it in arguments.named_children[:1] if (key := it.child_by_field_name("key"))]
    prefix = _prefix(arguments, source) if macro == "delegate" and arguments is not None else ""
    for name in names[:1] if macro in _ONE_NAME else names:
        yield Part(_RUBY_MACROS[macro], prefix + text_of(name, source).strip(":'\""), call, name)


def declared_in_body(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the declarations of `attr_reader :name if modern` and `alias old new unless done`."""
    body = node.child_by_field_name("body")
    if body is not None and body.type in ("alias", "call"):
        yield from declared_by_calls(body, source)


def _prefix(arguments: "Node", source: bytes) -> str:
    """Return the beginning of the methods' names in `delegate :name, to: :owner, prefix: true`."""
    pairs = [it for it in arguments.named_children if it.type == "pair"]
    given = {
        text_of(it.child_by_field_name("key"), source): text_of(it.child_by_field_name("value"), source) for it in pairs
    }
    prefix = given.get("prefix", "")
    word = given.get("to", "") if prefix == "true" else prefix if prefix.startswith((":", "'", '"')) else ""
    return f"{word.strip(_AROUND)}_" if word else ""


_AROUND = ":@'\""


_RUBY_VISIBILITIES = frozenset({"private", "protected", "public", "private_constant", "module_function"})
_DELEGATORS = frozenset({"def_delegator", "def_delegators"})
_RUBY_NAMES = frozenset({"simple_symbol", "string"})


def names_of_ruby(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the constants after the first one in `A, B = 1, 2` and `A = B = 3`, and the fields of a Struct."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type == "left_assignment_list":
        for name in [it for it in left.named_children if it.type == "constant"][1:]:
            yield Part("constant", text_of(name, source), node, name, is_beside=True)
    elif right is not None and right.type == "call":
        yield from _fields(right, source)
        block = right.child_by_field_name("block")
        if block is not None:
            yield from declared_at_first(block, source)
    while right is not None and right.type == "assignment":
        chained, right = right.child_by_field_name("left"), right.child_by_field_name("right")
        if chained is not None and chained.type == "constant":
            yield Part("constant", text_of(chained, source), node, chained, is_beside=True)


def _fields(call: "Node", source: bytes) -> Iterator[Part]:
    """Yield the fields in `Struct.new(:x, :y)` and `Data.define(:x)`."""
    if not source.startswith((b"Struct.new", b"Data.define"), call.start_byte):
        return
    arguments = call.child_by_field_name("arguments")
    for name in arguments.named_children if arguments else ():
        if name.type == "simple_symbol":
            yield Part("property", text_of(name, source).lstrip(":"), name, name)
