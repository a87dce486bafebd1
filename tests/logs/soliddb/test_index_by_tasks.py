"""The index of a large export made by tasks, range by range: it and what is said are the same as
where one process goes from beginning to end."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from replay.engine import local
from replay.logs import Inputs, long_arrays
from replay.logs.by_tasks import OddError
from replay.logs.soliddb import (
    by_range,
    by_version,
    export_files,
    export_ranges,
    gathered,
    index,
    reader,
)
from replay.pipeline import input_digests, range_walk
from replay.pipeline import opening_tasks as opening
from tests.independent import solid_export, solid_history
from tests.independent.harm import harmed_export
from tests.independent.solid_export import form_of
from tests.logs.soliddb.test_histories import SHAPES
from tests.logs.soliddb.test_structure import NEW, OLD, unit
from tests.logs.test_index_in_parts import as_kind, outcome
from tests.support.few import few
from tests.support.opening import Tasks, check_bundles
from tests.support.solidbuilder import (
    Col,
    Framing,
    LogBuilder,
    Tab,
    Unit,
    write_catalog,
    write_rows,
)
from tests.support.solidhistory import History


@pytest.fixture(autouse=True)
def _many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "cores", lambda: 8)


def small(draw: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges, pieces and results of a few rows."""
    monkeypatch.setattr(gathered, "TASKS_FROM", 0)
    monkeypatch.setattr(export_ranges, "RANGE_BYTES", draw.choice([1500, 6000, 50_000]))
    monkeypatch.setattr(export_ranges, "_PIECE", draw.choice([100, 2000, 1 << 20]))
    monkeypatch.setattr(export_ranges, "_FEW_BYTES", draw.choice([1, 150]))
    monkeypatch.setattr(export_ranges, "_ROWS", draw.randrange(1, 30))
    monkeypatch.setattr(export_ranges, "_FEW_ROWS", draw.randrange(1, 9))
    monkeypatch.setattr(export_ranges, "_LINE", draw.choice([1, 60, 1 << 16]))
    monkeypatch.setattr(export_files, "_SMALL_BLOCK", draw.choice([1 << 9, 1 << 20]))
    monkeypatch.setattr(by_range, "_RESULT", draw.choice([1, 1000]))
    monkeypatch.setattr(by_range, "_LARGE", draw.choice([0, 1 << 40]))
    monkeypatch.setattr(long_arrays, "WINDOW", draw.choice([7, 50, 1 << 17]))
    monkeypatch.setattr(index, "_BATCH", draw.choice([5, 1 << 18]))


def compare(inputs: Inputs, draw: random.Random, monkeypatch: pytest.MonkeyPatch) -> Tasks:
    whole, tasks = outcome(reader.open_log, inputs), Tasks(draw)
    with monkeypatch.context() as patch:
        small(draw, patch)
        assert outcome(reader.open_log, replace(inputs, tasks=tasks.tasks())) == whole
    if isinstance(whole, str):
        assert tasks.reasons
    assert tasks.wrote or tasks.reasons
    return tasks


KINDS = ["csv", "parquet", "jsonl", "jsonl.gz", "csv.gz"]


