"""Scripts that assert: what stands beside statements so that one that touches no row, or several,
stops the script and is named. And queries that name the rows of tables that are not as expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import LABEL, CheckKind, Exact, Profile
from sqlgen.lazy_imports import exp, when_used
from sqlgen.names import identifier, table_expression
from sqlgen.schema import Column, RowMask, Table
from sqlgen.statements import joined, own_rows

with when_used():  # for queries that compare rows
    from sqlgen import ddl

#: Statements in a block: with so many its opening and closing cost little, and the database does
#: not keep much of it.
IN_BLOCK = 100
_SLOTS = re.compile(r"\{(unit|statement)\}")
#: What stands in place of :data:`sqlgen.dialects.LABEL`.
_LABEL = "{unit}: statement {statement}"

#: Types of targets that queries do not compare, but in databases that compare all.
_LOB, _COMPARES_LOBS = re.compile("XML|CLOB|BLOB"), frozenset({"sqlite", "duckdb"})
#: Rows of a table that are named as different.
_NAMED = 20

#: A text in pieces, each with what is filled in behind it: ``unit``, ``statement`` or ``""``.
Pieces = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class CheckTexts:
    """What stands beside statements: ``opening`` before the first one of a block, ``label`` in
    place of :data:`sqlgen.dialects.LABEL`, ``check`` behind each, ``closing`` behind the
    last one of a block."""

    opening: Pieces = ()
    label: Pieces = ()
    check: Pieces = ()
    closing: Pieces = ()


def check_texts(profile: Profile) -> CheckTexts | None:
    """The same as :func:`with_checks` puts there, for somebody who writes row by row; None where
    the dialect has no checks."""
    check = profile.row_check
    if check is None:
        return None
    if check.kind in (CheckKind.BEFORE, CheckKind.AROUND):
        return CheckTexts(label=_pieces(_LABEL))
    behind = _pieces(f"\n{check.check}")
    if check.kind is not CheckKind.BLOCK:
        return CheckTexts(check=behind)
    return CheckTexts(
        _pieces(f"{check.opening}\n"), check=behind, closing=_pieces(f"\n{check.closing}")
    )


def _pieces(template: str) -> Pieces:
    texts = _SLOTS.split(template)
    return list(zip(texts[0::2], [*texts[1::2], ""], strict=True))


def block_ends(
    checked: RowMask, numbers: np.ndarray[Any, np.dtype[np.int64]], profile: Profile
) -> tuple[RowMask, RowMask]:
    """Which statements have the ``opening`` before them, and which the ``closing`` behind."""
    if profile.row_check is None or profile.row_check.kind is not CheckKind.BLOCK:
        return np.zeros(len(checked), bool), np.zeros(len(checked), bool)
    return _blocks(checked, numbers)


def with_checks(
    text: pa.StringArray,
    checked: RowMask,
    units: pa.StringArray,
    numbers: np.ndarray[Any, np.dtype[np.int64]],
    profile: Profile,
) -> pa.StringArray:
    """Statements and their checks, in the order of a script, a line for each. ``checked``: which of
    ``text`` are about one row; ``units`` names the unit of each; ``numbers``: which statement of
    its unit each of them is, from 1. Blocks hold neighbours of a unit and end with ``text``."""
    check = profile.row_check
    if check is None:
        return text
    slots = {"unit": units, "statement": pa.array(numbers).cast(pa.string())}
    if check.kind in (CheckKind.BEFORE, CheckKind.AROUND):
        return _labelled(text, slots)
    pieces: list[Any] = [text, "\n", *_filled(check.check, slots)]
    if check.kind is CheckKind.BLOCK:
        opens, closes = _blocks(checked, numbers)
        opening = joined([*_filled(check.opening, slots), "\n"], len(text))
        closing = joined(["\n", *_filled(check.closing, slots)], len(text))
        pieces.insert(0, pc.if_else(pa.array(opens), opening, ""))
        pieces.append(pc.if_else(pa.array(closes), closing, ""))
    return pc.if_else(pa.array(checked), joined(pieces, len(text)), text)


def with_check(text: str, unit: str, number: int, profile: Profile) -> str:
    """One statement about a row with its check; ``unit`` and ``number`` as for
    :func:`with_checks`."""
    units, numbers = pa.array([unit]), np.array([number])
    checked = with_checks(pa.array([text]), np.ones(1, bool), units, numbers, profile)
    return str(checked[0].as_py())


def _filled(template: str, slots: dict[str, pa.StringArray]) -> list[Any]:
    """A template as pieces to join."""
    return [
        slots[piece] if place % 2 else piece for place, piece in enumerate(_SLOTS.split(template))
    ]


def _labelled(text: pa.StringArray, slots: dict[str, pa.StringArray]) -> pa.StringArray:
    """Statements that were rendered with their check, with its label filled in."""
    has = pc.match_substring(text, LABEL)
    if not pc.any(has).as_py():
        return text
    halves = pc.split_pattern(text.filter(has), LABEL, max_splits=1)
    label = _filled(_LABEL, {name: slot.filter(has) for name, slot in slots.items()})
    before, after = (pc.list_element(halves, side) for side in (0, 1))
    filled = joined([before, *label, after], len(halves))
    return pc.replace_with_mask(text, has, filled)


def _blocks(
    checked: RowMask, numbers: np.ndarray[Any, np.dtype[np.int64]]
) -> tuple[RowMask, RowMask]:
    """Where blocks begin, and where they end."""
    follows = np.zeros(len(checked), bool)  # in the block of the one before
    follows[1:] = checked[1:] & checked[:-1]
    follows &= (numbers - 1) % IN_BLOCK != 0
    closes = checked.copy()
    closes[:-1] &= ~follows[1:]
    return checked & ~follows, closes


@dataclass(frozen=True)
class ExpectedRows:
    """What a ``table`` holds in the end, in tables beside it: the rows of ``before`` whose key is
    not in ``touched``, and those of ``left``; without a ``key``, those of both less those of
    ``touched``. ``whole``: all that it holds."""

    name: str
    table: Table
    key: tuple[str, ...]
    before: Table | None
    left: Table | None
    touched: Table | None
    whole: bool

    def columns(self, profile: Profile) -> list[Column]:
        """The columns whose values are known, and which a query of the target can compare."""
        known = {column.name for column in (self.left or self.before or self.table).columns}
        shown = [column for column in self.table.columns if column.name in known]
        if profile.name in _COMPARES_LOBS:
            return shown
        return [one for one in shown if not _LOB.match(ddl.type_rule(one, profile).text)]


def difference_queries(
    expected: Sequence[ExpectedRows], verdicts: tuple[str, str], profile: Profile, names: str
) -> list[str]:
    """Queries: of each table one gives rows that are there more or less often than expected, and a
    last one the first verdict, or the second where there are such rows."""
    queries, counts = [], []
    for one in expected:
        found = f"({_differences(one, profile, names)}) d"
        by = [identifier(name, profile, names) for name in one.key]
        rows = exp.select("*").from_(exp.Var(this=found)).order_by("logreplay_table", *by)
        queries.append(rows.limit(_NAMED).sql(dialect=profile.sqlglot))
        counts.append(f"SELECT COUNT(*) AS n FROM {found}")
    said = "CASE WHEN SUM(n) = 0 THEN '{}' ELSE '{}' END".format(*verdicts)
    queries.append(f"SELECT {said} AS verdict FROM ({' UNION ALL '.join(counts)}) v")
    return [f"{query};" for query in queries]


def _differences(one: ExpectedRows, profile: Profile, names: str) -> str:
    """A query for rows of a table that are not there as often as expected."""
    spelled = {
        column.name: identifier(column.name, profile, names).sql(dialect=profile.sqlglot)
        for column in one.table.columns
    }
    columns = one.columns(profile)
    exact = [profile.exact.get(column.type, Exact()) for column in columns]
    listed = [spelled[column.name] for column in columns]
    values = [f"{e.before}t.{n}{e.after} AS {n}" for e, n in zip(exact, listed, strict=True)]

    def rows(table: Table, found: int, expected: int, where: str = "") -> str:
        counts = f"{found} AS logreplay_f, {expected} AS logreplay_e"
        return f"SELECT {', '.join(values)}, {counts} FROM {place(table)} t{where}"

    def place(table: Table) -> str:
        return table_expression(table, profile, names).sql(dialect=profile.sqlglot)

    there = ""
    if one.key and one.touched is not None:
        forms = ["t.{0} = k.{0}", "(t.{0} = k.{0} OR t.{0} IS NULL AND k.{0} IS NULL)"]
        same = [forms[one.table.column(n).nullable].format(spelled[n]) for n in one.key]
        there = f"EXISTS (SELECT 1 FROM {place(one.touched)} k WHERE {' AND '.join(same)})"
    own = own_rows(one.table, profile, names)
    mine = [own.this.sql(dialect=profile.sqlglot)] if own else []
    mine += [there] if there and not one.whole else []
    sides = [rows(one.table, 1, 0, f" WHERE {' AND '.join(mine)}" if mine else "")]
    if one.before is not None:
        sides.append(rows(one.before, 0, 1, f" WHERE NOT {there}" if there else ""))
    sides += [rows(one.left, 0, 1)] if one.left is not None else []
    sides += [rows(one.touched, 0, -1)] if one.touched is not None and not one.key else []
    rows_of, sums = ", ".join(listed), ("SUM(logreplay_f)", "SUM(logreplay_e)")
    table = exp.Literal.string(one.name).sql(dialect=profile.sqlglot)
    return (
        f"SELECT {table} AS logreplay_table, {sums[0]} AS logreplay_found, {sums[1]} AS"
        f" logreplay_expected, {rows_of} FROM ({' UNION ALL '.join(sides)}) c GROUP BY {rows_of}"
        f" HAVING {sums[0]} {'<>' if one.key or one.whole else '<'} {sums[1]}"
    )
