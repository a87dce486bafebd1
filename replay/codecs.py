"""Byte blocks <-> Arrow columns.

Layout facts: sections 1.1, 6.4, 6.5 and 10 of the format notes (IBM's "decoding numeric data" table for numbers, CCSID tables for text).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]

#: Values up to this many bytes are cut with one fixed-width gather and a mask; longer ones are copied one by one by Arrow.
_SHORT = 24
#: Arrow string views address a data buffer with an int32: bigger files are offered as several overlapping buffers, one per this many bytes.
_VIEW_STEP = 1 << 30
_VIEW_REACH = (1 << 31) - 1


def gather(buf: Bytes, start: Index, width: int) -> Bytes:
    """``width`` bytes from every ``start``, as ``uint8[n, width]``. ``ValueError`` when one would lie outside ``buf``."""
    count = len(start)
    if count == 0 or width == 0:
        return np.empty((count, width), np.uint8)
    if int(start.min()) < 0 or int(start.max()) + width > len(buf):
        raise ValueError(f"gather of {width} bytes outside a buffer of {len(buf)}")
    windows = np.ndarray((len(buf) - width + 1,), f"V{width}", buf, 0, (1,))
    return windows[start].view(np.uint8).reshape(count, width)


def gather_padded(buf: Bytes, start: Index, length: Index, width: int) -> Bytes:
    """The first ``min(length, width)`` bytes from every ``start``, padded with zeros to ``uint8[n, width]``.

    ``ValueError`` when one would lie outside ``buf``.
    """
    if len(start) == 0 or width == 0:
        return np.zeros((len(start), width), np.uint8)
    short = np.minimum(length, width)
    if int(short.min()) < 0 or int(start.min()) < 0 or int((start + short).max()) > len(buf):
        raise ValueError(f"gather outside a buffer of {len(buf)} bytes")
    place = np.arange(width)
    late = np.flatnonzero(start > len(buf) - width)
    block = np.zeros((len(start), width), np.uint8)
    if len(late) == len(start):
        if len(buf):
            block[:] = buf[np.minimum(start[:, None] + place, len(buf) - 1)]
    else:
        block = gather(buf, np.minimum(start, len(buf) - width), width)
        if len(late):
            block[late] = buf[np.minimum(start[late, None] + place, len(buf) - 1)]
    if int(short.min()) < width:
        block *= place < short[:, None]
    return block


def gather_varying(buf: Bytes, start: Index, length: Index) -> tuple[Bytes, Index]:
    """``length`` bytes from every ``start``, joined: the bytes ``uint8[total]`` and the ``n + 1`` offsets into them.

    ``ValueError`` when a piece would lie outside ``buf``.
    """
    count = len(start)
    offsets = np.zeros(count + 1, np.int64)
    if count == 0:
        return np.empty(0, np.uint8), offsets
    np.cumsum(length, out=offsets[1:])
    longest = int(length.max())
    if int(length.min()) < 0 or int(start.min()) < 0 or int((start + length).max()) > len(buf):
        raise ValueError(f"gather outside a buffer of {len(buf)} bytes")
    if offsets[-1] == 0:
        return np.empty(0, np.uint8), offsets
    if longest <= _SHORT:
        return gather_padded(buf, start, length, longest)[np.arange(longest) < length[:, None]], offsets
    views = np.zeros((count, 4), np.int32)
    views[:, 0] = length
    views[:, 1:] = gather_padded(buf, start, length, 12).view(np.int32)
    far = length > 12
    views[far, 2] = start[far] // _VIEW_STEP
    views[far, 3] = start[far] % _VIEW_STEP
    pieces = [pa.py_buffer(buf[at : at + _VIEW_REACH]) for at in range(0, len(buf), _VIEW_STEP)]
    joined = pa.Array.from_buffers(pa.binary_view(), count, [None, pa.py_buffer(views), *pieces]).cast(pa.large_binary())
    return np.frombuffer(joined.buffers()[2], np.uint8)[: int(offsets[-1])], offsets
