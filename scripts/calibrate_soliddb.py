#!/usr/bin/env python3
"""Finds out how a solidDB server lays out row images in SYS_LOG, for: logreplay --source soliddb
--log-option calibration=FOLDER.

    SOLID_USER=owner SOLID_PASSWORD=... scripts/calibrate_soliddb.py DSN FOLDER

Makes two tables, LOGREPLAY_CALIBRATE_TYPES and LOGREPLAY_CALIBRATE_SHAPES, writes rows of known
values, exports what the log says of them with scripts/export_soliddb.py, drops the tables, and says
which framing and column list give every value back. Run it on an idle server whose log reader is
enabled; it takes seconds. Needs pyodbc and logreplay.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import export_soliddb

from replay.errors import LogReplayError
from replay.logs.soliddb.calibration import CLEAN_UP, STATEMENTS, calibrated, names, parameters
from replay.logs.soliddb.detect import SolidShape
from replay.logs.soliddb.manifest import charset_number


def calibrate(connection: Any, folder: Path, charset: str = "utf-8", **settings: Any) -> SolidShape:
    """Run the statements, export the log, and find its shape. Errors as :func:`calibrated`; those
    of the connection pass through."""
    first = connection.cursor().execute(export_soliddb.FIRST).fetchone()
    if first is None or first[0] is None:
        raise ValueError(
            "the server gives no position of its log; is LogReader.LogReaderEnabled set to yes?"
        )
    connection.autocommit = False
    try:
        for statement in STATEMENTS:
            if statement is None:
                connection.commit()
            else:
                connection.cursor().execute(statement[0], *parameters(statement[1]))
        connection.autocommit = True
        export_soliddb.export(connection, folder, start=bytes(first[0]), **settings)
    finally:
        connection.autocommit = True
        for text in CLEAN_UP:
            connection.cursor().execute(text)
    (folder / "syslog-0000.jsonl.gz").replace(folder / "syslog.jsonl.gz")
    return calibrated(str(folder), charset_number(charset) or 1208)


def main(arguments: list[str] | None = None) -> int:
    """Run the calibration; its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dsn", help="ODBC data source or connection string")
    parser.add_argument("folder", type=Path, help="a new folder for the result")
    parser.add_argument("--charset", default="utf-8", help="of CHAR columns (default utf-8)")
    given = parser.parse_args(arguments)
    if given.folder.exists():
        print(f"{given.folder} exists; name a new folder", file=sys.stderr)
        return 12
    try:
        connection, error, binary = export_soliddb.connect(given.dsn)
    except ImportError:
        print("pyodbc is not installed: pip install pyodbc", file=sys.stderr)
        return 12
    try:
        shape = calibrate(connection, given.folder, given.charset, binary=binary, error=error)
    except (LogReplayError, ValueError, OSError, error) as problem:
        print(f"calibrate_soliddb: {problem}", file=sys.stderr)
        return 12
    print(
        f"{shape}; as settings: "
        + ", ".join(f"{name} {value}" for name, value in names(shape).items())
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
