"""Run GitHub's command line `gh` and explain its failures. It keeps its own token."""

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
"""Fields of `gh issue view --json` and `gh pr view --json` (https://cli.github.com/manual)."""

_SECONDS = 300
_AUTHENTICATION_REQUIRED = 4
"""Exit code of `gh`, see `gh help exit-codes`."""

_REPOSITORY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_TOKEN = re.compile(r"\b(?:gh[a-z]_\w{16,}|github_pat_\w{16,})")

# The REST API also gives a dozen addresses and all details of a review comment's author; these are left out.
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
    """GitHub, or the command line reaching it, can't give the requested data."""


class GoneError(GitHubError):
    """An issue or pull request was deleted or moved after it was listed."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An issue or pull request of a repository, with its last change in ISO 8601."""

    number: int
    updated_at: str


def repository_name(text: str) -> str:
    """Check a repository's name, OWNER/NAME.

    Raises:
        GitHubError: it has another form.
    """
    if not _REPOSITORY.fullmatch(text):
        raise GitHubError(f"{text!r}: expected a repository, OWNER/NAME.", remedy="Write it like cli/cli.")
    return text


def listed(repository: str, command: str, state: str, limit: int) -> list[Listed]:
    """List the issues or pull requests of a repository, the newest first.

    Parameters:
        repository: OWNER/NAME.
        command: "issue" or "pr".
        limit: most items.

    Raises:
        GitHubError: they can't be had.
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
    """Fetch an issue with its comments, in the form of `gh issue view --json`.

    Raises:
        GoneError: it is deleted or moved.
        GitHubError: it can't be had.
    """
    return _values(_output("issue", "view", str(number), "-R", repository, "--json", ISSUE_FIELDS))[0]


def pull_request(repository: str, number: int) -> Json:
    """Fetch a pull request in the form of `gh pr view --json`, with review comments in the form of the REST API.

    Raises:
        GoneError: it is deleted.
        GitHubError: it can't be fetched.
    """
    found = _values(_output("pr", "view", str(number), "-R", repository, "--json", PULL_REQUEST_FIELDS))[0]
    comments = _values(_output("api", "--paginate", f"repos/{repository}/pulls/{number}/comments?per_page=100"))
    return found | {"review_comments": [_slim(comment) for comment in comments]}


def _slim(comment: Json) -> Json:
    user = comment.get("user")
    login = user.get("login") if isinstance(user, dict) else None
    return {"user": {"login": login}} | {key: comment[key] for key in _REVIEW_COMMENT_KEYS if key in comment}


def _values(output: str) -> list[Json]:
    """Parse an output: one object, or lists of them, which older versions of `gh` write one after another."""
    decoder = json.JSONDecoder()
    values: list[Json] = []
    position = 0
    try:
        while output[position:].strip():
            position += len(output[position:]) - len(output[position:].lstrip())
            value, position = decoder.raw_decode(output, position)
            values.extend(value if isinstance(value, list) else [value])
    except ValueError as error:
        raise GitHubError("`gh` did not answer with JSON.", remedy="Update the GitHub CLI.") from error
    return values


def _output(*arguments: str) -> str:
    done = _run(*arguments)
    if done.returncode:
        raise _error(done.returncode, done.stderr)
    return done.stdout


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    # A debugging `gh` writes headers; a prompting one would wait for ever.
    settings = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
    environment = {name: value for name, value in os.environ.items() if _may_have(name)}
    # `gh` asks the git of its working folder for the repository: there is none in the root folder of the disk.
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
        raise GitHubError(f"`gh` cannot be started: {error.strerror or error}.", remedy="Reinstall it.") from error
    except subprocess.TimeoutExpired as error:
        message = f"`gh` did not answer in {_SECONDS} seconds."
        raise GitHubError(message, remedy="Look at the network, and run it again.", retryable=True) from error


def _may_have(name: str) -> bool:
    """Whether `gh` gets a variable: none which makes it write headers or redirects its git."""
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
        remedy = "Check the spelling, and the rights of your login."
        return GitHubError(f"GitHub has no such repository for you: {first}", remedy=remedy)
    if "Could not resolve to" in said or "HTTP 404" in said:
        return GoneError(f"Deleted or moved: {first}")
    return GitHubError(f"`gh` failed: {first}", retryable=True)


def _reset() -> str:
    """Tell when the used-up rate limits are reset. Asking does not count against them."""
    try:
        limits = json.loads(_run("api", "rate_limit").stdout)["resources"].values()
        resets = [limit["reset"] for limit in limits if limit["remaining"] == 0]
        at = datetime.fromtimestamp(max(resets), UTC).astimezone()
    except (GitHubError, ValueError, KeyError, TypeError, AttributeError):
        # GitHub gives no reset time for a secondary limit; its documentation says to wait a minute at least.
        return "in a few minutes"
    return f"after {at:%H:%M} ({at:%Z})"
