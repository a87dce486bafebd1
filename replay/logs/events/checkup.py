"""What change events leave open, and what some files have to say of it: counts, never a value."""

from __future__ import annotations

from collections import Counter

from replay.logs.events.reader import EventLog
from replay.logs.indexed_inspect import tables_laid_out, tally_faults
from replay.logs.readings import Checkup, Evidence


def checkup(log: EventLog) -> Checkup:
    """What events say of the open points."""
    known = Counter(log.identities.values())
    whole = known["old rows are whole"]
    return Checkup(
        {"tables": tables_laid_out(log, lambda column: column.code)},
        {"faults": tally_faults(log.entries())},
        (Evidence("replica-identity", known.total(), {"whole": whole}),),
    )
