"""What ``pg_recvlogical`` writes of PostgreSQL's own output plugin ``pgoutput``, protocol 1, values
as text: messages behind each other, a line end behind each. They become what lines of change events
say. Neither files nor messages have lengths, so each is read to find its end."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes
from replay.errors import InputError, Refusal, Where
from replay.logs.events import lines
from replay.logs.events.sources import POSTGRES

#: Seconds from 1970 to 2000, where PostgreSQL's time begins, as microseconds.
_EPOCH = 946_684_800_000_000
#: Messages that are read at once.
_TOGETHER = 1 << 15
_BEGIN, _NEWLINE, _HEAD = b"B", 10, 21
#: What may come behind the first message: also those of later protocols, to be refused by name.
_SECOND = "RIUDTCMYOSb"
#: Bytes in which the end of a name is looked for.
_LONGEST = 1 << 12
#: Messages of later protocols.
_LATER = {**dict.fromkeys("SEcA", "streaming"), **dict.fromkeys("bPKrp", "two_phase")}
_NAMES = (*lines.FIELDS, "before", "after", "schema", "key", "key_schema")
#: What stands for a value that was not sent: no text of PostgreSQL has it.
UNAVAILABLE = "\0"
_ROW = pa.list_(pa.string())
_TYPES = {**dict.fromkeys(lines.NUMBERS, pa.int64()), "before": _ROW, "after": _ROW}


def is_pgoutput(raw: Bytes | bytes) -> bool:
    """Whether a file begins as pgoutput's first transaction does."""
    begins = len(raw) > _HEAD + 1 and raw[0] == ord(_BEGIN) and raw[_HEAD] == _NEWLINE
    return bool(begins and chr(raw[_HEAD + 1]) in _SECOND)


@dataclass(frozen=True)
class _Relation:
    """A table: its columns, and the schemas of its rows and keys as text of JSON."""

    schema: str
    name: str
    columns: tuple[str, ...]
    row_schema: str
    key_schema: str


@dataclass
class Connection:
    """What messages refer to: the tables that those before describe, and the open transaction."""

    relations: dict[int, _Relation] = field(default_factory=dict)
    xid: int = -1
    final: int = -1
    micros: int = 0
    count: int = 0


