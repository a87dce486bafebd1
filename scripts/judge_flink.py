"""Have Apache Flink read an export as Debezium events, and compare the rows that its changelog
leaves with those that the workload left:

    scripts/run flink [TABLE ...]

Flink comes from its wheel, of 0.4 GB, in an environment of its own (the first argument is its
Python). Java 17 or 21 runs it. Of the Sakila log all tables are judged, or those that are named.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaGateway

from replay.cli.main import main as logreplay

LOG = Path(__file__).parents[1] / "fixtures" / "sakila" / "log"
#: What Java 17 opens no longer by itself, as Flink's own start scripts have it.
OPENED = "java.lang java.lang.invoke java.net java.nio java.util java.util.concurrent java.time"
_NULL = re.compile(r"(?<=[,\n])(?=[,\r\n])")
_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def exported(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The values of the events by table; tombstones have none."""
    out = folder / "events"
    with gzip.open(LOG / "sakila.dat.gz") as packed:
        (folder / "sakila.dat").write_bytes(packed.read())
    files = ["--control", str(LOG / "sakila.ctl"), "--data", str(folder / "sakila.dat")]
    code = logreplay(["export", *files, "--format", "debezium", "--out", str(out)])
    if code not in (0, 4):
        sys.exit(code)
    events: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(out.glob("*/*/*.jsonl")):
        table = path.parts[-3].rpartition(".")[2]
        if table != "transactions":
            with path.open(encoding="utf-8") as lines:
                values = (json.loads(line)["value"] for line in lines)
                events.setdefault(table, []).extend(one for one in values if one is not None)
    return events


def fields_of(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns of a table, as the schema of its events has them."""
    parts = {part["field"]: part for part in events[0]["schema"]["fields"]}
    fields: list[dict[str, Any]] = parts["after"]["fields"]
    return fields


def source(table: str, path: Path, fields: Sequence[dict[str, Any]]) -> str:
    """A table over the events."""
    columns = ", ".join(f"`{field['field']}` STRING" for field in fields)
    return (
        f"CREATE TABLE `{table}` ({columns}) WITH ('connector' = 'filesystem',"
        f" 'path' = '{path.as_uri()}', 'format' = 'debezium-json',"
        " 'debezium-json.schema-include' = 'true')"
    )


def flink(libraries: Path) -> Any:
    """A table environment in a JVM of its own."""
    jars = [*libraries.glob("lib/*.jar"), *libraries.glob("opt/flink-python*.jar")]
    gateway = JavaGateway.launch_gateway(
        classpath=":".join(map(str, jars)),
        javaopts=[f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED.split()],
        die_on_exit=True,
    )
    api = gateway.jvm.org.apache.flink.table.api
    return api.TableEnvironment.create(api.EnvironmentSettings.inStreamingMode())


def changelog(
    environment: Any, table: str, fields: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, list[str | None]]]:
    """(kind, columns) of each row of Flink's changelog."""
    row = ", ".join(f"`{field['field']}`" for field in fields)
    query = f"SELECT JSON_ARRAY({row} NULL ON NULL) FROM `{table}`"
    found = environment.executeSql(query).collect()
    while found.hasNext():
        change = found.next()
        yield change.getKind().shortString(), json.loads(change.getField(0))


def told(field: dict[str, Any], value: str | None) -> str | float | None:
    """A value as the states of the workload have it."""
    if value is None:
        return None
    kind = field.get("name", "").rpartition(".")[2] or field["type"]
    if kind == "Decimal":
        number = int.from_bytes(base64.b64decode(value), signed=True)
        scale = int(field["parameters"]["scale"])
        digits = f"{abs(number):0{scale + 1}d}"
        sign = "-" if number < 0 else ""
        return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else f"{sign}{digits}"
    if kind == "Date":
        return (date(1970, 1, 1) + timedelta(int(value))).isoformat()
    if kind in ("Time", "MicroTimestamp", "Timestamp"):
        unit = {"Time": _SECOND // 1000, "Timestamp": _SECOND // 1000, "MicroTimestamp": 1}[kind]
        moment = _EPOCH + timedelta(microseconds=int(value) * unit)
        if kind == "Time":
            return moment.strftime("%H:%M:%S")
        return plain(f"{moment:%Y-%m-%d %H:%M:%S.%f}")
    if kind in ("float", "double"):
        return float(value)
    return "\\x" + base64.b64decode(value).hex() if kind == "bytes" else value.rstrip(" ")


def plain(moment: str) -> str:
    """A timestamp without zeros at the end."""
    whole, _, fraction = moment.partition(".")
    return f"{whole}.{fraction.rstrip('0')}".rstrip(".")


def state(table: str, when: str, fields: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """The rows of a table ``initial`` or ``final``."""
    path = LOG / when / f"{table}.csv"
    packed = path.with_suffix(".csv.gz")
    octets = path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())
    text = _NULL.sub("\0", octets.decode())  # the empty text is in quotes
    names, *rows = list(csv.reader(io.StringIO(text, newline="")))
    by_name = [dict(zip(names, row, strict=True)) for row in rows]
    return Counter(tuple(stated(field, row[field["field"]]) for field in fields) for row in by_name)


def stated(field: dict[str, Any], text: str) -> str | float | None:
    """A value of a state."""
    if text == "\0":
        return None
    if field["type"] in ("float", "double"):
        return float(text)
    moment = field.get("name", "").endswith("Timestamp")
    return plain(text) if moment else text.rstrip(" ")


def main(judge: str, chosen: Sequence[str]) -> int:
    """Compare; 8 where a table differs."""
    where = "import pyflink; print(pyflink.__path__[0])"
    libraries = Path(subprocess.check_output([judge, "-c", where], text=True).strip())
    environment = flink(libraries)
    code = rows = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for table, events in exported(folder).items():
            if chosen and table not in chosen:
                continue
            path, fields = folder / f"{table}.json", fields_of(events)
            path.write_text("\n".join(map(json.dumps, events)) + "\n", encoding="utf-8")
            left: Counter[tuple[Any, ...]] = Counter()
            seen = 0
            environment.executeSql(source(table, path, fields))
            for kind, row in changelog(environment, table, fields):
                values = zip(fields, row, strict=True)
                left[tuple(told(*one) for one in values)] += 1 if kind[0] == "+" else -1
                seen += 1
            left.update(state(table, "initial", fields))
            left.subtract(state(table, "final", fields))
            wrong = {row: count for row, count in left.items() if count}
            rows += seen
            print(f"{table}: {len(events)} events, {seen} rows of changelog, {len(wrong)} differ")
            for values_of, count in list(wrong.items())[:3]:
                print(f"  {count:+d} {values_of}")
            code = 8 if wrong else code
    print(f"{rows} rows of changelog")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
