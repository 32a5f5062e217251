"""A ledger that takes events while its forgetting is planned, each time: what came in between goes with the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from ledger import Ledger, Ledgers
from ledger.clock import system_clock
from ledger.events import ContentForgotten
from ledger.record import Envelope
from ledger.store import Batch, Store
from tests.forgetting.needles import Needles
from tests.forgetting.racing import erased_by, faults_of
from tests.forgetting.shelves import Shelf

PAGE = b"secret page"


class Busy:
    """A store in which somebody else appends just before a forgetting would, so many times."""

    def __init__(self, store: Store, intrude: Callable[[int], object], times: int) -> None:
        self._store, self._intrude, self._left = store, intrude, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, batch: Batch) -> list[Envelope]:
        """After an intrusion, if one is left."""
        if batch.drafts[0].type == "content.forgotten" and self._left:
            self._left -= 1
            self._intrude(self._left)
        return self._store.append(batch)


def from_the_turn(handle: Ledger, number: int) -> None:
    handle.set_fact(f"number {number}", f"secret value {number}", source="user", turn=1)


def about_the_field(handle: Ledger, number: int) -> None:
    handle.set_fact("Secret city", f"secret value {number}", source="user")


def of_the_page(handle: Ledger, number: int) -> None:
    handle.store_artifact(PAGE, name=f"secret value {number}")
    handle.record_evidence(f"secret value {number}", quote="secret", artifact=handle.store_artifact(PAGE))


def anything(handle: Ledger, number: int) -> None:
    handle.record_turn("user", f"secret value {number}")


CASES: dict[str, tuple[dict[str, Any], Callable[[Ledger, int], None]]] = {
    "turns": ({"turns": [1]}, from_the_turn),
    "facts": ({"facts": ["secret city"]}, about_the_field),
    "artifacts": ({"artifacts": [hashlib.sha256(PAGE).hexdigest()]}, of_the_page),
    "ledger": ({}, anything),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("times", [1, 4])
def test_what_comes_in_while_it_is_planned_goes_with_the_rest(shelf: Shelf, case: str, times: int) -> None:
    wish, intrude = CASES[case]
    with shelf() as ledgers:
        handle = ledgers.ledger("case")
        handle.record_turn("user", "secret words")
        handle.set_fact("secret city", "secret place", source="user", turn=1)
        handle.store_artifact(PAGE)
        busy = Ledgers(Busy(ledgers.store, lambda number: intrude(ledgers.ledger("case"), number), times), system_clock)
        report = busy.forget(ledger="case", reason="asked", **wish)
        items = list(handle.events())
        fences = [item for item in items if isinstance(item.event, ContentForgotten)]
        assert report.state == "complete"
        assert len(fences) == (1 if times == 1 else 2), "planned anew, or completed"
        assert {item.version for item in report.ledgers[0].items} == {one for item in fences for one in erased_by(item)}
        assert faults_of(ledgers, "case") == []
        assert Needles(f"secret value {number}" for number in range(times)).found_in(shelf.contents()) == {}


def test_it_is_taken_up_where_it_was_left(shelf: Shelf) -> None:
    """The process was killed after the first fence was appended, and before what came in between was looked for."""
    with shelf() as ledgers:
        handle = ledgers.ledger("case")
        handle.record_turn("user", "secret words")

        def intrude_and_fail(left: int) -> None:
            from_the_turn(ledgers.ledger("case"), left)

        busy = Busy(ledgers.store, intrude_and_fail, 4)
        forget = Ledgers(DiesAtTheSecond(busy), system_clock).forget
        with pytest.raises(KeyboardInterrupt):
            forget(ledger="case", turns=[1], reason="asked")
        assert [len(erased_by(item)) for item in handle.events() if erased_by(item)] == [4]
        (report,) = ledgers.resume_forgetting()
        assert (report.state, report.count) == ("complete", 5)
        assert faults_of(ledgers, "case") == []
        assert Needles(f"secret value {number}" for number in range(4)).found_in(shelf.contents()) == {}


class DiesAtTheSecond:
    """A store that takes one fence."""

    def __init__(self, store: Any) -> None:
        self._store, self._fences = store, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, batch: Batch) -> list[Envelope]:
        """End the process, as far as this can be done within it, instead of the second fence."""
        if self._fences and batch.drafts[0].type == "content.forgotten":
            raise KeyboardInterrupt
        envelopes: list[Envelope] = self._store.append(batch)
        self._fences += batch.drafts[0].type == "content.forgotten"
        return envelopes
