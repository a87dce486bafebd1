"""A mapping holds everywhere: what a replay writes, asks the target and refuses, what it knows of
keys, its position, and what is compared afterwards have the names, columns and masks of the
target."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.cli.main import main
from replay.live import bulk
from replay.targets import Session, target_named
from replay.targets.states import path_of
from sqlgen.masking import mask_key, masked
from sqlgen.render.staged_merge import Load
from sqlgen.schema import Column, SqlType
from tests.support.history import PARENT, Maker, Step
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import position, rows
from tests.support.small_target import AFTER, BEFORE, replay, session_of, write_log

#: Names of tables and of columns, of keys too; a column that gets the name of another one; a type;
#: a table in another schema, without a column.
MAPPING = """
[schemas]
TESTOWN = "shop"
[tables."TESTOWN.PARENT"]
name = "folk"
columns = { ID = "folk_id", CODE = "b", B = "code" }
types = { A = "bigint" }
[tables."TESTOWN.CHILD"]
name = "other.kid"
columns = { ID = "kid_id", PID = "x" }
exclude = ["X"]
"""
TARGET = """
CREATE SCHEMA shop;
CREATE SCHEMA other;
CREATE TABLE shop.folk (folk_id integer PRIMARY KEY, b varchar(8) UNIQUE, a bigint NOT NULL,
code integer NOT NULL);
CREATE TABLE other.kid (kid_id integer PRIMARY KEY, x integer REFERENCES shop.folk);
CREATE TABLE shop.loose (t varchar(8) NOT NULL, n integer NOT NULL);
"""
#: The state before a history: tables of the log without rows.
EMPTY = {"PARENT": "ID,CODE,A,B\n", "CHILD": "ID,PID,X\n", "LOOSE": "T,N\n"}
SECRET = "nobody knows this text"

Run = Callable[..., int]


def ended(url: str) -> dict[str, list[tuple[Any, ...]]]:
    tables = {"parent": "shop.folk", "child": "other.kid", "loose": "shop.loose"}
    return {name: sorted(rows(url, f"SELECT * FROM {table}")) for name, table in tables.items()}


def expected(state: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    return {**state, "child": sorted(row[:2] for row in state["child"])}


def of_what_is_left_out(step: Step) -> bool:
    """Whether a change is of the column alone that the target does not have."""
    if step.table != "CHILD" or step.before is None or step.after is None:
        return False
    return step.before[:2] == step.after[:2]


@pytest.fixture
def mapping(tmp_path: Path) -> list[str]:
    path = tmp_path / "map.toml"
    path.write_text(MAPPING)
    return ["--mapping", str(path)]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    for table, text in EMPTY.items():
        (folder / f"{table}.csv").write_text(text)
    return folder


def run(command: str, log: tuple[Path, list[Path]], url: str, *more: str) -> int:
    data = [part for path in log[1] for part in ("--data", str(path))]
    named = ["--control", str(log[0]), *data, "--to", url, "--engine", "local"]
    return main([command, *named, *more])


@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_histories_end_as_their_model(
    fresh_database: str,
    tmp_path: Path,
    state: Path,
    mapping: list[str],
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Keys that come again, unique values that change hands, parents and children; forward, back
    and forward again; and each time the rows are those that are expected."""
    came: list[str] = []
    bring_in = bulk.bring_in

    def watched(session: Session, load: Load, reached: Callable[[str], None]) -> Any:
        came.append(load.table.name)
        return bring_in(session, load, reached)

    monkeypatch.setattr(bulk, "WORTH", 1)
    monkeypatch.setattr(bulk, "bring_in", watched)
    for seed in range(3):
        history = Maker(seed, 60, 12 if seed else 300).history
        folder = tmp_path / str(seed)
        folder.mkdir()
        drop = "DROP SCHEMA IF EXISTS shop, other, logreplay CASCADE;"
        rows(fresh_database, f"{drop} {TARGET}")
        log = history.log(folder, seed=seed)
        apply = ("--apply", "--commit-every", "7", *mapping)
        verify = ("--expected", str(state), *mapping)
        assert run("replay", log, fresh_database, *apply, "--mode", mode) == 0
        assert ended(fresh_database) == expected(history.state())
        assert run("replay", log, fresh_database, *apply, "--until-position", "0" * 20) == 0
        assert ended(fresh_database) == {"parent": [], "child": [], "loose": []}
        assert run("replay", log, fresh_database, *apply, "--mode", mode) == 0
        assert ended(fresh_database) == expected(history.state())
        capsys.readouterr()
        assert run("verify", log, fresh_database, *verify, "--target-schema", "shop") == 0
        assert run("verify", log, fresh_database, *verify, "--target-schema", "other") == 0
        said = capsys.readouterr().out
        assert said.count("SAME") == 2
        assert "shop.folk: " in said
        assert "other.kid: " in said
        alone = [unit for unit in history.units if all(map(of_what_is_left_out, unit))]
        assert position(fresh_database)[2] == 60 - len(alone)
    assert set(came) == ({"folk", "kid"} if mode == "bulk" else set())


