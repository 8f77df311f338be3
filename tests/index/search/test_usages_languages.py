"""Calls told in every language with a grammar, in templates, and names with hyphens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.symbols import ReadQuery
from cqm.index.model.uses import ReferenceGroup

pytestmark = pytest.mark.processes

# By file: the name, the lines that call it, the text.
CALLS = {
    "a.adb": (
        "total_of",
        {3, 5},
        """\
procedure Main is
   function total_of (A : Integer) return Integer is (A);
   X : Integer := total_of (3);
begin
   X := total_of (4);
end Main;
""",
    ),
    "a.bat": (
        "total_of",
        {2},
        """\
@echo off
call :total_of 3
goto :eof
:total_of
echo %1
exit /b
""",
    ),
    "a.cmake": (
        "total_of",
        {4},
        """\
function(total_of a)
  message(${a})
endfunction()
total_of(3)
""",
    ),
    "a.clj": (
        "total-of",
        {2},
        """\
(defn total-of [a] a)
(def x (total-of 3))
(map total-of [1])
""",
    ),
    "a.coffee": (
        "total_of",
        {2, 3},
        """\
total_of = (a) -> a
x = total_of(3)
y = total_of 3
""",
    ),
    "a.dart": (
        "total_of",
        {3, 6, 7, 8, 9},
        """\
int total_of(int a) { return a; }
class Foo {
  int bar(int a) => total_of(a);
}
void main() async {
  var x = total_of(3);
  await total_of(x);
  x.b.total_of(5);
  print(total_of(6));
  map(total_of);
}
""",
    ),
    "b.dart": (
        "Basket",
        {5, 6, 7},
        """\
class Basket {
  Basket(int x);
}
void main() {
  var x = Basket(3);
  final y = new Basket(3);
  f(const Basket(2));
}
""",
    ),
    "a.elm": (
        "total_of",
        {6},
        """\
module A exposing (..)

total_of : Int -> Int
total_of a = a

x = total_of 3
""",
    ),
    "a.el": (
        "total-of",
        {2, 4},
        """\
(defun total-of (a) a)
(total-of 3)
(defun b (total-of) total-of)
(c (total-of))
""",
    ),
    "a.erl": (
        "total_of",
        {4, 5},
        """\
-module(a).
total_of(A) -> A.
main() ->
  X = total_of(3),
  Y = a:total_of(4),
  X.
""",
    ),
    "a.f90": (
        "run_total",
        {6},
        """\
module m
contains
  subroutine run_total(a)
  end subroutine
  subroutine b()
    call run_total(3)
  end subroutine
end module
""",
    ),
    "a.fs": (
        "total_of",
        {3, 4, 5},
        """\
module B
let total_of a = a + 1
let x = total_of 3
let y = B.total_of 4
let z = 3 |> total_of
""",
    ),
    "a.hs": (
        "total_of",
        {4},
        """\
module A where

total_of a = a
main = print (total_of 3)
""",
    ),
    "a.jl": (
        "total_of",
        {4},
        """\
function total_of(a)
  return a
end
x = total_of(3)
""",
    ),
    "a.lua": (
        "total_of",
        {2},
        """\
local function total_of(a) return a end
local x = total_of(3)
""",
    ),
    "Makefile": (
        "total_of",
        {6},
        """\
define total_of
echo $(1)
endef

all:
	$(call total_of,3)
""",
    ),
    "a.m": (
        "total_of",
        {4},
        """\
@implementation A
- (int)total_of:(int)a { return a; }
- (int)b {
  return [self total_of:3];
}
@end
""",
    ),
    "a.nix": (
        "total_of",
        {4},
        """\
let
  total_of = a: a + 1;
in {
  x = total_of 3;
}
""",
    ),
    "a.ml": (
        "total_of",
        {2, 3, 4},
        """\
let total_of a = a + 1
let x = total_of 3
let y = A.total_of 3
let z = 3 |> total_of
let q = [total_of]
""",
    ),
    "a.pas": (
        "total_of",
        {8, 9},
        """\
program P;
function total_of(a: Integer): Integer;
begin
  Result := a;
end;
var x: Integer;
begin
  x := total_of(3);
  total_of;
end.
""",
    ),
    "a.pl": (
        "total_of",
        {2, 3, 4, 5},
        """\
sub total_of { my ($a) = @_; return $a; }
my $x = total_of(3);
my $y = $self->total_of(3);
my $z = A::total_of(4);
my $q = total_of $x;
""",
    ),
    "a.ps1": (
        "Get-Total",
        {2, 3},
        """\
function Get-Total { param($a) return $a }
$x = Get-Total 3
Get-Total 4
""",
    ),
    "a.rb": (
        "total_of",
        {8, 6, 7},
        """\
def total_of(a)
  a
end

def main
  x = total_of(3)
  y = total_of 3
  self.z = total_of
end

def other
  total_of = 3
  total_of
end
""",
    ),
    "a.rkt": (
        "total-of",
        {3, 4},
        """\
#lang racket
(define (total-of a) a)
(total-of 3)
(define (b c) (total-of c))
(let ((total-of 1)) c)
(lambda (total-of) c)
""",
    ),
    "a.scss": (
        "make-total",
        {5, 6},
        """\
