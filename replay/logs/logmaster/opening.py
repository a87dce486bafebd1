"""Opening a logical log: what its files and their first records leave open is settled once, for the
whole log: framing, LENGTH, whether changes have an ORDERVALUE, the reading of DATA, of segments and
of row images. Several are opened as one: each by itself, then put in the order of what they cover,
their catalogs joined, and what is in several of them found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

import numpy as np

from replay.arrays import Bytes, Hashes, Index, Lengths, Mask, Versions
from replay.changes.catalog import Catalog, RowFormat, TableVersion
from replay.changes.choices import Gaps
from replay.changes.envelope import Change, opaque
from replay.changes.position import HIGHEST, LOWEST, Position, leading_words
from replay.decoding.layout import FieldKind, Layout
from replay.errors import InputError, Where
from replay.logs import LogPair
from replay.logs.files import head, unpacked_together, whole
from replay.logs.logmaster import framing, set_repeats
from replay.logs.logmaster.control import ControlFile, read_control
from replay.logs.logmaster.data import (
    FitCounts,
    Reading,
    closing_changes,
    closing_in_segments,
    halfwords,
    settle_reading,
    whole_log,
)
from replay.logs.logmaster.framing import Framing, RecordShape, detect_data
from replay.logs.logmaster.headers import HeaderRules, Headers
from replay.logs.logmaster.layouts import LLDF
from replay.logs.logmaster.log_set import LogSet, Span
from replay.logs.logmaster.reader import CHANGES, LogmasterDataFile, LogmasterLog
from replay.logs.logmaster.set_repeats import Batch, Settled, UnitsOfLog
from replay.storage import at, size_of

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


# -- several logs as one
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """What a first pass over the headers of a log tells."""

    log: LogmasterLog
    span: Span
    units: UnitsOfLog


def open_set(
    pairs: Sequence[LogPair],
    *,
    framed: Framing | None = None,
    ccsids: Mapping[str, int] | None = None,
    scratch: str | Path | None = None,
    gaps: Gaps = Gaps.REFUSE,
    continues: bool = False,
) -> LogSet:
    """Open logs as one; ``scratch`` as for
    :func:`replay.logs.logmaster.opening.open_log`. ``gaps``: what becomes of a hole between them;
    ``continues``: a log to come may have more of units that commit behind the end that the last one
    states.

    InputError as :func:`replay.logs.logmaster.opening.open_log`, LR2007 for logs of several
    subsystems, LR2038 for control files that contradict each other.
    """
    looks: list[_Look] = []
    known: dict[bytes, Catalog] = {}
    filled = [[path for path in pair.data if not _is_empty(path)] for pair in pairs]
    room = None if scratch is None else str(scratch)
    places = iter(unpacked_together([str(path) for data in filled for path in data], room))
    for pair, data in zip(pairs, filled, strict=True):
        log = open_log(
            pair.control,
            data,
            framed=framed,
            ccsids=ccsids,
            known=known,
            places=list(islice(places, len(data))),
        )
        _refuse_other(log, looks[0].log if looks else log)
        # ORDERVALUE counts the records of one log only: changes of several are ordered by LOGRBA
        log.control = replace(log.control, header=without_order(log.control.header))
        looks.append(_look(log, pair))
    looks = [looks[place] for place in _in_order(looks)]
    _refuse_mixed_positions(looks)
    logs = [look.log for look in looks]
    _settle_together(logs)
    catalog = join_catalogs([log.control for log in logs])
    log = _made(looks, catalog, gaps)
    if not log.files:
        log = replace(log, empty=tuple(str(path) for pair in pairs for path in pair.data))
    return replace(log, end=_end(looks)) if continues else log


def _is_empty(path: str) -> bool:
    """Whether a data file holds nothing: nothing happened while that log was written."""
    return at(path).is_file() and not size_of(path)


def _in_order(looks: Sequence[_Look]) -> list[int]:
    return sorted(range(len(looks)), key=lambda place: (looks[place].span.order, place))


def _refuse_other(log: LogmasterLog, other: LogmasterLog) -> None:
    if log.control.system_id != other.control.system_id:
        mine, its = (str(entry.control.common["CNTLFILESYSID"]) for entry in (log, other))
        raise InputError(
            "LR2007",
            f"found subsystem {mine}; expected {its}, as in {other.control_path}",
            Where(log.control_path, 1, field="CNTLFILESYSID"),
            "A log set is of one subsystem or data sharing group: give the logs of the other in a"
            " run of their own",
        )


def _refuse_mixed_positions(looks: Sequence[_Look]) -> None:
    """InputError (LR2007) where some logs are placed by LRSN and others by RBA."""
    told = [look.log for look in looks if look.span.records]
    sharing = [log.uses_lrsn() for log in told]
    if len(set(sharing)) > 1:
        one, other = told[sharing.index(True)], told[sharing.index(False)]
        raise InputError(
            "LR2007",
            f"found commit positions that are RBAs; expected LRSNs, as in {one.control_path}:"
            " these cannot be compared",
            Where(other.control_path),
            "Give the logs from before and after data sharing began in runs of their own",
        )


# -- a look at each log
# -------------------------------------------------------------------------------------------------


def _parts(log: LogmasterLog) -> Iterator[tuple[int, int, Index, Lengths]]:
    """(file, number of the first record, offsets, lengths) of the records of a log, up to where the
    framing of a file is damaged: that is told by whoever reads the records there."""
    for file in range(len(log.files)):
        with suppress(InputError):
            yield from ((file, *batch) for batch in log.batches(file))


def _look(log: LogmasterLog, pair: LogPair) -> _Look:
    counted, low, high = 0, HIGHEST, LOWEST
    sharing = log.uses_lrsn()

    def headers() -> Iterator[Headers]:
        nonlocal counted, low, high
        for file, _, offsets, lengths in _parts(log):
            found = log.envelope(file, offsets, lengths)
            counted += len(found)
            positions = found.position("LOGLRSN" if sharing else "LOGRBA")
            positions = positions[positions.any(axis=1)]
            if len(positions):
                lowest, highest = _ends(positions)
                low, high = min(low, lowest), max(high, highest)
            yield found

    units = set_repeats.units_of(headers(), log.dependent_position)
    end = log.control.end
    stated = end.get("ENDRBA")
    told = None if stated in (None, LOWEST, HIGHEST) else Position(stated)
    span = Span(
        pair.control,
        pair.data,
        counted,
        pair.begin,
        pair.end or told,
        low if low <= high else None,
        high if low <= high else None,
        end.get("ENDTIME"),
        log.dependent_position,
    )
    return _Look(log, span, units)


def _ends(positions: Bytes) -> tuple[Position, Position]:
    """The lowest and the highest of some positions (``uint8[n, 10]``, n > 0)."""
    word = leading_words(opaque(positions))
    low = positions[word == word.min()]
    high = positions[word == word.max()]
    return (
        Position(low[np.lexsort((low[:, 9], low[:, 8]))[0]].tobytes()),
        Position(high[np.lexsort((high[:, 9], high[:, 8]))[-1]].tobytes()),
    )


# -- together
# -------------------------------------------------------------------------------------------------


def _settle_together(logs: Sequence[LogmasterLog]) -> None:
    """A log whose records do not tell how DATA is laid out is read as the others are."""
    for name in ("reading", "later_segments_have_length"):
        telling = next((log for log in logs if name in log.settled), None)
        for log in logs:
            if telling is not None and name not in log.settled:
                setattr(log, name, getattr(telling, name))


def _made(looks: Sequence[_Look], joined: JoinedCatalog, gaps: Gaps) -> LogSet:
    logs = tuple(look.log for look in looks)
    first = list(accumulate((len(log.files) for log in logs), initial=0))[:-1]
    headers = {log.control.header for log in logs}
    header = logs[0].control.header if len(headers) == 1 else LLDF
    control = replace(logs[-1].control, header=header, catalog=joined.catalog)
    repeats = _repeats(looks, first)
    dependent = _dependent(looks, repeats)
    answered = _answered(looks, repeats, dependent)
    counting = [hashes for member, hashes in repeats.dependent.items() if not answered[member]]
    fits: dict[int, Index] = {}
    for log, places in zip(logs, joined.places, strict=True):
        for version, counts in whole_log(log).fits.items():
            index = int(places[version])
            fits[index] = fits.get(index, np.zeros(len(counts), np.int64)) + counts
    last = logs[-1]
    return LogSet(
        control,
        tuple(file for log in logs for file in log.files),
        last.shape,
        last.reading,
        last.later_segments_have_length,
        control_path=last.control_path,
        row_readings={index: int(counts.argmax()) for index, counts in fits.items()},
        members=logs,
        first_files=np.array(first, np.int64),
        places=joined.places,
        spans=tuple(look.span for look in looks),
        repeats=repeats,
        dependent=min(dependent.values(), default=None),
        owing=tuple(dependent),
        dependents=np.unique(np.concatenate([*counting, np.zeros(0, np.uint64)])),
        answered=np.repeat(answered, [len(log.files) for log in logs]),
        ids=_ids_tell(joined.catalog),
        refuses_holes=gaps is Gaps.REFUSE,
        tells_holes=gaps is not Gaps.ALLOW,
    )


def _repeats(looks: Sequence[_Look], first: Sequence[int]) -> Settled:
    """Which records count of units that are in several logs."""
    shared = set_repeats.shared_units([look.units for look in looks])
    if not len(shared):
        return set_repeats.NOTHING_REPEATED
    copies = []
    for member, look in enumerate(looks):
        log = look.log
        if not set_repeats.within(look.units.units, shared).any():
            continue
        for file, number, offsets, lengths in _parts(log):
            headers = log.envelope(file, offsets, lengths)
            body = offsets + np.minimum(log.shape.header, lengths)
            batch = Batch(
                first[member] + file,
                number,
                offsets,
                headers,
                log.buffer(file, offsets, offsets + lengths),
                body,
                offsets + lengths,
            )
            copies.append(set_repeats.copies_of(batch, member, shared, log.dependent_position))

    return set_repeats.settle(np.concatenate(copies))


def _latest(looks: Sequence[_Look]) -> tuple[Hashes, Index]:
    """The hashes of all units, rising, and the place of the last log that each is in."""
    hashes, inverse = np.unique(
        np.concatenate([look.units.units for look in looks]), return_inverse=True
    )
    latest = np.zeros(len(hashes), np.int64)
    members = np.repeat(np.arange(len(looks)), [len(look.units.units) for look in looks])
    np.maximum.at(latest, inverse.reshape(-1), members)
    return hashes, latest


def _dependent(looks: Sequence[_Look], repeats: Settled) -> dict[int, Position]:
    """Each DEPENDENTRBA that still counts, by the place of its log: of the last log, and of those
    of which a unit was not delivered again, or is marked in its last copy too."""
    if all(look.log.dependent_position is None for look in looks):
        return {}
    hashes, latest = _latest(looks)
    still = {}
    for member, look in enumerate(looks):
        dependent, units = look.log.dependent_position, look.units
        if dependent is None:
            continue
        owed = np.union1d(units.marked, units.again)
        lost = latest[np.searchsorted(hashes, owed)] == member
        marked = set_repeats.within(owed, repeats.open)
        if look is looks[-1] or lost.any() or marked.any():
            still[member] = dependent
    return still


def _answered(looks: Sequence[_Look], repeats: Settled, owing: Mapping[int, Position]) -> Mask:
    """``bool[n]``: logs whose INCOMPLETEDEP says nothing any more: units that they mark as
    incomplete are whole in later ones, all of them, and so are those of the logs before."""
    answered = np.zeros(len(looks), bool)
    if not any(len(look.units.marked) for look in looks):
        return answered
    hashes, latest = _latest(looks)
    for member, look in enumerate(looks):
        marked = look.units.marked
        lost = latest[np.searchsorted(hashes, marked)] == member
        if member in owing or lost.any() or set_repeats.within(marked, repeats.open).any():
            break
        answered[member] = len(marked) > 0
    return answered


def _end(looks: Sequence[_Look]) -> Position | None:
    """Where the set ends, where the log that goes furthest states it in the form of its commit
    positions."""
    reaching = [look.span for look in looks if look.span.reach is not None]
    last = max(reaching, key=lambda span: span.reach or b"", default=None)
    if last is None or last.end is None or last.end != last.reach:
        return None
    sharing = any(look.span.records and look.log.uses_lrsn() for look in looks)
    return last.end if bool(any(last.end[1:4])) == sharing else None


def _ids_tell(catalog: Catalog) -> bool:
    """Whether each table has one version only, so that its ids tell it."""
    ids = [(version.dbid, version.psid, version.obid) for version in catalog.versions]
    return len(set(ids)) == len(ids)


# -- one catalog
# -------------------------------------------------------------------------------------------------

#: DBID, PSID, OBID, CREATERBA and VERSION: what tells the generations of tables apart.
_Generation = tuple[int, int, int, bytes, int]


@dataclass(frozen=True)
class JoinedCatalog:
    """``catalog`` of all control files; ``places[k]`` (``int32[m]``) are the indexes in it of the
    ``m`` table versions of control file ``k``."""

    catalog: Catalog
    places: tuple[Versions, ...]


def join_catalogs(controls: Sequence[ControlFile]) -> JoinedCatalog:
    """One catalog of the tables of control files, in the order of the log. InputError (LR2038)
    where two of them describe one generation of a table differently."""
    known: dict[tuple[_Generation, RowFormat], int] = {}
    first: dict[_Generation, tuple[TableVersion, ControlFile]] = {}
    versions: list[TableVersion] = []
    places = []
    done: dict[int, Versions] = {}
    for control in controls:
        if id(control.catalog) not in done:
            mine = [_place(version, control, first, known, versions) for version in
                    control.catalog.versions]  # fmt: skip
            done[id(control.catalog)] = np.array(mine, np.int32)
        places.append(done[id(control.catalog)])
    return JoinedCatalog(Catalog(tuple(versions)), tuple(places))


def _place(
    version: TableVersion,
    control: ControlFile,
    first: dict[_Generation, tuple[TableVersion, ControlFile]],
    known: dict[tuple[_Generation, RowFormat], int],
    versions: list[TableVersion],
) -> int:
    """The index of a table version among all, where it is put if it is not there."""
    generation = (version.dbid, version.psid, version.obid, version.created, version.version)
    other, elsewhere = first.setdefault(generation, (version, control))
    _refuse_contradiction(version, control, other, elsewhere)
    form = version.format.without_places()
    index = known.setdefault((generation, form), len(versions))
    if index == len(versions):
        versions.append(replace(version, index=index, format=form))
    elif versions[index].dropped in (LOWEST, HIGHEST):
        versions[index] = replace(versions[index], dropped=version.dropped)
    return index


def _bare(version: TableVersion) -> RowFormat:
    """What control files must agree in: not how a log's settings lay values out."""
    columns = version.format.without_places().columns
    return RowFormat(tuple(replace(column, expanded=False) for column in columns))


