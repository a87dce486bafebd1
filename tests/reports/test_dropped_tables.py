"""A table that is dropped, and another one that has its name later."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

import replay
from replay.cli.main import main
from replay.errors import Refusal
from replay.output.formats import Datasets
from replay.output.formats.batches import row_type
from replay.reports.net_rows import NetChange
from replay.reports.rows_at import TableNet
from sqlgen.dialects import profile_named
from sqlgen.render_options import RenderOptions
from tests.support import logbuilder as zos
from tests.support.solidbuilder import Col, LogBuilder, Tab, Unit, write_catalog, write_rows

_COLUMNS = (
    Col("ID", "INTEGER", null=False),
    Col("NAME", "VARCHAR", 20),
    Col("RS_ANAME_TUPLE_VERSION", "BIGINT", attr=2),
)
FIRST, SECOND = (Tab(relid, "DBA", "T", _COLUMNS, key=("ID",)) for relid in (10_300, 10_400))
CREATE = "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20))"


def log_of(folder: Path, dropped: bool) -> list[str]:
    log = LogBuilder()
    steps: list[Callable[[Unit], None]] = [
        lambda unit: unit.ddl(45, "SHOP.DBA.T", FIRST.relid, CREATE),
        lambda unit: unit.insert(FIRST, (1, "a")),
        lambda unit: unit.insert(FIRST, (3, "a")),
    ]
    last = FIRST
    if dropped:
        last = SECOND
        steps += [
            lambda unit: unit.ddl(17, "T", FIRST.relid, "DROP TABLE T"),
            lambda unit: unit.ddl(45, "SHOP.DBA.T", SECOND.relid, CREATE),
            lambda unit: unit.insert(SECOND, (1, "a")),
        ]
    steps.append(lambda unit: unit.update(last, (1, "a"), (1, "b")))
    for step in steps:
        unit = log.begin()
        step(unit)
        unit.commit()
    write_catalog(folder, [last])
    path = write_rows(folder / "syslog.parquet", log.rows)
    return ["--source", "soliddb", "--catalog", str(folder), "--log", str(path)]


@pytest.mark.parametrize("dropped", [False, True])
def test_a_row_of_the_one_is_none_of_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dropped: bool
) -> None:
    words = log_of(tmp_path, dropped)
    assert main(["history", *words, "--table", "DBA.T", "--key", "1", "--json"]) == 0
    versions = json.loads(capsys.readouterr().out)["versions"]
    shown = [(one["row"], one["op"]) for one in versions if one["op"] != "schema"]
    first = [(1, "insert")]
    assert shown == [*first, *([(2, "insert")] if dropped else []), (1 + dropped, "update")]


def rows_at(words: list[str], folder: Path, at: str, *more: str) -> list[str] | int:
    """The rows of the table at a point; the exit code where there are none."""
    out = folder / f"state-{len(list(folder.glob('state-*')))}"
    code = main(["state", *words, "--at", at, "--format", "csv", "--out", str(out), *more])
    return sorted((out / "t.csv").read_text().split()[1:]) if code in (0, 4) else code


@pytest.mark.parametrize("dropped", [False, True])
def test_a_state_has_the_rows_of_the_one_that_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dropped: bool
) -> None:
    words = log_of(tmp_path, dropped)
    main(["history", *words, "--table", "DBA.T", "--key", "1", "--json"])
    versions = json.loads(capsys.readouterr().out)["versions"]
    inserts = [one["commit_lrsn"] for one in versions if one["op"] == "insert"]
    assert rows_at(words, tmp_path, "start") == []
    assert rows_at(words, tmp_path, inserts[0]) == ["1,a"]
    assert rows_at(words, tmp_path, "end") == ["1,b", *([] if dropped else ["3,a"])]
    if dropped:
        assert rows_at(words, tmp_path, inserts[-1]) == ["1,a"]


@pytest.mark.parametrize("known", ["before", "after"])
def test_rows_that_are_known_beside_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], known: str
) -> None:
    words = log_of(tmp_path, True)
    (tmp_path / "known").mkdir()
    more = ["--initial", str(tmp_path / "known"), "--initial-at", known]
    (tmp_path / "known" / "T.csv").write_text("ID,NAME\n" + "1,b\n" * (known == "after"))
    if known == "before":
        assert rows_at(words, tmp_path, "end", *more) == ["1,b"]
        assert rows_at(words, tmp_path, "start", *more) == []
    else:
        assert rows_at(words, tmp_path, "end", *more) == ["1,b"]
        assert rows_at(words, tmp_path, "start", *more) == 8
        assert "LR3002 found that DBA.T was emptied after the point" in capsys.readouterr().err


#: What comes in the place of the first table: other columns, the same of another type, another key.
OTHERS = {
    "columns": ((_COLUMNS[0], Col("AMOUNT", "BIGINT", null=False), _COLUMNS[2]), ("ID",)),
    "type": ((_COLUMNS[0], Col("NAME", "INTEGER"), _COLUMNS[2]), ("ID",)),
    "key": ((_COLUMNS[0], Col("NAME", "VARCHAR", 20, null=False), _COLUMNS[2]), ("NAME",)),
}
_SAID = {
    "columns": "ID INTEGER NOT NULL PRIMARY KEY, AMOUNT BIGINT NOT NULL",
    "type": "ID INTEGER NOT NULL PRIMARY KEY, NAME INTEGER",
    "key": "ID INTEGER NOT NULL, NAME VARCHAR(20) NOT NULL PRIMARY KEY",
}


def log_of_two(folder: Path, other: str) -> tuple[list[str], list[str]]:
    """A table with two rows of one name, whose second one is made before it is dropped, and another
    one; and the names of the units."""
    columns, key = OTHERS[other]
    second = Tab(10_400, "DBA", "T", columns, key=key)
    rows: list[tuple[int, str | int]] = [(1, "x"), (1, "y")] if other == "key" else [(7, 8), (9, 8)]
    steps: dict[str, Callable[[Unit], None]] = {
        "make": lambda unit: unit.ddl(45, "SHOP.DBA.T", FIRST.relid, CREATE),
        "one": lambda unit: unit.insert(FIRST, (1, "a")),
        "two": lambda unit: unit.insert(FIRST, (2, "a")),
        "drop": lambda unit: unit.ddl(17, "T", FIRST.relid, "DROP TABLE T"),
        "again": lambda unit: unit.ddl(
            45, "SHOP.DBA.T", second.relid, f"CREATE TABLE T ({_SAID[other]})"
        ),
        "three": lambda unit: unit.insert(second, rows[0]),
        "four": lambda unit: unit.insert(second, rows[1]),
    }
    log = LogBuilder()
    for step in steps.values():
        unit = log.begin()
        step(unit)
        unit.commit()
    write_catalog(folder, [second])
    path = write_rows(folder / "syslog.parquet", log.rows)
    words = ["--source", "soliddb", "--catalog", str(folder), "--log", str(path)]
    return words, [f"{row[0]},{row[1]}" for row in rows]


def points_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Where the changes of rows commit, and that of the drop behind the second."""
    capsys.readouterr()
    assert main(["history", *words, "--table", "DBA.T", "--where", "ID > 0", "--json"]) == 0
    versions = json.loads(capsys.readouterr().out)["versions"]
    return sorted({one["commit_lrsn"] for one in versions})


