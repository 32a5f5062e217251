"""How people ask to have something forgotten: one file a language, one line each in ``LANGUAGES``.

What counts is personal (my address, the number that I gave you), what was said (what I told you, this conversation) and the
memory itself (from your records). Orders to delete a file, and idioms such as "forget it", do not.
"""

from __future__ import annotations

from typing import Final

from ledger.forget_words.chinese import CHINESE
from ledger.forget_words.english import ENGLISH
from ledger.forget_words.french import FRENCH
from ledger.forget_words.german import GERMAN
from ledger.forget_words.rules import Language
from ledger.forget_words.spanish import SPANISH

LANGUAGES: Final[tuple[Language, ...]] = (ENGLISH, GERMAN, FRENCH, SPANISH, CHINESE)
