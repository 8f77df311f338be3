"""Moments as people write and read them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.server.errors import WhenError
from cqm.server.times import ago, parse_when

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30m", NOW - 1800),
        ("12h", NOW - 43_200),
        ("3d", NOW - 259_200),
        (" 2 W ", NOW - 1_209_600),
        ("2026-03-10T11:59:00Z", NOW - 60),
        ("2026-03-10T13:00:00+02:00", NOW - 3600),
        ("2026-03-01", datetime(2026, 3, 1).astimezone().timestamp()),
    ],
)
def test_a_moment_is_a_span_back_or_a_date(text: str, moment: float) -> None:
    assert parse_when(text, now=NOW, option="--changed-since") == moment


@pytest.mark.parametrize("text", ["", "yesterday", "3 years", "-3d", "2026-13-01"])
def test_what_is_neither_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(WhenError, match=r"^`--changed-since .*`: expected a span such as 2d or a date such as"):
        parse_when(text, now=NOW, option="--changed-since")


@given(st.text(max_size=30))
def test_no_text_makes_anything_but_a_number_or_the_refusal(text: str) -> None:
    try:
        moment = parse_when(text, now=NOW, option="--changed-since")
    except WhenError:
        return
    assert isinstance(moment, float)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(59, "just now"), (60, "1 minute ago"), (7200, "2 hours ago"), (86_400, "1 day ago"), (700_000, "1 week ago")],
)
def test_the_past_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert ago(NOW - seconds, now=NOW) == text


def test_what_never_happened_has_no_date() -> None:
    assert ago(0, now=NOW) == "never"
