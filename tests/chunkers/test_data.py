import json
import tomllib

import pytest
import yaml
from gapless import assert_gapless
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

pytestmark = [pytest.mark.row("D4"), pytest.mark.row("B8")]

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)
ALONE = ChunkOptions(max_tokens=64, min_tokens=0)
LONG = "a value that is long enough to fill a piece of its own " * 3


def chunks_of(text: str, path: str, options: ChunkOptions = ALONE) -> tuple[Chunk, ...]:
    return chunk(Document(path, text), options).chunks


def symbols(text: str, path: str, options: ChunkOptions = ALONE) -> list[str]:
    return [piece.symbol for piece in chunks_of(text, path, options)]


def check(text: str, path: str, options: ChunkOptions) -> None:
    """Chunks are in order and apart, hold all that is not blank, and keep the limit."""
    chunks = chunks_of(text, path, options)
    assert_gapless(text, chunks)
    assert all(piece.tokens <= options.max_tokens for piece in chunks)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{\n  "name": "shop",\n  "scripts": {\n    "build": "tsc"\n  }\n}\n'),
        ("a.yaml", "name: shop\n\nscripts:\n  build: tsc\n"),
        ("a.toml", 'name = "shop"\n\n[scripts]\nbuild = "tsc"\n'),
    ],
)
def test_a_piece_is_named_by_its_path_of_keys(path: str, text: str) -> None:
    first, second = chunks_of(text, path)
    assert (first.symbol, first.kind, first.strategy) == ("name", "key", "data")
    assert (second.symbol, second.metadata.facts["key_path"]) == ("scripts", "scripts")
    assert second.defines == ("scripts", "scripts.build")


def test_small_entries_are_packed_and_named_after_what_they_are_in() -> None:
    text = json.dumps({"outer": {f"key-{number}": LONG[:25] for number in range(12)}}, indent=2)
    chunks = chunks_of(text, "a.json", SMALL)
    assert {piece.symbol for piece in chunks} == {"outer"}
    assert [piece.context for piece in chunks] == ["", *["outer:"] * (len(chunks) - 1)]
    assert chunks[0].defines[:2] == ("outer", "outer.key-0")
    assert chunks[-1].defines[-1] == "outer.key-11"


def test_a_container_over_the_limit_is_cut_at_its_entries_with_the_path_in_the_context() -> None:
    value = {"a": {"b": {"c": LONG, "d": {"e": LONG, "f": LONG}}}}
    chunks = chunks_of(json.dumps(value, indent=2), "a.json")
    assert [piece.symbol for piece in chunks] == ["a.b.c", "a.b.d.e", "a.b.d.f"]
    assert [piece.context for piece in chunks] == ["", "a:\n  b:", "a:\n  b:\n    d:"]


def test_items_are_named_by_name_or_id_or_else_by_number() -> None:
    items = [{"name": "one", "x": LONG}, {"id": "two", "x": LONG}, {"x": LONG}]
    assert symbols(json.dumps({"list": items}, indent=1), "a.json") == ["list[one]", "list[two]", "list[2]"]
    assert symbols(yaml.safe_dump({"list": items}, width=999), "a.yml") == ["list[one]", "list[two]", "list[2]"]


def test_a_key_that_would_not_read_as_one_is_quoted() -> None:
    text = json.dumps({"exports": {"./sub": LONG, "plain/x": LONG}}, indent=1)
    assert symbols(text, "a.json") == ['exports["./sub"]', "exports.plain/x"]


def test_json_of_one_line_is_cut_between_its_entries() -> None:
    text = json.dumps({"one": LONG, "two": {"three": LONG, "four": LONG}})
    chunks = chunks_of(text, "a.json")
    assert [piece.symbol for piece in chunks] == ["one", "two.three", "two.four"]
    assert chunks[1].text.startswith('"two": {"three": "a value')


def test_each_record_of_json_lines_is_whole() -> None:
    records = [json.dumps({"number": number, "text": LONG[:60]}) for number in range(9)]
    chunks = chunks_of("\n".join(records) + "\n", "a.jsonl", SMALL)
    assert len(chunks) > 3
    assert [line for piece in chunks for line in piece.text.splitlines()] == records


