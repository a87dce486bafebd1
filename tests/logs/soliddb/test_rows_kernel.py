"""Machine code finds the values of images where the other way finds them, and leaves images that do
not fit to it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding.machine_code import available
from replay.logs.soliddb import layouts, rows
from replay.logs.soliddb.layouts import FRAMINGS, InternalType, ValueFraming
from replay.logs.soliddb.rows import SolidRowWalk
from sqlgen.schema import Column, SqlType


def drawn_columns(draw: random.Random) -> tuple[ColumnFormat, ...]:
    kinds = [draw.choice(list(InternalType)) for _ in range(draw.randint(1, 6))]
    return tuple(
        ColumnFormat(
            Column(f"C{number}", SqlType.BLOB), kind.name, 0,
            nullable=draw.random() < 0.5, subtype=kind.name,
        )
        for number, kind in enumerate(kinds)
    )  # fmt: skip


def length_of(framing: ValueFraming, size: int) -> bytes:
    lengths = framing.lengths
    if lengths.escapes and size >= layouts.VA_LONG:
        return bytes([layouts.VA_LONG]) + size.to_bytes(4, "little")
    return size.to_bytes(lengths.size, "big" if lengths.big else "little")


def value(draw: random.Random, framing: ValueFraming, column: ColumnFormat) -> bytes:
    """A value as it is logged."""
    lengths, kind = framing.lengths, InternalType[column.subtype]
    mark = lengths.null_byte
    if column.nullable and draw.random() < 0.3:
        if mark is None:
            assert lengths.null is not None
            return lengths.null.to_bytes(lengths.size, "big" if lengths.big else "little")
        return bytes([mark]) + (length_of(framing, 0) if lengths.null_has_length else b"")
    nul = framing.nul and kind in layouts.ENDS_IN_NUL
    widths = layouts.WIDTHS.get(kind)
    # where the length 0 means null, another value has none
    least = 1 if lengths.null == 0 and not nul else 0
    size = draw.choice(widths) if widths else 2 * draw.choice([least, least, 3, 20, 126, 127, 200])
    data = draw.randbytes(size) + (b"\0" if nul else b"")
    before = b"" if mark is None else bytes([1 - mark])
    return before + length_of(framing, len(data)) + data


def drawn_images(
    draw: random.Random, framing: ValueFraming, fmt: RowFormat
) -> tuple[bytes, list[int], list[int]]:
    data, start, end = draw.randbytes(draw.randrange(5)), [], []
    for _ in range(draw.randint(1, 40)):
        start.append(len(data))
        if framing.count:
            data += len(fmt.columns).to_bytes(framing.count, "big")
        data += b"".join(value(draw, framing, column) for column in fmt.columns)
        end.append(len(data))
        data += draw.randbytes(draw.choice([0, 0, 3]))
    return data, start, end


def both(
    monkeypatch: pytest.MonkeyPatch, fmt: RowFormat, data: bytes, start: list[int], end: list[int],
    framing: ValueFraming,
) -> tuple[SolidRowWalk, SolidRowWalk, bool]:  # fmt: skip
    """(one way, the other, whether machine code did all of it)."""
    given = fmt, np.frombuffer(data, np.uint8), np.array(start), np.array(end), framing
    with monkeypatch.context() as patch:
        patch.setattr(rows, "_walked_at_once", lambda *_: False)
        slow = rows.walk(*given)
    assert available(rows._KERNEL) is not None
    really, done = rows._walked_at_once, list[bool]()

    def noted(result: SolidRowWalk, of: ValueFraming) -> bool:
        done.append(really(result, of))
        return done[0]

    with monkeypatch.context() as patch:
        patch.setattr(rows, "_WORTH", 0)
        patch.setattr(rows, "_walked_at_once", noted)
        quick = rows.walk(*given)
    return slow, quick, done[0]


def assert_same(slow: SolidRowWalk, quick: SolidRowWalk) -> None:
    assert slow.bad.tolist() == quick.bad.tolist()
    assert slow.reasons == quick.reasons
    assert len(slow.columns) == len(quick.columns)
    for one, other in zip(slow.columns, quick.columns, strict=True):
        for name in ("place", "length", "null"):
            mine, theirs = getattr(one, name), getattr(other, name)
            assert mine.dtype == theirs.dtype
            assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=str)
def test_they_find_the_same(
    monkeypatch: pytest.MonkeyPatch, framing: ValueFraming, seed: int
) -> None:
    draw = random.Random(seed)
    fmt = RowFormat(drawn_columns(draw))
    data, start, end = drawn_images(draw, framing, fmt)
    slow, quick, done = both(monkeypatch, fmt, data, start, end, framing)
    assert not slow.bad.any()
    assert done
    assert_same(slow, quick)
    for _ in range(25):  # damage: an octet, a bound, a table of other columns
        broken, begin, finish, other = bytearray(data), [*start], [*end], fmt
        row = draw.randrange(len(start))
        for _ in range(draw.randint(1, 3)):
            what = draw.randrange(8)
            if what < 5 and end[row] > start[row]:
                place = draw.randrange(start[row], end[row])
                broken[place] = draw.choice([0, 1, 2, 0xFE, 0xFF, draw.randrange(256)])
            elif what == 5:
                finish[row] += draw.choice([-1, 1, len(data)])
            elif what == 6:
                begin[row] += draw.choice([-1, 1, -len(data) - 1])
            else:
                other = RowFormat(drawn_columns(draw))
        slow, quick, done = both(monkeypatch, other, bytes(broken), begin, finish, framing)
        assert done is not bool(slow.bad.any())
        assert_same(slow, quick)
