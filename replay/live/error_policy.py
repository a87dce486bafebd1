"""What to do when a statement does not do what the log says: conditions and SQLSTATEs by operation,
and the response to each.

The table is read like Log Master's SQLCODE table: later definitions override earlier ones, and what
nobody defined stops the replay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from replay.errors import UsageError
from replay.targets import Condition
from sqlgen.schema import Op


class Response(StrEnum):
    """What to do about a condition."""

    STOP = "stop"
    SKIP = "skip"
    OVERWRITE = "overwrite"
    RETRY = "retry"


#: Where the row of the log can be put in place whatever the target has: operation -> conditions.
_OVERWRITES = {
    Op.INSERT: (Condition.DUPLICATE_KEY,),
    Op.UPDATE: (Condition.NO_ROW, Condition.SEVERAL_ROWS),
    Op.DELETE: (Condition.NO_ROW, Condition.SEVERAL_ROWS),
}


#: What ``--on`` names.
_NAMED = tuple(condition for condition in Condition if condition is not Condition.SERVER)
#: A SQLSTATE as the database tells it.
_SQLSTATE = re.compile(r"[0-9A-Z]{5}")


@dataclass(frozen=True)
class ErrorPolicy:
    """The response to each (operation, condition or SQLSTATE), in the order in which they were
    defined."""

    table: Mapping[tuple[Op, str], Response] = field(default_factory=dict)

    def response_to(self, op: Op, condition: Condition, sqlstate: str = "") -> Response:
        """The response that was defined last for the condition, or for the database's SQLSTATE.
        What any statement would end in is none of the change's, which may be tried again, but not
        left out."""
        named = Condition.OTHER if condition is Condition.SERVER else condition
        found = Response.STOP
        for (of, what), response in self.table.items():
            if of is op and what in (named, sqlstate):
                found = response
        if condition is Condition.SERVER and found is not Response.RETRY:
            return Response.STOP
        return found

    @property
    def watches(self) -> bool:
        """Whether any condition has another response than to stop, so that each statement must be
        one that can be undone alone."""
        return any(response is not Response.STOP for response in self.table.values())


def error_policy_of(definitions: Iterable[str]) -> ErrorPolicy:
    """Read ``CONDITION[:OPERATION]=RESPONSE`` definitions, the last of which wins; a condition may
    be a SQLSTATE. Raises UsageError (LR1001)."""
    table: dict[tuple[Op, str], Response] = {}
    for text in definitions:
        left, _, response_name = text.partition("=")
        condition_name, colon, operation = left.partition(":")
        ops = [op for op in Op if not colon or op.value == operation]
        try:
            condition = _condition(condition_name)
            response = Response(response_name)
        except ValueError:
            ops = []
        if not ops:
            raise UsageError(
                "LR1001",
                f"found --on {text!r}; expected CONDITION[:OPERATION]=RESPONSE",
                hint=(
                    f"Conditions: {', '.join(_NAMED)}, or a SQLSTATE; operations: insert,"
                    f" update, delete; responses: {', '.join(Response)}"
                ),
            )
        if response is Response.OVERWRITE:
            ops = [op for op in ops if condition in _OVERWRITES[op]]
            if not ops:
                possible = "duplicate-key:insert, no-row and several-rows of update and delete"
                raise UsageError(
                    "LR1001",
                    f"found --on {text!r}, where no row of the log can be put in place",
                    hint=f"overwrite is for {possible}",
                )
        for op in ops:
            table.pop((op, condition), None)  # the last one counts, in its place
            table[op, condition] = response
    return ErrorPolicy(table)


def _condition(name: str) -> str:
    """A condition, or a SQLSTATE. ValueError for anything else."""
    if _SQLSTATE.fullmatch(name):
        return name
    condition = Condition(name)
    if condition not in _NAMED:
        raise ValueError(name)
    return condition
