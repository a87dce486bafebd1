"""The first look at a log: the header of every record and the bounds of its row images, column by
column (format notes, sections 4 to 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Records, one_of
from replay.decoding.hashes import mixed
from replay.logs.db2luw import layouts
from replay.logs.db2luw.endings import endings_of
from replay.logs.db2luw.framing import LuwShape, OpenedFile, walked
from replay.logs.db2luw.layouts import DMS, DOM, LONGEST_RECORD, RecordKind, RecordRole, numbers
from replay.machine import Task, cores, in_threads
from replay.spill import NEAR, Spill, windows

#: What is known of a record. Positions: ``lsn`` and ``lfs`` of the record where known, ``lso``
#: where the framing says it, ``previous`` of its transaction, ``compensated`` of a compensation
#: record. ``before`` and ``after`` are the row images (with row header), -1 for none, ``before_is``
#: and ``after_is`` their kinds (:data:`NONE` to :data:`UNKNOWN`). ``problem``: an index of
#: :data:`PROBLEMS`; ``contradicts``: the header contradicts what follows it; ``temporary``: flagged
#: as of a temporary table, and as one to be propagated, too. Of commit and abort records
#: ``seconds`` is the time since 1970 (0: none), and ``name`` the number of the authorization id.
SCANNED = np.dtype(
    [
        ("file", "<u2"), ("offset", "<i8"), ("length", "<i4"), ("type", "u1"), ("kind", "u1"),
        ("flags", "<u2"), ("header", "u1"),
        ("tid", "<u8"), ("lsn", "<u8"), ("lfs", "<u8"), ("lso", "<u8"), ("previous", "<u8"),
        ("compensated", "<u8"), ("component", "u1"),
        ("function", "u1"), ("role", "u1"), ("space", "<u2"), ("table", "<u2"), ("rid", "<u8"),
        ("moves", "?"), ("part", "<u2"),
        ("before", "<i8"), ("before_size", "<i4"), ("before_is", "u1"), ("after", "<i8"),
        ("after_size", "<i4"), ("after_is", "u1"),
        ("problem", "u1"), ("contradicts", "?"), ("temporary", "?"),
        ("seconds", "<i8"), ("name", "<i4"),
    ]
)  # fmt: skip

#: Kinds of row images. UNKNOWN: formatted data under an outer type that says of no user's row what
#: it is (section 10.1), so none that users see.
NONE, NORMAL, OVERFLOWN, POINTS, INTERNAL, UNKNOWN = 0, 1, 2, 3, 4, 5

#: What is wrong with a record: (found, expected, what to do).
_DAMAGED = "The record is damaged: collect the log again"
PROBLEMS: tuple[tuple[str, str, str], ...] = (
    ("", "", ""),
    ("a row that does not end where its record does", "a record length that closes", _DAMAGED),
    (
        "two row images that do not end where their record does",
        "an old and a new row that close the record",
        _DAMAGED,
    ),
    (
        "a row that the log reader could not expand (its sqlcode is not 0)",
        "a row",
        "Read the log on the server, with its dictionaries",
    ),
    (
        "an update of which only the changed bytes are logged (function 121)",
        "both row images",
        "Leave the table out (--exclude-table); for later logs: ALTER TABLE … DATA CAPTURE CHANGES",
    ),
    (
        "a moved row whose other half is not in the log",
        "its overflow record in the same unit of recovery",
        "Give all files of the log",
    ),
    ("an update between a user row and an internal one", "two user rows", _DAMAGED),
    (
        "records of many rows that do not fill their record",
        "as many rows as the record says",
        _DAMAGED,
    ),
    (
        "a change of rows in the form of another release",
        "functions of the release that the log is read as",
        "Name the release, if it is another one: --log-option dialect=v95 for 9.1 and 9.5 (v7: 5 to"
        " 8, v97: 9.7 and 9.8, v10: 10.1 to 12.1)",
    ),
)
ROW_OPEN, UPDATE_OPEN, NOT_EXPANDED, PARTIAL, HALF_MOVED, HALF_INTERNAL = range(1, 7)
ROWS_OPEN, OTHER_RELEASE = 7, 8

#: Records that are looked at together: thirty fields of each are written one after the other.
_BATCH = NEAR
#: More threads than these wait for one another: what they give is put in order.
_THREADS = 8
_UNDOES = (RecordRole.UNDO_INSERT, RecordRole.UNDO_DELETE, RecordRole.UNDO_UPDATE)
#: Roles of records with one row image.
_ONE_ROW = (
    RecordRole.INSERT,
    RecordRole.DELETE,
    RecordRole.UNDO_DELETE,
    RecordRole.UNDO_UPDATE,
)
#: Those about rows.
_CHANGES = (*_ONE_ROW, RecordRole.UPDATE, RecordRole.UNDO_INSERT)


@dataclass(frozen=True)
class Scanned:
    """The ``records`` of a log (dtype :data:`SCANNED`), the authorization ids with their numbers
    (``names``), and ``files`` with what is left at their ends."""

    records: Records
    names: Mapping[bytes, int]
    files: list[OpenedFile]


@dataclass(frozen=True)
class _Stretch:
    """Records of file number ``number`` that are looked at together."""

    file: OpenedFile
    number: int
    offsets: Index
    lengths: Lengths

    def look(self) -> tuple[Records, list[bytes]]:
        """(they (dtype :data:`SCANNED`), many-row records as one entry a row, behind each other;
        their authorization ids by number)."""
        lead, names = self.file.shape.framing.size, {b"": 0}
        end = int(self.offsets[-1]) + int(self.lengths[-1])
        buffer = self.file.buffer(int(self.offsets[0]) - lead, end)
        scan = _Scan(buffer, self.file.shape, self.number, self.offsets, self.lengths)
        return scan.run(names), [*names]


def scanned_files(files: Sequence[OpenedFile], arrays: Spill) -> Scanned:
    """The records of files, one after the other, looked at by threads. InputError LR2005 where a
    length in the middle of a file is impossible."""
    names, records, ends = {b"": 0}, arrays.growing(SCANNED), [file.shape.start for file in files]

    def stretches() -> Iterator[_Stretch]:
        for number, file in enumerate(files):
            for offsets, lengths in file.steps():
                ends[number] = int(offsets[-1]) + int(lengths[-1])
                yield from _stretches(file, number, offsets, lengths)

    looks = (Task(stretch.look) for stretch in stretches())
    for found, own in in_threads(looks, min(cores(), _THREADS)):
        if len(own) > 1:
            of_log = np.array([names.setdefault(name, len(names)) for name in own])
            found["name"] = of_log[found["name"]]
        records.add(found)
    whole = [
        replace(file, tail=end if end < file.size else None)
        for file, end in zip(files, ends, strict=True)
    ]
    return Scanned(records.array(), names, whole)


def _stretches(
    file: OpenedFile, number: int, offsets: Index, lengths: Lengths
) -> Iterator[_Stretch]:
    """The records of a file at these ``offsets`` with these ``lengths``, in bytes."""
    for part in windows(len(offsets), _BATCH):
        yield _Stretch(file, number, offsets[part], lengths[part])


def first_record(opened: OpenedFile) -> Records:
    """The first record of a file (:data:`SCANNED`, of one entry), or none where there is none."""
    start = opened.shape.start
    reach = start + opened.shape.framing.size + LONGEST_RECORD
    offsets, lengths = next(walked(opened.buffer(start, reach)[:reach], opened.shape, start))
    stretches = _stretches(opened, 0, offsets[:1], lengths[:1])
    return next((stretch.look()[0][:1] for stretch in stretches), np.zeros(0, SCANNED))


def pass_over_temporary(records: Records, arrays: Spill) -> None:
    """Rows of temporary tables are none. That flag is damage where other records are of the same
    row, and do not have it."""
    temporary, role = records["temporary"], records["role"]
    flagged = arrays.places(len(records), lambda part: temporary[part])
    if not len(flagged):
        return
    others = arrays.places(
        len(records), lambda part: one_of(role[part], _CHANGES) & ~temporary[part]
    )

    def place(rows: Index) -> Hashes:
        table = records["space"][rows].astype(np.uint64) << np.uint64(16) | records["table"][rows]
        return np.asarray(mixed(table) ^ records["rid"][rows])

    for mine, theirs in arrays.together(flagged, place, others, place):
        names = ["space", "table", "rid"]
        damaged = np.isin(records[mine][names], records[theirs][names])
        damaged &= one_of(role[mine], _CHANGES)
        records["contradicts"][mine[damaged]] = True
        rows = mine[~damaged]
        records["role"][rows], records["problem"][rows] = RecordRole.OTHER, 0
        for side in ("before", "after"):
            records[side][rows], records[f"{side}_is"][rows] = -1, NONE


class _Scan:
    def __init__(
        self, buffer: Bytes, shape: LuwShape, file: int, offsets: Index, lengths: Lengths
    ) -> None:
        self.buffer, self.shape, self.dialect, self.big = buffer, shape, shape.dialect, shape.big
        self.file, self.offsets, self.lengths = file, offsets, lengths
        self.records = np.zeros(len(offsets), SCANNED)
        self.records["file"], self.records["offset"], self.records["length"] = (
            file,
            offsets,
            lengths,
        )
        self.records["before"] = self.records["after"] = -1

    def run(self, names: dict[bytes, int]) -> Records:
        self._look()
        ends = one_of(self.records["kind"], (RecordKind.COMMIT, RecordKind.ABORT))
        if ends.any():
            told = endings_of(self.records[ends], self.buffer, self.shape, names)
            self.records["seconds"][ends], self.records["name"][ends] = told
        return self._expanded()

    def _look(self) -> None:
        self._header()
        self._framing()
        self._taken_for_backout_free()
        first = self.buffer[np.minimum(self.offsets + self.records["header"], len(self.buffer) - 1)]
        other = one_of(
            self.records["kind"], (RecordKind.IGNORED, RecordKind.LOAD, RecordKind.UNKNOWN)
        ) & (first == DMS)
        component = np.flatnonzero((self.records["kind"] == RecordKind.COMPONENT) | other)
        if len(component):
            self._component(component)
            astray, roles = self._astray(component)
            self._rows()
            self._disguised(np.flatnonzero(other))
            self._disguised(astray, roles)

    def _numbers(self, base: Index, part: layouts.Part) -> Hashes:
        return numbers(self.buffer, base, part, self.big)

    def _header(self) -> None:
        records, layout = self.records, self.dialect.header
        kind = self._numbers(self.offsets, layout["type"])
        records["type"] = np.where(kind < 256, kind, 0)
        records["kind"] = layouts.KIND_OF_TYPE[records["type"]]
        records["flags"] = self._numbers(self.offsets, layout["flags"])
        records["tid"] = self._numbers(self.offsets, layout["tid"])
        records["previous"] = self._numbers(self.offsets, layout["previous"])
        for name in ("lsn", "lfs"):
            if name in layout:
                records[name] = self._numbers(self.offsets, layout[name])
        if "stream" in layout:
            records["tid"] |= self._numbers(self.offsets, layout["stream"]) << np.uint64(48)
        plain, middle, large = self.dialect.sizes
        compensates = records["type"] == layouts.COMPENSATION
        header = np.where(
            compensates & ((records["flags"] & layouts.PROPAGATABLE) > 0),
            large,
            np.where(compensates, middle, plain),
        )
        records["header"] = np.where(records["type"] == layouts.BACKOUT_FREE, middle, header)
        named = compensates & (records["header"] == large) & (records["length"] >= large)
        records["compensated"][named] = self._numbers(
            self.offsets[named], self.dialect.compensation["compensated"]
        )

    def _taken_for_backout_free(self) -> None:
        """Backout-free records with the header and the function of a compensation record are that,
        with a damaged type."""
        rows = np.flatnonzero(self.records["type"] == layouts.BACKOUT_FREE)
        large = self.dialect.sizes[2]
        rows = rows[self.records["length"][rows] > large + 1]
        body = self.offsets[rows] + large
        role = self.dialect.roles[DMS, self.buffer[body + 1]]
        meant = rows[(self.buffer[body] == DMS) & one_of(role, _UNDOES)]
        self.records["header"][meant] = large
        self.records["kind"][meant], self.records["contradicts"][meant] = RecordKind.COMPONENT, True

    def _framing(self) -> None:
        framing = self.shape.framing
        base = self.offsets - framing.size
        for name in ("lsn", "lfs", "lso"):
            if name in framing.parts:
                self.records[name] = self._numbers(base, framing.parts[name])
        if "sqlcode" in framing.parts:
            self.records["problem"][self._numbers(base, framing.parts["sqlcode"]) != 0] = (
                NOT_EXPANDED
            )

    def _component(self, rows: Index) -> None:
        records = self.records
        body = self.offsets[rows] + records["header"][rows]
        payload = records["length"][rows].astype(np.int64) - records["header"][rows]
        short = payload < 2
        component = np.where(short, 0, self.buffer[np.minimum(body, len(self.buffer) - 1)])
        function = np.where(short, 0, self.buffer[np.minimum(body + 1, len(self.buffer) - 1)])
        role = self.dialect.roles[np.minimum(component, 15), function]
        needed = np.where(component == DOM, 12, 6)
        role = np.where((payload < needed) | (component > 15), RecordRole.OTHER, role)
        temporary = (records["flags"][rows] & layouts.TEMPORARY_TABLE) > 0
        captured = (records["flags"][rows] & layouts.PROPAGATABLE) > 0
        role[temporary & ~captured] = RecordRole.OTHER
        records["temporary"][rows] = temporary & captured
        records["component"][rows], records["function"][rows], records["role"][rows] = (
            component,
            function,
            role,
        )
        for name, part, other in (
            ("space", layouts.DMS_HEADER["tablespace"], layouts.DOM_HEADER["tablespace"]),
            ("table", layouts.DMS_HEADER["table"], layouts.DOM_HEADER["table"]),
        ):
            value = np.where(component == DMS, self._numbers(body, part), 0)
            records[name][rows] = np.where(component == DOM, self._numbers(body, other), value)

    def _astray(self, rows: Index) -> tuple[Index, Index]:
        """Records of components that hold no rows, with the number of a function that does,
        and those of functions that hold none; and their roles, in place of which they get those of
        one with a row."""
        records = self.records
        role, component = records["role"][rows], records["component"][rows]
        meant = self.dialect.roles[DMS, records["function"][rows]]
        chosen = ~one_of(component, (DMS, DOM)) & one_of(
            meant, (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE)
        )
        temporary = (records["flags"][rows] & layouts.TEMPORARY_TABLE) > 0
        rowless = (component == DMS) & (role == RecordRole.OTHER) & ~temporary
        meant = np.where(rowless, RecordRole.DELETE, meant)
        chosen |= rowless
        astray = rows[chosen]
        roles = records["role"][astray].copy()
        records["role"][astray] = meant[chosen]
        return astray, roles

    def _disguised(self, rows: Index, roles: Index | RecordRole = RecordRole.OTHER) -> None:
        """FramedRecords whose type or component is none that holds rows, and which hold one all the
        same: that is damaged. The others get ``roles``."""
        records = self.records
        role = records["role"][rows]
        there = one_of(records["before_is"][rows], (NORMAL, OVERFLOWN)) | one_of(
            records["after_is"][rows], (NORMAL, OVERFLOWN)
        )
        holds = (
            one_of(role, (RecordRole.INSERT, RecordRole.DELETE, RecordRole.UPDATE))
            & there
            & (records["problem"][rows] == 0)
        )
        records["kind"][rows[holds]], records["contradicts"][rows[holds]] = (
            RecordKind.COMPONENT,
            True,
        )
        records["role"][rows[~holds]], records["problem"][rows[~holds]] = (
            np.broadcast_to(roles, len(rows))[~holds],
            0,
        )

    # -- rows
    # ---------------------------------------------------------------------------------------------

    def _rows(self) -> None:
        role = self.records["role"]
        self._single(np.flatnonzero(one_of(role, _ONE_ROW)))
        self._undone(np.flatnonzero(role == RecordRole.UNDO_INSERT))
        self._updates(np.flatnonzero(role == RecordRole.UPDATE))
        partial = np.flatnonzero(role == RecordRole.PARTIAL_UPDATE)
        self._problem(partial, np.ones(len(partial), bool), PARTIAL)
        foreign = np.flatnonzero(role == RecordRole.FOREIGN)
        self._problem(foreign, np.ones(len(foreign), bool), OTHER_RELEASE)

    def _problem(self, rows: Index, wrong: Mask, problem: int) -> None:
        chosen = rows[wrong]
        self.records["problem"][chosen[self.records["problem"][chosen] == 0]] = problem

    def _single(self, rows: Index) -> None:
        records, dialect = self.records, self.dialect
        body = self.offsets[rows] + records["header"][rows]
        payload = records["length"][rows].astype(np.int64) - records["header"][rows]
        records["rid"][rows] = self._numbers(body, dialect.row["rid"])
        if "flags" in dialect.row:
            records["moves"][rows] = (
                self._numbers(body, dialect.row["flags"]) & layouts.PARTITION_MOVE
            ) > 0
        size = self._numbers(body, dialect.row["length"]).astype(np.int64)
        lead = np.full(len(rows), dialect.row_size, np.int64)
        further = one_of(records["function"][rows], layouts.EMPTY_PAGE) & (
            payload == lead + layouts.EMPTY_PAGE_MORE + size
        )
        lead[further] += layouts.EMPTY_PAGE_MORE
        closes = payload == lead + size
        self._problem(rows, ~closes, ROW_OPEN)
        good = rows[closes]
        place, size = (body + lead)[closes], size[closes]
        after = records["role"][good] == RecordRole.INSERT
        self._image(good[after], "after", place[after], size[after])
        self._image(good[~after], "before", place[~after], size[~after])

    def _undone(self, rows: Index) -> None:
        body = self.offsets[rows] + self.records["header"][rows]
        self.records["rid"][rows] = self._numbers(body, self.dialect.undo_row["rid"])

    def _updates(self, rows: Index) -> None:
        """Split update records (section 9.4): by the old row's own length, else by the first
        half's, whichever closes the record."""
        records, dialect = self.records, self.dialect
        body = self.offsets[rows] + records["header"][rows]
        payload = records["length"][rows].astype(np.int64) - records["header"][rows]
        records["rid"][rows] = self._numbers(body, dialect.row["rid"])
        lead = dialect.row_size
        own = self._numbers(body + lead, layouts.ROW_HEADER["length"]).astype(np.int64)
        crossed = payload - 2 * lead - self._numbers(body, dialect.row["length"]).astype(np.int64)
        old, new, done = np.zeros_like(body), np.zeros_like(body), np.zeros(len(rows), bool)
        for attempt in (own, crossed):
            fits, after = self._split(body, payload, attempt)
            chosen = fits & ~done
            old[chosen], new[chosen] = attempt[chosen], after[chosen]
            done |= fits
        self._problem(rows, ~done, UPDATE_OPEN)
        good = rows[done]
        self._image(good, "before", (body + lead)[done], old[done])
        self._image(good, "after", (body + 2 * lead + old)[done], new[done])
        one_user = one_of(records["before_is"][good], (NORMAL, OVERFLOWN)) != one_of(
            records["after_is"][good], (NORMAL, OVERFLOWN)
        )
        internal = one_of(records["before_is"][good], (INTERNAL, UNKNOWN)) | one_of(
            records["after_is"][good], (INTERNAL, UNKNOWN)
        )
        self._problem(good, one_user & internal, HALF_INTERNAL)

    def _split(self, body: Index, payload: Index, old: Index) -> tuple[Mask, Index]:
        """Whether a record closes with an old row of ``old`` bytes, and the length of its new
        row."""
        lead = self.dialect.row_size
        second = body + lead + old
        possible = (old >= 0) & (2 * lead + old <= payload)
        second = np.where(possible, second, body)
        new = payload - 2 * lead - old
        same = self._numbers(second, layouts.DMS_HEADER["component"]) == DMS
        for name in ("function", "tablespace", "table"):
            part = layouts.DMS_HEADER[name]
            same &= self._numbers(body, part) == self._numbers(second, part)
        named = self._numbers(second + lead, layouts.ROW_HEADER["length"]).astype(np.int64)
        fits = (new < layouts.ROW_HEADER_SIZE) | (named == new)
        return possible & same & (new >= 0) & fits, new

    def _image(self, rows: Index, side: str, place: Index, size: Index) -> None:
        records, last = self.records, len(self.buffer) - 1
        records[side][rows], records[f"{side}_size"][rows] = place, size
        outer = np.where(size > 0, self.buffer[np.minimum(place, last)], 0)
        inner_at = layouts.ROW_HEADER["inner"].offset
        inner = np.where(
            size >= layouts.ROW_HEADER_SIZE, self.buffer[np.minimum(place + inner_at, last)], 0
        )
        overflow = (outer & layouts.OVERFLOW) > 0
        formatted = (inner & (layouts.FORMATTED | layouts.COMPRESSED)) > 0
        known = overflow | one_of(outer, layouts.NORMAL_OUTER)
        pointer = ~overflow & ((outer & layouts.POINTER) > 0)
        records[f"{side}_is"][rows] = np.select(
            [known & formatted & overflow, known & formatted, pointer, ~known & formatted],
            [OVERFLOWN, NORMAL, POINTS, UNKNOWN],
            INTERNAL,
        )

    # -- many rows in one record
    # ---------------------------------------------------------------------------------------------

    def _expanded(self) -> Records:
        """Records of many rows as one entry for each row; the first keeps the record's
        offset, the others begin at their row."""
        many = np.flatnonzero(
            one_of(self.records["role"], (RecordRole.INSERT_ROWS, RecordRole.UNDO_INSERT_ROWS))
        )
        if not len(many):
            return self.records
        pieces, start = [], 0
        for row in many.tolist():
            pieces += [self.records[start:row], self._entries(self.records[row : row + 1])]
            start = row + 1
        return np.concatenate([*pieces, self.records[start:]])

    def _entries(self, record: Records) -> Records:
        body = record["offset"] + record["header"]
        end = int(record["offset"][0]) + int(record["length"][0])
        insert = bool(record["role"][0] == RecordRole.INSERT_ROWS)
        count = int(self._numbers(body, layouts.INSERT_ROWS["count"])[0])
        entries = np.repeat(record, max(count, 1))
        entries["role"] = RecordRole.INSERT if insert else RecordRole.UNDO_INSERT
        place = int(body[0]) + layouts.INSERT_ROWS["rows"].offset
        for number in range(count):
            here = np.array([place])
            size = int(self._numbers(here, layouts.ROW_ENTRY["length"])[0]) if insert else 0
            row_at = place + layouts.ROW_ENTRY["row"].offset
            if row_at + size > end:
                break
            entries["part"][number] = number
            entries["offset"][number] = place if number else int(record["offset"][0])
            entries["rid"][number] = self._numbers(here, layouts.ROW_ENTRY["rid"])[0]
            if insert:
                self._many_image(entries, number, row_at, size)
            place = row_at + size
        else:
            if place == end and count:
                return entries
        entries = np.repeat(record, 1)
        entries["role"], entries["problem"] = (
            RecordRole.INSERT if insert else RecordRole.UNDO_INSERT,
            ROWS_OPEN,
        )
        return entries

    def _many_image(self, entries: Records, number: int, place: int, size: int) -> None:
        whole, self.records = self.records, entries
        self._image(np.array([number]), "after", np.array([place]), np.array([size]))
        self.records = whole
