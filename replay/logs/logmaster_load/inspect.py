"""What is in LOAD files, for people and programs; one record field by field; and what some files
say of what the published pages leave open (counts, never a value)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replay.changes.envelope import Change
from replay.changes.position import UnitId
from replay.logs import indexed_inspect
from replay.logs.description import Description
from replay.logs.indexed_inspect import (
    fault_lines,
    kind_of,
    made_image_lines,
    place_of,
    row_lines,
    tally,
)
from replay.logs.logmaster_load.control import ROLES
from replay.logs.logmaster_load.reader import NO_BEFORE_IMAGE, UNKNOWN_ACTION, LoadLog
from replay.logs.readings import Checkup, Evidence
from replay.logs.text import hexadecimal


def describe(log: LoadLog) -> Description:
    """What is in a log."""
    return indexed_inspect.describe(
        log,
        opened={"columns": list(log.columns), "lacking": dict(log.lacking)},
        file=lambda number: {},
        records={},
        units={},
        commits=lambda unit: {},
        table=lambda version: {"columns": len(version.table.columns)},
    )


def dump_record(log: LoadLog, number: int, file: int, with_hex: bool) -> list[str]:
    """One record in lines. UsageError LR1004 where there is none."""
    place = place_of(log, number, file)
    entry = log.entries()[place]
    unit = log.units()[entry["unit"]]
    lines = [
        f"record {number} of {log.files[file - 1].name}",
        f"  table {log.catalog.versions[int(entry['version'])].name}, {kind_of(entry)}",
        f"  unit {UnitId(unit['unit'].tobytes())}",
        f"  committed {hexadecimal(unit['commit'].tobytes())}",
        f"  position {hexadecimal(entry['position'].tobytes())}",
        *fault_lines(log, place),
        *row_lines(log, place),
    ]
    return lines + (made_image_lines(log, entry) if with_hex else [])


# -- for doctor
# -------------------------------------------------------------------------------------------------


def checkup(log: LoadLog) -> Checkup:
    """What LOAD files say of the open points."""
    changes = tally(
        log.entries()["change"], lambda code: Change(code).name.lower() if code else "unknown"
    )
    known = Counter("published" if n in _PUBLISHED else "other" for n in log.columns)
    return Checkup({"columns": dict(known)}, {"action": changes}, tuple(_evidence(log)))


#: How many names of roles are published.
_PUBLISHED = {name for name, _ in list(ROLES.values())[:9]}


def _evidence(log: LoadLog) -> Iterator[Evidence]:
    entries = log.entries()
    count = len(entries)
    unknown = int((entries["fault"] == UNKNOWN_ACTION).sum())
    yield Evidence("record-types", count, {"known": count - unknown}, "known")
    updates = entries["change"] == Change.UPDATE
    alone = int((entries["fault"] == NO_BEFORE_IMAGE).sum())
    total = int(updates.sum())
    yield Evidence("second-image", total, {"both images": total - alone}, "both images")
