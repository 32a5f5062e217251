"""What policies would save: every request that they would have made, against sending everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledgers
from ledger.errors import UnknownVersion
from ledger.json_text import JsonText
from ledger.parts import TextPart, ToolCallPart
from projections.auditing.audit import Audit, Sent
from projections.policy import Policy
from projections.presets import PRESETS, SLIDING
from replay import Turn
from replay.audit import audit
from replay.prefix import PrefixReport, prefix_report
from tests.audit.talking import OTHER_PAGE, PAGE, look_up, say
from tests.replay.real_conversations import import_conversations, open_store

EVERYTHING = SLIDING.model_copy(update={"budget_tokens": 10**9})
SMALL = PRESETS["support"].model_copy(update={"budget_tokens": 1_500})


def record(store: Ledgers, name: str) -> None:
    case = store.ledger(name)
    case.record_turn("system", "Answer in one line.")
    for place in range(8):
        say(case, f"Where is order ORD-{place:05}?", "Let me look.")
        look_up(case, "search", f"order {place}", PAGE[: 400 + 90 * place])
        say(case, "Well?", f"It is in depot {place}.", "Good. And by rail?", OTHER_PAGE[:700])


def everything(found: Audit) -> Sent:
    assert found.everything is not None
    return found.everything


def reports(store: Ledgers, names: list[str], policy: Policy) -> list[PrefixReport]:
    return [prefix_report(store, name, policy) for name in names]


def test_a_policy_costs_what_its_requests_cost(store: Ledgers) -> None:
    """Those of all ledgers together, as the report of each tells."""
    record(store, "one")
    record(store, "two")
    found = audit(store, ["one", "two"], policies={"small": SMALL, "sliding": SLIDING})
    assert [sent.policy for sent in found.policies] == ["small", "sliding"]
    for sent, policy in zip(found.policies, (SMALL, SLIDING), strict=True):
        both = reports(store, ["one", "two"], policy)
        assert sent.digest == policy.digest
        for name in ("decisions", "refused", "prompt_tokens", "cached_tokens"):
            assert getattr(sent, name) == sum(getattr(report, name) for report in both)
        assert sent.tokens_per_decision == sent.prompt_tokens / sent.decisions
        assert sent.cacheable_share == sent.cached_tokens / sent.prompt_tokens


def test_what_is_saved_is_the_difference_to_everything(store: Ledgers) -> None:
    record(store, "one")
    found = audit(store, ["one"], policies={"small": SMALL})
    (sent,) = found.policies
    whole = everything(found)
    assert (sent.refused, sent.decisions) == (0, whole.decisions)
    assert sent.saved_tokens == whole.prompt_tokens - sent.prompt_tokens > 0
    assert sent.saved_share == pytest.approx(sent.saved_tokens / whole.prompt_tokens)


def test_everything_costs_what_windows_without_a_limit_cost(store: Ledgers) -> None:
    """One way adds up each turn once, the other builds every request: they differ by the line ends between texts."""
    record(store, "one")
    (report,) = reports(store, ["one"], EVERYTHING)
    whole = everything(audit(store, ["one"]))
    assert whole.decisions == report.decisions == 32
    assert whole.prompt_tokens == pytest.approx(report.prompt_tokens, rel=1e-3)
    assert whole.cached_tokens == pytest.approx(report.cached_tokens, rel=1e-3)


def test_before_a_user_spoke_there_is_nothing_to_decide(store: Ledgers) -> None:
    case = store.ledger("greeted")
    case.record_turn("assistant", "How can I help?")
    say(case, "Where is ORD-00001?", "In depot 1.", "And ORD-00002?", "In depot 2.")
    (report,) = reports(store, ["greeted"], EVERYTHING)
    whole = everything(audit(store, ["greeted"]))
    assert (whole.decisions, whole.prompt_tokens) == (report.decisions, report.prompt_tokens)


@pytest.mark.parametrize("late", [False, True])
def test_a_system_text_that_comes_late_stands_before_everything(store: Ledgers, late: bool) -> None:
    case = store.ledger("late")
    say(case, "Hello.", "Good morning.", "Where is ORD-00001?", "In depot 1.")
    if late:
        case.record_turn("system", "From now on, answer in German.")
    say(case, "And ORD-00002?", "In depot 2.", "And ORD-00003?", "In depot 3.")
    (report,) = reports(store, ["late"], EVERYTHING)
    whole = everything(audit(store, ["late"]))
    assert (whole.prompt_tokens, whole.cached_tokens) == (report.prompt_tokens, report.cached_tokens)


def test_neighbours_of_one_role_share_a_message(store: Ledgers) -> None:
    """A message that grew begins as it was sent before, and a cache serves that beginning, as the windows' reports say."""
    case = store.ledger("merged")
    case.record_turn("user", "Look into all of it.")
    for place in range(4):
        case.record_turn("assistant", f"Thinking about part {place}.")
    case.record_turn(
        "assistant", [TextPart(text="Now looking."), ToolCallPart(call_id="c1", tool="search", arguments=JsonText("{}"))]
    )
    case.record_return("c1", "nothing")
    for place in range(4):
        case.record_turn("assistant", f"Again about part {place}.")
    (report,) = reports(store, ["merged"], EVERYTHING)
    whole = everything(audit(store, ["merged"]))
    assert whole.decisions == report.decisions == 9
    assert whole.prompt_tokens == pytest.approx(report.prompt_tokens, abs=9 * 8)
    assert whole.cached_tokens == pytest.approx(report.cached_tokens, abs=9 * 8)


