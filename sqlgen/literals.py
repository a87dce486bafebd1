"""Values -> SQL text, column by column. The only place where a value becomes SQL.

Every literal stays on one line: text with a backslash or a control character is written as an escape string, so a statement is a line and
its meaning does not hang on ``standard_conforming_strings``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import Profile
from sqlgen.schema import FLOATS, Column, SqlType

_NUMBERS = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT, SqlType.DECIMAL})
_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY})
_TIMESTAMPS = frozenset({SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ})

#: Length of ``YYYY-MM-DD HH:MM:SS``.
_SECONDS = 19
#: Bytes that make a text an escape string: control characters, backslash, DEL. NUL is a matter of policy.
_ESCAPED = np.zeros(256, bool)
_ESCAPED[:32] = True
_ESCAPED[[92, 127]] = True
_ESCAPES = {
    **{code: f"\\x{code:02x}" for code in (*range(32), 127)},
    **str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "''"}),
}


@dataclass(frozen=True)
class Policy:
    """What to do with values that a target cannot hold. ``nul``: refuse, strip or space (X'00' in text); ``timestamps``: refuse, truncate or round
    (more fraction digits than the target has); ``char_padding``: strip or keep (blanks at the end of CHAR)."""

    nul: str = "refuse"
    timestamps: str = "refuse"
    char_padding: str = "strip"


@dataclass(frozen=True)
class Problem:
    """A value that cannot be said: its row, its column, and what to tell the user."""

    row: int
    column: str
    found: str
    expected: str
    hint: str
    code: str = "LR3001"


@dataclass(frozen=True)
class Parts:
    """Literals taken apart: ``opening + body + closing`` is the literal of each row whose ``body`` is not null, and a null is ``NULL``.

    What is the same for all rows is kept out of the array, so that a statement is joined once and not a second time around each value.
    """

    opening: str
    body: pa.StringArray
    closing: str
    problems: list[Problem]

    def joined(self) -> pa.StringArray:
        """The literals themselves, ``NULL`` for null."""
        plain = not (self.opening or self.closing)
        text = self.body if plain else pc.binary_join_element_wise(self.opening, self.body, self.closing, "")
        return pc.fill_null(text, "NULL") if text.null_count else text


def literals(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> tuple[pa.StringArray, list[Problem]]:
    """The literal of each value (``NULL`` for null) and the rows that have none; their literal must not be used."""
    parts = literal_parts(values, column, profile, policy)
    return parts.joined(), parts.problems


def literal_parts(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> Parts:
    """As :func:`literals`, before the parts are joined."""
    kind = column.type
    if kind in _NUMBERS:
        return Parts("", values if kind is SqlType.DECIMAL else pc.cast(values, pa.string()), "", [])
    if kind in FLOATS:
        return Parts("'", float_text(values), "'", [])
    if kind in _BYTES:
        return Parts("'\\x", _hexadecimal(values), "'::bytea", [])
    if kind in _TIMESTAMPS:
        shown, problems = _timestamps(values, column, profile, policy)
        return Parts("'", shown, "'", problems)
    if kind in (SqlType.DATE, SqlType.TIME):
        return Parts("'", values, "'", [])
    return _characters(values, column, profile, policy)


def float_text(values: pa.Array) -> pa.Array:
    """The shortest text that reads back as the same value at the column's width; Infinity and NaN by name."""
    text = pc.cast(values, pa.string())
    if not pc.all(pc.is_finite(values)).as_py():
        text = pc.replace_substring(pc.replace_substring(text, "inf", "Infinity"), "nan", "NaN")
    return text


def _hexadecimal(values: pa.Array) -> pa.Array:
    binary = values.cast(pa.binary())
    _, offsets, data = binary.buffers()
    bounds = np.frombuffer(offsets, np.int32)[binary.offset : binary.offset + len(binary) + 1].astype(np.int64)
    raw = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]] if data is not None else np.zeros(0, np.uint8)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    pairs = np.empty((len(raw), 2), np.uint8)
    pairs[:, 0], pairs[:, 1] = digits[raw >> 4], digits[raw & 15]
    places = ((bounds - bounds[0]) * 2).astype(np.int32)
    text = pa.StringArray.from_buffers(len(values), pa.py_buffer(places), pa.py_buffer(pairs))
    return pc.if_else(values.is_null(), pa.scalar(None, pa.string()), text) if values.null_count else text


def _bytes_of(text: pa.Array) -> npt.NDArray[np.uint8]:
    """All characters of a string array, as bytes."""
    _, offsets, data = text.buffers()
    if data is None or len(text) == 0:
        return np.zeros(0, np.uint8)
    bounds = np.frombuffer(offsets, np.int32)
    return np.frombuffer(data, np.uint8)[bounds[text.offset] : bounds[text.offset + len(text)]]


