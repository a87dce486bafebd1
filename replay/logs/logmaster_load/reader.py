"""Open LOAD files of Log Master. Implements :class:`replay.logs.LogFile` on the index that
:mod:`opening` makes. A record is a line; its ``offset`` is its number in the file, from 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Hashes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.changes.position import Position, UnitId
from replay.decoding import codecs
from replay.decoding.hashes import hash_ranges, hash_rows
from replay.errors import Finding, Where
from replay.logs import indexed_envelope, urids, widened_position
from replay.logs.indexed_envelope import IndexedEnvelope
from replay.logs.indexed_log import RowLog
from replay.logs.logmaster_load import values

ENTRY = np.dtype(
    [
        ("file", "<u4"),
        ("row", "<i8"),
        ("unit", "<i8"),
        ("change", "u1"),
        ("version", "<i4"),
        ("fault", "u1"),
        ("segment", "<u2"),
        ("segments", "<u2"),
        ("size", "<i4"),
        ("position", "V10"),
        ("origin", "u1"),
        ("before", "<i8"),
        ("before_size", "<i4"),
        ("after", "<i8"),
        ("after_size", "<i4"),
    ]
)
#: Names of a unit, by what :meth:`replay.changes.envelope.Envelope.name` calls them, and their
#: width in bytes.
NAMES = {"authid": 128, "plan": 24, "correlation": 36, "connection": 24}
UNIT = np.dtype(
    [
        ("commit", "V10"),
        ("unit", "V12"),
        ("start", "V10"),
        ("time", "V17"),
        ("member", "<i8"),
        ("disposition", "u1"),
        *((name, f"S{width}") for name, width in NAMES.items()),
    ]
)


class LoadEntries(indexed_envelope.IndexedEnvelope):
    """Changes of LOAD files; each is one record."""

    place: ClassVar[str] = "row"

    def log_position(self) -> Bytes:
        """Where the change is in the log of its member."""
        values = np.ascontiguousarray(self.rows["position"])
        return values.view(np.uint8).reshape(len(values), 10)

    def commit_time(self) -> Bytes:
        """The time of the unit of recovery, zeros without."""
        return self.as_bytes("time")

    def member(self) -> Index:
        """The data sharing member."""
        return self.of_unit("member").astype(np.int64)

    def origin(self) -> Bytes:
        """Where the change came from; blank where no column says it."""
        return np.array(self.rows["origin"], np.uint8)

    def name(self, kind: str) -> npt.NDArray[np.bytes_]:
        """A name of the unit; empty where no column says it."""
        return (
            np.asarray(self.of_unit(kind), f"S{NAMES[kind]}")
            if kind in NAMES
            else super().name(kind)
        )


_SCAN = "Run the LOGSCAN again, or leave the unit out; inspect --record shows the record"
#: Numbers of faults in the index.
UNKNOWN_ACTION, WRONG_FIELDS, NO_BEFORE_IMAGE = 1, 2, 3
_FAULTS = {
    UNKNOWN_ACTION: (
        "LR2012",
        "action",
        "a record type that is not known",
        "I, U, D, or a CHANGE TYPE of Log Master",
        _SCAN,
    ),
    WRONG_FIELDS: (
        "LR2014",
        "image",
        "other fields than the LOAD control file lists",
        "the informational columns and one row image, of an update two",
        "The LOAD control file must be the one that was written with the file",
    ),
    NO_BEFORE_IMAGE: (
        "LR2014",
        "image",
        "an update without the row as it was before",
        "the image after the update, and the one before it",
        "Have LOGSCAN write both images of updates (its keyword UPDATES)",
    ),
}


@dataclass(kw_only=True)
class LoadLog(RowLog):
    """LOAD files as a log; ``arrays`` are entries, units, and all row images behind each other.
    ``lacking``: facts that these files lack, and why; ``by_lrsn``: commits are ordered by LRSN
    (data sharing), else by RBA; ``columns``: the informational columns of the files."""

    ENVELOPE_CLASS: ClassVar[type[LoadEntries]] = LoadEntries
    PLACE_IN_FILE: ClassVar[str] = "row"
    BESIDE_DATA: ClassVar[int] = 1
    MAKE_AGAIN: ClassVar[str] = _SCAN

    lacking: Mapping[str, str]
    by_lrsn: bool
    columns: tuple[str, ...]

    def untold(self) -> Mapping[str, str]:
        """What the files have no column for."""
        return self.lacking

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these tables."""
        texts = super().warnings(taken)
        for version in taken:
            if version.unlogged:
                texts.append(
                    f"{version.name}: the LOAD file lacks {version.unlogged} of its columns: undo"
                    " does not bring their values back"
                )
        return texts

    def placed(self, position: bytes, last: bool) -> Position:
        """As :func:`replay.logs.record_facts.widened_position`."""
        return widened_position(position, self.by_lrsn)

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record."""
        entry = self.entries()[self.files[file].first + offset]
        code, name, found, expected, hint = _FAULTS[int(entry["fault"])]
        version = int(entry["version"])
        table = self.catalog.versions[version].name if version >= 0 else None
        unit = str(UnitId(self.units()["unit"][entry["unit"]].tobytes()))
        where = Where(self.files[file].name, number, None, name, table, unit)
        return Finding(code, where, found, expected, hint)

    def change_hashes(self, envelope: IndexedEnvelope) -> Hashes:
        """Of the table, the kind and the rows of each change: nothing else tells changes of one
        position apart."""
        rows = envelope.rows
        parts = [rows["version"].astype(np.int64), rows["change"].astype(np.int64)]
        for side in ("before", "after"):
            size = rows[f"{side}_size"].astype(np.int64)
            start = np.where(size > 0, rows[side], 0)
            parts.append(hash_ranges(self.array(2), start, start + size).view(np.int64))
        return hash_rows(np.stack(parts, axis=1).view(np.uint8))

    def whole_table(self, envelope: IndexedEnvelope, lengths: npt.NDArray[Any]) -> Mask:
        """False: a LOAD file does not tell whether a mass delete was of one partition."""
        return np.zeros(len(envelope), bool)

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> values.LoadWalk:
        """Where the columns of images lie."""
        return values.LoadWalk.of(self.catalog.versions[version].format, buffer, start, end)

    def unit_fields(self, envelope: LoadEntries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says, in the words of Log Master."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        return {
            "URID": codecs.hex_text(urids(envelope)),
            "member": pa.array(envelope.member()).cast(pa.string()),
            "commit-lrsn": codecs.hex_text(envelope.commit()),
            "committed": pc.fill_null(time, "unknown"),
            "authid": envelope.names("authid"),
            "plan": envelope.names("plan"),
            "correlation": envelope.names("correlation"),
        }

    def trace(self, envelope: LoadEntries) -> pa.Array:
        """``rba=… record=…`` of each change, for ``--trace``."""
        place = codecs.hex_text(envelope.log_position())
        number = pa.array(envelope.rows["row"] + 1).cast(pa.string())
        return pc.binary_join_element_wise("rba=", place, " record=", number, "")
