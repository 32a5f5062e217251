"""What a ledger is told of its windows: classifications, summaries, policies, and what was served."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import AdmissionRefused, ClosedLedger, ForgottenLedger, IdempotencyConflict, InvalidInput, VersionConflict
from ledger.parts import Usage
from ledger.redaction import Redactor
from ledger.verify import verify_store

DIGEST, OTHER = "a" * 64, "b" * 64
DECLARED = '{"tail_turns":6,"note":"password: hunter2hunter2"}'


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """A ledger with four turns, at version 4."""
    handle = ledgers.ledger("case")
    for role, said in (("user", "Hi"), ("assistant", "Hello"), ("user", "Never by phone"), ("assistant", "Noted")):
        handle.record_turn(role, said)  # type: ignore[arg-type]
    return handle


def window(**changes: Any) -> dict[str, Any]:
    """What is told of a window that was served."""
    basis = {"of_version": 4, "form": "openai", "engine": "2", "erasures": 0, "encoding": "o200k_base"}
    served = {"bytes_digest": OTHER, "tokens": 812, "plan": '{"keep":[[1,1],[3,4]],"drop":[2]}'}
    return {"policy": DIGEST, "declared": DECLARED, **basis, **served, **changes}


def summary(**changes: Any) -> dict[str, Any]:
    """What is told of a summary."""
    made = {"first_turn": 1, "last_turn": 2, "through_version": 4, "inputs": OTHER, "summariser": "extractive/1"}
    return {"text": "They greeted.", **made, **changes}


def types(case: Ledger, after: int = 4) -> list[str]:
    return [item.envelope.type for item in case.events(after=after)]


def test_a_turn_is_classified(case: Ledger) -> None:
    first = case.classify(1, "drop", kind="greeting", because="it says nothing", actor="panel")
    second = case.classify(3, "keep", by="model", kind="constraint", model="m-1", prompt_hash=OTHER)
    assert (first.turn, first.envelope.actor, second.turn) == (1, "panel", 3)
    assert [item.event for item in case.events(after=4)] == [
        e.TurnClassified(turn=1, verdict="drop", by="person", kind="greeting", because="it says nothing"),
        e.TurnClassified(turn=3, verdict="keep", by="model", kind="constraint", model="m-1", prompt_hash=OTHER),
    ]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"turn": 5, "verdict": "keep"}, AdmissionRefused, "turn 5 is not recorded, the last one is 4"),
        ({"turn": 0, "verdict": "keep"}, InvalidInput, "turn"),
        ({"turn": None, "verdict": "keep"}, AdmissionRefused, "name the turn"),
        ({"turn": 1, "verdict": "never"}, InvalidInput, "verdict"),
        ({"turn": 1, "verdict": "keep", "by": "agent"}, InvalidInput, "by"),
        ({"turn": 1, "verdict": "keep", "model": "m-1"}, InvalidInput, "by='person' has no model"),
        ({"turn": 1, "verdict": "keep", "prompt_hash": OTHER}, InvalidInput, "by='person' has no model"),
        ({"turn": 1, "verdict": "keep", "kind": ""}, InvalidInput, "kind"),
    ],
)
def test_a_classification_that_is_refused(case: Ledger, given: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        case.classify(**given)
    assert case.version == 4


def test_a_forgotten_turn_is_not_classified(ledgers: Ledgers, case: Ledger) -> None:
    case.forget(turns=[3], reason="asked for")
    for handle in (case, ledgers.ledger("case")):
        with pytest.raises(AdmissionRefused, match="turn 3 was forgotten by job"):
            handle.classify(3, "keep")


def test_an_old_turn_is_classified_by_a_writer_that_has_not_read_it(ledgers: Ledgers, case: Ledger) -> None:
    for number in range(100):
        case.record_turn("user", f"turn {number}")
    case.forget(turns=[2], reason="asked for")
    assert ledgers.ledger("case").classify(1, "drop").turn == 1
    with pytest.raises(AdmissionRefused, match="turn 2 was forgotten"):
        ledgers.ledger("case").classify(2, "drop")


def test_summaries_of_the_same_turns_stand_side_by_side(case: Ledger) -> None:
    usage = Usage(input_tokens=40, output_tokens=9)
    assert case.record_summary(**summary()) == "sum_5"
    assert case.record_summary(**summary(summariser="openai", model="m-1", prompt_hash=DIGEST, usage=usage)) == "sum_6"
    first = e.SummaryRecorded(**summary())
    by_model = {"summariser": "openai", "model": "m-1", "prompt_hash": DIGEST, "usage": usage}
    assert [item.event for item in case.events(after=4)] == [first, first.model_copy(update=by_model)]
    assert (first.first_turn, first.last_turn, first.text) == (1, 2, "They greeted.")


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"first_turn": 3, "last_turn": 2}, InvalidInput, "turns 3 to 2 are no range"),
        ({"last_turn": 5}, AdmissionRefused, "turn 5 is not recorded, the last one is 4"),
        ({"first_turn": 0}, InvalidInput, "first_turn"),
        ({"through_version": 5}, AdmissionRefused, "version 5 is not recorded yet, the last one is 4"),
        ({"through_version": 0}, InvalidInput, "through_version"),
        ({"text": " \n"}, InvalidInput, "without a text"),
        ({"inputs": "abc"}, InvalidInput, "inputs"),
        ({"summariser": ""}, InvalidInput, "summariser"),
    ],
)
def test_a_summary_that_is_refused(case: Ledger, changes: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        case.record_summary(**summary(**changes))
    assert case.version == 4


def test_a_summary_made_before_a_forgetting_is_not_taken_after_it(ledgers: Ledgers, case: Ledger) -> None:
    """A model takes its time; what it read may be forgotten when its answer comes."""
    case.forget(turns=[2], reason="asked for")
    for handle in (case, ledgers.ledger("case")):
        with pytest.raises(AdmissionRefused, match="something was forgotten at version 5") as caught:
            handle.record_summary(**summary())
        assert caught.value.details["version"] == 5
    assert case.record_summary(**summary(through_version=5)) == "sum_6"


def test_the_policy_is_recorded_once_and_before_its_first_window(ledgers: Ledgers, case: Ledger) -> None:
    judged = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    assert case.record_served(**window(), actor="agent", cause="turn 5") == "win_6"
    assert ledgers.ledger("case").record_served(**window(judged_at=judged, rules=2)) == "win_7"
    assert case.record_served(**window(policy=OTHER, declared="{}")) == "win_9"
    policy, first, second, *others = case.events(after=4)
    assert policy.event == e.PolicyRecorded(digest=DIGEST, declared=JsonText(DECLARED))
    assert (policy.envelope.command, policy.envelope.actor, policy.envelope.cause) == (
        first.envelope.command,
        *("agent", "turn 5"),
    )
    served = {name: value for name, value in window().items() if name not in ("declared", "plan")}
    expected = e.WindowRecorded(**served, plan=JsonText(window()["plan"]))
    assert first.event == expected
    assert second.event == expected.model_copy(update={"judged_at": judged, "rules": 2})
    assert [item.envelope.type for item in others] == ["policy.recorded", "window.recorded"]
    assert verify_store(ledgers).problems == ()


def test_a_time_may_be_told_as_a_basis_tells_it(case: Ledger) -> None:
    case.record_served(**window(judged_at="2026-05-04T09:30:00.000000Z"))
    served = list(case.events())[-1].event
    assert isinstance(served, e.WindowRecorded)
    assert served.judged_at == datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"of_version": 5}, AdmissionRefused, "version 5 is not recorded yet"),
        ({"of_version": 0}, InvalidInput, "of_version"),
        ({"policy": "x"}, InvalidInput, "policy"),
        ({"declared": "{"}, InvalidInput, "JSON"),
        ({"plan": '{"keep":["Ada Byron"]}'}, InvalidInput, "plan holds 'Ada Byron'"),
        ({"plan": '{"keep":{"Ada Byron":1}}'}, InvalidInput, "plan holds 'Ada Byron'"),
        ({"tokens": -1}, InvalidInput, "tokens"),
        ({"bytes_digest": DIGEST[1:]}, InvalidInput, "bytes_digest"),
        ({"judged_at": 1_700_000_000}, InvalidInput, "judged_at"),
    ],
)
def test_a_window_that_is_refused(case: Ledger, changes: dict[str, Any], error: type[Exception], says: str) -> None:
    """Nothing is recorded then, its policy neither."""
    with pytest.raises(error, match=says):
        case.record_served(**window(**changes))
    assert case.version == 4


def test_a_digest_stands_for_one_policy(case: Ledger) -> None:
    case.record_served(**window())
    case.record_served(**window(declared='{"note": "password: hunter2hunter2", "tail_turns": 6}'))
    with pytest.raises(InvalidInput, match="recorded as another one"):
        case.record_served(**window(declared='{"tail_turns":7}'))
    assert types(case) == ["policy.recorded", "window.recorded", "window.recorded"]


def test_raw_events_pass_the_same_check(case: Ledger) -> None:
    served = {name: value for name, value in window().items() if name != "declared"}
    one = e.WindowRecorded(**{**served, "plan": JsonText("[]")})
    policy = e.PolicyRecorded(digest=DIGEST, declared=JsonText(DECLARED))
    attempts: list[tuple[list[e.Event], str]] = [
        ([one], "policy aaaaaaaaaaaa… is not recorded in this ledger"),
        ([policy, policy], "is recorded already"),
        ([one, policy], "is not recorded in this ledger"),
        ([policy, one.model_copy(update={"of_version": 6})], "version 6 is not recorded yet"),
        ([policy, one.model_copy(update={"plan": JsonText('"Ada"')})], "plan holds"),
        ([e.TurnClassified(verdict="keep", by="person")], "name the turn"),
        ([e.TurnClassified(turn=9, verdict="keep", by="person")], "turn 9 is not recorded"),
        ([e.SummaryRecorded(**summary(last_turn=9))], "turn 9 is not recorded"),
    ]
    for events, says in attempts:
        with pytest.raises((AdmissionRefused, InvalidInput), match=says):
            case.append(events)
    assert case.version == 4
    assert len(case.append([policy, one, one])) == 3


COMMANDS: dict[str, Any] = {
    "classify": lambda handle, **options: handle.classify(1, "drop", **options),
    "record_summary": lambda handle, **options: handle.record_summary(**summary(), **options),
    "record_served": lambda handle, **options: handle.record_served(**window(), **options),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_with_a_key_is_carried_out_once(ledgers: Ledgers, case: Ledger, name: str) -> None:
    first = COMMANDS[name](case, idempotency_key="once")
    after = case.version
    assert COMMANDS[name](ledgers.ledger("case"), idempotency_key="once") == first
    assert case.version == after
    with pytest.raises(IdempotencyConflict):
        case.classify(2, "keep", idempotency_key="once")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_ledger_that_was_closed_or_forgotten_takes_none(ledgers: Ledgers, case: Ledger, name: str) -> None:
    case.close()
    with pytest.raises(ClosedLedger):
        COMMANDS[name](case)
    case.forget(everything=True, reason="asked for")
    with pytest.raises(ForgottenLedger):
        COMMANDS[name](ledgers.ledger("case"))


def test_two_writers_record_one_policy(ledgers: Ledgers, case: Ledger) -> None:
    """The other one has not seen that the policy is there: it looks again, and decides anew."""
    other = ledgers.ledger("case")
    other.classify(1, "drop")
    case.record_served(**window())
    other.record_served(**window())
    assert types(case, after=5) == ["policy.recorded", "window.recorded", "window.recorded"]
    with pytest.raises(VersionConflict):
        case.append(e.TurnClassified(turn=1, verdict="keep", by="person"), expected_version=5)


def test_secrets_are_kept_out_of_summaries_and_reasons_but_policies_stay_what_they_are() -> None:
    with connect(":memory:", redact=Redactor()) as ledgers:
        case = ledgers.ledger("case")
        case.record_turn("user", "Hi")
        case.classify(1, "keep", because="it says password: hunter2hunter2")
        case.record_summary(**summary(last_turn=1, through_version=1, text="The password: hunter2hunter2"))
        case.record_served(**window(of_version=1))
        told, made, policy, served = (item.event for item in case.events(after=1))
        assert isinstance(told, e.TurnClassified)
        assert isinstance(made, e.SummaryRecorded)
        assert "hunter2" not in f"{told.because} {made.text}"
        assert policy == e.PolicyRecorded(digest=DIGEST, declared=JsonText(DECLARED))
        assert isinstance(served, e.WindowRecorded)
        assert verify_store(ledgers).problems == ()


@pytest.mark.parametrize("name", ["turn.classified", "summary.recorded", "policy.recorded", "window.recorded"])
def test_retention_may_name_the_type(case: Ledger, name: str) -> None:
    assert case.set_retention("30 days", event_type=name).event == e.RetentionSet(
        scope="type", name=name, keep_seconds=30 * 86_400
    )
