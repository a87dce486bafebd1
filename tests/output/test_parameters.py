"""``--statements parameters``: what a program runs with its driver has the end of the script."""

from __future__ import annotations

import json
import re
import runpy
import sqlite3
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import psycopg
import pytest

import replay
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.native import machine_code
from replay.output.bundle import Bundle
from replay.targets import target_named
from sqlgen.constraints import Constraints
from sqlgen.dialects import BUILT_IN, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.render.parameters import STYLES, parameterised
from sqlgen.render_options import RenderOptions
from tests.support.few import few
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import PIT1, same

PAGE = Path(replay.__file__).parent / "docs" / "how-to" / "drivers.md"
THING = Tab(
    "THING",
    (
        Col("N", "INT", 4, key=1),
        Col("WORD", "VCHR", 40, nulls="Y", subtype="S"),
        Col("FIXED", "CHAR", 6, subtype="S"),
        Col("BAL", "DEC", 8, scale=2, nulls="Y"),
        Col("RATE", "FLOT", 8, nulls="Y"),
        Col("SMALL", "FLOT", 4, nulls="Y"),
        Col("RAW", "VCHR", 10, nulls="Y", subtype="B"),
        Col("DAY", "DATE", 10, nulls="Y"),
        Col("HOUR", "TIME", 8, nulls="Y"),
        Col("MOMENT", "DTTM", 26, nulls="Y"),
    ),
    "SHOP",
)
LOOSE = Tab("LOOSE", (Col("WORD", "VCHR", 20, nulls="Y", subtype="S"),), "SHOP", obid=4)
NOTHING = (None, "", None, None, None, None, None, None, None)
WORDS = ("plain", "it's", 'a "b" c', "back\\slash", "a\nb\tc\r", "100 % ?", "%s $1 é", "", "  x  ")
DDL = {
    "postgres": (
        "CREATE SCHEMA shop; CREATE TABLE shop.thing (n int PRIMARY KEY, word varchar(40), fixed"
        " char(6), bal numeric(15, 2), rate float8, small float4, raw bytea, day date, hour time,"
        " moment timestamp(6)); CREATE TABLE shop.loose (word varchar(20));"
    ),
    "sqlite": (
        "CREATE TABLE shop.thing (n integer PRIMARY KEY, word text, fixed text, bal numeric, rate"
        " real, small real, raw blob, day text, hour text, moment text);"
        "CREATE TABLE shop.loose (word text);"
    ),
}


def example(folder: Path) -> Callable[..., None]:
    """The program of the page."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = folder / "example.py"
    path.write_text(code[0], encoding="utf-8")
    run: Callable[..., None] = runpy.run_path(str(path))["run"]
    return run


def row(number: int, word: str | None) -> tuple[Any, ...]:
    return (
        number,
        word,
        "ab",
        "-12345.60",
        1.1 * number,
        0.1,
        b"\x00\xff'\\",
        "2024-02-29",
        "23:59:58",
        "2024-02-29 23:59:58.123456",
    )


def log() -> LogBuilder:
    made = LogBuilder((THING, LOOSE))
    for number, word in enumerate(WORDS, 1):
        unit = made.unit()
        unit.insert(THING, row(number, word))
        unit.update(THING, row(number, word), row(number, word[::-1] + "'"))
        unit.insert(LOOSE, (word,))
    unit = made.unit()
    unit.insert(THING, (20, *NOTHING))
    unit.update(THING, (20, *NOTHING), row(20, None))
    unit.update(THING, row(20, None), (20, *NOTHING))
    unit.update(THING, row(3, WORDS[2][::-1] + "'"), row(30, "moved"))
    unit.delete(THING, row(4, WORDS[3][::-1] + "'"))
    unit.delete(LOOSE, ("plain",))
    unit.insert(LOOSE, (None,))
    unit.delete(LOOSE, (None,))
    return made


def written(folder: Path, mode: str, tables: tuple[str, ...] = (), **how: Any) -> Bundle:
    control, data = log().write(folder)
    render = how.pop("render", RenderOptions())
    return replay.write_script(
        control,
        data,
        folder / f"out-{len(list(folder.iterdir()))}",
        mode=mode,
        selection=Selection(tables=tables),
        constraints=Constraints(),
        options=ScriptOptions(render=render, **how),
    )


class Sqlite:
    """An SQLite database."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.execute("ATTACH ':memory:' AS shop")
        self.script(DDL["sqlite"])

    def script(self, text: str) -> None:
        self.connection.executescript(text)

    def __del__(self) -> None:
        self.connection.close()

    def state(self) -> list[Any]:
        found = []
        for table in ("thing", "loose"):
            names = [one[1] for one in self.connection.execute(f"PRAGMA shop.table_info({table})")]
            shown = ", ".join(f"typeof({name}), quote({name})" for name in names)
            query = f"SELECT {shown} FROM shop.{table} ORDER BY 2"
            found.append(self.connection.execute(query).fetchall())
        return found


