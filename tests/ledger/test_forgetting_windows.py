"""What goes with what is forgotten of classifications, summaries, policies and windows that were served; and what stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import InvalidInput, NothingToForget
from ledger.parts import DocumentPart, ToolCallPart
from ledger.verify import verify_store
from tests.ledger.remains import REASON, gone, stored_bytes, swept
from tests.ledger.test_serving import DECLARED, DIGEST, summary, window

PAGE = b"Ines Okafor lives at Rue 7"
DAY = 86_400_000_000


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


def served(ledgers: Ledgers) -> Ledger:
    """Four turns with a return and a page, and all that can be said of them."""
    handle = ledgers.ledger("case")
    page = handle.store_artifact(PAGE, media_type="text/plain")  # version 1
    handle.record_turn("user", "I am Ada")  # turn 1, version 2
    handle.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])  # turn 2, version 3
    handle.record_return("c1", "Byron")  # version 4
    handle.record_turn("user", [DocumentPart(sha256=page, media_type="text/plain")])  # turn 3, version 5
    handle.record_turn("assistant", "Thanks")  # turn 4, version 6
    handle.classify(1, "keep", because="she is Ada")  # 7
    handle.classify(2, "stub", kind="Byron")  # 8
    handle.classify(2, "stub")  # 9
    for first, last in ((1, 1), (2, 2), (1, 3), (4, 4)):  # 10, 11, 12, 13
        handle.record_summary(**summary(first_turn=first, last_turn=last, through_version=6, text=f"{first} to {last}: Ada"))
    assert handle.record_served(**window(of_version=6)) == "win_15"  # 14 and 15
    return handle


CASES: list[tuple[dict[str, Any], set[int]]] = [
    ({"turns": [1]}, {2, 7, 10, 12}),
    ({"turns": [2]}, {3, 4, 8, 9, 11, 12}),
    ({"turns": [3]}, {1, 5, 12}),
    ({"turns": [4]}, {6, 13}),
    ({"turns": [1, 4]}, {2, 6, 7, 10, 12, 13}),
    ({"ids": ["r_4"]}, {4, 8, 11, 12}),
    ({"artifacts": [PAGE]}, {1, 12}),
    ({"ids": ["sum_12"]}, {12}),
    ({"ids": ["win_15"]}, {15}),
    ({"ids": ["v_14"]}, {14}),
    ({"ids": ["v_7"]}, {7}),
    ({"everything": True}, set(range(1, 16))),
]


@pytest.mark.parametrize(("wish", "going"), CASES, ids=str)
def test_what_goes_with_what(ledgers: Ledgers, wish: dict[str, Any], going: set[int]) -> None:
    case = served(ledgers)
    if "artifacts" in wish:
        wish = {"artifacts": [next(item.event.sha256 for item in case.events() if isinstance(item.event, e.ArtifactStored))]}
    case.forget(**wish, reason=REASON)
    assert gone(ledgers) == swept(ledgers) == going
    assert verify_store(ledgers).problems == ()


def test_why_they_go(ledgers: Ledgers) -> None:
    planned = served(ledgers).forget(turns=[2], reason=REASON, dry_run=True)
    assert {item.version: item.because for item in planned.ledgers[0].items} == {
        3: "asked for",
        4: "belongs to turn 2",
        8: "belongs to turn 2",
        9: "belongs to turn 2",
        11: "summarises turn 2",
        12: "summarises turn 2",
    }


def test_a_plan_shows_the_ids_of_summaries_and_windows_and_what_a_summary_says(ledgers: Ledgers) -> None:
    """Not the hash of what it was made from, nor what made it."""
    case = served(ledgers)
    long = case.record_summary(**summary(through_version=6, text="Ada says that she is Ada. " * 9, prompt_hash=DIGEST))
    [planned] = case.forget(everything=True, reason=REASON, dry_run=True).ledgers
    found = {item.id: item.excerpt for item in planned.items}
    assert found["sum_12"] == "1 to 3: Ada"
    assert found[long] == "Ada says that she is Ada. Ada says that she is Ada. Ada say…"
    assert "win_15" in found


def test_summaries_of_the_same_prompt_do_not_mention_each_other(ledgers: Ledgers) -> None:
    case = served(ledgers)
    for turn in (1, 3):
        case.record_summary(**summary(first_turn=turn, last_turn=turn, through_version=6, prompt_hash="4d" * 32))
    assert case.forget(turns=[1], reason=REASON, dry_run=True).ledgers[0].mentions == ()


def test_nothing_of_a_summary_is_left(ledgers: Ledgers) -> None:
    case = served(ledgers)
    assert b"1 to 3: Ada" in stored_bytes(ledgers)
    case.forget(turns=[2], reason=REASON)
    left = stored_bytes(ledgers)
    assert (b"1 to 3: Ada" in left, b"2 to 2: Ada" in left, b"1 to 1: Ada" in left) == (False, False, True)


def test_a_summary_of_the_rest_is_kept_when_its_turns_are_forgotten_no_more(ledgers: Ledgers) -> None:
    """What was forgotten before it was made is not in it."""
    case = served(ledgers)
    case.forget(turns=[2], reason=REASON)
    made = case.record_summary(**summary(first_turn=1, last_turn=4, through_version=case.version, text="the rest"))
    with pytest.raises(NothingToForget):
        case.forget(turns=[2], reason=REASON)
    assert int(made.removeprefix("sum_")) not in gone(ledgers)
    case.forget(turns=[4], reason=REASON)
    assert int(made.removeprefix("sum_")) in gone(ledgers)


def test_an_id_of_another_kind_names_nothing(ledgers: Ledgers) -> None:
    case = served(ledgers)
    with pytest.raises(NothingToForget, match=r"'sum_15' names nothing here: at version 15 there is a window\.recorded"):
        case.forget(ids=["sum_15"], reason=REASON)
    with pytest.raises(NothingToForget, match=r"'win_10' names nothing here"):
        case.forget(ids=["win_10"], reason=REASON)
    with pytest.raises(InvalidInput, match="sum_40, win_41"):
        case.forget(ids=["pol_14"], reason=REASON)


def test_a_policy_that_was_forgotten_is_recorded_again(ledgers: Ledgers) -> None:
    case = served(ledgers)
    case.forget(ids=["v_14"], reason=REASON)
    for handle in (ledgers.ledger("case"), case):
        handle.record_served(**window(of_version=6))
    assert [item.envelope.type for item in case.events(after=16)] == ["policy.recorded", "window.recorded", "window.recorded"]
    assert verify_store(ledgers).problems == ()


def test_a_summary_that_repeats_a_forgotten_value_is_told_of_and_a_window_is_not(ledgers: Ledgers) -> None:
    case = ledgers.ledger("case")
    case.record_turn("user", "The card is 4929 1188 2231")
    case.set_fact("card", "4929 1188 2231", source="user", turn=1)
    case.record_summary(**summary(last_turn=1, through_version=2, text="Their card: 4929 1188 2231"))
    case.record_served(**window(of_version=2, bytes_digest="4929" * 16))
    [planned] = case.forget(facts=["card"], reason=REASON, dry_run=True).ledgers
    assert [found.version for found in planned.mentions] == [1, 3]


def test_retention_takes_a_summary_with_the_turn_whose_time_is_over() -> None:
    """It is past its retention in every view, and gone after the next sweep; a window that was served stays."""
    now = [1_900_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as ledgers:
        case = ledgers.ledger("case")
        case.set_retention("30 days", event_type="turn.recorded")
        case.record_turn("user", "I am Ada")
        now[0] += 29 * DAY
        case.record_turn("assistant", "Thanks")
        case.record_summary(**summary(through_version=3))
        case.record_summary(**summary(first_turn=2, through_version=3))
        case.classify(1, "keep")
        case.record_served(**window(of_version=3))
        now[0] += 2 * DAY
        ledgers.retain()
        assert gone(ledgers) == {2, 4, 6}
        assert verify_store(ledgers).problems == ()


@pytest.mark.parametrize(("name", "going"), [("summary.recorded", {4}), ("policy.recorded", {5}), ("window.recorded", {6})])
def test_retention_by_type(name: str, going: set[int]) -> None:
    """A policy whose time is over is recorded again for the next window."""
    now = [1_900_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as ledgers:
        case = ledgers.ledger("case")
        case.set_retention("30 days", event_type=name)
        case.record_turn("user", "I am Ada")
        case.classify(1, "keep")
        case.record_summary(**summary(last_turn=1, through_version=2))
        case.record_served(**window(of_version=2))
        now[0] += 31 * DAY
        case.record_served(**window(of_version=2))
        again = [item.event for item in case.events(after=6) if isinstance(item.event, e.PolicyRecorded)]
        assert again == ([e.PolicyRecorded(digest=DIGEST, declared=JsonText(DECLARED))] if name == "policy.recorded" else [])
        ledgers.retain()
        assert gone(ledgers) == going
        assert verify_store(ledgers).problems == ()
