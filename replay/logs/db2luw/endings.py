"""What commit and abort records say: the time, and who it was (format notes, section 14).

Each kind has more or less before the authorization id, and releases differ in the size of the time
and in whether a length stands before the id. Of the forms that a record may have, that one counts
which closes it, or which leaves a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from replay.arrays import Bytes, Index, Records, one_of
from replay.decoding.codecs import gather_padded
from replay.decoding.hashes import hash_ranges
from replay.logs.db2luw import layouts
from replay.logs.db2luw.framing import LuwShape, name_closes
from replay.logs.db2luw.layouts import Part, Parts, RecordKind, number, numbers

#: Seconds since 1970 that a commit may have: from 1980 up to 2100.
EARLIEST, LATEST = 315_532_800, 4_102_444_800
_LONGEST_NAME = 128


@dataclass(frozen=True)
class _Source:
    """The bytes that records lie in, and their shape."""

    buffer: Bytes
    shape: LuwShape


def endings_of(
    records: Records, buffer: Bytes, shape: LuwShape, names: dict[bytes, int]
) -> tuple[Index, Index]:
    """(commit time in seconds since 1970, 0 for none; number of the authorization id among
    ``names``, to which new ones are added) of commit and abort records of a ``buffer`` (dtype
    :data:`replay.logs.db2luw.scan.SCANNED`)."""
    kind, dialect, source = records["type"], shape.dialect, _Source(buffer, shape)
    times = np.zeros(len(records), np.int64)
    start, size = np.zeros((2, len(records)), np.int64)
    plain = one_of(kind, layouts.PLAIN_COMMITS)
    aborts = layouts.KIND_OF_TYPE[kind] != RecordKind.COMMIT
    for chosen, forms in ((plain, dialect.commits), (aborts, dialect.aborts)):
        for form, rows in _plainly(records, np.flatnonzero(chosen), forms, source):
            _tell(records, rows, form, source, times)
            start[rows], size[rows] = _name(records, rows, form, source)
    for row in np.flatnonzero(~plain & ~aborts).tolist():
        begin, end = (
            int(records["offset"][row]),
            int(records["offset"][row]) + int(records["length"][row]),
        )
        record, header = source.buffer[begin:end].tobytes(), int(records["header"][row])
        form, one = ending(record, header, source.shape), np.array([row])
        _tell(records, one, form, source, times)
        if "authid" in form:
            start[row], size[row] = np.concatenate(_name(records, one, form, source))
    return times, _numbered(source.buffer, start, size, names)


def _plainly(
    records: Records, rows: Index, forms: tuple[Parts, ...], source: _Source
) -> Iterator[tuple[Parts, Index]]:
    """Of several forms each with those of some records that have it: as :func:`_plain`."""
    for form in forms:
        if "authid_length" in form:
            named = _length(records, rows, form, source)
            ends = records["header"][rows].astype(np.int64) + form["authid"].offset + named
            closes = ends == records["length"][rows]
            yield form, rows[closes]
            rows = rows[~closes]
    free = [form for form in forms if "authid_length" not in form]
    yield free[0] if free else forms[0], rows


def _length(records: Records, rows: Index, form: Parts, source: _Source) -> Index:
    """What some records say of the length of the name; 0 where they end before that."""
    part, header = form["authid_length"], records["header"][rows].astype(np.int64)
    there = header + part.offset + part.size <= records["length"][rows]
    told = numbers(source.buffer, records["offset"][rows] + header, part, source.shape.big)
    return np.where(there, told.astype(np.int64), 0)


def _name(records: Records, rows: Index, form: Parts, source: _Source) -> tuple[Index, Index]:
    """Where the authorization ids of some records lie in the file, and how long they are."""
    part, size = form["authid"], records["length"][rows].astype(np.int64)
    start = np.minimum(records["header"][rows].astype(np.int64) + part.offset, size)
    end = size
    if "authid_length" in form:
        end = start + _length(records, rows, form, source)
    elif part.size:
        end = start + part.size
    return records["offset"][rows] + start, np.minimum(end, size) - start


def _tell(records: Records, rows: Index, form: Parts, source: _Source, times: Index) -> None:
    """Say when records of a form were written, as far as they have the time."""
    if "time" not in form:
        return
    part = form["time"]
    rows = rows[records["header"][rows].astype(np.int64) + part.size <= records["length"][rows]]
    body = records["offset"][rows] + records["header"][rows]
    times[rows] = _seconds(source, body, part)


def _numbered(buffer: Bytes, start: Index, size: Index, names: dict[bytes, int]) -> Index:
    """The number of each of some names among ``names``, to which new ones are added."""
    codes = np.full(len(start), -1, np.int64)
    usual = np.flatnonzero((size > 0) & (size <= _LONGEST_NAME))
    hashes = hash_ranges(buffer, start[usual], start[usual] + size[usual])
    _, first, of = np.unique(hashes, return_index=True, return_inverse=True)
    octets = gather_padded(buffer, start[usual], size[usual], int(size[usual].max(initial=1)))
    alike = (octets == octets[first[of]]).all(axis=1) & (size[usual] == size[usual[first[of]]])
    known = np.array([_added(names, buffer, start, size, row) for row in usual[first].tolist()])
    codes[usual[alike]] = known.astype(np.int64)[of[alike]]
    codes[size == 0] = names.setdefault(b"", len(names))
    for row in np.flatnonzero(codes < 0).tolist():
        codes[row] = _added(names, buffer, start, size, row)
    return codes


def _added(names: dict[bytes, int], buffer: Bytes, start: Index, size: Index, row: int) -> int:
    octets = buffer[start[row] : start[row] + size[row]].tobytes()
    return names.setdefault(octets.rstrip(b"\0 "), len(names))


def _seconds(source: _Source, body: Index, part: Part) -> Index:
    """Seconds since 1970; of an 8-byte time that is no date, the half that is one (section 14)."""
    value = numbers(source.buffer, body, part, source.shape.big)
    if part.size == 8:
        for half in (0, 4):
            other = numbers(source.buffer, body, Part(part.offset + half, 4), source.shape.big)
            wrong = (value < EARLIEST) | (value >= LATEST)
            value = np.where(wrong & (other >= EARLIEST) & (other < LATEST), other, value)
    return np.where((value >= EARLIEST) & (value < LATEST), value, 0).astype(np.int64)


def ending(record: bytes, begin: int, shape: LuwShape) -> Parts:
    """The fields of a commit or abort record, of which ``begin`` bytes are the header. ``authid``
    has the size 0 where it goes to the end of the record, or has its length in
    ``authid_length``; fields that the record does not have, or that cannot be read, are not
    there."""
    kind = number(record, 0, shape.dialect.header["type"], shape.big)
    commits = layouts.KIND_OF_TYPE[kind] == RecordKind.COMMIT
    if not commits:
        return _plain(record, begin, shape.dialect.aborts, shape.big)
    if kind in layouts.PLAIN_COMMITS:
        return _plain(record, begin, shape.dialect.commits, shape.big)
    body = record[begin:]
    for form in _forms(body, kind, shape):
        if _fits(body, form, kind not in layouts.PENDING_LISTS, shape.big):
            return form
    time = shape.dialect.commits[0]["time"]
    timed = kind != layouts.GLOBAL_PENDING and _is_time(body, time, shape.big)
    return {"time": time} if timed else {}


def authid(record: bytes, begin: int, form: Parts, big: bool) -> bytes:
    """The authorization id in a record whose fields are ``form``; empty where it has none."""
    if "authid" not in form:
        return b""
    part = form["authid"]
    start, end = begin + part.offset, len(record)
    if "authid_length" in form:
        end = start + number(record, begin, form["authid_length"], big)
    elif part.size:
        end = start + part.size
    return record[start:end].rstrip(b"\0 ")


def _plain(record: bytes, begin: int, forms: tuple[Parts, ...], big: bool) -> Parts:
    """Of several forms that in which the length of the name closes the record, else that without
    such a length."""
    for form in forms:
        if "authid_length" in form and name_closes(record, begin, form, big):
            return form
    free = [form for form in forms if "authid_length" not in form]
    return free[0] if free else forms[0]


def _forms(body: bytes, kind: int, shape: LuwShape) -> Iterator[Parts]:
    """The forms that a record of a kind with more than time and name may have, those with a length
    of the name first: it is the better evidence."""
    commits = sorted(shape.dialect.commits, key=lambda form: "authid_length" not in form)
    for usual in commits:
        named, size = "authid_length" in usual, usual["time"].size
        untimed = kind == layouts.GLOBAL_PENDING or (not named and kind in layouts.MPP_COMMITS)
        for time in (0, size) if kind == layouts.GLOBAL_PENDING else (size, 0)[: 1 + untimed]:
            form = {"time": Part(0, time)} if time else {}
            place = time
            if kind in layouts.MPP_COMMITS:
                form["gxid"] = Part(place, layouts.GXID_SIZE)
                place += layouts.GXID_SIZE
            if kind in layouts.COORDINATORS:
                form["highest_node"] = Part(place, 2)
                nodes = number(body, 0, form["highest_node"], shape.big) // 8 + 1
                form["nodes"] = Part(place + 2, nodes)
                place += 2 + nodes
            if named:
                form["authid_length"] = Part(place, 2)
                form["authid"] = Part(place + 2, 0)
            else:
                wide = layouts.NAME_SIZE if kind in layouts.PENDING_LISTS else 0
                form["authid"] = Part(place, wide)
            yield form


def _fits(body: bytes, form: Parts, ends: bool, big: bool) -> bool:
    """Whether a form leaves a name and a time that may be one; where nothing follows the name
    (``ends``), its length must close the record."""
    if form["authid"].offset > len(body):
        return False
    if "time" in form and not _is_time(body, form["time"], big) and not ends:
        return False
    if "authid_length" in form:
        if ends:
            return name_closes(body, 0, form, big)
        size = number(body, 0, form["authid_length"], big)
        if not 0 < size <= len(body) - form["authid"].offset:
            return False
    if "time" in form and not _is_time(body, form["time"], big):
        return False
    name = authid(body, 0, form, big)
    return len(name) <= _LONGEST_NAME and all(octet >= 0x20 and octet != 0x7F for octet in name)


def _is_time(body: bytes, part: Part, big: bool) -> bool:
    """Whether a time, or a half of one of 8 bytes, is a date or missing (zero)."""
    halves = [part] if part.size == 4 else [part, Part(0, 4), Part(4, 4)]
    seconds = [number(body, 0, half, big) for half in halves]
    return seconds[0] == 0 or any(EARLIEST <= each < LATEST for each in seconds)
