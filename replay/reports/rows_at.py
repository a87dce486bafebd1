"""The rows of tables as they were at a point of the log, and how two points differ.

A state that is known somewhere (before the log, after it, or at a position) is brought to the point
by the net change between; every row that the log touches must be there as the log found or left it.
Without such a state, the rows that the log knows are given: what it left behind before the point,
and what it found after it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.csv_states.state_values import padded
from replay.errors import InputError, Refusal, Where
from replay.output.formats import Dataset
from replay.output.formats.batches import row_type
from replay.output.structure import ColumnMove
from replay.reports.images import field_of, image_texts, literal, shown_image, with_texts
from replay.reports.net_rows import NetChange, NetRows
from sqlgen.schema import Column, SqlType
from sqlgen.statements import one_array
from sqlgen.value_texts import Value, constant

_ELSEWHERE = (
    "Ask for a point on the same side of the change of the table, or leave the table out"
    " (--exclude-table)"
)
#: Rows of a state that contradict the log and are named.
_NAMED = 5


@dataclass
class TableNet:
    """One table: the form that its rows are given in, its key, and its net changes up to the point
    (``early``) and after it (``late``). ``notes``: what became of rows of another form, or of
    another table of that name; ``remade``: such a one was dropped before the point; ``made``: the
    log makes it, or gives it its name. ``forms``: its generations, in order; ``added``: columns
    that rows of older ones get as null. ``moves`` of names up to the point (False) and after it
    (True), and on which of these sides there are rows from ``beyond`` one."""

    name: str
    form: Dataset
    key: Sequence[Column]
    early: NetChange
    late: NetChange
    notes: dict[str, None] = field(default_factory=dict)
    remade: bool = False
    made: bool = False
    forms: Sequence[Dataset] = ()
    added: set[str] = field(default_factory=set)
    moves: dict[bool, list[ColumnMove]] = field(default_factory=lambda: {False: [], True: []})
    beyond: set[bool] = field(default_factory=set)
    defaults: dict[str, str | None] = field(default_factory=dict)

    def add(self, dataset: Dataset, rows: pa.Table, is_late: bool) -> None:
        """Take changes in commit order."""
        for side in ("before", "after"):
            images = self.images(dataset, one_array(rows[side]))
            rows = rows.set_column(rows.schema.get_field_index(side), side, images)
        rows = with_texts(rows, self.form.columns, self.key)
        (self.late if is_late else self.early).add(rows)

    def images(self, dataset: Dataset, images: pa.Array) -> pa.Array:
        """Images of another generation of the table as those of :attr:`form`: columns by name, what
        the log says (``defaults``), or null, for one that is newer, values as the types of
        :attr:`form` have them. Refusal (LR3002) where that is not known."""
        if dataset is self.form or not self._differs(dataset):
            return images
        columns = {column.name: column for column in dataset.columns}
        newer = [column for column in self.form.columns if column.name not in columns]
        older = columns.keys() - {column.name for column in self.form.columns}
        given = {column.name: self._given(column) for column in newer}
        wrong = [
            column.name
            for column in newer
            if self.defaults.get(column.name, "") is None
            or (given[column.name] is None and not column.nullable)
        ]
        if newer and not wrong and self._is_later(dataset):
            # dropped meanwhile: such rows had values that nobody knows
            wrong = [column.name for column in newer]
        if (newer and older) or wrong:
            raise self._other_columns(", ".join(sorted(older) or wrong))
        untold = [column.name for column in newer if column.name not in self.defaults]
        if untold:
            text = ", ".join(untold)
            self.added.update(untold)
            self.notes[f"{self.name}: {text} came later; null in rows from before, whatever the"
                       " default was"] = None  # fmt: skip
        fields = []
        kind = row_type(self.form.columns)
        for column, target in zip(self.form.columns, kind, strict=True):
            if column.name not in columns:
                value = pa.scalar(given[column.name], target.type)
                fields.append(pa.repeat(value, len(images)))
                continue
            try:
                values = widened(field_of(images, column.name), columns[column.name], column)
                fields.append(values.cast(target.type))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                text = f"{column.name} of another type"
                raise self._other_columns(text) from None
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=images.is_null())

    def _given(self, column: Column) -> Value | None:
        """What older rows got in a column; None for null, and where that is not known."""
        text = self.defaults.get(column.name)
        try:
            return None if text is None else constant(text, column)
        except ValueError:
            self.defaults[column.name] = None
            return None

    def _differs(self, dataset: Dataset) -> bool:
        """Whether a generation has other columns than :attr:`form`, or of other types."""
        return [(one.name, one.type, one.length, one.scale) for one in dataset.columns] != [
            (one.name, one.type, one.length, one.scale) for one in self.form.columns
        ]

    def _is_later(self, dataset: Dataset) -> bool:
        """Whether a generation came after that of :attr:`form`."""
        forms = list(self.forms)
        return dataset in forms and forms.index(dataset) > forms.index(self.form)

    def _other_columns(self, text: str) -> Refusal:
        return Refusal(
            "LR3002",
            f"found rows of {self.name} from when it had other columns ({text}); expected columns"
            " that are the same by name, or newer ones that may be null",
            hint=_ELSEWHERE,
        )

    def unlike_null(self) -> Refusal:
        """That rows follow from one another only if they got values when a column was added."""
        return self._other_columns(f"without {', '.join(sorted(self.added))}, which got values")

    def mix(self, dataset: Dataset, rows: pa.Table, is_late: bool) -> None:
        """Look whether changes of a side have rows from beyond a place where names moved."""
        names = {column.name for column in dataset.columns}
        there = rows["before" if is_late else "after"].is_valid()
        commits = rows["commit_lrsn"].filter(there)
        beyond = pc.greater_equal if is_late else pc.less_equal
        for move in self.moves[is_late]:
            if (move.again & names or move.former != move.table) and pc.any(
                beyond(commits, move.commit)
            ).as_py():
                self.beyond.add(is_late)

    def one_meaning(self, sides: Collection[bool]) -> None:
        """Refusal (LR3002) where rows of these sides may be those of another table or column, which
        had the name there that one has at the point."""
        for move in (move for side in sides for move in self.moves[side]):
            if move.former != move.table:
                raise Refusal(
                    "LR3002",
                    f"found that {move.former} is called {move.table} from {move.commit} on;"
                    " expected a table that keeps its name from the known rows to the point",
                    hint=_ELSEWHERE,
                )
            if move.again:
                raise self._other_columns(f"another {', '.join(sorted(move.again))}")

    def whole(self) -> NetChange:
        """Both parts of the net change as one."""
        early, late = self.early, self.late
        if not late.emptied:
            parts = early.parts + late.parts
            return NetChange(early.keyed, parts, early.lost, early.emptied, [])
        lost = early.lost if early.emptied else early.parts + late.lost
        return NetChange(early.keyed, late.parts, lost, True, [])

    def contradictions(self) -> None:
        """InputError (LR2036) where the log contradicts itself about the table."""
        wrong = self.early.contradictions + self.late.contradictions
        if wrong and self.added:
            raise self.unlike_null()
        if wrong:
            raise InputError(
                "LR2036",
                f"found rows that do not follow from those before: {'; '.join(wrong[:_NAMED])};"
                " expected every row as the log last left it",
                Where(table=self.name),
                "logreplay check names the records",
            )


def rows_at(net: TableNet, known: pa.Array | None, before: bool) -> pa.Array:
    """The rows (structs) of a table at the point; ``known``: all of them ``before`` the log, or
    after it; None: nothing is known but the log.

    InputError (LR2036) where known rows are not as the log found or left them; Refusal (LR3002)
    where rows went that no log has."""
    net.one_meaning(net.beyond if known is None else (not before,))
    net.contradictions()
    early, late = net.early.rows(), net.late.rows_before()
    net.contradictions()
    if known is None:  # what the log found
        whole, before = net.whole().rows_before(), True
        known = pa.nulls(0, row_type(net.form.columns))
        known = known if whole is None else whole.begin.filter(whole.begin_text.is_valid())
    if not before and net.late.emptied:
        raise Refusal(
            "LR3002",
            f"found that {net.name} was emptied after the point; expected rows that the log has",
            hint="Give the state before the log",
        )
    change, side = (early, "end") if before else (late, "begin")
    if before and net.early.emptied:
        known = known.slice(0, 0)
    if change is None:
        return known
    _check(net, known, change, "begin" if before else "end")
    rows, texts = getattr(change, side), getattr(change, f"{side}_text")
    if net.key:
        keys = image_texts(known, net.key, loose=True)
        kept = known.filter(pc.invert(pc.is_in(keys, change.keys)))
        return pa.concat_arrays([kept, rows.filter(texts.is_valid())])
    gone = change.begin_text if before else change.end_text
    kept = known.filter(pa.array(_without(image_texts(known, net.form.columns), gone.drop_null())))
    return pa.concat_arrays([kept, rows.filter(texts.is_valid())])


def rows_touched(net: TableNet) -> pa.Array:
    """A row (struct) of each key that changes up to the point touched; without a key, the rows that
    they found."""
    rows, parts = net.early.rows(), net.early.parts
    if rows is None or not net.key:
        none = pa.nulls(0, row_type(net.form.columns))
        return none if rows is None else rows.begin.filter(rows.begin_text.is_valid())
    keys = pa.concat_arrays([part.keys for part in parts]).dictionary_encode().indices.to_numpy()
    first = pa.array(np.unique(keys, return_index=True)[1])
    return pa.concat_arrays([part.any for part in parts]).take(first)


def _without(texts: pa.Array, gone: pa.Array) -> np.ndarray[Any, Any]:
    """Which of some texts stay when each text of ``gone`` takes one away."""
    both = pa.concat_arrays([texts, gone]).dictionary_encode().indices.to_numpy()
    mine, theirs = both[: len(texts)], both[len(texts) :]
    count = np.bincount(theirs, minlength=int(both.max()) + 1 if len(both) else 0)
    order = np.argsort(mine, kind="stable")
    starts = np.searchsorted(mine[order], mine[order], "left")
    rank = np.empty(len(mine), np.int64)
    rank[order] = np.arange(len(mine)) - starts
    return np.asarray(rank >= count[mine], bool)


def _check(net: TableNet, known: pa.Array, change: NetRows, side: str) -> None:
    wrong = differing(net, known, change, side)
    if wrong and net.added:
        raise net.unlike_null()
    if wrong:
        raise InputError(
            "LR2036",
            f"found rows that are not as the log {'found' if side == 'begin' else 'left'} them:"
            f" {'; '.join(wrong)}; expected a state from"
            f" {'before' if side == 'begin' else 'after'} the log",
            Where(table=net.name),
            "Is it the state of this database, at this point of its log?",
        )


def differing(net: TableNet, known: pa.Array, change: NetRows, side: str) -> list[str]:
    """Keys whose rows are not as the log has them at that side of a net change."""
    texts = image_texts(known, net.form.columns)
    expected = getattr(change, f"{side}_text")
    if not net.key:
        have, need = pc.value_counts(texts), pc.value_counts(expected.drop_null())
        counts = dict(zip(have.field(0).to_pylist(), have.field(1).to_pylist(), strict=True))
        return [
            f"{text} is there {counts.get(text, 0)} times, not {number}"
            for text, number in zip(
                need.field(0).to_pylist(), need.field(1).to_pylist(), strict=True
            )
            if counts.get(text, 0) < number
        ][:_NAMED]
    keys = image_texts(known, net.key, loose=True)
    place = pc.index_in(change.keys, keys)
    texts_there = texts.take(place)
    same = pc.or_(
        pc.and_(texts_there.is_null(), expected.is_null()),
        pc.fill_null(pc.equal(texts_there, expected), False),
    )
    wrong = np.flatnonzero(~same.to_numpy(zero_copy_only=False))
    image = getattr(change, side)
    named = []
    for at in wrong[:_NAMED].tolist():
        row = known[place[at].as_py()].as_py() if place[at].is_valid else None
        named.append(_difference(net, row, image[at].as_py(), change.keys[at].as_py()))
    return named


def _difference(
    net: TableNet, row: Mapping[str, Any] | None, logged: Mapping[str, Any] | None, key: str
) -> str:
    either = shown_image(row or logged) or {}
    name = ", ".join(f"{c.name}={literal(either.get(c.name))}" for c in net.key) or key
    if row is None or logged is None:
        return f"{name} is {'not there' if row is None else 'there'}, and the log has it otherwise"
    mine, theirs = shown_image(row) or {}, shown_image(logged) or {}
    text = ", ".join(
        f"{column} is {literal(mine[column])}, the log has {literal(theirs[column])}"
        for column in mine
        if mine[column] != theirs[column]
    )
    return f"{name}: {text}"


def sorted_rows(rows: pa.Array, columns: Sequence[Column], key: Sequence[Column]) -> pa.Table:
    """Rows (structs) as a table with a column each, by key (or all columns)."""
    names = [column.name for column in columns]
    table = pa.Table.from_arrays([field_of(rows, name) for name in names], names)
    if not len(table) or not columns:
        return table
    # numbers in place of names, which Arrow may take for a path
    numbered = table.rename_columns([str(place) for place in range(len(names))])
    order = [(str(names.index(column.name)), "ascending") for column in (key or columns)]
    return numbered.sort_by(order).rename_columns(names)


# -- between two points
# -------------------------------------------------------------------------------------------------


def differences(net: TableNet) -> Iterable[dict[str, Any]]:
    """How the rows after the stretch differ from those before it, by key: ``change`` (insert,
    update, delete), ``key``, ``changed`` (columns with both values), and both rows."""
    net.contradictions()
    rows = net.early.rows()
    net.contradictions()
    if net.early.emptied:
        yield {"table": net.name, "change": "emptied", "key": {}, "changed": {}}
    if rows is None:
        return
    same = pc.fill_null(pc.equal(rows.begin_text, rows.end_text), False)
    none = pc.and_(rows.begin_text.is_null(), rows.end_text.is_null())
    chosen = np.flatnonzero(~pc.or_(same, none).to_numpy(zero_copy_only=False))
    at = pa.array(chosen)
    begin, end = rows.begin.take(at).to_pylist(), rows.end.take(at).to_pylist()
    entries: list[dict[str, Any]] = []
    for old, new in zip(begin, end, strict=True):
        before, after = shown_image(old), shown_image(new)
        image = after or before or {}
        changed = {
            name: [before[name], after[name]]
            for name in image
            if before is not None and after is not None and before[name] != after[name]
        }
        change = "insert" if before is None else "delete" if after is None else "update"
        key = {column.name: image[column.name] for column in net.key}
        entries.append(
            {
                "table": net.name,
                "change": change,
                "key": key,
                "changed": changed,
                "before": before,
                "after": after,
            }
        )
    yield from sorted(entries, key=lambda entry: [_rank(v) for v in entry["key"].values()])


def _rank(value: Any) -> tuple[int, Any]:
    """Values of one type, null first, as they are sorted."""
    return (0, "") if value is None else (1, value)


# -- values of another generation
# -------------------------------------------------------------------------------------------------

_WHOLE = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)
_FIXED = (SqlType.CHAR, SqlType.VARCHAR)


def widened(values: pa.Array, source: Column, target: Column) -> pa.Array:
    """``values`` of ``source`` in the words of ``target``; what that does not hold stays as it is.
    (Images have CHAR without blanks at the end.)"""
    if (source.type, source.length, source.scale) == (target.type, target.length, target.scale):
        return values
    if target.type is SqlType.DECIMAL and source.type in (*_WHOLE, SqlType.DECIMAL):
        return _with_digits(pc.cast(values, pa.string()), target.scale)
    if target.type in _WHOLE and source.type is SqlType.DECIMAL:
        return _with_digits(values, 0)
    if target.type is SqlType.TIMESTAMP and source.type is SqlType.TIMESTAMP:
        return _with_digits(values, target.length)
    if (source.type, target.type) == _FIXED:
        # of other text the column's size counts bytes that its code page decides
        plain = pc.string_is_ascii(values)
        return pc.if_else(plain, pc.utf8_rpad(values, source.length), values)
    if (target.type, source.type) == _FIXED:
        return pc.utf8_rtrim(values, " ")
    return values


def _with_digits(texts: pa.Array, digits: int) -> pa.Array:
    """Numbers, or moments, with so many digits behind the point, where no others than zeros go."""
    fits = pc.match_substring_regex(texts, rf"^[^.]*(\.\d{{0,{digits}}}0*)?$")
    return pc.if_else(fits, padded(texts, digits), texts)
