"""The baseline of the benchmark: the same work done row by row, as one would write it first. It
knows the tables of generate_log.py only."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from replay.changes.catalog import ColumnFormat, TableVersion
from replay.logs.logmaster.layouts import LLDF
from replay.logs.logmaster.opening import open_log
from sqlgen.schema import SqlType

#: Records looked at.
PLAIN = 40_000

Value = str | int | None
Row = dict[str, Value]


def _records(data: Path, count: int) -> Iterator[bytes]:
    with data.open("rb") as file:
        for _ in range(count):
            head = file.read(4)
            if len(head) < 4:
                return
            yield file.read(struct.unpack(">H2x", head)[0] - 4)


def _value(column: ColumnFormat, raw: bytes) -> Value:
    kind = column.column.type
    if kind in (SqlType.SMALLINT, SqlType.INTEGER):
        return int.from_bytes(raw, "big", signed=True)
    if kind is SqlType.DECIMAL:
        text = raw.hex()
        digits = text[: -1 - column.scale].lstrip("0") or "0"
        return f"{'-' if text[-1] == 'd' else ''}{digits}.{text[-1 - column.scale : -1]}"
    text = raw.decode("cp037")
    if kind is SqlType.TIMESTAMP:
        return f"{text[:10]} {text[11:19].replace('.', ':')}{text[19:]}"
    return text.rstrip(" ") if kind is SqlType.CHAR else text


def _image(version: TableVersion, raw: bytes, place: int) -> tuple[Row, int]:
    """The values of the image whose length stands at ``place``, and where it ends."""
    place += 2
    values: Row = {}
    for column in version.format.columns:
        null = False
        if column.nullable:
            null = raw[place] == 0xFF
            place += 1
        length = column.length
        if column.variable:
            length = struct.unpack_from(">H", raw, place)[0]
            place += 2
        values[column.column.name] = None if null else _value(column, raw[place : place + length])
        place += length
    return values, place


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _plain(version: TableVersion, change: str, before: Row, after: Row) -> str:
    table = version.name.lower()
    where = " AND ".join(
        f"{name.lower()} = {_literal(before[name])}" for name in version.table.key if before
    )
    if change == "I ":
        names, values = (
            ", ".join(name.lower() for name in after),
            ", ".join(map(_literal, after.values())),
        )
        return f"INSERT INTO {table} ({names}) VALUES ({values});"
    if change == "D ":
        return f"DELETE FROM {table} WHERE {where};"
    sets = ", ".join(
        f"{name.lower()} = {_literal(value)}"
        for name, value in after.items()
        if value != before[name]
    )
    return f"UPDATE {table} SET {sets} WHERE {where};"


Touch = tuple[bytes, bytes, bytes, TableVersion, str, Row, Row]


def _changes(control: Path, data: Path, count: int) -> Iterator[Touch]:
    """(commit, unit, position, table, change type, before, after) of the first records, row by
    row."""
    versions = {
        (version.dbid, version.obid): version
        for version in open_log(control, [data]).catalog.versions
    }
    names = LLDF.names
    ids = struct.Struct(f">{names['DBID'].offset}xH{names['TBOBID'].offset - names['DBID'].end}xH")
    for raw in _records(data, count):
        commit, unit, position, change = (
            raw[names[name].offset : names[name].end]
            for name in ("UORCOMMITLRSN", "UORID", "LOGRBA", "CHANGE TYPE")
        )
        version, kind = versions[ids.unpack_from(raw)], change.decode("cp037")
        before: Row = {}
        after: Row = {}
        place = LLDF.size + 2
        if kind != "I ":
            before, place = _image(version, raw, place)
        if kind != "D ":
            after, place = _image(version, raw, place)
        yield commit, unit, position, version, kind, before, after


def measure_naive_graph(control: Path, data: Path) -> float:
    """CPU seconds per record of a graph of all units: the last writer of each row in a dictionary,
    one edge for each later writer."""
    began = time.process_time()
    changes = []
    for commit, unit, position, version, _, before, after in _changes(control, data, PLAIN):
        row = before or after
        changes.append(
            (commit, unit, position, version.name, tuple(row[name] for name in version.table.key))
        )
    changes.sort()
    graph: nx.DiGraph[bytes] = nx.DiGraph()
    writer: dict[tuple[str, tuple[Value, ...]], bytes] = {}
    for _, unit, _, table, key in changes:
        graph.add_node(unit)
        if writer.get((table, key), unit) != unit:
            graph.add_edge(writer[table, key], unit)
        writer[table, key] = unit
    seeds = [unit for number, unit in enumerate(graph) if number % 100 == 0]
    reached = set().union(*(nx.descendants(graph, seed) for seed in seeds))
    if not reached <= set(graph):
        raise AssertionError("reached a unit that is not in the graph")
    return (time.process_time() - began) / len(changes)


def measure_naive(control: Path, data: Path) -> float:
    """CPU seconds per record of a program that goes row by row, with f-strings."""
    began = time.process_time()
    changes = _changes(control, data, PLAIN)
    statements = sorted(
        (commit, unit, position, _plain(version, kind, before, after))
        for commit, unit, position, version, kind, before, after in changes
    )
    return (time.process_time() - began) / len(statements)
