"""The overlap of documents in tokens, as the design documents ask for it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers import ChunkOptions, Document, chunk
from cqm.chunkers.tokens import estimate

pytestmark = [pytest.mark.row("D1"), pytest.mark.row("D2"), pytest.mark.row("D5")]

PARTS = ("Engines", "Boilers", "Sailors")


def prose(about: str) -> str:
    return " ".join(f"Sentence {number} about {about} goes on for some more words." for number in range(40))


DOCUMENTS = {
    "a.md": "\n\n".join(f"## {it}\n\n{prose(it)}" for it in PARTS),
    "a.html": "".join(f"<h2>{it}</h2><p>{prose(it)}</p>" for it in PARTS),
    "a.rst": "\n\n".join(f"{it}\n{'=' * len(it)}\n\n{prose(it)}" for it in PARTS),
    "a.adoc": "\n\n".join(f"== {it}\n\n{prose(it)}" for it in PARTS),
    "a.txt": "\n\n".join(prose(it) for it in PARTS),
    "ja.md": "\n\n".join(f"## {it}\n\n" + f"これは{it}についての文で、少し長く続きます。" * 60 for it in PARTS),
}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_chunk_of_a_document_begins_with_the_last_sentences_of_the_one_before(path: str) -> None:
    text = DOCUMENTS[path]
    chunks = chunk(Document(path, text), ChunkOptions(overlap_tokens=128)).chunks
    assert len(chunks) > 4
    for before, part in pairwise(chunks):
        repeated = text[part.start : part.start + part.overlap_before]
        assert 96 <= estimate(repeated) <= 128
        assert repeated.startswith(("Sentence", "これは"))
        assert before.text.rstrip().endswith(repeated.strip())
        assert part.tokens <= 512
    # The heading of a section comes after what is repeated of the one before.
    assert any("Boilers" in part.metadata.headings and "Engines" in part.text for part in chunks) or path == "a.txt"


def test_no_part_of_a_fence_is_repeated_and_no_chunk_is_repeated_whole() -> None:
    fence = "```py\n" + "".join(f"value_{number} = {number}.\n" for number in range(100)) + "```\n"
    text = f"{prose('code')}\n\n{fence}\n{prose('more')}\n\n## Next\n\nShort.\n\n## Last\n\n{prose('rest')}\n"
    chunks = chunk(Document("a.md", text), ChunkOptions(overlap_tokens=128, min_tokens=0)).chunks
    assert all(part.text.count("```") % 2 == 0 for part in chunks)
    assert all(
        part.overlap_before < before.end - before.start - before.overlap_before for before, part in pairwise(chunks)
    )


@given(
    text=st.text(st.sampled_from("# \nab.。`-|「」"), max_size=1500),
    path=st.sampled_from(["a.md", "a.txt", "a.rst"]),
)
def test_whatever_is_repeated_stands_at_the_end_of_the_chunk_before(text: str, path: str) -> None:
    options = ChunkOptions(max_tokens=64, min_tokens=16, overlap_tokens=16)
    chunks = chunk(Document(path, text, "markdown" if path == "a.md" else "text"), options).chunks
    for before, part in pairwise(chunks):
        assert part.text == text[part.start : part.end]
        assert part.start + part.overlap_before >= before.end
        assert part.overlap_before == 0 or before.start + before.overlap_before < part.start
        assert estimate(text[part.start : part.start + part.overlap_before]) <= 16
