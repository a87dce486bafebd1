"""Positions before and after: where a bundle, a dataset that grows, or a target begins and where it
ends, on the axis of commit positions.

Everything that commits up to a position was taken, but for the units of recovery that were set
aside, which are listed one by one and taken once a later log has them whole. Any other unit that
commits there is refused by name (LR2039): by its position it counts as taken, and it was not. Which
logs were read is known by their digests, so that a log that is given again is told from a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from replay.arrays import Index, Mask, Records
from replay.changes.envelope import CANCELLED, Envelope, compare, opaque
from replay.changes.position import (
    LAST_UNIT,
    POSITION,
    UNIT,
    UNIT_FIELDS,
    UNIT_POSITION,
    UNIT_POSITION_FIELDS,
    Position,
    UnitId,
    UnitPosition,
    highest_of,
    unit_positions,
)
from replay.changes.selection import INCOMPLETE
from replay.changes.units import AppliedUnits, UnitSet, Verdict, Verdicts, unit_column
from replay.decoding.hashes import hash_rows
from replay.errors import InputError, Where, counted
from replay.logs import ListsUnits, LogFile, MadeOfLogs, Split
from replay.logs.files import DIGITS, control_name
from replay.pipeline.input_digests import FileDigest, file_digest
from replay.pipeline.plan import Plan
from replay.pipeline.scan import HeaderBlock, headers, judged_headers

#: The sum of a log of which nothing was taken.
_NOTHING = "0"
#: What is behind the sum of a log that has more than what was taken of it by then.
_PART = "+"
#: Sums are kept in 64 bits.
_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class LogPosition:
    """A place in the log of ``source``. ``position``: the last unit that was taken (None: none
    was), ``reaches``: up to where the logs were read, where they say so, ``stated``: where those
    said that they end in which units may go on in a log to come, ``pending``: the units
    that were set aside, and why, ``logs``: all
    that were read, as :func:`logs_of` names them, each with a sum of its records that were taken,
    by which one is known that comes again longer, or mended ('': not made). ``pending_logs``: those
    of them that ``pending`` units are in or hang on (None: not known). ``last_records``: how many
    changes the log with most of them has of the last unit that was taken (None: not known).
    ``tables``: by OWNER.NAME the ids of the tables of which changes were taken, of the one that had
    the name last."""

    source: str
    position: UnitPosition | None = None
    reaches: Position | None = None
    stated: Position | None = None
    pending: Verdicts = field(default_factory=Verdicts)
    logs: Mapping[str, str] = field(default_factory=dict)
    pending_logs: frozenset[str] | None = None
    last_records: int | None = None
    tables: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        at = self.position
        told: dict[str, Any] = {
            "source": self.source,
            "position": None if at is None else at.commit.hexadecimal,
            "unit": None if at is None or at.unit == LAST_UNIT else str(at.unit),
            "reaches": None if self.reaches is None else self.reaches.hexadecimal,
            "stated": None if self.stated is None else self.stated.hexadecimal,
            "pending": PendingAsJson(self.pending),
            "logs": dict(self.logs),
        }
        if self.pending_logs is not None:
            told["pending_logs"] = sorted(self.pending_logs)
        if self.last_records is not None:
            told["last_records"] = self.last_records
        if self.tables:
            told["tables"] = dict(self.tables)
        return told

    def place(self) -> dict[str, Any]:
        """The same without what is read of logs and units: where it lies."""
        told = self.describe()
        return {name: told[name] for name in ("source", "position", "unit", "reaches")}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> LogPosition:
        """The inverse of :meth:`describe`."""
        position, unit = told.get("position"), told.get("unit")
        reaches, stated = (
            None if (end := told.get(name)) is None else Position.from_hex(end)
            for name in ("reaches", "stated")
        )
        pending = Verdicts(
            {UnitId.of(one): Verdict("", why) for one, why in told.get("pending", {}).items()}
        )
        at = None
        if position is not None:
            last = LAST_UNIT if unit is None else UnitId.of(unit)
            at = UnitPosition(Position.from_hex(position) + last)
        return cls(
            told["source"],
            at,
            reaches,
            stated,
            pending,
            told.get("logs", {}),
            None if "pending_logs" not in told else frozenset(told["pending_logs"]),
            told.get("last_records"),
            told.get("tables", {}),
        )

    def applied(self, log: LogFile) -> AppliedUnits:
        """What was taken of a log."""
        return AppliedUnits(self.position, LastingNames(log).here(self.pending.units()))

    @property
    def reached(self) -> Position | None:
        """Up to where all of the logs is known."""
        ends = (None if self.position is None else self.position.commit, self.reaches)
        return max((end for end in ends if end is not None), default=None)


class PendingAsJson(Mapping[str, str]):
    """Units that are pending, as texts, with the reason, in unit order; each is made when it is
    asked for."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    def __len__(self) -> int:
        return len(self._verdicts)

    def __iter__(self) -> Iterator[str]:
        return map(str, self._verdicts)

    def __getitem__(self, unit: str) -> str:
        try:
            return str(self._verdicts[UnitId.of(unit)])
        except ValueError:
            raise KeyError(unit) from None

    def items(self) -> ItemsView[str, str]:
        """As those of a dictionary."""
        return _PendingItems(self)

    def described(self) -> Iterator[tuple[str, str]]:
        """(unit, reason)."""
        return self._verdicts.described()


