"""Order and wholeness of change events, on files that are written by hand: what is missing, sent
twice, damaged or in several files."""

from __future__ import annotations

import copy
import json
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from replay.cli.main import main
from tests.logs.events.builder import ID, NAME, Row, Table, Topic, text

T = Table("t")


def declared(kind: str, length: int) -> dict[str, Any]:
    """What a connector adds that is asked for the declared type of a column."""
    name = "__debezium.source.column"
    return {"parameters": {f"{name}.type": kind, f"{name}.length": str(length)}}


class Log:
    """A folder with files of events, and what commands make of them."""

    dialect = "postgres"

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def run(
        self,
        lines: Sequence[dict[str, Any]] | Topic,
        *words: str,
        mode: str = "redo",
        dialect: str = "",
    ) -> tuple[int, str, list[str]]:
        """(exit code, messages, statements)."""
        topic = lines if isinstance(lines, Topic) else Topic(list(lines))
        path = topic.write(self.folder / "events.jsonl")
        out = self.folder / f"out-{mode}"
        self.capsys.readouterr()
        code = main(
            [mode, str(path), "--dialect", dialect or self.dialect, "--out", str(out), *words]
            + ["--overwrite"]
        )
        said = "".join(self.capsys.readouterr())
        scripts = "".join(one.read_text("utf-8") for one in sorted(out.glob("*.sql")))
        scripts = scripts.replace(" OVERRIDING SYSTEM VALUE", "")
        kinds = ("INSERT", "UPDATE", "DELETE", "TRUNCATE")
        return code, said, [one for one in scripts.split("\n") if one.startswith(kinds)]

    def schema(self, text: str) -> str:
        """The path of DDL."""
        path = self.folder / "keys.sql"
        path.write_text(text, encoding="utf-8")
        return str(path)


@pytest.fixture
def log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Log:
    """An empty folder for a log."""
    return Log(tmp_path, capsys)


def row(number: int, name: str | None) -> Row:
    return {"id": number, "name": name}


def three() -> Topic:
    """Three transactions: an insert, an update with the old row, two deletes."""
    topic = Topic()
    topic.transaction(1, (T, "c", None, row(1, "a")), (T, "c", None, row(2, "b")))
    topic.transaction(2, (T, "u", row(1, "a"), row(1, "A")))
    topic.transaction(3, (T, "d", row(1, "A"), None), (T, "d", row(2, "b"), None))
    return topic


STATEMENTS = [
    "INSERT INTO app.t (id, name) VALUES (1, 'a');",
    "INSERT INTO app.t (id, name) VALUES (2, 'b');",
    "UPDATE app.t SET name = 'A' WHERE id = 1;",
    "DELETE FROM app.t WHERE id = 1;",
    "DELETE FROM app.t WHERE id = 2;",
]


def test_transactions_come_in_the_order_of_their_commits(log: Log) -> None:
    assert log.run(three()) == (0, log.run(three())[1], STATEMENTS)


def test_the_order_of_lines_says_nothing(log: Log) -> None:
    lines = three().lines
    random.Random(49).shuffle(lines)
    assert log.run(lines)[::2] == (0, STATEMENTS)


def test_what_was_delivered_twice_is_taken_once(log: Log) -> None:
    lines = three().lines
    code, _, statements = log.run([*lines, *copy.deepcopy(lines[2:])])
    assert (code, statements) == (0, STATEMENTS)


def test_one_place_with_two_contents_is_damage(log: Log) -> None:
    lines = three().lines
    other = copy.deepcopy(lines[1])
    other["value"]["payload"]["after"]["name"] = "z"
    code, said, statements = log.run([*lines, other])
    assert code == 8
    assert "two events with one number in a transaction and different content" in said
    assert "quarantined: unit 00000000000000000001/0" in said
    assert STATEMENTS[0] not in statements


