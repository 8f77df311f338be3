"""Classify a value: a function, a component, a class, or an object with members."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.ecmascript.react import LOADERS, kind_of_class, kind_of_function
from cqm.chunkers.languages.model import COMPONENT, Found, first_named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
CALLS = frozenset({"call_expression", "new_expression"})
_WRAPPED = FUNCTIONS | CALLS
_MEMBERS = _WRAPPED | {"object", "class"}
_TYPED = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression"})

# Functions which return one of their arguments, a function, not always the last one.
_WRAPPERS = LOADERS | {"cache", "debounce", "forwardRef", "memo", "observer", "once", "throttle", "useCallback"}
_MAX_WRAPPERS = 4

# Methods which call the function given to them and return its result.
_CONSUMERS = frozenset(
    {
        *("catch", "every", "filter", "finally", "find", "findIndex", "findLast", "flatMap", "forEach", "from", "map"),
        *("reduce", "reduceRight", "replace", "replaceAll", "some", "sort", "then", "toSorted"),
    }
)


def value_of(kind: str, name: str, value: "Node | None", source: bytes) -> Found:
    """Classify a name by the value bound to it: `const f = () => ...` is a function.

    Parameters:
        kind: of a name with another value.
        value: the bound node; None without one.
    """
    form = ""
    while value is not None and (form := value.type) in _TYPED:
        value = value.named_children[0] if value.named_children else None
    if value is None:
        return Found(kind, name)
    if form in FUNCTIONS:
        return Found(kind_of_function(name, value), name)
    if form == "class":
        return class_of(name, value, source)
    if form == "object":
        return Found(kind, name, (value,) if has_members(value) else ())
    return _called(kind, name, value, source) if form in CALLS else Found(kind, name)


def has_members(value: "Node") -> bool:
    """Tell if an object has methods or other members; with nothing but data it is one value."""
    for member in value.named_children:
        bound = member.child_by_field_name("value") if member.type == "pair" else None
        if member.type == "method_definition" or (bound is not None and bound.type in _MEMBERS):
            return True
    return False


def _called(kind: str, name: str, call: "Node", source: bytes) -> Found:
    found = _called_with_function(kind, name, call, source) if holds_function(call, source) else None
    if found is not None or not holds(b"{", call, source):
        return found or Found(kind, name)
    arguments = arguments_of(call)
    return Found(kind, name, (arguments[-1],) if arguments and arguments[-1].type == "object" else ())


def _called_with_function(kind: str, name: str, call: "Node", source: bytes) -> Found | None:
    modules = tuple(filter(None, map(block_of, called_functions(call.child_by_field_name("function")))))
    if modules:
        # The module pattern: "const shop = (function () {...})()" has members.
        return Found(kind, name, modules, local=True)
    wrapped = _wrapped(call, arguments_of(call), source)
    if wrapped is None:
        return None
    loads = callee_of(call, source) in LOADERS and name[:1].isupper()
    return Found(COMPONENT if loads else kind_of_function(name, wrapped), name)


def _wrapped(call: "Node", arguments: "list[Node]", source: bytes) -> "Node | None":
    """Find the function wrapped by a call: "memo(forwardRef(() => ...))", "guarded(async () => {...})"."""
    for _ in range(_MAX_WRAPPERS):
        if not arguments or (arguments[0].type not in _WRAPPED and arguments[-1].type not in FUNCTIONS):
            return None
        last, callee = arguments[-1], callee_of(call, source)
        if last.type in FUNCTIONS and last.start_point[0] < last.end_point[0] and callee not in _CONSUMERS:
            return last
        if callee not in _WRAPPERS:
            return None
        if arguments[0].type in FUNCTIONS:
            return arguments[0]
        call = arguments[0]
        arguments = arguments_of(call)
    return None


def callee_of(call: "Node", source: bytes) -> str:
    """Return the callee's last word: "memo" for "React.memo(...)"."""
    callee = call.child_by_field_name("function")
    member = callee.child_by_field_name("property") if callee is not None else None
    name = member or callee
    return text_of(name, source) if name is not None and name.type in ("identifier", "property_identifier") else ""


def arguments_of(call: "Node") -> "list[Node]":
    """Return the arguments of a call, without comments."""
    arguments = call.child_by_field_name("arguments")
    return [part for part in arguments.named_children if part.type != "comment"] if arguments is not None else []


def class_of(name: str, node: "Node", source: bytes) -> Found:
    """Return the symbol of a class, which may be a component."""
    body = node.child_by_field_name("body")
    return Found(kind_of_class(name, body, source), name, (body,) if body else ())


def holds(sign: bytes, node: "Node", source: bytes) -> bool:
    """Tell if a node's text has a sign: far cheaper than a look at the inner nodes."""
    return source.find(sign, node.start_byte, node.end_byte) >= 0


def holds_function(node: "Node", source: bytes) -> bool:
    """Tell if a node's text may have a function."""
    return holds(b"=>", node, source) or holds(b"function", node, source)


def called_functions(callee: "Node | None") -> list["Node"]:
    """Return the functions invoked at once, as in `(function () { ... })()` and `(() => { ... }).call(this)`."""
    if callee is not None and callee.type == "member_expression":
        callee = first_named(callee)
    return callee.named_children if callee is not None and callee.type == "parenthesized_expression" else []


def block_of(node: "Node") -> "Node | None":
    """Return the block of a function; None for an arrow function without one, and for any other node."""
    if node.type not in FUNCTIONS:
        return None
    body = node.child_by_field_name("body")
    return body if body is not None and body.type == "statement_block" else None
