"""Measures records per second and CPU seconds of every stage, memory, and the distance to a naive
program, on a log made for it.

    scripts/run python scripts/bench.py run         2.4 million records (1 GB), both engines
    scripts/run python scripts/bench.py run --records 100000 --engine local
    scripts/run python scripts/bench.py profile     the local engine's time, function by function
    scripts/run python scripts/bench.py check       a check against the dependency passes
    scripts/run python scripts/bench.py scale       growth with the log, its units and its tables
    scripts/run python scripts/bench.py logs        many small logs, and one more
    scripts/run python scripts/bench.py index       the index of a Db2 LUW log
    scripts/run python scripts/bench.py events      change events beside parsing their lines
    scripts/run python scripts/bench.py all         all aims, each beside its yardstick, as a table

CPU seconds are those of all processes taken together (this one, Java, Python workers), user and
system, read from Linux's /proc; the time of making the log is left out. Memory is anonymous memory:
pages of the log itself, which is mapped, are not counted. Each part runs in a process of its own.
Exit code 1 when two runs did not write the same bytes.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import bench_all
import bench_events
import bench_index
import bench_logs
import bench_scale
from bench_runs import (
    COMPILED,
    Measured,
    apart,
    in_memory,
    measure_least,
    measure_local,
    measure_spark,
    sizes_of,
)
from generate_log import generate
from naive import measure_naive, measure_naive_graph
from process_watch import Watch

from replay.engine import local
from replay.logs.logmaster.opening import open_log

#: Bytes of a split of the dependency passes.
_SPLIT = 32 << 20


# -- what is printed
# -------------------------------------------------------------------------------------------------


def _row(name: str, records: int, cpu: float, wall: float | None = None, note: str = "") -> None:
    rate = f"{records / cpu / 1000:,.1f} k" if cpu > 0.005 else "-"
    elapsed = "" if wall is None else f"{wall:.2f}"
    print(
        f"{name:<34}{cpu:>9.2f}{elapsed:>9}{rate:>13}  {note}".rstrip(),
        flush=True,
    )


def _head(title: str) -> None:
    print(f"\n{title:<34}{'CPU s':>9}{'wall s':>9}{'records/CPU s':>15}", flush=True)


def _speed(measured: Measured) -> str:
    return (
        f"{measured.statements / measured.cpu / 1000:,.0f} k statements per CPU s,"
        f" {measured.statements / measured.wall / 1000:,.0f} k per s"
    )


def _split(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in sorted(parts.items()))


def _print_local(records: int, staged: Measured, plain: Measured) -> None:
    _head("local engine, by stage")
    for name, seconds in staged.parts.items():
        _row(name, records, seconds)
    text = sum(staged.parts.get(name, 0.0) for name in ("decode", "SQL text", COMPILED))
    _row(
        "together",
        records,
        staged.cpu,
        staged.wall,
        f"decode and SQL text {staged.statements / text / 1e6:.2f} M statements per CPU s",
    )
    _head("local engine")
    _row("whole run", records, plain.cpu, plain.wall, _speed(plain))
    print(f"  memory: {sizes_of(plain)}")


def _print_spark(records: int, runs: list[Measured], fresh: Measured) -> None:
    _head("Spark, one context")
    _row("start of the context", records, runs[0].cpu, runs[0].wall)
    for number, measured in enumerate(runs[1:], 1):
        _row(
            "first run" if number == 1 else f"warm run {number - 1}",
            records,
            measured.cpu,
            measured.wall,
            _split(measured.parts),
        )
    print(f"  warm: {_speed(runs[-1])}\n  memory: {sizes_of(runs[-1])}")
    _head("logreplay redo, a fresh process")
    _row("--engine spark", records, fresh.cpu, fresh.wall, _split(fresh.parts))
    print(f"  {_speed(fresh)}")
    print(f"  memory: {sizes_of(fresh)}")


def _print_naive(records: int, naive: dict[str, float], compared: dict[str, float]) -> None:
    """``naive`` has CPU seconds per record of programs that go row by row; ``compared`` the CPU
    seconds of ours."""
    _head("row by row (measured on a sample)")
    for name, seconds in naive.items():
        _row(
            name,
            records,
            seconds * records,
            None,
            ", ".join(
                f"{seconds * records / ours:.1f} x {what}" for what, ours in compared.items()
            ),
        )


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    control, data = apart(generate, arguments.dir, arguments.records, arguments.seed)
    records, out, conf = arguments.records, arguments.dir / "out", list(arguments.conf)
    print(
        f"{records:,} records, {data.stat().st_size / 1e9:.2f} GB; {os.cpu_count()} cores, Python"
        f" {platform.python_version()}"
    )
    compared: dict[str, float] = {}
    written: dict[str, list[str]] = {}
    in_memory(data)
    if arguments.engine != "spark":
        staged = apart(measure_local, control, data, out, True)
        plain = apart(measure_local, control, data, out, False)
        _print_local(records, staged, plain)
        compared["local"], written["local, by stage"], written["local"] = (
            plain.cpu,
            staged.scripts,
            plain.scripts,
        )
    if arguments.engine != "local":
        runs = apart(measure_spark, control, data, out, conf)
        options = [part for entry in conf for part in ("--conf", entry)]
        fresh = apart(measure_least, control, data, out, ["--engine", "spark", *options])
        _print_spark(records, runs, fresh)
        compared["Spark warm"], compared["fresh process"] = runs[-1].cpu, fresh.cpu
        written["fresh process"] = fresh.scripts
        written.update(
            {f"Spark run {number}": measured.scripts for number, measured in enumerate(runs[1:], 1)}
        )
    _print_naive(records, apart(measure_naive, control, data), compared)
    first = next(iter(written.values()))
    different = [name for name, scripts in written.items() if scripts != first]
    print(
        f"\n{len(first)} scripts; "
        + (
            f"NOT THE SAME: {', '.join(different)}"
            if different
            else f"the same SHA-256 in {len(written)} runs"
        )
    )
    return 1 if different else 0


def measure_graph(control: Path, data: Path, conf: list[str] | None) -> tuple[Measured, str]:
    """Which units really depend on incomplete ones, in this process or (with ``conf``) on a Spark
    context that has started."""
    from replay.dependencies.analysis import DependencyAnalysis, resolve_incomplete
    from replay.dependencies.key_spaces import KeySpaces

    execute = local.ENGINE.execute
    with Watch() as watch:
        if conf is not None:
            from replay.engine import spark as spark_engine
            from replay.engine.spark_start import start_context

            context = start_context("local[*]", dict(entry.split("=", 1) for entry in conf))
            execute = spark_engine.SparkEngine(started=lambda: context).execute
        before, began = watch.cpu(), time.perf_counter()
        log = open_log(control, [data])
        splits = [split for split, _, _ in log.splits(_SPLIT)]
        analysis = resolve_incomplete(
            DependencyAnalysis(execute, log, splits, KeySpaces(log.catalog))
        )
        after, wall = watch.cpu(), time.perf_counter() - began
    parts = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
    measured = Measured(
        sum(parts.values()), wall, parts=parts, memory=watch.together, largest=watch.one
    )
    units = len(analysis.subgraph.graph)
    return (
        measured,
        (
            f"{units:,} units in the graph, {len(analysis.held):,} held,"
            f" {len(analysis.subgraph.batch.head):,} changes collected"
        ),
    )


def graph(arguments: argparse.Namespace) -> int:
    """Measure the dependency graph: the closure of 100 incomplete units."""
    records = arguments.records
    control, data = apart(generate, arguments.dir, records, arguments.seed, 10 * records, 100)
    print(
        f"{records:,} records, {data.stat().st_size / 1e9:.2f} GB; {os.cpu_count()} cores, Python"
        f" {platform.python_version()}"
    )
    _head("closure of 100 incomplete units")
    compared = {}
    for engine in ("local", "spark") if arguments.engine == "both" else (arguments.engine,):
        measured, answer = apart(
            measure_graph, control, data, None if engine == "local" else list(arguments.conf)
        )
        compared[engine] = measured.cpu
        _row(engine, records, measured.cpu, measured.wall, answer)
        print(f"  memory: {sizes_of(measured)}")
    seconds = apart(measure_naive_graph, control, data)
    _row(
        "row by row, networkx over all",
        records,
        seconds * records,
        None,
        ", ".join(f"{seconds * records / cpu:.1f} x {name}" for name, cpu in compared.items()),
    )
    return 0


def _graph_and_check(control: Path, data: Path, rounds: int) -> tuple[list[float], list[float]]:
    """CPU seconds of the dependency passes and of a check in this process, taken in turn."""
    from replay.dependencies.analysis import DependencyAnalysis, resolve_incomplete
    from replay.dependencies.key_spaces import KeySpaces
    from replay.dependencies.log_check import agreement_of
    from replay.logs import source_named
    from replay.pipeline.request import OpenLog

    family = source_named("logmaster")
    graphs, checks = [], []
    for number in range(rounds + 1):  # the first round reads what later ones have in memory
        log = open_log(control, [data])
        splits = [split for split, _, _ in log.splits(_SPLIT)]
        before = time.process_time()
        spaces = KeySpaces(log.catalog)
        resolve_incomplete(DependencyAnalysis(local.ENGINE.execute, log, splits, spaces))
        between = time.process_time()
        agreement_of(OpenLog(family, log), local.ENGINE, _SPLIT, None)
        if number:
            graphs.append(between - before)
            checks.append(time.process_time() - between)
    return graphs, checks


def check(arguments: argparse.Namespace) -> int:
    """Measure a check against the dependency passes on the same log, as medians of runs in turn."""
    records = arguments.records
    control, data = apart(generate, arguments.dir, records, arguments.seed, 10 * records, 100)
    in_memory(data)
    graphs, checks = apart(_graph_and_check, control, data, arguments.rounds)
    _head(f"medians of {arguments.rounds} runs in turn")
    _row("dependency passes", records, median(graphs))
    _row("check", records, median(checks))
    ratios = [mine / theirs for mine, theirs in zip(checks, graphs, strict=True)]
    print(
        f"check against graph: {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        f" times the CPU"
    )
    return 0


def profile(arguments: argparse.Namespace) -> int:
    """Print where the local engine's CPU time goes."""
    import cProfile
    import pstats

    control, data = apart(generate, arguments.dir, arguments.records, arguments.seed)
    profiler = cProfile.Profile(time.thread_time)
    profiler.runcall(measure_local, control, data, arguments.dir / "out", False)
    for key in ("tottime", "cumtime"):
        pstats.Stats(profiler).strip_dirs().sort_stats(key).print_stats(40)
    return 0


