"""The parts of Spark ask each other for a secret."""

from __future__ import annotations

import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from replay.engine import spark_start
from replay.engine.spark_start import _authenticated


def test_a_session_authenticates(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.authenticate") == "true"
    assert spark.sparkContext.parallelize(range(4), 2).map(lambda n: n + 1).sum() == 10


def test_where_spark_makes_no_secret_there_is_one_or_none_is_asked_for() -> None:
    """Who starts a cluster of Spark's own gives it a secret (``--conf``), or none."""
    one, other = (_authenticated("local-cluster[2,1,1024]") for _ in range(2))
    assert len(one["spark.authenticate.secret"]) == 64
    assert one["spark.authenticate.secret"] != other["spark.authenticate.secret"]
    assert _authenticated("yarn") == {"spark.authenticate": "true"}
    assert _authenticated("spark://host:7077") == {}


def test_java_has_no_secret_on_its_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which others of the machine can read; the context gives it all settings."""
    given: list[tuple[str, str]] = []

    def launch(conf: SparkConf, _: object) -> None:
        given.extend(conf.getAll())
        raise InterruptedError

    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(spark_start, "launch_gateway", launch)
    token = ("spark.kubernetes.authenticate.oauthToken", "S3cret")
    with pytest.raises(InterruptedError):
        spark_start._start_java("local[1]", dict([("spark.app.name", "a"), token]))
    assert sorted(given) == [("spark.app.name", "a"), ("spark.master", "local[1]")]
