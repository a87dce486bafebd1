"""Tables of a lake (Delta Lake, Apache Iceberg) that follow a log: changes are appended, or merged
so that tables stay equal to the source's.

Each table is moved in one commit, and what it holds of the log is kept with it: the commit position
that it stands at, the source of the log, and the units of recovery that were set aside below that
position. A change is written once, however often a log is given; one that was set aside comes when
a later run brings it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from replay.changes.choices import Late as LateChoice
from replay.changes.position import UnitId
from replay.changes.selection import BY_HEADER
from replay.errors import EXIT_WARNING, Refusal, UsageError, Where
from replay.leftovers import WorkFolder, alone_in
from replay.logs import LogFile
from replay.output.bundle import Bundle, write_bundle
from replay.output.durable import rename_durably
from replay.output.folder_state import proof_in
from replay.output.formats import FACTS, STRUCTURE, Datasets, format_of
from replay.output.initial_load import StateFiles, state_rows
from replay.output.json_file import write_json
from replay.output.lake_changes import ORDER, NetEffect, in_order, net_effect, side_of
from replay.output.lake_columns import conformed, united
from replay.output.lake_late import check_rows
from replay.output.lake_stands import RUNS, Stands
from replay.output.lake_tables import Lake, LakeMark, LakeTable
from replay.output.structure import ColumnMove, column_moves
from replay.pipeline.engine import Engine
from replay.pipeline.plan import Plan
from replay.storage import Place

#: The module of each kind of lake.
LAKES: dict[str, str] = {
    "delta": "replay.output.lake_delta",
    "iceberg": "replay.output.lake_iceberg",
}
#: What limits an export to a part of the changes of its tables.
_LIMITS = (
    *BY_HEADER,
    *("where", "excepted", "include_aborted", "from_position", "from_time"),
)


def write_lake(
    plan: Plan,
    log: LogFile,
    out: Place,
    engine: Engine,
    warnings: list[str] | None,
    late: str = LateChoice.REFUSE,
    **how: Any,
) -> Bundle:
    """Run ``plan``, and append its changes to the tables of the lake ``out``, or merge them
    (``plan.export.merge``). The manifest of the run, and what it sets aside, are kept in
    ``out/_logreplay``. ``late``: what becomes of units that come late.

    UsageError LR1001 for a selection that a lake cannot follow, LR1002 for a folder that is none;
    InputError LR2037 where logs of a run that was killed are missing, LR2039 for units that come
    late; Refusal LR4005 where a table follows another source, LR4006 where a column changed its
    type, LR3013 where a table without a key is to be merged, LR4004 where another run moves the
    tables; else errors as those of :func:`replay.output.bundle.write_bundle`.
    """
    plan = replace(plan, selection=plan.selection.going_on())
    assert plan.export is not None
    out = check_lake(out)
    _check_selection(plan)
    lake: Lake = import_module(LAKES[plan.export.format]).lake_of(out)
    out.mkdir(parents=True, exist_ok=True)
    with closing(lake), _alone(out), WorkFolder(".logreplay-", out) as work:
        folder = Path(work) / "run"
        if plan.export.initial is not None and how.get("state") is None:
            how["state"] = proof_in(Path(plan.export.initial), log)
        stands = Stands.of(out, plan, log)
        late_units = stands.late_units(plan, log, late)
        stand = stands.ended, late_units.skipped
        named = replace(plan, awaited=stands.pending | late_units.taken)
        bundle = write_bundle(named, log, folder, engine, warnings=warnings, stand=stand, **how)
        mark = _mark_of(bundle, log, _what(plan))
        loads = _loads(bundle, plan.export.merge, mark) if mark else iter(())
        if plan.export.initial is not None and mark:
            loads = _with_initial(plan, log, mark, list(loads))
        # a lake from here on, also where a table is refused: its library may have made a catalog
        (out / RUNS).mkdir(exist_ok=True)
        moves = _moves(plan, log) if plan.export.merge else {}
        prepared = []
        for load in loads:
            kept = _behind_drops(lake, load, moves.pop((load.schema, load.name), ()))
            ready = _prepared(lake, kept, late_units.taken)
            prepared += [] if ready is None else [ready]
        for (schema, table), mine in moves.items():
            _check_dropped(lake, schema, table, mine)
        stands.begin(bundle.contents)
        for ready in prepared:
            ready.carry_out()
        manifest = {**bundle.contents, "lake": [load.described for load in prepared]}
        told = [load.warning for load in prepared if load.warning]
        manifest["warnings"] = [*manifest["warnings"], *told]
        code = max(bundle.exit_code, EXIT_WARNING if told else 0)
        manifest["exit_code"] = code
        _keep(folder, manifest, out)
        stands.done()
    return Bundle(out, manifest, bundle.tally, code)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Two runs that begin at the same marks would both append what is new."""
    with alone_in(out) as mine:
        if not mine:
            raise Refusal(
                "LR4004",
                f"found another run that moves the tables in {out}; expected one at a time",
                hint="Run it again when the other one has ended",
            )
        yield


