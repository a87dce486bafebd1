"""Trees -> Db2 text."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp, generator
from sqlglot.dialects.dialect import rename_func

from sqlgen.db2.parser import HexConstant, SpecialRegister
from sqlgen.ddl.ddl_grammar import PhraseGenerator


class Db2Generator(PhraseGenerator):
    """See :mod:`sqlgen.db2`."""

    ALTER_TYPE = "ALTER COLUMN {} SET DATA TYPE"
    SET_NOT_NULL = "SET NOT NULL"
    LIMIT_FETCH = "FETCH"
    SUPPORTS_TABLE_ALIAS_COLUMNS = True
    TZ_TO_WITH_TIME_ZONE = True
    DATA_TYPE_SPECIFIERS_ALLOWED = True
    TYPE_MAPPING: ClassVar = {
        **generator.Generator.TYPE_MAPPING,
        exp.DType.TEXT: "CLOB",
        exp.DType.BLOB: "BLOB",
        exp.DType.NCHAR: "GRAPHIC",
        exp.DType.NVARCHAR: "VARGRAPHIC",
        exp.DType.TINYINT: "SMALLINT",
        exp.DType.INT: "INTEGER",
        exp.DType.FLOAT: "REAL",
        exp.DType.DATETIME: "TIMESTAMP",
        exp.DType.TIMESTAMPTZ: "TIMESTAMP",
        exp.DType.TIMESTAMPNTZ: "TIMESTAMP",
        exp.DType.VARBINARY: "VARBINARY",
    }
    UNSUPPORTED_TYPES: ClassVar = {
        exp.DType.ARRAY, exp.DType.STRUCT, exp.DType.MAP, exp.DType.JSON, exp.DType.JSONB,
        exp.DType.UUID, exp.DType.INTERVAL, exp.DType.ENUM, exp.DType.SET,
        exp.DType.GEOGRAPHY, exp.DType.HSTORE, exp.DType.BIT, exp.DType.TIMETZ, exp.DType.UBIGINT,
        exp.DType.INT128, exp.DType.UINT128, exp.DType.VARIANT,
    }  # fmt: skip
    TRANSFORMS: ClassVar = {
        **generator.Generator.TRANSFORMS,
        exp.CurrentDate: lambda self, e: "CURRENT DATE",
        exp.CurrentTime: (
            lambda self, e: "CURRENT TIME" + (f"({self.sql(e, 'this')})" if e.this else "")
        ),
        exp.CurrentTimestamp: (
            lambda self, e: "CURRENT TIMESTAMP" + (f"({self.sql(e, 'this')})" if e.this else "")
        ),
        exp.CurrentUser: lambda self, e: "CURRENT USER",
        exp.DayOfWeek: rename_func("DAYOFWEEK"),
        exp.DayOfWeekIso: rename_func("DAYOFWEEK_ISO"),
        exp.DayOfYear: rename_func("DAYOFYEAR"),
        exp.Interval: lambda self, e: self._duration(e),
        SpecialRegister: lambda self, e: str(e.args["this"]),
        HexConstant: lambda self, e: f"{e.args['kind']}'{e.args['this']}'",
    }

    def _duration(self, expression: exp.Interval) -> str:
        this = expression.this
        amount = this.name if isinstance(this, exp.Literal) else self.sql(this)
        unit = self.sql(expression, "unit").upper()
        if not unit:
            self.unsupported("a duration without a unit")
        return f"{amount} {unit}"

    def datatype_sql(self, expression: exp.DataType) -> str:
        """A type; a moment has its zone behind its digits."""
        if expression.this == exp.DType.TIMESTAMPTZ:
            inside = self.expressions(expression, flat=True)
            return f"TIMESTAMP{f'({inside})' if inside else ''} WITH TIME ZONE"
        return super().datatype_sql(expression)

    def offset_sql(self, expression: exp.Offset) -> str:
        """OFFSET … ROWS."""
        return f"{super().offset_sql(expression)} ROWS"

    def alter_sql(self, expression: exp.Alter) -> str:
        """ALTER TABLE, each action with its own verb and no commas between them; a new name has a
        statement of its own."""
        first = expression.args["actions"][0]
        if isinstance(first, exp.AlterRename):
            return f"RENAME TABLE {self.sql(expression, 'this')} TO {self.sql(first, 'this')}"
        actions = " ".join(
            f"ADD COLUMN {self.sql(a)}" if isinstance(a, exp.ColumnDef) else self.sql(a)
            for a in expression.args["actions"]
        )
        return f"ALTER TABLE {self.sql(expression, 'this')} {actions}"

    def truncatetable_sql(self, expression: exp.TruncateTable) -> str:
        """TRUNCATE TABLE needs IMMEDIATE in LUW, which z/OS takes as well."""
        return f"TRUNCATE TABLE {self.expressions(expression, flat=True)} IMMEDIATE"
