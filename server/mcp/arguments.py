"""Schemas of tools as agents read them best, and arguments as agents write them.

Agents guess names of other servers (`max_results`), write one value for a list, and pass null for nothing. An
unambiguous argument is understood; an unknown one is refused with the nearest name, never ignored.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from cqm.server.console import one_line

_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ("q", "question", "search", "search_query", "pattern", "text"),
    "path": ("directory", "dir", "folder", "root", "repo", "repo_path", "project_path", "file", "file_path"),
    "limit": ("max_results", "top_k", "k", "n", "count", "n_results", "num_results", "max_count"),
    "language": ("languages", "lang"),
    "kind": ("kinds", "symbol_kind"),
    "source": ("sources", "source_types"),
    "include": ("glob", "globs", "include_globs", "file_pattern", "paths", "include_patterns"),
    "exclude": ("exclude_globs", "ignore", "exclude_patterns"),
    "cursor": ("next_cursor",),
    "token_budget": ("max_tokens", "budget", "tokens"),
    "name": ("symbol", "symbol_name", "identifier", "query"),
    "what": ("symbol", "name", "symbol_name", "place", "target", "query", "lines", "commit", "message", "revision"),
    "wait_seconds": ("wait",),
    "force": ("rebuild", "reindex"),
    "changed_since": ("since", "modified_since"),
}
"""Our arguments, and other servers' names for them."""


_LONGEST_VALUE = 80


def slim_schema(schema: Mapping[str, Any], defaults: Mapping[str, str]) -> dict[str, Any]:
    """Return a schema of arguments in fewer tokens: no titles, no null beside a type, no default of null.

    Unknown arguments are refused (`additionalProperties`), as `accepted` does.

    Parameters:
        schema: of a tool, as the SDK makes it.
        defaults: the configured ones, by their name in braces in a description.
    """
    properties = {name: _slim(each, defaults) for name, each in schema.get("properties", {}).items()}
    slim = {"type": "object", "properties": properties, "additionalProperties": False}
    return slim | ({"required": schema["required"]} if schema.get("required") else {})


def _slim(schema: Mapping[str, Any], defaults: Mapping[str, str]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name not in {"title", "anyOf"}}
    for name, value in defaults.items():
        if "description" in kept:
            kept["description"] = kept["description"].replace(f"{{{name}}}", value)
    options = [it for it in schema.get("anyOf", ()) if it.get("type") != "null"]
    if len(options) == 1:
        kept = {**options[0], **kept}
    elif options:
        kept["anyOf"] = options
    default = kept.get("default", 0)
    if default is None or default is False or default == "":
        del kept["default"]
    if kept.get("type") == "object":
        del kept["additionalProperties"]
    # A number out of its range is refused with the range.
    return {name: value for name, value in kept.items() if name not in {"minimum", "maximum"}}


def accepted(tool: str, properties: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's arguments under our names, as a list where one is expected.

        accepted("search", properties, {"query": "x", "languages": "go", "max_results": 3, "path": None})
        # {"query": "x", "language": ["go"], "limit": 3}

    Raises:
        ToolError: an unknown argument, or two for one; it names the nearest.
    """
    known: dict[str, Any] = {}
    for given, value in arguments.items():
        name = given if given in properties else _ours(given, properties)
        if not name:
            raise ToolError(_refusal(tool, given, [*properties]))
        if name in known:
            raise ToolError(f"`{tool}` got `{name}` twice, once as `{given}`. Leave one out.")
        wanted = _as_wanted(value, properties[name])
        if wanted is not None:
            known[name] = wanted
    return known


def _as_wanted(value: Any, wanted: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return a value as its property wants it; None for nothing, also for empty names in place of a list or number."""
    kind, is_text = wanted.get("type"), wanted.get("type") == "string" and "enum" not in wanted
    if isinstance(value, str) and not value.strip() and not is_text:
        return None
    if kind == "array" and isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(it, str) for it in value):
        return [it for it in value if it.strip()] or None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if kind == "string" and is_number else value


def refused_values(tool: str, error: ValidationError) -> str:
    """Say which values of a call a tool does not take, in a line each."""
    said: dict[str, str] = {}
    for it in error.errors(include_url=False, include_context=False):
        name = str(it["loc"][0]) if it["loc"] else ""
        value = one_line(repr(it["input"]))
        value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}..."
        expected = f"{it['msg'][:1].lower()}{it['msg'][1:]}"
        said.setdefault(name, f"`{name}` is missing." if it["type"] == "missing" else f"`{name}` {value}: {expected}.")
    return f"`{tool}` does not take this. " + "\n".join(said.values())


def _ours(given: str, properties: Mapping[str, Any]) -> str:
    plain = given.lower().replace("-", "_")
    return next((name for name in properties if name == plain or plain in _NAMES.get(name, ())), "")


def _refusal(tool: str, given: str, names: Sequence[str]) -> str:
    meant = {other: name for name in names for other in (*_NAMES.get(name, ()), name)}
    near = get_close_matches(given.lower(), meant, 1)
    hint = f" Did you mean `{meant[near[0]]}`?" if near else ""
    return f"`{tool}` has no argument `{given}`.{hint} It has: {', '.join(names)}."
