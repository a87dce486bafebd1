"""What to do when a statement does not do what the log says: conditions by operation, and the response to each.

The table is read like Log Master's SQLCODE table: later definitions override earlier ones, and what nobody defined stops the replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from replay.errors import UsageError
from replay.targets import DUPLICATE_KEY, FOREIGN_KEY, NO_ROW, OTHER, SEVERAL_ROWS
from sqlgen.rows import Op

CONDITIONS = (NO_ROW, SEVERAL_ROWS, DUPLICATE_KEY, FOREIGN_KEY, OTHER)
STOP, SKIP, OVERWRITE, RETRY = "stop", "skip", "overwrite", "retry"
RESPONSES = (STOP, SKIP, OVERWRITE, RETRY)

#: Where the row of the log can be put in place whatever the target has: operation -> conditions.
_OVERWRITES = {Op.INSERT: (DUPLICATE_KEY,), Op.UPDATE: (NO_ROW, SEVERAL_ROWS), Op.DELETE: (NO_ROW, SEVERAL_ROWS)}


@dataclass(frozen=True)
class Responses:
    """The response to each (operation, condition)."""

    table: Mapping[tuple[Op, str], str] = field(default_factory=dict)

    def to(self, op: Op, condition: str) -> str:
        """The response."""
        return self.table.get((op, condition), STOP)

    @property
    def careful(self) -> bool:
        """Whether any condition has another response than to stop."""
        return any(response != STOP for response in self.table.values())


def responses_of(definitions: Iterable[str]) -> Responses:
    """Read ``CONDITION[:OPERATION]=RESPONSE`` definitions, the last of which wins. Raises UsageError (LR1001)."""
    table: dict[tuple[Op, str], str] = {}
    for text in definitions:
        left, sign, response = text.partition("=")
        condition, colon, name = left.partition(":")
        ops = [op for op in Op if not colon or op.value == name]
        if not sign or condition not in CONDITIONS or response not in RESPONSES or not ops:
            raise UsageError(
                "LR1001",
                f"found --on {text!r}; expected CONDITION[:OPERATION]=RESPONSE",
                hint=f"Conditions: {', '.join(CONDITIONS)}; operations: insert, update, delete; responses: {', '.join(RESPONSES)}",
            )
        if response == OVERWRITE:
            ops = [op for op in ops if condition in _OVERWRITES[op]]
            if not ops:
                known = "duplicate-key:insert, no-row and several-rows of update and delete"
                raise UsageError(
                    "LR1001", f"found --on {text!r}, where no row of the log can be put in place", hint=f"overwrite is for {known}"
                )
        for op in ops:
            table[op, condition] = response
    return Responses(table)
