"""Logs of solidDB with tables that change amid their rows: what a migration ends in, and which
states may not be answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from replay.cli.main import main
from tests.model.compare import unloaded
from tests.model.structures import SolidStructures, Structures
from tests.model.test_structures import differs, filled
from tests.support.seeds import seeds
from tests.support.solidbuilder import Col, LogBuilder, Tab, Unit, write_catalog, write_rows
from tests.support.words import of_family


def run(*words: object) -> int:
    return main([*map(str, words), "--engine", "local"])


def rows_before(made: Structures, folder: Path) -> Path:
    """The rows before the log, as unloads have them."""
    folder.mkdir()
    for shape, rows in made.before.values():
        parts = shape.shown
        lines = [",".join(f'"{part.name}"' for part in parts)]
        lines += [",".join(unloaded(r[part.ident], part) for part in parts) for r in rows.values()]
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"{shape.name}.csv").write_text(text, encoding="utf-8", newline="")
    return folder


@pytest.mark.parametrize("seed", seeds(long=10))
def test_a_migration_ends_in_the_rows_of_the_source(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of tables that the log makes, renames or drops: the schema has what was before it. The
    first history that SQLite has words for."""
    for number in range(9):
        made, folder = Structures(f"migrate {seed} {number}", "soliddb"), tmp_path / str(number)
        folder.mkdir()
        words = ["--initial", rows_before(made, folder / "rows"), "--out", folder / "out"]
        words += SolidStructures(made).write(folder)
        if run("migrate", *words, "--dialect", "sqlite") in (0, 4):
            break
        assert re.search("LR3003|LR2011", capsys.readouterr().err)
    with closing(filled({})) as base:
        for script in sorted((folder / "out").rglob("*.sql")):
            base.executescript(script.read_text(encoding="utf-8"))
        assert not differs(base, made.state, more=False)


K, A, B = Col("K", "INTEGER", null=False), Col("A", "VARCHAR", 20), Col("B", "VARCHAR", 20)
VERSION = Col("VERSION", "BIGINT", attr=2)
T = Tab(10_062, "DBA", "T", (K, A, B, VERSION), key=("K",))


def two_rows(unit: Unit) -> None:
    for number in (1, 2):
        unit.insert(T, (number, f"a{number}", f"b{number}"))


class Log:
    """A log that begins with two rows of a table; ``tables`` as the system tables have them in the
    end."""

    def __init__(self, folder: Path, *tables: Tab) -> None:
        self.folder, self.tables, self.log = folder, tables or (T,), LogBuilder()
        self.first = self.unit(two_rows)

    def unit(self, work: Callable[[Unit], object]) -> str:
        """Where a transaction commits."""
        unit = self.log.begin()
        work(unit)
        return unit.commit().hex().upper()

    def altered(self, *texts: str) -> None:
        for text in texts:
            kind = 47 if "SET TABLE NAME" in text else 22
            info = f"SHOP.DBA.{text.split()[-1]}" if kind == 47 else "T"
            self.unit(lambda unit: unit.ddl(kind, info, T.relid, f"ALTER TABLE T {text}"))  # noqa: B023

    def state(self, at: str, out: str, known: bool) -> int:
        write_catalog(self.folder, self.tables)
        log = of_family(
            "soliddb", write_rows(self.folder / "syslog.csv", self.log.rows), self.folder
        )
        (self.folder / "initial").mkdir(exist_ok=True)
        (self.folder / "initial" / "T.csv").write_text('"K","A","B"\n')
        more = ["--initial", self.folder / "initial"] if known else []
        return run("state", *log, "--at", at, *more, "--format", "csv", "--out", self.folder / out)


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        (
            ["DROP COLUMN B", "ADD COLUMN B VARCHAR(20)"],
            (K, A, replace(B, name="$SYS_DELETED_3_B", attr=8), VERSION, B),
        ),
        (["RENAME COLUMN A X", "RENAME COLUMN B A", "RENAME COLUMN X B"], (K, B, A, VERSION)),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_state_keeps_columns_of_one_name_apart(
    texts: Sequence[str],
    columns: tuple[Col, ...],
    known: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a column held that was dropped is no value of the next one with its name."""
    table = replace(T, columns=columns)
    made = Log(tmp_path, table)
    made.altered(*texts)
    made.unit(lambda unit: unit.insert(table, (3, None, None)))
    assert made.state("end", "out", known) == 8
    assert not (tmp_path / "out").exists()
    assert "LR3002" in capsys.readouterr().err
    assert made.state(made.first, "then", known) == (0 if known else 4)
    assert (tmp_path / "then" / "t.csv").read_text() == "k,a,b\n1,a1,b1\n2,a2,b2\n"


def test_a_state_follows_no_table_to_another_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that the log does not touch are in the file of the name before."""
    table = replace(T, name="U")
    made = Log(tmp_path, table)
    made.altered("SET TABLE NAME U")
    made.unit(lambda unit: unit.insert(table, (3, None, None)))
    assert made.state("end", "out", True) == 8
    assert "DBA.T is called DBA.U" in capsys.readouterr().err


def test_a_state_needs_no_rows_of_tables_that_the_log_makes(tmp_path: Path) -> None:
    new = replace(T, relid=10_069, name="NEW", columns=(K, A, VERSION))
    made = Log(tmp_path, T, new)
    text = "CREATE TABLE NEW (K INTEGER NOT NULL PRIMARY KEY, A VARCHAR(20))"
    made.unit(lambda unit: unit.ddl(45, "SHOP.DBA.NEW", new.relid, text))
    made.unit(lambda unit: unit.insert(new, (7, None)))
    assert made.state("end", "out", True) == 0
    assert len((tmp_path / "out" / "new.csv").read_text().splitlines()) == 2


def test_a_state_has_the_defaults_of_columns_that_came_later(tmp_path: Path) -> None:
    table = replace(T, columns=(*T.columns, Col("C", "INTEGER")))
    made = Log(tmp_path, table)
    made.altered("ADD COLUMN C INTEGER DEFAULT 7")
    made.unit(lambda unit: unit.insert(table, (3, "a3", "b3", 8)))
    assert made.state("end", "out", False) == 4
    text = (tmp_path / "out" / "t.csv").read_text()
    assert text == "k,a,b,c\n1,a1,b1,7\n2,a2,b2,7\n3,a3,b3,8\n"
