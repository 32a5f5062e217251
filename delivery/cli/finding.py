"""Which ledgers ever held a value."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, JsonValue, JudgedAt, judgement
from delivery.cli.printing import print_json, print_table, print_text
from delivery.cli.standing_values import value_of
from projections.wire import to_json
from replay.finding import FoundFact, find_facts


def find(
    context: typer.Context,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="Name of the field itself, not another one for it.")],
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="Its value, in any spelling; else any value.")] = None,
    *,
    json_value: JsonValue = False,
    judged_at: JudgedAt = None,
    as_json: AsJson = False,
) -> None:
    """Find the ledgers in which a field ever held a value.

    The newest claim comes last. What was only disputed or refused was never held.
    """
    wanted: dict[str, Any] = {} if value is None else {"value": value_of(value, is_json=json_value)}
    with open_existing_store(context.obj) as store:
        found = find_facts(store, field=field, judged_at=judgement(judged_at), **wanted)
    if as_json:
        print_json(to_json([_row(fact) for fact in found]))
    elif not found:
        print_text("no ledger ever held it")
    else:
        print_table(("ledger", "field", "value", "version", "turn", "source", "stands"), [_cells(fact) for fact in found])


def _row(fact: FoundFact) -> dict[str, Any]:
    return {
        "ledger": fact.ledger,
        "field": fact.field,
        "value": fact.json,
        "version": fact.version,
        "turn": fact.turn,
        "source": fact.source,
        "stands": fact.stands,
    }


def _cells(fact: FoundFact) -> tuple[Any, ...]:
    turn = "" if fact.turn is None else str(fact.turn)
    return (fact.ledger, fact.field, fact.json, fact.version, turn, fact.source, "yes" if fact.stands else "no")
