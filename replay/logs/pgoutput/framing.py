"""What ``pg_recvlogical`` writes of PostgreSQL's own output plugin ``pgoutput``, protocols 1 to 4,
values as text: messages behind each other, a line end behind each. Neither files nor messages have
lengths, so each is read to find its end.

A transaction that is sent before it commits (``streaming``, ``two_phase``) is read twice: where its
messages come, to find where they end, and when it commits. Until then one of the subtransactions of
a streamed one may be rolled back, and its descriptions of tables are its own."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from replay.arrays import Bytes
from replay.errors import InputError, Refusal, Where
from replay.logs.pgoutput.layouts import FIRST, FORMS, OF_TRANSACTION, SECOND, Relation

#: Seconds from 1970 to 2000, where PostgreSQL's time begins, as microseconds.
_EPOCH = 946_684_800_000_000
_NEWLINE, _TEXT, _NULL, _UNSENT, _BINARY = 10, *b"tnub"
_SIZE, _COUNT = struct.Struct(">I").unpack_from, struct.Struct(">H").unpack_from
#: Bytes in which the end of a name is looked for.
_LONGEST = 1 << 12
#: What stands for a value that was not sent: no text of PostgreSQL has it.
UNAVAILABLE = "\0"
#: What a message says, in this order; ``relation``: the table.
SAID = "op status id events relation lsn micros total_order before after".split()
Entry = tuple[Any, ...]
_NOTHING: Entry = (None,) * len(SAID)


def is_pgoutput(raw: Bytes | bytes) -> bool:
    """Whether a file begins as pgoutput's first transaction does."""
    begin = bytes(raw[:_LONGEST])
    kind = chr(begin[0]) if begin else ""
    end = FIRST.get(kind, len(begin))
    if kind == "b":
        end = begin.find(b"\0", end) + 1
    if len(begin) < end + 2 or begin[end] != _NEWLINE:
        return False
    # an LSN begins with zeros, and a stream is the first of its transaction or is not
    return begin[5 if kind == "S" else 1] < 2 and chr(begin[end + 1]) in SECOND


#: That of a message that is read to find where it ends.
_UNKNOWN = Relation("", "", "", (), ())


@dataclass
class _Sent:
    """The messages of a transaction that is sent before it commits: their ``files`` (bytes, path),
    and of each the place of its file there, its number in it, where it begins, and its
    subtransaction. ``streamed``: they name that; ``prepared``: all of them are there; ``cut``: the
    connection ended before; ``aborted``: those that were rolled back."""

    streamed: bool
    prepared: bool = False
    cut: bool = False
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

    relations: dict[int, Relation] = field(default_factory=dict)
    xid: int = -1
    unit: str = ""
    final: int = -1
    micros: int = 0
    count: int = 0
    end: int = 0
    sent: dict[int, _Sent] = field(default_factory=dict)
    into: _Sent | None = None
    prepared: dict[int, tuple[int, int]] = field(default_factory=dict)

    def cut_off(self) -> None:
        """Another transaction begins, though one was not sent up to its end: the connection ended
        there, and what had not been prepared is sent again as a whole."""
        if self.into is not None:
            self.into.prepared = False
            for sent in self.sent.values():
                sent.cut |= not sent.prepared
        self.into = None


