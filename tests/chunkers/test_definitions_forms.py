"""All names of a text are told, and no others, each on its line: forms that parsers of other projects told."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.languages.table import dialect_of
from cqm.chunkers.model import Document

FORMS = {
    "fortran: fixed form, continued by any sign in the sixth column": (
        "a.f",
        """\
*> \\brief <a href="http://x.org/a?b=c">A page</a> &
      SUBROUTINE FIRST( A, B,
     $                  N )
c     CALL OTHER( A )
      INTEGER            N
      REAL A( * ),B(
     1   * ) ! note
      IF( A( 1 ).EQ.B( 1 ) .AND.
*        in between
     &    N.GT.0 ) GO TO 10
   10 CONTINUE
      END
      DOUBLE PRECISION
     +  FUNCTION SECOND(X)
      END
""",
        {"FIRST": 2, "SECOND": 14},
    ),
    "zig: a file is a struct, types without names, tuples, tags, names in quotes": (
        "a.zig",
        """\
seat: *Seat,
op: ?struct {
    input: enum { pointer },
    x: i32,
} = null,
@"tar gz": u8,
const Pair = struct { u8, Mode };
const V = union(Mode) { int: i8, none };
const E = Other || error{ Lost, Late };
fn List(comptime T: type) type {
    return struct {
        items: []T,
        pub const Item = T;
    };
}
""",
        {
            "seat": 1,
            "op": 2,
            "op.input": 3,
            "op.input.pointer": 3,
            "op.x": 4,
            "tar gz": 6,
            "Pair": 7,
            "V": 8,
            "V.int": 8,
            "V.none": 8,
            "E": 9,
            "E.Lost": 9,
            "E.Late": 9,
            "List": 10,
            "List.items": 12,
            "List.Item": 13,
        },
    ),
    "r: functions in functions, methods and calls; members by a dollar sign": (
        "a.R",
        """\
outer <- function(x) {
  inner <- function(y) y
  caps$run <- function(data) {
    1
  }
  sapply(x, FUN = function(i) i)
}
made <- local({
  hidden <- function() 1
})
`$<-.order` <- function(x, name, value) x
""",
        {"outer": 1, "outer.inner": 2, "outer.caps.run": 3, "made": 8, "made.hidden": 9, "$<-.order": 11},
    ),
    "clojure: definitions within a macro, and none within a remark": (
        "a.clj",
        """\
(macro/usetime
(defmulti reader (fn [kind] kind))
(defn- env-of [name] name))
(comment (defn tried [] 1))
(my/thing :a (def z 3))
(defn last-one [] 1)
""",
        {"reader": 2, "env-of": 3, "z": 5, "last-one": 6},
    ),
    "elisp: definitions within a macro, and none that are data": (
        "a.el",
        """\
(use-package magit
  :config
  (defun my/status () (magit-status))
  (setq x 1))
