"""What reading costs: the events that are asked for, however long the ledger, and no tokenizer where counts are kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers
from ledger.events import ToolReturned, TurnRecorded
from ledger.parts import DocumentPart, TextPart, ToolCallPart
from projections.basis import Basis
from replay.standing.state import standing_state
from replay.turns.ledger_turns import bring_up_to_date, turns_of
from tests.contract.stores import CATALOGUE, OpenStore
from tests.index.telling import ENCODING, Clock, anew, loaded_at
from tests.replay.long_ledgers import reads_only

ROOT = Path(__file__).resolve().parents[2]
BASIS = Basis("", 0, None, None, "", 0)
FIELDS = 20


@pytest.fixture(params=["sqlite-file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """A store on a disk or a server."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()


def talk(case: Ledger, turns: int) -> None:
    """Turns of which every third calls a tool, and every 50th states a fact; one result comes late."""
    case.record_turn("system", "You work for a depot.")
    for start in range(1, turns + 1, 60):
        events: list[TurnRecorded | ToolReturned] = []
        for number in range(start, min(start + 60, turns + 1)):
            if number % 3:
                events.append(TurnRecorded(role="user", parts=(TextPart(text=f"The words of turn {number}."),), turn=number))
                continue
            call = ToolCallPart(call_id=f"c{number}", tool="look", arguments=JsonText.of({"n": number}))
            events.append(TurnRecorded(role="assistant", parts=(call,), turn=number))
            if number != 3:
                found = (TextPart(text=f"What turn {number} found."),)
                events.append(ToolReturned(call_id=call.call_id, parts=found, turn=number))
        case.append(events)
        case.set_fact(f"field {start // 60 % FIELDS}", start, source="user")
    case.record_return("c3", "late", turn=3)


def asked(ledgers: Ledgers, version: int) -> None:
    """What a window needs: the first turn, the last sixty, system texts, what was amended, and the state."""
    loaded = loaded_at(ledgers, "case", version)
    turns = turns_of(loaded, ENCODING)
    last = turns.last
    assert [told.turn.number for told in turns.between(last - 59, last)] == list(range(last - 59, last + 1))
    assert turns.at([1])[1].turn.text == "The words of turn 1."
    assert len(turns.system) == 1
    assert turns.amended(last) in (0, loaded.head.version)
    assert standing_state(loaded, BASIS, count=len).entities
    assert not loaded.is_read


