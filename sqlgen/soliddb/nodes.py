"""What only solidDB has, as nodes. No other dialect's generator knows them, so they cannot be left
out by accident."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from sqlgen.ddl import ddl_grammar


class SoliddbClause(ddl_grammar.Clause):
    """A clause in solidDB's words."""


class SoliddbList(ddl_grammar.ParenthesizedList):
    """A list in parentheses inside a clause."""


class SoliddbStatement(ddl_grammar.VerbatimStatement):
    """A statement about storage or names, in solidDB's words."""


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
