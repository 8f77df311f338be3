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
    found = chunk(Document("doc.adoc", text), options).chunks
    assert_gapless(text, found)
    return found


def symbols(text: str) -> list[str]:
    return [part.symbol for part in chunked(text)]


def test_a_section_is_named_by_the_path_of_its_titles() -> None:
    text = f"= Guide\n:toc:\n\n{BODY}== Install\n\n{BODY}=== On `Linux`\n\n{BODY}== Use ==\n\n{BODY}"
    assert symbols(text) == ["Guide", "Guide > Install", "Guide > Install > On Linux", "Guide > Use"]
    assert {(part.strategy, part.kind) for part in chunked(text)} == {("asciidoc", "section")}
    assert {part.metadata.title for part in chunked(text)} == {"Guide"}


def test_titles_with_an_underline_are_titles() -> None:
    assert symbols(f"Guide\n=====\n\n{BODY}Install\n-------\n\n{BODY}") == ["Guide", "Guide > Install"]


def test_an_anchor_above_a_title_belongs_to_it() -> None:
    second = chunked(f"= Guide\n\n{BODY}[[install]]\n== Install\n\n{BODY}")[1]
    assert second.text.startswith("[[install]]\n== Install")
    assert second.metadata.headings == ("Guide", "Install")


@pytest.mark.parametrize(
    "hidden",
    [
        "----\n= Title\n----\n",
        "....\n== Title\n....\n",
        "////\n== Title\n////\n",
        "====\n== Title\n====\n",
        "```sh\n# Title\n```\n",
        "|===\n|== Title\n|===\n",
        "[discrete]\n== Title\n",
        "=Title\n",
    ],
)
def test_what_only_looks_like_a_title_is_none(hidden: str) -> None:
    assert not any("Title" in part.symbol for part in chunked(f"{hidden}\n{BODY}", ChunkOptions()))


@pytest.mark.parametrize(
    "block",
    [
        "[source,java]\n.A title\n----\n" + "call(1);\n\n" * 60 + "----\n",
        "....\n" + "text\n\n" * 80 + "....\n",
        "|===\n" + "|a |b\n\n" * 60 + "|===\n",
        "".join(f"* item {number}\n+\nmore of it\n\n" for number in range(30)),
        "".join(f"term {number}:: what it is\n" for number in range(30)),
        "```js\n" + "call(1)\n\n" * 60 + "```\n",
    ],
    ids=["listing", "literal", "table", "list", "definitions", "fence"],
)
def test_blocks_lists_and_tables_are_kept_whole(block: str) -> None:
    found = chunked(f"= Title\n\n{BODY}{block}\n{BODY}")
    assert any(block.strip() in part.text for part in found)


def test_a_section_tells_in_which_languages_it_shows_code() -> None:
    text = f"== A\n\n{BODY}[source,java]\n----\ncall();\n----\n\n```sql\nSELECT 1\n```\n\n== B\n\n{BODY}"
    with_code, without = chunked(text, ChunkOptions(max_tokens=96, min_tokens=16))
    assert with_code.metadata.has_code
    assert with_code.metadata.facts["code_languages"] == ("java", "sql")
    assert not without.metadata.has_code


@given(
    st.lists(st.sampled_from(["= T", "== T", "----", "====", "* a", "+", "[x]", ".t", "", "|===", "a::", "Ab", "--"]))
)
def test_any_lines_are_cut_without_loss(lines: list[str]) -> None:
    chunked("\n".join(lines))
