import pytest
from gapless import assert_gapless
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

pytestmark = pytest.mark.row("B8")

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)
BODY = "A body of text that is long enough not to be packed with what comes after it, so it is a chunk of its own.\n\n"


def chunked(text: str, options: ChunkOptions = SMALL) -> tuple[Chunk, ...]:
    found = chunk(Document("doc.rst", text), options).chunks
    assert_gapless(text, found)
    return found


def symbols(text: str) -> list[str]:
    return [part.symbol for part in chunked(text)]


def test_titles_have_levels_by_the_order_in_which_their_adornments_appear() -> None:
    text = f"Guide\n=====\n\n{BODY}Install\n~~~~~~~\n\n{BODY}Linux\n+++++\n\n{BODY}Use\n~~~\n\n{BODY}"
    assert symbols(text) == ["Guide", "Guide > Install", "Guide > Install > Linux", "Guide > Use"]
    assert {(part.strategy, part.kind) for part in chunked(text)} == {("rst", "section")}


def test_an_overline_makes_another_level_than_the_underline_alone() -> None:
    text = f"=====\nGuide\n=====\n\n{BODY}Install\n=======\n\n{BODY}"
    assert symbols(text) == ["Guide", "Guide > Install"]


def test_a_section_knows_its_headings_and_the_title_of_the_document() -> None:
    part = chunked(f"Guide\n=====\n\n{BODY}Install ``x`` with :ref:`pip <pip>`\n{'-' * 40}\n\n{BODY}")[1]
    assert part.metadata.headings == ("Guide", "Install x with pip")
    assert part.metadata.title == "Guide"
    assert part.context == "# Guide"


def test_targets_and_settings_above_a_title_belong_to_it() -> None:
    first, second = chunked(f".. currentmodule:: x\n\nGuide\n=====\n\n{BODY}.. _install:\n\nInstall\n-------\n\n{BODY}")
    assert (first.start, first.symbol) == (0, "Guide")
    assert second.text.startswith(".. _install:")


@pytest.mark.parametrize(
    "hidden",
    [
        ".. code-block:: text\n\n   Title\n   =====\n\n   text\n",
        "Example::\n\n  Title\n  =====\n",
        ".. comment\n   Title\n   =====\n",
        "===== =====\nTitle other\n===== =====\na     b\n===== =====\n",
        "+-------+\n| Title |\n+=======+\n| a     |\n+-------+\n",
        "----\n\nNot a title\n",
        "a\n=\nb\n",
    ],
)
def test_what_only_looks_like_a_title_is_none(hidden: str) -> None:
    found = chunked(f"{hidden}\n{BODY}", ChunkOptions())
    assert not any("Title" in part.symbol or "Not" in part.symbol for part in found)


@pytest.mark.parametrize(
    "block",
    [
        ".. code-block:: python\n   :linenos:\n\n" + "   call(1)\n\n" * 60,
        "Like this::\n\n" + "    call(1)\n\n" * 60,
        "".join(f"- item {number}\n\n  more of it\n\n" for number in range(30)),
        "".join(f":param name{number}: what it is\n" for number in range(30)),
        ".. list-table::\n\n" + "".join(f"   * - a{number}\n     - b\n\n" for number in range(30)),
        "===== =====\na     b\n===== =====\n" + "x     y\n" * 60 + "===== =====\n",
        "+-----+\n" + "| a   |\n+-----+\n" * 30,
        ">>> call(1)\n" * 50,
    ],
    ids=["code", "literal", "list", "fields", "list-table", "simple table", "grid table", "doctest"],
)
def test_code_lists_and_tables_are_kept_whole(block: str) -> None:
    found = chunked(f"Title\n=====\n\n{BODY}{block}\n\n{BODY}")
    lines = [
        line for line in block.splitlines()[1:] if line.strip()
    ]  # the line that announces a literal may stand apart
    assert any(
        all(line in part.text for line in set(lines)) and part.text.count(lines[-1]) == block.count(lines[-1])
        for part in found
    )


def test_a_directive_with_paragraphs_is_divided_between_them() -> None:
    text = "Title\n=====\n\n.. class:: A\n\n" + "".join(
        f"   .. method:: m{number}\n\n      {BODY}" for number in range(6)
    )
    found = chunked(text)
    assert len(found) > 2
    assert all(part.tokens <= SMALL.max_tokens for part in found)


def test_a_section_tells_whether_it_shows_code_and_in_which_languages() -> None:
    with_code, without = chunked(f"A\n=\n\n{BODY}.. code-block:: toml\n\n   a = 1\n\nB\n=\n\n{BODY}")
    assert with_code.metadata.has_code
    assert with_code.metadata.facts["code_languages"] == ("toml",)
    assert not without.metadata.has_code


@given(st.lists(st.sampled_from(["Title", "=====", "- a", "::", "  x", "", ".. note::", "== ==", "+--+", "\f", "é\r"])))
def test_any_lines_are_cut_without_loss(lines: list[str]) -> None:
    chunked("\n".join(lines))
