"""Count a service's usage from any number of threads."""

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
        """Add usage for a role."""
        with self._lock:
            self._of_role[role] += usage

    def total(self, role: Role | None = None) -> Usage:
        """Usage so far, of one role or of both."""
        with self._lock:
            return self._of_role[role] if role else sum(self._of_role.values(), Usage())
