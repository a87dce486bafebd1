"""The second stage of an export: the sorted records of one bucket -> rows of changes, by dataset
and commit date, in files ``DATASET/commit_date=YYYY-MM-DD/part-BUCKET.SUFFIX`` of one task."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.arrays import Index, Mask, take_rows
from replay.changes import order
from replay.changes.envelope import (
    ORIGINS,
    ROW_CHANGES,
    TABLE_EVENTS,
    Change,
    as_bytes,
)
from replay.changes.options import Export
from replay.changes.position import urids_of
from replay.decoding import codecs
from replay.logs import LogFile
from replay.output.formats import (
    FACTS,
    OPS,
    ROW_BATCHES,
    STRUCTURE,
    Dataset,
    Datasets,
    Format,
    ListingFormat,
    StreamFormat,
    UnitFormat,
    Writer,
    definition_of,
    format_of,
    structure_dataset,
    transactions_dataset,
)
from replay.output.formats.exported_values import cast
from replay.pipeline.partition import FAILED, BucketReader, Chunk, ChunkChanges
from replay.pipeline.plan import BucketResult, Plan, WrittenFile
from replay.storage import name_of
from sqlgen.structure import StructureChange

#: What readers of partitioned folders take for a null.
NO_DATE = "__HIVE_DEFAULT_PARTITION__"
#: Bytes of rows that wait to be written together, and how many files may be open.
WAITING, OPEN = 64 << 20, 200


@dataclass
class _WaitingRows:
    """Rows of a dataset and date that wait, and the file they go to."""

    dataset: Dataset
    rows: list[pa.Table] = field(default_factory=list)
    changes: int = 0
    name: str = ""
    writer: Writer | None = None


class DatasetSink:
    """Writes rows into ``folder``. Files of one bucket are told apart from those of others by
    ``part``; a file that was closed is not opened again, so a dataset and date may have several of
    one bucket."""

    def __init__(self, folder: Path, form: Format, part: str) -> None:
        self.folder, self.form, self.part = folder, form, part
        self._parts: OrderedDict[str, _WaitingRows] = OrderedDict()
        self._numbers: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._marked: set[str] = set()
        self._waiting = 0

    def write(
        self, parent: str, dataset: Dataset, date: str | None, rows: pa.Table, changes: int
    ) -> None:
        """Append ``changes`` changes of a dataset that were committed on a date. ``parent`` is the
        folder of the dataset's, '' for none."""
        place = f"{parent}/{dataset.name}" if parent else dataset.name
        place = f"{place}/commit_date={date or NO_DATE}"
        part = self._parts.setdefault(place, _WaitingRows(dataset))
        self._parts.move_to_end(place)
        part.rows.append(rows)
        part.changes += changes
        self._waiting += rows.nbytes
        if self._waiting > WAITING:
            self._flush()
        while len(self._parts) > OPEN:
            self._end(next(iter(self._parts)))

    def mark(self) -> None:
        """Remember this place: :meth:`cut_back` returns to it."""
        self._close()
        self._marked = set(self._written)

    def cut_back(self) -> None:
        """Forget everything written since :meth:`mark`."""
        self._close()
        for name in self._written.keys() - self._marked:
            (self.folder / name).unlink()
            del self._written[name]

    def close(self) -> None:
        """Write what waits and end all files."""
        self._close()

    def files(self) -> tuple[WrittenFile, ...]:
        """What was written."""
        files = []
        for name, changes in sorted(self._written.items()):
            with (self.folder / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            files.append(WrittenFile(name, (self.folder / name).stat().st_size, digest, changes))
        return tuple(files)

    def _close(self) -> None:
        for place in list(self._parts):
            self._end(place)

    def _end(self, place: str) -> None:
        part = self._parts.pop(place)
        self._put(place, part)
        if part.writer is not None:
            part.writer.close()

    def _flush(self) -> None:
        for place, part in self._parts.items():
            self._put(place, part)

    def _make_folders(self, place: str) -> None:
        """Make the folders of a place, but never that of the attempt: a run that was interrupted
        has removed it, and would leave it behind."""
        made = self.folder
        for name in PurePath(place).parts:
            made /= name
            made.mkdir(exist_ok=True)

    def _put(self, place: str, part: _WaitingRows) -> None:
        if not part.rows:
            return
        if part.writer is None:
            number = self._numbers.get(place, 0)
            self._numbers[place] = number + 1
            part.name = (
                f"{place}/part-{self.part}{f'-{number}' if number else ''}.{self.form.suffix}"
            )
            path = self.folder / part.name
            self._make_folders(place)
            part.writer = self.form.open(path, part.dataset)
            self._written[part.name] = 0
        part.writer.write(pa.concat_tables(part.rows))
        self._written[part.name] += part.changes
        self._waiting -= sum(rows.nbytes for rows in part.rows)
        part.rows, part.changes = [], 0


#: The folder of a bucket's stream.
STREAM = "changes"
#: The folder of what ``--include-aborted`` shows.
ROLLED_BACK = "rolled-back"
#: Length of ``YYYY-MM-DD HH:MM:SS.ffffff`` and of its date.
_MICROSECONDS, _DATE = 26, 10
_OP_OF = pa.array(
    [OPS.get(Change(code), "") if code else "" for code in range(len(Change) + 1)], pa.string()
)
_ORIGIN_OF = pa.array([ORIGINS.get(chr(code)) for code in range(256)], pa.string())


@dataclass(frozen=True)
class Piece:
    """Shaped images of some changes of a dataset: ``changes`` are their places in the chunk."""

    dataset: Dataset
    changes: Index
    images: pa.Table


class BucketExporter(BucketReader[list[Piece]]):
    """Exports one bucket into ``sink``."""

    def __init__(
        self, plan: Plan, log: LogFile, blocks: Iterable[bytes], sink: DatasetSink, export: Export
    ) -> None:
        super().__init__(plan, log, blocks, sink, sink.form.profile)
        self.sink, self.form = sink, sink.form
        self.datasets = Datasets(log.catalog, plan.options.render, self.profile)
        self.unknown, self.export = export.unknown, export
        self._so_far: dict[tuple[str, str], int] = {}
        self._long = LongUnit()

    # -- images
    # ---------------------------------------------------------------------------------------------

    def _make(self, changes: ChunkChanges) -> list[Piece]:
        pieces = []
        for rows, kind, version in self._groups(changes):
            if kind in ROW_CHANGES:
                pieces += self._rows(changes, rows, kind, version)
            elif kind in TABLE_EVENTS:
                self._refuse_part_events(changes, rows, kind, version)
                dataset = self.datasets.of(version)
                pieces.append(
                    Piece(dataset, rows, self.form.images(dataset, None, None, len(rows))[0])
                )
            elif kind is Change.STRUCTURE:
                pieces.append(self._structure(changes, rows))
        return pieces

    def _rows(self, changes: ChunkChanges, rows: Index, kind: Change, version: int) -> list[Piece]:
        dataset = self.datasets.of(version)
        pieces = []
        for chosen, images in self._images(changes, rows, kind):
            result = self.decoder.shaped(
                version, kind, images, dataset.columns, partial(self.form.images, dataset)
            )
            self._blame(changes, chosen, version, result.problems)
            changes.outcome[chosen] = np.where(result.failed, FAILED, result.outcome)
            pieces.append(Piece(dataset, chosen, result.rows))
        return pieces

    def _structure(self, changes: ChunkChanges, rows: Index) -> Piece:
        dataset = structure_dataset()
        described = [
            _described(change) for change in self.log.structure(changes.records[changes.head[rows]])
        ]
        columns = {
            column.name: pa.array([entry[column.name] for entry in described], pa.string())
            for column in dataset.columns
        }
        return Piece(dataset, rows, self.form.images(dataset, None, columns, len(rows))[0])

    # -- emission
    # ---------------------------------------------------------------------------------------------

    def _emit(self, changes: ChunkChanges, pieces: list[Piece], emitted: Mask, chunk: Chunk) -> int:
        if chunk.piece == 0:
            self._so_far, self._long = {}, LongUnit()
        for silent, parent in ((False, ""), (True, ROLLED_BACK)):
            ordered = np.flatnonzero(emitted & ((changes.uncommitted > 0) == silent))
            if len(ordered):
                self._write(changes, pieces, ordered, parent, chunk)
        if chunk.pieces > 1 and chunk.piece == chunk.pieces - 1 and self._long.facts is not None:
            self._units(*self._long.counted())
        return 0

    def _write(
        self,
        changes: ChunkChanges,
        content: list[Piece],
        ordered: Index,
        parent: str,
        chunk: Chunk,
    ) -> None:
        place = np.full(len(changes.head), -1, np.int64)
        place[ordered] = np.arange(len(ordered))
        pieces = _by_dataset(content, place)
        unit = changes.unit[ordered]
        events = np.ones(len(ordered), np.int64)
        for piece in pieces:
            if "events" in piece.images.column_names:
                events[piece.changes] = piece.images["events"].to_numpy()
        sequence = self._numbered(unit, events, (parent, ""))
        facts, dates = self._facts(changes, ordered, unit, sequence)
        fate = pa.array(changes.uncommitted[ordered].astype(np.int32))
        facts = facts.append_column("fate", fate)  # why it is no committed work: a reason, or 0
        facts = facts.append_column("rid", self._places(changes, ordered))
        if not parent and isinstance(self.form, UnitFormat):
            counted = _counted(pieces, unit, events)
            if len(counted.unit):
                first = order.run_starts(unit)[np.unique(counted.unit)]
                counts = (facts.take(pa.array(first)), dates.take(pa.array(first)), counted)
                if chunk.pieces > 1:
                    self._long.add(*counts)
                else:
                    self._units(*counts)
        if isinstance(self.form, StreamFormat):
            self._stream(self.form, facts, pieces)
            return
        for piece in pieces:
            rows = piece.changes
            own = self._numbered(unit[rows], events[rows], (parent, piece.dataset.name))
            mine = facts.take(pa.array(rows)).append_column("place", pa.array(own))
            date = dates.take(pa.array(rows)).dictionary_encode("encode")
            codes = date.indices.to_numpy()
            for code, text in enumerate(date.dictionary.to_pylist()):
                chosen = pa.array(np.flatnonzero(codes == code))
                if len(chosen):
                    lines = self.form.rows(
                        piece.dataset, mine.take(chosen), piece.images.take(chosen)
                    )
                    self.sink.write(parent, piece.dataset, text, lines, len(chosen))

    def _stream(self, form: StreamFormat, facts: pa.Table, pieces: list[Piece]) -> None:
        """Write the changes of all datasets that a stream takes, in their order."""
        taken = [piece for piece in pieces if form.takes(piece.dataset)]
        if not taken:
            return
        lines = pa.concat_tables(
            form.rows(piece.dataset, facts.take(pa.array(piece.changes)), piece.images)
            for piece in taken
        )
        places = np.concatenate([piece.changes for piece in taken])
        order = pa.array(np.argsort(places, kind="stable"))
        stream = replace(taken[0].dataset, name=STREAM)
        self.sink.write("", stream, None, lines.take(order), len(places))

    def _units(self, facts: pa.Table, dates: pa.Array, counted: UnitCounts) -> None:
        """Write where units begin and end: facts and dates of each, and what they hold."""
        assert isinstance(self.form, UnitFormat)
        place = np.cumsum(np.diff(counted.unit, prepend=counted.unit[0]) > 0)  # from 0, no gaps
        codes = dates.dictionary_encode("encode")
        of_unit = codes.indices.to_numpy()
        for code, text in enumerate(codes.dictionary.to_pylist()):
            units = np.flatnonzero(of_unit == code)
            if not len(units):
                continue
            mine = np.flatnonzero(of_unit[place] == code)
            lines = self.form.units(
                facts.take(pa.array(units)),
                np.searchsorted(units, place[mine]),
                [counted.collection[row] for row in mine.tolist()],
                counted.events[mine],
            )
            self.sink.write("", transactions_dataset(), text, lines, 0)

    def _places(self, changes: ChunkChanges, ordered: Index) -> pa.Array:
        """Which row of its table each change is of by its place, for the format that asks; null
        where the log does not tell it, or the row moves."""
        if self.export.format != ROW_BATCHES:
            return pa.nulls(len(ordered), pa.uint64())
        ids = self.log.row_ids(self._headers(changes, ordered))
        return pa.array(ids, pa.uint64(), mask=ids == 0)

    def _numbered(self, unit: Index, events: Index, scope: tuple[str, str]) -> Index:
        """The number of each change's first event within its unit, from 1; pieces of a long unit go
        on where the last one ended."""
        starts = order.run_starts(unit)
        before = np.cumsum(events) - events
        number = before - np.repeat(before[starts], np.diff(np.append(starts, len(unit)))) + 1
        number += self._so_far.get(
            scope, 0
        )  # of a piece that goes on; a chunk of whole units begins with none
        self._so_far[scope] = int(number[-1] + events[-1]) - 1
        return number

    def _facts(
        self, changes: ChunkChanges, ordered: Index, unit: Index, sequence: Index
    ) -> tuple[pa.Table, pa.Array]:
        """The facts of changes, and the date of their commit (null where it is not known)."""
        starts = order.run_starts(unit)
        of_unit = pa.array(np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(unit)))))
        first = self._headers(changes, ordered[starts])
        records = take_rows(changes.records, changes.head[ordered])
        text = self.log.unit_fields(first)
        names = {
            name: _known(text.get(key), self.unknown, fact, len(starts))
            for name, key, fact in _NAMES
        }
        connection = pa.array(
            [raw.decode("utf-8", "replace").rstrip() for raw in first.name("connection").tolist()],
            pa.string(),
        )
        names["connection_id"] = _known(connection, self.unknown, "connections", len(starts))
        time, _ = codecs.decode_log_timestamp(first.commit_time())
        moment, _ = cast(pc.utf8_slice_codeunits(time, 0, _MICROSECONDS), pa.timestamp("us"))
        origin = (
            pa.nulls(len(ordered), pa.string())
            if "origins" in self.unknown
            else _ORIGIN_OF.take(pa.array(changes.origin[ordered]))
        )
        member = (
            pa.nulls(len(starts), pa.int32())
            if "members" in self.unknown
            else pa.array(first.member().astype(np.int32))
        )
        files = pa.array([name_of(file.name) for file in self.log.files], pa.string())
        facts = {
            "op": _OP_OF.take(pa.array(changes.change[ordered])),
            "commit_lrsn": codecs.hex_text(first.commit()).take(of_unit),
            "commit_time": moment.take(of_unit),
            "urid": codecs.hex_text(urids_of(first.unit())).take(of_unit),
            "member": member.take(of_unit),
            **{name: values.take(of_unit) for name, values in names.items()},
            "origin": origin,
            "sequence": pa.array(sequence),
            "log_position": codecs.hex_text(as_bytes(records["position"])),
            "log_file": files.take(pa.array(records["file"])),
            "log_record": pa.array(records["number"].astype(np.int64)),
        }
        dates = pc.if_else(
            moment.is_valid(), pc.utf8_slice_codeunits(time, 0, _DATE), pa.scalar(None, pa.string())
        )
        return pa.table([facts[name] for name in FACTS.names], schema=FACTS), dates.take(of_unit)