@pytest.mark.parametrize("turns", [300, 3_000])
def test_a_window_reads_its_own_events_in_a_ledger_of_any_length(opened: OpenStore, turns: int) -> None:
    ledgers = opened(Clock())
    talk(ledgers.ledger("case"), turns)
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    head = ledgers.head("case")
    for version in (head.version, head.version // 2):
        cold = anew(ledgers)
        with reads_only(cold, 60 + 20 + 4 + 1 + FIELDS + 128) as counted:
            asked(counted, version)
            first = sum_of(counted)
        with reads_only(cold, 0) as other:
            assert sum_of(other) == 0
        assert first > 60


def sum_of(counted: Ledgers) -> int:
    """How many events were read."""
    return int(vars(counted.store)["read_rows"])


def test_a_warm_process_reads_only_what_is_new(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    talk(case, 300)
    with reads_only(ledgers, 2_000) as counted:
        asked(counted, ledgers.head("case").version)
        before = sum_of(counted)
        asked(counted, ledgers.head("case").version)
        assert sum_of(counted) == before
        case.record_turn("user", "One more.")
        loaded = loaded_at(counted, "case", ledgers.head("case").version)
        turns = turns_of(loaded, ENCODING)
        assert turns.between(turns.last - 59, turns.last)[-1].turn.text == "One more."
        standing_state(loaded, BASIS, count=len)
        assert sum_of(counted) == before + 1, "what was read to see what it is is read for its text, too"


def steps_of(work: Callable[[], object]) -> int:
    """How many functions a piece of work calls: how much it does, whatever else the machine does meanwhile."""
    steps = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return steps


def test_bringing_a_long_ledger_up_to_date_again_takes_no_more_steps(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    steps = []
    for name, turns in (("short", 150), ("long", 1_500)):
        case = ledgers.ledger(name)
        talk(case, turns)
        sha256 = case.store_artifact(b"The rules.", media_type="text/plain")
        case.record_turn("user", [DocumentPart(sha256=sha256, media_type="text/plain")])
        case.forget(artifacts=[sha256], reason="asked to")
        bring_up_to_date(ledgers, name, encoding=ENCODING)
        found = []
        for number in range(5):
            case.record_turn("user", f"One more, {number}.")
            found.append(steps_of(lambda name=name: bring_up_to_date(ledgers, name, encoding=ENCODING)))  # type: ignore[misc]
        steps.append(sorted(found)[2])
    assert steps[1] < steps[0] * 1.2


def test_a_read_writes_only_once_in_a_while(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    talk(case, 300)

    class Writes:
        """A store that counts how often something derived is written."""

        written = 0

        def __getattr__(self, name: str) -> object:
            if name.startswith("derived_put"):
                Writes.written += 1
            return getattr(ledgers.store, name)

    store: object = Writes()
    seen = Ledgers(store, ledgers.clock)  # type: ignore[arg-type]
    asked(seen, ledgers.head("case").version)
    began = Writes.written
    for number in range(40):
        case.record_turn("user", f"More, {number}.")
        turns = turns_of(loaded_at(seen, "case", ledgers.head("case").version), ENCODING)
        assert turns.at([turns.last])[turns.last].turn.text == f"More, {number}."
    assert Writes.written - began <= 2


SCRIPT = """
import sys
from ledger import connect
from replay.kept.counted import Counted
from replay.turns.ledger_turns import turns_of
from replay.loading import load
from replay.standing.state import standing_state
from projections.basis import Basis

with connect({address!r}) as store:
    head = store.head("case")
    loaded = load(store, head, None, None)
    turns = turns_of(loaded, "o200k_base")
    count = Counted(store.store, head.ledger, "o200k_base")
    found = [told.card.contents.tokens for told in turns.between(1, turns.last)] + [tokens for _, tokens in turns.system]
    state = standing_state(loaded, Basis("", 0, None, None, "", 0), count=count)
    found += [count("[3 turns are not shown]"), count(state.block)]
    print(*found)
    if {keeps}:
        count.keep()
    else:
        assert "tiktoken" not in sys.modules
"""


def run(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=100
    ).stdout


def test_a_process_that_reads_what_another_one_read_loads_no_tokenizer(opened: OpenStore) -> None:
    ledgers = opened(Clock())
    talk(ledgers.ledger("case"), 100)
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    first = run(SCRIPT.format(address=opened.address, keeps=True))
    assert first.strip()
    assert run(SCRIPT.format(address=opened.address, keeps=False)) == first


def test_all_turns_of_a_long_ledger_are_counted_once(opened: OpenStore) -> None:
    """So many that not all of them stay in memory."""
    ledgers = opened(Clock())
    case = ledgers.ledger("case")
    for start in range(1, 20_000, 2_000):
        parts = (TextPart(text="ok"),)
        case.append([TurnRecorded(role="user", parts=parts, turn=number) for number in range(start, start + 2_000)])
    bring_up_to_date(ledgers, "case", encoding=ENCODING)
    script = (
        "import sys\nfrom ledger import connect\nfrom replay.loading import load\n"
        "from replay.turns.ledger_turns import turns_of\n"
        f"with connect({opened.address!r}) as store:\n"
        "    turns = turns_of(load(store, store.head('case'), None, None), 'o200k_base')\n"
        "    found = turns.between(1, turns.last)\n"
        "    assert {told.card.contents.tokens for told in found} == {1}\n"
        "    assert 'tiktoken' not in sys.modules\n"
        "    print(len(found))\n"
    )
    assert run(script) == "20000\n"
