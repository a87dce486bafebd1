"""``--where``: a predicate over the values of a change, checked before anything is read and handed
on as DuckDB text.

``before.col`` and ``after.col`` name one image; a bare ``col`` is satisfied by either image, so a
row that enters or leaves the set counts. ``changed(col, …)``: an update that changes one of them.
A condition on an image that a change lacks (before of an INSERT, after of a DELETE) is unknown.

Db2's own forms are read too: ``+ 1 DAY``, ``BX'00'``, ``YEAR(col)`` and its like, ``HEX(col)`` of
bytes. ``CURRENT DATE`` is a constant before anything is read (:func:`at_time`).

Where DuckDB and SQL differ, SQL is meant: blanks at the end of a CHAR do not count, and whole
numbers divide to whole numbers. Timestamps are compared with each other and with constants to their
last digit, as Db2 does: hour 24 lies before hour 0 of the next day. DuckDB has microseconds, so in
other expressions (with a duration, say) they count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from sqlglot import exp, parse
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sqlgen.errors import SqlgenError, did_you_mean
from sqlgen.schema import Column, SqlType, Table
from sqlgen.value_texts import NUMBER, value_of

#: What a predicate may be made of. Anything else (subqueries, other functions, statements) is
#: rejected by name.
_ALLOWED: tuple[type[exp.Expr], ...] = (
    exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between,
    exp.Like, exp.ILike, exp.Escape, exp.Is, exp.Null, exp.Boolean, exp.Literal, exp.HexString,
    exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod,
    exp.DPipe, exp.Column, exp.Identifier, exp.Cast, exp.DataType, exp.DataTypeParam, exp.Coalesce,
    exp.Upper, exp.Lower, exp.Abs, exp.Length, exp.Hex,
    exp.Substring, exp.Left, exp.Right, exp.Trim, exp.Tuple, exp.Date, exp.Interval, exp.Var,
    exp.Year, exp.Month, exp.Day, exp.Hour, exp.Minute, exp.Second,
)  # fmt: skip

#: Where the digits of a part of a timestamp stand in its text: begin (from 1) and how many.
_PARTS: dict[type[exp.Expr], tuple[int, int]] = {
    exp.Year: (1, 4),
    exp.Month: (6, 2),
    exp.Day: (9, 2),
    exp.Hour: (12, 2),
    exp.Minute: (15, 2),
    exp.Second: (18, 2),
}
#: Units of Db2's labeled durations, and its special registers of two words, by the second one (Db2
#: for z/OS SQL Reference, "Datetime operands" and "Special registers").
_DURATIONS = frozenset(
    f"{unit}{plural}"
    for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
    for plural in ("", "S")
)
#: What such a register is at a moment.
_AT = {
    TokenType.CURRENT_DATE: "DATE '{:%Y-%m-%d}'",
    TokenType.CURRENT_TIME: "TIME '{:%H:%M:%S}'",
    TokenType.CURRENT_TIMESTAMP: "TIMESTAMP '{:%Y-%m-%d %H:%M:%S.%f}'",
}
_CURRENT = {
    "DATE": TokenType.CURRENT_DATE,
    "TIME": TokenType.CURRENT_TIME,
    "TIMESTAMP": TokenType.CURRENT_TIMESTAMP,
}

#: ``changed(col, …)``: an update that changes one of some columns.
CHANGED = "CHANGED"

#: Types a value may be cast to. DuckDB would fetch an extension from the network for some others.
_CAST_TYPES = frozenset(
    {
        exp.DType.BOOLEAN, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.DECIMAL,
        exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.CHAR,
        exp.DType.VARCHAR, exp.DType.TEXT, exp.DType.VARBINARY, exp.DType.DATE, exp.DType.TIME,
        exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ,
        exp.DType.INTERVAL,
    }
)  # fmt: skip
#: Digits of the widest decimal that DuckDB has; a value with more cannot be compared, which it
#: says.
_MOST_DIGITS = 38
_COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.In,
    exp.Between,
)
_WHOLE_TYPES = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.DECFLOAT})
_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
_WHOLE_CASTS = frozenset({exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT})
_WHOLE_IF_OPERANDS_ARE = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Mod,
    exp.Div,
    exp.IntDiv,
    exp.Neg,
    exp.Paren,
    exp.Abs,
)
#: Whole strings, names and comments, or the opening of one that does not end.
_OPENINGS = re.compile(
    r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|/\*.*?\*/|--[^\n]*|(?P<open>'|"|/\*)""", re.DOTALL
)
_POSTGRES = Dialect.get_or_raise("postgres")
#: Deeper than any condition a person writes, and well within what the parser, the generator and
#: DuckDB can stand.
_DEEPEST = 40