class Reader:
    """The messages of a file. InputError LR2006 for those that are none, Refusal LR3020 for values
    that are no text and for what refers to a file that is not given."""

    def __init__(self, raw: Bytes, path: str, connection: Connection) -> None:
        self.raw = memoryview(raw)  # type: ignore[arg-type]
        self.path, self.known = path, connection
        self.at = self.number = 0
        named = {name: getattr(self, name) for name in dir(self) if name.startswith("_kind_")}
        self.kinds: dict[int, Callable[..., Iterable[Entry]]] = {
            ord(name[-1]): read for name, read in named.items()
        }

    @property
    def blind(self) -> bool:
        """Whether messages are read to find where they end."""
        return self.known.into is not None

    def entries(self) -> Iterator[tuple[Entry, int]]:
        """What messages say, and their sizes. A TRUNCATE of several tables is several changes."""
        end = len(self.raw)
        while self.at < end:
            begin = self.at
            try:
                made = self._message()
                size = self.at + 1 - begin
                for entry in made:
                    yield entry, size
                    size = 0  # of what else it says
                if self.raw[self.at] != _NEWLINE:
                    raise ValueError
            except (struct.error, IndexError, ValueError):
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

    def _take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self.raw, self.at)
        self.at += struct.calcsize(form)
        return found

    def _text(self) -> str:
        found = bytes(self.raw[self.at : self.at + _LONGEST])
        text = found[: found.index(b"\0")]
        self.at += len(text) + 1
        return text.decode("utf-8")

    def _message(self) -> Iterable[Entry]:
        kind, into = self.raw[self.at], self.known.into
        self.at += 1
        if into is None or kind not in OF_TRANSACTION:
            return self._read(kind)
        begin = self.at - 1
        (part,) = self._take(">I") if into.streamed else (0,)
        into.add(self.raw, self.path, self.number, begin, part)
        self._read(kind)
        return [_NOTHING]

    def _read(self, kind: int) -> Iterable[Entry]:
        if kind not in self.kinds:
            raise ValueError(kind)
        form, texts = FORMS.get(chr(kind), (">", 0))
        said = self._take(form)
        for _ in range(texts):
            self._text()
        return self.kinds[kind](*said)

    # -- transactions that are sent before they commit
    # ---------------------------------------------------------------------------------------------

    def _open(self, xid: int, streamed: bool, first: bool) -> list[Entry]:
        """Messages of such a transaction follow; where they are the first ones, all of them (again,
        where a connection ended in between)."""
        self.known.cut_off()
        if first:
            self.known.sent[xid] = _Sent(streamed)
        self.known.into, self.known.xid = self._known_sent(xid), -1
        return [_NOTHING]

    def _close(self, prepared: bool) -> list[Entry]:
        if self.known.into is None:
            raise ValueError
        self.known.into.prepared = prepared
        self.known.into = None
        return [_NOTHING]

    def _known_sent(self, xid: int) -> _Sent:
        sent = self.known.sent.get(xid)
        if sent is None or sent.cut:
            raise self._before(f"the rest of transaction {xid}, which was sent before it committed")
        return sent

    def _committed(self, xid: int, commit: int, end: int, time: int) -> Iterator[Entry]:
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

    def _end(self, end: int) -> Entry:
        known = self.known
        unit, known.xid, known.end = f"{known.xid}:{end}", -1, end
        return self._status("END", unit, known.count)

    def _status(self, status: str, unit: str, count: int | None) -> Entry:
        return (None, status, unit, count, *_NOTHING[4:])

    def _kind_S(self, xid: int, first: int) -> list[Entry]:
        if first > 1:
            raise ValueError(first)
        return self._open(xid, True, bool(first))

    def _kind_c(self, xid: int, flags: int, *commit: int) -> Iterator[Entry]:
        return self._committed(xid, *commit)

    def _kind_A(self, xid: int, part: int) -> list[Entry]:
        if self.raw[self.at] != _NEWLINE:  # (streaming=parallel: where and when)
            self._take(">Qq")
        sent = self._known_sent(xid)
        sent.aborted.add(part)
        if part == xid:
            del self.known.sent[xid]
        return [_NOTHING]

    def _kind_b(self, *said: int) -> list[Entry]:
        return self._open(said[-1], False, True)

    def _kind_P(self, *said: int) -> list[Entry]:
        return self._close(True)

    def _kind_E(self) -> list[Entry]:
        return self._close(False)

    def _kind_p(self, *said: int) -> list[Entry]:
        self._known_sent(said[-1]).prepared = True
        return [_NOTHING]

    def _kind_K(self, flags: int, commit: int, end: int, time: int, xid: int) -> Iterator[Entry]:
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

    def _kind_r(self, *said: int) -> list[Entry]:
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

    def _kind_B(self, final: int, time: int, xid: int) -> list[Entry]:
        known = self.known
        if final < 0 or known.final < final < known.end:
            raise ValueError(final)
        known.cut_off()
        known.sent.pop(xid, None)  # it comes as a whole
        self._begin(xid, final, time)
        return [self._status("BEGIN", known.unit, None)]

    def _kind_C(self, flags: int, commit: int, end: int, time: int) -> list[Entry]:
        known = self.known
        whole = known.final == commit < end and known.micros == time + _EPOCH
        if known.xid < 0 or not whole:
            raise ValueError(commit)
        return [self._end(end)]

    def _kind_R(self) -> list[Entry]:
        (number,) = self._take(">I")
        schema, name = self._text() or "pg_catalog", self._text()
        identity = chr(*self._take(">B"))
        columns, key = list[tuple[str, int, int]](), list[str]()
        for _ in range(*self._take(">H")):
            (flag,) = self._take(">B")
            column = self._text()
            if flag & 1 and identity != "f":  # with FULL each column is flagged
                key.append(column)
            columns.append((column, *self._take(">Ii")))
        if self.known.into is None or not self.known.into.streamed:
            self.known.relations[number] = Relation(
                schema, name, identity, tuple(columns), tuple(key)
            )
        return [_NOTHING]

    def _kind_Y(self, *said: int) -> list[Entry]:
        return [_NOTHING]

    _kind_O = _kind_Y

    def _kind_M(self, *said: int) -> list[Entry]:
        (size,) = self._take(">I")
        self.at += size
        return [_NOTHING]

    def _kind_I(self) -> list[Entry]:
        relation = self._relation()
        return [self._change("c", relation, None, self._row("N", relation))]

    def _kind_U(self) -> list[Entry]:
        relation = self._relation()
        old = None
        if relation.old == "O" or chr(self.raw[self.at]) in "KO":
            old = self._old_row(relation)
        return [self._change("u", relation, old, self._row("N", relation))]

    def _kind_D(self) -> list[Entry]:
        relation = self._relation()
        return [self._change("d", relation, self._old_row(relation), None)]

    def _kind_T(self) -> list[Entry]:
        count, _ = self._take(">IB")
        return [self._change("t", self._relation(), None, None) for _ in range(count)]

    def _relation(self) -> Relation:
        (number,) = _SIZE(self.raw, self.at)
        self.at += 4
        if self.blind:
            return _UNKNOWN
        if number not in self.known.relations:
            raise self._before("a change of a table that no message describes")
        return self.known.relations[number]

    def _old_row(self, relation: Relation) -> list[str | None]:
        kind = chr(self.raw[self.at])
        if kind not in (relation.old or "KO"):
            raise ValueError(kind)
        return self._row(kind, relation)

    def _row(self, kind: str, relation: Relation) -> list[str | None]:
        """A row: the values of its columns."""
        raw, at, row = self.raw, self.at, list[str | None]()
        if raw[at] != ord(kind):
            raise ValueError(kind)
        (count,), at = _COUNT(raw, at + 1), at + 3
        for _ in range(count):
            form = raw[at]
            at += 1
            if form == _TEXT:
                begin, at = at + 4, at + 4 + _SIZE(raw, at)[0]
                row.append(str(raw[begin:at], "utf-8"))
                if "\0" in (row[-1] or ""):
                    raise ValueError(relation.name)
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
        relation: Relation,
        before: list[str | None] | None,
        after: list[str | None] | None,
    ) -> Entry:
        known = self.known
        if self.blind:
            return _NOTHING
        if known.xid < 0:
            raise ValueError(op)
        number = known.count = known.count + 1
        # changes have no place of their own
        place = known.final + number
        return (op, None, known.unit, None, relation, place, known.micros, number, before, after)
