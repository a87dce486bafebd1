"""What logs have in common whose family indexes them when they are opened: one entry a record and
one entry a unit of recovery, in arrays that lie in files, so that engines map them instead of
carrying them.

Entries and units are structured rows of dtypes that each family defines. Of an entry everybody
needs ``file``, ``unit`` (its place among the units, -1: none), ``change``, ``version``, ``fault``
(0: none), ``segment`` and ``segments``; of a unit ``commit``, ``unit``, ``start`` and
``disposition``.
"""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records, Versions
from replay.changes.catalog import Catalog, RowFormat, TableVersion
from replay.changes.envelope import Change
from replay.changes.position import UNIT_POSITION, Position, UnitId
from replay.decoding.hashes import hash_rows
from replay.decoding.image_layouts import PlainRows
from replay.errors import Finding, UsageError, some_of
from replay.logs import Images, Split, Walk
from replay.logs.files import FileState, here
from replay.logs.indexed_envelope import IndexedEnvelope
from replay.logs.words import said_of
from replay.spill import file_of, windows
from sqlgen.schema import Constraints, Table

if TYPE_CHECKING:
    from sqlgen.structure import StructureChange

#: Bytes of a transaction id, which may be used again.
_TRANSACTION = 6

#: An array, or the path of the file it was saved to.
SavedArray = str | npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class IndexedFile:
    """A file of the log: its name as the user gave it, its first entry, and how many it has."""

    name: str
    first: int
    count: int


