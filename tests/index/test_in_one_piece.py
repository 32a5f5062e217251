"""Turns that are taken on in one piece from one question to the next: as they are at the version that is asked for."""

from __future__ import annotations

import random

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import TextPart, ToolCallPart
from projections.cards import card_of
from projections.told import Told, Turns
from projections.transcript import Turn
from replay.tokens import counter
from replay.turns.latest import FEWEST_LATEST, MOST_LATEST, LatestTurns
from replay.turns.ledger_turns import folded_turns, turns_of
from tests.index.telling import ENCODING, Clock, loaded_at

SOME = (1, 2, 5, 8, 13, 21)


def told(number: int, tokens: int) -> Told:
    """A turn of so many tokens."""
    turn = Turn(number, number, "user", (TextPart(text="x " * tokens),))
    return Told(turn, card_of(turn, lambda text: len(text.split()), {}))


def pieces_of(turns: Turns) -> list[Told]:
    """The latest turns, some of them again, those before, and some by their numbers."""
    last = turns.last
    rows = [turns.between(last - 15, last), turns.between(last - 9, last - 3), turns.between(last - 30, last - 12)]
    return [one for row in (*rows, turns.at(SOME).values()) for one in row]


def check(ledgers: Ledgers, version: int) -> None:
    """As all events have them."""
    turns = turns_of(loaded_at(ledgers, "case", version), ENCODING)
    whole = folded_turns(loaded_at(ledgers, "case", version), counter(ENCODING))
    assert pieces_of(turns) == pieces_of(whole)
    assert pieces_of(turns) == pieces_of(whole)


def goes_on(case: Ledger, chance: random.Random, waiting: list[tuple[int, str]]) -> None:
    """One more turn, with calls whose results come now, or one that comes late."""
    if waiting and chance.random() < 0.4:
        turn, call = waiting.pop(chance.randrange(len(waiting)))
        case.record_return(call, f"late: {call}", turn=turn)
        return
    number = sum(1 for item in case.events() if item.envelope.type == "turn.recorded") + 1
    calls = [ToolCallPart(call_id=f"c{number}_{place}", tool="look", arguments=JsonText.of(place)) for place in range(2)]
    case.record_turn("assistant", ["I look.", *calls])
    if chance.random() < 0.5:
        case.record_return(calls[0].call_id, "at once", turn=number)
        waiting.append((number, calls[1].call_id))
    else:
        waiting += [(number, call.call_id) for call in calls]


@pytest.mark.parametrize("seed", range(3))
def test_late_results_come_to_turns_that_are_kept(seed: int) -> None:
    chance = random.Random(seed)
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        waiting: list[tuple[int, str]] = []
        for step in range(60):
            goes_on(case, chance, waiting)
            check(ledgers, case.version)
            if step % 5 == 4:
                check(ledgers, chance.randrange(1, case.version + 1))
        case.forget(turns=[SOME[1], case.version // 4], reason="asked to")
        check(ledgers, case.version)
        goes_on(case, chance, waiting)
        check(ledgers, case.version)


def test_a_view_of_before_a_late_result_does_not_show_it() -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        waiting: list[tuple[int, str]] = []
        chance = random.Random(7)
        while len(waiting) < 12:
            goes_on(case, chance, waiting)
        before = case.version
        earlier, asked = (turns_of(loaded_at(ledgers, "case", before), ENCODING) for _ in range(2))
        known = pieces_of(asked)
        for turn, call in waiting:
            case.record_return(call, "late", turn=turn)
            check(ledgers, case.version)
        assert pieces_of(earlier) == pieces_of(asked) == known
        check(ledgers, before)


@pytest.mark.parametrize("seed", range(3))
def test_versions_before_the_last_one_after_the_other(seed: int) -> None:
    chance = random.Random(seed)
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        waiting: list[tuple[int, str]] = []
        for _ in range(70):
            goes_on(case, chance, waiting)
        versions = [*range(case.version // 3, case.version, 2)]
        for asked in (versions, versions[::-1], chance.sample(versions, len(versions))):
            for step, version in enumerate(asked):
                check(ledgers, version)
                if step % 9 == 8:  # results come late to turns that were asked for
                    goes_on(case, chance, waiting)
                if step % 7 == 6:
                    check(ledgers, case.version)


def test_what_was_found_before_a_late_result_is_not_taken_for_what_stays_so() -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        for number in range(1, 41):
            case.record_turn("user", f"Berth {number}?")
        case.record_turn("assistant", [ToolCallPart(call_id="c", tool="look", arguments=JsonText.of({}))])
        held = turns_of(loaded_at(ledgers, "case", case.version), ENCODING)
        held.between(35, 41)
        returned = case.record_return("c", "Berth 7 is free.", turn=41)
        check(ledgers, returned)
        held.between(5, 41)  # goes further back, and was asked before the result came
        check(ledgers, returned)
        case.record_turn("user", "Take it.")
        check(ledgers, case.version)
        check(ledgers, returned)


def test_the_latest_turns_are_bounded_in_number_and_length() -> None:
    first: LatestTurns[Told] = LatestTurns(5, 11, [], 0)
    many = first.joined(6, after=[told(number, 10) for number in range(11, 11 + MOST_LATEST)])
    assert many.within(10 * MOST_LATEST) is many
    one_more = many.joined(7, after=[told(many.end, 10)])
    kept = one_more.within(10 * MOST_LATEST)
    assert (len(kept.turns), kept.end, kept.first) == (FEWEST_LATEST, one_more.end, one_more.end - FEWEST_LATEST)
    assert [one.turn.number for one in kept.turns] == list(range(kept.first, kept.end))
    short = many.within(35)
    assert (len(short.turns), short.tokens, short.end) == (3, 30, many.end)
    assert not many.within(9).turns


def test_what_changed_ends_the_row() -> None:
    empty: LatestTurns[Told] = LatestTurns(5, 11, [], 0)
    row = empty.joined(6, after=[told(number, 1) for number in range(11, 21)])
    assert row.cut(10) is row
    assert row.cut(21) is row
    assert [one.turn.number for one in row.cut(14).turns] == [11, 12, 13]
    assert not row.cut(11).turns
