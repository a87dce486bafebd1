"""Fractions of a second, digit by digit: which are kept, and which hour 24 may not have."""

from __future__ import annotations

import numpy as np
import pytest

from replay.decoding import codecs


def packed(digits: str) -> np.ndarray:  # type: ignore[type-arg]
    return np.frombuffer(bytes.fromhex(digits), np.uint8).reshape(1, 17)


def characters(text: str) -> np.ndarray:  # type: ignore[type-arg]
    return np.frombuffer(text.encode("ascii"), np.uint8).reshape(1, len(text))


@pytest.mark.parametrize("place", range(20))
def test_one_digit_of_a_log_timestamps_fraction(place: int) -> None:
    """Six digits, or twelve where one of the second six is not zero; what follows is cut off."""
    fraction = "0" * place + "1" + "0" * (19 - place)
    values, bad = codecs.decode_log_timestamp(packed("20240315102030" + fraction))
    shown = fraction[:12] if 6 <= place < 12 else fraction[:6]
    assert values.to_pylist() == [f"2024-03-15 10:20:30.{shown}"]
    assert bad is None


@pytest.mark.parametrize("place", range(12))
def test_hour_24_of_a_log_timestamp_has_no_fraction(place: int) -> None:
    _, bad = codecs.decode_log_timestamp(
        packed("20240315240000" + ("0" * place + "1").ljust(20, "0"))
    )
    assert bad is not None
    assert bad.tolist() == [True]


@pytest.mark.parametrize("digits", [1, 2, 6, 7, 12])
@pytest.mark.parametrize("zone", ["", "+01:30"])
def test_hour_24_of_a_timestamp_has_no_fraction(digits: int, zone: str) -> None:
    whole = f"2024-03-15 24:00:00.{'0' * digits}"
    values, bad = codecs.decode_timestamp(characters(whole + zone), zone=bool(zone))
    assert bad is None
    assert values.to_pylist() == [whole + zone]
    for place in range(digits):
        fraction = "0" * place + "1" + "0" * (digits - place - 1)
        text = f"2024-03-15 24:00:00.{fraction}{zone}"
        _, bad = codecs.decode_timestamp(characters(text), zone=bool(zone))
        assert bad is not None, text
        assert bad.tolist() == [True]


@pytest.mark.parametrize("text", ["24:00:01", "24:00:10", "24:01:00", "24:10:00", "25:00:00"])
def test_nothing_comes_after_hour_24(text: str) -> None:
    _, bad = codecs.decode_time(characters(text))
    assert bad is not None
    assert bad.tolist() == [True]
