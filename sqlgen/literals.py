"""Values -> SQL text, column by column. The only place where a value becomes SQL.

Every literal stays on one line, so a statement is a line: text with a control character, or with a
character whose meaning hangs on the session (a backslash mostly), is written as an escape string or
put together from pieces, as the dialect's :class:`TextForm` says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.choices import (
    EmptyTextPolicy,
    MidnightPolicy,
    NulPolicy,
    PaddingPolicy,
    RealPolicy,
    TimestampPolicy,
)
from sqlgen.dialects import FloatForm, Profile, TextForm
from sqlgen.errors import settle_choices
from sqlgen.schema import FLOATS, Codes, Column, Doubles, RowMask, SqlType

_BYTES = frozenset({SqlType.BINARY, SqlType.VARBINARY, SqlType.BLOB})
_MOMENTS = frozenset({SqlType.TIME, SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ})
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB, SqlType.XML})

#: Length of ``YYYY-MM-DD HH:MM:SS``.
_SECONDS = 19
#: Pieces of a text joined in one row; more are joined in a tree, because databases limit how deep
#: an expression may be.
_MOST_PIECES = 50
#: How hints begin that name a policy.
_CHOOSE = "Say what to do with it: "


@dataclass(frozen=True)
class Policy:
    """What to do with values that a target cannot hold. ``nul``: refuse, strip or space (X'00' in
    text); ``timestamps``: refuse, truncate or round (more fraction digits than the target has);
    ``char_padding``: strip or keep (blanks at the end of CHAR); ``midnight``: refuse or next (hour
    24 becomes hour 0, of the next day in a timestamp); ``empty_text``: refuse, null or space (where
    the target takes '' for NULL); ``reals``: single or double (what hexadecimal floats of REAL
    become). SqlgenError (LR1001) for any other word.
    """

    nul: NulPolicy = NulPolicy.REFUSE
    timestamps: TimestampPolicy = TimestampPolicy.REFUSE
    char_padding: PaddingPolicy = PaddingPolicy.STRIP
    midnight: MidnightPolicy = MidnightPolicy.REFUSE
    empty_text: EmptyTextPolicy = EmptyTextPolicy.REFUSE
    reals: RealPolicy = RealPolicy.SINGLE

    def of_keys(self) -> Policy:
        """What holds for the columns of a key, of which no value may become another."""
        return replace(
            self,
            nul=NulPolicy.REFUSE,
            timestamps=TimestampPolicy.REFUSE,
            midnight=MidnightPolicy.REFUSE,
        )

    def __post_init__(self) -> None:
        settle_choices(
            self,
            nul=NulPolicy,
            timestamps=TimestampPolicy,
            char_padding=PaddingPolicy,
            midnight=MidnightPolicy,
            empty_text=EmptyTextPolicy,
            reals=RealPolicy,
        )


@dataclass(frozen=True)
class ValueProblem:
    """A value that cannot be said: its row, its column, and what to tell the user."""

    row: int
    column: str
    found: str
    expected: str
    hint: str
    code: str = "LR3001"


@dataclass(frozen=True)
class LiteralParts:
    """Literals taken apart: ``opening + body + closing`` is the literal of each row whose ``body``
    is not null, and a null is ``NULL``.

    What is the same for all rows is kept out of the array, so that a statement is joined once and
    not a second time around each value.
    """

    opening: str
    body: pa.StringArray
    closing: str
    problems: list[ValueProblem]

    def joined(self) -> pa.StringArray:
        """The literals themselves, ``NULL`` for null."""
        plain = not (self.opening or self.closing)
        text = (
            self.body
            if plain
            else pc.binary_join_element_wise(self.opening, self.body, self.closing, "")
        )
        return pc.fill_null(text, "NULL") if text.null_count else text


def literals(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.StringArray, list[ValueProblem]]:
    """The literal of each value (``NULL`` for null) and the rows that have none; their literal must
    not be used."""
    parts = literal_parts(values, column, profile, policy)
    return parts.joined(), parts.problems


def literal_parts(
    values: pa.Array, column: Column, profile: Profile, policy: Policy, in_key: bool = False
) -> LiteralParts:
    """As :func:`literals`, before the parts are joined. A text that the policy turns into NULL is
    null in ``body``. ``in_key``: two values must not become one, so none is changed."""
    if in_key and policy != policy.of_keys():
        parts = literal_parts(values, column, profile, policy.of_keys())
        return replace(parts, problems=[_of_key(problem) for problem in parts.problems])
    kind = column.type
    if kind in _TEXTS:
        return _characters(values, column, profile, policy)
    if kind in FLOATS:
        return _floats(values, column, profile, profile.floats[kind])
    form = profile.form_of(column)
    if kind is SqlType.BOOLEAN:
        return LiteralParts(form.opening, pc.if_else(values, *profile.booleans), form.closing, [])
    if kind in _BYTES:
        if profile.empty_is_null and policy.empty_text == "null":
            values = _without_empty(values)
        problems = _empty_or_long(values, column, profile)
        return LiteralParts(form.opening, hexadecimal(values), form.closing, problems)
    if kind in _MOMENTS and kind not in profile.as_text:
        shown, problems = _moments(values, column, profile, policy)
        return LiteralParts(form.opening, shown, form.closing, problems)
    return LiteralParts(
        form.opening,
        values if pa.types.is_string(values.type) else pc.cast(values, pa.string()),
        form.closing,
        [],
    )


def plain_texts(
    values: pa.Array, column: Column, profile: Profile, policy: Policy, in_key: bool = False
) -> tuple[pa.Array, list[ValueProblem]]:
    """Values as text that the target's types read, without quotes and escapes (null stays null),
    and the rows that have none. ``in_key`` as in :func:`literal_parts`."""
    if in_key and policy != policy.of_keys():
        values, problems = plain_texts(values, column, profile, policy.of_keys())
        return values, [_of_key(problem) for problem in problems]
    kind = column.type
    if kind in _TEXTS:
        if kind is SqlType.CHAR and policy.char_padding == "strip":
            values = pc.utf8_rtrim(values, " ")
        if not profile.null_byte and (as_bytes(values) == 0).any():
            return _without_nul(values, column, profile, policy)
        return values, []
    if kind in FLOATS:
        return float_text(values, profile.floats[kind]), []
    if kind is SqlType.BOOLEAN:
        return pc.if_else(values, "t", "f"), []
    if kind in _BYTES:
        return pc.binary_join_element_wise("\\x", hexadecimal(values), ""), []
    if kind in _MOMENTS and kind not in profile.as_text:
        return _moments(values, column, profile, policy)
    return values if pa.types.is_string(values.type) else pc.cast(values, pa.string()), []


def _floats(values: pa.Array, column: Column, profile: Profile, form: FloatForm) -> LiteralParts:
    problems: list[ValueProblem] = []
    if not (form.infinity and form.nan) and not pc.all(pc.is_finite(values)).as_py():
        wrong = pc.or_(
            pc.and_(pc.is_inf(values), not form.infinity), pc.and_(pc.is_nan(values), not form.nan)
        )
        problems = _problems(
            values,
            wrong,
            column,
            f"a number that {profile.name} can hold",
            "Leave the column out (--exclude-columns)",
        )
    return LiteralParts(form.opening, float_body(values, form), form.closing, problems)


def _of_key(problem: ValueProblem) -> ValueProblem:
    if not problem.hint.startswith(_CHOOSE):
        return problem
    hint = (
        "It is of a key, and changed it may be another row's: leave the table out (--exclude-table)"
    )
    return replace(problem, hint=hint)


def _problems(
    values: pa.Array, wrong: pa.Array, column: Column, expected: str, hint: str
) -> list[ValueProblem]:
    """A problem for each row where ``wrong`` is true."""
    rows = np.flatnonzero(pc.fill_null(wrong, False).to_numpy(zero_copy_only=False))
    return [
        ValueProblem(int(row), column.name, shown_value(values[int(row)].as_py()), expected, hint)
        for row in rows
    ]


def _empty_or_long(values: pa.Array, column: Column, profile: Profile) -> list[ValueProblem]:
    """Bytes that the target takes for NULL, and literals that are too long for it."""
    problems: list[ValueProblem] = []
    hint = "Leave the column out (--exclude-columns)"
    if profile.empty_is_null:
        problems += _problems(
            values,
            pc.equal(pc.binary_length(values), 0),
            column,
            f"a value that {profile.name} does not take for NULL",
            f"Take it for NULL (--empty-text null), or {hint[0].lower()}{hint[1:]}",
        )
    most = profile.text.most_bytes
    if most:
        long = pc.greater(pc.multiply(pc.binary_length(values), 2), most)  # in hexadecimal
        expected = f"a literal of at most {most:,} bytes in {profile.name}"
        problems += _problems(values, long, column, expected, hint)
    return problems


def hexadecimal(values: pa.Array) -> pa.Array:
    """Bytes as lower-case hexadecimal digits; null stays null."""
    binary = values.cast(pa.binary())
    _, offsets, data = binary.buffers()
    bounds = np.frombuffer(offsets, np.int32)[
        binary.offset : binary.offset + len(binary) + 1
    ].astype(np.int64)
    raw = (
        np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
        if data is not None
        else np.zeros(0, np.uint8)
    )
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    pairs = np.empty((len(raw), 2), np.uint8)
    pairs[:, 0], pairs[:, 1] = digits[raw >> 4], digits[raw & 15]
    places = ((bounds - bounds[0]) * 2).astype(np.int32)
    text = pa.StringArray.from_buffers(len(values), pa.py_buffer(places), pa.py_buffer(pairs))
    return (
        pc.if_else(values.is_null(), pa.scalar(None, pa.string()), text)
        if values.null_count
        else text
    )


def as_bytes(text: pa.Array) -> Codes:
    """All characters of a string array, as bytes."""
    _, offsets, data = text.buffers()
    if data is None or len(text) == 0:
        return np.zeros(0, np.uint8)
    bounds = np.frombuffer(offsets, np.int32)
    return np.frombuffer(data, np.uint8)[bounds[text.offset] : bounds[text.offset + len(text)]]


@lru_cache(maxsize=64)
def special_bytes(form: TextForm) -> RowMask:
    """Which bytes make a text special, so that its literal is put together on its own."""
    special = np.zeros(256, bool)
    special[:32] = True
    special[[127, *map(ord, form.special)]] = True
    return special


def _special_pattern(form: TextForm) -> str:
    """Finds such bytes."""
    return rf"[\x00-\x1f\x7f{re.escape(form.special)}]"


def _characters(values: pa.Array, column: Column, profile: Profile, policy: Policy) -> LiteralParts:
    problems: list[ValueProblem] = []
    form = profile.text
    if column.type is SqlType.CHAR and policy.char_padding == "strip":
        values = pc.utf8_rtrim(values, " ")
    if profile.empty_is_null:
        values, problems = _empty_texts(values, column, profile, policy)
    raw = as_bytes(values)
    special = special_bytes(form)[raw].any()
    if special and not profile.null_byte and (raw == 0).any():
        values, nul_problems = _without_nul(values, column, profile, policy)
        problems += nul_problems
    if form.most_bytes and len(raw) > form.most_bytes:
        expected = f"a literal of at most {form.most_bytes:,} bytes in {profile.name}"
        hint = "Leave the column out (--exclude-columns)"
        problems += _problems(
            values, pc.greater(pc.binary_length(values), form.most_bytes), column, expected, hint
        )
    body = pc.replace_substring(values, "'", form.quote) if (raw == 39).any() else values
    if not special:
        return LiteralParts(form.form.opening, body, form.form.closing, problems)
    if form.escaped is None and not form.character:
        wild = pc.match_substring_regex(values, _special_pattern(form))
        expected = f"a text without control characters, which {profile.name} has no way to write"
        problems += _problems(
            values, wild, column, expected, "Leave the column out (--exclude-columns)"
        )
        return LiteralParts(form.form.opening, body, form.form.closing, problems)
    quoted = pc.binary_join_element_wise(form.form.opening, body, form.form.closing, "")
    return LiteralParts("", _special_texts(values, quoted, column, profile), "", problems)


def _without_empty(values: pa.Array) -> pa.Array:
    """Values with NULL in place of empty ones."""
    empty = pc.equal(pc.binary_length(values), 0)
    return pc.if_else(empty, pa.scalar(None, values.type), values)


def _empty_texts(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.Array, list[ValueProblem]]:
    """Where '' is NULL: a CHAR gets one blank, which its padding would have had anyway; of other
    texts the policy says what becomes of them."""
    empty = pc.equal(pc.binary_length(values), 0)
    if not pc.any(empty).as_py():
        return values, []
    if column.type is SqlType.CHAR or policy.empty_text == "space":
        return pc.if_else(empty, " ", values), []
    if policy.empty_text == "null":
        return _without_empty(values), []
    hint = f"{_CHOOSE}--empty-text null or --empty-text space"
    return values, _problems(
        values, empty, column, f"a text that {profile.name} does not take for NULL", hint
    )


def _without_nul(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.Array, list[ValueProblem]]:
    if policy.nul != "refuse":
        return pc.replace_substring(values, "\0", " " if policy.nul == "space" else ""), []
    rows = np.flatnonzero(
        pc.fill_null(pc.match_substring(values, "\0"), False).to_numpy(zero_copy_only=False)
    )
    hint = f"{_CHOOSE}--nul strip or --nul space"
    problems = [
        ValueProblem(
            int(row),
            column.name,
            f"a NUL character in {shown_value(values[int(row)].as_py())}",
            f"text that {profile.name} can hold",
            hint,
        )
        for row in rows
    ]
    return pc.replace_substring(values, "\0", ""), problems


def _special_texts(plain: pa.Array, text: pa.Array, column: Column, profile: Profile) -> pa.Array:
    """Replace the literals of texts with special characters. Such texts are few; each is written on
    its own."""
    form = profile.text
    wild = pc.fill_null(pc.match_substring_regex(plain, _special_pattern(form)), False).to_numpy(
        zero_copy_only=False
    )
    rows = np.flatnonzero(wild)
    write = _escaped if form.escaped is not None else _joined
    literals = [write(value, form) for value in plain.take(pa.array(rows)).to_pylist()]
    if (
        form.escaped is None
        and profile.pads_char
        and column.type is SqlType.CHAR
        and profile.empty_is_null
    ):
        literals = [
            f"CAST({value} AS CHAR({column.length} CHAR))" for value in literals
        ]  # else a VARCHAR2, compared without padding
    return pc.replace_with_mask(text, pa.array(wild), pa.array(literals, pa.string()))


@lru_cache(maxsize=64)
def _escapes(form: TextForm) -> dict[int, str]:
    controls = {
        code: form.control.format(code)
        for code in (*range(32), 127, *(ord(character) for character in form.special))
    }
    return {
        **controls,
        **str.maketrans(
            {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": form.escaped_quote}
        ),
    }


def _escaped(value: str, form: TextForm) -> str:
    assert form.escaped is not None
    return form.escaped.opening + value.translate(_escapes(form)) + form.escaped.closing


def _joined(value: str, form: TextForm) -> str:
    """``'a' || CHR(10) || 'b'``: the plain stretches of a text as literals, each special character
    by its code."""
    pieces = []
    for number, piece in enumerate(re.split(f"({_special_pattern(form)})", value)):
        if number % 2:
            pieces.append(form.character.format(ord(piece)))
        elif piece:
            pieces.append(form.form.opening + piece.replace("'", form.quote) + form.form.closing)
    while len(pieces) > _MOST_PIECES:
        groups = [
            pieces[place : place + _MOST_PIECES] for place in range(0, len(pieces), _MOST_PIECES)
        ]
        pieces = [
            f"({form.joined.opening}{form.joiner.join(group)}{form.joined.closing})"
            for group in groups
        ]
    return form.joined.opening + form.joiner.join(pieces) + form.joined.closing


def shown_value(value: object) -> str:
    """A value for a message, cut where it is long."""
    if not isinstance(value, str):
        return (
            str(value)
            if not isinstance(value, bytes)
            else f"{len(value):,} bytes X'{value[:20].hex()}'"
        )
    shown = ascii(value[:40])
    return shown if len(value) <= 40 else f"{shown}…"


def _moments(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.Array, list[ValueProblem]]:
    """Times and timestamps as the target can hold them, and the values of which something would be
    lost."""
    problems: list[ValueProblem] = []
    if column.type not in profile.hour_24:
        values, problems = _midnights(values, column, profile, policy)
    if column.type is SqlType.TIME:
        return values, problems
    shown, timestamp_problems = _timestamps(values, column, profile, policy)
    return shown, problems + timestamp_problems


def _midnights(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.Array, list[ValueProblem]]:
    place = 0 if column.type is SqlType.TIME else 11
    late = pc.fill_null(pc.equal(pc.utf8_slice_codeunits(values, place, place + 2), "24"), False)
    if not pc.any(late).as_py():
        return values, []
    last = pc.and_(late, pc.starts_with(values, "9999-12-31"))
    problems = _problems(
        values,
        last,
        column,
        "a day before the last one",
        "Leave the column out (--exclude-columns)",
    )
    if policy.midnight == "refuse":
        hint = f"{_CHOOSE}--midnight next"
        return values, _problems(values, late, column, f"an hour up to 23 in {profile.name}", hint)
    rows = np.flatnonzero(pc.and_(late, pc.invert(last)).to_numpy(zero_copy_only=False))
    next_days = [_next_midnight(values[int(row)].as_py()) for row in rows]
    mask = np.zeros(len(values), bool)
    mask[rows] = True
    return pc.replace_with_mask(values, pa.array(mask), pa.array(next_days, pa.string())), problems


def _next_midnight(text: str) -> str:
    from datetime import date, timedelta

    if len(text) == len("24:00:00"):
        return "00:00:00"
    return f"{date.fromisoformat(text[:10]) + timedelta(days=1)} 00{text[13:]}"


def _timestamps(
    values: pa.Array, column: Column, profile: Profile, policy: Policy
) -> tuple[pa.Array, list[ValueProblem]]:
    """Timestamps cut to the digits the target has; a value that would lose something is a problem,
    cut or rounded, as the policy says."""
    problems: list[ValueProblem] = []
    zone = column.type is SqlType.TIMESTAMP_TZ
    shown = pc.utf8_slice_codeunits(values, 0, -6) if zone else values
    if column.length > profile.time_digits:
        kept = _SECONDS + 1 + profile.time_digits
        end = _SECONDS + 1 + column.length
        shown = pc.utf8_slice_codeunits(values, 0, kept)
        lost = pc.fill_null(
            pc.match_substring_regex(pc.utf8_slice_codeunits(values, kept, end), "[1-9]"), False
        )
        rows = np.flatnonzero(lost.to_numpy(zero_copy_only=False))
        if policy.timestamps == "round" and len(rows):
            rounded = pa.array(
                [
                    round_timestamp(values[int(row)].as_py()[:end], profile.time_digits)
                    for row in rows
                ],
                pa.string(),
            )
            shown = pc.replace_with_mask(shown, lost, rounded)
        elif policy.timestamps == "refuse":
            hint = f"{_CHOOSE}--timestamps truncate or --timestamps round"
            expected = f"no more than {profile.time_digits} fraction digits in {profile.name}"
            problems = [
                ValueProblem(int(row), column.name, str(values[int(row)].as_py()), expected, hint)
                for row in rows
            ]
    if zone:
        offset = pc.utf8_slice_codeunits(values, -6)
        shown = pc.binary_join_element_wise(shown, offset, " " if profile.zone_space else "")
        minutes = pc.add(
            pc.multiply(pc.cast(pc.utf8_slice_codeunits(offset, 1, 3), pa.int64()), 60),
            pc.cast(pc.utf8_slice_codeunits(offset, 4, 6), pa.int64()),
        )
        limit = pc.if_else(pc.starts_with(offset, "-"), *profile.zone_minutes)
        west, east = (f"{limit // 60:02d}:{limit % 60:02d}" for limit in profile.zone_minutes)
        expected = f"an offset within -{west} and +{east} in {profile.name}"
        for row in np.flatnonzero(
            pc.fill_null(pc.greater(minutes, limit), False).to_numpy(zero_copy_only=False)
        ):
            problems.append(
                ValueProblem(
                    int(row),
                    column.name,
                    str(values[int(row)].as_py()),
                    expected,
                    "Leave the column out (--exclude-columns)",
                )
            )
    return shown, problems


def round_timestamp(text: str, digits: int) -> str:
    """``YYYY-MM-DD HH:MM:SS.f…`` rounded half up to ``digits`` fraction digits; year 9999 is not
    carried beyond its last moment."""
    from datetime import datetime, timedelta

    whole, fraction = text.split(".")
    value = int(fraction[:digits]) + (fraction[digits] >= "5")
    if value < 10**digits:
        return f"{whole}.{value:0{digits}d}"
    moment = datetime.strptime(whole, "%Y-%m-%d %H:%M:%S")
    if moment == datetime(9999, 12, 31, 23, 59, 59):
        return f"{whole}.{'9' * digits}"
    return f"{(moment + timedelta(seconds=1)).isoformat(sep=' ')}.{'0' * digits}"


# -- floats
# -------------------------------------------------------------------------------------------------


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
