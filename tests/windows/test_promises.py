"""Every window of every history under every policy keeps what is promised."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from projections.errors import BudgetExceeded, NothingToSend
from projections.policy import Policy
from replay import view
from tests.windows.policies import POLICIES
from tests.windows.promises import faults
from tests.windows.stories import FORMS, Story, stories, told


@settings(deadline=None, max_examples=40, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(stories(), st.lists(POLICIES, min_size=2, max_size=4), st.data())
def test_a_window_keeps_what_is_promised(story: Story, policies: list[Policy], data: st.DataObject) -> None:
    with told(story) as store:
        last = store.ledger("case").version
        for policy in policies:
            at = last - last * data.draw(st.integers(0, 9)) // 12
            form = data.draw(st.sampled_from(FORMS))
            seen = view(store, "case", at=at)
            try:
                window = seen.window(policy, render=form)
            except NothingToSend:
                continue
            except BudgetExceeded as refusal:
                needed = sum(refusal.pins.values())
                assert needed > policy.request_tokens
                window = seen.window(policy.model_copy(update={"budget_tokens": needed}), render=form)
            assert faults(seen, window, window.policy) == []
