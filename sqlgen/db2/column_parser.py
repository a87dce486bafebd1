"""Columns of Db2's CREATE and ALTER TABLE: types, defaults, identities, and clauses that only Db2
has."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.tokenizer_core import TokenType

from sqlgen.db2 import nodes
from sqlgen.db2.words import COLUMN_CLAUSES, KEY_OPTIONS, SIZES
from sqlgen.ddl_grammar import PhraseParser

#: Options of an identity column that sqlglot's node does not hold, as read -> as written.
IDENTITY_OPTIONS = {
    **{words: words for words in ("CACHE", "ORDER")},
    **{
        f"NO{blank}{word}": f"NO {word}"
        for word in ("CACHE", "ORDER", "MINVALUE", "MAXVALUE")
        for blank in (" ", "")
    },
}


class Db2ColumnParser(PhraseParser):
    """Reads columns and their constraints."""

    CLAUSE: ClassVar = nodes.Db2Clause
    LISTED: ClassVar = nodes.Db2List

    CONSTRAINT_PARSERS: ClassVar = {
        **{
            word: parse
            for word, parse in parser.Parser.CONSTRAINT_PARSERS.items()
            if word not in ("COMPRESS", "INLINE", "FORMAT", "TITLE", "TRUNCATE")
        },
        "DEFAULT": lambda self: self._default(),
        "WITH": lambda self: self._with_default(),
        "PERIOD": lambda self: self._period(),
        "FOREIGN KEY": lambda self: self._named_foreign_key(),
    }
    SCHEMA_UNNAMED_CONSTRAINTS: ClassVar = {*parser.Parser.SCHEMA_UNNAMED_CONSTRAINTS, "PERIOD"}

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        word = self._curr.text.upper() if self._curr else ""
        if self._curr and self._curr.token_type is TokenType.VAR and word == "ROWID":
            self._advance()
            rowid = exp.DataType(
                this=exp.DType.VARBINARY,
                expressions=[exp.DataTypeParam(this=exp.Literal.number(40))],
            )
            rowid.meta["db2"] = "ROWID"
            return rowid
        kind = super()._parse_types(*args, **kwargs)
        if not isinstance(kind, exp.DataType):
            return kind
        if word in (
            "GRAPHIC",
            "VARGRAPHIC",
            "DBCLOB",
            "LONG VARGRAPHIC",
            "LONG VARCHAR",
            "CLOB",
            "CHARACTER LARGE OBJECT",
        ):
            kind.meta["db2"] = {"CHARACTER LARGE OBJECT": "CLOB"}.get(word, word)
        if kind.this in (exp.DType.TEXT, exp.DType.BLOB) and kind.expressions:
            kind.meta["size"] = kind.expressions[0].sql()
            kind.set("expressions", None)
        if kind.this in (
            exp.DType.CHAR,
            exp.DType.VARCHAR,
            exp.DType.TEXT,
        ) and self._match_text_seq("FOR", "BIT", "DATA"):
            bits = {
                exp.DType.CHAR: exp.DType.BINARY,
                exp.DType.VARCHAR: exp.DType.VARBINARY,
                exp.DType.TEXT: exp.DType.BLOB,
            }
            kind.meta["db2"] = f"{kind.meta.get('db2') or kind.this.value} FOR BIT DATA"
            kind.set("this", bits[kind.this])
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
        unit = (
            self._prev.text.upper()
            if self._match_texts(("OCTETS", "CODEUNITS16", "CODEUNITS32"))
            else None
        )
        return self.expression(
            exp.DataTypeParam(
                this=exp.Literal.number(number), expression=exp.Var(this=unit) if unit else None
            )
        )

    def _parse_column_constraint(self) -> exp.Expr | None:
        index = self._index
        if words := self._words(COLUMN_CLAUSES):
            follows = (
                1
                if words in ("CCSID", "INLINE LENGTH")
                else 2
                if words in ("FIELDPROC", "SECURED WITH", "OPTIONS")
                else 0
            )
            pieces = [self._piece()] if follows else []
            if follows == 2 and self._curr and self._curr.token_type is TokenType.L_PAREN:
                pieces.append(self._piece())
            return self._column_clause(words, pieces)
        self._retreat(index)
        return super()._parse_column_constraint()

    def _column_clause(self, words: str, pieces: list[exp.Expr]) -> exp.Expr:
        return self.expression(
            exp.ColumnConstraint(
                kind=nodes.ColumnClause(this=nodes.Db2Clause(this=words, expressions=pieces))
            )
        )

    def _default(self) -> exp.Expr:
        ends = (
            TokenType.COMMA,
            TokenType.R_PAREN,
            TokenType.NOT,
            TokenType.CONSTRAINT,
            TokenType.PRIMARY_KEY,
            TokenType.UNIQUE,
            TokenType.REFERENCES,
        )
        words = ("CHECK", "GENERATED", "IMPLICITLY", "CCSID", "COMPRESS", "ADD", "ALTER", "DROP")
        if not self._curr or self._curr.token_type in ends or self._curr.text.upper() in words:
            return self.expression(nodes.SystemDefault())
        return self.expression(exp.DefaultColumnConstraint(this=self._parse_bitwise()))

    def _with_default(self) -> exp.Expr | None:
        if self._match(TokenType.DEFAULT):
            return self._default()
        self._retreat(self._index - 1)
        return None

    def _period(self) -> exp.Expr | None:
        self._match_text_seq("FOR")
        name = self._words(("SYSTEM_TIME", "BUSINESS_TIME"))
        if not name:
            self._retreat(self._index - 1)
            return None
        return self.expression(
            nodes.TableClause(
                this=nodes.Db2Clause(this=f"PERIOD {name}", expressions=[self._piece()])
            )
        )

    def _named_foreign_key(self) -> exp.Expr:
        """z/OS: the name of the constraint may stand after FOREIGN KEY."""
        if self._curr and self._curr.token_type is not TokenType.L_PAREN:
            name = self._parse_id_var()
            return self.expression(
                exp.Constraint(this=name, expressions=[self._parse_foreign_key()])
            )
        return self._parse_foreign_key()

    def _parse_key_constraint_options(self) -> list[Any]:
        options: list[Any] = []
        while self._curr:
            if words := self._words(KEY_OPTIONS):
                options.append(self.expression(nodes.Db2Clause(this=words)))
            elif more := super()._parse_key_constraint_options():
                options += more
            else:
                break
        return options

    def _parse_check_constraint(self) -> exp.CheckColumnConstraint | None:
        if not self._match(TokenType.L_PAREN, advance=False):
            return None
        condition = self._parse_wrapped(self._parse_assignment)
        options = []
        while words := self._words(KEY_OPTIONS):
            options.append(nodes.Db2Clause(this=words))
        return self.expression(
            nodes.CheckWithOptions(this=condition, options=options)
            if options
            else exp.CheckColumnConstraint(this=condition)
        )

    def _parse_primary_key_part(self) -> exp.Expr | None:
        if words := self._words(("BUSINESS_TIME WITHOUT OVERLAPS",)):
            return self.expression(nodes.TableClause(this=nodes.Db2Clause(this=words)))
        return super()._parse_primary_key_part()

    def _parse_generated_as_identity(self) -> Any:
        always = not self._match_text_seq("BY", "DEFAULT")
        self._match_text_seq("ALWAYS")
        kind = "GENERATED ALWAYS" if always else "GENERATED BY DEFAULT"
        for words in (
            "FOR EACH ROW ON UPDATE AS ROW CHANGE TIMESTAMP",
            "AS ROW BEGIN",
            "AS ROW START",
            "AS ROW END",
            "AS TRANSACTION START ID",
        ):
            if self._words((words,)):
                return self.expression(
                    nodes.ColumnClause(this=nodes.Db2Clause(this=f"{kind} {words}"))
                )
        if not self._match(TokenType.ALIAS):
            return self.expression(nodes.ColumnClause(this=nodes.Db2Clause(this=kind)))  # a ROWID
        if not self._match_text_seq("IDENTITY"):
            identity = exp.GeneratedAsIdentityColumnConstraint(
                this=always, expression=self._parse_wrapped(self._parse_disjunction)
            )
            return self.expression(identity)
        return self._identity(always)

    def _identity(self, always: bool) -> exp.Expr:
        settings: dict[str, Any] = {}
        options: list[exp.Expr] = []
        if self._match(TokenType.L_PAREN):
            while self._curr and self._curr.token_type is not TokenType.R_PAREN:
                if words := self._words(("START WITH", "INCREMENT BY", "MINVALUE", "MAXVALUE")):
                    settings[
                        {"START WITH": "start", "INCREMENT BY": "increment"}.get(
                            words, words.lower()
                        )
                    ] = self._parse_unary()
                elif words := self._words(("NO CYCLE", "NOCYCLE", "CYCLE")):
                    settings["cycle"] = words == "CYCLE"
                elif words := self._words(IDENTITY_OPTIONS):
                    words = IDENTITY_OPTIONS[words]
                    options.append(
                        nodes.Db2Clause(
                            this=words, expressions=[self._piece()] if words == "CACHE" else []
                        )
                    )
                else:
                    self.raise_error("Expected an option of an identity column")
                self._match(TokenType.COMMA)
            self._match_r_paren()
        if options or (
            not {"start", "increment"} & settings.keys()
            and {"minvalue", "maxvalue"} & settings.keys()
        ):
            return self.expression(nodes.IdentityOptions(this=always, options=options, **settings))
        return self.expression(exp.GeneratedAsIdentityColumnConstraint(this=always, **settings))
