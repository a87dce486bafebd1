"""From the words and options of a command line to what is wanted of which log; the checks are those
of the library. And commands about that log that messages propose."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from replay import storage
from replay.changes.choices import EngineName, Gaps
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection, by_log
from replay.cli.terminal import Bar
from replay.engine import local
from replay.engine.contract import Engine, is_local
from replay.errors import LogReplayError, UsageError, usage_errors
from replay.live.keys import key_source
from replay.logs import Inputs, LogFile, MakesFiles, source_named
from replay.logs.named import Recognized, gathered, kind_of, recognized
from replay.options.keywords import (
    ReplayOptions,
    StatementOptions,
    ValueOptions,
    chosen_units,
    condition_of,
    script_options,
)
from replay.pipeline.mapped_catalog import MappingFile, mapping_file
from replay.pipeline.request import Demand, KeySource, OpenLog, Request, make_request, open_source
from replay.redaction import command, public
from replay.targets import target_of
from replay.temp_folders import WorkFolder
from sqlgen.errors import SqlgenError
from sqlgen.lazy_imports import when_used

with when_used():  # what questions need
    from replay.reports import log_queries, sql

#: A family's settings, or Spark's.
Pairs = tuple[tuple[str, Any], ...]
Made = TypeVar("Made")

#: Bytes of log from which on Spark is worth its start.
SPARK_FROM = 64_000_000

#: Variables that are set where Spark is at home: its own launchers, and places that run them.
SPARK_VARIABLES = (
    "SPARK_ENV_LOADED",
    "PYSPARK_GATEWAY_PORT",
    "DATABRICKS_RUNTIME_VERSION",
)


def only(values: argparse.Namespace, names: Collection[str]) -> dict[str, Any]:
    """Those of some values that a command has."""
    return {name: vars(values)[name] for name in names if name in vars(values)}


def made(kind: Callable[..., Made], values: argparse.Namespace) -> Made:
    """An object of a dataclass, whose fields are called as the options are."""
    return kind(**only(values, [field.name for field in fields(kind)]))  # type: ignore[arg-type]


def suitable_engine(
    size: int, master: str | None, configured: bool, environment: Mapping[str, str]
) -> tuple[EngineName, str]:
    """The engine for a log of ``size`` bytes where the user named none, and the reason in words.
    ``master`` is Spark's master and ``configured`` whether settings of Spark were given; who gives
    either means Spark."""
    if master is not None:
        return EngineName.SPARK, "--master was given"
    if configured:
        return EngineName.SPARK, "--conf was given"
    for name in SPARK_VARIABLES:
        if environment.get(name):
            return EngineName.SPARK, f"{name} is set"
    words = f"{size / 1e6:,.1f} MB of log; Spark from {SPARK_FROM / 1e6:,.0f} MB on"
    return (EngineName.SPARK if size >= SPARK_FROM else EngineName.LOCAL), words


@dataclass(frozen=True)
class LogInput:
    """What is read and by what: a log as options name it, what is known of its keys, and the
    settings of the engine. ``beside``: DDL beside the log, where none was named and keys matter;
    ``continues``: its units may end in a log to come."""

    source: str = "logmaster"
    named: tuple[str, ...] = ()
    in_turn: tuple[tuple[str, Sequence[str]], ...] = ()
    log: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    gaps: str | None = None
    catalog: str | None = None
    framing: str | None = None
    options: Pairs = ()
    ccsids: Pairs = ()
    schema: str | None = None
    schema_dialect: str = "postgres"
    schema_encoding: str = ""
    beside: tuple[str, ...] = ()
    engine: str = EngineName.AUTO
    master: str | None = None
    conf: Pairs = ()
    work: str | None = None
    executor_timeout: int = 300
    task_timeout: int = 3600
    verbose: bool = False
    split_mb: int = 32
    continues: bool = False

    @classmethod
    def of(cls, values: argparse.Namespace) -> LogInput:
        """What the options of a command name."""
        if getattr(values, "master", "") is None and "PYSPARK_GATEWAY_PORT" in os.environ:
            from replay.engine.spark_start import submitted_master

            values.master = submitted_master()
        values.continues = values.command.continues or getattr(values, "after", None) is not None
        return made(cls, values)

    @property
    def is_named(self) -> bool:
        """Whether a log is named at all."""
        return bool(self.in_turn or self.log or self.logs)

    @property
    def files(self) -> list[str]:
        """The files that are named with their records."""
        return [name for which, names in self.in_turn if which == "data" for name in names] + [
            *self.log
        ]

    @property
    def adjoining(self) -> bool:
        """Whether a gap between this log and those before it is accepted."""
        return self.gaps in (Gaps.WARN, Gaps.ALLOW)

    @property
    def split_bytes(self) -> int:
        """How much of the log a task reads."""
        return self.split_mb << 20

    def keys(self, target: str | None = None) -> KeySource:
        """What ``--schema`` knows of keys; ``target``: the database whose keys count where it is
        not given."""
        return key_source(self.schema, self.schema_dialect, target, self.schema_encoding)

    def open(
        self, scratch: str, demand: Demand | None = None, selection: Selection | None = None
    ) -> OpenLog:
        """The log; errors as :func:`replay.pipeline.request.open_source`."""
        inputs = Inputs(
            continues=self.continues,
            gaps=None if self.gaps is None else Gaps(self.gaps),
            log=self.log,
            catalog=self.catalog,
            framing=self.framing,
            ccsids=dict(self.ccsids),
            options=dict(self.options),
            scratch=scratch,
        )
        inputs = gathered(source_named(self.source), self.in_turn, self.logs, inputs)
        return open_source(self.source, inputs, demand, selection)

    def asked(
        self,
        opened: OpenLog,
        scratch: str,
        progress: Callable[[str, int, int], None] = lambda *_: None,
        marks: str | None = None,
        chosen: tuple[tuple[str, tuple[str, ...]], ...] = (),
    ) -> log_queries.Asked:
        """The open log as questions are put to it, in folders of ``scratch``."""
        self._propose_schema(opened.log)
        return log_queries.Asked(
            opened,
            self.engine_for(opened.log, progress),
            lambda: Path(tempfile.mkdtemp(dir=scratch)),
            self.split_bytes,
            self.keys(),
            self.words(),
            marks,
            chosen,
        )

    def settled(self, opened: OpenLog, selection: Selection, scratch: str) -> Selection:
        """A selection whose units are known (:func:`replay.reports.sql.settled`)."""
        with usage_errors():
            if not by_log(selection):
                return selection
            return sql.settled(self.asked(opened, scratch), selection)

    def request(
        self, scratch: str, demand: Demand, selection: Selection, target: str | None = None
    ) -> Request:
        """The log, opened for ``demand``, with it placed and checked."""
        opened = self.open(scratch, demand, selection)
        self._propose_schema(opened.log)
        selection = self.settled(opened, selection, scratch)
        if demand.export is None:
            return make_request(opened, selection, demand, self.keys(target))
        from replay.output.formats import export_request

        return export_request(opened, selection, demand, self.keys(target))

    def _propose_schema(self, log: LogFile) -> None:
        """Say which DDL beside the log has its tables: of several, that with most foreign keys."""
        found: dict[str, tuple[int, int]] = {}
        tables = [version.table for version in log.catalog.versions] if self.beside else []
        for path in self.beside:
            with suppress(LogReplayError, SqlgenError):
                keys = key_source(path, self.schema_dialect, None, self.schema_encoding)
                if callable(keys) and not (stated := keys(tables)).strange:
                    found[path] = len(stated.foreign_keys), -len(stated.unread)
        if found:
            path = max(found, key=found.__getitem__)
            said = f"note: DDL with tables of the log is beside it: --schema {path}"
            print(said, file=sys.stderr)

    def engine_for(self, log: LogFile, progress: Callable[[str, int, int], None]) -> Engine:
        """The engine asked for, or the one that suits a log; Spark begins to start in the
        background."""
        name, reason = EngineName(self.engine), ""
        if name is EngineName.AUTO:
            size = sum(storage.size_of(path) for path in log.inputs())
            name, reason = suitable_engine(size, self.master, bool(self.conf), os.environ)
            if self.verbose:
                print(f"engine: {name} ({reason})", file=sys.stderr)
        if name is EngineName.LOCAL:
            return local.LocalEngine(progress, reason)
        made_files = log.made_files() if isinstance(log, MakesFiles) and self.work is None else []
        return self._spark(made_files, progress, reason)

    def _spark(
        self,
        made_files: Sequence[str],
        progress: Callable[[str, int, int], None],
        reason: str,
    ) -> Engine:
        """Spark; ``made_files``: files that tasks elsewhere need."""
        from replay.engine.spark import SparkEngine
        from replay.engine.spark_start import start_in_background, timeouts

        master, conf = str(self.master or "local[*]"), dict(self.conf)
        if is_local(master):
            start = start_in_background(master, conf, {})
            return SparkEngine(progress, reason, started=start)
        seconds = self.executor_timeout
        start = start_in_background(master, conf, timeouts(seconds), seconds)
        return SparkEngine(progress, reason, made_files, seconds, self.task_timeout, started=start)

    def words(self, keys: bool = True) -> tuple[str, ...]:
        """The options that name the log and where it is read, as others may see them; ``keys``:
        and its keys. Not ``--conf``."""
        words: list[str] = []
        words += self.named
        if self.source != "logmaster" and not self.named:
            words += ["--source", self.source]
        for option, names in (*self.in_turn, ("log", self.log), ("logs", self.logs)):
            words += [f"--{option}", *names] if names and not self.named else []
        words += ["--catalog", self.catalog] if self.catalog and not self.named else []
        for option in ("gaps", "framing"):
            value = getattr(self, option)
            words += [f"--{option}", value] if value else []
        for name, value in self.options:
            words += ["--log-option", f"{name}={value}"]
        for scheme, number in self.ccsids:
            words += ["--ccsid", f"{scheme}={number}"]
        if keys and self.schema:
            words += ["--schema", self.schema]
            if self.schema_dialect != "postgres":
                words += ["--schema-dialect", self.schema_dialect]
            if self.schema_encoding:
                words += ["--schema-encoding", self.schema_encoding]
        if self.engine != EngineName.AUTO:
            words += ["--engine", self.engine]
        for option in ("master", "work"):
            value = getattr(self, option)
            words += [f"--{option}", value] if value else []
        return tuple(map(public, words))


@contextmanager
def asked_log(
    arguments: argparse.Namespace, selection: Selection
) -> Iterator[tuple[log_queries.Asked, Selection]]:
    """The log that arguments name, to be asked, and what of it; temporary files are gone
    afterwards."""
    with WorkFolder() as scratch, Bar(sys.stderr) as progress, usage_errors():
        reading = LogInput.of(arguments)
        marks = getattr(arguments, "marks", None)
        opened = reading.open(scratch)
        asked = reading.asked(opened, scratch, progress, marks, arguments.chosen)
        mapping = mapping_of(arguments) if hasattr(arguments, "mask_key_file") else None
        yield replace(asked, mapping=mapping), sql.settled(asked, selection)


def selection_of(values: argparse.Namespace) -> Selection:
    """The options that say which changes."""
    excepted: Mapping[str, Any] = {}
    if getattr(values, "excepted", ()):
        excepted = {"excepted": chosen_units(values.excepted)}
    names = [field.name for field in fields(Selection) if field.name != "excepted"]
    given = only(values, names)
    if getattr(values, "changed", ()):
        given["where"] = condition_of(given["where"], values.changed)
    return Selection(**given, **excepted)


def options_of(
    values: argparse.Namespace, dialect: str | None, selection: Selection
) -> ScriptOptions:
    """How statements and values are written."""
    read_elsewhere = {"schema", "schema_dialect", "schema_encoding"}
    read_elsewhere |= {"mapping", "mask_key_file", "baseline", "csv"}
    names = StatementOptions.__optional_keys__ - read_elsewhere
    return script_options(dialect, selection, **only(values, names))


def data_options_of(values: argparse.Namespace, selection: Selection) -> ScriptOptions:
    """How the values of data are written, where statements may be as well."""
    names = ValueOptions.__optional_keys__ - {"empty_text", "schema"}
    names -= {"schema_dialect", "schema_encoding", "mapping", "mask_key_file"}
    return script_options("duckdb", selection, **only(values, names))


def live_options_of(
    values: argparse.Namespace, url: str | None, selection: Selection
) -> ScriptOptions:
    """How statements for a live database are written."""
    return options_of(values, target_of(url or "postgresql://").dialect, selection)


def mapping_of(values: argparse.Namespace) -> MappingFile | None:
    """The mapping that a command was given; errors as
    :func:`replay.pipeline.mapped_catalog.mapping_file`."""
    return mapping_file(values.mapping, values.mask_key_file)


def export_of(values: argparse.Namespace) -> Export:
    """How the changes are written as data. SqlgenError (LR1001) for options that contradict each
    other."""
    return Export(
        values.format,
        values.parquet_types,
        values.csv_null,
        values.schemas,
        formulas=values.csv_formulas,
    )


def replay_words(values: argparse.Namespace) -> ReplayOptions:
    """The options that say how a replay goes."""
    own = ReplayOptions.__annotations__
    return only(values, own)  # type: ignore[return-value]


# -- LOG
# -------------------------------------------------------------------------------------------------

#: Options that name a log too.
_EXPLICIT = ("control", "data", "log", "logs")
#: Commands whose answers depend on keys.
_WANT_KEYS = ("undo", "whatif", "graph")
#: A unit of recovery in a message.
_UNIT = re.compile(r"\b(?:unit (?=[0-9A-F]{20})|URID=)?([0-9A-F]{20}/\d+)")
#: Files that are listed at most.
_LISTED = 5


def settle_log(values: argparse.Namespace) -> None:
    """Put into ``values`` what the words name; notes on standard error say which files of a folder
    are no part of it. Errors as of :func:`recognized`; UsageError
    (LR1001) beside an option that names a log."""
    for name in _EXPLICIT:
        if name in values.given:
            raise UsageError(
                "LR1001", f"found LOG ({values.named[0]}) and --{name}; expected one of them"
            )
    if values.command.name == "follow":
        values.logs = values.named
        return
    found = recognized(values.named, values.source if "source" in values.given else None)
    values.source, values.in_turn = found.source, found.in_turn
    values.log, values.logs = found.log, found.logs
    values.control, values.data = (
        tuple(path for which, paths in found.in_turn if which == name for path in paths)
        for name in ("control", "data")
    )
    if "catalog" not in values.given:
        values.catalog = found.catalog
    _tell(values, found)


def _tell(values: argparse.Namespace, found: Recognized) -> None:
    strays = [os.path.basename(path) for path in found.strays]
    if strays:
        more = f" and {len(strays) - _LISTED} more" if len(strays) > _LISTED else ""
        said = ", ".join(strays[:_LISTED]) + more
        print(f"note: no part of the log: {said}", file=sys.stderr)
    if values.command.name in _WANT_KEYS and values.schema is None:
        values.beside = found.schemas or _beside(found)


def _beside(found: Recognized) -> tuple[str, ...]:
    """Files of DDL in the folder of the log."""
    files = [*found.log, *found.logs, *(path for _, paths in found.in_turn for path in paths)]
    if not files or storage.is_url(files[0]):
        return ()
    folder = storage.at(files[0]).parent
    names = [str(file.place) for file in storage.files_in(folder) if file.name.endswith(".sql")]
    return tuple(name for name in sorted(names) if kind_of(name) == "ddl")


def look_at(unit: str, reading: LogInput) -> str:
    """How to see what a unit of recovery did."""
    return f"To see what unit {unit} did: {command('history', *reading.words(), '--ur', unit)}"


def ways_to_look(
    message: str, record: int | None, file: str | None, reading: LogInput
) -> list[str]:
    """How to look at the unit and the record that an error names."""
    lines = []
    unit = _UNIT.search(message)
    if unit:
        lines.append(look_at(unit.group(1), reading))
    if record is not None and file in reading.files:
        words = [*reading.words(False), "--record", str(record)]
        if len(reading.files) > 1:
            words += ["--file", str(reading.files.index(file) + 1)]
        lines.append(f"record {record}: {command('inspect', *words)} --hex")
    return lines
