"""The first look at a Db2 LUW log, by threads and range by range: whatever is looked at together,
the index and what is said are the same."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay import spill
from replay.arrays import Bytes
from replay.changes.choices import Gaps
from replay.changes.envelope import Change
from replay.errors import InputError
from replay.logs import Inputs, files
from replay.logs.db2luw import framing, reader, scan
from tests.independent import luw_history
from tests.independent.harm import harmed_log
from tests.independent.luw_records import Form
from tests.logs.db2luw.test_damage import row
from tests.logs.test_index_in_parts import outcome
from tests.support.few import few
from tests.support.luwbuilder import PLAIN, LogBuilder, Transaction, catalog_csv


def nothing_else(path: str, start: Any = None, stop: Any = None) -> Bytes:
    """The bytes of a file of which only those are there that are asked for."""
    whole = files.mapped(path)
    if start is None or stop is None:
        return whole
    some = np.zeros_like(whole)
    for low, high in zip(np.atleast_1d(start), np.atleast_1d(stop), strict=True):
        some[low:high] = whole[low:high]
    return some


def compare(inputs: Inputs, draw: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log becomes the same index where few records are looked at together, by some threads, and
    files are read in short ranges, as those of a store are."""
    whole = outcome(reader.open_log, inputs)
    with monkeypatch.context() as patch:
        patch.setattr(framing, "is_url", lambda path: True)
        patch.setattr(framing, "mapped", nothing_else)
        patch.setattr(framing, "RANGE", draw.randrange(1, 1500))
        patch.setattr(framing, "_TOGETHER", draw.randrange(1, 30))
        patch.setattr(scan, "_BATCH", draw.randrange(1, 30))
        patch.setattr(scan, "cores", lambda: draw.randrange(1, 5))
        patch.setattr(spill, "WINDOW", draw.randrange(1, 60))
        patch.setattr(spill, "BUDGET", draw.choice([0, 1 << 20]))
        assert outcome(reader.open_log, inputs) == whole


