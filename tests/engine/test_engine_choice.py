"""Which engine a log gets when nobody names one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replay.changes.choices import EngineName
from replay.cli.main import main
from replay.cli.request import SPARK_FROM, SPARK_VARIABLES, suitable_engine


def test_size_decides() -> None:
    assert suitable_engine(SPARK_FROM - 1, None, False, {})[0] is EngineName.LOCAL
    assert suitable_engine(SPARK_FROM, None, False, {})[0] is EngineName.SPARK


@pytest.mark.parametrize("variable", SPARK_VARIABLES)
def test_a_spark_environment_decides(variable: str) -> None:
    name, reason = suitable_engine(10, None, False, {variable: "1"})
    assert (name, reason) == (EngineName.SPARK, f"{variable} is set")
    assert suitable_engine(10, None, False, {variable: ""})[0] is EngineName.LOCAL


def test_settings_of_spark_decide() -> None:
    assert suitable_engine(10, "local[2]", False, {})[0] is EngineName.SPARK
    assert suitable_engine(10, None, True, {})[0] is EngineName.SPARK


def test_the_choice_is_said_and_kept(
    sakila_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for variable in SPARK_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    named = ["--control", str(sakila_small / "small.ctl"), "--data"]
    named.append(str(sakila_small / "small.dat"))
    assert main(["redo", *named, "--out", str(tmp_path / "auto"), "--verbose"]) == 0
    said = capsys.readouterr().err
    assert "engine: local (0." in said
    chosen = json.loads((tmp_path / "auto" / "manifest.json").read_text())["engine"]
    assert chosen["name"] == "local"
    assert f"engine: local ({chosen['reason']})" in said
    assert main(["redo", *named, "--out", str(tmp_path / "named"), "--engine", "local"]) == 0
    assert "engine" not in capsys.readouterr().err
    assert "engine" not in json.loads((tmp_path / "named" / "manifest.json").read_text())
