"""Whatever of a conversation was forgotten: its export brings in what is new, and nothing of that."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from delivery.importers.importing import import_file
from ledger import Ledgers, connect
from ledger.erased import Erased
from ledger.events import ToolReturned, TurnRecorded
from ledger.lineage import shown_by
from ledger.record import Recorded
from ledger.verify import verify_store

IDS = st.sampled_from("abc")
PICTURES = st.lists(st.sampled_from([b"one", b"two"]), max_size=2)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["system", "user", "assistant"]), PICTURES),
    st.tuples(st.just("call"), st.lists(IDS, min_size=1, max_size=2, unique=True)),
    st.tuples(st.just("tool"), st.tuples(IDS, PICTURES)),
)


def message(number: int, kind: str, what: Any) -> dict[str, Any]:
    """A message of a step, with a text that no other one has."""
    if kind == "call":
        calls = [{"id": name, "function": {"name": "find", "arguments": f'{{"n":"<{number}>"}}'}} for name in what]
        return {"role": "assistant", "content": f"<{number}>", "tool_calls": calls}
    pictures = what[1] if kind == "tool" else what
    urls = ["data:image/png;base64," + base64.b64encode(content).decode() for content in pictures]
    content = [{"type": "text", "text": f"<{number}>"}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]
    return {"role": kind, "content": content, **({"tool_call_id": what[0]} if kind == "tool" else {})}


def spoken(store: Ledgers) -> list[Recorded]:
    """The turns and returns of the ledger, or what is left of them."""
    return [item for item in store.ledger("case").events() if item.envelope.type in ("turn.recorded", "tool.returned")]


def forget(store: Ledgers, wanted: list[int]) -> None:
    """Forget turns and returns by their places, with all that belongs to them."""
    for place in wanted:
        item = (found := spoken(store))[place % len(found)]
        if not isinstance(item.event, Erased):
            store.forget(ledger="case", ids=[f"v_{item.version}"], reason="asked for")


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=14), st.integers(1, 14), st.lists(st.integers(0, 30), max_size=4))
def test_what_is_new_comes_in_and_what_was_forgotten_does_not(steps: list[Any], length: int, wanted: list[int]) -> None:
    messages = [message(number, *step) for number, step in enumerate(steps)]
    with tempfile.TemporaryDirectory() as folder, connect(":memory:") as store, connect(":memory:") as whole:
        path = Path(folder) / "talk.json"
        path.write_text(json.dumps(messages), encoding="utf-8")
        import_file(whole, path, ledger="case")
        path.write_text(json.dumps(messages[:length]), encoding="utf-8")
        import_file(store, path, ledger="case")
        forget(store, wanted)
        before = spoken(store)
        path.write_text(json.dumps(messages), encoding="utf-8")
        import_file(store, path, ledger="case")
        after = spoken(store)
        assert after[: len(before)] == before
        gone = {item.turn for item in before if isinstance(item.event, Erased) and item.envelope.type == "turn.recorded"}
        expected = [item.event for item in spoken(whole)]
        for place, item in enumerate(before):
            expected[place] = item.event if isinstance(item.event, Erased) else expected[place]
        rest = [event for event in expected[len(before) :] if event.type == "turn.recorded" or event.turn not in gone - {None}]
        assert [item.event for item in after] == expected[: len(before)] + rest
        for item in after:
            if isinstance(item.event, TurnRecorded | ToolReturned):
                assert all(store.ledger("case").artifact(sha256) for sha256 in shown_by(item.event))
        assert import_file(store, path, ledger="case").events == 0
        assert verify_store(store).ok
