"""The commands that answer questions: the life of a row, the rows at a moment, reports, and what a
code means. Arguments in, text and exit code out."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from replay.changes.choices import Mode
from replay.changes.keywords import chosen_units
from replay.changes.selection import Selection
from replay.cli.manual import completion, man_pages
from replay.cli.outcome import check_file, tell_notes
from replay.cli.progress import Bar
from replay.cli.request import LogInput, selection_of
from replay.dependencies.analysis import DependencyAnalysis
from replay.dependencies.baseline import state_differences
from replay.dependencies.cascade import consequences
from replay.dependencies.key_spaces import KeySpaces
from replay.errors import EXIT_OK, EXIT_WARNING, InputError, Refusal, UsageError
from replay.live import certificate
from replay.live.target_state import baseline_of
from replay.logs import source_named
from replay.logs.words import said_of
from replay.output.state_files import TableRows, state_csv, write_state
from replay.output.whole_folder import check_output
from replay.pipeline.request import Demand, usage_errors
from replay.public import command as command_line
from replay.public import public
from replay.reports.ask import Asked, history_of
from replay.reports.doctor import (
    closed_report,
    compared_reports,
    doctor_report,
    doctor_text,
    read_report,
    report_exit_code,
)
from replay.reports.explanations import all_codes, explanation
from replay.reports.history import COLUMNS, history_rows, history_text
from replay.reports.images import shown_value
from replay.reports.kinds import GroupBy, ReportKind, ReportOptions, seconds_of
from replay.reports.layout import (
    Report,
    ReportFormat,
    TimeStyle,
    csv_text,
    table_lines,
    written,
)
from replay.reports.make import report_of
from replay.reports.page import page_html, page_of
from replay.reports.sql import Answer, relations_of
from replay.reports.sql import answer_of as answer_of_query
from replay.reports.state_load import load_rows
from replay.reports.states import (
    ONLY_KNOWN,
    State,
    difference_of,
    difference_report,
    state_of,
)
from replay.reports.what_if import COLUMNS as WHAT_IF_COLUMNS
from replay.reports.what_if import answer_of, what_if_text
from replay.storage import is_database, read_text
from replay.storage.durable import write_file
from replay.temp_folders import WorkFolder
from sqlgen.errors import choice


@contextmanager
def asked_log(arguments: argparse.Namespace) -> Iterator[Asked]:
    """The log that arguments name, to be asked; temporary files are gone afterwards."""
    with WorkFolder() as scratch, Bar(sys.stderr) as progress:

        def folder() -> Path:
            return Path(tempfile.mkdtemp(dir=scratch))

        reading = LogInput.of(arguments)
        opened = reading.open(scratch)
        yield Asked(
            opened,
            reading.engine_for(opened.log, progress),
            folder,
            reading.split_bytes,
            reading.keys(),
            reading.words(),
            getattr(arguments, "marks", None),
        )


def tell(arguments: argparse.Namespace, text: str) -> None:
    """Write what was asked for to ``--out``, or print it."""
    if arguments.out is None or str(arguments.out) == "-":
        sys.stdout.write(text)
    else:
        write_file(arguments.out, text)
        print(f"written to {arguments.out}")


def tell_beside(warnings: Sequence[str], reason: str = "", clean: bool = False) -> None:
    """Say on standard error what CSV has no room for: the warnings, and why there is no row (a
    warning too, unless that is good news)."""
    for line in warnings:
        print(f"warning: {line}", file=sys.stderr)
    if reason:
        print(f"{'note' if clean else 'warning'}: {reason}", file=sys.stderr)


def _history(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    selection = selection_of(arguments)
    with asked_log(arguments) as asked, usage_errors():
        history = history_of(asked, selection, arguments.key, selection.include_aborted)
    form = "json" if arguments.json else arguments.format
    if form == "json":
        text = json.dumps(history.describe(), indent=1, ensure_ascii=False) + "\n"
    elif form == "csv":
        text = csv_text(COLUMNS, history_rows(history))
    else:
        text = history_text(history, arguments.whole) + "\n"
    tell(arguments, text)
    if form == "csv":
        tell_beside(history.warnings, history.reason)
    return history.exit_code


def _sql(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    form, out = arguments.format, arguments.out
    if form == "parquet" and (out is None or str(out) == "-"):
        raise UsageError("LR1001", "found --format parquet without --out; expected a file")
    selection, query = selection_of(arguments), _query_of(arguments)
    with asked_log(arguments) as asked, usage_errors():
        if query is None:
            columns = ("relation", "column", "type")
            lines = [dict(zip(columns, line, strict=True)) for line in relations_of(asked)]
            answer = Answer(pa.Table.from_pylist(lines), ())
        else:
            answer = answer_of_query(asked, selection, query)
    tell_beside(answer.warnings)
    if form == "parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(answer.rows, sink)
        write_file(out, sink.getvalue().to_pybytes())
        print(f"written to {out}")
    else:
        names = answer.rows.column_names
        values = [column.to_pylist(maps_as_pydicts="strict") for column in answer.rows.columns]
        rows = [
            {name: shown_value(value) for name, value in zip(names, row, strict=True)}
            for row in zip(*values, strict=True)
        ]
        if form == "json":
            text = json.dumps(rows, indent=1, ensure_ascii=False, default=str) + "\n"
        elif form == "csv":
            text = csv_text(names, rows)
        else:
            text = "\n".join(table_lines(names, rows)) + "\n"
        tell(arguments, text)
    return EXIT_WARNING if answer.warnings else EXIT_OK


def _query_of(arguments: argparse.Namespace) -> str | None:
    """The query that is given, in a file, or on standard input."""
    if arguments.query_file is not None:
        if arguments.query is not None:
            raise UsageError("LR1001", "found --query and --file; expected one of them")
        return read_text(arguments.query_file)
    return sys.stdin.read() if arguments.query == "-" else arguments.query


def _whatif(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    reading = LogInput.of(arguments)
    selection = replace(
        chosen_units(arguments.without),
        columns=arguments.columns,
        exclude_columns=arguments.exclude_columns,
    )
    with WorkFolder() as scratch:
        demand = Demand(dependencies=True, baseline=arguments.baseline)
        request = reading.request(scratch, demand, selection)
        tell_notes(request.notes)
        warnings = list(request.warnings)
        with Bar(sys.stderr) as progress, baseline_of(request) as state:
            engine = reading.engine_for(request.log, progress)
            plan = replace(request, mode=Mode.UNDO).plan(reading.split_bytes, engine)
            spaces = KeySpaces(request.log.catalog, request.constraints)
            analysis = DependencyAnalysis(engine.execute, request.log, plan.splits, spaces)

            def command(name: str, *words: str) -> str:
                words = (*words[:-2], *column_words(selection), *words[-2:])
                return command_line(name, *reading.words(), *words)

            differences = None
            if state is not None:
                differences = state_differences(analysis, state, True, plan.version_taken)
                warnings += differences.warnings()
            dependents = consequences(analysis, plan)
            warnings += dependents.subgraph.survey.warnings()
            answer = answer_of(
                dependents,
                warnings,
                command,
                [without_text(kind, value) for kind, value in arguments.without],
            )
            if differences is not None:
                answer["baseline"] = differences.describe()
    if not answer["without"]:
        unread = dependents.subgraph.survey.unread_units()
        raise UsageError(
            "LR1004",
            "--without names no unit of recovery whose changes took effect in this log"
            + (
                f", as far as it can be read: not read are changes of unit(s) {unread}"
                * bool(unread)
            ),
        )
    form = "json" if arguments.json else arguments.format
    if form == "json":
        text = json.dumps(answer, indent=1, ensure_ascii=False) + "\n"
    elif form == "csv":
        text = csv_text(WHAT_IF_COLUMNS, answer["dependents"])
    else:
        said = what_if_text(answer, arguments.tree, arguments.all)
        text = said_of(arguments.source, said) + "\n"
    tell(arguments, text)
    if form == "csv":
        tell_beside(warnings)
    return EXIT_WARNING if warnings else EXIT_OK


def column_words(selection: Selection) -> list[str]:
    """The columns of a selection as options."""
    words = [word for glob in selection.columns for word in ("--columns", glob)]
    return words + [w for glob in selection.exclude_columns for w in ("--exclude-columns", glob)]


def without_text(kind: str, value: Any) -> str:
    """A value of ``--without`` or ``--except`` as it was typed."""
    if kind != "units":
        return f"{kind.removesuffix('s')}={value}"
    urid, member = value
    return str(urid.hex().upper()) + ("" if member is None else f"/{member}")


def _state(arguments: argparse.Namespace) -> int:
    selection = selection_of(arguments)
    form = "json" if arguments.json else arguments.format
    if arguments.diff is not None:
        return _difference(arguments, selection, form or "text")
    if form not in (None, "parquet", "csv"):
        raise UsageError("LR1001", f"found --format {form} with --at; expected parquet or csv")
    printed = arguments.to is None and (arguments.out is None or str(arguments.out) == "-")
    if printed and form == "parquet":
        raise UsageError("LR1001", "found --format parquet without --out; expected a folder")
    if not printed and arguments.out is not None:
        check_output(arguments.out, arguments.overwrite)
    with asked_log(arguments) as asked, usage_errors():
        state = state_of(asked, arguments.at, selection, arguments.initial, arguments.initial_at)
        lines = [f"note: {note}" for note in state.notes]
        lines += [f"warning: {warning}" for warning in state.warnings]
        lines += [] if state.complete else [f"warning: {ONLY_KNOWN}"]
        if printed and len(state.tables) > 1:
            names = ", ".join(table_name(table) for table in state.tables[:20])
            raise UsageError(
                "LR1001",
                f"found {len(state.tables)} tables and no --out; expected a folder for them",
                hint=f"Name a folder with --out, or one table with --table: {names}",
            )
        lines += [] if printed else _kept(arguments, state, form or "parquet")
    for table in state.tables if printed else ():
        sys.stdout.write(state_csv(table))
    for line in lines:
        print(line, file=sys.stderr if printed else sys.stdout)
    return state.exit_code


def _kept(arguments: argparse.Namespace, state: State, form: str) -> list[str]:
    """Write a state to where it shall go, and say so."""
    counts = [{"table": table_name(table), "rows": len(table.rows)} for table in state.tables]
    lines = table_lines(("table", "rows"), counts)
    if arguments.out is not None:
        write_state(state.tables, arguments.out, form, state.about(), arguments.overwrite)
        lines.append(f"the rows at {state.at.text} are in {arguments.out}")
    if arguments.to is not None:
        rows = load_rows(arguments.to, state.tables)
        lines.append(f"{rows:,} rows are in {public(arguments.to)}")
    return lines


def table_name(table: TableRows) -> str:
    """OWNER.NAME of a table of a state."""
    return f"{table.dataset.table.schema}.{table.dataset.table.name}"


def _difference(arguments: argparse.Namespace, selection: Selection, form: str) -> int:
    if form == "parquet":
        raise UsageError("LR1001", "found --format parquet with --diff; expected text, json or csv")
    check_file(arguments.out, arguments.overwrite)
    url = next((one for one in (arguments.initial, arguments.to) if one and is_database(one)), None)
    one, other = arguments.diff
    with asked_log(arguments) as asked, usage_errors():
        differences = difference_of(asked, one, other, selection, url)
    return _told(arguments, difference_report(differences), ReportFormat(form), TimeStyle.ISO)


def _page(arguments: argparse.Namespace, selection: Selection) -> int:
    """One page about the selected work, or (``--format json``) what it shows."""
    form = "json" if arguments.json else arguments.format or "html"
    if form not in ("html", "json"):
        raise UsageError("LR1001", f"found --format {form} with report page; expected html or json")
    with asked_log(arguments) as asked, usage_errors():
        page = page_of(asked, selection, arguments.max_rows)
    html = form == "html"
    tell(arguments, page_html(page) if html else json.dumps(page, ensure_ascii=False) + "\n")
    for warning in page["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    for note in page["notes"]:
        print(f"note: {note}", file=sys.stderr)
    return EXIT_OK if page["units"]["name"] and not page["warnings"] else EXIT_WARNING


def _report(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    selection = selection_of(arguments)
    if arguments.kind == "page":
        return _page(arguments, selection)
    with usage_errors():
        options = ReportOptions(
            tuple(choice(GroupBy, name, "--group-by") for name in _names(arguments.group_by)),
            _names(arguments.shown),
            arguments.top,
            None if arguments.min is None else seconds_of(arguments.min),
            arguments.max_open,
            arguments.max_rows,
            arguments.at,
        )
    with asked_log(arguments) as asked, usage_errors():
        report = report_of(asked, ReportKind(arguments.kind), selection, options)
    form = ReportFormat("json" if arguments.json else arguments.format or "text")
    return _told(arguments, report, form, TimeStyle(arguments.times))


def _told(
    arguments: argparse.Namespace, report: Report, form: ReportFormat, style: TimeStyle
) -> int:
    """Write a report to where it shall go; its exit code."""
    tell(arguments, written(report, form, style))
    if form is ReportFormat.CSV:
        tell_beside(report.warnings, report.reason, report.clean)
    return report.exit_code


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    """Names with commas between, in one or several options."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _completion(arguments: argparse.Namespace) -> int:
    sys.stdout.write(completion(arguments.shell))
    return EXIT_OK