def check_lake(out: Place) -> Path:
    """The folder of a lake. UsageError (LR1002) for a URL or a file, and for a folder that holds
    something else than a lake."""
    if not isinstance(out, Path) or re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(out)):
        raise UsageError("LR1002", f"{out} is a URL; expected a folder of this machine")
    if out.exists() and not out.is_dir():
        raise UsageError("LR1002", f"{out} is a file; --out names a folder")
    if not out.is_dir() or (out / RUNS).is_dir():
        return out
    strange = [path.name for path in out.iterdir() if path.is_file()]
    if strange:
        raise UsageError(
            "LR1002",
            f"{out} holds {min(strange)}, so it is not a lake that logreplay made",
            hint="Name a new folder, or one with tables only",
        )
    return out


def _check_selection(plan: Plan) -> None:
    selection = plan.selection
    limits = [name for name in _LIMITS if getattr(selection, name)] if _merges(plan) else []
    if selection.include_aborted:
        limits = ["include_aborted"]
    if limits:
        option = limits[0].replace("_", "-").removesuffix("s")
        raise UsageError(
            "LR1001",
            f"found a selection by {option}; expected all committed changes of some tables up to a"
            " point, as a lake follows them",
        )


def _merges(plan: Plan) -> bool:
    return plan.export is not None and plan.export.merge


def _what(plan: Plan) -> str:
    """What of a log the tables hold: the selection without tables and ends, and the options."""
    chosen = plan.selection.describe()
    for name in ("tables", "exclude_tables", "until_position", "until_time", "from_position"):
        chosen.pop(name, None)
    chosen.pop("from_time", None)
    options = plan.options.render.describe() | {"names": str(plan.options.names)}
    form = "rows" if _merges(plan) else "changes"
    return json.dumps({"form": form, "selection": chosen, "options": options}, sort_keys=True)


def _keep(run: Path, manifest: Mapping[str, Any], out: Path) -> None:
    """The manifest of the run, and its quarantine, beside those of the runs before it."""
    runs = out / RUNS
    number = sum(path.is_dir() for path in runs.iterdir()) + 1
    while (folder := runs / f"{number:06d}").exists():
        number += 1
    kept = run / "kept"
    kept.mkdir()
    if (run / "quarantine").is_dir():
        shutil.move(run / "quarantine", kept / "quarantine")
    write_json(manifest, kept / "manifest.json")
    rename_durably(kept, folder)


# -- what is to be done for a table
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableLoad:
    """The changes of a run for one table of a lake: ``parts`` of its generations in order, each
    with its key. ``emptied``: the rows from before these changes are gone."""

    schema: str
    name: str
    parts: tuple[pa.Table, ...]
    keys: tuple[tuple[str, ...], ...]
    merge: bool
    mark: LakeMark
    initial: pa.Table | None = None
    emptied: bool = False


