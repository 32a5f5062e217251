"""How people constrain, decide, correct and thank in German."""

from __future__ import annotations

from typing import Final

from projections.verdicts.languages.language import Language, any_of, cue, words

_STARTS = r"(?:^|[,;:(\u2013\u2014-] ?|\b(?:und|aber|also|bitte|dann|nur|auch|jedoch|doch) )"
_DAY = (
    (
        r"(?:zum |zur |ende |nächste[rn]? |den |dem )?(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|"
        r"morgen|heute|"
    ),
    r"übermorgen|mittag|mitternacht|woche|monatsende|jahresende|januar|februar|märz|april|mai|juni|juli|august|september",
    r"oktober|",
    r"november|dezember|weihnachten|\d)",
)

_TELLS = (
    r"(?:ich|wir|er|es|das|dies|man|wenn|weil|leider|hier|da|so|was|warum|wieso|gestern|heute|danke,?|mehr|"
    r"die \w{1,40} (?:ist|sind|geht|gehen))"
)

GERMAN: Final = Language(
    code="de",
    name="German",
    remember=cue(
        "merk merke merken merkt denk denke denken vergiss vergessen vergesst beachte beachten notiere notieren genau "
        "wortwörtlich wörtlich exakt protokoll kopf hinterkopf",
        rf"{_STARTS}(?:merke?|merken sie|denke? (?:daran|dran|bitte)|denken sie|beachten? (?:sie )?|notieren? (?:sie )?)\b",
        r"\b(?:nicht|nie) (?:zu )?vergess\w{0,4}|\bvergiss(?: das| es| bitte| mir)? nicht\b",
        r"\bvergessen sie (?:das |bitte |es )?nicht\b",
        r"\b(?:im kopf|im hinterkopf) behalten\b",
        r"\b(?:wortwörtlich|wörtlich|exakt|genau) (?:so|diese[nsr]?|wie|folgend\w{0,2}|übernehmen|verwenden)\b",
        r"\bfürs protokoll\b",
        unless=r"\bgenau (?:was|warum|wie viel)\b",
        asked=r"\b(?:kannst du|können sie|könntest du|könnten sie) (?:dir |sich )?.{0,60}(?:merken|notieren)\b",
    ),
    constraint=cue(
        "nicht nie niemals kein keine keinen keinem keiner keines darf dürfen darfst dürft muss müssen musst soll sollen "
        "sollst nur höchstens mindestens maximal spätestens bis vor ohne außer unbedingt budget frist limit obergrenze unter "
        "über immer verboten erlaubt ausschließlich keinesfalls zwingend niemand lediglich nichts keins keinerlei frühestens "
        "stichtag pflicht vorgeschrieben frag fragen fragt",
        r"\b(?:darf|dürfen|darfst|dürft|soll|sollen|sollst|muss|müssen|musst)\b",
        r"\b(?:keinesfalls|niemals|auf keinen fall|unter keinen umständen|unbedingt|ausschließlich|zwingend|lediglich)\b",
        rf"^(?!{_TELLS} )(?:\S+ ){{1,6}}(?:nicht|nie|nichts)\b",
        r"^(?!(?:ich|wir|er|es|man) )(?:\S+ ){0,6}nicht \w{2,20}n$",
        r"\bbitte (?:\S+ ){0,6}(?:nicht|nie|kein\w{0,2}|nur)\b",
        r"\b(?:will|wollen|möchten?) (?:\S+ ){0,4}(?:nicht|kein\w{0,2}|nur)\b",
        r"\b(?:höchstens|mindestens|maximal|spätestens|nicht mehr als|nicht länger als|nicht später als|frühestens)\b",
        r"\b(?:budget|frist|limit|obergrenze|stichtag)\b",
        rf"\b(?:bis|vor|spätestens) {_DAY}",
        r"\bnur (?:wenn|nach|mit|für|im|in|am|an|die|der|das|den|dem|diese\w{0,2}|ein\w{0,2}|noch|bis|auf|über|per)\b",
        r"\bohne (?:\S+ ){0,4}zu\b|\bohne (?:meine|unsere|vorherige)\b",
        r"\bfrag(?:en sie|t)? (?:mich|uns) (?:vorher|zuerst|erst)\b|\bnicht ohne \S",
        r"\b(?:ist|sind) (?:verboten|nicht erlaubt|pflicht|vorgeschrieben)\b|^(?:immer|kein\w{0,2}) \S",
        unless=(
            r"^(?:ich |wir )?(?:weiß|glaube|denke|verstehe|sehe|habe) (?:\S+ ){0,3}(?:nicht|kein\w{0,2})\b|\bnicht nur\b|"
            r"\bkeine (?:sorge|ahnung)\b|\bkein (?:problem|ding)\b"
        ),
        asked=r"\bbitte (?:\S+ ){0,6}(?:nicht|nur|kein\w{0,2})\b|\b(?:kannst du|können sie) (?:\S+ ){0,6}nicht\b",
    ),
    decision=cue(
        "nehme nehmen nehmt entscheide entschieden entscheiden wähle wählen genehmigt einverstanden freigegeben bevorzuge los "
        "mache machen beschlossen akzeptiere akzeptieren bestätige bestätigen bestätigt bevorzugen gewählt bleib bleibt "
        "bleiben bleibe lieber gutschein variante option",
        r"\b(?:ich|wir) (?:nehmen?|wählen?|entscheiden?|bevorzugen?|akzeptieren?|bestätigen?|bleiben?)\b",
        r"\b(?:nehmen|bleiben|machen) wir\b|^dann (?:nehmen?|machen?)\b",
        r"\b(?:habe|haben) (?:\S+ ){0,5}(?:entschieden|gewählt|beschlossen)\b",
        r"^(?:ok,? |ja,? )?(?:genehmigt|einverstanden|freigegeben|bestätigt|beschlossen)\b",
        r"\b(?:ist|sind) (?:genehmigt|freigegeben|beschlossen)\b",
        r"^bleib(?:t|en wir)? bei \S",
        r"^(?:die )?(?:variante|option) (?:[a-f]|\d)\b|\bleg(?:en sie)? los\b|\bkein(?:en)? gutschein\b",
        unless=(
            r"\b(?:noch nicht|nicht) (?:entschieden|gewählt|genehmigt|beschlossen)\b|\b(?:wenn|falls|ob|bevor) (?:ich|wir)\b"
        ),
    ),
    correction=cue(
        "nein nee doch moment halt korrektur falsch stattdessen statt anstatt meinte meine lieber sondern vertan geirrt "
        "ändere ändern entschuldigung richtig meint jetzt sofort",
        (
            r"^(?:nein|nee|moment|halt|korrektur|doch nicht|falsch|entschuldigung)\b.{0,40}(?:\bes (?:ist|sind|war)\b|"
            r"\bich mein\w{0,2}\b|\bich sagte\b|\d|\bsondern\b|\bdas (?:ist|war)\b)"
        ),
        r"\bich meinte?\b|\bich habe mich (?:geirrt|vertan)\b|\bdas (?:ist|war) (?:falsch|nicht richtig)\b|\b(?:an)?statt\b",
        r"\bstattdessen\b|\bnicht (?!nur)(?:\S+ ){1,3}sondern\b|\bab (?:jetzt|sofort)\b",
        unless=r"\bnicht nur\b|^nein[,.]? (?:danke[,.]? )?das (?:ist|war|wäre)(?: dann)? (?:alles|es|gut|ok|okay)\b",
    ),
    refusal=cue(
        "nein nee nö nicht kein keine keinen keinem keiner keins lehne lehnen ablehnen abgelehnt lieber stopp stop halt gegen "
        "dagegen weder lass lassen",
        r"^(?:nein|nee|nö)(?:[,.!]| danke|$)",
        r"\b(?:ich|wir) (?:will|wollen|möchten?|brauchen?|nehmen?) (?:\S+ ){0,4}(?:nicht|kein\w{0,2})\b",
        r"\blass(?:en sie)? (?:das|die|den|es)\b.{1,40}\bweg\b",
        r"\blehnen? (?:\S+ ){0,5}ab\b|\babgelehnt\b|\blieber nicht\b|\b(?:bin|sind) (?:\S+ ){0,2}(?:dagegen|gegen)\b",
        r"^(?:stopp?|halt)\b|^kein\w{0,2} [a-zäöüß-]+(?: [a-zäöüß-]+){0,2}$|\bkommt nicht in ?frage\b",
        unless=(
            r"^nein[,.]? (?:das (?:ist|war|wäre) alles|danke,? das (?:ist|war|wäre))|"
            r"^kein(?:e|en)? (?:problem|sorge|ahnung|ding|ursache|weiteren fragen)\b"
        ),
    ),
    phrases={
        "greeting": "hallo, hi, hey, guten tag, guten morgen, guten abend, servus, moin, grüß gott, grüezi, willkommen, hallo "
        "zusammen, herzlich willkommen, schön dass sie da sind, wie geht's, wie geht es ihnen",
        "thanks": "danke, danke schön, dankeschön, vielen dank, herzlichen dank, besten dank, tausend dank, danke sehr, danke "
        "vielmals, ich danke ihnen, ich danke dir, für ihre hilfe, für deine hilfe, für die hilfe, für die info, "
        "für die auskunft, für ihre geduld, für das verständnis, für ihr verständnis, für alles, für die "
        "rückmeldung, bitte sehr, bitteschön, gern geschehen, gerne, sehr gerne, gern, keine ursache, kein problem, "
        "einen schönen tag, schönen tag, einen schönen tag noch, schönen tag noch, ich wünsche ihnen einen schönen "
        "tag, auf wiedersehen, auf wiederhören, mehr brauche ich nicht, das reicht, das reicht schon, das genügt, "
        "tschüss, tschüß, bis bald, bis dann, bis später, gute nacht, gute reise, viele grüße, mit freundlichen "
        "grüßen, das ist alles, das wäre alles, das war alles, das war's, mehr nicht, nein das ist alles, nein das "
        "wäre alles, nein das war alles, nein danke, nein danke das ist alles",
        "acknowledgement": "ok, okay, alles klar, verstanden, verstehe, ich verstehe, aha, gut, sehr gut, prima, super, "
        "perfekt, toll, klasse, wunderbar, passt, das passt, schön, sehr schön, gut zu wissen, klar, in "
        "ordnung, geht klar, notiert, ach so, hm, das klingt gut, klingt gut, das hört sich gut an, "
        "interessant, \U0001f44d, \U0001f642, \U0001f60a, \U0001f64f",
        "agreement": "ja, ja bitte, jawohl, gerne, sicher, natürlich, genau, stimmt, richtig, mach das, machen sie das, "
        "bitte, weiter, mach weiter, einverstanden, genehmigt, selbstverständlich",
        "apology": "entschuldigung, entschuldigen sie, entschuldige, verzeihung, tut mir leid, es tut mir leid, das tut mir "
        "leid, sorry, mein fehler, das war mein fehler, für den fehler, für das missverständnis, für die "
        "verwirrung, für die unannehmlichkeiten, sie haben recht, du hast recht, ich versuche es noch einmal, ich "
        "versuche es erneut, ich bitte um entschuldigung",
        "filler": "und, so, dann, na, also, nochmal, noch mal, nochmals, sehr, zusammen, auch, ihnen auch, ebenfalls, "
        "gleichfalls, ihnen, dir, schon, ja, da, doch, erstmal, erst mal, heute, noch, claude, herr, frau, :)",
    },
    offers=any_of(
        r"\b(?:sonst noch|noch etwas|noch was|weitere fragen|weitere hilfe|noch fragen)\b|^(?:wie|womit) kann ich\b",
        r"\bmelden sie sich\b|\bmelde dich\b|^wie geht\b",
    ),
    offer_words=words(
        "gibt es sonst noch etwas was kann ich für sie dich dir ihnen tun helfen weiterhelfen haben hast du weitere weitere "
        "fragen hilfe brauchen brauchst benötigen wie womit wenn falls melden melde sich dich gerne gern jederzeit bei mir "
        "uns einfach bitte geht es"
    ),
    proposals=any_of(
        r"\b(?:soll(?:en|te|ten)?|möchten|möchtest|wollen|willst|darf|dürfen|bestätig\w{0,4}|freigabe|genehmig\w{0,4})\b",
        r"\bbitte (?:bestätigen|wählen|geben|teilen|sagen|nennen|prüfen)\b",
        r"\b(?:vorschlag\w{0,2}|schlage|empfehle\w{0,2}|option\w{0,3}|variante\w?|alternativ|plan|nächste[rn]? schritte?)\b",
        r"\b(?:stattdessen|ich werde|ich würde|ich kann|wir könnten|wir können)\b",
    ),
    options=any_of(r"\b(?:es gibt|verfügbar|ich habe|kostet|frei|wie wäre|was ist mit)\b"),
    tags=any_of(r"[,;-] ?(?:oder|nicht wahr|ja|richtig|okay|ok|gell|stimmt's|bitte)\s?[?\uff1f]+$"),
    answers=words("ja jawohl nein nee nö doch ok okay genau richtig stimmt weder beide beides"),
    commitments=any_of(
        r"\b(?:ich werde|ich habe|wir werden|wir haben|leider|kann nicht|nicht möglich|erledigt|fertig|erstellt)\b",
        r"\b(?:behoben|gelöscht|geändert|storniert|gebucht|erstattet|fehlgeschlagen|erfolgreich|fehler|gefunden|weil|aber)\b",
        r"\b(?:aktualisiert|jedoch|daher|empfehle|zuerst|danach|dann|sollte)\b",
    ),
    negations=words(
        "nein nicht nie niemals kein keine keinen keinem keiner keines nichts niemand weder noch ohne außer fehlgeschlagen"
    ),
    empty=words(
        "der die das den dem des ein eine einen einem einer eines ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm "
        "ihnen mein meine meinen dein deine deinen sein seine ihre ihren unser unsere ist sind war waren sein bin bist hat "
        "haben habe hatte wird werden würde zu zum zur von vom in im an am auf für mit aus bei nach und oder wenn dass so "
        "dann als wie auch noch nur sehr ja ok okay also hier da jetzt bitte möchte möchten möchtest will wollen verstehe "
        "verstanden klar gut"
    ),
)
"""German."""
