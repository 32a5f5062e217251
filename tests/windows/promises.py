"""What is promised of every window, checked on one: each fault in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from ledger.parts import ReasoningPart, TextPart
from projections.invariants import READERS, violations
from projections.pieces import NotePiece, TurnPiece
from projections.policy import Policy
from projections.receipt import Row
from projections.render.renderer import measure
from projections.transcript import Turn
from projections.window import Window
from replay import View
from replay.tokens import counter

_TOLD: Final = re.compile(r"^(\d+)(?:-(\d+))?(?: summary)?: \"", re.MULTILINE)
_STUB: Final = re.compile(r"\[(?!\u2026|image |document |unsupported block)[^\n]*; whole result: result_id=r_(\d+)\]")


def faults(seen: View, window: Window, policy: Policy) -> list[str]:
    """All that a window breaks of what is promised."""
    turns = seen.transcript().transcript.turns
    return [
        *_costs(window, policy),
        *_shape(seen, window, policy),
        *_rows(window, turns),
        *_pins(window, policy, turns),
        *_results(window, turns),
    ]


def _costs(window: Window, policy: Policy) -> Iterator[str]:
    if window.tokens > policy.request_tokens:
        yield f"{window.tokens} tokens of {policy.request_tokens}"
    counted = measure(window.exact, counter(policy.encoding))
    if counted > window.tokens:
        yield f"counted {counted}, priced {window.tokens}"
    if sum(window.receipt.blocks.values()) != window.tokens:
        yield f"blocks {window.receipt.blocks} do not add up to {window.tokens}"
    if any(tokens < 0 for tokens in window.receipt.blocks.values()):
        yield f"blocks {window.receipt.blocks}"


def _shape(seen: View, window: Window, policy: Policy) -> Iterator[str]:
    transcript = seen.transcript().transcript
    parts = chain.from_iterable(turn.parts for turn in transcript.turns)
    reasoning = frozenset(str(part.raw) for part in parts if isinstance(part, ReasoningPart))
    for violation in violations(window.form, window.exact, reasoning=reasoning):
        if policy.pins_task or violation.rule not in ("HasMessages", "UserSpeaks"):  # who pins no task may see no user
            yield str(violation)
    if window.form in READERS:
        shape = READERS[window.form](window.exact)
        shown = sum(block.kind == "call" for message in shape.messages for block in message.blocks)
        planned = sum(len(piece.turn.calls) for piece in pieces(window))
        if shown != planned:
            yield f"{shown} calls stand in the request, not {planned}"


def pieces(window: Window) -> list[TurnPiece]:
    """The turns that stand in a window."""
    return [piece for piece in window.plan.pieces if isinstance(piece, TurnPiece)]


def notes(window: Window) -> list[str]:
    """Our own texts in a window."""
    return [piece.text for piece in window.plan.pieces if isinstance(piece, NotePiece)]


def _rows(window: Window, turns: tuple[Turn, ...]) -> Iterator[str]:
    rows = list(window.receipt)
    if [row.turn for row in rows] != [turn.number for turn in turns]:
        yield f"rows of {[row.turn for row in rows]}"
        return
    shown = {piece.turn.number: piece for piece in pieces(window)}
    told = {number for text in notes(window) for first, last in _ranges(text) for number in range(first, last + 1)}
    texts = list(_texts(window.request))
    for row, turn in zip(rows, turns, strict=True):
        yield from (f"turn {row.turn}, {row.verdict} by {row.rule}: {fault}" for fault in _row(row, turn, shown, told, texts))


def _row(row: Row, turn: Turn, shown: dict[int, TurnPiece], told: set[int], texts: list[str]) -> Iterator[str]:
    if (turn.forgotten is not None) != (row.verdict == "never" and row.rule == "forgotten"):
        yield "what is forgotten is never, and nothing else is so by that rule"
    if row.verdict in ("keep", "stub") and row.turn not in shown:
        yield "does not stand in the window"
    if row.verdict in ("drop", "compress") and (row.turn in shown or row.tokens):
        yield "stands in the window"
    if row.verdict == "compress" and row.turn not in told:
        yield "is not told of"
    if row.verdict == "keep" and shown[row.turn].replaced:
        yield "has stubs"
    if row.verdict in ("keep", "stub"):
        said = [part.text for part in turn.parts if isinstance(part, TextPart) and part.text.strip()]
        if not all(any(_mended(text) in found for found in texts) for text in said):
            yield "does not stand verbatim"


def _ranges(text: str) -> list[tuple[int, int]]:
    return [(int(first), int(last or first)) for first, last in _TOLD.findall(text)]


def _pins(window: Window, policy: Policy, turns: tuple[Turn, ...]) -> Iterator[str]:
    verdicts = {row.turn: row for row in window.receipt}
    current = turns[-1]
    if verdicts[current.number].verdict not in ("keep", "stub") and current.forgotten is None:
        yield "the current turn is missing"
    if pieces(window)[-1].turn.number != current.number:
        yield "the current turn is not the last"
    for number in policy.pins:
        if number < current.number and turns[number - 1].forgotten is None and verdicts[number].verdict != "keep":
            yield f"pin {number}: {verdicts[number]}"
    tasks = [row for row in window.receipt if row.rule == "task"]
    if policy.pins_task and not tasks and verdicts[current.number].rule != "current" and current.forgotten is None:
        yield "no task"
    if any(row.verdict != "keep" for row in tasks):
        yield f"task {tasks}"
    numbers = [piece.turn.number for piece in pieces(window)]
    if len(numbers) != len(set(numbers)):
        yield f"turns stand twice: {numbers}"
    if window.block is not None and window.block.text not in notes(window):
        yield "the state is missing"


def _results(window: Window, turns: tuple[Turn, ...]) -> Iterator[str]:
    """A result is a stub only if somebody answered it, and all of its turn; else it is cut at most, as in the tail."""
    tail = {row.turn for row in window.receipt if row.rule == "tail"}
    answers = [turn.version for turn in turns if turn.role == "assistant"]
    for piece in pieces(window):
        returned = {found.version: found for found in piece.turn.returns}
        for text in piece.replaced.values():
            is_answered = any(after > max(returned) for after in answers)
            is_open = any(piece.turn.answer_to(call.call_id) is None for call in piece.turn.calls)
            is_stub = _STUB.fullmatch(text) is not None
            if is_stub and (not is_answered or is_open):
                yield f"turn {piece.turn.number}: a stub for what nobody answered: {text}"
            if not is_stub and is_answered and not is_open and piece.turn.number not in tail:
                yield f"turn {piece.turn.number}: a result that was answered is cut: {text[:200]}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _mended(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
