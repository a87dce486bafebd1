"""Subtransactions (10.1 and later): whose records are those of the transaction that owns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from replay.arrays import Hashes, Index, Records, one_of
from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordKind
from replay.logs.long_arrays import LongArrays, windows

_ENDS = (RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)


@dataclass(frozen=True)
class Owners:
    """The transaction that owns each subtransaction, by id; log streams count theirs alike, so ids
    have that of the stream in front."""

    parents: Mapping[int, int]

    @cached_property
    def _both(self) -> tuple[Hashes, Hashes]:
        children = sorted(self.parents)
        return np.array(children, np.uint64), np.array(
            [self.parents[child] for child in children], np.uint64
        )

    def transactions(self, tid: Hashes) -> tuple[Hashes, Index]:
        """(the transaction of records with these ids, which of them are of a subtransaction)."""
        children, parents = self._both
        if not len(children):
            return tid.copy(), np.zeros(0, np.int64)
        place = np.minimum(np.searchsorted(children, tid), len(children) - 1)
        mine = np.flatnonzero(children[place] == tid)
        found = tid.copy()
        found[mine] = parents[place[mine]]
        return found, mine

    def end_nothing(self, records: Records, mine: Index) -> None:
        """Let those records that are of a subtransaction (``mine``) end nothing."""
        ended = mine[one_of(records["kind"][mine], _ENDS)]
        records["kind"][ended] = RecordKind.IGNORED


def told_owners(records: Records, rows: Index, files: Mapping[int, OpenedFile]) -> dict[int, int]:
    """What some records of type :data:`replay.logs.db2luw.layouts.SUBTRANSACTION` say, as
    :class:`Owners`; the last one counts. ``files`` by their numbers."""
    owners: dict[int, int] = {}
    for row in rows.tolist():
        file = files[int(records["file"][row])]
        part = file.shape.dialect.header["tid"]
        payload = int(records["offset"][row]) + int(records["header"][row])
        if (
            file.shape.dialect.name != "v10"
            or records["length"][row] < records["header"][row] + part.size
        ):
            continue
        child = number(
            file.buffer(payload, payload + part.size)[payload : payload + part.size].tobytes(),
            0,
            layouts.Part(0, part.size),
            file.shape.big,
        )
        stream = int(records["tid"][row]) >> 48 << 48
        owners[stream | child] = int(records["tid"][row])
    return owners


def parents_of(
    records: Records, files: list[OpenedFile], arrays: LongArrays
) -> tuple[Hashes, bool]:
    """(the transaction of each record, with subtransactions (v10) given to the transaction that
    owns them, whether there are any); records that end one end nothing."""
    found = arrays.places(
        len(records), lambda part: records["type"][part] == layouts.SUBTRANSACTION
    )
    owners = Owners(told_owners(records, found, dict(enumerate(files))))
    tids = arrays.zeros(len(records), np.uint64)
    apart = False
    for window in windows(len(records)):
        tid = records["tid"][window]
        tids[window], mine = owners.transactions(tid)
        apart |= bool((tids[window][mine] != tid[mine]).any())
        owners.end_nothing(records[window], mine)
    return tids, apart
