"""Runs the program on a log and compares what its scripts leave with the model.

Used for Db2 LUW and solidDB; a :class:`Case` is a history with the log that was written of it.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import json
import re
import secrets
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import duckdb
import psycopg

from replay.cli.main import main
from replay.targets import embedded
from tests.model.luw_model import History, Inconsistent, Row, State, Table, Unit, multiset, plain

_AFFINITY = {
    "SMALLINT": "INTEGER",
    "INTEGER": "INTEGER",
    "BIGINT": "INTEGER",
    "DECIMAL": "NUMERIC",
    "DOUBLE": "REAL",
    "REAL": "REAL",
}


@dataclass
class Outcome:
    """What a run of the program did."""

    code: int
    text: str
    folder: Path | None = None

    @property
    def manifest(self) -> dict:
        path = self.folder / "manifest.json" if self.folder else None
        return json.loads(path.read_text()) if path and path.exists() else {}

    @property
    def script(self) -> list[str]:
        if self.folder is None or not self.folder.is_dir():
            return []
        files = sorted(self.folder.glob("*.sql"))
        return [line for file in files for line in file.read_text().splitlines()]

    @property
    def statements(self) -> list[str]:
        return [line for line in self.script if line and not line.startswith("--")]

    def units(self, pattern: str) -> list[str]:
        """The units that the script holds, as its comments name them."""
        found = [re.search(pattern, line) for line in self.script if line.startswith("-- unit")]
        return [match[1] for match in found if match]

    @property
    def held(self) -> list:
        return self.manifest.get("quarantined_units", [])

    def brief(self) -> str:
        lines = [line for line in self.text.splitlines() if "LR" in line or "rror" in line]
        return f"exit {self.code}: " + " | ".join(lines[:3] or self.text.splitlines()[-2:])[:400]


@dataclass
class Verdict:
    """What a check found: ok, wrong, refused, failed (on the target) or crashed."""

    check: str
    result: str
    detail: str = ""

    @property
    def bad(self) -> bool:
        return self.result != "ok"


@dataclass
class Options:
    """What the command line says about all checks."""

    targets: tuple[str, ...] = ("sqlite",)


@dataclass
class Case:
    """A history, its log on disk, and how the program is told of it."""

    history: History
    folder: Path
    source: list[str]
    #: How scripts name a unit: a pattern with one group, and that group for a unit.
    pattern: str
    name: Callable[[Unit], str]
    #: How --ur names it.
    ur: Callable[[Unit], str]
    form: object = None
    #: Whether foreign and unique keys are told by --schema; else the log's catalog has them.
    schema_file: bool = True
    #: Fraction digits of a timestamp.
    digits: int = 6
    runs: int = 0
    verdicts: list[Verdict] = field(default_factory=list)

    def run(self, command: str, *words: str, out: bool = True) -> Outcome:
        self.runs += 1
        folder = self.folder / f"out{self.runs}" if out else None
        argv = [command, *self.source, "--engine", "local", *words]
        if self.history.schema and self.schema_file and "--schema" not in words:
            argv += ["--schema", str(write_schema(self.history.tables, self.folder))]
        if folder is not None:
            argv += ["--out", str(folder)]
        return invoke(argv, folder)

    def bad(self, check: str, text: str) -> None:
        """A check did not hold; its words say how."""
        result = "wrong"
        if "unexpected" in text or "a defect of logreplay" in text:
            result = "crashed"
        elif text.startswith(("refused", "exit 8")):
            result = "refused"
        elif " stops: " in text:
            result = "failed"
        self.verdicts.append(Verdict(check, result, text))

    def good(self, check: str) -> None:
        self.verdicts.append(Verdict(check, "ok"))

    def describe(self) -> str:
        """The history in words."""
        history = self.history
        lines = [f"form {self.form}"]
        for table in history.tables:
            columns = [
                f"{c.name} {c.type}{'' if c.nullable else ' not null'}" for c in table.columns
            ]
            lines.append(f"table {table.name} ({', '.join(columns)}) keys {table.keys}")
            for row in history.initial[table.name].values():
                lines.append(f"  has {shown(row)}")
        for unit in history.units:
            end = "aborted" if unit.aborted else f"commit {unit.commit} of {unit.authid}"
            lines.append(f"unit {unit.number} ({self.name(unit)}), {end}")
            for how, change in unit.events:
                lines.append(
                    f"  {'' if how == 'do' else 'back: '}{change.statement} {change.op}"
                    f" {change.table} {shown(change.before)} -> {shown(change.after)}"
                )
        return "\n".join(lines)


def shown(row: Row | None) -> str:
    return "-" if row is None else "(" + ", ".join(map(plain, row.values())) + ")"


def invoke(argv: list[str], folder: Path | None = None) -> Outcome:
    text = io.StringIO()
    before = set(threading.enumerate())
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            code = main(argv)
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 2
    # A refused run may leave a thread that still reads the files of the log.
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(10)
    return Outcome(code, text.getvalue(), folder)


def write_schema(tables: list[Table], folder: Path) -> Path:
    path = folder / "schema.sql"
    path.write_text(definitions(tables))
    return path


def definitions(tables: list[Table], actions: bool = True) -> str:
    """DDL in PostgreSQL's words, with all keys."""
    kinds = {"CHARACTER": "char", "DOUBLE": "double precision", "DECIMAL": "numeric"}
    parts = []
    for table in tables:
        lines = []
        for column in table.columns:
            kind = kinds.get(column.type, column.type.lower())
            if column.type in ("CHARACTER", "VARCHAR"):
                kind += f"({column.length})"
            if column.type == "DECIMAL":
                kind += f"({column.length}, {column.scale})"
            lines.append(f"{column.name} {kind}{'' if column.nullable else ' NOT NULL'}")
        lines += _constraints(table, f"{table.schema}.", actions)
        parts.append(f"CREATE TABLE {table.schema}.{table.name} ({', '.join(lines)});\n")
    return "".join(parts)


