"""One run, measured: CPU seconds, memory by process, and the digests of what it wrote. What
``bench*.py`` measure with."""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from process_watch import Watch

from replay.changes.choices import Mode
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan

ROOT = Path(__file__).resolve().parent.parent
WARM_RUNS = 2
#: prctl(2): orphans of this process become its children, so that they are still seen.
_SUBREAPER = 36


@dataclass
class Measured:
    """One run: CPU and wall seconds, memory by process; the hashes of what it wrote."""

    cpu: float
    wall: float
    memory: dict[str, int] = field(default_factory=dict)
    scripts: list[str] = field(default_factory=list)
    statements: int = 0


def _read_manifest(folder: Path, measured: Measured) -> Measured:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if not manifest["balance"]["closes"] or manifest["findings"]["count"]:
        raise SystemExit(f"{folder}: {manifest['balance']}, {manifest['findings']}")
    measured.statements = manifest["statements"]
    measured.scripts = [f"{script['name']} {script['sha256']}" for script in manifest["scripts"]]
    return measured


def measure_local(control: Path, data: Path, out: Path) -> Measured:
    """The local engine in this process."""
    with Watch() as watch:
        before, began = time.process_time() - watch.own, time.perf_counter()
        log = open_log(control, [data])
        plan = make_plan(log, Mode.REDO, Selection(), ScriptOptions())
        write_bundle(plan, log, out, local.ENGINE, overwrite=True)
        cpu, wall = time.process_time() - before - watch.own, time.perf_counter() - began
    return _read_manifest(out, Measured(cpu, wall, watch.together))


def measure_spark(control: Path, data: Path, out: Path, conf: list[str]) -> Measured:
    """The last of some runs in one context of Spark."""
    from replay.engine import spark as spark_engine
    from replay.engine.spark_start import start_context

    with Watch() as watch:
        context = start_context("local[*]", dict(entry.split("=", 1) for entry in conf))
        engine = spark_engine.SparkEngine(started=lambda: context)
        for _ in range(1 + WARM_RUNS):
            before, began = watch.cpu(), time.perf_counter()
            log = open_log(control, [data])
            plan = make_plan(log, Mode.REDO, Selection(), ScriptOptions())
            write_bundle(plan, log, out, engine, overwrite=True)
            cpu = sum(watch.cpu().values()) - sum(before.values())
            wall = time.perf_counter() - began
    context.stop()
    return _read_manifest(out, Measured(cpu, wall, watch.together))


def measure_command(
    control: Path, data: Path, out: Path, options: list[str], mode: str = "redo"
) -> Measured:
    """A whole process as a user starts it, with all processes that it starts, up to the end of the
    last one."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
    program = [
        sys.executable,
        "-c",
        "from logreplay_command import main; raise SystemExit(main())",
        mode,
        *options,
    ]
    files = [
        "--control",
        str(control),
        "--data",
        str(data),
        "--dialect",
        "postgres",
        "--out",
        str(out),
        "--overwrite",
    ]
    began = time.perf_counter()
    with Watch() as watch:
        process = subprocess.Popen(
            program + files, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        errors = process.communicate()[1]
        wall = time.perf_counter() - began
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        spent = watch.cpu()
    if process.returncode:
        raise SystemExit(
            f"logreplay {mode} {' '.join(options)}: exit code {process.returncode}\n{errors}"
        )
    del spent["driver"]  # this process, which only waits
    return _read_manifest(out, Measured(sum(spent.values()), wall, watch.together))


def measure_least(
    control: Path, data: Path, out: Path, options: list[str], runs: int = 2
) -> Measured:
    """The least of some ``runs`` of :func:`measure_command`."""
    taken = [measure_command(control, data, out, options) for _ in range(runs)]
    return min(taken, key=lambda one: one.cpu)


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def in_memory(path: Path) -> None:
    """Read a file, so that whoever is measured first does not pay for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass
