"""Commands that bring something in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from delivery.app import open_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import print_json, print_text
from delivery.importers.importing import import_file
from projections.wire import to_json


def import_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A transcript: JSON, or JSON lines.")],
    form: Annotated[str, typer.Option("--format", help="auto, openai or anthropic.")] = "auto",
    ledger: Annotated[str | None, typer.Option(help="Name of the ledger, if the file holds one conversation.")] = None,
    as_json: AsJson = False,
) -> None:
    """Import transcripts: what a ledger holds already is not recorded again.

    Example: context-ledger import examples/refund.json --ledger refund-ORD-88213
    """
    with open_store(context.obj) as store:
        result = import_file(store, file, format=form, ledger=ledger)
    if as_json:
        print_json(to_json({"ledgers": result.ledgers, "events": result.events, "skipped": result.skipped}))
        return
    for name in result.ledgers:
        print_text(name)
    print_text(f"{result.events:,} events recorded in {len(result.ledgers):,} ledgers")
    for skipped in result.skipped:
        print_text(f"line {skipped.line} skipped: {skipped.reason}")
