"""An endpoint that speaks OpenAI's chat completions: asked within a time, asked again where that may help, and no secret told.

Faults are values here until one is raised, outside of any ``except``: an exception of the library holds the request with
its key, and would hang on ours as its context.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from delivery.endpoint_errors import EndpointFailed, ExtraMissing
from ledger.errors import InvalidInput, sentence
from ledger.json_text import JsonText

if TYPE_CHECKING:
    from openai import OpenAI

_MOST_BYTES: Final = 16 * 1024 * 1024
"""Of an answer; a model says less."""

_MOST_BACKOFF_SECONDS: Final = 30.0
_MOST_SAID: Final = 200
_LEAST_SECRET: Final = 6
"""Characters; what is shorter would be found in any text."""

_WAYS_OUT: Final = {
    400: "Check the model's name and what it takes; if it says that the request is too large, lower most_characters.",
    401: "Check api_key.",
    403: "Check what api_key may do.",
    404: "Check base_url (it often ends in /v1) and the model's name.",
    413: "Lower most_characters.",
    429: "Wait, allow more retries, or send fewer turns.",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no answer; ``may_pass`` if asking again may help, ``wait_seconds`` if the endpoint said when."""

    what: str
    way_out: str
    status: int | None = None
    may_pass: bool = False
    wait_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long one request may take, how often it is made again, and how long is waited before the first of these."""

    timeout_seconds: float
    retries: int
    backoff_seconds: float

    def __post_init__(self) -> None:
        if self.timeout_seconds <= 0 or self.retries < 0 or self.backoff_seconds < 0:
            raise InvalidInput("timeout_seconds is more than 0, retries and backoff_seconds are not less than 0", path="$")


class Endpoint:
    """One address and one client of the library; ``options`` are the client's own (``default_headers``, ``http_client``)."""

    def __init__(self, patience: Patience, *, base_url: str | None, api_key: str | None, options: Mapping[str, Any]) -> None:
        self._patience = patience
        self._client = _client(base_url, api_key, options)
        self._secrets = _secrets(self._client)
        if options.get("http_client") is None:
            weakref.finalize(self, self._client.close)

    @property
    def url(self) -> str:
        """The address, which holds no credentials."""
        return str(self._client.base_url).rstrip("/")

    def complete(self, request: Mapping[str, Any], deadline: float) -> Mapping[str, Any]:
        """The chat completion that answers a request, as JSON; ``EndpointFailed`` if there is none until the deadline.

        The deadline is a time of ``time.monotonic``.
        """
        for attempt in range(self._patience.retries + 1):
            outcome = self._outcome(request, deadline)
            if not isinstance(outcome, Fault):
                return outcome
            wait = self._wait_seconds(outcome, attempt)
            if not outcome.may_pass or attempt == self._patience.retries or time.monotonic() + wait >= deadline:
                self._raise(outcome, request["model"])
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _wait_seconds(self, fault: Fault, attempt: int) -> float:
        backoff = min(self._patience.backoff_seconds * 2.0 ** min(attempt, 30), _MOST_BACKOFF_SECONDS)
        return backoff if fault.wait_seconds is None else fault.wait_seconds

    def _outcome(self, request: Mapping[str, Any], deadline: float) -> Mapping[str, Any] | Fault:
        seconds = min(self._patience.timeout_seconds, deadline - time.monotonic())
        body = self._body(request, seconds) if seconds > 0 else _too_slow()
        return body if isinstance(body, Fault) else self._completion(body)

    def _body(self, request: Mapping[str, Any], seconds: float) -> bytes | Fault:
        import httpx2
        import openai

        try:
            return _read(self._client, request, seconds)
        except (openai.APITimeoutError, httpx2.TimeoutException):
            return _too_slow()
        except openai.APIStatusError as error:
            return self._refusal(error.status_code, error.body, error.response.headers.get("retry-after"))
        except (openai.APIError, httpx2.HTTPError):
            return Fault(
                "cannot be reached, or broke the connection off", "Check base_url, and that the endpoint runs.", may_pass=True
            )
        except openai.OpenAIError:
            return Fault("was not asked: the library has no credentials for it", "Check api_key.")

    def _refusal(self, status: int, body: object, retry_after: str | None) -> Fault:
        if 300 <= status < 400:
            return Fault(f"answered {status}, a redirection", "Give the address that it leads to as base_url.", status)
        what = f"answered {status}{self._said(body)}"
        may_pass = status in (408, 409, 429) or status >= 500
        way_out = _WAYS_OUT.get(status, "Try again later." if may_pass else "Check what the endpoint takes.")
        return Fault(what, way_out, status, may_pass, _seconds(retry_after))

    def _completion(self, body: bytes) -> Mapping[str, Any] | Fault:
        try:
            found = JsonText.parse(body).value
        except InvalidInput:
            found = None
        if not isinstance(found, dict):
            return Fault("answered something else than a JSON object", _WAYS_OUT[404], 200, may_pass=True)
        if found.get("error") and not found.get("choices"):  # some gateways pass on a refusal so
            return Fault(f"answered with an error{self._said(found['error'])}", "Check what the endpoint takes.", 200)
        return found

    def _said(self, body: object) -> str:
        """What an endpoint says is wrong, as far as it is text: on one line, short, and without what only we and it know."""
        keys = ("message", "detail", "error")
        said = next((body[key] for key in keys if key in body), None) if isinstance(body, dict) else body
        if not isinstance(said, str) or not said.strip() or said.lstrip().startswith("<"):
            return ""
        for secret in self._secrets:
            said = said.replace(secret, "…")
        line = " ".join(said.split())
        return f": {line if len(line) <= _MOST_SAID else line[: _MOST_SAID - 1] + '…'}"

    def _raise(self, fault: Fault, model: str) -> NoReturn:
        what = sentence(f"{self.url} {fault.what}")
        raise EndpointFailed(f"{what} {fault.way_out}", status=fault.status, url=self.url, model=model)


