"""The compacted middle as a text for a model: what is told of the turns, and what is carried along word for word.

No token crosses from one of its lines to the next, since none begins with white space or a slash (``replay.tokens``). So the
text costs what its lines cost together, and these were counted when they were made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from ledger.standing import result_id
from projections.compacting.middle import Exact, KeptTurn, Line, Middle, Teller, Total, abridged
from projections.compacting.note_tokens import note_tokens
from projections.escaping import escaped
from projections.policy import Compaction, Policy

Fullness = Literal["whole", "half", "bare"]
"""How much of what is told of the turns is shown: all, the newest half, or nothing but what is carried along."""

MOST_RECORDED: Final = 12
"""How many pieces of evidence are named, and how many contradictions, the latest ones."""

_RECORDED: Final = (("evidence", "ev_"), ("contradictions", "con_"))

EXACT_FOLLOW: Final = "exact strings out of them:\n"
"""The line before those that are carried along."""

BREAKS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What would end a line."""


def middle_text(middle: Middle, policy: Policy, *, fullness: Fullness, evidence: Sequence[str] = ()) -> tuple[str, int] | None:
    """The text, and its tokens in the encoding in which the middle was counted; None while nothing is compacted.

    ``evidence``: ids of evidence and contradictions of these turns.
    """
    if not middle.through or policy.compaction is None:
        return None
    lines = list(_lines(middle, policy, policy.compaction, fullness, evidence))
    return "".join(line for line, _ in lines), sum(tokens for _, tokens in lines)


def kept_note(turns: Sequence[KeptTurn]) -> str:
    """What stands before turns of one segment that are kept whole: which ones they are."""
    numbers = ", ".join(str(turn.number) for turn in turns)
    first, last = turns[0].first, turns[0].last
    stands = "stands" if len(turns) == 1 else "stand"
    return f"[of turns {first}-{last}: turn{'' if len(turns) == 1 else 's'} {numbers} {stands} here whole]\n"


def kept_note_tokens(turns: Sequence[KeptTurn]) -> int:
    """What ``kept_note`` of these turns costs, by adding: no less than what a tokenizer counts, and at most one more.

    Needs no tokenizer, and no encoding: it holds for each that is carried (``replay.tokens.ENCODINGS``). A form adds its
    framing to it (``projections.framing.note_price``).
    """
    return note_tokens(kept_note(turns))


def shown_lines(middle: Middle, policy: Policy, fullness: Fullness) -> tuple[Line, ...]:
    """The lines that are shown."""
    if fullness == "bare" or policy.compaction is None:
        return ()
    most = policy.request_tokens * policy.compaction.text_percent // 200
    chapters = middle.chapters if fullness == "whole" else abridged(middle.chapters, most)
    return tuple(line for chapter in chapters for line in chapter.lines)


def shown_exact(middle: Middle, policy: Policy, compaction: Compaction) -> tuple[Exact, ...]:
    """The exact strings that are shown, in the order in which they first came up.

    Names that the user stated may take what turns that are kept whole leave of their share, too.
    """
    room = policy.request_tokens * compaction.exact_percent // 100
    kept = sum(turn.tokens for turn in middle.kept if not turn.pinned)
    left = policy.request_tokens * compaction.kept_percent // 100 - kept
    chosen = []
    for exact in middle.exact:
        if exact.named and exact.by_user and exact.tokens <= left:
            left -= exact.tokens
        elif exact.tokens <= room:
            room -= exact.tokens
        else:
            continue
        chosen.append(exact)
    return tuple(sorted(chosen, key=lambda exact: (exact.first, exact.text)))


def _lines(
    middle: Middle, policy: Policy, compaction: Compaction, fullness: Fullness, evidence: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """The lines with their ends, and their tokens."""
    forgotten = middle.totals.get("never", Total()).turns
    save = f", but {forgotten:,} that {'was' if forgotten == 1 else 'were'} forgotten" if forgotten else ""
    yield _ours(f"[turns 1-{middle.through} are compacted; the record has them whole{save}]\n")
    lines = shown_lines(middle, policy, fullness)
    if lines:
        is_told = _has_extracts(lines)
        yield _ours("told in their own words, cut short, unless it says summary:\n" if is_told else "summaries:\n")
        yield from ((line.text, line.tokens) for line in lines)
    exact = shown_exact(middle, policy, compaction)
    if exact:
        yield _ours(EXACT_FOLLOW)
        yield from ((exact_line(found.text), found.tokens) for found in exact)
    if middle.results:
        yield _ours(f"can be fetched by id: {', '.join(map(result_id, middle.results))}\n")
    for name, prefix in _RECORDED:
        ids = [found for found in evidence if found.startswith(prefix)][-MOST_RECORDED:]
        if ids:
            yield _ours(f"{name} recorded of them: {', '.join(ids)}\n")


def _ours(line: str) -> tuple[str, int]:
    return line, note_tokens(line)


def _has_extracts(lines: Sequence[Line]) -> bool:
    return any(line.teller == "extract" for line in lines)


def told_line(first: int, last: int, text: str, teller: Teller) -> str:
    """The line that tells of the turns from one to another, with its end."""
    turns = str(first) if first == last else f"{first}-{last}"
    return f"{turns}{' summary' if teller == 'summary' else ''}: {escaped(text)}\n"


def exact_line(text: str) -> str:
    """The line that carries a string along, with its end."""
    return f"= {text}\n"
