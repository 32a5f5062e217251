"""What a provider's prefix cache would have served, had a conversation been held under a policy.

Such a cache serves the beginning that a request shares with the one before it. A request was made for every assistant turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ledger import Ledgers
from projections.encodings import encoding_for
from projections.errors import BudgetExceeded, NothingToSend
from projections.framing import REQUEST_TOKENS
from projections.pieces import Pieces, TurnPiece
from projections.policy import Policy
from projections.render.renderer import TALK, Count, Request, measure, plain
from projections.window import Window
from projections.wire import to_json
from replay.moment import At
from replay.tokens import counter
from replay.view import view

_CONTENT: Final = frozenset({"system", "content"})
_MARK: Final = "cache_control"


@dataclass(frozen=True, slots=True)
class Break:
    """At the request for ``turn`` the beginning changed that was to stay; ``because`` says what changed it."""

    turn: int
    because: str


@dataclass(frozen=True, slots=True)
class PrefixReport:
    """All requests of a conversation under a policy.

    ``decisions``: how many requests there were; ``refused``: for how many turns what is never left out did not fit.
    ``prompt_tokens`` and ``cached_tokens``: of all requests together, as we count. ``breaks``: where the beginning that
    was to stay changed, other than by growing.
    """

    ledger: str
    policy: str
    decisions: int
    refused: int
    prompt_tokens: int
    cached_tokens: int
    breaks: tuple[Break, ...]

    @property
    def share(self) -> float:
        """The share of the prompt tokens that a prefix cache would have served, from 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    @property
    def tokens_per_decision(self) -> float:
        """What a request cost on average."""
        return self.prompt_tokens / self.decisions if self.decisions else 0.0

    def to_json(self) -> bytes:
        """The report as JSON."""
        return to_json(
            {
                "ledger": self.ledger,
                "policy": self.policy,
                "decisions": self.decisions,
                "refused": self.refused,
                "prompt_tokens": self.prompt_tokens,
                "cached_tokens": self.cached_tokens,
                "share": round(self.share, 4),
                "tokens_per_decision": round(self.tokens_per_decision, 1),
                "breaks": list(self.breaks),
            }
        )


def prefix_report(store: Ledgers, ledger_id: str, policy: Policy, *, render: str = "openai", at: At = None) -> PrefixReport:
    """Build the window for every assistant turn of a ledger up to ``at``, and see what each shares with the one before it."""
    count = counter(encoding_for(policy.encoding))
    before: Window | None = None
    decisions = refused = prompt = cached = 0
    breaks: list[Break] = []
    for turn, found in decision_windows(store, ledger_id, policy, render=render, at=at):
        if found is None:
            refused += 1
            continue
        decisions += 1
        prompt += measure(found.exact, count)
        if before is not None:
            cached += shared_tokens(before.exact, found.exact, count)
            because = why_changed(before, found)
            breaks += [] if because is None else [Break(turn, because)]
        before = found
    return PrefixReport(ledger_id, policy.digest, decisions, refused, prompt, cached, tuple(breaks))


def decision_windows(
    store: Ledgers, ledger_id: str, policy: Policy, *, render: str = "openai", at: At = None
) -> Iterator[tuple[int, Window | None]]:
    """The window for every assistant turn of a ledger up to ``at``, as of just before it; None where it does not fit."""
    for turn in view(store, ledger_id, at=at).transcript().turns:
        if turn.role == "assistant" and turn.version > 1:
            try:
                yield turn.number, view(store, ledger_id, at=turn.version - 1).window(policy, render=render)
            except NothingToSend:
                continue
            except BudgetExceeded:
                yield turn.number, None


def shared_tokens(before: Request, after: Request, count: Count) -> int:
    """The tokens of the beginning that two requests share: whole messages, and what is alike of the first that differs."""
    beside = {name: value for name, value in after.items() if name not in TALK}
    if _unmarked(beside) != _unmarked({name: value for name, value in before.items() if name not in TALK}):
        return 0
    tokens = measure(beside, count)
    for ours, theirs in zip(_talk(after), _talk(before), strict=False):
        sent, known = _unmarked(ours), _unmarked(theirs)
        if sent != known:
            return tokens + _shared_within(sent, known, count)
        tokens += measure({"messages": [ours]}, count) - REQUEST_TOKENS
    return tokens


def _shared_within(ours: Any, theirs: Any, count: Count) -> int:
    """The same inside one message; nothing where even the roles differ."""
    tokens = 0
    for mine, other in zip(_texts(ours), _texts(theirs), strict=False):
        if mine != other:
            same = next((place for place, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]), len(mine))
            return tokens + count(mine[:same])
        tokens += count(mine)
    return tokens


def _texts(value: Any) -> Iterator[str]:
    """The texts in a message, in the order in which they are written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def why_changed(before: Window, after: Window) -> str | None:
    """Why the beginning that was to stay, up to the state or the tail, is not what it was and more; None if it is."""
    if after.rendering.draft.system != before.rendering.draft.system:
        return "the system text changed"
    if _goes_on(_stable(after), _stable(before)):
        return None
    if _goes_on(_stateless(after), _stateless(before)):
        return "the state changed, which stands after the system text"
    if after.receipt.through != before.receipt.through:
        return f"turns up to {after.receipt.through} were compacted"
    if after.receipt.gave_way or before.receipt.gave_way:
        return "the budget pressed"
    stood = _stood(before)
    if any(stubs - stood.get(turn, stubs) for turn, stubs in _stood(after).items()):
        return "spent results were cleared"
    return "turns read otherwise, since more was recorded of them"


def _stood(window: Window) -> dict[int, frozenset[int]]:
    """The turns before the state, with those of their results that are stubs."""
    return {piece.turn.number: frozenset(piece.replaced) for piece in _before_state(window) if isinstance(piece, TurnPiece)}


def _goes_on(ours: list[str], theirs: list[str]) -> bool:
    return ours[: len(theirs)] == theirs


def _stable(window: Window) -> list[str]:
    return [repr(piece) for piece in _before_state(window)]


def _stateless(window: Window) -> list[str]:
    """The same without a state that stands first of all."""
    is_first = window.policy.state_place == "after_system" and window.rendering.draft.scene.fixed.state is not None
    return _stable(window)[1 if is_first else 0 :]


def _before_state(window: Window) -> Pieces:
    ends = window.plan.breakpoints
    return window.plan.pieces[: ends[-1] + 1] if ends else ()


def _talk(request: Request) -> list[Any]:
    return next((request[name] for name in TALK if name in request), [])


def _unmarked(value: Any) -> Any:
    """A message, or what stands beside them, as its provider reads it: marks for a cache are no part of it.

    A text alone is a list of one, since it is written as such where it bears a mark or has a neighbour.
    """
    read = dict(plain(value))
    for name in _CONTENT & read.keys():
        content = [{"type": "text", "text": read[name]}] if isinstance(read[name], str) else read[name]
        read[name] = [_block(block) for block in content] if isinstance(content, list) else content
    return read


def _block(block: Any) -> Any:
    return {name: value for name, value in block.items() if name != _MARK} if isinstance(block, dict) else block
