"""Values in the one form in which they are compared: text that is equal where the values are.

The form hangs on the column's type in the log (or, where no log knows the table, on the family of
the target's type), never on how the target holds it, so a value that the target rounded, padded,
re-encoded or cut has another text. Zeros at the end of a fraction and blanks at the end of CHAR do
not count, and neither does the zone that a moment is written in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Mask
from replay.csv_states.state_values import state_values
from replay.errors import InputError, Where
from sqlgen.dialects import Profile
from sqlgen.literals import Policy, plain_texts
from sqlgen.schema import Column, SqlType

_NUMBERS = frozenset(
    {SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT, SqlType.DECIMAL, SqlType.DECFLOAT}
)
_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
#: Types of which targets may lack values.
_SHAPED = frozenset(
    {SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ, SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB}
)
_TRUTH = {"t": "true", "true": "true", "1": "true", "f": "false", "false": "false", "0": "false"}
#: Longest number that is written without an exponent, and arithmetic that rounds nothing.
_DIGITS = 400
_EXACT = Context(prec=200_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True)
class ComparedColumn:
    """A column as it is compared: its ``name`` in the target, and the ``column`` that says its
    type. ``logged``: the type is the log's; ``mask``: what makes the target's values of the
    log's."""

    name: str
    column: Column
    logged: bool = True
    mask: Callable[[pa.Array], pa.Array] | None = None

    @property
    def type(self) -> SqlType:
        """The type that the form hangs on."""
        return self.column.type


def of_texts(texts: pa.Array, kind: SqlType) -> pa.Array:
    """Texts as a state's file or a target has them (null stays null) -> comparable texts. A text
    that is no value of the type stays as it is."""
    form = _FORMS.get(kind)
    return texts if form is None else form(texts)


def of_values(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> pa.Array:
    """Values by the contract of :mod:`sqlgen.schema`, as the policy has them written for the
    target -> comparable texts."""
    kind = column.type
    if kind in (SqlType.REAL, SqlType.DOUBLE):
        return _of_floats(values)
    if kind is SqlType.BOOLEAN:
        return pc.if_else(values, "true", "false")
    texts, _ = plain_texts(values, column, profile, policy)
    return of_texts(texts, kind)


def of_state(texts: pa.Array, column: Column, profile: Profile, policy: Policy) -> pa.Array:
    """Texts of a state's file -> comparable texts: as those of values, where they are such of the
    column and the policy may say what becomes of them."""
    if column.type in _SHAPED:
        with suppress(InputError):
            return of_values(
                state_values(texts, column, lambda _: Where()), column, profile, policy
            )
    return of_texts(texts, column.type)


# -- forms
# -------------------------------------------------------------------------------------------------


def _numbers(texts: pa.Array) -> pa.Array:
    """Digits without zeros that do not count; other ways of writing a number one by one."""
    plain = pc.match_substring_regex(texts, r"^-?\d+(\.\d+)?$")
    plain = pc.and_(plain, pc.less(pc.utf8_length(texts), _DIGITS))
    plain = pc.fill_null(plain, True)
    shortened = pc.replace_substring_regex(texts, r"^(-?)0+(\d)", r"\1\2")
    fraction = pc.match_substring(shortened, ".")
    if pc.any(fraction).as_py():
        cut = pc.utf8_rtrim(pc.utf8_rtrim(shortened, "0"), ".")
        shortened = pc.if_else(fraction, cut, shortened)
    shortened = pc.if_else(pc.equal(shortened, "-0"), "0", shortened)
    return _one_by_one(shortened, texts, plain, _number)


def _number(text: str) -> str:
    if re.match(r"^-?0\d", text.strip()) and "e" not in text.lower():
        return text
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    if not value.is_finite():
        return str(value).replace("Infinity", "infinity").replace("NaN", "nan")
    if not value:
        return "0"
    exponent = value.adjusted()
    normal = value.normalize(_EXACT)
    return format(normal, "f") if abs(exponent) < _DIGITS else str(normal)


def _of_floats(values: pa.Array) -> pa.Array:
    """The shortest text that reads back as the same value; both zeros are one."""
    texts = pc.cast(pc.add(values, pa.scalar(0.0, values.type)), pa.string())
    return pc.if_else(pc.equal(texts, "-0"), "0", texts)


def _parsed(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """(values, null where a text is no number; which are)."""
    known = pc.replace_substring_regex(pc.utf8_lower(texts), "infinity", "inf")
    good = pc.fill_null(
        pc.match_substring_regex(known, r"^-?(\d+\.?\d*(e[+-]?\d+)?|\.\d+|inf|nan)$"), True
    )
    return pc.cast(pc.if_else(good, known, pa.scalar(None, pa.string())), pa.float64()), good


def _doubles(texts: pa.Array) -> pa.Array:
    values, good = _parsed(texts)
    return pc.if_else(good, _of_floats(values), texts)


def _reals(texts: pa.Array) -> pa.Array:
    """A single, whether it is written with its own digits or with those of its double; a double
    that is neither stays one, and so differs."""
    values, good = _parsed(texts)
    single = pc.cast(values, pa.float32(), safe=False)
    short = _of_floats(single)
    same = pc.or_(
        pc.equal(pc.cast(single, pa.float64()), values), pc.equal(_parsed(short)[0], values)
    )
    same = pc.or_(same, pc.is_nan(values))
    return pc.if_else(good, pc.if_else(same, short, _of_floats(values)), texts)


def _booleans(texts: pa.Array) -> pa.Array:
    lower = pc.utf8_lower(texts)
    words = texts
    for word, meant in _TRUTH.items():
        words = pc.if_else(pc.equal(lower, word), meant, words)
    return words


def _octets(texts: pa.Array) -> pa.Array:
    return pc.if_else(pc.starts_with(texts, "\\x"), pc.utf8_lower(texts), texts)


def _days(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, r"^(\d{4}-\d\d-\d\d) 00:00:00(\.0+)?$", r"\1")


def _clock(texts: pa.Array) -> pa.Array:
    """Without zeros at the end of a fraction."""
    fraction = pc.match_substring(texts, ".")
    if not pc.any(fraction).as_py():
        return texts
    return pc.if_else(fraction, pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), "."), texts)


