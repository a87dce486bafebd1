"""The comments before units and behind changes: machine code writes them from headers of fixed
places; other logs say them field by field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index
from replay.changes.envelope import Envelope
from replay.decoding import code_pages
from replay.logs import LogFile
from replay.logs.plain import HeaderField, PlainUnits, Said
from replay.native import script_lines_tables as tables
from replay.native.kernels import PUT_COMMENTS
from replay.native.machine_code import available
from sqlgen.script import NAMING, unit_comments, unit_names

Places = npt.NDArray[np.int32]

#: What a comment of a unit begins with, and one of a change.
_BEGIN, _TRACE = "-- unit", " --"
_KINDS = {
    Said.HEXADECIMAL: (tables.HEXADECIMAL, 2),
    Said.NUMBER: (tables.INTEGER, 3),
    Said.TIME: (tables.TIME, 2),
    Said.TEXT: (tables.LETTERS, 1),
}


@dataclass(frozen=True)
class UnitComments:
    """The comment line of each of ``n`` units, and where in their octets the names of the units
    end (``int32[n]``): they begin behind the words ``-- unit``."""

    text: pa.StringArray
    name_ends: Places

    def names(self) -> tuple[Places, Places]:
        """Where in the octets of the comments the names lie that
        :func:`sqlgen.script.unit_names` makes."""
        _, places = parts_of(self.text)
        return places[:-1] + np.int32(len(_BEGIN) + 1), self.name_ends


@dataclass(frozen=True)
class CommentLayout:
    """How a comment follows from a header: the table of its fields
    (:mod:`replay.native.script_lines_tables`), the texts before them, and how long it is at
    most."""

    fields: Index
    pool: Bytes
    most: int


@lru_cache(maxsize=64)
def _layout(fields: tuple[HeaderField, ...], begin: str) -> CommentLayout:
    table = np.zeros((len(fields), tables.FIELD), np.int64)
    pool, most = b"", 0
    for row, field in enumerate(fields):
        kind, letters = _KINDS[field.said]
        pool += f"{'' if row else begin} {field.name}=".encode()
        table[row] = kind, field.place, field.width, field.otherwise, len(pool)
        most += letters * field.width
    return CommentLayout(table, np.frombuffer(pool, np.uint8), most + len(pool))


@cache
def _letters() -> Bytes:
    """How each octet of code page 037 is written; 0 where it is not ASCII that can be seen."""
    points = code_pages.charset_of(37).single
    assert points is not None
    shown = (points >= ord(" ")) & (points <= ord("~"))
    return np.where(shown, points, 0).astype(np.uint8)


def comments_of(log: LogFile, first: Envelope, quick: bool) -> UnitComments:
    """The comments of units, from the ``first`` record of each; ``quick``: it is worth to load
    machine code."""
    if quick and isinstance(first, PlainUnits):
        quickly = _put(*first.plain_unit(), _BEGIN, NAMING)
        if quickly is not None:
            return quickly
    text = log.unit_fields(first)
    comments = unit_comments(text)
    return UnitComments(comments, _name_ends(comments, text))


def traces_of(log: LogFile, changes: Envelope) -> pa.StringArray:
    """What ``--trace`` says behind each of some changes, by machine code where it can."""
    if isinstance(changes, PlainUnits):
        quickly = _put(*changes.plain_trace(), _TRACE, 0)
        if quickly is not None:
            return quickly.text
    return pc.binary_join_element_wise(f"{_TRACE} ", log.trace(changes), "")


def _put(
    block: Bytes, fields: Sequence[HeaderField], begin: str, named: int
) -> UnitComments | None:
    """The comments of headers, of which so many fields are a name; None where one is not plain."""
    put = available(PUT_COMMENTS)
    if put is None or not fields:
        return None
    layout, count = _layout(tuple(fields), begin), len(block)
    out = np.empty(count * layout.most, np.uint8)
    places, ends = np.zeros(count + 1, np.int32), np.zeros(count, np.int32)
    how = layout.fields, layout.pool, _letters(), named
    if put(np.ascontiguousarray(block), *how, out, places, ends) < count:
        return None
    return UnitComments(_strings(out, places), ends)


def _name_ends(comments: pa.StringArray, fields: Mapping[str, pa.Array]) -> Places:
    _, places = parts_of(comments)
    sizes = pc.binary_length(unit_names(fields)).to_numpy().astype(np.int32)
    return np.asarray(places[:-1] + np.int32(len(_BEGIN) + 1) + sizes)


def _strings(out: Bytes, places: Places) -> pa.StringArray:
    return pa.StringArray.from_buffers(len(places) - 1, pa.py_buffer(places), pa.py_buffer(out))


def parts_of(text: pa.StringArray) -> tuple[Bytes, Places]:
    """The octets of a string array, and where in them each text begins (``int32[n + 1]``)."""
    _, offsets, data = text.buffers()
    places: Places = np.frombuffer(offsets, np.int32)
    octets = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return octets, places[text.offset : text.offset + len(text) + 1]
