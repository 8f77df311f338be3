import dataclasses
from collections.abc import Mapping
from itertools import count, pairwise
from math import isclose
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.ranking.evidence import Candidate, Evidence
from cqm.index.ranking.features import ChunkFeatures, FileFeatures
from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import (
    FILL_FILES,
    Weights,
    by_meaning,
    falling,
    fill_paths,
    levels,
    rank,
    weights_for,
    weights_of,
)
from cqm.index.text.names.parts import last_part
from cqm.index.text.terms import stems

NOTHING_BUT_TERMS = weights_of({"terms": 1, "role": 1})


def chunk(path: str, *defines: str, line: int = 1, lines: int = 10, digest: str = "") -> Candidate:
    return Candidate(f"{path}:{line}", path, defines, line, line + lines - 1, digest)


def evidence(
    terms: Mapping[Candidate, float],
    *,
    dense: Mapping[Candidate, float] | None = None,
    files: Mapping[str, float] | None = None,
    paths: Mapping[str, float] | None = None,
) -> Evidence:
    by_cosine = dense or {}
    return Evidence(
        candidates=tuple(dict.fromkeys([*terms, *by_cosine])),
        terms={each.id: score for each, score in terms.items() if score},
        dense=({each.id: score for each, score in by_cosine.items()},),
        file_terms=files or {},
        path_terms=paths or {},
    )


def order(question: str, found: Evidence, weights: Weights | None = None) -> list[str]:
    ranked = rank(read_question(question), found, weights)
    return [entry.candidate.id for entry in ranked]


def first_path(question: str, found: Evidence) -> str:
    return rank(read_question(question), found)[0].candidate.path


paths = st.sampled_from(["a.py", "b.py", "lib/c.py", "tests/test_a.py", "README.md"])
names = st.sampled_from(["load", "load_config", "Config", "Config.read", "save"])
scores = st.integers(0, 1000).map(lambda thousandth: thousandth / 8)
questions = st.sampled_from(["load config", "Config", "how is the config saved?", "tests of load_config", "", "ロード"])


@st.composite
def found(draw: st.DrawFn) -> Evidence:
    lines = count(1, 20)
    chunks = [
        chunk(path, *defines, line=next(lines))
        for path, defines in draw(st.lists(st.tuples(paths, st.lists(names, max_size=3)), max_size=8))
    ]
    some = st.fixed_dictionaries({}, optional=dict.fromkeys(chunks, scores))
    of_files = st.dictionaries(paths, scores)
    drawn = evidence(draw(some), dense=draw(some), files=draw(of_files), paths=draw(of_files))
    return dataclasses.replace(drawn, candidates=tuple(chunks))


@given(questions, found())
def test_the_parts_of_a_score_sum_up_to_it(question: str, given_evidence: Evidence) -> None:
    for entry in rank(read_question(question), given_evidence):
        assert isclose(sum(entry.parts.values()), entry.score, abs_tol=1e-9)


@given(questions, found())
def test_scores_fall_from_one_to_the_next_and_their_parts_still_sum_up(question: str, given_evidence: Evidence) -> None:
    ranked = rank(read_question(question), given_evidence)
    shown = falling(ranked)
    scores = [entry.score for entry in shown]
    assert scores == sorted(scores, reverse=True)
    assert [entry.candidate for entry in shown] == [entry.candidate for entry in ranked]
    assert all(isclose(sum(entry.parts.values()), entry.score, abs_tol=1e-9) for entry in shown)
    assert falling(shown) == shown


@given(questions, found())
def test_every_candidate_is_shown_once(question: str, given_evidence: Evidence) -> None:
    assert sorted(order(question, given_evidence)) == sorted(each.id for each in given_evidence.candidates)


