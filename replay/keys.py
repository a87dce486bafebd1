"""Keys: which rows and key values a change touches, as narrow records of fixed width that can be shuffled and sorted.

A *key space* is one key of one table: its row identity (primary key, else a unique key, else the whole row image), a further unique key,
or the table as a whole. A *touch* says what a change did to one key of a space. Keys are 96-bit hashes of the values, the same whatever the
row layout of a table's generation: blanks at the end of text and zeros at the end of a fraction do not count, as in Db2's comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.catalog import Catalog
from replay.changes import ROW_CHANGES, WHOLE_TABLE, Change, distinct, opaque, take_records
from replay.codecs import gather_padded
from replay.logs import Images, LogFile, Walk
from sqlgen.constraints import Constraints
from sqlgen.schema import SqlType

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]


class Role(IntEnum):
    """What a change did to a key. REFER and RELEASE are what a row of a child table does to its parent's key; EVENT is a truncate, mass
    delete or exchange of the whole table, MEMBER any other change of a table that has events."""

    CREATE = 1
    CHANGE = 2
    DESTROY = 3
    REFER = 4
    RELEASE = 5
    EVENT = 6
    MEMBER = 7


WRITES = (Role.CREATE, Role.CHANGE, Role.DESTROY)

#: One touch. ``key`` and ``check`` are the hash, ``space`` the key space. The fields of :data:`replay.changes.RECORD` that order and place the
#: change follow. ``before`` and ``after`` are hashes of the row images (0: the row did not exist), equal only for images of one ``version``
#: (-1: not comparable). ``change`` numbers the change in the batch it was taken from.
TOUCH = np.dtype(
    [
        ("key", "<u8"),
        ("check", "<u4"),
        ("space", "<u2"),
        ("role", "u1"),
        ("commit", "V10"),
        ("unit", "V12"),
        ("position", "V10"),
        ("version", "<i4"),
        ("before", "<u8"),
        ("after", "<u8"),
        ("change", "<i8"),
    ]
)


@dataclass(frozen=True)
class KeySpace:
    """One key of one table (``OWNER.NAME``). ``kind`` is ``row``, ``unique``, ``image`` (no key: the whole row) or ``table``."""

    number: int
    table: str
    columns: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class _Use:
    """How rows of a table version touch a space: as the ``row`` itself, as a further ``unique`` key, or as a ``child`` that refers to it."""

    space: int
    columns: tuple[str, ...]
    how: str


class KeySpaces:
    """The key spaces of a log's tables and what each table version has to do with them. Cheap to pickle. ``masked``: columns (OWNER.NAME.COLUMN)
    whose values are not to be told."""

    def __init__(self, catalog: Catalog, constraints: Constraints | None = None, masked: frozenset[str] = frozenset()) -> None:
        self.masked = masked
        self.constraints = constraints or Constraints()
        self.spaces: list[KeySpace] = []
        self._known: dict[tuple[str, tuple[str, ...], str], int] = {}
        self.uses: list[tuple[_Use, ...]] = []
        self.table_space: list[int] = []
        for version in catalog.versions:
            name, columns = version.name.upper(), {column.name for column in version.table.columns}
            self.table_space.append(self._space(name, (), "table"))
            self.uses.append(tuple(self._uses(name, version.table.key, columns, catalog)))

    def _space(self, table: str, columns: tuple[str, ...], kind: str) -> int:
        key = (table, tuple(sorted(columns)), "table" if kind == "table" else "image" if kind == "image" else "key")
        if key not in self._known:
            self._known[key] = len(self.spaces)
            self.spaces.append(KeySpace(len(self.spaces), table, columns, kind))
        return self._known[key]

    def _uses(self, table: str, key: tuple[str, ...], columns: set[str], catalog: Catalog) -> Iterator[_Use]:
        unique = [entry for entry in self.constraints.keys_of(table) if set(entry) <= columns]
        row = key or (unique[0] if unique else ())
        yield _Use(self._space(table, row, "row" if row else "image"), row, "row")
        for entry in unique:
            if set(entry) != set(row):
                yield _Use(self._space(table, entry, "unique"), entry, "unique")
        for foreign in self.constraints.foreign_keys_of(table):
            parents = [version for version in catalog.versions if version.name.upper() == foreign.parent]
            if parents and set(foreign.columns) <= columns:
                target = foreign.parent_columns or parents[-1].table.key
                if len(target) == len(foreign.columns):
                    ordered = tuple(sorted(zip(target, foreign.columns, strict=True)))
                    space = self._space(foreign.parent, tuple(column for column, _ in ordered), "unique")
                    yield _Use(space, tuple(column for _, column in ordered), "child")

    def row_space(self, version: int) -> KeySpace:
        """The space of a table version's row identity."""
        return self.spaces[self.uses[version][0].space]