@dataclass(frozen=True)
class UnitCounts:
    """How many ``events`` units have of tables (``collection``); ``unit`` rises."""

    unit: Index
    collection: list[str]
    events: Index


@dataclass
class LongUnit:
    """What the pieces of one long unit hold so far: facts and date of its first change."""

    facts: pa.Table | None = None
    dates: pa.Array | None = None
    events: Counter[str] = field(default_factory=Counter)

    def add(self, facts: pa.Table, dates: pa.Array, counted: UnitCounts) -> None:
        """Count one more piece."""
        if self.facts is None:
            self.facts, self.dates = facts, dates
        for collection, events in zip(counted.collection, counted.events.tolist(), strict=True):
            self.events[collection] += events

    def counted(self) -> tuple[pa.Table, pa.Array, UnitCounts]:
        """The unit as one of :meth:`BucketExporter._units`."""
        assert self.facts is not None
        names = sorted(self.events)
        events = np.array([self.events[name] for name in names], np.int64)
        return self.facts, self.dates, UnitCounts(np.zeros(len(names), np.int64), names, events)


def _counted(pieces: list[Piece], unit: Index, events: Index) -> UnitCounts:
    """How many events units have of each table; ``unit`` and ``events`` are those of all changes.
    Changes of structure are no events of a unit: their topic has none."""
    names: list[str] = []
    rows, codes = [], []
    for piece in pieces:
        if piece.dataset.table is not STRUCTURE:
            name = ".".join(part for part in piece.dataset.topic if part)
            if name not in names:
                names.append(name)
            rows.append(piece.changes)
            codes.append(np.full(len(piece.changes), names.index(name), np.int64))
    if not rows:
        return UnitCounts(np.empty(0, np.int64), [], np.empty(0, np.int64))
    number = np.cumsum(np.diff(unit, prepend=unit[0]) != 0)  # of the unit among those here
    chosen = np.concatenate(rows)
    rank = np.argsort(np.argsort(names))
    pair = number[chosen] * len(names) + rank[np.concatenate(codes)]
    present, place = np.unique(pair, return_inverse=True)
    counts = np.zeros(len(present), np.int64)
    np.add.at(counts, place, events[chosen])
    ordered = sorted(names)
    return UnitCounts(
        present // len(names), [ordered[code] for code in (present % len(names)).tolist()], counts
    )


