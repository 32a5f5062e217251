"""Which event about windows may follow what a ledger holds; the part of the admission check that is about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.json_text import JsonText
from ledger.standing import Standing

_PLAN_NAME: Final = re.compile(r"[a-z0-9_]{1,40}")


def check_classified(standing: Standing, event: e.TurnClassified) -> None:
    """A classification is of a turn, and no person has a prompt."""
    if event.turn is None:
        raise AdmissionRefused("a classification is of a turn: name the turn", field="turn")
    if event.by == "person" and (event.model is not None or event.prompt_hash is not None):
        raise InvalidInput("by='person' has no model and no prompt: leave them out, or give by='model'", path="by")


def check_summary(standing: Standing, event: e.SummaryRecorded) -> None:
    """A summary says something, of turns that there are, and was made after the last forgetting."""
    if event.first_turn > event.last_turn:
        raise InvalidInput(
            f"turns {event.first_turn} to {event.last_turn} are no range: give the earlier turn first", path="first_turn"
        )
    if event.last_turn > standing.turn:
        raise AdmissionRefused(
            f"turn {event.last_turn} is not recorded, the last one is {standing.turn}: summarise turns that there are",
            field="last_turn",
            turn=event.last_turn,
            last=standing.turn,
        )
    check_recorded(standing, "through_version", event.through_version)
    if event.through_version < standing.forgot_at:
        raise AdmissionRefused(
            f"something was forgotten at version {standing.forgot_at}, and this summary was made from version "
            f"{event.through_version}, which may have held it: make it anew",
            field="through_version",
            version=standing.forgot_at,
        )
    if not event.text.strip():
        raise InvalidInput("a summary without a text would stand for turns that said something: record none", path="text")


def check_policy(standing: Standing, event: e.PolicyRecorded) -> None:
    """A policy is recorded once."""
    if event.digest in standing.policies:
        raise AdmissionRefused(
            f"policy {event.digest[:12]}… is recorded already: windows may name it", field="digest", digest=event.digest
        )


def check_window(standing: Standing, event: e.WindowRecorded) -> None:
    """A window was built by a policy that is recorded, from what is recorded; and its plan holds no content."""
    check_recorded(standing, "of_version", event.of_version)
    # A policy may have been forgotten since, and of which one that was nothing is kept.
    lost = any(erased.type == "policy.recorded" for erased in standing.erased.values())
    if event.policy not in standing.policies and not lost:
        raise AdmissionRefused(
            f"policy {event.policy[:12]}… is not recorded in this ledger: use record_served, or append policy.recorded first",
            field="policy",
            digest=event.policy,
        )
    if event.tools is not None and event.tools not in standing.artifacts:
        raise AdmissionRefused(
            f"tools: no artifact {event.tools[:12]}… in this ledger: store the definitions with store_artifact first",
            field="tools",
        )
    words = next(_words(event.plan), None)
    if words is not None:
        raise InvalidInput(
            f"plan holds {words[:40]!r}: a window that was served is never forgotten with its turns, so its plan names turns "
            "by number",
            path="plan",
        )


def check_recorded(standing: Standing, field: str, version: int) -> None:
    """``AdmissionRefused`` for a version that is not recorded yet."""
    if version > standing.version:
        raise AdmissionRefused(
            f"{field}: version {version} is not recorded yet, the last one is {standing.version}: read the ledger again",
            field=field,
            version=version,
        )


def check_same_policy(standing: Standing, digest: str, declared: JsonText) -> None:
    """``InvalidInput`` for another policy under the digest of one that is recorded."""
    known = standing.policies.get(digest)
    if known is not None and known.canonical != declared.canonical:
        raise InvalidInput(
            f"policy {digest[:12]}… is recorded as another one: give the digest of what is declared", path="policy"
        )


def _words(plan: JsonText) -> Iterator[str]:
    """What in a plan is neither a number nor a name of few plain letters."""
    waiting: list[Any] = [plan.value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from (name for name in item if _PLAN_NAME.fullmatch(name) is None)
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
