"""The library's door: open a log, select, and write, read, replay or compare what is selected.

Every refusal, code and warning is that of the command line, because both make the same
:class:`replay.pipeline.request.Request`. Errors are those of :mod:`replay.errors`.
"""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from replay import storage
from replay.changes.balance import Tally
from replay.changes.choices import (
    CascadeMode,
    Enforcement,
    Gaps,
    Incomplete,
    Mode,
)
from replay.changes.notation import time_of
from replay.changes.options import Export, ScriptOptions
from replay.changes.selection import Selection, by_log
from replay.engine import local
from replay.engine.contract import SPLIT_BYTES, Engine
from replay.errors import EXIT_OK, UsageError, counted, usage_errors
from replay.live.keys import key_source
from replay.logs import Inputs, MakesFiles, source_named
from replay.logs.named import Paths, gathered, paths_of, recognized, words_of
from replay.options.keywords import (
    LiveOptions,
    PositionText,
    ReplayOptions,
    SelectionOptions,
    StatementOptions,
    TextOptions,
    ValueOptions,
    checked,
    csv_form,
    octets_of_position,
    script_options,
    selection_of,
    warn,
)
from replay.pipeline.mapped_catalog import MappingFile, mapping_file
from replay.pipeline.request import Demand, KeySource, OpenLog, Request, make_request, open_source
from replay.reports.layout import preformatted
from replay.reports.log_api import Questions
from replay.storage import Place, settled
from replay.temp_folders import WorkFolder
from replay.writable import Extract, Writable
from sqlgen.errors import choice
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Constraints, Table

with when_used():  # what some questions alone need
    from replay.dependencies import log_check
    from replay.engine import spark as spark_engine
    from replay.live import certificate, replay_request, route
    from replay.live import replay as live
    from replay.live import verify as comparison
    from replay.output import bundle, extraction, formats, row_changes, whole_folder
    from replay.reports import log_queries, sql

#: Records of a script, and so of the rows that are made at a time, where changes are read.
_RECORDS_TOGETHER = 50_000


# -- logs
# -------------------------------------------------------------------------------------------------


@checked
def open_log(
    *files: str | Path,
    source: str | None = None,
    control: Paths | None = None,
    data: Paths | Sequence[Paths] = (),
    log: str | Path | Sequence[str | Path] = (),
    logs: str | Path | Sequence[str | Path] = (),
    gaps: str | None = None,
    continues: bool = False,
    catalog: str | Path | None = None,
    framing: str | None = None,
    ccsids: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
    engine: Engine | None = None,
    spark: Any = None,
    work: str | Path | None = None,
) -> Log:
    """Open the log that ``files`` name: files, folders, globs or URLs, in any order, as LOG on the
    command line; what each of them is, is found by its content. Or name them, and the family that
    they are of (``source``: ``logmaster``, ``db2luw``, ``soliddb``, ``logmaster-load`` or an
    installed one):

    ``control`` and ``data`` are files of Log Master, ``log`` and ``catalog`` those of the others.
    Several logs are read as one: as many control files as (lists of) data files, or ``logs``, a
    folder, glob or TOML list of them; ``gaps`` says what becomes of holes between them,
    ``continues`` that units may end in a log to come (as for ``write(after=…)``);
    ``framing``, ``ccsids`` (``{"E": 1140}``) and ``options`` as ``--framing``, ``--ccsid`` and
    ``--log-option``. ``spark``, the ``SparkSession`` of your program, carries out what is asked for
    (or an ``engine``); without it, this process alone. ``work`` as ``--work``: a folder that all
    machines find. Close it, or use it in a ``with`` statement: it keeps temporary files.

    Raises UsageError for files and settings of another family, InputError for damaged files.
    """
    if spark is not None and engine is not None:
        raise UsageError("LR1001", "found spark and engine; expected one of them")
    folder = None if work is None else Path(settled(str(work)))
    if folder is not None and not folder.is_dir():
        raise UsageError("LR1006", f"found no folder {folder}; expected one for work")
    words, some, in_log = words_of(control, data), paths_of(logs), paths_of(log)
    if files and (control is not None or data or some or in_log):
        raise UsageError("LR1001", "found files twice, one with what it is; expected them once")
    if files:
        found = recognized(map(str, files), source)
        source, words, some, in_log = found.source, found.in_turn, found.logs, found.log
        catalog = catalog or found.catalog
    source = source or "logmaster"
    with ExitStack() as held:
        if spark is not None:
            engine = spark_engine.engine_on(spark)
        scratch = WorkFolder(parent=folder)
        held.callback(scratch.cleanup)
        with usage_errors():
            holes = None if gaps is None else choice(Gaps, gaps, "gaps")
        inputs = Inputs(
            gaps=holes,
            continues=continues,
            log=in_log,
            catalog=None if catalog is None else str(catalog),
            framing=framing,
            ccsids=_code_pages(ccsids or {}),
            options=dict(options or {}),
            scratch=scratch.name,
        )
        inputs = gathered(source_named(source), words, some, inputs)
        opened = open_source(source, inputs)
        if spark is not None and folder is None:
            made = opened.log.made_files() if isinstance(opened.log, MakesFiles) else []
            engine = spark_engine.engine_on(spark, made)
        named = tuple(map(str, files))
        return Log(opened, scratch, engine or local.ENGINE, held.pop_all(), named)