def _constraints(table: Table, prefix: str, actions: bool = True) -> list[str]:
    lines = [f"PRIMARY KEY ({', '.join(table.key)})"] if table.key else []
    lines += [f"UNIQUE ({', '.join(key)})" for key in table.unique]
    for foreign in table.foreign:
        line = f"FOREIGN KEY ({', '.join(foreign.columns)}) REFERENCES {prefix}{foreign.parent}"
        lines.append(line + (f" ON DELETE {foreign.action}" if actions else "(k)"))
    return lines


# -- databases


def stored(value: object, digits: int = 6) -> object:
    """A value as scripts for SQLite write it: timestamps with all digits of their type."""
    if isinstance(value, datetime):
        return plain(value).ljust(20 + digits, "0")
    if isinstance(value, (date, time)):
        return plain(value)
    return str(value) if isinstance(value, Decimal) else value


class Lite:
    """A SQLite database with the tables of a history."""

    def __init__(
        self,
        tables: list[Table],
        rows: State,
        keys: bool,
        path: Path | None = None,
        foreign: bool = False,
        digits: int = 6,
        unique: bool = True,
    ):
        self.tables = tables
        self.base = sqlite3.connect(":memory:", isolation_level=None)
        self.base.execute(f"ATTACH '{path or ':memory:'}' AS app")
        for table in tables:
            columns = []
            for column in table.columns:
                null = "" if column.nullable or not keys else " NOT NULL"
                columns.append(f"{column.name.lower()} {_AFFINITY.get(column.type, 'TEXT')}{null}")
            if keys:
                only = table if unique else replace(table, unique=())
                columns += [c.lower() for c in _constraints(only, "", actions=False)]
            self.base.execute(f"CREATE TABLE app.{table.name.lower()} ({', '.join(columns)})")
            marks = ", ".join("?" * len(table.columns))
            for row in rows[table.name].values():
                values = [stored(row[c.name], digits) for c in table.columns]
                self.base.execute(f"INSERT INTO app.{table.name} VALUES ({marks})", values)
        self.base.execute(f"PRAGMA foreign_keys = {'ON' if foreign else 'OFF'}")

    def apply(self, lines: list[str]) -> str | None:
        """Run a script; answer the first error."""
        for line in lines:
            try:
                self.base.execute(line)
            except sqlite3.Error as error:
                return f"{error} in {line[:200]}"
        return None

    def rows(self) -> dict[str, Counter]:
        result = {}
        for table in self.tables:
            names = ", ".join(c.name for c in table.columns)
            found = self.base.execute(f"SELECT {names} FROM app.{table.name}").fetchall()
            result[table.name] = multiset(
                {c.name: back(c.type, v) for c, v in zip(table.columns, row, strict=True)}
                for row in found
            )
        return result

    def close(self) -> None:
        self.base.close()


