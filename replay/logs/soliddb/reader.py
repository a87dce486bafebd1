"""An open solidDB log: SYS_LOG rows and the export of the system tables together. Implements
:class:`replay.logs.LogFile` on the index (:mod:`index`).

A record is a row of the export; its ``offset`` is the number of the row in its file, from 0.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask, one_of
from replay.changes.catalog import Catalog
from replay.changes.choices import Gaps
from replay.changes.envelope import Change
from replay.changes.position import Position, UnitId
from replay.decoding import codecs
from replay.errors import Finding, InputError, UsageError, Where
from replay.logs import Inputs, urids
from replay.logs.indexed_envelope import IndexedEnvelope
from replay.logs.indexed_log import IndexedFile, RowLog, save
from replay.logs.soliddb import rows
from replay.logs.soliddb.detect import SolidShape
from replay.logs.soliddb.entries import SolidEntries
from replay.logs.soliddb.export import read_rows
from replay.logs.soliddb.faults import FAULTS
from replay.logs.soliddb.index import build_index
from replay.logs.soliddb.joined_rows import in_order, join
from replay.logs.soliddb.layouts import COLUMN_LISTS, FRAMINGS, Rec
from replay.logs.soliddb.manifest import CHARSETS, Manifest, charset_number, read_manifest
from replay.logs.soliddb.read_sessions import check_sessions
from replay.logs.soliddb.tables import POLICIES, Settings, SystemTables
from replay.logs.soliddb.transactions import find_transactions
from replay.storage import at
from sqlgen.schema import Constraints


@dataclass(kw_only=True)
class SolidLog(RowLog):
    """A solidDB log. Cheap to pickle: index and data are mapped where they are read. ``alike``:
    framings that read the same values."""

    ENVELOPE_CLASS: ClassVar[type[SolidEntries]] = SolidEntries
    PLACE_IN_FILE: ClassVar[str] = "row"
    numbers_units = whole_units = True
    BESIDE_DATA: ClassVar[int] = 64
    MAKE_AGAIN: ClassVar[str] = "Export the log again"

    shape: SolidShape
    alike: tuple[str, ...]
    by_address: bool
    manifest: Manifest
    #: LOGADDRs of where the first read session begins, if that is known, and of the last commit.
    reach: tuple[bytes | None, bytes | None]
    headless: int
    charset: int
    #: The LOGADDR of the commit of a transaction whose start is not in the log, if it has one.
    rest: bytes | None = None

    @property
    def positions_are_places(self) -> bool:
        """Whether they are not of the log's own."""
        return not self.by_address

    @property
    def position_kind(self) -> str:
        """LOGADDR, or row of the export."""
        return "LOGADDR" if self.by_address else "row of this export"

    @property
    def begins(self) -> Position | None:
        """Where the first read session begins, as the manifest says: nothing lies between that and
        its first commit. None where it does not say so, or where positions are places."""
        return self._reached(self.reach[0])

    @property
    def ends(self) -> Position | None:
        """The last commit, of a transaction with rows or without: what lies up to there is in the
        log. None where positions are places."""
        return self._reached(self.reach[1])

    @property
    def rest_of(self) -> Position | None:
        """Where a transaction commits whose start is not in the log. None where positions are
        places, as then all rows before these are given too."""
        return self._reached(self.rest)

    def _reached(self, address: bytes | None) -> Position | None:
        if not self.by_address or not address or len(address) != self.logaddr().shape[1]:
            return None
        return Position(bytes(address[:8]) + b"\0\0")

    def placed(self, position: bytes, last: bool) -> Position:
        """A LOGADDR, or the first 6 or 8 bytes of it, as the 10 bytes of commit positions.
        UsageError where its beginning tells no commits apart."""
        if len(position) == Position.SIZE:
            return Position(position)
        if len(position) == self.logaddr().shape[1]:
            return self._placed_address(position, last)
        if not self.by_address:
            message = (
                "found the beginning of a LOGADDR; the addresses of this log do not tell its"
                " commits apart by their first 8 bytes"
            )
            raise UsageError(
                "LR1004",
                f"{message}; expected a whole one, or a position of 20 digits",
                hint="logreplay inspect shows the first and the last one",
            )
        counted = b"\xff\xff" if last and any(position) else b"\0\0"
        return Position(position[:8].rjust(8, b"\0") + counted)

    def _placed_address(self, position: bytes, last: bool) -> Position:
        """The last commit up to a LOGADDR, or the first one from it on, as addresses compare: byte
        by byte (section 6)."""
        units = self.units()
        addresses = list(
            accumulate((entry.tobytes()[: len(position)] for entry in units["address"]), max)
        )
        place = bisect_right(addresses, position) - 1 if last else bisect_left(addresses, position)
        if not 0 <= place < len(units):
            return Position((b"\0" if last else b"\xff") * Position.SIZE)
        # (a copy is placed where what it is a copy of is)
        commit = max(one.tobytes() for one in units["commit"][: place + 1])
        return Position(commit[:8] + (b"\xff\xff" if last else b"\0\0"))

    # -- index
    # ---------------------------------------------------------------------------------------------

    def data(self) -> Bytes:
        """DATA of all rows behind each other."""
        return self.array(2)

    def logaddr(self) -> Bytes:
        """LOGADDR of all rows, ``uint8[n, size]``."""
        return self.array(3)

    def addresses(self, envelope: IndexedEnvelope) -> Bytes:
        """LOGADDR of the rows."""
        place = self.find(envelope.rows["file"], envelope.rows["row"])
        return np.ascontiguousarray(self.logaddr()[place])

    # -- checks
    # ---------------------------------------------------------------------------------------------

    def new_values(self, envelope: IndexedEnvelope) -> Mask:
        """Updates that are a delete and an insert of their key in the log."""
        parts = one_of(envelope.rows["recid"], (Rec.INSERT, Rec.DELETE))
        return np.asarray(parts & (envelope.rows["change"] == Change.UPDATE))

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one row."""
        entry = self.entries()[self.files[file].first + offset]
        code, name, found, expected, hint = FAULTS[int(entry["fault"])]
        other = int(entry["other"])
        other_row = str(int(self.entries()["row"][other]) + 1) if other >= 0 else ""
        found = found.format(other=other_row)
        if code == "LR2011":
            found = f"RELID {int(entry['table'])}, {found}"
        where = Where(self.files[file].name, number, None, name, None, self._unit_name(entry))
        return Finding(code, where, found, expected, hint)

    def _unit_name(self, entry: np.void) -> str | None:
        if entry["unit"] < 0:
            return None
        return str(UnitId(self.units()["unit"][entry["unit"]].tobytes()))

    # -- images
    # ---------------------------------------------------------------------------------------------

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> rows.SolidRowWalk:
        """Where the columns of images of a table version lie."""
        return rows.walk(
            self.catalog.versions[version].format, buffer, start, end, self.shape.framing
        )

    # -- what comments and tables say
    # ---------------------------------------------------------------------------------------------

    def unit_fields(self, envelope: SolidEntries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says."""
        name = "commit-logaddr" if self.by_address else "commit-at"
        size = self.logaddr().shape[1]
        position = (
            np.ascontiguousarray(envelope.as_bytes("address")[:, :size])
            if self.by_address
            else envelope.commit()
        )
        trx = pa.array(envelope.of_unit("trx").astype(np.int64)).cast(pa.string())
        unit = codecs.hex_text(urids(envelope))
        return {"TRXID": trx, "ur": unit, name: codecs.hex_text(position)}

    def trace(self, envelope: SolidEntries) -> pa.Array:
        """``logaddr=… record=…`` of each change, for ``--trace``."""
        address = codecs.hex_text(self.addresses(envelope))
        number = pa.array(envelope.rows["row"] + 1).cast(pa.string())
        return pc.binary_join_element_wise("logaddr=", address, " record=", number, "")


