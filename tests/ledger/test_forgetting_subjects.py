"""Whom events are about: tags go where events go, and with a subject all that is about it goes, in every ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import IdempotencyConflict, InvalidInput, LimitExceeded, NothingToForget, SubjectForgotten
from ledger.limits import MAX_NAME_CHARACTERS, MAX_TAGS
from ledger.parts import ImagePart, ToolCallPart
from ledger.record import NO_TAGS, Tags
from ledger.verify import verify_store
from tests.ledger.remains import REASON, envelopes, gone, stored_bytes, tagged

ADA, BOB = "customer:ada", "customer:bob"
CALL = ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))

COMMANDS: dict[str, Callable[..., object]] = {
    "close": lambda case, **tags: case.close("done", **tags),
    "record_turn": lambda case, **tags: case.record_turn(
        "user", ["hello", ImagePart(url="data:image/png;base64,QQ==")], **tags
    ),
    "record_return": lambda case, **tags: case.record_return("c1", "two", **tags),
    "set_fact": lambda case, **tags: case.set_fact("day", "Wed", source="user", supersedes="Tue", **tags),
    "retract_fact": lambda case, **tags: case.retract_fact("day", source="user", **tags),
    "add_entry": lambda case, **tags: case.add_entry("open", "which?", source="user", **tags),
    "close_entry": lambda case, **tags: case.close_entry("en_3", source="interface", because="answered", **tags),
    "store_artifact": lambda case, **tags: case.store_artifact(b"another page", **tags),
    "record_evidence": lambda case, **tags: case.record_evidence("29", quote="29", artifact=page(case), **tags),
    "record_contradiction": lambda case, **tags: case.record_contradiction("x", [e.Side(version=1), e.Side(version=2)], **tags),
    "resolve_contradiction": lambda case, **tags: case.resolve_contradiction(
        "con_5", because="asked", source="user", value="Wed", **tags
    ),
    "record_outcome": lambda case, **tags: case.record_outcome("partial", judge="reviewer", **tags),
    "append": lambda case, **tags: case.append(
        [e.EntryAdded(section="open", what=what, source="user") for what in "ab"], **tags
    ),
    "decline_forgetting": lambda case, **tags: case.decline_forgetting(1, because="it is on an order", **tags),
    "set_retention": lambda case, **tags: case.set_retention("30 days", **tags),
    "place_hold": lambda case, **tags: case.place_hold(because="case 17", **tags),
}


def page(case: Ledger) -> str:
    return next(item.event.sha256 for item in case.events() if isinstance(item.event, e.ArtifactStored))


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """Six events on which every command can be carried out."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "Please forget my address.")
    handle.set_fact("day", "Tue", source="user")
    handle.add_entry("open", "which depot?", source="user")
    handle.record_turn("assistant", [CALL])
    sides = (e.Side(value=JsonText('"Wed"')), e.Side(version=2))
    handle.append(e.ContradictionRecorded(about="day", field="day", sides=sides))
    handle.store_artifact(b"29 EUR")
    return handle


@pytest.mark.parametrize("name", COMMANDS)
def test_every_event_of_a_command_has_its_tags(ledgers: Ledgers, case: Ledger, name: str) -> None:
    tags = {"subjects": [ADA, BOB, ADA], "labels": ["payment"]}
    COMMANDS[name](case, **tags, idempotency_key="k")
    recorded = list(ledgers.ledger("case").events(6))
    assert {item.tags for item in recorded} == {Tags((ADA, BOB), ("payment",))}
    assert tagged(ledgers) == {item.version for item in recorded}
    assert [item.tags for item in ledgers.follow(idle_seconds=0)] == [NO_TAGS] * 6 + [item.tags for item in recorded]
    with pytest.raises(IdempotencyConflict):
        COMMANDS[name](case, subjects=[ADA], labels=["payment"], idempotency_key="k")
    with pytest.raises(IdempotencyConflict):
        COMMANDS[name](case, idempotency_key="k")
    COMMANDS[name](case, **tags, idempotency_key="k")
    assert case.version == recorded[-1].version


def test_a_live_result_has_the_tags_that_are_read_later(case: Ledger) -> None:
    live = case.set_fact("city", "Pune", source="user", subjects=[ADA], labels=["address"])
    assert list(case.events(6)) == [live]
    assert live.tags == Tags((ADA,), ("address",))