def test_comments_stay_with_the_entry_below_them() -> None:
    yaml_text = "a: 1\n# About b.\n# More.\nb:\n  # Inside.\n  c: 2\n"
    assert [piece.text for piece in chunks_of(yaml_text, "a.yaml")][1].startswith("# About b.\n# More.\nb:")
    toml_text = "a = 1\n# About b.\n[b]\nc = 2\n"
    assert [piece.text for piece in chunks_of(toml_text, "a.toml")][1] == "# About b.\n[b]\nc = 2\n"
    jsonc = '{\n  "a": 1, // one\n  // About b.\n  "b": 2\n}\n'
    assert [piece.text for piece in chunks_of(jsonc, "a.jsonc")] == [
        '{\n  "a": 1, // one\n',
        '  // About b.\n  "b": 2\n}\n',
    ]


def test_a_comment_right_below_an_entry_and_above_a_blank_line_stays_with_it() -> None:
    chunks = chunks_of("a: 1\n# b: 2\n\nc: 3\n", "a.yaml")
    assert [piece.text for piece in chunks] == ["a: 1\n# b: 2\n", "c: 3\n"]


@pytest.mark.parametrize(
    "value",
    [
        "|\n    key: no key\n\n    - no item\n    # no comment\n",
        ">-\n    # text\n    more: text\n",
        '"text\n    key: no key\n    end"\n',
        "'it''s\n    - text'\n",
        "{a: 1,\n    b: [x,\n    y]}\n",
        "plain text\n    that goes on\n",
        "&anchor !tag |  # comment\n    key: text\n",
    ],
)
def test_what_only_looks_like_yaml_structure_is_a_value(value: str) -> None:
    chunks = chunks_of(f"first:\n  inner: {value}second: 2\n", "a.yaml")
    assert [piece.defines for piece in chunks] == [("first", "first.inner"), ("second",)]


def test_a_block_scalar_is_whole_when_it_fits() -> None:
    block = "".join(f"      echo step {number}\n\n" for number in range(8))
    text = f"steps:\n  - name: one\n    run: |\n{block}  - name: two\n    run: {LONG}\n"
    assert any(block.rstrip() in piece.text for piece in chunks_of(text, "a.yaml"))


def test_keys_of_several_documents_need_no_numbers() -> None:
    chunks = chunks_of("---\na: 1\n---\n# Two.\nb: 2\n...\n", "a.yaml")
    assert [(piece.symbol, piece.text) for piece in chunks] == [("a", "---\na: 1\n"), ("b", "---\n# Two.\nb: 2\n...\n")]


def test_a_manifest_is_named_by_its_kind_and_name() -> None:
    service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"
    pods = "".join(f"  pod{number}: {LONG}\n" for number in range(3))
    found = symbols(f"{service}---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: api\nspec:\n{pods}", "a.yaml", SMALL)
    assert found[0] == "Service/web"
    assert "Pod/api.spec.pod2" in found


def test_tables_of_toml_are_named_by_their_dotted_names() -> None:
    text = '[tool."a.b".c]\nx.y = 1\n\n[[plugins]]\nname = "one"\n\n[[plugins]]\nvalue = [\n  "[no table]",\n]\n'
    assert [piece.defines for piece in chunks_of(text, "a.toml")] == [
        ('tool["a.b"].c', 'tool["a.b"].c.x.y'),
        ("plugins[one]", "plugins[one].name"),
        ("plugins[1]", "plugins[1].value"),
    ]


def test_strings_of_toml_over_several_lines_hide_what_is_in_them() -> None:
    text = "a = \"\"\"\n[no]\nb = 1\n\"\"\"\nc = '''\n[no]'''\n[yes]\n"
    assert [piece.symbol for piece in chunks_of(text, "a.toml")] == ["a", "c", "yes"]


def test_broken_data_is_cut_as_far_as_it_goes_with_a_warning() -> None:
    report = chunk(Document("a.json", '{\n"a": 1,\n"b": {"c": 2\n'), ALONE)
    assert [piece.symbol for piece in report.chunks] == ["a", "b"]
    assert "line 3 is no json" in report.warnings[0]


def test_a_text_without_any_structure_is_cut_at_lines_with_a_warning() -> None:
    report = chunk(Document("a.yaml", "just a text\n"))
    assert {piece.strategy for piece in report.chunks} == {"lines"}
    assert report.warnings


def test_yaml_of_more_lines_than_16_bits_count_is_cut_by_structure() -> None:
    text = "".join(f"key_{number}:\n  a: {number}\n" for number in range(20_000))
    report = chunk(Document("a.yaml", text))
    assert (report.chunks[0].strategy, report.warnings) == ("data", ())
    assert sum(len(piece.defines) for piece in report.chunks) == 40_000


