"""From what stands and what is asked to what happens: pure, the same for every store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from ledger import events as e
from ledger import requests as r
from ledger.admission import admit
from ledger.claiming import check_validity
from ledger.errors import AdmissionRefused, InvalidInput, SupersessionMismatch, nearest
from ledger.fields import RANK, SPOKEN_RANK, canonical_field
from ledger.json_text import JsonText, has_lone_surrogate
from ledger.limits import MAX_NAME_CHARACTERS
from ledger.parts import Problem
from ledger.standing import Claim, Standing, may_supersede, meant, supersedes_unasked
from ledger.window_admission import check_recorded, check_same_policy


def decide(standing: Standing, request: r.Request) -> tuple[e.Event, ...]:
    """The events that a request leads to, each admitted after the ones before it.

    Raises ``AdmissionRefused`` or a child of it; ``standing`` is not changed. Only ``OpenLedger`` and ``DeclareSchema`` may
    lead to no event.
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


def _declare(standing: Standing, request: r.DeclareSchema) -> tuple[e.Event, ...]:
    if standing.schema is not None and standing.schema.digest == request.digest:
        return ()
    return (e.SchemaSet(**dict(request)),)


def _window(standing: Standing, request: r.RecordWindow) -> tuple[e.Event, ...]:
    """The window, and before it its policy where that is new to the ledger."""
    check_recorded(standing, "of_version", request.of_version)  # of what was there before its policy
    check_same_policy(standing, request.policy, request.declared)
    served = {name: value for name, value in vars(request).items() if name != "declared"}
    policy = e.PolicyRecorded(digest=request.policy, declared=request.declared)
    return (*(() if request.policy in standing.policies else (policy,)), e.WindowRecorded(**served))


def _set_facts(standing: Standing, request: r.SetFacts) -> tuple[e.Event, ...]:
    """Each fact decided after the ones before it; one that is refused refuses all."""
    trial = standing.branch()
    events: list[e.Event] = []
    for fact in request.facts:
        for event in _set_fact(trial, fact):
            events.append(event)
            trial.apply(standing.version + len(events), event)
    return tuple(events)


def _set_fact(standing: Standing, request: r.SetFact) -> tuple[e.Event, ...]:
    name = resolved_field(standing, request.field)
    check_validity(name, request.valid_from, request.valid_to)
    problems = _problems(standing, name, request)
    _check_asked(standing, name, request, problems)
    if problems:
        said: dict[str, Any] = {"value": request.value, "source": request.source, "turn": request.turn, "quote": request.quote}
        return (e.FactRejected(field=name, problems=problems, **said),)
    claim = standing.facts.get(name)
    if claim is None:
        if request.supersedes is not None:
            _mismatch(name, request.supersedes, None)
        return (_fact_set(standing, name, request),)
    meaning = _compared(standing, name, request.value)
    if meaning == claim.canonical and _valid(request) in (claim.valid, (None, None)):
        return (_reaffirmed(standing, name, request),)
    if request.supersedes is not None and _compared(standing, name, request.supersedes) != claim.canonical:
        _mismatch(name, request.supersedes, claim)
    if _replaces(request, claim, is_same=meaning == claim.canonical):
        return _supersede(standing, name, claim, request)
    if _is_claimed(standing, name, meaning, request.source):
        return (_reaffirmed(standing, name, request),)
    return (_contradiction(standing, name, claim, request),)


def _replaces(request: r.SetFact, claim: Claim, *, is_same: bool) -> bool:
    """Whether a value takes the place of the standing one: of one that it names, or one that it knew and outweighs."""
    if request.supersedes is not None or is_same:
        return may_supersede(request.source, claim)
    knew_it = request.based_on is None or claim.version <= request.based_on
    return knew_it and supersedes_unasked(request.source, claim)


def _is_claimed(standing: Standing, name: str, meaning: str, source: e.Source) -> bool:
    """Whether a value is claimed already against the one that stands; a user who claims it is heard, whatever tools said."""
    disputes = [dispute for dispute in standing.disputes_about(name) if meaning in dispute.claimed]
    return any(RANK[source] < SPOKEN_RANK or dispute.claimed_rank >= SPOKEN_RANK for dispute in disputes)


def _problems(standing: Standing, name: str, request: r.SetFact) -> tuple[Problem, ...]:
    """What keeps a value out: what was found before, or what the schema says of it."""
    if request.problems or standing.schema is None:
        return request.problems
    return standing.schema.problems(name, request.value, request.source, exists=request.exists)


def _check_asked(standing: Standing, name: str, request: r.SetFact, problems: tuple[Problem, ...]) -> None:
    """A reference is recorded unchecked only where the interface chose it, which may name only what there is.

    Whoever asked may not have known yet that the field refers to something: another handle may have declared it meanwhile.
    """
    refers_to = _refers_to(standing, name)
    if refers_to is not None and request.exists is None and request.source != "interface" and not problems:
        raise InvalidInput(
            f"field {name!r} refers to {refers_to}, and nobody was asked: declare the schema with this handle and give "
            f"references= the check {refers_to!r}",
            path="references",
        )


