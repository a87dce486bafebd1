"""Db2 LUW records whose transaction id or log stream is damaged: no row is lost without a word; and
sound logs that look a little like it."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

import pytest

from replay.errors import LogReplayError
from replay.logs.db2luw.reader import LuwLog
from tests.logs.db2luw.test_damage import opened, row
from tests.logs.db2luw.test_missing import FORMS
from tests.support.few import few
from tests.support.luwbuilder import PLAIN, LogBuilder
from tests.support.scripted import script

#: Bytes of the transaction id and (v10) of the number of the log stream in a record's header.
_IDS = {"v7": (14, 16), "v97": (16, 18), "v10": (32, 34, 38)}


def side_by_side(builder: LogBuilder) -> list[bytes]:
    """Two units side by side, of which one takes a change back, and a third one."""
    one, other = builder.begin(), builder.begin()
    one.insert(PLAIN, row(1), (1, 1))
    other.insert(PLAIN, row(2), (1, 2))
    one.update(PLAIN, row(1), row(1, "Bea"), (1, 1))
    other.insert(PLAIN, row(3), (1, 3))
    other.undo(other.written[-1])
    other.update(PLAIN, row(2), row(2, "Cat"), (1, 2))
    one.insert(PLAIN, row(4), (1, 4))
    other.commit()
    one.commit()
    third = builder.begin()
    third.insert(PLAIN, row(5), (1, 5))
    third.commit()
    return builder.records


def suspicions(log: LuwLog) -> list[str]:
    return [text for text in log.opening_warnings if "fit a unit without an end" in text]


@pytest.mark.parametrize("bit", [0, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize(("dialect", "framing"), few(FORMS, FORMS[0]))
def test_a_flipped_bit_of_an_id_loses_no_row_without_a_word(
    tmp_path: Path, dialect: str, framing: str, bit: int
) -> None:
    shape = {"byte-order": "little", "dialect": dialect}
    builder = LogBuilder(dialect, big=False, framing=framing)
    records = side_by_side(builder)
    whole = script(opened(tmp_path, b"".join(records), framing=framing, options=shape), tmp_path)[1]
    before = len(builder.frame(0, 0, 0, 0))
    for number, record in enumerate(records):
        for byte in _IDS[dialect]:
            damaged = bytearray(record)
            damaged[before + byte] ^= 1 << bit
            parts = [*records[:number], bytes(damaged), *records[number + 1 :]]
            try:
                log = opened(tmp_path, b"".join(parts), framing=framing, options=shape)
                if log.opening_warnings:
                    continue
                bundle, lines = script(log, tmp_path / f"{number}-{byte}")
            except LogReplayError as error:
                assert error.code.startswith("LR2")  # noqa: PT017
                continue
            assert bundle.exit_code or lines == whole, f"record {number}, byte {byte}"


def test_streams_that_count_alike_contradict_nothing(tmp_path: Path) -> None:
    """Each member of a cluster counts its own log: what one names is not the other's."""
    builders = [LogBuilder("v10", big=False, framing="flt56") for _ in range(2)]
    for stream, builder in enumerate(builders):
        builder.next_tid += stream
        for key in (1, 2):
            unit = builder.begin(stream)
            unit.insert(PLAIN, row(10 * stream + key), (1 + stream, key))
            unit.insert(PLAIN, row(10 * stream + key + 4), (1 + stream, key + 4))
            unit.commit()
    mixed = [record for pair in zip(*(b.records for b in builders), strict=True) for record in pair]
    log = opened(tmp_path, b"".join(mixed), framing="flt56")
    bundle, lines = script(log, tmp_path)
    assert (bundle.exit_code, len(lines)) == (0, 8)


def test_of_streams_that_count_alike_each_has_its_own_records(tmp_path: Path) -> None:
    """A compensation names a change of its own stream, and what one stream lacks the other has
    not."""
    builders = [LogBuilder("v10", big=False, framing="flt56") for _ in range(2)]
    for stream, builder in enumerate(builders):
        builder.next_tid += stream
        for key in (1, 2, 3):
            unit = builder.begin(stream)
            written = [
                unit.update(PLAIN, row(key), row(key, name), (1 + stream, key)) for name in "AB"
            ]
            if key == 3 and stream:
                unit.undo(written[0])
            unit.commit()
    pairs = zip_longest(*(builder.records for builder in builders))
    mixed = [record for pair in pairs for record in pair if record]
    log = opened(tmp_path, b"".join(mixed), framing="flt56")
    named, newest = (2 * number + 1 for number in (6, 7))
    assert log.entries()["cancelled"][[named, newest]].tolist() == [True, False]
    # the first record of the second stream
    del mixed[1]
    log = opened(tmp_path, b"".join(mixed), framing="flt56")
    assert log.units()["incomplete"].tolist() == [False] * 3 + [True] + [False] * 2


@pytest.mark.parametrize(("dialect", "framing"), FORMS)
def test_what_a_filter_left_out_and_a_unit_in_flight_are_no_suspicion(
    tmp_path: Path, dialect: str, framing: str
) -> None:
    builder = LogBuilder(dialect, big=False, framing=framing)
    left_out = []
    for key in range(1, 9):
        unit = builder.begin()
        if key % 3 == 0:
            left_out.append(len(builder.records))
            unit.insert(PLAIN, row(100 + key), (2, key))
        unit.insert(PLAIN, row(key), (1, key))
        if key < 8:
            unit.commit()
    kept = [record for n, record in enumerate(builder.records) if n not in left_out]
    shape = {"byte-order": "little", "dialect": dialect}
    log = opened(tmp_path, b"".join(kept), framing=framing, options=shape)
    assert not suspicions(log)
    bundle, lines = script(log, tmp_path)
    assert (bundle.exit_code & 8, len(lines)) == (0, 7)


def test_rows_of_unknown_outer_types_are_told(tmp_path: Path) -> None:
    builder = LogBuilder()
    unit = builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.insert(PLAIN, row(2), (1, 2))
    unit.commit()
    data = bytearray(b"".join(builder.records))
    at = len(builder.records[0]) + 16 + 24 + 20  # framing, header, what stands before the row
    assert (data[at], data[at + 4]) == (0, 1)
    data[at] = 0x08
    lines = script(opened(tmp_path, bytes(data)), tmp_path)[1]
    assert len(lines) == 1
    assert any(
        f"1 row of unknown outer types (0x08), the first in the record at offset"
        f" {len(builder.records[0]) + 16} of" in text
        for text in opened(tmp_path, bytes(data)).opening_warnings
    )


@pytest.mark.parametrize("big", [True, False])
def test_a_file_that_does_not_show_its_shape_has_that_of_the_others(
    tmp_path: Path, big: bool
) -> None:
    """An abort record alone reads as one of two dialects."""
    builder = LogBuilder("v97", big, "raw")
    unit = builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.commit()
    alone = len(builder.records)
    other = builder.begin()
    other.add(0x41, b"", flags=0)
    records = builder.records
    parts = (b"".join(records[:alone]), b"".join(records[alone:]))
    with pytest.raises(LogReplayError, match=r"LR2004.*shapes equally well.*--log-option dialect"):
        opened(tmp_path, parts[1])
    bundle, lines = script(opened(tmp_path, *parts), tmp_path)
    assert (bundle.exit_code, len(lines)) == (0, 1)
