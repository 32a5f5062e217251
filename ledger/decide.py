"""From what stands and what is asked to what happens: pure, the same for every store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ledger import events as e
from ledger import requests as r
from ledger.admission import admit
from ledger.errors import AdmissionRefused, InvalidInput, SupersessionMismatch, nearest
from ledger.json_text import JsonText, has_lone_surrogate
from ledger.limits import MAX_NAME_CHARACTERS
from ledger.standing import RANK, Claim, Standing, canonical_field, may_supersede, supersedes_unasked


def decide(standing: Standing, request: r.Request) -> tuple[e.Event, ...]:
    """The events that a request leads to, each admitted after the ones before it.

    Raises ``AdmissionRefused`` or a child of it; ``standing`` is not changed. Only ``OpenLedger`` may lead to no event.
    """
    events = _DECISIONS[type(request)](standing, request)
    trial = standing if len(events) == 1 else standing.branch()
    for place, event in enumerate(events, start=1):
        admit(trial, event)
        if trial is not standing:
            trial.apply(standing.version + place, event)
    return events


def _open(standing: Standing, request: r.OpenLedger) -> tuple[e.Event, ...]:
    event = e.LedgerOpened(**dict(request))
    return () if standing.opened == event else (event,)


def _turn(standing: Standing, request: r.RecordTurn) -> tuple[e.Event, ...]:
    number = None if request.role == "system" else standing.turn + 1
    said = {name: value for name, value in vars(request).items() if name != "artifacts"}
    return (*request.artifacts, e.TurnRecorded(turn=number, **said))


def _return(standing: Standing, request: r.RecordReturn) -> tuple[e.Event, ...]:
    waiting = standing.open_calls.get(request.call_id, ())
    number = request.turn if request.turn is not None else (waiting[-1] if waiting else None)
    said = {name: value for name, value in vars(request).items() if name != "artifacts"}
    return (*request.artifacts, e.ToolReturned(**{**said, "turn": number}))


def _append(standing: Standing, request: r.AppendEvents) -> tuple[e.Event, ...]:
    if not request.events:
        raise InvalidInput("no events were given: append at least one", path="events")
    return request.events


def _set_fact(standing: Standing, request: r.SetFact) -> tuple[e.Event, ...]:
    name = field_name(request.field)
    claim = standing.facts.get(name)
    if claim is None:
        if request.supersedes is not None:
            _mismatch(name, request.supersedes, None)
        return (_fact_set(name, request),)
    if request.value.canonical == claim.canonical:
        return (_reaffirmed(name, request),)
    if request.supersedes is not None and request.supersedes.canonical != claim.canonical:
        _mismatch(name, request.supersedes, claim)
    allowed = may_supersede if request.supersedes is not None else supersedes_unasked
    if allowed(request.source, claim):
        return _supersede(standing, name, claim, request)
    if any(request.value.canonical in dispute.claimed for dispute in standing.disputes_about(name)):
        return (_reaffirmed(name, request),)
    return (_contradiction(name, claim, request),)


def field_name(given: str) -> str:
    """The canonical form of a field's name; ``InvalidInput`` where nothing is left of it, or too much."""
    name = canonical_field(given)
    if len(name) > MAX_NAME_CHARACTERS or has_lone_surrogate(name):
        raise InvalidInput(
            f"field name {given[:40]!r} is too long or holds a lone surrogate: give at most {MAX_NAME_CHARACTERS} characters",
            path="field",
        )
    if not name:
        raise InvalidInput(f"field name {given!r} has no letters: give it a name", path="field")
    return name


def _mismatch(name: str, given: JsonText, claim: Claim | None) -> None:
    standing = "nothing" if claim is None else str(claim.value)
    raise SupersessionMismatch(
        f"{name!r}: supersedes={given}, but {standing} stands: read the state again and name the value that stands",
        field=name,
        given=given.value,
        standing=None if claim is None else claim.value.value,
    )


def _fact_set(name: str, request: r.SetFact) -> e.FactSet:
    return e.FactSet(
        field=name,
        value=request.value,
        source=request.source,
        turn=request.turn,
        spelling=None if request.field == name else request.field,
    )


def _reaffirmed(name: str, request: r.SetFact) -> e.FactReaffirmed:
    return e.FactReaffirmed(field=name, value=request.value, source=request.source, turn=request.turn)


def _supersede(standing: Standing, name: str, claim: Claim, request: r.SetFact) -> tuple[e.Event, ...]:
    """The new value and its link; what had been claimed against the old value and now stands is no contradiction any more."""
    superseded = e.FactSuperseded(
        field=name,
        value=request.value,
        source=request.source,
        turn=request.turn,
        replaces=claim.version,
        because=request.because,
    )
    settled = [
        e.ContradictionResolved(
            contradiction=dispute.id,
            because="the disputed value was stated as a supersession",
            source=request.source,
            turn=request.turn,
            value=request.value,
        )
        for dispute in standing.disputes_about(name)
        if request.value.canonical in dispute.claimed and RANK[request.source] >= dispute.rank
    ]
    return (superseded, *settled)


def _contradiction(name: str, claim: Claim, request: r.SetFact) -> e.ContradictionRecorded:
    stands = e.Side(version=claim.version, value=claim.value, source=claim.source, turn=claim.turn)
    claimed = e.Side(value=request.value, source=request.source, turn=request.turn)
    return e.ContradictionRecorded(about=name, field=name, sides=(stands, claimed), turn=request.turn)


def _retract(standing: Standing, request: r.RetractFact) -> tuple[e.Event, ...]:
    name = field_name(request.field)
    claim = standing.facts.get(name)
    if claim is None:
        held = [field for field, value in standing.facts.items() if value is not None]
        raise AdmissionRefused(
            f"{name!r} has no value to retract (fields with one: {', '.join(nearest(name, held)) or 'none like it'})",
            field=name,
        )
    return (
        e.FactRetracted(field=name, source=request.source, retracts=claim.version, because=request.because, turn=request.turn),
    )


def _resolve(standing: Standing, request: r.ResolveContradiction) -> tuple[e.Event, ...]:
    resolved = e.ContradictionResolved(**dict(request))
    dispute = standing.disputes.get(request.contradiction)
    if dispute is None or dispute.field is None or request.value is None:
        return (resolved,)
    claim = standing.facts.get(dispute.field)
    if claim is not None and claim.canonical == request.value.canonical:
        return (resolved,)
    return (resolved, _adopted(dispute.field, claim, request))


def _adopted(name: str, claim: Claim | None, request: r.ResolveContradiction) -> e.Event:
    value = request.value
    assert value is not None, "only a resolution with a value adopts one"
    if claim is None:
        return e.FactSet(field=name, value=value, source=request.source, turn=request.turn)
    return e.FactSuperseded(
        field=name,
        value=value,
        source=request.source,
        turn=request.turn,
        replaces=claim.version,
        because=request.because,
    )


_DECISIONS: Final[dict[type[Any], Callable[[Standing, Any], tuple[e.Event, ...]]]] = {
    r.OpenLedger: _open,
    r.RecordTurn: _turn,
    r.RecordReturn: _return,
    r.SetFact: _set_fact,
    r.RetractFact: _retract,
    r.ResolveContradiction: _resolve,
    r.AppendEvents: _append,
}
