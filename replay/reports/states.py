"""The rows at a point of a log, and what differs between two: what a user asks, from open log to
answer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.changes.options import ScriptOptions
from replay.changes.position import LOWEST, Position
from replay.changes.selection import Selection
from replay.csv_states import CsvForm
from replay.dependencies.baseline import StateBefore
from replay.errors import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_WARNING,
    InputError,
    Refusal,
    TargetError,
    UsageError,
    counted,
    some_of,
    usage_errors,
)
from replay.live.position_store import Store
from replay.live.target_state import open_state
from replay.output.formats import Dataset, definition_of
from replay.output.formats.batches import row_type
from replay.output.initial_load import StateFiles, proof_in
from replay.output.row_changes import IN_ORDER, RowChanges, in_turn
from replay.output.state_files import RowsLeft, TableRows
from replay.output.structure import (
    CatalogDrop,
    ColumnMove,
    added_defaults,
    catalog_drops,
    column_moves,
    tables_before,
)
from replay.output.table_lives import (
    Life,
    Place,
    has_rows,
    place_in_log,
    place_of_drop,
    rows_before,
    structure_images,
)
from replay.pipeline.mapped_catalog import table_map
from replay.pipeline.points import Point
from replay.pipeline.request import Request
from replay.reports.history import drops_table
from replay.reports.images import field_of, image_texts, key_text
from replay.reports.known_rows import Known, rows_of_database, rows_of_folder
from replay.reports.layout import Report, preformatted
from replay.reports.log_queries import (
    Asked,
    Tables,
    left_out_columns,
    point_of,
    quarantine_warnings,
    row_request,
    rows_of,
    spelling_of,
)
from replay.reports.net_rows import NetChange
from replay.reports.rows_at import (
    TableNet,
    differences,
    differing,
    rows_at,
    rows_touched,
    sorted_rows,
)
from replay.storage import at as place_of
from replay.storage import is_database
from replay.targets import target_of
from sqlgen.choices import Names
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, Table
from sqlgen.statements import one_array

if TYPE_CHECKING:
    from sqlgen.mapping import TableMap


@dataclass(frozen=True, repr=False)
class State:
    """Tables at a point. ``complete``: all rows of them, not only those that the log knows.
    ``warnings`` and ``notes`` for who reads it; ``mapping``: what shows them."""

    at: Point
    tables: tuple[TableRows, ...]
    complete: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    damaged: bool = False
    mapping: TableMap | None = None

    @property
    def exit_code(self) -> int:
        """4 with warnings, such as one of rows that the log does not know; 8 where changes cannot
        be read (``damaged``)."""
        if self.damaged:
            return EXIT_ERROR
        some = any(len(table.rows) for table in self.tables)
        return EXIT_OK if some and not self.warnings else EXIT_WARNING

    def __str__(self) -> str:
        lines = [f"warning: {warning}" for warning in self.warnings]
        names = [f"{one.dataset.table.schema}.{one.dataset.table.name}" for one in self.tables]
        counts = [len(one.rows) for one in self.tables]
        lines += [f"{name}: {counted(n, 'row')}" for name, n in zip(names, counts, strict=True)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def about(self) -> dict[str, Any]:
        """What a manifest says."""
        return {
            "at": self.at.text,
            "commit_lrsn": self.at.hexadecimal,
            "complete": self.complete,
            **({} if self.mapping is None else {"mapping": self.mapping.describe()}),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


#: What is said of a state without a state before or after it.
ONLY_KNOWN = (
    "only rows that the log knows: what it left before the point, or found after it; rows that it"
    " never touches are not here (--initial)"
)


def state_of(
    asked: Asked,
    at: str,
    selection: Selection,
    initial: str | Path | None = None,
    initial_at: str | None = None,
    csv: CsvForm | None = None,
    keys: Sequence[str] = (),
    to: str | None = None,
) -> State:
    """The rows of the selected tables at a point (``keys``: those alone), as a mapping shows them,
    whose types are those of a database ``to`` which they go. ``initial``: a folder or
    the URL of a database with their rows at ``initial_at`` (``before`` the log, ``after`` it, or a
    point); where that is not said: where a database was replayed to, or found out from the rows.
    ``csv``: who wrote the files of the folder.

    UsageError (LR1001, LR1004) for a point or table that is not there, (LR1011) for the mapping,
    InputError (LR2035, LR2036) for a state that does not fit the log, Refusal (LR3002) for rows
    that no log has.
    """
    mapping = None
    if asked.mapping is not None:
        render = RenderOptions(spelling_of(asked.log))
        options = ScriptOptions(target_of(to).dialect if to else "duckdb", render=render)
        mapping = table_map(asked.mapping, asked.log, options, bool(to), False)
        asked = replace(asked, mapping=None)  # what is known before has the names of the log
    place = None if initial is None else str(initial)
    url = place if place is not None and is_database(place) else None
    point = point_of(asked, at, url)
    base = _base_of(asked, initial_at, url)
    changes = _nets(asked, selection, point, base)
    known = rows_of_database(url, asked.opened.dialect) if url else None
    files = StateFiles(place_of(place), csv) if place is not None and not url else None
    if files is not None:
        known = rows_of_folder(files, changes.forms)
    before = True
    if known is not None:
        rows = {
            name: _known_rows(known, net, changes.forms[name]) for name, net in changes.nets.items()
        }
        before = _is_before(changes.nets, rows, base, point, initial_at)
        if place and before and base is None and asked.log.dependent_position is not None:
            with _proof_in(asked, place, csv) as state:
                changes = _nets(asked, selection, point, base, state=state)
    nets, notes = changes.nets, changes.notes
    tables = dict[tuple[str, str], TableRows]()
    if mapping is not None:
        with usage_errors():
            mapping.joined([net.form.table for net in nets.values()])
    for name, net in nets.items():
        images = rows_at(net, None if known is None else rows[name], before)
        if keys:
            images = _with_keys(images, name, net.key, keys)
        shown = _shown(net.form, images, net.key, mapping)
        other = tables.get(shown.dataset.topic)
        tables[shown.dataset.topic] = shown if other is None else _together(other, shown)
        notes += net.notes
    if files is not None and not (selection.tables or selection.exclude_tables):
        notes += _without_changes(files, changes.forms)
    complete = known is not None
    warnings = (*point.outside, *changes.warnings, *(() if complete else (ONLY_KNOWN,)))
    return State(
        point, tuple(tables.values()), complete, warnings, tuple(notes), changes.damaged, mapping
    )


def rows_left(
    asked: Asked, selection: Selection, proof: object, csv: CsvForm | None
) -> list[RowsLeft]:
    """What the selected changes leave of the rows of each table. ``proof``: the folder of the state
    before them, if any, which proves flagged units. Errors as :func:`state_of`."""
    point, left = point_of(asked, "end"), []
    with nullcontext() if proof is None else _proof_in(asked, str(proof), csv) as state:
        nets = _nets(asked, selection, point, None, state=state).nets
    for net in nets.values():
        images = rows_at(net, None, True), rows_touched(net)
        rows, touched = (_shown(net.form, one, net.key, None) for one in images)
        key = tuple(column.name for column in net.key)
        left.append(RowsLeft(rows, touched, key, net.early.emptied or net.made))
    return left


def _shown(
    form: Dataset, rows: pa.Array, key: Sequence[Column], mapping: TableMap | None
) -> TableRows:
    """Rows of a table as a mapping shows them, sorted by their key, which a mask changes."""
    if mapping is None:
        return TableRows(form, sorted_rows(rows, form.columns, key))
    table, named = mapping.table(form.table), mapping.names(form.table)
    hidden = {*table.left_out, *table.hidden}
    kept = [column.name for column in form.columns if named[column.name] not in hidden]
    values = [mapping.mask(form.table, name, field_of(rows, name)) for name in kept]
    columns = (*(table.column(named[name]) for name in kept), *mapping.constants(form.table))
    values += [one.constants(len(rows)) for one in mapping.constants(form.table)]
    spelled = str if mapping.options.names is Names.EXACT else str.lower
    mapped = replace(
        form,
        table=table.in_target(),
        columns=columns,
        names=tuple(spelled(column.name) for column in columns),
        topic=(spelled(table.schema), spelled(table.name)),
    )
    images = pa.StructArray.from_arrays(values, [column.name for column in columns])
    by = [table.column(named[one.name]) for one in key if named[one.name] not in hidden]
    return TableRows(mapped, sorted_rows(images, columns, by))


def _together(one: TableRows, other: TableRows) -> TableRows:
    """Rows of two tables that a mapping makes one."""
    columns = one.dataset.columns
    rows = pa.concat_tables([one.rows, other.rows.select(one.rows.column_names)])
    key = [column for column in columns if column.name in one.dataset.table.key]
    return TableRows(one.dataset, sorted_rows(one_array(rows.to_struct_array()), columns, key))


def _with_keys(
    images: pa.Array, table: str, key: Sequence[Column], keys: Sequence[str]
) -> pa.Array:
    """The rows with keys as people write them. UsageError (LR1001) for one that is none here."""
    if not key:
        raise UsageError(
            "LR1001",
            f"found --key for {table}, which has no key; expected a table with one",
            hint="Name a unique key with --schema, or one table with --table",
        )
    wanted = pa.array([key_text(one, key) for one in keys], pa.string())
    return images.filter(pc.is_in(image_texts(images, key, loose=True), wanted))


def _without_changes(files: StateFiles, forms: Mapping[str, Sequence[Dataset]]) -> list[str]:
    """What is said of the files of a known state that are of no table of the log."""
    tables = [form.table for each in forms.values() for form in each]
    others = files.others(files.of(tables, partial=True).values())
    if not others:
        return []
    return [
        f"not written (no changes in this log): {some_of(others, len(others))} in {files.folder}"
    ]


def _known_rows(known: Known, net: TableNet, forms: Sequence[Dataset]) -> pa.Array:
    """The known rows of a table. Where the log makes it they count only as far as they are its
    own, and not those of another one that had its name; there may be none."""
    if not (net.remade or net.made):
        return known(net, forms)
    with suppress(InputError, TargetError, Refusal):
        return known(net, [net.form])
    return pa.nulls(0, row_type(net.form.columns))


@contextmanager
def _proof_in(asked: Asked, place: str, csv: CsvForm | None) -> Iterator[StateBefore]:
    """The state before the log as what proves flagged units."""
    if not is_database(place):
        yield proof_in(place_of(place), asked.log, csv)
        return
    tables = [version.table for version in asked.log.catalog.versions]
    options = ScriptOptions(dialect=target_of(place).dialect).of_log(asked.opened.dialect)
    with open_state(place, tables, options) as rows:
        yield StateBefore(rows, compared=False)


def _base_of(asked: Asked, initial_at: str | None, url: str | None) -> Position | None:
    """Where a known state stands, as far as that is said."""
    if initial_at is not None and initial_at.lower() not in ("before", "after"):
        return point_of(asked, initial_at, url).position
    if initial_at is None and url is not None:
        with closing(target_of(url).connect(url)) as session:
            row = Store(session).position()
        return None if row is None else row.position.commit
    return None


@dataclass(frozen=True)
class _Nets:
    """The net changes of tables by name, what is said of them, their generations, and whether
    units cannot be read."""

    nets: dict[str, TableNet]
    notes: list[str]
    warnings: list[str]
    forms: dict[str, list[Dataset]]
    damaged: bool


def _nets(
    asked: Asked,
    selection: Selection,
    point: Point,
    base: Position | None,
    low: Point | None = None,
    state: StateBefore | None = None,
) -> _Nets:
    """The net changes of each selected table, up to a point and after it: of the whole log, or of
    what lies between the point and ``base``, or above ``low``. ``state``: what proves flagged
    units."""
    tables = Tables(row_request(asked, selection))
    same = tables.same(selection)
    if same:
        selection = replace(selection, tables=same, exclude_tables=())
    request = row_request(asked, selection, unchanged=True)
    changes = rows_of(asked, request, False, state)
    dropped = [drop for drop in catalog_drops(request.log) if drop.amid]
    lives = _lives(tables, dropped, changes, point)
    every = {version.name: version.table for version in request.versions}
    before = tables_before(request.log, Selection(), every)
    began = {tables.identity(name): table for name, table in before.items()}
    begins = {version: drop.gone for drop in dropped for version in drop.table.later}
    forms, nets = _tables(request, tables, changes, point, lives, began, begins)
    stretches = {
        name: _Stretch(net, point, base, low, lives.get(name, Life())) for name, net in nets.items()
    }
    for move in column_moves(request.log, Selection()):
        for name in {tables.identity(one) for one in (move.table, move.former)} & stretches.keys():
            stretches[name].move(move)
    for told, values in added_defaults(request.log, Selection()).items():
        if tables.identity(told) in nets:
            nets[tables.identity(told)].defaults |= values
    for name, net in nets.items():
        net.made = name not in began
    for some in changes.by_bucket(has_rows):
        mine = defaultdict[str, list[tuple[Dataset, pa.Table]]](list)
        for dataset, rows in some:
            name = tables.identity(f"{dataset.table.schema}.{dataset.table.name}")
            mine[name].append((dataset, rows))
        for name, parts in mine.items():
            for dataset, rows in in_turn(parts):
                stretches[name].take(dataset, rows)
    for stretch in stretches.values():
        stretch.end()
    changes.close()
    return _Nets(
        nets, left_out_columns(request), quarantine_warnings(changes), forms, bool(changes.damaged)
    )


def _lives(
    tables: Tables, dropped: Sequence[CatalogDrop], changes: RowChanges, point: Point
) -> Mapping[str, Life]:
    """Of tables that are dropped, their lives at a point: their rows went without a change of each,
    and a table that has the name later is another one."""
    drops: dict[str, list[Place]] = defaultdict(list)
    for place, image in structure_images(changes):
        if drops_table(image):
            drops[tables.identity(f"{image['table_owner']}.{image['table_name']}")].append(place)
    for drop in dropped:
        if drop.there < point.position < drop.gone:
            raise Refusal(
                "LR3002",
                f"found that {drop.table.name} was dropped between {drop.there.hexadecimal} and"
                f" {drop.gone.hexadecimal}; expected a point at or beyond one of them",
                hint=f"The catalog has an RBA ({drop.table.at.hex().upper()}), and units commit at"
                " LRSNs",
            )
        drops[tables.identity(drop.table.name)].append(place_of_drop(drop))
    return {name: Life.at(point.hexadecimal, sorted(places)) for name, places in drops.items()}


class _Stretch:
    """Puts the changes of a table into its ``net``: those up to a ``point``, and those after it; of
    either what lies between the point and ``base``, or above ``low``. Rows of others that had its
    name before or have it after its ``life`` are none of its rows."""

    def __init__(
        self,
        net: TableNet,
        point: Point,
        base: Position | None,
        low: Point | None,
        life: Life,
    ) -> None:
        self.net, self.point, self.base, self.low, self.life = net, point, base, low, life
        within = [place for place in life.drops if self._is_within(place)]
        self.later = [place for place in within if self._is_late(place)]
        for place in within:
            if not self._is_late(place):
                net.remade = True
                net.early.empty()
                net.notes[f"{net.name} was dropped at {place[0]}; its rows went with it"] = None

    def move(self, move: ColumnMove) -> None:
        """From a place on, names of the table, or of its columns, are those of other ones."""
        place = (move.commit, *("" for _ in IN_ORDER[1:]))
        if self.life.has(place) and self._is_within(place):
            self.net.moves[self._is_late(place)].append(move)

    def take(self, dataset: Dataset, rows: pa.Table) -> None:
        """The next changes of one generation, in order."""
        rows = self.life.of(rows)
        late = pc.greater(rows["commit_lrsn"], self.point.hexadecimal)
        for is_late, mask in ((False, pc.invert(late)), (True, late)):
            if self.base is not None:
                over = pc.greater(rows["commit_lrsn"], self.base.hexadecimal)
                mask = pc.and_(mask, pc.invert(over) if is_late else over)
            if self.low is not None:
                mask = pc.and_(mask, pc.greater(rows["commit_lrsn"], self.low.hexadecimal))
            chosen = rows.filter(mask)
            self.net.mix(dataset, chosen, is_late)
            if len(chosen) and not (is_late and self.low is not None):
                self.net.add(dataset, chosen, is_late)

    def end(self) -> None:
        """No more changes come."""
        if self.later:
            self.net.late.empty()

    def _is_late(self, place: Place) -> bool:
        return bool(place[0] > self.point.hexadecimal)

    def _is_within(self, place: Place) -> bool:
        """Whether a drop is one of the changes that count."""
        late = self._is_late(place)
        if self.base is not None and (place[0] > self.base.hexadecimal) == late:
            return False
        return self.low is None or not (late or place[0] <= self.low.hexadecimal)


def _tables(
    request: Request,
    tables: Tables,
    changes: RowChanges,
    point: Point,
    lives: Mapping[str, Life],
    began: Mapping[str, Table],
    begins: Mapping[int, Position],
) -> tuple[dict[str, list[Dataset]], dict[str, TableNet]]:
    """The generations of each table, and the one that it has at a point. ``began``: tables as they
    were before the log; ``begins``: where a table version is none yet, as its name is another's."""
    forms: dict[str, list[Dataset]] = {}
    latest: dict[str, Dataset] = {}
    for version in sorted(request.versions, key=lambda version: (version.created, version.index)):
        name, dataset = tables.identity(version.name), changes.datasets.of(version.index)
        if dataset not in forms.setdefault(name, []):
            forms[name].append(dataset)
        begin = max(version.created, begins.get(version.index, LOWEST))
        if begin > LOWEST and begin.hex().upper() <= point.hexadecimal:
            latest[name] = dataset
    several = any(len(some) > 1 for some in forms.values())
    seen = _seen_forms(changes, tables, forms, lives) if several else {}
    nets = {}
    for name in sorted(forms):
        life = lives.get(name, Life())
        columns = began[name].columns if name in began else None
        if life.begin is not None and name in latest:
            columns = latest[name].table.columns
        form = _form_at(forms[name], seen.get(name, []), point.hexadecimal, life, columns)
        key = tables.key(form)
        early, late = (NetChange(bool(key), ids_part=request.log.ids_part) for _ in range(2))
        nets[name] = TableNet(name, form, key, early, late, forms=forms[name])
    return forms, nets


