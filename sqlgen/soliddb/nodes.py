"""What only solidDB has, as nodes. No other dialect's generator knows them, so they cannot be left
out by accident."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp


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
