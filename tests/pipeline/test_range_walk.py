"""Large logs are indexed and digested by tasks, range by range: what comes of it is what one walk
from beginning to end gives."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from replay.changes.choices import EngineName
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.engine.contract import Engine, Job
from replay.engine.local import LocalEngine
from replay.errors import InputError
from replay.logs import LogFile, Split
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.output.bundle import write_bundle
from replay.pipeline import input_digests, range_walk
from replay.pipeline.extent import log_extent
from replay.pipeline.plan import Plan, make_plan
from tests.support.logbuilder import ACCT, Col, LogBuilder, Tab, acct
from tests.support.made_engine import MadeEngine

WHOLE, RANGE = 60_000, 16_384
NOTES = Tab(
    "NOTES",
    (Col("ID", "INT", 4, key=1), Col("TEXT", "VCHR", 4000, subtype="B")),
    obid=4,
)


class Counting:
    """Tasks of this process, as if they were Spark's; counts the ranges that were walked."""

    def __init__(self) -> None:
        self.walked: list[Split] = []

    def engine(self) -> Engine:
        return MadeEngine(self._execute, EngineName.SPARK)

    def _execute(self, job: Job, log: LogFile, splits: Sequence[Split]) -> Iterator[bytes]:
        if isinstance(job, range_walk.RangeWalkJob):
            self.walked += splits
        return LocalEngine(threads=1).execute(job, log, splits)


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (input_digests, range_walk):
        monkeypatch.setattr(module, "WHOLE_BYTES", WHOLE)
        monkeypatch.setattr(module, "RANGE_BYTES", RANGE)
    monkeypatch.setattr(range_walk, "TASKS_FROM", 0)


def built(units: int = 400) -> LogBuilder:
    log = LogBuilder()
    for number in range(units):
        unit = log.unit(UORDISP="A" if number % 7 == 0 else "C")
        unit.insert(ACCT, acct(number))
        unit.update(ACCT, acct(number), acct(number, "OTHER"))
    return log


def plans(log: LogmasterLog, tasks: Counting, records: int = 100) -> tuple[Plan, Plan]:
    options = ScriptOptions(records_per_file=records)
    here = make_plan(log, "redo", Selection(), options, 1 << 20)
    return here, make_plan(log, "redo", Selection(), options, 5_000, tasks.engine())


def places(log: LogmasterLog, plan: Plan) -> list[tuple[int, int, int, int]]:
    return [
        (split.file, first + place, int(offset), int(length))
        for split in plan.splits
        for first, offsets, lengths in log.records(split, 64)
        for place, (offset, length) in enumerate(zip(offsets, lengths, strict=True))
    ]


