"""Handles that were open while something was forgotten decide as those that are opened afterwards; repeated keys do nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.clock import system_clock
from ledger.erased import Erased, Forgotten
from ledger.erasing import Sweep, Swept
from ledger.errors import AdmissionRefused, ForgottenLedger, IdempotencyConflict, LedgerError, StoreError, SubjectForgotten
from ledger.forgetting_commands import ForgettingResumed
from ledger.parts import DocumentPart, ToolCallPart
from ledger.store import Store
from ledger.verify import verify_store
from tests.ledger.remains import REASON, gone, swept

PAGE = b"a page that says 29 EUR"
CALL = ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))


class NoSweep:
    """A store that fails whenever it is to sweep, so that a forgetting stays as it is after the fence."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def sweep(self, sweep: Sweep) -> Swept:
        raise StoreError("the connection was lost before the sweep")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


def prepare(handle: Ledger) -> str:
    """Nine events; the hash of the page among them."""
    handle.open(task="refund")
    handle.record_turn("user", "on Tuesday", subjects=["customer:ada"])
    handle.set_fact("day", "Tue", source="user", turn=1)
    handle.record_turn("assistant", ["let me look", CALL])
    handle.add_entry("open", "which depot?", source="inferred", turn=2)
    page = handle.store_artifact(PAGE)
    handle.record_evidence("29", quote="29 EUR", artifact=page)
    handle.record_contradiction("price", ["ev_7", e.Side(value=JsonText("30"))])
    assert handle.record_turn("user", "and now?") == 3
    return page


WISHES: dict[str, dict[str, Any]] = {
    "turn 1": {"turns": [1]},
    "turn 2": {"turns": [2]},
    "field": {"facts": ["day"]},
    "entry": {"ids": ["en_5"]},
    "evidence": {"ids": ["ev_7"]},
    "opening": {"ids": ["v_1"]},
    "artifact": {"artifacts": ["page"]},
    "ledger": {"everything": True},
}

COMMANDS: dict[str, Callable[[Ledger, str], object]] = {
    "open the same": lambda case, _: case.open(task="refund"),
    "open another": lambda case, _: case.open(task="complaint"),
    "turn": lambda case, _: case.record_turn("user", "hello"),
    "return": lambda case, _: case.record_return("c1", "two charges"),
    "the same fact": lambda case, _: case.set_fact("day", "Tue", source="tool"),
    "another fact": lambda case, _: case.set_fact("day", "Wed", source="tool"),
    "a fact of an old turn": lambda case, _: case.set_fact("day", "Wed", source="user", turn=1),
    "supersede": lambda case, _: case.set_fact("day", "Wed", source="user", supersedes="Tue"),
    "retract": lambda case, _: case.retract_fact("day", source="user"),
    "close the entry": lambda case, _: case.close_entry("en_5", source="interface", because="answered"),
    "resolve": lambda case, _: case.resolve_contradiction("con_8", because="asked", source="user"),
    "evidence": lambda case, page: case.record_evidence("29", quote="29 EUR", artifact=page),
    "against": lambda case, _: case.record_contradiction("price", ["ev_7", e.Side(value=JsonText("31"))]),
    "show": lambda case, page: case.record_turn("user", [DocumentPart(sha256=page)]),
    "store again": lambda case, page: case.append(e.ArtifactStored(sha256=page, size_bytes=len(PAGE))),
    "close": lambda case, _: case.close(),
    "retention": lambda case, _: case.set_retention("30 days"),
}


def outcome(handle: Ledger, command: Callable[[Ledger, str], object], page: str) -> object:
    """What a command led to: its events, or how it was refused."""
    before = handle.version
    try:
        command(handle, page)
    except LedgerError as error:
        assert handle.version == before
        return type(error), [word for word in str(error).split() if not word.startswith("f_")], sorted(error.details)
    return [item.event for item in handle.events(before)]


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_warm_handle_decides_as_a_cold_one(wish: str, command: str) -> None:
    """Each on a store of its own, and the warm one knew everything before something was forgotten by another handle."""
    found = []
    for is_warm in (True, False):
        with connect(":memory:") as ledgers:
            handle = ledgers.ledger("case")
            page = prepare(handle)
            chosen: dict[str, Any] = {name: [page] if value == ["page"] else value for name, value in WISHES[wish].items()}
            ledgers.ledger("case").forget(**chosen, reason=REASON)
            found.append(outcome(handle if is_warm else ledgers.ledger("case"), COMMANDS[command], page))
            assert verify_store(ledgers).problems == ()
    assert found[0] == found[1]