def test_a_command_without_tags_has_the_digest_that_it_always_had(case: Ledger) -> None:
    case.record_turn("user", "x", idempotency_key="k")
    assert case.record_turn("user", "x", idempotency_key="k", subjects=[], labels=()) == 3


@pytest.mark.parametrize(
    "tag",
    [
        "a",
        "Ä b",
        "日本",
        "{x}]",
        "customer:17,18",
        "a'b",
        "%s",
        "\u200d",
        "[]},",
        "x" * MAX_NAME_CHARACTERS,
        "tags",
        "\U0001f600",
    ],
)
def test_any_characters_of_one_line_are_a_tag(ledgers: Ledgers, case: Ledger, tag: str) -> None:
    case.record_turn("user", "a needle", subjects=[tag, BOB], labels=[tag])
    (turn,) = ledgers.ledger("case").events(6)
    assert (turn.tags, turn.event.type) == (Tags((tag, BOB), (tag,)), "turn.recorded")
    done = ledgers.forget(subject=tag, reason=REASON)
    assert (done.count, gone(ledgers), tagged(ledgers)) == (1, {7}, set())
    assert f'"{tag}"'.encode() not in stored_bytes(ledgers)


@pytest.mark.parametrize("kind", ["subjects", "labels"])
@pytest.mark.parametrize(
    "tag", ["", " a", "a ", 'a"b', "a\\b", "a\nb", "a\0b", "\u2028", "\ud83d", "x" * (MAX_NAME_CHARACTERS + 1), 5, None]
)
def test_what_is_no_tag_is_refused_by_name(case: Ledger, kind: str, tag: Any) -> None:
    options: Any = {kind: ["fine", tag]}
    with pytest.raises(InvalidInput) as refused:
        case.record_turn("user", "x", **options)
    assert refused.value.path == f"{kind}[1]"
    assert case.version == 6


@pytest.mark.parametrize("kind", ["subjects", "labels"])
@pytest.mark.parametrize("tags", ["customer:ada", 5, None])
def test_tags_are_a_list(case: Ledger, kind: str, tags: Any) -> None:
    options: Any = {kind: tags}
    with pytest.raises(InvalidInput) as refused:
        case.record_turn("user", "x", **options)
    assert (refused.value.path, case.version) == (kind, 6)


def test_too_many_tags_are_refused(case: Ledger) -> None:
    with pytest.raises(LimitExceeded):
        case.record_turn("user", "x", labels=[str(number) for number in range(MAX_TAGS + 1)])
    case.record_turn("user", "x", labels=[str(number) for number in range(MAX_TAGS)])


def talk(ledgers: Ledgers) -> dict[str, Ledger]:
    """Three ledgers: one about Ada alone, one about both, one about nobody in particular."""
    handles = {name: ledgers.ledger(name) for name in ("ada", "both", "none")}
    handles["ada"].record_turn("user", "I am Ada", subjects=[ADA])
    handles["ada"].set_fact("name", "Ada", source="user", turn=1)  # goes with the turn
    handles["both"].record_turn("user", "I am Bob", subjects=[BOB])
    handles["both"].record_turn("user", "and I am Ada", subjects=[ADA])
    handles["both"].record_turn("assistant", "hello Ada and Bob", subjects=[ADA, BOB])
    handles["both"].set_fact("city", "Pune", source="user", turn=1)
    handles["none"].record_turn("user", "it rains")
    return handles


def test_a_subject_is_forgotten_in_every_ledger(ledgers: Ledgers) -> None:
    handles = talk(ledgers)
    kept = {name: list(handle.events()) for name, handle in handles.items()}
    planned = ledgers.forget(subject=ADA, reason=REASON, dry_run=True)
    assert [(found.ledger, [item.version for item in found.items]) for found in planned.ledgers] == [
        ("ada", [1, 2]),
        ("both", [2, 3]),
    ]
    done = ledgers.forget(subject=ADA, reason=REASON)
    assert (done.scope, done.state, done.count) == ("subject", "complete", 4)
    assert {name: gone(ledgers, name) for name in handles} == {"ada": {1, 2}, "both": {2, 3}, "none": set()}
    for name, handle in handles.items():
        lost = gone(ledgers, name)
        assert [item for item in handle.events(upto=len(kept[name])) if item.version not in lost] == [
            item for item in kept[name] if item.version not in lost
        ]
    assert {name: tagged(ledgers, name) for name in handles} == {"ada": set(), "both": {1}, "none": set()}
    left = stored_bytes(ledgers)
    assert (b"Ada" in left, ADA.encode() in left, b"I am Bob" in left) == (False, False, True)
    assert verify_store(ledgers).problems == ()


