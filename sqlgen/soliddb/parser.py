"""solidDB text -> trees. Facts are those of the vendor's pages CREATE TABLE, ALTER TABLE, CREATE
INDEX, CREATE SEQUENCE, CREATE VIEW, DROP …, SELECT and "Data types" (releases 7, 100, 200); the
synonyms of types are those of the engine's public source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from sqlglot import exp, parser
from sqlglot.tokenizer_core import TokenType

from sqlgen.ddl.ddl_grammar import PhraseParser


class SoliddbClause(exp.Expression):
    """A clause in solidDB's words: ``this`` those that name it (``STORE MEMORY``), ``expressions``
    what follows, as it stands there."""

    arg_types: ClassVar = {"this": True, "expressions": False}

    @property
    def words(self) -> str:
        """The words that name the clause."""
        return str(self.args["this"])


class SoliddbStatement(SoliddbClause):
    """A statement about storage or names, in solidDB's words: nothing in it is about rows."""


class SoliddbCreateTable(exp.Create):
    """CREATE TABLE with clauses after its columns (STORE MEMORY …); ``temporary``: GLOBAL
    TEMPORARY, TRANSIENT and the like."""

    arg_types: ClassVar = {**exp.Create.arg_types, "clauses": False, "temporary": False}

    @property
    def clauses(self) -> list[SoliddbClause]:
        """The clauses after the columns."""
        return list(self.args.get("clauses") or ())


class CreateSequence(exp.Create):
    """CREATE DENSE SEQUENCE: numbers without gaps, bound to the transaction that takes them."""


class CreateView(exp.Create):
    """CREATE VIEW … WITH CHECK OPTION."""


class ModifySchema(exp.Expression):
    """ALTER TABLE … MODIFY SCHEMA: the table goes to another schema, and belongs to its owner."""

    arg_types: ClassVar = {"this": True}


class DropConstraint(exp.Expression):
    """ALTER TABLE … DROP CONSTRAINT."""

    arg_types: ClassVar = {"this": True}


class TypeWords(NamedTuple):
    """A type: what it is called by sqlglot, how many numbers it may have in parentheses, its words
    (the first are the ones we write)."""

    kind: exp.DType
    sizes: int
    words: tuple[str, ...]


_NATIONAL = ("NATIONAL CHAR", "NATIONAL CHARACTER")
_NATIONAL_LONG = (
    "LONG VARWCHAR", "LONG NVARCHAR", "LONG NATIONAL VARCHAR", "NCLOB", "NCHAR LARGE OBJECT",
    "NATIONAL CHAR LARGE OBJECT",
    "NATIONAL CHARACTER LARGE OBJECT",
)  # fmt: skip
TYPES = (
    TypeWords(exp.DType.BIT, 0, ("BIT",)),
    TypeWords(exp.DType.TINYINT, 0, ("TINYINT",)),
    TypeWords(exp.DType.SMALLINT, 0, ("SMALLINT",)),
    TypeWords(exp.DType.INT, 0, ("INTEGER", "INT")),
    TypeWords(exp.DType.BIGINT, 0, ("BIGINT",)),
    TypeWords(exp.DType.FLOAT, 0, ("REAL",)),
    TypeWords(exp.DType.DOUBLE, 0, ("DOUBLE PRECISION", "DOUBLE")),
    TypeWords(exp.DType.DOUBLE, 1, ("FLOAT",)),
    TypeWords(exp.DType.DECIMAL, 2, ("DECIMAL", "DEC")),
    TypeWords(exp.DType.DECIMAL, 2, ("NUMERIC",)),
    TypeWords(exp.DType.CHAR, 1, ("CHAR", "CHARACTER")),
    TypeWords(exp.DType.VARCHAR, 1, ("VARCHAR", "CHAR VARYING", "CHARACTER VARYING")),
    TypeWords(
        exp.DType.TEXT, 0, ("LONG VARCHAR", "CLOB", "CHAR LARGE OBJECT", "CHARACTER LARGE OBJECT")
    ),
    TypeWords(exp.DType.NCHAR, 1, ("WCHAR", "NCHAR", *_NATIONAL)),
    TypeWords(
        exp.DType.NVARCHAR,
        1,
        (
            "WVARCHAR",
            "VARWCHAR",
            "NVARCHAR",
            "NATIONAL VARCHAR",
            "NCHAR VARYING",
            *(f"{words} VARYING" for words in _NATIONAL),
        ),
    ),
    TypeWords(exp.DType.LONGTEXT, 0, ("LONG WVARCHAR", *_NATIONAL_LONG)),
    TypeWords(exp.DType.BINARY, 1, ("BINARY",)),
    TypeWords(exp.DType.VARBINARY, 1, ("VARBINARY",)),
    TypeWords(exp.DType.BLOB, 0, ("LONG VARBINARY", "BLOB", "BINARY LARGE OBJECT")),
    TypeWords(exp.DType.DATE, 0, ("DATE",)),
    TypeWords(exp.DType.TIME, 0, ("TIME",)),
    TypeWords(exp.DType.TIMESTAMP, 0, ("TIMESTAMP",)),
)
_TYPE_OF = {words: entry for entry in TYPES for words in entry.words}

