import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

pytestmark = [pytest.mark.row("D4"), pytest.mark.row("B8")]

PETS: dict[str, Any] = {
    "openapi": "3.0.0",
    "info": {"title": "Pets", "version": "1.2", "description": "All about pets. " * 40},
    "paths": {
        "/pets": {
            "get": {"summary": "List pets", "operationId": "listPets", "tags": ["pets", "all"], "responses": {}},
            "post": {"summary": "Add a pet", "operationId": "addPet", "responses": {}},
        },
        "/pets/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True}],
            "get": {"summary": "One pet", "operationId": "onePet", "responses": {}},
        },
    },
    "components": {
        "schemas": {
            "Pet": {"type": "object", "properties": {f"field{number}": {"type": "string"} for number in range(9)}},
            "Tiny": {"type": "string"},
            "Small": {"type": "integer"},
        },
        "responses": {"Missing": {"description": "There is none. " * 40}},
    },
}

WRITTEN = {
    "a.yaml": yaml.safe_dump(PETS, sort_keys=False),
    "a.json": json.dumps(PETS, indent=2),
    "line.json": json.dumps(PETS),
}


SOME = "long enough to be a piece, which takes fifty characters"
LONG = "long enough not to be packed with its neighbours, which takes some two hundred characters. " * 3


def chunks_of(text: str, path: str, options: ChunkOptions = ChunkOptions()) -> tuple[Chunk, ...]:  # noqa: B008 - frozen
    return chunk(Document(path, text), options).chunks


def named(chunks: tuple[Chunk, ...], symbol: str) -> Chunk:
    (found,) = (piece for piece in chunks if piece.symbol == symbol)
    return found


@pytest.mark.parametrize("path", WRITTEN)
def test_each_operation_and_each_schema_is_a_piece(path: str) -> None:
    chunks = chunks_of(WRITTEN[path], path)
    assert {piece.strategy for piece in chunks} == {"openapi"}
    assert [piece.symbol for piece in chunks] == [
        "info",
        "GET /pets",
        "POST /pets",
        "GET /pets/{id}",
        "components.schemas.Pet",
        "components.responses.Missing",
    ]
    assert [piece.kind for piece in chunks] == ["key", "operation", "operation", "operation", "key", "key"]
    assert {"components.schemas.Tiny", "components.schemas.Small"} <= set(
        named(chunks, "components.schemas.Pet").defines
    )


@pytest.mark.parametrize("path", WRITTEN)
def test_an_operation_knows_its_method_path_id_tags_and_summary(path: str) -> None:
    operation = named(chunks_of(WRITTEN[path], path), "GET /pets")
    assert operation.metadata.facts == {
        "key_path": "paths./pets.get",
        "http_method": "GET",
        "path": "/pets",
        "operation_id": "listPets",
        "summary": "List pets",
        "tags": ("pets", "all"),
    }
    assert operation.defines == ("GET /pets", "listPets")
    assert operation.context == "Pets 1.2\nGET /pets"


@pytest.mark.parametrize("path", WRITTEN)
def test_what_the_operations_of_a_path_share_goes_with_the_first(path: str) -> None:
    text = named(chunks_of(WRITTEN[path], path), "GET /pets/{id}").text
    assert "parameters" in text
    assert "onePet" in text


def test_an_operation_over_the_limit_is_divided_at_its_keys_and_named_in_the_context() -> None:
    parameters = [
        {"name": f"parameter{number}", "in": "query", "description": "A filter. " * 5} for number in range(20)
    ]
    value = {**PETS, "paths": {"/pets": {"get": {"summary": "List pets", "parameters": parameters}}}}
    chunks = chunks_of(yaml.safe_dump(value, sort_keys=False), "a.yaml", ChunkOptions(max_tokens=128, min_tokens=32))
    parts = [piece for piece in chunks if piece.symbol == "GET /pets"]
    assert len(parts) > 2
    assert [piece.context for piece in parts[1:]] == ["Pets 1.2\nGET /pets\nList pets"] * (len(parts) - 1)
    assert all(piece.tokens <= 128 for piece in parts)


def test_the_content_of_json_is_readable_and_that_of_yaml_is_its_text() -> None:
    operation = named(chunks_of(WRITTEN["line.json"], "a.json"), "POST /pets")
    assert operation.content == "post:\n  summary: Add a pet\n  operationId: addPet\n  responses: {}"
    assert all(not piece.content for piece in chunks_of(WRITTEN["a.yaml"], "a.yaml"))


