"""The Spark of a machine: its release, what is set up for all programs, and one that runs in this
process already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import SparkContext

from replay.errors import UsageError
from replay.pipeline import java, spark_start
from replay.pipeline.installed_spark import check_release, installed_defaults
from tests.support.places import ROOT

FILE = """\
# for all programs of this machine
spark.driver.memory   8g
spark.files=/etc/a.txt
spark.master          yarn
spark.executorEnv.GREETING: good \\
    morning\u0020
spark.driver.extraJavaOptions  -Xss4m -Dname="a b"
hadoop.home           /opt/hadoop
"""


def test_what_an_administrator_set_up_is_read_as_spark_reads_it(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(FILE)
    expected = {
        "spark.driver.memory": "8g",
        "spark.files": "/etc/a.txt",
        "spark.executorEnv.GREETING": "good morning",
        "spark.driver.extraJavaOptions": '-Xss4m -Dname="a b"',
    }
    assert installed_defaults({"SPARK_HOME": str(tmp_path)}) == expected
    assert installed_defaults({"SPARK_CONF_DIR": str(tmp_path / "conf")}) == expected
    elsewhere = {"SPARK_HOME": str(tmp_path), "SPARK_CONF_DIR": str(tmp_path)}
    assert installed_defaults(elsewhere) == {}


@pytest.mark.parametrize("content", [b"spark.a \\u12", b"spark.a \xff"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "spark-defaults.conf"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=rf"LR1005 found {path}, which cannot be read"):
        installed_defaults({"SPARK_CONF_DIR": str(tmp_path)})


@pytest.mark.parametrize(
    ("jar", "refused"),
    [
        ("spark-core_2.13-4.3.1.jar", False),
        ("spark-core_2.13-4.2.0.jar", True),
        ("spark-core_2.12-3.5.1.jar", True),
        ("spark-core_2.13-4.3.0-rc1.jar", False),
        ("others.jar", False),
    ],
)
def test_a_spark_home_of_another_release(tmp_path: Path, jar: str, refused: bool) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar).touch()
    check_release("4.3.0", {})
    if not refused:
        check_release("4.3.0", {"SPARK_HOME": str(tmp_path)})
        return
    with pytest.raises(
        UsageError, match=r"LR1005 found SPARK_HOME=.* expected the release"
    ) as told:
        check_release("4.3.0", {"SPARK_HOME": str(tmp_path)})
    assert str(tmp_path) in str(told.value)


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
        monkeypatch.setitem(spark_start._STARTED, running, runs[1])
    if not differs:
        assert spark_start.start_context(*asked) is running
        return
    with pytest.raises(UsageError, match=differs) as told:
        spark_start.start_context(*asked)
    assert told.value.code == "LR1005"


def test_settings_that_are_not_asked_for_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    running = cast(SparkContext, Context("local[2]", {}))
    monkeypatch.setattr(SparkContext, "_active_spark_context", running)
    monkeypatch.setitem(spark_start._STARTED, running, {"spark.a": "1"})
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
    java.prepare_environment("local")
    run = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 12, run.stderr
    assert "LR1005 Spark cannot be started" in run.stdout  # it takes what we say on stderr there
    own = ["--master", "local[1]"]
    again = subprocess.run([*program, *words, *own], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
