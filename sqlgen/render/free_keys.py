"""Rows -> statements that give no row a key that another row has: for a script that runs on a
database in which the changes of others are still there, some of which it leaves out.

Such a script finds rows by their old values, so a statement whose row is another one by now does
nothing. A row that comes, or comes to another key, has no old values there: what must be as in the
log is that nobody has the key. Where the database enforces the key, it says so with an error; where
it does not, the row would be there twice.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen import statements
from sqlgen.dialects import Profile
from sqlgen.lazy_imports import exp, when_used
from sqlgen.literals import ValueProblem
from sqlgen.names import table_expression
from sqlgen.render_options import RenderOptions, identity
from sqlgen.rows import Op, Rows
from sqlgen.schema import Table
from sqlgen.statements import EMITTED, SLOT, Rendered, conditions, finish, joined, only_rows, sql_of

with when_used():
    from sqlgen.render import upsert

#: Dialects that take no sub-query over the table that an UPDATE changes, unless its rows are set
#: down first.
_SETS_DOWN = frozenset({"mysql", "mariadb"})


def render_by(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """The statements of ``rows`` in the way that ``options`` ask for. SqlgenError: LR3013 for an
    upsert of a table without a key, LR3006 when a key column is excluded that statements look at,
    as inserts do where keys must be free."""
    if rows.table.key and (options.upsert or options.free_keys):
        identity(rows.table, options)
    if options.upsert:
        return upsert.render(rows, profile, options)
    if not options.free_keys or not rows.table.key:
        return statements.render(rows, profile, options)
    if rows.op is Op.INSERT:
        return _inserts(rows, profile, options)
    rendered = statements.render(rows, profile, options)
    return rendered if rows.op is Op.DELETE else _moves(rows, rendered, profile, options)


def _inserts(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """Rows whose key has a null are inserted as they are: NULL is equal to nothing."""
    rendered = upsert.inserts_of_absent(rows, profile, options)
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
    moved = upsert.moved_rows(rows) & (rendered.outcome == EMITTED)
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
