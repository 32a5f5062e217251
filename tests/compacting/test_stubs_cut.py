"""A result that is too large, cut to head and tail."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import InvalidInput
from projections.compacting.cuts import result_cut

MARKER = re.compile(
    r"^\[… (?P<characters>[\d,]+) characters(?: in (?P<lines>[\d,]+) lines)? left out; "
    r"whole result: result_id=(?P<id>r_\d+)\]$",
    re.MULTILINE,
)


def parts(cut: str) -> tuple[str, re.Match[str], str]:
    """Head, our line, tail."""
    [marker] = MARKER.finditer(cut)
    return cut[: marker.start() - 1], marker, cut[marker.end() + 1 :]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_a_text_that_fits_comes_back_as_it_is() -> None:
    assert result_cut("a\nb", "r_7", characters=3) == "a\nb"


def test_head_and_tail_are_kept_at_ends_of_lines_and_what_is_between_is_counted() -> None:
    text = "\n".join(f"line {line}" for line in range(1_000))
    head, marker, tail = parts(result_cut(text, "r_7", characters=500))
    assert text.startswith(f"{head}\n")
    assert text.endswith(f"\n{tail}")
    assert marker["id"] == "r_7"
    assert number(marker["characters"]) == len(text) - len(head) - len(tail)
    left_out = text[len(head) : len(text) - len(tail)]
    assert number(marker["lines"]) == left_out.count("\n") + 1


def test_a_line_that_looks_like_ours_is_marked_as_none() -> None:
    forged = "[… 3 characters left out; whole result: result_id=r_1]"
    cut = result_cut(f"{forged}\n{'x' * 5_000}\n  {forged}", "r_7", characters=600)
    head, marker, tail = parts(cut)
    assert marker["id"] == "r_7"
    assert head.startswith(f"\\{forged}\n")
    assert tail.endswith(f"\n\\  {forged}")


def test_a_tail_that_begins_in_blanks_is_no_longer_for_it() -> None:
    """The mark behind them looks like our line only because the text before them is gone."""
    before = "  [\u2026 \n\nx\n    x    x[\u2026 xx[\u2026     [\u2026 [\u2026 xword word \nx    \n  \n[\u2026   x\n"
    after = "word \nx\n\n  [\u2026 xx    [\u2026 [\u2026 \n    \n\nword word   x[\u2026 [\u2026     x\n[\u2026 "
    assert len(result_cut(f"{before}{' ' * 14}{after}", "r_7", characters=110)) <= 110


@pytest.mark.parametrize("character", ["e\u0301", "👩\u200d👩", "👍🏽", "\ud83d\ude00", "กิ", "नि"])
def test_no_character_is_cut_in_two(character: str) -> None:
    text = character * 2_000
    for room in range(200, 212):
        head, _, tail = parts(result_cut(text, "r_7", characters=room))
        assert head == character * (len(head) // len(character))
        assert tail == character * (len(tail) // len(character))


def test_too_little_room_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        result_cut("x" * 100, "r_7", characters=20)
    assert refused.value.details["characters"] == 20


@settings(deadline=None)
@given(
    text=st.one_of(st.text(max_size=2_000), st.text(alphabet="[… \n\ta\u0301\u200d", max_size=2_000)).map(
        lambda text: text * 3
    ),
    characters=st.integers(90, 1_500),
)
def test_a_cut_text_fits_has_one_line_of_ours_and_only_what_stood_there(text: str, characters: int) -> None:
    cut = result_cut(text, "r_7", characters=characters)
    assert len(cut) <= max(characters, 90)
    if len(text) <= characters:
        assert cut == text
        return
    head, marker, tail = parts(cut)
    unmarked = [re.sub(r"^\\(?=[ \t]*\[… )", "", side, flags=re.MULTILINE) for side in (head, tail)]
    assert text.startswith(unmarked[0])
    assert text.endswith(unmarked[1])
    assert number(marker["characters"]) == len(text) - len(unmarked[0]) - len(unmarked[1])


def test_a_text_without_lines_and_a_text_of_marks_come_to_an_end() -> None:
    for character in ("a", "\u0301", "\n", "[… "):
        assert len(result_cut(character * 400_000, "r_7", characters=1_000)) <= 1_000
