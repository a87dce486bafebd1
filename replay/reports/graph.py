"""The dependency graph of some units, to be drawn or read by a program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from replay.changes.choices import DrawingFormat
from replay.changes.position import UnitId
from replay.changes.selection import Selection
from replay.dependencies import cascade
from replay.dependencies.analysis import Subgraph
from replay.dependencies.passes import StartUnits
from replay.errors import UsageError, counted
from replay.output.run_plan import analysis_of
from replay.pipeline import extent
from replay.pipeline.request import Demand, make_request
from replay.reports import html_page
from replay.reports.log_queries import Asked

#: Units that a graph has at most, where nothing else is said.
MOST_UNITS = 5000


@dataclass(frozen=True)
class Graph:
    """The units that were ``chosen`` and those that depend on them, or that they depend on.
    ``str`` says how large it is."""

    asked: Asked
    subgraph: Subgraph
    chosen: frozenset[UnitId]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @cached_property
    def picture(self) -> Mapping[str, Any]:
        """What the page shows (:func:`replay.reports.html_page.page_of`): ``units``, ``changes``
        and ``edges`` in columns, and the ``chosen`` units."""
        made = html_page.graph_page(self.asked, self.subgraph.graph, self.chosen)
        return {**made, "warnings": list(self.warnings)}

    def text(self, form: str = DrawingFormat.JSON) -> str:
        """The graph as ``json``, or (``html``) as a page."""
        if form == DrawingFormat.HTML:
            return html_page.page_html(self.picture)
        return json.dumps(self.picture, indent=1, ensure_ascii=False) + "\n"

    def __str__(self) -> str:
        units, edges = len(self.subgraph.graph), self.subgraph.graph.edge_count
        return f"{counted(units, 'unit')}, {counted(edges, 'dependency', 'dependencies')}"


def graph_of(
    asked: Asked, selection: Selection, back: bool = False, most_units: int = MOST_UNITS
) -> Graph:
    """The graph of what depends on a selection; ``back``: and of what it depends on. UsageError
    LR1001 where it is larger than ``most_units``; errors as
    :func:`replay.pipeline.request.make_request`."""
    demand = Demand(dependencies=True, mapping=asked.mapping)
    request = make_request(asked.opened, selection, demand, asked.keys)
    plan = request.plan(asked.split_bytes, asked.engine)
    links = analysis_of(plan, request.log, asked.engine)
    survey = links.survey(StartUnits(units=cascade.taken_units(links, plan)))
    found = links.reached(survey, by_column=True, back=back, written=plan.options.render)
    if len(found.graph) > most_units:
        raise UsageError(
            "LR1001",
            f"the graph has {counted(len(found.graph), 'unit')} of recovery; expected at most"
            f" {most_units:,} (--max-units)",
            hint="Select fewer (--ur, --table, --from-position …), or raise --max-units",
        )
    warnings = [*request.warnings, *survey.warnings()]
    if not survey.start:
        skipped = extent.skipped_records(plan, request.log)
        warnings += extent.nothing_left(request.log, plan.selection, skipped, asked.engine)
    chosen = frozenset(survey.start)
    return Graph(asked, found, chosen, tuple(warnings), tuple(request.notes))
