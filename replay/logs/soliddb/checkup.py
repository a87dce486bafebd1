"""What the published pages of solidDB's SYS_LOG leave open, and what one log has to say of it
(format notes, section 20): counts, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from replay.changes.envelope import ROW_CHANGES
from replay.logs.indexed_inspect import tables_laid_out, tally, tally_faults
from replay.logs.readings import Checkup, Evidence, UnconfirmedReading
from replay.logs.soliddb import layouts
from replay.logs.soliddb.detect import SAMPLE, possible
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.reader import SolidLog
from replay.logs.soliddb.rows import walk

UNCONFIRMED = (
    UnconfirmedReading(
        "framing",
        "How the values of a row are framed in DATA, and how a null is marked.",
        "Every known framing is held against all rows: every one must close, with values that can"
        " be. Or a calibration on a server of that kind says it (scripts/calibrate_soliddb.py).",
        "A log that none fits (LR2004), or that several read to different values (LR2018).",
    ),
    UnconfirmedReading(
        "column-list",
        "Whether rows hold hidden and dropped columns.",
        "The lists are tried with the framings: visible columns first.",
        "As above.",
    ),
    UnconfirmedReading(
        "old-layouts",
        "Whether rows from before an ALTER TABLE are widened to the columns of now.",
        "By what closes, for each stretch of the log between two such statements.",
        "Rows that close under neither (LR2014).",
    ),
    UnconfirmedReading(
        "nul",
        "Whether text ends in one more X'00'.",
        "Part of the framing; where both fit and text is there, the one that takes it off.",
        "Nothing.",
    ),
    UnconfirmedReading(
        "ddl-data",
        "The layout of DATA in DDL and SQL records, and the encoding of the statement.",
        "Two strings in the framing of rows, or plain text.",
        "A statement that is not understood (LR3021), and DATA that fits none (LR2014).",
    ),
    UnconfirmedReading(
        "update-pairs",
        "Whether the image before comes first.",
        "Either way round; the pair has one key.",
        "A half without the other: the unit is set aside.",
    ),
    UnconfirmedReading(
        "failed-statements",
        "Whether rows of statements that failed are in the log.",
        "An insert and a delete of one image in one statement cancel out.",
        "Rows of one key that contradict each other.",
    ),
    UnconfirmedReading(
        "addresses",
        "What the parts of LOGADDR are, and whether they rise within a transaction.",
        "Bytes that are compared; the first eight tell commits apart, or rows of the export do.",
        "Read sessions that do not chain (LR2034), rows out of order (LR2030).",
    ),
    UnconfirmedReading(
        "batches",
        "Whether one START and COMMIT may bracket several transactions.",
        "One transaction each, unless --log-option batches=yes.",
        "Changes outside of such brackets.",
    ),
    UnconfirmedReading(
        "capture-off",
        "What should become of changes of a transaction that is flagged CAPTURE_OFF.",
        "What --log-option capture-off says.",
        "Such a log without the option (LR2033).",
    ),
    UnconfirmedReading(
        "unknown-records",
        "Records and flags that no page lists (RECID 2, 8 to 11, 14 and above).",
        "Rows that hold nothing are passed over.",
        "Those inside a transaction or of a user's table: the unit is set aside.",
    ),
    UnconfirmedReading(
        "large-values",
        "Whether long values are whole in DATA.",
        "They are taken as whole where the framing says so.",
        "A value that its framing marks as cut: the unit is set aside.",
    ),
    UnconfirmedReading(
        "system-tables",
        "Whether the server leaves out the rows that DDL writes to system tables.",
        "Rows of tables below 10000 are passed over and counted.",
        "Nothing.",
    ),
)


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
    yield Evidence("failed-statements", cancelled, {"changes that cancel out": cancelled})
    units = len(log.units())
    yield Evidence(
        "addresses", units, {"told apart by eight bytes": units if log.by_address else 0}
    )
    flags = np.maximum(entries["flags"], 0)
    flagged = int(((flags & layouts.FLAG_CAPTURE_OFF) > 0).sum())
    yield Evidence("capture-off", flagged, {"records": flagged})
    strange = sum(count for code, count in by_recid.items() if code > 0 and code not in set(Rec))
    more = int(((flags & ~layouts.KNOWN_FLAGS) != 0).sum())
    yield Evidence("unknown-records", strange + more, {"records": strange, "flags": more})
    system = int(((entries["table"] >= 0) & (entries["table"] < layouts.FIRST_USER_TABLE)).sum())
    yield Evidence("system-tables", system, {"records": system})


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
    yield Evidence("column-list", looked, {log.shape.columns: looked})
