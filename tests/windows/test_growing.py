"""What a growing ledger's windows have in common, and that they are the same however they came about."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ledger import connect
from ledger.events import ToolReturned
from ledger.record import Recorded
from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Policy
from projections.window import Window
from replay import view
from replay.view import View
from tests.projections.histories import Player, ticking
from tests.windows.growing import AMENDING, Growth
from tests.windows.policies import POLICIES
from tests.windows.stories import FORMS, Story, play, stories, told

Answer = Window | str

NOT_SHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""A long story takes minutes to make smaller, and says what it is by its seed."""


def answered(seen: View, policy: Policy, form: str) -> Answer:
    """A window, or the words of a refusal."""
    try:
        return seen.window(policy, render=form)
    except (BudgetExceeded, NothingToSend) as refusal:
        return f"{refusal} {refusal.details}"


def content(answer: Answer) -> object:
    """All of an answer."""
    if isinstance(answer, str):
        return answer
    return answer.request_bytes, answer.tokens, answer.receipt.turns(), answer.receipt.summary(), answer.plan.breakpoints


def amends(event: Recorded, last_turn: int) -> bool:
    """Whether an event may change how earlier turns read."""
    if isinstance(event.event, ToolReturned):
        return (event.turn or 0) < last_turn
    return event.event.type in AMENDING or event.event.type == "erased"


@settings(deadline=None, max_examples=15, phases=NOT_SHRUNK)
@given(stories(forgets=False), POLICIES, st.sampled_from(FORMS))
def test_what_stands_before_the_state_only_grows_at_its_end(story: Story, policy: Policy, form: str) -> None:
    with told(story) as store:
        events = list(store.ledger("case").events())
        growth, last_turn, amended = Growth(), 0, False
        for event, following in pairwise([*events, None]):
            assert event is not None
            amended = amended or amends(event, last_turn)
            last_turn = max(last_turn, event.turn or 0)
            if following is not None and following.event.type != "turn.recorded":
                continue  # a window is made before a turn
            answer = answered(view(store, "case", at=event.version), policy, form)
            if isinstance(answer, Window):
                assert list(growth.faults(answer, amended=amended)) == []
                amended = False


@settings(deadline=None, max_examples=15, phases=NOT_SHRUNK)
@given(stories(), st.lists(POLICIES, min_size=1, max_size=2), st.sampled_from(FORMS))
def test_windows_are_the_same_however_they_came_about(story: Story, policies: list[Policy], form: str) -> None:
    with connect(":memory:", clock=ticking()) as growing, told(story) as fresh:
        player = Player(growing.ledger("case"))
        for step in story:
            play(player, step)
            if player.ledger.version:
                for policy in policies:
                    answered(view(growing, "case"), policy, form)  # what this leaves behind must not show
        last = growing.ledger("case").version
        for version in range(1, last + 1, 1 + last // 12):
            for policy in policies:
                made = [content(answered(view(store, "case", at=version), policy, form)) for store in (growing, fresh)]
                assert made[0] == made[1]


@settings(deadline=None, max_examples=10, phases=NOT_SHRUNK)
@given(stories(forgets=False), POLICIES, st.sampled_from(FORMS))
def test_the_past_stays_what_it_was(story: Story, policy: Policy, form: str) -> None:
    with connect(":memory:", clock=ticking()) as store:
        player = Player(store.ledger("case"))
        then = {}
        for step in story:
            play(player, step)
            then[player.ledger.version] = content(answered(view(store, "case"), policy, form))
        for version, was in list(then.items())[:: 1 + len(then) // 12]:
            assert content(answered(view(store, "case", at=version), policy, form)) == was
