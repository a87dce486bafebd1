"""Keys of changes in words: those of many links at a time, each image looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from replay.arrays import Index, Records
from replay.changes.envelope import Change
from replay.changes.masked import MASKED_KEY, any_masked
from replay.changes.text_columns import GrowingTexts, Texts, taken, texts_of
from replay.dependencies.key_spaces import KeySpace
from replay.dependencies.links import LINK
from replay.dependencies.write_sets import WriteSets
from replay.spill import Growing, spilled

if TYPE_CHECKING:
    from replay.dependencies.analysis import Subgraph
    from replay.dependencies.graph import ChangeLink

#: Links, and changes, that are looked at together.
_TOGETHER = 1 << 18
#: A key of a change that is in the image before it, and one in that after it.
_SIDES = ("after", "before")


class KeysInWords:
    """The keys of changes, ``table/value`` each, as far as they were asked for: by table version,
    space, kind and side the changes that have one (rising), and the number of each one's text."""

    def __init__(self) -> None:
        self.texts = GrowingTexts()
        self._known: dict[tuple[int, int, int, int], tuple[Index, Index]] = {}

    def numbers(self, subgraph: Subgraph, links: Records) -> Index:
        """The numbers of the keys of links (:data:`replay.dependencies.links.LINK`): each as the
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
        found = np.empty(len(links), np.int64)
        for rows in np.split(order, starts[1:]) if len(order) else ():
            one = int(rows[0])
            asked = (int(version[one]), int(space[one]), int(kind[one]), int(side[one]))
            found[rows] = self._numbers(subgraph, asked, target[rows])
        return found

    def _numbers(
        self, subgraph: Subgraph, group: tuple[int, int, int, int], changes: Index
    ) -> Index:
        version, number, kind, side = group
        space = subgraph.spaces.spaces[number]
        same = said_of_all(subgraph, space, version)
        if same is not None:
            return np.full(len(changes), self.texts.add(same), np.int64)
        known = self._known.get(group)
        if known is None:  # who asks for one of them asks for many
            rows = _of_space(subgraph.links, number)
            batch = subgraph.batch
            rows = rows[(batch.version[rows] == version) & (batch.change[rows] == kind)]
            columns = used_columns(subgraph, version, number)
            numbers = self._put(subgraph, space, rows, _SIDES[side], columns)
            known = self._known[group] = spilled(rows), numbers
        return known[1][np.searchsorted(known[0], changes)]

    def _put(
        self,
        subgraph: Subgraph,
        space: KeySpace,
        rows: Index,
        side: str,
        columns: Sequence[str],
    ) -> Index:
        """Keys of changes of one table version and kind."""
        number = Growing(np.int64)
        for low in range(0, len(rows), _TOGETHER):
            some = rows[low : low + _TOGETHER]
            number.add(self.texts.add_all(values_in_words(subgraph, space, some, side, columns)))
        return number.array()


def used_columns(subgraph: Subgraph, version: int, space: int) -> Sequence[str]:
    """The columns of a table version that are the key of a space."""
    uses = subgraph.spaces.uses[version]
    return next((use for use in uses if use.space == space), uses[0]).columns


def said_of_all(subgraph: Subgraph, space: KeySpace, version: int) -> str | None:
    """What is said of all keys of a space and a table version; None where that is their values."""
    table = table_text(space)
    if space.kind == "table":
        return table
    if space.kind == "image":
        return without_key(space)
    if is_masked(subgraph, version, used_columns(subgraph, version, space.number)):
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
) -> Texts:
    """``table/value`` of changes of one table version and kind, from the images of one side."""
    write_sets = WriteSets(subgraph.log, subgraph.spaces)
    values = write_sets.values_of_all(subgraph.batch, changes, side, columns)
    table = table_text(space)
    return texts_of(f"{table}/{','.join(one)}" for one in values)


def table_text(space: KeySpace) -> str:
    """The name of a key space's table as messages have it."""
    return space.table.partition(".")[2].lower()


def key_texts(subgraph: Subgraph, links: Records) -> Texts:
    """Keys of links (:data:`replay.dependencies.links.LINK`) in words."""
    numbers = subgraph.words.numbers(subgraph, links)
    return taken(subgraph.words.texts.all(), numbers)


def key_text(subgraph: Subgraph, link: ChangeLink) -> str:
    """A key in words, ``table/value`` (``table`` alone for a whole-table event)."""
    one = np.zeros(1, LINK)
    for name in ("source", "target", "kind", "space", "gone"):
        one[name] = getattr(link, name)
    return subgraph.words.texts[int(subgraph.words.numbers(subgraph, one)[0])]


def _of_space(links: Records, space: int) -> Index:
    """The changes that links of a key space lead to, rising."""
    found = Growing(np.int64)
    last = -1
    for low in range(0, len(links), _TOGETHER):
        some = links[low : low + _TOGETHER]
        rows = np.unique(some["target"][some["space"] == space])
        rows = rows[rows > last]  # links are in the order of their targets
        last = int(rows[-1]) if len(rows) else last
        found.add(rows)
    return found.array()