def test_a_forgotten_subject_is_fenced_until_it_is_taken_again(ledgers: Ledgers) -> None:
    handles = talk(ledgers)
    job = ledgers.forget(subject=ADA, reason=REASON).job
    before = envelopes(ledgers)
    for handle in (*handles.values(), ledgers.ledger("ada"), ledgers.ledger("new")):
        with pytest.raises(SubjectForgotten, match="re-authorise") as refused:
            handle.record_turn("user", "Ada again", subjects=[BOB, ADA])
        assert refused.value.job == job
    assert envelopes(ledgers) == before
    assert handles["ada"].record_turn("user", "without her", subjects=[BOB]) == 2
    ledgers.reauthorise(subject=ADA, because="she came back")
    assert handles["ada"].record_turn("user", "Hello, Ada here", subjects=[ADA]) == 3
    assert gone(ledgers, "ada") == {1, 2}
    assert ledgers.forget(subject=ADA, reason=REASON).count == 1
    assert gone(ledgers, "ada") == {1, 2, 5}


def test_that_a_subject_is_taken_again_is_kept_with_the_job_that_fenced_it(ledgers: Ledgers) -> None:
    handles = talk(ledgers)
    first = ledgers.forget(subject=ADA, reason=REASON).job
    other = ledgers.forget(subject=BOB, reason=REASON).job
    assert [job.taken_back for job in ledgers.forgettings()] == [None, None]
    ledgers.reauthorise(subject=ADA, because="she came back", actor="support:4")
    told, untold = ledgers.forgettings()
    assert (told.job, untold.job, untold.taken_back, told.finished) == (first, other, None, True)
    assert told.taken_back is not None
    assert (told.taken_back.because, told.taken_back.actor) == ("she came back", "support:4")
    assert told.taken_back.at >= list(handles["ada"].events())[-1].envelope.recorded_at
    handles["ada"].record_turn("user", "Hello, Ada here", subjects=[ADA])
    third = ledgers.forget(subject=ADA, reason=REASON).job
    ledgers.reauthorise(subject=ADA, because="and again")
    found = {job.job: job.taken_back and (job.taken_back.because, job.taken_back.actor) for job in ledgers.forgettings()}
    assert found == {first: ("she came back", "support:4"), other: None, third: ("and again", None)}
    assert ADA.encode() not in b"".join(stored.state for stored in ledgers.store.jobs())


def test_a_subject_that_nothing_is_about_is_an_error_and_not_fenced(ledgers: Ledgers) -> None:
    handles = talk(ledgers)
    for subject in ("customer:eve", "customer:ADA", "Ada", "customer"):
        with pytest.raises(NothingToForget, match="no event is about this subject") as refused:
            ledgers.forget(subject=subject, reason=REASON)
        assert refused.value.job is None
    handles["none"].record_turn("user", "I am Eve", subjects=["customer:eve"])
    job = ledgers.forget(subject="customer:eve", reason=REASON).job
    with pytest.raises(NothingToForget, match="forgotten already") as again:
        ledgers.forget(subject="customer:eve", reason=REASON)
    assert again.value.job == job
    assert ledgers.forgettings()[0].subject is not None
    assert b"eve" not in stored_bytes(ledgers)


def test_a_picture_of_two_people_stays_where_it_was_stored_for_both(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    picture = ImagePart(url="data:image/png;base64,QQ==")
    handle.record_turn("user", ["Ada's", picture], subjects=[ADA])
    handle.record_turn("user", ["Bob's", picture], subjects=[BOB])
    first = ledgers.forget(subject=ADA, reason=REASON).ledgers[0]
    assert (first.artifact_count, len(first.shared), gone(ledgers)) == (0, 1, {1, 2})
    assert handle.artifact(first.shared[0]) == b"A"
    assert verify_store(ledgers).problems == ()
    second = ledgers.forget(subject=BOB, reason=REASON).ledgers[0]
    assert (second.artifact_count, second.artifacts, second.shared) == (1, (), ())
    assert str(handle.artifact(first.shared[0])) == "[forgotten]"


def test_labels_are_no_subjects(ledgers: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "x", labels=[ADA])
    with pytest.raises(NothingToForget):
        ledgers.forget(subject=ADA, reason=REASON)
