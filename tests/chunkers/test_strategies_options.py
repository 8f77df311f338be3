"""Options of strategies that the design documents ask for: delimiters, patterns of headings, blocks kept whole."""

from itertools import pairwise

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.fixed import FixedOptions
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.strategies.sentence import SentenceOptions
from cqm.chunkers.strategies.sentences import sentences_of


def sentences(text: str, *delimiters: str) -> list[str]:
    ends = [0, *(unit.end for unit in sentences_of(text, (0, len(text)), delimiters=delimiters))]
    return [text[start:end].strip() for start, end in pairwise(ends)]


@pytest.mark.row("B3")
def test_a_japanese_quotation_with_a_full_stop_goes_on_with_its_particle() -> None:
    assert sentences("「そうです。」と彼は言った。次です。") == ["「そうです。」と彼は言った。", "次です。"]
    assert sentences("「はい。」雨が降る。") == ["「はい。」", "雨が降る。"]
    assert sentences("彼は来た。次に行く。") == ["彼は来た。", "次に行く。"]


@pytest.mark.row("B3")
def test_delimiters_end_sentences_in_place_of_the_usual_rules() -> None:
    assert sentences("One; two. Three; four", ";") == ["One;", "two. Three;", "four"]
    assert sentences("a|b", "|") == ["a|b"]
    assert sentences("あ→い→う", "→") == ["あ→", "い→", "う"]
    text = "First part; second part. " * 100
    report = chunk(Document("a.txt", text), SentenceOptions(128, 160, delimiters=(";",), sentence_overlap=0))
    assert all(part.text.rstrip().endswith(";") for part in report.chunks[:-1])


@pytest.mark.row("B5")
def test_patterns_say_which_lines_are_headings() -> None:
    text = "Kapitel 1\n\nEins.\n\nTeil A\n\nZwei.\n\nKapitel 2\n\nDrei.\n"
    options = HierarchicalOptions(
        parent_tokens=128, child_tokens=64, min_tokens=0, heading_patterns=("Kapitel .*", "Teil .*")
    )
    long = text.replace("Eins.", "Eins. " * 60).replace("Zwei.", "Zwei. " * 60)
    paths = {part.metadata.headings for part in chunk(Document("a.txt", long), options).chunks}
    assert paths == {("Kapitel 1",), ("Kapitel 1", "Teil A"), ("Kapitel 2",)}
    assert len(chunk(Document("a.txt", text), options).chunks) == 2


def test_a_pattern_of_headings_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ChunkOptionError, match="heading_patterns"):
        chunk(Document("a.txt", "x"), HierarchicalOptions(heading_patterns=("(?=x)(",)))


@pytest.mark.row("B12")
def test_a_window_ends_before_a_fence_that_it_would_cut_and_before_a_heading() -> None:
    fence = "```\n" + "code = 1\n" * 20 + "```\n"
    text = (
        "Some words here. " * 25 + "\n\n" + fence + "\n" + "More words follow. " * 30 + "\n\n## Next\n\n" + "End. " * 60
    )
    kept = chunk(Document("a.md", text), FixedOptions(128, overlap_tokens=0)).chunks
    assert "".join(part.text for part in kept).split() == text.split()
    assert [part.text.count("```") % 2 for part in kept] == [0] * len(kept)
    assert not any(part.text.rstrip().endswith("## Next") for part in kept)
    cut = chunk(Document("a.md", text), FixedOptions(128, overlap_tokens=0, keep_blocks=False)).chunks
    assert any(part.text.count("```") % 2 for part in cut)