def written(path: Path, kind: str) -> str:
    """A CSV export as a kind of file."""
    bare = kind.removesuffix(".gz")
    if bare == "parquet":
        columns = path.read_text(encoding="utf-8").partition("\n")[0].strip().split(",")
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
        )
        other = path.with_suffix(".parquet")
        parquet.write_table(csv.read_csv(path, convert_options=options), other, row_group_size=17)
        return str(other)
    other = as_kind(path, bare)
    if bare != kind:
        packed = other.with_name(f"{other.name}.gz")
        packed.write_bytes(gzip.compress(other.read_bytes()))
        return str(packed)
    return str(other)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_histories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exports in all framings, whole, damaged, cut, in files that go on, repeat others, lack rows
    or are given in another order."""
    draw, kind = random.Random(f"tasks {seed}"), KINDS[seed % len(KINDS)]
    form = form_of(seed)
    history = solid_history.History(f"tasks {seed}", form, 30, 3, bytes_too=seed % 2 > 0)
    solid_history.case_of(history, tmp_path, named=False)
    lines = history.export.lines
    one, two = sorted(draw.sample(range(1, len(lines)), 2))
    exports = {
        "whole": [lines],
        "two": [lines[:one], lines[one:]],
        "again": [lines[:two], lines[one:]],
        "turned": [lines[one:], lines[:one]],
        "headless": [lines[one:]],
        "cut": [lines[:two]],
        **{f"harm {number}": [harmed_export(history.export, draw)[1]] for number in range(4)},
    }
    for name, parts in exports.items():
        paths, before = [], 0
        for number, part in enumerate(parts):
            (tmp_path / f"{name} {number}").mkdir()
            path = solid_export.Export(history.form, part).write(tmp_path / f"{name} {number}")
            if name == "two":
                text = path.read_text(encoding="utf-8").split("\n")
                counted = [f"{before + at},{row.partition(',')[2]}" for at, row in enumerate(text)]
                path.write_text("\n".join([text[0], *counted[1:-1], ""]), encoding="utf-8")
                before += len(part)
            paths.append(written(path, kind))
        inputs = Inputs(
            log=tuple(paths), catalog=str(tmp_path), scratch=str(tmp_path),
            framing=draw.choice([None, history.form.name]), options={"gaps": "accept"},
        )  # fmt: skip
        tasks = compare(inputs, draw, monkeypatch)
        assert tasks.wrote or name not in ("whole", "headless", "cut"), tasks.reasons


@pytest.mark.long
@pytest.mark.parametrize(("framing", "size", "columns"), SHAPES, ids=str)
def test_tables_that_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, framing: Framing, size: int, columns: str
) -> None:
    """What is made, dropped, emptied and indexed, columns that are added and dropped, with their
    statements or without. Keys that move, rows that come and go within a statement."""
    for seed in range(4):
        draw = random.Random(f"{framing} {size} {seed}")
        history = History(
            draw.randrange(99), framing, size, seed % 2 > 0, columns == "A", columns
        ).run(40)
        write_catalog(tmp_path, history.catalog)
        path = write_rows(tmp_path / f"syslog {seed}.{draw.choice(KINDS)}", history.log.rows)
        inputs = Inputs(log=(str(path),), catalog=str(tmp_path), scratch=str(tmp_path))
        tasks = compare(inputs, draw, monkeypatch)
        assert tasks.wrote, tasks.reasons


def log_of(folder: Path, log: LogBuilder, *tables: Any, **more: Any) -> Inputs:
    write_catalog(folder, tables or (OLD,))
    path = write_rows(folder / "syslog.csv", log.rows)
    return Inputs(log=(str(path),), catalog=str(folder), scratch=str(folder), **more)


def insert(number: int) -> Callable[[Unit], None]:
    return lambda made: made.insert(OLD, (number, "Ann"))


ADD = "ALTER TABLE T ADD COLUMN MORE INTEGER"
WIDE = replace(NEW, columns=(*NEW.columns, Col("LAST", "VARCHAR", 9)))


def altered(*steps: tuple[str | None, Tab]) -> LogBuilder:
    """Rows of a table, each stretch of them behind an ALTER TABLE (but the first one)."""
    log = LogBuilder()
    for number, (text, table) in enumerate(steps):
        if number:
            unit(log, lambda made, text=text: made.ddl(22, "T", OLD.relid, text))
        values = "Ann", 5, "x"
        for at in range(9):
            row = (10 * number + at, *values[: len(table.user()) - 1])
            unit(log, lambda made, table=table, row=row: made.insert(table, row))
    return log


MORE_TEXT = "ALTER TABLE T ADD COLUMN LAST VARCHAR(9)"
STEPS: dict[str, tuple[tuple[str | None, Tab], ...]] = {
    "added": (("", OLD), (ADD, NEW)),
    "added without a statement": (("", OLD), (None, NEW)),
    "twice": (("", OLD), (ADD, NEW), (MORE_TEXT, WIDE)),
    "twice without statements": (("", OLD), (None, NEW), (None, WIDE)),
    "widened": (("", NEW), (ADD, NEW)),
    "widened twice": (("", WIDE), (ADD, WIDE), (MORE_TEXT, WIDE)),
    "partly widened": (("", NEW), (ADD, NEW), (MORE_TEXT, WIDE)),
    "renamed": (("", OLD), ("ALTER TABLE T RENAME COLUMN LABEL NAME", OLD)),
    "not understood": (("", OLD), ("ALTER TABLE T MODIFY COLUMN NAME VARCHAR(20)", OLD)),
}


@pytest.mark.parametrize("kind", few(STEPS, "added", "widened", "renamed"))
def test_columns_that_change(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their statements or without, before images that are as they were, or have been widened
    to the columns of now; the export of the system tables is of the end, or of the beginning."""
    steps = STEPS[kind]
    log = altered(*steps)
    for seed, table in enumerate((steps[-1][1], steps[0][1])):
        if seed:
            at = {"metadata_logaddr": log.commits[3].hex()}
            (tmp_path / "manifest.json").write_text(json.dumps(at), encoding="utf-8")
        draw = random.Random(f"{kind} {seed}")
        tasks = compare(log_of(tmp_path, log, table), draw, monkeypatch)
        assert tasks.wrote or (seed and "widened" in kind), (seed, tasks.reasons)


