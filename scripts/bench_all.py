"""All aims in one run, each beside its yardstick: what ``scripts/bench.py all`` prints as a table,
and writes as JSON.

Figures of one run are comparable with each other, for the machine was the same; those of two runs
are not. Each part runs in a process of its own, whole commands as a user starts them. The aims are
for two cores and 2.4 million records; with another number of records they are scaled.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bench_peers
import bench_ways
from bench_runs import (
    apart,
    in_memory,
    measure_command,
    measure_least,
    measure_local,
    measure_spark,
)
from generate_log import generate
from naive import measure_naive

#: Records of the aims that are told in seconds, and those that ways and replays are measured with.
AIMED_AT, OF_WAYS, OF_REPLAY, SMALL = 2_400_000, 120_000, 200_000, 20_000
#: Records of the log that other programs are held against, whose changes a MariaDB must make first.
OF_PEERS = 1_000_000
_CHUNK = 1 << 18
#: The bytes of anonymous memory that the local engine may take, beside 60 a record of its largest
#: bucket of output, which has this many records.
_LOCAL_MEMORY, _LARGEST_BUCKET = 150_000_000, 100_000


@dataclass(frozen=True)
class Line:
    """A figure, its unit, what it is held against in the same run, how often it contains that, and
    the aim: ``most`` (at most) or ``least`` of the figure, or of the ratio where ``of_ratio``."""

    what: str
    value: float
    unit: str
    yardstick: str = ""
    yard: float | None = None
    most: float | None = None
    least: float | None = None
    of_ratio: bool = False

    @property
    def ratio(self) -> float | None:
        """The figure over its yardstick."""
        return self.value / self.yard if self.yard else None

    @property
    def met(self) -> bool | None:
        """Whether the aim is reached; None where there is none."""
        value = self.ratio if self.of_ratio else self.value
        if value is None or (self.most is None and self.least is None):
            return None
        return (self.most is None or value <= self.most) and (
            self.least is None or value >= self.least
        )

    @property
    def aim(self) -> str:
        """The aim in words."""
        of = " x" if self.of_ratio else ""
        sides = (("≤", self.most), ("≥", self.least))
        return ", ".join(f"{sign} {_short(end)}{of}" for sign, end in sides if end is not None)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def floor(data: Path, written: Path) -> float:
    """CPU seconds of what no program can do without: read the log once, write as much as the
    scripts have, and digest both."""
    began = time.process_time()
    digests = [hashlib.sha256(), hashlib.sha256()]
    with data.open("rb", buffering=0) as log:
        while chunk := log.read(_CHUNK):
            digests[0].update(chunk)
    spare = written / "floor"
    with spare.open("wb", buffering=0) as copy:
        for script in sorted(written.glob("*.sql")):
            with script.open("rb", buffering=0) as text:
                while chunk := text.read(_CHUNK):
                    digests[1].update(chunk)
                    copy.write(chunk)
    spare.unlink()
    return time.process_time() - began


def _children(program: list[str]) -> float:
    """CPU seconds of a program and of what it starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(program)}: exit code {done.returncode}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command(words: list[str], runs: int) -> float:
    """CPU seconds of a logreplay command: the least of so many runs, in which all comes to be in
    memory."""
    program = [sys.executable, "-c", "from logreplay_command import main; raise SystemExit(main())"]
    return min(_children([*program, *words]) for _ in range(runs))


def bare(runs: int) -> float:
    """CPU seconds of Python alone."""
    return min(_children([sys.executable, "-c", ""]) for _ in range(runs))


class NotMeasuredError(Exception):
    """A part cannot be measured here; its text says why."""


