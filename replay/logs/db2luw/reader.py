"""An open Db2 LUW log: log files and catalog export together. Implements :class:`replay.logs.LogFile` on the index (:mod:`index`)."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay import codecs
from replay.catalog import Catalog, TableVersion
from replay.changes import Change
from replay.errors import Finding, InputError, UsageError, Where
from replay.logs import Images, Inputs, Split
from replay.logs.db2luw import framing, rows, scan
from replay.logs.db2luw.entries import Entries
from replay.logs.db2luw.framing import Shape
from replay.logs.db2luw.index import FAULTS, File, build_index, open_file, save
from replay.logs.db2luw.layouts import DIALECTS
from replay.logs.db2luw.tables import read_export
from sqlgen.constraints import Constraints
from sqlgen.structure import StructureChange

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_HEAD = 4 << 20
_AGAIN = "Collect the log again"
#: Names of code pages as the ``codepage`` option takes them, beside numbers.
_CODE_PAGES = {"utf-8": 1208, "utf8": 1208}


@dataclass(frozen=True)
class LuwFile:
    """A log file: ``path`` is where its (unpacked) bytes are, ``given`` what the user named, ``tail`` where an incomplete record begins."""

    path: str
    given: str
    shape: Shape
    first: int
    count: int
    tail: int | None

    @property
    def name(self) -> str:
        """The name the user gave."""
        return self.given


@dataclass
class LuwLog:
    """A log of Db2 for Linux, UNIX and Windows. Cheap to pickle: files and index are mapped where they are read. ``source`` is the database as the user
    named it: the log does not."""

    files: Sequence[LuwFile]
    catalog: Catalog
    catalog_path: str
    entries_at: str | npt.NDArray[np.void]
    units_at: str | npt.NDArray[np.void]
    changes: Mapping[tuple[int, int], StructureChange]
    ordered_by_lsn: bool
    source: str = "db2luw"
    found_warnings: tuple[str, ...] = ()
    dependent_position: bytes | None = field(default=None, init=False)

    @property
    def has_offsets(self) -> bool:
        """True: records lie in files of bytes."""
        return True

    @property
    def constraints(self) -> Constraints:
        """None: the log knows primary keys only."""
        return Constraints()

    @property
    def has_structure(self) -> bool:
        """Whether the log has such changes."""
        return bool(self.changes)

    def inputs(self) -> list[str]:
        """The files the user named."""
        return [*([self.catalog_path] if self.catalog_path else []), *(file.given for file in self.files)]

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        found = list(self.found_warnings)
        shown = [version for version in taken if version.name in self._changed_tables()]
        for version in shown:
            raw = [f"{entry.column.name} ({entry.code})" for entry in version.format.columns if entry.raw and not entry.lob]
            if raw:
                found.append(f"{version.name}: columns of an unknown type are written as hexadecimal bytes: {', '.join(raw)}")
        return found

    def _changed_tables(self) -> set[str]:
        numbers = np.unique(self.entries()["version"])
        return {self.catalog.versions[number].name for number in numbers[numbers >= 0].tolist()}

    def placed(self, position: bytes, last: bool) -> bytes:
        """An LSN of 6 or 8 bytes as the 10 of commit positions, which count the records that share an LSN in the last two."""
        if len(position) == 10:
            return position
        return position.rjust(8, b"\0") + (b"\xff\xff" if last else b"\0\0")

    def placed_unit(self, unit: bytes) -> bytes:
        """A transaction id of 6 bytes in its 10-byte form."""
        return unit.rjust(10, b"\0")

    # -- index --------------------------------------------------------------------------------------------------------------------------

    def entries(self) -> npt.NDArray[np.void]:
        """All index entries."""
        return _array(self.entries_at) if isinstance(self.entries_at, str) else self.entries_at

    def units(self) -> npt.NDArray[np.void]:
        """All units."""
        return _array(self.units_at) if isinstance(self.units_at, str) else self.units_at

    def buffer(self, file: int) -> Bytes:
        """The bytes of a log file, mapped."""
        path = self.files[file].path
        known = os.stat(path)
        return _mapped(path, known.st_size, known.st_mtime_ns)

    def _numbers(self, file: int, offsets: Numbers) -> Numbers:
        """The entries of records of a file, by their offsets."""
        entry = self.files[file]
        own = self.entries()["offset"][entry.first : entry.first + entry.count]
        return np.searchsorted(own, offsets) + entry.first

    # -- records ------------------------------------------------------------------------------------------------------------------------

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Numbers, Lengths]]:
        """Byte ranges of about ``split_bytes`` that begin at records, each with the place of its records."""
        for number, file in enumerate(self.files):
            entries = self.entries()[file.first : file.first + file.count]
            offsets, start = entries["offset"], 0
            while start < file.count:
                stop = int(np.searchsorted(offsets, offsets[start] + split_bytes))
                stop = max(stop, start + 1)
                end = int(offsets[stop]) if stop < file.count else len(self.buffer(number))
                yield (
                    Split(number, int(offsets[start]), end, start + 1),
                    np.array(offsets[start:stop]),
                    np.array(entries["length"][start:stop]),
                )
                start = stop

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Numbers, Lengths]]:
        """(number of the first record, offsets, lengths) of a split, ``batch`` records at a time."""
        file = self.files[split.file]
        entries = self.entries()[file.first : file.first + file.count]
        low, high = np.searchsorted(entries["offset"], [split.start, split.stop]).tolist()
        for start in range(low, high, batch):
            part = entries[start : min(start + batch, high)]
            yield start + 1, np.array(part["offset"]), np.array(part["length"])

    def envelope(self, file: int, offsets: Numbers, lengths: Lengths) -> Entries:
        """What the index says of records of one file."""
        return Entries(self.entries()[self._numbers(file, offsets)], self.units())

    def envelope_of(self, files: npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Entries:
        """What the index says of records of any files."""
        return Entries(self.entries()[self._find(files, offsets)], self.units())

    def _find(self, files: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Numbers:
        found = np.zeros(len(files), np.int64)
        for number in np.unique(files).tolist():
            here = np.flatnonzero(files == number)
            found[here] = self._numbers(int(number), np.ascontiguousarray(offsets[here]))
        return found

    def classify(self, envelope: Entries) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """(change, index of the table version) of each record; -1 for an unknown table."""
        return np.array(envelope.rows["change"]), np.array(envelope.rows["version"])

    # -- checks -------------------------------------------------------------------------------------------------------------------------

    def check(self, envelope: Entries, lengths: npt.NDArray[Any], change: Bytes, version: npt.NDArray[np.int32]) -> Mask:
        """Records that damage their unit of recovery."""
        return np.asarray(envelope.rows["fault"] > 0)

    def names_its_unit(self, envelope: Entries, lengths: npt.NDArray[Any]) -> Mask:
        """True: what does not name its unit ended the opening of the log."""
        return np.ones(len(envelope), bool)

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record."""
        entry = self.entries()[self._numbers(file, np.array([offset]))[0]]
        code, name, found, expected = FAULTS[int(entry["fault"])]
        unit = bytes(self.units()["unit"][entry["unit"]]) if entry["unit"] >= 0 else bytes(12)
        where = Where(self.files[file].name, number, offset, name, None, f"{unit[:10].hex().upper()}/{unit[10] * 256 + unit[11]}")
        hint = (
            "Export the catalog again" if code == "LR2011" else "Give all files of the log, from the beginning of the unit of recovery on"
        )
        return Finding(code, where, found, expected, hint)

    def commit_keys(self, envelope: Entries) -> npt.NDArray[np.void]:
        """The unit itself: units of one commit record are one unit here."""
        commit = envelope.commit()
        return np.ascontiguousarray(np.concatenate([commit, envelope.unit()], axis=1)).view("V22").reshape(-1)

    def same_change(self, one: Entries, other: Entries) -> Mask:
        """Whether two records with the same place in a unit are of the same change; records have places of their own."""
        return np.asarray((one.rows["file"] == other.rows["file"]) & (one.rows["offset"] == other.rows["offset"]))

    def whole_table(self, envelope: Entries, lengths: npt.NDArray[Any]) -> Mask:
        """True: IMPORT REPLACE and TRUNCATE empty whole tables."""
        return np.ones(len(envelope), bool)

    # -- images -------------------------------------------------------------------------------------------------------------------------

    def images(self, records: npt.NDArray[np.void], heads: Numbers, weights: Numbers, kind: Change) -> Iterator[tuple[Numbers, Images]]:
        """Row images of the changes whose first records are ``records[heads]``, by the files they lie in."""
        entries = self.entries()[self._find(records["file"][heads], records["offset"][heads])]
        has_before, has_after = kind is not Change.INSERT, kind is not Change.DELETE
        first = entries["before_file" if has_before else "after_file"]
        second = entries["after_file" if has_after else "before_file"]
        for one, other in sorted({*zip(first.tolist(), second.tolist(), strict=True)}):
            chosen = np.flatnonzero((first == one) & (second == other))
            mine = entries[chosen]
            sides = []
            for side, there in (("before", has_before), ("after", has_after)):
                start = mine[side].astype(np.int64)
                sides.append((start, start + mine[f"{side}_size"]) if there else None)
            buffer = self.buffer(one)
            if one != other and sides[1] is not None:
                buffer, sides[1] = _joined(buffer, self.buffer(other), sides[1], mine["problem"] > 0)
            bad = (mine["problem"] > 0) | np.any([side[0] < 0 for side in sides if side is not None], axis=0)
            yield chosen, Images(buffer, sides[0], sides[1], bad, _Reason(mine["problem"]))

    def structure(self, records: npt.NDArray[np.void]) -> Sequence[StructureChange]:
        """What the records say of a table's structure."""
        return [self.changes[int(record["file"]), int(record["offset"])] for record in records]

    def walk(self, version: int, buffer: Bytes, start: Numbers, end: Numbers) -> rows.RowWalk:
        """Where the columns of images of a table version lie."""
        shape = self.files[0].shape
        return rows.walk(self.catalog.versions[version].format, buffer, start, end, shape.big, shape.dialect)

    def image_reading(self, version: int) -> int | None:
        """None: these images have a layout of their own."""
        return None

    # -- what comments and tables say ---------------------------------------------------------------------------------------------------

    def unit_fields(self, envelope: Entries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        commit = codecs.hex_text(envelope.commit())
        return {
            "TID": codecs.hex_text(envelope.unit()[:, 4:10]),
            "stream": pa.array(envelope.member()).cast(pa.string()),
            "commit-lsn" if self.ordered_by_lsn else "commit-at": commit,
            "committed": pc.fill_null(pc.utf8_slice_codeunits(time, 0, 19), "unknown"),
            "authid": envelope.names("authid"),
        }

    def trace(self, envelope: Entries) -> pa.Array:
        """``lsn=… record=…`` of each record, for ``--trace``."""
        lsn = codecs.hex_text(envelope.rows["lsn"].astype(">u8").view(np.uint8).reshape(-1, 8))
        number = pa.array(envelope.rows["head"] + 1).cast(pa.string())
        return pc.binary_join_element_wise("lsn=", lsn, " record=", number, "")

    def envelope_batch(self, file: int, first_record: int, offsets: Numbers, lengths: Lengths) -> pa.RecordBatch:
        """Records of one file as :data:`replay.changes.ENVELOPE`."""
        envelope = self.envelope(file, offsets, lengths)
        return envelope.batch(self.catalog, file, first_record, offsets, lengths, envelope.log_position())


class _Reason:
    """Why the images of a change cannot be used."""

    def __init__(self, problem: npt.NDArray[np.uint8]) -> None:
        self.problem = np.array(problem)

    def __call__(self, row: int) -> tuple[str, str, str]:
        known = int(self.problem[row])
        return scan.PROBLEMS[known] if known else ("no row image", "one", _AGAIN)


def _joined(buffer: Bytes, other: Bytes, side: tuple[Numbers, Numbers], bad: Mask) -> tuple[Bytes, tuple[Numbers, Numbers]]:
    """Images of ``other`` behind a copy of ``buffer``: a change whose two images lie in two files (rows that moved where one file ends)."""
    start, length = np.where(bad, 0, side[0]), np.where(bad, 0, side[1] - side[0])
    data, offsets = codecs.gather_varying(other, start, length)
    return np.concatenate([buffer, data]), (offsets[:-1] + len(buffer), offsets[1:] + len(buffer))


@lru_cache(maxsize=256)
def _mapped(path: str, size: int, changed_ns: int) -> Bytes:
    return np.asarray(np.memmap(path, np.uint8, "r")) if size else np.zeros(0, np.uint8)


@lru_cache(maxsize=64)
def _array(path: str) -> npt.NDArray[np.void]:
    return np.asarray(np.load(path, mmap_mode="r"))


# -- opening -------------------------------------------------------------------------------------------------------------------------------


def open_log(inputs: Inputs) -> LuwLog:
    """Open a log and index it. ``inputs.scratch`` is where ``.gz`` files are unpacked and the index is kept (in memory without one).

    InputError for files that cannot be read, whose shape cannot be found out, that do not belong together or are out of order.
    """
    order, dialect, code_page = _settings(inputs.options)
    known = read_export(inputs.catalog, code_page, inputs.options.get("partitions")) if inputs.catalog else {}
    opened: list[tuple[str, File]] = []
    for number, given in enumerate(inputs.log):
        path = _unpacked(given, inputs.scratch, number)
        buffer = _open(path, given)
        shape = framing.settle(buffer[:_HEAD].tobytes(), len(buffer), given, inputs.framing, order, dialect)
        if opened and (shape.big, shape.dialect) != (opened[0][1].shape.big, opened[0][1].shape.dialect):
            found = f"found {shape}; expected byte order and dialect of {opened[0][1].name}: {opened[0][1].shape}"
            raise InputError("LR2007", found, Where(given), "Give the files of one server")
        opened.append((path, open_file(given, buffer, shape)))
    index = build_index([file for _, file in opened], known, code_page)
    counts = np.bincount(index.entries["file"], minlength=len(opened)).tolist()
    files, first = [], 0
    for (path, file), count in zip(opened, counts, strict=True):
        files.append(LuwFile(path, file.name, file.shape, first, count, file.records.tail))
        first += count
    entries, units = save(index, inputs.scratch)
    catalog = Catalog(tuple(index.timeline.versions))
    source = "db2luw" + "".join(f":{name}" for name in (inputs.options.get("database"),) if name)
    structure, path = dict(index.structure), inputs.catalog or ""
    return LuwLog(files, catalog, path, entries, units, structure, index.ordered_by_lsn, source, index.warnings)


def _settings(options: Mapping[str, str]) -> tuple[str | None, str | None, int]:
    """(byte order, dialect, code page) as the user gave them."""
    order, dialect, page = options.get("byte-order"), options.get("dialect"), options.get("codepage", "utf-8").lower()
    if order not in (None, "big", "little"):
        raise UsageError("LR1001", f"found --log-option byte-order={order}; expected big or little")
    if dialect is not None and dialect not in DIALECTS:
        raise UsageError("LR1001", f"found --log-option dialect={dialect}; expected one of: {', '.join(DIALECTS)}")
    number = _CODE_PAGES.get(page, int(page) if page.isdigit() else 0)
    if not number:
        raise UsageError("LR1001", f"found --log-option codepage={page}; expected utf-8 or the number of a code page")
    return order, dialect, number


def _open(path: str, given: str) -> Bytes:
    try:
        known = os.stat(path)
        return _mapped(path, known.st_size, known.st_mtime_ns)
    except OSError as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(given)) from None


def _unpacked(given: str, scratch: str | None, number: int) -> str:
    """The path of the uncompressed bytes."""
    try:
        with open(given, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
    except OSError as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(given)) from None
    if not packed:
        return given
    if scratch is None:
        raise InputError("LR2001", "found a gzip file and no folder to unpack it to; expected one", Where(given), "Unpack it first")
    target = Path(scratch) / f"{number:03d}-{Path(given).name.removesuffix('.gz')}"
    try:
        with gzip.open(given, "rb") as source, target.open("wb") as plain:
            shutil.copyfileobj(source, plain, 1 << 20)
    except (OSError, EOFError) as error:
        hint = "The file is damaged or cut off: copy it again"
        raise InputError("LR2006", f"the gzip file cannot be unpacked: {error}", Where(given), hint) from None
    return str(target)