# -- opening
# -------------------------------------------------------------------------------------------------


def open_log(inputs: Inputs) -> SolidLog:
    """Open a log and index it. ``inputs.scratch`` is where the index is kept (in memory without
    one).

    InputError for files that cannot be read or are no log, whose framing cannot be found out, or
    that are out of order; Refusal LR2034 where changes may be missing between two read sessions.
    """
    if inputs.catalog is None:
        raise UsageError(
            "LR1001", "found no --catalog; expected the folder with the export of the system tables"
        )
    if not at(inputs.catalog).is_dir():
        raise InputError(
            "LR2001",
            "found no folder; expected the export of the system tables",
            Where(inputs.catalog),
        )
    manifest = read_manifest(at(inputs.catalog))
    settings = _settings(inputs, manifest)
    exported = SystemTables(inputs.catalog)
    tables = exported.tables(manifest, settings.charset)
    foreign = inputs.options.get("foreign-keys") != "ignore"
    constraints = exported.constraints(tables) if foreign else Constraints()
    catalog_files = exported.files()
    del exported
    accepts = inputs.options.get("gaps") == "accept" or inputs.gaps in (Gaps.WARN, Gaps.ALLOW)
    files, moved = in_order([read_rows(path, inputs.scratch) for path in inputs.log])
    joined = join(files, manifest.sessions, inputs.scratch)
    bounds = find_transactions(joined)
    chain = check_sessions(joined, bounds, manifest, accepts)
    index = build_index(joined, bounds, tables, manifest, settings, inputs.scratch)
    first = np.cumsum([0, *map(len, files)]).tolist()
    database = "".join(f":{name}" for name in (inputs.options.get("database"),) if name)
    if not index.by_address:
        database += ":" + hashlib.sha256(np.ascontiguousarray(joined.data).data).hexdigest()[:16]
    gaps = () if inputs.gaps is Gaps.ALLOW else chain.warnings
    rest = bounds.outside.commit
    return SolidLog(
        files=[
            IndexedFile(name=part.name, first=first[number], count=len(part))
            for number, part in enumerate(files)
        ],
        catalog=Catalog(tuple(index.timeline.versions)),
        catalog_files=[*([manifest.path] if manifest.path else []), *catalog_files],
        arrays=save((index.entries, index.units, joined.data, joined.address), inputs.scratch),
        changes=dict(index.structure),
        source=f"soliddb{database}",
        opening_warnings=tuple(dict.fromkeys((*moved, *gaps, *index.warnings))),
        constraints=constraints,
        shape=index.shape,
        alike=index.alike,
        by_address=index.by_address,
        manifest=manifest,
        reach=(chain.begins, chain.ends),
        headless=bounds.outside.headless,
        charset=settings.charset,
        rest=None if rest < 0 or joined.address_null[rest] else joined.address_of(rest),
    )


