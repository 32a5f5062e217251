"""The summariser that asks a model, over any endpoint that speaks OpenAI's chat completions. Needs the extra ``llm``."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from delivery.completions import broken_off, first_choice, message_of, usage_of
from delivery.endpoint import Endpoint, Patience
from delivery.endpoint_errors import EndpointFailed
from delivery.summarisers.lines import LEAST_CHARACTERS, requests_of
from delivery.summarisers.prompt import messages, prompt_hash
from ledger.errors import InvalidInput
from ledger.schema.characters import is_blank
from projections.compacting.segments import SUMMARY_CHARACTERS
from projections.shortening import shortened
from projections.summarising import SegmentTurns, SummariserFailed, SummaryDraft

_NAME: Final = "openai/1"
_DOES_NOT_TAKE: Final = (400, 422)
_OF_THE_SEGMENT: Final = (400, 413, 422)
"""What an endpoint answers to a request that is too large, or holds what it does not take; all else concerns every segment."""

_LEAST_SUMMARY: Final = 100
_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
"""What some models write before their answer."""


class OpenAISummariser:
    """Tells of turns by asking ``model`` at ``base_url`` (OpenAI's, or that of ``OPENAI_BASE_URL``, if none is given).

    ``api_key``: else that of ``OPENAI_API_KEY``. ``timeout_seconds`` bounds one request, ``deadline_seconds`` a whole segment,
    waits and ``retries`` included. ``most_characters`` bounds the turns of one request: choose it below what the model can
    read; a segment that is larger is shortened as ``lines`` says, and told in several parts, each made from its turns.
    ``summary_characters``: how long a summary is asked to be; in windows, short ones stay longer. ``client_options`` go to
    ``openai.OpenAI``. An object may be used for many segments, and by several threads.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 120.0,
        deadline_seconds: float = 600.0,
        retries: int = 2,
        backoff_seconds: float = 0.5,
        most_characters: int = 60_000,
        summary_characters: int = 800,
        **client_options: Any,
    ) -> None:
        """``ExtraMissing`` without the extra ``llm``; ``InvalidInput`` for what cannot be asked."""
        if most_characters < LEAST_CHARACTERS:
            raise InvalidInput(f"most_characters is at least {LEAST_CHARACTERS:,}", path="most_characters")
        if not _LEAST_SUMMARY <= summary_characters <= SUMMARY_CHARACTERS:
            raise InvalidInput(
                f"summary_characters is from {_LEAST_SUMMARY} to {SUMMARY_CHARACTERS:,}, not {summary_characters:,}",
                path="summary_characters",
            )
        if is_blank(model or ""):
            raise InvalidInput(f"model is the name of one at the endpoint, not {model!r}", path="model")
        patience = Patience(timeout_seconds=timeout_seconds, retries=retries, backoff_seconds=backoff_seconds)
        self._model = model
        self._endpoint = Endpoint(patience, base_url=base_url, api_key=api_key, options=client_options)
        self._deadline_seconds = deadline_seconds
        self._most_characters = most_characters
        self._summary_characters = summary_characters
        self._sampling: Mapping[str, Any] = {"temperature": 0}
        settings = {"most_characters": most_characters, "summary_characters": summary_characters, **self._sampling}
        self._prompt_hash = prompt_hash(settings)

    def __repr__(self) -> str:
        return f"OpenAISummariser(model={self._model!r}, base_url={self._endpoint.url!r})"

    @property
    def name(self) -> str:
        """The way of asking, and its version."""
        return _NAME

    @property
    def model(self) -> str:
        """The model that is asked, by the name that is asked for."""
        return self._model

    @property
    def prompt_hash(self) -> str:
        """The digest of the wording and of the settings that change what is asked."""
        return self._prompt_hash

    def summarise(self, segment: SegmentTurns) -> SummaryDraft:
        """The account of these turns; ``SummariserFailed`` where a part of it was not given."""
        shown = requests_of(segment.turns, self._most_characters)
        if not shown.requests:
            raise SummariserFailed(f"turns {segment.first} to {segment.last} hold nothing that can be read as text")
        deadline = time.monotonic() + self._deadline_seconds
        share = max(_LEAST_SUMMARY, self._summary_characters // len(shown.requests))
        most = SUMMARY_CHARACTERS // len(shown.requests) - 1
        completions = [self._ask(messages(request, share), deadline) for request in shown.requests]
        told = [_text_of(completion) for completion in completions]
        missing = [shown.left_out, *(why for _, why in told)]
        incomplete = "; ".join(dict.fromkeys(why for why in missing if why is not None)) or None
        return SummaryDraft("\n".join(shortened(text, most) for text, _ in told), usage_of(completions), incomplete)

    def _ask(self, prompt: Sequence[Mapping[str, str]], deadline: float) -> Mapping[str, Any]:
        sampling = self._sampling
        while True:
            try:
                completion = self._endpoint.complete({"model": self._model, "messages": prompt, **sampling}, deadline)
            except EndpointFailed as failed:
                if not (sampling and failed.status in _DOES_NOT_TAKE and "temperature" in str(failed)):
                    raise _failed(failed) from None
                sampling = {}  # some models take no other than their own
            else:
                self._sampling = sampling
                return completion


def _failed(failed: EndpointFailed) -> SummariserFailed:
    return SummariserFailed(str(failed), concerns_all=failed.status not in _OF_THE_SEGMENT, status=failed.status)


def _text_of(completion: Mapping[str, Any]) -> tuple[str, str | None]:
    """What the model said, and whether that is cut. Only text counts: a call of a tool, for instance, is not looked at."""
    choice = first_choice(completion)
    content = message_of(choice).get("content")
    text = _THOUGHTS.sub("", content).strip() if isinstance(content, str) else ""
    why = next(broken_off(choice), None)
    if text and (why is None or choice.get("finish_reason") == "length"):
        return text, why
    raise SummariserFailed(f"no account was given: {why or 'the answer holds no text'}", concerns_all=False)
