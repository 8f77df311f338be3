"""`cqm issues fetch`: its options."""

import time
from pathlib import Path
from typing import Any

import click

from cqm.server.cli.options import PARTIAL, as_json_option


@click.group()
def issues() -> None:
    """Fetch issues and pull requests of a GitHub repository."""


@issues.command("fetch")
@click.argument("repository", metavar="OWNER/NAME")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.")
@click.option("--state", type=click.Choice(["all", "open", "closed"]), default="all", help="Only those in this state.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=1000,
    help="Most issues, and most pull requests; the newest are taken.",
)
@click.option("--since", metavar="WHEN", help="Only those changed since then: 12h, 3d, 2w or 2026-03-01.")
@click.option("--prs/--no-prs", "pull_requests", default=True, help="Also fetch pull requests.")
@as_json_option
def fetch_issues(repository: str, *, out: Path, since: str | None, as_json: bool, **asked: Any) -> int:  # noqa: ANN401
    """Write each issue and pull request of OWNER/NAME to a file.

    Unchanged ones are not fetched again. Needs the GitHub CLI (gh), logged in.
    """
    from cqm.server.console import emit, show  # start-up time, here and below
    from cqm.server.issues.fetch import Wanted, fetch, fetched_lines
    from cqm.server.times import parse_when

    moment = parse_when(since, now=time.time(), option="--since") if since else 0.0
    fetched = fetch(Wanted(repository, since=moment, **asked), out)
    if as_json:
        emit(fetched)
    else:
        show(fetched_lines(fetched, str(out)))
    return PARTIAL if fetched.failed else 0
