from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.files.scan import FoundFile
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import FileState
from cqm.index.update.prepare import Preparation, prepare_file


@pytest.mark.parametrize(("path", "state"), [("a.py", FileState.INDEXED), ("", FileState.FAILED)])
def test_q3_a_file_whose_chunks_lack_required_metadata_fails_with_the_reason(
    tmp_path: Path, path: str, state: FileState
) -> None:
    file = tmp_path / "a.py"
    file.write_text("def f():\n    return 1\n")
    prepared = prepare_file((FoundFile(path, 0, 0), ""), Preparation(file, ScanOptions(), ChunkOptions()))
    assert prepared.row.state is state
    assert ("lacks path" in prepared.row.reason) == (state is FileState.FAILED)


def test_a_row_with_its_vector_differs_in_nothing_else() -> None:
    kinds: dict[Any, Any] = {int: 7, tuple[str, ...]: ("name",), bool: True}
    # No field has its default.
    row = ChunkRow(**{it.name: kinds.get(it.type, f"a {it.name}") for it in fields(ChunkRow)})
    changed = {"space": "space", "embedded": "embedded", "refused": "refused", "fingerprint": "fingerprint"}
    assert row.with_vector(**changed) == replace(row, **changed)
