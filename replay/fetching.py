"""What windows name by an id, as it is recorded: a tool's result by its stub, evidence, a contradiction, an entry, a turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

from ledger.erased import Erased, Forgotten
from ledger.errors import CorruptRecord, InvalidInput, LedgerError
from ledger.events import ArtifactStored, EntryAdded, EvidenceRecorded, Role, ToolReturned, TurnRecorded
from ledger.marks import artifact_mark
from ledger.parts import DocumentPart, ImagePart, JsonPart, ReturnPart, ToolCallPart
from ledger.record import Envelope, Recorded
from ledger.standing import entry_id, result_id
from ledger.store import Selection
from projections.basis import Basis
from projections.entries import EntriesFold
from projections.fetched import FetchedKind, claim_versions, contradiction_part, entry_part, evidence_part, turn_parts
from projections.fold import run
from projections.transcript import text_of
from projections.wire import to_json
from replay.fact_index import Overtaken
from replay.loading import Loaded
from replay.standing_state import standing_contradictions

_ID: Final = re.compile(r"(r|ev|con|en|turn)_([1-9][0-9]{0,17})")
_NEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of thing that has ids: how they begin, the event that has one, among which it is read, and where there is none."""

    kind: FetchedKind
    begins: str
    event: str
    among: Literal["turns", "others", "numbered"]
    none: str

    def id_of(self, envelope: Envelope) -> str:
        """The id of an event of this kind."""
        return f"{self.begins}_{envelope.turn if self.kind == 'turn' else envelope.version}"


_KINDS: Final = {
    known.begins: known
    for known in (
        _Kind("result", "r", "tool.returned", "turns", "no tool has returned anything"),
        _Kind("evidence", "ev", "evidence.recorded", "others", "no evidence was recorded"),
        _Kind("contradiction", "con", "contradiction.recorded", "others", "no contradiction was recorded"),
        _Kind("entry", "en", "entry.added", "others", "no entry was added"),
        _Kind("turn", "turn", "turn.recorded", "numbered", "there was no turn"),
    )
}


class UnknownResult(LedgerError):
    """Nothing has this id, as of the version; ``nearest`` lists ids of its kind that there are, ``last`` the last one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters of a text, from ``start`` to ``end``, of so many ``characters``."""

    start: int
    end: int
    characters: int
    text: str

    @property
    def content(self) -> bytes:
        """It in UTF-8; a lone surrogate, which UTF-8 does not have, as three bytes of its own."""
        return self.text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class FetchedResult:
    """What stands under an id. Of a tool's result what was returned, part by part; ``tool`` is None where nothing names it.

    Of evidence, contradictions and entries the only part is JSON; of a turn its parts are what it says, with its calls as
    JSON, and ``role`` says whose it is. ``artifacts`` has the bytes of the pictures and documents among the parts that the
    ledger keeps, by their hashes. Of what was forgotten, or a part, the mark is left; ``forgotten`` is that of the whole.
    """

    basis: Basis
    id: str
    version: int
    turn: int | None
    call_id: str | None
    tool: str | None
    is_error: bool
    parts: tuple[ReturnPart | Forgotten, ...]
    artifacts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    forgotten: Forgotten | None = None
    kind: FetchedKind = "result"
    role: Role | None = None

    @property
    def text(self) -> str:
        """Its text, parts one to a line; JSON as its source text. A forgotten result has only its mark."""
        return text_of(self.parts)

    @property
    def content(self) -> bytes:
        """Its text in UTF-8; a lone surrogate, which UTF-8 does not have, as three bytes of its own."""
        return self.piece().content

    def piece(self, start: int = 0, length: int | None = None) -> Piece:
        """So many characters of its text from ``start`` on, or all; ``InvalidInput`` where it begins beyond the end."""
        text = self.text
        if start > len(text):
            raise InvalidInput(f"start {start:,} is beyond the end: the {self.kind} has {len(text):,} characters", path="start")
        end = len(text) if length is None else min(len(text), start + length)
        return Piece(start, end, len(text), text[start:end])

    def to_json(self, piece: Piece | None = None) -> bytes:
        """The answer as JSON: basis, id, kind, version, turn, role, call, tool, is_error, parts, artifacts' sizes in bytes.

        With a piece: its start, end, characters and text in the place of the parts and artifacts.
        """
        known: dict[str, Any] = {
            "basis": self.basis,
            "id": self.id,
            "kind": self.kind,
            "version": self.version,
            "turn": self.turn,
            "role": self.role,
            "call": self.call_id,
            "tool": self.tool,
            "is_error": self.is_error,
        }
        if piece is None:
            known |= {"parts": self.parts, "artifacts": {sha256: len(content) for sha256, content in self.artifacts.items()}}
        else:
            known |= {"start": piece.start, "end": piece.end, "characters": piece.characters, "text": piece.text}
        return to_json(known if self.forgotten is None else known | {"forgotten": True})


