"""Where the tokens of conversations go, what nobody needs again, and what policies would save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, Moment, moment
from delivery.cli.policies import policy_option
from delivery.cli.printing import counted, one_line, print_json, print_table, print_text
from delivery.cli.rule_modules import RuleModules, register_rules
from delivery.plots.audit import audit_svg
from ledger.errors import InvalidInput
from projections.auditing.audit import Amount, Audit, BigResult, Repeated, Sent
from projections.policy import Policy
from projections.presets import PRESETS
from replay.audit import audit

_BESIDE: Final = "sliding"
"""The policy beside which all others are shown."""

_MOST_ASKED: Final = 56
_MOST_NAMED: Final = 3


def audit_command(
    context: typer.Context,
    ledgers: Annotated[list[str] | None, typer.Argument(metavar="LEDGER", help="Names of ledgers.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All ledgers of the store.")] = False,
    policies: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="FILE|PRESET", help="Compare this one; may be given again."),
    ] = None,
    rules: RuleModules = None,
    alone: Annotated[
        bool, typer.Option("--no-compare", help="Compare no policies, which is most of the work; --policy only judges.")
    ] = False,
    at: Moment = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw it into a file, too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Audit where the tokens go: by verdict, tool result and repeat.

    And what policies would save against sending everything: support, coding and research, or those that are named,
    beside sliding. The first says how turns are judged.
    """
    register_rules(rules)
    given = {text: policy_option(text) for text in policies or []}
    if alone and len(given) > 1:
        raise InvalidInput("--no-compare compares no policy: name one at most, by which turns are judged", path="policy")
    if plot is not None:
        _check_place(plot)
    with open_existing_store(context.obj) as store:
        names = [head.name for head in store.heads()] if everything else list(ledgers or [])
        if everything and ledgers:
            raise InvalidInput("with --all no ledger is named: leave one of them out", path="all")
        if not names:
            raise InvalidInput("no ledger is named: give their names, or --all", path="ledgers")
        judged_by = next(iter(given.items()), None)
        found = audit(store, names, policies={} if alone else _compared(given), judged_by=judged_by, at=moment(at))
    if plot is not None:
        plot.write_text(audit_svg(found), encoding="utf-8")
    if as_json:
        print_json(found.to_json())
        return
    print_audit(found)
    if plot is not None:
        print_text(f"\ndrawn into {one_line(str(plot))}")


def _check_place(plot: Path) -> None:
    """Refuse a place for the plot before an audit that may take long."""
    if plot.is_dir():
        raise InvalidInput(f"--plot {plot} is a folder: name a file in it", path="plot")
    if plot.suffix.lower() != ".svg":
        raise InvalidInput(f"--plot {plot}: what is drawn is SVG: name a file that ends in .svg", path="plot")
    if not plot.absolute().parent.is_dir():
        raise InvalidInput(f"--plot {plot}: there is no folder {plot.parent}: make it first", path="plot")


def _compared(given: Mapping[str, Policy]) -> Mapping[str, Policy] | None:
    """The policies that are compared, by the names under which they are shown; None for the usual ones."""
    return {**given, _BESIDE: PRESETS[_BESIDE]} if given else None


def print_audit(found: Audit) -> None:
    """The audit in tables: turns by kind, single rows of interest, largest results, repeats, policies."""
    names = one_line(found.ledgers[0].ledger) if len(found.ledgers) == 1 else counted(len(found.ledgers), "ledger")
    print_text(
        f"{names}: {counted(found.turns, 'turn')}, {found.tokens:,} tokens ({found.encoding}), judged by {found.judged_by}\n"
    )
    print_table(("turns", "number", "of turns", "tokens", "of tokens"), _kind_rows(found))
    print_text()
    print_table(("of these", "number", "tokens", "of tokens"), _amount_rows(found))
    if found.biggest:
        print_text("\nThe largest results of tools:\n")
        print_table(("result", "turn", "tool", "asked", "tokens", "used later"), map(_result_row, _named(found, found.biggest)))
    if found.repeats.most:
        print_text("\nWhat came more than once:\n")
        print_table(("what", "first", "again in turns", "times", "tokens"), map(_repeat_row, _named(found, found.repeats.most)))
    if found.everything is not None:
        print_text("\nWhat all requests together would have cost:\n")
        headings = ("policy", "requests", "refused", "tokens a request", "tokens", "saved", "cacheable")
        print_table(headings, map(_sent_row, (found.everything, *found.policies)))


def _kind_rows(found: Audit) -> Iterator[tuple[Any, ...]]:
    for kind in found.kinds:
        if kind.kind == "never" and not kind.turns:
            continue
        yield kind.kind, kind.turns, _percent(kind.turn_share), kind.tokens, _percent(kind.share)
        for row in kind.verdicts if len(kind.verdicts) > 1 else ():
            what = "as a stub" if row.verdict == "stub" else "in fewer words"
            yield f"- {what}", row.turns, _percent(row.turn_share), row.tokens, _percent(row.share)


def _amount_rows(found: Audit) -> Iterator[tuple[Any, ...]]:
    rows: tuple[tuple[str, Amount], ...] = (
        ("turns that govern: task, constraints, decisions, corrections", found.governing),
        ("acknowledgements and restatements", found.courtesies),
        ("results of tools", found.results),
        ("- spent: an assistant went on from them", found.spent_results),
        ("repeats to the letter", found.repeats.exact),
        ("near repeats", found.repeats.near),
    )
    for what, amount in rows:
        yield what, amount.number, amount.tokens, _percent(amount.share)


def _named(found: Audit, items: Sequence[Any]) -> list[tuple[Any, str]]:
    """Each with the name of its ledger, where there are several."""
    return [(item, f"{item.ledger} " if len(found.ledgers) > 1 else "") for item in items]


def _result_row(named: tuple[BigResult, str]) -> tuple[Any, ...]:
    result, ledger = named
    used = "no" if not result.used else f"{', '.join(result.used[:_MOST_NAMED])} (turn {_turns(result.used_by)})"
    asked = None if result.asked is None else one_line(result.asked, most=_MOST_ASKED)
    return f"{ledger}{result.result_id}", result.turn, result.tool, asked, result.tokens, used


def _repeat_row(named: tuple[Repeated, str]) -> tuple[Any, ...]:
    repeated, ledger = named
    what = one_line(f"{'' if repeated.kind == 'result' else f'{repeated.kind}: '}{repeated.what}", most=_MOST_ASKED)
    first = f"{ledger}turn {repeated.first_turn}"
    return what, first, _turns(repeated.turns), repeated.exact + repeated.near, repeated.tokens


def _sent_row(sent: Sent) -> tuple[Any, ...]:
    saved = None if sent.digest is None else _percent(sent.saved_share)
    per = round(sent.tokens_per_decision)
    return sent.policy, sent.decisions, sent.refused, per, sent.prompt_tokens, saved, _percent(sent.cacheable_share)


def _turns(turns: Sequence[int]) -> str:
    shown = ", ".join(map(str, turns[:_MOST_NAMED]))
    return f"{shown} …" if len(turns) > _MOST_NAMED else shown


def _percent(share: float) -> str:
    return f"{share:.1%}"
