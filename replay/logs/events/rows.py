"""The rows of change events as images, and what the rows of a table say of its replica identity.

PostgreSQL sends the old row as REPLICA IDENTITY says, and the event does not say which columns of
it were sent: the others are null, or zero where the column must have a value. So an old row is
taken as whole only where the rows of its table prove it.

Other connectors send whole rows. But in old ones of SQL Server long values are null where they did
not change ("cdc.<capture_instance>_CT", "Large object data types"; TEXT, NTEXT and IMAGE always),
and Db2 for z/OS sends no old row of an update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Mask
from replay.changes.catalog import TableVersion
from replay.logs.events.schemas import ZEROS
from replay.logs.made_images import images, mask

if TYPE_CHECKING:
    from replay.logs.events.event_reader import EventReader

#: Values of columns, one array each.
Columns = Sequence[pa.Array]


@dataclass
class OldRows:
    """What the old rows of a table say of its replica identity. ``partial``: some of them have
    their key alone, or no old row was sent; ``proven``: an old row was sent though no column that
    an index of identity may have was changed, so it is FULL; ``unkeyed``: one was sent without its
    key, so it is an index, and an update without an old row may change the key; ``keyed``: one was
    sent with its key; ``carried``: columns that had a value in an old row; ``gaps``: columns of
    which a null there may be a value (None: of none)."""

    partial: bool = False
    proven: bool = False
    unkeyed: bool = False
    keyed: bool = False
    carried: set[str] = field(default_factory=set)
    gaps: set[str] | None = None

    def lacking(self, names: Sequence[str], key: Sequence[str]) -> list[int]:
        """Which of some columns old rows do not tell."""
        if self.partial:
            return [place for place, name in enumerate(names) if name not in key]
        if self.gaps is not None:
            return [place for place, name in enumerate(names) if name in self.gaps]
        if self.proven:
            return []
        return [place for place, name in enumerate(names) if name not in self.carried]

    def __str__(self) -> str:
        """What is known of them, for people."""
        if self.partial:
            return "old rows have the key alone"
        if self.gaps is not None:
            return "old rows may lack long values" if self.gaps else "old rows are whole"
        return "old rows are whole" if self.proven else "old rows are not proven to be whole"

    def judge(
        self, old: Columns, new: Columns, there: Mask, updates: Mask, version: TableVersion
    ) -> Mask:
        """Add what old rows say, and tell which lack their key, or are not there."""
        self.partial |= bool((updates & ~there).any())
        columns = version.table.columns
        has = np.array([mask(one.is_valid()) for one in old])
        if self.gaps is not None:
            kept = np.array([mask(one.is_valid()) for one in new])
            lost = np.any(there & ~has & (~updates | kept), axis=1).tolist()
            long = zip(columns, lost, strict=True)
            self.gaps |= {one.name for one, is_lost in long if is_lost and one.unsized}
            return np.zeros(len(there), bool)
        zeros, unchanged = pa.array(sorted(ZEROS), pa.string()), there & updates
        of_key = np.array([one.name in version.table.key for one in columns], bool)
        for place, column in enumerate(columns):
            if not column.nullable:
                same = mask(pc.equal(old[place], new[place]))
                unchanged &= same
                # a zero in the key that an update leaves is one: no other row has that key
                real = same & updates & of_key[place]
                has[place] &= real | ~mask(pc.is_in(old[place], zeros))
        valued = has & there
        values, keyed = valued[~of_key].any(axis=0), valued[of_key].all(axis=0)
        if not of_key.all():
            self.partial |= bool((there & ~values & ~unchanged).any())
        self.proven |= bool(unchanged.any())
        carried = zip(columns, np.any(valued, axis=1).tolist(), strict=True)
        self.carried |= {one.name for one, is_so in carried if is_so}
        self.keyed |= bool((there & keyed).any())
        unkeyed = there & values & ~keyed
        self.unkeyed |= bool(unkeyed.any())
        return np.asarray(unkeyed | (updates & ~there))


def images_of(
    before: pa.Array,
    after: pa.Array,
    updates: Mask,
    version: TableVersion,
    identity: OldRows | None,
    reader: EventReader,
) -> tuple[pa.Array, pa.Array, Mask]:
    """Images before and after changes of one table by their rows (binary, null where there is
    none), and which old rows were sent without their key, or not at all. What they say of its
    replica identity is added to ``identity`` (None: old rows are whole)."""
    names = [one.name for one in version.table.columns]
    old, new = (columns_of(reader.values(side, names), len(names)) for side in (before, after))
    there = mask(before.is_valid())
    unkeyed = np.zeros(len(before), bool)
    if identity is not None:
        unkeyed = identity.judge(old, new, there, updates, version)
    old, no_old = _without(old, version, reader.stands)
    new, no_new = _without(new, version, reader.stands)
    alone = updates & ~there
    if alone.any():  # the key is that of the new row, because an update does not change it
        for place, name in enumerate(names):
            if name in version.table.key:
                old[place] = pc.if_else(pa.array(alone), new[place], old[place])
            else:
                no_old[place] = no_old[place] | alone
    nothing = pa.scalar(None, pa.binary())
    return (
        pc.if_else(pa.array(there | alone), images(old, no_old), nothing),
        pc.if_else(after.is_valid(), images(new, no_new), nothing),
        unkeyed,
    )


def columns_of(lists: pa.Array, width: int) -> list[pa.Array]:
    """Lists of ``width`` texts each as columns; null where a list, or a text of it, is null."""
    whole = mask(lists.is_valid())
    flat, start = lists.flatten(), (np.cumsum(whole) - whole) * width
    made = []
    for number in range(width):
        places = pa.array(np.where(whole, start + number, 0), mask=~whole)
        made.append(flat.take(places) if len(flat) else pa.nulls(len(lists), flat.type))
    return [one.cast(pa.string()) for one in made]


def _without(
    columns: Columns, version: TableVersion, stands: Callable[[str], Sequence[str]]
) -> tuple[list[pa.Array], list[Mask]]:
    """Columns with null where a value is not available, and where that is."""
    made, absent = list[pa.Array](), list[Mask]()
    for values, entry in zip(columns, version.format.columns, strict=True):
        missing = np.zeros(len(values), bool)
        if texts := stands(entry.code):
            missing = mask(pc.is_in(values, pa.array(texts, pa.string())))
        if missing.any():
            values = pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), values)
        made.append(values)
        absent.append(missing)
    return made, absent
