"""``logreplay check``: whether a log agrees with itself.

Two passes, as for the dependency graph: the headers, and then the touches of all rows by key with
hashes of their images. A row's before image must be its last after image; an insert meets no row, a
delete or update meets one; positions lie inside their unit; segments and units are whole. What
cannot be compared is counted by reason.
"""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from replay.arrays import Index, Records, take_rows
from replay.changes import order
from replay.changes.envelope import (
    RECORD,
    Change,
    Envelope,
    as_bytes,
    distinct,
)
from replay.changes.position import UnitId
from replay.decoding.hashes import mixed, unit_hash, unit_hashes
from replay.dependencies.analysis import DependencyAnalysis
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.links import (
    touch_order,
)
from replay.dependencies.passes import (
    KEY_BUCKETS,
    TOGETHER,
    EdgeJob,
    StartUnits,
    Walked,
    assemble,
    begun_in,
    change_places,
    file_and_number,
    in_one_piece,
)
from replay.dependencies.row_chains import Contradiction, contradictions
from replay.dependencies.write_sets import TOUCH, ChangeBatch, ImagesSeen, KeyRole, WriteSets
from replay.engine.contract import Engine, Runner
from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, Finding, counted, some_of
from replay.logs import LogFile, OrderRules, Split, where_of
from replay.logs.record_facts import final_position, refuse_behind_end
from replay.pipeline.extent import ends_early, log_extent
from replay.pipeline.range_walk import splits_of
from replay.pipeline.request import OpenLog
from replay.pipeline.row_batch import unread_changes
from replay.pipeline.scan import sort_records
from sqlgen.schema import Constraints

#: The code of a row that is not as the log left it.
CONTRADICTION = "LR2036"
#: Findings of a bucket that are kept, and those that are shown.
_KEPT, SHOWN = 1000, 100

_FOUND = {
    Contradiction.ROW_THERE: ("an insert of a row that is there", "no row with this key"),
    Contradiction.NO_ROW: ("a change of a row that is not there", "an update or delete of a row"),
    Contradiction.OTHER_ROW: (
        "a before image other than the row's last after image",
        "the row as it was left",
    ),
    Contradiction.WITHIN_UNIT: (
        "changes of the unit to this row that do not follow one another",
        "each before image to be an after image of the unit, but the first",
    ),
    Contradiction.POSITION: (
        "a change of the row that stands before the one it follows in the log of its member",
        "positions that rise along the changes of a row",
    ),
}

#: What is not compared, by the word that counts it.
UNCHECKED = {
    "first": "first changes of rows (nothing earlier to compare with)",
    "generation": "rows that the log had in another generation of the table before",
    "emptied": "rows of tables that were emptied or changed as a whole since",
    "keyless": "changes of tables without a key",
    "large objects": "changes of rows with large objects: only whether there is a row",
    "incomplete": "rows that would contradict the log, of units that lack records, or after them",
    "unreadable": "changes whose rows cannot be read",
}


#: What no check can find.
UNSEEN = (
    "A whole record that is missing shows only where a later change finds its row otherwise, or a"
    " count or position tells."
)


