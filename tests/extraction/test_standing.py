"""A value is the user's only where the user's words say it, read as its field declares it, and with what a quote cuts off."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any, Literal

import pytest

from ledger import Ledgers
from ledger.schema import Money, StateModel, declared, schema_of
from projections.extraction import Candidate, stands_in
from replay.extraction import extract
from tests.extraction.saying import Says, values


class Said(StateModel):
    """A field of every format."""

    amount: Money | None = declared(currencies=["INR"])
    free_amount: Money | None = None
    at: time | None = None
    on: date | None = declared(date_order="day_first")
    instant: datetime | None = None
    count: int | None = None
    share: float | None = None
    text: str | None = None
    order: str | None = declared(pattern=r"ORD-\d+")
    approved: bool | None = None
    paid_by: Literal["card", "credit card", "voucher"] | None = None
    means: Literal["卡", "信用卡"] | None = None
    anything: dict[str, Any] | None = None


def source(store: Ledgers, text: str, field: str, value: Any, quote: str) -> str:
    """What a value counts as that somebody claims to have read in a user's turn."""
    ledger = store.ledger("case", schema=Said)
    ledger.record_turn("user", text)
    extract(store, "case", Says([Candidate(field, value, quote, 1)]))
    return values(store, ledger)[field][1]


NOT_SAID = [
    ("It was 4,180 USD", "amount", "4,180 INR", "4,180 USD"),
    ("It was 4,180 USD", "amount", "4,180 INR", "4,180"),
    ("It was 4,180 USD", "amount", {"amount": 4180, "currency": "INR"}, "It was 4,180 USD"),
    ("It was $4,180", "amount", "4,180 INR", "4,180"),
    ("It was 4,180 (USD)", "amount", "4,180 INR", "4,180"),
    ("It was 4,180 US dollars", "amount", "4,180 INR", "4,180"),
    ("It was USD\n4,180", "amount", "4,180 INR", "4,180"),
    ("一共4180美元左右", "amount", "4180 INR", "4180"),
    ("It is 4,180 USD/month", "amount", "4,180 INR", "4,180"),
    ("Es sind 4,180 US-Dollar", "amount", "4,180 INR", "4,180"),
    ("It was 4 million INR", "amount", "4 INR", "4"),
    ("14,180 INR", "amount", "4,180 INR", "4,180 INR"),
    ("-4,180 INR", "amount", "4,180 INR", "4,180 INR"),
    ("\u22124,180 INR", "amount", "4,180 INR", "4,180 INR"),
    ("minus 4,180 INR", "amount", "4,180 INR", "4,180 INR"),
    ("-$5", "free_amount", "5 USD", "5"),
    ("all in USD - 4,180", "amount", "4,180 INR", "4,180"),
    ("at 9:15 pm", "at", "09:15", "9:15"),
    ("at 9:15 pm", "at", "09:15", "at 9:15 pm"),
    ("at 9:15pm", "at", "09:15", "9:15"),
    ("at 9:15 p.m. Thanks", "at", "09:15", "9:15"),
    ("at 19:15", "at", "9:15", "9:15"),
    ("at 9:15:30", "at", "9:15", "9:15"),
    ("5:30 in the evening", "at", "05:30", "5:30"),
    ("tonight at 5:30, please", "at", "05:30", "at 5:30"),
    ("um 5:30 abends", "at", "05:30", "um 5:30 abends"),
    ("下午5:30出发", "at", "05:30", "5:30"),
    ("12:15 in the morning", "at", "12:15", "12:15"),
    ("it is -5 degrees", "count", 5, "-5"),
    ("it is -5 degrees", "count", 5, "5"),
    ("it is minus 5 degrees", "count", 5, "5"),
    ("it is (-5)", "count", 5, "5"),
    ("1 234", "count", 234, "234"),
    ("1 234 pieces", "count", 1, "1"),
    ("2031-05-11", "count", 11, "2031-05-11"),
    ("2031-05-11", "count", 2031, "2031"),
    ("11-May-2031", "count", 11, "11"),
    ("COVID-19", "count", 19, "COVID-19"),
    ("COVID-19", "count", 19, "19"),
    ("Covid-19-test", "count", 19, "19"),
    ("4.5 stars", "count", 5, "5"),
    ("5 million people", "count", 5, "5"),
    ("我要5万个", "count", 5, "5"),
    ("for 2 1/2 hours", "count", 2, "2"),
    ("for 2 ½ hours", "count", 2, "2"),
    ("it is .5", "share", 5, ".5"),
    ("about 50%", "share", 50, "50"),
    ("ORD-882139", "order", "ORD-88213", "ORD-88213"),
    ("REORD-88213", "order", "ORD-88213", "ORD-88213"),
    ("discard it", "text", "card", "card"),
    ("discard it", "paid_by", "card", "card"),
    ("discard it", "paid_by", "card", "discard it"),
    ("by credit card", "paid_by", "card", "card"),
    ("用信用卡", "means", "卡", "卡"),
    ("no voucher-like things", "paid_by", "voucher", "voucher-like"),
    ("It was 4,180", "text", "4.180", "4,180"),
    ("It was 12.50", "text", "50", "12.50"),
    ("It was 12.50", "text", "50", "50"),
    ("at 9:15", "text", "15", "9:15"),
    ("11/05/2031", "text", "05", "11/05/2031"),
    ("1'234", "text", "234", "1'234"),
    ("it is -5", "text", "5", "5"),
    ("it is .5", "text", "5", ".5"),
    ("要15个", "text", "5个", "5个"),
    ("4,180", "anything", 180, "4,180"),
    ("no problem, go ahead and approve", "approved", False, "no problem, go ahead and approve"),
    ("no problem, go ahead and approve", "approved", False, "no"),
    ("is that a yes or a no?", "approved", True, "yes"),
    ("on 11 May 20311", "on", "2031-05-11", "11 May 2031"),
    ("on 21 May 2031", "on", "2031-05-01", "1 May 2031"),
    ("2031-05-11T09:00:00+02:00", "instant", "2031-05-11T09:00:00Z", "2031-05-11T09:00:00"),
]


