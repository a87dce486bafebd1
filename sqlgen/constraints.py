"""Constraints: the unique keys and foreign keys that DDL states about the tables of a log.

Names are those of the log: DDL names are matched without regard to case, with the schema where both
state one and by the table's name alone where only one table of the log has it. Statements about
other tables, and everything but keys, are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlgen.lazy_imports import when_used
from sqlgen.schema import Table

with when_used():  # where there is DDL
    from sqlgen.ddl import ddl_reader


#: What a foreign key may do to rows of its table by itself.
ACTIONS = frozenset({"CASCADE", "SET NULL", "SET DEFAULT"})


@dataclass(frozen=True)
class ForeignKey:
    """``columns`` of ``table`` refer to ``parent_columns`` of ``parent`` (tables as OWNER.NAME; no
    parent columns: its primary key).

    ``on_delete`` is NO ACTION, RESTRICT, CASCADE, SET NULL or SET DEFAULT; of the last two,
    ``set_columns`` are those that it sets where these are not all. ``deferrable``: the check can
    wait for the end of a transaction; what else happens on a delete never waits.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...] = ()
    on_delete: str = "NO ACTION"
    deferrable: bool = False
    set_columns: tuple[str, ...] = ()
    on_update: str = "NO ACTION"

    @property
    def waits(self) -> bool:
        """Whether the whole constraint can be left to the end of a transaction."""
        return self.deferrable and self.on_delete == "NO ACTION"


_KeysByTable = dict[str, dict[tuple[str, ...], tuple[str, ...]]]


@dataclass(frozen=True)
class Constraints:
    """``keys``: (OWNER.NAME, columns) of primary and unique keys. ``unused``: what was found and
    cannot be used, in words; ``outside``: (OWNER.NAME, in words) of foreign keys to tables that the
    log does not have; ``referred``: (OWNER.NAME, columns in upper case) of keys that such tables
    refer to. ``complete``: the foreign keys are all that there are, even where there are
    none; else nobody told of others. ``unread``: what is not understood and may state a key of
    these tables, in words; ``passed``: how many statements are about other things; ``acting``:
    foreign keys to tables of the log that change rows by themselves, those of other tables too.
    ``deferrable``: those of ``keys`` whose check can wait for the end of a transaction;
    ``history``: (OWNER.NAME of a history table, of its temporal table), whose rows the database
    writes. ``strange``: no statement of the DDL is about one of these tables; ``notes``: how it was
    read."""

    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unused: tuple[str, ...] = ()
    outside: tuple[tuple[str, str], ...] = ()
    referred: tuple[tuple[str, tuple[str, ...]], ...] = ()
    complete: bool = False
    unread: tuple[str, ...] = ()
    passed: int = field(default=0, compare=False)
    strange: bool = field(default=False, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    acting: tuple[ForeignKey, ...] = field(default=(), compare=False)
    history: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    deferrable: frozenset[tuple[str, frozenset[str]]] = frozenset()

    @property
    def tell_foreign_keys(self) -> bool:
        """Whether foreign keys are known: some are named, or it is stated that there are none."""
        return self.complete or bool(self.foreign_keys)

    def keys_of(self, table: str) -> list[tuple[str, ...]]:
        """The unique keys of a table: those stated, and those that foreign keys refer to."""
        return list(self._by_table[0].get(table, {}).values())

    def firm(self) -> Constraints:
        """The constraints without the foreign keys that can wait; the keys these refer to stay."""
        return self._without(tuple(foreign for foreign in self.foreign_keys if foreign.waits))

    def without_foreign_keys(self) -> Constraints:
        """The unique keys alone, those that foreign keys refer to among them: for where foreign
        keys do not act."""
        return replace(self._without(self.foreign_keys), referred=())

    def _without(self, gone: Sequence[ForeignKey]) -> Constraints:
        """All but some of the foreign keys; the keys that these refer to stay."""
        keys = tuple(
            (foreign.parent, foreign.parent_columns) for foreign in gone if foreign.parent_columns
        )
        known = set(gone)
        return replace(
            self,
            keys=tuple(dict.fromkeys(self.keys + keys)),
            foreign_keys=tuple(one for one in self.foreign_keys if one not in known),
        )

    def foreign_keys_of(self, table: str) -> list[ForeignKey]:
        """The foreign keys of a child table."""
        return list(self._by_table[1].get(table, ()))

    @cached_property
    def _by_table(self) -> tuple[_KeysByTable, dict[str, list[ForeignKey]]]:
        """Unique keys by their columns in order, and foreign keys, of each table."""
        keys: _KeysByTable = {}
        foreign_keys: dict[str, list[ForeignKey]] = {}
        referred = [(foreign.parent, foreign.parent_columns) for foreign in self.foreign_keys]
        for name, columns in (*self.keys, *(entry for entry in referred if entry[1])):
            keys.setdefault(name, {})[tuple(sorted(columns))] = columns
        for foreign in self.foreign_keys:
            foreign_keys.setdefault(foreign.table, []).append(foreign)
        return keys, foreign_keys


def parse_constraints(
    text: str, dialect: str, tables: Sequence[Table], lenient: bool = False
) -> Constraints:
    """The keys that the DDL statements in ``text`` state about ``tables``.

    SqlgenError LR1010 when nothing in the text is understood as SQL of the dialect, or a key names
    a column that the log's table does not have; a ``lenient`` reader passes over such a key.
    """
    return ddl_reader.read_schema(text, dialect, tuple(tables), lenient).constraints
