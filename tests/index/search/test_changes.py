"""Commits found by words, id, branch or path, and the lines that they changed where these are now."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.changes import ChangesQuery
from cqm.index.model.errors import QueryError
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Confidence, Query

pytestmark = pytest.mark.processes

FIRST = "def retry():\n    return 1\n\n\ndef stop():\n    return 2\n"
LIMITED = "def retry():\n    limit = 3\n    return limit\n\n\ndef stop():\n    return 2\n"
LATER = f"import os\n\n\n{LIMITED}"
SECRET = "ghp_" + "x8Zq1LmV0bN7tRk3YpWc5sDf2hGj9KaQe4Uo"


def git(folder: Path, *arguments: str) -> str:
    who = [part for it in ("user.name=x", "user.email=x@example.org", "commit.gpgsign=false") for part in ("-c", it)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", folder, *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environment).stdout.decode().strip()


def commit(root: Path, message: str, **files: str) -> str:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_py", ".py").replace("_md", ".md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", message)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("changes") / "tree"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, "Begin", src__app_py=FIRST)
    commit(
        root,
        "fix: Limit retries of requests (#12)",
        src__app_py=LIMITED,
        tests__test_app_py="def test_it():\n    pass\n",
    )
    git(root, "branch", "limited")
    commit(root, f"Import os with {SECRET}", src__app_py=LATER, a_md="# Title\n")
    # Not committed: the lines move again.
    (root / "src/app.py").write_text(f"# Comment.\n{LATER}")
    return root


@pytest.fixture(scope="module")
def index(tree: Path) -> Iterator[Index]:
    options = IndexOptions(home=tree.parent / "home", workers=1)
    with Index.open(tree, replace(options, embedding=replace(options.embedding, provider="none"))) as opened:
        opened.update()
        yield opened


def test_words_of_a_message_find_the_lines_of_the_commit_where_they_are_now(index: Index) -> None:
    found = index.changes(ChangesQuery("limit the retries of a request"))
    assert (found.is_found, found.commits[0].subject) == (True, "fix: Limit retries of requests (#12)")
    first, second = found.parts
    assert (first.path, first.symbol, first.start_line, first.end_line) == ("src/app.py", "retry", 6, 7)
    assert first.text == "    limit = 3\n    return limit"
    assert (second.path, second.role, found.gone) == ("tests/test_app.py", "test", 0)


def test_lines_of_a_file_that_is_not_indexed_are_not_told_as_gone(index: Index, tree: Path) -> None:
    place = tree / "src/app.py"
    text = place.read_bytes()
    place.write_bytes(b"\0" * 100)
    try:
        found = index.changes(ChangesQuery("limit the retries of a request"))
    finally:
        place.write_bytes(text)
    assert ([it.path for it in found.parts], found.gone, found.others) == (["tests/test_app.py"], 0, 1)


def test_an_id_a_branch_and_two_of_these_name_a_commit(index: Index, tree: Path) -> None:
    limited = git(tree, "rev-parse", "limited")
    for what in (limited, limited[:9], "limited"):
        assert index.changes(ChangesQuery(what)).commits[0].id == limited
    for what in ("HEAD~1", "HEAD^", "@~1", "limited", f"{limited[:9]}~0"):
        assert index.changes(ChangesQuery(what)).commits[0].id == limited
    assert index.changes(ChangesQuery("HEAD~2..HEAD^")).commits[0].id == limited
    with pytest.raises(QueryError, match=r"`HEAD~9`: `HEAD` has no such commit before it"):
        index.changes(ChangesQuery("HEAD~9"))
    between = index.changes(ChangesQuery("limited.."))
    assert {(it.path, it.text) for it in between.parts} == {("src/app.py", "import os"), ("a.md", "# Title")}
    with pytest.raises(QueryError, match=r"no commit `nosuch`"):
        index.changes(ChangesQuery("nosuch..main"))


def test_without_words_the_newest_commits_are_listed_in_pages_and_those_of_a_path_alone(index: Index) -> None:
    page = index.changes(ChangesQuery(limit=2))
    assert [it.subject.split()[0] for it in page.commits] == ["Import", "fix:"]
    assert [it.subject for it in index.changes(ChangesQuery(limit=2, cursor=page.next_cursor)).commits] == ["Begin"]
    assert [it.subject.split()[0] for it in index.changes(ChangesQuery(path="tests")).commits] == ["fix:"]


def test_a_secret_in_a_message_is_redacted_and_words_of_no_message_find_none(index: Index) -> None:
    assert SECRET not in repr(index.changes(ChangesQuery()))
    nothing = index.changes(ChangesQuery("entirely different things"))
    assert not nothing.is_found
    assert not nothing.parts


def test_a_list_of_commits_over_the_limit_is_not_taken_as_whole(
    index: Index, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only Linux can bound the output of git; elsewhere it was cut after so many bytes, and its last commit with it."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nyes 'commit 0000000000000000000000000000000000000000' | head -c 9000000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(QueryError, match="git does not tell the commits"):
        index.changes(ChangesQuery(path="src"))


def test_outside_of_git_and_options_for_git_are_refused(index: Index, tmp_path: Path) -> None:
    assert not index.changes(ChangesQuery("--output=/tmp/x")).is_found
    (tmp_path / "a.py").write_text("x = 1\n")
    with Index.open(tmp_path, index.options) as other, pytest.raises(QueryError, match="outside of git"):
        other.changes(ChangesQuery())


def test_commits_of_a_root_that_begins_with_a_dot_are_found_with_their_lines(index: Index, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / ".tools").mkdir()
    (tmp_path / ".tools/run.py").write_text(FIRST)
    commit(tmp_path, "Add the tool")
    with Index.open(tmp_path / ".tools", index.options) as tools:
        tools.update()
        found = tools.changes(ChangesQuery("Add the tool"))
    assert [it.subject for it in found.commits] == ["Add the tool"]
    assert {part.path for part in found.parts} == {"run.py"}


def test_each_file_of_a_commit_is_named_also_if_it_is_deleted_or_only_lost_lines(index: Index, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, "Begin", app_py=FIRST, old_py="x = 1\ny = 2\n", a_md="# Title\n\nText.\n")
    (tmp_path / "old.py").unlink()
    commit(tmp_path, "Remove what is old", a_md="# Title\n")
    with Index.open(tmp_path, index.options) as opened:
        opened.update()
        found = opened.changes(ChangesQuery("HEAD"))
    assert [(it.path, it.added, it.removed) for it in found.files] == [("old.py", 0, 2), ("a.md", 0, 2)]
    assert (found.parts, found.changed) == ((), 2)


def test_a_path_alone_is_answered_by_the_commits_that_changed_it(index: Index) -> None:
    for what in ("tests/test_app.py", "test_app.py", r"tests\Test_App.py"):
        found = index.changes(ChangesQuery(what))
        assert [it.subject for it in found.commits] == ["fix: Limit retries of requests (#12)"], what


@pytest.mark.parametrize(
    "form",
    [
        "{id}",
        "{short}",
        "what did commit {short} change?",
        "git show {short}",
        "* {short} (HEAD -> main, tag: v1) fix: Limit retries of requests (#12)",
        "{short} fix: Limit retries of requests (#12)\n{short} Begin",
        "commit {id} (tag: v1)\nAuthor: A B <a@example.org>\nDate:   Fri Jan 2 03:04:05 2026 +0000\n\n    fix: Limit",
    ],
)
def test_a_pasted_commit_is_answered_by_its_lines_where_they_are_now(index: Index, tree: Path, form: str) -> None:
    limited = git(tree, "rev-parse", "limited")
    answer = index.search(Query(form.format(id=limited, short=f"{limited[:9]}")))
    first = answer.hits[0]
    assert (first.path, first.asked_line, answer.confidence) == ("src/app.py", 6, Confidence.HIGH)


def test_a_commit_that_git_does_not_have_is_never_sure(index: Index) -> None:
    for form in ("{}", "commit {}", "what did {} change", "{} Limit retries of requests"):
        for name in ("3f2a1bc9d", "9c0ffee" * 5 + "ab1de"):
            assert index.search(Query(form.format(name))).confidence is not Confidence.HIGH


def test_lines_of_git_blame_in_any_form_are_read_without_their_head(index: Index) -> None:
    for head in (
        "3f2a1bc9d 2) ",
        "3f2a1bc9d\t(A B\t2026-01-02 03:04:05 +0000\t2)",
        "^f2a1bc9 (A B 2026-01-02 03:04:05 +0000 2) ",
    ):
        first = index.search(Query(f"{head}    limit = 3")).hits[0]
        assert (first.path, first.start_line <= 6 <= first.end_line) == ("src/app.py", True)
