"""How people ask in Spanish to have something forgotten."""

from __future__ import annotations

from typing import Final

from ledger.forget_words.rules import Language, Rule

_THING: Final = (
    r"(?:direcci[oó]n(?:es)?|datos|n[uú]meros?|tel[eé]fonos?|m[oó]vil|celular|nombres?|apellidos?"
    r"|cumplea[nñ]os|fecha de nacimiento|edad"
    r"|correos?|e-?mails?|informaci[oó]n|tarjetas?|contrase[nñ]as?|clave|iban|cuenta bancaria"
    r"|pasaporte|dni|identidad|ubicaci[oó]n"
    r"|diagn[oó]sticos?|enfermedad|salario|sueldo|ingresos|historial|conversaci[oó]n(?:es)?"
    r"|mensajes?|fotos?|perfil|secretos?)\b(?!\.\w|_\w)"
)
_MINE: Final = rf"(?:tod[oa]s? )?(?:mis?|nuestr[oa]s?) (?:(?!(?:y|o|en|para|con|que)\b)[\w-]+ ){{0,3}}?{_THING}"
_THAT: Final = rf"(?:es[ea]|est[ea]|esos|esas|estos|estas) (?:[\w-]+ ){{0,2}}?{_THING}"
_SAID: Final = (
    r"(?:tod[oa] )?lo que (?:(?:te|le|os|les|yo|he|acabo de|te he|le he) ?){0,4}(?:dije"
    r"|dicho|cont[eé]|contado|escrib[ií]|escrito|decir"
    r"|decirte|di|dado|envi[eé]|compart[ií])\b"
)
_KNOWN: Final = (
    r"(?:todo |toda la informaci[oó]n |todos los datos )(?:lo )?(?:que (?:\w+ ){1,2}?)?(?:sobre"
    r"|de|acerca de) (?:m[ií]|nosotros)\b"
)
_MEMORY: Final = (
    r"de (?:tu|su|vuestra) (?:memoria|base de datos|historial)|de (?:tus|sus|vuestros) (?:registros"
    r"|archivos|notas|sistemas|expedientes)"
)
_ANY: Final = rf"(?:{_MINE}|{_THAT}|{_SAID}|{_KNOWN})"
_ORDER: Final = (
    r"(?P<verb>olvid(?:a|e|ad|en)|borr(?:a|e|ad|en)|elimin(?:a|e|ad|en)|suprim(?:e|a|id|an)|quit(?:a|e|ad|en)) "
    r"(?:(?:por favor|tambi[eé]n|ya|inmediatamente|completamente) ){0,2}"
)
_LEAD: Final = r"(?:^[¡¿]?|[,:;–—-] ?[¡¿]?|\b(?:favor,?|y|entonces|ahora|ya|pero|ok|luego|tambi[eé]n) )"
_ASK: Final = (
    r"(?P<verb>\b(?:(?:me )?(?:puedes|puede|podr[ií]as|podr[ií]a|pueden|debes|debe|tienes"
    r" que|tiene que)|(?:quiero|quisiera|solicito|pido"
    r"|exijo|deseo|necesito|gustar[ií]a)(?: que)?|por favor,?)) (?:olvid|borr|elimin|suprim|quit)\w+ "
)
_NOT: Final = r"\b(?:no|nunca|jam[aá]s|c[oó]mo|por qu[eé]|se me|he|ha|han|yo|siempre)\b"
SPANISH: Final = Language(
    "es",
    (
        "olvid",
        "borr",
        "elimin",
        "suprim",
        "quit",
        "guard",
        "record",
        "recuerd",
        "almacen",
        "registr",
        "conserv",
        "memori",
        "apunt",
    ),
    (
        Rule("mine", rf"{_LEAD}{_ORDER}{_ANY}", _NOT, r"^ (?:del|de la|en el|en la) (?!conversaci|memoria)"),
        Rule("mine", rf"{_ASK}{_ANY}", _NOT, r"^ (?:del|de la|en el|en la) (?!conversaci|memoria)"),
        Rule("mine", r"(?P<verb>\bderecho) al olvido\b"),
        Rule("memory", rf"{_LEAD}{_ORDER}(?:[^,;:]{{1,80}}? )?(?:{_MEMORY})", _NOT),
        Rule("memory", rf"{_ASK}(?:[^,;:]{{1,80}}? )?(?:{_MEMORY})", _NOT),
        Rule("memory", rf"{_LEAD}(?P<verb>olv[ií]da|olv[ií]de|b[oó]rra|b[oó]rre)me\b(?! (?:de|lo|la|el)\b)", _NOT),
        Rule(
            "not kept",
            r"(?P<verb>\b(?:no|nunca|jam[aá]s)) (?:quiero que )?(?:me )?(?:guard(?:es|e|en|ar)|recuerd(?:es"
            r"|e|en)|recordar|almacen(?:es|e|en"
            r"|ar)|registr(?:es|e|en|ar)|conserv(?:es|e|en|ar)|memoric(?:es|e|en)|memorizar|apunt(?:es|e|en)) "
            rf"{_ANY}",
            r"\b(?:yo|el|ella)\b",
        ),
    ),
)
"""The rules of Spanish."""
