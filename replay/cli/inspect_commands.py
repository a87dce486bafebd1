"""The commands that look and ask: what is in a log and whether it agrees with itself, the life of a
row, the rows at a point, reports, and what a code means. Arguments in, text and exit code out."""

from __future__ import annotations

import argparse
import json
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from replay.changes.choices import Mode
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.manual import completion, man_pages
from replay.cli.outcome import (
    check_file,
    check_folder,
    is_printed,
    tell_beside,
    tell_notes,
)
from replay.cli.outcome import tell as tell_line
from replay.cli.request import LogInput, asked_log, selection_of
from replay.cli.terminal import Bar, show
from replay.errors import (
    EXIT_ERROR,
    EXIT_OK,
    EXIT_UNUSABLE,
    EXIT_WARNING,
    InputError,
    Refusal,
    UsageError,
    counted,
    usage_errors,
)
from replay.logs import source_named
from replay.logs.words import said_of
from replay.pipeline.extent import refuse_other_run
from replay.pipeline.request import Demand, OpenLog, make_request
from replay.redaction import public
from replay.storage import is_database, read_text
from replay.storage.durable import write_file
from replay.temp_folders import WorkFolder
from sqlgen.errors import choice
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints

if TYPE_CHECKING:
    from replay.output.bundle import Bundle

with when_used():  # what some commands alone need
    import pyarrow as pa
    from pyarrow import parquet as pq

    from replay import writable
    from replay.cli import demo as demonstration
    from replay.dependencies import log_check
    from replay.live import certificate
    from replay.output import state_files
    from replay.reports import (
        doctor,
        explanations,
        graph,
        history,
        html_page,
        images,
        layout,
        log_queries,
        make_report,
        report_kinds,
        sql,
        state_load,
        states,
        what_if,
    )


def tell(arguments: argparse.Namespace, text: str) -> None:
    """Write what was asked for to ``--out``, or print it: then the warnings that a text begins with
    go to standard error."""
    if arguments.out is None or str(arguments.out) == "-":
        while text.startswith("warning: "):
            line, _, text = text.partition("\n")
            print(line, file=sys.stderr)
        show(text)
    else:
        write_file(arguments.out, text)
        print(f"written to {arguments.out}")


def check_place(arguments: argparse.Namespace, usual: str = "text") -> None:
    """Errors as :func:`check_file`; UsageError (LR1001) for a page (in the format that is named,
    else the ``usual`` one) where only its text would be seen."""
    check_file(arguments.out, arguments.overwrite)
    form = arguments.format or usual
    if form == "html" and arguments.out is None and sys.stdout.isatty():
        raise UsageError(
            "LR1001",
            "found a page for a browser without --out on a terminal; expected --out FILE.html",
        )


def _demo(arguments: argparse.Namespace) -> int:
    def generate(mode: str, control: Path, data: Path, out: Path) -> Bundle:
        in_turn = (("control", [str(control)]), ("data", [str(data)]))
        reading = replace(LogInput.of(arguments), in_turn=in_turn)
        with WorkFolder() as scratch, Bar(sys.stderr) as progress:
            demand = Demand(Mode(mode), ScriptOptions())
            keys = Constraints()  # the tables of the demo have none but those of the log
            request = make_request(reading.open(scratch), Selection(), demand, keys)
            engine = reading.engine_for(request.log, progress)
            return writable.Writable(request, engine, reading.split_bytes).write(out)

    if arguments.serve is not None:
        echo = partial(print, flush=True)
        return demonstration.serve(arguments.serve, echo, lambda _: threading.Event().wait())
    return demonstration.run(generate, print, arguments.keep)