def test_operations_of_swagger_and_asyncapi_are_pieces() -> None:
    swagger = {"swagger": "2.0", "paths": {"/a": {"get": {"summary": SOME}}}, "definitions": {"A": {"enum": [LONG]}}}
    assert [piece.symbol for piece in chunks_of(json.dumps(swagger, indent=1), "a.json")][-2:] == [
        "GET /a",
        "definitions.A",
    ]
    channels = {"user/created": {"subscribe": {"summary": SOME}, "publish": {"summary": SOME}}}
    old = yaml.safe_dump({"asyncapi": "2.6.0", "channels": channels}, sort_keys=False)
    assert [piece.symbol for piece in chunks_of(old, "a.yml")][-2:] == [
        "SUBSCRIBE user/created",
        "PUBLISH user/created",
    ]
    operations = {"sendIt": {"action": "send", "summary": SOME, "channel": {"$ref": "#/x"}}}
    new = yaml.safe_dump({"asyncapi": "3.0.0", "operations": operations}, sort_keys=False)
    assert [piece.symbol for piece in chunks_of(new, "a.yml")][-1] == "SEND sendIt"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"dependencies": {"openapi": "3.0.1"}}'),
        ("a.yaml", "tools:\n  openapi: 3.0.1\n"),
        ("a.json", '{"title": "openapi"}'),
    ],
)
def test_data_that_only_mentions_openapi_is_data(path: str, text: str) -> None:
    assert {piece.strategy for piece in chunks_of(text, path)} == {"data"}


MEMBERS = st.recursive(
    st.text(max_size=20) | st.integers(),
    lambda inner: (
        st.dictionaries(st.sampled_from(["get", "put", "tags", "a.b", "x", "summary"]), inner, max_size=4)
        | st.lists(inner, max_size=3)
    ),
    max_leaves=20,
)
SECTIONS = st.sampled_from(["paths", "components", "channels", "operations", "definitions", "info", "tags", "webhooks"])


@given(
    value=st.dictionaries(SECTIONS, MEMBERS),
    json_indent=st.sampled_from([None, 2]),
    cut=st.integers(0, 400),
    flow=st.booleans(),
)
def test_any_description_is_chunked_without_a_gap(
    value: dict[str, Any], json_indent: int | None, cut: int, *, flow: bool
) -> None:
    whole = {"openapi": "3.1.0", **value}
    broken = json.dumps(whole, indent=json_indent)[: cut or None]
    for text, path in ((yaml.safe_dump(whole, default_flow_style=flow), "a.yaml"), (broken, "a.json")):
        chunks = chunks_of(text, path, ChunkOptions(max_tokens=64, min_tokens=16))
        assert "".join("".join(piece.text for piece in chunks).split()) == "".join(text.split())
        assert all(piece.text == text[piece.start : piece.end] for piece in chunks)


@pytest.mark.parametrize("path", ["a.yaml", "a.json"])
def test_a_long_operation_is_named_where_it_begins(path: str) -> None:
    responses = {str(200 + number): {"description": LONG * 3} for number in range(6)}
    paths = {
        f"/{name}": {"post": {"summary": name, "operationId": f"send{name}", "tags": [name], "responses": responses}}
        for name in ("One", "Two", "Three")
    }
    described = {"openapi": "3.0.0", "info": {"title": "Pets", "version": "1"}, "paths": paths}
    text = yaml.safe_dump(described, sort_keys=False) if path == "a.yaml" else json.dumps(described, indent=2)
    chunks = chunks_of(text, path)
    for name in paths:
        (first,) = [piece for piece in chunks if f"POST {name}" in piece.defines]
        assert f"send{name[1:]}" in first.defines
        assert f"send{name[1:]}" in first.text
        assert first.symbol == f"POST {name}"
        assert [piece for piece in chunks if f"send{name[1:]}" in piece.text] == [first]


@pytest.mark.parametrize("version", ["openapi", "swagger"])
def test_sorted_keys_hide_no_description(version: str) -> None:
    described = {**{key: value for key, value in PETS.items() if key != "openapi"}, version: "3.0.0"}
    many = {f"Type{number}": {"type": "object", "properties": {"a" * 60: {"type": "string"}}} for number in range(90)}
    described["components"] = {"schemas": many}
    text = json.dumps(described, indent=1, sort_keys=True)
    assert "GET /pets/{id}" in {it.symbol for it in chunk(Document("a.json", text)).chunks}


def test_a_quoted_version_makes_no_description() -> None:
    text = json.dumps({"components": {"a": "b" * 5_000, "example": {"openapi": "3.0.0"}}, "paths": {}}, indent=1)
    assert all(it.kind != "operation" for it in chunk(Document("a.json", text)).chunks)
