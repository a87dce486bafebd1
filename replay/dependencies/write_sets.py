"""Keys: which rows and key values a change touches, as narrow records of fixed width that can be
shuffled and sorted.

A *touch* says what a change did to one key of a key space (:mod:`replay.dependencies.key_spaces`).
Keys are 96-bit hashes of the values, the same whatever the row layout of a table's generation:
blanks at the end of text and zeros at the end of a fraction do not count, as in Db2's comparisons.

Where a table has several *forms* (generations whose rows cannot be told by the same values: another
key, no key and another row layout, key columns of another type), touches of the table in one form
are tied to those in another by :mod:`replay.dependencies.links`.

Old rows of some logs do not tell which unique key or reference the row gives up (REPLICA IDENTITY
DEFAULT of PostgreSQL). No order can be made for such changes. That of the log is right as far as
the source checks each row; where it may have checked a key or a reference at the end of the
transaction, the target must do so, too (:class:`UntoldKeys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from replay.arrays import Bytes, Hashes, Index, Mask, Records, Versions, take_rows
from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, WHOLE_TABLE, Change, distinct
from replay.changes.position import POSITION, UNIT
from replay.decoding import codecs
from replay.decoding.hashes import TEXT, hash_exactly, hash_ranges, hash_values, mixed
from replay.decoding.images import ImageWalk
from replay.dependencies.key_spaces import KeySpaces, KeyUse
from replay.errors import InputError
from replay.logs import Images, LogFile, NullTelling, PartialImages, PartialWalk, Walk
from replay.logs.record_facts import other_versions
from sqlgen.render_options import RenderOptions, shown_columns
from sqlgen.schema import Constraints, SqlType


class KeyRole(IntEnum):
    """What a change did to a key. REFER and RELEASE are what a row of a child table does to its
    parent's key; EVENT is a truncate, mass delete or exchange of the whole table, MEMBER any other
    change of a table that has events, FORM any change of a table that has several forms."""

    CREATE = 1
    CHANGE = 2
    DESTROY = 3
    REFER = 4
    RELEASE = 5
    EVENT = 6
    MEMBER = 7
    FORM = 8


WRITES = (KeyRole.CREATE, KeyRole.CHANGE, KeyRole.DESTROY)

#: One touch. ``key`` and ``check`` are the hash, ``space`` the key space. The fields of
#: :data:`replay.changes.envelope.RECORD` that order and place the change follow. ``before`` and
#: ``after`` are hashes of the row images (0: the row did not exist), equal only for images of one
#: ``version`` (-1: not comparable, or the same values in other bytes); of a FORM, ``version`` is
#: the form. ``change`` numbers the change in the batch it was taken from.
TOUCH = np.dtype(
    [
        ("key", "<u8"),
        ("check", "<u4"),
        ("space", "<u4"),
        ("role", "u1"),
        ("commit", POSITION),
        ("unit", UNIT),
        ("position", POSITION),
        ("version", "<i4"),
        ("before", "<u8"),
        ("after", "<u8"),
        ("change", "<i8"),
    ]
)


# -- touches
# -------------------------------------------------------------------------------------------------


#: (key, check, present) of some rows; a key with a null is no key.
KeyHashes = tuple[Hashes, npt.NDArray[np.uint32], Mask]


@dataclass(frozen=True)
class ChangeBatch:
    """Changes to take touches from: ``records`` (dtype :data:`replay.changes.envelope.RECORD`,
    segments of a change side by side) and per change the row of its first record, its number of
    segments, what it is (:class:`Change`) and its table version."""

    records: Records
    head: Index
    weight: Index
    change: Bytes
    version: Versions

    def part(self, rows: Index) -> ChangeBatch:
        """Some of the changes."""
        return ChangeBatch(
            self.records,
            self.head[rows],
            self.weight[rows],
            self.change[rows],
            self.version[rows],
        )


@dataclass(frozen=True)
class ImagesSeen:
    """Images of changes of one table version and kind: the places ``rows`` of the changes in their
    batch, and the walks of the ``before`` and ``after`` images."""

    rows: Index
    version: int
    kind: Change
    images: Images
    walks: Mapping[str, Walk]


class WriteSets:
    """Takes touches from batches. ``evented`` are the table spaces that have events; ``unreadable``
    counts changes whose keys cannot be read, and ``unread`` are their places in the last batch; of
    an update of which one image can be read, that one tells the row. ``by_value``: images are
    hashed by the values of their columns but large objects, which is slower, instead of as they lie
    in the log, where what stands under a null may differ; one that lacks a value has the hash 0.
    ``with_images``: without, images are not hashed (``before`` and ``after`` of touches are 0), and
    keys that are whole rows are left out.
    ``with_nulls``: unique keys with a null are keys too, of the space whose number is higher by the
    number of spaces: some databases let each be there once. ``with_forms``: touches of role FORM
    are taken too. ``each``: MEMBER and FORM are taken of each
    change, not of one of a unit in a batch."""

    def __init__(
        self,
        log: LogFile,
        spaces: KeySpaces,
        evented: frozenset[int] = frozenset(),
        *,
        by_value: bool = False,
        with_images: bool = True,
        with_nulls: bool = False,
        with_forms: bool = False,
        each: bool = False,
        spelling: bool = True,
    ) -> None:
        self.spelling = spelling
        self.log, self.spaces, self.evented, self.by_value = log, spaces, evented, by_value
        self.with_images, self.with_nulls = with_images, with_nulls
        self.with_forms, self.each = with_forms, each
        self.unreadable = 0
        self.unread: list[Index] = []

    def touches(
        self, batch: ChangeBatch, seen: Callable[[ImagesSeen], None] | None = None
    ) -> Records:
        """All touches of a batch (dtype :data:`TOUCH`), in no order; ``change`` is the place of the
        change in the batch. ``seen`` is told of the images as they are looked at."""
        parts: list[Records] = []
        self.unread = []
        group = batch.version.astype(np.int64) * 16 + batch.change
        for value in distinct(group[batch.version >= 0]):
            rows = np.flatnonzero(group == value)
            kind, version = Change(int(value) % 16), int(value) // 16
            if kind in ROW_CHANGES:
                for part, images in self.log.images(
                    batch.records, batch.head[rows], batch.weight[rows], kind
                ):
                    walks = self.walks(images, version)
                    if seen is not None:
                        seen(ImagesSeen(rows[part], version, kind, images, walks))
                    parts.extend(self._of_rows(batch, rows[part], images, walks, version, kind))
            space = self.spaces.table_space[version]
            if kind in WHOLE_TABLE or space in self.evented:
                role = KeyRole.EVENT if kind in WHOLE_TABLE else KeyRole.MEMBER
                parts.append(self._whole_table(batch, rows, space, role))
            if kind is Change.EXCHANGE:
                parts += self._of_clones(batch, rows)
            if self.with_forms:
                for number, form in self.spaces.forms[version]:
                    parts.append(self._whole_table(batch, rows, number, KeyRole.FORM, form))
        return _joined(parts)

    def _of_clones(self, batch: ChangeBatch, rows: Index) -> Iterator[Records]:
        """What exchanges do to the other tables."""
        heads = batch.records[batch.head[rows]]
        others = other_versions(self.log, heads["file"], heads["offset"], heads["length"])
        for row, versions in zip(rows.tolist(), others, strict=True):
            own = self.spaces.table_space[int(batch.version[row])]
            for space in sorted({self.spaces.table_space[at] for at in versions.tolist()} - {own}):
                yield self._whole_table(batch, np.array([row]), space, KeyRole.EVENT)

    def _whole_table(
        self, batch: ChangeBatch, rows: Index, space: int, role: KeyRole, form: int = -1
    ) -> Records:
        touches = _touches(batch, rows)
        touches["space"], touches["role"], touches["version"] = space, role, form
        if role is not KeyRole.EVENT and not self.each:
            _, first = np.unique(np.ascontiguousarray(touches["unit"]), return_index=True)
            touches = take_rows(touches, first.astype(np.int64))
        return touches

    def changed_columns(self, batch: ChangeBatch) -> dict[int, int]:
        """For each update of a batch, by its place: a bit mask of the columns (by their place among
        those of all generations of the table) it changed; all where an image cannot be read, or
        may be of another row."""
        masks: dict[int, int] = {}
        updates = batch.change == Change.UPDATE
        for version in distinct(batch.version[updates]).tolist():
            rows = np.flatnonzero(updates & (batch.version == version))
            for part, images in self.log.images(
                batch.records, batch.head[rows], batch.weight[rows], Change.UPDATE
            ):
                before, after = self.walks(images, version).values()
                columns = len(self.log.catalog.versions[version].format.columns)
                differs = np.stack(
                    [~before.equal(after, index) for index in range(columns)], axis=1
                )
                differs[before.bad | after.bad] = True
                differs[self._made_anew(batch, rows[part])] = True
                places = self.spaces.column_places[version]
                for row, columns_changed in zip(rows[part].tolist(), differs, strict=True):
                    changed = {places[index] for index in np.flatnonzero(columns_changed).tolist()}
                    masks[row] = sum(1 << place for place in changed)
        return masks

    def column_masks(
        self, batch: ChangeBatch, written: RenderOptions | None
    ) -> tuple[dict[int, int], dict[int, int]]:
        """:meth:`changed_columns`, and those of them that statements (None: with all columns) name;
        every column where they also find rows by all that they name: those of tables without a key
        do, whatever the options."""
        changed = self.changed_columns(batch)
        written = written or RenderOptions()
        shown = {
            version: sum(
                {  # columns that not every generation has share a place
                    1 << place
                    for place, column in zip(
                        self.spaces.column_places[version],
                        self.log.catalog.versions[version].format.columns,
                        strict=True,
                    )
                    if column.column
                    in shown_columns(self.log.catalog.versions[version].table, written)
                }
            )
            for version in distinct(batch.version).tolist()
        }
        masks = {place: mask & shown[int(batch.version[place])] for place, mask in changed.items()}
        found_by_all = {
            version
            for version in shown
            if written.where_columns == "all" or not self.log.catalog.versions[version].table.key
        }
        for place in masks:
            if int(batch.version[place]) in found_by_all and masks[place]:
                masks[place] = -1
        return changed, masks

    def values_of(
        self, batch: ChangeBatch, change: int, side: str, columns: Sequence[str]
    ) -> list[str]:
        """Some values of one change's image as text, as :meth:`values_of_all`."""
        (values,) = self.values_of_all(batch, np.array([change]), side, columns)
        return values

    def values_of_all(
        self, batch: ChangeBatch, changes: Index, side: str, columns: Sequence[str]
    ) -> list[list[str]]:
        """Some values of the ``before`` or ``after`` images of changes of one table version and
        kind as text, by change; where an image cannot be read, of the other one."""
        version, kind = int(batch.version[changes[0]]), Change(int(batch.change[changes[0]]))
        table = self.log.catalog.versions[version]
        found: list[list[str]] = [[] for _ in changes]
        for part, images in self.log.images(
            batch.records, batch.head[changes], batch.weight[changes], kind
        ):
            walks = self.walks(images, version)
            wrong = walks[side].bad
            for walk, rows in (
                (walks[side], np.flatnonzero(~wrong)),
                (walks.get("before" if side == "after" else "after"), np.flatnonzero(wrong)),
            ):
                for name in columns if len(rows) else ():
                    values = (walk or walks[side]).decode(table.index_of(name), rows)[0]
                    for place, value in zip(part[rows].tolist(), values.to_pylist(), strict=True):
                        found[place].append(str(value))
        return found

    def walks(self, images: Images, version: int) -> dict[str, Walk]:
        """The ``before`` and ``after`` images of some changes, as far as their kind has them."""
        bad = images.bad
        walks = {}
        for name, bounds in (("before", images.before), ("after", images.after)):
            if bounds is not None:
                start, end = (np.where(bad, 0, edge) for edge in bounds)
                walks[name] = self.log.walk(version, images.buffer, start, end)
        return walks

    def _of_rows(
        self,
        batch: ChangeBatch,
        rows: Index,
        images: Images,
        walks: Mapping[str, Walk],
        version: int,
        kind: Change,
    ) -> Iterator[Records]:
        sides = {
            name: bounds
            for name, bounds in (("before", images.before), ("after", images.after))
            if bounds is not None
        }
        bad = images.bad.copy()
        for walk in walks.values():
            bad |= walk.bad
        good = np.flatnonzero(~bad)
        if len(good) < len(bad):
            self._not_read(rows[bad])
            yield from self._of_one_image(batch, rows, images.bad, walks, version)
        if not len(good):
            return
        table = self.log.catalog.versions[version]
        whole: dict[str, Hashes] = {name: np.zeros(len(good), np.uint64) for name in sides}
        rewritten = np.zeros(len(good), bool)
        if self.with_images:
            in_bytes = {
                name: hash_ranges(images.buffer, start[good], end[good])
                for name, (start, end) in sides.items()
            }
            whole = {name: row_hashes(walks[name], table, good, in_bytes[name]) for name in sides}
            if len(sides) == 2 and self.spelling:
                alike = whole["before"] == whole["after"]
                anew = alike & (in_bytes["before"] != in_bytes["after"])
                rewritten = spelled_anew(walks, len(table.format.columns), good, anew)
                same = np.flatnonzero(alike)
                if len(same):
                    rewritten[same] |= self._made_anew(batch, rows[good[same]])
        comparable = not any(column.lob for column in table.format.columns)
        unknown = {
            name: lacking_values(walk, len(table.format.columns), len(bad))[good]
            for name, walk in walks.items()
        }
        rewritten = np.logical_or.reduce([rewritten, *unknown.values()])
        seen = whole
        if self.by_value:
            seen = {
                name: np.where(unknown[name], 0, self._value_hashes(walks[name], version, good))
                for name in sides
            }
        base = _touches(batch, rows[good])
        base["version"] = np.where(rewritten, -1, version) if comparable else -1
        for use in self.spaces.uses[version]:
            if not (use.columns or self.with_images):
                continue
            keys: dict[str, KeyHashes] = {}
            keys_with_null: dict[str, KeyHashes] = {}
            for name in sides:
                keys[name], null = self._keys(walks[name], use, version, rows, good, whole[name])
                keys_with_null[name] = (*keys[name][:2], null)
            yield from _touches_of_use(base, use, kind, keys, seen)
            if self.with_nulls and use.how == "unique":
                apart = replace(use, space=use.space + len(self.spaces.spaces))
                yield from _touches_of_use(base, apart, kind, keys_with_null, seen)

    def _made_anew(self, batch: ChangeBatch, rows: Index) -> Mask:
        """:meth:`replay.logs.LogFile.new_values` of some of the changes."""
        heads = batch.records[batch.head[rows]]
        envelope = self.log.envelope(heads["file"], heads["offset"], heads["length"])
        return self.log.new_values(envelope)

    def _not_read(self, rows: Index) -> None:
        self.unreadable += len(rows)
        self.unread.append(rows)

    def _of_one_image(
        self,
        batch: ChangeBatch,
        rows: Index,
        damaged: Mask,
        walks: Mapping[str, Walk],
        version: int,
    ) -> Iterator[Records]:
        """Touches of updates of which one image cannot be read, by the keys of the other one. What
        the row held is not told, and a whole row is no key."""
        if len(walks) < 2:
            return
        before, after = walks.values()
        for walk, other in ((before, after), (after, before)):
            half = np.flatnonzero(other.bad & ~walk.bad & ~damaged)
            base = _touches(batch, rows[half])
            some = np.ones(len(half), np.uint64)
            use = self.spaces.uses[version][0]
            if len(half) and use.columns:
                keys, _ = self._keys(walk, use, version, rows, half, some)
                sides = {"before": keys, "after": keys}
                images = dict.fromkeys(sides, some)
                yield from _touches_of_use(base, use, Change.UPDATE, sides, images)

    def _value_hashes(self, walk: Walk, version: int, rows: Index) -> Hashes:
        """Hashes of row images by the values of all columns that are no large objects, exactly:
        two rows that Db2 compares as equal are two rows."""
        table_version = self.log.catalog.versions[version]
        hashes: Hashes = np.full(len(rows), version, np.uint64)
        large = {column.column.name for column in table_version.format.columns if column.lob}
        for column in table_version.in_images:
            if column.name not in large:
                values, _ = walk.decode(table_version.index_of(column.name), rows)
                hashes = mixed(hashes) ^ hash_exactly(values, column.type)
        return mixed(hashes)

    def _keys(
        self,
        walk: Walk,
        use: KeyUse,
        version: int,
        places: Index,
        rows: Index,
        whole: Hashes,
    ) -> tuple[KeyHashes, Mask]:
        """The keys of the ``rows`` of a walk, and which of them can be read and have a null;
        ``places`` of all of its rows in the batch."""
        if not use.columns:
            upper = (whole >> np.uint64(32)).astype(np.uint32)
            return (mixed(whole), upper, np.ones(len(rows), bool)), np.zeros(len(rows), bool)
        key, check = np.full(len(rows), use.space, np.uint64), np.zeros(len(rows), np.uint64)
        present = np.ones(len(rows), bool)
        null = np.zeros(len(rows), bool)
        table = self.log.catalog.versions[version]
        for name in use.in_order:
            values, bad = walk.decode(table.index_of(name), rows)
            if bad is not None:
                self._not_read(places[rows[present & bad & ~null]])
                present &= ~bad
            if use.how != "row" and values.null_count:
                null |= np.asarray(values.is_null())
            kind = table.table.column(name).type
            if name in use.textual:
                values, kind = values.cast(pa.string()), SqlType.DECIMAL
            key = mixed(key) ^ hash_values(values, kind, 0)
            check = mixed(check) ^ hash_values(values, kind, 1)
        upper = (check >> np.uint64(32)).astype(np.uint32)
        return (mixed(key), upper, present & ~null), present & null


