"""What is kept of turns: the same whoever makes it and when, gone with what is forgotten, and no condition for an answer."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.errors import AdmissionRefused, StoreError
from ledger.parts import DocumentPart, ToolCallPart
from projections.basis import Basis
from replay.kept.warm import shelf_of
from replay.standing.state import standing_state
from replay.tokens import counter
from replay.turns.ledger_turns import bring_up_to_date, folded_turns, turns_of
from tests.contract.stores import CATALOGUE, OpenStore
from tests.index.telling import ENCODING, Clock, anew, answers_of, check_told, is_by_index, loaded_at
from tests.index.test_cost import talk

ROOT = Path(__file__).resolve().parents[2]
BASIS = Basis("", 0, None, None, "", 0)
KINDS = ("turns/1", "cards/3", "live/2")


@pytest.fixture(params=["sqlite-file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """A store on a disk or a server."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()


def rows_of(ledgers: Ledgers) -> dict[tuple[str, str], bytes]:
    """All that is kept of the turns and the state of a ledger."""
    ledger = ledgers.head("case").ledger
    return {(kind, row.key): row.value for kind in KINDS for row in ledgers.store.derived_scan(kind, "", ledger=ledger).rows}


def read(ledgers: Ledgers) -> dict[str, Any]:
    """Everything that turns tell now."""
    loaded = loaded_at(ledgers, "case", ledgers.head("case").version)
    standing_state(loaded, BASIS, count=len)
    return answers_of(turns_of(loaded, ENCODING))


def test_it_is_the_same_bytes_made_bit_by_bit_or_at_once(tmp_path: Path) -> None:
    with connect(str(tmp_path / "a.db"), clock=Clock()) as often, connect(str(tmp_path / "b.db"), clock=Clock()) as once:
        for ledgers in (often, once):
            case = ledgers.ledger("case")
            for number in range(150):
                case.record_turn("user", f"Turn {number}.")
                case.set_fact(f"field {number % 30}", number, source="user")
                if ledgers is often and number % 7 == 0:
                    read(anew(ledgers) if number % 2 else ledgers)
            talk_to_the_end(ledgers)
        assert rows_of(often) == rows_of(once)
        assert {kind for kind, _ in rows_of(often)} == set(KINDS)
        assert read(often) == read(once)


def test_it_is_the_same_brought_up_to_date_after_every_event_or_once(tmp_path: Path) -> None:
    with connect(str(tmp_path / "a.db"), clock=Clock()) as often, connect(str(tmp_path / "b.db"), clock=Clock()) as once:
        for ledgers in (often, once):
            case = ledgers.ledger("case")
            talk(case, 70)
            for number in range(71, 160):
                if number % 4:
                    case.record_turn("user", f"Turn {number}.")
                else:
                    case.record_turn("assistant", [ToolCallPart(call_id=f"c{number}", tool="look", arguments=JsonText.of({}))])
                if number % 8 == 7 and number > 80:  # results come late, those of the first turns never
                    for turn in (number - 3, number - 7):
                        case.record_return(f"c{turn}", f"What turn {turn} found.")
                if ledgers is often:
                    bring_up_to_date(ledgers, "case", encoding=ENCODING)
            talk_to_the_end(ledgers)
        assert rows_of(often) == rows_of(once)
        assert read(often) == read(once)


def test_what_is_counted_while_a_document_is_missing_is_counted_again(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    sha256 = case.store_artifact(b"The rules of the depot, at length.", media_type="text/plain")
    case.record_turn("user", [DocumentPart(sha256=sha256, media_type="text/plain")])
    case.record_turn("user", "Read it.")

    class Damaged:
        """A store of which the bytes of artifacts are missing for a while."""

        is_damaged = True

        def __getattr__(self, name: str) -> Any:
            if name == "blob" and self.is_damaged:
                return lambda *_: None
            return getattr(ledgers.store, name)

    damaged: Any = Damaged()
    reading = Ledgers(damaged, ledgers.clock)
    bring_up_to_date(reading, "case", encoding=ENCODING)
    damaged.is_damaged = False
    bring_up_to_date(reading, "case", encoding=ENCODING)
    kept = rows_of(ledgers)
    bring_up_to_date(anew(ledgers), "case", encoding=ENCODING)
    assert rows_of(ledgers) == kept, "nothing was left to count"


def talk_to_the_end(ledgers: Ledgers) -> None:
    ledgers.ledger("case").record_turn("user", "That is all.")
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    read(ledgers)


def test_bringing_up_to_date_twice_or_at_once_changes_nothing(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    talk(ledgers.ledger("case"), 200)
    alone = read(anew(ledgers))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: bring_up_to_date(anew(ledgers), "case", encoding=ENCODING), range(4)))
    rows = rows_of(ledgers)
    bring_up_to_date(anew(ledgers), "case", encoding=ENCODING)
    assert rows_of(ledgers) == rows
    assert read(anew(ledgers)) == alone


