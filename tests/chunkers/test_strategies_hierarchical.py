from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, Document
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.tokens import openai_tokenizer

pytestmark = pytest.mark.row("B5")

SMALL = HierarchicalOptions(max_depth=3, parent_tokens=256, child_tokens=64, min_tokens=16)


def prose(name: str, sentences: int) -> str:
    return "".join(f"Sentence {number} of {name} says something. " for number in range(sentences)) + "\n\n"


MARKDOWN = (
    prose("the preamble", 3)
    + f"# Guide\n\n{prose('the guide', 3)}"
    + f"## Install\n\n{prose('install', 8)}### Linux\n\n{prose('linux', 4)}#### Debian\n\n{prose('debian', 3)}"
    + f"## Use\n\n{prose('use', 60)}"
    + f"# End\n\n{prose('the end', 2)}"
)


def cut(text: str, options: HierarchicalOptions, path: str = "a.md") -> list[Chunk]:
    return list(chunk(Document(path, text), options).chunks)


def named(chunks: list[Chunk], symbol: str) -> list[Chunk]:
    return [piece for piece in chunks if piece.symbol == symbol]


def test_sections_lie_under_the_sections_that_they_are_in() -> None:
    chunks = cut(MARKDOWN, SMALL)
    by_id = {piece.id: piece for piece in chunks}
    guide, install, linux = (named(chunks, name)[0] for name in ("Guide", "Guide > Install", "Guide > Install > Linux"))
    assert [guide.level, guide.parent] == [0, ""]
    assert [install.level, install.parent] == [1, guide.id]
    assert [linux.level, linux.parent] == [2, install.id]
    assert {by_id[child].symbol for child in guide.children} == {"Guide", "Guide > Install", "Guide > Use"}


def test_small_sections_inside_a_large_one_lie_in_a_parent_to_read() -> None:
    parts = "".join(f"## Part {number}\n\n{prose(f'part {number}', 4)}" for number in range(9))
    chunks = cut(f"# Guide\n\n{prose('the guide', 3)}{parts}", SMALL)
    by_id = {piece.id: piece for piece in chunks}
    leaves = [piece for piece in chunks if not piece.children]
    assert len(leaves) > 6
    for leaf in leaves:
        parent = by_id[leaf.parent]
        assert leaf.text in parent.text
        assert parent.tokens <= 256
        assert set(leaf.defines) <= set(parent.defines) or parent.symbol == "Guide"


def test_parents_and_children_name_each_other() -> None:
    chunks = cut(MARKDOWN, SMALL)
    by_id = {piece.id: piece for piece in chunks}
    assert any(piece.children for piece in chunks)
    for piece in chunks:
        assert all(by_id[child].parent == piece.id for child in piece.children)
        assert not piece.parent or piece.id in by_id[piece.parent].children


def test_the_text_before_the_first_heading_is_kept() -> None:
    first = cut(MARKDOWN, SMALL)[0]
    assert first.text.startswith("Sentence 0 of the preamble")
    assert [first.kind, first.symbol, first.metadata.headings] == ["text", "", ()]


def test_parents_are_within_their_size_and_hold_children_within_theirs() -> None:
    chunks = cut(MARKDOWN, SMALL)
    by_id = {piece.id: piece for piece in chunks}
    holders = [piece for piece in chunks if any(by_id[child].end <= piece.end for child in piece.children)]
    assert len(holders) > 3
    assert all(piece.tokens <= 256 for piece in holders)
    # One of a child's size holds one: its own text is small, but its section is large.
    assert all(by_id[piece.children[0]].text == piece.text for piece in holders if piece.tokens <= 64)
    assert all(piece.tokens <= 64 for piece in chunks if not piece.children)


@pytest.mark.parametrize(("parent", "child"), [(256, 64), (1024, 256), (512, 512)])
def test_sizes_are_those_asked_for(parent: int, child: int) -> None:
    text = f"# A\n\n{prose('it', 400)}"
    chunks = cut(text, HierarchicalOptions(parent_tokens=parent, child_tokens=child))
    leaves = [piece for piece in chunks if not piece.children]
    assert child * 0.7 <= max(piece.tokens for piece in leaves) <= child
    assert parent * 0.7 <= max(piece.tokens for piece in chunks) <= parent


@pytest.mark.parametrize("depth", range(1, 7))
def test_headings_deeper_than_asked_for_begin_no_section(depth: int) -> None:
    text = "".join(f"{'#' * level} H{level}\n\n{prose(f'level {level}', 10)}" for level in range(1, 7))
    chunks = cut(text, replace(SMALL, max_depth=depth))
    assert max(len(piece.metadata.headings) for piece in chunks) == depth


def test_the_headings_above_are_the_context_if_it_is_inherited() -> None:
    (linux, *rest) = named(cut(MARKDOWN, SMALL), "Guide > Install > Linux")
    assert linux.context == "# Guide\n## Install"
    assert rest[-1].context == "# Guide\n## Install\n### Linux"
    assert rest[-1].metadata.headings == ("Guide", "Install", "Linux")
    assert {piece.context for piece in cut(MARKDOWN, replace(SMALL, inherit_context=False))} == {""}


def test_summaries_span_their_section_and_say_its_headings_and_first_sentences() -> None:
    chunks = cut(MARKDOWN, replace(SMALL, summaries=True))
    (install,) = [piece for piece in named(chunks, "Guide > Install") if piece.kind == "summary"]
    assert install.text == MARKDOWN[install.start : install.end]
    assert install.text.startswith("## Install")
    assert "Sentence 2 of debian" in install.text
    assert install.content == (
        "## Install\nSentence 0 of install says something.\n### Linux\nSentence 0 of linux says something."
    )
    assert not any(piece.kind == "summary" for piece in cut(MARKDOWN, SMALL))


