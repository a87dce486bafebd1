"""solidDB as a sqlglot dialect: ``sqlglot.parse(text, read="soliddb")`` once this module is
imported (or found by its entry point).

The grammar is that of the SQL statements in the solidDB manuals, releases 7, 100 and 200, with the
type synonyms of the engine. What other dialects have too becomes sqlglot's own nodes; the rest
becomes nodes of :mod:`sqlgen.soliddb.parser`, which no other generator knows. Text that is not
understood is a ParseError; there are no ``Command`` nodes. :mod:`sqlgen.soliddb.translate` says
statements for other databases.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp, generator, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.tokenizer_core import TokenType

from sqlgen.ddl.ddl_grammar import PhraseGenerator
from sqlgen.soliddb.parser import (
    TYPES,
    CreateSequence,
    CreateView,
    DropConstraint,
    ModifySchema,
    SoliddbClause,
    SoliddbCreateTable,
    SoliddbParser,
    SoliddbStatement,
)


class SoliddbGenerator(PhraseGenerator):
    """See :mod:`sqlgen.soliddb`."""

    ALTER_TYPE = "MODIFY COLUMN {}"
    SET_NOT_NULL = "ADD NOT NULL"
    TYPE_MAPPING: ClassVar = {
        **{entry.kind: entry.words[0] for entry in reversed(TYPES)},
        exp.DType.DOUBLE: "DOUBLE PRECISION",
        exp.DType.DATETIME: "TIMESTAMP",
        exp.DType.TIMESTAMPNTZ: "TIMESTAMP",
        exp.DType.MEDIUMTEXT: "LONG VARCHAR",
        exp.DType.TINYTEXT: "LONG VARCHAR",
        exp.DType.MEDIUMBLOB: "LONG VARBINARY",
        exp.DType.LONGBLOB: "LONG VARBINARY",
        exp.DType.TINYBLOB: "LONG VARBINARY",
    }
    TRANSFORMS: ClassVar = {
        **generator.Generator.TRANSFORMS,
        exp.HexString: lambda self, e: f"CAST('{e.name}' AS VARBINARY)",
        exp.Lower: lambda self, e: self.func("LCASE", e.this),
        exp.Upper: lambda self, e: self.func("UCASE", e.this),
        exp.CurrentDate: lambda self, e: "CURDATE()",
        exp.CurrentTime: lambda self, e: "CURTIME()",
        exp.CurrentTimestamp: lambda self, e: "NOW()",
        exp.Date: lambda self, e: f"{{d {self.sql(e, 'this')}}}",
        exp.Time: lambda self, e: f"{{t {self.sql(e, 'this')}}}",
        exp.Timestamp: lambda self, e: f"{{ts {self.sql(e, 'this')}}}",
    }

    def datatype_sql(self, expression: exp.DataType) -> str:
        """A type in solidDB's words; what it has no type for is not supported."""
        word = expression.meta.get("soliddb") or self.TYPE_MAPPING.get(expression.this)
        if word is None:
            self.unsupported(f"the type {expression.this}")
            word = str(expression.this)
        inside = self.expressions(expression, flat=True)
        return f"{word}({inside})" if inside else word

    def soliddbclause_sql(self, expression: SoliddbClause) -> str:
        """The words of a clause or statement, and what follows them."""
        return " ".join([expression.words, *map(self.sql, expression.expressions)])

    def soliddbcreatetable_sql(self, expression: SoliddbCreateTable) -> str:
        """CREATE TABLE with its clauses."""
        temporary = expression.args.get("temporary")
        parts = [
            f"CREATE{' ' + temporary if temporary else ''} TABLE {self.sql(expression, 'this')}"
        ]
        return " ".join([*parts, *(self.sql(clause) for clause in expression.clauses)])

    def createsequence_sql(self, expression: CreateSequence) -> str:
        """CREATE DENSE SEQUENCE."""
        return self.create_sql(expression).replace("CREATE ", "CREATE DENSE ", 1)

    def createview_sql(self, expression: CreateView) -> str:
        """CREATE VIEW … WITH CHECK OPTION."""
        return f"{self.create_sql(expression)} WITH CHECK OPTION"

    def ordered_sql(self, expression: exp.Ordered) -> str:
        """ASC is what is meant without a word."""
        return f"{self.sql(expression, 'this')}{' DESC' if expression.args.get('desc') else ''}"

    def modifyschema_sql(self, expression: ModifySchema) -> str:
        """MODIFY SCHEMA."""
        return f"MODIFY SCHEMA {self.sql(expression, 'this')}"

    def dropconstraint_sql(self, expression: DropConstraint) -> str:
        """DROP CONSTRAINT."""
        return f"DROP CONSTRAINT {self.sql(expression, 'this')}"

    def renamecolumn_sql(self, expression: exp.RenameColumn) -> str:
        """RENAME COLUMN has no TO."""
        return f"RENAME COLUMN {self.sql(expression, 'this')} {self.sql(expression, 'to')}"

    def alterrename_sql(self, expression: exp.AlterRename, include_to: bool = True) -> str:
        """SET TABLE NAME; the table stays in its schema."""
        return f"SET TABLE NAME {self.sql(expression.this, 'this')}"

    def alter_sql(self, expression: exp.Alter) -> str:
        """ALTER TABLE takes one action."""
        actions = expression.args["actions"]
        if len(actions) != 1:
            self.unsupported("ALTER TABLE with several actions")
        action = actions[0]
        text = (
            f"ADD COLUMN {self.sql(action)}"
            if isinstance(action, exp.ColumnDef)
            else self.sql(action)
        )
        return f"ALTER TABLE {self.sql(expression, 'this')} {text}"


# sqlglot finds methods by name for its own nodes only
SoliddbGenerator.TRANSFORMS.update(
    {
        SoliddbClause: SoliddbGenerator.soliddbclause_sql,
        SoliddbStatement: SoliddbGenerator.soliddbclause_sql,
        SoliddbCreateTable: SoliddbGenerator.soliddbcreatetable_sql,
        CreateSequence: SoliddbGenerator.createsequence_sql,
        CreateView: SoliddbGenerator.createview_sql,
        ModifySchema: SoliddbGenerator.modifyschema_sql,
        DropConstraint: SoliddbGenerator.dropconstraint_sql,
    }
)


__all__ = ["Soliddb"]


class Soliddb(Dialect):
    """solidDB 7, 100 and 200. NULL is the lowest value: it is stored without bytes, and keys are
    compared bytewise."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.UPPERCASE
    NULL_ORDERING = "nulls_are_small"
    SUPPORTS_USER_DEFINED_TYPES = False

    class Tokenizer(tokens.Tokenizer):
        """Names in double quotes, texts in single ones. There are no hexadecimal constants: see the
        parser's CAST."""

        IDENTIFIERS: ClassVar = ['"']
        QUOTES: ClassVar = ["'"]
        STRING_ESCAPES: ClassVar = ["'"]
        COMMANDS: ClassVar = set()
        VAR_SINGLE_TOKENS: ClassVar = {"$"}
        KEYWORDS: ClassVar = {
            **{
                word: kind
                for word, kind in tokens.Tokenizer.KEYWORDS.items()
                if word not in ("DIV", "LOCK", "CACHE", "{%", "%}", "/*+")
            },
            "START WITH": TokenType.START_WITH,
            "ORDER SIBLINGS BY": TokenType.ORDER_SIBLINGS_BY,
        }

    Parser = SoliddbParser
    Generator = SoliddbGenerator
