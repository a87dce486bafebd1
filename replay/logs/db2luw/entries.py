"""What an entry of the index of a Db2 LUW log tells beyond
:class:`replay.logs.indexed_envelope.IndexedEnvelope`."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Index, Mask
from replay.logs import indexed_envelope


class LuwEntries(indexed_envelope.IndexedEnvelope):
    """Units have a commit time, a log stream and an authorization id, and may be rolled back to a
    savepoint."""

    place: ClassVar[str] = "head"

    def commit_time(self) -> Bytes:
        """Commit time as 34 packed digits."""
        return self.octets("time")

    def incomplete_unit(self) -> Mask:
        """Units whose beginning is not in the log, or another part of them."""
        return np.asarray(self.of_unit("incomplete"), bool)

    def member(self) -> Index:
        """Log stream."""
        return np.ascontiguousarray(self.unit()[:, 10:]).view(">u2").reshape(-1).astype(np.int64)

    def disposition(self) -> Bytes:
        """C, S for what was rolled back to a savepoint, A in a unit that was not committed."""
        committed = self.unit_disposition() == ord("C")
        return np.where(
            self.rows["cancelled"], ord("S"), np.where(committed, ord("C"), ord("A"))
        ).astype(np.uint8)

    def location(self, kind: str) -> Index:
        """The id of the table space; nothing else has a number."""
        if kind != "tablespace":
            return super().location(kind)
        return self.rows["space"].astype(np.int64)

    def rid(self) -> Bytes:
        """The row's identifier, in the octets of the log."""
        width = int(self.rows["rid_size"].max()) if len(self.rows) else 0
        raw = np.ascontiguousarray(self.rows["rid"]).view(np.uint8).reshape(-1, 6)
        return np.asarray(raw[:, 6 - width :])

    def name(self, kind: str) -> npt.NDArray[np.bytes_]:
        """The authorization id; other names are not in the log."""
        if kind != "authid":
            return super().name(kind)
        return np.asarray(self.of_unit("authid"), self.units.dtype["authid"])
