"""What the library's door has for frames; nothing heavy is imported before it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from replay.changes.keywords import Words
from replay.pipeline.checked import checked
from sqlgen.late import LateModule

if TYPE_CHECKING:
    from replay.frames import spark as spark_source
    from replay.output import lake
else:
    spark_source, lake = map(LateModule, ("replay.frames.spark", "replay.output.lake"))


@checked
def register_spark(session: Any, work: str | Path | None = None) -> None:
    """Make logs a data source of a Spark session: ``format("logreplay")``, of changes with typed
    images, records or a report, and ``format("logmaster")``, of records. ``work`` is where
    prepared logs are kept: a folder that all machines of a cluster must find (None: a temporary one
    of this machine, for as long as this process lives)."""
    spark_source.register(session, None if work is None else str(work))


@checked
def merge_batch(rows: pa.Table, path: str | Path, *, key: Words, stream: str, batch: int) -> bool:
    """Bring a Delta table equal to the source up to a batch of a stream of typed changes, each
    batch once: ``rows`` is the batch (``frame.toArrow()``), ``key`` names the primary key,
    ``stream`` is a name of the query that stays, ``batch`` the number that ``foreachBatch`` gives.
    False where the table holds it. Errors as those of :func:`replay.output.lake.merge_batch`."""
    names = (key,) if isinstance(key, str) else tuple(key)
    return lake.merge_batch(rows, Path(path), names, stream, batch)
