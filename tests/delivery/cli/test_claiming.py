"""A person at a terminal states, confirms, takes back and decides; nothing that the user stated is overwritten by chance."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from delivery.cli.outcomes import outcome_of, print_outcome
from ledger import connect
from ledger.json_text import JsonText
from replay import view
from tests.delivery.cli.conftest import Command

MONEY = {"type": "string", "format": "money", "x-ledger": {"currencies": ["INR"], "aliases": ["sum"]}}
SCHEMA = {"title": "Case", "properties": {"amount": MONEY, "paid": {"type": "boolean", "x-ledger": {"aliases": ["done"]}}}}


@pytest.fixture
def declared(command: Command, store_path: Path) -> str:
    """A case with a schema, and an amount that the user stated."""
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        case = store.ledger("case", schema=SCHEMA)
        case.record_turn("user", "It was 4,180 INR.")
        case.set_fact("amount", "4,180 INR", turn=1, source="user")
    return "case"


def amount_of(command: Command, ledger: str) -> Any:
    """What stands as the amount."""
    return command("state", ledger, "--json").answer["sections"]["entities"]["amount"]


def test_a_value_is_set_as_said_through_the_interface(command: Command, refund: str) -> None:
    outcome = command("set", refund, "Delivery Time", "two days", "--turn", "4", "--by", "agent_7", "--json")
    assert outcome.code == 0
    answer = outcome.answer
    assert answer == {
        "ledger": refund,
        "version": 37,
        "event": "fact.set",
        "field": "delivery_time",
        "value": "two days",
        "was": None,
        "standing": {"value": "two days", "source": "interface", "turn": 4, "version": 37},
        "problems": [],
        "opened": [],
        "settled": [],
    }
    (step,) = command("explain", refund, "delivery time", "--json").answer["steps"]
    assert (step["source"], step["actor"]) == ("interface", "agent_7")


def test_what_a_tool_said_needs_no_naming(command: Command, refund: str) -> None:
    assert command("set", refund, "charge", "ch_7311").out == (
        f"{refund} at version 37: charge is ch_7311 (interface, version 37); it was ch_7312 (tool, turn 2, version 8)\n"
    )


@pytest.mark.parametrize("was", [(), ("--was", "4,180 INR")])
def test_what_the_user_stated_is_replaced_only_by_name(command: Command, refund: str, was: tuple[str, ...]) -> None:
    """Nothing is recorded, and the line says what stands and how to repeat the command."""
    outcome = command("set", refund, "amount", "4,100 INR", *was)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "context-ledger: 'amount' is 4,050 INR (user, turn 11, version 28); nothing was changed: to replace that value, "
        "repeat the command with --was '4,050 INR'\n"
    )
    assert command("ledgers", "--json").answer[0]["version"] == 36


def test_named_it_is_replaced_and_the_reason_is_kept(command: Command, refund: str) -> None:
    outcome = command("set", refund, "amount", "4,100 INR", "--was", "4,050 INR", "--because", "a typing error", "--json")
    assert outcome.code == 0
    assert outcome.answer["event"] == "fact.superseded"
    assert outcome.answer["was"]["value"] == "4,050 INR"
    assert command("explain", refund, "amount", "--json").answer["values"][1]["because"] == "a typing error"


def test_what_a_person_set_is_replaced_only_by_name_too(command: Command, refund: str) -> None:
    command("set", refund, "delivery", "express")
    assert command("set", refund, "delivery", "standard").code == 1
    assert command("set", refund, "delivery", "standard", "--was", "express").code == 0


@pytest.mark.parametrize(
    "value",
    [
        "it's  two\nlines\t\x1b[2J of \u202e text",
        "",
        " ",
        "-5",
        "4050",
        4050,
        1.5,
        True,
        None,
        {"a b": ["  c", 1]},
        "\udcb2",
        '"quoted"',
    ],
)
def test_the_way_out_can_be_copied_for_any_value(command: Command, store_path: Path, value: Any) -> None:
    """The word after --was names the value that stands, whatever it is, and holds nothing that steers a terminal."""
    command("init")
    with connect(str(store_path)) as store:
        store.ledger("case").set_fact("field", value, source="user")
    refused = command("set", "case", "field", "another")
    assert refused.code == 1
    assert refused.err.count("\n") == 1
    assert "\x1b" not in refused.err
    _, _, word = refused.err.partition("repeat the command with ")
    assert command("set", "case", "field", "another", *shlex.split(word)).code == 0


def test_the_standing_value_in_other_words_is_a_confirmation(command: Command, declared: str) -> None:
    """Under an alias, in another spelling, and without naming anything."""
    outcome = command("set", declared, "Sum", "INR 4180.00")
    assert outcome.code == 0
    assert outcome.out == "case at version 4: amount is INR 4180.00, confirmed; it was stated by user in turn 1, at version 3\n"


def test_the_value_may_be_named_in_any_spelling(command: Command, declared: str) -> None:
    assert command("set", declared, "sum", "4,050 INR", "--was", "INR 4180").code == 0
    assert amount_of(command, declared)["value"] == "4,050 INR"


def test_what_does_not_fit_is_recorded_with_every_problem(command: Command, declared: str) -> None:
    outcome = command("set", declared, "amount", "4.100 INR", "--was", "4,180 INR")
    assert (outcome.code, outcome.err) == (1, "")
    assert outcome.out.splitlines() == [
        "case at version 4: 4.100 INR is not taken as amount, and that is recorded",
        "  amount is 4,180 INR (user, turn 1, version 3)",
        '  ambiguous: "4.100 INR" may mean thousands or a fraction: leave the mark out, or write all decimals',
    ]
    answer = command("set", declared, "amount", "4,100 USD", "--json")
    assert answer.code == 1
    assert [problem["rule"] for problem in answer.answer["problems"]] == ["currency"]
    rejected = command("rejected", declared, "--json").answer["rejected"]
    assert [(one["version"], one["value"]) for one in rejected] == [(4, "4.100 INR"), (5, "4,100 USD")]
    assert "version 5: amount 4,100 USD, claimed by interface" in command("rejected", declared).out


@pytest.mark.parametrize(("value", "shown"), [("", '""'), ("  ", '" "'), ("\n", r'"\n"')])
def test_a_value_of_nothing_is_seen(command: Command, store_path: Path, value: str, shown: str) -> None:
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        store.ledger("case", schema={"title": "Case", "properties": {"note": {"type": "string"}, "free": {}}})
    refused = command("set", "case", "note", value)
    assert refused.code == 1
    assert refused.out.splitlines()[0] == f"case at version 2: {shown} is not taken as note, and that is recorded"
    assert command("set", "case", "free", value).out == f"case at version 3: free is {shown} (interface, version 3)\n"


@pytest.mark.parametrize(
    ("stands", "said", "told"),
    [(5, "5", '5, not "5" ('), ("5", "5", '"5", not 5 ('), ("a  b", '"a b"', r'"a \u0020b", not "a b" (')],
)
def test_values_that_look_alike_are_told_apart(command: Command, store_path: Path, stands: Any, said: str, told: str) -> None:
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        store.ledger("case").set_fact("x", stands, source="user")
    form = () if isinstance(stands, int) else ("--json-value",)
    refused = command("set", "case", "x", said, *form)
    assert refused.code == 1
    assert refused.err.startswith(f"context-ledger: 'x' is {told}user, version 1); nothing was changed: to replace")
    _, _, word = refused.err.partition("repeat the command with ")
    done = command("set", "case", "x", said, *form, *shlex.split(word))
    assert done.code == 0
    was, _, new = told.removesuffix(" (").partition(", not ")
    assert done.out == f"case at version 2: x is {new} (interface, version 2); it was {was} (user, version 1)\n"


def test_a_refused_value_is_told_from_one_that_stands_and_looks_alike(command: Command, store_path: Path) -> None:
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        case = store.ledger("case")
        case.set_fact("x", "5", source="tool")
        case.declare({"title": "Case", "properties": {"x": {"type": "string"}}})
    refused = command("set", "case", "x", "5", "--json-value")
    assert refused.out.splitlines()[:2] == [
        "case at version 3: 5 is not taken as x, and that is recorded",
        '  x is "5" (tool, version 1)',
    ]


def test_json_values_are_kept_as_they_are_written(command: Command, refund: str) -> None:
    source = '{"list":[1.50,12345678901234567890123],"none":null}'
    outcome = command("set", refund, "parcel", source, "--json-value", "--json")
    assert f'"value":{source}' in outcome.out
    wrong = command("set", refund, "parcel", "{", "--json-value")
    assert (wrong.code, wrong.out) == (2, "")
    assert "VALUE is no JSON" in wrong.err


def test_a_value_that_is_claimed_meanwhile_opens_a_contradiction_which_is_told(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two who look at the same time: the second claim names nothing, because nothing stood when it was made."""
    with connect(str(store_path)) as store:
        case = store.ledger("case")
        case.set_fact("amount", "4,180 INR", source="user")
        outcome = outcome_of(store, case, case.set_fact("amount", "4,050 INR", source="interface"))
        case.set_fact("amount", "4,000 INR", source="tool")
        again = outcome_of(store, case, case.set_fact("amount", "4,050 INR", source="interface"))
    assert not outcome.is_done
    assert outcome.opened == ("con_2",)
    assert outcome.standing is not None
    assert outcome.standing.value == "4,180 INR"
    print_outcome(outcome)
    shown = capsys.readouterr().out
    assert "4,050 INR disputes amount, which somebody else stated meanwhile: con_2 is open\n" in shown
    assert "context-ledger resolve case con_2 --value VALUE --because TEXT" in shown
    assert (again.event, again.is_done) == ("fact.reaffirmed", False)


