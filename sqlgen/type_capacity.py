"""What a column of an existing database can hold, and whether that is enough for a column of a
source.

A declared type becomes a :class:`Holding` (what values it keeps as they are), by one table a
dialect. What ``logreplay ddl`` would make for a column (:func:`sqlgen.ddl.type_rule`) is always
enough; other types are judged by what they hold. A type that changes values without an error is
too narrow; one that refuses those that do not fit leaves a :class:`ValueLimit`, which tells by the
values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.ddl import type_rule
from sqlgen.dialects import Profile
from sqlgen.literals import Policy, ValueProblem, shown_value
from sqlgen.schema import Column, SqlType

# -- values against a limit
# -------------------------------------------------------------------------------------------------
# Values against what a column of an existing database holds, where its type alone does not tell: a
# shorter text, a smaller whole number, a character set that lacks characters.


_WHOLE = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_HINT = "Widen the column, or leave it out (--exclude-columns)"


@dataclass(frozen=True, slots=True)
class ValueLimit:
    """What values a column holds; None and '' do not limit. ``declared`` is its type, in words.

    ``low`` and ``high`` bound whole numbers and decimals, ``whole_digits`` is how many digits may
    stand before the point, ``digits`` how many in all, ``characters`` and ``octets`` (of UTF-8 or
    bytes) are the most that fit, ``codec`` is the character set by Python's name, ``blank_end``:
    whether blanks at the end stay, ``earliest`` and ``latest`` bound timestamps, as text, ``null``
    whether NULL stays NULL.
    """

    declared: str
    low: int | None = None
    high: int | None = None
    whole_digits: int | None = None
    digits: int | None = None
    characters: int | None = None
    octets: int | None = None
    codec: str = ""
    blank_end: bool = True
    earliest: str = ""
    latest: str = ""
    null: bool = True

    def problems(self, values: pa.Array, column: Column, policy: Policy) -> list[ValueProblem]:
        """The values of ``column`` that would not be kept as they are: a problem (LR3001) for
        each. ``policy`` is what is done to values on the way."""
        if column.type is SqlType.CHAR and policy.char_padding == "strip":
            values = pc.utf8_rtrim(values, " ")
        problems: list[ValueProblem] = []
        for wrong, expected in self._checks(values, column):
            rows = pc.indices_nonzero(pc.fill_null(wrong, False)).to_pylist()
            problems += [
                ValueProblem(
                    row,
                    column.name,
                    "NULL" if not values[row].is_valid else shown_value(values[row].as_py()),
                    f"{expected}, as the target's column of type {self.declared} holds it",
                    _HINT,
                )
                for row in rows
            ]
        return sorted(problems, key=lambda problem: problem.row)

    def _checks(self, values: pa.Array, column: Column) -> list[tuple[pa.Array, str]]:
        """(which values are wrong, what is expected) for each limit."""
        checks: list[tuple[pa.Array, str]] = []
        if not self.null:
            checks.append((pc.is_null(values), "no NULL"))
        if self.low is not None or self.high is not None:
            numbers = values if column.type in _WHOLE else _truncated(values)
            if self.low is not None:
                checks.append((pc.less(numbers, _like(self.low, numbers)), f"{self.low} or more"))
            if self.high is not None:
                checks.append(
                    (pc.greater(numbers, _like(self.high, numbers)), f"{self.high} or less")
                )
        if self.whole_digits is not None:
            digits = pc.utf8_ltrim(pc.utf8_ltrim(_before_point(values), "-"), "0")
            expected = f"at most {self.whole_digits} digits before the point"
            checks.append((pc.greater(pc.binary_length(digits), self.whole_digits), expected))
        if self.digits is not None:
            digits = pc.utf8_ltrim(pc.replace_substring_regex(values, "[-.]", ""), "0")
            expected = f"at most {self.digits} digits"
            checks.append((pc.greater(pc.binary_length(digits), self.digits), expected))
        if self.characters is not None:
            expected = f"at most {self.characters} characters"
            checks.append((pc.greater(pc.utf8_length(values), self.characters), expected))
        if self.octets is not None:
            checks.append(
                (
                    pc.greater(pc.binary_length(values), self.octets),
                    f"at most {self.octets} bytes",
                )
            )
        if not self.blank_end:
            checks.append((pc.ends_with(values, " "), "no blank at the end"))
        if self.codec:
            checks.append((_outside(values, self.codec), f"characters of {self.codec}"))
        if self.earliest:
            checks.append((pc.less(values, self.earliest), f"{self.earliest} or later"))
        if self.latest:
            checks.append((pc.greater(values, self.latest), f"{self.latest} or earlier"))
        return checks


def _truncated(values: pa.Array) -> pa.Array:
    """Decimals, as text, without what follows the point; one between -1 and 0 counts as -1."""
    whole = pc.cast(_before_point(values), pa.decimal128(38, 0))
    below = pc.and_(pc.starts_with(values, "-"), pc.equal(whole, _like(0, whole)))
    some = pc.match_substring_regex(values, "[1-9]")
    return pc.if_else(pc.and_(below, some), _like(-1, whole), whole)


def _before_point(values: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(values, r"\..*", "")


def _like(number: int, values: pa.Array) -> pa.Scalar:
    if pa.types.is_decimal(values.type):
        return pa.scalar(Decimal(number), values.type)
    return pa.scalar(max(min(number, (1 << 63) - 1), -(1 << 63)), values.type)


def _outside(values: pa.Array, codec: str) -> pa.Array:
    """Which texts have a character that a character set lacks."""
    if codec == "utf-8-bmp":
        return pc.match_substring_regex(values, "[\\x{10000}-\\x{10FFFF}]")
    different = pc.unique(values).drop_null()
    try:
        "".join(different.to_pylist()).encode(codec)
    except UnicodeEncodeError:
        return pc.is_in(values, pa.array([t for t in different.to_pylist() if _lacks(t, codec)]))
    return pa.repeat(pa.scalar(False), len(values))


def _lacks(text: str, codec: str) -> bool:
    try:
        text.encode(codec)
    except UnicodeEncodeError:
        return True
    return False


class ValueKind(StrEnum):
    """What kind of values a type holds."""

    WHOLE = "whole numbers"
    DECIMAL = "decimal numbers"
    FLOAT = "binary floating-point numbers"
    TEXT = "text"
    LISTED = "listed or checked text"
    BYTES = "bytes"
    DATE = "dates"
    TIME = "times of day"
    MOMENT = "timestamps"
    ZONED = "timestamps, shown in the reader's time zone"
    BOOLEAN = "truth values"
    XML = "XML"
    NUMERIC = "anything, but text that looks like a number becomes one"
    ANY = "anything as it is"
    OTHER = "values of a kind that logreplay does not know"


@dataclass(frozen=True, slots=True)
class Holding:
    """What a type keeps as it is; None is without limit.

    ``declared``: the type as the database spells it. ``low`` and ``high`` bound whole numbers;
    ``digits`` (in all) and ``scale`` (after the point) decimals; ``bits`` is the precision of
    floats; ``length`` that of text and bytes, in ``unit`` (characters or bytes), ``padded`` to it;
    ``fraction`` counts digits of seconds; ``earliest`` and ``latest`` bound moments, as text;
    ``codec`` is the character set, by the name that Python has for it; ``null`` whether NULL stays
    NULL or is refused.
    """

    kind: ValueKind
    declared: str = ""
    low: int | None = None
    high: int | None = None
    digits: int | None = None
    scale: int | None = None
    bits: int = 0
    length: int | None = None
    unit: str = "characters"
    padded: bool = False
    fraction: int | None = None
    earliest: str = ""
    latest: str = ""
    codec: str = ""
    null: bool = True


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a column holds the values of a source column: ``reason`` says why not ('': it does),
    ``limit`` what values it holds where the type alone does not decide, ``better`` the type that
    would do."""

    reason: str = ""
    limit: ValueLimit | None = None
    better: str = ""


