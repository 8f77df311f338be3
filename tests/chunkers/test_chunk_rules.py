"""Rules that choose a strategy by path, language or type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers import ChunkOptions, CqmError, Document, chunk

TEXT = "# One\n\n" + "A sentence about ships. " * 60 + "\n\n## Two\n\n" + "A sentence about trains. " * 60 + "\n"
CODE = "def first():\n    return 1\n\n\ndef second():\n    return 2\n"


def strategies(path: str, text: str, *rules: str) -> set[str]:
    """The strategies that a file's chunks name."""
    return {part.strategy for part in chunk(Document(path, text), ChunkOptions(rules=rules)).chunks}


def test_a_pattern_chooses_the_strategy_of_the_files_it_matches() -> None:
    rule = "docs/** hierarchical:child_tokens=128"
    assert strategies("docs/guide.md", TEXT, rule) == {"hierarchical"}
    assert strategies("guide.md", TEXT, rule) == {"markdown"}
    assert strategies("src/docs/guide.md", TEXT, rule) == {"markdown"}


def test_a_language_or_a_type_chooses_too() -> None:
    assert strategies("a.py", CODE, "language:python fixed:size_tokens=128") == {"fixed"}
    assert strategies("a.go", "package a\n", "language:python fixed") == {"code"}
    assert strategies("a.md", TEXT, "type:documentation sentence") == {"sentence"}
    assert strategies("a.yaml", "a: 1\n", "type:documentation sentence") == {"data"}


def test_late_chunks_of_an_index_are_sentences_and_get_their_vectors_later() -> None:
    report = chunk(Document("a.md", TEXT), ChunkOptions(rules=("*.md late:target_tokens=64",)))
    assert {part.strategy for part in report.chunks} == {"late"}
    assert report.statistics.max_tokens <= 64
    assert all(part.text.rstrip().endswith((".", "# One", "## Two")) for part in report.chunks)
    assert report.vectors is None


def test_the_first_rule_that_fits_counts() -> None:
    rules = ("docs/api/** auto", "docs/** fixed")
    assert strategies("docs/api/a.md", TEXT, *rules) == {"markdown"}
    assert strategies("docs/a.md", TEXT, *rules) == {"fixed"}


def test_a_rule_changes_the_sizes_of_cutting_by_content() -> None:
    small = chunk(Document("a.md", TEXT), ChunkOptions(rules=("*.md auto:max_tokens=128,min_tokens=0",)))
    assert small.statistics.max_tokens < chunk(Document("a.md", TEXT)).statistics.max_tokens


@pytest.mark.parametrize(("strategy", "name"), [("fixed", "fixed"), ("hierarchical", "hierarchical")])
def test_target_tokens_is_the_size_of_any_strategy(strategy: str, name: str) -> None:
    report = chunk(Document("a.md", TEXT), ChunkOptions(rules=(f"*.md {strategy}:target_tokens=128",)))
    leaves = [part for part in report.chunks if not part.children]
    assert {part.strategy for part in leaves} == {name}
    assert max(part.tokens for part in leaves) <= 200


def test_semantic_needs_vectors_and_without_them_the_next_rule_counts() -> None:
    options = ChunkOptions(rules=("*.md semantic", "*.md fixed"))
    document = Document("a.md", TEXT)
    with_vectors = chunk(document, options, lambda texts: [[1.0, 0.0] if "ship" in it else [0.0, 1.0] for it in texts])
    assert {part.strategy for part in with_vectors.chunks} == {"semantic"}
    assert {part.strategy for part in chunk(document, options).chunks} == {"fixed"}


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("docs/**", "expected FILES STRATEGY"),
        ("docs/** javadoc", "'javadoc': expected auto, fixed, sentence, semantic, hierarchical, late"),
        ("docs/** late:boundaries=token", "has boundaries: expected target_tokens or pooling"),
        ("docs/** late:pooling=max", "one of mean, cls, attention"),
        ("docs/** fixed:size=12", "option 'size'"),
        ("docs/** fixed:size_tokens=1", "size_tokens is 1"),
        ("docs/** fixed:size_tokens=many", "a whole number"),
        ("type:music fixed", "no files of the type 'music': expected code, documentation, config, data"),
        ("docs/** hierarchical:child_tokens", "child_tokens"),
        (f"{'?' * 20_000} fixed", "has 20,000 characters: expected at most 4,096"),
    ],
)
def test_a_wrong_rule_is_refused_with_what_is_allowed(rule: str, told: str) -> None:
    with pytest.raises(CqmError) as refused:
        chunk(Document("docs/a.md", TEXT), ChunkOptions(rules=(rule,)))
    assert told in str(refused.value)


@given(
    text=st.text(st.sampled_from("# \nab.。`-|\t"), max_size=400),
    way=st.sampled_from(
        [
            "auto",
            "fixed:size_tokens=128",
            "sentence",
            "semantic",
            "hierarchical:child_tokens=64",
            "late:target_tokens=16",
        ]
    ),
)
def test_whatever_the_rule_every_character_is_in_a_chunk_without_others_inside(text: str, way: str) -> None:
    report = chunk(
        Document("a.md", text),
        ChunkOptions(rules=(f"*.md {way}",)),
        lambda texts: [[float(len(it)), 1.0] for it in texts],
    )
    covered = set()
    for part in report.chunks:
        assert part.text == text[part.start : part.end]
        if not part.children:
            covered |= set(range(part.start, part.end))
    assert [text[at] for at in range(len(text)) if at not in covered and not text[at].isspace()] == []
