"""Names for the arrays that most modules pass around, said once; and what is asked of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

#: Bytes: of a file, of images, or ``uint8[n, width]`` of ``n`` fixed fields.
Bytes = npt.NDArray[np.uint8]
#: Row numbers, offsets and lengths.
Index = npt.NDArray[np.int64]
#: True for some of ``n`` rows.
Mask = npt.NDArray[np.bool_]
#: Lengths of records.
Lengths = npt.NDArray[np.int32]
#: Indexes of table versions in the catalog; -1 where a record is of none.
Versions = npt.NDArray[np.int32]
#: 64-bit hashes, and other unsigned words.
Hashes = npt.NDArray[np.uint64]
#: Structured rows; the docstring says of which dtype.
Records = npt.NDArray[np.void]


def one_of(octets: Bytes, members: Iterable[int]) -> Mask:
    """``bool[n]``: which of ``n`` bytes are one of ``members`` (numbers below 256). ``np.isin``
    takes three times as long for so few values."""
    return np.asarray(_members(tuple(members)).take(octets))


def of_rows(values: npt.NDArray[Any], rows: Index) -> npt.NDArray[Any]:
    """``values[rows]`` of ``rows`` that rise, each once: the values themselves where these are all
    rows, which nothing is copied for."""
    return values if len(rows) == len(values) else values[rows]


def take_rows(records: npt.NDArray[Any], rows: Index) -> npt.NDArray[Any]:
    """``records[rows]`` of records of one dimension, each copied as a whole; of structured ones
    NumPy would copy field by field, and an index copies them in twice the time of ``take``."""
    raw = np.ascontiguousarray(records)
    taken = raw.view(np.uint8).reshape(len(raw), raw.dtype.itemsize).take(rows, axis=0)
    return taken.reshape(-1).view(raw.dtype)


@cache
def _members(members: tuple[int, ...]) -> Mask:
    table = np.zeros(256, bool)
    table[list(members)] = True
    return table
