"""What the published pages of solidDB's SYS_LOG leave open, and what one log has to say of it
(format notes, section 20): counts, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from replay.changes.envelope import ROW_CHANGES
from replay.logs.indexed_inspect import tables_laid_out, tally, tally_faults
from replay.logs.readings import Checkup, Evidence, seen
from replay.logs.soliddb import layouts
from replay.logs.soliddb.detect import SAMPLE, possible
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.reader import SolidLog
from replay.logs.soliddb.rows import walk


def checkup(log: SolidLog) -> Checkup:
    """What ``logreplay doctor`` says of a log."""
    entries = log.entries()
    kinds = tally(entries["recid"], lambda code: layouts.rec_name(code) or f"RECID {code}")
    counts = {
        "RECID": dict(sorted(kinds.items())),
        "FLAGS": tally(entries["flags"], lambda code: f"{code:X}" if code >= 0 else "none"),
        "fault": tally_faults(entries),
    }
    return Checkup(_laid_out(log), counts, tuple(_evidence(log)))


def _laid_out(log: SolidLog) -> dict[str, Any]:
    return {
        "framing": str(log.shape.framing),
        "columns": log.shape.columns,
        "reads the same": list(log.alike),
        "LOGADDR bytes": int(log.logaddr().shape[1]),
        "positions are LOGADDR": log.by_address,
        "rows": [file.count for file in log.files],
        "sessions": len(log.manifest.sessions),
        "tables": tables_laid_out(log, lambda entry: entry.subtype),
    }


def _evidence(log: SolidLog) -> Iterator[Evidence]:
    entries = log.entries()
    yield from _framings(log)
    codes, found = np.unique(entries["recid"], return_counts=True)
    by_recid = dict(zip(codes.tolist(), found.tolist(), strict=True))
    ddl = by_recid.get(Rec.DDL, 0) + by_recid.get(Rec.SQL, 0)
    yield Evidence("ddl-data", ddl, {"read": len(log.changes), "records": ddl})
    pairs = (entries["recid"] == Rec.UPDATE) & (entries["before"] >= 0)
    updates = by_recid.get(Rec.UPDATE, 0)
    yield Evidence("update-pairs", updates, {"paired": int(pairs.sum())})
    cancelled = int(entries["cancelled"].sum())
    yield seen("failed-statements", {"changes that cancel out": cancelled})
    units = len(log.units())
    yield Evidence(
        "addresses", units, {"told apart by eight bytes": units if log.by_address else 0}
    )
    flags = np.maximum(entries["flags"], 0)
    flagged = int(((flags & layouts.FLAG_CAPTURE_OFF) > 0).sum())
    yield seen("capture-off", {"records": flagged})
    strange = sum(count for code, count in by_recid.items() if code > 0 and code not in set(Rec))
    more = int(((flags & ~layouts.KNOWN_FLAGS) != 0).sum())
    yield seen("unknown-records", {"records": strange, "flags": more})
    system = int(((entries["table"] >= 0) & (entries["table"] < layouts.FIRST_USER_TABLE)).sum())
    yield seen("system-tables", {"records": system})


def _framings(log: SolidLog) -> Iterator[Evidence]:
    """How many of a sample of images of each table close under each framing, with the list of
    columns that is taken."""
    entries, fits, looked = log.entries(), Counter[str](), 0
    live = np.isin(entries["change"], ROW_CHANGES) & (entries["version"] >= 0)
    buffer = log.data()
    for version in np.unique(entries["version"][live]).tolist():
        rows = np.flatnonzero(live & (entries["version"] == version) & (entries["size"] >= 0))
        spread = np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows)))
        rows = rows[np.unique(spread.astype(np.int64))]
        start = entries["start"][rows].astype(np.int64)
        end = start + entries["size"][rows]
        looked += len(rows)
        for framing in layouts.FRAMINGS.values():
            images = walk(log.catalog.versions[version].format, buffer, start, end, framing)
            fits[str(framing)] += int(possible(images).sum())
    yield Evidence("framing", looked, dict(sorted(fits.items())), str(log.shape.framing))
    yield seen("column-list", {log.shape.columns: looked})
