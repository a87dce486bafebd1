"""What SYS_LOG rows look like, as tables: records, flags, ways to frame values, encodings, DDL
records, types and catalog codes.

Section numbers are those of the format notes on SYS_LOG. Framing is not published; the tables here
name the candidates, and :mod:`replay.logs.soliddb.detect` finds out which of them a log was written
with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from sqlgen.schema import SqlType


class Rec(IntEnum):
    """RECID (section 4). Other numbers are not published."""

    EMPTY = 0
    INSERT = 1
    UPDATE = 3
    DELETE = 4
    BEFORE = 5
    SQL = 6
    START = 7
    COMMIT = 12
    DDL = 13


REC_NAMES = {
    Rec.EMPTY: "EMPTY", Rec.INSERT: "INSERT", Rec.UPDATE: "UPDATE", Rec.DELETE: "DELETE_FULL",
    Rec.BEFORE: "UPDATE_BEFOREIMAGE",
    Rec.SQL: "SQL", Rec.START: "TRX_START", Rec.COMMIT: "COMMIT", Rec.DDL: "DDL",
}  # fmt: skip


def rec_name(code: int) -> str:
    """What a RECID is called."""
    return "NOP" if code < 0 else REC_NAMES.get(Rec(code), "") if code in set(Rec) else ""


REC_PREFIX = "DBE_LOGREADER_LOG_REC_"
#: Records that hold a row image.
ROW_RECS = (Rec.INSERT, Rec.UPDATE, Rec.DELETE, Rec.BEFORE)
#: Records that hold data.
DATA_RECS = (*ROW_RECS, Rec.SQL, Rec.DDL)

#: FLAGS (section 5): 0 is a NOP.
FLAG_DATA, FLAG_SHUTDOWN, FLAG_CAPTURE_OFF = 0x01, 0x02, 0x40
KNOWN_FLAGS = FLAG_DATA | FLAG_SHUTDOWN | FLAG_CAPTURE_OFF

#: Lengths of a LOGADDR (section 6).
ADDRESS_SIZES = (20, 28)
#: Ids below are those of system tables (section 3).
FIRST_USER_TABLE = 10_000


# -- values
# -------------------------------------------------------------------------------------------------


class InternalType(IntEnum):
    """The nine internal types, by DATA_TYPE_NUMBER (section 7.1)."""

    CHAR = 0
    INTEGER = 1
    FLOAT = 2
    DOUBLE = 3
    DATE = 4
    DFLOAT = 5
    BINARY = 6
    UNICODE = 7
    BIGINT = 8


#: Bytes that a value of an internal type may have; a type that is not named here varies.
WIDTHS: dict[InternalType, tuple[int, ...]] = {
    InternalType.INTEGER: (4,),
    InternalType.FLOAT: (8, 4),
    InternalType.DOUBLE: (8,),
    InternalType.DATE: (11,),
    InternalType.BIGINT: (8,),
}
#: Types whose values end in one more X'00' where the framing says so.
ENDS_IN_NUL = frozenset(
    {InternalType.CHAR, InternalType.UNICODE, InternalType.DFLOAT, InternalType.BINARY}
)
#: Those of them whose values hold no X'00' of their own at the end, so that a X'00' there is the
#: framing's.
TEXTS = frozenset({InternalType.CHAR, InternalType.UNICODE, InternalType.DFLOAT})

#: DATE, TIME and TIMESTAMP (section 7.7): (offset, bytes) of each part, MSB first.
MOMENT = {
    "year": (0, 2),
    "month": (2, 1),
    "day": (3, 1),
    "hour": (4, 1),
    "minute": (5, 1),
    "second": (6, 1),
    "fraction": (7, 4),
}
#: Added to the year so that values compare as bytes.
YEAR_BIAS = 0x8000
LAST_YEAR, NANOSECONDS = 9999, 1_000_000_000

#: Values of small integer types (sections 7.5, 12): the union of what the notes call their range.
RANGES = {-6: (-128, 255), 5: (-32_768, 65_535), -7: (0, 1)}


# -- framing (section 7.2)
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lengths:
    """How the length of a value is written. ``size`` bytes, ``big``: MSB first; ``null_byte``: the
    byte before it that marks a null (None: there is none), ``null_has_length``: the length (0)
    follows it also for a null; ``null``: the length that means null (None: none does); ``escapes``:
    a first byte of X'FE' or X'FF' says that 4 bytes LSB first follow; ``always_nul``: values always
    end in one more X'00'.
    """

    name: str
    size: int
    big: bool = True
    null_byte: int | None = None
    null_has_length: bool = False
    null: int | None = None
    escapes: bool = False
    always_nul: bool = False


LENGTHS: dict[str, Lengths] = {
    entry.name: entry
    for entry in (
        Lengths("len32", 4, null=0xFFFFFFFF),
        Lengths("len32z", 4, null=0, always_nul=True),
        Lengths("va", 1, null=0, escapes=True, always_nul=True),
        Lengths("ind0", 4, null_byte=1),
        Lengths("ind1", 4, null_byte=0),
        Lengths("ind0p", 4, null_byte=1, null_has_length=True),
        Lengths("len16", 2, null=0xFFFF),
        Lengths("len32le", 4, big=False, null=0xFFFFFFFF),
    )
}
#: First bytes of ``va`` that announce 4 more, and the one of them that marks a value of which the
#: log holds only a part.
VA_LONG, VA_OUTSIDE = 0xFE, 0xFF
#: Bytes of the number of values before them.
COUNTS = (0, 2, 4)


@dataclass(frozen=True)
class ValueFraming:
    """How values follow each other in DATA: ``count`` bytes with their number (0: none), their
    lengths, ``nul``: text and binary values end in one more X'00'."""

    lengths: Lengths
    count: int = 0
    nul: bool = False

    def __str__(self) -> str:
        nul = "/nul" if self.nul and not self.lengths.always_nul else ""
        return self.lengths.name + (f"/count{8 * self.count}" if self.count else "") + nul


def framings() -> Iterator[ValueFraming]:
    """All candidates, the likeliest first."""
    for lengths in LENGTHS.values():
        for count in COUNTS:
            if not lengths.always_nul:
                yield ValueFraming(lengths, count, False)
            yield ValueFraming(lengths, count, True)


#: What ``--framing`` accepts.
FRAMINGS: dict[str, ValueFraming] = {str(framing): framing for framing in framings()}

#: Lists of the columns that DATA may hold (section 7.4): which ATTR_TYPEs each takes (None: all),
#: in the order of COLUMN_NUMBER.
ATTR_USER, ATTR_REMOVED, ATTR_COLLATION = 0, 8, 11
#: Our own ATTR_TYPE for a column that was added later, where older images hold a value for it all
#: the same.
ATTR_LATER = -1
COLUMN_LISTS: dict[str, tuple[int, ...] | None] = {
    "A": (ATTR_USER, ATTR_LATER),
    "B": (ATTR_USER, ATTR_LATER, ATTR_REMOVED),
    "C": None,
}
#: Hidden columns that end the user's part of a key (section 11).
ENDS_KEY = (1, 2, 9)
REMOVED_PREFIX = "$SYS_DELETED_"


# -- DDL (section 8)
# -------------------------------------------------------------------------------------------------


class Ddl(IntEnum):
    """LOGRECID of a DDL record."""

    CREATE_INDEX = 16
    DROP_TABLE = 17
    DROP_INDEX = 18
    DROP_VIEW = 20
    ALTER_TABLE = 22
    CREATE_COUNTER = 27
    CREATE_SEQUENCE = 28
    DROP_COUNTER = 29
    DROP_SEQUENCE = 30
    CREATE_TABLE = 45
    CREATE_VIEW = 46
    RENAME_TABLE = 47
    TRUNCATE_TABLE = 73


DDL_NAMES = {kind: kind.name.lower().replace("_", " ") for kind in Ddl}
#: DDL about a table as a whole; RELID, where it is given, is that table's.
TABLE_DDL = frozenset(
    {Ddl.CREATE_TABLE, Ddl.DROP_TABLE, Ddl.RENAME_TABLE, Ddl.ALTER_TABLE, Ddl.TRUNCATE_TABLE}
)


# -- types (sections 11 and 12)
# -------------------------------------------------------------------------------------------------

#: SQL_DATA_TYPE_NUM -> (name, type).
SQL_TYPES: dict[int, tuple[str, SqlType]] = {
    -10: ("LONG WVARCHAR", SqlType.CLOB), -9: ("WVARCHAR", SqlType.VARCHAR),
    -8: ("WCHAR", SqlType.CHAR), -7: ("BIT", SqlType.SMALLINT),
    -6: ("TINYINT", SqlType.SMALLINT), -5: ("BIGINT", SqlType.BIGINT),
    -4: ("LONG VARBINARY", SqlType.BLOB),
    -3: ("VARBINARY", SqlType.VARBINARY), -2: ("BINARY", SqlType.BINARY),
    -1: ("LONG VARCHAR", SqlType.CLOB), 1: ("CHAR", SqlType.CHAR),
    2: ("NUMERIC", SqlType.DECIMAL), 3: ("DECIMAL", SqlType.DECIMAL),
    4: ("INTEGER", SqlType.INTEGER), 5: ("SMALLINT", SqlType.SMALLINT),
    6: ("FLOAT", SqlType.DOUBLE), 7: ("REAL", SqlType.REAL),
    8: ("DOUBLE PRECISION", SqlType.DOUBLE), 9: ("DATE", SqlType.DATE),
    10: ("TIME", SqlType.TIME), 11: ("TIMESTAMP", SqlType.TIMESTAMP),
    12: ("VARCHAR", SqlType.VARCHAR),
}  # fmt: skip
SAME_SQL_TYPE = {91: 9, 92: 10, 93: 11}
#: SQL_DATA_TYPE_NUM -> the internal types that hold it.
KINDS_OF: dict[int, tuple[InternalType, ...]] = {
    **dict.fromkeys((-10, -9, -8), (InternalType.UNICODE, InternalType.CHAR)),
    **dict.fromkeys((-1, 1, 12), (InternalType.CHAR, InternalType.UNICODE)),
    **dict.fromkeys((-7, -6, 4, 5), (InternalType.INTEGER,)), -5: (InternalType.BIGINT,),
    **dict.fromkeys((-4, -3, -2), (InternalType.BINARY,)),
    **dict.fromkeys((2, 3), (InternalType.DFLOAT,)), **dict.fromkeys((6, 7, 8),
    (InternalType.DOUBLE, InternalType.FLOAT)),
    **dict.fromkeys((9, 10, 11), (InternalType.DATE,)),
}  # fmt: skip
#: CHAR_MAX_LENGTH of columns without a limit.
NO_LIMIT = 2_147_483_647
#: DECIMAL: digits, and digits after the point where the declaration names none.
MOST_DIGITS = 52
#: TABLE_TYPE of tables whose rows nobody wants: shadows that the server keeps itself.
SHADOWS = frozenset({"SYNCHIST TABLE"})
#: Lengths of long values that would speak for one cut after its first 256 bytes (section 7.9).
CUT_LENGTHS = (256 + 13, 256 + 17)