def fetched(current: Callable[[], Loaded], basis: Callable[[], Basis], wanted: str) -> FetchedResult:
    """What stands under an id (``r_12``, ``ev_31``, ``con_9``, ``en_5``, ``turn_7``), as of the version of what was loaded.

    Of a result or a turn only its own events are read. ``UnknownResult`` where nothing has the id at this version;
    ``CorruptRecord`` where the bytes of an artifact are missing.
    """
    while True:
        loaded, known = current(), basis()
        try:
            found = _fetched(loaded, known, wanted)
        except (CorruptRecord, Overtaken):
            if current() is loaded:
                raise
            continue
        if current() is loaded:
            return found  # else something was forgotten meanwhile


def _fetched(loaded: Loaded, basis: Basis, wanted: str) -> FetchedResult:
    kind, item = _named(loaded, wanted)
    if isinstance(item.event, Erased):
        return _mark(loaded, basis, item, kind=kind)
    if kind.kind == "result":
        return _result(loaded, basis, item)
    found = partial(
        FetchedResult,
        basis=basis,
        id=kind.id_of(item.envelope),
        version=item.version,
        turn=item.turn,
        call_id=None,
        tool=None,
        is_error=False,
        kind=kind.kind,
    )
    match item.event:
        case EvidenceRecorded() as event:
            return found(parts=(evidence_part(item, _stored(loaded, event.sha256, before=item.version)),))
        case TurnRecorded() as event:
            parts = turn_parts(event, _results(loaded, item.turn))
            marked = tuple(_or_mark(loaded, part) for part in parts)
            return found(role=event.role, parts=marked, artifacts=_artifacts(loaded, parts))
        case EntryAdded():
            return found(parts=(_entry(loaded, item),))
        case _:
            return found(parts=(_contradiction(loaded, kind.id_of(item.envelope)),))


def _result(loaded: Loaded, basis: Basis, item: Recorded) -> FetchedResult:
    event = item.event
    assert isinstance(event, ToolReturned), "results are what tools returned"
    call = None if event.orphan else _call(loaded, item.turn, event.call_id)
    return FetchedResult(
        basis=basis,
        id=result_id(item.version),
        version=item.version,
        turn=item.turn,
        call_id=event.call_id,
        tool=event.tool if call is None else call.tool,
        is_error=event.is_error,
        parts=tuple(_or_mark(loaded, part) for part in event.parts),
        artifacts=_artifacts(loaded, event.parts),
    )


def _named(loaded: Loaded, wanted: str) -> tuple[_Kind, Recorded]:
    """The event of an id; one that is past its retention is erased."""
    named = _ID.fullmatch(str(wanted))
    kind, number = (_KINDS["r"], 0) if named is None else (_KINDS[named[1]], int(named[2]))
    if 1 <= number <= loaded.version:
        if kind.kind == "turn":
            items = _read(loaded, Selection(turn=number, kind="numbered", upto=loaded.version))
        else:
            items = _read(loaded, Selection(versions=(number,)))
        item = next((item for item in items if item.envelope.type == kind.event), None)
        if item is not None:
            return kind, item
    raise _unknown(loaded, wanted, number, kind=kind)


def _read(loaded: Loaded, selection: Selection) -> Iterator[Recorded]:
    """Events of a turn, or of some versions; where content may be past its retention, out of those that were judged."""
    if loaded.nothing_is_due:
        return loaded.reader.read(selection)
    if selection.versions is not None:
        return (loaded.events[version - 1] for version in selection.versions if version <= loaded.version)
    return (item for item in loaded.events if item.turn == selection.turn)


def _stored(loaded: Loaded, sha256: str, *, before: int) -> Recorded | None:
    """The event that stored the page of some evidence, the last one before it; erased if the page was forgotten."""
    mark = artifact_mark(loaded.key, sha256)
    if loaded.nothing_is_due:
        items = loaded.reader.read(Selection(upto=before, kind="others", newest_first=True))
    else:
        items = reversed(loaded.events[:before])
    return next((item for item in items if _stores(item.event, sha256, mark)), None)


def _stores(event: object, sha256: str, mark: str) -> bool:
    if isinstance(event, Erased):
        return event.type == "artifact.stored" and event.named == mark
    return isinstance(event, ArtifactStored) and event.sha256 == sha256


def _contradiction(loaded: Loaded, wanted: str) -> JsonPart:
    found = next((found for found in standing_contradictions(loaded) if found.id == wanted), None)
    if found is None:
        raise Overtaken
    versions = claim_versions(found)
    claims = _read(loaded, Selection(versions=versions)) if versions else ()
    return contradiction_part(found, {item.version: item for item in claims})


def _entry(loaded: Loaded, item: Recorded) -> JsonPart:
    """An entry with what became of it, for which what was recorded after it is read, without turns."""
    if loaded.nothing_is_due:
        later = list(loaded.reader.read(Selection(after=item.version, upto=loaded.version, kind="others")))
    else:
        later = list(loaded.events[item.version :])
    fold = EntriesFold()
    run([fold], [item, *later])
    return entry_part(fold.entry(entry_id(item.version)))


