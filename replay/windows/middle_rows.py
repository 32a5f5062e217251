"""How middles are kept: most of them as what is new in them against one before, and every so often one by itself.

A middle repeats nearly all of the one before it, so that could be the dictionary by which it is compressed; but then one would
have to be read after the other. So of eight the fifth is written against the first, the third and the seventh against those
two, and only every second one against the one right before it. The stubs of a segment stand alone, since a window asks for
those of one segment.
"""

from __future__ import annotations

import zlib
from typing import Final

_ALONE_EVERY: Final = 8  # a power of two
_LEVEL: Final = 6
_IN_EVERY_STUB: Final = (
    b'[[10,[]],[11,[[12,"[search ": error, 1 result, 1 character, 10 results; whole result: result_id=r_12]",4],'
    b'[13,"[read_file "1,000 characters; whole result: result_id=r_13]",3]]],'
    b'[14,[[15,"[bash "100 lines; used ": 10 lines; whole result: result_id=r_15]",30]]]]'
)
"""What stubs repeat: the dictionary by which they are compressed, for ever the same one."""


def written_against(segments: int) -> int | None:
    """After how many segments the middle stands against which the one after so many is written; None where it stands alone.

    The one after it stands alone, or is written against it, or against one that has to be read before it.
    """
    place = (segments - 1) % _ALONE_EVERY  # among the eight, from 0: less its last binary 1, it is that of the other
    return segments - (place & -place) if place else None


def packed(middle: bytes, before: bytes | None) -> bytes:
    """The row of a middle as it is written; ``before`` is the one against which it is, None where it stands alone."""
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
    """The row of the stubs of a segment as they are written."""
    return packed(stubs, _IN_EVERY_STUB)


def unpacked_stubs(row: bytes) -> bytes | None:
    """The stubs of a row; None for a row of another form."""
    return unpacked(row, _IN_EVERY_STUB)