def test_a_value_that_settles_a_dispute_says_so(command: Command, declared: str, store_path: Path) -> None:
    with connect(str(store_path)) as store:
        store.ledger(declared).set_fact("amount", "4,050 INR", source="tool")
    outcome = command("set", declared, "amount", "4,050 INR", "--was", "4,180 INR")
    assert outcome.out.splitlines()[-1] == "  settled with it: con_4"


def test_a_reason_that_is_not_kept_is_told(command: Command, refund: str) -> None:
    assert "the reason is not kept" in command("set", refund, "delivery", "express", "--because", "in a hurry").out


def test_confirm_says_whose_value_it_confirmed(command: Command, refund: str) -> None:
    outcome = command("confirm", refund, "customer-id", "--by", "agent_7")
    assert (outcome.code, outcome.out) == (
        0,
        f"{refund} at version 37: customer_id is c_9912, confirmed; it was stated by tool in turn 2, at version 7\n",
    )
    assert command("state", refund, "--json").answer["sections"]["entities"]["customer_id"]["source"] == "interface"
    assert command("confirm", refund, "customer_id", "--json").answer["was"]["source"] == "interface"


def test_what_has_no_value_cannot_be_confirmed_or_retracted(command: Command, refund: str) -> None:
    for asked in ("confirm", "retract"):
        outcome = command(asked, refund, "chrage")
        assert (outcome.code, outcome.out) == (2, "")
        assert "charge" in outcome.err


