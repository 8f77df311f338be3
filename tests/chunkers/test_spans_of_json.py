import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.structured.spans_of_json import ARRAY, OBJECT, Node, member, parse, string_of, value_of

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=30
)


def rebuilt(text: str, node: Node) -> object:
    """The value of a node, from the spans of its scalars and the keys alone."""
    if node.kind == OBJECT:
        return {child.key: rebuilt(text, child) for child in node.children}
    if node.kind == ARRAY:
        return [rebuilt(text, child) for child in node.children]
    return json.loads(text[node.start : node.end])


@pytest.mark.row("D4")
@given(value=VALUES, indent=st.sampled_from([None, 0, 2, "\t"]), ascii_only=st.booleans())
def test_the_spans_of_any_json_give_its_value_back(value: object, indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    parsed = parse(text)
    (root,) = parsed.values
    assert (rebuilt(text, root), value_of(text, root), parsed.error) == (value, value, -1)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        assert node.entry == node.start or text[node.entry] == '"'
        waiting.extend(node.children)


def test_the_values_of_json_lines_are_several() -> None:
    text = '{"a": 1}\n{"a": 2}\n'
    assert [text[node.start : node.end] for node in parse(text).values] == ['{"a": 1}', '{"a": 2}']


def test_comments_trailing_commas_and_keys_without_quotes_are_read() -> None:
    text = "// a\n{key: 'one', /* b } */ \"x\\ny\": [1, +2, .5,],}\n"
    parsed = parse(text)
    assert parsed.error == -1
    assert [(node.key, node.kind) for node in parsed.values[0].children] == [("key", "string"), ("x\ny", ARRAY)]
    assert text[parsed.values[0].children[1].entry] == '"'


@pytest.mark.parametrize(
    ("text", "error"),
    [('{"a": 1', 0), ("[1, 2}", 5), ("]", 0), ('["abc]', 1), ("[what ever]", 1), ("[1]\n}", 4)],
)
def test_what_is_broken_is_told_and_the_rest_is_read(text: str, error: int) -> None:
    assert parse(text).error == error


def test_a_part_of_a_text_has_the_positions_of_the_whole() -> None:
    text = 'x = {"a": [true]} y'
    (root,) = parse(text, 4, 17).values
    assert (root.start, root.end, text[root.children[0].start : root.children[0].end]) == (4, 17, "[true]")


def test_a_member_is_found_by_a_path_and_the_last_of_the_same_key_counts() -> None:
    text = '{"a": {"b": "one", "b": "two"}}'
    (root,) = parse(text).values
    assert string_of(text, member(root, "a", "b")) == "two"
    assert member(root, "a", "x") is None
    assert member(root, "a", "b", "c") is None
    assert string_of(text, None) == string_of(text, root) == ""


@given(st.text(alphabet="{}[]:,\"\\'/* \n\r\t\0-0ae語\ud800", max_size=80))
def test_no_text_makes_it_raise_and_nodes_lie_inside_each_other(text: str) -> None:
    waiting = [(0, len(text), node) for node in parse(text).values]
    while waiting:
        start, end, node = waiting.pop()
        assert start <= node.entry <= node.start < node.end <= end
        waiting.extend((node.start, node.end, child) for child in node.children)


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "count"),
    [
        ("[", 1),
        ("{", 1),
        ('"', 50_000),
        ("'", 50_000),
        ("/*", 33_333),
        ('{"a":', 1),
        ("a ", 100_000),
        ("a:", 0),
        ('"a":', 0),
        ("]", 0),
        ("\\", 1),
        ("//", 0),
    ],
)
def test_no_repetition_is_too_deep_or_too_slow(part: str, count: int) -> None:
    text = part * 100_000
    began = time.process_time()
    assert len(parse(text).values) == count
    assert time.process_time() - began < 5  # seconds; the slowest takes a quarter of one
