"""The types of records that Log Master writes, in its logs and in its LOAD files."""

from __future__ import annotations

from replay.changes.envelope import Change

#: CHANGE TYPE as two characters -> what it means. Types that are not here are counted as damaged.
CHANGE_OF_TYPE: dict[str, Change] = {
    "UB": Change.UPDATE,
    "I ": Change.INSERT,
    "IL": Change.INSERT,
    "D ": Change.DELETE,
    "DM": Change.MASS_DELETE,
    "DT": Change.TRUNCATE,
    "DR": Change.TRUNCATE,
    "E ": Change.EXCHANGE,
    " E": Change.EXCHANGE,
    "CO": Change.CATALOG,
    "CM": Change.COMMAND,
    "SC": Change.STATUS,
}
