"""Snapshots made by the workers of Ray, on this machine or a cluster: Ray places, counts, retries and replaces them.

Everything is Ray's: a task a repository, `max_retries` for dead workers and passing failures, `ray.wait` for results.
Ray's own variable RAY_ADDRESS names a cluster; without it this run starts a Ray of its own.
https://docs.ray.io/en/latest/ray-core/fault_tolerance/tasks.html
"""

import logging
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import DISTRIBUTION, how_to_add
from cqm.server.bulk.listed import Repository
from cqm.server.bulk.work import Made, Plan, attempt, export_here
from cqm.server.errors import BulkError

_REUSED = 50
"""Repositories of a worker before Ray replaces it. A start costs 2 s of a core; nothing may pile up in it for ever."""


class TryAgainError(Exception):
    """A repository failed in a way that may pass: Ray retries it. It has a text alone, so that Ray can carry it."""


def made_on_ray(repositories: Sequence[Repository], plan: Plan) -> Iterator[Made]:
    """Make a snapshot of each repository in tasks of Ray; yield each when done.

    All machines of a cluster need the folder of the snapshots, and this version of CQM. A task asks Ray for
    `index.workers` processors, 1 without it.

    Raises:
        BulkError: Ray is not installed, or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError as error:
        raise BulkError("The engine ray needs Ray.", remedy=f"Run `{how_to_add('ray')}`.") from error
    processors = max(1, int(plan.overrides.get("index.workers", "1")))
    is_own = not os.environ.get("RAY_ADDRESS")
    here = {"address": "local", "num_cpus": plan.jobs * processors, "include_dashboard": False} if is_own else {}
    try:
        try:
            ray.init(**here, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # Ray raises bare ones, where a machine is too busy to start it in time
            raise BulkError(f"Ray cannot be used: {error}", remedy="Look at RAY_ADDRESS and Ray's logs.") from error
        given = {"num_cpus": processors, "max_calls": _REUSED, "max_retries": plan.retries}
        task = ray.remote(**given, retry_exceptions=[TryAgainError])(_made)
        ours = version(DISTRIBUTION)
        waiting = {task.options(name=it.name).remote(it, plan, ours): it for it in repositories}
        while waiting:
            for done in ray.wait([*waiting])[0]:
                yield _outcome(done, waiting.pop(done))
    finally:
        ray.shutdown()


def _outcome(done: object, repository: Repository) -> Made:
    """Return the result of a task, or why it has none after all tries."""
    import ray
    from ray.exceptions import RayError

    try:
        made: Made = ray.get(done)
    except TryAgainError as error:  # Ray's own error, which is also of this class
        why = str(getattr(error, "cause", error))
    except RayError as error:
        why = str(error).strip()
    else:
        return made
    return Made(repository.name, repository.source, attempts=1, error=why)


def _made(repository: Repository, plan: Plan, wanted: str) -> Made:
    """Make a snapshot in a worker of Ray; a lasting failure is a result, any other an error."""
    try:
        if (found := version(DISTRIBUTION)) != wanted:
            raise BulkError(f"A machine of the cluster has CQM {found}, not {wanted}.", remedy="Install that on all.")
        if not plan.out.is_dir():
            message = f"A machine of the cluster does not have the folder {plan.out}."
            raise BulkError(message, remedy="Name one that all of them have.")
        return attempt(repository, plan, export_here)
    except CqmError as failure:
        if failure.retryable:
            raise TryAgainError(str(failure)) from None
        return Made(repository.name, repository.source, attempts=1, error=str(failure))
