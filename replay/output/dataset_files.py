"""The files of an export: ``DATASET/commit_date=YYYY-MM-DD/part-BUCKET.SUFFIX``, each written by
one task."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import pyarrow as pa

from replay.output.formats import Dataset, Format, Writer
from replay.pipeline.bucket_result import WrittenFile

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
