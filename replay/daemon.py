"""Spark's worker daemon with what every task needs imported already: workers are forks of it and share that.

Spark puts archives of pyspark and py4j first on the path of its Python processes. Modules in an archive are compiled anew in every process, and each
task reads the archive's table of contents again; where the archives are a part of the pyspark that is installed, the same modules are found beside them.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

_ARCHIVES = (".zip", ".jar")


def without_archives(path: Sequence[str]) -> list[str]:
    """The entries of a module path without the archives that lie within the pyspark package found behind them."""
    others = [entry for entry in path if not entry.endswith(_ARCHIVES)]
    found = PathFinder.find_spec("pyspark", others)
    if found is None or found.origin is None:
        return list(path)
    package = Path(found.origin).resolve().parent
    return [entry for entry in path if not (entry.endswith(_ARCHIVES) and package in Path(entry).resolve().parents)]


if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    sys.path_importer_cache.clear()  # tasks have every entry read again, those that are off the path too

    from pyspark import daemon

    import replay.stages

    with suppress(ImportError, RuntimeError, OSError):  # as replay.shortcut.compiled: the other way is always there
        import replay.kernel  # noqa: F401
    gc.freeze()  # Spark collects garbage after each task, and would look through all modules each time
    daemon.manager()