def _touches(batch: ChangeBatch, rows: Index) -> Records:
    records = take_rows(batch.records, batch.head[rows])
    touches = np.zeros(len(rows) * TOUCH.itemsize, np.uint8).view(TOUCH)
    for name in ("commit", "unit", "position"):
        touches[name] = records[name]
    touches["change"] = rows
    touches["version"] = -1
    return touches


def _touches_of_use(
    base: Records, use: KeyUse, kind: Change, keys: dict[str, KeyHashes], whole: dict[str, Hashes]
) -> Iterator[Records]:
    gone, come = (
        (KeyRole.RELEASE, KeyRole.REFER)
        if use.how == "child"
        else (KeyRole.DESTROY, KeyRole.CREATE)
    )

    def made(side: str, role: KeyRole, rows: Mask, before: bool, after: bool) -> Records:
        chosen = np.flatnonzero(rows & keys[side][2])
        touches = take_rows(base, chosen)
        touches["key"], touches["check"] = keys[side][0][chosen], keys[side][1][chosen]
        touches["space"], touches["role"] = use.space, role
        touches["before"] = whole["before"][chosen] if before else 0
        touches["after"] = whole["after"][chosen] if after else 0
        return touches

    every = np.ones(len(base), bool)
    if kind is Change.INSERT:
        yield made("after", come, every, False, True)
    elif kind is Change.DELETE:
        yield made("before", gone, every, True, False)
    else:
        (key, check, there), (new_key, new_check, new_there) = keys["before"], keys["after"]
        moved = (key != new_key) | (check != new_check) | (there != new_there)
        if use.how == "row":
            yield made("before", KeyRole.CHANGE, ~moved, True, True)
        yield made("before", gone, moved, True, False)
        yield made("after", come, moved, False, True)


