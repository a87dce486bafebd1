"""The Spark that is installed on this machine: its release, and what its administrator set up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import UsageError, cause_of
from sqlgen.late import LateModule

if TYPE_CHECKING:
    import javaproperties
else:  # most machines have no such file
    javaproperties = LateModule("javaproperties")

#: The jar that each Spark has, which says its release.
_CORE = re.compile(r"spark-core_[\d.]+-(.+)\.jar")
#: The file in which an administrator sets up Spark for all programs.
_FILE = "spark-defaults.conf"
#: What ``--master`` says.
_MASTER = "spark.master"


def installed_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of ``spark-defaults.conf``, in ``SPARK_CONF_DIR`` or the folder ``conf`` of
    Spark, but for its master; of a file as Spark reads it: properties of Java whose names begin
    with ``spark.``. UsageError (LR1005) for a file that cannot be read."""
    folder = environment.get("SPARK_CONF_DIR")
    path = Path(folder) / _FILE if folder else _home(environment) / "conf" / _FILE
    try:
        with path.open(encoding="utf-8") as file:
            found = javaproperties.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            "LR1005",
            f"found {path}, which cannot be read: {cause_of(error)}; expected properties of Java",
            hint="SPARK_CONF_DIR names another folder with the settings of Spark",
        ) from error
    return {
        name: value.strip()
        for name, value in found.items()
        if name.startswith("spark.") and name != _MASTER
    }


def check_release(pyspark: str, environment: Mapping[str, str]) -> None:
    """UsageError (LR1005) where ``SPARK_HOME`` is of another release than this ``pyspark``: the two
    talk to each other in ways that change."""
    if not environment.get("SPARK_HOME"):
        return
    home = _home(environment)
    names = (_CORE.fullmatch(jar.name) for jar in home.glob("jars/spark-core_*.jar"))
    found = next((name[1] for name in names if name), None)
    if found is not None and _release(found) != _release(pyspark):
        raise UsageError(
            "LR1005",
            f"found SPARK_HOME={home}, a Spark {found}; expected the release of pyspark, {pyspark}",
            hint="Unset SPARK_HOME, for pyspark brings its own, or install the pyspark of that one",
        )


def _home(environment: Mapping[str, str]) -> Path:
    """The folder of Spark: pyspark brings its own."""
    return Path(environment.get("SPARK_HOME") or str(files("pyspark")))


def _release(number: str) -> tuple[str, ...]:
    """The major and minor version."""
    return tuple(number.split(".")[:2])
