"""The little of SVG that the plots need. Every text and value is escaped; nothing is taken as markup but what is made here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape, quoteattr

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, and C1 controls."""

_STEERING: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
"""What turns the direction of the text around it."""

Value = str | float | int


class Markup(str):
    """Elements that were made here."""

    __slots__ = ()


def plain(text: str) -> str:
    """A text on one line without what XML forbids or what would turn the text around it."""
    return " ".join(_STEERING.sub("", _FORBIDDEN.sub("\ufffd", text)).split())


def element(name: str, *content: str | Markup, **attributes: Value | None) -> Markup:
    """An element: texts among the content are escaped, attributes that are None left out.

    ``_`` in the name of an attribute is a hyphen; one at its end is left out (``class_``).
    """
    pairs = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    head = "".join(f" {key}={quoteattr(plain(_number(value)))}" for key, value in pairs)
    inner = "".join(part if isinstance(part, Markup) else escape(plain(part)) for part in content)
    return Markup(f"<{name}{head}>{inner}</{name}>" if inner else f"<{name}{head}/>")


def together(parts: Iterable[Markup]) -> Markup:
    """Elements one after the other, a line each."""
    return Markup("\n".join(parts))


def style(rules: str) -> Markup:
    """A style sheet of our own; it is not escaped."""
    assert "<" not in rules, "a style sheet of ours holds no markup"
    return Markup(f"<style>{rules}</style>")


def document(*content: Markup, width: int, height: int, title: str, description: str) -> str:
    """The whole file: an image with a name and a description for those who do not see it."""
    root = element(
        "svg",
        element("title", title, id="title"),
        element("desc", description, id="description"),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_labelledby="title description",
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def _number(value: Value) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
