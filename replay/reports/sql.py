"""SQL over a log: the relations ``units`` and ``changes``, and one of each table, as a query of the
user sees them. Only relations that the query names are read, and only its columns kept."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from replay.changes.catalog import shown_name
from replay.changes.position import UnitId
from replay.changes.selection import WHO, Selection, by_log, unit_text
from replay.errors import UsageError, counted, some_of
from replay.output.formats import Dataset
from replay.pipeline.request import Demand, make_request
from replay.reports.log_queries import (
    Asked,
    Tables,
    knows_undone,
    quarantine_warnings,
    row_request,
    rows_of,
    without_effect,
)
from replay.reports.make_report import headers_in
from replay.reports.relations import Relations, quoted
from sqlgen.predicate import QueryNames, parts_of, query_names
from sqlgen.schema import Column, SqlType

#: Relations and columns that every log has.
UNITS = (
    "unit urid member authid plan correlation connection begin_position begin_time commit_position"
    " commit_time seconds state records bytes changes tables"
).split()
#: Facts of a change by the names that streams of changes have for them.
_FACTS = {
    "unit": "urid || '/' || coalesce(member, 0)",
    "table_name": '"table"',
    "op": "op",
    "fate": "CASE fate WHEN 0 THEN 'committed' WHEN -1 THEN 'quarantined' ELSE 'rolled back' END",
    "origin": "origin",
    "sequence": '"sequence"',
    "commit_position": "commit_lrsn",
    "commit_time": "commit_time",
    "log_position": "log_position",
    "log_file": "log_file",
    "log_record": "log_record",
}
CHANGES = (*_FACTS, "key", "before", "after")
#: Digits that DuckDB's DECIMAL holds.
_DIGITS = 38


@dataclass(frozen=True)
class Answer:
    """The rows of a query, and what must be known of the log that they come from; ``note``: what
    they count that a user may not expect."""

    rows: pa.Table
    warnings: tuple[str, ...]
    note: str = ""


def relations_of(asked: Asked) -> Iterator[tuple[str, str, str]]:
    """(Relation, column, type) of all that a query may name."""
    relations = Relations(asked.folder())
    relations.run("header_parts")
    relations.run("headers")
    shown = relations.select(f"DESCRIBE SELECT {_list(UNITS)} FROM units").to_pylist()
    yield from (("units", line["column_name"], line["column_type"]) for line in shown)
    maps = dict.fromkeys(("key", "before", "after"), "MAP(VARCHAR, VARCHAR)")
    types = {"sequence": "BIGINT", "log_record": "BIGINT", "commit_time": "TIMESTAMP", **maps}
    yield from (("changes", name, types.get(name, "VARCHAR")) for name in CHANGES)
    seen = set()
    for table in (version.table.in_target() for version in asked.shown.catalog.versions):
        for column in table.columns:
            for side in ("before", "after"):
                line = (shown_name(table), f"{side}_{column.name}", _type_of(column))
                if line not in seen:
                    yield line
                seen.add(line)


def answer_of(asked: Asked, selection: Selection, query: str) -> Answer:
    """What a query gives over the changes and units that a selection takes.

    UsageError (LR1001) for a query that cannot be carried out; others as
    :func:`replay.pipeline.request.make_request`."""
    if selection.where is not None:
        raise UsageError("LR1001", "found --where; expected the condition in the query")
    names = query_names(query)
    relations = Relations(asked.folder())
    warnings: list[str] = []
    note = ""
    if "UNITS" in names.relations:
        shown = selection.include_aborted or knows_undone(asked.opened)
        taken = replace(selection, include_aborted=shown)
        request = make_request(asked.opened, taken, Demand(), asked.keys)
        relations = headers_in(asked, request)
        relations.execute(f"CREATE TABLE asked AS SELECT {_list(UNITS)} FROM units ORDER BY number")
        relations.execute("DROP TABLE units; ALTER TABLE asked RENAME TO units")
        warnings += [*request.warnings, *relations.warnings]
        note = "" if "state" in query.lower() else _uncommitted(relations)
    whole = "CHANGES" in names.relations
    every = {version.name: shown_name(version.table) for version in asked.shown.catalog.versions}
    tables = {
        name: every[name]
        for name, taken in zip(every, selection.takes_tables(list(every)).tolist(), strict=True)
        if taken and (whole or every[name].upper() in names.relations)
    }
    shown_names = dict.fromkeys(tables.values())
    if len({name.upper() for name in shown_names}) < len(shown_names):
        message = "found tables whose names differ in case only; expected one of them (--table)"
        raise UsageError("LR1001", f"{message}: {', '.join(sorted(tables))}")
    if tables or whole:
        known = names._replace(columns=None) if whole else names
        chosen = replace(selection, tables=tuple(map(glob.escape, tables))) if tables else selection
        more, notes = _add_changes(asked, chosen, relations, known, list(shown_names))
        warnings += more
        note = "; ".join([*([note] if note else []), *notes])
    return Answer(relations.asked(query), tuple(dict.fromkeys(warnings)), note)


def _uncommitted(relations: Relations) -> str:
    """What is to be said of units that were not committed, to whoever does not ask for it."""
    count = relations.one("SELECT count(*) FROM units WHERE state <> 'committed'")
    if not count:
        return ""
    return f"units has {counted(count, 'unit')} that did not commit: WHERE state = 'committed'"


def settled(asked: Asked, selection: Selection) -> Selection:
    """A selection whose units are known: those that its query gives, and those that are named by
    the last digits of their ids. UsageError (LR1001, LR1004) where there is no such unit, or
    several."""
    if not by_log(selection):
        return selection
    if selection.excepted is not None:
        selection = replace(selection, excepted=settled(asked, selection.excepted))
    if any(isinstance(unit, str) for unit, _ in selection.units):
        known = answer_of(asked, Selection(), "SELECT DISTINCT unit FROM units ORDER BY unit")
        texts = known.rows["unit"].to_pylist()
        units = tuple(
            _one_unit(unit, member, texts, asked.opened.family.decimal_units)
            for unit, member in selection.units
        )
        selection = replace(selection, units=units)
    selection = _of_who(asked, selection)
    if selection.unit_query is None or selection.query_units is not None:
        return selection
    rows = answer_of(asked, Selection(), selection.unit_query).rows
    if rows.num_columns != 1:
        raise UsageError(
            "LR1001",
            f"found --units with {rows.num_columns} columns; expected a query of one: SELECT unit"
            " FROM units WHERE …",
        )
    try:
        found = [UnitId.of(text) for text in rows.column(0).drop_null().to_pylist()]
    except (ValueError, AttributeError):
        raise UsageError(
            "LR1001",
            "found --units with values that are no units; expected URID/MEMBER, as in the column"
            " unit of units and changes",
        ) from None
    return replace(selection, query_units=b"".join(sorted(set(found))))


def _of_who(asked: Asked, selection: Selection) -> Selection:
    """A selection in which a condition on who did the work is asked of units."""
    if selection.where is None:
        return selection
    tables = [version.table for version in asked.log.catalog.versions]
    known = {column.name.lower() for table in tables for column in table.columns}
    who, columns = parts_of(selection.where, WHO - known)
    if who is None:
        return selection
    query = f"SELECT unit FROM units WHERE {who}"
    if selection.unit_query is not None:
        query += f" AND unit IN ({selection.unit_query})"
    return replace(selection, unit_query=query, where=columns)


#: Digits at the end of an id that name a unit, at least.
_FEWEST_DIGITS = 4


def _number_of(unit: str) -> int:
    """The number of a transaction: the last eight bytes of the id."""
    return int(unit.partition("/")[0][-16:], 16)


def _one_unit(
    digits: bytes | str, member: int | None, known: Sequence[str], decimal: bool
) -> tuple[bytes | str, int | None]:
    """The unit whose id ends with some digits, or (``decimal``) has this number, as comments write
    it."""
    if not isinstance(digits, str):
        return digits, member
    named = unit_text(digits, member)
    shown = [text if member is not None else text.partition("/")[0] for text in known]
    like = [
        whole
        for whole, text in zip(known, shown, strict=True)
        if (len(digits) >= _FEWEST_DIGITS and text.endswith(named))
        or (decimal and digits.isdigit() and _number_of(whole) == int(digits))
    ]
    ids = {text.partition("/")[0] for text in like}
    if len(ids) != 1:
        found = f"found --ur {named}, which no unit of recovery of this log ends with"
        if like:
            found = (
                f"found --ur {named}, which may be one of several units: {some_of(like, len(like))}"
            )
        expected = (
            "one of these, or more digits"
            if like
            else "the id of a unit of this log (sql LOG 'SELECT unit FROM units' shows them)"
        )
        raise UsageError("LR1001" if like else "LR1004", f"{found}; expected {expected}")
    return bytes.fromhex(ids.pop()), member


def _add_changes(
    asked: Asked,
    selection: Selection,
    relations: Relations,
    names: QueryNames,
    tables: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Make ``changes`` and the relations of ``tables`` (a table of each form that a table had, and
    views of these); the warnings and notes."""
    request = row_request(asked, selection)
    keys = Tables(request)
    changes = rows_of(asked, request)
    parts: dict[str, dict[str, Dataset]] = {name: {} for name in tables}
    for dataset, rows in changes.tables():
        if not dataset.table.schema:
            continue
        name = shown_name(dataset.table)
        forms = parts.setdefault(name, {})
        part = next((part for part, known in forms.items() if known == dataset), None)
        columns = [*(f"{text} AS {name}" for name, text in _FACTS.items())]
        columns += [f"{side} IS NOT NULL AS is_{side}" for side in ("before", "after")]
        columns += _images(dataset.columns, names)
        if part is None:
            part = f"part_{sum(map(len, parts.values()))}"
            forms[part] = dataset
            relations.make(part, columns, rows)
        else:
            relations.make(part, columns, rows, append=True)
    changes.close()
    empty = [f"NULL::VARCHAR AS {name}" for name in _FACTS]
    both, maps = [], "MAP(VARCHAR, VARCHAR)"
    for name, forms in parts.items():
        owner, _, table = name.partition(".")
        relations.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(owner)}")
        every = (version.table.in_target() for version in request.log.catalog.versions)
        known = next((table for table in every if shown_name(table) == name), None)
        if known is None:
            raise UsageError("LR1001", f"found {name}, which has another name in the log's catalog")
        nothing = [
            f"NULL::{_type_of(column)} AS {quoted(f'{side}_{column.name}')}"
            for column in known.columns
            for side in ("before", "after")
            if names.columns is None or f"{side}_{column.name}".upper() in names.columns
        ]
        views = [f"SELECT * EXCLUDE (is_before, is_after) FROM {part}" for part in forms]
        views = views or [f"SELECT {', '.join([*empty, *nothing])} WHERE false"]
        text = " UNION ALL BY NAME ".join(views)
        relations.execute(f"CREATE VIEW {quoted(owner)}.{quoted(table)} AS {text}")
        for part, dataset in forms.items():
            sides = {side: _map(side, dataset.columns) for side in ("before", "after")}
            key = [_map(side, keys.key(dataset)) for side in ("after", "before")]
            shown = [
                f"coalesce({', '.join(key)}) AS key",
                *(f"{m} AS {s}" for s, m in sides.items()),
            ]
            both.append(f"SELECT {', '.join([*_FACTS, *shown])} FROM {part}")
    if names.columns is None:
        none = [f"NULL::{maps} AS {name}" for name in ("key", "before", "after")]
        both = both or [f"SELECT {', '.join([*empty, *none])} WHERE false"]
        relations.execute(f"CREATE VIEW changes AS {' UNION ALL BY NAME '.join(both)}")
    return [*request.warnings, *quarantine_warnings(changes)], without_effect(changes)


