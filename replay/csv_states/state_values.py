"""Values of states as text: one spelling for what databases write in several, and which texts are
values of a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import InputError, Where
from replay.redaction import masked_value
from sqlgen.ddl import source_type
from sqlgen.schema import ARROW_TYPES, FLOATS, Column, SqlType

_TRUTH = {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}
_INTEGER = r"^-?\d+$"
_NUMBER = r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,12})?|24:00:00(\.0{1,12})?)"
_PATTERNS = {
    SqlType.SMALLINT: _INTEGER,
    SqlType.INTEGER: _INTEGER,
    SqlType.BIGINT: _INTEGER,
    SqlType.DECIMAL: r"^-?\d+(\.\d+)?$",
    SqlType.REAL: f"^{_NUMBER}$",
    SqlType.DOUBLE: f"^{_NUMBER}$",
    SqlType.DECFLOAT: f"^({_NUMBER}|-?(s?NaN|Infinity))$",
    SqlType.DATE: f"^{_DAY}$",
    SqlType.TIME: r"^(([01]\d|2[0-3]):[0-5]\d:[0-5]\d|24:00:00)$",
    SqlType.TIMESTAMP: f"^{_DAY} {_CLOCK}$",
    SqlType.TIMESTAMP_TZ: f"^{_DAY} {_CLOCK}[+-]\\d\\d:[0-5]\\d$",
    SqlType.BOOLEAN: f"^({'|'.join(_TRUTH)})$",
}
#: What a database that no log knows may hold beside: values without end, years before Christ.
_ANY_NUMBER = rf"^(?i:{_NUMBER}|-?inf(inity)?|s?nan)$"
_ANY_DAY = rf"^(?i:-?\d*{_DAY}.*|-?infinity)$"
_WIDER = {
    **dict.fromkeys(
        (
            SqlType.SMALLINT,
            SqlType.INTEGER,
            SqlType.BIGINT,
            SqlType.DECIMAL,
            SqlType.REAL,
            SqlType.DOUBLE,
            SqlType.DECFLOAT,
        ),
        _ANY_NUMBER,
    ),
    **dict.fromkeys((SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ), _ANY_DAY),
}
#: Families of the targets' types by their names, the first that fits; else it is text.
_FAMILIES = (
    (r"^(interval|point|jsonb?|daterange|.*range)", SqlType.VARCHAR),
    (r"^(character varying|varchar|char varying|nchar varying|nvarchar)", SqlType.VARCHAR),
    (r"^(bpchar|n?char(acter)?)\b", SqlType.CHAR),
    (r"blob|binary|bytea", SqlType.BLOB),
    (r"timestamp.*with time zone|timestamptz", SqlType.TIMESTAMP_TZ),
    (r"timestamp|datetime", SqlType.TIMESTAMP),
    (r"^date", SqlType.DATE),
    (r"^time\b", SqlType.TIME),
    (r"bool|^tinyint", SqlType.BOOLEAN),
    (r"double|float8", SqlType.DOUBLE),
    (r"int|serial|numeric|decimal|^dec\b|number", SqlType.DECIMAL),
    (r"real|float", SqlType.REAL),
)
BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
#: Types of which the empty text is a value.
TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML})
_INTEGERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_DAYS = frozenset({SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ})
_SHORT_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR})
_EXPECTED = {
    SqlType.DATE: "YYYY-MM-DD",
    SqlType.TIME: "HH:MM:SS",
    SqlType.TIMESTAMP: "YYYY-MM-DD HH:MM:SS.ffffff",
    SqlType.TIMESTAMP_TZ: "YYYY-MM-DD HH:MM:SS.ffffff+HH:MM",
    SqlType.BOOLEAN: "t or f",
    **dict.fromkeys(BYTES, "\\x and hexadecimal digits"),
}
#: Spellings of Db2's EXPORT (+00012.50, 20240315, 10.20.30, 2024-03-15-10.20.30.5), and zones
#: without minutes, as they become ours: (pattern, replacement), one after the other.
_SPELLED_NUMBER = (
    (r"^\+([\d.])", r"\1"),
    (r"^(-?\d+)\.$", r"\1"),
    (r"^(-?)\.(\d)", r"\10.\2"),
)
_SPELLED_DAY = (rf"^({_DAY})[-T](\d\d)[.:](\d\d)[.:](\d\d)", r"\1 \2:\3:\4")
_SPELLED = {
    **dict.fromkeys((*_INTEGERS, SqlType.DECIMAL, *FLOATS, SqlType.DECFLOAT), _SPELLED_NUMBER),
    SqlType.DATE: ((r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3"),),
    SqlType.TIME: ((r"^(\d\d)\.(\d\d)\.(\d\d)$", r"\1:\2:\3"),),
    SqlType.TIMESTAMP: (_SPELLED_DAY,),
    SqlType.TIMESTAMP_TZ: (_SPELLED_DAY, (r"(:\d\d(?:\.\d+)?[+-]\d\d)$", r"\1:00")),
}


def family_of(target_type: str, dialect: str) -> SqlType:
    """The type to compare by where only the target's is known."""
    name = target_type.lower()
    if dialect == "sqlite" and re.search(r"real|floa|doub", name):
        return SqlType.DOUBLE
    if dialect == "sqlite" and not name:
        return SqlType.VARCHAR
    return next((kind for form, kind in _FAMILIES if re.search(form, name)), SqlType.VARCHAR)


