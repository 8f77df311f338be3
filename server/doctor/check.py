"""The outcome of a check of `cqm doctor`."""

from dataclasses import dataclass

from cqm.server.doctor.machine_checks import Verdict


@dataclass(frozen=True, slots=True)
class Checked:
    """A finished check: its name, result and duration."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str
    seconds: float