#: A constant that is compared with timestamps: year, month, day, hour, minute, second, fraction.
_MOMENT = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[ T-](\d\d?)[:.](\d\d)(?:[:.](\d\d)(?:\.(\d{0,12}))?)?)?"
)
#: Characters of a moment with the most digits of a fraction that a timestamp has.
_MOMENT_LENGTH = 32
_WHOLE = "whole"

_CASTS = {
    SqlType.DATE: "DATE",
    SqlType.TIME: "TIME",
    SqlType.TIMESTAMP: "TIMESTAMP",
    SqlType.TIMESTAMP_TZ: "TIMESTAMPTZ",
}
_HINT = (
    'Write a condition on columns, for example: --where "after.amount > 100 AND before.status ='
    " 'A'\""
)
_OF_HEADERS = (
    f"{_HINT}. AND joins it to what is said of authid, plan, correlation and connection. More of"
    ' units: --units "SELECT unit FROM units WHERE seconds > 60" (logreplay sql lists columns)'
)


@dataclass(frozen=True)
class Predicate:
    """A checked predicate. ``columns`` are the (image, upper-case name) pairs it reads; the image
    is before, after or '' for either."""

    tree: exp.Expr
    columns: frozenset[tuple[str, str]]

    def applies_to(self, table: Table) -> bool:
        """Whether the table has every column the predicate names."""
        return {name for _, name in self.columns} <= {
            column.name.upper() for column in table.columns
        }

    def duckdb_sql(self, table: Table, either: str, update: bool = True) -> str:
        """The predicate for DuckDB, with each column as ``"image.COLUMN"`` and bare ones taken from
        the image ``either``; ``update``: of changes with both images, which alone change a
        column. Of other changes no condition on the image that they lack holds, nor does its
        opposite."""
        types = {column.name.upper(): column for column in table.columns}
        tree = self.tree.copy() if update else _without_image(self.tree.copy(), either)
        for division in [node for node in tree.find_all(exp.Div) if _is_whole(node, types)]:
            whole = exp.IntDiv(this=division.this, expression=division.expression)
            if division is tree:
                tree = whole
            else:
                division.replace(whole)
        for comparison in tree.find_all(*_COMPARISONS):
            operands = list(_operands(comparison))
            _compare_moments(operands, types)
            _spell_operands(operands, types)
        for part in list(tree.find_all(*_PARTS)):
            if _is_timestamp(part.this, types):
                part.replace(_digits(part))

        def place(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Anonymous):
                return _changed([types[one.name.upper()].name for one in node.expressions], update)
            if not isinstance(node, exp.Column):
                return node
            column = types[node.name.upper()]
            named = exp.column(
                exp.to_identifier(f"{(node.table or either).lower()}.{column.name}", quoted=True)
            )
            return _whole_moment(named) if node.meta.get(_WHOLE) else _typed(named, column)

        return tree.transform(place).sql(dialect="duckdb", comments=False)