@dataclass(frozen=True)
class _Seen:
    """A change that shows a ``form`` of a table: of a row, or of its structure."""

    place: Place
    form: Dataset
    of_row: bool


def _form_at(
    forms: Sequence[Dataset],
    seen: Sequence[_Seen],
    position: str,
    life: Life,
    began: Sequence[Column] | None,
) -> Dataset:
    """The generation of a table at a position: the last one that a change of that table (in its
    ``life``) showed up to there, or the one that the first change after it has (or alters: the
    columns with which it ``began``)."""
    if len(forms) == 1:
        return forms[0]
    mine = [one for one in seen if life.has(one.place)]
    before = [one for one in mine if one.place[0] <= position]
    if before:
        return before[-1].form
    # what is made there begins with a change of structure
    if mine and (mine[0].of_row or life.begin is not None):
        return mine[0].form
    alike = [form for form in forms if form.table.columns == began]
    return (alike or list(forms))[0]


def _seen_forms(
    changes: RowChanges,
    tables: Tables,
    forms: Mapping[str, Sequence[Dataset]],
    lives: Mapping[str, Life],
) -> dict[str, list[_Seen]]:
    """Where each generation of a table shows first and last in the log and in each of the tables of
    its name, in order."""
    seen = defaultdict[str, list[_Seen]](list)
    for dataset, rows in changes.tables(has_rows):
        name = tables.identity(f"{dataset.table.schema}.{dataset.table.name}")
        drops = lives.get(name, Life()).drops
        starts = sorted({0, len(rows), *(int(rows_before(rows, drop).sum()) for drop in drops)})
        for at in (at for low, high in pairwise(starts) for at in (low, high - 1)):
            row = rows.slice(at, 1).to_pylist()[0]
            seen[name].append(_Seen(place_in_log(row), dataset, True))
    for place, image in structure_images(changes):
        if drops_table(image):
            continue
        name = tables.identity(f"{image['table_owner']}.{image['table_name']}")
        made = json.loads(image["definition"])
        names = [column["name"] for column in made["columns"]]
        alike = [
            form
            for form in forms.get(name, ())
            if [column.name for column in form.table.columns] == names
        ]
        # a statement may leave out what the catalog has
        same = [form for form in alike if definition_of(form.table) == made]
        seen[name] += (_Seen(place, form, False) for form in same or alike)
    return {name: sorted(mine, key=lambda one: one.place) for name, mine in seen.items()}


