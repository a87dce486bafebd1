"""The Spark engine and the local one write the same bytes, whatever the splits, partitions and
files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.dependencies.key_spaces import KeySpaces
from replay.dependencies.passes import StartUnits, SurveyJob
from replay.engine import local
from replay.errors import InputError
from replay.logs.logmaster.opening import open_log
from replay.output.bundle import write_bundle
from replay.output.run_plan import write
from replay.pipeline.plan import make_plan


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("mode", ["redo", "undo"])
@pytest.mark.parametrize(
    ("split_bytes", "records"), [(1 << 20, 5_000), (64 << 20, 2_000), (1 << 20, 250_000)]
)
def test_same_bytes(
    spark: Any, sakila: Path, tmp_path: Path, mode: str, split_bytes: int, records: int
) -> None:
    from replay.engine import spark as spark_engine

    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path)
    options = ScriptOptions(records_per_file=records, trace=True)
    plan = make_plan(log, mode, Selection(), options, split_bytes)
    reference = make_plan(log, mode, Selection(), options, 7 << 20)
    first = write_bundle(
        plan, log, tmp_path / "spark", spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    )
    second = write_bundle(reference, log, tmp_path / "local", local.ENGINE)
    assert contents(first.folder) == contents(second.folder)
    assert first.exit_code == 0
    assert len(first.manifest["scripts"]) == {5_000: 4, 2_000: 10, 250_000: 1}[records]


def test_damage_is_reported_alike(spark: Any, sakila_small: Path, tmp_path: Path) -> None:
    """A unit with a damaged value is set aside by both engines, with the same finding."""
    from replay.engine import spark as spark_engine

    raw = bytearray((sakila_small / "small.dat").read_bytes())
    place = raw.find("UB".encode("cp037"))
    raw[place] = 0xE9
    damaged = tmp_path / "damaged.dat"
    damaged.write_bytes(raw)
    log = open_log(sakila_small / "small.ctl", [damaged], scratch=tmp_path)
    plan = make_plan(log, "redo", Selection(), ScriptOptions())
    first = write_bundle(
        plan, log, tmp_path / "spark", spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    )
    second = write_bundle(plan, log, tmp_path / "local", local.ENGINE)
    assert contents(first.folder) == contents(second.folder)
    assert first.exit_code == 8
    assert "LR2012" in first.manifest["findings"]["shown"][0]


def test_questions_have_the_same_answers(spark: Any, incomplete: Path, tmp_path: Path) -> None:
    from replay.engine import spark as spark_engine

    log = open_log(incomplete / "incomplete.ctl", [incomplete / "incomplete.dat"])
    plan = make_plan(log, "redo", Selection(), ScriptOptions(), 64 << 10)
    assert len(plan.splits) > 3
    first = write_bundle(
        plan, log, tmp_path / "spark", spark_engine.SparkEngine(started=lambda: spark.sparkContext)
    )
    second = write_bundle(plan, log, tmp_path / "local", local.ENGINE)
    assert contents(first.folder) == contents(second.folder)
    assert contents(first.folder / "quarantine") == contents(second.folder / "quarantine")
    assert len(first.manifest["quarantined_units"]) == 96  # nothing proves the flagged ones


def test_an_error_in_a_task_arrives_as_it_was_raised(
    spark: Any, incomplete: Path, tmp_path: Path
) -> None:
    from replay.engine.spark import SparkEngine

    raw = (incomplete / "incomplete.dat").read_bytes()
    cut = tmp_path / "cut.dat"
    cut.write_bytes(raw)
    log = open_log(incomplete / "incomplete.ctl", [cut])
    splits = [split for split, _, _ in log.splits(64 << 10)]
    cut.write_bytes(raw[:-100])
    with pytest.raises(InputError, match="LR2006"):
        list(
            SparkEngine(started=lambda: spark.sparkContext).execute(
                SurveyJob(KeySpaces(log.catalog), StartUnits(incomplete=True)),
                log,
                splits,
            )
        )


def test_steps_are_the_same(spark: Any, sakila: Path, tmp_path: Path) -> None:
    """What a replay carries out does not depend on the engine either."""
    from replay.engine import spark as spark_engine

    log = open_log(sakila / "sakila.ctl", [sakila / "sakila.dat.gz"], scratch=tmp_path)
    plan = replace(
        make_plan(log, "redo", Selection(), ScriptOptions(records_per_file=5000), 1 << 20),
        steps=True,
        prepared=True,
    )
    folders = tmp_path / "spark", tmp_path / "local"
    for folder, way in zip(
        folders,
        (spark_engine.SparkEngine(started=lambda: spark.sparkContext), local.ENGINE),
        strict=True,
    ):
        folder.mkdir()
        write(way, plan, log, folder)
    assert contents(folders[0]) == contents(folders[1])
    assert len(contents(folders[0])) == 4 * 4
