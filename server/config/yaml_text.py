"""YAML of a stranger as plain values; imported only where there is some."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml

from cqm.server.errors import SettingsError

_Name = tuple[str, ...]
_MAX_DEPTH = 8
_LONGEST_NAME = 100
_UNREADABLE = (yaml.YAMLError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError)
"""Errors of the parser for values contradicting their tags, such as `!!int ''`."""
_NULL = "tag:yaml.org,2002:null"


class NotYamlError(Exception):
    """A text is not YAML, or has more than plain data.

    Attributes:
        line: 1-based; 0 if it is not known.
    """

    def __init__(self, problem: object, line: int = 0) -> None:
        super().__init__(str(problem))
        self.line = line


def read_yaml(text: str, path: Path) -> tuple[dict[str, object], dict[_Name, str]]:
    """Read options by section, and the file and line of each.

    Raises:
        NotYamlError: it has an alias, is nested too deeply, or is no YAML.
        SettingsError: it is YAML and no options, or has the same key twice.
    """
    try:
        node = _Loader(text).get_single_node()
        return _unfold(node, path) if node and node.tag != _NULL else ({}, {})
    except yaml.MarkedYAMLError as error:
        raise NotYamlError(error.problem, error.problem_mark.line + 1 if error.problem_mark else 1) from error
    except _UNREADABLE as error:
        raise NotYamlError(error) from error


def read_value(text: str) -> object:
    """Read one value.

    Raises:
        NotYamlError: as `read_yaml`.
    """
    try:
        return _Loader(text).get_single_data()
    except (yaml.YAMLError, ValueError) as error:
        raise NotYamlError(error) from error


class _Loader(yaml.SafeLoader):
    """Plain data only: no alias (they can grow without bound), and no depth exhausting the stack."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """One node, as the base class does it."""
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call] # no annotation in the stubs
        if isinstance(event, yaml.AliasEvent) or self._depth >= _MAX_DEPTH:
            problem = "aliases are not allowed here" if isinstance(event, yaml.AliasEvent) else "nested too deeply"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=cast("yaml.error.Mark", event.start_mark))
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _unfold(node: yaml.Node, path: Path, above: _Name = ()) -> tuple[dict[str, object], dict[_Name, str]]:
    values: dict[str, object] = {}
    origins: dict[_Name, str] = {}
    for key, origin, value in _entries(node, path):
        name = (*above, key)
        origins[name] = origin
        if isinstance(value, yaml.MappingNode):
            values[key], within = _unfold(value, path, name)
            origins |= within
        elif (plain := _plain(value)) is not None:
            values[key] = plain
    return values, origins


def _entries(node: yaml.Node, path: Path) -> Iterator[tuple[str, str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise SettingsError(f"{path}:{node.start_mark.line + 1}: expected options as `name: value`.")
    seen: dict[str, int] = {}
    for key_node, value in node.value:
        line = key_node.start_mark.line + 1
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
        if not key or not key.isprintable() or len(key) > _LONGEST_NAME:
            raise SettingsError(f"{path}:{line}: an option's name must be a word.")
        if key in seen:
            raise SettingsError(f'{path}:{line}: "{key}" is already set in line {seen[key]}.')
        seen[key] = line
        yield key, f"{path}:{line}", value


def _plain(node: yaml.Node) -> object:
    constructor = yaml.constructor.SafeConstructor()
    value: object = constructor.construct_document(node)
    json.dumps(value, default=str)  # refuses numbers of more digits than can be written down
    return value
