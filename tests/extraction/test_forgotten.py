"""What was forgotten does not come back because somebody reads the conversation again."""

from __future__ import annotations

from ledger import Ledger, Ledgers, connect
from ledger.events import FactSet
from projections.extraction import Candidate
from projections.rule_extraction import RuleExtractor
from replay import view
from replay.extraction import extract
from tests.extraction.saying import OrderState, Says, claims, conversation, returned, values

IBAN = "Pay to IBAN DE00123456"


def reread(store: Ledgers, ledger: Ledger) -> None:
    """Every extractor reads everything again: under another name, and under another schema."""
    extract(store, "case", Says([Candidate("payment_iban", "DE00123456", IBAN, 1)], name="says/9"))
    schema = OrderState.ledger_schema()
    ledger.declare(schema.model_copy(update={"name": "Later"}))
    extract(store, "case", RuleExtractor())


def test_a_field_forgotten_by_its_name(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted.")
    extract(store, "case", RuleExtractor())
    ledger.forget(facts=["payment_iban"], reason="asked for")
    reread(store, ledger)
    assert values(store, ledger) == {}
    assert not any(isinstance(one.event, FactSet) for one in ledger.events())
    ledger.record_turn("user", "Pay to IBAN DE00654321 instead")
    extract(store, "case", RuleExtractor())
    assert values(store, ledger) == {"payment_iban": ("DE00654321", "user")}


def test_a_field_forgotten_before_anybody_read_it(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted.")
    ledger.set_fact("payment_iban", "DE00123456", source="interface")
    ledger.forget(facts=["payment_iban"], reason="asked for")
    version = ledger.version
    done = extract(store, "case", RuleExtractor())
    assert (done.refused, done.recorded) == (1, ())
    assert [one.event.type for one in ledger.events(after=version)] == ["extraction.recorded"]


def test_a_rejected_claim_about_a_forgotten_field(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted.")
    extract(store, "case", RuleExtractor())
    ledger.forget(facts=["payment_iban"], reason="asked for")
    version = ledger.version
    extract(store, "case", Says([Candidate("payment_iban", "DE00123456", "the IBAN DE00123456", 1)]))
    assert [one.event.type for one in ledger.events(after=version)] == ["extraction.recorded"]


def test_a_forgotten_claim(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted.")
    (claim,) = extract(store, "case", RuleExtractor()).recorded
    ledger.forget(ids=[f"v_{claim.version}"], reason="asked for")
    reread(store, ledger)
    assert values(store, ledger) == {}


def test_a_forgotten_turn(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted: IBAN DE00123456", "And deliver on Tuesdays")
    extract(store, "case", RuleExtractor())
    ledger.forget(turns=[1], reason="asked for")
    asked = Says([Candidate("payment_iban", "DE00123456", IBAN, 1), Candidate("payment_iban", "[forgotten]", "[forgotten]", 1)])
    extract(store, "case", asked)
    assert asked.read == [(2, 3)]
    assert values(store, ledger) == {"delivery_day": ("Tuesdays", "user")}
    assert "fact.set" in claims(ledger)


def test_a_forgotten_result(store: Ledgers) -> None:
    ledger = conversation(store, "Which IBAN?")
    result = returned(ledger, "IBAN XX00999999")
    extract(store, "case", RuleExtractor(results=True))
    ledger.forget(ids=[result], reason="asked for")
    mark = Candidate("note", "[forgotten]", "[forgotten]", 2, result=result)
    extract(store, "case", Says([mark, Candidate("payment_iban", "XX00999999", "IBAN XX00999999", 2, result=result)]))
    assert values(store, ledger) == {}
    assert not view(store, "case").transcript().turns[1].returns[0].text.startswith("IBAN")


def test_a_turn_that_is_forgotten_while_an_extractor_thinks(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted.", "And deliver on Tuesdays")

    def meanwhile(turns: object) -> list[Candidate]:
        ledger.forget(turns=[1], reason="asked for")
        return [Candidate("payment_iban", "DE00123456", IBAN, 1), Candidate("delivery_day", "Tuesdays", "Tuesdays", 3)]

    assert extract(store, "case", Says(meanwhile)).refused == 1
    assert values(store, ledger) == {"delivery_day": ("Tuesdays", "user")}


def test_a_claim_that_is_forgotten_while_an_extractor_thinks(store: Ledgers) -> None:
    ledger = conversation(store, IBAN, "Noted.")
    extract(store, "case", RuleExtractor())

    def meanwhile(turns: object) -> list[Candidate]:
        ledger.forget(facts=["payment_iban"], reason="asked for")
        return [Candidate("payment_iban", "DE00123456", IBAN, 1)]

    assert extract(store, "case", Says(meanwhile)).refused == 1
    assert values(store, ledger) == {}


def test_a_claim_that_is_past_its_retention() -> None:
    now = [1_900_000_000_000_000]
    with connect(":memory:", clock=lambda: now[0]) as store:
        ledger = conversation(store, IBAN, "Noted.")
        ledger.set_retention("30 days", section="entities")
        extract(store, "case", RuleExtractor())
        now[0] += 31 * 86_400_000_000
        reread(store, ledger)
        assert values(store, ledger) == {}
        store.retain()
        reread(store, ledger)
        extract(store, "case", Says([Candidate("payment_iban", "DE00123456", "DE00123456", 1)], name="says/10"))
        assert values(store, ledger) == {}
        assert [turn.text for turn in view(store, "case").transcript().turns][:1] == [IBAN]
