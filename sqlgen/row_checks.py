"""Scripts that assert: what stands beside statements so that one that touches no row, or several,
stops the script and is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import Profile
from sqlgen.dialects.row_checks import LABEL, CheckKind
from sqlgen.schema import RowMask
from sqlgen.statements import joined

#: Statements in a block: with so many its opening and closing cost little, and the database does
#: not keep much of it.
IN_BLOCK = 100
_SLOTS = re.compile(r"\{(unit|statement)\}")
#: What stands in place of :data:`sqlgen.dialects.row_checks.LABEL`.
_LABEL = "{unit}: statement {statement}"

#: A text in pieces, each with what is filled in behind it: ``unit``, ``statement`` or ``""``.
Pieces = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class CheckTexts:
    """What stands beside statements: ``opening`` before the first one of a block, ``label`` in
    place of :data:`sqlgen.dialects.row_checks.LABEL`, ``check`` behind each, ``closing`` behind the
    last one of a block."""

    opening: Pieces = ()
    label: Pieces = ()
    check: Pieces = ()
    closing: Pieces = ()


def check_texts(profile: Profile) -> CheckTexts | None:
    """The same as :func:`with_checks` puts there, for somebody who writes row by row; None where
    the dialect has no checks."""
    check = profile.row_check
    if check is None:
        return None
    if check.kind in (CheckKind.BEFORE, CheckKind.AROUND):
        return CheckTexts(label=_pieces(_LABEL))
    behind = _pieces(f"\n{check.check}")
    if check.kind is not CheckKind.BLOCK:
        return CheckTexts(check=behind)
    return CheckTexts(
        _pieces(f"{check.opening}\n"), check=behind, closing=_pieces(f"\n{check.closing}")
    )


def _pieces(template: str) -> Pieces:
    texts = _SLOTS.split(template)
    return list(zip(texts[0::2], [*texts[1::2], ""], strict=True))


def block_ends(
    checked: RowMask, numbers: np.ndarray[Any, np.dtype[np.int64]], profile: Profile
) -> tuple[RowMask, RowMask]:
    """Which statements have the ``opening`` before them, and which the ``closing`` behind."""
    if profile.row_check is None or profile.row_check.kind is not CheckKind.BLOCK:
        return np.zeros(len(checked), bool), np.zeros(len(checked), bool)
    return _blocks(checked, numbers)


def with_checks(
    text: pa.StringArray,
    checked: RowMask,
    units: pa.StringArray,
    numbers: np.ndarray[Any, np.dtype[np.int64]],
    profile: Profile,
) -> pa.StringArray:
    """Statements and their checks, in the order of a script, a line for each. ``checked``: which of
    ``text`` are about one row; ``units`` names the unit of each; ``numbers``: which statement of
    its unit each of them is, from 1. Blocks hold neighbours of a unit and end with ``text``."""
    check = profile.row_check
    if check is None:
        return text
    slots = {"unit": units, "statement": pa.array(numbers).cast(pa.string())}
    if check.kind in (CheckKind.BEFORE, CheckKind.AROUND):
        return _labelled(text, slots)
    pieces: list[Any] = [text, "\n", *_filled(check.check, slots)]
    if check.kind is CheckKind.BLOCK:
        opens, closes = _blocks(checked, numbers)
        opening = joined([*_filled(check.opening, slots), "\n"], len(text))
        closing = joined(["\n", *_filled(check.closing, slots)], len(text))
        pieces.insert(0, pc.if_else(pa.array(opens), opening, ""))
        pieces.append(pc.if_else(pa.array(closes), closing, ""))
    return pc.if_else(pa.array(checked), joined(pieces, len(text)), text)


def with_check(text: str, unit: str, number: int, profile: Profile) -> str:
    """One statement about a row with its check; ``unit`` and ``number`` as for
    :func:`with_checks`."""
    units, numbers = pa.array([unit]), np.array([number])
    checked = with_checks(pa.array([text]), np.ones(1, bool), units, numbers, profile)
    return str(checked[0].as_py())


def _filled(template: str, slots: dict[str, pa.StringArray]) -> list[Any]:
    """A template as pieces to join."""
    return [
        slots[piece] if place % 2 else piece for place, piece in enumerate(_SLOTS.split(template))
    ]


def _labelled(text: pa.StringArray, slots: dict[str, pa.StringArray]) -> pa.StringArray:
    """Statements that were rendered with their check, with its label filled in."""
    has = pc.match_substring(text, LABEL)
    if not pc.any(has).as_py():
        return text
    halves = pc.split_pattern(text.filter(has), LABEL, max_splits=1)
    label = _filled(_LABEL, {name: slot.filter(has) for name, slot in slots.items()})
    before, after = (pc.list_element(halves, side) for side in (0, 1))
    filled = joined([before, *label, after], len(halves))
    return pc.replace_with_mask(text, has, filled)


def _blocks(
    checked: RowMask, numbers: np.ndarray[Any, np.dtype[np.int64]]
) -> tuple[RowMask, RowMask]:
    """Where blocks begin, and where they end."""
    follows = np.zeros(len(checked), bool)  # in the block of the one before
    follows[1:] = checked[1:] & checked[:-1]
    follows &= (numbers - 1) % IN_BLOCK != 0
    closes = checked.copy()
    closes[:-1] &= ~follows[1:]
    return checked & ~follows, closes