def _warn_of_quarantined(tally: Tally, where: str) -> None:
    if tally.quarantined_units or tally.finding_count:
        units = counted(len(tally.quarantined_units), "unit")
        warn(f"quarantined: {units} of recovery. {where}")


def _code_pages(ccsids: Mapping[str, int]) -> dict[str, int]:
    for scheme, value in ccsids.items():
        if scheme.upper() not in ("E", "A", "U") or value < 0:
            raise UsageError(
                "LR1001",
                f"found code page {scheme!r}: {value!r}; expected E, A or U, and a CCSID",
            )
    return {scheme.upper(): value for scheme, value in ccsids.items()}


class Log(Questions):
    """An open log. ``opened`` is the log itself, ``engine`` what carries out requests, ``held``
    what goes with it, ``scratch`` among that, ``words`` what names it on a command line."""

    def __init__(
        self,
        opened: OpenLog,
        scratch: WorkFolder,
        engine: Engine,
        held: ExitStack,
        words: tuple[str, ...] = (),
    ) -> None:
        self.opened, self.engine, self._scratch = opened, engine, scratch
        self._resources, self._words = held, words

    def __repr__(self) -> str:
        files = counted(len(self.opened.log.files), "data file")
        return f"<Log {self.opened.log.source}: {files}, {counted(len(self.tables), 'table')}>"

    def _repr_html_(self) -> str:
        return preformatted(self.opened.family.description(self.opened.log).text())

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the sessions of plans, and remove the temporary files; the log cannot be used
        afterwards."""
        self._resources.close()

    def also_close(self, plan: live.ReplayPlan) -> None:
        """Close a plan together with the log."""
        self._resources.callback(plan.close)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the log (schema, name, columns, key), in the order of their names; of one
        that changed within the log, its last form."""
        latest = {version.name: version.table for version in self.opened.log.catalog.versions}
        return tuple(latest[name] for name in sorted(latest) if latest[name].columns)

    def describe(self) -> dict[str, Any]:
        """What is in the log, as ``logreplay inspect --json`` says it."""
        return dict(self.opened.family.description(self.opened.log).values)

    @checked
    def check(self, schema: KeySource = None) -> log_check.Agreement:
        """Whether the log agrees with itself, as ``logreplay check`` says it; ``schema`` tells of
        unique keys, which are the identity of rows of tables without a primary key."""
        request = make_request(self.opened, Selection(), Demand(continued=True), schema)
        return log_check.agreement_of(self.opened, self.engine, SPLIT_BYTES, request.constraints)

    @checked
    def select(self, **options: Unpack[SelectionOptions]) -> Selected:
        """A part of the log, or without options all of it. Refusal (LR3020) for what the family
        cannot know, UsageError (LR1001, LR1003, LR1004) for what is not in the log or contradicts
        itself."""
        with usage_errors():
            return self.take(selection_of(**options))

    @checked
    def take(self, selection: Selection) -> Selected:
        """A part of the log as :class:`replay.changes.selection.Selection`; errors as
        :meth:`select`."""
        selection = self._settled(selection)
        make_request(self.opened, selection, Demand(continued=True))
        return Selected(self, selection)

    def _settled(self, selection: Selection) -> Selection:
        """A selection whose units are known (:func:`replay.reports.sql.settled`)."""
        return sql.settled(self.asked(), selection) if by_log(selection) else selection

    @checked
    def asked(
        self,
        schema: KeySource | str | Path = None,
        dialect: str = "postgres",
        encoding: str = "",
    ) -> log_queries.Asked:
        """This log as reports and histories ask it."""
        self._check_open()
        known = schema if callable(schema) else key_source(schema, dialect, encoding=encoding)
        return log_queries.Asked(
            self.opened, self.engine, self.folder, SPLIT_BYTES, known, self._words
        )

    def _check_open(self) -> None:
        if not os.path.isdir(self._scratch.name):
            raise UsageError("LR1001", "found a log that was closed; expected an open one")

    def folder(self) -> Path:
        """A new temporary folder that lasts as long as the log is open. UsageError (LR1001) where
        it no longer is."""
        self._check_open()
        return Path(tempfile.mkdtemp(dir=self._scratch.name))


