"""Foreign JSON, kept as the text in which it came.

A number that is parsed and written again may be another number (``4050.10`` becomes ``4050.1``, ``2**64 + 1`` a float), keys
may
change their order, a lone surrogate cannot be written at all. So JSON that others wrote is checked once, kept as its source
text, and compared by a canonical form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, NoReturn, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ledger.errors import InvalidInput, LimitExceeded
from ledger.limits import MAX_JSON_DEPTH

_SPACE = " \t\n\r"
# Possessive, so that a string without an end costs one pass and not one for each of its quotes.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STRING_OR_SPACE = re.compile(rf"({_STRING.pattern})|[ \t\n\r]+", re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE](?:\+|(-))?0*(\d+))?")
_MAX_INT_DIGITS = 4000  # Python refuses to convert more than 4,300 digits


class JsonText(str):
    """The source text of one JSON value, known to be valid: no duplicate keys, no NaN, bounded depth.

    Build one with ``JsonText.of(value)`` from a Python value or ``JsonText.parse(source)`` from JSON text; ``JsonText(source)``
    checks likewise, and keeps the white space around the value too. A text is always encodable as UTF-8.
    """

    __slots__ = ()

    def __new__(cls, source: str) -> Self:
        """Check ``source`` and keep it as it is; ``InvalidInput`` names the path or the offset."""
        _check_depth(source)
        text = _escape_surrogates(source)
        _check_tree(text)
        return str.__new__(cls, text)

    @classmethod
    def stored(cls, text: str) -> Self:
        """The text that was checked before it was stored: not checked again."""
        return str.__new__(cls, text)

    @classmethod
    def of(cls, value: object) -> JsonText:
        """The JSON text of a plain Python value: str, int, finite float or Decimal, bool, None, list, dict with str keys.

        Everything else (tuple, set, datetime, int keys, NaN, infinities) raises ``InvalidInput`` with its path, because it
        would not come back as it went in.
        """
        if isinstance(value, JsonText):
            return value
        text = "".join(_encode(value, "$", 0))
        if "\\ud" in text:  # two keys may be one: the character and the pair of surrogates that spells it
            return cls(text)
        _check_depth(text)
        return cls.stored(text)

    @classmethod
    def parse(cls, source: str | bytes) -> JsonText:
        """Check ``source`` and keep it, without the white space around it; ``InvalidInput`` names the path or the offset."""
        return cls(_decode(source).strip(_SPACE))

    @property
    def value(self) -> Any:
        """The Python value; numbers with a fraction or an exponent are ``Decimal``, so that nothing is rounded."""
        return json.loads(self, parse_int=_python_int, parse_float=_python_decimal)

    @property
    def canonical(self) -> str:
        """One text for all spellings of the same value: sorted keys, one form of a number, no white space, ASCII."""
        return "".join(_canonical(json.loads(self, parse_int=_Number, parse_float=_Number)))

    @property
    def one_line(self) -> str:
        """The source text without white space between its tokens."""
        return _STRING_OR_SPACE.sub(lambda match: match.group(1) or "", self)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            _validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )


def _validate(value: object, info: core_schema.ValidationInfo[Any]) -> JsonText:
    """Stored text was checked when it came in; a Python value becomes its JSON text."""
    if info.mode == "json":
        if not isinstance(value, str):
            raise ValueError("foreign JSON is stored as a string")
        return JsonText.stored(value)
    return JsonText.of(value)


def json_string(text: str) -> str:
    """The JSON literal of a text; lone surrogates become escapes, all else stays as it is."""
    return _escape_surrogates(json.dumps(text, ensure_ascii=False))


def has_lone_surrogate(text: str) -> bool:
    """Whether UTF-8 cannot hold this text."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def _escape_surrogates(text: str) -> str:
    if not has_lone_surrogate(text):
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _decode(source: str | bytes) -> str:
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"not UTF-8 at byte {error.start}: keep raw bytes as an artifact, or decode them first",
            path="$",
            offset=error.start,
        ) from None


def _check_depth(text: str) -> None:
    """Before any recursive parser sees the text: brackets outside strings may not nest deeper than the limit."""
    if text.count("[") + text.count("{") <= MAX_JSON_DEPTH:
        return
    depth = 0
    for match in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if match.group() in "[{" else -1
        if depth > MAX_JSON_DEPTH:
            _too_deep("$")


def _too_deep(path: str) -> NoReturn:
    raise LimitExceeded(
        f"JSON nests deeper than {MAX_JSON_DEPTH} levels (MAX_JSON_DEPTH): keep it as an artifact or as text", path=path
    )


