"""One pass over the headers of a log: its units of recovery with who, when, from where to where and
how much, and what each did to each table. No row is decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Lengths, Mask, Versions
from replay.changes.catalog import shown_name
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
from replay.pipeline.scan import judged_headers
from replay.reports.relations import Relations

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
#: What tells units apart, and what is counted of each: how many changes of a kind of a table, with
#: what became of them.
_KEY = ("commit_position", "identity")
_COUNTED = (*_KEY, "table_name", "op", "fate", "origin")
_DISPOSITION = pa.array(
    [UNIT_DISPOSITIONS.get(chr(code), "not known") for code in range(256)], pa.string()
)
_FATES = {ord("A"): "aborted", ord("S"): "rolled back to savepoint", ord("O"): "reversed by Db2"}
_FATE = pa.array(
    ["committed" if chr(code) == "C" else _FATES.get(code) for code in range(256)], pa.string()
)
_ORIGIN = pa.array([ORIGINS.get(chr(code)) for code in range(256)], pa.string())
_OP = pa.array(
    [""] + [OPS.get(Change(code), Change(code).name.lower()) for code in range(1, len(Change) + 1)],
    pa.string(),
)

#: Columns of units, and the fact that must be known for them.
_TOLD = {
    "authid": "authorization ids",
    "plan": "plans",
    "correlation": "correlation ids",
    "connection": "connections",
}
#: Where the last unit commits of those that commit once: another's position is damaged.
LAST_COMMIT = """SELECT max(commit_position) FROM units WHERE ended = 'committed' AND identity IN
    (SELECT identity FROM units GROUP BY identity HAVING count(*) = 1)"""
#: Where the first unit commits.
FIRST_COMMIT = "SELECT min(commit_position) FROM units WHERE ended = 'committed'"
#: The relations that results are parts of.
PARTS = ("unit_parts", "count_parts", "events")


@dataclass(frozen=True)
class HeaderJob:
    """Reads the headers that a ``selection`` takes. Results are Arrow tables, of which each has its
    name in ``queries/headers.sql`` first. ``unknown``: facts that the family cannot tell
    (:data:`replay.logs.FACTS`)."""

    title = "read headers"

    selection: Selection
    version_taken: Mask
    unknown: frozenset[str] = frozenset()
    buckets: int = 0

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """One result a batch of records."""
        every = judged_headers(log, [split], self.selection, self.version_taken)
        for (_, first, offsets, lengths, envelope), change, version, verdict in every:
            wanted = (verdict == 0) | np.isin(verdict, _UNDER_WAY)
            event = np.isin(change, _EVENTS) & (wanted | np.isin(verdict, _NOT_ROWS))
            rows = np.flatnonzero(wanted & np.isin(change, (*ROW_CHANGES, *WHOLE_TABLE)))
            if len(rows):
                mine = envelope.take(rows)
                yield 0, _packed(PARTS[0], self._units(log, mine, lengths[rows]))
                counts = _counts(log, mine, change[rows], version[rows], lengths[rows])
                yield 0, _packed(PARTS[1], counts)
            events = np.flatnonzero(event)
            if len(events):
                table = _events(
                    log, envelope.take(events), change[events], version[events], split.file,
                    first + events, offsets[events],
                )  # fmt: skip
                yield 0, _packed(PARTS[2], table)

    def _units(self, log: LogFile, envelope: Envelope, lengths: Lengths) -> pa.Table:
        """The units of some records: facts of the first record of each, and sums."""
        both = np.concatenate([envelope.commit(), envelope.unit()], axis=1)
        _, first, number = np.unique(opaque(both), return_index=True, return_inverse=True)
        number = number.reshape(-1)
        head, count = envelope.take(first), len(first)
        time, _ = codecs.decode_log_timestamp(head.commit_time())
        names = [
            raw.decode("utf-8", "replace").rstrip() for raw in head.name("connection").tolist()
        ]
        text = {**log.unit_fields(head), "connection": pa.array(names, pa.string())}
        incomplete = np.zeros(count, bool)
        np.logical_or.at(incomplete, number, envelope.incomplete_unit())
        none = pa.nulls(count, pa.string())
        begin = head.unit_position()
        return pa.table(
            {
                **_key(head),
                "urid": codecs.hex_text(urids_of(head.unit())),
                "member": pa.array(head.member().astype(np.int64)),
                "begin_position": pc.if_else(
                    pa.array(begin.any(axis=1)), codecs.hex_text(begin), none
                ),
                "commit_time": time,
                **{
                    name: none if fact in self.unknown else text.get(name, none)
                    for name, fact in _TOLD.items()
                },
                "ended": _DISPOSITION.take(pa.array(head.unit_disposition())),
                "incomplete": pa.array(incomplete),
                "records": pa.array(np.bincount(number, minlength=count)),
                "bytes": pa.array(np.bincount(number, lengths, count).astype(np.int64)),
            }
        )

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Nothing meets."""
        return iter(())


