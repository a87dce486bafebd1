"""Db2 for z/OS and LUW as a sqlglot dialect, for what a run needs of it: the statements that are
written for Db2, and the types, default values and conditions that DDL states (the statements around
them are read by :mod:`sqlgen.ddl.ddl_reader`).

What only Db2 has becomes a node that no other generator knows: writing such a tree for another
dialect raises instead of leaving something out.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.tokenizer_core import TokenType

from sqlgen.db2.generator import Db2Generator
from sqlgen.db2.parser import Db2Parser


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
