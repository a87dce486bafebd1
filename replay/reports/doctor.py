"""``logreplay doctor``: what a log says of the readings that no real file has confirmed, as a
report that holds no value of a row, no name and no position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from replay.arrays import Index, Records, take_rows
from replay.changes.envelope import ROW_CHANGES, Change, as_bytes
from replay.errors import (
    CODES,
    EXIT_ERROR,
    EXIT_OK,
    EXIT_UNUSABLE,
    InputError,
    LogReplayError,
)
from replay.live.certificate import file_facts, sealed
from replay.logs import Family, LogFile
from replay.logs.readings import open_points
from replay.logs.text import aligned, counted, wrapped
from replay.pipeline.scan import all_headers, sort_records
from replay.version import __version__

#: What a report calls itself, and the form it has.
_TITLE, _FORM = "logreplay doctor", 1
#: Bytes of a log whose framing is walked together: what lies before damage in them is not read.
_SPLIT = 16 << 20
#: Records of changes in several parts that are joined; beyond, they are only counted.
_MOST_PARTS = 1_000_000


def doctor_report(family: Family, log: LogFile) -> dict[str, Any]:
    """The report of a log, as JSON-able data."""
    checkup = family.checkup(log)
    told = {entry.name: entry for entry in checkup.evidence}
    readings = []
    for name in open_points(family.name):
        entry = told.get(name)
        readings.append(
            {"name": name, "verdict": "not looked at"}
            if entry is None
            else {
                "name": name,
                "verdict": entry.verdict(),
                "looked_at": entry.looked_at,
                "taken": entry.taken,
                "fits": dict(entry.fits),
            }
        )
    lengths, values = _Lengths(), _Values(log)
    values.read(lengths)
    return sealed(
        {
            **_about(family.name, log.inputs()),
            "layout": checkup.laid_out,
            "counts": checkup.counts,
            "lengths": lengths.describe(),
            "types": values.describe(),
            "readings": readings,
        }
    )


def closed_report(source: str, files: Sequence[str], error: LogReplayError) -> dict[str, Any]:
    """The report of a log that cannot be opened: why, by code and place only."""
    where = error.where
    return sealed(
        {
            **_about(source, [name for name in files if Path(name).is_file()]),
            "not_opened": {
                "code": error.code,
                "meaning": CODES[error.code],
                "record": where.record,
                "offset": where.offset,
                "field": where.field,
            },
        }
    )


def _about(source: str, files: Sequence[str]) -> dict[str, Any]:
    facts = [file_facts(Path(name)) for name in files]
    return {
        "report": _TITLE,
        "form": _FORM,
        "version": __version__,
        "source": source,
        "files": [{"bytes": entry["size"], "sha256": entry["sha256"]} for entry in facts],
    }


def report_exit_code(report: Mapping[str, Any]) -> int:
    """0; 8 where something contradicts the reading that is taken, or cannot be decoded; 12 where
    the log could not be opened."""
    if "not_opened" in report:
        return EXIT_UNUSABLE
    bad = any(entry["verdict"] == "contradicted" for entry in report["readings"])
    bad |= any(entry["not_decoded"] for entry in report["types"].values())
    return EXIT_ERROR if bad else EXIT_OK


# -- lengths and values
# -------------------------------------------------------------------------------------------------


class _Lengths:
    """Lengths of records and images, counted by powers of two."""

    def __init__(self) -> None:
        self.of: dict[str, Counter[int]] = {}

    def add(self, name: str, lengths: Index) -> None:
        powers = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
        counter = self.of.setdefault(name, Counter())
        for power, count in zip(*np.unique(powers, return_counts=True), strict=True):
            counter[int(power)] += int(count)

    def describe(self) -> dict[str, dict[str, int]]:
        return {
            name: {f"up to {1 << power}": counter[power] for power in sorted(counter)}
            for name, counter in sorted(self.of.items())
        }


class _Values:
    """Every value of every sound change, decoded and counted by the type of its column."""

    def __init__(self, log: LogFile) -> None:
        self.log = log
        self.counts: dict[str, Counter[str]] = {}
        self.images: Counter[str] = Counter()
        self.parts: list[Records] = []
        self.unjoined = 0

    def read(self, lengths: _Lengths) -> None:
        """Go through the log once. Where a file's framing is damaged, up to there."""
        try:
            for split, first, offsets, sizes, envelope in all_headers(self.log, _SPLIT):
                lengths.add("records", sizes.astype(np.int64))
                change, version = self.log.classify(envelope)
                damaged = self.log.check(envelope, sizes, change, version)
                rows = np.flatnonzero(~damaged & (version >= 0) & np.isin(change, ROW_CHANGES))
                records = sort_records(
                    split.file, first, offsets, sizes, envelope, change, version, rows
                )
                self._take(records, lengths)
        except InputError:
            self.images["records after damaged framing are not here"] += 1
        self._join(lengths)

    def _take(self, records: Records, lengths: _Lengths) -> None:
        several = records["segments"] > 1
        parts = take_rows(records, np.flatnonzero(several))
        if len(parts):
            room = _MOST_PARTS - sum(map(len, self.parts))
            self.parts.append(parts[:room])
            self.unjoined += len(parts[room:])
        whole = take_rows(records, np.flatnonzero(~several))
        self._decode(whole, np.arange(len(whole)), np.ones(len(whole), np.int64), lengths)

    def _join(self, lengths: _Lengths) -> None:
        """Changes in several records: those of which every part is there."""
        if not self.parts:
            return
        records = np.concatenate(self.parts)
        keys = np.concatenate(
            [as_bytes(records[name]) for name in ("commit", "unit", "position")], axis=1
        )
        change = np.ascontiguousarray(keys).view(f"S{keys.shape[1]}").reshape(-1)
        order = np.lexsort((records["segment"], change))
        records, change = take_rows(records, order), change[order]
        heads = np.flatnonzero(np.concatenate([[True], change[1:] != change[:-1]]))
        weights = np.diff(np.append(heads, len(records)))
        whole = weights == records["segments"][heads]
        self.unjoined += int(weights[~whole].sum())
        self._decode(records, heads[whole], weights[whole], lengths)

    def _decode(self, records: Records, heads: Index, weights: Index, lengths: _Lengths) -> None:
        for kind in (Change.INSERT, Change.UPDATE, Change.DELETE):
            mine = np.flatnonzero(records["change"][heads] == kind)
            if not len(mine):
                continue
            version = records["version"][heads[mine]]
            for rows, images in self.log.images(records, heads[mine], weights[mine], kind):
                for number in np.unique(version[rows]).tolist():
                    chosen = np.flatnonzero((version[rows] == number) & ~images.bad)
                    of_table = images.take(chosen)
                    for side in (of_table.before, of_table.after):
                        if side is not None and len(chosen):
                            lengths.add("row images", side[1] - side[0])
                            self._columns(number, of_table.buffer, *side)
                self.images["images whose lengths close"] += int((~images.bad).sum())
                self.images["images whose lengths do not"] += int(images.bad.sum())

    def _columns(self, version: int, buffer: Any, start: Index, end: Index) -> None:
        walk = self.log.walk(version, buffer, start, end)
        good = np.flatnonzero(~walk.bad)
        self.images["rows whose columns do not end exactly"] += len(start) - len(good)
        if not len(good):
            return
        for index, column in enumerate(self.log.catalog.versions[version].format.columns):
            name = f"{column.code or column.subtype} ({column.column.type.value.lower()})"
            counter = self.counts.setdefault(name, Counter())
            counter["values"] += len(good)
            if column.lob:
                counter["not in the log"] += len(good)
                continue
            values, bad = walk.decode(index, good)
            wrong = 0 if bad is None else int(bad.sum())
            counter["not_decoded"] += wrong
            counter["nulls"] += values.null_count - wrong

    def describe(self) -> dict[str, dict[str, int]]:
        """Counts by type."""
        return {
            name: {
                key: counter[key] for key in ("values", "nulls", "not_decoded", "not in the log")
            }
            for name, counter in sorted(self.counts.items())
        }


