"""Db2 for z/OS and LUW as a sqlglot dialect, for what a run needs of it: the statements that are
written for Db2, and the types, default values and conditions that DDL states (the statements around
them are read by :mod:`sqlgen.ddl.ddl_reader`).

What only Db2 has becomes a node that no other generator knows: writing such a tree for another
dialect raises instead of leaving something out. Facts are those of the SQL references of Db2 for
z/OS 12/13 and Db2 LUW 11.5.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator, parser, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy, rename_func
from sqlglot.tokenizer_core import Token, TokenType

from sqlgen.ddl.ddl_grammar import PhraseGenerator, PhraseParser

UNITS = {
    unit + plural: unit
    for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
    for plural in ("", "S")
}  # fmt: skip
SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
#: What a default value may be beside a constant, the date, the time and the user.
REGISTERS = ("SQLID", "SCHEMA", "SERVER", "TIMEZONE", "TIME ZONE", "MEMBER")
_BITS = {
    exp.DType.CHAR: exp.DType.BINARY,
    exp.DType.VARCHAR: exp.DType.VARBINARY,
    exp.DType.TEXT: exp.DType.BLOB,
}


class SpecialRegister(exp.Expression):
    """``CURRENT SQLID`` and the like."""

    arg_types: ClassVar = {"this": True}


class HexConstant(exp.Expression):
    """``GX'42C1'`` and ``UX'0041'``, with the prefix in ``kind``: characters in an encoding."""

    arg_types: ClassVar = {"this": True, "kind": True}


class Db2Parser(PhraseParser):
    """See :mod:`sqlgen.db2`."""

    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        **parser.Parser.NO_PAREN_FUNCTION_PARSERS,
        "CURRENT": lambda self: self._special_register(),
    }
    FUNCTIONS: ClassVar = {
        **parser.Parser.FUNCTIONS,
        "VALUE": lambda args: exp.Coalesce(this=args[0], expressions=args[1:]),
    }
    NUMERIC_PARSERS: ClassVar = {
        **parser.Parser.NUMERIC_PARSERS,
        TokenType.HEX_STRING: lambda self, token: self._hex_constant(token),
    }
    PRIMARY_PARSERS: ClassVar = {
        **parser.Parser.PRIMARY_PARSERS,
        TokenType.HEX_STRING: lambda self, token: self._hex_constant(token),
    }

    def _hex_constant(self, token: Token) -> exp.Expr:
        prefix = self._find_sql(token, token).split("'")[0].upper()
        if prefix in ("X", "BX"):
            return self.expression(exp.HexString(this=token.text.upper()))
        return self.expression(HexConstant(this=token.text.upper(), kind=prefix))

    def _special_register(self) -> exp.Expr | None:
        words = self._words(REGISTERS)
        if not words:
            self._retreat(self._index - 1)
            return None
        return self.expression(SpecialRegister(this=f"CURRENT {words}"))

    def _parse_unary(self) -> exp.Expr | None:
        after_sign = self._prev is not None and self._prev.token_type in (
            TokenType.PLUS,
            TokenType.DASH,
        )
        operand = super()._parse_unary()
        if after_sign and operand is not None and self._curr and self._curr.text.upper() in UNITS:
            unit = UNITS[self._curr.text.upper()]
            self._advance()
            return self.expression(exp.Interval(this=operand, unit=exp.Var(this=unit)))
        return operand

    def _parse_bitwise(self) -> exp.Expr | None:
        operand = super()._parse_bitwise()
        while operand is not None and self._match_text_seq("CONCAT"):
            operand = self.expression(
                exp.DPipe(this=operand, expression=super()._parse_bitwise(), safe=False)
            )
        return operand

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        word = self._curr.text.upper() if self._curr else ""
        if self._curr and self._curr.token_type is TokenType.VAR and word == "ROWID":
            self._advance()
            size = exp.DataTypeParam(this=exp.Literal.number(40))
            return exp.DataType(this=exp.DType.VARBINARY, expressions=[size])
        kind = super()._parse_types(*args, **kwargs)
        if not isinstance(kind, exp.DataType):
            return kind
        if kind.this in (exp.DType.TEXT, exp.DType.BLOB):
            kind.set("expressions", None)
        if kind.this in _BITS and self._match_text_seq("FOR", "BIT", "DATA"):
            kind.set("this", _BITS[kind.this])
        return kind

    def _parse_type_size(self) -> exp.DataTypeParam | None:
        if not self._match(TokenType.NUMBER):
            return super()._parse_type_size()
        if not self._prev.text.isdecimal():
            self.raise_error("Expected a whole number as length", self._prev)
        number = int(self._prev.text)
        if self._curr and self._curr.text.upper() in SIZES:
            number *= SIZES[self._curr.text.upper()]
            self._advance()
        self._match_texts(("OCTETS", "CODEUNITS16", "CODEUNITS32"))
        return self.expression(exp.DataTypeParam(this=exp.Literal.number(number)))


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


class Db2(Dialect):
    """Db2 for z/OS and for Linux, UNIX and Windows."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.UPPERCASE
    NULL_ORDERING = "nulls_are_large"
    SUPPORTS_USER_DEFINED_TYPES = True
    ALTER_TABLE_ADD_REQUIRED_FOR_EACH_COLUMN = True

    class Tokenizer(tokens.Tokenizer):
        """Names in double quotes, texts in single ones; hexadecimal constants keep their prefix."""

        IDENTIFIERS: ClassVar = ['"']
        QUOTES: ClassVar = ["'"]
        STRING_ESCAPES: ClassVar = ["'"]
        HEX_STRINGS: ClassVar = [
            (f"{prefix}'", "'") for prefix in ("X", "x", "BX", "bx", "GX", "gx", "UX", "ux")
        ]
        COMMANDS: ClassVar = set()
        VAR_SINGLE_TOKENS: ClassVar = {"@", "#", "$"}
        KEYWORDS: ClassVar = {
            **{
                word: kind
                for word, kind in tokens.Tokenizer.KEYWORDS.items()
                if word not in ("DIV", "LOCK", "CACHE")
            },
            "¬=": TokenType.NEQ,
            "^=": TokenType.NEQ,
            "¬<": TokenType.GTE,
            "¬>": TokenType.LTE,
            "CURRENT DATE": TokenType.CURRENT_DATE,
            "CURRENT TIME": TokenType.CURRENT_TIME,
            "CURRENT TIMESTAMP": TokenType.CURRENT_TIMESTAMP,
            "CURRENT USER": TokenType.CURRENT_USER,
            "CHARACTER LARGE OBJECT": TokenType.TEXT,
            "CHAR LARGE OBJECT": TokenType.TEXT,
            "BINARY LARGE OBJECT": TokenType.BLOB,
            "CHARACTER": TokenType.CHAR,
            "CHARACTER VARYING": TokenType.VARCHAR,
            "LONG VARCHAR": TokenType.TEXT,
            "BINARY VARYING": TokenType.VARBINARY,
            "BLOB": TokenType.BLOB,
            "CLOB": TokenType.TEXT,
            "DBCLOB": TokenType.TEXT,
            "GRAPHIC": TokenType.NCHAR,
            "VARGRAPHIC": TokenType.NVARCHAR,
            "LONG VARGRAPHIC": TokenType.TEXT,
            "NATIONAL CHAR": TokenType.NCHAR,
            "NATIONAL CHARACTER": TokenType.NCHAR,
            "NATIONAL CHAR VARYING": TokenType.NVARCHAR,
            "NATIONAL CHARACTER VARYING": TokenType.NVARCHAR,
            "NATIONAL CHARACTER LARGE OBJECT": TokenType.TEXT,
            "NCLOB": TokenType.TEXT,
            "DEC": TokenType.DECIMAL,
            "NUM": TokenType.DECIMAL,
            "DECFLOAT": TokenType.DECFLOAT,
            "XML": TokenType.XML,
        }

    Parser = Db2Parser
    Generator = Db2Generator
