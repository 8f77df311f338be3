"""Read the method of a service that a call of gRPC names, and the field that an operation of GraphQL asks for."""

import json
import re
from typing import NamedTuple

_LONGEST = 4_000
_MOST_NESTED = 100
_PACKAGE = r"(?:[a-z]\w{0,60}\.)"
_NAME = r"[A-Z]\w{1,80}"
_PATH = re.compile(
    rf"(?<![\w/.])(?<!GET )(?<!PUT )(?:/|(?={_PACKAGE}{{1,8}}{_NAME}/)){_PACKAGE}{{0,8}}"
    rf"(?P<service>{_NAME})/(?P<method>{_NAME})(?![\w/.])"
)
"""`/pkg.Service/Method`, or so without its first sign where it has a package."""
_ATTRIBUTES = re.compile(
    r"[\"']?(?:grpc|rpc)\.service[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:[a-z]\w{0,60}\.){0,8}(?P<service>[A-Z]\w{1,80})[\"']?[\s\S]{1,300}?"
    r"[\"']?(?:grpc|rpc)\.method[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<method>[A-Z]\w{1,80})"
)
_OPERATION = re.compile(
    r"\s{0,80}(?:(?P<kind>query|mutation|subscription)\s{0,8}(?:\w{1,80}\s{0,8})?(?:\([^()]{0,1000}\)\s{0,8})?(?:@\w[^{]{0,200})?)?"
    r"\{\s{0,80}(?:\w{1,80}\s{0,4}:\s{0,4})?(?P<field>[a-z]\w{1,80})\s{0,4}(?=[({\s}@])"
)
_SELECTION = re.compile(r"\{\s{0,80}\w")


class AskedMethod(NamedTuple):
    """A method of a service, or a field of a schema.

    Attributes:
        service: empty for a field.
        name: of the method or field.
        kind: of a field's operation: query, mutation or subscription; empty if unknown.
    """

    service: str
    name: str
    kind: str = ""


def method_in(text: str) -> AskedMethod | None:
    """Return the method or field that a call names; None for other texts.

    "/helloworld.Greeter/SayHello", "query A($id: ID!) { order(id: $id) { id } }", '{"errors": [{"path": ["order"]}]}'
    """
    if len(text) > _LONGEST or not ("/" in text or "{" in text):
        return None
    if "/" in text and len({*_PATH.findall(text)}) == 1 and (found := _PATH.search(text)):
        return AskedMethod(found["service"], found["method"])
    if "pc.method" in text and (found := _ATTRIBUTES.search(text)):
        return AskedMethod(found["service"], found["method"])
    return _of_operation(text) or _of_body(text)


def _of_operation(text: str) -> AskedMethod | None:
    """Return the first field of an operation; a block of code without its keyword is none."""
    found = _OPERATION.match(text) if "{" in text else None
    return AskedMethod("", found["field"], found["kind"]) if found and found["kind"] else None


def _of_body(text: str) -> AskedMethod | None:
    """Return the first field that a body of JSON asks for, or that an answer has an error of."""
    text = text.strip()
    if not (text.startswith("{") and ('"query"' in text or '"errors"' in text)) or text.count("{") > _MOST_NESTED:
        return None
    try:
        told = json.loads(text)
    except ValueError:
        return None
    if isinstance(query := told.get("query"), str) and (found := _OPERATION.match(query)) and _SELECTION.search(query):
        return AskedMethod("", found["field"], found["kind"] or "query")
    errors = told.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    path = first.get("path") if isinstance(first, dict) else None
    is_field = isinstance(path, list) and path and isinstance(path[0], str) and path[0].isidentifier()
    return AskedMethod("", path[0]) if is_field and path else None
