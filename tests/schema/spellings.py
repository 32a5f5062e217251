"""What people write and what it means: one table a format. A meaning is JSON; ``no("rule")`` is a value that is refused."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Refusal(NamedTuple):
    """The rule that a value breaks."""

    rule: str


def no(rule: str) -> Refusal:
    """A value that is refused because of a rule."""
    return Refusal(rule)


Table = dict[str, Any]
"""From the JSON of a value to the JSON of its meaning, or to what refuses it."""


def amounts(table: dict[str, str | Refusal]) -> Table:
    """A table of texts that name an amount and a currency, such as "4180 INR"."""
    return {
        f'"{text}"': meant if isinstance(meant, Refusal) else {"amount": meant.split()[0], "currency": meant.split()[1]}
        for text, meant in table.items()
    }


def texts(table: dict[str, Any]) -> Table:
    """A table of plain texts."""
    return {f'"{text}"': meant for text, meant in table.items()}


NUMBERS: Final = {
    **texts(
        {
            "0": "0", "7": "7", "007": "7", "4180": "4180", "4,180": "4180", "4,180.00": "4180", "4180.50": "4180.5",
            "1,234.5": "1234.5", "1.234,5": "1234.5", "1 234,5": "1234.5", "1\u00a0234,5": "1234.5", "1\u202f234": "1234",
            "1\u2009234\u2009567,5": "1234567.5", "1'234": "1234", "1'234'567.89": "1234567.89", "1\u2019234.5": "1234.5",
            "1,23,456": "123456", "12,34,567.5": "1234567.5", "1,234,567": "1234567", "1.234.567": "1234567",
            "1.234.567,89": "1234567.89", "1 234 567.89": "1234567.89", "12,34": "12.34", "0,5": "0.5", "0,500": "0.5",
            "0.500": "0.5", "0.1234": "0.1234", "1,2345": "1.2345", "1234,567": "1234.567", "1234.567": "1234.567",
            "-5": "-5", "+5": "5", "\u22125": "-5", "-1,234.5": "-1234.5", "-0": "0", "-0.00": "0", "  42\\t": "42",
            "٣": "3", "٤٬١٨٠": no("number"), "٤,١٨٠": "4180", "१२": "12", "４１８０": "4180",
            "1.234": no("ambiguous"), "12.345": no("ambiguous"), "123.456": no("ambiguous"), "-1.234": no("ambiguous"),
            "0.123": "0.123", "00.123": no("ambiguous"), "00,123": no("number"), "012,345": no("number"),
            "1 2 3": no("number"), "12 34": no("number"), "4 5": no("number"), "12 34 56": no("number"),
            "1 23 456": no("number"), "1'23": no("number"), "1,2,3": no("number"), "1,234,56": no("number"),
            "1.2.3": no("number"), "1,234.567.8": no("number"), "1,234.5.6": no("number"), "1.234,567,8": no("number"),
            "12.34,5": no("number"), "1 234,567.8": no("number"), "1 234'567": no("number"), "1,234 567": no("number"),
            "1,,234": no("number"), "1..5": no("number"), "1  234": no("number"), "1e5": no("number"),
            "1_000": no("number"),
            "0x10": no("number"), ".5": no("number"), "5.": no("number"), "1,": no("number"), ",1": no("number"),
            "-": no("number"), "--5": no("number"), "+-5": no("number"), "- 5": no("number"), "5-": no("number"),
            "": no("number"), " ": no("number"), "NaN": no("number"), "inf": no("number"), "-Infinity": no("number"),
            "four": no("number"), "4180 INR": no("number"), "4-5": no("number"), "½": no("number"), "²": no("number"),
            "(5)": no("number"), "5%": no("number"), "1,234\u200b": no("number"), "1/2": no("number"),
            "9" * 60: "9" * 60, "9" * 61: no("number"), "1" + "0" * 70: no("number"), "1" * 201: no("length"),
            "1234567890123456.78": "1234567890123456.78", "0.30000000000000004": "0.30000000000000004",
        }
    ),
    "0": "0", "-0": "0", "-0.0": "0", "1e5": "100000", "1E+5": "100000", "1e-3": "0.001", "4050.10": "4050.1",
    "12.50e1": "125",
    "1234567890123456.78": "1234567890123456.78", "1e59": "1" + "0" * 59, "1e60": no("number"),
    "1e-60": "0." + "0" * 59 + "1", "1e-61": no("number"), "1e999999": no("number"),
    "1e-999999": no("number"), "1e99999999999999999999": no("number"), "9" * 5000: no("number"),
    "true": no("number"), "false": no("number"), "null": no("number"), "[1]": no("number"), "{}": no("number"),
    '{"amount":1}': no("number"),
}  # fmt: skip

WHOLE_NUMBERS: Final = {
    "4": "4", "4.0": "4", '"4,180"': "4180", '"4.00"': "4", "4.5": no("whole"), '"4.5"': no("whole"), "1e2": "100",
    '"1"': "1", "0": no("least"), "-3": no("least"), '"0.0"': no("least"), "1000000": "1000000", "1000001": no("most"),
}  # fmt: skip

MONEY: Final = {
    **amounts(
        {
            "4,180 INR": "4180 INR", "4180.00 INR": "4180 INR", "4180 inr": "4180 INR", "INR 4,180": "4180 INR",
            "inr4180": "4180 INR", "4180INR": "4180 INR", "₹4,180": "4180 INR", "₹ 4180.00": "4180 INR",
            "4180₹": "4180 INR",
            "₹4,180 INR": "4180 INR", "INR ₹4,180": no("currency"), "1,23,456 INR": "123456 INR",
            "  4180  INR ": "4180 INR",
            "4 180,50 EUR": "4180.5 EUR", "4.180,50 €": "4180.5 EUR", "€4,180.50": "4180.5 EUR", "£5": "5 GBP",
            "£0.99": "0.99 GBP", "US$5": "5 USD", "us$ 5": "5 USD", "A$5": "5 AUD", "HK$ 5": "5 HKD", "5 zł": "5 PLN",
            "$5 USD": "5 USD", "$5.00 CAD": "5 CAD", "USD 5": "5 USD", "-5 USD": "-5 USD", "-$5 USD": "-5 USD",
            "USD -5": "-5 USD",
            "\u22125 EUR": "-5 EUR", "-€5": "-5 EUR", "€-5": "-5 EUR", "+5 EUR": "5 EUR", "¥500 JPY": "500 JPY",
            "500円": "500 JPY",
            "1.2345 KWD": "1.2345 KWD", "1,234 KWD": "1234 KWD", "KWD 0.125": "0.125 KWD", "0 INR": "0 INR",
            "-0 INR": "0 INR",
            "5 XOF": "5 XOF", "1234567890123456.78 INR": "1234567890123456.78 INR", "4,180/- INR": no("currency"),
            "INR 4,180/-": "4180 INR", "٤١٨٠ INR": "4180 INR",
            "4.180 INR": no("ambiguous"), "1.234 KWD": no("ambiguous"), "€1.234": no("ambiguous"),
            "$5": no("ambiguous"), "¥500": no("ambiguous"), "5 kr": no("ambiguous"), "Rs. 500": no("ambiguous"),
            "rs 500": no("ambiguous"), "4180": no("currency"), "5 ABC": no("currency"), "5 day": no("currency"),
            "12 pcs": no("currency"), "for 5": no("currency"), "5 INRX": no("currency"), "5 rupees": no("currency"),
            "between 4 and 5 INR": no("currency"), "4 and 5 INR": no("currency"), "2-5 INR": no("currency"),
            "4 to 5 INR": no("currency"), "INR 4 or 5": no("currency"), "about 5 INR": no("currency"),
            "5 INR?": no("currency"),
            "4 5 INR": no("number"), "12 34 INR": no("number"), "1,2 3 INR": no("number"), "5 INR 6": no("currency"),
            "5 INR USD": no("currency"), "INR 5 USD": no("currency"), "₹5 USD": no("currency"), "€5 £": no("currency"),
            "INR": no("money"), "": no("money"), "₹": no("money"), "nothing": no("money"), "A4 INR": no("currency"),
            "1e5 INR": no("currency"), "NaN INR": no("money"), "5" * 201: no("length"), "9" * 61 + " INR": no("number"),
        }
    ),
    '{"amount":4180,"currency":"INR"}': {"amount": "4180", "currency": "INR"},
    '{"currency":"inr","amount":"4180.00"}': {"amount": "4180", "currency": "INR"},
    '{"amount":"4,180","currency":"₹"}': {"amount": "4180", "currency": "INR"},
    '{"amount":"1.234","currency":"KWD"}': {"amount": "1.234", "currency": "KWD"},
    '{"amount":1.234,"currency":"KWD"}': {"amount": "1.234", "currency": "KWD"},
    '{"amount":"1.234,5","currency":"EUR"}': {"amount": "1234.5", "currency": "EUR"},
    '{"amount":-5,"currency":"EUR"}': {"amount": "-5", "currency": "EUR"},
    '{"amount":true,"currency":"EUR"}': no("number"), '{"amount":null,"currency":"EUR"}': no("number"),
    '{"amount":[5],"currency":"EUR"}': no("number"), '{"amount":"five","currency":"EUR"}': no("number"),
    '{"amount":5,"currency":""}': no("currency"), '{"amount":5,"currency":null}': no("currency"),
    '{"amount":5,"currency":5}': no("currency"), '{"amount":5,"currency":["EUR"]}': no("currency"),
    '{"amount":5}': no("money"), '{"amount":5,"currency":"EUR","tax":1}': no("money"), "{}": no("money"),
    "4180": no("currency"), "true": no("money"), "null": no("money"), '["4180 INR"]': no("money"),
}  # fmt: skip

RUPEES: Final = {
    **amounts(
        {
            "4180": "4180 INR", "4,180": "4180 INR", "Rs. 500": "500 INR", "Rs.500": "500 INR", "rs 500": "500 INR",
            "Rs. 500/-": "500 INR", "RS500": "500 INR", "INR 500": "500 INR", "500 USD": no("currency"),
            "$5": no("currency"),
            "€5": no("currency"), "1.234": no("ambiguous"),
        }
    ),
    "4180": {"amount": "4180", "currency": "INR"}, "4180.50": {"amount": "4180.5", "currency": "INR"},
    '{"amount":5,"currency":"USD"}': no("currency"), '{"amount":5,"currency":"rs."}': {"amount": "5", "currency": "INR"},
}  # fmt: skip

AMERICAN_AND_CANADIAN: Final = amounts(
    {
        "5 USD": "5 USD", "5 cad": "5 CAD", "C$5": "5 CAD", "US$ 5": "5 USD", "$5": no("ambiguous"), "$5 USD": "5 USD",
        "5": no("currency"), "A$5": no("currency"), "5 INR": no("currency"),
    }
)  # fmt: skip

AMERICAN_AND_EUROPEAN: Final = amounts({"$5": "5 USD", "€5": "5 EUR", "5": no("currency"), "£5": no("currency")})

A_TOKEN: Final = amounts({"5 usdc": "5 USDC", "USDC 5": "5 USDC", "5": "5 USDC", "5 USD": no("currency")})

DATES: Final = {
    **texts(
        {
            "2031-05-11": "2031-05-11", "2031-5-1": "2031-05-01", "2031/05/11": "2031-05-11", "2031.5.11": "2031-05-11",
            " 2031-05-11 ": "2031-05-11", "11 May 2031": "2031-05-11", "11 may 2031": "2031-05-11",
            "11 MAY 2031": "2031-05-11",
            "May 11, 2031": "2031-05-11", "May 11 2031": "2031-05-11", "11th May 2031": "2031-05-11",
            "1st of May 2031": "2031-05-01",
            "11th of May, 2031": "2031-05-11", "11-May-2031": "2031-05-11", "Sept 3rd, 2031": "2031-09-03",
            "3 Sep. 2031": "2031-09-03",
            "3  sep  2031": "2031-09-03", "22nd february 2031": "2031-02-22", "Dec. 25, 2031": "2031-12-25",
            "2028-02-29": "2028-02-29",
            "25/12/2031": "2031-12-25", "12/25/2031": "2031-12-25", "25.12.2031": "2031-12-25", "25-12-2031": "2031-12-25",
            "11/11/2031": "2031-11-11", "٢٠٣١-٠٥-١١": "2031-05-11",
            "11/05/2031": no("ambiguous"), "05/11/2031": no("ambiguous"), "1.2.2031": no("ambiguous"),
            "11-05-2031": no("ambiguous"),
            "2027-02-29": no("date"), "29 February 2027": no("date"), "29/02/2027": no("date"), "31 April 2031": no("date"),
            "2031-13-01": no("date"), "2031-00-10": no("date"), "2031-01-00": no("date"), "0000-01-01": no("date"),
            "13/13/2031": no("date"), "32/01/2031": no("date"), "0/1/2031": no("ambiguous"), "00/13/2031": no("date"),
            "11/05/31": no("date"), "31-05-11": no("date"), "11 May 31": no("date"), "11 May": no("date"),
            "May 2031": no("date"),
            "20310511": no("date"), "2031-05-11T00:00:00": no("date"), "2031-05/11": no("date"), "11/05.2031": no("date"),
            "11 junk 2031": no("date"), "11 mayo 2031": no("date"), "11 ma 2031": no("date"), "tomorrow": no("date"),
            "": no("date"),
            "12031-05-11": no("date"), "2031-05-11 or 2031-05-12": no("date"), "2" * 200: no("date"),
        }
    ),
    "20310511": no("date"), "null": no("date"), "true": no("date"), "[2031,5,11]": no("date"),
}  # fmt: skip

DAYS_FIRST: Final = texts(
    {
        "11/05/2031": "2031-05-11", "1.2.2031": "2031-02-01", "11-05-2031": "2031-05-11", "25/12/2031": "2031-12-25",
        "12/25/2031": no("date"), "2031-05-11": "2031-05-11", "2031/05/11": "2031-05-11", "May 11, 2031": "2031-05-11",
    }
)  # fmt: skip

MONTHS_FIRST: Final = texts(
    {
        "11/05/2031": "2031-11-05", "1.2.2031": "2031-01-02", "12/25/2031": "2031-12-25", "25/12/2031": no("date"),
        "2031-05-11": "2031-05-11", "2031/05/11": "2031-05-11", "11 May 2031": "2031-05-11",
    }
)  # fmt: skip

TIMES: Final = {
    **texts(
        {
            "09:15": "09:15", "9:15": "09:15", "9.15": "09:15", "9h15": "09:15", "21:15": "21:15", "9:15 pm": "21:15",
            "9:15pm": "21:15", "9:15  PM": "21:15", "9:15 p.m.": "21:15", "9 am": "09:00", "9pm": "21:00", "12 am": "00:00",
            "12 pm": "12:00", "12:30 am": "00:30", "12:30 p.m.": "12:30", "00:00": "00:00", "23:59:59": "23:59:59",
            "9:15:00": "09:15", "9:15:30 pm": "21:15:30", " 09:15 ": "09:15", "٠٩:١٥": "09:15",
            "24:00": no("time"), "25:00": no("time"), "9:60": no("time"), "9:15:60": no("time"), "13 pm": no("time"),
            "13:00 pm": no("time"), "0 am": no("time"), "9": no("time"), "21": no("time"), "915": no("time"),
            "9:5": no("time"),
            "-9:15": no("time"), "9:15 xm": no("time"), "noon": no("time"), "": no("time"), "09:15+02:00": no("time"),
            "9:15 or 9:30": no("time"), "9:15:30.5": no("time"), "9" * 101: no("time"),
        }
    ),
    "9": no("time"), "9.15": no("time"), "null": no("time"), "false": no("time"),
}  # fmt: skip

INSTANTS: Final = {
    **texts(
        {
            "2031-05-11T09:00:00+02:00": "2031-05-11T07:00:00+00:00", "2031-05-11T07:00:00Z": "2031-05-11T07:00:00+00:00",
            "2031-05-11t07:00:00z": "2031-05-11T07:00:00+00:00", "2031-05-11 07:00+00:00": "2031-05-11T07:00:00+00:00",
            "2031-05-11T23:30:00-05:30": "2031-05-12T05:00:00+00:00",
            "2031-05-11T07:00:00.250Z": "2031-05-11T07:00:00.250000+00:00",
            " 2031-05-11T07:00:00Z ": "2031-05-11T07:00:00+00:00",
            "2031-05-11T09:00:00": no("zone"), "2031-05-11": no("zone"), "2031-05-11 09:00": no("zone"),
            "0001-01-01T00:00:00+10:00": no("datetime"), "9999-12-31T23:59:59-10:00": no("datetime"),
            "2031-02-29T00:00:00Z": no("datetime"), "2031-05-11T25:00:00Z": no("datetime"),
            "2031-05-11T07:00:00+25:00": no("datetime"),
            "now": no("datetime"), "": no("datetime"), "1936249200": no("datetime"), "２０３１-05-11T07:00:00Z": no("datetime"),
            "\ud800": no("datetime"),
        }
    ),
    "1936249200": no("datetime"), "null": no("datetime"),
}  # fmt: skip

EMAILS: Final = {
    **texts(
        {
            "ada@example.org": "ada@example.org", " Ada@Example.ORG ": "Ada@example.org",
            "a.b+c@x-y.example": "a.b+c@x-y.example",
            "ada@mail.example.org": "ada@mail.example.org", "ädä@exämple.org": "ädä@exämple.org",
            "ada": no("email"), "ada@": no("email"), "@example.org": no("email"), "ada@example": no("email"),
            "a@b.c": no("email"),
            "a b@example.org": no("email"), "ada@exa mple.org": no("email"), "ada@example..org": no("email"),
            "ada@.org": no("email"),
            "ada@example.org.": no("email"), "a@b@example.org": no("email"), "Ada <ada@example.org>": no("email"),
            "mailto:ada@example.org": no("email"), "a@example.org, b@example.org": no("email"), "": no("email"),
            "a-@b-c.de": "a-@b-c.de", "a@xn--exmple-cua.org": "a@xn--exmple-cua.org", "a@1.2.example": "a@1.2.example",
            "a@-.de": no("email"), "a@-b.de": no("email"), "a@b-.de": no("email"), "a@b.-de": no("email"),
            "a@b.de-": no("email"), "a@c.b-.de": no("email"), "a@--.de": no("email"),
            "a\\u0000@b.de": no("email"), "a\\u001b@b.de": no("email"), "a\u007f@b.de": no("email"),
            "a\u009b@b.de": no("email"), "\u202ea@b.de": no("email"), "a@b\u202e.de": no("email"),
            "\u200ba@b.de": no("email"), "a@b.de\u200b": no("email"), "a@b\u200d.de": no("email"),
            "a\u00ad@b.de": no("email"), "a\u2060@b.de": no("email"), "\ufeffa@b.de": no("email"),
            "a\u2066@b.de": no("email"), "a\u3164@b.de": no("email"), "a\ufe0f@b.de": no("email"),
            "a\U000e0041@b.de": no("email"), "a\u2800@b.de": no("email"), "a\u0600@b.de": no("email"),
            "a\\ud800@b.de": no("email"),
        }
    ),
    "5": no("email"), "null": no("email"), '["ada@example.org"]': no("email"),
}  # fmt: skip

CHOICES: Final = {
    **texts(
        {
            "card": "Card", "CARD": "Card", " Card ": "Card", "bank transfer": "bank transfer",
            "Bank Transfer": "bank transfer",
            "STRASSE": "Straße", "straße": "Straße", "o\u0308l": "öl", "no": "no", "NO": "NO", "No": no("ambiguous"),
            "cash": no("choice"), "": no("choice"), "car": no("choice"), "card,": no("choice"),
            "bank  transfer": no("choice"),
        }
    ),
    "1": no("choice"), "null": no("choice"), "true": no("choice"), '["Card"]': no("choice"), "{}": no("choice"),
}  # fmt: skip

YES_NO: Final = {
    "true": True, "false": False, '"true"': True, '"True"': True, '"FALSE"': False, '"yes"': True, '" No "': False,
    "1": no("boolean"), "0": no("boolean"), "null": no("boolean"), '"1"': no("boolean"), '"y"': no("boolean"),
    '"maybe"': no("boolean"), '""': no("boolean"), "[true]": no("boolean"),
}  # fmt: skip

ORDERS: Final = {
    **texts(
        {
            "ORD-88213": "ORD-88213", " ORD-88213\n".replace("\n", "\\n"): "ORD-88213", "ORD-1": "ORD-1",
            "ORD-": no("pattern"),
            "ord-88213": no("pattern"), "xORD-88213": no("pattern"), "ORD-88213x": no("pattern"),
            "ORD-1\\nORD-2": no("pattern"),
            "see ORD-88213": no("pattern"), "": no("text"), "  ": no("text"), "ORD-" + "1" * 996: "ORD-" + "1" * 996,
            "ORD-" + "1" * 997: no("length"),
        }
    ),
    "88213": no("text"), "null": no("text"), "true": no("text"), '["ORD-88213"]': no("text"), "{}": no("text"),
}  # fmt: skip

SHORT_TEXTS: Final = texts(
    {
        "abcde": "abcde", "  abcde  ": "abcde", "abcdef": no("length"), "ééééé": "ééééé", "e\u0301" * 5: "é" * 5,
        "𝒳𝒳𝒳𝒳𝒳": "𝒳𝒳𝒳𝒳𝒳",
        "a\\u0000": "a\0", "\\ud800": "\ud800", "a\u200b": "a\u200b", "\u2764\ufe0f": "\u2764\ufe0f", "\u0600": "\u0600",
        "\u00a0": no("text"), "\u200b": no("text"), "\u200b \ufeff": no("text"), "\\u0000": no("text"), "\u202e": no("text"),
        "\u00ad": no("text"), "\u2060": no("text"), "\u3164": no("text"), "\uffa0": no("text"), "\u115f": no("text"),
        "\u2800": no("text"), "\u180e": no("text"), "\ufe0f": no("text"), "\U000e0041": no("text"), "\U0001d173": no("text"),
        "\u009b": no("text"), "\u034f": no("text"), "\ufff9": no("text"),
    }
)  # fmt: skip

TABLES: Final[dict[str, tuple[dict[str, Any], Table]]] = {
    "numbers": ({"kind": "number"}, NUMBERS),
    "whole numbers from 1 to a million": ({"kind": "number", "whole": True, "least": 1, "most": 1_000_000}, WHOLE_NUMBERS),
    "money": ({"kind": "money"}, MONEY),
    "rupees": ({"kind": "money", "currencies": ["inr"]}, RUPEES),
    "two dollars": ({"kind": "money", "currencies": ["USD", "CAD"]}, AMERICAN_AND_CANADIAN),
    "dollars and euros": ({"kind": "money", "currencies": ["USD", "EUR"]}, AMERICAN_AND_EUROPEAN),
    "a token": ({"kind": "money", "currencies": ["USDC"]}, A_TOKEN),
    "dates": ({"kind": "date"}, DATES),
    "dates, day first": ({"kind": "date", "order": "day_first"}, DAYS_FIRST),
    "dates, month first": ({"kind": "date", "order": "month_first"}, MONTHS_FIRST),
    "times": ({"kind": "time"}, TIMES),
    "instants": ({"kind": "datetime"}, INSTANTS),
    "e-mail": ({"kind": "email"}, EMAILS),
    "choice": ({"kind": "choice", "values": ["Card", "bank transfer", "Straße", "öl", "no", "NO"]}, CHOICES),
    "yes or no": ({"kind": "boolean"}, YES_NO),
    "order numbers": ({"kind": "text", "pattern": "ORD-\\d+"}, ORDERS),
    "short texts": ({"kind": "text", "most_characters": 5}, SHORT_TEXTS),
}
"""The format, and what values mean in it."""

CASES: Final = [(name, value) for name, (_, table) in TABLES.items() for value in table]
