"""Reasoning passes as its provider wrote it: it is signed, and an edited one is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ledger.json_text import JsonText
from projections.invariants.shapes import Shape, Violation
from projections.render.renderer import plain


@dataclass(frozen=True, slots=True)
class ReasoningIsSigned:
    """Every block of reasoning has its signature, or is redacted as a whole."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for _, block in shape.blocks:
            value = plain(block.value) if block.kind == "reasoning" else {"signature": "none needed"}
            if not value.get("signature") and not value.get("data"):
                yield Violation("ReasoningIsSigned", block.path, "no signature")


@dataclass(frozen=True, slots=True)
class ReasoningIsUntouched:
    """Every block of reasoning stands in the request byte for byte as the record has it."""

    recorded: frozenset[str]

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for _, block in shape.blocks:
            if block.kind == "reasoning" and not self._is_recorded(block.value):
                yield Violation("ReasoningIsUntouched", block.path, "not as it was recorded")

    def _is_recorded(self, value: Any) -> bool:
        if isinstance(value, JsonText):
            return value in self.recorded
        signature = value.get("thoughtSignature")  # a signature that came alone stands in an empty part
        return isinstance(signature, JsonText) and any(signature in raw for raw in self.recorded)
