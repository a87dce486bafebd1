"""What messages of ``pgoutput`` hold, and how the columns that they describe are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.logs.events.schemas import LONGEST, Shape
from sqlgen.schema import Column, SqlType

#: What messages without rows hold, and how many names stand behind it.
FORMS = {
    "B": (">qqI", 0),
    "C": (">Bqqq", 0),
    "S": (">IB", 0),
    "E": (">", 0),
    "c": (">IBQQq", 0),
    "A": (">II", 0),
    "b": (">QQqI", 1),
    "P": (">BQQqI", 1),
    "p": (">BQQqI", 1),
    "K": (">BQQqI", 1),
    "r": (">BQQqqI", 1),
    "Y": (">I", 2),
    "O": (">Q", 1),
    "M": (">BQ", 1),
}
#: Messages that say in a streamed transaction which subtransaction they are of.
OF_TRANSACTION = frozenset(b"RYMIUDT")
#: Bytes of the first message of a file, by its kind; behind those of ``b`` a name comes.
FIRST = {"B": 21, "S": 6, "b": 29}
#: What may come behind it.
SECOND = "BRIUDTCMYOESPc"
#: Types of PostgreSQL by number, whose values pgoutput writes as text.
_OIDS: dict[int, tuple[SqlType, str]] = {
    16: (SqlType.BOOLEAN, "pg boolean"),
    17: (SqlType.VARBINARY, "pg bytes"),
    20: (SqlType.BIGINT, "whole"),
    21: (SqlType.SMALLINT, "whole"),
    23: (SqlType.INTEGER, "whole"),
    700: (SqlType.REAL, "float"),
    701: (SqlType.DOUBLE, "float"),
    1082: (SqlType.DATE, "pg date"),
    1114: (SqlType.TIMESTAMP, "pg timestamp"),
    1184: (SqlType.TIMESTAMP_TZ, "pg zoned"),
    1700: (SqlType.DECFLOAT, "pg number"),
    # text, json, xml, cidr, macaddr, inet, char, varchar, time, uuid, jsonb, ranges
    **dict.fromkeys((25, 114, 142, 650, 829, 869, 1042), (SqlType.VARCHAR, "pg text")),
    **dict.fromkeys((1043, 1083, 2950, 3802, 3904, 3926), (SqlType.VARCHAR, "pg text")),
}
#: Numbers from here on are of types that users made: enumerations, domains.
_OF_USERS = 16384
_CHARS = {1042: SqlType.CHAR, 1043: SqlType.VARCHAR}


@dataclass(frozen=True)
class Relation:
    """A table as a message describes it: its REPLICA IDENTITY, and of its columns the name, the
    number of the type, and what modifies it (-1: nothing); ``key``: those of its identity."""

    schema: str
    name: str
    identity: str
    columns: Sequence[tuple[str, int, int]]
    key: tuple[str, ...]

    @property
    def old(self) -> str:
        """Of which kinds its old rows are (O: whole, K: keys); none is known of no identity."""
        return {"": "", "f": "O"}.get(self.identity, "K")

    def shape(self) -> Shape:
        """How its rows are written."""
        columns = tuple(_column(*one) for one in self.columns)
        inexact = {one.column.name: "pgoutput" for one in columns if one.raw}
        return Shape(RowFormat(columns), self.key, inexact, self.identity == "f")


def _column(name: str, oid: int, modifier: int) -> ColumnFormat:
    made, code = _OIDS.get(oid, (SqlType.VARCHAR, "unread"))
    if oid >= _OF_USERS:
        code = "pg text"
    length, scale = (LONGEST if made in (SqlType.VARCHAR, SqlType.VARBINARY) else 0), 0
    if oid in _CHARS and modifier > 4:
        made, length = _CHARS[oid], modifier - 4
    elif made is SqlType.DECFLOAT and modifier > 4:
        digits, behind = modifier - 4 >> 16, modifier - 4 & 0x7FF
        if behind <= digits:  # else it is negative, or larger than there are digits
            made, length, scale = SqlType.DECIMAL, digits, behind
    elif made in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        length = modifier if 0 <= modifier <= 6 else 6
    column = Column(name, made, True, length, scale, unsized=length == LONGEST)
    return ColumnFormat(column, code, length, scale, True, variable=True, raw=code == "unread")
