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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import Field

from ledger.events import Section
from ledger.fields import RANK
from ledger.parts import Frozen
from projections.block_forms import BlockForm, CompactText, JsonLines, Markdown, Written, is_confirmed
from projections.disputes import disputes_of
from projections.policy_values import WholeNumber, YesOrNo
from projections.shortening import shortened

if TYPE_CHECKING:
    from projections.entries import Entry
    from projections.state import FactNow, State

Place = Literal["above", "below"]
Part = Literal["line", "why", "tail"]
Count = Callable[[str], int]

TASK_CHARACTERS: Final = 280
"""How much of the task a block quotes, where it does; a window has all of it, verbatim."""

_SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
_ENTITIES: Final = "entities"
_DISPUTES: Final = "disputes"
_STAYS: Final[dict[str, int]] = {"rejected": 1, "decisions": 2, "open": 5, "constraints": 6}
_FACTS_OF_OTHERS: Final = 3
_CONSTRAINTS_OF_USERS: Final = 7
_FACTS_OF_USERS: Final = 8


class BlockOptions(Frozen):
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


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that may give way: of two, the one that ``stays`` less goes first.

    ``place``: where it stands. ``shorter`` writes it without why an entry was made, where ``whole`` says that.
    """

    section: str
    name: str
    stays: int
    since: int
    place: int
    whole: Callable[[], Written]
    shorter: Callable[[], Written] | None = None


Step = tuple[_Line, Part]


def block_of(state: State, options: BlockOptions, *, count: Count, place: Place = "above") -> Block:
    """The block of a state. ``place`` says where the rest of the conversation stands, seen from the block."""
    form = _FORMS[options.form](provenance=options.provenance, most_characters=options.most_characters)
    lines, capped = _capped(state, options, form)
    bottom, capped_disputes = _disputed(state, options, form)
    capped += capped_disputes
    top = [form.label(place)]
    if options.task and state.task is not None:
        top.append(form.task(shortened(state.task, TASK_CHARACTERS), state.task_turn, state.task_source))
    missing = Counter([given.section for given in capped] + [line.section for line in lines])
    draft = _Draft(form, top, bottom, missing=missing, count=count)
    text, steps = _fill(draft, list(_steps(lines)), options.budget_tokens)
    tails = (GivenWay(line.section, line.name, "tail", "cap") for line in lines if draft.is_cut(line))
    return Block(text, count(text), (*capped, *_given_way(steps), *tails))


class _Draft:
    """What a block shows so far; to begin with, no line that may give way.

    ``sum_tokens`` is what it costs, added up line by line, without the last line, which counts what is missing.
    """

    def __init__(self, form: BlockForm, top: list[str], bottom: list[str], *, missing: Counter[str], count: Count) -> None:
        self._form = form
        self._top = top
        self._bottom = bottom
        self._missing = missing
        self._shown: dict[int, Written] = {}
        self.count = count
        self.sum_tokens = count(self._text([]))

    def put_back(self, line: _Line, part: Part) -> None:
        """Show a line, or also why its entry was made."""
        if part == "line":
            self._missing[line.section] -= 1
        write = line.whole if part == "why" or line.shorter is None else line.shorter
        self._show(line.place, write())

    def take(self, line: _Line, part: Part) -> None:
        """Take a line away, or only why its entry was made."""
        if part == "line" or line.shorter is None:
            self._missing[line.section] += 1
            self._show(line.place, None)
        else:
            self._show(line.place, line.shorter())

    def is_cut(self, line: _Line) -> bool:
        """Whether a text of this line is shown in part."""
        return line.place in self._shown and self._shown[line.place].is_cut

    def _show(self, place: int, written: Written | None) -> None:
        before = self._shown.pop(place, None)
        self.sum_tokens -= 0 if before is None else self.count(f"{before.text}\n")
        if written is not None:
            self._shown[place] = written
            self.sum_tokens += self.count(f"{written.text}\n")

    def text(self) -> str:
        """The block as it is now."""
        sections = (_ENTITIES, *_SECTIONS, _DISPUTES)
        missing = {section: self._missing[section] for section in sections if self._missing[section]}
        return self._text([self._form.not_shown(missing)] if missing else [])

    def _text(self, last: list[str]) -> str:
        lines = (*self._top, *(self._shown[place].text for place in sorted(self._shown)), *self._bottom, *last)
        return self._form.opening + "".join(f"{line}\n" for line in lines) + self._form.closing


def _fill(draft: _Draft, steps: list[Step], budget_tokens: int) -> tuple[str, list[Step]]:
    """The text with as few steps taken as will fit, and these steps.

    From the last step back, so that only what is shown is written and counted, however much there is. The sum of the lines is
    close to what the whole costs; the whole is counted before it counts.
    """
    taken = len(steps)
    while taken and draft.sum_tokens <= budget_tokens:
        taken -= 1
        draft.put_back(*steps[taken])
    text = draft.text()
    while taken < len(steps) and max(draft.sum_tokens, draft.count(text)) > budget_tokens:
        draft.take(*steps[taken])
        taken += 1
        text = draft.text()
    return text, steps[:taken]


def _capped(state: State, options: BlockOptions, form: BlockForm) -> tuple[list[_Line], list[GivenWay]]:
    """The lines within the caps of their sections, in order, and what the caps leave out."""
    lines = [_fact_line(name, fact, form, place) for place, (name, fact) in enumerate(_in_order(state)) if fact.is_shown]
    gave_way = []
    for section in _SECTIONS:
        spec = state.section(section)
        entries = state.entries[section] if spec.rendered else ()
        kept = _latest(entries, spec.most_shown or options.most_entries)
        gave_way += [GivenWay(section, entry.id, "line", "cap") for entry in entries if entry.id not in kept]
        first = len(state.entities) + len(lines)
        shown = (entry for entry in entries if entry.id in kept)
        lines += [_entry_line(entry, options, form, place) for place, entry in enumerate(shown, first)]
    return lines, gave_way


def _latest(entries: Sequence[Entry], most: int) -> set[str]:
    """The ids of the entries within a cap: the latest, but no constraint of a tool or a guess in the place of a user's."""
    by_worth = sorted(entries, key=lambda entry: _entry_stays(entry) == _CONSTRAINTS_OF_USERS)
    return {entry.id for entry in by_worth[-most:]}


