"""What is said alike of records of every log: as a batch, by unit and by place, and of
positions and units as people give them."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from replay.arrays import Bytes, Index, Lengths
from replay.changes.envelope import Envelope
from replay.changes.position import Position, unit_of
from replay.errors import InputError, UsageError, Where
from replay.logs.log_file import LogFile, MadeOfLogs

#: Microseconds between the last commit of a log and the end that it states, from which on it is
#: said that data may lack: a day; an hour, where that is as long as all that is there.
_LONG, _SOME = 24 * 3600 * 1_000_000, 3600 * 1_000_000
#: Where store clocks begin.
_LRSN_BEGINS = datetime(1900, 1, 1)
#: Bytes of a position as a user may give it.
_SIZES = (6, 8, 10, 20, 28)


def urids(envelope: Envelope) -> Bytes:
    """:attr:`replay.changes.position.UnitId.urid` of each record's unit, ``uint8[n, 10]``."""
    return np.ascontiguousarray(envelope.unit()[:, : Position.SIZE])


def checked_position(placed: bytes, given: bytes) -> Position:
    """``placed``, the bytes that a log made of the position that a user gave, as one. UsageError
    (LR1001) where they are not as many as a position has."""
    if len(placed) != Position.SIZE:
        raise UsageError(
            "LR1001",
            f"found a position of {2 * len(given)} digits; expected 20 (or 12, or 16) with"
            " this log",
        )
    return Position(placed)


def widened_position(given: bytes, is_lrsn: bool) -> Position:
    """A position of Log Master that a user gave: of 6 (or 8) bytes as headers of 10 have it, an
    LRSN after one zero byte, an RBA at the end (seed 002). UsageError (LR1001) for others."""
    octets = given
    if len(given) != Position.SIZE:
        lrsn = (b"\0" + given).ljust(Position.SIZE, b"\0")
        octets = lrsn if is_lrsn else given.rjust(Position.SIZE, b"\0")
    return checked_position(octets, given)


def resolve_position(log: LogFile, position: bytes | None, last: bool) -> Position | None:
    """The position of a log that a user's words mean (None: none were given); of several
    that they may mean, the ``last`` or the first one. UsageError (LR1001) for a form of position
    that its family does not have."""
    if position is None:
        return None
    given = bytes(position)
    return checked_position(log.placed(given, last) if len(given) in _SIZES else given, given)


def placed_unit(log: LogFile, unit: bytes) -> bytes:
    """The id of a unit of recovery as the log places it. UsageError (LR1001) for one that its
    family does not have."""
    placed = log.placed_unit(unit)
    if len(placed) != Position.SIZE or len(unit) not in _SIZES:
        raise UsageError(
            "LR1001",
            f"found the id of a unit of {2 * len(unit)} digits; expected 20 (or 12, or 16)",
        )
    return placed


def final_position(log: LogFile) -> Position | None:
    """Behind which nothing commits, by what a log states; None where it states none."""
    return log.final_position if isinstance(log, MadeOfLogs) else None


def refuse_behind_end(log: LogFile, commit: Position | None) -> None:
    """InputError (LR2042) where a unit commits behind the end that the control file of a log
    states: the data file is one of another run."""
    end = final_position(log)
    if commit is None or end is None or commit <= end:
        return
    raise InputError(
        "LR2042",
        f"found a unit of recovery that commits at {commit.hexadecimal}; expected none after"
        f" {end.hexadecimal}, where the control file says that the log ends (DLGE.ENDRBA)",
        Where(log.files[0].name),
        "Give the control file that the same run of Log Master wrote",
    )


def long_before_end(log: LogFile, first: Position, last: Position) -> str:
    """Where a log says that it ends, if its ``last`` commit is long before that: a day, or an hour
    and as long as all that it has since the ``first``. Some of its data are not there, or they are
    of another run. '' if not, or where positions are no times."""
    end = final_position(log)
    if end is None or not any(end[1:4]):
        return ""
    missing = _micros(end) - _micros(last)
    if missing < min(_LONG, max(_SOME, _micros(last) - _micros(first))):
        return ""
    moment = _LRSN_BEGINS + timedelta(microseconds=_micros(end))
    return f"and the control file says {end.hexadecimal} (about {moment:%Y-%m-%d %H:%M:%S})"


def _micros(lrsn: Position) -> int:
    """Microseconds of an LRSN: a store clock behind one byte, whose bit 51 is one of them."""
    return int.from_bytes(lrsn[1:9]) >> 12


def where_of(
    log: LogFile, record: np.void, field: str | None = None, table: str | None = None
) -> Where:
    """The place of a sort record (dtype :data:`replay.changes.envelope.RECORD`), for messages."""
    offset = int(record["offset"]) if log.has_offsets else None
    return Where(
        log.files[int(record["file"])].name,
        int(record["number"]),
        offset,
        field,
        table,
        str(unit_of(record)),
    )


def other_versions(log: LogFile, file: Index, offset: Index, length: Lengths) -> list[Index]:
    """The table versions of the other table of each exchange, of which these are the records; all
    versions where a record does not tell it."""
    versions = log.catalog.versions
    found = []
    for name in log.clones(file, offset, length):
        rows = [
            version.index
            for version in versions
            if name is None or version.name.upper() == name.upper()
        ]
        found.append(np.array(rows, np.int64))
    return found