#: Clauses after the columns of CREATE TABLE, with the words that may follow; None: anything up to
#: the next clause.
TABLE_CLAUSES: dict[str, tuple[str, ...] | None] = {
    "STORE": ("MEMORY", "DISK"),
    "LIKE": None,
    "COMPRESSED": (),
    "PARTITION BY": None,
    "REPLICATION FACTOR": None,
}

TEMPORARY = tuple(
    f"{kind}{shared}"
    for kind in ("GLOBAL TEMPORARY", "TEMPORARY", "TRANSIENT")
    for shared in ("", " SHARED")
)

#: Actions of ALTER TABLE about where and how rows are kept; True where something follows.
PHYSICAL = {
    "SET OPTIMISTIC": False,
    "SET PESSIMISTIC": False,
    "SET STORE DISK": False,
    "SET STORE MEMORY": False,
    "SET SYNCHISTORY": False,
    "SET NOSYNCHISTORY": False,
    "SET COMPRESSED": False,
    "SET NONCOMPRESSED": False,
    "SET HISTORY COLUMNS": True,
    "SET POOLSIZE": True,
    "ADD CACHE SEGMENT": True,
    "DROP CACHE SEGMENT": True,
}

#: Statements kept in solidDB's words: nothing in them is about rows or tables.
STATEMENTS = (
    "ADMIN COMMAND", "ALTER REPLICATION PARTITION", "ALTER TRIGGER", "ALTER USER", "CALL",
    "COMMENT ON", "COMMIT", "COMMIT WORK",
    "CREATE CATALOG", "CREATE EVENT", "CREATE PUBLICATION", "CREATE REPLICATION PARTITION",
    "CREATE ROLE", "CREATE SCHEMA", "CREATE USER",
    "DROP CATALOG", "DROP EVENT", "DROP FUNCTION", "DROP PROCEDURE", "DROP PUBLICATION",
    "DROP REPLICATION PARTITION", "DROP ROLE",
    "DROP SCHEMA", "DROP TRIGGER", "DROP USER", "GRANT", "LOCK TABLE", "REVOKE", "ROLLBACK",
    "ROLLBACK WORK", "SET CATALOG",
    "SET DURABILITY", "SET ISOLATION LEVEL", "SET LOCK TIMEOUT", "SET SCHEMA", "SET SQL",
    "SET TRANSACTION", "UNLOCK TABLE",
)  # fmt: skip

#: What a statement in double quotes may be: SQL editors take the semicolons of a body for ends of
#: statements otherwise.
QUOTED_STATEMENTS = ("CREATE PROCEDURE", "CREATE TRIGGER", "CREATE FUNCTION", "CREATE EVENT")

#: Functions that mean the same elsewhere. All others stay names with arguments.
FUNCTIONS = (
    "ABS",
    "AVG",
    "COALESCE",
    "COUNT",
    "LCASE",
    "LOWER",
    "MAX",
    "MIN",
    "NULLIF",
    "SUM",
    "UCASE",
    "UPPER",
)

_DEFAULTS = (exp.Literal, exp.Null, exp.HexString, exp.Date, exp.Time, exp.Timestamp)
_RULES = ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION")


