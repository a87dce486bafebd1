"""What a statement in a log says of the columns of one table that rows depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlgen.ddl.ddl_clauses import Clause, ColumnEntry
from sqlgen.ddl.ddl_facts import TableNames
from sqlgen.ddl.ddl_tables import OF_CONSTRAINTS, TableReader
from sqlgen.ddl.ddl_tokens import Cursor, NotUnderstood


@dataclass(frozen=True)
class Alteration:
    """A statement about a table: ``verb`` (CREATE, ALTER, DROP), the table's schema and name, the
    columns that it ``added``, those whose default it ``changed``, and whether it ``recasts`` rows:
    it drops columns, or gives them other types. ``clear``: all of it was understood. Names are in
    upper case."""

    verb: str
    schema: str
    table: str
    added: Mapping[str, ColumnEntry]
    changed: frozenset[str]
    recasts: bool
    clear: bool


def alteration(text: str, dialect: str, schema: str) -> Alteration | None:
    """What a statement says of a table; None where it is about none. ``schema``: that of names
    without one."""
    return _Reader(text, dialect, None).alteration(schema)


class _Reader(TableReader):
    def alteration(self, schema: str) -> Alteration | None:
        """See above."""
        self.schema, self.names, self.recasts = schema, TableNames(()), False
        self.statement = next(iter(self.script.statements()), self.statement)
        words = list(self.statement.words[:3])
        if words[:2] not in (["CREATE", "TABLE"], ["ALTER", "TABLE"], ["DROP", "TABLE"]):
            return None
        cursor = Cursor(self.statement, 0, len(self.statement.tokens), self.taken)
        clear = True
        try:
            if words[0] == "ALTER":
                self._alter(cursor)
            else:
                cursor.skip(2)
                self._stated(cursor)
        except NotUnderstood:
            clear = False
        if not self.own:
            return None
        owner, name = self._qualified(self.own, schema)
        columns = self.facts[self.table].columns if self.table in self.facts else {}
        return Alteration(
            words[0],
            owner,
            name,
            {column: said for column, said in columns.items() if said.type},
            frozenset(column for column, said in columns.items() if not said.type),
            self.recasts or self._retypes(),
            clear and not self.unread and all(not said.strange for said in columns.values()),
        )

    def _retypes(self) -> bool:
        """Whether a column gets another type; texts that vary lie in rows as before."""
        words = [token.upper for token in self.statement.tokens]
        kinds = [
            words[place + 3 : place + 4]
            for place in range(len(words))
            if words[place : place + 3] == ["SET", "DATA", "TYPE"]
        ]
        return any(kind not in (["VARCHAR"], ["VARGRAPHIC"], ["VARBINARY"]) for kind in kinds)

    def _find(self, parts: Sequence[str]) -> str:
        return ".".join(self._qualified(parts, self.schema))

    def _changes_keys(self, action: Cursor, drops: str = "") -> None:
        """What is dropped and is no constraint is a column."""
        words = {*action.words()}
        self.recasts |= "DROP" in words and not words & OF_CONSTRAINTS
        action.skip(action.end - action.at)

    def _clause(self, clause: Clause | None) -> None:
        """Keys and checks leave rows as they are."""
