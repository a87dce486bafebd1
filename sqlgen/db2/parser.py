"""Db2 text -> trees. Facts are those of the SQL references of Db2 for z/OS 12/13 and Db2 LUW 11.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.tokenizer_core import Token, TokenType

from sqlgen.db2 import nodes
from sqlgen.grammar import PhraseParser

#: Clauses after the columns of CREATE TABLE.
TABLE_CLAUSES = (
    "IN DATABASE", "IN", "INDEX IN", "LONG IN", "CCSID", "AUDIT", "DATA CAPTURE", "WITH RESTRICT ON DROP", "VOLATILE",
    "NOT VOLATILE", "APPEND", "NOT LOGGED INITIALLY", "NOT LOGGED", "LOGGED", "COMPRESS", "VALUE COMPRESSION", "PARTITION BY",
    "DISTRIBUTE BY", "ORGANIZE BY", "BUFFERPOOL", "DSSIZE", "SEGSIZE", "TRACKMOD", "EDITPROC", "VALIDPROC", "OBID",
    "NOT CARDINALITY", "CARDINALITY", "MEMBER CLUSTER", "KEY LABEL", "NO KEY LABEL", "LOCKSIZE", "LOCKMAX", "PAGENUM",
    "ON COMMIT", "WITH REPLACE", "ON ROLLBACK", "LIKE", "INCLUDING", "EXCLUDING", "SECURITY POLICY", "STORES", "APPEND ONLY",
    "OPTIONS", "DATA INITIALLY", "REFRESH", "MAINTAINED BY", "ENABLE QUERY OPTIMIZATION", "DISABLE QUERY OPTIMIZATION",
    "WITH NO DATA", "WITH DATA", "DEFINITION ONLY",
)  # fmt: skip

#: Clauses after the columns of CREATE INDEX.
INDEX_CLAUSES = (
    "INCLUDE", "USING STOGROUP", "USING VCAT", "PRIQTY", "SECQTY", "ERASE", "FREEPAGE", "PCTFREE", "LEVEL2 PCTFREE", "GBPCACHE",
    "NOT CLUSTER", "CLUSTER", "NOT PARTITIONED", "PARTITIONED", "PARTITION BY", "NOT PADDED", "PADDED", "DEFINE", "COMPRESS",
    "BUFFERPOOL", "CLOSE", "DEFER", "DSSIZE", "COPY", "PIECESIZE", "ALLOW REVERSE SCANS", "DISALLOW REVERSE SCANS",
    "COLLECT SAMPLED DETAILED STATISTICS", "COLLECT DETAILED STATISTICS", "COLLECT STATISTICS", "MINPCTUSED", "PAGE SPLIT", "IN",
    "EXCLUDE NULL KEYS", "INCLUDE NULL KEYS", "GENERATE KEY USING", "SPECIFICATION ONLY",
)  # fmt: skip

#: Clauses of a column.
COLUMN_CLAUSES = (
    "CCSID", "FOR SBCS DATA", "FOR MIXED DATA", "IMPLICITLY HIDDEN", "NOT HIDDEN", "NOT LOGGED", "LOGGED", "NOT COMPACT",
    "COMPACT", "INLINE LENGTH", "FIELDPROC", "COMPRESS SYSTEM DEFAULT", "SECURED WITH", "AS SECURITY LABEL", "OPTIONS",
)  # fmt: skip

#: Clauses between the event and the body of CREATE TRIGGER.
TRIGGER_CLAUSES = ("REFERENCING", "FOR EACH ROW", "FOR EACH STATEMENT", "MODE DB2SQL", "SECURED", "NOT SECURED", "NO CASCADE")

#: Actions of ALTER TABLE that are about storage or periods, by their first words.
ALTER_CLAUSES = (
    "ADD VERSIONING", "DROP VERSIONING", "ADD PERIOD", "DROP PERIOD", "ADD PARTITION", "ADD RESTRICT ON DROP",
    "DROP RESTRICT ON DROP", "ADD CLONE", "DROP CLONE", "ADD ORGANIZE", "DROP ORGANIZATION", "ALTER PARTITION",
    "ROTATE PARTITION", "ATTACH PARTITION", "DETACH PARTITION", "DATA CAPTURE", "ACTIVATE NOT LOGGED INITIALLY",
    "ACTIVATE ROW ACCESS CONTROL", "DEACTIVATE ROW ACCESS CONTROL", "ACTIVATE COLUMN ACCESS CONTROL", "VOLATILE", "NOT VOLATILE",
    "COMPRESS", "APPEND", "AUDIT", "PCTFREE", "LOCKSIZE", "LOG INDEX BUILD", "VALUE COMPRESSION", "ADD DISTRIBUTE",
    "DROP DISTRIBUTION", "ENABLE ARCHIVE", "DISABLE ARCHIVE", "VALIDPROC", "CARDINALITY", "SET MATERIALIZED QUERY",
    "DROP MATERIALIZED QUERY", "ADD MATERIALIZED QUERY", "ALTER CONSTRAINT", "ALTER FOREIGN KEY", "ALTER CHECK",
)  # fmt: skip

#: Statements kept in Db2's words: nothing in them is about rows.
STATEMENTS = (
    "CREATE TABLESPACE", "CREATE LARGE TABLESPACE", "CREATE REGULAR TABLESPACE", "CREATE SYSTEM TEMPORARY TABLESPACE",
    "CREATE USER TEMPORARY TABLESPACE", "CREATE DATABASE", "CREATE STOGROUP", "CREATE BUFFERPOOL", "CREATE ALIAS",
    "CREATE OR REPLACE ALIAS", "CREATE PUBLIC ALIAS", "CREATE SYNONYM", "CREATE AUXILIARY TABLE", "CREATE DISTINCT TYPE",
    "CREATE MASK", "CREATE PERMISSION", "CREATE VARIABLE", "CREATE OR REPLACE VARIABLE", "CREATE ROLE", "CREATE LOB TABLESPACE",
    "CREATE TRUSTED CONTEXT", "CREATE TYPE", "ALTER TABLESPACE", "ALTER DATABASE", "ALTER STOGROUP", "ALTER INDEX",
    "ALTER SEQUENCE", "ALTER VIEW", "ALTER BUFFERPOOL", "DROP TABLESPACE", "DROP DATABASE", "DROP STOGROUP", "DROP ALIAS",
    "DROP SYNONYM", "DROP SEQUENCE", "DROP BUFFERPOOL", "DROP DISTINCT TYPE", "DROP PACKAGE", "RENAME TABLE", "RENAME INDEX",
    "LOCK TABLE", "LABEL ON", "GRANT", "REVOKE", "CONNECT", "EXPLAIN", "RUNSTATS", "REORG", "TRANSFER OWNERSHIP",
)  # fmt: skip

_UNITS = {
    unit + plural: unit
    for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
    for plural in ("", "S")
}  # fmt: skip
_REGISTERS = (
    "SQLID", "SCHEMA", "SERVER", "TIMEZONE", "TIME ZONE", "DEGREE", "PATH", "ISOLATION", "LOCALE LC_CTYPE", "PACKAGESET",
    "PACKAGE PATH", "PRECISION", "RULES", "OPTIMIZATION HINT", "QUERY OPTIMIZATION", "REFRESH AGE", "MEMBER", "CLIENT_ACCTNG",
    "CLIENT_APPLNAME", "CLIENT_USERID", "CLIENT_WRKSTNNAME", "LOCK TIMEOUT", "EXPLAIN MODE", "EXPLAIN SNAPSHOT", "DBPARTITIONNUM",
    "APPLICATION ENCODING SCHEME", "DEBUG MODE", "TEMPORAL SYSTEM_TIME", "TEMPORAL BUSINESS_TIME",
    "MAINTAINED TABLE TYPES FOR OPTIMIZATION", "DECFLOAT ROUNDING MODE", "APPLICATION COMPATIBILITY", "ROUTINE VERSION",
    "SQL_CCFLAGS", "IMPLICIT XMLPARSE OPTION",
)  # fmt: skip
_QUERY_CLAUSES = (
    "WITH UR", "WITH CS", "WITH RS", "WITH RR", "FOR READ ONLY", "FOR FETCH ONLY", "FOR UPDATE", "OPTIMIZE FOR",
    "SKIP LOCKED DATA", "QUERYNO", "USE AND KEEP EXCLUSIVE LOCKS", "USE AND KEEP UPDATE LOCKS", "USE AND KEEP SHARE LOCKS",
)  # fmt: skip
_SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Db2Parser(PhraseParser):
    """See :mod:`sqlgen.db2`."""

    CLAUSE: ClassVar = nodes.Clause
    LISTED: ClassVar = nodes.Listed

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
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {
        **parser.Parser.NO_PAREN_FUNCTION_PARSERS,
        "CURRENT": lambda self: self._special_register(),
        "NEXT": lambda self: self._sequence_value("NEXT"),
        "PREVIOUS": lambda self: self._sequence_value("PREVIOUS"),
    }
    FUNCTIONS: ClassVar = {**parser.Parser.FUNCTIONS, "VALUE": lambda args: exp.Coalesce(this=args[0], expressions=args[1:])}
    NUMERIC_PARSERS: ClassVar = {
        **parser.Parser.NUMERIC_PARSERS,
        TokenType.HEX_STRING: lambda self, token: self._hex_constant(token),
    }
    PRIMARY_PARSERS: ClassVar = {
        **parser.Parser.PRIMARY_PARSERS,
        TokenType.HEX_STRING: lambda self, token: self._hex_constant(token),
    }

    # -- statements ------------------------------------------------------------------------------------------------------------------------

    def _parse(self, parse_method: Callable[..., Any], raw_tokens: list[Token], sql: str | None = None) -> list[exp.Expr | None]:
        return super()._parse(parse_method, _shielded(raw_tokens), sql)

    def _parse_statement(self) -> exp.Expr | None:
        comments = self._curr.comments if self._curr else None
        if self._curr and (words := self._words(STATEMENTS)):
            statement = nodes.Statement(this=words, expressions=self._words_to_the_end())
            statement.add_comments(comments)
            return self.expression(statement)
        if self._words(("DECLARE GLOBAL TEMPORARY TABLE",)):
            return self._create_table(None, "DECLARE GLOBAL TEMPORARY")
        return super()._parse_statement()

    # -- types and columns ----------------------------------------------------------------------------------------------------------------

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        word = self._curr.text.upper() if self._curr else ""
        if self._curr and self._curr.token_type is TokenType.VAR and word == "ROWID":
            self._advance()
            made = exp.DataType(this=exp.DType.VARBINARY, expressions=[exp.DataTypeParam(this=exp.Literal.number(40))])
            made.meta["db2"] = "ROWID"
            return made
        found = super()._parse_types(*args, **kwargs)
        if not isinstance(found, exp.DataType):
            return found
        if word in ("GRAPHIC", "VARGRAPHIC", "DBCLOB", "LONG VARGRAPHIC", "LONG VARCHAR", "CLOB", "CHARACTER LARGE OBJECT"):
            found.meta["db2"] = {"CHARACTER LARGE OBJECT": "CLOB"}.get(word, word)
        if found.this in (exp.DType.TEXT, exp.DType.BLOB) and found.expressions:
            found.meta["size"] = found.expressions[0].sql()
            found.set("expressions", None)
        if found.this in (exp.DType.CHAR, exp.DType.VARCHAR, exp.DType.TEXT) and self._match_text_seq("FOR", "BIT", "DATA"):
            bits = {exp.DType.CHAR: exp.DType.BINARY, exp.DType.VARCHAR: exp.DType.VARBINARY, exp.DType.TEXT: exp.DType.BLOB}
            found.meta["db2"] = f"{found.meta.get('db2') or found.this.value} FOR BIT DATA"
            found.set("this", bits[found.this])
        return found

    def _parse_type_size(self) -> exp.DataTypeParam | None:
        if not self._match(TokenType.NUMBER):
            return super()._parse_type_size()
        number = int(self._prev.text)
        if self._curr and self._curr.text.upper() in _SIZES:
            number *= _SIZES[self._curr.text.upper()]
            self._advance()
        unit = self._prev.text.upper() if self._match_texts(("OCTETS", "CODEUNITS16", "CODEUNITS32")) else None
        return self.expression(exp.DataTypeParam(this=exp.Literal.number(number), expression=exp.Var(this=unit) if unit else None))

    def _parse_column_constraint(self) -> exp.Expr | None:
        index = self._index
        if words := self._words(COLUMN_CLAUSES):
            follows = 1 if words in ("CCSID", "INLINE LENGTH") else 2 if words in ("FIELDPROC", "SECURED WITH", "OPTIONS") else 0
            pieces = [self._piece()] if follows else []
            if follows == 2 and self._curr and self._curr.token_type is TokenType.L_PAREN:
                pieces.append(self._piece())
            return self._column_clause(words, pieces)
        self._retreat(index)
        return super()._parse_column_constraint()

    def _column_clause(self, words: str, pieces: list[exp.Expr]) -> exp.Expr:
        return self.expression(exp.ColumnConstraint(kind=nodes.ColumnClause(this=nodes.Clause(this=words, expressions=pieces))))

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
        return self.expression(nodes.TableClause(this=nodes.Clause(this=f"PERIOD {name}", expressions=[self._piece()])))

    def _named_foreign_key(self) -> exp.Expr:
        """z/OS: the name of the constraint may stand after FOREIGN KEY."""
        if self._curr and self._curr.token_type is not TokenType.L_PAREN:
            name = self._parse_id_var()
            return self.expression(exp.Constraint(this=name, expressions=[self._parse_foreign_key()]))
        return self._parse_foreign_key()

    def _parse_primary_key_part(self) -> exp.Expr | None:
        if words := self._words(("BUSINESS_TIME WITHOUT OVERLAPS",)):
            return self.expression(nodes.TableClause(this=nodes.Clause(this=words)))
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
                return self.expression(nodes.ColumnClause(this=nodes.Clause(this=f"{kind} {words}")))
        if not self._match(TokenType.ALIAS):
            return self.expression(nodes.ColumnClause(this=nodes.Clause(this=kind)))  # a ROWID
        if not self._match_text_seq("IDENTITY"):
            made = exp.GeneratedAsIdentityColumnConstraint(this=always, expression=self._parse_wrapped(self._parse_disjunction))
            return self.expression(made)
        return self._identity(always)

    def _identity(self, always: bool) -> exp.Expr:
        found: dict[str, Any] = {}
        options: list[exp.Expr] = []
        if self._match(TokenType.L_PAREN):
            while self._curr and self._curr.token_type is not TokenType.R_PAREN:
                if words := self._words(("START WITH", "INCREMENT BY", "MINVALUE", "MAXVALUE")):
                    found[{"START WITH": "start", "INCREMENT BY": "increment"}.get(words, words.lower())] = self._parse_unary()
                elif words := self._words(("NO CYCLE", "CYCLE")):
                    found["cycle"] = words == "CYCLE"
                elif words := self._words(("CACHE", "NO CACHE", "NO ORDER", "ORDER", "NO MINVALUE", "NO MAXVALUE")):
                    options.append(nodes.Clause(this=words, expressions=[self._piece()] if words == "CACHE" else []))
                else:
                    self.raise_error("Expected an option of an identity column")
                self._match(TokenType.COMMA)
            self._match_r_paren()
        if options or (not {"start", "increment"} & found.keys() and {"minvalue", "maxvalue"} & found.keys()):
            return self.expression(nodes.IdentityOptions(this=always, options=options, **found))
        return self.expression(exp.GeneratedAsIdentityColumnConstraint(this=always, **found))

    # -- CREATE, ALTER ----------------------------------------------------------------------------------------------------------------------

    def _parse_create(self) -> Any:
        index = self._index
        replace = self._match_pair(TokenType.OR, TokenType.REPLACE)
        temporary = self._words(("GLOBAL TEMPORARY",))
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
        made: dict[str, Any] = {
            "this": this,
            "kind": "TABLE",
            "replace": replace or None,
            "exists": exists or None,
            "expression": expression,
        }
        if clauses or temporary:
            return self.expression(nodes.CreateTable(**made, clauses=clauses, temporary=temporary))
        return self.expression(exp.Create(**made))

    def _create_index(self, unique: bool | None, not_null: bool) -> exp.Expr:
        exists = self._parse_exists(not_=True)
        name = self._parse_table_parts(schema=True)
        self._match(TokenType.ON)
        table = self._parse_table_parts(schema=True)
        columns = self._parse_wrapped_csv(self._index_column)
        index = exp.Index(
            this=name if name is None or name.args.get("db") else name.this, table=table, params=exp.IndexParameters(columns=columns)
        )
        clauses = self._clauses(INDEX_CLAUSES)
        made: dict[str, Any] = {"this": index, "kind": "INDEX", "unique": unique or None, "exists": exists or None}
        if clauses or not_null:
            return self.expression(nodes.CreateIndex(**made, clauses=clauses, where_not_null=not_null))
        return self.expression(exp.Create(**made))

    def _index_column(self) -> exp.Expr | None:
        if words := self._words(("BUSINESS_TIME WITHOUT OVERLAPS",)):
            return self.expression(nodes.TableClause(this=nodes.Clause(this=words)))
        if words := None if self._curr and self._next and self._next.token_type is TokenType.L_PAREN else self._words(("RANDOM",)):
            return exp.Var(this=words)
        column = self._parse_disjunction()
        if self._match_text_seq("RANDOM"):
            return self.expression(nodes.TableClause(this=nodes.Clause(this="", expressions=[column, exp.Var(this="RANDOM")])))
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
        made = nodes.CreateTrigger(
            this=name, kind="TRIGGER", replace=replace or None, timing=timing, event=event, columns=columns, table=table, clauses=clauses, when=when,
            expression=self._body_statement(),
        )  # fmt: skip
        return self.expression(made)

    def _trigger_clauses(self) -> list[nodes.Clause]:
        found = []
        while words := self._words(TRIGGER_CLAUSES):
            pieces: list[exp.Expr] = []
            while words == "REFERENCING" and (image := self._words(("OLD TABLE", "NEW TABLE", "OLD_TABLE", "NEW_TABLE", "OLD", "NEW"))):
                self._match(TokenType.ALIAS)
                name = self._parse_id_var(any_token=True)
                pieces += [exp.Var(this=image), exp.Var(this="AS"), *([name] if name else [])]
            found.append(self.expression(nodes.Clause(this=words, expressions=pieces)))
        return found

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
            return self.expression(nodes.IfStatement(this=condition, expressions=then, otherwise=otherwise))
        if words := self._words(("SIGNAL", "CALL", "VALUES", "RETURN")):
            return self.expression(nodes.Statement(this=words, expressions=self._words_until_break()))
        found = self._parse_statement()
        if found is None:
            self.raise_error("Expected a statement")
        return found or exp.Null()

    def _words_until_break(self) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        while self._curr and self._curr.token_type is not TokenType.BREAK:
            found.append(exp.Var(this=",") if self._match(TokenType.COMMA) else self._piece())
        return found

    def _body_statements(self, ends: tuple[str, ...]) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        while self._curr and self._curr.text.upper() not in ends:
            found.append(self._body_statement())
            if not self._match(TokenType.BREAK):
                break
        return found

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
            return self.expression(nodes.Clause(this=words, expressions=self._rest(stop)))
        if self._match_text_seq("ADD"):
            if self._match(TokenType.COLUMN):
                return self._parse_field_def() or exp.Null()
            index = self._index
            if constraint := self._parse_constraint():
                return self.expression(exp.AddConstraint(expressions=[constraint]))
            self._retreat(index)
            return self._parse_field_def() or exp.Null()
        if self._match(TokenType.ALTER):
            self._match(TokenType.COLUMN)
            return self._alter_column()
        if self._match(TokenType.DROP):
            words = self._words(("PRIMARY KEY", "FOREIGN KEY", "UNIQUE", "CHECK", "CONSTRAINT"))
            if words:
                return self.expression(nodes.Clause(this=f"DROP {words}", expressions=[] if words == "PRIMARY KEY" else [self._piece()]))
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
            return self.expression(exp.AlterColumn(this=column, dtype=self._parse_types(schema=True)))
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
            nodes.Clause(this="ALTER COLUMN", expressions=pieces + self._rest(("ADD", "ALTER", "DROP COLUMN", "RENAME")))
        )

    # -- expressions, queries and small statements ------------------------------------------------------------------------------------------

    def _hex_constant(self, token: Token) -> exp.Expr:
        prefix = self._find_sql(token, token).split("'")[0].upper()
        return self.expression(nodes.HexConstant(this=token.text.upper(), kind=prefix))

    def _special_register(self) -> exp.Expr | None:
        words = self._words(_REGISTERS)
        if not words:
            self._retreat(self._index - 1)
            return None
        return self.expression(nodes.SpecialRegister(this=f"CURRENT {words}"))

    def _sequence_value(self, which: str) -> exp.Expr | None:
        if not self._words(("VALUE FOR",)):
            self._retreat(self._index - 1)
            return None
        return self.expression(nodes.SequenceValue(this=which, expression=self._parse_table_parts(schema=True)))

    def _parse_unary(self) -> exp.Expr | None:
        after_sign = self._prev is not None and self._prev.token_type in (TokenType.PLUS, TokenType.DASH)
        found = super()._parse_unary()
        if after_sign and found is not None and self._curr and self._curr.text.upper() in _UNITS:
            unit = _UNITS[self._curr.text.upper()]
            self._advance()
            return self.expression(exp.Interval(this=found, unit=exp.Var(this=unit)))
        return found

    def _parse_bitwise(self) -> exp.Expr | None:
        found = super()._parse_bitwise()
        while found is not None and self._match_text_seq("CONCAT"):
            found = self.expression(exp.DPipe(this=found, expression=super()._parse_bitwise(), safe=False))
        return found

    def _parse_query_modifiers(self, this: Any) -> Any:
        found = super()._parse_query_modifiers(this)
        if isinstance(found, exp.Query):
            clauses = self._query_clauses()
            if clauses:
                found.set("locks", [*(found.args.get("locks") or []), *clauses])
        return found

    def _parse_locks(self) -> list[exp.Lock]:
        return []

    def _query_clauses(self) -> list[nodes.Clause]:
        found = []
        while self._curr and (words := self._words(_QUERY_CLAUSES)):
            pieces: list[exp.Expr] = []
            if words == "FOR UPDATE" and self._match_text_seq("OF"):
                pieces = [exp.Var(this="OF"), *_separated(self._parse_csv(self._parse_id_var))]
            elif words == "OPTIMIZE FOR":
                pieces = [self._piece(), self._piece()]
            elif words == "QUERYNO":
                pieces = [self._piece()]
            found.append(self.expression(nodes.Clause(this=words, expressions=pieces)))
        return found

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        index = self._index
        words = self._words(("FINAL TABLE", "NEW TABLE", "OLD TABLE"))
        if words and self._match(TokenType.L_PAREN):
            change = self._parse_statement()
            self._match_r_paren()
            made = nodes.ChangeTable(this=change, kind=words, alias=self._parse_table_alias())
            return self.expression(made)
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
                [f"CURRENT {words}" for words in _REGISTERS] + ["SCHEMA", "PATH", "ENCRYPTION PASSWORD", "SESSION AUTHORIZATION"]
            )
            target = nodes.SpecialRegister(this=register) if register else self._parse_bitwise()
            if not self._match(TokenType.EQ) and not register:
                self.raise_error("Expected =")
            return self.expression(exp.EQ(this=target, expression=self._parse_disjunction() or self._piece()))

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
            self.expression(nodes.Statement(this="TRUNCATE TABLE", expressions=[table, *clauses]))
            if clauses
            else exp.TruncateTable(expressions=[table])
        )


def _separated(names: list[Any]) -> list[exp.Expr]:
    """Names with commas between them."""
    found: list[exp.Expr] = []
    for name in names:
        found += [exp.Var(this=","), name] if found else [name]
    return found


def _shielded(found: list[Token]) -> list[Token]:
    """Tokens with the semicolons inside ``BEGIN … END`` of a CREATE made to separate statements of the body, not statements of the script."""
    result: list[Token] = []
    depth, creating = 0, False
    for place, token in enumerate(found):
        kind = token.token_type
        before = found[place - 1].text.upper() if place else ""
        after = found[place + 1].text.upper() if place + 1 < len(found) else ""
        row_begin = before == "ROW" and place > 1 and found[place - 2].token_type is TokenType.ALIAS
        if kind is TokenType.CREATE and depth == 0:
            creating = True
        elif kind is TokenType.SEMICOLON:
            if depth:
                result.append(Token(TokenType.BREAK, ";", token.line, token.col, token.start, token.end))
                continue
            creating = False
        elif creating and (kind is TokenType.BEGIN or (depth and kind is TokenType.CASE and before != "END")) and not row_begin:
            depth += 1
        elif depth and kind is TokenType.END and after not in ("IF", "WHILE", "FOR", "LOOP", "REPEAT"):
            depth -= 1
        result.append(token)
    return result
