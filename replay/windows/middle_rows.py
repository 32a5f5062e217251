"""How middles are kept: each as what is new in it against the one before it, and every so often one by itself.

A middle repeats nearly all of the one before it, so that is the dictionary by which it is compressed. The stubs of a segment
stand alone, since a window asks for those of one segment.
"""

from __future__ import annotations

import zlib
from typing import Final

ALONE_EVERY: Final = 8
"""Of so many segments one after the other, the middle after the first is kept by itself."""

_LEVEL: Final = 6
_IN_EVERY_STUB: Final = (
    b'{"0":[],"1":[{"version":1,"text":"[search \\": error, 1 result, 1 character, 10 results; whole result: result_id=r_1]",'
    b'"tokens":4},{"version":2,"text":"[read_file \\"1,000 characters; whole result: result_id=r_2]","tokens":3}],'
    b'"2":[{"version":3,"text":"[bash \\"100 lines; used \\": 10 lines; whole result: result_id=r_3]","tokens":30}]}'
)
"""What stubs repeat: the dictionary by which they are compressed, for ever the same one."""


def stands_alone(segments: int) -> bool:
    """Whether the middle after so many segments is kept by itself."""
    return segments % ALONE_EVERY == 1


def packed(middle: bytes, before: bytes | None) -> bytes:
    """The row of a middle that is written as JSON; ``before`` is the one before it, None where it stands alone."""
    if before is None:
        return zlib.compress(middle, _LEVEL)
    packer = zlib.compressobj(_LEVEL, zdict=before)
    return packer.compress(middle) + packer.flush()


def unpacked(row: bytes, before: bytes | None) -> bytes | None:
    """The middle of a row; None for a row of another form, or one that was written against another middle."""
    try:
        unpacker = zlib.decompressobj() if before is None else zlib.decompressobj(zdict=before)
        written = unpacker.decompress(row)
    except zlib.error:
        return None
    return written if unpacker.eof else None


def packed_stubs(stubs: bytes) -> bytes:
    """The row of the stubs of a segment that are written as JSON."""
    return packed(stubs, _IN_EVERY_STUB)


def unpacked_stubs(row: bytes) -> bytes | None:
    """The stubs of a row; None for a row of another form."""
    return unpacked(row, _IN_EVERY_STUB)
