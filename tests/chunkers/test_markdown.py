import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document
from cqm.chunkers.tokens import estimate

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)
BODY = "A body of text that is long enough not to be packed with what comes after it, so it is a chunk of its own.\n\n"


def chunked(text: str, options: ChunkOptions = SMALL) -> ChunkReport:
    return chunk(Document("doc.md", text), options)


def symbols(text: str, options: ChunkOptions = SMALL) -> list[str]:
    return [chunk.symbol for chunk in chunked(text, options).chunks]


def only(text: str) -> Chunk:
    (chunk,) = chunked(text).chunks
    return chunk


@pytest.mark.row("D2")
def test_a_section_is_named_by_the_path_of_its_headings() -> None:
    text = f"# Guide\n\n{BODY}## Install\n\n{BODY}### Linux\n\n{BODY}## Use\n\n{BODY}"
    assert symbols(text) == ["Guide", "Guide > Install", "Guide > Install > Linux", "Guide > Use"]
    assert {chunk.kind for chunk in chunked(text).chunks} == {"section"}


def test_the_context_of_a_section_is_the_headings_above_it() -> None:
    text = f"# Guide\n\n{BODY}## Install\n\n{BODY}### Linux\n\n{BODY}"
    assert [chunk.context for chunk in chunked(text).chunks] == ["", "# Guide", "# Guide\n## Install"]


def test_text_before_the_first_heading_is_kept() -> None:
    first, second = chunked(f"{BODY}# Title\n\n{BODY}").chunks
    assert (first.kind, first.symbol, first.text.strip()) == ("text", "", BODY.strip())
    assert second.symbol == "Title"


def test_front_matter_is_kept_and_is_no_heading() -> None:
    chunk = only("---\ntitle: x\n# comment\n---\n\nBody.\n")
    assert (chunk.symbol, chunk.start_line) == ("", 1)


@pytest.mark.parametrize(
    "hidden",
    [
        "```sh\n# comment in a fence\n```\n",
        "~~~\n# comment in a fence\n~~~\n",
        "    # indented code\n",
        "<!--\n# in a comment\n-->\n",
        "<pre>\n# in raw HTML\n</pre>\n",
        "- item\n\n  # in a list\n",
        "> # in a quote\n",
        "#hashtag\n",
        "\\# escaped\n",
        "| # a | b |\n| --- | --- |\n| # c | d |\n",
    ],
)
def test_what_only_looks_like_a_heading_starts_no_section(hidden: str) -> None:
    assert symbols(f"# Real\n\n{BODY}{hidden}\n{BODY}") == ["Real"] * len(symbols(f"# Real\n\n{BODY}{hidden}\n{BODY}"))


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Title\n=====\n", "Title"),
        ("Title\nof two lines\n---\n", "Title of two lines"),
        ("## Title ##\n", "Title"),
        ("   # `code()` and *more*\n", "code() and *more*"),
        ("# [Link](https://x.example) here\n", "Link here"),
        ("# Name [![Badge](https://x.example/a.svg)](https://x.example)\n", "Name"),
        ("# Title {#anchor}\n", "Title"),
        ('<h1 align="center">Project</h1>\n', "Project"),
        ("#\n", ""),
    ],
)
def test_a_heading_gives_its_plain_title(heading: str, title: str) -> None:
    assert only(f"{heading}\nBody.\n").symbol == title


def test_small_sections_are_packed_with_their_siblings() -> None:
    text = "# Options\n\n" + "".join(f"## Option {number}\n\nShort text.\n\n" for number in range(20))
    report = chunked(text)
    assert 1 < len(report.chunks) < 20
    assert sum((chunk.defines for chunk in report.chunks), ()) == (
        "Options",
        *(f"Options > Option {number}" for number in range(20)),
    )
    assert all(chunk.symbol == chunk.defines[0] for chunk in report.chunks)


def test_a_section_at_the_minimum_is_not_packed() -> None:
    assert symbols(f"# A\n\n{BODY}## B\n\n{BODY}", ChunkOptions(max_tokens=512, min_tokens=16)) == ["A", "A > B"]


