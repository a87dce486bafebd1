"""An open Db2 LUW log: log files and catalog export together. Implements
:class:`replay.logs.LogFile` on the index (:mod:`index`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.choices import Gaps
from replay.changes.envelope import Change
from replay.changes.position import FIRST_UNIT, Position, UnitId
from replay.decoding import codecs
from replay.decoding.hashes import mixed
from replay.errors import Finding, InputError, UsageError, Where
from replay.logs import Images, Inputs, Split, checked_position
from replay.logs.db2luw import framing, repeats, rows, scan
from replay.logs.db2luw.framing import LuwShape, OpenedFile
from replay.logs.db2luw.index import build_index
from replay.logs.db2luw.index_entries import FAULTS, ONE_PARTITION, LuwEntries
from replay.logs.db2luw.layouts import DIALECTS
from replay.logs.db2luw.tables import read_export
from replay.logs.files import (
    FilesOfBytes,
    mapped,
    size_of,
    unpacked_together,
)
from replay.logs.indexed_envelope import IndexedEnvelope
from replay.logs.indexed_log import IndexedFile, IndexedLog, image_sides, save
from replay.spill import windows

_HEAD = 4 << 20
_AGAIN = "Collect the log again"
#: What is said of records that do not count, in the words of all families and in ours.
_REPEATED = "repeated by another read session"
_IN_ANOTHER_FILE = "in another file of the log too"
#: Names of code pages as the ``codepage`` option takes them, beside numbers.
_CODE_PAGES = {"utf-8": 1208, "utf8": 1208}


@dataclass(frozen=True, kw_only=True)
class LuwFile(IndexedFile):
    """A log file: ``path`` is where its (unpacked) bytes are, ``tail`` where an incomplete record
    begins."""

    path: str
    shape: LuwShape
    tail: int | None


@dataclass(kw_only=True)
class LuwLog(FilesOfBytes, IndexedLog):
    """A log of Db2 for Linux, UNIX and Windows. Cheap to pickle: files and index are mapped where
    they are read. ``source`` is the database as the user named it: the log does not. ``by_column``:
    tables whose rows are not in the log."""

    ENVELOPE_CLASS: ClassVar[type[LuwEntries]] = LuwEntries
    PLACE_IN_FILE: ClassVar[str] = "offset"
    numbers_units = True

    files: Sequence[LuwFile]
    ordered_by_lsn: bool
    by_column: frozenset[str] = frozenset()

    @property
    def positions_are_places(self) -> bool:
        """Whether they are not of the log's own."""
        return not self.ordered_by_lsn

    @property
    def position_kind(self) -> str:
        """LSN, or place in the files."""
        return "LSN" if self.ordered_by_lsn else "place in the files"

    @property
    def has_offsets(self) -> bool:
        """True: records lie in files of bytes."""
        return True

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        texts = super().warnings(taken)
        unlogged = sorted(self.by_column & {version.name for version in taken})
        if unlogged:
            texts.append(
                f"{', '.join(unlogged)}: organized by column (TABLEORG C); Db2 does not write such"
                " rows to the log, so their changes are missing here"
            )
        changed = self._changed_tables()
        for version in taken:
            if version.name not in changed:
                continue
            raw = [
                f"{entry.column.name} ({entry.code})"
                for entry in version.format.columns
                if entry.raw and not entry.lob
            ]
            if raw:
                texts.append(
                    f"{version.name}: columns of an unknown type are written as hexadecimal bytes:"
                    f" {', '.join(raw)}"
                )
        return texts

    def _changed_tables(self) -> set[str]:
        held, numbers = self.entries()["version"], set[int]()
        for part in windows(len(held)):
            numbers.update(np.unique(held[part]).tolist())
        return {self.catalog.versions[number].name for number in numbers if number >= 0}

    def in_words(self, reason: str) -> str:
        """A reason without the names of Log Master's fields."""
        return _IN_ANOTHER_FILE if reason == _REPEATED else super().in_words(reason)

    def placed(self, position: bytes, last: bool) -> Position:
        """An LSN of 6 or 8 bytes as the 10 of commit positions, which count the records that share
        an LSN in the last two. UsageError for other lengths."""
        if len(position) == Position.SIZE:
            return Position(position)
        octets = position.rjust(8, b"\0") + (b"\xff\xff" if last else b"\0\0")
        return checked_position(octets, position)

    # -- index
    # ---------------------------------------------------------------------------------------------

    def made_files(self) -> list[str]:
        """The files of the index, and what was unpacked."""
        return [*super().made_files(), *self.unpacked_files()]

    def find(self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Index:
        """The entries of records by file and offset."""
        if isinstance(files, int):
            return self._numbers(files, offsets)
        places = np.zeros(len(files), np.int64)
        for number in np.unique(files).tolist():
            here = np.flatnonzero(files == number)
            places[here] = self._numbers(number, np.ascontiguousarray(offsets[here]))
        return places

    def _numbers(self, file: int, offsets: Index) -> Index:
        """The entries of records of a file, by their offsets."""
        return np.searchsorted(self._offsets(file), offsets) + self.files[file].first

    def _offsets(self, file: int) -> Index:
        """Where the records of a file begin: an array of its own, for NumPy copies a field of
        structured rows whenever it looks for something in it."""
        entry = self.files[file]
        return self.array(2)[entry.first : entry.first + entry.count]

    # -- records
    # ---------------------------------------------------------------------------------------------

    def ranges(self, split_bytes: int) -> Iterator[Split]:
        """Byte ranges of about ``split_bytes`` that begin at records."""
        for number, file in enumerate(self.files):
            offsets, start = self._offsets(number), 0
            while start < file.count:
                stop = int(np.searchsorted(offsets, offsets[start] + split_bytes))
                stop = max(stop, start + 1)
                end = int(offsets[stop]) if stop < file.count else self.size(number)
                yield Split(number, int(offsets[start]), end, start + 1)
                start = stop

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Index, Lengths]]:
        """The same, each with the place of its records."""
        for split in self.ranges(split_bytes):
            for _, offsets, lengths in self.records(split, split.stop - split.start):
                yield split, offsets, lengths

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Index, Lengths]]:
        """(number of the first record, offsets, lengths) of a split, ``batch`` records at a
        time."""
        file = self.files[split.file]
        entries = self.entries()[file.first : file.first + file.count]
        bounds = np.searchsorted(self._offsets(split.file), [split.start, split.stop])
        low, high = bounds.tolist()
        for start in range(low, high, batch):
            part = entries[start : min(start + batch, high)]
            yield start + 1, np.array(part["offset"]), np.array(part["length"])

    # -- checks
    # ---------------------------------------------------------------------------------------------

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record."""
        entry = self.entries()[self._numbers(file, np.array([offset]))[0]]
        code, name, found, expected = FAULTS[int(entry["fault"])]
        table = None
        if code == "LR2011":
            found, table = self._unknown_table(entry, found)
        unit = FIRST_UNIT
        if entry["unit"] >= 0:
            unit = UnitId(self.units()["unit"][entry["unit"]].tobytes())
        where = Where(self.files[file].name, number, offset, name, table, str(unit))
        hint = (
            "Export the catalog again"
            if code == "LR2011"
            else "Give all files of the log, from the beginning of the unit of recovery on"
        )
        return Finding(code, where, found, expected, hint)

    def _unknown_table(self, entry: np.void, found: str) -> tuple[str, str]:
        """(what was found, with the ids; what the table is called) of a record of a table whose
        columns are not known."""
        space, table = int(entry["space"]), int(entry["table"])
        names = [
            version.name
            for version in self.catalog.versions
            if (version.psid, version.obid) == (space, table)
        ]
        ids = f"table space {space}, table {table}"
        if not names:
            return f"{found} ({ids})", f"TS{space}.T{table}"
        there = "a table whose description the log changes in a way that cannot be read"
        return f"{there}, or that the record does not belong to ({ids})", names[-1]

    def whole_table(self, envelope: IndexedEnvelope, lengths: npt.NDArray[Any]) -> Mask:
        """Whether the table is emptied, not one of its data partitions."""
        return np.asarray(envelope.rows["problem"] != ONE_PARTITION)

    # -- images
    # ---------------------------------------------------------------------------------------------

    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """Row images of the changes whose first records are ``records[heads]``, by the files they
        lie in."""
        entries = self.entries()[self.find(records["file"][heads], records["offset"][heads])]
        has_before, has_after = kind is not Change.INSERT, kind is not Change.DELETE
        first = entries["before_file" if has_before else "after_file"]
        second = entries["after_file" if has_after else "before_file"]
        for one, other in sorted({*zip(first.tolist(), second.tolist(), strict=True)}):
            chosen = np.flatnonzero((first == one) & (second == other))
            mine = entries[chosen]
            before, after, bad = image_sides(mine, kind)
            if one != other and before is not None and after is not None:
                buffer, before, after = _joined(
                    [self.buffer(one, *before), self.buffer(other, *after)],
                    [before, after],
                    mine["problem"] > 0,
                )
            else:
                wanted = [side for side in (before, after) if side is not None]
                start, stop = (np.concatenate(edge) for edge in zip(*wanted, strict=True))
                buffer = self.buffer(one, start, stop)
            bad |= mine["problem"] > 0
            yield chosen, Images(buffer, before, after, bad, _Reason(mine["problem"]))

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> rows.LuwRowWalk:
        """Where the columns of images of a table version lie."""
        shape = self.files[0].shape
        return rows.walk(
            self.catalog.versions[version].format, buffer, start, end, shape.big, shape.dialect
        )

    # -- what comments and tables say
    # ---------------------------------------------------------------------------------------------

    ids_part, times_in_utc = True, True

    def row_ids(self, envelope: IndexedEnvelope) -> Hashes:
        """RID, with the table space and the object, in each of which pages may be counted anew:
        data partitions of a table are objects of their own. 0 for a row that moves with the
        change: out of its page, or to another partition."""
        octets = np.zeros((len(envelope), 8), np.uint8)
        octets[:, 2:] = np.ascontiguousarray(envelope.rows["rid"]).view(np.uint8).reshape(-1, 6)
        place = envelope.rows["space"].astype(np.uint64) << np.uint64(16)
        place |= envelope.rows["table"].astype(np.uint64)
        ids = mixed(octets.view(">u8").reshape(-1).astype(np.uint64) ^ mixed(place))
        known = (envelope.rows["rid_size"] > 0) & (envelope.rows["segments"] <= 1)
        return np.where(known, ids, np.uint64(0))

    def unit_fields(self, envelope: LuwEntries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        commit = codecs.hex_text(envelope.commit())
        return {
            "TID": _transactions(envelope.unit(), self.units()["unit"]),
            "stream": pa.array(envelope.member()).cast(pa.string()),
            "commit-lsn" if self.ordered_by_lsn else "commit-at": commit,
            "committed": pc.fill_null(pc.utf8_slice_codeunits(time, 0, 19), "unknown"),
            "authid": envelope.names("authid"),
        }

    def trace(self, envelope: LuwEntries) -> pa.Array:
        """``lsn=… record=…`` of each record, for ``--trace``."""
        lsn = codecs.hex_text(envelope.rows["lsn"].astype(">u8").view(np.uint8).reshape(-1, 8))
        number = pa.array(envelope.rows["head"] + 1).cast(pa.string())
        return pc.binary_join_element_wise("lsn=", lsn, " record=", number, "")


def _transactions(units: Bytes, every: Records) -> pa.Array:
    """Transaction ids as ``--ur`` takes them: with their count where several of ``every`` unit
    have one."""
    short = codecs.hex_text(units[:, 4:10])
    held = np.ascontiguousarray(every).view(np.uint8).reshape(len(every), -1)
    counted = held[held[:, :4].any(axis=1), 4:10]
    mine, others = (
        np.ascontiguousarray(ids).view("S6").ravel() for ids in (units[:, 4:10], counted)
    )
    again = np.isin(mine, others)
    return (
        pc.if_else(pa.array(again), codecs.hex_text(units[:, :10]), short) if again.any() else short
    )


class _Reason:
    """Why the images of a change cannot be used."""

    def __init__(self, problem: Bytes) -> None:
        self.problem = np.array(problem)

    def __call__(self, row: int) -> tuple[str, str, str]:
        problem = int(self.problem[row])
        return scan.PROBLEMS[problem] if problem else ("no row image", "one", _AGAIN)


def _joined(
    buffers: list[Bytes], sides: list[tuple[Index, Index]], bad: Mask
) -> tuple[Bytes, tuple[Index, Index], tuple[Index, Index]]:
    """The images of one file, and behind them those of another one: of changes whose two images lie
    in two files (rows that moved where one file ends)."""
    parts: list[Bytes] = []
    places: list[tuple[Index, Index]] = []
    before = 0
    for buffer, (start, stop) in zip(buffers, sides, strict=True):
        none = bad | (start < 0)
        data, offsets = codecs.gather_varying(
            buffer, np.where(none, 0, start), np.where(none, 0, stop - start)
        )
        parts.append(data)
        places.append((np.where(start < 0, -1, offsets[:-1] + before), offsets[1:] + before))
        before += len(data)
    return np.concatenate(parts), places[0], places[1]


# -- opening
# -------------------------------------------------------------------------------------------------


def open_log(inputs: Inputs) -> LuwLog:
    """Open a log and index it. ``inputs.scratch`` is where ``.gz`` files are unpacked and the index
    is kept (in memory without one).

    InputError for files that cannot be read, whose shape cannot be found out, that do not belong
    together or are out of order.
    """
    code_page = _settings(inputs.options)[2]
    set_aside = _sets_aside(inputs.options)
    tables = (
        read_export(inputs.catalog, code_page, inputs.options.get("partitions"))
        if inputs.catalog
        else {}
    )
    paths = unpacked_together(inputs.log, inputs.scratch)
    shapes = zip(inputs.log, paths, _shapes(inputs, paths), strict=True)
    opened = [OpenedFile(*each) for each in shapes]
    places, moved = repeats.in_order(opened)
    index = build_index(
        [opened[place] for place in places],
        tables,
        code_page,
        set_aside=set_aside,
        folder=inputs.scratch,
    )
    read = index.files
    if inputs.gaps is Gaps.REFUSE and index.hole is not None:
        raise InputError(
            "LR2037",
            f"found a gap in the log: {index.hole}; expected none (--gaps refuse)",
            Where(read[0].name),
            "Collect what is missing, or go on without it: --gaps warn",
        )
    files, first = [], 0
    for place, file, count in zip(places, read, index.counts, strict=True):
        files.append(
            LuwFile(
                name=file.name,
                first=first,
                count=count,
                path=paths[place],
                shape=file.shape,
                tail=file.tail,
            )
        )
        first += count
    database = inputs.options.get("database")
    return LuwLog(
        files=files,
        catalog=Catalog(tuple(index.timeline.versions)),
        catalog_files=[inputs.catalog] if inputs.catalog else [],
        arrays=save((index.entries, index.units, index.offsets), inputs.scratch),
        changes=dict(index.structure),
        ordered_by_lsn=index.ordered_by_lsn,
        source=f"db2luw:{database}" if database else "db2luw",
        opening_warnings=(*moved, *index.warnings),
        by_column=frozenset(
            f"{entry.table.schema}.{entry.table.name}"
            for entry in tables.values()
            if entry.by_column
        ),
    )


def _shapes(inputs: Inputs, paths: Sequence[str]) -> Iterator[LuwShape]:
    """The shape of each file, whose bytes lie at ``paths``. Errors as :func:`open_log`; those of a
    file come when its turn has come."""
    told = _settings(inputs.options)[:2]
    fitting = [
        framing.fitting_shapes(
            mapped(place, 0, _HEAD)[:_HEAD].tobytes(), size_of(place), given, inputs.framing, *told
        )
        for given, place in zip(inputs.log, paths, strict=True)
    ]
    certain = [shapes[0] for shapes in fitting if len(shapes) == 1]
    first: tuple[str, LuwShape] | None = None
    for given, shapes in zip(inputs.log, fitting, strict=True):
        shape = framing.settle(given, shapes, certain)
        if first is not None and (shape.big, shape.dialect) != (first[1].big, first[1].dialect):
            message = f"found {shape}; expected byte order and dialect of {first[0]}: {first[1]}"
            raise InputError("LR2007", message, Where(given), "Give the files of one server")
        first = first or (given, shape)
        yield shape


def _settings(options: Mapping[str, str]) -> tuple[str | None, str | None, int]:
    """(byte order, dialect, code page) as the user gave them."""
    order, dialect, page = (
        options.get("byte-order"),
        options.get("dialect"),
        options.get("codepage", "utf-8").lower(),
    )
    if order not in (None, "big", "little"):
        raise UsageError("LR1001", f"found --log-option byte-order={order}; expected big or little")
    if dialect is not None and dialect not in DIALECTS:
        raise UsageError(
            "LR1001",
            f"found --log-option dialect={dialect}; expected one of: {', '.join(DIALECTS)}",
        )
    number = _CODE_PAGES.get(page, int(page) if page.isdigit() else 0)
    if not number:
        raise UsageError(
            "LR1001",
            f"found --log-option codepage={page}; expected utf-8 or the number of a code page",
        )
    return order, dialect, number


def _sets_aside(options: Mapping[str, str]) -> bool:
    """Whether units that lack records are set aside."""
    headless = options.get("headless", "set-aside")
    if headless not in ("set-aside", "apply"):
        raise UsageError(
            "LR1001", f"found --log-option headless={headless}; expected set-aside or apply"
        )
    return headless == "set-aside"
