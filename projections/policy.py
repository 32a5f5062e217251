"""The rules by which a window is chosen, as frozen data with a digest."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Final, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from ledger.parts import Name
from projections.encodings import encoding_for
from projections.policy_values import PinnedTurn, PolicyPart, WholeNumber, YesOrNo
from projections.state_block import BlockOptions
from projections.verdicts.lexicon import lexicon_of
from projections.verdicts.rules import DEFAULT_RULES, Rule
from projections.verdicts.verdict import Ruled

OF_THE_TABLE: Final = "of_the_table"
"""The type of an error about several keys of a table. It is found at the last of them, so that it is told beside others."""

MOST_PERCENT: Final = 90
"""What the parts of the middle may take of the budget together: the rest is for task, state and tail."""


class StubRules(PolicyPart):
    """Which results of tools become stubs once their turn has left the tail.

    ``spent``: those that an assistant turn has answered. ``older_than_turns``: only when their turn is that far back.
    ``larger_than_tokens``: only those that cost more. ``excluded_tools``: never those of these tools. They are cleared in
    batches, as soon as that saves ``clear_at_least_tokens`` in a segment, so that what stands before them in a provider's
    cache stays there in between. When a segment is compacted, and where the budget presses, nothing waits, however young.
    """

    spent: YesOrNo = True
    older_than_turns: WholeNumber | None = Field(default=None, ge=0)
    larger_than_tokens: WholeNumber = Field(default=60, ge=0)
    excluded_tools: tuple[Name, ...] = ()
    clear_at_least_tokens: WholeNumber = Field(default=1_000, ge=0)


class SummaryChoice(PolicyPart):
    """Which recorded summaries are taken: those of a summariser, a model, a prompt; of any, where that is not said."""

    summariser: Name | None = None
    model: Name | None = None
    prompt_hash: Name | None = None


class Compaction(PolicyPart):
    """How turns that left the tail are made shorter.

    Nothing is compacted while what left the tail costs no more than all these shares of the budget together. From then on
    fixed segments of ``segment_turns`` are compacted, one after the other, as soon as what left the tail and is not compacted
    would cost more than ``live_percent``. Of the budget, turns that are kept whole may then take ``kept_percent``, what is
    told of the others ``text_percent``, and exact strings out of these ``exact_percent``; the oldest, and the strings that are
    referred to least, give way. ``by``: the recorded summaries that are taken, best first; where there is none of a segment,
    or nothing is named here, its turns are told in extracts.
    """

    segment_turns: WholeNumber = Field(default=8, ge=1, le=1_000)
    live_percent: WholeNumber = Field(default=25, ge=0, le=MOST_PERCENT)
    kept_percent: WholeNumber = Field(default=20, ge=0, le=MOST_PERCENT)
    text_percent: WholeNumber = Field(default=15, ge=0, le=MOST_PERCENT)
    exact_percent: WholeNumber = Field(default=10, ge=0, le=MOST_PERCENT, validate_default=True)
    by: tuple[SummaryChoice, ...] = ()

    @property
    def percent(self) -> int:
        """All shares together."""
        return self.live_percent + self.kept_percent + self.text_percent + self.exact_percent

    @field_validator("exact_percent")
    @classmethod
    def _leaves_room(cls, exact_percent: int, given: ValidationInfo) -> int:
        known = given.data  # without what is itself refused
        shares = {share: known[f"{share}_percent"] for share in ("live", "kept", "text") if f"{share}_percent" in known}
        percent = sum(shares.values()) + exact_percent
        if percent > MOST_PERCENT:
            raise PydanticCustomError(
                OF_THE_TABLE,
                f"the percentages of {', '.join(shares)} and exact are {percent} together: at most {MOST_PERCENT}, since"
                " task, state and the last turns need room too",
            )
        return exact_percent


class Policy(PolicyPart):
    """How large a window is and what it keeps.

    ``tail_turns`` (k): turns kept verbatim before the current one; ``tail_exchanges``: at least that many user turns with all
    that followed; ``tail_tokens``: but no more than that. ``budget_tokens``: what the request may cost, of which
    ``reserve_tokens`` stay free for the answer. ``encoding``: how tokens are counted, by the name of an encoding or a model.
    ``model``: the one whose recorded usage says how its counts differ from these; the last that answered, if not given.

    ``pins``: turns that are kept whatever the rules say; ``pins_task``: the task is one. ``rules``, in order, say what becomes
    of a turn that left the tail, with the cues of ``languages``; ``otherwise``, what becomes of one that none of them claims.
    ``stubs`` and ``compaction`` say when; without a compaction, what left the tail is left out.

    ``image_tokens`` and ``document_tokens``: what a picture and a document that is not text cost, since their encoded bytes
    are never counted as text; ``images`` and ``documents``: whether they are shown, or only named. ``state``: how the state
    block is written, and what it may cost; None for no block. ``state_place``: before the tail, so that a change of state
    leaves what is cached before it alone, or after the system text.
    """

    tail_turns: WholeNumber = Field(default=6, ge=0)
    tail_exchanges: WholeNumber = Field(default=0, ge=0)
    tail_tokens: WholeNumber | None = Field(default=None, ge=0)
    budget_tokens: WholeNumber = Field(default=8_000, ge=1)
    reserve_tokens: WholeNumber = Field(default=0, ge=0)
    encoding: Name = "o200k_base"
    model: Name | None = None
    pins: tuple[PinnedTurn, ...] = ()
    pins_task: YesOrNo = True
    rules: tuple[Rule, ...] = DEFAULT_RULES
    languages: tuple[Name, ...] = ("en",)
    otherwise: Ruled = "compress"
    stubs: StubRules = StubRules()
    compaction: Compaction | None = Compaction()
    image_tokens: WholeNumber = Field(default=1_600, ge=0)
    document_tokens: WholeNumber = Field(default=3_000, ge=0)
    images: Literal["show", "name"] = "show"
    documents: Literal["show", "name"] = "show"
    state: BlockOptions | None = BlockOptions()
    state_place: Literal["before_tail", "after_system"] = "before_tail"

    @field_validator("encoding")
    @classmethod
    def _is_counted(cls, encoding: str) -> str:
        encoding_for(encoding)
        return encoding

    @field_validator("languages")
    @classmethod
    def _are_spoken(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        lexicon_of(languages)
        return languages

    @field_validator("reserve_tokens")
    @classmethod
    def _leaves_room(cls, reserve_tokens: int, given: ValidationInfo) -> int:
        budget = given.data.get("budget_tokens")  # not there if it is itself refused
        if budget is not None and reserve_tokens >= budget:
            raise ValueError(
                f"reserve_tokens is {reserve_tokens:,} of a budget_tokens of {budget:,}: nothing is left for the request"
            )
        return reserve_tokens

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the policy, hexadecimal: the same rules have the same digest."""
        return hashlib.sha256(b"policy/1\0" + self.model_dump_json().encode()).hexdigest()

    @cached_property
    def middle_digest(self) -> str:
        """The same of what decides how the middle is made; policies that differ in the rest share what was made for it."""
        others = {"state", "state_place", "model", "tail_tokens"}
        return hashlib.sha256(b"middle/1\0" + self.model_dump_json(exclude=others).encode()).hexdigest()

    @cached_property
    def settling(self) -> str:
        """What decides how much of a turn is left once its spent results are stubs, or whether it can be shown, as a text."""
        return f"{self.picture_price}/{self.document_price}/{self.request_tokens}/{self.stubs.model_dump_json()}"

    @cached_property
    def leaving(self) -> str:
        """What decides when spent results are away, as a text."""
        return f"{self.tail_turns}/{self.tail_exchanges}/{self.settling}"

    @cached_property
    def request_tokens(self) -> int:
        """What the request itself may cost."""
        return self.budget_tokens - self.reserve_tokens

    @property
    def picture_price(self) -> int:
        """What showing a picture costs; naming it is text."""
        return self.image_tokens if self.images == "show" else 0

    @property
    def document_price(self) -> int:
        """What showing a document costs that is not text."""
        return self.document_tokens if self.documents == "show" else 0

    @property
    def looks_ahead(self) -> int:
        """How many later turns the rules see of a turn: those between it and the current one when it leaves the tail."""
        return min(self.tail_turns, MOST_AHEAD)


MOST_AHEAD: Final = 12
"""Most later turns that a rule is shown."""
