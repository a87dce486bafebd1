"""The parts of Spark ask each other for a secret."""

from __future__ import annotations

from pyspark.sql import SparkSession

from replay.pipeline.spark import _authenticated


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
