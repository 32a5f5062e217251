"""The state as a text for a model: one escaped JSON object a line, so that no value can close the block or forge a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from projections.escaping import escaped, escaped_json

if TYPE_CHECKING:
    from projections.contradictions import Contradiction
    from projections.entries import Entry
    from projections.state import FactNow, State

PRECEDENCE: Final = (
    "Established facts of this conversation. Where other text {place} says otherwise, lines with source user or "
    "interface hold; "
    "lines with source tool or inferred are unconfirmed."
)

TASK_CHARACTERS: Final = 280
"""How much of the task the block quotes; the window has all of it, verbatim."""


def block_of(state: State, *, place: str = "above") -> str:
    """The block's text. ``place`` says where the rest of the conversation stands, "above" or "below" the block."""
    return "\n".join(["<state>", *_lines(state, place), "</state>"]) + "\n"


def _lines(state: State, place: str) -> Iterator[str]:
    yield _line(about=escaped(PRECEDENCE.format(place=place)))
    if state.task is not None:
        yield _line(task=escaped(_cut(state.task)), **_provenance(state.task_turn, state.task_source))
    for name, fact in state.entities.items():
        yield _fact(name, fact)
    for section in ("constraints", "decisions", "rejected", "open"):
        for entry in state.entries[section]:
            yield _entry(section, entry)
    for contradiction in state.contradictions:
        yield _contradiction(contradiction)


def _line(**values: str | None) -> str:
    return "{" + ",".join(f'"{name}":{value}' for name, value in values.items() if value is not None) + "}"


def _provenance(turn: int | None, source: str | None) -> dict[str, str | None]:
    return {"turn": None if turn is None else str(turn), "source": None if source is None else escaped(source)}


def _fact(name: str, fact: FactNow) -> str:
    return _line(entity=escaped(name), value=escaped_json(fact.json), **_provenance(fact.turn, fact.source))


def _entry(section: str, entry: Entry) -> str:
    why = None if entry.why is None else escaped(entry.why)
    return _line(**{section: escaped(entry.what)}, why=why, id=escaped(entry.id), **_provenance(entry.turn, entry.source))


def _contradiction(contradiction: Contradiction) -> str:
    """Names what is disputed and where, but not the unconfirmed value."""
    turns = "[" + ",".join(map(str, contradiction.turns)) + "]"
    return _line(open=escaped(f"contradiction about {contradiction.about}"), id=escaped(contradiction.id), turns=turns)


def _cut(text: str) -> str:
    return text if len(text) <= TASK_CHARACTERS else text[: TASK_CHARACTERS - 1] + "…"
