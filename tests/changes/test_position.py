"""Positions: bytes of one length that compare as commits do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.changes.position import (
    FIRST_UNIT,
    LAST_UNIT,
    POSITION,
    UNIT,
    UNIT_POSITION,
    Position,
    UnitId,
    UnitPosition,
)

LOWEST, HIGHEST = Position(bytes(10)), Position(b"\xff" * 10)
UNIT_HEX = "00112233445566778899ABCD"

positions = st.binary(min_size=10, max_size=10).map(Position)
units = st.binary(min_size=12, max_size=12).map(UnitId)


@pytest.mark.parametrize(
    ("kind", "dtype", "size"),
    [(Position, POSITION, 10), (UnitId, UNIT, 12), (UnitPosition, UNIT_POSITION, 22)],
)
def test_a_length_of_its_own(
    kind: type[Position | UnitId | UnitPosition], dtype: np.dtype[np.void], size: int
) -> None:
    octets = bytes(range(1, size + 1))
    value = kind(octets)
    assert value == octets
    assert type(value) is kind
    assert kind.SIZE == dtype.itemsize == size
    assert type(pickle.loads(pickle.dumps(value))) is kind
    assert np.array([octets], dtype)[0].tobytes() == value
    for wrong in (b"", octets[1:], octets + b"\x00"):
        with pytest.raises(ValueError) as raised:  # noqa: PT011  the text is compared below
            kind(wrong)
        assert str(raised.value) == (f"found {len(wrong)} bytes; expected {size} ({kind.__name__})")


@pytest.mark.parametrize("kind", [Position, UnitId, UnitPosition])
def test_hexadecimal_and_back(kind: type[Position | UnitId | UnitPosition]) -> None:
    text = "0A" + "BC" * (kind.SIZE - 1)
    assert kind.from_hex(text).hexadecimal == text
    assert kind.from_hex(text.lower()) == kind.from_hex(text)
    assert type(kind.from_hex(text)) is kind
    for wrong in (text[2:], text + "00", "XY" + text[2:], "A" + text):
        with pytest.raises(ValueError, match=r"bytes|hex"):
            kind.from_hex(wrong)


@given(positions, positions)
def test_the_order_of_octets_is_that_of_numbers(one: Position, other: Position) -> None:
    assert (one < other) == (int.from_bytes(one, "big") < int.from_bytes(other, "big"))


@given(positions)
def test_neighbours(position: Position) -> None:
    below, above = position.below, position.above
    assert type(below) is type(above) is Position
    assert below.above == position == above.below
    if position != LOWEST:
        assert int.from_bytes(below, "big") == int.from_bytes(position, "big") - 1
    if position != HIGHEST:
        assert int.from_bytes(above, "big") == int.from_bytes(position, "big") + 1


def test_the_ends_meet() -> None:
    assert LOWEST.below == HIGHEST
    assert HIGHEST.above == LOWEST
    assert Position.from_hex("00" * 9 + "FF").above == Position.from_hex("00" * 8 + "0100")


@given(positions, units)
def test_units_of_a_commit_lie_between_its_start_and_its_end(
    position: Position, unit: UnitId
) -> None:
    place = UnitPosition(position + unit)
    assert type(position.start) is type(position.end) is UnitPosition
    assert position.start <= place <= position.end
    assert position.start == position + FIRST_UNIT
    assert position.end == position + LAST_UNIT
    if position != HIGHEST:
        assert position.end < position.above.start
    assert (place.commit, place.unit) == (position, unit)
    assert (type(place.commit), type(place.unit)) == (Position, UnitId)


def test_units_are_told_as_urid_and_member() -> None:
    unit = UnitId.from_hex(UNIT_HEX)
    assert unit.urid == bytes.fromhex("00112233445566778899")
    assert unit.member == 0xABCD
    assert str(unit) == f"00112233445566778899/{0xABCD}"
    assert str(UnitId.from_hex("FF" * 10 + "0001")) == "FF" * 10 + "/1"
    assert UnitId.of(str(unit)) == unit
    for wrong in ("70000", "-1", "1/2", ""):
        with pytest.raises(ValueError, match="expected a number of two bytes"):
            UnitId.of(f"00112233445566778899/{wrong}")


def test_places_in_words() -> None:
    commit = Position.from_hex("00DECC12CECE80900000")
    place = UnitPosition(commit + UnitId.from_hex(UNIT_HEX))
    assert str(place) == ("commit LRSN 00DECC12CECE80900000, unit 00112233445566778899/43981")
    assert str(commit.end) == "commit LRSN 00DECC12CECE80900000, all units of this commit LRSN"
    assert str(commit.start) == f"commit LRSN 00DECC12CECE80900000, unit {'00' * 10}/0"
