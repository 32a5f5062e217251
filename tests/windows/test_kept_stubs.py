"""The stubs of a segment are kept once it is compacted: windows as of versions before that show the same ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText, Ledgers, connect
from ledger.parts import ToolCallPart
from projections.policy import Policy
from replay import view
from replay.freshening import freshen
from replay.windows.middle_rows import packed_stubs
from replay.windows.middles import STUBS_KIND
from tests.projections.histories import Player, ticking
from tests.windows.policies import POLICIES
from tests.windows.stories import FORMS, Story, play, stories, told
from tests.windows.test_growing import NOT_SHRUNK, answered, content

POLICY = Policy(budget_tokens=1700)
TURNS = 160
COLD = """
import sys
from ledger import connect
from projections.policy import Policy
from replay import view

with connect(sys.argv[1]) as store:
    for version in sys.argv[3:]:
        print(view(store, "case", at=int(version)).window(Policy.model_validate_json(sys.argv[2])).request_bytes.hex())
    print("tiktoken" in sys.modules)
"""


def record(store: Ledgers, *, results: bool = True) -> None:
    """Many turns; of every three, one asks a tool for much."""
    case = store.ledger("case")
    for number in range(1, TURNS + 1):
        if number % 3 == 2 and results:
            call = ToolCallPart(call_id=f"c{number}", tool="weigh", arguments=JsonText.of({"crate": f"CR-{number:04}"}))
            case.record_turn("assistant", [call])
            case.record_return(f"c{number}", "\n".join(f"layer {row}: seal SL-{number + row:04}" for row in range(20)))
        else:
            said = f"Crate CR-{number:04} has seal SL-{number:04}. Do not stack it above {number % 5 + 1} layers."
            case.record_turn("user" if number % 3 else "assistant", said)


@pytest.fixture
def address(tmp_path: Path) -> str:
    """A store with one long ledger that was made ready."""
    place = str(tmp_path / "store.db")
    with connect(place) as store:
        record(store)
        freshen(store, "case", policy=POLICY)
    return place


def rows(store: Ledgers) -> dict[str, bytes]:
    """What is kept of stubs."""
    kept = store.store.derived_scan(STUBS_KIND, "", ledger=store.head("case").ledger).rows
    return {row.key: row.value for row in kept}


def versions(store: Ledgers) -> list[int]:
    """Versions about the middle of the ledger, each at the end of a turn of the user."""
    turns = view(store, "case").transcript().transcript.turns
    return [turn.version for turn in turns[TURNS // 3 : TURNS * 2 // 3] if turn.role == "user"][::4]


def windows(store: Ledgers) -> list[bytes]:
    """Windows as of these."""
    return [view(store, "case", at=version).window(POLICY).request_bytes for version in versions(store)]


def test_another_process_needs_no_tokenizer_as_of_the_middle(address: str) -> None:
    with connect(":memory:") as fresh:
        record(fresh)
        expected, asked = windows(fresh), versions(fresh)
    stubs, cuts = (sum(shown in window for window in expected) for shown in (b"; whole result:", b"left out; whole result:"))
    assert stubs == len(expected) > cuts > 0
    command = [sys.executable, "-c", COLD, address, POLICY.model_dump_json(), *map(str, asked)]
    *found, needed = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.split()
    assert [bytes.fromhex(window) for window in found] == expected
    assert needed == "False"


def test_there_are_none_where_there_are_no_results() -> None:
    with connect(":memory:") as store:
        record(store, results=False)
        freshen(store, "case", policy=POLICY)
        assert view(store, "case").window(POLICY).receipt.through > TURNS // 2
        assert rows(store) == {}


def test_they_are_small(address: str) -> None:
    with connect(address) as store:
        kept = rows(store)
        assert len(kept) == view(store, "case").window(POLICY).receipt.through // 8
        assert sum(map(len, kept.values())) < len(kept) * 250


@pytest.mark.parametrize("damaged", ["empty", "cut short", "of another form", "of another release"])
def test_what_cannot_be_read_is_made_anew(address: str, damaged: str) -> None:
    with connect(address) as store:
        expected, head = windows(store), store.head("case")
        earlier = packed_stubs(b'{"11":[{"version":12,"text":"[weigh]","tokens":4}]}')
        of_all = {"empty": b"", "of another form": b"x" * 40, "of another release": earlier}
        broken = {key: of_all.get(damaged, row[:-9]) for key, row in rows(store).items()}
        assert store.store.derived_put_many(head.ledger, STUBS_KIND, broken, erasures=head.erasures)
    with connect(address) as store:
        assert windows(store) == expected


def test_what_was_forgotten_is_in_none(address: str) -> None:
    with connect(address) as store:
        store.ledger("case").forget(turns=[50], reason="asked to")
        assert rows(store) == {}
        freshen(store, "case", policy=POLICY)
        assert rows(store)


@settings(deadline=None, max_examples=15, phases=NOT_SHRUNK)
@given(stories(), st.lists(POLICIES, min_size=1, max_size=2), st.sampled_from(FORMS))
def test_the_past_shows_the_same_whether_they_are_kept(story: Story, policies: list[Policy], form: str) -> None:
    with TemporaryDirectory() as folder, told(story) as fresh:
        place = str(Path(folder) / "store.db")
        with connect(place, clock=ticking()) as store:
            player = Player(store.ledger("case"))
            for step in story:
                play(player, step)
            for policy in policies:
                answered(view(store, "case"), policy, form)
        with connect(place, clock=ticking()) as store:
            last = store.ledger("case").version
            for version in range(1, last + 1, 1 + last // 20):
                for policy in policies:
                    made = [content(answered(view(one, "case", at=version), policy, form)) for one in (store, fresh)]
                    assert made[0] == made[1]