def test_a_section_over_the_limit_is_cut_between_its_blocks() -> None:
    paragraphs = [f"Paragraph {number} with some words.\nAnd a second line.\n\n" for number in range(30)]
    report = chunked("# Long\n\n" + "".join(paragraphs))
    assert len(report.chunks) > 1
    assert report.chunks[0].text.startswith("# Long\n\nParagraph 0")
    assert all(chunk.text.startswith("Paragraph") for chunk in report.chunks[1:])
    assert {chunk.symbol for chunk in report.chunks} == {"Long"}
    assert [chunk.context for chunk in report.chunks] == ["", *["# Long"] * (len(report.chunks) - 1)]
    assert [chunk.defines for chunk in report.chunks] == [("Long",), *[()] * (len(report.chunks) - 1)]


# What opens a block, a part that can repeat, and what closes it.
WHOLE = {
    "fence": ("```python\n", "value = compute(value)\n", "```\n"),
    "fence with blank lines": ("```\n", "value = compute(value)\n\n", "```\n"),
    "list": ("", "- an item of a list\n", ""),
    "nested list": ("", "- an item\n  - inner item\n", ""),
    "table": ("| a | b |\n| --- | --- |\n", "| cell one | cell two |\n", ""),
    "quote": ("", "> a line of a quotation\n", ""),
}


def block_of(kind: str, times: int) -> str:
    opening, part, closing = WHOLE[kind]
    return opening + part * times + closing


@pytest.mark.row("D2")
@pytest.mark.parametrize("kind", WHOLE)
def test_a_block_over_the_limit_stays_whole(kind: str) -> None:
    block = block_of(kind, 20)
    report = chunked(f"# Title\n\n{BODY}\n{block}\n{BODY}")
    assert any(block in chunk.text for chunk in report.chunks)
    assert any(chunk.tokens > SMALL.max_tokens for chunk in report.chunks)


@pytest.mark.row("D2")
@pytest.mark.parametrize("kind", WHOLE)
def test_a_block_far_over_the_limit_is_cut_at_lines(kind: str) -> None:
    report = chunked(f"# Title\n\n{block_of(kind, 200)}")
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)
    assert len(report.chunks) > 10


def test_a_heading_is_never_parted_from_the_block_below_it() -> None:
    report = chunked("# Title\n\n" + block_of("fence", 20))
    assert [chunk.start_line for chunk in report.chunks] == [1]


PARTS = ["# A\n", "## B\n", "### C\n", "#\n", "a\n===\n", "<h1>T</h1>\n", "```\n", "- x\n", "> y\n", "    code\n", BODY]
LINE_PARTS = ["text\n", "text\r\n", "\n", "\r", "| a | b |\n|--|--|\n", "---\n", "[a]: b\n", "\x0c", "\x00", "\u2028"]


@given(st.lists(st.sampled_from(PARTS) | st.sampled_from(LINE_PARTS), max_size=60))
def test_the_sections_of_any_markdown_hold_all_its_text(parts: list[str]) -> None:
    text = "".join(parts)
    report = chunked(text)
    assert "".join("".join(chunk.text.split()) for chunk in report.chunks) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "> " * 5000 + "x",
        "- " * 5000 + "x",
        "".join("  " * depth + "- a\n" for depth in range(500)),
        "[" * 50_000,
        "```\n" * 10_001,
        "<div>\n" * 20_000,
    ],
)
def test_deep_and_repeated_structure_is_no_trouble(text: str) -> None:
    report = chunked(text)
    assert "".join("".join(chunk.text.split()) for chunk in report.chunks) == "".join(text.split())


@pytest.mark.row("D2")
@pytest.mark.row("D8")
def test_front_matter_and_headings_are_metadata() -> None:
    matter = "---\ntitle: 'Use it'  # so\ndate: 2024-01-02\npermalink: /use/\ntags: [a, \"b c\"]\n---\n\n"
    chunk = chunked(f"{matter}# Guide\n\n{BODY}## Install\n\n{BODY}").chunks[-1]
    assert chunk.metadata.title == "Use it"
    assert chunk.metadata.headings == ("Guide", "Install")
    assert (chunk.metadata.created_at, chunk.metadata.facts["tags"]) == ("2024-01-02", ("a", "b c"))


def test_a_heading_without_text_goes_with_what_is_below_it() -> None:
    text = f"# A\n\n{BODY * 3}## Getting started\n\n### Prerequisites\n\n{BODY * 3}"
    chunks = chunked(text, ChunkOptions(max_tokens=estimate(BODY * 3) + 20, min_tokens=16)).chunks
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["# A", "## Getting started"]
    assert chunks[1].defines == ("A > Getting started", "A > Getting started > Prerequisites")


