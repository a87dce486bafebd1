"""Statements for the changes of a unit that are not one statement each: a row that is removed early
and put back last, because another row takes its key meanwhile, or has other values in its unique
keys until then, and the net change of a row that moved several times
(:mod:`replay.dependencies.unique_order`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.envelope import Change, distinct
from replay.changes.options import ScriptOptions
from replay.dependencies.key_spaces import KeySpaces, key_spaces, parked_values, parking
from replay.dependencies.unique_order import OF_TWO, StatementPart
from replay.logs import LogFile
from replay.pipeline.partition import ChunkChanges
from replay.pipeline.plan import Plan, places_of
from replay.pipeline.row_batch import whole_rows
from sqlgen.choices import Assertion, Deferral, WhereColumns
from sqlgen.dialects import Profile, profile_named
from sqlgen.literals import ValueProblem
from sqlgen.render_options import shown_columns
from sqlgen.schema import FLOATS, ForeignKey, Op, Rows
from sqlgen.statements import Rendered, render_by

#: Parts of statements by which a row gets values of another one, or of none.
_WITH_OTHERS = (StatementPart.EXCHANGE, StatementPart.PARK, StatementPart.UNPARK)


@dataclass(frozen=True)
class PartStatements:
    """``text`` of some entries ('' for none) and the values that cannot be said; their ``row``
    counts the entries."""

    text: pa.StringArray
    problems: list[ValueProblem]


class RowParts:
    """Writes such statements for one plan."""

    def __init__(self, plan: Plan, log: LogFile, profile: Profile) -> None:
        self.plan, self.log, self.profile = plan, log, profile
        self.undo = plan.mode == "undo"
        #: Which foreign keys wait where the statements run: a session lets those that may by
        #: themselves, a script any.
        declared = plan.steps and profile.deferral is not Deferral.NONE
        self.deferral = Deferral.DECLARED if declared else profile.deferral
        self.unlike = frozenset(plan.decisions.unlike.tolist() if plan.decisions else ())
        #: Whether foreign keys that nobody told of may act where the statements run.
        self.untold = plan.enforced and not plan.constraints.tell_foreign_keys
        self.never_counted = counts_parts(plan) and (
            plan.options.asserts is Assertion.NONE or not can_count(plan.options)
        )

    @cached_property
    def spaces(self) -> KeySpaces:
        """The keys of the log's tables."""
        return key_spaces(self.log.catalog, self.plan.acting, self.plan.options.masked)

    def possible(self, version: int, head: np.void) -> bool:
        """Whether the row of a change may be removed and put back: all of it is in the log, as it
        is then, and is written, and no foreign key notices that it is gone for a moment. ``head``
        is the first record (dtype :data:`replay.changes.envelope.RECORD`) of the change, of a table
        ``version``."""
        if self.untold or not self._found(self.never_counted):
            return False
        name = self.log.catalog.versions[version].name.upper()
        if any(name == parent for parent, _ in self.plan.acting.referred):
            return False
        referring = (key for key in self.plan.acting.foreign_keys if key.parent == name)
        return self._whole(version, head) and not any(map(self._notices, referring))

    def rewritable(self, version: int, head: np.void) -> bool:
        """Whether the row of a change may get the values of another one, or others for a moment:
        all of it is in the log, as it is then, and is written. Where rows may be others by now it
        is found by all of its columns, and counted: what else it holds would stay with its key."""
        return self._found(self.never_counted and _may_differ(self.plan)) and self._whole(
            version, head
        )

    def _found(self, uncounted: bool) -> bool:
        """Whether a statement finds no row but one that is as the log shows it: it is counted, or
        what an upsert puts in place is whole."""
        return not uncounted and (self.plan.puts_whole or not self.plan.options.render.upsert)

    def counted(self, part: Bytes) -> int:
        """How many of some entries need to be counted where that is to be chosen."""
        counts = part == StatementPart.REMOVE
        if _may_differ(self.plan):
            counts |= np.isin(part, _WITH_OTHERS)
        return int(counts.sum())

    def _whole(self, version: int, head: np.void) -> bool:
        """Whether all of the row is in the log, as it is then, and is written."""
        if self.unlike and int(places_of(int(head["file"]), head["offset"])) in self.unlike:
            return False
        table_version = self.log.catalog.versions[version]
        if any(column.lob for column in table_version.format.columns):
            return False
        shown = shown_columns(table_version.table, self.plan.options.render)
        return len(shown) == len(table_version.table.columns)

    def _notices(self, foreign: ForeignKey) -> bool:
        """Whether a foreign key acts or fails where a row that it may refer to is gone for a
        moment."""
        waits = self.deferral is Deferral.ANY
        waits |= self.deferral is Deferral.DECLARED and foreign.deferrable
        return foreign.on_delete != "NO ACTION" or not waits

    def statements(
        self, changes: ChunkChanges, first: Index, last: Index, part: Bytes
    ) -> PartStatements:
        """The statements of entries: ``first`` and ``last`` are changes, ``part`` what is done.

        Raises InputError (LR2014, LR2015) where a row cannot be read.
        """
        texts: list[pa.Array] = []
        places: list[Index] = []
        problems: list[ValueProblem] = []
        for kind in StatementPart:
            for version in distinct(changes.version[first[part == kind]]).tolist():
                rows = np.flatnonzero((part == kind) & (changes.version[first] == version))
                for among, some in self._rows(changes, first[rows], last[rows], version, kind):
                    rendered = self._rendered(some, kind)
                    here = rows[among]
                    texts.append(rendered.text)
                    places.append(here)
                    problems.extend(
                        replace(problem, row=int(here[problem.row]))
                        for problem in rendered.problems
                    )
        done = np.concatenate([*places, np.zeros(0, np.int64)])
        place = np.full(len(first), len(done), np.int64)
        place[done] = np.arange(len(done))
        text = pa.concat_arrays([*texts, pa.array([""], pa.string())])
        return PartStatements(text.take(pa.array(place)), problems)

    def _rows(
        self, changes: ChunkChanges, first: Index, last: Index, version: int, part: StatementPart
    ) -> Iterator[tuple[Index, Rows]]:
        """(which of the entries, their rows in the direction of the log)."""
        every = np.arange(len(first))
        if part not in OF_TWO:
            make = self._gone if part is StatementPart.REMOVE else self._come
            yield every, make(changes, first, last, version)
            return
        comes = changes.change[first] == Change.INSERT
        goes = changes.change[last] == Change.DELETE
        moved = partial(self._moved, part=part)
        for chosen, make in (
            (~comes & ~goes, moved),
            (~comes & goes, self._gone),
            (comes & ~goes, self._come),
        ):
            mine = np.flatnonzero(chosen)
            if len(mine):
                yield mine, make(changes, first[mine], last[mine], version)

    def _moved(
        self, changes: ChunkChanges, first: Index, last: Index, version: int, part: StatementPart
    ) -> Rows:
        rows = self._read(changes, first, version, Change.UPDATE)
        before, after = rows.before, self._read(changes, last, version, Change.UPDATE).after
        if part in (StatementPart.PARK, StatementPart.UNPARK):
            numbers = first - np.searchsorted(changes.unit, changes.unit[first])
            parked = parking(self.spaces, version, rows.table, self.profile.nulls_equal)
            between = {column.name: parked_values(column, null, numbers)
                       for _, column, null in parked}  # fmt: skip
            if part is StatementPart.PARK:
                after = {**before, **between}
            else:
                before = {**before, **between}
        changed = {}
        for column in rows.table.columns:
            mask = values_differ(before[column.name], after[column.name], column.type in FLOATS)
            if mask.any():
                changed[column.name] = pa.array(mask)
        return replace(rows, before=before, after=after, changed=changed)

    def _gone(self, changes: ChunkChanges, first: Index, last: Index, version: int) -> Rows:
        rows = self._read(changes, first, version, Change.UPDATE)
        return replace(rows, op=Op.DELETE, after={}, changed={})

    def _come(self, changes: ChunkChanges, first: Index, last: Index, version: int) -> Rows:
        rows = self._read(changes, last, version, Change.UPDATE)
        return replace(rows, op=Op.INSERT, before={}, changed={})

    def _read(self, changes: ChunkChanges, chosen: Index, version: int, kind: Change) -> Rows:
        """Changes with all columns of both images, in the order asked for."""
        head, weight = changes.head[chosen], changes.weight[chosen]
        mapping = self.plan.options.mapping
        rows = whole_rows(self.log, changes.records, head, weight, version, kind, mapping)
        return replace(rows, changed={})

    def _rendered(self, rows: Rows, part: StatementPart) -> Rendered:
        options = self.plan.options.render
        if rows.op is Op.UPDATE and self.plan.puts_whole:
            rows = replace(rows, whole=pa.array(np.ones(rows.count, bool)))
        if self.undo:
            rows = rows.inverse()
        if part in _WITH_OTHERS and _may_differ(self.plan):
            options = replace(options, where_columns=WhereColumns.ALL)
        elif _in_part(self.plan) and options.where_columns is WhereColumns.KEY:
            options = replace(options, where_columns=WhereColumns.GUARD)
        return render_by(rows, self.profile, options)


