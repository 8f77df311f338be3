"""Pages of an indexed tree whose author is hostile."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_pages import entered, opened_library, write_tree
from starlette.testclient import TestClient

from cqm.server.ui.library import Library


@pytest.fixture(scope="package")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ui").resolve() / "tree"
    write_tree(root)
    return root


@pytest.fixture(scope="package")
def library(tree: Path) -> Iterator[Library]:
    with opened_library([tree], tree.parent / "home") as opened:
        yield opened


@pytest.fixture
def browser(library: Library) -> TestClient:
    return entered(library)
