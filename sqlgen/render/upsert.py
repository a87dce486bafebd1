"""Rows -> statements that look for keys: those that put rows in place whether they are there or
not, so that a script may be applied again, or over a part of itself; and those that give no row a
key that another row has.

An insert puts the row in place, and so does an update, with the whole of its after image. Where the
whole is not known (a large object's value, an excluded column) or holds what the target shall not
(a change that was not selected), an update sets what changed. A row whose key changes is deleted
under the old one and put in place under the new. Rows are found by their key alone: what a row
holds while the script passes over it a second time is not what it held the first time.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen import statements
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import exp
from sqlgen.literals import LiteralParts, ValueProblem, literal_parts
from sqlgen.names import identifier, table_expression
from sqlgen.render_options import RenderOptions, shown_columns, shows_whole
from sqlgen.schema import FLOATS, Column, Op, RowMask, Rows, Table
from sqlgen.statements import (
    EMITTED,
    SLOT,
    Rendered,
    conditions,
    exact_beside,
    exact_of,
    finish,
    flat_pieces,
    joined,
    only_rows,
    outcome_of,
    sql_of,
)

_CODE = "LR3013"
_MARK = "\0"
#: Aliases of a MERGE: its target and its source.
_TARGET, _SOURCE = "t", "s"


def check_keys(tables: Iterable[Table]) -> None:
    """SqlgenError (LR3013) when one of the tables has no key."""
    names = sorted({f"{table.schema}.{table.name}" for table in tables if not table.key})
    if names:
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        words = shlex.join(word for name in names[:20] for word in ("--exclude-table", name))
        hint = f"Leave such tables out ({words}), or write them without --upsert"
        raise SqlgenError(
            _CODE,
            f"found {shown} without a key; expected a key in every table: it says which row to put"
            " in place",
            hint,
        )


def render(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """The statements of ``rows``; of one whose key changed two, a line each. SqlgenError (LR3013)
    for a table without a key."""
    check_keys([rows.table])
    if rows.op is Op.DELETE:
        return statements.render(rows, profile, options)
    if rows.op is Op.UPDATE:
        return _updates(rows, profile, options)
    text, problems = _put(rows, profile, options)
    return finish(text, np.zeros(rows.count, np.uint8), problems)


def inserts_of_absent(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """Statements that insert each row (of a table with a key) unless one with its key is there."""
    text, problems = _put(rows, profile, options, absent=True)
    return finish(text, np.zeros(rows.count, np.uint8), problems)


def _updates(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    shown = shown_columns(rows.table, options)
    whole = _whole(rows, options)
    if not whole.any():
        plain = statements.render(rows, profile, options)
        return finish(
            plain.text,
            plain.outcome,
            plain.problems + _unmovable(rows, ~whole & (plain.outcome == EMITTED)),
        )
    outcome = outcome_of(rows, shown, _any_of(rows, (column.name for column in shown)))
    put = pa.array(whole & (outcome == EMITTED))
    text, problems = _put(rows, profile, options)
    problems = only_rows(problems, put)
    moved = moved_rows(rows)
    if moved.any():
        deleted = statements.render(
            replace(rows, op=Op.DELETE, after={}, changed={}), profile, options
        )
        problems += only_rows(deleted.problems, pa.array(moved & whole))
        text = pc.if_else(
            pa.array(moved), pc.binary_join_element_wise(deleted.text, text, "\n"), text
        )
    if not whole.all():
        plain = statements.render(rows, profile, options)
        problems += only_rows(plain.problems, pa.array(~whole)) + _unmovable(
            rows, ~whole & (outcome == EMITTED)
        )
        text = pc.if_else(put, text, plain.text)
    return finish(text, outcome, problems)


def _whole(rows: Rows, options: RenderOptions) -> RowMask:
    """The rows whose after image has every column of the table."""
    if rows.whole is None or not shows_whole(rows.table, options):
        return np.zeros(rows.count, bool)
    return np.asarray(rows.whole.to_numpy(zero_copy_only=False))


def moved_rows(rows: Rows) -> RowMask:
    """The rows whose key changed."""
    return _any_of(rows, rows.table.key)


def _any_of(rows: Rows, names: Iterable[str]) -> RowMask:
    changed = np.zeros(rows.count, bool)
    for name in names:
        if name in rows.changed:
            changed |= rows.changed[name].to_numpy(zero_copy_only=False)
    return changed


def _unmovable(rows: Rows, partial: RowMask) -> list[ValueProblem]:
    """A problem for each row of which only a part is known, and whose key changed."""
    name = f"{rows.table.schema}.{rows.table.name}"
    found = (
        f"a change of the key of a row of {name} that cannot be written whole: values are not in"
        " the log, or columns or changes are left out"
    )
    expected = "the whole row: --upsert puts it in place under its new key"
    hint = (
        "Leave --upsert away, or select all columns and changes of the table, or leave the table"
        " out (--exclude-table)"
    )
    return [
        ValueProblem(int(row), "", found, expected, hint, _CODE)
        for row in np.flatnonzero(partial & moved_rows(rows))
    ]


def _put(
    rows: Rows, profile: Profile, options: RenderOptions, absent: bool = False
) -> tuple[pa.Array, list[ValueProblem]]:
    """The statements that put ``rows.after`` in place (``absent``: where no row with the key is),
    and the values that cannot be said."""
    columns = tuple(
        column for column in shown_columns(rows.table, options) if column.name in rows.after
    )
    values: list[LiteralParts] = []
    problems: list[ValueProblem] = []
    for column in columns:
        value = literal_parts(
            rows.after[column.name], column, profile, options.policy, column.name in rows.table.key
        )
        values.append(value)
        problems += value.problems
        if column.name in rows.table.key and value.body.null_count and not absent:
            problems += _nulls(value, column)
    parts: list[Any] = []
    flat: Mapping[int, list[Any]] = {
        place: flat_pieces(value) for place, value in enumerate(values)
    }
    for piece in template(rows.table, columns, profile, options.names, absent):
        parts += flat[piece] if isinstance(piece, int) else [piece]
    return joined(parts, rows.count), problems


def _nulls(value: LiteralParts, column: Column) -> list[ValueProblem]:
    expected = "a value in every column of the key: NULL is equal to nothing"
    rows = np.flatnonzero(value.body.is_null().to_numpy(zero_copy_only=False))
    hint = "Leave --upsert away, or leave the table out (--exclude-table)"
    return [
        ValueProblem(int(row), column.name, "NULL in the key", expected, hint, _CODE)
        for row in rows
    ]


# -- templates
# -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def template(
    table: Table, columns: tuple[Column, ...], profile: Profile, names: str, absent: bool = False
) -> tuple[str | int, ...]:
    """The text that puts a row in place (``absent``: where none with its key is): pieces of text,
    and where a literal stands the place of its column in ``columns``."""
    make = _Maker(table, columns, profile, names)
    kind = profile.upsert.kind
    if profile.upsert.folds and any(
        exact_beside(column, profile, RenderOptions()) for _, column in make.key
    ):
        kind = "pair"
    if absent:
        kind = "merge" if kind == "merge" else "pair"
        make.others = []
    trees = {
        "conflict": make.conflict,
        "pair": make.pair,
        "merge": make.merge,
        "replace": make.replace,
    }[kind]()
    pieces = "\n".join(sql_of(tree, profile) + ";" for tree in trees).split(_MARK)
    return tuple(int(piece) if place % 2 else piece for place, piece in enumerate(pieces))


class _Maker:
    """The trees of a dialect's upsert, with marks where literals stand."""

    def __init__(
        self, table: Table, columns: tuple[Column, ...], profile: Profile, names: str
    ) -> None:
        self.table, self.columns, self.profile, self.names = table, columns, profile, names
        self.key = [
            (place, column) for place, column in enumerate(columns) if column.name in table.key
        ]
        self.others = [
            (place, column) for place, column in enumerate(columns) if column.name not in table.key
        ]

    def conflict(self) -> list[exp.Expression]:
        """``INSERT … ON CONFLICT (key) DO UPDATE SET column = EXCLUDED.column``."""
        sets = [
            exp.EQ(this=self._column(column), expression=self._column(column, "EXCLUDED"))
            for _, column in self.others
        ]
        action = exp.Var(this="DO UPDATE" if sets else "DO NOTHING")
        on_conflict = exp.OnConflict(
            conflict_keys=[self._name(column) for _, column in self.key],
            action=action,
            expressions=sets,
        )
        return [self._insert(conflict=on_conflict)]

    def pair(self) -> list[exp.Expression]:
        """``UPDATE … WHERE key``, and ``INSERT … SELECT … WHERE NOT EXISTS`` a row with that key.
        Another row that is in the way, by a unique value or by a key that differs in case, stops
        the INSERT."""
        table = table_expression(self.table, self.profile, self.names)
        sets = [
            exp.EQ(this=self._column(column), expression=self._literal(place))
            for place, column in self.others
        ]
        put = exp.Update(this=table, expressions=sets, where=exp.Where(this=self._found()))
        there = exp.Exists(
            this=exp.select(exp.Literal.number(1)).from_(table.copy()).where(self._found())
        )
        into = exp.Schema(
            this=table.copy(), expressions=[self._name(column) for column in self.columns]
        )
        row = exp.select(*self._literals()).where(exp.Not(this=there))
        if self.profile.upsert.source:
            row = row.from_(exp.Var(this=self.profile.upsert.source))
        new = exp.Insert(this=into, expression=row)
        return [put, new] if sets else [new]

    def merge(self) -> list[exp.Expression]:
        """``MERGE INTO … USING one row ON key``. Values stand where they are assigned, so that each
        has the type of its column."""
        upsert = self.profile.upsert
        source: exp.Expr = exp.Table(this=exp.Identifier(this=upsert.source))
        if not upsert.source:
            joined = [
                exp.alias_(self._literal(place, column), self._name(column))
                for place, column in self.key
            ]
            one = joined if upsert.joined else [exp.alias_(exp.Literal.number(1), "one")]
            source = exp.Subquery(
                this=exp.select(*one), alias=exp.TableAlias(this=exp.Identifier(this=_SOURCE))
            )
        terms: list[exp.Expr] = []
        for place, column in self.key:
            value = self._column(column, _SOURCE) if upsert.joined else self._literal(place, column)
            terms.append(exp.EQ(this=self._column(column, _TARGET), expression=value))
            terms += self._exactly(place, column, _TARGET)
        sets = [
            exp.EQ(this=self._column(column), expression=self._literal(place))
            for place, column in self.others
        ]
        whens = (
            [exp.When(matched=True, source=False, then=exp.Update(expressions=sets))]
            if sets
            else []
        )
        named = exp.Tuple(expressions=[self._name(column) for column in self.columns])
        new = exp.Insert(this=named, expression=exp.Tuple(expressions=self._literals()))
        whens.append(exp.When(matched=False, source=False, then=new))
        target = table_expression(self.table, self.profile, self.names)
        target.set("alias", exp.TableAlias(this=exp.Identifier(this=_TARGET)))
        return [
            exp.Merge(
                this=target,
                using=source,
                on=exp.Paren(this=exp.and_(*terms, copy=False)),
                whens=exp.Whens(expressions=whens),
            )
        ]

    def replace(self) -> list[exp.Expression]:
        """DELETE, then INSERT."""
        where = exp.Where(this=self._found())
        return [
            exp.Delete(this=table_expression(self.table, self.profile, self.names), where=where),
            self._insert(),
        ]

    def _found(self) -> exp.Expr:
        """The condition that finds the row by its key."""
        terms: list[exp.Expr] = []
        for place, column in self.key:
            value = self._literal(place, column)
            terms.append(exp.EQ(this=self._column(column), expression=value))
            terms += self._exactly(place, column)
        return exp.and_(*terms, copy=False)

    def _exactly(self, place: int, column: Column, table: str = "") -> list[exp.Expr]:
        """The condition that compares every character of a key's column, where one is needed."""
        around = exact_of(column, self.profile)
        if around is None or not exact_beside(column, self.profile, RenderOptions()):
            return []
        spelled = sql_of(self._column(column, table), self.profile)
        literal = f"{around.opening}{_MARK}{place}{_MARK}{around.literal}"
        return [exp.Var(this=f"{around.before}{spelled}{around.after} = {literal}")]

    def _insert(self, **more: exp.Expr) -> exp.Insert:
        table = table_expression(self.table, self.profile, self.names)
        into = exp.Schema(this=table, expressions=[self._name(column) for column in self.columns])
        values = exp.Values(expressions=[exp.Tuple(expressions=self._literals())])
        return exp.Insert(this=into, expression=values, **more)

    def _literals(self) -> list[exp.Expr]:
        return [self._literal(place) for place in range(len(self.columns))]

    def _literal(self, place: int, compared: Column | None = None) -> exp.Var:
        """The mark of a column's literal; ``compared``: with that column, for equality."""
        typed = (
            self.profile.floats[compared.type].typed
            if compared is not None and compared.type in FLOATS
            else ""
        )
        return exp.Var(this=f"{_MARK}{place}{_MARK}{typed}")

    def _name(self, column: Column) -> exp.Identifier:
        return identifier(column.name, self.profile, self.names)

    def _column(self, column: Column, table: str = "") -> exp.Column:
        return exp.Column(
            this=self._name(column), table=exp.Identifier(this=table) if table else None
        )


