"""Codecs at their edges: every small cut of a small buffer, every change of one byte of a moment,
every packed decimal of two bytes, nulls of every type."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from replay.decoding import codecs
from replay.errors import InputError
from tests.decoding.test_codecs import block, text_column, values

BUFFER = bytes(range(1, 60))


def array(data: bytes) -> codecs.Bytes:
    return np.frombuffer(data, np.uint8)


# -- gather
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2, 5, 17, 18])
def test_every_gather_of_a_small_buffer(size: int) -> None:
    data = BUFFER[:size]
    for width in range(1, 19):
        inside = range(size - width + 1)
        for start in range(-2, size + 3):
            if start in inside:
                found = codecs.gather(array(data), np.array([start]), width)
                assert found.dtype == np.uint8
                assert [bytes(row) for row in found] == [data[start : start + width]]
            else:
                for others in ([start], [0, start], [start, 0]):
                    says = f"^gather of {width} bytes outside a buffer of {size}$"
                    with pytest.raises(ValueError, match=says):
                        codecs.gather(array(data), np.array(others), width)
        found = codecs.gather(array(data), np.array([*inside][::-1], np.int64), width)
        assert found.shape == (len(inside), width)
        assert [bytes(row) for row in found] == [
            data[start : start + width] for start in reversed(inside)
        ]
    nothing = codecs.gather(array(data), np.array([7, -1]), 0)
    assert (nothing.shape, nothing.dtype) == ((2, 0), np.uint8)


def test_every_halfword_of_a_small_buffer() -> None:
    data = array(BUFFER[:4])
    for size in range(5):
        inside = range(size - 1)
        found = codecs.halfwords(data[:size], np.array(inside, np.int64))
        assert found.dtype == np.int64
        assert found.tolist() == [BUFFER[place] * 256 + BUFFER[place + 1] for place in inside]
        for place in (max(size - 1, 0), size):
            with pytest.raises(IndexError):
                codecs.halfwords(data[:size], np.array([place]))
    assert codecs.halfwords(array(b"\xff\xfe"), np.array([0, 0])).tolist() == [65534, 65534]


def test_machine_words_cover_every_byte_once_but_the_last() -> None:
    for width in range(1, 41):
        word, places = codecs.word_places(width)
        assert word == {1: 1, 2: 2, 3: 2}.get(width, 4 if width < 8 else 8)
        whole = (width - 1) // word
        assert list(places) == [*(word * number for number in range(whole)), width - word]


PIECES = [
    (size, start, length)
    for size in range(5)
    for start in range(-1, size + 2)
    for length in range(-1, size - start + 2)
]


@pytest.mark.parametrize("width", range(7))
def test_every_padded_gather_of_a_small_buffer(width: int) -> None:
    """Alone, and beside a piece at the beginning and one at the end, which are cut in other
    ways."""
    for size, start, length in PIECES:
        data = array(BUFFER[:size])
        cut = min(length, width)
        ends = ((0, min(size, 2)), (size - min(size, 2), min(size, 2)))
        for rows in ([(start, length)], [(start, length), *ends], [ends[0], (start, length)]):
            starts, lengths = (np.array(side) for side in zip(*rows, strict=True))
            if width and (cut < 0 or start < 0 or start + cut > size):
                with pytest.raises(ValueError, match=f"^gather outside a buffer of {size} bytes$"):
                    codecs.gather_padded(data, starts, lengths, width)
                continue
            found = codecs.gather_padded(data, starts, lengths, width)
            assert (found.shape, found.dtype) == ((len(rows), width), np.uint8)
            assert [bytes(row) for row in found] == [
                BUFFER[a : a + min(n, width)].ljust(width, b"\0") if width else b"" for a, n in rows
            ]


@pytest.mark.parametrize("longest", [0, 1, 11, 12, 13, 23, 24, 25, 40])
def test_every_varying_gather_of_a_small_buffer(longest: int) -> None:
    """Alone, and with long and short neighbours: short values, middling ones and long ones are cut
    in three ways."""
    data = array(BUFFER[:40])
    for start, length in product(
        (-1, 0, 1, 15, 16, 39, 40, 41), (-1, 0, 1, 11, 12, 13, 24, 25, 40)
    ):
        fits = length >= 0 and 0 <= start <= 40 - length
        for rows in (
            [(start, length)],
            [(0, longest), (start, length), (40 - longest, longest)],
            [(start, length), (3, 0)],
        ):
            starts, lengths = (np.array(side) for side in zip(*rows, strict=True))
            if not fits:
                with pytest.raises(ValueError, match="^gather outside a buffer of 40 bytes$"):
                    codecs.gather_varying(data, starts, lengths)
                continue
            joined, offsets = codecs.gather_varying(data, starts, lengths)
            assert (joined.dtype, offsets.dtype) == (np.uint8, np.int64)
            pieces = [BUFFER[a : a + n] for a, n in rows]
            assert [bytes(joined[a:b]) for a, b in pairwise(offsets)] == pieces
            assert len(joined) == offsets[-1] == len(b"".join(pieces))
    joined, offsets = codecs.gather_varying(data, np.array([], int), np.array([], int))
    assert (joined.dtype, len(joined)) == (np.uint8, 0)
    assert (offsets.dtype, offsets.tolist()) == (np.int64, [0])


# -- nulls
# -------------------------------------------------------------------------------------------------

#: Decoder, its type, a good value with what it is, and a bad one.
DECODERS: list[tuple[Callable[..., codecs.Decoded], pa.DataType, bytes, Any, bytes | None]] = [
    (codecs.decode_integer, pa.int64(), b"\xff\xfe", -2, None),
    (
        lambda raw, null: codecs.decode_packed(raw, 1, null), pa.string(),
        b"\x12\x3d", "-12.3", b"  ",
    ),
    (codecs.decode_hfp, pa.float64(), b"\xc1\x18" + bytes(6), -1.5, None),
    (codecs.decode_hfp, pa.float64(), b"\xc1\x18\0\0", -1.5, None),
    (codecs.decode_real, pa.float32(), b"\xc1\x18\0\0", -1.5, b"\x7f\xff\xff\xff"),
    (codecs.decode_date, pa.string(), b"2024-02-29", "2024-02-29", b"2023-02-29"),
    (codecs.decode_time, pa.string(), b"24.00.00", "24:00:00", b"24.00.01"),
    (
        lambda raw, null: codecs.decode_timestamp(raw, null=null), pa.string(),
        b"2024-02-29-10.20.30", "2024-02-29 10:20:30", b"2024-02-30-10.20.30",
    ),
    (
        lambda raw, null: codecs.decode_timestamp(raw, True, null), pa.string(),
        b"2024-02-29-10.20.30-01:30", "2024-02-29 10:20:30-01:30", b"2024-02-29-10.20.30-01:60",
    ),
    (
        lambda raw, null: codecs.decode_fixed_text(raw, 1208, null), pa.string(),
        b"a ", "a ", b"\xff ",
    ),
    (
        lambda raw, null: codecs.decode_text(
            raw.reshape(-1), np.arange(len(raw) + 1) * 2, 1208, null
        ), pa.string(), b"\xc3\xa9", "é", b"\xc3a",
    ),
    (
        lambda raw, null: (
            codecs.binary_values(raw.reshape(-1), np.arange(len(raw) + 1) * 2, null), None
        ), pa.binary(), b"\0\xff", b"\0\xff", None,
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(DECODERS)))
def test_nulls_and_bad_values(number: int) -> None:
    """Any mixture of values, bad ones and nulls over either; more rows than a byte has bits."""
    decode, kind, good, value, bad = DECODERS[number]
    raw = {"good": good, "bad": bad if bad is not None else good}
    kinds = list(product(("good", "bad"), (False, True)))
    for rows in ([*kinds] * 3, kinds[:1] * 9, kinds[1:2] * 9, kinds[2:3] * 9, kinds[3:] * 9, []):
        cells = array(b"".join(raw[which] for which, _ in rows)).reshape(-1, len(good))
        null = np.array([is_null for _, is_null in rows], bool)
        wrong = [which == "bad" and bad is not None and not gone for which, gone in rows]
        for mask in (null, None) if not null.any() else (null,):
            found, which_bad = decode(cells, mask)
            found.validate(full=True)
            assert found.type == kind
            assert (which_bad.tolist() if which_bad is not None else None) == (
                wrong if any(wrong) else None
            )
            assert found.to_pylist() == [
                None if gone or is_bad else value
                for (_, gone), is_bad in zip(rows, wrong, strict=True)
            ]


def test_floats_beyond_a_single_warn_of_nothing() -> None:
    """Whatever is said elsewhere of floats that overflow."""
    raw = block("7FFFFFFF", "00000001", "41100000")
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(codecs.decode_real(raw)) == ["bad", "bad", 1.0]
        assert codecs.outside_real(np.array([1e39, 1e-46, 0.5, -0.0])).tolist() == [
            True, True, False, False,
        ]  # fmt: skip


def test_rows_as_text_and_bits() -> None:
    wide = np.arange(24, dtype=np.uint8).reshape(4, 6)
    for cells in (wide, wide[:, 1:4], wide[:, 2:3], wide[::2], wide[:1], wide[:0]):
        rows = [bytes(row) for row in cells]
        bits = codecs.binary_rows(cells)
        bits.validate(full=True)
        assert (bits.type, bits.to_pylist()) == (pa.binary(), rows)
        digits = codecs.hex_text(cells)
        digits.validate(full=True)
        assert (digits.type, digits.to_pylist()) == (
            pa.string(),
            [row.hex().upper() for row in rows],
        )
        fixed, bad = codecs.decode_fixed_text(cells, 37)
        assert bad is None
        assert fixed.to_pylist() == [row.decode("cp037").replace("\n", "\x85") for row in rows]
    names = block(*(name.ljust(4).encode("cp037") for name in ("AX", " C", "\t", "")))
    assert codecs.ebcdic_text(names[:, :3]).to_pylist() == ["AX", " C", "\t", ""]


# -- packed decimals
# -------------------------------------------------------------------------------------------------


def packed_text(raw: bytes, scale: int) -> str:
    """The definition: digits, then a sign."""
    digits, sign = raw.hex()[:-1], raw.hex()[-1]
    if not digits.isdecimal() or sign.isdecimal():
        return "bad"
    number = int(digits)
    text = str(number).zfill(scale + 1)
    text = f"{text[:-scale]}.{text[-scale:]}" if scale else text
    return "-" + text if sign in "bd" and number else text


@pytest.mark.parametrize("scale", range(6))
def test_every_packed_decimal_of_one_byte_and_many_of_two(scale: int) -> None:
    nibbles = (0, 1, 9, 10, 11, 12, 13, 14, 15)
    two = [bytes([a << 4 | b, c << 4 | d]) for a, b, c, d in product(nibbles, repeat=4)]
    for raws in ([bytes([byte]) for byte in range(256)], two):
        found = codecs.decode_packed(block(*raws), scale)
        assert values(found) == [packed_text(raw, scale) for raw in raws]


@pytest.mark.parametrize("raws", [["000D", "000D"], ["000D", "001D"], ["010D", "000D"], ["100D"]])
def test_negative_decimals_without_others(raws: Sequence[str]) -> None:
    for scale in range(4):
        found = values(codecs.decode_packed(block(*raws), scale))
        assert found == [packed_text(bytes.fromhex(raw), scale) for raw in raws]


# -- dates and times
# -------------------------------------------------------------------------------------------------

#: What may stand where the written form has a character.
SEPARATORS = {"-": "-/.:", ":": ":.-/", ".": ".:-/", " ": "- T./:", "+": "+-"}


def moment(raw: bytes, picture: str) -> str:
    """The definition: one character after the other, then Python's calendar."""
    ebcdic = raw[0] >= 0xF0
    text = raw.decode("cp037" if ebcdic else "latin-1")
    shown = ""
    for kind, character in zip(picture, text, strict=True):
        if kind == "0":
            if character not in "0123456789":
                return "bad"
            shown += character
        elif character not in SEPARATORS[kind]:
            return "bad"
        else:
            shown += character if kind == "+" else kind
    return shown if exists(shown, picture) else "bad"


