"""`cqm setup` and `--remove` on documents of every shape: all bytes come back; in between, only the entry is new."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from cqm.server.setup.formats import Format
from cqm.server.setup.plan import Action, Spot, apply, planned

ENTRY = {"type": "stdio", "command": "/opt/a b/cqm", "args": ["serve", "--root", "/prøject"], "env": {"A": "b\\c"}}

NAMES = st.sampled_from(["mcpServers", "cqm", "a", "b c", "//", "/* x", "é", "}", '"', ","])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.just("// no"),
    st.just("*/ ,}"),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
SERVERS = st.dictionaries(st.sampled_from(["a", "b", "c d"]), st.dictionaries(NAMES, VALUES, max_size=2), max_size=3)
COMMENTS = st.sampled_from(["", "", "", " ", "\t", '// one, "two" }\n', "/* {\n */", "/**/", "\n", "\n    ", "  \n"])


def through(text: str, form: Format, path: tuple[str, ...]) -> str | None:
    """Set up, set up again, and remove; return the file in between, or None if it is refused, and is as it was."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        before = text.encode()
        file.write_bytes(before)
        spot = Spot("Client", "server", file, path, form, ENTRY, (Path(folder),))
        (change,) = planned([spot], removes=False, replaces=False)
        apply(change)
        after = file.read_bytes()
        if change.action in {Action.REFUSED, Action.KEPT}:
            assert after == before
            return None
        (again,) = planned([spot], removes=False, replaces=False)
        assert again.action is Action.UNCHANGED
        (removal,) = planned([spot], removes=True, replaces=False)
        apply(removal)
        assert file.read_bytes() == before
        assert [found.name for found in Path(folder).iterdir()] == ["file"]
        return after.decode()


@st.composite
def json_documents(draw: st.DrawFn) -> tuple[str, dict[str, Any], bool]:
    """A JSON document with its data, and whether it is plain: without comments and trailing commas."""
    data = draw(st.dictionaries(NAMES.filter(lambda name: name != "mcpServers"), VALUES, max_size=3))
    if draw(st.booleans()):
        data["mcpServers"] = draw(SERVERS)
    if draw(st.booleans()):
        text = json.dumps(data, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(st.sampled_from(["", "\n"]))
        return draw(st.sampled_from(["", "\ufeff"])) + text, data, True

    def written(value: object) -> str:
        gap = lambda: draw(COMMENTS)  # noqa: E731 - drawn anew at each place
        if isinstance(value, dict) and value:
            inner = f"{gap()},{gap()}".join(
                f"{json.dumps(key)}{gap()}:{gap()}{written(it)}" for key, it in value.items()
            )
            return f"{{{gap()}{inner}{draw(st.sampled_from(['', ',']))}{gap()}}}"
        if isinstance(value, list) and value:
            return f"[{gap()}{f'{gap()},{gap()}'.join(map(written, value))}{draw(st.sampled_from(['', ',']))}{gap()}]"
        return f"{{{gap()}}}" if isinstance(value, dict) else json.dumps(value)

    return f"{draw(COMMENTS)}{written(data)}{draw(COMMENTS)}", data, False


@given(json_documents())
def test_json_with_any_layout_and_comments(document: tuple[str, dict[str, Any], bool]) -> None:
    text, data, is_plain = document
    after = through(text, Format.JSON, ("mcpServers", "cqm"))
    assert after is not None
    if is_plain:
        wanted = {**data, "mcpServers": {**data.get("mcpServers", {}), "cqm": ENTRY}}
        assert json.loads(after.removeprefix("\ufeff")) == wanted


def toml_value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_value(it)}" for key, it in value.items()) + "}"
    return json.dumps(value, ensure_ascii=True)


TOML_SCALARS = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.from_regex(r"\A[a-z \[\]#=\"']{0,9}\Z"))
TOML_TABLES = st.dictionaries(st.sampled_from(["k", "b c", "[x]", "#"]), TOML_SCALARS, max_size=3)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "[a]", "[mcp_servers.a]", "[mcp_servers.b]", "[[c]]", "[mcp_servers]", '[d."e.f"]']),
            TOML_TABLES,
            st.sampled_from(["", "# [mcp_servers.cqm]", "\n", "  # x"]),
        ),
        max_size=5,
        unique_by=lambda block: block[0],
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_toml_with_any_tables(blocks: list[tuple[str, dict[str, Any], str]], newline: str, is_ended: bool) -> None:
    blocks.sort(key=lambda block: (block[0] != "", block[0] != "[mcp_servers]"))
    lines = [
        line
        for header, table, comment in blocks
        for line in (header, *(f"{json.dumps(key)} = {toml_value(it)}" for key, it in table.items()), comment)
    ]
    text = newline.join(lines).replace("\r\n\n", newline) + (newline if is_ended else "")
    data = tomllib.loads(text)
    after = through(text, Format.TOML, ("mcp_servers", "cqm"))
    assert after is not None
    assert after.startswith(text)
    assert tomllib.loads(after) == {**data, "mcp_servers": {**data.get("mcp_servers", {}), "cqm": ENTRY}}


@given(
    st.dictionaries(st.sampled_from(["a", "b c", "extension", "# x", "é", "null"]), VALUES, max_size=4),
    st.one_of(st.none(), SERVERS),
    st.sampled_from([2, 4]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "# head\n", "---\n", "\n\n"]),
    st.sampled_from(["", "# end\n", "\n", "# end"]),
)
def test_yaml_with_any_blocks(
    data: dict[str, Any], extensions: dict[str, Any] | None, indent: int, newline: str, head: str, end: str
) -> None:
    document = data if extensions is None else {**data, "extensions": extensions}
    body = yaml.safe_dump(document, indent=indent, allow_unicode=True, sort_keys=False) if document else ""
    text = (head + body + end).replace("\n", newline)
    after = through(text, Format.YAML, ("extensions", "cqm"))
    # What is empty is written in braces, and left to the user.
    is_refused = extensions == {}
    assert (after is None) == is_refused
    if after is not None:
        read = yaml.safe_load(text) or {}
        assert yaml.safe_load(after) == {**read, "extensions": {**read.get("extensions", {}), "cqm": ENTRY}}


@given(st.text(st.sampled_from("ab#\n é<!->"), max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_instructions_with_any_text(text: str, newline: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "AGENTS.md"
        before = text.replace("\n", newline).encode()
        file.write_bytes(before)
        spot = Spot("Client", "instructions", file, ("cqm",), Format.TEXT, {"text": "Use\n\ncqm."}, (Path(folder),))
        apply(planned([spot], removes=False, replaces=False)[0])
        assert file.read_bytes().startswith(before)
        assert planned([spot], removes=False, replaces=False)[0].action is Action.UNCHANGED
        apply(planned([spot], removes=True, replaces=False)[0])
        assert file.read_bytes() == before
