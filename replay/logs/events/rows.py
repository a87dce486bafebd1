"""The rows of change events as images, and what the rows of a table say of its replica identity.

PostgreSQL sends the old row as REPLICA IDENTITY says, and the event does not say which columns of
it were sent: the others are null, or zero where the column must have a value. So an old row is
taken as whole only where the rows of its table prove it.

Other connectors send whole rows. But in old ones of SQL Server long values are null where they did
not change ("cdc.<capture_instance>_CT", "Large object data types"; TEXT, NTEXT and IMAGE always),
and Db2 for z/OS sends no old row of an update.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Mask
from replay.logs.events import lines
from replay.logs.events.schemas import ZEROS, RowSchema
from replay.logs.made_images import images

#: What stands for a value that the event does not have, unless the connector is set otherwise.
UNAVAILABLE = "__debezium_unavailable_value"
#: How JSON writes values that are decoded by a code.
_NUMBERS = {"BIGINT", "UBIGINT"}
_WRITTEN: dict[str, set[str]] = {
    **dict.fromkeys(("whole", "either", "unsigned", "date", "timestamp", "span"), _NUMBERS),
    **dict.fromkeys(("time3", "time6", "time9"), _NUMBERS),
    "float": _NUMBERS | {"DOUBLE", "VARCHAR"},
    "boolean": {"BOOLEAN"},
    "variable": {"OBJECT"},
    **{code: {"VARCHAR"} for code in ("text", "json", "decimal", "bytes", "zoned", "enum", "bits")},
}


@dataclass
class OldRows:
    """What the old rows of a table say of its replica identity. ``partial``: some of them have
    their key alone, or no old row was sent; ``proven``: an old row was sent though no column that
    an index of identity may have was changed, so it is FULL; ``unkeyed``: one was sent without its
    key, so it is an index, and an update without an old row may change the key; ``keyed``: one was
    sent with its key; ``carried``: columns that had a value in an old row; ``gaps``: columns of
    which a null there may be a value (None: of none)."""

    partial: bool = False
    proven: bool = False
    unkeyed: bool = False
    keyed: bool = False
    carried: set[str] = field(default_factory=set)
    gaps: set[str] | None = None

    def lacking(self, names: Sequence[str], key: Sequence[str]) -> list[int]:
        """Which of some columns old rows do not tell."""
        if self.partial:
            return [place for place, name in enumerate(names) if name not in key]
        if self.gaps is not None:
            return [place for place, name in enumerate(names) if name in self.gaps]
        if self.proven:
            return []
        return [place for place, name in enumerate(names) if name not in self.carried]


def unlike(rows: pa.Array, schema: RowSchema) -> tuple[Mask, str]:
    """Which rows (text of JSON) have other columns than their schema, or values that JSON writes
    otherwise than the connector does, and what the first of them has."""
    there, columns = np.flatnonzero(lines.mask(rows.is_valid())), schema.format.columns
    wrong = np.zeros(len(rows), bool)
    if not len(there):
        return wrong, ""
    types, counts = lines.types_of(rows.take(pa.array(there)), schema.names)
    coded = types.dictionary_encode()
    known = [*coded.dictionary.to_pylist(), None]
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    nullable = [[kind == "NULL" and one.nullable for kind in known] for one in columns]
    written = [
        [kind in _WRITTEN.get(one.code, {*known} - {"NULL", None}) for kind in known]
        for one in columns
    ]
    fits = np.array(nullable, bool) | np.array(written, bool)
    each = fits[np.arange(len(columns)), codes.reshape(len(there), len(columns))]
    wrong[there] = ~each.all(axis=1) | (counts.to_numpy(zero_copy_only=False) != len(columns))
    if not wrong.any():
        return wrong, ""
    first = int(np.flatnonzero(wrong[there])[0])
    names = [*json.loads(rows[int(there[first])].as_py())]
    if sorted(names) != sorted(schema.names):
        return wrong, f"columns {', '.join(names)}, other than declared"
    place = int(np.argmin(each[first]))
    kind = known[codes.reshape(each.shape)[first, place]]
    expected = _WRITTEN.get(columns[place].code, ["a value"])
    return wrong, (
        f"column {schema.names[place]} written as JSON's {kind}; expected"
        f" {' or '.join(sorted(expected))} by its declared type"
    )


def of_other_keys(keys: pa.Array, rows: pa.Array, names: Sequence[str]) -> Mask:
    """Which rows have another key than their events."""
    wrong = np.zeros(len(rows), bool)
    if not names or keys.null_count == len(keys):
        return wrong
    sides = (lines.columns_of(side, [*names]) for side in (keys, rows))
    for told, found in zip(*sides, strict=True):
        wrong |= lines.mask(pc.not_equal(told, found))
    return wrong


@dataclass(frozen=True)
class ChangeImages:
    """Images of ``n`` changes: ``before`` and ``after`` (binary, null where there is none), and
    ``unkeyed``: the old row was sent without its key, or not at all."""

    before: pa.Array
    after: pa.Array
    unkeyed: Mask


def images_of(
    before: pa.Array,
    after: pa.Array,
    updates: Mask,
    schema: RowSchema,
    key: Sequence[str],
    identity: OldRows | None,
    unavailable: str,
) -> ChangeImages:
    """Images of changes of one table by their rows as text of JSON. What they say of its replica
    identity is added to ``identity`` (None: old rows are whole)."""
    names = schema.names
    old, new = lines.columns_of(before, names), lines.columns_of(after, names)
    there = lines.mask(before.is_valid())
    unkeyed = np.zeros(len(before), bool)
    if identity is not None and identity.gaps is not None:
        _note_gaps(old, new, there, updates, schema, identity)
    elif identity is not None:
        unkeyed = _judge(old, new, there, updates, schema, key, identity)
    old, no_old = _without(old, schema, unavailable)
    new, no_new = _without(new, schema, unavailable)
    alone = updates & ~there
    if alone.any():  # the key is that of the new row, because an update does not change it
        for place, name in enumerate(names):
            if name in key:
                old[place] = pc.if_else(pa.array(alone), new[place], old[place])
            else:
                gap = no_old[place]
                no_old[place] = alone if gap is None else gap | alone
    made = [images(old, no_old), images(new, no_new)]
    kept = [there | alone, lines.mask(after.is_valid())]
    sides = [
        pc.if_else(pa.array(keep), side, pa.scalar(None, pa.binary()))
        for side, keep in zip(made, kept, strict=True)
    ]
    return ChangeImages(sides[0], sides[1], unkeyed)


def _judge(
    old: Sequence[pa.Array],
    new: Sequence[pa.Array],
    there: Mask,
    updates: Mask,
    schema: RowSchema,
    key: Sequence[str],
    identity: OldRows,
) -> Mask:
    """Add what old rows say, and tell which lack their key, or are not there."""
    zeros = pa.array(sorted(ZEROS), pa.string())
    valued = np.zeros((len(there), len(old)), bool)
    unchanged = there & updates
    for place, required in enumerate(schema.required):
        has = lines.mask(old[place].is_valid())
        if required:
            has &= ~lines.mask(pc.is_in(old[place], zeros))
            unchanged &= lines.mask(pc.equal(old[place], new[place]))
        valued[:, place] = has & there
    of_key = np.array([name in key for name in schema.names], bool)
    values = valued[:, ~of_key].any(axis=1)
    if not of_key.all():
        identity.partial |= bool((there & ~values & ~unchanged).any())
    identity.partial |= bool((updates & ~there).any())
    identity.proven |= bool(unchanged.any())
    carried = np.flatnonzero(valued.any(axis=0)).tolist()
    identity.carried |= {schema.names[place] for place in carried}
    keyed = valued[:, of_key].all(axis=1)
    identity.keyed |= bool((there & keyed).any())
    unkeyed = there & values & ~keyed
    identity.unkeyed |= bool(unkeyed.any())
    return np.asarray(unkeyed | (updates & ~there))


def _note_gaps(
    old: Sequence[pa.Array],
    new: Sequence[pa.Array],
    there: Mask,
    updates: Mask,
    schema: RowSchema,
    identity: OldRows,
) -> None:
    """Add the columns of texts and bytes of any length that are null in an old row, but not in the
    new one of an update."""
    identity.partial |= bool((updates & ~there).any())
    gaps = set[str]()
    for before, after, entry in zip(old, new, schema.format.columns, strict=True):
        if (
            entry.column.unsized
            and (
                there & ~lines.mask(before.is_valid()) & (~updates | lines.mask(after.is_valid()))
            ).any()
        ):
            gaps.add(entry.column.name)
    identity.gaps = gaps | (identity.gaps or set())


def _without(
    columns: Sequence[pa.Array], schema: RowSchema, unavailable: str
) -> tuple[list[pa.Array], list[Mask | None]]:
    """Columns with null where a value is not available, and where that is."""
    encoded = b64encode(unavailable.encode()).decode()
    codes = ",".join(map(str, unavailable.encode()))
    stands = {
        "text": [unavailable],
        "bytes": [encoded],
        # a value of a type that is neither: in a list, too
        "unread": [unavailable, encoded, f'["{unavailable}"]', f"[{codes}]"],
        **{code: [unavailable] for code in ("pg text", "pg bytes", "pg number")},
    }
    made, absent = list[pa.Array](), list[Mask | None]()
    for values, entry in zip(columns, schema.format.columns, strict=True):
        missing: Mask | None = None
        if entry.code in stands:
            missing = lines.mask(pc.is_in(values, pa.array(stands[entry.code], pa.string())))
        if missing is not None and missing.any():
            values = pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), values)
        made.append(values)
        absent.append(missing if missing is not None and missing.any() else None)
    return made, absent
