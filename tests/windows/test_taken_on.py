"""Windows of one process take on what was made of those before: they are those of a process that begins anew."""

from __future__ import annotations

import gc
from pathlib import Path
from weakref import ref

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.parts import ImagePart, ToolCallPart
from projections.pieces import TurnPiece
from projections.policy import Policy
from projections.window import Window
from replay import view
from replay.turns.ledger_turns import bring_up_to_date
from tests.projections.histories import PNG
from tests.render.scenes import PROVIDERS

POLICIES = (Policy(budget_tokens=700, tail_turns=4), Policy(budget_tokens=6_000, tail_turns=3))


def look(case: Ledger, page: int, tool: str = "read page") -> None:
    """A call whose id comes again and again, with a result that is worth a stub."""
    call = ToolCallPart(call_id=f"call_{page % 3}", tool=tool, arguments=JsonText.of({"page": page}))
    case.record_turn("assistant", [call])
    case.record_return(call.call_id, f"Berth B-{page:02} has forty cranes and a depth of {page} fathoms. " * 12)


def windows(store: Ledgers, at: int | None = None) -> list[tuple[object, ...]]:
    """All that is told of the windows of a version: of no more policies and forms than a process remembers."""
    seen = view(store, "elsa", at=at)
    found = [seen.window(policy, render=form) for form in PROVIDERS for policy in POLICIES]
    return [(one.request_bytes, one.tokens, one.rendering.calls, one.rendering.tools) for one in found]


@pytest.mark.parametrize("is_counted", [False, True], ids=["", "counted before"])
def test_windows_turn_after_turn_are_those_of_a_process_that_begins_anew(tmp_path: Path, is_counted: bool) -> None:
    path = str(tmp_path / "harbour.db")
    with connect(path) as store:
        case = store.ledger("elsa")
        picture = case.store_artifact(PNG, media_type="image/png")
        case.record_turn("system", "You plan berths.")
        for page in range(1, 25):
            case.record_turn("user", f"Is B-{page:02} deep enough? Never use B-07.")
            if page % 2:
                look(case, page, "read.page" if page == 17 else "read page")
            if page % 5 == 0:
                case.record_turn("user", [ImagePart(sha256=picture, media_type="image/png")])
            if page == 12:
                case.record_turn("system", "Be exact.")
            case.record_turn("assistant", f"B-{page:02} is {page} fathoms deep.")
            case.set_fact("berth", f"B-{page:02}", source="user")
            if is_counted:  # what stubs are made of is made ready then
                bring_up_to_date(store, "elsa", encoding="o200k_base")
            kept = windows(store)
            with connect(path) as anew:
                assert kept == windows(anew)
            if page % 6 == 0:
                earlier = windows(store, at=case.version - 9)
                with connect(path) as anew:
                    assert earlier == windows(anew, at=case.version - 9)


def asked(store: Ledgers, text: str) -> Window:
    """The window after one more turn, with its request made."""
    store.ledger("elsa").record_turn("user", text)
    window = view(store, "elsa").window(POLICIES[0])
    assert text.encode() in window.request_bytes
    return window


def test_a_window_has_the_messages_of_the_one_before_where_both_begin_alike(tmp_path: Path) -> None:
    with connect(str(tmp_path / "harbour.db")) as store:
        for number in range(4):
            asked(store, f"B-{number:02}?")
            store.ledger("elsa").record_turn("assistant", "Which one?")
        before, after = asked(store, "B-05?").exact["messages"], asked(store, "B-06?").exact["messages"]
        assert all(one is other for one, other in zip(before[:6], after[:6], strict=True))


def test_nothing_is_taken_on_over_a_forgetting(tmp_path: Path) -> None:
    path = str(tmp_path / "harbour.db")
    with connect(path) as store:
        asked(store, "Ivo wants a berth.")
        store.ledger("elsa").record_turn("assistant", "Which one?")
        planned = view(store, "elsa").window(POLICIES[0])
        later = asked(store, "B-07, says Ivo.")
        last = later.plan.pieces[-1]
        assert isinstance(last, TurnPiece)
        left = ref(last)
        store.forget(ledger="elsa", turns=[1, 3], reason="asked to", answers=[])
        assert b"Ivo" in planned.request_bytes, "it was chosen before"
        del later, last, planned
        found = view(store, "elsa").window(POLICIES[0])
        assert b"Ivo" not in found.request_bytes
        with connect(path) as anew:
            assert found.request_bytes == view(anew, "elsa").window(POLICIES[0]).request_bytes
        gc.collect()
        assert left() is None, "nothing of it is kept"
