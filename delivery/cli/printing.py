"""Answers for people: plain text, in which nothing from a transcript can move the cursor or hide."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from ledger.json_text import JsonText
from projections.basis import Basis

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_HIDDEN: Final = re.compile(
    "[\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What JSON may hold unescaped and a terminal acts on or does not show; those below U+0020 are escaped in any JSON."""

_WIDE: Final = 72
_PIPED_WIDTH: Final = 160


_LINE_ENDS: Final = {mark.encode(): ascii(mark)[1:-1].replace("\\x", "\\u00").encode() for mark in "\x85\u2028\u2029"}


def printable(text: str) -> str:
    """A text with control and invisible characters shown as escapes; line ends and tabs stay."""
    return _UNSAFE.sub(lambda match: ascii(match.group())[1:-1], text)


def one_line(text: str, *, most: int | None = None) -> str:
    """A text on one line, cut with an ellipsis where it is longer than ``most`` characters."""
    line = printable(" ".join(text.split()))
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def prepare_streams() -> None:
    """Let any text be written, whatever the terminal's encoding, and also where somebody closed the streams."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 — open for as long as the program runs
            setattr(sys, name, nowhere)
        getattr(sys, name).reconfigure(errors="backslashreplace")


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 event``, ``2,000 events``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_json(answer: bytes) -> None:
    """An answer for programs: one JSON document on one line, UTF-8 whatever the terminal.

    Characters that some readers take for the end of a line are escaped, which changes no value; where a person reads,
    at a terminal, all that steer it or hide are.
    """
    if sys.stdout.isatty():
        answer = _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], answer.decode()).encode()
    for character, escape in _LINE_ENDS.items():
        answer = answer.replace(character, escape)
    try:
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave_unread()


def print_text(text: str = "") -> None:
    """A text for people."""
    try:
        sys.stdout.write(printable(text) + "\n")
    except BrokenPipeError:
        leave_unread()


def flush() -> None:
    """Hand over what was printed, while a reader that has gone can still be told from an error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        leave_unread()


def leave_unread() -> None:
    """Let the rest of the output go nowhere, because its reader has gone; the exit code still tells how the command ended."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def print_basis(basis: Basis) -> None:
    """The line that says what an answer rests on."""
    policy = "" if basis.policy is None else f", policy {basis.policy[:12]}"
    print_text(f"{basis.ledger} at version {basis.version} ({basis.recorded_at or 'nothing recorded'}{policy})\n")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Columns under headings, numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    listed = [list(row) for row in rows]
    for place, heading in enumerate(headings):
        is_number = bool(listed) and all(isinstance(row[place], int) for row in listed)
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in listed:
        table.add_row(*(Text(cell(value)) for value in row))
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _PIPED_WIDTH)
    with console.capture() as shown:
        console.print(table)
    print_text("\n".join(line.rstrip() for line in shown.get().splitlines()))


def cell(value: Any) -> str:
    """A value as a table shows it: nothing for None, foreign JSON without the quotes of a string."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else one_line(plain_value(value), most=_WIDE)


def plain_value(value: Any) -> str:
    """A value in a sentence: foreign JSON without the quotes of a string that is not blank, on one line."""
    if not isinstance(value, JsonText):
        return one_line(str(value))
    plain = value.value
    return one_line(plain if isinstance(plain, str) and plain.strip() else value.one_line)
