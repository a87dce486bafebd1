"""Changes of rows -> loads that bring them into a table at once, for ``replay --mode bulk``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from replay.arrays import Index
from replay.changes.envelope import ROW_CHANGES, Change, distinct
from replay.dependencies.write_sets import ChangeBatch
from replay.errors import InputError
from replay.logs import LogFile
from replay.native.fast_path import WORTH
from replay.pipeline.copy_lines import CopyLines
from replay.pipeline.plan import Plan
from replay.pipeline.row_batch import whole_rows
from replay.targets import TableFacts
from sqlgen.render_options import shown_columns
from sqlgen.rows import Rows
from sqlgen.staged_merge import Load, Merging, NotPlain, Unmergeable


@dataclass(frozen=True)
class ChangesLoad:
    """The load of changes of one ``kind`` of a table version, in their order."""

    version: int
    kind: Change
    load: Load


class RowLoads:
    """Makes loads of changes of a plan's scripts. ``facts`` is what the target says about the
    tables, by OWNER.NAME."""

    def __init__(
        self,
        plan: Plan,
        log: LogFile,
        facts: Mapping[str, TableFacts | None],
        expected: int = 0,
    ) -> None:
        """``expected``: about how many steps there are in all."""
        self.plan, self.log, self.facts = plan, log, facts
        self.profile = plan.options.profile
        self.quick = None
        if expected >= WORTH and plan.options.mapping is None:
            self.quick = CopyLines(log, self.profile, plan.options.render)

    def loads(self, batch: ChangeBatch) -> list[ChangesLoad]:
        """The loads of changes of rows, each of a row of its own: inserts, then updates, then
        deletes. Raises Unmergeable where a change has no load."""
        groups = [
            (kind, version) for kind in ROW_CHANGES for version in distinct(batch.version).tolist()
        ]
        loads = []
        for number, (kind, version) in enumerate(groups):
            changes = np.flatnonzero((batch.change == kind) & (batch.version == version))
            if not len(changes):
                continue
            load = self._load(batch, changes, version, kind, number)
            if load.count != len(changes):
                raise Unmergeable("a change that changes nothing")
            loads.append(ChangesLoad(version, kind, load))
        return loads

    def more_columns(self, version: int) -> bool:
        """Whether the target's table has columns that the statements do not name: a row that is
        made anew would lose its values there."""
        table_version = self.log.catalog.versions[version]
        facts = self.facts[table_version.name]
        assert facts is not None
        named = {
            self.plan.options.spelled(column.name)
            for column in shown_columns(table_version.table, self.plan.options.render)
        }
        return bool(set(facts.columns) - named - set(facts.generated))

    def _load(
        self, batch: ChangeBatch, changes: Index, version: int, kind: Change, number: int
    ) -> Load:
        """The load of some changes of a kind, of values that are not decoded where that can be."""
        facts = self.facts[self.log.catalog.versions[version].name]
        assert facts is not None
        types = dict(zip(facts.columns, facts.types, strict=True))
        load = Merging(self.profile, self.plan.options.render, types).load
        place = batch.records, batch.head[changes], batch.weight[changes], version, kind
        rows = None if self.quick is None else self.quick.rows(*place)
        if rows is not None:
            with suppress(NotPlain):
                return load(rows, number)
        try:
            return load(_in_order(list(whole_rows(self.log, *place))), number)
        except InputError as error:
            raise Unmergeable(error.message) from error


def _in_order(parts: list[tuple[Index, Rows]]) -> Rows:
    """The rows of all parts, each of which is told at which places its rows are."""
    first = parts[0][1]
    order = pa.array(np.argsort(np.concatenate([places for places, _ in parts])))

    def joined(side: str) -> dict[str, pa.Array]:
        sides = [getattr(rows, side) for _, rows in parts]
        return {
            name: pa.concat_arrays(
                [
                    one[name] if name in one else pa.array(np.zeros(rows.count, bool))
                    for one, (_, rows) in zip(sides, parts, strict=True)
                ]
            ).take(order)
            for name in dict.fromkeys(name for one in sides for name in one)
        }

    before, after, changed = map(joined, ("before", "after", "changed"))
    return Rows(first.table, first.op, len(order), before, after, changed)