# -- declared types
# -------------------------------------------------------------------------------------------------

Maker = Callable[[Sequence[int]], Holding]


def _whole(bits: int, signed: bool = True) -> Maker:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda _: Holding(ValueKind.WHOLE, low=low, high=high)


def _decimal(digits: int | None, scale: int | None, positive: bool = False) -> Maker:
    def made(given: Sequence[int]) -> Holding:
        sizes: tuple[int | None, int | None] = (digits, scale)
        if given:
            sizes = given[0], given[1] if len(given) > 1 else 0
        return Holding(
            ValueKind.DECIMAL, digits=sizes[0], scale=sizes[1], low=0 if positive else None
        )

    return made


def _float(bits: int) -> Maker:
    return lambda given: Holding(ValueKind.OTHER if len(given) > 1 else ValueKind.FLOAT, bits=bits)


def _sized(
    kind: ValueKind, length: int | None = None, unit: str = "characters", padded: bool = False
) -> Maker:
    return lambda given: Holding(
        kind, length=given[0] if given else length, unit=unit, padded=padded
    )


def _clock(kind: ValueKind, fraction: int, earliest: str = "", latest: str = "") -> Maker:
    return lambda given: Holding(
        kind, fraction=given[0] if given else fraction, earliest=earliest, latest=latest
    )


