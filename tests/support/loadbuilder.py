"""LOAD files of Log Master for tests, written from the known contents of a log: they share nothing
with the reader, nor with the logical log beside it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

INFO = (
    "#CONNECTION_TYPE #CONNECTION_ID #CORRELATION_ID #AUTH_ID #PLAN_NAME #URIDLRSN #URIDBEGINPOINT"
    " #URIDMEMBERID #URIDTIMESTAMP #COMMITLRSN #LOGRBA #SQLSRCTYPE #RECORD_TYPE"
).split()
_TABLE = re.compile(r"CREATE TABLE SAKILA\.(\w+) \((.*?)\n\)", re.S)
_COLUMN = re.compile(r"^  (\w+) ([A-Z]+)(?:\((\d+))?.*$", re.M)
_WIDTHS = {"SMALLINT": 6, "INTEGER": 11, "BIGINT": 20, "DECIMAL": 12, "TIMESTAMP": 26, "DATE": 10}

LIST = ",\n   "

Value = str | None


def lines_of(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def columns_of(ddl: str) -> dict[str, list[tuple[str, str, int]]]:
    """Table -> (name, type, width as text) of each column."""
    return {
        table: [
            (name, kind, _WIDTHS.get(kind, int(size or 0) or 24))
            for name, kind, size in _COLUMN.findall(body)
            if name != "CONSTRAINT"
        ]
        for table, body in _TABLE.findall(ddl)
    }


def value_of(kind: str, text: Value) -> Value:
    """A value of the known contents as Db2 writes it."""
    if text is None:
        return None
    if kind == "TIMESTAMP":
        return text.replace(" ", "-").replace(":", ".")
    if kind == "TIME":
        return text.replace(":", ".")
    return text[2:].upper() if text.startswith("\\x") else text


def records(folder: Path) -> tuple[dict[str, list[tuple[str, str, int]]], dict[str, list[Any]]]:
    """(columns by table, (informational columns, before, after) of each change by table) of the
    committed changes of a log, sorted by table as LOAD files are."""
    columns = columns_of((folder / "db2-tables.sql").read_text(encoding="utf-8"))
    units = {(unit["member"], unit["uorid"]): unit for unit in lines_of(folder / "units.jsonl.gz")}
    found: dict[str, list[Any]] = {}
    for change in lines_of(folder / "changes.jsonl.gz"):
        unit = units[change["member"], change["uorid"]]
        table = change["table"].upper()
        time = unit["commit_time"].replace(" ", "-").replace(":", ".")
        info = ("", "", "", unit["authid"], "", unit["uoridlrsn"], unit["uorid"])
        info += (str(unit["member"]), time, unit["commit_lrsn"], change["rba"], change["src"])
        sides = [
            None
            if change.get(side) is None
            else [value_of(kind, change[side][name.lower()]) for name, kind, _ in columns[table]]
            for side in ("before", "after")
        ]
        found.setdefault(table, []).append(((*info, change["op"].strip()[0]), *sides))
    for changes in found.values():
        changes.sort(key=lambda change: change[0][10])
    return columns, dict(sorted(found.items()))


def csv_field(value: Value) -> str:
    if value is None:
        return ""
    doubled = value.replace('"', '""')
    return f'"{doubled}"'


def csv_line(info: Sequence[str], images: Iterable[Sequence[Value]]) -> str:
    return ",".join([*map(csv_field, info), *(csv_field(v) for one in images for v in one)])


def in_order(before: Any, after: Any) -> list[Any]:
    """The images of a record: after an update first, then before."""
    return [image for image in (after, before) if image is not None]


def write_csv(
    folder: Path,
    out: Path,
    images: Callable[[Any, Any], list[Any]] = in_order,
    ccsid: tuple[str, str] = ("UNICODE", "utf-8"),
) -> list[str]:
    """A LOAD file for each table, the LOAD control file, and the arguments that name them."""
    columns, found = records(folder)
    control, data = list[str](), list[str]()
    for number, (table, changes) in enumerate(found.items()):
        path = out / f"{table.lower()}.csv"
        text = "".join(
            csv_line(info, images(before, after)) + "\n" for info, before, after in changes
        )
        path.write_bytes(text.encode(ccsid[1]))
        data.append(str(path))
        names = [*(f'"{name}" CHAR(20)' for name in INFO)]
        names += [f'"{name}" {kind} EXTERNAL' for name, kind, _ in columns[table]]
        control.append(
            f"LOAD DATA INDDN SYSREC{number:02d} LOG NO RESUME YES {ccsid[0]}\n"
            "  FORMAT DELIMITED COLDEL ',' CHARDEL '\"' DECPT '.'\n"
            f'  INTO TABLE "SAKILA"."{table}"\n  ({LIST.join(names)})\n'
        )
    (out / "load.ctl").write_text("".join(control), encoding="utf-8")
    return arguments(folder, out, data)


def write_one(folder: Path, out: Path, tables: Sequence[str]) -> list[str]:
    """One LOAD file for some tables, which WHEN tells apart; null is ``?``."""
    columns, found = records(folder)
    control = ["LOAD DATA INDDN SYSREC UNICODE CCSID(0,1208,1200) FORMAT DELIMITED\n"]
    lines: list[str] = []
    for table in tables:
        fields = [f'"{name}" CHAR(26)' for name in ("#KIND", *INFO)]
        fields += [
            f"\"{name}\" {kind} EXTERNAL NULLIF({name}='?')" for name, kind, _ in columns[table]
        ]
        control.append(
            f'  INTO TABLE "SAKILA"."{table}" WHEN ("#KIND" = \'{table}\')\n'
            f"  ({LIST.join(fields)})\n"
        )
        for info, *sides in found[table]:
            rows = [
                ["?" if value is None else value for value in image] for image in in_order(*sides)
            ]
            lines.append(csv_line((table, *info), rows))
    (out / "load.ctl").write_text("".join(control), encoding="utf-8")
    (out / "load.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return arguments(folder, out, [str(out / "load.csv")])


def arguments(folder: Path, out: Path, data: Sequence[str]) -> list[str]:
    """What names these files on the command line."""
    return [
        *("--source", "logmaster-load", "--control", str(out / "load.ctl"), "--data", *data),
        *("--catalog", str(folder / "db2-tables.sql")),
        *("--log-option", "dispositions=committed"),
    ]
