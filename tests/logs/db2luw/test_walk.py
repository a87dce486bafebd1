"""A walk from record to record finds the same in whatever steps, and is stopped by damage."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from replay.errors import InputError
from replay.logs.db2luw import framing
from replay.logs.db2luw.layouts import DIALECTS, FRAMINGS, LONGEST_RECORD


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