def _without_image(tree: exp.Expr, there: str) -> exp.Expr:
    """A predicate in which each condition on an image other than ``there`` is unknown."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.And | exp.Or | exp.Not | exp.Paren):
            waiting += node.iter_expressions()
        elif any(one.table and one.table.lower() != there for one in node.find_all(exp.Column)):
            unknown = exp.cast(exp.null(), exp.DType.BOOLEAN)
            if node is tree:
                return unknown
            node.replace(unknown)
    return tree


def _changed(names: Sequence[str], update: bool) -> exp.Expr:
    """Whether an update changes one of some columns."""
    if not update:
        return exp.false()
    differ = [
        exp.NullSafeNEQ(
            this=exp.column(exp.to_identifier(f"before.{name}", quoted=True)),
            expression=exp.column(exp.to_identifier(f"after.{name}", quoted=True)),
        )
        for name in names
    ]
    return exp.paren(exp.or_(*differ))


def _operands(comparison: exp.Expr) -> Iterator[exp.Expr]:
    """What a comparison compares, out of its parentheses."""
    for node in comparison.iter_expressions():
        yield from (
            (part.unnest() for part in node.expressions)
            if isinstance(node, exp.Tuple)
            else [node.unnest()]
        )


def _compare_moments(operands: Sequence[exp.Expr], types: dict[str, Column]) -> None:
    """Have a comparison of timestamps with nothing but each other and constants done on their
    text, which has all their digits."""
    moments = [node for node in operands if _is_timestamp(node, types)]
    others = [node for node in operands if all(node is not one for one in moments)]
    texts = [_constant_moment(node) for node in others]
    if not moments or None in texts:
        return
    for moment in moments:
        moment.meta[_WHOLE] = True
    for node, text in zip(others, texts, strict=True):
        node.replace(exp.Literal.string(text))


def _spell_operands(operands: Sequence[exp.Expr], types: dict[str, Column]) -> None:
    """Write constants that are compared with dates, times and CHAR as DuckDB does, and texts that
    are compared with numbers as numbers, for it would round them to the other's digits."""
    columns = [
        types[one.name.upper()]
        for node in operands
        if isinstance(node, (exp.Column, *_WHOLE_IF_OPERANDS_ARE))
        for one in node.find_all(exp.Column)
    ]
    exact = any(one.type in (*_WHOLE_TYPES, SqlType.DECIMAL) for one in columns)
    number = exact or any(
        isinstance(node, exp.Literal | exp.Neg) and not node.is_string for node in operands
    )
    kind = next((one for one in columns if one.type in (SqlType.DATE, SqlType.TIME)), None)
    for node in operands:
        if isinstance(node, exp.Column):
            if number and types[node.name.upper()].type in _TEXTS:
                node.replace(exp.cast(node.copy(), "DECIMAL(38, 18)"))
        elif exact and node.is_string and NUMBER.fullmatch(text := node.name.strip()):
            node.replace(exp.Literal.number(f"{Decimal(text):f}"))
        elif kind is not None and node.is_string:
            with suppress(ValueError):
                node.set("this", str(value_of(node.name, kind)))
        elif node.is_string and any(one.type is SqlType.CHAR for one in columns):
            node.set("this", node.name.rstrip(" "))


def _constant_moment(node: exp.Expr) -> str | None:
    """A constant as timestamps are compared with; None for what is none, or no moment, which
    DuckDB names."""
    if isinstance(node, exp.Cast) and node.to.this is exp.DType.TIMESTAMP:
        node = node.this
    found = _MOMENT.fullmatch(node.name.strip()) if node.is_string else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    midnight = (hour, minute, second, (found[7] or "").strip("0")) == (24, 0, 0, "")
    try:
        datetime(year, month, day, 0 if midnight else hour, minute, second)
    except ValueError:
        return None
    fraction = (found[7] or "").ljust(12, "0")
    return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction}"


def _is_timestamp(node: exp.Expr, types: dict[str, Column]) -> bool:
    return isinstance(node, exp.Column) and types[node.name.upper()].type is SqlType.TIMESTAMP


def _digits(part: exp.Expr) -> exp.Expr:
    """A part of a timestamp of its text, for hour 24 is of the day before."""
    begin, length = map(exp.Literal.number, _PARTS[type(part)])
    part.this.meta[_WHOLE] = True
    return exp.cast(exp.Substring(this=part.this, start=begin, length=length), exp.DType.INT)


def _whole_moment(named: exp.Expr) -> exp.Expr:
    """The text of a timestamp with the most digits that one has."""
    point = exp.Case().when(
        exp.func("STRPOS", named.copy(), exp.Literal.string(".")).eq(0), exp.Literal.string(".")
    )
    text = exp.DPipe(this=named, expression=point.else_(exp.Literal.string("")), safe=True)
    return exp.func("RPAD", text, exp.Literal.number(_MOMENT_LENGTH), exp.Literal.string("0"))