@mixin make-total($a) {
  width: $a;
}
.b {
  @include make-total(3);
  width: make-total(3);
}
""",
    ),
    "a.sol": (
        "total_of",
        {4, 5},
        """\
contract C {
  function total_of(uint a) public returns (uint) { return a; }
  function other() public {
    uint x = total_of(3);
    this.total_of(5);
  }
}
""",
    ),
    "a.sv": (
        "total_of",
        {6},
        """\
module m;
  function int total_of(int a);
    return a;
  endfunction
  initial begin
    x = total_of(3);
  end
endmodule
""",
    ),
    "b.sv": (
        "adder",
        {4},
        """\
module adder(input a);
endmodule
module other;
  adder u1(.a(b));
endmodule
""",
    ),
    "a.swift": (
        "total_of",
        {2},
        """\
func total_of(a: Int) -> Int { return a }
let x = total_of(a: 3)
""",
    ),
    "a.tcl": (
        "total_of",
        {4, 5},
        """\
proc total_of {a} {
  return $a
}
set x [total_of 3]
total_of 4
""",
    ),
    "a.vim": (
        "Total_of",
        {4},
        """\
function! Total_of(a)
  return a:a
endfunction
let x = Total_of(3)
""",
    ),
    "a.zig": (
        "total_of",
        {3},
        """\
fn total_of(a: u32) u32 { return a; }
pub fn main() void {
    _ = total_of(3);
}
""",
    ),
    # Templates: components, helpers, filters and tags.
    "Beat.vue": (
        "ShopBar",
        {2},
        """\
<template>
  <ShopBar :id="1" />
</template>
<script>
export default { components: { ShopBar } }
</script>
""",
    ),
    "Item.razor": (
        "ShopBar",
        {1},
        """\
<ShopBar Item="@item">
</ShopBar>
""",
    ),
    "Item.svelte": (
        "ShopBar",
        {1},
        """\
<ShopBar {item} />
""",
    ),
    "page.html.heex": (
        "text_input",
        {1, 3},
        """\
<.text_input form={f} />
<button>text_input</button>
<Core.text_input />
""",
    ),
    "live.ex": (
        "text_input",
        {4},
        """\
defmodule Live do
  def render(assigns) do
    ~H'''
    <.text_input form={f} />
    '''
  end
end
""",
    ),
    "show.html.erb": (
        "errors_for",
        {1, 2, 3},
        """\
<%= errors_for comment %>
<% if errors_for :x %>
<%= link_to "x", errors_for(y) %>
<%= errors_for %>
<p>errors_for comment</p>
""",
    ),
    "cart.html": (
        "render_money",
        {1, 2, 3, 4},
        """\
<p>{{ render_money .Price }}</p>
<p>{{ $a := render_money .Price }}</p>
<p>{{ price|render_money }}</p>
{% render_money price %}
{% url "render_money" %}
<p>render_money shows it</p>
""",
    ),
    "mail.txt": (
        "render_money",
        {1},
        """\
