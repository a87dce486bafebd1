"""How row images lie and how their values are written, as far as machine code takes them: those of
Log Master's logical logs, as data for one kernel (:mod:`replay.native.fast_path`).

A row that is not as described here is no damaged one: it is left to the family's own walk
(:class:`replay.logs.Walk`), which every rule belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class ValueForm(Enum):
    """How the bytes of a value say it: two's complement, packed decimals, text in the column's
    character set, moments as characters."""

    INTEGER = auto()
    PACKED = auto()
    TEXT = auto()
    MOMENT = auto()


@dataclass(frozen=True)
class PlainCell:
    """One column. ``form`` is None where machine code cannot say its values, which may be looked
    at all the same. ``width`` octets has a value that is not ``variable``; an ``expanded`` varying
    value takes them, too."""

    nullable: bool
    variable: bool
    width: int
    form: ValueForm | None
    expanded: bool = False


@dataclass(frozen=True)
class PlainRows:
    """The columns of a table's row images in their order: one after the other, each behind a null
    byte (X'00', or X'FF' for null) where it is nullable, and behind its size (two octets, the
    higher one first) where it is variable."""

    cells: tuple[PlainCell, ...]
