"""Gists: one line of a turn's own words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText
from ledger.erased import Forgotten
from ledger.events import Role
from ledger.parts import ImagePart, Part, ReasoningPart, TextPart, ToolCallPart
from projections.compacting.gists import MOST_CHARACTERS, tellings
from projections.transcript import Return, Turn

MARK = Forgotten("job", "asked", "2031-04-09T17:00:00Z")


def said(text: str, role: Role = "user", *, number: int = 1) -> Turn:
    return Turn(number, number, role, (TextPart(text=text),))


def called(tool: str, arguments: object, result: str | None, *, text: str = "", number: int = 1) -> Turn:
    """An assistant's turn that calls a tool."""
    call = ToolCallPart(call_id="c1", tool=tool, arguments=JsonText.of(arguments))
    parts: tuple[Part, ...] = (TextPart(text=text), call) if text else (call,)
    returned = Return(number + 1, "c1", (TextPart(text=result or ""),), is_error=False, orphan=False, tool=tool)
    return Turn(number, number, "assistant", parts, () if result is None else (returned,))


def gist(turn: Turn) -> str:
    return next((told.within(MOST_CHARACTERS) for told in tellings([turn])), "")


def text_of(text: str) -> str:
    return gist(said(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Hi there! {'It was sunny here in town for days. ' * 9}Can you cancel ORD-88213?", "Can you cancel ORD-88213?"),
        (f"Thanks! {'The weather was mild all along. ' * 9}Do not send anything before Friday.", "Do not send anything"),
        (f"{'Blue skies were over the town. ' * 9}We go with option B instead. OK.", "We go with option B instead."),
        (f"你好！{'今天天气很好。' * 40}请取消订单ORD-88213。", "请取消订单ORD-88213。"),
        (f"Hallo! {'Das Wetter war gut. ' * 9}Bitte nicht vor Freitag liefern.", "Bitte nicht vor Freitag liefern."),
    ],
)
def test_what_is_asked_forbidden_or_decided_comes_before_chat(text: str, expected: str) -> None:
    line = text_of(text)
    assert expected in line
    assert len(line) <= 160


def test_a_short_turn_is_its_own_gist() -> None:
    assert text_of("I'll take\n the  first one.") == "I'll take the first one."


def test_greetings_and_marks_are_left_out_before_anything_else() -> None:
    line = text_of(f"Hello! OK.\n***\n{'Blue skies were over the town of Bonn for days and days. ' * 3}")
    assert line.startswith("Blue skies")


def test_what_is_left_out_between_is_marked() -> None:
    line = text_of(f"Cancel ORD-7, please. {'Nothing of note was said then. ' * 9}Do not call me.")
    assert line.startswith("Cancel ORD-7, please. ")
    assert line.endswith("… Do not call me.")


def test_a_long_sentence_is_cut_at_a_word() -> None:
    line = text_of("please " + "consider everything " * 30)
    assert line.endswith((" consider…", " everything…"))
    assert 120 < len(line) <= 160


def test_a_blank_turn_gives_nothing() -> None:
    assert gist(said(" \n\t")) == ""
    assert gist(Turn(1, 1, "assistant", ())) == ""


def test_of_a_forgotten_turn_the_mark_is_left() -> None:
    assert gist(Turn(1, 1, "user", (MARK,), forgotten=MARK)) == "[forgotten]"


def test_a_picture_is_named() -> None:
    assert gist(Turn(1, 1, "user", (ImagePart(url="https://a.example/p.png"),))) == "[image]"


def test_reasoning_is_named_only_where_there_is_nothing_else() -> None:
    reasoning = ReasoningPart(provider="anthropic", raw=JsonText("{}"))
    assert gist(Turn(1, 1, "assistant", (reasoning, reasoning))) == "[reasoning]"
    assert gist(Turn(1, 1, "assistant", (reasoning, TextPart(text="Done.")))) == "Done."


def test_a_call_says_what_was_asked_and_what_came() -> None:
    turn = called("search_orders", {"query": "late delivery"}, "[1,2,3,4,5,6,7,8]")
    assert gist(turn) == "called search_orders(late delivery): 8 results"
    assert gist(called("bash", {"command": "ls"}, None)) == "called bash(ls): no result"
    both = gist(called("bash", {"command": "ls src/app.py"}, "a\nb", text="I will look there first."))
    assert both == "I will look there first.; called bash(ls src/app.py): 2 lines"


def stands_in(word: str, text: str) -> bool:
    return word in ("", "…") or word in text or (word.endswith("…") and word[:-1] in text) or word.strip("…") in text


ANY_TEXT = st.one_of(
    st.text(max_size=400),
    st.text(alphabet="ab .!?\n…订。\u0301\u200d👍\u2028\x00", max_size=400),
    st.lists(st.sampled_from(["Do not.", "please", "Hi!", "ORD-7", "\n", "e.g. x", "最后。", "1.", "x" * 50])).map(" ".join),
)


@settings(deadline=None)
@given(ANY_TEXT, st.sampled_from(["user", "assistant"]))
def test_a_gist_is_one_short_line_of_the_turns_own_words(text: str, role: Role) -> None:
    found = gist(said(text, role))
    assert len(found) <= 160
    assert len(found.splitlines()) <= 1
    assert all(stands_in(word, text) for word in found.split())
    assert found == gist(said("".join(text), role))
    assert found or not any(sign.isalnum() for sign in text)


@pytest.mark.parametrize("unit", ["a", ". ", "?", "\n", " ", "a\u0301", "订", "1.", "Do not. ", "e.g. ", '."'])
def test_a_very_long_turn_comes_to_an_end(unit: str) -> None:
    assert len(text_of(unit * (400_000 // len(unit)))) <= 160
