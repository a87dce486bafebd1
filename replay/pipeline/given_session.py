"""The engine on a Spark session that a program has already: a notebook, or one that was submitted
to a cluster. Package and files travel to its executors as they do for a command."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from replay.errors import UsageError
from replay.pipeline import spark_engine
from replay.pipeline.cluster_trouble import Limits, not_by_connect
from replay.pipeline.engine import Engine
from replay.pipeline.masters import is_local
from replay.pipeline.spark_start import with_package
from replay.pipeline.travel import Travel

#: What a command waits for unless it is told otherwise.
_LIMITS = Limits(executors=300, tasks=3600)


def engine_on(session: Any, files: Sequence[str] = (), exchange: str = "") -> Engine:
    """The engine on a ``SparkSession`` that has a context. ``files`` of this
    machine are given to executors; ``exchange`` is the URL of a folder in a store, through which
    tasks give files back. Errors are those of the engines of commands, and the limits their usual
    ones. UsageError for what is no session (LR1001), or is one of Spark Connect or has ended
    (LR1005)."""
    if not hasattr(session, "createDataFrame"):
        raise UsageError("LR1001", f"found spark={session!r:.80}; expected a SparkSession")
    if type(session).__module__.startswith("pyspark.sql.connect."):
        raise not_by_connect("a session of Spark Connect")
    travel = Travel(files, _LIMITS, exchange)
    context = session.sparkContext
    if context._jsc is None:
        message = "found a Spark session that was stopped; expected one that runs"
        raise UsageError("LR1005", message, hint="Begin another one, and open the log with it")
    if is_local(str(context.master)):
        return spark_engine.engine(lambda: context)

    return spark_engine.engine(cache(partial(with_package, context)), travel=travel)