def _with_initial(
    plan: Plan, log: LogFile, mark: LakeMark, loads: list[TableLoad]
) -> Iterator[TableLoad]:
    """The loads of all tables that are taken, with their rows from before the log. Errors as those
    of :mod:`replay.output.initial_load`; Refusal LR3001 for a value that Parquet cannot hold."""
    assert plan.export is not None
    assert plan.export.initial is not None
    folder = Path(plan.export.initial)
    form = format_of(plan.export, plan.options.render)
    datasets = Datasets(log.catalog, plan.options.render, form.profile)
    first: dict[str, int] = {}
    for index in np.flatnonzero(plan.version_taken).tolist():
        version = log.catalog.versions[index]
        other = first.setdefault(version.name, index)
        if version.created < log.catalog.versions[other].created:
            first[version.name] = index
    tables = [log.catalog.versions[index].table for index in first.values()]
    every = [version.table for version in log.catalog.versions]
    files = StateFiles(folder).of(tables, every)
    by_name = {(load.schema, load.name): load for load in loads}
    for name, index in sorted(first.items()):
        dataset = datasets.of(index)
        rows = [form.images(dataset, None, None, 0)[0]]
        for part in state_rows(files[name], dataset.table):
            images, problems = form.images(dataset, None, part.after, part.count)
            if problems:
                problem = problems[0]
                raise Refusal(
                    problem.code,
                    f"found {problem.found} in column {problem.column}; expected"
                    f" {problem.expected}",
                    Where(str(files[name]), table=name),
                    problem.hint,
                )
            rows.append(images)
        schema, _, table = dataset.name.partition("@")[0].rpartition(".")
        spelled = dict(zip((column.name for column in dataset.columns), dataset.names, strict=True))
        load = by_name.pop((schema, table), None) or TableLoad(
            schema,
            table,
            (_no_changes(rows[0]),),
            (tuple(spelled[column] for column in dataset.table.key if column in spelled),),
            True,
            mark,
        )
        yield replace(load, initial=side_of(pa.concat_tables(rows), "after"))


def _moves(plan: Plan, log: LogFile) -> dict[tuple[str, str], list[ColumnMove]]:
    """Where columns, or tables, of a log have other names from a place on, or are dropped, by
    (schema, name) of the tables of the lake that have rows from before it."""
    assert plan.export is not None
    form = format_of(plan.export, plan.options.render)
    datasets = Datasets(log.catalog, plan.options.render, form.profile)
    names: dict[str, tuple[str, str]] = {}
    for index in np.flatnonzero(plan.version_taken).tolist():
        schema, _, table = datasets.of(index).name.partition("@")[0].rpartition(".")
        names[log.catalog.versions[index].name] = schema, table
    moves: dict[tuple[str, str], list[ColumnMove]] = {}
    for move in column_moves(log, plan.selection) if names else ():
        for name in {move.table, move.former} & names.keys():
            moves.setdefault(names[name], []).append(move)
    return moves


def _behind_drops(lake: Lake, load: TableLoad, moves: Sequence[ColumnMove]) -> TableLoad:
    """What is left of a load where the log drops the table: the rows from before that are gone.
    Refusal (LR4006) where a table has rows from before a column, or the table, had its name, for a
    merge puts values by the names of columns; and where one unit drops and changes it."""
    before = lake.table(load.schema, load.name).mark() if moves else None
    new = [move for move in moves if before is None or move.commit > before.position]
    last = max((move.commit for move in new if move.dropped), default="")
    if last and not _has_rows(load, pc.equal, last):
        later = tuple(part.filter(pc.greater(part["commit_lrsn"], last)) for part in load.parts)
        load = replace(load, parts=later, initial=None, emptied=True)
        new = [move for move in new if move.commit > last]
    for move in new:
        known = (before is not None or load.initial is not None) and not load.emptied
        if known or _has_rows(load, pc.less_equal, move.commit):
            raise _moved(move)
    return load


def _check_dropped(lake: Lake, schema: str, name: str, moves: Sequence[ColumnMove]) -> None:
    """Refusal (LR4006) where a table of the lake is dropped in a log without other changes of
    it."""
    before = lake.table(schema, name).mark()
    for move in moves:
        if before is not None and move.dropped and move.commit > before.position:
            raise _moved(move)


def _moved(move: ColumnMove) -> Refusal:
    again = f"another {', '.join(sorted(move.again))} than before"
    return Refusal(
        "LR4006",
        f"found, in the unit that commits at {move.commit}, {move.renamed or again};"
        " expected a table and columns that keep their names and values",
        Where(table=move.table),
        "Begin a new lake behind it, with --initial, or leave the table out (--exclude-table)",
    )