def _refuse_contradiction(
    version: TableVersion, control: ControlFile, other: TableVersion, elsewhere: ControlFile
) -> None:
    if version.table == other.table and _bare(version) == _bare(other):
        return
    found, expected = _difference(version, other)
    raise InputError(
        "LR2038",
        f"found {found}; expected {expected}, as {elsewhere.name} describes the same generation of"
        f" table {other.name} (DBID/PSID/OBID {other.dbid:04X}/{other.psid:04X}/{other.obid:04X},"
        f" CREATERBA {other.created.hex().upper()}, VERSION {other.version})",
        Where(control.name, field="DTBI", table=version.name),
        "The control files are not of one database, or one of them is damaged: leave out the log"
        " that does not belong to the others",
    )


def _difference(one: TableVersion, other: TableVersion) -> tuple[str, str]:
    """What the first of two versions has that the other has not, and what that has instead."""
    if one.name != other.name:
        return f"table {one.name}", other.name
    columns, others = _bare(one).columns, _bare(other).columns
    for column, against in zip(columns, others, strict=False):
        if column != against:
            return tuple(
                f"column {entry.column.name} ({entry.code}, length {entry.length}, scale"
                f" {entry.scale}, {'nullable' if entry.nullable else 'not null'}, CCSID"
                f" {entry.ccsid}, key {entry.key_sequence or 'no'})"
                for entry in (column, against)
            )  # type: ignore[return-value]
    return f"{len(columns)} columns", f"{len(others)}"