def spelled(texts: pa.Array, kind: SqlType) -> pa.Array:
    """Texts of a column in our spelling; one that is no known spelling stays as it is."""
    if kind is SqlType.BOOLEAN:
        return pc.utf8_lower(texts)
    for pattern, replacement in _SPELLED.get(kind, ()):
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts


def state_values(
    texts: pa.Array, column: Column, where: Callable[[int], Where], masked: bool = False
) -> pa.Array:
    """Texts as values (value contract: :mod:`sqlgen.schema`); ``where`` each of them stands.
    InputError (LR2035) for a text that is no value of the column, which tells it unless it is
    ``masked``."""
    bad = _unfit(texts, column)
    if bad is not None:
        raise unreadable(texts[bad].as_py(), column, where(bad), masked)
    if column.type is SqlType.DECIMAL:
        plain = padded(pc.replace_substring_regex(texts, r"^(-?)0+(\d)", r"\1\2"), column.scale)
        return pc.replace_substring_regex(plain, r"^-(0(\.0*)?)$", r"\1")
    if column.type is SqlType.TIMESTAMP:
        return padded(texts, column.length)
    if column.type is SqlType.TIMESTAMP_TZ:
        return pc.binary_join_element_wise(
            padded(pc.utf8_slice_codeunits(texts, 0, -6), column.length),
            pc.utf8_slice_codeunits(texts, -6),
            "",
        )
    if column.type in BYTES:
        return pa.array(
            [None if text is None else bytes.fromhex(text[2:]) for text in texts.to_pylist()],
            pa.binary(),
        )
    if column.type is SqlType.BOOLEAN:
        return pa.array(
            [None if text is None else _TRUTH[text] for text in texts.to_pylist()], pa.bool_()
        )
    return texts.cast(ARROW_TYPES[column.type])


def unreadable(text: str | None, column: Column, where: Where, masked: bool = False) -> InputError:
    """What is raised for a text that is no value of its column."""
    shown = "NULL" if text is None else repr(text)[:100]
    form = _EXPECTED.get(column.type, "the log would have it")
    expected = "a value" if text is None else f"a value of {source_type(column)}, as {form}"
    if masked and text is not None:
        shown = masked_value(column.name)
    hint = ""
    if text is None and column.type in TEXTS:
        hint = 'Nothing between commas is NULL; the empty text is ""'
    elif column.type in BYTES:
        hint = "Bytes of DuckDB: --csv duckdb"
    return InputError("LR2035", f"found {shown}; expected {expected}", where, hint)


