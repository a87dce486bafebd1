"""A walk from record to record finds the same in whatever steps, and is stopped by damage."""

from __future__ import annotations

import random
import struct
import tempfile
from pathlib import Path

import pytest

from replay.errors import InputError
from replay.logs.db2luw import framing
from replay.logs.db2luw.layouts import DIALECTS, FRAMINGS, LONGEST_RECORD

SHAPES = [
    framing.LuwShape(FRAMINGS[name], big, DIALECTS[dialect], start)
    for name in FRAMINGS
    for big in (True, False)
    for dialect, start in (("v10", 0), ("v97", 32))
]


def file_of(shape: framing.LuwShape, draw: random.Random, count: int) -> bytes:
    """Records of all lengths, with anything in them."""
    least = shape.dialect.sizes[0]
    parts = [draw.randbytes(shape.start)]
    for _ in range(count):
        length = draw.choice([least, least + 1, draw.randrange(least, 300)])
        lead = draw.randbytes(shape.framing.size)
        parts.append(lead + struct.pack(">I" if shape.big else "<I", length))
        parts.append(draw.randbytes(length - 4))
    return b"".join(parts)


def found(content: bytes, shape: framing.LuwShape) -> object:
    offsets, lengths = list[int](), list[int]()
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(content)
        try:
            for at, size in framing.OpenedFile("x.log", file.name, shape).steps():
                offsets += at.tolist()
                lengths += size.tolist()
        except InputError as error:
            return str(error)
    return offsets, lengths


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_steps(shape: framing.LuwShape, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(str(shape))
    whole = file_of(shape, draw, 40)
    size_at = shape.start + shape.framing.size
    words = [0, 1, shape.dialect.sizes[0] - 1, LONGEST_RECORD + 1, 1 << 31, (1 << 32) - 1]
    damaged = [
        whole[:size_at] + struct.pack(">I" if shape.big else "<I", word) + whole[size_at + 4 :]
        for word in words
    ]
    tails = [whole + bytes(draw.randrange(1, 60)) for _ in range(3)]
    cut = [whole[: draw.randrange(len(whole))] for _ in range(30)]
    anything = [draw.randbytes(200), whole + draw.randbytes(70), b""]
    for content in (whole, *damaged, *tails, *cut, *anything):
        told = []
        monkeypatch.setattr(framing, "is_url", lambda path: True)
        for together in (1 << 18, 7, 1):
            monkeypatch.setattr(framing, "RANGE", draw.choice([1, 50, 500, 1 << 20]))
            monkeypatch.setattr(framing, "_TOGETHER", together)
            told.append(found(content, shape))
        assert all(one == told[0] for one in told)


def test_what_is_found() -> None:
    """And what it is that is wrong, and where."""
    shape = framing.LuwShape(FRAMINGS["raw"], True, DIALECTS["v10"])
    least, word = shape.dialect.sizes[0], struct.Struct(">I").pack
    one, two = (word(size) + bytes(range(1, size - 3)) for size in (least, least + 9))
    assert shape.framing.size == 0
    offsets, lengths = [0, least], [least, least + 9]
    for tail in (b"", one[:-1], b"\0", bytes(4), bytes(40), word(least)[:3]):
        assert found(one + two + tail, shape) == (offsets, lengths)
    end = 2 * least + 9
    wrong = f"found record length {LONGEST_RECORD + 1}; expected {least} to {LONGEST_RECORD}"
    for bad, text in (
        (word(LONGEST_RECORD + 1), wrong),
        (word(0) + b"\0\1", "found record length 0 and more data after it; expected a record"),
    ):
        told = str(found(one + two + bad, shape))
        assert text in told
        assert "LR2005 x.log" in told
        assert str(end) in told