def _settings(inputs: Inputs, manifest: Manifest) -> Settings:
    """What the user named on the command line, else in the manifest. UsageError LR1001 for what
    cannot be used."""
    options = inputs.options
    charset = options.get("charset", manifest.charset)
    number = 1208 if charset is None else charset_number(charset)
    if number is None:
        raise UsageError(
            "LR1001",
            f"found character set {charset!r}; expected a CCSID, or one of: {', '.join(CHARSETS)}",
        )
    framing, columns = inputs.framing or manifest.framing, options.get("columns", manifest.columns)
    capture = options.get("capture-off", manifest.capture_off)
    for name, value, accepted in (
        ("framing", framing, FRAMINGS),
        ("columns", columns, COLUMN_LISTS),
        ("capture-off", capture, POLICIES),
    ):
        if value is not None and value not in accepted:
            raise UsageError(
                "LR1001", f"found {name} {value!r}; expected one of: {', '.join(accepted)}"
            )
    for name, words in (("gaps", ("refuse", "accept")), ("foreign-keys", ("use", "ignore"))):
        if options.get(name, words[0]) not in words:
            raise UsageError(
                "LR1001",
                f"found --log-option {name}={options[name]}; expected {' or '.join(words)}",
            )
    return Settings(
        framing,
        columns,
        capture,
        number,
        charset is not None,
        manifest.batch_size > 1,
        options.get("catalog"),
    )
