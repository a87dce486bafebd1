"""What the published pages of Log Master's logical log leave open, and what one log has to say of
it (format notes, section 11): counts of records that fit each reading, never a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from replay.arrays import Bytes, Index, Lengths, Mask
from replay.changes.catalog import TableVersion
from replay.changes.envelope import CHANGE_OF_TYPE, Change
from replay.changes.position import HIGHEST, LOWEST
from replay.decoding import codecs, images
from replay.decoding.image_layouts import layouts
from replay.decoding.layout import FieldKind
from replay.errors import InputError
from replay.logs.files import whole
from replay.logs.logmaster.control import ControlFile, control_records
from replay.logs.logmaster.data import Reading, closing_changes, find_images, halfwords
from replay.logs.logmaster.header_layout import ControlRecord
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.layouts import CONTROL
from replay.logs.logmaster.reader import CHANGES, LogmasterLog
from replay.logs.readings import Checkup, Evidence

_BLOCK, _BATCH = 16 << 20, 65_536
#: Header codes that are counted, and what they may be.
_CODES = (
    "SQLTYPE", "LOGRECDISP", "SQLSRCTYPE", "UORDISP", "INCOMPLETETRANS", "INCOMPLETEDEP",
    "UORHASCOMP", "PAGENUMFMT", "ANOMALYTYPE",
)  # fmt: skip


@dataclass
class _Counts:
    """What is counted while the log goes by."""

    fields: dict[str, Counter[str]] = field(default_factory=dict)
    readings: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    fits: dict[str, Counter[str]] = field(default_factory=dict)

    def code(self, name: str, values: Bytes) -> None:
        counter = self.fields.setdefault(name, Counter())
        for code, count in enumerate(np.bincount(values, minlength=256).tolist()):
            if count:
                shown = chr(code).strip() or "blank" if 32 <= code < 127 else f"X'{code:02X}'"
                counter[shown] += count

    def fit(self, name: str, looked_at: int, **candidates: int) -> None:
        self.of[name] += looked_at
        self.fits.setdefault(name, Counter()).update(candidates)


def checkup(log: LogmasterLog) -> Checkup:
    """What ``logreplay doctor`` says of a log. Where a file's framing is damaged, up to there."""
    counts = _Counts()
    for number in range(len(log.files)):
        with suppress(InputError):
            for block in log.blocks(number, _BLOCK):
                for start in range(0, len(block.offsets), _BATCH):
                    part = slice(start, start + _BATCH)
                    _look(log, number, block.offsets[part], block.lengths[part], counts)
    return Checkup(
        _laid_out(log),
        {name: dict(sorted(counter.items())) for name, counter in counts.fields.items()},
        tuple(_evidence(log, counts)),
    )


def _laid_out(log: LogmasterLog) -> dict[str, Any]:
    control, header = log.control, log.control.header
    return {
        "control framing": control.framing.value,
        "data framing": sorted({file.framing.value for file in log.files}),
        "written by": str(control.common["CNTLFILETYPEVERSION"]),
        "header described by": "XHDF records" if control.header_described else "v11.1 layout",
        "header bytes": header.size,
        "header bytes in records": log.shape.header,
        "header fields": {
            name: f"{entry.offset}({entry.length})" for name, entry in header.names.items()
        },
        "control records": {
            tag: dict(Counter(str(size) for size in sizes))
            for tag, sizes in sorted(_control_sizes(log).items())
        },
        "data set": {
            name: control.data_set.get(name)
            for name in ("RECORDFORMAT", "DATEFORMAT", "EXPANDVAR", "SEGMENTED", "DDLOBJECTS")
        },
        "tables": [
            {
                "columns": len(version.format.columns),
                "key": len(version.table.key),
                "encoding": version.format.columns[0].encoding if version.format.columns else "",
                "codes": [f"{entry.code}({entry.length})" for entry in version.format.columns],
            }
            for version in log.catalog.versions
        ],
    }


