"""From arguments to what is wanted of a log; the checks are those of the library."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from replay import storage
from replay.changes.choices import CascadeMode, EngineName, Gaps
from replay.changes.keywords import ReplayOptions, chosen_units
from replay.changes.options import ScriptOptions
from replay.changes.selection import Selection
from replay.engine import local
from replay.engine.contract import (
    Engine,
    is_local,
    suitable_engine,
)
from replay.live.keys import key_source
from replay.logs import Inputs, LogFile, MakesFiles, source_named
from replay.logs.named import gathered
from replay.pipeline.request import (
    Demand,
    KeySource,
    OpenLog,
    Request,
    make_request,
    open_source,
)
from replay.targets import target_of
from sqlgen.choices import RealPolicy, StatementForm
from sqlgen.literals import Policy
from sqlgen.render_options import RenderOptions


def open_log(
    arguments: argparse.Namespace,
    scratch: str,
    demand: Demand | None = None,
    selection: Selection | None = None,
) -> OpenLog:
    """The log that arguments name; errors as :func:`replay.pipeline.request.open_source`."""
    inputs = Inputs(
        continues=getattr(arguments, "after", None) is not None
        or getattr(arguments, "continues", False),
        gaps=None if arguments.gaps is None else Gaps(arguments.gaps),
        log=tuple(arguments.log),
        catalog=arguments.catalog,
        framing=arguments.framing,
        ccsids=dict(arguments.ccsid),
        options=dict(arguments.log_option),
        scratch=scratch,
        shared=_shared_folder(arguments),
    )
    words = getattr(arguments, "in_turn", ())
    inputs = gathered(source_named(arguments.source), words, arguments.logs, inputs)
    return open_source(arguments.source, inputs, demand, selection)


def _shared_folder(arguments: argparse.Namespace) -> str | None:
    """The folder of this run in the store that ``--work`` names; None where it names none."""
    return getattr(arguments, "run_folder", None)


def request_of(
    arguments: argparse.Namespace,
    scratch: str,
    demand: Demand,
    selection: Selection,
    target: str | None = None,
) -> Request:
    """A log that is opened for ``demand``, with it placed and checked; ``target``: the database
    whose keys count where ``--schema`` is not given."""
    opened = open_log(arguments, scratch, demand, selection)
    if demand.export is None:
        return make_request(opened, selection, demand, keys_of(arguments, target))
    from replay.output.formats import export_request

    return export_request(opened, selection, demand, keys_of(arguments, target))


def keys_of(arguments: argparse.Namespace, target: str | None = None) -> KeySource:
    """What ``--schema`` knows of keys."""
    encoding = arguments.schema_encoding
    return key_source(arguments.schema, arguments.schema_dialect, target, encoding)


def options_of(arguments: argparse.Namespace) -> ScriptOptions:
    """How statements and values are written."""
    policy = Policy(
        arguments.nul,
        arguments.timestamps,
        arguments.char_padding,
        arguments.midnight,
        arguments.empty_text,
        getattr(arguments, "reals", RealPolicy.SINGLE),
    )
    render = RenderOptions(
        arguments.names,
        arguments.where_columns,
        tuple(arguments.columns),
        tuple(arguments.exclude_columns),
        policy,
        upsert=getattr(arguments, "upsert", False),
    )
    return ScriptOptions(
        _dialect(arguments),
        arguments.names,
        arguments.commit_every,
        arguments.records_per_file,
        arguments.trace,
        arguments.strict,
        render,
        asserts=getattr(arguments, "asserts", None),
        commit_statements=getattr(arguments, "commit_statements", None),
        statements=getattr(arguments, "statements", StatementForm.LITERALS),
        parameter_style=getattr(arguments, "parameter_style", None),
    )


def _dialect(arguments: argparse.Namespace) -> str:
    if hasattr(arguments, "dialect"):
        return str(arguments.dialect)
    url = arguments.to or getattr(arguments, "scratch", None) or "postgresql:"
    return target_of(url).dialect


def replay_words(arguments: argparse.Namespace) -> ReplayOptions:
    """The options that say how a replay goes."""
    return {
        "at": arguments.at_position,
        "adjoining": arguments.adjoining,
        "enforcement": arguments.enforcement,
        "on": arguments.on,
        "accept": arguments.accept,
        "mode": arguments.mode,
        "commit_every": arguments.commit_every,
        "commit_statements": arguments.commit_statements,
        "tries": arguments.tries,
    }


def selection_of(arguments: argparse.Namespace) -> Selection:
    """The options that say which changes."""
    excepted = getattr(arguments, "excepted", None)
    return Selection(
        from_position=arguments.from_position,
        until_position=arguments.until_position,
        from_mark=getattr(arguments, "from_mark", None),
        until_mark=getattr(arguments, "until_mark", None),
        marks=getattr(arguments, "marks", None),
        from_time=arguments.from_time,
        until_time=arguments.until_time,
        tables=tuple(arguments.table),
        exclude_tables=tuple(arguments.exclude_table),
        ops=tuple(arguments.op),
        units=tuple(arguments.ur),
        authids=tuple(arguments.authid),
        plans=tuple(arguments.plan),
        correlations=tuple(arguments.correlation),
        connections=tuple(arguments.connection),
        members=tuple(arguments.member),
        luws=tuple(arguments.luw),
        databases=tuple(arguments.database),
        tablespaces=tuple(arguments.tablespace),
        partitions=tuple(arguments.partition),
        pages=tuple(arguments.page),
        rids=tuple(arguments.rid),
        where=arguments.where,
        columns=tuple(arguments.columns),
        exclude_columns=tuple(arguments.exclude_columns),
        include_aborted=arguments.include_aborted,
        ri=arguments.ri,
        triggers=arguments.triggers,
        incomplete=arguments.incomplete,
        behind_damage=getattr(arguments, "behind_damage", None),
        from_recovery_point=arguments.from_recovery_point,
        cascade=getattr(arguments, "cascade", CascadeMode.NONE),
        excepted=chosen_units(excepted) if excepted else None,
    )


def engine_of(
    arguments: argparse.Namespace, log: LogFile, progress: Callable[[str, int, int], None]
) -> Engine:
    """The engine asked for, or the one that suits a log, which is then said on stderr; Spark begins
    to start in the background."""
    name, reason = EngineName(arguments.engine), ""
    if name is EngineName.AUTO:
        name, reason = _suitable(arguments, log.inputs())
        print(f"engine: {name} ({reason})", file=sys.stderr)
    if name is EngineName.LOCAL:
        return local.LocalEngine(progress, reason)
    carried = arguments.work is None or _shared_folder(arguments) is not None
    made = log.made_files() if isinstance(log, MakesFiles) and carried else []
    return _spark(arguments, made, progress, reason)


def _suitable(arguments: argparse.Namespace, paths: Iterable[str]) -> tuple[EngineName, str]:
    size = sum(storage.size_of(path) for path in paths)
    return suitable_engine(size, arguments.master, bool(arguments.conf), os.environ)


def _master(arguments: argparse.Namespace) -> str:
    if arguments.master is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        from replay.engine.spark_start import submitted_master

        arguments.master = submitted_master()
    return str(arguments.master or "local[*]")


def _spark(
    arguments: argparse.Namespace,
    made: Sequence[str],
    progress: Callable[[str, int, int], None],
    reason: str,
) -> Engine:
    """Spark, which begins to start in the background; ``made``: files that tasks elsewhere need."""
    from replay.engine.spark import Limits, SparkEngine
    from replay.engine.spark_start import start_in_background, timeouts

    master, conf = _master(arguments), dict(arguments.conf)
    if is_local(master):
        start = start_in_background(master, conf, {})
        return SparkEngine(progress, reason, started=start)
    seconds = arguments.executor_timeout
    limits = Limits(seconds, arguments.task_timeout)
    start = start_in_background(master, conf, timeouts(seconds), seconds)
    exchange = _shared_folder(arguments) or ""
    return SparkEngine(progress, reason, made, limits, exchange, started=start)