def exists(text: str, picture: str) -> bool:
    """Whether there is such a moment; an hour 24 is the end of a day."""
    day = text[:10] if picture.startswith("0000-") else "2000-01-01"
    clock = text[picture.index("00:00:00") :] if "00:00:00" in picture else "00:00:00"
    zone = ""
    if "+" in picture:
        clock, zone = clock[:-6], clock[-5:]
    hour, minute, second = (int(part) for part in clock[:8].split(":"))
    if hour == 24:
        if clock.replace("24", "00", 1).strip("0:."):
            return False
        hour = 0
    try:
        datetime(*(int(part) for part in day.split("-")), hour, minute, second)  # type: ignore[arg-type]
    except ValueError:
        return False
    return not zone or zone == "24:00" or (int(zone[:2]) < 24 and int(zone[3:]) < 60)


DATE, TIME = "0000-00-00", "00:00:00"
MOMENTS: list[tuple[str, list[str]]] = [
    (DATE, ["2024-02-29", "1900-12-31", "2000-02-28"]),
    (TIME, ["24:00:00", "23:59:59", "00:00:00"]),
    (f"{DATE} {TIME}", ["2023-02-28 19:00:00", "2096-04-30 24:00:00"]),
    (f"{DATE} {TIME}.0", ["2024-11-30 24:00:00.0"]),
    (f"{DATE} {TIME}.000000", ["2024-03-31 23:59:59.999999", "0100-01-01 24:00:00.000000"]),
    (f"{DATE} {TIME}.{'0' * 12}", ["2024-03-31 00:00:00.123456789012"]),
    (f"{DATE} {TIME}+00:00", ["2024-06-15 10:20:30+23:59", "2024-06-15 24:00:00-24:00"]),
    (f"{DATE} {TIME}.000+00:00", ["2024-06-15 24:00:00.000-00:00"]),
]  # fmt: skip


