"""How people say that they put something right, by language. Pure data: regular expressions, looked for in any case."""

from __future__ import annotations

from typing import Final

INTERJECTIONS: Final[dict[str, str]] = {
    "English": r"no|nope|nah|no wait|no sorry|wait|sorry|oops|actually|rather|correction|wrong|final|scratch that|my mistake",
    "German": r"nein|nee|doch nicht|moment|halt|entschuldigung|korrektur|falsch|stimmt nicht|mein fehler",
    "Spanish": r"no|perdón|perdona|perdone|espera|corrección|mejor dicho|en realidad|me equivoqué|error mío",
    "French": r"non|pardon|attendez|attends|correction|en fait|plutôt|erreur de ma part|je me suis trompée?",
    "Chinese": r"不|不是|不对|不對|错了|錯了|等等|等一下|抱歉|对不起|更正",
}
"""What puts right only at the beginning of a sentence, before punctuation: "no, Fridays", not "there is no reason"."""

PHRASES: Final[dict[str, str]] = {
    "English": (
        r"\binstead\b|\brather than\b|\bi meant?\b|\bi(?:'d| would) rather\b|\bfrom now on\b|\bon second thoughts?\b|"
        r"\bi was wrong\b|\bi misspoke\b|\bthat(?:'s| is| was) (?:wrong|incorrect|not right)\b|\bcorrect that\b|"
        r"(?:^\W*|[,;:] *(?:and |but )?|\b(?:please|let's|to|actually) )(?:change|make) (?:it|that|the|my)\b|"
        r"^\W*(?:but )?actually\b|\bnot (?!only|just|much|sure|bad)(?:\S+ ){1,3}but\b"
    ),
    "German": (
        r"\bstattdessen\b|\b(?:an)?statt\b|\bich meinte?\b|\b(?:doch )lieber\b|\bab jetzt\b|\bab sofort\b|\bvon nun an\b|"
        r"\bvielmehr\b|\bich habe mich (?:geirrt|vertan)\b|\bdas (?:ist|war) falsch\b|\bnicht (?!nur)(?:\S+ ){1,3}sondern\b|"
        r"^\W*(?:bitte )?ändern?\b"
    ),
    "Spanish": (
        r"\ben (?:lugar|vez) de\b|\bmejor dicho\b|\bquise decir\b|\bquería decir\b|\bde ahora en adelante\b|"
        r"\ba partir de ahora\b|\bme equivoqué\b|\bno (?!solo|sólo)(?:\S+ ){1,3}sino\b|"
        r"^\W*(?:por favor,? )?(?:cambia|cambie|cámbialo|cámbielo)\b"
    ),
    "French": (
        r"\bau lieu d[e']|\bplutôt qu[e']|\bje voulais dire\b|\bdésormais\b|\bdorénavant\b|\bà partir de maintenant\b|"
        r"\bje me suis trompée?\b|\bnon pas (?:\S+ ){1,3}mais\b|^\W*changez?\b"
    ),
    "Chinese": r"改成|改为|改為|换成|換成|改到|我是说|我是說|我的意思是|而不是|说错了|說錯了|搞错了|从现在起|從現在起",
}
"""What puts right anywhere in a sentence that is no question."""

DENIALS: Final[dict[str, str]] = {
    "English": r"(?<!why )(?<!if )\b(?:not|never|instead of|rather than)(?: (?:on|at|in|by|for|from|to|of|the|an?))*",
    "German": r"\b(?:nicht|nie|statt|anstatt|anstelle von)(?: (?:am|um|im|in|an|für|von|vom|zu|der|die|das|den|dem))*",
    "Spanish": r"\b(?:y no|nunca|en vez de|en lugar de)(?: (?:el|la|los|las|a|en|por|para))*",
    "French": r"\b(?:pas|et non|jamais|au lieu de|plutôt que)(?: (?:le|la|les|à|en|pour|de))*",
    "Chinese": r"(?:不是|不要|别|別)",
}
"""What says of the value right after it that it is not meant: "4,050 INR, not 4,180 INR"."""

LEADS: Final = r"oh|ah|well|um|uh|hmm?|ok|okay|yes|but|and|so|ach|aber|ja|na|ay|pero|sí|mais|oui|euh|哦|啊|嗯"
"""What may stand before an interjection at the beginning of a sentence."""

THANKS: Final = r"thanks?|thank you|danke|gracias|merci|谢谢|謝謝|problem|worries"
"""What makes a refusal or a courtesy of the interjection that it follows."""
