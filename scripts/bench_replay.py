"""Measures how fast a log is replayed into a PostgreSQL, beside psql running the same statements as
a script, in one run.

    scripts/run python scripts/bench_replay.py                     300,000 records
    scripts/run python scripts/bench_replay.py --records 100000 --fsync on

The server is the embedded one, here with the usual settings for its log; ``--fsync on`` also waits
for the disk. Each way begins with the same state, which is made of the log's before images, and
ends with a comparison of all tables. CPU seconds are of the client and of the server.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from bench_peers import rows_before
from generate_log import generate
from process_watch import family

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.live import replay as live
from replay.live.replay_request import pace_of
from replay.live.transaction_size import ApplyMode
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.targets import embedded, target_named
from sqlgen import statements
from sqlgen.choices import Assertion, WhereColumns
from sqlgen.dialects import profile_named
from sqlgen.names import target_name
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Constraints, SqlType, Table

POSTGRES = target_named("postgres")
PROFILE = profile_named("postgres")
_TYPES = {
    SqlType.CHAR: "char({0})",
    SqlType.VARCHAR: "varchar({0})",
    SqlType.DECIMAL: "numeric",
    SqlType.TIMESTAMP: "timestamp",
}


def _type(column: Column) -> str:
    return _TYPES.get(column.type, column.type.value.lower()).format(column.length)


def _ddl(table: Table) -> str:
    columns = ", ".join(
        f"{target_name(c.name, PROFILE, 'lower')} {_type(c)}" for c in table.columns
    )
    key = ", ".join(target_name(name, PROFILE, "lower") for name in table.key)
    return (
        f"CREATE TABLE {table.schema.lower()}.{table.name.lower()} ({columns}, PRIMARY KEY"
        f" ({key}));"
    )


def _load(log: LogmasterLog, url: str) -> None:
    """Make the tables, and the rows that the log updates and deletes as they were before."""
    with psycopg.connect(url) as connection:
        tables = [version.table for version in log.catalog.versions]
        connection.execute(
            "\n".join([f"CREATE SCHEMA {tables[0].schema.lower()};", *map(_ddl, tables)]).encode()
        )
        for inserts in rows_before(log):
            text = statements.render(inserts, PROFILE, RenderOptions()).text
            connection.execute("".join(text.to_pylist()).encode())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def _digests(url: str, log: LogmasterLog) -> list[str]:
    digests = []
    with psycopg.connect(url) as connection:
        for version in log.catalog.versions:
            name = f"{version.table.schema}.{version.table.name}".lower()
            row = connection.execute(
                f"SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM {name} t".encode()
            ).fetchone()
            assert row is not None
            digests.append(str(row[0]))
    return digests


def _measure(what: str, count: int, action: Callable[[], object]) -> dict[str, Any]:
    """Run a way of doing it, and print how long that takes; the figures."""
    client, began = sum(seconds for _, seconds in family().values()), time.perf_counter()
    action()
    wall = time.perf_counter() - began
    client = sum(seconds for _, seconds in family().values()) - client
    print(
        f"{what:<44}{wall:>8.2f} s {count / wall:>10,.0f} statements/s   client {client:.2f} CPU s"
    )
    return {"way": what, "seconds": wall, "per_second": count / wall, "client_cpu": client}


def _copied(url: str, log: LogmasterLog) -> tuple[int, Callable[[], None]]:
    """(rows, a COPY of them into empty tables): what a server takes in at most."""
    texts: dict[str, list[bytes]] = {}
    with psycopg.connect(url) as connection:
        for version in log.catalog.versions:
            name = f"{version.table.schema}.{version.table.name}".lower()
            with connection.cursor().copy(f"COPY {name} TO STDOUT".encode()) as copy:
                texts[name] = [bytes(part) for part in copy]
            connection.execute(f"TRUNCATE {name}".encode())

    def load() -> None:
        with psycopg.connect(url) as connection:
            for name, rows in texts.items():
                with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
                    for row in rows:
                        copy.write(row)

    return sum(map(len, texts.values())), load


def main() -> int:
    """Measure and print; 1 when the states differ."""
    parser = argparse.ArgumentParser(description="measure replay into a PostgreSQL")
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--fsync", choices=("on", "off"), default="off")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "logreplay-bench")
    parser.add_argument("--json", type=Path, help="also write the figures into this file")
    arguments = parser.parse_args()
    arguments.dir.mkdir(exist_ok=True)
    control, data = generate(arguments.dir, arguments.records, 1)
    log = open_log(control, [data])
    ends: dict[str, list[str]] = {}
    rows: list[dict[str, Any]] = []
    settings = {
        "fsync": arguments.fsync,
        "full_page_writes": "on",
        "wal_level": "replica",
        "shared_buffers": "512MB",
        "max_wal_size": "4GB",
    }
    with tempfile.TemporaryDirectory() as folder, embedded.server(**settings) as server:
        base = server.rsplit("/", 1)[0]
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE loaded")
            _load(log, f"{base}/loaded")
            ways: dict[str, Callable[..., object]] = {}
            for every in (1, 1000):
                options = ScriptOptions(
                    commit_every=every, render=RenderOptions(where_columns=WhereColumns.GUARD)
                )
                bundle = replay.write_script(
                    control, [data], Path(folder) / f"redo-{every}", options=options
                )
                scripts = sorted(Path(str(bundle.folder)).glob("*.sql"))
                ways[f"psql -f, {every} units a transaction"] = partial(
                    POSTGRES.run_scripts, scripts=scripts
                )
                ways[f"replay, {every} units a transaction"] = partial(_replay, log, every)
            options = replace(options, asserts=Assertion.NONE)
            bundle = replay.write_script(
                control, [data], Path(folder) / "redo-none", options=options
            )
            ways["psql -f, no checks"] = partial(
                POSTGRES.run_scripts, scripts=sorted(Path(str(bundle.folder)).glob("*.sql"))
            )
            ways["replay, bulk"] = partial(_replay, log, None, mode=ApplyMode.BULK)
            count = bundle.manifest["statements"]
            print(
                f"{count:,} statements in {bundle.manifest['units']:,} units; fsync"
                f" {arguments.fsync}"
            )
            for number, (what, action) in enumerate(ways.items()):
                connection.execute(f"CREATE DATABASE b{number} TEMPLATE loaded".encode())
                url = f"{base}/b{number}"
                rows.append(_measure(what, count, partial(action, url=url)))
                ends[what] = _digests(url, log)
                connection.execute(f"DROP DATABASE b{number}".encode())
            held, load = _copied(f"{base}/loaded", log)
            rows.append(_measure("COPY of the rows", held, load))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    same = len({tuple(end) for end in ends.values()}) == 1
    print("all ways end in the same state" if same else f"NOT THE SAME: {ends}")
    return 0 if same else 1


def _replay(
    log: LogmasterLog,
    every: int | None,
    mode: ApplyMode = ApplyMode.STRICT,
    *,
    url: str,
) -> None:
    pace = pace_of({"mode": mode, "commit_every": every})
    options = ScriptOptions(render=RenderOptions(where_columns=WhereColumns.GUARD))
    source = live.ReplayInput(log, Selection(), options, Constraints(), local.ENGINE)
    with live.plan_replay(source, live.ReplayRequest(url, True, pace=pace)) as plan:
        lines = [*plan.lines, *plan.apply().lines]
    for line in lines:
        if any(
            part in line
            for part in (
                "applied in",
                "came in together",
                "statements were made in",
            )
        ):
            print("  " + line)


if __name__ == "__main__":
    raise SystemExit(main())
