"""Reports on the Sakila log, against what plain Python counts from all changes and from the units
that the log was written from."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shlex
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import replay
from replay.cli.main import main
from replay.errors import UsageError
from replay.reports import sql
from replay.reports.relations import Relations
from replay.reports.report_kinds import seconds_of
from tests.support.words import of_log_master


@pytest.fixture(scope="module")
def log(sakila: Path) -> Iterator[replay.Log]:
    with replay.open_log(control=sakila / "sakila.ctl", data=sakila / "sakila.dat.gz") as opened:
        yield opened


@pytest.fixture(scope="module")
def changes(log: replay.Log) -> list[dict[str, Any]]:
    return list(log.select().changes().read_all().to_pylist())


@pytest.fixture(scope="module")
def units(sakila: Path) -> list[dict[str, Any]]:
    with gzip.open(sakila / "units.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def named(sakila: Path) -> list[str]:
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    return [*files, "--engine", "local"]


def test_summary_counts_what_is_there(log: replay.Log, changes: list[dict[str, Any]]) -> None:
    for dims, names in ((("table",), ("table",)), (("user", "plan"), ("authid", "plan"))):
        report = log.report("summary", group_by=dims)
        expected = Counter((*(c[name] for name in names), c["op"]) for c in changes)
        # an update that changes nothing is a record, and no change
        for row in report.rows:
            group = tuple(row[dim] for dim in dims)
            assert row["inserts"] == expected[(*group, "insert")]
            assert row["deletes"] == expected[(*group, "delete")]
            assert 0 <= row["updates"] - expected[(*group, "update")] <= 5
        assert report.totals["inserts"] == sum(c["op"] == "insert" for c in changes)
    by_hour = log.report("summary", group_by=["hour"])
    hours = Counter(str(c["commit_time"])[:13] + ":00" for c in changes if c["op"] == "insert")
    assert {row["hour"]: row["inserts"] for row in by_hour.rows} == dict(hours)
    assert [row["hour"] for row in by_hour.rows] == sorted(hours)
    largest = Counter((c["urid"], c["member"]) for c in changes).most_common(1)[0][1]
    sizes = [
        row["inserts"] + row["updates"] + row["deletes"]
        for row in log.report("summary", group_by=["unit"]).rows
    ]
    assert (sizes[0], sizes) == (largest, sorted(sizes, reverse=True))


def test_summary_of_a_part(log: replay.Log, changes: list[dict[str, Any]]) -> None:
    report = log.report(
        "summary", table="FILM_STOCK", authids="CLERK3", until_time="2024-03-15 09:00"
    )
    mine = [
        c
        for c in changes
        if (c["table"], c["authid"]) == ("SAKILA.FILM_STOCK", "CLERK3")
        and c["commit_time"] < datetime(2024, 3, 15, 9, 1)
    ]
    (row,) = report.rows
    assert row["updates"] == len(mine)
    assert row["units"] == len({(c["urid"], c["member"]) for c in mine})
    assert row["last"] == max(c["commit_time"] for c in mine)
    everything = log.report("summary", include_aborted=True)
    assert everything.totals["rolled_back"] > 0
    assert everything.totals["inserts"] == log.report("summary").totals["inserts"]
    with pytest.raises(UsageError, match="LR1001 found --where with report open"):
        log.report("open", where="customer_id = 1")


def test_a_summary_says_what_scripts_do_not_count(log: replay.Log, tmp_path: Path) -> None:
    """An update that changes nothing is a change of the log, and no statement; units of the log
    that have nothing else are not in the script."""
    bundle = log.select().redo().write(tmp_path / "out")
    everything = log.report("summary")
    changes = sum(everything.totals[name] for name in ("inserts", "updates", "deletes"))
    assert changes > bundle.tally.statements
    assert everything.totals["units"] > bundle.tally.units
    (whole,) = log.sql("SELECT sum(changes) AS n FROM units WHERE state = 'committed'").to_pylist()
    assert whole["n"] == changes  # not what units rolled back to their savepoints
    listed = log.report("audit")
    assert (len(listed.rows), len(listed.notes)) == (bundle.tally.statements, 1)
    assert listed.notes[0] == f"not here: {changes - len(listed.rows)} updates that changed nothing"
    (note,) = everything.notes
    assert "no-op updates are counted here but not written" in note
    assert not log.report("summary", ops="insert").notes


def test_audit(log: replay.Log, changes: list[dict[str, Any]]) -> None:
    mine = [c for c in changes if c["table"] == "SAKILA.CUSTOMER" and c["authid"] == "CLERK1"]
    audit = log.report("audit", table="CUSTOMER", authids="CLERK1")
    assert len(audit.rows) == len(mine)
    for row, change in zip(audit.rows, mine, strict=True):
        before, after = (json.loads(change[s]) if change[s] else None for s in ("before", "after"))
        assert (row["log_record"], row["op"]) == (change["log_record"], change["op"])
        if before and after:
            assert set(row["changed"]) == {k.upper() for k in before if before[k] != after[k]}
        assert row["key"]["CUSTOMER_ID"] == (after or before)["customer_id"]  # type: ignore[index]
    sorted_by_op = log.report("audit", table="CUSTOMER", authids="CLERK1", group_by="op")
    assert sorted_by_op.columns[0] == "op"
    assert [row["op"] for row in sorted_by_op.rows] == sorted(c["op"] for c in mine)
    assert sorted_by_op.totals["update"] == sum(c["op"] == "update" for c in mine)
    lines = log.report("audit", table="CUSTOMER", authids="CLERK1", shown=["op", "column", "new"])
    assert lines.totals == audit.totals
    sets = [(row["op"], name) for row in audit.rows for name in row["changed"]]
    assert [(line["op"], line["column"]) for line in lines.rows] == sets
    values = [(row["after"] or {}).get(name) for row in audit.rows for name in row["changed"]]
    assert [line["new"] for line in lines.rows] == values
    with pytest.raises(UsageError, match="LR1001 found more than 10 changes"):
        log.report("audit", most_rows=10)


def spans_of(units: list[dict[str, Any]], most: int) -> list[tuple[str, str]]:
    """Spans with at most so many open units, position by position."""
    ends = sorted({u["uoridlrsn"] for u in units} | {u["commit_lrsn"] for u in units})
    quiet = [
        sum(u["uoridlrsn"] <= low and high <= u["commit_lrsn"] for u in units) <= most
        for low, high in pairwise(ends)
    ]
    spans: list[tuple[str, str]] = []
    for (low, high), still in zip(pairwise(ends), quiet, strict=True):
        if still and spans and spans[-1][1] == low:
            spans[-1] = spans[-1][0], high
        elif still:
            spans.append((low, high))
    return spans


def test_quiet_spans(log: replay.Log, units: list[dict[str, Any]]) -> None:
    begin, until = "00DECBEC300000000000", "00DECBEC900000000000"
    for most in (0, 1, 3):
        report = log.report("quiet", from_position=begin, until=until, most_open=most)
        found = [(row["from_position"], row["until_position"]) for row in report.rows]
        # a range says which spans are shown; the units outside of it are open all the same
        assert found == [
            span for span in spans_of(units, most) if span[0] <= until and begin <= span[1]
        ]
        assert all(row["open"] <= most for row in report.rows)
        assert found or not most
    in_time = log.report("quiet", from_time="2024-03-15 09:00", until_time="2024-03-15 09:59:59")
    assert "at least 1 unit was open at all times of the range" in in_time.reason
    times = [datetime(2024, 3, 15, 9), datetime(2024, 3, 15, 10)]
    hour = log.report("quiet", from_time=times[0], until_time=times[1], most_open=1)
    whole = log.report("quiet", most_open=1)
    assert hour.rows == [r for r in whole.rows if r["from"] <= times[1] and times[0] <= r["until"]]
    assert 0 < len(hour.rows) < len(whole.rows)
    assert log.report("quiet", authids="CLERK1").notes == (
        "only units of the selection count: others may be open in these spans",
    )
    long = log.report("quiet", most_open=3, least="5s")
    assert long.rows
    for row in long.rows:
        assert row["seconds"] >= 5
        assert (row["until"] - row["from"]).total_seconds() == row["seconds"]
    assert log.report("quiet", most_open=0, least="1h").exit_code == 4


def test_a_log_without_units_was_not_busy(log: replay.Log) -> None:
    report = log.report("quiet", authids="NOBODY")
    assert report.reason == "nothing found: there is no unit of recovery"
    assert (report.rows, report.exit_code) == ([], 4)


def test_open_units(log: replay.Log, units: list[dict[str, Any]], incomplete: Path) -> None:
    nothing = log.report("open")
    assert (nothing.rows, nothing.exit_code) == ([], 4)
    assert "2,827 units, with their ends in the log" in nothing.reason
    at = "00DECBFEA09C3E600000"
    there = log.report("open", at=at)
    assert {row["unit"] for row in there.rows} == {
        f"{u['uorid']}/{u['member']}" for u in units if u["uoridlrsn"] <= at < u["commit_lrsn"]
    }
    assert log.report("open", at="2024-03-15").title.endswith("that were open at 2024-03-15")
    for time in ("07:00", "08:00:03", "09:30:59.999999"):  # a unit that began later was not open
        moment = datetime.fromisoformat(f"2024-03-15 {time}")
        begun = log.sql(
            f"SELECT unit FROM units WHERE begin_time <= '{moment}' AND commit_time > '{moment}'"
        )
        rows = log.report("open", at=str(moment)).rows
        assert {row["unit"] for row in rows} == {*begun["unit"].to_pylist()}
        assert len(rows) == {"07:00": 0, "08:00:03": 1}.get(time, 6)
    for words in ({"at": at}, {}):
        with pytest.raises(UsageError, match="LR1001 found --until-time with report open"):
            log.report("open", until_time="2024-03-15 10:00", **words)
    control, data = incomplete / "incomplete.ctl", incomplete / "incomplete.dat"
    with replay.open_log(control=control, data=data) as other:
        found = other.report("open")
        assert found.rows
        assert {row["state"] for row in found.rows} == {"incomplete"}


def test_catalog(log: replay.Log) -> None:
    report = log.report("catalog")
    assert Counter(row["kind"] for row in report.rows) == Counter(
        {"command": 2, "status change": 1, "catalog change": 1}
    )
    assert report.rows[0]["unit"] == "000000000000A1C0B252/1"


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


@pytest.mark.parametrize(
    "kind",
    [
        *("summary", "quiet", "open", "catalog"),
        pytest.param("audit", marks=pytest.mark.long),
    ],
)
def test_every_report_in_every_format(
    kind: str, sakila_small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = of_log_master(sakila_small / "small.ctl", sakila_small / "small.dat")
    words = ["report", kind, *files, "--engine", "local"]
    codes = {main([*words, "--json"])}
    described = json.loads(capsys.readouterr().out)
    codes.add(main([*words, "--format", "csv"]))
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(lines) == len(described["rows"])
    codes.add(main(words))
    text = capsys.readouterr().out
    assert text.startswith(f"{kind}: ")
    page = tmp_path / "page.html"
    codes.add(main([*words, "--format", "html", "--out", str(page)]))
    parser = _Page()
    parser.feed(page.read_text(encoding="utf-8"))
    assert parser.tags.count("tr") == len(lines) + bool(lines)
    assert "script" not in parser.tags
    assert len(codes) == 1
    if not lines:
        assert described["reason"]
        assert described["reason"] in text


@pytest.mark.parametrize(
    "words",
    [
        ["state", "--diff", "start", "end"],
        ["report", "audit", "--group-by", "table"],
        ["report", "audit", "--group-by", "table", "--format", "html"],
    ],
)
def test_totals_have_the_names_of_the_log(
    words: list[str], sakila_small: Path, tmp_path: Path
) -> None:
    """Underscores of our own words are blanks for readers; those of a table are its name."""
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    file = tmp_path / "report"
    assert main([*words, *log, "--engine", "local", "--out", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert "SAKILA.CUSTOMER_NOTE" in text
    assert "SAKILA.CUSTOMER NOTE" not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["whatif", "--ur", "000000000000A1B2E377"], "warning: no foreign keys are known"),
        (["state", "--diff", "start", "start"], "warning: nothing found: the log changes no row"),
    ],
)
def test_csv_says_beside_it_why_an_exit_code_is_not_0(
    words: list[str], said: str, sakila_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    assert main([*words, *log, "--engine", "local", "--format", "csv"]) == 4
    assert f"\n{said}" in "\n" + capsys.readouterr().err


def test_columns(sakila: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["report", "audit", *named(sakila), "--ur", "000000000000A1B2E38C", "--format", "csv"]
    assert main([*words, "--columns", "committed,key,sequence"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "committed,key,sequence"
    assert lines[1] == '2024-03-15 08:00:06.304233,"{""RENTAL_ID"": 13753}",1'
    assert main([*words, "--columns", "colour"]) == 12
    assert "found column colour; expected one of: committed" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--group-by", "colour"])
    assert "found 'colour'; expected one of: user, job" in capsys.readouterr().err


def test_durations() -> None:
    assert [seconds_of(text) for text in ("90", "90s", "5m", "1h30m", "2d")] == [
        90, 90, 300, 5400, 172_800,
    ]  # fmt: skip
    with pytest.raises(UsageError, match="LR1001 found 'soon'"):
        seconds_of("soon")


def related(folder: Path, times: dict[str, str], counts: dict[str, int]) -> Relations:
    """The relations of units that commit at some positions, each with these changes by table."""
    made = Relations(folder)
    made.run("header_parts")
    for position, time in times.items():
        unit = {"commit_position": position, "identity": f"{position}0001"}
        facts = {"urid": position, "member": 1, "commit_time": time, "begin_position": position}
        made.add("unit_parts", pa.Table.from_pylist([{**unit, **facts, "records": 1, "bytes": 1}]))
        rows = [{**unit, "table_name": name, "changes": n} for name, n in counts.items()]
        made.add("count_parts", pa.Table.from_pylist(rows))
    made.run("headers")
    return made


def test_moments_clocks_and_the_order_of_tables(tmp_path: Path) -> None:
    """Tables with as many changes are in the order of their names; positions are a clock where they
    are as far from several commit times."""
    hour = "00DECBEAE1CD1E900000", "00DECBF84B075E900000"
    times = ["2024-03-15 08:00:00.000012345678", "2024-03-15 09:00:00.000012"]
    clocked = related(
        tmp_path, dict(zip(hour, times, strict=True)), {"B": 2, "A": 2, "C": 3, "D": 3}
    )
    rows = clocked.select("FROM units ORDER BY number").to_pylist()
    assert [name for name, _ in rows[0]["tables"]] == ["C", "D", "A", "B"]
    assert [line["commit_time"] for line in rows] == [
        datetime(2024, 3, 15, 8, 0, 0, 12), datetime(2024, 3, 15, 9, 0, 0, 12),
    ]  # fmt: skip
    assert [line["begin_time"] for line in rows] == [line["commit_time"] for line in rows]
    for other in (["2024-03-15 08:00:00", "2024-03-15 08:30:00"], ["unknown", times[1]]):
        without = related(tmp_path, dict(zip(hour, other, strict=True)), {"A": 1})
        begins = without.select("SELECT begin_time FROM units")["begin_time"]
        assert begins.to_pylist() == [None, None]


def test_who_changed_a_column_and_the_undo_of_one_of_them(
    sakila: Path, changes: list[dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jobs are counted by the updates that change the column; a DELETE is none. The command below
    takes back exactly these."""
    chosen = ["--table", "CUSTOMER", "--changed", "EMAIL"]
    expected: Counter[tuple[str, ...]] = Counter()
    for change in changes:
        if change["table"] == "SAKILA.CUSTOMER" and change["op"] == "update":
            before, after = (json.loads(change[side]) for side in ("before", "after"))
            changed = before["email"] != after["email"]
            expected[change["authid"], change["correlation_id"], change["plan"]] += changed
    assert main(["who", *named(sakila), *chosen, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    found = {(row["user"], row["job"], row["plan"]): row["updates"] for row in report["rows"]}
    assert found == {who: count for who, count in expected.items() if count}
    assert not any(row["deletes"] or row["inserts"] for row in report["rows"])
    assert "bytes" not in report["columns"]

    who, command = next(iter(report["commands"].items()))
    words = shlex.split(command)
    assert words[-4:] == ["--cascade", "non-conflicting", "--out", "undo-1"]
    words[-3:] = ["force", "--out", str(tmp_path / "undo"), "--schema", "none"]
    assert main(words[1:]) in (0, 4)
    script = "".join(path.read_text("utf-8") for path in (tmp_path / "undo").glob("*.sql"))
    assert script.count("UPDATE sakila.customer SET") == found[tuple(who.split())]
    assert main(["who", *named(sakila), *chosen, "--group-by", "user"]) == 0
    assert "--user CLERK0 --cascade non-conflicting" in capsys.readouterr().out


def test_counts_by_values_are_those_of_all_where_all_satisfy_them(log: replay.Log) -> None:
    every = log.report("summary", group_by=("table", "user"), table="RENTAL")
    same = log.report("summary", group_by=("table", "user"), table="RENTAL", where="rental_id > 0")
    columns = [name for name in every.columns if name not in ("bytes", "updates")]
    assert [[row[name] for name in columns] for row in same.rows] == [
        [row[name] for name in columns] for row in every.rows
    ]
    # headers count an update that changes nothing
    assert sum(row["updates"] for row in same.rows) <= sum(row["updates"] for row in every.rows)


def test_units_of_a_query_are_those_that_every_command_takes(
    sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT unit FROM units WHERE authid <> 'CLERK0' AND (changes > 50 OR plan = 'X')"
    assert main(["sql", *named(sakila), "--query", query, "--format", "csv"]) == 0
    asked = capsys.readouterr().out.split()[1:]
    chosen = [word for unit in asked for word in ("--ur", unit)]
    for command in ("redo", "export"):
        for name, words in (("query", ["--units", query]), ("named", chosen)):
            out = tmp_path / f"{command}-{name}"
            assert main([command, *named(sakila), *words, "--out", str(out)]) in (0, 4)
        one, other = (
            json.loads((tmp_path / f"{command}-{name}" / "manifest.json").read_text("utf-8"))
            for name in ("query", "named")
        )
        assert one["selection"].pop("query_units") == len(asked) > 20
        assert one["selection"].pop("unit_query") == query
        assert len(other["selection"].pop("units")) == len(asked)
        assert one["selection"] == other["selection"]
        for manifest in (one, other):
            del manifest["positions"]
        assert one["balance"] == other["balance"]
    for select, found in (("SELECT 1", "no units"), ("SELECT unit, urid FROM units", "2 columns")):
        words = ["--units", select, "--out", str(tmp_path / "none")]
        assert main(["redo", *named(sakila), *words]) == 12
        assert f"LR1001 found --units with {found}" in capsys.readouterr().err.replace(
            "values that are ", ""
        )


def test_a_unit_is_named_by_its_last_digits(
    sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", *named(sakila), "--ur", "b2e38c", "--json"]) == 0
    versions = json.loads(capsys.readouterr().out)["versions"]
    assert {version["unit"] for version in versions} == {"000000000000A1B2E38C/1"}
    assert main(["sql", *named(sakila), "--query", "SELECT urid FROM units"]) == 0
    ends = Counter(line.strip()[-4:] for line in capsys.readouterr().out.splitlines()[1:])
    shared = next(end for end, count in ends.items() if count > 1)
    for digits, message in (("FFFFFF", "no unit of recovery"), (shared, "one of several units")):
        code = main(["history", *named(sakila), "--ur", digits])
        said = capsys.readouterr().err
        assert (code, message in said) == (12, True), said


def test_a_unit_by_the_number_that_comments_write() -> None:
    """solidDB numbers transactions in decimal digits: ``TRXID=666`` is the unit X'029A'."""
    folder = Path(__file__).resolve().parents[2] / "fixtures" / "soliddb"
    with replay.open_log(source="soliddb", log=folder / "syslog.csv", catalog=folder) as solid:
        (row,) = solid.select(ur="666").units().to_pylist()
        assert row["unit"] == "0000000000000000029A/0"
        assert solid.select(ur="029A").units().to_pylist() == [row]
        with pytest.raises(UsageError, match="LR1004 found --ur 29, which no unit"):
            solid.select(ur="29")
    known = [f"{0x11009:020X}/0", f"{1009:020X}/0"]
    with pytest.raises(UsageError, match="may be one of several units"):
        sql._one_unit("1009", None, known, True)
    assert sql._one_unit("1009", None, known, False)[0] == bytes.fromhex(f"{0x11009:020X}")
