"""The command that has turns told in fewer words, before a window needs it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson
from delivery.cli.policies import PolicyOption, policy_option
from delivery.cli.printing import counted, one_line, print_json, print_text, printable
from delivery.cli.rule_modules import RuleModules, register_rules
from ledger import Ledgers
from ledger.errors import ClosedLedger, InvalidInput
from projections.policy import Policy
from projections.summarising import ExtractiveSummariser, Summariser, choice_of, would_take
from projections.wire import to_json
from replay.summaries import MissingSummary, Which
from replay.summarising import SummarisedSegment, described, missing_of, summarise
from replay.view import view

_OUTCOMES: Final = {"recorded": "recorded", "known": "known already", "refused": "refused", "failed": "failed", "left": "left"}


def compact(
    context: typer.Context,
    ledgers: Annotated[list[str], typer.Argument(metavar="LEDGER", help="Names of ledgers.")],
    *,
    policy: PolicyOption = None,
    rules: RuleModules = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Ask this model; its key is that of OPENAI_API_KEY.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Where it is asked, if not OpenAI's own.")
    ] = None,
    most_characters: Annotated[
        int | None, typer.Option("--most-characters", metavar="N", help="Of turns in one request; 60,000 if not given.")
    ] = None,
    extractive: Annotated[bool, typer.Option("--extractive", help="Ask no model: shorten the turns' own words.")] = False,
    complete: Annotated[
        bool, typer.Option("--complete", help="All complete segments, not only those that a window compacts now.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be summarised.")] = False,
    as_json: AsJson = False,
) -> None:
    """Record summaries of turns that windows compact.

    What has one is left alone, so it can be run again at any time. Progress goes to standard error. Exit code 1 where a segment
    is left without one.
    """
    register_rules(rules)
    chosen = Policy() if policy is None else policy_option(policy)
    summariser = _summariser(model=model, base_url=base_url, most_characters=most_characters, extractive=extractive)
    which: Which = "complete" if complete else "compacted"
    with open_existing_store(context.obj) as store:
        names = [store.head(ledger).name for ledger in dict.fromkeys(ledgers)]
        if dry_run:
            _tell_missing({name: _missing(store, name, summariser, chosen, which) for name in names}, as_json=as_json)
            return
        if summariser is None:
            raise InvalidInput("nobody is named who summarises: give --model, or --extractive", path="model")
        rows = [_compacted(store, name, summariser, chosen, which) for name in names]
    if as_json:
        print_json(to_json(rows))
    else:
        _tell(rows, summariser, chosen)
    if any(row["unfinished"] for row in rows):
        raise typer.Exit(1)


def _summariser(*, model: str | None, base_url: str | None, most_characters: int | None, extractive: bool) -> Summariser | None:
    if extractive and model is not None:
        raise InvalidInput("--extractive and --model are given: leave one out", path="model")
    if model is None and (base_url is not None or most_characters is not None):
        raise InvalidInput("--base-url and --most-characters are of a model that is asked: name it with --model", path="model")
    if model is None:
        return ExtractiveSummariser() if extractive else None
    from delivery.summarisers.openai import OpenAISummariser  # its library is an extra, and slow to import

    options: dict[str, Any] = {} if most_characters is None else {"most_characters": most_characters}
    return OpenAISummariser(model=model, base_url=base_url, **options)


def _missing(
    store: Ledgers, name: str, summariser: Summariser | None, policy: Policy, which: Which
) -> Sequence[MissingSummary]:
    """What a summariser would be asked for, or if none is named, what the policy misses."""
    if summariser is None:
        return view(store, name).missing_summaries(policy, which=which)
    return missing_of(store, name, summariser, policy, which=which)


def _compacted(store: Ledgers, name: str, summariser: Summariser, policy: Policy, which: Which) -> dict[str, Any]:
    """What came of one ledger. That one is closed keeps the others from nothing."""
    why: str | None = None
    done: tuple[SummarisedSegment, ...] = ()
    try:
        done = summarise(store, name, summariser, policy, which=which, progress=_progress(name)).segments
    except ClosedLedger as closed:
        why = str(closed)
    left = sum(one.outcome not in ("recorded", "known") for one in done) + (why is not None)
    by = {"summariser": summariser.name, "model": summariser.model, "prompt_hash": summariser.prompt_hash}
    return {"ledger": name, **by, "segments": [asdict(one) for one in done], "unfinished": left, "why": why}


def _progress(name: str) -> Any:
    def tell(one: SummarisedSegment, done: int, of: int) -> None:
        what = f"{_OUTCOMES[one.outcome]}{'' if one.id is None else f' as {one.id}'}"
        why = "" if one.why is None else f": {one_line(one.why)}"
        line = f"{one_line(name)}: {done:,} of {of:,}: turns {one.first}-{one.last}, {one.tokens:,} tokens: {what}{why}"
        sys.stderr.write(printable(line) + "\n")
        sys.stderr.flush()

    return tell


def _tell_missing(missing: dict[str, Sequence[MissingSummary]], *, as_json: bool) -> None:
    if as_json:
        print_json(to_json([{"ledger": name, "missing": [asdict(one) for one in found]} for name, found in missing.items()]))
        return
    for name, found in missing.items():
        tokens = sum(one.tokens for one in found)
        print_text(f"{one_line(name)}: {counted(len(found), 'segment')} without a summary, {tokens:,} tokens")
        for one in found:
            print_text(f"  turns {one.first}-{one.last}: {counted(one.turns, 'turn')}, {one.tokens:,} tokens")


def _tell(rows: Sequence[dict[str, Any]], summariser: Summariser, policy: Policy) -> None:
    for row in rows:
        counts = Counter(_OUTCOMES[one["outcome"]] for one in row["segments"])
        said = ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items()) or "nothing to do"
        print_text(f"{one_line(row['ledger'])}: {one_line(row['why']) if row['why'] else said}")
        for one in row["segments"]:
            for remark in _remarks(one):
                print_text(f"  turns {one['first']}-{one['last']}: {remark}")
    if not would_take(policy, choice_of(summariser)) and any(row["segments"] for row in rows):
        print_text(f"\nwindows take the summaries of {one_line(described(summariser))} under a policy that has:\n")
        print_text("\n".join(_toml_of(summariser)))


def _remarks(one: dict[str, Any]) -> list[str]:
    """What a person should know of a summary that was recorded."""
    strings = ", ".join(one_line(string) for string in one["unfounded"])
    found = [f"stands in none of them: {strings}"] if strings else []
    found += ["longer than what is recorded of one: its end was cut"] if one["is_cut"] else []
    return found + ([one_line(one["incomplete"])] if one["incomplete"] else [])


def _toml_of(summariser: Summariser) -> list[str]:
    fields = {"summariser": summariser.name, "model": summariser.model, "prompt_hash": summariser.prompt_hash}
    return ["[[compaction.by]]", *(f"{key} = {to_json(value).decode()}" for key, value in fields.items() if value is not None)]
