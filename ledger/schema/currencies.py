"""Which currencies there are, and what their signs may mean. Pure data."""

from __future__ import annotations

import re
from typing import Final

CODES: Final = frozenset(
    re.findall(
        r"\w+",
        """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
        CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
        HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD
        MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN
        PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY
        TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
        """,
    )
)
"""The currencies of ISO 4217 in which people pay (2025): no funds, metals or codes for tests."""

SIGNS: Final[dict[str, tuple[str, ...]]] = {
    "€": ("EUR",),
    "£": ("GBP",),
    "₹": ("INR",),
    "¥": ("JPY", "CNY"),
    "元": ("CNY",),
    "円": ("JPY",),
    "₩": ("KRW",),
    "₽": ("RUB",),
    "₺": ("TRY",),
    "₫": ("VND",),
    "₪": ("ILS",),
    "₦": ("NGN",),
    "₱": ("PHP",),
    "₴": ("UAH",),
    "₸": ("KZT",),
    "฿": ("THB",),
    "zł": ("PLN",),
    "kč": ("CZK",),
    "kr": ("SEK", "NOK", "DKK", "ISK"),
    "rs": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "rs.": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "r$": ("BRL",),
    "$": ("USD", "AUD", "CAD", "HKD", "MXN", "NZD", "SGD", "TWD", "ARS", "CLP", "COP"),
    "us$": ("USD",),
    "a$": ("AUD",),
    "au$": ("AUD",),
    "c$": ("CAD",),
    "ca$": ("CAD",),
    "hk$": ("HKD",),
    "mx$": ("MXN",),
    "nz$": ("NZD",),
    "s$": ("SGD",),
    "nt$": ("TWD",),
}
"""The currencies that a sign may mean, in lower case; where it may be several, the schema has to say which."""
