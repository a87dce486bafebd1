"""Subtransactions (10.1 and later): whose records are those of the transaction that owns them."""

from __future__ import annotations

import numpy as np

from replay.arrays import Hashes, Index, Records, one_of
from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.framing import OpenedFile
from replay.logs.db2luw.layouts import RecordKind
from replay.spill import Spill, windows

_ENDS = (RecordKind.COMMIT, RecordKind.ABORT, RecordKind.PREPARE)


def parents_of(records: Records, files: list[OpenedFile], arrays: Spill) -> tuple[Hashes, bool]:
    """(the transaction of each record, with subtransactions (v10) given to the transaction that
    owns them, whether there are any); records that end one end nothing. Log streams count
    transactions alike, so ids have that of the stream in front."""
    found = arrays.places(
        len(records), lambda part: records["type"][part] == layouts.SUBTRANSACTION
    )
    parents = _owners(records, found, files)
    children = np.array(sorted(parents), np.uint64)
    owners = np.array([parents[child] for child in sorted(parents)], np.uint64)
    tids = arrays.zeros(len(records), np.uint64)
    apart = False
    for window in windows(len(records)):
        tid = records["tid"][window]
        tids[window] = tid
        if not len(children):
            continue
        place = np.minimum(np.searchsorted(children, tid), len(children) - 1)
        mine = np.flatnonzero(children[place] == tid)
        tids[window][mine] = owners[place[mine]]
        apart |= bool((tids[window][mine] != tid[mine]).any())
        ended = mine[one_of(records["kind"][window][mine], _ENDS)]
        records["kind"][window][ended] = RecordKind.IGNORED
    return tids, apart


def _owners(records: Records, rows: Index, files: list[OpenedFile]) -> dict[int, int]:
    """The transaction that owns each subtransaction, as some records of type
    :data:`replay.logs.db2luw.layouts.SUBTRANSACTION` say; the last one counts."""
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
