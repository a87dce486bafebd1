"""A stream of logs that arrive one by one gives the rows of one log, each once, whatever happens
between."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from replay.errors import InputError, LogReplayError, Refusal, UsageError
from replay.frames.batch import Pushed, prepared
from replay.frames.options import read_options
from replay.frames.stream import Offset, Stream, stream_schema
from replay.logs import LogPair
from replay.pipeline.late import digest_of_log
from tests.frames.test_parts import ROW, VALUES, damaged, rows_of, sorted_rows, values_log
from tests.support import family_logs, luwsakila
from tests.support.cutlogs import cut_log, half_a_unit_arrives, write_pair
from tests.support.family_logs import FIXTURES, SMALL
from tests.support.logbuilder import LogBuilder, frame, lrsn
from tests.support.luwbuilder import catalog_csv

#: Columns that tell of the cut, not of the change.
OF_THE_CUT = ["log_file", "log_record"]


class Follower:
    """A stream as Spark drives it: an offset is kept as JSON before its batch is read."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.folder, self.work = folder / "in", folder / "work"
        for place in (self.folder, self.work):
            place.mkdir(exist_ok=True)
        usual = {"logs": str(self.folder), "rows": "changes", "arrival": "rename"}
        self.options = {**usual, **options}
        self.offset = Offset()
        self.steps: list[tuple[Offset, Offset]] = []
        self.stream = self.opened()

    def opened(self) -> Stream:
        return Stream(read_options(self.options), str(self.work))

    def arrive(self, *pairs: LogPair) -> None:
        for pair in pairs:
            for name in (*pair.data, pair.control):
                shutil.copyfile(name, self.folder / Path(name).name)

    def batch(self, start: Offset, end: Offset) -> list[dict[str, Any]]:
        stream = self.opened()
        found, parts = stream.parts(start, end)
        rows = [one for part in parts for one in found.read(part, Pushed())]
        stream.done(end)
        return pa.Table.from_batches(rows, schema=found.schema).to_pylist()

    def step(self, limited: bool = True) -> list[dict[str, Any]] | None:
        """The rows of the next batch; None where nothing is new."""
        end = self.stream.latest(self.offset, limited)
        if end == self.offset:
            return None
        kept = Offset.of(json.loads(json.dumps(end.as_json())))
        assert kept == end
        rows = self.batch(self.offset, kept)
        self.steps.append((self.offset, kept))
        self.stream.done(kept)
        self.offset = kept
        return rows

    def rest(self) -> list[dict[str, Any]]:
        return [row for rows in iter(self.step, None) for row in rows]


def whole(options: dict[str, str], work: Path) -> list[dict[str, Any]]:
    work.mkdir()
    found = prepared(read_options({"rows": "changes", **options}), str(work))
    return sorted_rows(rows_of(found)).drop_columns(OF_THE_CUT).to_pylist()


def plain(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if name not in OF_THE_CUT} for row in rows]


def ordered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(plain(rows), key=lambda row: (row["commit_lrsn"], row["urid"], row["sequence"]))


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> list[LogPair]:
    folder = tmp_path_factory.mktemp("cut")
    return cut_log(SMALL / "small.ctl", SMALL / "small.dat", folder / "logs", 8, 3, shuffled=False)


SMALL_LOG = {"control": str(SMALL / "small.ctl"), "data": str(SMALL / "small.dat")}


def test_one_by_one(cut: list[LogPair], tmp_path: Path) -> None:
    follower, rows = Follower(tmp_path), []
    for pair in cut:
        follower.arrive(pair)
        rows += follower.step() or []
        assert follower.step() is None
    assert ordered(rows) == whole(SMALL_LOG, tmp_path / "whole")
    assert len(follower.steps) == 8
    assert follower.offset.taken == len({(row["commit_lrsn"], row["urid"]) for row in rows})
    commits = [row["commit_lrsn"] for row in rows]
    assert commits == sorted(commits)


@pytest.mark.parametrize(
    "limits", [{"maxUnitsPerBatch": "5"}, {"maxFilesPerTrigger": "2"}, {"maxLogsPerBatch": "1"}]
)
def test_limits(limits: dict[str, str], cut: list[LogPair], tmp_path: Path) -> None:
    follower = Follower(tmp_path, **limits)
    follower.arrive(*cut)
    rows, sizes = [], []
    for batch in iter(follower.step, None):
        rows += batch
        sizes.append(len({(row["commit_lrsn"], row["urid"]) for row in batch}))
    assert ordered(rows) == whole(SMALL_LOG, tmp_path / "whole")
    if "maxUnitsPerBatch" in limits:
        assert max(sizes) <= 5
        assert len(sizes) > 5
    else:
        assert len(sizes) == 8 // int(*limits.values())
    (tmp_path / "all").mkdir()
    unlimited = Follower(tmp_path / "all")
    unlimited.arrive(*cut)
    assert ordered(unlimited.step(limited=False) or []) == ordered(rows)
    assert unlimited.step() is None


