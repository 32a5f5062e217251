"""Forgetting while other processes write, derive and forget. Each check is shown to see a bug that was planted."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledger import Ledgers
from ledger.erased import Erased, Forgotten
from ledger.errors import AdmissionRefused, NothingToForget
from ledger.events import ContentForgotten, TurnRecorded
from ledger.forgetting import Forgetting
from ledger.store import Store
from replay.view import View, view
from tests.forgetting import racing
from tests.forgetting.forks import barrier, event, forked
from tests.forgetting.needles import Needles
from tests.forgetting.racing import KIND, SUBJECT, broken, faults_about, faults_of, living, wait_until
from tests.forgetting.shelves import Shelf

Bug = Callable[[Store], Any]


@pytest.fixture
def ledgers(shelf: Shelf) -> Iterator[Ledgers]:
    """The store, open."""
    with shelf() as opened:
        yield opened


def race_about_a_subject(shelf: Shelf, ledgers: Ledgers, bug: Bug | None) -> list[str]:
    """Three writers append about a subject while it is forgotten; later, unless a bug is planted, it is allowed again."""
    returned, allowed, stop = event(), event(), event()
    names = ["shared", "shared", "own"]
    with forked(racing.write_about, [(shelf, name, returned, allowed, stop) for name in names]) as writers:
        wait_until(lambda: sum(head.version for head in ledgers.heads()) > 30 and len(ledgers.heads()) == 2)
        report = broken(ledgers, bug).forget(subject=SUBJECT, reason="asked")
        returned.set()
        time.sleep(0.2)
        if bug is None:
            assert (report.state, report.count > 25) == ("complete", True)
            allowed.set()
            before = sum(head.version for head in ledgers.heads())
            ledgers.reauthorise(subject=SUBJECT, because="they came back")
            wait_until(lambda: sum(head.version for head in ledgers.heads()) > before + 5)
        stop.set()
        results = [writer.result() for writer in writers]
    successes = [success for done, _ in results for success in done]
    if bug is None:
        assert all(refused for _, refused in results)
        assert any(success.allowed for success in successes)
    return [*faults_about(ledgers, successes), *faults_of(ledgers, "shared"), *faults_of(ledgers, "own")]


def test_nothing_about_a_forgotten_subject_gets_in(shelf: Shelf, ledgers: Ledgers) -> None:
    assert race_about_a_subject(shelf, ledgers, None) == []


def test_a_fence_that_is_not_raised_would_be_seen(shelf: Shelf, ledgers: Ledgers) -> None:
    assert any("began after" in fault for fault in race_about_a_subject(shelf, ledgers, racing.NeverFences))


def race_of_turns(shelf: Shelf, ledgers: Ledgers, bug: Bug | None) -> list[str]:
    """Two writers record turns, and facts from them, while turns are forgotten, some at a time."""
    stop, chance = event(), random.Random(7)
    gone: set[int] = set()
    with forked(racing.converse, [(shelf, "case", who, stop) for who in range(2)]) as writers:
        wait_until(lambda: bool(ledgers.heads()))
        for _ in range(4):
            known = ledgers.head("case").version
            wait_until(lambda known=known: ledgers.head("case").version > known + 12)  # type: ignore[misc]
            turns = {item.turn for item in ledgers.ledger("case").events() if isinstance(item.event, TurnRecorded)}
            some = chance.sample(sorted(turn for turn in turns if turn), 4)
            broken(ledgers, bug).forget(ledger="case", turns=some, reason="asked")
            gone |= set(some)
        stop.set()
        assert sum(writer.result() for writer in writers) > 20
    items = list(ledgers.ledger("case").events())
    assert sum(item.event.count for item in items if isinstance(item.event, ContentForgotten)) >= len(gone)
    return [*faults_of(ledgers, "case"), *(f"{item.version} is left" for item in living(items, gone))]


def test_turns_are_forgotten_while_others_write(shelf: Shelf, ledgers: Ledgers) -> None:
    assert race_of_turns(shelf, ledgers, None) == []
    items = list(ledgers.ledger("case").events())
    gone = {item.turn for item in items if isinstance(item.event, Erased)}
    said = "\n".join(repr(item.event) for item in items)
    texts = [f"secret {who}/{number}." for who in range(2) for number in range(400)]
    lost = [text for text in texts if text not in said][: len(gone)]
    assert Needles(lost).found_in(shelf.contents()) == {}


def test_a_sweep_that_leaves_payloads_would_be_seen(shelf: Shelf, ledgers: Ledgers) -> None:
    assert any("still there" in fault for fault in race_of_turns(shelf, ledgers, racing.SweepsNothing))


def load_and_put_later(shelf: Shelf, loaded: Any, go: Any, put: Callable[..., bool] | None) -> bool:
    """Load a ledger, and keep what is derived of it once told to; whether it was kept."""
    with shelf() as ledgers:
        head = ledgers.head("case")
        value = repr(list(ledgers.ledger("case").events())).encode()
        loaded.set()
        assert go.wait(30)
        if put is not None:
            return put(ledgers.store, head.ledger, "late", value)
        return ledgers.store.derived_put(head.ledger, KIND, "late", value, erasures=head.erasures)


def race_of_a_late_put(
    shelf: Shelf, ledgers: Ledgers, bug: Bug | None, put: Callable[..., bool] | None
) -> tuple[bool, list[bytes | None]]:
    """Whether a reader that loaded before the forgetting could keep it after; what is derived then, of early and of late."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "secret words")
    handle.record_turn("user", "others")
    head = ledgers.head("case")
    assert ledgers.store.derived_put(head.ledger, KIND, "early", b"secret words", erasures=head.erasures)
    loaded, go = event(), event()
    with forked(load_and_put_later, [(shelf, loaded, go, put)]) as (reader,):
        assert loaded.wait(30)
        assert broken(ledgers, bug).forget(ledger="case", turns=[1], reason="asked").state == "complete"
        go.set()
        kept = reader.result()
    return kept, [ledgers.store.derived_get(head.ledger, KIND, key) for key in ("early", "late")]