def _is_whole(node: exp.Expr, types: dict[str, Column]) -> bool:
    """Whether an expression is of an integer type, so that a division by another truncates."""
    if isinstance(node, exp.Column):
        return types[node.name.upper()].type in _WHOLE_TYPES
    if isinstance(node, exp.Literal):
        return node.is_int
    if isinstance(node, exp.Cast):
        return node.to.this in _WHOLE_CASTS
    if isinstance(node, _WHOLE_IF_OPERANDS_ARE):
        return all(_is_whole(part, types) for part in node.iter_expressions())
    return isinstance(node, (exp.Length, *_PARTS))


def _typed(named: exp.Expr, column: Column) -> exp.Expr:
    if column.type is SqlType.DECIMAL:
        return exp.cast(
            named,
            f"DECIMAL({min(max(column.length, column.scale, 1), _MOST_DIGITS)}, {column.scale})",
        )
    if column.type is SqlType.CHAR:
        return exp.Trim(this=named, expression=exp.Literal.string(" "), position="TRAILING")
    if column.type in _CASTS:
        return exp.TryCast(this=named, to=exp.DataType.build(_CASTS[column.type]))
    return named


def parts_of(text: str, names: Set[str]) -> tuple[str | None, str | None]:
    """What a condition says of ``names`` alone, in DuckDB's words, and the rest of what AND joins;
    None for nothing. SqlgenError (LR1003) where it cannot be read."""
    tree = _parsed(text).unnest()
    parts: dict[bool, list[exp.Expr]] = {True: [], False: []}
    for part in tree.flatten() if isinstance(tree, exp.And) else [tree]:
        columns = {(one.table, one.name.lower()) for one in part.find_all(exp.Column)}
        parts[bool(columns) and columns <= {("", name) for name in names}].append(part)
    own = " AND ".join(f"({one.sql('duckdb', comments=False)})" for one in parts[True])
    rest = " AND ".join(f"({one.sql('postgres', comments=False)})" for one in parts[False])
    return (own, rest or None) if own else (None, text)


def at_time(text: str, moment: datetime) -> str:
    """A condition in which CURRENT DATE, CURRENT TIME and CURRENT TIMESTAMP are those of a moment;
    what cannot be read stays as it is."""
    try:
        tokens = list(_tokens(_POSTGRES.tokenize(text)))
    except TokenError:
        return text
    for token in reversed(tokens):
        if token.token_type in _AT:
            said = _AT[token.token_type].format(moment)
            text = text[: token.start] + said + text[token.end + 1 :]
    return text


def parse_predicate(text: str, tables: Sequence[Table]) -> Predicate:
    """Parse and check a predicate. SqlgenError (LR1003) with line and column for what cannot be
    read or is not allowed, and when no table has its columns."""
    if not text:
        raise SqlgenError(
            "LR1003",
            "--where cannot be read: an empty --where; expected a condition",
            "Is a variable of the shell not set? " + _HINT,
        )
    tree = _parsed(text)
    _check_kinds(tree, text)
    columns: set[tuple[str, str]] = set()
    known = {column.name.upper() for table in tables for column in table.columns}
    for node in tree.find_all(exp.Column):
        image = node.table.lower()
        said = "--changed" if isinstance(node.parent, exp.Anonymous) else "--where"
        if image not in ("", "before", "after") or node.args.get("db"):
            raise SqlgenError(
                "LR1003",
                f"--where names {_shown(node)}{_place(node, text)}; expected col, before.col or"
                " after.col",
                _HINT,
            )
        if node.name.upper() not in known:
            where = _place(node, text) if said == "--where" else ""
            raise SqlgenError(
                "LR1003",
                f"{said} names column {node.name!r}{where}, which no table of the log has"
                f"{did_you_mean(node.name.upper(), known)}",
                _OF_HEADERS if said == "--where" else "logreplay inspect shows the columns",
            )
        columns.add((image, node.name.upper()))
    _check_one_of_each(columns, tables)
    _check_bytes(tree, tables, text)
    predicate = Predicate(tree, frozenset(columns))
    if not columns or not any(predicate.applies_to(table) for table in tables):
        raise SqlgenError(
            "LR1003",
            "--where names no column, or columns that no single table has together; expected"
            " columns of one table",
            _HINT,
        )
    return predicate


