"""Messages of pgoutput as a framing of change events: what they say, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import TableVersion
from replay.logs import Inputs
from replay.logs.events.event_reader import EventReader
from replay.logs.events.schemas import Shape
from replay.logs.events.sources import POSTGRES
from replay.logs.events.values import EventWalk
from replay.logs.pgoutput.framing import SAID, UNAVAILABLE, Connection, Entry, Reader, is_pgoutput
from replay.logs.pgoutput.layouts import Relation
from replay.logs.pgoutput.values import PgoutputWalk

#: Messages that are read at once.
_TOGETHER = 1 << 15
_ROW = pa.list_(pa.string())
_NUMBERS = ("events", "lsn", "micros", "total_order")
_TYPES = {**dict.fromkeys(_NUMBERS, pa.int64()), "before": _ROW, "after": _ROW}


class Pgoutput(EventReader):
    """Reads messages of pgoutput. ``relations``: the tables that they describe, in their order."""

    WALK: ClassVar[type[EventWalk]] = PgoutputWalk

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self.connection, self.relations = Connection(), dict[Relation, str]()

    @classmethod
    def reads(cls, raw: Bytes) -> bool:
        """As :meth:`EventReader.reads`."""
        return is_pgoutput(raw)

    def batches(self, raw: Bytes, path: str) -> Iterator[tuple[pa.Table, Index]]:
        """As :meth:`EventReader.batches`."""
        found = Reader(raw, path, self.connection).entries()
        while part := list(islice(found, _TOGETHER)):
            entries, sizes = zip(*part, strict=True)
            yield self._table(entries), np.array(sizes, np.int64)

    def _table(self, entries: Sequence[Entry]) -> pa.Table:
        """Entries as columns; what is the same for all changes of a table stands there once."""
        said = dict(zip(SAID, zip(*entries, strict=True), strict=True))
        of = said.pop("relation")
        known = {id(one): one for one in of if one is not None}
        places = {number: place for place, number in enumerate(known)}
        codes = pa.array([places.get(id(one)) for one in of], pa.int32())
        columns = {name: pa.array(one, _TYPES.get(name, pa.string())) for name, one in said.items()}
        texts = {
            "schema_name": [one.schema for one in known.values()],
            "table_name": [one.name for one in known.values()],
            "schema": [
                self.relations.setdefault(one, str(len(self.relations))) for one in known.values()
            ],
        }
        for name, one in texts.items():
            columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array(one, pa.string()))
        columns["connector"] = pc.if_else(codes.is_valid(), POSTGRES, pa.scalar(None, pa.string()))
        columns["transaction"] = columns["id"]
        nothing = pc.and_(columns["op"].is_null(), columns["status"].is_null())
        return pa.table(columns | {"nothing": nothing})

    def shape(
        self,
        name: tuple[str, str],
        described: tuple[str | None, str | None],
        row: str | None,
        where: str,
        binlog: bool,
    ) -> Shape:
        """As :meth:`EventReader.shape`."""
        return list(self.relations)[int(described[0] or 0)].shape()

    def values(self, rows: pa.Array, names: Sequence[str]) -> pa.Array:
        """As :meth:`EventReader.values`: rows have the values of all columns."""
        return rows

    def stands(self, code: str) -> Sequence[str]:
        """As :meth:`EventReader.stands`."""
        return (UNAVAILABLE,)

    @property
    def uncommitted(self) -> int:
        """As :attr:`EventReader.uncommitted`."""
        return len(self.connection.sent)

    def misfits(
        self, sides: Sequence[pa.Array], key: pa.Array, version: TableVersion, where: str
    ) -> Mask:
        """As :meth:`EventReader.misfits`: none."""
        return np.zeros(len(key), bool)