def _joined(parts: Sequence[Records]) -> Records:
    return np.frombuffer(b"".join(part.tobytes() for part in parts), TOUCH)


# -- whether rows are the same
# -------------------------------------------------------------------------------------------------
# Hashes of row images that are the same where the rows are: bytes that are no part of a value
# (under a null, behind the end of a text, in the header of a row that moved) do not count, and +1
# as packed X'1C' is +1 as X'1F'.


def row_hashes(walk: Walk, version: TableVersion, rows: Index, of_bytes: Hashes) -> Hashes:
    """A hash of each of the images ``rows`` of a walk (``uint64[m]``); ``of_bytes`` are those of
    their bytes. Of tables without a key, whose rows are told by it, it is made of the
    values alone; of others only where a value is null, because that takes decoding them all. Text
    counts with the blanks at its end."""
    hashes = of_bytes.copy()
    if version.table.key and isinstance(walk, ImageWalk):
        _plus_alike(walk, rows, hashes)
    by_value = _any_null(walk, version, rows) if version.table.key else np.ones(len(rows), bool)
    chosen = np.flatnonzero(by_value)
    if len(chosen):
        try:
            hashes[chosen] = _of_values(walk, version, rows[chosen])
        except InputError:  # a character set that nobody knows: the bytes are all there is
            return hashes
    return hashes


