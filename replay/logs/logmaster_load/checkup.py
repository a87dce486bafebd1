"""What the published pages about Log Master's LOAD files leave open, and what some files have to
say of it: counts, never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replay.changes.envelope import Change
from replay.logs.indexed_inspect import tally
from replay.logs.logmaster_load.control import ROLES
from replay.logs.logmaster_load.reader import NO_BEFORE_IMAGE, UNKNOWN_ACTION, LoadLog
from replay.logs.readings import Checkup, Evidence, UnconfirmedReading

UNCONFIRMED = (
    UnconfirmedReading(
        "column-names",
        "The names of the informational columns behind the first nine.",
        "Those that `export --format load` writes, or what --log-option ROLE=#NAME says.",
        "Files without a column for the unit, its commit, the place of a change or its action"
        " (LR2008).",
    ),
    UnconfirmedReading(
        "record-types",
        "How the column that says what happened spells it.",
        "I, U and D, these words in full, and every CHANGE TYPE of a logical log.",
        "Another code: the unit is set aside (LR2012).",
    ),
    UnconfirmedReading(
        "second-image",
        "Where the image before an update lies for each value of UPDATES.",
        "Behind the image after it, in the same record; --log-option images=before-after turns it"
        " round.",
        "An update with one image: the unit is set aside (LR2014).",
    ),
    UnconfirmedReading(
        "positions",
        "How RBA and LRSN are spelled in SDF and CSV files.",
        "12, 16 or 20 hexadecimal digits, widened as in logical logs.",
        "Anything else (LR2010).",
    ),
    UnconfirmedReading(
        "unit-time",
        "Whether the date and time of the unit of recovery is that of its commit.",
        "It is shown as that, and orders units only where --log-option commit says so.",
        "Nothing; such an order is warned of.",
    ),
    UnconfirmedReading(
        "nulls",
        "How SDF and CSV files say that a value is null.",
        "As the LOAD utility has it: a delimited field with nothing in it, not even delimiters;"
        " and the NULLIF of the LOAD statement.",
        "Null in a column that is NOT NULL: the unit is set aside (LR2015).",
    ),
    UnconfirmedReading(
        "bit-data",
        "How SDF and CSV files hold bit data.",
        "As hexadecimal digits.",
        "Anything else: the unit is set aside (LR2015).",
    ),
    UnconfirmedReading(
        "dispositions",
        "Whether a LOAD file may hold work that was undone.",
        "Every record counts as committed, with a warning unless --log-option"
        " dispositions=committed.",
        "Nothing.",
    ),
)


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
