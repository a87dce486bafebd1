"""Strict order in fewer statements, on a live PostgreSQL: the end, the position and what is said of
a change that does not fit are those of single statements; what could tell the order stays in it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.engine import local
from replay.errors import counted
from replay.live import bulk
from replay.live import replay as live
from replay.live.bulk import RowLoads
from replay.logs.logmaster.opening import open_log
from replay.targets import Session, target_named
from sqlgen.literals import Policy
from sqlgen.render.staged_merge import Load
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Constraints, Op
from tests.support.few import few
from tests.support.history import SCHEMA, Maker
from tests.support.logbuilder import Col, LogBuilder, Tab
from tests.support.replayed import position, rows

POSTGRES = target_named("postgres")
TABLES = ("parent", "child", "loose")
Log = tuple[Path, list[Path]]


def replayed(log: Log, url: str, *options: str) -> int:
    data = [part for path in log[1] for part in ("--data", str(path))]
    arguments = ["--control", str(log[0]), *data, "--to", url, "--engine", "local", "--apply"]
    return main(["replay", *arguments, "--mode", "bulk", *options])


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Op, str, int]]:
    """The loads that are brought in (operation, table, rows), be they ever so small."""
    seen: list[tuple[Op, str, int]] = []
    bring_in = bulk.bring_in

    def watched(session: Session, load: Load, reached: Callable[[str], None]) -> Any:
        seen.append((load.op, load.table.name, load.count))
        return bring_in(session, load, reached)

    monkeypatch.setattr(bulk, "WORTH", 1)
    monkeypatch.setattr(bulk, "bring_in", watched)
    return seen


def ended(url: str) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(rows(url, f"SELECT * FROM testown.{name}")) for name in TABLES}


@pytest.mark.parametrize(
    ("spread", "every"), few(product([12, 300], ["3", "1000"]), (12, "3"), (300, "1000"))
)
def test_histories_end_as_their_model(
    fresh_database: str,
    tmp_path: Path,
    spread: int,
    every: str,
    loads: list[tuple[Op, str, int]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Keys that come again, unique values that change hands, parents and children, equal rows. All
    in one transaction, what is updated or deleted was inserted there."""
    for seed in range(6):
        history = Maker(seed, 60, spread).history
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows(fresh_database, f"DROP SCHEMA IF EXISTS testown, logreplay CASCADE; {SCHEMA}")
        log = history.log(folder, seed=seed)
        before = len(loads)
        assert replayed(log, fresh_database, "--commit-every", every) == 0
        came = sum(count for *_, count in loads[before:])
        assert f"{counted(came, 'change')} came in together, the others" in capsys.readouterr().out
        assert ended(fresh_database) == history.state()
        assert position(fresh_database)[2] == 60
    assert {op for op, *_ in loads} == (set(Op) if every == "3" else {Op.INSERT})
    assert {table for _, table, _ in loads} <= {"PARENT", "CHILD"}


