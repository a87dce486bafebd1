"""An open logical log: control file and data files together. Implements :class:`replay.logs.LogFile`."""

from __future__ import annotations

import gzip
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay import codecs, images
from replay.catalog import Catalog, TableVersion
from replay.changes import CHANGE_OF_TYPE, ENVELOPE, Change, distinct
from replay.errors import Finding, InputError, Where
from replay.images import Walk
from replay.layout import Kind
from replay.logs import Images, Split
from replay.logs.logmaster import framing
from replay.logs.logmaster.control import ControlFile, read_control
from replay.logs.logmaster.data import Reading, find_images, halfwords, join_segments, payload, settle_reading
from replay.logs.logmaster.framing import Framing, Shape
from replay.logs.logmaster.headers import TO_ASCII, Headers
from sqlgen.constraints import Constraints
from sqlgen.structure import StructureChange

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_CHANGES = np.zeros(65_536, np.uint8)
for _text, _change in CHANGE_OF_TYPE.items():
    _CHANGES[(ord(_text[0]) << 8) | ord(_text[1])] = _change

#: Data records looked at to learn LENGTH, the reading of DATA and the segment model.
_SAMPLE = 2000
_FITS = "The record is damaged, or the control file belongs to another log"


@dataclass(frozen=True)
class LogmasterDataFile:
    """A data file: ``path`` is where its (unpacked) bytes are, ``given`` what the user named."""

    path: str
    given: str
    framing: Framing

    @property
    def name(self) -> str:
        """The name the user gave."""
        return self.given


