"""A service that failed is left alone for a while, then tried by one call."""

import pytest
from clock import Clock

from cqm.index.remote.breaker import Breaker


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(60.0, clock)


def test_a_service_that_works_is_admitted(breaker: Breaker) -> None:
    breaker.worked()
    assert breaker.admits()
    assert not breaker.is_open
    assert breaker.reason == ""


def test_after_a_failure_nobody_is_admitted_until_the_time_is_over(breaker: Breaker, clock: Clock) -> None:
    breaker.failed("it is down")
    clock.now = 59.9
    assert breaker.is_open
    assert not breaker.admits()
    assert breaker.reason == "it is down"


def test_then_one_caller_tries_and_the_others_wait_for_what_it_tells(breaker: Breaker, clock: Clock) -> None:
    breaker.failed("it is down")
    clock.now = 60.0
    assert [breaker.admits() for _ in range(3)] == [True, False, False]
    breaker.worked()
    assert [breaker.admits() for _ in range(3)] == [True, True, True]


def test_a_try_that_fails_begins_the_time_anew(breaker: Breaker, clock: Clock) -> None:
    breaker.failed()
    clock.now = 60.0
    assert breaker.admits()
    clock.now = 70.0
    breaker.failed("still down")
    clock.now = 129.9
    assert not breaker.admits()
    clock.now = 130.0
    assert breaker.admits()


def test_a_caller_that_never_tells_how_it_went_does_not_keep_the_others_out_for_ever(
    breaker: Breaker, clock: Clock
) -> None:
    breaker.failed()
    clock.now = 60.0
    assert breaker.admits()
    clock.now = 120.0
    assert breaker.admits()


def test_a_service_that_may_be_mended_is_tried_by_one_caller_before_the_time_is_over(
    breaker: Breaker, clock: Clock
) -> None:
    breaker.half_open()
    assert [breaker.admits() for _ in range(2)] == [True, True]
    breaker.failed("it is down")
    clock.now = 10.0
    breaker.half_open()
    assert breaker.reason == "it is down"
    assert [breaker.admits() for _ in range(2)] == [True, False]
