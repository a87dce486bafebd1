"""The index of a large log made by tasks, range by range and transaction by transaction: it and
what is said are the same as where one process goes from beginning to end."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.changes.choices import Gaps
from replay.engine import local
from replay.errors import InputError
from replay.logs import Inputs
from replay.logs.db2luw import by_transaction, framed, framing, gathered, range_watch, reader, scan
from replay.pipeline import input_digests, range_walk
from replay.pipeline import opening_tasks as opening
from tests.independent import luw_history
from tests.independent.harm import harmed_log
from tests.independent.luw_records import Form
from tests.logs.db2luw.test_damage import row
from tests.logs.db2luw.test_histories import SHAPES
from tests.logs.test_index_in_parts import log_of_units, outcome
from tests.support.luwbuilder import LogBuilder, Transaction, catalog_csv
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


#: Framings that tell the positions which records name.
TELLING = ("lsn6", "flt16", "flt16/6", "lri48", "flt56")


#: What tasks that are told of few places only may say.
_UNDECIDED = "places where records may be missing"


def known_by_tasks(form: Form) -> bool:
    """Whether tasks index a log in this form: where no position is told, nothing says what a filter
    left out."""
    telling = form.framing in TELLING or (form.framing, form.release) == ("lsn8", "v97")
    return telling or not form.gaps


def check_history(
    form: Form,
    seed: str,
    folder: Path,
    draw: random.Random,
    monkeypatch: pytest.MonkeyPatch,
    known: bool = True,
) -> None:
    """A log, whole, damaged, cut, in files that repeat others, lack records or are given in another
    order. ``known``: tasks are sure of those that are whole."""
    wants = replace(luw_history.wants_of(draw.randrange(99)), changes=40, values=False)
    history = luw_history.History(seed, form, wants)
    luw_history.case_of(history, folder)
    records = [record.bytes for record in history.log.records]
    one, two = sorted(draw.sample(range(1, len(records)), 2))
    whole = b"".join(records)
    files = {
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
    for name, parts in files.items():
        paths = [folder / f"{name} {number}" for number in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_bytes(part)
        inputs = Inputs(
            log=tuple(map(str, paths)), catalog=str(folder / "catalog.csv"),
            framing=form.framing, scratch=str(folder),
            options={"byte-order": form.order, "dialect": form.release},
        )  # fmt: skip
        tasks = compare(inputs, draw, monkeypatch)
        assert tasks.looked > 1 or name != "whole"
        wanted = known and known_by_tasks(form) and name in ("whole", "two", "zeros")
        reasons = {*tasks.reasons} - ({_UNDECIDED} if form.expanded else set())
        assert tasks.wrote or not wanted or not reasons, (name, tasks.reasons)


@pytest.mark.parametrize("seed", range(12))
def test_histories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of all releases, some of them filtered."""
    draw, form = random.Random(f"tasks {seed}"), luw_history.form_of(seed)
    form = replace(form, gaps=form.framing != "raw" and seed % 2 > 0)
    check_history(form, f"tasks {seed}", tmp_path, draw, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("shown", [1 << 20, 40])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("framing_name", ["lsn6", "raw"])
def test_histories_of_servers_whose_byte_order_of_positions_is_not_known(
    framing_name: str, turned: bool, shown: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first records show it, or (within 40 bytes) do not: then it may be the usual one."""
    draw = random.Random(f"orders {framing_name} {turned} {shown}")
    gaps = framing_name != "raw" and shown > 40
    form = Form("v7", "little", framing_name, gaps, turned=turned)
    monkeypatch.setattr(gathered, "_ORDER_SHOWS", shown)
    known = shown > 40 or not turned
    check_history(form, f"orders {framing_name}", tmp_path, draw, monkeypatch, known)


def test_positions_that_rise_in_no_byte_order_are_judged_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = LogBuilder("v7", False, "lsn6")
    builder.lsn = 0x0100_0000_00FE
    inputs = replace(as_log(tmp_path, builder), options={"byte-order": "little", "dialect": "v7"})
    records = builder.records
    assert compare(inputs, random.Random("0"), monkeypatch).wrote
    (tmp_path / "log").write_bytes(b"".join([*records[:4], *records[8:], *records[4:8]]))
    tasks = compare(inputs, random.Random("1"), monkeypatch)
    assert tasks.reasons == ["positions whose byte order is not known"]


@pytest.mark.long
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("framing_name", ["lri48", "flt56", "raw", "lsn8"])
def test_histories_of_several_log_streams(
    framing_name: str, gaps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(f"streams {framing_name} {gaps}")
    form = Form("v10", draw.choice(luw_history.ORDERS), framing_name, gaps, streams=2 + gaps)
    check_history(form, f"streams {framing_name}", tmp_path, draw, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("number", range(6))
def test_histories_of_rows_that_the_log_reader_expanded(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions fall behind the lengths of records, and go on further where some were left out."""
    draw = random.Random(f"expanded {number}")
    release, framing_name = [("v10", "flt56"), ("v97", "flt16"), ("v10", "lri48")][number % 3]
    form = Form(release, draw.choice(luw_history.ORDERS), framing_name, number > 2, expanded=True)
    form = replace(form, streams=1 + (release == "v10") * draw.randrange(2))
    monkeypatch.setattr(range_watch, "_MARKS", draw.choice([2, 3, 16]))
    check_history(form, f"expanded {number}", tmp_path, draw, monkeypatch)


@pytest.mark.parametrize(
    ("dialect", "big", "framing_name"),
    [
        pytest.param(*shape, marks=[] if shape[1:] in FEW else [pytest.mark.long])
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
    assert wrote > 1


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


def in_turns(count: int) -> tuple[LogBuilder, list[Transaction]]:
    """Units that are open side by side, each with a row."""
    builder = LogBuilder("v10", True, "flt56")
    made = [builder.begin() for _ in range(count)]
    for number, unit in enumerate(made):
        unit.insert(PLAIN, row(number), (1, number))
    return builder, made


@pytest.mark.long
def test_a_record_that_names_one_of_another_unit_far_away_is_judged_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task that judges its unit has the other one, nor has the split that it is in."""
    builder, made = in_turns(30)
    made[3].previous = made[20].previous
    for unit in made:
        unit.commit()
    inputs = as_log(tmp_path, builder)
    log = reader.open_log(inputs)
    assert (log.entries()["fault"] > 0).sum() == 2
    for seed in range(4):
        tasks = compare(inputs, random.Random(seed), monkeypatch)
        assert tasks.reasons == [
            "records that name others which are not those of their transaction"
        ]
    assert not list(tmp_path.glob("index-*/entries.npy"))


def test_tasks_of_spark_say_that_a_record_names_one_of_another_unit(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from replay.engine import spark as spark_engine

    builder, made = in_turns(30)
    made[3].previous = made[20].previous
    for unit in made:
        unit.commit()
    inputs, told = as_log(tmp_path, builder), list[str]()
    here = outcome(reader.open_log, inputs)
    small(random.Random("spark"), monkeypatch)
    started = spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    tasks = opening.EngineTasks(lambda: started, lambda: False, lambda why, _: told.append(why))
    assert outcome(reader.open_log, replace(inputs, tasks=tasks)) == here
    assert told == ["records that name others which are not those of their transaction"]


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
    for seed in range(4):
        assert compare(inputs, random.Random(seed), monkeypatch).wrote


def test_records_that_are_lost_are_told_by_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few of a log that holds all others."""
    builder, made = in_turns(30)
    for unit in made:
        unit.commit()
    inputs = as_log(tmp_path, builder)
    (tmp_path / "log").write_bytes(b"".join(builder.records[:13] + builder.records[14:]))
    log = reader.open_log(inputs)
    assert any("1 place(s) where records are missing" in text for text in log.opening_warnings)
    assert log.units()["incomplete"].sum() == 1
    for seed in range(4):
        assert compare(inputs, random.Random(seed), monkeypatch).wrote
    with pytest.raises(InputError, match="LR2037"):
        compare_refusing(inputs, monkeypatch)


def compare_refusing(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open a log by tasks where it may have no holes."""
    tasks = Tasks(random.Random("refusing"))
    with monkeypatch.context() as patch:
        small(tasks.draw, patch)
        reader.open_log(replace(inputs, tasks=tasks.tasks(), gaps=Gaps.REFUSE))


@pytest.mark.parametrize("damaged", [False, True])
def test_rows_of_temporary_tables(
    damaged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks pass over rows of tables that have no others; else the flag may be damage."""
    builder, made = in_turns(10)
    table = PLAIN if damaged else replace(PLAIN, id=900)
    for number, unit in enumerate(made):
        image = table.row(row(number), True)
        payload = unit.prefix(162, table, (7, number), len(image)) + image
        unit.add(0x4E, payload, flags=6)
        unit.commit()
    inputs = as_log(tmp_path, builder)
    for seed in range(3):
        tasks = compare(inputs, random.Random(seed), monkeypatch)
        assert tasks.wrote is not damaged
        assert tasks.reasons == ["rows of temporary tables in others"] * damaged


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
    wrote = 0
    for seed in range(6):
        draw = random.Random(f"owned {framing_name} {sound} {seed}")
        builder = with_subtransactions(draw, framing_name, sound)
        order = "big" if builder.big else "little"
        inputs = replace(as_log(tmp_path, builder), options={"byte-order": order, "dialect": "v10"})
        tasks = compare(inputs, draw, monkeypatch)
        wrote += tasks.wrote
        records, at = builder.records, draw.randrange(1, 200)
        thin = [record for record in records if draw.random() < 0.9]
        for parts in ((thin,), (records[:at], records[at:]), (records[at:],), (records[:at],)):
            paths = [tmp_path / f"part {number}" for number in range(len(parts))]
            for path, part in zip(paths, parts, strict=True):
                path.write_bytes(b"".join(part))
            compare(replace(inputs, log=tuple(map(str, paths))), draw, monkeypatch)
    assert wrote == 6 or not sound


@pytest.mark.long
def test_subtransactions_without_records_and_many_ones_are_judged_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is of a subtransaction, a change without a previous one begins a unit."""
    builder, made = in_turns(9)
    for unit in made:
        unit.add(0x46, builder.six(0xFFFF))
        unit.previous = 0
        unit.insert(PLAIN, row(1), (2, 2))
        unit.commit()
    tasks = compare(as_log(tmp_path, builder), random.Random("none"), monkeypatch)
    assert tasks.reasons == ["subtransactions without records"]
    inputs = as_log(tmp_path, with_subtransactions(random.Random("many"), "flt56", True))
    inputs = replace(inputs, options={"dialect": "v10"})
    for module in (gathered, by_transaction):
        with monkeypatch.context() as patch:
            patch.setattr(module, "_MOST_OWNERS", 1)
            tasks = compare(inputs, random.Random("many"), patch)
        assert tasks.reasons == ["many subtransactions"]


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
    for seed in range(3):
        tasks = compare(inputs, random.Random(seed), monkeypatch)
        assert tasks.wrote is (framing_name == "flt56")


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
    assert compare(as_log(tmp_path, builder), random.Random("forget"), monkeypatch).wrote


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
    from replay.engine import spark as spark_engine

    inputs = large_log(tmp_path, 400)
    here = reader.open_log(inputs)
    small(random.Random("spark"), monkeypatch)
    monkeypatch.setattr(opening, "_SPLIT_BYTES", 20_000)
    tasks = spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    there = reader.open_log(replace(inputs, tasks=opening.tasks_of(tasks)))
    assert set(there.digests) == {str(tmp_path / "log")}
    assert str(there.arrays[0]).endswith("entries.npy")
    check_bundles(here, there, tasks, tmp_path)
