"""Names in the notations of languages, debuggers and documentation, and lines of code that declare a name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.chunkers.errors import CqmError
from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Confidence, Hit, Query, SearchMode
from cqm.index.model.symbols import ReadQuery

pytestmark = pytest.mark.processes

FILES = {
    "gin/context.go": """package gin

type Context struct {
	index int
}

func (c *Context) Next() {
	c.index++
}

func Logger() HandlerFunc {
	return func(c *Context) {
		c.Next()
	}
}

type RouteInfo struct{ Path string }
""",
    "lib/flash.ex": """defmodule App.Flash do
  def get(flash, key) do
    flash[key]
  end

  def get(flash) do
    flash
  end

  def reload!(flash) do
    flash
  end
end
""",
    "lib/Parcel.java": """package lib;

public final class Parcel {
  private final int size;

  public Parcel(int size) {
    this.size = size;
  }

  public int weight() {
    return size;
  }
}
""",
    "lib/src/Clock.kt": "package com.example\n\nclass Clock {\n    fun now(): Int {\n        return 1\n    }\n}\n",
    "lib/api/lib.api": "public final class com/example/Clock {\n\tpublic final fun now ()I\n}\n",
    "src/LinkedMap.java": """package app;

public final class LinkedMap<K, V> {
  static final class Node<K, V> {
    K key;
  }

  public String toJson(Object source, Type type) {
    return "typed";
  }

  public String toJson(Object source, JsonWriter writer) {
    return "written";
  }

  LinkedMap() {
    this.toJson(null, null);
  }
}
""",
    "src/Chain.scala": """package app

sealed abstract class Chain[+A] extends Serializable {
  def :+[B >: A](b: B): Chain[B] =
    append(this, b)

  def ===[B](other: Chain[B]): Boolean =
    equal(this, other)
}

class Choice[A] {
  def |||[B](other: Choice[B]): Choice[B] =
    choose(this, other)
}
""",
    "src/buffer.cpp": """struct buffer {
  ~buffer() { release(); }
  buffer() { acquire(); }
  char& operator[](int index) { return data_[index]; }
  bool operator==(const buffer& other) const { return same(other); }
};
""",
    "src/Nil.cs": """namespace App
{
    public class Nil
    {
        public static bool operator ==(Nil left, Nil right) => true;

        public static class Typeless
        {
            public static int Size() => 1;
        }
    }
}
""",
    "src/StackSet.hs": """module StackSet where

integrate :: Stack a -> [a]
integrate s = up s

integrate' :: Maybe (Stack a) -> [a]
integrate' m = maybe [] integrate m
""",
    "src/stream.rs": """pub struct UnixStream {
    fd: i32,
}

impl AsRawFd for UnixStream {
    fn as_raw_fd(&self) -> i32 {
        self.fd
    }
}

pub struct Listener {
    fd: i32,
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> i32 {
        self.fd
    }
}
""",
    "lib/entry.rb": """class AcceptEntry
  def <=>(other)
    priority <=> other.priority
  end

  def [](name)
    @values[name]
  end
end
""",
    "src/Session.swift": """open class Session: Sendable {
    func request(_ url: String, method: String) -> Request {
        start(url, method)
    }

    func request(_ url: String, interceptor: Interceptor) -> Request {
        start(url, interceptor)
    }
}
""",
    "src/Pipeline.kt": """class Pipeline {
    companion object Phases {
        val Before = Phase("Before")
    }
}
""",
    "src/Handler.php": """<?php
namespace App\\Log;

abstract class StreamHandler extends Handler implements Resettable
{
    public function write(array $record): void
    {
        fwrite($this->stream, $record);
    }
}
""",
    "src/observable.ts": """export class Promised {
  subscribe(next: () => void): void {
    next();
  }
}

export const httpLink = (url: string): string => {
  return url;
};
""",
    "src/ip.c": """struct cf_ip_attempt {
  int transport;
};