def decode_moments(raws: Sequence[bytes], picture: str) -> list[object]:
    if picture == DATE:
        return values(codecs.decode_date(block(*raws)))
    if picture == TIME:
        return values(codecs.decode_time(block(*raws)))
    return values(codecs.decode_timestamp(block(*raws), zone="+" in picture))


@pytest.mark.parametrize("number", range(len(MOMENTS)))
def test_moments_with_one_byte_changed(number: int) -> None:
    """Each place with each byte, in EBCDIC, in ASCII, and all together."""
    picture, texts = MOMENTS[number]
    everything = []
    for text, codec in product(texts, ("cp037", "ascii")):
        raw = text.encode(codec)
        changed = [
            raw[:place] + bytes([byte]) + raw[place + 1 :]
            for place in range(len(raw))
            for byte in range(256)
        ]
        found = decode_moments(changed, picture)
        assert found == [moment(one, picture) for one in changed]
        everything += [raw, *changed[:: len(changed) // 9]]
    assert decode_moments(everything, picture) == [moment(one, picture) for one in everything]


@pytest.mark.parametrize(
    "digits",
    [
        "20240229235959123456789012" + "34567890",
        "2024022924000000000000000000000000",
        "1900022800000012345600000000000001",
        "0" * 33 + "1",
    ],
)
def test_log_timestamps_with_one_digit_changed(digits: str) -> None:
    """Each place with each half byte; the longer form where one of the second six digits of the
    fraction is not zero."""
    picture = f"{DATE} {TIME}.{'0' * 12}"

    def expected(raw: bytes) -> str | None:
        text = raw.hex()
        if not any(raw):
            return None
        if not text.isdecimal():
            return "bad"
        day = f"{text[:4]}-{text[4:6]}-{text[6:8]}"
        shown = f"{day} {text[8:10]}:{text[10:12]}:{text[12:14]}.{text[14:26]}"
        if not exists(shown, picture):
            return "bad"
        return shown if text[20:26].strip("0") else shown[:26]

    changed = [digits[:place] + f"{nibble:x}" + digits[place + 1 :]
               for place in range(34) for nibble in range(16)]  # fmt: skip
    raws = [bytes.fromhex(text) for text in changed]
    wanted = [expected(raw) for raw in raws]
    assert values(codecs.decode_log_timestamp(block(*raws))) == wanted
    for raw, value in list(zip(raws, wanted, strict=True))[::7]:
        assert values(codecs.decode_log_timestamp(block(raw))) == [value]


def test_text_columns_begin_where_their_offsets_say() -> None:
    """Values that lie behind others, and between nothing."""
    data, offsets = text_column([b"xx", b"", b"\xc1\xc2", b"\xc3"])
    assert values(codecs.decode_text(data, offsets, 37)) == [b"xx".decode("cp037"), "", "AB", "C"]
    assert values(codecs.decode_text(data[:0], offsets[:1], 37)) == []


def test_columns_of_a_batch_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """To what Arrow's offsets reach, here to seven bytes."""
    assert codecs._VIEW_REACH == 2**31 - 1
    monkeypatch.setattr(codecs, "_VIEW_REACH", 7)
    most = codecs._strings(pa.string(), array(b"abcdefg"), np.array([0, 3, 7]), None)
    assert most.to_pylist() == ["abc", "defg"]
    says = "^LR2015 found 8 bytes in one column of a batch; expected less than 2 GB$"
    with pytest.raises(InputError, match=says):
        codecs._strings(pa.string(), array(b"abcdefgh"), np.array([0, 3, 8]), None)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: codecs.decode_integer(block("000001")), "integers have 2, 4 or 8 bytes, not 3"),
        (lambda: codecs.hfp_values(block("4110")), "hexadecimal floats have 4 or 8 bytes, not 2"),
        (
            lambda: codecs.decode_timestamp(block("40" * 20)),
            "timestamps have 19 or 21 to 32 characters, not 20",
        ),
        (
            lambda: codecs.decode_timestamp(block("40" * 26), True),
            "timestamps have 19 or 21 to 32 characters and 6 of time zone, not 26",
        ),
        (lambda: codecs.decode_time(block("40" * 9)), "8 characters are needed, not 9"),
    ],
)
def test_lengths_that_no_value_has(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}$"):
        call()