class Postgres:
    """A scratch PostgreSQL database."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self.script("DROP SCHEMA IF EXISTS shop CASCADE;" + DDL["postgres"])

    def script(self, text: str) -> None:
        self.connection.execute(text.encode())

    def state(self) -> list[Any]:
        return [
            self.connection.execute(f"SELECT t::text FROM shop.{table} t ORDER BY 1").fetchall()
            for table in ("thing", "loose")
        ]


def check(first: Any, second: Any, dialect: str, folder: Path, **how: Any) -> None:
    """Both ways there and back have the same end."""
    run = example(folder)
    for mode in ("redo", "undo"):
        plain = written(folder, mode, dialect=dialect, **how)
        for path in sorted(plain.folder.glob("*.sql")):
            first.script(path.read_text(encoding="utf-8"))
        apart = written(folder, mode, dialect=dialect, statements="parameters", **how)
        for path in sorted(apart.folder.glob("*.jsonl")):
            run(path, second.connection, dialect)
        assert first.state() == second.state()
        assert apart.manifest["statements"] == plain.manifest["statements"]
        if mode == "redo":
            assert sum(map(len, first.state())) > 10


@pytest.mark.parametrize(
    ("where", "asserts"),
    few(product(["key", "guard", "all"], ["rows", "none"]), ("guard", "rows"), ("key", "none")),
)
def test_sqlite(tmp_path: Path, where: str, asserts: str) -> None:
    render = RenderOptions(where_columns=where)  # type: ignore[arg-type]
    check(Sqlite(), Sqlite(), "sqlite", tmp_path, render=render, asserts=asserts)


@pytest.mark.parametrize("where", ["key", "guard", "all"])
def test_postgres(tmp_path: Path, where: str, fresh_database: str) -> None:
    render = RenderOptions(where_columns=where)  # type: ignore[arg-type]
    folder = tmp_path / "logs"
    folder.mkdir()
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        connection.execute("CREATE DATABASE beside")
    other = re.sub(r"(dbname=|/)[^/?=\s]+(?=$|\?)", r"\1beside", fresh_database)
    first, second = Postgres(fresh_database), Postgres(other)
    try:
        check(first, second, "postgres", folder, render=render)
    finally:
        second.connection.close()
        first.connection.execute("DROP DATABASE beside")
        first.connection.close()


@pytest.mark.parametrize("dialect", sorted(STYLES))
def test_upserts_say_the_same(tmp_path: Path, dialect: str) -> None:
    """Each line of an upsert is a statement of its own, and no count is expected of it."""
    how: dict[str, Any] = {"dialect": dialect, "render": RenderOptions(upsert=True)}
    plain = written(tmp_path, "redo", ("*.THING",), **how)
    apart = written(tmp_path, "redo", ("*.THING",), statements="parameters", **how)
    lines = plain.folder.joinpath("0000-redo.sql").read_text(encoding="utf-8").split("\n")
    changes = [line for line in lines if re.match("INSERT|UPDATE|DELETE", line)]
    entries = read(apart.folder)
    assert len([entry for entry in entries if "t" in entry]) == len(changes)
    assert not any("rows" in entry for entry in entries)


def read(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_sakila(fresh_database: str, sakila: Path, tmp_path: Path) -> None:
    files = [str(sakila / name) for name in ("sakila.ctl", "sakila.dat.gz")]
    log = ["--control", files[0], "--data", files[1]]
    target = target_named("postgres")
    target.run_scripts(fresh_database, [sakila / "schema.sql"])
    target.load_state(fresh_database, "sakila", sakila / "initial")
    out = tmp_path / "out"
    words = ["--engine", "local", "--schema", "none", "--statements", "parameters"]
    words += ["--until-position", PIT1, "--assert", "rows", "--out", str(out)]
    assert main(["redo", *log, *words]) == 0
    with psycopg.connect(fresh_database, autocommit=True) as connection:
        for path in sorted(out.glob("*.jsonl")):
            example(tmp_path)(path, connection, "postgres")
    assert same(fresh_database, sakila, "pit1")


def test_a_row_that_is_not_there_stops_the_program(tmp_path: Path) -> None:
    database = Sqlite()
    apart = written(tmp_path, "undo", dialect="sqlite", statements="parameters")
    with pytest.raises(SystemExit, match="touched 0 rows"):
        example(tmp_path)(apart.folder / "0000-undo.jsonl", database.connection, "sqlite")


@pytest.mark.parametrize(
    ("style", "mark"), [("qmark", "n = ?"), ("format", "n = %s"), ("numeric", "n = $")]
)
def test_marks(tmp_path: Path, style: str, mark: str) -> None:
    how: dict[str, Any] = {"statements": "parameters", "parameter_style": style}
    apart = written(tmp_path, "redo", **how)
    names = sorted(path.name for path in apart.folder.iterdir())
    assert names == ["0000-redo.jsonl", "0000-redo.templates.json", "manifest.json"]
    templates = json.loads((apart.folder / names[1]).read_text(encoding="utf-8"))
    assert templates["parameters"] == style
    assert any(mark in text for text in templates["templates"])
    assert apart.manifest["options"]["statements"] == "parameters"
    assert [entry["name"] for entry in apart.manifest["scripts"]] == names[:2]
    unique = set(templates["templates"])
    assert len(unique) == len(templates["templates"]) < 25
    written_again = written(tmp_path, "redo", **how)
    for name in names[:2]:
        assert (written_again.folder / name).read_bytes() == (apart.folder / name).read_bytes()


@pytest.mark.parametrize("dialect", sorted(STYLES))
def test_both_ways_of_writing_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: str
) -> None:
    slow = written(tmp_path, "redo", statements="parameters", dialect=dialect)
    monkeypatch.setattr(machine_code, "WORTH", 0)
    quick = written(tmp_path, "redo", statements="parameters", dialect=dialect)
    assert read(slow.folder) == read(quick.folder)
    names = ("0000-redo.templates.json",)
    assert all(
        (slow.folder / name).read_text() == (quick.folder / name).read_text() for name in names
    )


def test_comments_are_kept(tmp_path: Path) -> None:
    made = LogBuilder((THING, LOOSE))
    unit = made.unit(AUTHID='A"B\\C')
    unit.insert(THING, row(1, "a"))
    unit.insert(THING, row(2, 'say "no"\\'), LOGRECDISP="S")
    unit.update(THING, row(1, "a"), row(1, "b"))
    control, data = made.write(tmp_path)
    replay.write_script(
        control,
        data,
        tmp_path / "out",
        selection=Selection(include_aborted=True),
        constraints=Constraints(),
        options=ScriptOptions(
            statements="parameters",  # type: ignore[arg-type]
            render=RenderOptions(exclude_columns=("SHOP.THING.WORD",)),
        ),
    )
    entries = read(tmp_path / "out")
    assert 'authid=A"B\\C' in entries[1]["unit"]
    shown = [entry["comment"] for entry in entries if "comment" in entry]
    assert len(shown) == 2
    assert shown[0].startswith("-- rolled back, not applied: INSERT")
    assert shown[1].endswith("UPDATE shop.thing (word) WHERE n = 1")


@pytest.mark.parametrize("dialect", sorted(BUILT_IN.keys() - STYLES.keys()))
def test_other_dialects_refuse(dialect: str) -> None:
    with pytest.raises(SqlgenError, match="expected postgres or sqlite"):
        parameterised(profile_named(dialect))


@pytest.mark.parametrize(
    "words",
    [
        ["--statements", "parameters", "--trace", "--out", "out"],
        ["--statements", "parameters", "--out", "-"],
        ["--parameter-style", "qmark", "--out", "out"],
        ["--statements", "parameters", "--dialect", "oracle", "--out", "out"],
    ],
)
def test_what_cannot_be_had_with_them(
    tmp_path: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    control, data = log().write(tmp_path)
    files = ["--control", str(control), "--data", *map(str, data), "--schema", "none"]
    assert main(["redo", *files, *words]) == 12
    assert "parameter" in capsys.readouterr().err
    assert not Path("out").exists()
