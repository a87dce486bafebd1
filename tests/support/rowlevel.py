"""A catalog in which Spark changes rows: no table format that can do so comes with Spark, and one
in memory is enough for the meaning of statements."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlgen.dialects import profile_named

SOURCE = Path(__file__).with_name("RowLevelCatalog.java")
CATALOG = "rowlevel"
#: A statement for a few rows takes longer to compile than to carry out.
SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def install(session: Any, folder: Path) -> None:
    """Compile the catalog in Spark's own Java and make it the session's current one."""
    jvm = session._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(SOURCE.read_text(encoding="utf-8"))
    jar = folder / "rowlevel.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name, code in dict(compiler.getBytecodes()).items():
            archive.writestr(name.replace(".", "/") + ".class", bytes(code))
    session.sql(f"ADD JAR '{jar}'")
    session.conf.set(f"spark.sql.catalog.{CATALOG}", "rowlevel.RowLevelCatalog")
    session.sql(f"USE {CATALOG}")


class Spark:
    """A session of Spark whose tables can be changed, as :class:`tests.support.engines.Engine`."""

    profile = profile_named("spark")

    def __init__(self, spark: Any, folder: Path, *schemas: str) -> None:
        self.session = spark.newSession()
        for name, value in SETTINGS.items():
            self.session.conf.set(name, value)
        install(self.session, folder)
        for statement in (
            *self.profile.session,
            *(f"CREATE SCHEMA {schema};" for schema in schemas),
        ):
            self.run(statement)

    def run(self, statement: str) -> int:
        """Run one statement; Spark counts no rows."""
        self.session.sql(statement.removesuffix(";"))
        return 1

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        found = self.session.sql(query).collect()
        return [
            tuple(bytes(value) if isinstance(value, bytearray) else value for value in row)
            for row in found
        ]

    def load(self, name: str, values: pa.Table) -> None:
        self.session.createDataFrame(values).createOrReplaceTempView("loaded")
        columns = zip(values.column_names, self.session.table(name).schema, strict=True)
        shown = ", ".join(
            f"CAST(`{given}` AS {field.dataType.simpleString()})" for given, field in columns
        )
        self.session.sql(f"INSERT INTO {name} SELECT {shown} FROM loaded")
