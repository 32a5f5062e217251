"""Lines that break other readers: what is taken reaches every answer, what is not is reported, and nothing is half told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from delivery.cli.application import run
from delivery.importers.importing import TranscriptDiverged, import_file
from ledger import Ledgers, connect
from ledger.events import TurnRecorded
from ledger.json_text import JsonText
from ledger.parts import OpaquePart, TextPart
from replay import view
from tests.contract.stores import CATALOGUE


def turns(store: Ledgers, name: str) -> Iterator[TurnRecorded]:
    """The turns of a ledger."""
    return (one.event for one in store.ledger(name).events() if isinstance(one.event, TurnRecorded))


def answers(store: Ledgers, name: str) -> list[bytes]:
    """Everything that can be asked of a ledger; each must be possible, and UTF-8."""
    now = view(store, name)
    windows = [now.window(render=form).request_bytes for form in ("openai", "anthropic", "text")]
    found = [now.transcript().to_json(), now.state().to_json(), now.handoff().to_json(), *windows]
    assert all(answer.decode("utf-8") for answer in found)
    return found


HARD = {
    "a lone surrogate": (r"x\udcb2 y", "x\udcb2 y"),
    "a pair of surrogates": (r"\ud83d\ude00", "\U0001f600"),
    "NUL": (r"speci\u0000c terms", "speci\x00c terms"),
    "separators of lines, raw": ("first\u2028second\u2029third\u0085fourth", "first\u2028second\u2029third\u0085fourth"),
    "a mark of byte order inside": ("a\ufeffb", "a\ufeffb"),
    "control characters": (r"\u001b[2J\u007f", "\x1b[2J\x7f"),
}


@pytest.mark.parametrize("kind", CATALOGUE)
def test_a_hard_text_reaches_every_answer(kind: str, tmp_path: Path, write: Any) -> None:
    """In a text, in a name, in arguments and as their key, in a result; on every store."""
    opened = CATALOGUE[kind](tmp_path)
    store = opened()
    for name, (source, text) in HARD.items():
        arguments = json.dumps(f'{{"{source}":"{source}"}}', ensure_ascii=False)
        call = f'{{"id":"c","function":{{"name":"look","arguments":{arguments}}}}}'
        lines = [
            f'{{"role":"user","name":"{source}","content":"{source}"}}',
            f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}',
            f'{{"role":"tool","tool_call_id":"c","content":"{source}"}}',
        ]
        result = import_file(store, write("\n".join(lines)), ledger=name)
        assert (result.events, result.skipped) == (3, [])
        asked, called = turns(store, name)
        assert (asked.name, asked.parts) == (text, (TextPart(text=text),))
        assert called.parts[0].arguments.value == {text: text}  # type: ignore[union-attr]
        answers(store, name)
    opened.close()


@pytest.mark.parametrize("command", ["show", "state", "window", "handoff"])
def test_a_hard_text_is_printed(tmp_path: Path, write: Any, command: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    where = str(tmp_path / "record.db")
    with connect(where) as store:
        lines = [f'{{"role":"user","content":"{source}"}}' for source, _ in HARD.values()]
        import_file(store, write("\n".join(lines)), ledger="hard")
    for form in ([], ["--json"]):
        assert run(["--store", where, command, "hard", *form]) == 0
        assert capfdbinary.readouterr().out.decode("utf-8")


def test_lines_that_were_broken_in_the_middle_of_a_conversation(store: Ledgers, write: Any) -> None:
    """They are reported. Mended, they cannot be put between what is recorded: that is refused and named, and another ledger
    takes the whole.
    """
    whole = [json.dumps({"role": "user", "content": f"turn {number}"}) for number in range(200)]
    broken = {20: "{", 50: whole[50][:-3], 51: "\x00", 90: "[1, 2", 120: whole[120] + "}", 150: "NaN", 199: whole[199][:9]}
    first = import_file(store, write("\n".join(broken.get(number, line) for number, line in enumerate(whole))), ledger="case")
    assert (first.events, [skip.line for skip in first.skipped]) == (193, [number + 1 for number in broken])
    told = ["import the file into another ledger" in skip.reason for skip in first.skipped]
    assert told == [True] * 6 + [False], "what is missing at the end can be added"
    with pytest.raises(TranscriptDiverged, match="name another ledger") as refused:
        import_file(store, write("\n".join(whole)), ledger="case")
    assert (refused.value.turn, store.ledger("case").version) == (21, 193)
    assert import_file(store, write("\n".join(whole)), ledger="mended").events == 200


def test_only_a_broken_line_leaves_a_gap(store: Ledgers, write: Any) -> None:
    """A line that is no message is not missing from the conversation."""
    twice = '{"role":"user","content":"b","content":"c"}'
    lines = ['{"title":"x"}', '{"role":"user","content":"a"}', twice, '{"role":"user","content":"d"}', twice]
    skipped = import_file(store, write("\n".join(lines)), ledger="case").skipped
    assert [(skip.line, "another ledger" in skip.reason) for skip in skipped] == [(1, False), (3, True), (5, False)]


def test_a_broken_line_at_the_end_that_was_finished(store: Ledgers, write: Any) -> None:
    whole = [json.dumps({"role": "user", "content": f"turn {number}"}) for number in range(6)]
    torn = import_file(store, write("\n".join(whole)[:-4]), ledger="case")
    assert (torn.events, [skip.line for skip in torn.skipped]) == (5, [6])
    assert "torn" in torn.skipped[0].reason
    assert import_file(store, write("\n".join(whole)), ledger="case").events == 1


def test_the_command_says_what_is_missing(tmp_path: Path, write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line with its number and reason, for people and for programs."""
    path = write('{"role":"user","content":"a"}\n{"role":"us\n{"role":"user","content":"b"}\n{"role":"user","mess')
    where = str(tmp_path / "record.db")
    assert run(["--store", where, "import", str(path), "--ledger", "case"]) == 0
    printed = capsys.readouterr().out
    assert "2 events recorded" in printed
    assert "NOT imported, line 2: not JSON" in printed
    assert "NOT imported, line 4: torn, the file ends inside it (20 bytes)" in printed
    assert run(["--store", where, "import", str(path), "--ledger", "case", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["events"], [one["line"] for one in answer["skipped"]]) == (0, [2, 4])


@pytest.mark.parametrize("time", ["2031-02-30T09:00:00Z", "2031-03-01T09:00:00", "01/02/2031", 1_900_000_000, "yesterday", ""])
def test_a_date_that_cannot_be_placed_is_kept_as_it_was_written(store: Ledgers, write: Any, time: object) -> None:
    import_file(store, write([{"role": "user", "content": "x", "timestamp": time}]), ledger="case")
    [turn] = turns(store, "case")
    assert turn.said_at is None
    kept = [part.raw for part in turn.parts if isinstance(part, OpaquePart)]
    assert kept == ([JsonText.of(time)] if time else [])


@pytest.mark.parametrize(
    "line",
    [
        b'{"role":"user","content":"\xff"}',
        b'{"role":"user","content":"\xed\xa0\x80"}',
        b'{"role":"user","content":"\xc0\xaf"}',
        b'{"role":"user","content":"\xf4\x90\x80\x80"}',
        '{"role":"user","content":"é"}'.encode("latin-1"),
        '{"role":"user","content":"é"}'.encode("utf-16"),
        b'{"role":"user\xfe","content":"x"}',
    ],
)
def test_a_line_that_is_not_utf8_is_reported_with_its_byte(store: Ledgers, write: Any, line: bytes) -> None:
    before = b'{"role":"user","content":"before"}\n'
    result = import_file(store, write(before + line + b"\n" + before), ledger="case")
    assert (result.events, [skip.line for skip in result.skipped]) == (2, [2])
    wrong = len(before) + next(at for at in range(len(line)) if not _is_utf8(line[: at + 1]) and not _is_utf8(line[: at + 4]))
    assert f"not UTF-8 at byte {wrong} of the file" in result.skipped[0].reason


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
