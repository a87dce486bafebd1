"""Rows -> calls of prepared statements, for a database that executes them by name.

A statement is a row of elements: an assignment or a condition, each absent, with a value, or (a
condition) with NULL. Rows whose elements are in the same states have one shape, which the database
prepares once; a row then is ``EXECUTE shape(values)``. The values are the literals of
:mod:`sqlgen.literals`, so what a value is does not depend on the way it travels. Names of shapes
are digests of their text.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sqlgen.dialects import Profile
from sqlgen.literals import ValueProblem, literal_parts, other_readings
from sqlgen.render_options import RenderOptions, identity, shown_columns
from sqlgen.schema import FLOATS, Codes, Column, Op, RowMask, Rows
from sqlgen.statements import (
    EMITTED,
    PROBLEM,
    SLOT,
    Rendered,
    column_pieces,
    exact_of,
    float_bounds,
    heads,
    insert_pieces,
    joined,
    listed,
    only_rows,
    outcome_of,
    render,
)

#: States of an element in a row.
_ABSENT, _VALUE, _NULL = 0, 1, 2
#: Rows of a batch that make a shape worth preparing, and shapes of a batch at most; other rows are
#: statements in full.
WORTH, _MOST = 8, 256
_NAME = "lr_"
#: What a call begins with, and the characters of the name behind it.
EXECUTE, NAME_LENGTH = "EXECUTE ", len(_NAME) + 16


@dataclass(frozen=True)
class Shaped:
    """As :class:`sqlgen.statements.Rendered`, and ``shapes``: name -> the statement to prepare
    under it, ``$1 …`` for values. ``prepared``: the names of all that the batch prepares."""

    rendered: Rendered
    shapes: Mapping[str, str]
    prepared: frozenset[str]


@dataclass
class _Elements:
    """The elements of some statements: texts by state (a slot for each value), states (None: a
    value in every row), and the values to hand over."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    states: list[Codes | None] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    problems: list[ValueProblem] = field(default_factory=list)

    def fixed(self, text: str) -> None:
        """Text that stands in every statement."""
        self.texts.append((text, text))
        self.states.append(None)

    def add(self, text: str, null: str, state: Codes | None, literals: list[Any]) -> None:
        """An element: ``literals`` (one array for each slot of ``text``) count where it has a
        value."""
        self.texts.append((text, null))
        self.states.append(state)
        for literal in literals:
            piece = pc.binary_join_element_wise(", ", literal, "")
            self.values.append(
                piece if state is None else pc.if_else(pa.array(state == _VALUE), piece, "")
            )


def shape_name(text: str) -> str:
    """The name under which the statement ``text`` is prepared."""
    return _NAME + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def worth_preparing(callers: Mapping[str, int], worth: int = WORTH) -> frozenset[str]:
    """Which statements of a batch are prepared, of which so many rows (``callers``, by name) are to
    call each one: it depends on nothing else, so whoever counts them comes to the same."""
    least = min(worth, sum(callers.values()))
    if len(callers) > _MOST:
        least = max(least, sorted(callers.values())[-_MOST])
    return frozenset(name for name, count in callers.items() if count >= least)


