"""What ``pg_recvlogical`` writes of PostgreSQL's own output plugin ``pgoutput``, protocols 1 to 4,
values as text: messages behind each other, a line end behind each. They become what lines of change
events say. Neither files nor messages have lengths, so each is read to find its end.

A transaction that is sent before it commits (``streaming``, ``two_phase``) is read twice: where its
messages come, to find where they end, and when it commits. Until then one of the subtransactions of
a streamed one may be rolled back, and its descriptions of tables are its own."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
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
_NEWLINE = 10
#: Bytes of the first message of a file, by its kind; behind those of ``b`` a name comes.
_FIRST = {"B": 21, "S": 6, "b": 29}
#: What may come behind it.
_SECOND = "BRIUDTCMYOESPc"
#: Bytes in which the end of a name is looked for.
_LONGEST = 1 << 12
#: Messages that say in a streamed transaction which subtransaction they are of.
_OF_TRANSACTION = "RYMIUDT"
#: What stands for a value that was not sent: no text of PostgreSQL has it.
UNAVAILABLE = "\0"
_ROW = pa.list_(pa.string())
_TYPES = {**dict.fromkeys(lines.NUMBERS, pa.int64()), "before": _ROW, "after": _ROW}


def is_pgoutput(raw: Bytes | bytes) -> bool:
    """Whether a file begins as pgoutput's first transaction does."""
    begin = bytes(raw[:_LONGEST])
    kind = chr(begin[0]) if begin else ""
    end = _FIRST.get(kind, len(begin))
    if kind == "b":
        end = begin.find(b"\0", end) + 1
    if len(begin) < end + 2 or begin[end] != _NEWLINE:
        return False
    # an LSN begins with zeros, and a stream is the first of its transaction or is not
    return begin[5 if kind == "S" else 1] < 2 and chr(begin[end + 1]) in _SECOND


@dataclass(frozen=True)
class _Relation:
    """A table: of which kind its old rows are (O: whole, K: keys), its columns, and the schemas of
    its rows and keys as text of JSON."""

    schema: str
    name: str
    old: str
    columns: tuple[str, ...]
    row_schema: str
    key_schema: str


#: That of a message that is read to find where it ends.
_UNKNOWN = _Relation("", "", "", (), "", "")


@dataclass
class _Sent:
    """The messages of a transaction that is sent before it commits: their ``files`` (bytes, path),
    and of each the place of its file there, its number in it, where it begins, and its
    subtransaction. ``streamed``: they name that; ``aborted``: those that were rolled back."""

    streamed: bool
    files: list[tuple[memoryview, str]] = field(default_factory=list)
    places: array[int] = field(default_factory=lambda: array("q"))
    aborted: set[int] = field(default_factory=set)

    def add(self, raw: memoryview, path: str, number: int, at: int, part: int) -> None:
        if not self.files or self.files[-1][0] is not raw:
            self.files.append((raw, path))
        self.places.extend((len(self.files) - 1, number, at, part))

    def messages(self) -> Iterator[tuple[memoryview, str, int, int]]:
        """(bytes, path, number, where it begins) of those that count."""
        for row in range(0, len(self.places), 4):
            file, number, at, part = self.places[row : row + 4]
            if part not in self.aborted:
                yield *self.files[file], number, at


@dataclass
class Connection:
    """What messages refer to: the tables that those before describe, the open transaction, those
    that were sent and have not committed by their id (``sent``) and which of these the messages are
    of (``into``), of prepared ones that committed where, and how many changes they have, and the
    end of the last transaction."""

    relations: dict[int, _Relation] = field(default_factory=dict)
    xid: int = -1
    final: int = -1
    micros: int = 0
    count: int = 0
    end: int = 0
    sent: dict[int, _Sent] = field(default_factory=dict)
    into: _Sent | None = None
    prepared: dict[int, tuple[int, int]] = field(default_factory=dict)

    def goes_on(self, raw: Bytes) -> bool:
        """Whether a file may go on where the one before ended, with any message."""
        return bool(self.relations or self.sent) and raw[0] != ord("{")


