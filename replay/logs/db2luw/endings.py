"""What commit and abort records say: the time, and who it was (format notes, section 14).

Each kind has more or less before the authorization id, and releases differ in the size of the time
and in whether a length stands before the id. Of the forms that a record may have, that one counts
which closes it, or which leaves a name.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay.logs.db2luw import layouts
from replay.logs.db2luw.binary import number
from replay.logs.db2luw.framing import LuwShape, name_closes
from replay.logs.db2luw.layouts import Part, Parts, RecordKind

#: Seconds since 1970 that a commit may have: from 1980 up to 2100.
EARLIEST, LATEST = 315_532_800, 4_102_444_800
_LONGEST_NAME = 128


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
