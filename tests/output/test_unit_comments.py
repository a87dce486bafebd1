"""The comments of units and changes: what they hold, and where the names of units lie in them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from replay.decoding.layout import Field, FieldKind, Layout
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.opening import open_log
from replay.output import script_file
from replay.output.script_file import UnitComments, comments_of, traces_of
from sqlgen.script import unit_names
from tests.support.logbuilder import ACCT, LogBuilder, acct

TIMES = (
    b"",
    b"\x20\x24\x02\x29\x23\x59\x59\x12\x34\x56",
    b"\x20\x23\x12\x31\x00\x00\x00\x00\x00\x00\x00\x00\x01",
    b"\x00\x01\x01\x01\x10\x20\x30\x99\x99\x99\x99\x99\x99\x99",
    b"\x20\x23\x12\x31\x00\x00\x00\x00\x00\x00\x00\x00\x00\x99\x99\x99\x99",
)
TEXTS = ("", "CLERK", " a b", "X'~", "12345678")
ODD_TEXTS = ("é", "a\nb", "a\0", "\x7f", "a\u00ad")


class Made:
    """Headers of units of a log that is written into a folder."""

    def __init__(self, folder: Path) -> None:
        log = LogBuilder()
        log.unit().insert(ACCT, acct(1))
        self.log = open_log(*log.write(folder))
        self.layout = self.log.control.header

    def put(self, block: np.ndarray, row: int, name: str, value: bytes, filler: int = 0) -> None:
        """Fill a field of a header."""
        field = self.layout.names[name]
        octets = value.ljust(field.length, bytes([filler]))[: field.length]
        block[row, field.offset : field.end] = np.frombuffer(octets, np.uint8)

    def headers(self, seed: int, count: int = 50) -> Headers:
        """Headers of which each is plain."""
        draw = np.random.default_rng(seed)
        block = draw.integers(0, 256, (count, self.layout.size), np.uint8)
        for row in range(count):
            if draw.random() < 0.3:
                self.put(block, row, "UORCOMMITLRSN", b"")
            if draw.random() < 0.3:
                self.put(block, row, "MEMBERID", bytes([0, draw.integers(256)]))
            self.put(block, row, "UORCOMMITTIMESTAMP", TIMES[draw.integers(len(TIMES))])
            for name in ("AUTHID", "PLAN", "CORRELATIONID"):
                self.text(block, row, name, TEXTS[draw.integers(len(TEXTS))])
        return Headers(self.layout, block)

    def text(self, block: np.ndarray, row: int, name: str, text: str) -> None:
        """Fill a field of text, with blanks behind it."""
        self.put(block, row, name, text.encode("cp037"), 0x40)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def said(comments: UnitComments) -> tuple[list[str], list[str]]:
    """The comments, and the names that lie in them."""
    octets, _ = script_file.parts_of(comments.text)
    low, high = comments.names()
    names = [bytes(octets[start:end]).decode() for start, end in zip(low, high, strict=True)]
    return comments.text.to_pylist(), names


@pytest.mark.parametrize("seed", range(4))
def test_names_lie_in_comments(made: Made, seed: int) -> None:
    first = made.headers(seed)
    comments, names = said(comments_of(made.log, first))
    assert names == unit_names(made.log.unit_fields(first)).to_pylist()
    assert all(
        text.startswith(f"-- unit {name}") for text, name in zip(comments, names, strict=True)
    )


@pytest.mark.parametrize("name", ["AUTHID", "PLAN", "CORRELATIONID"])
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_texts_are_of_one_line(made: Made, name: str, text: str) -> None:
    first = made.headers(2)
    made.text(first.block, 20, name, text)
    assert all(letter.isprintable() for letter in said(comments_of(made.log, first))[0][20])


@pytest.mark.parametrize("name", ["LOGLRSN", "LOGRBA"])
def test_positions_of_older_releases_are_traced(made: Made, name: str) -> None:
    """They have six bytes, and are written as ten."""
    changes = made.headers(4)
    fields: list[Field] = []
    for field in made.layout.fields:
        if field.name == name:
            rest = Field("rest", field.offset + 6, 4, FieldKind.RESERVED)
            fields += [replace(field, length=6), rest]
        else:
            fields.append(field)
    layout = Layout("OLD", "older", made.layout.size, tuple(fields))
    older = Headers(layout, changes.block)
    traces = traces_of(made.log, older).to_pylist()
    assert all(re.fullmatch(" -- lrsn=[0-9A-F]{20} rba=[0-9A-F]{20}", trace) for trace in traces)