@given(questions, found(), st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_candidates(
    question: str, given_evidence: Evidence, random: Random
) -> None:
    shuffled = list(given_evidence.candidates)
    random.shuffle(shuffled)
    assert order(question, dataclasses.replace(given_evidence, candidates=tuple(shuffled))) == order(
        question, given_evidence
    )


@given(questions, found())
def test_the_scale_of_a_search_does_not_matter(question: str, given_evidence: Evidence) -> None:
    # Powers of two scale without rounding.
    scaled = dataclasses.replace(
        given_evidence,
        terms={key: value * 1024 for key, value in given_evidence.terms.items()},
        file_terms={key: value / 8 for key, value in given_evidence.file_terms.items()},
        path_terms={key: value * 4 for key, value in given_evidence.path_terms.items()},
    )
    assert order(question, scaled) == order(question, given_evidence)


code_names = st.sampled_from(
    [
        "runQueries",
        "query",
        "get_url",
        "http.Client.getURL",
        "Tried",
        "stopping",
        "Straße.größe",
        "save!",
        "a$b",
        "boxes",
    ]
)
code_questions = st.sampled_from(
    [
        "run the query",
        "queries",
        "getUrl",
        "GETURL of a Client",
        "try it",
        "stop",
        "Größe",
        "save",
        "a$b",
        "a box",
        "url",
    ]
)


@given(code_questions, st.lists(code_names, max_size=4))
def test_a_name_counts_when_it_shares_a_word_with_the_question(asked: str, defines: list[str]) -> None:
    question = read_question(asked)
    (entry,) = rank(question, evidence({chunk("x.py", *defines): 1.0}))
    shares = [name for name in defines if question.words.intersection(stems(last_part(name)))]
    assert ("name" in entry.parts) == bool(shares)


def test_better_terms_come_first() -> None:
    good, fair = chunk("a.py"), chunk("b.py")
    assert order("anything", evidence({fair: 3.0, good: 4.0})) == [good.id, fair.id]


def test_vectors_alone_are_enough() -> None:
    near, far = chunk("a.py"), chunk("b.py")
    assert order("anything", evidence({}, dense={far: 0.1, near: 0.4})) == [near.id, far.id]


def test_by_meaning_the_nearest_vector_wins_over_a_name_that_says_a_word_of_the_question() -> None:
    near, named = chunk("a.py", "weigh"), chunk("b.py", "read_table_header")
    found = evidence({}, dense={near: 0.9, named: 0.5, chunk("c.py"): 0.1})
    question = "how is a table header read"
    assert order(question, found)[:2] == [named.id, near.id]
    assert order(question, found, by_meaning(read_question(question)))[:2] == [near.id, named.id]


def test_the_vectors_of_two_spaces_are_compared_with_their_own_kind_only() -> None:
    low, lower, high, higher = (chunk(f"{name}.py") for name in "abcd")
    found = dataclasses.replace(
        evidence({}, dense=dict.fromkeys((low, lower, high, higher), 0.0)),
        dense=({low.id: 0.2, lower.id: 0.1}, {high.id: 0.8, higher.id: 0.9}),
    )
    ranked = rank(read_question("anything"), found)
    assert {entry.candidate.id for entry in ranked[:2]} == {low.id, higher.id}
    assert ranked[0].score == ranked[1].score


def test_a_space_of_few_vectors_says_less_than_one_of_many() -> None:
    many, few = [chunk(f"{n}.py") for n in range(10)], chunk("z.py")
    of_many = {each.id: n / 10 for n, each in enumerate(many)}
    found = dataclasses.replace(
        evidence({}, dense=dict.fromkeys([*many, few], 0.0)), dense=(of_many, {few.id: 0.99, many[0].id: 0.5})
    )
    ranked = [entry.candidate.id for entry in rank(read_question("anything"), found)]
    assert ranked[0] == many[-1].id
    assert ranked.index(few.id) > 5


def test_no_evidence_gives_nothing() -> None:
    assert rank(read_question("anything"), evidence({})) == ()


@pytest.mark.parametrize(
    "question",
    [
        "parse_header",
        "parseHeader",
        "http.parse_header",
        "http::ParseHeader",
        "where is parse_header called from",
        "what does `parse_header` return",
        "what does parse_header() return",
    ],
)
def test_the_definition_of_a_named_identifier_comes_before_its_uses(question: str) -> None:
    definition, use = chunk("a.py", "Http.parse_header"), chunk("b.py", "main")
    assert order(question, evidence({use: 10.0, definition: 9.0})) == [definition.id, use.id]


def test_a_name_made_of_the_words_of_the_question_counts() -> None:
    named, other = chunk("a.py", "Client.retry_failed_request"), chunk("b.py", "Client.close")
    found_both = evidence({other: 10.0, named: 9.0})
    assert order("how are failed requests retried", found_both) == [named.id, other.id]
    assert order("how are sockets closed", found_both) == [other.id, named.id]


def test_a_strong_file_lifts_its_chunks_but_the_best_of_them_stays_first() -> None:
    best, second, rival = chunk("a.py", line=1), chunk("a.py", line=50), chunk("b.py")
    found_all = evidence({best: 8.0, second: 7.0, rival: 9.0}, files={"a.py": 10.0, "b.py": 1.0})
    assert order("anything", found_all) == [best.id, second.id, rival.id]


def test_a_file_that_matches_in_many_places_comes_first_among_equals() -> None:
    many = {chunk("many.py", line=line): 9.0 for line in (1, 20, 40)}
    lone = chunk("lone.py")
    assert first_path("anything", evidence({lone: 9.5, **many})) == "many.py"


def test_a_file_named_like_the_question_comes_first_among_equals() -> None:
    assert first_path("session cookies", evidence({chunk("app.py"): 9.0, chunk("sessions.py"): 9.0})) == "sessions.py"


def test_path_words_count() -> None:
    found_both = evidence({chunk("x/app.py"): 9.0, chunk("y/app.py"): 9.0}, paths={"y/app.py": 2.0})
    assert first_path("anything", found_both) == "y/app.py"


@pytest.mark.parametrize(
    ("path", "question_for_it"),
    [
        ("tests/test_parser.py", "tests of the parser"),
        ("src/parser_test.go", "parser test"),
        ("src/test/java/ParserTest.java", "which tests cover the parser"),
        ("web/parser.spec.ts", "parser specs"),
        ("src/__tests__/parser.js", "parser tests"),
        ("examples/parser.py", "parser example"),
        ("docs/parser.md", "parser documentation"),
        ("README.rst", "readme of the parser"),
        ("CHANGELOG", "changelog of the parser"),
        ("parser.yml", "parser yaml"),
        ("vendor/parser.go", "vendored parser"),
        ("types/parser.d.ts", "parser typings"),
    ],
)
def test_what_is_not_plain_source_is_held_down_unless_asked_for(path: str, question_for_it: str) -> None:
    source, other = chunk("lib/core.py"), chunk(path)
    found_both = evidence({source: 9.5, other: 10.0})
    assert order("parser", found_both, NOTHING_BUT_TERMS) == [source.id, other.id]
    assert order(question_for_it, found_both, NOTHING_BUT_TERMS) == [other.id, source.id]


@pytest.mark.parametrize(
    "path",
    [
        "lib/builder/make.py",
        "distribution/pack.py",
        "contest.py",
        "latest.go",
        "attest/key.rs",
        "Latest.java",
        "oldest.c",
        "src/main/java/org/springframework/samples/petclinic/Owner.java",
        "app/src/main/kotlin/com/example/test/Owner.kt",
    ],
)
def test_plain_source_is_not_mistaken_for_something_else(path: str) -> None:
    assert order("parser", evidence({chunk("core.py"): 9.9, chunk(path): 10.0}), NOTHING_BUT_TERMS)[0] == f"{path}:1"


@pytest.mark.parametrize(
    ("language", "kind", "symbol"),
    [
        ("rust", "function", "tests.adds"),
        ("python", "function", "test_adds"),
        ("python", "method", "AdderTest.test_adds"),
        ("rust", "module", "parser.tests"),
        ("rust", "struct", "parser_tests.Fake"),
        ("zig", "test", "adds"),
    ],
)
def test_a_test_beside_its_program_is_held_down_unless_asked_for(language: str, kind: str, symbol: str) -> None:
    source = chunk("core", "add", line=1)
    test = dataclasses.replace(chunk("core", symbol, line=20), language=language, kind=kind, symbol=symbol)
    found_both = evidence({source: 9.5, test: 10.0})
    assert order("parser", found_both, NOTHING_BUT_TERMS) == [source.id, test.id]
    assert order("tests of the parser", found_both, NOTHING_BUT_TERMS) == [test.id, source.id]


@pytest.mark.parametrize(
    ("language", "kind", "symbol"),
    [
        ("rust", "function", "tests"),
        ("rust", "function", "run_tests"),
        ("python", "method", "tests.adds"),
        ("python", "method", "Hook.test_connection"),
        ("python", "class", "TestClient"),
    ],
)
def test_a_program_about_tests_is_no_test(language: str, kind: str, symbol: str) -> None:
    other = dataclasses.replace(chunk("core", symbol, line=20), language=language, kind=kind, symbol=symbol)
    assert order("parser", evidence({chunk("core", "add"): 9.9, other: 10.0}), NOTHING_BUT_TERMS)[0] == other.id


def test_what_a_role_takes_away_is_a_part_of_the_score() -> None:
    (entry,) = rank(read_question("parser"), evidence({chunk("tests/test_parser.py"): 5.0}))
    assert entry.parts["test"] < 0


def test_the_same_text_is_shown_once_where_it_ranks_best() -> None:
    copy, original = chunk("copy.py", digest="d"), chunk("original.py", digest="d")
    assert order("anything", evidence({copy: 4.0, original: 5.0})) == [original.id]


def test_overlapping_chunks_are_shown_once_and_neighbours_both() -> None:
    better, inside, after = chunk("a.py", line=1, lines=20), chunk("a.py", line=8, lines=10), chunk("a.py", line=21)
    assert order("anything", evidence({better: 5.0, inside: 4.0, after: 3.0})) == [better.id, after.id]


def test_results_are_spread_over_files_when_scores_are_close() -> None:
    first, second, rival = chunk("a.py", line=1), chunk("a.py", line=50), chunk("b.py")
    close = evidence({first: 10.0, second: 9.9, rival: 9.8})
    assert order("anything", close, NOTHING_BUT_TERMS) == [first.id, second.id, rival.id]
    spread = NOTHING_BUT_TERMS._replace(repeat=0.1)
    assert order("anything", close, spread) == [first.id, rival.id, second.id]


def test_sentences_spread_less_over_files_than_topics() -> None:
    sentence, topic = (
        weights_for(read_question("returns the size of it, if it is known")),
        weights_for(read_question("routing")),
    )
    assert 0 < sentence.repeat < topic.repeat / 2


def test_spreading_leaves_scores_as_they_are() -> None:
    close = evidence({chunk("a.py", line=1): 10.0, chunk("a.py", line=50): 9.9})
    plain, spread = (
        {
            entry.candidate.id: entry.score
            for entry in rank(
                read_question("anything"), close, weights_for(read_question("anything"))._replace(repeat=cost)
            )
        }
        for cost in (0.0, 0.5)
    )
    assert plain == spread


BOUNDED = [name for name in (*ChunkFeatures._fields, *FileFeatures._fields) if name not in ("lines", "role")]


@pytest.mark.parametrize("part", BOUNDED)
def test_each_weight_is_the_most_that_its_part_gives(part: str) -> None:
    target = dataclasses.replace(chunk("load_config.py", "load_config"), kind="function")
    found_all = evidence(
        {target: 5.0}, dense={target: 0.9, chunk("b.py"): 0.1}, files={target.path: 3.0}, paths={target.path: 2.0}
    )
    first = rank(read_question("load_config"), found_all, weights_of({part: 0.5}))[0]
    assert first.parts == {part: pytest.approx(0.5)}


@pytest.mark.parametrize(
    "topic", ["routing", "how routing works", "Router.match", "parsing a header", "where clause builder"]
)
def test_the_name_of_a_topic_is_told_by_its_form(topic: str) -> None:
    assert read_question(topic).sentence < 0.4


@pytest.mark.parametrize(
    "sentence",
    [
        "returns the route that is left when none is matched",
        "Parses a header, if it is there, and keeps the rest of it",
        "return the header of a request",
    ],
)
def test_a_sentence_is_told_by_its_form(sentence: str) -> None:
    assert read_question(sentence).sentence > 0.7


@pytest.mark.parametrize("question", ["where is the pet form validated", "in which file are the owners counted"])
def test_what_asks_for_a_place_is_half_a_sentence_at_least(question: str) -> None:
    assert read_question(question).sentence >= 0.5


def test_the_chunks_of_the_best_files_are_looked_at() -> None:
    many = {f"{number}.py": float(number) for number in range(3 * FILL_FILES)}
    best = [f"{number}.py" for number in sorted(range(3 * FILL_FILES), reverse=True)[:FILL_FILES]]
    assert list(fill_paths(evidence({}, files=many))) == best


def test_a_file_found_by_its_path_alone_is_looked_at() -> None:
    assert fill_paths(evidence({}, paths={"a.py": 1.0})) == ("a.py",)


def test_a_question_is_read_into_words_and_roles() -> None:
    question = read_question("How does HttpClient.sendRequest retry in the tests?")
    assert question.words == {"http", "client", "send", "request", "retry", "test"}
    assert question.roles == {"test"}


@pytest.mark.parametrize(
    ("text", "symbol", "lines", "is_word"),
    [
        ("`Client::get_url()`", "Client.get_url", None, False),
        ("get_url", "get_url", None, True),
        ("E0308", "E0308", None, True),
        ("./src/app.py:40", "", ("src/app.py", 40, 40), False),
        ("src/app.py:40-61", "", ("src/app.py", 40, 61), False),
        ("where is get_url called", "", None, False),
        ("__", "", None, False),
    ],
)
def test_a_question_that_is_a_name_a_word_or_a_place_is_read_as_one(
    text: str, symbol: str, lines: tuple[str, int, int] | None, is_word: bool
) -> None:
    question = read_question(text)
    assert (question.text, question.symbol, question.lines) == (text, symbol, lines)
    assert bool(question.definitions.indices) == bool(symbol)
    assert bool(question.mentions.indices) == is_word


def test_an_old_version_beside_a_newer_one_comes_after_it_unless_it_is_asked_for() -> None:
    old, new, other = chunk("api/v9/parse.ts", digest="a"), chunk("api/v10/parse.ts", digest="b"), chunk("lib/v1/x.ts")
    both = evidence({old: 10, new: 9.5, other: 4})
    assert order("parse input", both, NOTHING_BUT_TERMS) == [new.id, old.id, other.id]
    assert order("parse input in v9", both, NOTHING_BUT_TERMS) == [old.id, new.id, other.id]
    alone = rank(read_question("parse input"), evidence({old: 10, other: 4}), NOTHING_BUT_TERMS)
    assert "superseded" not in alone[0].parts


def test_a_newer_version_is_one_when_only_its_file_was_found() -> None:
    old = chunk("api/v3/parse.ts")
    [entry] = rank(read_question("parse"), evidence({old: 10}, files={"api/v4/other.ts": 1}), NOTHING_BUT_TERMS)
    assert entry.parts["superseded"] < 0


def test_scores_that_differ_in_their_last_digits_are_equally_far_in_front() -> None:
    chunks = [chunk(f"{number}.py") for number in range(20)]
    noisy = evidence({each: 5.0 + number * 1e-7 for number, each in enumerate(chunks)})
    ranked = rank(read_question("anything"), noisy, weights_of({"place": 1}))
    assert {entry.score for entry in ranked} == {1.0}


@pytest.mark.parametrize("seed", range(20))
def test_noise_in_the_last_digits_of_searches_changes_no_place(seed: int) -> None:
    """Two indexes of the same files add up in different orders: results with equal evidence exchanged places."""
    random = Random(seed)
    chunks = [chunk(f"{name}.py", "load", line=line) for name in "hgfedcba" for line in (1, 20, 40)]
    terms = {each: float(3 + number % 3) for number, each in enumerate(chunks)}
    files = dict.fromkeys((each.path for each in chunks), 2.0)

    def noisy(scores: Mapping[Candidate, float]) -> dict[Candidate, float]:
        return {each: score * (1 + random.uniform(-3e-7, 3e-7)) for each, score in scores.items()}

    exact = order("how is it loaded", evidence(terms, dense=terms, files=files))
    shuffled = dict(random.sample([*terms.items()], len(terms)))
    assert order("how is it loaded", evidence(noisy(shuffled), dense=noisy(terms), files=files)) == exact


@given(st.lists(st.floats(-20, 20), max_size=30))
def test_scores_of_one_level_are_near_and_levels_keep_their_order(given_scores: list[float]) -> None:
    found = levels(given_scores)
    for score, level in zip(given_scores, found, strict=True):
        assert score <= level <= score + 30 * 1e-5
    for (score, level), (other, other_level) in pairwise(sorted(zip(given_scores, found, strict=True))):
        assert level <= other_level
        assert (level == other_level) == (other - score <= 1e-5)
