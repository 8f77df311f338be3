"""A base of a team: the answers of a fresh index on each machine, whatever is edited there."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from carried_tree import (
    FILES,
    answers,
    fresh,
    make_tree,
    publish,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_double import Asked, QdrantDouble

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.errors import SnapshotError, StoreError
from cqm.index.model.options import IndexOptions

pytestmark = pytest.mark.processes

Machine = Callable[..., IndexOptions]


def writes(double: QdrantDouble) -> list[str]:
    """The requests that change something; those that ask are sent by POST, too."""
    asking = ("/points", "/query/batch", "/scroll", "/count")
    return [it.path for it in double.requests if it.method != "GET" and not it.path.endswith(asking)]


@pytest.mark.usefixtures("published")
def test_a_base_under_local_changes_answers_as_a_fresh_index_and_nobody_writes_into_it(
    clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    expected = fresh(clone, machine("any"), tmp_path / "fresh")
    before = {name: qdrant.ids(name) for name in qdrant.collections}
    qdrant.requests.clear()
    with Index.open(clone, machine("b")) as index:
        summary = index.take("shop")
        assert answers(index) == expected
        # Only what differs was read into chunks and embedded, though all times differ.
        assert (summary.added, summary.modified, summary.deleted) == (1, 1, 1)
        assert summary.embedded == summary.chunks_written == 2
        assert summary.notes[0].startswith(f"Took the base shop: {len(FILES) - 1} chunks of {len(FILES)} files")
        assert index.update().chunks_written == 0
        assert index.status().server.startswith("the base shop (cqm_base-shop-")
    with Index.open(clone, machine("b")) as index:
        assert answers(index) == expected
        assert index.update().chunks_written == 0
        index.export(tmp_path / "b.cqm")
    assert writes(qdrant) == []
    assert {name: qdrant.ids(name) for name in qdrant.collections} == before
    with Index.open(clone, machine("other")) as index:
        index.restore(tmp_path / "b.cqm")
        assert answers(index) == expected


def copy_at_rest(folder: Path, to: Path) -> None:
    """Copy a folder as it is at one moment: again, where another thread wrote into it meanwhile."""

    def seen() -> object:
        return sorted((path, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*"))

    while True:
        with suppress(FileNotFoundError, shutil.Error):
            before = seen()
            shutil.copytree(folder, to)
            if seen() == before:
                return
        shutil.rmtree(to, ignore_errors=True)


@pytest.mark.usefixtures("published")
def test_a_machine_that_dies_at_any_moment_of_an_update_has_everything_after_the_next(
    clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    copies: list[str] = []

    def copy(_: Asked) -> None:
        # A request waits for this: what is on disk now is what a dead process leaves.
        if len(copies) < 12:
            copies.append(f"copy{len(copies)}")
            copy_at_rest(tmp_path / "b", tmp_path / copies[-1])

    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        qdrant.rule = copy
        more = FILES["part_3.py"] + "\n\ndef more(value):\n    return compute_3(value)\n"
        for edit in (
            writing("src/sums.py", TEXTS[-3]),
            lambda tree: (tree / "part_2.py").unlink(),
            writing("part_3.py", more),
            lambda tree: (tree / "part_0.py").rename(tree / "part_7.py"),
            writing("part_2.py", FILES["part_2.py"]),
        ):
            edit(clone)
            index.update()
        qdrant.rule = lambda _: None
    expected = fresh(clone, machine("any"), tmp_path / "fresh")
    assert len(copies) > 4
    for name in copies:
        with Index.open(clone, machine(name)) as index:
            index.update()
            assert answers(index) == expected, name
            assert index.status().server
        shutil.rmtree(tmp_path / name)


Edit = Callable[[Path], None]
PATHS = ["src/sums.py", "src/prices.py", "docs/guide.md", "part_0.py", "part_3.py", "new/deep.py", "notes.md"]
TEXTS = [
    *FILES.values(),
    "def gather_sums(rows, start=0):\n    return start + sum(rows)\n\n\ndef value():\n    return compute_2(2)\n",
    "# Notes\n\nRounding of prices, and the value of rows.\n\n## Sums\n\nAdd up.\n",
    "class Price:\n    pass\n\n\nclass Value(Price):\n    def round_price(self):\n        return self.value\n",
]


def writing(path: str, text: str) -> Edit:
    def write(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")

    return write


def moving(folder: str) -> Edit:
    def move(root: Path) -> None:
        if (root / folder).is_dir():
            shutil.rmtree(root / f"{folder}2", ignore_errors=True)
            (root / folder).rename(root / f"{folder}2")

    return move


edits = st.one_of(
    st.builds(writing, st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.sampled_from(PATHS).map(lambda path: lambda root: (root / path).unlink(missing_ok=True)),
    st.sampled_from(["src", "docs"]).map(moving),
)


@pytest.mark.long
@pytest.mark.usefixtures("published")
@settings(
    max_examples=settings.default.max_examples // 8,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(rounds=st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=3))
def test_whatever_is_edited_over_a_base_it_answers_as_a_fresh_index(
    rounds: Sequence[Sequence[Edit]], machine: Machine
) -> None:
    with TemporaryDirectory() as folder:
        tree = make_tree(Path(folder) / "tree")
        with Index.open(tree, replace(machine("b"), home=Path(folder) / "home")) as index:
            index.take("shop")
            for some in rounds:
                for edit in some:
                    edit(tree)
                index.update()
            assert answers(index) == fresh(tree, machine("b"), Path(folder) / "fresh")


@pytest.mark.usefixtures("published")
def test_three_machines_with_changes_of_their_own_take_one_base_and_search_it_at_once(
    tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    trees = {name: make_tree(tmp_path / f"tree_{name}") for name in "abc"}
    (trees["a"] / "part_1.py").unlink()
    writing("src/sums.py", TEXTS[-3])(trees["b"])
    writing("notes.md", TEXTS[-2])(trees["b"])
    moving("docs")(trees["c"])
    writing("part_2.py", FILES["part_3.py"])(trees["c"])
    expected = {name: fresh(tree, machine("any"), tmp_path / f"fresh_{name}") for name, tree in trees.items()}
    before = qdrant.ids("cqm_base-shop")
    with ExitStack() as opened, ThreadPoolExecutor(6) as pool:
        indexes = {name: opened.enter_context(Index.open(tree, machine(name))) for name, tree in trees.items()}
        assert [it.dropped for it in pool.map(lambda index: index.take("shop"), indexes.values())] == [False] * 3
        asked = [*indexes] * 4
        found = pool.map(lambda name: answers(indexes[name]), asked)
        assert all(it == expected[name] for name, it in zip(asked, found, strict=True))
        # An edit on one of them, while the others search.
        writing("part_0.py", FILES["src/prices.py"])(trees["a"])
        updated = pool.submit(indexes["a"].update)
        found = pool.map(lambda name: answers(indexes[name]), ["b", "c"] * 2)
        assert all(it == expected[name] for name, it in zip(["b", "c"] * 2, found, strict=True))
        assert updated.result().modified == 1
        assert answers(indexes["a"]) == fresh(trees["a"], machine("any"), tmp_path / "fresh_later")
    assert qdrant.ids("cqm_base-shop") == before


def test_a_base_that_is_published_again_is_taken_when_somebody_asks_and_the_oldest_go(
    published: Path, clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        before = answers(index)
        (published / "later.py").write_text("def compute_2():\n    return 'later'\n")
        assert publish(published, machine("ci")) == ()
        assert answers(index) == before
        assert index.take("shop").deleted == 2
        assert answers(index) == before
        [first, second] = sorted(qdrant.collections)
        assert qdrant.aliases == {"cqm_base-shop": second}
        assert publish(published, machine("ci"), keep=2) == (first,)
        assert publish(published, machine("ci"), "other", keep=1) == ()
        assert answers(index) == before
    with Index.open(clone, machine("copy")) as index:
        index.take("shop")
    assert publish(clone, machine("copy"), "clone") == ()
    with Index.open(make_tree(tmp_path / "third"), machine("third")) as index:
        index.take("clone")
        assert answers(index) == fresh(tmp_path / "third", machine("third"), tmp_path / "fresh")


@pytest.mark.usefixtures("published")
def test_another_server_or_none_is_told_and_nothing_is_asked_there(
    clone: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
    qdrant.requests.clear()
    with Index.open(clone, machine("b", url="")) as index:
        assert "not what store.url names now" in index.status().unavailable
        with pytest.raises(StoreError, match=r"store\.url names none"):
            index.take("shop")
        with pytest.raises(StoreError, match=r"store\.url names none"):
            index.publish("shop")
        index.update()
        assert index.status().server == ""
    assert qdrant.requests == []


@pytest.mark.usefixtures("published")
def test_other_options_and_names_are_refused_with_what_to_do(clone: Path, machine: Machine) -> None:
    other = replace(machine("b"), chunk=ChunkOptions(max_tokens=300))
    with (
        Index.open(clone, other) as index,
        pytest.raises(SnapshotError, match=r"base shop .* chunk\.max_tokens is 300 and was 512") as refused,
    ):
        index.take("shop")
    assert "`cqm publish shop`" in refused.value.remedy
    with Index.open(clone, machine("b")) as index:
        with pytest.raises(StoreError, match="There is no base other") as unknown:
            index.take("other")
        assert unknown.value.remedy == "There are: shop."
        for name in ("", "a/b", "..", "x" * 61, "a\n"):
            with pytest.raises(StoreError, match="no name of a base"):
                index.take(name)
            with pytest.raises(StoreError, match="no name of a base"):
                index.publish(name)
        with pytest.raises(SnapshotError, match="not complete"):
            index.publish("shop")


@pytest.mark.usefixtures("published")
def test_bases_alone_lie_on_the_server_where_that_is_asked_for(
    clone: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.update()
        assert (index.status().server, len(qdrant.collections)) == ("", 1)
    with Index.open(clone, machine("b", only_bases=False)) as index:
        index.update()
        assert index.status().server
        assert len(qdrant.collections) == 2
        # Also there, what differs from a base is in the folder.
        index.take("shop")
    assert len(qdrant.collections) == 1
