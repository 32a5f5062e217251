"""What exact strings look like: regular expressions, each of which goes through a text once. Pure data.

What goes through a whole text repeats possessively or within a bound, and what it fails on has a bound, so that no text costs
more than linear time; ``KIND`` looks at a single token. Letters are named by their code points and not by category, so that a
text gives the same strings under each version of Unicode, save paths in other scripts.
"""

from __future__ import annotations

import re
from typing import Final

from ledger.schema.currencies import CODES

_LETTERS: Final = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u037d\u037f-\u0386\u0388-\u03ff\u0400-\u052f\u1e00-\u1fff"
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
)
"""Latin, Greek and Cyrillic with their marks, and the wide forms; what no space parts from its neighbours is left to them."""

_WORD: Final = f"0-9_{_LETTERS}"
_INNER: Final = rf"{_WORD}.\-/@+~#$"

_IN_URL: Final = r"[^\s\"'<>`|\\^{}\[\]\u0085\u00a0\u2000-\u206f\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]++"
_IN_DRIVE: Final = r"[^\s\"'<>`|:*?,;()\[\]{}]++"

_SIGNS: Final = r"\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd\u20ba\u20ab\u20aa\u20a6\u20b1\u20b4\u20b8\u0e3f\uffe5"
_MONEY: Final = f"[${_SIGNS}]"
_CODES: Final = "|".join(sorted(CODES))
_NUMBER: Final = r"\d{1,40}+(?:[.,'\u2019\u202f]\d{1,40}+){0,12}+"
_UNITS: Final = (
    r"%|\u2030|\u00b0[CF]?|[KkMGTP]i?[Bb]ps|[KkMGTP]i?[Bb]|[Bb]ytes?|bits?|[mnu\u00b5\u03bc]s|s|secs?|seconds?|mins?|minutes?|"
    r"h|hrs?|hours?|days?|weeks?|months?|years?|km/h|mph|[kcm\u00b5]?m|miles?|feet|ft|inch(?:es)?|[km\u00b5]?g|lbs?|oz|[km]?[lL]|"
    r"lit(?:er|re)s?|[kKMG]?Hz|[kKM]?Wh?|[kKm]?V|m?A|px|pt|r?em|dpi|fps|rpm|[kKM]|bn|tokens?|lines?|rows?|bps|x|"
    r"dollars?|euros?|cents?|pounds?|rupees?|yen"
)
_CJK_UNITS: Final = (
    r"[\u5143\u5186\u5713\u5757\u4e07\u842c\u4ebf\u5104\u4e2a\u500b\u4ef6\u5f20\u5f35\u540d\u4eba\u53f0\u5929\u65e5\u6708\u5e74"
    r"\u65f6\u6642\u70b9\u9ede\u70b9\u5206\u79d2\u5c81\u6b73\u516c\u91cc\u7c73\u5ea6\uc6d0\ub144\uc6d4\uc77c\uc2dc\ubd84\uac1c\uff05]"
)
_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_HALF: Final = r"[ \u00a0\u202f]?(?:[ap]m|[AP]M|[ap]\.m\.|[AP]\.M\.)"
_AFTER: Final = rf"(?![{_WORD}]|[.\-/@][{_WORD}])"