def _disputed(state: State, options: BlockOptions, form: BlockForm) -> tuple[list[str], list[GivenWay]]:
    """The lines of the latest disputes, which stay, and what their cap leaves out."""
    disputes = disputes_of(state.contradictions, state.schema)
    capped = [GivenWay(_DISPUTES, dispute.id, "line", "cap") for dispute in disputes[: -options.most_entries]]
    return [form.dispute(dispute) for dispute in disputes[-options.most_entries :]], capped


def _in_order(state: State) -> Iterator[tuple[str, FactNow]]:
    declared = () if state.schema is None else [spec.name for spec in state.schema.fields if spec.name in state.entities]
    return ((name, state.entities[name]) for name in dict.fromkeys((*declared, *state.entities)))


def _fact_line(name: str, fact: FactNow, form: BlockForm, place: int) -> _Line:
    stays = _FACTS_OF_USERS if is_confirmed(fact.source) else _FACTS_OF_OTHERS + RANK[fact.source]
    return _Line(_ENTITIES, name, stays, fact.version, place, partial(form.fact, name, fact))


def _entry_line(entry: Entry, options: BlockOptions, form: BlockForm, place: int) -> _Line:
    says_why = options.provenance and entry.why is not None
    return _Line(
        entry.section,
        entry.id,
        _entry_stays(entry),
        entry.from_version,
        place,
        partial(form.entry, entry.section, entry, why=True),
        partial(form.entry, entry.section, entry, why=False) if says_why else None,
    )


def _entry_stays(entry: Entry) -> int:
    is_of_user = entry.section == "constraints" and is_confirmed(entry.source)
    return _CONSTRAINTS_OF_USERS if is_of_user else _STAYS[entry.section]


def _steps(lines: list[_Line]) -> Iterator[Step]:
    """What gives way, first things first."""
    for line in sorted(lines, key=lambda line: line.since):
        if line.shorter is not None:
            yield line, "why"
    for line in sorted(lines, key=lambda line: (line.stays, line.since)):
        yield line, "line"


def _given_way(steps: list[Step]) -> Iterable[GivenWay]:
    """What the steps took, each line once: where it went, why its entry was made went with it."""
    gone = {line.place for line, part in steps if part == "line"}
    return (
        GivenWay(line.section, line.name, part, "tokens") for line, part in steps if part == "line" or line.place not in gone
    )


_FORMS: Final[dict[str, Callable[..., BlockForm]]] = {"lines": JsonLines, "compact": CompactText, "markdown": Markdown}
"""One line a form."""
