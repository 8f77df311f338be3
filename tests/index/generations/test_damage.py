"""Files of an index that something else cut short, overwrote or deleted: found, told, and mended by the next update."""

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiers import thinned

from cqm.chunkers.errors import CqmError
from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, IndexOptions
from cqm.index.model.query import Query
from cqm.index.status.status import read_status
from cqm.index.store.base import Point

pytestmark = pytest.mark.processes

Damage = Callable[[Path], object]
PARTS = (
    "manifest.db",
    "segment.json",
    "mutable_id_tracker.mappings",
    "chunk_0.mmap",
    "config.json",
    "edge_config.json",
)


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    """Leave nothing in a file."""
    os.truncate(path, 0)


def overwrite(path: Path) -> None:
    """Write something else where a file begins."""
    with path.open("r+b") as file:
        file.write(random.Random(1).randbytes(min(100, path.stat().st_size)))


@dataclass(frozen=True, slots=True)
class Made:
    """An index that is closed.

    Attributes:
        tree, options, folder: what is indexed, how, and where the index is.
        expected: what it answers.
    """

    tree: Path
    options: IndexOptions
    folder: Path
    expected: object

    @property
    def generation(self) -> Path:
        """The folder of the generation that serves."""
        return self.folder / (self.folder / "current").read_text()

    def files(self) -> list[Path]:
        """All files of that generation that are not empty, but the seal."""
        files = (path for path in sorted(self.generation.rglob("*")) if path.is_file() and path.name != "seal.json")
        return [path for path in files if path.stat().st_size]

    def assert_mended(self, *, told: str = "") -> None:
        """Open it: the damage is told before and after it is mended, and then nothing is left of it."""
        with Index.open(self.tree, self.options) as index:
            assert told in index.status().damage
            assert index.status().damage
            assert not index.status().complete
            notes = index.update().notes
            assert notes[0].startswith("The index was damaged and is rebuilt: ")
            assert index.status().damage == ""
            assert answers(index) == self.expected
        with Index.open(self.tree, self.options) as index:
            assert index.update().notes == ()
        assert len([path for path in self.folder.iterdir() if path.is_dir()]) == 1


def answers(index: Index) -> object:
    """Return what an index holds and finds."""
    hits = [hit for text in ("compute_7", "which function adds nine") for hit in index.search(Query(text)).hits]
    return {*index._lineage.serving.store.ids()}, [(hit.path, hit.start_line, round(hit.score, 4)) for hit in hits]


BLOCK = 1 << 16


