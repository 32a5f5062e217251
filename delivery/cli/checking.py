"""Commands that check the record."""

from __future__ import annotations

from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, print_json, print_text
from ledger import Ledgers
from ledger.reading import Reader
from ledger.verify import verify_store
from projections.wire import to_json


def verify(
    context: typer.Context,
    ledger: Annotated[str | None, typer.Argument(metavar="LEDGER", help="One ledger; else all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that what is stored is what was recorded.

    Hashes, order, admission and artifacts, and that what was forgotten is gone; exit code 1 where something is wrong.
    """
    with open_existing_store(context.obj) as store:
        found = verify_store(store, ledger)
        forgotten = _forgotten(store, ledger) if found.ok else 0  # in a damaged record it cannot be known
    if as_json:
        known = {"ok": found.ok, "events": found.events, "problems": found.problems}
        print_json(to_json({**known, **({"forgotten": forgotten} if forgotten else {})}))
    else:
        for problem in found.problems:
            print_text(f"{problem.ledger} version {problem.version}: {problem.problem}")
        gone = f", {forgotten:,} of them forgotten" if forgotten else ""
        print_text(f"{counted(found.events, 'event')}{gone}, {counted(len(found.problems), 'problem')}")
    if not found.ok:
        raise typer.Exit(1)


def _forgotten(store: Ledgers, ledger: str | None) -> int:
    """How many of the events were forgotten; what is past its retention and not erased yet is not among them."""
    heads = store.heads() if ledger is None else [store.head(ledger)]
    return sum(len(Reader(store.store, head.ledger).marks) for head in heads)