def _results(loaded: Loaded, turn: int | None) -> dict[str, str]:
    """The ids of what the calls of a turn returned, by the ids of the calls; forgotten results are left out."""
    items = _read(loaded, Selection(turn=turn, kind="turns", upto=loaded.version))
    returned = ((item.event, item.version) for item in items)
    return {
        event.call_id: result_id(version) for event, version in returned if isinstance(event, ToolReturned) and not event.orphan
    }


def _unknown(loaded: Loaded, wanted: object, number: int, *, kind: _Kind) -> UnknownResult:
    store, ledger = loaded.store.store, loaded.head.ledger

    def ids(selection: Selection) -> Iterator[str]:
        rows = (row.envelope for row in store.read(ledger, selection))
        return (kind.id_of(envelope) for envelope in rows if envelope.type == kind.event)

    newest = ids(Selection(upto=loaded.version, kind=kind.among, newest_first=True))
    last = [found for _, found in zip(range(_NEAREST), newest, strict=False)]
    if not last:
        return UnknownResult(
            f"{kind.kind} {wanted!r} is not recorded: {kind.none} by version {loaded.version}",
            result_id=wanted,
            nearest=[],
            last=None,
        )
    near = last
    if 1 <= number < loaded.version and kind.kind != "turn":
        around = [
            next(ids(Selection(upto=number, kind=kind.among, newest_first=True)), None),
            next(ids(Selection(after=number, upto=loaded.version, kind=kind.among)), None),
        ]
        near = [found for found in around if found is not None]
    return UnknownResult(
        f"{kind.kind} {wanted!r} is not recorded at version {loaded.version}: "
        f"the nearest are {', '.join(near)}, the last is {last[0]}",
        result_id=wanted,
        nearest=near,
        last=last[0],
    )


def _mark(loaded: Loaded, basis: Basis, item: Recorded, *, kind: _Kind) -> FetchedResult:
    """What is left of something forgotten: its place, its role, and the call that it answered, if that is still there."""
    event = item.event
    assert isinstance(event, Erased), "only what was forgotten has a mark"
    call = None
    if event.answers is not None:
        call = next(iter(_calls(loaded, item.turn)[event.answers : event.answers + 1]), None)
    return FetchedResult(
        basis=basis,
        id=kind.id_of(item.envelope),
        version=item.version,
        turn=item.turn,
        call_id=None if call is None else call.call_id,
        tool=None if call is None else call.tool,
        is_error=False,
        parts=(event.forgotten,),
        forgotten=event.forgotten,
        kind=kind.kind,
        role=event.role,
    )


def _calls(loaded: Loaded, turn: int | None) -> tuple[ToolCallPart, ...]:
    """The calls of a turn, in their order; none of a turn that was forgotten."""
    if turn is None:
        return ()
    events = _read(loaded, Selection(turn=turn, kind="numbered", upto=loaded.version))
    turns = (item.event for item in events if isinstance(item.event, TurnRecorded))
    return tuple(part for said in turns for part in said.parts if isinstance(part, ToolCallPart))


def _call(loaded: Loaded, turn: int | None, call_id: str) -> ToolCallPart | None:
    return next((call for call in _calls(loaded, turn) if call.call_id == call_id), None)


def _artifacts(loaded: Loaded, parts: tuple[ReturnPart, ...]) -> dict[str, bytes]:
    """The bytes that the parts refer to; ``CorruptRecord`` if they are missing although nobody forgot them."""
    hashes = [part.sha256 for part in parts if isinstance(part, ImagePart | DocumentPart) and part.sha256 is not None]
    living = [sha256 for sha256 in dict.fromkeys(hashes) if _forgotten(loaded, sha256) is None]
    found = {sha256: loaded.store.store.blob(loaded.head.ledger, sha256) for sha256 in living}
    for sha256, content in found.items():
        if content is None:
            raise CorruptRecord(
                f"the bytes of artifact {sha256[:12]}… are missing and were not forgotten; a backup has them",
                sha256=sha256,
                ledger_id=loaded.head.ledger.hex(),
            )
    return {sha256: content for sha256, content in found.items() if content is not None}


def _or_mark(loaded: Loaded, part: ReturnPart) -> ReturnPart | Forgotten:
    """A part, or the mark where its bytes were forgotten."""
    if not isinstance(part, ImagePart | DocumentPart) or part.sha256 is None:
        return part
    return _forgotten(loaded, part.sha256) or part


def _forgotten(loaded: Loaded, sha256: str) -> Forgotten | None:
    """The mark of a forgotten artifact. The ledger is only read for it where something of it was forgotten, or may be due."""
    if not loaded.reader.marks and loaded.nothing_is_due:
        return None
    return loaded.folds.artifacts.forgotten(sha256, loaded.key)
