"""The commands by which a ledger says what of it is kept, how long, and what is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypedDict, Unpack

from ledger import events as e
from ledger import requests as r
from ledger.errors import InvalidInput
from ledger.forgetting import Forgetting
from ledger.given import Options, built, command_of
from ledger.pending import Requests
from ledger.reasons import checked_reason
from ledger.record import Recorded
from ledger.retention import period
from ledger.writer import Writer


class ForgettingOptions(TypedDict, total=False):
    """What every forgetting takes; ``Ledgers.forget`` says what it means."""

    actor: str | None
    answers: Iterable[int] | None
    dry_run: bool
    scrub: bool


Forgets = Callable[..., Forgetting]
"""How a store forgets: ``Ledgers.forget``."""


class Keeping:
    """What a ledger keeps, and forgets."""

    def __init__(self, writer: Writer, forgets: Forgets) -> None:
        self._writer = writer
        self._forgets = forgets

    @property
    def name(self) -> str:
        """The ledger's name in its store."""
        return self._writer.name

    def forget(
        self,
        *,
        reason: str,
        turns: Iterable[int] | None = None,
        facts: Iterable[str] | None = None,
        artifacts: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
        everything: bool = False,
        **options: Unpack[ForgettingOptions],
    ) -> Forgetting:
        """Erase content of this ledger, and all that rests on it; see ``Ledgers.forget``. ``everything``: the whole ledger."""
        named = {"turns": turns, "facts": facts, "artifacts": artifacts, "ids": ids}
        given = {name: values for name, values in named.items() if values is not None}
        if everything == bool(given):
            raise InvalidInput("give turns, facts, artifacts or ids, or everything=True", path="turns")
        return self._forgets(reason=reason, ledger=self.name, **given, **options)

    def decline_forgetting(self, turn: int, *, because: str, **options: Unpack[Options]) -> Recorded:
        """Say that what the user asked to have forgotten in a turn is kept, and why; the request is then pending no more.

        Raises ``InvalidInput`` for a turn whose request is not pending.
        """
        reason = checked_reason("because", because)
        key = options.get("idempotency_key")
        if key is None or not self._writer.has_carried_out(key):
            self._check_pending(turn)
        return self._append(built(e.ForgettingDeclined, turn=turn, because=reason), options)

    def set_retention(
        self,
        keep: str,
        *,
        label: str | None = None,
        section: str | None = None,
        event_type: str | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Say how long content is kept: "30 days", "after close", "1 year after close", "forever".

        It is counted from the recording. Without ``label``, ``section`` (a list section, or "entities" for facts) or
        ``event_type`` ("tool.returned") it holds for the whole ledger. The shortest rule that applies counts; a later one for
        the same takes the place of an earlier one. Past its retention content reads as forgotten; ``Ledgers.retain`` erases it.
        """
        scopes = {"label": label, "section": section, "type": event_type}
        given = {scope: name for scope, name in scopes.items() if name is not None}
        if len(given) > 1:
            raise InvalidInput("give one of label, section and event_type: a rule for each", path="label")
        scope, name = next(iter(given.items()), ("ledger", None))
        seconds, after_close = period(keep)
        event = built(e.RetentionSet, scope=scope, name=name, keep_seconds=seconds, after_close=after_close)
        return self._append(event, options)

    def place_hold(self, *, because: str, **options: Unpack[Options]) -> Recorded:
        """Put the ledger under a legal hold: nothing of it is erased until the hold is lifted."""
        return self._append(built(e.HoldPlaced, because=checked_reason("because", because)), options)

    def lift_hold(self, *, because: str, **options: Unpack[Options]) -> Recorded:
        """End the legal hold."""
        return self._append(built(e.HoldLifted, because=checked_reason("because", because)), options)

    def _check_pending(self, turn: object) -> None:
        requests = Requests()
        for item in self._writer.events():
            requests.evolve(item)
        pending = [request.turn for request in requests.unanswered()]
        if turn not in pending or isinstance(turn, bool):
            known = ", ".join(map(str, pending)) or "none"
            raise InvalidInput(f"turn {turn!r} asks for nothing that is still to be answered (pending: {known})", path="turn")

    def _append(self, event: e.Event, options: Options, blobs: dict[str, bytes] | None = None) -> Recorded:
        return self._writer.execute(r.AppendEvents(events=(event,)), command_of(options), blobs)[0]
