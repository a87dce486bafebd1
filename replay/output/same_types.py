"""Datasets that go on where others ended keep the types of their columns: a reader of both would
take a moment of one unit for one of another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.errors import Refusal, Where

Types = Mapping[str, str]
_SIDES = ("before", "after")


def refuse_other_types(
    folder: Path,
    manifest: Mapping[str, Any],
    before: Path,
    manifests: Iterable[Mapping[str, Any]],
) -> None:
    """Refusal (LR4006) where a dataset of a bundle in ``folder`` has a column of another type than
    in the files ``before``; ``manifests`` are those of them, the newest first."""
    for dataset in manifest.get("datasets", ()):
        now = _types_of(dataset, folder)
        was = _types_before(dataset["name"], before, manifests) if now else {}
        for name in now:
            if was.get(name, now[name]) != now[name]:
                raise Refusal(
                    "LR4006",
                    f"found column {name} as {now[name]}; expected {was[name]}, as another version"
                    " of logreplay or a table of another form had it before",
                    Where(file=str(before / dataset["name"])),
                    "Export to another folder from here on, or all of it again; or leave the"
                    " column out (--exclude-columns)",
                )


def _types_before(name: str, folder: Path, manifests: Iterable[Mapping[str, Any]]) -> Types:
    """Those of the newest file of a dataset, or what a manifest says of it; none where there was no
    such dataset."""
    days = sorted((folder / name).glob("commit_date=*"), reverse=True)
    files = (path for day in days for path in sorted(day.iterdir(), reverse=True))
    newest = next(files, None)
    if newest is None:
        return {}
    if types := _types_in(newest):
        return types
    for manifest in manifests:
        for entry in manifest.get("datasets", ()):
            if entry["name"] == name and "schemas" in entry:
                return dict(_of_connect(entry["schemas"]["value"]))
    return {}


def _types_of(dataset: Mapping[str, Any], folder: Path) -> Types:
    """The types of a dataset that was just written."""
    if "schemas" in dataset:
        return dict(_of_connect(dataset["schemas"]["value"]))
    return _types_in(folder / dataset["files"][0]["name"]) if dataset["files"] else {}


def _types_in(path: Path) -> Types:
    """The types of columns in a file; none where it does not tell them."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        schema = pq.read_schema(path)
        return {
            field.name: str(field.type)
            for side in _SIDES
            if side in schema.names and pa.types.is_struct(schema.field(side).type)
            for field in schema.field(side).type
        }
    if path.suffix != ".jsonl":
        return {}
    with path.open(encoding="utf-8") as lines:
        event = json.loads(next(lines, "null"))
    value = event.get("value") if isinstance(event, dict) else None
    schema = value.get("schema") if isinstance(value, dict) else None
    return dict(_of_connect(schema)) if isinstance(schema, dict) else {}


def _of_connect(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Column and type of a schema of Kafka Connect."""
    for side in schema.get("fields", ()):
        if side.get("field") in _SIDES:
            for field in side.get("fields", ()):
                yield field["field"], field.get("name") or field["type"]
