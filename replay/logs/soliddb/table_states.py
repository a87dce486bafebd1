"""What one ALTER TABLE does to a table's columns: the state after it from the one before, and back
(section 7.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from replay.logs.soliddb import ddl, layouts
from replay.logs.soliddb.tables import Attribute
from sqlgen.soliddb.table_shape import Alter


@dataclass(frozen=True)
class TableState:
    """A table at a place of the log: its attributes (None: not known) and its name. ``lost``: it
    was in another schema, which is not known."""

    attributes: tuple[Attribute, ...] | None
    schema: str
    name: str
    lost: bool = False


def _users(state: TableState) -> dict[str, Attribute]:
    """The columns of a table by their names."""
    return {
        entry.format.column.name: entry
        for entry in state.attributes or ()
        if entry.kind == layouts.ATTR_USER
    }


def _changed(
    state: TableState, entry: Attribute, name: str, null: bool | None = None, **more: Any
) -> TableState:
    """The table with an attribute under another name; ``null``: whether it allows null, if that
    changes too."""
    nullable = entry.format.nullable if null is None else null
    column = replace(entry.format.column, name=name, nullable=nullable)
    other = replace(entry, format=replace(entry.format, column=column, nullable=nullable), **more)
    attributes = state.attributes or ()
    return replace(state, attributes=tuple(other if each is entry else each for each in attributes))


def state_before(state: TableState, change: Alter) -> TableState:
    """A table before an ALTER; attributes None where that cannot be said."""
    assert state.attributes is not None
    named = _users(state)
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
        return _changed(state, gone[-1], change.column, kind=layouts.ATTR_USER)
    name = change.new if change.what == "rename" else change.column
    if change.what == "modify" or name not in named:
        return replace(state, attributes=None)
    if change.what == "add":
        return replace(
            state, attributes=tuple(entry for entry in state.attributes if entry is not named[name])
        )
    return _changed(state, named[name], change.column, True if change.what == "null" else None)


def with_later_column(state: TableState, change: Alter) -> TableState:
    """A table before ADD COLUMN whose older images hold a value for the column all the same
    (section 20, U2)."""
    entry = _users(state).get(change.column)
    if entry is None:
        return state
    return _changed(state, entry, f"{change.column} (later)", True, kind=layouts.ATTR_LATER)


def state_after(state: TableState, change: Alter, charset: int) -> TableState | None:
    """A table after an ALTER; None where that cannot be said."""
    assert state.attributes is not None
    named = _users(state)
    if change.what == "other":
        return state
    if change.what in ("name", "schema"):
        return (
            replace(state, name=change.new)
            if change.what == "name"
            else replace(state, schema=change.new)
        )
    if change.what == "add":
        assert change.added is not None
        number = max((entry.number for entry in state.attributes), default=-1) + 1
        added = ddl.attribute(change.added, number, charset)
        if change.column in named:
            return None
        return replace(state, attributes=(*state.attributes, added))
    if change.what == "modify" or change.column not in named:
        return None
    entry = named[change.column]
    if change.what == "drop":
        hidden = f"{layouts.REMOVED_PREFIX}{entry.number}_{change.column}"
        kind = layouts.ATTR_REMOVED
        return _changed(state, entry, hidden, True, kind=kind, former=change.column)
    name = change.new if change.what == "rename" else change.column
    return _changed(state, entry, name, True if change.what == "null" else None)


def earlier_candidates(state: TableState) -> list[TableState]:
    """What a table may have been before an ALTER that is not known: the same, without its last
    columns, or with columns that were dropped since."""
    assert state.attributes is not None
    users = list(_users(state).values())
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
        candidates.append(_changed(state, entry, entry.former, kind=layouts.ATTR_USER))
    return candidates
