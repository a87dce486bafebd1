"""Reports on paper: a table with a title, totals and notes, as text, HTML, JSON or CSV."""

from __future__ import annotations

import csv
import html
import io
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from replay.errors import EXIT_ERROR, EXIT_OK, EXIT_WARNING, counted
from replay.reports.images import literal
from sqlgen.choices import Choices


class ReportFormat(Choices):
    """How a report is written."""

    TEXT = "text"
    HTML = "html"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True)
class Report:
    """What a report says. ``columns`` are the names of the columns that are shown, in order, and
    ``rows`` have a value of each (None: not known); ``totals`` come first, then the table, then
    ``notes``. ``from_log``: the totals that go by a name of the log, which is shown as it is (in
    all others a blank stands for an underscore). ``reason``: why there are no rows. ``extra`` is in
    JSON only.
    ``commands``: what each of them is about, and the command that undoes it."""

    kind: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    totals: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    damaged: bool = False
    from_log: frozenset[str] = frozenset()
    commands: tuple[tuple[str, str], ...] = ()

    @property
    def exit_code(self) -> int:
        """4 where nothing was found, or with warnings; 8 where changes cannot be read
        (``damaged``)."""
        if self.damaged:
            return EXIT_ERROR
        return EXIT_OK if self.rows and not self.warnings else EXIT_WARNING

    def describe(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "report": self.kind,
            "title": self.title,
            "warnings": list(self.warnings),
            "totals": dict(self.totals),
            "columns": list(self.columns),
            "rows": [{name: row.get(name) for name in self.columns} for row in self.rows],
            "notes": list(self.notes),
            **({"reason": self.reason} if self.reason else {}),
            **({"commands": dict(self.commands)} if self.commands else {}),
            **self.extra,
        }

    def shown_totals(self) -> list[tuple[str, str]]:
        """The totals in order, as text: name and value."""
        return [
            (name if name in self.from_log else name.replace("_", " "), cell(value))
            for name, value in self.totals.items()
        ]

    def with_columns(self, columns: Sequence[str]) -> Report:
        """The same with other columns."""
        return replace(self, columns=tuple(columns))

    def __str__(self) -> str:
        return report_text(self)

    def _repr_html_(self) -> str:
        return report_html(self)


def preformatted(text: str) -> str:
    """A text as HTML that keeps its lines, for notebooks."""
    return f"<pre>{html.escape(text)}</pre>"


def shown_moment(moment: datetime) -> str:
    """A moment to the microsecond."""
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def written(report: Report, form: ReportFormat) -> str:
    """A report in a format, with a line end."""
    if form is ReportFormat.JSON:
        return json.dumps(_plain(report.describe()), indent=1, ensure_ascii=False) + "\n"
    if form is ReportFormat.CSV:
        return csv_text(report.columns, report.rows)
    return report_html(report) if form is ReportFormat.HTML else f"{report_text(report)}\n"


def _plain(value: Any) -> Any:
    """JSON-able data, with moments as text."""
    if isinstance(value, datetime):
        return shown_moment(value)
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A header and a line for each row; nothing stands for what is not known, and values of several
    parts are JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = (_plain(row.get(name)) for name in columns)
        writer.writerow(
            ""
            if v is None
            else json.dumps(v, ensure_ascii=False)
            if isinstance(v, dict | list)
            else v
            for v in values
        )
    return out.getvalue()


#: What the commands of a report do.
UNDO_BELOW = "To undo this alone (what later changes depend on is left out and listed)"


def _undo_below(report: Report) -> str:
    first = len(report.commands)
    some = f", of the first {first} of {len(report.rows)}" if first < len(report.rows) else ""
    return f"{UNDO_BELOW}{some}:"


# -- text
# -------------------------------------------------------------------------------------------------


def cell(value: Any) -> str:
    """A value in a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, datetime):
        return shown_moment(value)
    if isinstance(value, Mapping):  # of columns: text is quoted, so that NULL and 'NULL' differ
        return "; ".join(f"{key} {_part(entry, literal)}" for key, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_part, value))
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in str(value))


def _part(value: Any, text: Callable[[str], str] = lambda text: text) -> str:
    """A value within a cell; of a pair, the one became the other."""
    if isinstance(value, list | tuple):
        return " -> ".join(_part(one, text) for one in value)
    if isinstance(value, str):
        return text(value)
    return "NULL" if value is None else str(value) if isinstance(value, int) else cell(value)


def width_of(text: str) -> int:
    """Columns of a terminal that a text takes: wide characters take two, accents none."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