class Postgres:
    """A database of the embedded PostgreSQL server, which starts when it is first needed."""

    servers: ClassVar[list[str]] = []

    def __enter__(self) -> Postgres:
        if not self.servers:
            manager = embedded.server()
            self.servers.append(manager.__enter__())
            atexit.register(manager.__exit__, None, None, None)
        self.number = 0
        self.url = ""
        self.made: list[str] = []
        return self

    def __exit__(self, *_: object) -> None:
        with psycopg.connect(self.servers[0], autocommit=True) as base:
            for name in self.made:
                base.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def fresh(self, tables: list[Table], rows: State) -> None:
        """An empty database with these tables, keys and rows."""
        name = f"model_{secrets.token_hex(4)}"
        with psycopg.connect(self.servers[0], autocommit=True) as base:
            base.execute(f"CREATE DATABASE {name}")
        self.made.append(name)
        self.url = self.servers[0].rsplit("/", 1)[0] + f"/{name}"
        with psycopg.connect(self.url, autocommit=True) as base:
            base.execute("CREATE SCHEMA app")
            base.execute(definitions(tables, actions=False))
            for table in tables:
                marks = ", ".join(["%s"] * len(table.columns))
                for row in rows[table.name].values():
                    values = [row[c.name] for c in table.columns]
                    base.execute(f"INSERT INTO app.{table.name} VALUES ({marks})", values)

    def apply(self, lines: list[str]) -> str | None:
        with psycopg.connect(self.url, autocommit=True) as base:
            for line in lines:
                try:
                    base.execute(line)
                except psycopg.Error as error:
                    return f"{str(error).splitlines()[0]} in {line[:200]}"
        return None

    def rows(self, tables: list[Table]) -> dict[str, Counter]:
        result = {}
        with psycopg.connect(self.url) as base:
            for table in tables:
                names = [c.name for c in table.columns]
                found = base.execute(f"SELECT {', '.join(names)} FROM app.{table.name}").fetchall()
                result[table.name] = multiset(dict(zip(names, r, strict=True)) for r in found)
        return result


class Duck:
    """A DuckDB database with the tables of a history, without keys."""

    def __init__(self, tables: list[Table], rows: State):
        self.tables = tables
        self.base = duckdb.connect(":memory:")
        self.base.execute("CREATE SCHEMA app")
        for table in tables:
            columns = []
            for column in table.columns:
                kind = {"CHARACTER": "VARCHAR"}.get(column.type, column.type)
                if kind == "DECIMAL":
                    kind += f"({column.length}, {column.scale})"
                columns.append(f"{column.name} {kind}")
            self.base.execute(f"CREATE TABLE app.{table.name.lower()} ({', '.join(columns)})")
            marks = ", ".join("?" * len(table.columns))
            for row in rows[table.name].values():
                values = [row[c.name] for c in table.columns]
                self.base.execute(f"INSERT INTO app.{table.name} VALUES ({marks})", values)

    def apply(self, lines: list[str]) -> str | None:
        for line in lines:
            try:
                self.base.execute(line)
            except duckdb.Error as error:
                return f"{str(error)[:200]} in {line[:200]}"
        return None

    def rows(self) -> dict[str, Counter]:
        result = {}
        for table in self.tables:
            names = ", ".join(c.name for c in table.columns)
            found = self.base.execute(f"SELECT {names} FROM app.{table.name}").fetchall()
            result[table.name] = multiset(
                dict(zip([c.name for c in table.columns], row, strict=True)) for row in found
            )
        return result

    def close(self) -> None:
        self.base.close()


def back(kind: str, value: object) -> object:
    """A value of SQLite as the model has it."""
    if value is None:
        return None
    if kind in ("SMALLINT", "INTEGER", "BIGINT"):
        return int(value)
    if kind in ("REAL", "DOUBLE"):
        return float(value)
    if kind == "DECIMAL":
        return Decimal(str(value))
    if kind == "TIMESTAMP":
        text = str(value)
        text = text if "." in text else text + "."
        return text[:20] + text[20:].rstrip("0").ljust(6, "0")
    return value


