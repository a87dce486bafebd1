"""Conditions, queries and constants of DDL for another database: names as the target spells them,
constants as it writes them, and nothing but what means the same in all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlgen.ddl import type_rule
from sqlgen.dialects import Profile
from sqlgen.literals import Policy, literals
from sqlgen.names import identifier, table_expression
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table
from sqlgen.value_texts import value_of

#: Nodes that mean the same everywhere. Division is not among them: of whole numbers it gives a
#: fraction here and none there.
PORTABLE = frozenset(
    {
        exp.Abs, exp.Add, exp.Alias, exp.And, exp.Avg, exp.Between, exp.Case, exp.Coalesce,
        exp.Column, exp.Count, exp.Date, exp.Distinct, exp.DPipe,
        exp.EQ, exp.Escape, exp.Except, exp.Exists, exp.Fetch, exp.From, exp.Group, exp.GT, exp.GTE,
        exp.Having, exp.HexString, exp.Identifier,
        exp.If, exp.In, exp.Intersect, exp.Is, exp.Join, exp.Like, exp.Limit, exp.Literal,
        exp.Lower, exp.LT, exp.LTE, exp.Max, exp.Min, exp.Mul,
        exp.Neg, exp.NEQ, exp.Not, exp.Null, exp.Nullif, exp.Offset, exp.Or, exp.Order, exp.Ordered,
        exp.Paren, exp.Select, exp.Star, exp.Sub,
        exp.Subquery, exp.Sum, exp.Table, exp.TableAlias, exp.Time, exp.Timestamp, exp.Union,
        exp.Upper, exp.Where,
    }
)  # fmt: skip
#: What a query finds out of itself, and other databases call otherwise.
PSEUDO_COLUMNS = frozenset({"LEVEL", "ROWNUM", "ROWID", "ROWVER"})
#: Parts of queries that have no node of their own in the list above, by sqlglot's names.
_QUERY_PARTS = {
    "connect": "a hierarchical query",
    "with_": "a query inside a query by name",
    "locks": "rows that are locked",
    "hint": "a hint",
}
#: Nodes that compare values.
COMPARES = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_NUMBERS = (SqlType.DECIMAL, SqlType.DECFLOAT)
_IS_TEXT = re.compile("TEXT|N?VARCHAR|STRING|CHAR")
_TEXT = Column("", SqlType.VARCHAR)
_BYTES = Column("", SqlType.VARBINARY)
_MOMENTS: dict[type[exp.Expr], Column] = {
    exp.Date: Column("", SqlType.DATE),
    exp.Time: Column("", SqlType.TIME),
    exp.Timestamp: Column("", SqlType.TIMESTAMP, length=9),
}


_WHOLE = {SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT}
_TEXTS = {SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB}
_BINARY = {SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB}
_MOMENT_TEXTS = {
    SqlType.DATE: re.compile(r"\d{4}-\d\d-\d\d()\Z"),
    SqlType.TIME: re.compile(r"\d\d:\d\d:\d\d()\Z"),
    SqlType.TIMESTAMP: re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.(\d{1,12}))?\Z"),
}


class CannotSay(Exception):
    """What cannot be said, in words: found, and why not."""


def source_name(name: exp.Expr) -> str:
    """A name as Db2 and solidDB keep it: in upper case unless it stands in quotes."""
    return name.name if name.args.get("quoted") else name.name.upper()


@dataclass(frozen=True)
class Place:
    """Where names without a schema are: ``schema`` and ``catalog`` of the session ('' not
    known)."""

    schema: str = ""
    catalog: str = ""


@dataclass
class TargetNames:
    """A target's names and constants. ``dropped``: catalogs that were left out of names;
    ``dialect``: that of the DDL, for what is shown of it."""

    profile: Profile
    names: str
    place: Place
    dropped: set[str] = field(default_factory=set)
    dialect: str = "soliddb"

    def identifier(self, name: exp.Expr) -> exp.Identifier:
        """A name as the target spells it."""
        return identifier(source_name(name), self.profile, self.names)

    def spelled(self, name: exp.Expr) -> str:
        """The same as text."""
        return self.identifier(name).sql(dialect=self.profile.sqlglot)

    def table(self, tree: exp.Expr) -> Table:
        """Schema and name that a tree names. A target has no catalogs: another one than the
        session's cannot be said."""
        catalog, schema = tree.args.get("catalog"), tree.args.get("db")
        if catalog is not None:
            if not self.place.catalog:
                self.dropped.add(source_name(catalog))
            elif source_name(catalog) != self.place.catalog:
                raise CannotSay(
                    f"the catalog {source_name(catalog)} is not the log's {self.place.catalog}; the"
                    " target has one database"
                )
        return Table(
            source_name(schema) if schema is not None else self.place.schema,
            source_name(tree.this),
            (),
        )

    def table_expression(self, tree: exp.Expr) -> exp.Table:
        """A table as the target names it."""
        return table_expression(self.table(tree), self.profile, self.names)

    def literal(self, value: Any, column: Column) -> str:
        """A value as the target writes it."""
        if value is None:
            return "NULL"
        text, problems = literals(
            pa.array([value], ARROW_TYPES[column.type]), column, self.profile, Policy()
        )
        if problems:
            raise CannotSay(f"the constant {problems[0].found}; {problems[0].expected}")
        return str(text[0].as_py())

    def constant(self, tree: exp.Expr, column: Column) -> str:
        """A constant in a column, as the target writes it."""
        in_words = self.dialect == "db2" and isinstance(tree, exp.Literal) and tree.is_string
        if in_words and column.type in _MOMENT_TEXTS:  # in any form that Db2 takes
            with suppress(ValueError):
                tree = exp.Literal.string(str(value_of(tree.name, column)))
        try:
            return self.literal(constant(tree, column), column)
        except ValueError as error:
            raise CannotSay(
                f"the constant {tree.sql(dialect=self.dialect)} in"
                f" {column.name or 'an expression'}: {error}"
            ) from None

    def portable(self, tree: exp.Expr, columns: Mapping[str, Column]) -> exp.Expr:
        """A condition or query for the target. ``columns``: types of columns that it names, as far
        as they are known; constants compared with them are written as theirs. CannotSay for
        anything that might mean something else there."""
        tree = tree.copy()
        for node in list(tree.walk()):
            self._check(node)
        for node in tree.find_all(exp.Column):
            column = columns.get(source_name(node.this))
            if (
                column is not None
                and column.type in _NUMBERS
                and _IS_TEXT.match(type_rule(column, self.profile).text)
            ):
                raise CannotSay(
                    f"the number {column.name} is a text in {self.profile.name}, and would be"
                    " compared as one"
                )
        for node in list(
            tree.find_all(exp.Literal, exp.HexString, exp.Date, exp.Time, exp.Timestamp)
        ):
            if not (
                isinstance(node, exp.Literal)
                and isinstance(node.parent, exp.Date | exp.Time | exp.Timestamp)
            ):
                self._write(node, columns)
        for table in list(tree.find_all(exp.Table)):
            named = self.table_expression(table)
            table.set("this", named.this)
            table.set("db", named.args.get("db"))
            table.set("catalog", None)
        for name in list(tree.find_all(exp.Identifier)):
            if not isinstance(name.parent, exp.Table):
                name.replace(self.identifier(name))
        return tree

    def _check(self, node: exp.Expr) -> None:
        shown = node.sql(dialect=self.dialect)
        if type(node) not in PORTABLE:
            raise CannotSay(f"{shown!r} may mean something else in {self.profile.name}")
        if (
            isinstance(node, exp.Column)
            and not node.args.get("table")
            and source_name(node.this) in PSEUDO_COLUMNS
        ):
            raise CannotSay(f"the pseudo column {shown}")
        if isinstance(node, exp.Join) and node.args.get("method"):
            raise CannotSay(f"{shown!r}: which columns are compared is not written down")
        if isinstance(node, exp.DPipe) and self.profile.empty_is_null:
            raise CannotSay(f"{shown!r}: {self.profile.name} takes NULL for empty text there")
        if (
            isinstance(node, exp.Like)
            and not isinstance(node.parent, exp.Escape)
            and "\\" in node.expression.name
        ):
            raise CannotSay(f"{shown!r}: the backslash escapes elsewhere")
        for part, words in _QUERY_PARTS.items():
            if node.args.get(part):
                raise CannotSay(f"{shown!r}: {words}")

    def _write(self, node: exp.Expr, columns: Mapping[str, Column]) -> None:
        """Replace a constant by the target's text for it; numbers stay, unless a column says what
        they are."""
        compared = node.parent if isinstance(node.parent, COMPARES) else None
        named = compared.find(exp.Column) if compared is not None else None
        column = (
            columns.get(source_name(named.this))
            if named is not None and named.parent is compared
            else None
        )
        if isinstance(node, exp.Literal) and not node.is_string:
            return
        if column is None:
            column = _MOMENTS.get(type(node)) or (
                _BYTES if isinstance(node, exp.HexString) else _TEXT
            )
        node.replace(exp.Var(this=self.constant(node, column)))


