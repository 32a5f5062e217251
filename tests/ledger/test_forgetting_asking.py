"""What can be asked to be forgotten: what names nothing is an error before anything is changed, never a success."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import InvalidInput, LedgerError, NothingToForget, UnknownLedger
from ledger.parts import ToolCallPart
from tests.ledger.remains import REASON, envelopes, gone, stored_bytes

NOWHERE = "0" * 64


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A store with a ledger of nine events, and another one."""
    with connect(":memory:") as opened:
        handle = opened.ledger("case", task="refund")
        handle.record_turn("user", "ORD-88213 was charged twice")
        handle.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])
        handle.record_return("c1", "two charges")
        handle.add_entry("constraints", "no credit", source="user", turn=1)
        page = handle.store_artifact(b"a page")
        handle.record_evidence("x", quote="a page", artifact=page)
        handle.record_contradiction("price", ["ev_7", e.Side(value=JsonText("1"))])
        handle.set_fact("order", "ORD-88213", source="user", turn=1)
        opened.ledger("other").record_turn("user", "hello", subjects=["customer:ada"])
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """The ledger of nine events."""
    return ledgers.ledger("case")


UNKNOWN: list[tuple[dict[str, Any], str]] = [
    ({"turns": [3]}, "turn 3 is not recorded: the last turn is 2"),
    ({"turns": [0]}, "turn 0 is not recorded"),
    ({"turns": [-1]}, "turn -1 is not recorded"),
    ({"turns": [1, 2, 99]}, "turn 99 is not recorded"),
    ({"facts": ["oder"]}, "field 'oder' is not in this ledger .nearest: order"),
    ({"facts": ["order", "colour"]}, "field 'colour' is not in this ledger"),
    ({"artifacts": [NOWHERE]}, "artifact 000000000000… is not in this ledger"),
    ({"ids": ["ev_6"]}, "'ev_6' names nothing here: at version 6 there is a artifact.stored"),
    ({"ids": ["ev_8"]}, "at version 8 there is a contradiction.recorded"),
    ({"ids": ["en_7"]}, "at version 7 there is a evidence.recorded"),
    ({"ids": ["con_7"]}, "at version 7"),
    ({"ids": ["r_2"]}, "at version 2 there is a turn.recorded"),
    ({"ids": ["v_10"]}, "at version 10 there is nothing"),
    ({"ids": ["v_0"]}, "at version 0 there is nothing"),
    ({"ids": ["r_4", "r_4471"]}, "'r_4471' names nothing here"),
    ({"ids": ["v_999999999999999999"]}, "nothing"),
]


@pytest.mark.parametrize(("wish", "said"), UNKNOWN, ids=str)
@pytest.mark.parametrize("dry_run", [False, True])
def test_what_is_not_there_is_an_error(ledgers: Ledgers, wish: dict[str, Any], said: str, *, dry_run: bool) -> None:
    before = envelopes(ledgers)
    with pytest.raises(NothingToForget, match=said):
        ledgers.forget(ledger="case", **wish, reason=REASON, dry_run=dry_run)
    assert (envelopes(ledgers), gone(ledgers), ledgers.forgettings()) == (before, set(), [])


@pytest.mark.parametrize(
    ("ids", "going"),
    [
        (["ev_7"], {7, 8}),
        (["en_5"], {5}),
        (["con_8"], {8}),
        (["r_4"], {4}),
        (["v_1"], {1}),
        (["v_5", "en_5"], {5}),
        (["r_4", "ev_7"], {4, 7, 8}),
    ],
    ids=str,
)
def test_ids_name_their_events(ledgers: Ledgers, case: Ledger, ids: list[str], going: set[int]) -> None:
    done = case.forget(ids=ids, reason=REASON)
    assert gone(ledgers) == going
    named = {item.version: item.id for item in done.ledgers[0].items if item.id is not None}
    assert named == {
        version: name for version, name in {4: "r_4", 5: "en_5", 7: "ev_7", 8: "con_8"}.items() if version in going
    }


@pytest.mark.parametrize(
    "wish",
    [
        *({"turns": [1]}, {"facts": ["order"]}, {"ids": ["r_4"]}, {"ids": ["v_6"]}, {"ids": ["ev_7"]}, {"everything": True}),
        {"artifacts": ["8b0b5ad39bb79ea9b3a0ab4a13a0ea9b5c8f0c0b5d8f0c0b5d8f0c0b5d8f0c0b"]},
    ],
    ids=str,
)
def test_what_was_forgotten_is_not_forgotten_again(ledgers: Ledgers, case: Ledger, wish: dict[str, Any]) -> None:
    if "artifacts" in wish:
        wish = {"artifacts": list(ledgers.store.holdings(ledgers.head("case").ledger).blobs)}
    job = case.forget(**wish, reason=REASON).job
    before = envelopes(ledgers)
    for dry_run in (True, False):
        with pytest.raises(NothingToForget, match="forgotten already") as refused:
            case.forget(**wish, reason=REASON, dry_run=dry_run)
        assert refused.value.details.get("job") in ({job} if "everything" not in wish else {job, None})
    assert envelopes(ledgers) == before


