"""What is told of turns that gave way to the budget before their segment was compacted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from projections.compacting import TURN_CHARACTERS
from projections.escaping import escaped
from projections.exact_strings import exact_strings, identifying_strings
from projections.gists import group_gists
from projections.policy import Compaction, Policy
from projections.state_block import Count
from projections.transcript import Turn

_CHARACTERS_PER_TOKEN: Final = 4


def left_out_text(turns: Sequence[Turn], policy: Policy, count: Count) -> str | None:
    """Extracts of the turns, and the exact strings in them, within the shares of the policy; None if it wants none.

    Of forgotten turns nothing is told.
    """
    compaction = policy.compaction
    living = [turn for turn in turns if turn.forgotten is None]
    if not turns or compaction is None:
        return None
    first, last = turns[0].number, turns[-1].number
    which = f"turn {first} is" if first == last else f"of turns {first}-{last}, {len(turns)} are"
    lines = [f"[{which} not shown here; the record has them]", *_told(living, policy, compaction)]
    room = policy.request_tokens * compaction.exact_percent // 100
    carried = []
    for string in _strings(living):
        room -= count(f"= {string}\n")
        if room < 0:
            break
        carried.append(f"= {string}")
    return "".join(f"{line}\n" for line in [*lines, *(["exact strings out of them:"] if carried else []), *carried])


def _told(turns: Sequence[Turn], policy: Policy, compaction: Compaction) -> Iterator[str]:
    most = policy.request_tokens * compaction.text_percent // 100 * _CHARACTERS_PER_TOKEN
    for line in group_gists(turns, most_characters=min(TURN_CHARACTERS * len(turns), most)):
        where = str(line.first) if line.first == line.last else f"{line.first}-{line.last}"
        yield f"{where}: {escaped(line.text)}"


def _strings(turns: Sequence[Turn]) -> dict[str, None]:
    """The user's own first, then the identifiers of the others; what cannot stand on one line is none."""
    stated = [string for turn in turns if turn.role == "user" for string in exact_strings(turn.text)]
    others = [string for turn in turns if turn.role != "user" for string in identifying_strings(turn.text)]
    return dict.fromkeys([*stated, *others])
