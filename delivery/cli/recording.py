"""Commands that bring something in."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from delivery.app import open_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, flush, print_json, print_text
from delivery.importers import NAMES
from delivery.importers.importing import ImportResult, import_file
from ledger import Ledgers
from ledger.errors import LedgerError
from projections.wire import to_json
from replay.freshening import freshen

_STANDARD_INPUT: Final = Path("-")


def import_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A transcript: JSON, or JSON lines; - for standard input.")],
    *,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help=f"auto, {', '.join(NAMES)}.")] = "auto",
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

    What a ledger holds already is not recorded again. Ledgers that grew are made ready for windows after that, which takes
    about a millisecond a turn.
    """
    with _readable(file) as path, open_store(context.obj) as store:
        before = _versions(store)
        try:
            result = import_file(store, path, format=form, ledger=ledger, subjects=subject or (), labels=label or ())
        except LedgerError as error:
            _freshen(store, error.details.get("imported", ()), before)
            raise
        _tell(result, as_json=as_json)
        _freshen(store, result.ledgers, before)


def _tell(result: ImportResult, *, as_json: bool) -> None:
    """The report, handed over before anything else is done, since all of it is recorded by now."""
    if as_json:
        found = {"ledgers": result.ledgers, "events": result.events, "skipped": result.skipped}
        print_json(to_json({**found, "left_out": result.left_out}))
        return
    for name in result.ledgers:
        print_text(name)
    print_text(f"{counted(result.events, 'event')} recorded in {counted(len(result.ledgers), 'ledger')}")
    for skipped in result.skipped:
        print_text(f"line {skipped.line} skipped: {skipped.reason}")
    flush()


def _versions(store: Ledgers) -> dict[str, int]:
    return {head.name: head.version for head in store.heads()}


def _freshen(store: Ledgers, names: Sequence[str], before: Mapping[str, int]) -> None:
    """Make the ledgers ready for windows that grew, so that nobody waits for it later; a person is told how far it is."""
    grown = [name for name in names if store.head(name).version != before.get(name)]
    for number, name in enumerate(grown, start=1):
        if sys.stderr.isatty():
            sys.stderr.write(f"\rmaking ready for windows: {number:,} of {counted(len(grown), 'ledger')}")
        try:
            freshen(store, name)
        except LedgerError as error:  # what was imported stays; the next who asks for a window is told of it
            warnings.warn(f"windows of {name!r} are not made ready: {error}", stacklevel=2)
    if grown and sys.stderr.isatty():
        sys.stderr.write("\n")


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