static int attempt_connect(struct cf_ip_attempt *a)
{
  return a->transport;
}
""",
    "src/app.py": '''class Connection(Mapping[str, Any]):
    """What a class of a type is."""


class Request(Connection):
    def url(self) -> str:
        def inner():
            return "x"

        return inner()
''',
    "notes.md": "# Notes\n\nclass hierarchy, type inference, Request and Connection, Context and Chain\n" * 5,
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("names")
    for path, text in FILES.items():
        (root / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "tree" / path).write_text(text)
    with Index.open(root / "tree", IndexOptions(home=root / "home", workers=1)) as opened:
        opened.update()
        yield opened


def first(index: Index, text: str) -> Hit:
    answer = index.search(Query(text, mode=SearchMode.LEXICAL))
    assert answer.confidence is Confidence.HIGH
    return answer.hits[0]


NOTATIONS = [
    # Go: paths of modules, receivers, types, closures.
    ("github.com/gin-gonic/gin.Context", "Context"),
    ("github.com/gin-gonic/gin.(*Context).Next", "Context.Next"),
    ("github.com/gin-gonic/gin.(*Context).Next-fm", "Context.Next"),
    ("github.com/gin-gonic/gin.Logger.func1", "Logger"),
    ("(*gin.Context).Next", "Context.Next"),
    ("&gin.Context{}", "Context"),
    ("[]gin.RouteInfo", "RouteInfo"),
    ("map[string]*gin.Context", "Context"),
    ("*gin.Context", "Context"),
    # Elixir's arity, structs and captures.
    ("App.Flash.get/2", "App.Flash.get"),
    ("&App.Flash.reload!/1", "App.Flash.reload!"),
    ("reload!/1", "App.Flash.reload!"),
    ("%App.Flash{}", "App.Flash"),
    # The JVM and .NET.
    ("app.LinkedMap$Node", "LinkedMap.Node"),
    ("LinkedMap$Node.key", "LinkedMap.Node.key"),
    ("lambda$toJson$0", "LinkedMap.toJson"),
    ("LinkedMap.class", "LinkedMap"),
    ("App.Nil+Typeless", "Nil.Typeless"),
    ("Nil`1.Typeless", "Nil.Typeless"),
    ("Pipeline.Before", "Before"),
    # Rust.
    ("<UnixStream as AsRawFd>::as_raw_fd", "UnixStream.as_raw_fd"),
    ("<tokio::net::UnixStream as std::os::fd::AsRawFd>::as_raw_fd", "UnixStream.as_raw_fd"),
    ("<impl AsRawFd for Listener>::as_raw_fd", "Listener.as_raw_fd"),
    ("UnixStream::as_raw_fd::{{closure}}", "UnixStream.as_raw_fd"),
    ("Listener::as_raw_fd::h0123456789abcdef", "Listener.as_raw_fd"),
    ("&mut UnixStream", "UnixStream"),
    # Primes, destructors, operators.
    ("integrate'", "integrate'"),
    ("StackSet.integrate'", "integrate'"),
    ("~buffer", "buffer.~buffer"),
    ("buffer::~buffer", "buffer.~buffer"),
    ("operator[]", "buffer.operator[]"),
    ("buffer::operator==", "buffer.operator=="),
    ("Nil.operator ==", "Nil.operator =="),
    ("Nil.operator==", "Nil.operator =="),
    ("|||", "Choice.|||"),
    ("(|||)", "Choice.|||"),
    ("Chain.:+", "Chain.:+"),
    ("Chain#:+", "Chain.:+"),
    ("===", "Chain.==="),
    ("AcceptEntry#<=>", "AcceptEntry.<=>"),
    ("AcceptEntry#[]", "AcceptEntry.[]"),
    # References of documents.
    (":py:meth:`~app.Request.url`", "Request.url"),
    (":class:`the request <Request>`", "Request"),
    ("[`UnixStream::as_raw_fd()`]", "UnixStream.as_raw_fd"),
    ("[`Listener`](crate::net::Listener)", "Listener"),
    ("{@link LinkedMap#toJson(int) as text}", "LinkedMap.toJson"),
    ('<see cref="M:App.Nil.Typeless"/>', "Nil.Typeless"),
    # Test runners.
    ("=== RUN   attempt_connect", "attempt_connect"),
    ("--- FAIL: attempt_connect/ipv6 (0.01s)", "attempt_connect"),
    ("go test ./net -run ^attempt_connect$ -v", "attempt_connect"),
    ("vendor/bin/phpunit --filter LinkedMap::toJson tests", "toJson"),
    ("attempt_connect with data set #3", "attempt_connect"),
    # Others.
    ("new StreamHandler('a', 1)", "StreamHandler"),
    ("StreamHandler::class", "StreamHandler"),
    ("use App\\Log\\StreamHandler;", "StreamHandler"),
    ("Promised.prototype.subscribe", "Promised.subscribe"),
    ("attempt_connect(x)@plt", "attempt_connect"),
    ("attempt_connect+0x1a", "attempt_connect"),
    ("<class 'app.Request'>", "Request"),
    ("Request.url.<locals>.inner", "inner"),
]


@pytest.mark.parametrize(("question", "symbol"), NOTATIONS)
def test_a_name_in_a_notation_of_a_language_or_tool_is_read_as_a_name(index: Index, question: str, symbol: str) -> None:
    assert f".{first(index, question).symbol}".endswith(f".{symbol}")


def test_an_answer_tells_which_names_the_question_may_be_also_when_it_is_remembered(index: Index) -> None:
    for question, names in (("Context.Next", ("next",)), ("lang:go Context.Next", ("next",)), ("how is it called", ())):
        assert [index.search(Query(question)).asked_names for _ in range(2)] == [names] * 2, question
    assert index.search(Query("", like="gin/context.go:7")).asked_names == ()


DECLARATIONS = [
    (path, number, line.strip())
    for path, text in FILES.items()
    for number, line in enumerate(text.split("\n"), 1)
    if line.strip()
    in {
        "type Context struct {",
        "func (c *Context) Next() {",
        "defmodule App.Flash do",
        "def get(flash, key) do",
        "public final class LinkedMap<K, V> {",
        "static final class Node<K, V> {",
        "public String toJson(Object source, Type type) {",
        "public String toJson(Object source, JsonWriter writer) {",
        "sealed abstract class Chain[+A] extends Serializable {",
        "def |||[B](other: Choice[B]): Choice[B] =",
        "bool operator==(const buffer& other) const { return same(other); }",
        "public class Nil",
        "pub struct UnixStream {",
        "open class Session: Sendable {",
        "func request(_ url: String, interceptor: Interceptor) -> Request {",
        "abstract class StreamHandler extends Handler implements Resettable",
        "public function write(array $record): void",
        "export class Promised {",
        "export const httpLink = (url: string): string => {",
        "struct cf_ip_attempt {",
        "static int attempt_connect(struct cf_ip_attempt *a)",
        "class Connection(Mapping[str, Any]):",
        "class Request(Connection):",
        "class AcceptEntry",
    }
]


@pytest.mark.parametrize(("path", "line", "text"), DECLARATIONS)
def test_a_line_that_declares_a_name_is_answered_by_that_definition(
    index: Index, path: str, line: int, text: str
) -> None:
    hit = first(index, text)
    assert (hit.path, hit.line) == (path, line)


@pytest.mark.parametrize(
    ("question", "symbol"),
    [
        ("public class LinkedMap", "LinkedMap"),
        ("class Chain", "Chain"),
        ("enum class Session", "Session"),
        ("interface Request {", "Request"),
        ("data class Connection(val url: String)", "Connection"),
        ("struct cf_ip_attempt", "cf_ip_attempt"),
        ("static const struct cf_ip_attempt *", "cf_ip_attempt"),
    ],
)
def test_a_part_of_a_declaration_or_one_of_another_version_is_enough(index: Index, question: str, symbol: str) -> None:
    assert f".{first(index, question).symbol}".endswith(f".{symbol}")


@pytest.mark.parametrize(
    "question",
    [
        "type inference",
        "class hierarchy",
        "module loading: how does it work",
        "type of a request url",
        "class methods (static)",
        "how does the context work",
        "static analysis of a request, and url",
        "import of a request",
        "what is url/path",
    ],
)
def test_a_topic_or_sentence_that_begins_like_a_declaration_is_none(index: Index, question: str) -> None:
    answer = index.search(Query(question, mode=SearchMode.LEXICAL))
    assert answer.hits
    assert all("exact" not in hit.parts or hit.path == "notes.md" for hit in answer.hits)


def test_a_declaration_of_a_name_that_nothing_has_is_answered_as_a_text(index: Index) -> None:
    answer = index.search(Query("public final class Unheard extends Resettable {", mode=SearchMode.LEXICAL))
    assert "no symbol is called" not in answer.degraded
    assert answer.hits[0].path in {"src/Handler.php", "src/LinkedMap.java"}


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("LinkedMap#toJson(Object, Type)", 8),
        ("LinkedMap.toJson(Object, JsonWriter)", 12),
        ("Session.request(_:method:)", 2),
        ("Session.request(_:interceptor:)", 6),
        ("App.Flash.get/2", 2),
        ("App.Flash.get/1", 6),
    ],
)
def test_of_overloads_the_one_with_the_parameters_asked_for_is_named_and_read(
    index: Index, question: str, line: int
) -> None:
    assert first(index, question).line == line
    read = index.read(ReadQuery(question))
    assert read.line == line
    assert read.text.count("\n") < 3


PRINTED = [
    *("integrate'", "(|||)", "|||", "~buffer", "buffer.~buffer", "operator[]", "Nil.operator ==", "AcceptEntry.<=>"),
    *("(*gin.Context).Next", "App.Flash.reload!/1", "LinkedMap$Node", "<UnixStream as AsRawFd>::as_raw_fd"),
]


@pytest.mark.parametrize("name", PRINTED)
def test_usages_and_read_accept_every_name_that_a_search_prints_or_accepts(index: Index, name: str) -> None:
    found = first(index, name)
    (definition,) = index.usages(name).definitions
    assert (definition.path, definition.symbol, definition.line) == (found.path, found.symbol, found.line)
    read = index.read(ReadQuery(name))
    assert (read.path, read.symbol) == (found.path, found.symbol)


def test_usages_of_an_operator_tell_other_operators_of_no_other_sign(index: Index) -> None:
    told = index.usages("buffer::operator==")
    assert [it.symbol for it in told.definitions] == ["buffer.operator=="]
    assert {it.symbol.rpartition(".")[2] for it in told.namesakes} <= {"operator =="}


@pytest.mark.parametrize(
    ("name", "path", "symbol"),
    [
        ("GuzzleHttp\\Client", "src/Client.php", "Client"),
        ("GuzzleHttp\\Client::send", "src/Client.php", "Client.send"),
        ("Polly.ResiliencePipeline", "src/Polly.Core/Pipe.cs", "ResiliencePipeline"),
        ("Polly.ResiliencePipeline.Execute", "src/Polly.Core/Pipe.cs", "ResiliencePipeline.Execute"),
    ],
)
def test_a_namespace_in_front_is_that_of_the_file_where_no_folder_has_its_name(
    tmp_path: Path, name: str, path: str, symbol: str
) -> None:
    files = {
        "src/Client.php": "<?php\n\nnamespace GuzzleHttp;\n\nclass Client\n{\n    function send($r) {}\n}\n",
        "tests/ClientTest.php": "<?php\nuse GuzzleHttp\\Client;\n\nclass ClientTest { function it() {} }\n",
        "src/Polly.Core/Pipe.cs": "namespace Polly;\n\nclass ResiliencePipeline\n{\n    void Execute() { }\n}\n",
    }
    with indexed_tree(tmp_path, files) as index:
        first = index.search(Query(name)).hits[0]
        assert (first.path, first.symbol) == (path, symbol)
        assert index.read(ReadQuery(name)).path == path
        assert [it.path for it in index.usages(name).definitions] == [path]
        with pytest.raises(CqmError):
            index.read(ReadQuery("Other.ResiliencePipeline"))


@pytest.mark.parametrize("text", ["Parcel.Parcel", "Parcel::Parcel", "Parcel#Parcel", "lib.Parcel.Parcel"])
def test_a_constructor_asked_for_as_such_is_told_as_one_and_not_as_its_class(index: Index, text: str) -> None:
    hit = index.search(Query(text)).hits[0]
    assert (hit.path, hit.line, hit.symbol) == ("lib/Parcel.java", 6, "Parcel.Parcel")


def test_a_class_is_told_by_its_name_alone(index: Index) -> None:
    hit = index.search(Query("lib.Parcel")).hits[0]
    assert (hit.path, hit.line, hit.symbol) == ("lib/Parcel.java", 3, "Parcel")


def test_a_listing_of_an_api_comes_after_the_program(index: Index) -> None:
    assert index.search(Query("com.example.Clock.now")).hits[0].path == "lib/src/Clock.kt"
