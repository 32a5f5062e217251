"""A later turn of the user's puts right what the user said before, where it says so; else the two stand against each other."""

from __future__ import annotations

import pytest

from ledger import Ledgers
from projections.extraction import Candidate
from projections.rule_extraction import RuleExtractor
from replay import view
from replay.extraction import extract
from tests.extraction.saying import Says, claims, conversation, returned, values

DELIVERY = ("Deliver on Tuesdays", "Noted.", "no, Fridays from now on")


def test_a_correction_supersedes_and_both_stay(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY)
    extract(store, "case", RuleExtractor())
    assert claims(ledger) == ["fact.set", "fact.superseded"]
    assert values(store, ledger) == {"delivery_day": ("Fridays", "user")}
    first, second = view(store, "case").history("delivery_day").values
    assert (first.value, first.turn, first.superseded_by) == ("Tuesdays", 1, second.from_version)
    assert (second.value, second.turn, second.source) == ("Fridays", 3, "user")


def test_a_correction_found_in_another_run(store: Ledgers) -> None:
    ledger = conversation(store, *DELIVERY[:1])
    extract(store, "case", RuleExtractor())
    ledger.record_turn("assistant", "Noted.")
    ledger.record_turn("user", DELIVERY[2])
    assert extract(store, "case", RuleExtractor()).turns == (2, 3)
    assert values(store, ledger) == {"delivery_day": ("Fridays", "user")}


def test_without_a_word_of_correction_it_is_a_contradiction(store: Ledgers) -> None:
    ledger = conversation(store, "Deliver on Tuesdays", "Noted.", "Fridays are delivery days")
    extract(store, "case", RuleExtractor())
    assert claims(ledger) == ["fact.set", "contradiction.recorded"]
    assert values(store, ledger) == {"delivery_day": ("Tuesdays", "user")}
    assert [one.field for one in view(store, "case").state().contradictions] == ["delivery_day"]


def test_who_tells_the_correction_later_settles_it(store: Ledgers) -> None:
    ledger = conversation(store, "Deliver on Tuesdays", "Noted.", "No. Fridays it must be")
    said = [Candidate("delivery_day", day, day, turn) for day, turn in (("Tuesdays", 1), ("Fridays", 3))]
    extract(store, "case", Says(said))
    extract(store, "case", Says([Candidate("delivery_day", "Fridays", "Fridays it must be", 3, corrects=True)], name="says/2"))
    assert claims(ledger)[:3] == ["fact.set", "contradiction.recorded", "fact.superseded"]
    assert values(store, ledger) == {"delivery_day": ("Fridays", "user")}
    assert view(store, "case").state().contradictions == ()


def test_candidates_are_taken_in_the_order_in_which_they_were_said(store: Ledgers) -> None:
    ledger = conversation(store, "EUR please", "Yes.", "no, USD", "Yes.", "final: always CHF")
    said = [
        Candidate("currency_rule", "CHF", "always CHF", 5, corrects=True),
        Candidate("Billing.Currency", "USD", "no, USD", 3, corrects=True),
        Candidate("invoice currency", "EUR", "EUR please", 1),
    ]
    extract(store, "case", Says(said))
    assert claims(ledger) == ["fact.set", "fact.superseded", "fact.superseded"]
    assert values(store, ledger) == {"invoice_currency": ("CHF", "user")}


def test_three_names_for_one_thing_are_one_field(store: Ledgers) -> None:
    ledger = conversation(store, "invoices in EUR")
    names = ("invoice_currency", "BILLING.currency", "Currency-Rule")
    extract(store, "case", Says([Candidate(name, "EUR", "in EUR", 1) for name in names]))
    assert (claims(ledger), values(store, ledger)) == (["fact.set"], {"invoice_currency": ("EUR", "user")})


def test_a_turn_that_corrects_itself(store: Ledgers) -> None:
    ledger = conversation(store, "USD. No, wait: INR, never USD")
    said = [Candidate("invoice_currency", "INR", "No, wait: INR", 1, corrects=True)]
    said.append(Candidate("invoice_currency", "USD", "USD", 1))
    for name in ("says/1", "says/2"):
        extract(store, "case", Says(said, name=name))
        assert claims(ledger) == ["fact.set", "fact.superseded"]
        assert values(store, ledger) == {"invoice_currency": ("INR", "user")}


def test_an_older_turn_corrects_nothing_that_was_said_later(store: Ledgers) -> None:
    ledger = conversation(store, "no, Tuesdays", "Noted.", "Fridays")
    ledger.set_fact("delivery_day", "Friday", source="user", turn=3)
    extract(store, "case", Says([Candidate("note", "no", "no", 1)]))
    extract(store, "case", RuleExtractor())
    assert values(store, ledger)["delivery_day"] == ("Friday", "user")


def test_what_a_tool_said_before_does_not_replace_what_one_said_since(store: Ledgers) -> None:
    ledger = conversation(store, "Which IBAN?")
    returned(ledger, "IBAN AA00111111", call="c1")
    ledger.record_turn("user", "Look again")
    returned(ledger, "IBAN BB00222222", call="c2")
    ledger.set_fact("payment_iban", "BB00222222", source="tool", turn=4)
    first = Says(lambda turns: [Candidate("payment_iban", "AA00111111", "IBAN AA00111111", 2, turns[1].returns[0].id)])
    assert extract(store, "case", first).refused == 1
    assert values(store, ledger) == {"payment_iban": ("BB00222222", "tool")}
    extract(store, "case", RuleExtractor(results=True))
    assert (claims(ledger), values(store, ledger)) == (["fact.set"], {"payment_iban": ("BB00222222", "tool")})


def test_tools_and_inferences_take_the_place_of_their_like(store: Ledgers) -> None:
    ledger = conversation(store, "Which IBAN?")
    returned(ledger, "IBAN AA00111111", call="c1")
    ledger.record_turn("user", "Look again")
    returned(ledger, "IBAN BB00222222", call="c2")
    extract(store, "case", RuleExtractor(results=True))
    assert claims(ledger) == ["fact.set", "fact.superseded"]
    assert values(store, ledger) == {"payment_iban": ("BB00222222", "tool")}


def test_a_correction_by_the_user_which_the_assistant_puts_into_words(store: Ledgers) -> None:
    """Both are kept: the user as who has the say, the assistant for the wording."""
    ledger = conversation(
        store,
        "Is it live?",
        "The note says live already.",
        "Wrong, it is only planned; check it.",
        "Correction: it is planned.",
    )
    said = [
        Candidate("note", "live", "The note says live", 2),
        Candidate("note", "planned", "it is only planned", 3, corrects=True),
        Candidate("note", "planned", "it is planned", 4),
    ]
    extract(store, "case", Says(said))
    assert claims(ledger) == ["fact.set", "fact.superseded", "fact.reaffirmed"]
    assert values(store, ledger) == {"note": ("planned", "user")}
    assert [step.turn for step in view(store, "case").explain("note").steps] == [2, 3, 4]


@pytest.mark.parametrize("corrects", [True, False])
def test_the_user_outweighs_what_was_inferred_and_needs_no_word_for_it(store: Ledgers, corrects: bool) -> None:
    ledger = conversation(store, "Hello", "The note is green.", "The note is blue")
    said = [Candidate("note", "green", "is green", 2), Candidate("note", "blue", "is blue", 3, corrects=corrects)]
    extract(store, "case", Says(said))
    assert (claims(ledger), values(store, ledger)) == (["fact.set", "fact.superseded"], {"note": ("blue", "user")})
