"""The first look at a log: the header of every record and the bounds of its row images, column by column (format notes, sections 4 to 9)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import numbers
from replay.logs.db2luw.framing import Records, Shape
from replay.logs.db2luw.layouts import DMS, DOM, Kind, Role

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What is known of a record. Positions: ``lsn`` and ``lfs`` of the record where known, ``lso`` where the framing says it, ``previous`` of its
#: transaction, ``compensated`` of a compensation record. ``before`` and ``after`` are the row images (with row header), -1 for none,
#: ``before_is`` and ``after_is`` their :class:`Row`. ``problem``: an index of :data:`PROBLEMS`; ``odd``: the header contradicts what follows it.
SCANNED = np.dtype(
    [
        ("file", "<u2"), ("offset", "<i8"), ("length", "<i4"), ("type", "u1"), ("kind", "u1"), ("flags", "<u2"), ("header", "u1"),
        ("tid", "<u8"), ("lsn", "<u8"), ("lfs", "<u8"), ("lso", "<u8"), ("previous", "<u8"), ("compensated", "<u8"), ("component", "u1"),
        ("function", "u1"), ("role", "u1"), ("space", "<u2"), ("table", "<u2"), ("rid", "<u8"), ("moves", "?"), ("part", "<u2"),
        ("before", "<i8"), ("before_size", "<i4"), ("before_is", "u1"), ("after", "<i8"), ("after_size", "<i4"), ("after_is", "u1"),
        ("problem", "u1"), ("odd", "?"),
    ]
)  # fmt: skip

#: Kinds of row images.
NONE, NORMAL, OVERFLOWN, POINTS, INTERNAL = 0, 1, 2, 3, 4

#: What is wrong with a record: (found, expected, what to do).
_DAMAGED = "The record is damaged: collect the log again"
PROBLEMS: tuple[tuple[str, str, str], ...] = (
    ("", "", ""),
    ("a row that does not end where its record does", "a record length that closes", _DAMAGED),
    ("two row images that do not end where their record does", "an old and a new row that close the record", _DAMAGED),
    ("a row that the log reader could not expand (its sqlcode is not 0)", "a row", "Read the log on the server, with its dictionaries"),
    (
        "an update of which only the changed bytes are logged (function 121)",
        "both row images",
        "Leave the table out (--exclude-table); for later logs: ALTER TABLE … DATA CAPTURE CHANGES",
    ),
    ("a moved row whose other half is not in the log", "its overflow record in the same unit of recovery", "Give all files of the log"),
    ("an update between a user row and an internal one", "two user rows", _DAMAGED),
    ("records of many rows that do not fill their record", "as many rows as the record says", _DAMAGED),
)
ROW_OPEN, UPDATE_OPEN, NOT_EXPANDED, PARTIAL, HALF_MOVED, HALF_INTERNAL, ROWS_OPEN = range(1, 8)

_BATCH = 262_144


def scan(buffer: Bytes, shape: Shape, file: int, records: Records) -> Iterator[npt.NDArray[np.void]]:
    """The records of a file in batches (dtype :data:`SCANNED`), many-row records as one entry a row, behind each other."""
    for start in range(0, len(records.offsets), _BATCH):
        part = slice(start, start + _BATCH)
        yield _Scan(buffer, shape, file, records.offsets[part], records.lengths[part]).run()


class _Scan:
    def __init__(self, buffer: Bytes, shape: Shape, file: int, offsets: Index, lengths: npt.NDArray[np.int32]) -> None:
        self.buffer, self.shape, self.dialect, self.big = buffer, shape, shape.dialect, shape.big
        self.offsets = offsets
        self.found = np.zeros(len(offsets), SCANNED)
        self.found["file"], self.found["offset"], self.found["length"] = file, offsets, lengths
        self.found["before"] = self.found["after"] = -1

    def run(self) -> npt.NDArray[np.void]:
        self._header()
        self._framing()
        first = self.buffer[np.minimum(self.offsets + self.found["header"], len(self.buffer) - 1)]
        other = np.isin(self.found["kind"], (Kind.IGNORED, Kind.LOAD, Kind.UNKNOWN)) & (first == DMS)
        component = np.flatnonzero((self.found["kind"] == Kind.COMPONENT) | other)
        if len(component):
            self._component(component)
            astray, roles = self._astray(component)
            self._rows()
            self._disguised(np.flatnonzero(other))
            self._disguised(astray, roles)
        return self._expanded()

    def _numbers(self, base: Index, part: layouts.Part) -> npt.NDArray[np.uint64]:
        return numbers(self.buffer, base, part, self.big)

    def _header(self) -> None:
        found, layout = self.found, self.dialect.header
        kind = self._numbers(self.offsets, layout["type"])
        found["type"] = np.where(kind < 256, kind, 0)
        found["kind"] = layouts.KIND_OF_TYPE[found["type"]]
        found["flags"] = self._numbers(self.offsets, layout["flags"])
        found["tid"] = self._numbers(self.offsets, layout["tid"])
        found["previous"] = self._numbers(self.offsets, layout["previous"])
        for name in ("lsn", "lfs"):
            if name in layout:
                found[name] = self._numbers(self.offsets, layout[name])
        if "stream" in layout:
            found["tid"] |= self._numbers(self.offsets, layout["stream"]) << np.uint64(48)
        plain, middle, large = self.dialect.sizes
        compensates = found["type"] == layouts.COMPENSATION
        header = np.where(compensates & ((found["flags"] & layouts.PROPAGATABLE) > 0), large, np.where(compensates, middle, plain))
        found["header"] = np.where(found["type"] == layouts.BACKOUT_FREE, middle, header)
        named = compensates & (found["header"] == large) & (found["length"] >= large)
        found["compensated"][named] = self._numbers(self.offsets[named], self.dialect.compensation["compensated"])

    def _framing(self) -> None:
        framing = self.shape.framing
        base = self.offsets - framing.size
        for name in ("lsn", "lfs", "lso"):
            if name in framing.parts:
                self.found[name] = self._numbers(base, framing.parts[name])
        if "sqlcode" in framing.parts:
            self.found["problem"][self._numbers(base, framing.parts["sqlcode"]) != 0] = NOT_EXPANDED

    def _component(self, rows: Index) -> None:
        found = self.found
        body = self.offsets[rows] + found["header"][rows]
        payload = found["length"][rows].astype(np.int64) - found["header"][rows]
        short = payload < 2
        component = np.where(short, 0, self.buffer[np.minimum(body, len(self.buffer) - 1)])
        function = np.where(short, 0, self.buffer[np.minimum(body + 1, len(self.buffer) - 1)])
        role = self.dialect.roles[np.minimum(component, 15), function]
        needed = np.where(component == DOM, 12, 6)
        role = np.where((payload < needed) | (component > 15), Role.OTHER, role)
        temporary = (found["flags"][rows] & layouts.TEMPORARY_TABLE) > 0
        captured = (found["flags"][rows] & layouts.PROPAGATABLE) > 0  # which no temporary table is
        role[temporary & ~captured] = Role.OTHER
        found["odd"][rows[temporary & captured]] = True
        found["component"][rows], found["function"][rows], found["role"][rows] = component, function, role
        for name, part, other in (
            ("space", layouts.DMS_HEADER["tablespace"], layouts.DOM_HEADER["tablespace"]),
            ("table", layouts.DMS_HEADER["table"], layouts.DOM_HEADER["table"]),
        ):
            value = np.where(component == DMS, self._numbers(body, part), 0)
            found[name][rows] = np.where(component == DOM, self._numbers(body, other), value)

    def _astray(self, rows: Index) -> tuple[Index, Index]:
        """Records of components that hold no rows, with the number of a function that does; and their roles, in place of which they get that one's."""
        found = self.found
        meant = self.dialect.roles[DMS, found["function"][rows]]
        chosen = ~np.isin(found["component"][rows], (DMS, DOM)) & np.isin(meant, (Role.INSERT, Role.DELETE, Role.UPDATE))
        astray = rows[chosen]
        roles = found["role"][astray].copy()
        found["role"][astray] = meant[chosen]
        return astray, roles

    def _disguised(self, rows: Index, roles: Index | Role = Role.OTHER) -> None:
        """Records whose type or component is none that holds rows, and which hold one all the same: that is damaged. The others get ``roles``."""
        found = self.found
        role = found["role"][rows]
        there = np.isin(found["before_is"][rows], (NORMAL, OVERFLOWN)) | np.isin(found["after_is"][rows], (NORMAL, OVERFLOWN))
        holds = np.isin(role, (Role.INSERT, Role.DELETE, Role.UPDATE)) & there & (found["problem"][rows] == 0)
        found["kind"][rows[holds]], found["odd"][rows[holds]] = Kind.COMPONENT, True
        found["role"][rows[~holds]], found["problem"][rows[~holds]] = np.broadcast_to(roles, len(rows))[~holds], 0

    # -- rows ---------------------------------------------------------------------------------------------------------------------------

    def _rows(self) -> None:
        role = self.found["role"]
        self._single(np.flatnonzero(np.isin(role, (Role.INSERT, Role.DELETE, Role.UNDO_DELETE, Role.UNDO_UPDATE))))
        self._undone(np.flatnonzero(role == Role.UNDO_INSERT))
        self._updates(np.flatnonzero(role == Role.UPDATE))
        partial = np.flatnonzero(role == Role.PARTIAL_UPDATE)
        self._problem(partial, np.ones(len(partial), bool), PARTIAL)

    def _problem(self, rows: Index, wrong: Mask, problem: int) -> None:
        chosen = rows[wrong]
        self.found["problem"][chosen[self.found["problem"][chosen] == 0]] = problem

    def _single(self, rows: Index) -> None:
        found, dialect = self.found, self.dialect
        body = self.offsets[rows] + found["header"][rows]
        payload = found["length"][rows].astype(np.int64) - found["header"][rows]
        found["rid"][rows] = self._numbers(body, dialect.row["rid"])
        if "flags" in dialect.row:
            found["moves"][rows] = (self._numbers(body, dialect.row["flags"]) & layouts.PARTITION_MOVE) > 0
        size = self._numbers(body, dialect.row["length"]).astype(np.int64)
        lead = np.full(len(rows), dialect.row_size, np.int64)
        further = np.isin(found["function"][rows], layouts.EMPTY_PAGE) & (payload == lead + layouts.EMPTY_PAGE_MORE + size)
        lead[further] += layouts.EMPTY_PAGE_MORE
        closes = payload == lead + size
        self._problem(rows, ~closes, ROW_OPEN)
        good = rows[closes]
        place, size = (body + lead)[closes], size[closes]
        after = found["role"][good] == Role.INSERT
        self._image(good[after], "after", place[after], size[after])
        self._image(good[~after], "before", place[~after], size[~after])

    def _undone(self, rows: Index) -> None:
        body = self.offsets[rows] + self.found["header"][rows]
        self.found["rid"][rows] = self._numbers(body, self.dialect.undo_row["rid"])

    def _updates(self, rows: Index) -> None:
        """Split update records (section 9.4): by the old row's own length, else by the first half's, whichever closes the record."""
        found, dialect = self.found, self.dialect
        body = self.offsets[rows] + found["header"][rows]
        payload = found["length"][rows].astype(np.int64) - found["header"][rows]
        found["rid"][rows] = self._numbers(body, dialect.row["rid"])
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
        one_user = np.isin(found["before_is"][good], (NORMAL, OVERFLOWN)) != np.isin(found["after_is"][good], (NORMAL, OVERFLOWN))
        internal = (found["before_is"][good] == INTERNAL) | (found["after_is"][good] == INTERNAL)
        self._problem(good, one_user & internal, HALF_INTERNAL)

    def _split(self, body: Index, payload: Index, old: Index) -> tuple[Mask, Index]:
        """Whether a record closes with an old row of ``old`` bytes, and the length of its new row."""
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
        found, last = self.found, len(self.buffer) - 1
        found[side][rows], found[f"{side}_size"][rows] = place, size
        outer = np.where(size > 0, self.buffer[np.minimum(place, last)], 0)
        inner_at = layouts.ROW_HEADER["inner"].offset
        inner = np.where(size >= layouts.ROW_HEADER_SIZE, self.buffer[np.minimum(place + inner_at, last)], 0)
        overflow = (outer & layouts.OVERFLOW) > 0
        user = (overflow | np.isin(outer, layouts.NORMAL_OUTER)) & ((inner & (layouts.FORMATTED | layouts.COMPRESSED)) > 0)
        pointer = ~overflow & ((outer & layouts.POINTER) > 0)
        found[f"{side}_is"][rows] = np.where(user, np.where(overflow, OVERFLOWN, NORMAL), np.where(pointer, POINTS, INTERNAL))

    # -- many rows in one record --------------------------------------------------------------------------------------------------------

    def _expanded(self) -> npt.NDArray[np.void]:
        """Records of many rows as one entry for each row; the first keeps the record's offset, the others begin at their row."""
        many = np.flatnonzero(np.isin(self.found["role"], (Role.INSERT_ROWS, Role.UNDO_INSERT_ROWS)))
        if not len(many):
            return self.found
        pieces, start = [], 0
        for row in many.tolist():
            pieces += [self.found[start:row], self._entries(self.found[row : row + 1])]
            start = row + 1
        return np.concatenate([*pieces, self.found[start:]])

    def _entries(self, record: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        body = record["offset"] + record["header"]
        end = int(record["offset"][0]) + int(record["length"][0])
        insert = bool(record["role"][0] == Role.INSERT_ROWS)
        count = int(self._numbers(body, layouts.INSERT_ROWS["count"])[0])
        entries = np.repeat(record, max(count, 1))
        entries["role"] = Role.INSERT if insert else Role.UNDO_INSERT
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
        entries["role"], entries["problem"] = Role.INSERT if insert else Role.UNDO_INSERT, ROWS_OPEN
        return entries

    def _many_image(self, entries: npt.NDArray[np.void], number: int, place: int, size: int) -> None:
        whole, self.found = self.found, entries
        self._image(np.array([number]), "after", np.array([place]), np.array([size]))
        self.found = whole
