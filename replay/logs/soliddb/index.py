"""The index of a log: what became of every row, made once when a log is opened and looked up by
place afterwards.

SolidTransactions (:mod:`transactions`), framing (:mod:`detect`), tables (:mod:`table_history`) and
changes (:mod:`changes`) come together in two arrays, one entry a row and one entry a unit, which
lie in files, so that engines map them instead of carrying them. All of it goes window by window
(:mod:`replay.spill`), so that memory does not grow with the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from replay import spill
from replay.arrays import Index, Mask, Records, one_of
from replay.changes.catalog import RowFormat
from replay.changes.envelope import Change
from replay.errors import InputError
from replay.logs.soliddb import changes, faults, layouts, table_history
from replay.logs.soliddb.ddl_records import DdlTexts
from replay.logs.soliddb.detect import SolidShape, TableImages, settle
from replay.logs.soliddb.entries import ENTRY, units_of
from replay.logs.soliddb.export import NONE, UNNAMED
from replay.logs.soliddb.joined_rows import Joined
from replay.logs.soliddb.layouts import Rec, ValueFraming
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.rows import SolidRowWalk, walk
from replay.logs.soliddb.table_history import Known, SolidTableHistory
from replay.logs.soliddb.tables import Attribute, Settings, SolidTable, WantedTables
from replay.logs.soliddb.transactions import (
    SHOWN,
    AddressFaults,
    IndexNotes,
    SolidTransactions,
    address_faults,
)
from replay.logs.soliddb.values import Keys, ValueNotes, look_at, words_of
from replay.spill import Spill, near_windows, windows, windows_back
from sqlgen.structure import StructureChange

_BATCH = 262_144
_FAR = np.iinfo(np.int64).max
_NO_KIND = 255
#: What records of a unit are, by their kind.
_CHANGE_OF = np.full(256, Change.CONTROL, np.uint8)
_CHANGE_OF[[Rec.INSERT, Rec.DELETE]] = Change.INSERT, Change.DELETE
_CHANGE_OF[[Rec.UPDATE, Rec.BEFORE]] = Change.UPDATE


@dataclass(frozen=True)
class SolidIndex:
    """``by_address``: commit positions are the first 8 bytes of LOGADDR; else they are file and
    row."""

    entries: Records
    units: Records
    timeline: SolidTableHistory
    structure: Mapping[tuple[int, int], StructureChange]
    shape: SolidShape
    alike: tuple[str, ...]
    by_address: bool
    warnings: tuple[str, ...]


def build_index(
    rows: Joined,
    bounds: SolidTransactions,
    tables: Mapping[int, SolidTable],
    manifest: Manifest,
    settings: Settings,
    folder: str | None = None,
) -> SolidIndex:
    """Index a log. ``folder``: where large arrays lie (None: in memory). Errors as
    :func:`detect.settle`; InputError LR2015 where text is not of the character set."""
    return _IndexBuilder(
        rows, bounds, WantedTables.of(tables, settings), manifest, settings, folder
    ).run()


class _IndexBuilder:
    def __init__(
        self,
        rows: Joined,
        bounds: SolidTransactions,
        wanted: WantedTables,
        manifest: Manifest,
        settings: Settings,
        folder: str | None,
    ) -> None:
        self.rows, self.bounds, self.manifest, self.settings = rows, bounds, manifest, settings
        self.arrays = Spill(folder)
        self.recid, self.table = rows.numbers["RECID"], rows.numbers["RELID"]
        self.entries = self.arrays.zeros(len(rows), ENTRY)
        #: RECID as a byte, :data:`_NO_KIND` for numbers that are none.
        self.kind = self.arrays.zeros(len(rows), np.uint8)
        self.notes, self.of_values = IndexNotes(), dict[int, ValueNotes]()
        #: Rows of units that are committed and new; of those without their commit some rows may be
        #: missing, and they are set aside below.
        self.live = self.arrays.zeros(len(rows), bool)
        for part in windows(len(rows)):
            unit = bounds.unit[part]
            inside = np.flatnonzero(unit >= 0)
            mine = unit[inside]
            good = (bounds.disposition[mine] == ord("C")) & (bounds.copy_of[mine] < 0)
            self.live[part.start + inside] = good
            recid = self.recid[part]
            self.kind[part] = np.where((recid >= 0) & (recid < _NO_KIND), recid, _NO_KIND)
        self.wanted, self.tables = wanted, wanted.tables
        self.ddl = DdlTexts(
            rows, bounds, wanted, self.live, self.entries, self.notes, settings.charset
        )
        self.images: Index = np.zeros(0, np.int64)
        #: The images of each table, and of each version of one, in log order.
        self.of_table: dict[int, Index] = {}

    def run(self) -> SolidIndex:
        """Errors as :func:`build_index`."""
        self._plain()
        self._header_faults()
        self.images = self.arrays.places(len(self.rows), self._is_image)
        self._by_table(self.images)
        self._count()
        self.wanted.check_names(self._spans(), self.rows.files[0].name)
        exported = self._exported()
        shape, alike = self._shape(exported)
        line = self._timeline(shape, exported)
        self._versions(line)
        self._put_together(self.images, shape, line)
        self._unit_faults(address_faults(self.rows, self.bounds))
        of_values = [
            text
            for version, notes in sorted(self.of_values.items())
            for text in words_of(notes, line.versions[version], self.rows.where)
        ]
        units, by_address = units_of(self.rows, self.bounds)
        places = {
            (int(self.rows.file[row]), int(self.rows.row[row])): change
            for row, (_, change) in line.changes.items()
        }
        warnings = (*line.warnings, *self.notes.words(self.bounds.outside, of_values))
        return SolidIndex(self.entries, units, line, places, shape, alike, by_address, warnings)

    # -- rows by themselves
    # ---------------------------------------------------------------------------------------------

    def _plain(self) -> None:
        rows, begin = self.rows, self.bounds.begin()
        for part in near_windows(len(rows)):
            entries, kind, unit = self.entries[part], self.kind[part], self.bounds.unit[part]
            entries["file"], entries["row"], entries["unit"] = rows.file[part], rows.row[part], unit
            for name, source in (
                ("recid", "RECID"),
                ("trx", "TRXID"),
                ("statement", "STMTTRXID"),
                ("table", "RELID"),
                ("flags", "FLAGS"),
            ):
                values = rows.numbers[source][part]
                entries[name] = (
                    np.where(values == NONE, -1, values) if name in ("recid", "flags") else values
                )
            entries["start"], entries["size"] = rows.start[part], rows.end[part] - rows.start[part]
            entries["place"] = row = np.arange(part.start, part.stop)
            entries["segment"] = entries["segments"] = 1
            entries["version"] = entries["before"] = entries["after"] = entries["other"] = -1
            loose = one_of(kind, layouts.DATA_RECS) & (row < begin)
            outside = np.where(loose, Change.HEADLESS, Change.CONTROL)
            entries["change"] = np.where(unit >= 0, _CHANGE_OF[kind], outside)

    def _spans(self) -> dict[int, tuple[int, int]]:
        """The first and the last row of the committed changes of each table."""
        spans: dict[int, tuple[int, int]] = {}
        for part in windows(len(self.rows)):
            live = np.flatnonzero(self.live[part])
            table = self.table[part][live]
            for relid, first in zip(*_firsts(table), strict=True):
                last = int(live[np.flatnonzero(table == relid)[-1]])
                begin = spans.get(relid, (part.start + int(live[first]), 0))[0]
                spans[relid] = begin, part.start + last
        return spans

    def _is_image(self, part: slice) -> Mask:
        """Row images of user tables in units that are whole and new, as far as their header
        allows."""
        entries, unit, table = self.entries[part], self.bounds.unit[part], self.table[part]
        holds = one_of(self.kind[part], layouts.DATA_RECS)
        row = one_of(self.kind[part], layouts.ROW_RECS) & (unit >= 0)
        system, away = self.wanted.system(table), self.wanted.away(table)
        entries["change"][row & system] = Change.CATALOG
        entries["change"][holds & away] = Change.ELSEWHERE
        repeated = unit >= 0
        repeated[repeated] = self.bounds.copy_of[unit[repeated]] >= 0
        entries["change"][holds & repeated] = Change.REPEATED
        return np.asarray(row & self.live[part] & ~system & ~away & (entries["fault"] == 0))

    def _by_table(self, images: Index) -> None:
        ordered = self.arrays.by(images, lambda rows: self.table[rows])
        edges = [0]
        for part in windows(len(ordered)):
            table = self.table[ordered[max(part.start - 1, 0) : part.stop]]
            edges += (np.flatnonzero(np.diff(table)) + max(part.start - 1, 0) + 1).tolist()
        for begin, end in pairwise([*edges, len(ordered)] if len(ordered) else []):
            self.of_table[int(self.table[ordered[begin]])] = ordered[begin:end]

    def _fault(self, rows: Index, fault: int) -> None:
        for part in windows(len(rows)):
            chosen = rows[part]
            chosen = chosen[self.entries["fault"][chosen] == 0]
            self.entries["fault"][chosen] = fault

    def _header_faults(self) -> None:
        for part in windows(len(self.rows)):
            self._header_faults_of(part)

    def _header_faults_of(self, part: slice) -> None:
        recid, table, inside = self.recid[part], self.table[part], self.live[part]
        flags, named = self.rows.numbers["FLAGS"][part], self.rows.named[part]
        holds = one_of(self.kind[part], layouts.DATA_RECS)
        row = one_of(self.kind[part], layouts.ROW_RECS)
        blank = (recid == NONE) | (recid == Rec.EMPTY)
        known = one_of(self.kind[part], Rec)
        strange = inside & ~blank & ~known
        empty = holds & (((flags & layouts.FLAG_DATA) == 0) | self.rows.data_null[part])
        # of those without a RECNAME it is not asked
        misnamed = (named != UNNAMED) & (named != recid) & known
        for wrong, fault in (
            (blank, faults.NO_DATA),
            (empty | (row & (table == NONE)), faults.NO_DATA),
            (strange, faults.NO_KIND),
            (misnamed, faults.WRONG_NAME),
        ):
            self._fault(part.start + np.flatnonzero(inside & wrong), fault)
        self.entries["change"][part][strange | (inside & blank)] = 0

    # -- framing and tables
    # ---------------------------------------------------------------------------------------------

    def _exported(self) -> Known:
        """What the export of the system tables knows of."""
        dropped = {relid: self._row_behind(at) for relid, at in self.manifest.dropped.items()}
        at = self.manifest.metadata_at
        return Known(len(self.rows) if at is None else self._row_behind(at), dropped)

    def _row_behind(self, at: bytes) -> int:
        """The first row behind a commit."""
        bounds, behind = self.bounds, 0
        for part in windows(len(bounds.last)):
            last = bounds.last[part][bounds.whole[part] & (bounds.copy_of[part] < 0)]
            if len(at) == self.rows.address.shape[1]:
                up_to = last[self.rows.addresses(last) <= at]
            else:
                up_to = last[[self.rows.address_of(row) <= at for row in last.tolist()]]
            behind = max(behind, int(up_to.max(initial=-1)) + 1)
        return behind

    def _shape(self, exported: Known) -> tuple[SolidShape, tuple[str, ...]]:
        """That of the images; also where DDL can be read in one framing alone."""
        name, framings = self.settings.framing, layouts.FRAMINGS
        try:
            return self._shape_by(exported, name, framings[name] if name else None)
        except InputError as error:
            found = []
            for one in () if name or error.code != "LR2004" else framings:
                with suppress(InputError):
                    found.append(self._shape_by(exported, one, framings[one]))
            if len(found) != 1:
                raise
            return found[0]

    def _shape_by(
        self, exported: Known, name: str | None, framing: ValueFraming | None
    ) -> tuple[SolidShape, tuple[str, ...]]:
        """Found out from images whose columns are known: those of tables as the export shows them,
        and, as far as statements tell, before and after."""
        records, unread = self.ddl.records(framing)
        line = table_history.build(
            self.tables, records, exported, "C", self.settings.charset, lambda *_: (False, 1)
        )
        clear: dict[int, Index] = {}
        for relid, mine in self.of_table.items():
            boundary = exported.of(relid)
            about = unread[(self.table[unread] == relid) | (self.table[unread] == NONE)]
            low = about[about < boundary].max(initial=-1)
            high = about[about >= boundary].min(initial=len(self.rows))
            clear[relid] = _between(mine, low, high)

        def known() -> Iterator[TableImages]:
            for relid, mine in clear.items():
                yield from self._by_version(line, relid, mine).values()

        def exported_ones() -> Iterator[TableImages]:
            for relid, mine in clear.items():
                if relid in self.tables and len(mine):
                    last = int(line.version_at(relid, np.array([exported.of(relid) - 1]))[0])
                    yield self._as_exported(line, relid, mine, last)

        refusal: InputError | None = None
        # old images may have been widened to the columns of now
        for attempt in map(list, (known(), exported_ones(), self._as_they_are().values())):
            if any(len(group.start) for group in attempt):
                try:
                    return settle(
                        attempt,
                        self.rows.data,
                        self.rows.files[0].name,
                        name,
                        self.settings.columns,
                    )
                except InputError as error:
                    if error.code != "LR2004":
                        raise
                    refusal = refusal or error
        if refusal is not None:
            raise refusal
        return settle([], self.rows.data, "", name, self.settings.columns)

    def _as_they_are(self) -> dict[int, TableImages]:
        """All images of the tables that the export of the system tables has, with their columns as
        it has them, by table."""
        return {
            relid: self._group(mine, self.tables[relid].attributes, relid)
            for relid, mine in self.of_table.items()
            if relid in self.tables
        }

    def _as_exported(
        self, line: SolidTableHistory, relid: int, rows: Index, version: int
    ) -> TableImages:
        """Those of some images of a table that are of a version, with the columns that the export
        of the system tables has."""
        chosen = self._of_version(line, relid, rows, version)
        return self._group(chosen, self.tables[relid].attributes, relid)

    def _by_version(
        self, line: SolidTableHistory, relid: int, rows: Index
    ) -> dict[int, TableImages]:
        """Some images of a table by the version that it has there, as far as it has one."""
        return {
            number: self._group(
                self._of_version(line, relid, rows, number), line.attributes[number], relid
            )
            for number in line.versions_at(relid, rows)
            if number >= 0
        }

    def _of_version(self, line: SolidTableHistory, relid: int, rows: Index, number: int) -> Index:
        """Those of some rows of a table where it is in a version."""
        if line.versions_at(relid, rows) == [number]:
            return rows
        return self.arrays.chosen(rows, lambda some: line.version_at(relid, some) == number)

    def _group(self, chosen: Index, attributes: tuple[Attribute, ...], relid: int) -> TableImages:
        table = self.tables.get(relid)
        name = f"RELID {relid}" if table is None else f"{table.schema}.{table.name}"
        start, end, row = (self.arrays.zeros(len(chosen), np.int64) for _ in range(3))
        for part in windows(len(chosen)):
            mine = chosen[part]
            start[part], end[part] = self.rows.start[mine], self.rows.end[mine]
            row[part] = self.rows.row[mine]
        return TableImages(name, attributes, start, end, row)

    def _timeline(self, shape: SolidShape, exported: Known) -> SolidTableHistory:
        records, unread = self.ddl.records(shape.framing)
        self._fault(unread, faults.NO_LAYOUT)

        return table_history.build(
            self.tables, records, exported, shape.columns, self.settings.charset,
            partial(self._closes, shape), partial(self._stays, shape),
        )  # fmt: skip

    def _closes(
        self, shape: SolidShape, relid: int, low: int, high: int, fmt: RowFormat
    ) -> tuple[bool, int]:
        """As :data:`replay.logs.soliddb.table_history.Closes`."""
        mine = _between(self.of_table.get(relid, self.images[:0]), low, high)
        return all(
            not self._walk(fmt, mine[part], shape).bad.any() for part in windows(len(mine))
        ), len(mine)

    def _stays(self, shape: SolidShape, relid: int, row: int, fmt: RowFormat) -> bool:
        """As :data:`replay.logs.soliddb.table_history.Stays`, of as many rows as a window holds."""
        mine = self.of_table.get(relid, self.images[:0])
        left = mine[: int(np.searchsorted(mine, row))][-spill.WINDOW :]
        seen = mine[int(np.searchsorted(mine, row)) :][: spill.WINDOW]
        left = left[one_of(self.kind[left], (Rec.INSERT, Rec.UPDATE))]
        seen = seen[one_of(self.kind[seen], (Rec.BEFORE, Rec.DELETE))]
        known = {self._image(row) for row in left.tolist()}
        seen = seen[[self._image(row) in known for row in seen.tolist()]]
        if not len(seen):
            return False
        images, every = self._walk(fmt, seen, shape), range(len(fmt.columns))
        nothing = {None, 0, "", b"", "0"}
        return not images.bad.any() and all(
            any(value not in nothing for value in images.decode(index)[0].to_pylist())
            for index in every
        )

    def _image(self, row: int) -> bytes:
        return self.rows.data[self.rows.start[row] : self.rows.end[row]].tobytes()

    def _walk(self, fmt: RowFormat, rows: Index, shape: SolidShape) -> SolidRowWalk:
        return walk(fmt, self.rows.data, self.rows.start[rows], self.rows.end[rows], shape.framing)

    def _versions(self, line: SolidTableHistory) -> None:
        for relid, rows in self.of_table.items():
            for part in windows(len(rows)):
                mine = rows[part]
                found = line.version_at(relid, mine)
                self.entries["version"][mine] = found
                self._fault(mine[found < 0], faults.NO_TABLE)
        for row, (version, _) in line.changes.items():
            self.entries["change"][row], self.entries["version"][row] = Change.STRUCTURE, version
        for row, version in line.truncated.items():
            self.entries["change"][row], self.entries["version"][row] = Change.TRUNCATE, version
            if version < 0:
                self._fault(np.array([row]), faults.NO_TABLE)

    # -- changes
    # ---------------------------------------------------------------------------------------------

    def _put_together(self, images: Index, shape: SolidShape, line: SolidTableHistory) -> None:
        """Changes out of images: their order, what they are, and what contradicts. Images of one
        unit are put together at once, those of several as many as a window holds."""
        rows, unit = self.rows, self.bounds.unit
        keys = self._look_at_all(shape, line)
        emptied = self._emptied(line)
        start = 0
        while start < len(images):
            # up to the end of the unit in which the window ends
            last = unit[images[min(start + spill.WINDOW, len(images)) - 1]]
            stop = int(np.searchsorted(images, self.bounds.last[last], side="right"))
            if stop - start > spill.WINDOW and unit[images[start]] != last:
                stop = int(np.searchsorted(images, self.bounds.first[last]))
            mine = np.array(images[start:stop])
            held = changes.RowRecords(
                rows.data, self.recid[mine], unit[mine], rows.numbers["STMTTRXID"][mine],
                self.table[mine], self.entries["version"][mine],
                keys.codes(mine, self.table[mine]), self._eras(mine, emptied),
                rows.start[mine], rows.end[mine],
            )  # fmt: skip
            self._put(mine, held)
            start = stop

    def _emptied(self, line: SolidTableHistory) -> dict[int, Index]:
        """At which rows tables are emptied, by table."""
        found: dict[int, list[int]] = {}
        for row, version in sorted(line.truncated.items()):
            for relid in self.of_table:
                if version >= 0 and line.version_at(relid, np.array([row]))[0] == version:
                    found.setdefault(relid, []).append(row)
        return {relid: np.array(rows) for relid, rows in found.items()}

    def _eras(self, images: Index, emptied: Mapping[int, Index]) -> Index:
        """How often the table of each image was emptied before it."""
        eras = np.zeros(len(images), np.int64)
        for relid, rows in emptied.items():
            mine = np.flatnonzero(self.table[images] == relid)
            eras[mine] = np.searchsorted(rows, images[mine])
        return eras

    def _put(self, images: Index, held: changes.RowRecords) -> None:
        entries, paired = self.entries, changes.put_together(held)
        self.kind[images] = paired.recid
        self._fault(images[paired.unpaired], faults.UNPAIRED)
        wrong = np.flatnonzero(paired.contradicts >= 0)
        self._fault(images[wrong], faults.CONTRADICTS)
        entries["other"][images[wrong]] = images[paired.contradicts[wrong]]
        entries["place"][images] = images[paired.place]
        entries["cancelled"][images] = paired.cancelled
        self._images(images, paired)
        self._capture(images, held)

    def _look_at_all(self, shape: SolidShape, line: SolidTableHistory) -> Keys:
        """Look at all images, version by version; which row each one is of."""
        keys = Keys(self.arrays, len(self.rows))
        of_version: dict[int, int] = {}
        for relid, rows in self.of_table.items():
            of_version.update(dict.fromkeys(line.versions_at(relid, rows), relid))
        for version, relid in sorted(of_version.items()):
            if version < 0:
                continue
            of_table = line.versions[version]
            chosen = self._of_version(line, relid, self.of_table[relid], version)
            for low in range(0, len(chosen), _BATCH):
                part = chosen[low : low + _BATCH]
                images_walk = self._walk(of_table.format, part, shape)
                notes = look_at(
                    images_walk, of_table, self.rows.where, part, self.settings.charset_named
                )
                self.of_values.setdefault(version, ValueNotes()).add(notes)
                keys.add(relid, part, images_walk, of_table)
        return keys

    def _images(self, images: Index, pairs: changes.PairedChanges) -> None:
        entries = self.entries
        for part in near_windows(len(images)):
            rows, other = images[part], images[pairs.partner[part]]
            kind, paired = self.kind[rows], other != rows
            entries["change"][rows] = _CHANGE_OF[kind]
            entries["segments"][rows] = np.where(paired, 2, 1)
            entries["segment"][rows] = np.where(paired & (kind == Rec.UPDATE), 2, 1)
            of_pair = np.where(paired, other, -1)
            before = np.where(one_of(kind, (Rec.DELETE, Rec.BEFORE)), rows, of_pair)
            after = np.where(one_of(kind, (Rec.INSERT, Rec.UPDATE)), rows, of_pair)
            for name, source in (("before", before), ("after", after)):
                there = source >= 0
                start, end = self.rows.start[source], self.rows.end[source]
                entries[name][rows] = np.where(there, start, -1)
                entries[f"{name}_size"][rows] = np.where(there, end - start, 0)

    def _capture(self, images: Index, held: changes.RowRecords) -> None:
        """What CAPTURE_OFF means for the changes of flagged units (section 5.1)."""
        flags = self.bounds.flags[held.unit]
        flagged = np.flatnonzero((flags & layouts.FLAG_CAPTURE_OFF) > 0)
        policy = self.settings.capture_off
        if not len(flagged) or policy == "apply":
            return
        if policy == "skip-all":
            self.entries["change"][images[flagged]] = Change.UNCAPTURED
        elif policy == "skip-deletes":
            self._skip_deletes(images, held, flagged)
        else:
            units = self.bounds.unit[images[flagged]]
            self._fault(images[flagged[np.unique(units, return_index=True)[1]]], faults.FLAGGED)

    def _skip_deletes(self, images: Index, held: changes.RowRecords, flagged: Index) -> None:
        deletes, inserts = (
            flagged[held.recid[flagged] == kind] for kind in (Rec.DELETE, Rec.INSERT)
        )
        keys = np.stack([held.unit, held.statement, held.table], axis=1)
        inserted = {tuple(key) for key in keys[inserts].tolist()}
        mixed = np.array([tuple(key) in inserted for key in keys[deletes].tolist()], bool)
        self._fault(images[deletes[mixed]], faults.FLAGGED_KEY)
        self.entries["change"][images[deletes[~mixed]]] = Change.UNCAPTURED

    # -- units
    # ---------------------------------------------------------------------------------------------

    def _unit_faults(self, addresses: AddressFaults) -> None:
        """Faults of whole units, noted at their first record that holds something."""
        bounds, rows, count = self.bounds, self.rows, len(self.bounds.first)
        first = self.arrays.full(count, -1, np.int64)
        least, most = (
            self.arrays.full(count, _FAR, np.int64),
            self.arrays.full(count, NONE, np.int64),
        )
        for part in windows_back(len(rows)):
            unit, ids = bounds.unit[part], rows.numbers["TRXID"][part]
            holds = np.flatnonzero(one_of(self.kind[part], layouts.DATA_RECS) & (unit >= 0))
            first[unit[holds[::-1]]] = part.start + holds[::-1]
            given = (unit >= 0) & (ids != NONE)
            np.minimum.at(least, unit[given], ids[given])
            np.maximum.at(most, unit[given], ids[given])
        for part in windows(count):
            held = first[part] >= 0
            broken = held & ~bounds.whole[part] & (bounds.disposition[part] == ord("C"))
            self._fault(first[part][broken], faults.UNFINISHED)
        if addresses.rises:
            self._fault_unit(addresses.falls, faults.ADDRESS_FALLS)
        if addresses.counts:
            self._fault_unit(addresses.gaps, faults.ADDRESS_GAP)
        several = self.arrays.places(
            count, lambda part: bounds.whole[part] & (least[part] < most[part])
        )
        if not len(several):
            return
        if self.settings.batches:
            self.notes.several = len(several)
            self.notes.ids = self._ids_of(several[:SHOWN])[:SHOWN]
            return
        for part in windows(len(several)):
            rows_of = first[several[part]]
            self._fault(rows_of[rows_of >= 0], faults.SEVERAL_IDS)

    def _ids_of(self, units: Index) -> list[int]:
        """The TRXIDs of units, unit by unit."""
        shown: list[int] = []
        for unit in units.tolist():
            span = slice(int(self.bounds.first[unit]), int(self.bounds.last[unit]) + 1)
            ids = self.rows.numbers["TRXID"][span][self.bounds.unit[span] >= 0]
            shown += np.unique(ids[ids != NONE]).tolist()
        return shown

    def _fault_unit(self, wrong: Index, fault: int) -> None:
        """A fault of some rows; of those that hold nothing, at the last row of their unit that
        does."""
        for row in wrong[self.live[wrong]].tolist():
            unit = int(self.bounds.unit[row])
            first, last = int(self.bounds.first[unit]), int(self.bounds.last[unit])
            held = first + np.flatnonzero(one_of(self.kind[first : last + 1], layouts.DATA_RECS))
            near = held[held <= row][-1:]
            self._fault(near if len(near) else held[:1], fault)

    def _count(self) -> None:
        for part in windows(len(self.rows)):
            values = self.rows.numbers["FLAGS"][part]
            values = values[values >= 0] & ~layouts.KNOWN_FLAGS
            self.notes.unknown |= int(np.bitwise_or.reduce(values, initial=0))
        self.notes.texts = sum(part.texts for part in self.rows.files)


def _firsts(values: Index) -> tuple[list[int], list[int]]:
    """(each of some numbers, the first place where it stands)."""
    each, first = np.unique(values, return_index=True)
    return each.tolist(), first.tolist()


def _between(rows: Index, low: int, high: int) -> Index:
    """Those of rising rows that lie between two."""
    begin, end = np.searchsorted(rows, low, side="right"), np.searchsorted(rows, high)
    return rows[int(begin) : int(end)]
