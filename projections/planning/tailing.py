"""Where the tail begins, when a turn left it, and how many segments are compacted by then.

All of this is told from the turns up to the current one and the policy alone, so it is the same in every process and for every
form; it looks at as many turns as the budget holds, however long the ledger is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Final

from projections.cards import Card, Contents, ResultCard
from projections.planning.taken_on import Sums
from projections.policy import Policy, StubRules
from projections.told import Told, Turns

STUB_TOKENS: Final = 45
"""What a stub is taken to cost where only numbers are compared."""

CUT_TOKENS: Final = 110
"""The same of the shortest beginning and end of a result: one a character, which is rarely too few."""

_TURN_ADDS: Final = 7
_RESULT_ADDS: Final = 6
_CHUNK: Final = 128
_REACH: Final = 64  # nearly always enough, or twice as many, to see what is compacted
_FARTHEST_KNOWN: Final = 160


def tail_start(turns: Turns, policy: Policy) -> int:
    """The number of the first turn of the tail: the current turn's own, where the tail is empty."""
    last = turns.last
    by_turns = max(1, last - policy.tail_turns)
    return by_turns if not policy.tail_exchanges else min(by_turns, _exchange_start(turns, policy.tail_exchanges))


def _exchange_start(turns: Turns, exchanges: int) -> int:
    """The number of the user turn that begins the last so many exchanges; 1 if there are not as many."""
    upto = turns.last
    while upto > 0:
        for card in reversed(turns.cards(max(1, upto - _CHUNK + 1), upto)):
            exchanges -= 1 if card.role == "user" else 0
            if not exchanges:
                return card.number
        upto -= _CHUNK
    return 1


def added_tokens(card: Card) -> int:
    """About what a form adds to a turn: of short turns it is a good part."""
    return _TURN_ADDS + _RESULT_ADDS * card.calls


def plain_tokens(card: Card, replaced: Mapping[int, int], policy: Policy) -> int:
    """What a turn costs without what a form adds to it; ``replaced`` has the tokens of what stands in the place of results."""
    total = _contents_tokens(card.contents, policy)
    for result in card.results:
        total += replaced[result.version] if result.version in replaced else _contents_tokens(result.contents, policy)
    return total


def _contents_tokens(contents: Contents, policy: Policy) -> int:
    total = contents.tokens
    if contents.foreign or contents.reasoning:
        total += sum(tokens for _, tokens in (*contents.foreign, *contents.reasoning))
    if contents.pictures or contents.documents:
        total += contents.pictures * policy.picture_price + contents.documents * policy.document_price
    return total


def is_too_large(card: Card, policy: Policy) -> bool:
    """Whether the words of a turn alone are more than a request may cost: no window can show it."""
    return _contents_tokens(card.contents, policy) > policy.request_tokens


def clearable_tokens(card: Card, policy: Policy) -> int:
    """What stubs would save of a turn: nothing while a call of it is open."""
    return sum(result.contents.tokens - STUB_TOKENS for result in clearable_results(card, policy.stubs))


def clearable_results(card: Card, rules: StubRules) -> Sequence[ResultCard]:
    """The results of a turn that become shorter as stubs and may; none while a call of it is open."""
    return () if card.open_calls else _large_results(card, rules)


def _large_results(card: Card, rules: StubRules) -> Sequence[ResultCard]:
    """The same, whether a call of it is open or not."""
    if not rules.spent or not card.results:
        return ()
    least = max(rules.larger_than_tokens, STUB_TOKENS)
    large = (result for result in card.results if result.contents.tokens > least)
    return [result for result in large if result.tool not in rules.excluded_tools]


def cuttable_tokens(card: Card, policy: Policy) -> int:
    """What is saved of a turn whose results are cut as short as they may be, of those that may become stubs, about."""
    return sum(max(0, result.contents.tokens - CUT_TOKENS) for result in clearable_results(card, policy.stubs))


def settled_tokens(card: Card, policy: Policy) -> int:
    """What a turn costs once its results are stubs, with about what a form adds to it.

    Those of a turn of which a call is open, too: so it costs no less once the result of that call comes late. One that is too
    large to be shown costs no more than what is told of it.
    """
    said, added = _contents_tokens(card.contents, policy), added_tokens(card)
    if said > policy.request_tokens:
        return STUB_TOKENS + added
    if not card.results:  # most turns are such, and many are asked for
        return said + added
    saved = sum(result.contents.tokens - STUB_TOKENS for result in _large_results(card, policy.stubs))
    return plain_tokens(card, {}, policy) - saved + added


