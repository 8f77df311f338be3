"""A small tree, and options of an index of it that has no vectors."""

from pathlib import Path

import pytest

from cqm.index.model.options import EmbeddingOptions, IndexOptions


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(3):
        (root / f"part_{number}.py").write_text(f"def gather_{number}(value):\n    return value + {number}\n")
    return root


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    return IndexOptions(home=tmp_path / "home", workers=1, embedding=EmbeddingOptions("none"))