def test_where_a_request_is_refused_it_says_so(store: Ledgers) -> None:
    """What was refused costs nothing, and saves nothing either."""
    case = store.ledger("large")
    say(case, "Read this.", "Gladly.", PAGE, "It is about depots.", "Thanks!", "You are welcome!")
    tiny = SLIDING.model_copy(update={"budget_tokens": 400})
    found = audit(store, ["large"], policies={"tiny": tiny})
    (sent,) = found.policies
    assert (sent.refused, sent.decisions, everything(found).decisions) == (1, 2, 3)
    assert sent.saved_share == pytest.approx(1 - sent.tokens_per_decision / everything(found).tokens_per_decision)
    assert sent.saved_tokens == round((everything(found).tokens_per_decision - sent.tokens_per_decision) * 2)


def test_nothing_is_compared_where_no_policy_is_given(store: Ledgers) -> None:
    record(store, "one")
    found = audit(store, ["one"], policies={})
    assert (found.everything, found.policies, found.judged_by) == (None, (), "default")
    assert b'"policies"' not in found.to_json()


def test_the_presets_are_compared_unless_others_are_given(store: Ledgers) -> None:
    say(store.ledger("one"), "Hello.", "Good morning.")
    found = audit(store, ["one"])
    assert [sent.policy for sent in found.policies] == ["support", "coding", "research", "sliding"]
    assert found.judged_by == "support"


@pytest.fixture(scope="module")
def real(real_data: Path) -> Iterator[Ledgers]:
    with open_store(":memory:") as store:
        import_conversations(store, real_data)
        yield store


def test_real_conversations_add_up(real: Ledgers) -> None:
    """The five longest of an airline's agent: totals are those of single turns, and every preset saves what it says."""
    lengths = {head.name: head.version for head in real.heads()}
    names = sorted(lengths, key=lambda name: lengths[name], reverse=True)[:5]
    found = audit(real, names, policies={"research": PRESETS["research"].model_copy(update={"budget_tokens": 2_500})})
    assert len(found.ledgers) == 5
    assert found.turns == sum(row.turns for row in found.ledgers) == sum(row.turns for row in found.kinds)
    assert found.tokens == sum(row.tokens for row in found.ledgers) == sum(row.tokens for row in found.kinds)
    assert sum(row.share for row in found.kinds) == pytest.approx(1)
    assert 0 < found.spent_results.tokens <= found.results.tokens < found.tokens
    assert found.results.tokens >= sum(result.tokens for result in found.biggest)
    assert found.repeats.tokens >= sum(repeated.tokens for repeated in found.repeats.most)
    whole = everything(found)
    assert whole.prompt_tokens == pytest.approx(sum(r.prompt_tokens for r in reports(real, names, EVERYTHING)), rel=2e-3)
    (sent,) = found.policies
    assert 0 < sent.saved_tokens == whole.prompt_tokens - sent.prompt_tokens


def test_marks_for_a_cache_are_no_part_of_what_it_serves(store: Ledgers) -> None:
    """Anthropic's move on as a window grows, and a text that bears one is written as a block; its tokens are the same ones."""
    case = store.ledger("one")
    case.record_turn("system", "Answer in one line.")
    for place in range(9):
        say(case, f"Where is order ORD-{place:05}? " + OTHER_PAGE[:600], f"In depot {place}. " + PAGE[:600])
    policy = PRESETS["support"].model_copy(update={"state": None})
    marked, plain = (prefix_report(store, "one", policy, render=form) for form in ("anthropic", "openai"))
    assert plain.breaks == marked.breaks == ()
    assert marked.share == pytest.approx(plain.share, abs=0.01)


def test_as_of_a_version_it_is_the_audit_of_what_there_was(store: Ledgers) -> None:
    """Of a ledger that went on it says the same as of one that ended there, for every policy that is compared."""
    for name in ("one", "two"):
        say(store.ledger(name), "Where is ORD-88213?")
        look_up(store.ledger(name), "track", "ORD-88213", PAGE)
        say(store.ledger(name), "It is in Ghent.", "Thanks!")
    ended = audit(store, ["one", "two"])
    versions = {store.head(name).version for name in ("one", "two")}
    for name in ("one", "two"):
        store.ledger(name).record_turn("system", "Speak Dutch from now on.")
        say(store.ledger(name), "And ORD-88214?")
        look_up(store.ledger(name), "track", "ORD-88214", PAGE)
    (version,) = versions
    assert audit(store, ["one", "two"], at=version) == ended
    assert audit(store, ["one", "two"], at=Turn(4)).turns == ended.turns
    assert audit(store, ["one", "two"]).turns > ended.turns
    with pytest.raises(UnknownVersion):
        audit(store, ["one"], at=99)
