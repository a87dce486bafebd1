"""Rows at points of logs, against the states that the Sakila log was written with."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import replay
from replay.cli.main import main
from replay.errors import InputError, Refusal, TargetError, UsageError
from replay.output.initial_load import StateFiles, state_file, state_rows
from replay.output.state_files import state_csv
from replay.reports.images import shown_value
from replay.reports.net_rows import NetChange
from replay.reports.rows_at import TableNet, rows_at
from replay.reports.state_load import load_rows
from replay.targets import target_named
from replay.targets.states import path_of, state_tables
from replay.targets.target import SqlTarget
from sqlgen.schema import Column, SqlType, Table
from tests.support import luwbuilder as luw
from tests.support import solidbuilder as solid
from tests.support.few import few
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.states import compare_states

POINTS = {
    "start": "initial",
    "00DECBF4DD6635100000": "pit1",
    "2024-03-15 09:28:26.655718": "pit2",
    "00DECC0A6BAE3A100000": "pit3",
    "end": "final",
}


@pytest.fixture(scope="module")
def log(sakila: Path) -> Iterator[replay.Log]:
    with replay.open_log(control=sakila / "sakila.ctl", data=sakila / "sakila.dat.gz") as opened:
        yield opened


def named(sakila: Path) -> list[str]:
    files = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    return [*files, "--engine", "local"]


def rows_in(folder: Path, log: replay.Log) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows of all tables of a state folder."""
    states = {}
    for table in log.tables:
        (path,) = StateFiles(folder).of([table]).values()
        found: Counter[tuple[Any, ...]] = Counter()
        for part in state_rows(state_file(path, table), table):
            columns = [part.after[column.name].to_pylist() for column in table.columns]
            found.update(zip(*columns, strict=True))
        states[f"{table.schema}.{table.name}"] = found
    return states


def rows_of(state: Any) -> dict[str, Counter[tuple[Any, ...]]]:
    states = {}
    for table in state.tables:
        columns = [column.to_pylist() for column in table.rows.columns]
        name = f"{table.dataset.table.schema}.{table.dataset.table.name}"
        states[name] = Counter(zip(*columns, strict=True))
    return states


@pytest.mark.parametrize(
    ("point", "known"),
    few(
        product(POINTS, ["initial", "final"]),
        ("start", "final"),
        ("00DECBF4DD6635100000", "initial"),
        ("2024-03-15 09:28:26.655718", "final"),
        ("end", "initial"),
    ),
)
def test_every_point_from_before_and_from_after(
    log: replay.Log, sakila: Path, point: str, known: str
) -> None:
    state = log.state(point, sakila / known)
    assert rows_of(state) == rows_in(sakila / POINTS[point], log)
    assert (state.complete, state.exit_code) == (True, 0)


def test_from_a_state_in_between(log: replay.Log, sakila: Path) -> None:
    for point, folder in list(POINTS.items())[::2]:
        state = log.state(point, sakila / "pit2", initial_at="2024-03-15 09:28:26.655718")
        assert rows_of(state) == rows_in(sakila / folder, log)
    with pytest.raises(InputError, match="LR2036 found a state that is neither"):
        log.state("end", sakila / "pit2")
    with pytest.raises(InputError, match="LR2036 table SAKILA"):
        log.state("end", sakila / "pit2", initial_at="before")


def test_tables_that_the_log_does_not_change_are_named(
    log: replay.Log, sakila: Path, tmp_path: Path
) -> None:
    folder = sakila / "initial"
    (note,) = log.state("end", folder).notes
    assert note.startswith("not written (no changes in this log): ")
    assert note.endswith(f": city.csv.gz, country.csv, staff.csv, store.csv in {folder}")
    assert log.state("end", folder, table="FILM_STOCK").notes == ()
    for path in folder.iterdir():
        if path.name not in note:
            (tmp_path / path.name).symlink_to(path)
    assert log.state("end", tmp_path).notes == ()
    for number in range(22):
        (tmp_path / f"other{number}.csv").touch()
    (note,) = log.state("end", tmp_path).notes
    assert note.endswith(f"other7.csv and 2 more in {tmp_path}")