def is_value(text: str, column: Column, logged: bool) -> bool:
    """Whether a text of our spelling is a value of a column; one that is not ``logged`` has neither
    length nor scale."""
    texts = pa.array([text])
    return (_unfit(texts, column) if logged else strange(texts, column.type)) is None


def strange(texts: pa.Array, kind: SqlType) -> int | None:
    """The first text that no column of the type could hold, whatever its length; None: there is
    none."""
    pattern = _WIDER.get(kind, _PATTERNS.get(kind))
    if kind is SqlType.BOOLEAN:  # a TINYINT counts as one, and holds numbers
        pattern = f"{pattern}|{_INTEGER}"
    first = -1
    if pattern is not None:
        fits = pc.fill_null(pc.match_substring_regex(texts, pattern), True)
        first = int(pc.index(fits, False).as_py())
    return first if first >= 0 else None


def _unfit(texts: pa.Array, column: Column) -> int | None:
    """The first value that is none of the column."""
    if not column.nullable and texts.null_count:
        return int(pc.index(pc.is_null(texts), True).as_py())
    for fits in _tests(texts, column):
        first = -1 if fits is None else pc.index(fits, False).as_py()
        if first >= 0:
            return int(first)
    return None


def _tests(texts: pa.Array, column: Column) -> Iterator[pa.Array | None]:
    """What a column asks of its texts, one test after the other: each may count on those before it.
    None: all pass."""
    kind = column.type
    if kind in _PATTERNS:
        yield pc.match_substring_regex(texts, _PATTERNS[kind])
    if kind is SqlType.DECIMAL:
        yield pc.match_substring_regex(
            texts, rf"^-?0*\d{{0,{column.length - column.scale}}}(\.\d{{0,{column.scale}}}0*)?$"
        )
    elif kind in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        yield pc.match_substring_regex(
            texts, rf"^[^.]*(\.\d{{0,{column.length}}}0*)?([+-]\d\d:\d\d)?$"
        )
    elif kind in _INTEGERS:
        yield _cast_fits(
            texts,
            {SqlType.SMALLINT: pa.int16(), SqlType.INTEGER: pa.int32()}.get(
                kind, ARROW_TYPES[kind]
            ),
        )
    elif kind in FLOATS:
        yield pc.is_finite(texts.cast(ARROW_TYPES[kind]))
    elif kind in BYTES:
        yield pc.match_substring_regex(texts, r"^\\x([0-9A-Fa-f]{2})*$")
        if kind is SqlType.BINARY:
            yield pc.equal(pc.binary_length(texts), 2 + 2 * column.length)
        elif kind is SqlType.VARBINARY:
            yield pc.less_equal(pc.binary_length(texts), 2 + 2 * column.length)
    elif kind in _SHORT_TEXTS:  # a length may be in bytes, and no character has less than one
        yield pc.less_equal(
            pc.utf8_length(pc.utf8_rtrim(texts, " ") if kind is SqlType.CHAR else texts),
            column.length,
        )
    if kind in _DAYS:
        yield _cast_fits(pc.utf8_slice_codeunits(texts, 0, 10), pa.date32())


def _cast_fits(texts: pa.Array, target: pa.DataType) -> pa.Array | None:
    """Which texts can be cast, None for all; looked at one by one only when one cannot."""
    try:
        texts.cast(target)
    except pa.ArrowInvalid:
        fits: list[bool] = []
        for at in range(len(texts)):
            try:
                texts[at : at + 1].cast(target)
            except pa.ArrowInvalid:
                return pa.array([*fits, False])
            fits.append(True)
    return None


def padded(texts: pa.Array, digits: int) -> pa.Array:
    """Texts with so many digits after the point, and no point without digits."""
    whole = pc.replace_substring_regex(texts, r"\..*$", "")
    if not digits:
        return whole
    fraction = pc.utf8_slice_codeunits(
        pc.replace_substring_regex(texts, r"^[^.]*\.?", ""), 0, digits
    )
    return pc.binary_join_element_wise(whole, pc.utf8_rpad(fraction, digits, "0"), ".")