_MONTHS: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|"
    r"Dec(?:ember)?|Januar|Februar|M\u00e4rz|Mai|Juni|Juli|Oktober|Dezember)"
)
_DATE: Final = (
    rf"\d{{4}}[-/]\d\d?[-/]\d\d?(?:(?:T|\ ){_CLOCK}(?:\ ?Z|\ ?UTC|[+\-]\d\d:?\d\d)?)?{_AFTER}"
    rf"|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}(?![{_WORD}/])"
    rf"|{_CLOCK}(?:{_HALF})?(?:\ ?Z|\ UTC|[+\-]\d\d:?\d\d)?{_AFTER}"
    rf"|\d{{1,2}}{_HALF}(?![{_LETTERS}])"
    r"|\d{4}\u5e74\d{1,2}\u6708(?:\d{1,2}[\u65e5\u53f7\u865f])?|\d{1,2}\u6708\d{1,2}[\u65e5\u53f7\u865f]"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\ (?:of\ )?{_MONTHS}(?:,?\ \d{{4}})?{_AFTER}"
)
_QUANTITY: Final = (
    rf"[+\-]?{_NUMBER}(?=[ \u00a0\u202f\-]?[^\s\d.,;:!?)])(?:"
    rf"[ \u00a0\u202f]?{_MONEY}|[ \u00a0\u202f]?(?=[A-Z]{{3}})(?:{_CODES}){_AFTER}"
    rf"|{_CJK_UNITS}{{1,4}}+|[ \u00a0\u202f\-]?(?:{_UNITS})(?![{_WORD}/\-]))"
    rf"|\d{{1,3}}(?:,\d{{3}}){{1,12}}+(?:\.\d{{1,40}}+)?{_AFTER}|\d{{1,40}}+[.,]\d{{1,40}}+(?![{_WORD}.,\-])"
)
_AMOUNT: Final = (
    rf"[+\-\u2212]?{_MONEY}[ \u00a0]?{_NUMBER}(?:[ \u00a0]?(?:[kKM]|bn|million|billion))?{_AFTER}"
    rf"|(?=[A-Z]{{3}}[ \u00a0\d])(?:{_CODES})[ \u00a0]?{_NUMBER}{_AFTER}"
)

_HEX: Final = "[0-9A-Fa-f]{1,4}"
_LONG_NUMBER: Final = (
    rf"(?:\+\d{{1,3}}(?:(?:[ \-]|(?<=\)))\(?\d{{1,9}}\)?){{2,6}}|\d{{4}}(?:[ ]\d{{4}}){{3}}"
    r"|[A-Z]{2}\d{2}[ ][A-Z0-9]{4}[ ]\d{4}(?:[ ][A-Z0-9]{4}){0,6}(?:[ ][A-Z0-9]{1,3})?"
    rf"|(?={_HEX}:)(?=[A-Fa-f:]{{0,30}}\d)(?:(?:{_HEX}:){{4,7}}{_HEX}|(?:{_HEX}:){{1,6}}(?::{_HEX}){{1,6}})(?:/\d{{1,3}})?"
    rf"){_AFTER}"
)
"""A telephone's with its country, a card's, a bank account's, or the address of hardware or of a machine."""

# Plain words are gone through many at a time, with what parts them; whatever else begins is read to its end. The empty
# alternative at the end makes a match of each step, so that nothing is gone through twice.
TOKEN: Final = re.compile(
    rf"(?:(?:[A-Za-z]?[a-z]*+(?!::|\(\))[.]?|[+\-/\#_@~]{{1,3}}+)[^{_INNER}{_SIGNS}\\]++)*+(?:"
    rf"(?<![{_WORD}.,])(?:(?P<number>{_LONG_NUMBER})|(?=\d)(?P<date>{_DATE})|(?=[+\-]?\d)(?P<quantity>{_QUANTITY})"
    rf"|(?P<amount>{_AMOUNT}))|(?<=<)/[A-Za-z][\w:.\-]{{0,40}}+(?=>)"
    rf"|(?P<url>(?:(?<=[A-Za-z0-9]:)//|www\.(?=[A-Za-z0-9])){_IN_URL})"
    rf"|(?P<token>(?:[{_INNER}]++(?::(?=\d)|::(?=[{_WORD}]))?)++(?:\(\))?)"
    rf"|(?P<drive>(?<=(?<![{_WORD}])[A-Za-z]:)\\{_IN_DRIVE})|\\(?:u[0-9A-Fa-f]{{4}}|[a-z\"\\/])|)",
    re.ASCII,
)
"""One thing after the other: words that say nothing exact, then an escape of JSON or what may be exact, in a named group."""

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:$")
"""What stands before the two slashes of an address."""

