"""The change envelope: what is known about a change without looking at its row images.

Ordering, selection and accounting need only this; images stay in the file until a statement is
rendered. :data:`RECORD` is a packed NumPy record with the sort key and the place in the file:
millions of these are shuffled and sorted.

Code tables are those of the data file page (seed 002): CHANGE TYPE, LOGRECDISP, UORDISP,
SQLSRCTYPE, SQLTYPE.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Mask, Records
from replay.changes.choices import Operation
from replay.changes.position import POSITION, UNIT

#: One log record, reduced to order, place and what every step after the scan asks. ``commit``
#: UORCOMMITLRSN, ``unit`` UORID + MEMBERID, ``position`` LOGRBA, all unsigned big-endian bytes, so
#: that bytewise order is log order. ``file`` indexes the data files, ``offset``/``length`` the
#: record after its framing bytes. ``damaged``: the scan found something wrong with the header.
#: ``change`` (a :class:`Change`) and ``version`` (of the table) are the record's class, ``origin``
#: SQLSRCTYPE as ASCII, ``segments`` TOTALSEGS; ``unit_facts`` is :func:`unit_facts` of the header.
RECORD = np.dtype(
    [
        ("commit", POSITION),
        ("unit", UNIT),
        ("position", POSITION),
        ("segment", "<u2"),
        ("file", "<u4"),
        ("offset", "<i8"),
        ("length", "<i4"),
        ("number", "<i8"),
        ("damaged", "?"),
        ("change", "u1"),
        ("origin", "u1"),
        ("segments", "<u2"),
        ("version", "<i4"),
        ("unit_facts", "<u8"),
    ]
)


class Envelope(Protocol):
    """The header fields of ``n`` records in one form, whatever log family and release wrote them.
    Positions are ``uint8[n, 10]``, unsigned and big-endian; codes are ASCII, ``uint8[n]``. No
    method raises an error, but for a ``kind`` that there is not: a header is read as it is, and
    :meth:`replay.logs.LogFile.check` judges it.
    """

    def __len__(self) -> int:
        """``n``, the number of records."""
        ...

    def commit(self) -> Bytes:
        """UORCOMMITLRSN, the position that changes are ordered by, ``uint8[n, 10]``; zeros where a
        record is of no unit of recovery."""
        ...

    def unit(self) -> Bytes:
        """The unit of recovery: UORID and MEMBERID, ``uint8[n, 12]``."""
        ...

    def unit_position(self) -> Bytes:
        """UORIDLRSN, where the unit begins, ``uint8[n, 10]``."""
        ...

    def log_position(self) -> Bytes:
        """LOGRBA, the record's own place in the log of its member, ``uint8[n, 10]``."""
        ...

    def commit_time(self) -> Bytes:
        """UORCOMMITTIMESTAMP, 34 packed digits ``uint8[n, 17]`` (year to picoseconds); zeros where
        the log does not tell it."""
        ...

    def member(self) -> Index:
        """MEMBERID, the data sharing member or log stream, ``int64[n]``; 0 where there is only
        one."""
        ...

    def change_type(self) -> npt.NDArray[np.uint16]:
        """CHANGE TYPE as two ASCII codes, the first character high, ``uint16[n]``."""
        ...

    def disposition(self) -> Bytes:
        """LOGRECDISP, a key of :data:`DISPOSITIONS`, or :data:`CANCELLED`, ``uint8[n]``."""
        ...

    def unit_disposition(self) -> Bytes:
        """UORDISP, a key of :data:`UNIT_DISPOSITIONS`, ``uint8[n]``."""
        ...

    def origin(self) -> Bytes:
        """SQLSRCTYPE, a key of :data:`ORIGINS`, ``uint8[n]``."""
        ...

    def sqltype(self) -> Bytes:
        """SQLTYPE, a key of :data:`SQLTYPES`, ``uint8[n]``."""
        ...

    def incomplete_unit(self) -> Mask:
        """INCOMPLETETRANS, ``bool[n]``: a record of the unit could not be completed."""
        ...

    def incomplete_dependency(self) -> Mask:
        """INCOMPLETEDEP, ``bool[n]``: the unit may depend on an incomplete one."""
        ...

    def unfinished_unit(self) -> Mask:
        """Units that a log to come may have whole, ``bool[n]``, where a run goes on from another
        one."""
        ...

    def segment(self) -> Index:
        """SEGNUM, ``int64[n]``: the number of this segment of a long change, from 1; 0 or 1 for a
        whole one."""
        ...

    def segments(self) -> Index:
        """TOTALSEGS, ``int64[n]``: how many segments the change has; 0 or 1 for a whole one."""
        ...

    def name(self, kind: str) -> npt.NDArray[np.bytes_]:
        """The ``authid``, ``plan``, ``correlation``, ``connection`` or ``luw`` (logical unit of
        work, NETWORK.NAME.INSTANCE.SEQUENCE) of the unit, or the ``database`` or ``tablespace`` of
        the record's table, ``S[n]``: bytes of ASCII or UTF-8 that blanks may follow; empty where
        the log does not tell it. KeyError for another ``kind``."""
        ...

    def location(self, kind: str) -> Index:
        """Where the changed row lies, ``int64[n]``: the id of its ``database`` or ``tablespace``,
        the number of its ``partition`` or ``page``; -1 where the log does not tell it. KeyError for
        another ``kind``."""
        ...

    def rid(self) -> Bytes:
        """The row's identifier, ``uint8[n, width]`` as in the log; of width 0 where the log does
        not tell it."""
        ...

    def take(self, rows: Index) -> Envelope:
        """The headers of some records; ``rows`` are places from 0."""
        ...


