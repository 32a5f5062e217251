"""The audit of a field: its values as a table, then every step with the words that it rests on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command


@pytest.fixture
def disputed(command: Command, store_path: Path) -> str:
    """A case in which a value is corrected, repeated, disputed, refused, resolved and taken back."""
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        case = store.ledger("case")
        case.declare({"title": "Case", "properties": {"amount": {"type": "string", "format": "money"}}})
        case.record_turn("user", "Hello! It was 4,180 INR, twice. Please pay one back.")
        case.set_fact("amount", "4,180 INR", turn=1, source="user")
        case.set_fact("amount", "INR 4180.00", turn=1, source="tool")
        case.record_turn("user", "Sorry, 4,050 INR.")
        case.set_fact("amount", "4,050 INR", turn=2, source="user", supersedes="4,180 INR", because="says the statement")
        case.set_fact("amount", "4.000 INR", turn=2, source="inferred")
        case.set_fact("amount", "4,000 INR", source="tool", actor="crawler_3")
        case.resolve_contradiction("con_8", because="the page is old", source="interface")
        case.retract_fact("amount", source="user", turn=2, because="nothing is owed")
    return "case"


def test_explain_tells_the_life_of_a_field(command: Command, refund: str) -> None:
    """Two values, the first superseded by the event that began the second."""
    answer = command("explain", refund, "Amount", "--json").answer
    first, second = answer["values"]
    assert (first["value"], first["turn"], first["source"]) == ("4,180 INR", 1, "user")
    assert (second["value"], second["turn"], second["source"]) == ("4,050 INR", 11, "user")
    assert first["to_version"] == first["superseded_by"] == second["from_version"]
    assert second["to_version"] is None
    assert answer["field"] == "amount"
    assert answer["contradictions"] == []


def test_each_step_has_its_kind_and_its_sentence(command: Command, disputed: str) -> None:
    answer = command("explain", disputed, "amount", "--json").answer
    assert list(answer) == ["basis", "field", "values", "contradictions", "standing", "steps"]
    assert answer["standing"] is None
    kinds = [step["kind"] for step in answer["steps"]]
    assert kinds == ["set", "repeated", "superseded", "rejected", "disputed", "resolved", "retracted"]
    assert answer["steps"][0]["told"]["sentence"] == "It was 4,180 INR, twice."


def test_people_read_every_step_with_its_words(command: Command, disputed: str) -> None:
    """When, who, which turn, in which sentence, instead of what, and why."""
    shown = re.sub(r"20\d\d-\S+Z", "TIME", command("explain", disputed, "amount").out)
    steps = shown.partition("\n\nversion ")
    assert "version " + steps[2] == (
        "version 3, turn 1, TIME: 4,180 INR, said by user\n"
        "  user, turn 1:\n"
        "    | Hello!\n"
        "    > It was 4,180 INR, twice.\n"
        "    | Please pay one back.\n"
        "\n"
        "version 4, turn 1, TIME: INR 4180.00, said again by tool\n"
        "  user, turn 1:\n"
        "    | Hello!\n"
        "    > It was 4,180 INR, twice.\n"
        "    | Please pay one back.\n"
        "\n"
        "version 6, turn 2, TIME: 4,050 INR, said by user, in place of 4,180 INR of version 3\n"
        "  because says the statement\n"
        "  user, turn 2:\n"
        "    > Sorry, 4,050 INR.\n"
        "\n"
        "version 7, turn 2, TIME: 4.000 INR, claimed by inferred, was not taken\n"
        '  ambiguous: "4.000 INR" may mean thousands or a fraction: leave the mark out, or write all decimals\n'
        "\n"
        "version 8, TIME: 4,000 INR, claimed by tool (crawler_3), disputes what stands: con_8 is open\n"
        "\n"
        "version 9, TIME: con_8 was resolved by interface\n"
        "  because the page is old\n"
        "\n"
        "version 10, turn 2, TIME: 4,050 INR of version 6 was retracted by user\n"
        "  because nothing is owed\n"
    )


def test_as_of_an_earlier_version_later_steps_are_not_told(command: Command, disputed: str) -> None:
    answer = command("explain", disputed, "amount", "--at", "6", "--json").answer
    assert [step["version"] for step in answer["steps"]] == [3, 4, 6]
    assert answer["standing"]["value"] == "4,050 INR"


def test_a_field_that_was_only_ever_refused_has_a_story(command: Command, disputed: str) -> None:
    command("set", disputed, "amuont", "1")
    shown = command("explain", disputed, "amuont")
    assert shown.code == 0
    assert "amuont never had a value" in shown.out
    assert "  field: field 'amuont' is not declared in schema 'Case' (declared: amount)" in shown.out


def test_no_text_of_the_record_reaches_the_terminal_as_it_is(command: Command, store_path: Path) -> None:
    """Neither in a value nor around its sentence, in a reason, a name or an actor."""
    hostile = "\x1b[2J\u202e"
    command("init")
    with connect(str(store_path)) as store:
        case = store.ledger("case")
        case.record_turn("user", f"{hostile}a. It is red{hostile}. {hostile}b.\nversion 9: forged")
        case.set_fact(f"colour{hostile}", f"red{hostile}", turn=1, source="user", actor=hostile)
        case.set_fact(
            f"colour{hostile}", "blue", turn=1, source="user", supersedes=f"red{hostile}", because=f"{hostile}\nversion 8"
        )
    outcome = command("explain", "case", f"colour{hostile}")
    assert outcome.code == 0
    assert "    > It is red" in outcome.out
    assert "\x1b" not in outcome.out
    assert "\u202e" not in outcome.out
    assert not re.search(r"^version [89]", outcome.out, re.MULTILINE)


def test_explain_of_an_unknown_field_names_the_nearest(command: Command, refund: str) -> None:
    """A slip of the hand is told apart from an empty history."""
    outcome = command("explain", refund, "amuont")
    assert outcome.code == 2
    assert "amount" in outcome.err
