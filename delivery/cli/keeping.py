"""Commands that say how long content is kept, and sweep what is past its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, LedgerName
from delivery.cli.forgettings import print_forgettings
from delivery.cli.printing import one_line, print_json, print_table, print_text
from delivery.cli.selecting import By, DryRun, OneLedger
from ledger import Ledgers
from ledger import events as e
from ledger.errors import InvalidInput
from ledger.holds import hold_on
from ledger.reading import Reader
from ledger.record import Recorded
from ledger.retention import described, rules_at
from ledger.store import Head
from projections.wire import to_json


def retain(
    context: typer.Context,
    ledger: OneLedger = None,
    *,
    dry_run: DryRun = False,
    keep: Annotated[
        str | None, typer.Option("--set", metavar="TIME", help='Keep for "30 days", "1 year after close", "forever".')
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="NAME", help="... what bears this label.")] = None,
    section: Annotated[str | None, typer.Option(metavar="NAME", help='... a list section, or "entities".')] = None,
    event_type: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="... events of a type.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show the rules in force.")] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Forget what was kept for its time, in one ledger or in all.

    With --set a rule is made instead, which holds from then on. Exit code 1 where a legal hold keeps something.
    """
    _check(
        ledger, keep=keep, rules=rules, dry_run=dry_run, scoped=any(name is not None for name in (label, section, event_type))
    )
    with open_existing_store(context.obj) as store:
        if rules:
            _print_rules(store, ledger, as_json=as_json)
        elif keep is not None and ledger is not None:
            name = store.head(ledger).name
            made = store.ledger(name).set_retention(keep, label=label, section=section, event_type=event_type, actor=by)
            assert isinstance(made.event, e.RetentionSet), "it was asked for"
            _print_rule(name, made.version, made.event, as_json=as_json)
        elif not _sweep(store, ledger, by=by, dry_run=dry_run, as_json=as_json):
            raise typer.Exit(1)


def _check(ledger: str | None, *, keep: str | None, rules: bool, dry_run: bool, scoped: bool) -> None:
    if scoped and keep is None:
        raise InvalidInput("--label, --section and --type go with --set: say how long it is kept", path="set")
    if keep is not None and ledger is None:
        raise InvalidInput("--set is for one ledger: name it", path="ledger")
    if sum((keep is not None, rules, dry_run)) > 1:
        raise InvalidInput("--set, --rules and --dry-run are three things: do one at a time", path="set")


def _sweep(store: Ledgers, ledger: str | None, *, by: str | None, dry_run: bool, as_json: bool) -> bool:
    found = store.retain(ledger, actor=by, dry_run=dry_run)
    if not found and not as_json:
        print_text("nothing is past its retention")
    return print_forgettings(found, as_json=as_json)


def _print_rule(ledger: str, version: int, rule: e.RetentionSet, *, as_json: bool) -> None:
    if as_json:
        print_json(to_json({"version": version, **_rule(ledger, rule)}))
    else:
        print_text(f"{one_line(ledger)} at version {version}: {one_line(described(rule))}")


def _print_rules(store: Ledgers, ledger: str | None, *, as_json: bool) -> None:
    heads = store.heads() if ledger is None else [store.head(ledger)]
    found = [(head.name, rule) for head in heads for rule in rules_at(_governing(store, head), store.clock())]
    if as_json:
        print_json(to_json([_rule(name, rule) for name, rule in found]))
    elif not found:
        print_text("no rules: everything is kept until it is forgotten")
    else:
        print_table(("ledger", "kept"), [(name, described(rule)) for name, rule in found])


def _rule(ledger: str, rule: e.RetentionSet) -> dict[str, Any]:
    return {
        "ledger": ledger,
        "scope": rule.scope,
        "name": rule.name,
        "keep_seconds": rule.keep_seconds,
        "after_close": rule.after_close,
        "rule": described(rule),
    }


def hold(
    context: typer.Context,
    ledger: LedgerName,
    *,
    place: Annotated[str | None, typer.Option(metavar="REASON", help="From now on nothing of it is erased.")] = None,
    lift: Annotated[str | None, typer.Option(metavar="REASON", help="End the hold.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Place a legal hold on a ledger, lift it, or show it."""
    if place is not None and lift is not None:
        raise InvalidInput("--place and --lift are given: do one at a time", path="lift")
    with open_existing_store(context.obj) as store:
        name = store.head(ledger).name
        if place is not None:
            store.ledger(name).place_hold(because=place, actor=by)
        elif lift is not None:
            store.ledger(name).lift_hold(because=lift, actor=by)
        hold = hold_on(_governing(store, store.head(ledger)))
        held = None if hold is None else hold.because
    if as_json:
        print_json(to_json({"ledger": name, "held": held is not None, "because": held}))
    elif held is None:
        print_text(f"{one_line(name)} is under no legal hold")
    else:
        print_text(f"{one_line(name)} is under a legal hold: {one_line(held)}")


def _governing(store: Ledgers, head: Head) -> Sequence[Recorded]:
    return Reader(store.store, head.ledger).governing