def _refers_to(standing: Standing, name: str) -> str | None:
    spec = None if standing.schema is None else standing.schema.spec(name)
    return None if spec is None else spec.refers_to


def _valid(request: r.SetFact) -> tuple[datetime | None, datetime | None]:
    return request.valid_from, request.valid_to


def _compared(standing: Standing, name: str, value: JsonText) -> str:
    """What a value means, in the form in which values are compared."""
    meaning = _meaning(standing, name, value)
    return value.canonical if meaning is None else meaning.canonical


def _meaning(standing: Standing, name: str, value: JsonText) -> JsonText | None:
    return None if standing.schema is None else standing.schema.meaning(name, value)


def _claimed(standing: Standing, name: str, request: r.SetFact) -> dict[str, Any]:
    """What an event says that states the value of a request."""
    asked = "unchecked" if request.exists is None else "exists"
    return {
        "field": name,
        "value": request.value,
        "source": request.source,
        "turn": request.turn,
        "meaning": _meaning(standing, name, request.value),
        "valid_from": request.valid_from,
        "valid_to": request.valid_to,
        "reference": None if _refers_to(standing, name) is None else asked,
    }


def resolved_field(standing: Standing, given: str) -> str:
    """The field that a name stands for: its canonical form, and for an alias the field that it is declared for."""
    name = field_name(given)
    return name if standing.schema is None else standing.schema.resolve(name)


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


def _fact_set(standing: Standing, name: str, request: r.SetFact) -> e.FactSet:
    spelling = None if request.field == name else request.field
    return e.FactSet(spelling=spelling, **_claimed(standing, name, request))


def _reaffirmed(standing: Standing, name: str, request: r.SetFact) -> e.FactReaffirmed:
    return e.FactReaffirmed(**_claimed(standing, name, request))


def _supersede(standing: Standing, name: str, claim: Claim, request: r.SetFact) -> tuple[e.Event, ...]:
    """The new value and its link; what had been claimed against the old value and now stands is no contradiction any more."""
    superseded = e.FactSuperseded(replaces=claim.version, because=request.because, **_claimed(standing, name, request))
    meaning = meant(superseded)
    settled = [
        e.ContradictionResolved(
            contradiction=dispute.id,
            because="the disputed value was stated as a supersession",
            source=request.source,
            turn=request.turn,
            value=request.value,
        )
        for dispute in standing.disputes_about(name)
        if meaning in dispute.claimed and RANK[request.source] >= dispute.rank
    ]
    return (superseded, *settled)


def _contradiction(standing: Standing, name: str, claim: Claim, request: r.SetFact) -> e.ContradictionRecorded:
    stands = e.Side(version=claim.version, value=claim.value, source=claim.source, turn=claim.turn)
    meaning = _meaning(standing, name, request.value)
    claimed = e.Side(
        value=request.value,
        source=request.source,
        turn=request.turn,
        meaning=meaning,
        valid_from=request.valid_from,
        valid_to=request.valid_to,
    )
    return e.ContradictionRecorded(about=name, field=name, sides=(stands, claimed), turn=request.turn)


def _retract(standing: Standing, request: r.RetractFact) -> tuple[e.Event, ...]:
    name = field_name(request.field)
    if standing.facts.get(name) is None:  # what was set under a name before it became an alias goes by that name
        name = resolved_field(standing, request.field)
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
    if claim is not None and claim.canonical == _compared(standing, dispute.field, request.value):
        return (resolved,)
    return (resolved, _adopted(standing, dispute.field, claim, request))


def _adopted(standing: Standing, name: str, claim: Claim | None, request: r.ResolveContradiction) -> e.Event:
    value = request.value
    assert value is not None, "only a resolution with a value adopts one"
    said: dict[str, Any] = {
        "field": name,
        "value": value,
        "source": request.source,
        "turn": request.turn,
        "meaning": _meaning(standing, name, value),
        "reference": None if _refers_to(standing, name) is None else "unchecked",
    }
    if claim is None:
        return e.FactSet(**said)
    return e.FactSuperseded(replaces=claim.version, because=request.because, **said)


_DECISIONS: Final[dict[type[Any], Callable[[Standing, Any], tuple[e.Event, ...]]]] = {
    r.OpenLedger: _open,
    r.DeclareSchema: _declare,
    r.RecordTurn: _turn,
    r.RecordReturn: _return,
    r.SetFact: _set_fact,
    r.SetFacts: _set_facts,
    r.RetractFact: _retract,
    r.ResolveContradiction: _resolve,
    r.RecordWindow: _window,
    r.AppendEvents: _append,
}
