"""How people ask in German to have something forgotten."""

from __future__ import annotations

from typing import Final

from ledger.forget_words.rules import Language, Rule

_THING: Final = (
    r"[\w-]*(?:adressen?|anschrift|daten|nummern?|namen?|namens|geburtstag|geburtsort|e-?mails?"
    r"|mail|telefon|handy|angaben|passwort"
    r"|passwörter|kennwort|konto|iban|karte|ausweis|pass|alter|wohnort|standort|diagnosen?"
    r"|krankheit|gehalt|einkommen|verlauf|chats?"
    r"|nachrichten|fotos?|bilder|profil|informationen|infos?|geheimnis)\b(?!\.\w|[_-]\w)"
)
_MINE: Final = (
    r"(?:alle? |all |sämtliche |die |das )?(?:mein|unser)(?:e[nrms]?)? (?:(?!und|oder|in"
    rf"|aus|von|im|nicht)[\w-]+ ){{0,3}}?{_THING}"
)
_THAT: Final = rf"(?:diese[nrs]?|dieses) (?:[\w-]+ ){{0,2}}?{_THING}"
_SAID: Final = (
    r"(?:alles,? |das,? )?was ich (?:(?:dir|ihnen|euch|hier|gerade|eben|vorhin|über [\w"
    r" ]{1,30}?|zu [\w ]{1,30}?) ){0,3}(?:gesagt|erzählt"
    r"|geschrieben|genannt|mitgeteilt|anvertraut|geschickt)"
)
_KNOWN: Final = (
    r"(?:alles,? (?:was (?:du|sie|ihr) )?|die (?:daten|informationen)(?:,? die (?:du|sie"
    r"|ihr))? )(?:über|von) (?:mich|mir|uns)\b"
)
_TALK: Final = (
    r"(?:diese[sn]?|unser(?:e[ns]?)?|das ganze|den ganzen|die ganze) (?:\w+ )?(?:gesprächs?"
    r"|unterhaltung|chats?(?:verlauf)?|konversation|gesprächsverlauf)\b"
)
_MEMORY: Final = (
    r"(?:aus|in) (?:dein|ihr|eur)e[mnr] (?:gedächtnis|speicher|aufzeichnungen|unterlagen"
    r"|protokollen?|notizen|akten|systemen?"
    r"|datenbank|verlauf)\b"
)
_ANY: Final = rf"(?:{_MINE}|{_THAT}|{_SAID}|{_KNOWN}|{_TALK})"
_LEAD: Final = (
    r"(?:^|[,:;–—-] ?|\b(?:bitte|und|also|dann|jetzt|nun|ja|nein|ok|okay|oder|aber|so) )(?:(?:bitte"
    r"|sofort|jetzt|auch|dann|wieder) ){0,3}"
)
_ORDER: Final = (
    r"(?P<verb>vergiss|vergesst|vergessen sie|lösch(?:e|t|en sie)?|entfern(?:e|t|en sie)?"
    r"|tilg(?:e|en sie)|streich(?:e|en sie)?"
    r"|radier(?:e|en sie)|vernichte|vernichten sie) (?:(?:bitte|sofort|jetzt|wieder|endgültig|auch|einfach) ){0,3}"
)
_ASK: Final = (
    r"\b(?P<verb>bitte|kannst du|könntest du|können sie|könnten sie|würdest du|würden sie"
    r"|du sollst|sie sollen|du sollest|möchte"
    r"|will|wünsche|verlange|bestehe darauf)\b"
)
_NOT: Final = r"\b(?:nicht|nie|niemals|nichts|warum|wie|wieso|haben|habe|hast|hat)\b"
_KEEP: Final = (
    r"(?:speicher[ent]*(?: sie)?|merk(?:e|t|en sie)? (?:dir|sich|euch)|behalte?(?:n sie)?"
    r"|notier(?:e|t|en sie)?|bewahre?(?:n sie)?"
    r"|protokollier(?:e|en sie))"
)
GERMAN: Final = Language(
    "de",
    (
        "vergiss",
        "vergess",
        "lösch",
        "entfern",
        "tilg",
        "streich",
        "radier",
        "vernicht",
        "speicher",
        "merk",
        "behalt",
        "notier",
        "bewahr",
        "protokollier",
    ),
    (
        Rule("mine", rf"{_LEAD}{_ORDER}{_ANY}", _NOT, r"^(?: [\w-]+){0,4} nicht\b|^ (?:aus|in|im|von) (?!dein|ihr|eur)"),
        Rule(
            "mine",
            rf"{_ASK},? (?:(?!nicht|nie)[\w,]+ ){{0,5}}?{_ANY}(?: (?!nicht|nie|niemals)[\w,-]+){{0,4}}?"
            r" (?:zu )?(?:vergessen"
            r"|löschen|entfernen|tilgen|gelöscht|entfernt|vergisst|löschst|vergesst|löscht)\b",
            _NOT,
        ),
        Rule("mine", rf"{_ASK},? (?:(?!nicht|nie)\w+ ){{0,3}}?(?:vergessen|löschen|entfernen),? {_ANY}", _NOT),
        Rule("memory", (rf"(?P<verb>)\b(?:lösch|entfern|streich|vergess|vergiss)[^,;:]{{1,80}} {_MEMORY}"), _NOT, r"^ nicht\b"),
        Rule("memory", rf"{_MEMORY}(?P<verb>) (?:zu )?(?:löschen|entfernen|streichen)", _NOT),
        Rule(
            "memory",
            r"(?:^|\b(?:bitte|und) )(?P<verb>vergiss|vergessen sie|lösche?|löschen sie) (?:alles"
            r" (?:über|von) )?(?:mich|mir|"
            r"dein gedächtnis|ihr gedächtnis)\b(?! nicht)",
        ),
        Rule(
            "not kept",
            rf"(?:^|[,:;] ?|\b(?:bitte|und|also) )(?P<verb>){_KEEP} (?:(?:bitte|auf keinen fall) ){{0,2}}{_ANY}"
            r"(?: [\w-]+){0,4}? (?:nicht|nie|niemals|auf keinen fall)\b",
        ),
        Rule(
            "not kept",
            r"(?:\b(?P<verb>bitte|möchte|will|sollst|sollen|dürfen|darfst|darf)\b)(?: [\w,-]+){0,5}?"
            rf" (?:{_ANY})(?: [\w,-]+)"
            r"{0,3}? (?:nicht|nie|niemals) (?:\w+ )?(?:zu )?(?:speicher\w*|merk\w*|behalt\w*|notier\w*"
            r"|gespeichert|behältst|aufbewahr\w*"
            r"|gemerkt|protokolliert|aufgezeichnet)",
        ),
        Rule(
            "not kept",
            rf"(?P<verb>)\b{_MINE} (?:dürfen|darf|sollen|soll) (?:bitte )?(?:nicht|nie|niemals) (?:\w+"
            r" )?(?:gespeichert|behalten"
            r"|aufbewahrt|protokolliert|aufgezeichnet)",
        ),
        Rule("mine", rf"(?P<verb>)\b{_MINE} (?:müssen|muss|sollen|soll) (?:\w+ )?(?:gelöscht|entfernt|vergessen)\b"),
    ),
)
"""The rules of German."""
