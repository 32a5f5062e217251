"""The forms that providers want: one file a form, one line each in ``RENDERERS``."""

from __future__ import annotations

from typing import Final

from ledger.errors import InvalidInput
from projections.render.anthropic import AnthropicRenderer
from projections.render.gemini import GeminiRenderer
from projections.render.markdown import MarkdownRenderer
from projections.render.openai import OpenAIRenderer
from projections.render.openai_responses import OpenAIResponsesRenderer
from projections.render.renderer import Renderer
from projections.render.text import TextRenderer

RENDERERS: Final[dict[str, type[Renderer]]] = {
    "openai": OpenAIRenderer,
    "openai_responses": OpenAIResponsesRenderer,
    "anthropic": AnthropicRenderer,
    "gemini": GeminiRenderer,
    "markdown": MarkdownRenderer,
    "text": TextRenderer,
}


def renderer_named(name: str) -> type[Renderer]:
    """The renderer of a form; ``InvalidInput`` names the ones that exist."""
    if name not in RENDERERS:
        raise InvalidInput(f"no renderer {name!r}: choose one of {', '.join(RENDERERS)}", path="render")
    return RENDERERS[name]
