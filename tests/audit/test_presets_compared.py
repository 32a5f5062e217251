"""The figures by which presets are compared in ``bench/presets.py``, on conversations that can be counted by hand."""

from __future__ import annotations

import pytest

from bench.presets import BUDGET_TOKENS, Run, run_of, stated_by_user, used_again
from bench.trimming import is_installed, trimmer
from ledger import Ledgers
from projections.framing import MESSAGE_TOKENS, REQUEST_TOKENS
from projections.render.renderer import Request
from replay import view
from tests.audit.talking import COUNT, PAGE, look_up, say


def request(*messages: tuple[str, str]) -> Request:
    return {"messages": [{"role": role, "content": content} for role, content in messages]}


def cost(*messages: tuple[str, str]) -> int:
    return REQUEST_TOKENS + sum(MESSAGE_TOKENS + COUNT(role) + COUNT(content) for role, content in messages)


ASKED = ("user", "Where is ORD-00007?")
TOLD = ("assistant", "In GHENT-4, on shelf B-117.")
AGAIN = ("user", "And ORD-90008?")


@pytest.fixture
def case(store: Ledgers) -> Ledgers:
    """ORD-00007 and ORD-90008 are the user's; ORD-00031 was returned and used, ORD-00032 only returned."""
    ledger = store.ledger("case")
    say(ledger, "Where is ORD-00007?")
    look_up(ledger, "search", "ORD-00007", PAGE)
    say(ledger, "And ORD-90008?", "It is with ORD-00031.", "Thanks!", "Welcome!")
    return store


def test_costs_caches_and_faults_are_those_of_all_requests() -> None:
    first, second = (ASKED,), (ASKED, TOLD, AGAIN)
    requests = [(2, request(*first)), (4, request(*second)), (6, None), (8, request(TOLD)), (10, request(("user", PAGE * 8)))]
    run = run_of(Run("source", "case"), iter(requests), [])
    assert (run.decisions, run.refused, run.invalid, run.over) == (4, 1, 1, 1)
    assert cost(("user", PAGE * 8)) > BUDGET_TOKENS
    assert run.tokens == cost(*first) + cost(*second) + cost(TOLD) + cost(("user", PAGE * 8))
    assert run.cached == cost(*first) + 2 * REQUEST_TOKENS
    assert run.last == cost(("user", PAGE * 8))


def test_what_the_user_stated_and_what_was_used_again_are_told_apart(case: Ledgers) -> None:
    turns = view(case, "case").transcript().turns
    assert stated_by_user(turns) == ["ORD-00007", "ORD-90008"]
    assert used_again(turns) == ["ORD-00007", "ORD-00031"]


def test_what_does_not_stand_in_the_last_request_is_lost(case: Ledgers) -> None:
    """Strings of later turns than the one that was asked for are not looked for, and earlier requests do not count."""
    turns = view(case, "case").transcript().turns
    whole = request(ASKED, TOLD, AGAIN)
    run = run_of(Run("source", "case"), iter([(2, whole), (6, request(AGAIN))]), turns)
    assert (run.stated, run.lost_stated, run.used, run.lost_used) == (2, ["ORD-00007"], 2, ["ORD-00007", "ORD-00031"])
    run = run_of(Run("source", "case"), iter([(2, request(AGAIN)), (3, whole)]), turns)
    assert (run.stated, run.lost_stated, run.used, run.lost_used) == (1, [], 1, [])


def test_what_stands_in_the_arguments_of_a_call_is_there(case: Ledgers) -> None:
    function = {
        "name": "search",
        "arguments": '{"path": "C:\\\\depots\\\\ORD-00007", "also": "ORD-9\\u0030\\u0030\\u0030\\u0038"}',
    }
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    turns = view(case, "case").transcript().turns
    run = run_of(Run("source", "case"), iter([(6, {"messages": [calls]})]), turns)
    assert run.lost_stated == []


@pytest.mark.skipif(not is_installed(), reason="langchain-core is not installed (extra bench)")
def test_langchain_keeps_the_last_messages_that_fit() -> None:
    system = ("system", "Answer in one line.")
    budget = cost(system, AGAIN, TOLD)
    trim = trimmer(budget, COUNT)
    assert trim(request(system, ASKED, TOLD, AGAIN, TOLD)) == request(system, AGAIN, TOLD)
    assert trimmer(budget - 1, COUNT)(request(system, ASKED, TOLD, AGAIN, TOLD)) == request(system)
