"""Windows of conversations that others had: valid, whole, within budget, and the same in every process.

The conversations are not part of the repository. The everyday run looks at a fixed sample, the slow one at every version.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledgers, connect
from ledger.erased import Erased
from ledger.parts import ReasoningPart, TextPart
from projections.errors import BudgetExceeded
from projections.invariants import violations
from projections.policy import Policy
from projections.task_turn import task_turn
from projections.window import Window
from replay import View, view
from tests.projections.counting import tokens_of
from tests.projections.sdk_types import refusals_of
from tests.replay.answers import answers
from tests.replay.message_blocks import blocks_of
from tests.replay.real_conversations import (
    FORMS,
    Answer,
    digest,
    digests,
    import_bodies,
    import_conversations,
    open_store,
    views,
    windows,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def path(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with all conversations and request bodies."""
    folder = tmp_path_factory.mktemp("real")
    path = str(folder / "store.db")
    with open_store(path) as store:
        assert import_conversations(store, real_data) == 25
        assert import_bodies(store, real_data, folder) > 30
    return path


@pytest.fixture(scope="module")
def store(path: str) -> Iterator[Ledgers]:
    with open_store(path) as opened:
        yield opened


def check(seen: View, policy: Policy, form: str, answer: Answer) -> str:
    """One window against everything that is promised of it; returns which kind of answer it was."""
    if isinstance(answer, BudgetExceeded):
        task, last = task_turn(seen.transcript().turns), seen.transcript().turns[-1]
        pins = {"system", "current"} | (set() if seen.state().is_bare else {"state"}) | ({"task"} if task != last else set())
        assert set(answer.pins) == pins
        assert sum(answer.pins.values()) > policy.budget_tokens - 60
        return "refused"
    transcript = seen.transcript().transcript
    reasoning = frozenset(str(part.raw) for turn in transcript.turns for part in turn.parts if isinstance(part, ReasoningPart))
    assert violations(form, answer.exact, reasoning=reasoning) == ()
    assert max(tokens_of(answer, policy), answer.tokens) <= policy.budget_tokens
    first = [message for message in answer.request["messages"] if message["role"] == "system"]
    system = first if form == "openai" else [{"content": answer.request.get("system")}]
    said = [block["text"] for message in system for block in blocks_of(message)]
    assert said == list(dict.fromkeys(one.text for one in transcript.system if one.text.strip()))
    task = task_turn(transcript.turns)
    assert task is not None
    texts = [part.text for part in task.parts if isinstance(part, TextPart) and part.text.strip()]
    users = [block.get("text", "") for one in answer.request["messages"] if one["role"] == "user" for block in blocks_of(one)]
    assert all(any(text in block for block in users) for text in texts)
    assert [row.turn for row in answer.receipt] == [turn.number for turn in transcript.turns]
    return "stubbed" if any(row.verdict == "stub" for row in answer.receipt) else "whole"


def check_all(store: Ledgers, path: str, *, step: int) -> Counter[str]:
    """Every window of every ledger, while another process with another hash seed builds the same ones."""
    command = [sys.executable, "-m", "tests.replay.real_conversations", path, str(step)]
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as other:
        here, kinds = [], Counter[str]()
        for head in store.heads():
            for seen in views(store, head.name, step=step):
                kinds["versions"] += 1
                for policy, form, answer in windows(seen):
                    kinds[f"{form} {check(seen, policy, form, answer)}"] += 1
                    here.append(digest(seen, policy, form, answer))
        there, _ = other.communicate()
        assert (other.returncode, there.splitlines()) == (0, here)
    return kinds


def test_a_sample_of_all_windows(store: Ledgers, path: str) -> None:
    kinds = check_all(store, path, step=25)
    assert {"openai refused", "openai stubbed", "openai whole", "anthropic refused", "anthropic stubbed"} <= set(kinds)


@pytest.mark.slow
def test_every_window(store: Ledgers, path: str) -> None:
    kinds = check_all(store, path, step=1)
    sys.stdout.write(f"{dict(kinds)}\n")
    assert kinds.total() > 10_000


def test_the_official_types_take_the_last_window(store: Ledgers) -> None:
    for head in store.heads()[::4]:
        for form in FORMS:
            made = view(store, head.name).window(Policy(budget_tokens=10_000_000), render=form)
            assert isinstance(made, Window)
            assert refusals_of(made.request, form) == []


def test_the_past_of_a_conversation_stays(store: Ledgers) -> None:
    """What is answered while a conversation grows is answered again when it is whole."""
    name = store.heads()[0].name
    with connect(":memory:") as growing:
        case, then = growing.ledger(name), []
        for one in store.ledger(name).events():
            assert not isinstance(one.event, Erased)
            case.append([one.event])
            then.append(answers(growing, name))
        assert [answers(growing, name, version) for version in range(1, len(then) + 1)] == then
        assert digests(growing, step=5) == digests(growing, step=5)