def _is_before(
    nets: Mapping[str, TableNet],
    rows: Mapping[str, pa.Array],
    base: Position | None,
    point: Point,
    initial_at: str | None,
) -> bool:
    """Whether a known state lies before the changes that are to be put on it."""
    if base is not None:
        return base <= point.position
    if initial_at is not None:
        return initial_at.lower() == "before"
    wrong: dict[str, list[str]] = {"begin": [], "end": []}
    for name, net in nets.items():
        whole = net.whole()
        for side, change in (("begin", whole.rows_before()), ("end", whole.rows())):
            if change is not None:
                wrong[side] += [
                    f"{name} {text}" for text in differing(net, rows[name], change, side)
                ]
    if wrong["begin"] and wrong["end"]:
        for net in nets.values():  # rows under another name are none of these
            net.one_meaning((False, True))
            if net.added and (net.early.parts or net.late.parts):
                raise net.unlike_null()
        raise InputError(
            "LR2036",
            "found a state that is neither the one before the log nor the one after it: before it,"
            f" {wrong['begin'][0]}; after it, {wrong['end'][0]}; expected one of the two",
            hint="Say where it stands with --initial-at, or give the logs that lead up to it",
        )
    return not wrong["begin"]


@dataclass(frozen=True)
class Differences:
    """How two points differ: ``rows`` (:func:`replay.reports.rows_at.differences`)."""

    low: Point
    high: Point
    rows: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    damaged: bool = False


