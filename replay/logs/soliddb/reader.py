"""An open solidDB log: SYS_LOG rows and the export of the system tables together. Implements :class:`replay.logs.LogFile` on the index (:mod:`index`).

A record is a row of the export; its ``offset`` is the number of the row in its file, from 0.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
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
from replay.logs.soliddb import brackets, rows
from replay.logs.soliddb.calibration import calibrated
from replay.logs.soliddb.detect import Shape
from replay.logs.soliddb.entries import Entries
from replay.logs.soliddb.export import read_rows
from replay.logs.soliddb.index import FAULTS, POLICIES, Settings, build_index, save
from replay.logs.soliddb.layouts import COLUMN_LISTS, FRAMINGS
from replay.logs.soliddb.tables import CHARSETS, Manifest, charset_number, files_of, read_catalog, read_constraints, read_manifest
from sqlgen.constraints import Constraints
from sqlgen.structure import StructureChange

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SolidFile:
    """A file of SYS_LOG rows: its name, its first entry, and how many it has."""

    name: str
    first: int
    count: int


@dataclass
class SolidLog:
    """A solidDB log. Cheap to pickle: index and data are mapped where they are read. ``alike``: framings that read the same values."""

    files: Sequence[SolidFile]
    catalog: Catalog
    catalog_files: Sequence[str]
    arrays: Sequence[str | npt.NDArray[Any]]
    changes: Mapping[tuple[int, int], StructureChange]
    shape: Shape
    alike: tuple[str, ...]
    by_address: bool
    manifest: Manifest
    headless: int
    charset: int
    constraints: Constraints = field(default_factory=Constraints)
    source: str = "soliddb"
    found_warnings: tuple[str, ...] = ()
    dependent_position: bytes | None = field(default=None, init=False)

    @property
    def has_offsets(self) -> bool:
        """False: records are rows of an export."""
        return False

    @property
    def has_structure(self) -> bool:
        """Whether the log has such changes."""
        return bool(self.changes)

    def inputs(self) -> list[str]:
        """The files the user named."""
        return [*self.catalog_files, *(file.name for file in self.files)]

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        return list(self.found_warnings)

    def placed(self, position: bytes, last: bool) -> bytes:
        """A LOGADDR, or the first 6 or 8 bytes of it, as the 10 bytes of commit positions. UsageError where its beginning tells no commits apart."""
        if len(position) == 10:
            return position
        if len(position) == self.addresses().shape[1]:
            return self._placed_address(position, last)
        if not self.by_address:
            found = "found the beginning of a LOGADDR; the addresses of this log do not tell its commits apart by their first 8 bytes"
            raise UsageError(
                "LR1004",
                f"{found}; expected a whole one, or a position of 20 digits",
                hint="logreplay inspect shows the first and the last one",
            )
        return position[:8].rjust(8, b"\0") + (b"\xff\xff" if last and any(position) else b"\0\0")

    def _placed_address(self, position: bytes, last: bool) -> bytes:
        """The last commit up to a LOGADDR, or the first one from it on, as addresses compare: byte by byte (section 6)."""
        units = self.units()
        addresses = list(accumulate((entry.tobytes()[: len(position)] for entry in units["address"]), max))
        place = bisect_right(addresses, position) - 1 if last else bisect_left(addresses, position)
        if not 0 <= place < len(units):
            return bytes(10) if last else b"\xff" * 10
        return bytes(units["commit"][place])[:8] + (b"\xff\xff" if last else b"\0\0")

    def placed_unit(self, unit: bytes) -> bytes:
        """A TRXID of 6 bytes in its 10-byte form."""
        return unit.rjust(10, b"\0")

    # -- index --------------------------------------------------------------------------------------------------------------------------

    def _array(self, number: int) -> npt.NDArray[Any]:
        held = self.arrays[number]
        return _mapped(held) if isinstance(held, str) else held

    def entries(self) -> npt.NDArray[np.void]:
        """All index entries."""
        return self._array(0)

    def units(self) -> npt.NDArray[np.void]:
        """All units."""
        return self._array(1)

    def data(self) -> Bytes:
        """DATA of all rows behind each other."""
        return self._array(2)

    def addresses(self) -> Bytes:
        """LOGADDR of all rows, ``uint8[n, size]``."""
        return self._array(3)

    def _find(self, files: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Numbers:
        first = np.array([file.first for file in self.files], np.int64)
        return first[np.asarray(files, np.int64)] + np.asarray(offsets, np.int64)

    # -- records ------------------------------------------------------------------------------------------------------------------------

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Numbers, Lengths]]:
        """Ranges of rows that hold about ``split_bytes`` of data, each with the place of its rows."""
        for number, file in enumerate(self.files):
            size = self.entries()["size"][file.first : file.first + file.count]
            reached = np.cumsum(size.astype(np.int64) + 64)
            start = 0
            while start < file.count:
                before = int(reached[start - 1]) if start else 0
                stop = max(int(np.searchsorted(reached, before + split_bytes)), start + 1)
                stop = min(stop, file.count)
                yield Split(number, start, stop, start + 1), np.arange(start, stop), np.array(size[start:stop])
                start = stop

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Numbers, Lengths]]:
        """(number of the first row, offsets, lengths) of a split, ``batch`` rows at a time."""
        first = self.files[split.file].first
        for start in range(split.start, split.stop, batch):
            stop = min(start + batch, split.stop)
            yield start + 1, np.arange(start, stop), np.array(self.entries()["size"][first + start : first + stop])

    def envelope(self, file: int, offsets: Numbers, lengths: Lengths) -> Entries:
        """What the index says of rows of one file."""
        return Entries(self.entries()[self.files[file].first + offsets], self.units())

    def envelope_of(self, files: npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Entries:
        """What the index says of rows of any files."""
        return Entries(self.entries()[self._find(files, offsets)], self.units())

    def classify(self, envelope: Entries) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """(change, index of the table version) of each row; -1 for an unknown table."""
        return np.array(envelope.rows["change"]), np.array(envelope.rows["version"])

    # -- checks -------------------------------------------------------------------------------------------------------------------------

    def check(self, envelope: Entries, lengths: npt.NDArray[Any], change: Bytes, version: npt.NDArray[np.int32]) -> Mask:
        """Rows that damage their unit of recovery."""
        return np.asarray(envelope.rows["fault"] > 0)

    def names_its_unit(self, envelope: Entries, lengths: npt.NDArray[Any]) -> Mask:
        """True: rows outside of transactions ended the opening of the log."""
        return np.ones(len(envelope), bool)

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one row."""
        entry = self.entries()[self.files[file].first + offset]
        code, name, found, expected, hint = FAULTS[int(entry["fault"])]
        other = int(entry["other"])
        shown = self.entries()[other] if other >= 0 else None
        found = found.format(other=f"{int(shown['row']) + 1}" if shown is not None else "")
        if code == "LR2011":
            found = f"RELID {int(entry['table'])}, {found}"
        where = Where(self.files[file].name, number, None, name, None, self._unit_name(entry))
        return Finding(code, where, found, expected, hint)

    def _unit_name(self, entry: np.void) -> str | None:
        if entry["unit"] < 0:
            return None
        unit = bytes(self.units()["unit"][entry["unit"]])
        return f"{unit[:10].hex().upper()}/0"

    def commit_keys(self, envelope: Entries) -> npt.NDArray[np.void]:
        """The unit itself: units of one position are one unit here."""
        return np.ascontiguousarray(np.concatenate([envelope.commit(), envelope.unit()], axis=1)).view("V22").reshape(-1)

    def same_change(self, one: Entries, other: Entries) -> Mask:
        """Whether two records with the same place in a unit are of the same change; rows have places of their own."""
        return np.asarray((one.rows["file"] == other.rows["file"]) & (one.rows["row"] == other.rows["row"]))

    def whole_table(self, envelope: Entries, lengths: npt.NDArray[Any]) -> Mask:
        """True: TRUNCATE empties whole tables."""
        return np.ones(len(envelope), bool)

    # -- images -------------------------------------------------------------------------------------------------------------------------

    def images(self, records: npt.NDArray[np.void], heads: Numbers, weights: Numbers, kind: Change) -> Iterator[tuple[Numbers, Images]]:
        """Row images of the changes whose first records are ``records[heads]``."""
        entries = self.entries()[self._find(records["file"][heads], records["offset"][heads])]
        sides = []
        for side, there in (("before", kind is not Change.INSERT), ("after", kind is not Change.DELETE)):
            start = entries[side].astype(np.int64)
            sides.append((start, start + entries[f"{side}_size"]) if there else None)
        bad = np.any([side[0] < 0 for side in sides if side is not None], axis=0)
        yield np.arange(len(heads)), Images(self.data(), sides[0], sides[1], bad, _no_image)

    def structure(self, records: npt.NDArray[np.void]) -> Sequence[StructureChange]:
        """What DDL records say."""
        return [self.changes[int(record["file"]), int(record["offset"])] for record in records]

    def walk(self, version: int, buffer: Bytes, start: Numbers, end: Numbers) -> rows.RowWalk:
        """Where the columns of images of a table version lie."""
        return rows.walk(self.catalog.versions[version].format, buffer, start, end, self.shape.framing)

    def image_reading(self, version: int) -> int | None:
        """None: these images have a layout of their own."""
        return None

    # -- what comments and tables say ---------------------------------------------------------------------------------------------------

    def unit_fields(self, envelope: Entries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says."""
        name = "commit-logaddr" if self.by_address else "commit-at"
        size = self.addresses().shape[1]
        shown = np.ascontiguousarray(envelope.octets("address")[:, :size]) if self.by_address else envelope.commit()
        trx = pa.array(envelope.of_unit("trx").astype(np.int64)).cast(pa.string())
        unit = codecs.hex_text(np.ascontiguousarray(envelope.unit()[:, :10]))
        return {"TRXID": trx, "ur": unit, name: codecs.hex_text(shown)}

    def trace(self, envelope: Entries) -> pa.Array:
        """``logaddr=… record=…`` of each change, for ``--trace``."""
        place = self._find(envelope.rows["file"], envelope.rows["row"])
        address = codecs.hex_text(np.ascontiguousarray(self.addresses()[place]))
        number = pa.array(envelope.rows["row"] + 1).cast(pa.string())
        return pc.binary_join_element_wise("logaddr=", address, " record=", number, "")

    def envelope_batch(self, file: int, first_record: int, offsets: Numbers, lengths: Lengths) -> pa.RecordBatch:
        """Rows of one file as :data:`replay.changes.ENVELOPE`."""
        address = self.addresses()[self.files[file].first + offsets]
        return self.envelope(file, offsets, lengths).batch(self.catalog, file, first_record, offsets, lengths, address)


def _no_image(row: int) -> tuple[str, str, str]:
    return "no row image", "one", "Export the log again"


@lru_cache(maxsize=64)
def _mapped(path: str) -> npt.NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))


# -- opening -------------------------------------------------------------------------------------------------------------------------------


def open_log(inputs: Inputs) -> SolidLog:
    """Open a log and index it. ``inputs.scratch`` is where the index is kept (in memory without one).

    InputError for files that cannot be read or are no log, whose framing cannot be found out, or that are out of order; Refusal LR2034 where changes
    may be missing between two read sessions.
    """
    if inputs.catalog is None:
        raise UsageError("LR1001", "found no --catalog; expected the folder with the export of the system tables")
    if not Path(inputs.catalog).is_dir():
        raise InputError("LR2001", "found no folder; expected the export of the system tables", Where(inputs.catalog))
    manifest = read_manifest(Path(inputs.catalog))
    settings = _settings(inputs, manifest)
    known = read_catalog(inputs.catalog, manifest, settings.charset)
    files = [read_rows(path) for path in inputs.log]
    joined = brackets.join(files, manifest.sessions)
    found = brackets.brackets(joined)
    gaps = brackets.check_sessions(joined, found, manifest, inputs.options.get("gaps") == "accept")
    index = build_index(joined, found, known, manifest, settings)
    first = np.cumsum([0, *(len(part) for part in files)]).tolist()
    arrays = save((index.entries, index.units, joined.data, joined.address), inputs.scratch)
    database = "".join(f":{name}" for name in (inputs.options.get("database"),) if name)
    if not index.by_address:
        database += ":" + hashlib.sha256(joined.data.tobytes()).hexdigest()[:16]
    return SolidLog(
        [SolidFile(part.name, first[number], len(part)) for number, part in enumerate(files)],
        Catalog(tuple(index.timeline.versions)),
        files_of(inputs.catalog, manifest),
        arrays,
        dict(index.structure),
        index.shape,
        index.alike,
        index.by_address,
        manifest,
        found.headless,
        settings.charset,
        Constraints() if inputs.options.get("foreign-keys") == "ignore" else read_constraints(inputs.catalog, known),
        "soliddb" + database,
        tuple(dict.fromkeys((*gaps, *index.warnings))),
    )


def _settings(inputs: Inputs, manifest: Manifest) -> Settings:
    """What the user named on the command line, else in the manifest. UsageError LR1001 for what cannot be used."""
    options = inputs.options
    charset = options.get("charset", manifest.charset)
    number = 1208 if charset is None else charset_number(charset)
    if number is None:
        raise UsageError("LR1001", f"found character set {charset!r}; expected a CCSID, or one of: {', '.join(CHARSETS)}")
    framing, columns = inputs.framing or manifest.framing, options.get("columns", manifest.columns)
    capture = options.get("capture-off", manifest.capture_off)
    if "calibration" in options:
        shape = calibrated(options["calibration"], number)
        framing, columns = framing or str(shape.framing), columns or shape.columns
    for name, value, known in (("framing", framing, FRAMINGS), ("columns", columns, COLUMN_LISTS), ("capture-off", capture, POLICIES)):
        if value is not None and value not in known:
            raise UsageError("LR1001", f"found {name} {value!r}; expected one of: {', '.join(known)}")
    for name, words in (("gaps", ("refuse", "accept")), ("foreign-keys", ("use", "ignore"))):
        if options.get(name, words[0]) not in words:
            raise UsageError("LR1001", f"found --log-option {name}={options[name]}; expected {' or '.join(words)}")
    return Settings(framing, columns, capture, number, charset is not None, manifest.batch_size > 1, options.get("catalog"))
