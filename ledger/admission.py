"""Which event may follow what a ledger holds: one check for commands and raw events alike, so that there is no back door."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, get_args

from pydantic import ValidationError

from ledger import events as e
from ledger.claiming import check_canonical, check_claim, check_value
from ledger.errors import AdmissionRefused, ClosedLedger, ForgottenLedger, InvalidInput, OnHold, nearest
from ledger.fields import RANK
from ledger.parts import DocumentPart, ImagePart, ToolCallPart
from ledger.schema.schema import Schema, digest_of
from ledger.standing import Standing, may_supersede, meant
from ledger.window_admission import check_classified, check_policy, check_summary, check_window


def admit(standing: Standing, event: e.Event) -> None:
    """Raise ``AdmissionRefused`` (or a child) if the event may not be the next one; it changes nothing."""
    if not isinstance(event, e.Governing):
        _takes_events(standing, event)
    check = _CHECKS.get(type(event))
    if check is not None:
        check(standing, event)
    if not isinstance(event, e.TurnRecorded | e.Governing):
        _provenance(standing, event.turn, getattr(event, "source", None))


def _takes_events(standing: Standing, event: e.Event) -> None:
    if standing.forgotten is not None:
        raise ForgottenLedger(
            f"the ledger was forgotten by job {standing.forgotten} and takes no {_type(event)}: open another one, or "
            "re-authorise it",
            event=_type(event),
            job=standing.forgotten,
        )
    if standing.closed and not isinstance(event, e.OutcomeRecorded):
        raise ClosedLedger(f"the ledger was closed and takes no {_type(event)}: open another one", event=_type(event))


def _refuse(message: str, **details: Any) -> NoReturn:
    raise AdmissionRefused(message, **details)


def _type(event: e.Event) -> str:
    return str(event.type)


def _provenance(standing: Standing, turn: int | None, source: e.Source | None) -> None:
    """A turn that is named must exist, and what the user said must come from a user turn."""
    if turn is None:
        return
    if turn > standing.turn:
        _refuse(
            f"turn {turn} is not recorded, the last one is {standing.turn}: record the turn first",
            field="turn",
            turn=turn,
            last=standing.turn,
        )
    forgotten = standing.forgotten_turns.get(turn)
    if forgotten is not None:
        _refuse(
            f"turn {turn} was forgotten by job {forgotten.job}, nothing can be said from it: name another turn",
            field="turn",
            turn=turn,
            job=forgotten.job,
        )
    role = standing.roles.get(turn)
    if source == "user" and role not in (None, "user"):
        _refuse(
            f"turn {turn} is an {role} turn, its text is never source='user': "
            "name the user's turn, or give source='tool' or 'inferred'",
            field="source",
            turn=turn,
        )


def _opened(standing: Standing, event: e.LedgerOpened) -> None:
    if standing.opened is not None:
        _refuse("the ledger was opened before with another task, schema or parent; that opening stays", field="task")


def _turn(standing: Standing, event: e.TurnRecorded) -> None:
    expected = None if event.role == "system" else standing.turn + 1
    if event.turn != expected:
        _refuse(
            f"the next {event.role} turn has number {expected}, not {event.turn}: turns count user and assistant "
            f"turns without gaps",
            field="turn",
            turn=event.turn,
            expected=expected,
        )
    _known_artifacts(standing, event.parts)
    calls = [part.call_id for part in event.parts if isinstance(part, ToolCallPart)]
    if calls and event.role != "assistant":
        _refuse(f"a {event.role} turn cannot call tools: record the call in an assistant turn", field="parts")
    if len(set(calls)) < len(calls):
        twice = min(call for call in calls if calls.count(call) > 1)
        _refuse(f"call id {twice!r} stands twice in one turn: a return could not tell them apart", field="call_id")


def _known_artifacts(standing: Standing, parts: Iterable[Any]) -> None:
    """A picture or document that is kept as an artifact must be one of this ledger: a window has to show its bytes."""
    for place, part in enumerate(parts):
        if isinstance(part, ImagePart | DocumentPart) and part.sha256 is not None and part.sha256 not in standing.artifacts:
            _refuse(
                f"parts[{place}]: no artifact {part.sha256[:12]}… in this ledger: store its bytes with store_artifact first",
                field="parts",
                sha256=part.sha256,
            )


def _returned(standing: Standing, event: e.ToolReturned) -> None:
    _known_artifacts(standing, event.parts)
    if event.orphan:
        return
    turns = standing.open_calls.get(event.call_id, ())
    if event.turn is None or event.turn not in turns:
        waiting = [call for call, open_turns in standing.open_calls.items() if open_turns]
        near = nearest(event.call_id, waiting) or waiting[-3:]
        where = f"turn {event.turn}" if event.turn is not None else "any turn"
        _refuse(
            f"no call {event.call_id!r} of {where} waits for a return (waiting: {', '.join(near) or 'none'}): "
            "record the assistant turn that calls it first, or append a tool.returned event with orphan=True",
            field="call_id",
            call_id=event.call_id,
            waiting=waiting,
        )


def _takes_claims(standing: Standing, event: e.FactEvent | e.FactRejected | e.ContradictionRecorded, name: str) -> None:
    """A field that was forgotten by its name is not learnt again from what was said before."""
    through = standing.tombstone(name)
    if through is None:
        return
    sides = event.sides if isinstance(event, e.ContradictionRecorded) else ()
    sources = {side.source for side in sides if side.version is None} or {getattr(event, "source", None)}
    told_anew = event.turn > through if event.turn is not None else sources <= {"user", "interface"}
    if not told_anew:
        _refuse(
            f"field {name!r} was forgotten, and turns up to {through} are no source for it any more: the user may state it "
            "in a later turn",
            field="field",
            through_turn=through,
        )


def _standing_claim(standing: Standing, event: e.FactSuperseded | e.FactRetracted, named: int) -> None:
    """The claim that is named stands and may be taken away; of one that was forgotten since, this is not known any more."""
    claim = standing.facts.get(event.field)
    if claim is None and named in standing.erased:
        return
    if claim is None or claim.version != named:
        found = "nothing" if claim is None else f"the claim of version {claim.version}"
        _refuse(
            f"{event.field!r}: {found} stands, not the claim of version {named}: read the state again",
            field=event.field,
            standing=None if claim is None else claim.version,
        )
    if not may_supersede(event.source, claim):
        _refuse(
            f"{event.field!r} was stated by {claim.source}; source {event.source!r} may not take it away: record a "
            f"contradiction",
            field=event.field,
            source=event.source,
        )


def _fact_set(standing: Standing, event: e.FactSet) -> None:
    check_claim(standing.schema, event)
    _takes_claims(standing, event, event.field)
    claim = standing.facts.get(event.field)
    if claim is not None:
        _refuse(
            f"{event.field!r} has a value since version {claim.version}: supersede it (fact.superseded) or record a "
            f"contradiction",
            field=event.field,
            standing=claim.version,
        )


def _reaffirmed(standing: Standing, event: e.FactReaffirmed) -> None:
    check_claim(standing.schema, event)
    _takes_claims(standing, event, event.field)
    claim = standing.facts.get(event.field)
    known = set() if claim is None else {claim.canonical}
    for dispute in standing.disputes_about(event.field):
        known |= dispute.claimed
    if meant(event) not in known:
        _refuse(f"{event.field!r} neither holds nor disputes {event.value}: set it instead", field=event.field)


def _superseded(standing: Standing, event: e.FactSuperseded) -> None:
    check_claim(standing.schema, event)
    _takes_claims(standing, event, event.field)
    _standing_claim(standing, event, event.replaces)


def _retracted(standing: Standing, event: e.FactRetracted) -> None:
    check_canonical(event.field)
    _standing_claim(standing, event, event.retracts)


def _rejected(standing: Standing, event: e.FactRejected) -> None:
    check_canonical(event.field)
    _takes_claims(standing, event, event.field)


def _schema(standing: Standing, event: e.SchemaSet) -> None:
    try:
        schema = Schema.model_validate_json(event.declared)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInput(f"schema {event.name!r}: {first['loc']}: {first['msg']}", path="schema") from error
    if (schema.name, digest_of(event.declared)) != (event.name, event.digest):
        raise InvalidInput(f"schema {event.name!r} has another name or digest than it says: use declare", path="schema")


def _not_erased(standing: Standing, kind: str, name: str) -> None:
    """Say so if what is named was forgotten."""
    number = name.rpartition("_")[2]
    found = standing.erased.get(int(number)) if number.isdecimal() else None
    if found is not None and name not in standing.entries and name not in standing.disputes:
        _refuse(f"{kind} {name!r} was forgotten by job {found.forgotten.job}", field=kind, job=found.forgotten.job)


def _entry_added(standing: Standing, event: e.EntryAdded) -> None:
    least = "inferred" if standing.schema is None else standing.schema.section(event.section).least_source
    if RANK[event.source] < RANK[least]:
        _refuse(f"{event.section} are set by {least}, not by {event.source}: let the user say it", field="source")


def _entry_closed(standing: Standing, event: e.EntryClosed) -> None:
    if event.entry not in standing.entries:
        _not_erased(standing, "entry", event.entry)
        near = nearest(event.entry, (name for name, source in standing.entries.items() if source is not None))
        _refuse(f"no entry {event.entry!r} (open: {', '.join(near) or 'none like it'})", field="entry", entry=event.entry)
    source = standing.entries[event.entry]
    if source is None:
        _refuse(f"entry {event.entry!r} is closed already", field="entry", entry=event.entry)
    if RANK[event.source or "inferred"] < RANK[source]:
        _refuse(
            f"entry {event.entry!r} was made by {source}, so {event.source} may not close it: name a source that may",
            field="source",
            entry=event.entry,
        )


def _evidence(standing: Standing, event: e.EvidenceRecorded) -> None:
    if event.sha256 not in standing.artifacts:
        _refuse(
            f"no artifact {event.sha256[:12]}… in this ledger: store the page with store_artifact first",
            field="sha256",
            sha256=event.sha256,
        )


def _contradiction(standing: Standing, event: e.ContradictionRecorded) -> None:
    if event.field is not None:
        check_canonical(event.field)
        _takes_claims(standing, event, event.field)
    for side in event.sides:
        if side.evidence is not None and side.evidence not in standing.evidence:
            _not_erased(standing, "evidence", side.evidence)
            near = ", ".join(nearest(side.evidence, standing.evidence)) or "none like it"
            _refuse(f"no evidence {side.evidence!r} in this ledger (known: {near})", field="sides", evidence=side.evidence)
        if side.version is not None and side.version > standing.version:
            _refuse(f"version {side.version} is not recorded yet", field="sides", version=side.version)
        if side.version is None:  # what a recorded claim says of itself was checked when it was recorded
            _provenance(standing, side.turn, side.source)
            if event.field is not None and side.value is not None:
                check_value(standing.schema, event.field, side.value, meaning=side.meaning, source=side.source)
    if any(side in event.sides[:place] for place, side in enumerate(event.sides)):
        _refuse("a side stands twice: name claims that differ", field="sides")


def _resolved(standing: Standing, event: e.ContradictionResolved) -> None:
    dispute = standing.disputes.get(event.contradiction)
    if dispute is None:
        _not_erased(standing, "contradiction", event.contradiction)
        known = standing.disputes.keys()
        state = "resolved already" if event.contradiction in known else "not known"
        still_open = ", ".join(name for name, other in standing.disputes.items() if other is not None)
        way_out = f"name one that is open ({still_open})" if still_open else "none is open, so there is nothing to decide"
        _refuse(
            f"contradiction {event.contradiction!r} is {state}: {way_out}",
            field="contradiction",
            contradiction=event.contradiction,
        )
    claim = standing.facts.get(dispute.field) if dispute.field is not None else None
    if RANK[event.source] < max(dispute.rank, 0 if claim is None else claim.rank):
        _refuse(
            f"{event.contradiction!r} has a side that outranks source {event.source!r}: let the user or interface resolve it",
            field="source",
            contradiction=event.contradiction,
        )


def _forgotten(standing: Standing, event: e.ContentForgotten) -> None:
    if standing.held is not None:
        raise OnHold(
            f"the ledger is under a legal hold ({standing.held}), nothing of it may be erased: lift the hold first",
            because=standing.held,
        )
    late = [erasure.version for erasure in event.erased if erasure.version > standing.version]
    if late:
        _refuse(f"version {late[0]} is not recorded yet", field="erased", version=late[0])


def _declined(standing: Standing, event: e.ForgettingDeclined) -> None:
    if event.turn is None or not 0 < event.turn <= standing.turn or standing.roles.get(event.turn) not in (None, "user"):
        _refuse(f"turn {event.turn} is not a user turn of this ledger: name the turn that asks to forget", field="turn")


def _reauthorised(standing: Standing, event: e.LedgerReauthorised) -> None:
    if standing.forgotten is None:
        _refuse("the ledger was not forgotten, so it needs no re-authorising", field="ledger")


def _hold_placed(standing: Standing, event: e.HoldPlaced) -> None:
    if standing.held is not None:
        _refuse(f"the ledger is under a legal hold already ({standing.held}): lift it first", field="hold")


def _hold_lifted(standing: Standing, event: e.HoldLifted) -> None:
    if standing.held is None:
        _refuse("the ledger is under no legal hold", field="hold")


_RETAINED: Final[dict[str, frozenset[str] | None]] = {
    "ledger": frozenset(),
    "label": None,
    "section": frozenset({"entities", *get_args(e.Section)}),
    "type": frozenset(
        str(model.model_fields["type"].default)
        for model in get_args(get_args(e.Event)[0])
        if model not in get_args(e.Governing)
    ),
}


def _retention(standing: Standing, event: e.RetentionSet) -> None:
    allowed = _RETAINED[event.scope]
    if event.scope == "ledger":
        if event.name is not None:
            raise InvalidInput(f"retention of the whole ledger has no name, not {event.name!r}: leave it out", path="name")
    elif event.name is None or (allowed is not None and event.name not in allowed):
        known = "its name" if allowed is None else f"one of {', '.join(sorted(allowed))}"
        raise InvalidInput(f"retention of a {event.scope} named {event.name!r}: give {known}", path="name")


_CHECKS: Final[dict[type[Any], Callable[[Standing, Any], None]]] = {
    e.LedgerOpened: _opened,
    e.TurnRecorded: _turn,
    e.ToolReturned: _returned,
    e.FactSet: _fact_set,
    e.FactReaffirmed: _reaffirmed,
    e.FactSuperseded: _superseded,
    e.FactRetracted: _retracted,
    e.FactRejected: _rejected,
    e.SchemaSet: _schema,
    e.EntryAdded: _entry_added,
    e.EntryClosed: _entry_closed,
    e.EvidenceRecorded: _evidence,
    e.ContradictionRecorded: _contradiction,
    e.ContradictionResolved: _resolved,
    e.TurnClassified: check_classified,
    e.SummaryRecorded: check_summary,
    e.PolicyRecorded: check_policy,
    e.WindowRecorded: check_window,
    e.ContentForgotten: _forgotten,
    e.ForgettingDeclined: _declined,
    e.LedgerReauthorised: _reauthorised,
    e.HoldPlaced: _hold_placed,
    e.HoldLifted: _hold_lifted,
    e.RetentionSet: _retention,
}
