"""What a table of a target does by itself with what is written to it, or cannot do: the kinds, by
the codes that ``--accept`` names. What a target tells are facts; whether they stand in the way of a
replay is decided in :mod:`replay.live.hazard_refusals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HazardKind(StrEnum):
    """Kinds of hazards. The value is the code of ``--accept``."""

    TYPE = "type"
    COMPARISON = "comparison"
    TRIGGER = "trigger"
    FOREIGN_KEY_ACTION = "foreign-key-action"
    RULE = "rule"
    ROW_SECURITY = "row-security"
    GENERATED = "generated"
    REQUIRED = "required"
    CHANGES_ITSELF = "changes-itself"
    CONFLICT_CLAUSE = "conflict-clause"
    EXCLUSION = "exclusion"
    INHERITED = "inherited"
    UNLOGGED = "unlogged"
    PUBLISHED = "published"
    VERSIONED = "versioned"
    UNSEEN = "unseen"
    NO_TABLE = "no-table"
    NO_TRANSACTION = "no-transaction"
    NO_ROW_ID = "no-row-id"


class Under(StrEnum):
    """With which ``--enforcement`` a hazard is there."""

    ON = "on"
    OFF = "off"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Hazard:
    """One hazard of a table: ``what`` names the thing or says it in words, ``column`` is the column
    that it hangs on ('': the table)."""

    kind: HazardKind
    what: str
    column: str = ""
    under: Under = Under.BOTH


#: Kinds that no user can know better about: there is no table, no transaction, or no statement that
#: the target takes.
_HARD = (
    HazardKind.NO_TABLE,
    HazardKind.NO_TRANSACTION,
    HazardKind.NO_ROW_ID,
    HazardKind.ROW_SECURITY,
)
#: The codes that ``--accept`` takes.
ACCEPTABLE = tuple(kind.value for kind in HazardKind if kind not in _HARD)
