"""How time and memory grow with a log: 1x, 5x and 10x of one log, units of one change, one unit of
many, and a catalog of many tables. Called by ``bench.py scale``.

CPU seconds are those of a run in a context that has started and made one run before, so that what
is measured grows with the log. Bytes shuffled are those that Spark counts as written for a shuffle.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_runs import apart
from generate_log import generate
from process_watch import Watch

#: From linear growth a log may be off by so much.
_TOLERANCE = 0.10


@dataclass(frozen=True)
class Case:
    """A log to be made: what it is called, and how :func:`generate_log.generate` makes it."""

    name: str
    records: int
    unit_size: int = 0
    idle: int = 0


@dataclass(frozen=True)
class Figures:
    """One run: CPU and wall seconds, the most memory of each kind of process and of one worker, and
    bytes shuffled, which the local engine has none of."""

    case: str
    engine: str
    records: int
    cpu: float
    wall: float
    memory: dict[str, int]
    largest_worker: int
    shuffled: int

    @property
    def per_million(self) -> float:
        """CPU seconds for a million records."""
        return self.cpu / self.records * 1e6


def cases_of(arguments: argparse.Namespace) -> Iterator[Case]:
    """The logs that were asked for."""
    for step in arguments.steps:
        yield Case(f"{step}x", step * arguments.records)
    for name, count, size in (
        ("units of one change", arguments.units, 1),
        ("one unit", arguments.unit, arguments.unit),
    ):
        if count:
            yield Case(name, count, size)
    for tables in (10, arguments.tables) if arguments.tables else ():
        yield Case(f"{tables:,} tables", arguments.records, 0, tables - 3)


def measure(case: Case, control: Path, data: Path, engine: str, conf: list[str]) -> Figures:
    """Two runs in this process, of which the second counts."""

    from replay.changes.choices import Mode
    from replay.changes.options import ScriptOptions
    from replay.changes.selection import Selection
    from replay.engine import local
    from replay.engine.contract import Engine
    from replay.logs.logmaster.opening import open_log
    from replay.output.bundle import write_bundle
    from replay.pipeline.plan import make_plan

    gc.set_threshold(100_000, 20, 20)  # as the command does
    context: Any = None
    chosen: Engine = local.ENGINE
    with Watch() as watch:
        if engine == "spark":
            from replay.engine import spark as spark_engine
            from replay.engine.spark_start import start_context

            context = start_context("local[*]", dict(entry.split("=", 1) for entry in conf))
            started = context
            chosen = spark_engine.SparkEngine(started=lambda: started)
        for _ in range(2):
            before, shuffled, began = watch.cpu(), _shuffled(context), time.perf_counter()
            log = open_log(control, [data])
            plan = make_plan(log, Mode.REDO, Selection(), ScriptOptions(), 32 << 20, chosen)
            out = data.with_suffix(".out")
            bundle = write_bundle(plan, log, out, chosen, overwrite=True)
            if bundle.exit_code:
                raise SystemExit(f"{case.name}: exit code {bundle.exit_code}")
            after, wall = watch.cpu(), time.perf_counter() - began
            shuffled = _shuffled(context) - shuffled
    shutil.rmtree(out)
    if context is not None:
        context.stop()
    cpu = sum(after[kind] - before.get(kind, 0.0) for kind in after)
    largest = watch.one.get("python", 0)
    return Figures(*(case.name, engine, case.records, cpu, wall, watch.together, largest, shuffled))


def _shuffled(context: Any) -> int:
    """Bytes that tasks of a context wrote for shuffles so far."""
    if context is None:
        return 0
    executors = context._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


def scale(arguments: argparse.Namespace) -> int:
    """Measure how time and memory grow: 1x, 5x, 10x, small and large units, many tables."""
    engines = ("local", "spark") if arguments.engine == "both" else (arguments.engine,)
    found: list[Figures] = []
    print(
        f"{'':<28}{'records':>12}{'CPU s/M':>9}{'wall s':>8}{'driver':>8}{'Java':>7}"
        f"{'workers':>9}{'largest':>9}{'shuffled/record':>17}"
    )
    for case in cases_of(arguments):
        shape = (case.unit_size, case.idle, arguments.columns, arguments.window)
        control, data = apart(generate, arguments.dir, case.records, arguments.seed, 0, 0, *shape)
        for engine in engines:
            figures = apart(measure, case, control, data, engine, list(arguments.conf))
            found.append(figures)
            _print(figures)
        if not arguments.keep:
            control.unlink()
            data.unlink()
    verdicts = [verdict for engine in engines for verdict in judged(found, engine)]
    print("\n".join(["", *verdicts]))
    if arguments.json is not None:
        rows = [{**asdict(figures), "cpu_per_million": figures.per_million} for figures in found]
        text = json.dumps({"runs": rows, "verdicts": verdicts}, indent=1)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _print(figures: Figures) -> None:
    memory = {kind: size >> 20 for kind, size in figures.memory.items()}
    print(
        f"{figures.engine + ', ' + figures.case:<28}{figures.records:>12,}"
        f"{figures.per_million:>9.2f}{figures.wall:>8.1f}{memory.get('driver', 0):>8}"
        f"{memory.get('java', 0):>7}{memory.get('python', 0):>9}{figures.largest_worker >> 20:>9}"
        f"{figures.shuffled / figures.records:>17.1f}",
        flush=True,
    )


def judged(found: list[Figures], engine: str) -> Iterator[str]:
    """Whether an engine's time grows as the log does, and what many tables cost."""
    of_engine = {figures.case: figures for figures in found if figures.engine == engine}
    steps = [figures for name, figures in of_engine.items() if name.endswith("x")]
    if len(steps) > 1:
        ratio = steps[-1].per_million / steps[0].per_million
        linear = ratio <= 1 + _TOLERANCE
        yield (
            f"{engine}: {steps[-1].case} takes {ratio:.2f} times the CPU a record that"
            f" {steps[0].case} takes: {'' if linear else 'NOT '}linear within {_TOLERANCE:.0%}"
        )
    tables = [figures for name, figures in of_engine.items() if name.endswith(" tables")]
    if len(tables) == 2:
        ratio = tables[1].cpu / tables[0].cpu
        yield f"{engine}: {tables[1].case} take {ratio:.2f} times the CPU of {tables[0].case}"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of ``bench.py scale`` beside those of all."""
    command.add_argument(
        "--steps", type=int, nargs="*", default=[1, 5, 10], help="sizes, times --records"
    )
    command.add_argument(
        "--units", type=int, default=1_000_000, help="units of one change (0: none)"
    )
    command.add_argument(
        "--unit", type=int, default=5_000_000, help="changes of one unit (0: none)"
    )
    command.add_argument(
        "--tables", type=int, default=50_000, help="tables of a catalog (0: no such run)"
    )
    command.add_argument(
        "--columns", type=int, default=0, help="columns of each table (0: all eight)"
    )
    command.add_argument(
        "--window",
        type=int,
        default=1_000_000,
        help="the order of records is random among so many neighbours (0: among all)",
    )
    command.add_argument("--json", type=Path, help="file that gets the figures")
    command.add_argument("--keep", action="store_true", help="keep the logs that were made")
