"""``export --format load``: what the LOAD utility is given, and the round trip through it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.logs.logmaster_load.control import read_control

SMALL = Path(__file__).parents[2] / "fixtures" / "sakila" / "small"
LOGICAL = ["--control", str(SMALL / "small.ctl"), "--data", str(SMALL / "small.dat")]
DDL = ["--schema", str(SMALL / "db2-tables.sql"), "--schema-dialect", "db2", "--engine", "local"]
#: Rows of this table exchange keys, which only row identifiers tell apart (see
#: tests/logs/logmaster_load/test_same_scripts.py).
OTHERS = ["--exclude-table", "SAKILA.LOYALTY_CARD"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("load") / "out"
    assert main(["export", "--format", "load", "--out", str(out), *LOGICAL, *DDL]) == 0
    return out


def files(exported: Path) -> list[Path]:
    return sorted(exported.glob("*/*/*.csv"))


def loaded(exported: Path, *data: Path) -> list[str]:
    return [
        *("--source", "logmaster-load", "--control", str(exported / "load.ctl"), "--data"),
        *map(str, data),
        *("--catalog", str(SMALL / "db2-tables.sql"), "--log-option", "dispositions=committed"),
    ]


def script(out: Path, mode: str, *options: str) -> str:
    forced = ["--cascade", "force"] if mode == "undo" else []
    assert main([mode, "--out", str(out), *DDL, *forced, *OTHERS, *options]) in (0, 4)
    return "".join(path.read_text(encoding="utf-8") for path in sorted(out.glob("*.sql")))


@pytest.mark.parametrize("mode", ["redo", "undo"])
def test_the_round_trip_gives_the_same_scripts(mode: str, exported: Path, tmp_path: Path) -> None:
    again = script(tmp_path / "again", mode, *loaded(exported, *files(exported)))
    assert again == script(tmp_path / "log", mode, *LOGICAL)
    assert " plan=DISTSERV correlation=SAKILA04" in again


@pytest.mark.long
def test_files_in_any_order_find_their_statements(exported: Path, tmp_path: Path) -> None:
    data = files(exported)
    forth = script(tmp_path / "forth", "redo", *loaded(exported, *data))
    assert script(tmp_path / "back", "redo", *loaded(exported, *data[::-1])) == forth


def test_a_statement_for_each_file(exported: Path) -> None:
    statements = read_control("load.ctl", (exported / "load.ctl").read_text(encoding="utf-8"))
    assert [one.file for one in statements] == [
        path.relative_to(exported).as_posix() for path in files(exported)
    ]
    manifest = json.loads((exported / "manifest.json").read_text(encoding="utf-8"))
    for dataset, statement in zip(manifest["datasets"], statements, strict=True):
        names = [one.name for one in statement.tables[0].fields]
        columns = [column["name"] for column in dataset["columns"]]
        assert names == [*dataset["informational_columns"], *columns]
        assert dataset["files"][0]["name"] == statement.file


def test_another_table_s_statement_is_refused(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (exported / "load.ctl").read_text(encoding="utf-8")
    names = re.findall(r"^--file (.*)$", text, re.M)
    stock, inventory = (
        next(name for name in names if table in name) for table in ("film_stock", "inventory")
    )
    swapped = (
        text.replace(stock, "A")
        .replace(inventory, stock)
        .replace("--file A", f"--file {inventory}")
    )
    (tmp_path / "load.ctl").write_text(swapped, encoding="utf-8")
    inputs = loaded(exported, exported / stock)
    inputs[3] = str(tmp_path / "load.ctl")
    assert main(["redo", "--out", str(tmp_path / "out"), *DDL, *inputs]) == 12
    assert (
        "records of SAKILA.INVENTORY, for which this LOAD statement is" in capsys.readouterr().err
    )


def test_work_that_was_undone_is_not_loaded(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--include-aborted", "--format", "load", "--out", str(out)]
    assert main(["export", *options, *LOGICAL, *DDL]) in (0, 4)
    assert list(out.glob("rolled-back/*/*/*.csv"))
    assert "rolled-back" not in (out / "load.ctl").read_text(encoding="utf-8")
    assert main(["export", *options, "--overwrite", *LOGICAL, *DDL]) in (0, 4)
