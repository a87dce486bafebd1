"""What commit and abort records of Db2 LUW logs say: releases with headers of 20 bytes have two
forms, told apart by what closes the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.changes.selection import Selection
from replay.logs.db2luw import inspect
from tests.logs.db2luw.test_damage import opened, row
from tests.support.luwbuilder import PLAIN, LogBuilder
from tests.support.scripted import script

MILLENNIUM = 1_000_000_000


def endings(builder: LogBuilder, named: bool, kinds: tuple[int, int]) -> bytes:
    """A unit that commits and one that aborts, with the length of the name in their last records or
    without it."""
    for number, kind in enumerate(kinds):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        time = b"" if number else builder.pack("Q" if named else "I", MILLENNIUM)
        unit.add(
            kind,
            time
            + (builder.pack("H", 5) if named else b"")
            + b"ALICE"
            + (b"" if named else bytes(4)),
        )
    return builder.bytes()


@pytest.mark.parametrize("big", [True, False])
@pytest.mark.parametrize("dialect", ["v7", "v95"])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kinds", [(0x4D, 0x41), (0x84, 0x49), (0x59, 0x41), (0x87, 0x49)])
def test_both_forms_tell_time_and_name(
    tmp_path: Path, big: bool, dialect: str, named: bool, kinds: tuple[int, int]
) -> None:
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
    bundle, lines = script(
        log,
        tmp_path,
        selection=Selection(until_time=bytes.fromhex("20010909014640").ljust(17, b"\0")),
    )
    assert len(lines) == 1
    assert bundle.manifest["balance"]["closes"]


@pytest.mark.parametrize(("until", "taken"), [(None, 4), (0, 1), (2, 1), (3, 3), (9, 3)])
def test_a_unit_without_a_commit_time_counts_as_just_before_the_next_one(
    tmp_path: Path, until: int | None, taken: int
) -> None:
    """The last one has none after it, and lies after every point in time."""
    builder = LogBuilder("v97", False, "flt16")
    for number, seconds in enumerate((MILLENNIUM, 5, MILLENNIUM + 3, 0)):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        unit.commit(seconds)
    log = opened(tmp_path, builder.bytes())
    assert [text.split(", of which")[0] for text in log.opening_warnings] == [
        "no commit time of 2 units of recovery"
    ]
    times = log.unit_fields(log.envelope(0, log.entries()["offset"], log.entries()["length"]))[
        "committed"
    ].to_pylist()
    assert times[1::2] == ["2001-09-09 01:46:40", "unknown", "2001-09-09 01:46:43", "unknown"]
    limit = None if until is None else bytes.fromhex(f"2001090901464{until}").ljust(17, b"\0")
    bundle, lines = script(log, tmp_path, selection=Selection(until_time=limit))
    assert len(lines) == taken
    assert bundle.manifest["balance"]["closes"]
    commits = inspect.describe(log).values["commits"]
    assert (commits["first"]["time"], commits["last"]["time"]) == (
        "2001-09-09 01:46:40.000000",
        None,
    )


def test_a_log_without_any_commit_time_is_read(tmp_path: Path) -> None:
    builder = LogBuilder("v7", True, "lsn6")
    unit = builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.commit(0)
    log = opened(tmp_path, builder.bytes())
    assert len(script(log, tmp_path)[1]) == 1
    assert not script(log, tmp_path, "undo", selection=Selection(until_time=b"\x99" * 17))[1]


@pytest.mark.parametrize("big", [True, False])
def test_the_framing_of_a_dialect_with_short_positions_is_found_out(
    tmp_path: Path, big: bool
) -> None:
    log = opened(
        tmp_path,
        endings(LogBuilder("v95", big, "flt16/6"), True, (0x84, 0x41)),
        options={"dialect": "v95"},
    )
    assert log.files[0].shape.framing.name == "flt16/6"
