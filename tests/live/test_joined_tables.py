"""Two tables of a log become one, whose rows a constant tells apart: drawn histories end as their
model in PostgreSQL, SQLite and DuckDB, forward and back, and are verified."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from replay.cli.main import main
from replay.live import bulk
from tests.live.test_migrate import run
from tests.support.history import CHILD, LOOSE, PARENT, Maker
from tests.support.logbuilder import LogBuilder, Tab
from tests.support.replayed import rows

REGIONS = ("N", "S")
MAPPING = "\n".join(
    f"""
[tables."TESTOWN.{region}_PARENT"]
name = "shop.folk"
columns = {{ CODE = "mark" }}
constants = {{ region = "{region * 2}", code = {number} }}
[tables."TESTOWN.{region}_CHILD"]
name = "shop.kid"
constants = {{ region = "{region * 2}", code = {number} }}
exclude = ["X"]
[tables."TESTOWN.{region}_LOOSE"]
name = "shop.loose"
constants = {{ region = "{region * 2}" }}
"""
    for number, region in enumerate(REGIONS)
)
TABLES = """
CREATE TABLE shop.folk (region varchar(2), code integer, id integer, mark varchar(8),
a integer NOT NULL, b integer NOT NULL, PRIMARY KEY (id, region, code), UNIQUE (mark, region));
CREATE TABLE shop.kid (region varchar(2), code integer, id integer, pid integer,
PRIMARY KEY (region, code, id)REFERENCES);
CREATE TABLE shop.loose (region varchar(2) NOT NULL, t varchar(8) NOT NULL, n integer NOT NULL);
"""
REFERENCES = ", FOREIGN KEY (region, pid, code) REFERENCES shop.folk (region, id, code)"
STATES = {
    "folk": "SELECT id, mark, a, b, region, code FROM shop.folk",
    "kid": "SELECT id, pid, region, code FROM shop.kid",
    "loose": "SELECT t, n, region FROM shop.loose",
}
EMPTY = {"PARENT": "ID,CODE,A,B\n", "CHILD": "ID,PID,X\n", "LOOSE": "T,N\n"}

State = dict[str, list[tuple[Any, ...]]]


def tables_of(region: str, number: int) -> dict[str, Tab]:
    return {
        table.name: replace(table, name=f"{region}_{table.name}", obid=table.obid + 10 * number)
        for table in (PARENT, CHILD, LOOSE)
    }


def made(folder: Path, seed: int) -> tuple[list[str], State]:
    """A log of two histories over the same keys, in turns; and how the target ends."""
    draw = random.Random(seed)
    tables = [tables_of(region, number) for number, region in enumerate(REGIONS)]
    log = LogBuilder(tuple(table for group in tables for table in group.values()))
    histories = [Maker(2 * seed + number, 40, 8).history for number in range(2)]
    turns = [number for number, history in enumerate(histories) for _ in history.units]
    draw.shuffle(turns)
    units = [iter(history.units) for history in histories]
    for number in turns:
        unit = log.unit()
        for step in next(units[number]):
            table = tables[number][step.table]
            if step.before is None:
                unit.insert(table, step.after or ())
            elif step.after is None:
                unit.delete(table, step.before)
            else:
                unit.update(table, step.before, step.after)
    control, data = log.write(folder, seed=seed)
    state: State = {"folk": [], "kid": [], "loose": []}
    for number, history in enumerate(histories):
        ended, region = history.state(), REGIONS[number] * 2
        state["folk"] += [(*row, region, number) for row in ended["parent"]]
        state["kid"] += [(*row[:2], region, number) for row in ended["child"]]
        state["loose"] += [(*row, region) for row in ended["loose"]]
    (folder / "map.toml").write_text(MAPPING)
    words = ["--control", str(control), *(w for one in data for w in ("--data", str(one)))]
    words += ["--engine", "local", "--mapping", str(folder / "map.toml")]
    return words, {name: sorted(found, key=repr) for name, found in state.items()}


def initial(folder: Path) -> Path:
    place = folder / "before"
    place.mkdir()
    for region in REGIONS:
        for name, text in EMPTY.items():
            (place / f"{region}_{name}.csv").write_text(text)
    return place


def in_postgres(url: str) -> State:
    return {name: sorted(rows(url, query), key=repr) for name, query in STATES.items()}


@pytest.mark.parametrize("mode", ["strict", "bulk"])
def test_a_replay_ends_as_the_model_and_is_verified(
    fresh_database: str, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "WORTH", 1)
    before = initial(tmp_path)
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        words, state = made(folder, seed)
        rows(fresh_database, "DROP SCHEMA IF EXISTS shop, logreplay CASCADE; CREATE SCHEMA shop;")
        rows(fresh_database, TABLES.replace("REFERENCES", REFERENCES, 1))
        rows(fresh_database, "INSERT INTO shop.loose VALUES ('XX', 'others', 1)")
        there = [*words, "--to", fresh_database]
        assert main(["replay", *there, "--apply", "--mode", mode]) == 0
        state["loose"] = sorted([*state["loose"], ("others", 1, "XX")], key=repr)
        assert in_postgres(fresh_database) == state
        verify = ["verify", *there, "--expected", str(before)]
        assert main(verify) == 8
        rows(fresh_database, "DELETE FROM shop.loose WHERE region = 'XX'")
        assert main(verify) == 0
        back = ["--apply", "--until-position", "0" * 20]
        assert main(["replay", *there, *back]) == 0
        assert in_postgres(fresh_database) == {"folk": [], "kid": [], "loose": []}


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("upsert", [(), ("--upsert",)])
def test_scripts_end_as_the_model(tmp_path: Path, dialect: str, upsert: tuple[str, ...]) -> None:
    keys = tmp_path / "keys.sql"
    keys.write_text(
        "".join(
            f"ALTER TABLE TESTOWN.{r}_PARENT ADD UNIQUE (CODE); ALTER TABLE TESTOWN.{r}_CHILD ADD"
            f" FOREIGN KEY (PID) REFERENCES TESTOWN.{r}_PARENT (ID);"
            for r in REGIONS
        )
    )
    for seed in range(3, 6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        words, state = made(folder, seed)
        words += ["--schema", str(keys), "--dialect", dialect]
        chosen = ("--exclude-table", "*LOOSE", *upsert) if upsert else ()
        assert main(["redo", *words, *chosen, "--out", str(folder / "redo")]) == 0
        assert main(["undo", *words, "--out", str(folder / "undo")]) == 0
        ended, begun = carried_out(dialect, folder, bool(upsert))
        assert ended == (state | {"loose": []} if upsert else state)
        assert begun == {"folk": [], "kid": [], "loose": []} or upsert


def carried_out(dialect: str, folder: Path, only_forward: bool) -> tuple[State, State]:
    references = REFERENCES if dialect == "sqlite" else ""
    made = TABLES.replace("REFERENCES", references, 1)
    connection: Any
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:", isolation_level=None)
        made = made.replace("shop.", "")
        connection.execute("PRAGMA foreign_keys = ON")
    else:
        connection = duckdb.connect()
        connection.execute("CREATE SCHEMA shop")
    run = connection.executescript if dialect == "sqlite" else connection.execute
    run(made)
    found = []
    for direction in ("redo", "undo"):
        if direction == "redo" or not only_forward:
            for path in sorted((folder / direction).rglob("*.sql")):
                text = path.read_text()
                run(text.replace("shop.", "") if dialect == "sqlite" else text)
        queries = {
            name: query.replace("shop.", "") if dialect == "sqlite" else query
            for name, query in STATES.items()
        }
        found.append(
            {
                name: sorted(connection.execute(query).fetchall(), key=repr)
                for name, query in queries.items()
            }
        )
    return found[0], found[1]


def test_what_empties_one_of_them_leaves_the_other_rows(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    north, south = (tables_of(region, number) for number, region in enumerate(REGIONS))
    log = LogBuilder((*north.values(), *south.values()))
    unit = log.unit()
    for tables in (north, south):
        unit.insert(tables["LOOSE"], ("x", 1))
        unit.insert(tables["PARENT"], (1, "A", 1, 1))
    unit = log.unit()
    unit.event(north["LOOSE"], "DT")
    unit.event(south["PARENT"], "DM")
    control, data = log.write(tmp_path)
    (tmp_path / "map.toml").write_text(MAPPING)
    words = ["--control", str(control), "--data", *map(str, data)]
    words += ["--engine", "local", "--mapping", str(tmp_path / "map.toml"), "--to", fresh_database]
    rows(fresh_database, f"CREATE SCHEMA shop; {TABLES.replace('REFERENCES', '')}")
    assert main(["replay", *words, "--apply"]) == 0
    found = in_postgres(fresh_database)
    assert found == {"folk": [(1, "A", 1, 1, "NN", 0)], "kid": [], "loose": [("x", 1, "SS")]}
    capsys.readouterr()
    main(["verify", *words, "--expected", str(initial(tmp_path))])
    said = capsys.readouterr().out
    assert "table folk: the log empties one of the tables that become it" in said


def test_a_key_of_the_target_without_the_constant_is_refused(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, _ = made(tmp_path, 1)
    tables = TABLES.replace("REFERENCES", "").replace("UNIQUE (mark, region)", "UNIQUE (mark)")
    rows(fresh_database, f"CREATE SCHEMA shop; {tables}")
    assert main(["replay", *words, "--to", fresh_database, "--apply"]) == 12
    said = capsys.readouterr().err
    assert "LR1011 found the key (mark) of SHOP.FOLK" in said
    assert "TESTOWN.N_PARENT and TESTOWN.S_PARENT" in said
    assert in_postgres(fresh_database) == {"folk": [], "kid": [], "loose": []}


def test_a_migration_makes_the_tables_and_questions_have_all_rows(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, state = made(tmp_path, 9)
    before = initial(tmp_path)
    out = tmp_path / "out"
    migrate = ["migrate", *words, "--dialect", "postgres", "--initial", str(before)]
    assert main([*migrate, "--out", str(out)]) == 0
    assert run(fresh_database, out) == "SAME\n"
    assert in_postgres(fresh_database) == state
    capsys.readouterr()
    query = "SELECT after_region, count(*) FROM shop.folk WHERE op = 'insert' GROUP BY 1"
    assert main(["sql", *words, query, "--format", "json"]) == 0
    assert '"NN"' in (said := capsys.readouterr().out)
    assert '"SS"' in said
    shown = tmp_path / "state"
    at = ["--at", "end", "--initial", str(before), "--format", "csv", "--out", str(shown)]
    assert main(["state", *words, *at]) == 0
    found = {path.stem: len(path.read_text().splitlines()) - 1 for path in shown.glob("*.csv")}
    assert found == {name: len(held) for name, held in state.items()}
    places = tmp_path / "datasets"
    assert main(["export", *words, "--format", "jsonl", "--out", str(places)]) == 0
    regions = {
        path.name: {line.partition('"region":"')[2][:2] for line in lines_of(path)}
        for path in places.iterdir()
        if path.is_dir()
    }
    assert sorted(map(str, regions.values())) == sorted(3 * ["{'NN'}", "{'SS'}"])


def lines_of(folder: Path) -> list[str]:
    return [line for path in folder.rglob("*.jsonl") for line in path.read_text().splitlines()]
