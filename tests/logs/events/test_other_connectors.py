"""Change events of SQL Server, Oracle and Db2, written by the documentation of Debezium's
connectors alone: none of these databases was at hand."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from tests.logs.events.builder import Row, Table, Topic, text
from tests.logs.events.test_rules import ID, Log, declared, log, row

__all__ = ["log"]

SHORT = text("name") | declared("NVARCHAR", 20)
T = Table("t", (ID, SHORT))
CONNECTORS = ("sqlserver", "db2", "oracle")
Change = tuple[Table, str, Row | None, Row | None]


def lsn(connector: str, number: int) -> str:
    """A number as an LSN: of SQL Server in three parts of which each counts by itself; of Db2 in 16
    bytes."""
    if connector == "db2":
        return f"00000000:{number >> 4:08x}:0000{number & 15:012x}"
    return f"{number >> 8:08x}:{number >> 4 & 15:08x}:{number & 15:04x}"


@dataclass
class OtherTopic(Topic):
    """Events of a connector; ``unit`` is where the transaction commits."""

    connector: str = "sqlserver"
    change: int = 0

    def transaction(
        self, unit: int, *changes: Change, end: bool = True, at: int = 0, name: str = ""
    ) -> None:
        """BEGIN, ``changes`` and END. ``at``: the SCN of the changes (else below the commit);
        ``name``: that of a transaction of Oracle."""
        oracle = self.connector == "oracle"
        name = (name or f"6.28.{unit}") if oracle else lsn(self.connector, unit)
        self.status("BEGIN", name)
        last: tuple[Table, str] | None = None
        for number, (table, op, before, after) in enumerate(changes, 1):
            self.change += (last, op) != ((table, "d"), "c")
            last = table, op
            source = {
                "version": "3.6.3",
                "connector": self.connector,
                "name": "shop",
                "ts_ms": 1_700_000_000_000 + unit,
                "snapshot": "false",
                "db": "shop",
                "schema": "app",
                "table": table.name,
            }
            if oracle:
                source |= {
                    "txId": name,
                    "scn": str(at or unit - 1),
                    "commit_scn": str(unit),
                    "rs_id": f" 0x{self.change:06x}.00000002.0010 ",
                    "ssn": 0,
                    "redo_thread": 1 + unit % 2,
                }
            else:
                changed = lsn(self.connector, self.change)
                source |= {"change_lsn": changed, "commit_lsn": name}
            if self.connector == "sqlserver":
                source["event_serial_no"] = number
            whole = {"before": before, "after": after, "op": op, "ts_ms": 1, "source": source}
            of = {"id": name, "total_order": number, "data_collection_order": number}
            self.event(table, whole | {"transaction": of})
        if end:
            self.status("END", name, [f"shop.app.{table.name}" for table, *_ in changes])


def options(connector: str) -> Sequence[str]:
    """What Oracle's events need; and no foreign keys."""
    return (
        "--schema",
        "none",
        *(("--log-option", "identity=full") if connector == "oracle" else ()),
    )


def three(connector: str) -> OtherTopic:
    """A row that comes, changes and goes; its transactions commit at 9, 16 and 300."""
    topic = OtherTopic(connector=connector)
    topic.transaction(9, (T, "c", None, row(1, "a")))
    topic.transaction(16, (T, "u", row(1, "a"), row(1, "b")))
    topic.transaction(300, (T, "d", row(1, "b"), None))
    return topic


@pytest.mark.parametrize("connector", CONNECTORS)
def test_transactions_are_in_the_order_of_their_commits(log: Log, connector: str) -> None:
    lines = three(connector).lines
    lines = [*lines[6:], *lines[3:6], *lines[:3]]
    code, said, made = log.run(lines, *options(connector))
    assert (code, [one.split()[0] for one in made]) == (0, ["INSERT", "UPDATE", "DELETE"]), said
    code, said, made = log.run(lines, *options(connector), mode="undo")
    assert (code, [one.split()[0] for one in made]) == (0, ["INSERT", "UPDATE", "DELETE"]), said
    assert "'b'" in made[0]


