"""Which requests of users a forgetting answers: those that are named, or the only one that there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ledger import events as e
from ledger.errors import InvalidInput
from ledger.forgetting import Plan

_NOT_ASKED: Final[frozenset[e.ForgettingScope]] = frozenset({"subject", "retention"})
"""What is forgotten so need not have to do with what is asked for in a ledger."""


def answered_by(plans: Sequence[Plan], scope: e.ForgettingScope, answers: Sequence[int] | None) -> tuple[int, ...]:
    """The user turns that a forgetting answers; ``InvalidInput`` for what is given and is none."""
    if answers is None:
        asked = () if scope in _NOT_ASKED else tuple(request for planned in plans for request in planned.requests)
        return asked if len(asked) == 1 else ()
    for place, turn in enumerate(answers):
        if not any(turn in planned.user_turns for planned in plans):
            names = ", ".join(repr(planned.forgetting.ledger) for planned in plans)
            raise InvalidInput(
                f"answers[{place}]: turn {turn} is no user turn of {names}: name the turns that ask to forget something",
                path=f"answers[{place}]",
            )
    return tuple(answers)


def with_answers(planned: Plan, answers: Sequence[int]) -> Plan:
    """The plan, which says what is answered and what is pending afterwards."""
    gone = {item.turn for item in planned.forgetting.items if item.type == "turn.recorded"}
    forgetting = replace(
        planned.forgetting,
        answers=tuple(turn for turn in answers if turn in planned.user_turns),
        pending=tuple(turn for turn in planned.requests if turn not in gone and turn not in answers),
    )
    return replace(planned, forgetting=forgetting)