#: Name of a fact, what :meth:`replay.logs.LogFile.unit_fields` calls it, and which of
#: :data:`replay.logs.FACTS` it is.
_NAMES = (
    ("authid", "authid", "authorization ids"),
    ("plan", "plan", "plans"),
    ("correlation_id", "correlation", "correlation ids"),
)


def _known(text: pa.Array | None, unknown: frozenset[str], fact: str, count: int) -> pa.Array:
    if text is None or fact in unknown:
        return pa.nulls(count, pa.string())
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _by_dataset(content: list[Piece], place: Index) -> list[Piece]:
    """One piece for each dataset, with what has a ``place``, in that order; ``changes`` are these
    places."""
    by_name: dict[str, list[Piece]] = {}
    for piece in content:
        by_name.setdefault(piece.dataset.name, []).append(piece)
    pieces = []
    for name in sorted(by_name):
        places = place[np.concatenate([piece.changes for piece in by_name[name]])]
        rows = np.argsort(places, kind="stable")[int((places < 0).sum()) :]
        if len(rows):
            images = pa.concat_tables([piece.images for piece in by_name[name]]).take(
                pa.array(rows)
            )
            pieces.append(Piece(by_name[name][0].dataset, places[rows], images))
    return pieces


def _described(change: StructureChange) -> dict[str, str]:
    """A change of table structure as a row of its dataset."""
    return {
        "table_owner": change.table.schema,
        "table_name": change.table.name,
        "action": change.action.value,
        "definition": json.dumps(definition_of(change.table), ensure_ascii=False),
        "old_name": change.old_name,
        "new_name": change.new_name,
        "statement": "; ".join(source.text for source in change.source),
        "note": change.note,
    }


