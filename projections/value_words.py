"""Words beside a value that make another value of it: a scale, a minus, a currency, a part of the day. Pure data."""

from __future__ import annotations

import re
from typing import Final

SCALES: Final = frozenset(
    re.findall(
        r"\S+",
        """
        hundred hundreds thousand thousands million millions billion billions trillion dozen k m bn lakh lakhs crore crores
        hundert tausend millionen milliarde milliarden dutzend mil millón millones docena
        cent mille milliard milliards douzaine
        """,
    )
)
"""What multiplies the number that it follows, in English, German, Spanish and French."""

SCALE_CHARACTERS: Final = "十百千万萬亿億兆"
"""What multiplies the number that it follows, in Chinese and Japanese."""

MINUS: Final = frozenset(("minus", "negative", "moins", "menos", "负", "負"))
"""What makes the number that follows it a negative one."""

CURRENCY_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "dollar": ("USD", "AUD", "CAD", "HKD", "NZD", "SGD", "TWD"),
    "buck": ("USD", "AUD", "CAD", "NZD"),
    "cent": (),
    "euro": ("EUR",),
    "pound": ("GBP", "EGP"),
    "quid": ("GBP",),
    "sterling": ("GBP",),
    "pfund": ("GBP",),
    "libra": ("GBP",),
    "livre": ("GBP",),
    "rupee": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "rupie": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "rupien": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "rupia": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "roupie": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "paisa": (),
    "yen": ("JPY",),
    "yuan": ("CNY",),
    "renminbi": ("CNY",),
    "rmb": ("CNY",),
    "won": ("KRW",),
    "peso": ("MXN", "ARS", "CLP", "COP", "PHP", "UYU", "DOP", "CUP"),
    "real": ("BRL",),
    "reais": ("BRL",),
    "franc": ("CHF", "XAF", "XOF", "XPF"),
    "franken": ("CHF",),
    "krone": ("NOK", "DKK"),
    "kroner": ("NOK", "DKK"),
    "krona": ("SEK", "ISK"),
    "kronor": ("SEK",),
    "ruble": ("RUB",),
    "rouble": ("RUB",),
    "lira": ("TRY",),
    "zloty": ("PLN",),
    "dirham": ("AED", "MAD"),
    "shekel": ("ILS",),
    "baht": ("THB",),
}
"""What words for money may mean; an ``s`` at the end is left off first. Nothing: a part of a currency."""

CURRENCY_CHARACTERS: Final[dict[str, tuple[str, ...]]] = {
    "美元": ("USD",),
    "美金": ("USD",),
    "欧元": ("EUR",),
    "英镑": ("GBP",),
    "日元": ("JPY",),
    "卢比": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "韩元": ("KRW",),
    "港币": ("HKD",),
    "港元": ("HKD",),
    "人民币": ("CNY",),
    "元": ("CNY",),
    "块": ("CNY",),
    "円": ("JPY",),
    "ドル": ("USD",),
    "ユーロ": ("EUR",),
}
"""The same for words that no space parts from what follows."""

LATER_HALF: Final = frozenset(
    re.findall(
        r"\S+",
        """
        pm p.m p.m. afternoon evening night tonight midnight nachmittag nachmittags abend abends nacht nachts
        tarde noche soir après-midi nuit
        """,
    )
)
"""What says that a time by the clock of twelve hours is of the later half of the day, or that midnight is meant."""

EARLIER_HALF: Final = frozenset(["am", "a.m", "a.m.", "morning", "morgen", "morgens", "mañana", "madrugada", "matin"])
"""What says that twelve is midnight."""

LATER_CHARACTERS: Final = ("下午", "晚上", "傍晚", "夜里", "今晚", "中午", "午後", "夜")
EARLIER_CHARACTERS: Final = ("上午", "早上", "凌晨", "午前", "朝")