def difference_of(
    asked: Asked, one: str, other: str, selection: Selection, marks: str | None = None
) -> Differences:
    """How the rows of the selected tables at the point ``other`` differ from those at ``one``; from
    the log alone, exactly. Errors as :func:`state_of`."""
    if asked.mapping is not None:
        raise UsageError("LR1001", "found --mapping with --diff; expected --at, or history")
    low, high = point_of(asked, one, marks), point_of(asked, other, marks)
    back = low.position > high.position
    if back:
        low, high = high, low
    changes = _nets(asked, selection, high, None, low)
    nets, notes = changes.nets, changes.notes
    rows: list[Mapping[str, Any]] = []
    for net in nets.values():
        net.one_meaning(net.beyond - {True})
        if back and net.early.emptied:
            raise UsageError(
                "LR1001",
                f"found that {net.name} was emptied between the points; expected the earlier one"
                " first",
            )
        rows += [_turned(row) if back else row for row in differences(net)]
        notes += net.notes
    ends = (high, low) if back else (low, high)
    warnings = (*low.outside, *high.outside, *changes.warnings)
    return Differences(*ends, tuple(rows), warnings, tuple(notes), changes.damaged)


def _turned(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A difference seen from the other end."""
    kinds = {"insert": "delete", "delete": "insert"}
    changed = {name: [new, old] for name, (old, new) in row["changed"].items()}
    return {
        **row,
        "change": kinds.get(row["change"], row["change"]),
        "changed": changed,
        "before": row["after"],
        "after": row["before"],
    }


def difference_report(differences: Differences) -> Report:
    """How two points differ, as a report: totals by table, then every row."""
    counts: dict[str, dict[str, int]] = {}
    for row in differences.rows:
        kinds = counts.setdefault(row["table"], {})
        kinds[row["change"]] = kinds.get(row["change"], 0) + 1
    ends = f"{differences.high.text} from {differences.low.text}"
    title = f"what differs at {ends}: {counted(len(differences.rows), 'row')}"
    rows = [{**row, "changed": dict(row["changed"])} for row in differences.rows]
    reason = "" if rows else "nothing found: the log changes no row between the points"
    return Report(
        "state diff",
        title,
        ("table", "change", "key", "changed"),
        [{**row, "key": row["key"] or row.get("after") or row.get("before") or {}} for row in rows],
        counts,
        differences.notes,
        differences.warnings,
        reason,
        {
            "from": {"at": differences.low.text, "commit_lrsn": differences.low.hexadecimal},
            "to": {"at": differences.high.text, "commit_lrsn": differences.high.hexadecimal},
            "differences": rows,
        },
        damaged=differences.damaged,
        from_log=frozenset(counts),
    )
