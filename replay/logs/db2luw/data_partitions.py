"""Range-partitioned tables: one table under several ids, those of its data partitions. The log
says of each partition what becomes of it, and a script says it of the table, once (format notes,
section 20).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace

from replay.logs.db2luw.tables import LuwTable, TableId
from sqlgen.structure import Action, StructureChange

#: What empties a partition, or takes it away.
_EMPTIES = (Action.TRUNCATE, Action.DROP_TABLE)


def partitions_of(tables: Mapping[TableId, LuwTable]) -> dict[TableId, Sequence[TableId]]:
    """Of each id that a table of ``tables`` shares with others: all of these. A partitioned table
    has an id of its own too, with negative numbers, that no record has."""
    shared: dict[int, list[TableId]] = {}
    for key, entry in tables.items():
        if min(key) >= 0:
            shared.setdefault(id(entry), []).append(key)
    return {key: keys for keys in shared.values() if len(keys) > 1 for key in keys}


def joined(
    events: Iterable[tuple[int, int, TableId, StructureChange]],
    partitions: Mapping[TableId, Sequence[TableId]],
    name_at: Callable[[TableId, int], tuple[str, str]],
    changes: MutableMapping[int, StructureChange],
) -> dict[int, bool]:
    """Make one change of a table of those of its partitions: ``changes`` (by record) has it at the
    first of them. ``events``: (record, unit, id, change) of partitions, in the order of the log;
    ``name_at``: which table (schema, name) an id is of behind a record.

    Of records that empty a partition: whether that is all they do, so that the rest of the table
    stays (True), or another record of their unit says it of the whole table (False)."""
    groups: dict[object, list[tuple[int, TableId, StructureChange]]] = {}
    for row, unit, key, change in events:
        if change.action is Action.NOTE:
            continue
        what = change if change.action is Action.ADD_COLUMNS else change.action
        name = change.table.schema, change.table.name
        groups.setdefault((unit, name, what), []).append((row, key, change))
    emptied: dict[int, bool] = {}
    for group in groups.values():
        (first, key, change), rest = group[0], [row for row, _, _ in group[1:]]
        name = change.table.schema, change.table.name
        before = {other for other in partitions[key] if name_at(other, first - 1) == name}
        if change.action in _EMPTIES and before - {other for _, other, _ in group}:
            emptied.update((row, True) for row in (first, *rest))
            changes.pop(first, None)
        elif change.action is Action.CREATE_TABLE and before:
            note = replace(change, action=Action.NOTE, note="has one more data partition")
            changes.update((row, note) for row in (first, *rest))
            continue
        elif change.action in _EMPTIES:
            emptied.update((row, False) for row in rest)
        for row in rest:
            changes.pop(row, None)
    return emptied
