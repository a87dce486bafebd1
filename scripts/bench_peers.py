"""The undo of a log beside programs that undo MariaDB's binary log, of equal changes, in one run.

::

    scripts/run containers up
    scripts/run python scripts/bench_peers.py --records 1200000

A MariaDB in a container gets the rows as they were before the log, and then the log, by ``replay``;
its binary log has the same changes then, with all columns before and after. The programs are those
on PATH, and what is not there is named: ``mariadb-binlog`` (Debian's package mariadb-client), which
writes events and no SQL, and ``my2sql`` (``go build -mod=vendor`` in its repository liuhr/my2sql;
it asks the server for the tables). Each runs ``--rounds`` times in turn with the others; medians
count.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from bench_runs import apart, measure_command
from containers import MARIADB_IMAGE
from generate_log import TABLES, generate
from process_watch import Watch

from replay.changes.envelope import RECORD, Change
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from replay.pipeline.row_batch import whole_rows
from replay.targets.mysql_settings import connect_arguments
from sqlgen import ddl
from sqlgen.dialects import profile_named
from sqlgen.schema import Op, Rows

SERVER = [
    "--log-bin=/var/lib/mysql/changes",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--max-binlog-size=1G",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=1G",
]
Engines = Sequence[str]
ENGINES: Engines = ("local", "spark")
LOGREPLAY = [
    sys.executable,
    "-c",
    "from logreplay_command import main; raise SystemExit(main())",
]


@dataclass(frozen=True)
class Run:
    """What a program took, with its children: CPU seconds, seconds on the clock, and memory of
    their own in bytes. ``changes``: lines of SQL that it wrote (0: it writes none)."""

    program: str
    cpu: float
    wall: float
    memory: int
    changes: int


def docker(*words: str) -> str:
    """What a docker command prints."""
    done = subprocess.run(["docker", *words], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


@contextlib.contextmanager
def server() -> Iterator[tuple[str, str]]:
    """A MariaDB that writes a binary log: its URL, and the name of its container."""
    password = secrets.token_hex(8)
    given = ["--env", f"MARIADB_ROOT_PASSWORD={password}", "--publish", "127.0.0.1::3306"]
    container = docker("run", "--detach", *given, MARIADB_IMAGE, "mariadbd", *SERVER)
    try:
        place = docker("port", container, "3306").splitlines()[0]
        url = f"mariadb://root:{password}@{place}/"
        wait(url)
        yield url, container
    finally:
        docker("rm", "--force", "--volumes", container)


def wait(url: str, seconds: float = 120) -> None:
    """Until the server answers. Raises its own error where it does not come."""
    import pymysql

    end = time.monotonic() + seconds
    while True:
        try:
            return pymysql.connect(**connect_arguments(url)).close()
        except pymysql.MySQLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def rows_before(log: LogmasterLog) -> Iterator[Rows]:
    """What makes the rows that the log updates and deletes, as they were before."""
    for split, offsets, lengths in log.splits(16 << 20):
        envelope = log.envelope(split.file, offsets, lengths)
        change, version = log.classify(envelope)
        records = np.zeros(len(offsets), RECORD)
        records["file"], records["offset"], records["length"], records["segment"] = (
            split.file,
            offsets,
            lengths,
            1,
        )
        for index in range(len(TABLES)):
            for kind in (Change.UPDATE, Change.DELETE):
                heads = np.flatnonzero((version == index) & (change == kind))
                ones = np.ones(len(heads), np.int64)
                rows = whole_rows(log, records, heads, ones, index, kind)
                yield Rows(rows.table, Op.INSERT, rows.count, {}, rows.before, {})


def load(log: LogmasterLog, url: str) -> None:
    """Make the tables, and the rows that the log updates and deletes as they were before."""
    import pymysql

    profile = profile_named("mariadb")
    with contextlib.closing(pymysql.connect(**connect_arguments(url), autocommit=True)) as session:
        cursor = session.cursor()
        cursor.execute(f"CREATE DATABASE {log.catalog.versions[0].table.schema.lower()}")
        for version in log.catalog.versions:
            cursor.execute(ddl.create_table(version.table, profile, "lower"))
        for rows in rows_before(log):
            name = f"{rows.table.schema}.{rows.table.name}".lower()
            slots = ", ".join(["%s"] * len(rows.after))
            columns = ", ".join(column.lower() for column in rows.after)
            values = zip(*(values.to_pylist() for values in rows.after.values()), strict=True)
            cursor.executemany(f"INSERT INTO {name} ({columns}) VALUES ({slots})", list(values))
        cursor.execute("FLUSH BINARY LOGS")


def binary_log(url: str, container: str, words: list[str], folder: Path) -> Path:
    """The binary log of a replay, in one file."""
    import pymysql

    def files() -> list[str]:
        with contextlib.closing(pymysql.connect(**connect_arguments(url))) as session:
            cursor = session.cursor()
            cursor.execute("SHOW BINARY LOGS")
            return [str(row[0]) for row in cursor.fetchall()]

    first = files()[-1]
    replay = ["replay", *words, "--to", url, "--apply"]
    subprocess.run([*LOGREPLAY, *replay], check=True, stdout=subprocess.DEVNULL)
    written = [name for name in files() if name >= first]
    if len(written) > 1:
        raise SystemExit(f"found binary logs {written}; expected one: take fewer --records")
    copied = folder / written[0]
    docker("cp", f"{container}:/var/lib/mysql/{written[0]}", str(copied))
    return copied


def foreign(program: str, words: list[str], said: Path, wrote: Path | None) -> Run:
    """Run a program that is one process to its end; ``said``: a file that gets its output. The
    changes are those in the scripts of ``wrote``."""
    began = time.perf_counter()
    with said.open("wb") as sink, Watch() as watch:
        process = subprocess.Popen(words, stdout=sink, stderr=subprocess.STDOUT, cwd=said.parent)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        last = said.read_bytes()[-2000:].decode(errors="replace")
        raise SystemExit(f"{program}: exit code {process.returncode}\n{last}")
    changes = sum(
        line.startswith((b"INSERT INTO", b"UPDATE ", b"DELETE FROM"))
        for path in (wrote.glob("*.sql") if wrote is not None else ())
        for line in path.open("rb")
    )
    memory = sum(size for kind, size in watch.together.items() if kind != "driver")
    return Run(program, usage.ru_utime + usage.ru_stime, wall, memory, changes)


def ours(engine: str, control: Path, data: Path, out: Path) -> Run:
    """The undo of the log; what the other programs write: no statements that count rows."""
    options = ["--engine", engine, "--schema", "none", "--where-columns", "key", "--assert", "none"]
    found = measure_command(control, data, out, options, "undo")
    return Run(
        f"logreplay undo --engine {engine}",
        found.cpu,
        found.wall,
        sum(size for kind, size in found.memory.items() if kind != "driver"),
        found.statements,
    )


def run_all(
    url: str, binlog: Path, log: tuple[Path, Path], schema: str, folder: Path, engines: Engines
) -> Iterator[Run]:
    """Every program once."""
    said = folder / "said"
    for engine in engines:
        yield apart(ours, engine, *log, folder / "out")
    if program := shutil.which("mariadb-binlog"):
        back = [program, "--flashback", f"--database={schema}", str(binlog)]
        yield apart(foreign, "mariadb-binlog --flashback", back, said, None)
    if program := shutil.which("my2sql"):
        shutil.rmtree(folder / "my2sql", ignore_errors=True)
        (folder / "my2sql").mkdir()
        given = connect_arguments(url)
        back = [program, "-mode", "file", "-mysql-type", "mariadb", "-work-type", "rollback"]
        back += ["-local-binlog-file", str(binlog), "-start-file", binlog.name]
        back += ["-databases", schema, "-output-dir", str(folder / "my2sql")]
        back += ["-host", given["host"], "-port", str(given["port"])]
        back += ["-user", given["user"], "-password", given["password"]]
        yield apart(foreign, "my2sql", back, said, folder / "my2sql")


def measure(
    folder: Path, records: int, seed: int, rounds: int, engines: Engines = ENGINES
) -> list[Run]:
    """The medians of all programs."""
    folder.mkdir(parents=True, exist_ok=True)
    control, data = (path.resolve() for path in generate(folder, records, seed))
    log = open_log(control, [data])
    words = ["--control", str(control), "--data", str(data)]
    schema = log.catalog.versions[0].table.schema.lower()
    found: dict[str, list[Run]] = {}
    with server() as (url, container):
        load(log, url)
        binlog = binary_log(url, container, words, folder)
        for _ in range(rounds):
            for run in run_all(url, binlog, (control, data), schema, folder, engines):
                found.setdefault(run.program, []).append(run)
    for program in ("mariadb-binlog", "my2sql"):
        if shutil.which(program) is None:
            print(f"not measured: found no {program} on PATH", file=sys.stderr)
    medians = []
    for program, runs in found.items():
        columns = [
            statistics.median(getattr(run, name) for run in runs)
            for name in ("cpu", "wall", "memory", "changes")
        ]
        medians.append(Run(program, columns[0], columns[1], int(columns[2]), int(columns[3])))
    written = {run.changes for run in medians if run.changes}
    if len(written) > 1:
        raise SystemExit(f"the programs did not write as many changes: {medians}")
    return medians


def main() -> int:
    """Measure and print a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=1_200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "logreplay-peers")
    parser.add_argument("--json", type=Path, help="also write the figures into this file")
    arguments = parser.parse_args()
    sizes = arguments.records, arguments.seed, arguments.rounds
    runs = measure(arguments.dir, *sizes, arguments.engines)
    changes = max(run.changes for run in runs)
    print(f"{changes:,} changes\n\n| program | CPU s | s | most memory |\n|---|---|---|---|")
    for run in runs:
        print(f"| {run.program} | {run.cpu:.2f} | {run.wall:.2f} | {run.memory / 1e6:.0f} MB |")
    if arguments.json is not None:
        told = json.dumps([asdict(run) for run in runs], indent=1)
        arguments.json.write_text(told + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
