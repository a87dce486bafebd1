"""Rows of a state that is known beside the log, compared with what the log says of them.

A state (an unload, or a database) is asked how many of its rows hold some values: those of whole
images, of keys, of foreign keys. Which values, is decided by the touches of the log
(:mod:`replay.dependencies.preconditions`); only these are read from the log, and only counts come
back.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Hashes, Index, Mask, Records, take_rows
from replay.changes.catalog import MASKED_KEY, any_masked
from replay.changes.envelope import RECORD, Change
from replay.changes.units import AppliedUnits
from replay.decoding.hashes import hash_values, mixed
from replay.dependencies.analysis import DependencyAnalysis
from replay.dependencies.links import (
    touch_order,
)
from replay.dependencies.passes import (
    UNREAD_BUCKET,
    EdgeJob,
    HeaderSurvey,
    Look,
    StartUnits,
    begun_in,
    change_places,
    in_one_piece,
)
from replay.dependencies.preconditions import (
    QUESTION,
    Ask,
    SpaceRoles,
    first_versions,
    last_versions,
    touched_rows,
)
from replay.dependencies.write_sets import TOUCH, ChangeBatch, WriteSets
from replay.engine.contract import ScanJob
from replay.logs import LogFile, Split
from sqlgen.schema import SqlType, Table

#: Rows that are named where many differ.
SHOWN = 20
_TEXT = (SqlType.CHAR, SqlType.VARCHAR)


@dataclass(frozen=True)
class Lookup:
    """Rows to be counted: those of ``table`` (as the log has it) whose ``columns`` hold the
    ``values`` (an array each, by the value contract of :mod:`sqlgen.schema`). ``exact``: blanks at
    the end of a VARCHAR count."""

    table: Table
    columns: tuple[str, ...]
    values: tuple[pa.Array, ...]
    exact: bool

    def hashes(self, values: Sequence[pa.Array]) -> Hashes:
        """A hash of each row of values of the columns, of this lookup or of the state."""
        kinds = [self.table.column(name).type for name in self.columns]
        hashes: Hashes = np.full(len(values[0]), len(kinds), np.uint64)
        for array, kind in zip(values, kinds, strict=True):
            if kind is SqlType.CHAR:
                array = pc.utf8_rtrim(array, " ") if pa.types.is_string(array.type) else array
            shown = SqlType.VARBINARY if self.exact and kind in _TEXT else kind
            hashes = mixed(hashes) ^ hash_values(array, shown)
        return mixed(hashes)


class StateRows(Protocol):
    """A state whose rows can be counted. Raises errors of :mod:`replay.errors` where it cannot be
    read, or lacks a table or column."""

    @property
    def name(self) -> str:
        """What it is called in messages; no passwords."""
        ...

    def counts(self, lookups: Sequence[Lookup]) -> list[Index]:
        """For each lookup, how many rows hold each of its values (``int64[n]``); negative where
        the state does not have the table, so that nobody knows."""
        ...


# -- values that are looked for
# -------------------------------------------------------------------------------------------------

_EQUAL, _KEY = 0, 1


@dataclass(frozen=True)
class LookupJob(ScanJob, Look):
    """Reads the values of questions (dtype QUESTION, by rising ``change``). ``versions``: by table
    version, the one whose columns the state has. Results are pickled lists of (whether counts are
    of whole rows or of keys, the questions, a :class:`Lookup`)."""

    title = "read keys of rows in question"

    asked: Records
    pieces: Records
    versions: Index

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """The lookups of the changes of a split."""
        change = np.ascontiguousarray(self.asked["change"])
        for records, envelope, kind, version in self.batches(log, split):
            rows = np.flatnonzero(
                (envelope.segments() <= 1) & np.isin(change_places(records), change)
            )
            if len(rows):
                batch = in_one_piece(records, kind, version, rows)
                yield 0, pickle.dumps(list(self._lookups(log, batch)))
        pieces = begun_in(split, self.pieces)
        here = np.isin(change_places(pieces.records[pieces.head]), change)
        if here.any():
            yield 0, pickle.dumps(list(self._lookups(log, pieces.part(np.flatnonzero(here)))))

    def _lookups(self, log: LogFile, batch: ChangeBatch) -> Iterator[tuple[int, Index, Lookup]]:
        place = change_places(batch.records[batch.head])
        change = np.ascontiguousarray(self.asked["change"])
        low = np.searchsorted(change, place, "left")
        count = np.searchsorted(change, place, "right") - low
        of = np.repeat(np.arange(len(place)), count)
        question = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(len(of))
        asked = self.asked[question]
        groups = np.stack(
            [batch.version[of], batch.change[of], asked["ask"], asked["after"], asked["space"]], 1
        ).astype(np.int64)
        for version, kind, ask, after, space in np.unique(groups, axis=0).tolist():
            wanted = self._wanted(log, Ask(ask), version, space)
            if not wanted:
                continue
            rows = np.flatnonzero((groups == (version, kind, ask, after, space)).all(axis=1))
            changes = of[rows]
            for part, images in log.images(
                batch.records, batch.head[changes], batch.weight[changes], Change(kind)
            ):
                walk = WriteSets(log, self.spaces).walks(images, version)[
                    "after" if after else "before"
                ]
                good = np.flatnonzero(~(images.bad | walk.bad))
                for what, there, columns, here in wanted:
                    own = log.catalog.versions[version]
                    decoded = [walk.decode(own.index_of(name), good) for name in here]
                    bad = np.zeros(len(good), bool)
                    for _, wrong in decoded:
                        bad |= False if wrong is None else wrong
                    kept = np.flatnonzero(~bad)
                    values = tuple(array.take(pa.array(kept)) for array, _ in decoded)
                    other = log.catalog.versions[there]
                    logged = tuple(map(other.source_name, columns))
                    yield (
                        what,
                        question[rows[part[good[kept]]]],
                        Lookup(other.source, logged, values, what == _EQUAL),
                    )

    def _wanted(
        self, log: LogFile, ask: Ask, version: int, space: int
    ) -> list[tuple[int, int, tuple[str, ...], tuple[str, ...]]]:
        """What to look for: (rows or keys, table version in the state, its columns, columns of the
        image)."""
        uses = self.spaces.uses
        if self.versions[version] != version:
            return []
        wanted = []
        if ask in (Ask.ROW, Ask.EITHER):
            columns = log.catalog.versions[version].format.columns
            names = tuple(entry.column.name for entry in columns if not entry.lob)
            wanted.append((_EQUAL, version, names, names))
        own = {use.how: use for use in uses[version] if use.space == space}
        use = own.get("row", own.get("unique"))
        if ask in (Ask.NO_ROW, Ask.EITHER) and use is not None and use.columns:
            wanted.append((_KEY, version, use.columns, use.columns))
        others = [
            (index, other)
            for index in self.spaces.versions_of(space)
            if self.versions[index] == index
            for other in uses[index]
            if other.space == space and (other.how == "child") == (ask is Ask.CHILDREN)
        ]
        if ask is Ask.PARENT and "child" in own and others:
            there, other = others[0]
            wanted.append((_KEY, there, tuple(sorted(other.columns)), own["child"].columns))
        if ask is Ask.CHILDREN and use is not None:
            here = tuple(sorted(use.columns))
            wanted += [(_KEY, there, other.columns, here) for there, other in others]
        return wanted


@dataclass(frozen=True)
class _Counts:
    """By question: how many rows are equal to the image, how many have the key; -1: not known."""

    equal: Index
    key: Index

    @property
    def known(self) -> Mask:
        """Which questions the state has an answer to."""
        return np.asarray((self.equal >= 0) | (self.key >= 0))

    def hold(self, asked: Records) -> Mask:
        """Which questions the state answers as the log needs it."""
        ask, count = np.ascontiguousarray(asked["ask"]), np.ascontiguousarray(asked["count"])
        return np.asarray(
            ((ask == Ask.ROW) & (self.equal >= np.maximum(count, 1)))
            | ((ask == Ask.NO_ROW) & (self.key == 0))
            | ((ask == Ask.EITHER) & ((self.key == 0) | (self.equal >= 1)))
            | ((ask == Ask.PARENT) & (self.key >= 1))
            | ((ask == Ask.CHILDREN) & (self.key == count))
        )


def _counted(
    analysis: DependencyAnalysis, asked: Records, pieces: Records, versions: Index, rows: StateRows
) -> _Counts:
    """The counts of ``asked``, which are by rising change."""
    job = LookupJob(analysis.spaces, asked, pieces, versions)
    entries = [
        entry for blob in analysis.run(job, analysis.log, analysis.splits)
        for entry in pickle.loads(blob)
    ]  # fmt: skip
    counts = _Counts(np.full(len(asked), -1, np.int64), np.full(len(asked), -1, np.int64))
    numbers = rows.counts([lookup for _, _, lookup in entries])
    unknown = np.zeros(len(asked), bool)
    for (what, question, _), number in zip(entries, numbers, strict=True):
        counted = counts.equal if what == _EQUAL else counts.key
        counted[question] = np.maximum(counted[question], 0) + number
        unknown[question[number < 0]] = True
    counts.equal[unknown] = counts.key[unknown] = -1
    return counts


# -- what flagged units found
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StateBefore:
    """The state before the log, which answers what the log leaves open. ``settled``: says of units
    whether they are in the state already, so that nothing has to be proven of them. ``compared``:
    rows that are other than the log has them are looked for, counted and named."""

    rows: StateRows
    settled: AppliedUnits | None = None
    compared: bool = True

    def proven(self, analysis: DependencyAnalysis, asked: Records, pieces: Records) -> Mask:
        """Which questions (dtype QUESTION) have the answer that the log needs."""
        done = np.zeros(len(asked), bool)
        if self.settled is not None:
            done = self.settled.mask(
                *(np.ascontiguousarray(asked[name]) for name in ("commit", "unit"))
            )
        sequence = np.argsort(asked["change"], kind="stable")
        sequence = sequence[~done[sequence]]
        if len(sequence):
            part = asked[sequence]
            versions = first_versions(analysis.spaces)
            counts = _counted(analysis, part, pieces, versions, self.rows)
            silent = np.ascontiguousarray(part["unflagged"]) & ~counts.known
            done[sequence] = counts.hold(part) | silent
        return done


# -- rows that are not as the log says
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StateDifferences:
    """How the rows of a log and those of a state agree: how many were ``compared``, are
    ``differing`` and could not be compared (``skipped``: generations of a table, emptied tables,
    values that cannot be read), and the first that differ in words. ``after``: the state is the one
    after the log."""

    name: str
    after: bool
    compared: int
    differing: int
    skipped: int
    samples: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "state": self.name,
            "compared_with": "last after images" if self.after else "first before images",
            "rows": self.compared,
            "differing": self.differing,
            "not_compared": self.skipped,
            "shown": list(self.samples),
        }

    def warnings(self) -> list[str]:
        """What a user must know."""
        if not self.differing:
            return []
        found = "left them" if self.after else "found them"
        more = "" if self.differing <= len(self.samples) else " …"
        return [
            f"{self.differing:,} of {self.compared:,} rows are not in {self.name} as the log"
            f" {found}, so something outside of it changed them: {', '.join(self.samples)}{more}"
        ]


@dataclass(frozen=True)
class RowsJob(EdgeJob):
    """Finds the first, or last (``after``), state of every row of the log."""

    title = "find the states of rows"

    after: bool = False

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The questions of a bucket, and how many rows there is none about."""
        if bucket == UNREAD_BUCKET:
            return
        touches = np.frombuffer(b"".join(blocks), TOUCH)
        touches = take_rows(touches, touch_order(touches))
        roles = SpaceRoles.of(self.spaces, self.evented)
        asked, skipped = touched_rows(touches, roles, self.after)
        yield pickle.dumps((asked.tobytes(), skipped))


