"""What an export writes: the datasets of a log, and the formats that rows of changes are written
in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import quote

import pyarrow as pa

from replay.arrays import Index
from replay.changes.catalog import Catalog, TableVersion, shown_name
from replay.changes.choices import ExportFormat
from replay.changes.envelope import Change
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection
from replay.errors import UsageError, usage_errors
from replay.logs import TellsLess
from replay.pipeline.request import Demand, KeySource, OpenLog, Request, make_request
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.literals import ValueProblem
from sqlgen.names import check_collisions, target_name
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import Column, SqlType, Table

#: Formats of no files that last: batches for readers in the same process.
TEXT_BATCHES, TYPED_BATCHES, ROW_BATCHES = "text batches", "typed batches", "row batches"
#: The module of each format: what ``--format`` accepts, and batches.
FORMATS: dict[str, str] = {
    ExportFormat.PARQUET: "replay.output.formats.parquet",
    ExportFormat.CSV: "replay.output.formats.csv_and_json",
    ExportFormat.JSONL: "replay.output.formats.csv_and_json",
    ExportFormat.DEBEZIUM: "replay.output.formats.debezium",
    ExportFormat.LOAD: "replay.output.formats.load",
    TEXT_BATCHES: "replay.output.formats.batches",
    TYPED_BATCHES: "replay.output.formats.batches",
    ROW_BATCHES: "replay.output.formats.batches",
}

#: Facts of a change that stand beside its images, in order. Text that is not known is null;
#: ``commit_time`` is cut to microseconds.
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

#: Changes of table structure as a dataset of their own: each is a row whose after image has these
#: columns.
STRUCTURE = Table(
    "",
    "schema_changes",
    tuple(
        Column(name, SqlType.VARCHAR)
        for name in (
            "table_owner",
            "table_name",
            "action",
            "definition",
            "old_name",
            "new_name",
            "statement",
            "note",
        )
    ),
)

#: Where units begin and end, in formats that have events of their own for it (:class:`UnitFormat`).
TRANSACTIONS = Table("", "transactions", ())
#: Characters that a dataset's folder may have in its name (file systems take 255), and those of the
#: owner and of the table where it would have more: a letter outside of ASCII is six or nine.
_LONGEST, _SHORT = 248, 120

ImageColumns = Mapping[str, pa.Array]


@dataclass(frozen=True)
class Dataset:
    """A table, or one generation of it: ``name`` of its folder, the ``columns`` that are exported
    and their ``names`` there."""

    name: str
    table: Table
    generation: int
    columns: tuple[Column, ...]
    names: tuple[str, ...]
    topic: tuple[str, str]

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the key columns."""
        return tuple(
            name
            for column, name in zip(self.columns, self.names, strict=True)
            if column.name in self.table.key
        )


class Writer(Protocol):
    """An open file of a dataset. Raises OSError where it cannot be written."""

    def write(self, rows: pa.Table) -> None:
        """Append rows, as :meth:`Format.rows` gives them."""
        ...

    def close(self) -> None:
        """End the file."""
        ...