def _safe(tag: str) -> str:
    """A tag that may be shown: what is none might be a part of a name."""
    return tag if re.fullmatch("[A-Z][A-Z0-9]{3}", tag) else "unreadable tag"


def _control_sizes(log: LogmasterLog) -> dict[str, list[int]]:
    sizes: dict[str, list[int]] = {}
    for record in _control_records(log):
        sizes.setdefault(_safe(record.tag), []).append(len(record.raw))
    return sizes


def _look(log: LogmasterLog, file: int, offsets: Index, lengths: Lengths, counts: _Counts) -> None:
    envelope = log.envelope(file, offsets, lengths)
    change, version = log.classify(envelope)
    damaged = log.check(envelope, lengths, change, version)
    counts.fields.setdefault("records", Counter()).update(
        {"sound header": int((~damaged).sum()), "damaged header": int(damaged.sum())}
    )
    for name in _CODES:
        if name in envelope.layout.names:
            counts.code(name, envelope.code(name))
    types = envelope.change_type()
    counter = counts.fields.setdefault("CHANGE TYPE", Counter())
    for value, count in zip(*np.unique(types, return_counts=True), strict=True):
        code = chr(int(value) >> 8) + chr(int(value) & 255)
        counter[code.strip() if code in CHANGE_OF_TYPE else f"X'{int(value):04X}'"] += int(count)
    _headers(log, envelope, lengths, counts)
    sound = np.flatnonzero(~damaged)
    _rows(log, file, sound, offsets, lengths, envelope, counts)


def _headers(log: LogmasterLog, envelope: Headers, lengths: Lengths, counts: _Counts) -> None:
    size = len(envelope)
    length = envelope.number("LENGTH")
    counts.fit("header-length", size, common=int((length == log.shape.header).sum()))
    zero = ~envelope.position("UORCOMMITLRSN").any(axis=1)
    point = ~envelope.position("UORCOMMITPOINT").any(axis=1)
    counts.fit(
        "commit-position",
        size,
        LRSN=int((~zero).sum()),
        RBA=int((zero & ~point).sum()),
        none=int((zero & point).sum()),
    )
    names = envelope.layout.names
    if "ORDERVALUE" in names:
        filled = int(envelope.raw("ORDERVALUE").any(axis=1).sum())
        counts.fit("order-value", size, named_and_filled=filled, named_and_empty=size - filled)
    if "SQLRIRBA" in names:
        filled = int(envelope.raw("SQLRIRBA").any(axis=1).sum())
        counts.fit("sort-key", size, filled=filled, zero=size - filled)
    codes = Counter(chr(code) for code in envelope.code("SQLTYPE").tolist())
    counts.fit("selected-set", size, U=codes["U"], R=codes["R"], blank=codes[" "])
    if "SEGLEN" in names:
        told, data = envelope.number("SEGLEN"), lengths.astype(np.int64) - log.shape.header
        counts.fit(
            "segment-length",
            size,
            record=int((told == lengths).sum()),
            record_and_RDW=int((told == lengths + 4).sum()),
            data=int((told == data).sum()),
            data_without_its_length=int((told == data - 2).sum()),
            zero=int((told == 0).sum()),
        )
    change = CHANGES[envelope.change_type()]
    data = lengths.astype(np.int64) - log.shape.header
    for name, kinds in (
        ("table-events", (Change.MASS_DELETE, Change.TRUNCATE, Change.EXCHANGE)),
        ("other-records", (Change.CATALOG, Change.COMMAND, Change.STATUS)),
    ):
        mine = data[np.isin(change, kinds)]
        empty = int((mine <= 2).sum())
        counts.fit(name, len(mine), without_data=empty, with_data=len(mine) - empty)


