"""What readers of change events give, whatever form their files have: batches of what events say,
which have the columns :data:`NAMES`, and what they know of tables and values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa

from replay.arrays import Bytes, Index, Mask
from replay.changes.catalog import RowFormat, TableVersion
from replay.logs import Inputs
from replay.logs.events.values import EventWalk

#: Columns of numbers, and all columns of a batch; others are texts. What ``before``, ``after`` and
#: ``key`` hold is known to the framing alone.
NUMBERS = ("events", "lsn", "pos", "micros", "millis", "total_order", "beat")
NAMES = (
    *("op", "status", "id", "events", "collections", "connector", "server", "db", "schema_name"),
    *("table_name", "snapshot", "lsn", "sequence", "file", "pos", "gtid", "micros", "millis"),
    *("transaction", "total_order", "beat", "ddl", "structure", "commit", "record", "scn"),
    *("before", "after", "schema", "key", "key_schema"),
)


@dataclass(frozen=True)
class Shape:
    """How rows of a table are written, the columns of its key, and how what is not exact is written
    (``inexact``, by column). ``whole``: its old rows are."""

    format: RowFormat
    key: tuple[str, ...]
    inexact: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False


class EventFraming(ABC):
    """Reads the files of a log, one behind the other."""

    #: How images of its rows are walked.
    WALK: ClassVar[type[EventWalk]]

    @classmethod
    @abstractmethod
    def begun(cls, raw: Bytes, inputs: Inputs) -> Self | None:
        """What reads a log whose first file has these bytes; None where that is of another
        framing. UsageError for settings."""

    @abstractmethod
    def batches(self, raw: Bytes, path: str) -> Iterator[tuple[pa.Table, Index]]:
        """What the events of a file say, and their sizes, part by part. InputError where it is
        damaged, Refusal for what refers to what is not there."""

    @abstractmethod
    def shape(
        self,
        name: tuple[str, str],
        described: tuple[str | None, str | None],
        row: str | None,
        where: str,
        binlog: bool,
    ) -> Shape:
        """How a table is written, as its events describe (``schema`` and ``key_schema``), of which
        ``row`` is one; ``where``: the file. InputError LR2031 where that is not known."""

    @abstractmethod
    def values(self, rows: pa.Array, names: Sequence[str]) -> pa.Array:
        """The values of some columns of rows, as lists of texts."""

    @abstractmethod
    def stands(self, code: str) -> Sequence[str]:
        """The texts that stand for a value, decoded by a code, that is not available."""

    def misfits(
        self, sides: Sequence[pa.Array], key: pa.Array, version: TableVersion, where: str
    ) -> Mask:
        """Which events have rows of another form, or of another key, than they say. InputError
        LR2031 where a user said which form they have."""
        return np.zeros(len(key), bool)

    @property
    def uncommitted(self) -> int:
        """How many transactions had sent changes when the log ended, which did not end."""
        return 0
