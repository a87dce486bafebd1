"""A state that is a live database, counted for the dependency graph: it is asked for the rows that
matter only, in its own words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np

from replay.arrays import Index
from replay.changes.options import ScriptOptions
from replay.csv_states import CsvForm
from replay.dependencies.baseline import Lookup, StateRows
from replay.errors import TargetError, Where
from replay.output.initial_load import FolderState
from replay.pipeline.request import Request
from replay.redaction import public
from replay.storage import at, is_database
from replay.targets import Session, target_of
from sqlgen import statements
from sqlgen.choices import WhereColumns
from sqlgen.dialects import profile_named
from sqlgen.names import target_name
from sqlgen.render_options import RenderOptions
from sqlgen.schema import Op, Rows, Table

#: Rows that one query asks about.
_TOGETHER = 200


class TargetState:
    """The database of a session (:class:`replay.dependencies.baseline.StateRows`); ``options`` say
    how names and values are written there."""

    def __init__(self, session: Session, name: str, options: ScriptOptions) -> None:
        self.session, self._name = session, name
        self.profile = profile_named(session.dialect)
        self.names, self.policy = options.names_in(session.dialect), options.render.policy
        self.mapping = options.mapping

    @property
    def name(self) -> str:
        """The database's URL without passwords."""
        return self._name

    def counts(self, lookups: Sequence[Lookup]) -> list[Index]:
        """The counts. TargetError (LR4001) where a table or column is not there."""
        return [self._count(lookup) for lookup in lookups]

    def _count(self, lookup: Lookup) -> Index:
        columns = lookup.columns
        count = len(lookup.values[0])
        values = dict(zip(columns, lookup.values, strict=True))
        rows = Rows(lookup.table, Op.DELETE, count, values, {}, {})
        if self.mapping is not None:
            # what the target does not have is not asked about
            rows = self.mapping.rows(rows)
            names = self.mapping.names(lookup.table)
            there = {column.name for column in rows.table.in_target().columns}
            columns = tuple(names[column] for column in columns if names[column] in there)
            columns += tuple(one.name for one in self.mapping.constants(lookup.table))
            rows = replace(rows, before={name: rows.before[name] for name in columns})
        table = rows.table
        schema, name = (
            target_name(text, self.profile, self.names) for text in (table.schema, table.name)
        )
        if self.session.facts(schema, name) is None:
            where = Where(table=f"{schema}.{name}")
            hint = self.session.otherwise_called(schema)
            raise TargetError("LR4002", "the database lacks a table of the log", where, hint)
        key = tuple(name for name in table.key if name in columns)
        rows = replace(
            rows,
            table=Table(
                table.schema,
                table.name,
                tuple(table.column(name) for name in columns),
                key if key == table.key else (),
            ),
        )
        options = RenderOptions(self.names, WhereColumns.ALL, policy=self.policy)
        numbers = np.zeros(count, np.int64)
        texts = statements.counting_queries(rows, self.profile, options)
        for low in range(0, count, _TOGETHER):
            part = texts.slice(low, _TOGETHER).to_pylist()
            query = " UNION ALL ".join(
                f"SELECT {low + number}, ({text})" for number, text in enumerate(part)
            )
            for number, held in self.session.query(query.replace("%", "%%")):
                numbers[int(number)] = int(held)
        return numbers


@contextmanager
def open_state(
    place: str, tables: Sequence[Table], options: ScriptOptions, csv: CsvForm | None = None
) -> Iterator[StateRows]:
    """The state that ``--baseline`` names: the URL of a database, which is read in one snapshot, or
    a folder, whose files are in this form. Errors as those of :mod:`replay.targets`."""
    if not is_database(place):
        yield FolderState(at(place), tables, form=csv)
        return
    target = target_of(place)
    with closing(target.connect(place)) as session:
        session.snapshot()
        yield TargetState(session, public(place), options)
        session.rollback()


@contextmanager
def baseline_of(request: Request) -> Iterator[StateRows | None]:
    """The state that the rows of a request are compared with, while it is open."""
    if request.baseline is None:
        yield None
        return
    tables = [version.source for version in request.log.catalog.versions]
    with open_state(request.baseline, tables, request.options, request.csv) as state:
        yield state
