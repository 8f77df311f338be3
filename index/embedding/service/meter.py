"""Counts what a service was used for, from any number of threads."""

from collections import defaultdict
from threading import Lock

from cqm.index.embedding.service.service import Role
from cqm.index.model.progress import Usage


class Meter:
    """Sums of `Usage`, one for each role of texts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of_role: defaultdict[Role, Usage] = defaultdict(Usage)

    def add(self, usage: Usage, role: Role) -> None:
        """Count some more."""
        with self._lock:
            self._of_role[role] += usage

    def total(self, role: Role | None = None) -> Usage:
        """All that was counted, of one role or of both."""
        with self._lock:
            return self._of_role[role] if role else sum(self._of_role.values(), Usage())
