"""Tables, columns, unique keys and foreign keys as the SQL side sees them, changes of rows in
batches, and the one table that says which Arrow type carries which SQL type. Names are those of the
log.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

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


# -- keys
# -------------------------------------------------------------------------------------------------


#: What a foreign key may do to rows of its table by itself.
ACTIONS = frozenset({"CASCADE", "SET NULL", "SET DEFAULT"})


@dataclass(frozen=True)
class ForeignKey:
    """``columns`` of ``table`` refer to ``parent_columns`` of ``parent`` (tables as OWNER.NAME; no
    parent columns: its primary key).

    ``on_delete`` is NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT; of the last two,
    ``set_columns`` are those that it sets where these are not all. ``deferrable``: the check can
    wait for the end of a transaction; what else happens on a delete never waits.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...] = ()
    on_delete: str = "NO ACTION"
    deferrable: bool = False
    set_columns: tuple[str, ...] = ()
    on_update: str = "NO ACTION"

    @property
    def waits(self) -> bool:
        """Whether the whole constraint can be left to the end of a transaction."""
        return self.deferrable and self.on_delete == "NO ACTION"


_KeysByTable = dict[str, dict[tuple[str, ...], tuple[str, ...]]]


@dataclass(frozen=True)
class Constraints:
    """``keys``: (OWNER.NAME, columns) of primary and unique keys. ``unused``: what was found and
    cannot be used, in words; ``outside``: (OWNER.NAME, in words) of foreign keys to tables that the
    log does not have; ``referred``: (OWNER.NAME, columns in upper case) of keys that such tables
    refer to. ``complete``: the foreign keys are all that there are, even where there are
    none; else nobody told of others. ``unread``: what is not understood and may state a key of
    these tables, in words; ``passed``: how many statements are about other things; ``acting``:
    foreign keys to tables of the log that change rows by themselves, those of other tables too.
    ``deferrable``: those of ``keys`` whose check can wait for the end of a transaction;
    ``history``: (OWNER.NAME of a history table, of its temporal table), whose rows the database
    writes. ``strange``: no statement of the DDL is about one of these tables; ``notes``: how it was
    read."""

    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unused: tuple[str, ...] = ()
    outside: tuple[tuple[str, str], ...] = ()
    referred: tuple[tuple[str, tuple[str, ...]], ...] = ()
    complete: bool = False
    unread: tuple[str, ...] = ()
    passed: int = field(default=0, compare=False)
    strange: bool = field(default=False, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    acting: tuple[ForeignKey, ...] = field(default=(), compare=False)
    history: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    deferrable: frozenset[tuple[str, frozenset[str]]] = frozenset()

    @property
    def tell_foreign_keys(self) -> bool:
        """Whether foreign keys are known: some are named, or it is stated that there are none."""
        return self.complete or bool(self.foreign_keys)

    def keys_of(self, table: str) -> list[tuple[str, ...]]:
        """The unique keys of a table: those stated, and those that foreign keys refer to."""
        return list(self._by_table[0].get(table, {}).values())

    def firm(self) -> Constraints:
        """The constraints without the foreign keys that can wait; the keys these refer to stay."""
        return self._without(tuple(foreign for foreign in self.foreign_keys if foreign.waits))

    def without_foreign_keys(self) -> Constraints:
        """The unique keys alone, those that foreign keys refer to among them: for where foreign
        keys do not act."""
        return replace(self._without(self.foreign_keys), referred=())

    def _without(self, gone: Sequence[ForeignKey]) -> Constraints:
        """All but some of the foreign keys; the keys that these refer to stay."""
        keys = tuple(
            (foreign.parent, foreign.parent_columns) for foreign in gone if foreign.parent_columns
        )
        known = set(gone)
        return replace(
            self,
            keys=tuple(dict.fromkeys(self.keys + keys)),
            foreign_keys=tuple(one for one in self.foreign_keys if one not in known),
        )

    def foreign_keys_of(self, table: str) -> list[ForeignKey]:
        """The foreign keys of a child table."""
        return list(self._by_table[1].get(table, ()))

    @cached_property
    def _by_table(self) -> tuple[_KeysByTable, dict[str, list[ForeignKey]]]:
        """Unique keys by their columns in order, and foreign keys, of each table."""
        keys: _KeysByTable = {}
        foreign_keys: dict[str, list[ForeignKey]] = {}
        referred = [(foreign.parent, foreign.parent_columns) for foreign in self.foreign_keys]
        for name, columns in (*self.keys, *(entry for entry in referred if entry[1])):
            keys.setdefault(name, {})[tuple(sorted(columns))] = columns
        for foreign in self.foreign_keys:
            foreign_keys.setdefault(foreign.table, []).append(foreign)
        return keys, foreign_keys


# -- changes of rows
# -------------------------------------------------------------------------------------------------


class Op(Enum):
    """What happened to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


INVERSE = {Op.INSERT: Op.DELETE, Op.DELETE: Op.INSERT, Op.UPDATE: Op.UPDATE}


@dataclass(frozen=True)
class Rows:
    """``count`` changes of one ``table``, all of one ``op``.

    ``before`` and ``after`` map a column name to an Arrow array of ``count`` values (value
    contract: :mod:`sqlgen.schema`). An insert has only ``after``, a delete only ``before``. An
    update may carry fewer columns than the table has: a column that is *absent* was not needed or
    not logged, which is not the same as NULL. ``changed`` (updates only) maps a column name to a
    boolean array: True where before and after differ. Where it is False, the value of ``after`` (of
    ``before``, after :meth:`inverse`) in that row may be anything unless the column is needed to
    find the row; a column missing from ``changed`` is unchanged in every row. ``whole`` (updates
    only) says of which rows the image that a statement writes has every column's value; None: of
    none.
    """

    table: Table
    op: Op
    count: int
    before: Mapping[str, pa.Array]
    after: Mapping[str, pa.Array]
    changed: Mapping[str, pa.BooleanArray]
    whole: pa.BooleanArray | None = None

    def inverse(self) -> Rows:
        """The rows that take these back: insert and delete change places, an update's images do.
        ``inverse`` of ``inverse`` is the same."""
        return replace(self, op=INVERSE[self.op], before=self.after, after=self.before)
