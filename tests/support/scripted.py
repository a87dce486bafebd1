"""Logs of Db2 LUW and solidDB made by a test's builder, opened, and the lines of their scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.logs import Inputs
from replay.logs.db2luw import reader as luw
from replay.logs.log_file import LogFile
from replay.logs.soliddb import reader as solid
from replay.output.bundle import Bundle, write_bundle
from replay.pipeline.plan import make_plan
from tests.support import luwbuilder, solidbuilder

_LINES = (
    *("INSERT", "UPDATE", "DELETE", "TRUNCATE", "CREATE", "DROP", "ALTER"),
    *("-- APP", "-- DBA", "-- ."),
)


def opened_luw(
    folder: Path, *logs: bytes, tables: tuple[luwbuilder.Tab, ...], **settings: Any
) -> luw.LuwLog:
    paths = []
    for number, log in enumerate(logs):
        paths.append(folder / f"{number}.log")
        paths[-1].write_bytes(log)
    catalog = folder / "catalog.csv"
    catalog.write_text(luwbuilder.catalog_csv(tables), encoding="utf-8")
    return luw.open_log(Inputs(log=tuple(map(str, paths)), catalog=str(catalog), **settings))


def opened_solid(
    folder: Path,
    *logs: solidbuilder.LogBuilder | list[dict[str, Any]],
    tables: tuple[solidbuilder.Tab, ...],
    manifest: dict[str, Any] | None = None,
    suffix: str = "parquet",
    **settings: Any,
) -> solid.SolidLog:
    solidbuilder.write_catalog(folder, tables, manifest)
    paths = [
        str(
            solidbuilder.write_rows(
                folder / f"syslog{number}.{suffix}",
                log if isinstance(log, list) else log.rows,
            )
        )
        for number, log in enumerate(logs)
    ]
    return solid.open_log(Inputs(log=tuple(paths), catalog=str(folder), **settings))


def script(
    log: LogFile,
    folder: Path,
    mode: str = "redo",
    selection: Selection | None = None,
    options: ScriptOptions | None = None,
) -> tuple[Bundle, list[str]]:
    """What was written, and the statements and the comments on them in all its scripts."""
    plan = make_plan(log, mode, selection or Selection(), options or ScriptOptions())
    bundle = write_bundle(plan, log, folder / f"out-{mode}", local.ENGINE)
    assert bundle.manifest["balance"]["closes"]
    lines = [
        line
        for path in sorted(bundle.folder.glob("*.sql"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return bundle, [line for line in lines if line.startswith(_LINES)]
