"""Which relations and columns a query of DuckDB names."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from sqlgen.errors import SqlgenError


class QueryNames(NamedTuple):
    """Names in capitals: ``relations`` as NAME or OWNER.NAME, ``columns``; None: all of them."""

    relations: frozenset[str]
    columns: frozenset[str] | None


def query_names(text: str) -> QueryNames:
    """What a query names. SqlgenError (LR1001) for what is no query, or several."""
    try:
        trees = [tree for tree in parse(text, dialect="duckdb") if tree is not None]
    except SqlglotError as error:
        message = str(error).splitlines()[0]
        raise SqlgenError(
            "LR1001", f"found a query that cannot be parsed: {message}; expected one SELECT"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise SqlgenError("LR1001", "found no query, or several statements; expected one SELECT")
    tree = trees[0]
    relations = frozenset(
        ".".join(part for part in (table.db, table.name) if part).upper()
        for table in tree.find_all(exp.Table)
    )
    # a * takes all columns, and so may what is said of a whole row
    names = frozenset(column.name.upper() for column in tree.find_all(exp.Column))
    rows = {table.alias_or_name.upper() for table in tree.find_all(exp.Table)}
    every = tree.find(exp.Star, exp.Columns) is not None or bool(names & rows)
    joins = list(tree.find_all(exp.Join))
    every = every or any(join.method for join in joins)  # NATURAL takes the columns of both
    using = frozenset(name.name.upper() for join in joins for name in join.args.get("using") or ())
    return QueryNames(relations, None if every else names | using)
