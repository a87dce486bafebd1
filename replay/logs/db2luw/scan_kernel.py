"""Machine code that looks at records as :mod:`replay.logs.db2luw.scan` does, one after the other.

As :mod:`replay.pipeline.fast_path_kernel`, this is imported by who makes the code anew, and by
nobody else.

``shape`` is what :func:`replay.logs.db2luw.scan.shape_of` says of a log; ``found`` what is found
of a record, in the order of :data:`replay.logs.db2luw.scan.PUT`; ``fields`` where that lies in the
bytes of a result, and how many these are.
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

#: Places in ``shape``.
(
    _BIG, _TYPE_AT, _FLAGS_AT, _TID_AT, _PREVIOUS_AT, _PREVIOUS_SIZE, _LSN_AT, _LFS_AT, _STREAM_AT,
    _HEADER, _UNDO_HEADER, _LONG_UNDO_HEADER, _COMPENSATED_AT, _COMPENSATED_SIZE, _LEAD,
    _LEAD_LSN_AT, _LEAD_LSN_SIZE, _LEAD_LFS_AT, _LEAD_LSO_AT, _LEAD_CODE_AT, _RID_AT, _RID_SIZE,
    _LENGTH_AT, _MOVES_AT, _ROW_SIZE, _UNDONE_RID_AT, _UNDONE_RID_SIZE,
) = range(27)  # fmt: skip
#: Places in ``found`` and ``fields``.
(
    PUT_TYPE, PUT_KIND, PUT_FLAGS, PUT_HEADER, PUT_TID, PUT_LSN, PUT_LFS, PUT_LSO, PUT_PREVIOUS,
    PUT_COMPENSATED, PUT_COMPONENT, PUT_FUNCTION, PUT_ROLE, PUT_SPACE, PUT_TABLE, PUT_RID,
    PUT_MOVES, PUT_BEFORE, PUT_BEFORE_SIZE, PUT_BEFORE_IS, PUT_AFTER, PUT_AFTER_SIZE, PUT_AFTER_IS,
    PUT_SIZE,
) = range(len(scan.PUT) + 1)  # fmt: skip


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
def _long(octets: Array, base: int, place: int, big: int) -> Any:
    """A number of 8 bytes; 0 where there is no place for it."""
    return _number(octets, base + place, 8, big) if place >= 0 else np.int64(0)


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
    big, lead = shape[_BIG], shape[_LEAD]
    if at < lead or length < shape[_HEADER] or at + length > len(buffer):
        return True
    if shape[_LEAD_CODE_AT] >= 0 and _number(buffer, at - lead + shape[_LEAD_CODE_AT], 4, big) != 0:
        return True
    kind_of = _number(buffer, at + shape[_TYPE_AT], 2, big)
    if kind_of > 255:
        kind_of = np.int64(0)
    if kind_of == _BACKOUT_FREE:
        return True
    found[PUT_TYPE], found[PUT_KIND] = kind_of, kinds[U(kind_of)]
    found[PUT_FLAGS] = flags = _number(buffer, at + shape[_FLAGS_AT], 2, big)
    found[PUT_HEADER], found[PUT_COMPENSATED] = shape[_HEADER], 0
    if kind_of == _COMPENSATION:
        found[PUT_HEADER] = (
            shape[_LONG_UNDO_HEADER] if (flags & _PROPAGATABLE) != 0 else shape[_UNDO_HEADER]
        )
        if found[PUT_HEADER] == shape[_LONG_UNDO_HEADER] and length >= found[PUT_HEADER]:
            found[PUT_COMPENSATED] = _number(
                buffer, at + shape[_COMPENSATED_AT], shape[_COMPENSATED_SIZE], big
            )
    found[PUT_PREVIOUS] = _number(buffer, at + shape[_PREVIOUS_AT], shape[_PREVIOUS_SIZE], big)
    found[PUT_TID] = _number(buffer, at + shape[_TID_AT], 6, big)
    if shape[_STREAM_AT] >= 0:
        found[PUT_TID] |= _number(buffer, at + shape[_STREAM_AT], 2, big) << 48
    found[PUT_LSN] = _long(buffer, at, shape[_LSN_AT], big)
    found[PUT_LFS] = _long(buffer, at, shape[_LFS_AT], big)
    found[PUT_LSO] = _long(buffer, at - lead, shape[_LEAD_LSO_AT], big)
    if shape[_LEAD_LSN_AT] >= 0:
        found[PUT_LSN] = _number(
            buffer, at - lead + shape[_LEAD_LSN_AT], shape[_LEAD_LSN_SIZE], big
        )
    if shape[_LEAD_LFS_AT] >= 0:
        found[PUT_LFS] = _number(buffer, at - lead + shape[_LEAD_LFS_AT], 8, big)
    return False


@machine_code
def _update(buffer: Array, body: int, payload: int, shape: Array, found: Array) -> bool:
    big, first = shape[_BIG], shape[_ROW_SIZE]
    if payload < 2 * first + _HEADER_SIZE:
        return True
    found[PUT_RID] = _number(buffer, body + shape[_RID_AT], shape[_RID_SIZE], big)
    before, size = body + first, _number(buffer, body + first + _LENGTH, 2, big)
    second = before + size
    after, rest = second + first, payload - 2 * first - size
    if rest < 0 or octet(buffer, second) != _DMS:
        return True
    same = octet(buffer, second + 1) == found[PUT_FUNCTION]
    same = same and _number(buffer, second + _SPACE, 2, big) == found[PUT_SPACE]
    same = same and _number(buffer, second + _TABLE, 2, big) == found[PUT_TABLE]
    if rest >= _HEADER_SIZE:
        same = same and _number(buffer, after + _LENGTH, 2, big) == rest
    if not same:
        return True
    was, then = _row_kind(buffer, before, size), _row_kind(buffer, after, rest)
    found[PUT_BEFORE], found[PUT_BEFORE_SIZE], found[PUT_BEFORE_IS] = before, size, was
    found[PUT_AFTER], found[PUT_AFTER_SIZE], found[PUT_AFTER_IS] = after, rest, then
    if (was in (_NORMAL, _OVERFLOWN)) == (then in (_NORMAL, _OVERFLOWN)):
        return False
    return was in (_INTERNAL, _UNKNOWN) or then in (_INTERNAL, _UNKNOWN)


@machine_code
def _single(buffer: Array, body: int, payload: int, shape: Array, found: Array) -> bool:
    """A record with one row image."""
    big, first = shape[_BIG], shape[_ROW_SIZE]
    if payload < first:
        return True
    found[PUT_RID] = _number(buffer, body + shape[_RID_AT], shape[_RID_SIZE], big)
    if shape[_MOVES_AT] >= 0 and (_number(buffer, body + shape[_MOVES_AT], 2, big) & _MOVE) != 0:
        found[PUT_MOVES] = 1
    size = _number(buffer, body + shape[_LENGTH_AT], 2, big)
    if _LOW_EMPTY <= found[PUT_FUNCTION] <= _HIGH_EMPTY and payload == first + _MORE + size:
        first += _MORE
    if payload != first + size:
        return True
    side = PUT_AFTER if found[PUT_ROLE] == _INSERT else PUT_BEFORE
    found[side], found[side + 1] = body + first, size
    found[side + 2] = _row_kind(buffer, body + first, size)
    return False


@machine_code
def _component(
    buffer: Array, body: int, payload: int, shape: Array, roles: Array, found: Array
) -> bool:
    if payload < 6 or (found[PUT_FLAGS] & _TEMPORARY) != 0:
        return True
    component, function = octet(buffer, body), octet(buffer, body + 1)
    if component > 15:
        return True
    role = octet(roles, component * 256 + function)
    found[PUT_COMPONENT], found[PUT_FUNCTION], found[PUT_ROLE] = component, function, role
    if component == _DMS:
        if role in (_OTHER, _PARTIAL, _FOREIGN, _ROWS, _UNDO_ROWS):
            return True
        found[PUT_SPACE] = _number(buffer, body + _SPACE, 2, shape[_BIG])
        found[PUT_TABLE] = _number(buffer, body + _TABLE, 2, shape[_BIG])
    elif component == _DOM:
        if payload < 12:
            return True
        found[PUT_SPACE] = _number(buffer, body + _OF_SPACE, 2, shape[_BIG])
        found[PUT_TABLE] = _number(buffer, body + _OF_TABLE, 2, shape[_BIG])
    elif octet(roles, _DMS * 256 + function) in (_INSERT, _DELETE, _UPDATE):
        return True
    if role == _UNDO_INSERT:
        if payload < shape[_UNDONE_RID_AT] + shape[_UNDONE_RID_SIZE]:
            return True
        found[PUT_RID] = _number(
            buffer, body + shape[_UNDONE_RID_AT], shape[_UNDONE_RID_SIZE], shape[_BIG]
        )
    elif role == _UPDATE:
        return _update(buffer, body, payload, shape, found)
    elif role in (_INSERT, _DELETE, _UNDO_DELETE, _UNDO_UPDATE):
        return _single(buffer, body, payload, shape, found)
    return False


@machine_code
def _put_all(out: Array, to: int, fields: Array, found: Array) -> int:
    # sizes that are known beforehand make one step of each
    _put(out, to + fields[PUT_TYPE], found[PUT_TYPE], 1)
    _put(out, to + fields[PUT_KIND], found[PUT_KIND], 1)
    _put(out, to + fields[PUT_FLAGS], found[PUT_FLAGS], 2)
    _put(out, to + fields[PUT_HEADER], found[PUT_HEADER], 1)
    for number in range(PUT_TID, PUT_COMPENSATED + 1):
        _put(out, to + fields[number], found[number], 8)
    for number in range(PUT_COMPONENT, PUT_ROLE + 1):
        _put(out, to + fields[number], found[number], 1)
    _put(out, to + fields[PUT_SPACE], found[PUT_SPACE], 2)
    _put(out, to + fields[PUT_TABLE], found[PUT_TABLE], 2)
    _put(out, to + fields[PUT_RID], found[PUT_RID], 8)
    _put(out, to + fields[PUT_MOVES], found[PUT_MOVES], 1)
    for number in (PUT_BEFORE, PUT_AFTER):
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
    left: Array,
) -> int:
    """Look at records; how many are ``left``: of these nothing is said. ``out``: the bytes of the
    results, which are zeros but for file, offset, length, before and after."""
    wrong = 0
    for row in range(len(offsets)):
        at, length = offsets[U(row)], np.int64(lengths[U(row)])
        strange = _header(buffer, at, length, shape, kinds, found)
        if not strange:
            body, kind = at + found[PUT_HEADER], found[PUT_KIND]
            for number in range(PUT_COMPONENT, PUT_SIZE):
                found[number] = 0
            found[PUT_BEFORE] = found[PUT_AFTER] = -1
            if kind == _COMPONENT:
                strange = _component(buffer, body, length - found[PUT_HEADER], shape, roles, found)
            elif kind not in (_COMMIT, _ABORT, _PREPARE):
                strange = octet(buffer, min(body, len(buffer) - 1)) == _DMS
        left[U(row)] = strange
        if strange:
            wrong += 1
        else:
            _put_all(out, row * fields[PUT_SIZE], fields, found)
    return wrong
