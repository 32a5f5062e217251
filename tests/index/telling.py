"""Histories long enough to fill blocks, and the comparison of turns that are read one by one with those of the whole ledger."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger import JsonText, Ledger, Ledgers
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput, NothingToForget
from ledger.parts import DocumentPart, TextPart, ToolCallPart
from projections.told import Turns
from replay.loading import Loaded, load
from replay.tokens import counter
from replay.turns.ledger_turns import LedgerTurns, bring_up_to_date, folded_turns, said_between, turns_of
from tests.ledger.histories_forgotten import FORGETS, KINDS, NAMES, History

ENCODING = "o200k_base"
START = datetime(2031, 3, 4, 9, 0, tzinfo=UTC)
ABOUT_TURNS = (
    *KINDS,
    *("user", "call", "return", "return", "orphan", "notes", "classify", "summarise", "talk", "page", "show") * 2,
)


class Clock:
    """A clock that goes on by a minute each time it is asked."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        """Microseconds since 1970."""
        self.now += timedelta(minutes=1)
        return int(self.now.timestamp()) * 1_000_000


class Told(History):
    """Histories with late results, orphans, classifications, summaries, text documents, and long talks."""

    def _orphan(self, handle: Ledger, options: dict[str, Any]) -> None:
        part = TextPart(text=self.text())
        handle.append(e.ToolReturned(call_id="none", parts=(part,), orphan=True, turn=self.turn(handle)), **options)

    def _notes(self, handle: Ledger, options: dict[str, Any]) -> None:
        notes = handle.store_artifact(self.text().encode() * 3, media_type="text/plain")
        handle.record_turn("user", [self.text(), DocumentPart(sha256=notes, media_type="text/plain")], **options)

    def _classify(self, handle: Ledger, options: dict[str, Any]) -> None:
        turn = self.turn(handle)
        if turn is not None:
            said = e.TurnClassified(verdict="drop", by="person", because=self.text(), turn=turn)
            handle.append(said, **options)

    def _summarise(self, handle: Ledger, options: dict[str, Any]) -> None:
        turn = self.turn(handle)
        if turn is not None:
            handle.append(
                e.SummaryRecorded(
                    first_turn=1,
                    last_turn=turn,
                    through_version=handle.version,
                    inputs="0" * 64,
                    text=self.text(),
                    summariser="extractive/1",
                ),
                **options,
            )

    def _talk(self, handle: Ledger, options: dict[str, Any]) -> None:
        """Many turns at once, of which some call tools whose results come later, if at all."""
        for number in range(self.chance.randrange(1, 40)):
            if number % 3:
                handle.record_turn("user", self.text())
            else:
                calls = [
                    ToolCallPart(call_id=f"c{place}", tool="look", arguments=JsonText.of(self.text())) for place in range(2)
                ]
                handle.record_turn("assistant", calls)

    def _keep(self, handle: Ledger, options: dict[str, Any]) -> None:
        rules: tuple[dict[str, Any], ...] = ({}, {"event_type": "turn.recorded"}, {"event_type": "tool.returned"})
        handle.set_retention(self.chance.choice(("1 year", "40 minutes", "forever")), **self.chance.choice(rules))

    def step(self, kind: str, name: str) -> None:
        """As any history does; what is refused is not recorded."""
        with suppress(InvalidInput, AdmissionRefused):
            super().step(kind, name)

    def forget(self, kind: str, name: str) -> None:
        """Forget something, if there is anything of the kind."""
        selector = self._selector(kind, name)
        if selector is None:
            return
        with suppress(InvalidInput, NothingToForget):
            self.ledgers.forget(**selector, reason="asked to")
            if "subject" in selector:
                self.ledgers.reauthorise(subject=selector["subject"], because="so that it goes on")
            if kind == "ledger":
                self.ledgers.reauthorise(ledger=name, because="so that it goes on")

    def _lives(self, value: str) -> bool:
        return True


class Handle:
    """The same store as one that another process has just opened: nothing of it is kept in memory."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def anew(ledgers: Ledgers) -> Ledgers:
    """The ledgers as a process sees them that has read nothing yet."""
    handle: Any = Handle(ledgers.store)
    return Ledgers(handle, ledgers.clock)


