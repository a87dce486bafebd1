"""The Sakila workload as solidDB's SYS_LOG against a live PostgreSQL: every state that the
workload's own database had must come out of the scripts."""

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
from replay.logs.soliddb.reader import SolidLog, open_log
from replay.output.bundle import write_bundle
from replay.pipeline.plan import make_plan
from replay.targets import target_named
from tests.support.solidbuilder import Framing, write_catalog, write_rows
from tests.support.solidsakila import Encoded, encode
from tests.support.states import compare_states

POSTGRES = target_named("postgres")
SHAPES = [
    (Framing("len32"), 20, "syslog.parquet"),
    (Framing("va", 0, True), 28, "syslog.csv.gz"),
    (Framing("ind0p", 2, True), 20, "syslog.jsonl"),
]


def opened(encoded: Encoded, folder: Path, name: str) -> SolidLog:
    write_catalog(folder, encoded.tables)
    path = write_rows(folder / name, encoded.log.rows)
    return open_log(Inputs(log=(str(path),), catalog=str(folder), scratch=str(folder)))


def scripts(log: SolidLog, out: Path, mode: str, selection: Selection | None = None) -> list[Path]:
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
@pytest.mark.parametrize(("framing", "size", "name"), SHAPES, ids=str)
def test_redo_undo_and_points_in_time(
    database: str, sakila: Path, tmp_path: Path, framing: Framing, size: int, name: str
) -> None:
    encoded = encode(sakila, framing, size)
    log = opened(encoded, tmp_path, name)
    assert (log.shape.framing.lengths.name, log.shape.framing.count, log.shape.columns) == (
        framing.profile,
        framing.count,
        "A",
    )
    POSTGRES.run_scripts(database, scripts(log, tmp_path / "redo", "redo"))
    assert compare_states(database, "sakila", sakila / "final") == []
    POSTGRES.run_scripts(database, scripts(log, tmp_path / "undo", "undo"))
    assert compare_states(database, "sakila", sakila / "initial") == []
    if framing.profile != "len32":
        return
    for number, point in enumerate(
        json.loads((sakila / "manifest.json").read_text())["points_in_time"]
    ):
        until = log.placed(encoded.until(bytes.fromhex(point["commit_lrsn"])), True)
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
    encoded = encode(sakila, *SHAPES[1][:2])
    opened(encoded, tmp_path, "syslog.parquet")
    log = [
        "--source",
        "soliddb",
        "--log",
        str(tmp_path / "syslog.parquet"),
        "--catalog",
        str(tmp_path),
        "--engine",
        "local",
    ]
    assert main(["replay", *log, "--to", database, "--apply", *how]) == 0
    assert compare_states(database, "sakila", sakila / "final") == []
    assert "in strict order:" not in capsys.readouterr().out
    assert main(["replay", *log, "--to", database, "--apply", "--until-lrsn", "0" * 40]) == 0
    assert compare_states(database, "sakila", sakila / "initial") == []
