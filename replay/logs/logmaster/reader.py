"""An open logical log: control file and data files together. Implements
:class:`replay.logs.LogFile`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records, Versions, of_rows
from replay.changes.catalog import Catalog, TableVersion
from replay.changes.envelope import Change
from replay.changes.position import HIGHEST, LOWEST, UNIT_POSITION, Position, UnitId
from replay.decoding import codecs, image_layouts, images
from replay.decoding.hashes import hash_rows
from replay.decoding.image_layouts import PlainRows
from replay.decoding.images import ImageWalk
from replay.errors import Finding, Where
from replay.logs import Images, Split, SqlText, urids, widened_position
from replay.logs.change_types import CHANGE_OF_TYPE
from replay.logs.files import FilesOfBytes, FileState, in_place
from replay.logs.log_file import FoundImages
from replay.logs.logmaster import framing, headers
from replay.logs.logmaster.control import ControlFile
from replay.logs.logmaster.control_catalog import column_warnings
from replay.logs.logmaster.data import (
    FitCounts,
    Reading,
    by_value,
    clone_of,
    closing_bounds,
    joined_images,
    placed_images,
    seem_full,
    whole_log,
)
from replay.logs.logmaster.framing import Framing, RecordShape
from replay.logs.logmaster.headers import OPTIONAL, HeaderRules, Headers
from sqlgen.schema import Constraints

if TYPE_CHECKING:
    from sqlgen.structure import StructureChange

#: Bytes of log that are walked at once by whoever looks at all of it, and records of them.
_BLOCK, _BATCH = 16 << 20, 65_536
#: :class:`replay.changes.envelope.Change` by CHANGE TYPE as two ASCII codes; 0 where it is unknown.
CHANGES = np.zeros(65_536, np.uint8)
for _text, _change in CHANGE_OF_TYPE.items():
    CHANGES[(ord(_text[0]) << 8) | ord(_text[1])] = _change


@dataclass(frozen=True)
class LogmasterDataFile:
    """A data file: ``path`` is where its (unpacked) bytes are, ``name`` what the user named."""

    path: str
    name: str
    framing: Framing


@dataclass
class LogmasterLog(FilesOfBytes):
    """A logical log. Cheap to pickle: files are opened (mapped) where they are read. ``shape`` is
    LENGTH and SYSTEMID of its records, ``settled`` which of ``reading`` and
    ``later_segments_have_length`` its records tell, ``row_readings`` the reading of the row images
    (:func:`replay.decoding.image_layouts.layouts`) of table versions that allow several; None: not
    known before the log is indexed (:meth:`splits`), or somebody asks. ``rules`` are what its
    headers have in common. ``empty``: data files without a byte, where none has one.
    """

    control: ControlFile
    files: Sequence[LogmasterDataFile]
    shape: RecordShape
    reading: Reading = Reading.A
    later_segments_have_length: bool = True
    settled: frozenset[str] = frozenset()
    control_path: str = ""
    row_readings: dict[int, int] | None = field(default_factory=dict)
    rules: HeaderRules = field(default_factory=HeaderRules)
    as_found: Mapping[str, FileState] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    catalog: Catalog = field(init=False)

    def __post_init__(self) -> None:
        self.catalog = self.control.catalog

    @property
    def source(self) -> str:
        """The Db2 subsystem or data sharing group (CNTLFILESYSID), as one name for all its logs."""
        return f"logmaster {self.control.common['CNTLFILESYSID']}".strip()

    def sql_text(self) -> SqlText:
        """As XTYP has it: mixed data where the subsystem has them."""
        common = self.control.common
        kind = "MIXED" if common["MIXED"] == "Y" else "SINGLE"
        ccsid = common[f"EBCDIC{kind}CCSID"]
        known = ccsid not in (None, 0, 65534)
        return SqlText(
            int(ccsid) if known else None,
            common["SQLDELIMITER"] or "'",
            common["DECIMALPOINT"] or ".",
        )

    @property
    def dependent_position(self) -> Position | None:
        """DLGE.DEPENDENTRBA when the log has incomplete units."""
        position = self.control.dependent_position
        return None if position is None else Position(position)

    @property
    def begins(self) -> Position | None:
        """None: a log alone does not say it."""
        return None

    @property
    def ends(self) -> Position | None:
        """None: the log does not say it."""
        return None

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

    def untold(self) -> Mapping[str, str]:
        """What its headers have no field for."""
        names = self.control.header.names
        return {
            fact: "its data record headers (XHDF) have no " + ", ".join(lacking)
            for fact, fields in OPTIONAL.items()
            if (lacking := [field for field in fields if field not in names])
        }

    def inputs(self) -> list[str]:
        """The files the user named."""
        return [self.control_path, *(file.name for file in self.files), *self.empty]

    def arrived_logs(self) -> Sequence[tuple[str, Sequence[int]]]:
        """The control file, and the numbers of the data files, of each log."""
        return [(self.control_path, range(len(self.files)))]

    def data_places(self, files: Sequence[int]) -> Sequence[str]:
        """Where the data of some files are, unpacked."""
        return [self.read_in_place(file) or self.files[file].path for file in files]

    @property
    def stated_end(self) -> Position | None:
        """None: a log alone is whole."""
        return None

    @property
    def final_position(self) -> Position | None:
        """DLGE.ENDRBA, where it is of the kind that commit positions are."""
        end = self.control.end.get("ENDRBA")
        if end is None or end in (LOWEST, HIGHEST) or any(end[1:4]) != self.uses_lrsn():
            return None
        return Position(end)

    def record_places(self, envelope: Headers) -> Bytes:
        """LOGLRSN, which lies among commit positions, or LOGRBA, which does without data sharing,
        where LOGLRSN may be zero."""
        places = envelope.position("LOGLRSN")
        known = places.any(axis=1, keepdims=True)
        return places if known.all() else np.where(known, places, envelope.position("LOGRBA"))

    def owing_logs(self) -> Collection[int]:
        """The logs with a DEPENDENTRBA that counts."""
        return () if self.dependent_position is None else (0,)

    def admit(self) -> None:
        """InputError (LR2037) where it is a log set with a hole."""

    def owner(self, file: int) -> tuple[LogmasterLog, int]:
        """The log whose control file describes a file, and the number of the file in it."""
        return self, file

    def made_files(self) -> list[str]:
        """What was unpacked."""
        return self.unpacked_files()

    def timeline(self) -> list[dict[str, Any]]:
        """The logs of a set and what is between them; empty where there is only one."""
        return []

    def uses_lrsn(self) -> bool:
        """Whether commit positions are LRSNs (data sharing), not RBAs: an LRSN has its first byte
        at 1, a 6-byte RBA at 4 (seed 002)."""
        for split, offsets, lengths in self.splits(1):
            commit = self.envelope(split.file, offsets, lengths).commit()
            return bool(commit[:, 1:4].any())
        return True

    @property
    def position_kind(self) -> str:
        """LRSN or RBA."""
        return "LRSN" if self.uses_lrsn() else "RBA"

    def in_words(self, reason: str) -> str:
        """The reason as it is."""
        return reason

    def placed(self, position: bytes, last: bool) -> Position:
        """As :func:`replay.logs.record_facts.widened_position`."""
        return widened_position(position, len(position) != Position.SIZE and self.uses_lrsn())

    def placed_unit(self, unit: bytes) -> bytes:
        """An RBA of 6 (or 8) bytes in its 10-byte form."""
        return unit.rjust(Position.SIZE, b"\0")

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know before trusting scripts for these table versions."""
        texts = [
            f"{path} is empty, though {self.control_path} is whole: no change was selected in this"
            " log, or the data were lost on their way: compare with the size of the data set that"
            " Log Master wrote"
            for path in self.empty
        ]
        names = [version.name for version in taken]
        several = sorted({name for name in names if names.count(name) > 1})
        if several:
            texts.append(
                f"{', '.join(several)}: the log has several generations; the scripts hold no DDL,"
                " so change the target's table between them"
            )
        for version in taken:
            texts += column_warnings(version)
        expanded = [v for v in taken if any(column.expanded for column in v.format.columns)]
        if expanded and seem_full(self, [version.index for version in expanded]):
            texts.append(
                f"{', '.join(sorted({version.name for version in expanded}))}: every value of the"
                " expanded columns (EXPANDVAR) is as long as its column: the log does not seem to"
                " tell how long they were, and blanks or zeros at their ends may not be theirs"
            )
        return texts

    # -- records
    # ---------------------------------------------------------------------------------------------

    def splits(self, split_bytes: int) -> Iterator[tuple[Split, Index, Lengths]]:
        """Byte ranges of about ``split_bytes`` that begin and end at records, each with the place
        of its records. Who goes through all of them has the readings of row images learned
        too."""
        counts = FitCounts(self) if self.row_readings is None else None
        for number in range(len(self.files)):
            for block in self.blocks(number, split_bytes):
                if counts is not None:
                    counts.look(number, block)
                yield (
                    Split(number, block.start, block.stop, block.first_record),
                    block.offsets,
                    block.lengths,
                )
        if counts is not None:
            self.row_readings = dict(counts.readings())

    def blocks(self, number: int, block_bytes: int) -> Iterator[framing.Block]:
        """The records of a file (:func:`replay.logs.logmaster.framing.blocks`)."""
        file = self.files[number]
        return framing.blocks_of(
            partial(self.buffer, number),
            self.size(number),
            file.framing,
            self.owner(number)[0].shape,
            file.name,
            block_bytes,
        )

    def batches(self, number: int) -> Iterator[tuple[int, Index, Lengths]]:
        """All records of a file, some at a time: (number of the first one, offsets, lengths).
        InputError where its framing is damaged, behind those before that."""
        for block in self.blocks(number, _BLOCK):
            for start in range(0, len(block.offsets), _BATCH):
                part = slice(start, start + _BATCH)
                yield block.first_record + start, block.offsets[part], block.lengths[part]

    def records(self, split: Split, batch: int) -> Iterator[tuple[int, Index, Lengths]]:
        """(number of the first record, offsets, lengths) of a split, ``batch`` at a time."""
        _, offsets, lengths = self.walked(split.file, split.start, split.stop, split.first_record)
        for start in range(0, len(offsets), batch):
            yield (
                split.first_record + start,
                offsets[start : start + batch],
                lengths[start : start + batch],
            )

    @property
    def walks_ranges(self) -> bool:
        """Whether no reading of row images is learned from the order of records."""
        return self.row_readings is not None

    def read_in_place(self, file: int) -> str | None:
        """The input that is a data file as it is."""
        entry = self.files[file]
        return entry.name if in_place(entry.path, entry.name) else None

    def walked(
        self, file: int, start: int, stop: int, first_record: int
    ) -> tuple[int, Index, Lengths]:
        """The records of a range (:func:`replay.logs.logmaster.framing.walk_range`)."""
        entry, shape = self.files[file], self.owner(file)[0].shape
        reach, size = partial(self.buffer, file), self.size(file)
        block = framing.walk_range(
            reach, size, entry.framing, shape, entry.name, start, stop, first_record
        )
        return block.stop, block.offsets, block.lengths

    def likely_starts(self, file: int, start: int, stop: int) -> Iterator[int]:
        """As :func:`replay.logs.logmaster.framing.likely_starts`."""
        entry, shape = self.files[file], self.owner(file)[0].shape
        reach, size = partial(self.buffer, file), self.size(file)
        return framing.likely_starts(reach, size, entry.framing, shape, start, stop)

    def envelope(
        self, files: int | npt.NDArray[Any], offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]
    ) -> Headers:
        """The headers of records. Bytes a record is too short to have are zero."""
        if isinstance(files, int):
            return self._headers(files, offsets, lengths)
        files, offsets, lengths = (
            np.ascontiguousarray(column) for column in (files, offsets, lengths)
        )
        block = np.zeros((len(files), self.control.header.size), np.uint8)
        for rows in by_value(files, np.arange(len(files))):
            file = int(files[rows[0]])
            block[rows] = self._headers(file, offsets[rows], lengths[rows]).block
        return Headers(self.control.header, block)

    def _headers(self, file: int, offsets: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Headers:
        size = self.control.header.size
        buffer = self.buffer(file, offsets, offsets + size)
        if len(lengths) and int(lengths.min()) < size:
            return Headers(
                self.control.header,
                codecs.gather_padded(buffer, offsets, lengths.astype(np.int64), size),
            )
        return Headers(self.control.header, codecs.gather(buffer, offsets, size))

    def classify(self, envelope: Headers) -> tuple[Bytes, npt.NDArray[np.int32]]:
        """(change, index of the table version) of each record; 0 for an unknown change type, -1 for
        an unknown table."""
        change = CHANGES[envelope.change_type()]

        def positions() -> Bytes:
            lrsn = envelope.position("LOGLRSN")
            sharing = lrsn.any(axis=1) & (
                envelope.member() != 0
            )  # without data sharing, generations begin and end at RBAs (section 3)
            return np.where(sharing[:, None], lrsn, envelope.position("LOGRBA"))

        version = self.catalog.lookup(
            envelope.number("DBID"), envelope.number("PSID"), envelope.number("TBOBID"), positions
        )
        return change, version

    # -- checks
    # ---------------------------------------------------------------------------------------------

    def check(
        self, envelope: Headers, lengths: npt.NDArray[Any], change: Bytes, version: Versions
    ) -> Mask:
        """Which records have a header that cannot be right."""
        damaged = np.zeros(len(envelope), bool)
        for _, _, mask in self._checks(envelope, lengths, change, version):
            damaged |= mask
        return damaged

    def _checks(
        self, envelope: Headers, lengths: npt.NDArray[Any], change: Bytes, version: Versions
    ) -> Iterator[tuple[str, str, Mask]]:
        return headers.broken_checks(envelope, lengths, change, version, self.shape, self.rules)

    def names_its_unit(self, envelope: Headers, lengths: npt.NDArray[Any]) -> Mask:
        """Whether what identifies the unit of recovery can be believed although something else in
        the header is wrong."""
        size = self.control.header.size
        return headers.unit_is_told(envelope, lengths, self.shape, size)

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record's header: the first check it breaks. ``offset`` and
        ``length`` are in bytes, of the record in its file. ValueError where nothing is."""
        envelope = self.envelope(file, np.array([offset]), np.array([length], np.int32))
        change, version = self.classify(envelope)
        unit = str(UnitId(bytes(envelope.unit()[0])))
        for name, expected, mask in self._checks(envelope, np.array([length]), change, version):
            if mask[0]:
                found = headers.field_found(envelope, name, length)
                place = offset + self.control.header.names[name].offset
                where = Where(self.files[file].name, number, place, name, None, unit)
                return Finding(
                    headers.code_of(name),
                    where,
                    found,
                    expected,
                    headers.DAMAGED_OR_FOREIGN,
                )
        raise ValueError(f"record {number} at {offset} has a sound header")

    def commit_keys(self, envelope: Headers) -> Records:
        """What only one unit of recovery can have: its commit LRSN with the RBA of the commit
        record (or, where that is zero, member and start)."""
        commit, point = envelope.commit(), envelope.position("UORCOMMITPOINT")
        start = np.concatenate([envelope.raw("MEMBERID")[:, -2:], envelope.unit_position()], axis=1)
        point = np.concatenate([point, np.zeros((len(point), 2), np.uint8)], axis=1)
        last = np.where(point.any(axis=1, keepdims=True), point, start)
        keys = np.concatenate([commit, last], axis=1)
        return np.ascontiguousarray(keys).view(UNIT_POSITION).reshape(-1)

    def change_hashes(self, envelope: Headers) -> Hashes:
        """Of the table, row and kind of each change."""
        told = [
            envelope.raw(name)
            for name in ("DBID", "PSID", "TBOBID", "RID", "CHANGE TYPE")
            if name in self.control.header.names
        ]
        octets = np.concatenate([np.zeros((len(envelope), 8), np.uint8), *told], axis=1)
        return hash_rows(np.ascontiguousarray(octets))

    #: The field is informational: a change may name the place where its row lay before.
    ids_part = False

    def new_values(self, envelope: Headers) -> Mask:
        """None: an update is of one row."""
        return np.zeros(len(envelope), bool)

    def row_ids(self, envelope: Headers) -> Hashes:
        """RID (data file page, position 99) as a number, with the partition, in each of which pages
        may be counted anew (PAGENUMFMT)."""
        if "RID" not in self.control.header.names:
            return np.zeros(len(envelope), np.uint64)
        raw = envelope.raw("RID")
        octets = np.zeros((len(raw), 8), np.uint8)
        octets[:, 8 - raw.shape[1] :] = raw
        ids: Hashes = octets.view(">u8").reshape(-1).astype(np.uint64)
        if "PARTNUM" in self.control.header.names:
            partition = envelope.number("PARTNUM").astype(np.uint64)
            ids ^= np.where(ids > 0, partition << np.uint64(48), np.uint64(0))
        return ids

    def whole_table(self, envelope: Headers, lengths: npt.NDArray[Any]) -> Mask:
        """Whether a mass delete or truncate is of the whole table: no partition number, and no
        limit keys in DATA (seed 002, last note)."""
        partition = (
            envelope.number("PARTNUM")
            if "PARTNUM" in self.control.header.names
            else np.zeros(len(envelope), np.int64)
        )
        whole: Mask = (partition == 0) & (lengths.astype(np.int64) - self.shape.header <= 2)
        return whole

    # -- images
    # ---------------------------------------------------------------------------------------------

    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """Row images of the changes whose first records are ``records[heads]``: (rows, images) per
        file, and once for what had to be joined."""
        files = np.ascontiguousarray(records["file"][heads]).astype(np.int64)
        single = (weights == 1) & self._read_in_place(files)
        for rows in by_value(files, np.flatnonzero(single)):
            log, file = self.owner(int(files[rows[0]]))
            start = np.ascontiguousarray(records["offset"][heads[rows]])
            end = start + records["length"][heads[rows]]
            buffer = log.buffer(file, start, end)
            start += log.shape.header
            yield rows, placed_images(buffer, start, end, kind, log.reading, True)
        for rows, log in self._read_alike(files, np.flatnonzero(~single)):
            if len(rows):
                yield (
                    rows,
                    joined_images(self.owner, log, records, heads[rows], weights[rows], kind),
                )

    def plain_images(
        self, records: Records, heads: Index, weights: Index, updates: Mask
    ) -> Iterator[FoundImages]:
        """Those of one segment, of files in which they all close."""
        files, offsets, lengths = (
            of_rows(records[name], heads) for name in ("file", "offset", "length")
        )
        files = files.astype(np.int64)
        single = (weights == 1) & self._read_in_place(files)
        for rows in by_value(files, np.flatnonzero(single)):
            log, file = self.owner(int(files[rows[0]]))
            start = np.array(of_rows(offsets, rows))
            end = start + of_rows(lengths, rows)
            buffer = log.buffer(file, start, end)
            start += log.shape.header
            bounds = closing_bounds(buffer, start, end, of_rows(updates, rows), log.reading, True)
            if bounds is not None:
                yield FoundImages(rows, np.ascontiguousarray(buffer), bounds)

    def _read_in_place(self, files: Index) -> Mask:
        """``bool[n]``: of changes in these files, which are read where they lie; others are
        gathered first."""
        return np.ones(len(files), bool)

    def _read_alike(self, files: Index, rows: Index) -> Iterator[tuple[Index, LogmasterLog]]:
        """Some of ``rows``, changes that begin in ``files``, and the log by which their images are
        read."""
        yield rows, self

    def clones(self, file: Index, offset: Index, length: Lengths) -> Iterator[str | None]:
        """The other table of exchanges, by where their records lie; None where one cannot be
        told."""
        for number, start, size in zip(
            *(np.asarray(a) for a in (file, offset, length)), strict=True
        ):
            log, own = self.owner(int(number))
            begin, end = int(start) + log.shape.header, int(start) + int(size)
            yield clone_of(log.buffer(own, np.array([start]), np.array([end]))[begin:end].tobytes())

    def structure(self, records: Records) -> Sequence[StructureChange]:
        """None: records of type CO hold no definition of a table."""
        return []

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> ImageWalk:
        """Where the columns of images of a table version lie."""
        return images.walk(
            self.catalog.versions[version].format, buffer, start, end, self.image_reading(version)
        )

    def image_reading(self, version: int) -> int:
        """The reading of the row images (:func:`replay.decoding.image_layouts.layouts`)."""
        if self.row_readings is None:
            self.row_readings = dict(whole_log(self).readings())
        return self.row_readings.get(version, 0)

    def plain_rows(self, version: int) -> PlainRows | None:
        """The row images under their reading."""
        fmt = self.catalog.versions[version].format
        return image_layouts.plain_rows(fmt, self.image_reading(version))

    # -- what comments and tables say
    # ---------------------------------------------------------------------------------------------

    def unit_fields(self, envelope: Headers) -> Mapping[str, pa.Array]:
        """What the comment before a unit says, from the unit's first record."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        return {
            "URID": codecs.hex_text(urids(envelope)),
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
        lrsn, rba = (
            codecs.hex_text(envelope.position("LOGLRSN")),
            codecs.hex_text(envelope.position("LOGRBA")),
        )
        return pc.binary_join_element_wise("lrsn=", lrsn, " rba=", rba, "")
