"""Whatever turns hold, the requests that show them are bounded, whole lines, in order, and lose nothing but what is told."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from delivery.summarisers.lines import MOST_REQUESTS, requests_of
from ledger.json_text import JsonText
from ledger.parts import TextPart, ToolCallPart
from projections.transcript import Return, Turn

_TEXTS = st.one_of(
    st.text(max_size=60),
    st.builds(lambda piece, times: piece * times, st.text(min_size=1, max_size=4), st.integers(1, 9_000)),
)


@st.composite
def turns(draw: st.DrawFn) -> list[Turn]:
    """A few turns, some with calls and results."""
    made = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        said = TextPart(text=draw(_TEXTS))
        if number % 2:
            made.append(Turn(number, number, "user", (said,)))
            continue
        asked = JsonText.of({"q": draw(_TEXTS)})
        call = ToolCallPart(call_id="c", tool=draw(st.text(min_size=1, max_size=300)), arguments=asked)
        result = Return(number + 100, "c", (TextPart(text=draw(_TEXTS)),), is_error=False, orphan=False, tool=call.tool)
        made.append(Turn(number, number, "assistant", (said, call), returns=(result,)))
    return made


@settings(max_examples=80, deadline=None)
@given(turns(), st.sampled_from([4_000, 12_000, 60_000]))
def test_requests_are_bounded_and_whole(given_turns: list[Turn], most: int) -> None:
    shown = requests_of(given_turns, most)
    assert len(shown.requests) <= MOST_REQUESTS
    lines = []
    for request in shown.requests:
        assert sum(len(line) + 1 for line in request.lines) <= most
        assert not any("\n" in line or "</turns>" in line for line in request.lines)
        lines += [json.loads(line) for line in request.lines]
    assert [line["turn"] for line in lines] == sorted(line["turn"] for line in lines)
    said = [text for turn in given_turns for text in _texts(turn) if text.strip()]
    if shown.left_out is None:
        assert "".join(line["text"] for line in lines) == "".join(said)
    else:
        assert sum(map(len, said)) > most // 12  # an escaped character takes up to twelve


def _texts(turn: Turn) -> list[str]:
    return [turn.text, *(str(call.arguments) for call in turn.calls), *(found.text for found in turn.returns)]
