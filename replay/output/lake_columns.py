"""The columns of tables of a lake: those of several generations of a table as one."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import Refusal, Where


def united(parts: Sequence[pa.Table], known: pa.Schema | None, name: str, small: bool) -> pa.Table:
    """Rows of several generations as one table, with the columns of all of them and of the table in
    the lake (``known``; None: there is none); a column that a generation lacks is null. ``small``:
    the lake has whole numbers of 16 bits. Refusal LR4006 where a column has two types."""
    schema = known
    for part in parts:
        schema = widened(schema, _spelled(part.schema, small), name)
    assert schema is not None
    return pa.concat_tables([conformed(part, schema) for part in parts])


def _spelled(schema: pa.Schema, small: bool) -> pa.Schema:
    """A schema in the types of the lake."""

    def kind(given: pa.DataType) -> pa.DataType:
        if pa.types.is_struct(given):
            return pa.struct([pa.field(entry.name, kind(entry.type)) for entry in given])
        return pa.int32() if given == pa.int16() and not small else given

    return pa.schema([pa.field(entry.name, kind(entry.type)) for entry in schema])


def widened(known: pa.Schema | None, schema: pa.Schema, name: str) -> pa.Schema:
    """A schema with the columns (and fields of structs) of another one behind its own; ``name`` is
    that of the table. Refusal LR4006 where one has two types."""
    if known is None:
        return schema
    return pa.schema(_merged_fields(list(known), list(schema), name))


def _merged_fields(known: list[pa.Field], new: list[pa.Field], name: str) -> list[pa.Field]:
    by_name = {entry.name: entry for entry in new}
    fields = []
    for entry in known:
        other = by_name.pop(entry.name, entry)
        kind = entry.type
        if pa.types.is_struct(kind) and pa.types.is_struct(other.type):
            kind = pa.struct(_merged_fields(list(kind), list(other.type), name))
        elif _plain(kind) != _plain(other.type):
            raise Refusal(
                "LR4006",
                f"found column {entry.name} as {other.type}; expected {kind}, as it was before",
                Where(table=name),
                "Follow the table from here on in another folder, or leave the column out"
                " (--exclude-columns)",
            )
        fields.append(pa.field(entry.name, kind))
    return [*fields, *by_name.values()]


def _plain(kind: pa.DataType) -> pa.DataType:
    """Types that hold the same values as one."""
    same = {
        pa.large_string(): pa.string(),
        pa.string_view(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.binary_view(): pa.binary(),
    }
    return same.get(kind, kind)


def conformed(part: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of a schema that has them all; those that they lack are null."""
    columns = [
        _conformed_column(
            part[entry.name].combine_chunks() if entry.name in part.column_names else None,
            entry.type,
            len(part),
        )
        for entry in schema
    ]
    return pa.table(columns, schema=schema)


def _conformed_column(values: pa.Array | None, kind: pa.DataType, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, kind)
    if not pa.types.is_struct(kind):
        return values.cast(kind)
    given = {entry.name: place for place, entry in enumerate(values.type)}
    children = [
        _conformed_column(
            pc.struct_field(values, given[entry.name]) if entry.name in given else None,
            entry.type,
            count,
        )
        for entry in kind
    ]
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=values.is_null())
