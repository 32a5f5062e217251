"""How people ask in English to have something forgotten."""

from __future__ import annotations

from typing import Final

from ledger.forget_words.rules import Language, Rule

_THING: Final = (
    r"(?:address(?:es)?|e-?mails?|phones?|(?:phone|mobile|cell|telephone|card|account|passport"
    r"|id|licen[cs]e|insurance) ?numbers?"
    r"|numbers?|(?:sur)?names?|birth ?days?|birth ?dates?|date of birth|age|data|info(?:rmation)?"
    r"|details?|ssn|social security"
    r"|passports?|ids?|identity|cards?|iban|passwords?|passcodes?|pin|whereabouts|location"
    r"|diagnos[ie]s|conditions?|illness"
    r"|medications?|salary|income|religion|history|histories|chats?|conversations?|messages?"
    r"|photos?|pictures?|profiles?|records?"
    r"|preferences?|secrets?|birthplace)"
    r"(?!\w|[_.(=\[]+\w|[- ](?:files?|folders?|director(?:y|ies)|dir|tables?|columns?|rows?"
    r"|variables?|fields?|class(?:es)?"
    r"|functions?|methods?|models?|frames?|bases?|sets?|buckets?|keys?|scripts?|branch(?:es)?"
    r"|tests?|loaders?|structures?|types?"
    r"|objects?|arrays?|lists?|parameters?|arguments?|propert(?:y|ies)|attributes?|components?"
    r"|validat(?:ion|ors?)|services?"
    r"|modules?|imports?|plugins?|tags?|labels?|inputs?|forms?|pages?|nodes?|containers?"
    r"|repos?|config|schemas?|fixtures?"
    r"|pipelines?|changes?|tool|tools)\b)"
)
_BETWEEN: Final = (
    r"(?:(?!(?:and|or|to|with|in|on|at|from|for|of|that|which|by|as|so|then|if|but|because"
    r"|when|not)\b)[\w'-]+ ){0,3}?"
)
_ALL: Final = r"(?:(?:all|any|every(?:thing)?|both|each|some|most)(?: of)? |about |the rest of )?"
_MINE: Final = rf"{_ALL}(?:my|our) {_BETWEEN}{_THING}"
_THEIRS: Final = rf"{_ALL}(?:my|our|his|her|their) {_BETWEEN}{_THING}"
_THAT: Final = rf"(?:that|this|these|those) (?:[\w-]+ ){{0,2}}?{_THING}"
_SENSITIVE: Final = (
    r"(?:that|this|these|those) (?:[\w-]+ ){0,2}?(?:numbers?|passwords?|ssn|birth ?day|date"
    r" of birth|(?:home|postal|street) address)\b"
)
_TOLD: Final = (
    r"(?:said|told|tell|wrote|written|mentioned|shared|gave|given|sent|typed|posted|disclosed"
    r"|revealed|confided)\b"
)
_I: Final = r"(?:i|we)(?:'ve| have|'d| had)?(?: (?:just|ever|already|previously|once))?"
_GIVEN: Final = rf"(?:the|that|those|these|this|any|all) (?:[\w'-]+ ){{0,3}}?{_THING} (?:that |which )?{_I} {_TOLD}"
_SAID: Final = rf"(?:about )?(?:what(?:ever)?|everything|anything|all|the (?:things?|stuff)) (?:that )?{_I} {_TOLD}"
_ABOUT_ME: Final = (
    r"(?:about )?(?:what(?:ever)?|everything|anything|all|(?:all |any |the |all the )?(?:data"
    r"|info(?:rmation)?|details|things|facts"
    r"|notes|records)) (?:that |which )?(?:you(?:'ve| have|'re| are)? (?:\w+ ){0,3}?)?(?:about"
    r"|on|regarding|concerning|of) (?:me|us)\b"
)
_TALK: Final = (
    r"(?:this|our|that|my|(?:this|the) (?:whole|entire|full)|all (?:of )?(?:this|our|my))"
    r" (?:\w+ )?(?:conversations?|chats?|dialogue"
    r"|discussion)(?: history| logs?)?\b(?! (?:component|table|class|window|widget|view"
    r"|page|model|function|endpoint|screen))"
)
_ADVERBS: Final = (
    r"(?:(?:please|kindly|now|also|just|completely|permanently|immediately|then|ever|simply"
    r"|fully|entirely|always|at once) ){0,3}"
)
_LEAD: Final = (
    r"(?:^|[,:;(\"\u201c\u2013\u2014-] ?|\b(?:please|pls|plz|kindly|just|now|then|and|also"
    r"|ok|okay|so|but|immediately|simply"
    r"|actually|hey|yes|no|well|sorry|oh|(?:can|could|would|will|should|must|may) you|you"
    r" (?:can|could|should|must|may|need to"
    r"|have to|to)|(?:want|like|wish|need|asking|asked|request)(?: you)? to|let'?s|better) )" + _ADVERBS
)
_ERASE: Final = (
    r"(?P<verb>erase|delete|remove|wipe|purge|scrub|clear|expunge|destroy|get rid of|drop)(?:"
    r" out| away)? "
)
_FORGET: Final = r"(?P<verb>forget|unlearn|erase) "
_ANY: Final = r"(?P<verb>forget|unlearn|erase|delete|remove|wipe|purge|scrub|clear|expunge|destroy|get rid of)(?: out| away)? "
_NOT: Final = (
    r"\b(?:do not|don'?t|dont|did ?n[o']?t|never|not|won'?t|can'?t|cannot|without|shouldn'?t"
    r"|mustn'?t|couldn'?t|unless|avoid|why"
    r"|how|did|does|what happens|before|lest|instead of)\b|\b(?:i|we|he|she|they|people"
    r"|users?)\b(?!.*\b(?:you|want|need|like|wish"
    r"|please|ask(?:ed|ing)?|request|insist|demand)\b)"
)
_ELSEWHERE: Final = (
    r"^(?: \w+){0,3}? (?:from|in|on|within|inside|out of|off|at|under|to|into|with)\b(?!"
    r" (?:all |any )?(?:of )?(?:your|my end|"
    r"(?:this|our) (?:chat|conversation|session|records?|history)|(?:the|these|those|all"
    r"|any|every) (?:\w+ )?(?:systems?|records?"
    r"|memor(?:y|ies)|databases?|logs?|chat|conversation|history|context|notes|servers?)\b(?!"
    r" (?:file|table|class|folder|test))))"
)
_KEEP: Final = (
    r"(?:store|remember|keep|save|record|retain|log|memori[sz]e|hold on to|hang on to|note down|write down|archive)"
    r"(?: (?:any|track|a record|a note|a copy|hold) of)? "
)
_KEEPING: Final = (
    r"(?:storing|remembering|keeping|saving|recording|retaining|logging|memori[sz]ing|holding"
    r" on to|archiving) "
)
_KEPT: Final = r"(?:stored|kept|saved|recorded|retained|logged|remembered|archived|held)\b"
_GONE: Final = r"(?:deleted|erased|removed|forgotten|wiped|purged|destroyed)\b"
_ANYTHING: Final = rf"(?:{_THEIRS}|{_THAT}|{_GIVEN}|{_SAID}|{_ABOUT_ME}|{_TALK}|any of (?:this|that|it)\b)"
_WISH: Final = (
    r"(?:(?:want|like|wish|need|ask(?:ed|ing)?|request|trust|expect)(?: you)? (?:not to|to not|to never)"
    r"|(?:rather|prefer(?:red)?|like it if|ensure|sure|request|insist|happier if)(?: that)? (?:you )?"
    r"(?:not|do not|don'?t|didn'?t|never))"
)
_NO: Final = (
    r"(?:(?:do not|don'?t|dont|never)(?: (?:have|need) to)?|(?:you )?(?:should|must|may"
    r"|shall|need)(?: ?n[o']?t| never)|"
    rf"make sure (?:you )?not to|{_WISH}|(?:do not|don'?t) want (?:you|anyone|anybody) to)"
)
ENGLISH: Final = Language(
    "en",
    (
        "forget",
        "forgot",
        "strike",
        "unlearn",
        "erase",
        "erasure",
        "delet",
        "remov",
        "wipe",
        "purge",
        "scrub",
        "clear",
        "expunge",
        "destroy",
        "rid",
        "drop",
        "stor",
        "remember",
        "keep",
        "sav",
        "record",
        "retain",
        "log",
        "memori",
        "hold",
        "hang",
        "down",
        "archiv",
        "kept",
        "reset",
    ),
    (
        Rule("mine", rf"{_LEAD}{_FORGET}{_THEIRS}", _NOT),
        Rule("mine", rf"{_LEAD}{_ERASE}{_MINE}", _NOT, _ELSEWHERE),
        Rule("mine", rf"{_LEAD}{_FORGET}{_THAT}", _NOT, _ELSEWHERE),
        Rule("mine", rf"{_LEAD}{_ERASE}{_SENSITIVE}", _NOT, _ELSEWHERE),
        Rule("mine", rf"{_LEAD}{_ANY}{_GIVEN}", _NOT, _ELSEWHERE),
        Rule(
            "mine",
            r"\b(?:want|like|need|wish|have|demand) (?P<verb>)(?:to have )?" + _MINE + rf" (?:to be )?(?:\w+ly )?{_GONE}",
            _NOT,
            _ELSEWHERE,
        ),
        Rule(
            "mine",
            rf"(?P<verb>)\b{_MINE} (?:should|must|has to|have to|needs to|need to) be (?:\w+ly )?{_GONE}",
            _NOT,
            _ELSEWHERE,
        ),
        Rule("mine", rf"(?P<verb>\b(?:deletion|erasure|removal)) of (?:{_MINE}|{_ABOUT_ME})", r"\bhow\b"),
        Rule("mine", r"(?P<verb>\bright) (?:to be forgotten|to erasure)\b"),
        Rule("said", rf"{_LEAD}{_ANY}(?:{_SAID}|{_ABOUT_ME})", _NOT, _ELSEWHERE),
        Rule(
            "said",
            rf"{_LEAD}(?P<verb>forget) (?:the fact )?(?:that )?(?:i|we)(?:'m|'ve|'d)? (?!(?:ever |even |just )?(?:ask"
            r"|said (?:it|anything|so)|mentioned (?:it|anything)|brought|was here))\w",
            _NOT,
        ),
        Rule("conversation", rf"{_LEAD}{_ANY}{_TALK}", _NOT, _ELSEWHERE),
        Rule(
            "memory",
            rf"{_LEAD}(?P<verb>forget|erase|delete) (?:all about |about )?me\b(?! (?:to|that|not)\b)",
            _NOT,
            _ELSEWHERE,
        ),
        Rule(
            "memory",
            rf"{_LEAD}(?P<verb>forget|erase|delete|remove|wipe|purge|scrub|clear|expunge|take|strike)(?:"
            r" out)? (?:[^,;:]{1,80}? )?from your (?:\w+ ){0,2}?(?:memor(?:y|ies)"
            r"|records?|logs?|notes|history|knowledge)\b",
            _NOT,
        ),
        Rule(
            "memory",
            rf"{_LEAD}(?P<verb>clear|wipe|erase|delete|purge|reset) (?:out )?(?:all )?(?:of )?your"
            r" (?:\w+ )?(?:memor(?:y|ies)"
            r"|history)\b",
            _NOT,
        ),
        Rule(
            "not kept",
            rf"{_LEAD}(?P<verb>){_NO} {_ADVERBS}{_KEEP}{_ANYTHING}",
            r"\b(?:i|we|he|she|they)\b(?!.*\b(?:you|want|need|like|wish|please|ask(?:ed|ing)?|request|insist)\b)",
        ),
        Rule(
            "not kept",
            r"(?P<verb>\b(?:i|we))(?:'d| would)? (?:really |also |just |very much )?(?:(?:do not"
            rf"|don'?t) want you to|{_WISH})"
            rf" {_ADVERBS}{_KEEP}{_ANYTHING}",
        ),
        Rule("not kept", rf"{_LEAD}(?P<verb>stop|quit|cease|avoid|refrain from) {_KEEPING}{_ANYTHING}", _NOT),
        Rule("not kept", rf"\b(?:do not|don'?t) want (?P<verb>)(?:to have )?{_ANYTHING} (?:to be )?{_KEPT}"),
        Rule(
            "not kept",
            rf"(?P<verb>)\b(?:{_MINE}|{_THAT}|{_TALK}) (?:should|must|may|shall|can)(?: ?n[o']?t| never) be {_KEPT}",
        ),
    ),
)
"""The rules of English."""
