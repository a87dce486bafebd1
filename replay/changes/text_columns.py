"""Columns of texts, as octets of UTF-8: put together by Arrow, many at a time.

A column that is taken from another one lies in memory one text behind the other. So a long text is
made by taking its parts, from a column of those that there are, in the order in which they stand in
it (:func:`runs`); nothing is done for each text in Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Records
from replay.changes.position import UNIT_FIELDS
from replay.spill import Growing

#: A column of texts (``large_binary``, without nulls).
Texts: TypeAlias = pa.Array

_OCTETS = pa.large_binary()
#: Octets of texts that are put down together.
_BLOCK = 1 << 16
#: Texts that are kept once, however many rows have them.
_COMMON = 256
_DIGITS = np.frombuffer(bytes(range(256)).hex().upper().encode(), "V2")


def texts_of(values: Iterable[str]) -> Texts:
    """A column of texts."""
    return pa.array([value.encode("utf-8", "surrogatepass") for value in values], _OCTETS)


def column_from(ends: Index, octets: Bytes) -> Texts:
    """The column of ``n`` texts that lie one behind the other: ``int64[n + 1]`` where each begins,
    and the last one ends."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(ends)), pa.py_buffer(octets)]
    return pa.Array.from_buffers(_OCTETS, len(ends) - 1, buffers)


def ends_of(texts: Texts) -> Index:
    """Where each text begins, and the last one ends (``int64[n + 1]``)."""
    if not len(texts):
        return np.zeros(1, np.int64)
    return np.frombuffer(texts.buffers()[1], np.int64)[texts.offset :][: len(texts) + 1]


def octets_of(texts: Texts) -> Bytes:
    """The octets of all texts, one behind the other."""
    ends = ends_of(texts)
    if ends[0] == ends[-1]:
        return np.zeros(0, np.uint8)
    return np.frombuffer(texts.buffers()[2], np.uint8)[ends[0] : ends[-1]]


def taken(texts: Texts, numbers: Index) -> Texts:
    """Some of the texts, in another order, some of them several times."""
    return texts.take(pa.array(numbers))


def pooled(*columns: Texts) -> tuple[Texts, list[int]]:
    """Columns one behind the other, and where each begins."""
    begins = np.cumsum([0, *(len(column) for column in columns)])[:-1]
    return pa.concat_arrays(columns), begins.tolist()


def runs(texts: Texts, ends: Index) -> Texts:
    """The texts of each run put together to one: ``ends`` (``int64[n + 1]``) says where each run
    begins, and the last one ends."""
    return column_from(ends_of(texts)[ends], np.frombuffer(texts.buffers()[2] or b"", np.uint8))


def beside(*columns: Texts | bytes) -> Texts:
    """Of each row the texts put together, of columns and of what is the same in all rows."""
    parts = [pa.scalar(one, _OCTETS) if isinstance(one, bytes) else one for one in columns]
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", _OCTETS))


def hexadecimal(octets: npt.NDArray[Any]) -> Texts:
    """Rows of octets (``V`` of any length), each as capital hexadecimal digits."""
    size = octets.dtype.itemsize
    digits = _DIGITS[np.ascontiguousarray(octets).view(np.uint8)]
    ends = np.arange(len(octets) + 1, dtype=np.int64) * 2 * size
    return column_from(ends, digits.view(np.uint8))


def formatted(words: str, values: npt.NDArray[Any]) -> Texts:
    """Values in words, of which there are few different ones: ``words`` as ``format`` takes
    them."""
    known, place = np.unique(values, return_inverse=True)
    return taken(texts_of(words.format(value) for value in known.tolist()), place.reshape(-1))


def strings(texts: Texts) -> list[str]:
    """Texts as strings."""
    return [one.decode("utf-8", "surrogatepass") for one in texts.to_pylist()]


def unit_texts(units: Records) -> Texts:
    """Units (:data:`replay.changes.position.UNIT`) as :meth:`UnitId.__str__` has one."""
    fields = np.ascontiguousarray(units).view(UNIT_FIELDS)
    members = formatted("/{}", fields["member"])
    return beside(hexadecimal(np.ascontiguousarray(fields["urid"])), members)


class GrowingTexts:
    """Texts by the numbers under which they were put down, from 0; in files where they are long
    (:class:`replay.spill.Growing`)."""

    def __init__(self) -> None:
        self._octets, self._ends = Growing(np.uint8), Growing(np.int64)
        self._waiting, self._ends_waiting = bytearray(), [0]
        self._common: dict[str, int] = {}
        self._count = 0

    def add(self, text: str) -> int:
        """The number of a text."""
        known = self._common.get(text)
        if known is not None:
            return known
        self._waiting += text.encode("utf-8", "surrogatepass")
        self._ends_waiting.append(len(self._octets) + len(self._waiting))
        number = self._count
        self._count += 1
        if len(self._common) < _COMMON:
            self._common[text] = number
        if len(self._waiting) >= _BLOCK:
            self._put_down()
        return number

    def add_all(self, texts: Texts) -> Index:
        """The numbers of many texts, each of which is kept."""
        self._put_down()
        self._octets.add(octets_of(texts))
        ends = ends_of(texts)
        self._ends.add(ends[1:] - ends[-1] + len(self._octets))
        first, self._count = self._count, self._count + len(texts)
        return np.arange(first, self._count, dtype=np.int64)

    def all(self) -> Texts:
        """The column of all texts: a number is its row there."""
        self._put_down()
        return column_from(self._ends.so_far(), self._octets.so_far())

    def __getitem__(self, number: int) -> str:
        self._put_down()
        low, high = self._ends.so_far()[number : number + 2].tolist()
        return self._octets.so_far()[low:high].tobytes().decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        return self._count

    def _put_down(self) -> None:
        if self._ends_waiting:
            self._octets.add(np.frombuffer(bytes(self._waiting), np.uint8))
            self._ends.add(np.array(self._ends_waiting, np.int64))
            self._waiting, self._ends_waiting = bytearray(), []
