"""One record of a logical log, field by field, with the columns of its row images."""

from __future__ import annotations

import numpy as np

from replay.changes.catalog import TableVersion
from replay.changes.envelope import ROW_CHANGES, Change
from replay.decoding.images import describe_image
from replay.decoding.layout import Field, FieldKind
from replay.errors import UsageError
from replay.logs.logmaster.data import Reading, find_images, halfwords, payload
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.headers import CODE_MEANINGS, Headers, timestamp_text
from replay.logs.logmaster.reader import LogmasterLog
from replay.logs.text import FieldRow, byte_lines, field_lines, hexadecimal


def dump_record(log: LogmasterLog, number: int, file: int = 1, with_hex: bool = False) -> list[str]:
    """One physical record, field by field; ``number`` and ``file`` count from 1. Damaged records
    are shown as far as they can be read.

    UsageError when there is no such file or record, InputError when the file's framing is damaged
    before it.
    """
    if not 1 <= file <= len(log.files):
        raise UsageError("LR1004", f"found --file {file}; expected 1 to {len(log.files)}")
    log, file = log.owner(file - 1)
    file += 1
    offset, length = _find(log, number, file - 1)
    entry = log.files[file - 1]
    lead = {Framing.RDW: 4, Framing.BDW: 4, Framing.FTP: 3, Framing.NONE: 0}[entry.framing]
    buffer = log.buffer(file - 1, offset - lead, offset + length)
    record = buffer[offset : offset + length].tobytes()
    before = (
        f" (X'{hexadecimal(buffer[offset - lead : offset].tobytes())}' before it)" if lead else ""
    )
    lines = [
        f"{entry.name}, record {number}",
        f"offset {offset} (X'{offset:X}'), {length} bytes, framing {entry.framing.value}{before}",
    ]
    offsets, lengths = np.array([offset]), np.array([length], np.int32)
    envelope = log.envelope(file - 1, offsets, lengths)
    change, version = log.classify(envelope)
    if log.check(envelope, lengths, change, version)[0]:
        lines.append(f"*** damaged: {log.header_finding(file - 1, number, offset, length)}")
    table = log.catalog.versions[int(version[0])] if version[0] >= 0 else None
    named = f"{table.name}, generation {table.sequence}" if table else "unknown"
    lines += [f"table {named}", "", "header"]
    lines += field_lines(_header_rows(log, record), with_hex)
    lines.append("")
    lines += _data_lines(log, record, envelope, int(change[0]), table, with_hex)
    return lines


def _find(log: LogmasterLog, number: int, file: int) -> tuple[int, int]:
    """(offset, length) of a record."""
    last = 0
    for first, offsets, lengths in log.batches(file):
        last = first + len(offsets) - 1
        if first <= number <= last:
            return int(offsets[number - first]), int(lengths[number - first])
    raise UsageError(
        "LR1004",
        f"found --record {number}; expected 1 to {last}, the records of {log.files[file].name}",
    )


def _header_rows(log: LogmasterLog, record: bytes) -> list[FieldRow]:
    fields = {entry.offset: entry for entry in log.control.header.fields}
    rows = [
        (name, offset, digits, _header_value(fields[offset], digits, value))
        for name, offset, digits, value in log.control.header.dump(record)
    ]
    appended = record[log.control.header.size : log.shape.header]
    if appended:
        rows.append(
            (
                "(appended)",
                log.control.header.size,
                hexadecimal(appended),
                "fields of a newer release",
            )
        )
    return rows


def _header_value(entry: Field, digits: str, value: str) -> str:
    """The value of a header field for people: positions in hexadecimal, times readable, codes with
    their meaning."""
    if value.startswith("***"):
        return value
    if entry.kind is FieldKind.PACKED_TIME:
        return timestamp_text(bytes.fromhex(digits)) or "none"
    if entry.kind in (FieldKind.POSITION, FieldKind.BYTES, FieldKind.RESERVED):
        return f"X'{digits}'"
    if entry.name in CODE_MEANINGS:
        code = value.strip() or "blank"
        return (
            f"{code if code.isprintable() else ascii(code)}:"
            f" {CODE_MEANINGS[entry.name].get(code, '*** unknown')}"
        )
    return value


def _data_lines(
    log: LogmasterLog,
    record: bytes,
    envelope: Headers,
    change: int,
    table: TableVersion | None,
    with_hex: bool,
) -> list[str]:
    start, end = log.shape.header, len(record)
    if end <= start:
        return ["no DATA"]
    segment, total = int(envelope.segment()[0]), int(envelope.segments()[0])
    lines = [f"DATA: {end - start} bytes at {start}, reading {log.reading.value}"]
    buffer, begin, stop = np.frombuffer(record, np.uint8), np.array([start]), np.array([end])
    if total > 1:
        at, size, bad = payload(
            buffer, begin, stop, log.reading, log.later_segments_have_length, np.array([segment])
        )
        lines.append(
            f"segment {segment} of {total} of a change: {int(size[0])} bytes at {int(at[0])}; a row"
            " image may begin in an earlier one"
        )
        if bad[0]:
            lines.append(
                f"*** found segment length {int(halfwords(buffer, begin)[0])}; expected"
                f" {end - start}"
            )
        return lines + byte_lines(record, int(at[0]))
    if change not in ROW_CHANGES:
        return lines + [
            (
                "no row images"
                if change
                else "*** what lies here is unknown, because the change type is"
            ),
            *byte_lines(record, start),
        ]
    bounds = find_images(buffer, begin, stop, Change(change), log.reading, True)
    if log.reading is Reading.A:
        lines.append(f"segment length {int(halfwords(buffer, begin)[0])} (with itself)")
    if bounds.bad[0]:
        found, expected = bounds.reason(0)
        lines.append(f"*** found {found}; expected {expected}")
    names = (
        ("before image", "after image")
        if bounds.second
        else ("row image" if table is None else _side(Change(change)),)
    )
    for name, place in zip(names, (bounds.first, bounds.second), strict=False):
        if place is not None:
            lines += _image_lines(name, record, int(place[0][0]), int(place[1][0]), table, with_hex)
    return lines + (["", "DATA as it is", *byte_lines(record, start)] if bounds.bad[0] else [])


def _side(change: Change) -> str:
    return (
        "after image (the row inserted)"
        if change is Change.INSERT
        else "before image (the row deleted)"
    )


def _image_lines(
    name: str, record: bytes, start: int, end: int, table: TableVersion | None, with_hex: bool
) -> list[str]:
    lines = ["", f"{name}: {end - start} bytes at {start}"]
    if start >= len(record) or end < start:
        return [*lines, "*** lies outside the record"]
    image = record[start:end]
    if len(image) < end - start:
        lines.append(f"*** {end - start - len(image)} of its bytes lie outside the record")
    if table is None:
        return [
            *lines,
            "*** the table is unknown, and with it the columns",
            *byte_lines(record[:end], start),
        ]
    rows = [
        (column or "(left over)", start + offset, digits, value)
        for column, offset, digits, value in describe_image(table.format, image)
    ]
    return lines + field_lines(rows, with_hex)
