"""What encoders write, byte by byte, and the words of what encoders and decoders refuse."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from replay.decoding import codecs
from tests.decoding.test_codecs import block
from tests.support import encoders


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
        (lambda: encoders.encode_integer(32768, 2), "32768 does not fit 2 bytes"),
        (lambda: encoders.encode_integer(-32769, 2), "-32769 does not fit 2 bytes"),
        (lambda: encoders.encode_packed("12.34", 2, 1), "12.34 does not fit DECIMAL(3,1)"),
        (lambda: encoders.encode_packed("100.0", 2, 1), "100.0 does not fit DECIMAL(3,1)"),
        (
            lambda: encoders.encode_hfp(1e76, 8),
            "1e+76 is too large for hexadecimal floating point",
        ),
        (lambda: codecs.encode_text("ABC", 37, 2), "3 bytes do not fill 2"),
        (lambda: codecs.encode_text("a", 1200, 3), "2 bytes do not fill 3"),
    ],
)
def test_words_of_what_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        call()


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_integers_at_their_limits(width: int) -> None:
    high = 1 << 8 * width - 1
    assert encoders.encode_integer(-high, width) == b"\x80" + bytes(width - 1)
    assert encoders.encode_integer(high - 1, width) == b"\x7f" + b"\xff" * (width - 1)
    for value in (high, -high - 1, 2 * high, 4 * high):
        with pytest.raises(ValueError, match=f"^{value} does not fit {width} bytes$"):
            encoders.encode_integer(value, width)


@pytest.mark.parametrize(
    ("encoded", "expected"),
    [
        (lambda: encoders.encode_packed("-1.5", 2, 1), "015D"),
        (lambda: encoders.encode_packed(7, 1), "7C"),
        (lambda: encoders.encode_packed("99.9", 2, 1), "999C"),
        (lambda: encoders.encode_packed("-0", 1), "0D"),
        (lambda: encoders.encode_packed("1E+2", 2), "100C"),
        (lambda: encoders.encode_packed("-12", 2, 0, 0xB), "012B"),
        (lambda: encoders.encode_packed("12", 3, 2, 15), "01200F"),
        (lambda: encoders.encode_hfp(1.0, 4), "41100000"),
        (lambda: encoders.encode_hfp(-118.625, 8), "C276A00000000000"),
        (lambda: encoders.encode_hfp(0.0, 4), "00000000"),
        (lambda: encoders.encode_hfp(-0.0, 4), "80000000"),
        (lambda: encoders.encode_hfp(-0.0, 8), "8000000000000000"),
        (lambda: encoders.encode_hfp(1e-90, 4), "00000000"),
        (lambda: encoders.encode_hfp(-1e-90, 8), "8000000000000000"),
        (lambda: encoders.encode_hfp(16.0**-65, 4), "00100000"),  # the smallest that is normalised
        (lambda: encoders.encode_hfp(16.0**-66, 4), "00000000"),
        (lambda: encoders.encode_hfp(0.0625, 4), "40100000"),
        (lambda: encoders.encode_hfp(0.06249999999, 4), "40100000"),  # a carry into the next power
        (lambda: encoders.encode_hfp(15.99999999, 4), "42100000"),
        (lambda: encoders.encode_hfp(-(16.0**62), 4), "FF100000"),
        (lambda: encoders.encode_hfp(2.0**-24 + 1, 4), "41100000"),
        (lambda: encoders.encode_hfp(1 + 2.0**-21, 4), "41100000"),  # a tie: to the even one
        (lambda: encoders.encode_hfp(1 + 3 * 2.0**-21, 4), "41100002"),  # and here
        (lambda: codecs.encode_text("A", 37), "C1"),
        (lambda: codecs.encode_text("A", 37, 3), "C14040"),
        (lambda: codecs.encode_text("A", 819, 3), "412020"),
        (lambda: codecs.encode_text("A", 1200, 6), "004100200020"),
        (lambda: codecs.encode_text("AB", 37, 2), "C1C2"),
        (lambda: encoders.encode_date("2024-03-15"), "F2F0F2F460F0F360F1F5"),
        (lambda: encoders.encode_date("2024-03-15", False), "323032342D30332D3135"),
        (lambda: encoders.encode_time("10:20:30"), "F1F04BF2F04BF3F0"),
        (lambda: encoders.encode_time("10:20:30", False), "31302E32302E3330"),
        (
            lambda: encoders.encode_timestamp("2024-03-15 10:20:30.5+01:30"),
            "F2F0F2F460F0F360F1F560F1F04BF2F04BF3F04BF54EF0F17AF3F0",
        ),
        (
            lambda: encoders.encode_timestamp("2024-03-15 10:20:30-01:30", False),
            b"2024-03-15-10.20.30-01:30".hex(),
        ),
        (
            lambda: encoders.encode_log_timestamp("2024-03-15 10:20:30.5"),
            "202403151020305" + "0" * 19,
        ),
        (lambda: encoders.encode_log_timestamp(None), "0" * 34),
    ],
)
def test_what_encoders_write(encoded: Callable[[], bytes], expected: str) -> None:
    assert encoded().hex().upper() == expected.upper()
