"""What one ALTER TABLE does to a table's columns: the state after it from the one before, and back
(section 7.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from replay.changes.catalog import ColumnFormat
from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.ddl import Alter
from replay.logs.soliddb.tables import Attribute
from sqlgen.schema import Column


@dataclass(frozen=True)
class TableState:
    """A table at a place of the log: its attributes (None: not known) and its name. ``lost``: it
    was in another schema, which is not known."""

    attributes: tuple[Attribute, ...] | None
    schema: str
    name: str
    lost: bool = False


def _renamed_format(entry: ColumnFormat, name: str, nullable: bool | None = None) -> ColumnFormat:
    null = entry.nullable if nullable is None else nullable
    column: Column = replace(entry.column, name=name, nullable=null)
    return replace(entry, column=column, nullable=null)


def state_before(state: TableState, change: Alter) -> TableState:
    """A table before an ALTER; attributes None where that cannot be said."""
    assert state.attributes is not None
    named = {
        entry.format.column.name: entry
        for entry in state.attributes
        if entry.kind == layouts.ATTR_USER
    }
    if change.what == "name":
        return replace(state, name=change.table)
    if change.what in ("schema", "other"):
        return state
    if change.what == "drop":
        gone = [
            entry
            for entry in state.attributes
            if entry.kind == layouts.ATTR_REMOVED and entry.former == change.column
        ]
        if not gone:
            return replace(state, attributes=None)
        back = replace(
            gone[-1], kind=layouts.ATTR_USER, format=_renamed_format(gone[-1].format, change.column)
        )
        return replace(
            state,
            attributes=tuple(back if entry is gone[-1] else entry for entry in state.attributes),
        )
    name = change.new if change.what == "rename" else change.column
    if change.what == "modify" or name not in named:
        return replace(state, attributes=None)
    if change.what == "add":
        return replace(
            state, attributes=tuple(entry for entry in state.attributes if entry is not named[name])
        )
    nullable = True if change.what == "null" else None
    other = replace(
        named[name], format=_renamed_format(named[name].format, change.column, nullable)
    )
    return replace(
        state,
        attributes=tuple(other if entry is named[name] else entry for entry in state.attributes),
    )


def with_later_column(state: TableState, change: Alter) -> TableState:
    """A table before ADD COLUMN whose older images hold a value for the column all the same
    (section 20, U2)."""
    assert state.attributes is not None
    return replace(
        state,
        attributes=tuple(
            (
                replace(
                    entry,
                    kind=layouts.ATTR_LATER,
                    format=_renamed_format(
                        entry.format, f"{entry.format.column.name} (later)", True
                    ),
                )
                if entry.kind == layouts.ATTR_USER and entry.format.column.name == change.column
                else entry
            )
            for entry in state.attributes
        ),
    )


def state_after(state: TableState, change: Alter, charset: int) -> TableState | None:
    """A table after an ALTER; None where that cannot be said."""
    assert state.attributes is not None
    named = {
        entry.format.column.name: entry
        for entry in state.attributes
        if entry.kind == layouts.ATTR_USER
    }
    if change.what == "other":
        return state
    if change.what in ("name", "schema"):
        return (
            replace(state, name=change.new)
            if change.what == "name"
            else replace(state, schema=change.new)
        )
    if change.what == "add":
        added = ddl.added(
            change, max((entry.number for entry in state.attributes), default=-1) + 1, charset
        )
        return (
            None
            if added is None or change.column in named
            else replace(state, attributes=(*state.attributes, added))
        )
    if change.what == "modify" or change.column not in named:
        return None
    entry = named[change.column]
    if change.what == "drop":
        hidden = f"{layouts.REMOVED_PREFIX}{entry.number}_{change.column}"
        other = replace(
            entry,
            kind=layouts.ATTR_REMOVED,
            format=_renamed_format(entry.format, hidden, True),
            former=change.column,
        )
    else:
        name = change.new if change.what == "rename" else change.column
        other = replace(
            entry,
            format=_renamed_format(entry.format, name, True if change.what == "null" else None),
        )
    return replace(
        state, attributes=tuple(other if each is entry else each for each in state.attributes)
    )


def earlier_candidates(state: TableState) -> list[TableState]:
    """What a table may have been before an ALTER that is not known: the same, without its last
    columns, or with columns that were dropped since."""
    assert state.attributes is not None
    users = [entry for entry in state.attributes if entry.kind == layouts.ATTR_USER]
    gone = [entry for entry in state.attributes if entry.kind == layouts.ATTR_REMOVED]
    candidates = [state]
    for entry in reversed(users[1:]):
        candidates.append(
            replace(
                state,
                attributes=tuple(
                    each
                    for each in state.attributes
                    if each.number < entry.number or each.kind != layouts.ATTR_USER
                ),
            )
        )
    for entry in gone:
        back = replace(
            entry, kind=layouts.ATTR_USER, format=_renamed_format(entry.format, entry.former)
        )
        candidates.append(
            replace(
                state,
                attributes=tuple(back if each is entry else each for each in state.attributes),
            )
        )
    return candidates