def _engines(arguments: argparse.Namespace) -> Iterator[Line]:

    records, out, conf = arguments.records, arguments.dir / "out", list(arguments.conf)
    control, data = apart(generate, arguments.dir, records, arguments.seed)
    in_memory(data)
    share = records / AIMED_AT
    # machine code that this machine does not have yet is compiled by the first run
    mine = min(
        (apart(measure_local, control, data, out) for _ in range(2)),
        key=lambda run: run.cpu,
    )
    least = apart(floor, data, out)
    beside = "read, digest and write once"
    yield Line("local engine", mine.cpu, "CPU s", beside, least, most=3.5 * share)
    yield Line("local engine, wall", mine.wall, "s", "its CPU s", mine.cpu, most=0.6, of_ratio=True)
    room = _LOCAL_MEMORY + 60 * min(records, _LARGEST_BUCKET)
    run = apart(measure_command, control, data, out, ["--engine", "local"])
    memory = run.memory["python"] / 1e6
    yield Line("local engine, anonymous memory", memory, "MB", most=room / 1e6)
    naive = apart(measure_naive, control, data) * records
    yield Line("local engine", mine.cpu, "CPU s", "row by row, f-strings", naive)
    options = [part for entry in conf for part in ("--conf", entry)]
    warm = apart(measure_spark, control, data, out, conf)
    yield Line("Spark, warm", warm.cpu, "CPU s", "row by row, f-strings", naive, most=4.5 * share)
    fresh = apart(measure_least, control, data, out, ["--engine", "spark", *options])
    aim, what = 10 * share + 3.5 * max(0.0, 1 - share), "Spark, a fresh process"
    yield Line(what, fresh.cpu, "CPU s", "local engine", mine.cpu, most=aim)
    if not mine.scripts == warm.scripts == fresh.scripts:
        raise SystemExit("the engines did not write the same scripts")


def _small(arguments: argparse.Namespace) -> Iterator[Line]:

    folder = arguments.dir / "small"
    folder.mkdir(parents=True, exist_ok=True)
    control, data = apart(generate, folder, SMALL, arguments.seed)
    log = ["--control", str(control), "--data", str(data)]
    runs = 2 * arguments.runs
    alone = apart(bare, runs)
    size = f"{data.stat().st_size / 1e6:.0f} MB"
    for what, words, most in (
        ("--help", ["--help"], 0.15),
        ("--version", ["--version"], 0.15),
        (f"inspect, {size}", ["inspect", *log], 0.4),
        (
            f"redo, {size}",
            ["redo", *log, "--dialect", "postgres", "--out", str(folder / "out"), "--overwrite"],
            0.6,
        ),
    ):
        cpu = apart(command, words, runs)
        yield Line(what, cpu, "CPU s", "Python alone", alone, most=most)
    spark = apart(measure_least, control, data, folder / "spark", ["--engine", "spark"], 4)
    what = f"redo --engine spark, {size}"
    yield Line(what, spark.cpu, "CPU s", "Python alone", alone, most=3.5)


def _ways(arguments: argparse.Namespace) -> Iterator[Line]:

    folder = arguments.dir / "ways"
    folder.mkdir(parents=True, exist_ok=True)
    records = min(arguments.records, OF_WAYS)
    control, data = apart(generate, folder, records, arguments.seed)
    few = min(records, bench_ways.OF_FAMILIES)
    families = apart(bench_ways.family_logs, folder, few, arguments.seed)
    names = bench_ways.named(arguments.ways)
    rows = bench_ways.measure(control, data, records, arguments.runs, families, few, names)
    cost = {row["way"]: row.get("us") for row in rows}
    for row in rows:
        if "refused" in row:
            print(f"{row['way']}: refused: {row['refused']}", file=sys.stderr)
        elif row["way"] != "plain":
            what, us, beside = row["way"], row["us"], row["beside"]
            yield Line(what, us, "CPU us a record", beside, cost[beside], most=1.5, of_ratio=True)