def _rows(
    log: LogmasterLog,
    file: int,
    sound: Index,
    offsets: Index,
    lengths: Lengths,
    envelope: Headers,
    counts: _Counts,
) -> None:
    change, version = log.classify(envelope)
    segments, buffer = envelope.segments(), log.buffer(file, offsets, offsets + lengths)
    start = offsets + log.shape.header
    end = offsets + lengths
    row = np.zeros(len(change), bool)
    row[sound] = (change[sound] > 0) & (change[sound] <= Change.DELETE)
    later = np.flatnonzero(row & (segments > 1) & (envelope.segment() > 1))
    size = end[later] - start[later]
    own = int(((halfwords(buffer, start[later]) == size) & (size >= 2)).sum())
    counts.fit("segments", len(later), own_length=own, no_length=len(later) - own)
    for of_table in log.catalog.versions:
        rows = np.flatnonzero(row & (segments <= 1) & (version == of_table.index))
        if not len(rows):
            continue
        update = change[rows] == Change.UPDATE
        choices = len(list(layouts(of_table.format)))
        place = log.image_reading(of_table.index)

        def closing(reading: Reading, layout: int | None, rows: Index = rows, update: Mask = update,
                    of_table: Any = of_table) -> int:  # fmt: skip
            return closing_changes(
                of_table, buffer, start[rows], end[rows], update, reading, layout
            )

        fits = {reading.value: closing(reading, place) for reading in Reading}
        counts.fit("data-lengths", len(rows), **fits)
        if choices > 1:
            counts.fit(
                "row-layout",
                len(rows),
                **{
                    "taken" if layout == place else f"layout {layout + 1}": closing(
                        log.reading, layout
                    )
                    for layout in range(choices)
                },
            )
        if any(entry.expanded for entry in of_table.format.columns):
            counts.fit("expanded-columns", len(rows), padded=fits[log.reading.value])
        _null_columns(log, file, of_table, (start[rows], end[rows], update), counts)


def _null_columns(
    log: LogmasterLog,
    file: int,
    of_table: TableVersion,
    rows: tuple[Index, Index, Mask],
    counts: _Counts,
) -> None:
    """What fixed columns hold that are null, in the first image of each change."""
    fixed = [
        index
        for index, entry in enumerate(of_table.format.columns)
        if entry.nullable and not entry.variable
    ]
    start, end, update = rows
    for kind, of_kind in ((Change.UPDATE, update), (Change.INSERT, ~update)) if fixed else ():
        buffer = log.buffer(file, start[of_kind], end[of_kind])
        bounds = find_images(buffer, start[of_kind], end[of_kind], kind, log.reading, True)
        good = ~bounds.bad
        walk = images.walk(
            of_table.format,
            buffer,
            bounds.first[0][good],
            bounds.first[1][good],
            log.image_reading(of_table.index),
        )
        for index in fixed:
            null = walk.nulls(index)
            if null is not None:
                rows_null = np.flatnonzero(null & ~walk.bad)
                width = int(np.max(walk.length[index]))
                held = codecs.gather(buffer, walk.at(index)[rows_null], width)
                zero = int((~held.any(axis=1)).sum())
                counts.fit("null-columns", len(held), zeros=zero, other_bytes=len(held) - zero)


def _evidence(log: LogmasterLog, counts: _Counts) -> Iterator[Evidence]:
    taken = {
        "header-length": "common",
        "data-lengths": log.reading.value,
        "row-layout": "taken",
        "expanded-columns": "padded",
        "segments": "own_length" if log.later_segments_have_length else "no_length",
    }
    for name in ("order-value", "row-layout", "expanded-columns", "null-columns"):
        counts.fit(name, 0)
    for reading, looked_at in counts.of.items():
        yield Evidence(
            reading,
            looked_at,
            {name.replace("_", " "): n for name, n in counts.fits[reading].items()},
            taken.get(reading, "").replace("_", " "),
        )
    yield from _control_fields(log)
    yield from _columns(log)
    yield from _control(log.control)


