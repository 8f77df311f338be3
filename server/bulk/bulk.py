"""Make the snapshots of many repositories, each tried again where it fails, by an engine of the user's choice."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

from cqm.chunkers.errors import CqmError
from cqm.server.bulk.listed import Repository
from cqm.server.bulk.work import Made, Plan, attempt, export_by_command

Engine = Callable[[Sequence[Repository], Plan], Iterator[Made]]
"""Yield the outcome of each repository when done; a failing one leaves the others."""


def make_snapshots(
    repositories: Sequence[Repository], plan: Plan, report: Callable[[Made], None], engine: str = "local"
) -> list[Made]:
    """Make a snapshot of each repository; a failing one leaves the others.

    Parameters:
        report: called with each outcome.
        engine: a key of `ENGINES`.

    Raises:
        BulkError: the engine cannot be started.
    """
    plan.out.mkdir(parents=True, exist_ok=True)
    made = []
    for one in ENGINES[engine](repositories, plan):
        made.append(one)
        report(one)
    order = {it.name: place for place, it in enumerate(repositories)}
    return sorted(made, key=lambda it: order[it.name])


def _locally(repositories: Sequence[Repository], plan: Plan) -> Iterator[Made]:
    """Run `cqm export` in a process for each repository, some at a time."""
    with ThreadPoolExecutor(plan.jobs) as threads:
        try:
            for future in as_completed([threads.submit(_tried, it, plan) for it in repositories]):
                yield future.result()
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise


def _tried(repository: Repository, plan: Plan) -> Made:
    began, error, tries = time.monotonic(), "", 0
    while tries <= plan.retries:
        tries += 1
        try:
            made = attempt(repository, plan, export_by_command)
        except CqmError as failure:
            error = str(failure)
            if not failure.retryable:
                break
            continue
        return made if made.kept else replace(made, attempts=tries, seconds=time.monotonic() - began)
    return Made(repository.name, repository.source, attempts=tries, seconds=time.monotonic() - began, error=error)


def _on_ray(repositories: Sequence[Repository], plan: Plan) -> Iterator[Made]:
    from cqm.server.bulk.on_ray import made_on_ray  # an extra

    return made_on_ray(repositories, plan)


ENGINES: Mapping[str, Engine] = {"local": _locally, "ray": _on_ray}
