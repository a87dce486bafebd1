"""Open files of change events. Implements :class:`replay.logs.LogFile` on the index that
:mod:`opening` makes. A record is a line; its ``offset`` is its number in the file, from 0."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask, Records, Versions
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.changes.position import Position, UnitId
from replay.decoding import codecs
from replay.errors import Finding, Refusal, Where, some_of
from replay.logs import Images, checked_position, indexed_envelope
from replay.logs.events import rules, schemas, sources, unlogged_cascades, values
from replay.logs.indexed_log import RowLog
from sqlgen.schema import Constraints, ForeignKey

_AGAIN = "Read the topics again from an offset before it; inspect --record shows the line"
_FULL = "REPLICA IDENTITY FULL"
#: What to do about a fault where that is not to read the topics again.
_WAYS_OUT = {
    rules.CASCADED: unlogged_cascades.HINT,
    rules.UNKEYED: f"If the key is zero, and the table has {_FULL}: --log-option identity=full",
}
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
    rules.MISPLACED: (
        "LR2016",
        "id",
        "a commit whose place in the log of its database is before its events, or contradicts other"
        " transactions",
        "the place where the transaction committed",
    ),
    rules.UNFIT: (
        "LR2016",
        "op",
        "rows that do not go with its op, its schema or its key",
        "after of c, before and after of u (without before where the log has key-only rows), before"
        " of d, none of t; each column of the schema, of its type; the key of the event",
    ),
    rules.UNKEYED: (
        "LR2014",
        "before",
        "an old row without its key (REPLICA IDENTITY USING INDEX)",
        f"the key of the table in it (REPLICA IDENTITY DEFAULT or {_FULL})",
    ),
    rules.CASCADED: (
        "LR3002",
        "op",
        "an undo of a change whose foreign keys change other rows by themselves (ON DELETE, ON"
        " UPDATE), which a binary log does not have",
        "changes that cascade nothing",
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
        return self.as_bytes("time")


@dataclass(kw_only=True)
class EventLog(RowLog):
    """Change events as a log; ``arrays`` are entries, units, and all row images behind each other.
    ``lacking``: the columns that old rows do not tell, by table; ``unread``: columns whose values
    are not exact, by table, and how they are written; ``snapshot``: events of a state, which are no
    changes; ``empty``: transactions without an event; ``identities``: what is known of old rows, by
    table; ``updated_only``: tables of which no old row was sent; ``givers``: who gave GTIDs, by
    number; ``cascades_logged``: what foreign keys change by themselves is in the log; ``walks``:
    how images are walked; ``cascading``: foreign keys whose changes an undo cannot take back."""

    ENVELOPE_CLASS: ClassVar[type[EventEntries]] = EventEntries
    times_in_utc: ClassVar[bool] = True
    PLACE_IN_FILE: ClassVar[str] = "row"
    BESIDE_DATA: ClassVar[int] = 1
    MAKE_AGAIN: ClassVar[str] = _AGAIN
    whole_units: ClassVar[bool] = True

    lacking: Mapping[str, tuple[str, ...]]
    unread: Mapping[str, Mapping[str, str]]
    altered: Mapping[str, tuple[str, ...]]
    snapshot: int
    empty: int
    identities: Mapping[str, str]
    updated_only: frozenset[str]
    connector: str
    givers: Mapping[int, str]
    cascades_logged: bool
    walks: type[values.EventWalk]
    cascading: tuple[ForeignKey, ...] = ()

    @property
    def dialect(self) -> str:
        """The SQL of the database that the events are of."""
        known = {sources.POSTGRES: "postgres", **sources.OTHERS}
        return known.get(self.connector, self.connector)

    @property
    def from_binlog(self) -> bool:
        """Whether the events come from a binary log."""
        return self.connector in sources.BINLOG

    def in_dialect(self, dialect: str) -> Self:
        """As :meth:`replay.logs.log_file.OwnDialect.in_dialect`."""
        if not (self.from_binlog and dialect in sources.BINLOG):
            return self
        versions = tuple(schemas.in_own_dialect(one, dialect) for one in self.catalog.versions)
        return replace(self, catalog=replace(self.catalog, versions=versions))

    def knowing_keys(self, constraints: Constraints, undo: bool) -> tuple[Self, tuple[str, ...]]:
        """As :meth:`replay.logs.log_file.LosesCascades.knowing_keys`."""
        if self.cascades_logged:
            said = (*self._by_index(constraints), *self._of_other_keys(constraints))
            return self._with_keys(constraints), said
        if not constraints.tell_foreign_keys:
            return self, (unlogged_cascades.UNKNOWN,)
        if undo:
            return replace(self, cascading=tuple(constraints.acting)), ()
        return self, unlogged_cascades.warnings(self, constraints.acting)

    def warnings(self, taken: Sequence[TableVersion]) -> list[str]:
        """What a user should know of the log, and its tables of which no key is known."""
        versions = (self.catalog.versions[version.index] for version in taken)
        keyless = sorted({version.name for version in versions if not version.table.key})
        said = (
            f"events of {some_of(keyless, len(keyless))} have no key: their rows are identified by"
            " all of their values, or by a key that --schema states"
        )
        altered = [
            f"{name} was changed after changes of its rows ({some_of(self.altered[name], 3)}), and"
            " what became of its rows then is in no event: write the log in two parts"
            " (--until-position, --from-position), with the statement between them"
            for name in sorted({version.name for version in taken} & set(self.altered))
        ]
        return super().warnings(taken) + [said] * bool(keyless) + altered

    def _with_keys(self, constraints: Constraints) -> Self:
        """The log with unique keys that constraints state for its tables without one (with REPLICA
        IDENTITY FULL pgoutput names none), where no row of the log has a null in them."""
        versions = list(self.catalog.versions)
        for number, version in enumerate(versions):
            names = [column.name for column in version.table.columns]
            for key in () if version.table.key else constraints.keys_of(version.name.upper()):
                if {*key} <= {*names} and self._has_values(number, [names.index(k) for k in key]):
                    versions[number] = schemas.with_key(version, key)
                    break
        return replace(self, catalog=replace(self.catalog, versions=tuple(versions)))

    def _by_index(self, constraints: Constraints) -> tuple[str, ...]:
        """A warning of tables whose old rows an index may identify that constraints state."""
        names = {
            version.name
            for version in self.catalog.versions
            for key in constraints.keys_of(version.name.upper())
            if version.name in self.updated_only and {*key} != {*version.table.key}
            if {*key} <= {one.name for one in version.table.columns if not one.nullable}
        }
        return _warned(
            names,
            "no old row was sent, and there is another unique key; if that is the REPLICA IDENTITY"
            " (USING INDEX), a change of the primary key is not in the events, and its statement"
            " finds no row",
        )

    def _of_other_keys(self, constraints: Constraints) -> tuple[str, ...]:
        """A warning of tables whose events have a key in which no stated one lies."""
        names = set[str]()
        for version in self.catalog.versions:
            key, name = {*version.table.key}, version.name.upper()
            stated = [one for of, one in constraints.keys if of.upper() == name]
            if key and stated and not any({*one} <= key for one in stated):
                names.add(version.name)
        return _warned(
            names,
            "the key of the events (message.key.columns) is none of the keys that are stated; where"
            " rows share it, statements find several",
        )

    def _has_values(self, version: int, places: Sequence[int]) -> bool:
        entries = self.entries()
        entries = entries[entries["version"] == version]
        for side in ("before", "after"):
            there = entries[entries[side] >= 0]
            start = there[side].astype(np.int64)
            walk = self.walk(version, self.array(2), start, start + there[f"{side}_size"])
            if (walk.length[:, places] < 0).any():
                return False
        return True

    def passed_on(self, records: Records) -> Mask:
        """As :meth:`replay.logs.log_file.LosesCascades.passed_on`."""
        rows = self.find(records["file"], records["offset"])
        return unlogged_cascades.passed_on(self, self.cascading, rows)

    def placed(self, position: bytes, last: bool) -> Position:
        """An LSN, or a number of a binary log's file and a position in it, with zeros before it."""
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
        said = f"From now on, {statements} would have prevented it; where that was already so,"
        if self.connector in sources.OTHERS:
            said = (
                "SQL Server's TEXT, NTEXT, IMAGE and (MAX) are null there unless they changed"
                " (column.propagate.source.type=.* tells that a column is none of these), Db2 for"
                " z/OS has no old rows of updates; where rows are whole,"
            )
        raise Refusal(
            "LR3002",
            f"found {what} of changes whose old rows lack values: {some_of(shown, len(shown))};"
            " expected whole rows",
            hint=(
                f"Leave these tables out (--exclude-table). {said} --log-option identity=full says"
                " it"
            ),
        )

    def header_finding(self, file: int, number: int, offset: int, length: int) -> Finding:
        """What is wrong with one record."""
        entry = self.entries()[self.files[file].first + offset]
        fault = int(entry["fault"]) or rules.CASCADED
        code, name, found, expected = _FAULTS[fault]
        unit = self.units()[entry["unit"]]
        if fault == rules.MISSING:
            counts = (int(unit["there"]), int(unit["events"]))
            found = "{:,} of {:,} events of a transaction".format(*counts)
            if counts[0] == counts[1]:
                found = "events of other tables than END of the transaction tells"
        version = int(entry["version"])
        table = self.catalog.versions[version].name if version >= 0 else None
        where = Where(
            self.files[file].name, number, None, name, table, str(UnitId(unit["unit"].tobytes()))
        )
        return Finding(code, where, found, expected, _WAYS_OUT.get(fault, _AGAIN))

    def check(
        self,
        envelope: indexed_envelope.IndexedEnvelope,
        lengths: npt.NDArray[Any],
        change: Bytes,
        version: Versions,
    ) -> Mask:
        """Records that damage their transaction, whatever is asked of it. One without its key does
        so where its table is taken."""
        fault = envelope.rows["fault"]
        return np.asarray((fault > 0) & (fault != rules.UNKEYED))

    def images(
        self, records: Records, heads: Index, weights: Index, kind: Change
    ) -> Iterator[tuple[Index, Images]]:
        """Row images; those without their key cannot be used."""
        entries = self.find(records["file"][heads], records["offset"][heads])
        unkeyed = self.entries()["fault"][entries] == rules.UNKEYED
        for rows, made in super().images(records, heads, weights, kind):
            told = partial(_reason, unkeyed[rows], made.reason)
            yield rows, replace(made, bad=made.bad | unkeyed[rows], reason=told)

    def walk(self, version: int, buffer: Bytes, start: Index, end: Index) -> values.EventWalk:
        """Where the columns of images lie."""
        return self.walks.of(self.catalog.versions[version].format, buffer, start, end)

    def unit_fields(self, envelope: EventEntries) -> Mapping[str, pa.Array]:
        """What the comment before a unit says, in the words of its database."""
        time, _ = codecs.decode_log_timestamp(envelope.commit_time())
        names = sources.unit_texts(self.connector, envelope.unit(), envelope.commit(), self.givers)
        return {**names, "committed": pc.fill_null(time, "unknown")}

    def trace(self, envelope: EventEntries) -> pa.Array:
        """``lsn=… line=…`` (``binlog=… line=…``) of each change, for ``--trace``; of connectors
        whose places are not kept the line alone."""
        lsn = envelope.rows["lsn"].astype(np.int64)
        number = pa.array(envelope.rows["row"] + 1).cast(pa.string())
        if self.connector in sources.OTHERS:
            return pc.binary_join_element_wise("line=", number, "")
        shown = sources.binlog_place if self.from_binlog else sources.lsn_of
        place = pa.array(map(shown, lsn.tolist()), pa.string())
        name = "binlog=" if self.from_binlog else "lsn="
        return pc.binary_join_element_wise(name, place, " line=", number, "")


def _reason(
    unkeyed: Mask, others: Callable[[int], tuple[str, str, str]], row: int
) -> tuple[str, str, str]:
    fault = rules.UNKEYED
    return (*_FAULTS[fault][2:], _WAYS_OUT[fault]) if unkeyed[row] else others(row)


def _warned(names: Collection[str], said: str) -> tuple[str, ...]:
    return (f"{some_of(sorted(names), len(names))}: {said}",) if names else ()
