"""What tasks are asked of the row images of a large export whose tables change, once it is known
where: with which framings those of each version of a table close, or those of the version that the
export of the system tables shows; and whether those between two places of the log close with
columns that a table may have had there."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from replay.changes.catalog import RowFormat
from replay.errors import LogReplayError
from replay.logs import Split
from replay.logs.by_tasks import OddError, OpeningTasks
from replay.logs.soliddb.by_range import (
    ExportShare,
    ShareBefore,
    SharesJob,
    ShareTold,
    words_of_error,
)
from replay.logs.soliddb.detect import FittingFramings, SolidShape, TableImages, fitting
from replay.logs.soliddb.export_ranges import ExportLog
from replay.logs.soliddb.table_history import Closes, SolidTableHistory

#: What a note says where one process has to look at images.
CHANGED = "tables whose columns change"
#: How often tasks are asked whether images close; what they say may lead to other questions.
_ROUNDS = 8


@dataclass(frozen=True)
class Question:
    """Whether all images of a table (``relid``) between two rows of the log close with a format,
    and how many they are."""

    relid: int
    low: int
    high: int
    form: RowFormat


@dataclass
class ImagesTold:
    """What a share says: as :attr:`replay.logs.soliddb.by_range.ShareTold.fitting`, or whether its
    images close that are asked for, and how many they are. ``odd``: what is, in words."""

    number: int
    fitting: list[FittingFramings] = field(default_factory=list)
    closing: list[tuple[bool, int]] = field(default_factory=list)
    odd: str = ""


@dataclass(frozen=True)
class ImagesJob:
    """Looks at the images of ranges of an export; the shares are those of ``shares``, with so many
    rows before each (``before``). Without a ``shape`` at those of each version by a ``line`` of
    tables, or of the one of each table that is ``exported``, with the columns that it has there;
    else for the ``questions``. Results are pickled :class:`ImagesTold`."""

    shares: SharesJob
    before: Sequence[int]
    line: SolidTableHistory
    exported: Mapping[int, int] | None = None
    shape: SolidShape | None = None
    questions: Sequence[Question] = ()
    buckets: int = 0

    title = "index tables"

    def scan(self, log: ExportLog, split: Split) -> Iterator[tuple[int, bytes]]:
        """One range."""
        number = split.first_record - 1
        try:
            told = self._told(ExportShare(self.shares, log, number), number)
        except OddError as odd:
            told = ImagesTold(number, odd=str(odd))
        except LogReplayError as error:
            told = ImagesTold(number, odd=words_of_error(error))
        yield self.buckets, pickle.dumps(told)

    def reduce(self, log: ExportLog, bucket: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Never called: there are no buckets."""
        raise AssertionError

    def _told(self, share: ExportShare, number: int) -> ImagesTold:
        first, settings = self.before[number], self.shares.settings
        if not share.there:
            raise OddError("files that change while they are read")
        if self.shape is not None:
            closing = [
                share.builder.closes(
                    self.shape, each.relid, each.low - first, each.high - first, each.form
                )
                for each in self.questions
            ]
            return ImagesTold(number, closing=closing)
        line = self.line.of_rows(first, first + len(share.rows))
        groups: dict[int, TableImages] = {}
        for relid, mine in share.builder.of_table.items():
            if self.exported is None:
                groups.update(share.builder.by_version(line, relid, mine))
            elif relid in self.exported:
                groups[relid] = share.builder.as_exported(line, relid, mine, self.exported[relid])
        found = fitting(groups, share.rows.data, settings.framing, settings.columns, none=True)
        return ImagesTold(number, found)


@dataclass
class _Asked:
    """Says whether images close as it is known (``answers``). Of the others it says that they do,
    and notes that it was asked (``unknown``)."""

    answers: Mapping[Question, tuple[bool, int]]
    unknown: dict[Question, None] = field(default_factory=dict)

    def __call__(self, relid: int, low: int, high: int, form: RowFormat) -> tuple[bool, int]:
        question = Question(relid, low, high, form)
        if question not in self.answers:
            self.unknown[question] = None
        return self.answers.get(question, (True, 1))


@dataclass(frozen=True)
class AskedImages:
    """Has tasks look at the images of shares, which ``told`` of themselves, with what is ``before``
    each. Raises what tasks raise, and OddError."""

    job: SharesJob
    log: ExportLog
    told: Sequence[ShareTold]
    before: Sequence[ShareBefore]
    tasks: OpeningTasks

    def fitting(
        self, line: SolidTableHistory, exported: Mapping[int, int] | None = None
    ) -> list[list[FittingFramings]]:
        """What the images of each share say, by version, or of those that are ``exported``."""
        there = [told.number for told in self.told if told.images]
        found = self._asked(ImagesJob(self.job, self._rows_before, line, exported), there)
        return [each.fitting for each in found]

    def line(
        self, build: Callable[[Closes], SolidTableHistory], shape: SolidShape
    ) -> SolidTableHistory:
        """What becomes of tables, as ``build`` says, which is told whether images close. What it
        wants to know is asked of tasks at once, as far as that does not follow from answers."""
        answers: dict[Question, tuple[bool, int]] = {}
        for _ in range(_ROUNDS):
            asked = _Asked(answers)
            line = build(asked)
            if not asked.unknown:
                return line
            answers.update(self._answers([*asked.unknown], shape, line))
        raise OddError(CHANGED)

    def _answers(
        self, questions: Sequence[Question], shape: SolidShape, line: SolidTableHistory
    ) -> dict[Question, tuple[bool, int]]:
        """What all shares together say."""
        there = []
        for told, before in zip(self.told, self.before, strict=False):
            spans = {
                relid: (before.rows + first, before.rows + last)
                for relid, (first, last) in told.images.items()
            }
            if any(
                each.relid in spans
                and spans[each.relid][0] < each.high
                and each.low < spans[each.relid][1]
                for each in questions
            ):
                there.append(told.number)
        job = ImagesJob(self.job, self._rows_before, line, None, shape, questions)
        found = self._asked(job, there)
        return {
            question: (
                all(each.closing[number][0] for each in found),
                sum(each.closing[number][1] for each in found),
            )
            for number, question in enumerate(questions)
        }

    @property
    def _rows_before(self) -> list[int]:
        return [before.rows for before in self.before]

    def _asked(self, job: ImagesJob, shares: Sequence[int]) -> list[ImagesTold]:
        """What some shares say, in order."""
        if not shares:
            return []
        found: dict[int, ImagesTold] = {}
        for packed in self.tasks.results(job, self.log, [self.job.splits[at] for at in shares]):
            told: ImagesTold = pickle.loads(packed)
            if told.odd:
                raise OddError(told.odd)
            found[told.number] = told
        return [found[number] for number in shares]