def compacted_segments(turns: Turns, policy: Policy, start: int, settled: Sums[Card] | None = None) -> int:
    """How many segments are compacted when the tail begins with the turn ``start``.

    None while what left the tail fits the shares of all blocks before it together, and all turns before the current one fit
    the budget; then as few as will make what stands between them and the tail cost no more than its own share. A segment is
    never compacted while one of its turns is in the tail, or one that the rules look at is still to come. As turns only add to
    what is compared, what is compacted once is so for ever. ``settled`` remembers what turns cost so, added up from anywhere.
    """
    compaction = policy.compaction
    if compaction is None:
        return 0
    length = compaction.segment_turns
    most = min((start - 1) // length, max(0, turns.last - 1 - policy.looks_ahead) // length)
    room = policy.request_tokens * compaction.live_percent // 100
    in_all = policy.request_tokens * compaction.percent // 100
    whole = room_for_turns(turns, policy)
    reach, settled = _REACH, settled or Sums()
    known = 0 if settled.begins is None else turns.last - settled.begins
    if known <= 3 * _REACH:  # what was enough the last time will most often be enough again
        reach = max(reach, known if known < _FARTHEST_KNOWN else 2 * _REACH)
    while most:
        first = max(1, turns.last - reach)
        sums = settled.of(turns.cards(first, turns.last - 1), partial(settled_tokens, policy=policy))
        upto = sums[max(0, start - first)]
        if upto - sums[0] > max(room, min(in_all, whole - sums[-1] + upto)):
            number = first + bisect_left(sums, upto - room) - 1  # the first turn that must be compacted, from the end
            return min(most, -(-number // length))
        if first == 1:
            return 0
        reach *= 2
    return 0


def room_for_turns(turns: Turns, policy: Policy) -> int:
    """What system texts and the state leave of the budget."""
    state = 0 if policy.state is None else policy.state.budget_tokens
    return policy.request_tokens - state - sum(tokens for _, tokens in turns.system)


def leaves_tail(told: Sequence[Told], place: int, policy: Policy) -> int:
    """The number of the turn at whose coming a turn leaves the tail; beyond the last of ``told`` if none of them is it yet."""
    number = told[place].turn.number
    leaves = number + policy.tail_turns + 1
    missing = policy.tail_exchanges
    if missing:
        later = (other.turn.number for other in told[place + 1 :] if other.turn.role == "user")
        users = [found for found, _ in zip(later, range(missing), strict=False)]
        leaves = max(leaves, users[-1] if len(users) == missing else told[-1].turn.number + 1)
    return leaves


def crowded_at(first: int, place: int, timely: Sequence[int], policy: Policy, *, upto: int) -> int:
    """The number of the turn at whose coming a turn is crowded out: it and those after it, whole, cost more than the budget.

    Beyond ``upto`` if none of them is it. Once it is so, it is so for ever: results that come late are not counted, nor turns
    that are too large to be shown. ``timely``: see ``timely_sums``; the turn ``first`` is the first of them.
    """
    found = bisect_right(timely, timely[place] + policy.request_tokens)
    return upto + 1 if found == len(timely) else min(upto + 1, first + found - 1)


def timely_sums(told: Sequence[Told], policy: Policy) -> list[int]:
    """What turns in a row cost, ``timely_tokens`` of each, added up: before each of them and after the last."""
    begins = [*(one.turn.version for one in told[1:]), None]
    costs = (timely_tokens(one, policy, begins=version) for one, version in zip(told, begins, strict=True))
    return list(accumulate(costs, initial=0))


def timely_tokens(one: Told, policy: Policy, *, begins: int | None) -> int:
    """What a turn costs whole, without what came when the next one had begun, which it did at the version ``begins``."""
    if is_too_large(one.card, policy):
        return 0
    results = one.card.results
    if begins is None or not results or latest_result(one) < begins:
        return one.recall(("whole and added", policy.settling), lambda one: _whole_tokens(one.card, {}, policy))
    return _whole_tokens(one.card, {result.version: 0 for result in results if result.version > begins}, policy)


def _whole_tokens(card: Card, left_out: Mapping[int, int], policy: Policy) -> int:
    return plain_tokens(card, left_out, policy) + added_tokens(card)


def latest_result(told: Told) -> int:
    """The version of the result of a turn that came last; 0 if there is none."""
    return max((result.version for result in told.card.results), default=0)
