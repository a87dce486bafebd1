"""What DDL declares of tables beyond their keys: default values, checks and identity columns; and
how a target says it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import ParseError, SqlglotError

from sqlgen.ddl import type_rule
from sqlgen.ddl.ddl_clauses import ColumnEntry, KeyClause
from sqlgen.ddl.ddl_facts import NOT_ENFORCED, Facts
from sqlgen.ddl.ddl_reader import OWN_DIALECTS, read_schema
from sqlgen.ddl.expressions import COMPARES, CannotSay, Place, TargetNames, source_name
from sqlgen.dialects import AUTO_INCREMENT, Profile
from sqlgen.names import alike, identifier, table_expression
from sqlgen.schema import Column, SqlType, Table

_NOW = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)
#: What a target keeps moments and numbers in where it has no type for them.
_TEXT = re.compile("TEXT|N?VARCHAR|STRING|CHAR")
_NUMBER = re.compile(r"-?\d+")
_DECIMAL = re.compile(
    r"\s*(?:DEC(?:IMAL)?|NUM(?:BER|ERIC)?)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\s*", re.IGNORECASE
)
#: The time of day as a default value, where a target says it in words of its own; "": it cannot.
_TIME_OF_DAY = {
    "postgres": "LOCALTIME(0)",
    "duckdb": "CAST(DATE_TRUNC('second', CURRENT_LOCALTIMESTAMP()) AS TIME)",
    "tsql": "CAST(SYSDATETIME() AS TIME(0))",
    "redshift": "",
}
#: Who the session is, in Db2's words.
_USERS = re.compile(r"(CURRENT[ _])?(USER|SQLID|SCHEMA)|SESSION_USER|SYSTEM_USER")
_NUMBERS = frozenset(
    {
        SqlType.SMALLINT,
        SqlType.INTEGER,
        SqlType.BIGINT,
        SqlType.DECIMAL,
        SqlType.REAL,
        SqlType.DOUBLE,
        SqlType.DECFLOAT,
    }
)
_WHOLE = frozenset({SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT})
_TEXTS = frozenset({SqlType.CHAR, SqlType.VARCHAR, SqlType.CLOB})
_SYSTEM: dict[SqlType, type[exp.Func]] = {
    SqlType.DATE: exp.CurrentDate,
    SqlType.TIME: exp.CurrentTime,
    SqlType.TIMESTAMP: exp.CurrentTimestamp,
}


@dataclass(frozen=True)
class Identity:
    """A column that the database numbers."""

    start: int = 1
    step: int = 1

    @property
    def bounds(self) -> str:
        """What lets a sequence begin where it does, for those that count from 1 up and -1 down."""
        if self.step > 0:
            return f" MINVALUE {self.start}" if self.start < 1 else ""
        return f" MAXVALUE {self.start}" if self.start > -1 else ""


@dataclass(frozen=True, eq=False)
class Declared:
    """Of one table, by the log's column names: ``defaults`` and ``checks`` (name, condition) as
    trees of ``dialect``, ``identities``, ``decimals`` (precision and scale); ``unused``: what
    cannot be said of columns that are left out or masked, in words."""

    dialect: str
    defaults: Mapping[str, exp.Expr] = field(default_factory=dict)
    checks: tuple[tuple[str, exp.Expr], ...] = ()
    identities: Mapping[str, Identity] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    decimals: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def sized(self, table: Table) -> Table:
        """A table with the precision that is stated of its decimals, where the log leaves it open:
        a packed number with an even one has a digit to spare."""
        columns = tuple(
            replace(column, length=column.length - 1)
            if column.type is SqlType.DECIMAL
            and column.length % 2
            and self.decimals.get(column.name) == (column.length - 1, column.scale)
            else column
            for column in table.columns
        )
        return replace(table, columns=columns)

    def renamed(self, name: Callable[[str], str | None], table: str) -> Declared:
        """The same with other column names; ``name`` gives None for a column of which nothing can
        be said."""
        unused = list(self.unused)
        defaults, identities, checks = {}, {}, []
        for column, tree in self.defaults.items():
            if (new := name(column)) is None:
                unused.append(
                    f"default value of {table}.{column}: the column is masked or left out"
                )
            else:
                defaults[new] = tree
        for column, identity in self.identities.items():
            if (new := name(column)) is None:
                unused.append(f"identity of {table}.{column}: the column is masked or left out")
            else:
                identities[new] = identity
        for label, condition in self.checks:
            tree = condition.copy()
            others = {
                reference: name(source_name(reference.this))
                for reference in tree.find_all(exp.Column)
            }
            if None in others.values():
                unused.append(
                    f"check {label or '(unnamed)'} of {table}: a column of it is masked or left out"
                )
                continue
            for reference, new in others.items():
                reference.set("this", exp.Identifier(this=new, quoted=True))
            checks.append((label, tree))
        decimals = {
            new: size for column, size in self.decimals.items() if (new := name(column)) is not None
        }
        return Declared(self.dialect, defaults, tuple(checks), identities, tuple(unused), decimals)


@dataclass
class ColumnClauses:
    """What a target says of it: ``words`` that follow the type of a column, ``constraints``,
    statements for when the rows are there, and what it cannot say, in words."""

    words: dict[str, str] = field(default_factory=dict)
    constraints: list[str] = field(default_factory=list)
    afterwards: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def parse_declared(
    text: str, dialect: str, tables: Sequence[Table], exact_decimals: bool = False
) -> dict[str, Declared]:
    """What the DDL in ``text`` declares of ``tables`` (OWNER.NAME -> what). ``exact_decimals``:
    their decimals have the precision of the source, whatever the DDL says. SqlgenError LR1010 when
    it is not SQL of the dialect."""
    facts = read_schema(text, dialect, tuple(tables), lenient=True).facts
    by_name = {f"{table.schema}.{table.name}".upper(): table for table in tables}
    said = {name: _declared(one, by_name[name], dialect) for name, one in facts.items()}
    if exact_decimals:
        return {name: replace(one, decimals={}) for name, one in said.items()}
    return said


def _declared(facts: Facts, table: Table, dialect: str) -> Declared:
    defaults, identities, unused = dict[str, exp.Expr](), dict[str, Identity](), list[str]()
    checks: list[tuple[str, exp.Expr]] = []
    decimals: dict[str, tuple[int, int]] = {}
    where = f"{table.schema}.{table.name}".upper()
    doubles = alike(column.name for column in table.columns)
    columns = {column.name.upper(): column for column in table.columns}
    for name, said in facts.columns.items():
        column = columns.get(name)
        if column is None:
            continue
        if name in doubles:
            unused.append(f"what is stated of {where}.{column.name}: others differ in case only")
            continue
        if size := _DECIMAL.fullmatch(said.type):
            decimals[column.name] = int(size[1]), int(size[2] or 0)
        if said.identity is not None:
            if all(map(_NUMBER.fullmatch, said.identity)):
                identities[column.name] = Identity(*map(int, said.identity))
            else:
                start, step = said.identity
                unused.append(
                    f"identity of {where}.{column.name}: START {start} INCREMENT {step}"
                    " are no whole numbers"
                )
        if said.generated:
            unused.append(
                f"how {where}.{column.name} is generated: it becomes an ordinary column with"
                " the log's values"
            )
        if said.default == "" and not said.generated:
            if column.type is SqlType.BINARY and "BIT DATA" in said.type.upper():
                unused.append(
                    f"default value of {where}.{column.name}: {column.length} blanks of a code page"
                    " that the file does not tell"
                )
            else:
                defaults[column.name] = _system_default(column)
        elif said.default:
            try:
                defaults[column.name] = expression(said.default, dialect)
            except SqlglotError:
                unused.append(f"default value of {where}.{column.name}: {said.default}")
    for check in facts.checks:
        label = f"check {check.name or '(unnamed)'} of {where}"
        try:
            if check.enforced:
                checks.append((check.name, expression(check.condition, dialect)))
            else:
                unused.append(f"{label}: {NOT_ENFORCED}")
        except SqlglotError:
            unused.append(f"{label}: {check.condition}: not understood")
    return Declared(dialect, defaults, tuple(checks), identities, (*unused, *facts.notes), decimals)


def expression(text: str, dialect: str) -> exp.Expr:
    """A condition or value as a tree. SqlglotError where it is not understood."""
    if dialect in OWN_DIALECTS:
        import_module(f"sqlgen.{dialect}")  # sqlglot knows it from then on
    spoken = {"mariadb": "mysql"}.get(dialect, dialect)
    with _silence():
        (tree,) = sqlglot.parse_one(f"SELECT {text}", dialect=spoken).expressions
    if not isinstance(tree, exp.Expr):
        raise ParseError(text)
    return tree


@contextmanager
def _silence() -> Iterator[None]:
    """sqlglot warns of what it does not understand; we name it."""
    log = logging.getLogger("sqlglot")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _system_default(column: Column) -> exp.Expr:
    """What Db2 takes for WITH DEFAULT alone."""
    if column.type in _SYSTEM:
        return _SYSTEM[column.type]()
    if column.type is SqlType.BINARY:
        return exp.HexString(this="00" * column.length)
    return exp.Literal.number(0) if column.type in _NUMBERS else exp.Literal.string("")


def column_clauses(declared: Declared, table: Table, profile: Profile, names: str) -> ColumnClauses:
    """How a target says what is declared of a table."""
    clauses = ColumnClauses(left_out=list(declared.unused))
    target = TargetNames(profile, names, Place(table.schema), dialect=declared.dialect)
    columns = {column.name: column for column in table.columns}
    able, where = profile.abilities, f"{table.schema}.{table.name}"
    for name, identity in declared.identities.items():
        if name in columns:
            _identify(clauses, table, columns[name], identity, profile, names)
    for name, tree in declared.defaults.items():
        try:
            if name in columns and not isinstance(tree, exp.Null):
                if not able.default:
                    raise CannotSay(f"{profile.name} has no default values")
                clauses.words[name] = able.default.format(
                    default=_default(tree, columns[name], target)
                )
        except CannotSay as reason:
            clauses.left_out.append(f"default value of {where}.{name}: {reason}")
    for label, condition in declared.checks:
        try:
            if "check" not in able.constraints:
                raise CannotSay(f"{profile.name} has no checks")
            numbered = {
                source_name(column.this) for column in condition.find_all(exp.Column)
            } & declared.identities.keys()
            if numbered and able.identity == AUTO_INCREMENT:
                raise CannotSay(
                    f"{profile.name} checks no column that it numbers"
                    f" ({', '.join(sorted(numbered))})"
                )
            if declared.dialect == "db2" and profile.sqlglot != "db2":
                _check_blanks(condition, columns, profile)
            text = f"CHECK ({_sql(target.portable(condition, columns), profile)})"
            clauses.constraints.append(
                f"CONSTRAINT {identifier(label, profile, names).sql(dialect=profile.sqlglot)}"
                f" {text}"
                if label
                else text
            )
        except CannotSay as reason:
            clauses.left_out.append(f"check {label or '(unnamed)'} of {where}: {reason}")
    return clauses


def _identify(
    clauses: ColumnClauses,
    table: Table,
    column: Column,
    identity: Identity,
    profile: Profile,
    names: str,
) -> None:
    able = profile.abilities
    one_by_one = identity.step == 1 and table.key[:1] == (column.name,)
    reason = ""
    if not able.identity:
        reason = f"{profile.name} takes no values of its own for one"
    elif able.identity == AUTO_INCREMENT and not one_by_one:
        reason = "its steps are not 1, or it does not begin the key"
    elif identity.step == 0:
        reason = f"{profile.name} counts in no steps of 0"
    elif column.type not in _WHOLE and not able.identity_decimal:
        reason = f"{profile.name} numbers no column of type {column.type.value}"
    if reason:
        clauses.left_out.append(f"identity of {table.schema}.{table.name}.{column.name}: {reason}")
        return
    clauses.words[column.name] = able.identity.format(
        start=identity.start, step=identity.step, bounds=identity.bounds
    )
    if able.identity_after:
        place = table_expression(table, profile, names).sql(dialect=profile.sqlglot)
        spelled = identifier(column.name, profile, names)
        texts = {"place": place.replace("'", "''"), "name": spelled.this.replace("'", "''")}
        clauses.afterwards.append(
            able.identity_after.format(
                table=place,
                column=spelled.sql(dialect=profile.sqlglot),
                step=identity.step,
                last="MAX" if identity.step > 0 else "MIN",
                **texts,
            )
        )
    elif able.identity != AUTO_INCREMENT:
        clauses.left_out.append(
            f"where the identity {table.schema}.{table.name}.{column.name} goes on: set it beyond"
            " the highest value yourself"
        )


def _default(tree: exp.Expr, column: Column, target: TargetNames) -> str:
    """A default value as the target writes it."""
    if isinstance(tree, _NOW):
        if _TEXT.match(type_rule(column, target.profile).text):
            raise CannotSay(f"{column.type.value} is a text in {target.profile.name}")
        now = _sql(tree, target.profile)
        if isinstance(tree, exp.CurrentTime):
            now = _TIME_OF_DAY.get(target.profile.name, now)
        if not now:
            raise CannotSay(f"{target.profile.name} has no time of day as a default value")
        return now
    if target.dialect == "db2" and _is_user(tree):
        if target.profile.sqlglot == "db2":
            return _sql(tree, target.profile)
        raise CannotSay(
            f"the constant {tree.sql('db2')}: who the session is may have another name in"
            f" {target.profile.name}"
        )
    return target.constant(tree, column)


def _is_user(tree: exp.Expr) -> bool:
    return _USERS.fullmatch(tree.sql("db2").upper()) is not None


def _check_blanks(condition: exp.Expr, columns: Mapping[str, Column], profile: Profile) -> None:
    """CannotSay for a condition of Db2 that tells texts apart by blanks at their ends: Db2 pads
    CHAR in expressions, and compares all texts without regard to such blanks."""
    for node in condition.find_all(exp.Like, exp.DPipe, *COMPARES):
        named = [columns.get(source_name(one.this)) for one in node.find_all(exp.Column)]
        texts = [column for column in named if column is not None and column.type in _TEXTS]
        is_char = [column for column in texts if column.type is SqlType.CHAR]
        if is_char and isinstance(node, exp.Like | exp.DPipe):
            raise CannotSay(
                f"{node.sql('db2')!r}: CHAR ends in blanks in Db2, and may not in {profile.name}"
            )
        pads = bool(is_char) and profile.pads_char
        as_text = [one for one in is_char if not type_rule(one, profile).text.startswith("CHAR")]
        for constant in node.find_all(exp.Literal) if texts else ():
            shorter = any(len(constant.name) < one.length for one in as_text)
            if constant.is_string and not pads and (constant.name.endswith(" ") or shorter):
                raise CannotSay(
                    f"{node.sql('db2')!r}: Db2 compares without blanks at the end,"
                    f" {profile.name} with them"
                )


def _sql(tree: exp.Expr, profile: Profile) -> str:
    try:
        return tree.sql(dialect=profile.sqlglot, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise CannotSay(str(error).splitlines()[0]) from None


# -- tables that DDL defines
# -------------------------------------------------------------------------------------------------
# The tables that DDL defines: names, columns with their types, and primary keys, for logs whose
# records say neither types nor keys.


_TYPES: dict[exp.DType, SqlType] = {
    exp.DType.SMALLINT: SqlType.SMALLINT,
    exp.DType.INT: SqlType.INTEGER,
    exp.DType.BIGINT: SqlType.BIGINT,
    exp.DType.DECIMAL: SqlType.DECIMAL,
    exp.DType.DOUBLE: SqlType.DOUBLE,
    exp.DType.DECFLOAT: SqlType.DECFLOAT,
    exp.DType.CHAR: SqlType.CHAR,
    exp.DType.NCHAR: SqlType.CHAR,
    exp.DType.VARCHAR: SqlType.VARCHAR,
    exp.DType.NVARCHAR: SqlType.VARCHAR,
    exp.DType.BINARY: SqlType.BINARY,
    exp.DType.VARBINARY: SqlType.VARBINARY,
    exp.DType.DATE: SqlType.DATE,
    exp.DType.TIME: SqlType.TIME,
    exp.DType.TIMESTAMP: SqlType.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: SqlType.TIMESTAMP_TZ,
    exp.DType.BOOLEAN: SqlType.BOOLEAN,
    exp.DType.TEXT: SqlType.CLOB,
    exp.DType.BLOB: SqlType.BLOB,
    exp.DType.XML: SqlType.XML,
    exp.DType.SMALLSERIAL: SqlType.SMALLINT,
    exp.DType.SERIAL: SqlType.INTEGER,
    exp.DType.BIGSERIAL: SqlType.BIGINT,
}
#: Db2's FLOAT(n) is single precision up to this many bits.
_SINGLE_BITS = 21
#: Digits of a DECIMAL, and fraction digits of a TIMESTAMP, that state none; length of a CHAR.
_DECIMAL_DIGITS, _FRACTION, _CHARACTERS = 5, 6, 1
#: What types without a size are, but in Db2 and solidDB; of a DECIMAL nobody can tell.
_ANY_SIZE = {
    SqlType.VARCHAR: SqlType.CLOB,
    SqlType.VARBINARY: SqlType.BLOB,
    SqlType.BINARY: SqlType.BLOB,
    SqlType.DECIMAL: None,
}
_MOMENTS = (SqlType.TIMESTAMP, SqlType.TIMESTAMP_TZ)


def defined_tables(text: str, dialect: str) -> list[Table]:
    """The tables that ``CREATE TABLE`` statements in ``text`` define, in their order, with their
    primary keys. Those that a query or another table defines are not listed. SqlgenError LR1010
    where the text is not understood as SQL of the dialect."""
    return [table for table, _ in _defined(text, dialect)]


def whole_tables(text: str, dialect: str) -> tuple[list[Table], list[str]]:
    """The same, but those with a column whose type is not understood are not listed, but named in
    words."""
    tables, strange = [], []
    for table, unread in _defined(text, dialect):
        if unread:
            strange.append(
                f"table {table.schema}.{table.name}: the type of {', '.join(unread)} is not"
                " understood, or has no size"
            )
        else:
            tables.append(table)
    return tables, strange


def _defined(text: str, dialect: str) -> Iterator[tuple[Table, list[str]]]:
    """The tables, and the columns of each that are not understood."""
    found = read_schema(text, dialect, None, lenient=True)
    keys: dict[str, tuple[str, ...]] = {}
    for name, key in found.constraints.keys:
        keys.setdefault(name, key)
    for place, (schema, name) in found.tables.items():
        known = found.facts.get(place, Facts()).columns.values()
        columns = [_column(one, dialect) for one in known]
        if columns:
            own = tuple(one for one in columns if one is not None)
            unread = [
                f"{said.spelled} ({said.type.strip()})"
                for said, column in zip(known, columns, strict=True)
                if column is None
            ]
            yield Table(schema, name, own, keys.get(place, ())), unread


def _column(said: ColumnEntry, dialect: str) -> Column | None:
    try:
        kind = expression(f"CAST(1 AS {said.type})", dialect).args["to"]
    except SqlglotError:
        return None
    primary = any(isinstance(one, KeyClause) and one.primary for one in said.clauses)
    if not isinstance(kind, exp.DataType):
        return None
    return _typed(said.spelled, kind, said.nullable and not primary, dialect in OWN_DIALECTS)


def _typed(name: str, kind: exp.DataType, nullable: bool, of_db2: bool) -> Column | None:
    given = [int(one.name) for one in kind.expressions if one.name.isdecimal()]
    if kind.this is exp.DType.FLOAT:  # REAL, or FLOAT with its bits
        single = not given or given[0] <= _SINGLE_BITS
        return Column(name, SqlType.REAL if single else SqlType.DOUBLE, nullable)
    if kind.this not in _TYPES:
        return None
    sql_type = _TYPES[kind.this]
    if not given and not of_db2 and sql_type in _ANY_SIZE:  # elsewhere it may have any
        large = _ANY_SIZE[sql_type]
        return None if large is None else Column(name, large, nullable)
    if sql_type is SqlType.DECIMAL:
        digits, scale = (*given, 0, 0)[:2] if given else (_DECIMAL_DIGITS, 0)
        return Column(name, sql_type, nullable, digits, scale)
    default = _FRACTION if sql_type in _MOMENTS else _CHARACTERS
    return Column(name, sql_type, nullable, given[0] if given else default)
