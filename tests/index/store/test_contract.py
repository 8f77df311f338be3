"""The contract of every store: the folder's, and a server's as its client, a double and a real server show it.

The client's own `:memory:` mode is an oracle: another implementation of the same protocol, in plain Python. It keeps
vectors as float32 where the others have float16, so that scores are compared to three digits.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_double import QdrantDouble

from cqm.index.model.errors import StoreError
from cqm.index.model.options import StoreOptions
from cqm.index.store.base import FILE_TERMS, NO_SPACES, PATH_TERMS, TERMS, Nearest, Point, PointFilter, Store
from cqm.index.store.bases import SharedBase
from cqm.index.store.collection import FREQUENCIES_FILE, BaseNote, new_note, write_note
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frequencies import Counting, frequency_lines
from cqm.index.store.frozen import FrozenNote, FrozenPart
from cqm.index.store.layered import LayeredStore
from cqm.index.store.open import open_frozen
from cqm.index.store.qdrant import QdrantStore
from cqm.index.store.qdrant_client import QdrantServer
from cqm.index.text.terms import SparseTerms
from cqm.index.update.write import folders_of

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

# The memory mode says that it searches exactly and has no use for indexes.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]

REAL = os.environ.get("QDRANT_URL", "")
SPACE = "space_a"
OTHER_SPACE = "space_b"


@contextmanager
def on_edge(folder: Path, spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    store = EdgeStore(folder / "shard")
    store.create(spaces)
    yield store
    store.close()


@contextmanager
def on_server(
    folder: Path, spaces: Mapping[str, int], options: StoreOptions, client: "QdrantClient | None" = None
) -> Iterator[Store]:
    place = folder / "some-index-0" / "generation"
    place.mkdir(parents=True)
    note = new_note(place, options)
    write_note(place, note)
    store = QdrantStore(place, note, QdrantServer(options, os.environ, client), options)
    store.create(spaces)
    yield store
    store.drop()
    store.close()


@contextmanager
def in_memory(folder: Path, spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    from qdrant_client import QdrantClient  # a second, and most processes of the tests do without

    with on_server(folder, spaces, StoreOptions(url="http://127.0.0.1:1"), QdrantClient(":memory:")) as store:
        yield store


@contextmanager
def on_double(folder: Path, spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    double = QdrantDouble(folder / "double")
    with on_server(folder, spaces, StoreOptions(url=double.url)) as store:
        yield store
    double.close()


@contextmanager
def in_layer(folder: Path, spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    """A layer over a base that holds nothing which the layer does not hide or replace."""
    with over_base(folder, [point(number, "below.py", sparse(a=2.0, q=1.0)) for number in range(12)], spaces) as store:
        store.delete(names(*range(12)))
        yield store


@contextmanager
def over_base(folder: Path, below: Sequence[Point], spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    """A layer over a base with some points."""
    double = QdrantDouble(folder / "double")
    options, counting = StoreOptions(url=double.url), Counting()
    counting.add(below)
    (folder / FREQUENCIES_FILE).write_bytes(b"\n".join(frequency_lines(counting.counted())))
    with closing(SharedBase("team", options, os.environ)) as base:
        with base.making() as made:
            for space, dimensions in spaces.items():
                made.ensure_space(space, dimensions)
            made.upsert(below)
        collection = base.find()
        before = double.ids(collection)
        note = BaseNote(double.url, "team", collection, tuple(spaces), len(below), 1)
        layer = EdgeStore(folder / "shard", weighs=False)
        store = LayeredStore(folder, note, base.reader(collection), layer)
        store.create(spaces)
        yield store
        store.close()
        assert double.ids(collection) == before
    double.close()


@contextmanager
def over_frozen(folder: Path, spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    """A layer over a base on disk that holds nothing which the layer does not hide or replace."""
    below, counting = [point(number, "below.py", sparse(a=2.0, q=1.0)) for number in range(12)], Counting()
    counting.add(below)
    (folder / FREQUENCIES_FILE).write_bytes(b"\n".join(frequency_lines(counting.counted())))
    # In three parts, of which one was a layer.
    parts = {"base-1": below[:5], "base-2": below[5:6], "shard-3": below[6:]}
    made = tuple(FrozenPart(name, tuple(spaces), len(points)) for name, points in parts.items())
    write_note(folder, FrozenNote(made, "shard-4", FREQUENCIES_FILE))
    for name, points in parts.items():
        is_base = name.startswith("base")
        with closing(EdgeStore(folder / name, weighs=False, is_base=is_base)) as base:
            base.create(spaces)
            base.upsert(points)
            if is_base:
                base.optimize()
    store = open_frozen(folder)
    store.create(spaces)
    store.delete(names(*range(12)))
    yield store
    store.close()


@contextmanager
def on_real_server(folder: Path, spaces: Mapping[str, int] = NO_SPACES) -> Iterator[Store]:
    options = StoreOptions(url=REAL.rstrip("/"), api_key_env="QDRANT_API_KEY", prefix="cqm-contract")
    with on_server(folder, spaces, options) as store:
        yield store


KINDS = {
    "edge": on_edge,
    "memory": in_memory,
    "double": on_double,
    "layer": in_layer,
    "frozen": over_frozen,
    **({"server": on_real_server} if REAL else {}),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with request.param(tmp_path) as opened:
        yield opened


def name_of(number: int) -> str:
    return f"{number + 0xABC:016x}"


def sparse(**weights: float) -> SparseTerms:
    """Terms by letters: their codes are the indices."""
    return SparseTerms(tuple(map(ord, weights)), tuple(weights.values()))


def point(number: int, path: str = "src/a.py", terms: SparseTerms | None = None, **payload: object) -> Point:
    shown = {"path": path, "dirs": folders_of(path), "language": "python", "kind": "function", **payload}
    return Point(name_of(number), shown, {TERMS: terms or sparse(a=1.0)})


def with_vector(number: int, vector: Sequence[float], space: str = SPACE, path: str = "src/a.py") -> Point:
    plain = point(number, path)
    row = np.array(vector, dtype=np.float32)
    return Point(plain.id, plain.payload, plain.sparse, row / np.linalg.norm(row), space)


def found(store: Store, terms: SparseTerms, keep: PointFilter | None = None, name: str = TERMS) -> list[str]:
    return [*scores(store, terms, keep, name)]


def scores(store: Store, terms: SparseTerms, keep: PointFilter | None = None, name: str = TERMS) -> dict[str, float]:
    (answer,) = store.search([Nearest(name, terms, 100, keep)])
    return answer


def nearest(store: Store, space: str, vector: Sequence[float], keep: PointFilter | None = None) -> dict[str, float]:
    (answer,) = store.search([Nearest(space, np.array(vector, dtype=np.float32), 50, keep)])
    return answer


def names(*numbers: int) -> list[str]:
    return [name_of(number) for number in numbers]


def test_the_best_match_comes_first_with_its_score(store: Store) -> None:
    store.upsert([point(1, terms=sparse(a=1.0)), point(2, terms=sparse(a=3.0, b=1.0))])
    answer = scores(store, sparse(a=1.0))
    assert [*answer] == names(2, 1)
    assert answer[name_of(2)] == pytest.approx(3 * answer[name_of(1)])


def test_several_searches_at_once_find_each_what_it_finds_alone(store: Store) -> None:
    store.ensure_space(SPACE, 2)
    store.upsert([with_vector(1, [1, 0]), with_vector(2, [1, 1], path="b.py"), point(3, terms=sparse(b=1.0))])
    searches = [
        Nearest(TERMS, sparse(a=1.0, b=1.0), 2),
        Nearest(TERMS, SparseTerms((), ()), 5),
        Nearest(SPACE, np.array([1, 0], dtype=np.float32), 1),
        Nearest(TERMS, sparse(a=1.0), 5, PointFilter(nothing=True)),
        Nearest(TERMS, sparse(a=1.0), 5, PointFilter(paths=("b.py",))),
    ]
    together = store.search(searches)
    assert together == [answer for search in searches for answer in store.search([search])]
    assert [[*answer] for answer in together[1:]] == [[], names(1), [], names(2)]
    assert store.search([]) == []


def test_a_rare_word_counts_more_than_a_common_one(store: Store) -> None:
    store.upsert([point(number, terms=sparse(a=1.0)) for number in range(9)])
    store.upsert([point(9, terms=sparse(b=1.0))])
    assert found(store, sparse(a=1.0, b=1.0))[0] == name_of(9)


def test_scores_after_deletes_and_replacements_are_those_of_a_store_that_never_held_them(
    store: Store, tmp_path: Path
) -> None:
    store.upsert([point(number, terms=sparse(a=1.0, b=2.0)) for number in range(20)])
    store.upsert([point(number, terms=sparse(c=1.0)) for number in range(5)])
    store.delete(names(*range(8, 20)))
    with on_edge(tmp_path / "fresh") as fresh:
        fresh.upsert([point(number, terms=sparse(c=1.0)) for number in range(5)])
        fresh.upsert([point(number, terms=sparse(a=1.0, b=2.0)) for number in range(5, 8)])
        for terms in (sparse(a=1.0), sparse(b=1.0, c=1.0)):
            assert scores(store, terms) == pytest.approx(scores(fresh, terms), rel=1e-3)


def test_the_frequencies_of_words_in_chunks_files_and_paths_do_not_mix(store: Store) -> None:
    store.upsert([point(number, terms=sparse(a=1.0, b=1.0)) for number in range(9)])
    payload = {"path": "x.py", "dirs": [], "language": "python"}
    files = [Point(name_of(50), payload, {FILE_TERMS: sparse(a=1.0), PATH_TERMS: sparse(b=1.0)})]
    files += [Point(name_of(51), payload, {FILE_TERMS: sparse(b=1.0), PATH_TERMS: SparseTerms((), ())})]
    store.upsert(files)
    assert found(store, sparse(a=1.0, b=1.0), name=PATH_TERMS) == names(50)
    first, second = scores(store, sparse(a=1.0, b=1.0), name=FILE_TERMS).values()
    assert first == pytest.approx(second)


def test_of_a_replaced_point_nothing_stays(store: Store) -> None:
    store.ensure_space(SPACE, 2)
    store.ensure_space(OTHER_SPACE, 2)
    store.upsert([with_vector(1, [1, 0])])
    store.upsert([with_vector(1, [0, 1], OTHER_SPACE, path="b.py")])
    assert (store.count_vectors(SPACE), store.count_vectors(OTHER_SPACE)) == (0, 1)
    assert nearest(store, SPACE, [1, 0]) == {}
    assert store.ids_of_path("src/a.py") == set()
    assert store.ids_of_path("b.py") == {name_of(1)}
    store.upsert([point(1, terms=sparse(z=1.0))])
    assert found(store, sparse(a=1.0)) == []
    assert store.count_vectors(OTHER_SPACE) == 0


def test_deleted_points_are_gone_and_unknown_ids_are_harmless(store: Store) -> None:
    store.upsert([point(1), point(2)])
    store.delete(names(1, 77))
    store.delete([])
    assert found(store, sparse(a=1.0)) == names(2)
    assert store.payloads(names(1, 2, 77), ["path"]) == {name_of(2): {"path": "src/a.py"}}
    assert store.ids_of_path("src/a.py") == {name_of(2)}


def test_points_of_an_earlier_release_whose_ids_are_uuids_are_found_read_and_deleted(store: Store) -> None:
    uuid = f"{0xABC << 64:032x}"
    store.upsert([point(1), replace(point(2), id=uuid)])
    assert set(found(store, sparse(a=1.0))) == {name_of(1), uuid} == store.ids_of_path("src/a.py")
    assert store.payloads([uuid], ["path"]) == {uuid: {"path": "src/a.py"}}
    store.delete([uuid])
    assert found(store, sparse(a=1.0)) == names(1)


def test_the_nearest_vectors_come_first_in_their_own_space_and_scores_are_cosines(store: Store) -> None:
    store.ensure_space(SPACE, 3)
    store.upsert([with_vector(1, [1, 0, 0]), with_vector(2, [1, 1, 0])])
    # A model that comes later has a space of its own.
    store.ensure_space(OTHER_SPACE, 2)
    store.upsert([with_vector(3, [0, 1], OTHER_SPACE)])
    close = nearest(store, SPACE, [1, 0, 0])
    assert [*close] == names(1, 2)
    assert [*close.values()] == pytest.approx([1.0, 0.7071], abs=1e-3)
    assert [*nearest(store, OTHER_SPACE, [0, 1])] == names(3)


def test_a_space_that_is_there_may_be_made_room_for_again(store: Store) -> None:
    store.ensure_space(SPACE, 2)
    store.upsert([with_vector(1, [1, 0])])
    store.ensure_space(SPACE, 2)
    assert store.count_vectors(SPACE) == 1


def test_filters_keep_what_has_one_of_each_kind_of_value_and_none_of_the_excluded_paths(store: Store) -> None:
    store.upsert(
        [
            point(1, "src/a.py", kind="class", source_type="code"),
            point(2, "src/deep/b.py", source_type="code"),
            point(3, "docs/c.md", language="markdown", kind="section", source_type="document"),
            point(4, "srcs/d.ts", language="typescript", source_type="code"),
        ]
    )

    def kept(keep: PointFilter) -> set[str]:
        return set(found(store, sparse(a=1.0), keep))

    assert kept(PointFilter(languages=("python", "markdown"))) == {*names(1, 2, 3)}
    assert kept(PointFilter(kinds=("function",))) == {*names(2, 4)}
    assert kept(PointFilter(sources=("document",))) == {*names(3)}
    assert kept(PointFilter(paths=("src/a.py", "docs/c.md"))) == {*names(1, 3)}
    assert kept(PointFilter(folders=("src",))) == {*names(1, 2)}
    assert kept(PointFilter(folders=("src/deep",), paths=("docs/c.md",))) == {*names(2, 3)}
    assert kept(PointFilter(not_paths=("src/a.py", "srcs/d.ts"))) == {*names(2, 3)}
    assert kept(PointFilter(languages=("python",), folders=("src",), not_paths=("src/a.py",))) == {*names(2)}
    assert kept(PointFilter(ids=tuple(names(1, 4, 9)))) == {*names(1, 4)}
    assert kept(PointFilter(ids=tuple(names(1, 4)), languages=("python",))) == {*names(1)}
    assert kept(PointFilter()) == {*names(1, 2, 3, 4)}
    assert kept(PointFilter(nothing=True)) == set()


def test_a_filter_holds_for_vectors_too(store: Store) -> None:
    store.ensure_space(SPACE, 2)
    store.upsert([with_vector(1, [1, 0], path="a.py"), with_vector(2, [1, 0], path="b.py")])
    assert [*nearest(store, SPACE, [1, 0], PointFilter(paths=("b.py",)))] == names(2)
    assert nearest(store, SPACE, [1, 0], PointFilter(nothing=True)) == {}


def test_all_points_of_a_path_are_listed_however_many_there_are(store: Store) -> None:
    store.upsert([point(number, "big.py") for number in range(2345)])
    store.upsert([point(9999, "big.pyi")])
    assert store.ids_of_path("big.py") == {*names(*range(2345))}
    assert store.lost({*names(*range(2345), 9999)}) == 0


def test_lost_points_and_vectors_are_counted(store: Store) -> None:
    store.ensure_space(SPACE, 2)
    store.upsert([with_vector(1, [1, 0]), with_vector(2, [0, 1]), point(3)])
    assert store.lost({*names(1, 2, 3)}) == 0
    assert store.lost({*names(1, 2, 3, 4, 5)}) == 2
    assert store.count_vectors(SPACE) == 2


def test_no_words_find_nothing(store: Store) -> None:
    store.upsert([point(1)])
    assert scores(store, SparseTerms((), ())) == {}
    assert found(store, sparse(q=1.0)) == []


def test_points_come_back_with_their_vectors_and_unknown_ids_are_left_out(store: Store) -> None:
    store.ensure_space(SPACE, 3)
    store.upsert([with_vector(1, [0, 0.6, 0.8]), point(2)])
    first, second = sorted(store.points(names(1, 2, 77)), key=lambda stored: stored.id)
    assert (first.id, first.space, first.payload["path"]) == (name_of(1), SPACE, "src/a.py")
    assert first.dense is not None
    assert first.dense.tolist() == pytest.approx([0, 0.6, 0.8], abs=1e-3)
    assert second.sparse[TERMS] == point(2).sparse[TERMS]
    assert (second.space, second.dense) == ("", None)


def test_payloads_come_back_as_they_were_given(store: Store) -> None:
    payload = {"text": 'ü "漢字" \n\t\\ 🙂', "metadata": {"tags": ["a", "b"], "deep": {"n": 1.5}}, "none": None}
    store.upsert([point(1, "dir with space/ü.py", **payload)])
    assert store.payloads(names(1), [*payload]) == {name_of(1): payload}
    assert store.ids_of_path("dir with space/ü.py") == {name_of(1)}


@pytest.mark.parametrize(
    "terms",
    [
        SparseTerms((1, 2), (1.0,)),
        SparseTerms((1, 1), (1.0, 2.0)),
        SparseTerms((1, 2), (1.0, float("nan"))),
        SparseTerms((1, 2), (float("inf"), float("-inf"))),
    ],
    ids=["mismatched", "repeated", "nan", "infinite"],
)
def test_words_that_no_search_can_use_are_refused_by_the_path_of_their_file(store: Store, terms: SparseTerms) -> None:
    with pytest.raises(StoreError, match=r"of src/bad\.py is malformed"):
        store.upsert([point(1, "src/bad.py", terms)])
    assert store.ids_of_path("src/bad.py") == set()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_vectors_that_no_search_can_use_are_refused_by_the_path_of_their_file(store: Store, value: float) -> None:
    store.ensure_space(SPACE, 2)
    row = np.array([1.0, value], dtype=np.float32)
    with pytest.raises(StoreError, match=r"of src/bad\.py is not finite"):
        store.upsert([Point(name_of(1), {"path": "src/bad.py"}, {}, row, SPACE)])


def test_a_store_that_rested_answers_and_takes_writes_as_before(store: Store) -> None:
    store.upsert([point(1)])
    # What is not on disk yet does not rest.
    store.rest(0.0)
    store.flush()
    store.rest(0.0)
    assert [*store.search([Nearest(TERMS, sparse(a=1.0), 5)])[0]] == [name_of(1)]
    store.rest(0.0)
    store.upsert([point(2)])
    store.flush()
    store.rest(0.0)
    assert store.ids_of_path("src/a.py") == {name_of(1), name_of(2)}


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not tell what is mapped")
def test_a_store_of_files_that_rests_has_none_of_them_in_memory(tmp_path: Path) -> None:
    def mapped() -> int:
        return Path("/proc/self/maps").read_text(errors="replace").count(str(tmp_path))

    with on_edge(tmp_path) as store:
        store.upsert([point(1)])
        store.flush()
        store.rest(60.0)
        assert mapped()
        store.rest(0.0)
        store.flush()
        assert not mapped()
        store.close()
        with pytest.raises(StoreError, match="is not open"):
            store.count_vectors(SPACE)


def test_a_write_that_is_repeated_changes_nothing(store: Store) -> None:
    store.upsert([point(number, terms=sparse(a=1.0, b=float(number + 1))) for number in range(5)])
    before = scores(store, sparse(a=1.0, b=1.0))
    store.upsert([point(number, terms=sparse(a=1.0, b=float(number + 1))) for number in range(5)])
    store.delete(names(80))
    store.delete(names(80))
    assert scores(store, sparse(a=1.0, b=1.0)) == pytest.approx(before, rel=1e-3)


Step = Callable[[Store], None]
numbers = st.integers(0, 7)
weights = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0.5, 1.0, 2.0]), max_size=3)
vectors = st.sampled_from([None, [1, 0], [0, 1], [1, 1], [2, 1]])
paths = st.sampled_from(["a.py", "d/b.py", "d/e/c.py"])


@st.composite
def points_with_vectors(draw: st.DrawFn) -> Point:
    number, path, words, vector = draw(numbers), draw(paths), draw(weights), draw(vectors)
    plain = point(number, path, sparse(**words) if words else SparseTerms((), ()))
    if vector is None:
        return plain
    space = draw(st.sampled_from([SPACE, OTHER_SPACE]))
    return Point(plain.id, plain.payload, plain.sparse, with_vector(number, vector).dense, space)


def writes() -> st.SearchStrategy[Step]:
    return points_with_vectors().map(lambda it: lambda store: store.upsert([it]))


deletions = st.lists(numbers, max_size=4).map(lambda them: lambda store: store.delete(names(*them)))


def seen(store: Store) -> object:
    """All that a user of a store can see, by id: scores to three digits, since the oracle's vectors are float32."""
    by_words = [scores(store, sparse(**{word: 1.0})) for word in "abcd"]
    by_vector = [nearest(store, space, [0.8, 0.6]) for space in (SPACE, OTHER_SPACE)]
    inside = scores(store, sparse(a=1.0, b=1.0), PointFilter(folders=("d",)))
    return (
        [store.ids_of_path(path) for path in ("a.py", "d/b.py", "d/e/c.py")],
        [{name: round(score, 2) for name, score in answers.items()} for answers in (*by_words, *by_vector, inside)],
        [store.count_vectors(space) for space in (SPACE, OTHER_SPACE)],
        store.payloads(names(*range(8)), ["path"]),
    )


