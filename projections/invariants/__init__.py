"""What each provider refuses, as small rules over a request: the catalogue by form, and ``violations``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from projections.invariants.media import MediaAreKnown
from projections.invariants.reading import anthropic_shape, gemini_shape, openai_shape, responses_shape
from projections.invariants.reasoning import ReasoningIsSigned, ReasoningIsUntouched
from projections.invariants.rules import (
    ArgumentsAre,
    BlocksFitRoles,
    CacheMarks,
    CallsAreAnswered,
    CallsAreNamed,
    FailuresAreText,
    HasMessages,
    KnownRoles,
    NothingIsEmpty,
    NothingOfAnotherForm,
    ReasoningIsFollowed,
    ResultsNameTheirTool,
    ResultsStandFirst,
    RolesAlternate,
    UserBeginsAndEnds,
    UserSpeaks,
)
from projections.invariants.shapes import Rule, Shape, Violation
from projections.invariants.unicode import unicode_violations
from projections.render import renderer_named

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GEMINI_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
_CHAT_ID: Final = re.compile(r"[\x21-\x7e]{1,40}")
_PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_GEMINI_PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"})

READERS: Final[dict[str, Callable[[Mapping[str, Any]], Shape]]] = {
    "openai": openai_shape,
    "openai_responses": responses_shape,
    "anthropic": anthropic_shape,
    "gemini": gemini_shape,
}
"""How the request of each form is read; a form for people has no rules."""

RULES: Final[dict[str, tuple[Rule, ...]]] = {
    "openai": (
        HasMessages(),
        NothingOfAnotherForm(),
        KnownRoles(frozenset({"system", "user", "assistant", "tool"})),
        UserSpeaks(),
        RolesAlternate(frozenset({"user"})),
        BlocksFitRoles(results="tool"),
        CallsAreAnswered(),
        CallsAreNamed(_CHAT_ID, _NAME),
        ArgumentsAre(str),
        NothingIsEmpty(),
        MediaAreKnown(_PICTURES),
    ),
    "openai_responses": (
        HasMessages(),
        NothingOfAnotherForm(),
        KnownRoles(frozenset({"user", "assistant", "tool"})),
        UserSpeaks(),
        BlocksFitRoles(results="tool"),
        CallsAreAnswered(assistant_may_go_on=True),
        CallsAreNamed(_NAME, _NAME),
        ArgumentsAre(str),
        NothingIsEmpty(),
        ReasoningIsFollowed(),
        MediaAreKnown(_PICTURES),
    ),
    "anthropic": (
        HasMessages(),
        NothingOfAnotherForm(),
        KnownRoles(frozenset({"user", "assistant"})),
        UserBeginsAndEnds(),
        RolesAlternate(frozenset({"user", "assistant"})),
        BlocksFitRoles(results="user"),
        CallsAreAnswered(),
        ResultsStandFirst(),
        CallsAreNamed(_NAME, _NAME),
        ArgumentsAre(dict),
        NothingIsEmpty(),
        FailuresAreText(),
        ReasoningIsFollowed(),
        ReasoningIsSigned(),
        CacheMarks(most=4),
        MediaAreKnown(_PICTURES),
    ),
    "gemini": (
        HasMessages(),
        NothingOfAnotherForm(),
        KnownRoles(frozenset({"user", "assistant", "tool"})),
        UserBeginsAndEnds(),
        RolesAlternate(frozenset({"user", "assistant"})),
        BlocksFitRoles(results="tool"),
        CallsAreAnswered(),
        ResultsNameTheirTool(),
        CallsAreNamed(_NAME, _GEMINI_NAME),
        ArgumentsAre(dict),
        NothingIsEmpty(),
        MediaAreKnown(_GEMINI_PICTURES),
    ),
}
"""The rules of each form, as its provider's reference and its refusals have them."""


def violations(form: str, request: Mapping[str, Any], *, reasoning: frozenset[str] | None = None) -> tuple[Violation, ...]:
    """Everything in a request that the provider of its form would refuse; nothing for a form that is for people.

    ``reasoning``: the source texts of the reasoning in the record. With it, every block of reasoning has to be one of them; the
    request is then the exact one, in which foreign JSON is ``JsonText``. ``InvalidInput`` for a form that there is not.
    """
    renderer_named(form)
    if form not in RULES:
        return ()
    found = unicode_violations(request)
    if found:
        return found
    shape = READERS[form](request)
    rules = RULES[form] if reasoning is None else (*RULES[form], ReasoningIsUntouched(reasoning))
    return tuple(violation for rule in rules for violation in rule.violations(shape))