def state_differences(
    analysis: DependencyAnalysis, rows: StateRows, after: bool, versions_taken: Mask
) -> StateDifferences:
    """Compare every row of the tables that are taken with its first before image in the log, or its
    last after image (``after``)."""
    survey: HeaderSurvey = analysis.survey(StartUnits())
    pieces = np.frombuffer(b"".join(survey.pieces), RECORD)
    job = RowsJob(analysis.spaces, frozenset(survey.evented), pieces, after=after)
    parts = [pickle.loads(blob) for blob in analysis.run(job, analysis.log, analysis.splits)]
    asked = np.frombuffer(b"".join(part for part, _ in parts), QUESTION)
    chosen = np.flatnonzero(versions_taken).tolist()
    taken = {analysis.spaces.uses[version][0].space for version in chosen}
    asked = asked[np.isin(asked["space"], list(taken))]
    asked = asked[np.argsort(asked["change"], kind="stable")]
    versions = (last_versions if after else first_versions)(analysis.spaces)
    counts = _counted(analysis, asked, pieces, versions, rows)
    known = counts.known
    wrong = np.flatnonzero(known & ~counts.hold(asked))
    skipped = sum(number for _, number in parts) + int((~known).sum())
    return StateDifferences(
        rows.name,
        after,
        int(known.sum()),
        len(wrong),
        skipped,
        _samples(analysis, asked[wrong[:SHOWN]], pieces, versions),
    )