def _replays(arguments: argparse.Namespace) -> Iterator[Line]:
    found = arguments.dir / "replay.json"
    program = [sys.executable, str(Path(__file__).with_name("bench_replay.py"))]
    records = min(arguments.records, OF_REPLAY)
    words = [
        "--records",
        str(records),
        "--dir",
        str(arguments.dir / "replay"),
        "--json",
        str(found),
    ]
    (arguments.dir / "replay").mkdir(parents=True, exist_ok=True)
    subprocess.run([*program, *words], check=True, stdout=subprocess.DEVNULL)
    rates = {row["way"]: row["per_second"] for row in json.loads(found.read_text("utf-8"))}
    for way, beside, least in (
        ("replay, 1 units a transaction", "psql -f, 1 units a transaction", None),
        ("replay, 1000 units a transaction", "psql -f, 1000 units a transaction", 90_000),
        ("replay, bulk", "psql -f, 1000 units a transaction", 90_000),
    ):
        unit = "changes a second, reading included"
        yield Line(way, rates[way], unit, beside, rates[beside], least=least)


def _peers(arguments: argparse.Namespace) -> Iterator[Line]:
    records = min(arguments.records, OF_PEERS)
    if shutil.which("docker") is None:
        raise NotMeasuredError("found no docker on PATH")
    engine = subprocess.run(["docker", "info"], capture_output=True, text=True, check=False)
    if engine.returncode:
        raise NotMeasuredError(
            f"no container engine runs: {engine.stderr.strip().splitlines()[-1]}"
        )
    where = arguments.dir / "peers"
    runs = bench_peers.measure(where, records, arguments.seed, rounds=3, engines=("local",))
    found = {run.program: run for run in runs}
    local = found["logreplay undo --engine local"]
    for name, cpu, wall in (("my2sql", 0.5, 0.4), ("mariadb-binlog --flashback", None, 1.0)):
        if (peer := found.get(name)) is None:
            continue
        what = f"undo of {local.changes:,} changes"
        yield Line(what, local.cpu, "CPU s", name, peer.cpu, most=cpu, of_ratio=True)
        yield Line(f"{what}, wall", local.wall, "s", name, peer.wall, most=wall, of_ratio=True)


PARTS = {"engines": _engines, "small": _small, "ways": _ways, "replays": _replays, "peers": _peers}


def table(lines: list[Line]) -> str:
    """The figures as a table of Markdown."""
    rows = [
        "| what | here | yardstick in the same run | ratio | aim | |",
        "|---|---|---|---|---|---|",
    ]
    for line in lines:
        yard = "" if line.yard is None else _short(line.yard)
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        met = {True: "reached", False: "not yet", None: ""}[line.met]
        beside = f"{line.yardstick}: {yard}" if line.yardstick else ""
        value = f"{_short(line.value)} {line.unit}"
        rows.append(f"| {line.what} | {value} | {beside} | {ratio} | {line.aim} | {met} |")
    return "\n".join(rows)


def run(arguments: argparse.Namespace) -> int:
    """Measure all aims, or some ``--parts`` of them; 0 whether they are reached or not, 1 where a
    part failed (the figures of the others are printed all the same)."""
    arguments.dir.mkdir(parents=True, exist_ok=True)
    lines: list[Line] = []
    failed = False
    for name in arguments.parts or PARTS:
        try:
            lines += PARTS[name](arguments)
        except NotMeasuredError as reason:
            print(f"{name}: not measured: {reason}", file=sys.stderr)
        except (SystemExit, subprocess.CalledProcessError) as error:
            failed = True
            print(f"{name}: failed: {error}", file=sys.stderr)
    about: dict[str, Any] = {
        "records": arguments.records,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }
    print(f"{arguments.records:,} records, {about['cores']} cores, Python {about['python']}\n")
    print(table(lines))
    if arguments.json is not None:
        told = [
            asdict(line) | {"ratio": line.ratio, "aim": line.aim, "met": line.met} for line in lines
        ]
        text = json.dumps({"of": about, "figures": told}, indent=1, ensure_ascii=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return int(failed)


def add_options(command_: argparse.ArgumentParser) -> None:
    """The options of ``bench.py all``."""
    command_.add_argument("--json", type=Path, help="file that gets the figures")
    command_.add_argument("--runs", type=int, default=2, help="how often each way is run, in turns")
    command_.add_argument("--parts", nargs="+", choices=PARTS, help="only some of it")
    bench_ways.add_ways(command_)