# -- keys that must be free
# -------------------------------------------------------------------------------------------------
# Statements that give no row a key that another row has: for a script that runs on a database in
# which the changes of others are still there, some of which it leaves out.
#
# Such a script finds rows by their old values, so a statement whose row is another one by now does
# nothing. A row that comes, or comes to another key, has no old values there: what must be as in
# the log is that nobody has the key. Where the database enforces the key, it says so with an error;
# where it does not, the row would be there twice.

#: Dialects that take no sub-query over the table that an UPDATE changes, unless its rows are set
#: down first.
_SETS_DOWN = frozenset({"mysql", "mariadb"})


def of_free_keys(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """Such statements for ``rows`` of a table with a key."""
    if rows.op is Op.INSERT:
        return _inserts_of_free(rows, profile, options)
    rendered = statements.render(rows, profile, options)
    return rendered if rows.op is Op.DELETE else _moves(rows, rendered, profile, options)


def _inserts_of_free(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """Rows whose key has a null are inserted as they are: NULL is equal to nothing."""
    rendered = inserts_of_absent(rows, profile, options)
    without = np.zeros(rows.count, bool)
    for name in rows.table.key:
        without |= np.asarray(rows.after[name].is_null())
    if not without.any():
        return rendered
    plain = statements.render(rows, profile, options)
    text = pc.if_else(pa.array(without), plain.text, rendered.text)
    return replace(rendered, text=text)


def _moves(rows: Rows, rendered: Rendered, profile: Profile, options: RenderOptions) -> Rendered:
    """``rendered`` updates; those that change the key with the condition that nobody else has it.
    (The row itself has it where keys differ in what the target does not compare, as blanks.)"""
    moved = moved_rows(rows) & (rendered.outcome == EMITTED)
    if not moved.any():
        return rendered
    key = tuple(rows.table.column(name) for name in rows.table.key)
    taken = {
        name: pc.if_else(rows.changed[name], rows.after[name], rows.before[name])
        if name in rows.changed
        else rows.before[name]
        for name in rows.table.key
    }
    problems: list[ValueProblem] = []
    condition = list(conditions(replace(rows, before=taken), key, profile, options, problems))
    itself = list(conditions(rows, key, profile, options, []))
    begin, end = _nobody(rows.table, profile, options.names)
    body = pc.utf8_slice_codeunits(rendered.text, 0, -1)
    pieces = [body, f" AND {begin}", *condition, " AND NOT (", *itself, f"){end};"]
    text = joined(pieces, rows.count)
    text = pc.if_else(pa.array(moved), text, rendered.text)
    more = only_rows(problems, pa.array(moved))
    return finish(text, rendered.outcome, [*rendered.problems, *more])


@lru_cache(maxsize=4096)
def _nobody(table: Table, profile: Profile, names: str) -> tuple[str, str]:
    """What stands around the condition that finds a row by its key, so that it holds where there
    is none."""
    one = exp.Literal.number(1)
    found = exp.select(one).from_(table_expression(table, profile, names))
    found = found.where(exp.Var(this=SLOT))
    if profile.name in _SETS_DOWN:
        found = exp.select(one.copy()).from_(found.limit(1).subquery("taken"))
    begin, end = sql_of(exp.Not(this=exp.Exists(this=found)), profile).split(SLOT)
    return begin, end
