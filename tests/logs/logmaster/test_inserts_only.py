"""A log without updates: one image closes under two readings of DATA alike, and only the columns
tell which is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import replay
from replay.logs.logmaster.opening import open_log


@pytest.mark.parametrize("kinds", [("I ",), ("D ",), ("I ", "D ")])
def test_the_columns_decide_between_readings(
    sakila_small: Path, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    raw, kept, place = (sakila_small / "small.dat").read_bytes(), b"", 0
    while place < len(raw):
        size = int.from_bytes(raw[place : place + 2], "big")
        if raw[place + 108 : place + 110].decode("cp037") in kinds:
            kept += raw[place : place + size]
        place += size
    (tmp_path / "x.dat").write_bytes(kept)
    assert open_log(sakila_small / "small.ctl", [tmp_path / "x.dat"]).reading.value == "A"
    bundle = replay.write_script(sakila_small / "small.ctl", [tmp_path / "x.dat"], tmp_path / "out")
    assert bundle.exit_code == 0
    assert bundle.manifest["statements"] > 5
