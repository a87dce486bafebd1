"""Trees -> Db2 text."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp, generator
from sqlglot.dialects.dialect import rename_func

from sqlgen.db2 import nodes
from sqlgen.ddl_grammar import PhraseGenerator, writers


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
    }

    def _duration(self, expression: exp.Interval) -> str:
        this = expression.this
        amount = this.name if isinstance(this, exp.Literal) else self.sql(this)
        unit = self.sql(expression, "unit").upper()
        if not unit:
            self.unsupported("a duration without a unit")
        return f"{amount} {unit}"

    def datatype_sql(self, expression: exp.DataType) -> str:
        """A type in Db2's words: the ones it was read with, where it was."""
        words, size = expression.meta.get("db2"), expression.meta.get("size")
        if words == "ROWID":
            return "ROWID"
        if words or size:
            inside = _sized(size or self.expressions(expression, flat=True))
            word, _, rest = (
                words or self.TYPE_MAPPING.get(expression.this, expression.this.value)
            ).partition(" FOR BIT")
            bits = rest or (words and words.endswith("BIT DATA"))
            size_text = f"({inside})" if inside else ""
            return f"{word}{size_text}{f' FOR BIT{rest}' if bits else ''}"
        if expression.this == exp.DType.TIMESTAMPTZ:
            inside = self.expressions(expression, flat=True)
            return f"TIMESTAMP{f'({inside})' if inside else ''} WITH TIME ZONE"
        return super().datatype_sql(expression)

    # -- nodes of our own
    # ---------------------------------------------------------------------------------------------

    def specialregister_sql(self, expression: nodes.SpecialRegister) -> str:
        """CURRENT SQLID and the like."""
        return str(expression.args["this"])

    def sequencevalue_sql(self, expression: nodes.SequenceValue) -> str:
        """NEXT VALUE FOR."""
        return f"{expression.args['this']} VALUE FOR {self.sql(expression, 'expression')}"

    def hexconstant_sql(self, expression: nodes.HexConstant) -> str:
        """A hexadecimal constant with its prefix."""
        return f"{expression.args['kind']}'{expression.args['this']}'"

    def changetable_sql(self, expression: nodes.ChangeTable) -> str:
        """FINAL TABLE (INSERT …)."""
        alias = self.sql(expression, "alias")
        return (
            f"{expression.args['kind']}"
            f" ({self.sql(expression, 'this')}){' AS ' + alias if alias else ''}"
        )

    def systemdefault_sql(self, expression: nodes.SystemDefault) -> str:
        """WITH DEFAULT without a value."""
        return "WITH DEFAULT"

    def columnclause_sql(self, expression: nodes.ColumnClause) -> str:
        """A clause of a column."""
        return self.sql(expression, "this")

    def tableclause_sql(self, expression: nodes.TableClause) -> str:
        """An entry of a table."""
        return self.sql(expression, "this")

    def checkwithoptions_sql(self, expression: nodes.CheckWithOptions) -> str:
        """CHECK with what is said of its enforcement."""
        options = " ".join(self.sql(option) for option in expression.args["options"])
        return f"CHECK ({self.sql(expression, 'this')}) {options}"

    def offset_sql(self, expression: exp.Offset) -> str:
        """OFFSET … ROWS."""
        return f"{super().offset_sql(expression)} ROWS"

    def identityoptions_sql(self, expression: nodes.IdentityOptions) -> str:
        """An identity column with all its options."""
        parts = [
            f"{words} {self.sql(expression, name)}"
            for name, words in (
                ("start", "START WITH"),
                ("increment", "INCREMENT BY"),
                ("minvalue", "MINVALUE"),
                ("maxvalue", "MAXVALUE"),
            )
            if expression.args.get(name) is not None
        ]
        if expression.args.get("cycle") is not None:
            parts.append("CYCLE" if expression.args["cycle"] else "NO CYCLE")
        parts += [self.sql(option) for option in expression.args["options"]]
        return (
            f"GENERATED {'ALWAYS' if expression.this else 'BY DEFAULT'} AS IDENTITY"
            f" ({', '.join(parts)})"
        )

    def assignment_sql(self, expression: nodes.Assignment) -> str:
        """SET."""
        return f"SET {self.expressions(expression, flat=True)}"

    def compound_sql(self, expression: nodes.Compound) -> str:
        """BEGIN … END."""
        body = " ".join(f"{self.sql(statement)};" for statement in expression.expressions)
        return f"BEGIN{' ATOMIC' if expression.args.get('atomic') else ''} {body} END"

    def ifstatement_sql(self, expression: nodes.IfStatement) -> str:
        """IF … THEN … END IF."""
        then = " ".join(f"{self.sql(statement)};" for statement in expression.expressions)
        otherwise = " ".join(
            f"{self.sql(statement)};" for statement in expression.args.get("otherwise") or ()
        )
        return (
            f"IF {self.sql(expression, 'this')} THEN"
            f" {then}{' ELSE ' + otherwise if otherwise else ''} END IF"
        )

    def db2createtable_sql(self, expression: nodes.Db2CreateTable) -> str:
        """CREATE TABLE with its clauses."""
        temporary = expression.args.get("temporary")
        head = (
            temporary
            if temporary and temporary.startswith("DECLARE")
            else f"CREATE{' ' + temporary if temporary else ''}"
        )
        query = self.sql(expression, "expression")
        parts = [f"{head} TABLE", self.sql(expression, "this"), f"AS ({query})" if query else ""]
        parts += [self.sql(clause) for clause in expression.args.get("clauses") or ()]
        return " ".join(part for part in parts if part)

    def create_sql(self, expression: exp.Create) -> str:
        """CREATE TABLE … AS (query), with the brackets that Db2 asks for."""
        query = expression.expression
        if expression.kind == "TABLE" and isinstance(query, exp.Query):
            expression = expression.copy()
            expression.set("expression", exp.Subquery(this=query.copy()))
        return super().create_sql(expression)

    def createindex_sql(self, expression: nodes.CreateIndex) -> str:
        """CREATE INDEX with its clauses."""
        index = expression.this
        unique = "UNIQUE " if expression.args.get("unique") else ""
        not_null = "WHERE NOT NULL " if expression.args.get("where_not_null") else ""
        text = (
            f"CREATE {unique}{not_null}INDEX {self.sql(index, 'this')} ON"
            f" {self.sql(index, 'table')}{self.sql(index, 'params')}"
        )
        return " ".join(
            [text, *(self.sql(clause) for clause in expression.args.get("clauses") or ())]
        )

    def createtrigger_sql(self, expression: nodes.CreateTrigger) -> str:
        """CREATE TRIGGER."""
        columns = self.expressions(expression, key="columns", flat=True)
        when = self.sql(expression, "when")
        parts = [
            (
                f"CREATE {'OR REPLACE ' if expression.args.get('replace') else ''}TRIGGER"
                f" {self.sql(expression, 'this')}"
            ),
            (
                f"{expression.args['timing']}"
                f" {expression.args['event']}{' OF ' + columns if columns else ''} ON"
                f" {self.sql(expression, 'table')}"
            ),
            *(self.sql(clause) for clause in expression.args.get("clauses") or ()),
            f"WHEN ({when})" if when else "",
            self.sql(expression, "expression"),
        ]
        return " ".join(part for part in parts if part)

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


Db2Generator.TRANSFORMS.update(writers(Db2Generator, nodes))


def _sized(text: str) -> str:
    """A length; those of large objects in the largest unit that divides them (2G is more than a
    number may say)."""
    for unit, size in (("G", 1 << 30), ("M", 1 << 20)):
        if text.isdigit() and int(text) and int(text) % size == 0:
            return f"{int(text) // size}{unit}"
    return text