@pytest.mark.parametrize("lost", [1, 2])
def test_a_transaction_without_one_of_its_events_is_set_aside(lost: int, log: Log) -> None:
    lines = three().lines
    del lines[lost]
    code, said, statements = log.run(lines)
    assert code == 8
    assert "found 1 of 2 events of a transaction" in said
    assert "quarantined: unit 00000000000000000001/0" in said
    assert not set(STATEMENTS[:2]) & set(statements)


def test_a_transaction_without_any_of_its_events_is_set_aside(log: Log) -> None:
    lines = three().lines
    del lines[5]
    code, said, _ = log.run(lines)
    assert code == 8
    assert "found 0 of 1 events of a transaction" in said
    assert "quarantined: unit 00000000000000000002/0" in said


def test_a_lost_end_sets_its_transaction_aside(log: Log) -> None:
    lines = three().lines
    del lines[6]
    code, said, statements = log.run(lines)
    assert code == 8
    assert "a transaction without END" in said
    assert STATEMENTS[2] not in statements


def test_the_last_transaction_may_be_without_end(log: Log) -> None:
    lines = three().lines
    code, _, statements = log.run(lines[:-1])
    assert statements == STATEMENTS[:3]
    assert code in (0, 4)


def test_two_ends_that_differ_are_damage(log: Log) -> None:
    lines = three().lines
    other = copy.deepcopy(lines[3])
    other["value"]["payload"]["id"] = "1:5000"
    code, said, _ = log.run([*lines, other])
    assert code == 8
    assert "two ENDs of one transaction that differ" in said


@pytest.mark.parametrize("place", [1009, 9000])
def test_an_end_in_another_place_sets_its_transaction_aside(place: int, log: Log) -> None:
    """Before its event, and behind a transaction that names it as the one before."""
    lines = three().lines
    assert lines[6]["value"]["payload"]["status"] == "END"
    lines[6]["value"]["payload"]["id"] = f"2:{place}"
    code, said, statements = log.run(lines)
    assert code == 8
    assert "a commit whose place in the log of its database" in said
    assert "quarantined: unit 00000000000000000002/0" in said
    assert STATEMENTS[2] not in statements


def test_a_whole_transaction_that_is_not_there_is_said(log: Log) -> None:
    lines = three().lines
    del lines[4:7]
    code, said, _ = log.run(lines)
    assert code == 4
    assert "1 transaction(s) that others name as the one before them are not in the log" in said


def test_without_transactions_an_order_is_refused(log: Log) -> None:
    lines = three().lines
    for line in lines:
        line["value"]["payload"]["transaction"] = None
    code, said, _ = log.run([line for line in lines if "op" in line["value"]["payload"]])
    assert code == 8
    assert "LR3020" in said
    assert "provide.transaction.metadata=true" in said


def test_without_the_topic_of_transactions_an_order_is_refused(log: Log) -> None:
    lines = [line for line in three().lines if line["topic"] != "shop.transaction"]
    code, said, _ = log.run(lines)
    assert code == 8
    assert "LR3020" in said
    assert "topic of transactions" in said


def test_events_without_schemas_are_refused_with_the_setting(log: Log) -> None:
    lines = [{"key": None, "value": line["value"]["payload"]} for line in three().lines]
    code, said, _ = log.run(lines)
    assert code == 12
    assert "LR2031" in said
    assert "value.converter.schemas.enable=true" in said


def test_other_connectors_are_refused_by_name(log: Log) -> None:
    lines = three().lines
    for line in lines:
        line["value"]["payload"].get("source", {})["connector"] = "informix"
    code, said, _ = log.run(lines)
    assert code == 8
    assert "connector for informix" in said


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (1, {"op": "u", "after": None}),
        (1, {"after": None}),
        (1, {"op": "d"}),
        (4, {"op": "c"}),
        (4, {"op": "d"}),
        (4, {"op": "t"}),
        (4, {"before": None}),
        (4, {"before": {"id": 2, "name": "a"}}),
        (1, {"after": {"id": 1}}),
        (1, {"after": {"id": 1, "name": 7}}),
        (1, {"after": {"id": None, "name": "a"}}),
        (1, {"after": {"id": 9, "name": "a"}}),
    ],
)
def test_rows_that_do_not_go_with_their_op_set_it_aside(
    line: int, changed: dict[str, Any], log: Log
) -> None:
    lines = three().lines
    update = [one for one in lines if one["value"]["payload"].get("op") == "u"]
    chosen = lines[line] if line == 1 else update[0]
    chosen["value"]["payload"].update(changed)
    chosen["value"]["payload"].setdefault("before", None)
    code, said, _ = log.run(lines, "--log-option", "identity=full")
    assert (code, "do not go with its op" in said) == (8, True), said