def _plain(kind: ValueKind) -> Maker:
    return lambda _: Holding(kind)


_TEXT, _BYTES = ValueKind.TEXT, ValueKind.BYTES
_POSTGRES: dict[str, Maker] = {
    "smallint": _whole(16),
    "integer": _whole(32),
    "bigint": _whole(64),
    "numeric": _decimal(None, None),
    "real": _float(24),
    "double precision": _float(53),
    "character": _sized(_TEXT, 1, padded=True),
    "bpchar": _sized(_TEXT, padded=True),
    "character varying": _sized(_TEXT),
    "text": _sized(_TEXT),
    "citext": _sized(_TEXT),
    "enum": _plain(ValueKind.LISTED),
    "json": _plain(ValueKind.LISTED),
    "bytea": _sized(_BYTES, unit="bytes"),
    "date": _plain(ValueKind.DATE),
    "time without time zone": _clock(ValueKind.TIME, 6),
    "timestamp without time zone": _clock(ValueKind.MOMENT, 6),
    "timestamp with time zone": _clock(ValueKind.ZONED, 6),
    "boolean": _plain(ValueKind.BOOLEAN),
    "xml": _plain(ValueKind.XML),
}
_DUCKDB: dict[str, Maker] = {
    **{
        name: _whole(bits, signed)
        for bits, signed, name in (
            (8, True, "tinyint"),
            (16, True, "smallint"),
            (32, True, "integer"),
            (64, True, "bigint"),
            (128, True, "hugeint"),
            (8, False, "utinyint"),
            (16, False, "usmallint"),
            (32, False, "uinteger"),
            (64, False, "ubigint"),
            (128, False, "uhugeint"),
        )
    },
    "decimal": _decimal(18, 3),
    "float": _float(24),
    "double": _float(53),
    "varchar": _sized(_TEXT),
    "enum": _plain(ValueKind.LISTED),
    "json": _plain(ValueKind.LISTED),
    "blob": _sized(_BYTES, unit="bytes"),
    "date": _plain(ValueKind.DATE),
    "time": _clock(ValueKind.TIME, 6),
    "time_ns": _clock(ValueKind.TIME, 9),
    "timestamp_s": _clock(ValueKind.MOMENT, 0),
    "timestamp_ms": _clock(ValueKind.MOMENT, 3),
    "timestamp": _clock(ValueKind.MOMENT, 6),
    "timestamp_ns": _clock(
        ValueKind.MOMENT, 9, "1677-09-22 00:00:00", "2262-04-11 23:47:16.854775806"
    ),
    "timestamp with time zone": _clock(ValueKind.ZONED, 6),
    "boolean": _plain(ValueKind.BOOLEAN),
}
_MYSQL: dict[str, Maker] = {
    **{
        f"{name}{words}": _whole(bits, not words)
        for bits, name in ((8, "tinyint"), (16, "smallint"), (24, "mediumint"), (32, "int"),
                           (64, "bigint"))
        for words in ("", " unsigned", " unsigned zerofill")
    },
    "decimal": _decimal(10, 0),
    "decimal unsigned": _decimal(10, 0, positive=True),
    "float": _float(24),
    "double": _float(53),
    "char": _sized(_TEXT, 1, padded=True),
    "varchar": _sized(_TEXT),
    "tinytext": lambda _: Holding(_TEXT, length=(1 << 8) - 1, unit="bytes"),
    "text": lambda _: Holding(_TEXT, length=(1 << 16) - 1, unit="bytes"),
    "mediumtext": lambda _: Holding(_TEXT, length=(1 << 24) - 1, unit="bytes"),
    "longtext": _sized(_TEXT),
    "binary": _sized(_BYTES, 1, "bytes", padded=True),
    "varbinary": _sized(_BYTES, unit="bytes"),
    "tinyblob": lambda _: Holding(_BYTES, length=(1 << 8) - 1, unit="bytes"),
    "blob": lambda _: Holding(_BYTES, length=(1 << 16) - 1, unit="bytes"),
    "mediumblob": lambda _: Holding(_BYTES, length=(1 << 24) - 1, unit="bytes"),
    "longblob": _sized(_BYTES, unit="bytes"),
    "date": _plain(ValueKind.DATE),
    "time": _clock(ValueKind.TIME, 0),
    "datetime": _clock(ValueKind.MOMENT, 0),
    "timestamp": _clock(ValueKind.MOMENT, 0, "1970-01-01 00:00:01", "2038-01-19 03:14:07.999999"),
}  # fmt: skip
#: Types of SQLite's STRICT tables.
_SQLITE_STRICT: dict[str, Maker] = {
    "int": _whole(64),
    "integer": _whole(64),
    "real": _float(53),
    "text": _sized(_TEXT),
    "blob": _sized(_BYTES, unit="bytes"),
    "any": _plain(ValueKind.ANY),
}
#: Of a declared type of SQLite that holds one of these words: its affinity. First match counts.
_AFFINITIES: tuple[tuple[str, Holding], ...] = (
    (r"INT", Holding(ValueKind.NUMERIC, bits=64)),
    (r"CHAR|CLOB|TEXT", Holding(_TEXT)),
    (r"BLOB|^$", Holding(ValueKind.ANY)),
    (r"REAL|FLOA|DOUB", Holding(ValueKind.NUMERIC, bits=53)),
    (r"", Holding(ValueKind.NUMERIC, bits=64)),
)
_TYPES: Mapping[str, Mapping[str, Maker]] = {
    "postgres": _POSTGRES,
    "duckdb": _DUCKDB,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
}
_OTHER_WORDS = {
    "decimal": "numeric",
    "char": "character",
    "varchar": "character varying",
    "timestamptz": "timestamp with time zone",
    "timestamp": "timestamp without time zone",
    "time": "time without time zone",
}
_SPELLING = re.compile(r'([a-z_0-9" ]*[a-z_0-9"])\s*(?:\(([^)]*)\))?\s*(.*)')


