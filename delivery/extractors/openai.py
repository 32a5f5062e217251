"""The extractor that asks a model, over any endpoint that speaks OpenAI's chat completions. Needs the extra ``llm``."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from delivery.completions import model_of, usage_of
from delivery.endpoint import Endpoint, Patience
from delivery.endpoint_errors import EndpointFailed
from delivery.extractors.answer_form import answer_forms
from delivery.extractors.answers import read_answer
from delivery.extractors.prompt import LEAST_CHARACTERS, Batch, batches, messages, prompt_hash
from ledger.errors import InvalidInput
from ledger.schema.characters import is_blank
from ledger.schema.schema import Schema
from projections.extraction import Candidate, Extraction
from projections.transcript import Turn

_NAME: Final = "openai/1"
_DOES_NOT_TAKE: Final = (400, 422)
"""What an endpoint answers to an option that it does not know."""


class OpenAIExtractor:
    """Finds candidates by asking ``model`` at ``base_url`` (OpenAI's, or that of ``OPENAI_BASE_URL``, if none is given).

    ``api_key``: else that of ``OPENAI_API_KEY``. ``timeout_seconds`` bounds one request, ``deadline_seconds`` the whole
    extraction, waits and ``retries`` included. ``most_characters`` bounds the turns of one request: more are sent in several.
    ``client_options`` go to ``openai.OpenAI``. An object may be used for many extractions, and by several threads.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 60.0,
        deadline_seconds: float = 600.0,
        retries: int = 2,
        backoff_seconds: float = 0.5,
        most_characters: int = 60_000,
        **client_options: Any,
    ) -> None:
        """``ExtraMissing`` without the extra ``llm``; ``InvalidInput`` for what cannot be asked."""
        if most_characters < LEAST_CHARACTERS:
            raise InvalidInput(f"most_characters is at least {LEAST_CHARACTERS:,}", path="most_characters")
        if is_blank(model or ""):
            raise InvalidInput(f"model is the name of one at the endpoint, not {model!r}", path="model")
        patience = Patience(timeout_seconds=timeout_seconds, retries=retries, backoff_seconds=backoff_seconds)
        self._model = model
        self._endpoint = Endpoint(patience, base_url=base_url, api_key=api_key, options=client_options)
        self._deadline_seconds = deadline_seconds
        self._most_characters = most_characters
        self._form = 0
        self._sampling: Mapping[str, Any] = {"temperature": 0}

    def __repr__(self) -> str:
        return f"OpenAIExtractor(model={self._model!r}, base_url={self._endpoint.url!r})"

    @property
    def name(self) -> str:
        """The way of asking, and its version; which model was asked stands in what it found."""
        return _NAME

    def extract(self, turns: Sequence[Turn], schema: Schema) -> Extraction:
        """The candidates in these turns.

        ``EndpointFailed`` if the endpoint gives no answer at all. Where it fails later, what was found until then counts, and
        ``incomplete`` names the turns that were not read, as it does for all that is missing from the answers.
        """
        parts = batches(turns, self._most_characters) if schema.fields or schema.free else []
        rendered = [messages(schema, batch) for batch in parts]
        completions, missing = self._ask_all(parts, rendered, schema)
        candidates: list[Candidate] = []
        for batch, completion in zip(parts, completions, strict=False):
            answer = read_answer(completion, schema, batch)
            candidates += answer.candidates
            missing += _of_batch(batch, answer.missing)
        return Extraction(
            candidates=tuple(candidates),
            model=model_of(completions, self._model),
            prompt_hash=prompt_hash(schema, rendered),
            usage=usage_of(completions),
            incomplete="; ".join(missing) or None,
        )

    def _ask_all(
        self, parts: Sequence[Batch], rendered: Sequence[Any], schema: Schema
    ) -> tuple[list[Mapping[str, Any]], list[str]]:
        """The answers in order, until one is not given; and why there are no more."""
        deadline = time.monotonic() + self._deadline_seconds
        completions: list[Mapping[str, Any]] = []
        for batch, prompt in zip(parts, rendered, strict=True):
            try:
                completions.append(self._ask(prompt, answer_forms(schema, batch), deadline))
            except EndpointFailed as failed:
                if not completions:
                    raise
                why = "gave no answer" if failed.status is None else f"answered {failed.status}"
                return completions, [f"turns {batch.turns[0]} to {parts[-1].turns[-1]} were not read: the endpoint {why}"]
        return completions, []

    def _ask(self, prompt: Any, forms: Sequence[Mapping[str, Any]], deadline: float) -> Mapping[str, Any]:
        """An answer in the strictest form that the endpoint takes; what it refused once is not tried again."""
        form, sampling = self._form, self._sampling
        while True:
            try:
                request = {"model": self._model, "messages": prompt, **sampling, **forms[form]}
                completion = self._endpoint.complete(request, deadline)
            except EndpointFailed as failed:
                if failed.status not in _DOES_NOT_TAKE:
                    raise
                if sampling and "temperature" in str(failed):  # some models take no other than their own
                    sampling = {}
                elif form + 1 < len(forms):
                    form += 1
                else:
                    raise
            else:
                self._form, self._sampling = form, sampling
                return completion


def _of_batch(batch: Batch, missing: Iterable[str]) -> list[str]:
    cut = (f"only the beginning of {batch.span} was sent, which is too long",) if batch.is_cut else ()
    return [*cut, *(f"{batch.span}: {what}" for what in missing)]
