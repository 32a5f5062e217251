"""The extractor that needs no model: the patterns that a schema declares for its fields. Offline, and the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ledger.schema.schema import FieldSpec, Schema
from projections.corrections import is_denied, puts_right
from projections.extraction import Candidate, Extraction, quoted_text
from projections.transcript import Turn


class RuleExtractor:
    """Finds what the declared ``patterns`` of a field match in user turns, and in results of tools where ``results`` is set.

    A pattern's group ``value`` is the value, or all that it matches. The last match in a turn counts, except one that is said
    not to be meant ("not 4,180 INR"): who corrects a value names the right one last. A user turn corrects an earlier value
    where the sentence, or the one before it, says so ("No, …", "…, not 4,180 INR", "from now on"), in one of several languages.
    """

    def __init__(self, *, results: bool = False) -> None:
        self._results = results

    @property
    def name(self) -> str:
        """The rules, and their version."""
        return "rules/2 with results" if self._results else "rules/2"

    def extract(self, turns: Sequence[Turn], schema: Schema) -> Extraction:
        """The candidates in these turns."""
        specs = [spec for spec in schema.fields if spec.patterns]
        found = (candidate for turn in turns for spec in specs for candidate in self._of_turn(turn, spec))
        return Extraction(candidates=tuple(found))

    def _of_turn(self, turn: Turn, spec: FieldSpec) -> Iterator[Candidate]:
        if turn.role == "user":
            yield from _last(turn, spec, None)
        for returned in turn.returns if self._results else ():
            yield from _last(turn, spec, returned.id)


def _last(turn: Turn, spec: FieldSpec, result: str | None) -> Iterator[Candidate]:
    text = quoted_text(turn, result)
    matches = [match for pattern in spec.patterns for match in re.finditer(pattern, text) if _value_of(match).strip()]
    meant = [match for match in matches if not any(is_denied(text, start) for start in (match.start(), _start_of(match)))]
    if meant:
        last = max(meant, key=lambda match: (match.start(), match.end()))
        denied = [_value_of(match) for match in matches if match not in meant]
        corrects = result is None and any(puts_right(text, _start_of(last), before=value) for value in (None, *denied))
        yield Candidate(spec.name, _value_of(last), last.group(), turn.number, result=result, corrects=corrects)


def _start_of(match: re.Match[str]) -> int:
    return match.start("value") if match.re.groupindex.get("value") and match["value"] else match.start()


def _value_of(match: re.Match[str]) -> str:
    """What a declared pattern found: its group ``value``, or all that it matches."""
    return (match.group("value") if "value" in match.re.groupindex else match.group()) or ""
