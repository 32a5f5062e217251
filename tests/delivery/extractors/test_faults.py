"""Endpoints that cannot be asked, are slow, or break off: a typed error with the way out, in time, and without the key."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from delivery.endpoint_errors import EndpointFailed
from delivery.extractors.openai import OpenAIExtractor
from ledger.errors import InvalidInput, LedgerError
from tests.delivery.extractors.conftest import KEY, Asking
from tests.delivery.extractors.model_server import ModelServer, Reply, candidates, completion, failure
from tests.delivery.extractors.refunds import CONVERSATION, REFUND, said

GOOD = candidates(said("order_id", "KA-7731", "Order KA-7731", 1))


def failed(extractor: OpenAIExtractor) -> EndpointFailed:
    """What an extraction raises, without the key anywhere in it or behind it."""
    with pytest.raises(EndpointFailed) as caught:
        extractor.extract(CONVERSATION, REFUND)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value.details)
    assert KEY not in shown
    behind = caught.value.__cause__ or caught.value.__context__
    assert behind is None or isinstance(behind, LedgerError)  # those of the library hold the request with its headers
    return caught.value


@pytest.mark.parametrize(
    ("status", "way_out"),
    [
        (400, "most_characters"),
        (401, "api_key"),
        (403, "api_key"),
        (404, "base_url"),
        (413, "most_characters"),
        (418, "what the endpoint takes"),
        (429, "Wait"),
        (500, "later"),
        (503, "later"),
    ],
)
def test_refusals_say_what_and_the_way_out(server: ModelServer, asking: Asking, status: int, way_out: str) -> None:
    server.answers(failure(status, f"this is\nwhy, {KEY}!"))
    error = failed(asking(retries=1))
    assert (error.status, error.url, error.model) == (status, server.url, "tiny")
    assert str(error).startswith(f"{server.url} answered {status}: this is why, …! ")
    assert way_out in str(error)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_may_pass_is_asked_again(server: ModelServer, asking: Asking, status: int) -> None:
    server.answers(failure(status, "busy"), failure(status, "busy"), GOOD)
    assert len(asking(retries=2).extract(CONVERSATION, REFUND).candidates) == 1
    assert len(server.requests) == 3
    assert len({request.body for request in server.requests}) == 1


@pytest.mark.parametrize(("status", "asked"), [(401, 1), (403, 1), (404, 1), (429, 3), (500, 3)])
def test_what_does_not_pass_is_asked_once(server: ModelServer, asking: Asking, status: int, asked: int) -> None:
    server.answers(failure(status, "no"))
    failed(asking(retries=2))
    assert len(server.requests) == asked


def test_an_endpoint_says_how_long_to_wait(server: ModelServer, asking: Asking) -> None:
    server.answers(failure(429, "slow down", retry_after="1"), GOOD)
    started = time.monotonic()
    assert asking(retries=1).extract(CONVERSATION, REFUND).candidates
    assert time.monotonic() - started >= 1


def test_nobody_waits_past_the_deadline(server: ModelServer, asking: Asking) -> None:
    server.answers(failure(429, "slow down", retry_after="3600"))
    started = time.monotonic()
    assert failed(asking(retries=9, deadline_seconds=30)).status == 429
    assert time.monotonic() - started < 10
    assert len(server.requests) == 1


@pytest.mark.parametrize("slow", [Reply(GOOD.body, delay_seconds=20), Reply(GOOD.body, pieces=100, pause_seconds=0.2)])
def test_a_slow_answer_is_given_up(server: ModelServer, asking: Asking, slow: Reply) -> None:
    server.answers(slow)
    started = time.monotonic()
    error = failed(asking(retries=1, timeout_seconds=0.4))
    assert time.monotonic() - started < 10
    assert (error.status, len(server.requests)) == (None, 2)
    assert "in time" in str(error)
    assert "timeout_seconds" in str(error)


def test_the_deadline_bounds_all_attempts(server: ModelServer, asking: Asking) -> None:
    server.answers(Reply(GOOD.body, delay_seconds=20))
    started = time.monotonic()
    failed(asking(retries=1_000, timeout_seconds=0.3, deadline_seconds=1.0))
    assert time.monotonic() - started < 5
    assert len(server.requests) >= 2


def test_a_slow_answer_then_a_quick_one(server: ModelServer, asking: Asking) -> None:
    server.answers(Reply(GOOD.body, delay_seconds=20), GOOD)
    assert asking(retries=1, timeout_seconds=1.0).extract(CONVERSATION, REFUND).candidates


@pytest.mark.parametrize(
    "broken",
    [
        Reply(GOOD.body[:90], missing_bytes=200),  # the connection closes in the middle of the body
        Reply(b"", missing_bytes=200),
        Reply(GOOD.body[:90]),
        Reply(b""),
        Reply(b"<html>Welcome</html>"),
        Reply(b"[]"),
        Reply(b'{"choices": NaN}'),
        Reply(b"\xff\xfe{}"),
        Reply(b"no gzip", headers=(("Content-Encoding", "gzip"),)),
    ],
)
def test_a_broken_answer_is_asked_for_again(server: ModelServer, asking: Asking, broken: Reply) -> None:
    server.answers(broken, GOOD)
    assert len(asking(retries=1).extract(CONVERSATION, REFUND).candidates) == 1
    server.answers(broken)
    error = failed(asking(retries=1))
    assert len(server.requests) == 2
    assert error.url == server.url
    assert "base_url" in str(error)


def test_an_answer_without_end_is_given_up(server: ModelServer, asking: Asking) -> None:
    server.answers(Reply(b" " * 17 * 1024 * 1024))
    assert "more than 16,777,216 bytes" in str(failed(asking()))
    assert len(server.requests) == 1


def test_an_error_in_the_answer_is_an_error(server: ModelServer, asking: Asking) -> None:
    server.answers(Reply(json.dumps({"error": {"message": f"no credit for {KEY}", "code": 402}}).encode()))
    assert "no credit for …" in str(failed(asking()))


def test_nothing_listens(asking: Asking) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    error = failed(asking(base_url=f"http://127.0.0.1:{port}/v1", retries=1))
    assert (error.status, error.url) == (None, f"http://127.0.0.1:{port}/v1")
    assert "base_url" in str(error)


def test_a_conversation_is_not_taken_elsewhere(server: ModelServer, asking: Asking) -> None:
    server.answers(Reply(b"", 307, (("Location", f"{server.url}/elsewhere"),)))
    error = failed(asking())
    assert (error.status, len(server.requests)) == (307, 1)
    assert "as base_url" in str(error)


def test_secrets_in_other_headers_are_not_told(server: ModelServer, asking: Asking) -> None:
    server.plays(lambda request, _number: failure(403, f"{request.headers['x-gateway']} in {request.path} may not"))
    error = failed(asking(default_headers={"x-gateway": "Token gate-secret-1"}, default_query={"key": "query-secret-2"}))
    assert server.requests[0].path == "/v1/chat/completions?key=query-secret-2"
    assert "may not" in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"base_url": "http://me:pass-word-1@127.0.0.1:1/v1"}, "base_url"),
        ({"base_url": "http://127.0.0.1:1/v1?token=pass-word-1"}, "base_url"),
        ({"base_url": "127.0.0.1:1/v1"}, "base_url"),
        ({"base_url": "file:///v1"}, "base_url"),
        ({"base_url": "http:///v1"}, "base_url"),
        ({"base_url": "http://pass-word-1:port/v1"}, "base_url"),
        ({"api_key": None}, "api_key"),
        ({"api_key": "pass-word-1\n"}, "api_key"),
        ({"api_key": "pass-wörd-1"}, "api_key"),
        ({"default_headers": {"x-gate": "pass-word-1\r\nx: y"}}, "x-gate"),
        ({"most_characters": 100}, "most_characters"),
        ({"model": ""}, "model"),
        ({"model": " \u200b"}, "model"),
        ({"model": None}, "model"),
        ({"timeout_seconds": 0}, "$"),
        ({"retries": -1}, "$"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(asking: Asking, options: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asking(**options)
    assert caught.value.path == path
    assert "pass-w" not in "".join(traceback.format_exception(caught.value))


def test_the_key_of_the_surroundings_is_taken(server: ModelServer, asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-surroundings")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    asking(api_key=None, base_url=None).extract(CONVERSATION, REFUND)
    assert "Bearer sk-of-the-surroundings" in server.requests[0].headers.values()


def test_an_extractor_shows_no_key(server: ModelServer, asking: Asking) -> None:
    assert repr(asking()) == f"OpenAIExtractor(model='tiny', base_url='{server.url}')"


WITHOUT_THE_LIBRARY = """
import sys
sys.modules["openai"] = None
from delivery.endpoint_errors import ExtraMissing
from delivery.extractors.openai import OpenAIExtractor
from ledger.errors import LedgerError
try:
    OpenAIExtractor(model="tiny", api_key="x")
except ExtraMissing as missing:
    assert isinstance(missing, LedgerError) and missing.extra == "llm"
    print(missing)
"""


def test_without_the_extra_the_way_out_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_LIBRARY],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "pip install 'context-ledger[llm]'" in done.stdout, done.stderr


def test_a_failure_later_keeps_what_was_found(server: ModelServer, asking: Asking) -> None:
    long = tuple(replace(one, parts=one.parts * 200) for one in CONVERSATION if one.number != 2)
    server.answers(GOOD, failure(503, "busy"))
    found = asking(retries=0, most_characters=12_000).extract(long, REFUND)
    assert [one.value for one in found.candidates] == ["KA-7731"]
    assert found.incomplete == "turns 3 to 4 were not read: the endpoint answered 503"
    server.answers(completion("{}"), Reply(GOOD.body, delay_seconds=20))
    found = asking(retries=0, most_characters=12_000, timeout_seconds=0.5).extract(long, REFUND)
    assert found.incomplete is not None
    assert "turns 3 to 4 were not read: the endpoint gave no answer" in found.incomplete