def test_a_batch_is_the_same_when_it_is_read_again(cut: list[LogPair], tmp_path: Path) -> None:
    follower = Follower(tmp_path, maxUnitsPerBatch="7")
    follower.arrive(*cut[:3])
    batches = list(iter(follower.step, None))
    follower.arrive(*cut[3:])
    assert len(batches) > 2
    for (start, end), rows in zip(follower.steps, batches, strict=True):
        assert follower.batch(start, end) == rows
    start, end = follower.steps[0]
    gone = follower.folder / Path(cut[0].control).name
    gone.unlink()
    with pytest.raises(InputError, match="LR2001 .*found no log"):
        follower.batch(start, end)


def test_a_unit_that_ends_in_the_next_log(tmp_path: Path) -> None:
    table = VALUES.__class__(
        "T", VALUES.columns[:1] + (VALUES.columns[0].__class__("B", "INT", 4),)
    )
    log = LogBuilder([table])
    half = tmp_path / "half"
    half.mkdir()
    raw, records = half_a_unit_arrives(log, table, half)
    follower = Follower(tmp_path)
    follower.arrive(LogPair(str(half / "night-0.ctl"), (str(half / "night-0.dat"),)))
    assert follower.step() == []
    assert next(iter(follower.offset.pending.values())).startswith("LR3004")
    follower.arrive(write_pair(half, "night-1", raw, records[1:], lrsn(2000)))
    rows = follower.step() or []
    assert [row["sequence"] for row in rows] == [1, 2]
    assert not follower.offset.pending
    assert follower.step() is None


def test_logs_before_the_first_unit_that_is_set_aside_are_not_read(tmp_path: Path) -> None:
    log, made, pairs = values_log(), tmp_path / "made", []
    made.mkdir()
    log.changes.clear()
    for number in range(8):
        log.clock = 1000 * number
        if number == 2:
            log.unit(commit=2500, INCOMPLETETRANS="Y").insert(VALUES, (99, *ROW[1:]))
        log.unit(commit=1000 * number + 900).insert(VALUES, (number, *ROW[1:]))
        raw, end = frame(log.control_records(), "rdw"), lrsn(1000 * (number + 1))
        pairs.append(write_pair(made, f"night-{number}", raw, log.records(), end))
        log.changes.clear()
    follower = Follower(tmp_path)
    names = [digest_of_log(pair.control) for pair in pairs]
    for number, pair in enumerate(pairs):
        follower.arrive(pair)
        if number == 6:  # as an older version leaves it
            kept = follower.offset.as_json()
            assert json.loads(kept.pop("pendingLogs")) == [names[2]]
            follower.offset = Offset.of(kept)
        rows = follower.step() or []
        assert [json.loads(row["after"])["id"] for row in rows] == [number]
        first = (0, 0, 0, 1, 2, 2, 0, 2)[number]
        assert follower.offset.read == set(names[first : number + 1])
    assert follower.offset.pending_logs == {names[2]}


def late_logs(folder: Path) -> tuple[LogPair, LogPair]:
    """Two logs, of which the second has a unit that commits below those of the first."""
    log = values_log()
    log.unit(commit=3000).insert(VALUES, (5, *ROW[1:]))
    late = LogBuilder([VALUES], clock=1 << 10)
    late.unit(commit=2000).insert(VALUES, (6, *ROW[1:]))
    raw = frame(log.control_records(), "rdw")
    first = write_pair(folder, "one", raw, log.records(), lrsn(1 << 21))
    return first, write_pair(folder, "two", raw, late.records(), lrsn(2500))


