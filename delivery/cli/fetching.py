"""Get back what answers name by an id: a tool's result, evidence, a contradiction, an entry, a turn, any event."""

from __future__ import annotations

import mimetypes
import sys
from pathlib import Path
from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.answers import marked
from delivery.cli.arguments import AsJson, JudgedAt, LedgerName, Moment, judgement, moment
from delivery.cli.printing import leave_unread, one_line, print_basis, print_json, print_text
from ledger.errors import InvalidInput
from ledger.parts import DocumentPart, ImagePart
from replay.fetching import FetchedResult, Piece
from replay.view import view


def fetch(
    context: typer.Context,
    ledger: LedgerName,
    wanted: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a result, as in a stub (r_12), or another one: ev_31, turn_7, sum_8, v_4."),
    ],
    *,
    at: Moment = None,
    judged_at: JudgedAt = None,
    raw: Annotated[bool, typer.Option("--raw", help="Write the text alone, byte for byte.")] = False,
    start: Annotated[
        int | None, typer.Option("--start", metavar="N", min=0, help="First character of the text, counted from 0.")
    ] = None,
    length: Annotated[int | None, typer.Option("--length", metavar="N", min=1, help="So many characters of it.")] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write its pictures and documents into a folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Get back what a tool returned, whole, by the id in its stub.

    Likewise evidence with its quote and page, contradictions with their claims, entries, turns by their numbers, summaries,
    what is recorded of served windows, and any event by its version (v_4), such as search finds.
    """
    if raw and as_json:
        raise InvalidInput("--raw and --json: give one of them", path="raw")
    with open_existing_store(context.obj) as store:
        found = view(store, ledger, at=moment(at), judged_at=judgement(judged_at)).fetch(wanted)
    piece = None if start is length is None or found.forgotten is not None else found.piece(start or 0, length)
    written = [] if output is None else _written(found, output)
    if as_json:
        print_json(found.to_json(piece))
    elif raw:
        _print_raw(found, piece or found)
    else:
        _print(found, piece)
        for path in written:
            print_text(f"written: {one_line(str(path))}")


def _print_raw(found: FetchedResult, shown: Piece | FetchedResult) -> None:
    if found.forgotten is not None:
        sys.stderr.write(f"context-ledger: {found.kind} {found.id}: {one_line(marked(found.forgotten))}\n")
        raise typer.Exit(1)
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(shown.content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave_unread()


def _print(found: FetchedResult, piece: Piece | None) -> None:
    print_basis(found.basis)
    what = (found.tool or "no known tool") if found.kind == "result" else found.kind
    turn = None if found.turn is None or found.kind == "turn" else f"turn {found.turn}"
    where = None if piece is None else f"characters {piece.start:,} to {piece.end:,} of {piece.characters:,}"
    words = [found.id, what, turn, found.role, found.call_id, where]
    print_text(one_line(", ".join(word for word in words if word)) + (", an error:" if found.is_error else ":"))
    print_text((piece or found).text if found.forgotten is None else marked(found.forgotten))
    for part in found.parts:
        if isinstance(part, ImagePart | DocumentPart):
            known = (part.name, part.media_type, part.url, part.sha256)
            print_text(one_line(f"[{part.type}: {', '.join(word for word in known if word is not None)}]"))


def _written(found: FetchedResult, folder: Path) -> list[Path]:
    """Write every picture and document that the ledger keeps under its hash; one that is there already is the same."""
    if not folder.is_dir():
        raise InvalidInput(f"the folder {folder} does not exist: make it first", path="output")
    types = {part.sha256: part.media_type for part in found.parts if isinstance(part, ImagePart | DocumentPart)}
    written = []
    for sha256, content in found.artifacts.items():
        path = folder / f"{sha256}{mimetypes.guess_extension(types.get(sha256) or '') or ''}"
        path.write_bytes(content)
        written.append(path)
    return written
