"""Commands on change events, of PostgreSQL and of MySQL: each does its work, or is refused by
name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from replay.cli.main import main
from tests.logs.events.builder import BinlogTopic, Table, Topic
from tests.logs.events.test_rules import row

T = Table("t")


def history(topic: Topic) -> Topic:
    """Four transactions; the second file begins in the middle of the third one."""
    topic.transaction(1, (T, "c", None, row(1, "a")), (T, "c", None, row(2, "b")))
    topic.transaction(2, (T, "u", row(1, "a"), row(1, "A")))
    topic.transaction(3, (T, "d", row(1, "A"), None), (T, "u", row(2, "b"), row(2, "B")))
    topic.transaction(4, (T, "c", None, row(5, "e")))
    return topic


@pytest.fixture(params=[Topic, BinlogTopic], ids=["postgres", "mysql"])
def topic(request: pytest.FixtureRequest) -> Topic:
    """The same history by each connector."""
    made: Callable[[], Topic] = request.param
    return history(made())


@pytest.fixture
def log(topic: Topic, tmp_path: Path) -> str:
    """The path of one file of it."""
    return str(topic.write(tmp_path / "all.jsonl"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A DuckDB with the table, empty."""
    path = tmp_path / "target.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA app")
        connection.execute("CREATE TABLE app.t (id integer PRIMARY KEY, name varchar)")
    return path


@pytest.fixture
def nothing(tmp_path: Path) -> str:
    """A state without rows."""
    folder = tmp_path / "before"
    folder.mkdir()
    (folder / "t.csv").write_text("id,name\n", encoding="utf-8")
    return str(folder)


def rows(path: Path) -> list[tuple[int, str]]:
    with duckdb.connect(str(path)) as connection:
        return connection.execute("SELECT id, name FROM app.t ORDER BY id").fetchall()


def split(topic: Topic, folder: Path) -> Callable[[int], Path]:
    """Writes the first or the second file of a folder."""
    folder.mkdir()
    parts = [topic.lines[:8], topic.lines[8:]]
    return lambda number: Topic(parts[number]).write(folder / f"{number}.jsonl")


def test_follow_brings_a_database_up_to_date(topic: Topic, tmp_path: Path, database: Path) -> None:
    part = split(topic, tmp_path / "arriving")
    words = ["follow", str(tmp_path / "arriving"), "--source", "events", "--once", "--settle", "0"]
    words += ["--schema", "none", "--to", f"duckdb:///{database}"]
    part(0)
    assert main(words) == 0
    assert rows(database) == [(1, "A"), (2, "b")]
    part(1)
    assert main(words) == 0
    assert rows(database) == [(2, "B"), (5, "e")]
    assert main(words) == 0
    assert rows(database) == [(2, "B"), (5, "e")]


@pytest.mark.parametrize("name", ["00", "1"])
def test_follow_takes_once_what_a_new_file_delivers_again(
    topic: Topic, tmp_path: Path, database: Path, name: str
) -> None:
    """A connector that begins again sends what was not confirmed: the new file overlaps one that
    was read, whichever of them is the first."""
    words = ["follow", str(tmp_path / "in"), "--source", "events", "--once", "--settle", "0"]
    words += ["--schema", "none", "--to", f"duckdb:///{database}"]
    split(topic, tmp_path / "in")(0)
    assert main(words) == 0
    Topic(topic.lines).write(tmp_path / "in" / f"{name}.jsonl")
    assert main(words) == 0
    assert rows(database) == [(2, "B"), (5, "e")]