def main() -> int:
    """The command line."""
    # who installs this has its bytecode: without, each process measured would compile it anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(description="measure logreplay")
    commands = parser.add_subparsers(required=True)
    for name, function in (
        ("run", run),
        ("graph", graph),
        ("check", check),
        ("profile", profile),
        ("scale", bench_scale.scale),
        ("logs", bench_logs.logs),
        ("index", bench_index.index),
        ("events", bench_events.events),
        ("all", bench_all.run),
    ):
        command = commands.add_parser(name, help=function.__doc__)
        command.set_defaults(function=function)
        size = {"check": 300_000, "index": 300_000, "events": 50_000}.get(name, 2_400_000)
        command.add_argument("--records", type=int, default=size)
        command.add_argument("--seed", type=int, default=1)
        command.add_argument(
            "--dir",
            type=Path,
            default=Path(tempfile.gettempdir()) / "logreplay-bench",
            help="where the log is kept",
        )
        command.add_argument("--engine", choices=("local", "spark", "both"), default="both")
        command.add_argument(
            "--conf",
            action="append",
            default=["spark.driver.memory=1g"],
            help="Spark setting, NAME=VALUE",
        )
        if name == "scale":
            bench_scale.add_options(command)
        if name == "logs":
            bench_logs.add_options(command)
        if name == "index":
            bench_index.add_options(command)
        if name == "all":
            bench_all.add_options(command)
        if name == "check":
            command.add_argument("--rounds", type=int, default=7, help="how often each is run")
    arguments = parser.parse_args()
    return int(partial(arguments.function, arguments)())


if __name__ == "__main__":
    raise SystemExit(main())