MONTH_DATE: Final = re.compile(
    rf"[JFMASOND](?<![{_WORD}][JFMASOND])(?:an(?:uary|uar)?|eb(?:ruary|ruar)?|ar(?:ch)?|pr(?:il)?|ay|une?|uly?|ug(?:ust)?|"
    rf"ept?(?:ember)?|ct(?:ober)?|ov(?:ember)?|ec(?:ember)?|\u00e4rz|ai|uni|uli|ktober|ezember)"
    rf"\.?\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?{_AFTER}"
)
"""A day after the name of its month, in English and German."""

PERHAPS_DAY: Final = re.compile(r"\ (?<=[a-z.]\ )\d")
"""What each of them holds, and few other texts; it is found in less time."""

BACKTICKS: Final = re.compile(r"`++([^`\n]*+)(`*+)")
"""Code in a line; without its end it is none."""

DOUBLE_QUOTES: Final = re.compile(r'"((?:[^"\\\n]++|\\.)*+)("?+)(\s*+:)?+')
"""A quote or a string of JSON; before a colon it is a name in JSON."""

SINGLE_QUOTES: Final = re.compile(rf"'(?<![{_WORD}]')([^'\n]{{1,80}}+)'(?![{_WORD}])")
OTHER_QUOTES: Final = re.compile(
    "[\u201c\u201e\u00ab\u300c\u300e\u300a]([^\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\u300a\u300b\n]{1,80}+)"
    "[\u201c\u201d\u00bb\u300d\u300f\u300b]"
)
COMMANDS: Final = re.compile(r"\$ (?<![^\n]\$ )([^\n]++)")
"""A line that begins as a shell's prompt does."""

FOREIGN_PATH: Final = re.compile(rf"/(?<![{_WORD}.~]/)[\w.\-/]{{1,200}}+")
"""A path in any script; it counts where it ends as the name of a file does."""

FILE_ENDING: Final = re.compile(r".*[^\W_]\.[A-Za-z0-9]{1,8}(?![A-Za-z0-9])", re.DOTALL)
"""All up to the last ending of a file's name."""

_NAME: Final = f"[_{_LETTERS}][{_WORD}]*+"
_ENDINGS: Final = (
    "py|pyi|ipynb|js|mjs|jsx|ts|tsx|go|rs|c|h|cc|cpp|hpp|cs|java|kt|rb|php|swift|scala|lua|pl|r|jl|sh|bash|ps1|bat|sql|md|rst|txt|"
    "json|jsonl|yaml|yml|toml|ini|cfg|conf|env|lock|xml|html|css|scss|svg|csv|tsv|log|pdf|docx?|xlsx?|pptx?|odt|png|jpe?g|gif|webp|"
    "mp[34]|wav|zip|tar|gz|tgz|bz2|xz|7z|whl|jar|exe|dll|so|db|sqlite|parquet|ics|eml|pem|key|crt|tf|proto|gradle|vue|ex|exs"
)
_IDENTIFYING: Final = (
    rf"[{_WORD}.+\-]++@[{_WORD}\-]++(?:\.[{_WORD}\-]++)++"  # an e-mail address
    r"|\#\d++"  # an issue
    rf"|@?(?:~|\.{{1,2}}|\$\w++)?/[{_INNER}:]{{2,}}"  # a path from a root, from here, from a variable or of a scope
    rf"|[@{_WORD}.\-][{_INNER}]*+(?<=/)(?<=\w\w/)"  # a folder
    rf"|(?=[^/]++/[^/]++/|.*[^/]\.[A-Za-z]\w{{0,7}}(?::\d++)*$|.*[_\d])@?(?=.*[{_LETTERS}])[{_WORD}.\-]++(?:/[{_INNER}:]++)++"
    rf"|(?=.*\d)(?=.*[{_LETTERS}_])(?!\d++(?:st|nd|rd|th)$)(?!\d++(?:-[a-z]++)++$)"
    rf"[{_WORD}][{_WORD}.\-:]+[{_WORD}]"  # letters and digits mixed
    r"|\d{5,}"
    r"|\+\d{6,}|\+?\d++(?:-\d++){2,}|\d{2,5}[-/]\d{6,}"  # a number as that of a telephone
    r"|\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}"  # the addresses of a network
    rf"|[{_WORD}.\-]*[{_WORD}]\.(?:{_ENDINGS})(?::\d++)?"  # the name of a file
)
_TELLING: Final = (
    r"--[A-Za-z][\w\-]*+"  # an option of a command
    rf"|\$_*[A-Za-z_]\w*+|@{_NAME}(?:[.\-][{_WORD}]++)*+"
    rf"|{_NAME}(?:\.{_NAME})*+\(\)"  # a function
    rf"|(?=[{_WORD}]*?_)(?=.*[{_LETTERS}])[{_WORD}.\-]++(?:::[{_WORD}]++)*+"  # snake_case
    rf"|[{_LETTERS}]*[a-z][A-Z][{_WORD}.]*+"  # CamelCase
    rf"|(?!(?:\w\.)+\w?$)\.?{_NAME}(?:(?:\.|::){_NAME})+|\.[a-z]\w+"  # dotted names, names of files
    r"|[vV]?\d++(?:[.:\-]\d++)+(?:[.\-+]?[A-Za-z]\w*+)*+|[vV]\d++"  # versions, addresses, ranges
    r"|\d{4}"
)
KIND: Final = re.compile(rf"(?P<identifying>{_IDENTIFYING})|(?P<telling>{_TELLING})", re.ASCII)
"""What a token is that is exact: it identifies something, or it is telling otherwise."""

