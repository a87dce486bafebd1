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
def look(
    buffer: Array,
    offsets: Array,
    lengths: Array,
    shape: Array,
    kinds: Array,
    roles: Array,
    fields: Array,
    out: Array,
    odd: Array,
) -> int:
    """Look at records; how many are odd: of these nothing is said. ``out``: the bytes of the
    results, which are zeros but for file, offset, length, before and after."""
    big, lead, wrong = shape[0], shape[14], 0
    for row in range(len(offsets)):
        at, length, to = offsets[U(row)], np.int64(lengths[U(row)]), row * fields[23]
        odd[U(row)] = 1
        wrong += 1
        if at < lead or length < shape[9] or at + length > len(buffer):
            continue
        if shape[19] >= 0 and _number(buffer, at - lead + shape[19], 4, big) != 0:
            continue
        kind_of = _number(buffer, at + shape[1], 2, big)
        if kind_of > 255:
            kind_of = np.int64(0)
        kind, flags = octet(kinds, kind_of), _number(buffer, at + shape[2], 2, big)
        if kind_of == _BACKOUT_FREE:
            continue
        header, compensated = shape[9], np.int64(0)
        if kind_of == _COMPENSATION:
            header = shape[11] if (flags & _PROPAGATABLE) != 0 else shape[10]
            if header == shape[11] and length >= header:
                compensated = _number(buffer, at + shape[12], shape[13], big)
        body, payload = at + header, length - header
        component = function = role = space = table = rid = np.int64(0)
        before = after = np.int64(-1)
        before_size = after_size = before_is = after_is = moves = np.int64(0)
        if kind == _COMPONENT:
            if payload < 6 or (flags & _TEMPORARY) != 0:
                continue
            component, function = octet(buffer, body), octet(buffer, body + 1)
            if component > 15:
                continue
            role = octet(roles, component * 256 + function)
            if component == _DMS:
                if role in (_OTHER, _PARTIAL, _FOREIGN, _ROWS, _UNDO_ROWS):
                    continue
                space = _number(buffer, body + _SPACE, 2, big)
                table = _number(buffer, body + _TABLE, 2, big)
            elif component == _DOM:
                if payload < 12:
                    continue
                space = _number(buffer, body + _OF_SPACE, 2, big)
                table = _number(buffer, body + _OF_TABLE, 2, big)
            else:
                meant = octet(roles, _DMS * 256 + function)
                if meant in (_INSERT, _DELETE, _UPDATE):
                    continue
            first = shape[24]
            if role == _UNDO_INSERT:
                if payload < shape[25] + shape[26]:
                    continue
                rid = _number(buffer, body + shape[25], shape[26], big)
            elif role == _UPDATE:
                if payload < 2 * first + _HEADER_SIZE:
                    continue
                rid = _number(buffer, body + shape[20], shape[21], big)
                before, before_size = body + first, _number(buffer, body + first + _LENGTH, 2, big)
                second = before + before_size
                after, after_size = second + first, payload - 2 * first - before_size
                if after_size < 0 or octet(buffer, second) != _DMS:
                    continue
                same = octet(buffer, second + 1) == function
                same = same and _number(buffer, second + _SPACE, 2, big) == space
                same = same and _number(buffer, second + _TABLE, 2, big) == table
                if after_size >= _HEADER_SIZE:
                    same = same and _number(buffer, after + _LENGTH, 2, big) == after_size
                if not same:
                    continue
                before_is = _row_kind(buffer, before, before_size)
                after_is = _row_kind(buffer, after, after_size)
                user = before_is in (_NORMAL, _OVERFLOWN)
                if user != (after_is in (_NORMAL, _OVERFLOWN)):
                    internal = before_is in (_INTERNAL, _UNKNOWN)
                    if internal or after_is in (_INTERNAL, _UNKNOWN):
                        continue
            elif role in (_INSERT, _DELETE, _UNDO_DELETE, _UNDO_UPDATE):
                if payload < first:
                    continue
                rid = _number(buffer, body + shape[20], shape[21], big)
                if shape[23] >= 0:
                    moves = np.int64(_number(buffer, body + shape[23], 2, big) & _MOVE)
                size = _number(buffer, body + shape[22], 2, big)
                if _LOW_EMPTY <= function <= _HIGH_EMPTY and payload == first + _MORE + size:
                    first += _MORE
                if payload != first + size:
                    continue
                if role == _INSERT:
                    after, after_size = body + first, size
                    after_is = _row_kind(buffer, after, size)
                else:
                    before, before_size = body + first, size
                    before_is = _row_kind(buffer, before, size)
        elif kind not in (_COMMIT, _ABORT, _PREPARE) and (
            octet(buffer, min(body, len(buffer) - 1)) == _DMS
        ):
            continue
        tid = _number(buffer, at + shape[3], 6, big)
        if shape[8] >= 0:
            tid |= _number(buffer, at + shape[8], 2, big) << 48
        lsn = lfs = lso = np.int64(0)
        if shape[6] >= 0:
            lsn = _number(buffer, at + shape[6], 8, big)
        if shape[7] >= 0:
            lfs = _number(buffer, at + shape[7], 8, big)
        if shape[15] >= 0:
            lsn = _number(buffer, at - lead + shape[15], shape[16], big)
        if shape[17] >= 0:
            lfs = _number(buffer, at - lead + shape[17], 8, big)
        if shape[18] >= 0:
            lso = _number(buffer, at - lead + shape[18], 8, big)
        _put(out, to + fields[0], kind_of, 1)
        _put(out, to + fields[1], kind, 1)
        _put(out, to + fields[2], flags, 2)
        _put(out, to + fields[3], header, 1)
        _put(out, to + fields[4], tid, 8)
        _put(out, to + fields[5], lsn, 8)
        _put(out, to + fields[6], lfs, 8)
        _put(out, to + fields[7], lso, 8)
        _put(out, to + fields[8], _number(buffer, at + shape[4], shape[5], big), 8)
        _put(out, to + fields[9], compensated, 8)
        _put(out, to + fields[10], component, 1)
        _put(out, to + fields[11], function, 1)
        _put(out, to + fields[12], role, 1)
        _put(out, to + fields[13], space, 2)
        _put(out, to + fields[14], table, 2)
        _put(out, to + fields[15], rid, 8)
        _put(out, to + fields[16], np.int64(1) if moves != 0 else np.int64(0), 1)
        _put(out, to + fields[17], before, 8)
        _put(out, to + fields[18], before_size, 4)
        _put(out, to + fields[19], before_is, 1)
        _put(out, to + fields[20], after, 8)
        _put(out, to + fields[21], after_size, 4)
        _put(out, to + fields[22], after_is, 1)
        odd[U(row)] = 0
        wrong -= 1
    return wrong
