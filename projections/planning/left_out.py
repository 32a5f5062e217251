"""What is told of turns that gave way to the budget before their segment was compacted.

All of it was counted with the turns, so that no tokenizer is needed to tell how much of it there is room for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from projections.compacting.middle import newest_within
from projections.compacting.middle_text import EXACT_FOLLOW, exact_line
from projections.compacting.note_tokens import note_tokens
from projections.compacting.outlines import Strings, carried_along, outline, strings_of
from projections.policy import Policy
from projections.told import Told


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The text and its tokens, the first turn that is left out, and those that are told of in lines, from one to another."""

    text: str
    tokens: int
    first: int
    told_of: tuple[tuple[int, int], ...]


def left_out(gone: Sequence[Told], policy: Policy, *, unread: Sequence[int] = ()) -> LeftOut | None:
    """A line for each of the newest of these turns, and exact strings of all, within the policy's shares; None without any.

    ``unread``: the numbers of turns before them that are not shown either, too many to be told of. Of forgotten turns nothing
    is told.
    """
    compaction = policy.compaction
    if compaction is None:
        return None
    numbers = [*unread, *(told.number for told in gone)]
    header = _header(numbers, sum(told.turn.forgotten is not None for told in gone))
    speaking = [told for told in gone if told.card.line_tokens]
    most = policy.request_tokens * compaction.text_percent // 100
    speaking = speaking[len(speaking) - newest_within((told.card.line_tokens for told in speaking), most) :]
    carried = _carried(gone, policy.request_tokens * compaction.exact_percent // 100)
    lines = chain(
        [(header, note_tokens(header))],
        ((told.recall("outline", _outline), told.card.line_tokens) for told in speaking),
        [(EXACT_FOLLOW, note_tokens(EXACT_FOLLOW))] if carried else (),
        ((exact_line(string), tokens) for string, tokens in carried),
    )
    texts, tokens = zip(*lines, strict=True)
    return LeftOut("".join(texts), sum(tokens), min(numbers), tuple((told.number, told.number) for told in speaking))


def _header(numbers: Sequence[int], forgotten: int) -> str:
    """Which turns are left out; that the record has them is not said of those that were forgotten."""
    first, last, number = min(numbers), max(numbers), len(numbers)
    which = f"turn {first} is" if first == last else f"of turns {first}-{last}, {number:,} are"
    if number == forgotten:
        return f"[{which} not shown here: {'it was' if number == 1 else 'they were'} forgotten]\n"
    save = f", but {forgotten:,} that {'was' if forgotten == 1 else 'were'} forgotten" if forgotten else ""
    return f"[{which} not shown here; the record has {'it' if number == 1 else 'them'}{save}]\n"


def _carried(gone: Sequence[Told], room: int) -> list[tuple[str, int]]:
    """Exact strings of turns with their tokens: what identifies something first, the user's own before the others'."""
    living = [told for told in gone if told.turn.forgotten is None]
    found = {told.number: told.recall("strings", _strings) for told in living}
    priced = (zip(carried_along(found[told.number]), told.card.exact_tokens, strict=True) for told in living)
    tokens = dict(chain.from_iterable(priced))
    users = [found[told.number] for told in living if told.turn.role == "user"]
    others = [found[told.number] for told in living if told.turn.role != "user"]
    ordered = chain(_all(named for named, _ in (*users, *others)), _all(stated for _, stated in users))
    carried = []
    for string in dict.fromkeys(ordered):
        cost = tokens.get(string)
        if cost is not None and cost <= room:
            room -= cost
            carried.append((string, cost))
    return carried


def _all(strings: Iterable[Iterable[str]]) -> Iterable[str]:
    return chain.from_iterable(strings)


def _outline(told: Told) -> str:
    return outline(told.turn)


def _strings(told: Told) -> Strings:
    return strings_of(told.turn)