def test_what_the_log_alone_knows(log: replay.Log, sakila: Path) -> None:
    state = log.state("00DECBF4DD6635100000")
    expected = rows_in(sakila / "pit1", log)
    touched = Counter[str]()
    for change in log.select().changes().read_all().to_pylist():
        touched[change["table"]] += 1
    for name, rows in rows_of(state).items():
        assert not rows - expected[name], f"{name} has rows that were not there"
        assert rows or not touched[name]
    assert (state.complete, state.exit_code) == (False, 4)


def test_the_difference_of_two_points(log: replay.Log, sakila: Path) -> None:
    one, other = (
        {
            name: Counter({tuple(map(shown_value, row)): n for row, n in rows.items()})
            for name, rows in rows_in(sakila / folder, log).items()
        }
        for folder in ("pit1", "pit3")
    )
    found = log.differences("00DECBF4DD6635100000", "00DECC0A6BAE3A100000")
    columns = {f"{t.schema}.{t.name}": [c.name for c in t.columns] for t in log.tables}
    gone: dict[str, Counter[tuple[Any, ...]]] = {name: Counter() for name in one}
    come: dict[str, Counter[tuple[Any, ...]]] = {name: Counter() for name in one}
    for row in found.rows:
        names = columns[row["table"]]
        for image, side in ((row["before"], gone), (row["after"], come)):
            if image is not None:
                side[row["table"]][tuple(image[name] for name in names)] += 1
        if row["change"] == "update":
            assert row["changed"] == {
                name: [row["before"][name], row["after"][name]]
                for name in names
                if row["before"][name] != row["after"][name]
            }
    for name in one:
        assert gone[name] == one[name] - other[name]
        assert come[name] == other[name] - one[name]
    back = log.differences("00DECC0A6BAE3A100000", "00DECBF4DD6635100000", table="CUSTOMER")
    forth = log.differences("00DECBF4DD6635100000", "00DECC0A6BAE3A100000", table="CUSTOMER")
    assert [row["before"] for row in back.rows] == [row["after"] for row in forth.rows]


