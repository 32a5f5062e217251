"""Forgettings that are not done at once: put off, interrupted, or not confirmed by a place that holds what was derived."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command

SECRET = "the password is swordfish"


class Index:
    """A place outside of the store that cannot be reached."""

    name = "search index"

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """Confirms nothing."""
        raise ConnectionError(f"no answer about {len(versions)} events of {ledger.hex()}")


@pytest.fixture
def case(store_path: Path) -> str:
    """A ledger with something to forget."""
    with connect(str(store_path)) as store:
        store.ledger("case").record_turn("user", SECRET)
    return "case"


def derive(store_path: Path) -> None:
    """Something outside of the store keeps what was derived from it."""
    with connect(str(store_path)) as store:
        store.derives(Index())


def no_longer_derive(store_path: Path) -> None:
    """That place is gone, and another process stopped before it could finish what it had begun."""
    with pytest.warns(UserWarning, match="is not complete"), connect(str(store_path)) as store:
        store.no_longer_derives(Index.name)


def test_scrubbing_that_was_put_off_is_left_to_do_until_it_is_resumed(command: Command, case: str, store_path: Path) -> None:
    outcome = command("forget", case, "--turns", "1", "--reason", "asked", "--no-scrub", "--json")
    assert (outcome.code, outcome.answer["state"], outcome.err) == (1, "incomplete", "")
    assert "overwritten" in outcome.answer["problems"][0]
    assert command("forget", "--jobs", "--json").answer[0]["state"] == "incomplete"
    assert "left to do: deleted bytes" in command("forget", "--jobs").out
    resumed = command("forget", "--resume", "--json")
    assert (resumed.code, [job["state"] for job in resumed.answer]) == (0, ["complete"])
    assert SECRET.encode() not in store_path.read_bytes()
    again = command("forget", "--resume")
    assert (again.code, again.out) == (0, "nothing is left to do\n")
    assert command("forget", "--resume", "--json").answer == []


def test_a_place_that_does_not_confirm_leaves_the_job_incomplete(command: Command, case: str, store_path: Path) -> None:
    """Exit code 1, for the act and for every try to do the rest; the notes of opening are one line each."""
    derive(store_path)
    outcome = command("forget", case, "--turns", "1", "--reason", "asked")
    assert outcome.code == 1
    assert "left to do: search index holds what was derived" in outcome.out
    assert "context-ledger forget --resume" in outcome.out
    resumed = command("forget", "--resume")
    assert resumed.code == 1
    assert "left to do: search index" in resumed.out
    shown = command("show", case)
    assert shown.code == 0
    assert "[forgotten]" in shown.out
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("context-ledger: note: forgetting f_")
    assert "is not complete: search index" in shown.err


def test_an_interrupted_job_is_carried_out_at_the_next_opening_with_one_note(
    command: Command, case: str, store_path: Path
) -> None:
    derive(store_path)
    job = command("forget", case, "--turns", "1", "--reason", "asked", "--json").answer["job"]
    no_longer_derive(store_path)
    opened = command("ledgers", "--json")
    assert opened.code == 0
    assert opened.err == f"context-ledger: note: forgetting {job} was not complete; it is now\n"
    assert [row["ledger"] for row in opened.answer] == [case]
    assert command("ledgers").err == ""