#: Verdicts of records that are about the catalog or the database.
_NOT_ROWS = (
    REASON["catalog change, not a row (CO)"],
    REASON["Db2 command (CM)"],
    REASON["status change (SC)"],
)


def _packed(name: str, table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    schema = table.schema.with_metadata({"name": name})
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_table(table.cast(schema))
    return bytes(sink.getvalue())


def _key(envelope: Envelope) -> dict[str, pa.Array]:
    return {
        "commit_position": codecs.hex_text(envelope.commit()),
        "identity": codecs.hex_text(envelope.unit()),
    }


def _names(log: LogFile, version: Versions) -> pa.Array:
    """OWNER.NAME of the table of each record, null where it has none."""
    names = pa.array([shown_name(entry.table) for entry in log.catalog.versions], pa.string())
    return names.take(pa.array(version, mask=version < 0))


def _counts(
    log: LogFile, envelope: Envelope, change: Bytes, version: Versions, lengths: Lengths
) -> pa.Table:
    whole = envelope.unit_disposition() == ord("C")
    fate = np.where(whole, envelope.disposition(), envelope.unit_disposition())
    return (
        pa.table(
            {
                **_key(envelope),
                "table_name": _names(log, version),
                "op": _OP.take(pa.array(change)),
                "fate": _FATE.take(pa.array(fate)),
                "origin": _ORIGIN.take(pa.array(envelope.origin())),
                "changes": pa.array((envelope.segment() <= 1).astype(np.int64)),
                "bytes": pa.array(lengths.astype(np.int64)),
            }
        )
        .group_by(_COUNTED)
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
    text = log.unit_fields(envelope)
    none = pa.nulls(len(change), pa.string())
    return pa.table(
        {
            "commit_position": codecs.hex_text(envelope.commit()),
            "unit": pc.binary_join_element_wise(
                codecs.hex_text(urids_of(envelope.unit())), envelope.member().astype(str), "/"
            ),
            "commit_time": time,
            "kind": pa.array([_EVENT_NAMES[Change(int(code))] for code in change], pa.string()),
            "table_name": _names(log, version),
            **{name: text.get(name, none) for name in ("authid", "plan", "correlation")},
            "ended": _DISPOSITION.take(pa.array(envelope.unit_disposition())),
            "log_file": pa.array(
                [log.files[file].name.rpartition("/")[2]] * len(change), pa.string()
            ),
            "log_record": pa.array(numbers.astype(np.int64)),
            "log_offset": pa.array(offsets.astype(np.int64)),
        }
    )


def header_relations(log: LogFile, blobs: Iterable[bytes], folder: Path) -> Relations:
    """The results of a :class:`HeaderJob` as the relations ``units`` (in commit order), ``counts``
    and ``events``."""
    relations = Relations(folder)
    relations.run("header_parts")
    for blob in blobs:
        with pa.ipc.open_stream(blob) as stream:
            table = stream.read_all()
        relations.add(table.schema.metadata[b"name"].decode(), table)
    relations.run("headers")
    last = relations.one(LAST_COMMIT)
    refuse_behind_end(log, None if last is None else Position.from_hex(last))
    return relations
