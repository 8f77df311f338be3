"""Each language's ways to declare a name are definitions, each on the line that has the name."""

import pytest
from tiers import thinned

from cqm.chunkers.chunking import chunk
from cqm.chunkers.facts.layout import layout_of
from cqm.chunkers.model import ChunkOptions, Definition, Document

FUNCTIONS_INSIDE = {
    "a.py": (
        """\
def outer():
    class Local:
        def method(self):
            def deep(): ...

    if 1:
        def inner(): ...
""",
        {"outer.Local": 2, "outer.Local.method": 3, "outer.Local.method.deep": 4, "outer.inner": 7},
    ),
    "a.js": (
        """\
function outer() {
  const deep = () => {
    function inner() {}
  };
  run(() => {
    class Local {
      go() {}
    }
  });
  const plain = 1;
}
""",
        {"outer.deep": 2, "outer.deep.inner": 3, "outer.Local": 6, "outer.Local.go": 7},
    ),
    "a.ts": (
        """\
test('a', () => {
  enum Local {
    A = 1,
    B,
  }
  type Pair = { left: string };
});
""",
        {"a.Local": 2, "a.Local.A": 3, "a.Local.B": 4, "a.Pair": 6, "a.Pair.left": 6},
    ),
    "A.java": (
        """\
class A {
  void run() {
    record Local(int x) {
      int twice() { return x; }
    }
  }
}
""",
        {"A.run.Local": 3, "A.run.Local.x": 3, "A.run.Local.twice": 4},
    ),
    "a.kt": (
        """\
fun outer() {
    fun inner() {}
    class L { val f = 1 }
}
""",
        {"outer.inner": 2, "outer.L.f": 3},
    ),
    "a.cs": (
        """\
class A {
  int Run() {
    int Local(int q) { return q; }
    return Local(1);
  }
}
""",
        {"A.Run.Local": 3},
    ),
    "a.scala": (
        """\
def outer = {
  def inner = 1
  inner
}
""",
        {"outer.inner": 2},
    ),
    "a.swift": (
        """\
func outer() {
  func inner() {}
  struct L { var f: Int }
}
""",
        {"outer.inner": 2, "outer.L.f": 3},
    ),
    "a.rs": (
        """\
fn outer() {
    struct Visitor<T> { a: T }
    impl<T> Visit for Visitor<T> {
        fn visit(&self) {}
    }
}
""",
        {"outer.Visitor": 2, "outer.Visitor.a": 2, "outer.Visitor.visit": 4},
    ),
    "a.c": (
        """\
int f(void) {
#define INNER 3
  struct in { int z; } v;
  return 1;
}
""",
        {"f.INNER": 2, "f.in": 3},
    ),
    "a.zig": (
        """\
pub fn List(comptime T: type) type {
    return struct {
        pub fn push(self: *@This()) void {}
    };
}
""",
        {"List": 1, "List.push": 3},
    ),
    "a.rb": (
        """\
def top
  def inner; end
end
""",
        {"top.inner": 2},
    ),
    "a.php": (
        """\
<?php
function outer() {
  function inner() {}
}
""",
        {"outer.inner": 3},
    ),
    "a.lua": (
        """\
function M:go()
  local function one() end
  two = function() end
end
""",
        {"M.go": 1, "M.go.one": 2, "M.go.two": 3},
    ),
    "a.sh": (
        """\
outer() {
  inner() { :; }
}
""",
        {"outer.inner": 2},
    ),
    "a.ps1": (
        """\
function Get-A {
  function Get-B {}
}
""",
        {"Get-A.Get-B": 2},
    ),
    "a.exs": (
        """\
test "a" do
  run(fn ->
    defmodule Inner do
    end
  end)
end
""",
        {"a.Inner": 3},
    ),
}


@pytest.mark.parametrize("path", FUNCTIONS_INSIDE)
def test_functions_and_types_inside_functions_are_definitions(path: str) -> None:
    text, wanted = FUNCTIONS_INSIDE[path]
    assert wanted.items() <= lines_of(path, text).items()


