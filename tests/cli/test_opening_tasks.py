"""Which commands have tasks open a log."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from replay.changes.choices import EngineName
from replay.cli import request
from replay.logs import Inputs
from replay.logs.by_tasks import OpeningTasks
from replay.pipeline import opening_tasks


def asked(log: Path, **words: object) -> OpeningTasks | None:
    arguments = argparse.Namespace(**{"engine": "auto", "master": None, "conf": [], **words})
    return request._opening_tasks(arguments, Inputs(log=(str(log),)))


def test_why_tasks_were_not_enough_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(bytes(1000))
    monkeypatch.setattr(request, "SPARK_FROM", 1000)
    tasks = asked(log, engine=EngineName.SPARK)
    assert tasks is not None
    tasks.not_enough("several log streams")
    assert "tasks found several log streams: this process" in capsys.readouterr().err


def test_tasks_open_large_logs_of_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.write_bytes(bytes(1000))
    assert asked(log) is None
    monkeypatch.setattr(request, "SPARK_FROM", 1000)
    assert asked(log, engine=EngineName.LOCAL) is None
    assert asked(tmp_path / "none", engine=EngineName.SPARK) is None
    tasks = asked(log, engine=EngineName.SPARK)
    assert tasks is not None
    assert tasks.on_this_machine
    far = asked(log, master="spark://there:7077")
    assert far is not None
    assert not far.on_this_machine
    for cores, pays in ((2, False), (8, True)):
        monkeypatch.setattr(opening_tasks, "cores", lambda cores=cores: cores)
        assert tasks.pays is pays
        assert far.pays
