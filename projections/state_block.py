"""The state as a text for a model: one line for each fact and entry, capped, with a receipt of what gave way.

Lines stand in a fixed order: facts as they first came up, then constraints, decisions, rejected options, open questions, and
contradictions; so a change of one field changes one line. What gives way, one after the other, until the block fits its tokens:

1. why an entry was made, the oldest first
2. rejected options, then decisions, the oldest first
3. facts that were inferred, then those of tools, the one that was set longest ago first
4. open questions, then constraints, the oldest first
5. facts of the user and of the interface, the one that was set longest ago first

The label and open contradictions never give way. A last line counts what is not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import Field

from ledger.events import Section
from ledger.fields import RANK
from ledger.parts import Frozen
from projections.block_forms import BlockForm, CompactText, JsonLines, Markdown, is_confirmed

if TYPE_CHECKING:
    from projections.entries import Entry
    from projections.state import FactNow, State

Place = Literal["above", "below"]
Count = Callable[[str], int]

TASK_CHARACTERS: Final = 280
"""How much of the task a block quotes, where it does; a window has all of it, verbatim."""

_SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
_ENTITIES: Final = "entities"
_STAYS: Final[dict[str, int]] = {"rejected": 1, "decisions": 2, "open": 5, "constraints": 6}
_FACTS_OF_USERS: Final = 7


class BlockOptions(Frozen):
    """How a state is shown: as one JSON object a line, compact text, or Markdown.

    ``provenance``: whether each line names source and turn, entries also their id and why they were made; without, a ? marks
    what the user has not confirmed.
    ``most_entries``: of each section, the latest are shown (a schema may say otherwise for one). ``budget_tokens``: what the
    block may cost. ``task``: whether the block quotes the task, which a window has verbatim anyway.
    """

    form: Literal["lines", "compact", "markdown"] = "lines"
    provenance: bool = True
    task: bool = False
    most_entries: int = Field(default=5, ge=1)
    budget_tokens: int = Field(default=300, ge=1)


@dataclass(frozen=True, slots=True)
class GivenWay:
    """What a block does not show: a field, or an entry by its id, or only why it was made (``part`` "why").

    ``rule`` says what it gave way to: the cap of its section, or the tokens of the block.
    """

    section: str
    name: str
    part: Literal["line", "why"]
    rule: Literal["cap", "tokens"]


@dataclass(frozen=True, slots=True)
class Block:
    """A state as text with its tokens, and the receipt of what gave way.

    It costs more than it may only where what never gives way does.
    """

    text: str
    tokens: int
    gave_way: tuple[GivenWay, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that may give way, and what it reads without its reason; of two, the one that ``stays`` less goes first."""

    section: str
    name: str
    text: str
    without_why: str | None
    stays: int
    since: int

    @property
    def key(self) -> tuple[str, str]:
        """No two lines have the same."""
        return self.section, self.name


def block_of(state: State, options: BlockOptions, *, count: Count, place: Place = "above") -> Block:
    """The block of a state. ``place`` says where the rest of the conversation stands, seen from the block."""
    form = _FORMS[options.form](provenance=options.provenance)
    lines, capped = _capped(state, options, form)
    shown = {line.key: line.text for line in lines}
    gave_way = {(given.section, given.name): given for given in capped}
    costs = {key: count(f"{text}\n") for key, text in shown.items()}
    text = _text(state, options, form, shown=shown, gave_way=gave_way, place=place)
    estimate = count(text)
    for line, part in _steps(lines):
        if estimate <= options.budget_tokens:  # the sum of the lines is close to the whole, which is counted before it counts
            text = _text(state, options, form, shown=shown, gave_way=gave_way, place=place)
            estimate = count(text)
            if estimate <= options.budget_tokens:
                break
        left = line.without_why if part == "why" else None
        estimate -= costs[line.key] - (0 if left is None else count(f"{left}\n"))
        if left is None:
            del shown[line.key]
        else:
            shown[line.key], costs[line.key] = left, count(f"{left}\n")
        gave_way[line.key] = GivenWay(line.section, line.name, part, "tokens")
    text = _text(state, options, form, shown=shown, gave_way=gave_way, place=place)
    return Block(text, count(text), tuple(gave_way.values()))


def _capped(state: State, options: BlockOptions, form: BlockForm) -> tuple[list[_Line], list[GivenWay]]:
    """The lines within the caps of their sections, in order, and what the caps leave out."""
    lines = [
        _Line(_ENTITIES, name, form.fact(name, fact), None, _fact_stays(fact), fact.version)
        for name, fact in state.entities.items()
        if fact.is_shown
    ]
    gave_way = []
    for section in _SECTIONS:
        spec = state.section(section)
        entries = state.entries[section] if spec.rendered else ()
        most = spec.most_shown or options.most_entries
        gave_way += [GivenWay(section, entry.id, "line", "cap") for entry in entries[:-most]]
        lines += [_entry_line(section, entry, form) for entry in entries[-most:]]
    return lines, gave_way


def _fact_stays(fact: FactNow) -> int:
    return _FACTS_OF_USERS if is_confirmed(fact.source) else 3 + RANK[fact.source]


def _entry_line(section: Section, entry: Entry, form: BlockForm) -> _Line:
    shorter = None if entry.why is None else form.entry(section, entry, why=False)
    return _Line(section, entry.id, form.entry(section, entry, why=True), shorter, _STAYS[section], entry.from_version)


def _steps(lines: list[_Line]) -> Iterator[tuple[_Line, Literal["line", "why"]]]:
    """What gives way, first things first."""
    for line in sorted(lines, key=lambda line: line.since):
        if line.without_why is not None:
            yield line, "why"
    for line in sorted(lines, key=lambda line: (line.stays, line.since)):
        yield line, "line"


def _text(
    state: State,
    options: BlockOptions,
    form: BlockForm,
    *,
    shown: Mapping[tuple[str, str], str],
    gave_way: Mapping[tuple[str, str], GivenWay],
    place: Place,
) -> str:
    lines = [form.label(place)]
    if options.task and state.task is not None:
        lines.append(form.task(_cut(str(state.task)), state.task_turn, state.task_source))
    lines += shown.values()
    lines += map(form.contradiction, state.contradictions)
    missing = Counter(given.section for given in gave_way.values() if given.part == "line")
    if missing:
        lines.append(form.not_shown(missing))
    return "\n".join(["<state>", *lines, "</state>"]) + "\n"


def _cut(text: str) -> str:
    return text if len(text) <= TASK_CHARACTERS else text[: TASK_CHARACTERS - 1] + "…"


_FORMS: Final[dict[str, Callable[..., BlockForm]]] = {"lines": JsonLines, "compact": CompactText, "markdown": Markdown}
"""One line a form."""
