"""From an id to the event that has it, as of a version; where there is none, to an error that says the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from ledger.errors import LedgerError
from ledger.events import Governing
from ledger.record import Envelope, Recorded
from ledger.store import Selection
from projections.fetched import FetchedKind
from replay.loading import Loaded

_ID: Final = re.compile(r"(r|ev|con|en|turn|sum|win|v)_([1-9][0-9]{0,17})")
_JOB: Final = re.compile(r"f_[0-9a-f]{12}")
_NEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class IdKind:
    """A kind of thing that has ids: how they begin, the event that has one, among which it is read, and where there is none.

    ``event`` is None where any has one.
    """

    kind: FetchedKind
    begins: str
    event: str | None
    among: Literal["turns", "others", "numbered", "all"]
    none: str

    def id_of(self, envelope: Envelope) -> str:
        """The id of an event of this kind."""
        return f"{self.begins}_{envelope.turn if self.kind == 'turn' else envelope.version}"


_KINDS: Final = {
    known.begins: known
    for known in (
        IdKind("result", "r", "tool.returned", "turns", "no tool has returned anything"),
        IdKind("evidence", "ev", "evidence.recorded", "others", "no evidence was recorded"),
        IdKind("contradiction", "con", "contradiction.recorded", "others", "no contradiction was recorded"),
        IdKind("entry", "en", "entry.added", "others", "no entry was added"),
        IdKind("turn", "turn", "turn.recorded", "numbered", "there was no turn"),
        IdKind("summary", "sum", "summary.recorded", "others", "no summary was recorded"),
        IdKind("window", "win", "window.recorded", "others", "no window was recorded as served"),
        IdKind("event", "v", None, "all", "nothing was recorded"),
    )
}
_NO_ID: Final = f"no id (a number behind {', '.join(f'{begins}_' for begins in _KINDS)})"
_ANY: Final = _KINDS["v"]
_SYSTEM: Final = replace(_ANY, kind="system")
_OF_TYPES: Final = {known.event: known for known in _KINDS.values()} | {"artifact.stored": replace(_ANY, kind="artifact")}


class UnknownResult(LedgerError):
    """Nothing has this id, as of the version; ``nearest`` lists ids of its kind that there are, ``last`` the last one."""


class HoldsNoContent(LedgerError):
    """What has this ``id`` never holds content: it is about what is kept and what is forgotten."""


def event_of(loaded: Loaded, wanted: str) -> tuple[IdKind, Recorded]:
    """The event of an id, with what it is; one that is past its retention is erased."""
    if _JOB.fullmatch(str(wanted)) is not None:
        raise _holds_nothing(wanted, "the job of a forgetting: view.forgotten(), or forget --jobs, tells of it")
    named = _ID.fullmatch(str(wanted))
    kind, number = (_KINDS["r"], 0) if named is None else (_KINDS[named[1]], int(named[2]))
    if 1 <= number <= loaded.version:
        if kind.kind == "turn":
            items = judged(loaded, Selection(turn=number, kind="numbered", upto=loaded.version))
        else:
            items = judged(loaded, Selection(versions=(number,)))
        item = next((item for item in items if kind.event in (item.envelope.type, None)), None)
        if item is not None and isinstance(item.event, Governing):
            raise _holds_nothing(wanted, f"a {item.envelope.type}, which says what is kept and what is forgotten")
        if item is not None:
            return _kind_of(item.envelope), item
    raise _unknown(loaded, wanted, number, kind=kind)


def _kind_of(envelope: Envelope) -> IdKind:
    if envelope.type == "turn.recorded" and envelope.turn is None:
        return _SYSTEM
    return _OF_TYPES.get(envelope.type, _ANY)


def _holds_nothing(wanted: str, what: str) -> HoldsNoContent:
    return HoldsNoContent(f"there is no content to fetch under {wanted!r}: it is {what}", id=wanted)


def judged(loaded: Loaded, selection: Selection) -> Iterator[Recorded]:
    """Events of a turn, or of some versions; where content may be past its retention, out of those that were judged."""
    if loaded.nothing_is_due:
        return loaded.reader.read(selection)
    if selection.versions is not None:
        return (loaded.events[version - 1] for version in selection.versions if version <= loaded.version)
    return (item for item in loaded.events if item.turn == selection.turn)


def _unknown(loaded: Loaded, wanted: object, number: int, *, kind: IdKind) -> UnknownResult:
    store, ledger = loaded.store.store, loaded.head.ledger

    def ids(selection: Selection) -> Iterator[str]:
        rows = (row.envelope for row in store.read(ledger, selection))
        return (kind.id_of(envelope) for envelope in rows if kind.event in (envelope.type, None))

    newest = ids(Selection(upto=loaded.version, kind=kind.among, newest_first=True))
    last = [found for _, found in zip(range(_NEAREST), newest, strict=False)]
    what = f"{kind.kind} {wanted!r} is not recorded" if number else f"{wanted!r:.80} is {_NO_ID}"
    if not last:
        return UnknownResult(
            f"{what}: {kind.none} by version {loaded.version}",
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
        f"{what}{f' at version {loaded.version}' if number else ''}: the nearest are {', '.join(near)}, the last is {last[0]}",
        result_id=wanted,
        nearest=near,
        last=last[0],
    )