def test_columns_that_follow_from_many_looks_are_judged_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What closes before one ALTER TABLE depends on what closes behind it."""
    inputs = log_of(tmp_path, altered(*STEPS["twice without statements"]), WIDE)
    for rounds, reasons in ((2, ["tables whose columns change"]), (3, [])):
        monkeypatch.setattr(by_version, "_ROUNDS", rounds)
        assert compare(inputs, random.Random("rounds"), monkeypatch).reasons == reasons


@pytest.mark.parametrize("seed", range(8))
def test_read_sessions(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a session each, named by SESSION, by the manifest or by SEQ alone; ends that the
    server told; gaps between them that the manifest knows of; units that have no commit."""
    draw, log = random.Random(f"sessions {seed}"), LogBuilder()
    files, sessions, start = [], list[dict[str, Any]](), None
    named = seed % 3 == 0
    for number in range(4):
        log.rows.clear()
        for at in range(draw.randrange(1, 6)):
            unit(log, insert(100 * number + at))
            if draw.random() < 0.2:
                log.nop()
        if draw.random() < 0.3:
            log.begin().insert(OLD, (100 * number + 50, "Bea"))
            for _ in range(draw.randrange(2)):
                log.nop()
        if draw.random() < 0.5:
            log.shutdown()
        rows = [{**row, "SESSION": number} if named else dict(row) for row in log.rows]
        files.append(str(write_rows(tmp_path / f"{number}.{draw.choice(KINDS)}", rows)))
        end = log.commits[-1].hex() if log.commits else None
        if draw.random() < 0.1:
            end = f"{'9' * 40}"
        sessions.append({"start_logaddr": start, "last_commit_logaddr": end})
        start = end if draw.random() < 0.9 else log.address().hex()
    write_catalog(tmp_path, (OLD,))
    if seed % 2:
        told = {"sessions": sessions, "metadata_logaddr": log.commits[0].hex()}
        (tmp_path / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    inputs = Inputs(
        log=tuple(files), catalog=str(tmp_path), scratch=str(tmp_path),
        options={} if seed % 4 > 1 else {"gaps": "accept"},
    )  # fmt: skip
    tasks = compare(inputs, draw, monkeypatch)
    assert "transactions without a commit" not in tasks.reasons


@pytest.mark.long
@pytest.mark.parametrize("ended", [False, True])
def test_transactions_that_nothing_ends_are_judged_by_one_process(
    ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its read session ends with it, a task cannot see that has no row behind it."""
    log, reasons = LogBuilder(), set[str]()
    for number in range(40):
        unit(log, insert(number))
        log.begin().insert(OLD, (100 + number, "Bea"))
        if ended:
            log.shutdown()
    inputs = log_of(tmp_path, log, options={"gaps": "accept"})
    for seed in range(10):
        reasons.update(compare(inputs, random.Random(f"open {seed}"), monkeypatch).reasons)
    assert reasons == (set() if ended else {"transactions without a commit"})


@pytest.mark.parametrize(
    ("policy", "batches"),
    few(
        [
            (None, 1),
            ("apply", 5),
            (None, 5),
            ("skip-deletes", 1),
            ("skip-deletes", 5),
            ("skip-all", 1),
        ],
        ("apply", 5),
    ),
)
def test_ids_that_come_again_flags_and_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str | None, batches: int
) -> None:
    """What a unit is called depends on all before it; warnings count what all ranges have."""
    draw, log = random.Random(f"ids {policy} {batches}"), LogBuilder()
    for number in range(40):
        log.next_id = 5 + draw.randrange(6)
        made = log.begin(0x41 if draw.random() < 0.2 else 1 | draw.choice([0, 0, 8, 16]))
        made.insert(OLD, (number, "Ann"))
        made.update(OLD, (number, "Ann"), (number, "Bea"))
        if draw.random() < 0.2:
            made.id += 100
        if draw.random() < 0.3:
            made.delete(OLD, (number, "Bea"))
        made.commit()
        if draw.random() < 0.1:
            log.rows[-2]["TEXTDATA"] = "text"
    options = {} if policy is None else {"capture-off": policy}
    inputs = log_of(tmp_path, log, options=options)
    (tmp_path / "manifest.json").write_text(json.dumps({"batch_size": batches}), encoding="utf-8")
    tasks = compare(inputs, draw, monkeypatch)
    assert tasks.wrote, tasks.reasons


@pytest.mark.parametrize("seed", range(8))
def test_addresses(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Habits are those of the whole log: addresses that fall or leave out numbers within
    transactions, and such as do not tell commits apart."""
    draw, log = random.Random(f"addresses {seed}"), LogBuilder()
    for number in range(12):
        unit(log, lambda made, number=number: [insert(10 * number + at)(made) for at in range(6)])
    rows = [dict(row) for row in log.rows]
    for _ in range(draw.randrange(1, 4)):
        number = draw.randrange(1, len(rows) - 1)
        if draw.random() < 0.5:
            del rows[number]
        else:
            rows[number]["LOGADDR"] = rows[number - 1]["LOGADDR"]
    if seed % 4 == 3:
        for row in rows:
            row["LOGADDR"] = bytes(8) + row["LOGADDR"][8:]
    rows = [{**row, "SEQ": at} for at, row in enumerate(rows)]
    write_catalog(tmp_path, (OLD,))
    path = write_rows(tmp_path / f"rows.{KINDS[seed % len(KINDS)]}", rows)
    inputs = Inputs(log=(str(path),), catalog=str(tmp_path), scratch=str(tmp_path))
    compare(inputs, draw, monkeypatch)


@pytest.mark.parametrize(
    ("lines", "odd"),
    [
        ('a,b\n1,"x"\n', False),
        ('a,"b ""c"", d"\n"","x"\r\n1,2\n', False),
        ('"",""\n"a""",""""\n', False),
        ('1,"x\ny"\n', True),
        ('1,a"b\n', True),
        ('1,a","x"\n', True),
        ('1,a"b,"x\n', True),
        ('1,"x"y\n', True),
        ('1,"\n"\n', True),
    ],
)
def test_quotes_that_leave_lines_whole(tmp_path: Path, lines: str, odd: bool) -> None:
    """Only where each line has whole values is the end of a line that of a row."""
    import numpy as np

    octets = np.frombuffer(lines.encode(), np.uint8)
    if odd:
        with pytest.raises(OddError):
            export_ranges._check_quotes(octets, ord(","))
    else:
        export_ranges._check_quotes(octets, ord(","))


def quoted(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    lines = write_rows(path, rows).read_text(encoding="utf-8").splitlines()
    path.write_text(
        "".join(",".join(f'"{value}"' for value in line.split(",")) + "\n" for line in lines),
        encoding="utf-8",
    )
    return path


def test_csv_in_quotes_and_blank_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = LogBuilder()
    for number in range(20):
        unit(log, insert(number))
    inputs = log_of(tmp_path, log)
    path = quoted(tmp_path / "quoted.csv", log.rows)
    path.write_text(path.read_text(encoding="utf-8").replace("\n", "\n\n"), encoding="utf-8")
    inputs = replace(inputs, log=(str(path),))
    assert compare(inputs, random.Random("quoted"), monkeypatch).wrote
    spread = path.read_text(encoding="utf-8").replace('"DBE_LOG', '"\nDBE_LOG')
    path.write_text(spread, encoding="utf-8")
    tasks = compare(inputs, random.Random("spread"), monkeypatch)
    assert tasks.reasons == ["CSV with values of several lines, or quotes within values"]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole_bytes", [100, 1 << 30])
def test_tasks_digest_the_files(
    kind: str, whole_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, draw = LogBuilder(), random.Random(kind)
    for number in range(30):
        unit(log, insert(number))
    path = written(quoted(tmp_path / "log.csv", log.rows), kind)
    inputs = replace(log_of(tmp_path, log), log=(path,))
    small(draw, monkeypatch)
    for module in (input_digests, range_walk):
        monkeypatch.setattr(module, "WHOLE_BYTES", whole_bytes)
        monkeypatch.setattr(module, "RANGE_BYTES", 700)
    monkeypatch.setattr(range_walk, "_HASHED", 64)
    tasks = Tasks(draw)
    opened = reader.open_log(replace(inputs, tasks=tasks.tasks()))
    assert tasks.wrote
    (expected,) = input_digests.digests_of_starts(path, [Path(path).stat().st_size])
    assert expected.by_ranges == (whole_bytes == 100)
    assert opened.digests == {path: expected}
    assert path in opened.inputs()


def test_small_logs_and_other_engines_ask_no_tasks(tmp_path: Path) -> None:
    log = LogBuilder()
    unit(log, insert(1))
    tasks = Tasks(random.Random("small"))
    reader.open_log(replace(log_of(tmp_path, log), tasks=tasks.tasks()))
    assert not tasks.looked
    assert opening.tasks_of(local.ENGINE) is None


def test_files_that_tasks_do_not_find_are_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder()
    unit(log, insert(1))
    inputs, place = log_of(tmp_path, log), export_ranges.RangedExport.of
    lost = classmethod(lambda cls, name: replace(place(name), place=str(tmp_path / "lost.csv")))
    monkeypatch.setattr(export_ranges.RangedExport, "of", lost)
    tasks = compare(inputs, random.Random("lost"), monkeypatch)
    assert tasks.reasons == ["files that they cannot read"]


def test_bundles_of_spark_are_those_of_the_local_engine(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from replay.engine import spark as spark_engine

    log = LogBuilder()
    for number in range(400):
        unit(log, insert(number))
    unit(log, lambda made: made.ddl(22, "T", OLD.relid, ADD))
    unit(log, lambda made: made.insert(NEW, (400, "Bea", 5)))
    inputs = log_of(tmp_path, log, NEW)
    here = reader.open_log(inputs)
    small(random.Random("spark"), monkeypatch)
    monkeypatch.setattr(export_ranges, "RANGE_BYTES", 20_000)
    tasks = spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    there = reader.open_log(replace(inputs, tasks=opening.tasks_of(tasks)))
    assert str(there.arrays[0]).endswith("entries.npy")
    assert set(there.digests) == set(inputs.log)
    check_bundles(here, there, tasks, tmp_path)
