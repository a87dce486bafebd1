"""A state that is a folder of unloaded tables, counted for the dependency graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from replay.arrays import Index
from replay.dependencies.baseline import CountedRows, Lookup, StateBefore
from replay.logs import LogFile
from replay.output.initial_load import StateFiles, state_rows
from replay.storage import Place
from sqlgen.schema import Table


class FolderState:
    """The folder ``folder`` of a log with ``tables``, as :mod:`replay.output.initial_load` reads it
    (:class:`replay.dependencies.baseline.StateRows`). Each file is read once, part by part; what is
    kept is in proportion to the lookups. ``partial``: tables may lack a file, and then nothing is
    known of their rows."""

    def __init__(self, folder: Place, tables: Sequence[Table], partial: bool = False) -> None:
        self.files, self.tables, self.partial = StateFiles(folder), tables, partial

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
            for rows in state_rows(files[f"{table.schema}.{table.name}"], table):
                for (columns, _), counter in counted.items():
                    counter.add([rows.after[name] for name in columns])
            for key, same in of_table.items():
                count_of.update(zip(same, counted[key].counts(), strict=True))
        return [count_of[number] for number in range(len(lookups))]


def proof_in(folder: Place, log: LogFile) -> StateBefore:
    """The state before ``log`` that is given for its rows (to load them, to go on from them, to
    compare with them), as what proves flagged units: the rows that differ from the log are not
    looked for, and tables may lack a file."""
    tables = [version.table for version in log.catalog.versions]
    return StateBefore(FolderState(folder, tables, partial=True), compared=False)