class SoliddbParser(PhraseParser):
    """See :mod:`sqlgen.soliddb`."""

    ODBC_DATETIME_LITERALS: ClassVar = {"d": exp.Date, "t": exp.Time, "ts": exp.Timestamp}
    FUNCTIONS: ClassVar = {word: parser.Parser.FUNCTIONS[word] for word in FUNCTIONS} | {
        "CURDATE": lambda args: exp.CurrentDate(),
        "CURTIME": lambda args: exp.CurrentTime(),
        "NOW": lambda args: exp.CurrentTimestamp(),
    }
    FUNCTION_PARSERS: ClassVar = {"CAST": lambda self: self._cast()}
    NO_PAREN_FUNCTIONS: ClassVar = {}
    QUERY_MODIFIER_PARSERS: ClassVar = {
        **parser.Parser.QUERY_MODIFIER_PARSERS,
        TokenType.ORDER_SIBLINGS_BY: lambda self: ("order", self._parse_order()),
        TokenType.START_WITH: lambda self: ("connect", self._hierarchy()),
        TokenType.CONNECT_BY: lambda self: ("connect", self._hierarchy()),
    }
    STATEMENT_PARSERS: ClassVar = {
        kind: parser.Parser.STATEMENT_PARSERS[kind]
        for kind in (
            TokenType.ALTER, TokenType.CREATE, TokenType.DELETE, TokenType.DROP, TokenType.INSERT,
            TokenType.TRUNCATE, TokenType.UPDATE,
        )
    }  # fmt: skip

    # -- statements
    # ---------------------------------------------------------------------------------------------

    def _parse_statement(self) -> exp.Expr | None:
        if not self._curr:
            return None
        comments = self._curr.comments
        if words := self._words(STATEMENTS):
            return self._kept(words, self._rest(commas=True), comments)
        if self._curr.token_type is TokenType.IDENTIFIER and self._curr.text.upper().split()[
            :2
        ] in [w.split() for w in QUOTED_STATEMENTS]:
            text = self._curr.text.replace('"', '""')
            self._advance()
            return self._kept(f'"{text}"', [], comments)
        if (
            self._curr.token_type in (TokenType.SELECT, TokenType.L_PAREN, TokenType.WITH)
            or self._curr.token_type in self.STATEMENT_PARSERS
        ):
            return super()._parse_statement()
        self.raise_error("Expected a statement of solidDB")
        return None

    def _kept(self, words: str, pieces: list[exp.Expr], comments: list[str]) -> SoliddbStatement:
        statement = self.expression(SoliddbStatement(this=words, expressions=pieces))
        statement.add_comments(comments)
        return statement

    def _rest(self, stop: Iterable[str] = (), commas: bool = False) -> list[exp.Expr]:
        """What follows the words of a clause, as it stands there: up to a bracket that it does not
        open, one of the phrases ``stop`` or, unless it may have ``commas``, a comma."""
        begin = end = self._curr
        depth = 0
        while self._curr:
            kind, index = self._curr.token_type, self._index
            if not depth and (
                kind is TokenType.R_PAREN or (kind is TokenType.COMMA and not commas)
            ):
                break
            if not depth and self._words(stop):
                self._retreat(index)
                break
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            end = self._curr
            self._advance()
        if depth:
            self.raise_error("Expected )")
        if begin is None or end is None or self._curr is begin:
            return []
        return [exp.Var(this=re.sub(r"\s+", " ", self._find_sql(begin, end), flags=re.ASCII))]

    def _name(self) -> exp.Table:
        """``[[catalog.]schema.]name``."""
        name = self._parse_table_parts(schema=True)
        parts = (
            []
            if name is None
            else [
                name.args[part]
                for part in ("this", "db", "catalog")
                if name.args.get(part) is not None
            ]
        )
        if not isinstance(name, exp.Table) or not all(
            isinstance(part, exp.Identifier) for part in parts
        ):
            self.raise_error("Expected a name of up to three parts")
            raise AssertionError("raise_error returned")
        return name

    def _identifier(self) -> exp.Identifier:
        identifier = self._parse_id_var()
        if not isinstance(identifier, exp.Identifier):
            self.raise_error("Expected a name")
            raise AssertionError("raise_error returned")
        return identifier

    def _names_in_parentheses(self) -> list[exp.Expr]:
        return self._parse_wrapped_csv(self._identifier)

    # -- types and literals
    # ---------------------------------------------------------------------------------------------

    def _parse_types(self, check_func: bool = False, *_: Any, **__: Any) -> exp.Expr | None:
        if (
            check_func
        ):  # an expression that begins with the name of a type: solidDB has no such literals
            return None
        words = self._words(_TYPE_OF)
        if words is None:
            return None
        entry = _TYPE_OF[words]
        sizes: list[exp.Expr] = []
        if entry.sizes and self._match(TokenType.L_PAREN):
            numbers = self._parse_csv(self._parse_number)
            if not 1 <= len(numbers) <= entry.sizes or not all(number.is_int for number in numbers):
                self.raise_error(f"Expected up to {entry.sizes} whole numbers in parentheses")
            sizes = (
                [exp.DataTypeParam(this=number) for number in numbers] if words != "FLOAT" else []
            )
            self._match_r_paren()
        data_type = exp.DataType(this=entry.kind, expressions=sizes)
        if words == "NUMERIC":
            data_type.meta["soliddb"] = words
        return self.expression(data_type)

    def _cast(self) -> exp.Expr:
        """CAST; of a text to VARBINARY it is solidDB's way to write a binary constant in
        hexadecimal digits."""
        this = self._parse_disjunction()
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS")
        to = self._parse_types()
        if not isinstance(to, exp.DataType):
            self.raise_error("Expected a type of solidDB")
        elif (
            isinstance(this, exp.Literal)
            and this.is_string
            and to.this == exp.DType.VARBINARY
            and not to.expressions
        ):
            try:
                return self.expression(exp.HexString(this=bytes.fromhex(this.name).hex().upper()))
            except ValueError:
                self.raise_error("Expected an even number of hexadecimal digits")
        return self.expression(exp.Cast(this=this, to=to))

    def _hierarchy(self) -> exp.Expr:
        """START WITH and CONNECT BY, in either order."""
        start = self._parse_disjunction() if self._match(TokenType.START_WITH) else None
        if not self._match(TokenType.CONNECT_BY):
            self.raise_error("Expected CONNECT BY")
        connect = self._parse_connect_with_prior()
        if start is None and self._match(TokenType.START_WITH):
            start = self._parse_disjunction()
        return self.expression(exp.Connect(start=start, connect=connect))

    # -- CREATE
    # ---------------------------------------------------------------------------------------------

    def _parse_create(self) -> Any:
        start = self._prev
        temporary = self._words(TEMPORARY)
        if self._match(TokenType.TABLE):
            return self._create_table(temporary)
        if temporary is None:
            if words := self._words(("UNIQUE INDEX", "INDEX")):
                return self._create_index(words.startswith("UNIQUE"))
            if words := self._words(("DENSE SEQUENCE", "SEQUENCE")):
                return self._create_sequence(words.startswith("DENSE"))
            if self._match(TokenType.VIEW):
                return self._create_view()
        return self._parse_as_command(start)

    def _create_table(self, temporary: str | None) -> exp.Expr:
        name = self._name()
        entries = self._parse_wrapped_csv(self._table_entry)
        parts: dict[str, Any] = {
            "this": self.expression(exp.Schema(this=name, expressions=entries)),
            "kind": "TABLE",
        }
        clauses = self._table_clauses()
        if clauses or temporary:
            return self.expression(
                SoliddbCreateTable(**parts, clauses=clauses, temporary=temporary)
            )
        return self.expression(exp.Create(**parts))

    def _table_clauses(self) -> list[SoliddbClause]:
        clauses = []
        while self._curr and (words := self._words(TABLE_CLAUSES)):
            follows = TABLE_CLAUSES[words]
            if follows is None:
                pieces = self._rest(TABLE_CLAUSES)
            elif follows:
                kind = self._words(follows)
                if kind is None:
                    self.raise_error(f"Expected {' or '.join(follows)}")
                pieces = [exp.Var(this=kind)]
            else:
                pieces = []
            clauses.append(self.expression(SoliddbClause(this=words, expressions=pieces)))
        return clauses

    def _table_entry(self) -> exp.Expr:
        if self._match(TokenType.CONSTRAINT):
            name = self._identifier()
            return self.expression(
                exp.Constraint(this=name, expressions=[self._table_constraint(True)])
            )
        return self._table_constraint(False) or self._column()

    def _table_constraint(self, required: bool) -> Any:
        constraint: Any = None
        if self._words(("PRIMARY KEY",)):
            constraint = exp.PrimaryKey(expressions=self._names_in_parentheses())
        elif self._match(TokenType.UNIQUE):
            constraint = exp.UniqueColumnConstraint(
                this=exp.Schema(expressions=self._names_in_parentheses())
            )
        elif self._words(("CHECK",)):
            constraint = exp.CheckColumnConstraint(this=self._condition())
        elif self._words(("FOREIGN KEY",)):
            columns = self._names_in_parentheses()
            if not self._match(TokenType.REFERENCES):
                self.raise_error("Expected REFERENCES")
            constraint = exp.ForeignKey(expressions=columns, reference=self._reference())
        elif required:
            self.raise_error("Expected UNIQUE, PRIMARY KEY, CHECK or FOREIGN KEY")
        return None if constraint is None else self.expression(constraint)

    def _condition(self) -> exp.Expr | None:
        return self._parse_wrapped(self._parse_disjunction)

    def _reference(self) -> exp.Reference:
        """``table [(columns)]`` after REFERENCES, and the rules; those of a column have none in the
        manuals, and are taken all the same."""
        table: exp.Expr = self._name()
        if self._curr and self._curr.token_type is TokenType.L_PAREN:
            table = self.expression(
                exp.Schema(this=table, expressions=self._names_in_parentheses())
            )
        options: list[str] = []
        while words := self._words(("ON UPDATE", "ON DELETE")):
            rule = self._words(_RULES)
            if rule is None or any(option.startswith(words) for option in options):
                self.raise_error(
                    f"Expected one of {', '.join(_RULES)}, once for each of ON UPDATE and ON DELETE"
                )
            options.append(f"{words} {rule}")
        return self.expression(exp.Reference(this=table, options=options))

    def _column(self) -> exp.Expr:
        name = self._identifier()
        kind = self._parse_types()
        if kind is None:
            self.raise_error("Expected a type of solidDB")
        constraints: list[exp.Expr] = []
        while self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            constraint = self._column_constraint()
            if constraint is None:
                break
            constraints.append(constraint)
        return self.expression(exp.ColumnDef(this=name, kind=kind, constraints=constraints))

    def _column_constraint(self) -> exp.Expr | None:
        name = self._identifier() if self._match(TokenType.CONSTRAINT) else None
        kind: Any = None
        if name is None and self._match(TokenType.DEFAULT):
            kind = exp.DefaultColumnConstraint(this=self._default())
        elif name is None and self._words(("NOT NULL",)):
            kind = exp.NotNullColumnConstraint()
        elif self._match(TokenType.UNIQUE):
            kind = exp.UniqueColumnConstraint()
        elif self._words(("PRIMARY KEY",)):
            kind = exp.PrimaryKeyColumnConstraint()
        elif self._words(("CHECK",)):
            kind = exp.CheckColumnConstraint(this=self._condition())
        elif self._match(TokenType.REFERENCES):
            kind = self._reference()
        elif name is not None:
            self.raise_error("Expected UNIQUE, PRIMARY KEY, CHECK or REFERENCES")
        return None if kind is None else self.expression(exp.ColumnConstraint(this=name, kind=kind))

    def _default(self) -> exp.Expr | None:
        default = self._parse_unary()
        constant = default.this if isinstance(default, exp.Neg) else default
        if not isinstance(constant, _DEFAULTS):
            self.raise_error("Expected a literal or NULL as default")
        return default

    def _create_index(self, unique: bool) -> exp.Expr:
        name = self._name()
        if not self._match(TokenType.ON):
            self.raise_error("Expected ON")
        table = self._name()
        columns = self._parse_wrapped_csv(self._index_column)
        index = exp.Index(
            this=name if name.args.get("db") else name.this,
            table=table,
            params=exp.IndexParameters(columns=columns),
        )
        return self.expression(exp.Create(this=index, kind="INDEX", unique=unique or None))

    def _index_column(self) -> exp.Expr:
        column = self.expression(exp.Column(this=self._identifier()))
        descending = self._match(TokenType.DESC)
        if not descending:
            self._match(TokenType.ASC)
        return self.expression(
            exp.Ordered(this=column, desc=True if descending else None, nulls_first=not descending)
        )

    def _create_sequence(self, dense: bool) -> exp.Expr:
        name = self._name()
        parts: dict[str, Any] = {"this": name, "kind": "SEQUENCE"}
        settings: dict[str, Any] = {}
        while words := self._words(("START WITH", "INCREMENT BY")):
            part = words.split()[0].lower()
            if part in settings:
                self.raise_error(f"{words} stands there twice")
            settings[part] = self._parse_unary()
        if settings:
            parts["properties"] = exp.Properties(expressions=[exp.SequenceProperties(**settings)])
        return self.expression((CreateSequence if dense else exp.Create)(**parts))

    def _create_view(self) -> exp.Expr:
        this: exp.Expr = self._name()
        if self._curr and self._curr.token_type is TokenType.L_PAREN:
            this = self.expression(exp.Schema(this=this, expressions=self._names_in_parentheses()))
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS")
        query = self._parse_select()
        if query is None:
            self.raise_error("Expected a query")
        checked = self._words(("WITH CHECK OPTION",))
        return self.expression(
            (CreateView if checked else exp.Create)(this=this, kind="VIEW", expression=query)
        )

    # -- ALTER, DROP, TRUNCATE
    # ---------------------------------------------------------------------------------------------

    def _parse_alter(self) -> Any:
        start = self._prev
        if not self._match(TokenType.TABLE):
            return self._parse_as_command(start)
        table = self._name()
        return self.expression(exp.Alter(this=table, kind="TABLE", actions=[self._alter_action()]))

    def _alter_action(self) -> Any:
        if words := self._words(PHYSICAL):
            pieces = self._rest(commas=True) if PHYSICAL[words] else []
            if PHYSICAL[words] and not pieces:
                self.raise_error(f"Expected more after {words}")
            return self.expression(SoliddbClause(this=words, expressions=pieces))
        action: Any = None
        if self._words(("ADD CONSTRAINT",)):
            named = exp.Constraint(
                this=self._identifier(), expressions=[self._table_constraint(True)]
            )
            action = exp.AddConstraint(expressions=[named])
        elif self._words(("ADD COLUMN", "ADD")):
            action = self._column()
        elif self._words(("DROP CONSTRAINT",)):
            action = DropConstraint(this=self._identifier())
        elif self._words(("DROP COLUMN", "DROP")):
            action = exp.Drop(kind="COLUMN", tables=[exp.Column(this=self._identifier())])
        elif self._words(("RENAME COLUMN", "RENAME")):
            action = exp.RenameColumn(this=self._identifier(), to=self._identifier())
        elif self._words(("MODIFY SCHEMA",)):
            action = ModifySchema(this=self._identifier())
        elif self._words(("MODIFY COLUMN", "MODIFY")):
            column = self._identifier()
            kind = self._parse_types()
            if kind is None:
                self.raise_error("Expected a type of solidDB")
            action = exp.AlterColumn(this=column, dtype=kind)
        elif self._words(("SET TABLE NAME",)):
            action = exp.AlterRename(this=exp.Table(this=self._identifier()))
        elif self._words(("ALTER COLUMN", "ALTER")):
            return self._alter_column(self._identifier())
        else:
            self.raise_error("Expected what to alter")
        return self.expression(action)

    def _alter_column(self, column: exp.Identifier) -> exp.Expr:
        if self._words(("SET DEFAULT",)):
            return self.expression(exp.AlterColumn(this=column, default=self._default()))
        if self._words(("DROP DEFAULT",)):
            return self.expression(exp.AlterColumn(this=column, drop=True))
        if self._words(("ADD NOT NULL",)):
            return self.expression(exp.AlterColumn(this=column, allow_null=False))
        if self._words(("DROP NOT NULL",)):
            return self.expression(exp.AlterColumn(this=column, drop=True, allow_null=True))
        self.raise_error("Expected SET DEFAULT, DROP DEFAULT, ADD NOT NULL or DROP NOT NULL")
        raise AssertionError("raise_error returned")

    def _parse_drop(self, exists: bool = False, kind: str | None = None) -> Any:
        start = self._prev
        words = self._words(("TABLE", "VIEW", "INDEX", "SEQUENCE"))
        if words is None:
            return self._parse_as_command(start)
        dropped = exp.Drop(kind=words, tables=[self._name()])
        if words == "TABLE" and (how := self._words(("CASCADE CONSTRAINTS", "CASCADE"))):
            dropped.set("cascade", True)
            dropped.set("constraints", True if how.endswith("CONSTRAINTS") else None)
        return self.expression(dropped)

    def _parse_truncate_table(self) -> Any:
        if not self._match(TokenType.TABLE):
            self.raise_error("Expected TABLE")
        return self.expression(exp.TruncateTable(expressions=[self._name()]))
