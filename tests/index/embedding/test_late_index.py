"""Late chunking in an index: files with such a rule are embedded whole, by a real model, and found by it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions, IndexOptions, TokenEncoderOptions
from cqm.index.model.query import Query, SearchMode

pytestmark = [pytest.mark.row("B6"), pytest.mark.processes]

PRONOUNS = Path(__file__).parents[2] / "chunkers" / "fixtures" / "pronouns.txt"
RULE = "*.txt late:target_tokens=48"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture
def options(tmp_path: Path, folder: Path) -> IndexOptions:
    """Only files with a rule have vectors."""
    chunk, late = ChunkOptions(rules=(RULE,)), TokenEncoderOptions(str(folder))
    return IndexOptions(home=tmp_path / "home", chunk=chunk, embedding=EmbeddingOptions("none"), late=late, workers=1)


def notes_and_questions(folder: Path, most: int) -> list[tuple[str, str]]:
    """Write notes whose first paragraph alone names their subject; return questions, each with its answer."""
    asked: list[tuple[str, str]] = []
    for number, note in enumerate(PRONOUNS.read_text(encoding="utf-8").split("\n====\n")[:most]):
        blocks = [re.fullmatch(r"(?:\? (.*)\n)?([^?][\s\S]*)", block) for block in note.strip().split("\n\n")]
        told = [(block[1], block[2]) for block in blocks if block]
        (folder / f"note_{number}.txt").write_text("\n\n".join(text for _, text in told) + "\n", encoding="utf-8")
        asked += [(question, text) for question, text in told if question]
    return asked


def paragraphs(note: Path) -> list[str]:
    return note.read_text(encoding="utf-8").strip().split("\n\n")


def mrr(index: Index, below: str, asked: list[tuple[str, str]]) -> float:
    """The mean reciprocal rank of the answers among the results by meaning in a folder."""
    found = []
    for question, answer in asked:
        query = Query(question, mode=SearchMode.SEMANTIC, limit=50, include=(f"{below}/**",))
        found.append(1 + [answer[:30] in hit.text for hit in index.search(query).hits].index(True))
    return sum(1 / place for place in found) / len(found)


def test_a_paragraph_that_names_its_subject_by_a_pronoun_is_found_among_others_like_it(
    tree: Path, options: IndexOptions
) -> None:
    (tree / "notes").mkdir()
    asked = notes_and_questions(tree / "notes", 3)
    # The same model, given each paragraph as a document of its own.
    (tree / "apart").mkdir()
    for number, text in enumerate(text for note in (tree / "notes").iterdir() for text in paragraphs(note)):
        (tree / "apart" / f"{number}.txt").write_text(text, encoding="utf-8")
    with Index.open(tree, options) as index:
        done = index.update()
        assert (done.embedded, done.lacking, index.update().embedded) == (done.chunks_written, 0, 0)
        late, alone = mrr(index, "notes", asked), mrr(index, "apart", asked)
    print(f"MRR of {len(asked)} questions: late {late:.2f}, each paragraph alone {alone:.2f}")
    assert late > alone + 0.2


def test_an_edit_embeds_its_whole_document_again_and_no_other(tree: Path, options: IndexOptions) -> None:
    notes_and_questions(tree, 2)
    with Index.open(tree, options) as index:
        chunks = index.update().chunks_written
        note = tree / "note_0.txt"
        before = len(paragraphs(note))
        note.write_text(note.read_text(encoding="utf-8").replace("Berlin", "Vienna"), encoding="utf-8")
        done = index.update()
        assert (done.modified, done.embedded) == (1, before)
        assert done.embedded < chunks


def test_a_rule_without_a_model_says_what_is_missing_and_where_to_set_it(tree: Path, options: IndexOptions) -> None:
    with pytest.raises(EmbeddingError) as caught:
        Index.open(tree, replace(options, late=TokenEncoderOptions()))
    assert "chunk.rules has the strategy late" in caught.value.message
    assert "late.encoder is empty" in caught.value.message
    assert caught.value.remedy.startswith(
        "Set late.encoder to the folder of such a model or the address of a llama.cpp"
    )


def test_a_model_that_cannot_be_loaded_leaves_the_words_and_is_reported(tree: Path, options: IndexOptions) -> None:
    (tree / "a.txt").write_text("It is so, and it was so before.\n", encoding="utf-8")
    with Index.open(tree, replace(options, late=TokenEncoderOptions(str(tree / "gone")))) as index:
        done = index.update()
        assert "cannot be read" in done.failed[0].reason
        assert [hit.path for hit in index.search(Query("it was so before")).hits] == ["a.txt"]
