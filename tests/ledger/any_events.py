"""Events of every type with whatever their fields may hold, as Hypothesis makes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from ledger import JsonText, parts
from ledger import events as e
from ledger.errors import InvalidInput
from ledger.limits import MAX_TURN
from ledger.record import Tags
from ledger.window_events import Verdict
from tests.ledger.json_values import json_values, texts

SOURCES: tuple[e.Source, ...] = get_args(e.Source)

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
hashes = st.sampled_from(["0" * 64, "0123456789abcdef" * 4])
turns = st.none() | st.integers(1, 9) | st.just(MAX_TURN)
zones = st.sampled_from([UTC, ZoneInfo("Asia/Kolkata"), ZoneInfo("Europe/Berlin"), timezone(timedelta(seconds=-3_601))])
moments = st.datetimes(datetime(1880, 1, 1), datetime(2200, 1, 1), timezones=zones)  # noqa: DTZ001 - bounds have no zone
counts = st.none() | st.integers(0, 2**70)


def _text_of(value: Any) -> JsonText | None:
    try:
        return JsonText.of(value)
    except InvalidInput:
        return None


def some(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any of these, or nothing."""
    return st.none() | st.one_of(*strategies)


json_texts: st.SearchStrategy[Any] = json_values.map(_text_of).filter(lambda text: text is not None)
references = st.one_of(
    st.fixed_dictionaries({"sha256": hashes}, optional={"media_type": names, "size_bytes": st.integers(0, 9), "name": texts}),
    st.fixed_dictionaries({"url": texts}, optional={"media_type": names}),
)
return_parts = st.one_of(
    st.builds(parts.TextPart, text=texts),
    st.builds(parts.JsonPart, value=json_texts),
    references.map(lambda fields: parts.ImagePart(**fields)),
    references.map(lambda fields: parts.DocumentPart(**fields)),
    st.builds(parts.OpaquePart, provider=names, block=names, raw=json_texts),
)
turn_parts = st.one_of(
    return_parts,
    st.builds(parts.ReasoningPart, provider=names, raw=json_texts),
    st.builds(
        parts.ToolCallPart,
        call_id=names,
        tool=names,
        arguments=json_texts | st.builds(parts.Unparsed, unparsed=texts),
    ),
)
usages = some(st.builds(parts.Usage, input_tokens=counts, output_tokens=counts, raw=some(json_texts)))
sides = st.builds(
    e.Side,
    version=some(st.integers(1, 9)),
    evidence=some(names),
    value=some(json_texts),
    source=some(st.sampled_from(SOURCES)),
    turn=turns,
    meaning=some(json_texts),
)
erasures = st.builds(
    e.Erasure,
    version=st.integers(1, 9),
    role=some(st.sampled_from(get_args(e.Role))),
    answers=some(st.integers(0, 9)),
    ends=some(st.integers(1, 9)),
    named=some(names),
)