OLD: dict[str, dict[str, Any]] = {
    "the call": {"turns": [2]},
    "the return": {"ids": ["r_3"]},
    "the user": {"turns": [1]},
    "a late turn": {"turns": [150]},
    "late turns": {"turns": list(range(100, 203))},
    "all turns": {"turns": list(range(1, 203))},
    "everything": {"everything": True},
}
NAMING_OLD: dict[str, Callable[[Ledger, str], object]] = {
    "answer the call": lambda case, _: case.record_return("c2", "late", turn=2),
    "answer any call": lambda case, _: case.record_return("c2", "late"),
    "answer again": lambda case, _: case.record_return("c1", "again", turn=2),
    "a fact of the user": lambda case, _: case.set_fact("day", "Wed", source="user", turn=1),
    "a fact of the call": lambda case, _: case.set_fact("day", "Wed", source="tool", turn=2),
    "a wrong source": lambda case, _: case.set_fact("day", "Wed", source="user", turn=2),
    "a turn to come": lambda case, _: case.set_fact("day", "Wed", source="user", turn=203),
    "decline": lambda case, _: case.append(e.ForgettingDeclined(turn=1, because="on an order")),
    "decline what no user said": lambda case, _: case.append(e.ForgettingDeclined(turn=2, because="on an order")),
    "the next turn": lambda case, _: case.record_turn("user", "hello"),
}


@pytest.mark.parametrize("wish", OLD)
def test_a_cold_handle_knows_old_turns_as_a_warm_one(wish: str) -> None:
    """One that opens a long ledger reads its last turns only, until an older one is named."""
    found = {}
    for is_warm in (True, False):
        for command, carried_out in NAMING_OLD.items():
            with connect(":memory:") as ledgers:
                handle = ledgers.ledger("case")
                handle.record_turn("user", "look")
                handle.record_turn("assistant", [CALL, CALL.model_copy(update={"call_id": "c2"})])
                handle.record_return("c1", "two charges")
                handle.append([e.TurnRecorded(turn=turn, role="user", parts=()) for turn in range(3, 203)])
                ledgers.ledger("case").forget(**OLD[wish], reason=REASON)
                found[command, is_warm] = outcome(handle if is_warm else ledgers.ledger("case"), carried_out, "")
                assert verify_store(ledgers).problems == ()
    assert [command for command in NAMING_OLD if found[command, True] != found[command, False]] == []


def unswept(ledgers: Ledgers, **wish: Any) -> None:
    """A forgetting of which the fence stands and nothing more was done."""
    with pytest.raises(StoreError, match="before the sweep"):
        Ledgers(NoSweep(ledgers.store), system_clock).forget(ledger="case", **wish, reason=REASON)
    assert swept(ledgers) == set()


@pytest.mark.parametrize("is_warm", [True, False])
def test_what_is_not_swept_yet_reads_as_forgotten(ledgers: Ledgers, *, is_warm: bool) -> None:
    handle = ledgers.ledger("case")
    page = prepare(handle)
    unswept(ledgers, artifacts=[page])
    reader = handle if is_warm else ledgers.ledger("case")
    assert gone(ledgers) == {item.version for item in reader.events() if isinstance(item.event, Erased)} == {6, 7, 8}
    assert isinstance(reader.artifact(page), Forgotten)
    with pytest.raises(AdmissionRefused, match="was forgotten by job"):
        reader.record_evidence("29", quote="29 EUR", artifact=page)
    assert [problem.version for problem in verify_store(ledgers).problems] == [6, 7, 8, 10]
    with pytest.warns(ForgettingResumed):
        Ledgers(ledgers.store, system_clock)
    assert (swept(ledgers), verify_store(ledgers).problems) == ({6, 7, 8}, ())


def test_bytes_that_are_to_be_swept_are_not_taken_for_stored(ledgers: Ledgers) -> None:
    """An artifact event that relies on them would lose them a moment later."""
    handle = ledgers.ledger("case")
    page = prepare(handle)
    unswept(ledgers, artifacts=[page])
    stored = e.ArtifactStored(sha256=page, size_bytes=len(PAGE))
    with pytest.raises(AdmissionRefused, match="are not given"):
        handle.append(stored)
    handle.append(stored, blobs={page: PAGE})
    with pytest.warns(ForgettingResumed):
        Ledgers(ledgers.store, system_clock)
    assert (ledgers.ledger("case").artifact(page), verify_store(ledgers).problems) == (PAGE, ())