@pytest.mark.parametrize(("text", "field", "value", "quote"), NOT_SAID)
def test_what_the_words_do_not_say_is_not_the_users(store: Ledgers, text: str, field: str, value: Any, quote: str) -> None:
    assert source(store, text, field, value, quote) == "inferred"


SAID = [
    ("It was 4,180 INR", "amount", "4180.00 INR", "4,180"),
    ("It was ₹4,180", "amount", "4,180 INR", "4,180"),
    ("It was ₹4,180", "amount", "4,180 INR", "₹4,180"),
    ("It was Rs. 4,180/- in all", "amount", "4,180 INR", "Rs. 4,180/-"),
    ("It was 4,180 rupees.", "amount", "4,180 INR", "4,180"),
    ("I paid 4,180 for it, USD are for tourists", "amount", "4,180 INR", "paid 4,180 for it"),
    ("4,180 INR/month", "amount", "4,180 INR", "4,180"),
    ("4,180 INR, 20 USD", "amount", "4,180 INR", "4,180 INR"),
    ("4,180 INR\u00a0and 20 USD", "free_amount", "20 USD", "4,180 INR\u00a0and 20 USD"),
    ("it is -$5 USD", "free_amount", "-5 USD", "-$5 USD"),
    ("no - 4,180 INR", "amount", "4,180 INR", "4,180 INR"),
    ("4180元", "free_amount", "4180 CNY", "4180元"),
    ("14,180 INR, so 4,180 INR too much", "amount", "4,180 INR", "4,180 INR"),
    ("at 9:15 pm", "at", "21:15", "9:15 pm"),
    ("at 9:15 p.m. Thanks", "at", "21:15", "9:15 p.m."),
    ("at 9:15. Good evening", "at", "09:15", "at 9:15"),
    ("at 17:30 in the evening", "at", "17:30", "17:30"),
    ("9:15 in the morning", "at", "09:15", "9:15"),
    ("12:15 in the afternoon", "at", "12:15", "12:15"),
    ("it is -5 degrees", "count", -5, "-5"),
    ("1 234 pieces", "count", 1234, "1 234"),
    ("a 4-star hotel", "count", 4, "4-star"),
    ("a 4-star hotel", "count", 4, "4"),
    ("a 10-year-old child", "count", 10, "a 10-year-old child"),
    ("for 5 people. 250 INR is too much", "count", 5, "5"),
    ("我要5个", "count", 5, "5"),
    ("**5** [6]", "count", 5, "**5**"),
    ("It is ORD-88213.", "order", "ORD-88213", "ORD-88213."),
    ("discard it, I pay by card", "paid_by", "Card", "card"),
    ("by credit card", "paid_by", "credit card", "by credit card"),
    ("用信用卡", "means", "信用卡", "信用卡"),
    ("It was 4,180.", "text", "4,180", "4,180."),
    ("Monday/Tuesday", "text", "Tuesday", "Tuesday"),
    ("吃娃娃菜这道菜", "text", "娃娃菜", "吃娃娃菜"),
    ("吃Pizza吧", "text", "pizza", "吃Pizza吧"),
    ("to king 's lynn", "text", "king's lynn", "king 's lynn"),
    ("im Su\u0308den", "text", "S\u00fcden", "Su\u0308den"),
    ("हिन्दी में", "text", "हिन्दी", "हिन्दी"),
    ("Yes! Go ahead", "approved", True, "Yes!"),
    ("no problem. Approved: no", "approved", False, "no"),
    ("on 11 May 2031, please", "on", "2031-05-11", "11 May 2031"),
    ("on 11/05/2031", "on", "2031-05-11", "11/05/2031"),
    ("2031-05-11T09:00:00+02:00.", "instant", "2031-05-11T07:00:00Z", "2031-05-11T09:00:00+02:00"),
]


@pytest.mark.parametrize(("text", "field", "value", "quote"), SAID)
def test_what_the_words_say_is_the_users(store: Ledgers, text: str, field: str, value: Any, quote: str) -> None:
    assert source(store, text, field, value, quote) == "user"


@pytest.mark.parametrize("text", ['{"a": "4180.00 INR", "n": 3}', "<td>4180 INR</td><td>3</td>", "a,4180 INR,b,3"])
def test_values_of_programs_are_words(text: str) -> None:
    schema = schema_of(Said)
    assert stands_in(text, "4,180 INR", schema.spec("amount"))
    assert stands_in(text, 3, schema.spec("count"))
