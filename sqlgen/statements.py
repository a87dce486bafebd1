"""Rows -> statements, one for each row and in their order.

sqlglot writes the skeleton of each shape once, with a NUL in every slot; the text between the NULs
is the template. A batch is rendered by joining template pieces and literal columns in Arrow; no
tree and no Python string per row. UPDATE sets only what changed: each column is a piece that is
empty where it did not change, so rows need not be grouped by what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import LABEL, CheckKind, Exact, Profile
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import errors, exp, when_used
from sqlgen.literals import (
    LiteralParts,
    Policy,
    ValueProblem,
    float_text,
    literal_parts,
    other_readings,
)
from sqlgen.names import identifier, table_expression
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.schema import FLOATS, Codes, Column, Op, RowMask, Rows, Table
from sqlgen.script import escape_comment

with when_used():  # for scripts that look for keys
    from sqlgen.render import upsert

#: Outcomes of a row.
EMITTED, NO_CHANGE, EXCLUDED_COLUMNS, PROBLEM = 0, 1, 2, 3
#: How far apart two floats may be and still count as the same in a WHERE, in units in the last
#: place.
FLOAT_ULPS = 4

SLOT = "\0"
#: How the comment begins that stands in place of a statement.
LEFT_OUT = "-- left out, only excluded columns changed: "


@dataclass(frozen=True)
class Rendered:
    """``text`` one statement a row ('' where there is none), ``outcome`` one code a row,
    ``problems`` the values that could not be said."""

    text: pa.StringArray
    outcome: Codes
    problems: list[ValueProblem]


def render_by(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """The statements of ``rows`` in the way that ``options`` ask for. SqlgenError: LR3013 for an
    upsert of a table without a key, LR3006 when a key column is excluded that statements look at,
    as inserts do where keys must be free."""
    if rows.table.key and (options.upsert or options.free_keys):
        identity(rows.table, options)
    if options.upsert:
        return upsert.render(rows, profile, options)
    if options.free_keys and rows.table.key:
        return upsert.of_free_keys(rows, profile, options)
    return render(rows, profile, options)


def render(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    """The statements of ``rows``. WHERE is always made from ``rows.before``, SET and VALUES from
    ``rows.after``."""
    if rows.op is Op.INSERT:
        return _inserts(rows, profile, options)
    if rows.op is Op.DELETE:
        return _deletes(rows, profile, options)
    return _updates(rows, profile, options)


def lookups(rows: Rows, profile: Profile, options: RenderOptions) -> pa.StringArray:
    """For each row a query for what the table holds under the identity of ``rows.before``."""
    return _queries(exp.Star(), rows, profile, options)


def counting_queries(rows: Rows, profile: Profile, options: RenderOptions) -> pa.StringArray:
    """For each row a query (without ``;``) for how many rows the table holds under the identity of
    ``rows.before``."""
    return _queries(exp.Count(this=exp.Star()), rows, profile, options)


def _queries(
    wanted: exp.Expression, rows: Rows, profile: Profile, options: RenderOptions
) -> pa.StringArray:
    place = table_expression(rows.table, profile, options.names)
    query = exp.select(wanted).from_(place).where(_slot())
    begin, end = sql_of(query, profile).split(SLOT)
    condition = conditions(rows, identity(rows.table, options), profile, options, [])
    return joined([begin, *condition, end], rows.count)


def truncate_statement(table: Table, profile: Profile, names: str) -> str:
    """Empties a table at once; row by row where TRUNCATE could not be rolled back with its unit of
    recovery."""
    if not profile.truncate or own_rows(table, profile, names) is not None:
        return delete_all_statement(table, profile, names)
    return (
        sql_of(exp.TruncateTable(expressions=[table_expression(table, profile, names)]), profile)
        + ";"
    )


def delete_all_statement(table: Table, profile: Profile, names: str) -> str:
    """Deletes every row of a table, or those with its constants."""
    where = exp.Where(this=exp.Var(this=profile.delete_all)) if profile.delete_all else None
    where = own_rows(table, profile, names) or where
    return (
        sql_of(exp.Delete(this=table_expression(table, profile, names), where=where), profile) + ";"
    )


def own_rows(table: Table, profile: Profile, names: str) -> exp.Where | None:
    """The condition of the rows that have a table's constants; None for one without."""
    added = [column for column in table.columns if column.constant is not None]
    conditions = []
    for column in added:
        value = literal_parts(column.constants(1), column, profile, Policy()).joined()[0].as_py()
        left = identifier(column.name, profile, names)
        conditions.append(exp.EQ(this=left, expression=exp.Var(this=value)))
    return exp.Where(this=exp.and_(*conditions)) if conditions else None