class _PendingItems(ItemsView[str, str]):
    def __init__(self, pending: PendingAsJson) -> None:
        super().__init__(pending)
        self._pending = pending

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._pending.described()


# -- logs and units under names that last
# -------------------------------------------------------------------------------------------------


def logs_of(
    log: LogFile, digests: Mapping[str, FileDigest]
) -> list[tuple[str, str, Sequence[int]]]:
    """(what it is known by, its file, the numbers of its data files) of each of the logs that a log
    is made of; none where its family tells none apart. ``digests``: those that tasks made. Errors
    as :func:`replay.pipeline.input_digests.file_digest`."""
    if not isinstance(log, MadeOfLogs):
        return []
    return [
        (_log_name(log, place, files, digests), place, files) for place, files in log.arrived_logs()
    ]


def _log_name(
    log: MadeOfLogs, place: str, files: Sequence[int], digests: Mapping[str, FileDigest]
) -> str:
    """What a log is known by: the digest of its file, or of its control file and of its data, with
    how many bytes these are. Nothing less than all of them tells two scans apart whose control
    files are equal, and it is what a manifest holds of each input, so it is made but once."""
    found = [digests.get(path) or file_digest(path) for path in log.data_places(files)]
    if not found:
        return (digests.get(place) or file_digest(place)).digest[:DIGITS]
    every = hashlib.sha256("".join(one.digest for one in found).encode()).hexdigest()
    return f"{control_name(place, sum(one.size for one in found))}-{every[:DIGITS]}"


def is_placed(log: LogFile) -> bool:
    """Whether commit positions are places in the files that are given."""
    return isinstance(log, ListsUnits) and log.positions_are_places


def _numbered(log: LogFile) -> bool:
    """Whether ids of units count how often they were used in the files that are given, so that they
    last no longer than these are; there each unit commits at a place of its own."""
    return isinstance(log, ListsUnits) and log.numbers_units


