"""Whether the largest results of tools were ever used again, and by which turns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from projections.auditing.audit import BigResult
from projections.compacting.turn_stubs import said_and_asked
from projections.compacting.used_strings import Said, said_of, used_strings
from projections.exact.finding import Quoting
from projections.told import Turns
from projections.transcript import answered_calls

MOST_USED: Final = 8
"""How many used strings of a result are named."""

_TURNS_AT_ONCE: Final = 64
_TEXTS_AT_ONCE: Final = 1_024


@dataclass(slots=True)
class _Looked:
    """A result that is looked for in later turns, and where its strings were found so far, each with its first turn."""

    result: BigResult
    text: str
    asked: str
    times: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def look(self, later: Sequence[tuple[int, Said]]) -> None:
        """Look into more turns, given by number and what they say."""
        later = [(turn, said) for turn, said in later if turn > self.result.turn]
        if not later:
            return
        for string in used_strings(Quoting(self.text), [said for _, said in later], asked=self.asked, most=MOST_USED):
            whole = re.compile(rf"(?<!\w){re.escape(string)}(?!\w)")
            found = [turn for turn, said in later if whole.search(said.text)]
            found = found or [turn for turn, said in later if string in said.text]
            self.times[string] += len(found)
            self.first.setdefault(string, found[0])

    def answer(self) -> BigResult:
        """The result with its uses."""
        used = tuple(string for string, _ in self.times.most_common(MOST_USED))
        return replace(self.result, used=used, used_by=tuple(sorted({self.first[string] for string in used})))


def with_uses(results: Sequence[BigResult], ledgers: Mapping[str, Turns]) -> tuple[BigResult, ...]:
    """The results with what later turns used of them. Every ledger is read once, however many of its results there are."""
    answers: dict[tuple[str, str], BigResult] = {}
    for ledger, turns in ledgers.items():
        looked = _looked([result for result in results if result.ledger == ledger], turns)
        if looked:
            for later in _texts(turns, min(item.result.turn for item in looked) + 1):
                for item in looked:
                    item.look(later)
        answers |= {(ledger, item.result.result_id): item.answer() for item in looked}
    return tuple(answers[result.ledger, result.result_id] for result in results)


def _looked(results: Sequence[BigResult], turns: Turns) -> list[_Looked]:
    wanted = {result.result_id: result for result in results}
    told = turns.at({result.turn for result in results})
    pairs = (pair for found in told.values() for pair in answered_calls(found.turn))
    return [_Looked(wanted[found.id], found.text, str(call.arguments)) for call, found in pairs if found.id in wanted]


def _texts(turns: Turns, first: int) -> Iterator[list[tuple[int, Said]]]:
    """What later turns said and asked for, a bounded number at a time."""
    texts: list[tuple[int, Said]] = []
    for start in range(first, turns.last + 1, _TURNS_AT_ONCE):
        told = turns.between(start, start + _TURNS_AT_ONCE - 1)
        texts += [(found.turn.number, said_of(said_and_asked(found.turn))) for found in told]
        if len(texts) >= _TEXTS_AT_ONCE:
            yield texts
            texts = []
    if texts:
        yield texts
