"""A state that is a folder of unloaded tables, counted for the dependency graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from replay.arrays import Index
from replay.dependencies.baseline import CountedRows, Lookup
from replay.output.initial_load import state_files, state_rows
from replay.storage import Place
from sqlgen.schema import Table


class FolderState:
    """The folder ``folder`` of a log with ``tables``, as :mod:`replay.output.initial_load` reads it
    (:class:`replay.dependencies.baseline.StateRows`). Each file is read once, part by part; what is
    kept is in proportion to the lookups."""

    def __init__(self, folder: Place, tables: Sequence[Table]) -> None:
        self.folder, self.tables = folder, tables

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    def counts(self, lookups: Sequence[Lookup]) -> list[Index]:
        """The counts. InputError (LR2001, LR2035) as for an initial load."""
        groups: dict[Table, dict[tuple[tuple[str, ...], bool], list[int]]] = {}
        for number, lookup in enumerate(lookups):
            of_table = groups.setdefault(lookup.table, defaultdict(list))
            of_table[lookup.columns, lookup.exact].append(number)
        count_of: dict[int, Index] = {}
        for table, of_table in groups.items():
            files = state_files(self.folder, [table], self.tables)
            counted = {
                key: CountedRows([lookups[number] for number in numbers])
                for key, numbers in of_table.items()
            }
            for rows in state_rows(files[f"{table.schema}.{table.name}"], table):
                for (columns, _), counter in counted.items():
                    counter.add([rows.after[name] for name in columns])
            for key, numbers in of_table.items():
                count_of.update(zip(numbers, counted[key].counts(), strict=True))
        return [count_of[number] for number in range(len(lookups))]
