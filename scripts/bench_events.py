"""What scripts from change events take beside parsing their lines. Called by ``bench.py events``.

The lines are of plain rows: five columns, ten changes a transaction, with keys and schemas. Each
figure is of a process of its own, with the time of its start; the yardsticks read the lines alone:
Python's own parser of JSON, and DuckDB's, which reading uses.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from pathlib import Path

from bench_runs import apart

sys.path.insert(0, str(Path(__file__).parents[1]))


def write(path: Path, changes: int) -> None:
    """So many changes as events of PostgreSQL."""
    from tests.logs.events.builder import ID, NAME, Table, Topic, text

    number = {"type": "int64", "optional": True, "field": "n"}
    day = {"type": "int32", "optional": True, "field": "d", "name": "io.debezium.time.Date"}
    table, topic = Table("t", (ID, NAME, text("more"), number, day)), Topic()
    with path.open("w", encoding="utf-8") as file:
        for unit in range(1, changes // 10 + 1):
            row = {"id": unit, "name": f"name {unit}", "more": "x" * 20, "n": unit << 20, "d": unit}
            later = row | {"n": unit}
            topic.transaction(unit, *((table, "u", row, later), (table, "u", later, row)) * 5)
            file.writelines(json.dumps(line) + "\n" for line in topic.lines)
            topic.lines.clear()


def spent(what: str, path: str) -> tuple[float, int]:
    """(CPU seconds, most memory in MB) of a process that does it."""
    if what == "script":
        from replay.cli.main import main

        words = ["--schema", "none", "--overwrite", "--out", f"{path}.out"]
        if main(["redo", path, *words]):
            raise SystemExit("found an exit code other than 0")
    elif what == "json":
        with open(path, encoding="utf-8") as file:
            for line in file:
                json.loads(line)
    else:
        import duckdb

        said = "json_extract_string(line, ['$.value.payload.before', '$.value.payload.after'])"
        lines = (
            f"read_csv('{path}', columns={{'line': 'VARCHAR'}}, delim='\t', quote='', escape='')"
        )
        duckdb.execute(f"SELECT sum(len(v[2])) FROM (SELECT {said} AS v FROM {lines})").fetchall()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


def events(arguments: argparse.Namespace) -> int:
    """Measure scripts from change events beside parsing their lines."""
    arguments.dir.mkdir(parents=True, exist_ok=True)
    for changes in (arguments.records, 4 * arguments.records):
        path = arguments.dir / f"events-{changes}.jsonl"
        if not path.exists():
            write(path, changes)
        found = {what: apart(spent, what, str(path)) for what in ("json", "duckdb", "script")}
        cpu, memory = found["script"]
        print(f"{changes:,} changes, {path.stat().st_size / 1e6:,.0f} MB: redo {cpu:.1f} CPU s,"
              f" {cpu / found['json'][0]:.2f} of Python's parser, {cpu / found['duckdb'][0]:.2f} of"
              f" DuckDB's; {memory} MB with the file, which is mapped", flush=True)  # fmt: skip
    return 0
