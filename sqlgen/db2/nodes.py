"""What only Db2 has, as nodes. No other dialect's generator knows them, so they cannot be left out
by accident."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from sqlgen import ddl_grammar
from sqlgen.db2.words import USUAL_KEY_OPTIONS


class Db2Clause(ddl_grammar.Clause):
    """A clause in Db2's words."""


class Db2List(ddl_grammar.ParenthesizedList):
    """A list in parentheses inside a clause."""


class Db2Statement(ddl_grammar.VerbatimStatement):
    """A statement about storage or names, in Db2's words."""


class Db2CreateTable(exp.Create):
    """CREATE TABLE with clauses after its columns: where it is stored, how it is partitioned,
    logged, compressed."""

    arg_types: ClassVar = {**exp.Create.arg_types, "clauses": False, "temporary": False}


class CreateIndex(exp.Create):
    """CREATE INDEX with clauses: where it is stored, what it includes."""

    arg_types: ClassVar = {**exp.Create.arg_types, "clauses": False, "where_not_null": False}


class CreateTrigger(exp.Create):
    """CREATE TRIGGER. ``clauses`` before the body, ``expression`` the body."""

    arg_types: ClassVar = {
        **exp.Create.arg_types,
        "timing": True,
        "event": True,
        "columns": False,
        "table": True,
        "clauses": False,
        "when": False,
    }


class Compound(exp.Expression):
    """``BEGIN [ATOMIC] statement; … END``."""

    arg_types: ClassVar = {"expressions": False, "atomic": False}


class Assignment(exp.Expression):
    """``SET target = value, …``: special registers at the top, variables in a trigger."""

    arg_types: ClassVar = {"expressions": True}


class IfStatement(exp.Expression):
    """``IF condition THEN statements [ELSE statements] END IF``."""

    arg_types: ClassVar = {"this": True, "expressions": True, "otherwise": False}


class SpecialRegister(exp.Expression):
    """``CURRENT SQLID`` and the like."""

    arg_types: ClassVar = {"this": True}


class SequenceValue(exp.Expression):
    """``NEXT VALUE FOR sequence`` (``this`` NEXT or PREVIOUS)."""

    arg_types: ClassVar = {"this": True, "expression": True}


class HexConstant(exp.Expression):
    """``X'41FF'`` with its prefix in ``kind``: characters in the encoding of the statement (X),
    binary (BX), graphic (GX), UTF-16 (UX)."""

    arg_types: ClassVar = {"this": True, "kind": True}


class ChangeTable(exp.Expression):
    """``FINAL TABLE (INSERT …)``: the rows that a change made (``kind`` FINAL, NEW or OLD)."""

    arg_types: ClassVar = {"this": True, "kind": True, "alias": False}


class SystemDefault(exp.Expression, exp.ColumnConstraintKind):
    """``WITH DEFAULT`` without a value: the default of the type."""

    arg_types: ClassVar = {}


class ColumnClause(exp.Expression, exp.ColumnConstraintKind):
    """A clause of a column that only Db2 has (``CCSID 1208``, ``IMPLICITLY HIDDEN``, ``GENERATED …
    FOR EACH ROW ON UPDATE``)."""

    arg_types: ClassVar = {"this": True}


class IdentityOptions(exp.GeneratedAsIdentityColumnConstraint):
    """An identity column with options that sqlglot's own node does not hold (CACHE, ORDER, and
    bounds without START)."""

    arg_types: ClassVar = {**exp.GeneratedAsIdentityColumnConstraint.arg_types, "options": True}


class CheckWithOptions(exp.CheckColumnConstraint):
    """A check, and in ``options`` whether Db2 sees to it (``NOT ENFORCED``)."""

    arg_types: ClassVar = {**exp.CheckColumnConstraint.arg_types, "options": True}


class TableClause(exp.Expression):
    """An entry between the parentheses of CREATE TABLE that only Db2 has: a period, a key over a
    period."""

    arg_types: ClassVar = {"this": True}


def with_bytes(tree: exp.Expr) -> exp.Expr:
    """A tree with constants of bytes (``X'41FF'``) as sqlglot's own nodes."""

    def one(node: exp.Expr) -> exp.Expr:
        is_bytes = isinstance(node, HexConstant) and node.args["kind"] in ("X", "BX")
        return exp.HexString(this=node.name) if is_bytes else node

    return tree.transform(one)