@dataclass(frozen=True)
class LastingNames:
    """The units of a ``log`` under names that they have whatever files are given."""

    log: LogFile

    @cached_property
    def _known(self) -> tuple[Records, Records] | None:
        """The ids of the units that have other names, and these: by where they commit."""
        if not isinstance(self.log, ListsUnits) or not _numbered(self.log):
            return None
        units = self.log.units()
        named = np.zeros(len(units), UNIT_FIELDS)
        named["urid"] = units["commit"]
        return units["unit"], named.view(UNIT)

    def of(self, units: Verdicts) -> Verdicts:
        """Units under these names."""
        if self._known is None or not units:
            return units
        made = Verdicts()
        for unit, name in self._rows(0, units):
            made[name] = units[unit]
        return made

    def ids(self, units: Iterable[UnitId]) -> list[UnitId]:
        """The names alone."""
        return list(self.of(Verdicts(dict.fromkeys(units, Verdict("", "")))))

    def here(self, names: Collection[UnitId]) -> frozenset[UnitId]:
        """The units of these names, as far as they are in the log."""
        if self._known is None or not names:
            return frozenset(names)
        return frozenset(unit for unit, _ in self._rows(1, names))

    def place(self, position: UnitPosition) -> UnitPosition:
        """A position likewise: one at which a single unit commits needs no id."""
        return position if self._known is None else position.commit.end

    def _rows(self, side: int, wanted: Collection[UnitId]) -> Iterator[tuple[UnitId, UnitId]]:
        """(unit, name) of those of which one ``side`` is wanted."""
        assert self._known is not None
        rows = np.flatnonzero(np.isin(self._known[side], unit_column(wanted)))
        for unit, name in zip(*(one[rows] for one in self._known), strict=True):
            yield UnitId(unit.tobytes()), UnitId(name.tobytes())


# -- what may not commit up to a position
# -------------------------------------------------------------------------------------------------


def refuse_passed(
    plan: Plan,
    log: LogFile,
    before: LogPosition,
    applied: AppliedUnits,
    start_over: Callable[[Position], str],
) -> None:
    """InputError (LR2039) for units that the plan selects, that commit up to a position and were
    not taken: they are in a log that was not read before, in no other one, and not pending; and
    where positions are places, for files that do not follow those that were read. ``start_over``
    says how, before a position. Reads the headers of new logs, and of all where there are such."""
    logs = logs_of(log, plan.digests)
    if before.position is None or not logs:
        return
    # of a log that is given as it was read, no other one is a longer scan
    sums = {
        total.rstrip(_PART)
        for told, total in before.logs.items()
        if told not in {name for name, *_ in logs}
    } - {"", _NOTHING}
    # a record of any kind may be all that a file has of a unit that is put together from several
    indexed = isinstance(log, ListsUnits)
    new, read, fresh, more = [_NO_UNITS], [_NO_UNITS], list[bool](), False
    for name, _, files in logs:
        known = name in before.logs
        found = _LogRead() if known else _read(plan, log, files, applied, listed=True)
        fresh.append(not known and found.total.rstrip(_PART) not in sums)
        (new if fresh[-1] else read).append(
            found.units if indexed or not fresh[-1] else found.selected
        )
        if fresh[-1] and before.last_records is not None:
            more |= len(found.last) > before.last_records
    if is_placed(log):
        _refuse_other_places(before, logs, fresh)
    every = np.unique(np.concatenate(new))
    taken = applied.mask(_fields(every, "commit"), _fields(every, "unit"))
    last = _is_last(log, before.position, every)
    passed = every[taken & ~last]
    new_files = {n for one, (*_, some) in zip(fresh, logs, strict=True) if one for n in some}
    if len(every) and (not isinstance(log, ListsUnits) or log.whole_units):
        for name, _, files in logs:
            if name in before.logs:
                here = _read(plan, log, files, applied, listed=True)
                # where more of a log counts as taken than did, ends of its units are in other files
                if not indexed or here.total.rstrip(_PART) == before.logs[name].rstrip(_PART):
                    read.append(here.units)
        others = np.concatenate(read)
        passed = passed[~np.isin(_fields(passed, "unit"), _fields(others, "unit"))]
    if len(every) and not indexed:
        # one that had not all of its records is no other log's, either; where no log that was read
        # is there to tell, the number of its changes does
        longer = _with_more(plan, log, every[taken], new_files)
        alone = taken & last & ~np.isin(_fields(every, "unit"), _fields(others, "unit"))
        passed = np.unique(np.concatenate([passed, longer, every[alone & more]]))
        _refuse_moved(plan, log, applied, every[~taken], others)
    wrong, where = np.zeros(0, UNIT_POSITION), Where()
    for split in plan.splits if len(passed) else ():
        if not indexed and split.file not in new_files:
            continue  # (a file with an index may have no more of a unit than its end)
        for first, rows, units in _selected_units(plan, log, split):
            mine = np.flatnonzero(np.isin(units, passed))
            if len(mine) and not len(wrong):
                unit = UnitPosition(units[mine[0]].tobytes()).unit
                record = first + int(rows[mine[0]])
                where = Where(log.files[split.file].name, record, unit=str(unit))
            wrong = np.unique(np.concatenate([wrong, units[mine]]))
    if len(wrong):
        lowest = Position(min(one.tobytes() for one in _fields(wrong, "commit")))
        raise InputError(
            "LR2039",
            f"found {counted(len(wrong), 'unit')} of recovery with a commit at or below"
            f" {before.position.commit.hexadecimal}, in logs that were not read before, and were"
            " not quarantined; expected none there: everything up to that position counts as taken",
            where,
            "Where a log overlaps or repeats one that was read, or is a longer scan of it, give"
            " that one too, as it was read. Else start over from before them:"
            f" {start_over(lowest)}",
        )