def _images(columns: Sequence[Column], names: QueryNames) -> list[str]:
    """The columns of both images that a query names, by their types."""
    return [
        f"CAST({side}.{quoted(column.name)} AS {_type_of(column)})"
        f" AS {quoted(f'{side}_{column.name}')}"
        for column in columns
        for side in ("before", "after")
        if names.columns is None or f"{side}_{column.name}".upper() in names.columns
    ]


def _map(side: str, columns: Sequence[Column]) -> str:
    """An image as a map of texts; NULL where the change has none."""
    pairs = ", ".join(
        f"'{column.name.replace(chr(39), chr(39) * 2)}': {quoted(f'{side}_{column.name}')}::VARCHAR"
        for column in columns
    )
    return f"CASE WHEN is_{side} THEN MAP {{{pairs}}} END" if pairs else "NULL"


def _type_of(column: Column) -> str:
    """DuckDB's type of a column, by its declared type alone: what DuckDB cannot hold for every
    value (hour 24, more than 6 digits of a fraction, DECFLOAT) is text."""
    if column.type is SqlType.DECIMAL and column.length and column.length <= _DIGITS:
        return f"DECIMAL({column.length}, {column.scale or 0})"
    return _TYPES.get(column.type, "VARCHAR")


_TYPES = {
    SqlType.SMALLINT: "BIGINT",
    SqlType.INTEGER: "BIGINT",
    SqlType.BIGINT: "BIGINT",
    SqlType.REAL: "FLOAT",
    SqlType.DOUBLE: "DOUBLE",
    SqlType.DATE: "DATE",
    SqlType.BOOLEAN: "BOOLEAN",
    SqlType.BINARY: "BLOB",
    SqlType.VARBINARY: "BLOB",
    SqlType.BLOB: "BLOB",
}


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))