def _samples(
    analysis: DependencyAnalysis, asked: Records, pieces: Records, versions: Index
) -> tuple[str, ...]:
    """The keys of questions in words."""
    spaces = analysis.spaces.spaces
    texts = [spaces[space].table.partition(".")[2].lower() for space in asked["space"].tolist()]
    named = np.array(asked)
    named["ask"] = Ask.NO_ROW
    job = LookupJob(analysis.spaces, named, pieces, versions)
    for blob in analysis.run(job, analysis.log, analysis.splits):
        for _, question, lookup in pickle.loads(blob):
            table = f"{lookup.table.schema}.{lookup.table.name}"
            hidden = any_masked(analysis.spaces.masked, table, lookup.columns)
            for at, values in zip(question.tolist(), zip(*lookup.values, strict=True), strict=True):
                key = MASKED_KEY if hidden else ",".join(str(value.as_py()) for value in values)
                texts[at] = f"{texts[at]}/{key}"
    return tuple(text if "/" in text else f"{text}/(row without key)" for text in texts)


@dataclass
class CountedRows:
    """Counts the rows of a state that is read once, part by part, for lookups in one table and the
    same columns."""

    lookups: list[Lookup]
    wanted: Hashes = field(init=False)
    total: Index = field(init=False)

    def __post_init__(self) -> None:
        self.hashed = [lookup.hashes(lookup.values) for lookup in self.lookups]
        self.wanted = np.unique(np.concatenate(self.hashed))
        self.total = np.zeros(len(self.wanted), np.int64)

    def add(self, values: Sequence[pa.Array]) -> None:
        """Count some rows, given by the values of the columns."""
        if not len(self.wanted):
            return
        hashes = self.lookups[0].hashes(values)
        at = np.minimum(np.searchsorted(self.wanted, hashes), len(self.wanted) - 1)
        self.total += np.bincount(at[self.wanted[at] == hashes], minlength=len(self.wanted))

    def counts(self) -> list[Index]:
        """The counts of each lookup."""
        return [self.total[np.searchsorted(self.wanted, hashed)] for hashed in self.hashed]
