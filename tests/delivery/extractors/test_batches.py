"""More turns than one request holds: several requests, every turn in one of them, none cut without a word."""

from __future__ import annotations

import json

import pytest

from ledger.json_text import JsonText
from ledger.parts import Usage
from tests.delivery.extractors.conftest import Asking
from tests.delivery.extractors.model_server import USAGE, ModelServer, Reply, Request, completion
from tests.delivery.extractors.refunds import REFUND, returned, said, sources, turn


def attentive(request: Request, number: int) -> Reply:
    """A model that finds every order, and one more in a turn of another request."""
    found = [said("order_id", line["text"][:4], line["text"][:4], line["turn"], line.get("result")) for line in request.lines]
    return completion(json.dumps({"candidates": [*found, said("order_id", "A-1", "A-1", 1)]}))


def test_many_turns_go_in_several_requests(server: ModelServer, asking: Asking) -> None:
    turns = tuple(turn(number, "user", f"A-{number:02} {'<word> ' * 40}") for number in range(1, 31))
    server.plays(attentive)
    found = asking(most_characters=3_000).extract(turns, REFUND)
    sent = [[line["turn"] for line in request.lines] for request in server.requests]
    assert [number for numbers in sent for number in numbers] == list(range(1, 31))
    assert len(sent) > 5
    assert all(len(request.json["messages"][1]["content"]) < 3_100 for request in server.requests)
    assert [one.turn for one in found.candidates if one.value != "A-1"] == list(range(1, 31))
    assert set(sources(found, turns=turns)) == {"user", None}
    assert found.incomplete is not None
    assert found.incomplete.count("for turns that were not given") == len(sent) - 1
    usage = found.usage
    raw = JsonText.of([USAGE] * len(sent))
    assert usage == Usage(input_tokens=120 * len(sent), output_tokens=30 * len(sent), raw=raw)


def test_many_small_turns_are_bounded_too(server: ModelServer, asking: Asking) -> None:
    turns = tuple(turn(number, "user", "ok") for number in range(1, 502))
    asking().extract(turns, REFUND)
    forms = [request.json["response_format"]["json_schema"]["schema"] for request in server.requests]
    chosen = [form["properties"]["candidates"]["items"]["properties"]["turn"]["enum"] for form in forms]
    assert list(map(len, chosen)) == [200, 200, 101]


@pytest.mark.parametrize("filling", ["x", "<", "\u200b", "\U000e0001"])
def test_a_turn_too_large_is_sent_alone_and_said_to_be_cut(server: ModelServer, asking: Asking, filling: str) -> None:
    text = f"B-77 {filling * 9_000}"
    turns = (turn(1, "user", "A-01"), turn(2, "user", text), turn(3, "user", "C-03"))
    server.plays(attentive)
    found = asking(most_characters=2_000).extract(turns, REFUND)
    before, large, after = (request.lines for request in server.requests)
    assert ([line["turn"] for line in before], [line["turn"] for line in after]) == ([1], [3])
    (line,) = large
    assert line["cut"] is True
    assert text.startswith(line["text"])
    assert 1_900 < len(server.requests[1].json["messages"][1]["content"]) - len("<turns>\n\n</turns>") <= 2_000
    assert found.incomplete is not None
    assert "only the beginning of turn 2 was sent" in found.incomplete
    assert [one.value for one in found.candidates if one.turn == 2] == ["B-77"]
    assert "user" in sources(found, turns=turns)


def test_results_that_do_not_fit_are_cut_like_their_turn(server: ModelServer, asking: Asking) -> None:
    results = [returned(20 + number, f"D-{number:02} " + "y" * 900, tool="</" * 300) for number in range(5)]
    found = asking(most_characters=2_000).extract((turn(2, "assistant", "I look.", *results),), REFUND)
    (request,) = server.requests
    assert [line["turn"] for line in request.lines] == [2] * len(request.lines)
    assert 2 <= len(request.lines) < 6
    assert request.lines[-1]["cut"] is True
    assert found.incomplete == "only the beginning of turn 2 was sent, which is too long"


def test_nothing_joins_a_turn_that_was_cut(server: ModelServer, asking: Asking) -> None:
    """Not even where the result that was left out leaves some room."""
    large = turn(2, "assistant", "x" * 1_850, returned(20, "y" * 900, tool="z" * 100))
    found = asking(most_characters=2_000).extract((large, turn(3, "user", "ok")), REFUND)
    assert [[line["turn"] for line in request.lines] for request in server.requests] == [[2], [3]]
    assert found.incomplete == "only the beginning of turn 2 was sent, which is too long"


def test_what_just_fits_is_not_cut(server: ModelServer, asking: Asking) -> None:
    """Around the limit: either whole, or cut and said so."""
    extractor, outcomes = asking(most_characters=2_000), set()
    for length in range(1_930, 1_990):
        server.answers(completion('{"candidates": []}'))
        found = extractor.extract((turn(1, "user", "z" * length),), REFUND)
        (line,) = server.requests[0].lines
        assert (line["text"] == "z" * length) == ("cut" not in line) == (found.incomplete is None)
        outcomes.add(found.incomplete is None)
    assert outcomes == {True, False}
