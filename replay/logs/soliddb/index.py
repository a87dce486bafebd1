"""The index of a log: what became of every row, made once when a log is opened and looked up by
place afterwards.

SolidTransactions (:mod:`transactions`), framing (:mod:`detect`), tables (:mod:`table_history`) and
changes (:mod:`changes`) come together in two arrays, one entry a row and one entry a unit, which
lie in files, so that engines map them instead of carrying them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.catalog import RowFormat
from replay.changes.envelope import Change
from replay.errors import InputError, Where
from replay.logs.scratch_arrays import zeros
from replay.logs.soliddb import changes, ddl, faults, layouts, table_history
from replay.logs.soliddb.addresses import address_faults
from replay.logs.soliddb.detect import SolidShape, TableImages, settle
from replay.logs.soliddb.export import NONE, UNNAMED
from replay.logs.soliddb.layouts import Rec
from replay.logs.soliddb.manifest import Manifest
from replay.logs.soliddb.rows import walk
from replay.logs.soliddb.table_history import Known, SolidTableHistory
from replay.logs.soliddb.tables import Attribute, SolidTable
from replay.logs.soliddb.transactions import Joined, SolidTransactions
from replay.logs.soliddb.values import Keys, look_at
from sqlgen.structure import StructureChange

#: One entry a row, in fetch order. ``unit`` indexes the units (-1 none); ``place`` orders the
#: changes of a unit; ``before`` and ``after`` are places in the data. ``fault`` is an index of
#: :data:`replay.logs.soliddb.faults.FAULTS`, ``other`` the row it speaks of.
ENTRY = np.dtype(
    [
        ("file", "<u4"), ("row", "<i8"), ("recid", "<i4"), ("trx", "<i8"), ("statement", "<i8"),
        ("table", "<i8"), ("flags", "<i4"),
        ("unit", "<i8"), ("place", "<i8"), ("segment", "<u2"), ("segments", "<u2"),
        ("version", "<i4"), ("change", "u1"), ("fault", "u1"), ("cancelled", "?"),
        ("other", "<i8"), ("start", "<i8"), ("size", "<i4"), ("before", "<i8"),
        ("before_size", "<i4"), ("after", "<i8"), ("after_size", "<i4"),
    ]
)  # fmt: skip

#: One entry a unit: ``commit`` (10 bytes, sorts in log order), ``unit`` (use of the id, TRXID, 12
#: bytes), ``start``, ``address`` of the commit record.
UNIT = np.dtype(
    [
        ("commit", "V10"),
        ("unit", "V12"),
        ("start", "V10"),
        ("address", "V28"),
        ("disposition", "u1"),
        ("trx", "<i8"),
    ]
)

#: What ``capture-off`` accepts.
POLICIES = ("apply", "skip-deletes", "skip-all")
_BATCH = 262_144


@dataclass(frozen=True)
class Settings:
    """What the user named: framing and column list (None: found out), policy for CAPTURE_OFF, CCSID
    of CHAR columns and whether it was named."""

    framing: str | None = None
    columns: str | None = None
    capture_off: str | None = None
    charset: int = 1208
    charset_named: bool = False
    batches: bool = False
    catalog: str | None = None


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
    return _Builder(rows, bounds, tables, manifest, settings, folder).run()


class _Builder:
    def __init__(
        self,
        rows: Joined,
        bounds: SolidTransactions,
        tables: Mapping[int, SolidTable],
        manifest: Manifest,
        settings: Settings,
        folder: str | None,
    ) -> None:
        self.rows, self.bounds, self.manifest, self.settings = rows, bounds, manifest, settings
        self.recid, self.table = rows.numbers["RECID"], rows.numbers["RELID"]
        self.entries = zeros(len(rows), ENTRY, folder)
        self.warnings: list[str] = list(bounds.warnings)
        units = len(bounds.first)
        good = (
            (np.array(bounds.disposition) == ord("C")) & ~np.array(bounds.repeated, bool)
            if units
            else np.zeros(0, bool)
        )
        #: Rows of units that are committed and new; of those without their commit some rows may be
        #: missing, and they are set aside below.
        self.live = np.append(good, False)[bounds.unit]
        own = [relid for relid, entry in tables.items() if entry.shadow]
        self.tables = {relid: entry for relid, entry in tables.items() if not entry.shadow}
        self.system = np.isin(self.table, own)
        wanted = settings.catalog
        away = [
            relid
            for relid, entry in self.tables.items()
            if wanted is not None and entry.catalog.upper() != wanted.upper()
        ]
        self.away = np.isin(self.table, away)
        self.tables = {relid: entry for relid, entry in self.tables.items() if relid not in away}
        if not any(
            relid < layouts.FIRST_USER_TABLE for relid in own
        ):  # an export without system tables does not tell which there are
            self.system |= (self.table >= 0) & (self.table < layouts.FIRST_USER_TABLE)

    def run(self) -> SolidIndex:
        self._plain()
        self._header_faults()
        self._one_name()
        images = np.flatnonzero(self._is_image())
        exported = self._exported()
        shape, alike = self._shape(images, exported)
        line = self._timeline(images, shape, exported)
        self._versions(images, line)
        self._put_together(images, shape, line)
        self._unit_faults()
        units, by_address = _units(self.rows, self.bounds)
        places = {
            (int(self.rows.file[row]), int(self.rows.row[row])): change
            for row, (_, change) in line.changes.items()
        }
        warnings = (*line.warnings, *self.warnings, *self._notices())
        return SolidIndex(self.entries, units, line, places, shape, alike, by_address, warnings)

    # -- rows by themselves
    # ---------------------------------------------------------------------------------------------

    def _plain(self) -> None:
        rows, entries = self.rows, self.entries
        entries["file"], entries["row"], entries["unit"] = rows.file, rows.row, self.bounds.unit
        for name, source in (
            ("recid", "RECID"),
            ("trx", "TRXID"),
            ("statement", "STMTTRXID"),
            ("table", "RELID"),
            ("flags", "FLAGS"),
        ):
            values = rows.numbers[source]
            entries[name] = (
                np.where(values == NONE, -1, values) if name in ("recid", "flags") else values
            )
        entries["start"], entries["size"] = rows.start, rows.end - rows.start
        entries["place"] = np.arange(len(rows))
        entries["segment"] = entries["segments"] = 1
        entries["version"] = entries["before"] = entries["after"] = entries["other"] = -1
        entries["change"] = Change.CONTROL
        begin = self.bounds.begin()
        loose = (
            (self.bounds.unit < 0)
            & np.isin(self.recid, layouts.DATA_RECS)
            & (np.arange(len(rows)) < begin)
        )
        entries["change"][loose] = Change.HEADLESS
        for kind, change in (
            (Rec.INSERT, Change.INSERT),
            (Rec.DELETE, Change.DELETE),
            (Rec.UPDATE, Change.UPDATE),
            (Rec.BEFORE, Change.UPDATE),
        ):
            entries["change"][(self.recid == kind) & (self.bounds.unit >= 0)] = change

    def _one_name(self) -> None:
        """Tables of one name in several catalogs cannot be told apart in a target, nor can those of
        one catalog that are changed by turns; one that is changed behind the other is its next
        generation. InputError LR2031 where several of them are changed."""
        named = np.unique(self.table[self.live]).tolist()
        changed = {relid for relid in named if relid in self.tables}
        seen: dict[tuple[str, str], list[int]] = {}
        for relid in sorted(changed):
            entry = self.tables[relid]
            others = seen.setdefault((entry.schema.upper(), entry.name.upper()), [])
            other = next((one for one in others if not self._succeeds(one, relid)), None)
            others.append(relid)
            if other is not None:
                self._refuse_names(self.tables[other], entry)

    def _succeeds(self, one: int, other: int) -> bool:
        """Whether all changes of one of two tables of a catalog stand behind those of the other."""
        if self.tables[one].catalog != self.tables[other].catalog:
            return False
        mine, theirs = (np.flatnonzero((self.table == relid) & self.live) for relid in (one, other))
        return bool(mine[-1] < theirs[0] or theirs[-1] < mine[0])

    def _refuse_names(self, other: SolidTable, entry: SolidTable) -> None:
        message = (
            f"found changes of {other.catalog}.{other.schema}.{other.name} and of"
            f" {entry.catalog}.{entry.schema}.{entry.name}"
        )
        hint = (
            f"Take one catalog at a time: --log-option catalog={other.catalog}"
            if entry.catalog != other.catalog
            else "Two tables of one name are changed by turns: export the system tables again"
        )
        raise InputError(
            "LR2031",
            f"{message}; expected tables that their schema and name tell apart",
            Where(self.rows.files[0].name),
            hint,
        )

    def _is_image(self) -> Mask:
        """Row images of user tables in units that are whole and new, as far as their header
        allows."""
        row = np.isin(self.recid, layouts.ROW_RECS) & (self.bounds.unit >= 0)
        self.entries["change"][row & self.system] = Change.CATALOG
        self.entries["change"][np.isin(self.recid, layouts.DATA_RECS) & self.away] = (
            Change.ELSEWHERE
        )
        repeated = np.append(np.array(self.bounds.repeated, bool), False)[self.bounds.unit]
        self.entries["change"][np.isin(self.recid, layouts.DATA_RECS) & repeated] = Change.REPEATED
        return np.asarray(
            row & self.live & ~self.system & ~self.away & (self.entries["fault"] == 0)
        )

    def _fault(self, rows: Index | Mask, fault: int) -> None:
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        chosen = chosen[self.entries["fault"][chosen] == 0]
        self.entries["fault"][chosen] = fault

    def _header_faults(self) -> None:
        flags, inside = self.rows.numbers["FLAGS"], self.live
        holds = np.isin(self.recid, layouts.DATA_RECS)
        row = np.isin(self.recid, layouts.ROW_RECS)
        blank = (self.recid == NONE) | (self.recid == Rec.EMPTY)
        self._fault(inside & blank, faults.NO_DATA)
        empty = holds & (((flags & layouts.FLAG_DATA) == 0) | self.rows.data_null)
        self._fault(inside & (empty | (row & (self.table == NONE))), faults.NO_DATA)
        strange = inside & ~blank & ~np.isin(self.recid, list(Rec))
        self._fault(strange, faults.NO_KIND)
        self.entries["change"][strange | (inside & blank)] = 0
        self._fault(inside & self._misnamed(), faults.WRONG_NAME)

    def _misnamed(self) -> Mask:
        """Rows whose RECNAME is that of another record; those without one are not asked."""
        named = self.rows.named
        return np.asarray(
            (named != UNNAMED) & (named != self.recid) & np.isin(self.recid, list(Rec))
        )

    # -- framing and tables
    # ---------------------------------------------------------------------------------------------

    def _exported(self) -> Known:
        """What the export of the system tables knows of."""
        dropped = {relid: self._row_behind(at) for relid, at in self.manifest.dropped.items()}
        at = self.manifest.metadata_at
        return Known(len(self.rows) if at is None else self._row_behind(at), dropped)

    def _row_behind(self, at: bytes) -> int:
        """The first row behind a commit."""
        bounds = self.bounds
        return max(
            (
                last + 1
                for last, whole, again in zip(
                    bounds.last, bounds.whole, bounds.repeated, strict=True
                )
                if whole and not again and self.rows.address_of(last) <= at
            ),
            default=0,
        )

    def _shape(self, images: Index, exported: Known) -> tuple[SolidShape, tuple[str, ...]]:
        """Found out from images whose columns are known: those of tables as the export shows them,
        and, as far as statements tell, before and after."""
        records, unread = self._ddl_records(None)
        line = table_history.build(
            self.tables, records, exported, "C", self.settings.charset, lambda *_: (False, 1)
        )
        groups, now, whole = list[TableImages](), list[TableImages](), list[TableImages]()
        for relid in np.unique(self.table[images]).tolist():
            mine = images[self.table[images] == relid]
            if relid in self.tables:
                whole.append(self._group(mine, self.tables[relid].attributes, relid))
            boundary = exported.of(relid)
            about = unread[(self.table[unread] == relid) | (self.table[unread] == NONE)]
            low = about[about < boundary].max(initial=-1)
            high = about[about >= boundary].min(initial=len(self.rows))
            clear = mine[(mine > low) & (mine < high)]
            versions = line.version_at(relid, clear)
            if relid in self.tables and len(clear):
                last = line.version_at(relid, np.array([boundary - 1]))[0]
                now.append(
                    self._group(clear[versions == last], self.tables[relid].attributes, relid)
                )
            groups += [
                self._group(clear[versions == number], line.attributes[number], relid)
                for number in np.unique(versions[versions >= 0]).tolist()
            ]
        refusal: InputError | None = None
        for attempt in (
            groups,
            now,
            whole,
        ):  # old images may have been widened to the columns of now
            if any(len(group.start) for group in attempt):
                try:
                    return settle(
                        attempt,
                        self.rows.data,
                        self.rows.files[0].name,
                        self.settings.framing,
                        self.settings.columns,
                    )
                except InputError as error:
                    if error.code != "LR2004":
                        raise
                    refusal = refusal or error
        if refusal is not None:
            raise refusal
        return settle([], self.rows.data, "", self.settings.framing, self.settings.columns)

    def _group(self, chosen: Index, attributes: tuple[Attribute, ...], relid: int) -> TableImages:
        table = self.tables.get(relid)
        name = f"RELID {relid}" if table is None else f"{table.schema}.{table.name}"
        return TableImages(
            name, attributes, self.rows.start[chosen], self.rows.end[chosen], self.rows.row[chosen]
        )

    def _timeline(self, images: Index, shape: SolidShape, exported: Known) -> SolidTableHistory:
        records, unread = self._ddl_records(shape)
        self._fault(unread, faults.NO_LAYOUT)

        def closes(relid: int, low: int, high: int, fmt: RowFormat) -> tuple[bool, int]:
            mine = images[(self.table[images] == relid) & (images > low) & (images < high)]
            return not walk(
                fmt, self.rows.data, self.rows.start[mine], self.rows.end[mine], shape.framing
            ).bad.any(), len(mine)

        return table_history.build(
            self.tables, records, exported, shape.columns, self.settings.charset, closes
        )

    def _ddl_records(self, shape: SolidShape | None) -> tuple[list[table_history.DdlRecord], Index]:
        """DDL records of committed units with their statements, and those that cannot be read (as
        long as no framing is known: in no plain layout)."""
        records, unread = [], []
        wanted = np.flatnonzero(
            self.live & (self.recid == Rec.DDL) & (self.entries["fault"] == 0) & ~self.away
        )
        texts = self._statements(wanted)
        for row in wanted.tolist():
            event = ddl.read(
                self._data(row), self.settings.charset, None if shape is None else shape.framing
            )
            if event is None:
                unread.append(row)
                continue
            relid = int(self.table[row])
            records.append(
                table_history.DdlRecord(
                    row, None if relid == NONE else relid, event, event.text or texts.get(row, "")
                )
            )
        return records, np.array(unread, np.int64)

    def _data(self, row: int) -> bytes:
        return self.rows.data[self.rows.start[row] : self.rows.end[row]].tobytes()

    def _statements(self, wanted: Index) -> dict[int, str]:
        """The statement of each DDL record: the SQL record of its statement, else the one next to
        it in its transaction."""
        sql = np.flatnonzero(self.live & (self.recid == Rec.SQL) & (self.entries["fault"] == 0))
        statement = self.rows.numbers["STMTTRXID"]
        groups: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        for side, place in ((0, wanted), (1, sql)):
            for row in place.tolist():
                key = int(self.bounds.unit[row]), int(statement[row])
                groups.setdefault(key, ([], []))[side].append(row)
        pairs: dict[int, int] = {}
        for records, texts in groups.values():
            if len(records) == len(texts):
                pairs.update(zip(records, texts, strict=True))
        taken = set(pairs.values())
        for row in wanted.tolist():
            for other in (row - 1, row + 1):
                near = (
                    row not in pairs
                    and other not in taken
                    and 0 <= other < len(self.rows)
                    and self.recid[other] == Rec.SQL
                )
                if near and self.bounds.unit[other] == self.bounds.unit[row]:
                    pairs[row] = other
                    taken.add(other)
        lost = [row for row in sql.tolist() if row not in taken]
        if lost:
            self.warnings.append(
                f"{len(lost)} SQL record(s) belong to no DDL record and are not repeated"
            )
        found_text = {
            row: ddl.read_text(self._data(other), self.settings.charset)
            for row, other in pairs.items()
        }
        return {row: text for row, text in found_text.items() if text}

    def _versions(self, images: Index, line: SolidTableHistory) -> None:
        for relid in np.unique(self.table[images]).tolist():
            mine = images[self.table[images] == relid]
            self.entries["version"][mine] = line.version_at(relid, mine)
        self._fault(images[self.entries["version"][images] < 0], faults.NO_TABLE)
        for row, (version, _) in line.changes.items():
            self.entries["change"][row], self.entries["version"][row] = Change.STRUCTURE, version
        for row, version in line.truncated.items():
            self.entries["change"][row], self.entries["version"][row] = Change.TRUNCATE, version
            if version < 0:
                self._fault(np.array([row]), faults.NO_TABLE)

    # -- changes
    # ---------------------------------------------------------------------------------------------

    def _put_together(self, images: Index, shape: SolidShape, line: SolidTableHistory) -> None:
        """Changes out of images: their order, what they are, and what contradicts."""
        entries, rows = self.entries, self.rows
        keys = Keys(len(images))
        for version in np.unique(entries["version"][images]).tolist():
            chosen = np.flatnonzero(entries["version"][images] == version)
            if version < 0:
                continue
            of_table = line.versions[version]
            for low in range(0, len(chosen), _BATCH):
                part = chosen[low : low + _BATCH]
                images_walk = walk(
                    of_table.format,
                    rows.data,
                    rows.start[images[part]],
                    rows.end[images[part]],
                    shape.framing,
                )
                self.warnings += look_at(
                    images_walk, of_table, rows.where, images[part], self.settings.charset_named
                )
                keys.add(int(of_table.obid), part, images_walk, of_table)
        held = changes.RowRecords(
            rows.data, self.recid[images], self.bounds.unit[images],
            rows.numbers["STMTTRXID"][images], self.table[images],
            np.array(entries["version"][images]), keys.codes(), rows.start[images],
            rows.end[images],
        )  # fmt: skip
        paired = changes.put_together(held)
        self._fault(images[paired.unpaired], faults.UNPAIRED)
        wrong = np.flatnonzero(paired.contradicts >= 0)
        self._fault(images[wrong], faults.CONTRADICTS)
        entries["other"][images[wrong]] = images[paired.contradicts[wrong]]
        entries["place"][images] = images[paired.place]
        entries["cancelled"][images] = paired.cancelled
        self._images(images, paired)
        self._capture(images, held)

    def _images(self, images: Index, pairs: changes.PairedChanges) -> None:
        entries, recid = self.entries, self.recid[images]
        paired = pairs.partner != np.arange(len(images))
        entries["change"][images] = np.select(
            [recid == Rec.INSERT, recid == Rec.DELETE],
            [Change.INSERT, Change.DELETE],
            Change.UPDATE,
        )
        entries["segments"][images] = np.where(paired, 2, 1)
        entries["segment"][images] = np.where(paired & (recid == Rec.UPDATE), 2, 1)
        other = images[pairs.partner]
        before = np.where(
            np.isin(recid, (Rec.DELETE, Rec.BEFORE)), images, np.where(paired, other, -1)
        )
        after = np.where(
            np.isin(recid, (Rec.INSERT, Rec.UPDATE)), images, np.where(paired, other, -1)
        )
        for name, source in (("before", before), ("after", after)):
            there = source >= 0
            entries[name][images] = np.where(there, self.rows.start[source], -1)
            entries[f"{name}_size"][images] = np.where(
                there, (self.rows.end - self.rows.start)[source], 0
            )

    def _capture(self, images: Index, held: changes.RowRecords) -> None:
        """What CAPTURE_OFF means for the changes of flagged units (section 5.1)."""
        flags = np.append(np.array(self.bounds.flags, np.int64), 0)
        flagged = np.flatnonzero((flags[self.bounds.unit[images]] & layouts.FLAG_CAPTURE_OFF) > 0)
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

    def _unit_faults(self) -> None:
        """Faults of whole units, noted at their first record that holds something."""
        bounds, rows = self.bounds, self.rows
        holds = np.isin(self.recid, layouts.DATA_RECS) & (bounds.unit >= 0)
        units, first = np.unique(bounds.unit[holds], return_index=True)
        first = np.flatnonzero(holds)[first]
        whole, disposition = np.array(bounds.whole, bool), np.array(bounds.disposition)
        broken = ~whole[units] & (disposition[units] == ord("C"))
        self._fault(first[broken], faults.UNFINISHED)
        odd = address_faults(rows, bounds)
        for wrong, fault in ((odd.falls, faults.ADDRESS_FALLS), (odd.gaps, faults.ADDRESS_GAP)):
            self._fault_unit(wrong, fault)
        ids = rows.numbers["TRXID"]
        given = np.flatnonzero((bounds.unit >= 0) & (ids != NONE))
        pairs = np.unique(np.stack([bounds.unit[given], ids[given]], axis=1), axis=0)
        number, count = np.unique(pairs[:, 0], return_counts=True)
        several = number[count > 1]
        several = several[whole[several]]
        if not len(several):
            return
        if self.settings.batches:
            shown = ", ".join(
                str(value) for value in pairs[np.isin(pairs[:, 0], several), 1][:10].tolist()
            )
            self.warnings.append(
                f"{len(several)} batch(es) of several transactions are kept as one unit each"
                f" (TRXIDs {shown} …)"
            )
            return
        self._fault(first[np.isin(units, several)], faults.SEVERAL_IDS)

    def _fault_unit(self, wrong: Index, fault: int) -> None:
        """A fault of some rows; of those that hold nothing, at the last row of their unit that
        does."""
        holds = np.isin(self.recid, layouts.DATA_RECS)
        last = np.maximum.accumulate(np.where(holds, np.arange(len(holds)), -1))
        for row in wrong[self.live[wrong]].tolist():
            near = int(last[row])
            if near >= 0 and self.bounds.unit[near] == self.bounds.unit[row]:
                self._fault(np.array([near]), fault)
                continue
            later = np.flatnonzero(holds[row:] & (self.bounds.unit[row:] == self.bounds.unit[row]))
            self._fault(row + later[:1], fault)

    def _notices(self) -> list[str]:
        flags = self.rows.numbers["FLAGS"]
        values = flags[(flags != NONE) & (flags >= 0)]
        unknown = np.bitwise_or.reduce(values & ~layouts.KNOWN_FLAGS) if len(values) else 0
        texts = (
            [f"FLAGS with unpublished bits (X'{int(unknown):X}'); they are not looked at"]
            if unknown
            else []
        )
        held = sum(part.texts for part in self.rows.files)
        texts += (
            [
                f"{held} row(s) have a TEXTDATA, which is documented as always NULL; it is not"
                " looked at"
            ]
            if held
            else []
        )
        return texts


def _units(rows: Joined, bounds: SolidTransactions) -> tuple[Records, bool]:
    """The units of a log, and whether commits are positioned by address: where the first 8 bytes of
    the addresses tell all of them apart."""
    count = len(bounds.first)
    table = np.zeros(count, UNIT)
    if not count:
        return table, True
    first, last = np.array(bounds.first), np.array(bounds.last)
    table["disposition"] = bounds.disposition
    new = np.array(bounds.whole, bool) & ~np.array(bounds.repeated, bool)
    value = np.ascontiguousarray(rows.address[last, :8]).view(">u8").reshape(-1).astype(np.uint64)
    value = np.maximum.accumulate(np.where(new, value, np.uint64(0)))
    done = value[new]
    by_address = bool((done[1:] > done[:-1]).all()) and bool((done > 0).all())
    if not by_address:
        value = ((rows.file[last].astype(np.uint64) + np.uint64(1)) << np.uint64(48)) | rows.row[
            last
        ].astype(np.uint64)
    fresh = np.append(True, value[1:] != value[:-1])
    begin = np.flatnonzero(fresh)
    rank = np.arange(count) - np.repeat(begin, np.diff(np.append(begin, count)))
    commit = np.zeros((count, 10), np.uint8)
    commit[:, :8] = value.astype(">u8").view(np.uint8).reshape(-1, 8)
    commit[:, 8:] = np.minimum(rank, 0xFFFF).astype(">u2").view(np.uint8).reshape(-1, 2)
    table["commit"] = commit.view("V10").reshape(-1)
    start = np.zeros((count, 10), np.uint8)
    start[:, 2:] = (first + 1).astype(">u8").view(np.uint8).reshape(-1, 8)
    table["start"] = start.view("V10").reshape(-1)
    address = np.zeros((count, 28), np.uint8)
    address[:, : rows.address.shape[1]] = rows.address[last]
    table["address"] = address.view("V28").reshape(-1)
    _name(rows, first, last, table)
    return table, by_address


def _name(rows: Joined, first: Index, last: Index, table: Records) -> None:
    """Units by their TRXID, and how often it was used before: it may come again (section 3)."""
    ids = rows.numbers["TRXID"]
    trx = ids[first].copy()
    for number in np.flatnonzero(trx == NONE).tolist():
        inside = ids[first[number] : last[number] + 1]
        given = inside[inside != NONE]
        trx[number] = given[0] if len(given) else 0
    order = np.argsort(trx, kind="stable")
    begin = np.flatnonzero(np.append(True, trx[order][1:] != trx[order][:-1]))
    again = np.zeros(len(trx), np.int64)
    again[order] = np.arange(len(trx)) - np.repeat(begin, np.diff(np.append(begin, len(trx))))
    raw = np.zeros((len(trx), 12), np.uint8)
    raw[:, :4] = again.astype(">u4").view(np.uint8).reshape(-1, 4)
    raw[:, 4:10] = (trx & ((1 << 48) - 1)).astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:]
    table["unit"], table["trx"] = raw.view("V12").reshape(-1), trx
