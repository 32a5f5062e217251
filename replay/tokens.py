"""Token counts, offline: the ranks of the public encodings travel with this package, nothing is fetched.

A count is a pure function of (encoding name, text), so store the encoding's name beside it. Text is always
counted as ordinary text: the spelling of a special token (``<|endoftext|>``) has no power here. A lone
surrogate counts as U+FFFD.

**What is exact.** Text of up to ``BLOCK_CHARACTERS`` goes to the tokenizer whole. Longer text is cut into
blocks of at most that length, each at its last *seam* (``projections.seams``). No token of these encodings
crosses one, so the sum is the count of the whole. Only a run of more than ``BLOCK_CHARACTERS`` without any
seam (base64 on one line, a megabyte of spaces) is cut where the block ends; each such cut can move the sum by
a token or two either way, and not at all where one character repeats, because 98,304 is a multiple of every
such run that is one token (3 digits; 2, 4, 8 … 128 of most others).

**Why cut at all.** A megabyte of spaces makes the tokenizer's regular expression give up with a panic that no
``except Exception`` catches, and merging one long piece costs more than linear time.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from projections.encodings import ENCODINGS, unknown_encoding
from projections.seams import last_seam

if TYPE_CHECKING:
    import tiktoken

BLOCK_CHARACTERS = 98_304
"""Longest text, in characters, that is handed to the tokenizer in one call."""

MEMO_COUNTS = 16_384
"""Counts remembered for each encoding: digests and numbers, about 3 MB when full, never the text itself."""

PATTERNS: dict[str, str] = {
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
        r"|\s*[\r\n]+"
        r"|\s+(?!\S)"
        r"|\s+"
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)"
        r"|[^\r\n\p{L}\p{N}]?+\p{L}++"
        r"|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$"
        r"|\s*[\r\n]"
        r"|\s+(?!\S)"
        r"|\s"
    ),
}
"""The regular expression of each encoding that cuts text into pieces, as tiktoken publishes it."""

SPECIAL_TOKENS: dict[str, dict[str, int]] = {
    "o200k_base": {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018},
    "cl100k_base": {
        "<|endoftext|>": 100_257,
        "<|fim_prefix|>": 100_258,
        "<|fim_middle|>": 100_259,
        "<|fim_suffix|>": 100_260,
        "<|endofprompt|>": 100_276,
    },
}
"""The special tokens of each encoding, as tiktoken publishes them. Counting never produces one."""


def counter(encoding: str) -> Callable[[str], int]:
    """The function that counts the tokens of a text in ``encoding``, which is one of ``projections.encodings.ENCODINGS``.

    Making it costs nothing; its first count loads the ranks, once per process. It takes any str, needs time
    linear in its length and remembers its last ``MEMO_COUNTS`` counts. Threads may share it. Any other name
    raises ``UnknownEncoding``: for a model's name use ``counter(encoding_for(model))``.
    """
    if encoding not in _COUNTERS:
        raise unknown_encoding(encoding)
    return _COUNTERS[encoding]


def is_loaded(encoding: str) -> bool:
    """Whether the tokenizer of an encoding is in this process already, so that counting loads nothing."""
    return _COUNTERS[encoding].is_loaded


class _Counter:
    """One encoding's counter, with its tokenizer and its memo."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._loading = threading.Lock()
        self._tokenizer: tiktoken.Encoding | None = None
        self._remembering = threading.Lock()
        self._memo: OrderedDict[bytes, int] = OrderedDict()

    def __call__(self, text: str) -> int:
        # A digest instead of the text: text that somebody asked to forget must not live on in a cache.
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._remembering:
            known = self._memo.get(key)
            if known is not None:
                self._memo.move_to_end(key)
                return known
        count = self._count(text)
        with self._remembering:
            self._memo[key] = count
            if len(self._memo) > MEMO_COUNTS:
                self._memo.popitem(last=False)
        return count

    @property
    def is_loaded(self) -> bool:
        """Whether the ranks were read."""
        return self._tokenizer is not None

    def _count(self, text: str) -> int:
        encode = self._loaded().encode_ordinary
        return sum(len(encode(block)) for block in _blocks(text))

    def _loaded(self) -> tiktoken.Encoding:
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = _load(self._encoding)
            return self._tokenizer


_COUNTERS = {encoding: _Counter(encoding) for encoding in ENCODINGS}


def _blocks(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > BLOCK_CHARACTERS:
        seam = last_seam(text, start, start + BLOCK_CHARACTERS)
        end = seam if seam > start else start + BLOCK_CHARACTERS
        yield text[start:end]
        start = end
    yield text[start:]


def _load(encoding: str) -> tiktoken.Encoding:
    import tiktoken

    ranks = {token: rank for rank, token in enumerate(_ranked_tokens(encoding))}
    return tiktoken.Encoding(
        encoding,
        pat_str=PATTERNS[encoding],
        mergeable_ranks=ranks,
        special_tokens=SPECIAL_TOKENS[encoding],
    )


def _ranked_tokens(encoding: str) -> Iterator[bytes]:
    """The bytes of every token in rank order.

    The packed form is xz of: u32 count (little endian), one length byte a token, then the bytes end to end.
    """
    import lzma
    from importlib.resources import files

    packed = lzma.decompress((files("replay") / "ranks" / f"{encoding}.bin.xz").read_bytes())
    (count,) = struct.unpack_from("<I", packed)
    start = 4 + count
    for length in packed[4:start]:
        yield packed[start : start + length]
        start += length
