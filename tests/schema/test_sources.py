"""Who may put another value in the place of the one that stands, with a schema: every pair of sources, and races."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from itertools import product
from typing import get_args

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger import events as e
from ledger.errors import AdmissionRefused, SupersessionMismatch
from ledger.verify import verify_store
from replay.view import view
from tests.contract.at_once import at_once
from tests.contract.stores import OpenStore
from tests.schema.refunds import RefundState, claims

SPOKEN = ("user", "interface")
SUPERSEDED, CONTRADICTED = "fact.superseded", "contradiction.recorded"

UNASKED = {
    **dict.fromkeys(product(SPOKEN, SPOKEN), CONTRADICTED),
    **dict.fromkeys(product(SPOKEN, ("tool", "inferred")), SUPERSEDED),
    **dict.fromkeys(product(("tool", "inferred"), SPOKEN), CONTRADICTED),
    ("tool", "tool"): SUPERSEDED,
    ("tool", "inferred"): SUPERSEDED,
    ("inferred", "tool"): CONTRADICTED,
    ("inferred", "inferred"): SUPERSEDED,
}
"""What a new value leads to that does not name the standing one, by the source of the new and of the standing one."""

NAMED = {**UNASKED, **dict.fromkeys(product(SPOKEN, SPOKEN), SUPERSEDED)}
"""The same for one that names it."""


def test_every_pair_of_sources_is_ruled() -> None:
    assert set(UNASKED) == set(product(get_args(e.Source), repeat=2))


@pytest.mark.parametrize(("new", "standing"), UNASKED)
@pytest.mark.parametrize("names_it", [False, True])
def test_who_takes_whose_place(store: Ledgers, new: e.Source, standing: e.Source, *, names_it: bool) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    ledger.set_fact("amount", "4,180 INR", source=standing)
    event = ledger.set_fact("sum", "4,050 INR", source=new, supersedes="INR 4180" if names_it else None).event
    expected = (NAMED if names_it else UNASKED)[new, standing]
    assert event.type == expected
    state = view(store, "refund").state()
    assert state.entities["amount"].value == ("4,050 INR" if expected == SUPERSEDED else "4,180 INR")
    assert len(state.contradictions) == (0 if expected == SUPERSEDED else 1)
    history = view(store, "refund").history("amount")
    assert [value.value for value in history.values] == ["4,180 INR", "4,050 INR"][: 2 if expected == SUPERSEDED else 1]
    assert len(history.contradictions) == (0 if expected == SUPERSEDED else 1)  # a claim that lost is on record as one


def test_a_b_and_a_again_are_three_intervals(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    ledger.set_fact("amount", "5 INR", source="user")
    ledger.set_fact("amount", "6 INR", source="user", supersedes="₹5")
    ledger.set_fact("amount", "5.00 INR", source="user", supersedes="₹6")
    values = view(store, "refund").history("amount").values
    assert [(value.value, value.from_version, value.to_version) for value in values] == [
        ("5 INR", 2, 3),
        ("6 INR", 3, 4),
        ("5.00 INR", 4, None),
    ]


def rupees(amount: int, replaces: int | None = None) -> e.Event:
    """A claim of the user's, as a command would record it."""
    said = {"field": "amount", "value": JsonText.of(f"{amount} INR"), "source": "user"}
    meaning = JsonText.of({"amount": str(amount), "currency": "INR"})
    if replaces is None:
        return e.FactSet(meaning=meaning, **said)  # type: ignore[arg-type]
    return e.FactSuperseded(meaning=meaning, replaces=replaces, **said)  # type: ignore[arg-type]


def test_several_corrections_in_one_append_are_one_step(store: Ledgers) -> None:
    ledger = store.ledger("refund", schema=RefundState)
    ledger.append([rupees(5), rupees(6, 2), rupees(7, 3)])
    assert view(store, "refund").state().entities["amount"].value == "7 INR"
    for wrong in ([rupees(8, 4), rupees(9, 4)], [rupees(8, 4), rupees(9, 5), rupees(10)]):
        with pytest.raises(AdmissionRefused):
            ledger.append(wrong)
        assert (ledger.version, view(store, "refund").state().entities["amount"].value) == (4, "7 INR")
    assert len(view(store, "refund").history("amount").values) == 3


@pytest.mark.parametrize("source", ["user", "tool", "inferred"])
def test_of_two_who_write_one_field_the_second_decides_against_the_first(open_store: OpenStore, source: e.Source) -> None:
    """Each of several handles has seen the old value and states another one at the same time."""
    store = open_store()
    store.ledger("refund", schema=RefundState).set_fact("amount", "1 INR", source=source)
    handles = [open_store().ledger("refund") for _ in range(4)]
    for handle in handles:
        handle.set_fact("amount", "INR 1.00", source=source)  # it knows what stands
    at_once([partial(state, handle, f"{number} INR", source) for number, handle in enumerate(handles, 2)])
    decided = claims(store.ledger("refund"))[5:]
    assert decided == [CONTRADICTED if source == "user" else SUPERSEDED] * 4
    assert_nothing_was_overwritten(store)


def test_of_two_who_correct_the_same_value_one_wins_and_the_other_is_told(open_store: OpenStore) -> None:
    store = open_store()
    store.ledger("refund", schema=RefundState).set_fact("amount", "1 INR", source="user")
    handles = [open_store().ledger("refund") for _ in range(4)]
    results = at_once(
        [partial(state, handle, f"{number} INR", "user", supersedes="₹1") for number, handle in enumerate(handles, 2)]
    )
    assert sorted(result if isinstance(result, str) else type(result).__name__ for result in results) == [
        *[SupersessionMismatch.__name__] * 3,
        SUPERSEDED,
    ]
    assert_nothing_was_overwritten(store)


WRITER = """
import sys
from ledger import connect
with connect(sys.argv[1]) as store:
    ledger = store.ledger("refund")
    for number in range(10):
        ledger.set_fact("amount", f"{sys.argv[2]}{number} INR", source=sys.argv[3])
"""


def test_processes_that_write_one_field_overwrite_nothing(open_shared: OpenStore) -> None:
    store = open_shared()
    store.ledger("refund", schema=RefundState).set_fact("amount", "1 INR", source="tool")
    sources = {"2": "tool", "3": "inferred", "4": "user"}
    children = [subprocess.Popen([sys.executable, "-c", WRITER, open_shared.address, *pair]) for pair in sources.items()]
    assert [child.wait(timeout=90) for child in children] == [0, 0, 0]
    ledger = store.ledger("refund")
    assert len(claims(ledger)) == 31
    assert view(store, "refund").state().entities["amount"].value == "40 INR"  # what the user said first
    assert_nothing_was_overwritten(store)


def state(ledger: Ledger, value: str, source: e.Source, *, supersedes: str | None = None) -> str:
    return ledger.set_fact("amount", value, source=source, supersedes=supersedes).event.type


def assert_nothing_was_overwritten(store: Ledgers) -> None:
    """Every value that ever stood names the one before it, and every other one is a side of a contradiction."""
    standing: int | None = None
    for one in store.ledger("refund").events():
        match one.event:
            case e.FactSet():
                assert standing is None
                standing = one.version
            case e.FactSuperseded(replaces=replaces):
                assert standing == replaces
                standing = one.version
            case e.ContradictionRecorded(sides=sides):
                assert sides[0].version == standing
    assert verify_store(store).ok
