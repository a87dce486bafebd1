"""What DDL renames, moves to another schema, or drops of a table, token by token in the words of
any database; the forms that state it plainly, no others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sqlgen.ddl_grammar import Clause, VerbatimStatement
from sqlgen.ddl_script import ScriptToken, after_name, close_of, entries
from sqlgen.key_clauses import NotUnderstood, identifier, table_of

#: Words of ALTER TABLE … RENAME and DROP that are about no column.
_NO_COLUMN = frozenset(
    "PARTITION SUBPARTITION PERIOD SYSTEM VERSIONING SUPPLEMENTAL STATISTICS PROJECTION FIELD"
    " RESTRICT CLONE IMMUTABILITY CHECK ROW SEARCH TAG MASKING AGGREGATION STORAGE DISTRIBUTION"
    " MATERIALIZED LOB CONSTRAINT PRIMARY FOREIGN UNIQUE INDEX KEY TABLE LABEL OPTION"
    " FEATURE".split()
)
_BEHAVIOUR = frozenset({"CASCADE", "RESTRICT", "CONSTRAINTS", "INVALIDATE", "CHECKPOINT", "ONLINE"})
_IF_EXISTS = ["IF", "EXISTS"]
Pieces = Sequence[ScriptToken]


def _upper(pieces: Pieces) -> list[str]:
    return [piece.upper for piece in pieces]


def _without_if(pieces: Pieces) -> Pieces:
    return pieces[2:] if _upper(pieces[:2]) == _IF_EXISTS else pieces


def _is_name(pieces: Pieces) -> bool:
    """Whether tokens are one name of several parts."""
    return (
        bool(pieces) and pieces[0].kind in ("word", "name") and after_name(pieces, 0) == len(pieces)
    )


def altered(table: exp.Table, action: exp.Expr) -> exp.Alter:
    """ALTER TABLE with one action."""
    return exp.Alter(this=table.copy(), kind="TABLE", actions=[action])


def renamed_table(table: exp.Table, new: exp.Table) -> exp.Alter:
    """A table's new name; without a schema it stays in its own."""
    return altered(table, exp.AlterRename(this=new))


def rename_statement(pieces: Pieces) -> list[exp.Expr] | None:
    """The trees of ``RENAME [TABLE] a TO b [, c TO d]``, ``RENAME INDEX a TO b``, ``ALTER INDEX a
    RENAME TO b`` and ``ALTER SCHEMA s TRANSFER t``; None where a statement is none of them."""
    words = _upper(pieces[:3])
    if words[:2] == ["RENAME", "INDEX"] and "TO" in _upper(pieces):
        at = _upper(pieces).index("TO")
        return _renamed_index(_without_if(pieces[2:at]), pieces[at + 1 :])
    if words[0] == "RENAME":
        rest = _without_if(pieces[2:] if words[1:2] == ["TABLE"] else pieces[1:])
        pairs = [_pair(entry) for entry in entries(rest)]
        trees: list[exp.Expr] = [renamed_table(*pair) for pair in pairs if pair is not None]
        return trees if trees and len(trees) == len(pairs) else None
    if words[:2] == ["ALTER", "INDEX"]:
        rest = _without_if(pieces[2:])
        end = after_name(rest, 0)
        if _upper(rest[end : end + 2]) == ["RENAME", "TO"]:
            return _renamed_index(rest[:end], rest[end + 2 :])
    if words[:2] == ["ALTER", "SCHEMA"] and _upper(pieces[3:4]) == ["TRANSFER"]:
        name = [piece for piece in pieces[4:] if piece.text != ":"]
        name = name[1:] if _upper(name[:1]) == ["OBJECT"] and len(name) > 1 else name
        if _is_name(name):
            table = table_of(name)
            return [renamed_table(table, _in_schema(table, pieces[2]))]
    return None


def sp_rename(pieces: Pieces) -> exp.Alter | None:
    """SQL Server's procedure that renames a table or a column, called with texts; None where it
    may rename something else."""
    words = _upper(pieces)
    if words[0] not in ("EXEC", "EXECUTE", "SP_RENAME"):
        return None
    at = next((i for i, piece in enumerate(pieces) if _plain(piece).upper() == "SP_RENAME"), -1)
    said = [entry[-1] for entry in entries(pieces[at + 1 :])]
    if at < 0 or not 2 <= len(said) <= 3 or any(piece.kind != "text" for piece in said):
        return None
    old, new, *kind = (re.sub(r"\A[Nn]?'|'\Z", "", piece.text).replace("''", "'") for piece in said)
    parts = [part[1:-1] if part[:1] in '["' else part for part in old.split(".")]
    named = [exp.to_identifier(part, quoted=True) for part in parts]
    to = exp.to_identifier(new, quoted=True)
    if [one.upper() for one in kind] == ["COLUMN"] and len(named) in (2, 3):
        table = exp.Table(this=named[-2], db=named[-3] if len(named) == 3 else None)
        return altered(table, exp.RenameColumn(this=named[-1], to=to))
    if [one.upper() for one in kind] in ([], ["OBJECT"]) and len(named) <= 2:
        table = exp.Table(this=named[-1], db=named[-2] if len(named) == 2 else None)
        return renamed_table(table, exp.Table(this=to))
    return None


