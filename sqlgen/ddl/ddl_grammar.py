"""What our sqlglot dialects share: clauses kept in a database's own words, and the reading of
phrases of several words.

Each dialect makes classes of its own of the nodes here, which no other generator knows: a tree that
holds one cannot be written for another database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import ModuleType
from typing import Any, ClassVar

from sqlglot import exp, generator, parser
from sqlglot.tokenizer_core import Token, TokenType


class Clause(exp.Expression):
    """A clause in a database's own words: ``this`` the words that name it (``IN``, ``DATA
    CAPTURE``), ``expressions`` what follows."""

    arg_types: ClassVar = {"this": True, "expressions": False}

    @property
    def words(self) -> str:
        """The words that name the clause."""
        return str(self.args["this"])


class ParenthesizedList(exp.Expression):
    """A list in parentheses inside a clause; each entry is a list of words of its own (``Clause``
    without name)."""

    arg_types: ClassVar = {"expressions": False}


class VerbatimStatement(exp.Expression):
    """A statement kept in a database's own words: nothing in it is about rows or tables."""

    arg_types: ClassVar = {"this": True, "expressions": False}


class PhraseParser(parser.Parser):
    """A parser that reads phrases and clauses, and has no ``Command`` nodes: what it does not
    understand is a ParseError.

    ``CLAUSE`` and ``LISTED`` are the dialect's own nodes.
    """

    CLAUSE: ClassVar[type[Clause]]
    LISTED: ClassVar[type[ParenthesizedList]]

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

    def _clauses(self, phrases: Iterable[str]) -> list[Clause]:
        """Clauses up to the end of the statement; each begins with one of ``phrases``."""
        phrases = tuple(phrases)
        clauses = []
        while self._curr and (words := self._words(phrases)):
            clauses.append(
                self.expression(self.CLAUSE(this=words, expressions=self._rest(phrases)))
            )
        return clauses

    def _rest(self, stop: Iterable[str] = ()) -> list[exp.Expr]:
        """What follows the words of a clause: words, names, numbers, texts and lists in
        parentheses."""
        pieces: list[exp.Expr] = []
        stop = tuple(stop)
        while self._curr and self._curr.token_type not in (
            TokenType.R_PAREN,
            TokenType.COMMA,
            TokenType.BREAK,
        ):
            index = self._index
            if stop and self._words(stop):
                self._retreat(index)
                break
            pieces.append(self._piece())
        return pieces

    def _piece(self) -> exp.Expr:
        token = self._curr
        if not token:
            self.raise_error("Expected more")
        self._advance()
        if token.token_type is TokenType.L_PAREN:
            entries: list[exp.Expr] = []
            while self._curr and self._curr.token_type is not TokenType.R_PAREN:
                index = self._index
                entries.append(self.expression(self.CLAUSE(this="", expressions=self._rest())))
                if not self._match(TokenType.COMMA) and self._index == index:
                    self.raise_error("Expected )")
            self._match_r_paren()
            return self.expression(self.LISTED(expressions=entries))
        if token.token_type is TokenType.STRING:
            return exp.Literal.string(token.text)
        if token.token_type is TokenType.NUMBER:
            return exp.Literal.number(token.text)
        if token.token_type is TokenType.HEX_STRING:
            return self._hex_constant(token)
        if token.token_type is TokenType.IDENTIFIER:
            return exp.to_identifier(token.text, quoted=True)
        return exp.Var(this=token.text.upper())

    def _hex_constant(self, token: Token) -> exp.Expr:
        return self.expression(exp.HexString(this=token.text))

    def _words_to_the_end(self) -> list[exp.Expr]:
        pieces: list[exp.Expr] = []
        while self._curr:
            pieces.append(exp.Var(this=",") if self._match(TokenType.COMMA) else self._piece())
        return pieces

    def _parse_as_command(self, start: Token) -> exp.Command:
        self.raise_error("Syntax that is not known", start)
        raise AssertionError("raise_error returned")


class PhraseGenerator(generator.Generator):
    """Writes the nodes of this module, and ALTER COLUMN."""

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

    def clause_sql(self, expression: Clause) -> str:
        """The words and what follows them; no blank around a point or an equals sign."""
        return tidy(
            " ".join(
                part
                for part in (
                    expression.words,
                    *(self.sql(piece) for piece in expression.expressions),
                )
                if part
            )
        )

    def parenthesizedlist_sql(self, expression: ParenthesizedList) -> str:
        """A list in parentheses."""
        return f"({', '.join(self.sql(entry) for entry in expression.expressions)})"

    def verbatimstatement_sql(self, expression: VerbatimStatement) -> str:
        """A statement in the words it was read with."""
        return tidy(
            " ".join(
                [
                    str(expression.args["this"]),
                    *(self.sql(piece) for piece in expression.expressions),
                ]
            )
        )


def writers(own: type[generator.Generator], nodes: ModuleType) -> dict[Any, Any]:
    """The entries of TRANSFORMS for the nodes that a module defines: sqlglot finds methods by name
    for its own nodes only. A node without a method of its own name is written as the node of this
    module that it is made from."""
    return {
        node: next(
            getattr(own, f"{kind.__name__.lower()}_sql")
            for kind in node.__mro__
            if hasattr(own, f"{kind.__name__.lower()}_sql")
        )
        for node in vars(nodes).values()
        if isinstance(node, type)
        and issubclass(node, exp.Expression)
        and node.__module__ == nodes.__name__
    }


def tidy(text: str) -> str:
    """No blanks around points and before commas, outside of quotes."""
    pieces = re.split(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")""", text)
    pieces[::2] = [
        re.sub(r" ([,;])", r"\1", re.sub(r" ?\. ?", ".", piece)) for piece in pieces[::2]
    ]
    return "".join(pieces)
