"""Floats as the bodies of literals that read back as the same value to the last bit."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import FloatForm, Profile
from sqlgen.schema import Column, Doubles, RowMask, SqlType


def float_text(values: pa.Array, form: FloatForm) -> pa.Array:
    """The shortest text that reads back as the same value at the column's width, as the body of a
    literal of ``form``."""
    if form.widen:
        values = pc.cast(values, pa.float64())
    text = pc.cast(values, pa.string())
    if form.exponent:
        text = pc.if_else(
            pc.match_substring_regex(text, "[ein]"),
            text,
            pc.binary_join_element_wise(text, "e0", ""),
        )
    if not pc.all(pc.is_finite(values)).as_py():
        text = pc.replace_substring(
            pc.replace_substring(text, "inf", form.infinity), "nan", form.nan
        )
    return text


def float_body(values: pa.Array, form: FloatForm) -> pa.Array:
    """:func:`float_text`, but where the form has ``powers``, a double is written as a whole number
    and powers of two unless it is 15 digits times a power of ten up to 22 that lies well within
    what the double stands for.

    Each step of such an expression is exact in a double; a reader that multiplies by rounded powers
    of ten, or rounds twice (SQLite's, to 64 bits and then to 53), may miss the last bit of all
    others."""
    text = float_text(values, form)
    if not form.powers:
        return text
    numbers = np.abs(np.asarray(pc.fill_null(values, 0.0), np.float64))
    many, doubtful = _doubtful(numbers, text)
    chosen = (many & np.isfinite(numbers)) | doubtful
    if not chosen.any():
        return text
    return pc.if_else(pa.array(chosen), _by_powers(pc.cast(values, pa.float64()), chosen), text)


def may_be_misread(column: Column, profile: Profile) -> bool:
    """Whether a target that holds a column's decimals as doubles may make the next double of their
    digits. With up to four of them after the point, none is so near to the middle between two."""
    rounds = profile.floats[SqlType.DOUBLE].powers and column.type is SqlType.DECIMAL
    return rounds and column.scale > 4


def other_readings(bodies: pa.Array, column: Column, profile: Profile) -> pa.Array | None:
    """What follows the literals of decimals in a list that they are looked for in: the double that
    they stand for, where the target may make another one of their digits. A row that came another
    way has the one, and a row that came as digits the other. None where that cannot be."""
    if not may_be_misread(column, profile):
        return None
    text = pc.fill_null(bodies, "0")
    values = pc.cast(text, pa.float64())
    _, chosen = _doubtful(np.abs(np.asarray(values)), text)
    more = pc.binary_join_element_wise(", ", _by_powers(values, chosen), "")
    return pc.if_else(pa.array(chosen), more, "")


def _by_powers(values: pa.Array, chosen: RowMask) -> pa.Array:
    """The ``chosen`` doubles as whole numbers and powers of two."""
    numbers = np.where(chosen, np.abs(np.asarray(pc.fill_null(values, 1.0))), 1.0)
    fraction, exponent = np.frexp(numbers)
    whole = np.ldexp(fraction, 53).astype(np.int64)
    spare = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return pc.binary_join_element_wise(
        pc.if_else(pc.less(values, 0.0), "(-", "("),
        pc.cast(pa.array(whole >> spare), pa.string()),
        _powers_of_two().take(pa.array(exponent - 53 + spare + _LEAST_POWER)),
        "",
    )


def _doubtful(numbers: Doubles, text: pa.Array) -> tuple[RowMask, RowMask]:
    """Which numbers have more than 15 digits in their ``text``; and which of the others a reader
    that rounds more than once may miss by the last bit: those that no exact power of ten makes of
    their digits, and those that lie near to the middle between two doubles."""
    digits = pc.replace_substring_regex(text, "e.*|[-.]", "")
    digits = pc.utf8_trim(pc.replace_substring_regex(digits, "^0+", ""), "0")
    many = pc.fill_null(pc.greater(pc.utf8_length(digits), 15), False)
    many = many.to_numpy(zero_copy_only=False)
    some = ~many & np.isfinite(numbers) & (numbers > 0)
    doubtful = some & ((numbers > 1e22) | (numbers < 1e-7))
    short = some & ~doubtful
    if short.any():
        whole = pc.cast(digits.filter(pa.array(short)), pa.int64())
        doubtful[short] = _nearly_between(numbers[short], whole.to_numpy().astype(np.float64))
    return many, doubtful


def _nearly_between(numbers: Doubles, digits: Doubles) -> RowMask:
    """Which doubles stand for ``digits`` (up to 15) times a power of ten that lies so near to the
    middle between two doubles that rounding twice may take the other one. All steps but the last
    are exact."""
    power = np.rint(np.log10(digits) - np.log10(numbers))
    scale = _POWERS_OF_TEN[np.abs(power).astype(np.int64)]
    up = power >= 0  # digits / scale, else digits * scale
    one, other = np.where(up, numbers, digits), scale
    product = one * other
    high, low = _halves(one)
    high_other, low_other = _halves(other)
    rest = low * low_other - (((product - high * high_other) - low * high_other) - high * low_other)
    apart = np.where(up, (digits - product) - rest, (product - numbers) + rest)
    step = np.spacing(numbers) * np.where(up, scale, 1.0)
    return np.asarray(np.abs(apart) > (0.5 - 2.0**-10) * step)


def _halves(numbers: Doubles) -> tuple[Doubles, Doubles]:
    """Two doubles of 26 bits whose sum is the number (Veltkamp)."""
    shifted = numbers * (2.0**27 + 1)
    high = shifted - (shifted - numbers)
    return high, numbers - high


#: Those that a double holds.
_POWERS_OF_TEN = np.array([float(10**power) for power in range(23)])
_LEAST_POWER, _GREATEST_POWER = 1074, 1023


@lru_cache
def _powers_of_two() -> pa.Array:
    """What follows a whole number to give a double, for each power of two that one can have, in
    steps whose own digits are exact (up to 2 to the 62nd)."""

    def steps(power: int) -> str:
        most, rest = divmod(abs(power), 62)
        sign = "*" if power > 0 else "/"
        factors = [2**62] * most + ([2**rest] if rest else [])
        return ".0" + "".join(f"{sign}{factor}.0" for factor in factors) + ")"

    return pa.array([steps(power) for power in range(-_LEAST_POWER, _GREATEST_POWER + 1)])
