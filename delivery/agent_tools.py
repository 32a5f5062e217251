"""Tools by which a model looks into its own record: what a stub stands for, and what was said before its window begins.

Give ``tool_definitions()`` along with the request, and the model's calls of these tools to ``answer_call`` with the view of its
ledger. The model reaches that ledger alone, at the version of the view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ledger import JsonText
from ledger.errors import InvalidInput
from ledger.parts import DocumentPart, ImagePart
from projections.search.searchable import KINDS, ROLES
from projections.wire import to_json
from replay.fetching import FetchedResult
from replay.fetching_ids import HoldsNoContent, UnknownResult
from replay.searching.candidates import Hit
from replay.view import View

FETCH_RESULT: Final = "fetch_result"
SEARCH_RECORD: Final = "search_record"
USUAL_CHARACTERS: Final = 8_000
"""Of a result in one answer, where the call does not say how many."""

MOST_CHARACTERS: Final = 50_000
MOST_HITS: Final = 50


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is described to a model; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a call is answered with: JSON text; ``is_error`` where the model must call otherwise."""

    text: str
    is_error: bool = False


def _parameters(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}


def _number(description: str, least: int, most: int | None = None) -> dict[str, Any]:
    known: dict[str, Any] = {"type": "integer", "minimum": least, "description": description}
    return known if most is None else known | {"maximum": most}


TOOLS: Final = (
    Tool(
        FETCH_RESULT,
        "Read in full what is shown to you shortened, or only named, by its id: the result of an earlier tool call (r_12), "
        "evidence with its quote and page (ev_31), a contradiction with its claims (con_9), a constraint, decision, rejected "
        "option or open question (en_5), what was said in a turn, by its number (turn_12), or what a search found (v_7). "
        "Long texts come in pieces: ask again with start for the next one.",
        _parameters(
            "id",
            id={"type": "string", "description": "The id, such as r_12, ev_31, con_9, en_5, turn_12 or v_7."},
            start=_number("First character to read, counted from 0.", 0),
            length=_number(f"How many characters to read; else {USUAL_CHARACTERS:,}.", 1, MOST_CHARACTERS),
        ),
    ),
    Tool(
        SEARCH_RECORD,
        "Search everything that was said, done and found in this conversation so far, also what you no longer see: "
        "by words or by exact identifiers, file names and numbers. Put words that follow on each other in quotation marks.",
        _parameters(
            "query",
            query={"type": "string", "description": "Words to look for, in any language, or an id."},
            kind={"type": "string", "enum": list(KINDS), "description": "Only texts of this kind."},
            role={"type": "string", "enum": list(ROLES), "description": "Only what this role said."},
            first_turn=_number("Only from this turn on.", 1),
            last_turn=_number("Only up to this turn.", 1),
            limit=_number("How many places to show; else 10.", 1, MOST_HITS),
            offset=_number("How many places to pass by, to see more.", 0),
        ),
    ),
)
"""All tools, in the order in which they are given to a model."""

Form = Literal["openai", "openai_responses", "anthropic", "gemini"]


def tool_definitions(form: Form = "openai") -> list[dict[str, Any]]:
    """The tools as a request of a vendor has them, for ``View.window(tools=…)`` too. ``InvalidInput`` for another form."""
    if form not in _FORMS:
        raise InvalidInput(f"form {form!r} is not known: give one of {', '.join(_FORMS)}", path="form")
    definitions = [_FORMS[form](tool) for tool in TOOLS]
    return [{"functionDeclarations": definitions}] if form == "gemini" else definitions


def answer_call(view: View, name: str, arguments: Mapping[str, Any] | str) -> ToolAnswer:
    """Answer a model's call of one of the tools; ``arguments`` as JSON text, or as what it says.

    What the model got wrong is an answer for it, with the way out. ``InvalidInput`` for the name of another tool: its calls are
    for whoever gave the model that tool.
    """
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise InvalidInput(f"tool {name!r} is not one of {', '.join(tool.name for tool in TOOLS)}", path="name")
    try:
        return ToolAnswer(to_json(_ANSWERS[name](view, _checked(tool, arguments))).decode())
    except (InvalidInput, UnknownResult, HoldsNoContent) as error:
        return ToolAnswer(to_json({"error": str(error)}).decode(), is_error=True)


