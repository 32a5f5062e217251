"""How two states of a ledger differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, JudgedAt, LedgerName, judgement, moment
from delivery.cli.printing import one_line, plain_value, print_json, print_text
from projections.state import FactNow
from projections.state_diff import FactChange, StateDiff
from replay.view import diff, view


def diff_command(
    context: typer.Context,
    ledger: LedgerName,
    *,
    first: Annotated[str, typer.Option("--from", metavar="V", help="The earlier one: a version, turn or time, as for --at.")],
    last: Annotated[str | None, typer.Option("--to", metavar="V", help="The later one, likewise; else now.")] = None,
    judged_at: JudgedAt = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two states."""
    earlier, later, judged = moment(first, "--from"), moment(last, "--to"), judgement(judged_at)
    with open_existing_store(context.obj) as store:
        before = view(store, ledger, at=earlier, judged_at=judged)
        found = diff(before, view(store, ledger, at=later, judged_at=judged))
    if as_json:
        print_json(found.to_json())
        return
    print_text(f"{found.after.ledger} from version {found.before.version} to {found.after.version}\n")
    for line in _lines(found):
        print_text(one_line(line))


def _lines(found: StateDiff) -> Iterator[str]:
    if found.is_empty:
        yield "nothing changed"
    yield from map(_fact_line, found.facts)
    for sign, entries in (("+", found.added), ("-", found.closed)):
        for entry in entries:
            yield f"{sign} {entry.section}: {entry.what} ({entry.id}{_turn(entry.turn)})"
    for sign, disputes in (("+", found.opened), ("-", found.settled)):
        for dispute in disputes:
            yield f"{sign} contradiction about {dispute.about} ({dispute.id})"


def _fact_line(change: FactChange) -> str:
    if change.before is None or change.after is None:
        sign, fact = ("+", change.after) if change.before is None else ("-", change.before)
        return f"{sign} {change.field}: {_shown(fact)}"
    return f"~ {change.field}: {_shown(change.before)} -> {_shown(change.after)}"


def _shown(fact: FactNow | None) -> str:
    return "" if fact is None else f"{one_line(plain_value(fact.json), most=100)} ({fact.source}{_turn(fact.turn)})"


def _turn(turn: int | None) -> str:
    return "" if turn is None else f", turn {turn}"
