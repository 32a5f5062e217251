"""How long content is kept: rules in words, which one counts, and what `retain` erases when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import InvalidInput, NothingToForget, OnHold, UnknownLedger
from ledger.parts import ToolCallPart
from ledger.retention import described, period
from ledger.verify import verify_store
from tests.ledger.remains import REASON, envelopes, gone, swept

SECOND = 1_000_000
DAY = 86_400 * SECOND
BEGIN = 1_900_000_000 * SECOND


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> int:
        return self.now

    def on_day(self, day: float) -> None:
        """Move to so many days after the beginning."""
        self.now = BEGIN + int(day * DAY)


@pytest.fixture
def clock() -> Clock:
    """The clock of the store."""
    return Clock()


@pytest.fixture
def ledgers(clock: Clock) -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:", clock=clock) as opened:
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """Eight events of the first day: two turns, a return, a field, two entries, a label on some."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "my card is 4929", labels=["payment"])
    handle.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])
    handle.record_return("c1", "two charges", labels=["payment", "lookup"])
    handle.set_fact("order", "ORD-88213", source="user")
    handle.add_entry("decisions", "refund it", source="user")
    handle.add_entry("open", "which card?", source="user")
    handle.set_fact("amount", 4050, source="tool", turn=2)
    handle.record_outcome("partial", judge="reviewer")
    return handle


@pytest.mark.parametrize(
    ("text", "seconds", "after_close", "words"),
    [
        ("forever", None, False, "forever"),
        ("after close", 0, True, "after close"),
        ("1 second", 1, False, "1 second"),
        ("90 seconds", 90, False, "90 seconds"),
        ("1 minute", 60, False, "1 minute"),
        ("60 minutes", 3_600, False, "1 hour"),
        ("36 hours", 129_600, False, "36 hours"),
        ("1 day", 86_400, False, "1 day"),
        ("30 days", 2_592_000, False, "30 days"),
        ("30 day", 2_592_000, False, "30 days"),
        ("2 weeks", 1_209_600, False, "2 weeks"),
        ("1 year after close", 31_536_000, True, "1 year after close"),
        ("2000 years", 63_072_000_000, False, "2,000 years"),
        ("0 days", 0, False, "0 seconds"),
        ("0 days after close", 0, True, "after close"),
        ("999999999 years", 31_535_999_968_464_000, False, "999,999,999 years"),
    ],
)
def test_periods(text: str, seconds: int | None, words: str, *, after_close: bool) -> None:
    assert period(text) == (seconds, after_close)
    for scope, name, what in (("ledger", None, "the ledger"), ("label", "payment", "label payment")):
        rule = e.RetentionSet(scope=scope, name=name, keep_seconds=seconds, after_close=after_close)  # type: ignore[arg-type]
        assert described(rule) == f"{what}: {words}"


