"""Forgetting from the command line: what would go, what went, and what is left to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command

CARD = "4111 1111 1111 1111"
CASE = "card"


@pytest.fixture
def card(command: Command, store_path: Path) -> str:
    """A case in which the number of a card is said, recorded, repeated, and asked to be forgotten."""
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        case = store.ledger(CASE)
        case.record_turn("user", f"My card is {CARD}.", subjects=["customer:c_1"])
        case.set_fact("card", CARD, turn=1, source="user", subjects=["customer:c_1"])
        case.record_turn("assistant", f"I noted {CARD}.")
        case.record_turn("user", "Please forget my card number.")
        page = case.store_artifact(b"the page", media_type="text/plain", turn=2)
        case.record_evidence("a page", quote="the page", artifact=page, turn=2)
    return CASE


def bytes_of(store_path: Path) -> bytes:
    """Every byte that the store has on disk."""
    return b"".join(path.read_bytes() for path in store_path.parent.glob(f"{store_path.name}*"))


def test_a_dry_run_lists_what_would_go_and_what_stays(command: Command, card: str) -> None:
    outcome = command("forget", card, "--turns", "1", "--dry-run", "--json")
    assert outcome.code == 0
    answer = outcome.answer
    assert (answer["state"], answer["job"], answer["scope"]) == ("planned", None, "turns")
    (found,) = answer["ledgers"]
    assert [(event["version"], event["type"], event["turn"], event["because"]) for event in found["events"]] == [
        (1, "turn.recorded", 1, "asked for"),
        (2, "fact.set", 1, "belongs to turn 1"),
    ]
    assert found["events"][0]["excerpt"] == f"My card is {CARD}."
    assert found["counts"] == {"fact.set": 1, "turn.recorded": 1}
    assert found["mentions"] == [{"version": 3, "type": "turn.recorded", "turn": 2, "strings": [CARD]}]
    assert CARD in command("show", card).out


def test_a_dry_run_says_how_to_forget_what_mentions_the_same(command: Command, card: str) -> None:
    shown = command("forget", card, "--turns", "1", "--dry-run").out
    assert "STAY" in shown
    assert f"context-ledger forget {card} --ids v_3 --reason TEXT" in shown.splitlines()
    assert f"context-ledger forget {card} --turns 2 --reason TEXT" in shown.splitlines()
    assert "2 events would be forgotten; nothing was changed" in shown


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_was_forgotten_is_gone_and_the_report_does_not_repeat_it(
    command: Command, card: str, store_path: Path, form: list[str]
) -> None:
    """Not even what else mentions it, for the output may be kept."""
    assert CARD.encode() in bytes_of(store_path)
    outcome = command("forget", card, "--turns", "1,2", "--reason", "asked by the user", "--by", "agent_7", *form)
    assert (outcome.code, outcome.err) == (0, "")
    assert CARD not in outcome.out
    assert CARD.encode() not in bytes_of(store_path)
    (job,) = command("forget", "--jobs", "--json").answer
    assert job == {
        "job": job["job"],
        "scope": "turns",
        "state": "complete",
        "reason": "asked by the user",
        "by": "agent_7",
        "ledgers": [card],
        "problems": [],
        "taken_back": None,
    }
    assert job["job"] in outcome.out
    assert job["job"] in command("forget", "--jobs").out


def test_a_report_names_what_mentions_the_same_by_version_alone(command: Command, card: str) -> None:
    outcome = command("forget", card, "--turns", "1", "--reason", "asked", "--json")
    assert CARD not in outcome.out
    (found,) = outcome.answer["ledgers"]
    assert found["mentions"] == [{"version": 3, "type": "turn.recorded", "turn": 2}]
    assert all("excerpt" not in event for event in found["events"])


def test_a_report_counts_by_type(command: Command, card: str) -> None:
    lines = command("forget", card, "--turns", "1", "--reason", "asked").out.splitlines()
    assert re.fullmatch(r"job f_[0-9a-f]{12} \(turns\), complete: asked", lines[0])
    assert lines[1] == f"{card} at version 7: 2 events (1 fact.set, 1 turn.recorded) forgotten"
    assert lines[2] == "answers what turn 3 asks for"
    assert lines[3] == "these mention the same values, and stay: v_3"


def test_requests_that_stay_pending_are_told_before_and_after(command: Command, card: str, store_path: Path) -> None:
    with connect(str(store_path)) as store:
        store.ledger(CASE).record_turn("user", "Please delete my e-mail address.")
    told = [f"still pending: turn {turn} asks to forget something: --answers {turn}, or --decline {turn}" for turn in (3, 4)]
    for form in (["--dry-run"], []):
        lines = command("forget", card, "--ids", "v_3", "--reason", "asked", *form).out.splitlines()
        assert [line for line in lines if "pending" in line or "answers" in line] == told
    (found,) = command("forget", card, "--turns", "1", "--answers", "3", "--reason", "asked", "--json").answer["ledgers"]
    assert (found["answers"], found["pending"]) == ([3], [4])
    assert [request["turn"] for request in command("forget", "--pending", "--json").answer] == [4]


@pytest.mark.parametrize(
    ("selector", "scope", "versions"),
    [
        (["--facts", "card"], "facts", [2]),
        (["--ids", "v_3", "--ids", "ev_6"], "ids", [3, 5, 6]),
        (["--ids", "v_2,v_4"], "ids", [2, 4]),
        (["--all"], "ledger", [1, 2, 3, 4, 5, 6]),
        (["--turns", "1", "--turns", "3"], "turns", [1, 2, 4]),
    ],
)
def test_each_selector_finds_its_events(
    command: Command, card: str, selector: list[str], scope: str, versions: list[int]
) -> None:
    answer = command("forget", card, *selector, "--dry-run", "--json").answer
    assert answer["scope"] == scope
    assert [event["version"] for event in answer["ledgers"][0]["events"]] == versions


def test_an_artifact_is_forgotten_by_its_hash(command: Command, card: str) -> None:
    sha256 = command("forget", card, "--all", "--dry-run", "--json").answer["ledgers"][0]["artifacts"][0]
    answer = command("forget", card, "--artifact", sha256, "--reason", "asked", "--json").answer
    assert answer["ledgers"][0]["artifact_count"] == 1
    assert sha256 not in str(answer)
    assert answer["ledgers"][0]["counts"] == {"artifact.stored": 1, "evidence.recorded": 1}


def test_a_subject_is_forgotten_in_all_ledgers_and_not_taken_again(command: Command, card: str, store_path: Path) -> None:
    file = store_path.with_name("talk.json")
    file.write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
    talk = ("import", str(file), "--subject", "customer:c_1", "--subject", "customer:c_2", "--ledger")
    assert command(*talk, "other").code == 0
    found = command("forget", "--subject", "customer:c_1", "--reason", "asked", "--json").answer["ledgers"]
    assert {ledger["ledger"]: sum(ledger["counts"].values()) for ledger in found} == {card: 2, "other": 1}
    again = command(*talk, "third")
    assert (again.code, again.out) == (2, "")
    back = ("--reason", "they are back", "--by", "agent_7")
    assert command("forget", "--reauthorise", "--subject", "customer:c_1", *back).code == 0
    (job,) = command("forget", "--jobs", "--json").answer
    assert (job["taken_back"]["because"], job["taken_back"]["by"]) == ("they are back", "agent_7")
    shown = command("forget", "--jobs").out
    assert f"{job['job']}, the subject is taken again: they are back (by agent_7, {job['taken_back']['at']})" in shown
    assert "customer:c_1" not in shown
    assert command(*talk, "third").code == 0


def test_a_whole_ledger_answers_to_its_former_name(command: Command, card: str) -> None:
    planned = command("forget", card, "--all", "--dry-run", "--json").answer["ledgers"][0]
    assert (planned["ledger"], planned["artifact_count"]) == (card, len(planned["artifacts"]))
    outcome = command("forget", card, "--all", "--reason", "asked")
    assert outcome.code == 0
    (row,) = command("ledgers", "--json").answer
    assert row["ledger"].startswith("forgotten:")
    assert f"{row['ledger']} at version 7: 6 events" in outcome.out
    assert "the bytes of 1 artifact are forgotten" in outcome.out
    assert not any(text in outcome.out for text in (f"{card} at", *planned["artifacts"]))
    assert row["ledger"] in command("ledgers").out
    shown = command("show", card)
    assert shown.code == 0
    assert shown.out.count("[forgotten] by job f_") == 3
    assert command("forget", "--reauthorise", card, "--reason", "a new case", "--json").answer == {
        "reauthorised": {"ledger": card}
    }
    assert command("ledgers", "--json").answer[0]["ledger"] == card
    assert "[forgotten]" in command("show", card).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--turns", "99"), "turn 99 is not recorded"),
        (("--facts", "cart"), "nearest: card"),
        (("--artifact", "0" * 64), "not in this ledger"),
        (("--ids", "ev_1"), "names nothing here"),
    ],
)
def test_nothing_found_is_no_success(command: Command, card: str, arguments: tuple[str, ...], said: str) -> None:
    for form in ([], ["--dry-run"], ["--json"]):
        outcome = command("forget", card, *arguments, "--reason", "asked", *form)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.count("\n") == 1
        assert said in outcome.err


def test_what_was_forgotten_already_is_told_with_its_job(command: Command, card: str) -> None:
    job = command("forget", card, "--turns", "1", "--reason", "asked", "--json").answer["job"]
    outcome = command("forget", card, "--turns", "1", "--reason", "asked")
    assert (outcome.code, outcome.out) == (1, "")
    assert job in outcome.err
    unknown = command("forget", "--subject", "customer:c_404", "--reason", "asked")
    assert (unknown.code, unknown.out) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--subject"),
        ((CASE,), "--all for the whole ledger"),
        ((CASE, "--reason", "asked"), "--all for the whole ledger"),
        ((CASE, "--turns", "1"), "--reason is missing"),
        ((CASE, "--turns", "1", "--reason", " "), "reason is empty"),
        ((CASE, "--turns", "1", "--reason", f"card {CARD}"), "reason repeats"),
        ((CASE, "--turns", "1", "--reason", "asked", "--by", CARD.replace(" ", "")), "actor repeats"),
        ((CASE, "--decline", "1", "--reason", "no"), "turn 1 asks for nothing that is still to be answered (pending: 3)"),
        ((CASE, "--turns", "one", "--dry-run"), "'one'"),
        ((CASE, "--turns", ",", "--dry-run"), "--turns"),
        ((CASE, "--turns", "9" * 5_000, "--dry-run"), "--turns"),
        ((CASE, "--facts", "", "--all", "--reason", "a variable was empty"), "--facts is empty"),
        (("--subject", "customer:c_1", "--ids", ",", "--reason", "a variable was empty"), "--ids is empty"),
        ((CASE, "--turns", "1", "--answers", "x", "--dry-run"), "--answers"),
        ((CASE, "--turns", "1", "--facts", "card", "--dry-run"), "one kind at a time"),
        ((CASE, "--all", "--turns", "1", "--dry-run"), "--all is the whole ledger"),
        (("--all", "--dry-run"), "give the ledger"),
        ((CASE, "--subject", "customer:c_1", "--dry-run"), "subject"),
        (("--resume", "--dry-run"), "--dry-run does not go with --resume"),
        (("--jobs", "--pending"), "one at a time"),
        (("--jobs", CASE), "LEDGER does not go with --jobs"),
        ((CASE, "--reauthorise", "--turns", "1"), "--turns does not go with --reauthorise"),
        (("--reauthorise", "--reason", "back"), "either a ledger or a subject"),
        ((CASE, "--reauthorise", "--reason", "back"), "not forgotten"),
        (("--decline", "3", "--reason", "no"), "give the ledger"),
        (("--turns", "1", "--reason", "asked", "no-such-ledger"), "no-such-ledger"),
        ((CASE, "--artifact", "abc", "--dry-run"), "64 hexadecimal digits"),
    ],
)
@pytest.mark.usefixtures("card")
def test_a_mistake_changes_nothing(command: Command, arguments: tuple[str, ...], said: str) -> None:
    outcome = command("forget", *arguments)
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert said in outcome.err
    assert command("forget", "--jobs", "--json").answer == []
    assert command("ledgers", "--json").answer[0]["version"] == 6


def test_what_users_asked_for_is_pending_until_it_is_answered(command: Command, card: str) -> None:
    (request,) = command("forget", "--pending", "--json").answer
    assert (request["ledger"], request["turn"], request["text"]) == (card, 3, "Please forget my card number.")
    shown = command("forget", "--pending", card).out
    assert "Please forget my card number." in shown
    assert f"context-ledger forget {card} --decline 3 --reason TEXT" in shown
    assert f"--answers {request['turn']}" in shown
    command("forget", card, "--turns", "1", "--reason", "an error", "--answers", "none")
    assert len(command("forget", "--pending", "--json").answer) == 1
    command("forget", card, "--turns", "2", "--reason", "asked", "--answers", "3")
    assert command("forget", "--pending", "--json").answer == []
    assert command("forget", "--pending").out.startswith("nothing is asked for")


def test_a_request_is_declined_with_a_reason(command: Command, card: str) -> None:
    declined = command("forget", card, "--decline", "3", "--reason", "the law has us keep it", "--by", "dpo", "--json").answer
    assert declined == {"ledger": card, "turn": 3, "version": 7}
    assert command("forget", "--pending", card, "--json").answer == []
    assert CARD in command("show", card).out


def test_a_hostile_text_is_shown_escaped(command: Command, store_path: Path) -> None:
    """In plans, requests, jobs and marks."""
    with connect(str(store_path)) as store:
        store.ledger("hostile").record_turn("user", "Please forget my address \x1b[2J\u202e.")
    for arguments in (
        ("forget", "--pending"),
        ("forget", "hostile", "--turns", "1", "--dry-run"),
        ("forget", "hostile", "--turns", "1", "--reason", "asked \x1b[2J"),
        ("forget", "--jobs"),
        ("show", "hostile"),
    ):
        outcome = command(*arguments)
        assert outcome.code == 0
        assert "\\x1b[2J" in outcome.out
        assert "\x1b" not in outcome.out
        assert "\u202e" not in outcome.out
