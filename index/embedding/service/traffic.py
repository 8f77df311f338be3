"""Requests to one service: within its limits, at its pace, repeated on failure, measured and counted."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock

from cqm.chunkers.tokens import estimate
from cqm.index.embedding.service.base import Meter
from cqm.index.embedding.service.pace import Pace
from cqm.index.embedding.service.service import Answer, Role, Service
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Space
from cqm.index.remote.rates import Clock, RateLimit
from cqm.index.remote.retries import RetryPolicy, TimedOutError, TransientError, with_retries


@dataclass(frozen=True, slots=True)
class Traffic:
    """Access to a service from any number of threads.

    Attributes:
        space: of its vectors; 0 dimensions before the first answer.
        pace: limits requests under way at once.
        rate: limits requests and tokens per minute.
        pools: whether texts over the context are embedded in parts; otherwise they are cut.
    """

    service: Service
    space: Space
    retries: RetryPolicy
    pace: Pace
    rate: RateLimit
    meter: Meter
    clock: Clock
    pools: bool

    def ask(self, texts: Sequence[str], role: Role, *, patient: bool, truncate: bool = False) -> Answer:
        """Send one request, repeated by the retry policy; raises as `Service.embed`.

        Parameters:
            texts: with their prefixes.
            patient: wait for a free slot and use all retries; else try briefly. A patient request with several texts is
                not repeated after a time-out: the caller sends fewer.
        """
        policy = replace(self.retries, repeats_time_outs=len(texts) == 1) if patient else self.retries.brief()
        with self.pace.slot() if patient else nullcontext():
            return with_retries(lambda: self._once(texts, role, patient=patient, truncate=truncate), policy)

    def _once(self, texts: Sequence[str], role: Role, *, patient: bool, truncate: bool) -> Answer:
        estimated = sum(map(estimate, texts))
        self.rate.take(estimated, waits=patient)
        began = self.clock.monotonic()
        try:
            answer = self.service.embed(texts, role, truncate=truncate)
        except TimedOutError:
            self.pace.timed_out(len(texts), estimated)
            raise
        except TransientError as error:
            if error.retry_after is not None and error.retry_after <= self.retries.longest_retry_after:
                self.rate.hold(error.retry_after)  # requests of other threads would be refused as well
            raise
        seconds = self.clock.monotonic() - began
        self.pace.answered(len(texts), estimated, seconds)
        tokens = estimated if answer.tokens is None else answer.tokens
        self.rate.settle(estimated, tokens)
        self.meter.add(Usage(1, len(texts), tokens, 0, self.service.facts.usd(tokens), seconds), role)
        return answer


class SharedTraffic:
    """Counts the calls using a service. After `give_up`, only calls already inside may enter again."""

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
