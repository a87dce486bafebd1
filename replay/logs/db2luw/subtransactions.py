"""Subtransactions (10.1 and later): whose records are those of the transaction that owns them."""

from __future__ import annotations

import numpy as np

from replay.arrays import Hashes, Records, one_of
from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordKind
from replay.logs.long_arrays import LongArrays, windows


def parents_of(
    records: Records, files: list[OpenedFile], arrays: LongArrays
) -> tuple[Hashes, bool]:
    """(the transaction of each record, with subtransactions (v10) given to the transaction that
    owns them, whether there are any); records that end one end nothing."""
    owners: dict[int, int] = {}
    found = arrays.places(
        len(records), lambda part: records["type"][part] == layouts.SUBTRANSACTION
    )
    for row in found.tolist():
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
    tids = arrays.zeros(len(records), np.uint64)
    ends = (RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)
    children = np.array(sorted(owners), np.uint64)
    parents = np.array([owners[child] for child in sorted(owners)], np.uint64)
    apart = False
    for window in windows(len(records)):
        tid = records["tid"][window]
        tids[window] = tid
        if not len(children):
            continue
        place = np.minimum(np.searchsorted(children, tid), len(children) - 1)
        mine = np.flatnonzero(children[place] == tid)
        apart |= bool((parents[place[mine]] != tid[mine]).any())
        tids[window.start + mine] = parents[place[mine]]
        ended = mine[one_of(records["kind"][window][mine], ends)] + window.start
        records["kind"][ended] = RecordKind.IGNORED
    return tids, apart
