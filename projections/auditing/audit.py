"""What an audit of conversations answers: where their tokens go, by verdict, rule and result, and what policies would save."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from projections.verdicts.verdict import Verdict
from projections.wire import to_json

KINDS: Final[dict[str, tuple[Verdict, ...]]] = {
    "keep": ("keep",),
    "compress": ("compress", "stub"),
    "drop": ("drop",),
    "never": ("never",),
}
"""The kinds of turns, each with its verdicts: a stub is a way to compress, with a row of its own below it."""

COURTESIES: Final = frozenset({"blank", "greeting", "thanks", "acknowledgement", "apology", "restatement"})
"""The rules that claim what nobody misses: acknowledgements, and what says again what was said."""

GOVERNING: Final = frozenset({"task", "remember", "constraint", "correction", "decision", "refusal", "answer"})
"""The rules that claim turns by which all later ones have to go: the task, and what a user wants, decides and puts right."""


@dataclass(frozen=True, slots=True)
class Amount:
    """So many turns, results or repeats, and what they cost; ``share`` is that of all tokens of all turns, from 0 to 1."""

    number: int = 0
    tokens: int = 0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The turns of a verdict; ``turn_share``: their share of all turns."""

    verdict: Verdict
    turns: int
    tokens: int
    share: float
    turn_share: float


@dataclass(frozen=True, slots=True)
class KindRow:
    """The turns of a kind, and those of its verdicts."""

    kind: str
    turns: int
    tokens: int
    share: float
    turn_share: float
    verdicts: tuple[VerdictRow, ...]


@dataclass(frozen=True, slots=True)
class RuleRow:
    """The turns that a rule claimed with a verdict."""

    rule: str
    verdict: Verdict
    turns: int
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class BigResult:
    """One of the largest results of tools: where it is, what was asked, what it costs.

    ``used``: exact strings of it that later turns hold, the most used first; ``used_by``: the first turn that holds each of
    them, no turn twice. Both empty: nothing exact of it was ever used.
    """

    ledger: str
    turn: int
    result_id: str
    tool: str
    asked: str | None
    tokens: int
    used: tuple[str, ...] = ()
    used_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeated:
    """A content that came more than once: a ``result`` or what a ``user`` or ``assistant`` said.

    ``what`` names it: the tool and what it was asked for, or the first words. It first came with ``first_turn``, as
    ``result_id`` where it is a result, and again with ``turns`` (the first of them). ``exact`` and ``near``: how often again,
    to the letter and nearly; ``tokens``: what these repeats cost.
    """

    ledger: str
    kind: str
    what: str
    first_turn: int
    result_id: str | None
    turns: tuple[int, ...]
    exact: int
    near: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """All repeats, and the contents whose repeats cost most."""

    exact: Amount
    near: Amount
    most: tuple[Repeated, ...]

    @property
    def tokens(self) -> int:
        """What all repeats cost."""
        return self.exact.tokens + self.near.tokens


@dataclass(frozen=True, slots=True)
class Sent:
    """What all requests of the conversations would have cost under a policy.

    ``decisions``: how many requests there would have been; ``refused``: for how many turns what is never left out did not fit.
    ``cached_tokens``: what a prefix cache would have served of ``prompt_tokens``. ``saved_tokens``: what is saved against
    sending everything, for as many decisions; below 0 where it costs more.
    """

    policy: str
    digest: str | None
    decisions: int
    refused: int
    prompt_tokens: int
    cached_tokens: int
    saved_tokens: int = 0
    saved_share: float = 0.0

    @property
    def tokens_per_decision(self) -> float:
        """What a request cost on average."""
        return self.prompt_tokens / self.decisions if self.decisions else 0.0

    @property
    def cacheable_share(self) -> float:
        """The share of the prompt tokens that a prefix cache would have served, from 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """The turns from ``first`` to ``last``: their tokens by verdict."""

    first: int
    last: int
    tokens: Mapping[Verdict, int]


@dataclass(frozen=True, slots=True)
class AuditedLedger:
    """One of the ledgers: as of which version, how many turns, what they cost, and the same along the conversation."""

    ledger: str
    version: int
    turns: int
    tokens: int
    profile: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """Where the tokens of some conversations go, summed.

    Every turn counts once, with its calls and all that they returned, whole, and is judged as if it had left the tail, by the
    rules of the policy ``judged_by``. ``system_tokens`` are beside ``tokens``. ``courtesies``, ``spent_results`` and
    ``governing`` say again of some turns or results what ``kinds`` and ``rules`` say of all turns.
    """

    ledgers: tuple[AuditedLedger, ...]
    judged_by: str
    encoding: str
    turns: int
    tokens: int
    system_tokens: int
    kinds: tuple[KindRow, ...]
    rules: tuple[RuleRow, ...]
    courtesies: Amount
    governing: Amount
    results: Amount
    spent_results: Amount
    biggest: tuple[BigResult, ...]
    repeats: Repeats
    everything: Sent | None = None
    policies: tuple[Sent, ...] = ()

    def to_json(self) -> bytes:
        """The audit as JSON; shares as they are, from 0 to 1."""
        shown = {name: getattr(self, name) for name in self.__slots__ if name not in ("everything", "policies", "kinds")}
        shown["kinds"] = {row.kind: _kind(row) for row in self.kinds}
        if self.everything is not None:
            shown["everything"] = _sent(self.everything)
            shown["policies"] = [_sent(sent) for sent in self.policies]
        return to_json(shown)


def _kind(row: KindRow) -> dict[str, object]:
    plain: dict[str, object] = {
        "turns": row.turns,
        "tokens": row.tokens,
        "share": row.share,
        "turn_share": row.turn_share,
    }
    return plain if len(row.verdicts) == 1 else plain | {"verdicts": list(row.verdicts)}


def _sent(sent: Sent) -> dict[str, object]:
    return {
        "policy": sent.policy,
        "digest": sent.digest,
        "decisions": sent.decisions,
        "refused": sent.refused,
        "prompt_tokens": sent.prompt_tokens,
        "tokens_per_decision": round(sent.tokens_per_decision, 1),
        "cached_tokens": sent.cached_tokens,
        "cacheable_share": sent.cacheable_share,
        "saved_tokens": sent.saved_tokens,
        "saved_share": sent.saved_share,
    }
