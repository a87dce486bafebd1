"""A logical log cut into many: pairs of control and data files, as ongoing scans, failed runs and
careless hands leave them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

from replay.logs import LogPair
from replay.logs.logmaster.control import read_control
from replay.logs.logmaster.layouts import DLGE
from replay.logs.logmaster.opening import open_log
from tests.support.logbuilder import LogBuilder, Tab, frame, lrsn, unframe

_LRSN, _COMMIT, _INCOMPLETE = slice(77, 87), slice(192, 202), slice(274, 275)


def records_of(control: Path, data: Path, scratch: Path) -> list[bytes]:
    """The data records of a log, in the order of LOGLRSN."""
    log = open_log(control, [data], scratch=scratch)
    buffer = log.buffer(0)
    records = []
    for _, offsets, lengths in log.splits(1 << 26):
        for offset, length in zip(offsets.tolist(), lengths.tolist(), strict=True):
            records.append(buffer[offset : offset + length].tobytes())
    return sorted(records, key=lambda record: record[_LRSN])


def with_end(control: bytes, end: bytes, dependent: bytes = b"\xff" * 10) -> bytes:
    """A control file (RDW) with another DLGE record."""
    kept = [record for record in unframe(control) if record[:4].decode("cp037") != "DLGE"]
    kept.append(DLGE.build(CNTLRECORDTYPE="DLGE", ENDRBA=end, DEPENDENTRBA=dependent))
    return frame(kept, "rdw")


def write_pair(
    folder: Path, name: str, control: bytes, records: Sequence[bytes], end: bytes
) -> LogPair:
    """Write a control file and its data file."""
    paths = folder / f"{name}.ctl", folder / f"{name}.dat"
    paths[0].write_bytes(with_end(control, end))
    paths[1].write_bytes(frame(records, "rdw"))
    return LogPair(str(paths[0]), (str(paths[1]),))


def cut_log(
    control: Path,
    data: Path,
    out: Path,
    count: int,
    seed: int,
    repeated: int = 0,
    shuffled: bool = True,
) -> list[LogPair]:
    """The log cut into ``count`` pairs at drawn places of its records in the order of the Db2 log,
    so also inside units of recovery and segments; ``repeated`` of them are there a second time, up
    to a drawn place beyond their end; ``shuffled``: in no order."""
    draw = random.Random(seed)
    out.mkdir()
    raw = control.read_bytes()
    assert read_control(raw, str(control), None, {}).framing.value == "rdw"
    records = records_of(control, data, out)
    edges = sorted(draw.sample(range(1, len(records)), count - 1))
    bounds = list(zip([0, *edges], [*edges, len(records)], strict=True))
    pairs = []
    last = read_control(raw, str(control), None, {}).end["ENDRBA"]
    for number, (low, high) in enumerate(bounds):
        part = records[low:high]
        end = last if high == len(records) else part[-1][_LRSN]
        pairs.append(write_pair(out, f"cut-{number}", raw, part, end))
    for number in draw.sample(range(count), repeated):
        low, high = bounds[number]
        part = records[low : min(len(records), high + draw.randrange(1, 200))]
        pairs.append(write_pair(out, f"again-{number}", raw, part, part[-1][_LRSN]))
    if shuffled:
        draw.shuffle(pairs)
    return pairs


def cut(
    control: Path,
    data: Path,
    out: Path,
    *,
    low: str = "0" * 20,
    high: str = "F" * 20,
    incomplete: str | None = None,
) -> list[str]:
    """Write the records whose units commit from ``low`` to ``high`` (hexadecimal), as an
    overlapping or a later scan would have, those of the unit committing at ``incomplete`` flagged,
    and a copy of the control file; the options that name the new log."""
    out.mkdir()
    kept = []
    for record in map(bytearray, records_of(control, data, out)):
        commit = record[_COMMIT].hex().upper()
        if commit == incomplete:
            record[_INCOMPLETE] = "Y".encode("cp037")
        if low.upper() <= commit <= high:
            kept.append(bytes(record))
    (out / "cut.dat").write_bytes(frame(kept, "rdw"))
    shutil.copy(control, out / "cut.ctl")
    return ["--control", str(out / "cut.ctl"), "--data", str(out / "cut.dat")]


def half_a_unit_arrives(log: LogBuilder, table: Tab, folder: Path) -> tuple[bytes, list[bytes]]:
    """The first of two logs, which has one change of a unit of two: the control file of both, and
    the records of both."""
    raw = frame(log.control_records(), "rdw")
    unit = log.unit(commit=1500)
    unit.insert(table, (1, 1))
    unit.insert(table, (2, 2))
    records = log.records()
    write_pair(folder, "night-0", raw, records[:1], lrsn(1000))
    return raw, records
