"""Recorded sessions of coding agents: so many segments, so many requests, progress for each, and none the second time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from delivery.importers.importing import import_file
from delivery.summarisers.openai import OpenAISummariser
from ledger import connect
from projections.presets import PRESETS
from projections.summarising import choice_of, taking
from replay.summarising import SummarisedSegment, summarise
from replay.view import view
from tests.delivery.extractors.model_server import ModelServer, completion

MOST = 12_000


@pytest.mark.parametrize("place", [0, 1])
def test_a_session_is_summarised_once(real_data: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    files = sorted((real_data / "b_coding_agents" / "specstory").glob("*.md"), key=lambda path: -path.stat().st_size)
    told: list[tuple[SummarisedSegment, int, int]] = []
    with connect(":memory:") as store, ModelServer().running() as server:
        server.answers(completion("The user asked for a change in delivery/window.py; it was made."))
        name = max(import_file(store, files[place]).ledgers, key=lambda ledger: store.head(ledger).version)
        summariser = OpenAISummariser(model="tiny", base_url=server.url, api_key="any", most_characters=MOST)
        policy = taking(PRESETS["coding"], choice_of(summariser))
        missing = view(store, name).missing_summaries(policy)
        done = summarise(store, name, summariser, policy, progress=lambda one, number, of: told.append((one, number, of)))
        assert len(missing) == len(done.segments) == len(told) > 1
        assert told[-1][1:] == (len(missing), len(missing))
        assert not done.unfinished
        assert len(missing) <= len(server.requests) <= 8 * len(missing)
        assert max(len(request.json["messages"][1]["content"]) for request in server.requests) <= MOST + 20
        receipt = view(store, name).window(policy).receipt
        assert (receipt.wanting, bool(receipt.summaries)) == (0, True)
        asked = len(server.requests)
        assert summarise(store, name, summariser, policy).segments == ()
        assert len(server.requests) == asked
