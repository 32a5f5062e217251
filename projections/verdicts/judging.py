"""The verdict on a turn: the first rule that claims it gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from ledger.errors import InvalidInput
from projections.transcript import Turn
from projections.verdicts.keeping import asks_to_remember
from projections.verdicts.lexicon import lexicon_of
from projections.verdicts.own_words import looked_at
from projections.verdicts.provided import PROVIDED
from projections.verdicts.reading import Reading
from projections.verdicts.registered import registered_rule
from projections.verdicts.rules import FunctionRule, PatternRule, ProvidedRule, Rule
from projections.verdicts.verdict import FORGOTTEN, Classified, Judgement, Ruled, Surroundings

_VERDICTS: Final = get_args(Ruled)


def judge(
    surroundings: Surroundings,
    rules: Sequence[Rule],
    *,
    languages: tuple[str, ...] = ("en",),
    otherwise: Ruled = "compress",
    classified: Classified | None = None,
) -> Judgement:
    """The verdict on a turn and its reason: what stands recorded of it, else the first rule that claims it, else ``otherwise``.

    A forgotten turn may never be kept. A turn that asks to be remembered, or used exactly, is dropped by a person alone.
    ``languages`` are those that the provided rules understand. Raises ``UnknownLanguage``, and ``PolicyUnavailable`` where a
    function is not registered.
    """
    if surroundings.turn.forgotten is not None:
        return FORGOTTEN
    reading = Reading(surroundings, lexicon_of(languages))
    if classified is not None and (classified.by == "person" or classified.verdict != "drop" or not asks_to_remember(reading)):
        return Judgement(classified.verdict, f"classified by {classified.by}")
    for rule in rules:
        verdict = _verdict(rule, reading)
        if verdict is not None and (verdict != "drop" or not asks_to_remember(reading)):
            return Judgement(verdict, rule.name)
    return Judgement("compress" if otherwise == "drop" and asks_to_remember(reading) else otherwise, "otherwise")


def drops_task(turn: Turn, rules: Sequence[Rule], languages: tuple[str, ...]) -> bool:
    """Whether rules that need no later turns drop a turn, so that a later one is the task."""
    if turn.forgotten is not None:
        return False
    early = [rule for rule in rules if not (isinstance(rule, ProvidedRule) and PROVIDED[rule.name].needs_later)]
    return judge(Surroundings((), turn, ()), early, languages=languages, otherwise="keep").verdict == "drop"


def _verdict(rule: Rule, reading: Reading) -> Ruled | None:
    match rule:
        case ProvidedRule():
            provided = PROVIDED[rule.name]
            return provided.verdict if provided.claims(reading) else None
        case PatternRule():
            if rule.role is not None and rule.role != reading.turn.role:
                return None
            return rule.verdict if rule.compiled.search(looked_at(reading.turn.text)) else None
        case FunctionRule():
            return _checked(rule, registered_rule(rule.name, rule.version)(reading.surroundings))


def _checked(rule: FunctionRule, verdict: Ruled | None) -> Ruled | None:
    if verdict is not None and verdict not in _VERDICTS:
        raise InvalidInput(
            f"the rule {rule.name!r} of version {rule.version} returned {verdict!r}: "
            f"let it return None or one of {', '.join(_VERDICTS)}",
            path=rule.name,
            verdict=verdict,
        )
    return verdict
