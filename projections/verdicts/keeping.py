"""What is kept verbatim: what a user asks to remember, what binds, what is decided, put right or refused.

Only a user binds. What a tool or a program puts into a user's turn does not, nor does what an assistant says.
"""

from __future__ import annotations

from typing import Final

from projections.verdicts.reading import Reading

_ANSWER_WORDS: Final = 40
"""What is longer is more than an answer."""


def asks_to_remember(reading: Reading) -> bool:
    """Whether the user asks to remember something, or to use it exactly as it stands."""
    return reading.is_user and reading.says(reading.lexicon.remember)


def constrains(reading: Reading) -> bool:
    """Whether the user forbids, limits or demands something, or sets a deadline or a budget."""
    return reading.is_user and reading.says(reading.lexicon.constraint)


def decides(reading: Reading) -> bool:
    """Whether the user chooses or approves."""
    return reading.is_user and reading.says(reading.lexicon.decision)


def puts_right(reading: Reading) -> bool:
    """Whether the user corrects what was said before."""
    return reading.is_user and reading.says(reading.lexicon.correction)


def refuses(reading: Reading) -> bool:
    """Whether the user rejects something."""
    return reading.is_user and reading.refuses


def answers_briefly(reading: Reading) -> bool:
    """Whether a few words of the user answer what the assistant asked or proposed: "ok" is then a decision."""
    if not reading.is_user or not 0 < len(reading.words) <= _ANSWER_WORDS:
        return False
    agrees = not reading.courtesies.isdisjoint(("agreement", "acknowledgement"))
    answers = agrees or reading.words[0] in reading.lexicon.answers
    return (answers and reading.is_answer) or (agrees and reading.may_take_an_option)
