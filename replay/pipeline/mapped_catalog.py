"""The catalog of a request: under a mapping, where each table version has the names and columns of
the target, so that all that writes, asks the target or compares with it follows; and with the
columns of a unique index as the key of a table without one, so that statements find rows by these
in place of all.

What is selected, and what is said about tables, keeps the names of the log
(:attr:`replay.changes.catalog.TableVersion` has both). Only here is a mapping applied to tables;
masks are put where images become values (:meth:`replay.pipeline.row_batch.RowBatch.written`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay import storage
from replay.changes.catalog import Catalog, RowFormat, TableVersion
from replay.changes.options import ScriptOptions
from replay.errors import UsageError, Where
from replay.logs import LogFile
from sqlgen.dialects import profile_named
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used
from sqlgen.masking import mask_key
from sqlgen.names import alike
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import Constraints, SqlType, Table

with when_used():  # where there is a mapping
    from sqlgen import mapping as mappings
    from sqlgen import mapping_file as files


@dataclass(frozen=True)
class MappingFile:
    """What a mapping file says (TOML), the key for its masks, and where the file lies."""

    text: str
    key: bytes | None = None
    place: str | None = None


def mapping_file(path: str | Path | None, key: str | Path | None) -> MappingFile | None:
    """A mapping file and the key for its masks. InputError (LR2001) for one that cannot be read,
    UsageError (LR1001) for a key alone, (LR1011) for one that is too short."""
    if path is None:
        if key is not None:
            raise UsageError("LR1001", "found --mask-key-file without --mapping; expected both")
        return None
    try:
        secret = None if key is None else mask_key(storage.read_bytes(key))
    except SqlgenError as error:
        raise UsageError(error.code, error.message, hint=error.hint) from error
    return MappingFile(storage.read_text(str(path)), secret, str(path))


def table_map(
    mapping: MappingFile, log: LogFile, options: ScriptOptions, typed: bool, continued: bool
) -> mappings.TableMap:
    """The mapping for the tables of a log; ``typed`` and ``continued`` as for
    :func:`sqlgen.mapping_file.parse_mapping`. UsageError (LR1011) names all that is wrong."""
    tables = [version.table for version in log.catalog.versions]
    profile = profile_named(options.dialect)
    try:
        return files.parse_mapping(
            mapping.text, tables, profile, options.render, mapping.key, typed, continued
        )
    except SqlgenError as error:
        raise UsageError(error.code, error.message, Where(mapping.place), error.hint) from error


def mapped_log(log: LogFile, mapping: mappings.TableMap) -> LogFile:
    """A log with the tables that a mapping makes of its own."""
    mapped: Any = copy(log)
    versions = [mapped_version(version, mapping) for version in log.catalog.versions]
    mapped.catalog = Catalog(tuple(versions))
    found: LogFile = mapped
    return found


def mapped(
    log: LogFile, constraints: Constraints, mapping: mappings.TableMap
) -> tuple[LogFile, Constraints]:
    """A log with the tables that a mapping makes of its own, and what is known of their keys."""
    tables = [version.table for version in log.catalog.versions]
    return mapped_log(log, mapping), mapping.renamed_keys(constraints, tables)


def mapped_version(version: TableVersion, mapping: mappings.TableMap) -> TableVersion:
    """A table version of a log as the target has it."""
    table = mapping.table(version.table)
    names = [column.name for column in version.table.columns]
    columns = dict(zip(names, table.columns, strict=False))  # behind them what the mapping adds
    taken = {column.name.upper() for column in table.columns}
    entries = []
    for entry in version.format.columns:
        name = entry.column.name
        marked = f"{name}\0" if name.upper() in taken else name
        column = columns.get(name) or replace(entry.column, name=marked)
        entries.append(replace(entry, column=column))
    layout = RowFormat(tuple(entries), version.format.date_format)
    return replace(version, table=table, format=layout, logged=version.table)


def as_logged(version: TableVersion) -> TableVersion:
    """A table version with the table as the log has it."""
    return replace(version, table=version.source, logged=None)


def keys_of_target(
    mapping: mappings.TableMap,
    read: Callable[[Sequence[Table]], Constraints],
    tables: Sequence[Table],
) -> Constraints:
    """What the target knows of the keys of the log's tables, by their names in the log."""
    targets = [mapping.table(table).in_target() for table in tables]
    return mapping.keys_of_log(read(targets), tables)


