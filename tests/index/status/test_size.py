"""The size of an index: bytes that its files take on disk, however long they are."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from cqm.index.disk.size import size_on_disk
from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions

MEGABYTE = 1_000_000


@pytest.mark.processes
def test_an_index_of_nothing_takes_the_blocks_of_its_files(tmp_path: Path) -> None:
    """Once files of holes alone counted with their lengths: 337 MB for an empty folder."""
    (tmp_path / "tree").mkdir()
    options = IndexOptions(home=tmp_path / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(tmp_path / "tree", options) as index:
        index.update()
        blocks = sum(path.lstat().st_blocks for path in index.folder.rglob("*") if path.is_file())
        assert index.status().size_bytes == blocks * 512


@pytest.mark.parametrize("tells_blocks", [True, False])
def test_holes_count_nothing_also_where_a_file_system_tells_no_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tells_blocks: bool
) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "small").write_bytes(b"some text")
    with (tmp_path / "both").open("wb") as file:
        file.truncate(4 * MEGABYTE)
        file.seek(2 * MEGABYTE)
        file.write(b"x" * 10_000)
    if not tells_blocks:
        found = {path: path.lstat() for path in tmp_path.iterdir()}
        shown = {path: SimpleNamespace(st_size=it.st_size, st_mode=it.st_mode) for path, it in found.items()}
        monkeypatch.setattr(Path, "lstat", lambda path: shown[path])
    assert 10_009 <= size_on_disk(tmp_path) < 40_000


def test_a_file_of_holes_alone_takes_nothing(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(4 * MEGABYTE)
    assert size_on_disk(tmp_path) == 0