def _plus_alike(walk: ImageWalk, rows: Index, hashes: Hashes) -> None:
    """Put the hash of an image with packed decimals of sign F to what it is with sign C."""
    ends = [
        walk.at(index)[rows] + length - 1
        for index, column in enumerate(walk.format.columns)
        if column.column.type is SqlType.DECIMAL and not column.raw
        if isinstance(length := walk.length[index], int) and length
    ]
    odd = np.zeros(len(rows), bool)
    for end in ends:
        odd |= walk.buffer[end] & 0x0F == 0x0F
    chosen = np.flatnonzero(odd)
    if not len(chosen):
        return
    start, stop = walk.start[rows[chosen]], walk.end[rows[chosen]]
    data, offsets = codecs.gather_varying(walk.buffer, start, stop - start)
    for end in ends:
        place = end[chosen] - start + offsets[:-1]
        signs = data[place]
        data[place] = np.where(signs & 0x0F == 0x0F, signs - 3, signs)
    hashes[chosen] = hash_ranges(data, offsets[:-1], offsets[1:])


def spelled_anew(walks: Mapping[str, Walk], columns: int, rows: Index, alike: Mask) -> Mask:
    """Which updates write a value in other bytes (a packed decimal with another sign that is plus,
    too), among those whose values are ``alike`` (both and the result ``bool[m]``): their statements
    are written as any others. ``rows``: which of the images of the two walks, with so many
    ``columns``."""
    if not alike.any():
        return alike
    before, after = walks["before"], walks["after"]
    differs = np.zeros(len(rows), bool)
    for index in range(columns):
        differs |= ~before.equal(after, index)[rows]
    return alike & differs


