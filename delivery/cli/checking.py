"""Commands that check the record."""

from __future__ import annotations

from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, print_json, print_text
from ledger.verify import verify_store
from projections.wire import to_json


def verify(
    context: typer.Context,
    ledger: Annotated[str | None, typer.Argument(metavar="LEDGER", help="One ledger; else all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that what is stored is what was recorded.

    Hashes, order, admission and artifacts; exit code 1 where something is wrong.
    """
    with open_existing_store(context.obj) as store:
        found = verify_store(store, ledger)
    if as_json:
        print_json(to_json({"ok": found.ok, "events": found.events, "problems": found.problems}))
    else:
        for problem in found.problems:
            print_text(f"{problem.ledger} version {problem.version}: {problem.problem}")
        print_text(f"{counted(found.events, 'event')}, {counted(len(found.problems), 'problem')}")
    if not found.ok:
        raise typer.Exit(1)
