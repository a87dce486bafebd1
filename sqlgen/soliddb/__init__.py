"""solidDB as a sqlglot dialect: ``sqlglot.parse(text, read="soliddb")`` once this module is
imported (or found by its entry point).

The grammar is that of the SQL statements in the solidDB manuals, releases 7, 100 and 200, with the
type synonyms of the engine. What other dialects have too becomes sqlglot's own nodes; the rest
becomes nodes of :mod:`sqlgen.soliddb.nodes`, which no other generator knows. Text that is not
understood is a ParseError; there are no ``Command`` nodes. :mod:`sqlgen.soliddb.translate` says
statements for other databases.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.tokenizer_core import TokenType

from sqlgen.soliddb.generator import SoliddbGenerator
from sqlgen.soliddb.parser import SoliddbParser

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
