"""The Sakila workload as Db2 LUW logs against a live PostgreSQL: every state that the workload's
own database had must come out of the scripts (the points in time for one shape of log; they are
found the same way in all)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.cli.main import main
from replay.engine import local
from replay.logs import Inputs
from replay.logs.db2luw.reader import LuwLog, open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from replay.targets import target_named
from tests.support.luwbuilder import catalog_csv
from tests.support.luwsakila import Encoded, encode
from tests.support.states import compare_states

POSTGRES = target_named("postgres")
SHAPES = [
    ("v7", True, "lsn6"),
    ("v97", False, "flt16"),
    ("v10", False, "flt56"),
    ("v10", True, "raw"),
]


def opened(encoded: Encoded, folder: Path) -> LuwLog:
    (folder / "sakila.log").write_bytes(encoded.data)
    (folder / "catalog.csv").write_text(catalog_csv(encoded.tables), encoding="utf-8")
    return open_log(
        Inputs(
            log=(str(folder / "sakila.log"),),
            catalog=str(folder / "catalog.csv"),
            scratch=str(folder),
        )
    )


def scripts(log: LuwLog, out: Path, mode: str, selection: Selection | None = None) -> list[Path]:
    plan = make_plan(
        log, mode, selection or Selection(), ScriptOptions(records_per_file=7000), 1 << 20
    )
    bundle = write_bundle(plan, log, out, local.ENGINE)
    assert bundle.manifest["balance"]["closes"]
    assert bundle.exit_code == (4 if selection and selection.cascade == "force" else 0), (
        bundle.manifest["findings"]
    )
    return sorted(out.glob("*.sql"))


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "big", "framing"), SHAPES)
def test_redo_undo_and_points_in_time(
    database: str, sakila: Path, tmp_path: Path, dialect: str, big: bool, framing: str
) -> None:
    encoded = encode(sakila, dialect, big, framing)
    log = opened(encoded, tmp_path)
    assert (
        log.files[0].shape.framing.name,
        log.files[0].shape.big,
        log.files[0].shape.dialect.name,
    ) == (framing, big, dialect)
    assert (log.entries()["segments"] > 1).any()
    POSTGRES.run_scripts(database, scripts(log, tmp_path / "redo", "redo"))
    assert compare_states(database, "sakila", sakila / "final") == []
    POSTGRES.run_scripts(database, scripts(log, tmp_path / "undo", "undo"))
    assert compare_states(database, "sakila", sakila / "initial") == []
    if (dialect, big) != ("v7", True):
        return
    for number, point in enumerate(
        json.loads((sakila / "manifest.json").read_text())["points_in_time"]
    ):
        until = log.placed(
            encoded.until(bytes.fromhex(point["commit_lrsn"])).to_bytes(8, "big"), True
        )
        there = Selection(until_position=until)
        POSTGRES.run_scripts(database, scripts(log, tmp_path / f"there{number}", "redo", there))
        assert compare_states(database, "sakila", sakila / point["dir"]) == []
        POSTGRES.run_scripts(
            database,
            scripts(log, tmp_path / f"back{number}", "undo", replace(there, cascade="force")),
        )
        assert compare_states(database, "sakila", sakila / "initial") == []


@pytest.mark.long
@pytest.mark.parametrize("how", [["--mode", "strict"], ["--mode", "bulk"]])
def test_replay_in_every_mode(
    database: str,
    sakila: Path,
    tmp_path: Path,
    how: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened(encode(sakila, *SHAPES[2]), tmp_path)
    log = [
        "--source",
        "db2luw",
        "--log",
        str(tmp_path / "sakila.log"),
        "--catalog",
        str(tmp_path / "catalog.csv"),
        "--engine",
        "local",
    ]
    assert main(["replay", *log, "--to", database, "--apply", *how]) == 0
    assert compare_states(database, "sakila", sakila / "final") == []
    assert "in strict order:" not in capsys.readouterr().out
    assert main(["replay", *log, "--to", database, "--apply", "--until-lrsn", "0" * 20]) == 0
    assert compare_states(database, "sakila", sakila / "initial") == []