def _has_rows(load: TableLoad, are: Callable[[Any, str], pa.ChunkedArray], commit: str) -> bool:
    """Whether a load has changes whose commits are so beside that one."""
    return any(pc.any(are(part["commit_lrsn"], commit)).as_py() for part in load.parts)


def _no_changes(images: pa.Table) -> pa.Table:
    """No changes of a table, in the form of a dataset."""
    empty = [pa.array([], entry.type) for entry in FACTS]
    return pa.table([*empty, *images.columns], names=[*FACTS.names, *images.column_names])


def _mark_of(bundle: Bundle, log: LogFile, what: str) -> LakeMark | None:
    """What the tables of a run hold then; None where the run takes nothing."""
    position = bundle.contents["last_commit_lrsn"]
    units = {str(unit) for unit in bundle.tally.quarantined_units}
    if "continuation" in bundle.contents:
        units &= bundle.contents["continuation"]["pending"].keys()  # others were taken before
    aside = tuple(sorted(units))
    return None if position is None else LakeMark(position, log.source, what, aside)


def _loads(bundle: Bundle, merge: bool, mark: LakeMark) -> Iterator[TableLoad]:
    by_table: dict[str, list[Mapping[str, Any]]] = {}
    for entry in bundle.contents["datasets"]:
        by_table.setdefault(entry["name"].partition("@")[0], []).append(entry)
    for name, entries in sorted(by_table.items()):
        if merge and name == STRUCTURE.name:
            continue
        parts, keys = [], []
        for entry in sorted(entries, key=lambda entry: int(entry.get("generation", 1))):
            files = [bundle.folder / file["name"] for file in entry["files"]]
            parts.append(pa.concat_tables([pq.ParquetFile(file).read() for file in files]))
            spelled = {one["name"]: one["exported_as"] for one in entry["columns"]}
            keys.append(tuple(spelled[one] for one in entry["key"] if one in spelled))
        schema, _, table = name.rpartition(".")
        yield TableLoad(schema, table, tuple(parts), tuple(keys), merge, mark)


@dataclass(frozen=True)
class PreparedLoad:
    """A load that was checked against its table: nothing but the commit is left."""

    table: LakeTable
    rows: pa.Table
    gone: pa.Table | None
    key: tuple[str, ...]
    empty: bool
    mark: LakeMark
    described: Mapping[str, Any]
    warning: str = ""

    def carry_out(self) -> None:
        """Commit it."""
        if self.gone is not None:
            self.table.merge(self.rows, self.gone, self.key, self.empty, self.mark)
        else:
            self.table.append(self.rows, self.mark)


def merge_batch(rows: pa.Table, path: Path, key: Sequence[str], stream: str, batch: int) -> bool:
    """Bring a Delta table up to the changes of a batch of a stream: ``rows`` with the facts of an
    export and images of one table as structs, whose primary key is ``key``. False where the table
    holds batch number ``batch`` of the ``stream`` (any name that is kept): nothing is written then.

    UsageError LR1001 for rows that are none; Refusal LR3013 without a key, LR4006 where a column
    changed its type, LR2036 for changes that contradict each other; errors of the library where
    the table cannot be read or written.
    """
    lacks = [name for name in (*ORDER, "op", "before", "after") if name not in rows.column_names]
    if lacks or not pa.types.is_struct(rows.schema.field("after").type):
        found = f"no column {lacks[0]}" if lacks else "images that are text"
        raise UsageError("LR1001", f"found {found}; expected changes of one table, typed")
    load = TableLoad("", path.name, (rows,), (tuple(key),), True, LakeMark("", "", ""))
    lake = import_module(LAKES["delta"]).lake_of(path.parent)
    table = lake.table("", path.name)
    if table.holds(stream, batch):
        return False
    net = net_effect(
        path.name, [rows], _one_key(path.name, load), lake.small_integers, table.schema, None
    )
    table.merge_once(net.rows, net.gone, load.keys[0], net.empty, (stream, batch))
    return True