def holding_of(declared: str, dialect: str, strict: bool = False) -> Holding:
    """What a type holds, as the database of ``dialect`` declares it. ``strict``: the table is one
    of SQLite's STRICT ones."""
    if dialect == "sqlite" and not strict:
        for words, holding in _AFFINITIES:
            if re.search(words, declared.upper()):
                return replace(holding, declared=declared)
    known = _SQLITE_STRICT if dialect == "sqlite" else _TYPES.get(dialect, {})
    spelled = re.sub(r"^enum\s*\(.*\)$", "enum", declared.lower(), flags=re.DOTALL)
    match = _SPELLING.fullmatch(re.sub(r" (character set|collate) \w+", "", spelled))
    if match is None:
        return Holding(ValueKind.OTHER, declared)
    words = f"{match[1]} {match[3]}".strip()
    if dialect == "postgres":
        words = _OTHER_WORDS.get(words, words)
    if dialect in ("mysql", "mariadb"):
        words = {"boolean": "tinyint"}.get(words, words)
    if words not in known and dialect == "duckdb":
        words = {"text": "varchar", "real": "float", "timestamptz": "timestamp with time zone"}.get(
            words, words
        )
    maker = known.get(words)
    if maker is None:
        return Holding(ValueKind.OTHER, declared)
    sizes = re.findall(r"-?\d+", match[2] or "")
    return replace(maker([int(size) for size in sizes]), declared=declared)


