"""A frozen index: its points are in a base that is mapped from disk, and what changes is in a layer over it."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from frozen_elsewhere import kill_freezing

from cqm.index.engine import Index
from cqm.index.generations import freezing
from cqm.index.model.errors import StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query
from cqm.index.store.layered import LayeredStore
from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.followed_index import FollowedIndex

pytestmark = [pytest.mark.processes]

QUESTIONS = ("where is the answer computed", "heading about cookies", "function_3")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for number in range(8):
        text = f"def function_{number}(value):\n    '''Compute answer {number}.'''\n    return value + {number}\n"
        (folder / f"module_{number}.py").write_text(text)
    (folder / "cookies.md").write_text("# Heading\n\nAbout cookies.\n\n## Answer\n\nIt is computed.\n")
    return folder


@pytest.fixture
def index(root: Path, tmp_path: Path) -> Iterator[Index]:
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as opened:
        opened.update()
        yield opened


def never() -> bool:
    return False


def answers(index: Index) -> object:
    # Words are weighed here in double precision, by Edge in single.
    return [[(hit.path, hit.start_line, round(hit.score, 4)) for hit in index.search(Query(q)).hits] for q in QUESTIONS]


def is_frozen(index: Index) -> bool:
    return isinstance(index._lineage.serving.store, LayeredStore)


def test_a_frozen_index_answers_as_before_and_after_changes_as_a_fresh_one(
    index: Index, root: Path, tmp_path: Path
) -> None:
    before = answers(index)
    index._freeze(never)
    assert is_frozen(index)
    assert answers(index) == before
    (root / "module_3.py").unlink()
    (root / "module_4.py").write_text("def function_4():\n    return 'the answer of cookies'\n")
    (root / "added.py").write_text("def function_3(cookies):\n    return cookies\n")
    index.update()
    changed = answers(index)
    with Index.open(root, IndexOptions(home=tmp_path / "fresh", workers=1)) as fresh:
        fresh.update()
        assert changed == answers(fresh) != before
    index.compact()
    assert is_frozen(index)
    assert answers(index) == changed
    assert index.update().chunks_written == 0


def test_a_frozen_index_is_opened_again_and_exported(index: Index, root: Path, tmp_path: Path) -> None:
    index._freeze(never)
    before = answers(index)
    index.close()
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as again:
        assert is_frozen(again)
        assert answers(again) == before
        exported = again.export(tmp_path / "snapshot.cqm")
    with Index.open(root, IndexOptions(home=tmp_path / "other", workers=1)) as other:
        assert other.restore(exported.file).embedded == 0
        assert answers(other) == before


def test_what_changes_while_an_index_is_frozen_is_in_it_when_it_serves(index: Index, root: Path) -> None:
    changes: list[str] = []

    def meanwhile() -> bool:
        if not changes:
            changes.append("now")
            (root / "module_5.py").unlink()
            (root / "late.py").write_text("def much_later():\n    return 'zebra'\n")
            index.update()
            assert index.search(Query("much_later")).hits[0].path == "late.py"
        return False

    index._freeze(meanwhile)
    assert is_frozen(index)
    assert index.search(Query("much_later")).hits[0].path == "late.py"
    assert "module_5.py" not in {hit.path for hit in index.search(Query("function_5")).hits}
    assert index.update().chunks_written == 0


@pytest.mark.parametrize("ended", ["cancelled", "killed"])
def test_freezing_that_ends_early_leaves_the_index_as_it_was_and_nothing_behind(index: Index, ended: str) -> None:
    before, folders = answers(index), {path.name for path in index.folder.iterdir() if path.is_dir()}

    def kill() -> bool:
        kill_freezing(index.folder)
        return False

    if ended == "cancelled":
        index._freeze(lambda: True)
    else:
        with pytest.raises(StoreError, match="cannot be written anew"):
            index._freeze(kill)
    assert not is_frozen(index)
    assert answers(index) == before
    assert {path.name for path in index.folder.iterdir() if path.is_dir()} == folders


def test_an_index_whose_base_is_damaged_is_made_anew(index: Index, root: Path, tmp_path: Path) -> None:
    index._freeze(never)
    before, place = answers(index), index._lineage.serving.place
    index.close()
    largest = max(
        (path for path in (place / "base-1").rglob("*") if path.is_file()), key=lambda it: it.stat().st_blocks
    )
    largest.write_bytes(b"")
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as again:
        assert any("damaged" in note for note in again.update().notes)
        assert not is_frozen(again)
        assert answers(again) == before


def test_an_index_that_is_followed_is_frozen_when_it_is_large(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "FROZEN_FROM", 5)
    frozen = threading.Event()
    switched: Callable[..., None] = FollowedIndex._freeze

    def freeze(self: FollowedIndex, cancelled: Callable[[], bool]) -> None:
        switched(self, cancelled)
        frozen.set()

    monkeypatch.setattr(FollowedIndex, "_freeze", freeze)
    with FollowedIndex.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as followed:
        followed.follow(WatchOptions())
        assert followed.wait(30)
        assert frozen.wait(240)
        assert is_frozen(followed)
        assert followed.search(Query("function_3")).hits[0].path == "module_3.py"


@pytest.mark.parametrize("field", ["folder", "layer", "frequencies"])
def test_a_note_that_leads_out_of_the_folder_is_damage(index: Index, root: Path, tmp_path: Path, field: str) -> None:
    index._freeze(never)
    before, place = answers(index), index._lineage.serving.place
    index.close()
    note = json.loads((place / "frozen.json").read_text())
    told = note["parts"][0] if field == "folder" else note
    (tmp_path / "elsewhere").mkdir()
    (place / told[field]).rename(tmp_path / "elsewhere" / "shard")
    told[field] = "../../../elsewhere/shard"
    (place / "frozen.json").write_text(json.dumps(note))
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as again:
        assert any("damaged" in note for note in again.update().notes)
        assert answers(again) == before
    assert (tmp_path / "elsewhere" / "shard").exists()
