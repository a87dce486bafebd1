"""What the published pages about Log Master's LOAD files leave open, and what some files have to
say of it: counts, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replay.changes.envelope import Change
from replay.logs.indexed_inspect import tally
from replay.logs.logmaster_load.control import ROLES
from replay.logs.logmaster_load.reader import NO_BEFORE_IMAGE, UNKNOWN_ACTION, LoadLog
from replay.logs.readings import Checkup, Evidence


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