def _with_more(plan: Plan, log: LogFile, units: Records, new: Collection[int]) -> Records:
    """Of some units those of which the ``new`` files have a record that no other file has, be that
    a copy that is not taken, or one whose commit position is damaged."""
    wanted = _fields(units, "unit")
    found: dict[bool, list[Records]] = {True: [], False: []}
    for split in plan.splits if len(units) else ():
        for some, rows in _selected(plan, log, split):
            places = log.record_places(some.envelope) if isinstance(log, MadeOfLogs) else None
            if places is None:
                return units[:0]
            rows = rows if split.file in new else np.arange(len(places))
            names = _fields(_positions(some.envelope, rows), "unit")
            mine = np.isin(names, wanted)
            parts = names[mine].view(np.uint8).reshape(-1, names.itemsize), places[rows[mine]]
            found[split.file in new].append(np.unique(opaque(np.concatenate(parts, axis=1))))
    if not found[True] or not found[False]:
        return units[:0]
    here, others = (np.unique(np.concatenate(found[one])) for one in (True, False))
    more = here[~np.isin(here, others)].view(np.uint8).reshape(-1, here.itemsize)
    names = np.ascontiguousarray(more[:, : wanted.itemsize]).view(wanted.dtype)
    return units[np.isin(wanted, names)]


def _fields(units: Records, name: str) -> Records:
    """The ``commit`` or the ``unit`` of each of a column (:data:`UNIT_POSITION`)."""
    return np.ascontiguousarray(units.view(UNIT_POSITION_FIELDS)[name])


def _selected(plan: Plan, log: LogFile, split: Split) -> Iterator[tuple[HeaderBlock, Index]]:
    """(some headers, places in them) of the records of a split that a plan selects."""
    every = judged_headers(log, [split], plan.selection, plan.version_taken)
    for some, _, _, verdict in every:
        chosen = (verdict == 0) | (verdict == INCOMPLETE)
        yield some, np.flatnonzero(chosen & (some.envelope.disposition() != CANCELLED))


def _selected_units(plan: Plan, log: LogFile, split: Split) -> Iterator[tuple[int, Index, Records]]:
    """(number of the first record of a block, places in it, units with their commit positions) of
    these."""
    for some, rows in _selected(plan, log, split):
        yield some.first, rows, _positions(some.envelope, rows)


def _positions(envelope: Envelope, rows: Index | Mask) -> Records:
    """The units of some records with their commit positions (:data:`UNIT_POSITION`)."""
    return unit_positions(opaque(envelope.commit()[rows]), opaque(envelope.unit()[rows]))


