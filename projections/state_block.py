"""The state as a text for a model: one line for each fact and entry, capped, with a receipt of what gave way.

Lines stand in a fixed order: declared fields as they are declared, other facts as they first came up, then constraints,
decisions, rejected options, open questions, and what is disputed, a line for each field; so a change of one field changes one
line. Long texts are cut, so that no line takes the place of many. What gives way, one after the other, until the block fits its
tokens:

1. why an entry was made, the oldest first
2. rejected options, then decisions, the oldest first
3. facts that were inferred, then those of tools, the one that was set longest ago first
4. open questions, then constraints, the oldest first, but those of the user and of the interface last, in the cap as well
5. facts of the user and of the interface, the one that was set longest ago first

The label, the task where it is quoted, and the latest few disputes never give way. A last line counts what is not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import Field

from ledger.events import Section
from ledger.fields import RANK
from projections.block_forms import is_confirmed
from projections.block_lines import BlockLines, Line, Remember, made_anew
from projections.disputes import disputes_of
from projections.policy_values import PolicyPart, WholeNumber, YesOrNo

if TYPE_CHECKING:
    from projections.entries import Entry
    from projections.state import FactNow, State

Place = Literal["above", "below"]
Part = Literal["line", "why", "tail"]
Count = Callable[[str], int]

_SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
_ENTITIES: Final = "entities"
_DISPUTES: Final = "disputes"
COUNTED: Final = (_ENTITIES, *_SECTIONS, _DISPUTES)
"""What the last line counts, each by itself: fields, entries by their sections, disputes."""

_WHY: Final[Part] = "why"
_LINE: Final[Part] = "line"
_STAYS: Final[dict[str, int]] = {"rejected": 1, "decisions": 2, "open": 5, "constraints": 6}
_FACTS_OF_OTHERS: Final = 3
_CONSTRAINTS_OF_USERS: Final = 7
_FACTS_OF_USERS: Final = 8


class BlockOptions(PolicyPart):
    """How a state is shown: as one JSON object a line, compact text, or Markdown.

    ``provenance``: whether each line names source and turn, entries also their id and why they were made; without, a ? marks
    what the user has not confirmed.
    ``most_entries``: of each section, the latest are shown (a schema may say otherwise for one), and of the disputes.
    ``most_characters``: of a value, an entry and its reason, so much is shown; the rest is cut off and the line says so.
    ``budget_tokens``: what the block may cost. ``task``: whether the block quotes the task, which a window has verbatim anyway.
    """

    form: Literal["lines", "compact", "markdown"] = "lines"
    provenance: YesOrNo = True
    task: YesOrNo = False
    most_entries: WholeNumber = Field(default=5, ge=1)
    most_characters: WholeNumber = Field(default=240, ge=1)
    budget_tokens: WholeNumber = Field(default=300, ge=1)


@dataclass(frozen=True, slots=True)
class GivenWay:
    """What a block does not show: a field, an entry by its id, or a dispute by the id of its latest contradiction.

    ``part`` "why": only why an entry was made; "tail": only the end of a long text. ``rule`` says what it gave way to: a cap
    (of its section, of the disputes, of a text), or the tokens of the block.
    """

    section: str
    name: str
    part: Part
    rule: Literal["cap", "tokens"]


@dataclass(frozen=True, slots=True)
class Block:
    """A state as text with its tokens, and the receipt of what gave way.

    It costs more than it may only where what never gives way does.
    """

    text: str
    tokens: int
    gave_way: tuple[GivenWay, ...]


@dataclass(frozen=True)
class _Slot:
    """A line that may give way: of two, the one whose ``stays`` is less goes first.

    ``write`` writes it, ``write_shorter`` without why an entry was made, where it says that.
    """

    section: str
    name: str
    stays: tuple[int, int]
    write: Callable[[], Line]
    write_shorter: Callable[[], Line] | None = None

    @cached_property
    def whole(self) -> Line:
        """The line."""
        return self.write()

    @cached_property
    def shorter(self) -> Line:
        """The line without why its entry was made."""
        return self.whole if self.write_shorter is None else self.write_shorter()


Step = tuple[int, Part]
"""What gives way: the line of a place among the lines that may, or only why its entry was made."""


def block_of(
    state: State, options: BlockOptions, *, count: Count, place: Place = "above", remember: Remember = made_anew
) -> Block:
    """The block of a state. ``place`` says where the rest of the conversation stands, seen from the block.

    ``remember`` may remember lines between the states of one ledger that are counted by the same ``count``.
    """
    lines = BlockLines(options, count=count, remember=remember)
    slots, capped = _capped(state, options, lines)
    bottom, capped_disputes = _disputed(state, options, lines)
    capped += capped_disputes
    task = lines.task(state) if options.task else None
    top = [lines.label(place), *([] if task is None else [task])]
    missing = Counter([given.section for given in capped] + [slot.section for slot in slots])
    draft = _Draft(lines, slots, top, bottom, missing=missing)
    steps = _fill(draft, _steps(slots), options.budget_tokens)
    gave_way = (*capped, *_given_way(slots, steps), *draft.tails())
    return Block(draft.text(), draft.tokens(), gave_way)


class _Draft:
    """What a block shows so far; to begin with, no line that may give way.

    ``shown_tokens`` is what it costs without the last line, which counts what is missing.
    """

    def __init__(
        self, lines: BlockLines, slots: list[_Slot], top: list[Line], bottom: list[Line], *, missing: Counter[str]
    ) -> None:
        self._lines = lines
        self._slots = slots
        self._top = top
        self._bottom = bottom
        self._missing = missing
        self._shown: dict[int, Line] = {}
        self.shown_tokens = lines.ends_tokens() + sum(line.tokens for line in (*top, *bottom))

    def put_back(self, number: int, part: Part) -> None:
        """Show a line, or also why its entry was made."""
        slot = self._slots[number]
        if part == "line":
            self._missing[slot.section] -= 1
            self._show(number, slot.shorter)
        else:
            self._show(number, slot.whole)

    def take(self, number: int, part: Part) -> None:
        """Take a line away, or only why its entry was made."""
        slot = self._slots[number]
        if part == "line":
            self._missing[slot.section] += 1
            self._show(number, None)
        else:
            self._show(number, slot.shorter)

    def tails(self) -> list[GivenWay]:
        """The lines of which a text is shown in part."""
        cut = (self._slots[number] for number in sorted(self._shown) if self._shown[number].is_cut)
        return [GivenWay(slot.section, slot.name, "tail", "cap") for slot in cut]

    def _show(self, number: int, line: Line | None) -> None:
        before = self._shown.pop(number, None)
        self.shown_tokens -= 0 if before is None else before.tokens
        if line is not None:
            self._shown[number] = line
            self.shown_tokens += line.tokens

    def tokens(self) -> int:
        """What the block costs as it is now."""
        missed = self._missed()
        if missed:
            return self.shown_tokens + self._lines.not_shown_tokens(missed)
        last = self._bottom[-1] if self._bottom else self._shown[max(self._shown)] if self._shown else self._top[-1]
        return self.shown_tokens - last.tokens + self._lines.last_tokens(last)

    def text(self) -> str:
        """The block as it is now."""
        opening, closing = self._lines.ends
        lines = (*self._top, *(self._shown[number] for number in sorted(self._shown)), *self._bottom)
        return "".join((opening, *(f"{line.text}\n" for line in lines), self._lines.not_shown(self._missed()), closing))

    def _missed(self) -> dict[str, int]:
        return {section: self._missing[section] for section in COUNTED if self._missing[section]}


def _fill(draft: _Draft, steps: list[Step], budget_tokens: int) -> list[Step]:
    """Show as much as will fit; the steps that are taken then.

    From the last step back, so that only what is shown is written and counted, however much there is.
    """
    taken = len(steps)
    while taken and draft.shown_tokens <= budget_tokens:
        taken -= 1
        draft.put_back(*steps[taken])
    while taken < len(steps) and draft.tokens() > budget_tokens:
        draft.take(*steps[taken])
        taken += 1
    return steps[:taken]


def _capped(state: State, options: BlockOptions, lines: BlockLines) -> tuple[list[_Slot], list[GivenWay]]:
    """The lines within the caps of their sections, in order, and what the caps leave out."""
    schema = None if state.schema is None else state.schema.digest
    slots = [_fact_slot(name, fact, lines, schema) for name, fact in _in_order(state) if fact.is_shown]
    gave_way = []
    for section in _SECTIONS:
        if not state.entries[section]:
            continue
        spec = state.section(section)
        entries = state.entries[section] if spec.rendered else ()
        kept = _latest(entries, spec.most_shown or options.most_entries)
        gave_way += [GivenWay(section, entry.id, "line", "cap") for entry in entries if entry.id not in kept]
        slots += [_entry_slot(entry, lines) for entry in entries if entry.id in kept]
    return slots, gave_way


def _latest(entries: Sequence[Entry], most: int) -> set[str]:
    """The ids of the entries within a cap: the latest, but no constraint of a tool or a guess in the place of a user's."""
    by_worth = sorted(entries, key=lambda entry: _entry_stays(entry) == _CONSTRAINTS_OF_USERS)
    return {entry.id for entry in by_worth[-most:]}