def wanted(history: History, state: State) -> dict[str, Counter]:
    return {table.name: multiset(state[table.name].values()) for table in history.tables}


def difference(found: dict[str, Counter], expected: dict[str, Counter]) -> str | None:
    for name, rows in expected.items():
        if rows != found[name]:
            more = [dict(row) for row in (found[name] - rows)][:3]
            less = [dict(row) for row in (rows - found[name])][:3]
            return f"{name}: too many {more}, missing {less}"
    return None


# -- checks


def _applied(
    case: Case, check: str, outcome: Outcome, start: State, end: State, dialect: str, twice: bool
) -> None:
    """Run a script on its databases and compare. ``twice``: apply it again; values of a second
    unique key may go from row to row, so then that key is not enforced."""
    history = case.history
    runs = [(True, 1, True), (True, 2, False)] if twice else [(False, 1, True), (True, 1, True)]
    if twice and not any(table.unique for table in history.tables):
        runs = [(True, 2, True)]
    for keys, times, unique in runs if dialect == "sqlite" else [(False, 1, True)]:
        if dialect == "sqlite":
            base = Lite(
                history.tables,
                start,
                keys,
                foreign=keys and not twice,
                digits=case.digits,
                unique=unique,
            )
        else:
            base = Duck(history.tables, start)
        where = f"{dialect}{' with keys' if keys else ''}"
        for again in range(times):
            error = base.apply(outcome.statements)
            what = f"{where}{' again' if again else ''}"
            if error:
                case.bad(check, f"{what} stops: {error}")
                break
            wrong = difference(base.rows(), wanted(history, end))
            if wrong:
                case.bad(check, f"{what} WRONG (exit {outcome.code}): {wrong}")
                break
            case.good(check)
        base.close()


def _whole(case: Case, command: str, dialect: str, upsert: bool) -> None:
    history = case.history
    if upsert and not all(table.key for table in history.tables):
        return
    check = f"{command}{' --upsert' if upsert else ''} {dialect}"
    outcome = case.run(command, "--dialect", dialect, *(["--upsert"] if upsert else []))
    if outcome.code not in (0, 4) or outcome.held:
        case.bad(check, f"refused: {outcome.brief()}")
        return
    start, end = history.initial, history.final
    if command == "undo":
        start, end = end, start
    _applied(case, check, outcome, start, end, dialect, upsert)


def check_redo(case: Case) -> None:
    """Redo on SQLite, with and without keys."""
    _whole(case, "redo", "sqlite", upsert=False)


def check_upsert(case: Case) -> None:
    """Redo with --upsert, applied twice."""
    _whole(case, "redo", "sqlite", upsert=True)


def check_undo(case: Case) -> None:
    """Undo on SQLite, with and without keys."""
    _whole(case, "undo", "sqlite", upsert=False)


def check_undo_upsert(case: Case) -> None:
    """Undo with --upsert, applied twice."""
    _whole(case, "undo", "sqlite", upsert=True)


def check_duckdb(case: Case) -> None:
    """Redo and undo on DuckDB, without keys."""
    _whole(case, "redo", "duckdb", upsert=False)
    _whole(case, "undo", "duckdb", upsert=False)


def check_replay(case: Case) -> None:
    """Into a SQLite file with keys, forward, and back to the first unit."""
    history = case.history
    path = case.folder / "target.db"
    path.unlink(missing_ok=True)
    Lite(history.tables, history.initial, True, path, digits=case.digits).close()

    def found() -> dict[str, Counter]:
        base = sqlite3.connect(":memory:")
        base.execute(f"ATTACH '{path}' AS app")
        reader = Lite.__new__(Lite)
        reader.tables, reader.base = history.tables, base
        rows = reader.rows()
        base.close()
        return rows

    _replayed(case, "replay", f"sqlite:///{path}?schema=app", [], found)


