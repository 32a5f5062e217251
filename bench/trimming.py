"""LangChain's ``trim_messages`` as a policy: the last messages that fit, counted as our windows are (extra ``bench``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Final

from projections.framing import REQUEST_TOKENS
from projections.render.renderer import Count, Request, measure, plain

NAME: Final = "trim_messages"


def is_installed() -> bool:
    """Whether ``langchain-core`` is there."""
    return find_spec("langchain_core") is not None


def trimmer(budget_tokens: int, count: Count) -> Callable[[Request], Request]:
    """Trims a request in OpenAI's form as LangChain's documentation does it: the system text stays, a user's message begins."""
    from langchain_core.messages import trim_messages

    def trimmed(request: Request) -> Request:
        messages = request["messages"]
        costs = [measure({"messages": [message]}, count) - REQUEST_TOKENS for message in messages]

        def cost(some: Sequence[Any]) -> int:
            return sum(costs[int(message.id)] for message in some)

        kept = trim_messages(
            [_given(message, place) for place, message in enumerate(messages)],
            max_tokens=budget_tokens - REQUEST_TOKENS,  # it counts the system text and the rest apart
            strategy="last",
            token_counter=cost,
            include_system=True,
            start_on="human",
        )
        return {"messages": [messages[int(message.id)] for message in kept]}

    return trimmed


def _given(message: dict[str, Any], place: int) -> Any:
    """A message as LangChain has it, named by its place, by which it is found again; arguments of calls are left out."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    content, name = plain(message["content"]) or "", str(place)
    match message["role"]:
        case "system":
            return SystemMessage(content, id=name)
        case "user":
            return HumanMessage(content, id=name)
        case "tool":
            return ToolMessage(content, tool_call_id=message["tool_call_id"], id=name)
        case _:
            calls = [{"name": call["function"]["name"], "args": {}, "id": call["id"]} for call in message.get("tool_calls", ())]
            return AIMessage(content, tool_calls=calls, id=name)
