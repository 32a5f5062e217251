"""Groups of turns told in lines that fit a given room."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText
from ledger.events import Role
from ledger.parts import TextPart, ToolCallPart
from projections.compacting.gists import GistLine, group_gists
from projections.transcript import Return, Turn


def said(number: int, role: Role, text: str) -> Turn:
    return Turn(number, number, role, (TextPart(text=text),))


def calling(number: int, tool: str, asked: str) -> Turn:
    call = ToolCallPart(call_id=f"c{number}", tool=tool, arguments=JsonText.of({"command": asked}))
    returned = Return(1000 + number, call.call_id, (TextPart(text="a\nb"),), is_error=False, orphan=False, tool=tool)
    return Turn(number, number, "assistant", (call,), (returned,))


def size(lines: tuple[GistLine, ...]) -> int:
    return sum(len(f"{line}\n") for line in lines)


def test_an_exchange_is_one_line() -> None:
    turns = [said(1, "user", "Cancel ORD-7, please."), said(2, "assistant", "ORD-7 is cancelled."), said(3, "user", "Thanks!")]
    lines = group_gists(turns, most_characters=1_000)
    assert [(line.first, line.last) for line in lines] == [(1, 2), (3, 3)]
    assert lines[0].text == "user: Cancel ORD-7, please. / assistant: ORD-7 is cancelled."
    assert str(lines[1]) == "turn 3: user: Thanks!"


def test_a_long_run_of_tool_rounds_folds_into_one_line() -> None:
    tools = ["bash", "bash", "edit", "bash", "edit", "bash"]
    turns = [calling(12 + place, tool, f"run src/app{place % 2}.py") for place, tool in enumerate(tools)]
    [line] = group_gists(turns, most_characters=1_000)
    assert str(line) == "turns 12-17: 4 calls of bash, 2 of edit; src/app0.py, src/app1.py"


def test_a_few_tool_rounds_are_told_each() -> None:
    [line] = group_gists([calling(4, "bash", "ls"), calling(5, "bash", "pwd")], most_characters=1_000)
    assert line.text == "assistant: called bash(ls): 2 lines / assistant: called bash(pwd): 2 lines"


def test_blank_turns_say_nothing() -> None:
    assert group_gists([said(1, "user", " "), said(2, "assistant", "")], most_characters=100) == ()
    assert group_gists([], most_characters=100) == ()


def test_with_less_room_lines_get_shorter_then_neighbours_share_one() -> None:
    turns = [
        said(number, "user" if number % 2 else "assistant", f"Please keep point {number} as it is. " * 9)
        for number in range(1, 41)
    ]
    many, fewer, one = (group_gists(turns, most_characters=room) for room in (5_000, 900, 120))
    assert len(many) == 20
    assert 1 < len(fewer) < 20
    assert len(one) == 1
    assert (one[0].first, one[0].last) == (1, 40)


TURNS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=80)),
        st.tuples(st.just("call"), st.text(min_size=1, max_size=30)),
    ),
    max_size=30,
)


def turns_of(told: list[tuple[str, str]]) -> list[Turn]:
    return [
        calling(number, "bash", text) if kind == "call" else said(number, "user" if kind == "user" else "assistant", text)
        for number, (kind, text) in enumerate(told, start=1)
    ]


@settings(deadline=None)
@given(TURNS, st.integers(0, 3_000))
def test_the_lines_fit_follow_each_other_and_cover_all_turns_that_say_something(told: list[tuple[str, str]], room: int) -> None:
    turns = turns_of(told)
    lines = group_gists(turns, most_characters=room)
    assert size(lines) <= room
    assert all(len(f"{line}".splitlines()) == 1 and line.first <= line.last for line in lines)
    assert all(before.last < after.first for before, after in itertools.pairwise(lines))
    assert lines == group_gists(turns, most_characters=room)
    telling = [turn.number for turn in turns if not turn.is_blank]
    if lines or (telling and room >= 60):
        assert all(any(line.first <= number <= line.last for line in lines) for number in telling)


def test_a_thousand_turns_fit_into_little_room() -> None:
    turns = [said(number, "user", f"Note {number}: do not touch file_{number}.py") for number in range(1, 1_001)]
    lines = group_gists(turns, most_characters=2_000)
    assert 1_000 < size(lines) <= 2_000
    assert (lines[0].first, lines[-1].last) == (1, 1_000)
