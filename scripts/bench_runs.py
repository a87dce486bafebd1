"""One run, measured: CPU seconds by stage or by process, memory, and the digests of what it wrote.
What ``bench*.py`` measure with.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any

from process_watch import Watch

from replay.changes.choices import Mode
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.decoding import images
from replay.engine import local
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.native import fast_path
from replay.output import jobs, scripts
from replay.output.bundle import write_bundle
from replay.output.script_file import Sink
from replay.pipeline import partition, row_batch, rows
from replay.pipeline.plan import make_plan
from sqlgen import statements

ROOT = Path(__file__).resolve().parent.parent
WARM_RUNS = 2
#: The stage of machine code that decodes and writes in one.
COMPILED = "decode and SQL text, compiled"
#: prctl(2): orphans of this process become its children, so that they are still seen.
_SUBREAPER = 36


# -- stages of the local engine
# -------------------------------------------------------------------------------------------------


class Stages:
    """CPU seconds of this thread by stage; what a stage calls of another stage counts for that one
    only."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._stack: list[str] = ["rest"]
        self._mark = time.thread_time()

    def _switch(self) -> None:
        now = time.thread_time()
        self.seconds[self._stack[-1]] += now - self._mark
        self._mark = now

    def enter(self, name: str) -> None:
        """From here on time counts for ``name``."""
        self._switch()
        self._stack.append(name)

    def leave(self) -> None:
        """Time counts for the stage before again."""
        self._switch()
        self._stack.pop()

    def wrap(self, owner: Any, attribute: str, name: str) -> None:
        """Count a function as a stage."""
        inner = getattr(owner, attribute)

        @wraps(inner)
        def timed(*arguments: Any, **named: Any) -> Any:
            self.enter(name)
            try:
                return inner(*arguments, **named)
            finally:
                self.leave()

        setattr(owner, attribute, timed)

    def iterate(self, owner: Any, attribute: str, name: str) -> None:
        """Count a generator as a stage, but not what is done with what it yields."""
        inner = getattr(owner, attribute)

        @wraps(inner)
        def timed(*arguments: Any, **named: Any) -> Iterator[Any]:
            steps = inner(*arguments, **named)
            while True:
                self.enter(name)
                try:
                    value = next(steps, self)
                finally:
                    self.leave()
                if value is self:
                    return
                yield value

        setattr(owner, attribute, timed)


#: What counts for each stage: the class or module, its function, and whether that is a generator.
STAGES: tuple[tuple[str, Any, str, bool], ...] = (
    ("scan", jobs, "scan_split", True),
    ("sort", partition, "in_commit_order", False),
    ("gather headers", LogmasterLog, "envelope", False),
    ("decode", LogmasterLog, "images", True),
    ("decode", LogmasterLog, "plain_images", True),
    ("decode", row_batch.RowBatch, "__init__", False),
    ("decode", rows.RowDecoder, "_rows", False),
    ("decode", images, "walk", False),
    ("decode", images.ImageWalk, "equal", False),
    ("decode", images.ImageWalk, "decode", False),
    ("SQL text", statements, "render", False),
    (COMPILED, fast_path.FastPath, "statements", False),
    (COMPILED, fast_path, "written", False),
    ("write", scripts.BucketRenderer, "_write", False),
    ("write", Sink, "write", False),
)


def _stages() -> Stages:
    stages = Stages()
    for name, owner, attribute, steps in STAGES:
        (stages.iterate if steps else stages.wrap)(owner, attribute, name)
    return stages


@dataclass
class Measured:
    """One run: CPU and wall seconds, statements, the hashes of what it wrote; CPU by stage or by
    process, memory by process."""

    cpu: float
    wall: float
    statements: int = 0
    scripts: list[str] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)


def _read_manifest(folder: Path, measured: Measured) -> Measured:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    if not manifest["balance"]["closes"] or manifest["findings"]["count"]:
        raise SystemExit(f"{folder}: {manifest['balance']}, {manifest['findings']}")
    measured.statements = manifest["statements"]
    measured.scripts = [f"{script['name']} {script['sha256']}" for script in manifest["scripts"]]
    return measured


def measure_local(control: Path, data: Path, out: Path, staged: bool) -> Measured:
    """The local engine in this process; ``staged`` tells the stages apart (which costs a
    little, and takes one thread: stages of several would be counted for each other)."""
    stages = _stages() if staged else Stages()
    engine = local.ENGINE
    if staged:
        engine = replace(engine, threads=1)
    with Watch() as watch:
        before, began = time.process_time() - watch.own, time.perf_counter()
        stages.enter("control and index")
        log = open_log(control, [data])
        plan = make_plan(log, Mode.REDO, Selection(), ScriptOptions())
        stages.leave()
        write_bundle(plan, log, out, engine, overwrite=True)
        stages.enter("")
        cpu, wall = time.process_time() - before - watch.own, time.perf_counter() - began
    parts = {name: seconds for name, seconds in stages.seconds.items() if name}
    parts["rest"] = parts.get("rest", 0.0)
    parts["input digests, threads"] = cpu - sum(parts.values())
    return _read_manifest(
        out, Measured(cpu, wall, 0, [], parts if staged else {}, watch.together, watch.one)
    )


def measure_spark(control: Path, data: Path, out: Path, conf: list[str]) -> list[Measured]:
    """One context: a first run, then warm ones."""
    from replay.engine import spark as spark_engine
    from replay.engine.spark_start import start_context

    measured = []
    with Watch() as watch:
        began = time.perf_counter()
        context = start_context("local[*]", dict(entry.split("=", 1) for entry in conf))
        start = Measured(sum(watch.cpu().values()), time.perf_counter() - began)
        for _ in range(1 + WARM_RUNS):
            before, began = watch.cpu(), time.perf_counter()
            log = open_log(control, [data])
            plan = make_plan(log, Mode.REDO, Selection(), ScriptOptions())
            write_bundle(
                plan, log, out, spark_engine.SparkEngine(started=lambda: context), overwrite=True
            )
            after, wall = watch.cpu(), time.perf_counter() - began
            parts = {kind: after[kind] - before.get(kind, 0.0) for kind in after}
            measured.append(_read_manifest(out, Measured(sum(parts.values()), wall, parts=parts)))
    context.stop()
    measured[-1].memory, measured[-1].largest = watch.together, watch.one
    return [start, *measured]


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
        parts = watch.cpu()
    if process.returncode:
        raise SystemExit(
            f"logreplay {mode} {' '.join(options)}: exit code {process.returncode}\n{errors}"
        )
    del parts["driver"]  # this process, which only waits
    measured = Measured(sum(parts.values()), wall, 0, [], parts, watch.together, watch.one)
    return _read_manifest(out, measured)


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


def sizes_of(measured: Measured) -> str:
    names = {"driver": "driver", "java": "Java", "python": "Python processes"}
    sizes = [f"{names[kind]} {size >> 20} MB" for kind, size in sorted(measured.memory.items())]
    one = measured.largest.get("python")
    return ", ".join(sizes) + (f" (the largest {one >> 20} MB)" if one else "")
