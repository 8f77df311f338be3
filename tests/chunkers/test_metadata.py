"""The common schema on the chunks of every content type."""

from collections.abc import Mapping
from typing import Any

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.metadata import metadata_of, names_of
from cqm.chunkers.model import ChunkOptions, Document, Metadata, Piece

pytestmark = pytest.mark.row("D8")

LONG = "This sentence is here so that the text has the length of a chunk of its own. " * 8


def metadata(document: Document, **piece: Any) -> Metadata:
    return metadata_of(document, document.language, Piece(0, len(document.text), **{"kind": "text"} | piece))


@pytest.mark.parametrize(
    ("path", "text", "source_type", "content_type"),
    [
        ("a.py", "def f():\n    return 1\n", "code", "python"),
        ("a.java", "class A { int f() { return 1; } }\n", "code", "java"),
        ("Makefile", "all:\n\tcc a.c\n", "code", "make"),
        ("style.css", "a { color: red }\n", "code", "css"),
        ("README.md", "# Title\n\nText of it.\n", "documentation", "markdown"),
        ("page.html", "<html><body><p>Text of it.</p></body></html>", "documentation", "html"),
        ("notes.txt", "Text of it.\n", "documentation", "text"),
        ("guide.rst", "Title\n=====\n\nText of it.\n", "documentation", "restructuredtext"),
        ("pom.xml", "<project><name>a</name></project>\n", "config", "xml"),
        ("a.yaml", "name: a\n", "config", "yaml"),
        ("a.toml", 'name = "a"\n', "config", "toml"),
        ("a.ini", "[section]\nname = a\n", "config", "ini"),
        ("rows.csv", "id,name\n1,a\n2,b\n", "data", "csv"),
    ],
)
def test_every_chunk_has_a_source_type_and_a_content_type(
    path: str, text: str, source_type: str, content_type: str
) -> None:
    chunks = chunk(Document(path, text)).chunks
    assert chunks
    found = {(part.metadata.source_type, part.metadata.content_type) for part in chunks}
    assert found == {(source_type, content_type)}


def test_what_the_document_says_is_on_every_chunk_with_its_place_among_them() -> None:
    sections = "".join(f"# Section {number}\n\n{LONG}\n\n" for number in range(4))
    document = Document("a.md", sections, source="handbook", url="https://example.com/a", created_at="2026-02-02")
    chunks = chunk(document).chunks
    assert len(chunks) > 1
    assert [(part.index, part.total) for part in chunks] == [(index, len(chunks)) for index in range(len(chunks))]
    for part in chunks:
        known = part.metadata
        assert (known.source, known.url, known.created_at) == ("handbook", "https://example.com/a", "2026-02-02")


def test_the_issue_that_a_record_belongs_to_is_an_issue_whatever_it_is_written_in() -> None:
    text = '{"number": 7, "title": "It breaks", "state": "OPEN", "body": "The cache keeps values that have expired.", '
    text += '"author": {"login": "ann"}, "labels": [{"name": "bug"}], "url": "https://example.com/issues/7"}\n'
    for part in chunk(Document("7.json", text)).chunks:
        known = part.metadata
        assert (known.source_type, known.title, known.natural_language) == ("issue", "It breaks", "en")
        assert known.url == "https://example.com/issues/7"
        assert known.facts["number"] == 7
        assert "url" not in known.facts


