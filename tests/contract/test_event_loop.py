"""Every method may be called from a coroutine: none hides a loop of its own or waits for the one that runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest

from ledger import Ledger, Ledgers
from ledger import events as e
from ledger.parts import Problem, TextPart, ToolCallPart
from ledger.served import Served
from projections.policy import Policy
from replay import view
from replay.fetching_ids import UnknownResult
from replay.view import View
from tests.contract.stores import OpenStore

HANGS_SECONDS: Final = 60.0
"""How long a call may take before it is taken for one that never returns."""


class Index:
    """Something that keeps what is derived."""

    name = "index"

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """It holds nothing."""


def forgotten_and_taken_again(store: Ledgers) -> None:
    store.forget(ledger="case", reason="asked for")
    store.reauthorise(ledger="case", because="they came back")


LEDGERS: Final[dict[str, Callable[[Ledgers], object]]] = {
    "ledger": lambda store: store.ledger("new", task="refund"),
    "head": lambda store: store.head("case"),
    "heads": lambda store: store.heads(),
    "follow": lambda store: list(store.follow(idle_seconds=0)),
    "lag": lambda store: store.lag(0),
    "store": lambda store: store.store.last_position(),
    "clock": lambda store: store.clock(),
    "forget": lambda store: store.forget(ledger="case", reason="asked for"),
    "forgettings": lambda store: store.forgettings(),
    "resume_forgetting": lambda store: store.resume_forgetting(),
    "reauthorise": forgotten_and_taken_again,
    "retain": lambda store: store.retain(),
    "derives": lambda store: store.derives(Index()),
    "no_longer_derives": lambda store: store.no_longer_derives("index"),
    "close": lambda store: store.close(),
}

SUMMARY: Final[dict[str, Any]] = {
    "first_turn": 1,
    "last_turn": 1,
    "through_version": 3,
    "inputs": "0" * 64,
    "summariser": "extractive/1",
}
WINDOW: Final[dict[str, Any]] = {
    "policy": "0" * 64,
    "declared": "{}",
    "of_version": 3,
    "form": "text",
    "engine": "2",
    "erasures": 0,
    "bytes_digest": "0" * 64,
    "tokens": 9,
    "encoding": "o200k_base",
    "plan": "[]",
}


@dataclass(frozen=True)
class OneWindow:
    """A window of a ledger, as far as it is recorded."""

    ledger: str

    def served(self) -> Served:
        """What is recorded of it."""
        return Served(ledger=self.ledger, **WINDOW, judged_at=None, rules=None, tools=b"[]")


LEDGER: Final[dict[str, Callable[[Ledger], object]]] = {
    "name": lambda case: case.name,
    "version": lambda case: case.version,
    "events": lambda case: list(case.events()),
    "open": lambda case: case.open(task="refund"),
    "close": lambda case: case.close("done"),
    "record_turn": lambda case: case.record_turn("user", "hello", idempotency_key="k"),
    "record_return": lambda case: case.record_return("c1", {"charges": 2}),
    "declare": lambda case: case.declare({"title": "Refund", "properties": {"order": {"type": "string"}}}),
    "reject_fact": lambda case: case.reject_fact("order", "?", source="inferred", problems=[Problem(rule="quote", why="none")]),
    "set_fact": lambda case: case.set_fact("amount", 4_180, source="user"),
    "retract_fact": lambda case: case.retract_fact("order", source="user"),
    "add_entry": lambda case: case.add_entry("open", "which charge?", source="inferred"),
    "set_facts": lambda case: case.set_facts({"order": "7", "card": "4"}, source="tool"),
    "close_entry": lambda case: case.close_entry("en_4", source="interface", because="answered"),
    "artifact": lambda case: case.artifact("0" * 64),
    "store_artifact": lambda case: case.store_artifact(b"a page"),
    "record_evidence": lambda case: case.record_evidence("29", quote="29", artifact=case.store_artifact(b"29 EUR")),
    "record_contradiction": lambda case: case.record_contradiction("price", [e.Side(version=1), e.Side(version=2)]),
    "resolve_contradiction": lambda case: case.resolve_contradiction("con_5", because="asked", source="user"),
    "record_outcome": lambda case: case.record_outcome("completed", judge="reviewer"),
    "classify": lambda case: case.classify(1, "keep", because="it is the order"),
    "record_summary": lambda case: case.record_summary("They asked.", **SUMMARY),
    "record_served": lambda case: case.record_served(**WINDOW),
    "record_window": lambda case: case.record_window(OneWindow(case.name)),
    "forget": lambda case: case.forget(turns=[1], reason="asked for"),
    "decline_forgetting": lambda case: case.decline_forgetting(1, because="it is on an open order"),
    "set_retention": lambda case: case.set_retention("30 days"),
    "place_hold": lambda case: case.place_hold(because="case 17"),
    "lift_hold": lambda case: (case.place_hold(because="case 17"), case.lift_hold(because="closed")),
    "append": lambda case: case.append([e.TurnRecorded(turn=3, role="user", parts=(TextPart(text="x"),))], expected_version=5),
}


def nothing_to_fetch(seen: View) -> None:
    """No tool has returned anything yet."""
    with pytest.raises(UnknownResult):
        seen.fetch("r_5")


VIEW: Final[dict[str, Callable[[View], object]]] = {
    "version": lambda seen: seen.version,
    "basis": lambda seen: seen.basis(),
    "transcript": lambda seen: seen.transcript().to_json(),
    "state": lambda seen: seen.state().block,
    "window": lambda seen: seen.window().request_bytes,
    "handoff": lambda seen: seen.handoff().brief,
    "history": lambda seen: seen.history("order").to_json(),
    "value": lambda seen: seen.value("order"),
    "fields": lambda seen: seen.fields(),
    "explain": lambda seen: seen.explain("order"),
    "schema": lambda seen: seen.schema(),
    "rejected": lambda seen: seen.rejected(),
    "read_through": lambda seen: seen.read_through("rules"),
    "unread": lambda seen: seen.unread("rules"),
    "forgotten": lambda seen: seen.forgotten(),
    "fetch": nothing_to_fetch,
    "search": lambda seen: seen.search("refund").hits,
    "missing_summaries": lambda seen: seen.missing_summaries(Policy()),
    "forget_requests": lambda seen: seen.forget_requests(),
}


def public(model: type[Any], *instance: str) -> set[str]:
    """The public names of a class, and of what its instances have besides."""
    return {name for name in dir(model) if not name.startswith("_")} | set(instance)


def test_no_method_is_left_out() -> None:
    assert (set(LEDGERS), set(LEDGER)) == (public(Ledgers, "store", "clock"), public(Ledger))
    assert set(VIEW) == public(View, "version")


def in_a_loop(call: Callable[[], object]) -> object:
    """What a call returns inside a running loop, where other tasks wait too."""
    answers: list[object] = []
    failures: list[BaseException] = []

    async def main() -> None:
        ticking = asyncio.create_task(asyncio.sleep(0))
        answers.append(call())
        await ticking

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001 - told to the thread that waits
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANGS_SECONDS)
    assert not thread.is_alive(), "the call never returned"
    assert failures == []
    return answers[0]


@pytest.fixture
def store(open_store: OpenStore) -> Ledgers:
    """A store with a ledger in which a call waits, a field holds, an entry is open and a contradiction too."""
    opened = open_store()
    case = opened.ledger("case")
    case.record_turn("user", "Charged twice. Please forget my address.")
    case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="look", arguments={})])  # type: ignore[arg-type]
    case.set_fact("order", "ORD-88213", source="user")
    case.add_entry("open", "which card?", source="inferred")
    case.record_contradiction("price", [e.Side(version=1), e.Side(version=3)])
    return opened


@pytest.mark.parametrize("name", LEDGERS)
def test_a_store_is_used_inside_a_loop(store: Ledgers, name: str) -> None:
    in_a_loop(partial(LEDGERS[name], store))


@pytest.mark.parametrize("name", LEDGER)
def test_a_ledger_is_used_inside_a_loop(store: Ledgers, name: str) -> None:
    in_a_loop(partial(LEDGER[name], store.ledger("case")))


@pytest.mark.parametrize("name", VIEW)
def test_a_view_is_used_inside_a_loop(store: Ledgers, name: str) -> None:
    in_a_loop(lambda: VIEW[name](view(store, "case")))


def test_a_store_is_opened_and_closed_inside_a_loop(open_shared: OpenStore) -> None:
    """With a context manager, as a coroutine would."""

    def use() -> int | None:
        with open_shared() as opened:
            return opened.ledger("case").record_turn("user", "hello")

    assert in_a_loop(use) == 1
