"""The reports: who changed what, what a selection would hit, when nothing was open, what is large.
Each is a function from what passes over the log found to a :class:`replay.reports.layout.Report`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from replay.changes.notation import time_text
from replay.changes.selection import Selection
from replay.errors import Refusal, UsageError, counted
from replay.reports.history import Version
from replay.reports.layout import Report
from replay.reports.relations import Relations
from sqlgen.choices import Choices
from sqlgen.errors import checked_kinds, choice, settle_counts, settle_kinds

if TYPE_CHECKING:
    from replay.pipeline.points import Point

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?:in)?)?(?:(\d+(?:\.\d+)?)s?)?")


def seconds_of(text: str) -> float:
    """A duration: ``90``, ``90s``, ``5m``, ``1h30m``, ``2d``. UsageError (LR1001) for other
    text."""
    match = _DURATION.fullmatch(text.strip().lower().replace(" ", ""))
    if not text.strip() or match is None:
        raise UsageError("LR1001", f"found {text!r}; expected a duration such as 30s, 5m or 1h30m")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds


class ReportKind(Choices):
    """What is reported."""

    AUDIT = "audit"
    SUMMARY = "summary"
    QUIET = "quiet"
    OPEN = "open"
    CATALOG = "catalog"
    WHO = "who"


class GroupBy(Choices):
    """What the lines of a report are put together by."""

    USER = "user"
    JOB = "job"
    PLAN = "plan"
    HOUR = "hour"
    TABLE = "table"
    UNIT = "unit"
    DAY = "day"
    CONNECTION = "connection"
    OP = "op"
    ORIGIN = "origin"


@dataclass(frozen=True)
class ReportOptions:
    """How a report is made: ``group_by`` and ``columns`` (empty: those of its kind); at least
    ``least`` seconds and at most ``most_open`` units of a quiet span; ``most_rows`` of lines that
    list changes; ``at`` (position in hexadecimal digits): units that are open there."""

    group_by: tuple[GroupBy, ...] = ()
    columns: tuple[str, ...] = ()
    least: float | None = None
    most_open: int = 0
    most_rows: int = 100_000
    at: str | None = None

    def __post_init__(self) -> None:
        settle_counts(self, most_rows="--max-rows")
        settle_kinds(self)
        if self.most_open < 0:
            raise UsageError("LR1001", f"found --max-open {self.most_open}; expected 0 or more")


def shaped(report: Report, options: ReportOptions, more: Sequence[str] = ()) -> Report:
    """A report with the columns that were asked for; ``more`` are those that it has beside the
    usual ones. UsageError (LR1001) for one that it does not have."""
    known = (*report.columns, *more)
    for name in options.columns:
        if name not in known:
            raise UsageError(
                "LR1001",
                f"found column {name}; expected one of: {', '.join(dict.fromkeys(known))}",
            )
    return report.with_columns(options.columns) if options.columns else report


# -- counts
# -------------------------------------------------------------------------------------------------

#: What scripts have fewer of than a count of headers, which do not tell it.
_AS_LOGGED = "no-op updates are counted here but not written to scripts"
_CHANGES = ("inserts", "updates", "deletes", "other")
_COUNTS = ("units", *_CHANGES, "rolled_back", "bytes")
#: What lines are put together by where nobody says.
_GROUPS = {
    ReportKind.SUMMARY: (GroupBy.TABLE,),
    ReportKind.WHO: (GroupBy.USER, GroupBy.JOB, GroupBy.PLAN),
}


def counts(
    kind: ReportKind, relations: Relations, options: ReportOptions, warnings: Sequence[str]
) -> Report:
    """``summary`` (by table unless said otherwise) and ``who`` (by user, job and plan): how many
    changes of each kind, the most first; by time where lines are of hours or days."""
    dims = options.group_by or _GROUPS[kind]
    rows = relations.lines("summary", ", ".join(f'"{dim}"' for dim in dims))
    if not {GroupBy.HOUR, GroupBy.DAY} & set(dims):
        rows.sort(key=lambda row: -sum(row[name] for name in _CHANGES))
    totals: dict[str, Any] = {"units": 0}
    for line in relations.lines("summary", "'all' AS every"):
        totals |= {name: line[name] for name in _COUNTS}
        for end in ("first", "last"):
            totals[f"{end}_commit"] = line[end] or line[f"{end}_position"]
    title = f"{kind}: changes by {', '.join(map(str, dims))}"
    reason = "" if rows else "nothing found: the selection takes no change of this log"
    notes = (_AS_LOGGED,) if totals.get("updates") else ()
    columns = (*map(str, dims), *_COUNTS, "first", "last")
    report = Report(kind, title, columns, rows, totals, notes, tuple(warnings), reason)
    return shaped(report, options)


# -- units
# -------------------------------------------------------------------------------------------------


def open_units(
    relations: Relations, options: ReportOptions, warnings: Sequence[str], point: Point | None
) -> Report:
    """Units that have no end in the log, or lack a part (incomplete); or those that were open at a
    point."""
    count = relations.one("SELECT count(*) FROM units")
    if point is None:
        title = "open: units of recovery without an end in this log"
        reason = f"nothing found: {counted(count, 'unit')}, with their ends in the log, and whole"
    else:
        _check_begins(relations)
        title = f"open: units of recovery that were open at {point.in_words}"
        reason = f"nothing found: none of {counted(count, 'unit')} was open there"
    moment = None if point is None or point.time is None else time_text(point.time)
    if moment is not None:
        _check_clock(relations, "--at with a time", "Name a commit position")
    at = None if point is None else point.hexadecimal
    rows = relations.lines("open", at=at, moment=moment)
    columns = ("unit", "state", "user", "plan", "job", "begin", "began", "changes", "tables")
    totals = {"units": count, "open": len(rows)}
    outside = () if point is None else point.outside
    said = ((), (*outside, *warnings), "" if rows else reason)
    report = Report(ReportKind.OPEN, title, columns, rows, totals, *said)
    return shaped(report, options, ("committed", "commit", "connection", "seconds", "bytes"))


def _check_clock(relations: Relations, found: str, hint: str) -> None:
    """Refusal (LR3020) where nobody knows the times at which units began."""
    if relations.one("SELECT distance IS NULL FROM clock"):
        raise Refusal(
            "LR3020",
            f"found {found}, which needs the times at which units began; expected positions that"
            " are readings of a clock (LRSNs)",
            hint=hint,
        )


def _check_begins(relations: Relations) -> None:
    """Refusal (LR3020) where nobody knows which units were open at a commit position."""
    if relations.one("SELECT count(*) > 0 AND count(begin_position) = 0 FROM units"):
        raise Refusal(
            "LR3020",
            "found a report about open units, which needs the position at which each unit"
            " began; expected a log that has these positions",
        )


#: What a quiet span does not say where units are selected.
_OTHERS = "only units of the selection count: others may be open in these spans"


def quiet(
    relations: Relations, options: ReportOptions, warnings: Sequence[str], chosen: Selection
) -> Report:
    """Spans in which no more than ``most_open`` units were open, of at least ``least`` seconds,
    that meet the range which is ``chosen``; ``relations`` has the units outside of it, too.

    Refusal (LR3020) where the log does not tell where units began, and for ``least`` and a range of
    times where positions tell no times."""
    _check_begins(relations)
    timed = "--min" if options.least is not None else ""
    timed = timed or next((end for end in chosen.ends if end.endswith("time")), "")
    if timed:
        _check_clock(relations, timed, f"Without {timed} the spans are given by their positions")
    spans = [
        span for span in relations.lines("quiet", most=options.most_open) if _meets(span, chosen)
    ]
    rows = [span for span in spans if options.least is None or span["seconds"] >= options.least]
    columns = ("from", "until", "seconds", "open", "from_position", "until_position")
    lengths = [row["seconds"] for row in rows if row["seconds"] is not None]
    totals = {"units": relations.one("SELECT count(*) FROM units"), "spans": len(rows)}
    if lengths:
        totals["longest"] = max(lengths)
    most = options.most_open
    limit = f"at most {most} open unit{'s' * (most > 1)}" if most else "no open unit"
    title = f"quiet: spans with {limit} of recovery"
    title += "" if options.least is None else f", of {options.least:g} seconds or more"
    reason = "" if rows else f"nothing found: none of {counted(len(spans), 'span')} is long enough"
    if not spans:
        open_units = counted(most + 1, "unit") + (" was" if most == 0 else " were")
        reason = f"nothing found: at least {open_units} open at all times"
        reason += " of the range" if chosen.ends else ""
        reason += f"; --max-open {most + 1} looks for spans with no more open"
    if not totals["units"]:
        reason = "nothing found: there is no unit of recovery"
    every = chosen.whole_tables and not (chosen.tables or chosen.exclude_tables)
    notes = () if every else (_OTHERS,)
    report = Report(ReportKind.QUIET, title, columns, rows, totals, notes, tuple(warnings), reason)
    return shaped(report, options)


def _meets(span: Mapping[str, Any], chosen: Selection) -> bool:
    """Whether a part of a span lies in the range."""
    low, high = (
        "" if end is None else end.hex().upper()
        for end in (chosen.from_position, chosen.until_position)
    )
    if span["until_position"] < low or (high and span["from_position"] > high):
        return False
    since, until = (
        "" if time is None else time_text(time) for time in (chosen.from_time, chosen.until_time)
    )
    if not since and not until:
        return True
    begin, end = (f"{span[side]:%Y-%m-%d %H:%M:%S.%f}" for side in ("from", "until"))
    return end >= since and not (until and begin > until)


# -- events
# -------------------------------------------------------------------------------------------------


def catalog(
    relations: Relations, has_structure: bool, options: ReportOptions, warnings: Sequence[str]
) -> Report:
    """Changes of structure, of whole tables and of the catalog, commands and status changes, in
    commit order; the relation ``statements`` has the words of some (``has_structure``)."""
    rows = relations.lines("catalog")
    for row in rows:
        row["committed"] = _moment(row["committed"])
    columns = ("committed", "kind", "table", "user", "plan", "job", "unit", "log_file")
    columns = (*columns, "log_record", *(("action", "statement") if has_structure else ()))
    totals = dict(sorted(Counter(row["kind"] for row in rows).items()))
    reason = "" if rows else "nothing found: the log has no such changes"
    title = "catalog: changes of structure and of whole tables, commands"
    report = Report(ReportKind.CATALOG, title, columns, rows, totals, (), tuple(warnings), reason)
    return shaped(report, options, ("action", "statement", "ended", "offset", "commit"))


def _moment(text: str | None) -> datetime | str | None:
    try:
        return None if not text else datetime.fromisoformat(text[:26])
    except ValueError:
        return text


# -- changes
# -------------------------------------------------------------------------------------------------


def listed(
    versions: Iterable[Version],
    options: ReportOptions,
    notes: Sequence[str],
    warnings: Sequence[str],
) -> Report:
    """``audit``: who changed which columns of which row when. Whole rows, and where each change
    stands in the log, are columns too."""
    rows: list[dict[str, Any]] = []
    for version in versions:
        if len(rows) == options.most_rows:
            raise UsageError(
                "LR1001",
                f"found more than {options.most_rows:,} changes; expected at most that many"
                " (--max-rows)",
                hint="Select fewer (--table, --user, --from-time …), raise --max-rows, or write"
                " them as data: logreplay export",
            )
        facts = version.facts
        rows.append(
            {
                "committed": facts["commit_time"],
                "commit": facts["commit_lrsn"],
                "user": facts["authid"],
                "plan": facts["plan"],
                "job": facts["correlation_id"],
                "connection": facts["connection_id"],
                "unit": version.unit,
                "table": version.table,
                "op": facts["op"],
                "origin": facts["origin"],
                "fate": version.fate,
                "key": version.key,
                "changed": _changed(version),
                "before": version.before,
                "after": version.after,
                "sequence": facts["sequence"],
                "log_position": facts["log_position"],
                "log_file": facts["log_file"],
                "log_record": facts["log_record"],
                "hour": _cut(facts["commit_time"], 13),
                "day": _cut(facts["commit_time"], 10),
            }
        )
    names = [str(dim) for dim in options.group_by]
    rows.sort(key=lambda row: [str(row[name] or "") for name in names])
    totals: dict[str, Any] = {"changes": len(rows)}
    title = f"audit: {counted(len(rows), 'change')}"
    if {*options.columns} & {*_OF_COLUMN}:
        rows = [line for row in rows for line in _by_column(row)]
    row_of = ("committed", "user", "plan", "job", "unit", "table", "op", "key")
    usual: tuple[str, ...] = (*row_of, "changed", "origin")
    if any(row["fate"] != "committed" for row in rows):
        usual = (*usual, "fate")
    columns = (*names, *(name for name in usual if name not in names))
    groups = Counter(" ".join(str(row[name]) for name in names) for row in rows if names)
    totals |= dict(groups)
    reason = "" if rows else "nothing found: the selection takes no change of this log"
    title += f" by {', '.join(names)}" if names else ""
    said = (tuple(notes), tuple(warnings), reason)
    report = Report(
        ReportKind.AUDIT, title, columns, rows, totals, *said, from_log=frozenset(groups)
    )
    every = (*(tuple(rows[0]) if rows else usual), *_OF_COLUMN)
    return shaped(report, options, every)


#: Columns of an audit with a line for each column that a change set.
_OF_COLUMN = ("column", "old", "new")


def _by_column(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A line for each column that a change set; of a row that came or went for all of them."""
    before, after = row["before"], row["after"]
    for name in row["changed"]:
        sides = (None if side is None else side.get(name) for side in (before, after))
        yield {**row, **dict(zip(_OF_COLUMN, (name, *sides), strict=True))}


def _changed(version: Version) -> dict[str, Any]:
    """The columns that a change set, with both values; all of them where a row came or went."""
    if version.before is not None and version.after is not None:
        return {name: list(pair) for name, pair in version.changed.items()}
    return dict(version.after or version.before or {})


def _cut(moment: datetime | None, digits: int) -> str | None:
    return None if moment is None else str(moment)[:digits] + (":00" if digits == 13 else "")


def report_options(words: dict[str, Any]) -> ReportOptions:
    """The words of a report among those of a selection."""
    groups, shown = words.pop("group_by", ()), words.pop("shown", ())
    names = (groups,) if isinstance(groups, str) else groups
    checked_kinds(
        {"group_by": names, "shown": shown}, {"group_by": Sequence[str], "shown": Sequence[str]}
    )
    given = {name: words.pop(name) for name in ("most_open", "most_rows", "at") if name in words}
    if isinstance(given.get("at"), datetime):
        given["at"] = str(given["at"])
    least = words.pop("least", None)
    return ReportOptions(
        tuple(choice(GroupBy, name, "--group-by") for name in names),
        tuple(shown),
        least=seconds_of(least) if isinstance(least, str) else least,
        **given,
    )