def _replayed(
    case: Case, check: str, url: str, words: list[str], found: Callable[[], dict[str, Counter]]
) -> None:
    """Replay to the end, then back to where the first unit ended."""
    history = case.history
    whole = case.run("redo", "--dialect", "sqlite")
    marks = [re.search(r"commit-\w+=(\w+)", line) for line in whole.script if "-- unit" in line]
    named = whole.units(case.pattern)
    ends = {"forward": (history.final, [])}
    if len(named) > 1 and marks[0] and not words:
        names = [case.name(unit) for unit in history.units]
        first = history.units[: names.index(named[0]) + 1]
        with contextlib.suppress(Inconsistent):
            ends["back"] = (history.only(first), ["--until-lrsn", marks[0][1]])
    for step, (end, more) in ends.items():
        argv = ["replay", *case.source, "--engine", "local", "--to", url, "--apply"]
        outcome = invoke([*argv, *words, *more])
        if outcome.code not in (0, 4):
            case.bad(f"{check} {step}", f"refused: {outcome.brief()}")
            return
        wrong = difference(found(), wanted(history, end))
        if wrong:
            case.bad(f"{check} {step}", f"WRONG (exit {outcome.code}): {wrong}")
            return
        case.good(f"{check} {step}")


def check_postgres(case: Case) -> None:
    """On PostgreSQL with keys: scripts both ways, and replay in every mode."""
    history = case.history
    with Postgres() as server:
        for command, start, end in (
            ("redo", history.initial, history.final),
            ("undo", history.final, history.initial),
        ):
            outcome = case.run(command, "--dialect", "postgres")
            if outcome.code not in (0, 4) or outcome.held:
                case.bad(f"{command} postgres", f"refused: {outcome.brief()}")
                continue
            server.fresh(history.tables, start)
            error = server.apply(outcome.statements)
            if error:
                case.bad(f"{command} postgres", f"postgres stops: {error}")
                continue
            wrong = difference(server.rows(history.tables), wanted(history, end))
            if wrong:
                case.bad(f"{command} postgres", f"WRONG (exit {outcome.code}): {wrong}")
            else:
                case.good(f"{command} postgres")
        for mode, words in (
            ("strict", []),
            ("merged", ["--mode", "merged"]),
            ("sessions", ["--sessions", "2"]),
        ):
            server.fresh(history.tables, history.initial)
            check = f"replay postgres {mode}"
            _replayed(case, check, server.url, words, lambda: server.rows(history.tables))


def _parts(case: Case) -> list[Unit]:
    return [unit for unit in case.history.committed if unit.changes]


def check_except(case: Case) -> None:
    """Without each unit: its dependents are out, the independent are in, the rows are right."""
    history = case.history
    units = {case.name(unit): unit for unit in history.committed}
    for unit in _parts(case)[:4]:
        outcome = case.run("redo", "--dialect", "sqlite", "--except", case.ur(unit))
        check = "redo --except"
        if outcome.code not in (0, 4):
            case.bad(check, f"refused: {outcome.brief()}")
            continue
        kept = {units[n].number for n in outcome.units(case.pattern)}
        _judged(case, check, outcome, unit, kept, history.initial, None)


def check_undo_one(case: Case) -> None:
    """One unit taken back: refused when others build on it; with them when asked to."""
    history = case.history
    units = {case.name(unit): unit for unit in history.committed}
    for unit in _parts(case)[:4]:
        must = history.closure(unit, history.must)
        may = history.closure(unit, history.may)
        outcome = case.run("undo", "--dialect", "sqlite", "--ur", case.ur(unit))
        check = "undo --ur"
        if outcome.code == 8 or (outcome.code in (0, 4) and outcome.held):
            if len(may) == 1:
                case.bad(check, f"refused without need: {outcome.brief()}")
        elif outcome.code not in (0, 4):
            case.bad(check, f"refused: {outcome.brief()}")
        elif len(must) > 1:
            case.bad(
                check, f"passes (exit {outcome.code}) although {must - {unit.number}} build on it"
            )
        else:
            kept = {u.number for u in history.committed} - {unit.number}
            _judged(case, check, outcome, unit, kept, history.final, may)
        outcome = case.run("undo", "--dialect", "sqlite", "--ur", case.ur(unit), "--cascade", "all")
        check = "undo --cascade all"
        if outcome.code not in (0, 4) or outcome.held:
            case.bad(check, f"refused: {outcome.brief()}")
            continue
        gone = {units[n].number for n in outcome.units(case.pattern)}
        kept = {u.number for u in history.committed} - gone
        _judged(case, check, outcome, unit, kept, history.final, None)