@dataclass
class LogmasterLog:
    """A logical log. Cheap to pickle: files are opened (mapped) where they are read. ``shape`` is LENGTH and SYSTEMID of its records,
    ``row_readings`` the reading of the row images (:func:`replay.images.layouts`) of table versions that allow several."""

    control: ControlFile
    files: Sequence[LogmasterDataFile]
    shape: Shape
    reading: Reading = Reading.A
    later_segments_have_length: bool = True
    control_path: str = ""
    row_readings: dict[int, int] = field(default_factory=dict)
    catalog: Catalog = field(init=False)

    def __post_init__(self) -> None:
        self.catalog = self.control.catalog

    @property
    def source(self) -> str:
        """The Db2 subsystem or data sharing group (CNTLFILESYSID), as one name for all its logs."""
        return f"logmaster {self.control.common['CNTLFILESYSID']}".strip()

    @property
    def dependent_position(self) -> bytes | None:
        """DLGE.DEPENDENTRBA when the log has incomplete units."""
        return self.control.dependent_position

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
        """False: such changes are not in the log."""
        return False

    def inputs(self) -> list[str]:
        """The files the user named."""
        return [self.control_path, *(file.given for file in self.files)]

    def buffer(self, file: int) -> Bytes:
        """The bytes of a data file, mapped."""
        path = self.files[file].path
        known = os.stat(path)
        return _mapped(path, known.st_size, known.st_mtime_ns)

    def uses_lrsn(self) -> bool:
        """Whether commit positions are LRSNs (data sharing), not RBAs: an LRSN has its first byte at 1, a 6-byte RBA at 4 (seed 002)."""
        for split, offsets, lengths in self.splits(1 << 20):
            commit = self.envelope(split.file, offsets[:1], lengths[:1]).commit()
            return bool(commit[:, 1:4].any())
        return True

    def placed(self, position: bytes, last: bool) -> bytes:
        """A position of 6 (or 8) bytes as the log's headers have it: an LRSN after one zero byte, an RBA at the end (seed 002)."""
        if len(position) == 10:
            return position
        return (b"\0" + position).ljust(10, b"\0") if self.uses_lrsn() else position.rjust(10, b"\0")

    def placed_unit(self, unit: bytes) -> bytes:
        """An RBA of 6 (or 8) bytes in its 10-byte form."""
        return unit.rjust(10, b"\0")

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        found = []
        names = [version.name for version in taken]
        several = sorted({name for name in names if names.count(name) > 1})
        if several:
            found.append(
                f"{', '.join(several)}: the log has several generations; the scripts hold no DDL, so change the target's table between them"
            )
        for version in taken:
            large = [entry.column.name for entry in version.format.columns if entry.lob]
            unknown = [f"{entry.column.name} ({entry.code})" for entry in version.format.columns if entry.raw]
            if version.unlogged:
                found.append(f"{version.name}: the log lacks {version.unlogged} of its columns: undo does not bring their values back")
            if large:
                found.append(f"{version.name}: the values of large object columns are not in the log: {', '.join(large)}")
            if unknown:
                found.append(f"{version.name}: columns of an unknown type are written as hexadecimal bytes: {', '.join(unknown)}")
        return found

    # -- records ------------------------------------------------------------------------------------------------------------------------

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Index, Lengths]]:
        """Byte ranges of about ``split_bytes`` that begin and end at records, each with the place of its records."""
        for number in range(len(self.files)):
            for block in self.blocks(number, split_bytes):
                yield Split(number, block.start, block.stop, block.first_record), block.offsets, block.lengths

    def blocks(self, number: int, block_bytes: int) -> Iterator[framing.Block]:
        """The records of a file (:func:`replay.logs.logmaster.framing.blocks`)."""
        file = self.files[number]
        return framing.blocks(self.buffer(number), file.framing, self.shape, file.name, block_bytes)

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Index, Lengths]]:
        """(number of the first record, offsets, lengths) of a split, ``batch`` records at a time."""
        file = self.files[split.file]
        block = framing.walk(self.buffer(split.file), file.framing, self.shape, file.name, split.start, split.stop, split.first_record)
        for start in range(0, len(block.offsets), batch):
            yield split.first_record + start, block.offsets[start : start + batch], block.lengths[start : start + batch]

    def envelope(self, file: int, offsets: Index, lengths: Lengths) -> Headers:
        """The headers of records of one file. Bytes a record is too short to have are zero."""
        size = self.control.header.size
        buffer = self.buffer(file)
        if len(lengths) and int(lengths.min()) < size:
            return Headers(self.control.header, codecs.gather_padded(buffer, offsets, lengths.astype(np.int64), size))
        return Headers(self.control.header, codecs.gather(buffer, offsets, size))

    def envelope_of(self, files: npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Headers:
        """The headers of records of any files, in the order given."""
        files, offsets, lengths = (np.ascontiguousarray(column) for column in (files, offsets, lengths))
        numbers = distinct(files)
        if len(numbers) == 1:
            return self.envelope(int(numbers[0]), offsets, lengths)
        block = np.zeros((len(files), self.control.header.size), np.uint8)
        for number in numbers:
            rows = np.flatnonzero(files == number)
            block[rows] = self.envelope(int(number), offsets[rows], lengths[rows]).block
        return Headers(self.control.header, block)

    def classify(self, envelope: Headers) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """(change, index of the table version) of each record; 0 for an unknown change type, -1 for an unknown table."""
        change = _CHANGES[envelope.change_type()]

        def positions() -> Bytes:
            lrsn = envelope.position("LOGLRSN")
            sharing = lrsn.any(axis=1) & (envelope.member() != 0)  # without data sharing, generations begin and end at RBAs (section 3)
            return np.where(sharing[:, None], lrsn, envelope.position("LOGRBA"))

        version = self.catalog.lookup(envelope.number("DBID"), envelope.number("PSID"), envelope.number("TBOBID"), positions)
        return change, version

    # -- checks -------------------------------------------------------------------------------------------------------------------------

    def check(self, envelope: Headers, lengths: npt.NDArray[Any], change: Bytes, version: npt.NDArray[np.int32]) -> Mask:
        """Which records have a header that cannot be right."""
        damaged = np.zeros(len(envelope), bool)
        for _, _, mask in self._checks(envelope, lengths, change, version):
            damaged |= mask
        return damaged

    def _checks(
        self, envelope: Headers, lengths: npt.NDArray[Any], change: Bytes, version: npt.NDArray[np.int32]
    ) -> Iterator[tuple[str, str, Mask]]:
        """(field, what is expected of it, records that break it)."""
        yield "LENGTH", f"a record of at least {self.shape.header} bytes", lengths < self.shape.header
        yield "LENGTH", f"{self.shape.header}, as in the other records", envelope.number("LENGTH") != self.shape.header
        yield "SYSTEMID", f"{self.shape.system_id.decode('cp037')!r}", ~self._of_this_system(envelope)
        yield "CHANGE TYPE", "a known change type: UB, I, IL, D, DM, DT, DR, E, CO, CM or SC", change == 0
        needs_table = (change > 0) & (change <= Change.EXCHANGE)
        of_a_unit = needs_table | (change == 0)  # what the page says of commands, status and catalog changes leaves their unit open
        for name, codes, meaning in (
            ("LOGRECDISP", "CASO", "C, A, S or O"),
            ("UORDISP", "CA", "C or A"),
            ("SQLTYPE", "UR ", "U, R or blank"),
            ("SQLSRCTYPE", " RBTH", "blank, R, B, T or H"),
        ):
            unknown = np.ones(256, bool)
            unknown[[ord(code) for code in codes]] = False
            yield name, meaning, unknown[envelope.code(name)] & of_a_unit
        yield "UORCOMMITTIMESTAMP", "34 packed decimal digits", ~_all_digits(envelope.commit_time()) & of_a_unit
        yield (
            "LOGRBA",
            "the RBA of the change, by which changes are ordered",
            envelope.unplaced() & needs_table,
        )
        segment, total = envelope.segment(), envelope.segments()
        yield "SEGNUM", "no more than TOTALSEGS", segment > np.maximum(total, 1)
        unit, record = envelope.unit_disposition(), envelope.disposition()
        yield "LOGRECDISP", "C, S or O in a committed unit of recovery", (unit == ord("C")) & (record == ord("A"))
        yield "LOGRECDISP", "A, S or O in an aborted unit of recovery", (unit == ord("A")) & (record == ord("C")) & of_a_unit
        yield "TBOBID", "a table that a DTBI record of the control file describes", needs_table & (version < 0)

    def _of_this_system(self, envelope: Headers) -> Mask:
        return codecs.equal_rows(envelope.raw("SYSTEMID"), np.frombuffer(self.shape.system_id, np.uint8)[None, :])

    def names_its_unit(self, envelope: Headers, lengths: npt.NDArray[Any]) -> Mask:
        """Whether what identifies the unit of recovery can be believed although something else in the header is wrong."""
        good: Mask = (lengths >= self.control.header.size) & self._of_this_system(envelope)
        good &= np.isin(envelope.unit_disposition(), (ord("C"), ord("A"))) & _all_digits(envelope.commit_time())
        return good & envelope.commit().any(axis=1) & envelope.unit()[:, :10].any(axis=1)

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record's header: the first check it breaks."""
        envelope = self.envelope(file, np.array([offset]), np.array([length], np.int32))
        change, version = self.classify(envelope)
        codes = {"CHANGE TYPE": "LR2012", "TBOBID": "LR2011", "SYSTEMID": "LR2007"}
        unit = bytes(envelope.unit()[0])
        unit_name = f"{unit[:10].hex().upper()}/{int(envelope.member()[0])}"
        for name, expected, mask in self._checks(envelope, np.array([length]), change, version):
            if mask[0]:
                raw = bytes(envelope.raw(name)[0])
                found = f"X'{raw.hex().upper()}'" + (
                    f" ({_printable(raw)})" if name not in ("LENGTH", "TBOBID", "SEGNUM", "UORCOMMITTIMESTAMP", "LOGRBA") else ""
                )
                if name == "TBOBID":
                    found = (
                        f"DBID/PSID/TBOBID {'/'.join(bytes(envelope.raw(part)[0]).hex().upper() for part in ('DBID', 'PSID', 'TBOBID'))}"
                    )
                elif name == "LENGTH":
                    found = f"{int(envelope.number('LENGTH')[0])} in a record of {length} bytes"
                place = offset + self.control.header.names[name].offset
                where = Where(self.files[file].name, number, place, name, None, unit_name)
                return Finding(codes.get(name, "LR2010"), where, found, expected, _FITS)
        raise ValueError(f"record {number} at {offset} has a sound header")

    def commit_keys(self, envelope: Headers) -> npt.NDArray[np.void]:
        """What only one unit of recovery can have: its commit LRSN with the RBA of the commit record (or, where that is zero, member and start)."""
        commit, point = envelope.commit(), envelope.position("UORCOMMITPOINT")
        start = np.concatenate([envelope.raw("MEMBERID")[:, -2:], envelope.unit_position()], axis=1)
        point = np.concatenate([point, np.zeros((len(point), 2), np.uint8)], axis=1)
        last = np.where(point.any(axis=1, keepdims=True), point, start)
        return np.ascontiguousarray(np.concatenate([commit, last], axis=1)).view("V22").reshape(-1)

    def same_change(self, one: Headers, other: Headers) -> Mask:
        """Whether two records with the same unit, LOGRBA and SEGNUM are also of the same row and kind."""
        same = np.ones(len(one), bool)
        for name in ("DBID", "PSID", "TBOBID", "RID", "CHANGE TYPE", "TOTALSEGS"):
            if name in self.control.header.names:
                same &= (one.raw(name) == other.raw(name)).all(axis=1)
        return same

    def whole_table(self, envelope: Headers, lengths: npt.NDArray[Any]) -> Mask:
        """Whether a mass delete or truncate is of the whole table: no partition number, and no limit keys in DATA (seed 002, last note)."""
        partition = envelope.number("PARTNUM") if "PARTNUM" in self.control.header.names else np.zeros(len(envelope), np.int64)
        whole: Mask = (partition == 0) & (lengths.astype(np.int64) - self.shape.header <= 2)
        return whole

    # -- images -------------------------------------------------------------------------------------------------------------------------

    def images(self, records: npt.NDArray[np.void], heads: Index, weights: Index, kind: Change) -> Iterator[tuple[Index, Images]]:
        """Row images of the changes whose first records are ``records[heads]``: (rows, images) per file, and once for what had to be joined."""
        single = weights == 1
        files = np.ascontiguousarray(records["file"][heads])
        for number in distinct(files[single]):
            rows = np.flatnonzero(single & (files == number))
            start = np.ascontiguousarray(records["offset"][heads[rows]])
            end = start + records["length"][heads[rows]]
            yield rows, self._bounds(self.buffer(int(number)), start + self.shape.header, end, kind, True)
        rows = np.flatnonzero(~single)
        if len(rows):
            yield rows, self._joined(records, heads[rows], weights[rows], kind)

    def _joined(self, records: npt.NDArray[np.void], heads: Index, weights: Index, kind: Change) -> Images:
        change = np.repeat(np.arange(len(heads)), weights)
        first = np.concatenate([[0], np.cumsum(weights)[:-1]])
        rows = np.repeat(heads - first, weights) + np.arange(int(weights.sum()))
        start = np.ascontiguousarray(records["offset"][rows]) + self.shape.header
        end = np.ascontiguousarray(records["offset"][rows]) + records["length"][rows]
        number = np.ascontiguousarray(records["segment"][rows]).astype(np.int64)
        files = np.ascontiguousarray(records["file"][rows])
        begin, length, bad = np.zeros_like(start), np.zeros_like(start), np.zeros(len(start), bool)
        parts = []
        for file in distinct(files):
            here = np.flatnonzero(files == file)
            buffer = self.buffer(int(file))
            begin[here], length[here], bad[here] = payload(
                buffer, start[here], end[here], self.reading, self.later_segments_have_length, number[here]
            )
            parts.append((here, buffer))
        joined, offsets = join_segments(parts, begin, length)
        change_start = offsets[:-1][first]
        change_end = np.append(change_start[1:], offsets[-1])
        images = self._bounds(joined, change_start, change_end, kind, False)
        wrong = np.zeros(len(heads), bool)
        wrong[change[bad]] = True
        return Images(images.buffer, images.before, images.after, images.bad | wrong, images.reason)

    def _bounds(self, buffer: Bytes, start: Index, end: Index, kind: Change, outer: bool) -> Images:
        bounds = find_images(buffer, start, end, kind, self.reading, outer)

        def reason(row: int) -> tuple[str, str, str]:
            return (*bounds.reason(row), _FITS)

        if kind is Change.UPDATE:
            return Images(buffer, bounds.first, bounds.second, bounds.bad, reason)
        if kind is Change.INSERT:
            return Images(buffer, None, bounds.first, bounds.bad, reason)
        return Images(buffer, bounds.first, None, bounds.bad, reason)

    def structure(self, records: npt.NDArray[np.void]) -> Sequence[StructureChange]:
        """None: records of type CO hold no definition of a table."""
        return []

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> Walk:
        """Where the columns of images of a table version lie."""
        return images.walk(self.catalog.versions[version].format, buffer, start, end, self.image_reading(version))

    def image_reading(self, version: int) -> int | None:
        """The reading of the row images (:func:`replay.images.layouts`)."""
        return self.row_readings.get(version, 0)

    # -- what comments and tables say ------------------------------------------------------------------------------------------------------

    def unit_fields(self, envelope: Headers) -> Mapping[str, pa.Array]:
        """What the comment before a unit says, from the unit's first record."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        return {
            "URID": codecs.hex_text(envelope.unit()[:, :10]),
            "member": pa.array(envelope.member()).cast(pa.string()),
            "commit-lrsn": codecs.hex_text(envelope.commit()),
            "committed": pc.fill_null(time, "unknown"),
            "authid": self._text(envelope, "AUTHID"),
            "plan": self._text(envelope, "PLAN"),
            "correlation": self._text(envelope, "CORRELATIONID"),
        }

    def _text(self, envelope: Headers, name: str) -> pa.Array:
        if name not in self.control.header.names:
            return pa.array([""] * len(envelope), pa.string())
        return codecs.ebcdic_text(envelope.raw(name))

    def trace(self, envelope: Headers) -> pa.Array:
        """``lrsn=… rba=…`` of each record, for ``--trace``."""
        lrsn, rba = codecs.hex_text(envelope.position("LOGLRSN")), codecs.hex_text(envelope.position("LOGRBA"))
        return pc.binary_join_element_wise("lrsn=", lrsn, " rba=", rba, "")

    def envelope_batch(self, file: int, first_record: int, offsets: Index, lengths: Lengths) -> pa.RecordBatch:
        """Records of one file as :data:`replay.changes.ENVELOPE`."""
        envelope = self.envelope(file, offsets, lengths)
        _, version = self.classify(envelope)
        owners = pa.array([None, *(entry.table.schema for entry in self.catalog.versions)], pa.string())
        names = pa.array([None, *(entry.table.name for entry in self.catalog.versions)], pa.string())
        place = pa.array(version.astype(np.int64) + 1)
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        columns = [
            pa.array(np.full(len(offsets), file, np.int32)),
            pa.array(np.arange(first_record, first_record + len(offsets), dtype=np.int64)),
            pa.array(offsets),
            pa.array(lengths),
            owners.take(place),
            names.take(place),
            *(self._text(envelope, name) for name in ("CHANGE TYPE", "SQLTYPE", "LOGRECDISP", "UORDISP", "SQLSRCTYPE")),
            codecs.binary_rows(envelope.commit()),
            codecs.binary_rows(envelope.position("UORID")),
            pa.array(envelope.member().astype(np.int32)),
            *(
                codecs.binary_rows(column)
                for column in (envelope.unit_position(), envelope.position("LOGRBA"), envelope.position("LOGLRSN"))
            ),
            pa.array(envelope.segment().astype(np.int32)),
            pa.array(envelope.segments().astype(np.int32)),
            time,
            *(self._text(envelope, name) for name in ("AUTHID", "PLAN", "CORRELATIONID", "CONNECTID")),
            pa.array(envelope.incomplete_unit()),
            pa.array(envelope.incomplete_dependency()),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=ENVELOPE)


def _printable(raw: bytes) -> str:
    return repr(bytes(TO_ASCII[np.frombuffer(raw, np.uint8)]).decode("latin-1"))


def _all_digits(packed: Bytes) -> Mask:
    """Whether every nibble of ``uint8[n, 17]`` is a decimal digit: one above 9 has its highest bit set and one of the two below it."""
    wrong = np.zeros(len(packed), np.uint64)
    for word in (packed[:, :8].view(np.uint64)[:, 0], packed[:, 8:16].view(np.uint64)[:, 0], packed[:, 16].astype(np.uint64)):
        wrong |= (word >> 3) & ((word >> 2) | (word >> 1)) & 0x1111_1111_1111_1111
    return np.asarray(wrong == 0)


@lru_cache(maxsize=256)
def _mapped(path: str, size: int, changed_ns: int) -> Bytes:
    """The mapped bytes; ``changed_ns`` makes a file that was written again another one."""
    # a plain array over the mapping: every slice of a memmap object would be one too, which costs far more than the slice
    return np.asarray(np.memmap(path, np.uint8, "r")) if size else np.zeros(0, np.uint8)


def open_log(
    control: str | Path,
    data: Sequence[str | Path],
    *,
    framed: Framing | None = None,
    ccsids: Mapping[str, int] | None = None,
    scratch: str | Path | None = None,
) -> LogmasterLog:
    """Open a logical log. ``scratch`` is where ``.gz`` files are unpacked to (beside the file when None is given: then ``.gz`` is refused).

    Raises InputError for files that cannot be read, do not belong together, or whose layout cannot be settled.
    """
    raw = _read(str(control))
    parsed = read_control(raw, str(control), framed, ccsids or {})
    files = []
    for number, given in enumerate(data):
        path = _unpacked(str(given), scratch, number)
        head = _head(path)
        kind = framing.detect_data(head, parsed.system_id, str(given), framed)
        files.append(LogmasterDataFile(path, str(given), kind))
    log = LogmasterLog(parsed, tuple(files), Shape(parsed.header.size, parsed.system_id), control_path=str(control))
    log.shape = Shape(_header_length(log), parsed.system_id)
    _drop_empty_order(log)
    _settle(log)
    log.row_readings = _row_readings(log)
    return log


def _sound_blocks(log: LogmasterLog, number: int) -> Iterator[framing.Block]:
    """The records of a file, up to where its framing is damaged: that is told by whoever reads the records there."""
    with suppress(InputError):
        yield from log.blocks(number, 4 << 20)


def _read(path: str) -> bytes:
    try:
        raw = Path(path).read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(path)) from None


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(64)
    except OSError as error:
        raise InputError("LR2001", f"the file cannot be read: {error}", Where(path)) from None


def _unpacked(path: str, scratch: str | Path | None, number: int) -> str:
    """The path of the uncompressed bytes: a ``.gz`` file is unpacked once, because images are gathered by position."""
    if _head(path)[:2] != b"\x1f\x8b":
        return path
    if scratch is None:
        raise InputError("LR2001", "found a gzip file and no folder to unpack it to; expected one", Where(path), "Unpack it first")
    target = Path(scratch) / f"{number:03d}-{Path(path).name.removesuffix('.gz')}"
    try:
        with gzip.open(path, "rb") as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            "LR2006", f"the gzip file cannot be unpacked: {error}", Where(path), "The file is damaged or cut off: transfer it again"
        ) from None
    return str(target)


def _header_length(log: LogmasterLog) -> int:
    """LENGTH as most of the first records have it; it may exceed the layout, because newer releases append fields (seed 002)."""
    layout = log.control.header
    values: list[int] = []
    for number, file in enumerate(log.files):
        buffer = log.buffer(number)
        window = bytes(buffer[: 8 << 20])
        place = window.find(log.shape.system_id)
        while place >= 2 and len(values) < _SAMPLE * (number + 1):
            length = int.from_bytes(window[place - 2 : place], "big")
            if 100 <= length <= 1000:
                values.append(length)
            place = window.find(log.shape.system_id, place + 64)
        if file.framing is Framing.NONE and not values:
            break
    if not values:
        return layout.size
    found, counts = np.unique(values, return_counts=True)
    common = int(found[counts.argmax()])
    if common < layout.size:
        source = "XHDF records describe" if log.control.header_described else "v11.1 layout has"
        message = f"found header length {common}; expected {layout.size} or more, as the {source}"
        hint = "A header of an older release needs the XHDF records of its control file"
        raise InputError("LR2010", message, Where(log.files[0].name, field="LENGTH"), hint)
    return common


def _drop_empty_order(log: LogmasterLog) -> None:
    """Forget an ORDERVALUE that the header describes and the first records leave empty: for the whole log, because an order cannot be mixed."""
    header = log.control.header
    if "ORDERVALUE" not in header.names:
        return
    for number in range(len(log.files)):
        block = next(_sound_blocks(log, number), None)
        if block is not None and log.envelope(number, block.offsets[:_SAMPLE], block.lengths[:_SAMPLE]).raw("ORDERVALUE").any():
            return
    unnamed = tuple(replace(entry, kind=Kind.RESERVED) if entry.name == "ORDERVALUE" else entry for entry in header.fields)
    log.control = replace(log.control, header=replace(header, fields=unnamed))


def _settle(log: LogmasterLog) -> None:
    """Learn the reading of DATA from the first records of the first file that has whole row images, then the segment model."""
    for number, file in enumerate(log.files):
        block = next(_sound_blocks(log, number), None)
        if block is None:
            continue
        offsets, lengths = block.offsets[:_SAMPLE], block.lengths[:_SAMPLE]
        envelope = log.envelope(number, offsets, lengths)
        change = _CHANGES[envelope.change_type()]
        whole = (envelope.number("LENGTH") == log.shape.header) & (change > 0) & (change <= Change.DELETE) & (lengths > log.shape.header)
        whole &= envelope.segments() <= 1
        start, end = offsets + log.shape.header, offsets + lengths
        if whole.any():
            update = change[whole] == Change.UPDATE
            walked = partial(_walked, log, log.buffer(number), start[whole], end[whole], update, log.classify(envelope)[1][whole])
            try:
                log.reading = settle_reading(log.buffer(number), start[whole], end[whole], update, file.name, walked)
            except InputError:
                for _ in islice(log.blocks(number, 4 << 20), 2):  # damaged framing is the better reason
                    pass
                raise
            break
    if log.reading is Reading.A:
        _settle_segments(log)


def _settle_segments(log: LogmasterLog) -> None:
    """Learn whether later segments repeat the halfword of DATA, from the first ones there are, in whatever file they lie."""
    number = log.control.header.names["SEGNUM"]
    for index in range(len(log.files)):
        buffer = log.buffer(index)
        for block in _sound_blocks(log, index):
            there = np.flatnonzero(block.lengths >= log.control.header.size)
            segment = codecs.gather(buffer, block.offsets[there] + number.offset, number.length)
            later = there[(segment[:, :-1].any(axis=1)) | (segment[:, -1] > 1)]
            if len(later):
                offsets, lengths = block.offsets[later][:_SAMPLE], block.lengths[later][:_SAMPLE]
                size = lengths - log.shape.header
                own = (halfwords(buffer, offsets + log.shape.header) == size) & (size >= 2)
                log.later_segments_have_length = bool(own.sum() * 2 >= len(own))
                return
            if log.control.data_set.get("SEGMENTED") != "Y":
                break


def _row_readings(log: LogmasterLog) -> dict[int, int]:
    """The reading of row images of each table version that allows several: the one that most of its first images fit, settled for the whole log."""
    readings = {version.index: len(list(images.layouts(version.format))) for version in log.catalog.versions}
    fits = {index: np.zeros(count, np.int64) for index, count in readings.items() if count > 1}
    if fits:
        _count_fits(log, fits)
    return {index: int(counts.argmax()) for index, counts in fits.items()}


def _count_fits(log: LogmasterLog, fits: dict[int, Index]) -> None:
    missing = dict.fromkeys(fits, _SAMPLE)
    for file in range(len(log.files)):
        buffer = log.buffer(file)
        for block in _sound_blocks(log, file):
            envelope = log.envelope(file, block.offsets, block.lengths)
            change, version = log.classify(envelope)
            usable = (change > 0) & (change <= Change.DELETE) & (envelope.segments() <= 1)
            for index in [index for index, wanted in missing.items() if wanted > 0]:
                rows = np.flatnonzero(usable & (version == index))[: missing[index]]
                missing[index] -= len(rows)
                start, end = block.offsets[rows] + log.shape.header, block.offsets[rows] + block.lengths[rows]
                for number in range(len(fits[index])):
                    known, update = log.catalog.versions[index], change[rows] == Change.UPDATE
                    fits[index][number] += _fitting(known, buffer, start, end, update, log.reading, number)
            if not any(wanted > 0 for wanted in missing.values()):
                return


def _walked(
    log: LogmasterLog, buffer: Bytes, start: Index, end: Index, update: Mask, version: npt.NDArray[np.int32], reading: Reading
) -> float:
    """For how many records the images of a reading end exactly where their columns do. Half a record more, where that decides nothing, if the first
    columns are where LLCOLUMNPOS says (section 6.2: after both lengths under A, after one under B)."""
    count, agree = 0, True
    place = 4 if reading is Reading.A else 2
    for known in log.catalog.versions:
        rows = np.flatnonzero(version == known.index)
        count += _fitting(known, buffer, start[rows], end[rows], update[rows], reading, None)
        first = known.format.columns[0]
        agree &= not len(rows) or first.position in (place, place + first.nullable)
    return count + 0.5 * agree


def _fitting(
    version: TableVersion, buffer: Bytes, start: Index, end: Index, update: Mask, reading: Reading, row_reading: int | None
) -> int:
    """How many changes of a table version have images that end exactly where their columns do."""
    count = 0
    for kind, of_kind in ((Change.UPDATE, update), (Change.INSERT, ~update)):
        bounds = find_images(buffer, start[of_kind], end[of_kind], kind, reading, True)
        bad = bounds.bad
        for image in (bounds.first, bounds.second):
            if image is not None and len(bad):
                begin, stop = (np.where(bad, 0, edge) for edge in image)
                bad = bad | images.walk(version.format, buffer, begin, stop, row_reading).bad
        count += int((~bad).sum())
    return count