def _written_datasets(
    plan: Plan, log: LogFile, results: list[BucketResult], form: Format
) -> dict[str, tuple[Dataset, list[WrittenFile]]]:
    """What an export wrote: the dataset and the files of each folder, both in order."""
    datasets = Datasets(log.catalog, plan.options.render, form.profile)
    taken = map(datasets.of, np.flatnonzero(plan.version_taken).tolist())
    known = {one.name: one for one in (*taken, structure_dataset(), transactions_dataset())}
    written: dict[str, tuple[Dataset, list[WrittenFile]]] = {}
    files = (file for result in results for file in result.files)
    for file in sorted(files, key=lambda file: file.name):
        folder = file.name.rpartition("/commit_date=")[0]
        dataset = known[folder.rpartition("/")[2]]
        written.setdefault(folder, (dataset, []))[1].append(file)
    return dict(sorted(written.items()))


def files_beside(plan: Plan, log: LogFile, results: list[BucketResult]) -> dict[str, str]:
    """Name -> text of the files that list what an export wrote, where its format has them."""
    assert plan.export is not None
    form = format_of(plan.export, plan.options.render)
    if not isinstance(form, ListingFormat):
        return {}
    listed = {
        folder: [(dataset, file.name) for file in files]
        for folder, (dataset, files) in _written_datasets(plan, log, results, form).items()
        if folder == dataset.name and dataset.table.schema
    }
    return dict(form.beside(listed))


