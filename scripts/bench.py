"""Measures CPU seconds, memory, and the distance to a naive program, on a log made for it.

    scripts/run python scripts/bench.py profile     the local engine's time, function by function
    scripts/run python scripts/bench.py graph       the dependencies of incomplete units
    scripts/run python scripts/bench.py scale       growth with the log, its units and its tables
    scripts/run python scripts/bench.py logs        many small logs, and one more
    scripts/run python scripts/bench.py events      change events beside parsing their lines
    scripts/run python scripts/bench.py all         all aims, each beside its yardstick, as a table

CPU seconds are those of all processes taken together (this one, Java, Python workers), user and
system, read from Linux's /proc; the time of making the log is left out. Memory is anonymous memory:
pages of the log itself, which is mapped, are not counted. Each part runs in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from functools import partial
from pathlib import Path

import bench_all
import bench_events
import bench_logs
import bench_scale
from bench_runs import Measured, apart, measure_local
from generate_log import generate
from naive import measure_naive_graph
from process_watch import Watch

from replay.engine import local
from replay.logs.logmaster.opening import open_log

#: Bytes of a split of the dependency passes.
_SPLIT = 32 << 20


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
    cpu = sum(after.values()) - sum(before.values())
    measured = Measured(cpu, wall, memory=watch.together)
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
    naive = apart(measure_naive_graph, control, data) * records
    print(f"row by row, networkx over all: {naive:.1f} CPU s")
    for engine in ("local", "spark") if arguments.engine == "both" else (arguments.engine,):
        conf = None if engine == "local" else list(arguments.conf)
        run, answer = apart(measure_graph, control, data, conf)
        memory = ", ".join(f"{kind} {size >> 20} MB" for kind, size in sorted(run.memory.items()))
        print(
            f"{engine}: {run.cpu:.1f} CPU s ({naive / run.cpu:.1f} times less), {run.wall:.1f} s on"
            f" the clock, {memory}; {answer}"
        )
    return 0


def profile(arguments: argparse.Namespace) -> int:
    """Print where the local engine's CPU time goes."""
    import cProfile
    import pstats

    control, data = apart(generate, arguments.dir, arguments.records, arguments.seed)
    profiler = cProfile.Profile(time.thread_time)
    profiler.runcall(measure_local, control, data, arguments.dir / "out")
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
        ("graph", graph),
        ("profile", profile),
        ("scale", bench_scale.scale),
        ("logs", bench_logs.logs),
        ("events", bench_events.events),
        ("all", bench_all.run),
    ):
        command = commands.add_parser(name, help=function.__doc__)
        command.set_defaults(function=function)
        size = 50_000 if name == "events" else 2_400_000
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
        if name == "all":
            bench_all.add_options(command)
    arguments = parser.parse_args()
    return int(partial(arguments.function, arguments)())


if __name__ == "__main__":
    raise SystemExit(main())