# -- hashing -------------------------------------------------------------------------------------------------------------------------------

_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SEEDS = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
_NULL = np.uint64(0xA4093822299F31D0)


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of splitmix64: a bijection that spreads every input bit over the word."""
    values = values + _MIX[0]
    values = (values ^ (values >> np.uint64(30))) * _MIX[1]
    values = (values ^ (values >> np.uint64(27))) * _MIX[2]
    return np.asarray(values ^ (values >> np.uint64(31)))


def hash_ranges(buffer: Bytes, start: Index, end: Index, seed: int = 0) -> Hashes:
    """A 64-bit hash of each byte range: the sum of its mixed 8-byte words (the last may overlap the one before) and of its length."""
    length = end - start
    result = _mixed(length.astype(np.uint64) ^ _SEEDS[seed])
    long = np.flatnonzero(length >= 8)
    short = np.flatnonzero(length < 8)
    if len(short):
        words = gather_padded(buffer, start[short], length[short], 8).view(np.uint64).reshape(-1)
        result[short] += _mixed(words ^ _SEEDS[seed])
    if len(long):
        count = (length[long] + 7) >> 3
        first = np.cumsum(count) - count
        place = np.arange(int(count.sum())) - np.repeat(first, count)
        at = np.repeat(start[long], count) + np.minimum(place << 3, np.repeat(length[long] - 8, count))
        windows: Hashes = np.ndarray((len(buffer) - 7,), np.uint64, buffer, 0, (1,))
        words = _mixed(windows[at] ^ _mixed(place.astype(np.uint64) ^ _SEEDS[seed]))
        result[long] += np.add.reduceat(words, first)
    return _mixed(result)


def hash_values(values: pa.Array, kind: SqlType, seed: int = 0) -> Hashes:
    """A hash of each value of a column (value contract: :mod:`sqlgen.schema`) that is the same for values Db2 compares as equal."""
    if pa.types.is_integer(values.type):
        numbers = np.asarray(values.fill_null(0)).astype(np.int64).view(np.uint64)
        hashes = _mixed(numbers ^ _SEEDS[seed])
    elif pa.types.is_floating(values.type):
        numbers = (np.asarray(values.fill_null(0)).astype(np.float64) + 0.0).view(np.uint64)
        hashes = _mixed(numbers ^ _SEEDS[seed])
    else:
        hashes = _hash_text(values, kind, seed)
    if values.null_count:
        hashes = np.where(np.asarray(values.is_null()), _NULL, hashes)
    return hashes


def _hash_text(values: pa.Array, kind: SqlType, seed: int) -> Hashes:
    if kind in (SqlType.CHAR, SqlType.VARCHAR):
        values = pc.utf8_rtrim(values, " ")
    elif kind in (SqlType.DECIMAL, SqlType.TIMESTAMP):
        fraction = pc.match_substring(values, ".")
        values = pc.if_else(fraction, pc.utf8_rtrim(pc.utf8_rtrim(values, "0"), "."), values)
    wide = values.cast(pa.large_binary())
    offsets = np.frombuffer(wide.buffers()[1], np.int64)[wide.offset : wide.offset + len(wide) + 1]
    data = np.frombuffer(wide.buffers()[2] or b"", np.uint8)
    return hash_ranges(data, offsets[:-1], offsets[1:], seed)


# -- touches -------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """Changes to take touches from: ``records`` (dtype :data:`replay.changes.RECORD`, segments of a change side by side) and per change the row of
    its first record, its number of segments, what it is (:class:`Change`) and its table version."""

    records: npt.NDArray[np.void]
    head: Index
    weight: Index
    change: Bytes
    version: npt.NDArray[np.int32]


class Toucher:
    """Takes touches from batches. ``evented`` are the table spaces that have events; ``unreadable`` counts changes whose keys cannot be read."""

    def __init__(self, log: LogFile, spaces: KeySpaces, evented: frozenset[int] = frozenset()) -> None:
        self.log, self.spaces, self.evented = log, spaces, evented
        self.unreadable = 0

    def touches(self, batch: Batch) -> npt.NDArray[np.void]:
        """All touches of a batch (dtype :data:`TOUCH`), in no order; ``change`` is the place of the change in the batch."""
        parts: list[npt.NDArray[np.void]] = []
        group = batch.version.astype(np.int64) * 16 + batch.change
        for value in distinct(group[batch.version >= 0]):
            rows = np.flatnonzero(group == value)
            kind, version = Change(int(value) % 16), int(value) // 16
            if kind in ROW_CHANGES:
                for part, images in self.log.images(batch.records, batch.head[rows], batch.weight[rows], kind):
                    parts.extend(self._of_rows(batch, rows[part], images, version, kind))
            space = self.spaces.table_space[version]
            if kind in WHOLE_TABLE or space in self.evented:
                role = Role.EVENT if kind in WHOLE_TABLE else Role.MEMBER
                parts.append(_whole_table(batch, rows, space, role))
        return _joined(parts)

    def changed_columns(self, batch: Batch) -> dict[int, int]:
        """For each update of a batch, by its place: a bit mask of the columns (by their place in the row format) it changed."""
        masks: dict[int, int] = {}
        updates = batch.change == Change.UPDATE
        for version in distinct(batch.version[updates]).tolist():
            rows = np.flatnonzero(updates & (batch.version == version))
            for part, images in self.log.images(batch.records, batch.head[rows], batch.weight[rows], Change.UPDATE):
                before, after = self._walks(images, version).values()
                columns = len(self.log.catalog.versions[version].format.columns)
                differs = np.stack([~before.equal(after, index) for index in range(columns)], axis=1)
                for row, columns_changed in zip(rows[part].tolist(), differs, strict=True):
                    masks[row] = sum(1 << index for index in np.flatnonzero(columns_changed).tolist())
        return masks

    def values_of(self, batch: Batch, change: int, side: str, columns: Sequence[str]) -> list[str]:
        """Some values of one change's ``before`` or ``after`` image as text."""
        row, version = np.array([change]), int(batch.version[change])
        kind = Change(int(batch.change[change]))
        _, images = next(self.log.images(batch.records, batch.head[row], batch.weight[row], kind))
        walk = self._walks(images, version)[side]
        table = self.log.catalog.versions[version]
        return [str(walk.decode(table.index_of(name))[0][0].as_py()) for name in columns]

    def _walks(self, images: Images, version: int) -> dict[str, Walk]:
        bad = images.bad
        walks = {}
        for name, bounds in (("before", images.before), ("after", images.after)):
            if bounds is not None:
                start, end = (np.where(bad, 0, edge) for edge in bounds)
                walks[name] = self.log.walk(version, images.buffer, start, end)
        return walks

    def _of_rows(self, batch: Batch, rows: Index, images: Images, version: int, kind: Change) -> Iterator[npt.NDArray[np.void]]:
        sides = {name: bounds for name, bounds in (("before", images.before), ("after", images.after)) if bounds is not None}
        walks = self._walks(images, version)
        bad = images.bad.copy()
        for walk in walks.values():
            bad |= walk.bad
        good = np.flatnonzero(~bad)
        self.unreadable += len(bad) - len(good)
        if not len(good):
            return
        whole = {name: hash_ranges(images.buffer, start[good], end[good]) for name, (start, end) in sides.items()}
        comparable = not any(column.lob for column in self.log.catalog.versions[version].format.columns)
        base = _touches(batch, rows[good])
        base["version"] = version if comparable else -1
        for use in self.spaces.uses[version]:
            keys = {name: self._keys(walks[name], use, version, good, whole[name]) for name in sides}
            yield from _touches_of_use(base, use, kind, keys, whole)

    def _keys(self, walk: Walk, use: _Use, version: int, rows: Index, whole: Hashes) -> tuple[Hashes, npt.NDArray[np.uint32], Mask]:
        """(key, check, present) of the rows; a key with a null is no key."""
        if not use.columns:
            return _mixed(whole), (whole >> np.uint64(32)).astype(np.uint32), np.ones(len(rows), bool)
        key, check = np.full(len(rows), use.space, np.uint64), np.zeros(len(rows), np.uint64)
        present = np.ones(len(rows), bool)
        table = self.log.catalog.versions[version]
        for name in use.columns if use.how == "child" else sorted(use.columns):
            values, bad = walk.decode(table.index_of(name), rows)
            if bad is not None:
                self.unreadable += int((present & bad).sum())
                present &= ~bad
            if use.how != "row" and values.null_count:
                present &= ~np.asarray(values.is_null())
            kind = table.table.column(name).type
            key = _mixed(key) ^ hash_values(values, kind, 0)
            check = _mixed(check) ^ hash_values(values, kind, 1)
        return _mixed(key), (check >> np.uint64(32)).astype(np.uint32), present


