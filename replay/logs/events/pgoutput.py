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
import pyarrow.compute as pc

from replay.arrays import Bytes
from replay.errors import InputError, Refusal, Where
from replay.logs.events import lines
from replay.logs.events.sources import POSTGRES

#: Seconds from 1970 to 2000, where PostgreSQL's time begins, as microseconds.
_EPOCH = 946_684_800_000_000
#: Messages that are read at once.
_TOGETHER = 1 << 15
_NEWLINE, _TEXT, _NULL, _UNSENT, _BINARY = 10, *b"tnub"
_SIZE, _COUNT = struct.Struct(">I").unpack_from, struct.Struct(">H").unpack_from
#: Bytes of the first message of a file, by its kind; behind those of ``b`` a name comes.
_FIRST = {"B": 21, "S": 6, "b": 29}
#: What may come behind it.
_SECOND = "BRIUDTCMYOESPc"
#: Bytes in which the end of a name is looked for.
_LONGEST = 1 << 12
#: What messages without rows hold, and how many names stand behind it.
_FORMS = {
    "B": (">qqI", 0),
    "C": (">Bqqq", 0),
    "S": (">IB", 0),
    "E": (">", 0),
    "c": (">IBQQq", 0),
    "A": (">II", 0),
    "b": (">QQqI", 1),
    "P": (">BQQqI", 1),
    "p": (">BQQqI", 1),
    "K": (">BQQqI", 1),
    "r": (">BQQqqI", 1),
    "Y": (">I", 2),
    "O": (">Q", 1),
    "M": (">BQ", 1),
}
#: Messages that say in a streamed transaction which subtransaction they are of.
_OF_TRANSACTION = frozenset(b"RYMIUDT")
#: What stands for a value that was not sent: no text of PostgreSQL has it.
UNAVAILABLE = "\0"
_ROW = pa.list_(pa.string())
_TYPES = {**dict.fromkeys(lines.NUMBERS, pa.int64()), "before": _ROW, "after": _ROW}
#: What a message says, in this order; ``relation``: the table.
_SAID = (
    "op",
    "status",
    "id",
    "events",
    "relation",
    "lsn",
    "micros",
    "total_order",
    "before",
    "after",
)
_Entry = tuple[Any, ...]
_NOTHING: _Entry = (None,) * len(_SAID)
_OF_RELATION = {
    "schema_name": "schema",
    "table_name": "name",
    "schema": "row_schema",
    "key_schema": "key_schema",
}


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
    unit: str = ""
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
        named = {name: getattr(self, name) for name in dir(self) if name.startswith("_kind_")}
        self.kinds: dict[int, Callable[..., Iterable[_Entry]]] = {
            ord(name[-1]): read for name, read in named.items()
        }

    @property
    def blind(self) -> bool:
        """Whether messages are read to find where they end."""
        return self.known.into is not None

    def tables(self) -> Iterator[tuple[pa.Table, np.ndarray[Any, np.dtype[np.int64]]]]:
        """What messages say, as :func:`replay.logs.events.lines.read` gives it, and their sizes,
        part by part. A TRUNCATE of several tables is several changes."""
        entries: list[_Entry] = []
        sizes: list[int] = []
        end = len(self.raw)
        while self.at < end:
            begin = self.at
            try:
                made = self._message()
                size = self.at + 1 - begin
                for entry in made:
                    entries.append(entry)
                    sizes.append(size)
                    size = 0  # of what else it says
                    if len(entries) >= _TOGETHER:
                        yield _table(entries), np.array(sizes, np.int64)
                        entries, sizes = [], []
                if self.raw[self.at] != _NEWLINE:
                    raise ValueError
            except (struct.error, IndexError, ValueError):
                self._cut()
            self.at += 1
            self.number += 1
        if entries:
            yield _table(entries), np.array(sizes, np.int64)

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

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self.raw, self.at)
        self.at += struct.calcsize(form)
        return found

    def _text(self) -> str:
        found = bytes(self.raw[self.at : self.at + _LONGEST])
        text = found[: found.index(b"\0")]
        self.at += len(text) + 1
        return text.decode("utf-8")

    def _message(self) -> Iterable[_Entry]:
        kind, into = self.raw[self.at], self.known.into
        self.at += 1
        if into is None or kind not in _OF_TRANSACTION:
            return self._read(kind)
        begin = self.at - 1
        (part,) = self._take(">I") if into.streamed else (0,)
        into.add(self.raw, self.path, self.number, begin, part)
        self._read(kind)
        return [_NOTHING]

    def _read(self, kind: int) -> Iterable[_Entry]:
        if kind not in self.kinds:
            raise ValueError(kind)
        form, texts = _FORMS.get(chr(kind), (">", 0))
        said = self._take(form)
        for _ in range(texts):
            self._text()
        return self.kinds[kind](*said)

    # -- transactions that are sent before they commit
    # ---------------------------------------------------------------------------------------------

    def _open(self, xid: int, streamed: bool, first: bool) -> list[_Entry]:
        """Messages of such a transaction follow; where they are the first ones, all of them (again,
        where a connection ended in between)."""
        if first:
            self.known.sent[xid] = _Sent(streamed)
        self.known.into, self.known.xid = self._known_sent(xid), -1
        return [_NOTHING]

    def _close(self) -> list[_Entry]:
        if self.known.into is None:
            raise ValueError
        self.known.into = None
        return [_NOTHING]

    def _known_sent(self, xid: int) -> _Sent:
        if xid not in self.known.sent:
            raise self._before(f"the rest of transaction {xid}, which was sent before it committed")
        return self.known.sent[xid]

    def _committed(self, xid: int, commit: int, end: int, time: int) -> Iterator[_Entry]:
        """What a transaction did that was sent before. One whose work was rolled back to a
        savepoint is as if it were not sent, as it is not when it is sent at its commit."""
        known, sent = self.known, self._known_sent(xid)
        if known.into is not None or not commit < end:
            raise ValueError(xid)
        del known.sent[xid]
        self._begin(xid, commit, time)
        here = self.raw, self.path, self.number, self.at
        for self.raw, self.path, self.number, begin in sent.messages():
            self.at, before = begin + 1 + 4 * sent.streamed, known.count
            made = [entry for entry in self._read(self.raw[begin]) if entry is not _NOTHING]
            if known.count > before == 0:
                yield self._status("BEGIN", known.unit, None)
            yield from made
        self.raw, self.path, self.number, self.at = here
        ended = self._end(end)
        yield ended if known.count else _NOTHING

    def _begin(self, xid: int, commit: int, time: int) -> None:
        known = self.known
        known.xid, known.unit, known.final = xid, f"{xid}:{commit}", commit
        known.micros, known.count = time + _EPOCH, 0

    def _end(self, end: int) -> _Entry:
        known = self.known
        unit, known.xid, known.end = f"{known.xid}:{end}", -1, end
        return self._status("END", unit, known.count)

    def _status(self, status: str, unit: str, count: int | None) -> _Entry:
        return (None, status, unit, count, *_NOTHING[4:])

    def _kind_S(self, xid: int, first: int) -> list[_Entry]:
        if first > 1:
            raise ValueError(first)
        return self._open(xid, True, bool(first))

    def _kind_c(self, xid: int, flags: int, *commit: int) -> Iterator[_Entry]:
        return self._committed(xid, *commit)

    def _kind_A(self, xid: int, part: int) -> list[_Entry]:
        if self.raw[self.at] != _NEWLINE:  # (streaming=parallel: where and when)
            self._take(">Qq")
        sent = self._known_sent(xid)
        sent.aborted.add(part)
        if part == xid:
            del self.known.sent[xid]
        return [_NOTHING]

    def _kind_b(self, *said: int) -> list[_Entry]:
        return self._open(said[-1], False, True)

    def _kind_P(self, *said: int) -> list[_Entry]:
        return self._close()

    _kind_E = _kind_P

    def _kind_p(self, *said: int) -> list[_Entry]:
        self._known_sent(said[-1])
        return [_NOTHING]

    def _kind_K(self, flags: int, commit: int, end: int, time: int, xid: int) -> Iterator[_Entry]:
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

    def _kind_r(self, *said: int) -> list[_Entry]:
        self.known.sent.pop(said[-1], None)
        return [_NOTHING]

    # -- messages of all protocols
    # ---------------------------------------------------------------------------------------------

    def _before(self, found: str) -> Refusal:
        return Refusal(
            "LR3020",
            f"found {found}; expected its beginning, which pgoutput sends once a connection",
            Where(self.path, self.number + 1),
            "Give the file before, too: this one begins in the middle of a connection",
        )

    def _kind_B(self, final: int, time: int, xid: int) -> list[_Entry]:
        known = self.known
        if final < 0 or known.final < final < known.end:
            raise ValueError(final)
        known.into = None
        self._begin(xid, final, time)
        return [self._status("BEGIN", known.unit, None)]

    def _kind_C(self, flags: int, commit: int, end: int, time: int) -> list[_Entry]:
        known = self.known
        whole = known.final == commit < end and known.micros == time + _EPOCH
        if known.xid < 0 or not whole:
            raise ValueError(commit)
        return [self._end(end)]

    def _kind_R(self) -> list[_Entry]:
        (number,) = self._take(">I")
        schema, name = self._text() or "pg_catalog", self._text()
        identity = chr(*self._take(">B"))
        fields, of_key = list[dict[str, Any]](), list[dict[str, str]]()
        for _ in range(*self._take(">H")):
            (flag,) = self._take(">B")
            column = self._text()
            oid, modifier = self._take(">Ii")
            if flag & 1 and identity != "f":  # with FULL each column is flagged
                of_key.append({"field": column})
            said = {"parameters": {"oid": oid, "modifier": modifier}}
            fields.append({"field": column, "type": "pgoutput", "optional": True, **said})
        if self.known.into is not None and self.known.into.streamed:
            return [_NOTHING]
        rows = {"field": "after", "type": "struct", "fields": fields}
        self.known.relations[number] = _Relation(
            schema,
            name,
            "O" if identity == "f" else "K",
            tuple(one["field"] for one in fields),
            json.dumps({"identity": identity, "fields": [rows]}),
            json.dumps({"fields": of_key}),
        )
        return [_NOTHING]

    def _kind_Y(self, *said: int) -> list[_Entry]:
        return [_NOTHING]

    _kind_O = _kind_Y

    def _kind_M(self, *said: int) -> list[_Entry]:
        (size,) = self._take(">I")
        self.at += size
        return [_NOTHING]

    def _kind_I(self) -> list[_Entry]:
        relation = self._relation()
        return [self._change("c", relation, None, self._row("N", relation))]

    def _kind_U(self) -> list[_Entry]:
        relation = self._relation()
        old = None
        if relation.old == "O" or chr(self.raw[self.at]) in "KO":
            old = self._old_row(relation)
        return [self._change("u", relation, old, self._row("N", relation))]

    def _kind_D(self) -> list[_Entry]:
        relation = self._relation()
        return [self._change("d", relation, self._old_row(relation), None)]

    def _kind_T(self) -> list[_Entry]:
        count, _ = self._take(">IB")
        return [self._change("t", self._relation(), None, None) for _ in range(count)]

    def _relation(self) -> _Relation:
        (number,) = _SIZE(self.raw, self.at)
        self.at += 4
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
        raw, at, row = self.raw, self.at, list[str | None]()
        if raw[at] != ord(kind):
            raise ValueError(kind)
        (count,) = _COUNT(raw, at + 1)
        at += 3
        for _ in range(count):
            form = raw[at]
            at += 1
            if form == _TEXT:
                end = at + 4 + _SIZE(raw, at)[0]
                row.append(str(raw[at + 4 : end], "utf-8"))
                at = end
            elif form == _NULL:
                row.append(None)
            elif form == _UNSENT:
                row.append(UNAVAILABLE)
            else:
                raise self._no_text() if form == _BINARY else ValueError(form)
        if at > len(raw) or not (self.blind or count == len(relation.columns)):
            raise ValueError(relation.name)
        self.at = at
        return row

    def _no_text(self) -> Refusal:
        return Refusal(
            "LR3020",
            "found values that are no text (binary); expected them as text",
            Where(self.path, self.number + 1),
            "Record without the option binary",
        )

    def _change(
        self,
        op: str,
        relation: _Relation,
        before: list[str | None] | None,
        after: list[str | None] | None,
    ) -> _Entry:
        known = self.known
        if self.blind:
            return _NOTHING
        if known.xid < 0:
            raise ValueError(op)
        number = known.count = known.count + 1
        # changes have no place of their own
        place = known.final + number
        return (op, None, known.unit, None, relation, place, known.micros, number, before, after)


def _table(entries: list[_Entry]) -> pa.Table:
    """Entries as columns; what is the same for all changes of a table stands there once."""
    said = dict(zip(_SAID, zip(*entries, strict=True), strict=True))
    relations = {id(one): one for one in said.pop("relation") if one is not None}
    codes = {number: code for code, number in enumerate(relations)}
    of = pa.array([codes.get(id(entry[4])) for entry in entries], pa.int32())
    columns = {name: pa.nulls(len(entries), _TYPES.get(name, pa.string())) for name in lines.NAMES}
    columns |= {name: pa.array(one, _TYPES.get(name, pa.string())) for name, one in said.items()}
    for name, told in _OF_RELATION.items():
        texts = pa.array([getattr(one, told) for one in relations.values()], pa.string())
        columns[name] = pa.DictionaryArray.from_arrays(of, texts)
    columns["connector"] = pc.if_else(of.is_valid(), POSTGRES, pa.scalar(None, pa.string()))
    columns["transaction"] = columns["id"]
    nothing = pc.and_(columns["op"].is_null(), columns["status"].is_null())
    return pa.table(columns | {"nothing": nothing})