@dataclass(kw_only=True)
class IndexedLog(ABC):
    """The part of :class:`replay.logs.LogFile` that entries answer. ``arrays`` are entries, units,
    and what else a family keeps; ``changes`` of structure by (file, place in it).
    ``opening_warnings`` are those that need no table."""

    #: The form of its envelopes, and the field of an entry that says where in its file it is.
    ENVELOPE_CLASS: ClassVar[type[IndexedEnvelope]]
    PLACE_IN_FILE: ClassVar[str]

    files: Sequence[IndexedFile]
    catalog: Catalog
    catalog_files: Sequence[str]
    arrays: Sequence[SavedArray]
    changes: Mapping[tuple[int, int], StructureChange]
    source: str
    opening_warnings: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    dependent_position: Position | None = field(default=None, init=False)
    as_found: Mapping[str, FileState] = field(default_factory=dict)

    def array(self, number: int) -> npt.NDArray[Any]:
        """One of ``arrays``, mapped."""
        saved = self.arrays[number]
        return _mapped(here(saved)) if isinstance(saved, str) else saved

    def made_files(self) -> list[str]:
        """The files of the index."""
        return [saved for saved in self.arrays if isinstance(saved, str)]

    def entries(self) -> Records:
        """All entries, in the order of the log."""
        return self.array(0)

    def units(self) -> Records:
        """All units of recovery."""
        return self.array(1)

    @abstractmethod
    def find(self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Index:
        """The entries (``int64[n]``) of records by file (one for all, or ``[n]``) and offset."""

    @abstractmethod
    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record."""

    @abstractmethod
    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """The row images of changes whose first records are ``records[heads]``."""

    @abstractmethod
    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> Walk:
        """Where the columns of images of a table version lie."""

    @property
    def has_offsets(self) -> bool:
        """False: records are rows of an export."""
        return False

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        return list(self.opening_warnings)

    def arrived_logs(self) -> Sequence[tuple[str, Sequence[int]]]:
        """Each file by its own name: as :class:`replay.logs.MadeOfLogs`."""
        return [(file.name, (number,)) for number, file in enumerate(self.files)]

    def data_places(self, files: Sequence[int]) -> Sequence[str]:
        """None but the file itself: as :class:`replay.logs.MadeOfLogs`."""
        return ()

    #: As :class:`replay.logs.MadeOfLogs`.
    stated_end: ClassVar[Position | None] = None
    final_position: ClassVar[Position | None] = None

    def record_places(self, envelope: IndexedEnvelope) -> None:
        """Units whose beginning is not there are marked: as :class:`replay.logs.MadeOfLogs`."""
        return

    def owing_logs(self) -> None:
        """A file is read with all of those before it: as :class:`replay.logs.MadeOfLogs`."""
        return

    # as :class:`replay.logs.ListsUnits`

    @property
    def positions_are_places(self) -> bool:
        """Of most families they are not."""
        return False

    @property
    def rest_of(self) -> Position | None:
        """None is known."""
        return None

    numbers_units: ClassVar[bool] = False
    whole_units: ClassVar[bool] = False

    @property
    def has_structure(self) -> bool:
        """Whether the log has such changes."""
        return bool(self.changes)

    @property
    def begins(self) -> Position | None:
        """None: the log does not say it."""
        return None

    @property
    def ends(self) -> Position | None:
        """None: the log does not say it."""
        return None

    def inputs(self) -> list[str]:
        """The files the user named, those of the catalog first."""
        return [*self.catalog_files, *(file.name for file in self.files)]

    def in_words(self, reason: str) -> str:
        """A reason without the names of Log Master's fields."""
        return said_of(self.source, reason)

    def placed_unit(self, unit: bytes) -> bytes:
        """A transaction id of 6 bytes in its 10-byte form. UsageError (LR1001) where it stands for
        several units of the log, with the names of these."""
        if len(unit) == _TRANSACTION:
            units = np.ascontiguousarray(self.units()["unit"]).view(np.uint8)
            ids = units.reshape(-1, UnitId.SIZE)[:, : Position.SIZE]
            same = (ids[:, -_TRANSACTION:] == np.frombuffer(unit, np.uint8)).all(axis=1)
            names = sorted({row.tobytes().hex().upper() for row in ids[same]})
            if len(names) > 1:
                raise UsageError(
                    "LR1001",
                    f"found {unit.hex().upper()}, a transaction id that {len(names):,} units of"
                    f" recovery have: {some_of(names, len(names))}; expected one of these",
                )
        return unit.rjust(Position.SIZE, b"\0")

    def envelope(
        self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]
    ) -> IndexedEnvelope:
        """What the index says of records."""
        return self.ENVELOPE_CLASS(self.entries()[self.find(files, offsets)], self.units())

    def classify(self, envelope: IndexedEnvelope) -> tuple[Bytes, Versions]:
        """(change, index of the table version) of each record; -1 for an unknown table."""
        return np.array(envelope.rows["change"]), np.array(envelope.rows["version"])

    def check(
        self,
        envelope: IndexedEnvelope,
        lengths: npt.NDArray[Any],
        change: Bytes,
        version: Versions,
    ) -> Mask:
        """Records that damage their unit of recovery."""
        return np.asarray(envelope.rows["fault"] > 0)

    def names_its_unit(self, envelope: IndexedEnvelope, lengths: npt.NDArray[Any]) -> Mask:
        """True: what does not name its unit ended the opening of the log."""
        return np.ones(len(envelope), bool)

    def commit_keys(self, envelope: IndexedEnvelope) -> Records:
        """The unit itself: units of one commit position are one unit here."""
        keys = np.concatenate([envelope.commit(), envelope.unit()], axis=1)
        return np.ascontiguousarray(keys).view(UNIT_POSITION).reshape(-1)

    def change_hashes(self, envelope: IndexedEnvelope) -> Hashes:
        """Of each record another one: here records have places of their own."""
        rows = envelope.rows
        places = np.stack([rows["file"], rows[self.PLACE_IN_FILE]], axis=1).astype(np.int64)
        return hash_rows(places.view(np.uint8))

    #: As in :class:`replay.logs.RecordSource`.
    ids_part = False

    def row_ids(self, envelope: IndexedEnvelope) -> Hashes:
        """Zeros: an index does not keep them."""
        return np.zeros(len(envelope), np.uint64)

    def new_values(self, envelope: IndexedEnvelope) -> Mask:
        """None: an update is of one row."""
        return np.zeros(len(envelope), bool)

    def whole_table(self, envelope: IndexedEnvelope, lengths: npt.NDArray[Any]) -> Mask:
        """True: TRUNCATE and IMPORT REPLACE empty whole tables."""
        return np.ones(len(envelope), bool)

    def clones(self, file: Index, offset: Index, length: Lengths) -> Iterator[str | None]:
        """None of each: such logs have no exchanges."""
        return repeat(None, len(offset))

    def structure(self, records: Records) -> Sequence[StructureChange]:
        """What the records say of a table's structure."""
        return [self.changes[int(record["file"]), int(record["offset"])] for record in records]

    def plain_rows(self, version: int) -> PlainRows | None:
        """None: machine code takes images of Log Master."""
        return None

    def addresses(self, envelope: IndexedEnvelope) -> Bytes:
        """Where the log says that each record is, ``uint8[n, size]``."""
        return envelope.log_position()