def _timestamps(texts: pa.Array) -> pa.Array:
    texts = pc.replace_substring_regex(texts, r"^(\d{4}-\d\d-\d\d)T", r"\1 ")
    days = pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d$")
    if pc.any(days).as_py():
        texts = pc.if_else(days, pc.binary_join_element_wise(texts, " 00:00:00", ""), texts)
    return _clock(texts)


_ZONED = (
    r"^(?P<day>\d{4}-\d\d-\d\d)[ T](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
    r"(?:\.(?P<fraction>\d*))? ?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)$"
)


def _moments(texts: pa.Array) -> pa.Array:
    """The moment in UTC."""
    good = pc.fill_null(pc.match_substring_regex(texts, _ZONED), True)
    parts = pc.extract_regex(pc.if_else(good, texts, pa.scalar(None, pa.string())), pattern=_ZONED)
    there = parts.is_valid().to_numpy(zero_copy_only=False)
    if not there.any():
        return texts
    fields = {
        name: pc.fill_null(pc.struct_field(parts, name), "") for name in
        ("day", "hour", "minute", "second", "fraction", "zone")
    }  # fmt: skip
    day = np.array(pc.if_else(pc.equal(fields["day"], ""), "2000-01-01", fields["day"]))
    seconds = np.zeros(len(texts), np.int64)
    for name, factor in (("hour", 3600), ("minute", 60), ("second", 1)):
        seconds += _whole(fields[name]) * factor
    zone = pc.if_else(pc.equal(fields["zone"], "Z"), "+00", fields["zone"])
    digits = pc.replace_substring_regex(zone, r"[+:-]", "")
    shift = _whole(pc.utf8_slice_codeunits(digits, 0, 2)) * 3600
    shift += _whole(pc.utf8_slice_codeunits(digits, 2, 4)) * 60
    negative = pc.starts_with(zone, "-").to_numpy(zero_copy_only=False)
    seconds -= np.where(negative, -shift, shift)
    moment = day.astype("datetime64[s]") + seconds.astype("timedelta64[s]")
    text = pa.array(np.char.replace(np.datetime_as_string(moment, unit="s"), "T", " "))
    fraction = pc.utf8_rtrim(fields["fraction"], "0")
    whole = pc.binary_join_element_wise(text.cast(pa.string()), fraction, ".")
    whole = pc.utf8_rtrim(whole, ".")
    return pc.if_else(pa.array(there), whole, texts)


def _whole(texts: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    filled = pc.if_else(pc.equal(texts, ""), "0", texts)
    return np.asarray(pc.cast(filled, pa.int64()))


def _one_by_one(
    converted: pa.Array, texts: pa.Array, plain: pa.Array, form: Callable[[str], str]
) -> pa.Array:
    """``found``, but ``form`` of the texts that are not ``plain``."""
    odd: Mask = ~plain.to_numpy(zero_copy_only=False)
    if not odd.any():
        return converted
    forms = [form(texts[int(row)].as_py()) for row in np.flatnonzero(odd)]
    return pc.replace_with_mask(converted, pa.array(odd), pa.array(forms, pa.string()))


_FORMS: dict[SqlType, Callable[[pa.Array], pa.Array]] = {
    **dict.fromkeys(_NUMBERS, _numbers),
    **dict.fromkeys(_BYTES, _octets),
    SqlType.REAL: _reals,
    SqlType.DOUBLE: _doubles,
    SqlType.BOOLEAN: _booleans,
    SqlType.CHAR: lambda texts: pc.utf8_rtrim(texts, " "),
    SqlType.DATE: _days,
    SqlType.TIME: _clock,
    SqlType.TIMESTAMP: _timestamps,
    SqlType.TIMESTAMP_TZ: _moments,
}
