"""What turns said or did, in lines of their own words. Extractive, and the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ledger.parts import DocumentPart, ImagePart, OpaquePart, ReasoningPart, ToolCallPart
from projections.compacting.stubs import main_argument, what_came
from projections.exact.sentences import one_line, ranked, short_line, short_question
from projections.exact.strings import identifying_strings
from projections.transcript import Turn

MOST_CHARACTERS: Final = 160
"""A line of a turn is no longer than this."""

_MOST_ASKED: Final = 60
_MOST_NAMES: Final = 6
_LEAST_SHARE: Final = 50
_LENGTHS: Final = (MOST_CHARACTERS, 100, 60)
"""How long a line may be, the better lengths first."""

_LONG_RUN: Final = 3
"""So many tool rounds after each other make one line."""


@dataclass(frozen=True, slots=True)
class GistLine:
    """What the turns from ``first`` to ``last`` said or did."""

    first: int
    last: int
    text: str

    def __str__(self) -> str:
        """The line with its turns: "turns 12-31: …"."""
        where = f"turn {self.first}" if self.first == self.last else f"turns {self.first}-{self.last}"
        return f"{where}: {self.text}"


class Telling:
    """A turn that is told at several lengths: it is read once. ``text``: what is read, ``calls``: what is told of its calls."""

    def __init__(self, turn: Turn, text: str, calls: Iterable[str]) -> None:
        self.turn = turn
        self._ranked = ranked(text)
        self._calls = "; ".join(calls)
        shown = [part.type for part in turn.parts if isinstance(part, ImagePart | DocumentPart)]
        others = dict.fromkeys(part.type for part in turn.parts if isinstance(part, ReasoningPart | OpaquePart))
        said = bool(shown or self._calls or self._ranked.sentences)
        self._shown = " ".join(f"[{kind}]" for kind in (shown if said else others))
        self._lines: dict[int, str] = {}

    def within(self, most_characters: int) -> str:
        """The turn in one line of at most so many characters."""
        least = most_characters // 2
        said = self._ranked.within(max(least, most_characters - len(self._calls) - len(self._shown) - 4))
        return short_line("; ".join(piece for piece in (said, self._calls, self._shown) if piece), most_characters)

    def line(self, most_characters: int) -> str:
        """The same after its role."""
        if most_characters not in self._lines:
            self._lines[most_characters] = f"{self.turn.role}: {self.within(most_characters)}"
        return self._lines[most_characters]


def _called(turn: Turn, call: ToolCallPart) -> str:
    found = turn.answer_to(call.call_id)
    return f"{asked_of(call)}: {'no result' if found is None else what_came(found)}"


def asked_of(call: ToolCallPart) -> str:
    """A call without what came of it."""
    asked = main_argument(call)
    return f"called {one_line(call.tool)}({'' if asked is None else short_question(asked, _MOST_ASKED)})"


def tellings(turns: Iterable[Turn]) -> list[Telling]:
    """The turns that say something, ready to be told."""
    return [Telling(turn, turn.text, [_called(turn, call) for call in turn.calls]) for turn in turns if not turn.is_blank]


def group_gists(turns: Iterable[Turn], *, most_characters: int) -> tuple[GistLine, ...]:
    """A line for each exchange or run of tool rounds, in order; together at most ``most_characters`` with their line ends.

    Blank turns say nothing. Where there are too many turns for that, lines get shorter and neighbours are told in one, in the
    end all of them in one that is cut.
    """
    return grouped(tellings(turns), most_characters=most_characters)


def grouped(told: Sequence[Telling], *, most_characters: int) -> tuple[GistLine, ...]:
    """The same of turns that are told at several lengths."""
    groups = _groups(told)
    for most in _LENGTHS:
        lines = _that_fit((_told(group, most) for group in groups), most_characters)
        if lines is not None:
            return lines
    while len(groups) > 1:
        groups = [[turn for group in groups[place : place + 2] for turn in group] for place in range(0, len(groups), 2)]
        lines = _that_fit((_summed(group, _LENGTHS[-1] * 2) for group in groups), most_characters)
        if lines is not None:
            return lines
    summed = [_summed(group, max(0, most_characters)) for group in groups]
    over = _size(summed) - most_characters
    return tuple(
        GistLine(line.first, line.last, short_line(line.text, len(line.text) - over))
        for line in summed
        if over < len(line.text)
    )


def _that_fit(lines: Iterable[GistLine], most_characters: int) -> tuple[GistLine, ...] | None:
    """All of the lines, if they fit; no more of them is made than it takes to know."""
    made: list[GistLine] = []
    for line in lines:
        made.append(line)
        most_characters -= _size([line])
        if most_characters < 0:
            return None
    return tuple(made)


def _size(lines: Sequence[GistLine]) -> int:
    return sum(len(str(line)) + 1 for line in lines)


def _groups(turns: Sequence[Telling]) -> list[list[Telling]]:
    """Each turn that says something with what answers it at once; tool rounds after each other together."""
    groups: list[list[Telling]] = []
    for calls, run in groupby(turns, key=lambda told: bool(told.turn.calls)):
        if calls:
            groups.append(list(run))
            continue
        for told in run:
            asked = groups[-1][-1].turn if groups else None
            if told.turn.role == "assistant" and asked is not None and asked.role == "user":
                groups[-1].append(told)
            else:
                groups.append([told])
    return groups


def _told(group: list[Telling], most: int) -> GistLine:
    if group[0].turn.calls and len(group) >= _LONG_RUN:
        return _summed(group, most)
    share = most if len(group) == 1 else most * 3 // 2 // len(group)
    return _line(group, " / ".join(told.line(share) for told in group))


def _line(group: list[Telling], text: str) -> GistLine:
    return GistLine(group[0].turn.number, group[-1].turn.number, text)


def _summed(group: list[Telling], most: int) -> GistLine:
    """What was said, the user's turns first if not all fit; what tools were called, how often, and on what."""
    return _line(group, short_line("; ".join(_sum(group, most)), most))


def _sum(group: list[Telling], most: int) -> Iterator[str]:
    said = [told for told in group if not told.turn.calls]
    calls = [call for told in group for call in told.turn.calls]
    room = most // 2 if calls else most
    shown = sorted(said, key=lambda told: (told.turn.role != "user", told.turn.number))[: max(1, room // _LEAST_SHARE)]
    for told in sorted(shown, key=lambda told: told.turn.number):
        yield told.line(room // len(shown) - len("assistant: "))
    if len(said) > len(shown):
        yield f"{len(said) - len(shown):,} more"
    if calls:
        yield _counted(calls)
    names = dict.fromkeys(name for call in calls for name in identifying_strings(str(call.arguments)))
    if names:
        yield ", ".join(list(names)[:_MOST_NAMES])


def _counted(calls: Sequence[ToolCallPart]) -> str:
    first, *others = Counter(one_line(call.tool) for call in calls).most_common()
    counted = f"{first[1]:,} {'call' if first[1] == 1 else 'calls'} of {first[0]}"
    return ", ".join([counted, *(f"{number:,} of {tool}" for tool, number in others)])
