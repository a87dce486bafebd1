"""What ALTER TABLE says of constraints that are there: whether the database sees to them from then
on. Only forms that are known from end to end are read, for a word that is cut off or misspelt would
leave a constraint for enforced that is not, or the other way about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sqlglot import exp

from sqlgen.constraints import ALL_CONSTRAINTS
from sqlgen.ddl_grammar import Clause
from sqlgen.ddl_script import ScriptToken
from sqlgen.key_clauses import NotUnderstood, identifier

#: SQL Server's actions of ALTER TABLE that are about no constraint, with what follows them where
#: that tells.
_TSQL_ACTIONS: dict[str, frozenset[str]] = {
    "ALTER": frozenset({"COLUMN"}),
    "DROP": frozenset({"PERIOD"}),
    **dict.fromkeys(
        ("ENABLE", "DISABLE"), frozenset({"TRIGGER", "CHANGE_TRACKING", "FILETABLE_NAMESPACE"})
    ),
    **dict.fromkeys(("ADD", "SWITCH", "SET", "REBUILD", "SPLIT", "MERGE", "RENAME"), frozenset()),
}
#: What other databases enable and disable beside constraints.
_OTHERS_SWITCHED = frozenset(
    "TRIGGER RULE ROW KEYS ALL TABLE ALWAYS REPLICA QUERY FLASHBACK LOGICAL CONTAINERS".split()
)
_WHETHER_OLD = frozenset({"VALIDATE", "NOVALIDATE"})
#: What stands behind a constraint's name.
_STATES = re.compile(
    r"((NOT )?(ENFORCED|VALID|DEFERRABLE|TRUSTED)|INITIALLY (DEFERRED|IMMEDIATE)|(NO )?INHERIT"
    r"|ENABLE|DISABLE|(NO)?VALIDATE|(NO)?RELY)( |\Z)"
)
_LISTED = (["NOCHECK", "CONSTRAINT"], ["CHECK", "CONSTRAINT"])


def switched(action: Sequence[ScriptToken], is_tsql: bool) -> Clause | None:
    """What an action of ALTER TABLE switches on or off, as a clause of Db2; None where it says
    nothing of that. NotUnderstood where it may, in words that are not known."""
    words = [piece.upper for piece in action]
    if is_tsql:
        if words[0] in ("CHECK", "NOCHECK"):
            return _of_tsql(action, words)
        following = _TSQL_ACTIONS.get(words[0])
        if following is None or (following and not following & set(words[1:2])):
            raise NotUnderstood
        return None
    if words[0] in ("ENABLE", "DISABLE"):
        return _of_oracle(action, words)
    if words[0] in ("ALTER", "MODIFY") and words[1:2] == ["CONSTRAINT"]:
        return _altered(action, words)
    if words[:2] == ["VALIDATE", "CONSTRAINT"] and len(words) == 3:
        return None
    columns = words[0] in ("ALTER", "MODIFY", "CHANGE") and words[1:2] != ["CHECK"]
    strange = {"ENFORCED", "DISABLE"} & {*words} if columns else "CONSTRAINT" in words[:3]
    if strange or words in (["ALTER"], ["MODIFY"], ["DROP"]):
        raise NotUnderstood
    return None


def _of_tsql(action: Sequence[ScriptToken], words: Sequence[str]) -> Clause:
    """{CHECK | NOCHECK} CONSTRAINT {ALL | name}."""
    if words[1:2] != ["CONSTRAINT"] or len(words) != 3 or not _is_name(action[2]):
        raise NotUnderstood
    if words[2] == "ALL":
        return Clause(this=ALL_CONSTRAINTS, expressions=_state(words[0] == "CHECK"))
    return _clause(action[2], words[0] == "CHECK")


def _of_oracle(action: Sequence[ScriptToken], words: Sequence[str]) -> Clause | None:
    """{ENABLE | DISABLE} [[NO]VALIDATE] CONSTRAINT name, and where the index stays. With CASCADE it
    is about foreign keys of other tables too."""
    at = 1 + bool(_WHETHER_OLD & set(words[1:2]))
    if words[at : at + 1] != ["CONSTRAINT"]:
        if not set(words[1:2]) & _OTHERS_SWITCHED:
            raise NotUnderstood
        return None
    rest = words[at + 2 :]
    if (
        len(words) < at + 2
        or not _is_name(action[at + 1])
        or rest
        not in (
            [],
            ["KEEP", "INDEX"],
            ["DROP", "INDEX"],
        )
    ):
        raise NotUnderstood
    return _clause(action[at + 1], words[0] == "ENABLE")


def _altered(action: Sequence[ScriptToken], words: Sequence[str]) -> Clause | None:
    """{ALTER | MODIFY} CONSTRAINT name and what it is now."""
    rest = words[3:]
    said = " ".join(rest)
    if not rest or not _is_name(action[2]) or _STATES.sub("", said):
        raise NotUnderstood
    off = "DISABLE" in rest or ("NOT", "ENFORCED") in pairwise(rest)
    if not off and not {"ENABLE", "ENFORCED"} & set(rest):
        return None
    return _clause(action[2], not off)


def _is_name(piece: ScriptToken) -> bool:
    return piece.kind in ("word", "name", "text")


def _clause(name: ScriptToken, enforced: bool) -> Clause:
    return Clause(this="ALTER CONSTRAINT", expressions=[identifier(name), *_state(enforced)])


def _state(enforced: bool) -> list[exp.Expr]:
    return [exp.Var(this=word) for word in (["ENFORCED"] if enforced else ["NOT", "ENFORCED"])]


def each_in_full(actions: Iterable[Sequence[ScriptToken]]) -> Iterator[Sequence[ScriptToken]]:
    """SQL Server's actions, with CHECK or NOCHECK CONSTRAINT said at each name of a list."""
    begun: list[ScriptToken] = []
    for action in actions:
        if [piece.upper for piece in action[:2]] in _LISTED:
            begun = [*action[:2]]
        elif begun and len(action) == 1:
            action = [*begun, *action]
        else:
            begun = []
        yield action