def constant(tree: exp.Expr, column: Column) -> Any:
    """The value of a constant in a column, by the contract of :mod:`sqlgen.schema`; None for NULL.
    ValueError, with what was expected, for a constant that the column's type does not have."""
    if isinstance(tree, exp.Null):
        return None
    sign, inner = ("-", tree.this) if isinstance(tree, exp.Neg) else ("", tree)
    kind = column.type
    if isinstance(inner, exp.HexString) and kind in _BINARY:
        return bytes.fromhex(inner.name)
    if isinstance(inner, exp.Date | exp.Time | exp.Timestamp):
        inner = inner.this
    if not isinstance(inner, exp.Literal):
        raise ValueError(f"expected a constant of type {kind.value}")
    text = sign + inner.name
    if kind in _TEXTS and inner.is_string:
        return inner.name
    if kind in _BINARY and inner.is_string and inner.name.isascii():
        return inner.name.encode("ascii")
    if kind in _MOMENT_TEXTS and inner.is_string:
        return _moment(inner.name, column)
    try:
        return _number(Decimal(text), column)
    except InvalidOperation:
        raise ValueError(f"expected a constant of type {kind.value}") from None


def _moment(text: str, column: Column) -> str:
    kind = column.type
    match = _MOMENT_TEXTS[kind].match(text)
    if not match:
        raise ValueError(f"expected a {kind.value} as text, most significant part first")
    if kind is not SqlType.TIMESTAMP:
        return text
    return f"{text.partition('.')[0]}.{(match.group(1) or '').ljust(column.length, '0')}"


def _number(value: Decimal, column: Column) -> Any:
    """A number in a column of numbers."""
    kind = column.type
    if not value.is_finite():
        raise ValueError("expected a number")
    if kind in _WHOLE and value == value.to_integral_value():
        return int(value)
    if kind in (SqlType.REAL, SqlType.DOUBLE):
        return float(value)
    if kind is SqlType.DECFLOAT:
        return str(value)
    if kind is SqlType.DECIMAL:
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        shift = exponent + column.scale
        if shift >= 0 or not any(digits[shift:]):
            return f"{value:.{column.scale}f}"
    raise ValueError(f"expected a constant of type {kind.value}")
