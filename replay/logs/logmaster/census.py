"""A census of a logical log: its records and units of recovery counted, batch by batch, so that
memory grows with the number of units and names, not with the log.

No row image is decoded for it. Counts are of sound records; damaged ones are reported, and counted
nowhere else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Lengths, Versions
from replay.changes.envelope import Change, compare
from replay.errors import Finding, InputError, Where
from replay.logs.change_types import CHANGE_OF_TYPE
from replay.logs.logmaster.data import find_images
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.reader import LogmasterLog

#: Findings kept.
MOST_FINDINGS = 20
#: Names of users and programs: what they are called here -> argument of ``name``, header field.
_NAMES = {
    "authids": ("authid", "AUTHID"),
    "plans": ("plan", "PLAN"),
    "correlations": ("correlation", "CORRELATIONID"),
    "connections": ("connection", "CONNECTID"),
}

#: What is known about a unit of recovery, as bits.
COMMITTED, ABORTED, INCOMPLETE, DEPENDENT, AFTER = 1, 2, 4, 8, 16


@dataclass(frozen=True)
class ChangeKind:
    """What changes have in common that are counted together; codes are text as on the data file
    page."""

    version: int
    code: str
    disposition: str
    unit_disposition: str
    origin: str
    sqltype: str

    @property
    def change(self) -> Change:
        """What kind of change it is."""
        return CHANGE_OF_TYPE[self.code]

    @property
    def committed(self) -> bool:
        """Whether it counts: unit and record are committed."""
        return self.unit_disposition == "C" and self.disposition == "C"


@dataclass
class Census:
    """What was counted. ``kinds`` is of changes (a segmented change counts once), the other counts
    are of records; ``repeated`` are those that another log of a set has too, and counts."""

    log: LogmasterLog
    records: Counter[int] = field(default_factory=Counter)
    kinds: Counter[ChangeKind] = field(default_factory=Counter)
    units: dict[bytes, int] = field(default_factory=dict)
    members: Counter[int] = field(default_factory=Counter)
    names: dict[str, Counter[bytes]] = field(
        default_factory=lambda: {kind: Counter() for kind in _NAMES}
    )
    ranges: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    segmented: int = 0
    repeated: int = 0
    damaged: int = 0
    findings: list[Finding] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Count all records of all files; where a file's framing is damaged, up to there."""
        for file in range(len(self.log.files)):
            try:
                for batch in self.log.batches(file):
                    self._add(file, *batch)
            except InputError as error:
                self.unreadable.append(str(error))

    def _add(self, file: int, first_record: int, offsets: Index, lengths: Lengths) -> None:
        envelope = self.log.envelope(file, offsets, lengths)
        change, version = self.log.classify(envelope)
        self.records[file] += len(offsets)
        damaged = self.log.check(envelope, lengths, change, version)
        for row in np.flatnonzero(damaged)[: max(0, MOST_FINDINGS - len(self.findings))].tolist():
            self.findings.append(
                self.log.header_finding(
                    file, first_record + row, int(offsets[row]), int(lengths[row])
                )
            )
        self.damaged += int(damaged.sum())
        repeated = change == Change.REPEATED
        self.repeated += int(repeated.sum())
        rows = np.flatnonzero(~(damaged | repeated))
        if not len(rows):
            return
        envelope, change, version = envelope.take(rows), change[rows], version[rows]
        self._check_images(
            file, first_record + rows, offsets[rows], lengths[rows], envelope, change, version
        )
        self._count_kinds(envelope, version)
        self._count_units(envelope)
        self._widen(envelope)
        for member, count in zip(*np.unique(envelope.member(), return_counts=True), strict=True):
            self.members[int(member)] += int(count)
        for kind, (name, spelled) in _NAMES.items():
            if spelled in envelope.layout.names:
                values = _fixed(
                    envelope.name(name).view(np.uint8).reshape(len(rows), -1)
                ).value_counts()
                self.names[kind].update(
                    {entry["values"]: entry["counts"] for entry in values.to_pylist()}
                )

    def _check_images(
        self,
        file: int,
        numbers: Index,
        offsets: Index,
        lengths: npt.NDArray[Any],
        envelope: Headers,
        change: Bytes,
        version: npt.NDArray[Any],
    ) -> None:
        """Whether the lengths in DATA of changes in one record close. (Values, and segments, are
        checked when statements are written.)"""
        (log, own), whole = self.log.owner(file), envelope.segments() <= 1
        buffer = log.buffer(own, offsets, offsets + lengths)
        for kind, codes in (
            (Change.UPDATE, (Change.UPDATE,)),
            (Change.INSERT, (Change.INSERT, Change.DELETE)),
        ):
            rows = np.flatnonzero(whole & np.isin(change, codes))
            start, end = offsets[rows] + log.shape.header, offsets[rows] + lengths[rows]
            bounds = find_images(buffer, start, end, kind, log.reading, True)
            bad = np.flatnonzero(bounds.bad)
            self.damaged += len(bad)
            for place in bad[: max(0, MOST_FINDINGS - len(self.findings))].tolist():
                row = int(rows[place])
                table = self.log.catalog.versions[int(version[row])].name
                where = Where(
                    log.files[own].name, int(numbers[row]), int(start[place]), "DATA", table
                )
                self.findings.append(
                    Finding("LR2014", where, *bounds.reason(place), "The record is damaged")
                )

    def _count_kinds(self, envelope: Headers, version: Versions) -> None:
        code = envelope.change_type().astype(np.int64)
        key = (version.astype(np.int64) + 1) << 42 | (code >> 8) << 35 | (code & 127) << 28
        key |= (
            envelope.disposition().astype(np.int64) << 21
            | envelope.unit_disposition().astype(np.int64) << 14
        )
        key |= envelope.origin().astype(np.int64) << 7 | envelope.sqltype()
        first = envelope.segment() <= 1
        self.segmented += int((first & (envelope.segments() > 1)).sum())
        for value, count in zip(
            *(column.tolist() for column in np.unique(key[first], return_counts=True)), strict=True
        ):
            text = [chr(value >> shift & 127) for shift in (35, 28, 21, 14, 7, 0)]
            self.kinds[ChangeKind((value >> 42) - 1, text[0] + text[1], *text[2:])] += count

    def _count_units(self, envelope: Headers) -> None:
        bits = np.where(envelope.unit_disposition() == ord("C"), COMMITTED, ABORTED).astype(
            np.uint8
        )
        bits[envelope.incomplete_unit()] |= INCOMPLETE
        bits[envelope.incomplete_dependency()] |= DEPENDENT
        dependent = self.log.dependent_position
        if dependent is not None:
            bits[compare(envelope.unit_position(), dependent) >= 0] |= AFTER
        encoded = _fixed(envelope.unit()).dictionary_encode()
        facts = np.zeros(len(encoded.dictionary), np.uint8)
        np.bitwise_or.at(facts, encoded.indices.to_numpy(), bits)
        for unit, value in zip(encoded.dictionary.to_pylist(), facts.tolist(), strict=True):
            self.units[unit] = self.units.get(unit, 0) | value

    def _widen(self, envelope: Headers) -> None:
        positions = {name: envelope.position(name) for name in ("LOGLRSN", "LOGRBA")} | {
            "commit": envelope.commit()
        }
        times = {"commit time": envelope.commit_time()} | (
            {"record time": envelope.time("TIMESTAMP")}
            if "TIMESTAMP" in envelope.layout.names
            else {}
        )
        for name, block in (positions | times).items():
            present = block[block.any(axis=1)]
            if len(present):
                low, high = (pc.min_max(_fixed(present)).as_py()[end] for end in ("min", "max"))
                first, last = self.ranges.get(name, (low, high))
                self.ranges[name] = min(low, first), max(high, last)


def _fixed(block: Bytes) -> pa.Array:
    """``uint8[n, w]`` as binary values of one width."""
    packed = np.ascontiguousarray(block)
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(packed)]
    )
