"""Values against what a column of an existing database holds, where its type alone does not tell:
a shorter text, a smaller whole number, a character set that lacks characters."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.literals import Policy, ValueProblem, shown_value
from sqlgen.schema import Column, SqlType

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
