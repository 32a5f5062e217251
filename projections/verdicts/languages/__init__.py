"""The languages that the provided rules understand: one file a language, one line each in ``LANGUAGES``."""

from __future__ import annotations

from typing import Final

from projections.errors import UnknownLanguage
from projections.verdicts.languages.english import ENGLISH
from projections.verdicts.languages.german import GERMAN
from projections.verdicts.languages.language import Language

LANGUAGES: Final[tuple[Language, ...]] = (ENGLISH, GERMAN)

_BY_CODE: Final = {language.code: language for language in LANGUAGES}


def language_of(code: str) -> Language:
    """The language of a code such as "en"; raises ``UnknownLanguage``."""
    if code not in _BY_CODE:
        there = ", ".join(f"{known.code!r} ({known.name})" for known in LANGUAGES)
        raise UnknownLanguage(
            f"languages: there are no rules for the language {code!r}: take {there}, or rules of your own",
            path="languages",
            language=code,
            known=tuple(_BY_CODE),
        )
    return _BY_CODE[code]