def _control_fields(log: LogmasterLog) -> Iterator[Evidence]:
    """Numbers in text, and the bytes of columns."""
    found: Counter[str] = Counter()
    columns: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in _control_records(log):
        if record.tag not in CONTROL:
            continue
        for entry in CONTROL[record.tag].names.values():
            if entry.kind is FieldKind.NUMBER and entry.end <= len(record.raw):
                found[_padding(record.raw[entry.offset : entry.end].decode("cp037"))] += 1
        if record.tag == "DLCI":
            values = CONTROL["DLCI"].read(record.raw)
            key = tuple(values[name] for name in ("DBID", "TBOBID", "SEQUENCENUMBER"))
            columns.setdefault(key, []).append(values)
    yield Evidence("numeric-text", found.total(), dict(sorted(found.items())))
    yield _column_bytes(columns)


def _control_records(log: LogmasterLog) -> Iterator[ControlRecord]:
    return control_records(whole(log.control_path), log.control.framing, log.control_path)


def _padding(text: str) -> str:
    stripped = text.strip(" \0")
    if not stripped:
        return "empty"
    if len(stripped) == len(text):
        return "zeros before" if text[0] == "0" and len(text) > 1 else "full"
    return "blanks before" if text[-1] not in " \0" else "blanks behind"


def _columns(log: LogmasterLog) -> Iterator[Evidence]:
    """LLCOLUMNPOS of first columns, text that does not say what it is, and dates."""
    first: Counter[str] = Counter()
    for version in log.catalog.versions:
        if version.format.columns:
            entry = version.format.columns[0]
            after = " or behind its null byte" if entry.nullable else ""
            first[f"{entry.position}{after}"] += 1
    yield Evidence("first-column-position", first.total(), dict(sorted(first.items())))
    untold = Counter(
        entry.code
        for version in log.catalog.versions
        for entry in version.format.columns
        if entry.code in ("CHAR", "VCHR", "LVCH") and not entry.subtype
    )
    yield Evidence("text-subtype", untold.total(), dict(sorted(untold.items())))
    dates = sum(
        entry.code in ("DATE", "TIME", "DTTM", "DTTZ")
        for version in log.catalog.versions
        for entry in version.format.columns
        if version.format.date_format == "SAS"
    )
    yield Evidence("date-text", dates, {"columns": dates})


def _control(control: ControlFile) -> Iterator[Evidence]:
    position = control.end.get("DEPENDENTRBA")
    known = [] if position is None else ["a position" if control.dependent_position else "none"]
    yield Evidence("dependent-position", len(known), dict.fromkeys(known, 1))
    drops: Counter[str] = Counter()
    for version in control.catalog.versions:
        drops[
            "zero"
            if version.dropped == LOWEST
            else "all X'FF'"
            if version.dropped == HIGHEST
            else "a position"
        ] += 1
    yield Evidence("generations", drops.total(), dict(sorted(drops.items())))
    unknown = Counter[str]()
    for tag, count in control.unknown.items():
        unknown[_safe(tag)] += count
    yield Evidence("unknown-control-records", unknown.total(), dict(sorted(unknown.items())))


def _column_bytes(by_table: Mapping[tuple[Any, ...], list[dict[str, Any]]]) -> Evidence:
    """LOGLOGBYTES of the columns whose places are known, against what they take there."""
    found: Counter[str] = Counter()
    for columns in by_table.values():
        ordered = sorted(columns, key=lambda values: values["LLCOLUMNNUM"] or 0)
        for one, following in pairwise(ordered):
            places = one["LLCOLUMNPOS"], following["LLCOLUMNPOS"]
            if (
                None in places
                or min(places) < 0
                or None in (one["LOGLOGBYTES"], one["LLCOLUMNLEN"])
            ):
                continue
            null = one["LLNULLS"] in ("Y", "L")
            names = [
                name
                for name, size in (
                    ("what it takes in the row", places[1] - places[0]),
                    ("its length", one["LLCOLUMNLEN"]),
                    ("its length and null byte", one["LLCOLUMNLEN"] + null),
                )
                if one["LOGLOGBYTES"] == size
            ]
            found[" = ".join(names) or "something else"] += 1
    return Evidence("column-bytes", found.total(), dict(sorted(found.items())))
