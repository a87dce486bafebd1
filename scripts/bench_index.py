"""What opening a Db2 LUW log takes: its index made by one process, and by tasks of Spark on this
machine, whose driver is looked at by itself. Called by ``bench.py index``.

Each is opened twice in a process of its own; the second time counts. The same index is made either
way. The yardstick is the SHA-256 of the file, which tasks take along.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any


def measure(log: str, catalog: str, folder: Path, conf: list[str] | None) -> tuple[Any, int]:
    """The second of two times that a log is opened, by tasks with the settings ``conf`` where there
    are some, and its records."""
    from bench import Measured, Watch

    from replay.logs.db2luw import framed
    from replay.logs.db2luw.reader import open_log
    from replay.logs.families import Inputs

    inputs = Inputs(log=(log,), catalog=catalog)
    stop: Callable[[], None] = lambda: None  # noqa: E731
    with Watch() as watch:
        if conf is not None:
            from replay.pipeline import opening_tasks, spark_engine
            from replay.pipeline.spark_start import start_context

            context = start_context("local[*]", dict(entry.split("=", 1) for entry in conf))
            stop, engine = context.stop, spark_engine.engine(lambda: context)
            framed.TASKS_FROM, opening_tasks._WORTH = 0, 1
            inputs = replace(
                inputs, tasks=opening_tasks.EngineTasks(lambda: engine, lambda: False, _refuse)
            )
        for number in range(2):
            scratch = folder / f"index-{number}"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            before, began = watch.cpu(), time.perf_counter()
            opened = open_log(replace(inputs, scratch=str(scratch)))
            after, wall = watch.cpu(), time.perf_counter() - began
    stop()
    parts = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
    measured = Measured(
        sum(parts.values()), wall, parts=parts, memory=watch.together, largest=watch.one
    )
    return measured, sum(len(offsets) for _, offsets, _ in opened.splits(32 << 20))


def _refuse(reason: str, uses: str) -> None:
    raise SystemExit(f"tasks found {reason}: the driver made the index{uses}")


def _digest(log: str) -> float:
    began = time.process_time()
    with open(log, "rb") as file:
        hashlib.file_digest(file, "sha256")
    return time.process_time() - began


def index(arguments: argparse.Namespace) -> int:
    """Measure the index of a Db2 LUW log: by the driver alone, and by tasks of Spark."""
    from bench import _apart, _sizes
    from bench_ways import family_logs

    arguments.dir.mkdir(parents=True, exist_ok=True)
    made = _apart(family_logs, arguments.dir, arguments.records, arguments.seed)["db2luw"]
    log, catalog = made["log"], made["catalog"]
    megabytes = Path(log).stat().st_size / 1e6
    print(f"{arguments.records:,} changes, {megabytes:,.1f} MB")
    print(f"{'CPU microseconds a record':<28}{'driver':>8}{'workers':>9}{'Java':>8}{'wall s':>8}")
    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        for name, conf in (("driver alone", None), ("by tasks", list(arguments.conf))):
            measured, records = _apart(measure, log, catalog, Path(folder), conf)
            parts = [
                measured.parts.get(kind, 0.0) / records * 1e6
                for kind in ("driver", "python", "java")
            ]
            print(
                f"{name:<28}{parts[0]:>8.2f}{parts[1]:>9.2f}{parts[2]:>8.2f}{measured.wall:>8.1f}"
                f"   memory: {_sizes(measured)}",
                flush=True,
            )
    print(f"{'SHA-256 of the file':<28}{_digest(log) / records * 1e6:>8.2f}")
    return 0