def test_an_event_of_another_table_sets_its_transaction_aside(log: Log) -> None:
    lines = three().lines
    lines[1]["value"]["payload"]["source"]["table"] = "u"
    code, said, _ = log.run(lines)
    assert (code, "events of other tables than END" in said) == (8, True), said


def test_numbers_that_contradict_the_places_of_changes_set_their_transaction_aside(
    log: Log,
) -> None:
    lines = three().lines
    first, second = (lines[place]["value"]["payload"]["transaction"] for place in (1, 2))
    first["total_order"], second["total_order"] = 2, 1
    code, said, _ = log.run(lines)
    assert (code, "LR2016" in said) == (8, True), said


def test_a_decimal_of_a_negative_scale_is_not_read(log: Log) -> None:
    amount = {
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "parameters": {"scale": "-2", "connect.decimal.precision": "5"},
        "optional": True,
        "field": "amount",
    }
    topic = Topic()
    topic.transaction(1, (Table("t", (ID, amount)), "c", None, {"id": 1, "amount": "AwQF"}))
    code, said, statements = log.run(topic)
    assert (code, statements, "amount" in said) == (8, [], True), said


def test_events_of_two_databases_are_no_log(log: Log) -> None:
    lines = three().lines
    lines[5]["value"]["payload"]["source"]["db"] = "other"
    code, said, _ = log.run(lines)
    assert code == 12
    assert "LR2007" in said


def test_a_line_that_was_cut_off_ends_the_run(log: Log) -> None:
    path = three().write(log.folder / "cut.jsonl")
    path.write_bytes(path.read_bytes()[:-40])
    assert main(["redo", str(path), "--dialect", "postgres", "--out", str(log.folder / "o")]) == 12
    said = "".join(log.capsys.readouterr())
    assert "LR2006" in said
    assert "record 11" in said


def test_other_lines_are_passed_over(log: Log) -> None:
    """Tombstones, heartbeats and messages."""
    lines = three().lines
    beat = {"topic": "beat", "key": None, "value": {"schema": {}, "payload": {"ts_ms": 5}}}
    message = {"op": "m", "ts_ms": 5, "message": {"prefix": "p", "content": "eA=="}}
    spoken = {"topic": "shop.message", "key": None, "value": {"schema": {}, "payload": message}}
    tombstone = {"topic": "shop.app.t", "key": lines[1]["key"], "value": None}
    assert log.run([tombstone, beat, *lines, spoken, tombstone])[::2] == (0, STATEMENTS)


def test_a_line_that_is_no_event_ends_the_run(log: Log) -> None:
    lines = three().lines
    lines[5]["value"]["payload"]["op"] = "x"
    code, said, _ = log.run(lines)
    assert code == 12
    assert "LR2012" in said
    assert "record 6" in said


# -- rows
# -------------------------------------------------------------------------------------------------


def test_a_change_of_a_key_is_one_update(log: Log) -> None:
    topic = Topic()
    topic.transaction(1, (T, "d", row(1, "a"), None), (T, "c", None, row(2, "a")))
    assert log.run(topic)[::2] == (0, ["UPDATE app.t SET id = 2 WHERE id = 1;"])
    _, _, undone = log.run(topic, "--schema", "none", "--where-columns", "key", mode="undo")
    assert undone == ["UPDATE app.t SET id = 1 WHERE id = 2;"]