def sql_of(tree: exp.Expression, profile: Profile) -> str:
    """The text of a tree; what the dialect cannot say is an error."""
    return tree.sql(dialect=profile.sqlglot, unsupported_level=errors.ErrorLevel.RAISE)


def _slot() -> exp.Var:
    return exp.Var(this=SLOT)


@lru_cache(maxsize=4096)
def insert_pieces(
    table: Table, columns: tuple[Column, ...], profile: Profile, options: RenderOptions
) -> tuple[str, ...]:
    """The text of an INSERT before, between and after its values."""
    names = options.names
    into = exp.Schema(
        this=table_expression(table, profile, names),
        expressions=[identifier(c.name, profile, names) for c in columns],
    )
    tree = exp.Insert(
        this=into,
        expression=exp.Values(expressions=[exp.Tuple(expressions=[_slot() for _ in columns])]),
    )
    first, *others = (sql_of(tree, profile) + ";").split(SLOT)
    if options.keep_identity:  # sqlglot has no node for it
        first = first.removesuffix("VALUES (") + "OVERRIDING SYSTEM VALUE VALUES ("
    return (first, *others)


@dataclass(frozen=True)
class Head:
    """What goes around the SET list and the conditions of a statement."""

    begin: str
    end: str


@lru_cache(maxsize=4096)
def heads(table: Table, op: Op, one_row: bool, profile: Profile, names: str) -> Head:
    """``begin`` up to the SET list of an update (or the conditions of a delete) and ``end`` after
    the conditions.

    ``one_row``: the statement takes one row only, for tables whose rows may be there twice.
    """
    target: exp.Expr = table_expression(table, profile, names)
    condition: exp.Expr = _slot()
    first: dict[str, exp.Expr] = {}
    if one_row and profile.one_row.kind in ("locator", "function"):
        columns: list[exp.Expr] = [
            exp.column(name) for name in (profile.one_row.part, _locator(table, profile)) if name
        ]
        chosen_from = target.copy()
        if profile.one_row.kind == "function":
            target = exp.alias_(target, "one", table=True)
            columns = [exp.Anonymous(this=profile.one_row.name, expressions=[exp.column("one")])]
            chosen_from = target.copy()
        chosen = (
            exp.select(*(column.copy() for column in columns))
            .from_(chosen_from)
            .where(_slot())
            .limit(1)
        )
        locator = exp.Tuple(expressions=columns) if len(columns) > 1 else columns[0]
        condition = exp.EQ(this=locator, expression=exp.Subquery(this=chosen))
    elif one_row and profile.one_row.kind == "rownum":
        condition = exp.And(
            this=condition,
            expression=exp.EQ(this=exp.Var(this="ROWNUM"), expression=exp.Literal.number(1)),
        )
    elif one_row and profile.one_row.kind == "limit":
        first["limit"] = exp.Limit(expression=exp.Literal.number(1))
    where = exp.Where(this=condition)
    if op is Op.DELETE:
        text = sql_of(exp.Delete(this=target, where=where, **first), profile)
        before, after = _top(text, one_row, profile).split(SLOT)
        return Head(before, after + ";")
    text = sql_of(exp.Update(this=target, expressions=[_slot()], where=where, **first), profile)
    begin, between, after = _top(text, one_row, profile).split(SLOT)
    return Head(begin + SLOT + between, after + ";")