def test_no_row_holds_what_was_said(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    talk(ledgers.ledger("case"), 100)
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    kept = b"".join(rows_of(ledgers).values())
    assert b"words" not in kept
    assert b"depot" not in kept
    assert b"found" not in kept


def test_what_is_forgotten_is_gone_from_what_is_kept_and_from_memory(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    talk(case, 150)
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    before = read(ledgers)
    assert before["all"][9].turn.text == "The words of turn 10."
    with connect(opened.address) as other:
        other.forget(ledger="case", turns=[10, 149], reason="asked to")
    assert rows_of(ledgers) == {}
    after = read(ledgers)
    assert [told.turn.text for told in after["all"] if told.turn.number in (10, 149)] == ["[forgotten]"] * 2
    assert after == read(anew(ledgers))
    check_told(ledgers, [case.version, case.version // 2, 20], "case")


def test_while_a_forgetting_is_not_carried_out_yet(opened: OpenStore) -> None:
    """It is recorded, but its process died before it deleted anything: what was kept before is not read any more."""
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    talk(case, 150)
    case.set_fact("city", "Ghent", source="user", turn=10)
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    warm = read(ledgers)

    class Dying:
        """A store whose process ends before it sweeps."""

        def __getattr__(self, name: str) -> Any:
            if name == "sweep":
                raise KeyboardInterrupt
            return getattr(ledgers.store, name)

    dying: Any = Dying()
    with suppress(KeyboardInterrupt):
        Ledgers(dying, ledgers.clock).forget(ledger="case", turns=[10], reason="asked to")
    assert rows_of(ledgers), "nothing was swept"
    assert warm["all"][9].card.contents.tokens > 1
    for version in (case.version, case.version - 2, 30):
        loaded = loaded_at(ledgers, "case", version)
        whole = answers_of(folded_turns(loaded_at(ledgers, "case", version), counter(ENCODING)))
        assert answers_of(turns_of(loaded, ENCODING)) == whole
        assert "city" not in standing_state(loaded, BASIS, count=len).entities
    assert {key[0] for _, key in rows_of(ledgers)} >= {"0"}, "still nothing was swept"
    ledgers.resume_forgetting()
    check_told(ledgers, [case.version, 30], "case")


def test_a_reader_that_knows_of_no_forgetting_harms_nobody_who_does(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    talk(case, 150)
    old = loaded_at(ledgers, "case", case.version)
    case.forget(turns=[10], reason="asked to")
    new = loaded_at(ledgers, "case", case.version)
    told = turns_of(new, ENCODING).at([10])[10]
    assert turns_of(old, ENCODING).at([9])[9].turn.number == 9
    assert turns_of(loaded_at(ledgers, "case", case.version), ENCODING).at([10])[10] == told
    assert told.turn.text == "[forgotten]"


def test_a_forgotten_picture_that_is_stored_again(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    notes = case.store_artifact(b"Berth 9 is taken.", media_type="text/plain")
    case.record_turn("user", ["Read this.", DocumentPart(sha256=notes, media_type="text/plain")])
    case.record_turn("assistant", "I did.")
    read(ledgers)
    case.forget(artifacts=[notes], reason="asked to")
    case.record_turn("user", "Once more.")
    read(ledgers)
    with suppress(AdmissionRefused):
        case.store_artifact(b"Berth 9 is taken.", media_type="text/plain")
    check_told(ledgers, range(case.version + 1), "case")


class Unwritable:
    """A store that takes nothing that is derived."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return self._refuse if name.startswith("derived_put") else getattr(self._store, name)

    def _refuse(self, *given: object, **named: object) -> None:
        raise StoreError("This server is a standby or read-only: connect to the primary.")


def test_where_nothing_can_be_kept_the_answers_are_the_same(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    talk(case, 200)
    unwritable: Any = Unwritable(ledgers.store)
    standby = Ledgers(unwritable, ledgers.clock)
    bring_up_to_date(standby, "case", encoding=ENCODING)
    assert rows_of(ledgers) == {}
    for _ in range(2):
        assert read(standby) == read(anew(ledgers))
        case.record_turn("user", "One more.")
    case.forget(turns=[1], reason="asked to")
    assert read(standby) == read(anew(ledgers))


@pytest.mark.parametrize("form", [b'[[[1],{"number":1}]]', b'{"first":1}', b"[1,[2,3],4,5]", b"\x00", b"7"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_another_form_is_made_anew(tmp_path: Path, kind: str, form: bytes) -> None:
    """As a release leaves it that kept other numbers, or a row that was cut."""
    with connect(str(tmp_path / "record.db"), clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        talk(case, 200)
        for number in range(300):
            case.set_fact(f"field {number % 7}", number, source="user")
        bring_up_to_date(ledgers, "case", encoding=ENCODING)
        expected, rows, head = read(ledgers), rows_of(ledgers), ledgers.head("case")
        state = standing_state(loaded_at(ledgers, "case", head.version), BASIS, count=len)
        places = [key for found, key in rows if found == kind and key.rpartition("/")[0].endswith(("0", "0/t"))]
        assert places
        ledgers.store.derived_put_many(head.ledger, kind, dict.fromkeys(places, form), erasures=head.erasures)
        assert read(anew(ledgers)) == expected
        assert standing_state(loaded_at(anew(ledgers), "case", head.version), BASIS, count=len) == state
        bring_up_to_date(anew(ledgers), "case", encoding=ENCODING)
        assert rows_of(ledgers) == rows


def test_readers_and_writers_at_once(opened: OpenStore) -> None:
    """Threads read while others record and forget; in the end all say what folding says."""
    ledgers = opened()
    case = ledgers.ledger("case")
    talk(case, 130)

    def work(task: Callable[[int], None]) -> None:
        for number in range(12):
            task(number)

    def reads(number: int) -> None:
        loaded = loaded_at(ledgers, "case", ledgers.head("case").version)
        turns = turns_of(loaded, ENCODING)
        assert [told.turn.number for told in turns.between(1, turns.last)] == list(range(1, turns.last + 1))
        standing_state(loaded, BASIS, count=len)

    def records(number: int) -> None:
        ledgers.ledger("case").record_turn("user", f"At once {number}.")
        ledgers.ledger("case").set_fact("city", number, source="user")

    def forgets(number: int) -> None:
        if number % 4 == 0:
            ledgers.forget(ledger="case", turns=[number + 5], reason="asked to")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, (reads, reads, records, forgets))) == [None] * 4
    head = ledgers.head("case")
    whole = answers_of(folded_turns(loaded_at(ledgers, "case", head.version), counter(ENCODING)))
    for seen in (ledgers, anew(ledgers)):
        turns = turns_of(loaded_at(seen, "case", head.version), ENCODING)
        assert is_by_index(turns)
        assert answers_of(turns) == whole


def test_an_index_that_another_process_purged_is_made_again(opened: OpenStore) -> None:
    """A ledger as it was loaded before is asked again after a forgetting swept what is kept."""
    ledgers = opened(Clock())
    case: Ledger = ledgers.ledger("case")
    talk(case, 200)
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    cold = anew(ledgers)
    loaded = loaded_at(cold, "case", case.version)
    turns = turns_of(loaded, ENCODING)
    assert turns.last == 200
    forget = "s.forget(ledger='case', turns=[7], reason='asked to')"
    script = f"from ledger import connect\nwith connect({opened.address!r}) as s:\n    {forget}\n"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, timeout=100)
    assert [told.turn.number for told in turns.between(1, 200)] == list(range(1, 201))
    assert turns.at([7])[7].turn.text == "[forgotten]"


def test_a_store_that_nobody_uses_is_not_kept_alive(tmp_path: Path) -> None:
    ledgers = connect(str(tmp_path / "record.db"))
    talk(ledgers.ledger("case"), 70)
    read(ledgers)
    loaded = loaded_at(ledgers, "case", 5)
    count = shelf_of(loaded).notes(ENCODING)
    store = weakref.ref(ledgers.store)
    ledgers.close()
    assert count("Counted after the store was closed.") == counter(ENCODING)("Counted after the store was closed.")
    del ledgers, loaded
    gc.collect()
    assert store() is None
    assert count("And after it was gone.") == counter(ENCODING)("And after it was gone.")
    count.keep()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_reads_although_its_parent_was_reading(tmp_path: Path) -> None:
    with connect(str(tmp_path / "record.db")) as ledgers:
        talk(ledgers.ledger("case"), 70)
        loaded = loaded_at(ledgers, "case", 5)
        with shelf_of(loaded).lock:
            child = os.fork()
            if child == 0:
                found = 1
                with suppress(BaseException):
                    found = 0 if read(ledgers)["last"] == 70 else 2
                os._exit(found)
            _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0


def test_a_card_without_the_bytes_of_its_document_is_not_kept(tmp_path: Path) -> None:
    """Where they are missing, because the store is damaged, the turn is told all the same, and counted when they are back."""
    with connect(str(tmp_path / "record.db")) as ledgers:
        case = ledgers.ledger("case")
        notes = case.store_artifact(b"Berth 9 is taken. " * 50, media_type="text/plain")
        case.record_turn("user", ["Read this.", DocumentPart(sha256=notes, media_type="text/plain")])

        class Damaged:
            """A store without blobs."""

            def __getattr__(self, name: str) -> Any:
                return getattr(ledgers.store, name)

            def blob(self, *given: object) -> None:
                """See ``Store``."""

        store: Any = Damaged()
        damaged = Ledgers(store, ledgers.clock)
        bring_up_to_date(damaged, "case", encoding=ENCODING)
        less = turns_of(loaded_at(damaged, "case", 2), ENCODING).at([1])[1].card.contents.tokens
        assert turns_of(loaded_at(anew(ledgers), "case", 2), ENCODING).at([1])[1].card.contents.tokens > less + 100
