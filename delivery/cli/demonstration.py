"""The demonstration: the refund case recorded, then asked at two points of its history."""

from __future__ import annotations

import os
import shlex
from typing import Any, Final

import orjson
import typer

from delivery.app import DEFAULT_STORE, STORE_VARIABLE, open_store
from delivery.cli.answers import print_brief
from delivery.cli.arguments import AsJson
from delivery.cli.auditing import print_audit
from delivery.cli.explaining import explained_json, print_explained
from delivery.cli.forgettings import print_forgettings
from delivery.cli.preparing import shown_place
from delivery.cli.printing import counted, print_json, print_text
from delivery.cli.refund_case import NAME, record_refund_case
from delivery.cli.states import print_state, state_json
from delivery.cli.window_answers import print_window, print_window_diff
from ledger import connect
from ledger.verify import verify_store
from projections.policy import Policy
from replay import Turn, view
from replay.audit import audit
from replay.view import View
from replay.window_diff import diff_windows

DEMO_STORE: Final = "./context-ledger-demo.db"
"""Where the case is recorded, unless a store is named."""

_POLICY: Final = Policy(tail_turns=4, budget_tokens=1_000)
_SMALLER: Final = Policy(tail_turns=4, budget_tokens=600)
_FIELD: Final = "amount"
_BEFORE: Final = Turn(10)


def demo(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Record a refund case, and show what can be asked of it.

    Window, state, history and handoff at two points in time. The store is ./context-ledger-demo.db, unless one is named.
    """
    chosen = context.obj != DEFAULT_STORE or os.environ.get(STORE_VARIABLE)
    place = str(context.obj) if chosen else DEMO_STORE
    with open_store(place) as store:
        record_refund_case(store.ledger(NAME))
        before, now = view(store, NAME, at=_BEFORE), view(store, NAME)
        if as_json:
            print_json(orjson.dumps({"store": shown_place(place)["store"], "ledger": NAME, **_answers(before, now)}))
            return
        _print_answers(before, now)
        _title("Audit: where the tokens go")
        print_audit(audit(store, [NAME], policies={}))
    _title("Forgetting a turn with the number of a card, in a copy")
    _print_forgetting()
    _title("Go on")
    print_text(f"export {STORE_VARIABLE}={shlex.quote(shown_place(place)['store'])}")
    for command in (
        f"show {NAME}",
        f"window {NAME} --at turn:10 --render anthropic --json",
        f"window {NAME} --policy support --budget 600 --turns",
        f"explain {NAME} {_FIELD}",
        f"audit {NAME}",
        "verify",
    ):
        print_text(f"context-ledger {command}")


def _answers(before: View, now: View) -> dict[str, Any]:
    """The answers as the single commands give them."""
    return {
        "before": {name: orjson.Fragment(answer) for name, answer in _asked(before).items()},
        "now": {name: orjson.Fragment(answer) for name, answer in _asked(now).items()},
        "smaller": orjson.Fragment(diff_windows(now.window(_POLICY), now.window(_SMALLER)).to_json()),
        "history": orjson.Fragment(explained_json(now.history(_FIELD), now.explain(_FIELD))),
        "handoff": orjson.Fragment(now.handoff().to_json()),
    }


def _asked(view: View) -> dict[str, bytes]:
    state = view.state()
    return {"window": view.window(_POLICY).to_json(), "state": state_json(state, state.shown())}


def _print_answers(before: View, now: View) -> None:
    for title, asked in (("as of turn 10, before the amount was corrected", before), ("now", now)):
        _title(f"Window, {title}")
        print_window(asked.window(_POLICY))
        _title(f"State, {title}")
        state = asked.state()
        print_state(state, state.shown())
    _title(f"What {_SMALLER.budget_tokens} tokens would change of it")
    print_window_diff(diff_windows(now.window(_POLICY), now.window(_SMALLER)))
    _title("History of the amount")
    print_explained(now.history(_FIELD), now.explain(_FIELD), {turn.number: turn for turn in now.transcript().turns})
    _title("Handoff to a fresh session")
    print_brief(now.handoff().brief)


def _print_forgetting() -> None:
    """The copy ends with this, so that the recorded case stays as the other commands show it."""
    with connect(":memory:") as store:
        case = store.ledger(NAME)
        record_refund_case(case)
        case.record_turn("user", "My card, if you need it: 4000 1234 5678 9010")
        turn, version = view(store, NAME).transcript().turns[-1].number, case.version
        case.record_turn("assistant", "Thank you, I do not need it.")
        print_forgettings([case.forget(turns=[turn], reason="nobody needs the number")], as_json=False)
        checked = verify_store(store)
        print_text(f"verify: {counted(checked.events, 'event')}, {counted(len(checked.problems), 'problem')}")
        shown = view(store, NAME, at=version).window(_POLICY).text
        print_text(f"the window of version {version}, when the number was there, ends now with:\n")
        print_text(shown[shown.index(f"## Turn {turn}") :].rstrip())


def _title(text: str) -> None:
    print_text(f"\n=== {text} {'=' * max(0, 90 - len(text))}\n")
