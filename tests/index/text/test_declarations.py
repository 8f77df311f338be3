"""A signature ends where the body of its declaration begins, in every language."""

import pytest

from cqm.index.text.declarations import signature_of
from cqm.index.text.stored_definitions import StoredDefinition

SIGNATURES = {
    "data class D(val a: Int = run { 1 }) {": "data class D(val a: Int = run { 1 })",
    "suspend fun sus(f: suspend (Int) -> Unit = {}) {": "suspend fun sus(f: suspend (Int) -> Unit = {})",
    "struct Arr<'a, T, const N: usize = { 1 }> {": "struct Arr<'a, T, const N: usize = { 1 }>",
    '@Deprecated @SuppressWarnings({"a"}) void f() {': '@Deprecated @SuppressWarnings({"a"}) void f()',
    "export const useStore = create<State>()((set) => ({": "export const useStore = create<State>()",
    "const parse = (text) => {": "const parse = (text)",
    "def f(a: Int = 1): Map[String, Int] = {": "def f(a: Int = 1): Map[String, Int]",
    "func (c *C) Get() interface{} {": "func (c *C) Get() interface{}",
    "Foo::Foo(int a) : a_{a}, b_(1) {": "Foo::Foo(int a) : a_{a}, b_(1)",
    "A& operator=(const A& o) {": "A& operator=(const A& o)",
    "bool operator<(const A& o) const {": "bool operator<(const A& o) const",
    "fn f<'a>(x: &'a str, y: char) -> Vec<&'a str> {": "fn f<'a>(x: &'a str, y: char) -> Vec<&'a str>",
    "function f(a = '{', b = `{`) {": "function f(a = '{', b = `{`)",
    "def f(a={}, b='{'):": "def f(a={}, b='{')",
    "local M = {": "local M",
    "type Options = {": "type Options",
}


@pytest.mark.parametrize("line", SIGNATURES)
def test_a_signature_ends_before_the_body_outside_brackets_strings_and_generics(line: str) -> None:
    lines = [line, "  body", "}"]
    assert signature_of(lines, StoredDefinition("name", "function", 0, 0, 2)) == SIGNATURES[line]