def answers_of(turns: Turns) -> dict[str, Any]:
    """Everything that turns tell."""
    last = turns.last
    return {
        "last": last,
        "system": turns.system,
        "all": list(turns.between(1, last)),
        "middle": list(turns.between(last // 3, last - last // 3)),
        "some": dict(turns.at([last, 1, last // 2, 0, last + 1])),
        "amended": [turns.amended(turn) for turn in range(0, last + 1, 1 + last // 20)],
    }


def loaded_at(ledgers: Ledgers, name: str, version: int, judged_at: datetime | None = None) -> Loaded:
    """A ledger as of a version."""
    return load(ledgers, ledgers.head(name), version, judged_at)


def check_told(ledgers: Ledgers, versions: Iterable[int], name: str, judged_at: datetime | None = None) -> None:
    """At these versions, the turns read one by one, in processes that know much or nothing, as those of the whole ledger."""
    cold, asked = anew(ledgers), list(versions)
    wholes = {version: _whole(ledgers, name, version, judged_at) for version in asked}
    for version in asked:
        for seen in (ledgers, cold, anew(ledgers)):
            _check_one(seen, name, version, wholes[version], judged_at)
        check_said(ledgers, name, version, wholes[version]["last"], judged_at)
    bring_up_to_date(cold, name, encoding=ENCODING)
    for version in reversed(asked):
        for seen in (ledgers, anew(ledgers)):
            _check_one(seen, name, version, wholes[version], judged_at)


def _whole(ledgers: Ledgers, name: str, version: int, judged_at: datetime | None) -> dict[str, Any]:
    return answers_of(folded_turns(loaded_at(ledgers, name, version, judged_at), counter(ENCODING)))


def _check_one(seen: Ledgers, name: str, version: int, whole: dict[str, Any], judged_at: datetime | None) -> None:
    loaded = loaded_at(seen, name, version, judged_at)
    turns = turns_of(loaded, ENCODING)
    assert answers_of(turns) == whole
    assert is_by_index(turns) == loaded.nothing_is_due == (not loaded.is_read)


def check_said(ledgers: Ledgers, name: str, version: int, last: int, judged_at: datetime | None) -> None:
    """What was said of turns, as all events have it."""
    read = loaded_at(ledgers, name, version, judged_at)
    assert read.events is not None, "from here on it is read"
    for first, end in ((1, last), (1, last // 2), (last // 3, 2 * last // 3), (1, 1)):
        found = said_between(loaded_at(anew(ledgers), name, version, judged_at), first, end)
        assert found == said_between(read, first, end)


def some_versions(chance: random.Random, last: int, most: int) -> list[int]:
    """Some versions of a ledger, the first and the last among them."""
    return sorted({0, last, *(chance.randrange(last + 1) for _ in range(most))})


def play(ledgers: Ledgers, seed: int, *, rounds: int, steps: int, most: int, keeps: bool = False) -> None:
    """A history that a seed chooses, compared before and after every forgetting; ``keeps``: with rules of retention."""
    chance = random.Random(seed)
    history = Told(ledgers, chance)
    kinds = (*ABOUT_TURNS, "keep", "keep") if keeps else ABOUT_TURNS
    for _ in range(rounds):
        long = chance.choice(NAMES)
        for number in range(chance.randrange(5, steps)):
            history.step("talk" if number % 9 == 0 else chance.choice(kinds), chance.choice((*NAMES, long, long)))
        _check(ledgers, chance, most)
        history.forget(chance.choice(FORGETS), chance.choice(NAMES))
        _check(ledgers, chance, most)


def _check(ledgers: Ledgers, chance: random.Random, most: int) -> None:
    for head in ledgers.heads():
        last = head.recorded_at // 1_000_000
        judged = START if last == 0 else datetime.fromtimestamp(last, UTC) + timedelta(minutes=chance.choice((0, 1, 20, 60)))
        check_told(ledgers, some_versions(chance, head.version, most), head.name, judged)


def is_by_index(turns: Turns) -> bool:
    """Whether turns are read one by one."""
    return isinstance(turns, LedgerTurns)
