"""Forgettings as people and programs read them: plans, reports, jobs, and what users asked for.

A report never repeats what was forgotten, not even what else mentions it: where the output goes, nobody forgets.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from delivery.cli.printing import counted, one_line, print_json, print_table, print_text
from ledger import Ledgers
from ledger.forgetting import Forgetting, LedgerForgetting
from ledger.kept_job import Job
from ledger.mentions import Mention
from ledger.record import timestamp
from ledger.store import GOVERNING_TYPES
from projections.forget_requests import ForgetRequest
from projections.wire import to_json
from replay.view import view

_EXCERPT: Final = 60


def print_forgettings(found: Sequence[Forgetting], *, as_json: bool, one: bool = False) -> bool:
    """Print plans or reports, in JSON as a list unless it is about ``one``; whether nothing is left to do."""
    if as_json:
        shown = [_json(forgetting) for forgetting in found]
        print_json(to_json(shown[0] if one else shown))
    else:
        for forgetting in found:
            _print(forgetting)
    return all(forgetting.state != "incomplete" for forgetting in found)


def _print(found: Forgetting) -> None:
    is_plan = found.job is None
    if not is_plan:
        print_text(f"job {found.job} ({found.scope}), {found.state}: {one_line(found.reason)}")
    for ledger in found.ledgers:
        if found.state == "planned":
            _print_plan(ledger)
        elif ledger.items:
            _print_report(ledger)
    for problem in found.problems:
        print_text(f"{'not now' if found.state == 'planned' else 'left to do'}: {one_line(problem)}")
    if found.state == "planned":
        print_text(f"{counted(found.count, 'event')} would be forgotten; nothing was changed, because of --dry-run\n")
    elif not is_plan and found.state == "incomplete":
        print_text("do the rest with context-ledger forget --resume\n")


def _print_plan(ledger: LedgerForgetting) -> None:
    print_text(f"{one_line(ledger.ledger)} at version {ledger.version}: {_counts(ledger.counts)} would go\n")
    rows = [
        (str(item.version), item.type, _turn(item.turn), item.id, item.because, _cut(item.excerpt)) for item in ledger.items
    ]
    print_table(("version", "type", "turn", "id", "why", "text"), rows)
    beside = list(_beside(ledger, "would go"))
    print_text("".join(f"\n{line}" for line in beside) + ("\n" if beside else ""))
    if ledger.mentions:
        _print_mentions(ledger)


def _print_report(ledger: LedgerForgetting) -> None:
    print_text(f"{one_line(ledger.ledger)} at version {ledger.version}: {_counts(ledger.counts)} forgotten")
    for line in _beside(ledger, "are gone"):
        print_text(line)
    if ledger.mentions:
        print_text(f"these mention the same values, and stay: {', '.join(_places(ledger.mentions))}")


def _beside(ledger: LedgerForgetting, gone: str) -> Iterator[str]:
    """What goes or stays beside events."""
    for sha256 in ledger.artifacts:
        yield f"artifact {sha256}: its bytes {gone}"
    if ledger.artifact_count and not ledger.artifacts:
        yield f"the bytes of {counted(ledger.artifact_count, 'artifact')} are forgotten"
    for sha256 in ledger.shared:
        yield f"artifact {sha256} stays: something that stays has stored it, too"
    if ledger.derived:
        rows = ", ".join(f"{number:,} of {one_line(kind)}" for kind, number in sorted(ledger.derived.items()))
        yield f"derived rows {gone}, and are made anew when they are needed: {rows}"
    for child in ledger.children:
        yield f"ledger {one_line(child)} names this one as its parent, and stays"
    for turn in ledger.answers:
        yield f"answers what turn {turn} asks for"
    for turn in ledger.pending:
        yield f"still pending: turn {turn} asks to forget something: --answers {turn}, or --decline {turn}"


def _print_mentions(ledger: LedgerForgetting) -> None:
    """What stays although it holds the same values, and how to forget that, too: only a reader can say what it means."""
    print_text("These mention the same values, and STAY:\n")
    rows = [
        (str(mention.version), mention.type, _turn(mention.turn), _cut(", ".join(mention.strings)))
        for mention in ledger.mentions
    ]
    print_table(("version", "type", "turn", "mentions"), rows)
    places = _places([mention for mention in ledger.mentions if mention.type not in GOVERNING_TYPES])
    turns = sorted({mention.turn for mention in ledger.mentions if mention.turn is not None})
    name = shlex.quote(ledger.ledger)
    if places:
        print_text("\nTo forget them as well, with what rests on them:")
        print_text(f"context-ledger forget {name} --ids {','.join(places)} --reason TEXT")
    if turns:
        print_text("or their turns as a whole:")
        print_text(f"context-ledger forget {name} --turns {','.join(map(str, turns))} --reason TEXT")
    print_text()


def _places(mentions: Sequence[Mention]) -> list[str]:
    return [f"v_{mention.version}" for mention in mentions]


def _counts(counts: Mapping[str, int]) -> str:
    """``3 events (2 fact.set, 1 turn.recorded)``."""
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))
    return counted(sum(counts.values()), "event") + (f" ({kinds})" if kinds else "")


def _turn(turn: int | None) -> str:
    return "" if turn is None else str(turn)


def _cut(text: str | None) -> str:
    return "" if text is None else one_line(text, most=_EXCERPT)


def _json(found: Forgetting) -> dict[str, Any]:
    is_plan = found.state == "planned"
    return {
        "job": found.job,
        "scope": found.scope,
        "reason": found.reason,
        "state": found.state,
        "ledgers": [_ledger_json(ledger, is_plan=is_plan) for ledger in found.ledgers],
        "problems": found.problems,
    }


def _ledger_json(ledger: LedgerForgetting, *, is_plan: bool) -> dict[str, Any]:
    return {
        "ledger": ledger.ledger,
        "version": ledger.version,
        "counts": dict(sorted(ledger.counts.items())),
        "events": [
            {
                "version": item.version,
                "type": item.type,
                "turn": item.turn,
                "id": item.id,
                "because": item.because,
                **({"excerpt": item.excerpt} if is_plan else {}),
            }
            for item in ledger.items
        ],
        **({"artifacts": ledger.artifacts} if is_plan else {}),
        "artifact_count": ledger.artifact_count,
        "shared": ledger.shared,
        "derived": ledger.derived,
        "mentions": [
            {
                "version": mention.version,
                "type": mention.type,
                "turn": mention.turn,
                **({"strings": mention.strings} if is_plan else {}),
            }
            for mention in ledger.mentions
        ],
        "children": ledger.children,
        "answers": ledger.answers,
        "pending": ledger.pending,
    }


def requests_of(store: Ledgers, name: str) -> list[tuple[str, ForgetRequest]]:
    """What the users of a ledger asked to have forgotten, and nobody answered."""
    return [(name, request) for request in view(store, name).forget_requests()]


def print_requests(found: Sequence[tuple[str, ForgetRequest]], *, as_json: bool) -> None:
    """What was asked, in the user's words, and how to do or to decline it."""
    if as_json:
        print_json(to_json([{"ledger": name, **_request(request)} for name, request in found]))
        return
    if not found:
        print_text("nothing is asked for that was not answered")
    for name, request in found:
        ledger = shlex.quote(name)
        print_text(f"{one_line(name)}, turn {request.turn} (version {request.version}, {request.language}, {request.rule}):")
        print_text(f"  {one_line(request.text)}")
        print_text(f"  context-ledger forget {ledger} --turns N[,N] --answers {request.turn} --reason TEXT")
        print_text(f"  context-ledger forget {ledger} --decline {request.turn} --reason TEXT\n")