class Format(Protocol):
    """How changes are written. Formats are made anew by every task, and decide nothing about
    changes; a module of :data:`FORMATS` makes its format in a function ``format_of(export,
    options)``. Nothing but :meth:`open` raises an error."""

    #: Which values the format can hold (digits of a timestamp, hour 24, X'00' in text).
    profile: Profile
    #: The end of its files' names, without the dot.
    suffix: str

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """Both images of ``count`` changes as they will stand in the rows, and the values that the
        format cannot hold.

        ``before`` and ``after`` have an array of ``count`` values (contract: :mod:`sqlgen.schema`)
        for each of ``dataset.columns`` by its name in the source; None where the changes have no
        such image. The table has ``count`` rows and the same columns for every call of one dataset;
        a column ``events`` (int64) says how many events each change is, where that is not always
        one. What cannot be held is a problem of its row.
        """
        ...

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """What :meth:`Writer.write` takes, of ``n`` changes in commit order: their facts
        (:data:`FACTS`; ``place``, int64, from 1 among the unit's changes of this dataset; ``fate``,
        int32, 0 or the index in :data:`replay.changes.selection.REASONS` that says why a change is
        no committed work; ``rid``, uint64, which row it is of by its place) and their
        :meth:`images`, ``n`` rows each."""
        ...

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A new file at ``path``, whose folder exists. OSError where it cannot be made."""
        ...

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """What the manifest says of a dataset beside its files and columns, as JSON-able data;
        empty for nothing."""
        ...


@runtime_checkable
class UnitFormat(Format, Protocol):
    """A format that tells where each unit begins and ends, and how much it holds. Raises no
    error."""

    def units(
        self, facts: pa.Table, unit: Index, collection: Sequence[str], events: Index
    ) -> pa.Table:
        """What :meth:`Writer.write` takes of ``n`` units (:data:`FACTS` of one change of each).
        ``unit`` (rising; int64 from 0), ``collection`` and ``events`` (int64) say how many events
        each has of each table, at least one entry a unit."""
        ...


@runtime_checkable
class StreamFormat(Format, Protocol):
    """A format that has the rows of all datasets together, in commit order. Raises no error."""

    def takes(self, dataset: Dataset) -> bool:
        """Whether rows of a dataset are among them, which have one schema then."""
        ...


@runtime_checkable
class ListingFormat(Format, Protocol):
    """A format with files of text that list what was written. Raises no error."""

    def beside(self, files: Mapping[str, Sequence[tuple[Dataset, str]]]) -> Mapping[str, str]:
        """Name -> text of each; ``files`` has the dataset and name of each file by folder."""
        ...


def format_of(export: Export, options: RenderOptions) -> Format:
    """The format of an export. UsageError (LR1001) for a name that no format has."""
    if export.format not in FORMATS:
        expected = ", ".join(ExportFormat)
        raise UsageError("LR1001", f"found --format {export.format}; expected one of: {expected}")
    form: Format = import_module(FORMATS[export.format]).format_of(export, options)
    return form


class Datasets:
    """The datasets of a catalog by table version. Versions of a table with the same columns and key
    share one; where there are several, or a mapping makes several tables one, their names end in
    ``@`` and a number from 1, in the order in which they were created."""

    def __init__(self, catalog: Catalog, options: RenderOptions, profile: Profile) -> None:
        self.catalog, self.options, self.profile = catalog, options, profile
        self._generations: dict[str, dict[tuple[tuple[Column, ...], tuple[str, ...]], int]] = {}
        for version in sorted(
            catalog.versions, key=lambda version: (version.created, version.index)
        ):
            seen = self._generations.setdefault(shown_name(version.table), {})
            seen.setdefault((version.table.columns, version.table.key), len(seen) + 1)
        self._datasets: dict[int, Dataset] = {}

    def of(self, version: int) -> Dataset:
        """The dataset of a table version. SqlgenError (LR3005) for a name that cannot be used."""
        if version not in self._datasets:
            self._datasets[version] = self._make(self.catalog.versions[version])
        return self._datasets[version]

    def _make(self, version: TableVersion) -> Dataset:
        table = version.table
        generations = self._generations[shown_name(table)]
        owner, name = (self._spelled(part) if part else "" for part in (table.schema, table.name))
        generation = generations[(table.columns, table.key)]
        folder = _folder_of(owner, name) + (f"@{generation}" if len(generations) > 1 else "")
        columns = shown_columns(table, self.options)
        return Dataset(
            folder,
            table,
            generation,
            columns,
            tuple(self._spelled(column.name) for column in columns),
            (owner, name),
        )

    def _spelled(self, name: str) -> str:
        return target_name(name, self.profile, self.options.names)


def transactions_dataset() -> Dataset:
    """The dataset of the beginnings and ends of units."""
    return Dataset(TRANSACTIONS.name, TRANSACTIONS, 1, (), (), ("", "transaction"))


def structure_dataset() -> Dataset:
    """The dataset of changes of table structure."""
    names = tuple(column.name for column in STRUCTURE.columns)
    return Dataset(STRUCTURE.name, STRUCTURE, 1, STRUCTURE.columns, names, ("", STRUCTURE.name))


def definition_of(table: Table) -> dict[str, Any]:
    """A table as JSON-able data, with the names and types of the source."""
    columns = [
        {
            "name": column.name,
            "type": column.type.value,
            "length": column.length,
            "scale": column.scale,
            "nullable": column.nullable,
        }
        for column in table.columns
    ]
    return {"columns": columns, "key": list(table.key)}


def export_request(
    opened: OpenLog, selection: Selection, demand: Demand, keys: KeySource = None
) -> Request:
    """What is wanted of an export (``demand.export``), placed and checked: by
    :func:`replay.pipeline.request.make_request`, and for what would make its datasets unusable
    (LR3005, LR3006). It carries the source of the log and the facts that its family cannot
    know."""
    request = make_request(opened, selection, demand, keys)
    assert request.export is not None
    untold = opened.log.untold() if isinstance(opened.log, TellsLess) else {}
    unknown = frozenset({*opened.family.capabilities.unknown, *untold})
    export = replace(request.export, source=opened.log.source, unknown=unknown)
    with usage_errors():
        check_datasets(request.versions, export, request.options)
    return replace(request, export=export)


def check_datasets(
    versions: Sequence[TableVersion], export: Export, options: ScriptOptions
) -> None:
    """Refuse what an export of table versions would make unusable, before anything is read.

    SqlgenError: LR3005 for names that cannot be used or become the same, LR3006 where no column is
    left or a Debezium event would lack its key.
    """
    profile = format_of(export, options.render).profile
    check_collisions(
        [version.table for version in {version.name: version for version in versions}.values()],
        profile,
        options.names,
    )
    if export.format == "debezium":
        _check_topics([version.table for version in versions], profile, options.names)
    for version in versions:
        check_collisions([version.table], profile, options.names)
        shown = {column.name for column in shown_columns(version.table, options.render)}
        missing = (
            [name for name in version.table.key if name not in shown]
            if export.format == "debezium"
            else []
        )
        if missing or not shown:
            what = f"key column {missing[0]}" if missing else "every column"
            message = (
                f"found {what} of {version.name} excluded; expected what says which row changed to"
                " stay"
            )
            raise SqlgenError("LR3006", message, "Change --columns or --exclude-columns")


#: What the name of a topic has none of; connectors put ``_`` in its place.
_NOT_IN_TOPICS = re.compile(r"[^A-Za-z0-9._-]")


def topic_named(parts: Sequence[str]) -> str:
    """The topic that parts of names make."""
    return _NOT_IN_TOPICS.sub("_", ".".join(part for part in parts if part))


def _check_topics(tables: Sequence[Table], profile: Profile, names: str) -> None:
    """SqlgenError (LR3005) where the events of two tables would have one topic."""
    known: dict[str, str] = {}
    for table in tables:
        spelled = [target_name(part, profile, names) for part in (table.schema, table.name) if part]
        name, topic = f"{table.schema}.{table.name}", topic_named(spelled)
        if known.setdefault(topic.replace("-", "_"), name) != name:
            raise SqlgenError(
                "LR3005",
                f"found {known[topic.replace('-', '_')]} and {name}, whose events would have the"
                f" same topic ({topic}); expected one for each table",
                "Leave one of them out (--exclude-table), or export them one by one",
            )


def _folder_of(owner: str, name: str) -> str:
    parts = [_folder(owner), _folder(name)]
    if len(".".join(parts)) > _LONGEST:
        parts = [
            part if len(part) <= _SHORT else f"{part[: _SHORT - 17]}~{_digest(whole)}"
            for part, whole in zip(parts, (owner, name), strict=True)
        ]
    return ".".join(parts)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def _folder(name: str) -> str:
    """A name as a part of a folder's name, in which dots and ``@`` part names."""
    return quote(name, safe=" ()+,;~!").replace(".", "%2E")
