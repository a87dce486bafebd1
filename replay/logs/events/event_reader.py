"""How the files of a log of change events are read: what they say, and what is known of tables and
values."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.errors import InputError, Where
from replay.logs import Inputs
from replay.logs.events import lines, schemas
from replay.logs.events.catalog_schemas import DeclaredTables
from replay.logs.events.rows import columns_of
from replay.logs.events.values import CODES, EventWalk
from replay.logs.made_images import mask

#: What stands for a value that the event does not have, unless the connector is set otherwise.
_UNAVAILABLE = "__debezium_unavailable_value"


class EventReader:
    """Reads the files of a log, one behind the other, as lines of JSON; those of other framings are
    read by classes derived of it. ``catalog``: the DDL of tables whose events have no schemas, its
    path until it is read; ``declared``: these tables."""

    #: How images of rows are walked.
    WALK: ClassVar[type[EventWalk]] = EventWalk

    def __init__(self, inputs: Inputs) -> None:
        self.unavailable = inputs.options.get("unavailable", _UNAVAILABLE)
        self.catalog: str | DeclaredTables | None = inputs.catalog
        self.declared: set[tuple[str, str]] = set()

    @classmethod
    def reads(cls, raw: Bytes) -> bool:
        """Whether it reads a log whose first file has these bytes."""
        return True

    @property
    def uncommitted(self) -> int:
        """How many transactions had sent changes and did not end when the log ended."""
        return 0

    def batches(self, raw: Bytes, path: str) -> Iterator[tuple[pa.Table, Index]]:
        """What the events of a file say (columns of :data:`lines.NAMES`, but those that it does not
        have), and their sizes, part by part. InputError where it is damaged, Refusal for what
        refers to what is not there."""
        form = lines.form_of(raw, path)
        for row, texts in lines.windows(raw):
            yield lines.read(texts, form, path, row), np.asarray(pc.binary_length(texts))

    def shape(
        self,
        name: tuple[str, str],
        described: tuple[str | None, str | None],
        row: str | None,
        where: str,
        binlog: bool,
    ) -> schemas.Shape:
        """How rows of a table are written, by what its events say (``schema``, ``key_schema``),
        else by the catalog; ``row`` is one, in a file (``where``). InputError LR2031 where it is
        not known."""
        try:
            shape = None
            if described[0] is not None:
                shape = schemas.shape(described[0], described[1], binlog)
            elif self.catalog is not None:
                if isinstance(self.catalog, str):
                    self.catalog = DeclaredTables(self.catalog, binlog)
                shape = self.catalog.shape(name, row)
                self.declared.add(name)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                "LR2031",
                f"found a schema that cannot be read ({error}); expected one of Connect",
                Where(where, table=".".join(name)),
            ) from None
        if shape is None:
            raise InputError(
                "LR2031",
                "found an event without the schema of its rows; expected it beside the payload, or"
                " the table's DDL (--catalog)",
                Where(where, table=".".join(name)),
                "Have the connector write schemas: value.converter.schemas.enable=true (Kafka"
                " Connect) or debezium.format.schemas.enable=true (Debezium Server). Or name a file"
                " with the CREATE TABLE statements: --catalog FILE --log-option settings=default",
            )
        return shape

    def values(self, rows: pa.Array, names: Sequence[str]) -> pa.Array:
        """The values of some columns of rows, as lists of texts."""
        return lines.values_of(rows, names)

    def stands(self, code: str) -> Sequence[str]:
        """The texts that stand for a value, decoded by a code, that is not available."""
        text, raw = self.unavailable, self.unavailable.encode()
        encoded = b64encode(raw).decode()
        if code == "unread":  # a value of a type that is neither: in a list, too
            return text, encoded, f'["{text}"]', f"[{','.join(map(str, raw))}]"
        return {"bytes": (encoded,), "text": (text,)}.get(code, ())

    def misfits(
        self, sides: Sequence[pa.Array], key: pa.Array, version: TableVersion, where: str
    ) -> Mask:
        """Which events have rows of another form, or of another key, than they say. InputError
        LR2031 where the user said which form they have."""
        wrong = np.zeros(len(key), bool)
        names = lines.names_of(key, [one.name for one in version.table.columns])
        keys = columns_of(self.values(key, names), len(names)) if names else []
        for side in sides:
            unlike, said = _unlike(side, version)
            if said and (version.table.schema, version.table.name) in self.declared:
                raise InputError(
                    "LR2031",
                    f"found {said}; expected rows as --catalog declares, by the connector's default"
                    " settings",
                    Where(where, table=version.name),
                    "Where a table was changed in between, give the events before and after it by"
                    " themselves, each with its DDL",
                )
            wrong |= unlike
            # a change of a key comes as a delete and a create
            found = columns_of(self.values(side, names), len(names)) if keys else []
            for told, one in zip(keys, found, strict=True):
                wrong |= mask(pc.not_equal(told, one))
        return wrong


def _unlike(rows: pa.Array, version: TableVersion) -> tuple[Mask, str]:
    """Which rows (text of JSON) have other columns than their schema, or values that JSON writes
    otherwise than the connector does, and what the first of them has."""
    there, columns = np.flatnonzero(mask(rows.is_valid())), version.format.columns
    names = [one.column.name for one in columns]
    wrong = np.zeros(len(rows), bool)
    if not len(there):
        return wrong, ""
    types, counts = lines.types_of(rows.take(pa.array(there)), names)
    coded = types.dictionary_encode()
    known = [*coded.dictionary.to_pylist(), None]
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    fits = np.array(
        [
            [
                one.nullable if kind == "NULL" else kind in (CODES[one.code].written or {kind})
                for kind in known[:-1]
            ]
            + [False]
            for one in columns
        ]
    )
    each = fits[np.arange(len(columns)), codes.reshape(len(there), len(columns))]
    wrong[there] = ~each.all(axis=1) | (counts.to_numpy(zero_copy_only=False) != len(columns))
    if not wrong.any():
        return wrong, ""
    first = int(np.flatnonzero(wrong[there])[0])
    found = [*json.loads(rows[int(there[first])].as_py())]
    if sorted(found) != sorted(names):
        return wrong, f"columns {', '.join(found)}, other than declared"
    place = int(np.argmin(each[first]))
    kind = known[codes.reshape(each.shape)[first, place]]
    expected = CODES[columns[place].code].written or ["a value"]
    return wrong, (
        f"column {names[place]} written as JSON's {kind}; expected"
        f" {' or '.join(sorted(expected))} by its declared type"
    )