def test_folders_of_rows(log: replay.Log, sakila: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "state", tmp_path / "csv"
    words = ["state", *named(sakila), "--at", "2024-03-15 09:28:26.655718"]
    words += ["--initial", str(sakila / "initial")]
    assert main([*words, "--out", str(out)]) == 0
    connection = duckdb.connect()
    expected = rows_in(sakila / "pit2", log)
    for name, rows in expected.items():
        read = f"SELECT count(*) FROM read_parquet('{out}/{name.lower()}/*.parquet')"
        (count,) = connection.execute(read).fetchall()[0]
        assert count == rows.total()
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["complete"] is True
    assert main([*words, "--out", str(out)]) == 12
    assert main([*words, "--out", str(out), "--overwrite"]) == 0
    assert main([*words, "--out", str(again), "--format", "csv"]) == 0
    assert rows_in(again, log) == expected
    state = log.state("start", again, initial_at="2024-03-15 09:28:26.655718")
    assert rows_of(state) == rows_in(sakila / "initial", log)


def test_databases(
    log: replay.Log, sakila: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with target_named("duckdb").scratch(None) as url:
        words = ["state", *named(sakila), "--initial", str(sakila / "initial"), "--to", url]
        assert main([*words, "--at", "end"]) == 0
        assert "45,399 rows are in duckdb:" in capsys.readouterr().out
        expected = tmp_path / "final"
        expected.mkdir()
        for table in log.tables:
            (path,) = StateFiles(sakila / "final").of([table]).values()
            shutil.copy(path, expected)
        assert compare_states(url, "sakila", expected) == []
        state = log.state("00DECBF4DD6635100000", url)
        assert rows_of(state) == rows_in(sakila / "pit1", log)
        assert main([*words, "--at", "end"]) == 8
        assert "expected an empty table" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_made(
    sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = [
        "--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat"),
        "--engine", "local",
    ]  # fmt: skip
    words = ["state", *log, "--table", "CUSTOMER", "--at", "end", "--to"]
    for url in (f"duckdb:///{tmp_path}/noon.duckdb", f"sqlite:///{tmp_path}/sakila.db"):
        assert main([*words, url]) == 4, "rows that the log knows"
        assert f"1 row is in {url.partition(':')[0]}:" in capsys.readouterr().out
        assert main([*words, url]) == 8
        assert "expected an empty table" in capsys.readouterr().err
        assert main(["state", *log, "--table", "RENTAL", "--at", "end", "--to", url]) == 4
    assert main([*words, f"sqlite:///{tmp_path}/noon.db"]) == 8
    assert "?schema=sakila" in capsys.readouterr().err
    assert not (tmp_path / "noon.db").exists(), "nothing of a run that failed"
    assert main([*words, f"duckdb:///{tmp_path}/none/noon.duckdb"]) == 12
    assert "no such file" in capsys.readouterr().err


def test_what_a_file_refuses_is_told_and_nothing_of_it_stays(
    sakila_small: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    url = f"sqlite:///{tmp_path}/sakila.db"
    words = ["state", *log, "--engine", "local", "--table", "CUSTOMER", "--at", "end", "--to", url]
    assert main(words) == 4
    with closing(sqlite3.connect(tmp_path / "sakila.db")) as connection:
        (definition,) = connection.execute("SELECT sql FROM sqlite_master").fetchone()
        connection.execute("DROP TABLE customer")
        connection.execute(f"{definition.rpartition(')')[0]}, CHECK (customer_id < 0))")
    assert main(words) == 8
    said = capsys.readouterr().err
    assert "LR4001" in said
    assert "table sakila.customer" in said
    assert "CHECK constraint failed" in said

    def full(target: SqlTarget, url: str, *state: object) -> int:
        for end in ("-journal", "-wal"):
            Path(f"{path_of(url)}{end}").write_text("left")
        raise TargetError("LR4001", "SQLITE_FULL: database or disk is full")

    monkeypatch.setattr(SqlTarget, "load_state", full)
    (tmp_path / "sakila.db").unlink()
    assert main(words) == 8
    assert list(tmp_path.iterdir()) == [], "a journal would be taken for the next file's"


def test_a_file_of_a_table_that_the_log_lacks_is_not_compared(
    sakila: Path, sakila_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    for name in ("customer.csv.gz", "staff.csv"):
        (tmp_path / "state").mkdir(exist_ok=True)
        shutil.copy(sakila / "initial" / name, tmp_path / "state")
    to = ["--to", f"sqlite:///{tmp_path}/sakila.db", "--engine", "local"]
    assert main(["state", *log, "--table", "CUSTOMER", "--at", "end", *to]) == 4
    assert main(["verify", *log, *to, "--expected", str(tmp_path / "state")]) == 8
    said = capsys.readouterr().out
    assert "not compared: table staff: neither the log nor the database has it" in said


def test_a_replayed_database_knows_where_it_stands(
    sakila: Path, sakila_small: Path, tmp_path: Path
) -> None:
    target = target_named("duckdb")
    control, data = sakila_small / "small.ctl", sakila_small / "small.dat"
    with replay.open_log(control=control, data=data) as log, target.scratch(None) as url:
        work = log.select(tables="SAKILA.RENTAL")
        first = work.changes().read_all()["commit_lrsn"][0].as_py()
        states = {point: log.state(point, sakila / "initial", table="RENTAL") for point in
                  ("start", first, "end")}  # fmt: skip
        load_rows(url, states["start"].tables)
        plan = work.replay(url, until=first)
        assert plan.apply().exit_code == 0
        plan.close()
        assert main(["mark", "noon", "--to", url]) == 0
        for point, state in states.items():
            assert rows_of(log.state(point, url, table="RENTAL")) == rows_of(state)
        noon = log.state("noon", url, table="RENTAL")
        assert rows_of(noon) == rows_of(states[first]) != rows_of(states["start"])
        with pytest.raises(UsageError, match="Marks: noon"):
            log.state("midnight", url)


def test_a_row_that_is_not_as_the_log_found_it(
    log: replay.Log, sakila: Path, tmp_path: Path
) -> None:
    shutil.copytree(sakila / "initial", tmp_path / "wrong")
    path = tmp_path / "wrong" / "film_stock.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\n819,1,2\n", "\n819,1,7\n"), encoding="utf-8")
    with pytest.raises(InputError, match=r"FILM_ID=819, STORE_ID=1: ON_HAND is 7, the log has 2"):
        log.state("end", tmp_path / "wrong", table="FILM_STOCK", initial_at="before")


def test_printed_rows(sakila: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["state", *named(sakila), "--at", "end", "--initial", str(sakila / "initial")]
    assert main([*words, "--table", "FILM_STOCK"]) == 0
    assert capsys.readouterr().out.startswith("film_id,store_id,on_hand\n")
    keys = ["--table", "CUSTOMER", "--key", "511", "--key", "customer_id=1"]
    assert main([*words, *keys]) == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert {first.partition(",")[0], second.partition(",")[0]} == {"511", "1"}
    assert main([*words, "--table", "KIOSK_SCAN", "--key", "1"]) == 12
    assert "found --key for SAKILA.KIOSK_SCAN, which has no key" in capsys.readouterr().err
    assert main(words) == 12
    assert "found 11 tables and no --out" in capsys.readouterr().err
    assert main(["state", *named(sakila), "--at", "nonsense", "--table", "FILM_STOCK"]) == 12
    assert "expected a commit position" in capsys.readouterr().err


# -- net changes
# -------------------------------------------------------------------------------------------------


def changes(*entries: tuple[int, str | None, str | None], places: str = "") -> pa.Table:
    """Changes (unit, before, after) of rows ``KEYvalue``: the first letter is the key. ``places``:
    a letter for each, ``-`` for none."""
    kind = pa.struct([("K", pa.string()), ("V", pa.string())])

    def image(text: str | None) -> dict[str, str] | None:
        return None if text is None else {"K": text[0], "V": text[1:]}

    before, after = ([entry[side] for entry in entries] for side in (1, 2))
    return pa.table(
        {
            "commit_lrsn": [f"{entry[0]:020d}" for entry in entries],
            "urid": [f"{entry[0]:020d}" for entry in entries],
            "member": pa.array([1] * len(entries), pa.int32()),
            "op": ["truncate" if (old, new) == (None, None) else "x" for _, old, new in entries],
            "before": pa.array([image(text) for text in before], kind),
            "after": pa.array([image(text) for text in after], kind),
            "key_before": pa.array([text and text[0] for text in before], pa.string()),
            "key_after": pa.array([text and text[0] for text in after], pa.string()),
            "image_before": pa.array(before, pa.string()),
            "image_after": pa.array(after, pa.string()),
            "rid": pa.array(
                [None if place == "-" else ord(place) for place in places or "-" * len(entries)],
                pa.uint64(),
            ),
        }
    )


def net(*tables: pa.Table, keyed: bool = True) -> tuple[dict[str, tuple[Any, Any]], list[str]]:
    change = NetChange(keyed)
    for table in tables:
        change.add(table)
    rows = change.rows()
    assert rows is not None
    ends = zip(rows.begin_text.to_pylist(), rows.end_text.to_pylist(), strict=True)
    return dict(zip(rows.keys.to_pylist(), ends, strict=True)), change.contradictions


def test_keys_may_shift_within_a_unit_in_any_order() -> None:
    up = changes((1, "1a", "2a"), (1, "2b", "3b"), (1, "3c", "4c"))
    assert net(up) == (
        {"1": ("1a", None), "2": ("2b", "2a"), "3": ("3c", "3b"), "4": (None, "4c")},
        [],
    )
    swap = changes((1, "1a", "2a"), (1, "2b", "1b"))
    assert net(swap) == ({"1": ("1a", "1b"), "2": ("2b", "2a")}, [])


@pytest.mark.parametrize(
    ("shown", "there"),
    [
        ([(1, "1a", "1a")], "1"),
        ([(1, "1a", "1b"), (1, "1b", "1a")], "1"),
        ([(1, "1a", None), (1, None, "1a")], "1"),
        ([(1, "1a", "2a"), (1, "2a", "1a")], "1"),
        ([(1, "1a", "1b"), (2, "1b", "1b"), (2, None, "2a"), (2, "2a", None)], ""),
    ],
)
def test_a_key_that_a_unit_leaves_as_it_found_it_is_there(
    shown: list[tuple[int, str | None, str | None]], there: str
) -> None:
    found = {there: (f"{there}a", f"{there}a")} if there else {"1": ("1a", "1b")}
    assert net(changes(*shown)) == (found, [])
    _, wrong = net(changes((1, "1a", "1a"), (2, "1b", "1c")))
    assert wrong == ["1 is not as the unit before left it"]


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ("xyz", {"1": ("1a", "1a"), "2": ("2a", "2a"), "3": ("3a", None), "4": (None, "4a")}),
        ("xxx", {"3": ("3a", None), "4": (None, "4a")}),
        ("xy-", {"3": ("3a", None), "4": (None, "4a")}),
    ],
)
def test_places_tell_rows_apart_that_are_alike(
    places: str, found: dict[str, tuple[str | None, str | None]]
) -> None:
    shown = ((1, "3a", "1a"), (1, "1a", "2a"), (1, "2a", "4a"))
    (rows, wrong) = net(changes(*shown, places=places))
    assert (rows, wrong) == (found, [])


def test_a_row_that_may_have_moved_is_not_two() -> None:
    for ids_part, keys in ((True, ["1", "2", "3"]), (False, ["1", "3"])):
        change = NetChange(True, ids_part=ids_part)
        change.add(changes((1, "1a", "2a"), (1, "2a", "3a"), places="xy"))
        rows = change.rows()
        assert rows is not None
        assert sorted(rows.keys.to_pylist()) == keys


@pytest.mark.parametrize(("places", "start"), [("", ["1x"]), ("ab", ["1x"]), ("--", ["1x"])])
def test_a_row_without_a_key_that_another_one_replaces(places: str, start: list[str]) -> None:
    change = NetChange(False)
    change.add(changes((1, "1x", "1e"), (1, None, "1x"), places=places))
    rows = change.rows()
    assert rows is not None
    assert sorted(filter(None, rows.begin_text.to_pylist())) == start
    assert sorted(filter(None, rows.end_text.to_pylist())) == ["1e", "1x"]


def test_units_follow_one_another_over_parts() -> None:
    one = changes((1, None, "1a"), (1, "1a", "1b"), (2, "1b", "1c"))
    two = changes((3, "1c", None), (4, None, "1d"))
    assert net(one, two) == ({"1": (None, "1d")}, [])
    assert net(changes((1, "1a", "1b")), changes((2, "1b", "1a"))) == ({"1": ("1a", "1a")}, [])


def test_contradictions_are_named() -> None:
    _, wrong = net(changes((1, "1a", "1b"), (2, "1c", "1d")))
    assert wrong == ["1 is not as the unit before left it"]
    _, wrong = net(changes((1, None, "1a")), changes((2, None, "1b")))
    assert wrong == ["1 is not as the unit before left it"]
    _, wrong = net(changes((1, None, "1a"), (1, None, "1a")))
    assert wrong == ["1 is there twice within a unit"]


def test_emptied_tables_begin_anew() -> None:
    change = NetChange(True)
    change.add(changes((1, "1a", "1b"), (2, None, None), (2, None, "2c")))
    late, early = change.rows(), change.rows_before()
    assert late is not None
    assert early is not None
    assert (change.emptied, late.end_text.to_pylist()) == (True, ["2c"])
    assert early.begin_text.to_pylist() == ["1a"]


def test_rows_without_a_key_are_counted() -> None:
    rows = changes((1, None, "1a"), (1, None, "1a"), (2, "1a", "2b"), (3, "3c", None))
    change = NetChange(False)
    change.add(rows)
    found = change.rows()
    assert found is not None
    assert Counter(filter(None, found.end_text.to_pylist())) == Counter({"1a": 1, "2b": 1})
    assert [text for text in found.begin_text.to_pylist() if text] == ["3c"]


def test_csv_of_odd_values(log: replay.Log, sakila: Path, tmp_path: Path) -> None:
    state = log.state("end", sakila / "final", table="CUSTOMER_NOTE")
    (tmp_path / "customer_note.csv").write_text(
        state_csv(state.tables[0]), encoding="utf-8", newline=""
    )
    again = log.state("end", tmp_path, table="CUSTOMER_NOTE")
    assert rows_of(again) == rows_of(state)


def test_a_table_that_was_emptied_has_no_way_back(log: replay.Log, sakila: Path) -> None:
    state = log.state("end", sakila / "final", table="FILM_STOCK")
    (table,) = state.tables
    late = NetChange(True, emptied=True)
    column = table.dataset.table.columns[0]
    empty = TableNet("T.T", table.dataset, [column], NetChange(True), late)
    with pytest.raises(Refusal, match="LR3002 found that T.T was emptied after the point"):
        rows_at(empty, pa.nulls(0, pa.struct([])), before=False)


@pytest.mark.parametrize("initial_at", few(["before", None], None))
def test_a_state_before_the_log_proves_flagged_units(
    incomplete: Path, initial_at: str | None
) -> None:
    """What ``--baseline`` would release is in the rows that come out."""
    with replay.open_log(
        control=incomplete / "incomplete.ctl", data=incomplete / "incomplete.dat"
    ) as opened:
        state = opened.state("end", incomplete / "initial", initial_at=initial_at)
        expected = rows_in(incomplete / "independent", opened)
        assert rows_of(state) == expected
        assert len(expected) == 6
        assert "11 incomplete units, or dependent on such" in state.warnings[-1]


def test_a_table_is_no_path_to_elsewhere(tmp_path: Path) -> None:
    """Names that are paths, and one that is how another one is called in full, as files of CSV and
    back; a column has a dot in front."""
    columns = (Col("ID", "INT", 4, key=1), Col(".V", "INT", 4), Col("ß", "INT", 4))
    named = [("T", "../../UP"), ("T", "A/50%"), ("T", "A.B"), ("A", "B"), ("C", "B"), ("T", "..")]
    tables = [
        Tab(name, columns, owner=owner, psid=2 + number, obid=3 + number)
        for number, (owner, name) in enumerate(named)
    ]
    builder, out = LogBuilder(tables=tuple(tables)), tmp_path / "deep" / "out"
    for number, table in enumerate(tables):
        builder.unit().insert(table, (number, number, 0))
    control, data = builder.write(tmp_path)
    log = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    assert main(["state", *log, "--at", "end", "--format", "csv", "--out", str(out)]) == 4
    assert {path.name for path in out.iterdir()} == {
        *("...csv", "..%2F..%2Fup.csv", "a%2F50%25.csv", "a.b.csv", "c.b.csv", "manifest.json"),
        "t.a%2Eb.csv",
    }
    assert not list(tmp_path.rglob("up.csv"))
    assert (out / "t.a%2Eb.csv").read_text(encoding="utf-8").split("\n")[1] == "2,2,0"
    again = ["--initial", str(out), "--initial-at", "after", "--out", str(tmp_path / "again")]
    assert main(["state", *log, "--at", "end", "--format", "csv", *again]) == 0
    for path in out.glob("*.csv"):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    assert set(state_tables(out)) >= {"..", "../../up", "a/50%", "t.a.b"}
    plan = tmp_path / "plan"
    words = ["migrate", *log, "--initial", str(tmp_path / "again"), "--schema", "none"]
    (tmp_path / "again" / "..%2F..%2Fup.csv").write_text("id,.v,ß\n9,9,9\n", encoding="utf-8")
    assert main([*words, "--dialect", "sqlite", "--out", str(plan)]) == 0
    assert len(list((plan / "20-load").glob("*-..%2F..%2Fup.sql"))) == 1
    (out / "a.b.csv").unlink()
    (out / "c.b.csv").rename(out / "b.csv")  # of which of two owners?
    assert main(["state", *log, "--at", "start", "--format", "csv", *again, "--overwrite"]) == 12
    assert main(["report", "audit", *log]) == 0


def test_a_letter_that_has_no_way_back(tmp_path: Path) -> None:
    """A Turkish İ is two letters in lower case, and these are other ones in upper case."""
    kinds = (Column("İ", SqlType.INTEGER),)
    table = Table("S", "İ", kinds)
    (tmp_path / f"{'İ'.lower()}.csv").write_text(f"{'İ'.lower()}\n1\n", encoding="utf-8")
    (path,) = StateFiles(tmp_path).of([table]).values()
    assert [part.after["İ"].to_pylist() for part in state_rows(state_file(path, table), table)] == [
        [1]
    ]


def columns_of_later_luw(folder: Path) -> list[str]:
    short = luw.Tab(2, 5, "S", "T", (luw.Col("ID", "INTEGER", key=1),))
    wide = luw.Tab(2, 5, "S", "T", (*short.columns, luw.Col("N", "INTEGER", null=True)))
    builder = luw.LogBuilder("v97", True, "flt16")
    unit = builder.begin()
    unit.add_columns(wide, 1)
    unit.commit()
    unit = builder.begin()
    unit.update(wide, (1, 7), (1, 8), (1, 1))
    unit.commit()
    (folder / "a.log").write_bytes(builder.bytes())
    (folder / "catalog.csv").write_text(luw.catalog_csv([wide]), encoding="utf-8")
    source = ["--source", "db2luw", "--framing", "flt16", "--log", str(folder / "a.log")]
    return [*source, "--catalog", str(folder / "catalog.csv")]


def columns_of_later_solid(folder: Path) -> list[str]:
    columns = (solid.Col("ID", "INTEGER", null=False), solid.Col("N", "INTEGER"))
    table = solid.Tab(10_300, "DBA", "T", columns, key=("ID",))
    log = solid.LogBuilder()
    unit = log.begin()
    unit.ddl(22, "T", table.relid, "ALTER TABLE T ADD COLUMN N INTEGER")
    unit.commit()
    unit = log.begin()
    unit.update(table, (1, 7), (1, 8))
    unit.commit()
    solid.write_catalog(folder, [table])
    path = solid.write_rows(folder / "syslog.parquet", log.rows)
    return ["--source", "soliddb", "--catalog", str(folder), "--log", str(path)]


@pytest.mark.parametrize("made", [columns_of_later_luw, columns_of_later_solid])
def test_a_table_has_the_columns_of_the_point_where_no_row_was_changed_before(
    tmp_path: Path, made: Callable[[Path], list[str]]
) -> None:
    words = made(tmp_path)
    for at, lines in (("start", ["id", "1"]), ("end", ["id,n", "1,8"])):
        out = tmp_path / at
        assert main(["state", *words, "--at", at, "--format", "csv", "--out", str(out)]) == 4
        assert (out / "t.csv").read_text(encoding="utf-8").splitlines() == lines