def portable(tree: exp.Expr) -> tuple[exp.Expr, list[str]]:
    """A copy of a CREATE TABLE or CREATE INDEX without what is about storage in Db2 alone, and what
    was taken off, in words.

    Clauses that say something about the rows themselves (periods, row change timestamps, LIKE)
    stay, and raise when written for another dialect.
    """
    taken: list[str] = []
    tree = tree.copy()
    if isinstance(tree, Db2CreateTable | CreateIndex):
        clauses = tree.args.get("clauses") or []
        kept = [clause for clause in clauses if clause.words not in STORAGE]
        taken += [clause.sql(dialect="db2") for clause in clauses if clause.words in STORAGE]
        if not kept and not tree.args.get("temporary") and not tree.args.get("where_not_null"):
            plain = exp.Create(
                **{name: value for name, value in tree.args.items() if name in exp.Create.arg_types}
            )
            tree = plain
        else:
            tree.set("clauses", kept)
    for constraint in list(tree.find_all(exp.ColumnConstraint)):
        if isinstance(constraint.kind, ColumnClause) and constraint.kind.this.words in STORAGE:
            taken.append(constraint.sql(dialect="db2"))
            constraint.pop()
        elif isinstance(constraint.kind, IdentityOptions):
            options = constraint.kind.args["options"]
            taken += [option.sql(dialect="db2") for option in options]
            kind = exp.GeneratedAsIdentityColumnConstraint(
                **{name: value for name, value in constraint.kind.args.items() if name != "options"}
            )
            constraint.set("kind", kind)
    _without_usual_options(tree)
    return tree, taken


def _without_usual_options(tree: exp.Expr) -> None:
    """Take off what keys and checks say of the rule that holds anyway (``ENFORCED``)."""
    for node in list(tree.walk()):
        options = node.args.get("options")
        if not isinstance(options, list) or isinstance(node, IdentityOptions):
            continue
        kept = [option for option in options if option_words(option) not in USUAL_KEY_OPTIONS]
        if kept or not isinstance(node, CheckWithOptions):
            node.set("options", kept or None)
        else:
            node.replace(exp.CheckColumnConstraint(this=node.this))


def option_words(option: str | exp.Expr) -> str:
    """The words of an option of a key or check."""
    return option.words if isinstance(option, Db2Clause) else str(option).upper()


#: Words of clauses that say how Db2 stores or guards a thing, and nothing about its rows.
STORAGE = frozenset(
    {
        "IN", "IN DATABASE", "INDEX IN", "LONG IN", "CCSID", "AUDIT", "DATA CAPTURE",
        "WITH RESTRICT ON DROP", "VOLATILE",
        "NOT VOLATILE", "APPEND", "LOGGED", "NOT LOGGED", "NOT LOGGED INITIALLY", "COMPRESS",
        "VALUE COMPRESSION",
        "PARTITION BY", "DISTRIBUTE BY", "ORGANIZE BY", "BUFFERPOOL", "DSSIZE", "SEGSIZE",
        "TRACKMOD", "EDITPROC", "VALIDPROC",
        "OBID", "CARDINALITY", "NOT CARDINALITY", "MEMBER CLUSTER", "KEY LABEL", "NO KEY LABEL",
        "LOCKSIZE", "LOCKMAX",
        "PAGENUM", "PCTFREE", "FREEPAGE", "GBPCACHE", "USING STOGROUP", "USING VCAT", "PRIQTY",
        "SECQTY", "ERASE", "CLUSTER",
        "NOT CLUSTER", "CLOSE", "COPY", "DEFINE", "DEFER", "PIECESIZE", "PADDED", "NOT PADDED",
        "PARTITIONED", "NOT PARTITIONED",
        "ALLOW REVERSE SCANS", "DISALLOW REVERSE SCANS", "COLLECT STATISTICS",
        "COLLECT DETAILED STATISTICS",
        "COLLECT SAMPLED DETAILED STATISTICS", "MINPCTUSED", "PAGE SPLIT", "LEVEL2 PCTFREE",
        "INLINE LENGTH", "COMPACT",
        "NOT COMPACT", "IMPLICITLY HIDDEN", "NOT HIDDEN", "COMPRESS SYSTEM DEFAULT", "FIELDPROC",
        "FOR SBCS DATA",
        "FOR MIXED DATA", "SECURED WITH", "OPTIONS", "INCLUDE",
    }
)  # fmt: skip