@pytest.mark.long
@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.toml"])
@pytest.mark.parametrize(
    "part",
    ["[", "{", "- ", '{"a":', "a: ", "[a]\n", "- - a\n", "a:\n", "#\n", "\n", "a: |\n", 'a = """', "? ", "---\n", '"'],
)
def test_no_repetition_is_too_deep_or_too_slow(path: str, part: str) -> None:
    check(part * 20_000, path, ChunkOptions())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=40,
)
OPTIONS = st.sampled_from([SMALL, ALONE, ChunkOptions()])


@given(value=VALUES, indent=st.sampled_from([None, 0, 2]), options=OPTIONS)
def test_any_json_is_chunked_without_a_gap(value: object, indent: int | None, options: ChunkOptions) -> None:
    check(json.dumps(value, indent=indent, ensure_ascii=False), "a.json", options)


@given(value=VALUES, flow=st.sampled_from([None, False, True]), options=OPTIONS)
def test_any_yaml_is_chunked_without_a_gap(value: object, flow: bool | None, options: ChunkOptions) -> None:
    check(yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True), "a.yaml", options)


KEYS = st.text(alphabet="abcxyz-_09", min_size=1, max_size=6)


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, st.text(alphabet="ab #:'\n-", max_size=20), min_size=1), min_size=1))
def test_yaml_has_the_keys_that_its_parser_finds(value: dict[str, dict[str, str]]) -> None:
    text = yaml.safe_dump(value, default_flow_style=False)
    found = {name for piece in chunks_of(text, "a.yaml") for name in piece.defines}
    assert found == {*value, *(f"{outer}.{inner}" for outer, members in value.items() for inner in members)}


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, st.integers() | st.text(alphabet="ab[]#=\n", max_size=20))))
def test_toml_has_the_keys_that_its_parser_finds(value: dict[str, dict[str, object]]) -> None:
    lines = []
    for table, members in value.items():
        lines.append(f"[{table}]")
        for key, written in members.items():
            multi = isinstance(written, str) and "\n" in written
            lines.append(f"{key} = " + (f"'''{written}'''" if multi else json.dumps(written)))
    text = "\n".join(lines)
    assert tomllib.loads(text).keys() == value.keys()
    found = {name for piece in chunks_of(text, "a.toml") for name in piece.defines}
    assert found == {*value, *(f"{outer}.{inner}" for outer, members in value.items() for inner in members)}


NOISE = st.text(alphabet="ab:-#[]{}\"'|>&*!%?,= \t\n\r\0語\ud800", max_size=60)


@pytest.mark.parametrize("path", ["a.json", "a.yaml", "a.toml"])
@given(parts=st.lists(NOISE | st.sampled_from(["a: b\n", "  - c: d\n", '{"a": [1]}', "[t]\nk = 1\n"]), max_size=8))
def test_any_text_as_data_is_chunked_without_a_gap(path: str, parts: list[str]) -> None:
    check("".join(parts), path, ALONE)


@pytest.mark.long
@pytest.mark.timeout(60)  # Linear work takes a second at most, what it once was took minutes.
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '{"a": 1, "' + '\\"' * 100_000),
        ("a.json", '{"a": 1, ' + "'" + "\\'" * 100_000),
        ("a.json", '{"a": 1, ' + "/*a" * 60_000),
        ("a.toml", '[t]\na = "' + '\\"' * 100_000),
        ("a.toml", "[t]\na = " + "'\"" * 100_001),
    ],
)
def test_a_string_or_comment_that_is_never_closed_is_looked_for_once(path: str, text: str) -> None:
    check(text, path, ALONE)


def test_a_quote_too_many_in_json_does_not_hide_the_brackets_after_it() -> None:
    text = f'{{\n"a": ["x, "y"],\n"b": {{"c": "{LONG}"}},\n"d": "{LONG}"\n}}\n'
    assert {"a", "b", "d"} <= {name for piece in chunks_of(text, "a.json") for name in piece.defines}


def test_a_quote_too_many_in_toml_does_not_hide_the_keys_after_it() -> None:
    text = f'a = ["x, "y"]\nb = "{LONG}"\nc = "{LONG}"\n'
    assert {name for piece in chunks_of(text, "a.toml") for name in piece.defines} == {"a", "b", "c"}


def test_marks_of_a_conflict_are_part_of_no_name() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata:\n<<<<<<< HEAD\n  name: one\n=======\n  name: two\n>>>>>>> topic\n"
    found = chunk(Document("service.yaml", text)).chunks
    assert [it.symbol for it in found] == ["Service/two"]
    assert "".join(it.text for it in found) == text
