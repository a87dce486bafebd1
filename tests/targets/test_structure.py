"""A log that makes and changes its own tables, replayed into databases and back."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.targets import Target, target_named
from tests.support.luwbuilder import ADDED, LATE, LogBuilder, catalog_csv
from tests.support.servers import kinds, server_of
from tests.support.words import of_family

WIDE = replace(LATE, columns=LATE.columns + ADDED)
ROWS = [
    (1, "a", "1.125", "2024-01-01", None, None),
    (2, "b", None, "2024-01-02", 5, "why"),
    (3, "c", None, "2024-01-03", 6, "so"),
]


def written(folder: Path) -> list[str]:
    log = LogBuilder("v97", False, "flt16")
    unit = log.begin()
    unit.create(LATE)
    unit.insert(LATE, ROWS[0][:4], (1, 1))
    unit.commit(1_000_000_000)
    unit = log.begin()
    unit.add_columns(WIDE, len(LATE.columns))
    unit.insert(WIDE, ROWS[1], (1, 2))
    unit.commit(1_000_000_001)
    unit = log.begin()
    unit.reorg(WIDE)
    unit.insert(WIDE, ROWS[2], (1, 3))
    unit.commit(1_000_000_002)
    (folder / "x.log").write_bytes(log.bytes())
    (folder / "catalog.csv").write_text(catalog_csv([WIDE]), encoding="utf-8")
    return [*of_family("db2luw", folder / "x.log", folder / "catalog.csv"), "--engine", "local"]


def shown(target: Target, url: str) -> list[tuple[str, ...]]:
    with closing(target.connect(url)) as session:
        found = session.query("SELECT * FROM app.late ORDER BY id")
    return [tuple(str(value) for value in row) for row in found]


@pytest.mark.parametrize("mode", [[], ["--mode", "bulk"]])
def test_structure_on_postgres(fresh_database: str, tmp_path: Path, mode: list[str]) -> None:
    target = target_named("postgres")
    with closing(target.connect(fresh_database)) as session:
        session.begin()
        session.execute("CREATE SCHEMA app")
        session.commit()
    there_and_back(target, fresh_database, written(tmp_path), mode)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_structure_in_process(kind: str, tmp_path: Path) -> None:
    target = target_named(kind)
    with target.scratch(None) as url:
        with closing(target.connect(url)) as session:
            session.make_schema("app")
        there_and_back(target, url, written(tmp_path), [])


def there_and_back(target: Target, url: str, log: list[str], mode: list[str]) -> None:
    assert main(["replay", *log, "--to", url, "--apply", *mode]) == 0
    assert shown(target, url) == [tuple(str(value) for value in row) for row in ROWS]
    assert main(["replay", *log, "--to", url, "--apply", "--until-lrsn", "0" * 20]) == 0
    with pytest.raises(Exception, match="late"):
        shown(target, url)
    assert main(["replay", *log, "--to", url, "--apply", *mode]) == 0
    assert shown(target, url) == [tuple(str(value) for value in row) for row in ROWS]


@pytest.mark.parametrize("kind", kinds("mariadb"))
def test_a_target_whose_transactions_end_there_is_refused(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with target_named(kind).scratch(server_of(request, kind)) as url:
        assert main(["replay", *written(tmp_path), "--to", url, "--apply"]) == 8
    assert "ends its transaction" in capsys.readouterr().err
