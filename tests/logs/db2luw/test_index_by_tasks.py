"""The index of a large log made by tasks, range by range and transaction by transaction: it and
what is said are the same as where one process goes from beginning to end."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.logs import Inputs
from replay.logs.db2luw import framed, framing, gathered, reader, scan
from replay.pipeline import input_digests, local, range_walk
from replay.pipeline import opening_tasks as opening
from tests.independent import luw_history
from tests.independent.harm import harmed_log
from tests.logs.db2luw.test_damage import row
from tests.logs.db2luw.test_histories import SHAPES
from tests.logs.test_index_in_parts import log_of_units, outcome
from tests.support.luwbuilder import LogBuilder, catalog_csv
from tests.support.luwhistory import PLAIN, History
from tests.support.opening import Tasks, check_bundles

#: Of the shapes of logs, those in the fast lane.
FEW = ((True, "lsn8"), (True, "lri48"))


@pytest.fixture(autouse=True)
def _many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "cores", lambda: 8)


def small(draw: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges, splits and batches of a few records."""
    width = draw.randrange(400, 3000)
    for module in (input_digests, range_walk):
        monkeypatch.setattr(module, "WHOLE_BYTES", 1000)
        monkeypatch.setattr(module, "RANGE_BYTES", width)
    monkeypatch.setattr(framed, "TASKS_FROM", 0)
    monkeypatch.setattr(opening, "_SPLIT_BYTES", draw.randrange(50, 1500))
    monkeypatch.setattr(gathered, "_TOGETHER", draw.randrange(500, 5000))
    monkeypatch.setattr(framing, "_TOGETHER", draw.randrange(1, 30))
    monkeypatch.setattr(framing, "WORTH", draw.choice([0, 1 << 40]))
    monkeypatch.setattr(scan, "_BATCH", draw.randrange(1, 30))


def compare(inputs: Inputs, draw: random.Random, monkeypatch: pytest.MonkeyPatch) -> Tasks:
    whole, tasks = outcome(reader.open_log, inputs), Tasks(draw)
    with monkeypatch.context() as patch:
        small(draw, patch)
        assert outcome(reader.open_log, replace(inputs, tasks=tasks.tasks())) == whole
    assert not (tasks.wrote and tasks.reasons)
    return tasks