def test_truncate_events_are_statements(log: Log) -> None:
    topic = Topic()
    topic.transaction(1, (T, "t", None, None))
    assert log.run(topic)[2] == ["TRUNCATE TABLE app.t;"]


def test_old_rows_without_values_are_keys_alone(log: Log) -> None:
    """With the identity DEFAULT a delete has nulls, and an update no old row."""
    topic = Topic()
    topic.transaction(1, (T, "u", None, row(1, "x")))
    topic.transaction(2, (T, "d", row(1, None), None))
    code, _, statements = log.run(topic)
    assert (code, statements) == (
        0,
        ["UPDATE app.t SET name = 'x' WHERE id = 1;", "DELETE FROM app.t WHERE id = 1;"],
    )
    code, said, _ = log.run(topic, "--schema", "none", mode="undo")
    assert code == 8
    assert "app.t (name)" in said
    assert "ALTER TABLE app.t REPLICA IDENTITY FULL" in said


def test_a_column_that_no_old_row_has_is_not_known(log: Log) -> None:
    """An index as identity sends its columns alone."""
    table = Table("t", (ID, NAME | {"optional": False}, text("more")))
    topic = Topic()
    topic.transaction(1, (table, "d", {"id": 1, "name": "n", "more": None}, None))
    code, said, _ = log.run(topic, "--schema", "none", mode="undo")
    assert code == 8
    assert "app.t (more)" in said
    words = ["--schema", "none", "--log-option", "identity=full"]
    assert "(1, 'n', NULL)" in log.run(topic, *words, mode="undo")[2][0]


def test_a_unique_index_that_may_hold_nulls_is_no_key(log: Log) -> None:
    """The connector takes one for the key of a table that has none."""
    table = Table("t", (ID, text("slot")), key=("slot",))
    topic = Topic()
    old = {"id": 1, "slot": None}
    topic.transaction(
        1, (table, "u", old, old | {"slot": "s"}), (table, "d", old | {"id": 2}, None)
    )
    first, second = log.run(topic, "--schema", "none")[2]
    assert "id = 1 AND slot IS NULL" in first
    assert "id = 2 AND slot IS NULL" in second


@pytest.mark.parametrize("side", ["before", "after"])
def test_an_index_that_may_hold_nulls_says_of_which_row_an_event_is(log: Log, side: str) -> None:
    """Its columns are none of a key, and those of the event all the same."""
    table, topic = Table("t", (ID, text("slot")), key=("slot",)), Topic()
    old, new = {"id": 1, "slot": "s"}, {"id": 2, "slot": "s"}
    topic.transaction(1, (table, "u", old, new))
    assert len(log.run(topic, "--schema", "none")[2]) == 1
    topic.lines[1]["value"]["payload"][side]["slot"] = "other"
    code, said, statements = log.run(topic, "--schema", "none")
    assert (code, statements) == (8, [])
    assert "do not go with its op, its schema or its key" in said


def test_an_update_without_an_old_row_may_change_the_key_where_an_index_is_the_identity(
    log: Log,
) -> None:
    table = Table("t", (ID, NAME | {"optional": False}))
    topic = Topic()
    schema = log.schema("CREATE TABLE app.t (id int PRIMARY KEY, name text NOT NULL UNIQUE);")
    topic.transaction(1, (table, "u", None, row(5, "n")))
    code, said, statements = log.run(topic, "--schema", schema)
    assert (code, statements) == (4, ["UPDATE app.t SET name = 'n' WHERE id = 5;"])
    assert "USING INDEX" in said
    topic.transaction(2, (table, "d", row(0, "n"), None))
    assert log.run(topic, "--schema", schema)[::2] == (8, [])


