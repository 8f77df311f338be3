"""Mapped files that are mostly holes give back their memory, and nothing else."""

import mmap
import sys
from pathlib import Path

import pytest

from cqm.index.store.edge_shards import let_go_of_holes

SIZE = 4 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it does nothing")
def test_what_was_written_through_a_mapping_stays(tmp_path: Path) -> None:
    path = tmp_path / "segment" / "page_0.dat"
    path.parent.mkdir()
    with path.open("w+b") as file:
        file.truncate(SIZE)
        with mmap.mmap(file.fileno(), SIZE) as mapped:
            mapped[:5], mapped[-5:] = b"first", b"last."
            mapped.flush()
            mapped[100:105] = b"dirty"
            let_go_of_holes(tmp_path)
            assert (mapped[:5], mapped[100:105], mapped[-5:]) == (b"first", b"dirty", b"last.")
    assert path.stat().st_blocks * 512 < SIZE / 4
    assert path.read_bytes()[100:105] == b"dirty"