@pytest.mark.parametrize(
    "text",
    [
        *("", "30", "days", "30 d", "30  days", " 30 days", "30 days ", "-1 days", "1.5 days", "30 months", "Forever", "never"),
        *("30 days before close", "30 days after", "close", "\u0663\u0660 days", "9999999999 days", "30 dayss", 30, None, 2.5),
    ],
)
def test_what_is_no_period_is_refused(case: Ledger, text: Any) -> None:
    with pytest.raises(InvalidInput, match="is not understood: write a number of") as refused:
        case.set_retention(text)
    assert (refused.value.path, case.version) == ("keep", 8)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"label": "payment", "section": "open"}, "label"),
        ({"section": "entity"}, "name"),
        ({"event_type": "turn"}, "name"),
        ({"event_type": "content.forgotten"}, "name"),
        ({"event_type": "retention.set"}, "name"),
        ({"label": ""}, "name"),
    ],
    ids=str,
)
def test_a_rule_for_nothing_is_refused(case: Ledger, options: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        case.set_retention("30 days", **options)
    assert (refused.value.path, case.version) == (path, 8)


RULES: list[tuple[list[tuple[str, dict[str, str]]], dict[float, set[int]]]] = [
    ([("30 days", {})], {29.9: set(), 30: set(range(1, 9))}),
    ([("30 days", {"label": "payment"})], {29.9: set(), 30: {1, 3, 7}}),
    ([("30 days", {"label": "lookup"})], {30: {3, 7}}),
    ([("30 days", {"label": "another"})], {400: set()}),
    ([("30 days", {"section": "entities"})], {30: {4, 7}}),
    ([("30 days", {"section": "decisions"})], {30: {5}}),
    ([("30 days", {"section": "open"})], {30: {6}}),
    ([("30 days", {"event_type": "tool.returned"})], {30: {3, 7}}),
    ([("30 days", {"event_type": "outcome.recorded"})], {30: {8}}),
    ([("30 days", {"event_type": "turn.recorded"})], {30: {1, 2, 3, 7}}),
    ([("0 days", {})], {0: set(range(1, 9))}),
    ([("forever", {})], {40_000: set()}),
    ([("after close", {})], {40_000: set()}),
    ([("30 days", {}), ("10 days", {"section": "open"})], {9: set(), 10: {6}, 30: set(range(1, 9))}),
    ([("10 days", {}), ("30 days", {"section": "open"})], {9: set(), 10: set(range(1, 9))}),
    ([("10 days", {}), ("30 days", {})], {10: set(), 30: set(range(1, 9))}),
    ([("30 days", {}), ("10 days", {})], {9: set(), 10: set(range(1, 9))}),
    ([("10 days", {}), ("forever", {})], {400: set()}),
    ([("10 days", {"section": "open"}), ("forever", {}), ("forever", {"section": "open"})], {400: set()}),
    ([("10 days", {}), ("forever", {"section": "open"})], {10: set(range(1, 9))}),
]


@pytest.mark.parametrize(("rules", "past"), RULES, ids=str)
def test_what_is_past_its_retention_is_erased(
    ledgers: Ledgers, clock: Clock, case: Ledger, rules: list[tuple[str, dict[str, str]]], past: dict[float, set[int]]
) -> None:
    for keep, options in rules:
        case.set_retention(keep, **options)
    other = ledgers.ledger("other")
    other.record_turn("user", "hello", labels=["payment"])
    for day, going in past.items():
        clock.on_day(day)
        planned = ledgers.retain(dry_run=True)
        assert {item.version for one in planned for item in one.ledgers[0].items} == going
        assert gone(ledgers) == set()
        if day == max(past):
            done = ledgers.retain()
            assert [(one.state, one.scope, one.count) for one in done] == (
                [("complete", "retention", len(going))] if going else []
            )
            assert gone(ledgers) == swept(ledgers) == going
            assert ledgers.retain() == []
    assert gone(ledgers, "other") == set()
    assert verify_store(ledgers).problems == ()


def test_after_the_close(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    case.set_retention("10 days after close", label="payment")
    case.set_retention("after close", section="open")
    clock.on_day(100)
    assert ledgers.retain() == []
    case.close("done")
    assert [one.count for one in ledgers.retain()] == [1]
    clock.on_day(109.9)
    assert ledgers.retain() == []
    clock.on_day(110)
    assert [one.count for one in ledgers.retain()] == [3]
    assert gone(ledgers) == {1, 3, 6, 7}
    assert verify_store(ledgers).problems == ()


def test_a_closing_that_was_forgotten_still_counts(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    case.set_retention("10 days after close")
    case.close("sold to Bob")
    case.forget(ids=["v_10"], reason=REASON)
    clock.on_day(10)
    assert [one.count for one in ledgers.retain()] == [8]


def test_later_events_have_their_own_time(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    case.set_retention("10 days")
    clock.on_day(5)
    case.record_turn("user", "still here")
    clock.on_day(10)
    assert [one.count for one in ledgers.retain()] == [8]
    assert gone(ledgers) == set(range(1, 9))
    clock.on_day(15)
    ledgers.retain()
    assert gone(ledgers) == {*range(1, 9), 10}


def test_what_rests_on_expired_content_goes_with_it(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    """Although its own time is not over."""
    case.set_retention("10 days", section="open")
    clock.on_day(9)
    case.close_entry("en_6", source="interface", because="it is card 4929")
    clock.on_day(10)
    (done,) = ledgers.retain()
    assert [item.version for item in done.ledgers[0].items] == [6, 10]
    assert done.reason == "past its retention (section open: 10 days)"
    (fence,) = case.events(10)
    assert isinstance(fence.event, e.ContentForgotten)
    assert (fence.event.scope, fence.event.answers) == ("retention", ())


def test_the_time_goes_on_for_all_ledgers_or_one(ledgers: Ledgers, clock: Clock) -> None:
    for name in ("a", "b", "c"):
        ledgers.ledger(name).record_turn("user", "hello")
        if name != "c":
            ledgers.ledger(name).set_retention("1 day")
    clock.on_day(1)
    (alone,) = ledgers.retain("b", actor="night job")
    assert (alone.ledgers[0].ledger, gone(ledgers, "b"), gone(ledgers, "a")) == ("b", {1}, set())
    assert next(ledgers.ledger("b").events(2)).envelope.actor == "night job"
    (rest,) = ledgers.retain()
    assert (rest.ledgers[0].ledger, gone(ledgers, "c")) == ("a", set())
    with pytest.raises(UnknownLedger):
        ledgers.retain("d")


def test_nothing_is_erased_under_a_hold(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    case.set_retention("1 day")
    case.record_turn("user", "I am Ada", subjects=["customer:ada", "customer:bob"])
    other = ledgers.ledger("other")
    other.record_turn("user", "Ada here", subjects=["customer:ada"])
    placed = case.place_hold(because="case 2031-17", actor="legal")
    assert (placed.event, placed.envelope.actor) == (e.HoldPlaced(because="case 2031-17"), "legal")
    before = envelopes(ledgers)
    wishes: list[dict[str, Any]] = [
        *({"ledger": "case", "turns": [1]}, {"ledger": "case", "facts": ["order"]}, {"ledger": "case", "ids": ["r_3"]}),
        *({"ledger": "case"}, {"subject": "customer:bob"}),
    ]
    for wish in wishes:
        for dry_run in (True, False):
            with pytest.raises(OnHold, match="lift the hold first") as refused:
                ledgers.forget(**wish, reason=REASON, dry_run=dry_run)
            assert refused.value.because == "case 2031-17"
    clock.on_day(2)
    (kept,) = ledgers.retain()
    assert (kept.state, kept.job, kept.count, kept.ledgers[0].ledger) == ("incomplete", None, 0, "case")
    assert "case 2031-17" in kept.problems[0]
    assert (envelopes(ledgers), gone(ledgers), gone(ledgers, "other"), ledgers.forgettings()) == (before, set(), set(), [])
    assert other.record_turn("user", "Ada again", subjects=["customer:ada"]) == 2

    lifted = case.lift_hold(because="the case was closed")
    assert lifted.event == e.HoldLifted(because="the case was closed")
    assert [one.count for one in ledgers.retain()] == [9]
    assert ledgers.forget(subject="customer:ada", reason=REASON).count == 2
    assert verify_store(ledgers).problems == ()


def test_holds_are_placed_and_lifted_in_turn(case: Ledger) -> None:
    with pytest.raises(Exception, match="under no legal hold"):
        case.lift_hold(because="x")
    case.place_hold(because="a")
    with pytest.raises(Exception, match="under a legal hold already"):
        case.place_hold(because="b")
    case.lift_hold(because="x")
    case.place_hold(because="b")
    with pytest.raises(OnHold) as refused:
        case.forget(turns=[1], reason=REASON)
    assert refused.value.because == "b"


def test_a_forgotten_or_closed_ledger_can_be_held_and_gets_rules(ledgers: Ledgers, case: Ledger) -> None:
    """What governs a ledger is no content of it."""
    case.close()
    case.set_retention("30 days")
    case.forget(everything=True, reason=REASON)
    case.place_hold(because="case 17")
    case.set_retention("1 day")
    case.lift_hold(because="closed")
    with pytest.raises(NothingToForget):
        case.forget(everything=True, reason=REASON)
    assert verify_store(ledgers).problems == ()


def test_what_was_erased_for_its_age_is_told_as_such(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    case.set_retention("1 day", label="payment")
    clock.on_day(1)
    (done,) = ledgers.retain()
    with pytest.raises(NothingToForget) as refused:
        case.forget(turns=[1], reason=REASON)
    assert refused.value.job == done.job


def test_a_report_says_by_which_rule_each_event_went(ledgers: Ledgers, clock: Clock, case: Ledger) -> None:
    case.set_retention("30 days", label="pii")
    case.set_retention("10 days", section="open")
    case.record_turn("user", "I am Ada", labels=["pii"])
    case.set_fact("name", "Ada", source="user", turn=3)
    case.set_fact("nick", "Ada", source="user", turn=3, labels=["pii"])
    clock.on_day(30)
    for dry_run in (True, False):
        (done,) = ledgers.retain(dry_run=dry_run)
        assert {item.version: item.because for item in done.ledgers[0].items} == {
            6: "past its retention (section open: 10 days)",
            11: "past its retention (label pii: 30 days)",
            12: "belongs to turn 3",
            13: "past its retention (label pii: 30 days)",
        }
        assert done.reason == "past its retention (label pii: 30 days); past its retention (section open: 10 days)"