@pytest.mark.parametrize("framing", ["rdw", "bdw", "ftp", "none"])
def test_ranges_tell_what_one_walk_tells(framing: str, tmp_path: Path) -> None:
    log = open_log(*built().write(tmp_path, framing, files=2, seed=3))
    tasks = Counting()
    here, there = plans(log, tasks)
    assert places(log, there) == places(log, here)
    assert there.bounds.tolist() == here.bounds.tolist()
    assert len(here.bounds) > 3
    ranges = sum(-(-log.size(number) // RANGE) for number in range(2))
    assert ranges > 8
    assert len(tasks.walked) == ranges  # every guess was right
    assert all(split.stop - split.start < RANGE + 5_000 for split in there.splits)


def test_digests_are_those_that_the_docs_tell_how_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(range_walk, "WHOLE_BYTES", 1 << 17)
    control, data = built().write(tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    few, few_data = built(100).write(small)
    for log_files, by_ranges in (((control, data), True), ((few, few_data), False)):
        log = open_log(*log_files)
        plan = plans(log, Counting())[1]
        size = log_files[1][0].stat().st_size
        found = plan.digests[str(log_files[1][0])].describe()
        if not by_ranges:
            whole = hashlib.sha256(log_files[1][0].read_bytes()).hexdigest()
            assert found == {"size": size, "sha256": whole}
            continue
        script = f"split -b {RANGE} --filter='sha256sum | cut -c1-64' {data[0]}"
        told = subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, check=True
        ).stdout
        root = hashlib.sha256(bytes.fromhex(told.replace("\n", ""))).hexdigest()
        assert found == {"size": size, "sha256_ranges": root, "range_bytes": RANGE}
    assert not plans(open_log(control, data), Counting())[0].digests


def false_records(system: bytes, header: int) -> bytes:
    """A value that looks like records, from which a walk finds its way to the next real one."""
    one = header.to_bytes(2, "big") + system + bytes(header - 6)
    word = (len(one) + 4).to_bytes(2, "big") + b"\0\0"
    return (word + one) * 5


def test_a_wrong_guess_is_walked_again(tmp_path: Path) -> None:
    log = LogBuilder((ACCT, NOTES))
    value = false_records("DB2P".encode("cp037"), log.header.size)
    for number in range(120):
        unit = log.unit()
        unit.insert(NOTES, (number, value))
    opened = open_log(*log.write(tmp_path))
    tasks = Counting()
    here, there = plans(opened, tasks)
    assert places(opened, there) == places(opened, here)
    assert len(here.splits) == 1
    assert len(tasks.walked) > -(-opened.size(0) // RANGE)  # some were guessed wrong
    assert [split.first_record for split in tasks.walked].count(1) > 1


@pytest.mark.parametrize("place", [30_000, 200_000])
def test_damage_is_told_in_the_same_words(place: int, tmp_path: Path) -> None:
    control, data = built().write(tmp_path)
    raw = bytearray(data[0].read_bytes())
    begin = 0
    while begin < place:
        begin += int.from_bytes(raw[begin : begin + 2], "big")
    raw[begin : begin + 4] = b"\0\1\0\0"
    data[0].write_bytes(raw)
    log = open_log(control, data)
    errors = []
    for engine in (None, Counting().engine()):
        with pytest.raises(InputError) as caught:
            make_plan(log, "redo", Selection(), ScriptOptions(), 5_000, engine)
        errors.append((caught.value.code, str(caught.value)))
    assert errors[0] == errors[1]
    assert errors[0][0] == "LR2005"


def test_logs_that_tasks_do_not_index(tmp_path: Path) -> None:
    log = open_log(*built(20).write(tmp_path))
    for engine in (local.ENGINE, None):
        assert range_walk.index_by_tasks(log, Selection(), np.ones(1, bool), 9, engine) is None
    unread = replace(log, row_readings=None)
    tasks = Counting().engine()
    assert range_walk.index_by_tasks(unread, Selection(), np.ones(1, bool), 9, tasks) is None


def test_a_file_that_was_unpacked_is_digested_as_it_was_given(tmp_path: Path) -> None:
    import gzip

    control, data = built().write(tmp_path)
    packed = tmp_path / "t.dat.gz"
    packed.write_bytes(gzip.compress(data[0].read_bytes()))
    log = open_log(control, [packed], scratch=tmp_path)
    plan = plans(log, Counting())[1]
    assert not plan.digests
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    entry = json.loads((bundle.folder / "manifest.json").read_text())["inputs"][1]
    assert entry["sha256"] == hashlib.sha256(packed.read_bytes()).hexdigest()


def test_a_log_that_is_open_is_walked_once(tmp_path: Path) -> None:
    control, data = built().write(tmp_path, files=1, seed=3)
    log, tasks = open_log(control, data), Counting()
    extent = log_extent(log, None, tasks.engine(), 5_000)
    assert extent == log_extent(log)
    plans(log, tasks)
    walked = len(tasks.walked)
    assert walked == len(range(0, data[0].stat().st_size, RANGE))
    early = bytes(17)  # every commit is later
    found = log_extent(log, early, tasks.engine())
    assert found == log_extent(log, early)
    assert found.late == extent.first
    assert found.late is not None
    assert len(tasks.walked) == walked


def test_a_log_that_does_not_know_its_files_is_walked_each_time(tmp_path: Path) -> None:
    log, tasks = open_log(*built().write(tmp_path, files=1, seed=3)), Counting()
    del log.as_found
    plans(log, tasks)
    walked = len(tasks.walked)
    plans(log, tasks)
    assert len(tasks.walked) == 2 * walked > 0
