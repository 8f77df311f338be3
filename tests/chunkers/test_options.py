import math
from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
import pytest

from cqm.chunkers.chunking import chunk, chunks_of
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.strategies.fixed import FixedOptions
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.strategies.options import options_of
from cqm.chunkers.strategies.semantic import SemanticOptions
from cqm.chunkers.strategies.sentence import SentenceOptions
from cqm.chunkers.strategies.table import STRATEGIES
from cqm.chunkers.tokens import openai_tokenizer

pytestmark = pytest.mark.row("B7", "B11")


def embed(sentences: Sequence[str]) -> np.ndarray:
    return np.ones((len(sentences), 2))


# Strategy, options that differ from the defaults, the one at fault, and the range that the error names.
OUTSIDE: list[tuple[str, dict[str, object], str, str]] = [
    ("fixed", {"size_tokens": 127}, "size_tokens", "from 128 to 8192"),
    ("fixed", {"size_tokens": 8193}, "size_tokens", "from 128 to 8192"),
    ("fixed", {"overlap_tokens": -1}, "overlap_tokens", "from 0 to 256"),
    ("fixed", {"overlap_tokens": 257}, "overlap_tokens", "from 0 to 256"),
    ("fixed", {"size_tokens": 128, "overlap_tokens": 65}, "overlap_tokens", "from 0 to 64"),
    ("fixed", {"overlap_percent": 51}, "overlap_percent", "from 0 to 50"),
    ("fixed", {"overlap_percent": -1}, "overlap_percent", "from 0 to 50"),
    (
        "fixed",
        {"overlap_percent": 10, "overlap_tokens": 10},
        "overlap_percent",
        "left out where overlap_tokens is given",
    ),
    ("fixed", {"min_tokens": 257}, "min_tokens", "from 0 to 256"),
    ("sentence", {"target_tokens": 127}, "target_tokens", "from 128 to 4096"),
    ("sentence", {"target_tokens": 4097}, "target_tokens", "from 128 to 4096"),
    ("sentence", {"max_tokens": 511}, "max_tokens", "from 512 to 8192"),
    ("sentence", {"sentence_overlap": 6}, "sentence_overlap", "from 0 to 5"),
    ("sentence", {"sentence_overlap": -1}, "sentence_overlap", "from 0 to 5"),
    ("sentence", {"min_tokens": 513}, "min_tokens", "from 0 to 512"),
    ("semantic", {"threshold": -0.1}, "threshold", "from 0 to 1"),
    ("semantic", {"threshold": 1.1}, "threshold", "from 0 to 1"),
    ("semantic", {"max_tokens": 511}, "max_tokens", "from 512 to 8192"),
    ("hierarchical", {"max_depth": 0}, "max_depth", "from 1 to 6"),
    ("hierarchical", {"max_depth": 7}, "max_depth", "from 1 to 6"),
    ("hierarchical", {"parent_tokens": 127}, "parent_tokens", "from 128 to 8192"),
    ("hierarchical", {"child_tokens": 1025}, "child_tokens", "from 64 to 1024"),
    ("hierarchical", {"min_tokens": 257}, "min_tokens", "from 0 to 256"),
    ("auto", {"max_tokens": 63}, "max_tokens", "from 64 to 8192"),
    ("auto", {"overlap_percent": 51}, "overlap_percent", "from 0 to 50"),
]

MISTYPED: list[tuple[str, dict[str, object], str, str]] = [
    ("fixed", {"size_tokens": 512.0}, "size_tokens", "a whole number from 128 to 8192"),
    ("fixed", {"size_tokens": True}, "size_tokens", "a whole number from 128 to 8192"),
    ("fixed", {"size_tokens": None}, "size_tokens", "a whole number from 128 to 8192"),
    ("fixed", {"tokenizer": len}, "tokenizer", "a tokenizer"),
    ("sentence", {"prefer_paragraphs": 1}, "prefer_paragraphs", "true or false"),
    ("semantic", {"threshold": math.nan}, "threshold", "a number from 0 to 1"),
    ("semantic", {"threshold": True}, "threshold", "a number from 0 to 1"),
    ("semantic", {"markers": "##"}, "markers", "a tuple of strings"),
    ("semantic", {"markers": ("##", " ")}, "markers", "a tuple of strings"),
    ("semantic", {"embed": "model"}, "embed", "a function from sentences to vectors"),
    ("auto", {"details": 1}, "details", "true or false"),
]


@pytest.mark.parametrize(("strategy", "values", "option", "expected"), [*OUTSIDE, *MISTYPED])
def test_an_option_that_is_not_what_it_must_be_is_refused_by_name_value_and_range(
    strategy: str, values: dict[str, object], option: str, expected: str
) -> None:
    row = next(row for row in STRATEGIES if row.name == strategy)
    given = {"embed": embed} if strategy == "semantic" else {}
    options = row.options(**(given | values))
    for entry in (chunk, chunks_of):
        with pytest.raises(ChunkOptionError) as caught:
            entry(Document("a.txt", "text"), options)
        value = values[option]
        shown = repr(value) if isinstance(value, str) else str(value)
        assert caught.value.message.startswith(f"The chunking option {option} is {shown}; it must be {expected}")
        assert option in caught.value.remedy
        assert not caught.value.retryable