def render_shaped(
    rows: Rows,
    profile: Profile,
    options: RenderOptions,
    worth: int = WORTH,
    others: Mapping[str, int] = MappingProxyType({}),
    failed: RowMask | None = None,
) -> Shaped:
    """The calls for ``rows``; what :func:`sqlgen.statements.render` would write is what they do.
    Shapes of fewer than ``worth`` rows of a larger batch are not prepared; their rows are
    statements in full. ``others``: how many rows of the batch that are not among these are to call
    a statement, by its name. ``failed``: rows whose values could not be read, which call none."""
    elements = _Elements()
    if rows.op is Op.INSERT:
        outcome = _insert(rows, elements, profile, options)
    else:
        outcome = _changed(rows, elements, profile, options)
    if elements.problems:
        outcome[[problem.row for problem in elements.problems]] = PROBLEM
    there = outcome == EMITTED
    if failed is not None:
        there &= ~failed
    emitted = np.flatnonzero(there)
    _, first, inverse, counts = np.unique(
        _codes(elements.states, rows.count)[emitted],
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    texts = [_prepared(elements, row) for row in emitted[first].tolist()]
    names = [shape_name(text) for text in texts]
    callers = Counter(others)
    for name, text, count in zip(names, texts, counts.tolist(), strict=True):
        callers[name] += count if "$1" in text else 0
    prepared = worth_preparing(+callers, worth)
    shapes = {name: text for name, text in zip(names, texts, strict=True) if name in prepared}
    number = np.zeros(rows.count, np.intp)
    number[emitted] = inverse.reshape(-1)
    called = pa.array([*names, *[""] * (not names)], pa.string()).take(pa.array(number))
    text = joined([EXECUTE, called, "(", *elements.values, ");"], rows.count)
    comma = len(EXECUTE) + NAME_LENGTH + len("(")
    text = pc.binary_replace_slice(text, comma, comma + 2, "")
    rare = np.zeros(rows.count, bool)
    rare[emitted] = np.array([name not in shapes for name in names], bool)[number[emitted]]
    text = _in_full(rows, text, rare, profile, options)
    if not there.all():
        text = pc.if_else(pa.array(there), text, "")
    return Shaped(Rendered(text, outcome, elements.problems), shapes, prepared)


def _in_full(
    rows: Rows, text: pa.Array, rare: RowMask, profile: Profile, options: RenderOptions
) -> pa.Array:
    """Rows of rare shapes as statements in full."""
    if not rare.any():
        return text
    chosen = pa.array(np.flatnonzero(rare))

    def take(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        return {name: values.take(chosen) for name, values in columns.items()}

    few = replace(
        rows,
        count=len(chosen),
        before=take(rows.before),
        after=take(rows.after),
        changed=take(rows.changed),
    )
    return pc.replace_with_mask(text, pa.array(rare), render(few, profile, options).text)


def _codes(states: list[Codes | None], count: int) -> npt.NDArray[Any]:
    """One value for each row that is the same where all states are: a number while two bits each
    fit one, else bytes."""
    varying = [state for state in states if state is not None]
    if len(varying) > 32:
        return np.ascontiguousarray(np.stack(varying, axis=1)).view(f"V{len(varying)}").reshape(-1)
    codes = np.zeros(count, np.uint64)
    for state in varying:
        codes = (codes << np.uint64(2)) | state
    return codes


def _prepared(elements: _Elements, row: int) -> str:
    """The statement behind a row, with ``$1 …`` in its slots."""
    parts = []
    for (text, null), state in zip(elements.texts, elements.states, strict=True):
        now = _VALUE if state is None else int(state[row])
        parts.append(text if now == _VALUE else null if now == _NULL else "")
    first, *others = "".join(parts).split(SLOT)
    return first + "".join(f"${number}{piece}" for number, piece in enumerate(others, 1))


def _insert(rows: Rows, elements: _Elements, profile: Profile, options: RenderOptions) -> Codes:
    columns = tuple(
        column for column in shown_columns(rows.table, options) if column.name in rows.after
    )
    pieces = insert_pieces(rows.table, columns, profile, options)
    elements.fixed(pieces[0])
    for column, piece in zip(columns, pieces[1:], strict=True):
        value = literal_parts(
            rows.after[column.name], column, profile, options.policy, column.name in rows.table.key
        )
        elements.problems += value.problems
        elements.add(SLOT, "", None, [value.joined()])
        elements.fixed(piece)
    return np.zeros(rows.count, np.uint8)


def _changed(rows: Rows, elements: _Elements, profile: Profile, options: RenderOptions) -> Codes:
    """The elements of updates and deletes; what becomes of each row."""
    found_by, shown = identity(rows.table, options), shown_columns(rows.table, options)
    head = heads(rows.table, rows.op, not rows.table.key, profile, options.names)
    guarded = options.where_columns == "guard" and bool(rows.table.key)
    outcome = np.zeros(rows.count, np.uint8)
    if rows.op is Op.DELETE:
        elements.fixed(head.begin)
        found_by = shown if guarded else found_by
    else:
        begin, between = head.begin.split(SLOT)
        elements.fixed(begin)
        outcome = _assigned(rows, elements, shown, profile, options)
        elements.fixed(between)
    for number, column in enumerate(found_by):
        _condition(rows, elements, column, " AND " if number else "", None, profile, options)
    if rows.op is Op.UPDATE and guarded:
        for column in shown:
            mask = rows.changed.get(column.name)
            if mask is not None and column not in found_by:
                _condition(
                    rows,
                    elements,
                    column,
                    " AND ",
                    mask.to_numpy(zero_copy_only=False),
                    profile,
                    options,
                )
    elements.fixed(head.end)
    return outcome


def _assigned(
    rows: Rows,
    elements: _Elements,
    shown: tuple[Column, ...],
    profile: Profile,
    options: RenderOptions,
) -> Codes:
    """``col = value`` of what changed. The comma before the first one in a row belongs to another
    text than that before the others."""
    named = np.zeros(rows.count, bool)
    for column in shown:
        mask = rows.changed.get(column.name)
        if mask is None:
            continue
        changed = mask.to_numpy(zero_copy_only=False)
        value = literal_parts(
            rows.after[column.name], column, profile, options.policy, column.name in rows.table.key
        )
        elements.problems += only_rows(value.problems, mask)
        equals = column_pieces(column, profile, options.names)[0]
        state = changed.astype(np.uint8)
        if named.any():
            elements.add(", ", "", np.where(changed & named, _VALUE, _ABSENT).astype(np.uint8), [])
        elements.add(equals + SLOT, "", state, [value.joined()])
        named |= changed
    return outcome_of(rows, shown, named)


def _condition(
    rows: Rows,
    elements: _Elements,
    column: Column,
    lead: str,
    mask: RowMask | None,
    profile: Profile,
    options: RenderOptions,
) -> None:
    """``col = value``, ``col IS NULL``, or for a float outside a key ``col BETWEEN``, in the rows
    of ``mask``."""
    values = rows.before[column.name]
    in_key = column.name in rows.table.key
    exact = None if in_key else exact_of(column, profile)
    pieces = column_pieces(column, profile, options.names, exact is not None)
    equals, null, between, conjunction = pieces
    value = literal_parts(values, column, profile, options.policy, in_key)
    elements.problems += (
        value.problems if mask is None else only_rows(value.problems, pa.array(mask))
    )
    state = None
    if mask is not None or value.body.null_count:
        nulls = value.body.is_null().to_numpy(zero_copy_only=False)
        state = np.where(nulls, _NULL, _VALUE).astype(np.uint8)
        if mask is not None:
            state[~mask] = _ABSENT
    more = other_readings(value.body, column, profile)
    if more is not None:
        text = f"{lead}{listed(equals)}{SLOT})"
        literals = [pc.binary_join_element_wise(value.joined(), more, "")]
    elif column.type in FLOATS and not in_key:
        text = f"{lead}{between}{SLOT}{conjunction}{SLOT}"
        bounds = float_bounds(values, column, profile)
        literals = [
            pc.binary_join_element_wise(value.opening, bound, value.closing, "") for bound in bounds
        ]
    else:
        after = (
            exact.literal
            if exact
            else profile.floats[column.type].typed
            if column.type in FLOATS
            else ""
        )
        text, literals = f"{lead}{equals}{SLOT}", [value.joined()]
        if after:
            literals = [pc.binary_join_element_wise(literals[0], after, "")]
    elements.add(text, lead + null, state, literals)
