"""Changes of structure as a script of their own, and in redo and undo: said in order, taken back
where the former state is known, refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.engine import local
from replay.errors import Refusal
from replay.logs import Inputs
from replay.logs.db2luw.reader import LuwLog, open_log
from replay.output.bundle import write_bundle
from replay.output.structure import structure_script
from replay.pipeline.plan import make_plan
from sqlgen.ddl.expressions import Place
from sqlgen.dialects import profile_named
from sqlgen.schema import Table
from sqlgen.soliddb.history import History
from tests.support.luwbuilder import ADDED, LATE, LogBuilder, Transaction, catalog_csv
from tests.support.words import of_family

POSTGRES = profile_named("postgres")
WIDE = replace(LATE, columns=LATE.columns + ADDED)
CREATED = (
    "CREATE TABLE app.late (id INTEGER NOT NULL, name VARCHAR(60), price DECIMAL(8, 3), born DATE"
    " NOT NULL, PRIMARY KEY (id));"
)
UNITS: tuple[Callable[[Transaction], object], ...] = (
    lambda unit: unit.create(LATE),
    lambda unit: unit.add_columns(WIDE, len(LATE.columns)),
    lambda unit: unit.reorg(WIDE),
    lambda unit: unit.drop(WIDE),
)


def written(folder: Path, units: int, aborted: bool = False) -> list[str]:
    """A log with the first of UNITS, as options of a command."""
    log = LogBuilder("v97", False, "flt16")
    for number, change in enumerate(UNITS[:units]):
        unit = log.begin()
        change(unit)
        unit.commit(1_000_000_000 + number)
    if aborted:
        unit = log.begin()
        logged = unit.add_columns(WIDE, len(LATE.columns))
        unit.undo(logged)
        unit.abort()
    (folder / "x.log").write_bytes(log.bytes())
    (folder / "catalog.csv").write_text(catalog_csv([WIDE]), encoding="utf-8")
    return of_family("db2luw", folder / "x.log", folder / "catalog.csv")


def opened(folder: Path, units: int) -> LuwLog:
    written(folder, units)
    return open_log(
        Inputs(
            log=(str(folder / "x.log"),), catalog=str(folder / "catalog.csv"), scratch=str(folder)
        )
    )


def told(folder: Path, *texts: str) -> LuwLog:
    """A log whose changes of structure are statements of solidDB."""
    log = opened(folder, len(texts))
    history = History(Place("APP"))
    changes = zip(
        sorted(log.changes),
        (history.change(text, log.catalog.versions[-1].table) for text in texts),
        strict=True,
    )
    return replace(log, changes=dict(changes))


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [
        line
        for line in lines
        if not line.startswith(("-- unit", "-- logreplay", "SET ", "BEGIN", "COMMIT"))
    ]


def test_changes_in_order_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = written(tmp_path, 3, aborted=True)
    assert main(["ddl", *log, "--changes", "redo"]) == 0
    added = [
        "ALTER TABLE app.late ADD COLUMN more BIGINT;",
        "ALTER TABLE app.late ADD COLUMN why VARCHAR(30);",
    ]
    assert said(capsys) == [CREATED, *added, "-- APP.LATE: reorganised"]
    assert main(["ddl", *log, "--changes", "undo"]) == 0
    dropped = ["ALTER TABLE app.late DROP COLUMN more;", "ALTER TABLE app.late DROP COLUMN why;"]
    assert said(capsys) == ["-- APP.LATE: reorganised", *dropped, "DROP TABLE app.late;"]


def test_a_dropped_table_comes_back_empty_and_the_script_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path, 4)
    out = tmp_path / "undo.sql"
    assert main(["ddl", *log, "--changes", "undo", "--out", str(out)]) == 4
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[lines.index("-- not brought back: the rows of the table") + 1].startswith(
        "CREATE TABLE app.late (id INTEGER NOT NULL, "
    )
    assert "not brought back: APP.LATE: the rows of the table" in capsys.readouterr().err
    assert main(["ddl", *log, "--changes", "undo", "--out", str(out)]) == 12
    assert main(["undo", *log, "--out", str(tmp_path / "out"), "--engine", "local"]) == 8
    assert "LR3002" in capsys.readouterr().err


def test_only_what_is_selected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = written(tmp_path, 2)
    assert main(["ddl", *log, "--changes", "redo", "--exclude-table", "APP.*"]) == 4
    assert "--exclude-table APP.* leaves out" in capsys.readouterr().err
    assert main(["ddl", *log, "--changes", "undo", "--until-lrsn", "0" * 20]) == 4
    printed = capsys.readouterr()
    assert "ALTER" not in printed.out
    assert "TABLE" not in printed.out
    assert "warning: nothing is left to be written: after the range (--until-*)" in printed.err
    assert "the log goes from commit position" in printed.err
    ends = ["--from-lrsn", "F" * 20, "--until-lrsn", "0" * 20]
    assert main(["ddl", *log, "--changes", "undo", *ends]) == 12
    assert "LR1001" in capsys.readouterr().err
    units = structure_script(
        opened(tmp_path, 2), Selection(), POSTGRES, "lower", False
    ).text.splitlines()
    (second,) = (
        line.split("commit-lsn=")[1].split()[0]
        for line in units
        if line.startswith("-- unit") and "TID=000000000A20" in line
    )
    assert main(["ddl", *log, "--changes", "redo", "--from-lrsn", second]) == 0
    assert [line.split()[3] for line in said(capsys)] == ["ADD", "ADD"]
    assert main(["ddl", *log, "--from-lrsn", second]) == 12
    assert "--changes" in capsys.readouterr().err


def test_a_log_that_does_not_know_is_refused(
    sakila: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ["--control", str(sakila / "sakila.ctl"), "--data", str(sakila / "sakila.dat.gz")]
    assert main(["ddl", *log, "--changes", "redo"]) == 8
    assert "LR3020" in capsys.readouterr().err


def test_statements_of_the_source(tmp_path: Path) -> None:
    log = told(
        tmp_path,
        "CREATE TABLE LATE (ID INTEGER NOT NULL PRIMARY KEY) STORE MEMORY",
        "CREATE INDEX I ON LATE (ID DESC)",
        "DROP INDEX I",
    )
    redo = structure_script(log, Selection(), POSTGRES, "lower", False)
    assert redo.changes == 3
    wanted = [
        "CREATE TABLE app.late (id INTEGER NOT NULL, PRIMARY KEY (id));",
        "CREATE INDEX i ON app.late(id DESC);",
        "DROP INDEX app.i;",
    ]
    assert [
        line for line in redo.text.splitlines() if line.startswith(("CREATE", "DROP"))
    ] == wanted
    assert "-- left out: STORE MEMORY" in redo.text.splitlines()
    undo = structure_script(log, Selection(), POSTGRES, "lower", True)
    wanted = ["CREATE INDEX i ON app.late(id DESC);", "DROP INDEX app.i;", "DROP TABLE app.late;"]
    assert [
        line for line in undo.text.splitlines() if line.startswith(("CREATE", "DROP"))
    ] == wanted
    assert undo.lost == ()


@pytest.mark.parametrize(
    ("text", "undo", "code", "words"),
    [
        ("DROP TABLE LATE", True, "LR3002", "the definition of the table APP.LATE is not known"),
        ("TRUNCATE TABLE LATE", True, "LR3002", "the rows that TRUNCATE took"),
        (
            "ALTER TABLE LATE FROBNICATE",
            False,
            "LR3021",
            "the statement ALTER TABLE LATE FROBNICATE",
        ),
        ("ALTER TABLE LATE FROBNICATE", True, "LR3002", "the statement is not understood"),
        (
            "GRANT SELECT ON LATE TO PUBLIC",
            False,
            "LR3003",
            "the statement GRANT SELECT ON LATE TO PUBLIC",
        ),
    ],
)
def test_what_cannot_be_said_refuses_scripts_and_ddl(
    tmp_path: Path, text: str, undo: bool, code: str, words: str
) -> None:
    log = told(tmp_path, text)
    with pytest.raises(Refusal, match=words) as refused:
        structure_script(log, Selection(), POSTGRES, "lower", undo)
    assert refused.value.code == code
    plan = make_plan(log, "undo" if undo else "redo", Selection(), ScriptOptions(), 4096)
    with pytest.raises(Refusal, match=words) as refused:
        write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--upsert", "an upsert script may be applied again"),
        ("--mapping", "a mapping says what a table becomes"),
    ],
)
def test_scripts_of_rows_alone_refuse_changes_of_structure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, expected: str
) -> None:
    log = written(tmp_path, 2)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text('[tables."APP.LATE"]\nname = "EARLY"\n', encoding="utf-8")
    told = [option] if option == "--upsert" else [option, str(mapping)]
    assert main(["redo", *log, *told, "--out", str(tmp_path / "out"), "--engine", "local"]) == 8
    said = capsys.readouterr().err
    for words in ("LR3003", "APP.LATE", "a committed ", expected, f" without {option}, or leave"):
        assert words in said
    assert not (tmp_path / "out").exists()


def test_each_statement_of_a_change_is_one_of_the_script(tmp_path: Path) -> None:
    log = told(
        tmp_path,
        "CREATE TABLE LATE (ID INTEGER)",
        "ALTER TABLE LATE ADD COLUMN B INTEGER DEFAULT 1 NOT NULL",
        "ALTER TABLE LATE SET OPTIMISTIC",
    )
    plan = replace(
        make_plan(log, "redo", Selection(), ScriptOptions(dialect="duckdb"), 4096), steps=True
    )
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    (script,) = bundle.folder.glob("*.sql")
    lines = script.read_text(encoding="utf-8").splitlines()
    wanted = [
        "CREATE TABLE app.late (id INTEGER);",
        "ALTER TABLE app.late ADD COLUMN b INTEGER DEFAULT 1;",
        "ALTER TABLE app.late ALTER COLUMN b SET NOT NULL;",
    ]
    assert [line for line in lines if line.startswith(("CREATE", "ALTER"))] == wanted
    assert "-- left out: ALTER TABLE LATE SET OPTIMISTIC" in lines


def test_rolled_back_statements_stay_comments(tmp_path: Path) -> None:
    written(tmp_path, 1, aborted=True)
    log = open_log(
        Inputs(
            log=(str(tmp_path / "x.log"),),
            catalog=str(tmp_path / "catalog.csv"),
            scratch=str(tmp_path),
        )
    )
    plan = make_plan(log, "redo", Selection(include_aborted=True), ScriptOptions(), 4096)
    bundle = write_bundle(plan, log, tmp_path / "out", local.ENGINE)
    (script,) = bundle.folder.glob("*.sql")
    shown = [line for line in script.read_text(encoding="utf-8").splitlines() if "app.late" in line]
    assert shown[0] == CREATED
    assert all(line.startswith("-- rolled back, not applied: ") for line in shown[1:])


def test_the_name_of_a_table_without_columns_is_no_definition() -> None:
    change = History(Place("APP")).change("DROP TABLE LATE", Table("APP", "LATE", ()))
    assert change.inverse(values=False) is None


@pytest.mark.parametrize("units", [1, 2, 4])
def test_a_migration_makes_a_table_once(tmp_path: Path, units: int) -> None:
    """A table that the log makes is not in the schema before it."""
    out = tmp_path / "out"
    assert main(["migrate", *written(tmp_path, units), "--engine", "local", "--out", str(out)]) == 0
    assert "CREATE TABLE" not in (out / "10-schema.sql").read_text()
    assert (out / "30-redo" / "0000-redo.sql").read_text().count(CREATED) == 1


def test_a_migration_begins_with_the_columns_from_before(tmp_path: Path) -> None:
    """Also where the catalog knows only the columns of now, and no row was changed before."""
    log = LogBuilder("v97", False, "flt16")
    unit = log.begin()
    unit.add_columns(WIDE, len(LATE.columns))
    unit.commit(1_000_000_000)
    (tmp_path / "x.log").write_bytes(log.bytes())
    (tmp_path / "catalog.csv").write_text(catalog_csv([WIDE]), encoding="utf-8")
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "late.csv").write_text("id,name,price,born\n1,a,1.5,2024-01-01\n")
    named = [
        *of_family("db2luw", tmp_path / "x.log", tmp_path / "catalog.csv"),
        "--engine",
        "local",
    ]
    out = tmp_path / "out"
    assert main(["migrate", *named, "--initial", str(tmp_path / "before"), "--out", str(out)]) == 0
    assert CREATED in (out / "10-schema.sql").read_text().splitlines()
    load = out / "20-load" / "0001-late.sql"
    assert (
        "\\copy app.late (id, name, price, born) FROM '20-load/0001-late.csv'" in load.read_text()
    )
    assert load.with_suffix(".csv").read_text() == '"1","a","1.500","2024-01-01"\n'
    assert "ADD COLUMN more" in (out / "30-redo" / "0000-redo.sql").read_text()
    said = "* not compared: rows of APP.LATE that the log does not touch"
    assert said in (out / "PLAN.md").read_text().splitlines()
