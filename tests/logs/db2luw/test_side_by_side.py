"""Units of a Db2 LUW log that are open side by side, whose records lie far apart."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from replay.changes.choices import Gaps
from replay.changes.envelope import Change
from replay.errors import InputError
from replay.logs import Inputs
from replay.logs.db2luw import reader
from tests.logs.db2luw.test_damage import row
from tests.support.luwbuilder import PLAIN, LogBuilder, Transaction, catalog_csv


def many_units(count: int) -> LogBuilder:
    """Units of some users, none of which begins the log."""
    builder, draw = LogBuilder("v10", framing="lri48"), random.Random("users")
    for number in range(count):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (number, 1))
        unit.update(PLAIN, row(number), row(number, "Bea"), (number, 1))
        name = b"USER%d" % draw.randrange(count // 10 + 1)
        unit.add(0x84, builder.pack("QH", 1_700_000_000 + number, len(name)) + name)
    return builder


def test_names_are_those_of_all_pieces(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(many_units(60).bytes())
    (tmp_path / "catalog.csv").write_text(catalog_csv((PLAIN,)), encoding="utf-8")
    inputs = Inputs(log=(str(tmp_path / "log"),), catalog=str(tmp_path / "catalog.csv"))
    assert len({*reader.open_log(inputs).units()["authid"].tolist()}) > 4


def as_log(folder: Path, builder: LogBuilder) -> Inputs:
    for number in range(12):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (number, 2))
        unit.commit()
    (folder / "log").write_bytes(builder.bytes())
    (folder / "catalog.csv").write_text(catalog_csv((PLAIN,)), encoding="utf-8")
    return Inputs(
        log=(str(folder / "log"),), catalog=str(folder / "catalog.csv"), scratch=str(folder),
        framing=builder.framing, options={"byte-order": "big", "dialect": builder.dialect},
    )  # fmt: skip


@pytest.mark.parametrize("framing_name", ["raw", "flt16"])
def test_units_that_may_begin_others(framing_name: str, tmp_path: Path) -> None:
    """Where positions are not told, the second may go on where the first one ends."""
    builder = LogBuilder("v97", True, framing_name)
    one, two = builder.begin(), builder.begin()
    one.previous, two.previous = 0xB00, 0xB50
    one.insert(PLAIN, row(1), (1, 1))
    two.insert(PLAIN, row(2), (1, 2))
    two.insert(PLAIN, row(3), (1, 3))
    two.commit()
    inputs = as_log(tmp_path, builder)
    warnings = reader.open_log(inputs).opening_warnings
    suspicious = any("fit a unit without an end" in text for text in warnings)
    assert suspicious is (framing_name == "raw")


def in_turns(count: int) -> tuple[LogBuilder, list[Transaction]]:
    """Units that are open side by side, each with a row."""
    builder = LogBuilder("v10", True, "flt56")
    made = [builder.begin() for _ in range(count)]
    for number, unit in enumerate(made):
        unit.insert(PLAIN, row(number), (1, number))
    return builder, made


def test_what_a_filter_left_out_is_missed_between_files_only(tmp_path: Path) -> None:
    builder, made = in_turns(30)
    for number, unit in enumerate(made):
        unit.insert(PLAIN, row(100 + number), (2, number))
    for unit in made:
        unit.commit()
    inputs = as_log(tmp_path, builder)
    records = builder.records
    # of the rows in the middle a filter left out some, and what is between the files is not there
    first = [record for number, record in enumerate(records[:50]) if number not in range(30, 40)]
    parts = first, records[54:57] + records[60:]
    paths = [tmp_path / "one", tmp_path / "two"]
    for path, part in zip(paths, parts, strict=True):
        path.write_bytes(b"".join(part))
    inputs = replace(inputs, log=tuple(map(str, paths)))
    lacking = reader.open_log(inputs).units()["incomplete"].tolist()
    assert [number for number, one in enumerate(lacking) if one] == [20, 21, 22, 23]


def test_records_that_are_lost(tmp_path: Path) -> None:
    """Few of a log that holds all others."""
    builder, made = in_turns(30)
    for unit in made:
        unit.commit()
    inputs = as_log(tmp_path, builder)
    (tmp_path / "log").write_bytes(b"".join(builder.records[:13] + builder.records[14:]))
    log = reader.open_log(inputs)
    assert any("1 place where records are missing" in text for text in log.opening_warnings)
    assert log.units()["incomplete"].sum() == 1
    with pytest.raises(InputError, match="LR2037"):
        reader.open_log(replace(inputs, gaps=Gaps.REFUSE))


@pytest.mark.parametrize("damaged", [False, True])
def test_rows_of_temporary_tables(damaged: bool, tmp_path: Path) -> None:
    """Rows of tables that have no others are passed over; else the flag may be damage."""
    builder, made = in_turns(10)
    table = PLAIN if damaged else replace(PLAIN, id=900)
    for number, unit in enumerate(made):
        image = table.row(row(number), True)
        payload = unit.prefix(162, table, (7, number), len(image)) + image
        unit.add(0x4E, payload, flags=6)
        unit.commit()
    inputs = as_log(tmp_path, builder)
    changes = reader.open_log(inputs).entries()["change"].tolist()
    assert changes.count(Change.INSERT) == (23 if damaged else 22)