@pytest.mark.long
@pytest.mark.parametrize("other", OTHERS)
def test_rows_of_tables_of_other_shapes_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: str
) -> None:
    words, later = log_of_two(tmp_path, other)
    made, one, two, dropped, again, three, four = points_of(words, capsys)
    (tmp_path / "known").mkdir()
    known = tmp_path / "known" / "T.csv"
    before = ["--initial", str(tmp_path / "known"), "--initial-at", "before"]
    expected = {
        made: [], one: ["1,a"], two: ["1,a", "2,a"], dropped: [], again: [],
        three: later[:1], four: later,
    }  # fmt: skip
    known.write_text("ID,NAME\n")
    for at, rows in expected.items():
        assert rows_at(words, tmp_path, at) == rows
        assert rows_at(words, tmp_path, at, *before) == rows
    # of the table that is there in the end, as a later state has it
    names = "ID,AMOUNT" if other == "columns" else "ID,NAME"
    known.write_text("\n".join([names, *later, ""]))
    after = [*before[:-1], "after"]
    assert rows_at(words, tmp_path, four, *after) == later
    assert rows_at(words, tmp_path, three, *after) == later[:1]
    assert rows_at(words, tmp_path, two, *after) == 8
    assert "LR3002 found" in capsys.readouterr().err


