"""From a kind of report and a selection to the report: which passes over the log it takes."""

from __future__ import annotations

import glob
from dataclasses import replace
from typing import Any

import pyarrow as pa

from replay.changes.catalog import shown_name
from replay.changes.position import Position
from replay.changes.selection import Selection
from replay.errors import UsageError, counted
from replay.pipeline.extent import data_end_early, unknown_units
from replay.pipeline.request import Demand, Request, make_request
from replay.reports.headers import FIRST_COMMIT, LAST_COMMIT, HeaderJob, header_relations
from replay.reports.history import Version
from replay.reports.layout import Report
from replay.reports.log_queries import (
    Asked,
    Tables,
    knows_undone,
    left_out_columns,
    point_of,
    quarantine_warnings,
    row_request,
    row_versions,
    rows_of,
    without_effect,
)
from replay.reports.relations import Relations
from replay.reports.report_kinds import (
    ReportKind,
    ReportOptions,
    catalog,
    counts,
    listed,
    open_units,
    quiet,
)
from replay.reports.undo_commands import undo_words

#: Reports of counts.
_COUNTS = (ReportKind.SUMMARY, ReportKind.WHO)
#: What they take of a change.
_ROW_FACTS = (
    *("op", "commit_lrsn", "commit_time", "urid", "member", "authid", "plan", "correlation_id"),
    *("connection_id", "origin", "fate"),
)
#: Reports that headers are enough for.
_OF_HEADERS = (
    ReportKind.SUMMARY,
    ReportKind.WHO,
    ReportKind.QUIET,
    ReportKind.OPEN,
    ReportKind.CATALOG,
)


def report_of(
    asked: Asked, kind: ReportKind, selection: Selection, options: ReportOptions
) -> Report:
    """A report on what a selection takes. Errors as
    :func:`replay.pipeline.request.make_request`; UsageError (LR1001) for options that do not go
    together."""
    if kind not in _OF_HEADERS:
        return _audit(asked, selection, options)
    if selection.where is not None:
        if kind not in _COUNTS:
            raise UsageError(
                "LR1001",
                f"found --where with report {kind}, which reads record headers only; expected a"
                " selection without values",
                hint="report audit and summary take --where",
            )
        return _by_values(asked, kind, selection, options)
    if kind is ReportKind.OPEN and selection.ends:
        raise UsageError(
            "LR1001",
            f"found {selection.ends[0]} with report open; expected no range: a unit that is open"
            " has no commit in it",
            hint="--at names the point at which units are open; of units without an end all are"
            " listed",
        )
    undone = kind in (ReportKind.QUIET, ReportKind.OPEN)
    shown = selection.include_aborted or (undone and knows_undone(asked.opened))
    request = make_request(
        asked.opened, replace(selection, include_aborted=shown), Demand(), asked.keys
    )
    chosen = request.selection
    if kind is ReportKind.QUIET:  # who commits outside of the range may be open in it
        request = replace(request, selection=chosen.without_ends())
    relations = headers_in(asked, request)
    warnings = [*request.warnings, *relations.warnings]
    if kind in _COUNTS:
        if count := relations.one("SELECT count(*) FROM units WHERE state = 'incomplete'"):
            units = counted(count, "unit is incomplete", "units are incomplete")
            warnings.append(f"{units}: redo quarantines them, and what may depend on them")
        return with_undo(asked, counts(kind, relations, options, warnings))
    if kind is ReportKind.QUIET:
        return quiet(relations, options, warnings, chosen)
    if kind is ReportKind.CATALOG:
        has_structure = _add_statements(asked, selection, relations)
        return catalog(relations, has_structure, options, warnings)
    point = None if options.at is None else point_of(asked, options.at)
    return open_units(relations, options, warnings, point)


