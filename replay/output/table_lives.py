"""Where tables of a log are dropped, and which changes are of the one that has a name at a point: a
table that has the name later is another one. Changes of structure tell it, or the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Mask
from replay.output.formats import Dataset
from replay.output.row_changes import IN_ORDER, RowChanges
from replay.output.structure import CatalogDrop

#: Where a change stands, as :data:`replay.output.row_changes.IN_ORDER` has it ('' for null).
Place = tuple[Any, ...]
#: Behind every hexadecimal number.
BEHIND = "G"


def has_rows(dataset: Dataset) -> bool:
    """Whether a dataset has changes of rows, and not of structure."""
    return bool(dataset.table.schema)


def place_in_log(row: Mapping[str, Any]) -> Place:
    """Where a change (as a dict) stands."""
    return tuple(row[column] or "" for column, _ in IN_ORDER)


def place_of_drop(drop: CatalogDrop) -> Place:
    """Where a table is dropped of which only the catalog says it."""
    return drop.gone.hexadecimal, BEHIND if drop.by_unit else "", "", ""


def precedes(place: Place, other: Place) -> bool:
    """Whether a place lies before another one, as far as that says where it is."""
    told = [(mine, theirs) for mine, theirs in zip(place, other, strict=True) if theirs]
    return [mine for mine, _ in told] < [theirs for _, theirs in told]


def rows_before(rows: pa.Table, place: Place) -> Mask:
    """Which of some changes lie before a place, as :func:`precedes` has it."""
    before = np.zeros(len(rows), bool)
    same = np.ones(len(rows), bool)
    for (name, _), value in zip(IN_ORDER, place, strict=True):
        if not value:  # a family that has no such thing
            continue
        less, equal = pc.less(rows[name], value), pc.equal(rows[name], value)
        before |= same & less.to_numpy()
        same &= equal.to_numpy()
    return before


def committed(rows: pa.Table) -> Mask:
    """Which of some changes are committed."""
    return np.asarray(pc.less_equal(rows["fate"], 0))


def structure_images(
    changes: RowChanges, taken: Callable[[pa.Table], Mask] = committed
) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """(place, image) of each change of structure that is ``taken``."""
    for _, rows in changes.parts(lambda dataset: not has_rows(dataset)):
        for row in rows.filter(pa.array(taken(rows))).to_pylist():
            yield place_in_log(row), row["after"]


@dataclass(frozen=True)
class Life:
    """The stretch of the log in which a table is the one that has its name at a point: from where
    the one before it was dropped to where it is dropped itself (None: not in this log). ``drops``:
    where tables of that name are dropped, in order."""

    begin: Place | None = None
    end: Place | None = None
    drops: Sequence[Place] = ()

    @classmethod
    def at(cls, commit: str, drops: Sequence[Place]) -> Life:
        """That of a table with these drops, in order, at a commit position (hexadecimal)."""
        count = sum(place[0] <= commit for place in drops)
        begin, end = drops[count - 1] if count else None, next(iter(drops[count:]), None)
        return cls(begin, end, drops)

    def has(self, place: Place) -> bool:
        """Whether a change is of that table."""
        return (self.begin is None or not precedes(place, self.begin)) and (
            self.end is None or precedes(place, self.end)
        )

    def of(self, rows: pa.Table) -> pa.Table:
        """Those of some changes, in order, that are of that table."""
        begin = 0 if self.begin is None else int(rows_before(rows, self.begin).sum())
        end = len(rows) if self.end is None else int(rows_before(rows, self.end).sum())
        return rows.slice(begin, end - begin)
