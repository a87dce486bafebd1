"""Where Spark's Python workers find pyspark: in the installed package, not in the archives that lie within it."""

from __future__ import annotations

from pathlib import Path

import pyspark

from replay.daemon import without_archives

PACKAGE = Path(pyspark.__file__).parent
INSTALLED = str(PACKAGE.parent)


def test_archives_of_the_installed_package_are_left_out() -> None:
    path = ["", f"{PACKAGE}/python/lib/pyspark.zip", f"{PACKAGE}/jars/spark-core.jar", "/lib/python311.zip", INSTALLED]
    assert without_archives(path) == ["", "/lib/python311.zip", INSTALLED]


def test_archives_of_another_spark_stay() -> None:
    """Its version may be another one than that of the package beside it."""
    path = ["/opt/spark/python/lib/pyspark.zip", INSTALLED]
    assert without_archives(path) == path


def test_without_a_package_the_archives_stay(tmp_path: Path) -> None:
    path = [f"{PACKAGE}/python/lib/pyspark.zip", str(tmp_path)]
    assert without_archives(path) == path
