"""Units with two commit positions are found by tasks where there are many buckets, and the driver
gathers no units then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from replay.changes.options import ScriptOptions
from replay.changes.position import UNIT_POSITION, Position, UnitId
from replay.changes.selection import Selection
from replay.engine import local
from replay.engine.contract import third_stage
from replay.logs import LogFile, Split
from replay.logs.logmaster.opening import open_log
from replay.output import jobs
from replay.output.bundle import write_bundle
from replay.pipeline.plan import Plan, UnitDecisions, make_plan
from tests.support.logbuilder import ACCT, LogBuilder, acct, lrsn

UNITS = 3_000


def contradictory_log(folder: Path) -> tuple[Plan, Any]:
    """A log of many buckets, of which two units commit at two places, far from one another."""
    log = LogBuilder()
    for number in range(UNITS):
        unit = log.unit()
        unit.insert(ACCT, acct(number))
        if number in (100, 2_000):
            later = lrsn((1 << 24) + unit.log.clock + 30_000)
            unit.delete(ACCT, acct(number), UORCOMMITLRSN=later)
    opened = open_log(*log.write(folder))
    return make_plan(opened, "redo", Selection(), ScriptOptions(records_per_file=64)), opened


@pytest.fixture(scope="module")
def contradictory(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Any]:
    """:func:`contradictory_log`, for tests that change nothing of it."""
    return contradictory_log(tmp_path_factory.mktemp("log"))


def gathering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the driver look."""
    monkeypatch.setattr(jobs, "_BUCKETS_THAT_MEET", 1 << 40)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.long
def test_tasks_find_what_the_driver_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, log = contradictory_log(tmp_path)
    assert plan.buckets >= 32
    by_tasks = write_bundle(plan, log, tmp_path / "tasks", local.ENGINE)
    gathering(monkeypatch)
    by_driver = write_bundle(plan, log, tmp_path / "driver", local.ENGINE)
    assert len(by_tasks.manifest["quarantined_units"]) == 2
    assert by_tasks.manifest == by_driver.manifest
    assert files(tmp_path / "tasks") == files(tmp_path / "driver")


def test_spark_finds_them_too(spark: Any, tmp_path: Path) -> None:
    from replay.engine import spark as spark_engine

    plan, log = contradictory_log(tmp_path)
    write_bundle(plan, log, tmp_path / "local", local.ENGINE)
    tasks = spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    write_bundle(plan, log, tmp_path / "spark", tasks)
    assert files(tmp_path / "local") == files(tmp_path / "spark")


def test_few_units_come_to_the_driver(contradictory: tuple[Plan, Any], tmp_path: Path) -> None:
    plan, log = contradictory
    (tmp_path / "work").mkdir()
    tally, results = jobs.write(local.ENGINE, plan, log, tmp_path / "work")
    assert len(tally.contradictory) == 2
    assert sum(len(result.units) for result in results) == len(results)
    assert sum(result.tally.units for result in results) == UNITS + 2


def test_small_runs_have_two_stages(contradictory: tuple[Plan, Any], tmp_path: Path) -> None:
    plan, _ = contradictory
    job = jobs.RenderJob(plan, tmp_path)
    assert third_stage(job) is not None
    few = jobs.RenderJob(replace(plan, bounds=plan.bounds[:14]), tmp_path)
    assert few.buckets == 15
    assert third_stage(few) is None


def test_units_that_a_run_must_name(contradictory: tuple[Plan, Any]) -> None:
    plan, _ = contradictory
    units = [UnitId(bytes(11) + bytes([number])) for number in range(4)]
    commits = [Position(bytes(9) + bytes([number])) for number in (1, 2, 3, 3)]
    both = b"".join(commit + unit for commit, unit in zip(commits, units, strict=True))
    column = np.frombuffer(both, UNIT_POSITION)

    def named(plan: Plan) -> list[bytes]:
        return [row.tobytes()[10:] for row in jobs.units_to_name(plan, column)]

    assert named(plan) == units[2:]
    assert named(replace(plan, awaited=frozenset(units[:1]))) == [units[0], *units[2:]]
    apart = UnitDecisions(only=frozenset(units))
    assert named(replace(plan, decisions=apart)) == units
    assert not len(jobs.units_to_name(plan, column[:0]))


@dataclass
class Named:
    """A job of three stages whose blocks say for whom they are."""

    title: str = "name"
    buckets: int = 40
    meetings: int = 12

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        for bucket in range(self.buckets):
            yield bucket, b"bucket %d;" % bucket

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield b"%d: " % bucket + b"".join(blocks)

    def divide(self, result: bytes) -> Iterator[tuple[int, bytes]]:
        for meeting in range(self.meetings):
            yield meeting, b"meeting %d;" % meeting
        yield self.meetings, result

    def meet(self, meeting: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        yield b"%d: " % meeting + b"".join(blocks)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_of_meetings_are_no_blocks_of_buckets(threads: int) -> None:
    """Meetings begin while buckets of their numbers still wait."""
    job, log = Named(), cast(LogFile, None)
    splits = [Split(0, 0, 10, 1), Split(0, 10, 20, 2)]
    found = [*local.execute(job, log, splits, threads=threads)]
    wanted = [b"%d: " % bucket + b"bucket %d;" % bucket * 2 for bucket in range(40)]
    wanted += [b"%d: " % meeting + b"meeting %d;" % meeting * 40 for meeting in range(12)]
    assert found == wanted


@pytest.mark.long
@pytest.mark.parametrize("threads", [1, 2])
def test_many_buckets_give_what_few_do(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = LogBuilder()
    for number in range(4500):
        built.unit().insert(ACCT, acct(number))
    log = open_log(*built.write(tmp_path, seed=5))
    monkeypatch.setattr(local, "cores", lambda: threads)
    statements = []
    for records, least in ((100_000, 1), (20, 64)):
        plan = make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=records))
        assert plan.buckets >= least
        bundle = write_bundle(plan, log, tmp_path / str(records), local.ENGINE)
        assert bundle.exit_code == 0
        scripts = sorted((tmp_path / str(records)).glob("*.sql"))
        lines = "".join(path.read_text() for path in scripts).splitlines()
        statements.append([line for line in lines if line.startswith("INSERT")])
    assert statements[0] == statements[1]
    assert len(statements[0]) == 4500