# -- in words
# -------------------------------------------------------------------------------------------------


def doctor_text(family: Family, report: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    return "\n".join(wrapped(line) for line in _lines(family, report))


def _lines(family: Family, report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{_TITLE} {report['version']}, {family.title}"
    for number, entry in enumerate(report["files"], 1):
        yield f"  file {number}: {entry['bytes']:,} bytes, SHA-256 {entry['sha256']}"
    closed = report.get("not_opened")
    if closed:
        yield ""
        yield f"The log could not be opened: {closed['code']}, {closed['meaning']}"
        place = {name: closed[name] for name in ("record", "offset", "field")}
        yield "  " + ", ".join(f"{name} {value}" for name, value in place.items() if value)
        return
    yield from ("", "Layout")
    for name, value in report["layout"].items():
        if name == "tables":
            yield f"  tables: {len(value)}"
        else:
            yield f"  {name}: {_flat(value)}"
    for title, counts in (("Codes", report["counts"]), ("Lengths", report["lengths"])):
        yield from ("", title)
        yield from (f"  {name}: {counted(values)}" for name, values in counts.items())
    yield from ("", "Values by type of column")
    yield from aligned(
        ["  type", "values", "nulls", "not decoded"],
        [
            [f"  {name}", *(f"{entry[key]:,}" for key in ("values", "nulls", "not_decoded"))]
            for name, entry in report["types"].items()
        ],
    )
    points = open_points(family.name)
    for title, verdicts in (
        ("Readings that this log contradicts", ("contradicted",)),
        ("Readings that this log fits", ("fits",)),
        ("Readings of which this log shows what is there", ("seen",)),
        ("Readings that this log does not exercise", ("not exercised",)),
        ("Readings that are not counted", ("not looked at",)),
    ):
        mine = [entry for entry in report["readings"] if entry["verdict"].startswith(verdicts)]
        if mine:
            yield from ("", title)
        for entry in mine:
            yield f"  {entry['name']}: {points[entry['name']]}"
            if entry.get("looked_at"):
                taken = f"; taken: {entry['taken']}" if entry["taken"] else ""
                fits = {name: count for name, count in entry["fits"].items() if count}
                yield f"    {entry['verdict']}: of {entry['looked_at']:,}, {counted(fits)}{taken}"
    yield from ("", f"This report says of itself: SHA-256 {report['sha256']}")


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_flat(entry)}" for name, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return str(value)
