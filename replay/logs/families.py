"""Log families: what their logs can tell, as data, how they are opened, and how they are found by
name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from replay.arrays import Bytes, Mask, Records
from replay.changes.choices import SOURCES, Gaps
from replay.changes.envelope import Change
from replay.changes.position import Position
from replay.errors import UsageError
from replay.logs.files import KnowsFiles, states_of
from replay.logs.log_file import LogFile
from sqlgen.lazy_imports import when_used

if TYPE_CHECKING:
    from replay.logs.description import Description

with when_used():  # for doctor
    from replay.logs import readings

#: What commands may need to know of a change or a log, and the options that need it.
FACTS: dict[str, str] = {
    "before images": "the rows as they were before",
    "structure": "changes of table structure, in order (DDL)",
    "rolled-back work": "the changes of units that were not committed",
    "commit times": "when units of recovery were committed",
    "origins": "whether a change was made by a foreign key or a trigger",
    "incomplete units": "which units lack records, and where units that depend on them begin",
    "recovery sets": "which records come after a recovery point",
    "authorization ids": "who did it",
    "plans": "the plan",
    "correlation ids": "the correlation id",
    "connections": "the connection",
    "members": "the member of a data sharing group, or the log stream",
    "logical units of work": "the logical unit of work (LUWID)",
    "databases": "the database of a table",
    "table spaces": "the table space of a row",
    "table space names": "the name of a table space",
    "partitions": "the partition of a row",
    "pages": "the page of a row",
    "row identifiers": "the row identifier (RID)",
}


@dataclass(frozen=True)
class Capabilities:
    """Which of :data:`FACTS` the logs of a family hold, and for each other one why it cannot be
    known. Checked when made."""

    known: frozenset[str]
    unknown: Mapping[str, str]

    def __post_init__(self) -> None:
        if set(self.known) & set(self.unknown) or set(self.known) | set(self.unknown) != set(FACTS):
            raise ValueError("every fact is either known or unknown, with the reason")


@dataclass(frozen=True)
class LogPair:
    """A control file with its data files. ``begin`` and ``end``: what the log covers, where a list
    of logs says it."""

    control: str
    data: tuple[str, ...] = ()
    begin: Position | None = None
    end: Position | None = None


@dataclass(frozen=True)
class Inputs:
    """The files and settings a user named. ``pairs`` are several logs that are read as one, in
    place of ``control`` and ``data``; ``continues``: a run goes on from another one, so that
    units may end in a log to come; ``gaps``: what becomes of holes between logs, where the user
    said it. ``options`` are ``--log-option`` NAME=VALUE pairs; ``scratch`` is a folder for
    temporary files."""

    control: str | None = None
    data: tuple[str, ...] = ()
    pairs: tuple[LogPair, ...] = ()
    gaps: Gaps | None = None
    continues: bool = False
    log: tuple[str, ...] = ()
    catalog: str | None = None
    framing: str | None = None
    ccsids: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    scratch: str | None = None


def _no_faults(log: Any, envelope: Any) -> Sequence[tuple[str, str, str, Mask]]:
    return ()


def _never(log: Any) -> bool:
    return False


def _nothing_open(log: Any) -> readings.Checkup:
    return readings.Checkup({}, {})


def _admitted(log: Any) -> None:
    return None


def positions_rise(log: Any) -> bool:
    """:attr:`OrderRules.rising` of logs whose records are placed where they were written."""
    return True


@dataclass(frozen=True)
class OrderRules:
    """What positions of a family's logs must obey, for ``logreplay check``. Functions of a module,
    so that rules can be pickled; they raise no error, because what breaks a rule is data."""

    #: ``(log, envelope)`` of committed changes -> (field, found, expected, ``bool[n]`` records).
    faults: Callable[[Any, Any], Sequence[tuple[str, str, str, Mask]]] = _no_faults
    #: ``(log)``: whether the positions of one member rise along the versions of a row.
    rising: Callable[[Any], bool] = _never


#: Fields of :class:`Inputs` that pairs of files take the place of.
_PAIRED = ("control", "data")
#: Options that name the files of a log.
_FILES = (*_PAIRED, "log", "catalog")


@dataclass(frozen=True)
class CopyFacts:
    """What a copy of a part of a log holds: ``records`` of it and how many of them are ``damaged``,
    the table ``versions`` that it describes (``bool[m]``, of the log's catalog) and those that it
    has row ``images`` of (their indexes), the ``kinds`` of its records, whether some are
    ``segmented``. ``reach``: up to where it has all that was asked for, where that is not as far as
    the log goes; a position of zeros: nobody can tell. ``keeps_incomplete``: what the log flags as
    incomplete is in it. ``described``: what was asked for, in words, where that was not all."""

    records: int
    damaged: int
    versions: Mask
    images: frozenset[int]
    kinds: frozenset[Change]
    segmented: bool
    reach: Position | None = None
    keeps_incomplete: bool = True
    described: str = ""


class LogWriter(Protocol):
    """Writes records of a log as a log of its family again, byte by byte. Raises Refusal (LR3022)
    as each member says, and no other error."""

    #: How the names of the file of facts and of the file of records end.
    suffixes: tuple[str, str]

    def admit(self, log: Any) -> None:
        """Refusal (LR3022) for logs of a set that cannot be in one log."""
        ...

    def records(self, log: Any, records: Records, proven: bool) -> Bytes:
        """The bytes (``uint8[n]``) of ``records`` (:data:`replay.changes.envelope.RECORD`) for the
        file of records, in their order. ``proven``: none of them depends on an incomplete unit,
        whatever the log flags. Refusal (LR3022) for one that the file cannot hold."""
        ...

    def control(self, log: Any, facts: CopyFacts) -> bytes:
        """The file of facts."""
        ...

    def read_again(self, log: Any, control: str, data: str, facts: CopyFacts) -> None:
        """Refusal (LR3022) where the copy in two files of this machine reads otherwise than the
        log."""
        ...


#: Files that a run reads at most: places of records have 16 bits for the number of a file.
MOST_FILES = 65_536


@dataclass(frozen=True)
class Family:
    """A log family: what its logs can tell and what it does with them. Callables get the logs that
    ``open`` made, and raise no error but those that they name."""

    #: What ``--source`` calls it, and what messages call its logs.
    name: str
    title: str
    #: The SQL dialect of the databases that write them.
    dialect: str
    #: What its logs can tell, and what not and why.
    capabilities: Capabilities
    #: Fields of :class:`Inputs` that must be there, and those that may be.
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    #: What ``--framing`` accepts.
    framings: tuple[str, ...]
    #: What ``--log-option`` accepts: name -> meaning, for people.
    options: Mapping[str, str]
    #: Opens a log. UsageError for settings, InputError for files that cannot be used, Refusal where
    #: a log cannot be trusted.
    open: Callable[[Inputs], LogFile]
    #: What is in a log, with an ``exit_code``.
    describe: Callable[[Any], Description]
    #: ``(log, number, file, with_hex)``: one record in lines, ``number`` and ``file`` from 1.
    #: UsageError LR1004 where there is no such file or record.
    dump_record: Callable[[Any, int, int, bool], list[str]]
    #: What positions must obey.
    order: OrderRules = OrderRules()
    #: A log with its REAL columns as DOUBLE, where they hold more than an IEEE single does.
    with_wide_reals: Callable[[Any], LogFile] | None = None
    #: What a log says of the points that its published layouts leave open, for ``logreplay
    #: doctor``.
    checkup: Callable[[Any], readings.Checkup] = _nothing_open
    #: ``(log)``: InputError where a log may be looked at and must not be used for more.
    admit: Callable[[Any], None] = _admitted
    #: Whether the precision of a decimal is known, not only how many bytes it takes.
    exact_decimals: bool = True
    #: Whether its databases, and so our comments, number units in decimal digits.
    decimal_units: bool = False
    #: What writes parts of its logs as logs again, and what to use where nothing does.
    writer: Callable[[], LogWriter] | None = None

    def description(self, log: LogFile) -> Description:
        """What is in a log, and what its logs cannot tell."""
        described = self.describe(log)
        unknown = dict(self.capabilities.unknown)
        values = {"source": self.name, **described.values, "cannot_be_known": unknown}
        meanings = {**described.meanings, "cannot_be_known": FACTS}
        return replace(described, values=values, meanings=meanings)

    def open_log(self, inputs: Inputs) -> LogFile:
        """Open a log. UsageError when the files or settings are not those of this family, else as
        ``open``."""
        given = {
            name for name in _FILES if getattr(inputs, name) or (inputs.pairs and name in _PAIRED)
        }
        for name in _FILES:
            if name in given and name not in self.takes:
                raise UsageError(
                    "LR1001",
                    f"found --{name} with --source {self.name}; expected"
                    f" {' and '.join(f'--{taken}' for taken in _FILES if taken in self.takes)}",
                    hint="Logs of other families need their --source",
                )
        for name in self.needs:
            if name not in given:
                needed = " and ".join(f"--{one}" for one in self.needs)
                raise UsageError(
                    "LR1001",
                    f"found no {f'--{name}' if given else 'log'}; expected its files or its folder,"
                    f" as in logreplay COMMAND LOG, or {needed} with --source {self.name}"
                    f" ({self.title})",
                )
        if inputs.framing is not None and inputs.framing not in self.framings:
            raise UsageError(
                "LR1001",
                f"found --framing {inputs.framing}; expected one of: {', '.join(self.framings)}",
            )
        if inputs.ccsids and "ccsids" not in self.takes:
            raise UsageError(
                "LR1001",
                f"found --ccsid with --source {self.name}; expected it with logs that name"
                " character sets by CCSID only",
            )
        for name in inputs.options:
            if name not in self.options:
                accepted = ", ".join(self.options) or f"none ({self.name} has no such options)"
                raise UsageError(
                    "LR1001", f"found --log-option {name}; expected one of: {accepted}"
                )
        files = [*inputs.data, *inputs.log, *(name for pair in inputs.pairs for name in pair.data)]
        if len(files) > MOST_FILES:
            raise UsageError(
                "LR1001",
                f"found {len(files):,} files of a log; expected {MOST_FILES:,} at most",
                hint="Read them in several runs (--after), or follow them (logreplay follow)",
            )
        named = [inputs.control, *(pair.control for pair in inputs.pairs), *files]
        found = states_of(name for name in named if name)
        log = self.open(inputs)
        if isinstance(log, KnowsFiles):
            others = [name for name in log.inputs() if name not in found]
            log.as_found = found | states_of(others)
        return log


#: The families of this package. Others come through the entry-point group ``logreplay.logs``, whose
#: entries name a :class:`Family`.
FAMILIES: dict[str, str] = {
    **{name: f"replay.logs.{name.replace('-', '_')}.family:FAMILY" for name in SOURCES},
    "events": "replay.logs.change_events:FAMILY",  # of two folders
}


def source_named(name: str) -> Family:
    """The log family called ``name``. UsageError when neither this package nor an installed one has
    it."""
    if name in FAMILIES:
        module, _, attribute = FAMILIES[name].partition(":")
        built_in: Family = getattr(import_module(module), attribute)
        return built_in
    from importlib.metadata import entry_points

    points = {point.name: point for point in entry_points(group="logreplay.logs")}
    if name not in points:
        raise UsageError(
            "LR1001",
            f"found log family {name!r}; expected one of:"
            f" {', '.join(sorted({*FAMILIES, *points}))}",
        )
    family: Family = points[name].load()
    return family
