"""Search in the record of a ledger, or of all."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, JudgedAt, Moment, judgement, moment
from delivery.cli.printing import counted, one_line, print_basis, print_json, print_text
from ledger.errors import InvalidInput
from projections.search.searchable import KINDS
from replay.search import SearchAnswer, search
from replay.searching.candidates import Hit
from replay.view import view

_TURNS: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def search_command(
    context: typer.Context,
    ledger: Annotated[
        str | None, typer.Argument(metavar="LEDGER", help="Name of the ledger; with --all, the words.", show_default=False)
    ] = None,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="Words to look for.")] = None,
    *,
    at: Moment = None,
    judged_at: JudgedAt = None,
    kind: Annotated[str | None, typer.Option(metavar="KIND", help=f"Only of a kind: {', '.join(KINDS)}.")] = None,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="Only of a role: system, user, assistant.")] = None,
    turns: Annotated[str | None, typer.Option(metavar="A-B", help="Only of these turns (3-9, or 7).")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many places to show.")] = 10,
    offset: Annotated[int, typer.Option(metavar="N", help="How many places to pass by.")] = 0,
    everywhere: Annotated[bool, typer.Option("--all", help="In all ledgers, as they are now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search the whole record, whether a window shows it or not.

    Words that stand together (ORD-88213, src/app.py) are looked for so; "in quotation marks" they follow on each other. Where
    nothing has all words, what has any is shown.
    """
    wanted: dict[str, Any] = {"kind": kind, "role": role, "turns": _turns(turns), "limit": limit, "offset": offset}
    with open_existing_store(context.obj) as store:
        if everywhere:
            found = search(store, _only(ledger, text, at), judged_at=judgement(judged_at), **wanted)
        elif ledger is None or text is None:
            raise InvalidInput("what should be searched for is missing: give the ledger and the words", path="text")
        else:
            found = view(store, ledger, at=moment(at), judged_at=judgement(judged_at)).search(text, **wanted)
    if as_json:
        print_json(found.to_json())
    else:
        _print(found, offset)


def _only(words: str | None, more: str | None, at: str | None) -> str:
    if words is None:
        raise InvalidInput("what should be searched for is missing: give the words behind --all", path="text")
    if more is not None:
        raise InvalidInput("with --all no ledger is named: give the words alone, in one pair of quotation marks", path="text")
    if at is not None:
        raise InvalidInput("--at is of one ledger: name it, or leave --at out", path="at")
    return words


def _turns(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = _TURNS.fullmatch(text)
    if found is None:
        raise InvalidInput(f"--turns {text!r} is no turn (7) and no range (3-9)", path="turns")
    first, last = int(found[1]), int(found[2] or found[1])
    if not 1 <= first <= last:
        raise InvalidInput(
            f"--turns {text!r} is no range: give the first turn, from 1 on, and then the last (3-9)", path="turns"
        )
    return first, last


def _print(found: SearchAnswer, offset: int) -> None:
    if found.basis is not None:
        print_basis(found.basis)
    if not found.hits:
        print_text(f"nothing found beyond the first {counted(offset, 'place')}" if offset else "nothing found")
    elif found.matched == "any":
        print_text("nothing has all of the words; these have some:\n")
    for hit in found.hits:
        ledger = f"{one_line(hit.ledger)}, " if found.basis is None else ""
        print_text(f"{ledger}{_place(hit)}:")
        print_text(f"  {one_line(_marked(hit))}")
    if found.more:
        print_text("\nthere are more: see --limit and --offset")


def _place(hit: Hit) -> str:
    words = [hit.id, hit.kind, None if hit.turn is None else f"turn {hit.turn}", hit.role, f"version {hit.version}"]
    return one_line(", ".join(word for word in words if word is not None))


def _marked(hit: Hit) -> str:
    """The snippet, with » and « around what matches."""
    shown, place = "", 0
    for start, end in hit.places:
        if start >= place:
            shown += f"{hit.snippet[place:start]}»{hit.snippet[start:end]}«"
            place = end
    return shown + hit.snippet[place:]
