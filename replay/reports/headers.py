"""One pass over the headers of a log: its units of recovery with who, when, from where to where and
how much, and what each did to each table. No row is decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Lengths, Mask, Versions
from replay.changes.envelope import (
    ORIGINS,
    ROW_CHANGES,
    UNIT_DISPOSITIONS,
    WHOLE_TABLE,
    Change,
    Envelope,
    opaque,
)
from replay.changes.position import Position, urids_of
from replay.changes.selection import REASON, Selection
from replay.decoding import codecs
from replay.logs import LogFile, Split
from replay.logs.record_facts import refuse_behind_end
from replay.output.formats import OPS
from replay.pipeline.headers import judged_headers

#: Kinds of record that are no changes of rows and that the catalog report lists.
_EVENTS = (Change.CATALOG, Change.COMMAND, Change.STATUS, *WHOLE_TABLE)
_EVENT_NAMES = {
    Change.CATALOG: "catalog change",
    Change.COMMAND: "command",
    Change.STATUS: "status change",
    Change.MASS_DELETE: "mass delete",
    Change.TRUNCATE: "truncate",
    Change.EXCHANGE: "exchange",
    Change.STRUCTURE: "structure",
}
#: Verdicts of work that is not over.
_UNDER_WAY = (
    REASON["unit of recovery in flight at the end of the log"],
    REASON["unit of recovery in doubt (prepared)"],
)
_KEY = ("commit", "unit")
#: What is counted of each unit and table: how many changes of a kind, with what became of them.
COUNTED = ("version", "change", "fate", "origin")
_DISPOSITION = pa.array(
    [UNIT_DISPOSITIONS.get(chr(code), "not known") for code in range(256)], pa.string()
)
_FATES = {ord("A"): "aborted", ord("S"): "rolled back to savepoint", ord("O"): "reversed by Db2"}
_FATE = pa.array(
    ["committed" if chr(code) == "C" else _FATES.get(code, "") for code in range(256)], pa.string()
)
_ORIGIN = pa.array([ORIGINS.get(chr(code)) for code in range(256)], pa.string())
_OP = pa.array(
    [""] + [OPS.get(Change(code), Change(code).name.lower()) for code in range(1, len(Change) + 1)],
    pa.string(),
)


@dataclass(frozen=True)
class HeaderJob:
    """Reads the headers that a ``selection`` takes. Results are three Arrow tables: units, counts,
    and records that are no changes of rows."""

    title = "read headers"

    selection: Selection
    version_taken: Mask
    buckets: int = 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """One result a batch of records."""
        every = judged_headers(log, [split], self.selection, self.version_taken)
        for (_, first, offsets, lengths, envelope), change, version, verdict in every:
            wanted = (verdict == 0) | np.isin(verdict, _UNDER_WAY)
            event = np.isin(change, _EVENTS) & (wanted | np.isin(verdict, _NOT_ROWS))
            rows = np.flatnonzero(wanted & np.isin(change, (*ROW_CHANGES, *WHOLE_TABLE)))
            tables = []
            if len(rows):
                mine = envelope.take(rows)
                tables += _of_units(log, mine, lengths[rows])
                tables.append(_counts(mine, change[rows], version[rows], lengths[rows]))
            events = np.flatnonzero(event)
            if len(events):
                tables.append(
                    _events(
                        log, envelope.take(events), change[events], version[events], split.file,
                        first + events, offsets[events],
                    )
                )  # fmt: skip
            for table in tables:
                yield 0, _packed(table)

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


#: Verdicts of records that are about the catalog or the database.
_NOT_ROWS = (
    REASON["catalog change, not a row (CO)"],
    REASON["Db2 command (CM)"],
    REASON["status change (SC)"],
)


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _key(envelope: Envelope) -> dict[str, pa.Array]:
    return {"commit": codecs.hex_text(envelope.commit()), "unit": codecs.hex_text(envelope.unit())}


def _of_units(log: LogFile, envelope: Envelope, lengths: Lengths) -> list[pa.Table]:
    """The units of some records: facts of the first record of each, and sums."""
    both = np.concatenate([envelope.commit(), envelope.unit()], axis=1)
    _, first, number = np.unique(opaque(both), return_index=True, return_inverse=True)
    head = envelope.take(first)
    text = log.unit_fields(head)
    time, _ = codecs.decode_log_timestamp(head.commit_time())
    connection = [
        raw.decode("utf-8", "replace").rstrip() for raw in head.name("connection").tolist()
    ]
    count = len(first)
    incomplete = np.zeros(count, bool)
    np.logical_or.at(incomplete, number.reshape(-1), envelope.incomplete_unit())
    none = pa.nulls(count, pa.string())
    begin = head.unit_position()
    known = pa.array(begin.any(axis=1))
    return [
        pa.table(
            {
                "what": pa.array(["units"] * count, pa.string()),
                **_key(head),
                "urid": codecs.hex_text(urids_of(head.unit())),
                "member": pa.array(head.member().astype(np.int64)),
                "begin": pc.if_else(known, codecs.hex_text(begin), pa.scalar(None, pa.string())),
                "time": time,
                "user": text.get("authid", none),
                "plan": text.get("plan", none),
                "job": text.get("correlation", none),
                "connection": pa.array(connection, pa.string()),
                "ended": _DISPOSITION.take(pa.array(head.unit_disposition())),
                "incomplete": pa.array(incomplete),
                "records": pa.array(np.bincount(number.reshape(-1), minlength=count)),
                "bytes": pa.array(np.bincount(number.reshape(-1), lengths, count).astype(np.int64)),
            }
        )
    ]


def _counts(envelope: Envelope, change: Bytes, version: Versions, lengths: Lengths) -> pa.Table:
    whole = envelope.unit_disposition() == ord("C")
    fate = np.where(whole, envelope.disposition(), envelope.unit_disposition())
    return (
        pa.table(
            {
                **_key(envelope),
                "version": pa.array(version.astype(np.int64)),
                "change": pa.array(change.astype(np.int64)),
                "fate": pa.array(fate.astype(np.int64)),
                "origin": pa.array(envelope.origin().astype(np.int64)),
                "changes": pa.array((envelope.segment() <= 1).astype(np.int64)),
                "bytes": pa.array(lengths.astype(np.int64)),
            }
        )
        .group_by([*_KEY, *COUNTED])
        .aggregate([("changes", "sum"), ("bytes", "sum")])
        .rename_columns({"changes_sum": "changes", "bytes_sum": "bytes"})
    )


def _events(
    log: LogFile,
    envelope: Envelope,
    change: Bytes,
    version: Versions,
    file: int,
    numbers: Index,
    offsets: Index,
) -> pa.Table:
    time, _ = codecs.decode_log_timestamp(envelope.commit_time())
    names = [entry.name for entry in log.catalog.versions]
    text = log.unit_fields(envelope)
    none = pa.nulls(len(change), pa.string())
    return pa.table(
        {
            "what": pa.array(["events"] * len(change), pa.string()),
            **_key(envelope),
            "time": time,
            "kind": pa.array([_EVENT_NAMES[Change(int(code))] for code in change], pa.string()),
            "table": pa.array(
                [names[at] if at >= 0 else None for at in version.tolist()], pa.string()
            ),
            "user": text.get("authid", none),
            "plan": text.get("plan", none),
            "job": text.get("correlation", none),
            "ended": _DISPOSITION.take(pa.array(envelope.unit_disposition())),
            "log_file": pa.array(
                [log.files[file].name.rpartition("/")[2]] * len(change), pa.string()
            ),
            "log_record": pa.array(numbers.astype(np.int64)),
            "offset": pa.array(offsets.astype(np.int64)),
        }
    )


# -- what came of it
# -------------------------------------------------------------------------------------------------


@dataclass
class HeaderFacts:
    """The ``units`` of a log in commit order, ``counts`` of each (``place`` of the unit, table, op,
    fate, origin, changes, bytes), and ``events``: records that are no changes of rows."""

    units: pa.Table
    counts: pa.Table
    events: pa.Table
    clock: Clock


@dataclass(frozen=True)
class Clock:
    """The time of a position, where positions are readings of a clock (LRSNs in data sharing):
    ``offset`` from 1900 in microseconds; None where they are not, or the log tells no times."""

    offset: int | None

    def time(self, position: str | None) -> datetime | None:
        """The moment of a position in hexadecimal digits."""
        if self.offset is None or not position or not position.strip("0"):
            return None
        return _EPOCH + timedelta(microseconds=_ticks(position) + self.offset)


_EPOCH = datetime(1900, 1, 1)
#: Microseconds by which a commit time may differ from its position.
_NEAR = 2_000_000


def _ticks(position: str) -> int:
    """Microseconds of a store clock value behind a zero octet (a unit of bit 51)."""
    return int(position[2:16], 16) >> 4


def clock_of(positions: Sequence[str], times: Sequence[datetime | None]) -> Clock:
    """Whether positions tell time: the commit times of several units that lie far apart must be as
    far from their positions, to within two seconds."""
    pairs = [
        (_ticks(position), round((time - _EPOCH) / timedelta(microseconds=1)))
        for position, time in zip(positions, times, strict=True)
        if time is not None
    ]
    if len({ticks for ticks, _ in pairs}) < 2:
        return Clock(None)
    offsets = sorted(time - ticks for ticks, time in pairs)
    near = offsets[-1] - offsets[0] <= _NEAR
    spread = max(time for _, time in pairs) - min(time for _, time in pairs)
    return Clock(offsets[len(offsets) // 2] if near and spread > 0 else None)


def headers_of(blobs: Iterable[bytes], log: LogFile, unknown: frozenset[str]) -> HeaderFacts:
    """Put the results of a :class:`HeaderJob` together. ``unknown``: facts that the family cannot
    tell (:data:`replay.logs.FACTS`)."""
    tables: dict[str, list[pa.Table]] = {"units": [], "events": [], "counts": []}
    for blob in blobs:
        table = pa.ipc.open_stream(blob).read_all()
        what = table["what"][0].as_py() if "what" in table.column_names else "counts"
        tables[what].append(table)
    if not tables["units"]:
        empty = pa.table({})
        return HeaderFacts(empty, empty, _joined(tables["events"]), Clock(None))
    units = _joined(tables["units"])
    facts = [name for name in units.column_names if name not in ("what", *_KEY, *_SUMS)]
    units = (
        units.group_by([*_KEY], use_threads=False)
        .aggregate([(name, "first") for name in facts] + list(_SUMS.items()))
        .rename_columns(
            {f"{name}_first": name for name in facts}
            | {f"{name}_{how}": name for name, how in _SUMS.items()}
        )
        .sort_by([(name, "ascending") for name in _KEY])
    )
    for name, fact in _TOLD.items():
        if fact in unknown:
            units = _replaced(units, name, pa.nulls(len(units), units[name].type))
        elif pa.types.is_string(units[name].type):
            blank = pc.equal(units[name], "")
            units = _replaced(
                units, name, pc.if_else(blank, pa.scalar(None, pa.string()), units[name])
            )
    moments = [moment_of(text) for text in units["time"].to_pylist()]
    units = _replaced(units, "time", pa.array(moments, pa.timestamp("us")))
    if not _comparable(units):
        units = _replaced(units, "begin", pa.nulls(len(units), pa.string()))
    names = pc.binary_join_element_wise(units["urid"], units["member"].cast(pa.string()), "/")
    units = units.append_column("name", names)
    counts = _counted(_joined(tables["counts"]), units, log)
    clock = clock_of(units["commit"].to_pylist(), moments)
    last = pc.max(units.filter(pc.equal(units["ended"], "committed"))["commit"]).as_py()
    refuse_behind_end(log, None if last is None else Position.from_hex(last))
    return HeaderFacts(units, counts, _joined(tables["events"]), clock)


_SUMS = {"records": "sum", "bytes": "sum", "incomplete": "max"}
#: Columns of units, and the fact that must be known for them.
_TOLD = {
    "user": "authorization ids",
    "plan": "plans",
    "job": "correlation ids",
    "connection": "connections",
}


def _comparable(units: pa.Table) -> bool:
    """Whether begins are positions of the kind that commits are (solidDB numbers its records): both
    are filled up alike, and no unit begins behind its end."""
    begin, commit = units["begin"], units["commit"]
    filled = pc.all(pc.ends_with(commit, "0000")).as_py()
    alike = not filled or pc.all(pc.ends_with(begin, "0000")).as_py() is not False
    return alike and pc.all(pc.less_equal(begin, commit)).as_py() is not False


def _replaced(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables) if tables else pa.table({})


def moment_of(text: str | None) -> datetime | None:
    """A commit time as headers are shown, to the microsecond."""
    if not text or not re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", text):
        return None
    whole, _, fraction = text.partition(".")
    try:
        moment = datetime.strptime(whole, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
    return moment + timedelta(microseconds=int(fraction[:6].ljust(6, "0") or 0))


def _counted(counts: pa.Table, units: pa.Table, log: LogFile) -> pa.Table:
    counts = (
        counts.group_by([*_KEY, *COUNTED])
        .aggregate([("changes", "sum"), ("bytes", "sum")])
        .rename_columns({"changes_sum": "changes", "bytes_sum": "bytes"})
    )
    both = [
        pc.binary_join_element_wise(table["commit"], table["unit"], "") for table in (units, counts)
    ]
    place = pc.index_in(both[1], both[0].combine_chunks())
    versions = pa.array([version.name for version in log.catalog.versions], pa.string())
    known = pc.if_else(pc.less(counts["version"], 0), None, counts["version"])
    return pa.table(
        {
            "place": place,
            "table": versions.take(known.combine_chunks()),
            "op": _OP.take(counts["change"].combine_chunks()),
            "fate": pc.replace_substring_regex(
                _FATE.take(counts["fate"].combine_chunks()), "^$", "open"
            ),
            "origin": _ORIGIN.take(counts["origin"].combine_chunks()),
            "changes": counts["changes"],
            "bytes": counts["bytes"],
        }
    )
