"""A server on this machine that speaks OpenAI's chat completions, and answers what a test tells it to, as badly as it likes."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150, "prompt_tokens_details": {"cached_tokens": 7}}
MODEL = "tiny-2031-05-11"


@dataclass(frozen=True)
class Request:
    """What came over the wire."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body."""
        return dict(json.loads(self.body))

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The conversation, read as a model is told to: one JSON object a line between the two marks."""
        first, *lines, last = self.json["messages"][1]["content"].split("\n")
        assert (first, last) == ("<turns>", "</turns>")
        return [json.loads(line) for line in lines]


@dataclass(frozen=True)
class Reply:
    """One HTTP answer; ``missing_bytes`` are announced and never sent, ``pause_seconds`` pass before each of ``pieces``."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    missing_bytes: int = 0
    delay_seconds: float = 0.0
    pieces: int = 1
    pause_seconds: float = 0.0


Script = Callable[[Request, int], Reply]
"""What is answered to a request, which is the how-manieth, from 0."""


def completion(message: object, *, finish: str = "stop", usage: object = USAGE) -> Reply:
    """A chat completion with this message (its text, if it is one)."""
    spoken = {"role": "assistant", "content": message} if isinstance(message, str) else message
    choice = {"index": 0, "message": spoken, "finish_reason": finish}
    return Reply(json.dumps({"id": "c-1", "model": MODEL, "choices": [choice], "usage": usage}).encode())


def candidates(*found: object) -> Reply:
    """A chat completion that is the list of candidates asked for."""
    return completion(json.dumps({"candidates": found}))


def failure(status: int, message: str, **headers: str) -> Reply:
    """A refusal as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": None}}).encode()
    return Reply(body, status, tuple((name.replace("_", "-"), value) for name, value in headers.items()))


class ModelServer:
    """The running server: its ``url``, what it was asked, and what it answers."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._script: Script = lambda _request, _number: candidates()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def answers(self, *replies: Reply) -> None:
        """Answer so from now on, in this order, and with the last again and again."""
        self.plays(lambda _request, number: replies[min(number, len(replies) - 1)])

    def plays(self, script: Script) -> None:
        """Answer from now on what the script makes of each request."""
        self.requests.clear()
        self._script = script

    def reply(self, request: Request) -> Reply:
        """The answer to a request, which is kept."""
        with self._lock:
            self.requests.append(request)
            return self._script(request, len(self.requests) - 1)

    @contextlib.contextmanager
    def running(self) -> Iterator[ModelServer]:
        """The server, until the block ends."""
        thread = threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.02))
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle(self) -> None:
            with contextlib.suppress(OSError):  # who asked may have gone
                super().handle()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = server.reply(Request(self.path, dict(self.headers), body))
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            server.stopping.wait(reply.delay_seconds)
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply.body) + reply.missing_bytes))
            for name, value in reply.headers:
                self.send_header(name, value)
            self.end_headers()
            size = -(-len(reply.body) // reply.pieces)
            for start in range(0, len(reply.body), size or 1):
                server.stopping.wait(reply.pause_seconds)
                self.wfile.write(reply.body[start : start + size])
            self.close_connection = self.close_connection or reply.missing_bytes > 0

        def log_message(self, *args: object) -> None:
            """Nothing: the tests look at the requests."""

    return Handler