def _check_bytes(tree: exp.Expr, tables: Sequence[Table], text: str) -> None:
    """SqlgenError (LR1003) for HEX of what is no column of bytes: a text is decoded, and which
    bytes it had hangs on its code page and its blanks; a number has those of its database."""
    for node in tree.find_all(exp.Hex):
        name = node.this.name.upper() if isinstance(node.this, exp.Column) else ""
        types = {one.type for table in tables for one in table.columns if one.name.upper() == name}
        if not types or not types <= _BYTES:
            raise SqlgenError(
                "LR1003",
                f"--where uses HEX ({_shown(node)}){_place(node, text)}; expected a column of bytes"
                " (BINARY, VARBINARY, FOR BIT DATA): other values are decoded, and compared as they"
                " are",
                _HINT,
            )


def _check_one_of_each(columns: Set[tuple[str, str]], tables: Sequence[Table]) -> None:
    """SqlgenError (LR1003) for a name that columns of a table have in several spellings: case does
    not count in a condition."""
    for table in tables:
        spelled: dict[str, str] = {}
        for column in table.columns:
            other = spelled.setdefault(column.name.upper(), column.name)
            if other != column.name and any(column.name.upper() == name for _, name in columns):
                raise SqlgenError(
                    "LR1003",
                    f"--where names a column that {table.schema}.{table.name} has as {other!r} and"
                    f" as {column.name!r}, and upper and lower case are one there",
                    "Name other columns, or leave the table out (--exclude-table)",
                )


def _parsed(text: str) -> exp.Expr:
    """The tree of a condition; SqlgenError (LR1003) where there is none."""
    depth = deepest = 0
    for bracket in re.findall(r"[()]", _OPENINGS.sub("", text)):
        depth += 1 if bracket == "(" else -1
        deepest = max(deepest, depth)
    if deepest > _DEEPEST:
        raise SqlgenError(
            "LR1003", f"--where nests {deepest} deep; expected at most {_DEEPEST}", _HINT
        )
    try:
        tokens = list(_tokens(_POSTGRES.tokenize(text)))
        tree = _POSTGRES.parser().parse_into(exp.Condition, tokens, text)[0]
        if tree is None:
            raise ParseError("found no condition")
        tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE)
        return tree
    except TokenError:
        opened = next((quote for quote in _OPENINGS.finditer(text) if quote["open"]), None)
        where = (
            f"{_at(text, opened.start())}: a {opened['open']} that is not closed" if opened else ""
        )
        raise SqlgenError("LR1003", f"--where cannot be read{where}", _HINT) from None
    except ParseError as error:
        raise SqlgenError(
            "LR1003", f"--where cannot be read{_position(error)}: {_first_line(error)}", _HINT
        ) from None
    except RecursionError:
        raise SqlgenError("LR1003", "--where nests too deep to be read", _HINT) from None


def _tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    """Tokens in which a form of Db2's is the one that others have for it."""
    place = 0
    while place < len(tokens):
        one, other = tokens[place], tokens[place + 1 : place + 2]
        kind, word = one.token_type, one.text.upper()
        behind = other[0].text.upper() if other else ""
        joined: list[tuple[TokenType, str]] = []
        if kind is TokenType.NUMBER and behind in _DURATIONS:
            joined = [(TokenType.INTERVAL, "INTERVAL"), (TokenType.STRING, word)]
            joined.append((TokenType.VAR, behind.removesuffix("S")))
        elif word == "BX" and other and other[0].token_type is TokenType.STRING:
            joined = [(TokenType.HEX_STRING, other[0].text)]
        elif kind is TokenType.VAR and word == "CURRENT" and behind in _CURRENT:
            joined = [(_CURRENT[behind], f"CURRENT_{behind}")]
        elif word == "VALUE" and behind == "(":
            joined = [(TokenType.VAR, "COALESCE"), (TokenType.L_PAREN, "(")]
        elif word == "CONCAT" and other and behind != "(" and kind is TokenType.VAR:
            joined = [(TokenType.DPIPE, "||"), (other[0].token_type, other[0].text)]
        if not joined:
            yield one
        for made, text in joined:
            yield Token(made, text, one.line, one.col, one.start, other[0].end)
        place += 1 + bool(joined)