def test_an_update_of_free_columns_proves_whole_rows(log: Log) -> None:
    """No index that is an identity has a column that may be null."""
    table = Table("t", (ID, NAME | {"optional": False}, text("more"), text("free")))
    old = {"id": 1, "name": "n", "more": None, "free": "f"}
    topic = Topic()
    topic.transaction(1, (table, "u", old, old | {"free": "g"}))
    topic.transaction(2, (table, "d", old | {"free": "g"}, None))
    code, _, statements = log.run(topic, "--schema", "none", "--where-columns", "key", mode="undo")
    assert code == 0
    assert statements == [
        "INSERT INTO app.t (id, name, more, free) VALUES (1, 'n', NULL, 'g');",
        "UPDATE app.t SET free = 'f' WHERE id = 1;",
    ]


def test_a_key_of_zero_is_a_key_where_rows_are_whole(log: Log) -> None:
    topic = Topic()
    topic.transaction(1, (T, "u", row(1, "a"), row(1, "b")), (T, "d", row(0, "z"), None))
    code, _, statements = log.run(topic, "--schema", "none")
    assert (code, statements[1:]) == (0, ["DELETE FROM app.t WHERE id = 0;"])


def test_an_update_whose_key_stays_zero_has_its_key(log: Log) -> None:
    """Each update changes all columns that must have a value, so that no row proves FULL."""
    table = Table("t", (ID, NAME | {"optional": False}))
    topic = Topic()
    topic.transaction(
        1, (table, "u", row(1, "a"), row(1, "b")), (table, "u", row(0, "a"), row(0, "b"))
    )
    code, _, statements = log.run(topic, "--schema", "none", mode="undo")
    assert (code, len(statements)) == (0, 2)
    topic.transaction(2, (table, "d", row(0, "b"), None))
    code, said, statements = log.run(topic, "--schema", "none")
    assert (code, len(statements)) == (8, 2)
    assert "--log-option identity=full" in said


def test_a_row_that_moves_keeps_its_order_where_its_table_is_altered_in_between(log: Log) -> None:
    """Images of two versions of a table tell nothing of each other."""
    wider = Table("t", (ID, NAME, text("more")))
    topic = Topic()
    moved = {"id": 27, "name": "a", "more": None}
    topic.transaction(
        1,
        (T, "d", row(8, "a"), None),
        (T, "c", None, row(27, "a")),
        (wider, "d", moved, None),
    )
    code, _, statements = log.run(topic, "--schema", "none", "--log-option", "identity=full")
    assert (code, statements) == (0, ["DELETE FROM app.t WHERE id = 8;"])


def test_commit_times_that_go_back(log: Log) -> None:
    topic = Topic()
    for unit in (4_200_000_000, 1):  # microseconds
        topic.transaction(unit, (T, "c", None, row(unit % 7, "a")))
    code, said, _ = log.run(topic, "--schema", "none")
    assert code == 4
    assert "commit times go back by 1:09:59" in said
    later = Topic()
    later.transaction(1, (T, "c", None, row(1, "a")))
    later.transaction(4_200_000_000, (T, "c", None, row(2, "b")), end=False)
    assert "commit times" not in log.run(later, "--schema", "none")[1]


def test_inspect_says_names_as_they_are(log: Log) -> None:
    table = Table("order_line", (ID, text("net_price")))
    topic = Topic()
    topic.transaction(1, (table, "u", None, {"id": 1, "net_price": "x"}))
    topic.write(log.folder / "events.jsonl")
    assert main(["inspect", str(log.folder / "events.jsonl")]) == 0
    said = "".join(log.capsys.readouterr())
    assert "Old rows: app.order_line old rows have the key alone" in said
    assert "Lacking: app.order_line net_price" in said
    assert "order line" not in said


UNAVAILABLE = "__debezium_unavailable_value"


def test_what_is_not_available_is_not_written(log: Log) -> None:
    table = Table("t", (ID, NAME, text("long")))
    topic = Topic()
    after = {"id": 1, "name": "x", "long": UNAVAILABLE}
    topic.transaction(1, (table, "u", None, after))
    assert log.run(topic)[2] == ["UPDATE app.t SET name = 'x' WHERE id = 1;"]
    inserted = Topic()
    inserted.transaction(1, (table, "c", None, after))
    for lacking, words in ((topic, ["--upsert"]), (inserted, [])):
        code, said, statements = log.run(lacking, *words)
        assert (code, statements) == (8, [])
        assert "no value of column long" in said