def test_verify_compares_and_certifies(
    log: str, database: Path, nothing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"duckdb:///{database}"
    assert main(["replay", log, "--to", url, "--apply", "--schema", "none"]) == 0
    words = ["verify", log, "--to", url, "--expected", nothing, "--schema", "none"]
    assert main(words) == 0
    assert "SAME" in capsys.readouterr().out
    with duckdb.connect(str(database)) as connection:
        connection.execute("UPDATE app.t SET name = 'wrong' WHERE id = 2")
    assert main(words) == 8
    assert main([*words, "--roundtrip"]) == 0
    assert "HOLDS" in capsys.readouterr().out


def test_migrate_moves_the_rows(log: str, tmp_path: Path, nothing: str) -> None:
    out = tmp_path / "plan"
    words = ["migrate", log, "--initial", nothing, "--dialect", "duckdb", "--schema", "none"]
    assert main([*words, "--out", str(out)]) == 0
    with duckdb.connect() as connection:
        for path in sorted(out.rglob("*.sql")):
            text = path.read_text("utf-8")
            if "COPY" not in text:
                connection.execute(text)
        found = connection.execute("SELECT id, name FROM app.t ORDER BY id").fetchall()
    assert found == [(2, "B"), (5, "e")]


def test_sql_asks_changes_and_units(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT op, count(*) FROM changes GROUP BY op ORDER BY op"
    assert main(["sql", log, query, "--schema", "none", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["delete,1", "insert,3", "update,2"]
    assert main(["sql", log, "SELECT count(*) FROM units", "--format", "csv"]) in (0, 4)
    assert capsys.readouterr().out.splitlines()[1] == "4"


def test_times_may_be_in_utc(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As those of events are: the same answer as without the Z."""
    answers = []
    for zone in ("Z", ""):
        assert main(["report", "summary", log, "--until-time", f"2000-01-01T10:00:00{zone}"]) == 4
        assert main(["state", log, "--at", f"2099-01-01 10:00:00.5{zone}", "--out", "-"]) == 4
        answers.append(capsys.readouterr().out)
    assert answers[0].replace(".5Z", ".5") == answers[1]


def test_extract_is_refused(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", log, "--out", str(tmp_path / "part")]) == 8
    said = capsys.readouterr().err
    assert "LR3020" in said
    assert "--source events" in said


def test_files_that_overlap_are_one_log(
    topic: Topic, log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = split(topic, tmp_path / "parts")
    words = ["redo", "--schema", "none", "--dialect", "postgres", "--out"]
    assert main([*words, str(tmp_path / "one"), log]) == 0
    files = [str(part(1)), str(part(0)), log]
    assert main([*words, str(tmp_path / "three"), *files]) == 0
    assert "repeated by another read session" in capsys.readouterr().out
    one, three = (tmp_path / name / "0000-redo.sql" for name in ("one", "three"))
    assert one.read_bytes() == three.read_bytes()


def test_a_snapshot_is_the_state_before(
    topic: Topic, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = type(topic)()
    begun.state(T, row(7, "x"), row(8, None), row(9, "z"))
    history(begun)
    log = str(begun.write(tmp_path / "state.jsonl"))
    words = ["redo", log, "--schema", "none", "--dialect", "postgres", "--out", str(tmp_path / "o")]
    assert main(words) == 0
    assert "(7, 'x')" not in (tmp_path / "o" / "0000-redo.sql").read_text("utf-8")
    option = ["--overwrite", "--log-option", "snapshot=insert"]
    assert main([*words, *option]) == 0
    script = (tmp_path / "o" / "0000-redo.sql").read_text("utf-8")
    statements = script.replace(" OVERRIDING SYSTEM VALUE", "").split("BEGIN;\n")
    assert statements[1].splitlines()[:3] == [
        "INSERT INTO app.t (id, name) VALUES (7, 'x');",
        "INSERT INTO app.t (id, name) VALUES (8, NULL);",
        "INSERT INTO app.t (id, name) VALUES (9, 'z');",
    ]
    capsys.readouterr()
    assert main(["state", log, "--at", "end", "--schema", "none", *option[1:]]) in (0, 4)


def test_lines_without_a_key_behind_a_tab_are_events(topic: Topic, tmp_path: Path) -> None:
    """As a console consumer writes them that prints keys."""
    topic.lines = []
    topic.transaction(1, (Table("t", key=()), "c", None, row(7, "x")))
    log = tmp_path / "events.txt"
    log.write_text("".join(f"null\t{json.dumps(one['value'])}\n" for one in topic.lines), "utf-8")
    out = tmp_path / "o"
    assert main(["redo", str(log), "--schema", "none", "--out", str(out)]) == 4
    assert "(7, 'x')" in (out / "0000-redo.sql").read_text("utf-8")


def test_a_snapshot_alone_is_a_log(topic: Topic, tmp_path: Path) -> None:
    begun = type(topic)()
    begun.state(T, row(7, "x"), row(8, None))
    log = str(begun.write(tmp_path / "state.jsonl"))
    words = ["redo", log, "--schema", "none", "--dialect", "postgres", "--overwrite", "--out"]
    assert main([*words, str(tmp_path / "o")]) == 0
    assert main([*words, str(tmp_path / "o"), "--log-option", "snapshot=insert"]) == 0
    assert "(7, 'x')" in (tmp_path / "o" / "0000-redo.sql").read_text("utf-8")


@pytest.mark.parametrize(
    ("marks", "found"),
    [
        (["first", "true"], "without its last row"),
        (["true", "last"], "without the first row"),
        (["last_in_data_collection", "true", "last"], "without the first row"),
        (["first", "last", "first", "last"], "several snapshots"),
        (["incremental", "last"], "incremental snapshot"),
    ],
)
def test_a_snapshot_that_is_no_state_is_refused(
    marks: list[str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = Topic()
    begun.state(T, *[row(number, "x") for number in range(len(marks))], marks=marks)
    log = str(history(begun).write(tmp_path / "state.jsonl"))
    words = ["redo", log, "--log-option", "snapshot=insert", "--out", str(tmp_path / "out")]
    assert main(words) == 8
    said = capsys.readouterr().err
    assert "LR3020" in said
    assert found in said


def test_tables_of_one_name_in_two_schemas_have_a_first_row_each(tmp_path: Path) -> None:
    begun, alone = Topic(), ["last_in_data_collection"]
    begun.state(Table("a"), row(1, "x"), row(2, "y"), marks=["first", *alone])
    begun.state(T, row(7, "x"), marks=alone)
    begun.state(T, row(8, "y"), marks=["last"])
    begun.lines[-1]["value"]["payload"]["source"]["schema"] = "other"
    log = str(history(begun).write(tmp_path / "state.jsonl"))
    words = ["redo", log, "--schema", "none", "--log-option", "snapshot=insert", "--out"]
    assert main([*words, str(tmp_path / "out")]) == 0


def test_a_snapshot_behind_changes_is_refused(
    topic: Topic, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic.state(T, row(7, "x"), row(8, "y"))
    log = str(topic.write(tmp_path / "state.jsonl"))
    words = ["redo", log, "--log-option", "snapshot=insert", "--out", str(tmp_path / "out")]
    assert main(words) == 8
    assert "behind changes" in capsys.readouterr().err


@pytest.mark.spark
def test_spark_writes_the_same_script(log: str, tmp_path: Path) -> None:
    words = ["redo", log, "--schema", "none", "--dialect", "postgres"]
    for engine in ("local", "spark"):
        assert main([*words, "--engine", engine, "--out", str(tmp_path / engine)]) == 0
    local, spark = (tmp_path / name / "0000-redo.sql" for name in ("local", "spark"))
    assert local.read_bytes() == spark.read_bytes()
