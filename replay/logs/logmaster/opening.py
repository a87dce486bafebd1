"""Opening a logical log: what its files and their first records leave open is settled once, for the
whole log: framing, LENGTH, whether changes have an ORDERVALUE, the reading of DATA, of segments and
of row images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from replay.arrays import Bytes, Index, Mask, Versions
from replay.changes.catalog import Catalog
from replay.changes.envelope import Change
from replay.decoding.layout import FieldKind, Layout
from replay.errors import InputError, Where
from replay.logs.files import head, unpacked_together, whole
from replay.logs.logmaster import framing
from replay.logs.logmaster.control import read_control
from replay.logs.logmaster.data import (
    Reading,
    closing_changes,
    closing_in_segments,
    halfwords,
    settle_reading,
)
from replay.logs.logmaster.framing import Framing, RecordShape, detect_data
from replay.logs.logmaster.headers import HeaderRules
from replay.logs.logmaster.reader import CHANGES, LogmasterDataFile, LogmasterLog
from replay.logs.logmaster.row_readings import FitCounts

#: Data records looked at to learn LENGTH, the reading of DATA and the segment model, and bytes of
#: the log walked at once for them.
_SAMPLE, _BLOCK = 2000, 4 << 20
#: Blocks of a file that are looked at for the readings of row images.
_LOOKED_AT = 2
#: Bytes at the beginning of a file in which LENGTH is looked for.
_WINDOW = 8 << 20


def open_log(
    control: str | Path,
    data: Sequence[str | Path],
    *,
    framed: Framing | None = None,
    ccsids: Mapping[str, int] | None = None,
    scratch: str | Path | None = None,
    known: dict[bytes, Catalog] | None = None,
    places: Sequence[str] | None = None,
) -> LogmasterLog:
    """Open a logical log. ``scratch`` is where ``.gz`` files are unpacked to (beside the file when
    None is given: then ``.gz`` is refused); ``known`` as for
    :func:`replay.logs.logmaster.control.read_control`; ``places`` where the bytes of ``data`` are,
    for whoever unpacked them. A log whose
    data files are all empty is one of no records, if its control file says where it ends (DLGE):
    nothing was selected, or the files were not transferred, which its warnings say.

    Raises InputError for files that cannot be read, do not belong together, or whose layout cannot
    be settled.
    """
    raw = whole(str(control))
    parsed = read_control(raw, str(control), framed, ccsids or {}, known)
    files = []
    if places is None:
        room = None if scratch is None else str(scratch)
        places = unpacked_together([str(given) for given in data], room)
    heads = [head(path) for path in places]
    quiet = bool(parsed.end) and not any(heads)
    for given, path, first in zip(data, places, heads, strict=True):
        if not quiet:
            kind = detect_data(first, parsed.system_id, str(given), framed)
            files.append(LogmasterDataFile(path, str(given), kind))
    log = LogmasterLog(
        parsed,
        tuple(files),
        RecordShape(parsed.header.size, parsed.system_id),
        control_path=str(control),
        empty=tuple(map(str, data)) if quiet else (),
    )
    log.shape = RecordShape(_header_length(log), parsed.system_id)
    _drop_empty_order(log)
    _settle(log)
    log.rules = _rules(log)
    _look_at_rows(log)
    return log


def _sound_blocks(log: LogmasterLog, number: int) -> Iterator[framing.Block]:
    """The records of a file, up to where its framing is damaged: that is told by whoever reads the
    records there."""
    with suppress(InputError):
        yield from log.blocks(number, _BLOCK)


def _header_length(log: LogmasterLog) -> int:
    """LENGTH as most of the first records have it; it may exceed the layout, because newer releases
    append fields (seed 002)."""
    layout = log.control.header
    values: list[int] = []
    for number, file in enumerate(log.files):
        window = bytes(log.buffer(number, 0, _WINDOW)[:_WINDOW])
        place = window.find(log.shape.system_id)
        while place >= 2 and len(values) < _SAMPLE * (number + 1):
            length = int.from_bytes(window[place - 2 : place], "big")
            if 100 <= length <= 1000:
                values.append(length)
            place = window.find(log.shape.system_id, place + 64)
        if file.framing is Framing.NONE and not values:
            break
    if not values:
        return layout.size
    lengths, counts = np.unique(values, return_counts=True)
    common = int(lengths[counts.argmax()])
    if common < layout.size:
        source = "XHDF records describe" if log.control.header_described else "v11.1 layout has"
        message = f"found header length {common}; expected {layout.size} or more, as the {source}"
        hint = "A header of an older release needs the XHDF records of its control file"
        raise InputError("LR2010", message, Where(log.files[0].name, field="LENGTH"), hint)
    return common


def _drop_empty_order(log: LogmasterLog) -> None:
    """Forget an ORDERVALUE that the header describes and the first records leave empty: for the
    whole log, because an order cannot be mixed."""
    header = log.control.header
    if "ORDERVALUE" not in header.names:
        return
    for number in range(len(log.files)):
        block = next(_sound_blocks(log, number), None)
        if (
            block is not None
            and log.envelope(number, block.offsets[:_SAMPLE], block.lengths[:_SAMPLE])
            .raw("ORDERVALUE")
            .any()
        ):
            return
    log.control = replace(log.control, header=without_order(header))


def without_order(header: Layout) -> Layout:
    """A header without ORDERVALUE, whose changes are ordered by LOGRBA."""
    fields = tuple(
        replace(entry, kind=FieldKind.RESERVED) if entry.name == "ORDERVALUE" else entry
        for entry in header.fields
    )
    return header if fields == header.fields else replace(header, fields=fields)


def _rules(log: LogmasterLog) -> HeaderRules:
    """What the headers of the first records have in common."""
    for number in range(len(log.files)):
        block = next(_sound_blocks(log, number), None)
        if block is not None and len(block.offsets):
            lengths = block.lengths[:_SAMPLE]
            envelope = log.envelope(number, block.offsets[:_SAMPLE], lengths)
            change = CHANGES[envelope.change_type()]
            return HeaderRules.settled(envelope, lengths, change, log.shape.header)
    return HeaderRules()


def _settle(log: LogmasterLog) -> None:
    """Learn the reading of DATA from the first records of the first file that has whole row images,
    then the segment model."""
    for number, file in enumerate(log.files):
        block = next(_sound_blocks(log, number), None)
        if block is None:
            continue
        offsets, lengths = block.offsets[:_SAMPLE], block.lengths[:_SAMPLE]
        envelope = log.envelope(number, offsets, lengths)
        change = CHANGES[envelope.change_type()]
        whole = (
            (envelope.number("LENGTH") == log.shape.header)
            & (change > 0)
            & (change <= Change.DELETE)
            & (lengths > log.shape.header)
        )
        whole &= envelope.segments() <= 1
        start, end = offsets + log.shape.header, offsets + lengths
        if whole.any():
            update = change[whole] == Change.UPDATE
            buffer = log.buffer(number, start[whole], end[whole])
            walked = partial(
                _walked,
                log,
                buffer,
                start[whole],
                end[whole],
                update,
                log.classify(envelope)[1][whole],
            )
            try:
                log.reading = settle_reading(
                    buffer, start[whole], end[whole], update, file.name, walked
                )
            except InputError:
                for _ in islice(
                    log.blocks(number, _BLOCK), 2
                ):  # damaged framing is the better reason
                    pass
                raise
            log.settled |= {"reading"}
            break
    if log.reading is Reading.A:
        _settle_segments(log)


def _settle_segments(log: LogmasterLog) -> None:
    """Learn whether later segments repeat the halfword of DATA, from the first ones there are, in
    whatever file they lie: under the model by which most of their changes close. Where that tells
    nothing, most halfwords do, which may be the size of what follows by chance."""
    for index in range(len(log.files)):
        for block in _sound_blocks(log, index):
            there = np.flatnonzero(block.lengths >= log.control.header.size)
            offsets, lengths = block.offsets[there], block.lengths[there]
            envelope = log.envelope(index, offsets, lengths)
            rows = np.flatnonzero((envelope.segments() > 1) | (envelope.segment() > 1))[:_SAMPLE]
            if (envelope.segment()[rows] > 1).any():
                buffer = log.buffer(index, block.start, block.stop)
                bounds = offsets[rows] + log.shape.header, offsets[rows] + lengths[rows]
                mine = envelope.take(rows)
                change = CHANGES[mine.change_type()]
                fits = [
                    closing_in_segments(buffer, *bounds, mine, change, own) for own in (False, True)
                ]
                size = bounds[1] - bounds[0]
                own = (halfwords(buffer, bounds[0]) == size) & (size >= 2)
                later = mine.segment() > 1
                votes = own[later].sum() * 2 >= later.sum()
                log.later_segments_have_length = bool(
                    votes if fits[0] == fits[1] else fits[True] > fits[False]
                )
                log.settled |= {"later_segments_have_length"}
                return
            if log.control.data_set.get("SEGMENTED") != "Y":
                break


def _look_at_rows(log: LogmasterLog) -> None:
    """Learn the readings of row images from the first blocks; what they do not tell is learned
    later (:meth:`LogmasterLog.image_reading`)."""
    counts = FitCounts(log)
    for file in range(len(log.files)):
        if counts.complete:
            break
        for block in islice(_sound_blocks(log, file), _LOOKED_AT):
            counts.look(file, block)
    log.row_readings = dict(counts.readings()) if counts.complete else None


def _walked(
    log: LogmasterLog,
    buffer: Bytes,
    start: Index,
    end: Index,
    update: Mask,
    version: Versions,
    reading: Reading,
) -> float:
    """For how many records the images of a reading end exactly where their columns do. Half a
    record more, where that decides nothing, if the first columns are where LLCOLUMNPOS says
    (section 6.2: after both lengths under A, after one under B).
    """
    count, agree = 0, True
    place = 4 if reading is Reading.A else 2
    for index in np.unique(version[version >= 0]).tolist():
        of_table = log.catalog.versions[index]
        rows = np.flatnonzero(version == index)
        bounds = start[rows], end[rows]
        count += closing_changes(of_table, buffer, *bounds, update[rows], reading, None)
        first = of_table.format.columns[0]
        agree &= first.position in (place, place + first.nullable)
    return count + 0.5 * agree
