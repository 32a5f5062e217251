"""Whatever is thrown at ``append``, the record that results obeys the rules."""

from __future__ import annotations

import contextlib
import hashlib
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import JsonText, Ledger, connect, parts
from ledger import events as e
from ledger.errors import AdmissionRefused, ClosedLedger, InvalidInput, LedgerError
from tests.ledger.any_events import SOURCES, any_events
from tests.ledger.record_rules import check

PAGE = b"a page that says $29"
SHA = hashlib.sha256(PAGE).hexdigest()

fields = st.sampled_from(["amount", "day"])
values = st.sampled_from([JsonText("1"), JsonText("1.0"), JsonText('"Tue"')])
sources = st.sampled_from(SOURCES)
turns = st.none() | st.integers(1, 4)
versions = st.integers(1, 9)
calls = st.sampled_from(["c1", "c2"])
call_parts = st.builds(parts.ToolCallPart, call_id=calls, tool=st.just("look"), arguments=values)
sides = st.one_of(
    st.builds(e.Side, value=values, source=sources, turn=turns),
    st.builds(e.Side, version=versions, value=values, source=sources),
    st.builds(e.Side, evidence=versions.map("ev_{}".format)),
)

likely_events: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        e.TurnRecorded,
        turn=turns,
        role=st.sampled_from(get_args(e.Role)),
        parts=st.lists(call_parts, max_size=2).map(tuple),
    ),
    st.builds(e.ToolReturned, turn=turns, call_id=calls, parts=st.just(()), orphan=st.booleans()),
    st.builds(e.FactSet, turn=turns, field=fields, value=values, source=sources),
    st.builds(e.FactReaffirmed, turn=turns, field=fields, value=values, source=sources),
    st.builds(e.FactSuperseded, turn=turns, field=fields, value=values, source=sources, replaces=versions),
    st.builds(e.FactRetracted, turn=turns, field=fields, source=sources, retracts=versions),
    st.builds(e.EntryAdded, turn=turns, section=st.just("open"), what=st.just("x"), source=sources),
    st.builds(e.EntryClosed, turn=turns, entry=versions.map("en_{}".format), because=st.just("x")),
    st.just(e.ArtifactStored(sha256=SHA, size_bytes=len(PAGE))),
    st.builds(e.EvidenceRecorded, claim=st.just("x"), quote=st.just("x"), sha256=st.just(SHA), match=st.just("not_found")),
    st.builds(e.ContradictionRecorded, turn=turns, about=st.just("x"), sides=st.tuples(sides, sides), field=st.none() | fields),
    st.builds(
        e.ContradictionResolved,
        turn=turns,
        contradiction=versions.map("con_{}".format),
        because=st.just("x"),
        source=sources,
        value=st.none() | values,
    ),
    st.builds(e.LedgerOpened, task=st.sampled_from(["one", "two"])),
    st.builds(e.OutcomeRecorded, status=st.just("failed"), judge=st.just("x")),
    st.builds(
        e.TurnClassified, turn=turns, verdict=st.just("keep"), by=st.sampled_from(["person", "model"]), model=st.none() | calls
    ),
    st.builds(
        e.SummaryRecorded,
        first_turn=st.integers(1, 3),
        last_turn=st.integers(1, 3),
        through_version=versions,
        inputs=st.just(SHA),
        text=st.sampled_from(["short", " "]),
        summariser=st.just("extractive/1"),
    ),
    st.builds(e.PolicyRecorded, digest=st.sampled_from(["a" * 64, "b" * 64]), declared=values),
    st.builds(
        e.WindowRecorded,
        policy=st.sampled_from(["a" * 64, "b" * 64]),
        of_version=versions,
        form=st.just("text"),
        engine=st.just("2"),
        erasures=st.just(0),
        bytes_digest=st.just(SHA),
        tokens=st.just(9),
        encoding=st.just("o200k_base"),
        plan=st.sampled_from([JsonText('{"keep":[[1,2]]}'), JsonText('["Ada"]')]),
    ),
    st.just(e.LedgerClosed()),
)