def _locator(table: Table, profile: Profile) -> str:
    """What tells the rows of a table apart; SqlgenError (LR3003) where its own columns have every
    name of that."""
    taken = {column.name.lower() for column in table.columns}
    names = profile.one_row.name, *profile.one_row.others
    if profile.one_row.kind == "function":
        return names[0]
    free = next((name for name in names if name not in taken), None)
    if free is None:
        raise SqlgenError(
            "LR3003",
            f"one of several equal rows of {table.schema}.{table.name}, which has no key: its"
            f" column {names[0].upper()} hides the row's own number",
            "Name a unique key with --schema",
        )
    return free


def checked_heads(table: Table, op: Op, profile: Profile, options: RenderOptions) -> Head:
    """:func:`heads`, with the check of a statement too where the dialect has that around it."""
    head = heads(table, op, not table.key, profile, options.names)
    check = profile.row_check
    if not options.assert_rows or check is None or check.kind is not CheckKind.AROUND:
        return head
    return Head(check.opening + head.begin, head.end + check.check.replace("{label}", LABEL))


def query_before(table: Table, profile: Profile, options: RenderOptions) -> Head | None:
    """What goes around the conditions of a query that stands before a statement, and stops the
    script where another number of rows than one satisfies them; None where the dialect does not
    check that way. (Of a table without a key a statement takes one of the rows that do.)"""
    check = profile.row_check
    if not options.assert_rows or check is None or check.kind is not CheckKind.BEFORE:
        return None
    what = exp.Var(this=check.check.replace("{label}", LABEL))
    query = exp.select(what).from_(table_expression(table, profile, options.names))
    query = query.where(_slot())
    if check.locks:
        found = query.select(exp.Literal.number(1), append=False).lock().subquery("found")
        query = exp.select(what).from_(found)
    begin, end = sql_of(query, profile).split(SLOT)
    wrong = "<> 1" if table.key else "< 1"
    return Head(begin, f"{end} HAVING COUNT(*) {wrong};\n")


def _counted(
    text: pa.Array, condition: list[Any], rows: Rows, profile: Profile, options: RenderOptions
) -> pa.Array:
    """Statements, each after the query that counts its rows, where the dialect has one."""
    query = query_before(rows.table, profile, options)
    if query is None:
        return text
    return joined([query.begin, *condition, query.end, text], rows.count)


def _top(text: str, one_row: bool, profile: Profile) -> str:
    """``UPDATE TOP (1)``, which sqlglot has no tree for."""
    if not one_row or profile.one_row.kind != "top":
        return text
    verb, rest = text.split(" ", 1)
    return f"{verb} TOP (1) {rest}"


@lru_cache(maxsize=16384)
def column_pieces(
    column: Column, profile: Profile, names: str, exactly: bool = False
) -> tuple[str, str, str, str]:
    """``col = ``, ``col IS NULL``, ``col BETWEEN ``, `` AND `` of a column. ``exactly``: with what
    the dialect needs around the column so that only the very same text is equal."""
    name = exp.Column(this=identifier(column.name, profile, names))
    equals = sql_of(exp.EQ(this=name, expression=_slot()), profile).split(SLOT)[0]
    around = exact_of(column, profile)
    if exactly and around:
        spelled = sql_of(name, profile)
        equals = around.before + spelled + around.after + equals.removeprefix(spelled)
        equals += around.opening
    null = sql_of(exp.Is(this=name.copy(), expression=exp.Null()), profile)
    between = sql_of(exp.Between(this=name.copy(), low=_slot(), high=_slot()), profile).split(SLOT)
    return equals, null, between[0], between[1]


def exact_of(column: Column, profile: Profile) -> Exact | None:
    """How a condition compares a column where ``=`` alone does not do, or takes texts of one value
    for others."""
    if column.compared:
        return Exact(opening="CAST(", literal=f" AS {column.compared})")
    return profile.exact.get(column.type)


