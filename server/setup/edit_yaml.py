"""Put an entry into a block mapping of YAML, or take it out. PyYAML gives the positions; nothing else is touched."""

from collections.abc import Iterator, Mapping, Sequence

import yaml

from cqm.server.setup.edits import BrokenFileError, line_of, newline_of


def data_of(text: str) -> object:
    """Return the value of a document, its scalars as texts; an empty object for a blank one.

    Raises:
        BrokenFileError: it is not valid, or there are several documents.
    """
    value = _loaded(text, yaml.BaseLoader)
    return {} if value in (None, "") else value


def typed_data_of(text: str) -> object:
    """Return the value of a document, its scalars with their types.

    Raises:
        BrokenFileError: as `data_of`.
    """
    return _loaded(text, yaml.SafeLoader)


def _loaded(text: str, loader: type[yaml.BaseLoader | yaml.SafeLoader]) -> object:
    try:
        value: object = yaml.load(text, loader)  # noqa: S506 - both make plain data only
    except yaml.MarkedYAMLError as error:
        raise BrokenFileError(str(error.problem), error.problem_mark.line + 1 if error.problem_mark else 1) from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise BrokenFileError(str(error).partition("\n")[0], 1) from error
    except RecursionError as error:
        raise BrokenFileError("nested too deeply", 1) from error
    return value


def put(text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """Return a document with an entry at a path of two keys, new or in the place of an older one.

    Raises:
        BrokenFileError: the document is not valid, or its mappings are not written as blocks.
    """
    data_of(text)
    newline = newline_of(text)
    section, key = path
    root = yaml.compose(text, yaml.BaseLoader)
    if root is None or _is_null(root):
        return _ended(text, newline) + _written({section: {key: entry}}, "", newline)
    top = _block(root, text, "the document")
    indent = " " * top.start_mark.column
    found = _entry(top, section)
    if found is None:
        return _ended(text, newline) + _written({section: {key: entry}}, indent, newline)
    name, value = found
    at = _next_line(text, name.end_mark.index)
    if _is_null(value):
        return text[:at] + _ended_line(text[:at], newline) + _written({key: entry}, f"{indent}  ", newline) + text[at:]
    within = _block(value, text, section)
    inner = " " * within.start_mark.column
    block = _written({key: entry}, inner, newline)
    if old := _entry(within, key):
        start, end = _lines(text, *old)
        return text[:start] + block + text[end:]
    if within.start_mark.index < at:
        raise BrokenFileError(f"{section} begins in the line of its key", line_of(text, within.start_mark.index))
    return text[:at] + block + text[at:]


def cut(text: str, path: Sequence[str], *, is_empty_kept: bool) -> str:
    """Return a document without the entry at a path of two keys, which it has.

    Raises:
        BrokenFileError: the document is not valid, or its mappings are not written as blocks.
    """
    data_of(text)
    section, key = path
    outer = _entry(_block(yaml.compose(text, yaml.BaseLoader), text, "the document"), section)
    if outer is None:
        raise BrokenFileError(f"there is no {section}", 1)
    within = _block(outer[1], text, section)
    inner = _entry(within, key)
    if inner is None:
        raise BrokenFileError(f"there is no {section}.{key}", 1)
    start, end = _lines(text, *(outer if len(within.value) == 1 and not is_empty_kept else inner))
    return text[:start] + text[end:]


def _block(node: yaml.Node | None, text: str, name: str) -> yaml.MappingNode:
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise BrokenFileError(f"{name} is no block of keys", line_of(text, node.start_mark.index) if node else 1)
    return node


def _entry(node: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    found: Iterator[tuple[yaml.Node, yaml.Node]] = (pair for pair in reversed(node.value) if pair[0].value == key)
    return next(found, None)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and not node.value and node.style is None


def _next_line(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _lines(text: str, key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
    """Return the positions of an entry's lines, without the blank lines and comments behind them."""
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    end = max(_last(value), key.end_mark.index)
    return start, _next_line(text, end)


def _last(node: yaml.Node) -> int:
    """Return the end of the last scalar or bracket of a node: the end of a block includes the blank lines below."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _ended(text: str, newline: str) -> str:
    return text + _ended_line(text, newline)


def _ended_line(text: str, newline: str) -> str:
    return "" if not text or text.endswith("\n") else newline


def _written(value: Mapping[str, object], indent: str, newline: str) -> str:
    lines: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=2**31, default_flow_style=False)
    return "".join(f"{indent}{line}{newline}" for line in lines.splitlines())
