"""``search`` and ``fetch`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from delivery.cli.application import run
from ledger import JsonText, connect
from ledger.parts import DocumentPart, TextPart, ToolCallPart

TEXT = 'first\r\n"second" \u202e caf\u00e9\x1b[2J no newline'


@pytest.fixture
def address(tmp_path: Path) -> str:
    """A store of two ledgers; r_3 of the case returned a text and a document."""
    place = str(tmp_path / "store.db")
    with connect(place) as store:
        case = store.ledger("case")
        sha256 = case.store_artifact(b"%PDF-1.7 x", media_type="application/pdf")
        case.record_turn("assistant", [ToolCallPart(call_id="c1", tool="open_page", arguments=JsonText("{}"))])
        case.record_return("c1", [TextPart(text=TEXT), DocumentPart(sha256=sha256, media_type="application/pdf")])
        case.record_turn("user", "the café opens at nine on Friday")
        case.record_turn("user", "and the other café on Monday")
        store.ledger("other").record_turn("user", "no cafe here \x1b[31m")
    return place


def test_people_see_the_place_in_its_text(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", address, "search", "case", "when does the CAFE open on Friday?"]) == 0
    shown = capsys.readouterr().out
    assert "v_4, turn, turn 2, user, version 4:\n  the »café« »opens« at nine on »Friday«" in shown
    assert run(["--store", address, "search", "case", "nine Monday"]) == 0
    assert "nothing has all of the words; these have some:" in capsys.readouterr().out
    assert run(["--store", address, "search", "case", "zebra"]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_what_was_passed_by_is_not_denied(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", address, "search", "case", "cafe", "--offset", "1000"]) == 0
    assert "nothing found beyond the first 1,000 places" in capsys.readouterr().out


def test_programs_get_the_answer(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--kind", "turn", "--turns", "2-3", "--limit", "1", "--at", "5", "--role", "user"]
    assert run(["--store", address, "search", "case", "cafe", *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["basis"]["version"], answer["query"], answer["matched"], answer["more"]) == (5, "cafe", "all", True)
    (hit,) = answer["hits"]
    assert [hit["snippet"][start:end] for start, end in hit["places"]] == ["café"]
    assert run(["--store", address, "search", "case", "cafe", "--offset", "1", "--turns", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"] == []


def test_all_ledgers_are_searched_when_asked_for(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", address, "search", "--all", "cafe", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {hit["ledger"] for hit in answer["hits"]} == {"case", "other"}
    assert answer["basis"] is None
    assert run(["--store", address, "search", "--all", "cafe"]) == 0
    shown = capsys.readouterr().out
    assert "other, v_1, turn" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["search", "case"], "give the ledger and the words"),
        (["search", "--all", "case", "cafe"], "no ledger is named"),
        (["search", "--all", "cafe", "--at", "2"], "--at is of one ledger"),
        (["search", "case", "cafe", "--turns", "x"], "no turn (7) and no range"),
        (["search", "case", "cafe", "--turns", "5-2"], "--turns '5-2' is no range: give the first turn"),
        (["search", "case", "cafe", "--turns", "0-2"], "from 1 on"),
        (["search"], "give the ledger and the words"),
        (["search", "--all"], "give the words behind --all"),
        (["search", "case", "cafe", "--kind", "x"], "give one of turn, call"),
        (["search", "case", "cafe", "--limit", "0"], "from 1 to 1,000"),
        (["search", "case", "?"], "no word"),
        (["search", "cace", "x"], "case"),
        (["fetch", "case", "r_9"], "the nearest are r_3"),
        (["fetch", "case", "r_3", "--start", "99"], "has 37 characters"),
        (["fetch", "case", "r_3", "--start", "-1"], "--start"),
        (["fetch", "case", "r_3", "--length", "0"], "--length"),
        (["fetch", "case", "ev_9"], "no evidence was recorded"),
        (["fetch", "case", "r_3", "--raw", "--json"], "give one of them"),
        (["fetch", "case", "r_3", "--output", "nowhere/at/all"], "does not exist"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    address: str, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert run(["--store", address, *arguments]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert len(told.splitlines()) == 1


def test_raw_is_the_text_byte_for_byte(address: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["--store", address, "fetch", "case", "r_3", "--raw"]) == 0
    assert capsysbinary.readouterr().out == TEXT.encode()


def test_people_see_where_it_comes_from_and_nothing_that_steers_a_terminal(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--store", address, "fetch", "case", "r_3"]) == 0
    shown = capsys.readouterr().out
    assert "r_3, open_page, turn 1, c1:" in shown
    assert "no newline" in shown
    assert "[document: application/pdf, " in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_json_names_the_call(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", address, "fetch", "case", "r_3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["tool"], answer["call"], answer["turn"], answer["parts"][0]["text"]) == ("open_page", "c1", 1, TEXT)


def test_documents_are_written_into_a_folder(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert run(["--store", address, "fetch", "case", "r_3", "--output", str(folder)]) == 0
    (path,) = folder.iterdir()
    assert path.read_bytes() == b"%PDF-1.7 x"
    assert path.suffix == ".pdf"
    assert str(path) in capsys.readouterr().out.replace("\n", "")


def test_what_was_forgotten_is_not_written(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", address, "forget", "case", "--ids", "r_3", "--reason", "asked to"]) == 0
    capsys.readouterr()
    assert run(["--store", address, "fetch", "case", "r_3", "--raw"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "asked to" in told.err
    assert run(["--store", address, "fetch", "case", "r_3"]) == 0
    assert "[forgotten] by job" in capsys.readouterr().out
    assert run(["--store", address, "search", "case", "second"]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_some_characters_are_fetched_as_the_tool_of_a_model_does(
    address: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def fetched(*options: str) -> bytes:
        assert run(["--store", address, "fetch", "case", "r_3", *options]) == 0
        return capsysbinary.readouterr().out

    assert fetched("--raw", "--start", "3", "--length", "4") == TEXT[3:7].encode()
    assert fetched("--raw", "--start", "25") == TEXT[25:].encode()
    assert fetched("--raw", "--length", "5") == b"first"
    answer = json.loads(fetched("--json", "--start", "7", "--length", "8"))
    assert (answer["start"], answer["end"], answer["characters"], answer["text"]) == (7, 15, len(TEXT), '"second"')
    assert "parts" not in answer
    shown = fetched("--start", "7", "--length", "8").decode()
    assert f"r_3, open_page, turn 1, c1, characters 7 to 15 of {len(TEXT)}:" in shown
    assert '"second"' in shown


def test_turns_are_fetched_by_their_number(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", address, "fetch", "case", "turn_2"]) == 0
    assert "turn_2, turn, user:\nthe café opens at nine on Friday" in capsys.readouterr().out
    assert run(["--store", address, "fetch", "case", "turn_1"]) == 0
    assert '{"call":"c1","tool":"open_page","arguments":{},"result":"r_3"}' in capsys.readouterr().out


def test_a_piece_of_what_was_forgotten_is_its_mark(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with connect(address) as store:
        store.ledger("case").forget(ids=["r_3"], reason="asked to", scrub=False)
    assert run(["--store", address, "fetch", "case", "r_3", "--start", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forgotten"] is True
    assert run(["--store", address, "fetch", "case", "r_3", "--start", "20", "--raw"]) == 1
    assert "result r_3: [forgotten]" in capsys.readouterr().err
