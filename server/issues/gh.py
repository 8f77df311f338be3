"""The `gh` command line of GitHub: the one place that runs it and explains what goes wrong. It keeps its own token."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cqm.chunkers.errors import CqmError
from cqm.index.files import git

ISSUE_FIELDS = (
    "assignees,author,body,closedAt,comments,createdAt,labels,milestone,number,state,stateReason,title,updatedAt,url"
)
PULL_REQUEST_FIELDS = (
    "assignees,author,baseRefName,body,closedAt,comments,createdAt,files,headRefName,isDraft,labels,mergedAt,number,"
    "reviews,state,title,updatedAt,url"
)
"""Of `gh issue view --json` and `gh pr view --json` (https://cli.github.com/manual)."""

_SECONDS = 300
_AUTHENTICATION_REQUIRED = 4
"""The exit code of `gh`, see `gh help exit-codes`."""

_REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_TOKEN = re.compile(r"\b(?:gh[a-z]_\w{16,}|github_pat_\w{16,})")

# Of a review comment the REST API also tells of a dozen addresses and all of its author.
_REVIEW_COMMENT_KEYS = (
    "id",
    "in_reply_to_id",
    "path",
    "line",
    "original_line",
    "side",
    "diff_hunk",
    "body",
    "created_at",
    "updated_at",
    "html_url",
    "pull_request_url",
)

Json = dict[str, object]


class GitHubError(CqmError):
    """GitHub, or the command line that reaches it, cannot give what was asked for."""


class GoneError(GitHubError):
    """An issue or pull request was there when they were listed, and is deleted or moved now."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An issue or pull request of a repository, and when it last changed in ISO 8601."""

    number: int
    updated_at: str


def repository_name(text: str) -> str:
    """OWNER/NAME, when that is what a text is.

    Raises:
        GitHubError: it is not.
    """
    if not _REPOSITORY.fullmatch(text):
        raise GitHubError(f"{text!r} is no repository.", remedy="Write OWNER/NAME, such as cli/cli.")
    return text


def listed(repository: str, command: str, state: str, limit: int) -> list[Listed]:
    """The issues or pull requests of a repository, the newest first.

    Parameters:
        repository: OWNER/NAME.
        command: "issue" or "pr".
        state: "open", "closed" or "all".
        limit: how many at most.

    Raises:
        GitHubError: they cannot be had.
    """
    asked = (command, "list", "-R", repository, "--state", state, "--limit", str(limit), "--json", "number,updatedAt")
    try:
        items = _values(_output(*asked))
    except GitHubError as error:
        if "has disabled issues" in error.message:
            return []
        raise
    return [Listed(item["number"], item["updatedAt"]) for item in items]  # type: ignore[arg-type]


def issue(repository: str, number: int) -> Json:
    """An issue with its comments, as `gh issue view --json` writes it.

    Raises:
        GoneError: it is deleted or moved.
        GitHubError: it cannot be had.
    """
    return _values(_output("issue", "view", str(number), "-R", repository, "--json", ISSUE_FIELDS))[0]


def pull_request(repository: str, number: int) -> Json:
    """A pull request as `gh pr view --json` writes it, and its review comments as the REST API does.

    Raises:
        GoneError: it is deleted.
        GitHubError: it cannot be had.
    """
    found = _values(_output("pr", "view", str(number), "-R", repository, "--json", PULL_REQUEST_FIELDS))[0]
    comments = _values(_output("api", "--paginate", f"repos/{repository}/pulls/{number}/comments?per_page=100"))
    return found | {"review_comments": [_slim(comment) for comment in comments]}


def _slim(comment: Json) -> Json:
    user = comment.get("user")
    login = user.get("login") if isinstance(user, dict) else None
    return {"user": {"login": login}} | {key: comment[key] for key in _REVIEW_COMMENT_KEYS if key in comment}


def _values(output: str) -> list[Json]:
    """The objects of an output: one, or lists of them, which older versions of `gh` write one after another."""
    decoder = json.JSONDecoder()
    values: list[Json] = []
    position = 0
    try:
        while output[position:].strip():
            position += len(output[position:]) - len(output[position:].lstrip())
            value, position = decoder.raw_decode(output, position)
            values.extend(value if isinstance(value, list) else [value])
    except ValueError as error:
        raise GitHubError("`gh` answered with something that is no JSON.", remedy="Update the GitHub CLI.") from error
    return values


def _output(*arguments: str) -> str:
    done = _run(*arguments)
    if done.returncode:
        raise _error(done.returncode, done.stderr)
    return done.stdout


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    # A debugging `gh` writes headers; one that asks would wait for ever.
    settings = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
    environment = {name: value for name, value in os.environ.items() if _may_have(name)}
    # `gh` asks the git of its working folder which repository it is in: none, in the root folder of the disk.
    program = git.program("gh", Path.cwd())
    if program is None:
        remedy = "Install it from https://cli.github.com and run `gh auth login`."
        raise GitHubError("The GitHub CLI `gh` is not installed.", remedy=remedy)
    try:
        return subprocess.run(
            [program, *arguments],
            cwd=os.sep,
            env=environment | settings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise GitHubError(f"`gh` cannot be started: {error.strerror or error}.") from error
    except subprocess.TimeoutExpired as error:
        raise GitHubError(f"`gh` has not answered in {_SECONDS} seconds.", retryable=True) from error


def _may_have(name: str) -> bool:
    """Whether `gh` gets a variable: none that makes it write headers, and none that redirects its git."""
    return name not in {"GH_DEBUG", "GH_FORCE_TTY", "GH_REPO"} and not name.startswith("GIT_")


def _error(code: int, said: str) -> GitHubError:
    lines = [line for line in _TOKEN.sub("***", said).splitlines() if line.strip()]
    first = lines[0].strip() if lines else f"exit code {code}"
    if code == _AUTHENTICATION_REQUIRED or "gh auth login" in said or "HTTP 401" in said:
        return GitHubError("The GitHub CLI is not logged in.", remedy="Run `gh auth login`.")
    if "rate limit" in said.lower():
        remedy = f"Run the command again {_reset()}; it goes on where it stopped."
        return GitHubError("GitHub's rate limit is reached.", remedy=remedy, retryable=True)
    if "Could not resolve to a Repository" in said:
        remedy = "Check the spelling, and that your login may read it."
        return GitHubError(f"GitHub has no such repository for you: {first}", remedy=remedy)
    if "Could not resolve to" in said or "HTTP 404" in said:
        return GoneError(f"It is gone: {first}")
    return GitHubError(f"`gh` failed: {first}", retryable=True)


def _reset() -> str:
    """When the rate limits that are used up begin anew. Asking for that costs nothing of them."""
    try:
        limits = json.loads(_run("api", "rate_limit").stdout)["resources"].values()
        resets = [limit["reset"] for limit in limits if limit["remaining"] == 0]
        at = datetime.fromtimestamp(max(resets), UTC).astimezone()
    except (GitHubError, ValueError, KeyError, TypeError, AttributeError):
        # A secondary limit has no reset that GitHub tells; its documentation says to wait for a minute at least.
        return "in a few minutes"
    return f"after {at:%H:%M} ({at:%Z})"