@pytest.mark.parametrize("connector", CONNECTORS)
def test_units_are_named_as_their_database_does(log: Log, connector: str) -> None:
    log.run(three(connector), *options(connector))
    script = "".join(one.read_text() for one in sorted((log.folder / "out-redo").glob("*.sql")))
    expected = {
        "sqlserver": "commit-lsn=00000001:00000002:000c",
        "db2": "commit-lsn=00000012:00000000:000c",
        "oracle": "transaction=6.28.300 commit-scn=300",
    }
    assert expected[connector] in script


@pytest.mark.parametrize("connector", CONNECTORS)
def test_what_is_missing_sets_its_transaction_aside(log: Log, connector: str) -> None:
    lines = three(connector).lines
    code, said, _ = log.run([*lines[:4], *lines[5:]], *options(connector))
    assert (code, "LR2013" in said) == (8, True), said
    code, said, _ = log.run([*lines[:5], *lines[6:]], *options(connector))
    assert (code, "LR2013" in said) == (8, True), said
    code, said, made = log.run(lines[:-1], *options(connector))
    assert (code, len(made)) == (0, 2), said  # in flight


@pytest.mark.parametrize("connector", CONNECTORS)
def test_what_is_sent_twice_is_taken_once(log: Log, connector: str) -> None:
    lines = three(connector).lines
    code, _, made = log.run([*lines[:5], *lines[3:]], *options(connector))
    assert (code, len(made)) == (0, 3)
    other = json.loads(json.dumps(lines[4]))
    other["value"]["payload"]["after"]["name"] = "c"
    code, said, _ = log.run([*lines, other], *options(connector))
    assert (code, "LR2016" in said) == (8, True), said


@pytest.mark.parametrize("connector", CONNECTORS)
def test_a_changed_key_is_one_update_and_a_delete_and_a_create_are_two(
    log: Log, connector: str
) -> None:
    topic = OtherTopic(connector=connector)
    topic.transaction(9, (T, "d", row(1, "a"), None), (T, "c", None, row(2, "a")))
    assert [one.split()[0] for one in log.run(topic, *options(connector))[2]] == ["UPDATE"]
    record = {"change_lsn": lsn(connector, 7), "rs_id": "7"}
    topic.lines[2]["value"]["payload"]["source"].update(record)
    made = log.run(topic, *options(connector))[2]
    assert [one.split()[0] for one in made] == ["DELETE", "INSERT"]
    topic.lines[2]["value"]["payload"]["source"].update(change_lsn=None, scn=None)
    assert log.run(topic, *options(connector))[0] == 8


@pytest.mark.parametrize("connector", CONNECTORS)
def test_events_without_their_transaction_are_refused(log: Log, connector: str) -> None:
    lines = [line for line in three(connector).lines if line["key"]]
    for line in lines:
        line["value"]["payload"]["transaction"] = None
    code, said, _ = log.run(lines, *options(connector))
    assert (code, "provide.transaction.metadata=true" in said) == (8, True), said


def test_lsns_of_another_form_are_refused(log: Log) -> None:
    for name in ("00000027:00000758", "00000001:00001e36:000000000004a1b4"):
        lines = json.loads(json.dumps(three("db2").lines).replace(lsn("db2", 9), name))
        assert log.run(lines)[0] == 8


def test_an_end_elsewhere_than_its_events_sets_them_aside(log: Log) -> None:
    lines = three("sqlserver").lines
    lines[4]["value"]["payload"]["source"]["commit_lsn"] = lsn("sqlserver", 17)
    code, said, _ = log.run(lines)
    assert (code, "LR2016" in said) == (8, True), said


def test_oracle_needs_whole_rows_and_the_scn_of_commits(log: Log) -> None:
    code, said, _ = log.run(three("oracle"))
    assert (code, "SUPPLEMENTAL LOG DATA (ALL) COLUMNS" in said) == (8, True), said
    lines = three("oracle").lines
    lines[1]["value"]["payload"]["source"]["commit_scn"] = None
    code, said, _ = log.run(lines, *options("oracle"))
    assert (code, "LogMiner" in said) == (8, True), said
    lines[1]["value"]["payload"]["source"] |= {"commit_scn": "7", "scn": "8"}
    code, said, _ = log.run(lines, *options("oracle"))
    assert (code, "behind the commit_scn" in said) == (8, True), said


