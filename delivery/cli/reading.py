"""Commands that ask: what there is, what was said, what a fresh session would see."""

from __future__ import annotations

import typer

from delivery.app import open_existing_store
from delivery.cli.answers import print_brief, print_transcript
from delivery.cli.arguments import AsJson, JudgedAt, LedgerName, Moment, judgement, moment
from delivery.cli.printing import print_basis, print_json, print_table, print_text
from projections.wire import to_json
from replay.listing import listing
from replay.view import view


def ledgers(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the ledgers of the store."""
    with open_existing_store(context.obj) as store:
        rows = listing(store)
    if as_json:
        print_json(to_json(rows))
    elif not rows:
        print_text("no ledgers yet: bring one in with context-ledger import")
    else:
        print_table(
            ("ledger", "version", "turns", "opened at"), [(row.ledger, row.version, row.turns, row.opened_at) for row in rows]
        )


def show(
    context: typer.Context, ledger: LedgerName, *, at: Moment = None, judged_at: JudgedAt = None, as_json: AsJson = False
) -> None:
    """Show the transcript: turns, and what their calls returned.

    A ledger that was forgotten answers to the name that it had.
    """
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at), judged_at=judgement(judged_at))
        shown, forgotten = asked.transcript(), asked.forgotten()
    if as_json:
        print_json(shown.to_json())
        return
    print_basis(shown.basis)
    print_transcript(shown.transcript, forgotten.places)


def handoff(
    context: typer.Context, ledger: LedgerName, *, at: Moment = None, judged_at: JudgedAt = None, as_json: AsJson = False
) -> None:
    """Write the brief for a fresh session."""
    with open_existing_store(context.obj) as store:
        found = view(store, ledger, at=moment(at), judged_at=judgement(judged_at)).handoff()
    if as_json:
        print_json(found.to_json())
    else:
        print_basis(found.basis)
        print_brief(found.brief)