# -- is it enough?
# -------------------------------------------------------------------------------------------------


def fit(column: Column, actual: Holding, profile: Profile) -> Fit:
    """Whether a column of the target that holds ``actual`` keeps every value of ``column`` as it
    is."""
    rule = type_rule(column, profile)
    if not column.declared and rule.text:
        strict = profile.name == "sqlite" and actual.kind not in _AFFINE
        spelled = _compared(holding_of(rule.text, profile.name, strict), actual, profile)
        if not spelled.reason and spelled.limit is None:
            return Fit(limit=_null_limit(column, actual))
    judged = _compared(_needed(column, profile), actual, profile)
    if judged.reason:
        return replace(judged, better=rule.text)
    if judged.limit is None:
        return Fit(limit=_null_limit(column, actual))
    no_null = column.nullable and not actual.null
    return Fit(limit=replace(judged.limit, null=not no_null))


#: Kinds that columns of SQLite have outside STRICT tables only, or in them too.
_AFFINE = frozenset({ValueKind.NUMERIC, ValueKind.ANY, ValueKind.TEXT})


def _null_limit(column: Column, actual: Holding) -> ValueLimit | None:
    no_null = column.nullable and not actual.null
    return ValueLimit(actual.declared, null=False) if no_null else None


def _needed(column: Column, profile: Profile) -> Holding:
    """What a column of the source needs."""
    source, size = column.type, column.length or None
    if source in _WHOLES:
        return _whole(_WHOLES[source])(())
    if source in _TEXTS:
        return Holding(ValueKind.TEXT, length=size, padded=source is SqlType.CHAR)
    if source in _OCTETS:
        return Holding(ValueKind.BYTES, length=size, unit="bytes", padded=source is SqlType.BINARY)
    if source is SqlType.DECIMAL:
        return Holding(ValueKind.DECIMAL, digits=column.length, scale=column.scale)
    if source is SqlType.DECFLOAT:
        return Holding(ValueKind.DECIMAL)
    if source in (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ):
        kind = ValueKind.MOMENT if source is SqlType.TIMESTAMP else ValueKind.ZONED
        return Holding(kind, fraction=min(column.length, profile.time_digits))
    if source is SqlType.TIME:
        return Holding(ValueKind.TIME, fraction=0)
    if source in (SqlType.REAL, SqlType.DOUBLE):
        return Holding(ValueKind.FLOAT, bits=24 if source is SqlType.REAL else 53)
    return Holding(_KINDS[source])


_WHOLES = {SqlType.SMALLINT: 16, SqlType.INTEGER: 32, SqlType.BIGINT: 64}
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB})
_OCTETS = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
_KINDS = {
    SqlType.DATE: ValueKind.DATE,
    SqlType.BOOLEAN: ValueKind.BOOLEAN,
    SqlType.XML: ValueKind.XML,
}


