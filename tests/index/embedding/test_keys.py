"""Keys from the environment and from files."""

import os
from pathlib import Path

import pytest

from cqm.index.model.errors import EmbeddingError
from cqm.index.remote.keys import read_key

posix = pytest.mark.skipif(os.name != "posix", reason="files have no such permissions here")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text("sk-from-file\n")
    path.chmod(0o600)
    return path


def test_the_key_is_read_from_the_file(file: Path) -> None:
    assert read_key("CQM_TEST_SECRET", str(file), {}) == "sk-from-file"


def test_the_variable_wins_unless_it_is_blank(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_key("CQM_TEST_SECRET", str(file), {"CQM_TEST_SECRET": " sk-from-variable "}) == "sk-from-variable"
    assert read_key("CQM_TEST_SECRET", str(file), {"CQM_TEST_SECRET": " "}) == "sk-from-file"


def test_no_variable_and_no_file_give_no_key() -> None:
    assert read_key("CQM_TEST_NOT_SET", "", {}) == ""
    assert read_key("", "", {}) == ""


def test_the_file_may_be_below_the_users_home(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(file.parent))
    monkeypatch.setenv("USERPROFILE", str(file.parent))
    assert read_key("CQM_TEST_SECRET", "~/key", {}) == "sk-from-file"


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_file_that_others_can_use_is_refused_with_the_command_that_mends_it(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(EmbeddingError, match=rf"others than its owner \(mode {mode:o}\)\. Run `chmod 600 .*key`"):
        read_key("CQM_TEST_SECRET", str(file), {})


@pytest.mark.parametrize("content", ["", "\n", "two words", "sk-1\nsk-2\n", "sk-\x00", "ключ", "x" * 9000])
def test_a_file_that_holds_something_else_than_a_key_is_refused_without_showing_it(file: Path, content: str) -> None:
    file.write_bytes(content.encode())
    with pytest.raises(EmbeddingError, match="does not hold exactly one key") as caught:
        read_key("CQM_TEST_SECRET", str(file), {})
    assert not content.strip() or content not in str(caught.value)


def test_a_file_that_is_missing_or_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(EmbeddingError, match=r"key file .* cannot be read"):
            read_key("CQM_TEST_NOT_SET", str(path), {})


@pytest.mark.parametrize("key", ["two words", "sk-1\nX-Other: sk-2", "sk-\x01", "ключ", "x" * 9000])
def test_a_variable_that_holds_something_else_than_a_key_is_refused_without_showing_it(
    key: str,
) -> None:
    """Once a client's own message quoted a key with a line break in it."""
    with pytest.raises(EmbeddingError, match="variable CQM_TEST_SECRET does not hold exactly one key") as caught:
        read_key("CQM_TEST_SECRET", "", {"CQM_TEST_SECRET": key})
    assert key not in str(caught.value)
    assert caught.value.remedy


@posix
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(EmbeddingError, match="it is no file"):
        read_key("CQM_TEST_NO_SUCH_KEY", str(tmp_path / "pipe"), {})
