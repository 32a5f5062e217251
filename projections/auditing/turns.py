"""Adds up the turns of conversations by verdict, rule and kind, and finds the largest results and what is repeated.

One turn after the other, with its verdict; what is remembered does not grow with the conversations, but for what
``RepeatFinder`` bounds.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar, get_args

from ledger.erased import Forgotten
from ledger.parts import ToolCallPart
from projections.auditing.audit import (
    COURTESIES,
    GOVERNING,
    KINDS,
    Amount,
    Audit,
    AuditedLedger,
    BigResult,
    KindRow,
    Repeated,
    Repeats,
    RuleRow,
    VerdictRow,
)
from projections.auditing.profile import Profile
from projections.auditing.repeats import Content, RepeatFinder
from projections.compacting.stubs import main_argument
from projections.planning.tailing import plain_tokens
from projections.policy import Policy
from projections.shortening import shortened
from projections.state_block import Count
from projections.told import Told
from projections.transcript import Return, answered_calls
from projections.verdicts.verdict import Judgement, Verdict

MOST_SHOWN: Final = 10
"""How many of the largest results, and of the contents that are repeated, are named."""

_WHAT_CHARACTERS: Final = 200

Kept = TypeVar("Kept")


@dataclass(slots=True)
class _Sum:
    number: int = 0
    tokens: int = 0

    def add(self, tokens: int, *, number: int = 1) -> None:
        self.number += number
        self.tokens += tokens


class _Largest(Generic[Kept]):
    """The items that cost most; of those that cost the same, the ones that came first."""

    def __init__(self) -> None:
        self._came = 0
        self._kept: list[tuple[int, int, Kept]] = []

    def add(self, tokens: int, item: Kept) -> None:
        self._came += 1
        heapq.heappush(self._kept, (tokens, -self._came, item))
        if len(self._kept) > MOST_SHOWN:
            heapq.heappop(self._kept)

    def items(self) -> tuple[Kept, ...]:
        return tuple(item for _, _, item in sorted(self._kept, key=lambda kept: kept[:2], reverse=True))


class AuditFold:
    """Adds up the turns of several ledgers, one ledger after the other: ``begin``, ``take`` for every turn in order, ``end``.

    ``policy`` says what pictures and documents cost, ``count`` counts texts where they are repeated.
    """

    def __init__(self, policy: Policy, count: Count) -> None:
        self._policy = policy
        self._count = count
        self._ledgers: list[AuditedLedger] = []
        self._all = _Sum()
        self._system_tokens = 0
        self._rules: defaultdict[tuple[Verdict, str], _Sum] = defaultdict(_Sum)
        self._results, self._spent = _Sum(), _Sum()
        self._exact, self._near = _Sum(), _Sum()
        self._biggest: _Largest[BigResult] = _Largest()
        self._repeated: _Largest[Repeated] = _Largest()

    def begin(self, ledger: str, version: int, *, system_tokens: int) -> None:
        """Go on with another ledger."""
        self._ledger, self._version = ledger, version
        self._system_tokens += system_tokens
        self._own = _Sum()
        self._profile = Profile()
        self._repeats = RepeatFinder()
        self._waiting: list[tuple[int, int]] = []

    def take(self, told: Told, judgement: Judgement) -> None:
        """Take the next turn, with its verdict."""
        turn = told.turn
        tokens = plain_tokens(told.card, {}, self._policy)
        for total in (self._all, self._own, self._rules[judgement.verdict, judgement.rule]):
            total.add(tokens)
        self._profile.add(turn.number, judgement.verdict, tokens)
        if turn.role == "assistant":
            self._answer(turn.version)
        self._say(told)
        for call, found in answered_calls(turn):
            self._return(turn.number, call, found, tokens - plain_tokens(told.card, {found.version: 0}, self._policy))

    def end(self) -> None:
        """The ledger had no more turns."""
        profile = self._profile.steps()
        self._ledgers.append(AuditedLedger(self._ledger, self._version, self._own.number, self._own.tokens, profile))
        for repeated, exact_tokens in self._repeats.found(self._ledger):
            self._exact.add(exact_tokens, number=repeated.exact)
            self._near.add(repeated.tokens - exact_tokens, number=repeated.near)
            self._repeated.add(repeated.tokens, repeated)

    def _answer(self, version: int) -> None:
        """An assistant's turn began: the results that had come by then are spent."""
        for came, tokens in self._waiting:
            if came < version:
                self._spent.add(tokens)
        self._waiting = [item for item in self._waiting if item[0] > version]

    def _say(self, told: Told) -> None:
        turn, card = told.turn, told.card
        tokens = partial(self._count, turn.text) if turn.calls else lambda: card.contents.tokens
        self._repeats.see(Content(turn.role, _what(turn.text), turn.number, None, turn.text), tokens)

    def _return(self, turn: int, call: ToolCallPart, found: Return, tokens: int) -> None:
        self._results.add(tokens)
        self._waiting.append((found.version, tokens))
        if any(isinstance(part, Forgotten) for part in found.parts):
            return
        asked = main_argument(call)
        shown = None if asked is None else _what(asked)
        self._biggest.add(tokens, BigResult(self._ledger, turn, found.id, call.tool, shown, tokens))
        what = call.tool if shown is None else f"{call.tool} {shown}"
        self._repeats.see(Content("result", what, turn, found.id, found.text), lambda: tokens)

    def result(self, *, judged_by: str) -> Audit:
        """What was added up so far."""
        return Audit(
            ledgers=tuple(self._ledgers),
            judged_by=judged_by,
            encoding=self._policy.encoding,
            turns=self._all.number,
            tokens=self._all.tokens,
            system_tokens=self._system_tokens,
            kinds=tuple(self._kind(kind, verdicts) for kind, verdicts in KINDS.items()),
            rules=self._rule_rows(),
            courtesies=self._claimed_by(COURTESIES),
            governing=self._claimed_by(GOVERNING),
            results=self._amount(self._results),
            spent_results=self._amount(self._spent),
            biggest=self._biggest.items(),
            repeats=Repeats(self._amount(self._exact), self._amount(self._near), self._repeated.items()),
        )

    def _kind(self, kind: str, verdicts: tuple[Verdict, ...]) -> KindRow:
        rows = tuple(map(self._verdict, verdicts))
        turns, tokens = sum(row.turns for row in rows), sum(row.tokens for row in rows)
        return KindRow(kind, turns, tokens, _share(tokens, self._all.tokens), _share(turns, self._all.number), rows)

    def _verdict(self, verdict: Verdict) -> VerdictRow:
        found = [total for (given, _), total in self._rules.items() if given == verdict]
        turns, tokens = sum(total.number for total in found), sum(total.tokens for total in found)
        return VerdictRow(verdict, turns, tokens, _share(tokens, self._all.tokens), _share(turns, self._all.number))

    def _rule_rows(self) -> tuple[RuleRow, ...]:
        """By verdict, those that cost most first."""
        order = {verdict: place for place, verdict in enumerate(get_args(Verdict))}
        found = sorted(self._rules.items(), key=lambda item: (order[item[0][0]], -item[1].tokens, item[0][1]))
        return tuple(
            RuleRow(rule, verdict, total.number, total.tokens, _share(total.tokens, self._all.tokens))
            for (verdict, rule), total in found
        )

    def _claimed_by(self, rules: frozenset[str]) -> Amount:
        claimed = _Sum()
        for (_, rule), total in self._rules.items():
            if rule in rules:
                claimed.add(total.tokens, number=total.number)
        return self._amount(claimed)

    def _amount(self, total: _Sum) -> Amount:
        return Amount(total.number, total.tokens, _share(total.tokens, self._all.tokens))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _what(text: str) -> str:
    """The beginning of a text on one line."""
    return shortened(" ".join(text[: 4 * _WHAT_CHARACTERS].split()), _WHAT_CHARACTERS)
