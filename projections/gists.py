"""What a turn said or did, in one line of its own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ledger.parts import DocumentPart, ImagePart, ToolCallPart
from projections.exact.sentences import best_sentences, one_line, short_line
from projections.exact_strings import exact_strings, identifying_strings
from projections.stubs import main_argument, what_came
from projections.transcript import Turn

MOST_CHARACTERS: Final = 160
"""A gist is no longer than this."""

_MOST_ASKED: Final = 60
_MOST_NAMES: Final = 6
_LONG_RUN: Final = 3
"""So many tool rounds after each other make one line."""


@dataclass(frozen=True, slots=True)
class Gist:
    """A turn in one line of its own words (… marks what is cut), and the exact strings of all that it said and asked for."""

    text: str
    exact: tuple[str, ...]


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


def gist(turn: Turn) -> Gist:
    """What a turn said, in its most telling sentences, and which tools it called with what they returned.

    The text is empty for a blank turn and at most 160 characters long. Extractive, and the same every time.
    """
    if turn.forgotten is not None:
        return Gist(turn.text, ())
    asked = (string for call in turn.calls for string in identifying_strings(str(_source(call))))
    return Gist(_line(turn, MOST_CHARACTERS), tuple(dict.fromkeys([*exact_strings(turn.text), *asked])))


def _source(call: ToolCallPart) -> str:
    return call.arguments if isinstance(call.arguments, str) else call.arguments.unparsed


def _line(turn: Turn, most: int) -> str:
    if turn.forgotten is not None:
        return turn.text
    calls = "; ".join(_called(turn, call) for call in turn.calls)
    said = best_sentences(turn.text, most if not calls else max(most // 2, most - len(calls) - 2))
    shown = [part.type for part in turn.parts if isinstance(part, ImagePart | DocumentPart)]
    pieces = [said, calls, " ".join(f"[{kind}]" for kind in shown)]
    return short_line("; ".join(piece for piece in pieces if piece), most)


def _called(turn: Turn, call: ToolCallPart) -> str:
    asked = main_argument(call)
    found = turn.answer_to(call.call_id)
    came = "no result" if found is None else what_came(found)
    return f"called {one_line(call.tool)}({'' if asked is None else short_line(asked, _MOST_ASKED)}) -> {came}"


def group_gists(turns: Sequence[Turn], *, most_characters: int) -> tuple[GistLine, ...]:
    """A line for each exchange or run of tool rounds, in order; together at most ``most_characters`` with their line ends.

    Blank turns say nothing. Where there are too many turns for that, lines get shorter and neighbours are told in one.
    """
    groups = _groups([turn for turn in turns if not turn.is_blank])
    for most in (MOST_CHARACTERS, 100, 60):
        lines = [_told(group, most) for group in groups]
        if _size(lines) <= most_characters:
            return tuple(lines)
    while len(groups) > 1:
        groups = [[turn for group in groups[place : place + 2] for turn in group] for place in range(0, len(groups), 2)]
        lines = [_summed(group, MOST_CHARACTERS) for group in groups]
        if _size(lines) <= most_characters:
            return tuple(lines)
    lines = [_summed(group, MOST_CHARACTERS) for group in groups]
    if lines and _size(lines) > most_characters:
        room = most_characters - (_size(lines) - len(lines[0].text))
        lines = [GistLine(line.first, line.last, short_line(line.text, room)) for line in lines if room > 0]
    return tuple(lines)


def _size(lines: Sequence[GistLine]) -> int:
    return sum(len(str(line)) + 1 for line in lines)


def _groups(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Each turn that says something with what answers it at once; tool rounds after each other together."""
    groups: list[list[Turn]] = []
    for calls, run in groupby(turns, key=lambda turn: bool(turn.calls)):
        if calls:
            groups.append(list(run))
            continue
        for turn in run:
            if turn.role == "assistant" and groups and not groups[-1][-1].calls and groups[-1][-1].role == "user":
                groups[-1].append(turn)
            else:
                groups.append([turn])
    return groups


def _told(group: list[Turn], most: int) -> GistLine:
    if group[0].calls and len(group) >= _LONG_RUN:
        return _summed(group, most)
    share = most if len(group) == 1 else (most * 2 - 3) // len(group)
    text = " / ".join(f"{turn.role}: {_line(turn, share)}" for turn in group)
    return GistLine(group[0].number, group[-1].number, text)


def _summed(group: list[Turn], most: int) -> GistLine:
    """What tools were called, how often, and on what; and what the user said last."""
    return GistLine(group[0].number, group[-1].number, short_line("; ".join(_sum(group, most)), most))


def _sum(group: list[Turn], most: int) -> Iterator[str]:
    said = [turn for turn in group if not turn.calls]
    if said:
        yield f"{said[0].role}: {_line(said[0], most // 2)}"
    if len(said) > 1:
        yield f"{len(said) - 1:,} more turns"
    calls = [call for turn in group for call in turn.calls]
    tools = Counter(one_line(call.tool) for call in calls)
    if calls:
        first, *others = tools.most_common()
        counted = f"{first[1]:,} {'call' if first[1] == 1 else 'calls'} of {first[0]}"
        yield ", ".join([counted, *(f"{number:,} of {tool}" for tool, number in others)])
    names = dict.fromkeys(name for call in calls for name in identifying_strings(_source(call)))
    if names:
        yield ", ".join(list(names)[:_MOST_NAMES])
