"""A log family that is no part of logreplay: changes as lines of JSON. It shows all that a family
must give, and is installed by the tests as a package of its own.

A line is ``{"unit": 1, "table": "S.T", "op": "insert", "before": {...}, "after": {...}}``, or
``{"unit": 1, "end": "commit"}``; units are committed in the order of these ends. The catalog is
``{"S.T": {"columns": [["ID", "INTEGER"], ...], "key": ["ID"]}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask, Records
from replay.changes.catalog import Catalog, ColumnFormat, RowFormat, TableVersion
from replay.changes.envelope import Change
from replay.changes.position import Position, UnitId
from replay.errors import Finding, InputError, Where
from replay.logs import (
    FACTS,
    Capabilities,
    Family,
    Images,
    Inputs,
    checked_position,
    indexed_inspect,
    urids,
)
from replay.logs.description import Description
from replay.logs.indexed_envelope import IndexedEnvelope
from replay.logs.indexed_log import IndexedFile, RowLog, image_sides, save
from sqlgen.schema import ARROW_TYPES, Column, SqlType, Table

ENTRY = np.dtype(
    [
        ("file", "<u2"),
        ("row", "<i8"),
        ("unit", "<i8"),
        ("change", "u1"),
        ("version", "<i4"),
        ("fault", "u1"),
        ("segment", "<u2"),
        ("segments", "<u2"),
        ("size", "<i4"),
        ("before", "<i8"),
        ("before_size", "<i4"),
        ("after", "<i8"),
        ("after_size", "<i4"),
    ]
)
UNIT = np.dtype([("commit", "V10"), ("unit", "V12"), ("start", "V10"), ("disposition", "u1")])
OPERATIONS = {"insert": Change.INSERT, "update": Change.UPDATE, "delete": Change.DELETE}


class JsonEntries(IndexedEnvelope):
    """Lines have one position: their number."""

    place: ClassVar[str] = "row"


class JsonWalk:
    """The columns of ``n`` images, which are JSON objects."""

    def __init__(self, version: TableVersion, images: Sequence[bytes]) -> None:
        self.columns = [entry.column for entry in version.format.columns]
        self.rows: list[dict[str, Any]] = [json.loads(image) for image in images]
        names = {column.name for column in self.columns}
        self.bad: Mask = np.array([set(row) != names for row in self.rows], bool)

    def reason(self, row: int) -> tuple[str, str, str]:
        return "image", f"columns {sorted(self.rows[row])}", "those of the catalog"

    def equal(self, other: JsonWalk, index: int) -> Mask:
        name = self.columns[index].name
        pairs = zip(self.rows, other.rows, strict=True)
        return np.array([one.get(name) == two.get(name) for one, two in pairs], bool)

    def decode(self, index: int, rows: Index | None = None) -> tuple[pa.Array, Mask | None]:
        column = self.columns[index]
        chosen = range(len(self.rows)) if rows is None else rows.tolist()
        values = [self.rows[row].get(column.name) for row in chosen]
        kind = int if pa.types.is_integer(ARROW_TYPES[column.type]) else str
        bad = np.array([value is not None and type(value) is not kind for value in values], bool)
        usable = [None if wrong else value for value, wrong in zip(values, bad, strict=True)]
        return pa.array(usable, ARROW_TYPES[column.type]), bad if bad.any() else None

    def explain(self, index: int, row: int) -> tuple[str, str]:
        column = self.columns[index]
        return repr(self.rows[row].get(column.name)), column.type.value


@dataclass(kw_only=True)
class JsonLog(RowLog):
    """A log of JSON lines; ``arrays`` are entries, units, and all images behind each other."""

    ENVELOPE_CLASS: ClassVar[type[JsonEntries]] = JsonEntries
    PLACE_IN_FILE: ClassVar[str] = "row"
    BESIDE_DATA: ClassVar[int] = 0

    def placed(self, position: bytes, last: bool) -> Position:
        return checked_position(position.rjust(Position.SIZE, b"\0"), position)

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        where = Where(self.files[file].name, number, None, "table")
        return Finding("LR2011", where, "a table", "one of the catalog", "Export the catalog")

    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        entries = self.entries()[self.find(records["file"][heads], records["offset"][heads])]
        before, after, bad = image_sides(entries, kind)
        images = Images(self.array(2), before, after, bad, lambda row: ("", "", ""))
        yield np.arange(len(heads)), images

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> JsonWalk:
        bounds = zip(start.tolist(), end.tolist(), strict=True)
        return JsonWalk(
            self.catalog.versions[version], [buffer[low:high].tobytes() for low, high in bounds]
        )

    def unit_fields(self, envelope: JsonEntries) -> Mapping[str, pa.Array]:
        numbers = [int.from_bytes(urid.tobytes()) for urid in urids(envelope)]
        return {"unit": pa.array([str(number) for number in numbers], pa.string())}

    def trace(self, envelope: JsonEntries) -> pa.Array:
        return pa.array([f"line={row + 1}" for row in envelope.rows["row"].tolist()], pa.string())


def open_log(inputs: Inputs) -> JsonLog:
    """Open a log. InputError LR2001 for a line or catalog that is not JSON."""
    tables = _json(inputs.catalog or "", Path(inputs.catalog or "").read_text(encoding="utf-8"))
    versions = tuple(_version(*item) for item in enumerate(tables.items()))
    index = {version.name: version.index for version in versions}
    entries, units, images = list[tuple[Any, ...]](), dict[int, list[Any]](), bytearray()
    files, ends = [], 0
    for number, path in enumerate(inputs.log):
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        files.append(IndexedFile(name=path, first=len(entries), count=len(lines)))
        for row, line in enumerate(_json(path, line) for line in lines):
            unit = units.setdefault(
                line["unit"], [len(units), b"\xff" * 10, len(entries) + 1, ord("F")]
            )
            if "end" in line:
                ends += 1
                unit[1] = ends.to_bytes(10)
                unit[3] = ord("C") if line["end"] == "commit" else ord("A")
            change = OPERATIONS.get(line.get("op"), Change.CONTROL)
            version = index.get(line.get("table"), -1)
            bounds = list[int]()
            for image in (line.get("before"), line.get("after")):
                text = json.dumps(image).encode()
                bounds += [len(images), len(text)]
                images += text
            fault = change is not Change.CONTROL and version < 0
            entries.append((number, row, unit[0], change, version, fault, 1, 1, 0, *bounds))
    return JsonLog(
        files=files,
        catalog=Catalog(versions),
        catalog_files=[inputs.catalog or ""],
        arrays=save(
            (
                np.array(entries, ENTRY),
                np.array(
                    [
                        (end, key.to_bytes(10) + bytes(2), first.to_bytes(10), disposition)
                        for key, (_, end, first, disposition) in units.items()
                    ],
                    UNIT,
                ),
                np.frombuffer(bytes(images), np.uint8),
            ),
            inputs.scratch,
        ),
        changes={},
        source="jsonlines",
    )


def _json(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError("LR2001", f"found {error}; expected JSON", Where(path)) from None


def _version(number: int, table: tuple[str, Any]) -> TableVersion:
    described, (schema, _, own) = table[1], table[0].partition(".")
    columns = tuple(
        Column(column, SqlType[kind], column not in described["key"], 40)
        for column, kind in described["columns"]
    )
    layout = RowFormat(tuple(ColumnFormat(column, column.type.value, 0) for column in columns))
    of_images = Table(schema, own, columns, tuple(described["key"]))
    return TableVersion(number, of_images, 0, 0, number + 1, 1, 0, bytes(10), bytes(10), layout)


def describe(log: JsonLog) -> Description:
    return indexed_inspect.describe(
        log,
        opened={},
        file=lambda number: {},
        records={},
        units={},
        commits=lambda unit: {},
        table=lambda version: {"columns": len(version.table.columns)},
    )


def dump_record(log: JsonLog, number: int, file: int, with_hex: bool) -> list[str]:
    place = indexed_inspect.place_of(log, number, file)
    unit = log.units()["unit"][log.entries()["unit"][place]].tobytes()
    return [f"line {number}, unit {UnitId(unit)}", *indexed_inspect.row_lines(log, place)]


_KNOWN = {"before images", "rolled-back work"}

FAMILY = Family(
    name="jsonlines",
    title="log of JSON lines",
    dialect="postgres",
    capabilities=Capabilities(
        frozenset(_KNOWN), {fact: "lines do not say" for fact in FACTS if fact not in _KNOWN}
    ),
    needs=("log", "catalog"),
    takes=("log", "catalog"),
    framings=(),
    options={},
    open=open_log,
    describe=describe,
    dump_record=dump_record,
)
