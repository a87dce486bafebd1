"""Changes of rows -> what brings them into a PostgreSQL at once: rows in COPY's text format for
a staging table, and one statement that merges them into the table they belong to.

Values go through the rules of :mod:`sqlgen.literals` (policies, precision), only their dress is
another one. The staging tables have the types of the target's columns without length and precision,
so that a value is cut, rounded or refused where it would be in a statement: on its way into the
table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.choices import Names
from sqlgen.dialects import Profile
from sqlgen.literals import plain_texts
from sqlgen.names import identifier, table_expression, target_name
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import FLOATS, Column, Op, Rows, SqlType, Table
from sqlgen.statements import float_bounds, only_rows

#: How COPY's text format writes NULL.
COPY_NULL = "\\N"
#: What it cannot take as it is, and how that is written.
COPY_ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
#: Has the statements of the loads of a transaction find each row by its key, as single statements
#: do: nothing is known of the staging tables.
BY_KEY = "; ".join(
    f"SET LOCAL {setting} = off"
    for setting in (
        "enable_hashjoin",
        "enable_mergejoin",
        "enable_seqscan",
        "enable_material",
        "jit",
    )
)
#: Columns of a table in PostgreSQL at most.
_MOST_COLUMNS = 1600

#: Types whose texts may hold such characters.
_ESCAPED = frozenset(
    {
        SqlType.CHAR,
        SqlType.VARCHAR,
        SqlType.CLOB,
        SqlType.XML,
        SqlType.BINARY,
        SqlType.VARBINARY,
        SqlType.BLOB,
    }
)


@dataclass(frozen=True)
class Load:
    """Rows for one table. ``make`` makes the staging table (empty: there is none), ``copy`` reads
    ``text`` (lines) into it; ``merge`` takes it over (empty: ``copy`` does) and must touch exactly
    ``count`` rows."""

    op: Op
    table: Table
    count: int
    make: str
    copy: str
    text: bytes
    merge: str = ""


class Unmergeable(Exception):
    """These rows cannot be merged; the reason, in words."""


@dataclass
class _Stage:
    """The columns of a staging table: (name, type) and their values."""

    columns: list[tuple[str, str]] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, name: str, kind: str, values: Any) -> str:
        self.columns.append((name, kind))
        self.values.append(values)
        return f"s.{name}"


@dataclass(frozen=True)
class Merging:
    """How to say it: ``types`` maps the target's names of columns to their types without length and
    precision."""

    profile: Profile
    options: RenderOptions
    types: Mapping[str, str]

    def load(self, rows: Rows, number: int) -> Load:
        """The load for ``rows``, of which no two have the same key; of updates both images have all
        columns. ``number`` names the staging table. Raises Unmergeable."""
        if rows.op is Op.INSERT:
            return self._insert(rows)
        stage = f"pg_temp.logreplay_{number}"
        return self._delete(rows, stage) if rows.op is Op.DELETE else self._update(rows, stage)

    def _insert(self, rows: Rows) -> Load:
        columns = shown_columns(rows.table, self.options)
        values = [self._texts(rows.after[column.name], column) for column in columns]
        names = ", ".join(self._name(column) for column in columns)
        copy = f"COPY {self._table(rows.table)} ({names}) FROM STDIN"
        return Load(rows.op, rows.table, rows.count, "", copy, _lines(rows, values))

    def _delete(self, rows: Rows, name: str) -> Load:
        stage = _Stage()
        shown = shown_columns(rows.table, self.options)
        found_by = (
            shown
            if self.options.where_columns != "key"
            else tuple(rows.table.column(key) for key in rows.table.key)
        )
        terms = self._identified(stage, rows)
        terms += [
            self._guard(stage, number, column, rows.before[column.name], None)
            for number, column in self._others(rows.table, found_by)
        ]
        merge = (
            f"DELETE FROM {self._table(rows.table)} AS t USING {name} AS s WHERE"
            f" {' AND '.join(terms)}"
        )
        return self._staged(rows, stage, name, merge)

    def _update(self, rows: Rows, name: str) -> Load:
        stage = _Stage()
        shown = shown_columns(rows.table, self.options)
        terms = self._identified(stage, rows)
        sets = []
        guarded = set()
        for number, column in enumerate(shown):
            mask = rows.changed.get(column.name)
            if mask is None or not pc.any(mask).as_py():
                continue
            flag = None
            if not pc.all(mask).as_py():
                flag = stage.add(f"c{number}", "boolean", pc.if_else(mask, "t", "f"))
            value = stage.add(
                f"n{number}", self._type(column), self._texts(rows.after[column.name], column, mask)
            )
            own = self._name(column)
            sets.append(
                f"{own} = {value}"
                if flag is None
                else f"{own} = CASE WHEN {flag} THEN {value} ELSE t.{own} END"
            )
            if self.options.where_columns == "guard" and column.name not in rows.table.key:
                terms.append(
                    self._guard(
                        stage, number, column, rows.before[column.name], mask if flag else None
                    )
                )
                guarded.add(column.name)
        if self.options.where_columns == "all":
            terms += [
                self._guard(stage, number, column, rows.before[column.name], None)
                for number, column in self._others(rows.table, shown)
            ]
        if not sets:
            raise Unmergeable(
                f"updates of {rows.table.schema}.{rows.table.name} change excluded columns only"
            )
        merge = (
            f"UPDATE {self._table(rows.table)} AS t SET {', '.join(sets)} FROM {name} AS s"
            f" WHERE {' AND '.join(terms)}"
        )
        return self._staged(rows, stage, name, merge)

    def _staged(self, rows: Rows, stage: _Stage, name: str, merge: str) -> Load:
        if len(stage.columns) > _MOST_COLUMNS:
            raise Unmergeable(
                f"{rows.table.schema}.{rows.table.name} has too many columns for a staging table"
            )
        columns = ", ".join(f"{column} {kind}" for column, kind in stage.columns)
        make = f"CREATE TEMPORARY TABLE {name} ({columns}) ON COMMIT DROP"
        text = _lines(rows, stage.values)
        copy = f"COPY {name} FROM STDIN"
        return Load(rows.op, rows.table, rows.count, make, copy, text, merge)

    def _identified(self, stage: _Stage, rows: Rows) -> list[str]:
        """``t.key = s.k0`` for the key's columns as they were."""
        terms = []
        for number, name in enumerate(rows.table.key):
            column = rows.table.column(name)
            texts = self._texts(rows.before[name], column)
            former = stage.add(f"k{number}", self._type(column), texts)
            terms.append(f"t.{self._name(column)} = {former}")
        return terms

    def _others(self, table: Table, columns: Sequence[Column]) -> list[tuple[int, Column]]:
        return [
            (number, column)
            for number, column in enumerate(columns)
            if column.name not in table.key
        ]

    def _guard(
        self, stage: _Stage, number: int, column: Column, before: pa.Array, mask: pa.Array | None
    ) -> str:
        """The row has the old value still, where ``mask`` is true (None: everywhere). Floats match
        as they do in statements."""
        own, kind = f"t.{self._name(column)}", self._type(column)
        if column.type in FLOATS:
            low, high = (
                pc.if_else(pc.is_null(before), pa.scalar(None, pa.string()), bound)
                for bound in float_bounds(before, column, self.profile)
            )
            least, most = stage.add(f"o{number}", kind, low), stage.add(f"h{number}", kind, high)
            same = f"({own} BETWEEN {least} AND {most} OR ({own} IS NULL AND {least} IS NULL))"
        else:
            same = (
                f"{own} IS NOT DISTINCT FROM"
                f" {stage.add(f'o{number}', kind, self._texts(before, column, mask))}"
            )
        return same if mask is None else f"(NOT s.c{number} OR {same})"

    def _texts(self, values: pa.Array, column: Column, mask: pa.Array | None = None) -> Any:
        """Values as COPY reads them; where ``mask`` is false, NULL. What a policy would change goes
        another way, where keys are kept from it."""
        texts, problems = plain_texts(values, column, self.profile, self.options.policy.of_keys())
        wrong = problems if mask is None else only_rows(problems, mask)
        if wrong:
            raise Unmergeable(
                f"column {column.name}: found {wrong[0].found}; expected {wrong[0].expected}"
            )
        if column.type in _ESCAPED:
            held = [_buffer(part) for part in _parts(texts)]
            for plain, escaped in COPY_ESCAPES:
                if any(plain.encode() in part for part in held):
                    texts = pc.replace_substring(texts, plain, escaped)
        return texts if mask is None else pc.if_else(mask, texts, pa.scalar(None, pa.string()))

    def _name(self, column: Column) -> str:
        return _spelled(column.name, self.profile, self.options.names)

    def _type(self, column: Column) -> str:
        return self.types[target_name(column.name, self.profile, self.options.names)]

    def _table(self, table: Table) -> str:
        tree = table_expression(table, self.profile, self.options.names)
        return tree.sql(dialect=self.profile.sqlglot)


@lru_cache(maxsize=4096)
def _spelled(name: str, profile: Profile, names: Names) -> str:
    """A name as it is written. Each load of a table asks for all names again."""
    return identifier(name, profile, names).sql(dialect=profile.sqlglot)


def _lines(rows: Rows, values: Sequence[Any]) -> bytes:
    """The lines of COPY's text format."""
    if not rows.count:
        return b""
    filled = [pc.fill_null(column, COPY_NULL) if column.null_count else column for column in values]
    lines = pc.binary_join_element_wise(*filled, "\t")
    return b"".join(map(_buffer, _parts(pc.binary_join_element_wise(lines, "\n", ""))))


def _parts(texts: Any) -> list[pa.Array]:
    return texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]


def _buffer(texts: pa.Array) -> bytes:
    """The characters of a string array, one text after the other."""
    _, offsets, data = texts.cast(pa.string()).buffers()
    if data is None:
        return b""
    bounds = np.frombuffer(offsets, np.int32)
    first, last = int(bounds[texts.offset]), int(bounds[texts.offset + len(texts)])
    return memoryview(data)[first:last].tobytes()
