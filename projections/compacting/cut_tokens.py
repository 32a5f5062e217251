"""What a result costs, cut to each step: what all its cuts share is counted once, and added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from projections.compacting.cuts import cut_lengths, cut_out, is_shown_plain, result_cut
from projections.seams import first_seam, last_seam
from projections.state_block import Count

_NEAR: Final = 64
"""A longer cut may end a few characters nearer, where marks stand on each other."""


def cut_tokens(whole: str, result_id: str, count: Count) -> Iterator[int]:
    """The tokens of a text, cut to each length that is shorter than it is, the shortest first (``cuts.step_characters``).

    However many cuts there are, little more is counted than the text is long, where it has seams and no line that looks like
    ours; else up to twelve times that. As exact as ``count`` is of each of them.
    """
    lengths = cut_lengths(whole)
    if not is_shown_plain(whole):
        yield from (count(result_cut(whole, result_id, characters=characters)) for characters in lengths)
        return
    head_seam, tail_seam = 0, len(whole)
    shared = 0
    for characters in lengths:
        head_end, marker, tail_start = cut_out(whole, result_id, characters=characters)
        later, earlier = last_seam(whole, head_seam, head_end - _NEAR), first_seam(whole, tail_start + _NEAR, tail_seam)
        shared += count(whole[head_seam:later]) + count(whole[earlier:tail_seam])
        head_seam, tail_seam = later, earlier
        yield shared + count(f"{whole[head_seam:head_end]}\n{marker}\n{whole[tail_start:tail_seam]}")
