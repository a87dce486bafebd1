"""Keys of changes in words: those of many links at a time, each image looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Index, Records
from replay.changes.envelope import Change
from replay.changes.masked import MASKED_KEY, any_masked
from replay.dependencies.key_spaces import KeySpace
from replay.dependencies.links import LINK
from replay.dependencies.write_sets import WriteSets

if TYPE_CHECKING:
    from replay.dependencies.analysis import Subgraph
    from replay.dependencies.graph import ChangeLink

#: A key of a change that is in the image before it, and one in that after it.
_SIDES = ("after", "before")


def key_texts(subgraph: Subgraph, links: Records) -> list[str]:
    """The keys of links (:data:`replay.dependencies.links.LINK`), ``table/value`` each, as the
    later change has it, or the table alone for an event of a whole table."""
    batch = subgraph.batch
    target, space = (np.ascontiguousarray(links[name]) for name in ("target", "space"))
    version, kind = batch.version[target], batch.change[target]
    side = links["gone"] | (kind == Change.DELETE)
    # who is of one group has one number
    spaces, versions = len(subgraph.spaces.spaces), len(subgraph.spaces.uses)
    group = ((kind.astype(np.int64) * 2 + side) * spaces + space) * versions + version
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))[: len(group)]
    found = [""] * len(links)
    for rows in np.split(order, starts[1:]) if len(order) else ():
        one = int(rows[0])
        of_space, of_version = subgraph.spaces.spaces[int(space[one])], int(version[one])
        columns = _used_columns(subgraph, of_version, of_space.number)
        same = _said_of_all(subgraph, of_space, of_version, columns)
        changes, place = np.unique(target[rows], return_inverse=True)
        texts = (
            [same] * len(changes)
            if same is not None
            else values_in_words(subgraph, of_space, changes, _SIDES[int(side[one])], columns)
        )
        for row, at in zip(rows.tolist(), place.reshape(-1).tolist(), strict=True):
            found[row] = texts[at]
    return found


def texts_of_links(subgraph: Subgraph, links: Sequence[ChangeLink]) -> list[str]:
    """The same of single links."""
    records = np.zeros(len(links), LINK)
    for name in ("source", "target", "kind", "space", "gone"):
        records[name] = [getattr(link, name) for link in links]
    return key_texts(subgraph, records)


def key_text(subgraph: Subgraph, link: ChangeLink) -> str:
    """A key in words, ``table/value`` (``table`` alone for a whole-table event)."""
    return texts_of_links(subgraph, [link])[0]


def _used_columns(subgraph: Subgraph, version: int, space: int) -> Sequence[str]:
    """The columns of a table version that are the key of a space."""
    uses = subgraph.spaces.uses[version]
    return next((use for use in uses if use.space == space), uses[0]).columns


def _said_of_all(
    subgraph: Subgraph, space: KeySpace, version: int, columns: Sequence[str]
) -> str | None:
    """What is said of all keys of a space and a table version; None where that is their values."""
    if space.kind == "table":
        return table_text(space)
    if space.kind == "image":
        return without_key(space)
    if is_masked(subgraph, version, columns):
        return masked(space)
    return None


def without_key(space: KeySpace) -> str:
    """What is said of a row without a key."""
    return f"{table_text(space)}/(row without key)"


def masked(space: KeySpace) -> str:
    """What is said of a key that is masked."""
    return f"{table_text(space)}/{MASKED_KEY}"


def is_masked(subgraph: Subgraph, version: int, columns: Sequence[str]) -> bool:
    """Whether one of some columns of a table version is masked."""
    name = subgraph.log.catalog.versions[version].name
    return any_masked(subgraph.spaces.masked, name, columns)


def values_in_words(
    subgraph: Subgraph, space: KeySpace, changes: Index, side: str, columns: Sequence[str]
) -> list[str]:
    """``table/value`` of changes of one table version and kind, from the images of one side."""
    write_sets = WriteSets(subgraph.log, subgraph.spaces)
    values = write_sets.values_of_all(subgraph.batch, changes, side, columns)
    table = table_text(space)
    return [f"{table}/{','.join(one)}" for one in values]


def table_text(space: KeySpace) -> str:
    """The name of a key space's table as messages have it."""
    return space.table.partition(".")[2].lower()