def test_retract_says_what_stood(command: Command, refund: str) -> None:
    outcome = command("retract", refund, "Amount", "--because", "nothing is owed", "--by", "agent_7")
    assert (outcome.code, outcome.out) == (
        0,
        f"{refund} at version 37: amount has no value any more; it was 4,050 INR (user, turn 11, version 28)\n",
    )
    step = command("explain", refund, "amount", "--json").answer["steps"][-1]
    assert (step["kind"], step["source"], step["actor"]) == ("retracted", "interface", "agent_7")
    assert step["because"] == "nothing is owed"


@pytest.mark.parametrize(("value", "stands"), [((), "4,180 INR"), (("--value", "4,050 INR"), "4,050 INR")])
def test_resolve_decides_a_contradiction(
    command: Command, declared: str, store_path: Path, value: tuple[str, ...], stands: str
) -> None:
    with connect(str(store_path)) as store:
        store.ledger(declared).set_fact("amount", "4,050 INR", source="tool")
    outcome = command("resolve", declared, "con_4", *value, "--because", "the statement says so", "--by", "agent_7")
    assert outcome.code == 0
    assert f"con_4 is resolved; amount is {stands} (" in outcome.out
    assert amount_of(command, declared)["value"] == stands
    with connect(str(store_path)) as store:
        (found,) = view(store, declared).history("amount").contradictions
    assert found.resolution is not None
    assert (found.resolution.source, found.resolution.because) == ("interface", "the statement says so")
    again = command("resolve", declared, "con_4", "--because", "twice")
    assert (again.code, again.out) == (2, "")
    assert "resolved already: none is open, so there is nothing to decide" in again.err