@pytest.mark.parametrize("seed", range(12))
def test_histories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of all releases, whole, damaged, cut, in files that repeat others, lack records or are
    given in another order."""
    draw, form = random.Random(f"tasks {seed}"), luw_history.form_of(seed)
    form = replace(form, gaps=form.gaps and seed % 2 > 0)
    wants = replace(luw_history.wants_of(seed), changes=40, values=False)
    history = luw_history.History(f"tasks {seed}", form, wants)
    luw_history.case_of(history, tmp_path)
    records = [record.bytes for record in history.log.records]
    one, two = sorted(draw.sample(range(1, len(records)), 2))
    whole = b"".join(records)
    files = {
        "whole": [whole],
        "again": [b"".join(records[:two]), b"".join(records[one:])],
        "gap": [b"".join(records[:one]), b"".join(records[one + 2 :])],
        "turned": [b"".join(records[one:]), b"".join(records[:one])],
        "headless": [b"".join(records[one:])],
        "cut": [whole[: draw.randrange(len(whole) // 2, len(whole))]],
        "zeros": [whole + bytes(draw.randrange(5000))],
        "rest": [whole + bytes(draw.randrange(20)) + b"\1"],
        **{f"harm {number}": [harmed_log(history.log, draw)[1]] for number in range(4)},
    }
    for name, parts in files.items():
        paths = [tmp_path / f"{name} {number}" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_bytes(part)
        inputs = Inputs(
            log=tuple(map(str, paths)), catalog=str(tmp_path / "catalog.csv"),
            framing=form.framing, scratch=str(tmp_path),
            options={"byte-order": form.order, "dialect": form.release},
        )  # fmt: skip
        tasks = compare(inputs, draw, monkeypatch)
        assert tasks.looked > 1 or name != "whole"
        # the byte order of positions of 6 bytes is found out of all records
        known = form.order == "big" or form.release != "v7"
        assert tasks.wrote or form.gaps or not known or name not in ("whole", "zeros")


@pytest.mark.parametrize(
    ("dialect", "big", "framing_name"),
    [
        pytest.param(*shape, marks=[] if shape[1:] in FEW else [pytest.mark.slow])
        for shape in SHAPES
    ],
)
def test_tables_and_moves(
    dialect: str, big: bool, framing_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables that change, rows that move, work that is taken back, units that begin before the log
    or end behind it."""
    draw = random.Random(f"{dialect} {big} {framing_name}")
    history = History(draw.randrange(1000), dialect, big, framing_name).run(200)
    (tmp_path / "catalog.csv").write_text(catalog_csv(history.catalog), encoding="utf-8")
    records, wrote = history.log.records, 0
    cuts = [0, *(draw.randrange(len(records) // 2) for _ in range(3))]
    for first in cuts:
        (tmp_path / "log").write_bytes(b"".join(records[first : len(records) - first // 3]))
        inputs = Inputs(
            log=(str(tmp_path / "log"),), catalog=str(tmp_path / "catalog.csv"),
            framing=framing_name, scratch=str(tmp_path),
            options={"byte-order": "big" if big else "little", "dialect": dialect},
        )  # fmt: skip
        wrote += compare(inputs, draw, monkeypatch).wrote
    assert wrote > 1 or (dialect, big) == ("v7", False)


@pytest.mark.parametrize("seed", range(16))
def test_units(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(f"tasks' units {seed}")
    inputs = log_of_units(tmp_path, draw, seed)
    assert compare(inputs, draw, monkeypatch).looked


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


def large_log(folder: Path, count: int) -> Inputs:
    (folder / "log").write_bytes(many_units(count).bytes())
    (folder / "catalog.csv").write_text(catalog_csv((PLAIN,)), encoding="utf-8")
    return Inputs(
        log=(str(folder / "log"),), catalog=str(folder / "catalog.csv"), scratch=str(folder)
    )


def test_names_are_those_of_all_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = large_log(tmp_path, 60)
    assert len({*reader.open_log(inputs).units()["authid"].tolist()}) > 4
    assert compare(inputs, random.Random("names"), monkeypatch).wrote


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
def test_a_backup_within_a_transaction_is_judged_by_one_process(
    framing_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = LogBuilder("v97", True, framing_name)
    unit = builder.begin()
    unit.insert(PLAIN, row(1), (1, 1))
    unit.add(0x6F, bytes(20))
    unit.insert(PLAIN, row(2), (1, 2))
    unit.commit()
    assert not compare(as_log(tmp_path, builder), random.Random("b"), monkeypatch).wrote


@pytest.mark.parametrize("framing_name", ["raw", "flt16"])
def test_units_that_may_begin_others_are_judged_by_one_process(
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
    tasks = compare(inputs, random.Random("s"), monkeypatch)
    assert not tasks.wrote
    assert len(tasks.reasons) == 1


def test_small_logs_and_other_engines_ask_no_tasks(tmp_path: Path) -> None:
    inputs, tasks = large_log(tmp_path, 5), Tasks(random.Random("small"))
    reader.open_log(replace(inputs, tasks=tasks.tasks()))
    assert not tasks.looked + tasks.walked
    assert opening.tasks_of(local.ENGINE) is None


def test_what_was_unpacked_here_is_not_given_to_tasks_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framed, "TASKS_FROM", 0)
    inputs, tasks = large_log(tmp_path, 5), Tasks(random.Random("far"))
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress((tmp_path / "log").read_bytes()))
    far = replace(tasks.tasks(), elsewhere=lambda: True)
    reader.open_log(replace(inputs, log=(str(packed),), tasks=far))
    assert not tasks.looked
    reader.open_log(replace(inputs, tasks=far))
    assert tasks.looked


def test_bundles_of_spark_are_those_of_the_local_engine(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from replay.pipeline import spark_engine

    inputs = large_log(tmp_path, 400)
    here = reader.open_log(inputs)
    small(random.Random("spark"), monkeypatch)
    monkeypatch.setattr(opening, "_SPLIT_BYTES", 20_000)
    tasks = spark_engine.engine(lambda: spark.sparkContext)
    there = reader.open_log(replace(inputs, tasks=opening.tasks_of(tasks)))
    assert set(there.digests) == {str(tmp_path / "log")}
    assert str(there.arrays[0]).endswith("entries.npy")
    check_bundles(here, there, tasks, tmp_path)
