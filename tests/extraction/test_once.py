"""Each turn is read once by each extractor under each schema, and nothing is recorded twice, whatever breaks off."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from multiprocessing import get_context

import pytest

from ledger import Ledger, Ledgers, connect
from ledger.clock import system_clock
from ledger.events import ExtractionRecorded
from ledger.json_text import JsonText
from ledger.parts import ToolCallPart
from ledger.schema import StateModel, declared
from projections.extraction import Candidate
from projections.rule_extraction import RuleExtractor
from replay import view
from replay.extraction import Extracted, extract
from tests.contract.at_once import at_once
from tests.contract.stores import OpenStore
from tests.extraction.saying import DAYS, Says, claims, conversation, values
from tests.following.racing import processes

DELIVERY = ("Deliver on Tuesdays", "Noted.", "no, Fridays from now on", "Noted.", "The note is green")
FOUND = (
    Candidate("delivery_day", "Tuesdays", "on Tuesdays", 1),
    Candidate("delivery_day", "Fridays", "Fridays", 3, corrects=True),
    Candidate("note", "green", "note is green", 5),
    Candidate("note", "blue", "note is blue", 5),
)
LED_TO = ["fact.set", "fact.superseded", "fact.set", "fact.rejected"]


def runs(ledger: Ledger) -> list[ExtractionRecorded]:
    """The recorded runs of extractors."""
    return [one.event for one in ledger.events() if isinstance(one.event, ExtractionRecorded)]


def test_what_a_run_was_is_recorded(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    version = ledger.version
    extract(store, "case", Says(FOUND))
    (run,) = runs(ledger)
    assert (run.extractor, run.after_turn, run.through_turn, run.through_version) == ("says/1", 0, 5, version)
    assert (run.candidates, run.model, run.prompt_hash, run.incomplete) == (4, "m-1", "ab" * 32, None)
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (120, 9)


def test_a_turn_is_read_once_by_each_extractor(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    first, second = Says(FOUND), Says((), name="says/2")
    for _ in range(2):
        extract(store, "case", first)
    ledger.record_turn("assistant", "Noted.")
    extract(store, "case", first)
    extract(store, "case", second)
    assert (first.read, second.read) == ([(1, 2, 3, 4, 5), (6,)], [(1, 2, 3, 4, 5, 6)])
    assert extract(store, "case", first).turns == ()
    assert [(run.after_turn, run.through_turn) for run in runs(ledger)] == [(0, 5), (5, 6), (0, 6)]


def test_another_schema_has_all_turns_read_anew_and_changes_nothing_that_is_known(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    extract(store, "case", Says(FOUND))

    class Later(StateModel):
        """One field more, and one under another name."""

        day: str | None = declared(aliases=["delivery_day"])
        delivery_day_was: str | None = None
        note: str | None = None
        colour: str | None = None

    ledger.declare(Later)
    extractor = Says([*FOUND[2:], Candidate("colour", "green", "green", 5)])
    extract(store, "case", extractor)
    assert extractor.read == [(1, 2, 3, 4, 5)]
    assert claims(ledger) == [*LED_TO, "fact.set"]
    assert values(store, ledger)["colour"] == ("green", "user")


def test_the_same_found_by_another_extractor_in_other_words_is_known(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    done = extract(store, "case", Says(FOUND[:3]))
    again = [Candidate(one.field.upper(), one.value, one.quote[-6:].strip(), one.turn) for one in FOUND[:3]]
    assert extract(store, "case", Says(again, name="says/2")).recorded == done.recorded
    assert claims(ledger) == LED_TO[:3]


def test_what_one_could_only_infer_another_may_prove(store: Ledgers) -> None:
    ledger = conversation(store, "Tuesdays, as I said")
    extract(store, "case", Says([Candidate("delivery_day", "Tuesdays", "as I said", 1)]))
    assert values(store, ledger) == {"delivery_day": ("Tuesdays", "inferred")}
    extract(store, "case", Says([Candidate("delivery_day", "Tuesdays", "Tuesdays", 1)], name="says/2"))
    assert claims(ledger) == ["fact.set", "fact.reaffirmed"]
    assert values(store, ledger) == {"delivery_day": ("Tuesdays", "user")}


def test_an_incomplete_run_counts_and_its_turns_are_read_again(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    broken = Says(FOUND[:2], incomplete="the answer was cut off")
    done = extract(store, "case", broken)
    assert (done.incomplete, len(done.recorded)) == ("the answer was cut off", 2)
    assert values(store, ledger) == {"delivery_day": ("Fridays", "user")}
    whole = Says(FOUND)
    extract(store, "case", whole)
    assert whole.read == broken.read == [(1, 2, 3, 4, 5)]
    assert claims(ledger) == LED_TO
    assert [run.incomplete for run in runs(ledger)] == ["the answer was cut off", None]
    assert extract(store, "case", whole).turns == ()


def test_a_result_that_came_late_is_read(store: Ledgers) -> None:
    ledger = conversation(store, "Which IBAN?")
    ledger.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look_up", arguments=JsonText("{}"))])
    rules = RuleExtractor(results=True)
    assert extract(store, "case", rules).turns == (1, 2)
    ledger.record_turn("user", "Anything else meanwhile?")
    assert extract(store, "case", rules).turns == (3,)
    ledger.record_return("c1", "IBAN AA00111111")
    assert extract(store, "case", rules).turns == (2,)
    assert values(store, ledger) == {"payment_iban": ("AA00111111", "tool")}
    assert extract(store, "case", rules).turns == ()
    assert view(store, "case").read_through(rules.name) == 3


def test_what_comes_while_an_extractor_thinks_is_read_next(store: Ledgers) -> None:
    ledger = conversation(store, "Which IBAN?")
    ledger.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look_up", arguments=JsonText("{}"))])

    def meanwhile(turns: object) -> list[Candidate]:
        ledger.record_return("c1", "IBAN AA00111111")
        ledger.record_turn("user", "Hello?")
        return []

    extractor = Says(meanwhile)
    extract(store, "case", extractor)
    extractor.candidates = []
    extract(store, "case", extractor)
    assert extractor.read == [(1, 2), (2, 3)]


def test_an_extractor_that_fails_leaves_nothing(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    version = ledger.version

    def fail(turns: object) -> list[Candidate]:
        raise ConnectionError("no answer")

    with pytest.raises(ConnectionError):
        extract(store, "case", Says(fail))
    assert ledger.version == version


def test_the_checks_of_references_come_with_the_handle(store: Ledgers) -> None:
    class Booking(StateModel):
        """What is booked."""

        flight: str | None = declared(refers_to="flights")

    ledger = store.ledger("case")
    ledger.declare(Booking, references={"flights": lambda number: number == "LH454"})
    ledger.record_turn("user", "Book LH454, or LH999")
    said = Says([Candidate("flight", number, number, 1) for number in ("LH454", "LH999")])
    extract(store, ledger, said)
    assert claims(ledger) == ["fact.set", "fact.rejected"]
    assert values(store, ledger) == {"flight": ("LH454", "user")}


def test_two_runs_at_once_record_each_claim_once(open_shared: OpenStore) -> None:
    ledger = conversation(open_shared(), *DELIVERY)
    both = threading.Barrier(2)

    def slowly(turns: object) -> tuple[Candidate, ...]:
        both.wait(timeout=30)  # now both have read, and neither has recorded
        return FOUND

    stores = [open_shared(), open_shared()]
    done = at_once([partial(extract, one, "case", Says(slowly)) for one in stores])
    assert [len(one.recorded) for one in done if isinstance(one, Extracted)] == [4, 4]
    assert sorted(claims(ledger)) == sorted(LED_TO)
    assert len(runs(ledger)) == 2
    assert values(open_shared(), ledger) == {"delivery_day": ("Fridays", "user"), "note": ("green", "user")}


def extract_by_rules(address: str, who: int) -> int:
    """One run in a process of its own."""
    with connect(address) as ledgers:
        return len(extract(ledgers, "case", RuleExtractor()).recorded)


def test_processes_at_once_record_each_claim_once(open_shared: OpenStore) -> None:
    days = [day for day in DAYS.split("|") for _ in range(3)]
    ledger = conversation(open_shared(), *(f"no, {day}s" if place % 2 == 0 else "Noted." for place, day in enumerate(days)))
    with processes(3) as pool:
        pool.starmap(extract_by_rules, [(open_shared.address, who) for who in range(3)])
    said = [days[place] for place in range(0, len(days), 2)]
    stood = [value.value for value in view(open_shared(), ledger.name).history("delivery_day").values]
    assert stood == [f"{day}s" for place, day in enumerate(said) if place == 0 or said[place - 1] != day]
    assert "contradiction.recorded" not in claims(ledger)


def extract_and_die(address: str, appends: int) -> None:
    """A run that is killed when it is about to append once more than so often."""
    left = iter(range(appends))

    def clock() -> int:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return system_clock()

    with connect(address, clock=clock) as ledgers:
        extract(ledgers, "case", Says(FOUND))


@pytest.mark.parametrize("appends", range(5))
def test_a_run_that_is_killed_is_made_up_for(open_shared: OpenStore, appends: int) -> None:
    ledger = conversation(open_shared(), *DELIVERY)
    child = get_context("forkserver").Process(target=extract_and_die, args=(open_shared.address, appends))
    child.start()
    child.join(timeout=60)
    assert child.exitcode == -signal.SIGKILL
    assert (len(claims(ledger)), runs(ledger)) == (appends, [])
    store = open_shared()
    extract(store, "case", Says(FOUND))
    assert claims(ledger) == LED_TO
    assert len(runs(ledger)) == 1
    assert values(store, ledger) == {"delivery_day": ("Fridays", "user"), "note": ("green", "user")}


def test_what_cannot_be_read_whole_is_not_read_for_ever(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    broken = Says(FOUND, incomplete="turn 5 was cut")
    read = [extract(store, "case", broken).turns for _ in range(5)]
    assert read == [(1, 2, 3, 4, 5)] * 3 + [()] * 2
    ledger.record_turn("user", "And on Sundays.")
    assert extract(store, "case", broken).turns == (6,)
