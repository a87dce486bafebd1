"""``--where``: a predicate over the values of a change, checked before anything is read and handed on as DuckDB text.

``before.col`` and ``after.col`` name one image; a bare ``col`` is satisfied by either image, so a row that enters or leaves the set counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, SqlType, Table

#: What a predicate may be made of. Anything else (subqueries, other functions, statements) is rejected by name.
_ALLOWED: tuple[type[exp.Expr], ...] = (
    exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between,
    exp.Like, exp.ILike, exp.Escape, exp.Is, exp.Null, exp.Boolean, exp.Literal, exp.HexString, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod,
    exp.DPipe, exp.Column, exp.Identifier, exp.Cast, exp.DataType, exp.DataTypeParam, exp.Coalesce, exp.Upper, exp.Lower, exp.Abs, exp.Length,
    exp.Substring, exp.Trim, exp.Tuple, exp.Date, exp.Interval, exp.Var,
)  # fmt: skip

_CASTS = {SqlType.DATE: "DATE", SqlType.TIME: "TIME", SqlType.TIMESTAMP: "TIMESTAMP", SqlType.TIMESTAMP_TZ: "TIMESTAMPTZ"}
_HINT = "Write a condition on columns, for example: --where \"after.amount > 100 AND before.status = 'A'\""


@dataclass(frozen=True)
class Predicate:
    """A checked predicate. ``columns`` are the (image, upper-case name) pairs it reads; the image is before, after or '' for either."""

    tree: exp.Expr
    columns: frozenset[tuple[str, str]]

    def applies_to(self, table: Table) -> bool:
        """Whether the table has every column the predicate names."""
        return {name for _, name in self.columns} <= {column.name.upper() for column in table.columns}

    def duckdb_sql(self, table: Table, either: str) -> str:
        """The predicate for DuckDB, with each column as ``"image.COLUMN"`` and bare ones taken from the image ``either``."""
        types = {column.name.upper(): column for column in table.columns}

        def place(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            column = types[node.name.upper()]
            named = exp.column(exp.to_identifier(f"{(node.table or either).lower()}.{column.name}", quoted=True))
            return _typed(named, column)

        return self.tree.copy().transform(place).sql(dialect="duckdb")


def _typed(named: exp.Expr, column: Column) -> exp.Expr:
    if column.type is SqlType.DECIMAL:
        return exp.cast(named, f"DECIMAL({max(column.length, column.scale, 1)}, {column.scale})")
    if column.type in _CASTS:
        return exp.TryCast(this=named, to=exp.DataType.build(_CASTS[column.type]))
    return named


def parse_predicate(text: str, tables: Sequence[Table]) -> Predicate:
    """Parse and check a predicate. SqlgenError (LR1003) with line and column for what cannot be read or is not allowed, and when no table has its
    columns."""
    try:
        tree = sqlglot.parse_one(text, into=exp.Condition, dialect="postgres")
    except (ParseError, TokenError) as error:
        raise SqlgenError("LR1003", f"--where cannot be read{_position(error)}: {_first_line(error)}", _HINT) from None
    for node in tree.walk():
        if not isinstance(node, _ALLOWED):
            found = f"--where uses {node.key.upper()} ({node.sql()[:60]}){_place(node, text)}"
            raise SqlgenError("LR1003", f"{found}, which is not allowed; expected conditions on columns", _HINT)
    columns: set[tuple[str, str]] = set()
    known = {column.name.upper() for table in tables for column in table.columns}
    for node in tree.find_all(exp.Column):
        image = node.table.lower()
        if image not in ("", "before", "after") or node.args.get("db"):
            raise SqlgenError("LR1003", f"--where names {node.sql()!r}{_place(node, text)}; expected col, before.col or after.col", _HINT)
        if node.name.upper() not in known:
            raise SqlgenError("LR1003", f"--where names column {node.name!r}{_place(node, text)}, which no table of the log has", _HINT)
        columns.add((image, node.name.upper()))
    predicate = Predicate(tree, frozenset(columns))
    if not columns or not any(predicate.applies_to(table) for table in tables):
        raise SqlgenError(
            "LR1003", "--where names no column, or columns that no single table has together; expected columns of one table", _HINT
        )
    return predicate


def _position(error: Exception) -> str:
    for entry in getattr(error, "errors", []):
        if entry.get("line"):
            return f" at line {entry['line']}, column {entry['col']}"
    return ""


def _first_line(error: Exception) -> str:
    entries = getattr(error, "errors", [])
    return str(entries[0]["description"]) if entries else str(error).splitlines()[0]


def _place(node: exp.Expr, text: str) -> str:
    """`` at line L, column C`` of a node, from the token positions sqlglot keeps on identifiers."""
    for part in node.walk():
        line, column = part.meta.get("line"), part.meta.get("col")
        if line and column:
            return f" at line {line}, column {column}"
    word = node.sql().split("(")[0].split()[0] if node.sql() else ""
    at = text.upper().find(word.upper())
    return f" at line 1, column {at + 1}" if word and at >= 0 else ""
