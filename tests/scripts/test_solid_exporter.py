"""The exporter and the calibration of solidDB logs, run against a stand-in for the server's
connection."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.errors import InputError, Refusal
from replay.logs import Inputs
from replay.logs.soliddb.reader import SolidLog, open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from tests.support.places import ROOT
from tests.support.solidbuilder import Col, Framing, LogBuilder, Tab, write_rows
from tests.support.solidserver import Problem, Server

TABLE = Tab(
    10_200,
    "DBA",
    "NOTE",
    (Col("ID", "INTEGER", null=False), Col("TEXT", "VARCHAR", 300)),
    key=("ID",),
)


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


EXPORTER, CALIBRATION = module("export_soliddb"), module("calibrate_soliddb")


def work(log: LogBuilder, *numbers: int) -> None:
    for number in numbers:
        unit = log.begin()
        unit.insert(TABLE, (number, f"text {number}"))
        unit.commit()


def server(*numbers: int, **more: Any) -> Server:
    log = LogBuilder()
    log.position = 1000
    work(log, *numbers)
    return Server(log, [TABLE], **more)


def export(connection: Server, folder: Path, **settings: Any) -> Any:
    settings.setdefault("start", (1).to_bytes(8, "big") + bytes(12))
    return EXPORTER.export(connection, folder, error=Problem, **settings)


def opened(folder: Path) -> SolidLog:
    return open_log(
        Inputs(log=tuple(map(str, sorted(folder.glob("syslog*")))), catalog=str(folder))
    )


def statements(folder: Path, out: Path) -> list[str]:
    log = opened(folder)
    bundle = write_bundle(
        make_plan(log, "redo", Selection(), ScriptOptions()), log, out, local.ENGINE
    )
    assert bundle.exit_code == 0
    return [
        line
        for path in sorted(out.glob("*.sql"))
        for line in path.read_text().splitlines()
        if line.startswith("INSERT")
    ]


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def test_an_export_is_read(tmp_path: Path) -> None:
    connection = server(1, 2, 3)
    done = export(connection, tmp_path / "x")
    assert (done.rows, done.ended_by) == (9, "nop")
    assert len(statements(tmp_path / "x", tmp_path / "out")) == 3
    last = connection.log.commits[-1].hex().upper()
    assert manifest(tmp_path / "x")["metadata_logaddr"] == last
    assert manifest(tmp_path / "x")["sessions"][0]["last_commit_logaddr"] == last
    assert (tmp_path / "x" / "meta" / "sys_views.csv").read_text().startswith("V_ID")
    assert not list((tmp_path / "x").rglob("*.part"))


def test_sessions_chain(tmp_path: Path) -> None:
    connection = server(1, 2, 3, 4, 5)
    folder = tmp_path / "x"
    assert export(connection, folder, rows=5).ended_by == "limit"
    assert manifest(folder)["metadata_logaddr"] is None
    assert EXPORTER.export(connection, folder, error=Problem).ended_by == "nop"
    assert (
        EXPORTER.export(connection, folder, error=Problem).rows == 0
    )  # nothing new: no third session
    work(connection.log, 6)
    assert EXPORTER.export(connection, folder, error=Problem).rows == 3
    assert len(manifest(folder)["sessions"]) == 3
    assert len(list(folder.glob("syslog-*"))) == 3
    assert len(statements(folder, tmp_path / "out")) == 6
    first, _, third = sorted(folder.glob("syslog-*"))
    with pytest.raises(Refusal, match="LR2034"):
        open_log(Inputs(log=(str(first), str(third)), catalog=str(folder)))
    assert len(open_log(Inputs(log=(str(third),), catalog=str(folder))).units()) == 1


def test_transactions_come_whole_or_not_at_all(tmp_path: Path) -> None:
    connection = server(1, 2)
    connection.fails_after = len(connection.log.rows) - 1
    done = export(connection, tmp_path / "x")
    assert (done.rows, done.ended_by, done.problem) == (3, "error", "the cursor was aborted")
    assert len(statements(tmp_path / "x", tmp_path / "out")) == 1
    connection.fails_after = None
    EXPORTER.export(connection, tmp_path / "x", error=Problem)
    assert len(statements(tmp_path / "x", tmp_path / "out2")) == 2


def test_shutdown_ends_a_session(tmp_path: Path) -> None:
    connection = server(1)
    connection.log.begin()
    connection.log.shutdown()
    done = export(connection, tmp_path / "x")
    assert (done.rows, done.ended_by) == (3, "shutdown")


def test_an_open_transaction_is_waited_for(tmp_path: Path) -> None:
    connection = server(1)
    unit = connection.log.begin()
    unit.insert(TABLE, (2, "late"))
    connection.on_idle = lambda count: unit.commit() and None if count == 2 else None
    assert export(connection, tmp_path / "x").rows == 6


def test_system_tables_are_read_again_after_ddl(tmp_path: Path) -> None:
    connection = server(1)

    def alter(count: int) -> None:
        if count == 2:  # between the reading of the system tables and the end of the log
            unit = connection.log.begin()
            unit.ddl(22, "NOTE", TABLE.relid, "ALTER TABLE NOTE ADD COLUMN MORE INTEGER")
            unit.commit()
            connection.tables[0] = Tab(
                TABLE.relid, "DBA", "NOTE", (*TABLE.columns, Col("MORE", "INTEGER")), key=("ID",)
            )

    connection.on_idle = alter
    export(connection, tmp_path / "x")
    assert "MORE" in (tmp_path / "x" / "meta" / "sys_columns.csv").read_text()
    (line,) = statements(tmp_path / "x", tmp_path / "out")
    assert line == "INSERT INTO dba.note (id, text) VALUES (1, 'text 1');"


def test_time_limits_end_behind_a_commit(tmp_path: Path) -> None:
    ticks = iter(range(100))
    done = export(server(1, 2, 3, 4, 5), tmp_path / "x", seconds=3, clock=lambda: next(ticks))
    assert (done.rows, done.ended_by) == (9, "limit")


def test_a_server_without_log_reader(tmp_path: Path) -> None:
    connection = server(1)
    connection.log.address = lambda: None  # type: ignore[assignment,return-value,method-assign]
    with pytest.raises(ValueError, match="LogReaderEnabled"):
        EXPORTER.export(connection, tmp_path / "x", error=Problem)


@pytest.mark.parametrize(
    ("framing", "columns"),
    [
        (Framing(), "A"),
        (Framing("va"), "A"),
        (Framing("ind0p", 2, True), "B"),
        (Framing("len32z", 4), "C"),
    ],
    ids=str,
)
def test_calibration_finds_the_shape(tmp_path: Path, framing: Framing, columns: str) -> None:
    log = LogBuilder(framing)
    log.position = 1000
    connection = Server(log, [], columns=columns)
    shape = CALIBRATION.calibrate(connection, tmp_path / "c", error=Problem)
    assert (shape.framing.lengths.name, shape.framing.count, shape.columns) == (
        framing.profile,
        framing.count,
        columns,
    )
    assert connection.tables == []
    assert connection.statements[-2:] == list(CALIBRATION.CLEAN_UP)
    # and settles a log that by itself is not clear
    table = Tab(10_040, "DBA", "BYTES", (Col("A", "VARBINARY", 20, null=False),))
    other = LogBuilder(framing)
    unit = other.begin()
    unit.insert(table, (b"\1\0",))
    unit.commit()
    write_rows(tmp_path / "x.parquet", other.rows)
    from tests.support.solidbuilder import write_catalog

    write_catalog(tmp_path / "cat", [table])
    given = Inputs(
        log=(str(tmp_path / "x.parquet"),),
        catalog=str(tmp_path / "cat"),
        framing=str(shape.framing),
        options={"columns": shape.columns},
    )
    assert open_log(given).shape == shape


def test_a_calibration_that_settles_nothing_is_refused(tmp_path: Path) -> None:
    log = LogBuilder()
    log.position = 1000
    CALIBRATION.calibrate(Server(log, []), tmp_path / "c", error=Problem)
    (tmp_path / "c" / "meta" / "sys_tables.csv").write_text(
        "ID,TABLE_NAME,TABLE_TYPE,TABLE_SCHEMA\n"
    )
    with pytest.raises(InputError, match="LR2031.*LOGREPLAY_CALIBRATE_TYPES"):
        CALIBRATION.calibrated(str(tmp_path / "c"), 1208)
    with pytest.raises(InputError, match="LR2031.*no syslog file"):
        CALIBRATION.calibrated(str(tmp_path), 1208)


def test_a_calibration_of_other_values_is_refused(tmp_path: Path) -> None:
    log = LogBuilder()
    log.position = 1000
    CALIBRATION.calibrate(Server(log, []), tmp_path / "c", error=Problem)
    rows = [dict(entry) for entry in log.rows]
    for entry in rows:
        if entry["DATA"]:
            entry["DATA"] = entry["DATA"].replace(b"Lovelace", b"Lovelock")
    (tmp_path / "c" / "syslog.jsonl.gz").unlink()
    write_rows(tmp_path / "c" / "syslog.parquet", rows)
    with pytest.raises(
        InputError, match="LR2018.*no reading that gives back every calibration value"
    ):
        CALIBRATION.calibrated(str(tmp_path / "c"), 1208)


@pytest.mark.parametrize("script", [EXPORTER, CALIBRATION])
def test_without_a_driver_the_scripts_say_so(
    script: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", None)
    assert script.main(["DSN", str(tmp_path / "new")]) == 12
    assert "pip install pyodbc" in capsys.readouterr().err


def test_connection_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ModuleType("pyodbc")
    seen: list[Any] = []
    driver.__dict__.update(
        connect=lambda text, autocommit: seen.append((text, autocommit)),
        Error=Problem,
        Binary=bytes,
    )
    monkeypatch.setitem(sys.modules, "pyodbc", driver)
    monkeypatch.setenv("SOLID_USER", "reader")
    monkeypatch.setenv("SOLID_PASSWORD", "a}b")
    EXPORTER.connect("SHOP")
    EXPORTER.connect("DRIVER=x;SERVER=y")
    assert seen == [
        ("DSN=SHOP;UID={reader};PWD={a}}b}", True),
        ("DRIVER=x;SERVER=y;UID={reader};PWD={a}}b}", True),
    ]


def driver_of(connection: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = ModuleType("pyodbc")
    driver.__dict__.update(connect=lambda text, autocommit: connection, Error=Problem, Binary=bytes)
    monkeypatch.setitem(sys.modules, "pyodbc", driver)


def test_the_exporters_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = server(1, 2, 3)
    driver_of(connection, monkeypatch)
    words = [
        "SHOP",
        str(tmp_path / "x"),
        "--from",
        "00" * 20,
        "--partition",
        "P1",
        "--char-encoding",
        "Raw:latin-1",
    ]
    assert EXPORTER.main([*words, "--rows", "4"]) == 4
    assert EXPORTER.main(["SHOP", str(tmp_path / "x")]) == 0
    assert capsys.readouterr().out.endswith(
        f"3 rows up to {connection.log.commits[-1].hex().upper()}; ended by: nop\n"
    )
    found = manifest(tmp_path / "x")
    assert (found["partition"], found["char_encoding"], len(found["sessions"])) == (
        "P1",
        "Raw:latin-1",
        2,
    )
    work(connection.log, 4)
    connection.fails_after = len(connection.log.rows) - 1
    assert EXPORTER.main(["SHOP", str(tmp_path / "x")]) == 8
    assert (
        "the cursor was aborted; everything up to the last commit is written"
        in capsys.readouterr().err
    )
    (tmp_path / "x" / "manifest.json").write_text("[]")
    assert EXPORTER.main(["SHOP", str(tmp_path / "x")]) == 12
    assert "is no manifest" in capsys.readouterr().err


def test_the_calibrations_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogBuilder(Framing("va"))
    log.position = 1000
    driver_of(Server(log, []), monkeypatch)
    assert CALIBRATION.main(["SHOP", str(tmp_path / "c")]) == 0
    assert (
        capsys.readouterr().out
        == "framing va, column list A: --framing va --log-option columns=A\n"
    )
    assert CALIBRATION.main(["SHOP", str(tmp_path / "c")]) == 12
    assert "name a new folder" in capsys.readouterr().err


#: The table that is dropped, before and after a column was added, and the one that takes its name.
NOTES = tuple(
    Tab(
        relid,
        "DBA",
        "NOTES",
        (Col("ID", "INTEGER", null=False), *columns, Col("V", "BIGINT", attr=2)),
        key=("ID",),
    )
    for relid, columns in (
        (10_300, ()),
        (10_300, (Col("MORE", "INTEGER"),)),
        (10_400, (Col("OTHER", "INTEGER"),)),
    )
)


def one(log: LogBuilder, work: Any) -> None:
    unit = log.begin()
    work(unit)
    unit.commit()


@pytest.mark.parametrize("again", [False, True], ids=["gone", "made again"])
@pytest.mark.parametrize("added", [False, True], ids=["as it was", "with a column more"])
@pytest.mark.parametrize("text", [True, False], ids=["statement", "no statement"])
def test_a_table_that_was_dropped_between_two_sessions(
    tmp_path: Path, again: bool, added: bool, text: bool
) -> None:
    """Its rows are read as it was: its lines stay, and are of the time of the export before."""
    first, second, third = NOTES
    connection, folder = server(1), tmp_path / "x"
    connection.tables.append(first)
    one(connection.log, lambda unit: unit.insert(first, (1,)))
    export(connection, folder)
    last = first
    if added:
        words = "ALTER TABLE NOTES ADD COLUMN MORE INTEGER" if text else None
        one(connection.log, lambda unit: unit.ddl(22, "NOTES", 10_300, words))
        last = second
    one(connection.log, lambda unit: unit.insert(last, (2, 7)[: 1 + added]))
    drop = "DROP TABLE NOTES" if text else None
    one(connection.log, lambda unit: unit.ddl(17, "NOTES", 10_300, drop))
    connection.tables.remove(first)
    if again:
        create = "CREATE TABLE NOTES (ID INTEGER NOT NULL PRIMARY KEY, OTHER INTEGER)"
        one(
            connection.log,
            lambda unit: unit.ddl(45, "SHOP.DBA.NOTES", 10_400, create if text else None),
        )
        connection.tables.append(third)
        one(connection.log, lambda unit: unit.insert(third, (3, 8)))
    read = EXPORTER.export(connection, folder, error=Problem)
    assert read.ended_by == "nop"
    at = manifest(folder)["sessions"][0]["last_commit_logaddr"]
    assert manifest(folder)["dropped_tables"] == {"10300": at}
    work(connection.log, 9)
    EXPORTER.export(connection, folder, error=Problem)
    assert manifest(folder)["dropped_tables"] == {"10300": at}
    log = opened(folder)
    bundle = write_bundle(
        make_plan(log, "redo", Selection(), ScriptOptions()), log, tmp_path / "out", local.ENGINE
    )
    lines = "\n".join(path.read_text() for path in sorted((tmp_path / "out").glob("*.sql")))
    assert "INSERT INTO dba.notes (id) VALUES (1)" in lines
    if added and not text:  # nothing tells what the statement was
        assert bundle.exit_code == 8
        assert lines.count("INSERT INTO dba.notes") == 1 + again
    else:
        wanted = "(id, more) VALUES (2, 7)" if added else "(id) VALUES (2)"
        assert f"INSERT INTO dba.notes {wanted}" in lines
    if again:
        assert "INSERT INTO dba.notes (id, other) VALUES (3, 8)" in lines


def test_lines_of_which_nobody_knows_the_time_do_not_stay(tmp_path: Path) -> None:
    connection, folder = server(1, 2, 3), tmp_path / "x"
    connection.tables.append(NOTES[0])
    assert export(connection, folder, rows=3).ended_by == "limit"
    connection.tables.remove(NOTES[0])
    EXPORTER.export(connection, folder, error=Problem)
    assert manifest(folder)["dropped_tables"] == {}
    assert "NOTES" not in (folder / "meta" / "sys_tables.csv").read_text()


def test_a_run_that_is_ended_while_it_reads_the_system_tables(tmp_path: Path) -> None:
    """They are of two moments then, and the manifest does not say that they are of one."""
    connection, folder = server(1), tmp_path / "x"
    connection.tables.append(NOTES[0])
    export(connection, folder)
    connection.tables.remove(NOTES[0])
    one(connection.log, lambda unit: unit.ddl(17, "NOTES", 10_300, "DROP TABLE NOTES"))

    def ended(count: int) -> None:
        if count > 1:
            raise KeyboardInterrupt

    connection.on_idle, connection.idle = ended, 0
    with pytest.raises(KeyboardInterrupt):
        EXPORTER.export(connection, folder, error=Problem)
    assert manifest(folder)["metadata_logaddr"] is None
    assert [*manifest(folder)["dropped_tables"]] == ["10300"]
    connection.on_idle = lambda count: None
    EXPORTER.export(connection, folder, error=Problem)
    at = manifest(folder)["sessions"][0]["last_commit_logaddr"]
    assert manifest(folder)["dropped_tables"] == {"10300": at}
