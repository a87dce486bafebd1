"""The lines of files of change events: what each says beside its rows, as columns. Lines are read
by DuckDB; which of the known forms a file has is told by its first lines."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Bytes
from replay.errors import InputError, Where
from replay.logs.events.sources import OTHERS
from sqlgen.lazy_imports import when_used

with when_used():
    import duckdb

#: Bytes of lines that are read at once.
_WINDOW = 6 << 20
#: Lines that are looked at to tell the form of a file.
_LOOK = 200


@dataclass(frozen=True)
class LineForm:
    """Where a line has the value and the key of an event: expressions of SQL over ``line`` (key:
    None where lines have none), and paths in what they give. ``inline``: schemas stand beside the
    payload."""

    value: str
    at: str
    inline: bool
    key: str | None = None
    key_at: str = "$"

    def path(self, what: str, at: str) -> str:
        """That of the ``payload``, or of the ``schema``, in a value or key."""
        return f"{at}.{what}" if self.inline or what == "schema" else at


#: Paths of what a value says beside its rows, by the name of the column that they become.
FIELDS = {
    "op": "op",
    "status": "status",
    "id": "id",
    "events": "event_count",
    "collections": "data_collections",
    "connector": "source.connector",
    "server": "source.name",
    "db": "source.db",
    "schema_name": "source.schema",
    "table_name": "source.table",
    "snapshot": "source.snapshot",
    "lsn": "source.lsn",
    "sequence": "source.sequence",
    "file": "source.file",
    "pos": "source.pos",
    "gtid": "source.gtid",
    "micros": "source.ts_us",
    "millis": "source.ts_ms",
    "transaction": "transaction.id",
    "total_order": "transaction.total_order",
    "beat": "ts_ms",
    "ddl": "ddl",
    "structure": "tableChanges",
}
_NUMBERS = ("events", "lsn", "pos", "micros", "millis", "total_order", "beat")
#: The same of connectors that name places otherwise (``sources.OTHERS``), as SQL over
#: :data:`_READ`: where the transaction commits, and of which record of the log a change comes.
_READ = ("commit_lsn", "change_lsn", "commit_scn", "scn", "rs_id", "ssn", "txId")
PLACES = {
    "commit": "coalesce(o[1], o[3], CASE WHEN {op} = 'r' THEN o[4] END)",
    "record": "coalesce(o[2], o[4] || '/' || coalesce(o[5], '') || '/' || coalesce(o[6], ''))",
    "scn": "CASE WHEN o[3] IS NOT NULL THEN o[4] END",
    "gtid": "coalesce({gtid}, o[7])",
}
#: All columns of what lines say.
NAMES = dict.fromkeys((*FIELDS, *PLACES, "before", "after", "schema", "key", "key_schema"))


def form_of(raw: Bytes, path: str) -> LineForm:
    """The form of a file, by the first lines that say something. InputError LR2004 where it has
    none that is known."""
    beats = 0
    for first in next(windows(raw), (0, pa.array([])))[1][:_LOOK].to_pylist():
        try:
            line = first.decode("utf-8-sig")
            form = form_of_line(line)
            beats += _is_beat(line)
        except ValueError:
            form = None
        if form is not None:
            return form
    found = "heartbeats alone" if beats else "no change event of Debezium"
    raise InputError(
        "LR2004",
        f"found {found} in the first lines; expected an event, as JSON, a line",
        Where(path),
        "Heartbeats say that the connector runs, and that nothing changed" if beats else "",
    )


def _is_beat(line: str) -> bool:
    """Whether a line is a heartbeat."""
    value = _object(line.partition("\t")[2] or line)
    for name in ("value", "payload"):
        value = _object(value.get(name, value))
    return value.keys() == {"ts_ms"}


def form_of_line(line: str) -> LineForm | None:
    """The form of a line; None where it tells none. ValueError where it is no JSON."""
    head, tab, tail = line.partition("\t")
    if tab and tail.lstrip().startswith(("{", "null")):
        inner = _of_value(_object(tail), "substr(line, strpos(line, chr(9)) + 1)", "$")
        key = "split_part(line, chr(9), 1)" if head.lstrip().startswith("{") else None
        return inner and replace(inner, key=key)
    entry = _object(line)
    if "specversion" in entry:
        return _of_value(_object(entry.get("data")), "line", "$.data")
    for name in ("value", "payload"):
        inner = None
        if isinstance(entry.get(name), str):
            text = f"json_extract_string(line, '$.{name}')"
            inner = _of_value(_object(entry[name]), text, "$")
        elif name == "value":
            inner = _of_value(_object(entry.get(name)), "line", "$.value")
        if inner is not None and "key" in entry:
            as_text = isinstance(entry["key"], str)
            key = "json_extract_string(line, '$.key')" if as_text else "line"
            return replace(inner, key=key, key_at="$" if as_text else "$.key")
        if inner is not None:
            return inner
    return _of_value(entry, "line", "$")


def is_event(line: str) -> bool:
    """Whether a line, which may have been cut off, is a change event, the key of one, or a
    heartbeat."""
    try:
        return form_of_line(line) is not None or _is_beat(line)
    except ValueError:
        return all(f'"{name}":' in line.replace(" ", "") for name in ("op", "source", "after"))


def _object(value: Any) -> Mapping[str, Any]:
    found = json.loads(value) if isinstance(value, str) else value
    return found if isinstance(found, Mapping) else {}


def _of_value(value: Mapping[str, Any], text: str, at: str) -> LineForm | None:
    inline = "payload" in value and "schema" in value
    payload = _object(value["payload"]) if inline else value
    is_event = "source" in payload and ("op" in payload or "ddl" in payload)
    if is_event or "status" in payload:
        return LineForm(text, at, inline)
    return None


def windows(raw: Bytes) -> Iterator[tuple[int, pa.Array]]:
    """The lines of a file that are not empty, in parts: (number of the first one, their texts)."""
    rest, first = b"", 0
    for low in range(0, len(raw), _WINDOW):
        last = low + _WINDOW >= len(raw)
        read = rest + raw[low : low + _WINDOW].tobytes() + b"\n" * last
        whole, _, rest = read.replace(b"\r\n", b"\n").rpartition(b"\n")
        texts = pc.split_pattern(pa.array([whole], pa.large_binary()), b"\n").flatten()
        texts = texts.filter(pc.greater(pc.binary_length(texts), 0))
        if len(texts):
            yield first, texts
        first += len(texts)
        _let_go(raw)


def _let_go(raw: Bytes) -> None:
    """Let the operating system have the memory of what was read of a mapped file."""
    mapping = getattr(raw.base, "base", None)
    if isinstance(mapping, mmap.mmap):
        mapping.madvise(mmap.MADV_DONTNEED)


@cache
def _database() -> Any:
    return duckdb.connect(":memory:", config={"threads": 1})


def read(lines: pa.Array, form: LineForm, path: str, first: int) -> pa.Table:
    """What lines say: the :data:`FIELDS` and ``before`` and ``after`` (text of JSON, null where
    there is none), ``schema``, ``key`` and ``key_schema`` (text of JSON). InputError LR2006 for a
    line that is no JSON."""
    try:
        text = lines.cast(pa.large_string())
        return asked(_query(form), lines=pa.table({"line": text}))
    except pa.ArrowInvalid:
        raise InputError(
            "LR2004", "found bytes that are no UTF-8; expected JSON as text", Where(path, first + 1)
        ) from None
    except duckdb.Error as error:
        raise _no_json(text, path, first, str(error)) from None


def asked(query: str, **tables: pa.Table) -> pa.Table:
    """What a query finds in tables."""
    connection = _database().cursor()
    for name, table in tables.items():
        connection.register(name, table)
    return connection.sql(query).to_arrow_table()


def _no_json(text: pa.Array, path: str, first: int, error: str) -> InputError:
    at: int | None = None
    for row, line in enumerate(text.to_pylist()):
        try:
            json.loads(line.partition("\t")[2] or line)
        except ValueError as found:
            at, error = first + row + 1, str(found)
            break
    return InputError(
        "LR2006",
        f"found a line that is no JSON ({error}); expected an event a line",
        Where(path, at),
        "A line that was cut off tells no transaction, and any may lack a change: give the file as"
        " a whole",
    )


def _query(form: LineForm) -> str:
    payload = form.path("payload", form.at)
    paths = [f"{payload}.{name}" for name in (*FIELDS.values(), "before", "after")]
    names = [*FIELDS, "before", "after"]
    if form.inline:
        paths.append(form.path("schema", form.at))
        names.append("schema")
    lists = [(form.value, "v", names, paths)]
    if form.key is not None:
        of_key = [form.path(what, form.key_at) for what in ("payload", "schema")]
        named = ["key", "key_schema"], of_key
        if form.key == form.value:  # each list costs a look at the whole line
            names.extend(named[0])
            paths.extend(named[1])
        else:
            lists.append((form.key, "k", *named))
    known = {
        name: f"{column}[{number}]"
        for _, column, some, _ in lists
        for number, name in enumerate(some, 1)
    }
    known |= {name: said.format_map(known) for name, said in PLACES.items()}
    fields = ", ".join(
        f"try_cast({known[name]} AS BIGINT) AS {name}"
        if name in _NUMBERS
        else f"{known.get(name, 'CAST(NULL AS VARCHAR)')} AS {name}"
        for name in NAMES
    )
    of_others = ", ".join(_literal(f"{payload}.source.{name}") for name in _READ)
    others = (
        f"CASE WHEN {known['connector']} IN ({', '.join(map(_literal, OTHERS))})"
        f" THEN json_extract_string({form.value}, [{of_others}]) END AS o"
    )
    said = [known[name] for name in ("op", "status", "beat", "ddl")]
    kind = f"json_type({form.value}, '{payload}')"
    nothing = f"coalesce({', '.join(said)}) IS NULL AND coalesce({kind}, 'NULL') = 'NULL'"
    inner = ", ".join(
        f"json_extract_string({text}, [{', '.join(map(_literal, some))}]) AS {column}"
        for text, column, _, some in lists
    )
    return (
        f"SELECT {fields}, {nothing} AS nothing"
        f" FROM (SELECT *, {others} FROM (SELECT line, {inner} FROM lines))"
    )


def _literal(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"


def values_of(rows: pa.Array, names: Sequence[str]) -> pa.Array:
    """The values of some columns of rows (text of JSON), as lists of texts."""
    (lists,) = _of_rows("json_extract_string(row, {})", rows, names)
    return lists


def names_of(keys: pa.Array, columns: Sequence[str]) -> list[str]:
    """The columns that keys of events (text of JSON, all alike) have."""
    first = keys.drop_null()
    try:
        found = _object(first[0].as_py()) if len(first) else {}
    except ValueError:  # a text
        found = {}
    return [name for name in columns if name in found]


def types_of(rows: pa.Array, names: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Of rows (text of JSON): the types of some values (JSON's; null where there is none), behind
    each other, and how many values they have."""
    types, counts = _of_rows("json_type(row, {}), len(json_keys(row))", rows, names)
    return types.flatten(), counts


def _of_rows(said: str, rows: pa.Array, names: Sequence[str]) -> list[pa.Array]:
    """What rows say, by SQL in which ``{}`` stands for the paths of some values."""
    quoted = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    paths = ", ".join(_literal(f'$."{name}"') for name in quoted)
    query = f"SELECT {said.format(f'[{paths}]')} FROM rows"
    return [one.chunk(0) for one in asked(query, rows=pa.table({"row": rows})).combine_chunks()]
