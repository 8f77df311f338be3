"""`cqm issues fetch`, with an executable in the place of `gh` that answers with JSON of the documented shapes."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = [
    pytest.mark.row("D6"),
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for gh is a script"),
]

# Answers `list`, `view` and `api` from a folder as gh 2 does, and writes down what it was asked.
GH = """#!{python}
import json, os, pathlib, sys
home = pathlib.Path({home!r})
arguments = sys.argv[1:]
with open(home / "calls", "a") as calls:
    calls.write(" ".join(arguments) + "\\n")
if any(name in os.environ for name in ("GH_DEBUG", "GH_FORCE_TTY")):
    sys.exit("asked to chatter")
failure = home / "failure"
if arguments == ["api", "rate_limit"]:
    print((home / "rate_limit").read_text())
    sys.exit()
if failure.exists() and arguments[1] != "list":
    code, said = failure.read_text().split(" ", 1)
    sys.stderr.write(said)
    sys.exit(int(code))
if arguments[0] == "api":
    number = arguments[2].split("/")[4]
    print((home / f"comments-{{number}}").read_text())
    sys.exit()
records = json.loads((home / arguments[0]).read_text())
if arguments[1] == "list":
    if records is None:
        sys.exit("the 'o/r' repository has disabled issues")
    if records == "missing":
        sys.exit("GraphQL: Could not resolve to a Repository with the name 'o/r'. (repository)")
    limit = int(arguments[arguments.index("--limit") + 1])
    state = arguments[arguments.index("--state") + 1]
    found = [record for record in records if state in ("all", record["state"].lower())][:limit]
    print(json.dumps([{{"number": record["number"], "updatedAt": record["updatedAt"]}} for record in found]))
else:
    asked = [record for record in records if record["number"] == int(arguments[2])]
    if "gone" in asked[0]:
        sys.exit("GraphQL: Could not resolve to an issue or pull request with the number of 3. (repository.issue)")
    fields = arguments[arguments.index("--json") + 1].split(",")
    print(json.dumps({{field: asked[0].get(field) for field in fields}}))
