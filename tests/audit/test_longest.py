"""The audit of the longest public conversations: sums are what turns and results cost when they are asked one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from delivery.importers.importing import import_file
from ledger import Ledgers
from projections.presets import PRESETS
from replay import View, view
from replay.audit import audit
from replay.listing import listing
from tests.audit.talking import COUNT
from tests.replay.real_conversations import open_store

SOURCES = ("b_coding_agents/specstory/*.md", "d_research/who_and_when/Hand-Crafted/*.json", "d_research/deerflow/*.json")


@pytest.fixture(scope="module")
def store(real_data: Path) -> Iterator[Ledgers]:
    """The sessions of agents that work long."""
    with open_store(":memory:") as opened:
        for path in sorted(path for pattern in SOURCES for path in real_data.glob(pattern)):
            import_file(opened, path)
        yield opened


@pytest.fixture(scope="module")
def longest(store: Ledgers) -> list[str]:
    return [row.ledger for row in sorted(listing(store), key=lambda row: row.turns, reverse=True)[:5]]


def views(store: Ledgers, names: list[str]) -> list[View]:
    return [view(store, name) for name in names]


def test_the_sums_are_those_of_single_turns(store: Ledgers, longest: list[str]) -> None:
    """As the receipts of their windows price them whole."""
    found = audit(store, longest, policies={})
    rows = [row for seen in views(store, longest) for row in seen.window(PRESETS["default"]).receipt.turns()]
    assert found.turns == len(rows) > 500
    assert found.tokens == sum(row.before for row in rows) > 200_000
    assert sum(kind.tokens for kind in found.kinds) == sum(row.tokens for row in found.rules) == found.tokens
    assert sum(kind.share for kind in found.kinds) == pytest.approx(1)
    assert sum(sum(step.tokens.values()) for ledger in found.ledgers for step in ledger.profile) == found.tokens


def test_the_sums_are_those_of_single_results(store: Ledgers, longest: list[str]) -> None:
    found = audit(store, longest, policies={})
    returned = [
        (COUNT(result.text), result.id)
        for seen in views(store, longest)
        for turn in seen.transcript().turns
        for result in turn.returns
        if not result.orphan
    ]
    assert found.results.number == len(returned)
    assert found.results.tokens == sum(tokens for tokens, _ in returned)
    assert [result.tokens for result in found.biggest] == sorted((tokens for tokens, _ in returned), reverse=True)[:10]
    assert 0 < found.repeats.tokens < found.tokens
    assert found.results.share > 0.4


def test_what_governs_weighs_little(store: Ledgers, longest: list[str]) -> None:
    """The task, and what somebody demanded, decided and put right: a few of the turns."""
    found = audit(store, longest, policies={})
    assert 5 <= found.governing.number < found.turns // 10
    assert found.governing.share < 0.1


def test_a_use_stands_in_its_result_and_in_its_turns(store: Ledgers, longest: list[str]) -> None:
    for result in audit(store, longest, policies={}).biggest:
        seen = view(store, result.ledger)
        text = seen.fetch(result.result_id).text
        turns = {
            turn.number: f"{turn.text} {' '.join(str(call.arguments) for call in turn.calls)}"
            for turn in seen.transcript().turns
        }
        assert all(string in text for string in result.used)
        assert all(number > result.turn and any(string in turns[number] for string in result.used) for number in result.used_by)
