"""What is in files of change events, for people and programs; one line field by field; and
what they say of what is left open."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from replay.changes.position import UnitId
from replay.logs import indexed_inspect
from replay.logs.description import Description
from replay.logs.events.reader import EventLog
from replay.logs.indexed_inspect import (
    fault_lines,
    kind_of,
    made_image_lines,
    place_of,
    row_lines,
    tables_laid_out,
    tally_faults,
)
from replay.logs.readings import Checkup, Evidence
from replay.logs.text import hexadecimal


def describe(log: EventLog) -> Description:
    """What is in a log."""
    units = log.units()
    found = indexed_inspect.describe(
        log,
        opened={
            "old_rows": dict(log.identities),
            "lacking": {name: list(columns) for name, columns in log.lacking.items()},
            "inexact": {name: dict(columns) for name, columns in log.unread.items()},
        },
        file=lambda number: {},
        records={"snapshot": log.snapshot},
        units={
            "in_flight": int(np.count_nonzero(units["disposition"] == ord("F"))),
            "without_events": log.empty,
        },
        commits=lambda unit: {},
        table=lambda version: {"columns": len(version.table.columns)},
    )
    return replace(found, by_name=frozenset({"old_rows", "lacking", "inexact"}))


def dump_record(log: EventLog, number: int, file: int, with_hex: bool) -> list[str]:
    """One record in lines. UsageError LR1004 where there is none."""
    place = place_of(log, number, file)
    entry = log.entries()[place]
    lines = [f"line {number} of {log.files[file - 1].name}: {kind_of(entry)}"]
    if entry["version"] >= 0:
        lines.append(f"  table {log.catalog.versions[int(entry['version'])].name}")
    if entry["unit"] >= 0:
        unit = log.units()[entry["unit"]]
        lines += [
            f"  unit {UnitId(unit['unit'].tobytes())}, change {int(entry['total'])}",
            f"  committed {hexadecimal(unit['commit'].tobytes())}",
        ]
    lines += [*fault_lines(log, place), *row_lines(log, place)]
    return lines + (made_image_lines(log, entry) if with_hex else [])


# -- for doctor
# -------------------------------------------------------------------------------------------------


def checkup(log: EventLog) -> Checkup:
    """What events say of the open points."""
    known = Counter(log.identities.values())
    whole = known["old rows are whole"]
    return Checkup(
        {"tables": tables_laid_out(log, lambda column: column.code)},
        {"faults": tally_faults(log.entries())},
        (Evidence("replica-identity", known.total(), {"whole": whole}),),
    )
