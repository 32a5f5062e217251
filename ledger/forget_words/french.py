"""How people ask in French to have something forgotten."""

from __future__ import annotations

from typing import Final

from ledger.forget_words.rules import Language, Rule

_THING: Final = (
    r"(?:adresses?|données|numéros?|téléphone|portable|noms?|prénoms?|anniversaire|date"
    r" de naissance|âge|e-?mails?|courriels?|mail"
    r"|infos?|informations?|coordonnées|carte|mots? de passe|iban|compte bancaire|passeport"
    r"|identité|localisation|position"
    r"|diagnostics?|maladie|salaire|revenus?|historique|conversations?|messages?|photos?"
    r"|profil|secrets?)\b(?!\.\w|_\w)"
)
_MINE: Final = (
    r"(?:toutes? |tous |l'ensemble de )?(?:mon|ma|mes|notre|nos) (?:(?!(?:et|ou|dans|sur"
    rf"|pour|avec|que|qui)\b)[\w'-]+ ){{0,3}}?{_THING}"
)
_THAT: Final = rf"(?:ce|cet|cette|ces) (?:[\w-]+ ){{0,2}}?{_THING}"
_SAID: Final = (
    r"(?:tout )?ce que (?:je|j')\s?(?:(?:vous|te|t'|l'|viens de|vous ai|t'ai|ai) ?){0,4}(?:dit"
    r"|raconté|écrit|dire|confié|donné|envoyé"
    r"|partagé|raconter)\b"
)
_KNOWN: Final = (
    r"(?:tout |toutes les (?:données|informations|infos) )(?:ce )?(?:que (?:tu|vous) (?:\w+"
    r" ){1,2}?)?(?:sur|de|à propos de|me concernant)"
    r"(?: (?:moi|nous))?\b"
)
_MEMORY: Final = (
    r"(?:de (?:ta|votre) (?:mémoire|base(?: de données)?)|de (?:tes|vos) (?:dossiers|fichiers"
    r"|registres|archives|notes|systèmes|données))"
)
_ANY: Final = rf"(?:{_MINE}|{_THAT}|{_SAID}|{_KNOWN})"
_ORDER: Final = (
    r"(?P<verb>oublie[zs]?|supprime[zs]?|efface[zs]?|retire[zs]?|enlève[zs]?|enlevez|détrui(?:s"
    r"|sez)) (?:(?:donc|s'il (?:te|vous) plaît,?|aussi|immédiatement|définitivement) ){0,2}"
)
_LEAD: Final = r"(?:^|[,:;–—-] ?|\b(?:et|puis|alors|maintenant|merci,?|ok|plaît,?|plait,?|svp,?|stp,?|mais|donc) )"
_ASK: Final = (
    r"(?P<verb>\b(?:(?:pouvez|peux|pourriez|pourrais|veuillez)(?:-(?:vous|tu))?|merci de"
    r"|(?:je )?(?:veux|voudrais|souhaite|aimerais|exige"
    r"|demande)(?: (?:que (?:tu|vous)|à|de))?|faut|devez|dois|prière d[e'])) ?(?:(?:bien"
    r"|aussi|donc|svp|tout) ){0,2}(?:oubli|supprim|effac|retir"
    r"|enlev)\w+ (?:définitivement |aussi )?"
)
_NOT: Final = r"\b(?:ne|n'|pas|jamais|comment|pourquoi|j'ai|a|ont|avez)\b|n'$"
FRENCH: Final = Language(
    "fr",
    (
        "oubli",
        "supprim",
        "effac",
        "retir",
        "enlev",
        "enlèv",
        "détrui",
        "gard",
        "conserv",
        "stock",
        "enregistr",
        "mémoris",
        "reten",
        "retien",
        "sauvegard",
        "souv",
    ),
    (
        Rule("mine", rf"{_LEAD}{_ORDER}{_ANY}", _NOT, r"^ (?:du|de la|dans|sur) (?!conversation|mémoire)"),
        Rule("mine", rf"{_ASK}{_ANY}", _NOT, r"^ (?:du|de la|dans|sur) (?!conversation|mémoire)"),
        Rule("mine", r"(?P<verb>\bdroit) à l'(?:oubli|effacement)\b"),
        Rule("memory", rf"{_LEAD}{_ORDER}(?:[^,;:]{{1,80}}? )?{_MEMORY}", _NOT),
        Rule("memory", rf"{_ASK}(?:[^,;:]{{1,80}}? )?{_MEMORY}", _NOT),
        Rule("memory", rf"{_LEAD}(?P<verb>oublie[zs]?|efface[zs]?)(?:-moi\b| (?:ta|votre) mémoire\b)", _NOT),
        Rule(
            "not kept",
            r"(?P<verb>\bne |\bn')(?:(?:pas|jamais|plus|surtout pas) )?(?:garde[rzs]?|gardiez|conserve[rzs]?"
            r"|conserviez|stocke[rzs]?"
            r"|stockiez|enregistre[rzs]?|enregistriez|mémorise[rzs]?|mémorisiez|reten(?:ez|ir|iez)"
            r"|retiens|retiennes|sauvegarde[rzs]?"
            rf"|sauvegardiez)(?: (?:pas|jamais|plus|surtout pas))? {_ANY}",
            r"\b(?:je|nous|il|elle|ils|elles|on)\b(?!.*\b(?:tu|vous)\b)",
        ),
        Rule(
            "not kept",
            r"\bne (?:veux|souhaite|voudrais) pas que (?:tu|vous) (?P<verb>)(?:gard|conserv|stock"
            r"|enregistr|mémoris|reten|retien"
            rf"|sauvegard)\w+ {_ANY}",
        ),
    ),
)
"""The rules of French."""
