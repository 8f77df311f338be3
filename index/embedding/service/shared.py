"""A service used by several calls at once, closed when it is given up and the last of them has left."""

from threading import Lock

from cqm.index.embedding.service.traffic import Traffic


class SharedTraffic:
    """Counts the calls using a service. After `give_up`, only calls already inside may enter again.

    Parameters:
        traffic: the way to the service.
    """

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic
        self._lock = Lock()
        self._users = 0
        self._is_given_up = False

    def enter(self) -> None:
        """Begin a call."""
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """End a call."""
        with self._lock:
            self._users -= 1
            is_last = self._is_given_up and not self._users
        if is_last:
            self.traffic.service.close()

    def give_up(self) -> None:
        """Let no further call enter. Calls inside keep the connections until they have left."""
        with self._lock:
            is_last = not self._is_given_up and not self._users
            self._is_given_up = True
        if is_last:
            self.traffic.service.close()