def _graph(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    with asked_log(arguments, selection_of(arguments)) as (asked, selection):
        found = graph.graph_of(asked, selection, arguments.back, arguments.max_units)
        drawn, said = found.text(arguments.format), str(found)
    tell_notes(found.notes)
    if printed := is_printed(arguments.out):
        sys.stdout.write(drawn)
    else:
        write_file(arguments.out, drawn)
    tell_beside(found.warnings)
    where = "" if printed else f" in {arguments.out}"
    print(f"{said}{where}", file=sys.stderr if printed else sys.stdout)
    return EXIT_WARNING if found.warnings else EXIT_OK


def _history(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    selection = selection_of(arguments)
    with asked_log(arguments, selection) as (asked, selection):
        found = log_queries.history_of(asked, selection, arguments.key, selection.include_aborted)
    form = arguments.format
    if form == "json":
        text = json.dumps(found.describe(), indent=1, ensure_ascii=False) + "\n"
    elif form == "csv":
        text = layout.csv_text(history.COLUMNS, history.history_rows(found))
    else:
        text = history.history_text(found, arguments.whole) + "\n"
    tell(arguments, text)
    if form == "csv":
        tell_beside(found.warnings, found.reason)
    return found.exit_code


def _sql(arguments: argparse.Namespace) -> int:
    check_file(arguments.out, arguments.overwrite)
    form, out = arguments.format, arguments.out
    if form == "parquet" and (out is None or str(out) == "-"):
        raise UsageError("LR1001", "found --format parquet without --out; expected a file")
    selection, query = selection_of(arguments), _query_of(arguments)
    with asked_log(arguments, selection) as (asked, selection):
        if query is None:
            columns = ("relation", "column", "type")
            lines = [dict(zip(columns, line, strict=True)) for line in sql.relations_of(asked)]
            answer = sql.Answer(pa.Table.from_pylist(lines), ())
        else:
            answer = sql.answer_of(asked, selection, query)
    tell_beside(answer.warnings)
    if answer.note:
        print(f"note: {answer.note}", file=sys.stderr)
    if form == "parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(answer.rows, sink)
        write_file(out, sink.getvalue().to_pybytes())
        print(f"written to {out}")
    else:
        names = answer.rows.column_names
        values = [column.to_pylist(maps_as_pydicts="strict") for column in answer.rows.columns]
        rows = [
            {name: images.shown_value(value) for name, value in zip(names, row, strict=True)}
            for row in zip(*values, strict=True)
        ]
        if form == "json":
            text = json.dumps(rows, indent=1, ensure_ascii=False, default=str) + "\n"
        elif form == "csv":
            text = layout.csv_text(names, rows)
        else:
            text = "\n".join(layout.table_lines(names, rows, as_named=True)) + "\n"
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
    with asked_log(arguments, selection_of(arguments)) as (asked, selection):
        found = what_if.what_if_of(asked, selection, arguments.baseline, arguments.csv)
    tell_notes(found.notes)
    form = arguments.format
    if form == "json":
        text = json.dumps(found.answer, indent=1, ensure_ascii=False) + "\n"
    elif form == "csv":
        text = layout.csv_text(what_if.COLUMNS, found.answer["dependents"])
    else:
        said = what_if.what_if_text(found.answer, arguments.all)
        text = said_of(arguments.source, said) + "\n"
    tell(arguments, text)
    if form == "csv":
        tell_beside(found.warnings)
    return EXIT_WARNING if found.warnings else EXIT_OK


def _state(arguments: argparse.Namespace) -> int:
    selection = selection_of(arguments)
    form = arguments.format
    if arguments.diff is not None:
        return _difference(arguments, selection, form or "text")
    if form not in (None, "parquet", "csv"):
        raise UsageError("LR1001", f"found --format {form} with --at; expected parquet or csv")
    printed = arguments.to is None and (arguments.out is None or str(arguments.out) == "-")
    if printed and form == "parquet":
        raise UsageError("LR1001", "found --format parquet without --out; expected a folder")
    if not printed and arguments.out is not None:
        check_folder(arguments.out, arguments.overwrite)
    with asked_log(arguments, selection) as (asked, selection):
        state = states.state_of(
            asked,
            arguments.at,
            selection,
            arguments.initial,
            arguments.initial_at,
            arguments.csv,
            arguments.key,
            arguments.to,
        )
        lines = [f"note: {note}" for note in state.notes]
        lines += [f"warning: {warning}" for warning in state.warnings]
        if printed and len(state.tables) > 1:
            names = ", ".join(table_name(table) for table in state.tables[:20])
            raise UsageError(
                "LR1001",
                f"found {len(state.tables)} tables and no --out; expected a folder for them",
                hint=f"Name a folder with --out, or one table with --table: {names}",
            )
        lines += [] if printed else _kept(arguments, state, form or "parquet")
    for table in state.tables if printed else ():
        sys.stdout.write(state_files.state_csv(table))
    for line in lines:
        print(line, file=sys.stderr) if printed else tell_line(line)
    return state.exit_code


def _kept(arguments: argparse.Namespace, state: states.State, form: str) -> list[str]:
    """Write a state to where it shall go, and say so."""
    counts = [{"table": table_name(table), "rows": len(table.rows)} for table in state.tables]
    lines = layout.table_lines(("table", "rows"), counts)
    if arguments.out is not None:
        state_files.write_state(
            state.tables, arguments.out, form, state.about(), arguments.overwrite
        )
        lines.append(f"the rows at {state.at.text} are in {arguments.out}")
    if arguments.to is not None:
        rows = state_load.load_rows(arguments.to, state.tables)
        lines.append(f"{counted(rows, 'row is', 'rows are')} in {public(arguments.to)}")
    return lines


def table_name(table: state_files.TableRows) -> str:
    """OWNER.NAME of a table of a state."""
    return f"{table.dataset.table.schema}.{table.dataset.table.name}"


def _difference(arguments: argparse.Namespace, selection: Selection, form: str) -> int:
    if form == "parquet":
        raise UsageError("LR1001", "found --format parquet with --diff; expected text, json or csv")
    check_file(arguments.out, arguments.overwrite)
    url = next((one for one in (arguments.initial, arguments.to) if one and is_database(one)), None)
    one, other = arguments.diff
    with asked_log(arguments, selection) as (asked, selection):
        differences = states.difference_of(asked, one, other, selection, url)
    return _told(arguments, states.difference_report(differences), layout.ReportFormat(form))


def _page(arguments: argparse.Namespace, selection: Selection) -> int:
    """One page about the selected work, or (``--format json``) what it shows."""
    form = arguments.format or "html"
    if form not in ("html", "json"):
        raise UsageError("LR1001", f"found --format {form} with report page; expected html or json")
    with asked_log(arguments, selection) as (asked, selection):
        shown = html_page.page_of(asked, selection, arguments.max_rows)
    html = form == "html"
    tell(
        arguments,
        html_page.page_html(shown) if html else json.dumps(shown, ensure_ascii=False) + "\n",
    )
    tell_beside(shown["warnings"])
    tell_notes(shown["notes"])
    return EXIT_OK if shown["units"]["name"] and not shown["warnings"] else EXIT_WARNING


def _report(arguments: argparse.Namespace) -> int:
    check_place(arguments, "html" if arguments.kind == "page" else "text")
    selection = selection_of(arguments)
    if arguments.kind == "page":
        return _page(arguments, selection)
    with usage_errors():
        options = report_kinds.ReportOptions(
            tuple(
                choice(report_kinds.GroupBy, name, "--group-by")
                for name in _names(arguments.group_by)
            ),
            _names(arguments.shown),
            None if arguments.min is None else report_kinds.seconds_of(arguments.min),
            arguments.max_open,
            arguments.max_rows,
            arguments.at,
        )
    with asked_log(arguments, selection) as (asked, selection):
        report = make_report.report_of(
            asked, report_kinds.ReportKind(arguments.kind), selection, options
        )
    form = layout.ReportFormat(arguments.format or "text")
    return _told(arguments, report, form)


def _who(arguments: argparse.Namespace) -> int:
    check_place(arguments)
    selection = selection_of(arguments)
    groups = tuple(
        choice(report_kinds.GroupBy, name, "--group-by") for name in _names(arguments.group_by)
    )
    with asked_log(arguments, selection) as (asked, selection):
        kind, options = report_kinds.ReportKind.WHO, report_kinds.ReportOptions(groups)
        report = make_report.report_of(asked, kind, selection, options)
    form = layout.ReportFormat(arguments.format)
    return _told(arguments, report, form)


def _told(arguments: argparse.Namespace, report: layout.Report, form: layout.ReportFormat) -> int:
    """Write a report to where it shall go; its exit code."""
    tell(arguments, layout.written(report, form))
    if form is layout.ReportFormat.CSV:
        tell_beside(report.warnings, report.reason)
    return report.exit_code


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    """Names with commas between, in one or several options."""
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _completion(arguments: argparse.Namespace) -> int:
    sys.stdout.write(completion(arguments.shell))
    return EXIT_OK


def _explain(arguments: argparse.Namespace) -> int:
    texts = [explanations.explanation(code) for code in arguments.code] or [
        explanations.all_codes()
    ]
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
    program = Path(__file__).resolve().parents[1]
    index = program / "site" / "index.html"
    if not index.is_file():
        print(program / "docs" / "index.md")
        print("note: these are the sources; scripts/run docs makes a site of them", file=sys.stderr)
        return EXIT_OK
    print(index)
    if not arguments.no_browser:
        webbrowser.open(index.as_uri())
    return EXIT_OK


def _doctor(arguments: argparse.Namespace) -> int:
    printed = arguments.out is not None and str(arguments.out) == "-"
    if printed and arguments.sign_key is not None:
        raise UsageError("LR1001", "found --sign-key with --out -; expected a file to sign")
    out = None if printed else arguments.out
    check_file(out, arguments.overwrite)
    with WorkFolder() as scratch:
        try:
            opened = LogInput.of(arguments).open(scratch)
            refuse_other_run(opened.log)
        except (InputError, Refusal) as error:
            print(f"logreplay: {error}", file=sys.stderr)
            family = source_named(arguments.source)
            files = [*arguments.control, *arguments.data, *arguments.log, arguments.catalog]
            report = doctor.closed_report(family.name, [name for name in files if name], error)
        else:
            family = opened.family
            report = doctor.doctor_report(family, opened.log)
    if out is not None:
        certificate.write(report, out, arguments.sign_key)
    if arguments.json or printed:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print(doctor.doctor_text(family, report))
        if out is not None:
            print(f"written to {out}")
    return doctor.report_exit_code(report)


def _inspect(arguments: argparse.Namespace) -> int:
    reading = LogInput.of(arguments)
    with WorkFolder() as scratch:
        opened = reading.open(scratch)
        family, log = opened.family, opened.log
        if arguments.record is not None and arguments.json:
            raise UsageError(
                "LR1001",
                "found --record with --json; expected one of them: a record is shown as text",
            )
        if arguments.record is not None:
            for line in family.dump_record(log, arguments.record, arguments.file, arguments.hex):
                print(line)
            return EXIT_OK
        with Bar(sys.stderr) as progress:
            refuse_other_run(log, reading.engine_for(log, progress), reading.split_bytes)
        description = family.description(log)
        checked = _agreement(reading, opened) if arguments.deep else None
    code, values = description.exit_code, dict(description.values)
    if checked is not None:
        code = max(code, checked.exit_code)
        values |= {"agreement": checked.describe(), "exit_code": code}
    print(
        json.dumps(values, indent=1, ensure_ascii=False) if arguments.json else description.text()
    )
    if checked is not None and not arguments.json:
        print(f"\n{checked}")
    if description.exit_code in _FOUND:
        tell_beside([f"found {_FOUND[description.exit_code]}; the description lists them"])
    return code


#: What an exit code of a description comes from.
_FOUND = {
    EXIT_WARNING: "warnings",
    EXIT_ERROR: "damaged records",
    EXIT_UNUSABLE: "files that cannot be read to their end",
}


def _agreement(
    reading: LogInput, opened: OpenLog, constraints: Constraints | None = None
) -> log_check.Agreement:
    """Whether a log agrees with itself."""
    with Bar(sys.stderr) as progress:
        engine = reading.engine_for(opened.log, progress)
        return log_check.agreement_of(opened, engine, reading.split_bytes, constraints)


def _check(arguments: argparse.Namespace) -> int:
    reading = LogInput.of(arguments)
    with WorkFolder() as scratch:
        request = reading.request(scratch, Demand(continued=True), Selection())
        checked = _agreement(reading, request.opened, request.constraints)
    print(
        json.dumps(checked.describe(), indent=1, ensure_ascii=False)
        if arguments.json
        else str(checked)
    )
    return checked.exit_code


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "graph": _graph,
    "inspect": _inspect,
    "check": _check,
    "history": _history,
    "who": _who,
    "sql": _sql,
    "whatif": _whatif,
    "state": _state,
    "explain": _explain,
    "doctor": _doctor,
    "docs": _docs,
    "report": _report,
    "completion": _completion,
}
