"""Change events of PostgreSQL's connector, written by hand: it shares nothing with the reader."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

#: A row of a table, by column.
Row = Mapping[str, Any]
ID = {"type": "int32", "optional": False, "field": "id"}
NAME = {"type": "string", "optional": True, "field": "name"}


def text(name: str) -> dict[str, Any]:
    """A column of text that may be null."""
    return {"type": "string", "optional": True, "field": name}


@dataclass
class Table:
    """A table of schema ``app``."""

    name: str
    columns: Sequence[Mapping[str, Any]] = (ID, NAME)
    key: Sequence[str] = ("id",)

    def schema(self) -> dict[str, Any]:
        """Connect's schema of its events."""
        rows = {"type": "struct", "fields": list(self.columns), "optional": True}
        fields = [rows | {"field": side} for side in ("before", "after")]
        return {"type": "struct", "fields": fields, "optional": False, "name": "Envelope"}


@dataclass
class Topic:
    """Events as one file has them. LSNs rise by 8; a transaction has the number ``unit``."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    lsn: int = 1000
    commit: int | None = None
    begin: int = 0

    def transaction(
        self, unit: int, *changes: tuple[Table, str, Row | None, Row | None], end: bool = True
    ) -> None:
        """BEGIN, ``changes`` (table, op, before, after) and END. Two changes in turn that are a
        delete and a create of the same table are one change of a key."""
        self.begin = self.lsn + 4
        self.status("BEGIN", self._name(unit))
        previous = None if self.commit is None else str(self.commit)
        last: tuple[Table, str] | None = None
        for number, (table, op, before, after) in enumerate(changes, 1):
            if (last, op) != ((table, "d"), "c"):
                self.lsn += 8
            last = table, op
            payload = {
                "before": before,
                "after": after,
                "source": self._source(table, unit, previous),
                "transaction": {
                    "id": self._name(unit),
                    "total_order": number,
                    "data_collection_order": number,
                },
                "op": op,
                "ts_ms": 1,
            }
            self.event(table, payload)
        self.lsn += 8
        if end:
            self.commit = self.lsn
            self.status("END", self._name(unit), [f"app.{table.name}" for table, *_ in changes])

    def state(self, table: Table, *rows: Row, marks: Sequence[str] = ()) -> None:
        """Rows of a snapshot; ``marks``: where each stands in it, if not in a whole one."""
        usual = ["first", *["true"] * (len(rows) - 2), "last"][-len(rows) :]
        for after, mark in zip(rows, marks or usual, strict=True):
            source = self._source(table, 0, None) | {"snapshot": mark}
            payload = {"before": None, "after": after, "source": source, "op": "r", "ts_ms": 1}
            self.event(table, payload | {"transaction": None})
        self.lsn += 8

    def _name(self, unit: int) -> str:
        return f"{unit}:{self.lsn}"

    def _source(self, table: Table, unit: int, previous: str | None) -> dict[str, Any]:
        return {
            "connector": "postgresql",
            "name": "shop",
            "db": "shop",
            "schema": "app",
            "table": table.name,
            "snapshot": "false",
            "ts_us": 1_700_000_000_000_000 + unit,
            "ts_ms": 1_700_000_000_000,
            "txId": unit,
            "lsn": self.lsn,
            "sequence": json.dumps([previous, str(self.lsn)], separators=(",", ":")),
        }

    def event(self, table: Table, payload: Mapping[str, Any]) -> None:
        """One event."""
        row = payload["after"] or payload["before"] or {}
        fields = [one for one in table.columns if one["field"] in table.key]
        key = {
            "schema": {"type": "struct", "fields": fields},
            "payload": {name: row.get(name) for name in table.key},
        }
        value = {"schema": table.schema(), "payload": payload}
        line = {"topic": f"shop.app.{table.name}", "key": key if table.key else None}
        self.lines.append(line | {"value": value})

    def status(self, status: str, name: str, tables: Sequence[str] | None = None) -> None:
        """BEGIN, or END with the table of each event."""
        count = None if tables is None else len(tables)
        payload = {"status": status, "id": name, "event_count": count, "ts_ms": 1}
        if tables is not None:
            payload["data_collections"] = [
                {"data_collection": one, "event_count": number}
                for one, number in Counter(tables).items()
            ]
        value = {"schema": {"type": "struct", "fields": []}, "payload": payload}
        self.lines.append({"topic": "shop.transaction", "key": None, "value": value})

    def write(self, path: Path) -> Path:
        """The file of it."""
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


SERVER = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


@dataclass
class BinlogTopic(Topic):
    """The same of MySQL's connector: ``lsn`` is the position in the file ``file``."""

    file: str = "binlog.000001"
    server: str = SERVER
    connector: str = "mysql"

    def truncate(self, unit: int, table: Table) -> None:
        """A TRUNCATE, which has no transaction."""
        self.lsn += 8
        payload = {
            "before": None,
            "after": None,
            "source": self._source(table, unit, None),
            "transaction": None,
            "op": "t",
            "ts_ms": 1,
        }
        self.event(replace(table, key=()), payload)

    def structure(self, unit: int, table: str, ddl: str = "ALTER …", **types: str) -> None:
        """A change of structure that declares types of columns."""
        columns = [{"name": name, "typeName": kind} for name, kind in types.items()]
        change = {"type": "ALTER", "id": f'"app"."{table}"', "table": {"columns": columns}}
        payload = {
            "source": self._source(Table(table), unit, None),
            "ts_ms": 1,
            "ddl": ddl,
            "tableChanges": [change],
        }
        value = {"schema": {"type": "struct", "fields": []}, "payload": payload}
        self.lines.append({"topic": "shop", "key": None, "value": value})

    def _name(self, unit: int) -> str:
        if self.connector == "mariadb":
            return f"0-1-{unit}"
        return f"{self.server}:{unit}" if self.server else f"file={self.file},pos={self.begin}"

    def _source(self, table: Table, unit: int, previous: str | None) -> dict[str, Any]:
        return {
            "connector": self.connector,
            "name": "shop",
            "db": "app",
            "table": table.name,
            "snapshot": "false",
            "ts_us": 1_700_000_000_000_000 + unit,
            "ts_ms": 1_700_000_000_000,
            "gtid": self._name(unit) if self.server else None,
            "file": self.file,
            "pos": self.lsn,
            "row": 0,
        }