def check_history(
    form: Form, seed: str, folder: Path, draw: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log, whole, damaged, cut, in files that repeat others, lack records or are given in another
    order."""
    wants = replace(luw_history.wants_of(draw.randrange(99)), changes=40, values=False)
    history = luw_history.History(seed, form, wants)
    luw_history.case_of(history, folder)
    records = [record.bytes for record in history.log.records]
    one, two = sorted(draw.sample(range(1, len(records)), 2))
    whole = b"".join(records)
    logs = {
        "whole": [whole],
        "two": [b"".join(records[:one]), b"".join(records[one:])],
        "again": [b"".join(records[:two]), b"".join(records[one:])],
        "gap": [b"".join(records[:one]), b"".join(records[one + 2 :])],
        "thin": [b"".join(record for record in records if draw.random() < 0.8)],
        "turned": [b"".join(records[one:]), b"".join(records[:one])],
        "headless": [b"".join(records[one:])],
        "cut": [whole[: draw.randrange(len(whole) // 2, len(whole))]],
        "zeros": [whole + bytes(draw.randrange(5000))],
        "rest": [whole + bytes(draw.randrange(20)) + b"\1"],
        **{f"harm {number}": [harmed_log(history.log, draw)[1]] for number in range(4)},
    }
    for name, parts in logs.items():
        paths = [folder / f"{name} {number}" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_bytes(part)
        inputs = Inputs(
            log=tuple(map(str, paths)), catalog=str(folder / "catalog.csv"),
            framing=form.framing, scratch=str(folder),
            options={"byte-order": form.order, "dialect": form.release},
        )  # fmt: skip
        compare(inputs, draw, monkeypatch)


#: Servers whose byte order of positions is not known, and logs of several log streams.
ODD_FORMS = [
    *(
        Form("v7", "little", name, name != "raw", turned=turned)
        for name in ("lsn6", "raw")
        for turned in (False, True)
    ),
    *(
        Form("v10", luw_history.ORDERS[gaps], name, gaps, streams=2 + gaps)
        for name in ("lri48", "flt56", "raw", "lsn8")
        for gaps in (False, True)
    ),
]


@pytest.mark.parametrize("seed", few(range(8 + len(ODD_FORMS)), *range(8)))
def test_histories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of all releases, some of them filtered."""
    draw, form = random.Random(f"ranges {seed}"), luw_history.form_of(seed)
    form = replace(form, gaps=form.framing != "raw" and seed % 2 > 0)
    form = ODD_FORMS[seed - 8] if seed >= 8 else form
    check_history(form, f"ranges {seed}", tmp_path, draw, monkeypatch)


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


def test_names_are_those_of_all_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(many_units(60).bytes())
    (tmp_path / "catalog.csv").write_text(catalog_csv((PLAIN,)), encoding="utf-8")
    inputs = Inputs(log=(str(tmp_path / "log"),), catalog=str(tmp_path / "catalog.csv"))
    assert len({*reader.open_log(inputs).units()["authid"].tolist()}) > 4
    compare(inputs, random.Random("names"), monkeypatch)


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
def test_units_that_may_begin_others(
    framing_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    compare(inputs, random.Random("s"), monkeypatch)


def in_turns(count: int) -> tuple[LogBuilder, list[Transaction]]:
    """Units that are open side by side, each with a row."""
    builder = LogBuilder("v10", True, "flt56")
    made = [builder.begin() for _ in range(count)]
    for number, unit in enumerate(made):
        unit.insert(PLAIN, row(number), (1, number))
    return builder, made


@pytest.mark.long
def test_a_record_that_names_one_of_another_unit_far_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder, made = in_turns(30)
    made[3].previous = made[20].previous
    for unit in made:
        unit.commit()
    inputs = as_log(tmp_path, builder)
    log = reader.open_log(inputs)
    assert (log.entries()["fault"] > 0).sum() == 2
    compare(inputs, random.Random("far"), monkeypatch)


def test_what_a_filter_left_out_is_missed_between_files_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    compare(inputs, random.Random("filter"), monkeypatch)


def test_records_that_are_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few of a log that holds all others."""
    builder, made = in_turns(30)
    for unit in made:
        unit.commit()
    inputs = as_log(tmp_path, builder)
    (tmp_path / "log").write_bytes(b"".join(builder.records[:13] + builder.records[14:]))
    log = reader.open_log(inputs)
    assert any("1 place where records are missing" in text for text in log.opening_warnings)
    assert log.units()["incomplete"].sum() == 1
    compare(inputs, random.Random("lost"), monkeypatch)
    with pytest.raises(InputError, match="LR2037"):
        reader.open_log(replace(inputs, gaps=Gaps.REFUSE))


@pytest.mark.parametrize("damaged", [False, True])
def test_rows_of_temporary_tables(
    damaged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    compare(inputs, random.Random("temporary"), monkeypatch)


def with_subtransactions(draw: random.Random, framing_name: str, sound: bool) -> LogBuilder:
    """Units with subtransactions, whose ids come again in others (``sound``: not), which are open
    side by side, take changes back, and end by themselves or not."""
    builder = LogBuilder("v10", draw.random() < 0.5, framing_name)
    units, owned = list[Transaction](), dict[int, list[Transaction]]()
    for number in range(120):
        if len(units) < 2 or draw.random() < 0.2:
            unit = builder.begin()
            if draw.random() < 0.8:
                unit.insert(PLAIN, row(number), (1, number))
            units.append(unit)
            owned[unit.tid] = []
            continue
        unit = draw.choice(units)
        made = draw.choice([unit, *owned[unit.tid]])
        if not sound and draw.random() < 0.2:
            made = draw.choice([unit, *(child for each in owned.values() for child in each)])
        match draw.choice(("insert", "update", "undo", "begin", "begin", "end", "commit")):
            case "insert":
                made.insert(PLAIN, row(number), (2, number))
            case "update":
                made.update(PLAIN, row(number), row(number, "Bea"), (draw.randrange(3), number))
            case "undo" if made.written:
                made.undo(made.written[-1])
            case "begin":
                child = builder.begin()
                if not sound and draw.random() < 0.3:
                    child.tid = draw.choice(units).tid
                early = draw.random() < 0.3
                if early:
                    child.insert(PLAIN, row(number), (3, number))
                size = 5 if draw.random() < 0.1 else draw.choice([6, 10])
                unit.add(0x46, (builder.six(child.tid) + bytes(4))[:size])
                owned[unit.tid].append(child)
            case "end" if owned[unit.tid]:
                child = owned[unit.tid].pop()
                draw.choice([child.commit, child.abort])()
            case "commit":
                units.remove(unit)
                if draw.random() < 0.8:
                    draw.choice([unit.commit, unit.commit, unit.abort])()
    return builder


@pytest.mark.long
@pytest.mark.parametrize("framing_name", ["flt56", "lri48", "lsn8", "raw"])
@pytest.mark.parametrize("sound", [True, False])
def test_subtransactions(
    sound: bool, framing_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, lacking records, in two files, and cut."""
    for seed in range(6):
        draw = random.Random(f"owned {framing_name} {sound} {seed}")
        builder = with_subtransactions(draw, framing_name, sound)
        order = "big" if builder.big else "little"
        inputs = replace(as_log(tmp_path, builder), options={"byte-order": order, "dialect": "v10"})
        compare(inputs, draw, monkeypatch)
        records, at = builder.records, draw.randrange(1, 200)
        thin = [record for record in records if draw.random() < 0.9]
        for parts in ((thin,), (records[:at], records[at:]), (records[at:],), (records[:at],)):
            paths = [tmp_path / f"part {number}" for number in range(len(parts))]
            for path, part in zip(paths, parts, strict=True):
                path.write_bytes(b"".join(part))
            compare(replace(inputs, log=tuple(map(str, paths))), draw, monkeypatch)


@pytest.mark.parametrize("framing_name", ["flt56", "raw"])
def test_a_subtransaction_that_goes_on_behind_its_owner_is_contradicted(
    framing_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = LogBuilder("v10", True, framing_name)
    unit, child = builder.begin(), builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.add(0x46, builder.six(child.tid))
    child.insert(PLAIN, row(2), (1, 2))
    unit.commit()
    child.insert(PLAIN, row(3), (1, 3))
    inputs = as_log(tmp_path, builder)
    assert (reader.open_log(inputs).entries()["fault"] > 0).any()
    compare(inputs, random.Random("behind"), monkeypatch)


@pytest.mark.parametrize("dialect", ["v7", "v97", "v10"])
def test_forgotten_transactions_are_no_subtransactions(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have the same type: of earlier releases, and without an id."""
    builder = LogBuilder(dialect, True, {"v7": "lsn6", "v97": "flt16"}.get(dialect, "flt56"))
    for number in range(6):
        unit = builder.begin()
        unit.insert(PLAIN, row(number), (1, number))
        unit.commit()
        unit.previous = 0
        unit.add(0x46, b"" if dialect == "v10" else builder.six(unit.tid + 1))
    inputs = as_log(tmp_path, builder)
    assert reader.open_log(inputs).units()["disposition"].tolist().count(ord("C")) == 18
    compare(inputs, random.Random("forget"), monkeypatch)