def blobs_for(events: list[e.Event]) -> dict[str, bytes]:
    return {SHA: PAGE} if any(isinstance(event, e.ArtifactStored) and event.sha256 == SHA for event in events) else {}


@given(st.lists(st.lists(likely_events | any_events, min_size=1, max_size=3), max_size=25))
def test_raw_events_obey_the_rules_or_are_refused(batches: list[list[e.Event]]) -> None:
    with connect(":memory:") as ledgers:
        handle = ledgers.ledger("case")
        for events in batches:
            before = handle.version
            try:
                appended = handle.append(events, blobs=blobs_for(events))
            except LedgerError:
                assert handle.version == before
            else:
                assert [one.event for one in appended] == events
                assert handle.version == before + len(events)
        seen = check(handle.events())
        for sha256 in seen.artifacts:
            assert ledgers.store.blob(ledgers.head("case").ledger, sha256) is not None


@pytest.fixture
def handle() -> Any:
    """A ledger with a user turn, an assistant turn that calls, and an amount that the user stated."""
    with connect(":memory:") as ledgers:
        opened = ledgers.ledger("case")
        opened.record_turn("user", "I was charged 4,180")
        opened.record_turn("assistant", [parts.ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))])
        opened.set_fact("amount", 4180, source="user", turn=1)
        yield opened


def test_what_an_assistant_or_a_tool_said_is_never_the_users(handle: Ledger) -> None:
    """Neither as a value, nor as a claim against one, nor in a raw event, nor as an entry, a retraction or a resolution."""
    dispute = handle.set_fact("amount", 4050, source="tool", turn=2)
    before = handle.version
    side = e.Side(value=JsonText("1"), source="user", turn=2)
    attempts: list[Any] = [
        lambda: handle.set_fact("freight_class", 70, source="user", turn=2),
        lambda: handle.set_fact("amount", 4051, source="user", turn=2),
        lambda: handle.set_fact("amount", 4051, source="user", turn=2, supersedes=4180),
        lambda: handle.set_fact("amount", 4180, source="user", turn=2),
        lambda: handle.retract_fact("amount", source="user", turn=2),
        lambda: handle.add_entry("decisions", "x", source="user", turn=2),
        lambda: handle.resolve_contradiction(f"con_{dispute.version}", because="x", source="user", turn=2, value=4050),
        lambda: handle.record_contradiction("x", [side, side]),
        lambda: handle.append([e.FactSet(turn=2, field="freight_class", value=JsonText("70"), source="user")]),
    ]
    for attempt in attempts:
        with pytest.raises(AdmissionRefused, match="never source='user'"):
            attempt()
    assert handle.version == before
    assert handle.set_fact("freight_class", 70, source="inferred", turn=2).event.type == "fact.set"


def test_a_turn_that_is_not_there_cannot_be_named(handle: Ledger) -> None:
    before = handle.version
    attempts: list[Any] = [
        lambda: handle.set_fact("day", 1, source="user", turn=3),
        lambda: handle.add_entry("open", "x", source="user", turn=3),
        lambda: handle.append([e.ToolReturned(turn=3, call_id="c9", parts=(), orphan=True)]),
        lambda: handle.record_contradiction("x", [e.Side(value=JsonText("1"), turn=3), e.Side(value=JsonText("2"))]),
    ]
    for attempt in attempts:
        with pytest.raises(AdmissionRefused, match="turn 3 is not recorded"):
            attempt()
    assert handle.version == before


@pytest.mark.parametrize("turn", [0, -1, 2**31, 10**30])
def test_numbers_that_no_turn_can_have(handle: Ledger, turn: int) -> None:
    with connect(":memory:") as ledgers:
        for ledger in (handle, ledgers.ledger("without turns")):
            before = ledger.version
            attempts: list[Any] = [
                lambda ledger=ledger: ledger.set_fact("day", 1, source="user", turn=turn),
                lambda ledger=ledger: ledger.set_fact("amount", 1, source="tool", turn=turn),
                lambda ledger=ledger: ledger.retract_fact("amount", source="user", turn=turn),
                lambda ledger=ledger: ledger.record_return("c1", "x", turn=turn),
                lambda ledger=ledger: ledger.add_entry("open", "x", source="user", turn=turn),
                lambda ledger=ledger: ledger.resolve_contradiction("con_1", because="x", source="user", turn=turn),
            ]
            for attempt in attempts:
                with pytest.raises(InvalidInput, match="turn"):
                    attempt()
            assert ledger.version == before


