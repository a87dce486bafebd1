"""What an account needs on a MariaDB to replay into it, and that what the server has set does not
matter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from replay.cli.main import main
from replay.targets.mysql import MysqlSession
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.servers import ONLY_MYSQL, kinds, server_of
from tests.support.small_target import (
    AFTER,
    BEFORE,
    SCHEMA,
    replay,
    run,
    session_of,
    small_target,
    state,
    write_log,
)

#: Variable -> (an odd value, what it is by itself).
ODD = {
    "completion_type": ("CHAIN", "NO_CHAIN"),
    "sql_select_limit": ("1", "DEFAULT"),
    "sql_safe_updates": ("ON", "OFF"),
    "max_join_size": ("1", "18446744073709551615"),
    "innodb_lock_wait_timeout": ("180", "50"),
    "sql_mode": ("'ANSI_QUOTES,PIPES_AS_CONCAT'", "DEFAULT"),
    "time_zone": ("'+05:45'", "'SYSTEM'"),
}
ODD_OF = {
    "mariadb": {
        "max_statement_time": ("180", "0"),
        "tx_isolation": ("'SERIALIZABLE'", "'REPEATABLE-READ'"),
        "tx_read_only": ("ON", "OFF"),
        "idle_transaction_timeout": ("180", "0"),
    },
    "mysql": {
        "max_execution_time": ("180000", "0"),
        "transaction_isolation": ("'SERIALIZABLE'", "'REPEATABLE-READ'"),
        "transaction_read_only": ("ON", "OFF"),
        "sql_require_primary_key": ("ON", "OFF"),
        "sql_generate_invisible_primary_key": ("ON", "OFF"),
        "explicit_defaults_for_timestamp": ("OFF", "ON"),
    },
}
SHOWN = {
    "mariadb": "@@max_statement_time, @@tx_read_only",
    "mysql": "@@max_execution_time, @@transaction_read_only",
}
#: What the page of live targets lists.
GRANTS = ("GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON testown.* TO app", "GRANT PROCESS ON"
    " *.* TO app")  # fmt: skip


@pytest.fixture(params=kinds("mariadb", each=True))
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    with small_target(request.param, server_of(request, request.param)) as url:
        yield url


@pytest.fixture
def account(target: str) -> Iterator[str]:
    """The URL of the server for a new account without rights."""
    run(target, "CREATE USER app IDENTIFIED BY 'secret word'")
    parts = urlsplit(target)
    yield urlunsplit(parts._replace(netloc=f"app:secret%20word@{parts.netloc.rpartition('@')[2]}"))
    run(target, "DROP USER app")


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    return write_log(tmp_path)


def test_rights_that_lack_are_said_before_the_first_unit(
    target: str, account: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(log, account) == 8
    assert "no such table (testown.t), or this user has no right on it" in capsys.readouterr().out
    run(target, "GRANT SELECT, UPDATE, TRIGGER ON testown.* TO app", "GRANT PROCESS ON *.* TO app")
    assert replay(log, account) == 8
    assert "TESTOWN.T: this user lacks INSERT, DELETE" in capsys.readouterr().out
    run(target, *GRANTS)
    assert replay(log, account) == 8
    told = capsys.readouterr().err
    assert "the tables for the position cannot be made" in told
    assert "logreplay prepare" in told
    assert state(target) == BEFORE


def test_what_a_user_is_not_shown_is_not_said_to_be_nothing(
    target: str, account: str, log: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another user replayed; who may read the rows alone does not see how far."""
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "t.csv").write_text("k,v\n" + "".join(f"{k},{v}\n" for k, v in BEFORE))
    assert replay(log, target) == 0
    run(target, "GRANT SELECT ON testown.* TO app")
    look = [["status"], ["verify", *log, "--engine", "local", "--expected", str(rows)]]
    for words in look:
        assert main([*words, "--to", account]) == 4
        assert "is not shown logreplay's own tables" in "".join(capsys.readouterr())
    run(target, "GRANT SELECT ON logreplay.* TO app")
    for words in look:
        assert main([*words, "--to", account]) == 0


