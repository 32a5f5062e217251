"""Commands that bring something in."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from delivery.app import open_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, print_json, print_text
from delivery.importers.importing import import_file
from ledger.errors import LedgerError
from projections.wire import to_json

_STANDARD_INPUT: Final = Path("-")


def import_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A transcript: JSON, or JSON lines; - for standard input.")],
    *,
    form: Annotated[str, typer.Option("--format", help="auto, openai or anthropic.")] = "auto",
    ledger: Annotated[str | None, typer.Option(help="Name of the ledger, if the file holds one conversation.")] = None,
    subject: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Whom it is about (customer:c_9912); may be given again.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Kind of content, for rules of retention; may be given again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import transcripts from a file or from standard input.

    What a ledger holds already is not recorded again.
    """
    with _readable(file) as path, open_store(context.obj) as store:
        result = import_file(store, path, format=form, ledger=ledger, subjects=subject or (), labels=label or ())
    if as_json:
        print_json(to_json({"ledgers": result.ledgers, "events": result.events, "skipped": result.skipped}))
        return
    for name in result.ledgers:
        print_text(name)
    print_text(f"{counted(result.events, 'event')} recorded in {counted(len(result.ledgers), 'ledger')}")
    for skipped in result.skipped:
        print_text(f"line {skipped.line} skipped: {skipped.reason}")


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    """A file that can be gone through twice, as an import does: a stream is kept on disk for that long."""
    if file != _STANDARD_INPUT:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "standard-input"
        with kept.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield kept
        except LedgerError as error:
            error.args = (str(error).replace(str(kept), "standard input"),)
            raise