@pytest.mark.parametrize(
    ("first", "several", "what"),
    [
        ({"turns": [1]}, {"turns": [2, 1]}, "turn 1"),
        ({"facts": ["order"]}, {"facts": ["order", "price"]}, "field 'order'"),
        ({"ids": ["r_4"]}, {"ids": ["en_5", "r_4"]}, "r_4"),
    ],
    ids=str,
)
def test_of_several_names_the_one_that_is_gone_is_to_be_left_out(
    ledgers: Ledgers, case: Ledger, first: dict[str, Any], several: dict[str, Any], what: str
) -> None:
    job = case.forget(**first, reason=REASON).job
    before = envelopes(ledgers)
    for dry_run in (True, False):
        with pytest.raises(NothingToForget) as refused:
            case.forget(**several, reason=REASON, dry_run=dry_run)
        assert str(refused.value) == f"{what} was forgotten already, by job {job}; nothing was forgotten now: leave it out"
        with pytest.raises(NothingToForget) as alone:
            case.forget(**first, reason=REASON, dry_run=dry_run)
        assert str(alone.value) == f"{what} was forgotten already, by job {job}"
    assert envelopes(ledgers) == before


def test_something_that_went_with_something_else_is_forgotten(case: Ledger) -> None:
    job = case.forget(turns=[1], reason=REASON).job
    for wish in ({"facts": ["Order"]}, {"ids": ["en_5"]}, {"ids": ["v_9"]}):
        with pytest.raises(NothingToForget) as refused:
            case.forget(**wish, reason=REASON)  # type: ignore[arg-type]
        assert refused.value.job == job


def test_what_says_that_something_was_forgotten_is_never_forgotten(case: Ledger) -> None:
    case.forget(turns=[1], reason=REASON)
    case.set_retention("30 days")
    case.place_hold(because="case 17")
    case.lift_hold(because="closed")
    case.append(e.ForgettingDeclined(turn=1, because="they did not ask"))
    for version in range(10, 15):
        with pytest.raises(InvalidInput, match="never forgotten") as refused:
            case.forget(ids=[f"v_{version}"], reason=REASON)
        assert refused.value.path == "ids"
    case.forget(everything=True, reason=REASON)
    assert [item.event.type for item in case.events(9)] == [
        *("content.forgotten", "retention.set", "hold.placed", "hold.lifted", "forgetting.declined", "content.forgotten"),
    ]


def nothing_from(name: str) -> Callable[[Ledgers], object]:
    return lambda ledgers: ledgers.forget(ledger="case", **{name: []}, reason=REASON)  # type: ignore[arg-type]