def _characters(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> Parts:
    problems: list[Problem] = []
    if column.type is SqlType.CHAR and policy.char_padding == "strip":
        values = pc.utf8_rtrim(values, " ")
    raw = _bytes_of(values)
    special = _ESCAPED[raw].any()
    if special and not profile.null_byte and (raw == 0).any():
        values, problems = _without_nul(values, column, profile, policy)
    body = pc.replace_substring(values, "'", "''") if (raw == 39).any() else values
    if not special:
        return Parts("'", body, "'", problems)
    quoted = pc.binary_join_element_wise("'", body, "'", "")
    return Parts("", _escape_strings(values, quoted), "", problems)


def _without_nul(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> tuple[pa.Array, list[Problem]]:
    if policy.nul != "refuse":
        return pc.replace_substring(values, "\0", " " if policy.nul == "space" else ""), []
    rows = np.flatnonzero(pc.fill_null(pc.match_substring(values, "\0"), False).to_numpy(zero_copy_only=False))
    hint = "Say what to do with it: --nul strip or --nul space"
    problems = [
        Problem(int(row), column.name, f"a NUL character in {_shown(values[int(row)].as_py())}", f"text that {profile.name} can hold", hint)
        for row in rows
    ]
    return pc.replace_substring(values, "\0", ""), problems


def _escape_strings(plain: pa.Array, text: pa.Array) -> pa.Array:
    """Replace the literals of texts with control characters or backslashes by escape strings. Such texts are few; each is written on its own."""
    wild = pc.fill_null(pc.match_substring_regex(plain, r"[\x00-\x1f\x7f\\]"), False).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(wild)
    made = pa.array([f"E'{value.translate(_ESCAPES)}'" for value in plain.take(pa.array(rows)).to_pylist()], pa.string())
    return pc.replace_with_mask(text, pa.array(wild), made)


def _shown(text: str) -> str:
    shown = ascii(text[:40])
    return shown if len(text) <= 40 else f"{shown}…"


def _timestamps(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> tuple[pa.Array, list[Problem]]:
    """Timestamps cut to the digits the target has; a value that would lose something is a problem, cut or rounded, as the policy says."""
    problems: list[Problem] = []
    zone = column.type is SqlType.TIMESTAMP_TZ
    shown = values
    if column.length > profile.time_digits:
        kept = _SECONDS + 1 + profile.time_digits
        end = _SECONDS + 1 + column.length
        shown = pc.utf8_slice_codeunits(values, 0, kept)
        lost = pc.fill_null(pc.match_substring_regex(pc.utf8_slice_codeunits(values, kept, end), "[1-9]"), False)
        rows = np.flatnonzero(lost.to_numpy(zero_copy_only=False))
        if policy.timestamps == "round" and len(rows):
            rounded = pa.array([round_timestamp(values[int(row)].as_py()[:end], profile.time_digits) for row in rows], pa.string())
            shown = pc.replace_with_mask(shown, lost, rounded)
        elif policy.timestamps == "refuse":
            hint = "Say what to do with it: --timestamps truncate or --timestamps round"
            expected = f"no more than {profile.time_digits} fraction digits in {profile.name}"
            problems = [Problem(int(row), column.name, str(values[int(row)].as_py()), expected, hint) for row in rows]
        if zone:
            shown = pc.binary_join_element_wise(shown, pc.utf8_slice_codeunits(values, end), "")
    if zone:
        hours = pc.cast(pc.utf8_slice_codeunits(values, -5, -3), pa.int64())
        for row in np.flatnonzero(pc.fill_null(pc.greater(hours, profile.zone_hours), False).to_numpy(zero_copy_only=False)):
            expected = f"an offset within {profile.zone_hours} hours in {profile.name}"
            problems.append(
                Problem(int(row), column.name, str(values[int(row)].as_py()), expected, "Leave the column out (--exclude-columns)")
            )
    return shown, problems


def round_timestamp(text: str, digits: int) -> str:
    """``YYYY-MM-DD HH:MM:SS.f…`` rounded half up to ``digits`` fraction digits; year 9999 is not carried beyond its last moment."""
    from datetime import datetime, timedelta

    whole, fraction = text.split(".")
    value = int(fraction[:digits]) + (fraction[digits] >= "5")
    if value < 10**digits:
        return f"{whole}.{value:0{digits}d}"
    moment = datetime.strptime(whole, "%Y-%m-%d %H:%M:%S")
    if moment == datetime(9999, 12, 31, 23, 59, 59):
        return f"{whole}.{'9' * digits}"
    return f"{(moment + timedelta(seconds=1)).isoformat(sep=' ')}.{'0' * digits}"