(setq y '(defun not-me ()))
(with-eval-after-load 'org (defvar my-org 1))
(use-package plain :ensure t)
""",
        {"my/status": 3, "my-org": 6},
    ),
    "elm: constructors and fields of types": (
        "a.elm",
        """\
module Route exposing (Route(..))

type Route
    = Home
    | Article Slug

{-| Of a page, which
takes (some) lines = many.

type Not = Me
-}
type alias Page =
    { slug : Slug
    , title : String
    }

toPage : Route -> Page
toPage route =
    { slug = "a", title = "b" }
""",
        {"Route": 3, "Route.Home": 4, "Route.Article": 5, "Page": 12, "Page.slug": 13, "Page.title": 14, "toPage": 18},
    ),
    "ocaml: signatures beside structures, arguments of functors": (
        "a.ml",
        """\
module P : sig
  val a : int
  exception C
end = struct
  let b = 1
end
module M = Make (P) (struct
  let c = 2
end)
include Make (struct let d = 3 end)
""",
        {"P": 1, "P.a": 2, "P.C": 3, "P.b": 5, "M": 7, "M.c": 8, "d": 10},
    ),
    "scss: relative and computed selectors, lists of selectors": (
        "a.scss",
        """\
@mixin size($t: "") {
  .x-#{$i}#{if($t == "", "", "-" + $t)} { a: b; }
}
.a,
.b {
  color: red;
  > .c { a: b; }
  & &-d { a: b; }
}
.e { a: b; }
""",
        {
            "size": 1,
            ".a, .b": 4,
            ".a, .b > .c": 7,
            ".a, .b-d": 8,
            ".e": 10,
        },
    ),
    "scheme: primes, signs in braces, functions in functions, versions of libraries": (
        "a.scm",
        """\
(library (my lib (6))
(define (first mod')
  (define (inner v) (eq? v '#{,}#))
  (inner mod'))
(define second' 1))
""",
        {"my.lib": 1, "my.lib.first": 2, "my.lib.first.inner": 3, "my.lib.second'": 5},
    ),
    "kotlin: bodies in one row beside raw strings, guards behind else": (
        "a.kt",
        '''\
sealed interface R { data class Ok(val x: Int) : R; data object Err : R }
enum class Color { RED; companion object { fun of() = entries } }
val text = $$"""{"$id": $$x}"""
class K {
  val g = when (x) {
    is Int if x > 1 -> 2
    else if x > 3 -> 4
    else -> 0
  }
  fun last() {}
}
''',
        {
            "R": 1,
            "R.Ok": 1,
            "R.Ok.x": 1,
            "R.Err": 1,
            "Color": 2,
            "Color.RED": 2,
            "Color.Companion": 2,
            "Color.Companion.of": 2,
            "text": 3,
            "K": 4,
            "K.g": 5,
            "K.last": 10,
        },
    ),
    "typescript: accessors, using, deferred imports": (
        "a.ts",
        """\
import defer * as later from "./later";
using held = open();
abstract class A {
  static accessor count = 0;
  abstract accessor size: number;
}
""",
        {"held": 2, "A": 3, "A.count": 4, "A.size": 5},
    ),
    "java: value classes": (
        "A.java",
        "class A {\n  value record P(int x) {}\n  int value = 1;\n}\nvalue class V {}\n",
        {"A": 1, "A.P": 2, "A.P.x": 2, "A.value": 3, "V": 5},
    ),
    "c: attributes by macros of pointers, local names of types": (
        "a.c",
        """\
node *MY_NONNULL first(node *_Nullable it, char *MY_NULLABLE name) {
  typedef int number;
  return it;
}
node *MY_NULLABLE second(void);
""",
        {"first": 1, "first.number": 2, "second": 5},
    ),
    "c++: tests whose macros take a title": (
        "a.cpp",
        """\
TEST_CASE("adds numbers", "[math]") {
  int local = 1;
  SECTION("of one digit") { REQUIRE(1 == local); }
}
TEMPLATE_TEST_CASE("any type", "[x]", int,
                   std::vector<int>)
{
  TestType it;
}
int last() { return 1; }
""",
        {"adds numbers": 1, "adds numbers.of one digit": 3, "any type": 5, "last": 10},
    ),
    "protobuf: the word reserved in a comment": (
        "a.proto",
        """\
syntax = "proto3";
message A {
  // Decodes reserved characters in
  // all texts.
  bool first = 1;
  reserved 2, 3;
}
""",
        {"A": 2, "A.first": 5},
    ),
    "perl: heredocs without a semicolon, declarations without a value, attributes": (
        "a.pl",
        """\
our $AUTOLOAD;
my @all;
sub first {
    print <<HELP
-d <dir> {
HELP
}
sub second :lvalue { return ! $_->last; }
""",
        {"AUTOLOAD": 1, "all": 2, "first": 3, "second": 8},
    ),
    "python: lazy imports": ("a.py", "lazy import json\nlazy from os import path\nA = 1\n", {"A": 3}),
    "powershell: user data of a server": (
        "a.ps1",
        "<powershell>\nfunction Get-A {\n    1\n}\n</powershell>\n<persist>true</persist>\n",
        {"Get-A": 2},
    ),
    "d: tests of a module": (
        "a.d",
        "int f() {\n    return 1;\n}\n\n@safe pure unittest\n{\n    assert(f() == 1);\n}\n",
        {"f": 1, "unittest": 5},
    ),
    "rust: what a nameless constant holds": ("a.rs", "const _: () = {\n    fn f() {}\n};\n", {"f": 2}),
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("form", FORMS)
def test_such_a_text_has_these_names_on_these_lines_and_no_others(form: str, ends: str) -> None:
    path, text, wanted = FORMS[form]
    result = chunk(Document(path, text.replace("\n", ends)))
    assert {it.name: it.line for part in result.chunks for it in part.definitions} == wanted
    assert result.warnings == ()


def test_functions_of_one_name_are_told_apart_by_their_number_of_parameters() -> None:
    text = "-module('a-b').\nf([]) -> 1;\nf(X) -> X.\n\nf([], A) ->\n  A;\nf(_, B) -> B.\n"
    found = [(it.name, it.line) for part in chunk(Document("a.erl", text)).chunks for it in part.definitions]
    assert found == [("a-b", 1), ("f", 2), ("f", 5)]


def test_a_rule_of_several_selectors_is_on_the_line_of_the_first() -> None:
    for path in ("a.css", "a.scss"):
        (part,) = chunk(Document(path, '.a,\n.b[x="y"] > i {\n  color: red;\n}\n')).chunks
        assert [(it.name, it.line) for it in part.definitions] == [('.a, .b[x="y"] > i', 1)]


@pytest.mark.parametrize(
    "text",
    [
        "/** The value. */\nMY_INLINE const Result\nvalue() const\n{\n  return Result(derived());\n}\n",
        "mx::array value(const std::vector<int>& all);\n",
        "typedef typename Base::Scalar Scalar;\nScalar value();\n",
    ],
)
def test_a_header_without_its_class_is_read_as_cpp_by_its_members(text: str) -> None:
    chunks = chunk(Document("plugin.h", text)).chunks
    assert "value" in [it.name for part in chunks for it in part.definitions]
    assert dialect_of("c", text) == "cpp"


def test_a_header_of_c_with_such_words_in_comments_stays_c() -> None:
    text = '/* f() const\n * std::vector\n */\n// a::b\n#define A "a::b"\nint f(const char *x, int y);\n'
    assert dialect_of("c", text) == "c"


@pytest.mark.parametrize(
    ("suffix", "opening"),
    [
        ("f", "     $ a\n"),
        ("f", "      x = 'a\n     $ "),
        ("scss", "#{if("),
        ("scss", "/* "),
        ("scm", "#{a"),
        ("scm", "a''"),
        ("kt", 'class A { val a = """'),
        ("ts", "static accessor "),
        ("h", "a("),
        ("h", "a:"),
        ("c", "*A_B "),
        ("cpp", 'TEST_CASE("a", '),
        ("cpp", 'TEST_CASE("a")\n//'),
        ("pl", "print <<A\n"),
        ("zig", "a: struct {"),
        ("ml", "module A = Make (struct "),
        ("proto", "reserved a"),
    ],
)
def test_ways_to_begin_such_a_form_without_end_take_no_longer_than_their_text(suffix: str, opening: str) -> None:
    # A pattern that looks back or far ahead would need minutes here.
    assert chunk(Document(f"a.{suffix}", opening * 4_000)).chunks
