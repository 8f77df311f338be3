"""The contexts of a document's chunks, whoever writes them: the requests, their order, and what is kept."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.tokens import estimate
from cqm.index.cache import Cache, open_cache
from cqm.index.contextual import ContextWriter, open_writer, writer_name
from cqm.index.model.errors import ContextError
from cqm.index.model.options import CacheOptions, ContextOptions
from cqm.index.model.status import CacheLayer

if TYPE_CHECKING:
    from conftest import ChatServer, Rendezvous

Connect = Callable[..., ContextWriter]
ENGLISH = "# Pump manual\n\n" + "".join(
    f"## Chapter {number}\n\nThe valve {number} of this pump opens when the pressure is {number} bar and it must be "
    f"closed by hand after the alarm {number} was heard.\n\n"
    for number in range(1, 7)
)
JAPANESE = "# ポンプの手引き\n\n" + "".join(
    f"## 第{number}章\n\nこのポンプの弁{number}は、圧力が{number}バールになると開きます。警報{number}が鳴った後は、"
    f"手で閉めなければなりません。\n\n"
    for number in range(1, 7)
)

GERMAN = "\n\n".join(
    f"Die Pumpe {number} ist nicht für den Betrieb ohne Wasser und wird durch das Ventil {number} geschützt."
    for number in range(9)
)


def chunks_of(path: str, text: str) -> tuple[Chunk, ...]:
    return chunk(Document(path, text), ChunkOptions(max_tokens=64, min_tokens=0)).chunks


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return open_cache(CacheOptions(), tmp_path, variables=os.environ)


def test_every_chunk_gets_a_context_of_its_own_in_order(server: "ChatServer", connect: Connect, provider: str) -> None:
    chunks = chunks_of("pump.md", ENGLISH)
    server.say = lambda request: "This situates " + str(sum(map(ord, request.body["messages"][0]["content"][-900:])))
    written = connect(provider=provider).write("pump.md", ENGLISH, chunks)
    assert written.problem == ""
    assert written.failed == ()
    assert len(set(written.notes)) == len(chunks) > 3
    backwards = connect(provider=provider).write("pump.md", ENGLISH, chunks[::-1])
    assert backwards.notes == written.notes[::-1]


def test_the_prompt_begins_with_the_document_alike_for_all_its_chunks(
    server: "ChatServer", connect: Connect, provider: str
) -> None:
    connect(provider=provider).write("docs/pump.md", ENGLISH, chunks_of("docs/pump.md", ENGLISH))
    beginnings = {request.body["messages"][0]["content"].partition("</document>")[0] for request in server.chats}
    assert beginnings == {f'<document name="pump.md">\n{ENGLISH}\n'}
    assert len(server.chats) > 3


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("pump.md", ENGLISH, "in English"),
        ("pump.md", JAPANESE, "日本語で答えてください"),
        ("pump.md", GERMAN, "(de)"),
        (
            "pump.py",
            "\n\n".join(f"def f{n}():\n    # ポンプを止める処理です\n    return {n}" for n in range(30)),
            "日本語で",
        ),
        ("pump.py", "\n\n".join(f"def f{n}():\n    return {n} + len('pump')" for n in range(30)), "in English"),
    ],
)
def test_the_answer_is_asked_for_in_the_documents_language(
    server: "ChatServer", connect: Connect, path: str, text: str, wanted: str
) -> None:
    chunks = chunks_of(path, text)
    connect().write(path, text, chunks)
    assert len(server.chats) == len(chunks) > 1
    assert all(wanted in request.body["messages"][0]["content"].split("</part>")[-1] for request in server.chats)


def test_a_chunk_that_is_its_whole_document_needs_no_model(server: "ChatServer", connect: Connect) -> None:
    text = "# Pump\n\nIt pumps water.\n"
    written = connect().write("pump.md", text, chunks_of("pump.md", text))
    assert (written.notes, written.problem, written.failed) == (("",), "", ())
    assert server.requests == []


def test_equal_chunks_of_a_document_are_asked_about_once(server: "ChatServer", connect: Connect) -> None:
    text = "The pump is stopped by hand whenever the alarm of the valve was heard twice.\n\n" * 12
    chunks = chunks_of("pump.txt", text)
    written = connect().write("pump.txt", text, chunks)
    assert len(server.chats) == len({chunk.text for chunk in chunks}) < len(chunks)
    assert all(written.notes)


def test_a_document_without_chunks_needs_no_model(server: "ChatServer", connect: Connect) -> None:
    assert connect().write("empty.md", "\n", ()).notes == ()
    assert server.requests == []


def test_the_first_chunk_goes_alone_and_the_others_together(
    server: "ChatServer", connect: Connect, rendezvous: "type[Rendezvous]"
) -> None:
    chunks = chunks_of("pump.md", ENGLISH)[:4]
    others = rendezvous(3)

    def say(request: object) -> str:
        if len(server.chats) > 1:
            others.meet()  # Breaks unless three requests are under way at once.
        else:
            assert others.most == 0
        return "The manual of the pump says here what the operator has to do."

    server.say = say
    assert connect(concurrency=3).write("pump.md", ENGLISH, chunks).problem == ""
    assert server.parts[0] == chunks[0].text
    assert others.most == 3


def test_no_more_requests_are_under_way_than_allowed(
    server: "ChatServer", connect: Connect, rendezvous: "type[Rendezvous]"
) -> None:
    chunks = chunks_of("pump.md", ENGLISH)
    alone = rendezvous(1)

    def say(_: object) -> str:
        alone.meet()
        return "The manual of the pump says here what the operator has to do."

    server.say = say
    assert connect(concurrency=1).write("pump.md", ENGLISH, chunks).problem == ""
    assert alone.most == 1
    assert len(server.chats) == len(chunks)


def test_what_was_written_once_is_not_asked_again(server: "ChatServer", connect: Connect, cache: Cache) -> None:
    chunks = chunks_of("pump.md", ENGLISH)
    first = connect(cache).write("pump.md", ENGLISH, chunks)
    asked = len(server.chats)
    again = connect(cache)
    assert again.write("moved/pump.md", ENGLISH, chunks) == first
    assert len(server.chats) == asked
    assert again.usage().requests == 0


@pytest.mark.parametrize(
    "other",
    [{"model": "other"}, {"provider": "ollama"}, {"max_tokens": 60}, {"window_tokens": 100}],
)
def test_what_shapes_a_context_makes_it_another(
    server: "ChatServer", connect: Connect, cache: Cache, other: dict[str, object]
) -> None:
    chunks = chunks_of("pump.md", ENGLISH)
    connect(cache).write("pump.md", ENGLISH, chunks)
    asked = len(server.chats)
    connect(cache, **other).write("pump.md", ENGLISH, chunks)
    assert len(server.chats) == 2 * asked


def test_another_document_around_the_same_chunk_makes_another_context(
    server: "ChatServer", connect: Connect, cache: Cache
) -> None:
    chunks = chunks_of("pump.md", ENGLISH)
    connect(cache).write("pump.md", ENGLISH, chunks)
    asked = len(server.chats)
    connect(cache).write("pump.md", ENGLISH + "One more line.\n", chunks)
    assert len(server.chats) == 2 * asked


class SharedCache:
    """A cache that others write to as well."""

    enabled = True

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        assert kind == "contexts"
        return {key: self.values[key] for key in keys if key in self.values}

    def put(self, kind: str, items: Mapping[str, bytes]) -> None:
        assert kind == "contexts"
        self.values.update(items)

    def layers(self) -> tuple[CacheLayer, ...]:
        return ()

    def close(self) -> None:
        """Keep all."""


def test_what_others_put_into_a_shared_cache_is_cleaned(server: "ChatServer", connect: Connect) -> None:
    chunks, cache = chunks_of("pump.md", ENGLISH), SharedCache()
    connect(cache).write("pump.md", ENGLISH, chunks)
    assert len(cache.values) == len(server.chats) == len(chunks)
    cache.values = dict.fromkeys(cache.values, b"\xff\x00 a\x1b[31m" + b"word " * 900)
    notes = connect(cache).write("pump.md", ENGLISH, chunks).notes
    assert all(0 < estimate(note) <= 100 and note.isprintable() for note in notes)
    cache.values = dict.fromkeys(cache.values, b"\x00")
    connect(cache).write("pump.md", ENGLISH, chunks)
    assert len(server.chats) == 2 * len(chunks)


def test_who_writes_is_named_with_the_version_of_the_prompt() -> None:
    assert writer_name(ContextOptions()) == ""
    assert writer_name(ContextOptions("ollama", "tiny")) == "ollama/tiny@1"
    assert writer_name(ContextOptions("openai")) == "openai/gpt-4o-mini@1"


def test_rules_need_no_writer() -> None:
    assert open_writer(ContextOptions(), None, variables=os.environ) is None


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ContextError, match=r"'claude'.*rules, ollama, openai"):
        open_writer(ContextOptions("claude"), None, variables=os.environ)


def test_a_text_with_half_a_surrogate_pair_can_be_sent(server: "ChatServer", connect: Connect) -> None:
    text = ENGLISH + "## Odd\n\nThe sign \ud83d is half of one.\n"
    chunks = chunks_of("pump.md", text)
    assert connect().write("pump.md", text, chunks).problem == ""
    assert len(server.chats) == len(chunks)
