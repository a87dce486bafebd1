"""What an open log can be asked by a program: the questions of the command line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from replay.changes.keywords import SelectionOptions, selection_of
from replay.changes.selection import Selection
from replay.pipeline.checked import checked
from replay.pipeline.request import KeySource, usage_errors
from sqlgen.errors import choice
from sqlgen.late import LateModule

if TYPE_CHECKING:
    from replay.reports import ask, kinds, make, sql, states
    from replay.reports.history import RowHistory
    from replay.reports.layout import Report
else:  # what some questions alone need
    ask, kinds, make, sql, states = (
        LateModule(f"replay.reports.{name}") for name in ("ask", "kinds", "make", "sql", "states")
    )


class Questions(ABC):
    """The questions; what they are asked of is the log of :meth:`asked`."""

    @abstractmethod
    def asked(
        self,
        schema: KeySource | str | Path = None,
        dialect: str = "postgres",
        encoding: str = "",
    ) -> ask.Asked:
        """The log as questions are put to it; ``schema`` as for changes."""

    @checked
    def history(
        self,
        table: str | Sequence[str] = (),
        key: str | int | Sequence[str | int] = (),
        *,
        schema: KeySource | str | Path = None,
        schema_dialect: str = "postgres",
        schema_encoding: str = "",
        **options: Unpack[SelectionOptions],
    ) -> RowHistory:
        """The life of rows, as ``logreplay history``: those of a table with one of some keys, or
        that satisfy ``where``; else what the selected units did. ``str`` prints it. Errors as
        :func:`replay.reports.ask.history_of`."""
        keys = [str(one) for one in ((key,) if isinstance(key, str | int) else key)]
        with usage_errors():
            asked = self.asked(schema, schema_dialect, schema_encoding)
            selection = self._asked_for(asked, table, options)
            return ask.history_of(asked, selection, keys, selection.include_aborted)

    @checked
    def state(
        self,
        at: str,
        initial: str | Path | None = None,
        *,
        table: str | Sequence[str] = (),
        initial_at: str | None = None,
    ) -> states.State:
        """The rows of tables at a point, as ``logreplay state --at``: ``tables`` have Arrow tables.
        Errors as :func:`replay.reports.states.state_of`."""
        with usage_errors():
            asked = self.asked()
            selection = self._asked_for(asked, table, {})
            return states.state_of(asked, at, selection, initial, initial_at)

    @checked
    def differences(
        self, one: str, other: str, *, table: str | Sequence[str] = ()
    ) -> states.Differences:
        """How the rows at a point differ from those at another, as ``logreplay state --diff``."""
        with usage_errors():
            asked = self.asked()
            return states.difference_of(asked, one, other, self._asked_for(asked, table, {}))

    @checked
    def report(
        self,
        kind: str,
        table: str | Sequence[str] = (),
        *,
        schema: KeySource | str | Path = None,
        schema_dialect: str = "postgres",
        schema_encoding: str = "",
        **options: Any,
    ) -> Report:
        """A report, as ``logreplay report``: ``str`` prints it, ``rows`` has its lines. ``options``
        are those of :meth:`select`, and fields of :class:`replay.reports.kinds.ReportOptions`
        (``shown`` are the columns). Errors as :func:`replay.reports.make.report_of`."""
        with usage_errors():
            chosen = kinds.report_options(options)
            asked = self.asked(schema, schema_dialect, schema_encoding)
            selection = self._asked_for(asked, table, cast("SelectionOptions", options))
            return make.report_of(
                asked, choice(kinds.ReportKind, kind, "report"), selection, chosen
            )

    def _asked_for(
        self, asked: ask.Asked, table: str | Sequence[str], options: SelectionOptions
    ) -> Selection:
        tables = (table,) if isinstance(table, str) else tuple(table)
        selection = selection_of(**options)
        return sql.settled(asked, replace(selection, tables=(*selection.tables, *tables)))
