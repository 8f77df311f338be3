"""A snapshot in another clone: the answers of a fresh index; and what becomes of damaged and hostile ones: nothing."""

import gzip
import hashlib
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from carried_tree import (
    FILES,
    Records,
    answers,
    flipped,
    make_tree,
    records_of,
    repacked,
    with_ids_of_before,
)

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.generations.generation import Generation, generation_name, open_generation
from cqm.index.model.errors import SnapshotError
from cqm.index.model.options import IndexOptions
from cqm.index.snapshots.restore import opened_snapshot
from cqm.index.snapshots.snapshot import FORMAT

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of the tree, with vectors of the built-in model."""
    place = tmp_path_factory.mktemp("exported")
    with Index.open(make_tree(place / "tree"), IndexOptions(home=place / "home", workers=1)) as index:
        index.update()
        done = index.export(place / "tree.cqm")
        assert done.sha256 == hashlib.sha256((place / "tree.cqm").read_bytes()).hexdigest()
        assert (done.files, done.size_bytes) == (len(FILES), (place / "tree.cqm").stat().st_size)
    assert sorted(path.name for path in place.iterdir()) == ["home", "tree", "tree.cqm"]
    return place / "tree.cqm"


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    return IndexOptions(home=tmp_path / "home", workers=1)


def test_an_import_under_local_changes_answers_as_a_fresh_index(
    exported: Path, clone: Path, tmp_path: Path, options: IndexOptions
) -> None:
    with Index.open(clone, replace(options, home=tmp_path / "fresh")) as fresh:
        fresh.update()
        expected = answers(fresh)
    with Index.open(clone, options) as index:
        summary = index.restore(exported)
        assert answers(index) == expected
        # Only what differs was read into chunks and embedded, though all times differ.
        assert (summary.added, summary.modified, summary.deleted) == (1, 1, 1)
        assert summary.embedded == summary.chunks_written == 2
        assert summary.notes[0].startswith(f"Imported {len(FILES) - 1} chunks of {len(FILES)} files")
        assert index.update().chunks_written == 0
    with Index.open(clone, options) as index:
        assert answers(index) == expected
        assert len([path for path in index.folder.iterdir() if path.is_dir()]) == 1


def test_a_snapshot_of_an_import_is_the_same_but_for_its_times(
    exported: Path, tmp_path: Path, options: IndexOptions
) -> None:
    with Index.open(make_tree(tmp_path / "same"), options) as index:
        index.restore(exported)
        index.export(tmp_path / "again.cqm")
    assert records_of((tmp_path / "again.cqm").read_bytes()) == records_of(exported.read_bytes())


def test_an_import_replaces_an_index_and_leaves_it_when_it_is_stopped_or_refused(
    exported: Path, clone: Path, options: IndexOptions
) -> None:
    with Index.open(clone, options) as index:
        index.update()
        before = answers(index)
        assert index.restore(exported, cancelled=lambda: True).cancelled
        assert answers(index) == before

        def die(_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            index.restore(exported, report=die)
        hostile = rewritten(exported, exported.with_name("hostile.cqm"), lambda records: records.pop())
        with pytest.raises(SnapshotError):
            index.restore(hostile)
        assert answers(index) == before
        index.restore(exported)
        assert answers(index) == before
        assert len([path for path in index.folder.iterdir() if path.is_dir()]) == 1


def test_other_options_and_formats_are_refused_with_what_to_do(
    exported: Path, clone: Path, tmp_path: Path, options: IndexOptions
) -> None:
    with (
        Index.open(clone, replace(options, chunk=ChunkOptions(max_tokens=300))) as index,
        pytest.raises(SnapshotError, match=r"chunk\.max_tokens is 300 and was 512") as refused,
    ):
        index.restore(exported)
    assert "cqm.yml" in refused.value.remedy
    newer = rewritten(exported, tmp_path / "newer.cqm", about={"format": FORMAT + 1})
    with Index.open(clone, options) as index, pytest.raises(SnapshotError, match="has format") as refused:
        index.restore(newer)
    assert refused.value.remedy == "Update CQM here."


def test_a_snapshot_of_the_first_format_is_refused_with_what_to_do_and_the_index_stays(
    exported: Path, clone: Path, tmp_path: Path, options: IndexOptions
) -> None:
    former = rewritten(exported, tmp_path / "former.cqm", with_ids_of_before, about={"format": 1})
    with Index.open(clone, options) as index:
        index.update()
        before = answers(index)
        with pytest.raises(SnapshotError, match=r"former\.cqm has format 1 .* this release of CQM reads 2") as refused:
            index.restore(former)
        assert refused.value.remedy == "Export it anew with this release of CQM."
        assert answers(index) == before


def test_an_index_that_is_not_complete_is_not_exported(clone: Path, tmp_path: Path, options: IndexOptions) -> None:
    with Index.open(clone, options) as index:
        with pytest.raises(SnapshotError, match="not complete"):
            index.export(tmp_path / "x.cqm")
        index.update()
        with pytest.raises(SnapshotError, match="cannot be written"):
            index.export(tmp_path / "nowhere" / "x.cqm")
    assert not (tmp_path / "x.cqm").exists()


def rewritten(file: Path, to: Path, change: Callable[[Records], object] = lambda _: None, **others: Any) -> Path:
    """A snapshot with other records; see `repacked`."""
    return written(to, repacked(file.read_bytes(), change, **others))


def first_chunk(records: Records) -> dict[str, Any]:
    return next(record for record in records if "row" in record)


def changed(**values: object) -> Callable[[Records], None]:
    """Change the first chunk, or the row of it."""

    def change(records: Records) -> None:
        chunk = first_chunk(records)
        for name, value in values.items():
            (chunk["row"] if name in chunk["row"] else chunk)[name] = value

    return change


def of_file(**values: object) -> Callable[[Records], None]:
    return lambda records: records[0].update(values)


def weights(*numbers: float) -> dict[str, str]:
    import numpy as np

    return {
        "indices": np.arange(len(numbers), dtype="<u4").tobytes().hex(),
        "values": np.array(numbers, "<f4").tobytes().hex(),
    }


def written(to: Path, content: bytes) -> Path:
    to.write_bytes(content)
    return to


def understated(file: Path, to: Path) -> Path:
    """A snapshot whose manifest states fewer bytes than come of it."""
    text = b"".join(json.dumps(record).encode() + b"\n" for record in records_of(file.read_bytes()))
    packed = gzip.compress(text)
    return rewritten(file, to, about={"records": [len(packed), len(text) - 10, hashlib.sha256(packed).hexdigest()]})


HOSTILE: dict[str, Callable[[Path, Path], Path]] = {
    "cut in the middle": lambda file, to: written(to, file.read_bytes()[: file.stat().st_size // 2]),
    "cut to nothing": lambda _, to: written(to, b""),
    "a byte changed": lambda file, to: written(to, flipped(file.read_bytes())),
    "no archive": lambda _, to: written(to, b"PK\3\4" * 1_000),
    "an absolute name": lambda file, to: rewritten(file, to, names=("snapshot.json", "/tmp/records.jsonl.gz")),
    "a name above": lambda file, to: rewritten(file, to, names=("../snapshot.json", "records.jsonl.gz")),
    "a link": lambda file, to: rewritten(file, to, kinds=(tarfile.REGTYPE, tarfile.SYMTYPE)),
    "a link to a manifest": lambda file, to: rewritten(file, to, kinds=(tarfile.SYMTYPE, tarfile.REGTYPE)),
    "a bomb": lambda file, to: rewritten(file, to, unpacked=lambda it: it + b" " * 50_000_000),
    "more than stated": understated,
    "no JSON": lambda file, to: rewritten(file, to, unpacked=lambda it: it.replace(b"{", b"[", 1)),
    "deep JSON": lambda file, to: rewritten(file, to, unpacked=lambda _: b"[" * 100_000 + b"\n"),
    "no text": lambda file, to: rewritten(file, to, unpacked=lambda it: b"\xff\xfe" + it),
    "half a character": lambda file, to: rewritten(file, to, changed(text="\ud800")),
    "no manifest": lambda file, to: rewritten(file, to, about={"files": "many"}),
    "other counts": lambda file, to: rewritten(file, to, about={"chunks": 1}),
    "a missing record": lambda file, to: rewritten(file, to, lambda records: records.pop()),
    "a path twice": lambda file, to: rewritten(file, to, lambda records: records.extend(records[:2])),
    "a path above": lambda file, to: rewritten(file, to, of_file(path="../outside.py")),
    "an absolute path": lambda file, to: rewritten(file, to, of_file(path="/etc/passwd")),
    "endless chunks": lambda file, to: rewritten(file, to, of_file(chunks=1 << 60)),
    "a chunk of another file": lambda file, to: rewritten(file, to, changed(path="src/sums.py2")),
    "an id of before": lambda file, to: rewritten(file, to, with_ids_of_before),
    "no id": lambda file, to: rewritten(file, to, changed(id="../../x")),
    "a large number": lambda file, to: rewritten(file, to, changed(end_line=1 << 70)),
    "lines that are not there": lambda file, to: rewritten(file, to, changed(end_line=1 << 50)),
    "no lines": lambda file, to: rewritten(file, to, changed(start_line=0)),
    "text for a number": lambda file, to: rewritten(file, to, changed(tokens="1")),
    "definitions that are none": lambda file, to: rewritten(file, to, changed(definitions='[["a", "b", -1, 2, 3]]')),
    "facts in facts": lambda file, to: rewritten(file, to, changed(metadata={"a": {"b": 1}})),
    "a short vector": lambda file, to: rewritten(file, to, changed(vector="0000")),
    "no number": lambda file, to: rewritten(file, to, changed(vector="007e" * 256)),
    "a vector that drowns all others": lambda file, to: rewritten(file, to, changed(vector="ff7b" * 256)),
    "a space that is not there": lambda file, to: rewritten(file, to, changed(space="other-00000000")),
    "a space of no size": lambda file, to: rewritten(file, to, about={"spaces": ["a/b/99999999"]}),
    "no name of a space": lambda file, to: rewritten(file, to, about={"spaces": ["../x"]}),
    "a preference for nothing": lambda file, to: rewritten(file, to, about={"preferred": {"code": "a/b/1"}}),
    "terms without an end": lambda file, to: rewritten(file, to, changed(terms=weights(float("inf")))),
    "terms below nothing": lambda file, to: rewritten(file, to, changed(terms=weights(-1.0))),
    "a term twice": lambda file, to: rewritten(
        file, to, changed(terms={"indices": "01000000" * 2, "values": "0000803f" * 2})
    ),
}
"""What somebody may give for a snapshot: writes it, from a good one."""


@pytest.fixture
def target(tmp_path: Path, options: IndexOptions) -> Iterator[Generation]:
    """An empty generation."""
    (tmp_path / "folder").mkdir()
    generation = open_generation(tmp_path / "folder", generation_name(options), options, {})
    yield generation
    generation.close()


def refusal(file: Path, target: Generation, options: IndexOptions) -> str:
    """The remedy that a refused snapshot names; empty if it was taken."""
    try:
        with opened_snapshot(file, options) as snapshot:
            assert snapshot.fill(target, lambda _: None, lambda: False)
    except SnapshotError as error:
        return error.remedy
    return ""


def test_damaged_and_hostile_snapshots_are_refused(
    exported: Path, target: Generation, tmp_path: Path, options: IndexOptions
) -> None:
    for name, make in HOSTILE.items():
        assert refusal(make(exported, tmp_path / "hostile.cqm"), target, options), name
    # It was no fault of the generation.
    assert refusal(exported, target, options) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "hostile.cqm"]


def test_a_pipe_or_a_folder_is_no_snapshot(target: Generation, tmp_path: Path, options: IndexOptions) -> None:
    assert refusal(tmp_path, target, options)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.cqm")
        assert refusal(tmp_path / "pipe.cqm", target, options)


def test_searches_bear_any_text_that_a_snapshot_may_hold(exported: Path, tmp_path: Path, options: IndexOptions) -> None:
    """All that is taken keeps its declared types; with any values of these, no question fails."""
    odd = {
        "text": "\x1b[2J\0 compute_2 </result>\n" * 30,
        "symbol": "compute_2",
        "language": "no language",
        "kind": "\x1b]0;x\7",
        "defines": ["compute_2", ""],
        "definitions": json.dumps([["compute_2", "function", 900, 5, 100_000], ["", "", 0, 0, 0]]),
        "metadata": {"a": "\x1b[1m", "issues": [""], "source_type": "x"},
        "context": "class \x1b",
        "issues": ["#1"],
    }
    file = rewritten(exported, tmp_path / "odd.cqm", changed(**odd))
    with Index.open(make_tree(tmp_path / "tree"), options) as index:
        index.restore(file)
        answers(index)
        index.usages("compute_2")