def test_a_moved_key_keeps_what_is_not_available(log: Log) -> None:
    table = Table("t", (ID, NAME, text("long")))
    topic = Topic()
    old = {"id": 1, "name": None, "long": None}
    new = {"id": 2, "name": "x", "long": UNAVAILABLE}
    topic.transaction(1, (table, "d", old, None), (table, "c", None, new))
    assert log.run(topic)[2] == ["UPDATE app.t SET id = 2, name = 'x' WHERE id = 1;"]


def test_another_placeholder_can_be_named(log: Log) -> None:
    topic = Topic()
    topic.transaction(1, (T, "u", None, row(1, "GONE")), (T, "u", None, row(1, "x")))
    words = ["--log-option", "unavailable=GONE"]
    assert log.run(topic, *words)[2] == ["UPDATE app.t SET name = 'x' WHERE id = 1;"]


def exchanged(whole: bool) -> Topic:
    """Two rows take each other's keys, as three updates, with or without old rows."""
    topic, steps = Topic(), []
    for old, new, name in [(1, 9, "a"), (2, 1, "b"), (9, 2, "a")]:
        steps.append((T, "d", row(old, name if whole else None), None))
        steps.append((T, "c", None, row(new, name)))
    topic.transaction(1, *steps)
    return topic


@pytest.mark.parametrize("whole", [True, False])
def test_rows_exchange_keys(whole: bool, log: Log) -> None:
    """Without old rows their order stays: the source checked each of them."""
    code, _, statements = log.run(exchanged(whole), "--schema", "none")
    assert code == 0
    with closing(sqlite3.connect(":memory:")) as rows:
        rows.execute("ATTACH ':memory:' AS app")
        rows.execute("CREATE TABLE app.t (id INTEGER PRIMARY KEY, name TEXT)")
        rows.execute("INSERT INTO app.t VALUES (1, 'a'), (2, 'b')")
        for statement in statements:
            rows.execute(statement)
        assert rows.execute("SELECT * FROM app.t ORDER BY id").fetchall() == [(1, "b"), (2, "a")]


def test_rows_of_one_key_in_one_transaction_keep_their_order(log: Log) -> None:
    topic = Topic()
    topic.transaction(
        1,
        (T, "c", None, row(1, "a")),
        (T, "u", None, row(1, "b")),
        (T, "d", row(1, None), None),
    )
    assert [one.split()[0] for one in log.run(topic)[2]] == ["INSERT", "UPDATE", "DELETE"]


def test_a_table_that_changes_has_versions(log: Log) -> None:
    wider = Table("t", (ID, NAME, text("more")))
    topic = Topic()
    topic.transaction(1, (T, "c", None, row(1, "a")))
    topic.transaction(2, (wider, "c", None, {"id": 2, "name": "b", "more": "c"}))
    assert log.run(topic)[2] == [
        "INSERT INTO app.t (id, name) VALUES (1, 'a');",
        "INSERT INTO app.t (id, name, more) VALUES (2, 'b', 'c');",
    ]


def test_whole_rows_are_refused_where_they_are_not(log: Log) -> None:
    topic = Topic()
    topic.transaction(1, (T, "u", None, row(1, "x")))
    path = topic.write(log.folder / "events.jsonl")
    for words in (
        ["export", str(path), "--format", "jsonl", "--out", str(log.folder / "e")],
        ["history", str(path), "--table", "app.t", "--key", "1"],
    ):
        assert main(words) == 8
        assert "LR3002" in "".join(log.capsys.readouterr())


def test_a_schema_that_is_none_is_named(log: Log) -> None:
    lines = json.loads(json.dumps(three().lines))
    lines[1]["value"]["schema"]["fields"] = "none"
    code, said, _ = log.run(lines)
    assert code == 12
    assert "LR2031" in said
    assert "app.t" in said


