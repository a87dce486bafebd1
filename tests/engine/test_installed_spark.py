"""The Spark of a machine: its release, what is set up for all programs, and one that runs in this
process already."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import SparkContext

from replay.engine import spark_start
from replay.errors import UsageError
from tests.support.places import ROOT

FILE = """\
spark.driver.memory   512m
spark.master          yarn
spark.shuffle.compress: true
spark.network.timeout  77s
"""
#: What a context has after a command with ``--conf``.
SHOWS = """
import sys
from replay.engine.spark_start import DEFAULTS, start_context
usual = {"spark.network.timeout": "60s", "spark.task.maxFailures": "7"}
context = start_context("local[1]", {"spark.driver.memory": "600m"}, usual)
for name in sys.argv[1:]:
    print(context.getConf().get(name))
print(context.master)
"""


@pytest.mark.spark
def test_what_is_asked_for_comes_before_the_file_and_that_before_ours(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(FILE)
    names = ["spark.driver.memory", "spark.shuffle.compress", "spark.network.timeout"]
    names += ["spark.task.maxFailures", "spark.ui.enabled"]
    run = subprocess.run(
        [sys.executable, "-c", SHOWS, *names],
        cwd=ROOT,
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["600m", "true", "77s", "7", "false", "local[1]"]


@pytest.mark.parametrize(
    ("jar", "refused"),
    [
        ("spark-core_2.13-4.3.1.jar", False),
        ("spark-core_2.13-4.2.0.jar", True),
        ("spark-core_2.12-3.5.1.jar", True),
        ("spark-core_2.13-4.3.0-rc1.jar", False),
        ("others.jar", True),
    ],
)
def test_a_spark_home_of_another_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jar: str, refused: bool
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    monkeypatch.setattr("pyspark.__version__", "4.3.0")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))

    def looked_for(_: str) -> None:
        raise InterruptedError

    monkeypatch.setattr(spark_start, "prepare_environment", looked_for)
    with pytest.raises(UsageError if refused else InterruptedError) as told:
        spark_start._start_java("local[1]", {})
    if refused:
        assert f"LR1005 found SPARK_HOME={tmp_path}; expected a Spark 4.3" in str(told.value)


class Context:
    """A context, as far as it is asked."""

    def __init__(self, master: str, settings: dict[str, str]) -> None:
        self.master, self.settings = master, settings
        self._jsc = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=lambda: False))

    def getConf(self) -> Any:
        return SimpleNamespace(getAll=lambda: [*self.settings.items()])


@pytest.mark.parametrize(
    ("runs", "asked", "differs"),
    [
        (("local[2]", {}), ("local[*]", {}), ""),
        (("local[2]", {"spark.a": "1"}), ("local[2]", {"spark.a": "1"}), ""),
        (("local[2]", {}), ("spark://h:1", {}), r"expected --master spark://h:1\."),
        (("spark://h:1", {}), ("local[*]", {}), r"a Spark with --master spark://h:1 in this"),
        (("spark://h:1", {}), ("spark://g:1", {}), r"expected --master spark://g:1\."),
        (("local[2]", {"spark.a": "1"}), ("local[2]", {"spark.a": "2"}), "values of spark.a"),
        (("local[2]", {}), ("local[2]", {"spark.b": "2", "spark.a": "1"}), "of spark.a, spark.b"),
    ],
)
@pytest.mark.parametrize("ours", [True, False])
def test_another_spark_than_that_of_this_process_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    runs: tuple[str, dict[str, str]],
    asked: tuple[str, dict[str, str]],
    differs: str,
    ours: bool,
) -> None:
    """It was taken as if it were the one that was asked for."""
    running = cast(SparkContext, Context(*runs))
    monkeypatch.setattr(SparkContext, "_active_spark_context", running)
    if ours:
        monkeypatch.setitem(spark_start._ASKED, running, runs[1])
    if not differs:
        assert spark_start.start_context(*asked) is running
        return
    with pytest.raises(UsageError, match=differs) as told:
        spark_start.start_context(*asked)
    assert told.value.code == "LR1005"


def test_settings_that_are_not_asked_for_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    running = cast(SparkContext, Context("local[2]", {"spark.a": "1"}))
    monkeypatch.setattr(SparkContext, "_active_spark_context", running)
    monkeypatch.setitem(spark_start._ASKED, running, {"spark.a": "1"})
    with pytest.raises(UsageError, match=r"other values of spark\.a\."):
        spark_start.start_context("local[*]", {})


def test_what_nobody_asked_for_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of time limits, and those of the machine, of which a program's context knows
    nothing."""
    running = cast(SparkContext, Context("spark://h:1", {"spark.driver.memory": "8g"}))
    monkeypatch.setattr(SparkContext, "_active_spark_context", running)
    monkeypatch.setattr(spark_start, "with_package", lambda context: context)
    usual = {"spark.network.timeout": "60s", "spark.driver.memory": "2g"}
    assert spark_start.start_context("spark://h:1", {}, usual) is running


@pytest.mark.long
def test_the_master_of_spark_submit_is_that_of_the_command(
    sakila_small: Path, tmp_path: Path
) -> None:
    """Which said that Spark is its engine, and took ``local[*]``."""
    program = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[2x]"]
    log = ["--control", str(sakila_small / "small.ctl"), "--data", str(sakila_small / "small.dat")]
    words = [str(ROOT / "logreplay_command.py"), "redo", *log, "--out", str(tmp_path / "out")]
    spark_start.prepare_environment("local")
    run = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 12, run.stderr
    assert "LR1005 Spark cannot be started" in run.stdout  # it takes what we say on stderr there
    own = ["--master", "local[1]"]
    again = subprocess.run([*program, *words, *own], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
