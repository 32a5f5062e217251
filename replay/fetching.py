"""A tool's result as it came, by the id that stands in its stub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ledger.erased import Erased, Forgotten
from ledger.errors import CorruptRecord, LedgerError
from ledger.events import ToolReturned, TurnRecorded
from ledger.parts import DocumentPart, ImagePart, ReturnPart, ToolCallPart
from ledger.record import Recorded
from ledger.standing import result_id
from ledger.store import Selection
from projections.basis import Basis
from projections.transcript import text_of
from projections.wire import to_json
from replay.loading import Loaded

_ID: Final = re.compile(r"r_([1-9][0-9]{0,17})")
_NEAREST: Final = 3
_RETURNED: Final = "tool.returned"


class UnknownResult(LedgerError):
    """No tool result has this id, as of the version; ``nearest`` lists ids of results that there are, ``last`` the last one."""


@dataclass(frozen=True, slots=True)
class FetchedResult:
    """What a tool returned, part by part as it was recorded; ``tool`` is None where nothing names it.

    ``artifacts`` has the bytes of the pictures and documents among the parts that the ledger keeps, by their hashes. Of a
    forgotten result, or part, the mark is left; ``forgotten`` is that of the whole result.
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

    @property
    def text(self) -> str:
        """Its text, parts one to a line; JSON as its source text. A forgotten result has only its mark."""
        return text_of(self.parts)

    @property
    def content(self) -> bytes:
        """Its text in UTF-8; a lone surrogate, which UTF-8 does not have, as three bytes of its own."""
        return self.text.encode("utf-8", "surrogatepass")

    def to_json(self) -> bytes:
        """The answer as JSON: basis, id, version, turn, call, tool, is_error, parts, and the artifacts' sizes in bytes."""
        known: dict[str, Any] = {
            "basis": self.basis,
            "id": self.id,
            "version": self.version,
            "turn": self.turn,
            "call": self.call_id,
            "tool": self.tool,
            "is_error": self.is_error,
            "parts": self.parts,
            "artifacts": {sha256: len(content) for sha256, content in self.artifacts.items()},
        }
        return to_json(known if self.forgotten is None else known | {"forgotten": True})


def fetched(current: Callable[[], Loaded], basis: Callable[[], Basis], wanted: str) -> FetchedResult:
    """A tool's result by its id (``r_12``), as of the version of what was loaded, with only its own events read.

    ``UnknownResult`` where no result has the id at this version; ``CorruptRecord`` where the bytes of an artifact are missing.
    """
    while True:
        loaded, known = current(), basis()
        try:
            found = _fetched(loaded, known, wanted)
        except CorruptRecord:
            if current() is loaded:
                raise
            continue
        if current() is loaded:
            return found  # else something was forgotten meanwhile


def _fetched(loaded: Loaded, basis: Basis, wanted: str) -> FetchedResult:
    item = _event(loaded, wanted)
    event = item.event
    if isinstance(event, Erased):
        return _mark(loaded, basis, item, event)
    assert isinstance(event, ToolReturned), "only results are looked up"
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


def _event(loaded: Loaded, wanted: str) -> Recorded:
    """The event of a result; one that is past its retention is erased."""
    named = _ID.fullmatch(str(wanted))
    version = 0 if named is None else int(named[1])
    if 1 <= version <= loaded.version:
        if loaded.nothing_is_due:
            item = next(loaded.reader.read(Selection(versions=(version,))), None)
        else:
            item = loaded.events[version - 1]
        if item is not None and item.envelope.type == _RETURNED:
            return item
    raise _unknown(loaded, wanted, version)


def _unknown(loaded: Loaded, wanted: object, version: int) -> UnknownResult:
    store, ledger = loaded.store.store, loaded.head.ledger

    def ids(selection: Selection) -> Iterator[str]:
        rows = (row.envelope for row in store.read(ledger, selection))
        return (result_id(envelope.version) for envelope in rows if envelope.type == _RETURNED)

    newest = ids(Selection(upto=loaded.version, kind="turns", newest_first=True))
    last = [found for _, found in zip(range(_NEAREST), newest, strict=False)]
    if not last:
        return UnknownResult(
            f"result {wanted!r} is not recorded: no tool has returned anything by version {loaded.version}",
            result_id=wanted,
            nearest=[],
            last=None,
        )
    near = last
    if 1 <= version < loaded.version:
        around = [
            next(ids(Selection(upto=version, kind="turns", newest_first=True)), None),
            next(ids(Selection(after=version, upto=loaded.version, kind="turns")), None),
        ]
        near = [found for found in around if found is not None]
    return UnknownResult(
        f"result {wanted!r} is not recorded at version {loaded.version}: "
        f"the nearest are {', '.join(near)}, the last is {last[0]}",
        result_id=wanted,
        nearest=near,
        last=last[0],
    )


def _mark(loaded: Loaded, basis: Basis, item: Recorded, event: Erased) -> FetchedResult:
    """What is left of a forgotten result: its place, and the call that it answered, if that is still there."""
    call = None
    if event.answers is not None:
        call = next(iter(_calls(loaded, item.turn)[event.answers : event.answers + 1]), None)
    return FetchedResult(
        basis=basis,
        id=result_id(item.version),
        version=item.version,
        turn=item.turn,
        call_id=None if call is None else call.call_id,
        tool=None if call is None else call.tool,
        is_error=False,
        parts=(event.forgotten,),
        forgotten=event.forgotten,
    )


def _calls(loaded: Loaded, turn: int | None) -> tuple[ToolCallPart, ...]:
    """The calls of a turn, in their order; none of a turn that was forgotten."""
    if turn is None:
        return ()
    if loaded.nothing_is_due:
        events = loaded.reader.read(Selection(turn=turn, kind="numbered", upto=loaded.version))
    else:
        events = (item for item in loaded.events if item.turn == turn)
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
