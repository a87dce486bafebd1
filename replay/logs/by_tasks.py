"""What an engine does for a log that is being opened: tasks read its bytes, so that this process
need not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from replay.logs import Split
from replay.logs.ranged import RangedLog


class OddError(Exception):
    """What tasks cannot judge, in words that a note repeats."""


@dataclass(frozen=True)
class WalkedFiles:
    """Where the records of all files are: ``splits`` that begin and end at records, by file and
    place, of so many ``records``; ``digests`` of the files that are inputs as they are, by
    input."""

    splits: tuple[Split, ...]
    records: int
    digests: Mapping[str, Any]


class ScanJob(Protocol):
    """A job of one stage, as :class:`replay.engine.contract.Job` has it, with no buckets. Raises
    LogReplayError, which an engine hands on as it was raised."""

    @property
    def title(self) -> str:
        """What it does, as an engine shows it."""
        ...

    @property
    def buckets(self) -> int:
        """0."""
        ...

    def scan(self, log: Any, split: Split) -> Iterator[tuple[int, bytes]]:
        """The results of a split. Raises LogReplayError."""
        ...

    def reduce(self, log: Any, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Never called."""
        ...


class OpeningTasks(Protocol):
    """Tasks of an engine. Raises what they raise."""

    @property
    def pays(self) -> bool:
        """Whether they are faster than this process."""
        ...

    @property
    def on_this_machine(self) -> bool:
        """Whether tasks find the files that this process makes."""
        ...

    def walked(self, log: RangedLog) -> WalkedFiles | None:
        """The records of a log, found by tasks range by range; None where the framing of a file is
        damaged, which a walk from beginning to end has to report."""
        ...

    def digested(self, places: Mapping[str, str]) -> Mapping[str, Any]:
        """Digests (as :class:`Digested` has them) of files by input, which tasks find at
        ``places``."""
        ...

    def not_enough(self, reason: str, uses: str = "") -> None:
        """Hear for what they found this process does what they were asked for. ``uses``: what of
        theirs it does that from, in words that follow on."""
        ...

    def results(self, job: ScanJob, log: Any, splits: Sequence[Split]) -> Iterator[bytes]:
        """The results of a job over splits of a log, in no order."""
        ...


@runtime_checkable
class IndexedByTasks(Protocol):
    """A log that may have been indexed by tasks when it was opened. Raises no error."""

    @property
    def indexed_by_tasks(self) -> bool:
        """Whether it was."""
        ...

    @property
    def count(self) -> int:
        """How many records it has."""
        ...

    def ranges(self, split_bytes: int) -> Iterator[Split]:
        """The splits of :meth:`replay.logs.LogFile.splits`."""
        ...


@runtime_checkable
class Digested(Protocol):
    """A log some of whose inputs were digested while it was opened. Raises no error."""

    @property
    def digests(self) -> Mapping[str, Any]:
        """:class:`replay.pipeline.input_digests.FileDigest` by input."""
        ...