def test_columns_of_one_name_and_two_types_are_refused(tmp_path: Path) -> None:
    """Where a table has both, one after the other."""
    words, _ = log_of_two(tmp_path, "type")
    with replay.open_log(source="soliddb", catalog=words[3], log=words[5]) as log:
        catalog, profile = log.opened.log.catalog, profile_named("postgres")
    datasets = Datasets(catalog, RenderOptions(), profile)
    old, new = (datasets.of(version.index) for version in catalog.versions)
    images = pa.array([{"ID": 1, "NAME": "a"}], row_type(old.columns))
    net = TableNet("DBA.T", new, (), NetChange(False), NetChange(False))
    with pytest.raises(Refusal, match=r"other columns \(NAME of another type\)"):
        net.images(old, images)


def test_a_key_of_the_one_finds_no_rows_of_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = Col("RS_ANAME_TUPLE_ID", "BIGINT", attr=1)
    keyless = Tab(10_400, "DBA", "T", (*_COLUMNS[:2], hidden, _COLUMNS[2]))
    steps: tuple[Callable[[Unit], None], ...] = (
        lambda unit: unit.ddl(45, "SHOP.DBA.T", FIRST.relid, CREATE),
        lambda unit: unit.insert(FIRST, (1, "a")),
        lambda unit: unit.ddl(17, "T", FIRST.relid, "DROP TABLE T"),
        lambda unit: unit.ddl(45, "SHOP.DBA.T", keyless.relid, CREATE.replace(" PRIMARY KEY", "")),
        lambda unit: unit.insert(keyless, (1, "a")),
        lambda unit: unit.insert(keyless, (1, "b")),
        lambda unit: unit.update(keyless, (1, "a"), (1, "c")),
    )
    log = LogBuilder()
    for step in steps:
        unit = log.begin()
        step(unit)
        unit.commit()
    write_catalog(tmp_path, [keyless])
    path = write_rows(tmp_path / "syslog.parquet", log.rows)
    (tmp_path / "schema.sql").write_text(CREATE.replace("TABLE T", "TABLE DBA.T") + ";")
    words = ["--source", "soliddb", "--catalog", str(tmp_path), "--log", str(path)]
    words += ["--dialect", "sqlite", "--schema", str(tmp_path / "schema.sql"), "--out", "-"]
    assert main(["redo", *words]) == 0
    script, said = capsys.readouterr()
    assert "unique keys of DBA.T are not considered: several tables have that name" in said
    assert "id = 1 AND name COLLATE BINARY = 'a'" in script