@dataclass
class Agreement:
    """What a check found. ``counts``: records, changes, units, rows and pairs that were compared;
    ``unchecked``: by the words of :data:`UNCHECKED`; ``count`` of all contradictions, and the first
    of them (``findings``). ``incomplete``: units that lack records, which is no contradiction;
    ``warnings`` are those of the log, ``end`` is how it ends beside what its control file states
    ('' where nothing does)."""

    counts: Counter[str] = field(default_factory=Counter)
    unchecked: Counter[str] = field(default_factory=Counter)
    count: int = 0
    findings: tuple[Finding, ...] = ()
    incomplete: tuple[UnitId, ...] = ()
    warnings: tuple[str, ...] = ()
    end: str = ""

    @property
    def exit_code(self) -> int:
        """0, 4 where units lack records or the log has warnings, or 8 with contradictions."""
        if self.count:
            return EXIT_ERROR
        return EXIT_WARNING if self.incomplete or self.warnings else EXIT_OK

    def __bool__(self) -> bool:
        return self.count == 0

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "exit_code": self.exit_code,
            "checked": dict(sorted(self.counts.items())),
            "not_checked": dict(sorted(self.unchecked.items())),
            "incomplete_units": [str(unit) for unit in self.incomplete],
            "warnings": list(self.warnings),
            "end": self.end,
            "contradictions": self.count,
            "findings": [str(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        checked = ", ".join(f"{number:,} {what}" for what, number in self.counts.items())
        lines = [f"Checked: {checked or 'nothing'}"]
        lines += [
            f"Not compared: {number:,} {UNCHECKED[what]}"
            for what, number in sorted(self.unchecked.items())
            if number
        ]
        lines += [self.end] if self.end else []
        lines += [f"warning: {warning}" for warning in self.warnings]
        if self.incomplete:
            count = len(self.incomplete)
            lack = counted(count, "unit lacks", "units lack")
            lines.append(f"{lack} records: {some_of(self.incomplete, count)}")
        lines += map(str, self.findings)
        if self.count > len(self.findings):
            lines.append(f"… {self.count - len(self.findings):,} more contradictions")
        found = "No inconsistencies found"
        if self.count:
            found = counted(self.count, "contradiction")
        lines.append(f"{found}. {UNSEEN}")
        return "\n".join(lines)


@dataclass
class _Result:
    """Of one bucket or batch; ``wrong`` are (file, number, kind, previous file, previous number)
    of changes, -1 for none."""

    counts: Counter[str] = field(default_factory=Counter)
    count: int = 0
    findings: list[tuple[int, int, Finding]] = field(default_factory=list)
    wrong: list[tuple[int, int, int, int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class CheckJob(EdgeJob):
    """The second pass. Touches go to buckets by key, one record of each unit of a batch to buckets
    by unit behind them; table events go to all buckets of keys."""

    title = "check"

    rules: OrderRules | None = None
    rising: bool = False
    incomplete: frozenset[UnitId] = frozenset()
    buckets: int = 2 * KEY_BUCKETS

    def scan(self, log: LogFile, split: Split) -> Iterator[tuple[int, bytes]]:
        """Blocks of touches and of records by bucket, and what a record shows by itself."""
        result = _Result()

        def note(walked: Walked) -> None:
            """Records with a wrong header."""
            result.counts["records"] += len(walked.offsets)
            for row in np.flatnonzero(walked.damaged & ~walked.headless).tolist():
                number = walked.first_record + row
                place = int(walked.offsets[row]), int(walked.lengths[row])
                finding = log.header_finding(split.file, number, *place)
                self._add(result, split.file, number, finding)

        for records, envelope, change, version in self.batches(log, split, note):
            self._positions(log, result, records, envelope)
            yield from self._units(records)
            rows = np.flatnonzero(envelope.segments() <= 1)
            yield from self._rows(log, result, in_one_piece(records, change, version, rows))
        pieces = begun_in(split, self.pieces)
        if len(pieces.head):
            yield from self._rows(log, result, pieces)
        yield self.buckets, pickle.dumps(result)

    def _add(self, result: _Result, file: int, number: int, finding: Finding) -> None:
        result.count += 1
        if len(result.findings) < _KEPT:
            result.findings.append((file, number, finding))

    def _positions(
        self, log: LogFile, result: _Result, records: Records, envelope: Envelope
    ) -> None:
        if self.rules is None:
            return
        for name, found, expected, mask in self.rules.faults(log, envelope):
            for row in np.flatnonzero(mask).tolist():
                where = where_of(log, records[row], name)
                finding = Finding("LR2030", where, found, expected)
                self._add(result, int(records["file"][row]), int(records["number"][row]), finding)

    def _units(self, records: Records) -> Iterator[tuple[int, bytes]]:
        """One record for each unit, commit position and disposition of a batch."""
        commit = np.zeros((len(records), 16), np.uint8)
        commit[:, :10] = as_bytes(records["commit"])
        hashes = unit_hash(as_bytes(records["unit"]))
        for word in (records["unit_facts"], *commit.view(np.uint64).T):
            hashes = mixed(hashes) ^ word
        _, first = np.unique(mixed(hashes), return_index=True)
        chosen = take_rows(records, first.astype(np.int64))
        bucket = KEY_BUCKETS + unit_hash(as_bytes(chosen["unit"])) % np.uint64(KEY_BUCKETS)
        for number in np.unique(bucket).tolist():
            yield int(number), take_rows(chosen, np.flatnonzero(bucket == number)).tobytes()

    def _rows(
        self, log: LogFile, result: _Result, batch: ChangeBatch
    ) -> Iterator[tuple[int, bytes]]:
        write_sets = WriteSets(log, self.spaces, spelling=False)
        seen = partial(self._unread, log, result, batch)
        touches = np.array(write_sets.touches(batch, seen))
        result.counts["changes"] += len(batch.head)
        of, role = batch.version[touches["change"]], np.ascontiguousarray(touches["role"])
        identity, keyed = (np.zeros(len(self.spaces.uses), kind) for kind in (np.int64, bool))
        for version in distinct(of).tolist():
            own = self.spaces.uses[version][0]
            identity[version], keyed[version] = own.space, bool(own.columns)
        event = role == KeyRole.EVENT
        row = (touches["space"] == identity[of]) & (role <= KeyRole.DESTROY)
        loose = touches["change"][row & ~keyed[of]]
        row &= keyed[of]
        result.counts["keyless"] += len(np.unique(loose))
        half = np.isin(touches["change"], np.concatenate([loose[:0], *write_sets.unread]))
        lobs = touches["change"][row & (touches["version"] < 0) & ~half]
        result.counts["large objects"] += len(np.unique(lobs))
        touches["change"] = change_places(batch.records[batch.head])[touches["change"]]
        if event.any():
            for number in range(KEY_BUCKETS):
                yield number, take_rows(touches, np.flatnonzero(event)).tobytes()
        bucket = (np.ascontiguousarray(touches["key"]) >> np.uint64(32)) % np.uint64(KEY_BUCKETS)
        for number in np.unique(bucket[row]).tolist():
            chosen = np.flatnonzero(row & (bucket == number))
            yield int(number), take_rows(touches, chosen).tobytes()

    def _unread(self, log: LogFile, result: _Result, batch: ChangeBatch, seen: ImagesSeen) -> None:
        """Changes with a row or a value that cannot be read."""
        count, problems = unread_changes(log, seen.version, seen.kind, seen.images, seen.walks)
        table = log.catalog.versions[seen.version].name
        result.counts["unreadable"] += count
        result.count += count - len(problems)
        for problem in problems:
            record = batch.records[batch.head[seen.rows[problem.row]]]
            where = where_of(log, record, problem.field, table)
            finding = Finding(problem.code, where, problem.found, problem.expected, problem.hint)
            self._add(result, int(record["file"]), int(record["number"]), finding)

    def reduce(self, log: LogFile, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """What is wrong with the rows, or the units, of a bucket."""
        together = b"".join(blocks)
        result = _Result()
        if bucket >= KEY_BUCKETS:
            self._reduce_units(log, result, np.frombuffer(together, RECORD))
        else:
            self._reduce_rows(result, np.frombuffer(together, TOUCH))
        yield pickle.dumps(result)

    def _reduce_units(self, log: LogFile, result: _Result, records: Records) -> None:
        hashes = unit_hash(as_bytes(records["unit"]))
        sequence = np.argsort(hashes, kind="stable")
        records, hashes = take_rows(records, sequence), hashes[sequence]
        same = np.flatnonzero(hashes[1:] == hashes[:-1])
        result.counts["units"] = len(records) - len(same)
        differ = _unlike(records, same)
        if len(differ):  # what is said of them does not depend on how the log was split
            sequence = order.commit_order(records)
            sequence = sequence[np.argsort(hashes[sequence], kind="stable")]
            records = take_rows(records, sequence)
            differ = _unlike(records, same)
        for row in (differ + 1).tolist():
            finding = Finding(
                "LR2016",
                where_of(log, records[row]),
                "a begin, commit or disposition of the unit other than in its other records",
                "one for all of them",
            )
            self._add(result, int(records["file"][row]), int(records["number"][row]), finding)

    def _reduce_rows(self, result: _Result, touches: Records) -> None:
        event = np.ascontiguousarray(touches["role"]) == KeyRole.EVENT
        events, rows = (take_rows(touches, np.flatnonzero(one)) for one in (event, ~event))
        rows = take_rows(rows, touch_order(rows))
        table = self.spaces.kinds.table
        lacking = unit_hashes(self.incomplete)
        wrong = contradictions(rows, events, table, self.rising, lacking)
        result.counts.update(wrong.counts)
        result.count = len(wrong.place)
        change = np.ascontiguousarray(rows["change"])
        for place, previous, kind in zip(
            wrong.place[:_KEPT].tolist(),
            wrong.previous[:_KEPT].tolist(),
            wrong.kind[:_KEPT].tolist(),
            strict=True,
        ):
            here, there = int(change[place]), int(change[previous]) if previous >= 0 else -1
            before = (-1, -1) if there < 0 else file_and_number(there)
            result.wrong.append((*file_and_number(here), kind, *before))


def _unlike(records: Records, places: Index) -> Index:
    """Those of ``places`` whose record and the next one do not agree about their unit."""
    wrong = np.zeros(len(places), bool)
    for name in ("commit", "unit_facts"):
        column = np.ascontiguousarray(records[name])
        wrong |= column[places] != column[places + 1]
    return places[wrong]


# -- the question
# -------------------------------------------------------------------------------------------------


def check_log(
    run: Runner,
    log: LogFile,
    splits: Sequence[Split],
    rules: OrderRules | None = None,
    constraints: Constraints | None = None,
) -> Agreement:
    """Check a whole log. ``rules``: what the family knows of positions; ``constraints``: unique
    keys, which are identities of rows where a table has no primary key. InputError where a file
    cannot be read on."""
    keys = None if constraints is None else Constraints(keys=constraints.keys)
    spaces = KeySpaces(log.catalog, keys)
    survey = DependencyAnalysis(run, log, splits, spaces).survey(StartUnits(incomplete=True))
    pieces = np.frombuffer(b"".join(survey.pieces), RECORD)
    rising = rules is not None and rules.rising(log)
    evented = frozenset(survey.evented)
    job = CheckJob(spaces, evented, pieces, rules=rules, rising=rising)
    job = replace(job, incomplete=frozenset(survey.start))
    total, findings, wrong = Agreement(), _cut(log, pieces), []
    total.incomplete = tuple(sorted(survey.start))
    total.warnings = tuple(log.warnings(()))
    total.count = len(findings)
    for blob in run(job, log, splits):
        result: _Result = pickle.loads(blob)
        total.count += result.count
        findings += result.findings
        wrong += result.wrong
        for what, number in result.counts.items():
            (total.unchecked if what in UNCHECKED else total.counts)[what] += number
    findings += _Words(log, splits, spaces, pieces).findings(sorted(wrong)[:SHOWN])
    findings.sort(key=lambda entry: entry[:2])
    total.findings = tuple(finding for _, _, finding in findings[:SHOWN])
    return total


def _cut(log: LogFile, pieces: Records) -> list[tuple[int, int, Finding]]:
    """Changes whose segments are missing or there twice."""
    if not len(pieces):
        return []
    pieces = pieces[order.commit_order(pieces)]
    begins = np.ones(len(pieces), bool)
    for name in ("unit", "position"):
        column = np.ascontiguousarray(pieces[name])
        begins[1:] &= column[1:] == column[:-1]
    begins[0] = False
    starts = np.flatnonzero(~begins)
    stops = np.append(starts[1:], len(pieces))
    findings = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        first = pieces[start]
        numbers = pieces["segment"][start:stop].tolist()
        if numbers != list(range(1, int(first["segments"]) + 1)):
            finding = Finding(
                "LR2013",
                where_of(log, first, "SEGNUM"),
                f"segments {', '.join(map(str, numbers))}",
                f"each of 1 to {int(first['segments'])} once",
            )
            findings.append((int(first["file"]), int(first["number"]), finding))
    return findings


class _Words:
    """Says what is wrong with rows: reads the few records that are named again."""

    def __init__(
        self, log: LogFile, splits: Sequence[Split], spaces: KeySpaces, pieces: Records
    ) -> None:
        self.log, self.splits, self.spaces = log, splits, spaces
        self.write_sets = WriteSets(log, spaces)
        self.where: dict[tuple[int, int], tuple[int, int]] = {}
        self.pieces = assemble(pieces)
        heads = self.pieces.records[self.pieces.head]
        self.cut = {
            (int(head["file"]), int(head["number"])): place for place, head in enumerate(heads)
        }

    def findings(
        self, wrong: Sequence[tuple[int, int, int, int, int]]
    ) -> list[tuple[int, int, Finding]]:
        """Of (file, number, kind, previous file, previous number) of changes."""
        named = list(dict.fromkeys(entry[:2] for entry in wrong))
        self._look_up(named)
        rows: dict[tuple[int, int], tuple[np.void, str, str]] = {}
        for batch in self._changes(named):
            rows.update(self._rows(batch))
        return [(entry[0], entry[1], self._finding(rows[entry[:2]], *entry[2:])) for entry in wrong]

    def _finding(
        self, row: tuple[np.void, str, str], kind: int, there: int, previous: int
    ) -> Finding:
        """``row``: of the change its first record, table and key."""
        record, table, key = row
        found, expected = _FOUND[Contradiction(kind)]
        if previous >= 0:
            name = self.log.files[there].name
            expected += f", which record {previous} of {name} wrote last"
        hint = "A record is damaged or missing, or the log was written with a filter."
        return Finding(
            CONTRADICTION,
            where_of(self.log, record, None, table),
            f"{found} ({key})",
            expected,
            hint,
        )

    def _changes(self, named: Sequence[tuple[int, int]]) -> Iterator[ChangeBatch]:
        """The changes (file, number), in no order."""
        if cut := [self.cut[place] for place in named if place in self.cut]:
            yield self.pieces.part(np.array(cut))
        whole = [place for place in named if place not in self.cut]
        for file in sorted({file for file, _ in whole}):
            numbers = [number for of, number in whole if of == file]
            where = [self.where[file, number] for number in numbers]
            offset, length = (np.array(values) for values in zip(*where, strict=True))
            envelope = self.log.envelope(file, offset, length)
            change, version = self.log.classify(envelope)
            every = np.arange(len(numbers))
            records = sort_records(file, 1, offset, length, envelope, change, version, every)
            records["number"] = numbers
            yield in_one_piece(records, change, version, every)

    def _rows(
        self, batch: ChangeBatch
    ) -> Iterator[tuple[tuple[int, int], tuple[np.void, str, str]]]:
        """By (file, number), what :meth:`_finding` says of a row."""
        group = batch.version.astype(np.int64) * 16 + batch.change
        for value in distinct(group).tolist():
            chosen, version = np.flatnonzero(group == value), value // 16
            table = self.log.catalog.versions[version].name
            columns = self.spaces.uses[version][0].columns
            side = "after" if value % 16 == Change.INSERT else "before"
            keys = self.write_sets.values_of_all(batch, chosen, side, columns)
            for record, values in zip(batch.records[batch.head[chosen]], keys, strict=True):
                pairs = zip(columns, values, strict=True)
                key = ", ".join(f"{name} {text}" for name, text in pairs)
                yield (int(record["file"]), int(record["number"])), (record, table, key)

    def _look_up(self, wanted: Sequence[tuple[int, int]]) -> None:
        """Find where records (file, number) lie: one walk over each split that has some."""
        splits = sorted(self.splits, key=lambda split: (split.file, split.first_record))
        following: Split | None = None
        for split in reversed(splits):
            inner = following is not None and following.file == split.file
            stop = following.first_record if following is not None and inner else sys.maxsize
            following = split
            left = sorted(
                number
                for file, number in {*wanted} - self.cut.keys()
                if file == split.file and split.first_record <= number < stop
            )
            for first, offsets, lengths in self.log.records(split, TOGETHER) if left else ():
                while left and left[0] < first + len(offsets):
                    number = left.pop(0)
                    row = number - first
                    self.where[split.file, number] = int(offsets[row]), int(lengths[row])
                if not left:
                    break


def agreement_of(
    opened: OpenLog, engine: Engine, split_bytes: int, constraints: Constraints | None
) -> Agreement:
    """Check a log by an engine (:func:`check_log`), and that it ends where it says. InputError
    LR2042 where it goes on behind that, and agrees with itself otherwise."""
    log = opened.log
    splits = splits_of(log, split_bytes, engine)
    found = check_log(engine.execute, log, splits, opened.family.order, constraints)
    end = final_position(log)
    if end is None:
        return found
    extent = log_extent(log, engine=engine, split_bytes=split_bytes)
    if extent.last is not None:
        stated = f"the end that the control file states ({end.hexadecimal})"
        other = f"at {extent.last.hexadecimal}, and not " if extent.last != end else ""
        found.end = f"The last commit is {other}{stated}"
    if found.exit_code != EXIT_ERROR:
        refuse_behind_end(log, extent.last)
    found.warnings += ends_early(log, extent)
    return found
