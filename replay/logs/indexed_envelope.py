"""Index entries as change envelopes: implements :class:`replay.changes.envelope.Envelope` for
families that index their log as rows and units. What most such logs do not tell is answered here; a
family overrides what its own tells."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.envelope import Change

#: CHANGE TYPE as other families spell it, for the columns of a log shown as a table.
_TYPES = {
    Change.INSERT: "I ",
    Change.UPDATE: "UB",
    Change.DELETE: "D ",
    Change.TRUNCATE: "DT",
    Change.CATALOG: "CO",
    Change.STRUCTURE: "CO",
}
_TYPE = np.zeros(256, np.uint16)
for _change, _text in _TYPES.items():
    _TYPE[_change] = (ord(_text[0]) << 8) | ord(_text[1])


class IndexedEnvelope:
    """``rows`` are index entries, ``units`` all units of the log. An entry without a unit counts as
    committed, at no position. ``place`` is the field with the number of the record where a change
    begins."""

    place: ClassVar[str]

    def __init__(self, rows: Records, units: Records) -> None:
        self.rows, self.units = rows, units

    def __len__(self) -> int:
        return len(self.rows)

    def of_unit(self, name: str) -> Records:
        """A field of each entry's unit; zeros where it has none."""
        unit = self.rows["unit"]
        column = self.units[name]
        if not len(column):
            return np.zeros(len(unit), column.dtype)
        values = column[np.maximum(unit, 0)]
        values[unit < 0] = np.zeros(1, column.dtype)[0]
        return np.asarray(values)

    def as_bytes(self, name: str) -> Bytes:
        """The same as bytes, ``uint8[n, size]``."""
        values = np.ascontiguousarray(self.of_unit(name))
        return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)

    def commit(self) -> Bytes:
        """Position of the unit's end."""
        return self.as_bytes("commit")

    def unit(self) -> Bytes:
        """How often the id was used before (4 bytes), transaction id (6), log stream or zeros
        (2)."""
        return self.as_bytes("unit")

    def unit_position(self) -> Bytes:
        """Where the unit begins."""
        return self.as_bytes("start")

    def log_position(self) -> Bytes:
        """The number of the change's first record in the log."""
        raw = np.zeros((len(self.rows), 10), np.uint8)
        raw[:, 2:] = (self.rows[self.place] + 1).astype(">u8").view(np.uint8).reshape(-1, 8)
        return raw

    def commit_time(self) -> Bytes:
        """No time."""
        return np.zeros((len(self.rows), 17), np.uint8)

    def member(self) -> Index:
        """Zero: there is one log."""
        return np.zeros(len(self.rows), np.int64)

    def change_type(self) -> npt.NDArray[np.uint16]:
        """The change as two ASCII codes."""
        codes: npt.NDArray[np.uint16] = _TYPE[self.rows["change"]]
        return codes

    def disposition(self) -> Bytes:
        """C."""
        return np.full(len(self.rows), ord("C"), np.uint8)

    def unit_disposition(self) -> Bytes:
        """C committed, A aborted, P in doubt, F in flight."""
        codes: Bytes = np.array(self.of_unit("disposition"), np.uint8)
        codes[self.rows["unit"] < 0] = ord("C")
        return codes

    def origin(self) -> Bytes:
        """Blank: the log does not say where a change came from."""
        return np.full(len(self.rows), ord(" "), np.uint8)

    def sqltype(self) -> Bytes:
        """Blank: there are no recovery sets."""
        return np.full(len(self.rows), ord(" "), np.uint8)

    def incomplete_unit(self) -> Mask:
        """False: units that lack their beginning or end are in flight, which is a disposition."""
        return np.zeros(len(self.rows), bool)

    def incomplete_dependency(self) -> Mask:
        """False."""
        return np.zeros(len(self.rows), bool)

    def unfinished_unit(self) -> Mask:
        """False: whoever indexes a log leaves such units out."""
        return np.zeros(len(self.rows), bool)

    def segment(self) -> Index:
        """Which record of its change."""
        return self.rows["segment"].astype(np.int64)

    def segments(self) -> Index:
        """How many records its change has."""
        return self.rows["segments"].astype(np.int64)

    def name(self, kind: str) -> npt.NDArray[np.bytes_]:
        """Empty: there are no names in the log."""
        return np.zeros(len(self.rows), "S1")

    def location(self, kind: str) -> Index:
        """-1: the log does not say where rows lie."""
        return np.full(len(self.rows), -1, np.int64)

    def rid(self) -> Bytes:
        """Of no width: there are no row identifiers in the log."""
        return np.zeros((len(self.rows), 0), np.uint8)

    def names(self, kind: str) -> pa.Array:
        """The same as text."""
        return pa.array(
            [name.decode("utf-8", "replace") for name in self.name(kind).tolist()], pa.string()
        )

    def take(self, rows: Index) -> Self:
        """Some of them."""
        return type(self)(self.rows[rows], self.units)
