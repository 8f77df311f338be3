"""A service that several calls use at once, closed when it is given up and the last of them has left."""

from threading import Lock

from cqm.index.embedding.service.traffic import Traffic


class SharedTraffic:
    """Counts the calls that use a service. Who enters after it was given up must be somebody who is still inside.

    Parameters:
        traffic: the way to the service.
    """

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic
        self._lock = Lock()
        self._users = 0
        self._is_given_up = False

    def enter(self) -> None:
        """A call begins."""
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """A call is over."""
        with self._lock:
            self._users -= 1
            is_last = self._is_given_up and not self._users
        if is_last:
            self.traffic.service.close()

    def give_up(self) -> None:
        """No further call will enter. The connections of those that are inside stay until they have left."""
        with self._lock:
            is_last = not self._is_given_up and not self._users
            self._is_given_up = True
        if is_last:
            self.traffic.service.close()
