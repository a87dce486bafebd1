"""Images of Log Master's tables as machine code takes them (:mod:`replay.decoding.plain_rows`)."""

from __future__ import annotations

from replay.changes.catalog import ColumnFormat, RowFormat
from replay.decoding.image_layouts import Cell, layouts
from replay.decoding.image_values import unusable
from replay.decoding.plain_rows import PlainCell, PlainRows, ValueForm
from sqlgen.schema import SqlType

_FORMS = {
    SqlType.CHAR: ValueForm.TEXT,
    SqlType.VARCHAR: ValueForm.TEXT,
    SqlType.SMALLINT: ValueForm.INTEGER,
    SqlType.INTEGER: ValueForm.INTEGER,
    SqlType.BIGINT: ValueForm.INTEGER,
    SqlType.DECIMAL: ValueForm.PACKED,
    SqlType.DATE: ValueForm.MOMENT,
    SqlType.TIME: ValueForm.MOMENT,
    SqlType.TIMESTAMP: ValueForm.MOMENT,
}


def plain_rows(fmt: RowFormat, reading: int) -> PlainRows | None:
    """The images of a reading of a format, for machine code; None where that cannot take them."""
    cells = tuple(layouts(fmt))[reading]
    if any(column.lob for column in fmt.columns):
        return None
    if any(cell.unit != 1 or cell.filled for cell in cells):
        return None
    pairs = zip(cells, fmt.columns, strict=True)
    return PlainRows(
        tuple(
            PlainCell(
                cell.nullable, cell.variable, cell.width, _form(column, cell),
                expanded=cell.expanded,
            )
            for cell, column in pairs
        ),
    )  # fmt: skip


def _form(column: ColumnFormat, cell: Cell) -> ValueForm | None:
    """How the bytes of a column say its values."""
    form = None if column.raw else _FORMS.get(column.column.type)
    if form is ValueForm.TEXT:
        return form
    return None if cell.variable or unusable(column, cell.width) else form
