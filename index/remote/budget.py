"""Money a process may still spend at a service, shared by threads."""

from collections.abc import Callable
from threading import Condition


class Budget:
    """Admit a request only if its highest price still fits. Methods may be called from any thread.

    The highest price of each running request is set aside, so several threads together keep to the limit.

    Parameters:
        usd: limit in dollars; 0 for none.
        spent: returns the dollars spent so far.
    """

    def __init__(self, usd: float, spent: Callable[[], float]) -> None:
        self.usd = usd
        self._spent = spent
        self._set_aside: list[float] = []
        self._settled = Condition()

    @property
    def left(self) -> float:
        """Dollars left beside running requests."""
        return self.usd - self._spent()

    def take(self, most: float) -> bool:
        """Set a request's highest price aside; return false if it does not fit.

        Waits while running requests may still turn out cheap enough. End each admitted request with `settle`.

        Parameters:
            most: dollars.
        """
        with self._settled:
            self._settled.wait_for(lambda: not self._set_aside or self._fits(most))
            if not self._fits(most):
                return False
            self._set_aside.append(most)
            return True

    def settle(self, most: float) -> None:
        """Free the price set aside for a request. Count its real price before."""
        with self._settled:
            self._set_aside.remove(most)
            self._settled.notify_all()

    def _fits(self, most: float) -> bool:
        return not self.usd or self._spent() + sum(self._set_aside) + most <= self.usd
