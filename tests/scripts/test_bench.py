"""The benchmark runs, and the log that it makes is a sound one, the same for the same seed."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from tests.support.places import ROOT

SCRIPTS = ROOT / "scripts"
RECORDS = 3000


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_log", SCRIPTS / "generate_log.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_local_engine_reads_all(generator: ModuleType, tmp_path: Path, mode: str) -> None:
    control, data = generator.generate(tmp_path, RECORDS)
    log = open_log(control, [data])
    plan = make_plan(log, mode, Selection(), ScriptOptions(records_per_file=1000))
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert bundle.exit_code == 0
    assert bundle.manifest["findings"]["count"] == 0
    balance = bundle.tally
    assert balance.read == RECORDS
    assert balance.emitted + sum(balance.skipped.values()) == RECORDS
    assert balance.quarantined == balance.failed == 0
    assert balance.emitted > RECORDS * 0.95
    counts = [
        sum(table.get(kind, 0) for table in bundle.manifest["tables"].values())
        for kind in ("insert", "update", "delete")
    ]
    assert [round(count / RECORDS, 1) for count in counts] == [0.4, 0.4, 0.2]
    assert len(bundle.manifest["tables"]) == 3
    assert RECORDS / 12 < bundle.manifest["units"] < RECORDS / 5


def test_records_lie_in_random_order(generator: ModuleType, tmp_path: Path) -> None:
    control, data = generator.generate(tmp_path, RECORDS)
    log = open_log(control, [data])
    _, offsets, lengths = next(log.splits(1 << 30))
    envelope = log.envelope(0, offsets, lengths)
    commit = [row.tobytes() for row in envelope.commit()]
    rises = sum(one <= other for one, other in itertools.pairwise(commit))
    assert RECORDS * 0.4 < rises < RECORDS * 0.6
    assert set(envelope.member().tolist()) == {1, 2}
    assert 400 < data.stat().st_size / RECORDS < 460


def test_narrow_records_in_nearly_their_order(generator: ModuleType, tmp_path: Path) -> None:
    control, data = generator.generate(tmp_path, RECORDS, unit_size=RECORDS, columns=2, window=500)
    assert 300 < data.stat().st_size / RECORDS < 350
    log = open_log(control, [data])
    plan = make_plan(log, "redo", Selection(), ScriptOptions())
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert bundle.exit_code == 0
    assert (bundle.manifest["units"], bundle.tally.read) == (1, RECORDS)
    _, offsets, lengths = next(log.splits(1 << 30))
    place = log.envelope(0, offsets, lengths).log_position()
    order = [row.tobytes() for row in place]
    windows = [order[start : start + 500] for start in range(0, RECORDS, 500)]
    assert all(max(one) < min(other) for one, other in itertools.pairwise(windows))
    assert any(window != sorted(window) for window in windows)


def test_a_seed_settles_every_byte(generator: ModuleType, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in generator.generate(tmp_path / "a", RECORDS, seed=7)]
    again = [path.read_bytes() for path in generator.generate(tmp_path / "b", RECORDS, seed=7)]
    other = [path.read_bytes() for path in generator.generate(tmp_path / "c", RECORDS, seed=8)]
    assert first == again
    assert first[1] != other[1]


def test_what_is_there_is_not_made_again(generator: ModuleType, tmp_path: Path) -> None:
    _, data = generator.generate(tmp_path, 100)
    before = data.stat().st_mtime_ns
    assert generator.generate(tmp_path, 100)[1].stat().st_mtime_ns == before


@pytest.mark.parametrize(("size", "idle"), [(1, 0), (500, 0), (3000, 7)])
def test_units_and_tables_are_as_many_as_asked_for(
    generator: ModuleType, tmp_path: Path, size: int, idle: int
) -> None:
    control, data = generator.generate(tmp_path, RECORDS, unit_size=size, idle=idle)
    log = open_log(control, [data])
    assert len(log.catalog.versions) == 3 + idle
    plan = make_plan(log, "redo", Selection(), ScriptOptions())
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert bundle.exit_code == 0
    assert bundle.manifest["balance"]["read"] == RECORDS
    if size > 1:
        assert bundle.manifest["units"] == RECORDS // size
    else:  # some updates change nothing
        assert RECORDS * 0.95 < bundle.manifest["units"] <= RECORDS


@pytest.mark.long
def test_growth_is_measured_and_judged(tmp_path: Path) -> None:
    program = [sys.executable, str(SCRIPTS / "bench.py"), "scale", "--engine", "local"]
    sizes = ["--steps", "1", "2", "--units", "500", "--unit", "2000", "--tables", "20"]
    done = subprocess.run(
        [*program, *sizes, "--records", str(RECORDS), "--dir", str(tmp_path)]
        + ["--json", str(tmp_path / "figures.json")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "figures.json").read_text())
    assert [(run["case"], run["records"]) for run in told["runs"]] == [
        ("1x", RECORDS),
        ("2x", 2 * RECORDS),
        ("units of one change", 500),
        ("one unit", 2000),
        ("10 tables", RECORDS),
        ("20 tables", RECORDS),
    ]
    assert all(run["cpu"] > 0 and run["memory"]["driver"] > 0 for run in told["runs"])
    assert len(told["verdicts"]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]


def test_functions_of_stages_are_where_the_table_has_them() -> None:
    """Functions are named by text there, which no check of types follows when one moves."""
    program = (
        "import bench_runs\n"
        "for name, owner, attribute, _ in bench_runs.STAGES:\n"
        "    print(attribute in vars(owner), name, owner, attribute)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=str(SCRIPTS)),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    found = done.stdout.splitlines()
    assert len(found) > 10
    assert [line for line in found if not line.startswith("True")] == []


@pytest.mark.long
def test_every_stage_is_measured(tmp_path: Path) -> None:
    program = [sys.executable, str(SCRIPTS / "bench.py"), "run", "--engine", "local"]
    done = subprocess.run(
        [*program, "--records", str(RECORDS), "--dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for stage in ("scan", "sort", "gather headers", "decode", "SQL text", "write", "whole run"):
        assert f"\n{stage} " in done.stdout, stage
    assert "the same SHA-256 in 2 runs" in done.stdout


@pytest.mark.long
def test_many_small_logs_are_measured(tmp_path: Path) -> None:
    program = [sys.executable, str(SCRIPTS / "bench.py"), "logs", "--logs", "12"]
    done = subprocess.run(
        [*program, "--dir", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == ["12"] * 8
    assert [row[-1] for row in rows] == ["0"] * 5 + ["4"] * 3
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_an_index_is_measured_beside_a_digest(tmp_path: Path) -> None:
    program = [sys.executable, str(SCRIPTS / "bench.py"), "index", "--records", str(RECORDS)]
    program += ["--forms", "filtered"]
    done = subprocess.run(
        [*program, "--dir", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    index, digest = [re.split(r"  +", line)[:2] for line in done.stdout.splitlines()[-2:]]
    assert (index[0], digest[0]) == ("index", "SHA-256 of the file")
    assert float(index[1]) > 0


def test_looking_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes to look at all processes grows with the time on the clock."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    process_watch = importlib.import_module("process_watch")

    def family() -> dict[int, tuple[str, float]]:
        until = time.thread_time() + 0.1
        while time.thread_time() < until:
            pass
        return {os.getpid(): ("driver", time.process_time())}

    monkeypatch.setattr(process_watch, "family", family)
    with process_watch.Watch() as watch:
        before, own = watch.cpu()["driver"], time.thread_time()
        time.sleep(2)
        after, own = watch.cpu()["driver"], time.thread_time() - own
    # one look may be under way
    assert own - 0.25 < after - before < own + 0.25


@pytest.mark.long
def test_aims_stand_beside_their_yardsticks(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    program = [sys.executable, str(SCRIPTS / "bench.py"), "all", "--records", "3000", "--runs", "1"]
    program += ["--ways", "undo --upsert", "solidDB, opened"]
    done = subprocess.run(
        [*program, "--dir", str(tmp_path / "logs"), "--json", str(figures)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(figures.read_text(encoding="utf-8"))
    assert told["of"]["records"] == 3000
    assert "refused" not in done.stderr
    lines = {line["what"]: line for line in told["figures"]}
    engines, commands = ("local engine", "Spark, warm"), ("--help", "replay, bulk")
    for what in (*engines, *commands, "undo --upsert", "solidDB, opened"):
        line = lines[what]
        assert line["value"] > 0, what
        assert line["ratio"] == pytest.approx(line["value"] / line["yard"]), what
        assert f"| {what} | " in done.stdout, what
    assert lines["undo --upsert"]["met"] == (lines["undo --upsert"]["ratio"] <= 1.5)