def _by_values(
    asked: Asked, kind: ReportKind, selection: Selection, options: ReportOptions
) -> Report:
    """Counts of the changes whose values satisfy a condition; how long their records are is not
    known."""
    changes = rows_of(asked, row_request(asked, selection), False)
    relations = Relations(asked.folder())
    relations.run("header_parts")
    for dataset, rows in changes.tables():
        if dataset.table.schema:
            name = pa.array([shown_name(dataset.table)] * len(rows))
            facts = rows.select([one for one in rows.column_names if one in _ROW_FACTS])
            relations.add("row_facts", facts.append_column("table_name", name))
    changes.close()
    relations.run("row_parts")
    relations.run("headers")
    report = counts(kind, relations, options, quarantine_warnings(changes))
    columns = tuple(name for name in report.columns if name != "bytes")
    totals = {name: value for name, value in report.totals.items() if name != "bytes"}
    report = replace(report, columns=columns, totals=totals, notes=())
    return with_undo(asked, replace(report, damaged=bool(changes.damaged)))


#: Options that name what a line of a report is about, and the fields of a selection.
_OPTIONS = {
    "user": ("--user", "authids"),
    "job": ("--job", "correlations"),
    "plan": ("--plan", "plans"),
    "unit": ("--ur", "units"),
    "table": ("--table", "tables"),
    "connection": ("--connection", "connections"),
}
#: Lines whose undo is proposed.
_PROPOSED = 5


def with_undo(asked: Asked, report: Report) -> Report:
    """The report ``who`` with the command that takes back what each of its first lines is about;
    any other report as it is."""
    if report.kind != ReportKind.WHO:
        return report
    commands = []
    names = [name for name in report.columns if name in _OPTIONS]
    dropped = {_OPTIONS[name][1] for name in names}
    kept = [word for field, words in asked.chosen if field not in dropped for word in words]
    for number, row in enumerate(report.rows[:_PROPOSED], 1):
        if all(row[name] for name in names) and names:
            own = [word for name in names for word in (_OPTIONS[name][0], glob.escape(row[name]))]
            who = " ".join(row[name] for name in names)
            words = undo_words([*kept, *own], f"undo-{number}")
            commands.append((who, asked.command(*words)))
    return replace(report, commands=tuple(commands))


def headers_in(asked: Asked, request: Request) -> Relations:
    """The relations of the pass over the headers that a request takes."""
    plan = request.plan(asked.split_bytes, asked.engine)
    unknown = frozenset(asked.opened.family.capabilities.unknown)
    job = HeaderJob(request.selection, plan.version_taken, unknown)
    log = request.log if asked.mapping is None else asked.shown
    blobs = asked.engine.execute(job, log, plan.splits)
    relations = header_relations(request.log, blobs, asked.folder())
    ends = relations.one(FIRST_COMMIT), relations.one(LAST_COMMIT)
    first, last = (None if end is None else Position.from_hex(end) for end in ends)
    relations.warnings = data_end_early(request.log, first, last, asked.engine)
    if first is None:
        relations.warnings += tuple(unknown_units(request.log, request.selection))
    return relations


def _add_statements(asked: Asked, selection: Selection, relations: Relations) -> bool:
    """Give the words of changes of structure to the relation ``statements``; whether there are
    any."""
    if not asked.log.has_structure:
        return False
    changes = rows_of(asked, row_request(asked, selection), False)
    for dataset, rows in changes.tables():
        if not dataset.table.schema:
            relations.add("structure_parts", rows.select(["log_file", "log_record", "after"]))
    changes.close()
    return bool(relations.one("SELECT count(*) FROM structure_parts"))


def _audit(asked: Asked, selection: Selection, options: ReportOptions) -> Report:
    request = row_request(asked, selection)
    changes = rows_of(asked, request)
    versions = row_versions(changes, Tables(request), asked.log)
    few = changes.tally.statements <= options.most_rows
    ordered = sorted(versions, key=_place) if few else versions
    notes = [*left_out_columns(request), *without_effect(changes)]
    report = listed(ordered, options, notes, quarantine_warnings(changes))
    changes.close()
    return replace(report, damaged=bool(changes.damaged))


def _place(version: Version) -> tuple[Any, ...]:
    facts = version.facts
    return facts["commit_lrsn"], version.unit, facts["log_position"]
