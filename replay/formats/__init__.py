"""What an export writes: the datasets of a log, and the formats that rows of changes are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import pyarrow as pa

from replay.catalog import Catalog, TableVersion
from replay.changes import Change
from replay.plan import Export, ScriptOptions
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.literals import Problem
from sqlgen.names import check_collisions, target_name
from sqlgen.schema import Column, SqlType, Table
from sqlgen.statements import RenderOptions, shown_columns

#: What ``--format`` accepts, and the module of each.
FORMATS: dict[str, str] = {
    "parquet": "replay.formats.parquet",
    "csv": "replay.formats.lines",
    "jsonl": "replay.formats.lines",
    "debezium": "replay.formats.debezium",
}

#: Facts of a change that stand beside its images, in order. Text that is not known is null; ``commit_time`` is cut to microseconds.
FACTS = pa.schema(
    [
        ("op", pa.string()),
        ("commit_lrsn", pa.string()),
        ("commit_time", pa.timestamp("us")),
        ("urid", pa.string()),
        ("member", pa.int32()),
        ("authid", pa.string()),
        ("plan", pa.string()),
        ("correlation_id", pa.string()),
        ("connection_id", pa.string()),
        ("origin", pa.string()),
        ("sequence", pa.int64()),
        ("log_position", pa.string()),
        ("log_file", pa.string()),
        ("log_record", pa.int64()),
    ]
)

#: ``op`` of each kind of change.
OPS: dict[Change, str] = {
    Change.INSERT: "insert",
    Change.UPDATE: "update",
    Change.DELETE: "delete",
    Change.MASS_DELETE: "truncate",
    Change.TRUNCATE: "truncate",
    Change.STRUCTURE: "schema",
}

#: Changes of table structure as a dataset of their own: each is a row whose after image has these columns.
STRUCTURE = Table(
    "",
    "schema_changes",
    tuple(
        Column(name, SqlType.VARCHAR)
        for name in ("table_owner", "table_name", "action", "definition", "old_name", "new_name", "statement", "note")
    ),
)

Images = Mapping[str, pa.Array]


@dataclass(frozen=True)
class Dataset:
    """A table, or one generation of it: ``name`` of its folder, the ``columns`` that are exported and their ``names`` there."""

    name: str
    table: Table
    generation: int
    columns: tuple[Column, ...]
    names: tuple[str, ...]
    topic: tuple[str, str]

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return tuple(name for column, name in zip(self.columns, self.names, strict=True) if column.name in self.table.key)


class Writer(Protocol):
    """An open file."""

    def write(self, rows: pa.Table) -> None: ...
    def close(self) -> None: ...


class Format(Protocol):
    """How changes are written. ``profile`` says which values it can hold. Formats are made anew by every task, and decide nothing about changes."""

    profile: Profile
    suffix: str

    def images(self, dataset: Dataset, before: Images | None, after: Images | None, count: int) -> tuple[pa.Table, list[Problem]]:
        """Both images of ``count`` changes (values by the contract of :mod:`sqlgen.schema`) as they will stand in the rows, and the values that
        cannot be said. A column ``events`` says how many events each change is, where that is not always one."""
        ...

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """The rows of the file, from facts (:data:`FACTS`, and ``place``: from 1 among the unit's changes of this dataset) and images."""
        ...

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A new file."""
        ...

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """What the manifest says of a dataset, beside its files."""
        ...


def format_of(export: Export, options: RenderOptions) -> Format:
    """The format of an export."""
    made: Format = import_module(FORMATS[export.format]).format_of(export, options)
    return made


class Datasets:
    """The datasets of a catalog by table version. Versions of a table with the same columns and key share one; where there are several, their names
    end in ``@`` and a number from 1, in the order in which they were created."""

    def __init__(self, catalog: Catalog, options: RenderOptions, profile: Profile) -> None:
        self.catalog, self.options, self.profile = catalog, options, profile
        self._generations: dict[str, dict[tuple[tuple[Column, ...], tuple[str, ...]], int]] = {}
        for version in sorted(catalog.versions, key=lambda version: (version.created, version.index)):
            seen = self._generations.setdefault(version.name, {})
            seen.setdefault((version.table.columns, version.table.key), len(seen) + 1)
        self._made: dict[int, Dataset] = {}

    def of(self, version: int) -> Dataset:
        """The dataset of a table version. SqlgenError (LR3005) for a name that cannot be used."""
        if version not in self._made:
            self._made[version] = self._make(self.catalog.versions[version])
        return self._made[version]

    def _make(self, version: TableVersion) -> Dataset:
        known, table = self._generations[version.name], version.table
        owner, name = (self._spelled(part) if part else "" for part in (table.schema, table.name))
        generation = known[(table.columns, table.key)]
        folder = f"{_folder(owner)}.{_folder(name)}" + (f"@{generation}" if len(known) > 1 else "")
        columns = shown_columns(table, self.options)
        return Dataset(folder, table, generation, columns, tuple(self._spelled(column.name) for column in columns), (owner, name))

    def _spelled(self, name: str) -> str:
        return target_name(name, self.profile, self.options.names)


def structure_dataset() -> Dataset:
    """The dataset of changes of table structure."""
    names = tuple(column.name for column in STRUCTURE.columns)
    return Dataset(STRUCTURE.name, STRUCTURE, 1, STRUCTURE.columns, names, ("", STRUCTURE.name))


def definition_of(table: Table) -> dict[str, Any]:
    """A table as JSON-able data, with the names and types of the source."""
    columns = [
        {"name": column.name, "type": column.type.value, "length": column.length, "scale": column.scale, "nullable": column.nullable}
        for column in table.columns
    ]
    return {"columns": columns, "key": list(table.key)}


def check_datasets(versions: Sequence[TableVersion], export: Export, options: ScriptOptions) -> None:
    """Refuse what an export of table versions would make unusable, before anything is read.

    SqlgenError: LR3005 for names that cannot be used or become the same, LR3006 where no column is left or a Debezium event would lack its key.
    """
    profile = format_of(export, options.render).profile
    check_collisions([version.table for version in {version.name: version for version in versions}.values()], profile, options.names)
    for version in versions:
        check_collisions([version.table], profile, options.names)
        shown = {column.name for column in shown_columns(version.table, options.render)}
        missing = [name for name in version.table.key if name not in shown] if export.format == "debezium" else []
        if missing or not shown:
            what = f"key column {missing[0]}" if missing else "every column"
            message = f"found {what} of {version.name} excluded; expected what says which row changed to stay"
            raise SqlgenError("LR3006", message, "Change --columns or --exclude-columns")


def _folder(name: str) -> str:
    """A name as a part of a folder's name, in which dots and ``@`` part names."""
    return quote(name, safe=" ()+,;~!").replace(".", "%2E")
