"""What is told of turns that gave way to the budget before their segment was compacted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from projections.compacting.gists import MOST_CHARACTERS, GistLine, group_gists
from projections.compacting.middle_text import BREAKS
from projections.compacting.segments import TURN_CHARACTERS
from projections.escaping import escaped
from projections.exact.strings import exact_strings, identifying_strings
from projections.policy import Compaction, Policy
from projections.state_block import Count
from projections.transcript import Turn

_CHARACTERS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The text, the first turn that is left out, and the turns that are told of in its lines, from one to another."""

    text: str
    first: int
    told_of: tuple[tuple[int, int], ...]


def left_out(turns: Sequence[Turn], policy: Policy, count: Count, *, unread: Sequence[int] = ()) -> LeftOut | None:
    """Extracts of the turns, and the exact strings in them, within the shares of the policy; None if it wants none.

    ``unread``: the numbers of turns before them that are not shown either, too many to be told of. Of forgotten turns nothing
    is told.
    """
    compaction = policy.compaction
    if compaction is None:
        return None
    living = [turn for turn in turns if turn.forgotten is None]
    told = tuple(_told(living, policy, compaction))
    lines = [_header(turns, unread), *(_line(line) for line in told)]
    room = policy.request_tokens * compaction.exact_percent // 100
    carried = []
    for string in _strings(living):
        cost = count(f"= {string}\n")
        if cost <= room:
            room -= cost
            carried.append(f"= {string}")
    text = "".join(f"{line}\n" for line in [*lines, *(["exact strings out of them:"] if carried else []), *carried])
    return LeftOut(text, min(_numbers(turns, unread)), tuple((line.first, line.last) for line in told))


def _numbers(turns: Sequence[Turn], unread: Sequence[int]) -> list[int]:
    return [*unread, *(turn.number for turn in turns)]


def _header(turns: Sequence[Turn], unread: Sequence[int]) -> str:
    """Which turns are left out; that the record has them is not said of those that were forgotten."""
    numbers = _numbers(turns, unread)
    first, last, number = min(numbers), max(numbers), len(numbers)
    forgotten = sum(turn.forgotten is not None for turn in turns)
    which = f"turn {first} is" if first == last else f"of turns {first}-{last}, {number:,} are"
    if number == forgotten:
        return f"[{which} not shown here: {'it was' if number == 1 else 'they were'} forgotten]"
    save = f", but {forgotten:,} that {'was' if forgotten == 1 else 'were'} forgotten" if forgotten else ""
    return f"[{which} not shown here; the record has {'it' if number == 1 else 'them'}{save}]"


def _told(turns: Sequence[Turn], policy: Policy, compaction: Compaction) -> Iterator[GistLine]:
    most = policy.request_tokens * compaction.text_percent // 100 * _CHARACTERS_PER_TOKEN
    lines = group_gists(turns, most_characters=min(max(MOST_CHARACTERS, TURN_CHARACTERS * len(turns)), most))
    return (line for line in lines if line.text)


def _line(line: GistLine) -> str:
    where = str(line.first) if line.first == line.last else f"{line.first}-{line.last}"
    return f"{where}: {escaped(line.text)}"


def _strings(turns: Sequence[Turn]) -> dict[str, None]:
    """What identifies something first, the user's own before the others', then the user's other exact strings.

    What cannot stand on one line is none.
    """
    users = [turn.text for turn in turns if turn.role == "user"]
    named = [string for text in users for string in identifying_strings(text)]
    others = [string for turn in turns if turn.role != "user" for string in identifying_strings(turn.text)]
    stated = [string for text in users for string in exact_strings(text)]
    return dict.fromkeys(string for string in (*named, *others, *stated) if not BREAKS.search(string))
