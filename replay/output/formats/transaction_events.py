"""Debezium transaction events (documentation of its connectors, "Transaction metadata"): where each
unit begins and ends, how many events it has, and how many of them in each data collection."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index
from replay.changes import order
from replay.output.formats.connect import PREFIX, Schema, struct
from sqlgen.statements import joined

_COLLECTION = struct(
    "event.collection",
    [
        {"type": "string", "optional": False, "field": "data_collection"},
        {"type": "int64", "optional": False, "field": "event_count"},
    ],
    False,
    version=1,
)
#: The schemas of key and value.
KEY = struct(
    "io.debezium.connector.common.TransactionMetadataKey",
    [{"type": "string", "optional": False, "field": "id"}],
    False,
    version=1,
)
VALUE = struct(
    "io.debezium.connector.common.TransactionMetadataValue",
    [
        {"type": "string", "optional": False, "field": "status"},
        {"type": "string", "optional": False, "field": "id"},
        {"type": "int64", "optional": True, "field": "event_count"},
        {"type": "array", "items": _COLLECTION, "optional": True, "field": "data_collections"},
        {"type": "int64", "optional": True, "field": "ts_ms"},
    ],
    False,
    version=1,
)


def unit_id(urid: pa.Array, member: pa.Array) -> pa.Array:
    """What ``transaction.id`` says of units: URID, and the member where it is known."""
    return pc.binary_join_element_wise(
        urid, pc.cast(member, pa.string()), "/", null_handling="skip"
    )


def unit_lines(
    ids: pa.Array,
    moments: pa.Array,
    unit: Index,
    collection: Sequence[str],
    events: Index,
    wraps: tuple[tuple[str, str], tuple[str, str]],
) -> pa.Array:
    """BEGIN and END of ``n`` units, two lines in one text each.

    ``ids`` and ``moments`` (milliseconds as JSON) have ``n`` texts; ``unit`` (rising, each of 0 to
    n - 1 at least once), ``collection`` and ``events`` say how many events a unit has in a data
    collection. ``wraps``: what stands before and behind each key and value (their schemas).
    """
    names = pa.array([json.dumps(name, ensure_ascii=False) for name in collection], pa.string())
    entries = joined(
        [
            '{"data_collection":',
            names,
            ',"event_count":',
            pc.cast(pa.array(events), pa.string()),
            "}",
        ],
        len(unit),
    )
    starts = order.run_starts(unit)
    offsets = pa.array(np.append(starts, len(unit)).astype(np.int32))
    listed = pc.binary_join(pa.ListArray.from_arrays(offsets, entries), ",")
    total = pc.cast(pa.array(np.add.reduceat(events, starts)), pa.string())
    (key_before, key_after), (before, after) = wraps
    topic = json.dumps(f"{PREFIX}.transaction")
    head: list[str | pa.Array] = [
        f'{{"topic":{topic},"key":{key_before}{{"id":"',
        ids,
        f'"}}{key_after},"value":{before}{{"status":"',
    ]
    return joined(
        [
            *head,
            'BEGIN","id":"',
            ids,
            '","event_count":null,"data_collections":null,"ts_ms":',
            moments,
            f"}}{after}}}\n",
            *head,
            'END","id":"',
            ids,
            '","event_count":',
            total,
            ',"data_collections":[',
            listed,
            '],"ts_ms":',
            moments,
            f"}}{after}}}",
        ],
        len(ids),
    )


def wrapped(schema: Schema, inline: bool) -> tuple[str, str]:
    """What stands before and behind a payload: its schema, or nothing."""
    if not inline:
        return "", ""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f'{{"schema":{text},"payload":', "}"
