"""A view that is kept while others forget, and what is past its retention when a view is asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger, Ledgers, connect
from ledger.errors import InvalidInput
from ledger.parts import DocumentPart
from ledger.store import Selection, Store
from projections.policy import Policy
from replay import View, view
from replay.loading import last_governing

ROOT = Path(__file__).resolve().parents[2]
START = datetime(2031, 3, 4, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def forget_elsewhere(path: Path, command: str) -> None:
    """Let another process forget."""
    script = f"from ledger import connect\nwith connect({str(path)!r}) as store:\n    {command}\n"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={**os.environ}, check=True, timeout=60)


def everything_of(seen: View) -> bytes:
    """All that a view says, as bytes."""
    answers: list[Any] = [seen.transcript(), seen.state(), seen.handoff(), seen.history("home"), seen.forgotten()]
    answers += [seen.window(Policy(tail_turns=9), render=form) for form in ("openai", "anthropic", "text")]
    said = [answer.to_json() for answer in answers]
    return b"".join(
        [*said, seen.state().block.encode(), repr((seen, seen.fields(), seen.forget_requests(), seen.basis())).encode()]
    )


def test_a_kept_view_does_not_say_what_another_process_forgot(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with connect(str(path)) as store:
        case = store.ledger("case of Ivo")
        notes = case.store_artifact(b"Ivo has berth 9.", media_type="text/plain")
        case.record_turn("user", "Ivo lives in Ghent.")
        case.set_fact("home", "Ghent", source="user", turn=1)
        case.record_turn("user", ["Read this.", DocumentPart(sha256=notes, media_type="text/plain")])
        case.record_turn("user", "Please forget my name.")
        kept, earlier = view(store, "case of Ivo"), view(store, "case of Ivo", at=3)
        assert all(b"Ghent" in everything_of(seen) for seen in (kept, earlier))
        forget_elsewhere(path, "store.forget(ledger='case of Ivo', turns=[1], reason='asked to', answers=[])")
        for seen in (kept, earlier):
            assert b"Ghent" not in everything_of(seen)
            assert seen.basis().erasures == 1
        assert [request.turn for request in kept.forget_requests()] == [3]
        assert b"berth 9" in kept.window().request_bytes
        forget_elsewhere(path, f"store.forget(ledger='case of Ivo', artifacts=[{notes!r}], reason='asked to')")
        assert b"berth 9" not in everything_of(kept)
        assert kept.version == 5
        forget_elsewhere(path, "store.forget(ledger='case of Ivo', reason='all of it')")
        for seen in (kept, earlier):
            assert b"Ivo" not in everything_of(seen)
            assert b"name" not in seen.state().block.encode()
        store.reauthorise(ledger="case of Ivo", because="Ivo came back")
        assert kept.basis().ledger == "case of Ivo"
        assert "forgotten" in kept.transcript().turns[0].text


class Overtaken:
    """A store in which somebody forgets just before bytes are read for the first time."""

    def __init__(self, store: Store, forget: Callable[[], None]) -> None:
        self._store = store
        self._waiting = [forget]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def blob(self, ledger: bytes, sha256: str) -> bytes | None:
        """See ``Store``."""
        while self._waiting:
            self._waiting.pop()()
        return self._store.blob(ledger, sha256)


def test_bytes_that_are_forgotten_while_a_window_is_made(tmp_path: Path) -> None:
    """Between the look at what was forgotten and the reading of the bytes somebody else may forget them."""
    path = tmp_path / "store.db"
    with connect(str(path)) as store:
        case = store.ledger("case")
        notes = case.store_artifact(b"Ivo has berth 9.", media_type="text/plain")
        case.record_turn("user", ["Read this.", DocumentPart(sha256=notes, media_type="text/plain")])
        command = f"store.forget(ledger='case', artifacts=[{notes!r}], reason='asked to')"
        overtaken: Any = Overtaken(store.store, lambda: forget_elsewhere(path, command))
        assert "[forgotten]" in json.dumps(view(Ledgers(overtaken, store.clock), "case").window().request)


def test_an_answer_reads_nothing_anew_where_nothing_was_forgotten(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "Hello.")
    seen = view(store, "case")
    first = seen.transcript().transcript
    case.record_turn("assistant", "Good morning.")
    assert seen.transcript().transcript is first
    case.forget(turns=[2], reason="asked to")
    assert seen.transcript().transcript is not first
    assert last_governing(store, store.head("case")) == 3


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        """Microseconds since 1970."""
        return int(self.now.timestamp()) * 1_000_000


@pytest.fixture
def clock() -> Clock:
    """It stands at ``START``."""
    return Clock()


def texts(seen: View) -> list[str]:
    return [turn.text for turn in seen.transcript().turns]


def test_what_is_past_its_retention_reads_as_forgotten(clock: Clock) -> None:
    with connect(":memory:", clock=clock) as store:
        case = store.ledger("case")
        case.record_turn("user", "My card is 4111.", labels=["payment"])
        case.set_fact("card", "4111", source="user", turn=1)
        case.record_turn("user", "And a berth.")
        case.set_retention("30 days", label="payment")
        clock.now += 29 * DAY
        assert texts(view(store, "case")) == ["My card is 4111.", "And a berth."]
        clock.now += DAY
        for seen in (view(store, "case"), view(store, "case", at=3)):
            assert texts(seen) == ["[forgotten]", "And a berth."]
            assert seen.state().entities == {}
            assert b"4111" not in everything_of(seen)
            assert seen.basis().judged_at == "2031-04-03T09:00:00.000000Z"
            assert seen.basis().erasures == 0
            (first, *_) = seen.forgotten().places
            assert (first.forgotten.job, first.forgotten.at) == ("retention", "2031-04-03T09:00:00.000000Z")
        clock.now += DAY
        assert store.retain()
        seen = view(store, "case", at=3)
        assert texts(seen) == ["[forgotten]", "And a berth."]
        assert seen.basis().erasures == 1
        assert seen.forgotten().forgettings[0].scope == "retention"


def test_it_can_be_asked_as_it_would_be_judged_at_another_time(clock: Clock) -> None:
    with connect(":memory:", clock=clock) as store:
        case = store.ledger("case")
        case.record_turn("user", "My card is 4111.")
        case.set_retention("30 days")
        later = view(store, "case", judged_at=START + 31 * DAY)
        assert (texts(later), later.basis().judged_at) == (["[forgotten]"], "2031-04-04T09:00:00.000000Z")
        assert texts(view(store, "case", judged_at=START + DAY)) == ["My card is 4111."]
        assert texts(view(store, "case", judged_at=START - DAY)) == ["My card is 4111."]
        assert texts(view(store, "case")) == ["My card is 4111."]


def test_a_rule_holds_for_versions_before_it(clock: Clock) -> None:
    with connect(":memory:", clock=clock) as store:
        case = store.ledger("case")
        case.record_turn("user", "My card is 4111.")
        kept = view(store, "case", at=1)
        clock.now += 40 * DAY
        assert texts(kept) == ["My card is 4111."]
        case.set_retention("30 days")
        assert texts(kept) == ["[forgotten]"]
        assert texts(view(store, "case", at=1)) == ["[forgotten]"]


@pytest.mark.parametrize("asked", [lambda seen: seen.transcript(), lambda seen: seen.version])
def test_a_view_that_is_kept_does_not_show_what_is_past_its_retention_by_now(
    clock: Clock, asked: Callable[[View], object]
) -> None:
    with connect(":memory:", clock=clock) as store:
        case = store.ledger("case")
        case.record_turn("user", "My card is 4111.")
        case.set_retention("30 days")
        clock.now += 10 * DAY
        case.record_turn("user", "My gate is 4771.")
        kept, given = view(store, "case"), view(store, "case", judged_at=START + 12 * DAY)
        asked(kept)
        clock.now += 19 * DAY
        assert texts(kept) == ["My card is 4111.", "My gate is 4771."]
        assert kept.basis().judged_at == "2031-03-14T09:00:00.000000Z", "nothing came due, so it is the same answer"
        clock.now += DAY
        assert kept.search("4111").hits == ()
        assert texts(kept) == ["[forgotten]", "My gate is 4771."]
        assert "4111" not in kept.window().text
        clock.now += 9 * DAY
        assert texts(kept) == ["[forgotten]", "My gate is 4771."]
        clock.now += DAY
        assert texts(kept) == ["[forgotten]", "[forgotten]"]
        assert texts(given) == ["My card is 4111.", "My gate is 4771."]


def test_a_ledger_without_a_rule_is_not_judged(clock: Clock) -> None:
    with connect(":memory:", clock=clock) as store:
        store.ledger("case").record_turn("user", "Hello.")
        assert view(store, "case").basis().judged_at is None
        assert b"judged_at" not in view(store, "case").state().to_json()
        given = view(store, "case", judged_at=START.astimezone())
        assert given.basis().judged_at == "2031-03-04T09:00:00.000000Z"
        assert json.loads(given.state().to_json())["basis"]["judged_at"] == "2031-03-04T09:00:00.000000Z"


@pytest.mark.parametrize("moment", [datetime(2031, 3, 4, 9, 0), "2031-03-04", 5])  # noqa: DTZ001  # without a zone, on purpose
def test_a_time_without_a_zone_judges_nothing(store: Ledgers, case: Ledger, moment: Any) -> None:
    case.record_turn("user", "Hello.")
    with pytest.raises(InvalidInput, match="aware datetime") as refusal:
        view(store, "case", judged_at=moment)
    assert refusal.value.path == "judged_at"


def test_the_record_of_what_was_judged_stays(clock: Clock) -> None:
    """Judging changes no event: that is for ``retain``."""
    with connect(":memory:", clock=clock) as store:
        case = store.ledger("case")
        case.record_turn("user", "My card is 4111.")
        case.set_retention("0 seconds")
        assert texts(view(store, "case")) == ["[forgotten]"]
        rows = store.store.read(store.head("case").ledger, Selection(turn=1))
        assert [row.payload is not None for row in rows] == [True]