def test_rows_that_differ_are_named_as_the_target_has_them(
    fresh_database: str,
    tmp_path: Path,
    state: Path,
    mapping: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows(fresh_database, TARGET)
    history = Maker(1, 30, 300).history
    log = history.log(tmp_path)
    assert run("replay", log, fresh_database, "--apply", *mapping) == 0
    rows(fresh_database, "UPDATE shop.folk SET code = code + 1000000")
    capsys.readouterr()
    words = ("--expected", str(state), *mapping, "--target-schema", "shop")
    assert run("verify", log, fresh_database, *words) == 8
    said = capsys.readouterr().out
    assert "folk_id = " in said
    assert "code: expected " in said
    assert f"DIFFERENT in {len(history.state()['parent'])} rows" in said


def test_a_plan_says_old_and_new_names(
    fresh_database: str, tmp_path: Path, mapping: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows(fresh_database, TARGET)
    log = Maker(1, 30, 300).history.log(tmp_path)
    assert run("replay", log, fresh_database, *mapping) == 0
    said = capsys.readouterr().out
    assert "mapped: TESTOWN.PARENT → shop.folk: ID → folk_id; CODE → b; B → code\n" in said
    assert "mapped: TESTOWN.CHILD → other.kid: ID → kid_id; PID → x; without X\n" in said
    assert "mapped: TESTOWN.LOOSE → shop.loose\n" in said


def test_what_the_target_lacks_is_named_as_it_is_there(
    fresh_database: str, tmp_path: Path, mapping: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows(fresh_database, TARGET)
    rows(fresh_database, "ALTER TABLE shop.folk RENAME COLUMN b TO bee")
    rows(fresh_database, "DROP TABLE other.kid")
    log = Maker(1, 30, 300).history.log(tmp_path)
    assert run("replay", log, fresh_database, *mapping) == 8
    said = capsys.readouterr().out
    assert "TESTOWN.PARENT (shop.folk): the target's table has no column b." in said
    assert "TESTOWN.CHILD (other.kid): the target has no such table (other.kid)" in said


def test_another_mapping_is_refused(
    fresh_database: str,
    tmp_path: Path,
    state: Path,
    mapping: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows(fresh_database, TARGET)
    log = Maker(1, 30, 300).history.log(tmp_path)
    assert run("replay", log, fresh_database, "--apply", *mapping) == 0
    path = Path(mapping[1])
    for text in (MAPPING.replace('"shop"', '"store"'), None):
        path.write_text(text or "")
        words = ["--mapping", str(path)] if text is not None else []
        capsys.readouterr()
        for command, more in (
            ("replay", ["--apply"]),
            ("verify", ["--expected", str(state), "--target-schema", "shop"]),
        ):
            assert run(command, log, fresh_database, *more, *words) == 8
            said = capsys.readouterr().err
            assert "LR4005" in said
            assert "SHA-256 " in said
            assert "Use the same mapping (--mapping, --mask-key-file" in said
    path.write_text(f"# a remark\n{MAPPING}")
    assert run("replay", log, fresh_database, "--apply", *mapping) == 0


PEOPLE = Tab(
    "PEOPLE",
    (
        Col("ID", "INT", 4, key=1),
        Col("NAME", "VCHR", 20),
        Col("PAY", "DEC", 5, scale=2, nulls="Y"),
        Col("NOTE", "VCHR", 20, nulls="Y"),
    ),
)
MASKS = """
[tables."TESTOWN.PEOPLE"]
name = "staff"
columns = { NAME = "alias" }
mask = ["ID", "NAME", "PAY"]
"""


@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_masks_are_written_found_and_compared(
    fresh_database: str,
    tmp_path: Path,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rows that were there before the log are found by their masks; nothing that is said has a
    value."""
    monkeypatch.setattr(bulk, "WORTH", 1)
    (tmp_path / "map.toml").write_text(MASKS)
    (tmp_path / "key").write_text(SECRET)
    words = ["--mapping", str(tmp_path / "map.toml"), "--mask-key-file", str(tmp_path / "key")]
    key = mask_key(SECRET.encode())
    columns = {
        "ID": Column("ID", SqlType.INTEGER, False),
        "NAME": Column("NAME", SqlType.VARCHAR, False, 20),
        "PAY": Column("PAY", SqlType.DECIMAL, True, 9, 2),
    }

    def mask(name: str, value: Any) -> str:
        import pyarrow as pa

        return f"'{masked(pa.array([value]), columns[name], key)[0].as_py()}'"

    rows(
        fresh_database,
        "CREATE SCHEMA testown; CREATE TABLE testown.staff (id integer PRIMARY KEY, alias"
        " varchar(20) NOT NULL, pay decimal(9, 2), note varchar(20));"
        f"INSERT INTO testown.staff VALUES ({mask('ID', 77001)}, {mask('NAME', 'Penelope')},"
        f" {mask('PAY', '5550.00')}, 'old'), ({mask('ID', 77002)}, {mask('NAME', 'Ed')}, NULL,"
        " NULL)",
    )
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "people.csv").write_text("ID,NAME,PAY,NOTE\n77001,Penelope,5550.00,old\n77002,Ed,,\n")
    log = LogBuilder(tables=(PEOPLE,))
    unit = log.unit()
    unit.update(PEOPLE, (77001, "Penelope", "5550.00", "old"), (77001, "Grace", "6660.00", "old"))
    unit.delete(PEOPLE, (77002, "Ed", None, None))
    for number in range(77003, 77010):
        unit.insert(PEOPLE, (number, f"Nick {number}", "7770.00", "new"))
    written = log.write(tmp_path)
    assert run("replay", written, fresh_database, "--apply", "--mode", mode, *words) == 0
    found = rows(fresh_database, "SELECT id, alias, pay, note FROM testown.staff")
    assert len(found) == 8
    assert {note for *_, note in found} == {"old", "new"}
    assert run("verify", written, fresh_database, "--expected", str(folder), *words) == 0
    certificate = tmp_path / "c.json"
    rows(fresh_database, "UPDATE testown.staff SET alias = 'x' WHERE note = 'old'")
    more = ("--expected", str(folder), "--certificate", str(certificate))
    assert run("verify", written, fresh_database, *more, *words) == 8
    said = "".join(capsys.readouterr()) + certificate.read_text()
    assert "values of staff.alias: their masks are compared" in said
    assert not [word for word in ("Penelope", "Grace", "Nick", "7700", "5550") if word in said]
    assert json.loads(certificate.read_text())["options"]["mapping"].startswith("SHA-256 ")


def test_keys_of_the_target_put_rows_in_order(
    fresh_database: str, tmp_path: Path, mapping: list[str]
) -> None:
    """Two rows exchange a value that only the target says is unique, under another name."""
    rows(fresh_database, TARGET)
    log = LogBuilder(tables=(PARENT,))
    unit = log.unit()
    unit.insert(PARENT, (1, "A", 0, 0))
    unit.insert(PARENT, (2, "B", 0, 0))
    unit = log.unit()
    unit.update(PARENT, (1, "A", 0, 0), (1, "B", 0, 0))
    unit.update(PARENT, (2, "B", 0, 0), (2, "A", 0, 0))
    written = log.write(tmp_path)
    path = Path(mapping[1])
    path.write_text(MAPPING.partition('[tables."TESTOWN.CHILD"]')[0])
    assert run("replay", written, fresh_database, "--apply", *mapping) == 0
    assert sorted(rows(fresh_database, "SELECT folk_id, b FROM shop.folk")) == [(1, "B"), (2, "A")]


def loaded(kind: str, schema: str, url: str, ddl: Path) -> str:
    """The URL of a database into which DDL and the rows before the log were loaded, with its own
    client where it is a file."""
    filled = (f"INSERT INTO {schema}.item VALUES ('{k}', '{v}');" for k, v in BEFORE)
    texts = [ddl.read_text(), *filled]
    if kind == "sqlite":
        path = path_of(url) / "shop.db"
        with closing(sqlite3.connect(path)) as made:
            made.executescript("\n".join(texts))
        return f"sqlite:///{path}"
    with session_of(url) as session:
        for text in texts:
            session.execute(text.replace("%", "%%"))
    return url


@pytest.mark.parametrize(
    ("kind", "schema"), [("sqlite", "main"), ("duckdb", "main"), ("postgres", "public")]
)
def test_a_mapping_into_the_schema_that_each_database_has(
    kind: str, schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """DDL does not make it; SQLite's is the file that a connection opens."""
    mapping, ddl, state = tmp_path / "map.toml", tmp_path / "ddl.sql", tmp_path / "state"
    renamed = f'name = "{schema}.item"\ncolumns = {{ V = "word" }}'
    mapping.write_text(f'[tables."TESTOWN.T"]\n{renamed}\n')
    state.mkdir()
    (state / "T.csv").write_text("K,V\n" + "".join(f"{k},{v}\n" for k, v in BEFORE))
    log = [*write_log(tmp_path), "--mapping", str(mapping)]
    assert main(["ddl", *log, "--dialect", kind, "--out", str(ddl)]) == 0
    with target_named(kind).scratch(None) as scratch:
        url = loaded(kind, schema, scratch, ddl)
        compare = ["verify", *log, "--expected", str(state), "--to"]
        if kind == "sqlite":
            said = "Say so: ?schema=main after the URL"
            assert main([*compare, url]) == 8
            assert said in capsys.readouterr().err
            assert replay(log, url) == 8
            assert said in capsys.readouterr().err
            url += "?schema=main"
        assert replay(log, url) == 0
        assert main([*compare, url]) == 0
        with session_of(url) as session:
            assert sorted(session.query(f"SELECT k, word FROM {schema}.item")) == AFTER