def test_variables_inside_functions_are_no_definitions() -> None:
    assert set(lines_of("a.js", "function f() {\n  const one = 1;\n  let two = g(() => 1);\n}\n")) == {"f"}
    assert set(lines_of("a.py", "def f():\n    one = 1\n    two = lambda: 1\n")) == {"f"}
    assert set(lines_of("a.lua", "describe('a', function()\n  local i, v = next()\nend)\n")) == {"a"}


def test_a_function_in_a_comment_or_text_is_no_definition() -> None:
    text = 'def f():\n    """def g(): ..."""\n    # class H: ...\n    return "class I"\n'
    assert set(lines_of("a.py", text)) == {"f"}


ATTRIBUTES = (
    """\
struct packet {
  int a;
} PACKED;
union value {
  int i;
} ALIGNED(8);
enum color { RED } __packed;
struct table { int b; } TABLE[3], OTHER;
struct one { int c; } ONE = { 1 };
""",
    {
        "packet": 1,
        "packet.a": 2,
        "value": 4,
        "value.i": 5,
        "color": 7,
        "color.RED": 7,
        "TABLE": 8,
        "OTHER": 8,
        "table.b": 8,
        "ONE": 9,
        "one": 9,
    },
    {"PACKED", "ALIGNED", "__packed"},
)

