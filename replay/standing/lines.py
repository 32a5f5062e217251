"""The lines that state blocks of a ledger show at any of its versions, counted when what they say is recorded.

So whoever asks for a block as of any version finds its lines counted. Each event is looked at once: only the lines of what it
touches are written, and it is remembered up to which version that was done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ledger import events as e
from ledger.erased import Erased
from ledger.record import Recorded
from ledger.standing import Standing, contradiction_id, entry_id
from ledger.store import Selection
from projections.basis import ENGINE
from projections.block_lines import BlockLines, Line
from projections.contradictions import Contradiction, contradiction_of
from projections.disputes import disputes_of, subject_of
from projections.entries import Entry
from projections.state import State, fact_now
from projections.state_block import COUNTED, BlockOptions
from replay.kept.derived_rows import DerivedRows
from replay.kept.warm import shelf_of
from replay.loading import Loaded
from replay.standing.live_events import StandingFolds

KIND: Final = "lines/1"

_MOST_DIGITS: Final = 4
_EVENTS_AT_ONCE: Final = 8_192


def count_state_lines(loaded: Loaded, options: BlockOptions, encoding: str) -> None:
    """Have all lines counted that blocks of such options show at any version up to the one that was loaded, the task apart.

    Where nothing can be kept nothing is counted, nor where content may be past its retention: what is shown then depends on
    when it is asked.
    """
    if not loaded.nothing_is_due:
        return
    rows = DerivedRows(loaded.store.store, loaded.head.ledger, kind=KIND, forgettings=loaded.erasures)
    key = f"{ENGINE}/{encoding}/{options.form}/{options.provenance:d}/{options.most_characters}"
    through = int(rows.get(key) or 0)
    if through >= loaded.version:
        return
    shelf = shelf_of(loaded)
    notes = shelf.notes(encoding)
    lines = BlockLines(options, count=notes)
    if not through:
        _count_fixed(lines)
    with shelf.lock:
        touched = _Touched(lines, shelf.live.standing(replace(loaded, version=through)))
    while through < loaded.version:
        upto = min(through + _EVENTS_AT_ONCE, loaded.version)
        for item in loaded.reader.read(Selection(kind="others", after=through, upto=upto)):
            touched.take(item)
        through = upto
        if not notes.keep():
            return
        rows.write({key: str(through).encode()})


def count_task_line(state: State, options: BlockOptions) -> None:
    """Have the line counted that quotes the task, where blocks of such options do: it is the same at every version."""
    lines = BlockLines(options, count=state.count)
    line = lines.task(state) if options.task else None
    if line is not None:
        lines.last_tokens(line)


def _count_fixed(lines: BlockLines) -> None:
    """What blocks have besides what they say of the state."""
    lines.ends_tokens()
    for place in ("above", "below"):
        lines.last_tokens(lines.label(place))
    for section in COUNTED:
        for digits in range(_MOST_DIGITS):
            lines.not_shown_tokens({section: 10**digits})


class _Touched:
    """What stands as far as lines show it, and goes on event by event; the lines of what an event touches are counted."""

    def __init__(self, lines: BlockLines, begun: StandingFolds) -> None:
        self._lines = lines
        self._standing = Standing(facts=dict(begun.facts.standing()), schema=begun.schemas.schema())
        self._disputed: dict[tuple[str, str], dict[str, Contradiction]] = {}
        self._group(begun.contradictions.open())

    def take(self, item: Recorded) -> None:
        """Go on by an event."""
        version, event = item.version, item.event
        match event:
            case e.FactSet() | e.FactReaffirmed() | e.FactSuperseded() | e.FactRetracted():
                self._standing.apply(version, event)
                self._fact(event.field)
            case e.EntryAdded():
                self._entry(Entry(entry_id(version), event.section, event.what, event.why, event.source, event.turn, version))
            case e.ContradictionRecorded():
                self._dispute(contradiction_of(version, event))
            case e.ContradictionResolved(contradiction=resolved):
                self._resolve(resolved)
            case e.SchemaSet():
                self._standing.apply(version, event)
                self._meant_anew()
            case Erased(type="contradiction.resolved", ends=int(ends)):
                self._resolve(contradiction_id(ends))
            case Erased(type="fact.set" | "fact.superseded" | "fact.retracted"):
                self._standing.apply(version, event)
            case _:
                pass

    def _fact(self, name: str) -> None:
        claim, schema = self._standing.facts.get(name), self._standing.schema
        if claim is not None:
            fact = fact_now(name, claim, schema)
            if fact.is_shown:
                self._count(self._lines.fact(name, fact))

    def _entry(self, entry: Entry) -> None:
        self._count(self._lines.entry(entry, why=True))
        if self._lines.says_why(entry):
            self._count(self._lines.entry(entry, why=False))

    def _dispute(self, found: Contradiction) -> None:
        group = self._disputed.setdefault(subject_of(found, self._standing.schema), {})
        group[found.id] = found
        self._count_disputes(group.values())

    def _resolve(self, resolved: str) -> None:
        for group in self._disputed.values():
            if group.pop(resolved, None) is not None:
                self._count_disputes(group.values())
                return

    def _meant_anew(self) -> None:
        """Another schema may have something against a value, and take two fields for one."""
        for name in self._standing.facts:
            self._fact(name)
        known = [found for group in self._disputed.values() for found in group.values()]
        self._disputed = {}
        self._group(sorted(known, key=lambda found: found.version))
        for group in self._disputed.values():
            self._count_disputes(group.values())

    def _group(self, contradictions: Iterable[Contradiction]) -> None:
        for found in contradictions:
            self._disputed.setdefault(subject_of(found, self._standing.schema), {})[found.id] = found

    def _count_disputes(self, contradictions: Iterable[Contradiction]) -> None:
        for dispute in disputes_of(contradictions, self._standing.schema):
            self._count(self._lines.dispute(dispute))

    def _count(self, line: Line) -> None:
        self._lines.last_tokens(line)