def test_a_run_goes_on_where_the_one_before_ended(log: Log) -> None:
    """The second file has the rest of a transaction that the first one began."""
    lines = three().lines
    first = Topic(lines[:5]).write(log.folder / "1.jsonl")
    second = Topic(lines[5:]).write(log.folder / "2.jsonl")
    words = ["redo", "--dialect", "postgres", "--out"]
    assert main([*words, str(log.folder / "a"), str(first), "--after", "none"]) == 0
    after = ["--after", str(log.folder / "a")]
    assert main([*words, str(log.folder / "b"), str(first), str(second), *after]) == 0
    made = "".join((log.folder / name / "0000-redo.sql").read_text("utf-8") for name in "ab")
    made = made.replace(" OVERRIDING SYSTEM VALUE", "")
    assert [one for one in made.split("\n") if one in STATEMENTS] == STATEMENTS


@pytest.mark.live
@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_a_database_is_replayed_and_brought_back(
    mode: str, fresh_database: str, tmp_path: Path
) -> None:
    path = str(three().write(tmp_path / "events.jsonl"))
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA app")
        connection.execute("CREATE TABLE app.t (id integer PRIMARY KEY, name text)")
        words = ["replay", path, "--to", fresh_database, "--apply", "--schema", "none"]
        forward, there = ["--mode", mode], ["--until-position", f"{1032:020X}"]
        for way in (forward, []):  # there, to the end, and back
            assert main([*words, *way, *there]) == 0
            found = connection.execute("SELECT id, name FROM app.t ORDER BY id").fetchall()
            assert found == [(1, "a"), (2, "b")]
            assert main([*words, *forward]) == 0
            assert connection.execute("SELECT count(*) FROM app.t").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ({"type": "string"} | declared("BPCHAR", 4), "ab", "'ab'"),
        ({"type": "string"} | declared("VARCHAR", 4), "ab", "'ab'"),
        ({"type": "int64", "name": "io.debezium.time.MicroTime"}, 86_400_000_000, "'24:00:00'"),
        ({"type": "int64", "name": "io.debezium.time.NanoTime"}, 1_500_000_000, "'00:00:01.5'"),
        ({"type": "int32", "name": "io.debezium.time.Time"}, 1, "'00:00:00.001'"),
        ({"type": "string", "name": "io.debezium.time.Interval"}, "P1Y2M-3DT4H", "'P1Y2M-3DT4H'"),
        ({"type": "string", "name": "io.debezium.time.ZonedTimestamp"}, "2024-02-29T01:02:03Z",
         "'2024-02-29 01:02:03.000000+00:00'"),
        ({"type": "int64"}, -(1 << 63), "-9223372036854775808"),
        ({"type": "bytes"}, "AP8=", r"'\x00ff'::bytea"),
        ({"type": "boolean"}, True, "TRUE"),
        ({"type": "double"}, "NaN", "'NaN'"),
    ],
)  # fmt: skip
def test_values_are_exact(field: Row, value: Any, shown: str, log: Log) -> None:
    table = Table("t", (ID, {"optional": True, "field": "v"} | field))
    topic = Topic()
    topic.transaction(1, (table, "c", None, {"id": 1, "v": value}))
    code, said, statements = log.run(topic)
    assert code == 0, said
    assert statements == [f"INSERT INTO app.t (id, v) VALUES (1, {shown});"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "string"} | declared("BYTEA", 4), "00ff"),
        ({"type": "double"} | declared("NUMERIC", 9), 0.1),
        ({"type": "string"} | declared("HSTORE", 9), '{"a":"1"}'),
        ({"type": "string"} | declared("VARCHAR", 2), "abc"),
        ({"type": "bytes"}, "not base64"),
        ({"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal",
          "parameters": {"scale": "2", "connect.decimal.precision": "2"}}, "ZAA="),
        ({"type": "int16"}, 40_000),
        ({"type": "int64"}, 1 << 63),
        ({"type": "int64", "name": "io.debezium.time.MicroTime"}, -1),
        ({"type": "string", "name": "io.debezium.time.ZonedTimestamp"}, "0000-01-01T00:00:00Z"),
        ({"type": "int32", "name": "org.example.Own"}, 1),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_named(field: Row, value: Any, log: Log) -> None:
    table = Table("t", (ID, {"optional": True, "field": "v"} | field))
    topic = Topic()
    topic.transaction(1, (table, "c", None, {"id": 1, "v": value}))
    code, said, statements = log.run(topic)
    assert (code, statements) == (8, [])
    assert "in column v" in said


