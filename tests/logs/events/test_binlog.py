"""Change events of MySQL's and MariaDB's connectors, on files that are written by hand: order,
wholeness, what foreign keys cascade, and numbers without a sign."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.logs.events import test_rules as rules
from tests.logs.events.builder import ID, NAME, BinlogTopic, Row, Table
from tests.logs.events.test_rules import row

PARENT, CHILD = Table("parent"), Table("child")
KEYS = """
CREATE TABLE app.parent (id INT PRIMARY KEY, name VARCHAR(9));
CREATE TABLE app.child (id INT PRIMARY KEY, name VARCHAR(9), FOREIGN KEY (id)
  REFERENCES app.parent (id) ON DELETE CASCADE ON UPDATE CASCADE);
"""


class Log(rules.Log):
    """A folder with files of events of MySQL, and what commands make of them."""

    dialect = "mysql"


@pytest.fixture
def log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Log:
    """An empty folder for a log."""
    return Log(tmp_path, capsys)


@pytest.mark.parametrize("changed", [{"file": "binlog.000002"}, {"pos": 9000}, {"pos": 0}])
def test_transactions_that_lie_in_each_other_are_set_aside(
    log: Log, changed: dict[str, Any]
) -> None:
    topic = BinlogTopic(server="")
    for unit in (1, 2, 3):
        rows = [row(2 * unit, "a"), row(2 * unit + 1, "a")]
        topic.transaction(unit, *((PARENT, "c", None, one) for one in rows))
    topic.lines[1]["value"]["payload"]["source"].update(changed)
    code, said, _ = log.run(topic)
    assert (code, "LR2016" in said) == (8, True), said


def family(
    connector: str = "mysql", server: str = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
) -> BinlogTopic:
    """A parent and its child come, the parent goes, an update of another one."""
    topic = BinlogTopic(connector=connector, server=server)
    topic.transaction(
        5,
        (PARENT, "c", None, row(1, "a")),
        (PARENT, "c", None, row(2, "b")),
        (CHILD, "c", None, row(1, "x")),
    )
    topic.transaction(6, (PARENT, "d", row(1, "a"), None))
    topic.file = "binlog.000002"
    topic.lsn = 100  # lower than in the file before
    topic.transaction(7, (PARENT, "u", row(2, "b"), row(2, "B")))
    return topic


STATEMENTS = [
    "INSERT INTO app.parent (id, name) VALUES (1, 'a');",
    "INSERT INTO app.parent (id, name) VALUES (2, 'b');",
    "INSERT INTO app.child (id, name) VALUES (1, 'x');",
    "DELETE FROM app.parent WHERE id = 1;",
    "UPDATE app.parent SET name = 'B' WHERE id = 2;",
]


@pytest.mark.parametrize(
    ("connector", "server"),
    [("mysql", "3e11fa47-71ca-11e1-9e33-c80aa9429562"), ("mysql", ""), ("mariadb", "x")],
)
def test_order_is_that_of_files_and_positions(connector: str, server: str, log: Log) -> None:
    topic = family(connector, server)
    random.Random(49).shuffle(topic.lines)
    assert log.run(topic, "--schema", "none")[::2] == (0, STATEMENTS)


def test_a_lost_end_is_damage_in_the_middle_and_in_flight_at_the_end(log: Log) -> None:
    topic = family()
    del topic.lines[7]
    code, said, statements = log.run(topic, "--schema", "none")
    assert (code, statements) == (8, [*STATEMENTS[:3], STATEMENTS[4]])
    assert "without END" in said
    topic = family()
    del topic.lines[-1]
    assert log.run(topic, "--schema", "none")[::2] == (0, STATEMENTS[:4])


def test_binary_logs_of_two_servers_are_refused(log: Log) -> None:
    for file, unit in (("other.000003", 9), ("binlog.000003", 4)):
        topic = family()
        topic.file, topic.lsn = file, 100
        topic.transaction(unit, (PARENT, "u", row(2, "B"), row(2, "C")))
        code, said, _ = log.run(topic, "--schema", "none")
        assert code == 8
        assert "LR3020" in said
        assert "one server" in said


def test_gtids_that_are_missing_are_counted(log: Log) -> None:
    topic = family()
    topic.structure(8, "parent", id="INT")
    topic.transaction(11, (PARENT, "u", row(2, "B"), row(2, "C")))
    code, said, _ = log.run(topic, "--schema", "none")
    assert code == 4
    assert "2 GTID(s) between those of the log are not in it" in said
    assert "app.parent was changed after changes of its rows (ALTER …)" in said
    assert "app.parent was" not in log.run(topic, "--exclude-table", "app.parent")[1]


def test_a_structure_that_comes_before_changes_or_is_an_index_is_not_told_of(log: Log) -> None:
    topic = BinlogTopic()
    topic.structure(1, "parent", id="INT")
    topic.transaction(2, (PARENT, "c", None, row(1, "a")))
    topic.structure(3, "child", id="INT")
    topic.structure(4, "parent", "create unique index i on parent (name)", id="INT")
    assert log.run(topic, "--schema", "none")[0] == 0


def test_a_truncate_is_a_transaction_by_itself(log: Log) -> None:
    for server in ("3e11fa47-71ca-11e1-9e33-c80aa9429562", ""):
        topic = BinlogTopic(server=server)
        topic.transaction(5, (PARENT, "c", None, row(1, "a")))
        topic.truncate(6, PARENT)
        topic.transaction(7, (PARENT, "c", None, row(3, "c")))
        _, said, statements = log.run(topic, "--schema", "none")
        assert [one.split()[0] for one in statements] == ["INSERT", "DELETE", "INSERT"], said


def test_an_xa_transaction_is_refused(log: Log) -> None:
    """The connector sends it when it is prepared, without a transaction."""
    topic = family()
    topic.lines[6]["value"]["payload"]["transaction"] = None
    code, said, statements = log.run(topic, "--schema", "none")
    assert (code, statements) == (8, [])
    assert "LR3020" in said
    assert "XA" in said


# -- what foreign keys cascade
# -------------------------------------------------------------------------------------------------


def test_an_undo_of_what_cascaded_is_refused_by_name(log: Log) -> None:
    """The child went with its parent, and the log does not say so."""
    code, said, statements = log.run(family(), "--schema", log.schema(KEYS), mode="undo")
    assert code == 8
    assert "LR3002" in said
    assert "foreign keys change other rows by themselves" in said
    assert "cascades=logged" in said
    assert not [one for one in statements if "(1, 'a')" in one]


def test_an_undo_of_other_changes_of_the_parent_is_made(log: Log) -> None:
    topic = family()
    words = ["--schema", log.schema(KEYS), "--from-position", f"{(2 << 32):020X}"]
    code, said, statements = log.run(topic, *words, "--where-columns", "key", mode="undo")
    assert (code, statements) == (0, ["UPDATE app.parent SET name = 'b' WHERE id = 2;"]), said


def test_a_key_that_children_follow_is_no_key_to_undo(log: Log) -> None:
    topic = BinlogTopic()
    topic.transaction(5, (PARENT, "d", row(1, "a"), None), (PARENT, "c", None, row(2, "a")))
    code, said, statements = log.run(topic, "--schema", log.schema(KEYS), mode="undo")
    assert (code, statements) == (8, [])
    assert "LR3002" in said


def test_children_that_the_log_does_not_have_count_too(log: Log) -> None:
    topic = BinlogTopic()
    topic.transaction(5, (PARENT, "d", row(1, "a"), None))
    code, said, _ = log.run(topic, "--schema", log.schema(KEYS), mode="undo")
    assert code == 8
    assert "LR3002" in said


def test_a_redo_says_that_the_target_must_cascade(log: Log) -> None:
    code, said, statements = log.run(family(), "--schema", log.schema(KEYS))
    assert (code, statements) == (4, STATEMENTS)
    assert "1 of APP.PARENT by a foreign key of APP.CHILD (ON DELETE CASCADE, ON UPDATE" in said
    assert "a target must have the same foreign keys" in said


def test_unknown_foreign_keys_are_warned_of(log: Log) -> None:
    assert "not in a binary log: name the tables' DDL" in log.run(family())[1]
    for words in (["--schema", "none"], ["--log-option", "cascades=logged"]):
        assert "not in a binary log" not in log.run(family(), *words)[1]


def test_a_user_may_say_that_cascades_are_logged(log: Log) -> None:
    words = ["--schema", log.schema(KEYS), "--log-option", "cascades=logged"]
    code, _, statements = log.run(family(), *words, "--where-columns", "key", mode="undo")
    assert code == 0
    assert "INSERT INTO app.parent (id, name) VALUES (1, 'a');" in statements


# -- numbers without a sign
# -------------------------------------------------------------------------------------------------

BIG = Table("big", (ID, {"type": "int64", "optional": True, "field": "n"}))


def numbers(*changes: int) -> BinlogTopic:
    topic = BinlogTopic()
    topic.transaction(
        5, *((BIG, "c", None, {"id": n, "n": value}) for n, value in enumerate(changes))
    )
    return topic


def test_a_negative_number_that_may_have_no_sign_is_named(log: Log) -> None:
    code, said, statements = log.run(numbers(-1), "--schema", "none")
    assert (code, statements) == (8, [])
    assert "bigint=signed" in said
    assert log.run(numbers(1, 2), "--schema", "none")[0] == 0


@pytest.mark.parametrize("key", ["id", "at", ""])
def test_times_and_json_are_compared_as_such(key: str, log: Log) -> None:
    """Texts of MySQL are others: 00:00:00.000000 of TIME(6), JSON with blanks."""
    at = {"type": "int64", "name": "io.debezium.time.MicroTime", "optional": False, "field": "at"}
    more = {"type": "string", "name": "io.debezium.data.Json", "optional": True, "field": "j"}
    table = Table("t", (ID, at, more), key=(key,) if key else ())
    topic = BinlogTopic()
    topic.transaction(1, (table, "d", {"id": 1, "at": 0, "j": '{"a":1}'}, None))
    words = ["--schema", "none", "--where-columns", "all"]
    (statement,) = log.run(topic, *words)[2]
    assert "`at` = CAST('00:00:00' AS TIME(6))" in statement
    assert """j = CAST('{"a":1}' AS JSON)""" in statement


def test_who_tells_of_the_sign(log: Log) -> None:
    signed = log.run(numbers(-1), "--schema", "none", "--log-option", "bigint=signed")[2]
    assert signed == ["INSERT INTO app.big (id, n) VALUES (0, -1);"]
    topic = numbers(-1, 7)
    topic.structure(6, "big", id="INT", n="BIGINT UNSIGNED")
    assert log.run(topic, "--schema", "none")[2] == [
        "INSERT INTO app.big (id, n) VALUES (0, 18446744073709551615);",
        "INSERT INTO app.big (id, n) VALUES (1, 7);",
    ]
    topic = numbers(-1)
    topic.structure(6, "big", id="INT", n="BIGINT")
    assert log.run(topic, "--schema", "none")[2] == signed


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ({"type": "string", "name": "io.debezium.data.Enum"}, "d\\,e", "'d,e'"),
        ({"type": "string", "name": "io.debezium.data.EnumSet"}, "x,y", "'x,y'"),
        ({"type": "bytes", "name": "io.debezium.data.Bits"}, "BQg=", "2053"),
        ({"type": "int64", "name": "io.debezium.time.MicroTime"}, -45_000_500_000, "'-12:30:00.5'"),
        ({"type": "int64", "name": "io.debezium.time.MicroTime"}, 3_020_399_000_000, "'838:59:59'"),
        ({"type": "int32", "name": "io.debezium.time.Year"}, 2155, "2155"),
        ({"type": "string", "name": "io.debezium.time.ZonedTimestamp"}, "2024-02-29T01:02:03Z",
         "'2024-02-29 01:02:03.000000'"),
    ],
)  # fmt: skip
def test_values_are_exact(field: Row, value: object, shown: str, log: Log) -> None:
    table = Table("t", (ID, NAME, {"optional": True, "field": "v"} | field))
    topic = BinlogTopic()
    topic.transaction(1, (table, "c", None, {"id": 1, "name": None, "v": value}))
    code, said, statements = log.run(topic, "--schema", "none")
    assert code == 0, said
    assert statements == [f"INSERT INTO app.t (id, name, v) VALUES (1, NULL, {shown});"]
