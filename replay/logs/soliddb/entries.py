"""Entries of the index of a solidDB log. Only committed work is in SYS_LOG, and neither times nor
names are."""

from __future__ import annotations

from typing import ClassVar

from replay.arrays import Bytes
from replay.changes.envelope import CANCELLED
from replay.logs import indexed_envelope


class SolidEntries(indexed_envelope.IndexedEnvelope):
    """``place``: statements that move keys have their deletes first."""

    place: ClassVar[str] = "place"

    def disposition(self) -> Bytes:
        """C, or that of changes that their own statement takes back."""
        codes = super().disposition()
        codes[self.rows["cancelled"]] = CANCELLED
        return codes