@pytest.mark.parametrize(
    ("kind", "symbol", "package", "names"),
    [
        ("method", "Outer.Inner.run", "org.example", ("Inner", "org.example.Outer.Inner", "run")),
        ("constructor", "Point.Point", "geo", ("Point", "geo.Point", "Point")),
        ("field", "Point.x", "", ("Point", "Point", "x")),
        ("class", "Outer.Inner", "org.example", ("Inner", "org.example.Outer.Inner", "")),
        ("interface", "Shape", "", ("Shape", "Shape", "")),
        ("class", "org.example.Shape", "org.example", ("Shape", "org.example.Shape", "")),
        ("function", "main", "app", ("", "", "main")),
        ("function", "outer.inner", "app", ("", "", "inner")),
        ("imports", "", "app", ("", "", "")),
        ("code", "", "", ("", "", "")),
    ],
)
def test_kind_and_symbol_of_code_tell_class_and_member(
    kind: str, symbol: str, package: str, names: tuple[str, str, str]
) -> None:
    assert tuple(names_of(kind, symbol, package)) == names
    known = metadata(Document("a.java", "x", "java"), kind=kind, symbol=symbol, facts={"package": package})
    assert (known.class_name, known.fqcn, known.member) == names


def test_a_method_of_real_code_knows_its_class() -> None:
    body = "        total = total + value * 2\n" * 30
    text = f"class Account:\n    def deposit(self, value):\n{body}\n    def withdraw(self, value):\n{body}"
    known = [part.metadata for part in chunk(Document("bank.py", text)).chunks]
    assert ("Account", "deposit") in [(it.class_name, it.member) for it in known]
    assert ("Account", "withdraw") in [(it.class_name, it.member) for it in known]


@pytest.mark.parametrize(("kind", "symbol"), [("section", "Guide > Use"), ("key", "server.port")])
def test_what_is_not_code_has_no_class_and_no_member(kind: str, symbol: str) -> None:
    language = "markdown" if kind == "section" else "yaml"
    known = metadata(Document("a", "x", language), kind=kind, symbol=symbol)
    assert (known.class_name, known.fqcn, known.member) == ("", "", "")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"title": "Guide", "has_code": True}, {"title": "Guide", "has_code": True, "facts": {}}),
        ({"lang": "ja-JP"}, {"natural_language": "ja", "facts": {}}),
        ({"lang": "{{ page.lang }}"}, {"natural_language": "", "facts": {}}),
        ({"content_type": "javadoc"}, {"content_type": "javadoc", "source_type": "javadoc", "facts": {}}),
        ({"fqcn": "org.example.Shape", "parent": "beans"}, {"fqcn": "org.example.Shape", "facts": {"parent": "beans"}}),
        ({"url": "https://example.com/b"}, {"url": "https://example.com/b", "facts": {}}),
        ({"created_at": "2020-01-01"}, {"created_at": "2020-01-01"}),
        ({"source_type": "javadoc"}, {"source_type": "javadoc"}),
        ({"module": "core", "package": "org.example"}, {"module": "core", "package": "org.example", "facts": {}}),
        ({"page": 3, "labels": ("a", "b")}, {"facts": {"page": 3, "labels": ("a", "b")}}),
    ],
)
def test_a_fact_with_a_field_of_its_own_moves_there(facts: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    document = Document("a.md", "x", "markdown", url="https://example.com/a", created_at="2026-01-01")
    known = metadata(document, facts=facts, headings=("A", "B"))
    assert {name: getattr(known, name) for name in expected} == expected
    assert known.headings == ("A", "B")


def test_prose_is_judged_by_what_people_read_and_not_by_its_encoding() -> None:
    text = '{"cells": [{"source": ["\\u8aad\\u307f\\u8fbc\\u307f"]}]}'
    known = metadata(Document("a.ipynb", text, "jupyter"), content="設定ファイルを読み込みます。")
    assert (known.natural_language, known.source_type) == ("ja", "documentation")


def test_every_part_of_a_chunked_method_names_it() -> None:
    text = "class A:\n    def run(self):\n" + "        self.step(1, 2, 3)\n" * 200
    parts = chunk(Document("a.py", text), ChunkOptions(max_tokens=256)).chunks
    assert len(parts) > 1
    assert {part.metadata.member for part in parts[1:]} == {"run"}


def test_what_a_text_shows_is_surer_than_what_its_page_declares() -> None:
    document = Document("a.html", "設定ファイルを読み込みます。", "html")
    assert metadata(document, facts={"lang": "en"}).natural_language == "ja"
