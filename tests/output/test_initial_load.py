"""The state before a log, read from CSV: values as the log would have them, and what is wrong is
named with its place."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from replay.changes.options import ScriptOptions
from replay.dependencies.baseline import Lookup
from replay.errors import InputError, some_of
from replay.output.initial_load import FolderState, StateFiles, state_file, state_rows
from replay.output.migration_load import write_load
from sqlgen.choices import MidnightPolicy
from sqlgen.literals import Policy
from sqlgen.mapping import TableMap
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Column, SqlType, Table

COLUMNS = (
    Column("ID", SqlType.INTEGER, False),
    Column("D", SqlType.DECIMAL, True, 7, 2),
    Column("F", SqlType.DOUBLE),
    Column("T", SqlType.VARCHAR, True, 20),
    Column("B", SqlType.VARBINARY, True, 8),
    Column("DAY", SqlType.DATE),
    Column("AT", SqlType.TIMESTAMP, True, 6),
    Column("YES", SqlType.BOOLEAN),
)
TABLE = Table("S", "T", COLUMNS, ("ID",))
HEADER = "id,d,f,t,b,day,at,yes\n"


def rows(tmp_path: Path, text: str) -> dict[str, list[object]]:
    path = tmp_path / "t.csv"
    path.write_text(HEADER + text, encoding="utf-8")
    found: dict[str, list[object]] = {}
    for part in state_rows(state_file(path, TABLE), TABLE):
        for name, values in part.after.items():
            found.setdefault(name, []).extend(values.to_pylist())
    return found


def test_values_are_as_a_log_has_them(tmp_path: Path) -> None:
    found = rows(
        tmp_path,
        '1,2.5,1e3,"a ""b""\nc",\\x00ff,2024-02-29,2024-02-29'
        ' 10:11:12.5,t\n2,,,"\\N",,,,\n-3,-7,0.1,"",\\x,0001-01-01,0001-01-01'
        " 00:00:00,f\n",
    )
    assert found == {
        "ID": [1, 2, -3],
        "D": ["2.50", None, "-7.00"],
        "F": [1000.0, None, 0.1],
        "T": ['a "b"\nc', "\\N", ""],
        "B": [b"\x00\xff", None, b""],
        "DAY": ["2024-02-29", None, "0001-01-01"],
        "AT": ["2024-02-29 10:11:12.500000", None, "0001-01-01 00:00:00.000000"],
        "YES": [True, None, False],
    }


def test_a_table_without_rows(tmp_path: Path) -> None:
    assert rows(tmp_path, "") == {}
    (tmp_path / "t.csv").write_text(HEADER.rstrip())
    assert list(state_rows(state_file(tmp_path / "t.csv", TABLE), TABLE)) == []


def test_an_empty_line_is_a_row_of_a_table_with_one_column(tmp_path: Path) -> None:
    table = Table("S", "T", (Column("T", SqlType.VARCHAR, True, 20),))
    (tmp_path / "t.csv").write_text('t\nx\n\n""\ny\n')
    (part,) = state_rows(state_file(tmp_path / "t.csv", table), table)
    assert part.after["T"].to_pylist() == ["x", None, "", "y"]


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        (Column("A", SqlType.DECIMAL, True, 5, 2), "-001.2300", "-1.23"),
        (Column("A", SqlType.DECIMAL, True, 5, 2), "-0.00", "0.00"),
        (Column("A", SqlType.DECIMAL, True, 5), "-0", "0"),
        (
            Column("A", SqlType.TIMESTAMP_TZ, True, 3),
            "2024-02-29 10:11:12.5-05:30",
            "2024-02-29 10:11:12.500-05:30",
        ),
        (Column("A", SqlType.TIMESTAMP, True, 3), "2024-02-29 24:00:00", "2024-02-29 24:00:00.000"),
        (Column("A", SqlType.DECFLOAT), "1.5E+300", "1.5E+300"),
        (Column("A", SqlType.CHAR, True, 3), "ab   ", "ab   "),
        (Column("A", SqlType.REAL), "1e39", None),
        (Column("A", SqlType.DOUBLE), "1e400", None),
        (Column("A", SqlType.DOUBLE), "nan", None),
        (Column("A", SqlType.DECFLOAT), "much", None),
        (Column("A", SqlType.DATE), "2024-02-30", None),
        (Column("A", SqlType.TIME), "24:00:01", None),
        (Column("A", SqlType.TIMESTAMP, True, 6), "2024-02-30 10:00:00", None),
        (Column("A", SqlType.TIMESTAMP, True, 6), "2024-02-28 10:60:00", None),
        (Column("A", SqlType.TIMESTAMP_TZ, True, 3), "2024-02-29 10:11:12.1234+01:00", None),
        (Column("A", SqlType.VARCHAR, True, 3), "abcd", None),
        (Column("A", SqlType.CHAR, True, 3), "abcd", None),
        (Column("A", SqlType.BINARY, True, 2), "\\x00", None),
        (Column("A", SqlType.VARBINARY, True, 2), "\\xaa0102", None),
    ],
)
def test_a_value_is_one_that_the_log_could_have(
    tmp_path: Path, column: Column, text: str, value: str | None
) -> None:
    (tmp_path / "t.csv").write_text(f"\ufeffa\n{text}\n", encoding="utf-8")
    table = Table("S", "T", (column,))
    if value is None:
        with pytest.raises(InputError, match="line 2, column A") as caught:
            list(state_rows(state_file(tmp_path / "t.csv", table), table))
        assert caught.value.code == "LR2035"
    else:
        assert next(state_rows(state_file(tmp_path / "t.csv", table), table)).after[
            "A"
        ].to_pylist() == [value]


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("x,1,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t", "ID", "'x'"),
        ("2147483648,1,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t", "ID", "'2147483648'"),
        (",1,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t", "ID", "NULL"),
        ("1,1.234,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t", "D", "'1.234'"),
        ("1,1e2,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t", "D", "'1e2'"),
        ("1,1,one,a,\\x,2024-01-01,2024-01-01 00:00:00,t", "F", "'one'"),
        ("1,1,1,a,00,2024-01-01,2024-01-01 00:00:00,t", "B", "'00'"),
        ("1,1,1,a,\\x,01.02.2024,2024-01-01 00:00:00,t", "DAY", "'01.02.2024'"),
        ("1,1,1,a,\\x,2024-01-01,2024-01-01,t", "AT", "'2024-01-01'"),
        ("1,1,1,a,\\x,2024-01-01,2024-01-01 00:00:00,yes", "YES", "'yes'"),
    ],
)
def test_a_value_that_is_none_is_named(tmp_path: Path, line: str, column: str, found: str) -> None:
    good = "1,1,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t\n"
    with pytest.raises(InputError, match=f"found {found}") as caught:
        rows(tmp_path, good + line + "\n")
    assert (caught.value.code, caught.value.where.line, caught.value.where.column) == (
        "LR2035",
        3,
        column,
    )


def test_a_decimal_must_fit_its_digits(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="123456.00"):
        rows(tmp_path, "1,123456.00,1,a,\\x,2024-01-01,2024-01-01 00:00:00,t\n")


def test_columns_must_be_those_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for header in ("id,d\n", "id,d,f,t,b,day,at,yes,more\n", "", "id,d,f,t,b,day,at,at\n"):
        path.write_text(header + "1\n" * bool(header), encoding="utf-8")
        with pytest.raises(InputError, match="expected those of the log's table") as caught:
            list(state_rows(state_file(path, TABLE), TABLE))
        assert caught.value.code == "LR2035"
    path.write_text(HEADER + "1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2, .*found 2 values; expected 8") as caught:
        list(state_rows(state_file(path, TABLE), TABLE))
    assert caught.value.code == "LR2035"


def test_a_folder_of_files_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a store each listing is a request: one for all tables, and for what is of none."""
    other = Table("S", "U", COLUMNS)
    for name in ("t.csv", "u.csv", "v.csv"):
        (tmp_path / name).write_text(HEADER, encoding="utf-8")
    listed: list[Path] = []
    iterdir = Path.iterdir

    def listing(path: Path) -> Iterator[Path]:
        listed.append(path)
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", listing)
    files = StateFiles(tmp_path)
    taken = {**files.of([TABLE], [TABLE, other]), **files.of([other], [TABLE, other])}
    assert files.others(taken.values()) == ["v.csv"]
    assert listed == [tmp_path]
    state = FolderState(tmp_path, [TABLE, other])
    ids = (pa.array([1], pa.int32()),)
    counts = state.counts([Lookup(table, ("ID",), ids, False) for table in (TABLE, other)])
    assert [count.tolist() for count in counts] == [[0], [0]]
    assert listed == [tmp_path, tmp_path]


