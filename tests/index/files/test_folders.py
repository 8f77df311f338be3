"""Which folders a watcher has to watch."""

from pathlib import Path

import pytest

from cqm.index.files.listing import folders
from cqm.index.model.options import ScanOptions

pytestmark = pytest.mark.processes


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree = tmp_path.resolve() / "root"
    for name in ("src/deep", "empty", ".github/workflows", "build/out", "node_modules/a", ".git/objects", ".cqm"):
        (tree / name).mkdir(parents=True)
    (tree / ".gitignore").write_text("build/\n")
    return tree


def found(root: Path, top: str = "", options: ScanOptions | None = None) -> list[str]:
    paths = folders(root, options or ScanOptions(), root / top)
    return [path.relative_to(root).as_posix() for path in paths]


def test_folders_in_scope_are_found_the_empty_and_the_hidden_ones_too(root: Path) -> None:
    assert set(found(root)) == {".", "src", "src/deep", "empty", ".github", ".github/workflows"}


def test_a_folder_comes_before_what_is_in_it(root: Path) -> None:
    listed = found(root)
    assert listed[0] == "."
    assert listed.index("src") < listed.index("src/deep")


def test_only_what_is_at_or_below_a_folder_is_found(root: Path) -> None:
    assert found(root, "src") == ["src", "src/deep"]
    assert found(root, "empty") == ["empty"]


@pytest.mark.parametrize(
    "top", ["build", "build/out", "node_modules", "node_modules/a", ".git", ".git/objects", ".cqm", "none"]
)
def test_a_folder_out_of_scope_gives_none(root: Path, top: str) -> None:
    assert found(root, top) == []


def test_the_options_of_the_scan_hold(root: Path) -> None:
    assert "build/out" in found(root, options=ScanOptions(use_gitignore=False))
    assert "node_modules/a" in found(root, options=ScanOptions(include_vendored=True))
    assert "src/deep" not in found(root, options=ScanOptions(exclude=("src/deep",)))


def test_an_ignore_file_in_between_holds_below_it(root: Path) -> None:
    (root / "src" / ".cqmignore").write_text("deep/\n")
    assert found(root, "src") == ["src"]
    assert found(root, "src/deep") == []


def test_a_link_to_a_folder_is_none(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    assert "link" not in found(root)
    assert found(root, "link") == []


def test_the_ignore_files_of_a_repository_that_the_root_is_in_hold(root: Path) -> None:
    (root / "src" / "generated").mkdir()
    (root / ".gitignore").write_text("generated/\n")
    assert found(root / "src") == [".", "deep"]
    assert found(root / "src", "generated") == []
