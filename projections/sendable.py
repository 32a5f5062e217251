"""Texts as providers take them: well-formed, and not of white space alone."""

from __future__ import annotations

import re
from typing import Final

from ledger.json_text import JsonText

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.")
_LONE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def is_said(text: str) -> bool:
    """Whether a text is more than white space."""
    return bool(text) and not text.isspace()


def sendable(text: str) -> str:
    """The text with U+FFFD for every lone surrogate, since no provider takes one."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def well_formed_json(source: JsonText) -> JsonText:
    """The same JSON with U+FFFD for every escape of a lone surrogate."""
    return JsonText(_ESCAPE.sub(_mended, source)) if "\\u" in source else source


def unparsed_object(text: str) -> JsonText:
    """Arguments that are no JSON, where only an object may stand: inside of one, marked."""
    return JsonText.of({"unparsed_arguments": sendable(text)})


def _mended(match: re.Match[str]) -> str:
    return "\\ufffd" if _LONE_ESCAPE.fullmatch(match.group()) else match.group()
