"""Debezium change events (documentation of its Db2 connector, "Data change events"): a Kafka record
a line, with topic, key, value and headers.

A delete is followed by a tombstone (value null); an update of the key is a delete, a tombstone and
a create, with the header that names the other key, as connectors do. Where units begin and end is
told on a topic of its own (:mod:`replay.output.formats.connect`). Decimals are strings
(``decimal.handling.mode=string``), bytes base64, times and timestamps what their precision asks for
(``time.precision.mode=adaptive``). Keys and values have their schemas with them
(``schemas.enable``) unless these stand apart, in the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index
from replay.changes.options import Export
from replay.output.formats import (
    STRUCTURE,
    Dataset,
    ImageColumns,
    Writer,
    transactions_dataset,
)
from replay.output.formats.connect import (
    PREFIX,
    SOURCE_FIELDS,
    UNSIZED_DIGITS,
    column_schema,
    fields_of,
    schemas_of,
    timestamp_of,
    topic_of,
    unit_id,
    unit_lines,
    wrapped,
)
from replay.output.formats.csv_and_json import LineWriter
from replay.output.formats.exported_values import (
    BYTES,
    NUMBERS,
    base64_of,
    held,
    json_text,
    number_text,
    profile_of,
    quoted_floats,
    seconds_of,
    shaped,
)
from replay.version import __version__
from sqlgen.literals import Policy, ValueProblem
from sqlgen.render_options import RenderOptions
from sqlgen.schema import FLOATS, Column, SqlType
from sqlgen.statements import joined

#: Fields of ``source`` that are facts under another name.
_FACT = {"change_lsn": "log_position", "commit_lsn": "commit_lrsn"}

_OPS = {"insert": "c", "update": "u", "delete": "d"}
_OLD, _NEW = "__debezium.oldkey", "__debezium.newkey"


class Debezium:
    """Change events. Rows of images have the texts ``before`` and ``after``, the keys in them, and
    how many ``events`` each change is."""

    suffix = "jsonl"

    def __init__(self, source: str, inline: bool, policy: Policy) -> None:
        self.source, self.inline, self.policy = source, inline, policy
        self.profile = profile_of("Debezium", 9, ())
        self._unsized = profile_of("Debezium", UNSIZED_DIGITS, ())
        self._zoned = profile_of("Debezium", 12, (SqlType.TIMESTAMP_TZ,))

    # -- images
    # ---------------------------------------------------------------------------------------------

    def images(
        self, dataset: Dataset, before: ImageColumns | None, after: ImageColumns | None, count: int
    ) -> tuple[pa.Table, list[ValueProblem]]:
        """See the class."""
        if dataset.table is STRUCTURE:
            said = zip(*(values.to_pylist() for values in (after or {}).values()), strict=True)
            fields = pa.array([fields_of(self.source, *entry) for entry in said], pa.string())
            return pa.table({"fields": fields}), []
        problems: list[ValueProblem] = []
        sides = {
            "before": self._side(dataset, before, problems),
            "after": self._side(dataset, after, problems),
        }
        null = pa.array(["null"] * count, pa.string())
        columns: dict[str, pa.Array] = {}
        for side, fields in sides.items():
            columns[side] = _object(fields, count) if fields else null
            columns[f"{side}_key"] = (
                _object({name: fields[name] for name in dataset.key}, count)
                if fields and dataset.key
                else null
            )
        moved = pa.array(np.zeros(count, bool))
        if before is not None and after is not None and dataset.key:
            moved = pc.not_equal(columns["before_key"], columns["after_key"])
        columns["events"] = pc.if_else(moved, pa.scalar(2, pa.int64()), pa.scalar(1, pa.int64()))
        return pa.table(columns), problems

    def _side(
        self, dataset: Dataset, side: ImageColumns | None, problems: list[ValueProblem]
    ) -> dict[str, pa.Array]:
        fields: dict[str, pa.Array] = {}
        if side is None:
            return fields
        for column, name in zip(dataset.columns, dataset.names, strict=True):
            values, value_problems = self._value(side[column.name], column)
            fields[name] = pc.fill_null(values, "null")
            problems += value_problems
        return fields

    def _value(self, values: pa.Array, column: Column) -> tuple[pa.Array, list[ValueProblem]]:
        kind = column.type
        profile = self._unsized if column.unsized else self.profile
        if kind is SqlType.TIMESTAMP_TZ:
            profile = self._zoned
        values, problems = shaped(values, column, profile, self.policy)
        if kind in NUMBERS:  # readers cut what is beyond the type of its schema, without a word
            width = pa.type_for_alias(column_schema(column, column.name)["type"])
            values, misfits = held(values, column, width)
            return number_text(values, column), problems + misfits
        if kind is SqlType.BOOLEAN:
            return number_text(values, column), problems
        if kind in FLOATS:
            return quoted_floats(number_text(values, column)), problems
        if kind in BYTES:
            return json_text(base64_of(values)), problems
        if kind is SqlType.DATE:
            return pc.cast(pc.cast(values, pa.date32()).cast(pa.int32()), pa.string()), problems
        if kind is SqlType.TIME:
            return pc.cast(pc.multiply(seconds_of(values), 1000), pa.string()), problems
        if kind is SqlType.TIMESTAMP:
            moments, misfits = held(values, column, pa.timestamp(timestamp_of(column)[2]))
            return pc.cast(moments.cast(pa.int64()), pa.string()), problems + misfits
        if kind is SqlType.TIMESTAMP_TZ:
            return json_text(pc.binary_replace_slice(values, 10, 11, "T")), problems
        return json_text(values), problems

    # -- events
    # ---------------------------------------------------------------------------------------------

    def rows(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """Lines; of a change that is several events, these are one text."""
        if dataset.table is STRUCTURE:
            return self._structure(dataset, facts, images)
        facts, images = facts.combine_chunks(), images.combine_chunks()
        moved = pc.equal(images["events"], 2).to_numpy()
        gone = pc.and_(pc.equal(facts["op"], "delete"), len(dataset.key) > 0).to_numpy()
        texts, places = [], []
        emptied = pc.equal(facts["op"], "truncate").to_numpy()
        plain = ~(moved | gone | emptied)
        for mask, make in (
            (plain, self._plain),
            (gone, self._deleted),
            (moved, self._moved),
            (emptied, self._emptied),
        ):
            rows = np.flatnonzero(mask)
            if len(rows):
                texts.append(
                    make(
                        _Events(
                            self, dataset, facts.take(pa.array(rows)), images.take(pa.array(rows))
                        )
                    )
                )
                places.append(rows)
        order = np.argsort(np.concatenate(places), kind="stable")
        return pa.table([pa.concat_arrays(texts).take(pa.array(order))], ["line"])

    @staticmethod
    def _plain(events: _Events) -> pa.Array:
        key = pc.if_else(
            pc.equal(events.text("after"), "null"),
            events.text("before_key"),
            events.text("after_key"),
        )
        return events.lines(
            key if events.dataset.key else None,
            events.text("before"),
            events.text("after"),
            events.ops(),
        )

    @staticmethod
    def _emptied(events: _Events) -> pa.Array:
        return events.lines(None, "null", "null", '"t"')

    @staticmethod
    def _deleted(events: _Events) -> pa.Array:
        key = events.text("before_key")
        return joined(
            [events.lines(key, events.text("before"), "null", '"d"'), "\n", events.tombstones(key)],
            events.count,
        )

    @staticmethod
    def _moved(events: _Events) -> pa.Array:
        old, new = events.text("before_key"), events.text("after_key")
        gone = events.lines(old, events.text("before"), "null", '"d"', (_NEW, new))
        come = events.lines(new, "null", events.text("after"), '"c"', (_OLD, old), 1)
        return joined([gone, "\n", events.tombstones(old), "\n", come], events.count)

    def _structure(self, dataset: Dataset, facts: pa.Table, images: pa.Table) -> pa.Table:
        """Schema change events, on a topic of their own."""
        events = _Events(self, dataset, facts.combine_chunks(), images.combine_chunks())
        return pa.table([events.schema_changes()], ["line"])

    def units(
        self, facts: pa.Table, unit: Index, collection: Sequence[str], events: Index
    ) -> pa.Table:
        """BEGIN and END of units, two lines in one text."""
        schemas = schemas_of(transactions_dataset())
        wraps = wrapped(schemas.key, self.inline), wrapped(schemas.value, self.inline)
        ids = unit_id(*(facts[name].combine_chunks() for name in ("urid", "member")))
        lines = unit_lines(ids, _moment(facts), unit, collection, events, wraps)
        return pa.table([lines], ["line"])

    def open(self, path: Path, dataset: Dataset) -> Writer:
        """A new file."""
        return LineWriter(path)

    def describe(self, dataset: Dataset) -> dict[str, Any]:
        """Topic, the type of each column, and schemas."""
        schemas = schemas_of(dataset)
        columns = [column_schema(column, column.name) for column in dataset.columns]
        types = [schema.get("name", schema["type"]) for schema in columns]
        return {
            "topic": topic_of(dataset),
            "types": dict(zip(dataset.names, types, strict=True)),
            **({} if self.inline else {"schemas": {"key": schemas.key, "value": schemas.value}}),
        }


def _moment(facts: pa.Table) -> pa.Array:
    """Milliseconds of the commit."""
    time = facts["commit_time"].combine_chunks().cast(pa.timestamp("ms"), safe=False)
    return pc.fill_null(pc.cast(time.cast(pa.int64()), pa.string()), "null")


def _object(fields: Mapping[str, pa.Array], count: int) -> pa.Array:
    parts: list[str | pa.Array] = []
    for name, values in fields.items():
        parts += [f"{',' if parts else '{'}{json.dumps(name, ensure_ascii=False)}:", values]
    return joined([*parts, "}"], count)


class _Events:
    """Events of changes that are written alike."""

    def __init__(self, form: Debezium, dataset: Dataset, facts: pa.Table, images: pa.Table) -> None:
        self.dataset, self.facts, self.images, self.count = dataset, facts, images, len(facts)
        self._database = form.source
        schemas = schemas_of(dataset)
        self._key = wrapped(schemas.key, form.inline)
        self._value = wrapped(schemas.value, form.inline)

    def text(self, name: str) -> pa.Array:
        """A column of the images."""
        return self.images[name].combine_chunks()

    def ops(self) -> pa.Array:
        """``op``."""
        names = pa.array(list(_OPS), pa.string())
        letters = pa.array([f'"{letter}"' for letter in _OPS.values()], pa.string())
        return letters.take(pc.index_in(self.facts["op"].combine_chunks(), names))

    def source(self) -> list[str | pa.Array]:
        """The object ``source``."""
        owner, table = self.dataset.topic
        said = {
            "version": __version__, "connector": "logreplay", "name": PREFIX, "snapshot": "false",
            "db": self._database, "schema": owner,
            "table": table,
        }  # fmt: skip
        parts: list[str | pa.Array] = []
        for name, _, _ in SOURCE_FIELDS:
            value: str | pa.Array
            if name == "ts_ms":
                value = _moment(self.facts)
            elif name in said:
                value = json.dumps(said[name], ensure_ascii=False)
            else:
                fact = self.facts[_FACT.get(name, name)].combine_chunks()
                text = (
                    json_text(fact) if pa.types.is_string(fact.type) else pc.cast(fact, pa.string())
                )
                value = pc.fill_null(text, "null")
            parts += [f'{"," if parts else "{"}"{name}":', value]
        return [*parts, "}"]

    def _transaction(self, later: int) -> list[str | pa.Array]:
        number = [
            pc.cast(pc.add(self.facts[name].combine_chunks(), later), pa.string())
            for name in ("sequence", "place")
        ]
        unit = unit_id(*(self.facts[name].combine_chunks() for name in ("urid", "member")))
        return [
            '{"id":"',
            unit,
            '","total_order":',
            number[0],
            ',"data_collection_order":',
            number[1],
            "}",
        ]

    def _head(self, key: str | pa.Array | None) -> list[str | pa.Array]:
        wrapped: list[str | pa.Array] = (
            ["null"] if key is None else [self._key[0], key, self._key[1]]
        )
        return [
            f'{{"topic":{json.dumps(topic_of(self.dataset), ensure_ascii=False)},"key":',
            *wrapped,
            ',"value":',
        ]

    def lines(
        self, key: pa.Array | None, before: str | pa.Array, after: str | pa.Array,
        op: str | pa.Array, header: tuple[str, pa.Array] | None = None,
        later: int = 0,
    ) -> pa.Array:  # fmt: skip
        """Events. ``header``: a name, and the keys that it has; ``later``: how many events of the
        same change come before."""
        parts = [
            *self._head(key),
            self._value[0] + '{"before":',
            before,
            ',"after":',
            after,
            ',"source":',
            *self.source(),
        ]
        parts += [
            ',"transaction":',
            *self._transaction(later),
            ',"op":',
            op,
            ',"ts_ms":',
            _moment(self.facts),
            "}" + self._value[1],
        ]
        if header is not None:
            parts += [f',"headers":{{"{header[0]}":{self._key[0]}', header[1], self._key[1] + "}"]
        return joined([*parts, "}"], self.count)

    def schema_changes(self) -> pa.Array:
        """Schema change events; the text of their own fields is ready."""
        parts = [
            *self._head(json.dumps({"databaseName": self._database})),
            self._value[0] + '{"source":',
            *self.source(),
            ',"ts_ms":',
            _moment(self.facts),
        ]
        return joined([*parts, ",", self.text("fields"), "}" + self._value[1] + "}"], self.count)

    def tombstones(self, key: pa.Array) -> pa.Array:
        """Records that tell log compaction that a key is gone."""
        return joined([*self._head(key), "null}"], self.count)


def format_of(export: Export, options: RenderOptions) -> Debezium:
    """The format as the options want it."""
    return Debezium(
        export.source.partition(" ")[2] or export.source, export.schemas == "inline", options.policy
    )
