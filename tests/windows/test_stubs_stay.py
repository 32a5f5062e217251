"""What became a stub stays one, with the same text, as long as its turn stands in the window: in the tail and out of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import ToolCallPart, Usage
from projections.errors import BudgetExceeded
from projections.pieces import TurnPiece
from projections.policy import Compaction, Policy, StubRules
from projections.window import Window
from replay import view

TURNS: Final = 45
CUT: Final = "\u2026"
CLEARING: Final = (
    (StubRules(), Compaction()),
    (StubRules(clear_at_least_tokens=100_000), Compaction(segment_turns=5, live_percent=30)),
    (StubRules(older_than_turns=12, clear_at_least_tokens=0), Compaction(live_percent=10)),
)


def policies(chance: random.Random) -> Iterator[Policy]:
    """A few of all kinds, most of them under pressure."""
    for budget_tokens in (900, 1_500, 3_000):
        for tail_turns, tail_exchanges in ((2, 0), (6, 0), (4, 1)):
            stubs, compaction = chance.choice(CLEARING)
            place = chance.choice(["before_tail", "after_system"])
            asked: dict[str, Any] = {"state": chance.choice([None, Policy().state]), "state_place": place}
            yield Policy(
                budget_tokens=budget_tokens,
                tail_turns=tail_turns,
                tail_exchanges=tail_exchanges,
                stubs=stubs,
                compaction=compaction,
                **asked,
            )


def talk(case: Ledger, chance: random.Random) -> Iterator[None]:
    """A conversation with results of all sizes, of which some strings are used later; a step at a time."""
    case.record_turn("user", "Find all the parcels and bring them to gate 9.")
    for number in range(TURNS):
        parcel = f"P-{chance.randrange(900):03d}"
        if chance.random() < 0.35:
            case.record_turn("user", f"Remark {number} about {parcel}. " + "rain " * chance.choice([0, 5, 60]))
            yield
            continue
        tools = chance.choices(["find", "read"], k=chance.choice([0, 1, 1, 2]))
        asked = JsonText.of({"query": f"shelf {number}"})
        calls = [ToolCallPart(call_id=f"{number}/{place}", tool=tool, arguments=asked) for place, tool in enumerate(tools)]
        case.record_turn("assistant", [f"I see {parcel}.", *calls])
        yield
        for call in calls:
            rows = range(chance.choice([3, 30, 30, 120, 400]))
            case.record_return(call.call_id, "\n".join(f"row {row}: P-{chance.randrange(900):03d}" for row in rows))
        yield


def stubs_of(window: Window) -> dict[int, str | None]:
    """By the version of each result that stands in the window, its stub; None where it is whole or cut."""
    turns = [piece for piece in window.plan.pieces if isinstance(piece, TurnPiece)]
    texts = {found.version: piece.replaced.get(found.version) for piece in turns for found in piece.turn.returns}
    return {version: None if text is None or CUT in text else text for version, text in texts.items()}


@pytest.mark.parametrize("seed", range(4))
def test_once_a_stub_always_the_same_stub(seed: int) -> None:
    chance = random.Random(seed)
    asked = list(policies(chance))
    known: list[dict[int, str]] = [{} for _ in asked]
    with connect(":memory:") as store:
        for _ in talk(store.ledger("case"), chance):
            for policy, stubs in zip(asked, known, strict=True):
                with suppress(BudgetExceeded):
                    shown = stubs_of(view(store, "case").window(policy))
                    assert {version: shown[version] for version in stubs.keys() & shown.keys()}.items() <= stubs.items()
                    stubs |= {version: text for version, text in shown.items() if text is not None}
    assert all(len(stubs) > 5 for stubs in known)


def test_what_is_crowded_out_of_the_tail_is_a_stub_from_then_on(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Which shelves are there?")
    for number in range(3):
        call = ToolCallPart(call_id=f"c{number}", tool="find_shelves", arguments=JsonText.of({"query": f"all {number}"}))
        case.record_turn("assistant", [f"I have S-00{number}.", call])
        case.record_return(f"c{number}", "\n".join(f"row {row}: shelf S-{row:03d}" for row in range(60)))
    case.record_turn("assistant", "S-004 is free.")
    seen = []
    for number in range(5):
        seen.append(list(stubs_of(view(store, "case").window(Policy(tail_turns=8, budget_tokens=1_500))).values()))
        case.record_turn("user" if number % 2 else "assistant", "S-007 is free, too.")
    first = '[find_shelves "all 0": 60 lines; used S-001, S-002; whole result: result_id=r_3]'
    assert seen == [[first, None, None]] * 5


@pytest.mark.parametrize("late", [0, 1])
def test_what_came_late_crowds_nothing_out_of_the_tail(store: Ledgers, late: int) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Which shelves are there?")
    shelves = "\n".join(f"row {row}: shelf S-{row:03d}" for row in range(60))
    calls = [ToolCallPart(call_id=f"c{number}", tool="find", arguments=JsonText.of({})) for number in range(3)]
    case.record_turn("assistant", calls[2:])
    case.record_return("c2", shelves)
    case.record_turn("assistant", calls[:2])
    case.record_return(f"c{1 - late}", "none")
    for number in range(2):
        case.record_turn("assistant", f"S-00{number} is free.")
        shown = stubs_of(view(store, "case").window(Policy(tail_turns=8, budget_tokens=1_000)))
        assert set(shown.values()) == {None}
        if not number:
            case.record_return(f"c{late}", shelves)


def test_a_stub_stays_where_its_turn_is_kept_and_was_answered_late(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Which shelves are there?")
    case.record_turn("assistant", [ToolCallPart(call_id="c", tool="find", arguments=JsonText.of({}))])
    case.record_return("c", "\n".join(f"row {row}: shelf S-{row:03d}" for row in range(60)))
    for number in range(3):
        case.record_turn("user", f"I wait, for {number} minutes by now.")
    case.classify(2, "keep", by="person")
    compaction = Compaction(segment_turns=2, live_percent=10)
    at_once = StubRules(clear_at_least_tokens=0)
    policy = Policy(tail_turns=0, budget_tokens=4_000, rules=(), stubs=at_once, compaction=compaction)
    seen: list[tuple[int, str | None]] = []
    while not seen or not seen[-1][0]:
        case.record_turn("assistant", "There are sixty of them. " * 20)
        window = view(store, "case").window(policy)
        seen.append((window.receipt.through, stubs_of(window)[3]))
    assert {text for _, text in seen} == {"[find: 60 lines; whole result: result_id=r_3]"}


@pytest.mark.parametrize("opened", [0, 1])
def test_a_result_that_comes_late_takes_no_compaction_back(store: Ledgers, opened: int) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Which shelves are there?")
    case.record_turn("assistant", [ToolCallPart(call_id=f"c{one}", tool="find", arguments=JsonText.of({})) for one in range(2)])
    case.record_return(f"c{1 - opened}", "\n".join(f"row {row}: shelf S-{row:03d}" for row in range(200)))
    policy = Policy(budget_tokens=3_000, tail_turns=2, compaction=Compaction(segment_turns=2))
    while not (through := view(store, "case").window(policy).receipt.through):
        case.record_turn("assistant", "It is raining, and I wait for the other shelves. ")
    case.record_return(f"c{opened}", "none")
    assert view(store, "case").window(policy).receipt.through == through


def test_a_retracted_fact_leaves_stubs_as_they_are(store: Ledgers) -> None:
    case = store.ledger("case")
    case.record_turn("user", "Which shelves are there?")
    case.record_turn("assistant", [ToolCallPart(call_id="c", tool="find", arguments=JsonText.of({}))])
    case.record_return("c", "\n".join(f"row {row}: shelf S-{row:03d}" for row in range(60)))
    case.set_fact("limit", 4, source="user")
    waiting = StubRules(clear_at_least_tokens=100_000)
    policy = Policy(budget_tokens=2_000, tail_turns=2, stubs=waiting, compaction=Compaction(segment_turns=50))
    while not any((stubs := stubs_of(view(store, "case").window(policy))).values()):
        case.record_turn("assistant", "It is raining. " * 5)
    case.retract_fact("limit", source="user")
    assert stubs_of(view(store, "case").window(policy)) == stubs


def test_a_result_of_another_turn_that_comes_late_leaves_stubs_as_they_are(store: Ledgers) -> None:
    case = store.ledger("case")
    shelves = "\n".join(f"row {row}: shelf S-{row:03d}" for row in range(90))
    case.record_turn("user", "Which shelves are there?")
    look(case, "a", shelves)
    for number in range(9):
        case.record_turn("assistant", f"Step {number} of many.")
    case.record_turn("assistant", [ToolCallPart(call_id=one, tool="find", arguments=JsonText.of({})) for one in ("b", "c")])
    case.record_return("b", shelves)
    look(case, "d", shelves)
    policy = Policy(budget_tokens=2_900, stubs=StubRules(older_than_turns=15))
    before = stubs_of(view(store, "case").window(policy))
    assert before[3] is not None, "the budget presses"
    case.record_return("c", "a few more")
    for said in ("Going on.", "And on."):
        case.record_turn("assistant", said)
        assert stubs_of(view(store, "case").window(policy))[3] == before[3]


def look(case: Ledger, call_id: str, found: str) -> None:
    case.record_turn("assistant", [ToolCallPart(call_id=call_id, tool="find", arguments=JsonText.of({}))])
    case.record_return(call_id, found)


def found_shelves(case: Ledger, number: int, rows: int, **answered: Any) -> None:
    call = ToolCallPart(call_id=f"c{number}", tool="find", arguments=JsonText.of({"n": number}))
    case.record_turn("assistant", [call], **answered)
    case.record_return(f"c{number}", "\n".join(f"row {row}: S-{row:03d}" for row in range(rows)))


def asked_at_each_step(store: Ledgers, steps: Iterator[None], policy: Policy) -> list[dict[int, str]]:
    """The stubs of the window after each step; the first time that one is whole again is a failure."""
    known: dict[int, str] = {}
    seen = []
    for _ in steps:
        shown = stubs_of(view(store, "case").window(policy))
        assert {version: shown[version] for version in known.keys() & shown.keys()}.items() <= known.items()
        known |= {version: text for version, text in shown.items() if text is not None}
        seen.append(dict(known))
    return seen


def pressed(tail_turns: int, live_percent: int) -> Policy:
    """Under it results become stubs when the budget presses, and seldom otherwise."""
    return Policy(
        tail_turns=tail_turns,
        budget_tokens=1_500,
        state=None,
        stubs=StubRules(clear_at_least_tokens=100_000),
        compaction=Compaction(segment_turns=4, live_percent=live_percent),
    )


def dropped_later(store: Ledgers, chance: random.Random, policy: Policy) -> Iterator[None]:
    """A conversation of which turns that are compacted and kept are dropped now and then."""
    case = store.ledger("case")
    case.record_turn("user", "Find the shelves. Never use B-07.")
    for number in range(2, 40):
        kind = chance.random()
        if kind < 0.3:
            bound = f"You must never put crate {number} above deck. " if chance.random() < 0.6 else "Remark. "
            case.record_turn("user", bound + "rain and wind " * chance.choice([2, 20, 40]))
        elif kind < 0.6:
            found_shelves(case, number, chance.choice([10, 20, 30]))
        else:
            case.record_turn("assistant", f"S-{number:03d} is free. " * chance.choice([1, 10]))
        yield
        if chance.random() < 0.3:
            window = view(store, "case").window(policy)
            turns = [piece.turn.number for piece in window.plan.pieces if isinstance(piece, TurnPiece)]
            for turn in [turn for turn in turns if 1 < turn <= window.receipt.through][:3]:
                case.classify(turn, "drop", because="the crates have left")
                yield


@pytest.mark.parametrize(
    ("seed", "tail_turns", "live_percent"), [(2, 1, 40), (3, 2, 25), (19, 1, 40), (23, 2, 25), (58, 2, 40)]
)
def test_a_stub_stays_when_compacted_turns_are_judged_otherwise_later(seed: int, tail_turns: int, live_percent: int) -> None:
    policy = pressed(tail_turns, live_percent)
    with connect(":memory:") as store:
        seen = asked_at_each_step(store, dropped_later(store, random.Random(seed), policy), policy)
    assert len(seen[-1]) > 5


def another_model_answers(case: Ledger) -> Iterator[None]:
    """A model that counts nearly twice as much as we do, and then another one, of which nothing is known."""
    case.record_turn("user", "Find the shelves.")
    asked = 500
    for number in range(9):
        usage = Usage(input_tokens=asked, output_tokens=1)
        found_shelves(case, number, 20 if number == 5 else 3, model="dear", usage=usage)
        asked += 430 if number == 5 else 150
        case.record_turn("user", f"Shelf S-{number:03d} is full. " + "rain and wind " * 8)
        asked += 75
        yield
    case.record_turn("assistant", "Nothing else.", model="cheap", usage=Usage(input_tokens=700, output_tokens=1))
    yield


def test_a_stub_stays_when_another_model_has_a_larger_budget(store: Ledgers) -> None:
    case = store.ledger("case")
    seen = asked_at_each_step(store, another_model_answers(case), pressed(2, 40))
    assert len(seen[-1]) > 0


def test_a_classification_after_every_turn_is_not_too_much_for_a_new_process(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    policy = Policy(
        budget_tokens=9_000, tail_turns=2, rules=(), compaction=Compaction(segment_turns=16, live_percent=50, text_percent=5)
    )
    with connect(place) as store:
        case = store.ledger("case")
        case.record_turn("user", "Find the shelves.")
        through = 0
        while not through:
            case.record_turn("user", "rain and wind " * 70)
            through = view(store, "case").window(policy).receipt.through
        for number in range(220):
            case.record_turn("user", f"Shelf {number}?")
            case.classify(2 + number % 3, "keep" if number % 2 else "drop", because="it changed")
        asked = view(store, "case").window(policy)
        assert asked.receipt.through == through, "all of them in one epoch"
    with connect(place) as store:
        assert view(store, "case").window(policy).request_bytes == asked.request_bytes
