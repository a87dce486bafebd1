"""Records of a logical log as a logical log again: byte by byte, each behind a record descriptor
word. Made anew is only what said one thing in several logs and has to say it in one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from replay.arrays import Bytes, Index, Records
from replay.changes.envelope import distinct
from replay.changes.position import Position
from replay.decoding import codecs
from replay.errors import InputError, Refusal, Where
from replay.logs import CopyFacts, where_of
from replay.logs.logmaster import copied_control
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.headers import Headers
from replay.logs.logmaster.log_set import LogSet
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog

#: A record descriptor word: the length with it, and two zeros.
_RDW = 4
_LONGEST = 0xFFFF - _RDW
#: Y and N in EBCDIC.
_YES, _NO = 0xE8, 0xD5
_APART = "Extract the two apart, and read the copies as one (--logs)"
_ORIGINAL = "Read the log itself with this selection, or select more of it"


class LogmasterWriter:
    """Implements :class:`replay.logs.LogWriter`."""

    suffixes = (".ctl", ".dat")

    def admit(self, log: LogmasterLog) -> None:
        """Refusal (LR3022) where two logs of a set are laid out differently."""
        if not isinstance(log, LogSet):
            return
        first = log.members[0]
        for other in log.members[1:]:
            for what, mine, its in _differences(first, other):
                raise Refusal(
                    "LR3022",
                    f"found {what} {its}; expected {mine}, as in {first.control_path}: a"
                    " logical log has only one",
                    Where(other.control_path),
                    _APART,
                )

    def records(self, log: LogmasterLog, records: Records, proven: bool) -> Bytes:
        """The records, each behind its descriptor word. Refusal (LR3022) for one that is longer
        than such a word can say."""
        offset, length, file = (
            np.ascontiguousarray(records[name]).astype(np.int64)
            for name in ("offset", "length", "file")
        )
        for row in np.flatnonzero(length > _LONGEST)[:1]:
            raise Refusal(
                "LR3022",
                f"found a record of {length[row]:,} bytes; expected {_LONGEST:,} at most, the"
                " longest record that a record descriptor word allows",
                where_of(log, records[row]),
            )
        files = distinct(file)
        if len(files) == 1:
            framed = _framed(log, int(files[0]), offset, length)
        else:
            parts, start, reached = [], np.zeros(len(records), np.int64), 0
            for number in files:
                rows = np.flatnonzero(file == number)
                parts.append(_framed(log, int(number), offset[rows], length[rows]))
                sizes = length[rows] + _RDW
                start[rows] = reached + np.cumsum(sizes) - sizes
                reached += len(parts[-1])
            framed = codecs.gather_varying(np.concatenate(parts), start, length + _RDW)[0]
        places = np.cumsum(length + _RDW) - length
        for name, rows, octet in _flags(log, records, proven):
            if len(rows):
                framed = framed if framed.flags.writeable else framed.copy()
                framed[places[rows] + log.control.header.names[name].offset] = octet
        return framed

    def control(self, log: LogmasterLog, facts: CopyFacts) -> bytes:
        """The control file, with record descriptor words."""
        records = copied_control.records_of(log, facts)
        return b"".join(
            (len(record) + _RDW).to_bytes(2, "big") + b"\0\0" + record for record in records
        )

    def read_again(self, log: LogmasterLog, control: str, data: str, facts: CopyFacts) -> None:
        """Refusal (LR3022) where layout, tables, readings, records or damage are other ones."""
        if not facts.records:
            return
        try:
            copy = open_log(control, [data])
        except InputError as error:
            raise _otherwise(f"{error.code} {error.message}", "a log that can be read") from None
        damaged = records = 0
        for split, offsets, lengths in copy.splits(32 << 20):
            envelope = copy.envelope(split.file, offsets, lengths)
            change, version = copy.classify(envelope)
            damaged += int(copy.check(envelope, lengths, change, version).sum())
            records += len(offsets)
        for what, found, expected in (
            ("records", records, facts.records),
            ("damaged headers", damaged, facts.damaged),
            ("length of headers", copy.shape.header, log.shape.header),
            *_readings(log, copy, facts),
        ):
            if found != expected:
                raise _otherwise(f"{what}: {found}", f"{expected}, as in the log")


def _otherwise(found: str, expected: str) -> Refusal:
    return Refusal(
        "LR3022",
        f"found that the copy by itself is read differently from the original: {found};"
        f" expected {expected}",
        hint=_ORIGINAL,
    )


def _readings(
    log: LogmasterLog, copy: LogmasterLog, facts: CopyFacts
) -> Iterator[tuple[str, object, object]]:
    """(what, in the copy, in the log) of what is learned from the records."""
    yield "fields of headers", copy.control.header.names, log.control.header.names
    if facts.images:
        yield "reading of DATA", copy.reading.value, log.reading.value
    if facts.segmented:
        yield (
            "lengths of later segments",
            copy.later_segments_have_length,
            log.later_segments_have_length,
        )
    described = copied_control.kept_versions(log, facts)
    yield "generations of tables", len(copy.catalog.versions), len(described)
    for version, mine in zip(described, copy.catalog.versions, strict=False):
        its = log.catalog.versions[version]
        same = mine.table == its.table
        same &= mine.format.without_places() == its.format.without_places()
        yield f"table {its.name}", "other columns" if not same else "as it is", "as it is"
        if version in facts.images:
            yield (
                f"row images of {its.name}",
                copy.image_reading(mine.index),
                log.image_reading(version),
            )
    if facts.keeps_incomplete:
        yield "DEPENDENTRBA", _text(copy.dependent_position), _text(log.dependent_position)


def _text(position: Position | None) -> str:
    return "none" if position is None else position.hexadecimal


def _framed(log: LogmasterLog, file: int, offset: Index, length: Index) -> Bytes:
    """Records of one file, each behind its descriptor word."""
    if log.files[file].framing in (Framing.RDW, Framing.BDW):
        start = offset - _RDW
        buffer = log.buffer(file, start, offset + length)
        return codecs.gather_varying(buffer, start, length + _RDW)[0]
    data, places = codecs.gather_varying(log.buffer(file, offset, offset + length), offset, length)
    count = len(length)
    framed = np.zeros(len(data) + _RDW * count, np.uint8)
    lead = places[:-1] + _RDW * np.arange(count)
    size = length + _RDW
    framed[lead], framed[lead + 1] = size >> 8, size & 0xFF
    own = np.ones(len(framed), bool)
    for octet in range(_RDW):
        own[lead + octet] = False
    framed[own] = data
    return framed


def _flags(log: LogmasterLog, records: Records, proven: bool) -> Iterator[tuple[str, Index, int]]:
    """(field, rows, byte) of flags that the records have to say in the copy and do not."""
    names = log.control.header.names
    marks = isinstance(log, LogSet) and (
        len(log.repeats.open) or len(log.dependents) or log.answered.any()
    )
    if not (marks or proven):
        return
    envelope = log.envelope(records["file"], records["offset"], records["length"])
    if marks and "INCOMPLETETRANS" in names:
        more = envelope.incomplete_unit() & ~Headers.incomplete_unit(envelope)
        yield "INCOMPLETETRANS", np.flatnonzero(more), _YES
    if "INCOMPLETEDEP" in names:
        own = Headers.incomplete_dependency(envelope)
        if proven:
            yield "INCOMPLETEDEP", np.flatnonzero(own), _NO
        elif marks:
            counts = envelope.incomplete_dependency()
            yield "INCOMPLETEDEP", np.flatnonzero(counts & ~own), _YES
            yield "INCOMPLETEDEP", np.flatnonzero(own & ~counts), _NO


def _differences(one: LogmasterLog, other: LogmasterLog) -> Iterator[tuple[str, object, object]]:
    """(what, in one log, in the other) of what a logical log has one of."""
    for what, mine, its in (
        ("headers of length", one.shape.header, other.shape.header),
        ("header fields", _fields(one), _fields(other)),
        *(
            (name, one.control.common.get(name), other.control.common.get(name))
            for name in copied_control.ALIKE["XTYP"]
        ),
        *(
            (name, one.control.data_set.get(name), other.control.data_set.get(name))
            for name in copied_control.ALIKE["DLDS"]
        ),
        ("reading of DATA", one.reading.value, other.reading.value),
        (
            "lengths of later segments",
            one.later_segments_have_length,
            other.later_segments_have_length,
        ),
    ):
        if mine != its:
            yield what, mine, its
    for place, what in enumerate(("first", "later")):
        mine, its = one.rules.lengths[place], other.rules.lengths[place]
        if None not in (mine, its) and mine != its:
            yield f"SEGLEN of {what} segments beside their length", mine, its


def _fields(log: LogmasterLog) -> str:
    header = log.control.header
    return ", ".join(
        f"{name} {field.offset}+{field.length}" for name, field in header.names.items()
    )


WRITER = LogmasterWriter()
