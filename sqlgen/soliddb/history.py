"""The objects of a solidDB as statement after statement makes them, so that what takes a statement
back can be said in solidDB's words.

Only what the statements say is known. A statement about an object that none of them made can be
taken back where it says all by itself (ADD COLUMN), and not where its former state matters (DROP
COLUMN).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlgen.ddl.expressions import Place, source_name
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, Table
from sqlgen.soliddb.parser import DropConstraint, ModifySchema, SoliddbClause, SoliddbCreateTable
from sqlgen.soliddb.table_shape import default_of, is_nullable, read, type_text
from sqlgen.structure import Action, Source, StructureChange

#: An object: its kind, schema and name.
ObjectKey = tuple[str, str, str]


@dataclass(frozen=True)
class _Back:
    """What takes a statement back: ``trees`` in order, None where the former state is not known
    (``why``). ``lost``: what they do not bring back."""

    trees: tuple[exp.Expr, ...] | None
    why: str = ""
    lost: str = ""


@dataclass(frozen=True)
class _Foreign:
    """A foreign key: the ``table`` that has it, its ``entry`` in CREATE TABLE, its ``name`` (None
    without one), and the key as it stands alone."""

    table: exp.Table
    entry: exp.Expr
    name: exp.Expr | None
    key: exp.Expr

    @classmethod
    def of(cls, table: exp.Table, reference: exp.Reference) -> _Foreign:
        """The foreign key that a REFERENCES belongs to."""
        owner = reference.parent
        if isinstance(owner, exp.ColumnConstraint):
            column = owner.find_ancestor(exp.ColumnDef)
            assert column is not None
            return cls(
                table,
                owner,
                owner.args.get("this"),
                exp.ForeignKey(expressions=[column.this.copy()], reference=reference.copy()),
            )
        assert owner is not None
        named = owner.parent if isinstance(owner.parent, exp.Constraint) else None
        return cls(table, named or owner, named.this if named is not None else None, owner.copy())

    @property
    def dropped(self) -> exp.Alter:
        """ALTER TABLE … DROP CONSTRAINT; for a key with a name."""
        assert self.name is not None
        return exp.Alter(
            this=self.table.copy(),
            kind="TABLE",
            actions=[DropConstraint(this=self.name.copy())],
        )

    @property
    def added(self) -> exp.Alter | None:
        """ALTER TABLE … ADD CONSTRAINT; None for a key without name."""
        if self.name is None:
            return None
        named = exp.Constraint(this=self.name.copy(), expressions=[self.key.copy()])
        return exp.Alter(
            this=self.table.copy(), kind="TABLE", actions=[exp.AddConstraint(expressions=[named])]
        )


@dataclass
class History:
    """``objects`` holds the CREATE statement of each object as it would be written now. ``place``:
    schema and catalog of names without them."""

    place: Place = field(default_factory=Place)
    objects: dict[ObjectKey, exp.Create] = field(default_factory=dict)

    def change(
        self, text: str, table: Table, schema: str = "", former: Table | None = None
    ) -> StructureChange:
        """What a statement does, and what takes it back; later statements build on it. ``table`` is
        what the change is filed under, ``schema`` that of names without one in this statement (that
        of the history where it is empty). ``former``: the table that the statement names as a
        catalog described it before, for where no statement made it; that leaves out default values
        and all constraints but the key.

        Never raises: a statement that is not understood raises when it is written for a target,
        cannot be taken back, and nothing of what came before it is relied on any more.
        """
        place = replace(self.place, schema=schema or self.place.schema)
        try:
            tree = read(text)
        except SqlgenError:
            self.forget()
            source = Source(text, place.schema, place.catalog)
            return StructureChange(
                Action.STATEMENT,
                table,
                note="the statement is not understood",
                reversible=False,
                source=(source,),
            )
        key = _key_of(tree, place)
        cascade = isinstance(tree, exp.Drop) and tree.args.get("cascade")
        first = (
            [one.dropped for one in self._referring(key) if one.name is not None] if cascade else []
        )
        sources = [
            Source(_written(one), place.schema, place.catalog, self._before(one, place), text)
            for one in first
        ]
        before = self._before(tree, place) or _described(tree, former)
        sources.append(Source(text, place.schema, place.catalog, before))
        back = self._back(tree, key, place)
        if back.trees is None and former is not None:
            back = _described_back(tree, former) or back
        self._apply(tree, key, place)
        undo: tuple[Source, ...] | None = None
        if back.trees is not None:
            undo = tuple(
                Source(_written(one), place.schema, place.catalog, self._before(one, place), text)
                for one in back.trees
            )
        return StructureChange(
            Action.STATEMENT,
            table,
            note=back.why or back.lost,
            reversible=undo is not None and not back.lost,
            source=tuple(sources),
            back=undo,
            defaults=_given(tree),
        )

    def forget(self) -> None:
        """A statement was carried out whose text is not known: nothing known before it counts any
        more."""
        self.objects.clear()

    def _before(self, tree: exp.Expr, place: Place) -> str:
        """The CREATE statement of what a statement concerns: the object it names, the table of an
        index that is made or whose rows are not logged."""
        key = _key_of(tree, place)
        index = tree if isinstance(tree, exp.Create) else self.objects.get(key)
        if index is not None and key[0] == "INDEX":
            table = self.objects.get(("TABLE", *_table_of(index, place)))
            if index is tree or (
                isinstance(table, SoliddbCreateTable) and table.args.get("temporary")
            ):
                return _written(table) if table is not None else ""
        return (
            _written(self.objects[key])
            if key in self.objects and not isinstance(tree, exp.Create)
            else ""
        )

    # -- what takes a statement back
    # ---------------------------------------------------------------------------------------------

    def _back(self, tree: exp.Expr, key: ObjectKey, place: Place) -> _Back:
        kind, _, name = key
        if isinstance(tree, exp.Create):
            return _Back((exp.Drop(kind=kind, tables=[_named(tree)]),))
        if isinstance(tree, exp.TruncateTable):
            return _Back(None, "the rows that TRUNCATE took are not in the log")
        if isinstance(tree, exp.Drop):
            return self._undropped(tree, key)
        if isinstance(tree, exp.Alter):
            created = self.objects.get(key)
            back = _unaltered(tree, created, place)
            return back or _Back(None, f"what {name} was before the statement is not known")
        return _Back(None, "the statement changes no table, index, view or sequence")

    def _undropped(self, tree: exp.Drop, key: ObjectKey) -> _Back:
        kind, schema, name = key
        if key not in self.objects:
            return _Back(None, f"the definition of the {kind.lower()} {schema}.{name} is not known")
        if isinstance(self.objects[key], SoliddbCreateTable) and self.objects[key].args.get(
            "temporary"
        ):
            return _Back(())  # no target has it
        again: list[exp.Expr | None] = [self.objects[key].copy()]
        if kind == "TABLE":
            again += [
                one.copy()
                for other, one in self.objects.items()
                if other[0] == "INDEX" and _table_of(one, self.place) == (schema, name)
            ]
            again += [one.added for one in self._referring(key) if tree.args.get("cascade")]
        if None in again:
            return _Back(
                None, f"a foreign key without name that referred to {schema}.{name} went with it"
            )
        lost = {"TABLE": "the rows of the table", "SEQUENCE": "where the sequence stood"}.get(
            kind, ""
        )
        lost += (
            ", and foreign keys of tables that are not known" if tree.args.get("cascade") else ""
        )
        return _Back(tuple(one for one in again if one is not None), lost=lost)

    def _referring(self, key: ObjectKey) -> list[_Foreign]:
        """The foreign keys of other tables that refer to a table."""
        references = []
        for other, one in self.objects.items():
            for reference in (
                one.find_all(exp.Reference) if other[0] == "TABLE" and other != key else ()
            ):
                parent = (
                    reference.this.this
                    if isinstance(reference.this, exp.Schema)
                    else reference.this
                )
                if _place_of(parent, other[1]) == key[1:]:
                    references.append(_Foreign.of(one.this.this, reference))
        return references

    # -- what a statement makes of what is known
    # ------------------------------------------------------------------------------------------

    def _apply(self, tree: exp.Expr, key: ObjectKey, place: Place) -> None:
        kind, schema, name = key
        if isinstance(tree, exp.Create):
            self.objects[key] = _qualified(tree.copy(), place)
        elif isinstance(tree, exp.Drop):
            if tree.args.get("cascade"):
                for foreign in self._referring(key):
                    foreign.entry.pop()
            self.objects.pop(key, None)
            if kind == "TABLE":
                self._forget(
                    lambda other, one: (
                        other[0] == "INDEX" and _table_of(one, place) == (schema, name)
                    )
                )
        elif isinstance(tree, exp.Alter):
            self._alter(tree.args["actions"][0], key, place)

    def _forget(self, which: Callable[[ObjectKey, exp.Create], bool]) -> None:
        for key in [key for key, one in self.objects.items() if which(key, one)]:
            del self.objects[key]

    def _alter(self, action: exp.Expr, key: ObjectKey, place: Place) -> None:
        if isinstance(action, exp.AlterRename | ModifySchema | exp.RenameColumn):
            self._follow(action, key)
        created = self.objects.pop(key, None)
        if created is None:
            return
        entries = created.this.expressions
        if isinstance(action, exp.AlterRename):
            created.this.this.set("this", action.this.this.copy())
        elif isinstance(action, ModifySchema):
            created.this.this.set("db", action.this.copy())
        elif isinstance(action, exp.ColumnDef):
            last = max(
                place for place, entry in enumerate(entries) if isinstance(entry, exp.ColumnDef)
            )
            created.this.set(
                "expressions", [*entries[: last + 1], action.copy(), *entries[last + 1 :]]
            )
        elif isinstance(action, exp.AddConstraint):
            created.this.append("expressions", action.expressions[0].copy())
        elif not _changed(created, action):
            return
        self.objects[_key_of(created, place)] = created

    def _follow(self, action: exp.Expr, key: ObjectKey) -> None:
        """Indexes and foreign keys follow a table or column that is renamed; views keep their text,
        which may fail then."""
        _, schema, name = key
        self._forget(
            lambda other, one: other[0] == "VIEW" and (schema, name) in _parents(one, other[1])
        )
        for other, one in self.objects.items():
            for table in list(one.find_all(exp.Table)):
                owner = table.find_ancestor(exp.Reference, exp.Index)
                if (
                    owner is None
                    or (table is owner.this and other[0] == "INDEX")
                    or _place_of(table, other[1]) != (schema, name)
                ):
                    continue
                if isinstance(action, exp.RenameColumn):
                    columns = (
                        owner.this.expressions
                        if isinstance(owner, exp.Reference)
                        else owner.args["params"].args["columns"]
                    )
                    _rename(columns, action)
                elif isinstance(action, exp.AlterRename):
                    table.set("this", action.this.this.copy())
                else:
                    table.set("db", action.this.copy())


def _rename(trees: Iterable[exp.Expr], action: exp.RenameColumn) -> None:
    """Rename a column wherever it stands in trees; names of tables and constraints stay, and
    columns that foreign keys refer to."""
    old, new = source_name(action.this), action.args["to"]
    for tree in trees:
        for name in tree.find_all(exp.Identifier):
            named = isinstance(name.parent, exp.Table | exp.Constraint | exp.ColumnConstraint)
            referred = name is not tree and name.find_ancestor(exp.Reference) is not None
            if source_name(name) == old and not named and not referred:
                name.set("this", new.name)
                name.set("quoted", new.args.get("quoted"))


def _place_of(table: exp.Table, schema: str) -> tuple[str, str]:
    return (
        source_name(table.args["db"]) if table.args.get("db") is not None else schema
    ), source_name(table.this)


def _changed(created: exp.Create, action: exp.Expr) -> bool:
    """Make the change of an entry or column of a CREATE TABLE in place; False where what comes out
    is not known."""
    if isinstance(action, SoliddbClause):
        return True
    if isinstance(action, DropConstraint):
        constraint = _constraint(created, source_name(action.this))
        if constraint is not None:
            constraint.pop()
        return constraint is not None
    name = action.args["tables"][0].this if isinstance(action, exp.Drop) else action.this
    column = _column(created, source_name(name))
    if column is None:
        return False
    if isinstance(action, exp.Drop):
        column.pop()
    elif isinstance(action, exp.RenameColumn):
        _rename(created.this.expressions, action)
    elif isinstance(action, exp.AlterColumn):
        _alter_column(column, action)
    return True


def _alter_column(column: exp.ColumnDef, action: exp.AlterColumn) -> None:
    if action.args.get("dtype") is not None:
        column.set("kind", action.args["dtype"].copy())
        return
    null = action.args.get("allow_null")
    kind: type[exp.Expression] = (
        exp.DefaultColumnConstraint if null is None else exp.NotNullColumnConstraint
    )
    kept = [
        constraint for constraint in column.constraints if not isinstance(constraint.kind, kind)
    ]
    if action.args.get("default") is not None:
        kept.insert(
            0,
            exp.ColumnConstraint(
                kind=exp.DefaultColumnConstraint(this=action.args["default"].copy())
            ),
        )
    elif null is False:
        kept.append(exp.ColumnConstraint(kind=exp.NotNullColumnConstraint()))
    column.set("constraints", kept)


def _unaltered(tree: exp.Alter, created: exp.Create | None, place: Place) -> _Back | None:
    """What takes an ALTER TABLE back; None where the table's former state is needed and not
    known."""
    action, table = tree.args["actions"][0], tree.this
    back: exp.Expr | None = None
    lost = ""
    if isinstance(action, SoliddbClause):
        return _Back(())
    if isinstance(action, exp.ColumnDef):
        back = exp.Drop(kind="COLUMN", tables=[exp.Column(this=action.this.copy())])
    elif isinstance(action, exp.RenameColumn):
        back = exp.RenameColumn(this=action.args["to"].copy(), to=action.this.copy())
    elif isinstance(action, exp.AddConstraint):
        back = DropConstraint(this=action.expressions[0].this.copy())
    elif isinstance(action, exp.AlterRename):
        back = exp.AlterRename(this=exp.Table(this=table.this.copy()))
        table = exp.Table(
            this=action.this.this, db=table.args.get("db"), catalog=table.args.get("catalog")
        )
    elif isinstance(action, ModifySchema):
        former = table.args.get("db") or (
            exp.to_identifier(place.schema, quoted=True) if place.schema else None
        )
        back = ModifySchema(this=former.copy()) if former is not None else None
        table = exp.Table(this=table.this, db=action.this, catalog=table.args.get("catalog"))
    elif created is not None and isinstance(action, DropConstraint):
        constraint = _constraint(created, source_name(action.this))
        if isinstance(constraint, exp.Constraint):
            back = exp.AddConstraint(expressions=[constraint.copy()])
    elif created is not None and isinstance(action, exp.Drop):
        back = _column(created, source_name(action.args["tables"][0].this))
        lost = "the values of the column"
        if isinstance(back, exp.ColumnDef) and _stands_alone(back):
            back = back.copy()
        else:
            back = None
    elif created is not None and isinstance(action, exp.AlterColumn):
        column = _column(created, source_name(action.this))
        back = _unaltered_column(column, action) if column is not None else None
    if back is None:
        return None
    return _Back((exp.Alter(this=table.copy(), kind="TABLE", actions=[back]),), lost=lost)


def _given(tree: exp.Expr) -> tuple[str, ...]:
    """What rows that are there get in the columns that a statement adds, as constants of SQL."""
    actions = tree.args.get("actions") or () if isinstance(tree, exp.Alter) else ()
    added = [action for action in actions if isinstance(action, exp.ColumnDef)]
    return tuple((default_of(column) or exp.Null()).sql() for column in added)


def _stands_alone(column: exp.ColumnDef) -> bool:
    """Whether ADD COLUMN can say all of a column."""
    return all(
        isinstance(constraint.kind, exp.DefaultColumnConstraint | exp.NotNullColumnConstraint)
        for constraint in column.constraints
    )


def _unaltered_column(column: exp.ColumnDef, action: exp.AlterColumn) -> exp.AlterColumn:
    name = action.this.copy()
    if action.args.get("dtype") is not None:
        return exp.AlterColumn(this=name, dtype=column.args["kind"].copy())
    if action.args.get("allow_null") is not None:
        return (
            exp.AlterColumn(this=name, drop=True, allow_null=True)
            if is_nullable(column)
            else exp.AlterColumn(this=name, allow_null=False)
        )
    default = default_of(column)
    return (
        exp.AlterColumn(this=name, drop=True)
        if default is None
        else exp.AlterColumn(this=name, default=default.copy())
    )


# -- what a catalog knows of a table
# -------------------------------------------------------------------------------------------------


def _described_back(tree: exp.Expr, former: Table) -> _Back | None:
    """What takes a statement back as far as a catalog's description of its table says; None where
    that does not."""
    text, lost = None, ""
    definitions = {column.name: _definition(column) for column in former.columns}
    if (
        isinstance(tree, exp.Drop)
        and tree.args["kind"] == "TABLE"
        and former.columns
        and not tree.args.get("cascade")
    ):
        key = (
            [f"PRIMARY KEY ({', '.join(_quoted(name) for name in former.key)})"]
            if former.key
            else []
        )
        text = (
            None
            if None in definitions.values()
            else (
                f"CREATE TABLE {_written(_named(tree))}"
                f" ({', '.join([*map(str, definitions.values()), *key])})"
            )
        )
        lost = (
            "the rows of the table, its default values, and all constraints and indexes but its key"
        )
    elif isinstance(tree, exp.Alter) and isinstance(tree.args["actions"][0], exp.Drop):
        definition = definitions.get(source_name(tree.args["actions"][0].args["tables"][0].this))
        text = definition and f"ALTER TABLE {_written(tree.this)} ADD COLUMN {definition}"
        lost = "the values of the column and its default value"
    elif isinstance(tree, exp.Alter) and isinstance(tree.args["actions"][0], exp.AlterColumn):
        action = tree.args["actions"][0]
        columns = {column.name: column for column in former.columns}
        column = columns.get(source_name(action.this))
        head = f"ALTER TABLE {_written(tree.this)}"
        if column is not None and action.args.get("dtype") is not None and type_text(column):
            text = f"{head} MODIFY COLUMN {_quoted(column.name)} {type_text(column)}"
        elif column is not None and action.args.get("allow_null") is not None:
            text = (
                f"{head} ALTER COLUMN {_quoted(column.name)} {'DROP' if column.nullable else 'ADD'}"
                " NOT NULL"
            )
    return None if not text else _Back((read(text),), lost=lost)


def _described(tree: exp.Expr, former: Table | None) -> str:
    """Of the table of SET DEFAULT, as much as that needs: the type of the column, from a catalog's
    description."""
    action = tree.args["actions"][0] if isinstance(tree, exp.Alter) else None
    if former is None or not isinstance(action, exp.AlterColumn) or not action.args.get("default"):
        return ""
    wanted = source_name(action.this)
    definition = next((_definition(one) for one in former.columns if one.name == wanted), None)
    return f"CREATE TABLE {_written(tree.this)} ({definition})" if definition else ""


def _definition(column: Column) -> str | None:
    text = type_text(column)
    return (
        None
        if text is None
        else f"{_quoted(column.name)} {text}{'' if column.nullable else ' NOT NULL'}"
    )


def _quoted(name: str) -> str:
    return str(exp.to_identifier(name, quoted=True).sql(dialect="soliddb"))


# -- names and entries
# -------------------------------------------------------------------------------------------------


def _key_of(tree: exp.Expr, place: Place) -> ObjectKey:
    kind = str(tree.args.get("kind") or "TABLE").upper()
    name = _named(tree)
    if not isinstance(name, exp.Table):
        return kind, place.schema, source_name(name) if isinstance(name, exp.Identifier) else ""
    schema = name.args.get("db")
    return kind, source_name(schema) if schema is not None else place.schema, source_name(name.this)


def _named(tree: exp.Expr) -> exp.Expr:
    """The name of what a statement makes, changes or drops; for an index without schema an
    identifier."""
    if isinstance(tree, exp.Drop):
        named: exp.Expr = tree.args["tables"][0]
    elif isinstance(tree, exp.TruncateTable):
        named = tree.expressions[0]
    else:
        named = tree.this if isinstance(tree.this, exp.Expr) else exp.Null()
        named = named.this if isinstance(named, exp.Schema | exp.Index) else named
    named = named.copy()
    return exp.Table(this=named) if isinstance(named, exp.Identifier) else named


def _qualified(tree: exp.Create, place: Place) -> exp.Create:
    """A CREATE statement whose names state their schema, so that it means the same wherever it
    stands."""
    if isinstance(tree.this, exp.Index) and isinstance(tree.this.this, exp.Identifier):
        tree.this.set("this", exp.Table(this=tree.this.this))
    for table in tree.find_all(exp.Table):
        if table.args.get("db") is None and place.schema:
            table.set("db", exp.to_identifier(place.schema, quoted=True))
    return tree


def _parents(tree: exp.Create, schema: str) -> set[tuple[str, str]]:
    """The tables that the foreign keys of a CREATE TABLE refer to, and the tables of a view."""
    references = [
        one
        for one in tree.find_all(exp.Table)
        if tree.kind == "VIEW" or one.find_ancestor(exp.Reference)
    ]
    return {_place_of(one, schema) for one in references}


def _table_of(tree: exp.Create, place: Place) -> tuple[str, str]:
    return _place_of(tree.this.args["table"], place.schema)


def _column(created: exp.Create, name: str) -> exp.ColumnDef | None:
    columns = [
        entry
        for entry in created.this.expressions
        if isinstance(entry, exp.ColumnDef) and source_name(entry.this) == name
    ]
    return columns[0] if columns else None


def _constraint(created: exp.Create, name: str) -> exp.Expr | None:
    """A named constraint, of the table (Constraint) or of a column (ColumnConstraint)."""
    constraints = [
        one
        for one in created.find_all(exp.Constraint, exp.ColumnConstraint)
        if one.args.get("this") is not None
    ]
    return next((one for one in constraints if source_name(one.this) == name), None)


def _written(tree: exp.Expr) -> str:
    return tree.sql(dialect="soliddb", comments=False)