def _request(request: ForgetRequest) -> dict[str, Any]:
    return {
        "turn": request.turn,
        "version": request.version,
        "text": request.text,
        "rule": request.rule,
        "language": request.language,
    }


def print_jobs(store: Ledgers, *, as_json: bool) -> None:
    """All forgettings that the store has seen, oldest first."""
    names = {head.ledger.hex(): head.name for head in store.heads()}
    jobs = [_job(job, names) for job in store.forgettings()]
    if as_json:
        print_json(to_json(jobs))
    elif not jobs:
        print_text("nothing was forgotten yet")
    else:
        rows = [(*(job[name] for name in ("job", "scope", "state", "by", "reason")), ", ".join(job["ledgers"])) for job in jobs]
        print_table(("job", "scope", "state", "by", "reason", "ledgers"), rows)
        for job in jobs:
            for problem in job["problems"]:
                print_text(f"{job['job']}, left to do: {one_line(problem)}")
            if job["taken_back"] is not None:
                print_text(f"{job['job']}, the subject is taken again: {_taken_back(job['taken_back'])}")


def _taken_back(told: Mapping[str, Any]) -> str:
    """``they came back (by support:4, 2026-11-30T…)``."""
    by = "" if told["by"] is None else f"by {one_line(told['by'])}, "
    return f"{one_line(told['because'])} ({by}{told['at']})"


def _job(job: Job, names: Mapping[str, str]) -> dict[str, Any]:
    back = job.taken_back
    return {
        "job": job.job,
        "scope": job.scope,
        "state": "complete" if job.finished else "incomplete",
        "reason": job.reason,
        "by": job.actor,
        "ledgers": [names.get(ledger, ledger) for ledger in dict.fromkeys((*job.ledgers, *job.fences))],
        "problems": job.problems,
        "taken_back": None if back is None else {"because": back.because, "by": back.actor, "at": timestamp(back.at)},
    }
