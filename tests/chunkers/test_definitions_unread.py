"""Names that a grammar hides nowhere: forms of languages that their grammars don't know, and the names around."""

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.detect import language_of
from cqm.chunkers.model import Document

FORMS = {
    "c++: macros behind the name of a type": (
        "a.hpp",
        """\
class channel_t MY_FINAL : public base_t
{
  public:
    int send ();
};
struct API_EXPORT point_t MY_FINAL {
    int x;
};
struct point_t MY_ORIGIN {ZERO, ZERO};
""",
        {"channel_t": 1, "channel_t.send": 4, "point_t": 6, "point_t.x": 7, "MY_ORIGIN": 9},
    ),
    "powershell: empty blocks, lists of words, paths after variables": (
        "a.ps1",
        """\
Get-Module P, Helpers, Other | Remove-Module
Import-Module $PSScriptRoot\\..\\bin\\p.psm1 -DisableNameChecking
function First { 1 }
Describe "a" {
    BeforeAll { }
    It "b" -Skip {}
    foreach ($i in 1..3) { if ($i -gt 5KB) { continue outer } }
    @{ Name = 'x' } | Should-Be -Key Name, "Age", Other -param1 'y'
    $items.ForEach({ $_.Trim() })
    Do-Something | Out-Null
}
function Second { [CmdletBinding()] param ([string] $Name) 'real' }
function Third { }
""",
        {"First": 3, "Second": 12, "Third": 13},
    ),
    "groovy: members without a type, annotated parameters, little indentation": (
        "A.groovy",
        """\
abstract class First implements Runnable {
  abstract Provider<String> getName()
  First(int timeout, TimeUnit unit) {
    this.timeout = timeout
  }
  private setup() {
    call(list.map { it.name }, (Other) value)
  }
  static make(def value) {
    for (String it in names) { println it }
  }
  def cleanup(@Index int param) {
    assert x == 2 ** 3 : "never"
  }
  private static <T> T provide(byte[] value) {
    (a, b) = pair.@field
  }
}
@Test(expected = Failure.class)
class Second extends Base {
  def third() { 1 }
}
""",
        {
            "First": 1,
            "First.getName": 2,
            "First.First": 3,
            "First.setup": 6,
            "First.make": 9,
            "First.cleanup": 12,
            "First.provide": 15,
            "Second": 20,
            "Second.third": 21,
        },
    ),
    "groovy: comments among the values of an enumeration": (
        "A.groovy",
        "enum Show {\n  /** One, first. */\n  ONE, // two\n  TWO\n}\nclass After {\n  def run() { 1 }\n}\n",
        {"Show": 1, "Show.ONE": 3, "Show.TWO": 4, "After.run": 7},
    ),
    "protobuf: options with texts side by side, braces in extensions": (
        "a.proto",
        """\
syntax = "proto2";
extend a.FloatRules {
  optional float range = 1161 [(a.predefined).cel = {
    id: "float.range"
    expression: "this >= -rule"
      " && this <= rule"
  }];
}
message Review {
  option (a.message).cel = {
    expression:
      // In two rows.
      "this.reviews.exists("
      "id, this[id])"
  };
  required string text = 1 [(a.field).items.(extra) = true];
}
message After {
  optional int32 id = 1;
}
""",
        {"range": 3, "Review": 9, "Review.text": 16, "After.id": 19},
    ),
    "vim: Vim9 with parameters on several rows, comments, dictionaries": (
        "a.vim",
        """\
vim9script
# A comment, with 'a quote.
const known: dict<any> = {
  '$/progress': First,
  # inside
}
export def First(lines: list<string>,
    width: number): bool
  var local = 1
  return true
enddef
var state: dict<number> = {}
command! -nargs=+ -bar -complete=customlist,lsp.Complete Show First(<q-args>)
def Second(
    line: string)
enddef
""",
        {"known": 3, "First": 7, "state": 12, "Show": 13, "Second": 14},
    ),
    "systemverilog: macros with properties and statements, parameters of a class": (
        "a.sv",
        """\
module first (input clk_i);
  `ASSERT(NeverBoth_A, a |-> !b, clk_i)
  `SPINWAIT(wait (done == 1);, , "late")
  localparam int Width = 32'h`WIDTH;
  if (Width == 0) begin
    $fatal(1);
  end
endmodule
class Second #(type Item = base_item, int Size = 3) extends Base;
  typedef struct packed {
    logic a;
  } pair_t;
endclass
""",
        {
            "first": 1,
            "first.Width": 4,
            "Second": 9,
            "Second.Item": 9,
            "Second.Size": 9,
            "Second.pair_t": 12,
        },
    ),
    "fortran: macros around bound procedures, directives among them": (
        "a.F90",
        """\
module m
  type, public :: file
  contains
    generic, public :: get => WRAP(get_object), &
#ifndef REAL32
                              WRAP(get_real), &
#endif
                              get_integer
    procedure, private :: WRAP(get_object)
    procedure, public :: print => print_file
  end type file
end module m
""",
        {"m.file": 2, "m.file.get": 4, "m.file.get_object": 9, "m.file.print": 10},
    ),
    "perl: functions without a name with signatures, texts that end in a backslash": (
        "a.pl",
        """\
use Mojo::Base 'Mojolicious', -signatures;
use Mojo::Util qw(one two),
  qw(three);
sub first { shift->{content} // '' }
get '/' => sub ($c, $id = 1) {
  return $c ? 'a\\\\' : 'b';
};
is $output, 'test\\\\', 'right';
sub second ($self) { $self->@* }
__PACKAGE__->run;
sub third { 1 }
""",
        {"first": 4, "second": 9, "third": 11},
    ),
    "css: two semicolons, filters, hacks": (
        "a.css",
        """\
.first {
  filter: progid:DXImageTransform.Microsoft.gradient(startColorstr='#fff', endColorstr='#eee');
  *zoom: 1;
  color: red;;
  margin: 1px \\9;
}
.second { color: blue; }
""",
        {".first": 1, ".second": 7},
    ),
    "less: arguments of pseudo-classes, attributes first": (
        "a.less",
        """\
.ui.form input:not([type]),
.ui[class*="left icon"].input:not(.action) > input { color: red; }
[data-position="top left"]:hover:after { color: blue; }
.second { color: blue; }
""",
        {'[data-position="top left"]:hover:after': 3, ".second": 4},
    ),
    "c: blanks behind a macro without a value": (
        "a.h",
        (
            "#ifndef A_H\n#define A_H \n#define NOTED /* why */\t\nint first(void) { return 1; }\n"
            "#define F(x) \nint second(void) { return 2; }\n#endif\n"
        ),
        {"NOTED": 3, "first": 4, "F": 5, "second": 6},
    ),
    "objective-c: a header with nothing but an enumeration": (
        "a.h",
        '#import "B.h"\n\ntypedef NS_ERROR_ENUM(Domain, Failure) {\n    FailureInvalid = 1000, // why\n};\n',
        {"Failure": 3, "Failure.FailureInvalid": 4},
    ),
    "ada: comments among the values of an enumeration, subunits": (
        "a.adb",
        (
            "package P is\n   type E is (\n      --  First.\n      A,\n      B);\nend P;\n"
            "separate (P)\nfunction Twice (X : Integer) return Integer is\nbegin\n   return 2 * X;\nend Twice;\n"
        ),
        {"P.E": 2, "P.E.A": 4, "P.E.B": 5, "Twice": 8},
    ),
    "julia: aliases with parameters, functions behind a macro of a module": (
        "a.jl",
        "const MinHeap{T} = Heap{T, Forward}\nBase.@propagate_inbounds sink!(xs, i) = 1\n",
        {"MinHeap": 1, "sink!": 2},
    ),
    "make: a blank row ends a command that goes on": (
        "a.mk",
        "first: a\n\techo \\\n\t  b \\\n\nsecond: first\n\nthird:\n\techo\n",
        {"first": 1, "second": 5, "third": 7},
    ),
    "cmake: variables of a template": (
        "a.cmake.in",
        '@PACKAGE_INIT@\ninclude("${@NAME@_DIR}/@NAME@-targets.cmake")\nfunction(first)\nendfunction()\n',
        {"first": 3},
    ),
    "c: rows of calls of macros, types among their arguments, a comment with a directive, branches that are off": (
        "a.c",
        """\
/* Use it so:
   #ifdef USED */
struct handle {
  UV_HANDLE_FIELDS
  int size;
};
TEST_DECLARE   (tcp_flags)
TEST_DECLARE   (tcp_open)  // why
VARx(struct epoll_event *, events)
VARx(int, count)
CTL_GEN(config_stats, read(mib[2])->dss, const char *)
#if 0
=== Results === 1.5 { it's slow
#endif
int first(void) { CHECK_AS(run(), const char *); return 1; }
void text(const char *format, ...) IM_FMT(1);
int second(void)
{
  __asm {
    mov eax, 1
  }
  return 2;
}
struct bits { long long:0; char it:1 __attribute__((packed)) __attribute__((aligned(2))); };
int third(void) { return 3; }
""",
        {"handle": 3, "first": 15, "text": 16, "second": 17, "bits": 24, "third": 25},
    ),
    "c++: types among arguments, operators by name, concepts of libraries": (
        "a.cpp",
        """\
namespace n {
TEST_CASE("reads")
{
    CHECK_THROWS_WITH_AS(_ = it.read(std::vector<int>({0x18})), "[a] b", n::parse_error&);
    CHECK(it[typename Type::key("a")] == 1);
}
ABSL_FLAG(bool, flagged, {}, "");
OFFSET_BENCHMARK(BM_Offset, 48, int8_t, int16_t, Int128);
template(typename T, typename U)(
    requires range<T> AND range<U>)
int first(T t) { return 1; }
class Second : base {
  public:
    using typename base::iterator;
    auto get() -> decltype(it.template get<T>(), void()) { return it->operator[](1); }
};
int third() { return 3; }
}
""",
        {"n.reads": 2, "n.first": 11, "n.Second": 12, "n.Second.get": 15, "n.third": 17},
    ),
    "bash: expansions and globs of zsh, templates, heredocs that are piped": (
        "a.zsh",
        """\
if (( ! $+commands[kubectl] )); then
  return
fi
() {
  local version="${${(As: :)$(git version 2>/dev/null)}[3]}"
}
function first() { print -l *(N-.) && { true } 2>/dev/null; }
if ! (( ${+terminfo[smkx]} )) && [[ $a == (|*[^[:alnum:]])wip ]]; then
  load =( kubectl completion zsh ) &|
fi
awk '/"/' <<'END' |
it's "
END
sort
for name value in "${(@)pairs}"; do print $#name; done
{{#if it}}
second() { echo "{{ name }}" ``; }
{{/if}}
{ read } always { close }
alias third='git push'
""",
        {"first": 7, "second": 17, "third": 20},
    ),
    "perl: prototypes, elements of references, lists of modules, operators as names": (
        "a.pl",
        """\
package A;
require 5.004;
use Test::More tests => 8;
use overload '0+' => 'num', q{""} => sub { 'a' };
sub early($$;@);
sub first($) { my $it = shift; $$it{NAME} = lc $$it{KEY}; $$_{X} = 1; return undef; }
::ok(1, "pid $$");
for ($i=0; ; ++$i) { last if $x{lc $y} and eval { require IO::X and 1 }; }
push @a, qw( --start=<(title|h1)> );
$path =~ m:(.*)/\\./: and $list = f(1, [-0x80],);
sub isa { my ($self, @args) = @_; return $self->{'a',$b}; }
die <<"    EOT" if 0;
    | {a} isn't
    EOT
sub last_one { 1 }
""",
        {"A.first": 6, "A.isa": 11, "A.last_one": 15},
    ),
    "racket: text in code, drawn tables": (
        "a.rkt",
        """\
#lang at-exp racket/base
(define (first) (test @t{#lang racket
  (define a "it's { } odd
} @rx{b|}))
(define (second x)
  #2dmatch
  ╔════╦════╗
  ║ a  ║ b  ║
  ╚════╩════╝)
(define third 3)
""",
        {"first": 2, "second": 5, "third": 10},
    ),
    "visual basic: functions of libraries in 64 bits": (
        "a.bas",
        'Private Declare PtrSafe Function web_popen Lib "libc.dylib" Alias "popen" (ByVal a As String) As LongPtr\n',
        {"web_popen": 1},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_the_grammar_does_not_know_hides_no_names(form: str) -> None:
    path, text, wanted = FORMS[form]
    found = {it.name: it.line for part in chunk(Document(path, text)).chunks for it in part.definitions}
    assert {name: found.get(name) for name in wanted} == wanted
    assert not any(name.startswith("--") or "\n" in name for name in found)


@pytest.mark.parametrize("form", FORMS)
def test_such_a_form_is_read_with_the_line_ends_of_windows_too(form: str) -> None:
    path, text, wanted = FORMS[form]
    chunks = chunk(Document(path, text.replace("\n", "\r\n"))).chunks
    found = {it.name: it.line for part in chunks for it in part.definitions}
    assert {name: found.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("suffix", "opening"),
    [
        ("ps1", "param(("),
        ("ps1", '"a", '),
        ("groovy", "@A(a("),
        ("groovy", "private static "),
        ("proto", "extend A {/*"),
        ("sv", "`a("),
        ("vim", "vim9script\nvar a = {"),
        ("f90", "generic &\n"),
        ("pl", "return a ? "),
        ("css", "progid:"),
        ("c", "#define A /* "),
        ("c", "\nA_B("),
        ("cpp", "AAA(a<b<"),
        ("cpp", "template("),
        ("zsh", "${{("),
        ("zsh", "<<a |\n"),
        ("zsh", "for 1 "),
        ("pl", "use lib a->"),
        ("pl", "use A q{"),
        ("rkt", "#lang at-exp a @a{"),
        ("ps1", '"$('),
    ],
)
def test_ways_to_begin_such_a_form_without_end_take_no_longer_than_their_text(suffix: str, opening: str) -> None:
    # A pattern that looks back or far ahead would need minutes here.
    assert chunk(Document(f"a.{suffix}", opening * 4_000)).chunks


def test_a_list_of_files_of_verilog_is_no_fortran() -> None:
    listed = "// Copyright\n+define+TRACE\n${PRJ_DIR}/rtl/core.sv\n"
    assert language_of("core.f", listed) == "code"
    assert language_of("core.f", "      PROGRAM A\n      END\n") == "fortran"


def test_an_argument_of_powershell_that_defines_a_name_is_no_error() -> None:
    read = chunk(Document("a.ps1", "function First {\n    cmake -DNAME=1 -DOTHER=$x .\n}\nfunction Second { 1 }\n"))
    assert not read.warnings
    assert [it.name for part in read.chunks for it in part.definitions] == ["First", "Second"]