_value = {"turn": turns, "field": names, "value": json_texts, "source": st.sampled_from(SOURCES)}
_fact = {
    **_value,
    "meaning": some(json_texts),
    "valid_from": some(moments),
    "valid_to": some(moments),
    "reference": some(st.sampled_from(["exists", "unchecked"])),
}
_heard = {"external_id": some(names), "said_at": some(moments)}
BY_TYPE: dict[type[e.EventBase], st.SearchStrategy[Any]] = {
    e.LedgerOpened: st.builds(e.LedgerOpened, turn=turns, task=some(texts), schema_name=some(names), parent=some(names)),
    e.LedgerClosed: st.builds(e.LedgerClosed, turn=turns, because=some(texts)),
    e.TurnRecorded: st.builds(
        e.TurnRecorded,
        turn=turns,
        role=st.sampled_from(get_args(e.Role)),
        parts=st.lists(turn_parts, max_size=3).map(tuple),
        name=some(texts),
        model=some(names),
        usage=usages,
        **_heard,
    ),
    e.ToolReturned: st.builds(
        e.ToolReturned,
        turn=turns,
        call_id=names,
        parts=st.lists(return_parts, max_size=3).map(tuple),
        is_error=st.booleans(),
        orphan=st.booleans(),
        tool=some(names),
        **_heard,
    ),
    e.FactSet: st.builds(e.FactSet, **_fact, spelling=some(texts)),
    e.FactReaffirmed: st.builds(e.FactReaffirmed, **_fact),
    e.FactSuperseded: st.builds(e.FactSuperseded, **_fact, replaces=st.integers(1, 2**70), because=some(texts)),
    e.FactRetracted: st.builds(
        e.FactRetracted,
        turn=turns,
        field=names,
        source=st.sampled_from(SOURCES),
        retracts=st.integers(1, 9),
        because=some(texts),
    ),
    e.SchemaSet: st.builds(e.SchemaSet, turn=turns, name=names, digest=hashes, declared=json_texts),
    e.FactRejected: st.builds(
        e.FactRejected,
        **_value,
        problems=st.lists(st.builds(parts.Problem, rule=names, why=texts), min_size=1, max_size=3).map(tuple),
        quote=some(texts),
    ),
    e.ExtractionRecorded: st.builds(
        e.ExtractionRecorded,
        turn=turns,
        extractor=names,
        after_turn=st.integers(0, 9),
        through_turn=st.integers(0, 9),
        through_version=some(st.integers(1, 9)),
        candidates=st.integers(0, 9),
        model=some(names),
        prompt_hash=some(names),
        usage=usages,
        incomplete=some(texts),
    ),
    e.EntryAdded: st.builds(
        e.EntryAdded,
        turn=turns,
        section=st.sampled_from(get_args(e.Section)),
        what=texts,
        source=st.sampled_from(SOURCES),
        why=some(texts),
    ),
    e.EntryClosed: st.builds(e.EntryClosed, turn=turns, entry=names, because=texts, source=some(st.sampled_from(SOURCES))),
    e.ArtifactStored: st.builds(
        e.ArtifactStored,
        turn=turns,
        sha256=hashes,
        size_bytes=st.integers(0, 2**70),
        media_type=some(names),
        name=some(texts),
        url=some(texts),
        retrieved_at=some(moments),
    ),
    e.EvidenceRecorded: st.builds(
        e.EvidenceRecorded,
        turn=turns,
        claim=texts,
        quote=texts,
        sha256=hashes,
        match=st.sampled_from(["exact", "not_found"]),
        start=counts,
        end=counts,
        retrieved_at=some(moments),
        requirement=some(texts),
    ),
    e.ContradictionRecorded: st.builds(
        e.ContradictionRecorded,
        turn=turns,
        about=texts,
        sides=st.lists(sides, min_size=2, max_size=3).map(tuple),
        field=some(names),
    ),
    e.ContradictionResolved: st.builds(
        e.ContradictionResolved,
        turn=turns,
        contradiction=names,
        because=texts,
        source=st.sampled_from(SOURCES),
        value=some(json_texts),
    ),
    e.OutcomeRecorded: st.builds(
        e.OutcomeRecorded,
        turn=turns,
        status=st.sampled_from(["completed", "partial", "failed", "abandoned"]),
        judge=names,
        detail=some(texts),
    ),
    e.TurnClassified: st.builds(
        e.TurnClassified,
        turn=turns,
        verdict=st.sampled_from(get_args(Verdict)),
        by=st.sampled_from(["person", "model"]),
        kind=some(names),
        because=some(texts),
        model=some(names),
        prompt_hash=some(names),
    ),
    e.SummaryRecorded: st.builds(
        e.SummaryRecorded,
        turn=turns,
        first_turn=st.integers(1, 9),
        last_turn=st.integers(1, 9) | st.just(MAX_TURN),
        through_version=st.integers(1, 2**70),
        inputs=hashes,
        text=texts,
        summariser=names,
        model=some(names),
        prompt_hash=some(names),
        usage=usages,
    ),
    e.PolicyRecorded: st.builds(e.PolicyRecorded, turn=turns, digest=hashes, declared=json_texts),
    e.WindowRecorded: st.builds(
        e.WindowRecorded,
        turn=turns,
        policy=hashes,
        of_version=st.integers(1, 2**70),
        form=names,
        engine=names,
        erasures=st.integers(0, 9),
        bytes_digest=hashes,
        tokens=st.integers(0, 2**70),
        encoding=names,
        plan=json_texts,
        judged_at=some(moments),
        rules=some(st.integers(0, 9)),
    ),
    e.ContentForgotten: st.builds(
        e.ContentForgotten,
        turn=turns,
        job=names,
        scope=st.sampled_from(get_args(e.ForgettingScope)),
        reason=texts,
        erased=st.lists(erasures, max_size=3).map(tuple),
        through_turn=st.integers(0, 9),
        fields=st.lists(names, max_size=2).map(tuple),
        answers=some(st.lists(st.integers(1, 9), max_size=2).map(tuple)),
    ),
    e.ForgettingDeclined: st.builds(e.ForgettingDeclined, turn=turns, because=texts),
    e.LedgerReauthorised: st.builds(e.LedgerReauthorised, turn=turns, because=texts),
    e.HoldPlaced: st.builds(e.HoldPlaced, turn=turns, because=texts),
    e.HoldLifted: st.builds(e.HoldLifted, turn=turns, because=texts),
    e.RetentionSet: st.builds(
        e.RetentionSet,
        turn=turns,
        scope=st.sampled_from(["ledger", "label", "section", "type"]),
        name=some(names),
        keep_seconds=counts,
        after_close=st.booleans(),
    ),
}

any_events = st.one_of(*BY_TYPE.values())
"""Any event, whether or not a ledger would admit it."""

tags: st.SearchStrategy[str] = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters='"\\'), min_size=1, max_size=12
).filter(lambda tag: tag.strip() == tag)
some_tags = st.lists(tags, max_size=3, unique=True).map(tuple)
any_tags = st.builds(Tags, some_tags, some_tags)
"""Whom and what an event is about, of any characters that a tag may have."""