def lacking_values(walk: Walk, columns: int, count: int) -> Mask:
    """Which of the ``count`` images of a walk, with so many ``columns``, lack a value."""
    missing = np.zeros(count, bool)
    if not isinstance(walk, PartialWalk):
        return missing
    for index in range(columns):
        absent = walk.absent(index)
        if absent is not None:
            missing |= absent
    return missing


def _any_null(walk: Walk, version: TableVersion, rows: Index) -> Mask:
    missing = np.zeros(len(rows), bool)
    telling = walk if isinstance(walk, NullTelling) else None
    for index in range(len(version.format.columns)):
        if telling is not None:
            null = telling.nulls(index)
            if null is not None:
                missing |= null[rows]
        elif version.format.columns[index].nullable:
            missing |= np.asarray(walk.decode(index, rows)[0].is_null())
    return missing


def _of_values(walk: Walk, version: TableVersion, rows: Index) -> Hashes:
    hashes = np.zeros(len(rows), np.uint64)
    for index, column in enumerate(version.format.columns):
        values, _ = walk.decode(index, rows)
        kind = SqlType.VARBINARY if column.column.type in TEXT else column.column.type
        hashes = mixed(hashes) ^ hash_values(values, kind, 0)
    return mixed(hashes)


# -- keys that old rows do not tell
# -------------------------------------------------------------------------------------------------

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
