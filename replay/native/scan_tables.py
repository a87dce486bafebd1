"""The numbers that :mod:`replay.pipeline.plain_scan` and its kernel tell each other."""

from __future__ import annotations

#: Entries of the table of places: octets that a record has at least, where fields lie in a header,
#: by how much the counted length exceeds that of first and of later segments (-1: any), the file,
#: and the number of the first record.
(
    LEAST, COMMIT, COMMIT_ELSE, UNIT, MEMBER, POSITION, BEGIN, TIME, COUNTED, EXCESS, EXCESS_LATER,
    FILE, FIRST, SPEC,
) = range(14)  # fmt: skip
#: Columns of the table of classes.
CHANGE, VERSION, ORIGIN, SEGMENT, SEGMENTS, UNIT_DISPOSITION, FACTS = range(7)