class _Refused:
    """Stands in the parsed tree where something must be refused, so that its path can be found."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def _check_tree(text: str) -> None:
    refused: list[_Refused] = []

    def refuse(reason: str) -> _Refused:
        refused.append(_Refused(reason))
        return refused[-1]

    def pairs(items: list[tuple[str, Any]]) -> Any:
        tree = dict(items)
        if len(tree) == len(items):
            return tree
        names = [name for name, _ in items]
        return refuse(f"duplicate key {next(name for name in names if names.count(name) > 1)!r}")

    try:
        tree = json.loads(
            text,
            parse_int=str,
            parse_float=str,
            parse_constant=lambda name: refuse(f"{name} is not JSON"),
            object_pairs_hook=pairs,
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON at character {error.pos}: {error.msg}", path="$", offset=error.pos) from None
    if refused:
        path, found = next(_find(tree, "$"))
        raise InvalidInput(f"{found.reason} at {path}: send the value as text, or without it", path=path)


def _find(tree: Any, path: str) -> Iterator[tuple[str, _Refused]]:
    if isinstance(tree, _Refused):
        yield path, tree
    elif isinstance(tree, dict):
        for name, child in tree.items():
            yield from _find(child, _child(path, name))
    elif isinstance(tree, list):
        for index, child in enumerate(tree):
            yield from _find(child, f"{path}[{index}]")


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name)}]"


def _encode(value: object, path: str, depth: int) -> Iterator[str]:
    match value:
        case None | True | False:
            yield json.dumps(value)
        case JsonText():
            yield value
        case str():
            yield json_string(value)
        case int():
            yield _int_text(int(value), path)
        case float() | Decimal():
            yield _real_text(value, path)
        case list():
            yield from _encode_list(value, path, depth)
        case dict():
            yield from _encode_dict(value, path, depth)
        case _:
            raise InvalidInput(
                f"{type(value).__name__} at {path} is not plain JSON and would not come back as it went in: "
                "give str, int, float, Decimal, bool, None, list, or dict with str keys",
                path=path,
            )


def _encode_list(items: list[Any], path: str, depth: int) -> Iterator[str]:
    if depth == MAX_JSON_DEPTH:
        _too_deep(path)
    yield "["
    for index, item in enumerate(items):
        if index:
            yield ","
        yield from _encode(item, f"{path}[{index}]", depth + 1)
    yield "]"


def _encode_dict(items: dict[Any, Any], path: str, depth: int) -> Iterator[str]:
    if depth == MAX_JSON_DEPTH:
        _too_deep(path)
    yield "{"
    for index, (name, item) in enumerate(items.items()):
        if not isinstance(name, str):
            raise InvalidInput(f"key {name!r} at {path} is not a str: JSON has only str keys", path=path)
        yield f"{',' if index else ''}{json_string(name)}:"
        yield from _encode(item, _child(path, name), depth + 1)
    yield "}"


def _int_text(value: int, path: str) -> str:
    try:
        return str(value)
    except ValueError:
        raise LimitExceeded(f"integer at {path} has too many digits: send it as text", path=path) from None


def _real_text(value: float | Decimal, path: str) -> str:
    text = str(value)
    if not _NUMBER.fullmatch(text):
        raise InvalidInput(f"{text} at {path} is not JSON: send it as text, or leave it out", path=path)
    return text


class _Number(str):
    """A number's source text inside a parsed tree, told apart from strings."""

    __slots__ = ()


def _canonical(tree: Any) -> Iterator[str]:
    if isinstance(tree, _Number):
        yield _canonical_number(tree)
    elif isinstance(tree, dict):
        yield "{"
        for index, name in enumerate(sorted(tree)):
            yield f"{',' if index else ''}{json.dumps(name)}:"
            yield from _canonical(tree[name])
        yield "}"
    elif isinstance(tree, list):
        yield "["
        for index, item in enumerate(tree):
            yield "," if index else ""
            yield from _canonical(item)
        yield "]"
    else:
        yield json.dumps(tree)


def _canonical_number(source: str) -> str:
    match = _NUMBER.fullmatch(source)
    assert match is not None, "the parser hands over JSON numbers only"
    sign, whole, fraction = match[1], match[2], match[3] or ""
    exponent = (match[4] or "") + (match[5] or "0")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"
    if len(exponent) > _MAX_INT_DIGITS:
        return source
    power = int(exponent) - len(fraction) + len(digits) - len(significant)
    return f"{sign}{significant}e{power}"


def _python_int(source: str) -> int | Decimal:
    return int(source) if len(source) < _MAX_INT_DIGITS else Decimal(source)


def _python_decimal(source: str) -> Decimal | str:
    """A number that even Decimal cannot hold (an exponent past its range) stays the text that it was."""
    try:
        return Decimal(source)
    except InvalidOperation:
        return source


def _text_from(value: object, info: core_schema.ValidationInfo[Any]) -> str:
    if isinstance(value, str):
        # What was read out of JSON has none.
        return value if info.mode == "json" or not has_lone_surrogate(value) else _pairs_joined(value)
    if info.mode == "json" and isinstance(value, dict) and value.keys() == {"json_literal"}:
        return _literal(value["json_literal"])
    raise ValueError("a text is a str")


def _literal(source: object) -> str:
    """The text of a JSON string, and of nothing else that the stored bytes may have become."""
    if not isinstance(source, str) or not source.startswith('"'):
        raise ValueError("a JSON literal of a text is a JSON string")
    return str(json.loads(source))


def _pairs_joined(text: str) -> str:
    """A high surrogate before a low one is the character that they spell: JSON could not tell them from it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _text_to(value: str) -> str | dict[str, str]:
    return {"json_literal": json.dumps(value)} if has_lone_surrogate(value) else value


class _TextSchema:
    """Any Python str, stored as a JSON string, or as ``{"json_literal": …}`` where UTF-8 cannot hold it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Callable[[Any], CoreSchema]) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            _text_from, serialization=core_schema.plain_serializer_function_ser_schema(_text_to)
        )


Text = Annotated[str, _TextSchema]
"""Text that survives unchanged, whatever code points it holds."""