AMOUNTS: Final = re.compile(r"\d\D|\D\d", re.ASCII)
"""A digit beside something else: what days, amounts and numbers with what they count have in them, wherever these stand."""

LEAD: Final = re.compile("@(?=[./~])|[+\\-](?=[A-Za-z./~])")
"""A sign that does not belong to what it precedes, as of a line that was added, or of a file that is mentioned."""

LOCATOR: Final = re.compile("[A-Z]{6}")
"""What may be the number of a reservation, where it is no word that is said loudly."""

LOUD_BEFORE: Final = re.compile(r"[A-Z]{2,}[ ,]{1,2}$")
LOUD_AFTER: Final = re.compile("[ ,]{1,2}[A-Z]{2,}")

LOUD_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        ACCEPT ACCESS ACTION ACTIVE ALWAYS ANSWER BEFORE BRANCH BUDGET CANCEL CANNOT CHANGE CLIENT COMMIT CONFIG COURSE CREATE
        DEFINE DELETE DESIGN DIRECT DURING EDITED ENABLE ENSURE ERRORS EXCEPT EXISTS EXPORT FAILED FOLDER FORMAT GITHUB GLOBAL
        HAVING HEADER IGNORE IMPORT INLINE INPUTS INSERT INSIDE INVOKE ISSUES LAYOUT LETTER LISTEN MANUAL MASTER MEMORY METHOD
        MODIFY MODULE NEEDED NORMAL NOTICE NUMBER OBJECT OPTION ORDERS OUTPUT PARENT PASSED PLEASE POLICY PROMPT PUBLIC PYTHON
        RANDOM README REASON RECORD REFUND REJECT REMOVE RENAME REPEAT REPORT RESULT RETURN REVIEW REWORK SAFETY SAMPLE SCHEMA
        SCREEN SCRIPT SEARCH SECOND SECRET SELECT SERVER SHOULD SIMPLE SINGLE SOURCE STATIC STATUS STRICT STRING SUBMIT SWITCH
        SYNTAX SYSTEM TARGET THANKS THREAD TOGGLE UNIQUE UNLESS UNUSED UPDATE URGENT VALUES VERIFY WINDOW WITHIN
        """,
    )
)
"""Words of six letters that people and programs write in capitals."""