def test_events_that_were_made_without_validation_are_refused(handle: Ledger) -> None:
    """They would be stored and could never be read again."""
    good = e.FactSet(field="day", value=JsonText("1"), source="user")

    class MoreThanAFact(e.FactSet):
        more: str

    before = handle.version
    wrong: list[e.Event] = [
        good.model_copy(update={"source": "root"}),
        good.model_copy(update={"value": 5}),
        good.model_copy(update={"field": ""}),
        e.FactSet.model_construct(field="day", source="user"),
        MoreThanAFact(field="day", value=JsonText("1"), source="user", more="x"),
        e.EvidenceRecorded.model_construct(claim="x", quote="x", sha256=SHA, match="exact", start=-1),
        e.TurnRecorded.model_construct(turn=3, role="user", parts=[parts.TextPart(text="x")]),
        e.TurnRecorded.model_construct(turn=3, role="user", parts=("x",)),
    ]
    for event in wrong:
        with pytest.raises(InvalidInput):
            handle.append([event])
    assert handle.version == before
    assert handle.append([good])[0].version == before + 1


def test_an_artifact_is_recorded_with_its_bytes_or_not_at_all(handle: Ledger) -> None:
    artifact = e.ArtifactStored(sha256=SHA, size_bytes=len(PAGE))
    before = handle.version
    with pytest.raises(AdmissionRefused, match="are not given"):
        handle.append([artifact])
    with pytest.raises(AdmissionRefused, match="not 5"):
        handle.append([artifact.model_copy(update={"size_bytes": 5})], blobs={SHA: PAGE})
    with pytest.raises(InvalidInput, match="another SHA-256"):
        handle.append([artifact], blobs={SHA: b"other"})
    with pytest.raises(InvalidInput, match="without their artifact"):
        handle.append([e.OutcomeRecorded(status="failed", judge="x")], blobs={SHA: PAGE})
    assert handle.version == before
    handle.append([artifact], blobs={SHA: PAGE})
    assert handle.append([artifact])[0].version == before + 2  # the same page again


def test_a_batch_is_admitted_event_by_event(handle: Ledger) -> None:
    """Later events may rest on earlier ones of the same batch, and one that may not stand refuses them all."""
    before = handle.version
    entry = e.EntryAdded(section="open", what="which depot?", source="user")
    closed = e.EntryClosed(entry=f"en_{before + 1}", source="interface", because="answered")
    with pytest.raises(AdmissionRefused, match="closed already"):
        handle.append([entry, closed, closed])
    assert handle.version == before
    assert len(handle.append([entry, closed])) == 2
    with pytest.raises(ClosedLedger):
        handle.append([e.LedgerClosed(), entry])
    handle.append([e.LedgerClosed(), e.OutcomeRecorded(status="completed", judge="x")])
    for attempt in (
        handle.close,
        lambda: handle.record_turn("user", "x"),
        lambda: handle.retract_fact("amount", source="user"),
    ):
        with pytest.raises(ClosedLedger):
            attempt()


def test_calls_and_returns_meet(handle: Ledger) -> None:
    with pytest.raises(AdmissionRefused, match="c1"):
        handle.record_return("c_1", "x")
    assert handle.record_return("c1", "late") == handle.version
    with pytest.raises(AdmissionRefused, match="waits for a return"):
        handle.record_return("c1", "again")
    twice = [parts.ToolCallPart(call_id="d", tool="t", arguments=JsonText("{}"))] * 2
    with pytest.raises(AdmissionRefused, match="twice"):
        handle.record_turn("assistant", twice)
    with pytest.raises(AdmissionRefused, match="cannot call"):
        handle.record_turn("user", twice[:1])
    with contextlib.suppress(AdmissionRefused):
        handle.append([e.TurnRecorded(turn=9, role="user", parts=())])
    assert handle.record_turn("user", "next") == 3
