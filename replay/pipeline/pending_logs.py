"""Which logs a run that goes on must open for units of recovery that are set aside: those that hold
records of them, and those that lack records of units, so that units of later logs may depend on
what is not there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from replay.changes.envelope import opaque
from replay.changes.position import UnitId
from replay.changes.units import unit_column
from replay.logs import LogFile, MadeOfLogs, Split
from replay.pipeline.late import digest_of_log
from replay.pipeline.scan import BATCH


def logs_of_pending(
    log: LogFile,
    splits: Iterable[Split],
    pending: Collection[UnitId],
    named: frozenset[str] | None,
    read: frozenset[str] | None,
) -> frozenset[str] | None:
    """The digests of the logs that the ``pending`` units are in, or hang on; None where that is not
    known. ``splits``: all of the log. ``named``: those that a run before this one named, of which
    some may not be given now (None: it had units set aside, and did not say where they are);
    ``read``: the digests of all logs that were read before (None: nothing tells). Reads all
    headers where units are pending."""
    if not pending:
        return frozenset()
    owing = log.owing_logs() if isinstance(log, MadeOfLogs) else None
    if owing is None or not isinstance(log, MadeOfLogs):
        return None
    logs = [(digest_of_log(name), files) for name, files in log.arrived_logs()]
    given = {digest for digest, _ in logs}
    if named is None:
        if read is None or read - given:
            return None
        named = frozenset()
    holding = _files_with(log, splits, pending)
    found = {
        digest
        for number, (digest, files) in enumerate(logs)
        if number in owing or not holding.isdisjoint(files)
    }
    return (named - given) | found or None


def _files_with(log: LogFile, splits: Iterable[Split], units: Collection[UnitId]) -> set[int]:
    """The numbers of the data files that hold records of some units, whatever tables these are
    of."""
    wanted = unit_column(units)
    found: set[int] = set()
    for split in splits:
        if split.file in found:
            continue
        for _, offsets, lengths in log.records(split, BATCH):
            if np.isin(opaque(log.envelope(split.file, offsets, lengths).unit()), wanted).any():
                found.add(split.file)
                break
    return found
