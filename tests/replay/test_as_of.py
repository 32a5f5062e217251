"""The past does not change: what a view answers as of a version is the same bytes for ever, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from ledger import Ledgers, connect
from ledger.erased import Erased
from ledger.record import Recorded
from projections.catalogue import FOLDS
from projections.fold import Fold, run
from projections.transcript import TranscriptFold
from replay import view
from tests.projections.histories import CONVERSATIONS, HISTORIES, Player, Step, recorded, ticking
from tests.replay.answers import answers, digests

ROOT = Path(__file__).resolve().parents[2]


@settings(deadline=None, max_examples=60)
@given(HISTORIES)
def test_an_answer_stays_as_it_was_when_more_is_recorded(steps: list[Step]) -> None:
    with connect(":memory:", clock=ticking()) as store:
        handle = store.ledger("case")
        player, then = Player(handle), {}
        for step in steps:
            player.take(step)
            if handle.version:
                then[handle.version] = answers(store, "case")
        for version, given_then in then.items():
            assert answers(store, "case", version) == given_then


@settings(deadline=None, max_examples=20)
@given(CONVERSATIONS)
def test_asked_twice_the_answer_is_the_same(steps: list[Step]) -> None:
    with recorded(steps) as store:
        assert answers(store, "case") == answers(store, "case")
        seen = view(store, "case")
        assert seen.state().to_json() == seen.state().to_json()
        assert seen.window(render="text").to_json() == seen.window(render="text").to_json()


@settings(deadline=None, max_examples=20)
@given(CONVERSATIONS)
def test_a_copy_of_the_events_gives_the_same_answers(steps: list[Step]) -> None:
    """Nothing but the events has an influence: not the store, not the ledger's key, not when it is asked."""
    with recorded(steps) as store, connect(":memory:", clock=ticking(step=0)) as other:
        for one in store.ledger("case").events():
            assert not isinstance(one.event, Erased)
            media = [store.store.blob(store.head("case").ledger, sha) for sha in [getattr(one.event, "sha256", "")] if sha]
            blobs = {getattr(one.event, "sha256", ""): content for content in media if content is not None}
            other.ledger("case").append([one.event], blobs=blobs)
        assert without_times(answers(store, "case"), store) == without_times(answers(other, "case"), other)


def without_times(given_then: dict[str, bytes], store: Ledgers) -> dict[str, bytes]:
    """Answers without the one thing in their basis that the two stores do not share."""
    time = (view(store, "case").basis().recorded_at or "").encode()
    return {name: answer.replace(time, b"TIME") for name, answer in given_then.items()}


@settings(deadline=None, max_examples=30)
@given(CONVERSATIONS)
def test_a_fold_that_goes_on_equals_one_from_the_start(steps: list[Step]) -> None:
    with recorded(steps) as store:
        events = list(store.ledger("case").events())
        going_on = [fold() for fold in FOLDS]
        for version, event in enumerate(events, start=1):
            run(going_on, [event])
            assert [seen_by(fold) for fold in going_on] == [seen_by(fold) for fold in from_the_start(events[:version])]


def from_the_start(events: list[Recorded]) -> list[Fold]:
    folds: list[Fold] = [fold() for fold in FOLDS]
    run(folds, events)
    return folds


def seen_by(fold: Fold) -> object:
    return fold.result() if isinstance(fold, TranscriptFold) else vars(fold)


def test_another_process_gives_the_same_bytes_whatever_its_hash_seed(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    with connect(path, clock=ticking()) as store:

        @settings(
            deadline=None,
            max_examples=12,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(CONVERSATIONS)
        def fill(steps: list[Step]) -> None:
            Player(store.ledger(f"case-{len(store.heads())}")).play(steps)

        fill()
        here = digests(store)
    assert len(here) > 500
    assert [answers_of_process(path, seed) for seed in ("0", "4711")] == [here, here]


def answers_of_process(path: str, seed: str) -> list[str]:
    command = [sys.executable, "-m", "tests.replay.answers", path]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
