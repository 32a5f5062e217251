"""Histories with forgettings in between, made step by step of choices; and what must hold of a store afterwards.

Every text that a step records is its own, so that whatever is found of a forgotten event was left behind.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.codec import encode
from ledger.erased import Erased
from ledger.errors import AdmissionRefused, NothingToForget
from ledger.parts import DocumentPart, TextPart, ToolCallPart
from ledger.record import Envelope, Recorded
from ledger.verify import verify_store
from ledger.writer import Writer
from tests.ledger.any_events import SOURCES
from tests.ledger.remains import REASON, envelopes, gone, standing_of, stored_bytes, swept, tagged

FIELDS = ("day", "amount", "owner")
SUBJECTS = ("customer:ada", "customer:bob")
NAMES = ("case", "other")
NEEDLE = re.compile(rb"needle-\d+-x")
"""A text that one step recorded and no other."""

KINDS = (
    *("fact", "same", "same"),
    *("user", "assistant", "call", "return", "fact", "same", "supersede", "retract", "entry", "close", "page", "show"),
    *("evidence", "against", "dispute", "resolve", "system", "outcome", "again", "raw", "derive", "declare"),
    *("classify", "summary", "summary", "window"),
)
TYPES = (
    *("turn.recorded", "tool.returned", "fact.set", "fact.superseded", "fact.retracted", "fact.reaffirmed"),
    *("entry.added", "entry.closed", "contradiction.recorded", "contradiction.resolved", "evidence.recorded"),
    *("schema.set", "fact.rejected", "turn.classified", "summary.recorded", "policy.recorded", "window.recorded"),
)
FORGETS = ("turns", "facts", "ids", "artifacts", "subject", "ledger")


@dataclass
class History:
    """Two ledgers on one store, written by handles that are warm, with what was forgotten of them so far."""

    ledgers: Ledgers
    chance: random.Random
    handles: dict[str, Ledger] = field(default_factory=dict)
    warm: dict[str, Ledger] = field(default_factory=dict)
    number: int = 0
    said: list[tuple[str, str, Any, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    before: list[Envelope] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in NAMES:
            self.handles[name] = self.ledgers.ledger(name)
            self.warm[name] = self.ledgers.ledger(name)

    def step(self, kind: str, name: str) -> None:
        """Ask for one thing; it may be refused."""
        handle = self.chance.choice((self.handles, self.warm))[name]
        options: dict[str, Any] = {}
        if self.chance.random() < 0.3:
            options["subjects"] = [self.chance.choice(SUBJECTS)]
        if self.chance.random() < 0.3:
            options["labels"] = ["label " + self.text()]
        try:
            getattr(self, f"_{kind}")(handle, options)
        except AdmissionRefused as error:
            self.refused.append(str(error))

    def text(self) -> str:
        """A text that no other step has."""
        self.number += 1
        return f"needle-{self.number}-x"

    def turn(self, handle: Ledger) -> int | None:
        """Some turn, or none; not always one that there is."""
        turns = [item.turn for item in handle.events() if item.turn is not None]
        return self.chance.choice((None, *turns)) if turns else None

    def some(self, handle: Ledger, type_name: str) -> int:
        """The version of some event of a type, forgotten ones included."""
        found = [item.version for item in handle.events() if item.envelope.type == type_name]
        return self.chance.choice(found) if found else 1

    def pages(self, handle: Ledger) -> list[str]:
        """The artifacts of a ledger."""
        return [item.event.sha256 for item in handle.events() if isinstance(item.event, e.ArtifactStored)]

    def _user(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.record_turn("user", self.text(), **options)

    def _assistant(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.record_turn("assistant", self.text(), **options)

    def _system(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.record_turn("system", self.text(), **options)

    def _call(self, handle: Ledger, options: dict[str, Any]) -> None:
        calls = [ToolCallPart(call_id=f"c{number}", tool="look", arguments=JsonText.of(self.text())) for number in range(2)]
        handle.record_turn("assistant", [self.text(), *calls], **options)

    def _return(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.record_return(f"c{self.chance.randrange(2)}", {"n": self.text()}, turn=self.turn(handle), **options)

    def _fact(self, handle: Ledger, options: dict[str, Any]) -> None:
        source = self.chance.choice(SOURCES)
        options |= {"name": self.chance.choice(FIELDS), "value": self.text(), "source": source, "turn": self.turn(handle)}
        handle.set_fact(**options, because=self.text())
        self.said.append((handle.name, options["name"], options["value"], source))

    def _same(self, handle: Ledger, options: dict[str, Any]) -> None:
        """State again what was stated of a field at some time, even what was forgotten since: that is saying it anew."""
        said = [(name, value) for ledger, name, value, _ in self.said if ledger == handle.name and self._lives(value)]
        if said:
            name, value = self.chance.choice(said)
            handle.set_fact(name, value, source=self.chance.choice(SOURCES), turn=self.turn(handle), **options)

    def _again(self, handle: Ledger, options: dict[str, Any]) -> None:
        """Record a turn with a key that is used more than once."""
        key = f"key {self.chance.randrange(3)}"
        first = self.ledgers.ledger(handle.name).version
        handle.record_turn("system", f"turn of {key}", idempotency_key=key)
        second = self.ledgers.ledger(handle.name).version
        handle.record_turn("system", f"turn of {key}", idempotency_key=key)
        assert second in (first, first + 1)
        assert self.ledgers.ledger(handle.name).version == second

    def _supersede(self, handle: Ledger, options: dict[str, Any]) -> None:
        name = self.chance.choice(FIELDS)
        standing = handle._writer._standing.facts.get(name)
        if standing is not None:
            value = self.text()
            handle.set_fact(
                name, value, source=standing.source, supersedes=standing.value, turn=self.turn(handle), because=self.text()
            )
            self.said.append((handle.name, name, value, standing.source))

    def _retract(self, handle: Ledger, options: dict[str, Any]) -> None:
        name, source = self.chance.choice(FIELDS), self.chance.choice(SOURCES)
        handle.retract_fact(name, source=source, because=self.text(), turn=self.turn(handle), **options)

    def _entry(self, handle: Ledger, options: dict[str, Any]) -> None:
        source = self.chance.choice(SOURCES)
        handle.add_entry("open", self.text(), why=self.text(), source=source, turn=self.turn(handle), **options)

    def _close(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.close_entry(
            f"en_{self.some(handle, 'entry.added')}", source="interface", because=self.text(), turn=self.turn(handle), **options
        )

    def _page(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.store_artifact(self.text().encode(), name=self.text(), turn=self.turn(handle), **options)

    def _show(self, handle: Ledger, options: dict[str, Any]) -> None:
        pages = self.pages(handle)
        if pages:
            handle.record_turn("user", [self.text(), DocumentPart(sha256=self.chance.choice(pages))], **options)

    def _evidence(self, handle: Ledger, options: dict[str, Any]) -> None:
        pages = self.pages(handle)
        if pages:
            page, turn = self.chance.choice(pages), self.turn(handle)
            handle.record_evidence(self.text(), quote=self.text(), artifact=page, turn=turn, **options)

    def _against(self, handle: Ledger, options: dict[str, Any]) -> None:
        sides: list[e.Side | str] = [
            f"ev_{self.some(handle, 'evidence.recorded')}",
            e.Side(value=JsonText.of(self.text()), turn=self.turn(handle)),
        ]
        handle.record_contradiction(self.text(), sides, turn=self.turn(handle), **options)

    def _dispute(self, handle: Ledger, options: dict[str, Any]) -> None:
        name, value = self.chance.choice(FIELDS), self.text()
        turn, source = self.turn(handle), self.chance.choice(SOURCES)
        sides = (
            e.Side(version=self.chance.randrange(1, handle.version + 2)),
            e.Side(value=JsonText.of(value), turn=turn, source=source),
        )
        handle.append(e.ContradictionRecorded(about=self.text(), field=name, sides=sides, turn=self.turn(handle)), **options)
        self.said.append((handle.name, name, value, source))

    def _resolve(self, handle: Ledger, options: dict[str, Any]) -> None:
        con = f"con_{self.some(handle, 'contradiction.recorded')}"
        said = [value for ledger, _, value, _ in self.said if ledger == handle.name and self._lives(value)]
        value = self.chance.choice((None, *said)) if said else None
        source = self.chance.choice(SOURCES)
        handle.resolve_contradiction(con, because=self.text(), source=source, value=value, turn=self.turn(handle), **options)

    def _outcome(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.record_outcome("partial", judge="reviewer", detail=self.text(), turn=self.turn(handle), **options)

    def _raw(self, handle: Ledger, options: dict[str, Any]) -> None:
        content = e.TurnRecorded(role="system", parts=(TextPart(text=self.text()),))
        handle.append([content, e.EntryAdded(section="rejected", what=self.text(), source="user")], **options)

    def _declare(self, handle: Ledger, options: dict[str, Any]) -> None:
        """Put a schema in force that refuses some of what is said."""
        declared = self.chance.sample(FIELDS, 2)
        handle.declare({"title": self.text(), "properties": {name: {"type": "string"} for name in declared}})

    def _classify(self, handle: Ledger, options: dict[str, Any]) -> None:
        turn = self.turn(handle)
        if turn is not None:
            because = self.chance.choice((None, self.text()))
            handle.classify(turn, "keep", because=because, by=self.chance.choice(("person", "model")), **options)

    def _summary(self, handle: Ledger, options: dict[str, Any]) -> None:
        """A text that holds all that its turns say, made now, or some time ago from what was there then."""
        turns = sorted(turn for turn in (self.turn(handle), self.turn(handle)) if turn is not None)
        if not turns:
            return
        first, last = turns[0], turns[-1]
        told = [_content_of(item).decode() for item in handle.events() if self._tells_of(item, range(first, last + 1))]
        handle.record_summary(
            " ".join([*told, self.text()]),
            first_turn=first,
            last_turn=last,
            through_version=self.chance.choice((handle.version, self.chance.randrange(1, handle.version + 1))),
            inputs="0" * 64,
            summariser="extractive/1",
            **options,
        )

    def _tells_of(self, item: Recorded, turns: range) -> bool:
        return item.turn in turns and isinstance(item.event, e.TurnRecorded | e.ToolReturned)

    def _window(self, handle: Ledger, options: dict[str, Any]) -> None:
        policy = self.chance.choice("ab")
        handle.record_served(
            policy=policy * 64,
            declared=f'{{"tail_turns": "{policy}"}}',
            of_version=self.chance.randrange(1, handle.version + 2),
            form="text",
            engine="2",
            erasures=0,
            bytes_digest="0" * 64,
            tokens=self.number,
            encoding="o200k_base",
            plan=f"[{self.number}]",
            **options,
        )

    def _derive(self, handle: Ledger, options: dict[str, Any]) -> None:
        """Keep something that was made of all that the ledger says."""
        if handle.version:
            head = self.ledgers.head(handle.name)
            made = b"".join(_content_of(item) for item in handle.events())
            assert self.ledgers.store.derived_put(head.ledger, "segment", str(self.number), made, erasures=head.erasures)

    def _lives(self, value: str) -> bool:
        """Whether a value is still somewhere: one that was forgotten is not said again, or it would be there again."""
        return value.encode() in stored_bytes(self.ledgers)

    def forget(self, kind: str, name: str) -> None:
        """Forget something, if there is anything of the kind, and check what it did."""
        selector = self._selector(kind, name)
        if selector is None:
            return
        living = {one: list(self.ledgers.ledger(one).events()) for one in NAMES}
        self.before = envelopes(self.ledgers)
        try:
            planned = self.ledgers.forget(**selector, reason=REASON, dry_run=True)
        except NothingToForget:
            assert envelopes(self.ledgers) == self.before
            return
        assert envelopes(self.ledgers) == self.before
        done = self.ledgers.forget(**selector, reason=REASON)
        going = {found.ledger: {item.version for item in found.items} for found in planned.ledgers}
        assert (done.state, done.count) == ("complete", planned.count)
        self._check_forgetting(going, living)
        with pytest.raises(NothingToForget):
            self.ledgers.forget(**selector, reason=REASON)
        if "subject" in selector:
            self.ledgers.reauthorise(subject=selector["subject"], because="so that it goes on")
        if kind == "ledger":
            self.ledgers.reauthorise(ledger=name, because="so that it goes on")

    def _selector(self, kind: str, name: str) -> dict[str, Any] | None:
        handle = self.ledgers.ledger(name)
        if handle.version == 0:
            return None
        match kind:
            case "turns":
                turn = self.turn(handle)
                return None if turn is None else {"ledger": name, "turns": [turn]}
            case "facts":
                return {"ledger": name, "facts": [self.chance.choice(FIELDS)]}
            case "ids":
                return {"ledger": name, "ids": [f"v_{self.some(handle, self.chance.choice(TYPES))}"]}
            case "artifacts":
                pages = self.pages(handle)
                return {"ledger": name, "artifacts": [self.chance.choice(pages)]} if pages else None
            case "subject":
                return {"subject": self.chance.choice(SUBJECTS)}
            case _:
                return {"ledger": name}

    def _check_forgetting(self, going: dict[str, set[int]], living: dict[str, list[Recorded]]) -> None:
        """What was planned is gone, everything else is as it was."""
        assert envelopes(self.ledgers)[: len(self.before)] == self.before
        for name in NAMES:
            lost, last = going.get(name, set()), len(living[name])
            after = list(self.ledgers.ledger(name).events(upto=last))
            assert [item for item in after if item.version not in lost] == [
                item for item in living[name] if item.version not in lost
            ]
            if lost:
                check_nothing_left(self.ledgers, [item for item in living[name] if item.version in lost])

    def check(self) -> None:
        """What holds at any time."""
        found = verify_store(self.ledgers)
        assert found.problems == ()
        for head in self.ledgers.heads():
            assert gone(self.ledgers, head.name) == swept(self.ledgers, head.name)
            assert gone(self.ledgers, head.name).isdisjoint(tagged(self.ledgers, head.name))
        for name in NAMES:
            if self.ledgers.ledger(name).version:
                check_warm_as_cold(self.ledgers, [self.handles[name], self.warm[name]])


def check_nothing_left(ledgers: Ledgers, lost: Iterable[Recorded]) -> None:
    """No text that only the forgotten events had is anywhere in the store. What a summary repeats of its turns is theirs."""
    needles = {found for item in lost for found in NEEDLE.findall(_content_of(item))}
    own = (item for item in _all_events(ledgers) if not isinstance(item.event, e.SummaryRecorded))
    living = {found for item in own for found in NEEDLE.findall(_content_of(item))}
    left = set(NEEDLE.findall(stored_bytes(ledgers)))
    assert not needles & (left - living), f"left behind: {needles & (left - living)}"


def _content_of(item: Recorded) -> bytes:
    return b"" if isinstance(item.event, Erased) else encode(item.event, None, item.tags)


def _all_events(ledgers: Ledgers) -> list[Recorded]:
    return [item for head in ledgers.heads() for item in ledgers.ledger(head.name).events()]


def check_warm_as_cold(ledgers: Ledgers, handles: Iterable[Ledger]) -> None:
    """A writer that folded everything as it came knows the same as one that begins now."""
    for handle in handles:
        cold = Writer(ledgers.store, handle.name, ledgers.clock)
        assert standing_of(handle._writer) == standing_of(cold)


def play(seed: int, rounds: int = 4) -> None:
    """A history that a seed chooses, checked after every forgetting."""
    chance = random.Random(seed)
    with connect(":memory:") as ledgers:
        history = History(ledgers, chance)
        for _ in range(rounds):
            for _ in range(chance.randrange(5, 40)):
                history.step(chance.choice(KINDS), chance.choice(NAMES))
            history.forget(chance.choice(FORGETS), chance.choice(NAMES))
            history.check()