def _too_slow() -> Fault:
    return Fault("did not answer in time", "Allow more with timeout_seconds and deadline_seconds.", may_pass=True)


def _client(base_url: str | None, api_key: str | None, options: Mapping[str, Any]) -> OpenAI:
    """The library's client, which never retries by itself, and never takes a conversation to where it is redirected."""
    try:
        import httpx2
        import openai
    except ImportError:
        raise ExtraMissing(
            "the library openai is not installed: pip install 'context-ledger[llm]'", extra="llm", library="openai"
        ) from None
    http = options.get("http_client") or openai.DefaultHttpxClient(follow_redirects=False)
    try:
        client = openai.OpenAI(**{**options, "base_url": base_url, "api_key": api_key, "http_client": http, "max_retries": 0})
    except httpx2.InvalidURL:
        raise _no_address() from None
    except openai.OpenAIError:
        raise InvalidInput(
            "no api_key, or options that do not go together: give api_key, or set OPENAI_API_KEY; an endpoint that asks for "
            "none takes any text",
            path="api_key",
        ) from None
    _check_url(client)
    _check_headers(client)
    return client


def _check_url(client: OpenAI) -> None:
    """The address is told in errors and by others in logs, so nothing secret may be part of it."""
    url = client.base_url
    if url.scheme not in ("http", "https") or not url.host:
        raise _no_address()
    if url.userinfo or url.query:
        raise InvalidInput(
            "base_url holds credentials or parameters: give them as default_headers or default_query", path="base_url"
        )


def _no_address() -> InvalidInput:
    return InvalidInput("base_url is no address: give one such as http://127.0.0.1:8000/v1", path="base_url")


def _check_headers(client: OpenAI) -> None:
    """Before the library meets them: its own error would show the value."""
    headers = {"api_key": client.api_key, **client.default_headers}
    for name, value in headers.items():
        if isinstance(value, str) and not (value.isascii() and value.isprintable()):
            raise InvalidInput(f"{name} holds a character that no header takes, such as a line end: leave it out", path=name)


def _secrets(client: OpenAI) -> tuple[str, ...]:
    """The words of headers and parameters that are not the library's own, longest first."""
    headers = {name.lower(): value for name, value in client.default_headers.items() if isinstance(value, str)}
    own = {name for name in headers if name in ("accept", "content-type", "user-agent") or name.startswith("x-stainless")}
    values = [*(value for name, value in headers.items() if name not in own), *map(str, client.default_query.values())]
    words = {word for value in (*values, client.api_key) for word in value.split() if len(word) >= _LEAST_SECRET}
    return tuple(sorted(words - {"Bearer"}, key=len, reverse=True))


def _read(client: OpenAI, request: Mapping[str, Any], seconds: float) -> bytes | Fault:
    """The body of an answer. The library's timeout holds for each piece of it, so the time of all is watched here."""
    until = time.monotonic() + seconds
    body = bytearray()
    with client.chat.completions.with_streaming_response.create(**request, timeout=seconds) as response:
        for piece in response.iter_bytes():
            body += piece
            if time.monotonic() > until:
                return _too_slow()
            if len(body) > _MOST_BYTES:
                return Fault(f"answered with more than {_MOST_BYTES:,} bytes", "Check base_url.", response.status_code)
    return bytes(body)


def _seconds(retry_after: str | None) -> float | None:
    """How long an endpoint asks to wait, if it says so in seconds."""
    digits = (retry_after or "").strip()
    return float(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else None
