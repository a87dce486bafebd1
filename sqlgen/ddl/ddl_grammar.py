"""What our sqlglot dialects share: the reading of phrases of several words, and ALTER COLUMN."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp, generator, parser
from sqlglot.tokenizer_core import Token, TokenType


class PhraseParser(parser.Parser):
    """A parser that reads phrases of several words, and has no ``Command`` nodes: what it does not
    understand is a ParseError."""

    def _words(self, phrases: Iterable[str]) -> str | None:
        """The longest of ``phrases`` that stands here, consumed; None when there is none."""
        for phrase in sorted(phrases, key=len, reverse=True):
            index = self._index
            if (
                self._curr
                and self._curr.token_type is not TokenType.IDENTIFIER
                and self._spelled(phrase)
            ):
                return phrase
            self._retreat(index)
        return None

    def _spelled(self, phrase: str) -> bool:
        """Consume the words of a phrase; keyword tokens may span several of them."""
        wanted = phrase.upper().split()
        while wanted:
            if not self._curr or self._curr.token_type in (TokenType.IDENTIFIER, TokenType.STRING):
                return False
            token_words = self._curr.text.upper().split()
            if token_words != wanted[: len(token_words)]:
                return False
            wanted = wanted[len(token_words) :]
            self._advance()
        return True

    def _parse_as_command(self, start: Token) -> exp.Command:
        self.raise_error("Syntax that is not known", start)
        raise AssertionError("raise_error returned")


class PhraseGenerator(generator.Generator):
    """Writes ALTER COLUMN."""

    #: How ALTER COLUMN begins before a new type (``{}``: the column), and the words behind a column
    #: that is to be NOT NULL.
    ALTER_TYPE = ""
    SET_NOT_NULL = ""

    def altercolumn_sql(self, expression: exp.AlterColumn) -> str:
        """A type, a default or NOT NULL of a column."""
        column = self.sql(expression, "this")
        if expression.args.get("dtype"):
            return f"{self.ALTER_TYPE.format(column)} {self.sql(expression, 'dtype')}"
        if expression.args.get("default"):
            return f"ALTER COLUMN {column} SET DEFAULT {self.sql(expression, 'default')}"
        if expression.args.get("drop"):
            return (
                f"ALTER COLUMN {column} DROP"
                f" {'NOT NULL' if expression.args.get('allow_null') else 'DEFAULT'}"
            )
        return f"ALTER COLUMN {column} {self.SET_NOT_NULL}"
