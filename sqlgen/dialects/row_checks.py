"""How a dialect says, in plain SQL, that a statement touches exactly one row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

#: Stands in a rendered statement where its unit and number are filled in, which rendering does not
#: know. No literal has it: control characters are written as escapes or calls.
LABEL = "\x01"


class CheckKind(Enum):
    """Where the check stands: in a statement after the one that it is about; in a block that holds
    several statements and, after each, its check; in a query before, which counts the rows that
    the conditions find; around the statement."""

    AFTER = "after"
    BLOCK = "block"
    BEFORE = "before"
    AROUND = "around"


@dataclass(frozen=True)
class RowCheck:
    """``check`` is the text of the check: ``{unit}`` and ``{statement}`` name the unit and the
    number of the statement in it; of ``BEFORE`` what is selected where the count is another one,
    and of ``AROUND`` what follows the statement on its line, with ``{label}`` for both.

    ``opening`` and ``closing`` stand around the statements of a ``BLOCK``; ``opening`` of
    ``AROUND`` is what stands before the statement. ``locks``: the query ``BEFORE`` locks the rows
    that it counts, so that they stay as they are. ``note``: what a user must know of the count.
    """

    kind: CheckKind
    check: str
    opening: str = ""
    closing: str = ""
    locks: bool = False
    note: str = ""
