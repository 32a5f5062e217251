"""Which records of a session were its conversation in the end, and in which order.

A prompt that was edited leaves its answers behind as another branch. The conversation is the branch that leads to the last
record. What the tool writes beside that chain belongs to it too: blocks of one message and the results of its calls may each
have a parent of their own, because calls run side by side.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from delivery.importers.claude_code_records import Noted
from delivery.importers.claude_code_tree import Stream
from delivery.importers.records import Records

FRESH_MINUTES: Final = 5
"""So long after a text of the assistant a call of the same message may still be on its way."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message of a conversation: a record, or all records that hold blocks of one message of the assistant."""

    records: tuple[Noted, ...]

    @property
    def first(self) -> Noted:
        """The record with which it begins."""
        return self.records[0]


def conversation(stream: Stream, report: Records) -> list[Spoken]:
    """The messages of a stream in order. Other branches are reported, and so is a message at the end that still grows."""
    chosen = _Chosen(stream)
    for first, count in chosen.left():
        report.skip(
            first.line,
            f"another branch of the conversation, as an edited prompt leaves behind ({count:,} in all, from here on): "
            "the branch that leads to the last record is told",
        )
    told = _messages([stream.records[place] for place in chosen.ordered()])
    return told if stream.is_over else _without_unfinished(told, report)


class _Chosen:
    """The places of the records that are the conversation."""

    def __init__(self, stream: Stream) -> None:
        self._records = stream.records
        self._follows = stream.follows
        self._callers = {call: place for place, record in enumerate(self._records) for call in record.calls}
        self._chosen = set(self._upwards(self._last()))
        self._complete()

    def _last(self) -> int:
        """The last record that leads on and that no other such record follows.

        Results alone do not: they may come late, from a call further up.
        """
        said = [place for place, record in enumerate(self._records) if record.is_said]
        leading = [place for place in said if self._records[place].kind != "returns"]
        followed: set[int] = set()
        for place in leading:
            above = self._upwards(place)
            next(above)
            for one in above:
                if one in followed:
                    break
                followed.add(one)
        ends = (place for place in reversed(leading) if place not in followed)
        return next(ends, said[-1])

    def _upwards(self, place: int | None) -> Iterator[int]:
        seen: set[int] = set()
        while place is not None and place not in seen:
            seen.add(place)
            yield place
            place = self._follows[place]

    def _complete(self) -> None:
        """Add the blocks of the messages that were chosen, what their calls returned, and so on."""
        blocks: dict[str, list[int]] = {}
        results: dict[str, list[int]] = {}
        for place, record in enumerate(self._records):
            if record.message is not None:
                blocks.setdefault(record.message, []).append(place)
            for call in record.answers:
                results.setdefault(call, []).append(place)
        waiting = list(self._chosen)
        while waiting:
            record = self._records[waiting.pop()]
            more = [*blocks.get(record.message or "", ()), *(place for call in record.calls for place in results.get(call, ()))]
            new = [place for place in more if place not in self._chosen]
            self._chosen.update(new)
            waiting += new
        self._chosen.update(place for place, record in enumerate(self._records) if self._is_nameless_result(place, record))

    def _is_nameless_result(self, place: int, record: Noted) -> bool:
        """Whether a record holds results that name no call, and follows a message that was chosen."""
        before = self._follows[place]
        is_nameless = record.kind == "returns" and not record.answers
        return is_nameless and before in self._chosen and self._records[before].kind == "answer"

    def left(self) -> list[tuple[Noted, int]]:
        """The other branches: the first record of each, and how many records it has."""
        tops: dict[int, int] = {}
        counts: dict[int, int] = {}
        for place, record in enumerate(self._records):
            if record.is_said and place not in self._chosen:
                top = self._top(place, tops)
                counts[top] = counts.get(top, 0) + 1
        return [(self._records[top], count) for top, count in sorted(counts.items())]

    def _top(self, place: int, tops: dict[int, int]) -> int:
        """The record with which the branch of a record begins; ``tops`` holds what is known of others."""
        top, passed = place, []
        for above in self._upwards(place):
            if above in self._chosen:
                break
            if above in tops:
                top = tops[above]
                break
            passed.append(above)
            top = above if self._records[above].is_said else top
        tops.update(dict.fromkeys(passed, top))
        return top

    def ordered(self) -> list[int]:
        """The places, each after the one that it follows and after the call that it answers, otherwise as in the file."""
        after: dict[int, list[int]] = {}
        missing = dict.fromkeys(sorted(place for place in self._chosen if self._records[place].is_said), 0)
        for place in missing:
            for before in self._before(place):
                after.setdefault(before, []).append(place)
                missing[place] += 1
        ready = [place for place, count in missing.items() if count == 0]
        told: dict[int, None] = {}
        while len(told) < len(missing):
            # Records that follow each other in a circle have no order but that of the file.
            place = heapq.heappop(ready) if ready else next(place for place in missing if place not in told)
            told[place] = None
            for later in after.get(place, ()):
                missing[later] -= 1
                if missing[later] == 0 and later not in told:
                    heapq.heappush(ready, later)
        return list(told)

    def _before(self, place: int) -> set[int]:
        above = self._upwards(place)
        next(above)
        parent = next((one for one in above if one in self._chosen and self._records[one].is_said), None)
        callers = {self._callers[call] for call in self._records[place].answers if call in self._callers}
        return {one for one in (parent, *callers) if one is not None and one in self._chosen and one != place}


