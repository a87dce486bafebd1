"""A log that is opened with the Spark session of a program: what is refused, and the same bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import replay
from replay.engine import local
from replay.errors import UsageError


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.spark
def test_a_session_writes_what_this_process_writes(
    sakila: Path, spark: Any, tmp_path: Path
) -> None:
    files = {"control": sakila / "sakila.ctl", "data": sakila / "sakila.dat.gz"}
    work = tmp_path / "work"
    work.mkdir()
    with replay.open_log(**files, spark=spark, work=work) as log:
        assert log.engine.name == "spark"
        assert list(work.iterdir()) != []  # what was unpacked
        log.select().redo().write(tmp_path / "spark")
    assert list(work.iterdir()) == []
    with replay.open_log(**files) as log:
        log.select().redo().write(tmp_path / "local")
    assert digests(tmp_path / "spark") == digests(tmp_path / "local")


@pytest.mark.parametrize(
    ("more", "code", "found"),
    [
        ({"spark": "local[*]"}, "LR1001", "found spark='local.*expected a SparkSession"),
        ({"spark": SimpleNamespace(), "engine": local.ENGINE}, "LR1001", "spark and engine"),
        (
            {
                "spark": SimpleNamespace(
                    createDataFrame=None, sparkContext=SimpleNamespace(_jsc=None)
                )
            },
            "LR1005",
            "expected a SparkSession that runs",
        ),
        ({"work": "/nowhere/at/all"}, "LR1006", "found no folder /nowhere/at/all"),
    ],
    ids=["no session", "both", "stopped", "no folder"],
)
def test_what_is_refused(sakila: Path, more: dict[str, Any], code: str, found: str) -> None:
    with pytest.raises(UsageError, match=found) as refused:
        replay.open_log(control=sakila / "sakila.ctl", data=sakila / "sakila.dat.gz", **more)
    assert refused.value.code == code