def _disputed(state: State, options: BlockOptions, lines: BlockLines) -> tuple[list[Line], list[GivenWay]]:
    """The lines of the latest disputes, which stay, and what their cap leaves out."""
    disputes = disputes_of(state.contradictions, state.schema)
    capped = [GivenWay(_DISPUTES, dispute.id, "line", "cap") for dispute in disputes[: -options.most_entries]]
    return [lines.dispute(dispute) for dispute in disputes[-options.most_entries :]], capped


def _in_order(state: State) -> Iterator[tuple[str, FactNow]]:
    declared = () if state.schema is None else [spec.name for spec in state.schema.fields if spec.name in state.entities]
    return ((name, state.entities[name]) for name in dict.fromkeys((*declared, *state.entities)))


def _fact_slot(name: str, fact: FactNow, lines: BlockLines, schema: str | None) -> _Slot:
    """The line of a fact: in one ledger, no two that differ are of the same claim, confirmation and schema (its digest)."""

    def made() -> _Slot:
        stays = _FACTS_OF_USERS if is_confirmed(fact.source) else _FACTS_OF_OTHERS + RANK[fact.source]
        return _Slot(_ENTITIES, name, (stays, fact.version), partial(lines.fact, name, fact))

    return lines.remembered((name, fact.version, fact.source, fact.turn, schema), made)