def test_another_table_of_the_name_of_which_only_the_catalog_has_the_drop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Log Master: the unit that changed the table last dropped it, and commits after that."""
    columns = (zos.Col("K", "INT", 4, key=1), zos.Col("A", "INT", 4))
    dropped, created = (bytes.fromhex(f"00CA6710BBF{at}000000") for at in ("3F8", "7BB"))
    first = zos.Tab("T", columns, dropped=dropped)
    second = zos.generation(first, 1, psid=110, obid=111, created=created, dropped=bytes(10))
    log = zos.LogBuilder((first, second))
    log.unit().insert(first, (1, 10))
    last = log.unit()
    last.insert(first, (2, 20))
    last.update(first, (2, 20), (2, 21))
    log.clock = 2008
    log.unit().insert(second, (3, 30))
    log.unit().insert(second, (1, 11))
    control, data = log.write(tmp_path, seed=1)
    words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    assert main(["state", *words, "--at", "end", "--table", "T", "--out", "-"]) == 4
    assert capsys.readouterr().out.splitlines()[1:] == ["1,11", "3,30"]
    assert main(["state", *words, "--diff", "start", "end"]) == 4
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if "insert   K" in line]
    assert [line[-1] for line in shown] == ["1", "3"]
    undo = ["undo", *words, "--dialect", "sqlite", "--schema", "none", "--out", f"{tmp_path}/undo"]
    assert main([*undo, "--ur", "123456789ACC", "--cascade", "all"]) == 8
    assert f"T, which was dropped at {dropped.hex().upper()} and made" in capsys.readouterr().err
    assert main(undo) == 8
    redo = ["redo", *words, "--dialect", "sqlite", "--schema", "none", "--out"]
    capsys.readouterr()
    assert main([*redo, f"{tmp_path}/redo"]) == 8
    said = capsys.readouterr().err
    assert "LR3003" in said
    for number, part in enumerate(re.findall(r"(--\w+-position) (\w+)", said)):
        assert main([*redo, f"{tmp_path}/part{number}", *part]) == 4
        assert f"{3 - number} statements" in capsys.readouterr().out
    target = f"sqlite:///{tmp_path}/testown.db?schema=testown"
    with closing(sqlite3.connect(tmp_path / "testown.db", isolation_level=None)) as base:
        base.execute("CREATE TABLE t (k INTEGER PRIMARY KEY NOT NULL, a INTEGER)")
        apply = ["replay", *words, "--to", target, "--apply"]
        until = re.findall(r"--until-position \w+", said)[0].split()
        assert (main(apply), main([*apply, *until])) == (8, 4)
        base.execute("DELETE FROM t")
        assert main(apply) == 4
        assert base.execute("SELECT * FROM t ORDER BY k").fetchall() == [(1, 11), (3, 30)]
        (tmp_path / "rows").mkdir()
        (tmp_path / "rows" / "t.csv").write_text("k,a\n9,90\n")
        verify = ["verify", *words, "--to", target, "--expected", str(tmp_path / "rows")]
        assert main(verify) == 0
        base.execute("INSERT INTO t VALUES (9, 90)")
        assert main(verify) == 8
    assert "k = 9: row not expected" in capsys.readouterr().out
    assert main(["export", *words, "--format", "csv", "--out", f"{tmp_path}/all"]) == 4
    assert "no change takes away the rows" in capsys.readouterr().err


@pytest.mark.parametrize("sharing", [True, False])
def test_the_columns_of_one_of_three_tables_of_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sharing: bool
) -> None:
    """Log Master: the second one is as the first, also where nobody changed a row of it. Without
    data sharing the catalog has RBAs, also where units commit at LRSNs."""
    columns = (zos.Col("K", "INT", 4, key=1), zos.Col("A", "INT", 4))
    edges = [(zos.lrsn if sharing else zos.rba)(number) for number in (1000, 2000, 3000)]
    tables = [zos.Tab("T", columns, dropped=edges[0])]
    for number, many in enumerate((2, 1, 2)):
        ends = {"created": edges[number], "dropped": [*edges[1:], bytes(10)][number]}
        ids = {"psid": 110 + number, "obid": 120 + number, "columns": columns[:many]}
        tables.append(zos.generation(tables[0], number + 1, **ids, **ends))
    log = zos.LogBuilder(tables)
    for clock, table, row in ((0, 0, (1, 1)), (1100, 1, (2, 2)), (3100, 3, (4, 4))):
        log.clock = clock
        log.unit(int(sharing), clock + 50).insert(tables[table], row)
    control, data = log.write(tmp_path, seed=1)
    words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    gap = ["K"] if sharing else []
    for number, lines in ((1150, ["K,A", "2,2"]), (2500, gap), (3500, ["K,A", "4,4"])):
        at = ("--at", zos.lrsn(number).hex(), "--table", "T", "--out", "-")
        assert main(["state", *words, *at]) == (4 if lines else 8)
        assert capsys.readouterr().out.upper().splitlines() == lines


def test_a_table_that_only_the_catalog_drops_is_not_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows are in no state behind the drop, and in none that a target is compared with."""
    columns = (zos.Col("K", "INT", 4, key=1), zos.Col("A", "INT", 4))
    gone, stays = zos.Tab("T", columns, dropped=zos.lrsn(2000)), zos.Tab("U", columns, obid=99)
    log = zos.LogBuilder((gone, stays))
    for clock, table in ((1000, gone), (3000, stays)):
        log.unit(commit=clock).insert(table, (1, 10))
    control, data = log.write(tmp_path, seed=1)
    words = ["--control", str(control), "--data", *map(str, data), "--engine", "local"]
    assert main(["state", *words, "--at", "end", "--table", "T", "--out", "-"]) in (0, 4)
    assert capsys.readouterr().out.splitlines()[1:] == []
    (tmp_path / "rows").mkdir()
    for name in ("t", "u"):
        (tmp_path / "rows" / f"{name}.csv").write_text("k,a\n")
    to = ["--to", f"sqlite:///{tmp_path}/testown.db?schema=testown"]
    with closing(sqlite3.connect(tmp_path / "testown.db", isolation_level=None)) as base:
        for name in ("t", "u"):
            base.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY NOT NULL, a INTEGER)")
        assert main(["replay", *words, *to, "--schema", "none", "--apply"]) == 0
        verify = ["verify", *words, *to, "--expected", str(tmp_path / "rows")]
        assert main(verify) == 8
        assert "t: table not expected, the log drops it" in capsys.readouterr().out
        base.execute("DROP TABLE t")
        assert main(verify) == 0
