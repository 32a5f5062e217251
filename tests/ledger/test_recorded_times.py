"""When an event was recorded, as a number, a time and a text: all say the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from ledger.record import instant, microseconds, timestamp

FIRST = microseconds(datetime.min.replace(tzinfo=UTC))
LAST = microseconds(datetime.max.replace(tzinfo=UTC))
DAY = timedelta(days=1) // timedelta(microseconds=1)


@example(FIRST)
@example(LAST)
@example(-1)
@example(0)
@example(DAY - 1)
@example(DAY)
@given(st.integers(FIRST, LAST))
def test_a_number_reads_as_its_time(number: int) -> None:
    text = timestamp(number)
    assert datetime.fromisoformat(text) == instant(number)
    assert microseconds(datetime.fromisoformat(text)) == number
    assert len(text) == len("2031-03-04T09:00:00.000000Z")