def _check_kinds(tree: exp.Expr, text: str) -> None:
    """SqlgenError (LR1003) for what a predicate must not be made of."""
    for node in tree.walk():
        if isinstance(node, exp.Anonymous) and node.name.upper() == CHANGED and node.expressions:
            if all(isinstance(one, exp.Column) and not one.table for one in node.expressions):
                continue
            raise SqlgenError(
                "LR1003",
                f"--where uses {_shown(node)}{_place(node, text)}; expected columns: changed(col)",
                _HINT,
            )
        if not isinstance(node, _ALLOWED):
            name = node.name if isinstance(node, exp.Anonymous) else node.key
            found = f"--where uses {name.upper()} ({_shown(node)}){_place(node, text)}"
            expected = "conditions on columns"
            if isinstance(node, exp.CurrentDate | exp.CurrentTime | exp.CurrentTimestamp):
                expected = "CURRENT DATE, CURRENT TIME or CURRENT TIMESTAMP without digits"
            raise SqlgenError(
                "LR1003", f"{found}, which is not allowed; expected {expected}", _HINT
            )
        if isinstance(node, exp.DataType) and node.this not in _CAST_TYPES:
            raise SqlgenError(
                "LR1003",
                f"--where casts to {_shown(node)}{_place(node.parent or node, text)}; expected a"
                " type of SQL",
                _HINT,
            )


def _shown(node: exp.Expr) -> str:
    return node.sql(dialect="postgres", unsupported_level=ErrorLevel.IGNORE, comments=False)[:60]


def _position(error: ParseError) -> str:
    for entry in error.errors:
        if entry.get("line"):
            return (
                f" at line {entry['line']}, column"
                f" {max(1, entry['col'] - len(entry.get('highlight') or ' ') + 1)}"
            )
    return ""


def _first_line(error: ParseError) -> str:
    return (
        str(error.errors[0]["description"]).split(" missing for ")[0]
        if error.errors
        else str(error).splitlines()[0]
    )


def _at(text: str, offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    return f" at line {line}, column {offset - text.rfind(chr(10), 0, offset)}"


def _place(node: exp.Expr, text: str) -> str:
    """`` at line L, column C`` of a node: the first of the token positions that sqlglot keeps below
    it."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    if starts:
        return _at(text, min(starts))
    words = [*_shown(node).split("(")[0].split()[:1], node.name]
    offsets = [text.upper().find(word.upper()) for word in words if word]
    return next((_at(text, offset) for offset in offsets if offset >= 0), "")


# -- which relations and columns a query names
# -------------------------------------------------------------------------------------------------


class QueryNames(NamedTuple):
    """Names in capitals: ``relations`` as NAME or OWNER.NAME, ``columns``; None: all of them."""

    relations: frozenset[str]
    columns: frozenset[str] | None


def query_names(text: str) -> QueryNames:
    """What a query names. SqlgenError (LR1001) for what is no query, or several."""
    try:
        trees = [tree for tree in parse(text, dialect="duckdb") if tree is not None]
    except SqlglotError as error:
        message = str(error).splitlines()[0]
        raise SqlgenError(
            "LR1001", f"found a query that cannot be parsed: {message}; expected one SELECT"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise SqlgenError("LR1001", "found no query, or several statements; expected one SELECT")
    tree = trees[0]
    relations = frozenset(
        ".".join(part for part in (table.db, table.name) if part).upper()
        for table in tree.find_all(exp.Table)
    )
    # a * takes all columns, and so may what is said of a whole row
    names = frozenset(column.name.upper() for column in tree.find_all(exp.Column))
    rows = {table.alias_or_name.upper() for table in tree.find_all(exp.Table)}
    every = tree.find(exp.Star, exp.Columns) is not None or bool(names & rows)
    joins = list(tree.find_all(exp.Join))
    every = every or any(join.method for join in joins)  # NATURAL takes the columns of both
    using = frozenset(name.name.upper() for join in joins for name in join.args.get("using") or ())
    return QueryNames(relations, None if every else names | using)