def test_resolve_takes_no_value_that_does_not_fit(command: Command, declared: str, store_path: Path) -> None:
    with connect(str(store_path)) as store:
        store.ledger(declared).set_fact("amount", "4,050 INR", source="tool")
    outcome = command("resolve", declared, "con_4", "--value", "4.050 INR", "--because", "so")
    assert (outcome.code, outcome.out) == (2, "")
    assert "may mean thousands" in outcome.err


def test_a_contradiction_about_no_field_is_resolved(command: Command, refund: str) -> None:
    outcome = command("resolve", refund, "con_22", "--because", "two countries", "--json")
    assert outcome.answer["settled"] == ["con_22"]
    assert outcome.answer["field"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set", "refnd", "amount", "1"), "refund-ORD-88213"),
        (("set", "refund-ORD-88213", "amount"), "VALUE"),
        (("set", "refund-ORD-88213", " ", "1"), "no letters"),
        (("set", "refund-ORD-88213", "new", "1", "--turn", "99"), "turn 99"),
        (("set", "refund-ORD-88213", "new", "1", "--turn", "0"), "--turn"),
        (("set", "refund-ORD-88213", "new", "1", "--valid-from", "soon"), "--valid-from"),
        (
            ("set", "refund-ORD-88213", "new", "1", "--valid-from", "2031-02-01T00:00Z", "--valid-to", "2031-01-01T00:00Z"),
            "valid_to",
        ),
        (("confirm", "refnd", "amount"), "refund-ORD-88213"),
        (("retract", "refnd", "amount"), "refund-ORD-88213"),
        (("resolve", "refund-ORD-88213", "con_22"), "--because"),
        (("resolve", "refund-ORD-88213", "con_1", "--because", "x"), "con_1"),
    ],
)
@pytest.mark.usefixtures("refund")
def test_a_mistake_changes_nothing(command: Command, arguments: tuple[str, ...], said: str) -> None:
    """Not even a new ledger is made of a mistyped name."""
    outcome = command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert said in outcome.err
    (row,) = command("ledgers", "--json").answer
    assert row["version"] == 36


def test_nothing_to_replace_is_told(command: Command, refund: str) -> None:
    outcome = command("set", refund, "delivery", "express", "--was", "standard")
    assert (outcome.code, outcome.out) == (1, "")
    assert "leave out --was" in outcome.err


def test_outcomes_cannot_steer_the_terminal(command: Command, refund: str) -> None:
    hostile = "\x1b[2J\u202e\nforged"
    for arguments in (
        ("set", refund, f"f{hostile}", hostile),
        ("confirm", refund, f"f{hostile}"),
        ("retract", refund, f"f{hostile}"),
    ):
        outcome = command(*arguments)
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
        assert "\u202e" not in outcome.out
        assert outcome.out.count("\n") == 1


def test_a_set_value_has_json_that_is_its_own(command: Command, refund: str) -> None:
    """Through JSON and back it is the same value."""
    value = JsonText.of({"n": [1, "two"]})
    answer = command("set", refund, "x", str(value), "--json-value", "--json").answer
    assert answer["standing"]["value"] == json.loads(value)
