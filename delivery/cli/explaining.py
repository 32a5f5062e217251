"""The audit of one field: every step with its words, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import typer

from delivery.app import open_existing_store
from delivery.cli.answers import marked, print_history
from delivery.cli.arguments import AsJson, FieldName, JudgedAt, LedgerName, Moment, judgement, moment
from delivery.cli.printing import one_line, plain_value, print_basis, print_json, print_text
from ledger.erased import Forgotten
from ledger.errors import InvalidInput, nearest
from projections.explanation import Explanation, Step, Told
from projections.transcript import Turn
from projections.wire import to_json
from replay.answers import FieldHistory
from replay.view import View, view

_MOST_OF_VALUE = 200
_MOST_OF_SENTENCE = 400
_MOST_AROUND = 100


def explain(
    context: typer.Context,
    ledger: LedgerName,
    field: FieldName,
    *,
    at: Moment = None,
    judged_at: JudgedAt = None,
    as_json: AsJson = False,
) -> None:
    """Explain a field: its values, who set them in which words.

    Also what disputes it, what was not taken and why, and what was forgotten.
    """
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at), judged_at=judgement(judged_at))
        found, history = asked.explain(field), asked.history(field)
        turns = {turn.number: turn for turn in asked.transcript().turns}
        if not found.steps and not history.values:
            raise _unknown_field(asked, field)
    if as_json:
        print_json(explained_json(history, found))
    else:
        print_basis(found.basis)
        print_explained(history, found, turns)


def explained_json(history: FieldHistory, found: Explanation) -> bytes:
    """One object: basis, field, values with the versions where they stood, contradictions, standing, steps.

    Both answers begin with the same members. They are put together as text, so that no value is parsed and written again.
    """
    shared = to_json({"basis": found.basis, "field": found.field})[:-1] + b","
    steps = found.to_json()
    assert steps.startswith(shared), "an explanation begins with its basis and its field"
    return history.to_json()[:-1] + b"," + steps[len(shared) :]


def print_explained(history: FieldHistory, found: Explanation, turns: Mapping[int, Turn]) -> None:
    """The values in a table, contradictions, then each step with the words that it rests on."""
    if history.values:
        print_history(history)
    else:
        print_text(f"{one_line(found.field)} never had a value")
    values = {step.version: step.value for step in found.steps}
    for step in found.steps:
        turn = "" if step.turn is None else f", turn {step.turn}"
        print_text(f"\nversion {step.version}{turn}, {step.at}: {one_line(_happened(step, values))}")
        for line in _beside(step):
            print_text(f"  {one_line(line)}")
        if step.told is not None and step.told.turn in turns:
            _print_told(step.told, turns[step.told.turn])


def _happened(step: Step, values: Mapping[int, object]) -> str:
    value, who = _value(step.value), _who(step)
    match step.kind:
        case "set":
            return f"{value}, said by {who}"
        case "confirmed":
            return f"{value}, confirmed by {who}"
        case "repeated":
            return f"{value}, said again by {who}"
        case "superseded":
            return f"{value}, said by {who}, in place of {_value(values.get(step.replaces or 0))} of version {step.replaces}"
        case "retracted":
            return f"{_value(values.get(step.replaces or 0))} of version {step.replaces} was retracted by {who}"
        case "rejected":
            return f"{value}, claimed by {who}, was not taken"
        case "disputed":
            return f"{value}, claimed by {who}, disputes what stands: {step.contradiction} is open"
        case "resolved":
            return f"{step.contradiction} was resolved by {who}" + ("" if step.value is None else f": {value}")
        case "forgotten":
            return marked(step.value) if isinstance(step.value, Forgotten) else str(step.value)


def _value(value: object) -> str:
    if value is None:
        return "a value"
    return str(value) if isinstance(value, Forgotten) else one_line(plain_value(value), most=_MOST_OF_VALUE)


def _who(step: Step) -> str:
    return str(step.source) + ("" if step.actor is None else f" ({step.actor})")


def _beside(step: Step) -> Iterator[str]:
    if step.because is not None:
        yield f"because {step.because}"
    for problem in step.problems:
        yield f"{problem.rule}: {problem.why}"


def _print_told(told: Told, turn: Turn) -> None:
    """The sentence in which the value stands, marked, and what stands around it in its turn."""
    before, after = (" ".join(text.split()) for text in (turn.text[: told.start], turn.text[told.end :]))
    print_text(f"  {told.role}, turn {told.turn}:")
    if before:
        print_text(f"    | {one_line(before if len(before) <= _MOST_AROUND else f'…{before[1 - _MOST_AROUND :]}')}")
    print_text(f"    > {one_line(told.sentence, most=_MOST_OF_SENTENCE)}")
    if after:
        print_text(f"    | {one_line(after, most=_MOST_AROUND)}")


def _unknown_field(asked: View, field: str) -> InvalidInput:
    known = asked.fields()
    near = nearest(field, known) or known[:5]
    if known:
        way_out = f" (fields: {', '.join(near)}): see context-ledger state"
    else:
        way_out = ", nor any other: facts are recorded with set_fact or context-ledger set, an import records none"
    return InvalidInput(
        f"no field {field!r} is recorded up to version {asked.version}{way_out}", path="field", nearest=list(near)
    )