def _prepared(lake: Lake, load: TableLoad, late: Collection[UnitId]) -> PreparedLoad | None:
    """What is left to do for a table; None where it holds all of it. ``late``: units that it lacks
    though they commit below where it stands."""
    table, name = lake.table(load.schema, load.name), f"{load.schema}.{load.name}".strip(".")
    before = table.mark()
    mark, warning = load.mark, ""
    if before is not None:
        _check_mark(name, before, mark)
        first = min((pc.min(part["commit_lrsn"]).as_py() or "" for part in load.parts), default="")
        if first > before.position:
            warning = (
                f"{name} stands at {before.position}, and its first change here is at {first}:"
                " whether changes between them are missing is not known"
            )
        lacks = {*before.set_aside, *map(str, late)}
        before = replace(before, set_aside=tuple(sorted(lacks)))
    parts = [_new_rows(part, before) for part in load.parts]
    count = sum(map(len, parts))
    held = {*mark.set_aside, *(before.set_aside if before else ())}
    delivered = {unit for part in load.parts for unit in _units(part)}
    mark = replace(
        mark,
        position=max(mark.position, before.position if before else ""),
        set_aside=tuple(sorted(held - delivered)),
    )
    if not count and before == mark:
        return None
    described = {
        "table": name,
        "changes": count,
        "changes_already_there": sum(map(len, load.parts)) - count,
        "position": mark.position,
    }
    if not load.merge:
        rows = in_order(united(parts, table.schema, name, lake.small_integers))
        return PreparedLoad(table, rows, None, (), False, mark, described, warning)
    key = _one_key(name, load)
    initial = None if before is not None or table.schema is not None else load.initial
    net = net_effect(name, parts, key, lake.small_integers, table.schema, initial)
    empty = net.empty or load.emptied
    if before is not None and not empty:
        _check_late(name, table, parts, key, net, before)
    described |= {"rows_put": len(net.rows), "rows_removed": len(net.gone), "emptied": empty}
    return PreparedLoad(table, net.rows, net.gone, key, empty, mark, described, warning)


def _one_key(name: str, load: TableLoad) -> tuple[str, ...]:
    keys = set(load.keys)
    if len(keys) != 1 or not load.keys[0]:
        found = "no key" if not load.keys[0] else "a key that changed"
        raise Refusal(
            "LR3013",
            f"found {found}; expected one primary key, by which rows are merged",
            Where(table=name),
            "Leave the table out (--exclude-table), or append its changes (without --merge)",
        )
    return load.keys[0]


def _check_late(
    name: str,
    table: LakeTable,
    parts: Sequence[pa.Table],
    key: Sequence[str],
    net: NetEffect,
    before: LakeMark,
) -> None:
    """Refusal LR4002 where rows that late units changed are not as these found them."""
    late = [part.filter(pc.less_equal(part["commit_lrsn"], before.position)) for part in parts]
    units = {unit for part in late for unit in _units(part)}
    if units:
        sides = [side_of(part, side) for part in late for side in ("before", "after") if len(part)]
        kinds = net.went.select(list(key)).schema
        keys = pa.concat_tables([conformed(rows.select(list(key)), kinds) for rows in sides])
        check_rows(name, table.rows_of(keys), net.went, net.rows, keys, units)


def _check_mark(name: str, before: LakeMark, mark: LakeMark) -> None:
    if before.source != mark.source or before.what != mark.what:
        other = "source" if before.source != mark.source else "what"
        found, expected = getattr(mark, other), getattr(before, other)
        raise Refusal(
            "LR4005",
            f"found a run of {found}; expected {expected}, as this table was made",
            Where(table=name),
            "Use another folder for other logs, selections or options",
        )


def _units_of(part: pa.Table) -> pa.ChunkedArray:
    """The unit of each row as messages spell it."""
    member = pc.fill_null(part["member"], 0).cast(pa.string())
    return pc.binary_join_element_wise(part["urid"], member, "/")


def _units(part: pa.Table) -> list[str]:
    """The units of the rows."""
    return [str(unit) for unit in pc.unique(_units_of(part)).to_pylist()]


def _new_rows(part: pa.Table, before: LakeMark | None) -> pa.Table:
    """The rows that a table does not hold."""
    if before is None:
        return part
    new = pc.greater(part["commit_lrsn"], before.position)
    if before.set_aside:
        new = pc.or_(new, pc.is_in(_units_of(part), pa.array(before.set_aside)))
    return part.filter(new)