@dataclass(frozen=True)
class Selected:
    """A part of an open log, to be written, read or replayed."""

    log: Log
    selection: Selection

    def __repr__(self) -> str:
        return f"<Selected of {self.log!r}: {self.selection.describe()}>"

    def request(
        self, demand: Demand, keys: KeySource = None, selection: Selection | None = None
    ) -> Request:
        """What is wanted, placed and checked (:func:`replay.pipeline.request.make_request`)."""
        make = make_request if demand.export is None else formats.export_request
        return make(self.log.opened, self.log._settled(selection or self.selection), demand, keys)

    def units(self) -> pa.Table:
        """The units of recovery of this part of the log, a row each: the relation ``units`` of
        :meth:`Log.sql`."""
        answer = sql.answer_of(self.log.asked(), self.selection, "SELECT * FROM units")
        for warning in answer.warnings:
            warn(warning)
        return answer.rows

    @checked
    def statements(
        self,
        mode: str = Mode.REDO,
        dialect: str | None = None,
        *,
        cascade: str = CascadeMode.NONE,
        **options: Unpack[StatementOptions],
    ) -> Iterator[str]:
        """The statements of the redo or undo scripts, in their order, whatever program runs them. A
        UserWarning says what is not among them, as units that are quarantined. Errors as
        :meth:`redo` and :meth:`undo`."""
        with usage_errors():
            undo = choice(Mode, mode, "mode") is Mode.UNDO
        script = (
            self.undo(dialect, cascade=cascade, **options)
            if undo
            else self.redo(dialect, **options)
        )
        plain = replace(script.request.options, client=None, terminator=None, encoding=None)
        script = replace(script, request=replace(script.request, options=plain))
        folder = self.log.folder() / "script"
        written = script.write(folder)
        for warning in written.contents["warnings"]:
            warn(warning)
        _warn_of_quarantined(written.tally, "Their statements are not here: redo and undo say why")
        return _lines_of(folder / entry["name"] for entry in written.contents["scripts"])

    @checked
    def to_arrow(self, table: str | None = None) -> pa.Table:
        """The :meth:`changes` as one Arrow table."""
        return self.changes(table).read_all()

    @checked
    def to_pandas(self, table: str | None = None) -> Any:
        """The :meth:`changes` as a pandas DataFrame; whole numbers stay whole beside NULL."""
        return self.to_arrow(table).to_pandas(integer_object_nulls=True)

    @checked
    def to_polars(self, table: str | None = None) -> Any:
        """The :meth:`changes` as a Polars DataFrame."""
        import polars

        return polars.from_arrow(self.to_arrow(table))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The :meth:`changes` as an Arrow stream, for whatever reads one (DuckDB, Polars)."""
        return self.changes().__arrow_c_stream__(requested_schema)

    @checked
    def redo(
        self,
        dialect: str | None = None,
        *,
        excepted: Selection | None = None,
        **options: Unpack[StatementOptions],
    ) -> Writable:
        """Scripts that repeat the changes in commit order, for the database that wrote the log
        where no ``dialect`` is named; ``excepted``: without these units of
        recovery and what builds on them (``--except``)."""
        chosen = replace(self.selection, excepted=excepted or self.selection.excepted)
        return self._scripts(Mode.REDO, dialect, chosen, options)

    @checked
    def undo(
        self,
        dialect: str | None = None,
        *,
        cascade: str = CascadeMode.NONE,
        **options: Unpack[StatementOptions],
    ) -> Writable:
        """Scripts that take the changes back, in reverse, for the database that wrote the log
        where no ``dialect`` is named; ``cascade``: what becomes of later
        changes that build on them."""
        with usage_errors():
            mode = choice(CascadeMode, cascade, "--cascade")
        chosen = replace(self.selection, cascade=mode)
        return self._scripts(Mode.UNDO, dialect, chosen, options)

    def _scripts(
        self, mode: Mode, dialect: str | None, selection: Selection, options: StatementOptions
    ) -> Writable:
        with usage_errors():
            script = script_options(dialect, selection, **options)
        baseline, form = _place(options.get("baseline")), csv_form(options.get("csv"))
        demand = Demand(mode, script, _mapping(options), baseline=baseline, csv=form)
        return Writable(self.request(demand, _keys(options), selection), self.log.engine)

    @checked
    def export(
        self,
        format: str = "parquet",
        *,
        parquet_types: str = "portable",
        csv_null: str = "",
        csv_formulas: str = "keep",
        schemas: str = "inline",
        excepted: Selection | None = None,
        baseline: str | Path | None = None,
        csv: str | None = None,
        **options: Unpack[ValueOptions],
    ) -> Writable:
        """The changes as data: ``parquet``, ``csv``, ``jsonl``, ``debezium`` or ``load``.
        ``baseline``: the folder or URL of the state before the log, ``csv`` how its files are
        written."""
        chosen = replace(self.selection, excepted=excepted or self.selection.excepted)
        with usage_errors():
            export = Export(
                format,
                parquet_types,  # type: ignore[arg-type]
                csv_null,
                schemas,  # type: ignore[arg-type]
                formulas=csv_formulas,  # type: ignore[arg-type]
            )
        request = self._data(export, chosen, options)
        request = replace(request, baseline=_place(baseline), csv=csv_form(csv))
        return Writable(request, self.log.engine)

    @checked
    def extract(
        self,
        *,
        incomplete: str = Incomplete.KEEP,
        committed_only: bool = False,
        whole_units: bool = False,
        excepted: Selection | None = None,
        records_per_file: int = 250_000,
        strict: bool = False,
        schema: KeySource | str | Path = None,
        schema_dialect: str = "postgres",
        schema_encoding: str = "",
    ) -> Extract:
        """The changes as one log of the same family again, as ``logreplay extract``. Refusal
        (LR3020) for families whose logs cannot be written."""
        extraction.writer_of(self.log.opened.family)
        with usage_errors():
            chosen = replace(
                self.selection,
                incomplete=choice(Incomplete, incomplete, "incomplete"),
                include_aborted=not committed_only,
                from_recovery_point=True,
                excepted=excepted or self.selection.excepted,
            )
            options = ScriptOptions(records_per_file=records_per_file, strict=strict)
        keys = (
            schema
            if callable(schema)
            else key_source(schema, schema_dialect, encoding=schema_encoding)
        )
        request = self.request(Demand(copied=True), keys, chosen)
        return Extract(replace(request, options=options), self.log.engine, whole_units)

    def _data(self, export: Export, selection: Selection, options: ValueOptions) -> Request:
        with usage_errors():
            values = script_options("duckdb", selection, **options)
        demand = Demand(options=values, mapping=_mapping(options), export=export)
        return self.request(demand, _keys(options), selection)

    @checked
    def changes(
        self, table: str | None = None, **options: Unpack[ValueOptions]
    ) -> pa.RecordBatchReader:
        """The changes in commit order, as Arrow record batches; memory is that of a few batches.

        Columns: ``table``, the facts of :data:`replay.output.formats.FACTS`, ``before`` and
        ``after``. Tables differ in their columns, so the images of several are JSON text (decimals,
        moments and bytes as strings, nothing lost); with a ``table`` (OWNER.NAME) they are structs
        with its types. Units of recovery that are set aside are not among them: a UserWarning says
        so, and the metadata of the schema has ``logreplay``, a JSON object with ``balance``,
        ``quarantined_units`` and ``warnings``. The log must stay open until all is read.
        """
        selection = self.selection
        if table is not None:
            name = glob.escape(table)
            if not selection.takes_table(table):
                raise UsageError("LR1004", f"found table {table}, which is not selected")
            selection = replace(selection, tables=(name,))
        export = Export(formats.TEXT_BATCHES if table is None else formats.TYPED_BATCHES)
        options.setdefault("records_per_file", _RECORDS_TOGETHER)
        request = self._data(export, selection, options)
        batches = row_changes.change_batches(request, self.log.engine, self.log.folder())
        for warning in batches.warnings:
            warn(warning)
        _warn_of_quarantined(
            batches.tally, "Their changes are not here: the metadata of the schema names them"
        )
        return batches.reader

    @checked
    def replay(
        self,
        url: str,
        *,
        until: PositionText | None = None,
        until_time: str | datetime | None = None,
        until_mark: str | None = None,
        **options: Unpack[ReplayOptions],
    ) -> live.ReplayPlan:
        """What it takes to bring a live database to a point of the log: nothing is written before
        :meth:`replay.live.replay.ReplayPlan.apply`. It keeps a session and temporary files until it
        is closed, or the log is. Errors as those of :func:`replay.live.replay.plan_replay`."""
        with usage_errors():
            script = replay_request.replay_options(url, self.selection, options)
            choice(Enforcement, options.get("enforcement", "on"), "--enforcement")
            position = octets_of_position(until)
        replay_request.pace_of(options)  # before anything is connected to
        chosen, end, time, mark = replay_request.without_end(
            self.selection,
            position,
            None if until_time is None else time_of(str(until_time), True),
            until_mark,
        )
        demand = Demand(options=script, mapping=_mapping(options), continued=True)
        request = self.request(demand, _keys(options, url), chosen)
        asked = replay_request.request_for(
            request,
            url,
            route.Destination(replay_request.placed(request, end), time, mark),
            options,
        )
        plan = live.plan_replay(replay_request.input_of(request, self.log.engine), asked)
        self.log.also_close(plan)
        return plan

    @checked
    def verify(self, url: str, expected: str | Path, **options: Any) -> Verification:
        """As :func:`verify`, with this part of the log."""
        return verify(url, expected, changes=self, **options)


# -- live databases
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verification:
    """What a comparison found: ``findings`` as the certificate has them; ``str`` as the command
    line prints them."""

    exit_code: int
    findings: Mapping[str, Any]
    lines: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.exit_code == EXIT_OK

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @checked
    def write(self, path: str | Path, sign_key: str | Path | None = None) -> None:
        """Write the findings as a certificate, signed where a private key (Ed25519, PEM) is
        given."""
        key = None if sign_key is None else Path(sign_key)
        certificate.write(self.findings, Path(path), key)


@checked
def check_certificate(
    path: str | Path,
    *,
    public_key: str | Path | None = None,
    changes: Selected | None = None,
    url: str | None = None,
) -> Verification:
    """Check a certificate again: its seals, that it is of the log of ``changes``, and that the
    database ``url`` still has the rows that it had."""
    work = None
    if changes is not None:
        demand = Demand(Mode.REDO, ScriptOptions(), continued=True)
        work = replay_request.input_of(changes.request(demand, Constraints()), changes.log.engine)
    lines: list[str] = []
    key = None if public_key is None else Path(public_key)
    code, findings = comparison.check_certificate(Path(path), lines.append, key, work, url)
    return Verification(code, findings, tuple(lines))


@checked
def verify(
    url: str | None,
    expected: str | Path,
    *,
    changes: Selected | None = None,
    roundtrip: bool = False,
    ddl: str | Path | None = None,
    target_schema: str | None = None,
    scratch: str | None = None,
    csv: str | None = None,
    **options: Unpack[LiveOptions],
) -> Verification:
    """Compare a database with the state folder ``expected``, brought by ``changes`` to where the
    database stands; or (``roundtrip``) prove in a scratch database that undo takes back what redo
    did. ``csv``: how the files of the state are written. Errors as those of
    :mod:`replay.live.verify`."""
    work, place = None, url or scratch or "postgresql://"
    if changes is not None:
        with usage_errors():
            script = replay_request.replay_options(place, changes.selection, options)
        mode = Mode.UNDO if roundtrip else Mode.REDO
        demand = Demand(mode, script, _mapping(options), continued=True)
        request = changes.request(demand, _keys(options))
        comparison.check_verifiable(request.selection)
        work = replay_request.input_of(request, changes.log.engine)
    lines: list[str] = []
    code, findings = comparison.compare(
        url,
        storage.at(expected),
        work,
        lines.append,
        roundtrip,
        ddl,
        target_schema,
        scratch,
        csv_form(csv),
    )
    return Verification(code, findings, tuple(lines))


def _lines_of(scripts: Iterable[Path]) -> Iterator[str]:
    """The statements of scripts, each of which is a line."""
    for script in scripts:
        with script.open(encoding="utf-8") as lines:
            yield from (line.rstrip("\n") for line in lines if line[:2] not in ("--", "\n"))


def _place(baseline: str | Path | None) -> str | None:
    return None if baseline is None else str(baseline)


def _mapping(options: TextOptions) -> MappingFile | None:
    return mapping_file(options.get("mapping"), options.get("mask_key_file"))


def _keys(options: TextOptions, target: str | None = None) -> KeySource:
    dialect, encoding = (
        options.get("schema_dialect", "postgres"),
        options.get("schema_encoding", ""),
    )
    return key_source(options.get("schema"), dialect, target, encoding)


# -- scripts in one call
# -------------------------------------------------------------------------------------------------


@checked
def write_script(
    control: str | Path,
    data: Paths | Sequence[Paths],
    out: str | Place,
    *,
    mode: str = Mode.REDO,
    selection: Selection | None = None,
    options: ScriptOptions | None = None,
    constraints: Constraints | None = None,
    baseline: str | Path | None = None,
    overwrite: bool = False,
) -> bundle.Bundle:
    """Write the redo or undo bundle of a Log Master logical log into the folder ``out``, in this
    process, without Spark.

    ``constraints`` (:func:`sqlgen.ddl.ddl_reader.parse_constraints`) tell of keys and foreign keys
    that the log does not know; ``baseline`` is the state before it (undo: of now). Raises the
    errors of :mod:`replay.errors`; then nothing is left in ``out``.
    """
    folder = storage.at(out)
    whole_folder.check_output(folder, overwrite)
    with usage_errors():
        mode = choice(Mode, mode, "mode")
        demand = Demand(mode, options or ScriptOptions(), baseline=_place(baseline))
    with open_log(control=control, data=data) as log:
        selected = Selected(log, selection or Selection())
        request = selected.request(demand, constraints or Constraints())
        return Writable(request, log.engine, 128 << 20).write(folder, overwrite=overwrite)