def _in_part(plan: Plan) -> bool:
    """Whether rows that are removed and put back may hold what the script does not know of."""
    return not (plan.whole_rows or plan.options.render.upsert)


def _may_differ(plan: Plan) -> bool:
    """Whether rows may be others by now than the log shows them."""
    return plan.rows_differ or _in_part(plan)


def counts_parts(plan: Plan) -> bool:
    """Whether a script must count the rows that it touches where it removes a row early and puts it
    back last: it finds them by their old values too, and where these are others by now, the row
    would be there twice, or not at all. (A replay counts by itself.)"""
    if plan.steps or plan.options.render.upsert:
        return False
    return _may_differ(plan) or plan.options.render.where_columns is not WhereColumns.KEY


def can_count(options: ScriptOptions) -> bool:
    """Whether a script can check how many rows its statements touch."""
    return profile_named(options.dialect).row_check is not None


def values_differ(one: pa.Array, other: pa.Array, number: bool) -> Mask:
    """Where two values are not the very same; floats by their bits."""
    if number:
        kind = pa.int32() if one.type == pa.float32() else pa.int64()
        one, other = one.view(kind), other.view(kind)
    different = pc.fill_null(pc.not_equal(one, other), False)
    different = pc.or_(different, pc.xor(pc.is_null(one), pc.is_null(other)))
    return np.asarray(different.to_numpy(zero_copy_only=False))
