"""What a tool returned comes back whole, by the id in its stub, and never once it is forgotten."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.erased import Forgotten
from ledger.errors import CorruptRecord
from ledger.parts import DocumentPart, ImagePart, JsonPart, TextPart, ToolCallPart
from ledger.standing import result_id
from ledger.store import Store
from replay import Turn, view
from replay.fetching_ids import UnknownResult
from tests.contract.stores import CATALOGUE, OpenStore
from tests.replay.long_ledgers import reads_only

NASTY = 'line one\r\nline "two"\t\x00\u2028\ud800 end\n'


@pytest.fixture(params=CATALOGUE)
def open_store(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    """Opens handles on one new store, of each kind in turn."""
    store = CATALOGUE[request.param](tmp_path)
    yield store
    store.close()


def call(case: Ledger, call_id: str, tool: str = "look") -> int:
    """A turn that calls a tool; its number."""
    turn = case.record_turn("assistant", [ToolCallPart(call_id=call_id, tool=tool, arguments=JsonText("{}"))])
    assert turn is not None
    return turn


def test_parts_and_text_come_back_as_they_were(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    turn = call(case, "c1", "read_file")
    source = JsonText('{"b": 4050.10, "a": [1,  2], "n": 18446744073709551617}')
    parts = (TextPart(text=NASTY), JsonPart(value=source))
    version = case.record_return("c1", list(parts), is_error=True)
    found = view(store, "case").fetch(result_id(version))
    assert found.parts == parts
    assert found.text == f"{NASTY}\n{source}"
    assert found.content == f"{NASTY}\n{source}".encode("utf-8", "surrogatepass")
    assert (found.id, found.version, found.turn, found.call_id, found.tool) == ("r_2", 2, turn, "c1", "read_file")
    assert (found.is_error, found.forgotten, found.basis.version) == (True, None, 2)
    answer = json.loads(found.to_json())
    assert (answer["call"], answer["tool"], answer["basis"]["ledger"]) == ("c1", "read_file", "case")
    assert answer["parts"][0] == {"type": "text", "text": NASTY}


def test_a_large_result_is_a_compressed_row_and_comes_back_whole(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    call(case, "c1")
    text = "\n".join(f"row {number}: value {number % 7}" for number in range(50_000))
    version = case.record_return("c1", text)
    assert view(store, "case").fetch(result_id(version)).text == text
    assert stored_bytes(store) < len(text) // 2


def stored_bytes(store: Ledgers) -> int:
    """What all payloads take as they are stored."""
    connections: Any = store.store._connections  # type: ignore[attr-defined]
    if hasattr(connections, "rows"):
        return int(connections.rows("SELECT sum(octet_length(payload)) FROM context_ledger.payloads")[0][0])
    with connections.reading() as connection:
        return int(connection.execute("SELECT sum(length(payload)) FROM payloads").fetchone()[0])


def test_bytes_of_pictures_and_documents_come_with_it(store: Ledgers, case: Ledger) -> None:
    content = random.Random(1).randbytes(9_000)
    sha256 = case.store_artifact(content, media_type="image/png")
    call(case, "c1")
    parts = [ImagePart(sha256=sha256, media_type="image/png"), DocumentPart(url="https://example.org/a.pdf")]
    version = case.record_return("c1", parts)
    found = view(store, "case").fetch(result_id(version))
    assert found.artifacts == {sha256: content}
    assert found.parts == tuple(parts)
    assert json.loads(found.to_json())["artifacts"] == {sha256: 9_000}
    case.forget(artifacts=[sha256], reason="asked to", scrub=False)
    gone = view(store, "case").fetch(result_id(version))
    assert gone.artifacts == {}
    assert sha256.encode() not in gone.to_json()
    assert any(isinstance(part, Forgotten) for part in gone.parts)


def test_missing_bytes_are_damage_and_no_forgetting(store: Ledgers, case: Ledger) -> None:
    sha256 = case.store_artifact(b"page")
    call(case, "c1")
    version = case.record_return("c1", [DocumentPart(sha256=sha256)])

    class Damaged:
        """A store that lost its blobs."""

        def __getattr__(self, name: str) -> Any:
            return getattr(store.store, name)

        def blob(self, ledger: bytes, sha256: str) -> None:
            """See ``Store``."""

    damaged: Any = Damaged()
    with pytest.raises(CorruptRecord, match="a backup has them"):
        view(Ledgers(damaged, store.clock), "case").fetch(result_id(version))


@pytest.mark.parametrize(
    "wanted", ["r_1", "r_0", "r_99", "r_-2", "r_2.0", "r_", "R_2", "x", "", "job_2", "r_2 ", "r_٢", "r_" + "9" * 30]
)
def test_an_unknown_id_is_told_with_those_that_there_are(store: Ledgers, case: Ledger, wanted: str) -> None:
    call(case, "c1")
    version = case.record_return("c1", "found")
    with pytest.raises(UnknownResult, match="r_2") as caught:
        view(store, "case").fetch(wanted)
    assert (caught.value.nearest, caught.value.last) == ([result_id(version)], "r_2")


def test_the_nearest_ids_stand_on_both_sides(store: Ledgers, case: Ledger) -> None:
    for number in range(5):
        call(case, f"c{number}")
        case.record_return(f"c{number}", "found")
    with pytest.raises(UnknownResult) as caught:
        view(store, "case").fetch("r_5")
    assert (caught.value.nearest, caught.value.last) == (["r_4", "r_6"], "r_10")
    with pytest.raises(UnknownResult) as caught:
        view(store, "case", at=7).fetch("r_99")
    assert caught.value.last == "r_6"


def test_where_no_tool_was_called_it_says_so(store: Ledgers, case: Ledger) -> None:
    case.record_turn("user", "hello")
    with pytest.raises(UnknownResult, match="no tool has returned anything"):
        view(store, "case").fetch("r_1")


def test_a_view_of_the_past_does_not_know_what_came_later(store: Ledgers, case: Ledger) -> None:
    call(case, "c1")
    case.record_turn("user", "still waiting")
    version = case.record_return("c1", "found")
    assert view(store, "case", at=version).fetch("r_3").text == "found"
    with pytest.raises(UnknownResult):
        view(store, "case", at=version - 1).fetch("r_3")
    assert view(store, "case", at=Turn(2)).fetch("r_3").turn == 1


def test_a_forgotten_result_is_marked_in_every_view(store: Ledgers, case: Ledger) -> None:
    call(case, "c1", "look_up")
    version = case.record_return("c1", "the secret")
    case.record_turn("assistant", "done")
    kept = view(store, "case")
    past = view(store, "case", at=version)
    assert kept.fetch("r_2").text == "the secret"
    case.forget(ids=["r_2"], reason="asked to", scrub=False)
    for seen in (kept, past, view(store, "case")):
        found = seen.fetch("r_2")
        assert found.forgotten is not None
        assert found.forgotten.reason == "asked to"
        assert (found.text, found.tool, found.call_id, found.turn) == ("[forgotten]", "look_up", "c1", 1)
        assert b"secret" not in found.to_json()
        assert json.loads(found.to_json())["forgotten"] is True
    case.forget(turns=[1], reason="asked to", scrub=False)
    assert kept.fetch("r_2").tool is None


class Forgetting:
    """A store that is told to forget just before the n-th read."""

    def __init__(self, store: Store, left: int, forget: Callable[[], object]) -> None:
        self._store, self._left, self._forget = store, left, forget

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, *given: Any) -> Any:
        """See ``Store``."""
        self._left -= 1
        if self._left == 0:
            self._forget()
        return self._store.read(*given)


@pytest.mark.parametrize("left", range(1, 8))
def test_what_is_forgotten_while_it_is_fetched_is_not_shown(store: Ledgers, case: Ledger, left: int) -> None:
    call(case, "c1")
    case.record_return("c1", "the secret")
    forgetting: Any = Forgetting(store.store, left, lambda: case.forget(ids=["r_2"], reason="asked to", scrub=False))
    found = view(Ledgers(forgetting, store.clock), "case").fetch("r_2")
    assert found.text == ("[forgotten]" if forgetting._left <= 0 else "the secret")


def test_what_is_past_its_retention_reads_as_forgotten() -> None:
    now = [1_900_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as store:
        case = store.ledger("case")
        call(case, "c1")
        case.record_return("c1", "the secret")
        case.set_retention("30 days", event_type="tool.returned")
        now[0] += 31 * 86_400 * 1_000_000
        call(case, "c2")
        case.record_return("c2", "fresh")
        seen = view(store, "case")
        assert (seen.fetch("r_2").text, seen.fetch("r_5").text) == ("[forgotten]", "fresh")
        assert seen.search("secret").hits == ()
        assert [hit.id for hit in seen.search("fresh").hits] == ["r_5"]
        then = datetime.fromtimestamp(1_900_000_000, UTC) + timedelta(days=5)
        assert view(store, "case", judged_at=then).fetch("r_2").text == "the secret"
        assert [hit.id for hit in view(store, "case", judged_at=then).search("secret").hits] == ["r_2"]


def test_only_the_result_and_its_call_are_read(store: Ledgers, case: Ledger) -> None:
    for number in range(200):
        case.record_turn("user", f"turn {number}")
    call(case, "c1")
    version = case.record_return("c1", hashlib.sha256(b"x").hexdigest())
    with reads_only(store, 4) as counted:
        assert view(counted, "case").fetch(result_id(version)).tool == "look"


def test_what_answers_no_call_comes_back_too(store: Ledgers, case: Ledger) -> None:
    case.append([e.ToolReturned(call_id="nobody", parts=(TextPart(text="found"),), tool="look", orphan=True)])
    found = view(store, "case").fetch("r_1")
    assert (found.text, found.tool, found.call_id, found.turn) == ("found", "look", "nobody", None)