@pytest.mark.parametrize("late", ["refuse", "take", "skip"])
def test_units_that_come_late(late: str, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    first, second = late_logs(logs)
    follower = Follower(tmp_path, late=late)
    follower.arrive(first)
    assert len(follower.step() or []) == 2
    follower.arrive(second)
    if late == "refuse":
        with pytest.raises(InputError, match="LR2039"):
            follower.step()
        return
    rows = follower.step() or []
    assert [json.loads(row["after"])["id"] for row in rows] == ([6] if late == "take" else [])
    assert follower.step() is None


@pytest.mark.parametrize("behind", ["", "hold", "take"])
def test_a_damaged_unit_is_set_aside_and_seen(tmp_path: Path, behind: str) -> None:
    log = damaged(tmp_path)
    said = {"behindDamage": behind} if behind else {}
    follower = Follower(tmp_path, maxUnitsPerBatch="9", **said)
    control, data = log.options["control"], log.options["data"]
    follower.arrive(LogPair(control, ()))
    shutil.copyfile(data, follower.folder / "small.dat")
    rows = follower.rest()
    usual = {**log.options, "behindDamage": behind or "hold"}
    assert ordered(rows) == whole(usual, tmp_path / "whole")
    assert (len(follower.offset.pending) == 1) == (behind == "take")


def test_only_whole_logs_are_read(cut: list[LogPair], tmp_path: Path) -> None:
    follower = Follower(tmp_path, arrival="marker")
    assert follower.step() is None
    follower.arrive(cut[0])
    assert follower.step() is None
    (follower.folder / f"{Path(cut[0].control).name}.done").touch()
    shutil.copyfile(cut[1].data[0], follower.folder / Path(cut[1].data[0]).name)
    assert follower.step() is not None
    assert len(follower.offset.logs) == 1


@pytest.mark.long
def test_files_of_db2_luw(tmp_path: Path) -> None:
    encoded = luwsakila.encode(FIXTURES / "sakila" / "log", "v97", False, "flt16")
    catalog = tmp_path / "catalog.csv"
    catalog.write_text(catalog_csv(encoded.tables), encoding="utf-8")
    (tmp_path / "one.log").write_bytes(encoded.data)
    options = {"source": "db2luw", "catalog": str(catalog)}
    follower, rows = Follower(tmp_path, **options), list[dict[str, Any]]()
    records = list(framed(encoded.data))
    for number in range(4):
        part = records[number * len(records) // 4 : (number + 1) * len(records) // 4]
        (follower.folder / f"S{number:07d}.LOG").write_bytes(b"".join(part))
        rows += follower.step() or []
    assert len(follower.steps) == 4
    assert ordered(rows) == whole({**options, "log": str(tmp_path / "one.log")}, tmp_path / "w")


def framed(data: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        size = int.from_bytes(data[place + 8 : place + 12], "little")
        yield data[place : place + 16 + size]
        place += 16 + size


# -- columns
# -------------------------------------------------------------------------------------------------


def test_columns_are_those_of_the_last_log(cut: list[LogPair], tmp_path: Path) -> None:
    follower = Follower(tmp_path, table="SAKILA.RENTAL")
    options = read_options(follower.options)
    with pytest.raises(UsageError, match="LR1001 found no whole log"):
        stream_schema(options, str(follower.work))
    follower.arrive(*cut[:2])
    schema = stream_schema(options, str(follower.work))
    assert "rental_id" in [entry.name for entry in schema.field("after").type]
    with pytest.raises(UsageError, match="LR1004 found no table SAKILA.NOPE in 2"):
        stream_schema(
            read_options({**follower.options, "table": "SAKILA.NOPE"}), str(follower.work)
        )


def test_a_table_that_gets_a_column_on_the_way(tmp_path: Path) -> None:
    log = family_logs.two_forms(tmp_path)
    options = read_options({**log.options, "table": log.table})
    schema = stream_schema(options, str(tmp_path))
    stream = Stream(options, str(tmp_path), schema)
    found, parts = stream.parts(Offset(), stream.latest(Offset(), True))
    assert sum(batch.num_rows for part in parts for batch in found.read(part, Pushed())) > 3
    after = schema.field("after").type
    older = pa.struct([entry for entry in after if entry.name != "tier"])
    images = [pa.field(name, older) for name in ("before", "after")]
    older_schema = pa.schema([*list(schema)[:-2], *images])
    begun = Stream(options, str(tmp_path), older_schema)
    with pytest.raises(UsageError, match="LR1001 found DBA.CUSTOMER with other columns"):
        begun.parts(Offset(), begun.latest(Offset(), True))
    other = pa.schema([*list(schema)[:-1], pa.field("after", pa.struct([("id", pa.string())]))])
    with pytest.raises(Refusal, match="LR4006"):
        Stream(options, str(tmp_path), other).parts(Offset(), begun.latest(Offset(), True))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"rows": "envelope"}, "rows = envelope"),
        ({"untilTime": "2024-03-15"}, "until_time"),
        ({"until": "00DECC12CECE80900000"}, "until"),
        ({"untilMark": "NIGHT"}, "until_mark"),
        ({"except": "authid=A"}, "except"),
        ({"damage": "fail"}, "damage = fail"),
        ({"source": "logmaster-load"}, "LOAD files in a folder"),
    ],
)
def test_refused(options: dict[str, str], found: str, tmp_path: Path) -> None:
    with pytest.raises(LogReplayError, match=f"LR1001 found {found} in a stream"):
        Follower(tmp_path, **options)
