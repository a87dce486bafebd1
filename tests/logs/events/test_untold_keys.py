"""Keys that rows exchange within a transaction where old rows do not tell them (REPLICA IDENTITY
DEFAULT): the checks of the target wait as the source's did, or the unit is refused by name."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from replay.cli.main import main
from tests.logs.events.builder import ID, NAME, Row, Table, Topic

SLOT = {"type": "int32", "optional": True, "field": "slot"}
UP = {"type": "int32", "optional": True, "field": "up"}
T, PARENT, CHILD = Table("t", (ID, SLOT)), Table("p", (ID, NAME)), Table("c", (ID, UP))
LATE = "CREATE TABLE app.t (id int PRIMARY KEY, slot int UNIQUE DEFERRABLE);"
FIRM = "CREATE TABLE app.t (id int PRIMARY KEY, slot int UNIQUE);"
FAMILY = (
    "CREATE TABLE app.p (id int PRIMARY KEY, name text);"
    "CREATE TABLE app.c (id int PRIMARY KEY, up int REFERENCES app.p{});"
)
WAITS = "SET CONSTRAINTS ALL DEFERRED;"


def row(number: int, slot: int | None) -> Row:
    return {"id": number, "slot": slot}


def exchanged() -> Topic:
    """1 and 2 exchange their slots; and 3 takes that of 4, which is deleted."""
    topic = Topic()
    topic.transaction(1, (T, "u", None, row(1, 20)), (T, "u", None, row(2, 10)))
    topic.transaction(2, (T, "u", None, row(3, 40)), (T, "d", row(4, None), None))
    return topic


def orphaned() -> Topic:
    """A parent goes before its child refers to another one."""
    topic = Topic()
    gone = PARENT, "d", {"id": 1, "name": None}, None
    topic.transaction(1, gone, (CHILD, "u", None, {"id": 5, "up": 2}))
    return topic


def redo(folder: Path, topic: Topic, ddl: str, dialect: str = "postgres") -> tuple[int, str]:
    """(exit code, script)."""
    log = topic.write(folder / "events.jsonl")
    (folder / "schema.sql").write_text(ddl)
    words = ["--dialect", dialect, "--schema", str(folder / "schema.sql"), "--overwrite"]
    code = main(["redo", str(log), *words, "--out", str(folder / "out")])
    found = sorted((folder / "out").glob("*.sql"))
    return code, "".join(path.read_text("utf-8") for path in found)


@pytest.mark.live
@pytest.mark.parametrize(
    ("topic", "ddl", "before", "after"),
    [
        (
            exchanged(),
            LATE,
            "INSERT INTO app.t VALUES (1, 10), (2, 20), (3, 30), (4, 40)",
            ("app.t", [(1, 20), (2, 10), (3, 40)]),
        ),
        (
            orphaned(),
            FAMILY.format(" DEFERRABLE"),
            "INSERT INTO app.p VALUES (1), (2); INSERT INTO app.c VALUES (5, 1)",
            ("app.c", [(5, 2)]),
        ),
    ],
)
def test_checks_wait_where_the_source_had_them_wait(
    topic: Topic,
    ddl: str,
    before: str,
    after: tuple[str, list[tuple[int, int]]],
    fresh_database: str,
    tmp_path: Path,
) -> None:
    code, script = redo(tmp_path, topic, ddl)
    assert code == 0
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA app; {ddl} {before}".encode())
        place = ["--schema", fresh_database, "--out", str(tmp_path / "other"), "--trace"]
        log = str(tmp_path / "events.jsonl")
        assert main(["redo", log, "--dialect", "postgres", *place]) == 0
        (other,) = (tmp_path / "other").glob("*.sql")
        assert other.read_text("utf-8").count(WAITS) == script.count(WAITS) > 0
        connection.execute(script.encode())
        name, rows = after
        assert connection.execute(f"SELECT * FROM {name} ORDER BY 1".encode()).fetchall() == rows


@pytest.mark.parametrize("topic", [exchanged(), orphaned()], ids=["unique", "foreign"])
def test_checks_of_each_row_need_no_wait(topic: Topic, tmp_path: Path) -> None:
    code, script = redo(tmp_path, topic, FIRM + FAMILY.format(""))
    assert code == 0
    assert WAITS not in script


@pytest.mark.parametrize(
    ("topic", "ddl", "said"),
    [
        (exchanged(), LATE, "update of app.t 2 without the old values of its keys"),
        (orphaned(), FAMILY.format(" DEFERRABLE"), "update of app.c 5 without the old values"),
    ],
)
def test_a_target_that_cannot_wait_refuses_the_unit(
    topic: Topic, ddl: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert redo(tmp_path, topic, ddl, "mysql")[0] == 8
    found = capsys.readouterr().err
    assert "LR3012" in found
    assert said in found
    assert "REPLICA IDENTITY FULL" in found


def test_a_key_that_moves_twice_is_two_updates(tmp_path: Path) -> None:
    """A net change would need the whole row."""
    topic = Topic()
    topic.transaction(
        1,
        (T, "d", row(1, None), None),
        (T, "c", None, row(2, 7)),
        (T, "d", row(2, None), None),
        (T, "c", None, row(3, 7)),
    )
    code, script = redo(tmp_path, topic, FIRM)
    assert code == 0
    updates = [line for line in script.splitlines() if line.startswith("UPDATE")]
    assert updates == [
        "UPDATE app.t SET id = 2, slot = 7 WHERE id = 1;",
        "UPDATE app.t SET id = 3, slot = 7 WHERE id = 2;",
    ]


@pytest.mark.parametrize(("rule", "gone"), [("NO ACTION", True), ("RESTRICT", False)])
def test_a_row_that_others_refer_to_is_gone_for_a_moment_only_where_that_waits(
    rule: str, gone: bool, tmp_path: Path
) -> None:
    """A parent's key changes, and ON UPDATE CASCADE its child, to which others refer."""
    topic = Topic()
    topic.transaction(
        1,
        (PARENT, "d", {"id": 7, "name": "n"}, None),
        (PARENT, "c", None, {"id": 2, "name": "n"}),
        (CHILD, "u", {"id": 9, "up": 7}, {"id": 9, "up": 2}),
    )
    topic.transaction(2, (Table("g", (ID, UP)), "c", None, {"id": 1, "up": 9}))
    code, script = redo(
        tmp_path,
        topic,
        FAMILY.format(" ON UPDATE CASCADE DEFERRABLE")
        + f"CREATE TABLE app.g (id int PRIMARY KEY, up int REFERENCES app.c ON DELETE {rule}"
        " DEFERRABLE);",
    )
    assert code == 0
    assert WAITS in script
    assert ("DELETE FROM app.c" in script) == gone


@pytest.mark.parametrize(("key", "warned"), [("slot", True), ("id", False)])
def test_a_key_of_events_that_is_none_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, warned: bool
) -> None:
    table, topic = Table("t", (ID, SLOT | {"optional": False}), (key,)), Topic()
    topic.transaction(1, (table, "c", None, row(1, 7)), (table, "u", row(2, 7), row(2, 7)))
    redo(tmp_path, topic, "CREATE TABLE app.t (id int PRIMARY KEY, slot int NOT NULL);")
    assert ("message.key.columns" in capsys.readouterr().err) == warned
