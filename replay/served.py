"""The windows that were recorded as served: each is built again and compared with what was recorded of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import ValidationError

from ledger import Ledgers
from ledger.errors import LedgerError
from ledger.events import PolicyRecorded, WindowRecorded
from ledger.json_text import JsonText
from ledger.standing import window_id
from ledger.store import Head
from projections.basis import ENGINE
from projections.errors import PolicyUnavailable
from projections.policy import Policy
from replay.view import view

Verdict = Literal["same", "different", "forgotten", "engine", "policy", "failed"]
"""What became of a served window when it was built again.

"same": byte for byte. "different": it gave other bytes. "forgotten": so it did, or could not be built, but something was
forgotten since.
"engine": another version of the code made it. "policy": its policy needs what this program does not have, or was forgotten.
"failed": it could not be built.
"""

PROBLEMS: Final[frozenset[Verdict]] = frozenset({"different", "failed"})
"""What speaks against the record or the code."""


@dataclass(frozen=True, slots=True)
class ServedWindow:
    """A window that was recorded as served, and what became of it; ``detail`` says more where it is not the same."""

    ledger: str
    id: str
    of_version: int
    verdict: Verdict
    detail: str | None = None

    @property
    def is_problem(self) -> bool:
        """Whether it speaks against the record or the code."""
        return self.verdict in PROBLEMS


def verify_windows(store: Ledgers, ledger_id: str) -> Iterator[ServedWindow]:
    """Build every window again that a ledger recorded as served, in order, and compare the digests of their bytes."""
    head = store.head(ledger_id)
    policies: dict[str, JsonText] = {}
    for item in store.ledger(ledger_id).events():
        match item.event:
            case PolicyRecorded(digest=digest, declared=declared):
                policies[digest] = declared
            case WindowRecorded() as served:
                verdict, detail = _rebuilt(store, head, served, policies.get(served.policy))
                yield ServedWindow(head.name, window_id(item.version), served.of_version, verdict, detail)
            case _:
                pass


def _rebuilt(store: Ledgers, head: Head, served: WindowRecorded, declared: JsonText | None) -> tuple[Verdict, str | None]:
    verdict, detail = _compared(store, head, served, declared)
    since = view(store, head.name).basis().erasures - served.erasures
    if since and verdict in PROBLEMS:
        return "forgotten", f"{since} {'forgetting' if since == 1 else 'forgettings'} since"
    return verdict, detail


def _compared(store: Ledgers, head: Head, served: WindowRecorded, declared: JsonText | None) -> tuple[Verdict, str | None]:
    if served.engine != ENGINE:
        return "engine", f"made by engine {served.engine}, this is {ENGINE}"
    if declared is None:
        return "policy", "its policy was forgotten"
    try:
        policy = Policy.model_validate_json(declared)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return "policy", f"this program cannot follow it: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    try:
        window = view(store, head.name, at=served.of_version, judged_at=served.judged_at).window(
            policy, render=served.form, tools=_tools(store, head, served)
        )
    except PolicyUnavailable as error:
        return "policy", str(error)
    except LedgerError as error:
        return "failed", str(error)
    made = window.served()
    if made.rules != served.rules:
        return "forgotten", "the rules of retention changed since"
    if made.bytes_digest != served.bytes_digest:
        return "different", f"its bytes have the digest {made.bytes_digest[:12]}…, recorded is {served.bytes_digest[:12]}…"
    return "same", None


def _tools(store: Ledgers, head: Head, served: WindowRecorded) -> JsonText | None:
    content = None if served.tools is None else store.store.blob(head.ledger, served.tools)
    return None if content is None else JsonText.parse(content.decode())


def row_of(found: ServedWindow) -> dict[str, Any]:
    """A served window as JSON shows it."""
    row: dict[str, Any] = {"ledger": found.ledger, "id": found.id, "of_version": found.of_version, "verdict": found.verdict}
    return row if found.detail is None else row | {"detail": found.detail}
