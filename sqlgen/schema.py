"""Tables and columns as the SQL side sees them, and the one table that says which Arrow type
carries which SQL type.

Value contract (every Arrow column that crosses from ``replay`` into ``sqlgen`` obeys it):

* integers: ``int64``
* decimals: ``string`` holding the canonical digits, ``-?d+(.d{scale})?`` with exactly ``scale``
  digits after the point. 31 digits do not fit an ``int64``, Arrow prints small decimals as
  ``1.0E-7``, and a log's packed digits *are* text already.
* ``REAL``: ``float32``; ``DOUBLE``: ``float64``; ``BOOLEAN``: ``bool``
* ``DECFLOAT``: ``string``, digits with an optional exponent, or ``NaN``, ``sNaN``, ``Infinity``
  with an optional minus
* character types: ``string`` (UTF-8, never undecodable bytes); bit data: ``binary``
* ``DATE`` ``YYYY-MM-DD``, ``TIME`` ``HH:MM:SS``, ``TIMESTAMP`` ``YYYY-MM-DD
  HH:MM:SS[.f{precision}]``, ``TIMESTAMP_TZ`` the same with ``+HH:MM`` appended: all ``string``,
  because year 0001, 24:00:00 and 12 fraction digits do not fit Arrow's or Python's date types.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class SqlType(Enum):
    """SQL types, independent of any dialect."""

    SMALLINT = "SMALLINT"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    DECIMAL = "DECIMAL"
    REAL = "REAL"
    DOUBLE = "DOUBLE"
    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_TZ = "TIMESTAMP_TZ"
    BOOLEAN = "BOOLEAN"
    DECFLOAT = "DECFLOAT"
    CLOB = "CLOB"
    BLOB = "BLOB"
    XML = "XML"


#: Which Arrow type carries which SQL type.
ARROW_TYPES: dict[SqlType, pa.DataType] = {
    SqlType.SMALLINT: pa.int64(),
    SqlType.INTEGER: pa.int64(),
    SqlType.BIGINT: pa.int64(),
    SqlType.DECIMAL: pa.string(),
    SqlType.REAL: pa.float32(),
    SqlType.DOUBLE: pa.float64(),
    SqlType.CHAR: pa.string(),
    SqlType.VARCHAR: pa.string(),
    SqlType.BINARY: pa.binary(),
    SqlType.VARBINARY: pa.binary(),
    SqlType.DATE: pa.string(),
    SqlType.TIME: pa.string(),
    SqlType.TIMESTAMP: pa.string(),
    SqlType.TIMESTAMP_TZ: pa.string(),
    SqlType.BOOLEAN: pa.bool_(),
    SqlType.DECFLOAT: pa.string(),
    SqlType.CLOB: pa.string(),
    SqlType.BLOB: pa.binary(),
    SqlType.XML: pa.string(),
}

FLOATS = frozenset({SqlType.REAL, SqlType.DOUBLE})


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``length`` is in the source's units (characters or bytes; fraction digits for
    timestamps), ``scale`` for DECIMAL. ``declared`` is its type in the target's words, where a user
    says it. ``unsized``: the source's type has no length, and ``length`` is the most that its
    values can have, which few of them do. ``bit_data``: bytes of a character type (FOR BIT DATA),
    which are no binary string to every database. ``compared``: the target's type of which a text is
    a value, where texts of one value differ. ``constant``: what every row has in it, where a
    mapping adds the column."""

    name: str
    type: SqlType
    nullable: bool = True
    length: int = 0
    scale: int = 0
    declared: str = ""
    unsized: bool = False
    bit_data: bool = False
    compared: str = ""
    constant: str | int | None = None

    def constants(self, count: int) -> pa.Array:
        """The ``constant`` of so many rows."""
        return pa.repeat(pa.scalar(self.constant, ARROW_TYPES[self.type]), count)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: names as the source spells them, columns in order, ``key`` the names of the identity
    columns (empty: no key). What a mapping makes of a table has ``left_out``, columns that the
    source has and the target does not, and those that a user's options have ``hidden``."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """The column called ``name``; ``KeyError`` when there is none (callers pass names they took
        from this table)."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def in_target(self) -> Table:
        """The table without the columns that no statement names."""
        if not (self.left_out or self.hidden):
            return self
        unnamed = {*self.left_out, *self.hidden}
        columns = tuple(column for column in self.columns if column.name not in unnamed)
        return Table(self.schema, self.name, columns, self.key)


#: Codes or bytes.
Codes = npt.NDArray[np.uint8]
#: True for some of ``n`` rows.
RowMask = npt.NDArray[np.bool_]
#: Numbers of 53 bits.
Doubles = npt.NDArray[np.float64]