histories = st.lists(st.one_of(writes(), deletions), max_size=25)


@pytest.mark.long
@settings(max_examples=settings.default.max_examples // 4, suppress_health_check=[HealthCheck.too_slow])
@given(histories)
def test_whatever_is_written_and_deleted_all_stores_hold_and_answer_the_same(steps: list[Step]) -> None:
    assert_same(["edge", "memory", "double"], steps)


@pytest.mark.skipif(not REAL, reason="QDRANT_URL names no server; with one, it goes through this whole suite")
@settings(max_examples=settings.default.max_examples // 4, suppress_health_check=[HealthCheck.too_slow])
@given(histories)
def test_a_real_server_holds_and_answers_the_same(steps: list[Step]) -> None:
    assert_same(["edge", "server"], steps)


@pytest.mark.long
@settings(max_examples=settings.default.max_examples // 4, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(points_with_vectors(), max_size=10, unique_by=lambda it: it.id), histories)
def test_a_base_and_changes_over_it_are_as_one_store_with_all_of_them(below: list[Point], steps: list[Step]) -> None:
    spaces = {SPACE: 2, OTHER_SPACE: 2}
    with TemporaryDirectory() as folder, ExitStack() as opened:
        (Path(folder) / "layer").mkdir()
        whole = opened.enter_context(on_edge(Path(folder), spaces))
        layered = opened.enter_context(over_base(Path(folder) / "layer", below, spaces))
        whole.upsert(below)
        for step in steps:
            step(whole)
            step(layered)
        assert seen(layered) == seen(whole)
        # All of it is told by the layer's folder.
        layered.close()
        layered.load()
        assert seen(layered) == seen(whole)


def assert_same(kinds: list[str], steps: list[Step]) -> None:
    with TemporaryDirectory() as folder, ExitStack() as opened:
        # A space that comes later costs Edge .3 s.
        spaces = {SPACE: 2, OTHER_SPACE: 2}
        stores = [opened.enter_context(KINDS[name](Path(folder) / name, spaces)) for name in kinds]
        for store in stores:
            for space, dimensions in spaces.items():
                store.ensure_space(space, dimensions)
            for step in steps:
                step(store)
        first, *others = map(seen, stores)
        assert others == [first] * len(others)