def _compared(needed: Holding, actual: Holding, profile: Profile) -> Fit:
    """Whether ``actual`` holds all that ``needed`` holds."""
    if actual.kind is ValueKind.ANY:
        return Fit()
    pair = (needed.kind, actual.kind)
    if pair in _KEEPS.get(profile.name, ()):
        return Fit()
    judge = _JUDGES.get(pair)
    if judge is None:
        return Fit(f"it holds {actual.kind}, not {needed.kind}")
    return judge(needed, actual)


def _limited(actual: Holding, low: int, high: int) -> Fit:
    """Whole numbers from ``low`` to ``high`` in a type with its own bounds."""
    lowest = actual.low if actual.low is not None and low < actual.low else None
    highest = actual.high if actual.high is not None and high > actual.high else None
    if lowest is None and highest is None:
        return Fit()
    return Fit(limit=ValueLimit(actual.declared, low=lowest, high=highest))


def _whole_whole(needed: Holding, actual: Holding) -> Fit:
    assert needed.low is not None
    assert needed.high is not None
    return _limited(actual, needed.low, needed.high)


def _whole_decimal(needed: Holding, actual: Holding) -> Fit:
    if actual.digits is None:
        return Fit()
    if (actual.scale or 0) < 0:
        return Fit(f"it rounds to {actual.scale} digits after the point")
    high = 10 ** max(actual.digits - (actual.scale or 0), 0) - 1
    low = 0 if actual.low == 0 else -high
    return _whole_whole(needed, replace(actual, low=low, high=high))


def _whole_float(needed: Holding, actual: Holding) -> Fit:
    assert needed.high is not None
    if needed.high > 1 << actual.bits:
        return Fit(f"it keeps {actual.bits} binary digits of a number")
    return Fit()


def _decimal_decimal(needed: Holding, actual: Holding) -> Fit:
    if actual.scale is not None and (needed.scale is None or needed.scale > actual.scale):
        return Fit(f"it rounds to {actual.scale} digits after the point")
    low = 0 if actual.low == 0 and needed.low != 0 else None
    digits = None
    if actual.digits is not None:
        if needed.digits is None:
            return Fit(f"it keeps {actual.digits} digits")
        room = actual.digits - (actual.scale or 0)
        if room < 0:
            return Fit(f"it holds nothing from 0.{'0' * -room}1 on")
        digits = room if needed.digits - (needed.scale or 0) > room else None
    if digits is None and low is None:
        return Fit()
    return Fit(limit=ValueLimit(actual.declared, low=low, whole_digits=digits))


def _decimal_whole(needed: Holding, actual: Holding) -> Fit:
    if needed.digits is None or needed.scale:
        return Fit("it rounds to whole numbers")
    high = 10**needed.digits - 1
    return _limited(actual, -high, high)


def _decimal_numeric(needed: Holding, actual: Holding) -> Fit:
    if needed.digits is None:
        return Fit(f"it keeps {_SQLITE_DIGITS} digits of a number")
    if needed.digits > _SQLITE_DIGITS:
        return Fit(limit=ValueLimit(actual.declared, digits=_SQLITE_DIGITS))
    return Fit()


def _float_decimal(_: Holding, actual: Holding) -> Fit:
    return Fit("it rounds") if actual.digits is not None else Fit()


def _float_float(needed: Holding, actual: Holding) -> Fit:
    if needed.bits > actual.bits:
        return Fit(f"it keeps {actual.bits} binary digits, not {needed.bits}")
    return Fit()


def _text_text(needed: Holding, actual: Holding) -> Fit:
    widest = 4 if actual.unit == "bytes" and needed.unit == "characters" else 1
    most = None
    if actual.length is not None and (
        needed.length is None or needed.length * widest > actual.length
    ):
        most = actual.length
    blank_end = needed.padded or not actual.padded
    if most is None and blank_end and actual.codec in ("", needed.codec):
        return Fit()
    in_bytes = actual.unit == "bytes"
    return Fit(
        limit=ValueLimit(
            actual.declared,
            characters=None if in_bytes else most,
            octets=most if in_bytes else None,
            codec="" if actual.codec == needed.codec else actual.codec,
            blank_end=blank_end,
        )
    )


