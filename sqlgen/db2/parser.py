"""Db2 text -> trees. Facts are those of the SQL references of Db2 for z/OS 12/13 and Db2 LUW
11.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.tokenizer_core import Token, TokenType

from sqlgen.db2 import nodes
from sqlgen.db2.column_parser import Db2ColumnParser
from sqlgen.db2.words import (
    ALTER_CLAUSES,
    INDEX_CLAUSES,
    QUERY_CLAUSES,
    REGISTERS,
    STATEMENTS,
    TABLE_CLAUSES,
    TRIGGER_CLAUSES,
    UNITS,
)

#: How an action of ALTER TABLE may begin that adds a constraint: z/OS takes them without ADD.
KEYS_WITHOUT_ADD = ("CONSTRAINT", "FOREIGN KEY", "PRIMARY KEY", "UNIQUE", "CHECK")


class Db2Parser(Db2ColumnParser):
    """See :mod:`sqlgen.db2`."""

    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        **parser.Parser.NO_PAREN_FUNCTION_PARSERS,
        "CURRENT": lambda self: self._special_register(),
        "NEXT": lambda self: self._sequence_value("NEXT"),
        "PREVIOUS": lambda self: self._sequence_value("PREVIOUS"),
    }
    CREATE_SEQUENCE: ClassVar = {
        **parser.Parser.CREATE_SEQUENCE,
        "NO": ("CYCLE", "CACHE", "MAXVALUE", "MINVALUE", "ORDER"),
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

    # -- statements
    # ---------------------------------------------------------------------------------------------

    def _parse(
        self, parse_method: Callable[..., Any], raw_tokens: list[Token], sql: str | None = None
    ) -> list[exp.Expr | None]:
        return super()._parse(parse_method, _shielded(raw_tokens), sql)

    def _parse_statement(self) -> exp.Expr | None:
        comments = self._curr.comments if self._curr else None
        if self._words(("CREATE TYPE 1", "CREATE TYPE 2")):  # of indexes, up to version 7 for z/OS
            created: exp.Expr | None = self._parse_create()
            return created
        if self._curr and (words := self._words(STATEMENTS)):
            statement = nodes.Db2Statement(this=words, expressions=self._words_to_the_end())
            statement.add_comments(comments)
            return self.expression(statement)
        if self._words(("DECLARE GLOBAL TEMPORARY TABLE",)):
            return self._create_table(None, "DECLARE GLOBAL TEMPORARY")
        return super()._parse_statement()

    # -- CREATE, ALTER
    # ---------------------------------------------------------------------------------------------

    def _parse_create(self) -> Any:
        index = self._index
        replace = self._match_pair(TokenType.OR, TokenType.REPLACE)
        temporary = self._words(("GLOBAL TEMPORARY", "SUMMARY"))
        if self._match(TokenType.TABLE):
            return self._create_table(replace, temporary)
        if temporary is None:
            unique = self._match(TokenType.UNIQUE)
            not_null = bool(unique and self._words(("WHERE NOT NULL",)))
            if self._match(TokenType.INDEX):
                return self._create_index(unique, not_null)
            if not unique and self._match(TokenType.TRIGGER):
                return self._create_trigger(replace)
        self._retreat(index)
        return super()._parse_create()

    def _create_table(self, replace: bool | None, temporary: str | None) -> exp.Expr:
        exists = self._parse_exists(not_=True)
        this = self._parse_schema(this=self._parse_table_parts(schema=True))
        expression = None
        if self._match(TokenType.ALIAS):
            expression = self._parse_wrapped(self._parse_select)
        clauses = self._clauses(TABLE_CLAUSES)
        parts: dict[str, Any] = {
            "this": this,
            "kind": "TABLE",
            "replace": replace or None,
            "exists": exists or None,
            "expression": expression,
        }
        if clauses or temporary:
            return self.expression(
                nodes.Db2CreateTable(**parts, clauses=clauses, temporary=temporary)
            )
        return self.expression(exp.Create(**parts))

    def _create_index(self, unique: bool | None, not_null: bool) -> exp.Expr:
        exists = self._parse_exists(not_=True)
        name = self._parse_table_parts(schema=True)
        self._match(TokenType.ON)
        table = self._parse_table_parts(schema=True)
        columns = self._parse_wrapped_csv(self._index_column)
        index = exp.Index(
            this=name if name is None or name.args.get("db") else name.this,
            table=table,
            params=exp.IndexParameters(columns=columns),
        )
        clauses = self._clauses(INDEX_CLAUSES)
        parts: dict[str, Any] = {
            "this": index,
            "kind": "INDEX",
            "unique": unique or None,
            "exists": exists or None,
        }
        if clauses or not_null:
            return self.expression(
                nodes.CreateIndex(**parts, clauses=clauses, where_not_null=not_null)
            )
        return self.expression(exp.Create(**parts))

    def _index_column(self) -> exp.Expr | None:
        if words := self._words(("BUSINESS_TIME WITHOUT OVERLAPS",)):
            return self.expression(nodes.TableClause(this=nodes.Db2Clause(this=words)))
        if words := (
            None
            if self._curr and self._next and self._next.token_type is TokenType.L_PAREN
            else self._words(("RANDOM",))
        ):
            return exp.Var(this=words)
        column = self._parse_disjunction()
        if self._match_text_seq("RANDOM"):
            return self.expression(
                nodes.TableClause(
                    this=nodes.Db2Clause(this="", expressions=[column, exp.Var(this="RANDOM")])
                )
            )
        return self._parse_ordered(lambda: column)

    def _create_trigger(self, replace: bool | None) -> exp.Expr:
        name = self._parse_table_parts(schema=True)
        timing = self._words(("NO CASCADE BEFORE", "BEFORE", "AFTER", "INSTEAD OF"))
        event = self._words(("INSERT", "UPDATE", "DELETE"))
        if not timing or not event:
            self.raise_error("Expected BEFORE, AFTER or INSTEAD OF, and INSERT, UPDATE or DELETE")
        columns = self._parse_csv(self._parse_id_var) if self._match_text_seq("OF") else None
        self._match(TokenType.ON)
        table = self._parse_table_parts(schema=True)
        clauses = self._trigger_clauses()
        when = self._parse_wrapped(self._parse_disjunction) if self._match(TokenType.WHEN) else None
        trigger = nodes.CreateTrigger(
            this=name, kind="TRIGGER", replace=replace or None, timing=timing, event=event,
            columns=columns, table=table, clauses=clauses, when=when,
            expression=self._body_statement(),
        )  # fmt: skip
        return self.expression(trigger)

    def _trigger_clauses(self) -> list[nodes.Db2Clause]:
        clauses = []
        while words := self._words(TRIGGER_CLAUSES):
            pieces: list[exp.Expr] = []
            while words == "REFERENCING" and (
                image := self._words(
                    ("OLD TABLE", "NEW TABLE", "OLD_TABLE", "NEW_TABLE", "OLD", "NEW")
                )
            ):
                self._match(TokenType.ALIAS)
                name = self._parse_id_var(any_token=True)
                pieces += [exp.Var(this=image), exp.Var(this="AS"), *([name] if name else [])]
            clauses.append(self.expression(nodes.Db2Clause(this=words, expressions=pieces)))
        return clauses

    def _body_statement(self) -> exp.Expr:
        """One statement of SQL PL: a compound, an assignment, IF, SIGNAL, or a change of rows."""
        if self._match(TokenType.BEGIN):
            atomic = self._match_text_seq("ATOMIC")
            statements = self._body_statements(("END",))
            self._match(TokenType.END)
            return self.expression(nodes.Compound(expressions=statements, atomic=bool(atomic)))
        if self._match(TokenType.SET):
            return self._assignment()
        if self._match_text_seq("IF"):
            condition = self._parse_disjunction()
            self._match_text_seq("THEN")
            then = self._body_statements(("ELSE", "END"))
            otherwise = self._body_statements(("END",)) if self._match(TokenType.ELSE) else None
            if not (self._match(TokenType.END) and self._match_text_seq("IF")):
                self.raise_error("Expected END IF")
            return self.expression(
                nodes.IfStatement(this=condition, expressions=then, otherwise=otherwise)
            )
        if words := self._words(("SIGNAL", "CALL", "VALUES", "RETURN")):
            return self.expression(
                nodes.Db2Statement(this=words, expressions=self._words_until_break())
            )
        statement = self._parse_statement()
        if statement is None:
            self.raise_error("Expected a statement")
        return statement or exp.Null()

    def _words_until_break(self) -> list[exp.Expr]:
        pieces: list[exp.Expr] = []
        while self._curr and self._curr.token_type is not TokenType.BREAK:
            pieces.append(exp.Var(this=",") if self._match(TokenType.COMMA) else self._piece())
        return pieces

    def _body_statements(self, ends: tuple[str, ...]) -> list[exp.Expr]:
        statements: list[exp.Expr] = []
        while self._curr and self._curr.text.upper() not in ends:
            statements.append(self._body_statement())
            if not self._match(TokenType.BREAK):
                break
        return statements

    def _parse_alter(self) -> Any:
        start = self._prev
        if not self._match(TokenType.TABLE):
            return self._parse_as_command(start)
        table = self._parse_table_parts(schema=True)
        actions: list[exp.Expr] = []
        while self._curr:
            actions.append(self._alter_action())
            self._match(TokenType.COMMA)
        if not actions:
            self.raise_error("Expected what to alter")
        return self.expression(exp.Alter(this=table, kind="TABLE", actions=actions))

    def _alter_action(self) -> exp.Expr:
        if words := self._words(ALTER_CLAUSES):
            stop = ("ADD", "ALTER", "DROP", "SET", "RENAME")
            return self.expression(nodes.Db2Clause(this=words, expressions=self._rest(stop)))
        if self._curr and self._curr.text.upper() in KEYS_WITHOUT_ADD:
            if (stated := self._parse_constraint()) is None:
                self.raise_error("Expected a key or a check")
            return self.expression(exp.AddConstraint(expressions=[stated]))
        if self._match_text_seq("ADD"):
            if self._match(TokenType.COLUMN):
                return self._parse_field_def() or exp.Null()
            index = self._index
            if constraint := self._parse_constraint():
                return self.expression(exp.AddConstraint(expressions=[constraint]))
            self._retreat(index)
            return self._parse_field_def() or exp.Null()
        if self._match(TokenType.ALTER):
            if not self._match(TokenType.COLUMN) and self._words(("PRIMARY KEY", "UNIQUE")):
                self.raise_error("Expected a column, CONSTRAINT, FOREIGN KEY or CHECK")
            return self._alter_column()
        if self._match(TokenType.DROP):
            words = self._words(("PRIMARY KEY", "FOREIGN KEY", "UNIQUE", "CHECK", "CONSTRAINT"))
            if words:
                return self.expression(
                    nodes.Db2Clause(
                        this=f"DROP {words}",
                        expressions=[] if words == "PRIMARY KEY" else [self._piece()],
                    )
                )
            self._match(TokenType.COLUMN)
            dropped = exp.Drop(kind="COLUMN", tables=[exp.Column(this=self._parse_id_var())])
            if behaviour := self._words(("CASCADE", "RESTRICT")):
                dropped.set(behaviour.lower(), True)
            return self.expression(dropped)
        if self._words(("RENAME COLUMN",)):
            old = self._parse_id_var()
            self._match_text_seq("TO")
            return self.expression(exp.RenameColumn(this=old, to=self._parse_id_var()))
        self.raise_error("Expected what to alter")
        return exp.Null()

    def _alter_column(self) -> exp.Expr:
        column = self._parse_id_var()
        if self._words(("SET DATA TYPE",)):
            return self.expression(
                exp.AlterColumn(this=column, dtype=self._parse_types(schema=True))
            )
        if self._words(("SET NOT NULL",)):
            return self.expression(exp.AlterColumn(this=column, allow_null=False))
        if self._words(("DROP NOT NULL",)):
            return self.expression(exp.AlterColumn(this=column, drop=True, allow_null=True))
        if self._words(("SET DEFAULT", "SET WITH DEFAULT")):
            return self.expression(exp.AlterColumn(this=column, default=self._parse_bitwise()))
        if self._words(("DROP DEFAULT",)):
            return self.expression(exp.AlterColumn(this=column, drop=True))
        pieces: list[exp.Expr] = [column] if column else []
        return self.expression(
            nodes.Db2Clause(
                this="ALTER COLUMN",
                expressions=pieces + self._rest(("ADD", "ALTER", "DROP COLUMN", "RENAME")),
            )
        )

    # -- expressions, queries and small statements
    # ------------------------------------------------------------------------------------------

    def _hex_constant(self, token: Token) -> exp.Expr:
        prefix = self._find_sql(token, token).split("'")[0].upper()
        return self.expression(nodes.HexConstant(this=token.text.upper(), kind=prefix))

    def _special_register(self) -> exp.Expr | None:
        words = self._words(REGISTERS)
        if not words:
            self._retreat(self._index - 1)
            return None
        return self.expression(nodes.SpecialRegister(this=f"CURRENT {words}"))

    def _sequence_value(self, which: str) -> exp.Expr | None:
        if not self._words(("VALUE FOR",)):
            self._retreat(self._index - 1)
            return None
        return self.expression(
            nodes.SequenceValue(this=which, expression=self._parse_table_parts(schema=True))
        )

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

    def _parse_query_modifiers(self, this: Any) -> Any:
        query = super()._parse_query_modifiers(this)
        if isinstance(query, exp.Query):
            clauses = self._query_clauses()
            if clauses:
                query.set("locks", [*(query.args.get("locks") or []), *clauses])
        return query

    def _parse_locks(self) -> list[exp.Lock]:
        return []

    def _query_clauses(self) -> list[nodes.Db2Clause]:
        clauses = []
        while self._curr and (words := self._words(QUERY_CLAUSES)):
            pieces: list[exp.Expr] = []
            if words == "FOR UPDATE" and self._match_text_seq("OF"):
                pieces = [exp.Var(this="OF"), *_separated(self._parse_csv(self._parse_id_var))]
            elif words == "OPTIMIZE FOR":
                pieces = [self._piece(), self._piece()]
            elif words == "QUERYNO":
                pieces = [self._piece()]
            clauses.append(self.expression(nodes.Db2Clause(this=words, expressions=pieces)))
        return clauses

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        index = self._index
        words = self._words(("FINAL TABLE", "NEW TABLE", "OLD TABLE"))
        if words and self._match(TokenType.L_PAREN):
            change = self._parse_statement()
            self._match_r_paren()
            change_table = nodes.ChangeTable(
                this=change, kind=words, alias=self._parse_table_alias()
            )
            return self.expression(change_table)
        self._retreat(index)
        return super()._parse_table(*args, **kwargs)

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> exp.TableAlias | None:
        index = self._index
        if self._words(("OPTIMIZE FOR", "SKIP LOCKED DATA", "QUERYNO")):
            self._retreat(index)
            return None
        return super()._parse_table_alias(*args, **kwargs)

    def _parse_set(self, unset: bool = False, tag: bool = False) -> Any:
        return self._assignment()

    def _assignment(self) -> exp.Expr:
        def one() -> exp.Expr:
            register = self._words(
                [f"CURRENT {words}" for words in REGISTERS]
                + [
                    "CURRENT_SCHEMA",
                    "CURRENT_PATH",
                    "SCHEMA",
                    "PATH",
                    "ENCRYPTION PASSWORD",
                    "SESSION AUTHORIZATION",
                ]
            )
            target = nodes.SpecialRegister(this=register) if register else self._parse_bitwise()
            if not self._match(TokenType.EQ) and not register:
                self.raise_error("Expected =")
            if register and register.endswith("PATH"):
                path = nodes.Db2Clause(this="", expressions=self._words_to_the_end())
                return self.expression(exp.EQ(this=target, expression=path))
            return self.expression(
                exp.EQ(this=target, expression=self._parse_disjunction() or self._piece())
            )

        return self.expression(nodes.Assignment(expressions=self._parse_csv(one)))

    def _parse_truncate_table(self) -> Any:
        self._match(TokenType.TABLE)
        table = self._parse_table_parts(schema=True)
        clauses = self._clauses(
            (
                "DROP STORAGE",
                "REUSE STORAGE",
                "IGNORE DELETE TRIGGERS",
                "RESTRICT WHEN DELETE TRIGGERS",
                "IMMEDIATE",
                "CONTINUE IDENTITY",
                "RESTART IDENTITY",
            )
        )
        return (
            self.expression(
                nodes.Db2Statement(this="TRUNCATE TABLE", expressions=[table, *clauses])
            )
            if clauses
            else exp.TruncateTable(expressions=[table])
        )


def _separated(names: list[Any]) -> list[exp.Expr]:
    """Names with commas between them."""
    separated: list[exp.Expr] = []
    for name in names:
        separated += [exp.Var(this=","), name] if separated else [name]
    return separated


def _shielded(tokens: list[Token]) -> list[Token]:
    """Tokens with the semicolons inside ``BEGIN … END`` of a CREATE made to separate statements of
    the body, not statements of the script."""
    result: list[Token] = []
    depth, creating = 0, False
    for place, token in enumerate(tokens):
        kind = token.token_type
        before = tokens[place - 1].text.upper() if place else ""
        after = tokens[place + 1].text.upper() if place + 1 < len(tokens) else ""
        row_begin = (
            before == "ROW" and place > 1 and tokens[place - 2].token_type is TokenType.ALIAS
        )
        if kind is TokenType.CREATE and depth == 0:
            creating = True
        elif kind is TokenType.SEMICOLON:
            if depth:
                result.append(
                    Token(TokenType.BREAK, ";", token.line, token.col, token.start, token.end)
                )
                continue
            creating = False
        elif (
            creating
            and (kind is TokenType.BEGIN or (depth and kind is TokenType.CASE and before != "END"))
            and not row_begin
        ):
            depth += 1
        elif (
            depth
            and kind is TokenType.END
            and after not in ("IF", "WHILE", "FOR", "LOOP", "REPEAT")
        ):
            depth -= 1
        result.append(token)
    return result
