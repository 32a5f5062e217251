"""Secrets kept out of the record: what is to be recorded is searched for them first, and a mark stands where one was. Pure.

The mark names the rule and a keyed hash, so that the same secret is known again and nobody can guess it from the record.
Bytes of artifacts are stored as they are: look through them before they are given.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from ledger.errors import InvalidInput
from ledger.events import EvidenceRecorded, PolicyRecorded, SchemaSet, WindowRecorded
from ledger.json_text import JsonText, json_string
from ledger.marks import secret_mark
from ledger.parts import Frozen, Name, ReasoningPart
from ledger.requests import DeclareSchema, RecordWindow

Model = TypeVar("Model", bound=BaseModel)


class SecretRule(Frozen):
    """What a kind of secret looks like: a regular expression; its group ``secret`` is the secret, or all that it matches.

    The expression runs over whatever is recorded, so one that repeats what repeats, as ``(a+)+`` does, may take for ever.
    """

    name: Name
    pattern: str


# No part of a pattern may run on without a bound where another match of it may begin: texts are long, and may be hostile.
_BEGINS: Final = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_ENDS: Final = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_LINES: Final = r"(?:[A-Za-z0-9+/=\s\\:,]|-(?!-{4}))*+"  # also escaped line ends, and headers such as Proc-Type
_WORD: Final = r"[^\s\"'\\,;()\[\]{}<>$|&`*]"

STANDARD_RULES: Final = (
    SecretRule(name="private-key", pattern=rf"{_BEGINS}(?=[\s\S]{{0,200}}?[A-Za-z0-9+/=]{{24}}){_KEY_LINES}(?:{_ENDS})?"),
    SecretRule(
        name="url-password",
        pattern=r"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'\\<>]{0,200}:(?P<secret>[^\s@/\"'\\<>${}]{1,200})@",
    ),
    SecretRule(name="api-key", pattern=r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct)[-_][A-Za-z0-9_-]{8,}"),
    SecretRule(name="api-key", pattern=r"\bsk-(?=[A-Za-z]{0,19}[0-9])[A-Za-z0-9]{20,}"),
    SecretRule(name="aws-key", pattern=r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    SecretRule(name="github-token", pattern=r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    SecretRule(name="gitlab-token", pattern=r"\bglpat-[A-Za-z0-9_-]{20,}"),
    SecretRule(name="slack-token", pattern=r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    SecretRule(name="google-key", pattern=r"\bAIza[0-9A-Za-z_-]{35}"),
    SecretRule(name="json-web-token", pattern=r"\beyJ[A-Za-z0-9_-]{8,2000}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}"),
    SecretRule(name="bearer-token", pattern=r"(?i)\bbearer (?P<secret>(?=[a-z._~+/-]{0,200}[0-9])[a-z0-9._~+/-]{20,}=*)"),
    SecretRule(
        name="password",
        pattern=rf"(?i)(?<![a-z0-9])(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key)[\"'\\]{{0,4}}[ \t]{{0,9}}"
        rf"(?:=>|[=:](?!=))[ \t]{{0,9}}[\"'\\]{{0,4}}(?P<secret>(?={_WORD}{{0,99}}[0-9])(?={_WORD}{{0,99}}[a-z]){_WORD}{{8,}})",
    ),
)
"""Secrets that their form gives away. What follows "password:" counts as one if it has eight characters, letters and digits."""

_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_COLON: Final = re.compile(r"\s*:\s*")
_ESCAPES: Final = re.compile(r"\\(?:/|u00[2-7])")
"""How JSON may write a secret in characters that no rule looks for."""

# Ids and names by which events find each other stay as they are.
_KEPT: Final = {
    "type",
    "call_id",
    "sha256",
    "entry",
    "contradiction",
    "evidence",
    "field",
    "tool",
    "media_type",
    "job",
    "external_id",
}


class Redactor:
    """Replaces secrets in what is recorded. ``connect(…, redact=Redactor())`` takes the standard rules, or give others."""

    def __init__(self, rules: Iterable[SecretRule] = STANDARD_RULES) -> None:
        self._rules = tuple((rule.name, _compiled(rule)) for rule in rules)

    def text(self, text: str, key: bytes) -> str:
        """A text with a mark in the place of every secret; ``key`` is the store's secret."""
        for name, pattern in self._rules:
            text = pattern.sub(lambda match, name=name: _marked(match, name, key), text)  # type: ignore[misc]
        return text

    def json(self, source: JsonText, key: bytes) -> JsonText:
        """JSON with a mark in the place of every secret in its strings. Names stand before their values for the rules."""
        if _ESCAPES.search(source) is None and self.text(source, key) == source:
            return source
        found: list[str] = []
        done, name, name_ends = 0, "", -1
        for match in _STRING.finditer(source):
            before = name if match.start() == name_ends else None
            text = json.loads(match[0])
            new = self._value_of(before, text, key)
            found += [source[done : match.start()], match[0] if new == text else json_string(new)]
            done = match.end()
            colon = _COLON.match(source, done)
            if colon is not None:
                name, name_ends = text, colon.end()
        made = "".join([*found, source[done:]])
        return source if made == source else JsonText(made)

    def redacted(self, asked: Model, key: bytes) -> Model:
        """A request or an event without secrets; the same one if it holds none. Reasoning that holds one is left out whole.

        ``InvalidInput`` for evidence: a quote with a mark in it would not stand in its page any more. Schemas and policies,
        which have a digest, are nobody's words and stay as they are.
        """
        if isinstance(asked, DeclareSchema | SchemaSet | PolicyRecorded | RecordWindow | WindowRecorded):
            return asked
        changed = {}
        for name in type(asked).model_fields:
            value = getattr(asked, name)
            new = value if name in _KEPT else self._value(value, key)
            if new is not value:
                changed[name] = new
        if changed and isinstance(asked, EvidenceRecorded):
            raise InvalidInput("the evidence holds a secret: quote another passage", path="quote")
        return asked.model_copy(update=changed) if changed else asked

    def _value_of(self, name: str | None, text: str, key: bytes) -> str:
        if name is not None:
            named = self.text(f"{name}: {text}", key)
            if named.startswith(f"{name}: "):
                return named[len(name) + 2 :]
        return self.text(text, key)

    def _value(self, value: Any, key: bytes) -> Any:
        match value:
            case JsonText():
                return self.json(value, key)
            case str():
                text = self.text(value, key)
                return value if text == value else text
            case tuple():
                return self._items(value, key)
            case BaseModel():
                return self.redacted(value, key)
            case _:
                return value

    def _items(self, items: tuple[Any, ...], key: bytes) -> tuple[Any, ...]:
        """The items, without those that are signed and would not be what was signed."""
        news = [(item, self._value(item, key)) for item in items]
        if all(new is item for item, new in news):
            return items
        return tuple(new for item, new in news if new is item or not isinstance(item, ReasoningPart))


def keyed(digest: str, key: bytes) -> str:
    """A request's digest of which nobody can guess what was left out of the record."""
    return hmac.digest(key, b"request\0" + digest.encode(), "sha256").hex()


def _marked(match: re.Match[str], name: str, key: bytes) -> str:
    group = "secret" if "secret" in match.re.groupindex else 0
    secret = match.group(group)
    if not secret or secret.startswith("[redacted "):
        return match.group()
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{match.group()[:start]}[redacted {name} {secret_mark(key, secret)}]{match.group()[end:]}"


def _compiled(rule: SecretRule) -> re.Pattern[str]:
    try:
        return re.compile(rule.pattern)
    except re.error as error:
        raise InvalidInput(f"rule {rule.name!r}: {error}: give a regular expression", path="pattern") from error
