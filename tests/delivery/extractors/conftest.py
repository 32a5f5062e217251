"""A server to ask, and an extractor that asks it; nothing of the surroundings counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from delivery.extractors.openai import OpenAIExtractor
from tests.delivery.extractors.model_server import ModelServer

KEY = "sk-very-secret-0123456789"


class Asking(Protocol):
    """Makes an extractor that asks the server."""

    def __call__(self, **options: Any) -> OpenAIExtractor:
        """With these options instead of the usual ones."""
        ...


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither keys nor proxies of who runs the tests."""
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server that runs until the test ends."""
    with ModelServer().running() as running:
        yield running


@pytest.fixture
def asking(server: ModelServer) -> Asking:
    """An extractor that does not wait long."""

    def make(**options: Any) -> OpenAIExtractor:
        usual = {"model": "tiny", "base_url": server.url, "api_key": KEY, "timeout_seconds": 5.0, "backoff_seconds": 0.01}
        return OpenAIExtractor(**{**usual, **options})

    return make


@pytest.fixture
def extractor(asking: Asking) -> OpenAIExtractor:
    """One extractor for many questions, which are asked once each."""
    return asking(retries=0)