def _plain(piece: ScriptToken) -> str:
    return piece.text.strip('[]"')


def _renamed_index(old: Pieces, new: Pieces) -> list[exp.Expr] | None:
    if not (_is_name(old) and _is_name(new)):
        return None
    names = [identifier(old[-1]), identifier(new[-1])]
    return [VerbatimStatement(this="RENAME INDEX", expressions=names)]


def _pair(entry: Pieces) -> tuple[exp.Table, exp.Table] | None:
    """The names on both sides of TO."""
    if "TO" not in _upper(entry):
        return None
    at = _upper(entry).index("TO")
    old, new = entry[:at], entry[at + 1 :]
    return (table_of(old), table_of(new)) if _is_name(old) and _is_name(new) else None


def _in_schema(table: exp.Table, schema: ScriptToken) -> exp.Table:
    return exp.Table(this=table.this.copy(), db=identifier(schema))


def rename_action(table: exp.Table, action: Pieces, dialect: str) -> exp.Expr | None:
    """What an action of ALTER TABLE renames or moves: AlterRename, RenameColumn, or a clause with
    the old and new name of a constraint or index; None where it is no such action."""
    words = _upper(action)
    if words[:2] in (["SET", "SCHEMA"], ["MODIFY", "SCHEMA"]) and len(action) == 3:
        return exp.AlterRename(this=_in_schema(table, action[2]))
    if words[:3] == ["SET", "TABLE", "NAME"] and _is_name(action[3:]):
        return exp.AlterRename(this=table_of(action[3:]))
    if words[0] == "CHANGE":
        rest = _without_if(action[2:] if words[1:2] == ["COLUMN"] else action[1:])
        if len(rest) > 1 and identifier(rest[0]).name != identifier(rest[1]).name:
            return exp.RenameColumn(this=identifier(rest[0]), to=identifier(rest[1]))
        return None
    if words[0] != "RENAME":
        return None
    rest = action[1:]
    if words[1:2] in (["TO"], ["AS"]) or (len(rest) == 1 and rest[0].kind in ("word", "name")):
        new = rest if len(rest) == 1 else rest[1:]
        return exp.AlterRename(this=table_of(new)) if _is_name(new) else None
    what = words[1] if words[1] in ("COLUMN", "CONSTRAINT", "INDEX", "KEY") else ""
    if not what and words[1] in _NO_COLUMN:
        return None
    names = _without_if(rest[1:] if what else rest)
    if dialect == "soliddb" and len(names) == 2 and names[1].upper != "TO":
        names = [names[0], *names[1:]]
    elif len(names) == 3 and names[1].upper == "TO":
        names = [names[0], names[2]]
    else:
        return None
    old, new_name = identifier(names[0]), identifier(names[1])
    if what in ("", "COLUMN"):
        return exp.RenameColumn(this=old, to=new_name)
    return Clause(this="RENAME CONSTRAINT", expressions=[old, new_name])


def dropped_columns(action: Pieces, bare: bool) -> exp.Drop | None:
    """The columns that an action of ALTER TABLE drops or makes unusable; None where it drops none,
    NotUnderstood where it may drop something else. ``bare``: DROP with a name alone is about a
    constraint."""
    words = _upper(action)
    if words[:2] == ["SET", "UNUSED"]:
        rest = action[2:]
    elif words[0] == "DROP":
        rest = action[1:]
    else:
        return None
    column = _upper(rest[:1]) in (["COLUMN"], ["COLUMNS"])
    rest = _without_if(rest[1:] if column else rest)
    if not rest or (not column and (bare or rest[0].upper in _NO_COLUMN)):
        return None
    if not column and rest[0].text != "(" and not {*_upper(rest[1:2])} <= _BEHAVIOUR | {","}:
        raise NotUnderstood  # what is dropped is no column
    listed = rest[1 : close_of(rest, 0)] if rest[0].text == "(" else rest
    names = [entry[0] for entry in entries(listed) if entry[0].kind in ("word", "name")]
    names = [name for name in names if name.upper not in _BEHAVIOUR]
    if not names:
        return None
    return exp.Drop(kind="COLUMN", tables=[exp.Column(this=identifier(name)) for name in names])
