"""Public conversations and request bodies as ledgers; as a program it prints a digest of every window of a store.

``python -m tests.replay.real_conversations STORE``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from delivery.importers.importing import import_file
from ledger import Ledgers, connect
from projections.errors import BudgetExceeded
from projections.policy import Policy
from projections.window import Window
from replay import View, view
from tests.projections.histories import ticking

FORMS = ("openai", "anthropic")
POLICIES = [Policy(tail_turns=k, budget_tokens=budget) for budget in (1_500, 4_000, 16_000) for k in (2, 4, 8)]

Answer = Window | BudgetExceeded


def import_conversations(store: Ledgers, data: Path) -> int:
    """Import all conversations of an airline's agent; returns their number."""
    return len(import_file(store, data / "a_customer_service" / "tau_bench" / "gpt-4o-airline.json").ledgers)


def import_bodies(store: Ledgers, data: Path, folder: Path) -> int:
    """Import the bodies of recorded requests to OpenAI chat and Anthropic, each as a ledger; returns their number."""
    number = 0
    for path in sorted((data / "e_formats").rglob("*.yaml")):
        for form, body in bodies_of(path):
            file = folder / f"{number}.json"
            file.write_text(json.dumps(body), encoding="utf-8")
            import_file(store, file, format=form, ledger=f"{form}-{number}")
            number += 1
    return number


def bodies_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The requests of a cassette that hold messages in one of our forms."""
    cassette = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for interaction in (cassette.get("interactions") if isinstance(cassette, dict) else None) or []:
        request = interaction.get("request") or {}
        form = form_of(request.get("uri", ""))
        body = request.get("parsed_body") or request.get("body")
        if form is not None and isinstance(body, str):
            body = json.loads(body)
        if form is not None and isinstance(body, dict) and body.get("messages"):
            yield form, body


def form_of(uri: str) -> str | None:
    """The form of a request, told by its address."""
    if "/chat/completions" in uri:
        return "openai"
    return "anthropic" if "/v1/messages" in uri and "anthropic" in uri else None


def open_store(path: str) -> Ledgers:
    """A store with a fixed clock."""
    return connect(path, clock=ticking())


def views(store: Ledgers, name: str, *, step: int = 1) -> Iterator[View]:
    """A ledger at every version from its first user turn on, or at every ``step``-th and the last."""
    last = store.head(name).version
    for version in range(last, 0, -step):
        seen = view(store, name, at=version)
        if any(turn.role == "user" for turn in seen.transcript().turns):
            yield seen


def windows(seen: View) -> Iterator[tuple[Policy, str, Answer]]:
    """Its window under every policy in both forms; a refusal is an answer too."""
    for policy in POLICIES:
        for form in FORMS:
            try:
                yield policy, form, seen.window(policy, render=form)
            except BudgetExceeded as refusal:
                yield policy, form, refusal


def digest(seen: View, policy: Policy, form: str, answer: Answer) -> str:
    """A line that names a window and the digest of its bytes."""
    content = answer.to_json() if isinstance(answer, Window) else f"{answer} {answer.details}".encode()
    name = f"{seen.basis().ledger} {seen.version} {policy.tail_turns} {policy.budget_tokens} {form}"
    return f"{name} {hashlib.sha256(content).hexdigest()}"


def digests(store: Ledgers, *, step: int) -> list[str]:
    """Such a line for every window of every ledger."""
    return [
        digest(seen, policy, form, answer)
        for head in store.heads()
        for seen in views(store, head.name, step=step)
        for policy, form, answer in windows(seen)
    ]


if __name__ == "__main__":
    with connect(sys.argv[1]) as opened:
        sys.stdout.write("\n".join(digests(opened, step=int(sys.argv[2]))) + "\n")
