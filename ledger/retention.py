"""How long content is kept: which events are past their retention at a given time. Pure.

The shortest of all rules that apply to an event counts. What rests on content that is past its retention goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ledger import events as e
from ledger.erased import Erased, Forgotten
from ledger.errors import InvalidInput
from ledger.lineage import Lineage, skeletons
from ledger.reading import Marks
from ledger.record import Recorded, timestamp

RETENTION: Final = "retention"
"""Stands for a job's id in the mark of content that is past its retention."""

_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "year": 31_536_000}
_PERIOD: Final = re.compile(rf"([0-9]{{1,9}}) ({'|'.join(_SECONDS)})s?(?: (after close))?")
_MICROSECONDS: Final = 1_000_000


def period(text: object) -> tuple[int | None, bool]:
    """Seconds, and whether they begin at the ledger's closing: "30 days", "after close", "1 year after close", "forever"."""
    if text == "forever":
        return None, False
    if text == "after close":
        return 0, True
    found = _PERIOD.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise InvalidInput(
            f"retention {text!r} is not understood: write a number of {', '.join(f'{unit}s' for unit in _SECONDS)} (30 days), "
            "with or without 'after close', or 'after close', or 'forever'",
            path="keep",
        )
    return int(found[1]) * _SECONDS[found[2]], found[3] is not None


def described(rule: e.RetentionSet) -> str:
    """A rule in words, as a reason: "label payment: 30 days"."""
    what = "the ledger" if rule.name is None else f"{rule.scope} {rule.name}"
    if rule.keep_seconds is None:
        return f"{what}: forever"
    unit, size = (
        next(
            (unit, size)
            for unit, size in reversed(_SECONDS.items())
            if rule.keep_seconds % size == 0 and rule.keep_seconds >= size
        )
        if rule.keep_seconds
        else ("second", 1)
    )
    number = rule.keep_seconds // size
    length = f"{number:,} {unit}{'' if number == 1 else 's'}"
    if not rule.after_close:
        return f"{what}: {length}"
    return f"{what}: {length} after close" if number else f"{what}: after close"


def rules_at(governing: Sequence[Recorded], judged_at: int) -> list[e.RetentionSet]:
    """The rules in force at a time (microseconds): of those recorded by then, the last for each scope and name."""
    latest: dict[tuple[str, str | None], e.RetentionSet] = {}
    for item in governing:
        if isinstance(item.event, e.RetentionSet) and item.envelope.recorded_at <= judged_at:
            latest[item.event.scope, item.event.name] = item.event
    return [rule for rule in latest.values() if rule.keep_seconds is not None]


def past_retention(events: Sequence[Recorded], governing: Sequence[Recorded], *, judged_at: int, key: bytes) -> Marks:
    """What is left at ``judged_at`` (microseconds) of the events that are past their retention, by version.

    ``events`` from the first on; ``governing`` those of the whole ledger; ``key`` that of the ledger's names.
    """
    own = due(events, governing, judged_at)
    causes = Lineage(events).closure(own) if own else {}
    kept = {erasure.version: erasure for erasure in skeletons(events, causes, key)}
    return {version: (kept[version], own.get(version) or own[cause.root]) for version, cause in causes.items()}


def due(events: Sequence[Recorded], governing: Sequence[Recorded], judged_at: int) -> dict[int, Forgotten]:
    """The marks of the events whose own time is over, by version, without what rests on them; arguments as above."""
    rules, closed_at = rules_at(governing, judged_at), _closed_at(governing)
    found: dict[int, Forgotten] = {}
    for item in events if rules else ():
        ends = min(_ends(item, rules, closed_at), default=None)
        if ends is not None and ends[0] <= judged_at:
            found[item.version] = Forgotten(RETENTION, f"past its retention ({ends[1]})", timestamp(ends[0]))
    return found


def next_end(events: Sequence[Recorded], governing: Sequence[Recorded], *, after: int) -> int | None:
    """When the next of the events will be past its retention, after a time (microseconds); None if none of them will."""
    rules, closed_at = rules_at(governing, after), _closed_at(governing)
    ends = (min(_ends(item, rules, closed_at), default=None) for item in events)
    return min((end[0] for end in ends if end is not None and end[0] > after), default=None)


def shortest(governing: Sequence[Recorded], judged_at: int) -> int | None:
    """How long (microseconds) any rule in force keeps content from its recording on, at the least; None if there is none."""
    kept = (rule.keep_seconds for rule in rules_at(governing, judged_at) if not rule.after_close or _closed_at(governing))
    return min((seconds * _MICROSECONDS for seconds in kept if seconds is not None), default=None)


def _closed_at(governing: Sequence[Recorded]) -> int | None:
    return next((item.envelope.recorded_at for item in governing if item.envelope.type == "ledger.closed"), None)


def _ends(item: Recorded, rules: Sequence[e.RetentionSet], closed_at: int | None) -> Iterator[tuple[int, str]]:
    """When an event's time is over by each rule that applies to it, and the rule in words."""
    if isinstance(item.event, Erased | e.Governing):
        return
    for rule in rules:
        ends = ends_at(rule, closed_at if rule.after_close else item.envelope.recorded_at)
        if ends is not None and _applies(rule, item):
            yield ends, described(rule)


def ends_at(rule: e.RetentionSet, begins: int | None) -> int | None:
    """When the time of what a rule applies to is over (microseconds), if it began to run then; None if it never is."""
    return None if begins is None or rule.keep_seconds is None else begins + rule.keep_seconds * _MICROSECONDS


def _applies(rule: e.RetentionSet, item: Recorded) -> bool:
    match rule.scope:
        case "ledger":
            return True
        case "label":
            return rule.name in item.tags.labels
        case "type":
            return rule.name == item.envelope.type
        case "section" if rule.name == "entities":
            return isinstance(item.event, e.FactEvent | e.FactRejected)
        case _:
            return isinstance(item.event, e.EntryAdded) and item.event.section == rule.name
