"""A conversation of some length in a store and beside it in the floor's table, with versions to ask at."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from bench.window_floor import Floor, content_of, floor_at
from bench.workload import mixed_turns
from ledger import Ledgers, connect
from ledger.events import Event
from projections.policy import Policy
from replay.freshening import freshen
from replay.loading import load
from replay.turns.ledger_turns import bring_up_to_date, turns_of
from replay.windows.middles import KIND, STUBS_KIND

NAME: Final = "bench"
SEGMENT_KINDS: Final = (KIND, STUBS_KIND)
MORE_TURNS: Final = 600
"""So many turns are left to append one by one."""

_AT_ONCE: Final = 1_000


@dataclass
class Case:
    """``store`` has the ledger ``NAME`` at ``place``, ``floor`` the same turns at ``floor_place``.

    ``ends`` has the version at the end of each turn, from turn 0, which is before the first. By policy, ``first_ms``: the
    processor's milliseconds a turn for all that its windows need, counts of turns apart, made for the first time; and
    ``segments``: the bytes that are kept of it.
    """

    place: str
    floor_place: str
    store: Ledgers
    floor: Floor
    more: Iterator[list[Event]]
    ends: list[int]
    first_ms: list[float]
    segments: list[int]

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return len(self.ends) - 1

    def segment_bytes(self) -> int:
        """The bytes of all rows that are kept of segments."""
        ledger = self.store.head(NAME).ledger
        rows = [row for kind in SEGMENT_KINDS for row in self.store.store.derived_scan(kind, "", ledger=ledger).rows]
        return sum(len(row.key) + len(row.value) for row in rows)

    def append(self) -> int:
        """One more turn, here and there; its number."""
        events = next(self.more)
        self.store.ledger(NAME).append(events)
        self.ends.append(self.ends[-1] + len(events))
        self.floor.add([(self.turns, len(content_of(events)) // 4, content_of(events))])
        return self.turns

    def append_with_counts(self) -> int:
        """The same, and what it costs is counted and stored here, too."""
        number = self.append()
        bring_up_to_date(self.store, NAME, encoding=Policy().encoding)
        return number

    def middle_turns(self) -> list[int]:
        """Turns about the middle of the ledger, each another one."""
        half = self.turns // 2
        near = list(range(half - self.turns // 6, half + self.turns // 6))
        random.Random(11).shuffle(near)
        return near


def filled(place: str, floor_place: str, size: int, policies: list[Policy]) -> Case:
    """A case of so many turns, all of them counted and compacted."""
    turns = mixed_turns(size + MORE_TURNS)
    case = Case(place, floor_place, connect(place), floor_at(floor_place), turns, [0], [], [])
    case.floor.create()
    handle = case.store.ledger(NAME)
    while len(case.ends) <= size:
        batch = list(islice(turns, min(_AT_ONCE, size + 1 - len(case.ends))))
        handle.append([event for events in batch for event in events])
        bring_up_to_date(case.store, NAME, encoding=policies[0].encoding)
        case.floor.add(_rows(case, batch))
        for events in batch:
            case.ends.append(case.ends[-1] + len(events))
    for policy in policies:
        began, before = time.process_time(), case.segment_bytes()
        freshen(case.store, NAME, policy=policy)
        case.first_ms.append((time.process_time() - began) * 1e3 / size)
        case.segments.append(case.segment_bytes() - before)
    return case


def _rows(case: Case, batch: list[list[Event]]) -> Iterator[tuple[int, int, bytes]]:
    """The floor's rows of the last turns, with the tokens that we have counted of them."""
    turns = turns_of(load(case.store, case.store.head(NAME), None, None), Policy().encoding)
    first = len(case.ends)
    for told, events in zip(turns.between(first, first + len(batch) - 1), batch, strict=True):
        tokens = told.card.contents.tokens + sum(result.contents.tokens for result in told.card.results)
        yield told.turn.number, tokens, content_of(events)
