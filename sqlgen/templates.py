"""A statement as its elements: the fixed texts, and the values with what stands around them.

:mod:`sqlgen.statements` joins whole columns; this is the same statement for somebody who writes row
by row. Only what needs no look at other rows and no decision about the value is here: a table with
a column of any other kind has no skeleton.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sqlgen.dialects import Profile
from sqlgen.literals import special_bytes
from sqlgen.rows import Op
from sqlgen.schema import Column, SqlType, Table
from sqlgen.shapes import shape_name
from sqlgen.statements import (
    SLOT,
    RenderOptions,
    checked_heads,
    column_pieces,
    exact_beside,
    identity,
    insert_pieces,
    query_before,
    shown_columns,
)

_PLAIN_TYPES = frozenset(
    {
        SqlType.SMALLINT,
        SqlType.INTEGER,
        SqlType.BIGINT,
        SqlType.DECIMAL,
        SqlType.CHAR,
        SqlType.VARCHAR,
        SqlType.DATE,
        SqlType.TIME,
        SqlType.TIMESTAMP,
    }
)
_TEXTS = (SqlType.CHAR, SqlType.VARCHAR)


@dataclass(frozen=True)
class Element:
    """``prefix``, the value of ``column`` in the image ``side`` (``before`` or ``after``),
    ``suffix``; ``null`` in place of all three where the value is null. Without a column, ``prefix``
    alone. ``when``: ``always``, ``changed`` (where the column did), ``assigned`` (the same; the
    first of these loses the ``, `` at its start)."""

    prefix: str
    column: str = ""
    side: str = ""
    suffix: str = ""
    null: str = ""
    when: str = "always"


@dataclass(frozen=True)
class Texts:
    """How text is written between its quotes: ``'`` as ``quote``. A text with one of the bytes
    ``special`` (True by byte), or of fewer than ``least`` characters, is not for a skeleton."""

    quote: str
    special: tuple[bool, ...]
    least: int = 0


def texts(profile: Profile) -> Texts:
    """How the text columns of a skeleton are written."""
    return Texts(
        profile.text.quote,
        tuple(special_bytes(profile.text).tolist()),
        1 if profile.empty_is_null else 0,
    )


def is_plain(column: Column, profile: Profile) -> bool:
    """Whether the literals of a column need no more than its digits or characters between fixed
    texts."""
    if column.type in _TEXTS:
        return not profile.text.most_bytes or 4 * column.length <= profile.text.most_bytes
    if column.type is SqlType.TIMESTAMP and column.type not in profile.as_text:
        return column.length <= profile.time_digits
    return column.type in _PLAIN_TYPES


@lru_cache(maxsize=4096)
def skeleton(
    table: Table, op: Op, profile: Profile, options: RenderOptions
) -> tuple[Element, ...] | None:
    """The elements of the statement that :func:`sqlgen.statements.render` writes for a row of this
    table; None where it needs more than elements.

    SqlgenError (LR3006) when a key column is excluded, or nothing is left to find a row by.
    """
    if options.upsert or options.free_keys or not (table.key or profile.one_row.kind):
        return None
    if not all(is_plain(column, profile) for column in shown_columns(table, options)):
        return None
    write = {Op.INSERT: _insert, Op.DELETE: _delete, Op.UPDATE: _update}[op]
    return tuple(write(table, profile, options))


@dataclass(frozen=True)
class Call:
    """Calls of one prepared statement: ``statement``, ``$1 …`` for values, under ``name``, and the
    elements of a call."""

    name: str
    statement: str
    elements: tuple[Element, ...]


@lru_cache(maxsize=4096)
def call(table: Table, op: Op, profile: Profile, options: RenderOptions) -> Call | None:
    """What :func:`sqlgen.shapes.render_shaped` writes for the rows of a table; None where it needs
    more than elements, and where rows differ in the statement that they call: updates by what
    changed, deletes by what is null.

    SqlgenError (LR3006) as :func:`skeleton`.
    """
    columns = shown_columns(table, options)
    if op is not Op.INSERT or not columns or skeleton(table, op, profile, options) is None:
        return None
    first, *others = insert_pieces(table, columns, profile, options)
    statement = first + "".join(f"${number}{piece}" for number, piece in enumerate(others, 1))
    name = shape_name(statement)
    elements = [Element(f"EXECUTE {name}(")]
    for column in columns:
        opening, closing = _around(column, profile)
        end = ");" if column is columns[-1] else ", "
        elements.append(Element(opening, column.name, "after", closing + end, "NULL" + end))
    return Call(name, statement, tuple(elements))


def _around(column: Column, profile: Profile) -> tuple[str, str]:
    form = profile.text.form if column.type in _TEXTS else profile.forms[column.type]
    return form.opening, form.closing


def _insert(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    columns = shown_columns(table, options)
    first, *others = insert_pieces(table, columns, profile, options)
    yield Element(first)
    for column, piece in zip(columns, others, strict=True):
        opening, closing = _around(column, profile)
        yield Element(opening, column.name, "after", closing + piece, "NULL" + piece)


def _delete(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    head = checked_heads(table, Op.DELETE, profile, options)
    guarded = options.where_columns == "guard" and table.key
    columns = shown_columns(table, options) if guarded else identity(table, options)
    conditions = list(_conditions(table, columns, profile, options))
    yield from _query_before(table, conditions, profile, options)
    yield Element(head.begin)
    yield from conditions
    yield Element(head.end)


def _update(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    head = checked_heads(table, Op.UPDATE, profile, options)
    found_by, shown = identity(table, options), shown_columns(table, options)
    conditions = list(_conditions(table, found_by, profile, options))
    if options.where_columns == "guard" and table.key:
        conditions += [
            _condition(table, column, " AND ", profile, options, "changed")
            for column in shown
            if column not in found_by
        ]
    yield from _query_before(table, conditions, profile, options)
    begin, between = head.begin.split(SLOT)
    yield Element(begin)
    for column in shown:
        opening, closing = _around(column, profile)
        equals = ", " + column_pieces(column, profile, options.names)[0]
        yield Element(equals + opening, column.name, "after", closing, equals + "NULL", "assigned")
    yield Element(between)
    yield from conditions
    yield Element(head.end)


def _query_before(
    table: Table, conditions: list[Element], profile: Profile, options: RenderOptions
) -> Iterator[Element]:
    """The query that counts the rows of a statement before it, where the dialect has one."""
    query = query_before(table, profile, options)
    if query is not None:
        yield Element(query.begin)
        yield from conditions
        yield Element(query.end)


def _conditions(
    table: Table, columns: tuple[Column, ...], profile: Profile, options: RenderOptions
) -> Iterator[Element]:
    for number, column in enumerate(columns):
        yield _condition(table, column, " AND " if number else "", profile, options)
        if column.name in table.key and exact_beside(column, profile, options):
            same = column_pieces(column, profile, options.names, True)[0]
            opening, closing = _around(column, profile)
            yield Element(
                " AND " + same + opening,
                column.name,
                "before",
                closing + profile.exact[column.type].literal,
            )


def _condition(
    table: Table,
    column: Column,
    lead: str,
    profile: Profile,
    options: RenderOptions,
    when: str = "always",
) -> Element:
    exactly = column.name not in table.key and column.type in profile.exact
    equals, null, _, _ = column_pieces(column, profile, options.names, exactly)
    opening, closing = _around(column, profile)
    after = profile.exact[column.type].literal if exactly else ""
    return Element(
        lead + equals + opening, column.name, "before", closing + after, lead + null, when
    )
