"""The reports: who changed what, what a selection would hit, when nothing was open, what is large.
Each is a function from what passes over the log found to a :class:`replay.reports.layout.Report`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import Refusal, UsageError
from replay.reports.headers import HeaderFacts
from replay.reports.history import Version
from replay.reports.layout import Report
from sqlgen.choices import Choices
from sqlgen.errors import choice, settle_counts
from sqlgen.kinds import checked_kinds, settle_kinds

if TYPE_CHECKING:
    from replay.reports.points import Point

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
    DETAIL = "detail"
    SUMMARY = "summary"
    INTEGRITY = "integrity"
    QUIET = "quiet"
    OPEN = "open"
    ACTIVITY = "activity"
    CATALOG = "catalog"
    LARGE = "large"


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
    """How a report is made: ``group_by`` and ``columns`` (empty: those of its kind); ``top`` units
    of a large one; at least ``least`` seconds and at most ``most_open`` units of a quiet span;
    ``most_rows`` of lines that list changes; ``at`` (position in hexadecimal digits): units that
    are open there."""

    group_by: tuple[GroupBy, ...] = ()
    columns: tuple[str, ...] = ()
    top: int = 20
    least: float | None = None
    most_open: int = 0
    most_rows: int = 100_000
    at: str | None = None

    def __post_init__(self) -> None:
        settle_counts(self, top="--top", most_rows="--max-rows")
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
_AS_LOGGED = (
    "all changes count as logged; scripts have no statement for an update that changes nothing, and"
    " no unit that has nothing else"
)
_COUNTS = ("units", "inserts", "updates", "deletes", "other", "rolled_back", "bytes")


def activity(
    kind: ReportKind, headers: HeaderFacts, options: ReportOptions, warnings: Sequence[str]
) -> Report:
    """``summary`` (by table unless said otherwise) and ``activity`` (by hour and user): how many
    changes of each kind."""
    default = (GroupBy.TABLE,) if kind is ReportKind.SUMMARY else (GroupBy.HOUR, GroupBy.USER)
    dims = options.group_by or default
    columns = (*map(str, dims), *_COUNTS, "first", "last")
    units = headers.units
    totals: dict[str, Any] = {"units": len(units)}
    rows: list[dict[str, Any]] = []
    if len(units):
        flat = _flat(headers)
        sums = [(name, "sum") for name in _COUNTS if name != "units"]
        ends = [("place", "count_distinct"), ("time", "min"), ("time", "max")]
        names = [str(dim) for dim in dims]
        table = flat.group_by(names).aggregate([*sums, *ends])
        table = table.rename_columns(
            {f"{name}_sum": name for name in _COUNTS if name != "units"}
            | {"place_count_distinct": "units", "time_min": "first", "time_max": "last"}
        ).sort_by([(name, "ascending") for name in names])
        rows = table.to_pylist()
        totals |= {name: pc.sum(flat[name]).as_py() for name in _COUNTS if name != "units"}
        totals |= _span(headers)
    title = f"{kind}: changes by {', '.join(map(str, dims))}"
    reason = "" if rows else "nothing found: the selection takes no change of this log"
    notes = (_AS_LOGGED,) if totals.get("updates") else ()
    report = Report(kind, title, columns, rows, totals, notes, tuple(warnings), reason)
    return shaped(report, options)


def _span(headers: HeaderFacts) -> dict[str, Any]:
    times = headers.units["time"].drop_null()
    positions = headers.units["commit"]
    return {
        "first_commit": pc.min(times).as_py() or positions[0].as_py(),
        "last_commit": pc.max(times).as_py() or positions[len(positions) - 1].as_py(),
    }


def _flat(headers: HeaderFacts) -> pa.Table:
    """The counts with the facts of their units and a column for each number of a report."""
    counts = headers.counts
    units = headers.units.take(counts["place"].combine_chunks())
    flat = counts.rename_columns({"bytes": "octets"})
    for name in ("user", "plan", "job", "connection", "time"):
        flat = flat.append_column(name, units[name])
    flat = flat.append_column("unit", units["name"])
    for name, form in (("hour", "%Y-%m-%d %H:00"), ("day", "%Y-%m-%d")):
        flat = flat.append_column(name, pc.strftime(units["time"], form))
    done = pc.equal(counts["fate"], "committed")
    plain = (("inserts", "insert"), ("updates", "update"), ("deletes", "delete"))
    other = done
    for name, op in plain:
        mine = pc.equal(counts["op"], op)
        flat = flat.append_column(name, _if(pc.and_(done, mine), counts["changes"]))
        other = pc.and_(other, pc.invert(mine))
    flat = flat.append_column("other", _if(other, counts["changes"]))
    flat = flat.append_column("rolled_back", _if(pc.invert(done), counts["changes"]))
    return flat.append_column("bytes", counts["bytes"])


def _if(mask: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(mask, values, 0)


# -- units
# -------------------------------------------------------------------------------------------------


def _units(headers: HeaderFacts) -> list[dict[str, Any]]:
    """Every unit as a line: who, when, from where to where."""
    lines = []
    for entry in headers.units.to_pylist():
        begun = headers.clock.time(entry["begin"])
        time = entry["time"]
        seconds = None if begun is None or time is None else (time - begun).total_seconds()
        lines.append({
            "unit": entry["name"],
            "committed": time,
            "user": entry["user"],
            "plan": entry["plan"],
            "job": entry["job"],
            "connection": entry["connection"],
            "begin": entry["begin"],
            "begun": begun,
            "commit": entry["commit"],
            "seconds": None if seconds is None else round(max(seconds, 0.0), 6),
            "state": "incomplete" if entry["incomplete"] else entry["ended"],
            "records": entry["records"],
            "bytes": entry["bytes"],
        })  # fmt: skip
    return lines


def _with_tables(headers: HeaderFacts, lines: Sequence[dict[str, Any]]) -> None:
    """Give lines (all units) their changes by table."""
    counts: dict[int, Counter[str]] = {}
    for place, table, changes in zip(
        *(headers.counts[name].to_pylist() for name in ("place", "table", "changes")), strict=True
    ):
        counts.setdefault(place, Counter())[table or "(not known)"] += changes
    for place, line in enumerate(lines):
        tables = counts.get(place, Counter[str]())
        line["changes"] = sum(tables.values())
        line["tables"] = dict(sorted(tables.items(), key=lambda one: (-one[1], one[0])))


def large(headers: HeaderFacts, options: ReportOptions, warnings: Sequence[str]) -> Report:
    """The longest and the largest units: the first ``top`` by changes, and by time."""
    lines = _units(headers)
    _with_tables(headers, lines)
    by_size = sorted(lines, key=lambda line: (-line["changes"], line["commit"], line["unit"]))
    timed = [line for line in lines if line["seconds"] is not None]
    by_time = sorted(timed, key=lambda line: (-line["seconds"], line["commit"], line["unit"]))
    for rank, line in enumerate(by_size, 1):
        line["size_rank"] = rank
    for rank, line in enumerate(by_time, 1):
        line["time_rank"] = rank
    chosen = by_size[: options.top]
    chosen += [line for line in by_time[: options.top] if line["size_rank"] > options.top]
    who = ("unit", "user", "plan", "job", "committed", "seconds")
    columns = ("size_rank", "time_rank", *who, "changes", "bytes", "state", "tables")
    notes = (
        ()
        if timed or not lines
        else ("how long a unit took is not known: the log has no time of its begin",)
    )
    reason = "" if lines else "nothing found: the selection takes no unit of this log"
    title = f"large: the {options.top:,} largest and the {options.top:,} longest units"
    totals = {"units": len(lines), "changes": sum(line["changes"] for line in lines)}
    report = Report(
        ReportKind.LARGE, title, columns, chosen, totals, notes, tuple(warnings), reason
    )
    return shaped(report, options, ("begin", "begun", "commit", "connection", "records"))


def open_units(
    headers: HeaderFacts, options: ReportOptions, warnings: Sequence[str], point: Point | None
) -> Report:
    """Units that have no end in the log, or lack a part (incomplete); or those that were open at a
    point."""
    lines = _units(headers)
    _with_tables(headers, lines)
    if point is not None:
        _check_begins(headers)
    if point is None:
        chosen = [
            line for line in lines if line["state"] in ("in flight", "in doubt", "incomplete")
        ]
        title = "open: units of recovery without an end in this log"
    else:
        at = point.hexadecimal
        chosen = [line for line in lines if line["begin"] and line["begin"] <= at < line["commit"]]
        title = f"open: units of recovery that were open at {point.in_words}"
    chosen.sort(key=lambda line: (line["begin"] or "", line["unit"]))
    columns = ("unit", "state", "user", "plan", "job", "begin", "begun", "changes", "tables")
    totals = {"units": len(lines), "open": len(chosen)}
    reason = (
        ""
        if chosen
        else (
            f"nothing found: all {len(lines):,} units have their end in the log, and are whole"
            if point is None
            else f"nothing found: none of {len(lines):,} units was open there"
        )
    )
    report = Report(ReportKind.OPEN, title, columns, chosen, totals, (), tuple(warnings), reason)
    return shaped(report, options, ("committed", "commit", "connection", "seconds", "bytes"))


def _check_begins(headers: HeaderFacts) -> None:
    """Refusal (LR3020) where nobody knows which units were open at a commit position."""
    if len(headers.units) and headers.units["begin"].null_count == len(headers.units):
        raise Refusal(
            "LR3020",
            "found a report about open units, which needs the position at which each unit"
            " began; expected a log that has these positions",
        )


def quiet(headers: HeaderFacts, options: ReportOptions, warnings: Sequence[str]) -> Report:
    """Spans in which no more than ``most_open`` units were open, of at least ``least`` seconds.

    Refusal (LR3020) where the log does not tell where units began, and for ``least`` where
    positions tell no times."""
    _check_begins(headers)
    if options.least is not None and headers.clock.offset is None:
        raise Refusal(
            "LR3020",
            "found --min, which needs the times at which units began; expected positions that are"
            " readings of a clock (LRSNs)",
            hint="Without --min the spans are given by their positions",
        )
    spans = _spans(headers, options.most_open)
    rows = [span for span in spans if options.least is None or span["seconds"] >= options.least]
    columns = ("from", "until", "seconds", "open", "from_position", "until_position")
    lengths = [row["seconds"] for row in rows if row["seconds"] is not None]
    totals = {"units": len(headers.units), "spans": len(rows)}
    if lengths:
        totals["longest"] = max(lengths)
    most = options.most_open
    limit = f"at most {most} open unit{'s' * (most > 1)}" if most else "no open unit"
    title = f"quiet: spans with {limit} of recovery"
    title += "" if options.least is None else f", of {options.least:g} seconds or more"
    reason = "" if rows else f"nothing found: none of {len(spans):,} span(s) is long enough"
    if not spans:
        reason = "nothing found: at every moment of the log more units were open"
    report = Report(ReportKind.QUIET, title, columns, rows, totals, (), tuple(warnings), reason)
    return shaped(report, options)


def _spans(headers: HeaderFacts, most: int) -> list[dict[str, Any]]:
    """The spans between the first begin and the last end with at most so many open units."""
    if not len(headers.units):
        return []
    ends, begins = headers.units["commit"].to_pylist(), headers.units["begin"].to_pylist()
    states = headers.units["ended"].to_pylist()
    last = max(ends)
    events: list[tuple[str, int]] = []
    for begin, end, state in zip(begins, ends, states, strict=True):
        begin = begin if begin is not None and begin <= end else end
        events.append((begin, 1))
        if state not in ("in flight", "in doubt"):
            events.append((end, -1))
    events.sort(key=lambda event: (event[0], -event[1]))  # a begin where another ends meets it
    spans, count, since, most_seen = [], 0, None, 0
    for position, step in events:
        was_quiet = count <= most
        count += step
        if since is not None and was_quiet and count > most:
            spans.append(_span_of(headers, since, position, most_seen))
            since = None
        elif count <= most and since is None:
            since, most_seen = position, count
        most_seen = max(most_seen, count) if count <= most else most_seen
    if since is not None and since < last:
        spans.append(_span_of(headers, since, last, most_seen))
    return [span for span in spans if span["from_position"] < span["until_position"]]


def _span_of(headers: HeaderFacts, start: str, stop: str, count: int) -> dict[str, Any]:
    one, other = headers.clock.time(start), headers.clock.time(stop)
    seconds = None if one is None or other is None else (other - one).total_seconds()
    return {
        "from": one,
        "until": other,
        "seconds": seconds,
        "open": count,
        "from_position": start,
        "until_position": stop,
    }


# -- events
# -------------------------------------------------------------------------------------------------


def catalog(
    headers: HeaderFacts,
    statements: Mapping[tuple[str, int], Mapping[str, Any]],
    options: ReportOptions,
    warnings: Sequence[str],
) -> Report:
    """Changes of structure, of whole tables and of the catalog, commands and status changes, in
    commit order; ``statements`` by (file, record)."""
    rows = []
    for event in headers.events.to_pylist() if len(headers.events) else []:
        statement = statements.get((event["log_file"], event["log_record"]), {})
        rows.append(
            {
                **event,
                "unit": f"{event['unit'][:20]}/{int(event['unit'][20:], 16)}",
                "committed": _moment(event["time"]),
                "table": event["table"] or statement.get("table"),
                "action": statement.get("action"),
                "statement": statement.get("statement"),
            }
        )
    rows.sort(key=lambda row: (row["commit"], row["unit"], row["log_file"], row["log_record"]))
    columns = ("committed", "kind", "table", "user", "plan", "job", "unit", "log_file")
    columns = (*columns, "log_record", *(("action", "statement") if statements else ()))
    totals = dict(sorted(Counter(row["kind"] for row in rows).items()))
    reason = "" if rows else "nothing found: the log has changes of rows only"
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
    kind: ReportKind,
    versions: Iterable[Version],
    options: ReportOptions,
    notes: Sequence[str],
    warnings: Sequence[str],
) -> Report:
    """``audit``: who changed which columns of which row when; ``detail``: whole rows, and where
    each change stands in the log."""
    rows: list[dict[str, Any]] = []
    for version in versions:
        if len(rows) == options.most_rows:
            raise UsageError(
                "LR1001",
                f"found more than {options.most_rows:,} changes; expected at most that many"
                " (--max-rows)",
                hint="Select fewer (--table, --authid, --from-time …), raise --max-rows, or write"
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
    row_of = ("committed", "user", "plan", "job", "unit", "table", "op", "key")
    usual: tuple[str, ...] = (*row_of, "changed", "origin")
    if kind is ReportKind.DETAIL:
        usual = (*row_of, "before", "after", "origin", "log_file", "log_record", "log_position")
    if any(row["fate"] != "committed" for row in rows):
        usual = (*usual, "fate")
    columns = (*names, *(name for name in usual if name not in names))
    totals: dict[str, Any] = {"changes": len(rows)}
    groups = Counter(" ".join(str(row[name]) for name in names) for row in rows if names)
    totals |= dict(groups)
    reason = "" if rows else "nothing found: the selection takes no change of this log"
    by = f" by {', '.join(names)}" if names else ""
    title = f"{kind}: {len(rows):,} change(s){by}"
    said = (tuple(notes), tuple(warnings), reason)
    report = Report(kind, title, columns, rows, totals, *said, from_log=frozenset(groups))
    every = tuple(rows[0]) if rows else tuple(usual)
    return shaped(report, options, every)


def _changed(version: Version) -> dict[str, Any]:
    """The columns that a change set, with both values; all of them where a row came or went."""
    if version.before is not None and version.after is not None:
        return {name: list(pair) for name, pair in version.changed.items()}
    return dict(version.after or version.before or {})


def _cut(moment: datetime | None, digits: int) -> str | None:
    return None if moment is None else str(moment)[:digits] + (":00" if digits == 13 else "")


def report_options(words: dict[str, Any]) -> ReportOptions:
    """The words of a report among those of a selection, which they are taken out of."""
    groups, shown = words.pop("group_by", ()), words.pop("shown", ())
    names = (groups,) if isinstance(groups, str) else groups
    checked_kinds(
        {"group_by": names, "shown": shown}, {"group_by": Sequence[str], "shown": Sequence[str]}
    )
    given = {
        name: words.pop(name) for name in ("top", "most_open", "most_rows", "at") if name in words
    }
    least = words.pop("least", None)
    return ReportOptions(
        tuple(choice(GroupBy, name, "--group-by") for name in names),
        tuple(shown),
        least=seconds_of(least) if isinstance(least, str) else least,
        **given,
    )
