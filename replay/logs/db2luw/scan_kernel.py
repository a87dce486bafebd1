"""Machine code that looks at records as :mod:`replay.logs.db2luw.scan` does, one after the other.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.

``shape`` is what :func:`replay.logs.db2luw.scan.shape_of` says of a log; ``fields`` where those of
a result lie in its bytes, in the order of :data:`replay.logs.db2luw.scan.PUT`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replay.decoding.shared_kernel import Array, U, machine_code, octet
from replay.logs.db2luw import layouts, scan
from replay.logs.db2luw.layouts import RecordKind, RecordRole

_COMPONENT, _PREPARE = int(RecordKind.COMPONENT), int(RecordKind.PREPARE)
_COMMIT, _ABORT = int(RecordKind.COMMIT), int(RecordKind.ABORT)
_COMPENSATION, _BACKOUT_FREE = layouts.COMPENSATION, layouts.BACKOUT_FREE
_PROPAGATABLE, _TEMPORARY = layouts.PROPAGATABLE, layouts.TEMPORARY_TABLE
_DMS, _DOM, _MOVE = layouts.DMS, layouts.DOM, layouts.PARTITION_MOVE
_INSERT, _DELETE, _UPDATE = (
    int(RecordRole.INSERT), int(RecordRole.DELETE), int(RecordRole.UPDATE)
)  # fmt: skip
_UNDO_INSERT, _UNDO_DELETE, _UNDO_UPDATE = (
    int(RecordRole.UNDO_INSERT), int(RecordRole.UNDO_DELETE), int(RecordRole.UNDO_UPDATE)
)  # fmt: skip
_PARTIAL, _OTHER = int(RecordRole.PARTIAL_UPDATE), int(RecordRole.OTHER)
_FOREIGN = int(RecordRole.FOREIGN)
_ROWS, _UNDO_ROWS = int(RecordRole.INSERT_ROWS), int(RecordRole.UNDO_INSERT_ROWS)
_LOW_EMPTY, _HIGH_EMPTY = min(layouts.EMPTY_PAGE), max(layouts.EMPTY_PAGE)
_MORE = layouts.EMPTY_PAGE_MORE
_HEADER_SIZE = layouts.ROW_HEADER_SIZE
_INNER, _LENGTH = layouts.ROW_HEADER["inner"].offset, layouts.ROW_HEADER["length"].offset
_SPACE, _TABLE = layouts.DMS_HEADER["tablespace"].offset, layouts.DMS_HEADER["table"].offset
_OF_SPACE, _OF_TABLE = layouts.DOM_HEADER["tablespace"].offset, layouts.DOM_HEADER["table"].offset
_OVERFLOW, _POINTER = layouts.OVERFLOW, layouts.POINTER
_ROW = layouts.FORMATTED | layouts.COMPRESSED
_USUAL, _UNUSUAL = layouts.NORMAL_OUTER
_NORMAL, _OVERFLOWN, _POINTS = scan.NORMAL, scan.OVERFLOWN, scan.POINTS
_INTERNAL, _UNKNOWN = scan.INTERNAL, scan.UNKNOWN


@machine_code
def _number(octets: Array, place: int, size: int, big: int) -> Any:
    value = np.int64(0)
    if big:
        for index in range(size):
            value = (value << 8) | octet(octets, place + index)
    else:
        for index in range(size):
            value |= octet(octets, place + index) << (8 * index)
    return value


@machine_code
def _put(out: Array, place: int, value: Any, size: int) -> int:
    for index in range(size):
        out[U(place + index)] = np.uint8((value >> (8 * index)) & 0xFF)
    return 0


@machine_code
def _row_kind(buffer: Array, place: Any, size: Any) -> Any:
    """What an image is."""
    outer = octet(buffer, place) if size > 0 else np.int64(0)
    inner = octet(buffer, place + _INNER) if size >= _HEADER_SIZE else np.int64(0)
    overflow, row = (outer & _OVERFLOW) != 0, (inner & _ROW) != 0
    if row and overflow:
        return _OVERFLOWN
    if row and (outer in (_USUAL, _UNUSUAL)):
        return _NORMAL
    if not overflow and (outer & _POINTER) != 0:
        return _POINTS
    if row:
        return _UNKNOWN
    return _INTERNAL


@machine_code
def _header(buffer: Array, at: int, length: Any, shape: Array, kinds: Array, found: Array) -> bool:
    big, lead = shape[0], shape[14]
    if at < lead or length < shape[9] or at + length > len(buffer):
        return True
    if shape[19] >= 0 and _number(buffer, at - lead + shape[19], 4, big) != 0:
        return True
    kind_of = _number(buffer, at + shape[1], 2, big)
    if kind_of > 255:
        kind_of = np.int64(0)
    if kind_of == _BACKOUT_FREE:
        return True
    found[0], found[1] = kind_of, kinds[U(kind_of)]
    found[2] = flags = _number(buffer, at + shape[2], 2, big)
    found[3], found[9] = shape[9], 0
    if kind_of == _COMPENSATION:
        found[3] = shape[11] if (flags & _PROPAGATABLE) != 0 else shape[10]
        if found[3] == shape[11] and length >= found[3]:
            found[9] = _number(buffer, at + shape[12], shape[13], big)
    found[8] = _number(buffer, at + shape[4], shape[5], big)
    found[4] = _number(buffer, at + shape[3], 6, big)
    if shape[8] >= 0:
        found[4] |= _number(buffer, at + shape[8], 2, big) << 48
    found[5] = _number(buffer, at + shape[6], 8, big) if shape[6] >= 0 else np.int64(0)
    found[6] = _number(buffer, at + shape[7], 8, big) if shape[7] >= 0 else np.int64(0)
    found[7] = _number(buffer, at - lead + shape[18], 8, big) if shape[18] >= 0 else np.int64(0)
    if shape[15] >= 0:
        found[5] = _number(buffer, at - lead + shape[15], shape[16], big)
    if shape[17] >= 0:
        found[6] = _number(buffer, at - lead + shape[17], 8, big)
    return False


@machine_code
def _update(buffer: Array, body: int, payload: int, shape: Array, found: Array) -> bool:
    big, first = shape[0], shape[24]
    if payload < 2 * first + _HEADER_SIZE:
        return True
    found[15] = _number(buffer, body + shape[20], shape[21], big)
    before, size = body + first, _number(buffer, body + first + _LENGTH, 2, big)
    second = before + size
    after, rest = second + first, payload - 2 * first - size
    if rest < 0 or octet(buffer, second) != _DMS:
        return True
    same = octet(buffer, second + 1) == found[11]
    same = same and _number(buffer, second + _SPACE, 2, big) == found[13]
    same = same and _number(buffer, second + _TABLE, 2, big) == found[14]
    if rest >= _HEADER_SIZE:
        same = same and _number(buffer, after + _LENGTH, 2, big) == rest
    if not same:
        return True
    was, then = _row_kind(buffer, before, size), _row_kind(buffer, after, rest)
    found[17], found[18], found[19] = before, size, was
    found[20], found[21], found[22] = after, rest, then
    if (was in (_NORMAL, _OVERFLOWN)) == (then in (_NORMAL, _OVERFLOWN)):
        return False
    return was in (_INTERNAL, _UNKNOWN) or then in (_INTERNAL, _UNKNOWN)


@machine_code
def _single(buffer: Array, body: int, payload: int, shape: Array, found: Array) -> bool:
    """A record with one row image."""
    big, first = shape[0], shape[24]
    if payload < first:
        return True
    found[15] = _number(buffer, body + shape[20], shape[21], big)
    if shape[23] >= 0 and (_number(buffer, body + shape[23], 2, big) & _MOVE) != 0:
        found[16] = 1
    size = _number(buffer, body + shape[22], 2, big)
    if _LOW_EMPTY <= found[11] <= _HIGH_EMPTY and payload == first + _MORE + size:
        first += _MORE
    if payload != first + size:
        return True
    side = 20 if found[12] == _INSERT else 17
    found[side], found[side + 1] = body + first, size
    found[side + 2] = _row_kind(buffer, body + first, size)
    return False


@machine_code
def _component(
    buffer: Array, body: int, payload: int, shape: Array, roles: Array, found: Array
) -> bool:
    if payload < 6 or (found[2] & _TEMPORARY) != 0:
        return True
    component, function = octet(buffer, body), octet(buffer, body + 1)
    if component > 15:
        return True
    role = octet(roles, component * 256 + function)
    found[10], found[11], found[12] = component, function, role
    if component == _DMS:
        if role in (_OTHER, _PARTIAL, _FOREIGN, _ROWS, _UNDO_ROWS):
            return True
        found[13] = _number(buffer, body + _SPACE, 2, shape[0])
        found[14] = _number(buffer, body + _TABLE, 2, shape[0])
    elif component == _DOM:
        if payload < 12:
            return True
        found[13] = _number(buffer, body + _OF_SPACE, 2, shape[0])
        found[14] = _number(buffer, body + _OF_TABLE, 2, shape[0])
    elif octet(roles, _DMS * 256 + function) in (_INSERT, _DELETE, _UPDATE):
        return True
    if role == _UNDO_INSERT:
        if payload < shape[25] + shape[26]:
            return True
        found[15] = _number(buffer, body + shape[25], shape[26], shape[0])
    elif role == _UPDATE:
        return _update(buffer, body, payload, shape, found)
    elif role in (_INSERT, _DELETE, _UNDO_DELETE, _UNDO_UPDATE):
        return _single(buffer, body, payload, shape, found)
    return False


@machine_code
def _put_all(out: Array, to: int, fields: Array, found: Array) -> int:
    # sizes that are known beforehand make one step of each
    _put(out, to + fields[0], found[0], 1)
    _put(out, to + fields[1], found[1], 1)
    _put(out, to + fields[2], found[2], 2)
    _put(out, to + fields[3], found[3], 1)
    for number in range(4, 10):
        _put(out, to + fields[number], found[number], 8)
    for number in range(10, 13):
        _put(out, to + fields[number], found[number], 1)
    _put(out, to + fields[13], found[13], 2)
    _put(out, to + fields[14], found[14], 2)
    _put(out, to + fields[15], found[15], 8)
    _put(out, to + fields[16], found[16], 1)
    for number in (17, 20):
        _put(out, to + fields[number], found[number], 8)
        _put(out, to + fields[number + 1], found[number + 1], 4)
        _put(out, to + fields[number + 2], found[number + 2], 1)
    return 0


@machine_code
def look(
    buffer: Array,
    offsets: Array,
    lengths: Array,
    shape: Array,
    kinds: Array,
    roles: Array,
    fields: Array,
    found: Array,
    out: Array,
    odd: Array,
) -> int:
    """Look at records; how many are odd: of these nothing is said. ``out``: the bytes of the
    results, which are zeros but for file, offset, length, before and after."""
    wrong = 0
    for row in range(len(offsets)):
        at, length = offsets[U(row)], np.int64(lengths[U(row)])
        strange = _header(buffer, at, length, shape, kinds, found)
        if not strange:
            body, kind = at + found[3], found[1]
            for number in range(10, 23):
                found[number] = 0
            found[17] = found[20] = -1
            if kind == _COMPONENT:
                strange = _component(buffer, body, length - found[3], shape, roles, found)
            elif kind not in (_COMMIT, _ABORT, _PREPARE):
                strange = octet(buffer, min(body, len(buffer) - 1)) == _DMS
        odd[U(row)] = strange
        if strange:
            wrong += 1
        else:
            _put_all(out, row * fields[23], fields, found)
    return wrong