def version_named(
    index: int,
    table: Table,
    fmt: RowFormat,
    *,
    space: int = 0,
    number: int = 0,
    sequence: int = 1,
    unlogged: int = 0,
) -> TableVersion:
    """A version of a table, by its number in its table ``space``: as its family knows none by
    positions, none is told."""
    nowhere = bytes(Position.SIZE)
    return TableVersion(
        index, table, 0, space, number, sequence, 0, nowhere, nowhere, fmt,
        unlogged=unlogged,
    )  # fmt: skip


#: (start, end) of images, ``int64[n]`` each; None where a kind of change has no such image.
Side = tuple[Index, Index] | None


def image_sides(entries: Records, kind: Change) -> tuple[Side, Side, Mask]:
    """Where the before and the after images of changes of one ``kind`` lie, by their entries
    (fields ``before``, ``before_size``, ``after``, ``after_size``), and which changes lack one."""
    sides: list[Side] = []
    for side, without in (("before", Change.INSERT), ("after", Change.DELETE)):
        start = entries[side].astype(np.int64)
        sides.append(None if kind is without else (start, start + entries[f"{side}_size"]))
    lacking = np.any([side[0] < 0 for side in sides if side is not None], axis=0)
    return sides[0], sides[1], lacking


class RowLog(IndexedLog):
    """An indexed log whose records are rows of text files: the ``offset`` of a record is the number
    of its row in its file, from 0, and entries have the ``size`` of its data. Images lie in the
    third of its arrays."""

    #: Bytes of a row beside its data, for ranges of even size, and what to do where an image is
    #: not there.
    BESIDE_DATA: ClassVar[int]
    MAKE_AGAIN: ClassVar[str]

    def find(self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Index:
        """The entries of rows by file and number in it."""
        first = np.array([file.first for file in self.files], np.int64)
        return np.asarray(first[files] + offsets.astype(np.int64))

    def ranges(self, split_bytes: int) -> Iterator[Split]:
        """Ranges of rows that hold about ``split_bytes`` of data."""
        for number, file in enumerate(self.files):
            size = self.entries()["size"][file.first : file.first + file.count]
            for start, stop in _ranges(size, self.BESIDE_DATA, split_bytes):
                yield Split(number, start, stop, start + 1)

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Index, Lengths]]:
        """The same, each with the place of its rows."""
        for split in self.ranges(split_bytes):
            for _, offsets, sizes in self.records(split, split.stop - split.start):
                yield split, offsets, sizes

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Index, Lengths]]:
        """(number of the first row, offsets, lengths) of a split, ``batch`` rows at a time."""
        first = self.files[split.file].first
        for start in range(split.start, split.stop, batch):
            stop = min(start + batch, split.stop)
            size = np.array(self.entries()["size"][first + start : first + stop])
            yield start + 1, np.arange(start, stop), size

    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """Row images of the changes whose first records are ``records[heads]``."""
        entries = self.entries()[self.find(records["file"][heads], records["offset"][heads])]
        before, after, bad = image_sides(entries, kind)
        lacking = "no row image", "one", self.MAKE_AGAIN
        yield np.arange(len(heads)), Images(self.array(2), before, after, bad, lambda _: lacking)


def _ranges(size: Lengths, beside: int, wanted: int) -> Iterator[tuple[int, int]]:
    """Ranges (start, stop) of rows of some sizes, and ``beside`` bytes each, that are up to
    ``wanted`` bytes together, or one row."""
    start = before = total = 0
    for part in windows(len(size)):
        reached = total + np.cumsum(size[part].astype(np.int64) + beside)
        while (at := int(np.searchsorted(reached, before + wanted))) < len(reached):
            stop = max(part.start + at, start + 1)
            yield start, stop
            start, before = (
                stop,
                total if stop == part.start else int(reached[stop - 1 - part.start]),
            )
        total = int(reached[-1])
    if start < len(size):
        yield start, len(size)


@lru_cache(maxsize=64)
def _mapped(path: str) -> npt.NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))


def save(arrays: Sequence[SavedArray], folder: str | None) -> list[SavedArray]:
    """Put arrays into files of a new folder in ``folder``, and give their paths; without a folder,
    the arrays themselves. Those that are in files stay there."""
    if folder is None:
        return list(arrays)
    place = Path(tempfile.mkdtemp(prefix="index-", dir=folder))
    saved = list(arrays)
    for number, array in enumerate(arrays):
        if not isinstance(array, str):
            saved[number] = str(place / f"{number}.npy")
            if (name := file_of(array)) is not None:
                os.rename(name, place / f"{number}.npy")
            else:
                np.save(place / f"{number}.npy", array)
    return saved
