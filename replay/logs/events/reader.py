"""Open files of change events. Implements :class:`replay.logs.LogFile` on the index that
:mod:`opening` makes. A record is a line; its ``offset`` is its number in the file, from 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index
from replay.changes.catalog import TableVersion
from replay.changes.position import Position, UnitId
from replay.decoding import codecs
from replay.errors import Finding, Refusal, Where, some_of
from replay.logs import checked_position, indexed_envelope
from replay.logs.events import rules, values
from replay.logs.indexed_log import RowLog

_AGAIN = "Read the topics again from an offset before it; inspect --record shows the line"
_FULL = "REPLICA IDENTITY FULL"
_FAULTS = {
    rules.MISSING: (
        "LR2013",
        "event_count",
        "another number of events than END of the transaction tells",
        "all of them: a topic, or a part of one, is not in the files",
    ),
    rules.NO_END: (
        "LR2013",
        "status",
        "a transaction without END, though later ones have theirs",
        "the END of each transaction (topic of transactions)",
    ),
    rules.DIFFERENT: (
        "LR2016",
        "total_order",
        "two events with one number in a transaction and different content",
        "one, or the same one delivered again",
    ),
    rules.OTHER_END: (
        "LR2016",
        "id",
        "two ENDs of one transaction that differ",
        "one, or the same one delivered again",
    ),
    rules.UNKEYED: (
        "LR2014",
        "before",
        "an old row without its key (REPLICA IDENTITY USING INDEX)",
        f"the key of the table in it (REPLICA IDENTITY DEFAULT or {_FULL})",
    ),
}


class EventEntries(indexed_envelope.IndexedEnvelope):
    """Lines; each is one record."""

    place: ClassVar[str] = "row"

    def log_position(self) -> Bytes:
        """The number of the change in its transaction."""
        raw = np.zeros((len(self.rows), Position.SIZE), np.uint8)
        total = np.ascontiguousarray(self.rows["total"]).astype(">i8")
        raw[:, 2:] = total.view(np.uint8).reshape(-1, 8)
        return raw

    def commit_time(self) -> Bytes:
        """When the transaction was committed, in UTC."""
        return self.octets("time")


@dataclass(kw_only=True)
class EventLog(RowLog):
    """Change events as a log; ``arrays`` are entries, units, and all row images behind each other.
    ``lacking``: the columns that old rows do not tell, by table; ``unread``: columns whose values
    are not exact, by table, and how they are written; ``snapshot``: events of a state, which are no
    changes; ``empty``: transactions without an event; ``identities``: what is known of old rows, by
    table."""

    ENVELOPE_CLASS: ClassVar[type[EventEntries]] = EventEntries
    PLACE_IN_FILE: ClassVar[str] = "row"
    BESIDE_DATA: ClassVar[int] = 1
    MAKE_AGAIN: ClassVar[str] = _AGAIN

    lacking: Mapping[str, tuple[str, ...]]
    unread: Mapping[str, Mapping[str, str]]
    snapshot: int
    empty: int
    identities: Mapping[str, str]

    def placed(self, position: bytes, last: bool) -> Position:
        """An LSN with zeros before it."""
        return checked_position(position.rjust(Position.SIZE, b"\0"), position)

    def check_whole(self, taken: Iterable[TableVersion], what: str) -> None:
        """As :meth:`replay.logs.log_file.PartialImages.check_whole`."""
        names = sorted({version.name for version in taken} & set(self.lacking))
        if not names:
            return
        shown = [
            f"{name} ({some_of(self.lacking[name], len(self.lacking[name]))})" for name in names
        ]
        statements = "; ".join(f"ALTER TABLE {name} {_FULL}" for name in names[:5])
        raise Refusal(
            "LR3002",
            f"found {what} of changes whose old rows lack values: {some_of(shown, len(shown))};"
            " expected whole rows",
            hint=(
                f"Leave these tables out (--exclude-table). From now on, {statements} would have"
                " prevented it; where that was already so, --log-option identity=full says it"
            ),
        )

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record."""
        entry = self.entries()[self.files[file].first + offset]
        code, name, found, expected = _FAULTS[int(entry["fault"])]
        unit = self.units()[entry["unit"]]
        if int(entry["fault"]) == rules.MISSING:
            found = f"{int(unit['there']):,} of {int(unit['events']):,} events of a transaction"
        version = int(entry["version"])
        table = self.catalog.versions[version].name if version >= 0 else None
        where = Where(
            self.files[file].name, number, None, name, table, str(UnitId(unit["unit"].tobytes()))
        )
        return Finding(code, where, found, expected, _AGAIN)

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> values.EventWalk:
        """Where the columns of images lie."""
        return values.EventWalk.of(self.catalog.versions[version].format, buffer, start, end)

    def unit_fields(self, envelope: EventEntries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says, in the words of PostgreSQL."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        units = np.ascontiguousarray(envelope.unit()[:, 2:10]).view(">i8").reshape(-1)
        return {
            "transaction": pa.array(units.astype(np.int64)).cast(pa.string()),
            "commit-lsn": _lsns(np.ascontiguousarray(envelope.commit()[:, 2:])),
            "committed": pc.fill_null(time, "unknown"),
        }

    def trace(self, envelope: EventEntries) -> pa.Array:
        """``lsn=… line=…`` of each change, for ``--trace``."""
        place = _lsns(np.ascontiguousarray(envelope.rows["lsn"].astype(">i8")).view(np.uint8))
        number = pa.array(envelope.rows["row"] + 1).cast(pa.string())
        return pc.binary_join_element_wise("lsn=", place, " line=", number, "")


def _lsns(raw: Bytes) -> pa.Array:
    """LSNs (big-endian) as PostgreSQL writes them, ``0/16B3748``."""
    words = raw.reshape(-1, 8).view(">u4").reshape(-1, 2).tolist()
    return pa.array([f"{high:X}/{low:X}" for high, low in words], pa.string())
