"""What the rules drop of the conversations of an airline's agent is never what somebody could miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from projections.exact.strings import exact_strings
from projections.transcript import Turn
from projections.verdicts.judging import judge
from projections.verdicts.rules import DEFAULT_RULES
from projections.verdicts.verdict import LOOK_BACK, Surroundings
from replay import view
from tests.replay.real_conversations import import_conversations, open_store


@pytest.fixture(scope="module")
def conversations(real_data: Path) -> list[tuple[Turn, ...]]:
    with open_store(":memory:") as store:
        import_conversations(store, real_data)
        return [view(store, head.name).transcript().turns for head in store.heads()]


def test_what_is_dropped_is_a_courtesy(conversations: list[tuple[Turn, ...]]) -> None:
    dropped = 0
    for turns in conversations:
        for place, turn in enumerate(turns):
            around = Surroundings(turns[max(0, place - LOOK_BACK) : place], turn, turns[place + 1 : place + 8])
            if judge(around, DEFAULT_RULES).verdict == "drop":
                dropped += 1
                assert (exact_strings(turn.text), "?" in turn.text, turn.calls) == ((), False, ()), turn.text
                assert not turn.text or any(word in turn.text.lower() for word in ("thank", "welcome", "that's all")), turn.text
    assert dropped > 0