def exact_beside(column: Column, profile: Profile, options: RenderOptions) -> bool:
    """Whether a column of the key is compared character by character beside its ``=``, which is
    there for the index."""
    asked = profile.exact_keys if options.exact_keys is None else options.exact_keys
    return asked and exact_of(column, profile) is not None


def _no_single_row(rows: Rows, profile: Profile) -> list[ValueProblem]:
    """Every row of a table without key is a problem where the dialect cannot take one of several
    equal rows."""
    if rows.table.key or profile.one_row.kind:
        return []
    found = f"a row of {rows.table.schema}.{rows.table.name}, which has no key"
    expected = f"a key: {profile.name} has no way to change one of several equal rows"
    hint = "Leave the table out (--exclude-table), or give it a unique index"
    return [ValueProblem(row, "", found, expected, hint, "LR3003") for row in range(rows.count)]


def _inserts(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    columns = tuple(
        column for column in shown_columns(rows.table, options) if column.name in rows.after
    )
    pieces = insert_pieces(rows.table, columns, profile, options)
    problems: list[ValueProblem] = []
    parts: list[Any] = [pieces[0]]
    for column, piece in zip(columns, pieces[1:], strict=True):
        value = literal_parts(
            rows.after[column.name], column, profile, options.policy, column.name in rows.table.key
        )
        problems += value.problems
        parts += [*flat_pieces(value), piece]
    return finish(joined(parts, rows.count), np.zeros(rows.count, np.uint8), problems)


def _deletes(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    found_by = identity(rows.table, options)
    head = checked_heads(rows.table, Op.DELETE, profile, options)
    if options.where_columns == "guard" and rows.table.key:
        found_by = shown_columns(rows.table, options)
    problems = _no_single_row(rows, profile)
    condition = list(conditions(rows, found_by, profile, options, problems))
    text = joined([head.begin, *condition, head.end], rows.count)
    text = _counted(text, condition, rows, profile, options)
    return finish(text, np.zeros(rows.count, np.uint8), problems)


def _updates(rows: Rows, profile: Profile, options: RenderOptions) -> Rendered:
    found_by = identity(rows.table, options)
    head = checked_heads(rows.table, Op.UPDATE, profile, options)
    begin, between = head.begin.split(SLOT)
    problems = _no_single_row(rows, profile)
    sets, outcome = _assignments(rows, profile, options, problems)
    condition = list(conditions(rows, found_by, profile, options, problems))
    if options.where_columns == "guard" and rows.table.key:
        condition += _guards(rows, found_by, profile, options, problems)
    text = joined([begin, *sets, between, *condition, head.end], rows.count)
    comma = len(begin.encode())
    text = pc.binary_replace_slice(text, comma, comma + 2, "")
    return finish(_counted(text, condition, rows, profile, options), outcome, problems)


def _assignments(
    rows: Rows, profile: Profile, options: RenderOptions, problems: list[ValueProblem]
) -> tuple[list[Any], Codes]:
    """``, col = literal`` of each column where it changed, and what becomes of each row: nothing
    changed, only excluded columns did, or a statement (which has a comma too many before its first
    column)."""
    shown = shown_columns(rows.table, options)
    parts: list[Any] = []
    named = np.zeros(rows.count, bool)
    for column in shown:
        mask = rows.changed.get(column.name)
        if mask is None:
            continue
        named |= mask.to_numpy(zero_copy_only=False)
        value = literal_parts(
            rows.after[column.name], column, profile, options.policy, column.name in rows.table.key
        )
        problems += only_rows(value.problems, mask)
        parts.append(
            _assignment(", " + column_pieces(column, profile, options.names)[0], value, mask)
        )
    return parts, outcome_of(rows, shown, named)


def left_out_comments(rows: Rows, profile: Profile, options: RenderOptions) -> pa.StringArray:
    """For each update of excluded columns only, the comment that stands in place of its statement:
    the table, these columns, and what finds the row."""
    shown = {column.name for column in shown_columns(rows.table, options)}
    target = sql_of(table_expression(rows.table, profile, options.names), profile)
    pieces: list[Any] = []
    for name, mask in rows.changed.items():
        if name not in shown:
            # under a mapping, the mark of a column that the target does not have
            column = sql_of(identifier(name.rstrip("\0"), profile, options.names), profile)
            pieces.append(pc.if_else(mask, f", {column}", ""))
    columns = pc.utf8_slice_codeunits(joined(pieces, rows.count), 2)
    found_by = identity(rows.table, options)
    condition = list(conditions(rows, found_by, profile, options, []))
    text = joined(
        [LEFT_OUT, f"UPDATE {target} (", columns, ") WHERE ", *condition],
        rows.count,
    )
    return escape_comment(text)


def outcome_of(rows: Rows, shown: tuple[Column, ...], named: RowMask) -> Codes:
    """What becomes of each update: a statement where columns are ``named``, else nothing changed,
    or only columns that are not ``shown`` did."""
    outcome = np.full(rows.count, EMITTED, np.uint8)
    if not named.all():
        excluded = np.zeros(rows.count, bool)
        for name, mask in rows.changed.items():
            if name not in {column.name for column in shown}:
                excluded |= mask.to_numpy(zero_copy_only=False)
        outcome[~named] = NO_CHANGE
        outcome[~named & excluded] = EXCLUDED_COLUMNS
    return outcome


def _assignment(equals: str, value: LiteralParts, mask: pa.BooleanArray) -> pa.Array:
    """``equals`` and the literal where ``mask`` is true, nothing elsewhere. A value may be null
    only because its row is not asked for."""
    piece = pc.binary_join_element_wise(equals + value.opening, value.body, value.closing, "")
    if piece.null_count and pc.any(pc.and_(mask, pc.is_null(piece))).as_py():
        piece = pc.fill_null(piece, equals + "NULL")
    return piece if pc.all(mask).as_py() else pc.if_else(mask, piece, "")


def flat_pieces(value: LiteralParts) -> list[Any]:
    """A literal as pieces to join; nulls must be said before."""
    return [value.joined()] if value.body.null_count else [value.opening, value.body, value.closing]


def only_rows(problems: list[ValueProblem], mask: pa.Array) -> list[ValueProblem]:
    """The problems of the rows in ``mask``."""
    wanted = mask.to_numpy(zero_copy_only=False)
    return [problem for problem in problems if wanted[problem.row]]


def conditions(
    rows: Rows,
    columns: tuple[Column, ...],
    profile: Profile,
    options: RenderOptions,
    problems: list[ValueProblem],
) -> Iterator[Any]:
    """``col = literal AND …`` of ``rows.before`` as pieces; values that cannot be said go into
    ``problems``."""
    keyed = bool(rows.table.key)
    for number, column in enumerate(columns):
        lead = " AND " if number else ""
        yield from _condition(
            rows.before[column.name],
            column,
            lead,
            keyed and column.name in rows.table.key,
            profile,
            options,
            problems,
        )


def _condition(
    values: pa.Array,
    column: Column,
    lead: str,
    in_key: bool,
    profile: Profile,
    options: RenderOptions,
    problems: list[ValueProblem],
) -> list[Any]:
    """``lead`` + ``col = literal`` (or ``col IS NULL``) as pieces. A float outside a key matches
    within a few units in the last place, because a value that came another way may differ in its
    last bit."""
    exact = exact_of(column, profile)
    exactly = not in_key and exact is not None
    equals, null, between, conjunction = column_pieces(column, profile, options.names, exactly)
    value = literal_parts(values, column, profile, options.policy, in_key)
    problems += value.problems
    more = other_readings(value.body, column, profile)
    if more is not None:
        pieces: list[Any] = [
            lead + listed(equals), value.opening, value.body, value.closing, more, ")"
        ]  # fmt: skip
    elif column.type in FLOATS and not in_key:
        low, high = float_bounds(values, column, profile)
        pieces = [
            lead + between + value.opening,
            low,
            value.closing + conjunction + value.opening,
            high,
            value.closing,
        ]
    else:
        after = profile.floats[column.type].typed if column.type in FLOATS else ""
        pieces = [
            lead + equals,
            value.opening,
            value.body,
            value.closing + (exact.literal if exact and not in_key else after),
        ]
        if in_key and exact and exact_beside(column, profile, options):
            same = column_pieces(column, profile, options.names, True)[0]
            closing = value.closing + exact.literal
            pieces += [" AND " + same, value.opening, value.body, closing]
    if not value.body.null_count:
        return pieces
    return [pc.if_else(value.body.is_null(), lead + null, joined(pieces, len(values)))]


def listed(equals: str) -> str:
    """``col =`` as what is before a list of values."""
    return f"{equals.removesuffix('= ')}IN ("


def float_bounds(values: pa.Array, column: Column, profile: Profile) -> tuple[pa.Array, pa.Array]:
    """The least and the greatest number that count as the same as each value, as bodies of
    literals; of a null, any. Zero is itself alone, and no other number's bounds reach it. A target
    that misreads the last bit of their digits (SQLite) still finds the value between them."""
    numbers = np.array(pc.fill_null(values, 0.0).to_numpy(zero_copy_only=False))
    low, high = numbers.copy(), numbers.copy()
    with np.errstate(
        over="ignore"
    ):  # beyond the largest value comes infinity, which is a bound like any other
        for _ in range(FLOAT_ULPS):
            low = np.nextafter(low, np.array(-np.inf, numbers.dtype))
            high = np.nextafter(high, np.array(np.inf, numbers.dtype))
    least = np.finfo(numbers.dtype).smallest_subnormal
    low = np.where(numbers > 0, np.maximum(low, least), low)
    high = np.where(numbers < 0, np.minimum(high, -least), high)
    low[numbers == 0], high[numbers == 0] = 0, 0
    form = profile.floats[column.type]
    if not form.infinity:
        largest = np.finfo(numbers.dtype).max
        low, high = np.clip(low, -largest, largest), np.clip(high, -largest, largest)
    return float_text(pa.array(low), form), float_text(pa.array(high), form)


def _guards(
    rows: Rows,
    found_by: tuple[Column, ...],
    profile: Profile,
    options: RenderOptions,
    problems: list[ValueProblem],
) -> list[Any]:
    """`` AND col = old`` for the columns a row changes, beside its key."""
    parts: list[Any] = []
    for column in shown_columns(rows.table, options):
        mask = rows.changed.get(column.name)
        if mask is None or column in found_by:
            continue
        guard_problems: list[ValueProblem] = []
        pieces = _condition(
            rows.before[column.name], column, " AND ", False, profile, options, guard_problems
        )
        problems += only_rows(guard_problems, mask)
        parts.append(pc.if_else(mask, joined(pieces, rows.count), ""))
    return parts


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column of a table in one piece."""
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def joined(parts: Iterable[str | pa.Array], count: int) -> pa.Array:
    """Pieces (texts and string arrays) one after the other; neighbouring texts are put together
    first."""
    merged: list[str | pa.Array] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    if all(isinstance(part, str) for part in merged):
        return pa.array(["".join(str(part) for part in merged)] * count, pa.string())
    return pc.binary_join_element_wise(*merged, "")


def finish(text: pa.Array, outcome: Codes, problems: list[ValueProblem]) -> Rendered:
    """Statements without those of rows that have a problem, or another outcome."""
    if problems:
        outcome[[problem.row for problem in problems]] = PROBLEM
    if outcome.any():
        text = pc.if_else(pa.array(outcome == EMITTED), text, "")
    return Rendered(text, outcome, problems)
