"""A value puts another one right only where the user's own words say so, whoever claims it; a question never does."""

from __future__ import annotations

import pytest

from ledger import Ledgers
from ledger.schema import Money, StateModel, declared
from projections.corrections import is_denied, puts_right
from projections.extraction import Candidate
from projections.rule_extraction import RuleExtractor
from replay import view
from replay.extraction import extract
from tests.extraction.saying import Says, claims, values


class Refund(StateModel):
    """What is paid back."""

    amount: Money | None = declared(currencies=["INR"], patterns=[r"(?P<value>[\d,]*\d INR)"])
    day: str | None = declared(patterns=[r"\b(?P<value>(?:Mon|Tues|Fri)days?)\b"])


CORRECTIONS = [
    "No, 4,050 INR.",
    "no - 4,050 INR",
    "Oh no! It was 4,050 INR.",
    "Sorry, 4,050 INR.",
    "Actually it was 4,050 INR.",
    "Final: 4,050 INR",
    "Correction: 4,050 INR",
    "Make it 4,050 INR, please.",
    "Please change the amount to 4,050 INR",
    "I meant 4,050 INR",
    "4,050 INR from now on",
    "4,050 INR, not 4,180 INR",
    "no, 4,050 INR, not 4,180 INR",
    "4,050 INR instead of 4,180 INR",
    "4,050 INR rather than the 4,180 INR",
    "Not 4,180 INR but 4,050 INR",
    "I was wrong. It is 4,050 INR.",
    "Nein, es waren 4,050 INR.",
    "4,050 INR statt 4,180 INR",
    "Es waren nicht 4,180 INR, sondern 4,050 INR",
    "Perdón, son 4,050 INR.",
    "4,050 INR en vez de 4,180 INR",
    "Non, c'est 4,050 INR.",
    "4,050 INR au lieu de 4,180 INR",
    "不，4,050 INR",
    "改成 4,050 INR",
    "是 4,050 INR，不是 4,180 INR",
]
NONE = [
    "There is no reason to charge 4,050 INR.",
    "My final question: does a new one cost 4,050 INR?",
    "No, does a new one cost 4,050 INR?",
    "Would it be 4,050 INR instead?",
    "No problem. The other one was 4,050 INR.",
    "No, thanks. The other one was 4,050 INR.",
    "No idea who paid 4,050 INR.",
    "the other customer paid 4,050 INR, not me",
    "Is that wrong? They paid 4,050 INR.",
    "Nothing is wrong with 4,050 INR.",
    "Do you make that? It costs 4,050 INR.",
    "It is the final price, 4,050 INR.",
    "No, leave it. The weather is nice. He paid 4,050 INR.",
    "Es gibt keinen Grund, 4,050 INR zu zahlen.",
    "Ist es nein? 4,050 INR",
    "不错，4,050 INR",
    "要不要改成 4,050 INR 吗？",
]


def talk(store: Ledgers, second: str) -> list[str]:
    """What the claims of rules led to, for a user who speaks twice."""
    ledger = store.ledger("case", schema=Refund)
    for text in ("Please refund 4,180 INR.", second):
        ledger.record_turn("user", text)
    extract(store, "case", RuleExtractor())
    return claims(ledger)


@pytest.mark.parametrize("said", CORRECTIONS)
def test_who_says_that_it_is_put_right_is_heard(store: Ledgers, said: str) -> None:
    assert talk(store, said) == ["fact.set", "fact.superseded"]
    assert view(store, "case").state().entities["amount"].value == "4,050 INR"


@pytest.mark.parametrize("said", NONE)
def test_other_words_put_nothing_right(store: Ledgers, said: str) -> None:
    assert talk(store, said) == ["fact.set", "contradiction.recorded"]


@pytest.mark.parametrize(("said", "event"), [(CORRECTIONS, "fact.superseded"), (NONE, "contradiction.recorded")])
def test_an_extractor_that_claims_a_correction_is_not_believed_without_the_users_words(
    store: Ledgers, said: list[str], event: str
) -> None:
    for text in said:
        ledger = store.ledger(text[:30], schema=Refund)
        ledger.record_turn("user", "Please refund 4,180 INR.")
        ledger.record_turn("user", text)
        found = [Candidate("amount", "4,180 INR", "4,180 INR", 1), Candidate("amount", "4050 INR", text, 2, corrects=True)]
        extract(store, ledger.name, Says(found))
        assert (text, claims(ledger)) == (text, ["fact.set", event])


def test_a_word_of_correction_without_the_claim_corrects_nothing(store: Ledgers) -> None:
    ledger = store.ledger("case", schema=Refund)
    for text in ("4,180 INR", "No, 4,050 INR"):
        ledger.record_turn("user", text)
    said = [Candidate("amount", text, text, turn) for turn, text in ((1, "4,180 INR"), (2, "4,050 INR"))]
    extract(store, "case", Says(said))
    assert claims(ledger) == ["fact.set", "contradiction.recorded"]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("Fridays, not Tuesdays", "Fridays"),
        ("not on Tuesdays, Fridays", "Fridays"),
        ("Mondays. Fridays, never on Tuesdays", "Fridays"),
        ("Tuesdays. No, Fridays", "Fridays"),
        ("Fridays anstatt Tuesdays", "Fridays"),
        ("why not Fridays", "Fridays"),
    ],
)
def test_the_last_that_is_meant_counts(store: Ledgers, said: str, day: str) -> None:
    ledger = store.ledger("case", schema=Refund)
    ledger.record_turn("user", said)
    extract(store, "case", RuleExtractor())
    assert values(store, ledger) == {"day": (day, "user")}


def test_a_turn_that_only_denies_says_nothing(store: Ledgers) -> None:
    assert talk(store, "Not 4,180 INR.") == ["fact.set"]


def test_words_of_another_value_are_put_right_where_they_name_it(store: Ledgers) -> None:
    ledger = store.ledger("case", schema=Refund)
    for text in ("On Tuesdays", "Fridays, not Tuesdays", "Mondays, not me"):
        ledger.record_turn("user", text)
    extract(store, "case", RuleExtractor())
    assert claims(ledger) == ["fact.set", "fact.superseded", "contradiction.recorded"]
    assert values(store, ledger) == {"day": ("Fridays", "user")}


def test_a_denied_place_is_no_correction() -> None:
    text = "No, Fridays, never Tuesdays"
    assert puts_right(text, text.index("Fri"))
    assert not puts_right(text, text.index("Tues"))
    assert (is_denied(text, text.index("Fri")), is_denied(text, text.index("Tues"))) == (False, True)
