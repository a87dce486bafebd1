"""Changes of table structure: what happened, as data, what takes it back, and the statements for
either."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from sqlgen import ddl
from sqlgen.ddl import TableIndex
from sqlgen.dialects import Profile
from sqlgen.errors import SqlgenError
from sqlgen.schema import Column, Table
from sqlgen.statements import truncate_statement


class Action(Enum):
    """What happened to a table. ``NOTE`` is an event that no statement repeats, such as a
    reorganisation."""

    CREATE_TABLE = "create table"
    DROP_TABLE = "drop table"
    RENAME_TABLE = "rename table"
    ADD_COLUMNS = "add columns"
    DROP_COLUMNS = "drop columns"
    RENAME_COLUMN = "rename column"
    CREATE_INDEX = "create index"
    DROP_INDEX = "drop index"
    TRUNCATE = "truncate"
    STATEMENT = "statement"
    NOTE = "note"


_INVERSE = {
    Action.CREATE_TABLE: Action.DROP_TABLE,
    Action.DROP_TABLE: Action.CREATE_TABLE,
    Action.RENAME_TABLE: Action.RENAME_TABLE,
    Action.ADD_COLUMNS: Action.DROP_COLUMNS,
    Action.DROP_COLUMNS: Action.ADD_COLUMNS,
    Action.RENAME_COLUMN: Action.RENAME_COLUMN,
    Action.CREATE_INDEX: Action.DROP_INDEX,
    Action.DROP_INDEX: Action.CREATE_INDEX,
    Action.NOTE: Action.NOTE,
}


@dataclass(frozen=True)
class Source:
    """A statement of solidDB as the log has it; ``schema`` and ``catalog`` of names that state
    none; ``before``: the CREATE statement of the object it changes or drops, as it was then ('' not
    known); ``stands_for``: the statement of the log, where this one is a part of it or takes it
    back.
    """

    text: str
    schema: str = ""
    catalog: str = ""
    before: str = ""
    stands_for: str = ""


@dataclass(frozen=True)
class StructureChange:
    """``table`` is the table after the change (before it for DROP_TABLE and renames); ``columns``
    are those added or dropped; ``note`` says in words what happened; ``index`` for indexes;
    ``old_name`` and ``new_name`` for renames. ``reversible`` False: what was there before is not in
    the log (values that a drop takes along), so it cannot be taken back.

    A STATEMENT is said by the source's own statements: ``source``, and ``back`` those that take it
    back (None: its former state is not known, and ``note`` says of what).
    :mod:`sqlgen.soliddb.history` makes them. ``effect``: what a STATEMENT does to the table, where
    it makes, drops or changes one; ``former``: the table before that, where there was one.

    ``defaults``: what rows that are there get in columns that are added, as constants of SQL (None:
    that is not known); none given: NULL."""

    action: Action
    table: Table
    columns: tuple[Column, ...] = ()
    note: str = ""
    reversible: bool = True
    index: TableIndex | None = None
    old_name: str = ""
    new_name: str = ""
    source: tuple[Source, ...] = ()
    back: tuple[Source, ...] | None = None
    effect: Action | None = None
    former: Table | None = None
    defaults: tuple[str | None, ...] = ()

    @property
    def does(self) -> Action:
        """The action, or that of a STATEMENT."""
        return self.effect or self.action

    def inverse(self, values: bool = True) -> StructureChange | None:
        """The change that takes this one back; None where the former state is not known. Without
        ``values`` the structure is enough: a table that was dropped comes back empty."""
        if (
            self.action is Action.STATEMENT
            and self.back is not None
            and (self.reversible or not values)
        ):
            return replace(self, source=self.back, back=self.source, effect=None, former=None)
        if (
            (values and not self.reversible)
            or self.action not in _INVERSE
            or (self.action is Action.DROP_TABLE and not self.table.columns)
        ):
            return None
        table = self.table
        if self.action is Action.RENAME_TABLE:
            table = replace(table, name=self.new_name)
        elif self.action is Action.RENAME_COLUMN:
            columns = tuple(
                replace(c, name=self.new_name) if c.name == self.old_name else c
                for c in table.columns
            )
            key = tuple(
                self.new_name if column == self.old_name else column for column in table.key
            )
            table = replace(table, columns=columns, key=key)
        return replace(
            self,
            action=_INVERSE[self.action],
            table=table,
            old_name=self.new_name,
            new_name=self.old_name,
        )


def statements(change: StructureChange, profile: Profile, names: str) -> list[str]:
    """The statements of a change, each on one line and ending in ``;``; a comment for a NOTE.
    SqlgenError (LR3003) for what the target cannot say."""
    table = change.table
    if change.action is Action.STATEMENT:
        return [text for one in change.source for text in _translated(one, profile, names)]
    if change.action is Action.NOTE:
        return [f"-- {table.schema}.{table.name}: {change.note}"]
    if change.action is Action.CREATE_TABLE:
        return [ddl.create_table(table, profile, names)]
    if change.action is Action.DROP_TABLE:
        return [ddl.drop_table(table, profile, names)]
    if change.action is Action.RENAME_TABLE:
        return [ddl.rename_table(table, change.new_name, profile, names)]
    if change.action is Action.ADD_COLUMNS:
        return ddl.add_columns(table, change.columns, profile, names, change.defaults)
    if change.action is Action.DROP_COLUMNS:
        return ddl.drop_columns(table, change.columns, profile, names)
    if change.action is Action.RENAME_COLUMN:
        return [ddl.rename_column(table, change.old_name, change.new_name, profile, names)]
    if change.action is Action.TRUNCATE:
        return [truncate_statement(table, profile, names)]
    if change.index is None:
        raise SqlgenError(
            "LR3003", f"found {change.action.value} without an index; expected its definition"
        )
    statement = (ddl.create_index if change.action is Action.CREATE_INDEX else ddl.drop_index)(
        change.index, profile, names
    )
    return [statement] if statement else []


def _translated(source: Source, profile: Profile, names: str) -> list[str]:
    from sqlgen.ddl.expressions import Place  # only a log of solidDB needs these
    from sqlgen.soliddb.table_shape import shown
    from sqlgen.soliddb.translate import target_statements

    try:
        return target_statements(
            source.text, profile.name, names, Place(source.schema, source.catalog), source.before
        )
    except SqlgenError as error:
        if not source.stands_for:
            raise
        found, expected, rest = error.message.partition("; expected ")
        raise SqlgenError(
            error.code, f"{found} (for {shown(source.stands_for)}){expected}{rest}", error.hint
        ) from None