def test_what_was_derived_before_goes_and_cannot_be_kept_after(shelf: Shelf, ledgers: Ledgers) -> None:
    assert race_of_a_late_put(shelf, ledgers, None, None) == (False, [None, None])
    assert Needles(["secret words"]).found_in(shelf.contents()) == {}


def test_a_sweep_that_leaves_what_is_derived_would_be_seen(shelf: Shelf, ledgers: Ledgers) -> None:
    _, (early, _) = race_of_a_late_put(shelf, ledgers, racing.LeavesDerived, None)
    assert early == b"secret words"


def test_a_put_that_ignores_the_count_would_be_seen(shelf: Shelf, ledgers: Ledgers) -> None:
    kept, (_, late) = race_of_a_late_put(shelf, ledgers, None, racing.put_whatever_was_forgotten)
    assert kept
    assert b"secret words" in (late or b"")


def test_readers_that_derive_all_the_time_keep_nothing_forgotten(shelf: Shelf, ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.append([racing.said(turn) for turn in range(1, 31)])
    head, stop, gone = ledgers.head("case"), event(), []
    with forked(racing.derive, [(shelf, "case", str(key), stop) for key in range(2)]) as readers:
        for turn in range(1, 13, 2):
            wait_until(lambda: ledgers.store.derived_get(head.ledger, KIND, "0") is not None)
            handle.forget(turns=[turn, turn + 1], reason="asked")
            gone += [f"secret turn {turn}.", f"secret turn {turn + 1}."]
            kept = [ledgers.store.derived_get(head.ledger, KIND, key) or b"" for key in "01"]
            assert [text for text in gone for value in kept if text.encode() in value] == []
        stop.set()
        assert all(reader.result() for reader in readers)
    assert Needles(gone).found_in(shelf.contents()) == {}


def use_a_warm_handle(shelf: Shelf, warm: Any, go: Any, sha256: str) -> list[Any]:
    """What a handle that knows the ledger from before says of it afterwards."""
    with shelf() as ledgers:
        handle = ledgers.ledger("case")
        assert len(list(handle.events())) == 3
        assert handle.record_turn("user", "secret words", idempotency_key="one") == 1
        assert handle.artifact(sha256) == b"secret page"
        feed = ledgers.follow(idle_seconds=0)
        next(feed)
        warm.set()
        assert go.wait(30)
        with pytest.raises(AdmissionRefused, match="was forgotten"):
            handle.set_fact("x", 1, source="user", turn=1)
        again = handle.record_turn("user", "other words now", idempotency_key="one")
        texts = [repr(item.event) for item in handle.events()]
        return [again, handle.artifact(sha256), [text for text in texts if "secret" in text]]


def test_a_process_that_knew_the_ledger_shows_nothing_of_it(shelf: Shelf, ledgers: Ledgers) -> None:
    handle, warm, go = ledgers.ledger("case"), event(), event()
    handle.record_turn("user", "secret words", idempotency_key="one")
    sha256 = handle.store_artifact(b"secret page", turn=1)
    handle.set_fact("known", "secret value", source="user", turn=1)
    with forked(use_a_warm_handle, [(shelf, warm, go, sha256)]) as (reader,):
        assert warm.wait(30)
        assert handle.forget(turns=[1], reason="asked").count == 3
        go.set()
        again, artifact, secrets = reader.result()
    assert (again, secrets) == (1, [])
    assert isinstance(artifact, Forgotten)


def use_a_warm_view(shelf: Shelf, warm: Any, go: Any) -> list[str]:
    """What views that were asked before say afterwards, of now and of before."""
    with shelf() as ledgers:
        views = [view(ledgers, "case"), view(ledgers, "case", at=2)]
        before = [answer for one in views for answer in answers_of(one)]
        assert all("secret" in answer for answer in before)
        warm.set()
        assert go.wait(30)
        return [answer for one in views for answer in answers_of(one)]


def answers_of(one: View) -> list[str]:
    """Everything that a view tells, as text."""
    return [one.transcript().to_json().decode(), one.state().block, one.window(render="text").text]


def test_a_view_that_was_asked_before_shows_nothing_of_it(shelf: Shelf, ledgers: Ledgers) -> None:
    handle, warm, go = ledgers.ledger("case"), event(), event()
    handle.record_turn("user", "secret words")
    handle.set_fact("known", "secret value", source="user", turn=1)
    handle.record_turn("user", "others")
    with forked(use_a_warm_view, [(shelf, warm, go)]) as (reader,):
        assert warm.wait(30)
        assert handle.forget(turns=[1], reason="asked").count == 2
        go.set()
        answers = reader.result()
    assert [answer for answer in answers if "secret" in answer] == []


def forget_at(shelf: Shelf, meeting: Any, turns: list[int], shared: set[int]) -> Forgetting:
    """Forget turns when others do, too. Who comes late is told so before anything is done, and wishes less."""
    with shelf() as ledgers:
        meeting.wait(30)
        try:
            return ledgers.forget(ledger="case", turns=turns, reason="asked")
        except NothingToForget:
            return ledgers.forget(ledger="case", turns=set(turns) - shared, reason="asked")


@pytest.mark.parametrize("attempt", range(4))
def test_two_forget_the_same_turns_at_once(shelf: Shelf, ledgers: Ledgers, attempt: int) -> None:
    handle, meeting = ledgers.ledger("case"), barrier(2)
    handle.append([racing.said(turn) for turn in range(1, 21)])
    wishes = [list(range(1, 13)), list(range(8, 20))]
    with forked(forget_at, [(shelf, meeting, turns, set(range(8, 13))) for turns in wishes]) as both:
        results: list[Forgetting] = [one.result() for one in both]
    assert [(report.state, report.problems) for report in results] == [("complete", ())] * 2
    assert sum(report.count for report in results) == 19
    assert living(list(handle.events()), set(range(1, 20))) == []
    assert faults_of(ledgers, "case") == []
    assert Needles(f"secret turn {turn}." for turn in range(1, 20)).found_in(shelf.contents()) == {}


@pytest.mark.parametrize("size", [300, pytest.param(3_000, marks=pytest.mark.slow)])
def test_a_ledger_that_takes_many_events_at_a_time_forgets(shelf: Shelf, ledgers: Ledgers, size: int) -> None:
    stop = event()
    with forked(racing.append_batches, [(shelf, "case", size, stop)]) as (writer,):
        wait_until(lambda: bool(ledgers.heads()))
        report = ledgers.forget(ledger="case", turns=[2, 3], reason="asked")
        stop.set()
        written = writer.result()
    assert (report.state, report.count) == ("complete", 2)
    assert ledgers.head("case").version == written + 1
    assert faults_of(ledgers, "case") == []
    assert Needles(["secret turn 2.", "secret turn 3."]).found_in(shelf.contents()) == {}
