"""Ignore files mean to us what they mean to git, whatever is written in them."""

import os
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cqm.index.files.ignore_file import parse_ignore_file
from cqm.index.files.scan import scan
from cqm.index.model.options import ScanOptions

pytestmark = pytest.mark.processes

NAMES = ["a", "b", "ab", "aab", "a.b", "-", "]", "[", "!b", "#a", "a b", " ", "\\", "ä", "A", "1", "a\nb"]
FOLDERS = ["", "a/", "b/", "a/b/", "a/a/b/", "ab/b/a/", "c/"]
FILES = [folder + name + ".x" for folder, name in product(FOLDERS, NAMES)]
GLOBS = st.text(st.sampled_from("aab*?[]!^-\\/. #\t\rcxä1:"), max_size=9)
CLASSES = st.sampled_from(["[[:alpha:]]*", "[[:digit:][:space:]]*", "*[[:nope:]]*", "[[:upper:]-a]*", "[a-[:alpha:]]*"])
LINES = st.lists(st.one_of(GLOBS, GLOBS, CLASSES, st.sampled_from(["**/", "a/**", "/**/b", "*/b/**/*.x"])), max_size=5)


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    with TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CONFIG_HOME"):
            patch.setenv(name, home)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        root = Path(home).resolve() / "tree"
        for file in FILES:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).touch()
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        yield root


def listed_by_git(root: Path) -> list[str]:
    command = ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard"]
    said = subprocess.run(command, check=True, capture_output=True).stdout
    return sorted(os.fsdecode(path) for path in said.split(b"\0") if path)


@given(lines=LINES, deeper=LINES)
@example(lines=["a**/b.x"], deeper=[])
@example(lines=["*", "!*/", "!a*b.x"], deeper=["a.x\\ ", "\\", "!"])
@example(lines=["[!a]*.x", "[^b-]*", "[]-a]*", "[a", "[\\]]*"], deeper=["**", "!**/b"])
@example(lines=["*a*b*.x", "a/*/b", "**/**/b.x", "***/a"], deeper=["?.x", "b/", "/b.x"])
def test_a_tree_is_listed_as_git_lists_it(tree: Path, lines: list[str], deeper: list[str]) -> None:
    (tree / ".gitignore").write_bytes("\n".join(lines).encode())
    (tree / "a/.gitignore").write_bytes("\r\n".join(deeper).encode() + b"\n")
    assert [file.path for file in scan(tree, ScanOptions())] == listed_by_git(tree)


def test_globs_that_a_plain_translation_would_try_for_ever_are_decided(tree: Path) -> None:
    lines = ["*a" * 60 + "b", "**/a" * 60 + "/b", "/" + "**/*a*a*a/" * 20 + "b", "?*" * 60 + "b"]
    file = parse_ignore_file("\n".join(lines).encode())
    path = "/".join(["a" * 60] * 60)
    assert file.verdict(path, "a" * 250, is_folder=False) is None
    assert file.verdict(f"{path}/b", "b", is_folder=False) is True


@pytest.mark.parametrize("content", [b"*.py\n" + b"x" * (1 << 20), b"\0*.py\n", b"\xff\xfe*\0.\0p\0y\0\n", b"["])
def test_what_is_no_ignore_file_leaves_nothing_out(content: bytes) -> None:
    assert parse_ignore_file(content).verdict("a.py", "a.py", is_folder=False) is None
