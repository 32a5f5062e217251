"""What answers name by an id, as it is recorded: a tool's result by its stub, evidence, an entry, a turn, any event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ledger.erased import Erased, Forgotten
from ledger.errors import CorruptRecord, InvalidInput
from ledger.events import (
    ArtifactStored,
    ContradictionRecorded,
    EntryAdded,
    EvidenceRecorded,
    Role,
    ToolReturned,
    TurnRecorded,
)
from ledger.marks import artifact_mark
from ledger.parts import DocumentPart, ImagePart, JsonPart, ReturnPart, ToolCallPart
from ledger.record import Recorded
from ledger.standing import entry_id, result_id
from ledger.store import Selection
from projections.basis import Basis
from projections.entries import EntriesFold
from projections.fetched import (
    FetchedKind,
    artifact_part,
    claim_versions,
    contradiction_part,
    entry_part,
    event_part,
    evidence_part,
    turn_parts,
)
from projections.fold import run
from projections.transcript import text_of
from projections.wire import to_json
from replay.fetching_ids import IdKind, event_of, judged
from replay.kept.overtaken import Overtaken
from replay.loading import Loaded
from replay.standing.state import standing_contradictions


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

    Of a turn or a system text the parts are what it says, with its calls as JSON, and ``role`` says whose it is; of an artifact
    what is recorded of it as JSON, and the part that refers to it; of all else the only part is JSON. ``artifacts`` has the
    bytes of the pictures and documents among the parts that the ledger keeps, by their hashes. Of what was forgotten, or a
    part, the mark is left; ``forgotten`` is that of the whole.
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
    """What stands under an id (``r_12``, ``ev_31``, ``turn_7``, ``v_4``), as of the version of what was loaded.

    Of a result or a turn only its own events are read. ``UnknownResult`` where nothing has the id at this version;
    ``HoldsNoContent`` where what has it has nothing to show; ``CorruptRecord`` where the bytes of an artifact are missing.
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
    kind, item = event_of(loaded, wanted)
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
            parts = turn_parts(event, _returned(loaded, item.turn))
            marked = tuple(_or_mark(loaded, part) for part in parts)
            return found(role=event.role, parts=marked, artifacts=_artifacts(loaded, parts))
        case EntryAdded():
            return found(parts=(_entry(loaded, item),))
        case ContradictionRecorded():
            return found(parts=(_contradiction(loaded, kind.id_of(item.envelope)),))
        case ArtifactStored() as event:
            part = artifact_part(event)
            described = event_part(item, kind.id_of(item.envelope))
            return found(parts=(described, _or_mark(loaded, part)), artifacts=_artifacts(loaded, (part,)))
        case _:
            return found(parts=(event_part(item, kind.id_of(item.envelope)),))


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
    claims = judged(loaded, Selection(versions=versions)) if versions else ()
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


def _returned(loaded: Loaded, turn: int | None) -> Iterator[Recorded]:
    """What the calls of a turn returned, with what else bears its number; nothing of system text."""
    return iter(()) if turn is None else judged(loaded, Selection(turn=turn, kind="turns", upto=loaded.version))


def _mark(loaded: Loaded, basis: Basis, item: Recorded, *, kind: IdKind) -> FetchedResult:
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
    events = judged(loaded, Selection(turn=turn, kind="numbered", upto=loaded.version))
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
