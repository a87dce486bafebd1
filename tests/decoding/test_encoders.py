"""What text is written as, byte by byte, and the words of what codecs refuse."""

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
        (lambda: encoders.encode_text("ABC", 37, 2), "3 bytes do not fill 2"),
        (lambda: encoders.encode_text("a", 1200, 3), "2 bytes do not fill 3"),
    ],
)
def test_words_of_what_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        call()