def _judged(
    case: Case,
    check: str,
    outcome: Outcome,
    unit: Unit,
    kept: set[int],
    start: State,
    left_out: set[int] | None,
) -> None:
    """Whether the kept units are those to keep, and the script leaves their rows."""
    history = case.history
    turning = {u.number for u in history.committed if u.changes and not u.leaves()}
    every = {u.number for u in history.committed if u.leaves()}
    must = history.closure(unit, history.must)
    may = history.closure(unit, history.may)
    if unit.number not in every | turning:
        return
    # A unit that leaves the same rows needs no statement, so the script does not tell of it;
    # whether it was taken with the others stands in the manifest.
    named = outcome.manifest.get("consequences", {}).get("units", [])
    taken = {u.number for u in history.committed if f"{case.ur(u):0>20}/0" in named}
    kept = (kept | turning) - ((must | taken) & turning)
    if left_out is None:
        if kept & must:
            case.bad(check, f"keeps {kept & must}, which build on {unit.number}")
            return
        if every - may - kept:
            case.bad(check, f"loses {every - may - kept}, which do not build on {unit.number}")
            return
    try:
        end = history.only(u for u in history.committed if u.number in kept)
    except Inconsistent as error:
        case.bad(check, f"keeps a set that makes no sense: {error}")
        return
    _applied(case, check, outcome, start, end, "sqlite", twice=False)


CHECKS: dict[str, Callable[[Case], None]] = {
    "redo": check_redo,
    "upsert": check_upsert,
    "undo": check_undo,
    "undo-upsert": check_undo_upsert,
    "duckdb": check_duckdb,
    "replay": check_replay,
    "except": check_except,
    "undo-one": check_undo_one,
}


#: Checks that need a server, run when they are asked for.
LIVE: dict[str, Callable[[Case], None]] = {"postgres": check_postgres}


def asked(checks: Sequence[str], options: Options) -> list[str]:
    """The checks to run: live ones only where they are named or their target is."""
    named = set(checks) if len(checks) < len(CHECKS) + len(LIVE) else set()
    return [c for c in checks if c in CHECKS or c in named or c in options.targets]


def checked(case: Case, checks: Sequence[str]) -> list[Verdict]:
    """What the checks found."""
    for name in checks:
        (CHECKS.get(name) or LIVE[name])(case)
    return case.verdicts


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report(
    module: object, kinds: Sequence[str], seeds: range, checks: Sequence[str], verbose: int
) -> int:
    """Run kinds over seeds and print what holds and what does not; answer how many do not."""
    bad = 0
    for kind in kinds:
        failed, counts, shortest = 0, Counter(), {}
        for seed in seeds:
            verdicts, text = module.run_case(seed, kind, checks, Options())
            worst = {(v.check, v.result) for v in verdicts if v.bad}
            failed += bool(worst)
            counts.update(worst)
            for v in verdicts:
                if v.bad and len(text) < len(
                    shortest.get((v.check, v.result), [0, "x" * 10**6])[1]
                ):
                    shortest[v.check, v.result] = [f"seed {seed}: {v.detail}", text]
        say(f"{kind}: {len(seeds) - failed} of {len(seeds)} seeds hold")
        for (check, result), count in sorted(counts.items()):
            say(f"  {check}: {result} {count}")
            if verbose:
                detail, text = shortest[check, result]
                say("    " + detail[:600])
                if verbose > 1:
                    say("      | " + text.replace("\n", "\n      | "))
        bad += failed
    return bad


def command(module: object, description: str) -> int:
    """The command line of a family: kinds, seeds, checks."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--kinds", default="default", help="default, all, or names with commas")
    parser.add_argument(
        "--check", default="", help="names with commas (default: all but live ones)"
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("-v", action="count", default=0)
    args = parser.parse_args()
    kinds = {"default": module.KINDS_BY_DEFAULT, "all": tuple(module.KINDS)}.get(
        args.kinds, tuple(args.kinds.split(","))
    )
    checks = tuple(args.check.split(",")) if args.check else tuple(CHECKS)
    seeds = range(args.first, args.first + args.seeds)
    return 1 if report(module, kinds, seeds, checks, args.v) else 0