CONSTRUCTS: dict[str, tuple[str, str, dict[str, int], set[str]]] = {
    "javascript: exports, prototypes and patterns": (
        "a.js",
        """\
module.exports = {
  stop() {},
  go: function () {},
};
exports.one = require('./one');
exports.send = send;
X.prototype.y = function () {};
const { q, r: s, ...t } = foo;
const [u, v] = bar();
""",
        {"stop": 2, "go": 3, "one": 5, "X.y": 7, "q": 8, "s": 8, "t": 8, "u": 9, "v": 9},
        {"r", "send"},
    ),
    "typescript: a type beside a constant, quoted members, parameters that are properties": (
        "a.ts",
        """\
export const Kind = { A: 1 } as const;
export type Kind = 1;
interface Box {
  '~run': 1;
  get size(): number;
}
class K {
  constructor(readonly d: string, e = 2) {}
}
""",
        {"Kind": 2, "Box.~run": 4, "Box.size": 5, "K.d": 8},
        {"K.e"},
    ),
    "python: several targets": (
        "a.py",
        """\
A, B = 1, 2
C = D = 3
Server.family = 4


class E:
    def __init__(self):
        self.f = 1
        self.g['h'] = 2
""",
        {"A": 1, "B": 1, "C": 2, "D": 2, "E.f": 8},
        {"E.g", "Server.family", "family"},
    ),
    "go: embedded fields, inner structs and blank names": (
        "a.go",
        """\
package a

type E struct {
\t*sync.Mutex
\tGroup
\tcalled struct {
\t\tas bool
\t}
}

var _ I = (*E)(nil)
""",
        {"E.Mutex": 4, "E.Group": 5, "E.called": 6, "E.called.as": 7},
        {"_"},
    ),
    "rust: implementations for other forms of a type": (
        "a.rs",
        """\
impl<'a, P: X> IntoIterator for &'a P {
    fn into_iter(self) {}
}
impl Run for dyn Bar<T> + Send {
    fn go(&self) {}
}
impl Run for (A, B) {
    fn pair(&self) {}
}
impl fmt::Display for a::C<T> {
    fn fmt(&self) {}
}
""",
        {"P.into_iter": 2, "Bar.go": 5, "a.C.fmt": 11},
        {"&'a P.into_iter", "Bar", "P"},
    ),
    "c: enumerators, inner structs, further names, function pointers, names at the end": (
        "a.c",
        """\
enum { RED, GREEN = 2 };
typedef struct node {
  int a, *b;
  union {
    struct { char *t; } imm;
  } u;
} node_t, *node_p;
typedef struct Same {
  int x;
} Same;
int (*handler)(int);
static int counter, other;
struct foo { int in; } var;
""",
        {
            "RED": 1,
            "GREEN": 1,
            "node": 2,
            "node_t": 7,
            "node_p": 7,
            "node_t.b": 3,
            "node_t.u": 6,
            "node_t.u.imm.t": 5,
            "Same": 8,
            "handler": 11,
            "other": 12,
            "foo": 13,
            "foo.in": 13,
            "var": 13,
        },
        {"Same.Same"},
    ),
    "c: a macro in capitals behind a type is its attribute, and no variable": ("a.c", *ATTRIBUTES),
    "c++: a macro in capitals behind a type is its attribute, and no variable": ("a.cpp", *ATTRIBUTES),
    "c++: macros which look like declarations, operators, aliases": (
        "a.cpp",
        """\
class A {
  MOCK_METHOD(int, size, ());
  CHECK_SIZE(int);
  enum { one, two };
  operator bool() const;
  A& operator=(const A&) = delete;
};
using Name = int;
""",
        {"A.one": 4, "A.two": 4, "A.operator bool": 5, "A.operator=": 6, "Name": 8},
        {"A.MOCK_METHOD", "A.int"},
    ),
    "objective-c: selectors end before macros, enums by macro, blocks": (
        "a.m",
        """\
typedef NS_ENUM(NSUInteger, Style) {
  StyleOne = 0,
  StyleTwo,
};
@interface A : NSObject
@property (copy) void (^done)(NSURL *, NSError *);
- (void)setBlock:(int)block and:(int)other NS_UNAVAILABLE(x);
@end
""",
        {"Style": 1, "Style.StyleTwo": 3, "A.done": 6, "A.setBlock:and:": 7},
        set(),
    ),
    "kotlin: extension properties and companions": (
        "a.kt",
        """\
val String.half: Int get() = 1
class D {
    /** Companion of all. */
    private val a = 1

    companion object {
        // Companion
        const val MAX = 1
    }
}
""",
        {"String.half": 1, "D.Companion": 6, "D.Companion.MAX": 8},
        {"half"},
    ),
    "scala: members of case classes, patterns, extensions, cases with parameters": (
        "a.scala",
        """\
class A(mc: Int, val x: Int)
case class B(p: Int)
enum E {
  case R(w: Int)
}
val (m, n) = (1, 2)
extension (s: String) def shout: String = s
""",
        {"A.x": 1, "B.p": 2, "E.R": 4, "E.R.w": 4, "m": 6, "n": 6, "String.shout": 7},
        {"A.mc", "String"},
    ),
    "c#: further fields and events": (
        "a.cs",
        """\
class A {
  const int One = 1, Two = 2;
  event X Started, Ended;
  public int this[int i] => 1;
}
""",
        {"A.Two": 2, "A.Started": 3, "A.Ended": 3, "A.this[]": 4},
        set(),
    ),
    "swift: patterns, operators, macros": (
        "a.swift",
        """\
let (one, two) = (1, 2)
public func ||<T> (l: T, r: T) -> Bool { true }
macro stringify(_ v: Int) -> Int = #external()
""",
        {"one": 1, "two": 1, "||": 2, "stringify": 3},
        {"(", "(one, two)"},
    ),
    "ruby: first statements, several constants, structs, delegation": (
        "a.rb",
        """\
class C
  attr_reader :first
  class << self
    attr_reader :own
  end
  private attr_reader :hidden
  X, Y = 1, 2
  Point = Struct.new(:px, :py)
  delegate :name, to: :other
  def_delegators :@list, :size
end
included do
  attr_reader :inc
end
""",
        {
            "C.first": 2,
            "C.own": 4,
            "C.hidden": 6,
            "C.Y": 7,
            "C.Point": 8,
            "C.Point.py": 8,
            "C.name": 9,
            "C.size": 10,
            "inc": 13,
        },
        {"C.other", "C.to"},
    ),
    "lua: several names, tables of functions; what is required is no definition": (
        "a.lua",
        """\
local util = require 'util'
local x, y = 1, 2
M.h = function() end
M.sub = { a = function() end }
""",
        {"x": 2, "y": 2, "M.h": 3, "M.sub.a": 4},
        {"util"},
    ),
    "elixir: fields of structs, conditional and quoted functions; settings are no constants": (
        "a.ex",
        """\
defmodule A do
  @derive Jason
  @limit 5
  defstruct [:name, age: 0]
  if Code.ensure_loaded?(B) do
    def go, do: 1
  end
  def unquote(name)(), do: 1
  defmacro __using__(_) do
    quote do
      def given(), do: 1
    end
  end
end
""",
        {"A.limit": 3, "A.name": 4, "A.age": 4, "A.go": 6, "A.__using__.given": 11},
        {"A.derive", "A.unquote(name)"},
    ),
    "haskell: constructors, fields, several names; a function is defined once": (
        "a.hs",
        """\
data Lit = Null | Rec
  { one, two :: Int }
class Foo a where
  bar, baz :: a
f, g :: Int -> Int
f 0 = 1
f n = n
g = f
""",
        {"Lit": 1, "Null": 1, "Rec": 1, "one": 2, "two": 2, "Foo.bar": 4, "Foo.baz": 4, "f": 5, "g": 5},
        set(),
    ),
    "zig: fields, values and errors": (
        "a.zig",
        """\
const S = struct {
    a: u32,
};
const E = enum { x, y };
const Err = error{ Bad, Worse };
""",
        {"S.a": 2, "E.y": 4, "Err.Worse": 5},
        set(),
    ),
    "sql: columns and indexes": (
        "a.sql",
        """\
CREATE TABLE users (
  id INT,
  name TEXT
);
CREATE INDEX by_name ON users (name);
""",
        {"users": 1, "users.id": 2, "users.name": 3, "by_name": 5},
        set(),
    ),
    "css: custom properties": (
        "a.css",
        """\
:root {
  --main: red;
  color: blue;
}
""",
        {":root": 1, "--main": 2},
        {"color"},
    ),
    "perl: a block and a package with a block": (
        "a.pm",
        """\
package Shop;
{
    my $count = 0;
    sub next_id { return $count++ }
}
package Cart {
    sub total { 1 }
}
""",
        {"Shop.next_id": 4, "Cart": 6, "Cart.total": 7},
        {"Shop.total"},
    ),
    "perl: packages in blocks in blocks": (
        "a.pl",
        """package Shop;
{
    package Cart;
    sub add { 1 }
    {
        package Cart::Line;
        sub price { 1 }
    }
    sub total { 1 }
}
sub open { 1 }
""",
        {"Cart.add": 4, "Cart.Line.price": 7, "Cart.total": 9, "Shop.open": 11},
        {"Cart.Line.total", "Cart.open"},
    ),
    "clojure: methods of a record behind a reader conditional": (
        "a.cljc",
        """\
(defrecord Cart [lines]
  Shop
  (total [this] 1)
  #?(:clj (size [this] 2)))
""",
        {"Cart": 1, "Cart.total": 3, "Cart.size": 4},
        set(),
    ),
    "cpp: conditions of templates in macros, and what a guarded macro turns on": (
        "a.cpp",
        """\
#ifndef SAFE_CAST
#  define SAFE_CAST 1
#endif
#if SAFE_CAST
template <typename To, typename From,
          ENABLE_IF(!is_same<From, To>::value &&
                    limits<From>::is_signed == limits<To>::is_signed)>
CONSTEXPR_FN auto to_int(const From from, int& ec)
    -> To {
  using F = limits<From>;
  if IS_CONSTEXPR (F::digits) { return {}; }
  return static_cast<To>(from);
}
int after;
#endif
""",
        {"to_int": 8, "to_int.F": 10, "after": 14},
        {"ENABLE_IF"},
    ),
    "cpp: a class in capitals, its type's members elsewhere, macros after a head, members of a variable's class": (
        "a.cpp",
        """\
class DB {
  DB();
  virtual ~DB();
  char* end() KJ_LIFETIMEBOUND;
  StringTree KJ_STRINGIFY(const Reader& value);
  inline constexpr operator List<int>() const { return {}; }
  class Buffer final : public Base {
    Buffer(int size);
    int room() { return 1; }
  } buffer;
};
struct List<T>::Node {
  int value;
};
namespace _ {
int hidden;
}
namespace fs = std::filesystem;
""",
        {
            "DB": 1,
            "DB.DB": 2,
            "DB.~DB": 3,
            "DB.end": 4,
            "DB.KJ_STRINGIFY": 5,
            "DB.operator List": 6,
            "DB.Buffer": 7,
            "DB.Buffer.Buffer": 8,
            "DB.Buffer.room": 9,
            "DB.buffer": 10,
            "List.Node": 12,
            "List.Node.value": 13,
            "_": 15,
            "_.hidden": 16,
            "fs": 18,
        },
        {"DB.KJ_LIFETIMEBOUND", "List"},
    ),
    "haskell: declarations after #else, and rows after it that go on with one": (
        "a.hs",
        """\
#if ORDERED
keys :: Map -> [Int]
keys = one
#else
-- | All of them.
keys :: Map -> [Int]
keys = two

type Point = Int
#endif

half :: Int
half =
#if SMALL
  1
#else
  2
#endif
""",
        {"keys": 6, "Point": 9, "half": 12},
        set(),
    ),
    "c: a type whose tag ends with its name": (
        "a.c",
        """\
typedef struct _STATE {
  int code;
} STATE;
""",
        {"STATE": 3, "STATE.code": 2},
        set(),
    ),
    "objc: optional methods of a protocol": (
        "a.m",
        """\
@protocol Delegate <NSObject>
@optional
- (void)didLoad:(int)value;
@end
""",
        {"Delegate": 1, "Delegate.didLoad:": 3},
        set(),
    ),
    "kotlin: an extension whose first parameter has a modifier": (
        "a.kt",
        """\
inline fun <T, K> Flow<T>.associate(crossinline transform: suspend (T) -> K): Map<K, T> =
    associateTo(transform)
""",
        {"Flow.associate": 1},
        set(),
    ),
    "kotlin: an annotation over several lines before another": (
        "a.kt",
        """\
@Deprecated(
    "Use b",
    level = WARNING
)
@Serializable(with = S::class)
public expect class A : B {

    val c: Int
}
""",
        {"A": 6, "A.c": 8},
        set(),
    ),
    "kotlin: an accessor below an annotation over several lines": (
        "a.kt",
        """\
val a: Int
    @Deprecated(
"no"
)
    get() = 1

fun b() {}
""",
        {"a": 1, "b": 7},
        set(),
    ),
    "kotlin: a visible actual constructor in a row of its own": (
        "a.kt",
        """\
@Serializable(with = S::class)
public actual class A
public actual constructor(public actual val date: D, public actual val time: T) : Comparable<A> {
    public actual companion object {
        internal actual val MIN: A = A(D.MIN, T.MIN)
    }
    public actual val year: Int get() = date.year
}

public actual fun A.Companion.parse(
    input: CharSequence
): A? = null
""",
        {"A": 2, "A.date": 3, "A.time": 3, "A.Companion": 4, "A.Companion.MIN": 5, "A.year": 7},
        set(),
    ),
    "c++: macros in rows above an access specifier": (
        "a.hpp",
        """\
class A : public QObject
{
    Q_OBJECT
    Q_PROPERTY(bool isNULL READ isNULL)

public:
    explicit A(QObject *parent = 0);
    int b;
};

class C : public D
{
    GENERATED_BODY()

protected:
    int e;
};
""",
        {"A.A": 7, "A.b": 8, "C.e": 16},
        {"A.public", "C.protected"},
    ),
    "c: an attribute with a blank before its argument": (
        "a.h",
        """\
EXPORT int
    a_putf (const char *format, ...) CHECK_PRINTF (2);
EXPORT void a_log (const char *format, ...) CHECK_PRINTF (1);
""",
        {"a_putf": 2, "a_log": 3},
        set(),
    ),
    "gleam: constructors": (
        "a.gleam",
        """\
pub type Shape {
  Circle(radius: Float)
  Square(
    Int,
  )
  Point
}
pub type Only { Only }
pub type Alias = List
""",
        {"Shape": 1, "Shape.Circle": 2, "Shape.Square": 3, "Shape.Point": 6, "Only": 8, "Only.Only": 8, "Alias": 9},
        {"Shape.Int", "Alias.List"},
    ),
    "odin: variables, typed constants, fields and values": (
        "a.odin",
        """\
package a
MAX : int : 3
cache: map[string]int
width, height : i32 = 1, 2
count := 0
Shape :: struct {
    using pos: [2]f32,
    w, h: int, // sizes
}
Kind :: enum u8 {
    Small = 1,
    Large,
}
main :: proc() {
    local: int
}
""",
        {
            "MAX": 2,
            "cache": 3,
            "width": 4,
            "count": 5,
            "Shape": 6,
            "Shape.pos": 7,
            "Shape.w": 8,
            "Shape.h": 8,
            "Kind": 10,
            "Kind.Small": 11,
            "Kind.Large": 12,
            "main": 14,
        },
        {"local", "main.local"},
    ),
    "thrift: fields and values": (
        "a.thrift",
        "struct A { 1: required i64 id,\n 2: list<string> names = [] }\nenum E { ONE = 1,\n TWO }\n",
        {"A": 1, "A.id": 1, "A.names": 2, "E": 3, "E.ONE": 3, "E.TWO": 4},
        {"A.1:", "A.2:", "E.E"},
    ),
    "v: declarations without a function": (
        "a.v",
        "module lapack64\n\npub const bad_uplo = 'lapack'\n\npub enum Kind as u8 {\n\tsmall\n}\n",
        {"bad_uplo": 3, "Kind": 5},
        set(),
    ),
    "nim: sections, fields and values": (
        "a.nim",
        """\
const
  Query = \"\"\"{
"kind": 1
type
  No = int
}\"\"\"
  Limit*: int = 3
type
  Id* = distinct int
  Node* {.pure.} = ref object of RootObj
    ## A note: no field.
    name*, `type`*: Table[string, seq[int]]
    case kind: Kind
    of Kind.Leaf: value*: int
    else: discard
  Kind = enum
    Leaf = (1, "leaf"), Branch # the rest
  Small = enum one, two
let
  first = 1
  second = block:
    inner = 2
proc run() =
  const
    Local = 1
""",
        {
            "Query": 2,
            "Limit": 7,
            "Id": 9,
            "Node": 10,
            "Node.name": 12,
            "Node.type": 12,
            "Node.kind": 13,
            "Node.value": 14,
            "Kind": 16,
            "Kind.Leaf": 17,
            "Kind.Branch": 17,
            "Small.one": 18,
            "Small.two": 18,
            "first": 20,
            "second": 21,
            "run": 23,
        },
        {"No", "kind", "inner", "Local", "Node.else", "Node.of", "Node.A", "run.Local"},
    ),
    "crystal: properties, records and values": (
        "a.cr",
        """\
class Shop::Order
  property id : String = "a, b", lines : Hash(String, Array(Int32))
  class_getter? open = true
  getter(total) { sum(1, 2) }
  private macro define?(name)
    property inner : Int32
  end
  def <=>(other)
  end
  def =~(other)
  end
  def total=(value)
  end
  enum Status
    Open   = 1 # first
    Closed
    def open?
    end
  end
end
record Point, x : Int32, y : Int32 = 0
""",
        {
            "Shop.Order": 1,
            "Shop.Order.id": 2,
            "Shop.Order.lines": 2,
            "Shop.Order.open": 3,
            "Shop.Order.total": 4,
            "Shop.Order.define?": 5,
            "Shop.Order.<=>": 8,
            "Shop.Order.=~": 10,
            "Shop.Order.total=": 12,
            "Shop.Order.Status.Open": 15,
            "Shop.Order.Status.Closed": 16,
            "Shop.Order.Status.open?": 17,
            "Point": 21,
            "Point.x": 21,
            "Point.y": 21,
        },
        {"Shop.Order.inner", "Shop.Order.b", "Shop.Order.Int32", "Point.Int32"},
    ),
    "structured text in the XML of TwinCAT": (
        "FB_Belt.TcPOU",
        """\
<?xml version="1.0" encoding="utf-8"?>
<TcPlcObject Version="1.1.0.1">
  <POU Name="FB_Belt" Id="{1}">
    <Declaration><![CDATA[(* FUNCTION Not_One *)
FUNCTION_BLOCK FB_Belt
VAR
    bOpen, bShut : BOOL;
END_VAR]]></Declaration>
    <Implementation>
      <ST><![CDATA[CASE eState OF
    Idle: bOpen := TRUE;
END_CASE]]></ST>
    </Implementation>
    <Method Name="Count" Id="{2}">
      <Declaration><![CDATA[METHOD INTERNAL Count : BOOL
VAR_INPUT
    bLocal : BOOL;
END_VAR]]></Declaration>
    </Method>
    <Property Name="Total" Id="{3}">
      <Declaration><![CDATA[PROPERTY Total : UINT]]></Declaration>
      <Get Name="Get" Id="{4}">
      </Get>
    </Property>
    <Action Name="Reset" Id="{5}">
    </Action>
  </POU>
</TcPlcObject>
""",
        {
            "FB_Belt": 5,
            "FB_Belt.bOpen": 7,
            "FB_Belt.bShut": 7,
            "FB_Belt.Count": 15,
            "FB_Belt.Total": 21,
            "FB_Belt.Reset": 25,
        },
        {"Not_One", "FB_Belt.Idle", "FB_Belt.bLocal", "FB_Belt.Count.bLocal", "FB_Belt.Get"},
    ),
    "bash: several variables": (
        "a.sh",
        """\
export ONE=1 TWO=2
""",
        {"ONE": 1, "TWO": 1},
        set(),
    ),
}


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_declares_its_names_on_their_lines(construct: str) -> None:
    path, text, wanted, absent = CONSTRUCTS[construct]
    found = lines_of(path, text)
    assert {name: found.get(name) for name in wanted} == wanted
    assert not absent & set(found)