def refuse_rests(
    log: LogFile, splits: Iterable[Split], before: LogPosition, pending: frozenset[UnitId]
) -> None:
    """InputError (LR2041) for a unit that was set aside because it goes on in a log to come, where
    that is given without the one in which it began: the rest would be taken for all of it; and for
    one behind the position that begins before the log. Reads the headers of all logs."""
    rest = log.rest_of if isinstance(log, ListsUnits) else None
    if rest is not None and before.position is not None and rest > before.position.commit:
        raise InputError(
            "LR2041",
            f"found the end of a unit of recovery that commits at {rest.hexadecimal}, and not its"
            " beginning; expected all of it",
            Where(log.files[0].name),
            "Export the log again from the commit on at which what was taken ends"
            f" ({before.position.commit.hexadecimal}), so that it is whole",
        )
    if not isinstance(log, MadeOfLogs) or not pending or before.stated is None:
        return
    wanted, rests, whole = unit_column(pending), np.zeros(0, UNIT), np.zeros(0, UNIT)
    where: Where | None = None
    for split, first, _, _, envelope in headers(log, splits):
        places, units = log.record_places(envelope), opaque(envelope.unit())
        if places is None:
            return
        rows = np.flatnonzero(np.isin(units, wanted))
        behind = compare(places[rows], before.stated) > 0
        rests = np.unique(np.concatenate([rests, units[rows[behind]]]))
        whole = np.unique(np.concatenate([whole, units[rows[~behind]]]))
        for row in rows[behind & ~np.isin(units[rows], whole)][:1].tolist():
            unit = UnitId(units[row].tobytes())
            where = where or Where(log.files[split.file].name, first + row, unit=str(unit))
    rests = rests[~np.isin(rests, whole)]
    if len(rests):
        raise InputError(
            "LR2041",
            f"found the rest of {counted(len(rests), 'quarantined unit')} of recovery, and not the"
            " beginning; expected all of them",
            where or Where(),
            "Give the log in which they began as well, which was read before",
        )


#: No units.
_NO_UNITS: Records = np.zeros(0, UNIT_POSITION)


@dataclass
class _LogRead:
    """What the headers of a log say beside what was taken. ``total`` tells the records of it that
    were taken from other ones: how many they are, and the sum of hashes of their units, which do
    not depend on what comes behind them; and whether there is such. ``last``: the places of the
    changes that it has of the last unit that was taken, ``units``: the committed units of which it
    has a record of any kind, ``selected``: those that a plan selects, ``holds``: whether it has
    records of pending units."""

    total: str = _NOTHING
    last: Records = field(default_factory=np.zeros(0, POSITION).copy)
    units: Records = field(default_factory=_NO_UNITS.copy)
    selected: Records = field(default_factory=_NO_UNITS.copy)
    holds: bool = False


def _read(
    plan: Plan, log: LogFile, files: Collection[int], applied: AppliedUnits, listed: bool
) -> _LogRead:
    """What the headers of some files say, each of which is looked at once; ``listed``: with their
    units. The last unit has no changes where records have no places."""
    count, total, rest, holds = 0, 0, False, False
    # of ids that are numbered, the number depends on what comes before the log
    skipped = 4 if _numbered(log) else 0
    pending = unit_column(applied.pending)
    one = None if applied.position is None else np.frombuffer(applied.position, UNIT_POSITION)
    units, selected, places = [_NO_UNITS], [_NO_UNITS], [np.zeros(0, POSITION)]
    for split in (split for split in plan.splits if split.file in files):
        for some, rows in _selected(plan, log, split):
            envelope, done = some.envelope, some.committed()
            taken = done & applied.covers(envelope)
            fields = envelope.commit(), envelope.unit()[:, skipped:], envelope.commit_time()
            names = np.ascontiguousarray(np.concatenate(fields, axis=1)[taken])
            count += len(names)
            total += int(hash_rows(names).sum(dtype=np.uint64))
            rest |= bool((done & ~taken).any())
            holds |= bool(np.isin(opaque(envelope.unit()), pending).any())
            if listed:
                every = envelope.unit_disposition() == ord("C")
                units.append(np.unique(_positions(envelope, every)))
                selected.append(np.unique(_positions(envelope, rows)))
            here = log.record_places(envelope) if isinstance(log, MadeOfLogs) else None
            if here is not None and one is not None:
                mine = rows[_positions(envelope, rows) == one]
                places.append(opaque(np.ascontiguousarray(here[mine])))
    made = f"{count}-{total & _WORD:016x}{_PART if rest else ''}" if count else _NOTHING
    last = np.unique(np.concatenate(places))
    each = [np.unique(np.concatenate(some)) for some in (units, selected)]
    return _LogRead(made, last, each[0], each[1], holds)


