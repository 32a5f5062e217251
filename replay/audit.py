"""The audit of conversations: where their tokens go, what nobody needs again, and what policies would save."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ledger import Ledgers
from ledger.errors import InvalidInput
from projections.auditing.audit import Audit, Sent
from projections.auditing.turns import AuditFold
from projections.compacting.segments import judged
from projections.encodings import encoding_for
from projections.planning.gathering import task_number
from projections.policy import Compaction, Policy
from projections.presets import PRESETS
from projections.told import Told, Turns
from projections.verdicts.verdict import Judgement
from replay.audit_everything import NAME, everything_sent
from replay.audit_uses import with_uses
from replay.kept.kept_rows import rows_of
from replay.kept.warm import shelf_of
from replay.loading import Loaded, last_governing, load
from replay.moment import At
from replay.prefix import prefix_report
from replay.tokens import counter
from replay.turns.ledger_turns import said_between, turns_of
from replay.windows.middles import Middles

COMPARED: Final[Mapping[str, Policy]] = {name: PRESETS[name] for name in ("support", "coding", "research", "sliding")}
"""The policies that are compared where none are given; by the rules of the first turns are judged."""

_JUDGED_TOGETHER: Final = Compaction(segment_turns=64)
"""So many turns are judged at a time; how many makes no difference to any of them."""


def audit(
    store: Ledgers,
    ledger_ids: Iterable[str],
    *,
    policies: Mapping[str, Policy] | None = None,
    judged_by: tuple[str, Policy] | None = None,
    at: At = None,
) -> Audit:
    """Where the tokens of some ledgers go, as they are now, summed; or as each was ``at`` a version, ``Turn(7)`` or time.

    ``policies`` (by name; ``COMPARED``, if not given) are compared with sending everything, by building every window that they
    would have made; with none at all nothing is compared. ``judged_by`` (its name, and it) is the policy by which turns are
    judged and tokens counted; if not given, the first of those, or the default one. Raises ``InvalidInput`` for no ledger or
    one that is named twice, ``UnknownLedger``, and ``UnknownVersion`` for a ledger that has not come so far.
    """
    names = _checked(ledger_ids)
    compared = dict(COMPARED if policies is None else policies)
    judge = judged_by or next(iter(compared.items()), ("default", PRESETS["default"]))
    while True:
        loaded = [load(store, store.head(name), at, None) for name in names]
        found = _audit(store, loaded, compared, judge)
        if not any(map(_is_overtaken, loaded)):
            return found  # else something was forgotten meanwhile


def _checked(ledger_ids: Iterable[str]) -> list[str]:
    if isinstance(ledger_ids, str):
        raise InvalidInput(f"ledger_ids is the text {ledger_ids!r:.80}: give a list of names", path="ledger_ids")
    names = list(ledger_ids)
    if not names:
        raise InvalidInput("no ledger is named: give at least one", path="ledger_ids")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InvalidInput(f"ledger {twice!r} is named twice: name it once, or it counts double", path="ledger_ids")
    return names


def _is_overtaken(loaded: Loaded) -> bool:
    known = loaded.governing[-1].version if loaded.governing else 0
    return last_governing(loaded.store, loaded.store.head(loaded.head.name)) != known


def _audit(store: Ledgers, ledgers: Sequence[Loaded], compared: Mapping[str, Policy], judge: tuple[str, Policy]) -> Audit:
    judged_by, policy = judge
    encoding = encoding_for(policy.encoding)
    count = counter(encoding)
    fold = AuditFold(policy, count)
    whole = Sent(NAME, None, 0, 0, 0, 0)
    for loaded in ledgers:
        turns = turns_of(loaded, encoding)
        fold.begin(loaded.head.name, loaded.version, system_tokens=sum(tokens for _, tokens in turns.system))
        for told, judgement in _judged(loaded, turns, policy):
            fold.take(told, judgement)
        fold.end()
        if compared:
            whole = _plus(whole, everything_sent(turns, policy, count=count, blobs=partial(_blobs, loaded)))
    found = fold.result(judged_by=judged_by)
    uses = {loaded.head.name: turns_of(loaded, encoding) for loaded in ledgers}
    found = replace(found, biggest=with_uses(found.biggest, uses))
    if not compared:
        return found
    sent = (_sent(store, ledgers, name, chosen) for name, chosen in compared.items())
    return replace(found, everything=whole, policies=tuple(_against(whole, one) for one in sent))


def _judged(loaded: Loaded, turns: Turns, policy: Policy) -> Iterator[tuple[Told, Judgement]]:
    """Every turn with its verdict, as the middle of a window would have it once the turn left the tail."""
    task = task_number(turns, policy)
    together = policy.model_copy(update={"compaction": _JUDGED_TOGETHER})
    middles = Middles(
        turns,
        together,
        task or 0,
        said=partial(said_between, loaded),
        count=counter(encoding_for(policy.encoding)),
        shelf=rows_of(loaded, shelf_of(loaded).memory),
    )
    for number in range(1, -(-turns.last // _JUDGED_TOGETHER.segment_turns) + 1):
        segment = middles.segment(number)
        yield from zip(segment.told, judged(segment, together, task), strict=True)


def _blobs(loaded: Loaded, hashes: set[str]) -> dict[str, bytes]:
    found = ((sha256, loaded.store.store.blob(loaded.head.ledger, sha256)) for sha256 in sorted(hashes))
    return {sha256: content for sha256, content in found if content is not None}


def _sent(store: Ledgers, ledgers: Sequence[Loaded], name: str, policy: Policy) -> Sent:
    """What all ledgers together would have cost under a policy."""
    sent = Sent(name, policy.digest, 0, 0, 0, 0)
    for loaded in ledgers:
        report = prefix_report(store, loaded.head.name, policy, at=loaded.version)
        own = Sent(name, policy.digest, report.decisions, report.refused, report.prompt_tokens, report.cached_tokens)
        sent = _plus(sent, own)
    return sent


def _plus(one: Sent, other: Sent) -> Sent:
    return replace(
        one,
        decisions=one.decisions + other.decisions,
        refused=one.refused + other.refused,
        prompt_tokens=one.prompt_tokens + other.prompt_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
    )


def _against(whole: Sent, sent: Sent) -> Sent:
    """With what is saved a decision, times the decisions: where some were refused, their cost is not in either."""
    per_decision = whole.tokens_per_decision
    if not sent.decisions or not per_decision:
        return sent
    saved = per_decision - sent.tokens_per_decision
    return replace(sent, saved_tokens=round(saved * sent.decisions), saved_share=saved / per_decision)
