"""One page about a log: when work was done and by whom, its units and rows, their dependencies, and
the command for each choice. The page is one file and needs no network.

Facts stand in columns (numbers, and names once each), so that 100,000 units are a few megabytes;
the page draws them on a canvas and makes only the lines that are seen.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from replay.changes.position import UnitId, unit_of
from replay.changes.selection import Selection, limits
from replay.dependencies.links import (
    LINK_WORDS,
    Link,
)
from replay.dependencies.passes import StartUnits
from replay.errors import UsageError
from replay.output.run_plan import analysis_of
from replay.pipeline.request import Demand, Request, make_request
from replay.reports import undo_commands
from replay.reports.history import Version
from replay.reports.images import literal
from replay.reports.log_queries import (
    Asked,
    Tables,
    knows_undone,
    left_out_columns,
    row_request,
    row_versions,
    rows_of,
)
from replay.reports.make_report import headers_in
from replay.reports.relations import Relations
from replay.version import __version__

#: The policy of the page: its own scripts and styles, and nothing that a name in the log might
#: bring in.
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; base-uri 'none';"
    " form-action 'none'"
)
#: Changes of a page with rows and dependencies, where nothing else is said.
MOST_ROWS = 100_000
#: A query for units that found none.
_NOBODY = Selection(unit_query="", query_units=b"")


def graph_page(asked: Asked, units: Iterable[UnitId], chosen: frozenset[UnitId]) -> dict[str, Any]:
    """The page of some units, of which some were ``chosen``, that begins with their dependencies.
    Errors as :func:`page_of`."""
    wanted = tuple((unit.urid, unit.member) for unit in units)
    page = page_of(asked, Selection(units=wanted) if wanted else _NOBODY, MOST_ROWS, True)
    return {**page, "view": "graph", "chosen": sorted(map(str, chosen))}


def page_of(
    asked: Asked,
    selection: Selection,
    most_rows: int,
    closed: bool = False,
) -> dict[str, Any]:
    """What the page shows of the changes that a selection takes, as JSON-able data in columns. Rows
    and dependencies are there up to ``most_rows`` changes, and a note says where they are not.
    ``closed``: no unit that the selection leaves out built on one that it takes.

    Errors as :func:`replay.pipeline.request.make_request`; UsageError (LR1001) for ``where``."""
    if selection.where is not None:
        raise UsageError(
            "LR1001",
            "found --where with report page, which is made of whole units; expected a selection"
            " without values",
            hint="The page finds values by itself",
        )
    selection = replace(
        selection,
        include_aborted=knows_undone(asked.opened),
    )
    request = make_request(asked.opened, selection, Demand(dependencies=True), asked.keys)
    relations = headers_in(asked, request)
    notes: list[str] = []
    counts = _counts(relations)
    page: dict[str, Any] = {
        "warnings": [*request.warnings, *relations.warnings],
        "notes": notes,
        "log": asked.log.source,
        "program": f"logreplay {__version__}",
        "files": asked.log.inputs(),
        "command": list(asked.words),
        "proposed": undo_commands.of_page(),
        "units": _units(relations),
        "counts": counts,
        "changes": None,
        "edges": None,
    }
    total = sum(counts["changes"])
    if total > most_rows:
        notes.append(
            f"{total:,} changes are more than {most_rows:,}, so rows and dependencies are not"
            " here: select less, or raise --max-rows"
        )
        return page
    if limits(replace(selection, include_aborted=False)) and not closed:
        notes.append(
            "later work of units that the selection leaves out is not here: whatif tells of all"
        )
    number = {name: place for place, name in enumerate(page["units"]["name"])}
    page["changes"] = _changes(asked, selection, number, notes)
    page["edges"] = _edges(asked, request, number)
    return page


def _coded(values: Iterable[Any]) -> dict[str, list[Any]]:
    """Names once each, and which one stands at each place."""
    codes: dict[Any, int] = {}
    at = [codes.setdefault(value, len(codes)) for value in values]
    return {"names": list(codes), "at": at}


def _units(relations: Relations) -> dict[str, Any]:
    units = relations.ask("page_units")
    names = ("user", "plan", "job", "connection", "ended")
    return {
        name: _coded(values.to_pylist()) if name in names else values.to_pylist()
        for name, values in zip(units.column_names, units.columns, strict=True)
    }


def _counts(relations: Relations) -> dict[str, Any]:
    counts = relations.select("FROM counts ORDER BY number")
    return {
        "unit": counts["number"].to_pylist(),
        "changes": counts["changes"].to_pylist(),
        **{
            name: _coded(counts[column].to_pylist())
            for name, column in (("table", "table_name"), ("op", "op"), ("fate", "fate"))
        },
    }


def _changes(
    asked: Asked, selection: Selection, number: Mapping[str, int], notes: list[str]
) -> dict[str, Any]:
    """Each change of a row: its unit, table, operation, key, and the columns that it set with both
    values (null where there is no such image)."""
    request = row_request(asked, selection)
    changes = rows_of(asked, request)
    lines: list[tuple[int, Version, str, list[list[str | None]]]] = []
    for version in row_versions(changes, Tables(request), asked.log):
        if version.unit in number:
            text = ", ".join(f"{name}={literal(value)}" for name, value in version.key.items())
            lines.append((number[version.unit], version, text, _values(version)))
    changes.close()
    notes += left_out_columns(request)
    lines.sort(key=lambda line: (line[0], line[1].facts["log_position"]))
    versions = [line[1] for line in lines]
    return {
        "unit": [line[0] for line in lines],
        "table": _coded(version.table for version in versions),
        "op": _coded(version.facts["op"] for version in versions),
        "origin": _coded(version.facts["origin"] for version in versions),
        "fate": _coded(version.fate for version in versions),
        "key": [line[2] for line in lines],
        "values": [line[3] for line in lines],
    }


def _values(version: Version) -> list[list[str | None]]:
    """Column, value before and value after."""
    if version.before is not None and version.after is not None:
        return [[name, literal(old), literal(new)] for name, (old, new) in version.changed.items()]
    if version.after is not None:
        return [[name, None, literal(value)] for name, value in version.after.items()]
    return [[name, literal(value), None] for name, value in (version.before or {}).items()]


def _edges(asked: Asked, request: Request, number: Mapping[str, int]) -> dict[str, Any]:
    """Which unit built on which, and why."""
    plan = request.plan(asked.split_bytes, asked.engine)
    analysis = analysis_of(plan, request.log, asked.engine)
    whole = replace(request.selection, include_aborted=False)
    survey = analysis.survey(StartUnits(selection=whole))
    subgraph = analysis.reached(survey, by_column=True)
    heads = subgraph.batch.records[subgraph.batch.head]
    unit = np.array([number.get(str(unit_of(record)), -1) for record in heads], np.int64)
    links = subgraph.links
    pairs = np.stack(
        [unit[links["source"]], unit[links["target"]], links["kind"].astype(np.int64)], axis=1
    ).reshape(-1, 3)
    apart = (pairs[:, 0] != pairs[:, 1]) & (pairs[:, :2] >= 0).all(axis=1)
    source, target, kind = np.unique(pairs[apart], axis=0).T.tolist()
    return {
        "from": source,
        "to": target,
        "why": _coded(LINK_WORDS[Link(code)] for code in kind),
    }


# -- the page
# -------------------------------------------------------------------------------------------------


def page_html(page: Mapping[str, Any]) -> str:
    """The page as one file."""
    here, vendored = files("replay.reports"), files("replay.reports").joinpath("vendored")
    parts = {
        "LIBRARY": vendored.joinpath("uPlot.iife.min.js").read_text(encoding="utf-8").strip(),
        "PAGE": here.joinpath("page_graph.js").read_text(encoding="utf-8")
        + here.joinpath("page.js").read_text(encoding="utf-8"),
        "LOOKS": vendored.joinpath("uPlot.min.css").read_text(encoding="utf-8")
        + here.joinpath("page.css").read_text(encoding="utf-8"),
        "LICENCE": vendored.joinpath("uPlot.LICENSE").read_text(encoding="utf-8").strip(),
        "DATA": json.dumps(page, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c"),
    }
    parts["POLICY"] = _POLICY.format(
        scripts=_hashes((parts["LIBRARY"], parts["PAGE"])), styles=_hashes((parts["LOOKS"],))
    )
    shell = here.joinpath("page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda found: parts[found[1]], shell)


def _hashes(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
