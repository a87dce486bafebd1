"""What an open log can be asked by a program: the questions of the command line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa

from replay.changes.choices import Generation
from replay.changes.selection import Selection
from replay.errors import usage_errors
from replay.options.keywords import (
    QuestionOptions,
    ReportWords,
    SelectionOptions,
    checked,
    chosen_words,
    csv_form,
    selection_of,
    warn,
)
from replay.pipeline.mapped_catalog import mapping_file
from replay.pipeline.request import KeySource
from sqlgen.errors import choice
from sqlgen.lazy_imports import when_used

if TYPE_CHECKING:
    from replay.reports.history import RowHistory
    from replay.reports.layout import Report

with when_used():  # what some questions alone need
    from replay.reports import (
        graph,
        log_queries,
        make_report,
        report_kinds,
        sql,
        states,
        tables,
        what_if,
    )


class Questions(ABC):
    """The questions; what they are asked of is the log of :meth:`asked`."""

    @abstractmethod
    def asked(
        self,
        schema: KeySource | str | Path = None,
        dialect: str = "postgres",
        encoding: str = "",
    ) -> log_queries.Asked:
        """The log as questions are put to it; ``schema`` as for changes."""

    @checked
    def history(  # type: ignore[misc]  # a table is named as it is in a selection
        self,
        table: str | Sequence[str] = (),
        key: str | int | Sequence[str | int] = (),
        **options: Unpack[QuestionOptions],
    ) -> RowHistory:
        """The life of rows, as ``logreplay history``: those of a table with one of some keys (each
        a value, or of several columns the text ``"11,2"``), or that satisfy ``where``; else what
        the selected units did. ``str`` prints it. Errors as
        :func:`replay.reports.log_queries.history_of`."""
        with usage_errors():
            asked = self._with_keys(options)
            selection = self._asked_for(asked, table, options)
            return log_queries.history_of(asked, selection, _texts(key), selection.include_aborted)

    @checked
    def state(
        self,
        at: str | datetime,
        initial: str | Path | None = None,
        *,
        table: str | Sequence[str] = (),
        key: str | int | Sequence[str | int] = (),
        initial_at: str | None = None,
        csv: str | None = None,
        mapping: str | Path | None = None,
        mask_key_file: str | Path | None = None,
    ) -> states.State:
        """The rows of tables at a point, as ``logreplay state --at``: each of the ``tables`` has
        them as an Arrow table, ``rows``; ``csv``: who wrote the files of ``initial``. Errors as
        :func:`replay.reports.states.state_of`."""
        with usage_errors():
            asked = replace(self.asked(), mapping=mapping_file(mapping, mask_key_file))
            selection = self._asked_for(asked, table, {})
            form = csv_form(csv)
            return states.state_of(
                asked, str(at), selection, initial, initial_at, form, _texts(key)
            )

    @checked
    def differences(
        self, one: str | datetime, other: str | datetime, *, table: str | Sequence[str] = ()
    ) -> states.Differences:
        """How the rows at a point differ from those at another, as ``logreplay state --diff``."""
        with usage_errors():
            asked = self.asked()
            chosen = self._asked_for(asked, table, {})
            return states.difference_of(asked, str(one), str(other), chosen)

    @checked
    def report(
        self,
        kind: str,
        **options: Unpack[ReportWords],
    ) -> Report:
        """A report, as ``logreplay report``: ``str`` prints it, ``rows`` has its lines. ``options``
        are those of :meth:`select`, and fields of
        :class:`replay.reports.report_kinds.ReportOptions` (``shown`` are the columns).
        Errors as :func:`replay.reports.make_report.report_of`."""
        with usage_errors():
            chosen = report_kinds.report_options(dict(options))
            asked = self._with_keys(options)
            selection = self._asked_for(asked, (), options)
            return make_report.report_of(
                asked, choice(report_kinds.ReportKind, kind, "report"), selection, chosen
            )

    @checked
    def whatif(
        self,
        *,
        baseline: str | None = None,
        csv: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> what_if.WhatIf:
        """What an undo of a selection takes, as ``logreplay whatif``: ``dependents`` are the
        units that depend on it. ``str`` prints it. Errors as
        :func:`replay.reports.what_if.what_if_of`."""
        with usage_errors():
            asked = self._with_keys(options)
            chosen = self._asked_for(asked, (), options)
            return what_if.what_if_of(asked, chosen, baseline, csv_form(csv))

    @checked
    def graph(
        self, *, back: bool = False, most_units: int = 5000, **options: Unpack[QuestionOptions]
    ) -> graph.Graph:
        """The dependency graph of a selection, as ``logreplay graph``: ``picture`` has its units,
        changes and edges as the page shows them, ``text("html")`` is the page. Errors as
        :func:`replay.reports.graph.graph_of`."""
        with usage_errors():
            asked = self._with_keys(options)
            chosen = self._asked_for(asked, (), options)
            return graph.graph_of(asked, chosen, back, most_units)

    @checked
    def ddl(
        self,
        dialect: str = "postgres",
        table: str | Sequence[str] = (),
        *,
        names: str = "auto",
        generation: str = Generation.LAST,
        schema: KeySource | str | Path = None,
        schema_dialect: str = "postgres",
        schema_encoding: str = "",
        mapping: str | Path | None = None,
    ) -> tables.TablesScript:
        """The tables as DDL of a dialect, as ``logreplay ddl``; ``str`` is the script. Errors as
        :func:`replay.reports.tables.tables_script`."""
        with usage_errors():
            asked = self.asked(schema, schema_dialect, schema_encoding)
            file = schema if isinstance(schema, str | Path) else None
            told = (file, schema_dialect, schema_encoding)
            chosen = self._asked_for(asked, table, {})
            return tables.tables_script(
                asked,
                chosen,
                dialect,
                names,
                generation,
                schema=told,
                mapping=mapping_file(mapping, None),
            )

    @checked
    def sql(self, query: str, **options: Unpack[QuestionOptions]) -> pa.Table:
        """The rows of a SELECT over the relations ``units`` and ``changes`` and one for each
        table, as ``logreplay sql``, of what a selection takes. Warnings are UserWarnings. Errors
        as :func:`replay.reports.sql.answer_of`."""
        with usage_errors():
            asked = self._with_keys(options)
            answer = sql.answer_of(asked, self._asked_for(asked, (), options), query)
        for warning in answer.warnings:
            warn(warning)
        return answer.rows

    def _with_keys(self, options: Mapping[str, Any]) -> log_queries.Asked:
        """The log with what is known of its keys, the words of its selection, and a mapping."""
        dialect = options.get("schema_dialect", "postgres")
        asked = self.asked(options.get("schema"), dialect, options.get("schema_encoding", ""))
        words = mapping_file(options.get("mapping"), options.get("mask_key_file"))
        return replace(asked, chosen=chosen_words(options), mapping=words)

    def _asked_for(
        self, asked: log_queries.Asked, table: str | Sequence[str], options: Mapping[str, Any]
    ) -> Selection:
        names = (table,) if isinstance(table, str) else tuple(table)
        known = SelectionOptions.__annotations__
        given = {name: value for name, value in options.items() if name in known}
        selection = selection_of(**cast("SelectionOptions", given))
        return sql.settled(asked, replace(selection, tables=(*selection.tables, *names)))


def _texts(key: str | int | Sequence[str | int]) -> list[str]:
    """Keys as the command line has them."""
    return [str(one) for one in ((key,) if isinstance(key, str | int) else key)]
