"""Spark's worker daemon with what every task needs imported already: workers are forks of it and
share that.

Spark puts archives of pyspark and py4j first on the path of its Python processes. Modules in an
archive are compiled anew in every process, and each task reads the archive's table of contents
again; where the archives are a part of the pyspark that is installed, the same modules are found
beside them.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

_ARCHIVES = (".zip", ".jar")

#: What the tasks of scripts and exports are made of. A name, because the engine carries out jobs of
#: rooms above it; only this program, which nobody imports from, looks up there.
TASKS = "replay.output.jobs"

#: What each worker would import for its first task by itself.
OF_WORKERS = (
    "replay.pipeline.stages",
    "replay.pipeline.spark_results",
    "pyspark.worker_message",
    "dateutil.relativedelta",
    "numpy.ma",
)


def without_archives(path: Sequence[str]) -> list[str]:
    """The entries of a module path without the archives that are parts of the pyspark package found
    behind them. What else lies in its folder stays: a worker with that ``SPARK_HOME`` puts there
    what travels with a job."""
    others = [entry for entry in path if not entry.endswith(_ARCHIVES)]
    spec = PathFinder.find_spec("pyspark", others)
    if spec is None or spec.origin is None:
        return list(path)
    package = Path(spec.origin).resolve().parent
    parts = (package / "python" / "lib", package / "jars")
    return [
        entry
        for entry in path
        if not (entry.endswith(_ARCHIVES) and Path(entry).resolve().parent in parts)
    ]


def until_spark_goes(
    worker: Callable[[socket.socket, bool], int],
) -> Callable[[socket.socket, bool], int]:
    """A worker that ends in silence (exit code 1) where Spark has closed the connection: at the end
    of a program that has all its results, the last words of a worker may find nobody there.
    Whoever still waits for results is told of the lost connection by Spark itself."""

    def run(connection: socket.socket, authenticated: bool) -> int:
        try:
            return worker(connection, authenticated)
        except BrokenPipeError:
            return 1

    return run


if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    # tasks have every entry read again, those that are off the path too
    sys.path_importer_cache.clear()

    from pyspark import daemon

    from replay.errors import UsageError
    from replay.machine import give_back_memory, start_arrow
    from replay.pipeline.libraries import (
        PROGRAM,
        REFUSED,
        VARIABLE,
        as_written,
        check_libraries,
        check_program,
    )

    try:
        check_program(os.environ.get(PROGRAM, ""))
        check_libraries(as_written(os.environ.get(VARIABLE, "")))
    except UsageError as error:
        # before they are imported, which another version may break; Spark reports these words
        sys.exit(f"{REFUSED}{error.message}")
    start_arrow()
    give_back_memory()
    import_module(TASKS)
    # machine code is linked by llvmlite, where it is there; a release of Spark may lack a module
    for name in (*OF_WORKERS, "llvmlite.binding"):
        with suppress(ImportError, OSError):
            import_module(name)
    # Spark collects garbage after each task, and would look through all modules each time
    gc.freeze()
    daemon.worker = until_spark_goes(daemon.worker)  # type: ignore[assignment]
    daemon.manager()