def renamings(versions: Iterable[TableVersion], options: ScriptOptions) -> list[str]:
    """What a mapping makes of tables, a line for each that it changes: old names and new ones."""
    lines: dict[str, None] = {}
    for version in versions:
        old, new = version.source, version.table
        unnamed = {*new.left_out, *new.hidden}
        said = [
            f"{one.name} → {other.name}"
            for one, other in zip(old.columns, version.in_images, strict=True)
            if one.name != other.name and other.name not in unnamed
        ]
        if new.left_out:
            said.append("without " + ", ".join(name.rstrip("\0") for name in new.left_out))
        if options.mapping is not None and (masked := options.mapping.masked_columns(old)):
            said.append("masked " + ", ".join(masked))
        said += [f"{one.name} = {one.constant!r}" for one in version.constants.values()]
        if said or (old.schema, old.name) != (new.schema, new.name):
            place = ".".join(options.place(new))
            lines[f"{version.name} → {place}{': ' if said else ''}{'; '.join(said)}"] = None
    return list(lines)


# -- unique indexes in place of keys
# -------------------------------------------------------------------------------------------------

#: Values that another database may hold with another last bit.
_INEXACT = (SqlType.REAL, SqlType.DOUBLE, SqlType.DECFLOAT)


def of_one_table(log: LogFile, constraints: Constraints) -> tuple[Constraints, list[str]]:
    """Constraints without the unique keys of tables that the log drops and makes again under their
    names, and of those whose names differ in case only: of which of them they are is not told, and
    another one may have rows with equal values. A note for each of these names."""
    tables: dict[str, set[tuple[int, int, int]]] = {}
    for version in log.catalog.versions:
        ids = version.dbid, version.psid, version.obid
        tables.setdefault(version.name.upper(), set()).add(ids)
    several = {name for name, ids in tables.items() if len(ids) > 1}
    several |= alike(one.name for one in log.catalog.versions)
    left = sorted({name for name, _ in constraints.keys} & several)
    if not left:
        return constraints, []
    kept = tuple((name, key) for name, key in constraints.keys if name not in several)
    notes = [
        f"unique keys of {name} are not considered: several tables have that name in the log"
        for name in left
    ]
    return replace(constraints, keys=kept), notes


def with_unique_keys(
    log: LogFile, constraints: Constraints, render: RenderOptions
) -> tuple[LogFile, list[str]]:
    """The log with a key for each table that has none, where a unique key of ``constraints`` holds
    no NULL, no value that the log may lack and no float, and all of its columns are written; and a
    note for each of these tables."""
    versions = tuple(_keyed(version, constraints, render) for version in log.catalog.versions)
    if versions == log.catalog.versions:
        return log, []
    keyed: Any = copy(log)
    keyed.catalog = Catalog(versions)
    found = {
        version.name: version.table.key
        for version, before in zip(versions, log.catalog.versions, strict=True)
        if version != before
    }
    notes = [
        f"{name} has no primary key: rows are found by its unique key ({', '.join(key)})"
        for name, key in found.items()
    ]
    return keyed, notes


def _keyed(version: TableVersion, constraints: Constraints, render: RenderOptions) -> TableVersion:
    table = version.table
    if table.key or not table.columns:
        return version
    usable = {column.name for column in shown_columns(table, render)} & {
        entry.column.name
        for entry in version.format.columns
        if not entry.nullable and not entry.lob and entry.column.type not in _INEXACT
    }
    keys = [key for key in constraints.keys_of(version.name.upper()) if set(key) <= usable]
    if not keys:
        return version
    return replace(version, table=replace(table, key=keys[0]))
