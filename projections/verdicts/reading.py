"""What rules ask of a turn and of its neighbours, each answered at most once a turn."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from ledger.parts import ReasoningPart, TextPart, ToolCallPart
from projections.exact.strings import exact_strings
from projections.transcript import Turn
from projections.verdicts.languages.language import Courtesy, Cue
from projections.verdicts.lexicon import Lexicon, courtesies, offers_help, plain, words_of
from projections.verdicts.own_words import own_words
from projections.verdicts.verdict import Surroundings

_SENTENCE: Final = re.compile(
    r"[^.!?\n\u2026\u3002\uff01\uff1f]+(?:\.(?=[^\s.])[^.!?\n\u2026\u3002\uff01\uff1f]+)*[.!?\u2026\u3002\uff01\uff1f]*"
)
_SPACES: Final = re.compile(r"\s+")
_TRIGGER: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_EXACT: Final = re.compile(r"[\d`\"\u201c\u201e\u00ab#@_/\\<>{}\[\]=$€£|~^&%+]|[a-z][A-Z]|\w\.\w|\b[A-Z]{2,}\b|\bwww\b")
_QUESTION: Final = "?\uff1f\u00bf"
_SENTENCE_CHARACTERS: Final = 400
_ASKED_CHARACTERS: Final = 1_500
"""What a turn asks stands at its end."""

_READ_CHARACTERS: Final = 4_000
"""A longer text has something exact in it, or nobody can tell."""


class Reading:
    """A turn among its neighbours, as far as somebody asked."""

    def __init__(self, surroundings: Surroundings, lexicon: Lexicon) -> None:
        self.surroundings = surroundings
        self.turn = surroundings.turn
        self.lexicon = lexicon

    @cached_property
    def said(self) -> str:
        """What the speaker says with own words."""
        return own_words(self.turn)

    @cached_property
    def plain(self) -> str:
        """The own words, as cues are written."""
        return plain(self.said)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The own words by sentences, each with its end mark."""
        found = (_SPACES.sub(" ", match).strip(" *_-\u2022>\"'\t") for match in _SENTENCE.findall(self.plain))
        return tuple(self._stated(sentence[:_SENTENCE_CHARACTERS]) for sentence in found if sentence)

    def _stated(self, sentence: str) -> str:
        """The sentence; without "right?" at its end, which asks for nothing but assent."""
        if sentence[-1] not in _QUESTION:
            return sentence
        tags = (tags.search(sentence) for tags in self.lexicon.tags)
        return next((sentence[: tag.start()] for tag in tags if tag is not None and tag.start()), sentence)

    @cached_property
    def triggers(self) -> frozenset[str]:
        """The different words of the own words."""
        return frozenset(_TRIGGER.findall(self.plain))

    @cached_property
    def words(self) -> list[str]:
        """The own words one by one, if they are few; else nothing."""
        return words_of(self.plain) if len(self.plain) <= 600 else []

    @cached_property
    def courtesies(self) -> frozenset[Courtesy]:
        """The kinds of courtesy that the turn consists of; nothing if it says anything else."""
        if not self.words or not self.is_text_alone:
            return frozenset()
        kinds = courtesies(self.words, self.lexicon)
        if kinds is None and not self.is_user and len(self.plain) <= _SENTENCE_CHARACTERS:
            kinds = self._courtesies_with_offers()
        return kinds or frozenset()

    def _courtesies_with_offers(self) -> frozenset[Courtesy]:
        """The same of an assistant that also offers more help, which is a farewell."""
        kinds: set[Courtesy] = {"thanks"}
        said = [words_of(sentence) for sentence in self.sentences]
        if sum(map(len, said)) != len(self.words):
            return frozenset()
        for sentence, words in zip(self.sentences, said, strict=True):
            found = courtesies(words, self.lexicon)
            if found is None and not offers_help(sentence.rstrip(" .!"), self.lexicon):
                return frozenset()
            kinds |= found or frozenset()
        return frozenset(kinds)

    @property
    def is_user(self) -> bool:
        """Whether a user speaks."""
        return self.turn.role == "user"

    @cached_property
    def is_text_alone(self) -> bool:
        """Whether there is nothing but text: no call, picture, document or part that only its provider understands."""
        return all(isinstance(part, TextPart | ReasoningPart) for part in self.turn.parts)

    @cached_property
    def has_text_and_calls_alone(self) -> bool:
        """The same, save that it may call tools."""
        return all(isinstance(part, TextPart | ReasoningPart | ToolCallPart) for part in self.turn.parts)

    @cached_property
    def asks(self) -> bool:
        """Whether a question mark stands anywhere in the turn."""
        return any(mark in self.turn.text for mark in _QUESTION)

    @cached_property
    def has_exact_string(self) -> bool:
        """Whether anything stands in it that must not be lost: a number, a name of code, a path, an address, a quote."""
        text = self.turn.text
        return len(text) > _READ_CHARACTERS or _EXACT.search(text) is not None or bool(exact_strings(text))

    def says(self, cues: tuple[Cue, ...]) -> bool:
        """Whether one of the sentences gives one of these cues."""
        for cue in cues:
            heard = cue.words & self.triggers
            if heard and any(_gives(sentence, cue) for sentence in self.sentences if any(word in sentence for word in heard)):
                return True
        return False

    @cached_property
    def says_what_binds(self) -> bool:
        """Whether it asks to remember, constrains, decides, corrects or refuses."""
        known = self.lexicon
        return self.refuses or any(
            self.says(cues) for cues in (known.remember, known.constraint, known.decision, known.correction)
        )

    @cached_property
    def refuses(self) -> bool:
        """Whether it rejects something; "no, thank you" does not, where the turn before only offered more help."""
        if self.surroundings.before and self.courtesies and not self.is_answer:
            return False
        return self.says(self.lexicon.refusal)

    @cached_property
    def is_answer(self) -> bool:
        """Whether the turn before, of the other side, asked or proposed something, so that one word may be a decision."""
        before = self.surroundings.before
        return bool(before) and before[-1].role != self.turn.role and _asks_or_proposes(before[-1], self.lexicon)

    @cached_property
    def may_take_an_option(self) -> bool:
        """Whether the turn before, of the other side, showed an option: "great" may then be a choice."""
        before = self.surroundings.before
        if not before or before[-1].role == self.turn.role:
            return False
        text = plain(before[-1].text[-_ASKED_CHARACTERS:])
        return before[-1].forgotten is not None or any(pattern.search(text) for pattern in self.lexicon.options)


def _gives(sentence: str, cue: Cue) -> bool:
    if sentence[-1] in _QUESTION:
        return cue.asked.search(sentence) is not None
    bare = sentence.rstrip(" .!\u2026,;:")
    return cue.pattern.search(bare) is not None and cue.unless.search(bare) is None


def _asks_or_proposes(turn: Turn, lexicon: Lexicon) -> bool:
    """Whether a turn asks for an answer, or an assistant's for assent; the usual offer of more help does not."""
    if turn.forgotten is not None:
        return True
    text = plain(turn.text[-_ASKED_CHARACTERS:])
    sentences = [said for said in map(str.strip, _SENTENCE.findall(text)) if not offers_help(said.rstrip(" .!"), lexicon)]
    if any(mark in sentence for sentence in sentences for mark in _QUESTION):
        return True
    return turn.role == "assistant" and any(pattern.search(sentence) for sentence in sentences for pattern in lexicon.proposals)
