"""Which records of a Claude Code file belong to which conversation, and which record each one follows.

A record names its parent; so the records of a session and those of its subagents (*side* records) may stand in the file in
any order, one among the other. A record is known by its ``uuid``; a copy of it is not told twice, whether under the same
uuid (as a synchronised folder leaves it) or under another one (as resuming a session writes it). A copy is known by the id
of the provider's message and the block that it holds, and otherwise by the time and what was said. Where two records of one
uuid differ, the first one stands and the other is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from delivery.importers.claude_code_records import Noted
from delivery.importers.records import Records

_Key = tuple[str | None, str | None]


@dataclass(slots=True)
class Stream:
    """The records of a session, or of one of its subagents (which has a ``name``), in the order of the file.

    ``follows`` holds for each of them the place, in ``records``, of the one that it follows. ``starter`` is the conversation
    whose call started a subagent, where that is known; else the session did. ``is_over``: the file goes on with another
    session.
    """

    session: str | None
    name: str | None
    starter: Stream | None = None
    is_over: bool = False
    records: list[Noted] = field(default_factory=list)
    follows: list[int | None] = field(default_factory=list)

    @property
    def parent(self) -> str | None:
        """What a subagent is the child of, as in ``source_id``."""
        if self.name is None:
            return None
        return self.session if self.starter is None else self.starter.source_id

    @property
    def source_id(self) -> str | None:
        """Its name, under which its ledger is found again."""
        if self.name is None:
            return self.session
        return self.name if self.parent is None else f"{self.parent}/{self.name}"

    @property
    def root(self) -> Noted:
        """The record with which it begins: the first that follows none, else the first of the file."""
        said = [place for place, record in enumerate(self.records) if record.is_said]
        return self.records[next((place for place in said if self.follows[place] is None), said[0])]


def streams(found: Iterable[Noted], report: Records) -> list[Stream]:
    """The sessions of a file in order, each followed by its subagents."""
    tree = _Tree(report)
    for record in found:
        tree.add(record)
    grown = tree.streams()
    _name(grown)
    return _parents_first(grown)


class _Tree:
    """The records of a file, without copies, and how they hang together."""

    def __init__(self, report: Records) -> None:
        self._report = report
        self._records: list[Noted] = []
        self._by_uuid: dict[str, Noted] = {}
        self._by_content: dict[tuple[object, ...], Noted] = {}
        self._keys: dict[int, _Key] = {}

    def add(self, record: Noted) -> None:
        """Take in the next record, unless it is a copy."""
        same = self._by_uuid.get(record.uuid or "")
        if same is not None and same.is_said and record.is_said:
            self._repeated(record, same)
            return
        first = self._first_of(record)
        if record.uuid is not None and (same is None or record.is_said):
            self._by_uuid[record.uuid] = first
        if first is record:
            self._records.append(record)
        else:
            self._report.leave_out(f"a copy of a record under another uuid ({record.kind})", record.line)

    def _repeated(self, record: Noted, same: Noted) -> None:
        if (record.kind, record.content) == (same.kind, same.content):
            self._report.leave_out(f"a copy of a record under the same uuid ({record.kind})", record.line)
        else:
            self._report.skip(
                record.line,
                f"its uuid {record.uuid!r} is that of line {same.line}, which says something else: the first stands",
            )

    def _first_of(self, record: Noted) -> Noted:
        """The record itself, or the one that it is a copy of."""
        starts_a_side = record.is_side and self._parent_of(record) is None
        if not record.is_said or record.uuid is None or starts_a_side:
            return record
        said = record.message or record.said_at
        if said is None:
            return record
        key = (record.session, record.is_side, record.agent, record.kind, said, record.content, record.ends_with)
        return self._by_content.setdefault(key, record)

    def _parent_of(self, record: Noted) -> Noted | None:
        found = self._by_uuid.get(record.parent or "")
        return None if found is record else found

    def streams(self) -> list[Stream]:
        """The conversations, in the order in which they begin."""
        sessions = self._sessions()
        grown: dict[_Key, Stream] = {}
        for record in self._records:
            key = (sessions[record.line], self._side_name(record))
            grown.setdefault(key, Stream(*key)).records.append(record)
            self._keys[record.line] = key
        last = next((sessions[record.line] for record in reversed(self._records) if record.is_said), None)
        for stream in grown.values():
            stream.is_over = stream.session != last
            stream.follows = list(self._follows(stream))
        return [stream for stream in grown.values() if any(record.is_said for record in stream.records)]

    def _sessions(self) -> dict[int, str | None]:
        """The session of each record by its line: where it names none that of its parent, else that of the one before it."""
        found: dict[int, str | None] = {}
        current = next((record.session for record in self._records if record.is_said and record.session), None)
        for record in self._records:
            parent = self._parent_of(record)
            known = None if parent is None else found.get(parent.line)
            current = record.session or known or current
            found[record.line] = current
        return found

    def _side_name(self, record: Noted) -> str | None:
        """The name of the subagent, else of the record with which its tree of side records begins; None for the session."""
        if not record.is_side:
            return None
        seen = {record.line}
        while record.agent is None:
            parent = self._parent_of(record)
            if parent is None or not parent.is_side or parent.line in seen:
                return record.uuid or f"line-{record.line}"
            seen.add(parent.line)
            record = parent
        return record.agent

    def _follows(self, stream: Stream) -> Iterator[int | None]:
        """Where a record names no parent, or one that is not of its conversation, it follows the one before it.

        A prompt that says that it follows none, where other records do name theirs, was put in the place of the first one.
        """
        places = {record.line: place for place, record in enumerate(stream.records)}
        key = self._keys[stream.records[0].line]
        is_tree = False
        for place, record in enumerate(stream.records):
            parent = self._parent_of(record)
            known = None if parent is None or self._keys.get(parent.line) != key else places[parent.line]
            if known is None and record.parent is not None and place > 0:
                self._tell_of_orphan(record, parent, stream.records[place - 1])
            anew = record.kind == "prompt" and record.says_no_parent and record.parent is None and is_tree
            before = None if place == 0 or anew else place - 1
            is_tree = is_tree or known is not None
            yield before if known is None else known

    def _tell_of_orphan(self, record: Noted, parent: Noted | None, before: Noted) -> None:
        if record.is_said:
            what = "is not in the file" if parent is None else f"is of another conversation (line {parent.line})"
            self._report.skip(
                record.line,
                f"not the record, but its link: its parent {record.parent!r} {what}; it is told after line {before.line}",
            )


def _name(grown: list[Stream]) -> None:
    """Find the call that started each subagent, known by its prompt; one that has no id of its own is named after it."""
    calls: dict[tuple[str | None, bytes], list[tuple[Stream, str]]] = {}
    for stream in grown:
        for record in stream.records:
            for call_id, prompt in record.spawns:
                calls.setdefault((stream.session, prompt), []).append((stream, call_id))
    for stream in grown:
        if stream.name is None:
            continue
        first = stream.root
        waiting = calls.get((stream.session, first.text), [])
        place = next((place for place, (starter, _) in enumerate(waiting) if not _is_under(starter, stream)), None)
        if place is None:
            continue
        stream.starter, call_id = waiting.pop(place)
        if first.agent is None:
            stream.name = call_id


def _is_under(stream: Stream | None, top: Stream) -> bool:
    """Whether a conversation is another one, or was started by it."""
    while stream is not None and stream is not top:
        stream = stream.starter
    return stream is top


def _parents_first(grown: list[Stream]) -> list[Stream]:
    """The conversations in their order, each before those that it started."""
    sessions = {stream.session: stream for stream in reversed(grown) if stream.name is None}
    ordered: dict[int, Stream] = {}
    for stream in grown:
        above = [stream]
        while above[-1].starter is not None:
            above.append(above[-1].starter)
        for one in (sessions.get(stream.session, stream), *reversed(above)):
            ordered.setdefault(id(one), one)
    return list(ordered.values())