def test_summaries_may_have_any_size_without_a_warning() -> None:
    report = chunk(Document("a.md", MARKDOWN), replace(SMALL, summaries=True))
    assert max(piece.tokens for piece in report.chunks) > 600
    assert report.warnings == ()


def test_children_over_150_percent_of_their_size_are_warned_of() -> None:
    fence = "```\n" + "code code code\n" * 40 + "```\n"
    report = chunk(Document("a.md", f"# A\n\n{fence}\n# B\n\nText.\n"), SMALL)
    assert report.warnings == (
        f"1 of {len(report.chunks)} chunks are over 150 % of child_tokens=64; the largest has 154 tokens.",
    )


@pytest.mark.row("B12")
def test_small_sections_are_joined_under_the_same_parent_and_name_all_that_begins_in_them() -> None:
    text = f"# A\n\n{prose('it', 30)}" + "".join(f"## Small {number}\n\nTiny.\n\n" for number in range(4))
    (joined,) = [piece for piece in cut(text, SMALL) if "Tiny." in piece.text and not piece.children]
    assert list(joined.defines) == [f"A > Small {number}" for number in range(4)]
    apart = [piece for piece in cut(text, replace(SMALL, min_tokens=0)) if "Tiny." in piece.text and not piece.children]
    assert len(apart) == 4


def test_a_heading_without_a_text_of_its_own_is_no_chunk_alone() -> None:
    text = f"# A\n\n## B\n\n{prose('b', 2)}## C\n\n{prose('c', 60)}"
    first = cut(text, SMALL)[0]
    assert first.defines == ("A", "A > B")
    assert cut(text, SMALL)[1].parent == first.id


def leaves(chunks: list[Chunk]) -> list[Chunk]:
    return [piece for piece in chunks if not piece.children and piece.kind != "summary"]


def test_the_introduction_of_a_large_section_is_in_a_leaf_too() -> None:
    text = "# A\n\nThe introduction.\n\n" + "".join(f"## B{n}\n\n{prose(f'b{n}', 20)}" for n in range(4))
    chunks = cut(text, SMALL)
    parent, leaf = (piece for piece in chunks if "The introduction." in piece.text)
    assert (parent.level, leaf.level, leaf.parent) == (0, 1, parent.id)
    assert leaf.text == parent.text == "# A\n\nThe introduction.\n"
    assert leaf.id != parent.id
    assert "".join(piece.text for piece in leaves(chunks)).split() == text.split()


def test_a_heading_whose_first_section_inside_is_divided_is_in_a_leaf_too() -> None:
    text = f"# A\n\n## B\n\n{prose('b', 20)}## C\n\n{prose('c', 60)}"
    assert "".join(piece.text for piece in leaves(cut(text, SMALL))).split() == text.split()


PART = st.tuples(st.integers(1, 4), st.sampled_from([0, 0, 1, 3, 8, 30]))


@given(
    parts=st.lists(PART, max_size=12),
    least=st.sampled_from([0, 16, 64]),
    depth=st.integers(1, 4),
    summaries=st.booleans(),
)
def test_the_leaves_of_any_sections_tile_the_text(
    parts: list[tuple[int, int]], least: int, depth: int, *, summaries: bool
) -> None:
    text = "".join(f"{'#' * level} H{n}\n\n{prose(f'{n}', count)}" for n, (level, count) in enumerate(parts))
    options = replace(SMALL, parent_tokens=128, min_tokens=least, max_depth=depth, summaries=summaries)
    seen = [at for piece in leaves(cut(text, options)) for at in range(piece.start + piece.overlap_before, piece.end)]
    assert [at for at in seen if not text[at].isspace()] == [at for at, own in enumerate(text) if not own.isspace()]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rst", f"Guide\n=====\n\n{prose('it', 9)}Part\n----\n\n{prose('part', 9)}"),
        ("a.adoc", f"= Guide\n\n{prose('it', 9)}== Part\n\n{prose('part', 9)}"),
        ("a.html", f"<h1>Guide</h1>\n<p>{prose('it', 9)}</p>\n<h2>Part</h2>\n<p>{prose('part', 9)}</p>\n"),
        ("a.txt", f"1. Guide\n\n{prose('it', 9)}1.1 Part\n\n{prose('part', 9)}"),
        ("a.txt", f"Chapter 1\n\n{prose('it', 9)}Article 2\n\n{prose('part', 9)}"),
        ("a.txt", f"第1章 総則\n\n{prose('it', 9)}第2条 目的\n{prose('part', 9)}"),
    ],
    ids=["rst", "asciidoc", "html", "numbers", "articles", "japanese articles"],
)
def test_every_format_with_headings_gives_a_tree(path: str, text: str) -> None:
    chunks = cut(text, SMALL, path)
    depths = {len(piece.metadata.headings) for piece in chunks}
    assert 2 in depths
    assert all("Sentence 0 of part" not in piece.text for piece in chunks if len(piece.metadata.headings) == 0)


def test_a_tokenizer_counts_sections_and_chunks() -> None:
    exact = openai_tokenizer("cl100k_base")
    chunks = cut(MARKDOWN, replace(SMALL, tokenizer=exact))
    assert [piece.tokens for piece in chunks] == [exact.count(piece.text) for piece in chunks]
    assert len(chunks) != len(cut(MARKDOWN, SMALL))
