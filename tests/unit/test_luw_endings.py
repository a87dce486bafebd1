"""What commit and abort records of Db2 LUW logs say: releases with headers of 20 bytes have two forms, told apart by what closes the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.selection import Selection
from tests.luwbuilder import LogBuilder
from tests.luwhistory import PLAIN
from tests.unit.test_luw_damage import opened, row, script

MILLENNIUM = 1_000_000_000


def endings(builder: LogBuilder, named: bool, kinds: tuple[int, int]) -> bytes:
    """A unit that commits and one that aborts, with the length of the name in their last records or without it."""
    for number, kind in enumerate(kinds):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        time = b"" if number else builder.pack("Q" if named else "I", MILLENNIUM)
        unit.add(kind, time + (builder.pack("H", 5) if named else b"") + b"ALICE" + (b"" if named else bytes(4)))
    return builder.bytes()


@pytest.mark.parametrize("big", [True, False])
@pytest.mark.parametrize("dialect", ["v7", "v95"])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kinds", [(0x4D, 0x41), (0x84, 0x49), (0x59, 0x41)])
def test_both_forms_tell_time_and_name(tmp_path: Path, big: bool, dialect: str, named: bool, kinds: tuple[int, int]) -> None:
    told = {"dialect": dialect} if dialect == "v95" else {}
    log = opened(tmp_path, endings(LogBuilder(dialect, big, "lsn6"), named, kinds), options=told)
    units = log.units()
    assert units["disposition"].tolist() == [ord("C"), ord("A")]
    assert [bytes(time).hex()[:14] for time in units["time"]] == ["20010909014640", "0" * 14]
    assert units["authid"].tolist() == [b"ALICE", b"ALICE"]


@pytest.mark.parametrize("dialect", ["v7", "v95"])
def test_the_longer_form_counts_for_a_point_in_time(tmp_path: Path, dialect: str) -> None:
    builder = LogBuilder(dialect, True, "lsn6")
    for number in range(2):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        unit.add(0x4D, builder.pack("QH", MILLENNIUM + number, 5) + b"ALICE")
    log = opened(tmp_path, builder.bytes(), options={"dialect": dialect})
    bundle, lines = script(log, tmp_path, selection=Selection(until_time=bytes.fromhex("20010909014640").ljust(17, b"\0")))
    assert len(lines) == 1
    assert bundle.manifest["balance"]["closes"]
