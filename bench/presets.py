"""Presets, the plain last turns, and LangChain's ``trim_messages`` over public conversations: their costs and losses.

For every assistant turn the request is built that would have asked for it, 8,000 tokens at most. The floor is the request with
all that was said before. The conversations are not part of the repository: set CONTEXT_LEDGER_DATA to their folder.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import ledger
from bench import trimming
from bench.measuring import print_rows
from delivery.importers.importing import import_file
from ledger import Ledgers
from projections.compacting.turn_stubs import said_and_asked
from projections.exact.strings import identifying_strings
from projections.invariants import violations
from projections.policy import Policy
from projections.presets import PRESETS
from projections.render.renderer import Request, measure
from projections.transcript import Turn
from replay import view
from replay.prefix import decision_windows, shared_tokens
from replay.tokens import counter

SOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "tau_bench": ("a_customer_service/tau_bench/gpt-4o-airline.json",),
    "specstory": ("b_coding_agents/specstory/*.md",),
    "swe_agent": ("b_coding_agents/swe_agent/*.traj",),
    "who_and_when": ("d_research/who_and_when/*/*.json",),
    "deerflow": ("d_research/deerflow/*.json",),
    "claude_code": ("b_coding_agents/claude_code_viewer/*.jsonl", "b_coding_agents/claude_code_log/*.jsonl"),
}
"""Where the conversations lie, by their source."""

EVERYTHING: Final = "everything"
BUDGET_TOKENS: Final = PRESETS["default"].budget_tokens
_COUNT: Final = counter(PRESETS["default"].encoding)
_BESIDE: Final = Path(__file__).parents[2] / "shared" / "data"

Requests = Iterator[tuple[int, Request | None]]


@dataclass(slots=True)
class Run:
    """All requests of a conversation under a policy.

    ``stated`` and ``used``: how many identifying strings the user stated, and how many a later turn used again; ``lost_stated``
    and ``lost_used``: those of them that do not stand in the last request.
    """

    source: str
    ledger: str
    decisions: int = 0
    refused: int = 0
    tokens: int = 0
    cached: int = 0
    invalid: int = 0
    over: int = 0
    stated: int = 0
    used: int = 0
    lost_stated: list[str] = field(default_factory=list)
    lost_used: list[str] = field(default_factory=list)
    last: int = 0

    def see(self, before: Request | None, request: Request) -> None:
        """One request more; ``before`` is the one that was made last."""
        tokens = measure(request, _COUNT)
        self.decisions += 1
        self.tokens += tokens
        self.cached += 0 if before is None else shared_tokens(before, request, _COUNT)
        self.invalid += bool(violations("openai", request))
        self.over += tokens > BUDGET_TOKENS
        self.last = tokens


def main() -> None:
    """Print tokens a decision, cacheable shares, what survived, and what was valid: over all, over the long ones, by source."""
    data = Path(os.environ.get("CONTEXT_LEDGER_DATA") or _BESIDE)
    if not data.is_dir():
        print(f"presets: skipped, no conversations at {data}: set CONTEXT_LEDGER_DATA to their folder")
        return
    if not trimming.is_installed():
        print("presets: without trim_messages, since langchain-core is not installed: pip install '.[bench]'")
    with tempfile.TemporaryDirectory() as folder, ledger.connect(str(Path(folder) / "record.db")) as store:
        runs = _runs(store, _import(store, data))
    long = {run.ledger for run in runs[EVERYTHING] if run.last > BUDGET_TOKENS}
    names = {run.ledger: run.source for run in runs[EVERYTHING]}
    _print(f"All {len(names)} conversations", runs, set(names))
    _print(f"The {len(long)} conversations that outgrow {BUDGET_TOKENS:,} tokens", runs, long)
    for source in SOURCES:
        _print(source, runs, {name for name, of in names.items() if of == source})
    _print_lost(runs)


def _import(store: Ledgers, data: Path) -> dict[str, str]:
    """The sources of the ledgers, by their names; conversations without a turn of an assistant decide nothing."""
    sources: dict[str, str] = {}
    for source, patterns in SOURCES.items():
        for path in sorted(path for pattern in patterns for path in data.glob(pattern)):
            sources |= dict.fromkeys(import_file(store, path).ledgers, source)
    return sources


def _runs(store: Ledgers, sources: Mapping[str, str]) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {}
    for name, source in sources.items():
        for policy, requests in _policies(store, name):
            run = run_of(Run(source, name), requests, view(store, name).transcript().turns)
            if run.decisions or run.refused:
                runs.setdefault(policy, []).append(run)
    return runs


def _policies(store: Ledgers, name: str) -> Iterator[tuple[str, Requests]]:
    everything = PRESETS["sliding"].model_copy(update={"budget_tokens": 10**9})
    yield EVERYTHING, _windows(store, name, everything)
    for preset, policy in PRESETS.items():
        yield preset, _windows(store, name, policy)
    if trimming.is_installed():
        trim = trimming.trimmer(BUDGET_TOKENS, _COUNT)
        yield trimming.NAME, ((turn, trim(all_of_it)) for turn, all_of_it in _windows(store, name, everything) if all_of_it)


def _windows(store: Ledgers, name: str, policy: Policy) -> Requests:
    return ((turn, None if found is None else found.exact) for turn, found in decision_windows(store, name, policy))


def run_of(run: Run, requests: Requests, turns: Iterable[Turn]) -> Run:
    """The run with all requests, each with the number of the turn that it asked for; None where one was refused."""
    before, last_turn = None, 0
    for turn, request in requests:
        if request is None:
            run.refused += 1
            continue
        run.see(before, request)
        before, last_turn = request, turn
    if before is not None:
        past = [turn for turn in turns if turn.number < last_turn]
        shown = "\n".join(_texts(before))
        stated, used = stated_by_user(past), used_again(past)
        run.stated, run.used = len(stated), len(used)
        run.lost_stated = [string for string in stated if string not in shown]
        run.lost_used = [string for string in used if string not in shown]
    return run


def stated_by_user(turns: Iterable[Turn]) -> list[str]:
    """What the user stated that identifies something."""
    return list(dict.fromkeys(string for turn in turns if turn.role == "user" for string in identifying_strings(turn.text)))


def used_again(turns: Iterable[Turn]) -> list[str]:
    """What identifies something and was said, asked for or returned in one turn, and said or asked for in a later one."""
    first: dict[str, int] = {}
    used: dict[str, None] = {}
    for turn in turns:
        for string in identifying_strings(said_and_asked(turn)):
            if first.setdefault(string, turn.number) < turn.number:
                used[string] = None
        for returned in turn.returns:
            for string in identifying_strings(returned.text):
                first.setdefault(string, turn.number)
    return list(used)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a request; of arguments, which are JSON, their texts."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from _texts(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _print(title: str, runs: Mapping[str, list[Run]], wanted: set[str]) -> None:
    chosen = {policy: [run for run in found if run.ledger in wanted] for policy, found in runs.items()}
    floor = _per_decision(chosen[EVERYTHING])
    if not floor:
        return
    headings = ("policy", "tokens a request, median", "mean", "to everything", "cacheable", "user's strings", "used strings")
    rows = [
        (
            policy,
            f"{statistics.median(run.tokens / run.decisions for run in found if run.decisions):,.0f}",
            f"{_per_decision(found):,.0f}",
            f"{_per_decision(found) / floor:.2f}",
            _share(sum(run.cached for run in found), sum(run.tokens for run in found)),
            _kept(sum(len(run.lost_stated) for run in found), sum(run.stated for run in found)),
            _kept(sum(len(run.lost_used) for run in found), sum(run.used for run in found)),
            *_sound(found),
        )
        for policy, found in chosen.items()
    ]
    print_rows(title, (*headings, "valid", "within", "refused"), rows)


def _sound(runs: list[Run]) -> tuple[str, str, str]:
    decisions = sum(run.decisions for run in runs)
    invalid, over = sum(run.invalid for run in runs), sum(run.over for run in runs)
    return _kept(invalid, decisions), _kept(over, decisions), str(sum(run.refused for run in runs))


def _per_decision(runs: list[Run]) -> float:
    decisions = sum(run.decisions for run in runs)
    return sum(run.tokens for run in runs) / decisions if decisions else 0.0


def _kept(lost: int, of: int) -> str:
    return _share(of - lost, of)


def _share(part: int, of: int) -> str:
    return f"{part / of:.1%}" if of else "-"


def _print_lost(runs: Mapping[str, list[Run]]) -> None:
    """Which strings of the user our presets lost: there should be none."""
    rows = [
        (policy, run.source, run.ledger, ", ".join(string[:60] for string in run.lost_stated[:5]), str(len(run.lost_stated)))
        for policy, found in runs.items()
        if policy in PRESETS and policy != "sliding"
        for run in found
        if run.lost_stated
    ]
    if rows:
        print_rows("Lost of what the user stated", ("policy", "source", "conversation", "strings", "number"), rows)