@pytest.mark.parametrize("row", STRATEGIES, ids=lambda row: row.name)
def test_every_option_of_every_strategy_has_a_rule(row: object) -> None:
    assert {it.name for it in fields(row.options)} == set(row.rules)  # type: ignore[attr-defined]


def test_defaults_are_the_design_documents() -> None:
    assert [FixedOptions().size_tokens, FixedOptions().min_tokens] == [512, 64]
    sentence = SentenceOptions()
    assert [sentence.target_tokens, sentence.max_tokens, sentence.sentence_overlap] == [512, 768, 1]
    assert sentence.prefer_paragraphs
    assert [SemanticOptions(embed).threshold, SemanticOptions(embed).markers] == [None, ("##", "###", "---")]
    tree = HierarchicalOptions()
    assert [tree.max_depth, tree.parent_tokens, tree.child_tokens, tree.summaries] == [3, 1024, 256, False]


@pytest.mark.parametrize(
    ("strategy", "values", "options"),
    [
        ("auto", {}, ChunkOptions()),
        ("auto", {"max_tokens": "256", "details": "true"}, ChunkOptions(max_tokens=256, details=True)),
        ("fixed", {"size_tokens": "256", "overlap_percent": "25"}, FixedOptions(256, overlap_percent=25)),
        ("fixed", {"overlap_tokens": 0}, FixedOptions(overlap_tokens=0)),
        ("sentence", {"prefer_paragraphs": "No"}, SentenceOptions(prefer_paragraphs=False)),
        ("semantic", {"threshold": "0.5", "markers": "#, ***"}, SemanticOptions(embed, 0.5, ("#", "***"))),
        ("semantic", {"markers": ["#", "***"]}, SemanticOptions(embed, markers=("#", "***"))),
        ("hierarchical", {"max_depth": "2", "summaries": True}, HierarchicalOptions(2, summaries=True)),
    ],
)
def test_options_are_made_by_name_from_plain_values(
    strategy: str, values: Mapping[str, object], options: object
) -> None:
    assert options_of(strategy, values, embed=embed) == options


def test_the_tokenizer_of_a_model_is_named_by_the_model() -> None:
    assert options_of("fixed", {"tokenizer": "gpt-4o"}) == FixedOptions(tokenizer=openai_tokenizer("gpt-4o"))


@pytest.mark.parametrize(
    ("strategy", "values", "message", "told"),
    [
        ("magic", {}, "Strategy 'magic'", "auto, fixed, sentence, semantic, hierarchical, late"),
        ("fixed", {"size": 1}, "Strategy fixed, option 'size'", "size_tokens, overlap_tokens"),
        ("fixed", {"size_tokens": "big"}, "size_tokens is 'big'; it must be a whole number", "size_tokens"),
        ("fixed", {"size_tokens": "1"}, "size_tokens is 1; it must be from 128", "size_tokens"),
        ("fixed", {"tokenizer": "unheard-of"}, "unheard-of", "cl100k_base"),
        ("sentence", {"prefer_paragraphs": "perhaps"}, "it must be true or false", "prefer_paragraphs"),
        ("semantic", {}, "semantic needs the option embed", "function"),
        ("late", {}, "late needs the option encoder", "function"),
    ],
)
def test_what_no_options_can_be_made_of_is_refused_by_name(
    strategy: str, values: Mapping[str, object], message: str, told: str
) -> None:
    with pytest.raises(ChunkOptionError) as caught:
        options_of(strategy, values)
    assert message in caught.value.message
    assert told in str(caught.value)


def test_options_of_no_strategy_are_refused() -> None:
    with pytest.raises(ChunkOptionError, match="type dict belong to no strategy"):
        chunk(Document("a.txt", "text"), {})  # type: ignore[arg-type]


@pytest.mark.row("B1")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fixed", FixedOptions()),
        ("sentence", SentenceOptions()),
        ("semantic", SemanticOptions(embed)),
        ("hierarchical", HierarchicalOptions()),
        ("prose", ChunkOptions()),
    ],
)
def test_the_type_of_the_options_chooses_the_strategy_and_statistics_count_its_chunks(
    name: str, options: object
) -> None:
    report = chunk(Document("a.txt", "Some sentence of a text. " * 400), options)  # type: ignore[arg-type]
    sizes = [piece.tokens for piece in report.chunks]
    assert {piece.strategy for piece in report.chunks} == {name}
    assert report.statistics.chunks == len(sizes) > 1
    assert [report.statistics.min_tokens, report.statistics.max_tokens] == [min(sizes), max(sizes)]
    assert report.statistics.mean_tokens == pytest.approx(sum(sizes) / len(sizes))
    assert report.statistics.seconds > 0
    assert report.vectors is None
