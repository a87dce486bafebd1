"""How row images lie and how their values are written, as far as machine code takes them: what each
family's rows are, as data for one kernel (:mod:`replay.native.fast_path`).

A row that is not as described here is no damaged one: it is left to the family's own walk
(:class:`replay.logs.Walk`), which every rule belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class ValueForm(Enum):
    """How the bytes of a value say it: two's complement (``LITTLE``: the lowest octet first),
    packed decimals, text in the column's character set, moments as characters, as packed digits
    without a sign, and in binary fields of 11 octets, decimals as ASCII text."""

    INTEGER = auto()
    LITTLE = auto()
    PACKED = auto()
    TEXT = auto()
    MOMENT = auto()
    PACKED_MOMENT = auto()
    BINARY_MOMENT = auto()
    DECIMAL_TEXT = auto()


@dataclass(frozen=True)
class PlainCell:
    """One column. ``form`` is None where machine code cannot say its values, which may be looked
    at all the same. ``limits``: the lowest and the highest number that an integer may be, and of
    DECIMAL_TEXT 0 and the most digits; none where they are the same. ``even``: the first of the
    packed digits is 0, for the precision is even.

    ``width`` octets has a value that is not ``variable``, or (``other_width``) so many. An
    ``expanded`` varying value takes them, too. In a fixed section it begins at ``position``.
    ``ends_in_nul``: one more X'00' belongs to each value; ``unit`` octets have its characters.
    """

    nullable: bool
    variable: bool
    width: int
    form: ValueForm | None
    limits: tuple[int, int] = (0, 0)
    position: int = 0
    expanded: bool = False
    other_width: int = 0
    ends_in_nul: bool = False
    unit: int = 1
    even: bool = False


@dataclass(frozen=True)
class Sectioned:
    """A header of ``head`` octets, a fixed section of ``section`` octets that has a null byte
    (X'00' or X'01') behind each nullable column, and in place of each varying value its offset
    from the begin of the section and its size (at ``offset_at`` and ``size_at``); and behind it
    these values, one after the other. Numbers have two octets, ``big``: the higher one first. The
    header has the length of the row at ``length_at``, at ``inner_at`` an octet whose
    ``inner_bits`` are ``inner``, and at ``fixed_at`` the length of the section."""

    big: bool
    head: int
    length_at: int
    inner_at: int
    inner_bits: int
    inner: int
    fixed_at: int
    section: int
    offset_at: int
    size_at: int


@dataclass(frozen=True)
class Framed:
    """Values one after the other, behind ``count_size`` octets (0: none) with their number. Before
    each is a byte that is ``null_byte`` where it is null, else 0 or 1 (-1: no such byte), and its
    length in ``length_size`` octets (``length_big``: the highest first), of a null only where
    ``null_has_length``, and then 0. ``null_length`` means null, too; from ``long`` on, other than
    ``outside``, which is not plain, four more octets have the length, the lowest first. -1: no such
    length."""

    count_size: int
    length_size: int
    length_big: bool
    null_byte: int
    null_has_length: bool
    null_length: int
    long: int
    outside: int


@dataclass(frozen=True)
class PlainRows:
    """The columns of a table's row images in their order. ``shape`` None: one after the other, each
    behind a null byte (X'00', or X'FF' for null) where it is nullable, and behind its size (two
    octets, the higher one first) where it is variable."""

    cells: tuple[PlainCell, ...]
    shape: Sectioned | Framed | None = None
