"""The rules by which a window is chosen, as frozen data with a digest."""

from __future__ import annotations

import hashlib

from pydantic import Field

from ledger.parts import Frozen, Name
from projections.state_block import BlockOptions


class Policy(Frozen):
    """How large a window is and what it keeps.

    ``tail_turns`` (k): turns kept verbatim before the current one. ``budget_tokens``: what the request may cost, of which
    ``reserve_tokens`` stay free for the answer and the tool definitions. ``encoding``: how tokens are counted, by the name
    of an encoding or a model. ``image_tokens`` and ``document_tokens``: what a picture and a document that is
    not text cost, since their encoded bytes are never counted as text. ``state``: how the state block is written, and what it
    may cost.
    """

    tail_turns: int = Field(default=6, ge=0)
    budget_tokens: int = Field(default=8_000, ge=1)
    reserve_tokens: int = Field(default=0, ge=0)
    encoding: Name = "o200k_base"
    image_tokens: int = Field(default=1_600, ge=0)
    document_tokens: int = Field(default=3_000, ge=0)
    state: BlockOptions = BlockOptions()

    @property
    def digest(self) -> str:
        """The SHA-256 of the policy, hexadecimal: the same rules have the same digest."""
        return hashlib.sha256(b"policy/1\0" + self.model_dump_json().encode()).hexdigest()

    @property
    def request_tokens(self) -> int:
        """What the request itself may cost."""
        return self.budget_tokens - self.reserve_tokens