class Change(IntEnum):
    """CHANGE TYPE (section 6.1), by what it means for a table. Families whose logs hold more than
    changes have records of other kinds: changes of table structure, records that control the log
    (begin, commit, internal work), those that say that another record is taken back, and changes
    that are in the log twice, that are flagged as nobody's business, whose unit of recovery begins
    before the log, that are about another database, or that a replay of ours made."""

    INSERT = 1
    UPDATE = 2
    DELETE = 3
    MASS_DELETE = 4
    TRUNCATE = 5
    EXCHANGE = 6
    CATALOG = 7
    COMMAND = 8
    STATUS = 9
    STRUCTURE = 10
    CONTROL = 11
    COMPENSATION = 12
    REPEATED = 13
    UNCAPTURED = 14
    HEADLESS = 15
    ELSEWHERE = 16
    REPLAYED = 17


#: What :func:`unit_facts` multiplies by: odd, so that nothing is lost.
FACTS_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)

ROW_CHANGES = (Change.INSERT, Change.UPDATE, Change.DELETE)
TABLE_EVENTS = (Change.MASS_DELETE, Change.TRUNCATE, Change.EXCHANGE)
#: Changes that are about a table and all of its rows.
WHOLE_TABLE = (*TABLE_EVENTS, Change.STRUCTURE)

#: What ``--op`` accepts.
OP_NAMES: dict[Operation, tuple[Change, ...]] = {
    Operation.INSERT: (Change.INSERT,),
    Operation.UPDATE: (Change.UPDATE,),
    Operation.DELETE: (Change.DELETE,),
    Operation.TRUNCATE: (Change.MASS_DELETE, Change.TRUNCATE),
    Operation.EXCHANGE: (Change.EXCHANGE,),
}

DISPOSITIONS = {
    "C": "committed",
    "A": "aborted",
    "S": "rolled back to savepoint",
    "O": "reversed by Db2",
}
#: Disposition of a change of a committed unit that its own statement takes back; no field of a
#: header says so, a family finds it out.
CANCELLED = ord("N")
UNIT_DISPOSITIONS = {"C": "committed", "A": "aborted", "F": "in flight", "P": "in doubt"}
ORIGINS = {" ": "direct", "R": "RI", "B": "RI and trigger", "T": "trigger", "H": "history"}
SQLTYPES = {"U": "selected set (U)", "R": "redo set (R)", " ": "other"}


def unit_facts(envelope: Envelope) -> Hashes:
    """A number made of what all records of a unit must agree in: UORDISP, UORIDLRSN and
    UORCOMMITTIMESTAMP. Where just one machine word of them differs, the numbers always do."""
    number = envelope.unit_disposition().astype(np.uint64)
    for raw in (envelope.unit_position(), envelope.commit_time()):
        width = raw.shape[1]
        for start in range(0, width - width % 8, 8):
            number = number * FACTS_FACTOR + raw[:, start : start + 8].view(np.uint64)[:, 0]
        for place in range(width - width % 8, width):
            number = number * FACTS_FACTOR + raw[:, place]
    return number


def opaque(raw: Bytes) -> Records:
    """Rows of bytes as values that can be compared, sorted and copied as a whole."""
    return np.ascontiguousarray(raw).view(f"V{raw.shape[1]}").reshape(-1)


def as_bytes(column: Records) -> Bytes:
    """An opaque column as ``uint8[n, width]``."""
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.dtype.itemsize)


def field_slice(name: str) -> slice:
    """Where a field of :data:`RECORD` lies within the bytes of a record."""
    assert RECORD.fields is not None
    kind, place = RECORD.fields[name][:2]
    return slice(place, place + kind.itemsize)


def distinct(numbers: npt.NDArray[np.integer]) -> Index:
    """The different values of small numbers from 0, rising. Much faster than sorting or hashing
    them."""
    return np.flatnonzero(np.bincount(numbers)) if len(numbers) else np.zeros(0, np.int64)


def compare(values: Bytes, bound: bytes) -> npt.NDArray[np.int8]:
    """-1, 0 or 1 for each row of ``uint8[n, w]`` against ``bound`` (``w`` bytes), bytewise
    unsigned."""
    other = np.frombuffer(bound, np.uint8)
    different = values != other
    first = different.argmax(axis=1)
    at = np.arange(len(values))
    result = np.where(values[at, first] < other[first], -1, 1)
    return np.where(different.any(axis=1), result, 0).astype(np.int8)


def bounds_of(values: Bytes) -> tuple[bytes, bytes]:
    """The lowest and the highest of some values of one width (``uint8[n, w]``, n > 0)."""
    low = high = values
    for start in range(0, values.shape[1], 8):
        low = low[_words(low, start) == _words(low, start).min()]
        high = high[_words(high, start) == _words(high, start).max()]
    return low[0].tobytes(), high[0].tobytes()


def _words(values: Bytes, start: int) -> npt.NDArray[np.uint64]:
    """Up to eight bytes of each value as a number that sorts as they do."""
    words = np.zeros((len(values), 8), np.uint8)
    part = values[:, start : start + 8]
    words[:, : part.shape[1]] = part
    return words.view(">u8").reshape(-1).astype(np.uint64)