class Reader:
    """The messages of a file. InputError LR2006 for those that are none, Refusal LR3020 for values
    that are no text and for what refers to a file that is not given."""

    def __init__(self, raw: Bytes, path: str, connection: Connection) -> None:
        self.raw = memoryview(raw)  # type: ignore[arg-type]
        self.path, self.known = path, connection
        self.at = self.number = 0

    @property
    def blind(self) -> bool:
        """Whether messages are read to find where they end."""
        return self.known.into is not None

    def tables(self) -> Iterator[tuple[pa.Table, np.ndarray[Any, np.dtype[np.int64]]]]:
        """What messages say, as :func:`replay.logs.events.lines.read` gives it, and their sizes,
        part by part. A TRUNCATE of several tables is several changes."""
        entries: list[dict[str, Any]] = []
        sizes: list[int] = []
        for entry, size in self._entries():
            entries.append(entry)
            sizes.append(size)
            if len(entries) >= _TOGETHER:
                yield _table(entries), np.array(sizes, np.int64)
                entries, sizes = [], []
        if entries:
            yield _table(entries), np.array(sizes, np.int64)

    def _entries(self) -> Iterator[tuple[dict[str, Any], int]]:
        """What each message says, and its size; 0 for what else it says."""
        while self.at < len(self.raw):
            begin = self.at
            try:
                made = self._message()
                size = self.at + 1 - begin
                for entry in made:
                    yield entry, size
                    size = 0
            except (struct.error, IndexError, ValueError):
                self._cut()
            if bytes(self.raw[self.at : self.at + 1]) != b"\n":
                self._cut()
            self.at += 1
            self.number += 1

    def _cut(self) -> NoReturn:
        raise InputError(
            "LR2006",
            "found a message that is not whole, or no message of pgoutput; expected one of"
            " protocols 1 to 4 with values as text",
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

    def _message(self) -> Iterable[dict[str, Any]]:
        kind, into = chr(self._take(">B")), self.known.into
        part = 0
        if into is not None and kind in _OF_TRANSACTION:
            begin = self.at - 1
            part = self._take(">I") if into.streamed else 0
            into.add(self.raw, self.path, self.number, begin, part)
        made = self._read(kind)
        return [{}] if into is not None and kind in _OF_TRANSACTION else made

    def _read(self, kind: str) -> Iterable[dict[str, Any]]:
        read: Callable[[], Iterable[dict[str, Any]]] | None = getattr(self, f"_kind_{kind}", None)
        if read is None:
            raise ValueError(kind)
        return read()

    # -- transactions that are sent before they commit
    # ---------------------------------------------------------------------------------------------

    def _open(self, xid: int, streamed: bool, first: bool) -> list[dict[str, Any]]:
        """Messages of such a transaction follow; where they are the first ones, all of them (again,
        where a connection ended in between)."""
        if first:
            self.known.sent[xid] = _Sent(streamed)
        self.known.into, self.known.xid = self._known_sent(xid), -1
        return [{}]

    def _close(self) -> list[dict[str, Any]]:
        if self.known.into is None:
            raise ValueError
        self.known.into = None
        return [{}]

    def _known_sent(self, xid: int) -> _Sent:
        if xid not in self.known.sent:
            raise self._before(f"the rest of transaction {xid}, which was sent before it committed")
        return self.known.sent[xid]

    def _committed(self, xid: int, commit: int, end: int, time: int) -> Iterator[dict[str, Any]]:
        """What a transaction did that was sent before. One whose work was rolled back to a
        savepoint is as if it were not sent, as it is not when it is sent at its commit."""
        known, sent = self.known, self._known_sent(xid)
        if known.into is not None or not commit < end:
            raise ValueError(xid)
        del known.sent[xid]
        known.xid, known.final, known.micros, known.count = xid, commit, time + _EPOCH, 0
        here = self.raw, self.path, self.number, self.at
        for self.raw, self.path, self.number, begin in sent.messages():
            self.at, before = begin + 1 + 4 * sent.streamed, known.count
            made = filter(None, self._read(chr(self.raw[begin])))
            if known.count > before == 0:
                yield {"status": "BEGIN", "id": f"{xid}:{commit}"}
            yield from made
        self.raw, self.path, self.number, self.at = here
        ended = self._end(end)
        yield ended if known.count else {}

    def _end(self, end: int) -> dict[str, Any]:
        known = self.known
        unit, known.xid, known.end = f"{known.xid}:{end}", -1, end
        return {"status": "END", "id": unit, "events": known.count}

    def _kind_S(self) -> list[dict[str, Any]]:
        xid, first = self._take(">IB")
        return self._open(xid, True, bool(first))

    def _kind_E(self) -> list[dict[str, Any]]:
        return self._close()

    def _kind_c(self) -> Iterator[dict[str, Any]]:
        xid, _, commit, end, time = self._take(">IBQQq")
        return self._committed(xid, commit, end, time)

    def _kind_A(self) -> list[dict[str, Any]]:
        xid, part = self._take(">II")
        if self.raw[self.at] != _NEWLINE:  # (streaming=parallel: where and when)
            self._take(">Qq")
        sent = self._known_sent(xid)
        sent.aborted.add(part)
        if part == xid:
            del self.known.sent[xid]
        return [{}]

    def _kind_b(self) -> list[dict[str, Any]]:
        *_, xid = self._take(">QQqI")
        self._text()
        return self._open(xid, False, True)

    def _kind_P(self) -> list[dict[str, Any]]:
        self._take(">BQQqI")
        self._text()
        return self._close()

    def _kind_p(self) -> list[dict[str, Any]]:
        *_, xid = self._take(">BQQqI")
        self._text()
        self._known_sent(xid)
        return [{}]

    def _kind_K(self) -> Iterator[dict[str, Any]]:
        _, *commit, xid = self._take(">BQQqI")
        self._text()
        return self._committed_later(xid, *commit)

    def _committed_later(
        self, xid: int, commit: int, end: int, time: int
    ) -> Iterator[dict[str, Any]]:
        """What a prepared transaction did; a connection may say its commit again, and that
        alone."""
        known = self.known
        done, known.count = known.prepared.get(xid, (-1, 0))
        if xid not in known.sent and done == commit:
            known.xid, known.final = xid, commit
            yield self._end(end)
            return
        yield from self._committed(xid, commit, end, time)
        known.prepared[xid] = commit, known.count

    def _kind_r(self) -> list[dict[str, Any]]:
        *_, xid = self._take(">BQQqqI")
        self._text()
        self.known.sent.pop(xid, None)
        return [{}]

    # -- messages of all protocols
    # ---------------------------------------------------------------------------------------------

    def _before(self, found: str) -> Refusal:
        return Refusal(
            "LR3020",
            f"found {found}; expected its beginning, which pgoutput sends once a connection",
            Where(self.path, self.number + 1),
            "Give the file before, too: this one begins in the middle of a connection",
        )

    def _kind_B(self) -> list[dict[str, Any]]:
        known, before = self.known, self.known.final
        known.into = None
        known.final, time, known.xid = self._take(">qqI")
        if known.final < 0 or before < known.final < known.end:
            raise ValueError(known.final)
        known.micros, known.count = time + _EPOCH, 0
        return [{"status": "BEGIN", "id": f"{known.xid}:{known.final}"}]

    def _kind_C(self) -> list[dict[str, Any]]:
        known = self.known
        _, commit, end, time = self._take(">Bqqq")
        whole = known.final == commit < end and known.micros == time + _EPOCH
        if known.xid < 0 or not whole:
            raise ValueError(commit)
        return [self._end(end)]

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
        if self.known.into is not None and self.known.into.streamed:
            return [{}]
        rows = {"field": "after", "type": "struct", "fields": fields}
        self.known.relations[number] = _Relation(
            schema,
            name,
            "O" if identity == "f" else "K",
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
        if relation.old == "O" or chr(self.raw[self.at]) in "KO":
            old = self._old_row(relation)
        return [self._change("u", relation, old, self._row("N", relation))]

    def _kind_D(self) -> list[dict[str, Any]]:
        relation = self._relation(self._take(">I"))
        return [self._change("d", relation, self._old_row(relation), None)]

    def _kind_T(self) -> list[dict[str, Any]]:
        count, _ = self._take(">IB")
        return [
            self._change("t", self._relation(self._take(">I")), None, None) for _ in range(count)
        ]

    def _relation(self, number: int) -> _Relation:
        if self.blind:
            return _UNKNOWN
        if number not in self.known.relations:
            raise self._before("a change of a table that no message describes")
        return self.known.relations[number]

    def _old_row(self, relation: _Relation) -> list[str | None]:
        kind = chr(self.raw[self.at])
        if kind not in (relation.old or "KO"):
            raise ValueError(kind)
        return self._row(kind, relation)

    def _row(self, kind: str, relation: _Relation) -> list[str | None]:
        """A row: the values of its columns."""
        if chr(self._take(">B")) != kind:
            raise ValueError(kind)
        row = [self._value() for _ in range(self._take(">H"))]
        if not self.blind and len(row) != len(relation.columns):
            raise ValueError(relation.name)
        return row

    def _value(self) -> str | None:
        form = chr(self._take(">B"))
        if form == "t":
            size = self._take(">I")
            if self.at + size > len(self.raw):
                raise ValueError(size)
            self.at += size
            return bytes(self.raw[self.at - size : self.at]).decode("utf-8")
        if form == "b":
            raise Refusal(
                "LR3020",
                "found values that are no text (binary); expected them as text",
                Where(self.path, self.number + 1),
                "Record without the option binary",
            )
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
        if self.blind:
            return {}
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
        for name in lines.NAMES
    }
    return pa.table(columns | {"nothing": [not entry for entry in entries]})