def _is_last(log: LogFile, position: UnitPosition, units: Records) -> Mask:
    """Which units are the last one that was taken, and so were."""
    last: Mask = units == np.frombuffer(position, UNIT_POSITION)
    if _numbered(log):
        last |= _fields(units, "commit") == np.frombuffer(position.commit, POSITION)
    return last


def _refuse_moved(
    plan: Plan, log: LogFile, applied: AppliedUnits, units: Records, known: Records
) -> None:
    """InputError (LR2010) for a unit of a new log, behind what was taken, that a log which was read
    has among that: it would come twice. ``known``: the units of these logs."""
    taken = known[applied.mask(_fields(known, "commit"), _fields(known, "unit"))]
    moved = units[np.isin(_fields(units, "unit"), _fields(taken, "unit"))]
    for split in plan.splits if len(moved) else ():
        for first, rows, held in _selected_units(plan, log, split):
            mine = np.flatnonzero(np.isin(held, moved))
            if not len(mine):
                continue
            place = UnitPosition(held[mine[0]].tobytes())
            record = first + int(rows[mine[0]])
            raise InputError(
                "LR2010",
                f"found a unit of recovery that commits at {place.commit.hexadecimal}; expected it"
                " to commit where it did when it was taken: a record of it is damaged, here or in"
                " the log that was read then",
                Where(log.files[split.file].name, record, unit=str(place.unit)),
                "Make or transfer the log again. Where the other log was the damaged one, go back"
                " to before the run that took it",
            )


def _refuse_other_places(
    before: LogPosition, logs: Sequence[tuple[str, str, Sequence[int]]], fresh: Sequence[bool]
) -> None:
    """InputError (LR2039) where files do not begin with those that were read, but for such as
    nothing was taken of and nothing was set aside. ``fresh``: which of them were not read."""
    for place, (name, taken) in enumerate(before.logs.items()):
        empty = taken == _NOTHING and name not in (before.pending_logs or ())
        if place < len(logs) and (empty or not fresh[place]):
            continue
        found = f"found {logs[place][1]}" if place < len(logs) else "found no file"
        raise InputError(
            "LR2039",
            f"{found} as number {place + 1} of the files; expected the files that were read before"
            " first, in their order: commit positions of this log are places in its files",
            Where(logs[min(place, len(logs) - 1)][1]),
            "Name the files in the order in which they were read, the new ones last; where a file"
            " belongs in between, begin anew with all of them",
        )


# -- where a run ends
# -------------------------------------------------------------------------------------------------