def _checked(tool: Tool, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments, as far as they are what the tool takes; those that are null are left out."""
    given = JsonText.parse(arguments).value if isinstance(arguments, str) else arguments
    if not isinstance(given, Mapping):
        raise InvalidInput(f"the arguments of {tool.name} are no JSON object", path="$")
    properties = tool.parameters["properties"]
    unknown = [name for name in given if name not in properties]
    if unknown:
        raise InvalidInput(f"{tool.name} takes no {unknown[0]!r}: it takes {', '.join(properties)}", path=str(unknown[0]))
    known = {name: _fitting(name, value, properties[name]) for name, value in given.items() if value is not None}
    for name in tool.parameters["required"]:
        if name not in known:
            raise InvalidInput(f"{tool.name} needs {name}: {properties[name]['description']}", path=name)
    return known


def _fitting(name: str, value: Any, schema: dict[str, Any]) -> Any:
    if schema["type"] == "string":
        if not isinstance(value, str) or value not in schema.get("enum", (value,)):
            one_of = f" one of {', '.join(schema['enum'])}" if "enum" in schema else " a text"
            raise InvalidInput(f"{name} is{one_of}, not {value!r}", path=name)
        return value
    least, most = schema["minimum"], schema.get("maximum")
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        upto = "" if most is None else f" to {most:,}"
        raise InvalidInput(f"{name} is a whole number from {least}{upto}, not {value!r}", path=name)
    return value


def _fetch(view: View, given: dict[str, Any]) -> dict[str, Any]:
    found = view.fetch(given["id"])
    known: dict[str, Any] = {"id": found.id, "tool": found.tool, "turn": found.turn}
    if found.kind != "result":
        known = {"id": found.id, "kind": found.kind, "turn": found.turn}
        known |= {} if found.role is None else {"role": found.role}
    if found.forgotten is not None:
        return known | {"forgotten": True, "reason": found.forgotten.reason}
    piece = found.piece(given.get("start", 0), given.get("length", USUAL_CHARACTERS))
    known |= {"is_error": found.is_error} if found.kind == "result" else {}
    known |= {"start": piece.start, "end": piece.end, "characters": piece.characters, "text": piece.text}
    kept = _kept(found)
    return known if not kept else known | {"attachments": kept}


def _kept(found: FetchedResult) -> list[dict[str, Any]]:
    """What a result has beside its text, described: its bytes are not for a model to read as text."""
    return [
        {"type": part.type, "name": part.name, "media_type": part.media_type, "size_bytes": part.size_bytes, "url": part.url}
        for part in found.parts
        if isinstance(part, ImagePart | DocumentPart)
    ]


def _search(view: View, given: dict[str, Any]) -> dict[str, Any]:
    first, last = given.get("first_turn"), given.get("last_turn")
    turns = None if first is None and last is None else (first or 1, max(first or 1, 2**31 if last is None else last))
    if first is not None and last is not None and first > last:
        raise InvalidInput(f"first_turn {first} is after last_turn {last}", path="first_turn")
    found = view.search(
        given["query"],
        kind=given.get("kind"),
        role=given.get("role"),
        turns=turns,
        limit=given.get("limit", 10),
        offset=given.get("offset", 0),
    )
    return {"matched": found.matched, "places": [_place(hit) for hit in found.hits], "more": found.more}


def _place(hit: Hit) -> dict[str, Any]:
    known = {"id": hit.id, "kind": hit.kind, "turn": hit.turn, "role": hit.role, "text": hit.snippet}
    return {name: value for name, value in known.items() if value is not None}


_ANSWERS: Final[dict[str, Callable[[View, dict[str, Any]], dict[str, Any]]]] = {FETCH_RESULT: _fetch, SEARCH_RECORD: _search}


def _openai(tool: Tool) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described}


def _openai_responses(tool: Tool) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", **described, "strict": False}


def _gemini(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


_FORMS: Final[dict[str, Callable[[Tool], dict[str, Any]]]] = {
    "openai": _openai,
    "openai_responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
