"""Db2's types, constants and conditions -> trees, as DDL states them. Facts are those of the SQL
references of Db2 for z/OS 12/13 and Db2 LUW 11.5."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.tokenizer_core import Token, TokenType

from sqlgen.ddl.ddl_grammar import PhraseParser

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
