#!/usr/bin/env python3
"""Exports the log of a solidDB server (SYS_LOG) and its system tables, for: logreplay --source
soliddb.

    pip install pyodbc
    SOLID_USER=reader SOLID_PASSWORD=... scripts/export_soliddb.py DSN FOLDER

DSN is the name of an ODBC data source, or a connection string. The server needs
LogReader.LogReaderEnabled = yes. Each run writes one read session, FOLDER/syslog-N.jsonl.gz, from
where the last one ended, then the system tables as they are at its end (FOLDER/meta; of tables that
were dropped since, as they were last) and FOLDER/manifest.json. A session ends when the log has
nothing more to give (or at --rows or --seconds), always behind a commit. Python's library and
pyodbc are all it needs.

Exit codes: 0; 4 when the log goes on behind --rows or --seconds (run it again); 8 when the server
ended the reading; 12 for what cannot be used.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

COLUMNS = ("RECID", "RECNAME", "TRXID", "STMTTRXID", "RELID", "FLAGS", "LOGADDR", "DATA")
QUERY = f"SELECT {', '.join(COLUMNS)} FROM SYS_LOG WHERE LOGADDR > ?"
FIRST = "SELECT LOGADDR FROM SYS_LOG LIMIT 1"
NEEDED = ("SYS_TABLES", "SYS_COLUMNS", "SYS_KEYS", "SYS_KEYPARTS")
OPTIONAL = (
    "SYS_COLUMNS_AUX", "SYS_FORKEYS", "SYS_FORKEYPARTS", "SYS_TRIGGERS", "SYS_SEQUENCES",
    "SYS_TABLEMODES", "SYS_CHECKSTRINGS", "SYS_VIEWS",
)  # fmt: skip
#: What SQLGetInfo takes for the version of the server.
_SQL_DBMS_VER = 18
START, COMMIT, DDL, SHUTDOWN = 7, 12, 13, 2


@dataclass
class Session:
    """A read session while it is written: where it began and how far it is; ``ended_by`` is nop,
    limit, shutdown or error."""

    number: int
    start: bytes
    last: bytes | None = None
    rows: int = 0
    waiting: list[dict[str, Any]] = field(default_factory=list)
    open: bool = False
    ddl: int = 0
    ended_by: str = "nop"
    problem: str = ""


def export(
    connection: Any,
    folder: Path,
    *,
    start: bytes | None = None,
    rows: int | None = None,
    seconds: float | None = None,
    encoding: str | None = None,
    partition: str | None = None,
    binary: Callable[[bytes], Any] = bytes,
    error: type[Exception] = Exception,
    clock: Callable[[], float] = time.monotonic,
) -> Session:
    """Write one read session into ``folder`` and return it. ValueError when the folder's manifest
    cannot be gone on from, or the server has no log."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = _manifest(folder)
    sessions = manifest.setdefault("sessions", [])
    if start is None and sessions:
        start = bytes.fromhex(sessions[-1]["last_commit_logaddr"])
    if start is None:
        first = connection.cursor().execute(FIRST).fetchone()
        if first is None or first[0] is None:
            raise ValueError(
                "the server gives no position of its log; is LogReader.LogReaderEnabled set to yes?"
            )
        start = bytes(first[0])
    session = Session(len(sessions), start)
    former = _Former.of(folder / "meta", manifest)
    path = folder / f"syslog-{session.number:04d}.jsonl.gz"
    until = None if seconds is None else clock() + seconds
    with gzip.open(folder / f"{path.name}.part", "wt", encoding="utf-8") as file:
        log = _fetched(connection.cursor().execute(QUERY, binary(start)), error, session)
        _read(log, session, file, rows, until, clock)
        while session.ended_by == "nop":  # system tables of a moment at which no DDL is under way
            before = session.ddl
            _read_meta(connection, folder, manifest, former)
            _read(log, session, file, rows, until, clock)
            if session.ddl == before:
                break
    if session.ended_by != "nop":
        _read_meta(connection, folder, manifest, former)
    entry = {
        "start_logaddr": session.start.hex().upper(),
        "last_commit_logaddr": (session.last or session.start).hex().upper(),
        "ended_by": session.ended_by,
    }
    if session.last is None:  # nothing was committed: no session, and no file
        (folder / f"{path.name}.part").unlink()
    else:
        (folder / f"{path.name}.part").replace(path)
        sessions.append(entry)
    manifest["metadata_logaddr"] = (
        entry["last_commit_logaddr"] if session.ended_by == "nop" else None
    )
    version = getattr(connection, "getinfo", lambda _: None)(_SQL_DBMS_VER)
    manifest["product_version"] = version or manifest.get("product_version")
    manifest["partition"] = partition or manifest.get("partition")
    manifest["char_encoding"] = encoding or manifest.get("char_encoding")
    _replace(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")
    return session


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.exists():
        return {"sessions": []}
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(manifest, dict):
        raise ValueError(f"{path} is no manifest")
    return manifest


def _fetched(cursor: Any, error: type[Exception], session: Session) -> Iterator[Any]:
    """The rows of a cursor that never ends by itself; what ends it is noted."""
    while True:
        try:
            row = cursor.fetchone()
        except error as problem:
            session.ended_by, session.problem = "error", str(problem)
            return
        if row is None:
            session.ended_by, session.problem = "error", "the server ended the cursor"
            return
        yield row


def _read(
    log: Iterator[Any],
    session: Session,
    file: TextIO,
    most: int | None,
    until: float | None,
    clock: Callable[[], float],
) -> None:
    """Read on up to the next moment at which nothing is there, writing transactions when they are
    whole."""
    for row in log:
        values = dict(zip(COLUMNS, row, strict=True))
        flags = int(values["FLAGS"] or 0)
        if flags & SHUTDOWN:
            session.ended_by = "shutdown"
            return
        if flags == 0 and values["RECID"] is None:
            if not session.open:
                return
            continue
        session.open = values["RECID"] != COMMIT and (session.open or values["RECID"] == START)
        session.waiting.append(values)
        if values["RECID"] == COMMIT:
            _write(session, file)
            over = until is not None and clock() >= until
            if over or (most is not None and session.rows >= most):
                session.ended_by = "limit"
                return


def _write(session: Session, file: TextIO) -> None:
    for values in session.waiting:
        session.ddl += values["RECID"] == DDL
        shown = {"SEQ": session.rows, "SESSION": session.number} | {
            name: _plain(values[name]) for name in COLUMNS
        }
        file.write(json.dumps(shown) + "\n")
        session.rows += 1
    session.last = bytes(session.waiting[-1]["LOGADDR"])
    session.waiting.clear()


def _plain(value: Any) -> Any:
    return (
        bytes(value).hex().upper() if isinstance(value, bytes | bytearray | memoryview) else value
    )


#: Which rows of a system table are of a table: the column with its id, or with that of its key.
_OF_TABLE = {"sys_tables": "ID", "sys_columns": "REL_ID", "sys_keys": "REL_ID"}
_OF_KEY = {"sys_keyparts": "ID"}


@dataclass
class _Former:
    """The system tables as the run before this one left them: ``rows`` by system table, and at
    which commit the lines of each table were read, by its id, as far as that is known."""

    rows: dict[str, list[dict[str, str]]]
    read_at: dict[str, str]

    @classmethod
    def of(cls, folder: Path, manifest: dict[str, Any]) -> _Former:
        """Those in a folder; empty where it has none."""
        rows: dict[str, list[dict[str, str]]] = {}
        for name in (*_OF_TABLE, *_OF_KEY):
            path = folder / f"{name}.csv"
            if not path.exists():
                return cls({}, {})
            with path.open(encoding="utf-8", newline="") as file:
                rows[name] = list(csv.DictReader(file))
        at, dropped = manifest.get("metadata_logaddr"), manifest.get("dropped_tables") or {}
        tables = (row["ID"] for row in rows["sys_tables"] if "VIEW" not in row["TABLE_TYPE"])
        read_at = {relid: dropped.get(relid, at) for relid in tables}
        return cls(rows, {relid: there for relid, there in read_at.items() if there})

    def of_tables(self, name: str, tables: set[str]) -> list[dict[str, str]]:
        """The rows of a system table that are of some tables."""
        if name in _OF_TABLE:
            return [row for row in self.rows.get(name, ()) if row[_OF_TABLE[name]] in tables]
        keys = {row["ID"] for row in self.of_tables("sys_keys", tables)} if name in _OF_KEY else ()
        return [row for row in self.rows.get(name, ()) if row[_OF_KEY[name]] in keys]


def _read_meta(connection: Any, folder: Path, manifest: dict[str, Any], former: _Former) -> None:
    """The system tables, as CSV. The log may still have rows of tables that were dropped, so their
    lines stay, and the manifest says of what time they are."""
    cursor = connection.cursor()
    listed = cursor.execute("SELECT * FROM _SYSTEM.SYS_TABLES").fetchall()
    columns = [column[0] for column in cursor.description]
    there = {str(row[columns.index("ID")]) for row in listed}
    dropped = former.read_at.keys() - there
    manifest["dropped_tables"] = {relid: former.read_at[relid] for relid in sorted(dropped)}
    # until the end of this run nobody knows of what time the others are
    _replace(
        folder / "manifest.json",
        json.dumps({**manifest, "metadata_logaddr": None}, indent=1) + "\n",
    )
    (folder / "meta").mkdir(exist_ok=True)
    names_of = connection.cursor().execute("SELECT TABLE_NAME FROM _SYSTEM.SYS_TABLES").fetchall()
    known = {str(row[0]).upper() for row in names_of}
    for name in (*NEEDED, *(table for table in OPTIONAL if table in known)):
        cursor = connection.cursor().execute(f"SELECT * FROM _SYSTEM.{name}")
        part = folder / "meta" / f"{name.lower()}.csv.part"
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            names = [column[0] for column in cursor.description]
            writer.writerow(names)
            writer.writerows(
                [
                    ["" if value is None else _plain(value) for value in row]
                    for row in cursor.fetchall()
                ]
            )
            for kept in former.of_tables(name.lower(), set(dropped)):
                writer.writerow([kept.get(column) or "" for column in names])
        part.replace(folder / "meta" / f"{name.lower()}.csv")


def _replace(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def connect(dsn: str) -> tuple[Any, type[Exception], Callable[[bytes], Any]]:
    """(connection, its error class, its type of bytes) for a data source name or a connection
    string. User and password are in the environment."""
    import pyodbc

    text = dsn if "=" in dsn else f"DSN={dsn}"
    user, password = os.environ.get("SOLID_USER"), os.environ.get("SOLID_PASSWORD")
    text += "".join(
        f";{name}={{{value.replace('}', '}}')}}}"
        for name, value in (("UID", user), ("PWD", password))
        if value
    )
    return pyodbc.connect(text, autocommit=True), pyodbc.Error, pyodbc.Binary


def main(arguments: list[str] | None = None) -> int:
    """Run the exporter; its exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dsn", help="ODBC data source or connection string")
    parser.add_argument(
        "folder",
        type=Path,
        help="where the export is written; a folder with sessions is gone on with",
    )
    parser.add_argument(
        "--from",
        dest="start",
        type=bytes.fromhex,
        metavar="LOGADDR",
        help="begin behind this commit (default: where the last session ended)",
    )
    parser.add_argument("--rows", type=int, help="end behind the commit that makes this many rows")
    parser.add_argument("--seconds", type=float, help="end behind the first commit after this time")
    parser.add_argument(
        "--char-encoding", metavar="E", help="the database's: UTF8, or Raw:CHARSET (Raw:latin-1)"
    )
    parser.add_argument(
        "--partition",
        metavar="P",
        help=(
            "the replication partition that the reader sees, for the record: tables outside of it"
            " are absent"
        ),
    )
    given = parser.parse_args(arguments)
    try:
        connection, error, binary = connect(given.dsn)
    except ImportError:
        print("pyodbc is not installed: pip install pyodbc", file=sys.stderr)
        return 12
    try:
        done = export(
            connection, given.folder, start=given.start, rows=given.rows, seconds=given.seconds,
            encoding=given.char_encoding,
            partition=given.partition,
            binary=binary, error=error,
        )  # fmt: skip
    except (ValueError, OSError, error) as problem:
        print(f"export_soliddb: {problem}", file=sys.stderr)
        return 12
    print(
        f"{done.rows} rows up to {(done.last or done.start).hex().upper()}; ended by:"
        f" {done.ended_by}"
    )
    if done.problem:
        print(
            f"export_soliddb: {done.problem}; everything up to the last commit is written",
            file=sys.stderr,
        )
    return {"nop": 0, "shutdown": 0, "limit": 4}.get(done.ended_by, 8)


if __name__ == "__main__":
    sys.exit(main())
