"""The window that a model call would receive: built, shown, recorded, and compared with another policy's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, JudgedAt, LedgerName, Moment, judgement, moment
from delivery.cli.policies import (
    BudgetTokens,
    Encoding,
    Model,
    PolicyOption,
    ReserveTokens,
    TailTurns,
    changed,
    policy_option,
)
from delivery.cli.printing import print_json, print_text
from delivery.cli.rule_modules import RuleModules, register_rules
from delivery.cli.window_answers import print_window, print_window_diff, recorded_json
from ledger.errors import InvalidInput
from ledger.json_text import JsonText
from projections.render import RENDERERS
from replay.view import view
from replay.window_diff import diff_windows


def window(
    context: typer.Context,
    ledger: LedgerName,
    *,
    at: Moment = None,
    judged_at: JudgedAt = None,
    policy: PolicyOption = None,
    rules: RuleModules = None,
    tail: TailTurns = None,
    budget: BudgetTokens = None,
    reserve: ReserveTokens = None,
    render: Annotated[str, typer.Option(metavar="FORM", help=f"Form of the request: {', '.join(RENDERERS)}.")] = "openai",
    encoding: Encoding = None,
    model: Model = None,
    tools: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON list of the definitions of tools that go with it.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE|PRESET", help="Show what changes under this other policy instead.")
    ] = None,
    turns: Annotated[bool, typer.Option("--turns", help="A row of the receipt for every turn.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Record it as served, and say its id.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build what a model call would receive, with a receipt.

    Without --json it is shown as text, but chosen and priced for the form that --render names. The single options change the
    policy.
    """
    _check_against(against, record=record, turns=turns)
    options = {
        "tail_turns": tail,
        "budget_tokens": budget,
        "reserve_tokens": reserve,
        "encoding": encoding,
        "model": model,
    }
    register_rules(rules)
    chosen = changed(policy_option("default" if policy is None else policy), **options)
    definitions = None if tools is None else _definitions(tools)
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at), judged_at=judgement(judged_at))
        found = asked.window(chosen, render=render, tools=definitions)
        if against is not None:
            other = changed(policy_option(against, "--against"), **options)
            found_diff = diff_windows(found, asked.window(other, render=render, tools=definitions))
            if as_json:
                print_json(found_diff.to_json())
            else:
                print_window_diff(found_diff)
            return
        served = store.ledger(found.basis.ledger).record_window(found) if record else None
        if as_json:
            print_json(found.to_json() if served is None else recorded_json(found, served))
            return
        print_window(found, every_turn=turns)
        if served is not None:
            print_text(f"recorded as {served}")


def _check_against(against: str | None, **others: bool) -> None:
    """Two windows that are compared are neither served nor expanded; ``InvalidInput`` names what does not go with it."""
    name = next((name for name, given in others.items() if given), None)
    if against is not None and name is not None:
        raise InvalidInput(f"--{name} and --against: give one of them", path=name)


def _definitions(file: Path) -> JsonText:
    """The definitions of tools in a file, as their text; ``InvalidInput`` names it."""
    try:
        found = JsonText.parse(file.read_bytes())
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}", **error.details) from None
    if not isinstance(found.value, list) or not all(isinstance(tool, dict) for tool in found.value):
        raise InvalidInput(
            f"--tools {file} has no list of tools: give the definitions as the provider wants them, in one list", path="tools"
        )
    return found