def copied(source: str, target: str) -> str:
    """Copy a file but for its zeros: Edge's files are of up to 32 MB, and hold a few kB."""
    with Path(source).open("rb") as given, Path(target).open("wb") as made:
        size = os.fstat(given.fileno()).st_size
        made.truncate(size)
        for start in range(0, size, BLOCK):
            if hasattr(os, "SEEK_DATA"):
                try:
                    if os.lseek(given.fileno(), start, os.SEEK_DATA) >= start + BLOCK:
                        continue
                except OSError:  # no data after this place
                    break
            if (block := os.pread(given.fileno(), BLOCK, start)).strip(b"\0"):
                made.seek(start)
                made.write(block)
    shutil.copystat(source, target)
    return target


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Made once; a copy of the index is kept beside it."""
    place = tmp_path_factory.mktemp("sound")
    tree = place / "tree"
    tree.mkdir()
    for number in range(20):
        (tree / f"module_{number}.py").write_text(f"def compute_{number}(value):\n    return value + {number}\n")
        os.utime(tree / f"module_{number}.py", (1_700_000_000, 1_700_000_000))
    options = IndexOptions(home=place / "home", workers=1, cache=CacheOptions(enabled=False))
    with Index.open(tree, options) as index:
        index.update()
        made = Made(tree, options, index.folder, answers(index))
    shutil.copytree(place / "home", place / "kept", copy_function=copied)
    return made


@pytest.fixture
def made(sound: Made) -> Made:
    place = sound.tree.parent
    shutil.rmtree(place / "home")
    shutil.copytree(place / "kept", place / "home", copy_function=copied)
    return sound


DAMAGES = [
    (part, damage) for at, damage in enumerate((cut, empty, overwrite, Path.unlink)) for part in thinned(PARTS, at, 2)
]
"""Each of them to every second part; with `tests/run --soak` to all."""


@pytest.mark.soak
@pytest.mark.fault("damaged shard", "damaged manifest")
@pytest.mark.parametrize(("part", "damage"), DAMAGES)
def test_a_damaged_file_of_a_closed_index_is_found_and_the_index_rebuilt(made: Made, part: str, damage: Damage) -> None:
    path = next(path for path in made.files() if path.name == part)
    damage(path)
    made.assert_mended(told=str(path))


def test_damage_to_any_file_is_found(made: Made, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(made.folder, whole, copy_function=copied)
    chosen = random.Random(11)
    for name in [path.relative_to(made.folder) for path in chosen.sample(made.files(), 6)]:
        shutil.rmtree(made.folder)
        shutil.copytree(whole, made.folder, copy_function=copied)
        chosen.choice([cut, empty, overwrite, Path.unlink])(made.folder / name)
        made.assert_mended(told=str(name))


@pytest.mark.fault("damaged shard", "damaged manifest")
@pytest.mark.parametrize(
    ("lost", "sealed"),
    [
        *((lost, True) for lost in ("", "shard", "shard/segments", "manifest.db")),
        *((lost, False) for lost in ("", "shard", "manifest.db")),
    ],
)
def test_a_generation_that_lost_a_part_is_rebuilt(made: Made, lost: str, *, sealed: bool) -> None:
    place = made.generation / lost
    if not sealed:
        (made.generation / "seal.json").unlink()
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    made.assert_mended()


@pytest.mark.fault("damaged shard", "damaged manifest")
@pytest.mark.parametrize("part", ["manifest.db", "segment.json", "edge_config.json"])
@pytest.mark.parametrize("damage", [cut, overwrite])
def test_damage_is_found_also_when_the_last_process_was_killed(made: Made, part: str, damage: Damage) -> None:
    (made.generation / "seal.json").unlink()
    damage(next(path for path in made.files() if path.name == part))
    made.assert_mended()


def test_points_that_a_killed_process_left_behind_and_that_are_gone_are_missed(made: Made) -> None:
    with Index.open(made.tree, made.options) as index:
        store = index._lineage.serving.store
        store.delete([next(store.ids())])
    (made.generation / "seal.json").unlink()
    made.assert_mended(told="has lost 1 of its points")


def test_vectors_that_a_killed_process_left_behind_and_that_are_gone_are_missed(made: Made) -> None:
    with Index.open(made.tree, made.options) as index:
        generation = index._lineage.serving
        [row] = generation.manifest.chunks_of("module_3.py")
        generation.store.upsert([Point(row.id, {"path": row.path}, {})])
    (made.generation / "seal.json").unlink()
    made.assert_mended(told="has lost 1 of its vectors")


@pytest.mark.fault("damaged current")
@pytest.mark.parametrize("text", ["", "../../elsewhere", "\xff\xfe garbage", "0123456789ab"])
def test_a_damaged_note_of_which_generation_serves_loses_nothing(made: Made, text: str) -> None:
    (made.folder / "current").write_text(text, encoding="latin-1")
    with Index.open(made.tree, made.options) as index:
        index.update()
        assert answers(index) == made.expected
    assert made.generation.is_dir()


@pytest.mark.fault("damaged manifest")
def test_the_status_of_a_damaged_index_is_told_without_opening_it(made: Made) -> None:
    overwrite(made.generation / "manifest.db")
    status = read_status(made.tree, made.options)
    assert status.exists
    assert "is damaged" in status.damage
    made.assert_mended()
    assert read_status(made.tree, made.options).damage == ""


def test_an_index_that_was_copied_elsewhere_and_back_is_as_good_as_before(made: Made, tmp_path: Path) -> None:
    shutil.copytree(made.folder, tmp_path / "copy", copy_function=shutil.copyfile)
    shutil.rmtree(made.folder)
    shutil.copytree(tmp_path / "copy", made.folder, copy_function=shutil.copyfile)
    with Index.open(made.tree, made.options) as index:
        assert index.status().damage == ""
        assert answers(index) == made.expected
        assert index.update().chunks_written == 0


@pytest.mark.fault("damaged seal")
def test_a_seal_that_is_damaged_costs_nothing(made: Made) -> None:
    overwrite(made.generation / "seal.json")
    with Index.open(made.tree, made.options) as index:
        assert index.status().damage == ""
        assert answers(index) == made.expected


@pytest.mark.fault("read-only index")
def test_a_generation_without_a_permission_is_no_damage(made: Made) -> None:
    segment = next(path for path in made.files() if path.name == "segment.json")
    segment.chmod(0)
    if os.access(segment, os.R_OK):
        pytest.skip("this user can read every file")
    with pytest.raises(CqmError, match=r"[Pp]ermission"):
        Index.open(made.tree, made.options)
    segment.chmod(0o600)
    with Index.open(made.tree, made.options) as index:
        assert answers(index) == made.expected
