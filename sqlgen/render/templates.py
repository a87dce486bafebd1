"""A statement as its elements: the fixed texts, and the values with what stands around them.

:mod:`sqlgen.statements` joins whole columns; this is the same statement for somebody who writes row
by row. Only what needs no look at other rows and no decision about the value is here: a table with
a column of any other kind has no skeleton.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlgen.dialects import Profile
from sqlgen.literals import may_be_misread, special_bytes
from sqlgen.render import upsert
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.schema import Column, Op, SqlType, Table
from sqlgen.shapes import EXECUTE, NAME_LENGTH
from sqlgen.statements import (
    SLOT,
    checked_heads,
    column_pieces,
    exact_beside,
    exact_of,
    insert_pieces,
    query_before,
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
#: Where the name stands in a call, and bits of a row's code at most.
NAMED, CODE_BITS = len(EXECUTE), 62
#: Digits that the fraction of a timestamp has at most.
MOST_FRACTION = 12


@dataclass(frozen=True)
class Element:
    """``prefix``, the value of ``column`` in the image ``side`` (``before`` or ``after``),
    ``suffix``; ``null`` in place of all three where the value is null. Without a column, ``prefix``
    alone. ``when``: ``always``, ``changed`` (where the column did), ``assigned`` (the same; of a
    column that did not, the value is not looked at), ``moving`` (where the key of the table did),
    ``staying`` (where it did not; a row in which it did is not for a skeleton), ``again`` (what
    came out of the elements between two that are ``noted``, once more). ``listed``: the first of
    these that stands in a row loses the ``, `` at its start. ``bits``: which bit of a row's code
    says that the element stands there, and which that its value is null; -1 where none does."""

    prefix: str
    column: str = ""
    side: str = ""
    suffix: str = ""
    null: str = ""
    when: str = "always"
    listed: bool = False
    bits: tuple[int, int] = (-1, -1)


_NOTED, _AGAIN = Element("", when="noted"), Element("", when="again")


@dataclass(frozen=True)
class Texts:
    """How text is written between its quotes: ``'`` as ``quote``. A text with one of the bytes
    ``special`` (True by byte) is not for a skeleton, nor an empty one where that is NULL."""

    quote: str
    special: tuple[bool, ...]


def texts(profile: Profile) -> Texts:
    """How the text columns of a skeleton are written."""
    return Texts(profile.text.quote, tuple(special_bytes(profile.text).tolist()))


def fraction_digits(column: Column, profile: Profile) -> int:
    """Digits of a fraction that the literals of a column of timestamps have at most; a value with
    others than zeros behind them is not for a skeleton."""
    whole = column.type in profile.as_text or column.length <= profile.time_digits
    return MOST_FRACTION if whole else profile.time_digits


def is_plain(column: Column, profile: Profile) -> bool:
    """Whether the literals of a column need no more than its digits or characters between fixed
    texts."""
    if may_be_misread(column, profile):
        return False
    if column.type in _TEXTS:
        return not profile.text.most_bytes or 4 * column.length <= profile.text.most_bytes
    return column.type in _PLAIN_TYPES


@lru_cache(maxsize=4096)
def skeleton(
    table: Table,
    op: Op,
    profile: Profile,
    options: RenderOptions,
    whole: bool = False,
    read: bool = False,
) -> tuple[Element, ...] | None:
    """The elements of what :func:`sqlgen.statements.render_by` writes for a row of this
    table; None where it needs more than elements. ``whole``: the image that an update writes has
    every column's value (:attr:`sqlgen.schema.Rows.whole`); ``read``: each that it has is to be
    looked at, even where only a part of them is written.

    SqlgenError (LR3006) when a key column is excluded, or nothing is left to find a row by.
    """
    if not (table.key or (profile.one_row.kind and not options.upsert)):
        return None
    if not all(is_plain(column, profile) for column in shown_columns(table, options)):
        return None
    if not table.key or not (options.upsert or options.free_keys):
        write = {Op.INSERT: _insert, Op.DELETE: _delete, Op.UPDATE: _update}[op]
        return tuple(write(table, profile, options))
    identity(table, options)
    if op is Op.DELETE:
        return tuple(_delete(table, profile, options))
    puts = op is Op.INSERT or (options.upsert and whole)
    if puts and any(table.column(name).nullable for name in table.key):
        return None  # a key that is null is no key, and so another statement or none
    if op is Op.INSERT:
        return tuple(_put(table, profile, options))
    if not puts:
        looked_at = _looked_at(table, profile, options) if options.upsert and read else ()
        return (Element("", when="staying"), *looked_at, *_update(table, profile, options))
    deleted = (*_delete(table, profile, options), Element("\n"))
    moving = (replace(element, when="moving") for element in deleted)
    return (*moving, *_put(table, profile, options))


@dataclass(frozen=True)
class Calls:
    """Calls of prepared statements: the ``elements`` of a call, in which blanks stand for the name
    from :data:`NAMED` on, and those of the ``statements``, each ``prefix`` or ``null``. Rows with
    the same code call the same statement."""

    elements: tuple[Element, ...]
    statements: tuple[Element, ...]

    def statement(self, code: int) -> str:
        """The statement that rows of a code call, ``$1 …`` for values."""
        parts: list[str] = []
        first = True
        for element in self.statements:
            there, null = (bit >= 0 and bool(code >> bit & 1) for bit in element.bits)
            if element.when != "always" and not there:
                continue
            text = element.null if null else element.prefix
            parts.append(text.removeprefix(", ") if element.listed and first else text)
            first = first and not element.listed
        start, *others = "".join(parts).split(SLOT)
        return start + "".join(f"${number}{piece}" for number, piece in enumerate(others, 1))


@lru_cache(maxsize=4096)
def calls(table: Table, op: Op, profile: Profile, options: RenderOptions) -> Calls | None:
    """What :func:`sqlgen.shapes.render_shaped` writes for the rows of a table, but for the rows of
    rare statements; None where it needs more than elements, or more bits than a code has.

    SqlgenError (LR3006) as :func:`skeleton`.
    """
    whole = skeleton(table, op, profile, options)
    columns = shown_columns(table, options)
    if not whole or options.assert_rows or any(exact_of(c, profile) for c in columns):
        return None
    if options.upsert or options.free_keys:
        return None
    elements = [Element(EXECUTE + " " * NAME_LENGTH + "(")]
    statements: list[Element] = []
    bits: dict[tuple[str, str], int] = {}
    for element in whole:
        if not element.column:
            statements.append(element)
            continue
        column = table.column(element.column)
        there = null = -1
        if element.when != "always":
            there = bits.setdefault(("changed", column.name), len(bits))
        if element.side == "before" and column.nullable:
            null = bits.setdefault(("null", column.name), len(bits))
        opening, closing = around(column, profile)
        text = f"{element.prefix.removesuffix(opening)}{SLOT}{element.suffix.removeprefix(closing)}"
        statements.append(replace(element, prefix=text, column="", suffix="", bits=(there, null)))
        value = ", NULL" if element.side == "after" else ""
        elements.append(
            replace(
                element,
                prefix=", " + opening,
                suffix=closing,
                null=value,
                listed=True,
                bits=(there, null),
            )
        )
    elements.append(Element(");"))
    return Calls(tuple(elements), tuple(statements)) if len(bits) <= CODE_BITS else None


def around(column: Column, profile: Profile) -> tuple[str, str]:
    """What stands before and after the digits or characters of a literal."""
    form = profile.text.form if column.type in _TEXTS else profile.form_of(column)
    return form.opening, form.closing


def _insert(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    columns = shown_columns(table, options)
    first, *others = insert_pieces(table, columns, profile, options)
    yield Element(first)
    for column, piece in zip(columns, others, strict=True):
        opening, closing = around(column, profile)
        yield Element(opening, column.name, "after", closing + piece, "NULL" + piece)


def _looked_at(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    """Each value of the image that an update writes, standing nowhere: behind ``staying``, no row
    is ``moving``."""
    for column in shown_columns(table, options):
        opening, closing = around(column, profile)
        yield Element(opening, column.name, "after", closing, "NULL", "moving")


def _put(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    """What puts a row in place (``upsert``), or inserts it where none with its key is."""
    columns = shown_columns(table, options)
    absent = not options.upsert
    first, *others = upsert.template(table, columns, profile, options.names, absent)
    yield Element(str(first))
    for place, piece in zip(others[0::2], others[1::2], strict=True):
        column = columns[int(place)]
        opening, closing = around(column, profile)
        yield Element(opening, column.name, "after", f"{closing}{piece}", f"NULL{piece}")


def _delete(table: Table, profile: Profile, options: RenderOptions) -> Iterator[Element]:
    head = checked_heads(table, Op.DELETE, profile, options)
    guarded = options.where_columns == "guard" and table.key
    columns = shown_columns(table, options) if guarded else identity(table, options)
    conditions = list(_conditions(table, columns, profile, options))
    query = list(_query_before(table, conditions, profile, options))
    yield from query
    yield Element(head.begin)
    yield from [_AGAIN] if _NOTED in query else conditions
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
    query = list(_query_before(table, conditions, profile, options))
    yield from query
    begin, between = head.begin.split(SLOT)
    yield Element(begin)
    for column in shown:
        opening, closing = around(column, profile)
        equals = ", " + column_pieces(column, profile, options.names)[0]
        yield Element(
            equals + opening, column.name, "after", closing, equals + "NULL", "assigned", True
        )
    yield Element(between)
    yield from [_AGAIN] if _NOTED in query else conditions
    yield Element(head.end)


def _query_before(
    table: Table, conditions: list[Element], profile: Profile, options: RenderOptions
) -> Iterator[Element]:
    """The query that counts the rows of a statement before it, where the dialect has one."""
    query = query_before(table, profile, options)
    if query is not None:
        # of what puts rows in place, a delete is a part that may not stand there
        noted = [] if options.upsert else [_NOTED]
        yield Element(query.begin)
        yield from (*noted, *conditions, *noted)
        yield Element(query.end)


def _conditions(
    table: Table, columns: tuple[Column, ...], profile: Profile, options: RenderOptions
) -> Iterator[Element]:
    for number, column in enumerate(columns):
        yield _condition(table, column, " AND " if number else "", profile, options)
        exact = exact_of(column, profile)
        if column.name in table.key and exact and exact_beside(column, profile, options):
            same = column_pieces(column, profile, options.names, True)[0]
            opening, closing = around(column, profile)
            yield Element(
                " AND " + same + opening,
                column.name,
                "before",
                closing + exact.literal,
            )


def _condition(
    table: Table,
    column: Column,
    lead: str,
    profile: Profile,
    options: RenderOptions,
    when: str = "always",
) -> Element:
    exact = None if column.name in table.key else exact_of(column, profile)
    equals, null, _, _ = column_pieces(column, profile, options.names, exact is not None)
    opening, closing = around(column, profile)
    after = exact.literal if exact else ""
    return Element(
        lead + equals + opening, column.name, "before", closing + after, lead + null, when
    )
