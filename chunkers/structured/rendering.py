"""Write JSON as people read it: in YAML's style, without quotes, brackets and escapes."""

from collections.abc import Iterator

from cqm.chunkers.structured.spans_of_json import STRING, Node, string_of

# Deeper values are not indented further: a text must not grow with the square of its depth.
_DEEPEST_INDENT = 24


def rendered(text: str, node: Node, depth: int = 0) -> str:
    """Return a value with its key as lines of "key: value", with nested values indented and items dashed.

    Parameters:
        text: the whole text.
        node: a node of the text.
        depth: levels of indentation.
    """
    return "\n".join(_lines(text, node, depth))


def _lines(text: str, node: Node, depth: int) -> Iterator[str]:
    waiting = [(node, depth, "")]
    while waiting:
        node, depth, dashes = waiting.pop()
        indent = "  " * min(depth, _DEEPEST_INDENT)
        lead = indent[: len(indent) - len(dashes)] + dashes
        if not node.key and not node.children:
            yield f"{lead}- {_value(text, node, indent)}"
            continue
        if node.key:
            yield f"{lead}{node.key}: {'' if node.children else _value(text, node, indent)}".rstrip()
            dashes = ""
        elif len(dashes) < 2 * _DEEPEST_INDENT:
            dashes += "- "
        inner = [(child, depth + 1, "") for child in node.children]
        waiting.extend(reversed([(inner[0][0], depth + 1, dashes), *inner[1:]] if inner else []))


def _value(text: str, node: Node, indent: str) -> str:
    if node.kind != STRING:
        return text[node.start : node.end]
    value = string_of(text, node) or text[node.start + 1 : node.end - 1]
    if "\n" not in value:
        return value
    return "|\n" + "\n".join(f"{indent}  {line}".rstrip() for line in value.split("\n"))