It costs {{ price | render_money }}.
- render_money is text.
""",
    ),
}
FURTHER = {
    "src/ShopBar.vue": "<template>\n  <p>Bar</p>\n</template>\n",
    "style.css": ".settings-bar {\n  color: red;\n}\n",
    "b.vue": '<template>\n  <shop-bar :id="1" />\n</template>\n',
    "urls.py": 'urls = [path("x", view, name="hc-login-totp")]\n\n\ndef settings(bar):\n    return settings-bar\n',
    "deploy.yaml": "name: hc-login-totp\n",
    "core.ex": "defmodule Core do\n  def text_input(assigns), do: assigns\nend\n",
    "b.scm": "(define (compute x) x)\n(let ((x 1)) (print (compute x)))\n(with-temp-buffer (insert (compute 2)))\n"
    "(download (build (compute 3)))\n(let ((compute 1)) compute)\n",
    "order.ts": "export class ShopOrder {}\n",
    "list.vue": '<script lang="ts">\nconst all: Array<ShopOrder> = [];\n'
    "const sent = ref<ShopOrder[]>([]);\n</script>\n",
    "callers.ps1": "function Show-Total { Get-Total 3 }\nfunction Main-Total { Show-Total }\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {path: text for path, (_, _, text) in CALLS.items()} | FURTHER
    with indexed_tree(tmp_path_factory.mktemp("languages"), files, "project") as opened:
        yield opened


@pytest.mark.parametrize("path", CALLS)
def test_calls_are_told_in_every_language(index: Index, path: str) -> None:
    name, calls, _ = CALLS[path]
    told = index.usages(name, limit=1000)
    assert {it.line for it in told.references if (it.path, it.kind) == (path, "call")} == calls


def test_names_in_templates_were_told_as_documentation(index: Index) -> None:
    told = index.usages("render_money", limit=1000)
    documents = {(it.path, it.line) for it in told.references if it.group is ReferenceGroup.DOCUMENTATION}
    assert documents == {("cart.html", 6), ("mail.txt", 2)}


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        ("Get-Total", {("a.ps1", 1)}),
        ("Get-Total()", {("a.ps1", 1)}),
        ("`Get-Total`", {("a.ps1", 1)}),
        ("total-of", {("a.clj", 1), ("a.el", 1), ("a.rkt", 2)}),
        ("a.core/total-of", {("a.clj", 1), ("a.el", 1), ("a.rkt", 2)}),
        (".settings-bar", {("style.css", 1)}),
        ("settings-bar", {("style.css", 1)}),
        ("shop-bar", {("src/ShopBar.vue", 1)}),
        ("hc-login-totp", set()),
    ],
)
def test_names_with_hyphens_were_refused(index: Index, name: str, defined: set[tuple[str, int]]) -> None:
    told = index.usages(name)
    assert {(it.path, it.line) for it in told.definitions} == defined
    assert told.references


def test_every_line_with_a_hyphenated_word_is_told(index: Index) -> None:
    assert {it.path for it in index.usages("hc-login-totp").references} == {"urls.py", "deploy.yaml"}
    told = index.usages("settings-bar")
    assert sum(told.totals.values()) == 2


@pytest.mark.parametrize("name", ["foo - bar", "where is get-total"])
def test_words_around_a_hyphen_are_no_name(index: Index, name: str) -> None:
    with pytest.raises(QueryError, match="expected a symbol"):
        index.usages(name)


@pytest.mark.parametrize(
    ("place", "symbol"),
    [
        ("a.ps1:2:6", "Get-Total"),
        ("a.ps1:3", "Get-Total"),
        ("a.clj:1", "total-of"),
        ("a.clj:2:12", "total-of"),
        # A difference, where the index has no such name in the file, is of a name that it has anywhere.
        ("urls.py:4", "settings"),
    ],
)
def test_a_place_in_a_hyphenated_name_meant_its_first_word(index: Index, place: str, symbol: str) -> None:
    assert index.usages(place).name == f"{symbol} ({place})"


def test_callers_of_hyphenated_names_are_followed(index: Index) -> None:
    callers = {(it.level, it.symbol) for it in index.usages("Get-Total", depth=2).callers}
    assert {(1, "Show-Total"), (2, "Main-Total")} <= callers


@pytest.mark.parametrize(("name", "path"), [("Get-Total", "a.ps1"), (".settings-bar", "style.css"), ("total-of", "")])
def test_a_hyphenated_symbol_is_read(index: Index, name: str, path: str) -> None:
    read = index.read(ReadQuery(name))
    assert read.path == path
    assert path or len(read.definitions) == 3


def test_the_definition_of_a_component_had_line_0(index: Index) -> None:
    (component,) = index.usages("ShopBar").definitions
    assert (component.path, component.line, component.kind) == ("src/ShopBar.vue", 1, "component")


def test_calls_within_bindings_and_words_that_only_begin_as_these_were_told_as_values(index: Index) -> None:
    told = index.usages("compute", limit=1000)
    assert {it.line for it in told.references if (it.path, it.kind) == ("b.scm", "call")} == {2, 3, 4}


def test_the_parameter_of_a_type_was_told_as_the_tag_of_a_component(index: Index) -> None:
    told = index.usages("ShopOrder", limit=1000)
    assert [it.kind for it in told.references if it.path == "list.vue" and it.kind == "call"] == []


BESIDE = {
    # By file: the text, the lines in tests beside the program, those outside of them.
    "a.rs": (
        """\
pub fn total() -> i32 { 2 }
pub fn uses() -> i32 { total() }
#[test]
fn is_two() { assert_eq!(total(), 2); }
#[tokio::test]
// Waits.
async fn waits() { assert_eq!(total(), 2); }
#[inline]
fn further() -> i32 { total() }
#[cfg(test)]
mod checks {
    fn helper() -> i32 { super::total() }
}
""",
        {4, 7, 12},
        {2, 9},
    ),
    "a.zig": (
        """\
pub fn total() i32 { return 2; }
pub fn uses() i32 { return total(); }
test "is two" {
    try expect(total() == 2);
}
""",
        {4},
        {2},
    ),
    "a.jl": (
        """\
total() = 2
uses() = total()
@testset "two" begin
    @test total() == 2
end
""",
        {4},
        {2},
    ),
    "a.d": (
        "int total() { return 2; }\nint uses() { return total(); }\nunittest {\n    assert(total() == 2);\n}\n",
        {4},
        {2},
    ),
    "a.py": ("def total():\n    return 2\n\n\ndef test_total():\n    assert total() == 2\n\n\nx = total()\n", {6}, {9}),
}


def test_lines_in_tests_beside_the_program_are_told_as_tests(tmp_path: Path) -> None:
    with indexed_tree(tmp_path, {path: text for path, (text, _, _) in BESIDE.items()}) as index:
        found = index.usages("total").references
    for path, (_, in_tests, others) in BESIDE.items():
        groups = {it.line: it.group for it in found if it.path == path}
        assert {line for line, group in groups.items() if group is ReferenceGroup.TESTS} == in_tests, path
        assert groups.keys() >= others, path