def _explain(arguments: argparse.Namespace) -> int:
    texts = [explanation(code) for code in arguments.code] or [all_codes()]
    print("\n\n".join(texts))
    return EXIT_OK


def _docs(arguments: argparse.Namespace) -> int:
    if arguments.man is not None:
        arguments.man.mkdir(parents=True, exist_ok=True)
        for name, text in man_pages().items():
            write_file(arguments.man / name, text)
        print(
            f"man pages are in {arguments.man}; show one with: man -l {arguments.man}/logreplay.1"
        )
        return EXIT_OK
    page = Path(__file__).resolve().parents[1] / "site" / "index.html"
    if not page.is_file():
        raise UsageError(
            "LR1005",
            "found no built documentation; expected it beside the program",
            hint="scripts/run docs builds it; its sources are in replay/docs",
        )
    print(page)
    if not arguments.no_browser:
        webbrowser.open(page.as_uri())
    return EXIT_OK


def _doctor(arguments: argparse.Namespace) -> int:
    if arguments.compare is not None:
        lines, code = compared_reports(*map(read_report, arguments.compare))
        print("\n".join(lines) if lines else "both logs are of one kind and exercise the same")
        return code
    printed = arguments.out is not None and str(arguments.out) == "-"
    if printed and arguments.sign_key is not None:
        raise UsageError("LR1001", "found --sign-key with --out -; expected a file to sign")
    out = None if printed else arguments.out
    check_file(out, arguments.overwrite)
    with WorkFolder() as scratch:
        try:
            opened = LogInput.of(arguments).open(scratch)
        except (InputError, Refusal) as error:
            print(f"logreplay: {error}", file=sys.stderr)
            family = source_named(arguments.source)
            files = [*arguments.control, *arguments.data, *arguments.log, arguments.catalog]
            report = closed_report(family.name, [name for name in files if name], error)
        else:
            family = opened.family
            report = doctor_report(family, opened.log)
    if out is not None:
        certificate.write(report, out, arguments.sign_key)
    if arguments.json or printed:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print(doctor_text(family, report))
        if out is not None:
            print(f"written to {out}")
    return report_exit_code(report)


LOOKS: dict[str, Callable[[argparse.Namespace], int]] = {
    "history": _history,
    "sql": _sql,
    "whatif": _whatif,
    "state": _state,
    "explain": _explain,
    "doctor": _doctor,
    "docs": _docs,
    "report": _report,
    "completion": _completion,
}