class Reader:
    """The messages of a file. InputError LR2006 for those that are none, Refusal LR3020 for what
    protocol 1 does not have."""

    def __init__(self, raw: Bytes, path: str, connection: Connection) -> None:
        self.raw = memoryview(raw)  # type: ignore[arg-type]
        self.path, self.known = path, connection
        self.at = self.number = 0

    def tables(self) -> Iterator[tuple[pa.Table, np.ndarray[Any, np.dtype[np.int64]]]]:
        """What messages say, as :func:`replay.logs.events.lines.read` gives it, and their sizes,
        part by part. A TRUNCATE of several tables is several changes."""
        entries: list[dict[str, Any]] = []
        sizes: list[int] = []
        while self.at < len(self.raw):
            begin = self.at
            try:
                made = self._message()
            except (struct.error, IndexError, ValueError):
                self._cut()
            if bytes(self.raw[self.at : self.at + 1]) != b"\n":
                self._cut()
            self.at += 1
            self.number += 1
            entries += made
            sizes += [self.at - begin, *[0] * (len(made) - 1)]
            if len(entries) >= _TOGETHER:
                yield _table(entries), np.array(sizes, np.int64)
                entries, sizes = [], []
        if entries:
            yield _table(entries), np.array(sizes, np.int64)

    def _cut(self) -> NoReturn:
        raise InputError(
            "LR2006",
            "found a message that is not whole, or no message of pgoutput; expected protocol 1 with"
            " values as text",
            Where(self.path, self.number + 1),
            "pg_recvlogical that was ended in the middle of a message leaves it so; what it wrote"
            " since begins with that transaction again: give it as another file, and this one up to"
            " the last whole message",
        )

    def _take(self, form: str) -> Any:
        found = struct.unpack_from(form, self.raw, self.at)
        self.at += struct.calcsize(form)
        return found if len(found) > 1 else found[0]

    def _text(self) -> str:
        found = bytes(self.raw[self.at : self.at + _LONGEST])
        text = found[: found.index(b"\0")]
        self.at += len(text) + 1
        return text.decode("utf-8")

    def _message(self) -> list[dict[str, Any]]:
        kind = chr(self._take(">B"))
        if kind in _LATER:
            raise self._other(f"a message of kind {kind}", _LATER[kind])
        read = getattr(self, f"_kind_{kind}", None)
        if read is None:
            raise ValueError(kind)
        made: list[dict[str, Any]] = read()
        return made

    def _other(self, found: str, setting: str) -> Refusal:
        return Refusal(
            "LR3020",
            f"found {found} ({setting}); expected those of protocol 1, whose transactions lie"
            " behind each other when they are committed, with values as text",
            Where(self.path, self.number + 1),
            "Record with proto_version=1, without streaming, two_phase and binary",
        )

    def _kind_B(self) -> list[dict[str, Any]]:
        known = self.known
        known.final, time, known.xid = self._take(">QqI")
        known.micros, known.count = time + _EPOCH, 0
        return [{"status": "BEGIN", "id": f"{known.xid}:{known.final}"}]

    def _kind_C(self) -> list[dict[str, Any]]:
        _, commit, end, _ = self._take(">BQQq")
        if not self.known.final == commit < end:
            raise ValueError(commit)
        unit = f"{self.known.xid}:{end}"
        made = {"status": "END", "id": unit, "events": self.known.count}
        self.known.xid = -1
        return [made]

    def _kind_R(self) -> list[dict[str, Any]]:
        number = self._take(">I")
        schema, name = self._text() or "pg_catalog", self._text()
        identity = chr(self._take(">B"))
        fields, of_key = list[dict[str, Any]](), list[dict[str, str]]()
        for _ in range(self._take(">H")):
            flag = self._take(">B")
            column = self._text()
            oid, modifier = self._take(">Ii")
            if flag & 1 and identity != "f":  # with FULL each column is flagged
                of_key.append({"field": column})
            said = {"parameters": {"oid": oid, "modifier": modifier}}
            fields.append({"field": column, "type": "pgoutput", "optional": True, **said})
        rows = {"field": "after", "type": "struct", "fields": fields}
        self.known.relations[number] = _Relation(
            schema,
            name,
            tuple(one["field"] for one in fields),
            json.dumps({"identity": identity, "fields": [rows]}),
            json.dumps({"fields": of_key}),
        )
        return [{}]

    def _kind_Y(self) -> list[dict[str, Any]]:
        self._take(">I")
        self._text()
        self._text()
        return [{}]

    def _kind_O(self) -> list[dict[str, Any]]:
        self._take(">Q")
        self._text()
        return [{}]

    def _kind_M(self) -> list[dict[str, Any]]:
        self._take(">BQ")
        self._text()
        size = self._take(">I")
        self.at += size
        return [{}]

    def _kind_I(self) -> list[dict[str, Any]]:
        relation = self._relation(self._take(">I"))
        return [self._change("c", relation, None, self._row("N", relation))]

    def _kind_U(self) -> list[dict[str, Any]]:
        relation = self._relation(self._take(">I"))
        old = None
        if chr(self.raw[self.at]) in "KO":
            old = self._row(chr(self.raw[self.at]), relation)
        return [self._change("u", relation, old, self._row("N", relation))]

    def _kind_D(self) -> list[dict[str, Any]]:
        relation = self._relation(self._take(">I"))
        return [self._change("d", relation, self._row(chr(self.raw[self.at]), relation), None)]

    def _kind_T(self) -> list[dict[str, Any]]:
        count, _ = self._take(">IB")
        return [
            self._change("t", self._relation(self._take(">I")), None, None) for _ in range(count)
        ]

    def _relation(self, number: int) -> _Relation:
        if number not in self.known.relations:
            raise Refusal(
                "LR3020",
                "found a change of a table that no message describes; expected the description,"
                " which pgoutput sends once a connection",
                Where(self.path, self.number + 1),
                "Give the file before, too: this one begins in the middle of a connection",
            )
        return self.known.relations[number]

    def _row(self, kind: str, relation: _Relation) -> list[str | None]:
        """A row: the values of its columns."""
        if chr(self._take(">B")) != kind or kind not in "KON":
            raise ValueError(kind)
        if self._take(">H") != len(relation.columns):
            raise ValueError(relation.name)
        return [self._value() for _ in relation.columns]

    def _value(self) -> str | None:
        form = chr(self._take(">B"))
        if form == "t":
            size = self._take(">I")
            if self.at + size > len(self.raw):
                raise ValueError(size)
            self.at += size
            return bytes(self.raw[self.at - size : self.at]).decode("utf-8")
        if form == "b":
            raise self._other("values that are no text", "binary")
        if form not in "nu":
            raise ValueError(form)
        return None if form == "n" else UNAVAILABLE

    def _change(
        self,
        op: str,
        relation: _Relation,
        before: list[str | None] | None,
        after: list[str | None] | None,
    ) -> dict[str, Any]:
        known = self.known
        if known.xid < 0:
            raise ValueError(op)
        known.count += 1
        return {
            "op": op,
            "connector": POSTGRES,
            "schema_name": relation.schema,
            "table_name": relation.name,
            # changes have no place of their own
            "lsn": known.final + known.count,
            "micros": known.micros,
            "transaction": f"{known.xid}:{known.final}",
            "total_order": known.count,
            "before": before,
            "after": after,
            "schema": relation.row_schema,
            "key_schema": relation.key_schema,
        }


def _table(entries: list[dict[str, Any]]) -> pa.Table:
    columns = {
        name: pa.array([entry.get(name) for entry in entries], _TYPES.get(name, pa.string()))
        for name in _NAMES
    }
    return pa.table(columns | {"nothing": [not entry for entry in entries]})