def _messages(records: list[Noted]) -> list[Spoken]:
    """Blocks of one message come together where its first one stands."""
    grouped: dict[object, list[Noted]] = {}
    for record in records:
        grouped.setdefault(record.message or record.line, []).append(record)
    return [Spoken(tuple(group)) for group in grouped.values()]


def _without_unfinished(told: list[Spoken], report: Records) -> list[Spoken]:
    """The assistant's last message is told when it is whole, because a turn that was recorded does not grow.

    It may still grow where it ends in reasoning, or where one of its calls has no result: there the next block or the
    result is on its way. It is whole when it says why it stopped, or when anything else follows it. A text at the end that
    says nothing of why it stopped may be all, or have a call behind it that is being written: it is told once it is older
    than any call takes to write.
    """
    place = next((place for place in range(len(told) - 1, -1, -1) if told[place].first.kind != "returns"), None)
    if place is None or _is_whole(told[place], told[place + 1 :]):
        return told
    first = told[place].first
    if _may_grow(told[place], told[place + 1 :]):
        report.skip(first.line, "the last message has not ended: it is told when it goes on, or its calls have returned")
    elif _is_fresh(told[place], told[place + 1 :]):
        report.skip(
            first.line, f"the last message may go on: it is told when it does, or {FRESH_MINUTES} minutes after it was said"
        )
    else:
        return told
    own = _calls(told[place])
    return [*told[:place], *(one for one in told[place + 1 :] if not own.intersection(one.first.answers))]


def _is_whole(message: Spoken, later: list[Spoken]) -> bool:
    if message.first.message is None or any(record.is_whole for record in message.records):
        return True
    return bool(_answered(later) - _calls(message))


def _may_grow(message: Spoken, later: list[Spoken]) -> bool:
    is_open = not _calls(message) <= _answered(later)
    return is_open or message.records[-1].ends_with in ("thinking", "redacted_thinking")


def _is_fresh(message: Spoken, later: list[Spoken]) -> bool:
    """Whether a text at the end was said only just now."""
    if later or message.records[-1].said_at is None:
        return False
    try:
        said_at = datetime.fromisoformat(message.records[-1].said_at)
    except ValueError:
        return False
    return said_at.tzinfo is not None and abs(datetime.now(UTC) - said_at) < timedelta(minutes=FRESH_MINUTES)


def _calls(message: Spoken) -> set[str]:
    return {call for record in message.records for call in record.calls}


def _answered(later: list[Spoken]) -> set[str]:
    return {call for one in later for call in one.first.answers}
