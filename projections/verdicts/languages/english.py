"""How people constrain, decide, correct and thank in English."""

from __future__ import annotations

from typing import Final

from projections.verdicts.languages.language import Language, any_of, cue, words

_STARTS = (
    r"(?:^|[,;:(\u2013\u2014-] ?|\b(?:and|but|so|please|then|just|also|really|definitely|absolutely|however|therefore|either) )"
)
_DO_NOT = r"(?:do not|don't|dont|never)"
_DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|today|eod|noon|midnight|(?:the )?end of|next (?:week|month)|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|christmas|\d"
)

ENGLISH: Final = Language(
    code="en",
    name="English",
    remember=cue(
        "remember remind mind forget note memorize memorise exactly verbatim word record save down",
        (
            rf"{_STARTS}(?:always )?(?:remember|memori[sz]e|bear in mind|keep in mind|note that|take note|make a note|"
            rf"write (?:this|that|it) down)\b"
        ),
        r"\bdon't (?:ever )?forget\b|\bdo not (?:ever )?forget\b|\bnever forget\b",
        (
            r"\b(?:please|you to|you should|you must|you need to|can you|could you|will you) (?:always )?(?:remember|"
            r"keep in mind|memori[sz]e|note)\b"
        ),
        (
            r"\b(?:use|copy|write|quote|keep|take|say|send|reproduce|with|repeat|put|type|set)\b.{0,60}\b(?:exactly|verbatim|"
            r"word for word)\b"
        ),
        r"\bexactly (?:as|this|these|like this|the following)\b|\bfor the record\b|\bsave (?:this|that) (?:for|as|in)\b",
        unless=(
            r"\b(?:i|we|they) (?:do not|don't|can't|cannot|can|vaguely|still) remember\b|\bnot exactly\b|"
            r"\bexactly (?:what|why|how|when)\b"
        ),
        asked=(
            r"\b(?:please|can you|could you|will you) (?:always )?(?:remember|keep in mind|memori[sz]e|note|make a "
            r"note)\b(?! (?:when|what|how|where|the time))"
        ),
    ),
    constraint=cue(
        "not don't dont never must mustn't mustnt shouldn't only without unless until most least more than later before by "
        "due deadline budget limit maximum minimum max min under below over exceed within always can't cannot avoid strictly "
        "allowed required mandatory needs no nothing nobody make sure forbidden prohibited off cap up long after condition "
        "refrain away hands alone untouched unchanged intact exclude omit leave has have ask check wait first latest going "
        "work allergic allergy allergies vegan vegetarian diabetic celiac coeliac question",
        rf"{_STARTS}{_DO_NOT} (?!worry|mind\b|know|think|see\b|have\b|understand|believe|remember|feel|"
        r"work\b|seem|match\b|exist|appear|look\b|pass\b|compile|fit\b|care\b|need\b|like\b|"
        r"recall|mean\b|get (?:it|why|what|how)\b)[a-z]+",
        r"\b(?:i|we) (?:still |really |also |just )?(?:do not|don't|dont|never) (?:really |ever )?want\b",
        r"\b(?:i'd|i would|we'd) (?:prefer|rather) (?:you |we )?not\b",
        (
            r"\b(?:you|we|it|they|this|that|there|which|code|tests?|nothing|everything) "
            r"(?:must|should|may|shall)(?: not|n't| never| only)\b"
        ),
        r"\b(?:you|we) (?:can't|cannot|can not|can only|will only|will not)\b(?! (?:find|see|remember|tell|seem|be sure))",
        r"\brefrain from\b|\b(?:stay|keep) away from\b|\bhands off\b",
        r"\b(?:leave|keep|stays?|remains?)\b.{1,60}\b(?:alone|untouched|unchanged|intact)\b",
        r"\bcan't (?:exceed|pay|spend|go over)\b|\bcannot (?:exceed|pay|spend|go over)\b",
        r"\bmust(?:n't|nt)?\b(?! have\b| be (?:a|an|some|because|why|wrong|something|missing|the)\b)",
        r"\bshouldn't\b(?! it\b| that\b| there\b)|\bshould not\b",
        (
            r"\b(?:please not|not to|make sure not|be sure not|without (?:my|our|asking|changing|touching|any|adding|breaking|"
            r"using|the))\b"
        ),
        (
            r"\b(?:only|strictly) (?:if|when|after|on|in|for|with|from|to|the|use|this|these|those|one|once|economy|do|change|"
            r"modify|edit|touch|send|work|through|by|via|accept|take|up to|as)\b"
        ),
        r"\bonly$|\bplease only [a-z]+",
        rf"{_STARTS}only (?:answer|reply|contact|call|write|run|read|print|show|list|return|ask|speak)\b",
        r"\b(?:this|that|these|\w+) \w+ only\b(?! (?:have|has|had))",
        (
            r"\b(?:at most|at least|no more than|no less than|no later than|no earlier than|not more than|not later than|"
            r"up to a maximum|maximum of|a maximum|minimum of|max of|under no circumstances|no matter what|in no case)\b"
        ),
        r"\b(?:budget|limit|cap|deadline|maximum|minimum)\b.{0,30}(?:\bis\b|\bof\b|:|=)|\bdue (?:on|by|at|date)\b|\bdeadline\b",
        rf"\b(?:by|before|until|not before|not until|no later than|due) (?:{_DAY})",
        r"\b(?:under|below|within|less than|more than|over|exceed|up to) (?:[$€£]|usd |eur |inr )? ?\d",
        r"\bafter \d{1,2}(?::\d\d| ?(?:am|pm|o'clock))|\bbe sure (?:it|that|to)\b",
        r"\b(?:as|so) long as\b|\bon (?:the )?condition that\b|\bto not [a-z]+\b|\b(?:above|over) (?:my|our) budget\b",
        r"\b(?:is|are) (?:not allowed|forbidden|prohibited|mandatory|required|off limits|off-limits|a must)\b|\bnot allowed\b",
        rf"{_STARTS}(?:always|avoid) (?!been\b|is\b|has\b|had\b|was\b)[a-z]+",
        rf"{_STARTS}(?:(?:can|could|will|would) you )?(?:please )?make sure\b",
        r"\bneeds to (?:be|stay|remain|arrive|support|work)\b",
        (
            rf"{_STARTS}(?:no (?:changes?|edits?|new|other|more|one|extra|additional|third|external|further)\b|nothing else\b|"
            rf"nobody (?:else )?(?:may|should|must))"
        ),
        r"^(?:max|maximum|min|minimum)\.? (?:of )?\d|\bnothing (?:above|over|below|under|more|less|before|after)\b",
        rf"{_STARTS}(?:exclude|omit|leave out) \S|\b(?:in|use) [^\s,]{{1,30}}, not (?!sure|only|just)[a-z]",
        (
            r"\b(?:it|this|that|they|everything|you|we|answer|output|result) (?:has|have) to (?:be|work|arrive|stay|fit|run|"
            r"support|use|remain|look)\b(?! (?:a|an|some|because|something)\b)"
        ),
        r"\b(?:ask|check with|consult|tell|call|warn) (?:me|us) (?:first|before|beforehand)\b|\bwait for (?:my|our) \S",
        r"\bat the latest\b|\bgoing forward\b|\bwe (?:only )?have (?:only )?\d+ (?:minutes?|hours?|days?|weeks?)\b",
        r"\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:allergic|vegan|vegetarian|diabetic|celiac|coeliac)\b|\ballerg(?:y|ies) to\b",
        r"\b(?:doesn't|does not|don't|do not|won't) work for (?:me|us)\b|\bi can't (?:do|make|eat|fly)\b",
        r"\bout of the question\b",
        unless=(
            r"^(?:i |we )?(?:don't|do not) (?:know|think|see|have|understand|believe)\b|\bwhy (?:must|do not|don't)\b|"
            r"\bnot only\b|\bdon't (?:worry|bother)\b"
        ),
        asked=(
            r"\bplease (?:do not|don't|not|never|only)\b|\bnot to\b|^[^,]{0,40}\b(?:i|we) (?:do not|don't) (?:really )?want\b|"
            r"\b(?:can|could|will|would) you (?:please )?(?:not|only|avoid|make sure)\b|"
            r"\bonly (?:if|when|after|until|on|in)\b"
        ),
    ),
    decision=cue(
        "let's lets go choose chose pick prefer decided decide approved approve approving agreed agree confirm confirmed "
        "option take accept ahead proceed settle settled use stick want final authorise authorize green like let credit "
        "picked chosen plan variant keep drop skip leave try start we stay work rather have hold one",
        r"\b(?:let's|lets|let us|we'll|we will|i'll|i will|we should|we) (?:(?:go|stick|stay|work) with|stick to)\b",
        rf"{_STARTS}(?:go with|stick with|stick to|stay with|prefer) \S",
        r"^(?:ok,? |yes,? )?(?:the )?(?:first|second|third|last|former|latter|cheaper|cheapest) (?:one|option)\b.{0,12}$",
        r"\bgo (?:with|for) (?:the|option|that|this|plan|it|a|an|number)\b",
        r"\b(?:i|we) (?:choose|chose|pick|prefer|accept|approve|agree|authori[sz]e|decided|confirm)\b",
        r"\b(?:i'd|i would|we'd|we would) (?:prefer|rather|choose|pick|go)\b",
        r"\b(?:i've|i have|we've|we have) (?:decided|chosen|picked|settled|agreed)\b",
        r"\b(?:it's|that's|is|are) (?:approved|settled|decided|agreed|final)\b",
        r"^(?:ok(?:ay)?,? |yes,? |alright,? )?(?:approved|agreed|confirmed|go ahead|proceed|please (?:proceed|go ahead))\b",
        r"\b(?:i'll|i will|we'll|we will) (?:take|have|pick|choose|use|accept|keep)\b",
        (
            r"\b(?:let's|lets|let us) (?:just |then |also )?(?:use|keep|do|take|make|drop|skip|leave|try|start|cancel|proceed|"
            r"address|add|remove)\b"
        ),
        r"\bplease (?:proceed|go ahead)\b|\b(?:i'll|i will|we'll|lets|let's) hold off\b",
        r"\b(?:please )?(?:go ahead|proceed) (?:with|and)\b|^(?:the )?(?:option|plan|variant) (?:[a-f]|\d)\b",
        r"\bno store credit\b|\bgreen light\b",
        unless=(
            r"\b(?:if|whether|before|until|unless) (?:i|we) (?:choose|pick|agree|accept|approve|decide|confirm)\b|"
            r"\b(?:haven't|have not|not yet|didn't|did not|don't|do not) (?:yet )?(?:decided?|chosen?|agreed?|approved?|"
            r"approve|confirm)\b"
        ),
        asked=r"\blet's go (?:with|for)\b|\b(?:can|could) we go with\b",
    ),
    correction=cue(
        "no nope wait sorry oops actually rather correction wrong instead meant mean incorrect mistake misspoke not change "
        "make scratch now here second",
        (
            r"^(?:no|nope|oops|wait|sorry|correction|actually|scratch that|my mistake)\b.{0,40}(?:\bit(?:'s| is| was|"
            r" should)\b|\bthat(?:'s| is| was) \b|\bi (?:meant?|said)\b|\bmake (?:it|that)\b|\bthe (?:right|correct|real|"
            r"actual)\b|\d|\buse\b)"
        ),
        r"\bactually,? (?:i|we) (?:only )?(?:need|want|meant|have|am|live|said)\b|\bi (?:meant?|misspoke)\b",
        r"\bthat(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct|true|what))\b",
        r"\binstead of\b|\brather than\b|\binstead(?:,? (?:then|please))?$",
        r"\b(?:should|must) (?:be|have been|read|say) .{1,60}(?:, not\b|\binstead\b|\brather than\b)",
        r"\bnot [^\s,.]{1,40}(?: [^\s,.]{1,40}){0,2},? but\b",
        r"(?:^|[,;:] ?|\bplease )(?:change|make) (?:it|that|this) (?:to )?\S|\bcorrection:|\bon second thoughts?\b",
        r"\bfrom (?:now|here) on\b|\d[^\s,]{0,30},? not \S{0,20}\d",
        unless=(
            r"\bno (?:problem|worries)\b|\bnot (?:only|sure|just)\b|"
            r"^(?:no|nope)[,.]? (?:that's|that is) (?:all|it|everything|fine|ok|okay)\b"
        ),
    ),
    refusal=cue(
        "no not don't dont want reject rejected rejecting refuse refused decline declined against rather never stop undo "
        "revert nope nah nevermind mind scrap cancel interested unacceptable won't wont without drop skip rule ruled forget",
        r"^(?:no|nope|nah)(?:[,.!]| thanks| thank you|$)(?!.{0,4}(?:problem|worries))",
        r"\b(?:i|we) (?:do not|don't|dont|won't|will not|wont) (?:really )?(?:want|like|need|accept|agree|approve|take|use)\b",
        r"\b(?:i|we) (?:reject|refuse|decline|rejected|ruled out|am against|are against)\b",
        r"\bi'm (?:against|not interested)\b|\bnot interested\b|\bunacceptable\b",
        r"\b(?:rather|prefer) not\b|\bnot (?:that|this) (?:one|way|option)\b|\bnot what i (?:asked|want|meant)\b",
        r"\brule (?:it|that|this) out\b",
        rf"{_STARTS}(?:stop|undo|revert|scrap) (?:it|that|this|the|those|these|doing|all|your)\b|^/?(?:stop|undo|revert)$",
        r"\bnever ?mind\b",
        rf"{_STARTS}(?:(?:cancel|drop|skip) (?:it|that|this|the idea)\b|skip the \S|forget about (?:it|this|the)\b)",
        r"^no [a-z-]+(?: [a-z-]+){0,2}$",
        unless=(
            r"^no[,.]? (?:problem|worries|idea|thanks needed|that's (?:all|it|everything)|that is (?:all|everything)|"
            r"nothing else|need to (?:apologi[sz]e|worry)|rush|hurry)\b|"
            r"\bnot only\b|\bi don't (?:need|want) anything else\b"
        ),
    ),
    phrases={
        "greeting": "hi, hello, hey, hi there, hello there, hey there, good morning, good afternoon, good evening, good day, "
        "greetings, howdy, welcome, welcome back, hello again, hi again, dear, nice to meet you, pleased to meet "
        "you, how are you, i'm here to help",
        "thanks": "thanks, thank you, thank you so much, thank you very much, thanks a lot, thanks a million, many thanks, "
        "thx, ty, cheers, much appreciated, i appreciate it, i appreciate your help, i really appreciate it, i "
        "really appreciate your help, appreciated, thanks for your help, thank you for your help, for your help, "
        "for the help, for your assistance, for your patience, for your understanding, for everything, for helping, "
        "for helping me, for confirming, for checking, for booking, with this, with that, for that, talk soon, "
        "talk to you soon, for all your help, for the update, for the info, for the information, for the "
        "clarification, for explaining, for clarifying, for letting me know, for your time, for the details, you're "
        "welcome, you are welcome, you're very welcome, my pleasure, no problem, no worries, don't mention it, not "
        "at all, glad i could help, happy to help, glad to help, glad to hear that, glad to hear it, have a great "
        "day, have a nice day, have a good day, have a wonderful day, have a good one, have a great trip, have a "
        "safe trip, have a pleasant trip, have a great flight, safe travels, enjoy your trip, enjoy your day, take "
        "care, bye, goodbye, bye bye, see you, see you later, see you soon, good night, talk to you later, until "
        "next time, all the best, best regards, kind regards, regards, no thanks, no thank you, no that's all, no "
        "that is all, no that's everything, no that's it, no i'm good, no that will be all, no that'll be all, no "
        "that would be all, that would be all, nope that's all, nope that's it, no nothing else, that's all i "
        "needed, that's all i need, that's all, that is all, that's everything, that will be all, that'll be all, "
        "nothing else, that's it for now, that's all for now, if you have any more questions, if you have any other "
        "questions, if you have any further questions, if you have any questions, if you need anything else, if "
        "you need any further assistance, if you need further assistance, if you need any more help, if you need "
        "help, if you need any help, feel free to ask, feel free to reach out, please feel free to ask, please let "
        "me know, just let me know, please don't hesitate to ask, don't hesitate to ask, don't hesitate to reach "
        "out, feel free to let me know, let me know, in the future, i'm here to help, i am here to help, i was able "
        "to help, i could help, i could assist you, we could help, you have a great day, you have a nice day, you "
        "have a wonderful day, i hope you have a great day",
        "acknowledgement": "got it, understood, i see, noted, ok, okay, okey, k, kk, alright, all right, right, makes sense, "
        "that makes sense, i understand, clear, crystal clear, great, perfect, excellent, awesome, cool, "
        "nice, wonderful, fantastic, good, very good, very nice, super, amazing, lovely, brilliant, good "
        "to know, fair enough, roger, roger that, will do, good job, great job, nice work, great work, "
        "good work, well done, love it, i love it, that's great, that's awesome, ah, oh, ah ok, oh ok, "
        "aha, hm, hmm, mhm, uh huh, gotcha, interesting, ok great, \U0001f44d, \U0001f44c, \U0001f642, "
        "\U0001f60a, \U0001f389, \U0001f64f, \U0001f600, \U0001f604, wow, yay, hooray, cool cool",
        "agreement": "fine, that's good, that's fine, that's perfect, that sounds good, that sounds great, sounds good, "
        "sounds great, that works, looks good, looks great, looks right, that looks good, that looks right, "
        "lgtm, works for me, yes, yep, yeah, yup, sure, sure thing, go ahead, go for it, do it, please do, yes "
        "please, proceed, please proceed, of course, absolutely, definitely, correct, exactly, that's right, "
        "that is correct, that's correct, please, continue, go on, keep going, next, agreed, approved, "
        "confirmed, deal, certainly",
        "apology": "sorry, i'm sorry, i am sorry, i'm so sorry, i'm very sorry, my apologies, apologies, i apologize, i "
        "apologise, i sincerely apologize, i do apologize, sorry about that, sorry for that, for the error, for "
        "the confusion, for the mistake, for the inconvenience, for the misunderstanding, for the oversight, for "
        "the delay, for any confusion, for any inconvenience, for my mistake, for my error, for the previous "
        "error, for that, for that mistake, about that, you're right, you are right, you're absolutely right, you "
        "are absolutely right, you're absolutely correct, you are correct, my mistake, my bad, oops, whoops, my "
        "error, let me try again, let me fix that, let me correct that, i'll try again, i will try again, i'll fix "
        "that, i will fix that, i'll correct that, i made a mistake, i made an error, i missed that, thank you "
        "for pointing that out, thanks for pointing that out, good catch, great catch, for pointing that out, let "
        "me retry, let me try that again, let me try once more, there was an error, that was my mistake",
        "filler": "so, so much, very much, a lot, again, and, then, well, everyone, all, folks, guys, team, everybody, there, "
        "sir, madam, mate, buddy, friend, claude, assistant, chatgpt, aider, copilot, to, you too, same to you, as "
        "well, now, just, really, truly, too, oh, for now, today, you, any time, anytime, always, lol, haha, ha, "
        ":), :d, !, for this, for that, it, this, that",
    },
    offers=any_of(
        r"\b(?:anything|something|what) else\b",
        r"\b(?:other|more|further|additional) (?:questions?|help|assistance|concerns?|requests?)\b",
        r"\bany questions\b|^how (?:can|may|could) (?:i|we) (?:help|assist)\b|\bfeel free\b|\breach out\b|^how are you\b",
    ),
    offer_words=words(
        "is are was there anything something else any other more further additional question questions help assistance need "
        "have do you i we can could may me to with for about in if please feel free let know don't hesitate not just ask "
        "reach out here contact us again later today now at this that the moment time future whenever you're ready or and "
        "concern concerns request requests anytime assist what how happy be glad before go come back decide make changes "
        "doing"
    ),
    proposals=any_of(
        r"\b(?:shall|should|would you|do you|are you|may i|can i|could i|want me to|like me to|permission)\b",
        r"\b(?:approve|approval|confirm)\b",
        r"\bplease (?:confirm|provide|specify|choose|select|review|reply|tell|share)\b|\blet me know (?!if you (?:need|have))",
        r"\b(?:proceed|propose|proposal|suggest|recommend|options?|alternatively|plan|ready to|next steps?|instead)\b",
        r"\b(?:i'll|i will|i'd|i would|i can|we could|we can|we'll|going to|what about|how about)\b",
    ),
    options=any_of(r"\b(?:there(?:'s| is| are)|available|i (?:have|found)|costs?|free seats|what about|how about)\b"),
    tags=any_of(r"[,;-] ?(?:right|yeah|yes|no|ok|okay|correct|agreed|please|deal|alright)\s?[?\uff1f]+$"),
    answers=words("yes yep yeah yup no nope nah sure ok okay correct right exactly neither both either"),
    commitments=any_of(
        r"\b(?:i'll|i will|i have|i've|we'll|we will|let me|i can't|i cannot|i can not|unable|cannot|can't)\b",
        (
            r"\b(?:done|completed|finished|created|updated|fixed|added|removed|deleted|changed|cancell?ed|booked|refunded|"
            r"failed)\b"
        ),
        r"\b(?:successfully|error|passed|found|because|however|but|therefore|recommend|suggest|need|first|next|then|should)\b",
    ),
    negations=words(
        "no not never none nobody nothing nor neither without cannot can't don't dont doesn't didn't won't wouldn't shouldn't "
        "couldn't isn't aren't wasn't weren't hasn't haven't hadn't mustn't ain't unless except fail failed fails"
    ),
    empty=words(
        "a an the this that these those i you he she it we they me him her us them my your his its our their mine yours is "
        "are was were be been being am do does did have has had will would shall should can could may might to of in on at by "
        "for with from as and or if so then than there here just also too very really ok okay well now please i'm i'd i'll "
        "i've you're you'd you'll you've it's that's we're we'd we'll let's let like understand see understood got sure "
        "certainly right want wants wanted would about what which who how when where"
    ),
)
"""English."""
