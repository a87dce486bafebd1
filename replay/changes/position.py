"""Positions in the order of commits: the first noun of every decision.

A :class:`Position` is a commit position of a log, 10 bytes, unsigned and big-endian, so that
order of bytes is order of commits: an LRSN of Db2 for z/OS (6 bytes are shifted to 10 by the log
family), an LSN of Db2 LUW, a LOGADDR of solidDB. A :class:`UnitPosition` adds the unit of recovery
(12 bytes), for several units may share one commit position. Both are ``bytes``, so they compare,
sort, hash, pickle and go into NumPy as such.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Records

#: NumPy dtypes of columns of positions, of units of recovery, and of both together.
POSITION = np.dtype("V10")
UNIT = np.dtype("V12")
UNIT_POSITION = np.dtype("V22")
#: A unit of recovery, and a commit position with its unit, taken apart; the same bytes.
UNIT_FIELDS = np.dtype([("urid", "V10"), ("member", ">u2")])
UNIT_POSITION_FIELDS = np.dtype([("commit", POSITION), ("unit", UNIT)])


class _FixedBytes(bytes):
    """Bytes of one length. ValueError for any other length."""

    __slots__ = ()  # millions may be held

    SIZE: int

    def __new__(cls, value: bytes) -> Self:
        if len(value) != cls.SIZE:
            raise ValueError(f"found {len(value)} bytes; expected {cls.SIZE} ({cls.__name__})")
        return super().__new__(cls, value)

    @classmethod
    def from_hex(cls, text: str) -> Self:
        """The value that :attr:`hexadecimal` writes. ValueError for other text."""
        return cls(bytes.fromhex(text))

    @property
    def hexadecimal(self) -> str:
        """Capital hexadecimal digits, two for each byte."""
        return self.hex().upper()


class Position(_FixedBytes):
    """A commit position: 10 bytes."""

    __slots__ = ()

    SIZE = POSITION.itemsize

    @property
    def below(self) -> Position:
        """The position just before this one; the highest one before the lowest."""
        return Position(((int.from_bytes(self) - 1) % (1 << 80)).to_bytes(10))

    @property
    def above(self) -> Position:
        """The position just after this one; the lowest one after the highest."""
        return Position(((int.from_bytes(self) + 1) % (1 << 80)).to_bytes(10))

    @property
    def end(self) -> UnitPosition:
        """Behind every unit of recovery that commits here."""
        return UnitPosition(self + LAST_UNIT)

    @property
    def start(self) -> UnitPosition:
        """Before every unit of recovery that commits here."""
        return UnitPosition(self + FIRST_UNIT)


class UnitId(_FixedBytes):
    """A unit of recovery: URID (10 bytes) and data sharing member (2 bytes)."""

    __slots__ = ()

    SIZE = UNIT.itemsize

    @property
    def urid(self) -> bytes:
        """The id without the member."""
        return self[:10]

    @property
    def member(self) -> int:
        """The data sharing member, or the log stream."""
        return int.from_bytes(self[10:])

    def __str__(self) -> str:
        """The one text form: URID in hexadecimal, ``/`` and the member (``00…A1B2E38C/1``)."""
        return f"{self.urid.hex().upper()}/{self.member}"

    @classmethod
    def of(cls, text: str) -> Self:
        """The inverse of ``str``. ValueError for other text."""
        urid, _, member = text.partition("/")
        if not member.isdecimal() or int(member) > 0xFFFF:
            raise ValueError(f"found member {member!r}; expected a number of two bytes")
        return cls(bytes.fromhex(urid) + int(member).to_bytes(2))


class UnitPosition(_FixedBytes):
    """A commit position and a unit of recovery that commits there: 22 bytes."""

    __slots__ = ()

    SIZE = UNIT_POSITION.itemsize

    @property
    def commit(self) -> Position:
        """The commit position."""
        return Position(self[:10])

    @property
    def unit(self) -> UnitId:
        """The unit of recovery."""
        return UnitId(self[10:])

    def __str__(self) -> str:
        last = self.unit == LAST_UNIT
        unit = "all units of this commit LRSN" if last else f"unit {self.unit}"
        return f"commit LRSN {self.commit.hexadecimal}, {unit}"


#: Comes before, and after, every unit of recovery of its commit position.
FIRST_UNIT, LAST_UNIT = UnitId(bytes(12)), UnitId(b"\xff" * 12)
#: The lowest and the highest position. No log has a unit at either; both also stand for "unknown".
LOWEST, HIGHEST = Position(bytes(10)), Position(b"\xff" * 10)


# -- of one record, and of columns
# -------------------------------------------------------------------------------------------------


def commit_of(record: np.void) -> Position:
    """The field ``commit`` of a structured row."""
    return Position(record["commit"].tobytes())


def unit_of(record: np.void) -> UnitId:
    """The field ``unit`` of a structured row."""
    return UnitId(record["unit"].tobytes())


def unit_positions(commit: Records, unit: Records) -> Records:
    """Columns of positions (:data:`POSITION`) and units (:data:`UNIT`) as one column
    (:data:`UNIT_POSITION`)."""
    both = np.empty(len(commit), UNIT_POSITION_FIELDS)
    both["commit"], both["unit"] = commit, unit
    return both.view(UNIT_POSITION)


def urids_of(units: Bytes) -> Bytes:
    """The URIDs (``uint8[n, 10]``) of units (``uint8[n, 12]``)."""
    urids = np.ascontiguousarray(units).view(UNIT_FIELDS)["urid"]
    return np.ascontiguousarray(urids).view(np.uint8).reshape(len(units), 10)


def leading_words(positions: Records) -> Hashes:
    """The first 8 bytes of positions (:data:`POSITION`), as integers that sort alike."""
    first = np.dtype([("first", ">u8"), ("rest", "V2")])
    return np.ascontiguousarray(positions).view(first)["first"].astype(np.uint64).reshape(-1)


def sortable(positions: Bytes | Records) -> npt.NDArray[np.bytes_]:
    """Positions (``uint8[n, 10]`` or :data:`POSITION`) as values that NumPy compares and sorts.
    Zero bytes at the end do not count, which changes no order."""
    return np.ascontiguousarray(positions).view(f"S{Position.SIZE}").reshape(-1)


def lowest_of(positions: Records) -> Position:
    """The lowest of some positions (:data:`POSITION`, one at least)."""
    words = leading_words(positions)
    least = np.sort(sortable(positions[words == words.min()]))[0]
    return Position(bytes(least).ljust(Position.SIZE, b"\0"))


def highest_of(positions: Records) -> Position:
    """The highest of some positions (:data:`POSITION`, one at least)."""
    words = leading_words(positions)
    most = np.sort(sortable(positions[words == words.max()]))[-1]
    return Position(bytes(most).ljust(Position.SIZE, b"\0"))
