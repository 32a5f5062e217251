"""The command that lets an extractor read what was said."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, LedgerName
from delivery.cli.printing import counted, one_line, print_json, print_table, print_text
from ledger import events as e
from ledger.errors import InvalidInput
from ledger.json_text import JsonText
from ledger.record import Recorded
from projections.extraction import Extractor
from projections.rule_extraction import RuleExtractor
from projections.wire import to_json
from replay.extraction import Extracted, extract


def extract_command(
    context: typer.Context,
    ledger: LedgerName,
    *,
    rules: Annotated[bool, typer.Option("--rules", help="Use the patterns that the schema declares (the default).")] = False,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Ask this model; its key is that of OPENAI_API_KEY.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Where it is asked, if not OpenAI's own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find values of declared fields in what was said.

    Reads the turns that were not read yet. Nothing counts as the user's that the user did not say. Exit code 1 where
    something is left to read.
    """
    extractor = _extractor(rules=rules, model=model, base_url=base_url)
    with open_existing_store(context.obj) as store:
        name = store.head(ledger).name
        found = extract(store, name, extractor)
    if as_json:
        print_json(to_json(_row(name, extractor, found)))
    else:
        _print(name, found)
    if found.incomplete is not None:
        raise typer.Exit(1)


def _extractor(*, rules: bool, model: str | None, base_url: str | None) -> Extractor:
    if rules and model is not None:
        raise InvalidInput("--rules and --model are given: leave one out", path="model")
    if model is None and base_url is not None:
        raise InvalidInput("--base-url is where a model is asked: name it with --model", path="model")
    if model is None:
        return RuleExtractor()
    from delivery.extractors.openai import OpenAIExtractor  # its library is an extra, and slow to import

    return OpenAIExtractor(model=model, base_url=base_url)


def _row(ledger: str, extractor: Extractor, found: Extracted) -> dict[str, Any]:
    return {
        "ledger": ledger,
        "extractor": extractor.name,
        "turns": list(found.turns),
        "recorded": [_event(item) for item in found.recorded],
        "refused": found.refused,
        "incomplete": found.incomplete,
    }


def _event(item: Recorded) -> dict[str, Any]:
    event: Any = item.event
    claim = event
    if isinstance(event, e.ContradictionRecorded):
        claim = next((side for side in event.sides if side.version is None), event.sides[-1])
    return {
        "version": item.version,
        "event": str(event.type),
        "field": getattr(event, "field", None),
        "value": getattr(claim, "value", None),
        "source": getattr(claim, "source", None),
        "turn": item.turn,
        "problems": list(getattr(event, "problems", ())),
    }


def _print(ledger: str, found: Extracted) -> None:
    if not found.turns:
        print_text(f"{one_line(ledger)}: all turns were read before")
        return
    kinds = Counter(str(item.event.type) for item in found.recorded)
    events = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items())) or "nothing was found"
    print_text(f"{one_line(ledger)}: turns {found.turns[0]}–{found.turns[-1]} were read: {events}")
    if found.recorded:
        print_text()
        print_table(("version", "event", "field", "value", "source", "turn"), [_cells(_event(item)) for item in found.recorded])
    if found.refused:
        print_text(f"{counted(found.refused, 'candidate')} left no trace: forgotten fields, or said otherwise later")
    if found.incomplete is not None:
        print_text(f"left to do: {one_line(found.incomplete)}; the next run reads these turns again")


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    value = row["value"]
    shown = value if isinstance(value, JsonText) else "[forgotten]"
    turn = "" if row["turn"] is None else str(row["turn"])
    return (row["version"], row["event"], row["field"], shown, row["source"], turn)