def _touches(batch: Batch, rows: Index) -> npt.NDArray[np.void]:
    records = take_records(batch.records, batch.head[rows])
    found = np.zeros(len(rows) * TOUCH.itemsize, np.uint8).view(TOUCH)
    for name in ("commit", "unit", "position"):
        found[name] = records[name]
    found["change"] = rows
    found["version"] = -1
    return found


def _whole_table(batch: Batch, rows: Index, space: int, role: Role) -> npt.NDArray[np.void]:
    found = _touches(batch, rows)
    found["space"], found["role"] = space, role
    if role is Role.MEMBER:
        _, first = np.unique(opaque(np.ascontiguousarray(found["unit"]).view(np.uint8).reshape(-1, 12)), return_index=True)
        found = _taken(found, first.astype(np.int64))
    return found


Keys = tuple[Hashes, npt.NDArray[np.uint32], Mask]


def _touches_of_use(
    base: npt.NDArray[np.void], use: _Use, kind: Change, keys: dict[str, Keys], whole: dict[str, Hashes]
) -> Iterator[npt.NDArray[np.void]]:
    gone, come = (Role.RELEASE, Role.REFER) if use.how == "child" else (Role.DESTROY, Role.CREATE)

    def made(side: str, role: Role, rows: Mask, before: bool, after: bool) -> npt.NDArray[np.void]:
        chosen = np.flatnonzero(rows & keys[side][2])
        found = _taken(base, chosen)
        found["key"], found["check"] = keys[side][0][chosen], keys[side][1][chosen]
        found["space"], found["role"] = use.space, role
        found["before"] = whole["before"][chosen] if before else 0
        found["after"] = whole["after"][chosen] if after else 0
        return found

    every = np.ones(len(base), bool)
    if kind is Change.INSERT:
        yield made("after", come, every, False, True)
    elif kind is Change.DELETE:
        yield made("before", gone, every, True, False)
    else:
        (key, check, there), (new_key, new_check, new_there) = keys["before"], keys["after"]
        moved = (key != new_key) | (check != new_check) | (there != new_there)
        if use.how == "row":
            yield made("before", Role.CHANGE, ~moved, True, True)
        yield made("before", gone, moved, True, False)
        yield made("after", come, moved, False, True)


def _taken(touches: npt.NDArray[np.void], rows: Index) -> npt.NDArray[np.void]:
    return np.ascontiguousarray(touches).view(f"V{TOUCH.itemsize}")[rows].view(TOUCH)


def _joined(parts: Sequence[npt.NDArray[np.void]]) -> npt.NDArray[np.void]:
    return np.frombuffer(b"".join(part.tobytes() for part in parts), TOUCH)


def unit_hash(units: Bytes) -> Hashes:
    """A 64-bit hash of each unit (``uint8[n, 12]``)."""
    start = np.arange(len(units), dtype=np.int64) * 12
    return hash_ranges(np.ascontiguousarray(units).reshape(-1), start, start + 12)


def octets(column: npt.NDArray[np.void]) -> Bytes:
    """An opaque column as ``uint8[n, width]``."""
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.dtype.itemsize)


def unit_hashes(units: Iterable[bytes]) -> Hashes:
    """The hashes of some units, sorted."""
    joined = b"".join(units)
    return np.sort(unit_hash(np.frombuffer(joined, np.uint8).reshape(-1, 12)))
