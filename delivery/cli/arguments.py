"""Arguments and options that several commands share, each with its one meaning."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final

import typer

from ledger.errors import InvalidInput
from replay.moment import At, Turn

LedgerName = Annotated[str, typer.Argument(metavar="LEDGER", help="Name of the ledger.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Moment = Annotated[
    str | None,
    typer.Option(
        metavar="V", help="As of a version (12), a turn (turn:7) or a recorded time (2031-05-11T09:00:00Z); else now."
    ),
]
JudgedAt = Annotated[
    str | None,
    typer.Option("--judged-at", metavar="TIME", help="When it is judged what is past its retention (as for --at); else now."),
]

FieldName = Annotated[str, typer.Argument(metavar="FIELD", help="Name of the field, or another name that is declared for it.")]
Because = Annotated[str | None, typer.Option(metavar="TEXT", help="Why.")]
JsonValue = Annotated[bool, typer.Option("--json-value", help="VALUE is JSON, not a text.")]

_TURN: Final = re.compile(r"turn:(\d+)")


def moment(text: str | None, option: str = "--at") -> At:
    """What ``--at`` means, or another option that takes the same."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    turn = _TURN.fullmatch(text)
    if turn is not None:
        return Turn(int(turn[1]))
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{option} {text!r} is no version (12), turn (turn:7) or time with its zone (2031-05-11T09:00:00Z)",
            path=_path(option),
        ) from None


def instant(text: str | None, option: str) -> datetime | None:
    """What an option means that takes a time with its zone."""
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        found = None
    if text is not None and (found is None or found.tzinfo is None):
        raise InvalidInput(f"{option} {text!r} is no time with its zone (2031-05-11T09:00:00Z)", path=_path(option))
    return found


def judgement(text: str | None) -> datetime | None:
    """What ``--judged-at`` means: a time with its zone."""
    return instant(text, "--judged-at")


def _path(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