ODD: list[tuple[Callable[[Ledgers], object], str]] = [
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], reason=""), "reason"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], reason="  \n"), "reason"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], reason=None), "reason"),  # type: ignore[arg-type]
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], reason="\ud83d"), "reason"),
    (lambda ledgers: ledgers.forget(reason=REASON), "ledger"),
    (lambda ledgers: ledgers.forget(turns=[1], reason=REASON), "ledger"),
    (lambda ledgers: ledgers.forget(ledger="", turns=[1], reason=REASON), "ledger"),
    (lambda ledgers: ledgers.forget(ledger="case", subject="customer:ada", reason=REASON), "ledger"),
    (lambda ledgers: ledgers.forget(turns=[1], subject="customer:ada", reason=REASON), "ledger"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], facts=["order"], reason=REASON), "facts"),
    (lambda ledgers: ledgers.forget(subject="", reason=REASON), "subjects[0]"),
    (lambda ledgers: ledgers.forget(subject='a"b', reason=REASON), "subjects[0]"),
    (lambda ledgers: ledgers.forget(subject=5, reason=REASON), "subjects[0]"),  # type: ignore[arg-type]
    (lambda ledgers: ledgers.forget(ledger="case", turns=1, reason=REASON), "turns"),  # type: ignore[arg-type]
    (lambda ledgers: ledgers.forget(ledger="case", turns=["1"], reason=REASON), "turns[0]"),  # type: ignore[list-item]
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1, True], reason=REASON), "turns[1]"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1.0], reason=REASON), "turns[0]"),  # type: ignore[list-item]
    (lambda ledgers: ledgers.forget(ledger="case", facts="order", reason=REASON), "facts"),
    (lambda ledgers: ledgers.forget(ledger="case", facts=[5], reason=REASON), "facts[0]"),  # type: ignore[list-item]
    (lambda ledgers: ledgers.forget(ledger="case", facts=["- _"], reason=REASON), "field"),
    (lambda ledgers: ledgers.forget(ledger="case", ids="ev_7", reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", ids=["7"], reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", ids=["ev_"], reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", ids=["ev_7 "], reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", ids=["xx_7"], reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", ids=["ev_\u0667"], reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", ids=["EV_7"], reason=REASON), "ids"),
    (lambda ledgers: ledgers.forget(ledger="case", artifacts=["abc"], reason=REASON), "artifacts"),
    (lambda ledgers: ledgers.forget(ledger="case", artifacts=[NOWHERE.replace("0", "A")], reason=REASON), "artifacts"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], actor="", reason=REASON), "actor"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], answers=[0], reason=REASON), "answers[0]"),
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], answers=["1"], reason=REASON), "answers[0]"),  # type: ignore[list-item]
    (lambda ledgers: ledgers.forget(ledger="case", turns=[1], answers=3, reason=REASON), "answers"),  # type: ignore[arg-type]
    (nothing_from("turns"), "turns"),
    (nothing_from("facts"), "facts"),
    (nothing_from("artifacts"), "artifacts"),
    (nothing_from("ids"), "ids"),
    (lambda ledgers: ledgers.ledger("case").forget(reason=REASON), "turns"),
    (lambda ledgers: ledgers.ledger("case").forget(turns=[], reason=REASON), "turns"),
    (lambda ledgers: ledgers.ledger("case").forget(turns=[1], everything=True, reason=REASON), "turns"),
    (lambda ledgers: ledgers.reauthorise(because="x"), "ledger"),
    (lambda ledgers: ledgers.reauthorise(because="x", ledger="case", subject="customer:ada"), "ledger"),
    (lambda ledgers: ledgers.reauthorise(because="", ledger="case"), "because"),
    (lambda ledgers: ledgers.reauthorise(because="", subject="customer:ada"), "because"),
    (lambda ledgers: ledgers.reauthorise(because="x", subject="customer:ada"), "subject"),
    (lambda ledgers: ledgers.reauthorise(because="x", subject=5), "subjects[0]"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("attempt", "path"), ODD, ids=range(len(ODD)))
def test_odd_input_is_refused_by_name(ledgers: Ledgers, attempt: Callable[[Ledgers], object], path: str) -> None:
    before, kept = envelopes(ledgers), stored_bytes(ledgers)
    with pytest.raises(InvalidInput) as refused:
        attempt(ledgers)
    assert refused.value.path == path
    assert (envelopes(ledgers), stored_bytes(ledgers)) == (before, kept)


def test_an_unknown_ledger_is_refused_with_its_nearest(ledgers: Ledgers) -> None:
    with pytest.raises(UnknownLedger) as refused:
        ledgers.forget(ledger="cases", turns=[1], reason=REASON)
    assert refused.value.nearest == ["case"]
    for attempt in (
        lambda: ledgers.ledger("new").forget(everything=True, reason=REASON),
        lambda: ledgers.reauthorise(ledger="new", because="x"),
        lambda: ledgers.retain("new"),
    ):
        with pytest.raises(UnknownLedger):
            attempt()
    assert [head.name for head in ledgers.heads()] == ["case", "other"]


def test_a_forgetting_event_cannot_be_appended_by_itself(case: Ledger) -> None:
    """It would say that something is forgotten that nobody swept."""
    forgotten = e.ContentForgotten(job="f_1", scope="turns", reason="x", erased=(e.Erasure(version=1),), through_turn=2)
    for event in (forgotten, e.LedgerReauthorised(because="x")):
        with pytest.raises(InvalidInput, match="use forget, or reauthorise"):
            case.append(event)
    assert case.version == 9


@pytest.mark.parametrize("reason", ["日本 \u2028", "x" * 4_096, "'; DROP TABLE jobs; --"])
def test_any_text_is_a_reason(ledgers: Ledgers, case: Ledger, reason: str) -> None:
    done = case.forget(turns=[1], reason=reason)
    assert (done.reason, done.state) == (reason, "complete")
    (fence,) = case.events(9)
    assert isinstance(fence.event, e.ContentForgotten)
    assert fence.event.reason == reason
    assert [job.reason for job in ledgers.forgettings()] == [reason]


def test_a_refusal_is_a_ledger_error(case: Ledger) -> None:
    with pytest.raises(LedgerError):
        case.forget(turns=[7], reason=REASON)


def test_generators_are_taken(ledgers: Ledgers) -> None:
    ledgers.forget(ledger="case", turns=(turn for turn in (1, 2)), reason=REASON)
    assert gone(ledgers) == {2, 3, 4, 5, 9}