def test_it_is_for_replays_forward(
    fresh_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(fresh_database, SCHEMA)
    log = Maker(1, 60, 300).history.log(tmp_path, seed=1)
    assert replayed(log, fresh_database) == 0
    assert replayed(log, fresh_database, "--until-position", "0" * 20) == 8
    assert "LR4009 found --mode bulk for a replay backward" in capsys.readouterr().err


#: What is in the way of a history: nothing of a sort, a row whose key is inserted, values that are
#: refused, a row that is not as it was left.
SPOILS = {
    "a row is there": "INSERT INTO testown.parent VALUES (7, 'Z', 0, 0)",
    "a value is refused": "ALTER TABLE testown.parent ADD CHECK (a < 2 OR id % 3 > 0)",
    "no parent": "ALTER TABLE testown.child ADD FOREIGN KEY (x) REFERENCES testown.parent",
    "at the end": "ALTER TABLE testown.child ADD FOREIGN KEY (x) REFERENCES testown.parent"
    " DEFERRABLE INITIALLY DEFERRED",
}


@pytest.mark.parametrize("spoil", few(SPOILS, "a row is there", "at the end"))
def test_what_does_not_fit_is_told_as_of_single_statements(
    fresh_database: str,
    tmp_path: Path,
    spoil: str,
    loads: list[tuple[Op, str, int]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    in_bulk = bulk.may_part
    stopped = 0
    for seed in range(4):
        log = Maker(100 + seed, 40, 60).history.log(tmp_path, seed=seed)
        found = []
        for may_part in (lambda *_: False, in_bulk):
            monkeypatch.setattr(bulk, "may_part", may_part)
            rows(fresh_database, f"DROP SCHEMA IF EXISTS testown, logreplay CASCADE; {SCHEMA}")
            rows(fresh_database, SPOILS[spoil])
            code = replayed(log, fresh_database, "--commit-every", "15")
            said = capsys.readouterr().err
            found.append((code, said, ended(fresh_database), position(fresh_database)))
        assert found[0] == found[1]
        stopped += found[0][0] == 8
    assert stopped
    assert loads


def test_loads_that_fail_where_statements_do_not_are_not_tried_again(
    fresh_database: str,
    tmp_path: Path,
    loads: list[tuple[Op, str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where a user may not make temporary tables."""
    monkeypatch.setattr(bulk, "BY_KEY", "SELECT 1 / 0")
    history = Maker(1, 60, 300).history
    rows(fresh_database, SCHEMA)
    assert replayed(history.log(tmp_path), fresh_database, "--commit-every", "10") == 0
    assert ended(fresh_database) == history.state()
    assert len(loads) == 1


# -- what may leave its place
# -------------------------------------------------------------------------------------------------

ONE = Tab("ONE", (Col("K", "INT", 4, key=1), Col("U", "INT", 4, nulls="Y"), Col("V", "INT", 4)))
MANY = Tab("MANY", (Col("K", "INT", 4, key=1), Col("P", "INT", 4, nulls="Y")), obid=6)
DDL = (
    "CREATE SCHEMA testown; CREATE TABLE testown.one (k int PRIMARY KEY, u int UNIQUE, v int);"
    " CREATE TABLE testown.many (k int PRIMARY KEY, p int REFERENCES testown.one);"
)
#: Changes (table, before, after), and the places of those that stay in their order.
CASES: dict[str, tuple[list[tuple[Tab, Any, Any]], list[int]]] = {
    "rows of their own": (
        [(ONE, None, (1, 10, 0)), (ONE, (2, 20, 0), (2, 20, 1)), (ONE, (3, 30, 0), None)],
        [],
    ),
    "a row twice": (
        [(ONE, (1, 10, 0), (1, 10, 1)), (ONE, (2, 20, 0), None), (ONE, (1, 10, 1), None)],
        [0, 2],
    ),
    "a value changes hands": (
        [(ONE, (1, 10, 0), None), (ONE, None, (2, 10, 0)), (ONE, None, (3, 30, 0))],
        [0, 1],
    ),
    "a unique value changes": ([(ONE, (1, 10, 0), (1, 11, 0)), (ONE, None, (3, 30, 0))], [0]),
    "a key changes": ([(ONE, (1, 10, 0), (4, 10, 0)), (ONE, None, (3, 30, 0))], [0]),
    "nulls are no key": ([(ONE, None, (1, None, 0)), (ONE, None, (2, None, 0))], []),
    "a parent and its child": (
        [(ONE, None, (1, 10, 0)), (MANY, None, (1, 1)), (MANY, None, (2, 9))],
        [0, 1],
    ),
    "children of a parent": ([(MANY, None, (1, 9)), (MANY, (2, 9), None)], []),
    "a child leaves a parent that goes": (
        [(MANY, (1, 8), (1, 9)), (ONE, (8, 80, 0), None), (MANY, (2, 7), (2, 6))],
        [0, 1],
    ),
}


def parted(url: str, folder: Path, changes: list[tuple[Tab, Any, Any]]) -> list[int]:
    """The places of the changes of a transaction that stay in their order."""
    log = LogBuilder((ONE, MANY))
    unit = log.unit()
    for table, before, after in changes:
        if before is None:
            unit.insert(table, after)
        elif after is None:
            unit.delete(table, before)
        else:
            unit.update(table, before, after)
    control, data = log.write(folder)
    options = ScriptOptions(render=RenderOptions(where_columns="guard"))
    opened = open_log(control, data)
    source = live.ReplayInput(opened, Selection(), options, Constraints(), local.ENGINE)
    with live.plan_replay(source, live.ReplayRequest(url)) as plan:
        made = plan._statements
        assert made is not None
        changes_of = bulk.IndependentChanges(RowLoads(made.plan, opened, made.facts))
        (script,) = made.scripts
        steps = np.arange(len(script.steps))
        part = changes_of.part(script, steps)
        return steps.tolist() if part is None else part.loose.tolist()


@pytest.mark.parametrize("case", CASES)
def test_changes_that_share_a_key_stay_in_order(
    fresh_database: str, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "WORTH", 1)
    rows(fresh_database, DDL)
    changes, loose = CASES[case]
    assert parted(fresh_database, tmp_path, changes) == loose


@pytest.mark.parametrize(
    "more",
    [
        "CREATE UNIQUE INDEX ON testown.one (v) WHERE v > 0",
        "CREATE UNIQUE INDEX ON testown.one ((v % 10))",
        "CREATE UNIQUE INDEX ON testown.one (v) NULLS NOT DISTINCT",
        "ALTER TABLE testown.one ADD EXCLUDE USING btree (v WITH =)",
        "CREATE TABLE testown.below () INHERITS (testown.one)",
        "CREATE FUNCTION testown.f(int) RETURNS bool LANGUAGE sql AS 'SELECT true';"
        "ALTER TABLE testown.one ADD CHECK (testown.f(v))",
        "CREATE FUNCTION testown.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
        "CREATE TRIGGER t BEFORE INSERT ON testown.one FOR EACH ROW EXECUTE FUNCTION testown.g()",
        "ALTER TABLE testown.one ENABLE ROW LEVEL SECURITY",
        "CREATE RULE r AS ON INSERT TO testown.one DO ALSO NOTHING",
        "ALTER TABLE testown.one ADD COLUMN n serial",
        "CREATE DOMAIN testown.d AS int; ALTER TABLE testown.one ALTER v TYPE testown.d",
        "CREATE TABLE testown.far (k int REFERENCES testown.one)",
        "ALTER TABLE testown.one ADD FOREIGN KEY (v) REFERENCES testown.many ON DELETE CASCADE",
    ],
)
def test_a_table_that_could_tell_stays_in_order(
    fresh_database: str, tmp_path: Path, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "WORTH", 1)
    rows(fresh_database, DDL + more)
    assert parted(fresh_database, tmp_path, CASES["rows of their own"][0]) == [0, 1, 2]


@pytest.mark.parametrize(
    "policy", [Policy(nul="strip"), Policy(timestamps="truncate")], ids=["nul", "timestamps"]
)
def test_values_that_are_changed_stay_in_order(
    fresh_database: str, tmp_path: Path, policy: Policy
) -> None:
    """Two keys of the log may be one in the target then."""
    rows(fresh_database, DDL)
    log = LogBuilder((ONE,))
    log.unit().insert(ONE, (1, 10, 0))
    control, data = log.write(tmp_path)
    opened = open_log(control, data)
    for render, expected in ((RenderOptions(), True), (RenderOptions(policy=policy), False)):
        options = ScriptOptions(render=render)
        source = live.ReplayInput(opened, Selection(), options, Constraints(), local.ENGINE)
        with live.plan_replay(source, live.ReplayRequest(fresh_database)) as plan:
            made = plan._statements
            assert made is not None
            row_loads = RowLoads(made.plan, opened, made.facts)
            assert bulk.may_part(row_loads, frozenset(), True) is expected
            assert not bulk.may_part(row_loads, frozenset({"type"}), True)


# -- what is seen by its end alone
# -------------------------------------------------------------------------------------------------

#: Functions of an order in which texts are equal whatever their case.
FOLDED = (
    "".join(
        f"CREATE FUNCTION testown.{name}(text, text) RETURNS bool IMMUTABLE LANGUAGE sql"
        f" AS 'SELECT lower($1) {sign} lower($2)';"
        f"CREATE OPERATOR testown.{sign}# (FUNCTION = testown.{name}, LEFTARG = text,"
        " RIGHTARG = text);"
        for name, sign in (("lt", "<"), ("le", "<="), ("eq", "="), ("ge", ">="), ("gt", ">"))
    )
    + "CREATE FUNCTION testown.cmp(text, text) RETURNS int IMMUTABLE LANGUAGE sql"
    " AS 'SELECT bttextcmp(lower($1), lower($2))';"
    "CREATE OPERATOR CLASS testown.folded FOR TYPE text USING btree AS"
    + ",".join(
        f" OPERATOR {number} testown.{sign}#"
        for number, sign in enumerate(("<", "<=", "=", ">=", ">"), 1)
    )
    + ", FUNCTION 1 testown.cmp(text, text);"
)
LETTER = Tab("LETTER", (Col("K", "INT", 4, key=1), Col("U", "VCHR", 4, nulls="Y")), obid=7)
#: What tells the order without a key that both changes have: DDL behind :data:`DDL`, the changes of
#: a transaction, options, and whether single statements come to its end.
HIDDEN: dict[str, tuple[str, list[tuple[Tab, Any, Any]], list[str], bool]] = {
    "a trigger of another table": (
        "CREATE FUNCTION testown.f() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN UPDATE testown.one SET v = 0 WHERE k = NEW.k; RETURN NULL; END';"
        "CREATE TRIGGER t AFTER INSERT ON testown.many FOR EACH ROW EXECUTE FUNCTION testown.f();"
        "ALTER TABLE testown.many DROP CONSTRAINT many_p_fkey;"
        "INSERT INTO testown.one VALUES (1, 10, 3);",
        [(MANY, None, (1, None)), (ONE, (1, 10, 3), (1, 10, 5))],
        ["--accept", "trigger", "--where-columns", "key"],
        True,
    ),
    "a rule of another table": (
        "CREATE RULE r AS ON INSERT TO testown.many"
        " DO ALSO UPDATE testown.one SET v = 0 WHERE k = NEW.k;"
        "INSERT INTO testown.one VALUES (1, 10, 3);",
        [(MANY, None, (1, None)), (ONE, (1, 10, 3), (1, 10, 5))],
        ["--accept", "rule", "--where-columns", "key"],
        True,
    ),
    "an action of another table's key": (
        "CREATE TABLE testown.between (k int PRIMARY KEY REFERENCES testown.many"
        " ON DELETE CASCADE); INSERT INTO testown.many VALUES (1);"
        "CREATE FUNCTION testown.f() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN UPDATE testown.one SET v = 0; RETURN NULL; END';"
        "CREATE TRIGGER t AFTER DELETE ON testown.between FOR EACH ROW"
        " EXECUTE FUNCTION testown.f();"
        "INSERT INTO testown.between VALUES (1); INSERT INTO testown.one VALUES (1, 10, 3);",
        [(MANY, (1, None), None), (ONE, (1, 10, 3), (1, 10, 5))],
        ["--accept", "foreign-key-action", "--where-columns", "key"],
        True,
    ),
    "a check that reads another table": (
        "CREATE FUNCTION testown.f(int) RETURNS bool LANGUAGE sql"
        " AS 'SELECT EXISTS (SELECT FROM testown.one WHERE k = $1)';"
        "ALTER TABLE testown.many DROP CONSTRAINT many_p_fkey, ADD CHECK (testown.f(p));",
        [(MANY, None, (1, 5)), (ONE, None, (5, 50, 0))],
        [],
        False,
    ),
    "an operator that reads another table": (
        "CREATE FUNCTION testown.f(int, int) RETURNS bool LANGUAGE sql"
        " AS 'SELECT EXISTS (SELECT FROM testown.one WHERE k = $1)';"
        "CREATE OPERATOR testown.?# (FUNCTION = testown.f, LEFTARG = int, RIGHTARG = int);"
        "ALTER TABLE testown.many DROP CONSTRAINT many_p_fkey,"
        " ADD CHECK (p OPERATOR(testown.?#) 0);",
        [(MANY, None, (1, 5)), (ONE, None, (5, 50, 0))],
        [],
        False,
    ),
    "a domain that reads another table": (
        "CREATE FUNCTION testown.f(int) RETURNS bool LANGUAGE sql"
        " AS 'SELECT EXISTS (SELECT FROM testown.one WHERE k = $1)';"
        "CREATE DOMAIN testown.d AS int CHECK (testown.f(VALUE));"
        "ALTER TABLE testown.many DROP CONSTRAINT many_p_fkey, ALTER p TYPE testown.d;",
        [(MANY, None, (1, 5)), (ONE, None, (5, 50, 0))],
        [],
        False,
    ),
    "an event trigger": (
        "INSERT INTO testown.one VALUES (1, 10, 3); INSERT INTO testown.many VALUES (1);"
        "CREATE FUNCTION testown.f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN"
        " IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE schema_name = ''pg_temp'')"
        " THEN DELETE FROM testown.many; END IF; END';"
        "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION testown.f();",
        [(ONE, (1, 10, 3), (1, 10, 5)), (MANY, None, (2, None))],
        [],
        True,
    ),
    "a column that is left out refers": (
        "ALTER TABLE testown.many ALTER p SET DEFAULT 5;",
        [(MANY, None, (1, 7)), (ONE, None, (5, 50, 0))],
        ["--exclude-columns", "TESTOWN.MANY.P"],
        False,
    ),
    "a computed column that is left out is unique": (
        "ALTER TABLE testown.one DROP v,"
        " ADD v int GENERATED ALWAYS AS (k % 10) STORED UNIQUE;"
        "INSERT INTO testown.one VALUES (2, 20);",
        [
            (ONE, None, (12, 10, 0)),
            (ONE, (12, 10, 0), (12, None, 0)),
            (ONE, (2, 20, 1), None),
        ],
        ["--exclude-columns", "TESTOWN.ONE.V"],
        False,
    ),
    "an index that is not valid": (
        "ALTER TABLE testown.one DROP CONSTRAINT one_pkey CASCADE;"
        "ALTER TABLE testown.one DROP CONSTRAINT one_u_key;"
        "CREATE UNIQUE INDEX one_k ON testown.one (k);"
        "UPDATE pg_index SET indisvalid = false, indisready = false"
        " WHERE indexrelid = 'testown.one_k'::regclass;"
        "INSERT INTO testown.one VALUES (1, 10, 0), (1, 10, 0);",
        [(ONE, (1, 10, 0), None), (ONE, (2, 10, 0), None)],
        [],
        False,
    ),
    "a unique index that compares otherwise": (
        f"{FOLDED} CREATE TABLE testown.letter (k int PRIMARY KEY, u text);"
        "CREATE UNIQUE INDEX ON testown.letter (u testown.folded);"
        "INSERT INTO testown.letter VALUES (2, 'a');",
        [
            (LETTER, None, (1, "A")),
            (LETTER, (1, "A"), (1, None)),
            (LETTER, (2, "a"), None),
        ],
        [],
        False,
    ),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_an_order_that_keys_do_not_tell(
    fresh_database: str,
    tmp_path: Path,
    case: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody may see another end than that of single statements, nor one where they find none."""
    monkeypatch.setattr(bulk, "WORTH", 1)
    more, changes, options, fits = HIDDEN[case]
    log = LogBuilder((ONE, MANY, LETTER))
    unit = log.unit()
    for table, before, after in changes:
        if before is None:
            unit.insert(table, after)
        elif after is None:
            unit.delete(table, before)
        else:
            unit.update(table, before, after)
    written = log.write(tmp_path)
    in_bulk, found = bulk.may_part, []
    for may_part in (lambda *_: False, in_bulk):
        monkeypatch.setattr(bulk, "may_part", may_part)
        rows(fresh_database, "DROP SCHEMA IF EXISTS testown, logreplay CASCADE;" + DDL + more)
        code = replayed(written, fresh_database, *options)
        rows(fresh_database, "DROP EVENT TRIGGER IF EXISTS e")
        names = {table.name.lower() for table, *_ in changes}
        end = {name: sorted(rows(fresh_database, f"TABLE testown.{name}")) for name in names}
        found.append((code, capsys.readouterr().err, end))
    assert found[0] == found[1]
    assert (found[0][0] == 0) is fits