def _bytes_bytes(needed: Holding, actual: Holding) -> Fit:
    if actual.padded and not (needed.padded and needed.length == actual.length):
        return Fit("it pads with zero bytes")
    if actual.length is not None and (needed.length is None or needed.length > actual.length):
        return Fit(limit=ValueLimit(actual.declared, octets=actual.length))
    return Fit()


def _moment_moment(needed: Holding, actual: Holding) -> Fit:
    if (needed.fraction or 0) > (actual.fraction or 0):
        return Fit(f"it rounds to {actual.fraction or 0} digits of a second")
    if actual.earliest and not needed.earliest:
        return Fit(
            limit=ValueLimit(actual.declared, earliest=actual.earliest, latest=actual.latest)
        )
    return Fit()


def _enough(_: Holding, __: Holding) -> Fit:
    return Fit()


#: Digits of a number that SQLite keeps.
_SQLITE_DIGITS = 15
_BOOLEANS = frozenset({(ValueKind.BOOLEAN, ValueKind.WHOLE)})
#: What a dialect keeps as it is although a column was declared as another thing: values of SQLite
#: have types of their own, and dates and decimals are written as text there; MySQL's truth values
#: are numbers.
_KEEPS: Mapping[str, frozenset[tuple[ValueKind, ValueKind]]] = {
    "sqlite": frozenset(
        (kind, holder)
        for kind in (ValueKind.DATE, ValueKind.TIME, ValueKind.MOMENT, ValueKind.ZONED)
        for holder in (ValueKind.TEXT, ValueKind.NUMERIC)
    )
    | {(ValueKind.DECIMAL, ValueKind.TEXT)}
    | _BOOLEANS,
    "mysql": _BOOLEANS,
    "mariadb": _BOOLEANS,
}
_JUDGES: Mapping[tuple[ValueKind, ValueKind], Callable[[Holding, Holding], Fit]] = {
    (ValueKind.WHOLE, ValueKind.WHOLE): _whole_whole,
    (ValueKind.WHOLE, ValueKind.DECIMAL): _whole_decimal,
    (ValueKind.WHOLE, ValueKind.FLOAT): _whole_float,
    (ValueKind.WHOLE, ValueKind.NUMERIC): _whole_float,
    (ValueKind.DECIMAL, ValueKind.DECIMAL): _decimal_decimal,
    (ValueKind.DECIMAL, ValueKind.WHOLE): _decimal_whole,
    (ValueKind.DECIMAL, ValueKind.NUMERIC): _decimal_numeric,
    (ValueKind.FLOAT, ValueKind.FLOAT): _float_float,
    (ValueKind.FLOAT, ValueKind.DECIMAL): _float_decimal,
    (ValueKind.FLOAT, ValueKind.NUMERIC): _enough,
    (ValueKind.NUMERIC, ValueKind.NUMERIC): _float_float,
    (ValueKind.TEXT, ValueKind.TEXT): _text_text,
    (ValueKind.TEXT, ValueKind.LISTED): _enough,
    (ValueKind.XML, ValueKind.XML): _enough,
    (ValueKind.XML, ValueKind.TEXT): _text_text,
    (ValueKind.BYTES, ValueKind.BYTES): _bytes_bytes,
    (ValueKind.DATE, ValueKind.DATE): _enough,
    (ValueKind.DATE, ValueKind.MOMENT): _moment_moment,
    (ValueKind.TIME, ValueKind.TIME): _moment_moment,
    (ValueKind.MOMENT, ValueKind.MOMENT): _moment_moment,
    (ValueKind.ZONED, ValueKind.ZONED): _moment_moment,
    (ValueKind.BOOLEAN, ValueKind.BOOLEAN): _enough,
    (ValueKind.BOOLEAN, ValueKind.NUMERIC): _enough,
}
