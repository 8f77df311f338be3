import json

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.strategies.options import options_of
from cqm.chunkers.strategies.recommended import recommended
from cqm.chunkers.strategies.sentence import SentenceOptions

SENTENCES = "This is a sentence of some length about a matter. " * 12 + "\n\n"
FAQ = "".join(f"Q{number}: How does it go?\nA: {SENTENCES}" for number in range(9))
TALK = "".join(f"Alice: {number} is it?\nBob: Yes, it is.\n" for number in range(90))
LAW = "".join(f"Article {number}\n\n{SENTENCES}" for number in range(1, 9))
JAPANESE_LAW = "".join(f"第{number}条 目的\n{'この法律は目的を定める。' * 9}\n\n" for number in range(1, 9))
PAPER = (
    f"A Study\n\nAbstract\n\n{SENTENCES}1. Introduction\n\n{SENTENCES}References\n\n[1] Somebody. Something. 1999.\n"
)
ISSUE = {
    "number": 7,
    "title": "It fails",
    "body": "It fails when it starts.",
    "state": "OPEN",
    "comments": [],
    "url": "u",
    "author": {"login": "a"},
    "createdAt": "2026-01-01T00:00:00Z",
    "labels": [],
}
API = {"openapi": "3.1.0", "info": {"title": "T"}, "paths": {"/a": {"get": {"summary": "It gets."}}}}

DOCUMENTS = {
    "markdown": Document("a.md", f"# A\n\n{SENTENCES}## B\n\n{SENTENCES}"),
    "text": Document("a.txt", SENTENCES * 3),
    "html": Document("a.html", f"<h1>A</h1><p>{SENTENCES}</p><h2>B</h2><p>{SENTENCES}</p>"),
    "pdf": Document("a.pdf", f"{SENTENCES}\f{SENTENCES}", "pdf"),
    "code": Document("a.py", "def f():\n    return 1\n"),
    "json": Document("a.json", json.dumps({"a": list(range(900))}, indent=1)),
    "api-spec": Document("a.json", json.dumps(API)),
    "conversation": Document("a.txt", TALK),
    "legal": Document("a.txt", LAW),
    "academic": Document("a.txt", PAPER),
    "faq": Document("a.txt", FAQ),
    "issue": Document("a.json", json.dumps(ISSUE)),
}


@pytest.mark.row("B8")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_type_of_document_is_known_and_has_a_default_that_works(name: str) -> None:
    document = DOCUMENTS[name]
    found = recommended(document)
    assert found.document_type == name
    report = chunk(document, found.options)
    assert report.chunks
    own = "".join(
        document.text[piece.start + piece.overlap_before : piece.end] for piece in report.chunks if not piece.children
    )
    assert len("".join(own.split())) >= 0.9 * len("".join(document.text.split()))
    assert report.warnings == ()


@pytest.mark.row("B7")
@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [
        ("markdown", "auto", ChunkOptions()),
        ("code", "auto", ChunkOptions()),
        ("json", "auto", ChunkOptions(max_tokens=256, min_tokens=64)),
        ("faq", "sentence", SentenceOptions(256, 512, sentence_overlap=2)),
        ("legal", "hierarchical", HierarchicalOptions()),
    ],
)
def test_the_type_chooses_strategy_and_options(name: str, strategy: str, options: object) -> None:
    found = recommended(DOCUMENTS[name])
    assert [found.strategy, found.options] == [strategy, options]
    assert type(options_of(found.strategy)) is type(found.options)
    assert found.reason


@pytest.mark.row("B7")
@pytest.mark.parametrize(("path", "strategy"), [("a.md", "hierarchical"), ("a.txt", "hierarchical"), ("a.py", "auto")])
def test_prose_of_more_than_50_000_characters_is_cut_as_a_tree(path: str, strategy: str) -> None:
    text = SENTENCES * 100
    assert [len(text) > 50_000, recommended(Document(path, text)).strategy] == [True, strategy]
    assert recommended(Document(path, text[:50_000])).strategy == "auto"


@pytest.mark.row("B8")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JAPANESE_LAW, "legal"),
        ("## What is it?\n\nIt.\n\n## Why?\n\nSo.\n\n## どうして？\n\nなぜなら。\n", "faq"),  # noqa: RUF001 - full-width
        ("[10:01] Ann: hi\n[10:02] Bo: hello\n[10:03] Ann: bye\n", "conversation"),
        ("概要\n\n研究です。\n\n参考文献\n\n山田。\n", "academic"),
        ("Note: this is a text.\nIt has lines.\nAnd more lines.\nNone of them is said by anybody.\n", "text"),
    ],
)
def test_types_are_told_by_what_is_in_the_text(text: str, expected: str) -> None:
    path = "a.md" if text.startswith("##") else "a.txt"
    assert recommended(Document(path, text)).document_type == expected