#: Columns of a terminal that cells are padded to at most.
_WIDEST = 60


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    as_named: bool = False,
) -> list[str]:
    """A table of text with a line of names, with blanks for their underscores unless they stand
    ``as_named``; numbers stand to the right."""
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    names = [name if as_named else name.replace("_", " ") for name in columns]
    numbers = [bool(rows) and all(_number(row.get(name)) for row in rows) for name in columns]
    widths = [  # what is wider than most takes its own line's room alone
        max([width_of(name), *(min(width_of(line[at]), _WIDEST) for line in cells)])
        for at, name in enumerate(names)
    ]
    lines = []
    for line in [names, *cells]:
        parts = [
            " " * (widths[at] - width_of(text)) + text
            if numbers[at]
            else text + " " * (widths[at] - width_of(text))
            for at, text in enumerate(line)
        ]
        lines.append("  ".join(parts).rstrip())
    return lines


def _number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def report_text(report: Report) -> str:
    """A report for the terminal."""
    lines = [f"warning: {warning}" for warning in report.warnings]
    lines.append(report.title)
    width = max((len(name) for name in report.totals), default=0)
    lines += [f"  {name:<{width}}  {value}" for name, value in report.shown_totals()]
    if report.rows:
        lines += ["", *table_lines(report.columns, report.rows)]
    if report.reason:
        lines += ["", report.reason]
    if report.notes:
        lines += ["", *(f"note: {note}" for note in report.notes)]
    if report.commands:
        lines += ["", _undo_below(report)]
        lines += [line for who, text in report.commands for line in (f"  {who}:", f"    {text}")]
    return "\n".join(lines)


# -- HTML
# -------------------------------------------------------------------------------------------------

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; max-width: 100% }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
caption {{ text-align: left; padding: .3rem 0; opacity: .8 }}
th, td {{ text-align: left; padding: .2rem .7rem .2rem 0; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent) }}
th {{ position: sticky; top: 0; background: Canvas }}
td.n {{ text-align: right }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem }}
dd {{ margin: 0 }}
.scroll {{ overflow-x: auto }}
.warning {{ font-weight: bold }}
</style></head><body>
"""


def report_html(report: Report) -> str:
    """A report as a page that needs no network."""
    parts = [
        _HEAD.format(title=html.escape(report.title)),
        f"<h1>{html.escape(report.title)}</h1>\n",
    ]
    parts += [f'<p class="warning">Warning: {html.escape(text)}</p>\n' for text in report.warnings]
    if report.totals:
        pairs = "".join(
            f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>"
            for name, value in report.shown_totals()
        )
        parts.append(f"<dl>{pairs}</dl>\n")
    if report.rows:
        rows = counted(len(report.rows), "row")
        names = "".join(
            f'<th scope="col">{html.escape(name.replace("_", " "))}</th>' for name in report.columns
        )
        parts.append(
            f'<div class="scroll" tabindex="0"><table><caption>{rows}</caption>'
            f"<thead><tr>{names}</tr></thead>\n<tbody>\n"
        )
        for row in report.rows:
            cells = "".join(_html_cell(row.get(name)) for name in report.columns)
            parts.append(f"<tr>{cells}</tr>\n")
        parts.append("</tbody></table></div>\n")
    if report.reason:
        parts.append(f"<p>{html.escape(report.reason)}</p>\n")
    parts += [f"<p>Note: {html.escape(note)}</p>\n" for note in report.notes]
    if report.commands:
        parts.append(f"<p>{_undo_below(report)}</p>\n")
    parts += [
        f"<p>{html.escape(who)}</p><pre>{html.escape(text)}</pre>\n"
        for who, text in report.commands
    ]
    return "".join([*parts, "</body></html>\n"])


def _html_cell(value: Any) -> str:
    number = ' class="n"' if value is not None and _number(value) else ""
    return f"<td{number}>{html.escape(cell(value))}</td>"
