"""The state before a log, as it was unloaded: ``TABLE.csv`` or ``OWNER.TABLE.csv`` (``.gz`` too),
as :mod:`replay.csv_states.state_csv` reads it. Read into the rows that a log would have inserted,
or counted for the dependency graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from replay.arrays import Index
from replay.csv_states import CsvForm
from replay.csv_states.state_csv import StateCsv, folded
from replay.csv_states.state_values import state_values
from replay.dependencies.baseline import CountedRows, Lookup, StateBefore
from replay.errors import InputError, Where
from replay.logs import LogFile
from replay.storage import Place, file_name, readable
from sqlgen.schema import Op, Rows, Table


class StateFiles:
    """The files of a state: those of tables in a folder, which is listed once. ``form``: how they
    are written, None where that is found out."""

    def __init__(self, folder: Place, form: CsvForm | None = None) -> None:
        self.folder, self.form = folder, form

    @cached_property
    def _by_name(self) -> dict[str, list[Place]]:
        """Those that may be of tables, by their folded names. InputError (LR2001) for a folder that
        cannot be read."""
        files: dict[str, list[Place]] = {}
        with readable(self.folder, "the state folder"):
            entries: list[Place] = [*self.folder.iterdir()]
        for path in sorted(entries, key=lambda one: one.name):
            if path.name.endswith((".csv", ".csv.gz")):
                files.setdefault(folded(_stem(path)), []).append(path)
        return files

    def of(
        self,
        tables: Sequence[Table],
        among: Sequence[Table] | None = None,
        partial: bool = False,
    ) -> dict[str, Place]:
        """OWNER.NAME -> its file, of some ``tables`` (``among`` others). InputError (LR2001) for a
        folder that cannot be read, a table without a file (not where it may be ``partial``), or one
        with several."""
        by_table: dict[str, Place] = {}
        every = {(table.schema, table.name) for table in among or tables}
        whole = Counter(folded(f"{schema}.{name}") for schema, name in every)
        schemas: dict[str, set[str]] = {}
        for schema, short in every:
            schemas.setdefault(folded(short), set()).add(schema)
        for table in tables:
            name = f"{table.schema}.{table.name}"
            # Of tables whose names differ in case only, each has the file that is spelled as it is.
            alike = whole[folded(name)] > 1
            names = [name, full_file_name(table.schema, table.name)]
            if len(schemas[folded(table.name)]) == 1 and folded(table.name) not in whole:
                names += [table.name, file_name(table.name)]
            paths = list(
                dict.fromkeys(
                    path
                    for one in names
                    for path in self._by_name.get(folded(one), ())
                    if not alike or _stem(path) == one
                )
            )
            if not paths and partial:
                continue
            if not paths:
                hint = (
                    "An empty table has a file with the first line alone. Leave a table out with"
                    " --exclude-table"
                )
                raise InputError(
                    "LR2001",
                    f"found no file {name}.csv or {table.name}.csv; expected one for each table of"
                    " the log",
                    Where(str(self.folder)),
                    hint,
                )
            if len(paths) > 1:
                raise InputError(
                    "LR2001",
                    f"found {paths[0].name} and {paths[1].name}; expected one file for a table",
                    Where(str(self.folder)),
                )
            by_table[name] = paths[0]
        return by_table

    def others(self, taken: Iterable[Place]) -> list[str]:
        """The names of the files that are not ``taken``."""
        names = {path.name for paths in self._by_name.values() for path in paths}
        return sorted(names - {path.name for path in taken})


def full_file_name(schema: str, name: str) -> str:
    """``owner.table`` as the name of a file: a dot in one of them is ``%2E``."""
    return ".".join(file_name(part).replace(".", "%2E") for part in (schema, name))


def _stem(path: Place) -> str:
    return path.name.removesuffix(".gz").removesuffix(".csv")


def state_file(
    path: Place, table: Table, form: CsvForm | None = None, masked: Collection[str] = ()
) -> StateCsv:
    """The file of a table, as one that has all its columns; values are not told where some are
    ``masked``. InputError (LR2035) where it is not one of this table."""
    name = f"{table.schema}.{table.name}"
    return StateCsv(path, name, table.columns, form, masked=bool(masked))


def state_rows(file: StateCsv, table: Table, masked: Collection[str] = ()) -> Iterator[Rows]:
    """The rows of a table's file as inserts, in parts. InputError (LR2035) where a value is not one
    of its column; values of ``masked`` columns are not told."""
    start = 0
    for batch in file.batches():
        after = {
            column.name: state_values(
                texts, column, file.places(start, column.name), column.name in masked
            )
            for column, texts in zip(file.columns, batch.columns, strict=True)
        }
        yield Rows(table, Op.INSERT, batch.num_rows, {}, after, {})
        start += batch.num_rows


class FolderState:
    """The folder ``folder`` of a log with ``tables``, as :mod:`replay.output.initial_load` reads it
    (:class:`replay.dependencies.baseline.StateRows`). Each file is read once, part by part; what is
    kept is in proportion to the lookups. ``partial``: tables may lack a file, and then nothing is
    known of their rows."""

    def __init__(
        self,
        folder: Place,
        tables: Sequence[Table],
        partial: bool = False,
        form: CsvForm | None = None,
    ) -> None:
        self.files, self.tables, self.partial = StateFiles(folder, form), tables, partial

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.files.folder)

    def counts(self, lookups: Sequence[Lookup]) -> list[Index]:
        """The counts. InputError (LR2001, LR2035) as for an initial load."""
        groups: dict[Table, dict[tuple[tuple[str, ...], bool], list[int]]] = {}
        for number, lookup in enumerate(lookups):
            of_table = groups.setdefault(lookup.table, defaultdict(list))
            of_table[lookup.columns, lookup.exact].append(number)
        count_of: dict[int, Index] = {}
        for table, of_table in groups.items():
            numbers = [number for same in of_table.values() for number in same]
            files = self.files.of([table], self.tables, self.partial)
            if not files:
                for number in numbers:
                    count_of[number] = np.full(len(lookups[number].values[0]), -1, np.int64)
                continue
            counted = {
                key: CountedRows([lookups[number] for number in same])
                for key, same in of_table.items()
            }
            path = files[f"{table.schema}.{table.name}"]
            for rows in state_rows(state_file(path, table, self.files.form), table):
                for (columns, _), counter in counted.items():
                    counter.add([rows.after[name] for name in columns])
            for key, same in of_table.items():
                count_of.update(zip(same, counted[key].counts(), strict=True))
        return [count_of[number] for number in range(len(lookups))]


def proof_in(folder: Place, log: LogFile, form: CsvForm | None = None) -> StateBefore:
    """The state before ``log`` that is given for its rows (to load them, to go on from them, to
    compare with them), as what proves flagged units: the rows that differ from the log are not
    looked for, and tables may lack a file."""
    tables = [version.source for version in log.catalog.versions]
    return StateBefore(FolderState(folder, tables, partial=True, form=form), compared=False)
