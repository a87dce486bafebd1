"""What the engine asks of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

#: Little Java code runs for long: the first compiler is enough, and a heap of 1 GB needs no
#: concurrent collector. Others that the environment or Spark's own configuration choose are taken
#: back: Java does not start with two.
_COLLECTOR = "-XX:-UseG1GC -XX:-UseParallelGC -XX:+UseSerialGC"
_JVM = f"-XX:TieredStopAtLevel=1 {_COLLECTOR} -XX:-UsePerfData"

JAVA_OPTIONS = "spark.driver.extraJavaOptions"

#: Spark's own log. (An executor may import this by a path that is relative.)
_LOG4J = Path(__file__).absolute().parent / "log4j2.properties"
_LOGS = f"-Dlog4j2.configurationFile={_LOG4J.as_uri()}"

#: What the engine asks of Spark unless ``--conf`` says otherwise.
DEFAULTS: dict[str, str] = {
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "replay.pipeline.spark_daemon",
    "spark.shuffle.compress": (
        "false"
    ),  # blocks of positions: packing them costs more than moving them
    # else, with up to 200 buckets, each scan opens a file for each of them
    "spark.shuffle.sort.bypassMergeThreshold": "1",
    JAVA_OPTIONS: f"{_JVM} {_LOGS}",
}


def with_log(conf: Mapping[str, str]) -> dict[str, str]:
    """Settings of a user whose options of Java take the place of ours, with our log before them: it
    tells of executors, too (:mod:`replay.pipeline.java_words`)."""
    if JAVA_OPTIONS not in conf:
        return dict(conf)
    return {**conf, JAVA_OPTIONS: f"{_LOGS} {conf[JAVA_OPTIONS]}"}