def export_contents(plan: Plan, log: LogFile, results: list[BucketResult]) -> dict[str, Any]:
    """What the manifest says of an export: how it was written, and its datasets with their
    files."""
    export, options = plan.export, plan.options
    assert export is not None
    form = format_of(export, options.render)
    of_folders = _written_datasets(plan, log, results, form)
    described = options.render.describe()
    del described["where_columns"], described["empty_text"]
    choices: dict[str, dict[str, str]] = {
        "parquet": {"parquet_types": export.types},
        "csv": {"csv_null": export.null}
        | ({} if export.formulas == "keep" else {"csv_formulas": export.formulas}),
        "debezium": {"schemas": export.schemas},
    }
    return {
        "format": export.format,
        "options": {
            "names": options.names,
            "records_per_file": options.records_per_file,
            "strict": options.strict,
            **choices.get(export.format, {}),
            **described,
            **({} if options.mapping is None else {"mapping": options.mapping.describe()}),
        },
        "datasets": [
            {
                "name": folder,
                **_described_dataset(dataset, form),
                "changes": sum(file.changes for file in written),
                "files": [
                    {
                        "name": file.name,
                        "size": file.size,
                        "sha256": file.sha256,
                        "changes": file.changes,
                    }
                    for file in written
                ],
            }
            for folder, (dataset, written) in of_folders.items()
        ],
    }


def _described_dataset(dataset: Dataset, form: Format) -> dict[str, Any]:
    table = dataset.table
    columns = definition_of(replace(table, columns=dataset.columns))
    for column, name in zip(columns["columns"], dataset.names, strict=True):
        column["exported_as"] = name
    owner = (
        {"table": f"{table.schema}.{table.name}", "generation": dataset.generation}
        if table.schema
        else {}
    )
    return {**owner, **columns, **form.describe(dataset)}


def export_bucket(
    plan: Plan, log: LogFile, bucket: int, blocks: Iterable[bytes], folder: Path
) -> BucketResult:
    """Export the blocks of one bucket into ``folder``."""
    assert plan.export is not None
    form = format_of(plan.export, plan.options.render)
    sink = DatasetSink(folder, form, plan.part_name(bucket))
    exporter = BucketExporter(plan, log, blocks, sink, plan.export)
    tally = exporter.run()
    return BucketResult(sink.files(), tally, exporter.commits())
