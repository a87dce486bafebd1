"""Tables of Delta Lake: ``OWNER.TABLE`` is the folder of that name.

A commit has its properties of the table in an action of its own, so the mark of a run is noted
first, under the number of the run, and counts from the moment in which the data is committed: that
commit carries the number of the run as its application transaction.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import Refusal, Where, optional_library
from replay.output.lake_tables import LakeMark, check_path

#: Of a table that is kept equal to its source: commits tell inserts, deletes and both images of
#: updates. (A table of changes is a feed itself.)
_FEED = {"delta.enableChangeDataFeed": "true"}
#: The application of transactions, and the property of the mark of a run.
_APPLICATION, _MARK = "logreplay", "logreplay.position"

#: What the library takes for another character in a path, or not at all.
_STRANGE = r"[\[\]^|\\\x00-\x1f\x7f]|%[0-9A-Fa-f]{2}"

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Table = TypeVar("_Table", bound="DeltaFolderTable")


class DeltaFolder:
    """A folder of Delta tables."""

    small_integers = True

    def __init__(self, folder: Path) -> None:
        self.library = optional_library("deltalake", "delta", "export --format delta")
        self.folder = folder
        check_path(folder, _STRANGE, "Delta Lake")

    def table(self, schema: str, name: str) -> DeltaFolderTable:
        """One of its tables. UsageError (LR1002) for a name that the library takes otherwise."""
        path = self.folder / (_folder_of(f"{schema}.{name}") if schema else name)
        check_path(path, _STRANGE, "Delta Lake")  # where a user names the table
        return DeltaFolderTable(self.library, path)

    def close(self) -> None:
        """Nothing is open between two commits."""


def _plainly(
    method: Callable[Concatenate[_Table, _P], _R],
) -> Callable[Concatenate[_Table, _P], _R]:
    """A method that raises OSError where the library tells which error of the system it met."""

    @wraps(method)
    def run(table: _Table, /, *given: _P.args, **named: _P.kwargs) -> _R:
        try:
            return method(table, *given, **named)
        except (table.library.exceptions.DeltaError, OSError) as error:
            found = re.search(r"\(os error (\d+)\)", str(error))
            if found is None:
                raise
            raise OSError(int(found[1]), os.strerror(int(found[1])), str(table.path)) from error

    return run


class DeltaFolderTable:
    """A Delta table, or the place where one will be."""

    def __init__(self, library: Any, path: Path) -> None:
        self.library, self.path = library, path
        self.there = library.DeltaTable.is_deltatable(str(path))

    def _open(self) -> Any:
        return self.library.DeltaTable(str(self.path))

    @property
    def schema(self) -> pa.Schema | None:
        """Its columns."""
        return pa.schema(self._open().schema().to_arrow()) if self.there else None

    @_plainly
    def mark(self) -> LakeMark | None:
        """The mark of the last run that was committed."""
        if not self.there:
            return None
        table = self._open()
        number = table.transaction_version(_APPLICATION)
        text = None if number is None else table.metadata().configuration.get(_name(number))
        return None if text is None else LakeMark.of(text)

    @_plainly
    def rows_of(self, keys: pa.Table) -> pa.Table:
        """Its rows that may have one of some keys."""
        first = keys.column_names[0]
        dataset = self._open().to_pyarrow_dataset()
        wanted = keys[first].unique().cast(dataset.schema.field(first).type)
        if pa.types.is_temporal(wanted.type) or pa.types.is_primitive(wanted.type):
            found: pa.Table = dataset.to_table(filter=pc.field(first).isin(wanted))
            return found
        # files of a merge have text in their statistics as another type than in the table's schema,
        # and a filter of the dataset compares the two
        batches = (batch.filter(pc.is_in(batch[first], wanted)) for batch in dataset.to_batches())
        return pa.Table.from_batches(batches, dataset.schema)

    @_plainly
    def append(self, rows: pa.Table, mark: LakeMark) -> None:
        """Append rows."""
        number, properties = self._announced(rows.schema, mark)
        self.library.write_deltalake(
            self._open(),
            rows,
            mode="append",
            schema_mode="merge",
            commit_properties=properties,
        )
        self._committed(number, mark)

    @_plainly
    def merge(
        self, rows: pa.Table, gone: pa.Table, key: Sequence[str], empty: bool, mark: LakeMark
    ) -> None:
        """Put rows and remove rows; a table that was emptied is written anew."""
        number, properties = self._announced(rows.schema, mark, feed=True)
        self._put(rows, gone, key, empty, properties)
        self._committed(number, mark)

    @_plainly
    def holds(self, stream: str, batch: int) -> bool:
        """Whether a batch of a stream is in it."""
        number = self._open().transaction_version(stream) if self.there else None
        return number is not None and number >= batch

    @_plainly
    def merge_once(
        self,
        rows: pa.Table,
        gone: pa.Table,
        key: Sequence[str],
        empty: bool,
        batch: tuple[str, int],
    ) -> None:
        """Put rows and remove rows, and note the batch (stream, number), in one commit."""
        self._make_room(rows.schema, feed=True)
        transaction = self.library.Transaction(*batch)
        properties = self.library.CommitProperties(app_transactions=[transaction])
        self._put(rows, gone, key, empty, properties)

    def _put(
        self, rows: pa.Table, gone: pa.Table, key: Sequence[str], empty: bool, properties: Any
    ) -> None:
        table = self._open()
        if empty:
            self.library.write_deltalake(
                table, rows, mode="overwrite", schema_mode="merge", commit_properties=properties
            )
        else:
            self._merged(table, rows, gone, key, properties)

    def _merged(
        self, table: Any, rows: pa.Table, gone: pa.Table, key: Sequence[str], properties: Any
    ) -> None:
        removed = pa.table(
            [
                gone[name].cast(entry.type) if name in gone.column_names else pa.nulls(
                    len(gone), entry.type
                )
                for name, entry in zip(rows.schema.names, rows.schema, strict=True)
            ],
            schema=rows.schema,
        )  # fmt: skip
        flag = "__logreplay_gone"
        while flag in rows.column_names:
            flag += "_"
        source = pa.concat_tables(
            [
                part.append_column(flag, pa.array([value] * len(part), pa.bool_()))
                for part, value in ((rows, False), (removed, True))
            ]
        )
        same = " AND ".join(f"t.{_quoted(name)} = s.{_quoted(name)}" for name in key)
        columns = {_quoted(name): f"s.{_quoted(name)}" for name in rows.schema.names}
        table.merge(
            source,
            same,
            source_alias="s",
            target_alias="t",
            error_on_type_mismatch=False,
            commit_properties=properties,
        ).when_matched_delete(f's."{flag}" = true').when_matched_update(
            columns
        ).when_not_matched_insert(columns, f's."{flag}" = false').execute()

    def _announced(self, schema: pa.Schema, mark: LakeMark, feed: bool = False) -> tuple[int, Any]:
        """(number of the run, properties of its commit) after its mark was noted."""
        self._make_room(schema, feed)
        table = self._open()
        number = (table.transaction_version(_APPLICATION) or 0) + 1
        table.alter.set_table_properties({_name(number): mark.text()}, raise_if_not_exists=False)
        transaction = self.library.Transaction(_APPLICATION, number)
        return number, self.library.CommitProperties(
            custom_metadata={"logreplay": mark.position}, app_transactions=[transaction]
        )

    def _make_room(self, schema: pa.Schema, feed: bool = False) -> None:
        """Make the table where there is none, and add columns that it lacks; ``feed``: a new one
        keeps what each commit changes, for the engines' change data feed."""
        _check_names(schema, self.path.name)
        if not self.there:
            self.library.DeltaTable.create(
                str(self.path),
                self.library.Schema.from_arrow(schema),
                configuration=_FEED if feed else None,
            )
            self.there = True
        table = self._open()
        known = {entry.name for entry in table.schema().fields}
        if set(schema.names) - known:
            self.library.write_deltalake(
                table, schema.empty_table(), mode="append", schema_mode="merge"
            )

    def _committed(self, number: int, mark: LakeMark) -> None:
        """Show the position for people; nothing is decided by it."""
        self._open().alter.set_table_properties({_MARK: mark.position}, raise_if_not_exists=False)


def _check_names(fields: Iterable[pa.Field], table: str) -> None:
    """Refusal (LR3005) for two columns, or fields of one, that differ in case only."""
    seen: dict[str, str] = {}
    for field in fields:
        other = seen.setdefault(field.name.lower(), field.name)
        if other != field.name:
            raise Refusal(
                "LR3005",
                f"found columns {other!r} and {field.name!r}; expected names that differ in more"
                " than their case, as Delta Lake tells them apart",
                Where(table=table),
                "Leave one of them out (--exclude-columns), or write another format",
            )
        if pa.types.is_struct(field.type):
            _check_names(field.type, table)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _folder_of(name: str) -> str:
    """The folder of a table. The library takes ``%27`` in a path for the character that it stands
    for: ``=27`` it is, and no name of a dataset has a ``=``."""
    return name.replace("%", "=")


def _name(number: int) -> str:
    """The property with the mark of a run: the last two are kept apart, so that a run that was not
    committed leaves the mark of the one before."""
    return f"{_MARK}.{number % 2}"


def lake_of(folder: Path) -> DeltaFolder:
    """The lake of a folder. UsageError (LR1005) without the library."""
    return DeltaFolder(folder)
