"""A growing index: its points go into parts that are mapped from disk while files go on coming."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from frozen_elsewhere import kill_freezing

from cqm.index.engine import Index
from cqm.index.generations import freezing, growing
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query
from cqm.index.store.collection import read_frozen
from cqm.index.store.layered import LayeredStore

pytestmark = [pytest.mark.processes]

QUESTIONS = ("where is the answer computed", "heading about cookies", "function_33", "part 7 of file 90")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(120):
        texts = (
            f"def function_{number}_{part}():\n    '''Compute part {part} of file {number}.'''\n    return {part}\n"
            for part in range(number % 9)
        )
        (folder / f"module_{number}.py").write_text("\n\n".join(texts) or "ANSWER = 42\n")
    (folder / "cookies.md").write_text("# Heading\n\nAbout cookies.\n\n## Answer\n\nIt is computed.\n")
    return folder


def opened(root: Path, home: Path) -> Index:
    return Index.open(root, IndexOptions(home=home, workers=1))


def answers(index: Index) -> object:
    # Words are weighed here in double precision, by Edge in single.
    return [[(hit.path, hit.start_line, round(hit.score, 4)) for hit in index.search(Query(q)).hits] for q in QUESTIONS]


def parts(index: Index) -> list[str]:
    note = read_frozen(index._lineage.serving.place)
    return [part.folder for part in note.parts] if note else []


def has_graph(index: Index, part: str) -> bool:
    made = json.loads((index._lineage.serving.place / part / "edge_config.json").read_text())
    return all("hnsw_config" in vectors for vectors in made["vectors"].values())


@pytest.fixture
def expected(root: Path, tmp_path: Path) -> object:
    with opened(root, tmp_path / "plain") as plain:
        plain.update()
        assert not parts(plain)
        return answers(plain)


@pytest.fixture
def small_parts(expected: object, monkeypatch: pytest.MonkeyPatch) -> object:
    """Let layers be full early, once the answers of an index in memory are known; they are given."""
    monkeypatch.setattr(growing, "FULL_FROM", 60)
    monkeypatch.setattr(growing, "WORTH_FROM", 20)
    monkeypatch.setattr(growing, "GRAPH_FROM", 60)
    monkeypatch.setattr(freezing, "FROZEN_AGAIN_FROM", 20)
    return expected


def test_an_index_that_grows_has_mapped_parts_and_answers_as_one_in_memory(
    root: Path, tmp_path: Path, small_parts: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(root, tmp_path / "home") as index:
        searched: list[Progress] = []

        def search(progress: Progress) -> None:
            searched.append(progress)
            index.search(Query("function_33"))

        index.update(report=search)
        assert len(searched) > 3
        assert len(parts(index)) >= 2
        assert all(name.startswith("base-") for name in parts(index))
        assert [has_graph(index, name) for name in parts(index)] == [False, *[True] * (len(parts(index)) - 1)]
        assert answers(index) == small_parts
        assert index.update().chunks_written == 0
    with opened(root, tmp_path / "home") as again:
        place = again._lineage.serving.place
        folders = {path.name for path in place.iterdir() if path.is_dir()}
        assert folders == {*parts(again), read_frozen(place).layer}  # type: ignore[union-attr]
        assert answers(again) == small_parts
        # Changes go into the layer, and with a later freezing into the parts.
        (root / "module_33.py").write_text("def function_33():\n    return 'cookies'\n")
        (root / "module_34.py").unlink()
        again.update()
        changed = answers(again)
        again.compact()
        assert answers(again) == changed
    monkeypatch.undo()
    with opened(root, tmp_path / "fresh") as fresh:
        fresh.update()
        assert changed == answers(fresh) != small_parts


@pytest.mark.usefixtures("small_parts")
def test_a_search_while_an_index_grows_never_fails(root: Path, tmp_path: Path) -> None:
    ended = threading.Event()
    with opened(root, tmp_path / "home") as index, ThreadPoolExecutor(2) as threads:

        def search() -> int:
            found = 0
            while not ended.is_set():
                found += bool(index.search(Query("part 7 of file 90")).hits)
            return found

        searches = [threads.submit(search) for _ in range(2)]
        try:
            index.update()
        finally:
            ended.set()
        assert parts(index)
        assert all(running.result() for running in searches)


def test_a_part_whose_writing_is_killed_stays_in_memory_until_the_index_is_frozen(
    root: Path, tmp_path: Path, small_parts: object, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write: Callable[..., None] = growing.freeze_copy
    calls: list[Path] = []

    def killed(place: Path, spaces: dict[str, int], cancelled: Callable[[], bool], **options: bool) -> None:
        calls.append(place)

        def kill() -> bool:
            if len(calls) == 2:
                kill_freezing(place)
            return cancelled()

        write(place, spaces, kill, **options)

    monkeypatch.setattr(growing, "freeze_copy", killed)
    with opened(root, tmp_path / "home") as index:
        index.update()
        assert "stays in memory" in caplog.text
        assert [name.rpartition("-")[0] for name in parts(index)] == ["base", "shard"]
        assert answers(index) == small_parts
        assert freezing.should_be_frozen(index._lineage.serving)
    with opened(root, tmp_path / "home") as index:
        assert answers(index) == small_parts
        index.compact()
        assert all(name.startswith("base-") for name in parts(index))
        assert answers(index) == small_parts
        assert isinstance(index._lineage.serving.store, LayeredStore)


def test_an_index_filled_from_a_snapshot_is_mapped_as_well(root: Path, tmp_path: Path, small_parts: object) -> None:
    with opened(root, tmp_path / "plain") as plain:
        exported = plain.export(tmp_path / "snapshot.cqm")
    with opened(root, tmp_path / "home") as index:
        assert index.restore(exported.file).embedded == 0
        assert parts(index)
        assert answers(index) == small_parts