def _entry_slot(entry: Entry, lines: BlockLines) -> _Slot:
    def made() -> _Slot:
        stays = _entry_stays(entry), entry.from_version
        shorter = partial(lines.entry, entry, why=False) if lines.says_why(entry) else None
        return _Slot(entry.section, entry.id, stays, partial(lines.entry, entry, why=True), shorter)

    return lines.remembered(("entry", entry.id), made)


def _entry_stays(entry: Entry) -> int:
    is_of_user = entry.section == "constraints" and is_confirmed(entry.source)
    return _CONSTRAINTS_OF_USERS if is_of_user else _STAYS[entry.section]


def _steps(slots: list[_Slot]) -> list[Step]:
    """What gives way, first things first."""
    whys = [number for number, slot in enumerate(slots) if slot.write_shorter is not None]
    whys.sort(key=lambda number: slots[number].stays[1])
    lines = sorted(range(len(slots)), key=lambda number: slots[number].stays)
    return [*((number, _WHY) for number in whys), *((number, _LINE) for number in lines)]


def _given_way(slots: list[_Slot], steps: list[Step]) -> list[GivenWay]:
    """What the steps took, each line once: where it went, why its entry was made went with it."""
    gone = {number for number, part in steps if part == "line"}
    taken = ((slots[number], part) for number, part in steps if part == "line" or number not in gone)
    return [GivenWay(slot.section, slot.name, part, "tokens") for slot, part in taken]
