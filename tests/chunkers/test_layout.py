"""The lines of a symbol: with comments, decorators and attributes above it; and the lines that are imports."""

import pytest

from cqm.chunkers.facts.layout import layout_of
from cqm.chunkers.model import ChunkOptions, Document

PYTHON = '''\
"""Doc."""
import os  # os
X = 1  # of X
def f(): pass

# banner

# about
@a(
  1
)
class C:

    @p
    def g(self): pass
'''
GO = """\
package a

import (
	"os"
)

// T is.
// More.
type T struct {
}

type (
	// X
	X int
	Y int
)
"""
RUST = """\
use std::io;

/// Doc.
#[derive(Debug)]
pub struct S;

impl S {
    /// new
    #[inline]
    fn new() {}
}
"""
JAVA = """\
package x;
import y.Z;

/** D */
@Ann
public class A {
  // g
  @Override
  void g() {}
}
"""


@pytest.mark.parametrize(
    ("language", "text", "extents", "imports"),
    [
        (
            "python",
            PYTHON,
            [("X", 3, 3, 3), ("f", 4, 4, 4), ("C", 8, 12, 15), ("C.g", 14, 15, 15)],
            [(2, 2)],
        ),
        ("go", GO, [("T", 7, 9, 10), ("X", 13, 14, 14), ("Y", 15, 15, 15)], [(1, 1), (3, 5)]),
        ("rust", RUST, [("S", 3, 5, 5), ("S", 7, 7, 11), ("S.new", 8, 10, 10)], [(1, 1)]),
        ("java", JAVA, [("A", 4, 6, 10), ("A.g", 7, 9, 9)], [(1, 1), (2, 2)]),
    ],
)
def test_a_symbol_begins_with_the_comments_and_decorators_directly_above_it(
    language: str, text: str, extents: list[tuple[str, int, int, int]], imports: list[tuple[int, int]]
) -> None:
    found = layout_of(Document("a", text, language), ChunkOptions())
    assert [(it.name, it.begins, it.first, it.last) for it in found.extents] == extents
    assert list(found.imports) == imports


def test_what_no_grammar_reads_has_no_layout() -> None:
    assert not layout_of(Document("a", "text", "text"), ChunkOptions()).extents
    assert not layout_of(Document("a", PYTHON, "python"), ChunkOptions(max_parse_bytes=3)).extents