def position_after(
    before: LogPosition | None,
    log: LogFile,
    plan: Plan,
    pending: Verdicts,
    units: Sequence[Records],
    goes_on: bool,
    back: UnitPosition | None = None,
    changed: Iterable[tuple[int, int]] = (),
) -> LogPosition:
    """Where a run over a log ends that took ``units`` (:data:`UNIT_POSITION`) and set ``pending``
    ones aside; ``before``: where it began, ``back``: where a run on the way back ends. ``goes_on``:
    another one goes on from there, so that it is worth to read all headers once more. ``changed``:
    the versions of tables of which it took changes, with the kinds of these."""
    names = LastingNames(log)
    seen = np.concatenate([np.zeros(0, UNIT_POSITION), *units])
    stated = log.stated_end if isinstance(log, MadeOfLogs) else None
    if stated is not None:  # behind the end of the logs a unit is open, though it be damaged
        commits = _fields(seen, "commit").view(np.uint8).reshape(-1, len(stated))
        seen = seen[compare(commits, stated) <= 0]
    at = None if before is None else before.position
    if len(seen):
        commit = highest_of(_fields(seen, "commit"))
        there = _fields(seen, "unit")[_fields(seen, "commit") == np.frombuffer(commit, POSITION)]
        last = UnitPosition(commit + max(unit.tobytes() for unit in there))
        last = names.place(last)
        at = last if at is None else max(at, last)
    at = at if back is None else back
    aside = names.of(pending)
    waiting = Verdicts()
    if before is not None and before.pending:
        taken = names.ids(UnitSet.of(_fields(seen, "unit")) & plan.awaited)
        waiting = before.pending.but(UnitSet(taken))
    aside = waiting.with_own(aside) if waiting else aside
    ends = log.ends if plan.selection.until_position is None else None
    if before is not None:
        ends, stated = _later(ends, before.reaches), _later(stated, before.stated)
    logs = dict(before.logs) if before is not None else {}
    hanging: frozenset[str] | None = frozenset()
    given = logs_of(log, plan.digests)
    if before is not None and before.pending and not logs.keys() <= {name for name, _, _ in given}:
        hanging = before.pending_logs
    applied = AppliedUnits(at, names.here(aside.units()))
    owing = (log.owing_logs() if isinstance(log, MadeOfLogs) else None) or ()
    most = before.last_records if before is not None and before.position == at else None
    places = np.zeros(0, POSITION)  # of one unit, each log may have some of the changes
    for number, (name, _, files) in enumerate(given):
        total, holds = logs.setdefault(name, ""), number in owing
        stale = back is not None or total in ("", _NOTHING) or total.endswith(_PART)
        stale |= holds or name in (hanging or ())
        if aside or (goes_on and stale):
            found = _read(plan, log, files, applied, listed=False)
            holds |= found.holds
            if goes_on and (stale or holds):
                logs[name] = found.total
                places = np.union1d(places, found.last)
                most = most if at is None else max(most or 0, len(places))
        if hanging is not None:
            hanging = hanging | {name} if holds else hanging - {name}
    if is_placed(log):  # all files are given, in order
        logs = {name: logs[name] for name, _, _ in given}
    hanging = (hanging or None) if aside else None
    tables = {} if before is None else before.tables
    tables = {**tables, **table_ids(log, sorted({version for version, _ in changed}))}
    return LogPosition(log.source, at, ends, stated, aside, logs, hanging, most, tables)


def table_ids(log: LogFile, versions: Iterable[int]) -> dict[str, str]:
    """By OWNER.NAME the ids (DBID.PSID.OBID) that the catalog has of the tables of some versions,
    of the one that was made last where several have the name; none where a family has no such
    ids."""
    known = sorted((log.catalog.versions[index] for index in versions), key=lambda v: v.created)
    return {v.name: f"{v.dbid}.{v.psid}.{v.obid}" for v in known if v.dbid}


def _later(one: Position | None, other: Position | None) -> Position | None:
    return max((end for end in (one, other) if end is not None), default=None)


def commits_of(log: LogFile, splits: Iterable[Split], units: UnitSet) -> Records:
    """Where units commit (:data:`UNIT_POSITION`), each once, by all records that the log has of
    them. Reads all headers."""
    wanted, found = units.column(), [np.zeros(0, UNIT_POSITION)]
    for some in headers(log, splits if len(wanted) else ()):
        rows = np.isin(opaque(some.envelope.unit()), wanted)
        found.append(np.unique(_positions(some.envelope, rows)))
    return np.unique(np.concatenate(found))