KEYED: dict[str, Callable[..., Any]] = {
    "turn": lambda case, **key: case.record_turn("user", "my card is 4929", **key),
    "fact": lambda case, **key: case.set_fact("card", "4929", source="user", **key),
    "entry": lambda case, **key: case.add_entry("open", "which card? 4929?", source="user", **key),
    "artifact": lambda case, **key: case.store_artifact(b"4929", **key),
    "several": lambda case, **key: [
        item.version
        for item in case.append(
            [e.EntryAdded(section="open", what="4929", source="user"), e.EntryAdded(section="open", what="x", source="user")],
            **key,
        )
    ],
    "outcome": lambda case, **key: case.record_outcome("partial", judge="reviewer", detail="4929", **key).version,
}


def without_content(answer: object) -> object:
    """What an answer says beside its content."""
    return getattr(answer, "version", answer)


@pytest.mark.parametrize("is_warm", [True, False])
@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("whole", [False, True])
def test_a_repeated_key_appends_nothing(ledgers: Ledgers, name: str, *, is_warm: bool, whole: bool) -> None:
    """Its request was forgotten, but not that it was carried out."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "hello")
    first = KEYED[name](handle, idempotency_key="k")
    wish: dict[str, Any] = {"everything": True} if whole else {"ids": ["v_2"]}
    ledgers.ledger("case").forget(**wish, reason=REASON)
    before = handle.version
    again = KEYED[name](handle if is_warm else ledgers.ledger("case"), idempotency_key="k")
    if name == "artifact":
        assert again == first
    else:
        assert without_content(again) == without_content(first)
    assert handle.version == before
    assert verify_store(ledgers).problems == ()


@pytest.mark.parametrize("is_warm", [True, False])
def test_a_repeated_key_of_a_forgotten_subject_appends_nothing(ledgers: Ledgers, *, is_warm: bool) -> None:
    handle = ledgers.ledger("case")
    options: dict[str, Any] = {"idempotency_key": "k", "subjects": ["customer:ada"]}
    assert handle.record_turn("user", "I am Ada", **options) == 1
    ledgers.forget(subject="customer:ada", reason=REASON)
    chosen = handle if is_warm else ledgers.ledger("case")
    assert chosen.record_turn("user", "I am Ada", **options) == 1
    assert handle.version == 2
    with pytest.raises(SubjectForgotten):
        chosen.record_turn("user", "I am Ada", **{**options, "idempotency_key": "another"})
    assert handle.version == 2


def test_the_first_result_shows_nothing_of_what_is_not_swept_yet(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.set_fact("card", "4929", source="user", idempotency_key="k")
    unswept(ledgers, facts=["card"])
    for chosen in (handle, ledgers.ledger("case")):
        again = chosen.set_fact("card", "4929", source="user", idempotency_key="k")
        assert isinstance(again.event, Erased)
        with pytest.raises(IdempotencyConflict):
            chosen.set_fact("card", "4930", source="user", idempotency_key="k")


def test_a_key_is_not_freed_by_forgetting(ledgers: Ledgers) -> None:
    """Another request with the key of a forgotten one is not carried out: nobody can tell any more that it is another."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "my card is 4929", idempotency_key="k")
    handle.forget(turns=[1], reason=REASON)
    assert handle.record_turn("user", "something else", idempotency_key="k") == 1
    assert handle.version == 2


def test_a_forgotten_ledger_refuses_a_new_key_alone(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    handle.record_turn("user", "hello", idempotency_key="k")
    handle.forget(everything=True, reason=REASON)
    assert handle.record_turn("user", "hello", idempotency_key="k") == 1
    with pytest.raises(ForgottenLedger):
        handle.record_turn("user", "hello", idempotency_key="l")


def test_a_job_that_is_carried_out_again_appends_nothing(ledgers: Ledgers) -> None:
    """After the fence, and after everything."""
    handle = ledgers.ledger("case")
    prepare(handle)
    unswept(ledgers, turns=[1])
    (job,) = ledgers.forgettings()
    (resumed,) = ledgers.resume_forgetting()
    assert (resumed.job, resumed.state, resumed.count) == (job.job, "complete", 2)
    assert {item.version for item in resumed.ledgers[0].items} == gone(ledgers) == swept(ledgers) == {2, 3}
    assert (handle.version, ledgers.resume_forgetting()) == (10, [])
    assert [one.finished for one in ledgers.forgettings()] == [True]