CHILD = Table("child", (ID, {"type": "int32", "optional": True, "field": "up"}))
PARENT = "CREATE TABLE app.t (id int PRIMARY KEY, name text);\n"


def referring(acts: str, key: str = "id int PRIMARY KEY") -> str:
    """DDL of both tables, and of one that keeps rows of the child from being removed early."""
    return (
        f"{PARENT}CREATE TABLE app.child ({key}, up int REFERENCES app.t {acts}, UNIQUE (id));\n"
        "CREATE TABLE app.grand (id int PRIMARY KEY, up int REFERENCES app.child (id));"
    )


def moved(in_key: bool = False) -> Topic:
    """A key of a parent that changes, and what a foreign key makes of its child, whose key it is
    part of or not."""
    topic, old, new = Topic(), {"id": 5, "up": 1}, {"id": 5, "up": 9}
    child = replace(CHILD, key=("id", "up"))
    passed_on = [(child, "d", old, None), (child, "c", None, new)]
    topic.transaction(
        1,
        (T, "d", row(1, "a"), None),
        (T, "c", None, row(9, "a")),
        *(passed_on if in_key else [(CHILD, "u", old, new)]),
    )
    return topic


def test_what_the_target_passes_on_stands_behind_its_parent(log: Log, tmp_path: Path) -> None:
    ddl = tmp_path / "ddl.sql"
    words = ["--schema", str(ddl), "--log-option", "identity=full"]
    ddl.write_text(referring("ON DELETE SET NULL ON UPDATE CASCADE"), encoding="utf-8")
    code, _, statements = log.run(moved(), *words)
    assert code == 0
    assert statements == [
        "UPDATE app.t SET id = 9 WHERE id = 1;",
        "UPDATE app.child SET up = 9 WHERE id = 5;",
    ]
    code, said, _ = log.run(moved(), *words, mode="undo")
    assert code == 8  # the row of the child would be another one when its statement comes
    assert "LR3012" in said
    for acts, in_key in (("ON UPDATE NO ACTION", False), ("ON UPDATE CASCADE", True)):
        key = "id int, PRIMARY KEY (id, up)" if in_key else "id int PRIMARY KEY"
        ddl.write_text(referring(acts, key), encoding="utf-8")
        code, said, _ = log.run(moved(in_key), *words)
        assert code == 8
        assert "LR3012" in said


def test_heartbeats_alone_are_called_so(log: Log) -> None:
    for value in ({"ts_ms": 1}, {"schema": {}, "payload": {"ts_ms": 1}}):
        code, said, _ = log.run([{"key": None, "value": value}, {"key": None, "value": value}])
        assert code == 12
        assert "LR2004" in said
        assert "found heartbeats alone" in said


def test_a_time_behind_9999_is_unknown(tmp_path: Path) -> None:
    topic = Topic()
    topic.transaction(1, (T, "c", None, row(1, "a")))
    topic.lines[1]["value"]["payload"]["source"]["ts_us"] = 1 << 60
    words = [str(topic.write(tmp_path / "far.jsonl")), "--schema", "none"]
    assert main(["redo", *words, "--dialect", "postgres", "--out", str(tmp_path / "out")]) == 0
    assert "committed=unknown" in (tmp_path / "out" / "0000-redo.sql").read_text("utf-8")