"""

ISSUES: list[dict[str, Any]] = [
    {
        "assignees": [],
        "author": {"id": "U_1", "is_bot": False, "login": "alice", "name": ""},
        "body": "The zyxometer overflows.",
        "comments": [],
        "createdAt": "2024-01-01T09:00:00Z",
        "labels": [],
        "number": number,
        "state": state,
        "title": f"Overflow {number}",
        "updatedAt": f"2024-0{number}-05T09:00:00Z",
        "url": f"https://github.com/o/r/issues/{number}",
    }
    for number, state in ((3, "OPEN"), (2, "CLOSED"), (1, "OPEN"))
]
PULLS = [
    ISSUES[0]
    | {
        "number": 4,
        "title": "Widen the counter",
        "body": "Closes #1.",
        "url": "https://github.com/o/r/pull/4",
        "headRefName": "wide",
        "baseRefName": "main",
        "reviews": [],
        "files": [{"path": "src/counter.py", "additions": 1, "deletions": 1}],
    }
]
REVIEW_COMMENT = {
    "url": "https://api.github.com/repos/o/r/pulls/comments/1",
    "id": 1,
    "diff_hunk": "@@ -40 +40 @@\n-    self.count: int16\n+    self.count: int64",
    "path": "src/counter.py",
    "user": {"login": "bob", "id": 2, "avatar_url": "https://avatars.example/2"},
    "body": "Would 32 bits do?",
    "created_at": "2024-01-03T08:00:00Z",
    "html_url": "https://github.com/o/r/pull/4#discussion_r1",
    "pull_request_url": "https://api.github.com/repos/o/r/pulls/4",
    "line": 42,
}


@dataclass(frozen=True, slots=True)
class GitHub:
    """All that the stand-in answers from."""

    home: Path

    def hold(self, name: str, value: object) -> None:
        (self.home / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")

    def calls(self) -> list[str]:
        """Return what was asked since the last time."""
        asked = self.home / "calls"
        lines = asked.read_text().splitlines() if asked.exists() else []
        asked.unlink(missing_ok=True)
        return lines


@pytest.fixture
def github(cqm: "Cqm", tmp_path: Path) -> GitHub:
    home = tmp_path / "github"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "gh"
    program.write_text(GH.format(python=sys.executable, home=str(home)))
    program.chmod(0o755)
    cqm.environment["PATH"] = f"{home / 'bin'}{os.pathsep}{cqm.environment['PATH']}"
    held = GitHub(home)
    held.hold("issue", ISSUES)
    held.hold("pr", PULLS)
    # Pages of `gh api --paginate` come as arrays one after another.
    held.hold("comments-4", json.dumps([REVIEW_COMMENT]) + json.dumps([REVIEW_COMMENT | {"id": 2, "line": 50}]))
    return held


@pytest.fixture
def fetch(cqm: "Cqm", github: GitHub) -> Callable[..., Any]:
    def run(*options: str, code: int = 0) -> Any:
        return cqm.json("issues", "fetch", "o/r", "--out", "tracker", *options, code=code)

    return run


def files(cqm: "Cqm") -> list[str]:
    return sorted(
        path.relative_to(cqm.project).as_posix() for path in cqm.project.glob("tracker/**/*") if path.is_file()
    )


def test_each_issue_and_pull_request_becomes_a_file(cqm: "Cqm", fetch: Callable[..., Any]) -> None:
    assert fetch() == {"written": 4, "unchanged": 0, "failed": []}
    assert files(cqm) == [f"tracker/{name}.json" for name in ("issues/1", "issues/2", "issues/3", "pulls/4")]
    assert json.loads(cqm.text("tracker/issues/2.json"))["title"] == "Overflow 2"
    comments = json.loads(cqm.text("tracker/pulls/4.json"))["review_comments"]
    assert [comment["line"] for comment in comments] == [42, 50]
    assert "avatar" not in cqm.text("tracker/pulls/4.json")


def test_what_was_fetched_is_found_by_its_words_and_beside_the_code(cqm: "Cqm", fetch: Callable[..., Any]) -> None:
    fetch()
    assert cqm.paths("zyxometer", "--limit", "1")[0].startswith("tracker/issues/")
    results = cqm.json("search", "counter.py int64")["results"]
    assert results[0]["path"] == "tracker/pulls/4.json"
    # Two comments say the same.
    assert results[0]["symbol"].startswith("#4 Widen the counter > src/counter.py:")


def test_only_what_has_changed_is_fetched_again(fetch: Callable[..., Any], github: GitHub) -> None:
    fetch()
    github.calls()
    github.hold("issue", [ISSUES[0] | {"updatedAt": "2024-06-01T00:00:00Z"}, *ISSUES[1:]])
    assert fetch() == {"written": 1, "unchanged": 3, "failed": []}
    assert [call.split()[:3] for call in github.calls() if " view " in call] == [["issue", "view", "3"]]


def test_a_damaged_file_is_fetched_again(cqm: "Cqm", fetch: Callable[..., Any]) -> None:
    fetch()
    (cqm.project / "tracker/issues/1.json").write_text("{")
    assert fetch()["written"] == 1
    assert json.loads(cqm.text("tracker/issues/1.json"))["number"] == 1


def test_options_choose_what_is_fetched(cqm: "Cqm", fetch: Callable[..., Any]) -> None:
    fetch("--state", "closed", "--no-prs")
    assert files(cqm) == ["tracker/issues/2.json"]
    fetch("--since", "2024-03-01", "--no-prs")
    assert files(cqm) == ["tracker/issues/2.json", "tracker/issues/3.json"]
    fetch("--limit", "1")
    assert files(cqm) == ["tracker/issues/2.json", "tracker/issues/3.json", "tracker/pulls/4.json"]


def test_an_issue_that_is_gone_does_not_stop_the_others(fetch: Callable[..., Any], github: GitHub) -> None:
    github.hold("issue", [ISSUES[0] | {"gone": True}, *ISSUES[1:]])
    done = fetch(code=1)
    assert done["written"] == 3
    assert done["failed"][0].startswith("#3: ")


def test_a_repository_without_issues_still_has_pull_requests(
    cqm: "Cqm", fetch: Callable[..., Any], github: GitHub
) -> None:
    github.hold("issue", None)
    fetch()
    assert files(cqm) == ["tracker/pulls/4.json"]


def test_without_gh_it_says_how_to_install_it(cqm: "Cqm") -> None:
    done = cqm.run("issues", "fetch", "o/r", "--out", "tracker", PATH="/nonexistent")
    assert done.returncode == 1
    assert "`gh` is not installed" in done.stderr
    assert "https://cli.github.com" in done.stderr
    assert files(cqm) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("4 To get started with GitHub CLI, please run:  gh auth login\n", "Run `gh auth login`."),
        ("1 HTTP 401: Bad credentials (https://api.github.com/graphql)\n", "Run `gh auth login`."),
        (
            "1 error connecting to api.github.com\ncheck your internet connection\n",
            "error connecting to api.github.com",
        ),
        ("1 odd token ghp_abcdefghijklmnopqrstuvwxyz0123456789\n", "odd token ***"),
    ],
)
def test_what_gh_complains_of_is_explained(cqm: "Cqm", github: GitHub, said: str, expected: str) -> None:
    github.hold("failure", said)
    done = cqm.run("issues", "fetch", "o/r", "--out", "tracker")
    assert done.returncode == 1
    assert expected in done.stderr
    assert "ghp_" not in done.stderr


def test_a_repository_that_does_not_exist_is_named(cqm: "Cqm", github: GitHub) -> None:
    github.hold("issue", json.dumps("missing"))
    done = cqm.run("issues", "fetch", "o/r", "--out", "tracker")
    assert (done.returncode, "'o/r'" in done.stderr) == (1, True)
    assert "no such repository" in done.stderr


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"core": {"remaining": 9, "reset": 0}, "graphql": {"remaining": 0, "reset": 1767225600}}, "after 00:00 (UTC)"),
        ({"core": {"remaining": 9, "reset": 0}}, "in a few minutes"),
    ],
)
def test_a_rate_limit_tells_when_it_ends(cqm: "Cqm", github: GitHub, limits: dict[str, object], expected: str) -> None:
    github.hold("failure", "1 GraphQL: API rate limit exceeded for user ID 1.\n")
    github.hold("rate_limit", {"resources": limits})
    done = cqm.run("issues", "fetch", "o/r", "--out", "tracker", TZ="UTC")
    assert done.returncode == 1
    assert f"Run the command again {expected}" in done.stderr


@pytest.mark.parametrize("name", ["o", "o/r/x", "o/..", "--help/x", "o/r; ls", "o/r\n", "https://github.com/o/r", "/r"])
def test_what_is_no_repository_is_refused_before_anything_runs(cqm: "Cqm", github: GitHub, name: str) -> None:
    done = cqm.run("issues", "fetch", "--out", "tracker", "--", name)
    assert done.returncode != 0
    assert "expected a repository" in done.stderr
    assert github.calls() == []


def test_variables_that_make_gh_talk_are_kept_from_it(cqm: "Cqm", github: GitHub) -> None:
    done = cqm.run("issues", "fetch", "o/r", "--out", "tracker", GH_DEBUG="api", GH_FORCE_TTY="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4 fetched to tracker, 0 unchanged\n"
