"""Entries of the index of a solidDB log. Only committed work is in SYS_LOG, and neither times nor
names are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from replay.arrays import Bytes
from replay.changes.envelope import CANCELLED
from replay.logs import indexed_envelope

#: One entry a row, in fetch order. ``unit`` indexes the units (-1 none); ``place`` orders the
#: changes of a unit; ``before`` and ``after`` are places in the data. ``fault`` is an index of
#: :data:`replay.logs.soliddb.faults.FAULTS`, ``other`` the row it speaks of.
ENTRY = np.dtype(
    [
        ("file", "<u4"), ("row", "<i8"), ("recid", "<i4"), ("trx", "<i8"), ("statement", "<i8"),
        ("table", "<i8"), ("flags", "<i4"),
        ("unit", "<i8"), ("place", "<i8"), ("segment", "<u2"), ("segments", "<u2"),
        ("version", "<i4"), ("change", "u1"), ("fault", "u1"), ("cancelled", "?"),
        ("other", "<i8"), ("start", "<i8"), ("size", "<i4"), ("before", "<i8"),
        ("before_size", "<i4"), ("after", "<i8"), ("after_size", "<i4"),
    ]
)  # fmt: skip


class SolidEntries(indexed_envelope.IndexedEnvelope):
    """``place``: statements that move keys have their deletes first."""

    place: ClassVar[str] = "place"

    def disposition(self) -> Bytes:
        """C, or that of changes that their own statement takes back."""
        codes = super().disposition()
        codes[self.rows["cancelled"]] = CANCELLED
        return codes
