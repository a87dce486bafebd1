"""Entries of the index of LOAD files: what the informational columns say."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index
from replay.logs import indexed_envelope

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
#: width in octets.
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
        return self.octets("time")

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
