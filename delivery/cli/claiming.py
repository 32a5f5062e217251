"""Commands by which a person at a terminal states, confirms, takes back and decides: recorded as said through the interface."""

from __future__ import annotations

from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, Because, FieldName, JsonValue, LedgerName, instant
from delivery.cli.outcomes import Outcome, outcome_of, print_outcome
from delivery.cli.printing import print_json, print_text
from delivery.cli.selecting import By
from delivery.cli.standing_values import replaced, seen, value_of
from projections.wire import to_json


def set_command(
    context: typer.Context,
    ledger: LedgerName,
    field: FieldName,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its value: a text, or JSON with --json-value.")],
    *,
    was: Annotated[str | None, typer.Option(metavar="OLD", help="The value that it replaces, as it was shown.")] = None,
    json_value: JsonValue = False,
    because: Because = None,
    turn: Annotated[int | None, typer.Option(metavar="N", min=1, help="The turn that it comes from.")] = None,
    valid_from: Annotated[str | None, typer.Option(metavar="TIME", help="From when on it holds in the world.")] = None,
    valid_to: Annotated[str | None, typer.Option(metavar="TIME", help="Until when it holds in the world.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """State the value of a field.

    A value that the user stated, or somebody here, is replaced only if --was names it. Exit code 1 where it is not taken.
    """
    begins, ends = instant(valid_from, "--valid-from"), instant(valid_to, "--valid-to")
    given = value_of(value, is_json=json_value)
    with open_existing_store(context.obj) as store:
        stands = seen(store, ledger, field)
        handle = store.ledger(stands.ledger)
        recorded = handle.set_fact(
            field,
            given,
            source="interface",
            turn=turn,
            supersedes=replaced(stands, given, was),
            because=because,
            valid_from=begins,
            valid_to=ends,
            actor=by,
        )
        outcome = outcome_of(store, handle, recorded)
    _end(outcome, as_json=as_json)
    if because is not None and not as_json and outcome.event != "fact.superseded":
        print_text("  the reason is not kept: there was no value that this one replaces")


def confirm(context: typer.Context, ledger: LedgerName, field: FieldName, *, by: By = None, as_json: AsJson = False) -> None:
    """Confirm the value that stands.

    What a tool returned or a model inferred counts as confirmed from then on.
    """
    with open_existing_store(context.obj) as store:
        stands = seen(store, ledger, field)
        value = stands.value  # named, too, so that another one that came meanwhile is not taken for it
        handle = store.ledger(stands.ledger)
        recorded = handle.set_fact(field, value, source="interface", supersedes=value, actor=by)
        outcome = outcome_of(store, handle, recorded)
    _end(outcome, as_json=as_json)


def retract(
    context: typer.Context,
    ledger: LedgerName,
    field: FieldName,
    *,
    because: Because = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Take a value back: the field has none from then on."""
    with open_existing_store(context.obj) as store:
        handle = store.ledger(store.head(ledger).name)
        recorded = handle.retract_fact(field, source="interface", because=because, actor=by)
        outcome = outcome_of(store, handle, recorded)
    _end(outcome, as_json=as_json)


def resolve(
    context: typer.Context,
    ledger: LedgerName,
    contradiction: Annotated[str, typer.Argument(metavar="CON_ID", help="Id of the contradiction (con_9).")],
    *,
    because: Annotated[str, typer.Option(metavar="TEXT", help="Why it is decided so.")],
    value: Annotated[str | None, typer.Option(metavar="VALUE", help="The value that holds from now on.")] = None,
    json_value: JsonValue = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Decide a contradiction.

    With --value that one stands from then on; else what stands goes on standing.
    """
    given = None if value is None else value_of(value, is_json=json_value)
    with open_existing_store(context.obj) as store:
        handle = store.ledger(store.head(ledger).name)
        recorded = handle.resolve_contradiction(contradiction, because=because, source="interface", value=given, actor=by)
        outcome = outcome_of(store, handle, recorded)
    _end(outcome, as_json=as_json)


def _end(outcome: Outcome, *, as_json: bool) -> None:
    """Tell what came of it; exit code 1 where it is not what was asked for."""
    if as_json:
        print_json(to_json(outcome.row))
    else:
        print_outcome(outcome)
    if not outcome.is_done:
        raise typer.Exit(1)
