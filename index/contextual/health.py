"""Whether a service that writes is asked: not while it fails, and not for what some of its prompts do to it."""

from threading import Lock

from cqm.chunkers.errors import CqmError
from cqm.index.embedding.service.base import RefusedInputError
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.retries import TransientError

RETRY_SECONDS = 60.0
"""How long a service that failed is left alone."""
_MOST_IN_A_ROW = 3
"""So many failed prompts without a success between them are the service's fault rather than theirs."""


class Health:
    """The state of one service; its methods may be called from any thread.

    Parameters:
        breaker: opened when the service fails.
    """

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._lock = Lock()
        self._in_a_row = 0

    @property
    def is_good(self) -> bool:
        """Whether the service is not left alone now."""
        return not self._breaker.is_open

    def problem(self) -> str:
        """Why the service is left alone now; empty when the caller may ask it, and then tells how that went."""
        if self._breaker.admits():
            return ""
        return self._breaker.reason or "The service failed and is tried again by another request."

    def half_open(self) -> None:
        """See `Breaker.half_open`."""
        self._breaker.half_open()

    def worked(self) -> None:
        """It answered."""
        with self._lock:
            self._in_a_row = 0
        self._breaker.worked()

    def failed(self, error: CqmError) -> bool:
        """It did not answer a prompt, however often it was asked.

        Returns:
            Whether it refused the prompt for what that is, and will again.
        """
        with self._lock:
            self._in_a_row += 1
            is_one_of_many = self._in_a_row < _MOST_IN_A_ROW
        refused = isinstance(error, RefusedInputError) and is_one_of_many
        if refused:
            # It is there, and says no.
            self._breaker.worked()
        elif not (is_one_of_many and isinstance(error, TransientError) and error.maybe_input):
            self._breaker.failed(str(error))
        return refused