def test_what_stands_before_the_first_heading_takes_no_name_from_its_section() -> None:
    chunk = only("---\ntitle: T\n---\n\n# Guide\n\nText.\n")
    assert (chunk.symbol, chunk.kind, chunk.metadata.headings) == ("Guide", "section", ("Guide",))


def test_tags_of_front_matter_may_be_a_list_of_lines() -> None:
    assert only("---\ntags:\n  - one\n  - two\n---\n\nBody.\n").metadata.facts["tags"] == ("one", "two")


@pytest.mark.row("D2")
def test_links_and_the_languages_of_code_are_facts() -> None:
    body = "See [a](https://a.example 'A'), <https://b.example> and [c].\n\n```py\nx\n```\n\n[c]: ./c.md\n"
    chunk = only(f"# Title\n\n{body}")
    assert chunk.metadata.facts["links"] == ("https://a.example", "https://b.example", "./c.md")
    assert chunk.metadata.facts["code_languages"] == ("py",)
    assert chunk.metadata.has_code
    assert chunk.metadata.title == "Title"


def test_code_counts_only_where_it_is() -> None:
    first, second = chunked(f"# A\n\n{BODY}\n```js\nx\n```\n\n# B\n\n{BODY}").chunks
    assert (first.metadata.has_code, second.metadata.has_code) == (True, False)


def test_a_long_run_of_tiny_items_keeps_the_headings_around_it() -> None:
    report = chunked("# A\n\n" + "- a\n" * 30_000 + f"\n```\n# no heading\n```\n\n# B\n\n{BODY}")
    assert {chunk.symbol for chunk in report.chunks} == {"A", "B"}


@pytest.mark.timeout(60)  # Linear work takes a second at most, what it once was took minutes.
def test_blanks_before_the_value_of_front_matter_are_tried_once() -> None:
    lines = f"a:{' ' * 1_600}{'x' * 600}\n- {' ' * 1_600}{'x' * 600}\n" * 4
    assert {chunk.metadata.title for chunk in chunked(f"---\n{lines}title: T\n---\n").chunks} == {"T"}


def test_front_matter_reads_long_lists_and_no_address_as_a_pair() -> None:
    tags = ", ".join(f"tag{number}" for number in range(200))
    (*_, last) = chunked(f"---\nurl:https://a.example\ntags:\t[{tags}]\t\r\n---\n\nBody.\n").chunks
    assert (last.metadata.url, last.metadata.facts["tags"]) == ("", tuple(tags.split(", ")[:20]))


def test_bare_headings_side_by_side_are_not_joined_one_by_one() -> None:
    chunks = chunked("# Title\n\n" + "## Again\n\n" * 50_000).chunks
    assert sum(chunk.text.count("## Again") for chunk in chunks) == 50_000


@pytest.mark.row("D2")
@pytest.mark.parametrize("path", ["doc.md", "doc.rst"])
def test_marks_of_a_conflict_make_no_title_of_the_row_above(path: str) -> None:
    below = "## Next\n" if path.endswith("md") else "Next\n-----\n"
    title = "# Title\n" if path.endswith("md") else "Title\n=====\n"
    text = f"{title}\n<<<<<<< HEAD\nOne line.\n=======\nAnother line.\n>>>>>>> topic\n\n{BODY}{below}\n{BODY}"
    report = chunk(Document(path, text), SMALL)
    assert [it.symbol for it in report.chunks][-1] == "Title > Next"
    assert {it.symbol for it in report.chunks} == {"Title", "Title > Next"}
    assert "".join(it.text for it in report.chunks).split() == text.split()


def test_a_row_of_equals_signs_without_a_conflict_is_a_title() -> None:
    assert symbols(f"Title\n=======\n\n{BODY}") == ["Title"]


def test_a_title_keeps_the_angles_of_its_code_and_loses_escapes() -> None:
    text = f"# With `v-for` on `<template>`\n\n{BODY}## `reactive()` \\*\\*\n\n{BODY}## <b>Bold</b> {{#bold}}\n\n{BODY}"
    titles = [symbol.rpartition(" > ")[2] for symbol in symbols(text)]
    assert titles == ["With v-for on <template>", "reactive() **", "Bold"]