def test_transactions_of_one_scn_are_apart_unless_one_may_have_seen_the_other(log: Log) -> None:
    topic = OtherTopic(connector="oracle")
    topic.transaction(9, (T, "c", None, row(1, "a")), name="1.1.1")
    topic.transaction(9, (T, "c", None, row(2, "a")), name="02000a0037030000")
    code, said, made = log.run(topic, *options("oracle"))
    assert (code, len(made)) == (0, 2), said
    topic.transaction(9, (T, "d", row(1, "a"), None), name="1.1.2", at=9)
    code, said, made = log.run(topic, *options("oracle"))
    assert (code, len(made), "LR2016" in said) == (8, 2, True), said


def test_a_truncate_of_oracle_is_a_transaction_by_itself(log: Log) -> None:
    topic = three("oracle")
    topic.transaction(400, (T, "t", None, None))
    topic.lines[-2]["value"]["payload"]["transaction"] = None
    del topic.lines[-3], topic.lines[-1]
    code, said, made = log.run(topic, *options("oracle"))
    assert (code, made[-1].split()[0]) == (0, "TRUNCATE"), said


@pytest.mark.parametrize(
    ("column", "change", "refused"),
    [
        (text("name"), ("u", row(1, None), row(1, "b")), True),
        (text("name"), ("d", row(1, None), None), True),
        (text("name"), ("u", row(1, None), row(1, None)), False),
        (text("name"), ("u", row(1, "a"), row(1, None)), False),
        (text("name") | declared("NVARCHAR", 2147483647), ("u", row(1, None), row(1, "b")), True),
        (SHORT, ("u", row(1, None), row(1, "b")), False),
        (SHORT, ("d", row(1, None), None), False),
    ],
)
def test_nulls_of_long_values_in_old_rows_are_not_undone(
    log: Log, column: dict[str, Any], change: Any, refused: bool
) -> None:
    topic = OtherTopic()
    topic.transaction(9, (Table("t", (ID, column)), *change))
    assert log.run(topic)[0] == 0
    code, said, _ = log.run(topic, "--schema", "none", mode="undo")
    assert (code, "LR3002" in said) == ((8, True) if refused else (0, False)), said
    assert log.run(topic, *options("oracle"), mode="undo")[0] == 0


def test_updates_of_db2_for_zos_have_no_old_row(log: Log) -> None:
    topic = OtherTopic(connector="db2")
    topic.transaction(9, (T, "u", None, row(1, "b")))
    code, said, made = log.run(topic)
    assert (code, made) == (0, ["UPDATE app.t SET name = 'b' WHERE id = 1;"]), said
    code, said, _ = log.run(topic, mode="undo")
    assert (code, "Db2 for z/OS" in said) == (8, True), said


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("connector", CONNECTORS)
def test_drawn_work_is_done_again_and_undone(log: Log, connector: str, seed: int) -> None:
    rng, topic = random.Random(f"{connector}.{seed}"), OtherTopic(connector=connector)
    there: dict[int, Row] = {}
    commit, pieces = 0, list[list[dict[str, Any]]]()
    for _ in range(40):
        commit += rng.choice((1, 2, 15, 300))
        changes = list[Change]()
        for _ in range(rng.randint(1, 4)):
            number = rng.randint(0, 9)
            old, new = there.get(number), row(number, rng.choice((None, "", "x", "it's")))
            if old is None:
                changes.append((T, "c", None, new))
            elif rng.random() < 0.5:
                changes.append((T, "u", old, new))
            else:
                changes.append((T, "d", old, None))
                del there[number]
                continue
            there[number] = new
        before = len(topic.lines)
        topic.transaction(commit, *changes)
        pieces.append(topic.lines[before:])
    rng.shuffle(pieces)
    lines = [line for piece in pieces for line in piece]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("ATTACH ':memory:' AS app")
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        for mode, expected in (("redo", sorted(map(str, map(dict, there.values())))), ("undo", [])):
            code, said, _ = log.run(lines, *options(connector), mode=mode, dialect="sqlite")
            assert code == 0, said
            for path in sorted((log.folder / f"out-{mode}").glob("*.sql")):
                database.executescript(
                    path.read_text("utf-8").replace('"app".', "").replace("app.", "")
                )
            found = database.execute("SELECT id, name FROM t").fetchall()
            assert sorted(str({"id": a, "name": b}) for a, b in found) == expected