def test_files_are_found_by_name(tmp_path: Path) -> None:
    twin = Table("OTHER", "T", COLUMNS)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(HEADER.encode()))
    assert StateFiles(tmp_path).of([TABLE]) == {"S.T": tmp_path / "t.csv.gz"}
    with pytest.raises(InputError, match="expected one for each table"):
        StateFiles(tmp_path).of([TABLE, twin])
    (tmp_path / "S.T.csv").write_text(HEADER)
    (tmp_path / "other.t.csv").write_text(HEADER)
    assert {path.name for path in StateFiles(tmp_path).of([TABLE, twin]).values()} == {
        "S.T.csv",
        "other.t.csv",
    }
    assert StateFiles(tmp_path).others([tmp_path / "S.T.csv"]) == ["other.t.csv", "t.csv.gz"]
    with pytest.raises(
        InputError, match="found S.T.csv and t.csv.gz; expected one file for a table"
    ):
        StateFiles(tmp_path).of([TABLE])
    (tmp_path / "other.t.csv.gz").write_bytes(b"")
    with pytest.raises(
        InputError, match="found other.t.csv and other.t.csv.gz; expected one file for a table"
    ):
        StateFiles(tmp_path).of([TABLE, twin])
    with pytest.raises(InputError, match="cannot be read"):
        StateFiles(tmp_path / "no").of([TABLE])


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_a_key_is_loaded_as_it_is_or_not_at_all(dialect: str, tmp_path: Path) -> None:
    """Hour 24 of a key is the next day's hour 0 in no script: that may be another row."""
    table = Table("S", "T", (Column("AT", SqlType.TIMESTAMP, False, 6),), ("AT",))
    (tmp_path / "t.csv").write_text("at\n2024-02-29 24:00:00\n2024-03-01 00:00:00\n")
    render = RenderOptions(policy=Policy(midnight=MidnightPolicy.NEXT))
    options = ScriptOptions(dialect, render=render)
    with pytest.raises(InputError, match="line 2, column AT.*It is of a key") as caught:
        write_load(tmp_path / "load", {table: tmp_path / "t.csv"}, options, TableMap(), None, ())
    assert caught.value.code == "LR3001"


def test_some_of_several_things() -> None:
    assert some_of([], 0) == ""
    assert some_of(["A", "B"], 2) == "A, B"
    named = "; ".join(map(str, range(20)))
    assert some_of(range(1021), 1021, "; ") == f"{named} and 1,001 more"