def test_a_function_of_haskell_reaches_from_its_signature_to_its_last_equation() -> None:
    found = [it for it in definitions("a.hs", "f :: Int -> Int\n-- zero\nf 0 = 1\nf n =\n  n\n") if it.name == "f"]
    assert [(it.line, it.end_line) for it in found] == [(1, 5)]


def test_documentation_of_a_rust_module_is_not_that_of_its_first_struct() -> None:
    text = "//! All about modules.\n//! More.\n/// A struct.\npub struct First {\n    id: u8,\n}\n"
    extents = layout_of(Document("a.rs", text, "rust"), ChunkOptions()).extents
    assert [(it.name, it.begins) for it in extents] == [("First", 3)]


OPENINGS = ("f(", "() {", "x.", "let a=", "def f", "class A ", " g(", "= function ", "enum {", ")")
BEGUN = [
    (suffix, opening)
    for at, suffix in enumerate(("py", "js", "ts", "sh", "lua", "cs", "c", "rs", "ps1", "zig"))
    for opening in thinned(OPENINGS, at, 2)
]
"""Every second of them in each language; with `tests/run --soak` all."""


@pytest.mark.soak
@pytest.mark.parametrize(("suffix", "opening"), BEGUN)
def test_ways_to_begin_a_function_without_end_take_no_longer_than_their_text(suffix: str, opening: str) -> None:
    # A pattern that looks back or far ahead would need minutes here.
    report = chunk(Document(f"a.{suffix}", opening * 4_000))
    assert report.chunks


def lines_of(path: str, text: str) -> dict[str, int]:
    return {it.name: it.line for it in definitions(path, text)}


def definitions(path: str, text: str) -> list[Definition]:
    return [it for part in chunk(Document(path, text)).chunks for it in part.definitions]
