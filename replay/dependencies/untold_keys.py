"""Changes whose old rows do not tell which unique key or reference the row gives up (REPLICA
IDENTITY DEFAULT of PostgreSQL). No order can be made for them. That of the log is right as far as
the source checks each row; where it may have checked a key or a reference at the end of the
transaction, the target must do so, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from replay.arrays import Index, Mask
from replay.changes.envelope import Change
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.write_sets import ChangeBatch, WriteSets
from replay.logs import LogFile, PartialImages, PartialWalk
from sqlgen.schema import Constraints

_BY_VERSION = dict[int, Sequence[str]]


@dataclass
class _Late:
    """A key that may be checked at the end of a transaction: by version, its columns in the tables
    that have it, and in those that refer to it by such a foreign key. ``itself``: it is unique at
    the end only."""

    itself: bool = False
    holders: _BY_VERSION = field(default_factory=dict)
    children: _BY_VERSION = field(default_factory=dict)


class UntoldKeys:
    """Looks for such changes in batches of a log."""

    def __init__(self, log: LogFile, spaces: KeySpaces, constraints: Constraints) -> None:
        self.log, self.partial = log, isinstance(log, PartialImages)
        self.reader = WriteSets(log, spaces, with_images=False)
        every = dict[int, _Late]()
        late = {
            (one.table, frozenset(one.columns)) for one in constraints.foreign_keys if one.waits
        }
        for name, versions in spaces.of_name.items() if self.partial else ():
            for version in versions:
                for use in spaces.uses[version]:
                    key, own = every.setdefault(use.space, _Late()), (name, frozenset(use.columns))
                    if use.how != "child":
                        key.holders[version] = use.columns
                        key.itself |= own in constraints.deferrable
                    elif own in late:
                        key.children[version] = use.columns
        self.late = [one for one in every.values() if one.itself or one.children]

    def must_wait(
        self, batch: ChangeBatch, span: Index, live: Mask, moved: Mask
    ) -> Iterator[tuple[Index, bool]]:
        """Changes of stretches ``span[change]`` in which a key may be taken before it is given up,
        or given up before the references to it are: one each; and whether it is the check of a
        unique key that must wait, not of a reference. ``moved``: updates that change a key."""
        kind = batch.change
        for key in self.late:
            holds, refers = (
                live & np.isin(batch.version, list(some)) for some in (key.holders, key.children)
            )
            old = (kind == Change.UPDATE) | (kind == Change.DELETE)
            untold = self.lacking(batch, np.flatnonzero(holds & old), key.holders)
            if key.itself:
                takes = holds & ((kind == Change.INSERT) | (kind == Change.UPDATE))
                yield _before(np.flatnonzero(takes), untold, span), True
            gives = np.flatnonzero(holds & (moved | (kind == Change.DELETE)))
            leaves = np.flatnonzero(refers & old)
            some = np.union1d(untold, self.lacking(batch, leaves, key.children))
            found = _before(gives, leaves, span)
            yield found[np.isin(span[found], span[some])], False

    def lacking(self, batch: ChangeBatch, rows: Index, columns: _BY_VERSION | None = None) -> Index:
        """Those of some changes whose old rows lack a value of the columns of their table version
        (None: of any), rising."""
        found = [rows[:0]]
        group = batch.version[rows].astype(np.int64) * 16 + batch.change[rows]
        for one in np.unique(group).tolist() if self.partial else ():
            version, mine = one // 16, rows[group == one]
            form = self.log.catalog.versions[version]
            names = columns[version] if columns else [entry.name for entry in form.in_images]
            for part, images in self.log.images(
                batch.records, batch.head[mine], batch.weight[mine], Change(one % 16)
            ):
                for side, walk in self.reader.walks(images, version).items():
                    if side == "before" and isinstance(walk, PartialWalk):
                        masks = [walk.absent(form.index_of(name)) for name in names]
                        found += [mine[part[one]] for one in masks if one is not None]
        return np.unique(np.concatenate(found))


def _before(first: Index, second: Index, span: Index) -> Index:
    """Of each stretch in which one of the changes ``first`` comes before one of ``second``, the
    last of these."""
    of_second, last = np.unique(span[second][::-1], return_index=True)
    last = second[::-1][last]
    of_first, begin = np.unique(span[first], return_index=True)
    place = np.searchsorted(of_first, of_second)
    known = np.append(of_first, -1)[place] == of_second
    found: Index = last[known][np.append(first[begin], 0)[place[known]] < last[known]]
    return found