def test_prepared_beforehand_the_grants_are_enough(
    target: str, account: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(target, *GRANTS)
    assert main(["prepare", "--to", target, "--print", "--role", "app"]) == 0
    text = capsys.readouterr().out
    assert "CREATE DATABASE logreplay" in text
    run(target, *(line.rstrip(";") for line in text.splitlines() if line))
    assert main(["prepare", "--to", target, "--role", "app"]) == 0
    run(target, "REVOKE DELETE ON logreplay.* FROM app")
    assert replay(log, account) == 8
    assert "the position: this user lacks DELETE on logreplay.position" in capsys.readouterr().out
    assert main(["prepare", "--to", target, "--role", "app"]) == 0
    assert replay(log, account) == 0
    assert state(target) == AFTER
    assert main(["status", "--to", account]) == 0


def test_variables_of_the_server_do_not_matter(target: str, account: str, log: list[str]) -> None:
    """Each of them alone made a replay fail or a question have another answer."""
    run(target, *GRANTS)
    assert main(["prepare", "--to", target, "--role", "app"]) == 0
    kind = urlsplit(target).scheme
    odd = ODD | ODD_OF[kind]
    try:
        run(target, *(f"SET GLOBAL {name} = {value}" for name, (value, _) in odd.items()))
        assert replay(log, account) == 0
        with closing(MysqlSession(account, kind)) as session:
            found = session.query(f"SELECT @@completion_type, @@sql_select_limit, {SHOWN[kind]}")
        assert [tuple(map(str, row)) for row in found] == [
            ("NO_CHAIN", "18446744073709551615", "0.0" if kind == "mariadb" else "0", "0")
        ]
    finally:
        with session_of(target) as session:
            for name, (_, value) in odd.items():
                session.execute(f"SET GLOBAL {name} = {value}")
    assert state(target) == AFTER


def test_a_server_that_only_reads(
    target: str, account: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(target, *GRANTS, "SET GLOBAL read_only = ON")
    try:
        assert replay(log, account) == 8
    finally:
        run(target, "SET GLOBAL read_only = OFF")
    told = capsys.readouterr().err
    assert "LR4010" in told
    assert "--read-only" in told


def test_a_log_of_statements(
    target: str, account: str, log: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a server keeps one (MySQL does), it would refuse the first change: that is said before
    it, by a run without --apply too."""
    run(target, *GRANTS, "GRANT CREATE ON logreplay.* TO app")
    with session_of(target) as session:
        ((before, kept),) = session.query("SELECT @@GLOBAL.binlog_format, @@log_bin")
    run(target, "SET GLOBAL binlog_format = STATEMENT")
    try:
        assert main(["replay", *log, "--engine", "local", "--to", account]) == (8 if kept else 0)
    finally:
        run(target, f"SET GLOBAL binlog_format = {before}")
    told = capsys.readouterr().err
    assert ("LR4010" in told and "binlog_format is STATEMENT" in told) is bool(kept)


def test_a_statement_that_the_server_does_not_take_at_once(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Is named with its unit, and is no lost connection; many small ones travel in smaller
    parts."""
    table = Tab("BIG", (Col("K", "INT", 4, key=1), Col("V", "VCHR", 8000)))
    log = LogBuilder([table])
    unit = log.unit()
    for number in range(30):
        unit.insert(table, (number, "x" * 500))
    log.unit().insert(table, (99, "y" * 7000))
    control, data = log.write(tmp_path)
    run(target, "CREATE TABLE testown.big (k integer NOT NULL PRIMARY KEY, v varchar(8000) NOT NULL"
        " COLLATE utf8mb4_bin)")  # fmt: skip
    options = ["--control", str(control), "--data", str(data[0])]
    with session_of(target) as session:
        before = session.query("SELECT @@max_allowed_packet")[0][0]
    try:
        run(target, "SET GLOBAL max_allowed_packet = 4096")
        assert replay(options, target) == 8
        told = capsys.readouterr().err
        for part in ("LR4006", "max_allowed_packet", "TESTOWN.BIG", "unit 0", "'K': '99'"):
            assert part in told
    finally:
        run(target, f"SET GLOBAL max_allowed_packet = {before}")
    with session_of(target) as session:
        assert session.query("SELECT count(*) FROM testown.big") == [(30,)]
    assert replay(options, target) == 0


@pytest.mark.parametrize("target", ONLY_MYSQL, indirect=True)
def test_a_key_that_the_server_adds_is_none_of_the_logs(target: str, tmp_path: Path) -> None:
    """sql_generate_invisible_primary_key: equal rows of a table without a key are still told
    apart, and its hidden column is not asked for."""
    table = Tab("T", (Col("K", "VCHR", 8), Col("V", "VCHR", 8)))
    log = LogBuilder([table])
    unit = log.unit()
    unit.insert(table, ("d", "four"))
    unit.insert(table, ("d", "four"))
    unit = log.unit()
    unit.update(table, ("a", "one"), ("a", "uno"))
    unit.delete(table, ("d", "four"))
    control, data = log.write(tmp_path, seed=1)
    with session_of(target) as session:
        session.execute("DROP TABLE testown.t")
        session.execute("SET sql_generate_invisible_primary_key = ON")
        for statement in SCHEMA:
            session.execute(
                statement.replace(" PRIMARY KEY", "").replace(
                    "testown.t VALUES", "testown.t (k, v) VALUES"
                )
            )
    assert replay(["--control", str(control), "--data", str(data[0])], target) == 0
    assert state(target) == [("a", "uno"), ("b", "two"), ("c", "three"), ("d", "four")]
