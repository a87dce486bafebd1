"""Statements of solidDB that change a database's structure, for other databases.

What solidDB says of how it keeps a table (STORE MEMORY, PESSIMISTIC …) has no meaning elsewhere: it
is left out, and named. Everything else is said as the target says it, or refused. Types go through
the profile's type map, as those of ``logreplay ddl`` do.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from sqlgen import ddl
from sqlgen.ddl import TableIndex
from sqlgen.ddl.expressions import CannotSay, Place, TargetNames, source_name
from sqlgen.dialects import EXACT, REFUSED, profile_named
from sqlgen.errors import SqlgenError
from sqlgen.names import table_expression
from sqlgen.schema import Column, SqlType, Table
from sqlgen.script import escape_comment
from sqlgen.soliddb.parser import (
    CreateSequence,
    CreateView,
    DropConstraint,
    ModifySchema,
    SoliddbClause,
    SoliddbCreateTable,
)
from sqlgen.soliddb.table_shape import (
    TableShape,
    column_of,
    default_of,
    defined_column,
    own_constraints,
    read,
    shape_of,
    shown,
)
from sqlgen.statements import truncate_statement

#: What a sequence may reach that counts down or begins below 1: elsewhere it ends at -1, or begins
#: at 1, by itself.
_BOUNDS = "MINVALUE -9223372036854775807 MAXVALUE 9223372036854775806"
_WHOLE = re.compile(r"-?\d+")
#: What the entries of ``Abilities.alter`` do, in words.
_WHAT = {
    "type": "change a column's type",
    "set not null": "make a column NOT NULL",
    "drop not null": "let a column be null",
    "set default": "change a default value",
    "drop default": "take a default value away",
    "schema": "move a table to another schema",
    "drop constraint": "drop a constraint",
}


@dataclass(frozen=True)
class Translation:
    """``statements`` of the target, each on one line and ending in ``;``; ``notes``: what they do
    not say, in words."""

    statements: tuple[str, ...]
    notes: tuple[str, ...] = ()


def target_statements(
    text: str, dialect: str, names: str = "lower", place: Place | None = None, before: str = ""
) -> list[str]:
    """The statements of ``dialect`` for one of solidDB, with the notes as comments before them; see
    :func:`translate`."""
    translation = translate(text, dialect, names, place, before)
    notes = escape_comment(pa.array(translation.notes, pa.string())).to_pylist()
    return [*(f"-- {note}" for note in notes), *translation.statements]


def translate(
    text: str, dialect: str, names: str = "lower", place: Place | None = None, before: str = ""
) -> Translation:
    """A statement of solidDB for another database.

    ``names``: how names are spelled (see :mod:`sqlgen.names`); ``place``: schema and catalog of
    names that state none; ``before``: the CREATE statement of the object that the statement changes
    or drops (for CREATE INDEX: of its table), as it was then, where that is known.

    SqlgenError, which names the statement: LR3021 when it is not understood, LR3003 when the target
    cannot say it, LR3005 for a name that the target cannot have.
    """
    tree = read(text)
    translator = _Translator(
        TargetNames(profile_named(dialect), names, place or Place()),
        read(before) if before else None,
    )
    try:
        if dialect == "soliddb":
            statements = [translator.in_its_words(tree)]
        else:
            statements = translator.statements(tree)
    except CannotSay as problem:
        hint = (
            "Leave the table out (--exclude-table), or make the change by hand and begin after it"
            " (--from-position)"
        )
        raise SqlgenError(
            "LR3003", f"found {shown(text)}; expected what {dialect} can say: {problem}", hint
        ) from None
    except SqlgenError as error:
        raise SqlgenError(error.code, f"found {shown(text)}: {error.message}", error.hint) from None
    if translator.target.dropped:
        translator.notes.append(
            f"the catalog {', '.join(sorted(translator.target.dropped))} is not part of names"
        )
    return Translation(tuple(statements), tuple(translator.notes))


def is_qualified(text: str) -> bool:
    """Whether a statement means the same in every session: all its names state their schema. So
    does one that is not understood: it is an error."""
    try:
        tree = read(text)
    except SqlgenError:
        return True
    names = [one for one in tree.find_all(exp.Table) if not isinstance(one.parent, exp.AlterRename)]
    return bool(names) and all(one.args.get("db") is not None for one in names)


@dataclass
class _Translator:
    target: TargetNames
    before: exp.Expr | None
    notes: list[str] = field(default_factory=list)

    def statements(self, tree: exp.Expr) -> list[str]:
        kind = str(tree.args.get("kind", "")).upper()
        if isinstance(self.before, SoliddbCreateTable) and self.before.args.get("temporary"):
            self.notes.append(
                f"left out: {_on_one_line(tree)}; the rows of the table are not in the log, and it"
                " is not in the target"
            )
            return []
        if isinstance(tree, exp.Create):
            creates = {
                "TABLE": self._create_table,
                "INDEX": self._create_index,
                "SEQUENCE": self._create_sequence,
                "VIEW": self._create_view,
            }
            return creates[kind](tree)
        if isinstance(tree, exp.Alter):
            return self._alter(tree)
        if isinstance(tree, exp.Drop):
            return self._drop(tree, kind)
        if isinstance(tree, exp.TruncateTable):
            return [
                truncate_statement(
                    self.target.table(tree.expressions[0]), self.target.profile, self.target.names
                )
            ]
        raise CannotSay("it is no change of a table, index, view or sequence")

    def in_its_words(self, tree: exp.Expr) -> str:
        """The statement for solidDB itself: as it is, with the schema in each name."""
        if not isinstance(tree, exp.Create | exp.Alter | exp.Drop | exp.TruncateTable):
            raise CannotSay("it is no change of a table, index, view or sequence")
        tree = tree.copy()
        for index in list(tree.find_all(exp.Index)):
            if isinstance(index.this, exp.Identifier):
                index.set("this", exp.Table(this=index.this))
        for table in list(tree.find_all(exp.Table)):
            if not isinstance(table.parent, exp.AlterRename):
                table.set("db", self.target.table_expression(table).args.get("db"))
                table.set("catalog", None)
        text = tree.sql(dialect="soliddb", comments=False)
        if any(unicodedata.category(character) == "Cc" for character in text):
            raise CannotSay("no manual says how a control character is written in a constant")
        return text + ";"

    def _sql(self, tree: exp.Expr) -> str:
        try:
            return tree.sql(
                dialect=self.target.profile.sqlglot,
                unsupported_level=ErrorLevel.RAISE,
                comments=False,
            )
        except SqlglotError as error:
            raise CannotSay(str(error)) from None

    # -- CREATE
    # ---------------------------------------------------------------------------------------------

    def _create_table(self, tree: exp.Create) -> list[str]:
        target, profile = self.target, self.target.profile
        if isinstance(tree, SoliddbCreateTable):
            if tree.args.get("temporary"):
                self.notes.append(f"left out: {_on_one_line(tree)}; its rows are not in the log")
                return []
            for clause in tree.clauses:
                if clause.words == "LIKE":
                    raise CannotSay("LIKE beside a list of columns")
                self.notes.append(f"left out: {clause.sql(dialect='soliddb')}")
        shape = shape_of(tree)
        table = replace(target.table(tree.this.this), columns=shape.columns, key=shape.key)
        entries: list[exp.Expr] = [
            self._column(column, shape.definitions[column.name], table) for column in shape.columns
        ]
        if table.key and profile.keys is None:
            self.notes.append(f"left out: the primary key; {profile.name} has none")
        elif table.key:
            name = (
                f"CONSTRAINT {target.spelled(shape.key_name)} "
                if shape.key_name is not None
                else ""
            )
            entries.append(
                exp.Var(this=f"{name}{ddl.key_constraint(table, profile, target.names).name}")
            )
        entries += [
            exp.Var(this=self._constraint(named, entry, table, profile.abilities.constraints))
            for named, entry in shape.rest
        ]
        this = exp.Schema(this=target.table_expression(tree.this.this), expressions=entries)
        return [self._sql(exp.Create(kind="TABLE", this=this)) + ";"]

    def _type(self, column: Column, table: Table) -> str:
        rule = ddl.type_rule(column, self.target.profile)
        if rule.fidelity == REFUSED:
            raise CannotSay(f"column {column.name}, {ddl.source_type(column)}: {rule.note}")
        if rule.fidelity != EXACT:
            self.notes.append(
                f"{table.name}.{column.name}: {ddl.source_type(column)} becomes {rule.text},"
                f" {rule.fidelity}: {rule.note}"
            )
        return rule.text

    def _definition(self, column: Column, default: exp.Expr | None, table: Table) -> str:
        """What follows the name of a column: type, default value, NOT NULL."""
        parts = [self._type(column, table)]
        if default is not None and not isinstance(default, exp.Null):
            if not self.target.profile.abilities.default:
                raise CannotSay(
                    f"column {column.name}: {self.target.profile.name} has no default values"
                )
            parts.append(
                self.target.profile.abilities.default.format(
                    default=self.target.constant(default, column)
                )
            )
        return " ".join([*parts, *([] if column.nullable else ["NOT NULL"])])

    def _column(self, column: Column, tree: exp.ColumnDef, table: Table) -> exp.Var:
        return exp.Var(
            this=(
                f"{self.target.spelled(tree.this)}"
                f" {self._definition(column, default_of(tree), table)}"
            )
        )

    def _constraint(
        self, name: exp.Expr | None, entry: exp.Expr, table: Table, able: frozenset[str]
    ) -> str:
        columns = {column.name: column for column in table.columns}
        checks, unique = (
            isinstance(entry, exp.CheckColumnConstraint),
            isinstance(entry, exp.UniqueColumnConstraint),
        )
        words = "check" if checks else "unique" if unique else "foreign key"
        if words not in able:
            raise CannotSay(f"{self.target.profile.name} takes no {words} constraint there")
        if checks:
            text = f"CHECK ({self._sql(self.target.portable(entry.this, columns))})"
        elif unique:
            text = f"UNIQUE ({self._list(entry.this.expressions)})"
        else:
            text = (
                f"FOREIGN KEY ({self._list(entry.expressions)})"
                f" {self._reference(entry.args['reference'], table)}"
            )
        return f"CONSTRAINT {self.target.spelled(name)} {text}" if name is not None else text

    def _list(self, columns: list[exp.Expr]) -> str:
        return ", ".join(self.target.spelled(column) for column in columns)

    def _reference(self, tree: exp.Reference, child: Table) -> str:
        profile = self.target.profile
        parent, columns = (
            (tree.this.this, tree.this.expressions)
            if isinstance(tree.this, exp.Schema)
            else (tree.this, [])
        )
        if not columns and profile.abilities.parent_columns:
            raise CannotSay(f"{profile.name} needs the columns that a foreign key refers to")
        named = self.target.table(parent)
        if (
            profile.indexes == "index"
        ):  # a schema is a database of its own there: keys stay in it, and do not name it
            if named.schema != child.schema:
                raise CannotSay(f"{profile.name} has no foreign keys into another schema")
            named = replace(named, schema="")
        text = f"REFERENCES {self._sql(table_expression(named, profile, self.target.names))}" + (
            f" ({self._list(columns)})" if columns else ""
        )
        for option in tree.args.get("options") or ():
            rule = option.split(" ", 2)[2]
            able = (
                profile.abilities.on_delete
                if option.startswith("ON DELETE")
                else profile.abilities.on_update
            )
            if rule in able:
                text += f" {option}"
            elif rule not in ("NO ACTION", "RESTRICT"):
                raise CannotSay(f"{profile.name} has no foreign keys with {option}")
        return text

    def _create_index(self, tree: exp.Create) -> list[str]:
        index = self._index(tree)
        statement = ddl.create_index(index, self.target.profile, self.target.names)
        if not statement:
            self.notes.append(
                f"left out: the index {index.name}; {self.target.profile.name} has none"
            )
        return [statement] if statement else []

    def _index(self, tree: exp.Create) -> TableIndex:
        name = tree.this.this.this if isinstance(tree.this.this, exp.Table) else tree.this.this
        columns = [
            (source_name(entry.this.this), bool(entry.args.get("desc")))
            for entry in tree.this.args["params"].args["columns"]
        ]
        return TableIndex(
            source_name(name),
            self.target.table(tree.this.args["table"]),
            tuple(columns),
            bool(tree.args.get("unique")),
        )

    def _create_sequence(self, tree: exp.Create) -> list[str]:
        profile = self.target.profile
        if not profile.abilities.sequences:
            raise CannotSay(f"{profile.name} has no sequences")
        parts = [f"CREATE SEQUENCE {self._sql(self.target.table_expression(tree.this))}"]
        settings = (
            tree.args["properties"].expressions[0].args if tree.args.get("properties") else {}
        )
        counts = {"start": 1}
        for part, word in (("start", "START WITH"), ("increment", "INCREMENT BY")):
            if settings.get(part):
                number = settings[part].sql()
                if not _WHOLE.fullmatch(number):
                    raise CannotSay(f"{word} {number} is no whole number")
                counts[part] = int(number)
                parts.append(f"{word} {number}")
        if not settings.get("start"):
            parts.append("START WITH 1")
        if counts["start"] < 1 or counts.get("increment", 1) < 0:
            parts.append(_BOUNDS)
        if isinstance(tree, CreateSequence):
            self.notes.append("a DENSE sequence has no gaps; this one may have some")
        self.notes.append("where the sequence stands is not in the log")
        return [" ".join(parts) + ";"]

    def _create_view(self, tree: exp.Create) -> list[str]:
        checked = isinstance(tree, CreateView)
        if checked and not self.target.profile.abilities.check_option:
            raise CannotSay(f"{self.target.profile.name} has no WITH CHECK OPTION")
        this, columns = (
            (tree.this.this, tree.this.expressions)
            if isinstance(tree.this, exp.Schema)
            else (tree.this, [])
        )
        query = self._sql(self.target.portable(tree.expression, {}))
        listed = f" ({self._list(columns)})" if columns else ""
        name = self._sql(self.target.table_expression(this))
        return [
            ddl.in_own_batch(
                f"CREATE VIEW {name}{listed} AS {query}{' WITH CHECK OPTION' if checked else ''}",
                self.target.profile,
            )
        ]

    # -- DROP
    # ---------------------------------------------------------------------------------------------

    def _drop(self, tree: exp.Drop, kind: str) -> list[str]:
        target, profile, named = self.target, self.target.profile, tree.args["tables"][0]
        if kind == "INDEX":
            return self._drop_index(named)
        if kind == "SEQUENCE" and not profile.abilities.sequences:
            raise CannotSay(f"{profile.name} has no sequences")
        words = profile.abilities.drop_constraints if tree.args.get("cascade") else ""
        if tree.args.get("cascade") and not words:
            self.notes.append(
                "foreign keys that refer to the table go first; the target refuses while one is"
                " left"
            )
        return [
            f"DROP {kind}"
            f" {self._sql(target.table_expression(named))}{' ' + words if words else ''};"
        ]

    def _drop_index(self, named: exp.Table) -> list[str]:
        profile = self.target.profile
        if not profile.indexes:
            self.notes.append(
                f"left out: the index {source_name(named.this)}; {profile.name} has none"
            )
            return []
        if isinstance(self.before, exp.Create) and isinstance(self.before.this, exp.Index):
            index = self._index(self.before)
        elif profile.indexes == "of table":
            raise CannotSay(
                f"{profile.name} needs the table of an index, and the log does not say it"
            )
        else:
            index = TableIndex(
                source_name(named.this), replace(self.target.table(named), name=""), ()
            )
        return [ddl.drop_index(index, profile, self.target.names)]

    # -- ALTER TABLE
    # ---------------------------------------------------------------------------------------------

    def _alter(self, tree: exp.Alter) -> list[str]:
        profile, names, table, action = (
            self.target.profile,
            self.target.names,
            self.target.table(tree.this),
            tree.args["actions"][0],
        )
        if isinstance(action, SoliddbClause):
            self.notes.append(f"left out: {_on_one_line(tree)}")
            return []
        if isinstance(action, exp.ColumnDef):
            return self._add_column(tree, action, table)
        if isinstance(action, exp.Drop):
            column = Column(source_name(action.args["tables"][0].this), SqlType.INTEGER)
            return ddl.drop_columns(table, [column], profile, names)
        if isinstance(action, exp.RenameColumn):
            return [
                ddl.rename_column(
                    table, source_name(action.this), source_name(action.args["to"]), profile, names
                )
            ]
        if isinstance(action, exp.AlterRename):
            return [ddl.rename_table(table, source_name(action.this.this), profile, names)]
        if isinstance(action, ModifySchema):
            return [self._altered("schema", tree, schema=self.target.spelled(action.this))]
        if isinstance(action, DropConstraint):
            return [
                self._altered("drop constraint", tree, constraint=self.target.spelled(action.this))
            ]
        if isinstance(action, exp.AddConstraint):
            named = action.expressions[0]
            known = replace(table, columns=self._shape().columns if self._known() else ())
            text = self._constraint(
                named.this, named.expressions[0], known, profile.abilities.added
            )
            return [f"ALTER TABLE {self._sql(self.target.table_expression(tree.this))} ADD {text};"]
        return self._alter_column(tree, action, table)

    def _add_column(self, tree: exp.Alter, action: exp.ColumnDef, table: Table) -> list[str]:
        able = self.target.profile.abilities.add_column
        default = default_of(action)
        column = defined_column(action)
        nullable = column.nullable
        stated = default is not None and not isinstance(default, exp.Null)
        if stated and "default" not in able:
            raise CannotSay(f"{self.target.profile.name} adds no columns with a default value")
        later = (
            not nullable
            and "not null" not in able
            and not (stated and "not null with default" in able)
        )
        definition = self._definition(replace(column, nullable=nullable or later), default, table)
        name = self._sql(self.target.table_expression(tree.this))
        word = "ADD" if self.target.profile.sqlglot in ("oracle", "tsql") else "ADD COLUMN"
        statements = [f"ALTER TABLE {name} {word} {self.target.spelled(action.this)} {definition};"]
        if later:
            statements.append(
                self._altered("set not null", tree, column=self.target.spelled(action.this))
            )
        known = replace(table, columns=(*(self._shape().columns if self._known() else ()), column))
        for constraint in action.constraints:
            if isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint):
                raise CannotSay(f"a column that is added with {_on_one_line(constraint)}")
        for _, entry in own_constraints(action):
            text = self._constraint(None, entry, known, self.target.profile.abilities.added)
            statements.append(f"ALTER TABLE {name} ADD {text};")
        return statements

    def _alter_column(self, tree: exp.Alter, action: exp.AlterColumn, table: Table) -> list[str]:
        spelled, name = self.target.spelled(action.this), source_name(action.this)
        kind = action.args.get("dtype")
        if kind is not None:
            return self._modify(tree, name, kind, table)
        if action.args.get("default") is not None:
            return [
                self._altered(
                    "set default",
                    tree,
                    column=spelled,
                    default=self._new_default(name, action.args["default"]),
                )
            ]
        if action.args.get("allow_null") is None:
            return [self._altered("drop default", tree, column=spelled)]
        what = "drop not null" if action.args["allow_null"] else "set not null"
        able = self.target.profile.abilities.alter.get(what, "")
        if "{type}" not in able and "{definition}" not in able:
            return [self._altered(what, tree, column=spelled)]
        column = replace(self._column_before(name), nullable=bool(action.args["allow_null"]))
        return [self._altered(what, tree, column=spelled, **self._placed(column, table))]

    def _new_default(self, name: str, default: exp.Expr) -> str:
        """A default value as the target writes it in the column; a text may mean anything where the
        column's type is not known."""
        if self._known():
            return self.target.constant(default, self._column_before(name))
        if isinstance(default, exp.Null) or (
            isinstance(default, exp.Literal) and not default.is_string
        ):
            return default.name or "NULL"
        raise CannotSay("the type of the column is not known")

    def _modify(self, tree: exp.Alter, name: str, kind: exp.DataType, table: Table) -> list[str]:
        """MODIFY COLUMN: another type. Where the target has one type for both, nothing is to be
        done."""
        old = self._column_before(name) if self._known() else None
        new = column_of(name, kind, old.nullable if old is not None else True)
        rule = ddl.type_rule(new, self.target.profile)
        if (
            old is not None
            and rule.fidelity != REFUSED
            and ddl.type_rule(old, self.target.profile).text == rule.text
        ):
            self.notes.append(f"{table.name}.{name} stays {rule.text}")
            return []
        able = self.target.profile.abilities.alter.get("type", "")
        if old is None and ("{null}" in able or "{definition}" in able):
            raise CannotSay(
                f"{self.target.profile.name} needs the whole definition of the column, and the log"
                " does not have it"
            )
        placed = self._placed(new, table) if old is not None else {"type": self._type(new, table)}
        return [
            self._altered(
                "type",
                tree,
                column=self.target.spelled(exp.to_identifier(name, quoted=True)),
                **placed,
            )
        ]

    def _placed(self, column: Column, table: Table) -> dict[str, str]:
        """What the statements that repeat a column's definition are filled with."""
        notes = list(self.notes)
        places = {
            "type": self._type(column, table),
            "null": "NULL" if column.nullable else "NOT NULL",
            "definition": self._definition(
                column, default_of(self._shape().definitions[column.name]), table
            ),
        }
        self.notes[:] = list(dict.fromkeys([*notes, *self.notes]))
        return places

    def _altered(self, what: str, tree: exp.Alter, **places: str) -> str:
        able = self.target.profile.abilities.alter
        if what not in able:
            raise CannotSay(f"{self.target.profile.name} has no statement to {_WHAT[what]}")
        table = self.target.table_expression(tree.this)
        own = {"table": self._sql(table), "name": self._sql(table.this)}
        return able[what].format(**own, **places) + ";"

    # -- what the table was before
    # ---------------------------------------------------------------------------------------------

    def _known(self) -> bool:
        return isinstance(self.before, exp.Create) and isinstance(self.before.this, exp.Schema)

    def _shape(self) -> TableShape:
        if not isinstance(self.before, exp.Create) or not self._known():
            raise CannotSay("the definition of the table is not known")
        return shape_of(self.before)

    def _column_before(self, name: str) -> Column:
        columns = [column for column in self._shape().columns if column.name == name]
        if not columns:
            raise CannotSay(f"the table has no column {name}")
        return columns[0]


def _on_one_line(tree: exp.Expr) -> str:
    return " ".join(tree.sql(dialect="soliddb", comments=False).split())
