"""What the published pages of Log Master's logical log leave open, and what one log has to say of
it (format notes, section 11): counts of records that fit each reading, never a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from replay.arrays import Index, Lengths, Mask
from replay.changes.catalog import TableVersion
from replay.changes.envelope import Change
from replay.changes.position import HIGHEST, LOWEST
from replay.decoding import codecs, images
from replay.decoding.image_layouts import layouts
from replay.decoding.layout import FieldKind
from replay.errors import InputError
from replay.logs.change_types import CHANGE_OF_TYPE
from replay.logs.files import whole
from replay.logs.logmaster.control import ControlFile, control_records
from replay.logs.logmaster.data import Reading, closing_changes, find_images, halfwords
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.layouts import CONTROL, ControlRecord
from replay.logs.logmaster.reader import CHANGES, LogmasterLog
from replay.logs.readings import Checkup, Evidence, Tallies, seen

#: Header codes that are counted, and what they may be.
_CODES = (
    "SQLTYPE", "LOGRECDISP", "SQLSRCTYPE", "UORDISP", "INCOMPLETETRANS", "INCOMPLETEDEP",
    "UORHASCOMP", "PAGENUMFMT", "ANOMALYTYPE",
)  # fmt: skip


_SOUND = ("damaged header", "sound header")


def _shown(code: int) -> str:
    return chr(code).strip() or "blank" if 32 <= code < 127 else f"X'{code:02X}'"


def checkup(log: LogmasterLog) -> Checkup:
    """What ``logreplay doctor`` says of a log. Where a file's framing is damaged, up to there."""
    counts = Tallies()
    for number in range(len(log.files)):
        with suppress(InputError):
            for _, offsets, lengths in log.batches(number):
                _look(log, number, offsets, lengths, counts)
    return Checkup(_laid_out(log), counts.by_field(), tuple(_evidence(log, counts)))


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


def _look(log: LogmasterLog, file: int, offsets: Index, lengths: Lengths, counts: Tallies) -> None:
    envelope = log.envelope(file, offsets, lengths)
    change, version = log.classify(envelope)
    damaged = log.check(envelope, lengths, change, version)
    records = counts.codes("records", damaged, lambda bad: _SOUND[not bad])
    records.update(dict.fromkeys(_SOUND, 0))
    for name in _CODES:
        if name in envelope.layout.names:
            counts.codes(name, envelope.code(name), _shown)
    counts.codes("CHANGE TYPE", envelope.change_type(), _change_type)
    _headers(log, envelope, lengths, counts)
    _rows(log, file, np.flatnonzero(~damaged), offsets, lengths, envelope, counts)


def _change_type(value: int) -> str:
    code = chr(value >> 8) + chr(value & 255)
    return code.strip() if code in CHANGE_OF_TYPE else f"X'{value:04X}'"


def _headers(log: LogmasterLog, envelope: Headers, lengths: Lengths, counts: Tallies) -> None:
    size, names = len(envelope), envelope.layout.names
    counts.fit("header-length", size, common=envelope.number("LENGTH") == log.shape.header)
    lrsn = envelope.position("UORCOMMITLRSN").any(axis=1)
    point = envelope.position("UORCOMMITPOINT").any(axis=1)
    counts.fit("commit-position", size, LRSN=lrsn, RBA=~lrsn & point, none=~lrsn & ~point)
    if "ORDERVALUE" in names:
        filled = envelope.raw("ORDERVALUE").any(axis=1)
        counts.halves("order-value", filled, "named_and_filled", "named_and_empty")
    if "SQLRIRBA" in names:
        counts.halves("sort-key", envelope.raw("SQLRIRBA").any(axis=1), "filled", "zero")
    sets = envelope.code("SQLTYPE")
    counts.fit("selected-set", size, U=sets == ord("U"), R=sets == ord("R"), blank=sets == ord(" "))
    data = lengths.astype(np.int64) - log.shape.header
    if "SEGLEN" in names:
        told = envelope.number("SEGLEN")
        counts.fit(
            "segment-length",
            size,
            record=told == lengths,
            record_and_RDW=told == lengths + 4,
            data=told == data,
            data_without_its_length=told == data - 2,
            zero=told == 0,
        )
    change = CHANGES[envelope.change_type()]
    for name, kinds in (
        ("table-events", (Change.MASS_DELETE, Change.TRUNCATE, Change.EXCHANGE)),
        ("other-records", (Change.CATALOG, Change.COMMAND, Change.STATUS)),
    ):
        counts.halves(name, data[np.isin(change, kinds)] <= 2, "without_data", "with_data")


def _rows(
    log: LogmasterLog,
    file: int,
    sound: Index,
    offsets: Index,
    lengths: Lengths,
    envelope: Headers,
    counts: Tallies,
) -> None:
    change, version = log.classify(envelope)
    segments, buffer = envelope.segments(), log.buffer(file, offsets, offsets + lengths)
    start = offsets + log.shape.header
    end = offsets + lengths
    row = np.zeros(len(change), bool)
    row[sound] = (change[sound] > 0) & (change[sound] <= Change.DELETE)
    later = np.flatnonzero(row & (segments > 1) & (envelope.segment() > 1))
    size = end[later] - start[later]
    own = (halfwords(buffer, start[later]) == size) & (size >= 2)
    counts.halves("segments", own, "own_length", "no_length")
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
    counts: Tallies,
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
                counts.halves("null-columns", ~held.any(axis=1), "zeros", "other_bytes")


def _evidence(log: LogmasterLog, counts: Tallies) -> Iterator[Evidence]:
    for name in ("order-value", "row-layout", "expanded-columns", "null-columns"):
        counts.fit(name, 0)
    yield from counts.evidence(
        {
            "header-length": "common",
            "data-lengths": log.reading.value,
            "row-layout": "taken",
            "expanded-columns": "padded",
            "segments": "own length" if log.later_segments_have_length else "no length",
        }
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
    yield seen("numeric-text", found)
    yield _column_bytes(columns)


def _control_records(log: LogmasterLog) -> Iterator[ControlRecord]:
    return control_records(whole(log.control_path), log.control.framing, log.control_path)


def _padding(text: str) -> str:
    stripped = text.strip(" \0")
    if not stripped:
        return "empty"
    if len(stripped) == len(text):
        return "zeros before" if text[0] == "0" and len(text) > 1 else "full"
    return "blanks before" if text[-1] not in " \0" else "blanks after"


def _columns(log: LogmasterLog) -> Iterator[Evidence]:
    """LLCOLUMNPOS of first columns, text that does not say what it is, and dates."""
    first: Counter[str] = Counter()
    for version in log.catalog.versions:
        if version.format.columns:
            entry = version.format.columns[0]
            after = " or after its null byte" if entry.nullable else ""
            first[f"{entry.position}{after}"] += 1
    yield seen("first-column-position", first)
    untold = Counter(
        entry.code
        for version in log.catalog.versions
        for entry in version.format.columns
        if entry.code in ("CHAR", "VCHR", "LVCH") and not entry.subtype
    )
    yield seen("text-subtype", untold)
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
    yield seen("generations", drops)
    unknown = Counter[str]()
    for tag, count in control.unknown.items():
        unknown[_safe(tag)] += count
    yield seen("unknown-control-records", unknown)


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
    return seen("column-bytes", found)
