"""Log Master logical logs (Db2 for z/OS) as a log family."""

from __future__ import annotations

from dataclasses import replace

from replay.changes.catalog import Catalog, ColumnFormat, TableVersion
from replay.changes.choices import Gaps
from replay.logs import FACTS, Capabilities, Family, Inputs, LogPair, OrderRules
from replay.logs.logmaster.framing import Framing
from replay.logs.logmaster.headers import position_faults, records_rise
from replay.logs.logmaster.opening import open_log
from replay.logs.logmaster.reader import LogmasterLog
from sqlgen.lazy_imports import when_used
from sqlgen.schema import Column, SqlType

with when_used():  # a run that only writes scripts needs none of them
    from replay.logs.logmaster import checkup, copying, dump, inspect, opening


CAPABILITIES = Capabilities(
    frozenset(FACTS) - {"structure"},
    {
        "structure": (
            "records of type CO say that the catalog changed, and hold no definition of a table"
        )
    },
)


def open_inputs(inputs: Inputs) -> LogmasterLog:
    """Open what a user named; errors as :func:`replay.logs.logmaster.opening.open_log`."""
    framed = Framing(inputs.framing) if inputs.framing else None
    if inputs.pairs or inputs.continues:
        return opening.open_set(
            inputs.pairs or [LogPair(inputs.control or "", inputs.data)],
            framed=framed,
            ccsids=inputs.ccsids,
            scratch=inputs.scratch,
            gaps=inputs.gaps or Gaps.REFUSE,
            continues=inputs.continues,
        )
    return open_log(
        inputs.control or "",
        inputs.data,
        framed=framed,
        ccsids=inputs.ccsids,
        scratch=inputs.scratch,
    )


def with_wide_reals(log: LogmasterLog) -> LogmasterLog:
    """The log with its REAL columns as DOUBLE, which holds each value of them."""
    versions = tuple(_widened(version) for version in log.catalog.versions)
    if versions == log.catalog.versions:
        return log
    return replace(log, control=replace(log.control, catalog=Catalog(versions)))


def _widened(version: TableVersion) -> TableVersion:
    table = replace(version.table, columns=tuple(map(_double, version.table.columns)))
    columns = tuple(map(_wide, version.format.columns))
    return replace(version, table=table, format=replace(version.format, columns=columns))


def _wide(column: ColumnFormat) -> ColumnFormat:
    if column.column.type is not SqlType.REAL:
        return column
    return replace(column, column=_double(column.column), wide=True)


def _double(column: Column) -> Column:
    return replace(column, type=SqlType.DOUBLE) if column.type is SqlType.REAL else column


FAMILY = Family(
    name="logmaster",
    title="BMC AMI Log Master logical log of Db2 for z/OS",
    dialect="db2zos",
    capabilities=CAPABILITIES,
    needs=("control", "data"),
    takes=("control", "data", "ccsids"),
    framings=tuple(entry.value for entry in Framing),
    options={},
    open=open_inputs,
    describe=lambda log: inspect.describe(log),
    dump_record=lambda *record: dump.dump_record(*record),
    order=OrderRules(position_faults, records_rise),
    with_wide_reals=with_wide_reals,
    checkup=lambda log: checkup.checkup(log),
    admit=lambda log: log.admit(),
    writer=lambda: copying.WRITER,
    exact_decimals=False,
)
